"""What an evaluation keeps of lists and truth: users, hits, counts, and rows on demand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.ids import each_once
from recnb.data.matches import is_relevant, relevant_only
from recnb.data.names import IDS
from recnb.data.sheet import rows_of_users
from recnb.data.weights import Weighting
from recnb.display.language import Sentence
from recnb.errors import FrameError, NoUsersError
from recnb.metrics.hits import Bools, Floats, Hits

if TYPE_CHECKING:
    from recnb.data.source import Source


@dataclass(frozen=True)
class Counts:
    """Sizes of the data behind the numbers, and of what was left out."""

    n_users: int  #: evaluated
    n_lists: int  #: evaluated: of users, unless they have several
    n_without_list: int  #: of these, lists with no recommendations
    n_without_relevant: int  #: users with no relevant item, as in `Joined`
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


# ---- rows


@dataclass(frozen=True)
class RowCounts:
    """Counts of all rows, which add up over parts of users."""

    n_recommended: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once

    @classmethod
    def of(cls, rows: JoinedRows, convention: Convention) -> RowCounts:
        """Count rows that are in memory."""
        lists, relevant = rows.lists, relevant_only(rows.judged, convention)
        if convention.judged == "list" and convention.candidates == "list":
            # Elsewhere what the lists missed is put below them, as recommended.
            relevant = relevant.join(lists, on=[*IDS], how="semi")
        sizes = lists.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
        return cls(
            n_recommended=lists.height,
            n_not_relevant=rows.judged.height - relevant.height,
            n_gaps=int((sizes["length"] > sizes["n"]).sum()),
            items=each_once(lists["item"]),
        )

    def __add__(self, other: RowCounts) -> RowCounts:
        """Return the counts of the rows of both."""
        return RowCounts(
            n_recommended=self.n_recommended + other.n_recommended,
            n_not_relevant=self.n_not_relevant + other.n_not_relevant,
            n_gaps=self.n_gaps + other.n_gaps,
            items=each_once(self.items, other.items),
        )


class JoinedRows:
    """The rows behind the hits, made when they are first asked for."""

    #: User, item, rank, and score where there is one, of all lists. It is an error if
    #: these are not in memory.
    lists: pl.DataFrame
    #: User, item, relevance, and weight where there is one, of all rows of the truth.
    judged: pl.DataFrame
    #: The same of the relevant rows of users evaluated, in the order of `Hits.truth_user`.
    truth: pl.DataFrame

    @property
    def n_recommended(self) -> int:
        """Number of rows of lists; an error if they were not counted."""
        return self.lists.height

    def counts(self, convention: Convention) -> RowCounts:
        """Return the counts of all rows; an error if they were not counted."""
        return RowCounts.of(self, convention)

    def lists_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users' lists, fetched where they are not in memory."""
        return rows_of_users(self.lists, users)

    def truth_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the relevant rows of some users, likewise."""
        return rows_of_users(self.truth, users)


class RowsOfUsers(JoinedRows):
    """The rows of some of the users evaluated."""

    def __init__(self, of_all: JoinedRows, users: pl.Series) -> None:
        self._of_all = of_all
        self._users = users

    @cached_property
    def lists(self) -> pl.DataFrame:
        """The rows of these users' lists; an error if lists are not in memory."""
        return rows_of_users(self._of_all.lists, self._users)

    @cached_property
    def judged(self) -> pl.DataFrame:
        """The rows of the truth of these users."""
        return rows_of_users(self._of_all.judged, self._users)

    @cached_property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of these users."""
        return self._of_all.truth_of(self._users)

    def lists_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users' lists, fetched where they are not in memory."""
        return self._of_all.lists_of(users)

    def truth_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the relevant rows of some users, likewise."""
        return self._of_all.truth_of(users)


# ---- what an evaluation keeps


@dataclass(eq=False)
class Joined:
    """Lists and truth under a convention: users, hits of whole lists, and counts."""

    users: pl.Series  #: the users evaluated, sorted
    hits: Hits  #: of whole lists
    convention: Convention
    rows: JoinedRows  #: behind the hits
    #: Users of either frame who have no relevant item; after `among` those evaluated,
    #: of whom there are none under no_relevant="skip".
    n_without_relevant: int
    in_both: bool  #: whether some user has a list and rows of the truth
    has_gaps: bool  #: whether some list that counts leaves a rank empty
    graded: bool  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...] = ()
    user_weight: Floats | None = None  #: per user; None: all count the same
    _source: Source | None = None

    @property
    def source(self) -> Source:
        """The frames as they were read, to be looked at under another convention."""
        assert self._source is not None
        return self._source

    @property
    def is_weighted(self) -> bool:
        """Whether relevant pairs have weights."""
        return self.hits.truth_weight is not None

    @cached_property
    def weighting(self) -> Weighting | None:
        """The weights of the relevant pairs of the users evaluated."""
        return Weighting.of(self.hits.truth_weight)

    @cached_property
    def counts(self) -> Counts:
        """Sizes of the data behind the numbers, and of what was left out.

        It is an error if rows that are not in memory were not counted.
        """
        of_rows = self.rows.counts(self.convention)
        return Counts(
            n_users=self.source.keys.users_of(self.users).n_unique(),
            n_lists=len(self.users),
            n_without_list=int((self.hits.list_length == 0).sum()),
            n_without_relevant=self.n_without_relevant,
            n_recommended=of_rows.n_recommended,
            n_relevant=int(self.hits.n_relevant.sum()),
            n_items_recommended=len(of_rows.items),
            n_items_relevant=self.rows.truth["item"].n_unique(),
            n_not_relevant=of_rows.n_not_relevant,
            n_gaps=of_rows.n_gaps,
        )

    def user_counts(
        self, nothing_to_find: Bools | None = None, *, has_missed: bool = False
    ) -> UserCounts:
        """Return the users behind a mean, and those who are not.

        `nothing_to_find`: which users have nothing to find, by default those without a
        relevant item; `has_missed`: whether one evaluated counts as a list without a hit,
        and not 1.
        """
        lacks_relevant = self.hits.n_relevant == 0
        if nothing_to_find is None:
            nothing_to_find = lacks_relevant
        n_users, n_nothing = len(self.users), int(nothing_to_find.sum())
        n_left_out = self.n_without_relevant - int(lacks_relevant.sum())
        without_list = self.hits.list_length == 0
        rule = self.convention.no_relevant
        # Under "one" a user with nothing to find counts 1, list or not; a cost with a
        # value for lists without a hit (`missed`) keeps that value.
        if rule == "skip" or (rule == "one" and not has_missed):
            without_list = without_list & ~nothing_to_find
        if rule == "skip":
            n_users -= n_nothing
            n_left_out += n_nothing
            n_nothing = 0
        return UserCounts(
            n_users=n_users,
            n_without_list=int(without_list.sum()),
            n_nothing_to_find=n_nothing,
            n_left_out=n_left_out,
        )

    def among(self, users: pl.Series, note: str | Sentence = "") -> Joined:
        """Return the same data of some of the users alone.

        Their hits are taken from those here, not joined again. What is known of all
        users stays: the highest relevance, `in_both` and `has_gaps`.
        """
        is_kept = self.users.is_in(users.implode())
        kept = self.users.filter(is_kept)
        hits = self.hits.with_users(is_kept.to_numpy())
        weight = self.user_weight
        if weight is not None:
            weight = weight[is_kept.to_numpy()]
        return replace(
            self,
            users=kept,
            hits=hits,
            user_weight=weight,
            rows=RowsOfUsers(self.rows, kept),
            n_without_relevant=int((hits.n_relevant == 0).sum()),
            notes=(*self.notes, note) if note else self.notes,
            _source=self.source.among(kept),
        )

    def judged_hits(self) -> Hits:
        """Return the judged items in the lists, relevant or not, as hits.

        Users and ranks are the same. Grades below 0 stay in the truth where they mark
        what was not judged. Of a list x, a, b under judged_only=True and
        negative_relevance="zero", x leaves the list and stays in the truth:

            item of the truth   x  a  b  c        rank of a hit    1  2
            truth_relevance    -1  2  0  0        relevance        2  0
        """
        convention = replace(
            self.convention, relevant="any", relevant_from=None, no_relevant="zero"
        )
        if self.source.weighted:
            # Rows that are not relevant may have no propensity. With a least one of 1
            # every weight is 1, and propensities are not read.
            convention = replace(convention, min_propensity=1.0)
        with_marks = replace(convention, negative_relevance="keep", judged_only=False)
        has_marks = convention.negative_relevance == "zero"
        if not has_marks or (convention.judged_only and convention.judged == "list"):
            # Without marks, or where what they mark has left the lists and so the truth.
            return self._hits_under(convention)
        if not convention.judged_only:
            return self._hits_under(with_marks)
        # What was not judged has left the lists, which moves what is below it.
        in_lists = self._hits_under(convention)
        in_truth = self._hits_under(with_marks)
        return replace(in_lists, truth_relevance=in_truth.truth_relevance)

    def _hits_under(self, convention: Convention) -> Hits:
        """Return the hits under another convention, of the users evaluated."""
        joined = self.source.rows_under(convention)
        is_evaluated = joined.users.is_in(self.users.implode())
        return joined.hits.with_users(is_evaluated.to_numpy())

    # Errors

    def refuse_repeats(self) -> None:
        """Raise an error for what repeats in any list, for what looks at whole lists.

        The join lets an item that nobody judged stand twice, and lists that do not count
        repeat what they like: no number of accuracy sees it.
        """
        source = self.source
        lists = source.lists.with_rows(self.rows.lists)
        lists = lists.with_columns(source.keys.names(lists["user"]))
        lists.refuse_repeats(self.convention)

    def refuse_strangers(self, listed: Any, judged: Any) -> None:
        """Raise an error, with a user of each table, if no user is in both."""
        if not self.in_both:
            raise FrameError(
                f"no user is in both frames: recommendations hold users such as {listed!r}, "
                f"truth holds users such as {judged!r}. Check that both frames use the "
                "same ids, and the user= column."
            )

    def refuse_no_users(self) -> None:
        """Raise an error if no user can be averaged."""
        if not len(self.users):
            why = _why_nobody_counts(self.convention, self.hits.max_relevance)
            raise NoUsersError(f"no user that counts has a relevant item: {why}")


def _why_nobody_counts(convention: Convention, highest: float) -> str:
    """Say why no user is averaged, and what to change."""
    averaged = f"averaged_users={convention.averaged_users!r}"
    is_any_relevant = is_relevant(np.array([highest]), convention).all()
    if is_any_relevant and convention.judged == "list":
        return (
            "judged='list' looks at recommended items alone, and none is relevant. Say "
            "judged='truth', and relevant items that lists missed count as well."
        )
    if is_any_relevant and convention.averaged_users in ("recs", "both"):
        return (
            f"{averaged} counts users with a list, and those with a relevant item have "
            "no list. Give them lists; or say averaged_users='truth', and they count."
        )
    needed = "other than 0" if convention.relevant == "!=0" else "above 0"
    if convention.relevant_from is not None:
        needed = f"{convention.relevant_from:g} or more"
    return (
        f"relevance must be {needed} and the highest in the truth is {highest!r}. Check "
        f"relevant_from= and {averaged}."
    )
