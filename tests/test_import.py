"""What importing recnb loads, and what it leaves to the first use."""

from __future__ import annotations

import functools
import pkgutil
import subprocess
import sys

import recnb


def printed(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


LATER = [*recnb._FOLDERS, *recnb._MODULES]
#: Prints what is loaded with the package, and then the names that are loaded later.
PROGRAM = f"""
import sys, recnb
print(*(name for name in sys.modules if name.startswith(("recnb.", "matplotlib."))))
from recnb import *
print(compare.__module__)
print(*(getattr(recnb, name).__name__ for name in {LATER}))
"""


@functools.cache
def lines() -> list[str]:
    return printed(PROGRAM).splitlines()


def test_features_are_loaded_when_they_are_first_used():
    loaded = lines()[0].split()
    assert "recnb.evaluation" in loaded
    assert "matplotlib.axes" not in loaded
    folders = {
        module.name for module in pkgutil.iter_modules(recnb.__path__) if module.ispkg
    }
    assert {"comparison", "libraries", "lint", "report", "widgets"} <= folders
    # Every folder can be used after `import recnb`: those that it has loaded, and those
    # that are loaded when used.
    assert folders - {name.split(".")[1] for name in loaded} == {*recnb._FOLDERS}


def test_what_is_loaded_later_is_there():
    found = lines()[2].split()
    short = [
        name.split(".")[-1].replace("Play", "play") for name in found
    ]  # recnb.playground is the class Playground
    assert short == LATER


def test_public_names_that_are_loaded_later_are_listed():
    assert {*recnb._MODULES} <= {*recnb.__all__}
    assert {*recnb._MODULES} <= {*dir(recnb)}
    assert lines()[1].startswith("recnb.comparison")
