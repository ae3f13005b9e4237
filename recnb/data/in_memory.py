"""Both tables in memory, and how they are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.ids import each_once
from recnb.data.join import JoinedUsers, join
from recnb.data.list_order import in_checked_order, refuse_repeats
from recnb.data.names import IDS, TRUTH
from recnb.data.role_table import RoleTable, is_missing, rows_of_users
from recnb.data.rows import JoinedRows
from recnb.data.source import Source
from recnb.data.splits import BY_USER, Keys
from recnb.data.truth import GradedTruth, graded, is_relevant
from recnb.data.weights import BY_POPULARITY, PROPENSITY, look_up, refuse_lacking
from recnb.errors import FrameError
from recnb.metrics.hits import Floats


@dataclass(eq=False)
class InMemory(Source):
    """Both tables in memory."""

    in_memory = True
    #: The rows of all users, of whom these are some: its catalogue and its highest
    #: relevance hold for them as well. None: these are all.
    whole: InMemory | None = None
    #: Every item that lists could hold, sorted; None: those of either table.
    catalogue: pl.Series | None = None
    #: Whether it is an error if no user is in both tables, or none counts. In a part of
    #: the rows there may be none.
    needs_users: bool = True

    @property
    def recs_rows(self) -> pl.DataFrame:
        """All rows of the recommendations."""
        return self.recs.rows

    @cached_property
    def items(self) -> pl.Series:
        """Every item of the catalogue, sorted."""
        if self.catalogue is not None:
            return self.catalogue
        if self.whole is not None:
            return self.whole.items
        return each_once(self.recs_rows["item"], self.truth_rows["item"])

    @property
    def takes_other_lists(self) -> bool:
        """Whether these are all rows of two frames, with a list a user."""
        is_alone = self.whole is None and self.catalogue is None
        return is_alone and self.needs_users and not self.keys.columns

    def example(self) -> RoleTable:
        """Return a user and an item of the lists."""
        first = self.recs.with_rows(self.recs.rows.head(1))
        return first.with_columns(self.keys.users_of(first["user"]))

    def among(self, users: pl.Series) -> InMemory:
        """Return the rows of some users."""
        return replace(
            self,
            recs=self.recs.with_rows(rows_of_users(self.recs.rows, users)),
            truth=self.truth.with_rows(rows_of_users(self.truth.rows, users)),
            whole=self.whole or self,
        )

    def split_by(self, columns: Sequence[str]) -> InMemory:
        """Return the same with a list for each user and values of some columns."""
        if not columns:
            return self
        keys = Keys.of(self.recs, self.truth, columns)
        recs, truth = keys.numbered(self.recs), keys.numbered(self.truth)
        return replace(self, recs=recs, truth=truth, keys=keys)

    def numbered_as(self, keys: Keys, numbers: pl.Series) -> InMemory:
        """Return the same with other keys, among which lists have these numbers."""
        recs, truth = (
            table.with_columns(numbers[table["user"]].alias("user"))
            for table in (self.recs, self.truth)
        )
        return replace(self, recs=recs, truth=truth, keys=keys)

    def with_weights(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> Self:
        """Return the same with weights; the propensity of each row is a column then.

        It is null if the row has none. Known values of a column of the truth are checked
        here; given ones were by `Weight.table_of`.
        """
        truth = self.truth
        if propensity is not None:
            values = look_up(propensity, truth.rows, "propensity")
            truth = truth.with_columns(values.alias("propensity"))
        elif "propensity" in truth:
            known = truth.rows.filter(~is_missing(truth["propensity"]))
            in_words = truth.column_in_words("propensity")
            PROPENSITY.checked(known, "propensity", in_words)
            values = truth["propensity"].cast(pl.Float64).fill_nan(None)
            truth = truth.with_columns(values)
        weighted = super().with_weights(propensity, user_weights)
        return replace(weighted, truth=truth)

    # The join

    def join(self, convention: Convention) -> tuple[JoinedUsers, JoinedRows]:
        """Join the tables under a convention; return the rows behind the hits as well."""
        try:
            return self._joined(convention)
        except FrameError:
            if self.keys.columns:
                # In a split lists are numbers: joined again by their names, they are
                # named by the error.
                names = self.keys.names(self.keys.table["list"])
                self.numbered_as(BY_USER, names)._joined(convention)
            raise

    def _joined(self, convention: Convention) -> tuple[JoinedUsers, JoinedRows]:
        """Join the tables; an error names lists as the column of users does."""
        recs, convention = in_checked_order(self.recs, convention)
        truth = self._truth_under(recs, convention)
        # Below a list stand the items of all lists, of other parts and models as well.
        all_items = self.items if convention.candidates == "catalogue" else None
        weight = (
            self._weights_of(truth.rows, convention) if self.has_propensities else None
        )
        joined, rows = join(recs, truth, convention, all_items, weight)
        if self.whole is not None:
            highest = graded(self.whole.truth, convention).highest
            hits = replace(joined.hits, max_relevance=highest)
            joined = replace(joined, hits=hits)
        if self.needs_users:
            self._refuse_no_users(joined)
        return joined, rows

    def _refuse_no_users(self, joined: JoinedUsers) -> None:
        """Raise an error if no user is in both tables, or if none counts."""
        # Where every list is empty, `read_tables` saw that some user is in both.
        if self.whole is None and self.recs.rows.height:
            joined.refuse_strangers(self.recs, self.truth)
        joined.refuse_no_users()
        if self.whole is None and self.keys.columns:
            self.keys.refuse_without_users(joined.users)

    def _truth_under(self, recs: RoleTable, convention: Convention) -> GradedTruth:
        """Return the truth under a convention; repeated pairs are refused, or merged."""
        truth = graded(self.truth, convention)
        if not truth.repeats_a_pair:
            return truth
        if convention.duplicates == "error":
            # If lists repeat as well, as those of several folds do, that says more.
            refuse_repeats(recs, convention)
            self.truth.refuse_repeated_pairs(
                IDS,
                "Drop the repeats; or say duplicates='dedupe' to keep the highest "
                "relevance.",
            )
        return truth.without_repeats()

    def _weights_of(self, truth: pl.DataFrame, convention: Convention) -> Floats:
        """Return 1 / propensity of each row of the truth.

        A row that is not relevant needs no propensity, and has 0.
        """
        least = convention.min_propensity or 0.0
        if least == 1:  # every weight is 1, whatever the propensities are
            return np.ones(truth.height)
        relevant = is_relevant(truth["relevance"].to_numpy(), convention)
        rows = truth.filter(relevant)
        ids = [*IDS] if self.propensity is None else ["item"]
        refuse_lacking(
            rows["propensity"], rows.select(ids), "propensity", BY_POPULARITY
        )
        weight = np.zeros(truth.height)
        weight[relevant] = 1.0 / np.maximum(rows["propensity"].to_numpy(), least)
        return weight


def ranked(recs: RoleTable, convention: Convention) -> pl.DataFrame:
    """Return lists as user, item, rank, and score where there is one.

    Repeated pairs are kept or merged by the convention.
    """
    no_truth = RoleTable(TRUTH, recs.rows.select(IDS).clear(), {})
    _joined, rows = InMemory(recs, no_truth, needs_users=False).join(convention)
    return rows.lists
