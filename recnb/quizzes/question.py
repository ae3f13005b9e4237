"""The question of an exercise, in plain text and in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.formula import number
from recnb.metric import METRICS
from recnb.quizzes.drawn import TOP
from recnb.quizzes.told import discount_in_words
from recnb.results import html
from recnb.strings import say, speaking

if TYPE_CHECKING:
    from recnb.quizzes.exercise import Quiz


def text(quiz: Quiz) -> str:
    """The question for a console; it stands alone."""
    with speaking(quiz.lang):
        table = _aligned([header(quiz), *rows(quiz)])
        return "\n".join([asked(quiz), "", *table, "", *_missed(quiz), *rules(quiz), *tasks(quiz), _how(quiz)])


def html_of(quiz: Quiz, *, how: bool = True) -> str:
    """The question for a notebook; without the last line where there is a box to answer in."""
    with speaking(quiz.lang):
        title = html.text(say("quiz.title", label=quiz.label))
        caption = say("quiz.caption.users" if quiz.metric == "hit_rate" else "quiz.caption.list")
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
            label=say("quiz.title", label=quiz.label),
        )


def asked(quiz: Quiz) -> str:
    """What is asked for, in one sentence."""
    kind = {"hit_rate": "users", "idcg": "ideal"}.get(quiz.metric, "list")
    name = say(f"quiz.metric.{quiz.metric}")
    return say(f"quiz.ask.{kind}", name=name, label=quiz.label, users=len(quiz.drawn.lists))


def header(quiz: Quiz) -> list[str]:
    """The names of the columns."""
    columns = ("user", "list", "relevant") if quiz.metric == "hit_rate" else ("rank", "item", "relevance")
    return [say(f"quiz.column.{one}") for one in columns]


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
    cut = "quiz.rule.cut.users" if quiz.metric == "hit_rate" else "quiz.rule.cut"
    said = [] if quiz.k is None else [say(cut, k=quiz.k)]
    if "gain" in chosen:
        said.append(say("quiz.rule.gain", gain=say(f"quiz.gain.{drawn.option('gain')}")))
    elif quiz.metric not in ("hit_rate", "err"):
        said.append(say("quiz.rule.relevant"))
    if "discount" in chosen:
        discount = discount_in_words(drawn.option("discount"), drawn.option("log_base"))
        said.append(say("quiz.rule.discount", discount=discount))
    if "ideal" in chosen:
        said.append(say(f"quiz.rule.ideal.{drawn.option('ideal')}", k=quiz.k))
    if "out_of" in chosen and (quiz.metric == "average_precision" or "out_of" in drawn.options):
        word = drawn.option("out_of").replace("(", "_").replace(")", "").replace(", ", "_")
        said.append(say(f"quiz.rule.out_of.{word}"))
    if drawn.option("target") == "preferred":
        said.append(say("quiz.rule.target.preferred"))
    said += [say(f"quiz.rule.{name}", **{name: number(drawn.option(name))}) for name in ("p", "beta") if name in chosen]
    if "max_relevance" in chosen:
        said.append(say("quiz.rule.scale", top=number(drawn.option("max_relevance") or TOP)))
    return said


def tasks(quiz: Quiz) -> list[str]:
    """What to answer, and to how many digits."""
    return [say("quiz.digits", digits=quiz.digits), *([say("quiz.largest")] if quiz.asks_largest else [])]


def _missed(quiz: Quiz) -> list[str]:
    if quiz.metric == "hit_rate":
        return []
    items = [f"{item} ({grade})" for item, grade in quiz.drawn.missed.items()]
    return [say("quiz.missed", items=", ".join(items))]


def _how(quiz: Quiz) -> str:
    return say("quiz.how.largest" if quiz.asks_largest else "quiz.how")


def _aligned(table: list[list[str]]) -> list[str]:
    """Columns side by side; Korean letters are two places wide in a console."""
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    return [
        "  " + "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def _width(cell: str) -> int:
    return sum(2 if "ᄀ" <= one <= "힣" else 1 for one in cell)
