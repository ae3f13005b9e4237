"""Recommendations that come a chunk at a time: evaluated as they come, with no more in memory than one of them and the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from recnb.conventions import Convention
from recnb.data import Frame, Layout, PartSummary, part_of, rows_of, table_of, validation
from recnb.data.encoding import distinct
from recnb.data.relevance import graded_truth, top_of
from recnb.data.user_buckets import ByUser, UserVisits
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.distributed.partial import Partial, partial_of, refuse_unless_mean
from recnb.errors import FrameError, OptionError, is_several
from recnb.evaluate import Options, parse_options
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import METRICS
from recnb.results import Curve, Interval, Table
from recnb.results.arguments import Metrics
from recnb.results.score import PartialScore
from recnb.stats.moments import MomentsMethod

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ChunkedEvaluation:
    """The sum of all chunks: means, their intervals, and `partial`, which can be added to others."""

    partial: Partial
    n_chunks: int

    @property
    def n_users(self) -> int:
        """Number of users evaluated."""
        return self.partial.n_users

    @property
    def convention(self) -> Convention:
        """The decisions about the data that are in force."""
        return self.partial.convention

    def table(self, *, intervals: bool = False) -> Table:
        """Means over users: one row per metric, one column per cut-off; three columns with intervals."""
        return self.partial.table(intervals=intervals)

    def score(self, metric: str, k: int | None = None) -> PartialScore:
        """The mean of one metric at one cut-off, with its interval."""
        return self.partial.score(metric, k)

    def interval(
        self, metric: str, k: int | None = None, confidence: float = 0.95, method: MomentsMethod = "auto"
    ) -> Interval:
        """Interval for a mean, taking the users as a sample: the same that `Score.interval` gives, from sums."""
        return self.partial.interval(metric, k, confidence, method)

    def curve(self, metric: str) -> Curve:
        """A metric at all cut-offs, with a 95% interval at each."""
        return self.partial.curve(metric)

    def to_frame(self) -> pd.DataFrame:
        """A long frame: metric, k, mean, low, high (95%), n_users."""
        return self.partial.to_frame()

    def __repr__(self) -> str:
        counts = self.partial.counts
        heading = _(
            "Evaluation of {rows:,} recommended rows in {chunks:,} chunks against {relevant:,} relevant items, {hits:,} of them hit",
            rows=counts.n_recommended, chunks=self.n_chunks, relevant=counts.n_relevant, hits=counts.n_hits,
        )  # fmt: skip
        return f"{heading}\n{self.table()!r}"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def evaluate_chunks(
    chunks: Iterable[Frame],
    truth: Frame,
    metrics: Metrics = None,
    k: int | Sequence[int | None] | None = None,
    **options: Any,
) -> ChunkedEvaluation:
    """Evaluate recommendations that come as frames one after the other, such as files, each with whole users.

    The numbers are those of `evaluate` on all chunks together. A user whose list is spread over two chunks is refused.
    Users of the truth who are in no chunk have no list, and count as the convention says. Only one chunk, the truth and the ids of users
    are in memory at a time. `options` are those of `evaluate`, columns and conventions, and those of the metrics, such as
    `gain="exponential"`.

    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> popular = sample.models["popular"]
    >>> chunks = (popular[popular.user.str[-1] == digit] for digit in "0123456789")
    >>> recnb.evaluate_chunks(chunks, sample.test, ["ndcg", "recall"], k=[5, 10]).table().to_frame().round(4)
    k           5       10
    metric
    ndcg    0.1337  0.1725
    recall  0.1399  0.2504
    """
    of_metrics = {name for metric in METRICS.values() for name in metric.defaults}
    given = parse_options({name: value for name, value in options.items() if name not in of_metrics})
    own = {name: value for name, value in options.items() if name in of_metrics}
    if given.side_data:
        raise OptionError(
            f"{next(iter(given.side_data))}= serves metrics beyond accuracy and segments, which chunks do not give."
        )
    refuse_unless_mean(given.convention, "evaluate_chunks")
    if hasattr(chunks, "columns") or not is_several(chunks):
        raise FrameError(
            f"chunks is one {type(chunks).__name__}: give several frames in a list or a generator, or type recnb.evaluate(recs, truth)."
        )
    work = _ChunkState(truth, given, (metrics, k, own))
    for chunk in steps(chunks, "chunks evaluated"):
        work.add(chunk)
    return work.end()


class _ChunkState:
    """Data kept between chunks."""

    def __init__(self, truth: Frame, given: Options, request: tuple[Metrics, Any, dict[str, Any]]) -> None:
        self.given, self.request, self.truth_given = given, request, truth
        self.layout: Layout | None = None
        self.truth: pl.DataFrame | None = None
        self.visits: UserVisits | None = None
        self.partial: Partial | None = None
        self.facts = PartSummary()
        self.n_chunks = 0
        self.scale = 0.0

    def add(self, chunk: Frame) -> None:
        """Evaluate one chunk."""
        layout = Layout.of(chunk, self.truth_given, self.given.columns)
        if self.layout is None:
            self._begin(layout)
        elif layout != self.layout:
            raise FrameError(
                f"chunk {self.n_chunks + 1} has other columns than the first: {dict(layout.recs)} and not {dict(self.layout.recs)}."
            )
        self.n_chunks += 1
        recs = rows_of(chunk, "recommendations", layout.recs_read)
        if recs.height == 0:
            return
        assert self.truth is not None
        assert self.visits is not None
        recs, _ = validation.aligned(recs, self.truth, layout.recs, layout.truth)
        truth, before = self.visits.come(distinct(recs["user"]))
        if before is not None:
            raise FrameError(
                f"user {before!r} is in chunk {self.n_chunks} and in one before it: each chunk must hold whole users. Sort the "
                "recommendations by user before they are cut, or cut between users."
            )
        self._evaluate(recs, truth)

    def _begin(self, layout: Layout) -> None:
        self.layout = layout
        table = validation.ids(table_of(self.truth_given, "truth", layout.truth), "truth", layout.truth)
        self.truth, self.visits = table, UserVisits(ByUser(table))
        # What is wrong with the truth is said now, and not when its users come.
        self.scale = top_of(graded_truth(table, layout.truth, self.given.convention))

    def _evaluate(self, recs: pl.DataFrame, truth: pl.DataFrame) -> None:
        assert self.layout is not None
        metrics, k, options = self.request
        source = part_of(recs, truth, self.layout)
        partial = partial_of(self.given.data(source), metrics, Cutoffs.of(k), options, scale=self.scale)
        self.partial = partial if self.partial is None else self.partial.plus(partial)
        self.facts += PartSummary.of(recs, truth)

    def end(self) -> ChunkedEvaluation:
        """Count the users who were in no chunk, and see that anyone was."""
        if self.layout is None or self.visits is None:
            raise FrameError("there is no chunk: give at least one frame of recommendations.")
        nothing = pl.DataFrame(schema=dict.fromkeys(self.layout.recs, pl.Int64))
        for rows in self.visits.left():
            self._evaluate(nothing, rows)
        assert self.partial is not None
        counts = self.partial.counts
        self.facts.check(counts.n_users, counts.n_relevant, self.partial.convention, self.layout)
        return ChunkedEvaluation(self.partial, self.n_chunks)
