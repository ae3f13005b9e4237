"""The pictures of the README: `python -m tests.tools.pictures` makes them anew.

It needs Chromium and the extra `recnb[browser]`. Beside each picture stands the text that
it shows, by which `tests/test_pictures.py` finds that a picture is old.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import recnb
from recnb.widgets.explorer import Explorer
from recnb.widgets.playground import Playground
from tests.korean import page
from tests.lab import chromium

FOLDER = Path(__file__).resolve().parents[2] / "notebooks" / "pictures"
WIDTH, HEIGHT = 1184, 604
TAB = '<h2 class="recnb-tab"'
LABEL = re.compile(r"<label>.*?</label>", re.DOTALL)


def _report() -> str:
    """The report of the README's program."""
    sample = recnb.datasets.load_sample()
    return recnb.evaluate(sample.models["item-knn"], sample.test).report().to_html()


def _widget(live: Playground | Explorer) -> str:
    """The page of a widget with its controls, as a notebook shows it."""
    shown = live.widget().children[0]
    style = f"<!DOCTYPE html><style>{shown._css}</style>"
    return f'{style}<form class="recnb-live">{shown.html}</form>'


def _playground() -> str:
    relevant = {"A": 2, "C": 3, "E": 1, "G": 2}
    playground = recnb.playground([*"ACEBDF"], relevant, k=4)
    playground.move("C", 1)
    return _widget(playground)


def _explorer() -> str:
    sample = recnb.datasets.load_sample()
    evaluation = recnb.evaluate(
        sample.models["item-knn"],
        sample.test,
        train=sample.train,
        items=sample.items,
        users=sample.users,
    )
    explorer = evaluation.explore("ndcg", k=10)
    explorer.choose(by="segment", segment="regular", bar="0")
    return _widget(explorer)


#: What each picture is of.
PICTURES: dict[str, Callable[[], str]] = {
    "report": _report,
    "playground": _playground,
    "explorer": _explorer,
}


def text_of(html: str) -> str:
    """What a picture shows: of a report, the names of its tabs and the first tab down to
    the metrics beyond accuracy.
    """
    *first, rest = html.split(TAB, 2) if TAB in html else [html, ""]
    said = page("".join([*LABEL.findall(rest), TAB.join(first)])).partition(
        "Beyond accuracy"
    )[0]
    lines = (line.strip() for line in said.splitlines())
    return "\n".join(filter(None, lines)) + "\n"


def main() -> None:
    """Make the pictures, and write down their text."""
    with chromium() as browser:
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, html_of in PICTURES.items():
            html = html_of()
            view.set_content(html)
            view.screenshot(path=FOLDER / f"{name}.png")
            (FOLDER / f"{name}.txt").write_text(text_of(html), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
