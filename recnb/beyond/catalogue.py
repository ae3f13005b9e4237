"""What is known of every item: how often train holds it, and what it is like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from recnb.beyond.item_features import cells_of, columns_of
from recnb.data.ids import positions
from recnb.data.names import IDS
from recnb.data.role_table import repeated
from recnb.data.side_data import SideData
from recnb.errors import RecnbError
from recnb.metrics.hits import Bools, Ints
from recnb.metrics.metric import Metric

if TYPE_CHECKING:
    from scipy import sparse

    Sparse = sparse.csr_array[np.float64, tuple[int, int]]

#: What a metric may need: the attribute of `Catalogue` that is None without it, what it
#: is in words, and what to type for it.
NEEDED = {
    "train": ("pairs", "what users had before", "train, a frame of user and item"),
    "catalogue": (
        "listed",
        "all items there are",
        "items, a frame with a row for each item, or train",
    ),
    "features": (
        "frame",
        "what items are like",
        "items, a frame of items with a column of genres or columns of numbers",
    ),
    "genre": ("frame", "genres", "items, a frame of items with a column of genres"),
}


class Catalogue:
    """What train and the frame of items say of every item, by position.

    What was not given is None; `refuse_lack` refuses a metric that needs it.
    """

    def __init__(self, ids: pl.Series, side_data: SideData) -> None:
        self.ids = ids  #: every item there is, anywhere, sorted
        self.frame = side_data.items
        self.pairs: pl.DataFrame | None = None  #: of train, each once
        #: Of each item, the "users" of train who have it and its "interactions", rows.
        self.counts: dict[str, Ints] = {}
        self.n_users = 0  #: how many users train has
        #: Whether the item could have been recommended: it is in items=, or in train.
        self.listed: Bools | None = None
        self._described: dict[tuple[str, ...], tuple[Sparse, Sequence[str]]] = {}
        train = side_data.train
        if train is not None:
            has_repeats = repeated(train, [*IDS]).height > 0
            self.pairs = train.unique([*IDS]) if has_repeats else train
            self.counts["users"] = self._times_in(self.pairs)
            self.counts["interactions"] = self._times_in(train)
            self.n_users = train["user"].n_unique()
            self.listed = self.counts["users"] > 0
        if self.frame is not None:
            self.listed = self._times_in(self.frame) > 0

    def item_of(self, rows: pl.DataFrame) -> Ints:
        """Return the position of the item of each row."""
        return positions(self.ids, rows["item"])

    def _times_in(self, rows: pl.DataFrame) -> Ints:
        """Count the rows that hold each item."""
        return np.bincount(self.item_of(rows), minlength=len(self.ids))

    def had_by(self, users: pl.Series) -> tuple[Ints, Ints]:
        """Return what users had in train, each item once: positions of user and item."""
        assert self.pairs is not None  # or the metric was refused
        user = positions(users, self.pairs["user"])
        is_asked = user >= 0
        return user[is_asked], self.item_of(self.pairs)[is_asked]

    def refuse_lack(self, metric: Metric[...]) -> None:
        """Refuse a metric that needs what was not given."""
        for need in metric.needs:
            attribute, *_words = NEEDED[need]
            if getattr(self, attribute) is None:
                raise missing(metric.name, need)

    def members(self, population: str) -> Bools:
        """Return which items could have been recommended.

        All of the catalogue, or all of train.
        """
        if population == "train":
            if not self.counts:
                raise missing("population='train'", "train")
            return self.counts["users"] > 0
        assert self.listed is not None  # or the metric was refused
        return self.listed

    def n_members(self, population: str) -> int:
        """Return how many items there are, with one more for padding."""
        return int(self.members(population).sum()) + (population == "catalogue+padding")

    def described(self, columns: object, argument: str) -> tuple[Sparse, Sequence[str]]:
        """Return items × words of one column or numbers of several, and their names.

        `argument` is that of the metric which names the columns, "genre" or "features".
        """
        from scipy import sparse

        assert self.frame is not None  # or the metric was refused
        chosen = columns_of(self.frame, columns, argument)
        key = (argument, *chosen)
        if key not in self._described:
            value, row, column, names = cells_of(self.frame, chosen, argument)
            cells = (value, (self.item_of(self.frame)[row], column))
            matrix = sparse.csr_array(cells, shape=(len(self.ids), len(names)))
            self._described[key] = matrix, names
        return self._described[key]


def missing(metric: str, needed: str) -> RecnbError:
    """Return the error for something that a metric cannot do without."""
    _attribute, what, given = NEEDED[needed]
    frame = "train" if needed == "train" else "items"
    call = f"recs.rec.against(truth, {frame}={frame})"
    lack = f"needs {what}: give {given}"
    problem = RecnbError(f"{metric} {lack}: {call}.", {call: f"--{frame} FILE"})
    problem.lack = f"{lack}."
    return problem
