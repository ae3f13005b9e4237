"""A sheet of exercises to print: questions with room to work, and their solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from recnb.conventions import options_in_words
from recnb.data.files import File, written
from recnb.display.document import Block, Note, Rows, html
from recnb.display.language import _, use_language
from recnb.display.templates import framed, page, render
from recnb.errors import RecnbError, quoted
from recnb.metrics.formula import number as short_number
from recnb.metrics.gain import discount_of

#: Text of one's own: a paragraph, or paragraphs and tables, which are lists of rows.
Text = str | Sequence[str | Sequence[Sequence[object]]]

#: A question of one's own and its solution.
OwnQuestion = tuple[Text, Text]


class Printable(Protocol):
    """What a sheet asks of an exercise."""

    @property
    def depth(self) -> int:
        """The number of ranks that count."""

    @property
    def label(self) -> str:
        """The metric that is asked for."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the metric in force."""

    def question(self) -> Iterable[Block]:
        """Return the question as blocks."""

    def reveal(self) -> Any:
        """Return the answer with its solution."""


#: The ranks of the table of discounts, at least.
RANKS = 6
#: The decimals of discounts.
DECIMALS = 5


def sheet(
    exercises: Sequence[Printable | OwnQuestion],
    path: File | None,
    *,
    questions: bool,
    solutions: bool,
    title: str,
    lang: str,
) -> Any:
    """Return a sheet as HTML, or write it: the questions, then the solutions on a page
    of their own.
    """
    with use_language(lang):
        title = title or _("Exercise: {label}", label=_labels(exercises))
        shown: dict[str, Any] = {"tables": "", "questions": [], "solutions": []}
        if questions:
            shown["tables"] = html(_discounts(exercises))
            shown["questions"] = list(map(_question, exercises))
        if solutions:
            shown["solutions"] = list(map(_solution, exercises))
        body = render("widgets/quiz/sheet.jinja", **shown)
        return written(str(page(title, framed(title, body))), path)


def _labels(exercises: Sequence[Printable | OwnQuestion]) -> str:
    """Return the metrics that are asked for, each once."""
    labels = [exercise.label for exercise in _with_a_metric(exercises)]
    return ", ".join(dict.fromkeys(labels))


def _with_a_metric(exercises: Sequence[Printable | OwnQuestion]) -> list[Printable]:
    """Return the exercises that are no questions of one's own."""
    return [exercise for exercise in exercises if not isinstance(exercise, tuple)]


def _question(exercise: Printable | OwnQuestion) -> tuple[str, str]:
    """Return the label of the answer, if there is one value, and the question."""
    if isinstance(exercise, tuple):
        question, _solution = _checked(exercise)
        return "", html(_blocks(question))
    return exercise.label, html(exercise.question())


def _solution(exercise: Printable | OwnQuestion) -> str:
    if isinstance(exercise, tuple):
        _question, solution = _checked(exercise)
        return html(_blocks(solution))
    return html(exercise.reveal().on_paper())


def _checked(own: OwnQuestion) -> OwnQuestion:
    if len(own) != 2:
        raise RecnbError(
            f"{quoted(own)} is no question of a sheet: give a pair of the question and "
            f"its solution."
        )
    return own


def _blocks(text: Text) -> list[Block]:
    """Return text of one's own as blocks; the first row of a table is its header."""
    if isinstance(text, str):
        return [Note(text, "plain")]
    blocks: list[Block] = []
    for part in text:
        if isinstance(part, str):
            blocks.append(Note(part, "plain"))
        else:
            header, *rows = [list(map(str, row)) for row in part]
            blocks.append(Rows(header, rows))
    return blocks


def _discounts(exercises: Sequence[Printable | OwnQuestion]) -> Iterator[Block]:
    """Make a table of what gains are divided by, for each discount that is needed."""
    depth = RANKS
    discounts: dict[tuple[Any, Any], None] = {}  # in the order of the exercises
    for exercise in _with_a_metric(exercises):
        if "discount" in exercise.options:
            depth = max(depth, exercise.depth)
            key = (exercise.options["discount"], exercise.options["log_base"])
            discounts[key] = None
    ranks = np.arange(1, depth + 1)
    for discount, base in discounts:
        (words,) = options_in_words({"discount": discount, "log_base": base})
        divisors = discount_of(ranks, discount, float(base)).round(DECIMALS)
        row = [short_number(divisor, DECIMALS + 1) for divisor in divisors.tolist()]
        yield Rows([_("rank"), *map(str, ranks)], [[words, *row]])
