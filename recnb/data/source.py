"""Both tables as they were read, not yet under a convention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data.joined import Joined
from recnb.data.sheet import Sheet
from recnb.data.splits import BY_USER, Keys
from recnb.data.weights import look_up, refuse_lacking
from recnb.display.language import Sentence
from recnb.errors import ElsewhereError, FrameError
from recnb.metrics.hits import Floats


class EmptyTruthError(FrameError):
    """A convention counts users whose list in the truth is empty."""


@dataclass(eq=False)
class Source(ABC):
    """Recommendations and truth as they were read.

    Columns are named by role, and ids are of one type. Of rows that are not in memory,
    the sheets have the columns alone.
    """

    lists: Sheet  #: user, item, and rank or score or both
    judgements: Sheet  #: user, item, and relevance if there is one
    notes: tuple[str | Sentence, ...] = ()
    keys: Keys = BY_USER  #: whose list an id in `user` is
    #: Users of the truth with an empty list, for whom its rows have no place.
    users_without_items: Sequence[Any] = ()
    is_left_merge: bool = False  #: whether one frame lost what the lists missed
    #: By item or pair; None: there are none, or they are a column of the truth.
    propensity: pl.DataFrame | None = None
    user_weights: pl.DataFrame | None = None  #: user and value
    where: str = ""  #: what holds rows that are not in memory, in words
    remedy: str = ""  #: what to type to have them there

    @abstractmethod
    def join(self, convention: Convention) -> Joined:
        """Join the tables under a convention."""

    @abstractmethod
    def among(self, users: pl.Series) -> Source:
        """Return the rows of some users.

        The catalogue and the scale of grades are those of all.
        """

    @abstractmethod
    def numbered_as(self, keys: Keys, numbers: pl.Series) -> Source:
        """Return the same with other keys, among which lists have these numbers."""

    @abstractmethod
    def example(self) -> Sheet:
        """Return a user and an item of the lists, which say of what kind ids are."""

    # The rows

    @property
    def in_memory(self) -> bool:
        """Whether rows of recommendations are in memory."""
        return not self.where

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations; an error if they are not in memory."""
        if not self.in_memory:
            raise self.elsewhere()
        return self.lists.rows

    @property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self.judgements.rows

    def elsewhere(self) -> ElsewhereError:
        """Return the error for what needs all rows, where they are not in memory."""
        return ElsewhereError(
            f"this looks at every row of the lists, and they stay in {self.where}: only "
            "hits and counts were fetched. If they fit into memory, or do so once they "
            f"are cut at the rank you need: {self.remedy}."
        )

    # Weights

    @property
    def weighted(self) -> bool:
        """Whether relevant pairs have propensities."""
        return self.propensity is not None or "propensity" in self.judgements

    def with_weights(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> Self:
        """Return the same with weights of relevant pairs and of users.

        Those of pairs are in a table by item or pair, else in a column of the truth.
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

    def as_given(self, convention: Convention) -> Convention:
        """Return a library's convention with the order column that these frames have."""
        others: Mapping[str, Order] = {"score": "rank", "rank": "score"}
        other = others.get(convention.order)
        if other is None or convention.order in self.lists or other not in self.lists:
            return convention
        return replace(convention, order=other)

    @cached_property
    def _known(self) -> dict[Convention, Joined]:
        """What was joined, by the decisions of the join, without its source.

        A cycle would keep rows in memory until Python looks for it.
        """
        return {}

    def under(self, convention: Convention) -> Joined:
        """Return the tables under a convention, joined once for each."""
        if self.users_without_items:
            self._refuse_users_without_items(convention)
        return self.rows_under(convention)

    def rows_under(self, convention: Convention) -> Joined:
        """Return the rows under a convention, joined once for each.

        Users of the truth with an empty list, who have no row in it, are left out.
        """
        # Joined as asked, since order="auto" has both orders compared; kept by the order
        # that is settled, whichever word asked for it.
        asked = convention.of_data
        settled = self.lists.settled(asked)
        joined = self._known.get(settled)
        if joined is None:
            joined = self.join(asked)
            weight = self.weight_of(joined.users)
            joined = replace(joined, notes=self.notes, user_weight=weight)
            self._known[settled] = joined
        in_force = convention.ordered_by(settled.order)
        return replace(joined, convention=in_force, _source=self)

    def _refuse_users_without_items(self, convention: Convention) -> None:
        """Raise an error for a user of the truth with an empty list, where it counts.

        The rows of the truth cannot hold such a user, who would be left out.
        """
        if convention.no_relevant == "skip" or convention.averaged_users == "recs":
            return
        raise EmptyTruthError(
            f"truth: the list of {self.users_without_items[0]!r} is empty, and users with "
            f"no relevant item count here, no_relevant={convention.no_relevant!r}. Give a "
            "row an item, with relevance 0 for an item of such a user; or leave the user "
            "out of both sides."
        )
