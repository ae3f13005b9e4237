"""A slip in one exercise, and the sentence that tells what went wrong and how to see it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from recnb.display.language import N_, _
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList

#: Gains in words.
GAINS: dict[str, str] = {
    "linear": N_("the relevance itself"),
    "exponential": N_("2^relevance − 1"),
    "binary": N_("1 for every relevant item"),
}

#: Discounts in words.
DISCOUNTS: dict[str, str] = {
    "log": N_("{log}(rank + 1)"),
    "clipped_log": N_("max(1, {log}(rank))"),
    "rank": N_("the rank itself"),
}

#: What went wrong: by slip, or by slip and metric.
SLIPS: dict[str, str] = {
    "linear_gain": N_(
        "The relevance itself was taken for the gain, which is {gain}: relevance {top} counts {counts}, not {taken}."
    ),
    "exponential_gain": N_(
        "2^relevance − 1 was taken for the gain, which is {gain}: relevance {top} counts {counts}, not {taken}."
    ),
    "binary_gain": N_(
        "Every relevant item was counted 1, but the gain is {gain}: relevance {top} counts {counts}, not {taken}."
    ),
    "log_of_next_rank": N_(
        "The discount was {log}(rank + 1) instead of {discount}: see rank 3, which was divided by {divided} and "
        "should be divided by {divides}."
    ),
    "log_of_rank": N_(
        "The discount was {log}(rank) instead of {discount}, with 1 where that is below 1, as at rank 1. See "
        "rank 3: it was divided by {divided} and should be divided by {divides}."
    ),
    "rank_discount": N_(
        "The gain was divided by the rank itself instead of {discount}: see rank 3, which was divided by "
        "{divided} and should be divided by {divides}."
    ),
    "base_2": N_(
        "The logarithm was taken to base 2 instead of {log}: see rank 3, which was divided by {divided} and "
        "should be divided by {divides}."
    ),
    "natural_log": N_(
        "The natural logarithm was taken instead of {log}: see rank 3, which was divided by {divided} and should "
        "be divided by {divides}."
    ),
    "log_10": N_(
        "The logarithm was taken to base 10 instead of {log}: see rank 3, which was divided by {divided} and "
        "should be divided by {divides}."
    ),
    "not_discounted": N_("Nothing was discounted: a gain at rank 3 is divided by {divides}, it does not count whole."),
    "not_discounted.ndcg": N_(
        "Nothing was discounted, neither in the list nor in the ideal one: a gain at rank 3 is divided by "
        "{divides} in both."
    ),
    "no_cutoff": N_("The list was not cut: all {length} ranks counted, where only the first {depth} do."),
    "no_cutoff.hit_rate": N_("The lists were not cut: a hit below rank {depth} counted as one."),
    "one_more": N_(
        "One place too many was looked at: counted from 0 to {depth} there are {next} ranks, and only the first "
        "{depth} count."
    ),
    "hits_below": N_(
        "Hits below rank {depth} were counted as well, and divided by {depth}: they stand outside the part that counts."
    ),
    "ideal_uncut": N_(
        "The ideal list was not cut: it holds {relevant} items, and counts only down to rank {depth}, as the list does."
    ),
    "ideal_relevant": N_(
        "The ideal list was made of all relevant items, and another one is asked for: see what the exercise says of it."
    ),
    "ideal_of_list": N_(
        "The ideal list was made of the recommended items only: relevant items that were missed belong to it."
    ),
    "ideal_of_top": N_(
        "Only the first {depth} items of the list were put in their best order: the ideal list chooses from all "
        "relevant items."
    ),
    "unsorted": N_("This is the DCG of the list as it stands: the ideal list starts with the most relevant item."),
    "sorted": N_(
        "This is the IDCG: the items were put in their best order first, and DCG takes the list as it stands."
    ),
    "normalised": N_("This is the nDCG: DCG is not divided by that of the ideal list."),
    "not_divided.ndcg": N_("This is the DCG: it is still to be divided by that of the ideal list."),
    "not_divided.average_precision": N_(
        "The precisions at the hits were added up and not divided: see what the exercise says about the denominator."
    ),
    "recall": N_(
        "This is the recall: the hits were divided by the {relevant} relevant items, and precision divides by "
        "the {depth} places shown."
    ),
    "precision": N_(
        "This is the precision: the hits were divided by the {depth} places shown, and recall divides by the "
        "{relevant} relevant items."
    ),
    "precision.r_precision": N_(
        "This is the precision of the whole list: R-precision looks only at as many places as there are relevant "
        "items, {relevant}."
    ),
    "precision.hit_rate": N_("This is the mean precision: a user counts 1 with one hit or with several."),
    "recall.hit_rate": N_("This is the mean recall: a user counts 1 with one hit, however many items were missed."),
    "out_of_length": N_(
        "The number was divided by {length}, the length of the whole list: the list counts down to rank {depth} only."
    ),
    "out_of_length.recall": N_(
        "The hits were divided by {length}, the length of the list, instead of the {relevant} relevant items."
    ),
    "out_of_length.average_precision": N_(
        "The sum was divided by {length}, the length of the list: what was shown does not enter the denominator here."
    ),
    "out_of_length.r_precision": N_(
        "The hits in the first {relevant} places were divided by {length}, the length of the list: they are out "
        "of {relevant}."
    ),
    "out_of_k": N_("The number was divided by k = {depth}: see what the exercise says about the denominator."),
    "out_of_hits": N_(
        "The sum was divided by the number of hits: that forgives every relevant item that was not found."
    ),
    "out_of_relevant": N_(
        "The number was divided by all {relevant} relevant items: see what the exercise says about the denominator."
    ),
    "found_only": N_(
        "Only the relevant items of the list were counted as relevant: those that it misses are relevant, too, "
        "{relevant} in all."
    ),
    "found_only.r_precision": N_(
        "R was counted in the list: it is the number of all relevant items, {relevant}, also those that the list "
        "misses."
    ),
    "whole_list": N_(
        "Hits of the whole list were counted: only those in the first {relevant} places count, as many as there "
        "are relevant items."
    ),
    "graded": N_(
        "Relevance was added up as if it were a gain: this metric only asks whether an item is relevant, so each "
        "hit counts 1."
    ),
    "graded.reciprocal_rank": N_(
        "The relevance was divided by the rank: this metric only asks whether an item is relevant, so it is 1 "
        "over the rank."
    ),
    "arithmetic": N_(
        "Precision and recall were averaged in the ordinary way: the F score is a harmonic mean, which stays "
        "near the lower of the two."
    ),
    "geometric": N_(
        "This is the geometric mean of precision and recall, the root of their product: the F score is the "
        "harmonic mean."
    ),
    "no_factor.f1": N_("The factor 2 is missing: with precision and recall both 1, F1 has to be 1."),
    "no_factor.fbeta": N_("The factor 1 + beta² is missing: with precision and recall both 1, the score has to be 1."),
    "product": N_("Precision and recall were only multiplied: the F score is twice the product, divided by their sum."),
    "beta_ignored": N_("This is F1: precision and recall weigh the same in it, and here beta = {beta}."),
    "beta_swapped": N_(
        "beta² stands on the wrong side: in the denominator it multiplies the precision, so that recall weighs more."
    ),
    "beta_not_squared": N_("beta was not squared: it enters as beta², here {beta}²."),
    "count_hits": N_("Hits were counted, not users: a user with two hits counts 1, as one with a single hit does."),
    "count_users": N_("This is the number of users with a hit: divide it by the number of users, {users}."),
    "all_found": N_("Only users whose relevant items were all found were counted: one hit is enough."),
    "first_hit": N_("This is the reciprocal rank of the first relevant item: here the most relevant item counts."),
    "preferred": N_(
        "This is the reciprocal rank of the most relevant item: the first relevant item counts, however relevant it is."
    ),
    "last_hit": N_("This is one over the rank of the last hit: the first one counts."),
    "from_zero": N_("Ranks were counted from 0: the top of the list is rank 1."),
    "not_inverted": N_("This is the rank itself: the reciprocal rank is 1 divided by it."),
    "mean_of_hits": N_("One over the rank was averaged over all hits: only one item counts."),
    "sum_of_hits": N_("One over the rank was added up over all hits: only one item counts."),
    "discounted.reciprocal_rank": N_(
        "The discount of DCG was taken, log2(rank + 1): the reciprocal rank divides by the rank itself."
    ),
    "discounted.cg": N_("This is the DCG: cumulative gain adds up the gains as they are, wherever they stand."),
    "every_rank": N_(
        "The precision was averaged over all {depth} ranks: it is taken only at the ranks that hold a relevant item."
    ),
    "not_counted_up": N_(
        "Each hit was counted 1 over its rank: the precision at the second hit is 2 over its rank, at the third 3."
    ),
    "mean": N_("The gains were averaged over the {depth} places: cumulative gain is their sum."),
    "no_factor.rbp": N_("The factor 1 − p = {rest} is missing: with it, the weights of an endless list add up to 1."),
    "one_power_more": N_(
        "p was taken to the power of the rank: the top is looked at in any case, so the power is rank − 1 and "
        "rank 1 has none."
    ),
    "p_swapped": N_("p and 1 − p changed places: going on has probability {p}, stopping {rest}."),
    "by_hit": N_("The power was counted by hits, not by ranks: a reader also goes past items that are not relevant."),
    "out_of_best": N_(
        "The sum was divided by what a perfect list of {depth} would earn, 1 − p^{depth}: RBP leaves it as it is."
    ),
    "no_stopping": N_("The chance of getting as far as a rank was left out: who stopped higher up never comes there."),
    "no_rank": N_("The chance of stopping was added up without dividing by the rank."),
    "log_discount": N_("The chance of stopping was divided by log2(rank + 1), as in DCG: ERR divides by the rank."),
    "linear_stop": N_(
        "The chance of stopping was taken as relevance / {max_relevance}: it is (2^relevance − 1) / 2^{max_relevance}."
    ),
    "sure_stop": N_(
        "The chance of stopping was divided by 2^{max_relevance} − 1, so that the top grade always stops: it is "
        "(2^relevance − 1) / 2^{max_relevance}."
    ),
}


#: What a slip takes for gain, discount and logarithm; the sentence puts it beside what is asked for.
_GAIN_OF_SLIP = {"linear_gain": "linear", "exponential_gain": "exponential", "binary_gain": "binary"}
_DISCOUNT_OF_SLIP = {"log_of_next_rank": "log", "log_of_rank": "clipped_log", "rank_discount": "rank"}
_BASE_OF_SLIP = {"base_2": 2.0, "natural_log": math.e, "log_10": 10.0}


@dataclass(frozen=True)
class Mistake:
    """A slip and the number that it gives in one exercise."""

    name: str
    value: float
    drawn: QuizList

    @property
    def sentence(self) -> str:
        """What went wrong, and how to see it, in the language in force."""
        message = SLIPS.get(f"{self.name}.{self.drawn.metric}") or SLIPS[self.name]
        return _(message, **_fields(self))


def log_name(base: float) -> str:
    """How a logarithm of this base is written.

    >>> log_name(2), log_name(math.e)
    ('log2', 'ln')
    """
    return Formula.of("log(rank)", log_base=base).text().partition("(")[0]


def _fields(slip: Mistake) -> dict[str, Any]:
    drawn = slip.drawn
    fields: dict[str, Any] = {
        "depth": drawn.depth,
        "next": drawn.depth + 1,
        "length": drawn.length,
        "relevant": drawn.n_relevant,
        "users": len(drawn.lists),
    }
    chosen = METRICS[drawn.metric].defaults
    if "gain" in chosen:
        word: Any = _GAIN_OF_SLIP.get(slip.name, drawn.option("gain"))
        top = np.array([float(TOP)])
        fields |= {
            "gain": _(GAINS[drawn.option("gain")]),
            "top": TOP,
            "taken": number(float(gain_of(top, word)[0])),
            "counts": number(float(gain_of(top, drawn.option("gain"))[0])),
        }
    if "discount" in chosen:
        asked, base = drawn.option("discount"), float(drawn.option("log_base"))
        taken = _DISCOUNT_OF_SLIP.get(slip.name, asked)
        fields |= {
            "log": log_name(base),
            "discount": discount_in_words(asked, base),
            "divided": number(_at_rank_3(taken, _BASE_OF_SLIP.get(slip.name, base)), 4),
            "divides": number(_at_rank_3(asked, base), 4),
        }
    fields |= {name: number(float(drawn.option(name))) for name in ("p", "beta", "max_relevance") if name in chosen}
    if "p" in chosen:
        fields["rest"] = number(1 - float(drawn.option("p")))
    return fields


def discount_in_words(word: str, base: float) -> str:
    """A discount as it is written in the language in force."""
    return _(DISCOUNTS[word], log=log_name(base))


def _at_rank_3(word: Any, base: float) -> float:
    return float(discount_of(np.array([3]), word, base)[0])
