"""A part in a task of an engine: its rows are read, and a function of it is called, as on one machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import polars as pl

from recnb.data import Facts, Frame, Layout, Part, table_of, validation
from recnb.distributed.sums import Question, Sums, sums_of
from recnb.errors import FrameError
from recnb.metrics.metric import METRICS
from recnb.options import ParsedOptions

T = TypeVar("T")

#: The column that holds the place of each row before an engine moved it, so that equal scores keep the order they had.
ROW = "recnb_row"

#: The column of the bucket that an engine puts each user into.
BUCKET = "recnb_bucket"


def call(work: Callable[[Part], T], recs: Frame, truth: Frame, layout: Layout) -> T:
    """Call a function of a part; columns of its rows are named by role, and either side may have none."""
    return work(read_part(recs, truth, layout))


def read_part(recs: Frame, truth: Frame, layout: Layout) -> Part:
    """Read the rows of some users."""
    return Part.of(
        _rows(recs, "recommendations", layout.recs_read, layout.recs),
        _rows(truth, "truth", layout.truth, layout.truth),
        layout,
    )


def _rows(frame: Frame, name: str, roles: Mapping[str, str], labels: Mapping[str, str]) -> pl.DataFrame:
    table = table_of(frame, name, {role: role for role in (*roles, ROW)}).sort(ROW).drop(ROW)
    if table.height == 0:
        return table
    # A missing id is described by the other ids of its row.
    for role, other in (("user", "item"), ("item", "user")):
        if (missing := validation.is_missing(table[role])).any():
            raise FrameError(
                f"{name}: column {labels[role]!r} has missing {role} ids, such as that beside {other} "
                f"{table[other].filter(missing)[0]!r}. Drop those rows: frame.dropna(subset=[{labels[role]!r}])."
            )
    return validation.ids(table, name, labels)


def add_up(question: Question, given: ParsedOptions, scale: float | None, part: Part) -> tuple[Sums, Facts]:
    """Return the sums of a part."""
    METRICS.update(question.own)
    return sums_of(given.data(part.source), question, scale), part.facts


def highest(given: ParsedOptions, part: Part) -> float:
    """Return the highest relevance in the truth of a part."""
    return given.data(part.source).prepared.max_relevance
