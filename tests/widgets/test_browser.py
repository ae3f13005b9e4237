"""Playground and explorer in the hands of a reader: dragging, keys, sliders, clicks,
and the numbers that then stand there.
"""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import nbformat
import pytest

import recnb
from tests.lab import Lab, errors, run_all

Locator = Page = Any  # of playwright, which the extra recnb[browser] installs
pytestmark = pytest.mark.browser

RELEVANT = {"A": 2, "C": 3, "E": 1, "G": 2}


def cells(page: Page) -> int:
    """How many cells the notebook has: a key that the notebook takes for a command adds
    some, or takes some away.
    """
    return int(
        page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.model.cells.length"
        )
    )


def run_code(page: Page, lab: Lab, folder: Path, code: str) -> None:
    """Run a notebook of one cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, folder / "site/notebooks/one_cell.ipynb")
    run_all(page, lab, "one_cell")


def assert_quiet(page: Page, lab: Lab) -> None:
    """Nothing was raised, and nothing left this computer."""
    assert errors(page) == 0
    assert lab.outside == []


class Playground:
    """The playground on a page: what a hand does to it, and what it shows."""

    def __init__(self, page: Page) -> None:
        self.page, self.k, self.gain, self.relevance = (
            page,
            4,
            "linear",
            dict[str, float](RELEVANT),
        )
        self.root = page.locator(".recnb-live:has([data-list])").first

    def item(self, name: str) -> Locator:
        return self.root.locator(f"tr[data-name='{name}'] .recnb-item")

    def press(self, name: str, *keys: str) -> None:
        """Press keys on an item, or where the focus is."""
        if name:
            self.item(name).focus()
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self) -> str:
        """The item whose row has the focus."""
        return str(
            self.page.evaluate("document.activeElement.closest('tr').dataset.name")
        )

    def shows(self, order: str) -> None:
        """The list stands so, and each number is recnb's own of that list."""
        from playwright.sync_api import expect

        self.page.wait_for_function(
            "order => [...document.querySelectorAll('[data-list=in] "
            "[data-name]')].map(row => row.dataset.name).join('') === order",
            arg=order,
        )
        truth = {item: grade for item, grade in self.relevance.items() if grade > 0}
        for metric in ("precision", "recall", "average_precision", "ndcg"):
            options: dict[str, Any] = {"gain": self.gain} if metric == "ndcg" else {}
            value = getattr(recnb, metric)(list(order), truth, k=self.k, **options)
            cell = self.root.locator(f"tr:has([data-metric='{metric}']) .recnb-value")
            expect(cell).to_have_text(f"{value:.4f}")


def test_the_playground_answers_to_hand_and_keyboard(page: Page, lab: Lab) -> None:
    from playwright.sync_api import expect

    run_all(page, lab, "07_playground")
    play = Playground(page)
    root = play.root
    root.scroll_into_view_if_needed()
    play.shows("ABCDEF")
    # dragged; a missed item into the list, and out of it
    for item, to, order in ("E", "B", "AEBCDF"), ("G", "E", "AGEBCDF"):
        play.item(item).drag_to(play.item(to))
        play.shows(order)
    play.item("G").drag_to(
        root.get_by_text("Not recommended"), target_position={"x": 30, "y": 25}
    )
    play.shows("AEBCDF")
    # moved by keys, with the focus staying on it
    play.press("C", "Alt+ArrowUp")
    play.shows("AECBDF")
    assert play.focused() == "C"
    expect(root.locator("[role=status]")).to_contain_text(
        "C moved from rank 4 to rank 3"
    )
    play.press("", "Alt+ArrowUp", "Alt+ArrowUp")
    play.shows("CAEBDF")
    # taken in and put out by keys and by buttons; other rows by arrow keys
    for item, keys, order in (
        ("G", "Alt+ArrowUp", "CAEBDFG"),
        ("", "Alt+ArrowUp", "CAEBDGF"),
        ("", "ArrowUp Delete", "CAEBGF"),
        ("", "Enter", "CAEBGFD"),
    ):
        play.press(item, *keys.split())
        play.shows(order)
    assert play.focused() == "D"
    root.get_by_role("button", name="Put G out of the list").click()
    play.shows("CAEBFD")
    play.press("D", "Alt+ArrowUp")
    play.shows("CAEBDF")
    # k by the slider
    root.get_by_label("cut-off k").focus()
    play.press("", "ArrowLeft", "ArrowLeft")
    play.k = 2
    play.shows("CAEBDF")
    # relevance by keys, and of an item that was not recommended
    for keys, grade in (("+", "+"), 2), (("3",), 3):
        play.press("B", *keys)
        play.relevance["B"] = grade
        play.shows("CAEBDF")
    root.get_by_label("relevance of G").fill("0")
    play.press("", "Enter")
    play.relevance["G"] = 0
    play.shows("CAEBDF")
    # gain, focus, undo
    root.get_by_label("exponential").check()
    play.gain = "exponential"
    play.shows("CAEBDF")
    root.get_by_label("AP", exact=True).check()
    expect(page.locator(".jp-OutputArea-output").first).to_contain_text("AP@2 =")
    root.get_by_role("button", name="Undo").click()
    play.gain = "linear"
    play.shows("CAEBDF")
    # radio buttons by keys, which the notebook does not take for its own
    before = cells(page)
    root.get_by_label("linear").focus()
    play.press("", "ArrowRight", "b", "d", "d")
    play.gain = "exponential"
    play.shows("CAEBDF")
    assert cells(page) == before
    root.get_by_role("button", name="Start again").click()
    play.k, play.gain, play.relevance = 4, "linear", dict(RELEVANT)
    play.shows("ABCDEF")
    assert_quiet(page, lab)


def test_the_explorer_goes_from_a_mean_to_one_user(page: Page, lab: Lab) -> None:
    from playwright.sync_api import expect

    run_all(page, lab, "08_explore_users")
    sample = recnb.datasets.load_sample()
    ev = sample.models["item-knn"].rec.against(
        sample.test, users=sample.users, train=sample.train
    )
    explorer = page.locator(".recnb-live").first
    explorer.scroll_into_view_if_needed()
    detail = page.locator(".jp-OutputArea-output:has(.recnb-live)").first
    users = explorer.locator("button[name=user]")
    expect(explorer).to_contain_text(f"{float(ev.ndcg(k=10)):.4f}")

    # a user is chosen in the list, then another by keys
    order = ev.ndcg(k=10).per_user.sort_values(ascending=False, kind="stable").index
    users.nth(3).click()
    expect(detail).to_contain_text(
        f"nDCG@10 of user {order[3]} = {ev.ndcg(k=10).per_user[order[3]]:.4f}"
    )
    places = ev.explain("ndcg", order[3], k=10).to_frame()
    for term in places["term"][places["term"] != ""]:
        expect(detail).to_contain_text(term)
    page.keyboard.press("ArrowDown")
    expect(detail).to_contain_text(f"nDCG@10 of user {order[4]}")
    # k by keys
    for k in (9, 10):
        explorer.get_by_label("k (0: whole lists)").fill(str(k))
        page.keyboard.press("Enter")
        expect(explorer).to_contain_text(f"{float(ev.ndcg(k=k)):.4f}")
        expect(detail).to_contain_text(f"nDCG@{k} of user {order[4]}")
    # sorted by hits, and searched
    explorer.get_by_role("button", name="hits").click()
    most = f"{ev.cg(k=10, gain='binary').per_user.max():g}"
    expect(
        explorer.locator("tr:has(button[name=user])").first.locator("td").nth(1)
    ).to_have_text(most)
    explorer.get_by_label("Search users").press_sequentially("u02")
    expect(users).to_have_count(sum("u02" in one for one in ev.users))
    explorer.get_by_label("Search users").fill("")
    # a choice by keys, which the notebook does not take for its own
    before = cells(page)
    explorer.get_by_label("Segment").focus()
    page.keyboard.press("a")
    segments = explorer.locator("button[name=segment]")
    expect(segments).to_have_count(len(ev.table("ndcg", k=10, by="activity")))
    assert cells(page) == before
    # a segment, and a bar of it
    explorer.get_by_label("Segment").select_option(label="segment")
    segments.filter(has_text="light").click()
    by_segment = (
        ev.table("ndcg", k=10, by="segment")
        .loc[("ndcg", 10)]
        .rename(index={"new": "light"})
    )
    expect(explorer).to_contain_text(
        f"light, {by_segment.loc['light', 'n_users']:.0f} users"
    )
    explorer.locator("button[name=bar]").first.click()
    expect(explorer.locator("tr:has(button[name=user])").first).to_contain_text(
        "0.0000"
    )

    assert_quiet(page, lab)


def test_a_quiz_is_answered_by_keys(page: Page, lab: Lab, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    asked = recnb.quiz("dcg", seed=26)
    run_code(page, lab, tmp_path, "import recnb\nrecnb.quiz('dcg', seed=26)")
    quiz = page.locator(".recnb-live")
    before = cells(page)
    box = quiz.get_by_label("Value")
    box.focus()
    page.keyboard.press("b")  # in the notebook: a cell below
    assert cells(page) == before
    box.fill(f"{2 / 1 + 3 / log2(3):.4f}")
    page.keyboard.press("Enter")
    expect(quiz.get_by_role("alert")).to_contain_text(
        "A common mistake gives exactly this number."
    )
    expect(box).to_be_focused()
    box.fill(f"{asked.value:.4f}")
    page.keyboard.press("Enter")
    expect(quiz.get_by_role("alert")).to_contain_text("Right")
    expect(page.locator(".jp-OutputArea")).to_contain_text(
        "What common mistakes give here"
    )
    assert_quiet(page, lab)
