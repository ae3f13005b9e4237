"""What is shown, as text and as HTML: after a change of words, `python -m
tests.widgets.test_shown` writes it down and git shows the difference.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recnb
from recnb.results.single_list import OF_ONE_LIST
from recnb.widgets.quiz import Quiz
from recnb.widgets.quiz.mistakes import common_mistakes
from tests.korean import page as sheet_text
from tests.sample import SAMPLE

SHOWN = Path(__file__).parent / "shown"
EV = SAMPLE.models["popular"].rec.against(SAMPLE.test)
#: Steps, each by itself, on a list of which B alone is relevant, cut at 3.
STEPS: list[Callable[[recnb.widgets.Playground], object]] = [
    lambda play: play.change(relevance={"A": 1}),
    lambda play: play.change(k=1),
    lambda play: play.change(order="BAC"),
    lambda play: play.change(order="CA"),
    lambda play: play.change(gain="binary"),
    lambda play: play.move("C", 1),
    lambda play: (play.move("B", 1), play.undo()),
    lambda play: (play.change(order="ABC"), play.remove("C"), play.reset()),
    lambda play: play.undo(),
]
EXERCISES: list[tuple[str, dict[str, Any]]] = [
    *((metric, {}) for metric in OF_ONE_LIST),
    ("ndcg", {"k": 4, "gain": "exponential", "discount": "rank"}),
    ("ndcg", {"gain": "binary", "discount": "rank"}),
    ("dcg", {"gain": "exponential"}),
    ("dcg", {"discount": "clipped_log", "log_base": 10}),
    ("rbp", {"p": 0.5}),
    ("dcg", {"log_base": 2.718281828}),
    ("precision", {"out_of": "list"}),
    ("average_precision", {"out_of": "hits"}),
    ("reciprocal_rank", {"target": "preferred"}),
]


def steps(lang: str) -> Iterator[object]:
    for step in STEPS:
        play = recnb.playground(["A", "B", "C"], {"B": 2}, ["ndcg"], lang=lang)
        step(play)
        yield play.sentence()
    yield recnb.playground(k=3, lang=lang)


def exercises() -> Iterator[object]:
    for metric, options in EXERCISES:
        quiz = recnb.quiz(metric, seed=1, **options)
        yield from (quiz, quiz.check(f"{quiz.mistakes[0].number:.4f}"), quiz.reveal())


def mistakes() -> Iterator[object]:
    """Each mistake on a list of grades 2, 0, 3, 1, 0, cut at 3, where F of grade 1 is
    missed; of what is 0 or 1, of four lists.
    """
    row, truth = list("ABCDE"), {"A": 2, "C": 3, "D": 1, "F": 1}
    four = [{"A": 1, "B": 1}, {"D": 1, "F": 1}, {"D": 1}, {"C": 1, "F": 1}]
    for metric, known in OF_ONE_LIST.items():
        options = known.defaults | {
            "fbeta": {"beta": 2},
            "err": {"max_relevance": 3},
        }.get(metric, {})
        rows, truths, k = [row], [truth], None if metric == "r_precision" else 3
        if metric == "reciprocal_rank":
            rows, k = [list("EACDB")], 4
        if len(recnb.quiz(metric, seed=1).lists) > 1:
            rows, truths, k = (
                [list(row) for row in ("ABC", "BDA", "CED", "EBA")],
                four,
                2,
            )
        q = Quiz(metric, options, k, rows, truths, "en")
        lines = [f"{one.number:.6f} {one.sentence}" for one in common_mistakes(q)]
        yield "\n".join([f"{q.label} = {q.value:.6f}", *lines])


def sheets() -> Iterator[str]:
    """A sheet with its solutions, one of questions, and one of solutions."""
    asked = (
        ("ndcg", {}),
        ("hit_rate", {}),
        ("dcg", {"discount": "rank"}),
        ("recall", {}),
    )
    first, *others = (recnb.quiz(name, seed=1, **options) for name, options in asked)
    own = (
        ["Which is wrong? " * 30, [["user", "nDCG"], ["<b>", 0.6953]]],
        "The <first>.",
    )
    for options in (
        {"title": "<Homework>"},
        {"solutions": False},
        {"questions": False},
    ):
        yield sheet_text(first.to_html(None, *others, own, **options))
    yield sheet_text(others[-1].to_html(solutions=False))


def pages() -> Iterator[str]:
    """The HTML of each widget after some uses of its controls, with controls and
    without, but its styles.
    """
    users = SAMPLE.users[SAMPLE.users["user"] < "u012"]
    some = (
        frame[frame["user"] < "u012"]
        for frame in (SAMPLE.models["item-knn"], SAMPLE.test)
    )
    few = recnb.evaluate(*some, users=users)
    for widget, uses in (
        (
            recnb.playground(k=4, lang="en"),
            [("rank", "1", "2"), ("relevance", "-1", "0")],
        ),
        (recnb.quiz("precision", seed=3, lang="en"), [("value", "3/5"), ("check",)]),
        (
            few.explore(lang="en"),
            [("by", "1"), ("segment", "0"), ("user", "0"), ("k", "-1")],
        ),
        (few.explore("recall", lang="en"), [("search", "u00"), ("sort", "hits")]),
    ):
        for use in uses:
            widget.use(*use)
        for html in (widget.widget().children[0].html, widget._html(live=False)):
            yield re.sub(r' style="[^"]*"|<style>.*?</style>', "", html).replace(
                "><", ">\n<"
            )


FILES: dict[str, Callable[[], Iterator[object]]] = {
    "lint.txt": lambda: iter([EV.lint()]),
    "libraries.txt": lambda: iter(
        [
            EV.why("ndcg", 10, other="rectools"),
            EV.identify("ndcg", "0.1725", 10),
        ]
    ),
    "steps_en.txt": lambda: steps("en"),
    "steps_ko.txt": lambda: steps("ko"),
    "exercises.txt": exercises,
    "mistakes.txt": mistakes,
    "sheets.txt": sheets,
    "pages.html": pages,
}


def text(file: str) -> str:
    lines = "\n\n".join(map(str, FILES[file]())).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file: str) -> None:
    assert text(file) == (SHOWN / file).read_text("utf-8")


if __name__ == "__main__":
    for file in FILES:
        (SHOWN / file).write_text(text(file), "utf-8")
