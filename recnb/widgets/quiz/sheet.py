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

    depth: int

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


#: The ranks of the table of discounts, at least, and its decimals.
RANKS, DECIMALS = 6, 5


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
        asked = [*map(_question, exercises)] if questions else []
        solved = [*map(_solution, exercises)] if solutions else []
        tables = html(_discounts(exercises)) if questions else ""
        body = render(
            "widgets/quiz/sheet.jinja",
            tables=tables,
            questions=asked,
            solutions=solved,
        )
        return written(str(page(title, framed(title, body))), path)


def _labels(exercises: Sequence[Printable | OwnQuestion]) -> str:
    """Return the metrics that are asked for, each once."""
    labels = [each.label for each in exercises if not isinstance(each, tuple)]
    return ", ".join(dict.fromkeys(labels))


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
    blocks = list[Block]()
    for part in [text] if isinstance(text, str) else text:
        if isinstance(part, str):
            blocks.append(Note(part, "plain"))
        else:
            header, *rows = [[str(cell) for cell in row] for row in part]
            blocks.append(Rows(header, rows))
    return blocks


def _discounts(exercises: Sequence[Printable | OwnQuestion]) -> Iterator[Block]:
    """Make a table of what gains are divided by, for each discount that is needed."""
    needed = [
        exercise
        for exercise in exercises
        if not isinstance(exercise, tuple) and "discount" in exercise.options
    ]
    depth = max([RANKS, *(exercise.depth for exercise in needed)])
    ranks = np.arange(1, depth + 1)
    shown = set[tuple[Any, Any]]()
    for exercise in needed:
        discount, base = exercise.options["discount"], exercise.options["log_base"]
        if (discount, base) in shown:
            continue
        shown.add((discount, base))
        (words,) = options_in_words({"discount": discount, "log_base": base})
        divisors = [
            short_number(round(float(divisor), DECIMALS), DECIMALS + 1)
            for divisor in discount_of(ranks, discount, float(base))
        ]
        yield Rows([_("rank"), *map(str, ranks)], [[words, *divisors]])
