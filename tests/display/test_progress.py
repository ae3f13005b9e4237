"""Bars of progress: none for quick work, one that counts for slow work."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

import recnb
from recnb.display import progress


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECNB_NO_PROGRESS", raising=False)
    monkeypatch.setattr(progress, "DELAY", -1.0)


def test_bars_can_be_turned_off_and_quick_work_shows_none(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECNB_NO_PROGRESS", "1")
    assert list(progress.steps(range(3), "counting")) == [0, 1, 2]
    monkeypatch.undo()
    assert list(progress.steps(iter("abc"), "work")) == ["a", "b", "c"]
    assert capfd.readouterr() == ("", "")


def test_slow_work_shows_how_far_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(progress.steps(range(4), "some work")) == [0, 1, 2, 3]
    assert "some work" in capfd.readouterr().err
    with progress.counted(10, "by hand") as bar:
        time.sleep(0.2)  # a bar is drawn ten times a second at most
        bar.update(5)
    assert "5/10" in capfd.readouterr().err


def test_the_bar_goes_when_the_work_fails(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), progress.counted(2, "work") as bar:
        bar.update(1 // 0)
    assert bar.disable
    *shown, last = capfd.readouterr().err.rstrip("\r").split("\r")
    assert "work" in "".join(shown)
    assert last.strip() == ""


NOTEBOOK = """
import recnb
from recnb.display import progress
progress.DELAY = {delay}
print(list(progress.steps([1, 2, 3], "work")))
"""


@pytest.mark.parametrize(("delay", "updates"), [(60, 0), (-1, 1)])
def test_a_notebook_keeps_no_bar(delay: float, updates: int) -> None:
    import nbformat
    from nbclient import NotebookClient

    from tests.kernels import ThisInterpreter

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK.format(delay=delay))])
    NotebookClient(notebook, kernel_manager_class=ThisInterpreter, timeout=60).execute()
    printed, *bars = sorted(notebook.cells[0].outputs, key=lambda output: output.output_type != "stream")
    assert printed.text == "[1, 2, 3]\n"
    assert [bar.data for bar in bars] == [{"text/plain": ""}] * updates


def test_every_long_part_of_a_comparison_has_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    sample = recnb.datasets.load_sample()
    compared = recnb.compare(sample.recommendations, sample.test, train=sample.train)
    assert "comparing:" in capfd.readouterr().err
    apart = np.random.default_rng(0).random((400, 3)) - 0.4
    settings = recnb.stats.Settings(test="randomization", permutations=20)
    for label, long in (
        ("comparing:", lambda: compared.overlap(k=5)),
        ("comparing:", lambda: compared.differences("ndcg", k=5, by="activity")),
        ("testing", lambda: recnb.stats.paired(apart, settings)),
    ):
        long()
        assert label in capfd.readouterr().err


def test_evaluating_imports_no_bar() -> None:
    import subprocess

    code = "import recnb, sys; recnb.ndcg([1, 0, 2]); print('tqdm' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
