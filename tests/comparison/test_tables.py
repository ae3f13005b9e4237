"""What a comparison shows: marks, verdicts and conclusions in the right words,
pictures, both languages.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import recnb
from recnb.comparison.tables import TESTED
from recnb.display.forms import CONSOLE
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import METRICS
from recnb.results.conclusions import conclusions
from recnb.results.numbers import NAMES, DifferenceRow
from recnb.results.verdicts import verdict_of
from recnb.stats import Settings
from tests.comparison.frames import USUAL, compared
from tests.rows import read_rows


def test_a_field_of_a_difference_is_a_column_unless_others_tell_it():
    told_by_others = {"symbol", "better", "n_lists", "cluster", "part"}
    fields = {field.name for field in dataclasses.fields(DifferenceRow)}
    assert {*NAMES, *TESTED} == fields - told_by_others


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


def test_a_metric_that_is_no_longer_known_by_its_name_has_a_curve():
    @recnb.metric(symbol="Gone", credit="1", out_of="k", bounds=(0, 1))
    def gone(hits, k=None):
        """Share of the first k places that hold a relevant item."""
        return Credit(hits, k, np.ones(len(hits.rank)), out_of_count(hits, k, "k"))

    del METRICS["gone"]
    means = compared().curve(gone, k=[5])["mean"].tolist()
    assert means == compared().curve("precision", k=[5])["mean"].tolist()
