"""An Evaluation whose lists stay with an engine: hits, and counts of users, are fetched
on first use, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recnb.data import Frame, Layout, table_of
from recnb.data.columns import ENGINES, Labels
from recnb.data.in_memory import Sheets
from recnb.data.parts import Parts, of_one_part, part_of, refuse_catalogue
from recnb.data.sheet import RECS, TRUTH, Sheet
from recnb.data.side_data import read_side_data
from recnb.display.language import _
from recnb.display.templates import render
from recnb.errors import FrameError
from recnb.evaluate import ParsedOptions
from recnb.evaluation import Evaluation
from recnb.metrics.hits import cached_property
from recnb.results.evaluation_data import EvaluationData

T = TypeVar("T")

#: Columns that an engine adds: the place of a row before it was moved, for the order of
#: equal scores; the bucket of its user.
ROW, BUCKET = "recnb_row", "recnb_bucket"


# ---- what a task does


def call(work: Callable[[Sheets], T], recs: Frame, truth: Frame, layout: Layout) -> T:
    """Call a function of a part; columns of its rows are named by role, and either side
    may have none.
    """
    with of_one_part():
        return work(read_part(recs, truth, layout))


def read_part(recs: Frame, truth: Frame, layout: Layout) -> Sheets:
    """Read the rows of some users."""
    lists = _sheet(recs, RECS, layout.recs)
    judgements = _sheet(truth, TRUTH, layout.truth)
    return part_of(lists, judgements, layout)


def _sheet(frame: Frame, name: str, labels: Labels) -> Sheet:
    columns = {role: role for role in (*labels, ROW)}
    rows = table_of(frame, name, columns).sort(ROW).drop(ROW)
    sheet = Sheet(name, rows, labels)
    return sheet.with_ids() if rows.height else sheet


# ---- what is asked


class PartedEvaluation(Evaluation):
    """An Evaluation of rows that stay with an engine, as `recnb.dask.evaluate` and
    `recnb.spark.evaluate` return it.

    Nothing is computed before a number is asked for. The first brings back the hits and
    a few counts of each user, from which every other number is computed; rows of the
    truth and of single users' lists are read where they are when they are asked for.
    """

    def __init__(self, parts: Parts, given: ParsedOptions) -> None:
        refuse_catalogue(given.convention, parts)
        _refuse_models(parts.layout)
        for name, frame in given.side_data.items():
            _refuse_engine(name, frame)
        given.weigh(parts, given.side_data)
        self._parts = parts
        self._given = given

    @cached_property
    def _data(self) -> EvaluationData:
        """The hits of all parts, and the frames of train, items and users."""
        data = self._given.data(self._parts)
        data.side_data = read_side_data(
            self._parts, None, self._given.columns, **self._given.side_data
        )
        return data

    @property
    def is_joined(self) -> bool:
        """Whether a number was asked for, and the hits are here."""
        return "_data" in vars(self)

    def __repr__(self) -> str:
        if self.is_joined:
            return super().__repr__()
        calls = ".table(k=[5, 10]), .ndcg(k=10), .curve('ndcg'), .report()"
        held = _(
            "Evaluation of {where}, nothing computed yet", where=_(self._parts.where)
        )
        return f"{held}; {self._given.convention}\n{_('Methods: {calls}', calls=calls)}"

    def _repr_html_(self) -> str:
        if self.is_joined:
            return super()._repr_html_()
        return str(render("distributed/evaluation.jinja", lines=repr(self).split("\n")))


def _refuse_models(layout: Layout) -> None:
    """Refuse lists of several models, whose rows would have to be read to tell."""
    if layout.model is not None:
        raise FrameError(
            f"recommendations have a column of models, {layout.model!r}, which is not "
            "read here.",
            fix="Keep the rows of one model and drop the column, or compare frames of "
            "one model each.",
        )


def _refuse_engine(name: str, frame: Frame) -> None:
    """Refuse train, items or users that an engine holds."""
    if type(frame).__module__.split(".")[0] in ENGINES:
        raise FrameError(
            f"{name}= is looked at here, and not with an engine: give a pandas or "
            "Polars frame of it."
        )
