"""Both tables as they were read, and what an evaluation keeps of them under a convention.

A `Source` has the tables, in memory (`in_memory.py`) or in parts (`parts.py`).
`Source.under(convention)` is a `Joined`: users, hits, counts, and rows on demand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data.join import JoinedUsers
from recnb.data.list_order import refuse_repeats, settled
from recnb.data.role_table import RoleTable
from recnb.data.rows import JoinedRows, RowsOfUsers
from recnb.data.splits import BY_USER, Keys
from recnb.data.weights import look_up, refuse_lacking
from recnb.display.language import Sentence
from recnb.errors import FrameError
from recnb.metrics.hits import Floats, Hits

# ---- as they were read


@dataclass(frozen=True)
class OneFrame:
    """What is said of one frame that was given with both sides."""

    is_left_merge: bool = False  #: whether it lost what the lists missed
    only_listed: bool = False  #: whether it has no relevant item that the lists missed
    rows_are_items: bool = False  #: whether it has no column of items
    notes: tuple[str | Sentence, ...] = ()  #: beside every number


@dataclass(eq=False)
class Source(ABC):
    """Recommendations and truth as they were read.

    Columns are named by role, and ids are of one type. Of rows that are not in memory,
    the tables have the columns alone.
    """

    recs: RoleTable  #: user, item, and rank, score, both, or neither (order="row")
    truth: RoleTable  #: user, item, and relevance and propensity if there are some
    in_memory: ClassVar[bool]  #: whether rows of recommendations are
    one_frame: OneFrame = OneFrame()  #: nothing is said of two
    keys: Keys = BY_USER  #: whose list an id in `user` is
    #: Users of the truth with an empty list, for whom its rows have no place.
    users_without_items: Sequence[Any] = ()
    #: By item; None: there are none, or they are a column of the truth.
    propensity: pl.DataFrame | None = None
    user_weights: pl.DataFrame | None = None  #: user and value
    #: What was joined, by the decisions of the join. No `Joined`, which has its source:
    #: a cycle would keep rows in memory until Python looks for it.
    _known: dict[Convention, tuple[JoinedUsers, JoinedRows]] = field(
        default_factory=dict, init=False
    )

    @abstractmethod
    def join(self, convention: Convention) -> tuple[JoinedUsers, JoinedRows]:
        """Join the tables under a convention; return the rows behind the hits as well."""

    @abstractmethod
    def among(self, users: pl.Series) -> Source:
        """Return the rows of some users.

        The catalogue and the scale of grades are those of all.
        """

    @abstractmethod
    def numbered_as(self, keys: Keys, numbers: pl.Series) -> Source:
        """Return the same with other keys.

        `numbers`: [number of a list here] -> its number, or its name, among those keys.
        """

    @abstractmethod
    def example(self) -> RoleTable:
        """Return a user and an item of the lists, which say of what kind ids are."""

    # The rows

    @property
    @abstractmethod
    def recs_rows(self) -> pl.DataFrame:
        """All rows of the recommendations; an error if they are not in memory."""

    @property
    def truth_rows(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self.truth.rows

    # Weights

    @property
    def has_propensities(self) -> bool:
        """Whether relevant pairs have propensities."""
        return self.propensity is not None or "propensity" in self.truth

    def with_weights(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> Self:
        """Return the same with weights of relevant pairs and of users.

        Those of pairs are in a table by item, else in a column of the truth.
        """
        return replace(self, propensity=propensity, user_weights=user_weights)

    def weight_of(self, users: pl.Series) -> Floats | None:
        """Return the weights of some users; None: all count the same."""
        if self.user_weights is None:
            return None
        ids = self.keys.users_of(users).to_frame()
        weights = look_up(self.user_weights, ids, "user_weight")
        refuse_lacking(weights, ids, "user_weight")
        return weights.to_numpy()

    # Under a convention

    def with_order_of_lists(self, convention: Convention) -> Convention:
        """Return a library's convention, ordered by the column that the lists have."""
        others: Mapping[str, Order] = {"score": "rank", "rank": "score"}
        other = others.get(convention.order)
        if other is None or convention.order in self.recs or other not in self.recs:
            return convention
        return replace(convention, order=other)

    def under(self, convention: Convention) -> Joined:
        """Return the tables under a convention, joined once for each."""
        if self.users_without_items:
            self._refuse_users_without_items(convention)
        return self.joined_under(convention)

    def joined_under(self, convention: Convention) -> Joined:
        """Return what `under` does, also where users with an empty truth would count.

        They have no row in it, and are left out.
        """
        # Joined as asked, since order="auto" has both orders compared; kept by the order
        # that is settled, whichever word asked for it.
        in_order = settled(self.recs, convention)
        decisions = in_order.of_data
        if decisions not in self._known:
            joined, rows = self.join(convention.of_data)
            weight = self.weight_of(joined.users)
            self._known[decisions] = replace(joined, user_weight=weight), rows
        joined, rows = self._known[decisions]
        # `UsersOfParts.join` returns a `Joined`, whose rows, source and notes are replaced.
        fields_of_joined = vars(joined) | {
            "convention": in_order,
            "rows": rows,
            "source": self,
            "notes": self.one_frame.notes,
        }
        return Joined(**fields_of_joined)

    def _refuse_users_without_items(self, convention: Convention) -> None:
        """Raise an error for a user of the truth with an empty list, where it counts.

        The rows of the truth cannot hold such a user, who would be left out.
        """
        if convention.no_relevant == "skip" or convention.averaged_users == "recs":
            return
        raise FrameError(
            f"truth: the list of {self.users_without_items[0]!r} is empty, and users with "
            f"no relevant item count here, no_relevant={convention.no_relevant!r}. Give a "
            "row an item, with relevance 0 for an item of such a user; or leave the user "
            "out of both sides."
        )


# ---- under a convention


@dataclass(frozen=True)
class Counts:
    """Sizes of the data behind the numbers, and of what was left out."""

    n_users: int  #: evaluated
    n_lists: int  #: evaluated: of users, unless they have several
    n_without_list: int  #: of these, lists with no recommendations
    n_without_relevant: int  #: lists with no relevant item, as in `Joined`
    n_recommended: int  #: rows of recommendations
    n_relevant: int  #: pairs of an evaluated user and a relevant item
    n_items_recommended: int  #: distinct items in the lists
    n_items_relevant: int  #: distinct relevant items
    n_not_relevant: int  #: rows of the truth, of each split, that are not relevant
    n_gaps: int  #: lists whose ranks have gaps


@dataclass(eq=False, kw_only=True)
class Joined(JoinedUsers):
    """Lists and truth under a convention: users, hits of whole lists, and counts."""

    rows: JoinedRows  #: behind the hits
    source: Source  #: the frames as read, to be looked at under another convention
    notes: tuple[str | Sentence, ...]

    @property
    def n_without_relevant(self) -> int:
        """Lists of users of either frame for which there is no relevant item.

        After `among` only those evaluated are counted: none under no_relevant="skip".
        """
        return self.rows.n_users - self.n_with_relevant

    @property
    def is_graded(self) -> bool:
        """Whether the truth says how relevant an item is."""
        return "relevance" in self.source.truth

    @property
    def is_weighted(self) -> bool:
        """Whether relevant pairs have weights."""
        return self.hits.truth_weight is not None

    @cached_property
    def counts(self) -> Counts:
        """Sizes of the data behind the numbers, and of what was left out.

        It is an error if rows that are not in memory were not counted.
        """
        of_rows = self.rows.counts(self.convention)
        return Counts(
            n_users=self.source.keys.users_of(self.users).n_unique(),
            n_lists=len(self.users),
            n_without_list=int((~self.has_list).sum()),
            n_without_relevant=self.n_without_relevant,
            n_recommended=of_rows.n_recommended,
            n_relevant=int(self.hits.n_relevant.sum()),
            n_items_recommended=len(of_rows.items),
            n_items_relevant=self.rows.relevant["item"].n_unique(),
            n_not_relevant=of_rows.n_not_relevant,
            n_gaps=of_rows.n_gaps,
        )

    def among(self, users: pl.Series, note: str | Sentence = "") -> Joined:
        """Return the same data of some of the users alone.

        Their hits are taken from those here, not joined again. What is known of all
        users stays: the highest relevance, `in_both` and `has_gaps`.
        """
        is_kept = self.users.is_in(users.implode()).to_numpy()
        kept = self.users.filter(is_kept)
        hits = self.hits.with_users(is_kept)
        weight = self.user_weight
        if weight is not None:
            weight = weight[is_kept]
        return replace(
            self,
            users=kept,
            hits=hits,
            has_list=self.has_list[is_kept],
            user_weight=weight,
            rows=RowsOfUsers(self.rows, kept),
            n_with_relevant=int((hits.n_relevant > 0).sum()),
            notes=(*self.notes, note) if note else self.notes,
            source=self.source.among(kept),
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
        if self.source.has_propensities:
            # Rows that are not relevant may have no propensity. With a least one of 1
            # every weight is 1, and propensities are not read.
            convention = replace(convention, min_propensity=1.0)
        with_marks = convention
        if convention.negative_relevance == "zero":
            with_marks = replace(
                convention, negative_relevance="keep", judged_only=False
            )
        if not convention.below_0_leaves_lists:
            return self._hits_under(with_marks)
        # What is marked leaves the lists, which moves what is below it. It stays in the
        # truth, unless only lists are judged.
        hits = self._hits_under(convention)
        if convention.judged == "truth":
            in_truth = self._hits_under(with_marks)
            hits = replace(hits, truth_relevance=in_truth.truth_relevance)
        return hits

    def _hits_under(self, convention: Convention) -> Hits:
        """Return the hits under another convention, of the users evaluated."""
        joined = self.source.joined_under(convention)
        is_evaluated = joined.users.is_in(self.users.implode())
        return joined.hits.with_users(is_evaluated.to_numpy())

    def refuse_repeats(self) -> None:
        """Raise an error for what repeats in any list, for what looks at whole lists.

        The join lets an item that nobody judged stand twice, and lists that do not count
        repeat what they like: no number of accuracy sees it.
        """
        source = self.source
        lists = source.recs.with_rows(self.rows.lists)
        lists = lists.with_columns(source.keys.names(lists["user"]))
        refuse_repeats(lists, self.convention)
