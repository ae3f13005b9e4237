"""A group of users against all others."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from recnb.stats import gap_to_rest
from tests.stats.test_intervals import hit_rate_of


def numbers(gap: object) -> np.ndarray:
    return np.array([getattr(gap, name) for name in ("gap", "low", "high", "p")])


def test_a_gap_is_the_more_careful_of_welch_and_student() -> None:
    rng = np.random.default_rng(1)
    for scale in (0.1, 1.0, 5.0):
        mine, rest = rng.normal(0.5, scale, 12), rng.normal(0, 1, 90)
        gap = gap_to_rest(np.r_[mine, rest][:, np.newaxis], np.arange(102) < 12, 0.9)
        each = [scipy.stats.ttest_ind(mine, rest, equal_var=equal) for equal in (False, True)]
        ends = [one.confidence_interval(0.9) for one in each]
        assert gap.p[0] == pytest.approx(max(one.pvalue for one in each))
        assert gap.low[0] == pytest.approx(min(one.low for one in ends))
        assert gap.high[0] == pytest.approx(max(one.high for one in ends))


@pytest.mark.parametrize(("n", "tested"), [(9, False), (10, True)])
def test_both_sides_of_a_gap_need_ten_users_who_are_not_alike(n: int, tested: bool) -> None:
    values = np.random.default_rng(0).random((200, 1))
    inside = np.arange(200) < n
    for mine in (inside, ~inside):
        assert np.isfinite(gap_to_rest(values, mine).p[0]) == tested
    values[inside] = 0
    for mine in (inside, ~inside):
        assert np.isnan(numbers(gap_to_rest(values, mine))).ravel().tolist() == [False, True, True, True]


def test_a_small_segment_and_its_mirror_are_not_tested() -> None:
    ev = hit_rate_of([0] * 5 + [1, 0] * 100)
    by = pd.Series(np.where(ev.users < 5, "few", "many"), ev.users, name="size")
    table = ev.table("hit_rate", k=1, by=by)
    assert table[["p", "gap_low"]].isna().all(axis=None)
    assert (table["low"] < table["high"]).all(), "each segment's own interval holds at any number"
    assert "not corrected for the number of comparisons" in repr(table)
    assert "too few users or differences" in ev.report(1, "hit_rate", by=by)._repr_html_()
