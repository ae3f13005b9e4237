"""Lists larger than memory: joined with the truth some users at a time, of which hits and counts are kept."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cached_property

import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.batches import Stream
from recnb.data.encoding import distinct
from recnb.data.join import Prepared, RemoteRows, Source
from recnb.data.merge import JoinedPart, merged
from recnb.data.partition import Layout, PartSummary, part_of
from recnb.data.relevance import graded, graded_truth, once
from recnb.data.user_batches import Tables, between_users, by_files
from recnb.data.user_buckets import ByUser, UserVisits
from recnb.display.language import _
from recnb.display.progress import counted
from recnb.errors import ElsewhereError, FrameError

#: A table of no more rows than this is held in memory.
WHOLE = 2**22
#: Rows of lists that are joined at a time, about.
ROWS = 2**20
#: How many ids of items may wait until those that are there twice are left out.
ITEMS = 2**20


class _TornError(Exception):
    """The rows of a user are not adjacent."""


def source(stream: Stream, truth: pl.DataFrame, layout: Layout, floats: tuple[str, ...]) -> Source:
    """The source of streamed lists with a truth in memory."""
    checked, types = validation.ids(truth, "truth", layout.truth), stream.head(0)
    checked = checked.with_columns(
        validation.of_one_kind(checked[role], validation.of_one_unit(types[role])) for role in validation.IDS
    )
    streamed = Streamed(stream, checked, layout)
    return Source(streamed.away, streamed.truth, layout.recs, layout.truth, floats=floats)


def same_kind(stream: Stream, truth: pl.DataFrame, layout: Layout) -> None:
    """Raise an error for ids of different types, before the lists are read."""
    types = stream.head(0)
    if truth.height == 0 or all(_kind(types[role].dtype) == _kind(truth[role].dtype) for role in validation.IDS):
        return
    first = stream.head(1)
    # A row that lacks an id says nothing of kinds: what is missing is said when all are read.
    if first.height and not any(first[role].null_count() for role in validation.IDS):
        recs = validation.ids(first, "recommendations", layout.recs)
        validation.aligned(recs, validation.ids(truth, "truth", layout.truth), layout.recs, layout.truth)


def _kind(dtype: pl.DataType) -> str:
    """The type of ids after validation."""
    if dtype in (pl.Categorical, pl.Enum):
        dtype = pl.String()
    dtype = validation.of_one_unit(pl.Series(dtype=dtype)).dtype
    return validation.kind(pl.Int64() if dtype.is_float() else dtype)


class Streamed:
    """Lists in batches with a truth in memory."""

    def __init__(self, stream: Stream, truth: pl.DataFrame, layout: Layout) -> None:
        self.stream, self.truth, self.layout = stream, truth, layout
        self.away = RemoteRows(list(layout.recs), stream.where, stream.remedy, self.gather, self.fetch)
        self._is_torn = False  #: whether some user's rows were found apart

    @cached_property
    def by_user(self) -> ByUser:
        """The truth, to be taken some users at a time."""
        return ByUser(self.truth)

    def gather(self, convention: Convention) -> Prepared:
        """Hits and counts of all users under a convention, in one reading of the lists, or two if they are torn."""
        if convention.candidates == "catalogue":
            raise ElsewhereError(
                "candidates='catalogue' ranks every item of all users below each list, and the lists stay in "
                f"{self.stream.where}. If they fit into memory: {self.stream.remedy}."
            )
        # What is wrong with the truth is said before anything is read, but for pairs that stand twice: parts find them.
        judged = graded(self.truth, self.layout.truth, convention)
        if convention.duplicates != "error":
            judged = once(judged, self.layout.truth, convention)
        if not self._is_torn:
            try:
                return self._gathered(convention, judged)
            except _TornError:
                self._is_torn = True
        return self._gathered(convention, judged)

    def _gathered(self, convention: Convention, judged: pl.DataFrame) -> Prepared:
        cut = by_files if self._is_torn else between_users
        with counted(None, _("rows read")) as bar, closing(cut(self._checked(), ROWS)) as tables:
            work = _StreamState(self, convention)
            for recs in tables:
                work.add(recs)
                bar.update(recs.height)
            return work.end(judged)

    def _checked(self) -> Tables:
        """Every row in batches, with ids of one kind, none missing."""
        n, labels = 0, self.layout.recs
        with closing(self.stream.batches()) as batches:
            for batch in batches:
                for role in validation.IDS:
                    if (missing := _missing(batch[role])).any():
                        rest = sum(int(_missing(other[role]).sum()) for other in batches)
                        raise FrameError(
                            f"recommendations: column {labels[role]!r} has {int(missing.sum()) + rest:,} missing {role} ids, the "
                            f"first in row {n + int(missing.to_numpy().argmax())}. Drop those rows: frame.dropna(subset=[{labels[role]!r}])."
                        )
                yield validation.ids(batch, "recommendations", labels)
                n += batch.height

    def fetch(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """The ranked rows of some users."""
        recs = rows_of_stream(self.stream, users, self.layout)
        at = self.by_user.places(distinct(users))
        return part_of(recs, self.by_user.rows(at[at >= 0]), self.layout).under(convention).recs


def rows_of_stream(stream: Stream, users: pl.Series, layout: Layout) -> pl.DataFrame:
    """The rows of some users, ids checked; they may have none."""
    table = stream.of(users)
    return table if table.height == 0 else validation.ids(table, "recommendations", layout.recs)


class _StreamState:
    """Data kept of the lists joined so far."""

    def __init__(self, streamed: Streamed, convention: Convention) -> None:
        self.streamed, self.convention = streamed, convention
        self.visits = UserVisits(streamed.by_user)
        self.parts: list[JoinedPart] = []
        self.items: list[pl.Series] = []
        self.n_items = ITEMS
        self.n_rows = 0
        self.first: object = None  #: a user with a list

    def add(self, recs: pl.DataFrame) -> None:
        """Join the lists of some users."""
        truth, before = self.visits.come(distinct(recs["user"]))
        if before is not None:
            raise _TornError
        if self.n_rows == 0:
            self.first = recs["user"][0]
        try:
            self._join(recs, truth)
        except FrameError as problem:
            if type(problem) is not FrameError:
                raise
            graded_truth(self.streamed.truth, self.streamed.layout.truth, self.convention)  # says so if it is the truth
            looked = f"rows {self.n_rows:,} to {self.n_rows + recs.height - 1:,}"
            where = "some of the rows" if self.streamed._is_torn else looked
            raise FrameError(f"{problem} (Counted in {where} of the recommendations, where reading ended.)") from None
        self.n_rows += recs.height

    def _join(self, recs: pl.DataFrame, truth: pl.DataFrame) -> None:
        part = JoinedPart.of(part_of(recs, truth, self.streamed.layout).under(self.convention))
        self.items.append(part.row_counts.items)
        if sum(map(len, self.items)) > self.n_items:
            self.items = [distinct(pl.concat(self.items))]
            self.n_items = 2 * len(self.items[0]) + ITEMS
        # All of the truth is known, and the items of all lists are kept once.
        row_counts = replace(part.row_counts, items=part.row_counts.items.clear())
        self.parts.append(replace(part, judged=part.judged.clear(), row_counts=row_counts))

    def end(self, judged: pl.DataFrame) -> Prepared:
        """All users as one, those without a list among them."""
        streamed = self.streamed
        nothing = pl.DataFrame(schema=dict.fromkeys(streamed.layout.recs, pl.Int64))
        for rows in self.visits.left():
            self._join(nothing, rows)
        highest = judged["relevance"].max()
        facts = PartSummary(
            self.n_rows, judged.height, self.visits.met, self.first, judged["user"][0],
            highest if isinstance(highest, float) else None,
        )  # fmt: skip
        n_users, n_relevant = sum(len(part.users) for part in self.parts), sum(part.n_relevant for part in self.parts)
        facts.check(n_users, n_relevant, self.convention, streamed.layout)
        first = self.parts[0]
        items = distinct(pl.concat([item for item in self.items if len(item)]))
        self.parts[0] = replace(first, row_counts=replace(first.row_counts, items=items))
        self.parts.reverse()
        return merged((self.parts.pop() for _ignored in range(len(self.parts))), streamed.away, judged)


def _missing(ids: pl.Series) -> pl.Series:
    return ids.is_null() | ids.is_nan() if ids.dtype.is_float() else ids.is_null()


__all__ = ["Streamed", "same_kind", "source"]
