"""Evaluate rows that stay with an engine: hits, and counts of users, are fetched once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from recnb.data import Frame, InputTable, Layout
from recnb.data.names import RECS, TRUTH
from recnb.data.parts import Parts, StoredRows
from recnb.data.read import opened_together
from recnb.data.roles import as_named, columns_of_models
from recnb.data.tables import engine_name
from recnb.errors import FrameError
from recnb.evaluate import evaluation_with, parse_options
from recnb.evaluation import Evaluation

T = TypeVar("T")

#: Columns that an engine adds: the place of a row before it was moved, for the order of
#: equal scores; the bucket of its user.
ROW, BUCKET = "recnb_row", "recnb_bucket"


def evaluation_of(
    recs: Frame,
    truth: Frame,
    options: Mapping[str, Any],
    stored_by: Callable[[Layout], StoredRows],
) -> Evaluation:
    """Return the evaluation of rows that stay with an engine.

    `recs` and `truth` have the columns of its frames, and need no rows; `stored_by`
    makes parts of the rows by the columns that are read. The hits and a few counts of
    each user are brought back, from which every number is computed; rows of the truth
    and of single users' lists are read where they are when they are asked for.
    """
    parsed = parse_options(options)
    named = as_named(parsed.columns)
    for name, frame in parsed.side_data.items():
        _refuse_engine(name, frame)
    tables = opened_together(parsed.side_data, named)
    both = {RECS: InputTable.of(recs, RECS), TRUTH: InputTable.of(truth, TRUTH)}
    layout = Layout.of(tables | both, named)
    _refuse_models(columns_of_models(both[RECS], layout.recs))
    stored = stored_by(layout)
    return evaluation_with(parsed, Parts.of(stored, layout), tables, named)


def refuse_others(recs: Any, truth: Any, kind: type, wanted: str) -> None:
    """Refuse a frame that the engine does not hold; it is made one in a line."""
    for name, frame in ((RECS, recs), (TRUTH, truth)):
        if not isinstance(frame, kind):
            raise FrameError(f"{name} is a {type(frame).__name__}: give {wanted}.")


def _refuse_models(columns: Sequence[str]) -> None:
    """Refuse lists of several models: rows would have to be read to tell."""
    if columns:
        raise FrameError(
            f"recommendations have a column of models, {columns[0]!r}, which is "
            "not read here. Keep the rows of one model and drop the column, or "
            "compare frames of one model each."
        )


def _refuse_engine(name: str, frame: Frame) -> None:
    """Refuse train, items or users that an engine holds."""
    if engine_name(frame) is not None:
        raise FrameError(
            f"{name}= is looked at here, and not with an engine: give a pandas or "
            "Polars frame of it."
        )


# ---- what a task does


def call(
    work: Callable[[pl.DataFrame, pl.DataFrame], T], recs: Frame, truth: Frame
) -> T:
    """Call a function of the rows of a part."""
    return work(rows_of(recs, RECS), rows_of(truth, TRUTH))


def rows_of(frame: Frame, name: str) -> pl.DataFrame:
    """Return the rows of some users by role, in the order before they were moved."""
    table = InputTable.of(frame, name)
    rows = table.select({role: role for role in table.columns if role != BUCKET})
    return rows.sort(ROW).drop(ROW)
