"""Playground and explorer in the hands of a reader: dragging, keys, sliders, clicks, and the numbers that then stand there.

The pictures of the README are made here: `RECNB_PICTURES=notebooks/pictures python -m pytest -m browser
tests/widgets/test_browser.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

import recnb
from tests.lab import Lab, errors, lab, page, run_all, shoot  # noqa: F401  # fixtures are found by their names

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

RELEVANT = {"A": 2, "C": 3, "E": 1, "G": 2}


def picture(page: Page, what: Locator, lab: Lab, name: str, height: int = 620) -> None:
    """The top of something as the README shows it, where that is asked for; else among the screenshots."""
    path = Path(os.environ.get("RECNB_PICTURES", lab.shots)) / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    before = page.viewport_size
    page.set_viewport_size({"width": 1240, "height": 1800})
    what.scroll_into_view_if_needed()
    page.wait_for_timeout(600)
    box = what.bounding_box()
    assert box is not None
    page.screenshot(path=path, clip={**box, "height": min(box["height"], height)})
    assert before is not None
    page.set_viewport_size(before)
    assert 10_000 < path.stat().st_size < 200_000


def cells(page: Page) -> int:
    """How many cells the notebook has: a key that the notebook takes for a command adds some, or takes some away."""
    return int(page.evaluate("() => window.jupyterapp.shell.currentWidget.content.model.cells.length"))


class Playground:
    """The playground on a page: what a hand does to it, and what it shows."""

    def __init__(self, page: Page) -> None:
        from playwright.sync_api import expect

        self.page, self.expect = page, expect
        self.root = page.locator(".recnb-play").first
        self.k: int = 4
        self.relevance: dict[str, float] = dict(RELEVANT)
        self.gain = "linear"

    def item(self, name: str) -> Locator:
        return self.root.locator(f".recnb-row[data-item='{name}'] .recnb-item")

    def order(self) -> list[str]:
        rows = self.root.locator("ol.recnb-list .recnb-row")
        return list(rows.evaluate_all("rows => rows.map(row => row.dataset.item)"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def shows(self, order: Sequence[str]) -> None:
        """The list stands so, and each number is recnb's own of that list."""
        self.page.wait_for_function(
            "order => [...document.querySelectorAll('.recnb-play ol.recnb-list .recnb-row')]"
            ".map(row => row.dataset.item).slice(0, order.length).join() === order.join()",
            arg=list(order),
        )
        truth = {item: grade for item, grade in self.relevance.items() if grade > 0}
        for metric in ("precision", "recall", "average_precision", "ndcg"):
            options: dict[str, Any] = {"gain": self.gain} if metric == "ndcg" else {}
            value = getattr(recnb, metric)(list(order), truth, k=self.k, **options)
            cell = self.root.locator(f".recnb-play-values tr:has([data-metric='{metric}']) .recnb-value")
            self.expect(cell).to_have_text(f"{value:.4f}")


def test_the_playground_answers_to_hand_and_keyboard(page: Page, lab: Lab) -> None:
    run_all(page, lab, "07_playground")
    play = Playground(page)
    play.root.scroll_into_view_if_needed()
    play.shows("ABCDEF")

    # dragged
    play.item("E").drag_to(play.item("B"))
    play.shows("AEBCDF")
    # moved by keys, with the focus staying on it
    play.item("C").focus()
    play.press("Alt+ArrowUp")
    play.shows("AECBDF")
    assert page.evaluate("document.activeElement.closest('.recnb-row').dataset.item") == "C"
    play.expect(play.root.locator(".recnb-said")).to_contain_text("C, now rank 3 of 6")
    play.press("Alt+ArrowUp", "Alt+ArrowUp")
    play.shows("CAEBDF")
    picture(page, play.root, lab, "playground")
    # k by the slider
    play.root.locator(".recnb-play-k [role=slider]").focus()
    play.press("ArrowLeft", "ArrowLeft")
    play.k = 2
    play.shows("CAEBDF")
    # relevance by keys, and of an item that was not recommended
    play.item("B").focus()
    play.press("+", "+")
    play.relevance["B"] = 2
    play.shows("CAEBDF")
    play.root.locator("ul.recnb-outside .recnb-row[data-item='G'] .recnb-relevance").fill("0")
    play.press("Enter")
    play.relevance["G"] = 0
    play.shows("CAEBDF")
    # gain, focus, undo
    play.root.locator(".recnb-play-gain").get_by_label("exponential").check()
    play.gain = "exponential"
    play.shows("CAEBDF")
    play.root.locator(".recnb-play-explained").get_by_label("AP").check()
    play.expect(play.root.locator(".recnb-play-how")).to_contain_text("AP@2 =")
    play.root.locator(".recnb-play-undo").click()
    play.gain = "linear"
    play.shows("CAEBDF")
    # radio buttons by keys, which the notebook does not take for its own
    before = cells(page)
    play.root.locator(".recnb-play-gain").get_by_label("linear").focus()
    play.press("ArrowRight", "b", "d", "d")
    play.gain = "exponential"
    play.shows("CAEBDF")
    assert cells(page) == before
    assert play.root.get_by_role("radiogroup", name="gain").count() == 1
    play.root.locator(".recnb-play-reset").click()
    play.k, play.gain, play.relevance = 4, "linear", dict(RELEVANT)
    play.shows("ABCDEF")

    assert errors(page) == 0
    assert all(shot.stat().st_size > 20_000 for shot in shoot(page, lab, "07"))
    assert lab.outside == []


def test_the_explorer_goes_from_a_mean_to_one_user(page: Page, lab: Lab) -> None:
    from playwright.sync_api import expect

    run_all(page, lab, "08_explore_users")
    sample = recnb.datasets.load_sample()
    ev = sample.models["item-knn"].rec.against(sample.test, users=sample.users, train=sample.train)
    explorer = page.locator(".recnb-explorer").first
    explorer.scroll_into_view_if_needed()
    summary, detail = explorer.locator(".recnb-explorer-summary"), explorer.locator(".recnb-explorer-detail")
    users = explorer.locator(".recnb-explorer-users select")
    expect(summary).to_contain_text(f"{float(ev.ndcg(k=10)):.4f}")

    # a user is chosen in the list, then another by keys
    order = ev.ndcg(k=10).per_user.sort_values(ascending=False, kind="stable").index
    users.select_option(index=3)
    expect(detail).to_contain_text(f"nDCG@10 of user {order[3]} = {ev.ndcg(k=10).per_user[order[3]]:.4f}")
    places = ev.explain("ndcg", order[3], k=10).to_frame()
    for term in places["term"][places["term"] != ""]:
        expect(detail).to_contain_text(term)
    users.focus()
    page.keyboard.press("ArrowDown")
    expect(detail).to_contain_text(f"nDCG@10 of user {order[4]}")
    # k by keys
    explorer.get_by_label("k (0: whole lists)").fill("9")
    page.keyboard.press("Enter")
    expect(summary).to_contain_text(f"{float(ev.ndcg(k=9)):.4f}")
    expect(detail).to_contain_text(f"nDCG@9 of user {order[4]}")
    explorer.get_by_label("k (0: whole lists)").fill("10")
    page.keyboard.press("Enter")
    expect(summary).to_contain_text(f"{float(ev.ndcg(k=10)):.4f}")
    # sorted by hits, and searched
    explorer.get_by_label("sort by").select_option(label="hits")
    most = int(ev.cg(k=10, gain="binary").per_user.max())
    expect(users.locator("option").first).to_contain_text(f" {most} ")
    explorer.get_by_label("Search users").fill("u02")
    expect(users.locator("option")).to_have_count(sum("u02" in one for one in ev.users))
    explorer.get_by_label("Search users").fill("")
    # a choice by keys, which the notebook does not take for its own
    before = cells(page)
    explorer.get_by_label("Segment").focus()
    page.keyboard.press("a")
    parts = explorer.locator(".recnb-explorer-parts select option")
    expect(parts).to_have_count(1 + len(ev.table("ndcg", k=10, by="activity")))
    assert cells(page) == before
    # a segment, and a bar of it
    explorer.get_by_label("Segment").select_option(label="segment")
    explorer.locator(".recnb-explorer-parts select").select_option(index=2)
    segments = ev.table("ndcg", k=10, by="segment").loc[("ndcg", 10)].rename(index={"new": "light"})
    expect(summary).to_contain_text(f"{segments.loc['light', 'mean']:.4f}")
    explorer.locator(".recnb-explorer-bars select").select_option(index=1)
    expect(users.locator("option").first).to_contain_text("0.0000")
    picture(page, explorer, lab, "explorer")

    assert errors(page) == 0
    assert all(shot.stat().st_size > 20_000 for shot in shoot(page, lab, "08"))
    assert lab.outside == []


def test_a_quiz_is_answered_by_keys(page: Page, lab: Lab, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    asked = recnb.quiz("dcg", seed=11)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import recnb\nrecnb.quiz('dcg', seed=11)")])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "site/notebooks/quiz.ipynb")
    run_all(page, lab, "quiz")
    quiz = page.locator(".recnb-quiz")
    before = cells(page)
    box = quiz.get_by_label("Value")
    box.focus()
    page.keyboard.press("b")  # in the notebook: a cell below
    assert cells(page) == before
    box.fill(f"{2 / 1 + 3 / log2(3):.4f}")
    page.keyboard.press("Enter")
    expect(quiz.get_by_role("alert")).to_contain_text("A common mistake gives exactly this number.")
    box.fill(f"{asked.value:.4f}")
    page.keyboard.press("Enter")
    expect(quiz.get_by_role("alert")).to_contain_text("Right")
    expect(quiz.locator(".recnb-quiz-solution")).to_contain_text("Solution")
    assert errors(page) == 0
    assert lab.outside == []


def test_a_report_as_a_page(page: Page, lab: Lab, tmp_path: Path) -> None:
    sample = recnb.datasets.load_sample()
    ev = sample.models["item-knn"].rec.against(sample.test, users=sample.users, train=sample.train, items=sample.items)
    ev.report(k=[5, 10, 20]).to_html(tmp_path / "report.html")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "report.html").as_uri())
    body = page.locator("body")
    assert f"{float(ev.ndcg(k=10)):.4f}" in body.inner_text()
    picture(page, body, lab, "report")
    assert said == []
    assert lab.outside == []
