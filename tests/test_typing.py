"""The package has no errors of types, and type checkers see the options of every metric: good programs pass, and each mistake is found where it stands.

Each checker is started once, on the package and on both programs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.early

ROOT = Path(__file__).parents[1]
GOOD, BAD = "tests/typing_good.py", "tests/typing_bad.py"
CHECKED = ("recnb", GOOD, BAD)

#: File and line of each error, and what it says.
Errors = dict[tuple[str, int], str]


def marked(file: str) -> set[tuple[str, int]]:
    """The lines that say they hold an error."""
    lines = (ROOT / file).read_text("utf-8").splitlines()
    return {(file, number) for number, line in enumerate(lines, 1) if "  # error: " in line}


def run(*command: str) -> str:
    """What a checker prints that finds errors, as it does in the bad program."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


@cache
def found_by_mypy() -> Errors:
    errors = {}
    for line in run("mypy", "--no-error-summary", "--no-pretty", *CHECKED).splitlines():
        place, _, message = line.partition(": error: ")
        if message:
            file, number = place.rsplit(":", 1)
            errors[Path(file).as_posix(), int(number)] = message
    return errors


@cache
def found_by_pyright() -> Errors:
    said = run("basedpyright", "--outputjson", "--level", "error", "--pythonpath", sys.executable, *CHECKED)
    return {
        (Path(one["file"]).relative_to(ROOT).as_posix(), one["range"]["start"]["line"] + 1): one["message"]
        for one in json.loads(said)["generalDiagnostics"]
    }


CHECKERS = pytest.mark.parametrize("checker", [found_by_mypy, found_by_pyright])


@CHECKERS
def test_the_package_has_no_errors(checker: Callable[[], Errors]) -> None:
    assert not {place: message for place, message in checker().items() if place[0] not in (GOOD, BAD)}


@CHECKERS
def test_mistakes_are_found_and_nothing_else(checker: Callable[[], Errors]) -> None:
    errors = {place: message for place, message in checker().items() if place[0] in (GOOD, BAD)}
    assert not marked(GOOD)
    assert len(marked(BAD)) > 20
    missed, needless = marked(BAD) - set(errors), {place: errors[place] for place in set(errors) - marked(BAD)}
    assert not missed
    assert not needless


def test_the_good_program_runs() -> None:
    done = subprocess.run([sys.executable, "-W", "error", GOOD], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
