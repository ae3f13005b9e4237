"""Rows in parts of whole users: what is done with each part, and one set of data merged of what is kept of all.

A part is the rows of whole users on both sides. What memory does not hold is a list of parts, wherever they are: buckets in
files (`FileParts`), partitions of Dask, groups of Spark (`recnb.distributed`). `each` applies a function to every part where it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.buckets import Batches, Buckets, batches_of, ranges_of, release_memory
from recnb.data.columns import Frame, columns_of, find, role_of, roles_of
from recnb.data.parallel import in_turn
from recnb.data.population import no_users, users_meet
from recnb.data.relevance import LazyRows, graded, once
from recnb.data.source import (
    InMemoryRows,
    Prepared,
    RemoteRanking,
    RemoteRows,
    RowCounts,
    Source,
    named_columns_exist,
    one_model,
)
from recnb.data.user_rows import ranges
from recnb.display.language import _
from recnb.display.progress import counted, steps
from recnb.errors import ElsewhereError, FrameError
from recnb.metrics.hits import Hits, Ints, TieSpread

T = TypeVar("T")


@dataclass(frozen=True)
class Layout:
    """Which column plays which role in either frame, and which names models, if one does."""

    recs: Mapping[str, str]
    truth: Mapping[str, str]
    model: str | None

    @classmethod
    def of(cls, recs: Frame, truth: Frame, columns: Mapping[str, str | None]) -> Layout:
        """Find the columns by role; frames without rows suffice."""
        named_columns_exist(columns, recs, truth)
        return cls(
            find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"]),
            find(truth, "truth", ["user", "item"], columns, ["relevance"]),
            next((name for name in columns_of(recs, "recommendations") if role_of(name) == "model"), None),
        )

    @property
    def recs_read(self) -> dict[str, str]:
        """All that is read of the recommendations, by role."""
        return {**self.recs, **({} if self.model is None else {"model": self.model})}


@dataclass(frozen=True)
class Facts:
    """What is known of the rows of some parts, for checks that need all of them."""

    n_recs: int = 0
    n_truth: int = 0
    met: bool = False  #: whether some user is in both frames
    users: tuple[Any, Any] = (None, None)  #: one with a list, one of the truth
    highest: float | None = None  #: relevance
    models: frozenset[Any] = frozenset()  #: two at most: one more than there may be

    @classmethod
    def of(cls, recs: pl.DataFrame, truth: pl.DataFrame) -> Facts:
        """Return those of one part."""
        models = recs["model"].drop_nulls().unique().sort().head(2).to_list() if "model" in recs.columns else []
        highest = truth["relevance"].cast(pl.Float64).max() if "relevance" in truth.columns else 1.0
        met = recs.height > 0 and truth.height > 0 and bool(recs["user"].is_in(truth["user"].implode()).any())
        users = tuple(rows["user"][0] if rows.height else None for rows in (recs, truth))
        known = highest if isinstance(highest, float) else None
        return cls(recs.height, truth.height, met, (users[0], users[1]), known, frozenset(models))

    def __add__(self, other: Facts) -> Facts:
        known = [highest for highest in (self.highest, other.highest) if highest is not None]
        first, second = (mine if mine is not None else his for mine, his in zip(self.users, other.users, strict=True))
        return Facts(
            self.n_recs + other.n_recs,
            self.n_truth + other.n_truth,
            self.met or other.met,
            (first, second),
            max(known, default=None),
            frozenset(sorted(self.models | other.models)[:2]),
        )

    def check(self, n_users: int, n_relevant: int, convention: Convention, layout: Layout) -> None:
        """Raise an error if no user can be averaged."""
        for name, rows in (("recommendations", self.n_recs), ("truth", self.n_truth)):
            if rows == 0:
                raise FrameError(f"{name} is empty: it has no rows to evaluate.")
        if layout.model is not None:
            one_model(pl.Series(sorted(self.models)), layout.model, roles_of(layout.recs).library)
        if not self.met:
            users_meet(pl.Series([self.users[0]]), pl.Series([self.users[1]]))
        if n_users == 0 or (n_relevant == 0 and convention.no_relevant == "skip"):
            raise no_users(self.highest, convention)


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of some users on both sides."""

    source: Source
    facts: Facts

    @classmethod
    def of(cls, recs: pl.DataFrame, truth: pl.DataFrame, layout: Layout) -> Part:
        """Make a part of rows with columns named by role; ids of an empty side are of the other's kind."""
        facts = Facts.of(recs, truth)
        recs, truth = (
            _typed_as(one, other) if one.height == 0 else one for one, other in ((recs, truth), (truth, recs))
        )
        source = source_of(recs.drop("model", strict=False), truth, layout.recs, layout.truth, part=True)
        return cls(source, facts)


def source_of(
    recs: pl.DataFrame, truth: pl.DataFrame, labels: Mapping[str, str], truth_labels: Mapping[str, str], **known: Any
) -> Source:
    """Return the source of rows in memory, whose ids must be of one kind."""
    validation.same_kind(recs, truth, labels, truth_labels)
    return Source(InMemoryRows(LazyRows.of(recs)), LazyRows.of(truth), labels, truth_labels, **known)


def _typed_as(empty: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Return an empty table with the id types of another."""
    types = {role: other[role].dtype if role in validation.IDS and other.height else pl.Int64 for role in empty.columns}
    return pl.DataFrame(schema=types)


class Parts(ABC):
    """Both frames in parts of whole users."""

    layout: Layout
    where: str  #: what holds the rows, in words
    remedy: str  #: what to type to have them in memory
    facts = Facts()  #: what is known of all rows before they are joined
    keeps_truth = True  #: whether rows of the truth are kept of each part, and not read again where they are asked for

    @abstractmethod
    def each(self, work: Callable[[Part], T]) -> Iterable[T]:
        """Apply a function to every part, where it is."""

    @abstractmethod
    def rows_of(self, users: pl.Series) -> Source:
        """Return the rows of some users."""

    def judged(self, convention: Convention) -> pl.DataFrame:
        """Return all rows of the truth with their grades, where they are not kept of each part."""
        raise NotImplementedError

    @property
    def away(self) -> RemoteRows:
        """The lists, which stay where they are."""
        return RemoteRows(
            list(self.layout.recs),
            self.where,
            self.remedy,
            self.gather,
            lambda users, c: self.rows_of(users).under(c).recs,
        )

    def gather(self, convention: Convention) -> Prepared:
        """Join every part, and merge what is kept: hits, truth, and a few counts of each user."""
        refuse_catalogue(convention, self.where, self.remedy)
        kept = list(self.each(partial(Kept.of, convention, self.keeps_truth)))
        facts = sum((part.facts for part in kept), self.facts)
        n_relevant = sum(len(part.truth_relevance) for part in kept)
        facts.check(sum(len(part.users) for part in kept), n_relevant, convention, self.layout)
        return merged(kept, self, convention)


def refuse_catalogue(convention: Convention, where: str, remedy: str) -> None:
    """Refuse what a part of the users does not know."""
    if convention.candidates == "catalogue":
        raise ElsewhereError(
            "candidates='catalogue' ranks every item of all users below each list, and the lists stay in "
            f"{where}. If they fit into memory: {remedy}."
        )


def _relevant(convention: Convention, part: Part) -> pl.DataFrame:
    return part.source.under(convention).truth


class FileParts(Parts):
    """Buckets of users in temporary files, joined one after the other on all cores."""

    def __init__(self, recs: Buckets, truth: Buckets, layout: Layout, origin: tuple[str, str]) -> None:
        self.recs, self.truth, self.layout = recs, truth, layout
        self.where, self.remedy = origin
        self.ranges, self.keeps_truth = ranges_of(recs, truth), not truth.in_files
        self.facts = Facts(users=(recs.first["user"][0], truth.first["user"][0]))

    def each(self, work: Callable[[Part], T]) -> Iterator[T]:
        """Apply a function to every bucket."""

        def join(rows: tuple[pl.DataFrame, pl.DataFrame]) -> T:
            try:
                return work(Part.of(*rows, self.layout))
            except FrameError as problem:
                if type(problem) is not FrameError or len(self.ranges) == 1:
                    raise
                said = f"(This counts the rows of 1 of {len(self.ranges)} parts of the users: there may be more.)"
                raise FrameError(*problem.problem, fix=(*problem.fix, *([" "] if problem.fix else []), said)) from None

        slots = steps(self.ranges, _("buckets of users joined"), len(self.ranges))
        buckets = ((self.recs.bucket(*some), self.truth.bucket(*some)) for some in slots)
        return in_turn((rows for rows in buckets if rows[0].height or rows[1].height), join)

    def rows_of(self, users: pl.Series) -> Source:
        """Return the rows of some users."""
        return Part.of(self.recs.rows_of(users), self.truth.rows_of(users), self.layout).source

    def judged(self, convention: Convention) -> pl.DataFrame:
        """Return all rows of the truth with their grades."""
        rows = graded(self.truth.all(), self.layout.truth, convention)
        return rows if convention.duplicates == "error" else once(rows, self.layout.truth, convention)

    def source(self, floats: tuple[str, ...]) -> Source:
        """Return the source of an evaluation of all users."""
        return Source(self.away, LazyRows(self.truth.all), self.layout.recs, self.layout.truth, floats=floats)


def read_batches(recs: Frame, truth: Frame, layout: Layout, origin: tuple[str, str]) -> Source:
    """Read both frames once, in batches, and check their ids; what does not fit into memory is put into files."""
    floats: list[str] = []
    with (
        counted(None, _("rows read")) as bar,
        closing(_batches_checked(truth, "truth", layout.truth, floats)) as of_truth,
        closing(_batches_checked(recs, "recommendations", layout.recs, floats)) as of_recs,
    ):
        judged = Buckets(of_truth)

        def alike() -> Iterator[pl.DataFrame]:
            for n, batch in enumerate(of_recs):
                if n == 0:
                    validation.same_kind(batch, judged.first, layout.recs, layout.truth)
                bar.update(batch.height)
                yield batch

        lists = Buckets(alike())
    if lists.in_files:
        return FileParts(lists, judged, layout, origin).source(tuple(sorted(floats)))
    return source_of(lists.all(), judged.all(), layout.recs, layout.truth, floats=tuple(sorted(floats)))


def _batches_checked(frame: Frame, name: str, labels: Mapping[str, str], floats: list[str]) -> Batches:
    """Yield the rows of a frame in batches, with ids of one kind, none missing; columns of ids that are floats are noted."""
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


# ---- what is kept of a part, and the merge ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a part, without the rows of its lists: as large as its hits, truth and users.

    Columns are as narrow as their numbers allow.
    """

    facts: Facts
    users: pl.Series  #: the users evaluated, sorted
    list_length: Any  #: per user, as the next two
    n_relevant: Any
    n_hits: Any
    truth_relevance: Any  #: per relevant row, by user
    rows: dict[str, Any]  #: per hit: rank, relevance, the number of its item in the user's truth, and how it is tied
    max_relevance: float
    convention: Convention  #: with the order that the columns made
    row_counts: RowCounts
    n_without_relevant: int
    graded: bool
    judged: pl.DataFrame | None  #: all rows of the truth
    truth: pl.DataFrame | None  #: the relevant rows of the users evaluated, by user

    @classmethod
    def of(cls, convention: Convention, keeps_truth: bool, part: Part) -> Kept:
        """Join a part."""
        prepared = part.source.under(convention)
        hits, n_relevant = prepared.all_hits, prepared.all_hits.n_relevant
        rows = {
            "rank": hits.rank,
            "relevance": hits.relevance,
            "truth_row": hits.truth_row - _starts(n_relevant)[hits.user],
            **({} if hits.tied is None else vars(hits.tied)),
        }
        return cls(
            facts=part.facts,
            users=prepared.users,
            list_length=_narrow(hits.list_length),
            n_relevant=_narrow(n_relevant),
            n_hits=_narrow(np.bincount(hits.user, minlength=hits.n_users)),
            truth_relevance=_narrow(hits.truth_relevance),
            rows={name: _narrow(column) for name, column in rows.items()},
            max_relevance=hits.max_relevance,
            convention=prepared.convention,
            row_counts=RowCounts.of(prepared.counts, prepared.recs),
            n_without_relevant=prepared.n_without_relevant,
            graded=prepared.graded,
            judged=prepared.judged if keeps_truth else None,
            truth=prepared.truth if keeps_truth else None,
        )


def merged(kept: list[Kept], parts: Parts, convention: Convention) -> Prepared:
    """Merge parts with different users; the list is emptied, so that each part can go once it is copied."""
    # Parts of no rows on either side know no types of ids.
    kept[:] = [part for part in kept if part.facts.n_recs or part.facts.n_truth] or kept[:1]
    n_without_relevant = sum(part.n_without_relevant for part in kept)
    in_force, is_graded = kept[0].convention, kept[0].graded
    row_counts, top = RowCounts.total([part.row_counts for part in kept]), max(part.max_relevance for part in kept)
    judged, truth = [part.judged for part in kept], [part.truth for part in kept]
    users, hits = _hits(kept, top)
    return Prepared(
        rows=RemoteRanking(parts.away, in_force),
        judged_rows=LazyRows(
            lambda: (
                pl.concat([rows for rows in judged if rows is not None])
                if parts.keeps_truth
                else parts.judged(convention)
            )
        ),
        truth_rows=LazyRows(
            lambda: _by_user(truth if parts.keeps_truth else parts.each(partial(_relevant, convention)))
        ),
        users=users,
        all_hits=hits,
        n_without_relevant=n_without_relevant,
        convention=in_force,
        has_gaps=row_counts.n_gaps > 0,
        graded=is_graded,
        row_counts=row_counts,
    )


def _by_user(truth: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """Put the relevant rows of parts together: those of each part are by user, and users are sorted."""
    return pl.concat([rows for rows in truth if rows is not None]).sort("user", maintain_order=True)


def _hits(kept: list[Kept], top: float) -> tuple[pl.Series, Hits]:
    """Return all users, sorted, and their hits; the parts are let go once they are in one piece."""
    users = pl.concat([part.users for part in kept])
    order = users.arg_sort().to_numpy()
    users = users.gather(order)
    list_length, n_relevant, n_hits = (
        np.concatenate([getattr(part, name) for part in kept]).astype(np.int64)
        for name in ("list_length", "n_relevant", "n_hits")
    )
    relevance = np.concatenate([part.truth_relevance for part in kept])
    rows: dict[str, Any] = {name: np.concatenate([part.rows[name] for part in kept]) for name in kept[0].rows}
    kept.clear()
    release_memory()
    at = ranges(_starts(n_hits)[order], n_hits[order])
    rows = {name: column[at].astype(KINDS.get(name, np.float64)) for name, column in rows.items()}
    relevance = relevance[ranges(_starts(n_relevant)[order], n_relevant[order])].astype(np.float64)
    list_length, n_relevant, n_hits = list_length[order], n_relevant[order], n_hits[order]
    rows["truth_row"] += np.repeat(_starts(n_relevant), n_hits)
    tied = {one.name: rows.pop(one.name) for one in fields(TieSpread) if one.name in rows}
    everyone = np.arange(len(users))
    return users, Hits(
        **rows,
        user=np.repeat(everyone, n_hits),
        list_length=list_length,
        truth_user=np.repeat(everyone, n_relevant),
        truth_relevance=relevance,
        max_relevance=top,
        tied=TieSpread(**tied) if tied else None,
    )


#: Of the columns that are no floats.
KINDS: dict[str, type[np.generic]] = {"top": np.bool_, "rank": np.int64, "truth_row": np.int64}


def _starts(counts: Ints) -> Ints:
    return np.cumsum(counts) - counts


def _narrow(column: Any) -> Any:
    """Return the same numbers in as few bytes as hold them exactly; truth values as they are."""
    for kind in (np.int8, np.int16, np.int32, np.float32) if column.dtype != np.bool_ else ():
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = column.astype(kind)
        if (narrow == column).all():
            return narrow
    return column


__all__ = ["Facts", "FileParts", "Kept", "Layout", "Part", "Parts", "merged", "read_batches", "source_of"]
