"""What a wrong number is: a common slip, or another option, cut-off or metric."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from recnb.conventions import in_words, options_in_words
from recnb.display.data_file import rows_of
from recnb.display.language import _
from recnb.metrics.formula import number as short_number
from recnb.metrics.gain import discount_of
from recnb.metrics.measure import Measure
from recnb.metrics.metric import METRICS
from recnb.results.single_list import OF_ONE_LIST
from recnb.widgets.quiz.exercise import Exercise
from recnb.widgets.quiz.slips import slips_of

#: Metrics that are taken for others, in the order in which they are named.
CONFUSED = rows_of("widgets/quiz/confused.csv")


class Mistake(NamedTuple):
    """A number that is not the answer to an exercise, and a sentence of what it is."""

    number: float
    sentence: str


def common_mistakes(q: Exercise) -> Iterator[Mistake]:
    """Compute the numbers of common mistakes.

    These are slips, confused metrics, other options, a list that is not cut, and a
    missing sign of per cent.
    """
    words = _words(q)
    if _is_usual(q):  # the sentences of slips are of the usual definition
        for number, sentence in slips_of(q):
            yield Mistake(number, _(sentence, **words))
    for row in CONFUSED:
        if row["metric"] == q.metric:
            yield _other_metric(q, row["taken_for"])
    for name, value in _option_values(q):
        if name not in ("ideal", "out_of") and value != q.options[name]:
            yield _with_option(q, name, value)
    uncut = _(
        "The list was not cut: all {length} ranks counted, where only the first {depth} do.",
        **words,
    )
    yield Mistake(q.score(k=None), uncut)
    if OF_ONE_LIST[q.metric].bounds[1] == 1:
        per_cent = _(
            "This is the value as a per cent without its sign: type it with %, or divide it by 100."
        )
        yield Mistake(100 * q.value, per_cent)


def other_numbers(q: Exercise) -> Iterator[Mistake]:
    """Compute numbers that are less common as mistakes.

    These are other metrics of the same lists, the metric under other options and at
    other cut-offs, and of a list without the items that are not relevant.
    """
    if q.metric in ("dcg", "ndcg"):
        moved_up = _(
            "The {items} that are not relevant were left out, and the others moved up: "
            "each keeps its rank."
        )
        hits = [item for item in q.row[: q.k] if item in q.truth]
        yield Mistake(q.with_list(hits).score(), moved_up)
    for name, metric in METRICS.items():
        if name != q.metric and not metric.own:
            yield _other_metric(q, name)
    for name, value in _option_values(q):
        yield _with_option(q, name, value)
    if q.k is None:
        return
    for k in range(1, len(q.row) + 1):
        cut = _(
            "This is {label}: the exercise is cut at k = {k}.",
            label=OF_ONE_LIST[q.metric].label(k),
            k=q.k,
        )
        yield Mistake(q.score(k=k), cut)


def _is_usual(q: Exercise) -> bool:
    """Say whether the options that define the metric have their default values."""
    defaults = OF_ONE_LIST[q.metric].defaults
    names = {"out_of", "ideal", "target"} & defaults.keys()
    return all(q.options[name] == defaults[name] for name in names)


def _words(q: Exercise) -> dict[str, Any]:
    """Return the figures that sentences of mistakes name."""
    words: dict[str, Any] = {
        "depth": q.depth,
        "next": q.depth + 1,
        "length": len(q.row),
        "relevant": len(q.truth),
        "n_users": len(q.lists),
        "rank": 3,
    }
    if "discount" in q.options:
        base = float(q.options["log_base"])
        divisors = discount_of(np.array([3.0]), q.options["discount"], base)
        words["divides"] = short_number(divisors.item(), 4)
    return words


def _option_values(q: Exercise) -> Iterator[tuple[str, Any]]:
    """Return the options of the metric with each value to try.

    Options are those that are words, and the base of its logarithm.
    """
    metric = OF_ONE_LIST[q.metric]
    for name, values in metric.words.items():
        for value in values:
            yield name, value
    if "log_base" in metric.defaults:
        for base in (2, math.e, 10):
            yield "log_base", base


def _with_option(q: Exercise, name: str, value: Any) -> Mistake:
    """Compute the metric under another option."""
    convention = in_words(name, value)
    if name == "discount":  # its logarithm has a base
        options = {name: value, "log_base": q.options["log_base"]}
        (convention,) = options_in_words(options)
    sentence = _(
        "This is {label} under another convention: {convention}.",
        label=q.label,
        convention=convention,
    )
    return Mistake(q.score(**{name: value}), sentence)


def _other_metric(q: Exercise, name: str) -> Mistake:
    """Compute another metric of the same lists."""
    metric = OF_ONE_LIST[name]
    sentence = _(
        "This is the {name}, {label}: {formula}.",
        name=metric.term,
        label=metric.label(q.k),
        formula=Measure(metric, q.shared(name)).formula_text(),
    )
    return Mistake(q.score(name), sentence)
