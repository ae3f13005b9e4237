"""An exercise, how one is drawn, and what a wrong number is: a common slip, or another
option, cut-off or metric of recnb's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, NamedTuple, Self

import numpy as np

from recnb.conventions import in_words, options_in_words
from recnb.display.language import N_, _
from recnb.metrics.formula import number
from recnb.metrics.gain import discount_of
from recnb.metrics.hits import Floats
from recnb.metrics.measure import Measure
from recnb.metrics.metric import METRICS
from recnb.results.single_list import Pair, hits_of

LETTERS = "ABCDEFGHJKLMNPQRST"  # I and O are too easily read as 1 and 0

#: The highest grade of an exercise.
TOP = 3

#: Options that mean the same in every metric that has them; a denominator is a metric's
#: own.
SHARED = {"gain", "discount", "log_base", "ideal"}

Draw = tuple[int, list[list[str]], list[dict[str, float]]]


@dataclass(eq=False, repr=False)
class Exercise:
    """One or several lists with their truths, and the metric to be worked out."""

    metric: str
    options: Mapping[str, Any]  #: all options of the metric
    k: int | None  #: the cut-off; None for R-precision, which has its own depth
    lists: list[list[str]]  #: the items of each user, from rank 1 down
    truths: list[
        dict[str, float]
    ]  #: relevant item -> grade, of a drawn one in alphabetical order

    def __post_init__(self) -> None:
        pairs = [*zip(self.lists, self.truths, strict=True)]
        self._hits = hits_of(
            [
                Pair(row, [truth.get(i, 0) for i in row], [*truth.items()])
                for row, truth in pairs
            ]
        )
        self.value: float = self.score()
        self.label: str = METRICS[self.metric].label(self.k)
        self.n_hits: list[int] = [
            len({*row[: self.k]} & truth.keys()) for row, truth in pairs
        ]
        # Of the one list that all metrics but the hit rate have; arrays are of the
        # ranks that count, and of their hits.
        self.row: list[str] = self.lists[0]
        self.truth: dict[str, float] = self.truths[0]
        self.depth: int = self.k or len(self.row)
        self.grades: Floats = np.array(
            [self.truth.get(item, 0.0) for item in self.row[: self.k]]
        )
        self.ranks: Floats = 1 + np.flatnonzero(self.grades).astype(np.float64)
        self.relevance: Floats = self.grades[self.grades > 0]
        self.nth: Floats = np.arange(1.0, len(self.ranks) + 1)

    def score(self, metric: str = "", *, k: int | None = -1, **changed: Any) -> float:
        """Compute a metric of the lists, with some options changed or at another
        cut-off than that of the exercise.
        """
        options = {**(self.shared(metric) if metric else self.options), **changed}
        return float(
            METRICS[metric or self.metric]
            .at(self._hits, self.k if k == -1 else k, options)
            .value.mean()
        )

    def shared(self, metric: str) -> dict[str, Any]:
        """Return the options that another metric has as well, with the same meaning."""
        return {
            name: self.options[name]
            for name in SHARED & self.options.keys() & METRICS[metric].defaults.keys()
        }

    def with_list(self, items: list[str]) -> Self:
        """Return the exercise with another list."""
        return replace(self, lists=[items])


def graded_list(dice: Random, k: int | None) -> Iterator[Draw]:
    """Draw a graded list of 4 to 6 items, longer than k; one or two more relevant items
    are not in it.
    """
    while True:
        length = max(4, k + 1 + _below(dice, 2)) if k else 4 + _below(dice, 3)
        cut = k or 3 + _below(dice, length - 3)
        grades = [(0, 0, 1, 2, TOP)[_below(dice, 5)] for _place in range(length)]
        grades += [1 + _below(dice, TOP) for _place in range(1 + _below(dice, 2))]
        items = _shuffled(dice, LETTERS[: len(grades)])
        yield (
            cut,
            [items[:length]],
            [
                {
                    item: grade
                    for item, grade in sorted(zip(items, grades, strict=True))
                    if grade
                }
            ],
        )


def user_lists(dice: Random, k: int | None) -> Iterator[Draw]:
    """Draw the lists of 4 or 5 users, each one longer than k, with 1 to 3 relevant
    items.
    """
    while True:
        cut = k or 2 + _below(dice, 2)
        letters, lists, truths = (
            LETTERS[: cut + 5],
            list[list[str]](),
            list[dict[str, float]](),
        )
        for _user in range(4 + _below(dice, 2)):
            lists.append(_shuffled(dice, letters)[: cut + 1])
            truths.append(
                dict.fromkeys(
                    sorted(_shuffled(dice, letters)[: 1 + _below(dice, 3)]), 1
                )
            )
        yield cut, lists, truths


#: The kinds of lists that are drawn: the second, whose value is a mean over users, for
#: a metric that is 0 or 1 of one list.
KINDS = (graded_list, user_lists)


def _below(dice: Random, n: int) -> int:
    """Draw a whole number from 0; of a seeded generator, only `random()` stays the same
    in every Python.
    """
    return int(dice.random() * n)


def _shuffled(dice: Random, letters: str) -> list[str]:
    rest = list(letters)
    return [rest.pop(_below(dice, len(rest))) for _letter in letters]


class Mistake(NamedTuple):
    """A number that is not the answer to an exercise, and the sentence that says what
    it is instead.
    """

    number: float
    sentence: str


class Slip(NamedTuple):
    """A common mistake that is no option, cut-off or metric: with which metrics, the
    number it gives, what to say.
    """

    metrics: str
    number: Callable[[Exercise], Any]
    sentence: str


def common_mistakes(q: Exercise) -> Iterator[Mistake]:
    """Compute the numbers of common mistakes: slips, confused metrics, other options,
    no cut, no sign of per cent.
    """
    metric = METRICS[q.metric]
    words: dict[str, Any] = {
        "depth": q.depth,
        "next": q.depth + 1,
        "length": len(q.row),
        "relevant": len(q.truth),
    }
    words |= {"users": len(q.lists), "rank": 3}
    if "discount" in q.options:
        divides = discount_of(
            np.array([3.0]), q.options["discount"], float(q.options["log_base"])
        )
        words["divides"] = number(float(divides[0]), 4)
    usual = {
        name: metric.defaults[name]
        for name in ("out_of", "ideal", "target")
        if name in metric.defaults
    }
    for slip in (
        SLIPS if usual.items() <= q.options.items() else ()
    ):  # their sentences are of the usual definition
        if q.metric in slip.metrics.split():
            with np.errstate(divide="ignore"):
                yield Mistake(float(slip.number(q)), _(slip.sentence, **words))
    for name in CONFUSED.get(q.metric, "").split():
        yield other_metric(q, name)
    yield from (
        with_option(q, name, word)
        for name, word in option_values(q)
        if name not in ("ideal", "out_of")
    )
    uncut = _(
        "The list was not cut: all {length} ranks counted, where only the first {depth} do.",
        **words,
    )
    yield Mistake(q.score(k=None), uncut)
    if metric.bounds[1] == 1:
        told = _(
            "This is the value as a per cent without its sign: type it with %, or divide it by 100."
        )
        yield Mistake(100 * q.value, told)


def other_numbers(q: Exercise) -> Iterator[Mistake]:
    """Compute what other metrics of the same lists are, the metric at other cut-offs,
    and of a list without its other items.
    """
    if q.metric in ("dcg", "ndcg"):
        told = _(
            "The items that are not relevant were left out, and the others moved "
            "up: each keeps its rank."
        )
        yield Mistake(
            q.with_list([item for item in q.row[: q.k] if item in q.truth]).score(),
            told,
        )
    yield from (
        other_metric(q, name)
        for name, metric in METRICS.items()
        if name != q.metric and not metric.own
    )
    yield from (with_option(q, *option) for option in option_values(q))
    for k in range(1, 1 + len(q.row)) if q.k else ():
        words = {"label": METRICS[q.metric].label(k), "k": q.k}
        yield Mistake(
            q.score(k=k), _("This is {label}: the exercise is cut at k = {k}.", **words)
        )


def option_values(q: Exercise) -> list[tuple[str, Any]]:
    """Return the options of the metric that are words, and the bases of its logarithm,
    with each value to try.
    """
    metric = METRICS[q.metric]
    bases = [
        ("log_base", base) for base in (2, math.e, 10) if "log_base" in metric.defaults
    ]
    return [
        *((name, word) for name, known in metric.words.items() for word in known),
        *bases,
    ]


def with_option(q: Exercise, name: str, word: Any) -> Mistake:
    """Compute the metric under another option."""
    convention = in_words(name, word)
    if name == "discount":  # its logarithm has a base
        (convention,) = options_in_words(
            {name: word, "log_base": q.options["log_base"]}
        )
    words = {"label": q.label, "convention": convention}
    return Mistake(
        q.score(**{name: word}),
        _("This is {label} under another convention: {convention}.", **words),
    )


def other_metric(q: Exercise, name: str) -> Mistake:
    """Compute another metric of the same lists."""
    metric = METRICS[name]
    words = {
        "name": metric.term,
        "label": metric.label(q.k),
        "formula": Measure(metric, q.shared(name)).formula_text(),
    }
    return Mistake(q.score(name), _("This is the {name}, {label}: {formula}.", **words))


def divide_by_ideal(q: Exercise, ideal: float) -> float:
    """Put another ideal list in place: return its DCG, or the DCG of the list divided
    by it.
    """
    return ideal if q.metric == "idcg" else q.score("dcg") / ideal


def undiscounted(q: Exercise) -> float:
    """Add the gains of the ideal list without a discount; of nDCG, divide those of the
    list by them.
    """
    ideal = q.with_list(sorted(q.truth, key=lambda item: -q.truth[item])).score("cg")
    return ideal if q.metric == "idcg" else q.score("cg") / ideal


#: The metrics that one is taken for.
CONFUSED = {
    "precision": "recall",
    "recall": "precision",
    "r_precision": "precision recall",
    "hit_rate": "precision recall",
    "f1": "precision recall",
    "fbeta": "f1 precision recall",
    "average_precision": "precision reciprocal_rank",
    "cg": "dcg",
    "dcg": "cg ndcg idcg",
    "idcg": "dcg",
    "ndcg": "dcg idcg",
}

NOT_COUNTED = N_(
    "Relevance was added as if it were a gain: this metric uses only whether an "
    "item is relevant, so each hit counts 1."
)
SLIPS: tuple[Slip, ...] = (
    Slip(
        "precision",
        lambda q: len(q.ranks),
        N_("This is the number of hits: divide it by k = {depth}."),
    ),
    Slip(
        "recall",
        lambda q: len(q.ranks),
        N_(
            "This is the number of hits: divide it by that of relevant items, {relevant}."
        ),
    ),
    Slip(
        "precision",
        lambda q: len(q.ranks) / len(q.row),
        N_(
            "The number was divided by {length}, the length of the whole list: "
            "the list counts down to rank {depth} only."
        ),
    ),
    Slip(
        "precision",
        lambda q: len({*q.row} & q.truth.keys()) / q.depth,
        N_(
            "Hits below rank {depth} were counted as well, and divided by "
            "{depth}: they are below the cut-off."
        ),
    ),
    Slip("precision", lambda q: sum(q.grades) / q.depth, NOT_COUNTED),
    Slip(
        "precision cg",
        lambda q: q.score(
            k=q.depth + 1 if q.depth + 1 < len(q.row) else q.k
        ),  # else it is the list, not cut
        N_(
            "One rank too many was used: from 0 to {depth} there are {next} "
            "ranks, and only the first {depth} count."
        ),
    ),
    Slip(
        "recall",
        lambda q: len(q.ranks) / len(q.row),
        N_(
            "The hits were divided by {length}, the length of the list, instead "
            "of the {relevant} relevant items."
        ),
    ),
    Slip(
        "recall",
        lambda q: len(q.ranks) / len({*q.row} & q.truth.keys()),
        N_(
            "Only the relevant items of the list were counted as relevant: those "
            "that it misses are relevant, too, {relevant} in all."
        ),
    ),
    Slip("recall", lambda q: sum(q.grades) / sum(q.truth.values()), NOT_COUNTED),
    Slip(
        "precision",
        lambda q: 1 - q.value,
        N_("Items that are not relevant were counted: those that are relevant count."),
    ),
    Slip(
        "recall",
        lambda q: 1 - q.value,
        N_(
            "Relevant items that are missed were counted: those among the first {depth} count."
        ),
    ),
    Slip(
        "hit_rate",
        lambda q: np.mean(q.n_hits),
        N_(
            "Hits were counted, not users: a user with two hits counts 1, as one "
            "with a single hit does."
        ),
    ),
    Slip(
        "hit_rate",
        lambda q: q.value * len(q.lists),
        N_(
            "This is the number of users with a hit: divide it by the number of users, {users}."
        ),
    ),
    Slip(
        "hit_rate",
        lambda q: np.mean(np.array(q.n_hits) == [*map(len, q.truths)]),
        N_(
            "Only users whose relevant items were all found were counted: one hit is enough."
        ),
    ),
    Slip(
        "reciprocal_rank",
        lambda q: 1 / q.ranks[-1],
        N_("This is one over the rank of the last hit: the first one counts."),
    ),
    Slip(
        "reciprocal_rank",
        lambda q: 1 / (q.ranks[0] - 1),
        N_("Ranks were counted from 0: the top of the list is rank 1."),
    ),
    Slip(
        "reciprocal_rank",
        lambda q: q.ranks[0],
        N_("This is the rank itself: the reciprocal rank is 1 divided by it."),
    ),
    Slip(
        "reciprocal_rank",
        lambda q: np.mean(1 / q.ranks),
        N_("One over the rank was averaged over all hits: only one item counts."),
    ),
    Slip(
        "reciprocal_rank",
        lambda q: sum(1 / q.ranks),
        N_("One over the rank was added up over all hits: only one item counts."),
    ),
    Slip(
        "reciprocal_rank",
        lambda q: 1 / math.log2(q.ranks[0] + 1),
        N_(
            "The discount of DCG was taken, log2(rank + 1): the reciprocal rank "
            "divides by the rank itself."
        ),
    ),
    Slip(
        "reciprocal_rank",
        lambda q: q.relevance[0] / q.ranks[0],
        N_(
            "The relevance was divided by the rank: this metric uses only whether "
            "an item is relevant, so it is 1 over the rank."
        ),
    ),
    Slip(
        "average_precision",
        lambda q: q.score(out_of="hits"),
        N_(
            "The sum was divided by the number of hits: that forgives every "
            "relevant item that was not found."
        ),
    ),
    Slip(
        "average_precision",
        lambda q: q.score(out_of="k"),
        N_(
            "The sum was divided by k = {depth}: it is out of all relevant items, {relevant}."
        ),
    ),
    Slip(
        "average_precision",
        lambda q: sum(q.nth / q.ranks),
        N_(
            "The precisions at the hits were added and not divided: their sum is "
            "out of all relevant items, {relevant}."
        ),
    ),
    Slip(
        "average_precision",
        lambda q: sum(q.nth / q.ranks) / len(q.row),
        N_(
            "The sum was divided by {length}, the length of the list: what was "
            "shown does not enter the denominator here."
        ),
    ),
    Slip(
        "average_precision",
        lambda q: np.mean(np.cumsum(q.grades > 0) / np.arange(1, q.depth + 1)),
        N_(
            "The precision was averaged over all {depth} ranks: it is taken only "
            "at the ranks that hold a relevant item."
        ),
    ),
    Slip(
        "average_precision",
        lambda q: sum(1 / q.ranks) / len(q.truth),
        N_(
            "Each hit was counted 1 over its rank: the precision at the second "
            "hit is 2 over its rank, at the third 3."
        ),
    ),
    Slip(
        "average_precision",
        lambda q: sum(np.cumsum(q.relevance) / q.ranks) / len(q.truth),
        NOT_COUNTED,
    ),
    Slip(
        "cg",
        lambda q: q.value / q.depth,
        N_(
            "The gains were averaged over the {depth} places: cumulative gain is their sum."
        ),
    ),
    Slip(
        "idcg ndcg",
        lambda q: divide_by_ideal(q, q.score("idcg", k=q.depth + len(q.truth))),
        N_(
            "The ideal list was not cut: it holds {relevant} items, and counts "
            "only down to rank {depth}, as the list does."
        ),
    ),
    Slip(
        "idcg ndcg",
        lambda q: q.score(ideal="list"),
        N_(
            "The ideal list was made of the recommended items only: relevant "
            "items that were missed belong to it."
        ),
    ),
    Slip(
        "idcg ndcg",
        lambda q: divide_by_ideal(
            q, q.with_list(q.row[: q.k]).score("idcg", ideal="list")
        ),
        N_(
            "Only the first {depth} items of the list were put in their best "
            "order: the ideal list chooses from all relevant items."
        ),
    ),
    Slip(
        "ndcg",
        lambda q: 1 / q.value,
        N_(
            "The division is upside down: the DCG of the list is divided by that "
            "of the ideal list, so the value is at most 1."
        ),
    ),
    Slip(
        "ndcg",
        lambda q: q.score("dcg", k=None) / q.score("idcg"),
        N_(
            "The ideal list was cut and the list was not: the DCG counts only the "
            "first {depth} ranks, as the IDCG does."
        ),
    ),
    Slip(
        "idcg ndcg",
        undiscounted,
        N_("Nothing was discounted: a gain at rank {rank} is divided by {divides}."),
    ),
)
