"""How much data is behind the numbers; each count is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from recnb.frames.codes import distinct

if TYPE_CHECKING:
    from recnb.frames.prepare import Prepared


class Counts:
    """How much data is behind the numbers, and what of it was left out."""

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

    @cached_property
    def n_without_relevant(self) -> int:
        """Users of either frame who have no relevant item."""
        prepared, convention = self._prepared, self._prepared.convention
        everyone_evaluated = convention.users in ("truth", "union") and convention.no_relevant == "skip"
        if everyone_evaluated and len(prepared.truth_user) == prepared.judged.height:
            # Every user of the truth is evaluated, so only lists of others are left: nothing to count again.
            return prepared.n_strangers
        anyone = distinct(pl.concat([prepared.recs["user"], prepared.judged["user"]]))
        return len(anyone) - len(distinct(prepared.relevant["user"]))

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
        """Users whose ranks leave places empty."""
        if not self._prepared.has_gaps:
            return 0
        lengths = self._prepared.recs.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
        return int((lengths["length"] != lengths["n"]).sum())


@dataclass(frozen=True)
class Tally:
    """What was counted of rows before they were let go."""

    n_recommended: int
    n_without_relevant: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once
    of_more: bool = False  #: whether rows, gaps and items are those of more users than are evaluated

    @classmethod
    def of(cls, counts: Counts, recs: pl.DataFrame) -> Tally:
        """The counts of rows that are at hand."""
        return cls(
            counts.n_recommended,
            counts.n_without_relevant,
            counts.n_not_relevant,
            counts.n_gaps,
            distinct(recs["item"]),
        )

    @classmethod
    def total(cls, tallies: Sequence[Tally]) -> Tally:
        """Those of different users as one."""
        items = [one.items for one in tallies if len(one.items)] or [tallies[0].items]
        return cls(
            sum(one.n_recommended for one in tallies),
            sum(one.n_without_relevant for one in tallies),
            sum(one.n_not_relevant for one in tallies),
            sum(one.n_gaps for one in tallies),
            distinct(pl.concat(items)),
        )


class Tallied(Counts):
    """The counts of data whose rows are not here."""

    def __init__(self, prepared: Prepared, tally: Tally) -> None:
        super().__init__(prepared)
        self._tally = tally

    @property
    def n_recommended(self) -> int:
        """Rows of recommendations."""
        return self._known(self._tally.n_recommended)

    @cached_property
    def n_without_relevant(self) -> int:
        """Users of either frame who have no relevant item."""
        return self._tally.n_without_relevant

    @cached_property
    def n_items_recommended(self) -> int:
        """Distinct items in the lists."""
        return self._known(len(self._tally.items))

    @cached_property
    def n_not_relevant(self) -> int:
        """Rows of the truth that are not relevant."""
        return self._tally.n_not_relevant

    @cached_property
    def n_gaps(self) -> int:
        """Users whose ranks leave places empty."""
        return self._known(self._tally.n_gaps)

    def _known(self, count: int) -> int:
        """A count of rows; an error that says where the rows are if it is not that of these users."""
        if self._tally.of_more and count:
            self._prepared.rows.all()
        return count
