"""Common mistakes: the value with a wrong logarithm, denominator or ideal list, and a sentence for each.

Each is a function from the list of an exercise to the number that the mistake gives. Where recnb has the mistake as an
option, because some library computes it so, the number is that option's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recnb.display.language import N_, _
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList

#: Logarithms to this base and above are below 1 for most ranks of a small list.
TOO_FLAT = 5

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

#: The sentence of each mistake, by its name, or by its name and the metric.
SENTENCES: dict[str, str] = {
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
        "One rank too many was used: from 0 to {depth} there are {next} ranks, and only the first {depth} count."
    ),
    "hits_below": N_(
        "Hits below rank {depth} were counted as well, and divided by {depth}: they are below the cut-off."
    ),
    "ideal_uncut": N_(
        "The ideal list was not cut: it holds {relevant} items, and counts only down to rank {depth}, as the list does."
    ),
    "ideal_relevant": N_("The ideal list was made of all relevant items; the exercise defines another one."),
    "ideal_of_list": N_(
        "The ideal list was made of the recommended items only: relevant items that were missed belong to it."
    ),
    "ideal_of_top": N_(
        "Only the first {depth} items of the list were put in their best order: the ideal list chooses from all "
        "relevant items."
    ),
    "unsorted": N_("This is the DCG of the list as given: the ideal list starts with the most relevant item."),
    "sorted": N_("This is the IDCG: the items were sorted into their best order first; DCG uses the list as given."),
    "normalised": N_("This is the nDCG: DCG is not divided by that of the ideal list."),
    "not_divided.ndcg": N_("This is the DCG: it is still to be divided by that of the ideal list."),
    "not_divided.average_precision": N_(
        "The precisions at the hits were added and not divided: see the denominator in the exercise."
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
        "This is the precision of the whole list: R-precision uses only as many ranks as there are relevant items, {relevant}."
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
    "out_of_k": N_("The number was divided by k = {depth}: see the denominator in the exercise."),
    "out_of_hits": N_(
        "The sum was divided by the number of hits: that forgives every relevant item that was not found."
    ),
    "out_of_relevant": N_(
        "The number was divided by all {relevant} relevant items: see the denominator in the exercise."
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
        "Relevance was added as if it were a gain: this metric uses only whether an item is relevant, so each hit counts 1."
    ),
    "graded.reciprocal_rank": N_(
        "The relevance was divided by the rank: this metric uses only whether an item is relevant, so it is 1 over the rank."
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
        "beta² is on the wrong side: in the denominator it multiplies the precision, so that recall weighs more."
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
    "discounted.cg": N_("This is the DCG: cumulative gain adds the gains without a discount by rank."),
    "every_rank": N_(
        "The precision was averaged over all {depth} ranks: it is taken only at the ranks that hold a relevant item."
    ),
    "not_counted_up": N_(
        "Each hit was counted 1 over its rank: the precision at the second hit is 2 over its rank, at the third 3."
    ),
    "mean": N_("The gains were averaged over the {depth} places: cumulative gain is their sum."),
    "no_factor.rbp": N_("The factor 1 − p = {rest} is missing: with it, the weights of an endless list add up to 1."),
    "one_power_more": N_(
        "p was raised to the power of the rank: the first rank is always examined, so the power is rank − 1."
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

#: The options that a mistake uses instead of those of the exercise; its sentence compares both.
_WRONG_OPTION: dict[str, tuple[str, Any]] = {
    "linear_gain": ("gain", "linear"),
    "exponential_gain": ("gain", "exponential"),
    "binary_gain": ("gain", "binary"),
    "log_of_next_rank": ("discount", "log"),
    "log_of_rank": ("discount", "clipped_log"),
    "rank_discount": ("discount", "rank"),
    "base_2": ("log_base", 2.0),
    "natural_log": ("log_base", math.e),
    "log_10": ("log_base", 10.0),
    "ideal_relevant": ("ideal", "relevant"),
    "ideal_of_list": ("ideal", "list"),
    "first_hit": ("target", "first"),
    "preferred": ("target", "preferred"),
}


@dataclass(frozen=True)
class Mistake:
    """A common mistake and the number that it gives in one exercise."""

    name: str
    value: float
    drawn: QuizList

    @property
    def sentence(self) -> str:
        """What went wrong, and how to see it, in the language in force."""
        drawn, defaults = self.drawn, METRICS[self.drawn.metric].defaults
        option, word = _WRONG_OPTION.get(self.name, ("", None))
        values: dict[str, Any] = {
            "depth": drawn.depth,
            "next": drawn.depth + 1,
            "length": drawn.length,
            "relevant": drawn.n_relevant,
            "users": len(drawn.lists),
        }
        if "gain" in defaults:
            right = drawn.option("gain")
            counts, taken = (
                number(float(gain_of(np.array([float(TOP)]), gain)[0]))
                for gain in (right, word if option == "gain" else right)
            )
            values |= {"gain": _(GAINS[right]), "top": TOP, "counts": counts, "taken": taken}
        if "discount" in defaults:
            right = {name: drawn.option(name) for name in ("discount", "log_base")}
            wrong = right | {option: word}
            divides, divided = (
                number(float(discount_of(np.array([3]), how["discount"], float(how["log_base"]))[0]), 4)
                for how in (right, wrong)
            )
            words = discount_in_words(**right)
            values |= {"log": log_name(right["log_base"]), "discount": words, "divides": divides, "divided": divided}
        values |= {
            name: number(float(drawn.option(name))) for name in ("p", "beta", "max_relevance") if name in defaults
        }
        if "p" in defaults:
            values["rest"] = number(1 - float(drawn.option("p")))
        return _(SENTENCES.get(f"{self.name}.{drawn.metric}") or SENTENCES[self.name], **values)


def log_name(base: float) -> str:
    """Return how a logarithm of this base is written.

    >>> log_name(2), log_name(math.e)
    ('log2', 'ln')
    """
    return Formula.of("log(rank)", log_base=base).text().partition("(")[0]


def discount_in_words(discount: str, log_base: float) -> str:
    """Return how a discount is written, in the language in force."""
    return _(DISCOUNTS[discount], log=log_name(log_base))


@dataclass(frozen=True)
class Kind:
    """One kind of mistake with a metric."""

    name: str
    wrong: Callable[[QuizList], float]
    when: Callable[[QuizList], bool] = lambda drawn: True  #: whether it is a mistake under the options of the exercise


def mistakes_of(drawn: QuizList) -> tuple[Mistake, ...]:
    """Return every mistake that can be made in an exercise, with its number."""
    return tuple(Mistake(kind.name, kind.wrong(drawn), drawn) for kind in _kinds(drawn.metric) if kind.when(drawn))


def names_of(metric: str) -> tuple[str, ...]:
    """Return the names of a metric's mistakes, under any options."""
    return tuple(kind.name for kind in _kinds(metric))


def _kinds(metric: str) -> Sequence[Kind]:
    """Return the mistakes with a metric's options, and those recorded for it or else those of every metric."""
    return [*_of_options(metric), *BY_HAND.get(metric, (_CUT, _DEEPER))]


# Mistakes that are another word of an option.


def _of_options(metric: str) -> list[Kind]:
    """Return the mistakes of using another option than that of the exercise."""
    # The base of the logarithm cancels between the list and the ideal one, so it is no mistake with NDCG.
    options = METRICS[metric].defaults.keys() - ({"log_base"} if metric == "ndcg" else set())
    return [_of_option(name, *changed) for name, changed in _WRONG_OPTION.items() if changed[0] in options]


def _of_option(name: str, option: str, word: Any) -> Kind:
    def when(drawn: QuizList) -> bool:
        if option == "log_base":
            # With base 10, a logarithm that is clipped at 1 hardly differs from 1 in a list this short.
            discounts = ("log", "clipped_log") if word < TOO_FLAT else ("log",)
            return drawn.option("discount") in discounts and not math.isclose(drawn.option("log_base"), word)
        if name == "log_of_rank" and drawn.option("log_base") >= TOO_FLAT:
            return False
        if name == "ideal_of_list":
            return _all_relevant(drawn)
        return bool(drawn.option(option) != word)

    return Kind(name, lambda drawn: drawn.score(**{option: word}), when)


def _denominator(name: str, word: str, *instead_of: str) -> Kind:
    """The mistake of using another denominator."""
    return Kind(name, lambda drawn: drawn.score(out_of=word), _out_of(*instead_of))


def _out_of(*words: str) -> Callable[[QuizList], bool]:
    return lambda drawn: drawn.option("out_of") in words


def _all_relevant(drawn: QuizList) -> bool:
    """Whether the ideal list is that of all relevant items, as nearly everywhere."""
    return bool(drawn.option("ideal") == "relevant")


# Mistakes that are a line of arithmetic.


def _sum_of_reciprocals(drawn: QuizList) -> float:
    return sum(1 / rank for rank, _grade in drawn.hits)


def _rank_counted(drawn: QuizList) -> int:
    """The rank whose reciprocal is taken."""
    return round(1 / drawn.score())


def _precisions(drawn: QuizList) -> float:
    """The sum that average precision divides."""
    return drawn.score(out_of="relevant") * drawn.n_relevant


def _every_rank(drawn: QuizList) -> float:
    n_hits = np.cumsum([grade > 0 for grade in drawn.grades[: drawn.depth]])
    return float(np.mean(n_hits / np.arange(1, drawn.depth + 1)))


def _graded_average(drawn: QuizList) -> float:
    running = np.cumsum(drawn.grades[: drawn.depth])
    return float(sum(running[rank - 1] / rank for rank, _grade in drawn.hits)) * drawn.score() / _precisions(drawn)


def _ideal(drawn: QuizList, grades: Sequence[float], depth: int, *, discounted: bool = True) -> float:
    """The DCG of these grades from the highest down, under the options of the exercise."""
    best = np.array(sorted(grades, reverse=True)[:depth], dtype=np.float64)
    ranks = np.arange(1, len(best) + 1)
    discount = discount_of(ranks, drawn.option("discount"), drawn.option("log_base")) if discounted else 1.0
    return float(np.sum(gain_of(best, drawn.option("gain")) / discount))


def _ideal_uncut(drawn: QuizList) -> float:
    return _ideal(drawn, [*drawn.truth.values()], drawn.n_relevant)


def _ideal_of_top(drawn: QuizList) -> float:
    return _ideal(drawn, [grade for _rank, grade in drawn.hits], drawn.depth)


def _ideal_undiscounted(drawn: QuizList) -> float:
    return _ideal(drawn, [*drawn.truth.values()], drawn.depth, discounted=False)


def _weights(drawn: QuizList, power: int = -1) -> list[float]:
    """Powers of p: the rank of each hit plus `power`."""
    return [drawn.option("p") ** (rank + power) for rank, _grade in drawn.hits]


def _stops(drawn: QuizList) -> list[float]:
    """The probability that a reader who reaches a hit stops there."""
    return [(2.0**grade - 1) / 2.0 ** drawn.option("max_relevance") for _rank, grade in drawn.hits]


def _cascade(drawn: QuizList, stops: Sequence[float] | None = None, discount: Callable[[int], float] = float) -> float:
    """ERR with other probabilities of stopping, or another discount of ranks."""
    total, reach = 0.0, 1.0
    for stop, (rank, _grade) in zip(_stops(drawn) if stops is None else stops, drawn.hits, strict=True):
        total += reach * stop / discount(rank)
        reach *= 1 - stop
    return total


def _n_hits(drawn: QuizList, depth: int | None = None) -> int:
    """The number of hits down to a depth, by default in the whole list."""
    return sum(grade > 0 for grade in drawn.grades[:depth])


def _r(drawn: QuizList) -> int:
    """The depth of R-precision."""
    return min(drawn.n_relevant, drawn.length)


def _hits_of_users(drawn: QuizList) -> list[tuple[int, int]]:
    """The number of hits and of relevant items of each user."""
    pairs = zip(drawn.lists, drawn.truths, strict=True)
    return [(len({*items[: drawn.depth]} & truth.keys()), len(truth)) for items, truth in pairs]


def _has_beta(drawn: QuizList) -> bool:
    return bool(drawn.option("beta") != 1)


_CUT = Kind("no_cutoff", lambda d: d.score(whole=True))
_DEEPER = Kind("one_more", lambda d: d.score(deeper=1))
_ARITHMETIC = Kind("arithmetic", lambda d: (d.score("precision") + d.score("recall")) / 2)

_AT_MOST = ("min(k, relevant)", "min(list, relevant)")

BY_HAND: Mapping[str, Sequence[Kind]] = {
    "precision": (
        _denominator("out_of_k", "k", *_AT_MOST),
        _CUT,
        Kind("recall", lambda d: d.score("recall"), _out_of("k", "list")),
        Kind("out_of_length", lambda d: len(d.hits) / d.length),
        Kind("hits_below", lambda d: _n_hits(d) / d.depth),
        Kind("graded", lambda d: sum(grade for _rank, grade in d.hits) / d.depth),
        _DEEPER,
    ),
    "recall": (
        _denominator("out_of_relevant", "relevant", *_AT_MOST),
        _CUT,
        Kind("precision", lambda d: d.score("precision"), _out_of("relevant")),
        Kind("out_of_length", lambda d: len(d.hits) / d.length, _out_of("relevant")),
        Kind("found_only", lambda d: len(d.hits) / _n_hits(d)),
        Kind("graded", lambda d: sum(grade for _rank, grade in d.hits) / sum(d.truth.values())),
    ),
    "f1": (
        _CUT,
        _ARITHMETIC,
        Kind("geometric", lambda d: math.sqrt(d.score("precision") * d.score("recall"))),
        Kind("no_factor", lambda d: d.score() / 2),
        Kind("product", lambda d: d.score("precision") * d.score("recall")),
    ),
    "fbeta": (
        _CUT,
        _ARITHMETIC,
        Kind("no_factor", lambda d: d.score() / (1 + d.option("beta") ** 2)),
        Kind("beta_ignored", lambda d: d.score("f1"), _has_beta),
        Kind("beta_swapped", lambda d: d.score(beta=1 / d.option("beta")), _has_beta),
        Kind("beta_not_squared", lambda d: d.score(beta=math.sqrt(d.option("beta"))), _has_beta),
    ),
    "hit_rate": (
        _CUT,
        Kind("count_hits", lambda d: sum(n_hits for n_hits, _n in _hits_of_users(d)) / len(d.lists)),
        Kind("count_users", lambda d: d.score() * len(d.lists)),
        Kind("precision", lambda d: d.score("precision")),
        Kind("recall", lambda d: d.score("recall")),
        Kind("all_found", lambda d: sum(n_hits == n for n_hits, n in _hits_of_users(d)) / len(d.lists)),
    ),
    "reciprocal_rank": (
        Kind("last_hit", lambda d: 1 / d.hits[-1][0], lambda d: bool(d.option("target") == "first")),
        Kind("from_zero", lambda d: 1 / (_rank_counted(d) - 1) if _rank_counted(d) > 1 else math.inf),
        Kind("not_inverted", lambda d: float(_rank_counted(d))),
        Kind("mean_of_hits", lambda d: _sum_of_reciprocals(d) / len(d.hits)),
        Kind("sum_of_hits", _sum_of_reciprocals),
        Kind("discounted", lambda d: 1 / math.log2(_rank_counted(d) + 1)),
        Kind("graded", lambda d: d.grades[_rank_counted(d) - 1] / _rank_counted(d)),
    ),
    "average_precision": (
        _denominator("out_of_relevant", "relevant", "k", "list", "hits", *_AT_MOST),
        _denominator("out_of_hits", "hits", "k", "list", "relevant", *_AT_MOST),
        _denominator("out_of_k", "k", "relevant", "hits"),
        _CUT,
        Kind("out_of_length", lambda d: _precisions(d) / d.length),
        Kind("not_divided", _precisions),
        Kind("every_rank", _every_rank),
        Kind("not_counted_up", lambda d: _sum_of_reciprocals(d) * d.score() / _precisions(d)),
        Kind("graded", _graded_average),
    ),
    "cg": (
        _CUT,
        Kind("discounted", lambda d: d.score("dcg")),
        Kind("mean", lambda d: d.score() / d.depth),
        _DEEPER,
    ),
    "dcg": (
        _CUT,
        Kind("not_discounted", lambda d: d.score("cg")),
        Kind("normalised", lambda d: d.score("ndcg")),
        Kind("sorted", lambda d: d.score("idcg")),
    ),
    "idcg": (
        Kind("ideal_uncut", _ideal_uncut, _all_relevant),
        Kind("ideal_of_top", _ideal_of_top, _all_relevant),
        Kind("unsorted", lambda d: d.score("dcg")),
        Kind("not_discounted", _ideal_undiscounted, _all_relevant),
    ),
    "ndcg": (
        _CUT,
        Kind("ideal_uncut", lambda d: d.score("dcg") / _ideal_uncut(d), _all_relevant),
        Kind("ideal_of_top", lambda d: d.score("dcg") / _ideal_of_top(d), _all_relevant),
        Kind("not_divided", lambda d: d.score("dcg")),
        Kind("not_discounted", lambda d: d.score("cg") / _ideal_undiscounted(d), _all_relevant),
    ),
    "r_precision": (
        Kind("precision", lambda d: _n_hits(d) / d.length),
        Kind("whole_list", lambda d: _n_hits(d) / d.n_relevant),
        Kind("out_of_length", lambda d: _n_hits(d, _r(d)) / d.length),
        Kind("found_only", lambda d: _n_hits(d, _n_hits(d)) / _n_hits(d)),
        Kind("graded", lambda d: sum(d.grades[: _r(d)]) / d.n_relevant),
    ),
    "rbp": (
        _CUT,
        Kind("no_factor", lambda d: sum(_weights(d))),
        Kind("one_power_more", lambda d: (1 - d.option("p")) * sum(_weights(d, 0))),
        Kind("p_swapped", lambda d: d.score(p=1 - d.option("p")), lambda d: not math.isclose(d.option("p"), 0.5)),
        Kind("by_hit", lambda d: 1 - d.option("p") ** len(d.hits)),
        Kind("out_of_best", lambda d: d.score() / (1 - d.option("p") ** d.depth)),
        Kind(
            "graded",
            lambda d: (1 - d.option("p")) * sum(w * g for w, (_rank, g) in zip(_weights(d), d.hits, strict=True)),
        ),
    ),
    "err": (
        _CUT,
        Kind("no_stopping", lambda d: sum(stop / rank for stop, (rank, _grade) in zip(_stops(d), d.hits, strict=True))),
        Kind("no_rank", lambda d: _cascade(d, discount=lambda rank: 1.0)),
        Kind("log_discount", lambda d: _cascade(d, discount=lambda rank: math.log2(rank + 1))),
        Kind("linear_stop", lambda d: _cascade(d, [grade / d.option("max_relevance") for _rank, grade in d.hits])),
        Kind(
            "sure_stop",
            lambda d: _cascade(
                d, [(2.0**grade - 1) / (2.0 ** d.option("max_relevance") - 1) for _rank, grade in d.hits]
            ),
        ),
    ),
}
