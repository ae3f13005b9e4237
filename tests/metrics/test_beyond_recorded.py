"""What libraries returned for metrics beyond accuracy: `as_in` returns the same."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import presets
from recnb.metrics.metric import LIST_METRICS
from tests.conventions.test_presets import CASES, ROWS

OF_LISTS = {key: one for key, one in presets().items() if one.metric in LIST_METRICS}

#: Cases where a library crashes and `as_in` has a number, since a crash is no convention.
CRASHES = {
    ("recmetrics", "personalization"): "b04_short_list",  # numpy makes no array of lists of unequal length
    ("recmetrics", "novelty"): "b02_cold_item",
    ("recmetrics", "novelty[cut]"): "b02_cold_item",
}


@pytest.mark.parametrize("key", OF_LISTS, ids=" ".join)
def test_the_number_that_the_library_returned(key: tuple[str, str]) -> None:
    assert len(ROWS[key]) >= 3
    for row in ROWS[key]:
        case: dict[str, Any] = CASES[row["case"]]  # type: ignore[assignment]
        frames = {name: pd.DataFrame(case[name]) for name in ("recs", "truth", "train")}
        items = pd.DataFrame({"item": case["catalog"]})
        features: dict[str, Any] = {}
        if OF_LISTS[key].metric == "diversity":
            items = pd.DataFrame.from_dict(case["features"], orient="index").add_prefix("x").rename_axis("item")
            items, features = items.reset_index(), {"features": list(items.columns)}
        k = case["k"] if OF_LISTS[key].uses_k else None
        value = recnb.as_in(*key, **frames, k=k, items=items, **features)
        if row["error"]:
            assert CRASHES[key] == row["case"]
            assert math.isfinite(value)
        else:
            assert value == pytest.approx(float(row["value"]), abs=OF_LISTS[key].tolerance, rel=0, nan_ok=True)
