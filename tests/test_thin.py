"""Which cases of a test marked `thin` the test command runs: see `tests/conftest.py`."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import cases_for_command


def cases(**values: list[Any]) -> list[Any]:
    """The cases of a test with these parameters."""
    return [
        SimpleNamespace(
            nodeid=f"test.py::test[{each}]",
            callspec=SimpleNamespace(params=dict(zip(values, each, strict=True))),
        )
        for each in product(*values.values())
    ]


@pytest.mark.parametrize("kinds", [1, 3])
def test_the_command_runs_every_value_in_as_few_cases_as_have_them(kinds: int) -> None:
    values: dict[str, list[Any]] = {"ties": [*"abcde"], "on": [True, False]}
    values["kind"] = [f"kind {number}" for number in range(kinds)]
    chosen = cases_for_command(cases(**values))
    assert len(chosen) == 5
    for name, expected in values.items():
        assert {one.callspec.params[name] for one in chosen} == {*expected}


def test_a_law_that_kinds_of_frames_alone_vary_is_run_on_one() -> None:
    every = cases(kind=["dask", "duckdb", "lazy"])
    assert len(cases_for_command(every)) == 1
    assert cases_for_command(every) == cases_for_command(every[::-1])
