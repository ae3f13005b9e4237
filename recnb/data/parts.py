"""Rows in parts of whole users: what is done with each, and one `Joined` of all.

A part is the rows of whole users on both sides, as `Sheets`. What memory does not hold
is a list of parts, wherever they are: files (`file_parts.py`), partitions of Dask,
groups of Spark. `each` applies a function to every part where it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.in_memory import Sheets, check_users, source_of
from recnb.data.layout import Layout
from recnb.data.names import IDS, RECS, TRUTH
from recnb.data.sheet import Sheet
from recnb.data.source import Joined, JoinedRows, RowCounts, Source, elsewhere
from recnb.data.splits import Keys
from recnb.errors import ElsewhereError, FrameError, NoRowsError
from recnb.metrics.hits import Hits, Ints, TieSpread, in_order

T = TypeVar("T")


def part_of(recs: pl.DataFrame, truth: pl.DataFrame, layout: Layout) -> Sheets:
    """Make a part of the rows of some users, whose columns are roles.

    Either side may have no rows; ids of an empty one are of the other's kind.
    """
    sheets = [Sheet(RECS, recs, layout.recs), Sheet(TRUTH, truth, layout.truth)]
    sheets = [sheet.with_ids() if sheet.rows.height else sheet for sheet in sheets]
    types: dict[str, Any] = {}
    for sheet in sheets:
        if sheet.rows.height:
            types |= {role: sheet[role].dtype for role in IDS}
    lists, judgements = (_with_types(sheet, types) for sheet in sheets)
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
    #: All parts, where these are some of their users; None: these are all.
    whole: Parts | None = None
    users: pl.Series  #: these users, if they are some

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.lists = Sheet(RECS, pl.DataFrame(), layout.recs)
        self.judgements = Sheet(TRUTH, pl.DataFrame(), layout.truth)
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
    def fetched(self, users: pl.Series) -> Sheets:
        """Return the rows of some users, with all lists that they have."""

    def rows_of(self, lists: pl.Series) -> Sheets:
        """Return the rows of some lists."""
        part = self.fetched(self.keys.users_of(lists).unique())
        return part.among(lists) if self.keys.columns else part

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

    @property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth, which are read where they are."""
        return self._joined.judged.select(*self.layout.truth)

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        joined = self._joined if self.whole is None else self.whole._joined
        item = joined.row_counts.items.head(1)
        user = self.keys.users_of(joined.users.head(1))
        return self.lists.with_rows(pl.DataFrame({"user": user, "item": item}))

    def among(self, users: pl.Series) -> Parts:
        """Return some of the users: what they have is taken from what is joined of all."""
        return self._with(whole=self, users=users)

    def numbered_as(self, keys: Keys, numbers: pl.Series) -> Parts:
        """Return the same with other keys, among which lists have these numbers."""
        if self.whole is not None:
            return self.whole.numbered_as(keys, numbers).among(numbers[self.users])
        return self._with(keys=keys, layout=replace(self.layout, keys=keys))

    def _with(self, **changed: Any) -> Parts:
        """Return a copy with some attributes changed, which has joined nothing yet."""
        # `copy` would lose its files, as a pickle does.
        other = object.__new__(type(self))
        vars(other).update(vars(self), _known={}, **changed)
        return other

    def join(self, convention: Convention) -> Joined:
        """Join every part, and merge hits, truth, and a few counts of each user."""
        if self.whole is not None:
            return self.whole.under(convention).among(self.users)
        refuse_catalogue(convention, self)
        work = partial(PartHits.of, convention, self.keeps_truth)
        of_all_parts = list(self.each(work))
        check_parts(of_all_parts, convention)
        # Of an empty part not even the types of ids are known.
        kept = [part for part in of_all_parts if part.examples != (None, None)]
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

    users: pl.Series  #: the users evaluated, sorted
    hits: Hits
    convention: Convention  #: with the order that the columns made
    row_counts: RowCounts
    n_without_relevant: int
    #: A user with a list and one of the truth; None: there are no such rows.
    examples: tuple[Any, Any]
    met: bool  #: whether some user is in both frames
    judged: pl.DataFrame | None  #: all rows of the truth
    truth: pl.DataFrame | None  #: the relevant rows of the users evaluated, by user

    @classmethod
    def of(cls, convention: Convention, keeps_truth: bool, part: Sheets) -> PartHits:
        """Join a part."""
        joined = part.under(convention)
        of_lists, of_truth = part.recs["user"], part.truth["user"]
        return cls(
            users=joined.users,
            hits=joined.all_hits,
            convention=joined.convention,
            row_counts=joined.row_counts,
            n_without_relevant=joined.n_without_relevant,
            examples=(of_lists.first(), of_truth.first()),
            met=bool(of_lists.is_in(of_truth.implode()).any()),
            judged=joined.judged if keeps_truth else None,
            truth=joined.truth if keeps_truth else None,
        )


def check_parts(parts: Sequence[PartHits], convention: Convention) -> None:
    """Raise an error if no user of all parts can be averaged."""
    examples = []
    for side, name in enumerate((RECS, TRUTH)):
        users = [part.examples[side] for part in parts]
        known = [user for user in users if user is not None]
        if not known:
            raise NoRowsError(f"{name} is empty: it has no rows to evaluate.")
        examples.append(known[0])
    check_users(
        n_users=sum(len(part.users) for part in parts),
        in_both=any(part.met for part in parts),
        examples=examples,
        highest=max(part.hits.max_relevance for part in parts),
        convention=convention,
    )


def _rows_of_parts(
    kept: Sequence[PartHits], parts: Parts, convention: Convention
) -> JoinedRows:
    """Return the rows of parts: those that were kept, or read where they are."""
    lists = partial(getattr, parts, "recs")  # which is an error: they are elsewhere
    if not parts.keeps_truth:
        read = partial(_read_where_they_are, parts, convention)
        return JoinedRows(
            lists=lists, judged=partial(read, "judged"), truth=partial(read, "truth")
        )
    return JoinedRows(
        lists=lists,
        judged=_by_user([part.judged for part in kept]),
        truth=_by_user([part.truth for part in kept]),
    )


def _read_where_they_are(
    parts: Parts, convention: Convention, name: str
) -> pl.DataFrame:
    """Return rows of the truth of all parts, by user."""
    return _by_user(parts.each(partial(_rows_of_part, convention, name)))


def _rows_of_part(convention: Convention, name: str, part: Sheets) -> Any:
    return getattr(part.under(convention), name) if part.has_rows else None


def _by_user(tables: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """Return the rows of parts together; None has no rows."""
    together = pl.concat([table for table in tables if table is not None])
    return together.sort("user", maintain_order=True)


def merged(kept: Sequence[PartHits], parts: Parts, convention: Convention) -> Joined:
    """Return what parts of different users have kept, as of one frame."""
    users = pl.concat([part.users for part in kept])
    by_id = users.arg_sort().to_numpy().astype(np.int64)
    position = _places(by_id)  # [user of the parts] -> among those of all, by id
    counts = RowCounts.added([part.row_counts for part in kept])
    return Joined(
        users=users.gather(by_id),
        all_hits=hits_together([part.hits for part in kept], position),
        convention=kept[0].convention,  # all parts settle the same order
        rows=_rows_of_parts(kept, parts, convention),
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
    entry = _concatenated([hits.entry for hits in parts], first_entry)
    user = position[_concatenated([hits.user for hits in parts], first_user)]
    truth_users = [hits.truth_user for hits in parts]
    truth_user = position[_concatenated(truth_users, first_user)]

    # Rows of each user keep their order.
    hit_order, entry_order = in_order(user), in_order(truth_user)
    entry = _places(entry_order)[entry]
    truth_user = truth_user[entry_order]
    list_length = np.empty_like(position)
    list_length[position] = np.concatenate([hits.list_length for hits in parts])
    weights = [hits.truth_weight for hits in parts if hits.truth_weight is not None]
    ties = [hits.tied for hits in parts if hits.tied is not None]
    return Hits(
        user=user[hit_order],
        rank=np.concatenate([hits.rank for hits in parts])[hit_order],
        relevance=np.concatenate([hits.relevance for hits in parts])[hit_order],
        entry=entry[hit_order],
        truth_user=truth_user,
        truth_relevance=np.concatenate([hits.truth_relevance for hits in parts])[
            entry_order
        ],
        truth_weight=np.concatenate(weights)[entry_order] if weights else None,
        list_length=list_length,
        max_relevance=max(hits.max_relevance for hits in parts),
        tied=TieSpread.together(ties).with_rows(hit_order) if ties else None,
    )


def _places(order: Ints) -> Ints:
    """Return where each thing stands in an order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def _concatenated(parts: Sequence[Ints], first: Ints) -> Ints:
    """Return numbers of all parts, each part counted from its first."""
    pairs = zip(parts, first, strict=False)
    return np.concatenate([numbers + start for numbers, start in pairs])
