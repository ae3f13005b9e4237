"""The question of an exercise: what is asked, the lists, and the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recnb.conventions import options_in_words
from recnb.display.forms import Line, Name, Rows, joined, say
from recnb.display.language import N_, _
from recnb.metrics.formula import number as short_number
from recnb.results.single_list import OF_ONE_LIST
from recnb.widgets.quiz.exercise import DIGITS, Exercise


class Question(NamedTuple):
    """The question of an exercise."""

    title: str
    asked: str
    table: Rows  #: the list, or the lists of several users
    rules: list[Line]


def question_of(q: Exercise) -> Question:
    """Return the question of an exercise."""
    return Question(
        title=_("Exercise: {label}", label=q.label),
        asked=_what_is_asked(q),
        table=_table_of_users(q) if len(q.lists) > 1 else _table_of_ranks(q),
        rules=list(_rules(q)),
    )


def _what_is_asked(q: Exercise) -> str:
    metric = OF_ONE_LIST[q.metric]
    if len(q.lists) > 1:
        return _(
            "What is the {name} over these {n_users} {users}, {label}?",
            name=metric.term,
            n_users=len(q.lists),
            label=q.label,
        )
    asked = N_("What is the {name} of this list, {label}?")
    if metric.over == "ideal":
        asked = N_(
            "What is the {name} that a list of these {items} could reach, {label}?"
        )
    return _(asked, name=metric.term, label=q.label)


def _table_of_users(q: Exercise) -> Rows:
    header = [_("{user}"), _("list, from rank 1 down"), _("relevant {items}")]
    rows = []
    for user, items in enumerate(q.lists):
        rows.append([str(user + 1), _names(items), _names(q.truths[user])])
    return Rows(header, rows, left=3)


def _names(items: Iterable[str]) -> Line:
    return joined(map(Name, items))


def _table_of_ranks(q: Exercise) -> Rows:
    header = [_("rank"), _("{item}"), _("relevance")]
    rows = []
    for rank, item in enumerate(q.row, start=1):
        grade = short_number(q.truth.get(item, 0))
        rows.append([str(rank), Name(item), grade])
    return Rows(header, rows, left=2)


def _rules(q: Exercise) -> Iterator[Line]:
    if len(q.lists) > 1:
        yield _("Each list is cut at k = {k}.", k=q.k)
    else:
        yield from _rules_of_one_list(q)
    conventions = "; ".join(options_in_words(_unusual_options(q)))
    if conventions:
        yield _("Conventions: {conventions}.", conventions=conventions)
    yield _(
        "Answer to {digits} decimals, or with a fraction, such as 2/3.", digits=DIGITS
    )


def _rules_of_one_list(q: Exercise) -> Iterator[Line]:
    missed: list[Line] = []
    for item, grade in q.truth.items():
        if item not in q.row:
            missed.append([Name(item), f" ({short_number(grade)})"])
    if missed:
        relevant = N_("Relevant, but not in the list (relevance in brackets): {items}.")
        yield say(relevant, items=joined(missed))
    if q.k is not None:
        yield _("The list is cut at k = {k}.", k=q.k)
    if "gain" not in q.options:
        yield _("{Items} are relevant if their relevance is above 0.")


def _unusual_options(q: Exercise) -> dict[str, object]:
    """Return the options without what is part of the question.

    That is the usual denominator of precision and recall, and the usual target.
    """
    usual: dict[str, tuple[str, ...]] = {
        "out_of": ("k", "relevant"),
        "target": ("first",),
    }
    if q.metric == "average_precision":  # which has several denominators in use
        usual = {}
    return {
        name: value
        for name, value in q.options.items()
        if value not in usual.get(name, ())
    }
