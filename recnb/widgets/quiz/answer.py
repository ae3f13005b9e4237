"""A quiz: an exercise that checks answers, as text, HTML, a sheet and a widget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from recnb.caching import cached_property
from recnb.data.files import File
from recnb.display.forms import Line, Mark, Rows
from recnb.display.language import N_, _, use_language
from recnb.display.templates import write
from recnb.display.text import beginning
from recnb.errors import RecnbError, Suggesting
from recnb.metrics.formula import number as short_number
from recnb.metrics.measure import Measure
from recnb.results.explanation import Explanation
from recnb.results.single_list import OF_ONE_LIST, explain
from recnb.widgets.live import Live
from recnb.widgets.quiz.exercise import DIGITS, UNIT, Exercise
from recnb.widgets.quiz.mistakes import Mistake, common_mistakes, other_numbers
from recnb.widgets.quiz.question import question_of
from recnb.widgets.quiz.sheet import OwnQuestion, SheetEntry, own_entry, sheet
from recnb.widgets.quiz.typed import TypedNumber, read_answer

#: Two numbers differ from so many units of the last digit on: one is an error of
#: rounding.
APART = 3

#: The error of rounding on the way, such as 1.6 for log2(3), as a share of the value.
NEAR = 0.005

TEMPLATE = "widgets/quiz/quiz.jinja"

UNKNOWN = N_(
    "No common mistake gives this number. Write down the term of each rank and compare."
)
ROUNDED = N_(
    "This is near: if the terms agree, figures were rounded on the way. Keep five "
    "decimals until the end."
)
LAST_DIGIT = N_(
    "Only the last digit is off: keep all digits on the way, and "
    "round once, at the end."
)
OUTSIDE = N_(
    "No list has this value: {label} is never below 0 or above 1. Check what is divided by what."
)
NEGATIVE = N_("No list has this value: {label} is never below 0.")


@dataclass(eq=False, repr=False)
class Quiz(Exercise, Live):
    """A small ranking, drawn from a seed or given, and the value to be computed.

    `print(q)` shows the question as text; in a notebook `q` shows itself with a box for
    the answer, if ipywidgets is installed. `q.check(0.8732)` returns whether that is
    right, and which mistake it is if not; `q.grade(...)` points.
    `q.to_html("sheet.html")` is a sheet to print.

    Examples
    --------
    >>> import recnb
    >>> q = recnb.quiz("precision", seed=3)
    >>> bool(q.check("2/3")), q.grade(0.5)
    (True, 0.0)
    >>> solution = q.reveal()
    """

    lang: str

    def __post_init__(self) -> None:
        super().__post_init__()
        #: What was typed into the widget, and what is said of it.
        self.typed = ""
        self.answer: Answer | None = None

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The common mistakes whose number here is not the value.

        Several with one number are one mistake, whose sentence names them all.
        """
        by_number: dict[float, Mistake] = {}
        with use_language(self.lang):
            for number, sentence in common_mistakes(self):
                is_number = number != 0 and math.isfinite(number)
                if not is_number or abs(number - self.value) < APART * UNIT:
                    continue
                rounded = round(number, DIGITS)
                if rounded in by_number:
                    earlier = by_number[rounded].sentence
                    sentence = _("{one} Or: {other}", one=earlier, other=sentence)
                by_number[rounded] = Mistake(number, sentence)
        return tuple(by_number.values())

    def rounded(self, value: float) -> str:
        """Return a value with the decimals of the answer; a whole number without."""
        if value % 1 == 0:
            return short_number(value)
        return f"{value:.{DIGITS}f}"

    def check(self, answer: object = "") -> Answer:
        """Check an answer, which is a number or text.

        It is right if it is the value rounded to the digits of the exercise. One with
        fewer decimals, at least two, is right if it distinguishes the value from the
        numbers of all mistakes; else more decimals are asked for. What is not read as a
        number is not right, and the answer says why.

        Parameters
        ----------
        answer : float or str
            It is read as 0.8732, "0,8732", "87.32%", "2/3", or as a sum of Python,
            "(1+2/3)/4" or "3/log2(2) + 2/log2(3)".

        Returns
        -------
        Answer
            True if it is right; shown, it says what was wrong.
        """
        with use_language(self.lang):
            try:
                given = read_answer(answer)
            except RecnbError as unread:
                return Answer(self, str(unread))
            return self._judged(answer, given)

    def _judged(self, answer: object, given: TypedNumber) -> Answer:
        """Return what is said of an answer that was read as a number."""
        if given.fits(self.value, DIGITS):
            return self._right()
        digits = DIGITS if given.decimals is None else min(given.decimals, DIGITS)
        mistakes = self._mistakes_of(given, digits)
        text = beginning(str(answer).strip(), 40)
        if given.fits(self.value, digits):
            if digits >= 2 and not mistakes:
                return self._right()
            if digits >= 2 or not mistakes:
                few = _(
                    "{answer} has too few decimals to be checked: give {digits}.",
                    answer=text,
                    digits=DIGITS,
                )
                return Answer(self, few)
        wrong = Mark("strong", f"✗ {_('{answer} is not right.', answer=text)}")
        hint = self._hint(given, digits, mistakes)
        mistake = mistakes[0] if mistakes else None
        return Answer(self, [wrong, " ", hint], mistake=mistake)

    def _right(self) -> Answer:
        value = self.rounded(self.value)
        right = _("Right: {label} = {value}.", label=self.label, value=value)
        feedback = Mark("strong", f"✓ {right}")
        return Answer(self, feedback, correct=True, solved=True)

    def _mistakes_of(self, given: TypedNumber, digits: int) -> list[Mistake]:
        """Return the common mistakes that give a number of so many decimals."""
        exact = [m for m in self.mistakes if given.fits(m.number, DIGITS)]
        if exact:
            return exact
        near = [m for m in self.mistakes if given.fits(m.number, digits)]
        if digits >= 2:
            return near
        # A per cent without its sign has two decimals fewer than the share.
        return [m for m in near if m.number == 100 * self.value]

    def _hint(self, given: TypedNumber, digits: int, mistakes: list[Mistake]) -> str:
        """Say what a wrong answer is, or what to look at."""
        if mistakes:
            return _(
                "A common mistake gives exactly this number. {what}",
                what=mistakes[0].sentence,
            )
        if digits >= 2 and given.fits(self.value, digits, units=1.5):
            return _(LAST_DIGIT)
        for other in other_numbers(self):
            # Many others are 0 or 1, which says nothing.
            if other.number not in (0, 1) and given.fits(other.number, DIGITS):
                return other.sentence
        if digits == DIGITS and abs(given.value / self.value - 1) < NEAR:
            return _(ROUNDED)
        low, high = Measure(OF_ONE_LIST[self.metric], self.options).bounds
        if high == 1 and not low <= given.value <= high:
            return _(OUTSIDE, label=self.label)
        if given.value < low:
            return _(NEGATIVE, label=self.label)
        return _(UNKNOWN)

    def grade(self, answer: object) -> float:
        """Return 1 for an answer that `check` finds right, else 0.

        Parameters
        ----------
        answer : float or str
            As in `check`. Text that is not read as a number gets 0 as well.

        Returns
        -------
        float
            The points.
        """
        return float(self.check(answer).correct)

    def reveal(self) -> Answer:
        """Return the solution: the worked explanation, and common mistakes.

        Returns
        -------
        Answer
            Shown as text, or in a notebook.
        """
        with use_language(self.lang):
            return Answer(self, Mark("strong", _("Solution")), solved=True)

    def to_html(
        self,
        path: File | None = None,
        *others: Quiz | OwnQuestion,
        questions: bool = True,
        solutions: bool = True,
        title: str = "",
    ) -> Any:
        """Return a sheet of exercises to print, or write it to `path`.

        It has this exercise and others with room to work, then the solutions on a page
        of their own.

        Parameters
        ----------
        path : path, optional
            Where it is written; without it text is returned.
        *others : Quiz or tuple
            Further exercises. A question of your own is a pair of the question and its
            solution: text, or a list of paragraphs and tables, which are lists of rows.
        questions : bool, default True
            Whether the questions are there.
        solutions : bool, default True
            Whether the solutions are there.
        title : str, default ""
            Stands at the head; by default the metrics that are asked for.

        Returns
        -------
        str or None
            The sheet, unless it is written.

        Examples
        --------
        >>> from recnb import quiz
        >>> first, *others = [quiz("ndcg", seed=seed) for seed in range(3)]
        >>> own = ("Which metric ignores the order?", "Precision.")
        >>> sheet = first.to_html(None, *others, own, solutions=False)
        >>> for_the_teacher = first.to_html(None, *others, own, questions=False)
        """
        with use_language(self.lang):
            entries = []
            for each in (self, *others):
                if isinstance(each, Quiz):
                    entries.append(each._on_sheet())
                else:
                    entries.append(own_entry(each))
            return sheet(
                entries,
                path,
                questions=questions,
                solutions=solutions,
                title=title,
            )

    def _on_sheet(self) -> SheetEntry:
        """Return the exercise as an entry of a sheet."""
        question = write(
            "widgets/quiz/question.jinja", "html", question=question_of(self)
        )
        solution = write("widgets/quiz/on_paper.jinja", "html", answer=self.reveal())
        return SheetEntry(Markup(question), Markup(solution), self)

    def __repr__(self) -> str:
        with use_language(self.lang):
            question = question_of(self)
            return write(TEMPLATE, "lines", quiz=self, question=question, live=False)

    def _html(self, live: bool) -> str:
        question = question_of(self)
        return write(TEMPLATE, "html", quiz=self, question=question, live=live)

    def _worked(self) -> list[str]:
        return ["" if self.answer is None else self.answer.worked_html()]

    def _use(self, name: str, value: str, key: str) -> None:
        if name == "value":
            self.typed = value
        elif name == "show":
            self.answer = self.reveal()
        else:
            self.answer = self.check(self.typed)


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Suggesting):
    """What is said of an answer; true if the answer is right.

    The solution follows if the answer is right or the solution was asked for.
    """

    quiz: Quiz
    feedback: Line
    correct: bool = False
    #: The common mistake that gives this number, if one does.
    mistake: Mistake | None = None
    solved: bool = False  #: whether the solution is shown

    def __bool__(self) -> bool:
        return self.correct

    @cached_property
    def explanations(self) -> list[Explanation]:
        """The worked explanation of the list, or of each user's."""
        q = self.quiz
        return [
            explain(q.metric, items, truth, q.k, lang=q.lang, **q.options)
            for items, truth in zip(q.lists, q.truths, strict=True)
        ]

    @property
    def value_in_words(self) -> str:
        """The metric with its value."""
        return f"{self.quiz.label} = {self.quiz.rounded(self.quiz.value)}"

    @property
    def mean_in_words(self) -> str:
        """The mean over several users, which is the solution of theirs; else nothing."""
        q = self.quiz
        if len(q.lists) == 1:
            return ""
        total = " + ".join(f"{each.value:g}" for each in self.explanations)
        return f"{q.label} = ({total}) / {len(q.lists)} = {q.rounded(q.value)}"

    def mistakes_table(self, caption: str = "") -> Rows:
        """Return the numbers of common mistakes."""
        q = self.quiz
        header = [_("value"), _("mistake")]
        rows = [[q.rounded(number), sentence] for number, sentence in q.mistakes]
        return Rows(header, rows, caption, left=2, wraps=True)

    def worked_html(self) -> str:
        """Return the solution as HTML, if it is shown."""
        if not self.solved:
            return ""
        with use_language(self.quiz.lang):
            return write("widgets/quiz/solution.jinja", "html", answer=self)

    def __repr__(self) -> str:
        with use_language(self.quiz.lang):
            return write("widgets/quiz/answer.jinja", "lines", answer=self)

    def _repr_html_(self) -> str:
        with use_language(self.quiz.lang):
            return write("widgets/quiz/answer.jinja", "html", answer=self)
