"""The rules that a machine can check: lint, layers, what the documentation claims
(types: test_typing.py).
"""

import importlib
import pathlib
import pkgutil
import subprocess
import sys
from typing import Any

import recnb
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS
from tests.rows import read_rows
from tests.tools import readme

ROOT = pathlib.Path(__file__).resolve().parent.parent
DECLARED = read_rows("dataclasses.toml")


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


def declared(record: Any) -> str:
    """How a dataclass is declared: its flags, fields that a caller does not give, and
    numbers that stand where none is given.
    """
    flags = record.__dataclass_params__
    fields = record.__dataclass_fields__.values()
    found = [name for name in ("frozen", "eq", "repr") if getattr(flags, name)]
    found += {"kw_only" for field in fields if field.kw_only}
    found += [f"-{field.name}" for field in fields if not field.init]
    numbers = [field for field in fields if isinstance(field.default, int | float)]
    return " ".join(found + [f"{field.name}={field.default}" for field in numbers])


def test_how_dataclasses_are_declared():
    for module in pkgutil.walk_packages(recnb.__path__, "recnb."):
        for name, value in vars(importlib.import_module(module.name)).items():
            is_dataclass = "__dataclass_params__" in getattr(value, "__dict__", ())
            if is_dataclass and value.__module__ == module.name:
                usual = DECLARED["usual"]
                assert declared(value) == DECLARED.get(f"{module.name}.{name}", usual)
