"""What a type checker has to find in the package, in the good program and in the bad one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOOD, BAD = "tests/typing_good.py", "tests/typing_bad.py"
CHECKED = ("recnb", GOOD, BAD)

#: File and line of each error, and its message.
Errors = dict[tuple[str, int], str]


def output_of(*command: str) -> str:
    """The output of a checker that finds errors, as it does in the bad program."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def marked(file: str) -> set[tuple[str, int]]:
    """The lines whose comment names an error."""
    lines = (ROOT / file).read_text("utf-8").splitlines()
    return {(file, number) for number, line in enumerate(lines, 1) if "  # error: " in line}


def none_in_the_package(errors: Errors) -> None:
    assert not {place: message for place, message in errors.items() if place[0] not in (GOOD, BAD)}


def mistakes_and_nothing_else(errors: Errors) -> None:
    in_programs = {place: message for place, message in errors.items() if place[0] in (GOOD, BAD)}
    assert not marked(GOOD)
    assert len(marked(BAD)) > 20
    missed = marked(BAD) - set(in_programs)
    needless = {place: in_programs[place] for place in set(in_programs) - marked(BAD)}
    assert not missed
    assert not needless
