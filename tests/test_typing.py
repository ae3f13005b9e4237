"""Type checkers see the options of every metric: good programs pass, and each mistake is found where it stands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOOD, BAD = HERE / "typing_good.py", HERE / "typing_bad.py"


def marked(file: Path) -> set[tuple[str, int]]:
    """The lines that say they hold an error."""
    return {
        (file.name, number)
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if "  # error: " in line
    }


def found_by_mypy() -> dict[tuple[str, int], str]:
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--follow-imports=silent",
        "--no-error-summary",
        "--no-pretty",
        str(GOOD),
        str(BAD),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent)
    assert done.returncode == 1, done.stdout + done.stderr
    errors = {}
    for line in done.stdout.splitlines():
        place, _, message = line.partition(": error: ")
        if message:
            file, number = place.rsplit(":", 1)
            errors[Path(file).name, int(number)] = message
    return errors


def found_by_pyright() -> dict[tuple[str, int], str]:
    beside = [Path(sys.executable).with_name(name) for name in ("basedpyright", "pyright")]
    command = next((str(program) for program in beside if program.exists()), None)
    assert command, "neither basedpyright nor pyright is installed: pip install recnb[test]"
    settings = ["--outputjson", "--level", "error", "--pythonpath", sys.executable]
    done = subprocess.run(
        [command, *settings, str(GOOD), str(BAD)], capture_output=True, text=True, check=False, cwd=HERE
    )
    assert done.returncode == 1, done.stdout + done.stderr
    # Unused expressions and the like are a matter of taste; what counts is what is an error of types.
    taste = ("reportUnused", "reportUnknown", "reportAny", "reportImplicit", "reportMissing")
    return {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1): one["message"]
        for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error" and not one.get("rule", "").startswith(taste)
    }  # fmt: skip


@pytest.mark.parametrize("checker", [found_by_mypy, found_by_pyright])
def test_mistakes_are_found_and_nothing_else(checker: object) -> None:
    errors = checker()  # type: ignore[operator]
    assert not marked(GOOD)
    assert len(marked(BAD)) > 20
    missed, needless = marked(BAD) - set(errors), {place: errors[place] for place in set(errors) - marked(BAD)}
    assert not missed
    assert not needless


def test_the_good_program_runs() -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(GOOD)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
