"""The rules that a machine can check: lint, layers, what the documentation claims
(types: test_typing.py).
"""

import pathlib
import subprocess
import sys

import recnb
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS
from tests.tools import readme

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command: str) -> None:
    """Run a checker of this environment and show what it found."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"{' '.join(command)}\n{done.stdout[-6000:]}{done.stderr[-2000:]}"
    )


def test_ruff_finds_nothing():
    run("ruff", "check", "recnb", "tests", "notebooks")


def test_ruff_would_format_nothing():
    run("ruff", "format", "--check", "recnb", "tests", "notebooks")


def test_layers():
    linter = pathlib.Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]


def test_every_reference_is_listed_and_cited():
    from recnb.metrics import REFERENCES

    cited = {
        key
        for metric in (
            *METRICS.values(),
            *RETRIEVAL_METRICS.values(),
            *LIST_METRICS.values(),
        )
        for key in metric.references
    }
    of_tests = {"nadeau2003", "bouckaert2004"}  # `Comparison.runs` cites them
    assert not cited & of_tests
    assert cited | of_tests == set(REFERENCES)


def test_page_of_metrics_is_the_registry():
    text = readme.METRICS_PAGE.read_text("utf-8")
    assert readme.metrics_page(text) == text, "run: python -m tests.tools.readme"


def test_the_page_of_changes_has_this_version():
    assert f"## {recnb.__version__}" in (ROOT / "recnb/CHANGELOG.md").read_text("utf-8")
