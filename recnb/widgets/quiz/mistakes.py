"""Common mistakes, one a line, with the number that each gives; and what else recnb computes of the same list.

A sentence says what went wrong, and how to see it; `words_of` says what may stand in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recnb.conventions import in_words
from recnb.display.language import N_, Sentence
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.hits import Floats
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.exercise import TOP, Exercise


class Mistake(NamedTuple):
    """A number that is not the answer to an exercise, and what it is instead."""

    name: str
    value: float
    sentence: Sentence


@dataclass(frozen=True, eq=False)
class Slip:
    """A common mistake: another option, another metric, or a number of its own."""

    metrics: str  #: those that it is made with; "" for all
    name: str
    number: Mapping[str, Any] | str | Callable[[Exercise], Any]
    sentence: str
    usual: bool = (
        False  #: whether the sentence is true only of the denominator and target that the metric has by default
    )

    def number_in(self, q: Exercise) -> float:
        """Return the number that it gives in an exercise."""
        if isinstance(self.number, Mapping):
            return q.score(**self.number)
        with np.errstate(divide="ignore"):
            return q.score(self.number) if isinstance(self.number, str) else float(self.number(q))

    def mistake(self, q: Exercise, value: float) -> Mistake:
        """Return it with the number that it gives in an exercise, and its sentence."""
        changed = self.number if isinstance(self.number, Mapping) else {}
        return Mistake(self.name, value, Sentence(self.sentence, words_of(q, changed)))


def slips_of(lists: Sequence[Exercise]) -> list[Slip]:
    """Return the slips of a metric whose numbers, in all of some lists, are neither right nor those of a slip before them."""
    if not lists:
        return []
    metric, seen, kept = METRICS[lists[0].metric], {tuple(round(one.value, 9) for one in lists)}, []
    others = any(lists[0].option(name) != metric.defaults.get(name) for name in ("out_of", "ideal", "target"))
    for slip in SLIPS:
        has_option = not isinstance(slip.number, Mapping) or slip.number.keys() <= metric.defaults.keys()
        if has_option and metric.name in (slip.metrics or metric.name).split() and not (slip.usual and others):
            numbers = tuple(round(slip.number_in(one), 9) for one in lists)
            if numbers not in seen:
                seen.add(numbers)
                kept.append(slip)
    return kept


def stop(q: Exercise, less: int = 0) -> Floats:
    """Return the chance of stopping at each hit: of 2^max_relevance, or of one less."""
    return np.asarray((2**q.relevance - 1) / (2 ** q.option("max_relevance") - less))


def reached(stops: Floats) -> Floats:
    """Return the chance that a reader comes to each hit and stops there."""
    return np.asarray(stops * np.cumprod([1.0, *(1 - stops[:-1])]))


def over(q: Exercise, ideal: float) -> float:
    """Put another ideal list in place: return its DCG, or the DCG of the list divided by it."""
    return ideal if q.metric == "idcg" else q.score("dcg") / ideal


def f_score(q: Exercise, beta: float) -> float:
    """Return the F score in which recall is multiplied by `beta`."""
    return (1 + beta) / (beta / q.score("recall") + 1 / q.score("precision"))


NOT_COUNTED = N_(
    "Relevance was added as if it were a gain: this metric uses only whether an item is relevant, so each hit counts 1."
)
OUT_OF_K = N_("The number was divided by k = {depth}: see the denominator in the exercise.")
DISCOUNTED = N_(
    "The discount was {log}(rank + 1) instead of {discount}: see rank {rank}, which was divided by {divided} and should be divided by {divides}."
)

#: In this order they are told of one number. One that gives the right number, or that of one before it, in every list is none.
# fmt: off
SLIPS: tuple[Slip, ...] = (
    Slip("", "linear_gain", {"gain": "linear"}, N_("The relevance itself was taken for the gain, which is {gain}: relevance {top} counts {counts}, not {taken}.")),
    Slip("", "exponential_gain", {"gain": "exponential"}, N_("2^relevance − 1 was taken for the gain, which is {gain}: relevance {top} counts {counts}, not {taken}.")),
    Slip("", "binary_gain", {"gain": "binary"}, N_("Every relevant item was counted 1, but the gain is {gain}: relevance {top} counts {counts}, not {taken}.")),
    Slip("", "log_of_next_rank", {"discount": "log"}, DISCOUNTED),
    Slip("", "log_of_rank", {"discount": "clipped_log"}, N_("The discount was {log}(rank) instead of {discount}, with 1 where that is below 1, as at rank 1. See rank {rank}: it was divided by {divided} and should be divided by {divides}.")),
    Slip("", "rank_discount", {"discount": "rank"}, N_("The gain was divided by the rank itself instead of {discount}: see rank {rank}, which was divided by {divided} and should be divided by {divides}.")),
    Slip("dcg idcg", "base_2", {"log_base": 2}, N_("The logarithm was taken to base 2 instead of {log}: see rank {rank}, which was divided by {divided} and should be divided by {divides}.")),
    Slip("dcg idcg", "natural_log", {"log_base": math.e}, N_("The natural logarithm was taken instead of {log}: see rank {rank}, which was divided by {divided} and should be divided by {divides}.")),
    Slip("dcg idcg", "log_10", {"log_base": 10}, N_("The logarithm was taken to base 10 instead of {log}: see rank {rank}, which was divided by {divided} and should be divided by {divides}.")),
    Slip("", "ideal_relevant", {"ideal": "relevant"}, N_("The ideal list was made of all relevant items; the exercise defines another one.")),
    Slip("", "ideal_of_list", {"ideal": "list"}, N_("The ideal list was made of the recommended items only: relevant items that were missed belong to it.")),
    Slip("", "first_hit", {"target": "first"}, N_("This is the reciprocal rank of the first relevant item: here the most relevant item counts.")),
    Slip("", "preferred", {"target": "preferred"}, N_("This is the reciprocal rank of the most relevant item: the first relevant item counts, however relevant it is.")),
    Slip("recall average_precision", "out_of_relevant", {"out_of": "relevant"}, N_("The number was divided by all {relevant} relevant items: see the denominator in the exercise.")),
    Slip("average_precision", "out_of_hits", {"out_of": "hits"}, N_("The sum was divided by the number of hits: that forgives every relevant item that was not found.")),
    Slip("precision average_precision", "out_of_k", {"out_of": "k"}, OUT_OF_K),
    Slip("hit_rate", "no_cutoff", lambda q: q.score(k=None), N_("The lists were not cut: a hit below rank {depth} counted as one.")),
    Slip("", "no_cutoff", lambda q: q.score(k=None if METRICS[q.metric].over == "hits" else q.k), N_("The list was not cut: all {length} ranks counted, where only the first {depth} do.")),
    Slip("precision", "recall", "recall", N_("This is the recall: the hits were divided by the {relevant} relevant items, and precision divides by the {depth} places shown."), usual=True),
    Slip("recall", "precision", "precision", N_("This is the precision: the hits were divided by the {depth} places shown, and recall divides by the {relevant} relevant items."), usual=True),
    Slip("r_precision", "precision", "precision", N_("This is the precision of the whole list: R-precision uses only as many ranks as there are relevant items, {relevant}.")),
    Slip("r_precision", "whole_list", "recall", N_("Hits of the whole list were counted: only those in the first {relevant} places count, as many as there are relevant items.")),
    Slip("precision", "out_of_length", lambda q: len(q.ranks) / len(q.row), N_("The number was divided by {length}, the length of the whole list: the list counts down to rank {depth} only.")),
    Slip("recall", "out_of_length", lambda q: len(q.ranks) / len(q.row), N_("The hits were divided by {length}, the length of the list, instead of the {relevant} relevant items."), usual=True),
    Slip("average_precision", "out_of_length", lambda q: sum(q.nth / q.ranks) / len(q.row), N_("The sum was divided by {length}, the length of the list: what was shown does not enter the denominator here.")),
    Slip("r_precision", "out_of_length", lambda q: q.value * len(q.truth) / len(q.row), N_("The hits in the first {relevant} places were divided by {length}, the length of the list: they are out of {relevant}.")),
    Slip("precision", "hits_below", lambda q: len({*q.row} & q.truth.keys()) / q.depth, N_("Hits below rank {depth} were counted as well, and divided by {depth}: they are below the cut-off.")),
    Slip("recall", "found_only", lambda q: len(q.ranks) / len({*q.row} & q.truth.keys()), N_("Only the relevant items of the list were counted as relevant: those that it misses are relevant, too, {relevant} in all.")),
    Slip("r_precision", "found_only", lambda q: sum(q.ranks <= len(q.ranks)) / len(q.ranks), N_("R was counted in the list: it is the number of all relevant items, {relevant}, also those that the list misses.")),
    Slip("f1 fbeta", "arithmetic", lambda q: (q.score("precision") + q.score("recall")) / 2, N_("Precision and recall were averaged in the ordinary way: the F score is a harmonic mean, which stays near the lower of the two.")),
    Slip("f1", "geometric", lambda q: (q.score("precision") * q.score("recall")) ** 0.5, N_("This is the geometric mean of precision and recall, the root of their product: the F score is the harmonic mean.")),
    Slip("f1", "no_factor", lambda q: q.value / 2, N_("The factor 2 is missing: with precision and recall both 1, F1 has to be 1.")),
    Slip("fbeta", "no_factor", lambda q: q.value / (1 + q.option("beta") ** 2), N_("The factor 1 + beta² is missing: with precision and recall both 1, the score has to be 1.")),
    Slip("f1", "product", lambda q: q.score("precision") * q.score("recall"), N_("Precision and recall were only multiplied: the F score is twice the product, divided by their sum.")),
    Slip("fbeta", "beta_ignored", "f1", N_("This is F1: precision and recall weigh the same in it, and here beta = {beta}.")),
    Slip("fbeta", "beta_swapped", lambda q: f_score(q, q.option("beta") ** -2), N_("beta² is on the wrong side: in the denominator it multiplies the precision, so that recall weighs more.")),
    Slip("fbeta", "beta_not_squared", lambda q: f_score(q, q.option("beta")), N_("beta was not squared: it enters as beta², here {beta}².")),
    Slip("hit_rate", "count_hits", lambda q: np.mean([len({*row[: q.k]} & truth.keys()) for row, truth in zip(q.lists, q.truths, strict=True)]), N_("Hits were counted, not users: a user with two hits counts 1, as one with a single hit does.")),
    Slip("hit_rate", "count_users", lambda q: q.value * len(q.lists), N_("This is the number of users with a hit: divide it by the number of users, {users}.")),
    Slip("hit_rate", "precision", "precision", N_("This is the mean precision: a user counts 1 with one hit or with several.")),
    Slip("hit_rate", "recall", "recall", N_("This is the mean recall: a user counts 1 with one hit, however many items were missed.")),
    Slip("hit_rate", "all_found", lambda q: np.mean([truth.keys() <= {*row[: q.k]} for row, truth in zip(q.lists, q.truths, strict=True)]), N_("Only users whose relevant items were all found were counted: one hit is enough.")),
    Slip("reciprocal_rank", "last_hit", lambda q: 1 / q.ranks[-1], N_("This is one over the rank of the last hit: the first one counts."), usual=True),
    Slip("reciprocal_rank", "from_zero", lambda q: np.float64(1) / (round(1 / q.value) - 1), N_("Ranks were counted from 0: the top of the list is rank 1.")),
    Slip("reciprocal_rank", "not_inverted", lambda q: 1 / q.value, N_("This is the rank itself: the reciprocal rank is 1 divided by it.")),
    Slip("reciprocal_rank", "mean_of_hits", lambda q: np.mean(1 / q.ranks), N_("One over the rank was averaged over all hits: only one item counts.")),
    Slip("reciprocal_rank", "sum_of_hits", lambda q: sum(1 / q.ranks), N_("One over the rank was added up over all hits: only one item counts.")),
    Slip("reciprocal_rank", "discounted", lambda q: 1 / math.log2(1 / q.value + 1), N_("The discount of DCG was taken, log2(rank + 1): the reciprocal rank divides by the rank itself.")),
    Slip("average_precision", "precision", "precision", N_("This is the precision: average precision takes the precision at the rank of each hit, and adds these up before it divides.")),
    Slip("average_precision", "reciprocal_rank", "reciprocal_rank", N_("This is the reciprocal rank, which uses the first hit only: average precision adds a term for each hit.")),
    Slip("average_precision", "not_divided", lambda q: sum(q.nth / q.ranks), N_("The precisions at the hits were added and not divided: see the denominator in the exercise.")),
    Slip("average_precision", "every_rank", lambda q: np.mean(np.cumsum(q.grades > 0) / np.arange(1, q.depth + 1)), N_("The precision was averaged over all {depth} ranks: it is taken only at the ranks that hold a relevant item.")),
    Slip("average_precision", "not_counted_up", lambda q: sum(1 / q.ranks) * q.value / sum(q.nth / q.ranks), N_("Each hit was counted 1 over its rank: the precision at the second hit is 2 over its rank, at the third 3.")),
    Slip("cg", "discounted", "dcg", N_("This is the DCG: cumulative gain adds the gains without a discount by rank.")),
    Slip("cg", "mean", lambda q: q.value / q.depth, N_("The gains were averaged over the {depth} places: cumulative gain is their sum.")),
    Slip("idcg ndcg", "ideal_uncut", lambda q: over(q, q.score("idcg", k=q.depth + len(q.truth))), N_("The ideal list was not cut: it holds {relevant} items, and counts only down to rank {depth}, as the list does."), usual=True),
    Slip("idcg ndcg", "ideal_of_top", lambda q: over(q, q.with_list(q.row[: q.k]).score("idcg", ideal="list")), N_("Only the first {depth} items of the list were put in their best order: the ideal list chooses from all relevant items."), usual=True),
    Slip("idcg", "unsorted", "dcg", N_("This is the DCG of the list as given: the ideal list starts with the most relevant item.")),
    Slip("ndcg", "not_divided", "dcg", N_("This is the DCG: it is still to be divided by that of the ideal list.")),
    Slip("ndcg", "ideal_alone", "idcg", N_("This is the DCG of the ideal list, IDCG: the DCG of the list is divided by it.")),
    Slip("ndcg", "upside_down", lambda q: 1 / q.value, N_("The division is upside down: the DCG of the list is divided by that of the ideal list, so the value is at most 1.")),
    Slip("ndcg", "list_uncut", lambda q: q.score("dcg", k=None) / q.score("idcg"), N_("The ideal list was cut and the list was not: the DCG counts only the first {depth} ranks, as the IDCG does.")),
    Slip("dcg", "not_discounted", "cg", N_("Nothing was discounted: a gain at rank {rank} is divided by {divides}.")),
    Slip("idcg", "not_discounted", lambda q: q.with_list(sorted(q.truth, key=lambda item: -q.truth[item])).score("cg"), N_("Nothing was discounted: a gain at rank {rank} is divided by {divides}."), usual=True),
    Slip("ndcg", "not_discounted", lambda q: q.score("cg") / q.with_list(sorted(q.truth, key=lambda item: -q.truth[item])).score("cg"), N_("Nothing was discounted, neither in the list nor in the ideal one: a gain at rank {rank} is divided by {divides}."), usual=True),
    Slip("dcg", "normalised", "ndcg", N_("This is the nDCG: DCG is not divided by that of the ideal list.")),
    Slip("dcg", "sorted", "idcg", N_("This is the IDCG: the items were sorted into their best order first; DCG uses the list as given.")),
    Slip("rbp", "no_factor", lambda q: q.value / (1 - q.option("p")), N_("The factor 1 − p = {rest} is missing: with it, the weights of an endless list add up to 1.")),
    Slip("rbp", "one_power_more", lambda q: q.value * q.option("p"), N_("p was raised to the power of the rank: the first rank is always examined, so the power is rank − 1.")),
    Slip("rbp", "p_swapped", lambda q: q.score(p=1 - q.option("p")), N_("p and 1 − p changed places: going on has probability {p}, stopping {rest}.")),
    Slip("rbp", "by_hit", lambda q: 1 - q.option("p") ** len(q.ranks), N_("The power was counted by hits, not by ranks: a reader also goes past items that are not relevant.")),
    Slip("rbp", "out_of_best", lambda q: q.value / (1 - q.option("p") ** q.depth), N_("The sum was divided by what a perfect list of {depth} would earn, 1 − p^{depth}: RBP leaves it as it is.")),
    Slip("err", "no_stopping", lambda q: sum(stop(q) / q.ranks), N_("The chance of getting as far as a rank was left out: who stopped higher up never comes there.")),
    Slip("err", "no_rank", lambda q: sum(reached(stop(q))), N_("The chance of stopping was added up without dividing by the rank.")),
    Slip("err", "log_discount", lambda q: sum(reached(stop(q)) / np.log2(q.ranks + 1)), N_("The chance of stopping was divided by log2(rank + 1), as in DCG: ERR divides by the rank.")),
    Slip("err", "linear_stop", lambda q: sum(reached(q.relevance / q.option("max_relevance")) / q.ranks), N_("The chance of stopping was taken as relevance / {max_relevance}: it is (2^relevance − 1) / 2^{max_relevance}.")),
    Slip("err", "sure_stop", lambda q: sum(reached(stop(q, 1)) / q.ranks), N_("The chance of stopping was divided by 2^{max_relevance} − 1, so that the top grade always stops: it is (2^relevance − 1) / 2^{max_relevance}.")),
    Slip("reciprocal_rank", "graded", lambda q: q.grades[round(1 / q.value) - 1] * q.value, N_("The relevance was divided by the rank: this metric uses only whether an item is relevant, so it is 1 over the rank.")),
    Slip("precision", "graded", lambda q: sum(q.grades) / q.depth, NOT_COUNTED),
    Slip("recall", "graded", lambda q: sum(q.grades) / sum(q.truth.values()), NOT_COUNTED),
    Slip("average_precision", "graded", lambda q: sum(np.cumsum(q.relevance) / q.ranks) * q.value / sum(q.nth / q.ranks), NOT_COUNTED),
    Slip("r_precision", "graded", lambda q: sum(q.grades[: len(q.truth)]) / len(q.truth), NOT_COUNTED),
    Slip("rbp", "graded", lambda q: sum((1 - q.option("p")) * q.option("p") ** (q.ranks - 1) * q.relevance), NOT_COUNTED),
    Slip("cg precision", "one_more", lambda q: q.score(k=q.depth + 1), N_("One rank too many was used: from 0 to {depth} there are {next} ranks, and only the first {depth} count."), usual=True),
    Slip("", "per_cent", lambda q: q.value * (100 if METRICS[q.metric].bounds[1] == 1 else 1), N_("This is the value as a per cent without its sign: type it with %, or divide it by 100.")),
)
# fmt: on

GAINS: dict[str, str] = {
    "linear": N_("the relevance itself"),
    "exponential": N_("2^relevance − 1"),
    "binary": N_("1 for every relevant item"),
}
DISCOUNTS: dict[str, str] = {
    "log": N_("{log}(rank + 1)"),
    "clipped_log": N_("max(1, {log}(rank))"),
    "rank": N_("the rank itself"),
}


def words_of(q: Exercise, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what sentences on an exercise say, under its options and with some changed."""
    metric = METRICS[q.metric]
    right = {name: q.option(name) for name in metric.defaults}
    wrong = {**right, **changed}
    words: dict[str, Any] = {name: number(float(right[name] or TOP)) for name in metric.numbers}
    words |= {"depth": q.depth, "next": q.depth + 1, "length": len(q.row), "relevant": len(q.truth), "top": TOP}
    words |= {"users": len(q.lists), "rest": number(1 - float(right.get("p", 0)))}
    if "gain" in right:
        counts, taken = (number(float(gain_of(np.array([TOP]), how["gain"])[0])) for how in (right, wrong))
        words |= {"gain": Sentence(GAINS[right["gain"]]), "counts": counts, "taken": taken}
    if "discount" in right:
        log = Formula.of("log(rank)", log_base=right["log_base"]).text().partition("(")[0]
        ranks = q.credited_ranks()
        divides, divided = (discount_of(ranks, how["discount"], float(how["log_base"])) for how in (right, wrong))
        # The first hit that the mistake changes; a sentence without another discount is about a discount that is none.
        at = int(np.argmax(divides != (divided if changed else 1)))
        words |= {"log": log, "discount": Sentence(DISCOUNTS[right["discount"]], {"log": log}), "rank": int(ranks[at])}
        words |= {"divides": number(float(divides[at]), 4), "divided": number(float(divided[at]), 4)}
    return words


def others_of(q: Exercise) -> Iterator[Mistake]:
    """Compute what else recnb has of the same lists: by other metrics, under other options, and at other cut-offs."""
    chosen = METRICS[q.metric]
    for name, other in METRICS.items():
        words = {"name": other.term, "label": other.label(q.k), "formula": other.formula_text()}
        yield Mistake(name, q.score(name), Sentence(N_("This is the {name}, {label}: {formula}."), words))
    for option, word in [(option, word) for option, values in chosen.words.items() for word in values]:
        changed: dict[str, Any] = {option: word}
        words = {"label": q.label, "convention": in_words(option, word)}
        told = N_("This is {label} under another convention: {convention}.")
        yield Mistake(word, q.score(**changed), Sentence(told, words))
    for k in range(1, 1 + len(q.row)) if q.k else ():
        told = N_("This is {label}: the exercise is cut at k = {k}.")
        yield Mistake(chosen.label(k), q.score(k=k), Sentence(told, {"label": chosen.label(k), "k": q.k}))
