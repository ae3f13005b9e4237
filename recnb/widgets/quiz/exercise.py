"""An exercise: a small ranking, what is asked of it, and the checking of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recnb.display.language import use_language
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, near
from recnb.metrics.gain import gain_of
from recnb.metrics.metric import METRICS
from recnb.results import Explanation
from recnb.results.single_list import explain
from recnb.widgets.quiz import question
from recnb.widgets.quiz.answer import Answer, Number, Verdict, judge, read
from recnb.widgets.quiz.list import QuizList
from recnb.widgets.quiz.solution import Solution
from recnb.widgets.quiz.wording import Mistake

#: The metrics whose terms differ from hit to hit, so that one can ask for the largest.
TERMS_DIFFER = ("average_precision", "cg", "dcg", "idcg", "ndcg", "rbp", "err")


@dataclass(frozen=True, eq=False, repr=False)
class Quiz:
    """A small ranking drawn from a seed, and the value that is asked of it.

    `print(q)` asks the question in plain text; in a notebook `q` shows itself with a box to answer in, where ipywidgets
    is installed. `q.check(0.8732)` says whether that is right, and which slip it is if not; `q.grade(...)` gives points.
    """

    drawn: QuizList
    slips: tuple[Mistake, ...]  #: the usual slips, with the number each gives here
    seed: int
    digits: int  #: how many decimals are asked for
    lang: str

    #: What makes a widget of an exercise; set where widgets are known, which is above this.
    as_widget: ClassVar[Callable[[Quiz], Any] | None] = None

    @property
    def metric(self) -> str:
        """The name of the metric that is asked for."""
        return self.drawn.metric

    @property
    def k(self) -> int | None:
        """The cut-off; None for R-precision, which has its own depth."""
        return self.drawn.k

    @property
    def label(self) -> str:
        """The metric's symbol at the cut-off."""
        return METRICS[self.metric].label(self.k)

    @cached_property
    def value(self) -> float:
        """The right answer, before rounding."""
        return self.drawn.score()

    @property
    def items(self) -> tuple[str, ...]:
        """The items that can be named for the largest term, in alphabetical order."""
        return tuple(sorted({*self.drawn.row, *self.drawn.truth})) if self.asks_largest else ()

    @property
    def asks_largest(self) -> bool:
        """Whether it is asked which term is the largest: not where every hit earns the same."""
        return self.metric in TERMS_DIFFER

    @cached_property
    def largest(self) -> tuple[str, ...]:
        """The items whose term is the largest; several if they tie, none where it is not asked."""
        if not self.asks_largest:
            return ()
        if self.metric == "idcg":
            # Of items with the same gain, any may come first in the ideal list.
            of_list = self.drawn.option("ideal") == "list"
            gains = {
                item: float(gain_of(np.array([float(grade)]), self.drawn.option("gain"))[0])
                for item, grade in self.drawn.truth.items()
                if item in self.drawn.row or not of_list
            }
            return tuple(item for item, gain in gains.items() if gain == max(gains.values()))
        rows = self._explanations[0].rows
        return tuple(sorted(rows.loc[rows["credit"] >= rows["credit"].max() - 1e-12, "item"]))

    @cached_property
    def _explanations(self) -> tuple[Explanation, ...]:
        with use_language(self.lang):
            return tuple(
                explain(self.metric, row, dict(truth), self.k, **self.drawn.options)
                for row, truth in zip(self.drawn.lists, self.drawn.truths, strict=True)
            )

    def check(self, value: object = None, largest: str | None = None, *, reveal: bool = False) -> Answer:
        """Say whether an answer is right: a value, the item whose term is the largest, or both.

        The value is a number or text: 0.8732, "0,8732", "2/3", "87.32%". It is right if it is the value rounded to the
        digits asked for. One given to fewer digits is judged at those, if there are at least two decimals and they
        tell the value from every slip; else it is not counted as right, and more digits are asked for. The solution is
        shown after a right value, or with `reveal=True`.
        """
        if value is None and largest is None:
            raise RecnbError("there is no answer to check: type q.check(0.1234), with your value.")
        given: Number | None = None
        verdict: Verdict | None = None
        slips: tuple[Mistake, ...] = ()
        close = False
        if value is not None:
            given = read(value)
            verdict, slips, close = judge(given, self.value, self.slips, self.digits)
        chosen = None if largest is None else self._item(largest)
        return Answer(self, given, verdict, slips, close, chosen, reveal)

    def check_largest(self, item: str, *, reveal: bool = False) -> Answer:
        """Say whether an item's term is the largest of the sum; items that tie are all right."""
        return self.check(largest=item, reveal=reveal)

    def grade(self, answer: object, largest: object = None) -> float:
        """Points for an answer, from 0 to 1: for a cell that is graded by itself. It never raises for what was answered.

        1 for a value that `check` calls right, 0 for any other; what cannot be read, and None, is 0. Where `largest` is
        given, the value and the largest term count one half each.
        """
        points = self._points(lambda: self.check(answer)) if answer is not None else 0.0
        if largest is None:
            return points
        return (points + self._points(lambda: self.check(largest=largest))) / 2  # type: ignore[arg-type]

    @staticmethod
    def _points(check: Callable[[], Answer]) -> float:
        try:
            return float(check().correct)
        except RecnbError:
            return 0.0

    def reveal(self) -> Solution:
        """The solution: the value, the worked explanation, and what the usual slips give."""
        return Solution(
            self.label, self.value, self.digits, self.largest, self._explanations, self.slips, self.lang
        )  # fmt: skip

    def _item(self, item: object) -> str:
        if not self.asks_largest:
            raise OptionError(
                f"every hit earns the same in {self.metric}, so no term is the largest: leave largest out."
            )
        named = str(item).strip().upper() if isinstance(item, str) else item
        if named not in self.items:
            raise OptionError(f"largest={one_line(item, 40)!r} is no item of this exercise. {near(named, self.items)}")
        return str(named)

    def __str__(self) -> str:
        return question.text(self)

    def __repr__(self) -> str:
        return question.text(self)

    def _repr_html_(self) -> str:
        return question.html_of(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Text and HTML, which stand in every stored notebook, and the box to answer in where there are widgets."""
        shown = {"text/plain": repr(self), "text/html": self._repr_html_()}
        widget = None if Quiz.as_widget is None else Quiz.as_widget(self)
        return shown if widget is None else {**widget._repr_mimebundle_(), **shown}
