"""Bars of progress: none for quick work, one that counts for slow work."""

import time
from contextlib import suppress

import pytest

from recnb.display import progress


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.delenv("RECNB_NO_PROGRESS", raising=False)
    monkeypatch.setattr(progress, "DELAY", -1.0)


def test_bars_can_be_turned_off_and_quick_work_shows_none(capfd, monkeypatch):
    monkeypatch.setenv("RECNB_NO_PROGRESS", "1")
    assert list(progress.steps(range(3), "counting")) == [0, 1, 2]
    monkeypatch.undo()
    assert list(progress.steps(iter("abc"), "work")) == ["a", "b", "c"]
    assert capfd.readouterr() == ("", "")


def test_slow_work_shows_how_far_it_is_until_it_fails(capfd):
    with suppress(ZeroDivisionError), progress.counted(10, "work") as bar:
        time.sleep(0.2)  # a bar is drawn ten times a second at most
        bar.update(5)
        bar.update(1 // 0)
    *shown, last = capfd.readouterr().err.rstrip("\r").split("\r")
    assert "5/10" in "".join(shown)
    assert last.strip() == ""
