"""Common mistakes, as data: a row of `mistakes.csv` for each, with the number that it gives and the sentence about it.

The columns of the table:

- metrics: where the mistake can be made; empty: with every metric that has the option, or, if there is none, whose
  highest value is 1
- option, word: where recnb has the mistake as an option, because some library computes it so, that option
- number: else a formula, in the syntax of the metrics' own. Its names are metrics, options, the entries of `NUMBERS`, and
  within `over_hits()` and `over_ranks()`, which are sums, the columns of `QuizList.per_rank`.
- only: the options of the exercise under which it is a mistake: `out_of = k | list`, `beta != 1`, `log_base < 5`
- sentence: what went wrong, and how to see it; empty: as in the row above
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from recnb.display.data_file import rows_of
from recnb.display.language import N_, _
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.hits import Floats
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList

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

#: The mistakes with a metric that has no rows of its own.
EVERYWHERE = ("no_cutoff", "one_more")

#: Numbers of an exercise in the formulas of mistakes.
NUMBERS: Mapping[str, Callable[[QuizList], float]] = {
    "score": lambda drawn: drawn.value,
    "uncut": lambda drawn: drawn.score(whole=True),
    "dcg_uncut": lambda drawn: drawn.score("dcg", whole=True),
    "deeper": lambda drawn: drawn.score(deeper=1),
    "depth": lambda drawn: drawn.depth,
    "list_length": lambda drawn: len(drawn.row),
    "n_relevant": lambda drawn: len(drawn.truth),
    "sum_of_relevance": lambda drawn: sum(drawn.truth.values()),
    "n_hits": lambda drawn: sum(n_hits for n_hits, _n_relevant in drawn.hits_of_users),
    "hits_in_list": lambda drawn: sum(grade > 0 for grade in drawn.grades),
    "last_rank": lambda drawn: max(rank for rank, grade in enumerate(drawn.grades[: drawn.depth], 1) if grade),
    "rank_counted": lambda drawn: round(1 / drawn.value),  # by the reciprocal rank
    "relevance_counted": lambda drawn: drawn.grades[round(1 / drawn.value) - 1],
    "n_users": lambda drawn: len(drawn.lists),
    "users_with_all": lambda drawn: sum(n_hits == n_relevant for n_hits, n_relevant in drawn.hits_of_users),
    "ideal_uncut": lambda drawn: drawn.score("idcg", deeper=len(drawn.truth)),
    "ideal_of_top": lambda drawn: drawn.with_list(drawn.row[: drawn.depth]).score("idcg", ideal="list"),
    "ideal_cg": lambda drawn: drawn.with_list(sorted(drawn.truth, key=lambda item: -drawn.truth[item])).score("cg"),
}


@dataclass(frozen=True)
class Recorded:
    """A row of `mistakes.csv`."""

    metrics: tuple[str, ...]
    mistake: str
    option: str
    word: Any  #: a word or a number
    number: str
    only: str
    sentence: str

    def is_made_with(self, metric: str) -> bool:
        """Whether the mistake can be made with a metric, under any options."""
        if self.metrics:
            return metric in self.metrics
        return self.option in METRICS[metric].defaults if self.option else METRICS[metric].bounds[1] == 1

    def is_made_in(self, drawn: QuizList) -> bool:
        """Whether it is a mistake under the options of an exercise."""
        if self.option and _same(drawn.option(self.option), self.word):
            return False
        if not self.only:
            return True
        option, sign, words = self.only.split(" ", 2)
        value = drawn.option(option)
        if sign == "<":
            return bool(value < float(words))
        return any(_same(value, _word(word)) for word in words.split(" | ")) is (sign == "=")

    def number_in(self, drawn: QuizList) -> float:
        """Return the number that the mistake gives in an exercise."""
        if self.option:
            return drawn.score(**{self.option: self.word})
        per_rank = drawn.per_rank
        per_hit = {name: column[per_rank["relevance"] > 0] for name, column in per_rank.items()}
        formula, names = _parsed(self.number)
        numbers = {name: _number(name, drawn) for name in names - per_rank.keys()}

        def chance(stop: Formula) -> Floats:
            """The chance that a reader comes to each hit and stops there."""
            stops = stop.value(numbers | per_hit)
            return np.asarray(stops * np.cumprod([1.0, *(1 - stops[:-1])]))

        functions = {
            "over_hits": lambda term: np.sum(term.value(numbers | per_hit, {"chance": chance})),
            "over_ranks": lambda term: np.sum(term.value(numbers | per_rank)),
        }
        with np.errstate(divide="ignore"):
            return float(formula.value(numbers, functions))


@cache
def recorded() -> tuple[Recorded, ...]:
    """Return all rows of `mistakes.csv`."""
    rows: list[Recorded] = []
    for row in rows_of("widgets/quiz/mistakes.csv"):
        metrics, word = tuple(row.pop("metrics").split()), _word(row.pop("word"))
        sentence = row.pop("sentence") or rows[-1].sentence
        rows.append(Recorded(metrics=metrics, word=word, sentence=sentence, **row))
    return tuple(rows)


def recorded_of(metric: str) -> list[Recorded]:
    """Return the mistakes with a metric, under any options."""
    rows = [row for row in recorded() if row.is_made_with(metric)]
    if not any(row.metrics for row in rows):
        rows += [next(row for row in recorded() if row.mistake == name) for name in EVERYWHERE]
    return rows


@dataclass(frozen=True)
class Mistake:
    """A common mistake and the number that it gives in one exercise."""

    name: str
    value: float
    drawn: QuizList

    @property
    def sentence(self) -> str:
        """The explanation of the mistake, in the language in force."""
        drawn, defaults = self.drawn, METRICS[self.drawn.metric].defaults
        row = next(row for row in recorded_of(drawn.metric) if row.mistake == self.name)
        values: dict[str, Any] = {
            "depth": drawn.depth,
            "next": drawn.depth + 1,
            "length": len(drawn.row),
            "relevant": len(drawn.truth),
            "users": len(drawn.lists),
        }
        right = {name: drawn.option(name) for name in defaults}
        wrong = right | {row.option: row.word}
        if "gain" in defaults:
            counts, taken = (number(float(gain_of(np.array([float(TOP)]), how["gain"])[0])) for how in (right, wrong))
            values |= {"gain": _(GAINS[right["gain"]]), "top": TOP, "counts": counts, "taken": taken}
        if "discount" in defaults:
            ranks = drawn.ranks_with_credit
            divides, divided = (discount_of(ranks, how["discount"], float(how["log_base"])) for how in (right, wrong))
            # The first hit that the mistake changes; a sentence without another discount is about a discount that is none.
            at = int(np.argmax(divides != (divided if row.option else 1)))
            values |= {
                "log": log_name(right["log_base"]),
                "discount": discount_in_words(right["discount"], right["log_base"]),
                "rank": int(ranks[at]),
                "divides": number(float(divides[at]), 4),
                "divided": number(float(divided[at]), 4),
            }
        values |= {name: number(float(right[name])) for name in METRICS[drawn.metric].numbers}
        if "p" in defaults:
            values["rest"] = number(1 - float(right["p"]))
        return _(row.sentence, **values)


def mistakes_of(drawn: QuizList) -> tuple[Mistake, ...]:
    """Return every mistake that can be made in an exercise, with its number."""
    rows = (row for row in recorded_of(drawn.metric) if row.is_made_in(drawn))
    return tuple(Mistake(row.mistake, row.number_in(drawn), drawn) for row in rows)


def log_name(base: float) -> str:
    """Return how a logarithm of this base is written.

    >>> log_name(2), log_name(math.e)
    ('log2', 'ln')
    """
    return Formula.of("log(rank)", log_base=base).text().partition("(")[0]


def discount_in_words(discount: str, log_base: float) -> str:
    """Return how a discount is written, in the language in force."""
    return _(DISCOUNTS[discount], log=log_name(log_base))


@cache
def _parsed(text: str) -> tuple[Formula, frozenset[str]]:
    """Return a formula and the names in it."""
    formula = Formula.of(text)
    return formula, formula.names()


def _word(text: str) -> str | float:
    """Read a value of an option: a number, or a word."""
    return float(text) if text.replace(".", "").isdigit() else text


def _same(value: Any, word: str | float) -> bool:
    return math.isclose(value, word) if isinstance(word, float) else bool(value == word)


def _number(name: str, drawn: QuizList) -> float:
    """Return the number of a name in a formula."""
    if name in NUMBERS:
        return NUMBERS[name](drawn)
    return drawn.score(name) if name in METRICS else float(drawn.option(name))
