"""Both frames in memory, as they were read, and what the join needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.checks import is_missing
from recnb.data.convert import with_series
from recnb.data.ids import each_once
from recnb.data.join import JoinResult, join
from recnb.data.matches import (
    RepeatedRankError,
    RepeatedTruthError,
    RepeatError,
    Truth,
)
from recnb.data.names import IDS, TRUTH
from recnb.data.rules import rank_of_rows, single_precision
from recnb.data.sheet import Sheet, is_relevant
from recnb.data.source import Joined, JoinedRows, Source, rows_of
from recnb.data.splits import BY_USER, Keys, SplitKeys
from recnb.data.weights import checked, look_up, pair_weights, refuse_lacking
from recnb.display.language import Sentence
from recnb.errors import FrameError, NoUsersError
from recnb.metrics.hits import Floats, cached_property


@dataclass(eq=False)
class KeptTruth:
    """A truth that several lists are evaluated against, numbered once."""

    judgements: Sheet
    truths: dict[Convention, Truth] = field(default_factory=dict)

    def under(self, convention: Convention) -> Truth:
        """Return the truth under a convention."""
        if convention not in self.truths:
            self.truths[convention] = Truth(self.judgements.graded(convention).rows)
        return self.truths[convention]


@dataclass(eq=False)
class Sheets(Source):
    """Both frames in memory."""

    lists: Sheet  #: user, item, and rank or score or both
    judgements: Sheet  #: user, item, and relevance if there is one
    notes: tuple[str | Sentence, ...] = ()
    #: Whether these are some of the users: what holds of all is then checked elsewhere.
    is_part: bool = False
    #: The frames that these are some users of: catalogue and scale of grades are theirs.
    whole: Sheets | None = None
    #: Every item there is, where models are compared.
    catalogue: pl.Series | None = None
    user_weights: pl.DataFrame | None = None
    keys: Keys = BY_USER
    users_without_items: Sequence[Any] = ()
    #: Ids by which propensities were looked up; none of those in a column of the truth.
    propensity_ids: Sequence[str] = ()
    #: Once other lists are evaluated against the truth; it is of no use to another truth.
    kept: KeptTruth | None = None

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations."""
        return self.lists.rows

    @property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self.judgements.rows

    @property
    def has_rows(self) -> bool:
        """Whether either frame has rows: ids of one without any have no type."""
        return self.recs.height > 0 or self.truth.height > 0

    @cached_property
    def items(self) -> pl.Series:
        """Every item of either frame, sorted."""
        if self.catalogue is not None:
            return self.catalogue
        if self.whole is not None:
            return self.whole.items
        return each_once(self.recs["item"], self.truth["item"])

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        users = self.keys.users_of(self.recs["user"].head(1))
        return self.lists.with_rows(self.recs.head(1)).with_columns(users)

    @property
    def weighted(self) -> bool:
        """Whether relevant pairs have propensities."""
        return "propensity" in self.judgements

    def weigh(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> None:
        """Make the propensity of each row a column of the truth, null if it has none.

        Those that are known are checked, and so is a column that there is already.
        """
        self.user_weights = user_weights
        judgements = self.judgements
        if propensity is not None:
            self.propensity_ids = propensity.columns[:-1]
            users = self.keys.users_of(judgements["user"])
            rows = judgements.with_columns(users).rows
            values = look_up(propensity, rows, "propensity")
        elif self.weighted:
            values = _known_propensities(judgements)
        else:
            return
        self.judgements = judgements.with_columns(values.alias("propensity"))

    def among(self, users: pl.Series) -> Sheets:
        """Return the rows of some users."""
        return replace(
            self,
            lists=self.lists.with_rows(rows_of(self.recs, users)),
            judgements=self.judgements.with_rows(rows_of(self.truth, users)),
            whole=self.whole or self,
        )

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of two frames, with a list a user."""
        is_divided = self.is_part or bool(self.keys.columns)
        return not is_divided and self.whole is None and self.catalogue is None

    def with_lists(self, lists: Sheet) -> Sheets:
        """Return other lists beside the same truth."""
        if self.kept is None:
            self.kept = KeptTruth(self.judgements)
        return replace(self, lists=lists)

    def numbered_as(self, keys: Keys, numbers: pl.Series) -> Sheets:
        """Return the same with other keys, among which lists have these numbers."""
        lists, judgements = (
            sheet.with_columns(numbers[sheet["user"]])
            for sheet in (self.lists, self.judgements)
        )
        return replace(self, lists=lists, judgements=judgements, keys=keys)

    def join(self, convention: Convention) -> Joined:
        """Join the frames under a convention."""
        try:
            return self._join(convention)
        except FrameError:
            if self.keys.columns:
                # The same with names in the place of numbers, which raises it in words.
                lists, judgements = map(self.keys.named, (self.lists, self.judgements))
                named = replace(self, lists=lists, judgements=judgements, keys=BY_USER)
                named._join(convention)
            raise

    def _join(self, convention: Convention) -> Joined:
        graded_as = _with_negative_grades(convention)
        truth = self._truth_under(graded_as)
        lists, in_order = self.lists.with_order_settled(convention)
        result, truth = self._join_ids(lists.rows, truth, in_order)
        judged, hits = truth.rows, result.hits
        if self.whole is not None:
            grades = self.whole.judgements.graded(graded_as)["relevance"]
            highest = float(grades.to_numpy().max(initial=0.0))
            hits = replace(hits, max_relevance=highest)
        if self.weighted:
            weight = self._weights_of(judged, convention)
            judged = with_series(judged, pl.Series("weight", weight))
            hits = replace(hits, truth_weight=weight[result.frame_row_of_entry])
        if not self.is_part:
            check_users(
                n_users=len(result.users),
                # Where every list is empty, `read` has met a user of both.
                in_both=result.in_both or lists.rows.is_empty(),
                examples=(lists["user"].first(), judged["user"].first()),
                highest=judged["relevance"].max(),
                convention=in_order,
            )
            if self.whole is None:
                self.keys.refuse_without_users(result.users)
        # As grades below 0 were read: they say which items were not judged.
        ranked_rows = partial(_ranked_rows, lists.rows, Truth(judged), in_order)
        if graded_as != convention:
            judged = with_series(judged, judged["relevance"].clip(0.0))
        relevant = partial(judged.__getitem__, result.frame_row_of_entry)
        return Joined(
            users=result.users,
            all_hits=hits,
            convention=in_order,
            rows=JoinedRows(lists=ranked_rows, judged=judged, truth=relevant),
            n_without_relevant=result.n_without_relevant,
            has_gaps=result.has_gaps,
            graded="relevance" in self.judgements,
        )

    def _truth_under(self, convention: Convention) -> Truth:
        """Return the truth under a convention, the same each time if it is kept."""
        kept = self.kept
        if kept is None or kept.judgements is not self.judgements:
            kept = KeptTruth(self.judgements)
        return kept.under(convention)

    def _weights_of(self, truth: pl.DataFrame, convention: Convention) -> Floats:
        """Return 1 / propensity of each row of the truth.

        A row that is not relevant needs no propensity, and has 0.
        """
        least = convention.min_propensity or 0.0
        if least == 1:  # every weight is 1, whatever the propensities are
            return np.ones(truth.height)
        relevant = is_relevant(truth["relevance"].to_numpy(), convention)
        rows = truth.filter(relevant)
        if self.propensity_ids:
            name = "propensity="
            ids = rows.select(self.propensity_ids)
            refuse_lacking(rows["propensity"], ids, "propensity")
        else:
            name = self.judgements.column_in_words("propensity")
            checked(rows, "propensity", name, highest=1.0)
        weight = np.zeros(truth.height)
        weight[relevant] = pair_weights(rows, least, name)
        return weight

    def _join_ids(
        self, recs: pl.DataFrame, truth: Truth, convention: Convention
    ) -> tuple[JoinResult, Truth]:
        """Join; return the truth as well.

        Its repeated pairs are merged first where the convention merges them.
        """
        # Below a list stand the items of all lists, of other parts and models as well.
        all_items = self.items if convention.candidates == "catalogue" else None
        try:
            return join(recs, truth, convention, all_items), truth
        except RepeatError as problem:
            lists = self.lists.with_rows(recs)
            if isinstance(problem, RepeatedRankError):
                if convention.duplicates == "error":
                    lists.refuse_repeated_pairs()
                lists.refuse_repeated_pairs(share_a_rank=True)
                lists.refuse_repeated_ranks()
            if convention.duplicates == "error":
                if isinstance(problem, RepeatedTruthError):
                    self.judgements.with_rows(truth.rows).refuse_repeated_pairs()
                lists.refuse_repeated_pairs()
        # Relevance and propensity are those of one row, the most relevant.
        pairs = truth.rows.group_by(*IDS, maintain_order=True)
        most_relevant = pl.col("relevance").arg_max()
        truth = Truth(pairs.agg(pl.col("relevance", "^propensity$").get(most_relevant)))
        return join(recs, truth, convention, all_items), truth


def _ranked_rows(
    recs: pl.DataFrame, truth: Truth, convention: Convention
) -> pl.DataFrame:
    """Return user, item, rank, and score where there is one, without rows left out.

    Rows are in the order in which they came.
    """
    rank = rank_of_rows(recs, truth, convention)
    table = with_series(recs, pl.Series("rank", rank))
    if convention.score_dtype == "float32" and convention.order == "score":
        scores = single_precision(recs["score"])
        table = with_series(table, pl.Series("score", scores))
    table = table.select(*IDS, "rank", "^score$")
    if rank.all():
        return table
    return table.filter(pl.col("rank") > 0)


def _with_negative_grades(convention: Convention) -> Convention:
    """Return the convention under which grades are read.

    A grade below 0, of what was pooled and not judged, counts 0 once it has left the
    lists.
    """
    if convention.judged_only and convention.negative_relevance == "zero":
        return replace(convention, negative_relevance="keep")
    return convention


def _known_propensities(judgements: Sheet) -> pl.Series:
    """Return the propensities in the column of the truth as numbers, checked.

    Those of rows without one are null or NaN.
    """
    propensity = judgements["propensity"]
    known = judgements.rows.filter(~is_missing(propensity))
    checked(known, "propensity", judgements.column_in_words("propensity"), highest=1.0)
    return propensity.cast(pl.Float64)


def source_of(
    lists: Sheet, judgements: Sheet, keys: Keys = BY_USER, **known: Any
) -> Sheets:
    """Return the source of rows in memory, whose ids must be of one kind."""
    lists.refuse_other_kinds(judgements)
    numbered = keys.numbered(lists), keys.numbered(judgements)
    return Sheets(*numbered, keys=keys, **known)


def source_in_splits(
    lists: Sheet, judgements: Sheet, columns: Sequence[str], **known: Any
) -> Sheets:
    """Return the source of all rows, in memory, whose lists these columns tell apart."""
    keys = SplitKeys.read(lists, judgements, columns) if columns else BY_USER
    return source_of(lists, judgements, keys, **known)


def ranked(lists: Sheet, convention: Convention) -> pl.DataFrame:
    """Return lists as user, item, rank, and score where there is one.

    Repeated pairs are kept or merged by the convention.
    """
    no_judgements = Sheet(TRUTH, lists.rows.select(IDS).clear(), {})
    return Sheets(lists, no_judgements, is_part=True).under(convention).recs


def check_users(
    n_users: int,
    in_both: bool,
    examples: Sequence[Any],
    highest: Any,
    convention: Convention,
) -> None:
    """Raise an error if no user is in both frames, or if none can be averaged.

    `examples` has a user of each frame.
    """
    if not in_both:
        held = (
            f"recommendations hold users such as {examples[0]!r}, truth holds users "
            f"such as {examples[1]!r}"
        )
        fix = "Check that both frames use the same ids, and the user= column."
        raise FrameError(f"no user is in both frames: {held}. {fix}")
    if n_users == 0:
        least = convention.relevant_from
        is_reached = highest > 0 if least is None else highest >= least
        averaged = f"averaged_users={convention.averaged_users!r}"
        if is_reached and convention.averaged_users in ("recs", "both"):
            held = (
                f"{averaged} counts users with a list, and those with one have no list"
            )
            fix = "Give them lists; or say averaged_users='truth', and they count."
        else:
            needed = "above 0" if least is None else f"{least:g} or more"
            held = f"relevance must be {needed} and the highest in the truth is {highest!r}"
            fix = f"Check relevant_from= and {averaged}."
        raise NoUsersError(f"no user that counts has a relevant item: {held}. {fix}")
