"""Bars of progress: none for quick work or where nobody looks, one that counts for slow
work.
"""

import subprocess
import sys
import time
from contextlib import suppress
from functools import partial

from recnb.display import progress


def test_bars_can_be_turned_off_and_are_for_terminals_and_notebooks():
    work = """if True:
        import io, sys
        from recnb.display import progress

        class Notebook(io.StringIO):
            __module__ = "ipykernel.iostream"

        class Terminal(io.StringIO):
            isatty = lambda self: True

        progress.DELAY, shown = -1.0, []
        for sys.stderr in (Terminal(), Notebook(), io.StringIO(), None):
            assert list(progress.steps(range(3), "counting")) == [0, 1, 2]
            shown.append(bool(sys.stderr and sys.stderr.getvalue()))
        print(*shown)
    """
    for off, shown in (
        ((), "True True False False"),
        (("TQDM_DISABLE",), "False False False False"),
    ):
        told = subprocess.run(
            [
                "env",
                "-u",
                "TQDM_DISABLE",
                *[f"{name}=1" for name in off],
                sys.executable,
                "-c",
                work,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == shown


def test_slow_work_shows_how_far_it_is_until_it_fails(capfd, monkeypatch):
    bars = progress._bar()
    monkeypatch.setattr(
        progress, "_bar", lambda: partial(bars, disable=False)
    )  # the tests' environment says otherwise
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    list(progress.steps(range(3), "quick work"))
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(progress, "DELAY", -1.0)
    with suppress(ZeroDivisionError), progress.steps(None, "work", 10) as bar:
        time.sleep(0.2)  # a bar is drawn ten times a second at most
        bar.update(5)
        bar.update(1 // 0)
    *shown, last = capfd.readouterr().err.rstrip("\r").split("\r")
    assert "5/10" in "".join(shown)
    assert last.strip() == ""
