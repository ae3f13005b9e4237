"""The same by pyright, in CI: a second checker, whose view of protocols and overloads is another."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.type_errors import CHECKED, ROOT, Errors, mistakes_and_nothing_else, none_in_the_package, output_of


@cache
def found() -> Errors:
    output = output_of("basedpyright", "--outputjson", "--level", "error", "--pythonpath", sys.executable, *CHECKED)
    return {
        (Path(error["file"]).relative_to(ROOT).as_posix(), error["range"]["start"]["line"] + 1): error["message"]
        for error in json.loads(output)["generalDiagnostics"]
    }


@pytest.mark.slow
def test_the_package_has_no_errors() -> None:
    none_in_the_package(found())


@pytest.mark.slow
def test_mistakes_are_found_and_nothing_else() -> None:
    mistakes_and_nothing_else(found())
