"""What libraries returned for metrics beyond accuracy, reproduced by the presets of `recnb/conventions/presets.csv`."""

from __future__ import annotations

import csv
import json
import math
import pathlib

import polars as pl
import pytest

from recnb.conventions.presets import presets
from recnb.errors import RecnbError
from recnb.metrics.metric import LIST_METRICS
from tests.beyond import FORMULAS, Beyond

HERE = pathlib.Path(__file__).parents[1] / "recorded"
CASES = {case["id"]: case for case in json.loads((HERE / "beyond_cases.json").read_text("utf-8"))}

#: What raised there and is a number here, since it was a crash and not a convention.
RAISED = {
    ("recmetrics", "personalization", "b04_short_list"): "numpy no longer makes an array of lists of unequal length",
}


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


VALUES = rows("beyond_values.csv")
PRESETS = {key: one for key, one in presets().items() if one.metric in LIST_METRICS}


def here(row: dict[str, str]) -> float:
    """The number of this metric, on this case, under the options of its library's preset."""
    case, preset = CASES[row["case"]], PRESETS[row["library"], row["metric"]]
    held = Beyond(
        pl.DataFrame(case["recs"], schema=["user", "item", "rank"], orient="row"),
        pl.DataFrame(case["train"], schema=["user", "item"], orient="row"),
        case["features"],
        case["catalogue"],
    )
    return held.value(preset.metric, dict(preset.options), case["k"])


def name(row: dict[str, str]) -> tuple[str, str, str]:
    return row["library"], row["metric"], row["case"]


@pytest.mark.parametrize("row", [row for row in VALUES if not row["error"]], ids=lambda row: "-".join(name(row)))
def test_the_number_that_the_library_returned(row):
    tolerance = PRESETS[row["library"], row["metric"]].tolerance
    assert here(row) == pytest.approx(float(row["value"]), abs=tolerance, rel=0, nan_ok=True)


@pytest.mark.parametrize("row", [row for row in VALUES if row["error"]], ids=lambda row: "-".join(name(row)))
def test_what_the_library_refuses_is_refused_if_that_is_its_convention(row):
    if name(row) in RAISED:
        assert math.isfinite(here(row))
    else:
        with pytest.raises(RecnbError):
            here(row)


def test_every_formula_and_every_case_is_recorded():
    assert set(RAISED) <= {name(row) for row in VALUES if row["error"]}
    assert {preset.metric for preset in PRESETS.values()} == set(FORMULAS)
    assert {row["case"] for row in VALUES} == set(CASES)
    assert {(row["library"], row["metric"]): row["version"] for row in VALUES} == {
        key: preset.version for key, preset in PRESETS.items()
    }
    assert len(PRESETS) == 37
    assert len(VALUES) == 144
