"""Recommendations that come a chunk at a time: put into buckets of users, which are evaluated one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from recnb.data import Frame, Layout, table_of, validation
from recnb.data.bucket_join import BucketJoin, batches_checked
from recnb.data.relevance import graded_truth, refuse_zeros, top_of
from recnb.data.source import one_model
from recnb.data.user_buckets import UserBuckets
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.distributed.kernel import added
from recnb.distributed.partial import Partial, Question, partial_of, refuse_unless_mean
from recnb.errors import FrameError, OptionError, is_several
from recnb.evaluate import Options, parse_options
from recnb.metrics.metric import METRICS
from recnb.results.arguments import Metrics


@dataclass(frozen=True, eq=False, repr=False)
class ChunkedEvaluation(Partial):
    """The sum of all chunks: means, their intervals, and `partial`, which can be added to others."""

    n_chunks: int = 0

    @property
    def partial(self) -> Partial:
        """The sums by themselves."""
        return Partial(*(getattr(self, field.name) for field in fields(Partial)))

    def plus(self, other: Partial) -> Partial:
        """Add two sums of different users, which are those of no chunks then."""
        return self.partial.plus(other)

    def _heading(self) -> str:
        counts = self.counts
        return _(
            "Evaluation of {rows:,} recommended rows in {chunks:,} chunks against {relevant:,} relevant items, {hits:,} of them hit",
            rows=counts.n_recommended, chunks=self.n_chunks, relevant=counts.n_relevant, hits=counts.n_hits,
        )  # fmt: skip


def evaluate_chunks(
    chunks: Iterable[Frame],
    truth: Frame,
    metrics: Metrics = None,
    k: int | Sequence[int | None] | None = None,
    **options: Any,
) -> ChunkedEvaluation:
    """Evaluate recommendations that come as frames one after the other, such as files.

    The numbers are those of `evaluate` on all chunks together; a user's list may be spread over several. Users of the truth who are in
    no chunk have no list, and count as the convention says. Up to about 4 million rows are kept in memory; if there are more, they
    wait in temporary files, in buckets of users that are then evaluated one after the other. `options` are those of `evaluate`,
    columns and conventions, and those of the metrics, such as `gain="exponential"`.

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
    question = Question.of(given.library, metrics, k, own)
    if hasattr(chunks, "columns") or not is_several(chunks):
        raise FrameError(
            f"chunks is one {type(chunks).__name__}: give several frames in a list or a generator, or type recnb.evaluate(recs, truth)."
        )
    joined, n_chunks = _read(chunks, truth, given)
    labels = joined.layout.truth
    top = max(top_of(graded_truth(joined.truth.bucket(*slots), labels, given.convention)) for slots in joined.ranges)
    total, facts = added(
        joined.each(lambda source, facts: (partial_of(given.data(source), question, scale=top), facts))
    )
    joined.check(facts, total.counts.n_users, total.counts.n_relevant, total.convention)
    return ChunkedEvaluation(**vars(total), n_chunks=n_chunks)


def _read(chunks: Iterable[Frame], truth: Frame, given: Options) -> tuple[BucketJoin, int]:
    """Put the rows of all chunks, and of the truth, into buckets of users; and count the chunks."""
    lists, judged, n = UserBuckets(), UserBuckets(), 0
    layout: Layout | None = None
    models: set[Any] = set()
    for n, chunk in enumerate(steps(chunks, _("chunks read")), 1):
        own = Layout.of(chunk, truth, given.columns)
        if layout is None:
            layout = own
            refuse_zeros(truth, layout.truth)
            for rows in batches_checked(truth, "truth", layout.truth, []):
                judged.add(rows)
        elif own != layout:
            raise FrameError(
                f"chunk {n} has other columns than the first: {dict(own.recs)} and not {dict(layout.recs)}."
            )
        rows = table_of(chunk, "recommendations", layout.recs_read)
        if rows.height == 0:
            continue
        rows = validation.ids(rows, "recommendations", layout.recs)
        if layout.model is not None:
            models |= set(rows["model"].drop_nulls().unique().to_list())
            one_model(pl.Series(sorted(models)), layout.model)
        validation.same_kind(rows, judged.first, layout.recs, layout.truth)
        lists.add(rows.drop("model", strict=False))
    if layout is None:
        raise FrameError("there is no chunk: give at least one frame of recommendations.")
    if lists.n_rows == 0:
        validation.ids(
            pl.DataFrame(), "recommendations", layout.recs
        )  # which raises the error for a frame without rows
    return BucketJoin(lists, judged, layout, ("chunks", "recnb.evaluate(recs, truth)")), n
