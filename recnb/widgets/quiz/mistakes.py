"""The usual slips: what one works out who takes the wrong logarithm, the wrong denominator, the wrong ideal list.

Each is a function from a drawn list to the number that the slip gives. Where recnb has the slip as an option, because
some library computes it so, the number is that option's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recnb.metrics.gain import discount_of, gain_of
from recnb.widgets.quiz.list import QuizList
from recnb.widgets.quiz.wording import Mistake

#: Logarithms to this base and above are below 1 for most ranks of a small list.
TOO_FLAT = 5

Wrong = Callable[[QuizList], float]
When = Callable[[QuizList], bool]


@dataclass(frozen=True)
class Kind:
    """One way to go wrong with a metric."""

    name: str
    wrong: Wrong
    when: When = lambda drawn: True  #: whether it is a slip under the options that are asked for


def slips_of(drawn: QuizList) -> tuple[Mistake, ...]:
    """Every slip that can be made here, with its number."""
    kinds = [*BY_OPTION.get(drawn.metric, ()), *BY_HAND.get(drawn.metric, ())]
    return tuple(Mistake(kind.name, kind.wrong(drawn), drawn) for kind in kinds if kind.when(drawn))


def names_of(metric: str) -> tuple[str, ...]:
    """The slips that belong to a metric, in any convention."""
    return tuple(kind.name for kind in (*BY_OPTION.get(metric, ()), *BY_HAND.get(metric, ())))


# Slips that are another word of an option.


def _word(name: str, option: str, word: object) -> Kind:
    """The slip of taking another word for an option than the one asked for."""
    changed: dict[str, Any] = {option: word}
    return Kind(name, lambda drawn: drawn.score(**changed), lambda drawn: drawn.option(option) != word)


def _capped(name: str, word: str) -> Kind:
    """The slip of dividing as usual where what could have been found was asked for."""
    return Kind(name, lambda drawn: drawn.score(out_of=word), lambda drawn: drawn.option("out_of").startswith("min"))


def _base(name: str, base: float) -> Kind:
    def matters(drawn: QuizList) -> bool:
        # A logarithm that is clipped at 1 hardly differs from 1 in a list this short, if its base is 10.
        where = ("log", "clipped_log") if base < TOO_FLAT else ("log",)
        return drawn.option("discount") in where and not math.isclose(drawn.option("log_base"), base)

    return Kind(name, lambda drawn: drawn.score(log_base=base), matters)


def _clipped(drawn: QuizList) -> bool:
    return bool(drawn.option("discount") != "clipped_log" and drawn.option("log_base") < TOO_FLAT)


def _all_relevant(drawn: QuizList) -> bool:
    """Whether the ideal list is that of all relevant items, as nearly everywhere."""
    return bool(drawn.option("ideal") == "relevant")


_GAINS = (
    _word("linear_gain", "gain", "linear"),
    _word("exponential_gain", "gain", "exponential"),
    _word("binary_gain", "gain", "binary"),
)
_DISCOUNTS = (
    _word("log_of_next_rank", "discount", "log"),
    Kind("log_of_rank", lambda drawn: drawn.score(discount="clipped_log"), _clipped),
    _word("rank_discount", "discount", "rank"),
)
_BASES = (_base("base_2", 2), _base("natural_log", math.e), _base("log_10", 10))
_IDEALS = (
    _word("ideal_relevant", "ideal", "relevant"),
    Kind("ideal_of_list", lambda drawn: drawn.score(ideal="list"), _all_relevant),
)

BY_OPTION: Mapping[str, Sequence[Kind]] = {
    "precision": (_capped("out_of_k", "k"),),
    "recall": (_capped("out_of_relevant", "relevant"),),
    "reciprocal_rank": (_word("first_hit", "target", "first"), _word("preferred", "target", "preferred")),
    "average_precision": (
        _word("out_of_relevant", "out_of", "relevant"),
        _word("out_of_hits", "out_of", "hits"),
        Kind(
            "out_of_k",
            lambda drawn: drawn.score(out_of="k"),
            lambda drawn: drawn.option("out_of") in ("relevant", "hits"),
        ),
    ),
    "cg": _GAINS,
    "dcg": (*_GAINS, *_DISCOUNTS, *_BASES),
    "idcg": (*_GAINS, *_DISCOUNTS, *_BASES, *_IDEALS),
    # The logarithm's base cancels between the list and the ideal one, so it is no slip of NDCG.
    "ndcg": (*_GAINS, *_DISCOUNTS, *_IDEALS),
}


# Slips that are a line of arithmetic.


def _no_cutoff(drawn: QuizList) -> float:
    return drawn.score(whole=True)


def _one_more(drawn: QuizList) -> float:
    return drawn.score(deeper=1)


def _found(drawn: QuizList) -> int:
    return len(drawn.hits)


def _collected(drawn: QuizList) -> float:
    return sum(grade for _, grade in drawn.hits)


def _in_list(drawn: QuizList) -> int:
    return sum(grade > 0 for grade in drawn.grades)


def _precision(drawn: QuizList) -> float:
    return drawn.score("precision")


def _recall(drawn: QuizList) -> float:
    return drawn.score("recall")


def _arithmetic(drawn: QuizList) -> float:
    return (_precision(drawn) + _recall(drawn)) / 2


def _geometric(drawn: QuizList) -> float:
    return math.sqrt(_precision(drawn) * _recall(drawn))


def _no_factor(drawn: QuizList) -> float:
    return drawn.score() / (1 + drawn.option("beta") ** 2 if drawn.metric == "fbeta" else 2)


def _sum_of_reciprocals(drawn: QuizList) -> float:
    return sum(1 / rank for rank, _ in drawn.hits)


def _counted(drawn: QuizList) -> int:
    """The rank that the reciprocal rank asks for."""
    return round(1 / drawn.score())


def _every_rank(drawn: QuizList) -> float:
    found = np.cumsum([grade > 0 for grade in drawn.grades[: drawn.depth]])
    return float(np.mean(found / np.arange(1, drawn.depth + 1)))


def _graded_average(drawn: QuizList) -> float:
    running = np.cumsum(drawn.grades[: drawn.depth])
    return float(sum(running[rank - 1] / rank for rank, _ in drawn.hits)) / _divisor(drawn)


def _precisions(drawn: QuizList) -> float:
    """The sum that average precision divides."""
    return drawn.score(out_of="relevant") * drawn.n_relevant


def _ideal(drawn: QuizList, grades: Sequence[float], depth: int) -> float:
    """The DCG of these grades from the highest down, under the options asked for."""
    best = np.array(sorted(grades, reverse=True)[:depth], dtype=np.float64)
    return float(np.sum(gain_of(best, drawn.option("gain")) / _discount(drawn, np.arange(1, len(best) + 1))))


def _discount(drawn: QuizList, ranks: Any) -> Any:
    return discount_of(ranks, drawn.option("discount"), drawn.option("log_base"))


def _over(drawn: QuizList, ideal: float) -> float:
    return drawn.score("dcg") / ideal


def _all_grades(drawn: QuizList) -> list[float]:
    return list(drawn.truth.values())


def _undiscounted_ideal(drawn: QuizList) -> float:
    gains = gain_of(np.array(sorted(_all_grades(drawn), reverse=True)[: drawn.depth], float), drawn.option("gain"))
    return float(gains.sum())


def _weights(drawn: QuizList, power: int = 0) -> list[float]:
    """Patience to the power of each hit's rank, or of so many less."""
    return [drawn.option("p") ** (rank + power) for rank, _ in drawn.hits]


def _rest(drawn: QuizList) -> float:
    return 1.0 - float(drawn.option("p"))


def _stops(drawn: QuizList) -> list[float]:
    """The chance that a reader stops at each hit who gets there."""
    return [(2.0**grade - 1) / 2.0 ** drawn.option("max_relevance") for _, grade in drawn.hits]


def _cascade(drawn: QuizList, stops: Sequence[float], discounts: Sequence[float]) -> float:
    total, reach = 0.0, 1.0
    for stop, discount in zip(stops, discounts, strict=True):
        total += reach * stop / discount
        reach *= 1 - stop
    return total


def _ranks(drawn: QuizList) -> list[float]:
    return [rank for rank, _ in drawn.hits]


def _reach(drawn: QuizList) -> int:
    """How deep R-precision looks."""
    return min(drawn.n_relevant, drawn.length)


def _hits_to(drawn: QuizList, depth: int) -> int:
    return sum(grade > 0 for grade in drawn.grades[:depth])


def _users(drawn: QuizList) -> list[tuple[set[str], set[str]]]:
    """Of each user, what was shown and what is relevant."""
    pairs = zip(drawn.lists, drawn.truths, strict=True)
    return [(set(row[: drawn.depth]), set(truth)) for row, truth in pairs]


def _out_of(*words: str) -> When:
    return lambda drawn: drawn.option("out_of") in words


def _divisor(drawn: QuizList) -> float:
    """What average precision divides by."""
    return _precisions(drawn) / drawn.score()


def _has_beta(drawn: QuizList) -> bool:
    return bool(drawn.option("beta") != 1)


_CUT = Kind("no_cutoff", _no_cutoff)

BY_HAND: Mapping[str, Sequence[Kind]] = {
    "precision": (
        _CUT,
        Kind("recall", _recall, _out_of("k", "list")),
        Kind("out_of_length", lambda d: _found(d) / d.length),
        Kind("hits_below", lambda d: _in_list(d) / d.depth),
        Kind("graded", lambda d: _collected(d) / d.depth),
        Kind("one_more", _one_more),
    ),
    "recall": (
        _CUT,
        Kind("precision", _precision, _out_of("relevant")),
        Kind("out_of_length", lambda d: _found(d) / d.length, _out_of("relevant")),
        Kind("found_only", lambda d: _found(d) / _in_list(d)),
        Kind("graded", lambda d: _collected(d) / sum(_all_grades(d))),
    ),
    "f1": (
        _CUT,
        Kind("arithmetic", _arithmetic),
        Kind("geometric", _geometric),
        Kind("no_factor", _no_factor),
        Kind("product", lambda d: _precision(d) * _recall(d)),
    ),
    "fbeta": (
        _CUT,
        Kind("arithmetic", _arithmetic),
        Kind("no_factor", _no_factor),
        Kind("beta_ignored", lambda d: d.score("f1"), _has_beta),
        Kind("beta_swapped", lambda d: d.score(beta=1 / d.option("beta")), _has_beta),
        Kind("beta_not_squared", lambda d: d.score(beta=math.sqrt(d.option("beta"))), _has_beta),
    ),
    "hit_rate": (
        _CUT,
        Kind("count_hits", lambda d: sum(len(shown & liked) for shown, liked in _users(d)) / len(d.lists)),
        Kind("count_users", lambda d: d.score() * len(d.lists)),
        Kind("precision", _precision),
        Kind("recall", _recall),
        Kind("all_found", lambda d: sum(liked <= shown for shown, liked in _users(d)) / len(d.lists)),
    ),
    "reciprocal_rank": (
        Kind("last_hit", lambda d: 1 / d.hits[-1][0], lambda d: bool(d.option("target") == "first")),
        Kind("from_zero", lambda d: 1 / (_counted(d) - 1) if _counted(d) > 1 else math.inf),
        Kind("not_inverted", lambda d: float(_counted(d))),
        Kind("mean_of_hits", lambda d: _sum_of_reciprocals(d) / _found(d)),
        Kind("sum_of_hits", _sum_of_reciprocals),
        Kind("discounted", lambda d: 1 / math.log2(_counted(d) + 1)),
        Kind("graded", lambda d: d.grades[_counted(d) - 1] / _counted(d)),
    ),
    "average_precision": (
        _CUT,
        Kind("out_of_length", lambda d: _precisions(d) / d.length),
        Kind("not_divided", _precisions),
        Kind("every_rank", _every_rank),
        Kind("not_counted_up", lambda d: _sum_of_reciprocals(d) / _divisor(d)),
        Kind("graded", _graded_average),
    ),
    "cg": (
        _CUT,
        Kind("discounted", lambda d: d.score("dcg")),
        Kind("mean", lambda d: d.score() / d.depth),
        Kind("one_more", _one_more),
    ),
    "dcg": (
        _CUT,
        Kind("not_discounted", lambda d: d.score("cg")),
        Kind("normalised", lambda d: d.score("ndcg")),
        Kind("sorted", lambda d: d.score("idcg")),
    ),
    "idcg": (
        Kind("ideal_uncut", lambda d: _ideal(d, _all_grades(d), d.n_relevant), _all_relevant),
        Kind("ideal_of_top", lambda d: _ideal(d, [grade for _, grade in d.hits], d.depth), _all_relevant),
        Kind("unsorted", lambda d: d.score("dcg")),
        Kind("not_discounted", _undiscounted_ideal, _all_relevant),
    ),
    "ndcg": (
        _CUT,
        Kind("ideal_uncut", lambda d: _over(d, _ideal(d, _all_grades(d), d.n_relevant)), _all_relevant),
        Kind("ideal_of_top", lambda d: _over(d, _ideal(d, [grade for _, grade in d.hits], d.depth)), _all_relevant),
        Kind("not_divided", lambda d: d.score("dcg")),
        Kind("not_discounted", lambda d: d.score("cg") / _undiscounted_ideal(d), _all_relevant),
    ),
    "r_precision": (
        Kind("precision", lambda d: _in_list(d) / d.length),
        Kind("whole_list", lambda d: _in_list(d) / d.n_relevant),
        Kind("out_of_length", lambda d: _hits_to(d, _reach(d)) / d.length),
        Kind("found_only", lambda d: _hits_to(d, _in_list(d)) / _in_list(d)),
        Kind("graded", lambda d: sum(d.grades[: _reach(d)]) / d.n_relevant),
    ),
    "rbp": (
        _CUT,
        Kind("no_factor", lambda d: sum(_weights(d, -1))),
        Kind("one_power_more", lambda d: _rest(d) * sum(_weights(d))),
        Kind("p_swapped", lambda d: d.score(p=_rest(d)), lambda d: not math.isclose(d.option("p"), 0.5)),
        Kind("by_hit", lambda d: 1 - d.option("p") ** _found(d)),
        Kind("out_of_best", lambda d: d.score() / (1 - d.option("p") ** d.depth)),
        Kind("graded", lambda d: _rest(d) * sum(w * g for w, (_, g) in zip(_weights(d, -1), d.hits, strict=True))),
    ),
    "err": (
        _CUT,
        Kind("no_stopping", lambda d: sum(stop / rank for stop, rank in zip(_stops(d), _ranks(d), strict=True))),
        Kind("no_rank", lambda d: _cascade(d, _stops(d), [1.0] * _found(d))),
        Kind("log_discount", lambda d: _cascade(d, _stops(d), [math.log2(rank + 1) for rank in _ranks(d)])),
        Kind(
            "linear_stop",
            lambda d: _cascade(d, [grade / d.option("max_relevance") for _, grade in d.hits], _ranks(d)),
        ),
        Kind(
            "sure_stop",
            lambda d: _cascade(d, [(2.0**g - 1) / (2.0 ** d.option("max_relevance") - 1) for _, g in d.hits], _ranks(d)),
        ),
    ),
}  # fmt: skip
