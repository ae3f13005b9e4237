"""A group of users against all others; rows of which several belong to one user."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from recnb.stats import Moments
from recnb.stats.groups import gap_to_rest
from tests.stats.test_intervals import hit_rate_of

UNIT = (0.0, 1.0)


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
    by_user = gap_to_rest(np.random.default_rng(3).random((90, 1)), np.arange(90) < 45, user=np.arange(90) % 9)
    assert np.isnan(by_user.low[0]), "few users are few however many rows"


def test_a_small_segment_and_its_mirror_are_not_tested() -> None:
    ev = hit_rate_of([0] * 5 + [1, 0] * 100)
    by = pd.Series(np.where(ev.users < 5, "few", "many"), ev.users, name="size")
    table = ev.table("hit_rate", k=1, by=by)
    assert table[["p", "gap_low"]].isna().all(axis=None)
    assert (table["low"] < table["high"]).all(), "each segment's own interval holds at any number"
    assert "not corrected for the number of comparisons" in repr(table)
    assert "too few users or differences" in ev.report(1, "hit_rate", by=by)._repr_html_()


def test_one_row_a_user_is_no_cluster() -> None:
    values, user = np.random.default_rng(0).random((60, 3)), np.arange(60)[::-1]
    clusters = Moments.of_clusters(values, user, UNIT)
    assert np.array(clusters.interval()) == pytest.approx(np.array(Moments.of(values, UNIT).interval()), abs=1e-12)
    one, other = (gap_to_rest(values, np.arange(60) < 20, user=of) for of in (None, user))
    assert numbers(one) == pytest.approx(numbers(other), abs=1e-12)


@pytest.mark.parametrize("times", [2, 5])
def test_rows_repeated_say_no_more(times: int) -> None:
    values = np.random.default_rng(1).random((40, 2))
    user, inside = np.tile(np.arange(40), times), np.tile(np.arange(40) < 15, times)
    clusters = Moments.of_clusters(np.tile(values, (times, 1)), user, UNIT)
    assert clusters.n == 40
    assert np.array(clusters.interval()) == pytest.approx(np.array(Moments.of(values, UNIT).interval()), abs=1e-12)
    other = gap_to_rest(np.tile(values, (times, 1)), inside, user=user)
    assert numbers(gap_to_rest(values, np.arange(40) < 15)) == pytest.approx(numbers(other), abs=1e-12)


def test_the_variance_is_that_of_a_ratio() -> None:
    values, user = np.array([[0.0], [1.0], [0.5], [0.25]]), np.array([7, 7, 7, 3])
    off = values[:, 0] - values.mean()
    moments = Moments.of_clusters(values, user, UNIT)
    assert moments.mean[0] == values.mean()
    assert moments.squares[0] / moments.n**2 == pytest.approx((off[:3].sum() ** 2 + off[3] ** 2) / 4**2)
    assert (moments.n, moments.above[0], moments.below[0]) == (2, 2, 2)


def test_the_same_users_on_both_sides_are_paired() -> None:
    rng = np.random.default_rng(2)
    left = rng.random(50)
    right = left + rng.normal(0, 0.1, 50)
    sides, users = np.arange(100) < 50, np.tile(np.arange(50), 2)
    found, theirs = (
        gap_to_rest(np.r_[left, right][:, np.newaxis], sides, user=users),
        scipy.stats.ttest_rel(left, right),
    )
    assert found.p[0] == pytest.approx(theirs.pvalue)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(theirs.confidence_interval()))
    assert np.isnan(gap_to_rest(np.r_[left, left + 0.5][:, np.newaxis], sides, user=users).p[0])
