"""`as_in` returns what the real libraries return, on random data: the presets are not
fitted to the recorded cases.

Libraries that the extra recnb[test] has are asked here. Others are asked in
environments of their own, which `python -m tests.tools.parity.environments <folder>`
makes, and which RECNB_PARITY=<folder> names; those tests are marked `parity`.
RECNB_PARITY_SEED gives other data.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache

import pandas as pd
import pytest

from recnb.conventions.presets import Preset, of_library
from recnb.data import Source
from recnb.errors import RecnbError
from recnb.metrics.metric import LIST_METRICS
from tests.presets import as_in_of, of_lists, source_of
from tests.tools.parity import record
from tests.tools.parity.data import DataSet, data_sets
from tests.tools.parity.environments import ASKED, python, wanted

DATA = data_sets(seed=int(os.environ.get("RECNB_PARITY_SEED", "7")), number=70)
#: What a library may raise, and for which variants, where as_in has a number: crashes,
#: and not conventions.
RAISES = {
    "recbole": (
        "ValueError: recbole has lists of k items only",
        "coverage popularity tail_percentage gini entropy",
    ),
}


@cache
def answers(asked: str) -> dict[str, list[float | str]]:
    """What the library says, by variant; without its environment the test fails where
    all is required, and else is skipped.
    """
    environment = ASKED[asked].environment
    if python(environment) is None:
        reason = (
            f"{asked} has no environment, and the presets were not held against it: "
            f"run `python -m tests.tools.parity.environments <folder>` and set "
            f"RECNB_PARITY=<folder>"
        )
        if not wanted(environment):
            pytest.skip(f"{reason}, both with RECNB_PARITY_ALL=1")
        if os.environ.get("RECNB_REQUIRE_ALL") == "1":
            raise AssertionError(reason)
        pytest.skip(reason)
    answer = record.asked(
        asked, [one.variant for one in record.presets_of(asked)], DATA
    )
    assert not environment or {one.version for one in record.presets_of(asked)} == {
        answer["version"]
    }
    values: dict[str, list[float | str]] = answer["values"]
    assert set(values) == {one.variant for one in record.presets_of(asked)}
    return values


def frames(data: DataSet) -> tuple[pd.DataFrame, pd.DataFrame]:
    recs = pd.DataFrame(data["recs"], columns=["user", "item", "score", "rank"])
    return recs, pd.DataFrame(data["truth"], columns=["user", "item", "relevance"])


@cache
def source(number: int) -> Source:
    """The frames of a data set, read once for all presets."""
    return source_of(*frames(DATA[number]))


def frames_of_lists(data: DataSet) -> dict[str, pd.DataFrame]:
    """What metrics beyond accuracy read."""
    return {
        "recs": pd.DataFrame(data["lists"], columns=["user", "item", "rank"]),
        "truth": frames(data)[1],
        "train": pd.DataFrame(data["train"], columns=["user", "item"]),
    }


def here(one: Preset, number: int) -> float | str:
    """What as_in says."""
    try:
        if one.metric in LIST_METRICS:
            return of_lists(one, frames_of_lists(DATA[number]), DATA[number])
        return as_in_of(source(number), one.library, one.variant, DATA[number]["k"])
    except RecnbError as refused:
        return f"{type(refused).__name__}: {refused}"


def has_no_rule(one: Preset) -> bool:
    """Whether the preset says that some of its numbers follow no rule."""
    return "follows no recorded rule" in one.caveat_in_words


def mark_of(asked: str) -> pytest.MarkDecorator:
    """Of a library that needs an environment of its own, or of one installed here, of
    which the test command has the recorded values (`test_presets.py`).
    """
    return pytest.mark.parity if ASKED[asked].environment else pytest.mark.slow


@pytest.mark.parametrize(
    "asked",
    [pytest.param(name, marks=mark_of(name), id=name) for name in ASKED],
)
def test_as_in_returns_what_the_library_returns(asked: str) -> None:
    """Every variant was compared often enough, and the library raises only what is
    known.
    """
    start, known = RAISES.get(asked, ("", ""))
    for one in record.presets_of(asked):
        compared = 0
        for number, there in enumerate(answers(asked)[one.variant]):
            value, what = (
                here(one, number),
                (one.variant, number, DATA[number]["kind"], there),
            )
            if isinstance(there, str):
                is_known = one.variant in known.split() and there.startswith(start)
                assert isinstance(value, str) or one.caveat or is_known, what
                continue
            wanted = pytest.approx(there, abs=one.tolerance, rel=0, nan_ok=True)
            compared += value == wanted
            assert value == wanted or has_no_rule(one), (what, value)
        assert compared >= 5, one


def test_every_preset_of_an_asked_library_is_checked_once() -> None:
    checked = Counter(
        (one.library, one.variant)
        for asked in ASKED
        for one in record.presets_of(asked)
    )
    libraries = {asked.split(" ")[0] for asked in ASKED}
    assert checked == Counter(
        (one.library, one.variant) for name in libraries for one in of_library(name)
    )
