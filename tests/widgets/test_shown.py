"""What widgets, exercises, the lint and libraries show, held against files of calls:
`python -m tests.widgets.test_shown` writes what each shows, and git the difference.
"""

from functools import cache
from typing import Any

import pytest

import recnb
from recnb.results.single_list import OF_ONE_LIST
from recnb.widgets.quiz import Quiz, mistakes
from tests import korean
from tests.drawn import html_of
from tests.sample import SAMPLE
from tests.shown import Recorded, text_of

EV = SAMPLE.models["popular"].rec.against(SAMPLE.test)
#: Draws an exercise once for all calls of `exercises.txt` that ask about it.
drawn = cache(recnb.quiz)
#: Exercises of a sheet, and a question of one's own with its solution.
FIRST, *OTHERS = (
    recnb.quiz(name, seed=1, **options)
    for name, options in (
        ("ndcg", {}),
        ("hit_rate", {}),
        ("dcg", {"discount": "rank"}),
        ("recall", {}),
    )
)
TABLE = [["user", "nDCG"], ["<b>", 0.6953]]
ASKED = recnb.quiz("ndcg", [*"ABCD"], {"B": 1, "E": 1}, k=3)
OWN = (["Which is wrong? " * 30, TABLE], "The <first>.")
#: Relevant items of four lists.
FOUR = ({"A": 1, "B": 1}, {"D": 1, "F": 1}, {"D": 1}, {"C": 1, "F": 1})


def after(*steps: str, lang: str) -> str:
    """Return what a playground says of steps on a list of which B alone is relevant."""
    play = recnb.playground(["A", "B", "C"], {"B": 2}, ["ndcg"], lang=lang)
    for step in steps:
        eval(f"play.{step}", {"play": play})
    return play.sentence()


def mistakes_of(
    metric: str,
    k: int | None = 3,
    rows: Any = ("ABCDE",),
    truths: Any = ({"A": 2, "C": 3, "D": 1, "F": 1},),
    **options: Any,
) -> str:
    """Return the numbers of common mistakes, and what is said of each."""
    options = OF_ONE_LIST[metric].defaults | options
    quiz = Quiz(metric, options, k, [list(row) for row in rows], [*truths], "en")
    lines = [
        f"{one.number:.6f} {one.sentence}" for one in mistakes.common_mistakes(quiz)
    ]
    return "\n".join([f"{quiz.label} = {quiz.value:.6f}", *lines])


def few() -> recnb.Evaluation:
    """An evaluation of some users of the sample."""
    frames = SAMPLE.models["item-knn"], SAMPLE.test, SAMPLE.users
    recs, truth, users = (frame[frame["user"] < "u012"] for frame in frames)
    return recnb.evaluate(recs, truth, users=users)


def used(widget: Any, uses: tuple[str, ...]) -> Any:
    """Use controls of a widget, each with its values."""
    for use in uses:
        widget.use(*use.split())
    return widget


def live(widget: Any, *uses: str) -> str:
    """Return the page of a widget after some uses of its controls."""
    return html_of(used(widget, uses).widget().children[0].html)


def still(widget: Any, *uses: str) -> str:
    """Return the same without controls."""
    return html_of(used(widget, uses)._html(live=False))


FILES = (
    *("lint.txt", "libraries.txt", "steps_en.txt", "steps_ko.txt"),
    *("exercises.txt", "mistakes.txt", "sheets.txt", "pages.html"),
)
NAMES = globals() | {"sheet_text": korean.page, "other_numbers": mistakes.other_numbers}
RECORDED = Recorded(__file__, dict.fromkeys(FILES, text_of), NAMES)


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file: str) -> None:
    RECORDED.hold(file)


if __name__ == "__main__":
    RECORDED.write()
