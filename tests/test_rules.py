"""The rules that a machine can check: lint, layers, what the documentation claims
(types: test_typing.py).
"""

import importlib
import pathlib
import pkgutil
import subprocess
import sys

import recnb
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS
from tests.rows import read_rows
from tests.tools import readme

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = read_rows("dataclasses.toml")


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


def test_records_are_frozen_and_equal_only_to_themselves_but_those_listed() -> None:
    found: dict[str, set[str]] = {"changes": set(), "equal_by_value": set()}
    for module in pkgutil.walk_packages(recnb.__path__, "recnb."):
        if module.name == "recnb.spark":  # Spark is an extra, and this has no record
            continue
        for name, record in vars(importlib.import_module(module.name)).items():
            flags = getattr(record, "__dataclass_params__", None)
            if isinstance(record, type) and record.__module__ == module.name and flags:
                found["changes"] |= set() if flags.frozen else {name}
                found["equal_by_value"] |= {name} if flags.eq else set()
    assert found == {kind: {*names} for kind, names in RECORDS.items()}
