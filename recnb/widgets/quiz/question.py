"""The question of an exercise, in plain text and in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.display import html
from recnb.display.language import N_, _, use_language
from recnb.metrics.formula import number
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP
from recnb.widgets.quiz.wording import GAINS, discount_in_words

if TYPE_CHECKING:
    from recnb.widgets.quiz.exercise import Quiz

#: The question, by what it is about.
ASKS: dict[str, str] = {
    "list": N_("What is the {name} of this list, {label}?"),
    "ideal": N_("What is the {name} that a list of these items could reach, {label}?"),
    "users": N_("What is the {name} over these {users} users, {label}?"),
}

#: Columns of the lists.
COLUMN_NAMES: dict[str, str] = {
    "rank": N_("rank"),
    "item": N_("item"),
    "relevance": N_("relevance"),
    "user": N_("user"),
    "list": N_("list, from rank 1 down"),
    "relevant": N_("relevant items"),
}

#: What the ideal list holds.
IDEALS: dict[str, str] = {
    "relevant": N_(
        "The ideal list holds all relevant items, recommended or not, the most relevant first, and is cut at k = "
        "{k} as well."
    ),
    "list": N_("The ideal list holds the recommended items in their best order and is cut at k = {k} as well."),
    "k": N_("The ideal list holds {k} items, each as relevant as the best one."),
}

#: What the sum is divided by.
OUT_OF_RULES: dict[str, str] = {
    "relevant": N_("The sum is divided by the number of relevant items, found or not."),
    "hits": N_("The sum is divided by the number of hits."),
    "k": N_("The sum is divided by k."),
    "list": N_("The sum is divided by the number of places that the list fills, down to k."),
    "min(k, relevant)": N_("The sum is divided by k or by the number of relevant items, whichever is smaller."),
    "min(list, relevant)": N_(
        "The sum is divided by k, by the length of the list or by the number of relevant items, whichever is smallest."
    ),
}

#: Parameters of metrics.
PARAMETERS: dict[str, str] = {
    "p": N_("The reader goes on to the next rank with probability p = {p}."),
    "beta": N_("Recall weighs beta = {beta} times as much as precision."),
}


def text(quiz: Quiz) -> str:
    """The question for a console; it stands alone."""
    with use_language(quiz.lang):
        table = _aligned([header(quiz), *rows(quiz)])
        return "\n".join([asked(quiz), "", *table, "", *_missed(quiz), *rules(quiz), *tasks(quiz), _how(quiz)])


def html_of(quiz: Quiz, *, how: bool = True) -> str:
    """The question for a notebook; without the last line where there is a box to answer in."""
    with use_language(quiz.lang):
        title = html.text(_("Exercise: {label}", label=quiz.label))
        caption = _("The lists") if quiz.metric == "hit_rate" else _("The list")
        side = 3 if quiz.metric == "hit_rate" else 2
        cells = [[html.text(cell) for cell in row] for row in rows(quiz)]
        table = html.table([html.text(name) for name in header(quiz)], cells, caption=caption, numbers_from=side)
        said = "".join(f"<div>{html.text(one, 400)}</div>" for one in [*_missed(quiz), *rules(quiz)])
        task = html.text(" ".join(tasks(quiz)), 400)
        last = html.note(html.text(_how(quiz), 400)) if how else ""
        return html.root(
            f'<div style="font-weight: 600;">{title}</div>',
            f'<div style="margin: 0.3em 0;">{html.text(asked(quiz), 400)}</div>',
            table,
            f'<div style="margin: 0.5em 0;">{said}</div>',
            f'<div style="margin: 0.5em 0;"><b>{task}</b></div>',
            last,
            label=_("Exercise: {label}", label=quiz.label),
        )


def asked(quiz: Quiz) -> str:
    """What is asked for, in one sentence."""
    kind = {"hit_rate": "users", "idcg": "ideal"}.get(quiz.metric, "list")
    name = METRICS[quiz.metric].term
    return _(ASKS[kind], name=name, label=quiz.label, users=len(quiz.drawn.lists))


def header(quiz: Quiz) -> list[str]:
    """The names of the columns."""
    columns = ("user", "list", "relevant") if quiz.metric == "hit_rate" else ("rank", "item", "relevance")
    return [_(COLUMN_NAMES[one]) for one in columns]


def rows(quiz: Quiz) -> list[list[str]]:
    """The list with the grade of each rank; for several users, a row each."""
    drawn = quiz.drawn
    if quiz.metric == "hit_rate":
        pairs = zip(drawn.lists, drawn.truths, strict=True)
        return [[str(at), ", ".join(row), ", ".join(truth)] for at, (row, truth) in enumerate(pairs, 1)]
    return [
        [str(rank), item, str(grade)]
        for rank, (item, grade) in enumerate(zip(drawn.row, drawn.grades, strict=True), 1)
    ]  # fmt: skip


def rules(quiz: Quiz) -> list[str]:
    """The decisions behind the number that one has to be told."""
    drawn, chosen = quiz.drawn, METRICS[quiz.metric].defaults
    cut = N_("Each list is cut at k = {k}.") if quiz.metric == "hit_rate" else N_("The list is cut at k = {k}.")
    said = [] if quiz.k is None else [_(cut, k=quiz.k)]
    if "gain" in chosen:
        said.append(_("Gain: {gain}.", gain=_(GAINS[drawn.option("gain")])))
    elif quiz.metric not in ("hit_rate", "err"):
        said.append(_("An item is relevant if its relevance is above 0."))
    if "discount" in chosen:
        discount = discount_in_words(drawn.option("discount"), drawn.option("log_base"))
        said.append(_("Discount: {discount}.", discount=discount))
    if "ideal" in chosen:
        said.append(_(IDEALS[drawn.option("ideal")], k=quiz.k))
    if "out_of" in chosen and (quiz.metric == "average_precision" or "out_of" in drawn.options):
        said.append(_(OUT_OF_RULES[drawn.option("out_of")]))
    if drawn.option("target") == "preferred":
        said.append(_("The item that counts is the most relevant one."))
    said += [_(PARAMETERS[name], **{name: number(drawn.option(name))}) for name in ("p", "beta") if name in chosen]
    if "max_relevance" in chosen:
        said.append(_("Grades run from 0 to {top}.", top=number(drawn.option("max_relevance") or TOP)))
    return said


def tasks(quiz: Quiz) -> list[str]:
    """What to answer, and to how many digits."""
    return [
        _("Answer to {digits} decimals.", digits=quiz.digits),
        *([_("And which item's term in the sum is the largest?")] if quiz.asks_largest else []),
    ]


def _missed(quiz: Quiz) -> list[str]:
    if quiz.metric == "hit_rate":
        return []
    items = [f"{item} ({grade})" for item, grade in quiz.drawn.missed.items()]
    return [_("Relevant, but not in the list (relevance in brackets): {items}.", items=", ".join(items))]


def _how(quiz: Quiz) -> str:
    return (
        _('Check your answer with q.check(value, largest="A"), where q is this exercise.')
        if quiz.asks_largest
        else _("Check your answer with q.check(value), where q is this exercise.")
    )


def _aligned(table: list[list[str]]) -> list[str]:
    """Columns side by side; Korean letters are two places wide in a console."""
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    return [
        "  " + "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def _width(cell: str) -> int:
    return sum(2 if "ᄀ" <= one <= "힣" else 1 for one in cell)
