"""How much the test command tries, and how the tests are spread over processes.

Hypothesis tries 40 examples of each law, 3 of them in the test command and 37 in CI:
see `tests/examples.py`. Of a test marked `thin` the command runs some of the cases, and
of the notebooks the English ones; CI runs the rest, which are marked `slow` here.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
from collections import defaultdict
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests import kernels
from tests.examples import PROFILE, examples

kernels.prepare()

# Rows of data are held there, and what a call comes to is shown where it is another.
pytest.register_assert_rewrite("tests.rows")

# Some sixty programs that the tests start import the package, which is compiled once
# and not in each of them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Reports say when they were made.
os.environ["SOURCE_DATE_EPOCH"] = "1767225600"

# pandas prints as many columns as the terminal has room for.
os.environ["COLUMNS"] = "80"

# Several processes at work: more than one thread each, so that Polars is tried with
# threads, but not all cores each; threads of numpy would wait for one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("POLARS_MAX_THREADS", "2")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

COMMON = {
    "deadline": None,
    "derandomize": PROFILE != "ci",
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

settings.register_profile("default", max_examples=examples(40), **COMMON)
settings.register_profile(
    "mutants",
    max_examples=examples(40),
    phases=[Phase.explicit, Phase.generate],
    **COMMON,
)
settings.register_profile("ci", max_examples=examples(40), **COMMON)
settings.register_profile("thorough", max_examples=500, **COMMON)
settings.load_profile(PROFILE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A process for each core, but no more than there are files to run, and none beside
    this one for a single file.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    named = {argument.split("::")[0] for argument in config.args}
    if all(name.endswith((".py", ".ipynb")) for name in named):
        cores = min(cores, len(named))
    return cores if cores > 1 else 0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end, so the garbage collector need
    not look through it, now or later.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(5000, 20, 20)


def pytest_unconfigure() -> None:
    kernels.stop()
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Close the figures of a test: pyplot keeps each, and warns of more than twenty.

    What a file of tests leaves open is found in its last test, and not in some test of a
    later file; what it keeps need not be looked through again.
    """
    done = yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return done


#: Files that take long, those of CI alone among them, the longest first.
EARLY = (
    "tests/laws/test_attack.py",
    "tests/stats/test_clustered_coverage.py",
    "tests/test_unplug.py",
    "tests/test_site.py",
    "tests/test_typing.py",
    "tests/stats/test_coverage.py",
    "tests/distributed/test_engines.py",
    "tests/data/test_streaming.py",
    "tests/conventions/test_presets.py",
    "tests/metrics/test_formulas.py",
    "tests/libraries/test_differences.py",
    "tests/metrics/test_laws.py",
    "tests/conventions/test_parity_presets.py",
    "notebooks/12_what_nobody_saw.ipynb",
    "tests/metrics/test_reference.py",
    "tests/data/test_join.py",
    "notebooks/09_compare_models.ipynb",
)


#: Parameters that are kinds of frames.
KINDS = {"engine", "kind"}


def _lot(case: pytest.Function) -> bytes:
    """A number of a case by which cases are in a mixed order, the same in each process."""
    return hashlib.sha256(case.nodeid.encode()).digest()


def cases_for_command(cases: list[pytest.Function]) -> list[pytest.Function]:
    """As few cases of one test as have every value of every parameter; one case where
    the kind of frames is the only parameter.
    """
    cases = sorted(cases, key=_lot)
    if {*cases[0].callspec.params} <= KINDS:
        return cases[:1]
    missing = {
        case.nodeid: {
            (name, str(value)) for name, value in case.callspec.params.items()
        }
        for case in cases
    }
    chosen = set()
    while missing:
        best = max(missing, key=lambda case: len(missing[case]))
        values = missing[best]
        left = {case: of_case - values for case, of_case in missing.items()}
        missing = {case: of_case for case, of_case in left.items() if of_case}
        chosen.add(best)
    return [case for case in cases if case.nodeid in chosen]


def mark_cases_for_ci(items: list[pytest.Item]) -> None:
    """Mark as slow what the test command leaves to CI."""
    cases_of: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if item.nodeid.startswith("notebooks/ko/"):  # their code is that of the English
            item.add_marker("slow")
            continue
        if item.get_closest_marker("thin") and not item.get_closest_marker("spark"):
            cases_of[item.nodeid.split("[")[0]].append(item)
    for cases in cases_of.values():
        for case in {*cases} - {*cases_for_command(cases)}:
            case.add_marker("slow")


@pytest.hookimpl(tryfirst=True)  # before the cases are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long first: at the end, one process would be at work on them and
    the others have none.
    """
    mark_cases_for_ci(items)
    place = {file: number for number, file in enumerate(EARLY)}
    items.sort(key=lambda item: place.get(item.nodeid.split("::")[0], len(EARLY)))
