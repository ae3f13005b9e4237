"""`as_in` returns what the real libraries return, on random data: the presets are not fitted to the recorded cases.

Libraries that the extra recnb[test] has are asked here. Others are asked in environments of their own, which
`python -m tests.tools.parity.environments <folder>` makes, and which RECNB_PARITY=<folder> names; those tests are marked
`parity`. RECNB_PARITY_SEED gives other data.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pandas as pd
import pytest

from recnb.conventions.presets import Preset, of_library, preset
from recnb.data import Source, read
from recnb.errors import RecnbError
from recnb.libraries import as_in
from recnb.metrics.metric import LIST_METRICS
from tests.beyond import as_frame
from tests.presets import as_in_of
from tests.tools.parity.data import DataSet, data_sets
from tests.tools.parity.environments import ASKED, python, wanted

ROOT = pathlib.Path(__file__).parents[2]
DATA = data_sets(seed=int(os.environ.get("RECNB_PARITY_SEED", "7")), number=70)

#: (library, variant, number of the data set) -> why as_in returns another number. Not one more, not one less.
KNOWN: dict[tuple[str, str, int], str] = {}

#: What a library may raise, and for which variants, where as_in has a number: crashes, and not conventions.
RAISES = {
    "recbole": {
        "ValueError: recbole has lists of k items only": (
            "coverage",
            "popularity",
            "tail_percentage",
            "gini",
            "entropy",
        )
    },
    "recmetrics": {"ValueError: setting an array element with a sequence": ("personalization",)},
    "rexmex": {"IndexError: list index out of range": ("novelty",)},
}
#: Asked in another environment than the library's other variants, by the name that it has in ASKED.
ELSEWHERE = {("ir-measures", variant) for variant in ASKED["ir-measures (cwl-eval)"].variants}


@dataclass
class Outcome:
    """How as_in and a library compare."""

    compared: Counter[str] = field(default_factory=Counter)  #: number of values, by variant
    refused: int = 0  #: values that as_in refuses by name, since they follow no rule
    raised: dict[tuple[str, int], str] = field(default_factory=dict)  #: by the library, where as_in has a number
    differ: dict[tuple[str, str, int], str] = field(default_factory=dict)


def variants(asked: str) -> list[Preset]:
    """The presets that are checked under this name."""
    library = asked.split(" ")[0]
    only = ASKED[asked].variants
    return [
        one for one in of_library(library) if (one.variant in only if only else (library, one.variant) not in ELSEWHERE)
    ]


def python_of(asked: str) -> pathlib.Path:
    """The interpreter that has the library; without it the test fails where all is required, and else is skipped."""
    if (found := python(ASKED[asked].environment)) is not None:
        return found
    reason = (
        f"{asked} has no environment, and the presets were not held against it: run "
        "`python -m tests.tools.parity.environments <folder>` and set RECNB_PARITY=<folder>"
    )
    if not wanted(ASKED[asked].environment):
        pytest.skip(f"{reason}, both with RECNB_PARITY_ALL=1")
    if os.environ.get("RECNB_REQUIRE_ALL") == "1":
        raise AssertionError(reason)
    pytest.skip(reason)


@cache
def answers(asked: str) -> dict[str, list[float | str]]:
    """What the library says, by variant: a value or an error for each data set."""
    names = [one.variant for one in variants(asked)]
    done = subprocess.run(
        [str(python_of(asked)), "-m", "tests.tools.parity.ask", asked, *names],
        input=json.dumps(DATA),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout)
    if ASKED[asked].environment:
        assert {one.version for one in variants(asked)} == {answer["version"]}
    assert set(answer["values"]) == set(names)
    return answer["values"]


@cache
def source(number: int) -> Source:
    """The frames of a data set, read once for all presets."""
    data = DATA[number]
    recs = pd.DataFrame(data["recs"], columns=["user", "item", "score", "rank"])
    return read(recs, pd.DataFrame(data["truth"], columns=["user", "item", "relevance"]), {})


def of_lists(one: Preset, data: DataSet) -> float:
    """The number of a metric beyond accuracy."""
    recs = pd.DataFrame(data["lists"], columns=["user", "item", "rank"])
    truth = pd.DataFrame(data["truth"], columns=["user", "item", "relevance"])
    train = pd.DataFrame(data["train"], columns=["user", "item"])
    items = pd.DataFrame({"item": data["catalogue"]})
    more: dict[str, Any] = {"train": train, "items": items}
    if one.metric == "diversity" and dict(one.options)["distance"] != "cooccurrence":
        vectors = as_frame(data["features"])
        more = {"items": vectors, "features": [name for name in vectors.columns if name != "item"]}
    return as_in(one.library, one.variant, recs, truth, data["k"], **more)


def here(one: Preset, number: int) -> float | str:
    """What as_in says."""
    data = DATA[number]
    try:
        if one.metric in LIST_METRICS:
            return of_lists(one, data)
        return as_in_of(source(number), one.library, one.variant, data["k"])
    except RecnbError as refused:
        return f"{type(refused).__name__}: {refused}"


@cache
def outcome(asked: str) -> Outcome:
    """How as_in and the library compare on all data sets."""
    found = Outcome()
    for one in variants(asked):
        for number, (data, there) in enumerate(zip(DATA, answers(asked)[one.variant], strict=True)):
            value = here(one, number)
            if isinstance(there, str):
                found.raised.update({} if isinstance(value, str) else {(one.variant, number): there})
            elif "follows no rule" in str(value):
                found.refused += 1
            else:
                found.compared[one.variant] += 1
                same = not isinstance(value, str) and (
                    math.isnan(value) if math.isnan(there) else abs(value - there) <= one.tolerance
                )
                if not same:
                    text = f"{one.library} {one.version} returned {there!r}, as_in {value!r} ({data['kind']})"
                    found.differ[one.library, one.variant, number] = text
    return found


LIBRARIES = [
    pytest.param(name, marks=pytest.mark.parity if how.environment else (), id=name) for name, how in ASKED.items()
]


@pytest.mark.parametrize("asked", LIBRARIES)
def test_as_in_returns_what_the_library_returns(asked: str):
    found = outcome(asked)
    known = {
        key for key in KNOWN if key[0] == asked.split(" ")[0] and key[1] in {one.variant for one in variants(asked)}
    }
    assert found.differ.keys() == known, found.differ
    assert len(found.differ) <= 0.01 * found.compared.total()


@pytest.mark.parametrize("asked", LIBRARIES)
def test_every_variant_was_compared_often_enough(asked: str):
    found = outcome(asked)
    few = {one.variant: found.compared[one.variant] for one in variants(asked) if found.compared[one.variant] < 5}
    assert not few


@pytest.mark.parametrize("asked", LIBRARIES)
def test_the_library_raises_only_what_is_known(asked: str):
    known = RAISES.get(asked, {})
    raised = outcome(asked).raised
    unknown = {
        key: text
        for key, text in raised.items()
        if not any(text.startswith(start) and key[0] in names for start, names in known.items())
    }
    assert not unknown


def test_every_preset_of_an_asked_library_is_checked_once():
    checked = Counter((one.library, one.variant) for asked in ASKED for one in variants(asked))
    libraries = {asked.split(" ")[0] for asked in ASKED}
    assert checked == Counter((one.library, one.variant) for name in libraries for one in of_library(name))


def test_known_differences_are_of_presets():
    assert all(preset(*key[:2]) for key in KNOWN)
