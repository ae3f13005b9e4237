"""The question of an exercise, in the sentences of `question.txt.jinja` and as a table."""

from __future__ import annotations

from functools import partial

from recnb.conventions import option_in_words
from recnb.display.language import _
from recnb.display.templates import plain_lines
from recnb.metrics.formula import number
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList
from recnb.widgets.quiz.mistakes import GAINS, discount_in_words

#: Options that have sentences of their own.
DESCRIBED = ("gain", "discount", "log_base", "ideal", "out_of", "target", "p", "beta", "max_relevance")

_lines = partial(plain_lines, "widgets/quiz/question.txt.jinja")


def question(drawn: QuizList) -> str:
    """Ask for the metric, in one sentence."""
    return _lines("question", drawn, METRICS[drawn.metric].term)[0]


def header(drawn: QuizList) -> list[str]:
    """Name the columns of the table."""
    if drawn.several:
        return [_("user"), _("list, from rank 1 down"), _("relevant items")]
    return [_("rank"), _("item"), _("relevance")]


def rows(drawn: QuizList) -> list[list[str]]:
    """Return the list with the grade of each rank; for several users, a row each."""
    if drawn.several:
        pairs = zip(drawn.lists, drawn.truths, strict=True)
        return [[str(user), ", ".join(items), ", ".join(truth)] for user, (items, truth) in enumerate(pairs, 1)]
    ranks = enumerate(zip(drawn.row, drawn.grades, strict=True), 1)
    return [[str(rank), item, str(grade)] for rank, (item, grade) in ranks]


def rules(drawn: QuizList) -> list[str]:
    """State the relevant items that are missed, and the conventions behind the number."""
    options = {name: drawn.option(name) for name in METRICS[drawn.metric].defaults}
    words = {name: number(options[name] or TOP) for name in METRICS[drawn.metric].numbers}
    words["missed"] = ", ".join(f"{item} ({grade})" for item, grade in drawn.missed.items())
    if "gain" in options:
        words["gain"] = _(GAINS[options["gain"]])
    if "discount" in options:
        words["discount"] = discount_in_words(options["discount"], options["log_base"])
    others = [option_in_words(name, value) for name, value in options.items() if name not in DESCRIBED]
    return _lines("rules", drawn, options, {**words, "others": [other for other in others if other]})


def tasks(drawn: QuizList, digits: int) -> list[str]:
    """State what to answer, and to how many decimals; 0: with a whole number."""
    return _lines("tasks", drawn, digits)


def instruction(drawn: QuizList) -> str:
    """State how an answer is checked in Python."""
    return _lines("instruction", drawn)[0]
