"""What was read (`Source`), and what an evaluation keeps of it (`Joined`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data.ids import each_once
from recnb.data.names import IDS, RECS, Labels
from recnb.data.sheet import Sheet, relevant_only
from recnb.data.splits import BY_USER, Keys
from recnb.data.weights import Weighting, look_up, refuse_lacking
from recnb.display.language import Sentence
from recnb.errors import ElsewhereError, FrameError
from recnb.metrics.hits import Bools, Floats, Hits, Ints, cached_property


class EmptyTruthError(FrameError):
    """A convention counts users whose list in the truth is empty."""


class Source(ABC):
    """Both frames after reading, not yet under a convention.

    Columns are named by role, and ids are of one type.
    """

    notes: tuple[str | Sentence, ...] = ()
    user_weights: pl.DataFrame | None = None  #: user and value
    keys: Keys = BY_USER  #: whose list an id in `user` is
    #: Users of the truth with an empty list, for whom its rows have no place.
    users_without_items: Sequence[Any] = ()
    where: str = ""  #: what holds rows that are not in memory, in words
    remedy: str = ""  #: what to type to have them there
    #: User, item, and rank or score or both; no rows if they are elsewhere.
    lists: Sheet
    #: User, item, and relevance if there is one; the same.
    judgements: Sheet

    @property
    def labels(self) -> Labels:
        """Which column of the recommendations plays which role."""
        return self.lists.labels

    @property
    def truth_labels(self) -> Labels:
        """Which column of the truth plays which role."""
        return self.judgements.labels

    @property
    @abstractmethod
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations; an error if they are not in memory."""

    @property
    @abstractmethod
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""

    @abstractmethod
    def join(self, convention: Convention) -> Joined:
        """Join the frames under a convention."""

    def rows_of(self, lists: pl.Series) -> Source:
        """Return a source in memory that has the rows of some lists."""
        return self

    @abstractmethod
    def example(self) -> Sheet:
        """Return a user and an item of the lists, which say of what kind ids are."""

    @abstractmethod
    def among(self, users: pl.Series) -> Source:
        """Return the rows of some users.

        The catalogue and the scale of grades are those of all.
        """

    @abstractmethod
    def numbered_as(self, keys: Keys, numbers: pl.Series) -> Source:
        """Return the same with other keys, among which lists have these numbers."""

    @property
    def in_memory(self) -> bool:
        """Whether rows of recommendations are in memory."""
        return not self.where

    @cached_property
    def _known(self) -> dict[Convention, Joined]:
        """What was joined, by convention, without its source.

        A cycle would keep rows in memory until Python looks for it.
        """
        return {}

    def under(self, convention: Convention) -> Joined:
        """Return the frames under a convention, joined once for each.

        What was joined is found again under the order that the columns settled as well.
        Copies share its `_cut`.
        """
        self._refuse_users_without_items(convention)
        asked = replace(convention, metric=(), cutoff="k")
        joined = self._known.get(asked)
        if joined is None:
            joined = replace(self.join(asked), notes=self.notes)
            if self.user_weights is not None:
                joined.user_weight = self.weight_of(joined.users)
            self._known[asked] = joined
            self._known[asked.ordered_by(joined.convention.order)] = joined
        return replace(
            joined,
            convention=convention.ordered_by(joined.convention.order),
            _source=self,
        )

    def _refuse_users_without_items(self, convention: Convention) -> None:
        """Raise an error for a user of the truth with an empty list, where it counts.

        The rows of the truth cannot hold such a user, who would be left out.
        """
        users = self.users_without_items
        counts = (
            convention.no_relevant != "skip" and convention.averaged_users != "recs"
        )
        if not users or not counts:
            return
        raise EmptyTruthError(
            f"truth: the list of {users[0]!r} is empty, and users with no relevant "
            f"item count here, no_relevant={convention.no_relevant!r}. Give a row an "
            "item, with relevance 0 for an item of such a user; or leave the user "
            "out of both sides."
        )

    @property
    @abstractmethod
    def weighted(self) -> bool:
        """Whether relevant pairs have propensities."""

    @abstractmethod
    def weigh(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> None:
        """Let relevant pairs and users have weights, before anything is joined.

        Those of pairs are in a table by item or pair, else in a column of the truth.
        """

    def as_given(self, convention: Convention) -> Convention:
        """Return a library's convention with the order column that these frames have."""
        others: Mapping[str, Order] = {"score": "rank", "rank": "score"}
        other = others.get(convention.order)
        if convention.order in self.labels or other not in self.labels:
            return convention
        assert other is not None
        return replace(convention, order=other)

    def weight_of(self, users: pl.Series) -> Floats | None:
        """Return the weights of some users; None: all count the same."""
        if self.user_weights is None:
            return None
        ids = self.keys.users_of(users).to_frame()
        weights = look_up(self.user_weights, ids, "user_weight")
        refuse_lacking(weights, ids, "user_weight")
        return weights.to_numpy()

    def forget(self) -> None:
        """Let go of what was joined."""
        self._known.clear()


def elsewhere(source: Source) -> ElsewhereError:
    """Return the error for what needs all rows, where they are not in memory."""
    return ElsewhereError(
        f"this looks at every row of the lists, and they stay in {source.where}: "
        f"only hits and counts were fetched. "
        f"If they fit into memory, or do so once they are cut at the rank you "
        f"need: {source.remedy}."
    )


def rows_of(table: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    """Return the rows of some users."""
    return table.filter(pl.col("user").is_in(users.implode()))


# ---- what an evaluation keeps


class JoinedRows:
    """The rows behind the hits: each table is there, or made when it is first asked for."""

    def __init__(self, **tables: pl.DataFrame | Callable[[], pl.DataFrame]) -> None:
        self._tables = tables

    @property
    def lists(self) -> pl.DataFrame:
        """User, item, rank, and score where there is one, of all lists.

        It is an error if they are elsewhere.
        """
        return self._table("lists")

    @property
    def judged(self) -> pl.DataFrame:
        """All rows of the truth: user, item, relevance, and weight where there is one."""
        return self._table("judged")

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated, in the order of `Hits.truth_user`."""
        return self._table("truth")

    @property
    def has_truth(self) -> bool:
        """Whether the relevant rows are there."""
        return not callable(self._tables["truth"])

    def _table(self, name: str) -> pl.DataFrame:
        table = self._tables[name]
        if callable(table):
            table = self._tables[name] = table()
        return table

    def among(self, users: pl.Series) -> JoinedRows:
        """Return the rows of some of the users evaluated."""
        return JoinedRows(
            **{name: partial(self._of_users, name, users) for name in self._tables}
        )

    def _of_users(self, name: str, users: pl.Series) -> pl.DataFrame:
        return rows_of(self._table(name), users)

    def __getstate__(self) -> dict[str, Any]:
        # Where the rows come from may not go along.
        known = {"judged": self.judged, "truth": self.truth}
        return {"_tables": self._tables | known}


@dataclass(frozen=True)
class Counts:
    """Sizes of the data behind the numbers, and of what was left out."""

    n_users: int  #: evaluated
    n_lists: int  #: evaluated: of users, unless they have several
    n_without_list: int  #: of these, lists with no recommendations
    n_without_relevant: int  #: users of either frame who have no relevant item
    n_recommended: int  #: rows of recommendations
    n_relevant: int  #: pairs of an evaluated user and a relevant item
    n_items_recommended: int  #: distinct items in the lists
    n_items_relevant: int  #: distinct relevant items
    n_not_relevant: int  #: rows of the truth that are not relevant
    n_gaps: int  #: users whose ranks have gaps


class UserCounts(NamedTuple):
    """The users behind a mean, and those who are not."""

    n_users: int  #: averaged
    n_without_list: int  #: of these, users without a list who count 0
    n_nothing_to_find: int  #: of these, users with no relevant item
    n_left_out: int  #: users with no relevant item who are left out


@dataclass(frozen=True)
class RowCounts:
    """Counts of rows that are not kept."""

    n_recommended: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once

    @classmethod
    def added(cls, counts: Sequence[RowCounts]) -> RowCounts:
        """Add up the counts of parts of the rows."""
        return cls(
            n_recommended=sum(part.n_recommended for part in counts),
            n_not_relevant=sum(part.n_not_relevant for part in counts),
            n_gaps=sum(part.n_gaps for part in counts),
            items=each_once(*[part.items for part in counts]),
        )


@dataclass(eq=False)
class Joined:
    """What an evaluation keeps of two frames under a convention.

    These are its users, the hits of whole lists, and counts; rows are made on demand.
    """

    users: pl.Series  #: the users evaluated, sorted
    all_hits: Hits  #: of whole lists
    convention: Convention
    rows: JoinedRows  #: behind the hits
    n_without_relevant: int  #: users of either frame who have no relevant item
    has_gaps: bool = False  #: whether some list leaves a rank empty
    graded: bool = True  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...] = ()
    #: Of each user evaluated; None: all count the same.
    user_weight: Floats | None = None
    known_counts: RowCounts | None = None  #: of rows that are elsewhere
    _source: Source | None = None
    _cut: dict[int, Hits] = field(default_factory=dict)

    @property
    def list_length(self) -> Ints:
        """Per user, the last rank of the list; 0 without a list."""
        return self.all_hits.list_length

    @property
    def n_relevant(self) -> Ints:
        """The number of items relevant to each user."""
        return self.all_hits.n_relevant

    @property
    def max_relevance(self) -> float:
        """The highest relevance in the truth, of all users."""
        return self.all_hits.max_relevance

    @property
    def is_weighted(self) -> bool:
        """Whether relevant pairs have weights."""
        return self.all_hits.truth_weight is not None

    @property
    def source(self) -> Source:
        """The frames as they were read, to be looked at under another convention."""
        assert self._source is not None
        return self._source

    @property
    def judged(self) -> pl.DataFrame:
        """All rows of the truth: user, item, relevance."""
        return self.rows.judged

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self.rows.truth

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the lists; an error if they are not in memory."""
        return self.rows.lists

    def lists_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users' lists, fetched where they are elsewhere."""
        return rows_of(self.source.rows_of(users).under(self.convention).recs, users)

    def truth_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the relevant rows of some users, fetched where they are elsewhere."""
        if self.source.in_memory or self.rows.has_truth:
            return rows_of(self.truth, users)
        return rows_of(self.source.rows_of(users).under(self.convention).truth, users)

    @property
    def user_counts(self) -> UserCounts:
        """The users behind a mean, and those who are not."""
        nothing_to_find = self.n_relevant == 0
        return self.counts_of_users(nothing_to_find)

    def counts_of_users(
        self, nothing_to_find: Bools, *, has_missed: bool = False
    ) -> UserCounts:
        """Return `user_counts` where these of the users have nothing to find.

        `has_missed`: whether one evaluated counts as a list without a hit, and not 1.
        """
        n_nothing = int(nothing_to_find.sum())
        n_evaluated_without_relevant = int((self.n_relevant == 0).sum())
        n_others = self.n_without_relevant - n_evaluated_without_relevant
        unlisted = self.list_length == 0
        rule = self.convention.no_relevant
        # Under "one" a user with nothing to find counts 1, list or not; a cost with a
        # value for lists without a hit (`missed`) keeps that value.
        if rule == "skip" or (rule == "one" and not has_missed):
            unlisted = unlisted & ~nothing_to_find
        n_unlisted = int(unlisted.sum())
        if rule == "skip":
            return UserCounts(
                n_users=len(self.users) - n_nothing,
                n_without_list=n_unlisted,
                n_nothing_to_find=0,
                n_left_out=n_others + n_nothing,
            )
        return UserCounts(
            n_users=len(self.users),
            n_without_list=n_unlisted,
            n_nothing_to_find=n_nothing,
            n_left_out=n_others,
        )

    @property
    def counts(self) -> Counts:
        """Sizes of the data behind the numbers, and of what was left out.

        It is an error if rows that are elsewhere were not counted.
        """
        return Counts(
            n_users=self.source.keys.users_of(self.users).n_unique(),
            n_lists=len(self.users),
            n_without_list=int((self.list_length == 0).sum()),
            n_without_relevant=self.n_without_relevant,
            n_recommended=self.row_counts.n_recommended,
            n_relevant=int(self.n_relevant.sum()),
            n_items_recommended=len(self.row_counts.items),
            n_items_relevant=self.truth["item"].n_unique(),
            n_not_relevant=self.row_counts.n_not_relevant,
            n_gaps=self.row_counts.n_gaps,
        )

    def refuse_repeated_pairs(self) -> None:
        """Raise an error for repeated pairs of the lists, for what looks at whole lists.

        The join lets an item that nobody judged stand twice, which no number of accuracy
        sees.
        """
        lists = Sheet(RECS, self.recs, self.source.labels)
        self.source.keys.named(lists).refuse_repeated_pairs()

    @cached_property
    def weighting(self) -> Weighting | None:
        """The weights of the relevant pairs of the users evaluated."""
        weights = self.all_hits.truth_weight
        if weights is None:
            return None
        return Weighting.of(weights)

    @property
    def n_recommended(self) -> int:
        """Number of rows of lists; an error if they are elsewhere and not counted."""
        if self.known_counts is not None:
            return self.known_counts.n_recommended
        return self.recs.height

    @cached_property
    def row_counts(self) -> RowCounts:
        """Counts of rows, which are known of rows that are elsewhere."""
        if self.known_counts is not None:
            return self.known_counts
        recs, judged = self.recs, self.judged
        relevant = relevant_only(judged, self.convention)
        if self.convention.judged == "list":
            relevant = relevant.join(recs, on=[*IDS], how="semi")
        n_gaps = 0
        if self.has_gaps:
            lists = recs.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
            n_gaps = int((lists["length"] != lists["n"]).sum())
        return RowCounts(
            n_recommended=recs.height,
            n_not_relevant=judged.height - relevant.height,
            n_gaps=n_gaps,
            items=each_once(recs["item"]),
        )

    def hits(self, depth: int | None) -> Hits:
        """Return the hits among the first `depth` ranks (None: all)."""
        if depth is None:
            return self.all_hits
        if depth not in self._cut:
            self._cut[depth] = _cut_at(self.all_hits, depth)
        return self._cut[depth]

    def judged_hits(self) -> Hits:
        """Return the judged items in the lists, relevant or not, as hits.

        They are of the same users, on the same ranks.
        """
        convention = replace(
            self.convention, relevant="any", relevant_from=None, no_relevant="zero"
        )
        if self.source.weighted:
            # Rows that are not relevant may have no propensity. With a least one of 1
            # every weight is 1, and propensities are not read.
            convention = replace(convention, min_propensity=1.0)
        if convention.negative_relevance != "zero":
            return self._hits_under(convention)
        with_grades = self._hits_under(
            replace(convention, negative_relevance="keep", judged_only=False)
        )
        if not convention.judged_only:
            return with_grades
        hits = self._hits_under(convention)
        return _with_negative_grades_in_truth(hits, with_grades, convention)

    def _hits_under(self, convention: Convention) -> Hits:
        """Return the hits under another convention, of the users evaluated."""
        known = self.source.under(convention)
        return known.all_hits.with_users(
            known.users.is_in(self.users.implode()).to_numpy()
        )

    def among(self, users: pl.Series, note: str | Sentence = "") -> Joined:
        """Return the same data of some of the users alone.

        Their hits are taken from those here, not joined again; the highest relevance
        stays that of all users.
        """
        is_kept = self.users.is_in(users.implode())
        kept = self.users.filter(is_kept)
        hits = self.all_hits.with_users(is_kept.to_numpy())
        weight = self.user_weight
        if weight is not None:
            weight = weight[is_kept.to_numpy()]
        return replace(
            self,
            users=kept,
            user_weight=weight,
            all_hits=hits,
            rows=self.rows.among(kept),
            n_without_relevant=int((hits.n_relevant == 0).sum()),
            notes=(*self.notes, note) if note else self.notes,
            known_counts=None,  # which are of all users
            _source=self.source.among(kept),
            _cut={},
        )


def _with_negative_grades_in_truth(
    hits: Hits, with_grades: Hits, convention: Convention
) -> Hits:
    """Return hits whose truth has grades below 0, which mark what was not judged.

    Such items have left the lists of `hits`. A truth of grades 2, -1 and 1 is 2, 0 and 1
    there; under judged="list" it is 2 and 1, and entry 1 becomes 2.
    """
    entry = hits.entry
    if convention.judged == "list":
        judged_entries = np.flatnonzero(with_grades.truth_relevance >= 0)
        entry = judged_entries[entry]
    return replace(
        hits,
        entry=entry,
        truth_user=with_grades.truth_user,
        truth_relevance=with_grades.truth_relevance,
        truth_weight=with_grades.truth_weight,
    )


def _cut_at(hits: Hits, depth: int) -> Hits:
    """Return the hits among the first `depth` ranks.

    Those spread over ties are cut where they are summed.
    """
    if hits.tied is not None or depth >= hits.list_length.max(initial=0):
        return hits
    return hits.with_rows(hits.rank <= depth)
