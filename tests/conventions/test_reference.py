"""The options of `conventions_reference.py` reproduce what 22 libraries really returned, but for the values in KNOWN."""

from __future__ import annotations

import csv
import json
import math
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.conventions_reference import FORMULAS, evaluate

RECORDED = Path(__file__).parents[1] / "recorded"

TOPK = "torch.topk leaves the order of equal scores unspecified; ties=first stands for it"
NOT_BINARY = (
    "recpack multiplies relevance into ranks and counts: DCG divides by log2(rank*grade+1), RR is 1/(rank*grade), "
    "recall divides by the sum of grades, the ideal list is as long as that sum; right for 0/1 only"
)
CROSS_JOIN = "recommenders merges hits back on (user, item), so a pair recommended twice becomes four rows"

TIES = ("c18_ties", "c19_ties_across_k", "c28_ties_relevant_early")
GRADED = ("c08_graded", "c09_graded_missed", "c10_graded_cutoff", "c16_negative_judgement", "c17_ratings_1_to_5")
FRACTION = "c24_fractional_relevance"

# (reason, library, metrics, cases)
GROUPS: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    (TOPK, "torchmetrics", ("ap[list]", "ap[full]", "rr[list]", "rr[full]"), TIES),
    (
        TOPK,
        "torchmetrics",
        ("precision[list]", "precision[full]", "precision_adaptive[list]", "precision_adaptive[full]"),
        ("c19_ties_across_k",),
    ),
    (TOPK, "torcheval", ("precision", "precision_limit"), ("c19_ties_across_k",)),
    (NOT_BINARY, "recpack", ("ndcg", "dcg", "recall"), (*GRADED, FRACTION)),
    (NOT_BINARY, "recpack", ("recall_calibrated",), ("c08_graded", "c16_negative_judgement", FRACTION)),
    (NOT_BINARY, "recpack", ("rr",), ("c08_graded", "c16_negative_judgement", "c17_ratings_1_to_5", FRACTION)),
    (CROSS_JOIN, "recommenders", ("ndcg", "ndcg_log2", "ndcg_raw", "ndcg_exp"), ("c20_duplicates",)),
]
KNOWN = {
    (library, metric, case): reason
    for reason, library, metrics, cases in GROUPS
    for metric in metrics
    for case in cases
}


def table(name: str) -> list[dict[str, str]]:
    with (RECORDED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def parsed(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_options(text: str) -> dict[str, Any]:
    return {key: parsed(value) for key, _, value in (pair.partition("=") for pair in text.split(";"))}


CASES = {case["id"]: case for case in json.loads((RECORDED / "cases.json").read_text(encoding="utf-8"))}
VARIANTS = {(row["library"], row["metric"]): row for row in table("options.csv") if row["formula"] in FORMULAS}
ROWS = {
    variant: list(rows)
    for variant, rows in groupby(table("values.csv"), key=lambda row: (row["library"], row["metric"]))
    if variant in VARIANTS
}


@cache
def mismatches(library: str, metric: str) -> dict[str, str]:
    """The cases whose recorded value is not reproduced, and how both differ."""
    variant = VARIANTS[library, metric]
    options, tolerance = read_options(variant["options"]), float(variant["tolerance"])
    found = {}
    for row in ROWS[library, metric]:
        if row["error"]:
            continue
        recorded = float(row["value"])
        value = evaluate(variant["formula"], options, CASES[row["case"]])
        same = math.isnan(value) if math.isnan(recorded) else abs(value - recorded) <= tolerance
        if not same:
            found[row["case"]] = f"{library} {row['version']} returned {recorded!r}, the reference {value!r}"
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=" ".join)
def test_the_recorded_values(variant: tuple[str, str]):
    library, metric = variant
    known = {case for one, other, case in KNOWN if (one, other) == variant}
    assert mismatches(library, metric).keys() == known, mismatches(library, metric)


def test_at_least_99_percent():
    values = sum(not row["error"] for rows in ROWS.values() for row in rows)
    different = {(*variant, case): text for variant in VARIANTS for case, text in mismatches(*variant).items()}
    assert different.keys() == KNOWN.keys(), different
    assert values == 5272
    assert len(different) <= 0.01 * values
