"""What importing recnb loads, and what it leaves to the first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import recnb

LATER = [*recnb._MODULES, *recnb._FOLDERS]


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_features_are_loaded_when_they_are_first_used():
    loaded = printed("import sys, recnb; print(*(name for name in sys.modules if name.startswith('recnb.')))").split()
    assert "recnb.evaluation" in loaded
    assert not [name for name in loaded if name.split(".")[1] in recnb._FOLDERS]


@pytest.mark.parametrize("name", LATER)
def test_each_is_there_from_the_start(name: str):
    code = f"import recnb; first = recnb.{name}; assert first is recnb.{name}; print(first.__name__)"
    assert printed(code).split(".")[-1] == name


def test_public_names_that_are_loaded_later_are_listed():
    assert {*recnb._MODULES} <= {*recnb.__all__}
    assert {*recnb._MODULES} <= {*dir(recnb)}
    assert printed("from recnb import *; print(compare.__module__)").startswith("recnb.comparison")
