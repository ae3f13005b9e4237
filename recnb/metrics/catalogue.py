"""What is known of items: of all of them by position, and of the item of each row.

Popularity comes from train, and columns from the frame of items.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recnb.errors import OptionError, RecnbError, near

if TYPE_CHECKING:
    from scipy import sparse

    Sparse = sparse.csr_array[np.float64, tuple[int, int]]

#: What a metric may lack, and what to type for it.
NEEDED = {
    "train": ("what users had before", "train=, a frame of user and item"),
    "catalogue": (
        "all items there are",
        "items=, a frame with a row for each item, or train=",
    ),
    "features": (
        "what items are like",
        "items=, a frame of items with a column of genres or columns of numbers",
    ),
    "genre": ("genres", "items=, a frame of items with a column of genres"),
}


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What is known of each item, by position; None if it was not given."""

    users: NDArray[np.int64] | None = None  #: how many users of train have the item
    interactions: NDArray[np.int64] | None = (
        None  #: how many rows of train hold the item
    )
    n_users: int = 0  #: how many users train has
    listed: NDArray[np.bool_] | None = None  #: whether the catalogue lists the item
    #: `ItemData` of data/item_data.py, whose history, features and genres are read
    # when a metric needs them
    reader: Any = None

    def counts(self, what: str, metric: str) -> NDArray[np.int64]:
        """Return the number of users who have each item, or of its interactions."""
        counts = self.users if what == "users" else self.interactions
        if counts is None:
            raise missing(metric, "train")
        return counts

    def members(self, population: str, metric: str) -> NDArray[np.bool_]:
        """Return which items could have been recommended: all of the catalogue, or all
        of train.
        """
        if population == "train":
            return self.counts("users", metric) > 0
        if self.listed is None:
            raise missing(metric, "catalogue")
        return self.listed

    def reading(self, metric: str, needed: str) -> Any:
        """Return the reader of data that a metric cannot do without."""
        if self.reader is None or (needed == "train" and self.users is None):
            raise missing(metric, needed)
        return self.reader


def missing(metric: str, needed: str) -> RecnbError:
    """Return the error for something that a metric cannot do without."""
    (what, given), frame = NEEDED[needed], "train" if needed == "train" else "items"
    return RecnbError(
        f"needs {what}: give {given}: recs.rec.against(truth, {frame}={frame}).",
        subject=f"{metric} ",
    )


@dataclass(frozen=True, eq=False)
class RowItems:
    """What is known of the item of each row, for a metric of the caller's.

    A row is a hit, a place of a list, or an item that a user had in train.
    """

    position: NDArray[np.int64]  #: per row, the position of its item
    catalogue: Catalogue
    metric: str  #: whose rows these are, for messages
    #: The columns of items= that the metric reads, and what an item without a value
    #: has; None: there is no such item.
    columns: Mapping[str, float | None] = field(default_factory=dict)
    user: NDArray[np.int64] | None = None  #: per row, the user, as hits or lists number
    #: Per user, as hits or lists number them, the position among those of the reader.
    users: NDArray[np.int64] | None = None
    #: Whether the users of the reader are those evaluated, and not all with a list.
    evaluated: bool = False

    @property
    def count(self) -> NDArray[np.int64]:
        """The number of users of train who had the item of each row."""
        return self.catalogue.counts("users", self.metric)[self.position]

    @property
    def interactions(self) -> NDArray[np.int64]:
        """The number of rows of train that hold the item of each row."""
        return self.catalogue.counts("interactions", self.metric)[self.position]

    @property
    def n_users(self) -> int:
        """The number of users of train."""
        self.catalogue.counts("users", self.metric)
        return self.catalogue.n_users

    @property
    def n_interactions(self) -> int:
        """The number of rows of train."""
        return int(self.catalogue.counts("interactions", self.metric).sum())

    def column(self, name: str) -> NDArray[np.float64]:
        """Return the number that the item of each row has in a column of items=."""
        if name not in self.columns:
            problem = f"{self.metric} says nothing of a column {name!r} of items=."
            raise OptionError(
                f"{problem} Add it, columns=[{name!r}].", fix=near(name, self.columns)
            )
        reader = self.catalogue.reading(self.metric, "features")
        default = self.columns[name]
        values: NDArray[np.float64] = reader.numbers(name, self.metric)[self.position]
        is_missing = np.isnan(values)
        if default is not None:
            return np.where(is_missing, default, values)
        if is_missing.any():
            item = reader.items[int(self.position[is_missing][0])]
            raise RecnbError(
                f"{self.metric}: items= has no {name} of item {item!r}: fill it in, or "
                f"say what such an item has, columns={{{name!r}: 0}}."
            )
        return values

    def features(self, columns: object = None) -> Sparse:
        """Return rows × features of the item of each row; all 0 where it has none.

        `columns` of items= are those of `diversity(features=)`: one of genres, several
        of numbers, or one of vectors; None: that of genres, or all of 0 and 1.
        """
        reader = self.catalogue.reading(self.metric, "features")
        features: Sparse = reader.features(columns, self.metric)[0]
        return features[self.position]

    def genres(self, column: object = None) -> Sparse:
        """Return rows × genres, 1 where the item of the row has the genre.

        `column` of items= is that of `calibration(genre=)`; None: one named genres.
        """
        reader = self.catalogue.reading(self.metric, "genre")
        genres: Sparse = reader.genres(column, self.metric)[0]
        return genres[self.position]

    @property
    def history(self) -> History:
        """What the users of these hits or lists had in train."""
        reader = self.catalogue.reading(self.metric, "train")
        had_user, had_item = reader.history(evaluated=self.evaluated)
        assert self.users is not None
        n_known = max(had_user.max(initial=-1), self.users.max(initial=-1)) + 1
        number = np.full(n_known, -1)
        number[self.users] = np.arange(len(self.users))
        user = number[had_user]
        is_of_these = user >= 0
        items = replace(self, position=had_item[is_of_these], user=user[is_of_these])
        return History(user[is_of_these], items)

    @property
    def expected_rank(self) -> NDArray[np.int64]:
        """The rank of the item of each row in a list of the most popular items of train
        that its user has not had; 0 of an item that they had.
        """
        reader = self.catalogue.reading(self.metric, "train")
        assert self.user is not None
        assert self.users is not None
        user = self.users[self.user]
        ranks: NDArray[np.int64] = reader.expected_ranks(
            user, self.position, evaluated=self.evaluated, metric=self.metric
        )
        return ranks

    def of_rows(self, rows: NDArray[Any] | slice) -> RowItems:
        """Return the items of some of the rows."""
        user = None if self.user is None else self.user[rows]
        return replace(self, position=self.position[rows], user=user)

    def of_users(
        self,
        rows: NDArray[Any],
        user: NDArray[np.int64],
        users: NDArray[Any],
    ) -> RowItems:
        """Return the rows of some users: `user` numbers those of each row anew, and
        `users` chooses among all.
        """
        of_users = None if self.users is None else self.users[users]
        return replace(self, position=self.position[rows], user=user, users=of_users)

    def numbers(self, names: Collection[str]) -> dict[str, Any]:
        """Return what a formula of these names reads: a number, or one for each row."""
        of_train = ("count", "interactions", "n_users", "n_interactions")
        numbers: dict[str, Any] = {}
        if self.catalogue.users is not None:
            numbers = {name: getattr(self, name) for name in of_train}
        if "expected_rank" in names:
            numbers["expected_rank"] = self.expected_rank
        return numbers | {name: self.column(name) for name in self.columns}


@dataclass(frozen=True, eq=False)
class History:
    """What users had in train, a row for each user and item."""

    user: NDArray[np.int64]  #: per row, the position of the user, as hits or lists have
    items: RowItems  #: per row, what is known of the item
