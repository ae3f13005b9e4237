"""An exercise with its question and its solution, and the answers to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from markupsafe import Markup

from recnb.conventions import in_words
from recnb.display.language import _, use_language
from recnb.display.templates import macro, plain_lines
from recnb.display.text import aligned, one_line
from recnb.errors import OptionError, RecnbError, Suggesting, near
from recnb.metrics.formula import number as short_number
from recnb.metrics.gain import gain_of
from recnb.metrics.metric import METRICS
from recnb.results.explanation import Explanation
from recnb.results.single_list import explain
from recnb.widgets.quiz.answer import FLOAT, Number, Verdict, judge, read
from recnb.widgets.quiz.exercise import Exercise
from recnb.widgets.quiz.mistakes import Mistake, others_of, words_of

#: The metrics whose terms differ from hit to hit, so that one term is the largest.
TERMS_DIFFER = ("average_precision", "cg", "dcg", "idcg", "ndcg", "rbp", "err")

#: Options that have sentences of their own in a question.
DESCRIBED = ("gain", "discount", "log_base", "target", "p", "beta", "max_relevance")

HTML, TEXT = "widgets/quiz/quiz.jinja", "widgets/quiz/quiz.txt.jinja"


@dataclass(eq=False, repr=False)
class Quiz(Exercise):
    """A small ranking drawn from a seed, and the value to be computed.

    `print(q)` shows the question as text; in a notebook `q` shows itself with a box for the answer, if ipywidgets is
    installed. `q.check(0.8732)` returns whether that is right, and which mistake it is if not; `q.grade(...)` points.
    """

    slips: tuple[Mistake, ...]  #: common mistakes, with the number each gives here
    seed: int
    digits: int  #: the number of decimals of the answer; 0 if it is a whole number
    lang: str

    def __post_init__(self) -> None:
        super().__post_init__()
        #: The items to choose the largest term from; none if every hit earns the same.
        self.items = tuple(sorted({*self.row, *self.truth})) if self.metric in TERMS_DIFFER else ()

    @cached_property
    def explanations(self) -> tuple[Explanation, ...]:
        """The worked explanation of the list, or of each user's."""
        pairs = zip(self.lists, self.truths, strict=True)
        return tuple(explain(self.metric, *pair, self.k, lang=self.lang, **self.options) for pair in pairs)

    @cached_property
    def largest(self) -> tuple[str, ...]:
        """The items whose term is the largest; several if they tie, none if it is not asked for."""
        if not self.items:
            return ()
        rows = self.explanations[0].rows
        items, credits = rows["item"].tolist(), rows["credit"].to_numpy()
        if self.metric == "idcg":  # of items with the same gain, any may come first in the ideal list
            items = [item for item in self.truth if item in self.row or self.option("ideal") != "list"]
            credits = gain_of(np.array([1.0 * self.truth[item] for item in items]), self.option("gain"))
        return tuple(sorted(items[at] for at in np.flatnonzero(credits >= credits.max() - 1e-12)))

    def rounded(self, value: float) -> str:
        """Return a value with the decimals of the answer; where that is a whole number, with those that it has."""
        return f"{value:.{self.digits}f}" if self.digits else short_number(value)

    def check(self, value: object = None, largest: str | None = None, *, reveal: bool = False) -> Answer:
        """Check an answer: a value, the item whose term is the largest (of equal terms, any is right), or both.

        A value is a number or text: 0.8732, "0,8732", "2/3", "87.32%", "(1+2/3)/4". It is right if it is the value
        rounded to the digits of the exercise. One with fewer decimals is compared at these, if there are at least two and
        they distinguish the value from those of all mistakes; else it is not right, and more decimals are asked for.
        After a right value the solution is shown; with `reveal` it is shown in any case.
        """
        if value is None and largest is None:
            raise RecnbError("there is no answer to check: type q.check(0.1234), with your value.")
        item = None if largest is None else self._item(largest)
        if value is None:
            return Answer(self, item, reveal)
        with use_language(self.lang):
            number, digits = read(value), self.digits or 4
            verdict, slips, almost = judge(number, self.value, self.slips, digits)
            other = None
            if verdict == "wrong" and not slips and not almost:
                off = 0.5 * 10.0**-digits + FLOAT  # many others are 0 or 1, which says nothing
                fitting = (
                    each
                    for each in others_of(self)
                    if each.value not in (0, 1) and abs(number.value - each.value) < off
                )
                other = next(fitting, None)
        return Answer(self, item, reveal, number, verdict, slips, other, almost)

    def check_largest(self, item: str, *, reveal: bool = False) -> Answer:
        """Check whether an item's term is the largest of the sum; items that tie are all right."""
        return self.check(largest=item, reveal=reveal)

    def grade(self, answer: object, largest: Any = None) -> float:
        """Return the points for an answer, from 0 to 1; it never raises for what was answered.

        1 for a value that `check` finds right, 0 for any other; text that is not read as a number, and None, give 0.
        With `largest`, the value and the largest term count one half each.
        """
        points = []
        for part in [(answer, None), (None, largest)][: 1 if largest is None else 2]:
            try:
                points.append(float(self.check(*part).correct))
            except RecnbError:
                points.append(0.0)
        return sum(points) / len(points)

    def reveal(self) -> Solution:
        """Return the solution: the value, the worked explanation, and the numbers of common mistakes."""
        return Solution(self)

    def _item(self, item: object) -> str:
        if not self.items:
            problem = f"every hit earns the same in {self.metric}, so no term is the largest: leave largest out."
            raise OptionError(problem)
        if str(item).strip().upper() not in self.items:
            raise OptionError(f"largest={one_line(item, 40)!r} is no item of this exercise. {near(item, self.items)}")
        return str(item).strip().upper()

    def _table(self) -> list[list[str]]:
        """Return header and rows: the grade of each rank of the list or, for several users, the list of each."""
        if len(self.lists) > 1:
            users = enumerate(zip(self.lists, self.truths, strict=True), 1)
            rows = [[str(user), ", ".join(row), ", ".join(truth)] for user, (row, truth) in users]
            return [[_("user"), _("list, from rank 1 down"), _("relevant items")], *rows]
        ranks = [[str(rank), item, str(self.truth.get(item, 0))] for rank, item in enumerate(self.row, 1)]
        return [[_("rank"), _("item"), _("relevance")], *ranks]

    def _said(self) -> dict[str, list[str]]:
        """Return the question, the rules, what to answer and how that is checked in Python, sentence by sentence."""
        metric = METRICS[self.metric]
        options = {name: self.option(name) for name in metric.defaults}
        usual = {name: metric.defaults.get(name) for name in ("ideal", "out_of")}
        others = [in_words(*pair) for pair in options.items() if pair[0] not in DESCRIBED and pair not in usual.items()]
        missed = ", ".join(f"{item} ({grade})" for item, grade in self.truth.items() if item not in self.row)
        words = {**words_of(self, {}), "name": metric.term, "missed": missed}
        words["others"] = "; ".join(filter(None, others))
        parts = ("question", "rules", "tasks", "instruction")
        return {part: plain_lines(TEXT, part, self, options, words) for part in parts}

    def __repr__(self) -> str:
        with use_language(self.lang):
            (asked,), *others = self._said().values()
            lines = [f"  {line}" for line in aligned(self._table(), left=3)]
            return "\n".join([asked, "", *lines, "", *chain.from_iterable(others)])

    def question_html(self, *, instruction: bool) -> Markup:
        """Return the question as HTML, with how an answer is checked in Python or without."""
        with use_language(self.lang):
            return macro(HTML, "question", self, self._table(), self._said(), instruction)

    def feedback_html(self, sentences: list[tuple[str, str]]) -> Markup:
        """Return sentences to an answer as HTML, each with its mark or none."""
        with use_language(self.lang):
            return macro(HTML, "feedback", self, sentences)

    def _repr_html_(self) -> str:
        return str(self.question_html(instruction=True))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return text and HTML, and the widget where there are widgets."""
        try:
            from recnb.widgets.quiz.view import QuizView
        except ImportError:
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        return QuizView(self)._repr_mimebundle_()


@dataclass(eq=False, repr=False)
class Answer(Suggesting):
    """A checked answer; true if it is right."""

    quiz: Quiz
    largest: str | None  #: the item chosen for the largest term, if one was
    revealed: bool  #: whether the solution is shown in any case
    number: Number | None = None  #: the value, if one was given
    verdict: Verdict | None = None  #: "short": right to fewer decimals; "undecided": for lack of decimals
    slips: tuple[Mistake, ...] = ()  #: the mistakes that give exactly this number
    other: Mistake | None = None  #: what else recnb has of the list that is this number, if no mistake does
    near: bool = False  #: whether only the last digit is wrong

    def __post_init__(self) -> None:
        #: Whether the value is right, and whether the item's term is the largest; None if none was given.
        self.value_correct = None if self.verdict is None else self.verdict in ("right", "short")
        self.largest_correct = None if self.largest is None else self.largest in self.quiz.largest
        #: Whether all that was given is right, and the name of the mistake that gives exactly this number, if one does.
        self.correct = False not in (self.value_correct, self.largest_correct)
        self.slip = self.slips[0].name if self.slips else None

    def __bool__(self) -> bool:
        return self.correct

    @property
    def solution(self) -> Solution | None:
        """The solution: after a right value, or if it was asked for."""
        return self.quiz.reveal() if self.revealed or self.value_correct else None

    def sentences(self) -> list[str]:
        """Return the feedback, sentence by sentence."""
        return [sentence for _mark, sentence in self._marked()]

    def _marked(self) -> list[tuple[str, str]]:
        """Return each sentence with its mark: the first on the value and that on the largest term have one."""
        with use_language(self.quiz.lang):
            parts = [(self.value_correct, "value"), (self.largest_correct, "largest")]
            said = [
                (right, enumerate(plain_lines(TEXT, part, self, self.quiz)))
                for right, part in parts
                if right is not None
            ]
            return [("" if at else "✓" if right else "✗", one) for right, lines in said for at, one in lines]

    def __repr__(self) -> str:
        feedback = " ".join(word for marked in self._marked() for word in marked if word)
        return feedback if self.solution is None else f"{feedback}\n\n{self.solution!r}"

    def feedback_html(self) -> Markup:
        """Return the feedback as HTML, without the solution."""
        return self.quiz.feedback_html(self._marked())

    def _repr_html_(self) -> str:
        return str(self.feedback_html()) + ("" if self.solution is None else self.solution._repr_html_())


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Suggesting):
    """The solution of an exercise: its value, the worked explanation, and the numbers of common mistakes."""

    quiz: Quiz

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        """The worked explanation of the list, or of each user's."""
        return self.quiz.explanations

    def _words(self) -> dict[str, Any]:
        """Return what is said beside the explanation of a single list: the values of several users, and their mean."""
        q, n = self.quiz, len(self.explanations)
        largest = _("The largest term is that of {items}.", items=", ".join(q.largest)) if q.largest else ""
        if n == 1:
            return {"headline": _("Solution"), "users": [], "mean": "", "largest": largest}
        users = [(_("user {user}", user=user), f"{one.value:g}") for user, one in enumerate(self.explanations, 1)]
        mean = f"{_('mean over {users} users', users=n)}: ({' + '.join(value for _user, value in users)}) / {n} = {q.rounded(q.value)}"
        return {
            "headline": f"{_('Solution')}: {q.label} = {q.rounded(q.value)}",
            "users": users,
            "mean": mean,
            "largest": largest,
        }

    def __repr__(self) -> str:
        with use_language(self.quiz.lang):
            words, explanation = self._words(), self.explanations[0]
            worked = [f"{user}: {explanation.label} = {value}" for user, value in words["users"]] or [repr(explanation)]
            slips = [f"  {self.quiz.rounded(slip.value)}  {slip.sentence}" for slip in self.quiz.slips]
            mistakes = [f"{_('What common mistakes give here')}:", *slips] if slips else []
            return "\n".join(filter(None, [words["headline"], *worked, words["mean"], words["largest"], *mistakes]))

    def _repr_html_(self) -> str:
        with use_language(self.quiz.lang):
            return str(macro(HTML, "solution", self.quiz, self._words(), Markup(self.explanations[0]._repr_html_())))
