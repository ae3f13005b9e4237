"""A sheet of exercises to print: questions with room to work, and their solutions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from recnb.conventions import options_in_words
from recnb.data.files import File
from recnb.display.forms import Rows
from recnb.display.language import _
from recnb.display.templates import page, write
from recnb.errors import RecnbError, quoted
from recnb.metrics.formula import number as short_number
from recnb.metrics.gain import discount_of
from recnb.results.files import written
from recnb.widgets.quiz.exercise import Exercise

#: Text of one's own: a paragraph, or paragraphs and tables, which are lists of rows.
Text = str | Sequence[str | Sequence[Sequence[object]]]

#: A question of one's own and its solution.
OwnQuestion = tuple[Text, Text]

#: The ranks of the table of discounts, at least.
RANKS = 6
#: The decimals of discounts.
DECIMALS = 5


class SheetEntry(NamedTuple):
    """A question on a sheet, and its solution."""

    question: Markup
    solution: Markup
    exercise: Exercise | None = None  #: None in a question of one's own


def own_entry(own: OwnQuestion) -> SheetEntry:
    """Return the entry of a question of one's own."""
    if not isinstance(own, tuple) or len(own) != 2:
        raise RecnbError(
            f"{quoted(own)} is no question of a sheet: give a pair of the question and "
            f"its solution."
        )
    question, solution = map(_html_of, own)
    return SheetEntry(question, solution)


def _html_of(text: Text) -> Markup:
    """Return text of one's own as HTML; the first row of a table is its header."""
    parts: list[str | Rows] = []
    for part in [text] if isinstance(text, str) else text:
        if isinstance(part, str):
            parts.append(part)
        else:
            header, *rows = [list(map(str, row)) for row in part]
            parts.append(Rows(header, rows))
    return Markup(write("widgets/quiz/own.jinja", "html", parts=parts))


def sheet(
    entries: Sequence[SheetEntry],
    path: File | None,
    *,
    questions: bool,
    solutions: bool,
    title: str,
) -> Any:
    """Return a sheet as HTML, or write it.

    The solutions come after all questions, on a page of their own.
    """
    exercises = [entry.exercise for entry in entries if entry.exercise is not None]
    labels = dict.fromkeys(exercise.label for exercise in exercises)
    title = title or _("Exercise: {label}", label=", ".join(labels))
    body = write(
        "widgets/quiz/sheet.jinja",
        "html",
        title=title,
        discounts=list(_discounts(exercises)) if questions else [],
        questions=entries if questions else [],
        solutions=entries if solutions else [],
    )
    return written(page(title, body), path)


def _discounts(exercises: Sequence[Exercise]) -> Iterator[Rows]:
    """Make a table of what gains are divided by, for each discount that is needed."""
    discounted = [each for each in exercises if "discount" in each.options]
    depth = max([RANKS, *(each.depth for each in discounted)])
    ranks = np.arange(1, depth + 1)
    discounts = [
        (each.options["discount"], each.options["log_base"]) for each in discounted
    ]
    for discount, base in dict.fromkeys(discounts):
        (words,) = options_in_words({"discount": discount, "log_base": base})
        divisors = discount_of(ranks, discount, float(base)).round(DECIMALS)
        row = [short_number(divisor, DECIMALS + 1) for divisor in divisors.tolist()]
        yield Rows([_("rank"), *map(str, ranks)], [[words, *row]])
