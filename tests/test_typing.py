"""mypy finds no error in the package and in a good program, and each mistake of a bad
one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def test_types() -> None:
    command = [
        sys.executable,
        "-m",
        "mypy",
        "recnb",
        "tests/typing_good.py",
        "tests/typing_bad.py",
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_good_program_runs() -> None:
    command = [sys.executable, "-W", "error", "tests/typing_good.py"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
