"""Types by mypy, which is started once: the package has no errors, and each mistake in a program is found in its line."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.type_errors import CHECKED, GOOD, ROOT, Errors, mistakes_and_nothing_else, none_in_the_package, output_of


@cache
def found() -> Errors:
    errors = {}
    for line in output_of("mypy", "--no-error-summary", "--no-pretty", *CHECKED).splitlines():
        place, _, message = line.partition(": error: ")
        if message:
            file, number = place.rsplit(":", 1)
            errors[Path(file).as_posix(), int(number)] = message
    return errors


def test_the_package_has_no_errors() -> None:
    none_in_the_package(found())


def test_mistakes_are_found_and_nothing_else() -> None:
    mistakes_and_nothing_else(found())


def test_the_good_program_runs() -> None:
    done = subprocess.run([sys.executable, "-W", "error", GOOD], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
