"""Sizes of the data behind the numbers, and of what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from recnb.data.encoding import distinct

if TYPE_CHECKING:
    from recnb.data.join import Prepared


class Counts:
    """Sizes of the data behind the numbers, and of what was left out."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    @property
    def n_users(self) -> int:
        """Users evaluated."""
        return len(self._prepared.users)

    @cached_property
    def n_without_list(self) -> int:
        """Of these, users with no recommendations."""
        return int((self._prepared.list_length == 0).sum())

    @property
    def n_without_relevant(self) -> int:
        """Users of either frame who have no relevant item."""
        return self._prepared.n_without_relevant

    @property
    def n_recommended(self) -> int:
        """Rows of recommendations."""
        return self._prepared.recs.height

    @property
    def n_relevant(self) -> int:
        """Pairs of an evaluated user and a relevant item."""
        return len(self._prepared.truth_user)

    @cached_property
    def n_items_recommended(self) -> int:
        """Distinct items in the lists."""
        return self._prepared.recs["item"].n_unique()

    @cached_property
    def n_items_relevant(self) -> int:
        """Distinct relevant items."""
        return self._prepared.truth["item"].n_unique()

    @cached_property
    def n_not_relevant(self) -> int:
        """Rows of the truth that are not relevant."""
        return self._prepared.judged.height - self._prepared.relevant.height

    @cached_property
    def n_gaps(self) -> int:
        """Number of users whose ranks have gaps."""
        if not self._prepared.has_gaps:
            return 0
        lengths = self._prepared.recs.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
        return int((lengths["length"] != lengths["n"]).sum())


@dataclass(frozen=True)
class RowCounts:
    """Counts of rows that are not kept."""

    n_recommended: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once
    of_more: bool = False  #: whether rows, gaps and items are those of more users than are evaluated

    @classmethod
    def of(cls, counts: Counts, recs: pl.DataFrame) -> RowCounts:
        """The counts of rows that are at hand."""
        return cls(
            counts.n_recommended,
            counts.n_not_relevant,
            counts.n_gaps,
            distinct(recs["item"]),
        )

    @classmethod
    def total(cls, parts: Sequence[RowCounts]) -> RowCounts:
        """Add up the counts of parts with different users."""
        items = [part.items for part in parts if len(part.items)] or [parts[0].items]
        return cls(
            sum(part.n_recommended for part in parts),
            sum(part.n_not_relevant for part in parts),
            sum(part.n_gaps for part in parts),
            distinct(pl.concat(items)),
        )


class StoredCounts(Counts):
    """The counts of data whose rows are not in memory."""

    def __init__(self, prepared: Prepared, row_counts: RowCounts) -> None:
        super().__init__(prepared)
        self._row_counts = row_counts

    @property
    def n_recommended(self) -> int:
        """Rows of recommendations."""
        return self._known(self._row_counts.n_recommended)

    @cached_property
    def n_items_recommended(self) -> int:
        """Distinct items in the lists."""
        return self._known(len(self._row_counts.items))

    @cached_property
    def n_not_relevant(self) -> int:
        """Rows of the truth that are not relevant."""
        return self._row_counts.n_not_relevant

    @cached_property
    def n_gaps(self) -> int:
        """Number of users whose ranks have gaps."""
        return self._known(self._row_counts.n_gaps)

    def _known(self, count: int) -> int:
        """A count of rows; an error if it covers more users than these and the rows are not in memory."""
        if self._row_counts.of_more and count:
            self._prepared.rows.all()
        return count
