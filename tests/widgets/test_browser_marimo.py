"""marimo in a browser: the tables, formulas and lines of Jupyter, and widgets that answer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import recnb
from tests.lab import LOOPBACK, Lab, free_port, page  # noqa: F401  # fixtures are found by their names

Locator = Page = Any  # of playwright, which the extra recnb[browser] installs
pytestmark = pytest.mark.browser

NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def _():
    import recnb

    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    return ev, recnb


@app.cell
def _(ev):
    ev.table(["ndcg", "recall"], k=[5, 10])
    return


@app.cell
def _(ev):
    ev.explain("ndcg", "u026", k=10)
    return


@app.cell
def _(ev):
    ev.report(k=[5, 10])
    return


@app.cell
def _(recnb):
    recnb.playground()
    return


@app.cell
def _(ev):
    ev.explore()
    return
"""
SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """marimo with a notebook of its own, in the place of JupyterLab."""
    notebook = tmp_path / "notebook.py"
    notebook.write_text(NOTEBOOK, encoding="utf-8")
    port = free_port()
    here = Lab(f"http://{LOOPBACK}:{port}")
    command = [sys.executable, "-m", "marimo", "run", str(notebook), "--headless"]
    options = ["--no-token", "--host", LOOPBACK, "--port", str(port)]
    home = {name: str(tmp_path / "home") for name in ("HOME", "XDG_CONFIG_HOME")}
    with (tmp_path / "marimo.log").open("w") as log:
        server = subprocess.Popen(
            [*command, *options], env=os.environ | home, stdout=log, stderr=log
        )
    try:
        for _ in range(300):
            with suppress(OSError):
                urllib.request.urlopen(f"{here.url}/health", timeout=5).close()
                break
            time.sleep(0.1)
        yield here
    finally:
        server.terminate()
        server.wait(timeout=15)


def test_marimo_shows_what_jupyter_shows_and_widgets_answer(
    page: Page,
    lab: Lab,
) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=60_000)
    page.goto(lab.url)
    table = EV.table(["ndcg", "recall"], k=[5, 10])
    shown = page.locator(".recnb", has_text=table.attrs["basis"]).first
    expect(shown.locator("td").first).to_have_text(f"{table.iloc[0, 0]:.4f}")
    padding = "cell => getComputedStyle(cell).paddingLeft"
    assert shown.locator("td").first.evaluate(padding) != "0px"
    # one formula, that of the explanation, and no LaTeX that is read as text
    expect(page.locator(".katex")).to_have_count(1)
    expect(page.get_by_text("$\\displaystyle")).to_have_count(0)
    expect(page.get_by_text("Means over 261 users")).to_have_count(1)

    playground = page.locator(".recnb-live:has([data-list])")
    value = playground.locator("tr:has([data-metric='ndcg']) .recnb-value")
    truth = {"A": 2, "C": 3, "E": 1, "G": 2}
    for order, key in (("ABCDEF", ""), ("ACBDEF", "Alt+ArrowUp")):
        if key:
            playground.locator("tr[data-name='C'] .recnb-item").focus()
            page.keyboard.press(key)
        ndcg = recnb.ndcg(list(order), truth, k=6)
        expect(value).to_have_text(f"{ndcg:.4f}")
        expect(playground).to_contain_text(f"nDCG@6 = {ndcg:.4f}")
    expect(page.locator(".recnb-live")).to_have_count(2)
    assert lab.outside == []
