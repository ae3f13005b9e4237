"""Lists larger than memory: lists and truth are put into buckets of users, and each bucket is joined like frames in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TypeVar

import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.batches import Batches, batches_of
from recnb.data.columns import Frame
from recnb.data.encoding import distinct
from recnb.data.merge import JoinedPart, merged
from recnb.data.parallel import in_turn
from recnb.data.partition import Layout, PartSummary, part_of
from recnb.data.relevance import LazyRows, graded, once
from recnb.data.source import Prepared, RemoteRows, Source
from recnb.data.user_buckets import UserBuckets, ranges_of
from recnb.display.language import _
from recnb.display.progress import counted, steps
from recnb.errors import ElsewhereError, FrameError

T = TypeVar("T")

#: What a part holds of rows that are read again where they are asked for.
NONE = LazyRows.of(pl.DataFrame())


def read_buckets(recs: Frame, truth: Frame, layout: Layout) -> tuple[UserBuckets, UserBuckets, tuple[str, ...]]:
    """Read both frames in batches, check their ids, and put the rows into buckets; also return which ids are floats."""
    lists, judged = UserBuckets(), UserBuckets()
    floats: list[str] = []
    with (
        counted(None, _("rows read")) as bar,
        closing(batches_checked(truth, "truth", layout.truth, floats)) as of_truth,
        closing(batches_checked(recs, "recommendations", layout.recs, floats)) as of_recs,
    ):
        for batch in of_truth:
            judged.add(batch)
        for batch in of_recs:
            if not lists.n_rows:
                validation.same_kind(batch, judged.first, layout.recs, layout.truth)
            lists.add(batch)
            bar.update(batch.height)
    for table in (lists, judged):
        table.keep()
    return lists, judged, tuple(sorted(floats))


def batches_checked(frame: Frame, name: str, labels: Mapping[str, str], floats: list[str]) -> Batches:
    """The rows of a frame in batches, with ids of one kind, none missing; columns of ids that are floats are noted."""
    n = 0
    with closing(batches_of(frame, name, labels)) as batches:
        for batch in batches:
            for role in validation.IDS:
                if (missing := validation.is_missing(batch[role])).any():
                    rest = sum(int(validation.is_missing(other[role]).sum()) for other in batches)
                    first = n + int(missing.to_numpy().argmax())
                    raise validation.ids_missing(int(missing.sum()) + rest, first, role, name, labels)
            if n == 0:
                floats += validation.float_ids(batch, "truth" if name == "truth" else "recs", labels)
            yield validation.ids(batch, name, labels)
            n += batch.height
    if n == 0:
        validation.ids(pl.DataFrame(), name, labels)  # which raises the error for a frame without rows


class BucketJoin:
    """Recommendations and truth in buckets of users, joined bucket by bucket."""

    def __init__(self, recs: UserBuckets, truth: UserBuckets, layout: Layout, origin: tuple[str, str]) -> None:
        self.recs, self.truth, self.layout = recs, truth, layout
        self.ranges = ranges_of(recs, truth)
        self.away = RemoteRows(list(layout.recs), *origin, self.gather, self.fetch)

    def source(self, floats: tuple[str, ...]) -> Source:
        """The source of an evaluation of all users."""
        truth = LazyRows(self._judged)
        return Source(self.away, truth, self.layout.recs, self.layout.truth, floats=floats)

    def each(self, work: Callable[[Source, PartSummary], T]) -> Iterator[T]:
        """Apply a function to the source of each bucket and the facts of its rows, on all cores; results are in order."""

        def join(rows: tuple[pl.DataFrame, pl.DataFrame]) -> T:
            source = self._part(*rows)
            try:
                return work(source, PartSummary.of(*rows))
            except FrameError as problem:
                if type(problem) is not FrameError or len(self.ranges) == 1:
                    raise
                counted = f"(This counts the rows of 1 of {len(self.ranges)} parts of the users: there may be more.)"
                raise FrameError(f"{problem} {counted}") from None

        slots = steps(self.ranges, _("buckets of users joined"), len(self.ranges))
        buckets = ((self.recs.bucket(*some), self.truth.bucket(*some)) for some in slots)
        return in_turn((rows for rows in buckets if rows[0].height or rows[1].height), join)

    def check(self, facts: PartSummary, n_users: int, n_relevant: int, convention: Convention) -> None:
        """Raise an error if no user of all buckets can be averaged."""
        some = replace(facts, with_list=self.recs.first["user"][0], with_truth=self.truth.first["user"][0])
        some.check(n_users, n_relevant, convention, self.layout)

    def _judged(self) -> pl.DataFrame:
        """All rows of the truth, with ids of the type that users and items have."""
        return self._part(self.recs.first.clear(), self.truth.all()).truth

    def _part(self, recs: pl.DataFrame, truth: pl.DataFrame) -> Source:
        return part_of(recs, truth, self.layout)

    def gather(self, convention: Convention) -> Prepared:
        """Hits and counts of all users under a convention."""
        if convention.candidates == "catalogue":
            raise ElsewhereError(
                "candidates='catalogue' ranks every item of all users below each list, and the lists stay in "
                f"{self.away.where}. If they fit into memory: {self.away.remedy}."
            )

        def joined(source: Source, facts: PartSummary) -> tuple[JoinedPart, PartSummary]:
            part = JoinedPart.of(source.under(convention))
            # The truth is here anyway, or it is too large to be kept once more.
            return replace(part, judged=NONE, truth=NONE if self.truth.in_files else part.truth), facts

        parts, facts, items = [], PartSummary(), [self.recs.first["item"].clear()]
        for part, own in self.each(joined):
            facts += own
            items.append(part.row_counts.items)
            if sum(map(len, items)) > 2 * len(items[0]):
                items = [distinct(pl.concat(items))]
            parts.append(replace(part, row_counts=replace(part.row_counts, items=items[0].clear())))
        n_users = sum(len(part.users) for part in parts)
        self.check(facts, n_users, sum(len(part.truth_relevance) for part in parts), convention)
        parts[0] = replace(parts[0], row_counts=replace(parts[0].row_counts, items=distinct(pl.concat(items))))

        def judged() -> pl.DataFrame:
            rows = graded(self._judged(), self.layout.truth, convention)
            return rows if convention.duplicates == "error" else once(rows, self.layout.truth, convention)

        def relevant() -> list[pl.DataFrame]:
            return list(self.each(lambda source, _facts: JoinedPart.of(source.under(convention)).truth.frame))

        return merged(parts, self.away, LazyRows(judged), relevant if self.truth.in_files else None)

    def fetch(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """The ranked rows of some users."""
        return self._part(self.recs.rows_of(users), self.truth.rows_of(users)).under(convention).recs


__all__ = ["BucketJoin", "read_buckets"]
