"""Rows in parts of whole users: what is done with each, and one `Joined` of all.

A part is the rows of whole users on both sides, as `Sheets`. What memory does not hold
is a list of parts, wherever they are: buckets in files (`file_parts.py`), partitions of
Dask, groups of Spark. `each` applies a function to every part where it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.columns import Labels
from recnb.data.in_memory import Sheets, check_users, source_of
from recnb.data.layout import Layout
from recnb.data.sheet import IDS, RECS, TRUTH, Sheet
from recnb.data.source import (
    Joined,
    JoinedRows,
    RowCounts,
    Source,
    elsewhere,
    rows_of,
)
from recnb.data.splits import Keys
from recnb.errors import ElsewhereError, FrameError, NoRowsError
from recnb.metrics.hits import Hits, Ints, TieSpread, cached_property, in_order

T = TypeVar("T")


class Facts(NamedTuple):
    """What is known of the rows of a part, for checks that need all parts."""

    #: An example with a list and one of the truth; None: there are no such rows.
    users: tuple[Any, Any]
    met: bool  #: whether some user is in both frames
    highest: float  #: relevance

    @classmethod
    def of(cls, part: Sheets, highest: float) -> Facts:
        """Return those of one part."""
        of_lists, of_truth = part.recs["user"], part.truth["user"]
        met = bool(of_lists.is_in(of_truth.implode()).any())
        return cls((_first(of_lists), _first(of_truth)), met, highest)


def _first(users: pl.Series) -> Any:
    return users[0] if len(users) else None


def check_parts(facts: Sequence[Facts], n_users: int, convention: Convention) -> None:
    """Raise an error if no user of all parts can be averaged."""
    examples = []
    for side, name in enumerate((RECS, TRUTH)):
        users = [part.users[side] for part in facts if part.users[side] is not None]
        if not users:
            raise NoRowsError(f"{name} is empty: it has no rows to evaluate.")
        examples.append(users[0])
    check_users(
        n_users=n_users,
        in_both=any(part.met for part in facts),
        examples=examples,
        highest=max(part.highest for part in facts),
        convention=convention,
    )


def part_of(lists: Sheet, judgements: Sheet, layout: Layout) -> Sheets:
    """Make a part of the rows of some users.

    Ids of an empty side are of the other's kind.
    """
    types: dict[str, Any] = {}
    for sheet in (lists, judgements):
        if sheet.rows.height:
            types |= {role: sheet[role].dtype for role in IDS}
    lists, judgements = _with_types(lists, types), _with_types(judgements, types)
    part = source_of(lists, judgements, layout.keys, is_part=True)
    part.weigh(layout.propensity, None)
    return part


def _with_types(sheet: Sheet, types: Mapping[str, Any]) -> Sheet:
    """Return a sheet without rows with columns of these types; any other as it is."""
    if sheet.rows.height:
        return sheet
    schema = {role: types.get(role, pl.Int64) for role in sheet.rows.columns}
    return sheet.with_rows(pl.DataFrame(schema=schema))


@contextmanager
def of_one_part() -> Iterator[None]:
    """Say in errors about rows that they look at a part of the frame."""
    try:
        yield
    except FrameError as problem:
        # One of its kinds, such as that of a frame without rows, counts no rows.
        if type(problem) is not FrameError:
            raise
        note = "(Rows are counted in one part of the frame: there may be more.)"
        raise FrameError(f"{problem} {note}") from None


class Parts(Source):
    """Both frames in parts of whole users."""

    #: Whether rows of the truth are kept of each part, and not made again where they are
    #: asked for.
    keeps_truth = False
    #: All parts, where these are some of their users; None: these are all. `truth`,
    #: `example` and `join` ask it.
    whole: Parts | None = None
    users: pl.Series  #: these users, if they are some

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.keys = layout.keys
        self.users_without_items = layout.users_without_items

    def weigh(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> None:
        """Let relevant pairs, in every part, and users have weights."""
        self.user_weights = user_weights
        self.layout = replace(self.layout, propensity=propensity)

    @property
    def weighted(self) -> bool:
        """Whether relevant pairs have propensities."""
        return self.layout.propensity is not None or "propensity" in self.layout.truth

    @abstractmethod
    def each(self, work: Callable[[Sheets], T]) -> Iterable[T]:
        """Apply a function to every part, where it is."""

    @abstractmethod
    def rows_of_users(self, users: pl.Series) -> Sheets:
        """Return the rows of some users, with all lists that they have."""

    def rows_of(self, lists: pl.Series) -> Sheets:
        """Return the rows of some lists."""
        part = self.rows_of_users(self.keys.users_of(lists).unique())
        return part.among(lists) if self.keys.columns else part

    @property
    def labels(self) -> Labels:
        """Which column of the recommendations plays which role."""
        return self.layout.recs

    @property
    def truth_labels(self) -> Labels:
        """Which column of the truth plays which role."""
        return self.layout.truth

    @property
    def recs(self) -> NoReturn:
        """Raise an error: the rows are not in memory."""
        raise elsewhere(self)

    @property
    def _joined(self) -> Joined:
        """What was joined, under whichever convention."""
        for joined in self._known.values():
            return joined
        return self.under(Convention())

    @cached_property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth, which are read where they are."""
        if self.whole is not None:
            return rows_of(self.whole.truth, self.users)
        return self._read_truth()

    def _read_truth(self) -> pl.DataFrame:
        return self._joined.judged.select(*self.layout.truth)

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        if self.whole is not None:
            return self.whole.example()
        joined = self._joined
        item = joined.row_counts.items.head(1)
        user = self.keys.users_of(joined.users.head(1))
        rows = pl.DataFrame({"user": user, "item": item})
        return Sheet(RECS, rows, self.labels)

    def lists_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the ranked rows of some users' lists."""
        return self.rows_of(users).under(convention).recs

    def truth_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the relevant rows of some users."""
        return self.rows_of(users).under(convention).truth

    def among(self, users: pl.Series) -> Parts:
        """Return some of the users: what they have is taken from what is joined of all."""
        return self._with(whole=self, users=users)

    def numbered_as(self, keys: Keys) -> Parts:
        """Return the same with the numbers that lists have among other keys."""
        numbers = self.keys.places_in(keys)
        if numbers is None:
            return self
        if self.whole is not None:
            return self.whole.numbered_as(keys).among(numbers[self.users])
        return self._with(keys=keys, layout=replace(self.layout, keys=keys))

    def _with(self, **changed: Any) -> Parts:
        """Return a copy with some attributes changed, which has joined nothing yet."""
        # `copy` would lose its files, as a pickle does.
        other = object.__new__(type(self))
        vars(other).update(vars(self), _known={}, **changed)
        vars(other).pop("truth", None)
        return other

    def join(self, convention: Convention) -> Joined:
        """Join every part, and merge hits, truth, and a few counts of each user."""
        if self.whole is not None:
            return self.whole.under(convention).among(self.users)
        refuse_catalogue(convention, self)
        work = partial(PartHits.of, convention, self.keeps_truth)
        of_all_parts = list(self.each(work))
        check_parts(
            [part.facts for part in of_all_parts],
            sum(len(part.users) for part in of_all_parts),
            convention,
        )
        # Of an empty part not even the types of ids are known.
        kept = [part for part in of_all_parts if part.facts.users != (None, None)]
        joined = merged(kept, self, convention)
        self.keys.refuse_without_users(joined.users)
        return joined


def refuse_catalogue(convention: Convention, parts: Parts) -> None:
    """Refuse what a part of the users does not know."""
    if convention.candidates == "catalogue":
        raise ElsewhereError(
            "candidates='catalogue' ranks every item of all users below each list, and "
            f"the lists stay in {parts.where}. If they fit into memory: {parts.remedy}."
        )


# ---- what is kept of a part, and the merge


@dataclass(frozen=True, eq=False)
class PartHits:
    """What is kept of a part: its hits, truth and users, and no rows of its lists."""

    facts: Facts
    users: pl.Series  #: the users evaluated, sorted
    hits: Hits
    convention: Convention  #: with the order that the columns made
    row_counts: RowCounts
    n_without_relevant: int
    judged: pl.DataFrame | None  #: all rows of the truth
    truth: pl.DataFrame | None  #: the relevant rows of the users evaluated, by user

    @classmethod
    def of(cls, convention: Convention, keeps_truth: bool, part: Sheets) -> PartHits:
        """Join a part."""
        joined = part.under(convention)
        return cls(
            facts=Facts.of(part, joined.all_hits.max_relevance),
            users=joined.users,
            hits=joined.all_hits,
            convention=joined.convention,
            row_counts=joined.row_counts,
            n_without_relevant=joined.n_without_relevant,
            judged=joined.judged if keeps_truth else None,
            truth=joined.truth if keeps_truth else None,
        )


class RowsOfParts(JoinedRows):
    """The rows of parts: read where they are, but for what was kept of each part."""

    def __init__(self, parts: Parts, convention: Convention) -> None:
        self._parts = parts
        self._convention = convention

    @property
    def lists(self) -> NoReturn:
        """Raise an error: the rows are not in memory."""
        raise elsewhere(self._parts)

    @cached_property
    def judged(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self._each(_judged_of)

    @cached_property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self._each(_truth_of).sort("user", maintain_order=True)

    @property
    def truth_is_here(self) -> bool:
        """Whether the relevant rows were kept, or read before."""
        return "truth" in vars(self)

    def keep(self, parts: Sequence[PartHits]) -> None:
        """Keep the rows of the truth that parts have kept, so that none is read again."""
        judged = [part.judged for part in parts if part.judged is not None]
        truth = [part.truth for part in parts if part.truth is not None]
        # In the place of the properties.
        self.judged = pl.concat(judged)
        self.truth = pl.concat(truth).sort("user", maintain_order=True)

    def _each(
        self, rows: Callable[[Convention, Sheets], pl.DataFrame | None]
    ) -> pl.DataFrame:
        """Return rows of all parts together."""
        tables = self._parts.each(partial(rows, self._convention))
        return pl.concat([table for table in tables if table is not None])

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"judged": self.judged, "truth": self.truth}


def _judged_of(convention: Convention, part: Sheets) -> pl.DataFrame | None:
    return part.under(convention).judged if part.has_rows else None


def _truth_of(convention: Convention, part: Sheets) -> pl.DataFrame | None:
    return part.under(convention).truth if part.has_rows else None


def merged(kept: Sequence[PartHits], parts: Parts, convention: Convention) -> Joined:
    """Return what parts of different users have kept, as of one frame."""
    users = pl.concat([part.users for part in kept])
    by_id = users.arg_sort().to_numpy().astype(np.int64)
    position = np.empty_like(by_id)  # [user of the parts] -> among those of all, by id
    position[by_id] = np.arange(len(by_id))
    counts = RowCounts.added([part.row_counts for part in kept])
    rows = RowsOfParts(parts, convention)
    if parts.keeps_truth:
        rows.keep(kept)
    return Joined(
        users=users.gather(by_id),
        all_hits=hits_together([part.hits for part in kept], position),
        convention=kept[0].convention,  # all parts settle the same order
        rows=rows,
        n_without_relevant=sum(part.n_without_relevant for part in kept),
        has_gaps=counts.n_gaps > 0,
        graded="relevance" in parts.layout.truth,
        known_counts=counts,
    )


def hits_together(parts: Sequence[Hits], position: Ints) -> Hits:
    """Return the hits of the users of all parts.

    Users are counted over the parts; `position` has where each stands among all.
    """
    first_user = np.cumsum([0, *[hits.n_users for hits in parts]])
    first_entry = np.cumsum([0, *[len(hits.truth_user) for hits in parts]])
    user = _concatenated([hits.user for hits in parts], first_user)
    entry = _concatenated([hits.entry for hits in parts], first_entry)
    truth_user = _concatenated([hits.truth_user for hits in parts], first_user)

    # Rows of each user keep their order.
    entry_order = in_order(position[truth_user])
    place_of_entry = np.empty_like(entry_order)
    place_of_entry[entry_order] = np.arange(len(entry_order))
    hit_order = in_order(position[user])
    list_length = np.empty_like(position)
    list_length[position] = np.concatenate([hits.list_length for hits in parts])
    relevance = np.concatenate([hits.relevance for hits in parts])
    truth_relevance = np.concatenate([hits.truth_relevance for hits in parts])
    weights = [hits.truth_weight for hits in parts if hits.truth_weight is not None]
    ties = [hits.tied for hits in parts if hits.tied is not None]
    return Hits(
        user=position[user][hit_order],
        rank=np.concatenate([hits.rank for hits in parts])[hit_order],
        relevance=relevance[hit_order],
        entry=place_of_entry[entry][hit_order],
        truth_user=position[truth_user][entry_order],
        truth_relevance=truth_relevance[entry_order],
        truth_weight=np.concatenate(weights)[entry_order] if weights else None,
        list_length=list_length,
        max_relevance=max(hits.max_relevance for hits in parts),
        tied=_ties_together(ties).with_rows(hit_order) if ties else None,
    )


def _concatenated(parts: Sequence[Ints], first: Ints) -> Ints:
    """Return numbers of all parts, each part counted from its first."""
    pairs = zip(parts, first, strict=False)
    return np.concatenate([numbers + start for numbers, start in pairs])


def _ties_together(parts: Sequence[TieSpread]) -> TieSpread:
    """Return how the hits of all parts are spread over ties."""
    return TieSpread(
        weight=np.concatenate([ties.weight for ties in parts]),
        nth=np.concatenate([ties.nth for ties in parts]),
        first=np.concatenate([ties.first for ties in parts]),
        top=np.concatenate([ties.top for ties in parts]),
    )
