"""What libraries returned for metrics beyond accuracy, reproduced by an option tuple each."""

from __future__ import annotations

import csv
import json
import math
import pathlib
from typing import Any

import polars as pl
import pytest

from recnb.errors import RecnbError
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


def parsed(options: str) -> dict[str, Any]:
    """The options of a row: cutoff=none;round=3."""
    found: dict[str, Any] = {}
    for pair in filter(None, options.split(";")):
        name, _, text = pair.partition("=")
        if text in ("true", "false"):
            found[name] = text == "true"
            continue
        try:
            found[name] = float(text) if "." in text or "e-" in text else int(text)
        except ValueError:
            found[name] = text
    return found


OPTIONS = {(row["library"], row["version"], row["metric"]): row for row in rows("beyond_options.csv")}
VALUES = rows("beyond_values.csv")


def here(row: dict[str, str]) -> float:
    """The number of this metric, on this case, under the option tuple of its library."""
    case = CASES[row["case"]]
    options = OPTIONS[row["library"], row["version"], row["metric"]]
    held = Beyond(
        pl.DataFrame(case["recs"], schema=["user", "item", "rank"], orient="row"),
        pl.DataFrame(case["train"], schema=["user", "item"], orient="row"),
        case["features"],
        case["catalogue"],
    )
    return held.value(options["formula"], parsed(options["options"]), case["k"])


def name(row: dict[str, str]) -> tuple[str, str, str]:
    return row["library"], row["metric"], row["case"]


@pytest.mark.parametrize("row", [row for row in VALUES if not row["error"]], ids=lambda row: "-".join(name(row)))
def test_the_number_that_the_library_returned(row):
    tolerance = float(OPTIONS[row["library"], row["version"], row["metric"]]["tolerance"])
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
    assert {row["formula"] for row in OPTIONS.values()} == set(FORMULAS)
    assert {row["case"] for row in VALUES} == set(CASES)
    assert {(row["library"], row["version"], row["metric"]) for row in VALUES} == set(OPTIONS)
    assert len(OPTIONS) == 37
    assert len(VALUES) == 144
