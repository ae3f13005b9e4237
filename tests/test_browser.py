"""The notebooks as a reader meets them: in JupyterLab, in a browser, with every request kept on this computer.

Run with `python -m pytest -m browser tests`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import nbformat
import pytest

import recnb
from tests.lab import Lab, errors, lab, page, run_all, shoot, texts  # noqa: F401  # fixtures are found by their names
from tests.tools.notebooks import BUILT

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_first_look_shows_the_numbers_of_recnb(page: Page, lab: Lab) -> None:
    run_all(page, lab, "01_first_look")
    outputs = texts(page)
    sample = recnb.datasets.load_sample()
    ev = sample.models["item-knn"].rec.against(sample.test)
    expected = {f"{value:.4f}" for value in ev.table(k=[5, 10, 20]).to_numpy().ravel()}
    assert f"nDCG@10 = {ev.ndcg(k=10):.4f}" in " ".join(outputs[3].split())
    assert f"{ev.n_users:,} users" in outputs[3]
    # Findings stand in front; the means are behind the next tab.
    assert ev.lint().warnings[0].short in outputs[3]
    page.locator(".recnb-tabs label", has_text="Overview").first.click()
    assert expected - set(re.findall(r"\d+\.\d+", texts(page)[3])) == set()
    assert f"{ev.ndcg(k=10).per_user['u026']:.4f}" in outputs[4]
    assert errors(page) == 0
    assert shoot(page, lab, "01").stat().st_size > 20_000
    assert lab.outside == []


def test_a_worked_notebook_shows_what_is_stored(page: Page, lab: Lab) -> None:
    (path,) = sorted(BUILT.glob("04*.ipynb"))[:1] or [BUILT / "05_only_hits_count.ipynb"]
    run_all(page, lab, path.stem)
    outputs = texts(page)
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert len(outputs) == len(code)
    compared = 0
    for cell, shown in zip(code, outputs, strict=True):
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            continue
        for output in cell.outputs:
            data = output.get("data", {})
            html = re.sub(r"\$.*?\$", "", data.get("text/html", ""), flags=re.DOTALL)  # typeset, no longer text
            stored = re.findall(r">\s*(-?\d+\.\d+)\s*<", html)
            if not html:
                stored = re.findall(r"-?\d+\.\d+", output.get("text", "") or data.get("text/plain", ""))
            assert set(stored) - set(re.findall(r"-?\d+\.\d+", shown)) == set(), cell.source
            compared += len(stored)
    assert compared >= 5
    assert errors(page) == 0
    assert shoot(page, lab, path.stem[:2]).stat().st_size > 20_000
    assert lab.outside == []
