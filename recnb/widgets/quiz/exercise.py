"""An exercise: a small ranking whose metric is to be computed, the checking of answers, and the solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from markupsafe import Markup

from recnb.display.language import _, use_language
from recnb.display.templates import plain_lines, render
from recnb.display.text import aligned, one_line
from recnb.errors import OptionError, RecnbError, Suggesting, near
from recnb.metrics.formula import number as short_number
from recnb.metrics.gain import gain_of
from recnb.results.explanation import Explanation
from recnb.results.single_list import explain
from recnb.widgets.quiz import question
from recnb.widgets.quiz.answer import Number, Verdict, judge, read
from recnb.widgets.quiz.generate import DIGITS
from recnb.widgets.quiz.list import QuizList
from recnb.widgets.quiz.mistakes import Mistake


@dataclass(frozen=True, eq=False, repr=False)
class Exercise(Suggesting):
    """A small ranking drawn from a seed, and a value that follows from it."""

    drawn: QuizList
    slips: tuple[Mistake, ...]  #: common mistakes, with the number each gives here
    seed: int
    digits: int  #: the number of decimals of the answer; 0 if it is a whole number
    lang: str

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.drawn.metric

    @property
    def k(self) -> int | None:
        """The cut-off; None for R-precision, which has its own depth."""
        return self.drawn.k

    @property
    def label(self) -> str:
        """The metric's symbol at the cut-off."""
        return self.drawn.label

    @property
    def value(self) -> float:
        """The right answer, before rounding."""
        return self.drawn.value

    def rounded(self, value: float) -> str:
        """Return a value with the decimals of the answer; where that is a whole number, with those that it has."""
        return f"{value:.{self.digits}f}" if self.digits else short_number(value)

    @cached_property
    def explanations(self) -> tuple[Explanation, ...]:
        """The worked explanation of the list, or of each user's."""
        with use_language(self.lang):
            return tuple(
                explain(self.metric, items, dict(truth), self.k, **self.drawn.options)
                for items, truth in zip(self.drawn.lists, self.drawn.truths, strict=True)
            )

    @cached_property
    def largest(self) -> tuple[str, ...]:
        """The items whose term is the largest; several if they tie, none if it is not asked for."""
        if not self.drawn.asks_largest:
            return ()
        if self.metric == "idcg":
            # Of items with the same gain, any may come first in the ideal list.
            truth = self.drawn.truth
            items = [item for item in truth if item in self.drawn.row or self.drawn.option("ideal") != "list"]
            credits = gain_of(np.array([truth[item] for item in items], dtype=np.float64), self.drawn.option("gain"))
        else:
            rows = self.explanations[0].rows
            items, credits = rows["item"].tolist(), rows["credit"].to_numpy()
        return tuple(sorted(items[at] for at in np.flatnonzero(credits >= credits.max() - 1e-12)))


@dataclass(frozen=True, eq=False, repr=False)
class Quiz(Exercise):
    """A small ranking drawn from a seed, and the value to be computed.

    `print(q)` shows the question as text; in a notebook `q` shows itself with a box for the answer, if ipywidgets is
    installed. `q.check(0.8732)` returns whether that is right, and which mistake it is if not; `q.grade(...)` points.
    """

    @property
    def items(self) -> tuple[str, ...]:
        """The items to choose the largest term from, in alphabetical order."""
        return tuple(sorted({*self.drawn.row, *self.drawn.truth})) if self.drawn.asks_largest else ()

    def check(self, value: object = None, largest: str | None = None, *, reveal: bool = False) -> Answer:
        """Check an answer: a value, the item whose term is the largest, or both.

        Parameters
        ----------
        value
            A number or text: 0.8732, "0,8732", "2/3", "87.32%". It is right if it is the value rounded to the digits
            of the exercise. One with fewer decimals is compared at these, if there are at least two and they
            distinguish the value from those of all mistakes; else it is not right, and more decimals are asked for.
        largest
            The item whose term is the largest; items that tie are all right.
        reveal
            Whether to show the solution, which is shown after a right value in any case.
        """
        if value is None and largest is None:
            raise RecnbError("there is no answer to check: type q.check(0.1234), with your value.")
        item = None if largest is None else self._item(largest)
        if value is None:
            return Answer(self, None, None, (), False, item, reveal)
        with use_language(self.lang):
            number = read(value)
        return Answer(self, number, *judge(number, self.value, self.slips, self.digits or DIGITS), item, reveal)

    def check_largest(self, item: str, *, reveal: bool = False) -> Answer:
        """Check whether an item's term is the largest of the sum; items that tie are all right."""
        return self.check(largest=item, reveal=reveal)

    def grade(self, answer: object, largest: object = None) -> float:
        """Return the points for an answer, from 0 to 1; it never raises for what was answered.

        1 for a value that `check` finds right, 0 for any other; text that is not read as a number, and None, give 0.
        With `largest`, the value and the largest term count one half each.
        """
        points = []
        parts: list[dict[str, Any]] = [{"value": answer}, *([] if largest is None else [{"largest": largest}])]
        for part in parts:
            try:
                points.append(float(self.check(**part).correct))
            except RecnbError:
                points.append(0.0)
        return sum(points) / len(points)

    def reveal(self) -> Solution:
        """Return the solution: the value, the worked explanation, and the numbers of common mistakes."""
        return self._solution

    @cached_property
    def _solution(self) -> Solution:
        return Solution(self.drawn, self.slips, self.seed, self.digits, self.lang)

    def _item(self, item: object) -> str:
        if not self.drawn.asks_largest:
            raise OptionError(
                f"every hit earns the same in {self.metric}, so no term is the largest: leave largest out."
            )
        name = str(item).strip().upper() if isinstance(item, str) else item
        if name not in self.items:
            raise OptionError(f"largest={one_line(item, 40)!r} is no item of this exercise. {near(name, self.items)}")
        return str(name)

    def __str__(self) -> str:
        with use_language(self.lang):
            header, rows = question.table(self.drawn)
            (asked,), *others = question.sentences(self.drawn, self.digits).values()
            lines = [f"  {line}" for line in aligned([header, *rows], left=3)]
            return "\n".join([asked, "", *lines, "", *chain.from_iterable(others)])

    __repr__ = __str__

    def _question_html(self, *, instruction: bool) -> Markup:
        """Return the question as HTML, with how an answer is checked in Python or without."""
        with use_language(self.lang):
            parts = {"table": question.table(self.drawn), "sentences": question.sentences(self.drawn, self.digits)}
            return render("widgets/quiz/question.jinja", quiz=self, instruction=instruction, **parts)

    def _feedback_html(self, sentences: Sequence[tuple[str, str]]) -> Markup:
        """Return sentences to an answer as HTML, each with its mark or none."""
        with use_language(self.lang):
            return render("widgets/quiz/answer.jinja", label=self.label, sentences=sentences)

    def _repr_html_(self) -> str:
        return str(self._question_html(instruction=True))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return text and HTML, and the widget where there are widgets."""
        try:
            from recnb.widgets.quiz.view import QuizView
        except ImportError:
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        return QuizView(self)._repr_mimebundle_()


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Suggesting):
    """A checked answer; true if it is right."""

    quiz: Quiz
    number: Number | None  #: the value, if one was given
    verdict: Verdict | None  #: "right", right to fewer decimals ("short"), "undecided" for lack of decimals, or "wrong"
    slips: tuple[Mistake, ...]  #: the mistakes that give exactly this number
    near: bool  #: whether only the last digit is wrong
    largest: str | None  #: the item chosen for the largest term, if one was
    revealed: bool  #: whether the solution is shown in any case

    @property
    def value_correct(self) -> bool | None:
        """Whether the value is right; None if none was given."""
        return None if self.verdict is None else self.verdict in ("right", "short")

    @property
    def largest_correct(self) -> bool | None:
        """Whether the item's term is the largest, or ties with it; None if none was given."""
        return None if self.largest is None else self.largest in self.quiz.largest

    @property
    def correct(self) -> bool:
        """Whether all that was given is right."""
        return False not in (self.value_correct, self.largest_correct)

    def __bool__(self) -> bool:
        return self.correct

    @property
    def slip(self) -> str | None:
        """The name of the mistake that gives exactly this number, if one does."""
        return self.slips[0].name if self.slips else None

    @property
    def solution(self) -> Solution | None:
        """The solution: after a right value, or if it was asked for."""
        return self.quiz.reveal() if self.revealed or self.value_correct else None

    @property
    def explanation(self) -> Explanation | None:
        """The worked explanation of the list, if the solution is shown."""
        return None if self.solution is None else self.solution.explanations[0]

    def sentences(self) -> list[str]:
        """Return the feedback, sentence by sentence."""
        return [sentence for _mark, sentence in self._marked()]

    def _marked(self) -> list[tuple[str, str]]:
        """Return each sentence with its mark: the first on the value and that on the largest term have one."""
        with use_language(self.quiz.lang):
            on_value = plain_lines("widgets/quiz/answer.txt.jinja", "value", self, self.quiz)
            on_largest = plain_lines("widgets/quiz/answer.txt.jinja", "largest", self)
        marked = [("" if at else _mark(self.value_correct), sentence) for at, sentence in enumerate(on_value)]
        return marked + [(_mark(self.largest_correct), sentence) for sentence in on_largest]

    def __repr__(self) -> str:
        feedback = " ".join(word for marked in self._marked() for word in marked if word)
        return feedback if self.solution is None else f"{feedback}\n\n{self.solution!r}"

    def _feedback_html(self) -> Markup:
        """Return the feedback as HTML, without the solution."""
        return self.quiz._feedback_html(self._marked())

    def _repr_html_(self) -> str:
        return str(self._feedback_html()) + ("" if self.solution is None else self.solution._repr_html_())


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Exercise):
    """The solution of an exercise: its value, the worked explanation, and the numbers of common mistakes."""

    @property
    def explanation(self) -> Explanation:
        """The worked explanation of the list; of the first, if there are several."""
        return self.explanations[0]

    def headline(self) -> str:
        """Return the first line; the explanation of a single list begins with its value."""
        value = f": {self.label} = {self.rounded(self.value)}" if len(self.explanations) > 1 else ""
        return _("Solution") + value

    def largest_term(self) -> str:
        """Name the largest term, if it is asked for."""
        return _("The largest term is that of {items}.", items=", ".join(self.largest)) if self.largest else ""

    def users(self) -> list[tuple[str, str]]:
        """Return each user with the value of the list."""
        return [
            (_("user {user}", user=user), f"{explanation.value:g}")
            for user, explanation in enumerate(self.explanations, 1)
        ]

    def mean(self) -> str:
        """Return how the mean over users is computed."""
        values, n = " + ".join(value for _user, value in self.users()), len(self.explanations)
        return f"{_('mean over {users} users', users=n)}: ({values}) / {n} = {self.rounded(self.value)}"

    def __repr__(self) -> str:
        with use_language(self.lang):
            if len(self.explanations) > 1:
                worked = [f"{user}: {self.explanation.label} = {value}" for user, value in self.users()] + [self.mean()]
            else:
                worked = [repr(self.explanation), *([self.largest_term()] if self.largest else [])]
            slips = [f"  {self.rounded(slip.value)}  {slip.sentence}" for slip in self.slips]
            mistakes = [f"{_('What common mistakes give here')}:", *slips] if slips else []
            return "\n".join([self.headline(), *worked, *mistakes])

    def _repr_html_(self) -> str:
        explanation = Markup(self.explanation._repr_html_())
        with use_language(self.lang):
            return str(render("widgets/quiz/solution.jinja", solution=self, explanation=explanation))


def _mark(correct: bool | None) -> str:
    return "✓" if correct else "✗"
