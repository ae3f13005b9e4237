"""Both tables in memory, and their join under a convention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.columns import is_missing, with_series
from recnb.data.ids import each_once
from recnb.data.join import join
from recnb.data.joined import Joined, Source
from recnb.data.matches import RepeatError, Truth, is_relevant
from recnb.data.names import IDS, TRUTH
from recnb.data.rows import JoinedRows
from recnb.data.rules import rank_of_rows, single_precision
from recnb.data.sheet import Sheet
from recnb.data.splits import BY_USER, Keys
from recnb.data.weights import checked, look_up, pair_weights, refuse_lacking
from recnb.errors import FrameError
from recnb.metrics.hits import Floats, Ints


@dataclass(eq=False)
class Sheets(Source):
    """Both tables in memory."""

    #: The rows of all users, of whom these are some: its catalogue and its highest
    #: relevance hold for them as well. None: these are all.
    whole: Sheets | None = None
    #: Every item that lists could hold, sorted; None: those of either table.
    catalogue: pl.Series | None = None
    #: Whether it is an error if no user is in both tables, or none counts. In a part of
    #: the rows there may be none.
    needs_users: bool = True
    #: The truth by how a convention grades it.
    _truths: dict[Any, Truth] = field(default_factory=dict, init=False)

    @cached_property
    def items(self) -> pl.Series:
        """Every item of the catalogue, sorted."""
        if self.catalogue is not None:
            return self.catalogue
        if self.whole is not None:
            return self.whole.items
        return each_once(self.recs["item"], self.truth["item"])

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of two frames, with a list a user."""
        is_alone = self.whole is None and self.catalogue is None
        return is_alone and self.needs_users and not self.keys.columns

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        users = self.keys.users_of(self.recs["user"].head(1))
        return self.lists.with_rows(self.recs.head(1)).with_columns(users)

    def among(self, users: pl.Series) -> Sheets:
        """Return the rows of some users."""
        return replace(
            self,
            lists=self.lists.of_users(users),
            judgements=self.judgements.of_users(users),
            whole=self.whole or self,
        )

    def beside(self, lists: Sheet) -> Sheets:
        """Return other lists beside the same truth, which is not numbered again."""
        other = replace(self, lists=lists)
        other._truths = self._truths
        return other

    def numbered_as(self, keys: Keys, numbers: pl.Series) -> Sheets:
        """Return the same with other keys, among which lists have these numbers."""
        lists, judgements = (
            sheet.with_columns(numbers[sheet["user"]])
            for sheet in (self.lists, self.judgements)
        )
        return replace(self, lists=lists, judgements=judgements, keys=keys)

    def with_weights(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> Self:
        """Return the same with weights; the propensity of each row is a column then.

        It is null if the row has none. Those that are known are checked, and so is a
        column that there is already.
        """
        judgements = self.judgements
        if propensity is not None:
            users = self.keys.users_of(judgements["user"])
            rows = judgements.with_columns(users).rows
            values = look_up(propensity, rows, "propensity")
            judgements = judgements.with_columns(values.alias("propensity"))
        elif "propensity" in judgements:
            judgements = judgements.with_columns(_known_propensities(judgements))
        weighted = super().with_weights(propensity, user_weights)
        return replace(weighted, judgements=judgements)

    # The join

    def join(self, convention: Convention) -> Joined:
        """Join the tables under a convention."""
        try:
            return self._joined(convention)
        except FrameError:
            if self.keys.columns:
                # In a split lists are numbers: with their names, it is raised in words.
                self._named()._joined(convention)
            raise

    def _named(self) -> Sheets:
        """Return the same rows with the names of lists in place of their numbers."""
        lists, judgements = (
            sheet.with_columns(self.keys.names(sheet["user"]))
            for sheet in (self.lists, self.judgements)
        )
        return replace(self, lists=lists, judgements=judgements, keys=BY_USER)

    def _joined(self, convention: Convention) -> Joined:
        """Join the tables; an error names lists as the column of users does."""
        settled = self.lists.settled(convention)
        lists = self.lists.with_checked(settled.order)
        # With the order given the caller has said that the other column does not matter.
        if convention.order == "auto":
            lists.refuse_disagreement()
        truth = self._truth_beside(lists, settled)
        # Below a list stand the items of all lists, of other parts and models as well.
        all_items = self.items if settled.candidates == "catalogue" else None
        result = join(lists, truth, settled, all_items)
        hits, judged = result.hits, truth.rows
        if self.whole is not None:
            highest = self.whole._graded(convention).highest
            hits = replace(hits, max_relevance=highest)
        if self.weighted:
            weight = self._weights_of(judged, convention)
            judged = with_series(judged, pl.Series("weight", weight))
            hits = replace(hits, truth_weight=weight[result.frame_row_of_entry])
        if convention.below_0_leaves_lists:
            # Grades below 0 have told which items were not judged.
            judged = with_series(judged, judged["relevance"].clip(0.0))
        joined = Joined(
            users=result.users,
            hits=hits,
            convention=settled,
            rows=RowsInMemory(lists, truth, settled, judged, result.frame_row_of_entry),
            n_without_relevant=result.n_without_relevant,
            in_both=result.in_both,
            has_gaps=result.has_gaps,
            graded="relevance" in self.judgements,
        )
        if self.needs_users:
            self._refuse_no_users(joined)
        return joined

    def _refuse_no_users(self, joined: Joined) -> None:
        """Raise an error if no user is in both tables, or if none counts."""
        # Where every list is empty, `read` saw that some user is in both.
        if self.whole is None and self.lists.rows.height:
            listed, judged = self.lists["user"], self.judgements["user"]
            joined.refuse_strangers(listed.first(), judged.first())
        joined.refuse_no_users()
        if self.whole is None and self.keys.columns:
            self.keys.refuse_without_users(joined.users)

    def _graded(self, convention: Convention) -> Truth:
        """Return the truth as it was given, graded once for conventions that agree."""
        negative, judged_only = convention.negative_relevance, convention.judged_only
        grading = negative, judged_only, convention.relevant_from
        if grading not in self._truths:
            self._truths[grading] = Truth.graded(self.judgements, convention)
        return self._truths[grading]

    def _truth_beside(self, lists: Sheet, convention: Convention) -> Truth:
        """Return the truth under a convention; repeated pairs are refused, or merged."""
        truth = self._graded(convention)
        if not truth.repeats_a_pair:
            return truth
        if convention.duplicates == "error":
            # If lists repeat as well, as those of several folds do, that says more.
            lists.refuse_repeats(convention)
            self.judgements.refuse_repeated_pairs()
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
        if self.propensity is not None:
            name = "propensity="
            *id_columns, _value = self.propensity.columns
            ids = rows.select(id_columns)
            refuse_lacking(rows["propensity"], ids, "propensity")
        else:
            name = self.judgements.column_in_words("propensity")
            checked(rows, "propensity", name, highest=1.0)
        weight = np.zeros(truth.height)
        weight[relevant] = pair_weights(rows, least, name)
        return weight


class RowsInMemory(JoinedRows):
    """The rows behind the hits of tables in memory."""

    def __init__(
        self,
        lists: Sheet,
        truth: Truth,
        convention: Convention,
        judged: pl.DataFrame,
        row_of_entry: Ints,
    ) -> None:
        self.judged = judged
        self._lists = lists
        self._truth = truth
        self._convention = convention  # whose order is settled
        self._row_of_entry = row_of_entry  #: [entry] -> row of `judged`

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self.judged[self._row_of_entry]

    @cached_property
    def lists(self) -> pl.DataFrame:
        """User, item, rank, and score where there is one, without rows left out.

        Rows are in the order in which they came. Items may repeat in lists that do not
        count.
        """
        recs, convention = self._lists, self._convention
        if convention.duplicates == "error":
            convention = replace(convention, duplicates="keep")
        try:
            rank = rank_of_rows(recs, self._truth, convention)
        except RepeatError:
            recs.refuse_repeats(convention)
            raise
        table = recs.with_columns(pl.Series("rank", rank))
        if convention.score_dtype == "float32" and convention.order == "score":
            scores = single_precision(recs["score"])
            table = table.with_columns(pl.Series("score", scores))
        rows = table.rows.select(*IDS, "rank", "^score$")
        if rank.all():
            return rows
        return rows.filter(pl.col("rank") > 0)


def _known_propensities(judgements: Sheet) -> pl.Series:
    """Return the propensities in the column of the truth as numbers, checked.

    Those of rows without one are null or NaN.
    """
    propensity = judgements["propensity"]
    known = judgements.rows.filter(~is_missing(propensity))
    checked(known, "propensity", judgements.column_in_words("propensity"), highest=1.0)
    return propensity.cast(pl.Float64)


def source_of(
    lists: Sheet, judgements: Sheet, split: Sequence[str] = (), **known: Any
) -> Sheets:
    """Return the source of all rows, in memory, whose lists some columns tell apart.

    Ids of both tables must be of one kind.
    """
    lists.refuse_other_kinds(judgements)
    if not split:
        return Sheets(lists, judgements, **known)
    keys = Keys.found_in(lists, judgements, split)
    numbered = keys.numbered(lists), keys.numbered(judgements)
    return Sheets(*numbered, keys=keys, **known)


def ranked(lists: Sheet, convention: Convention) -> pl.DataFrame:
    """Return lists as user, item, rank, and score where there is one.

    Repeated pairs are kept or merged by the convention.
    """
    no_judgements = Sheet(TRUTH, lists.rows.select(IDS).clear(), {})
    return Sheets(lists, no_judgements, needs_users=False).join(convention).rows.lists
