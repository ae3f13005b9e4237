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


def beyond(formula: str, options: dict[str, Any], recs: pl.DataFrame, k: int | None = None, **given: Any) -> float:
    return Beyond(recs, **given).value(formula, options, k)


def here(row: dict[str, str]) -> float:
    """The number of this metric, on this case, under the option tuple of its library."""
    case = CASES[row["case"]]
    options = OPTIONS[row["library"], row["version"], row["metric"]]
    return beyond(
        options["formula"],
        parsed(options["options"]),
        recs=pl.DataFrame(case["recs"], schema=["user", "item", "rank"], orient="row"),
        train=pl.DataFrame(case["train"], schema=["user", "item"], orient="row"),
        features=case["features"],
        catalogue=case["catalogue"],
        k=case["k"],
    )


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


#: Whose value needs what; without it, the error says what to give.
NEEDS = {
    "coverage": ({"population": "catalogue"}, "items"),
    "novelty": ({}, "train"),
    "popularity": ({}, "train"),
    "popularity_rank": ({}, "train"),
    "tail_share": ({}, "train"),
    "diversity": ({"distance": "cosine"}, "items"),
    "gini": ({"population": "catalogue"}, "items"),
}


@pytest.mark.parametrize("formula", NEEDS)
def test_an_error_says_what_to_give(formula):
    options, missing = NEEDS[formula]
    recs = pl.DataFrame({"user": [1, 1], "item": [5, 6], "rank": [1, 2]})
    with pytest.raises(RecnbError, match=f"give {missing}=, "):
        beyond(formula, options, recs)


def test_cooccurrence_needs_train_and_no_features():
    recs = pl.DataFrame({"user": [1, 1], "item": [5, 6], "rank": [1, 2]})
    with pytest.raises(RecnbError, match=r"give train=, "):
        beyond("diversity", {"distance": "cooccurrence"}, recs, features={5: [1], 6: [0]})
    train = pl.DataFrame({"user": [7, 7], "item": [5, 6]})
    assert beyond("diversity", {"distance": "cooccurrence"}, recs, train=train) == 0


@pytest.mark.parametrize(
    "formula, options, said",
    [
        ("diversity", {"distance": "cosin"}, "Did you mean 'cosine'"),
        ("diversity", {"distanc": "cosine"}, "Did you mean 'distance'"),
        ("novelty", {"normalize": "no"}, "normalize='no'"),
        ("novelty", {"divisor": ["k"]}, "divisor="),
        ("gini", {"weight": 0, "population": "recommended"}, "weight=0"),
        ("tail_share", {"ratio": 0}, "ratio=0"),
        ("personalization", {"overlap": "k"}, "give k"),
        ("gini", {"population": "train"}, "not in it"),
    ],
)
def test_what_cannot_be_is_an_error(formula, options, said):
    recs = pl.DataFrame({"user": [1, 1], "item": [5, 6], "rank": [1, 2]})
    train = pl.DataFrame({"user": [1], "item": [5]})
    with pytest.raises(RecnbError, match=said):
        beyond(formula, options, recs, train=train, features={5: [1], 6: [0]})
