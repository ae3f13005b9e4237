"""Evaluate rows that stay with an engine.

Hits, and counts of users, are fetched on first use, once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import polars as pl

from recnb.data import Frame, InputTable, Layout
from recnb.data.in_memory import Sheets
from recnb.data.names import RECS, TRUTH, Labels, Named, as_named
from recnb.data.parts import Parts, of_one_part, part_of, refuse_catalogue
from recnb.data.read import opened_together
from recnb.data.side_data import read_side_data
from recnb.data.tables import ENGINES
from recnb.errors import FrameError
from recnb.evaluate import ParsedOptions
from recnb.evaluation import Evaluation

T = TypeVar("T")

#: Columns that an engine adds: the place of a row before it was moved, for the order of
#: equal scores; the bucket of its user.
ROW, BUCKET = "recnb_row", "recnb_bucket"


def evaluation_of(parts: Parts, parsed: ParsedOptions) -> Evaluation:
    """Return the evaluation of rows that stay with an engine.

    Nothing is computed before a number is asked for. The first brings back the hits and
    a few counts of each user, from which every other number is computed; rows of the
    truth and of single users' lists are read where they are when they are asked for.
    """
    refuse_catalogue(parsed.convention, parts)
    _refuse_models(parts.layout)
    tables, named = side_tables_of(parsed)
    parsed.weigh(parts, tables)
    return Evaluation(
        parts,
        parsed.convention_of(parts),
        library=parsed.library,
        overrides=parsed.overrides,
        side_data=partial(
            read_side_data,
            parts,
            tables,
            named,
            cluster=parsed.cluster,
        ),
    )


def side_tables_of(parsed: ParsedOptions) -> tuple[dict[str, InputTable], Named]:
    """Return train, items and users as tables, and the columns named by keyword."""
    named = as_named(parsed.columns)
    for name, frame in parsed.side_data.items():
        _refuse_engine(name, frame)
    return opened_together(parsed.side_data, named), named


def layout_of(recs: Frame, truth: Frame, parsed: ParsedOptions) -> Layout:
    """Settle the columns of frames, which need no rows for it."""
    tables, named = side_tables_of(parsed)
    tables |= {RECS: InputTable.of(recs, RECS), TRUTH: InputTable.of(truth, TRUTH)}
    return Layout.of(tables, named)


def _refuse_models(layout: Layout) -> None:
    """Refuse lists of several models, whose rows would have to be read to tell."""
    if layout.model is not None:
        raise FrameError(
            f"recommendations have a column of models, {layout.model!r}, which is "
            "not read here. Keep the rows of one model and drop the column, or "
            "compare frames of one model each."
        )


def _refuse_engine(name: str, frame: Frame) -> None:
    """Refuse train, items or users that an engine holds."""
    if type(frame).__module__.split(".")[0] in ENGINES:
        raise FrameError(
            f"{name}= is looked at here, and not with an engine: give a pandas or "
            "Polars frame of it."
        )


# ---- what a task does


def call(work: Callable[[Sheets], T], recs: Frame, truth: Frame, layout: Layout) -> T:
    """Call a function of a part.

    Columns of its rows are named by role, and either side may have no rows.
    """
    with of_one_part():
        return work(read_part(recs, truth, layout))


def read_part(recs: Frame, truth: Frame, layout: Layout) -> Sheets:
    """Read the rows of some users."""
    return part_of(
        _rows(recs, RECS, layout.recs_read),
        _rows(truth, TRUTH, layout.truth_read),
        layout,
    )


def _rows(frame: Frame, name: str, labels: Labels) -> pl.DataFrame:
    """Return rows whose columns are roles, in the order before they were moved."""
    columns = {role: role for role in (*labels, ROW)}
    return InputTable.of(frame, name).select(columns).sort(ROW).drop(ROW)
