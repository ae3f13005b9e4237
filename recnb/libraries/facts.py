"""What frames hold that decides whether a convention matters on them: equal scores, repeated pairs, grades, users."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from weakref import WeakKeyDictionary

import polars as pl

from recnb.conventions import Convention
from recnb.data import Source


@dataclass(frozen=True)
class FrameFacts:
    """FrameFacts of two frames, whatever the convention."""

    has_ties: bool  #: whether a list has equal scores, or scores that are equal in single precision
    falls_by_row: bool  #: whether the scores of each list fall from row to row
    agreeing_orders: frozenset[str]  #: the columns that order each list as its rows do
    has_repeats: bool  #: whether a pair is recommended twice
    has_nonpositive_scores: bool
    all_judged_are_listed: bool
    lowest_relevance: float
    lowest_positive_relevance: float
    has_users_without_truth: bool  #: users with a list who are not in the truth
    has_users_without_list: bool

    def idle_axes(self, one: Convention, other: Convention) -> set[str]:
        """Return the decisions of which it makes no difference here how they are made."""
        conventions = (one, other)
        adds_items = any(each.candidates != "list" for each in conventions) and not self.all_judged_are_listed
        idle = {"duplicates"} if not self.has_repeats else set()
        if self.lowest_relevance >= 0:
            idle.add("negative_relevance")
        thresholds = [each.relevant_from for each in conventions if each.relevant_from is not None]
        words = {each.relevant for each in conventions if each.relevant_from is None}
        if max(thresholds, default=0) <= self.lowest_positive_relevance and (
            words <= {">0"} or self.lowest_relevance > 0
        ):
            idle.add("relevant")
        if not self.has_nonpositive_scores and not adds_items:
            idle.add("nonpositive_scores")
        if not self.has_ties:
            idle.add("score_dtype")
            if not adds_items:
                idle.add("ties")
            if {each.order for each in conventions} <= self.agreeing_orders | {"auto"}:
                idle.add("order")
        if self.all_judged_are_listed and "catalogue" not in {each.candidates for each in conventions}:
            idle |= {"judged", "candidates"}
        without_truth = self.has_users_without_truth and any(each.no_relevant != "skip" for each in conventions)
        if not without_truth and not self.has_users_without_list:
            idle.add("users")
        return idle


_FACTS: WeakKeyDictionary[Source, FrameFacts] = WeakKeyDictionary()


def facts_of(source: Source) -> FrameFacts:
    """Return the facts of the frames, computed once."""
    if source not in _FACTS:
        _FACTS[source] = _compute(source.recs, source.truth)
    return _FACTS[source]


def _compute(recs: pl.DataFrame, truth: pl.DataFrame) -> FrameFacts:
    pair, shifted = ["user", "item"], pl.col("user") == pl.col("user").shift(1)
    by_user = recs.select(pl.exclude("item")).sort("user", maintain_order=True)
    agreeing = {"row"}
    if (
        "rank" in recs.columns
        and not by_user.select((shifted & (pl.col("rank") <= pl.col("rank").shift(1))).any()).item()
    ):
        agreeing.add("rank")
    ties = nonpositive = False
    falls = True
    if "score" in recs.columns:
        single = recs.select("user", pl.col("score").cast(pl.Float32))
        ties = bool(single.is_duplicated().any()) or bool(recs.select("user", "score").is_duplicated().any())
        nonpositive = bool((single["score"] <= 0).any())
        falls = not by_user.select((shifted & (pl.col("score") >= pl.col("score").shift(1))).any()).item()
        if falls:
            agreeing.add("score")
    grades = truth["relevance"].cast(pl.Float64) if "relevance" in truth.columns else pl.Series([1.0])
    relevance = grades.drop_nulls().unique()
    return FrameFacts(
        has_ties=ties,
        falls_by_row=falls,
        agreeing_orders=frozenset(agreeing),
        has_repeats=bool(recs.select(pair).is_duplicated().any()),
        has_nonpositive_scores=nonpositive,
        all_judged_are_listed=truth.join(recs, on=pair, how="anti").is_empty(),
        lowest_relevance=min(relevance, default=0.0),
        lowest_positive_relevance=min(relevance.filter(relevance > 0), default=inf),
        has_users_without_truth=not recs["user"].is_in(truth["user"].unique().implode()).all(),
        has_users_without_list=not truth["user"].is_in(recs["user"].unique().implode()).all(),
    )
