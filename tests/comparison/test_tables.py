"""What a comparison shows: marks, verdicts and conclusions in the right words,
pictures, both languages.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.display.forms import CONSOLE
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import METRICS
from recnb.results.conclusions import conclusions
from recnb.results.numbers import DifferenceRow
from recnb.results.verdicts import verdict_of
from recnb.stats import Settings
from tests.comparison.frames import USUAL, compared
from tests.rows import read_rows


def test_a_field_of_a_difference_is_a_column_unless_others_tell_it():
    told_by_others = {"symbol", "better", "n_lists", "cluster", "part"}
    fields = {field.name for field in dataclasses.fields(DifferenceRow)}
    columns = DifferenceRow.columns("frame")
    assert {*columns} == fields - told_by_others


VERDICTS = read_rows("comparison/verdicts.toml")


@pytest.mark.parametrize("numbers", VERDICTS)
def test_what_may_be_said(numbers):
    verdict = VERDICTS[numbers]["verdict"]
    row = DifferenceRow(**{**USUAL, **eval(numbers)}, verdict=verdict)
    if verdict != "same":  # which the numbers of users say
        assert verdict == verdict_of(
            row.difference,
            row.low,
            row.high,
            row.p_holm,
            alpha=0.05,
            better=row.better,
        )
    others = [dataclasses.replace(row, p=0.2)] * 2
    line, *_lines = conclusions([row, *others], Settings())
    assert VERDICTS[numbers]["words"] in CONSOLE.write(line)


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_parts_of_the_truth_that_one_model_has_no_users_of(names):
    """User 2, alone in the part y, has a list from one model and none from the other."""
    truth = pd.DataFrame({"user": [1, 1, 2], "item": list("pqp"), "day": list("xzy")})
    lists_of = {"a": {1: ["p"], 2: ["p"]}, "b": {1: ["q"]}}
    models = {name: lists_of[name] for name in names}
    found = recnb.compare(models, truth, averaged_users="both")
    means = found.table("recall", k=1, by="day")["recall@1"].to_dict()
    assert means == {("x", "a"): 1, ("x", "b"): 0, ("z", "a"): 0, ("z", "b"): 1}
    told = found.report(k=1, metrics="recall", by="day").to_dict()["segments"]
    assert [told["names"][part] for part in told["differences"]["part"]] == ["x", "z"]


def test_a_metric_that_is_no_longer_known_by_its_name_has_a_curve():
    @recnb.metric(symbol="Gone", credit="1", out_of="k", bounds=(0, 1))
    def gone(hits, k=None):
        """Share of the first k places that hold a relevant item."""
        return Credit(hits, k, np.ones(len(hits.rank)), out_of_count(hits, k, "k"))

    del METRICS["gone"]
    means = compared().curve(gone, k=[5])["mean"].tolist()
    assert means == compared().curve("precision", k=[5])["mean"].tolist()
