"""What is known of items: of all of them by position, and of the item of each row.

Popularity comes from train, and columns from the frame of items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recnb.errors import OptionError, RecnbError, near

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
    """What is known of the item of each row, for a metric of the caller's: of each hit,
    or of each place of a list.
    """

    position: NDArray[np.int64]  #: per row, the position of its item
    catalogue: Catalogue
    metric: str  #: whose rows these are, for messages
    #: The columns of items= that the metric reads, and what an item without a value
    #: has; None: there is no such item.
    columns: Mapping[str, float | None] = field(default_factory=dict)

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

    def of_rows(self, rows: NDArray[Any] | slice) -> RowItems:
        """Return the items of some of the rows."""
        return replace(self, position=self.position[rows])

    def numbers(self) -> dict[str, Any]:
        """Return what formulas name: a number, or one for each row."""
        of_train = ("count", "interactions", "n_users", "n_interactions")
        numbers: dict[str, Any] = {}
        if self.catalogue.users is not None:
            numbers = {name: getattr(self, name) for name in of_train}
        return numbers | {name: self.column(name) for name in self.columns}
