"""Rows of which several belong to one user: moments, intervals and gaps that keep them together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import ttest_rel

from recnb.stats import Moments
from recnb.stats.groups import gap_to_rest

UNIT = (0.0, 1.0)


def test_one_row_a_user_is_no_cluster() -> None:
    values = np.random.default_rng(0).random((60, 3))
    inside = np.arange(60) < 20
    clusters = Moments.of_clusters(values, np.arange(60)[::-1], UNIT)
    assert np.array(clusters.interval()) == pytest.approx(np.array(Moments.of(values, UNIT).interval()), abs=1e-12)
    one, other = gap_to_rest(values, inside), gap_to_rest(values, inside, user=np.arange(60)[::-1])
    assert np.array([one.low, one.high, one.p]) == pytest.approx(np.array([other.low, other.high, other.p]), abs=1e-12)


@pytest.mark.parametrize("times", [2, 5])
def test_rows_repeated_say_no_more(times: int) -> None:
    values = np.random.default_rng(1).random((40, 2))
    user, inside = np.tile(np.arange(40), times), np.tile(np.arange(40) < 15, times)
    clusters = Moments.of_clusters(np.tile(values, (times, 1)), user, UNIT)
    assert clusters.n == 40
    assert np.array(clusters.interval()) == pytest.approx(np.array(Moments.of(values, UNIT).interval()), abs=1e-12)
    one = gap_to_rest(values, np.arange(40) < 15)
    other = gap_to_rest(np.tile(values, (times, 1)), inside, user=user)
    assert np.array([one.gap, one.low, one.p]) == pytest.approx(np.array([other.gap, other.low, other.p]), abs=1e-12)


def test_the_variance_is_that_of_a_ratio() -> None:
    values, user = np.array([[0.0], [1.0], [0.5], [0.25]]), np.array([7, 7, 7, 3])
    off = values[:, 0] - values.mean()
    moments = Moments.of_clusters(values, user, UNIT)
    assert moments.mean[0] == values.mean()
    assert moments.variance[0] / moments.n == pytest.approx((off[:3].sum() ** 2 + off[3] ** 2) / 4**2)
    assert (moments.n, moments.above[0], moments.below[0]) == (2, 2, 2)


def test_the_same_users_on_both_sides_are_paired() -> None:
    rng = np.random.default_rng(2)
    left = rng.random(50)
    right = left + rng.normal(0, 0.1, 50)
    found = gap_to_rest(np.r_[left, right][:, np.newaxis], np.arange(100) < 50, user=np.tile(np.arange(50), 2))
    theirs = ttest_rel(left, right)
    assert found.p[0] == pytest.approx(theirs.pvalue)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(theirs.confidence_interval()))
    same = gap_to_rest(np.r_[left, left + 0.5][:, np.newaxis], np.arange(100) < 50, user=np.tile(np.arange(50), 2))
    assert np.isnan(same.p[0])


def test_few_users_are_few_however_many_rows() -> None:
    values = np.random.default_rng(3).random((90, 1))
    found = gap_to_rest(values, np.arange(90) < 45, user=np.arange(90) % 9)
    assert np.isnan(found.low[0])
    assert np.isfinite(found.gap[0])


def drawn(rng: np.random.Generator, n: int, zero: float, alike: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of the rows of n users, 1 to `most` each and mostly few; a share of them 0; correlated within a user."""
    size = np.minimum(rng.geometric(0.35, n), most)
    user = np.repeat(np.arange(n), size)
    latent = np.sqrt(alike) * rng.normal(size=n)[user] + np.sqrt(1 - alike) * rng.normal(size=len(user))
    return np.maximum((ndtr(latent) - zero) / (1 - zero), 0.0)[:, np.newaxis], user


RUNS = 2000


@pytest.mark.slow
@pytest.mark.parametrize("zero", [0.3, 0.9])
@pytest.mark.parametrize("alike", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("n", [20, 60, 300])
def test_intervals_of_rows_hold_the_mean(n: int, alike: float, zero: float) -> None:
    rng = np.random.default_rng([n, int(100 * alike), int(100 * zero)])
    mean, held = (1 - zero) / 2, np.zeros(2)
    for _ in range(RUNS):
        values, user = drawn(rng, n, zero, alike, 12)
        for at, moments in enumerate((Moments.of_clusters(values, user, UNIT), Moments.of(values, UNIT))):
            low, high = moments.interval()
            held[at] += low[0] <= mean <= high[0]
    clusters, naive = held / RUNS
    assert clusters >= 0.94
    if alike > 0.5 and n > 20:
        assert naive < 0.91  # rows of one user taken for rows of several


@pytest.mark.slow
@pytest.mark.parametrize("zero", [0.3, 0.9])
@pytest.mark.parametrize("alike", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("share", [0.15, 0.5])
def test_gaps_of_weeks_without_a_difference_are_seldom_found(share: float, alike: float, zero: float) -> None:
    rng = np.random.default_rng([int(100 * share), int(100 * alike), int(100 * zero)])
    found, tested = np.zeros(2), 0
    for _ in range(RUNS):
        values, user = drawn(rng, 120, zero, alike, 12)
        inside = rng.random(len(user)) < share
        p = [gap_to_rest(values, inside, user=of).p[0] for of in (user, None)]
        if np.isfinite(p).all():
            found += np.array(p) <= 0.05
            tested += 1
    clusters, _naive = found / tested
    assert clusters <= 0.065


@pytest.mark.slow
def test_gaps_between_users_with_several_rows_need_the_clusters() -> None:
    rng = np.random.default_rng(5)
    found = np.zeros(2)
    for _ in range(RUNS):
        values, user = drawn(rng, 120, 0.3, 0.95, 12)
        inside = user < 40
        found += [gap_to_rest(values, inside, user=of).p[0] <= 0.05 for of in (user, None)]
    clusters, naive = found / RUNS
    assert clusters <= 0.06
    assert naive > 0.10
