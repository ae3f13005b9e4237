"""Rows in parts of whole users: what is done with each part, and one set of data merged of what is kept of all.

A part is the rows of whole users on both sides. What memory does not hold is a list of parts, wherever they are: buckets in
files (`FileParts`), partitions of Dask, groups of Spark (`recnb.distributed`). `each` applies a function to every part where it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NoReturn, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.buckets import Batches, Buckets, batches_of, ranges_of, release_memory
from recnb.data.columns import Frame, columns_of, find, role_of
from recnb.data.encoding import distinct
from recnb.data.join import ranges
from recnb.data.parallel import in_turn
from recnb.data.source import LazyRows, Prepared, RowCounts, Source, Tables, check_users, elsewhere, rows_of
from recnb.display.language import _
from recnb.display.progress import counted, steps
from recnb.errors import ColumnError, ElsewhereError, FrameError, quoted
from recnb.metrics.cached import cached_property
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


def named_columns_exist(columns: Mapping[str, str | None], recs: Frame, truth: Frame) -> None:
    """Raise an error if a column named by keyword is not in the frame in which its role is read."""
    of_recs, of_truth = columns_of(recs, "recommendations"), columns_of(truth, "truth")
    holders = {
        "rank": (("recommendations", " have no"), of_recs),
        "score": (("recommendations", " have no"), of_recs),
        "relevance": (("truth", " has no"), of_truth),
    }
    for role, column in columns.items():
        if column is None:
            continue
        if role in ("recommended", "relevant"):
            name = "recommendations" if role == "recommended" else "truth"
            alone = f" One frame with both sides goes alone: type frame.rec.evaluation({role}={column!r})."
            no_lists = (" names a column of lists, and ", name, " has no such column, one list a user.")
            raise ColumnError(f"{role}={quoted(column)}", *no_lists, alone)
        said, present = holders.get(role, (("neither frame has the",), [*of_recs, *of_truth]))
        if column not in present:
            listed = ", ".join(map(repr, sorted(set(map(str, present)))))
            named = (*said, f" column {column!r} that ", f"{role}={quoted(column)}", " names.")
            raise ColumnError(*named, fix=f"Columns: {listed}.")


def one_model(models: pl.Series, column: str, *, both_sides: bool = False) -> None:
    """Refuse the lists of several models; `both_sides`: in a frame that holds the truth as well."""
    if len(models) > 1:
        frames, which = ("frame", "the frame holds") if both_sides else ("recs, truth", "recommendations hold")
        found = f"{which} the lists of {len(models)} models in column {column!r}, such as {models[0]!r}"
        raise FrameError(f"{found}: compare them, recnb.compare({frames}), or evaluate one alone.")


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

    def check(self, n_users: int, convention: Convention, layout: Layout) -> None:
        """Raise an error if no user can be averaged."""
        for name, rows in (("recommendations", self.n_recs), ("truth", self.n_truth)):
            if rows == 0:
                raise FrameError(f"{name} is empty: it has no rows to evaluate.")
        if layout.model is not None:
            one_model(pl.Series(sorted(self.models)), layout.model)
        check_users(n_users, self.met, self.users, self.highest, convention)


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of some users on both sides."""

    source: Tables
    facts: Facts

    @classmethod
    def of(cls, recs: pl.DataFrame, truth: pl.DataFrame, layout: Layout) -> Part:
        """Make a part of rows with columns named by role; ids of an empty side are of the other's kind."""
        facts = Facts.of(recs, truth)
        recs = recs.drop("model", strict=False)
        types = {role: one[role].dtype for one in (recs, truth) if one.height for role in validation.IDS}
        recs, truth = (
            one if one.height else pl.DataFrame(schema={role: types.get(role, pl.Int64) for role in one.columns})
            for one in (recs, truth)
        )
        return cls(source_of(recs, truth, layout.recs, layout.truth, is_part=True), facts)


def source_of(
    recs: pl.DataFrame, truth: pl.DataFrame, labels: Mapping[str, str], truth_labels: Mapping[str, str], **known: Any
) -> Tables:
    """Return the source of rows in memory, whose ids must be of one kind."""
    validation.same_kind(recs, truth, labels, truth_labels)
    return Tables(recs, truth, labels, truth_labels, **known)


class Parts(Source):
    """Both frames in parts of whole users."""

    facts = Facts()  #: what is known of all rows before they are joined
    keeps_truth = True  #: whether rows of the truth are kept of each part, and not made again where they are asked for

    def __init__(self, layout: Layout) -> None:
        self.layout, self.labels, self.truth_labels = layout, layout.recs, layout.truth

    @abstractmethod
    def each(self, work: Callable[[Part], T]) -> Iterable[T]:
        """Apply a function to every part, where it is."""

    @abstractmethod
    def rows_of(self, users: pl.Series) -> Source:
        """Return the rows of some users."""

    @property
    def recs(self) -> NoReturn:
        """Raise an error: the rows are not in memory."""
        raise elsewhere(self)

    @cached_property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth, which were fetched with the hits."""
        known = next(iter(self._known.values()), None) or self.under(Convention())
        return known.judged.select(*self.layout.truth)

    def lists_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the ranked rows of some users' lists."""
        return self.rows_of(users).under(convention).recs

    def among(self, users: pl.Series) -> Source:
        """Return the rows of some users."""
        return SomeUsers(self, users)

    def join(self, convention: Convention) -> Prepared:
        """Join every part, and merge what is kept: hits, truth, and a few counts of each user."""
        refuse_catalogue(convention, self.where, self.remedy)
        kept = list(self.each(partial(Kept.of, convention, self.keeps_truth)))
        facts = sum((part.facts for part in kept), self.facts)
        facts.check(sum(len(part.users) for part in kept), convention, self.layout)
        return merged(kept, self, convention)


class SomeUsers(Source):
    """Some users of rows that are elsewhere: what they have is taken from what is joined of all."""

    def __init__(self, whole: Parts, users: pl.Series) -> None:
        self.whole, self.users = whole, users
        self.labels, self.truth_labels = whole.labels, whole.truth_labels
        self.where, self.remedy = whole.where, whole.remedy

    @property
    def recs(self) -> NoReturn:
        """Raise an error: the rows are not in memory."""
        raise elsewhere(self)

    @property
    def truth(self) -> pl.DataFrame:
        """The rows of the truth."""
        return rows_of(self.whole.truth, self.users)

    def lists_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the ranked rows of some users' lists."""
        return self.whole.lists_of(users, convention)

    def among(self, users: pl.Series) -> Source:
        """Return the rows of some users."""
        return self.whole.among(users)

    def join(self, convention: Convention) -> Prepared:
        """Take the users from what is joined of all."""
        return self.whole.under(convention).among(self.users)


def refuse_catalogue(convention: Convention, where: str, remedy: str) -> None:
    """Refuse what a part of the users does not know."""
    if convention.candidates == "catalogue":
        raise ElsewhereError(
            "candidates='catalogue' ranks every item of all users below each list, and the lists stay in "
            f"{where}. If they fit into memory: {remedy}."
        )


class FileParts(Parts):
    """Buckets of users in temporary files, joined one after the other on all cores."""

    def __init__(self, lists: Buckets, judged: Buckets, layout: Layout, origin: tuple[str, str]) -> None:
        self.buckets: tuple[Buckets, Buckets] | None = (lists, judged)  #: None once it was pickled
        super().__init__(layout)
        self.where, self.remedy = origin
        self.ranges, self.keeps_truth = ranges_of(lists, judged), not judged.in_files
        self.facts = Facts(users=(lists.first["user"][0], judged.first["user"][0]))

    def _sides(self) -> tuple[Buckets, Buckets]:
        if self.buckets is None:
            raise ElsewhereError(
                f"this asks for rows of the lists, which stayed in {self.where} when the evaluation was pickled. Evaluate the "
                f"frames again; if they fit into memory: {self.remedy}."
            )
        return self.buckets

    @cached_property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self._sides()[1].all()

    def each(self, work: Callable[[Part], T]) -> Iterator[T]:
        """Apply a function to every bucket."""

        def on_part(rows: tuple[pl.DataFrame, pl.DataFrame]) -> T:
            try:
                return work(Part.of(*rows, self.layout))
            except FrameError as problem:
                if type(problem) is not FrameError or len(self.ranges) == 1:
                    raise
                said = f"(This counts the rows of 1 of {len(self.ranges)} parts of the users: there may be more.)"
                raise FrameError(problem.problem, fix=f"{problem.fix} {said}".strip()) from None

        lists, judged = self._sides()
        slots = steps(self.ranges, _("buckets of users joined"), len(self.ranges))
        parts = ((lists.bucket(*ends), judged.bucket(*ends)) for ends in slots)
        return in_turn((rows for rows in parts if rows[0].height or rows[1].height), on_part)

    def rows_of(self, users: pl.Series) -> Source:
        """Return the rows of some users."""
        lists, judged = self._sides()
        return Part.of(lists.rows_of(users), judged.rows_of(users), self.layout).source

    # What pickles an evaluation may be on its way to another machine: it takes what is in memory, and no rows of lists.

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"truth": self.truth, "buckets": None}

    def __deepcopy__(self, memo: object) -> FileParts:
        return self


def read_batches(recs: Frame, truth: Frame, layout: Layout, origin: tuple[str, str]) -> Source:
    """Read both frames once, in batches, and check their ids; what does not fit into memory is put into files."""
    with (
        counted(None, _("rows read")) as bar,
        closing(_batches_checked(truth, "truth", layout.truth)) as of_truth,
        closing(_batches_checked(recs, "recommendations", layout.recs)) as of_recs,
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
        return FileParts(lists, judged, layout, origin)
    return source_of(lists.all(), judged.all(), layout.recs, layout.truth)


def _batches_checked(frame: Frame, name: str, labels: Mapping[str, str]) -> Batches:
    """Yield the rows of a frame in batches, with ids of one kind, none missing."""
    n = 0
    with closing(batches_of(frame, name, labels)) as batches:
        for batch in batches:
            for role in validation.IDS:
                if (missing := validation.is_missing(batch[role])).any():
                    rest = sum(int(validation.is_missing(other[role]).sum()) for other in batches)
                    first = n + int(missing.to_numpy().argmax())
                    raise validation.ids_missing(int(missing.sum()) + rest, first, role, name, labels)
            yield validation.ids(batch, name, labels)
            n += batch.height
    if n == 0:
        validation.ids(pl.DataFrame(), name, labels)  # which raises the error for a frame without rows


# ---- what is kept of a part, and the merge


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a part, without the rows of its lists: as large as its hits, truth and users."""

    facts: Facts
    users: pl.Series  #: the users evaluated, sorted
    columns: dict[str, Any]  #: of users, of relevant rows by user, and of hits; as narrow as their numbers allow
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
        hits, counts = prepared.all_hits, prepared.counts
        columns = {
            "list_length": hits.list_length,
            "n_relevant": hits.n_relevant,
            "n_hits": np.bincount(hits.user, minlength=hits.n_users),
            "truth_relevance": hits.truth_relevance,
            "rank": hits.rank,
            "relevance": hits.relevance,
            "truth_row": hits.truth_row - _starts(hits.n_relevant)[hits.user],
            **({} if hits.tied is None else vars(hits.tied)),
        }
        return cls(
            facts=part.facts,
            users=prepared.users,
            columns={name: _narrow(column) for name, column in columns.items()},
            max_relevance=hits.max_relevance,
            convention=prepared.convention,
            row_counts=RowCounts(
                counts.n_recommended, counts.n_not_relevant, counts.n_gaps, distinct(prepared.recs["item"])
            ),
            n_without_relevant=prepared.n_without_relevant,
            graded=prepared.graded,
            judged=prepared.judged if keeps_truth else None,
            truth=prepared.truth if keeps_truth else None,
        )


def merged(kept: list[Kept], parts: Parts, convention: Convention) -> Prepared:
    """Merge parts with different users; the list is emptied, so that each part can go once it is copied."""
    # Parts of no rows on either side know no types of ids.
    kept[:] = [part for part in kept if part.facts.n_recs or part.facts.n_truth] or kept[:1]
    first, counts = kept[0], [part.row_counts for part in kept]
    items = [count.items for count in counts if len(count.items)] or [counts[0].items]
    n_gaps, n_without_relevant = sum(count.n_gaps for count in counts), sum(part.n_without_relevant for part in kept)
    judged, truth = [part.judged for part in kept], [part.truth for part in kept]
    users, hits = _hits(kept, max(part.max_relevance for part in kept))
    return Prepared(
        list_rows=None,
        judged_rows=LazyRows(lambda: _together(judged, parts, lambda part: part.source.under(convention).judged)),
        truth_rows=LazyRows(
            lambda: _together(truth, parts, lambda part: part.source.under(convention).truth).sort(
                "user", maintain_order=True
            )
        ),
        users=users,
        all_hits=hits,
        n_without_relevant=n_without_relevant,
        convention=first.convention,
        has_gaps=n_gaps > 0,
        graded=first.graded,
        row_counts=RowCounts(
            sum(count.n_recommended for count in counts),
            sum(count.n_not_relevant for count in counts),
            n_gaps,
            distinct(pl.concat(items)),
        ),
    )


def _together(kept: list[pl.DataFrame | None], parts: Parts, rows: Callable[[Part], pl.DataFrame]) -> pl.DataFrame:
    """Put rows of all parts together: those that were kept, or the same made again."""
    return pl.concat([table for table in (kept if parts.keeps_truth else parts.each(rows)) if table is not None])


def _hits(kept: list[Kept], max_relevance: float) -> tuple[pl.Series, Hits]:
    """Return all users, sorted, and their hits; the parts are let go once they are in one piece."""
    users = pl.concat([part.users for part in kept])
    by_id = users.arg_sort().to_numpy()
    columns = {name: np.concatenate([part.columns[name] for part in kept]) for name in kept[0].columns}
    kept.clear()
    release_memory()
    list_length, n_relevant, n_hits = (
        columns.pop(name).astype(np.int64) for name in ("list_length", "n_relevant", "n_hits")
    )
    relevance = columns.pop("truth_relevance")[ranges(_starts(n_relevant)[by_id], n_relevant[by_id])]
    hit = ranges(_starts(n_hits)[by_id], n_hits[by_id])
    kinds = {"top": np.bool_, "rank": np.int64, "truth_row": np.int64}
    rows: dict[str, Any] = {name: column[hit].astype(kinds.get(name, np.float64)) for name, column in columns.items()}
    list_length, n_relevant, n_hits = list_length[by_id], n_relevant[by_id], n_hits[by_id]
    rows["truth_row"] += np.repeat(_starts(n_relevant), n_hits)
    tied = {one.name: rows.pop(one.name) for one in fields(TieSpread) if one.name in rows}
    everyone = np.arange(len(users))
    return users.gather(by_id), Hits(
        **rows,
        user=np.repeat(everyone, n_hits),
        list_length=list_length,
        truth_user=np.repeat(everyone, n_relevant),
        truth_relevance=relevance.astype(np.float64),
        max_relevance=max_relevance,
        tied=TieSpread(**tied) if tied else None,
    )


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
