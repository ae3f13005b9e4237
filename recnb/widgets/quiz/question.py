"""The question of an exercise, in the sentences of `question.txt.jinja` and as a table."""

from __future__ import annotations

from typing import Any

from recnb.conventions import option_in_words
from recnb.display.language import _
from recnb.display.templates import plain_lines
from recnb.metrics.formula import number
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList
from recnb.widgets.quiz.mistakes import GAINS, discount_in_words

#: Options that have sentences of their own.
DESCRIBED = ("gain", "discount", "log_base", "ideal", "out_of", "target", "p", "beta", "max_relevance")


def table(drawn: QuizList) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows: the grade of each rank of the list or, for several users, the list of each."""
    if drawn.several:
        pairs = zip(drawn.lists, drawn.truths, strict=True)
        users = [[str(user), ", ".join(items), ", ".join(truth)] for user, (items, truth) in enumerate(pairs, 1)]
        return [_("user"), _("list, from rank 1 down"), _("relevant items")], users
    ranks = enumerate(zip(drawn.row, drawn.grades, strict=True), 1)
    return [_("rank"), _("item"), _("relevance")], [[str(rank), item, str(grade)] for rank, (item, grade) in ranks]


def sentences(drawn: QuizList, digits: int) -> dict[str, list[str]]:
    """Return the question, the rules, what to answer and how that is checked in Python, sentence by sentence."""
    metric = METRICS[drawn.metric]
    options = {name: drawn.option(name) for name in metric.defaults}
    words: dict[str, Any] = {name: number(options[name] or TOP) for name in metric.numbers}
    words |= {"name": metric.term, "digits": digits}
    words["missed"] = ", ".join(f"{item} ({grade})" for item, grade in drawn.missed.items())
    if "gain" in options:
        words["gain"] = _(GAINS[options["gain"]])
    if "discount" in options:
        words["discount"] = discount_in_words(options["discount"], options["log_base"])
    others = [option_in_words(name, value) for name, value in options.items() if name not in DESCRIBED]
    words["others"] = [other for other in others if other]
    parts = ("question", "rules", "tasks", "instruction")
    return {part: plain_lines("widgets/quiz/question.txt.jinja", part, drawn, options, words) for part in parts}
