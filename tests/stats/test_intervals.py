"""Intervals of means: closed forms, scipy, laws, pairs of users."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import recnb
from tests.stats.samples import intervals

SKEWED = np.random.default_rng(11).beta(0.4, 3.0, (120, 3))


def hit_rate_of(hits):
    """A user for each entry: the one relevant item on rank 1 (a hit) or not
    recommended.
    """
    recs = pd.DataFrame(
        {
            "user": range(len(hits)),
            "item": ["a" if hit else "b" for hit in hits],
            "rank": 1,
        }
    )
    return recnb.evaluate(recs, recs.assign(item="a")[["user", "item"]])


@pytest.mark.parametrize("hits", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_hits_of_20_users_have_clopper_and_pearsons_interval(hits, confidence):
    score = hit_rate_of([1] * hits + [0] * (20 - hits)).hit_rate(k=1)
    want = scipy.stats.binomtest(hits, 20).proportion_ci(confidence)
    assert list(score.interval(confidence)) == pytest.approx(
        [want.low, want.high], abs=1e-12
    )
    assert (
        f"{score.interval().low:.4f} to {score.interval().high:.4f}"
        in score._repr_html_()
    )


def test_a_million_users_have_the_closed_form_as_well():
    values = np.zeros((1_000_000, 1))
    for hits in (0, 50):
        values[:hits] = 1
        want = scipy.stats.binomtest(hits, 1_000_000).proportion_ci()
        assert np.ravel(intervals(values)) == pytest.approx(
            (want.low, want.high), rel=1e-6
        )


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("n", [2, 5, 30, 300])
def test_intervals_lie_within_the_bounds_about_the_mean_and_have_a_width(share, n):
    rng = np.random.default_rng(n)
    values = np.where(rng.random((n, 50)) < share, rng.random((n, 50)), 0.0)
    low, high = intervals(values)
    assert ((low >= 0) & (low < high) & (high <= 1)).all()
    assert ((low <= values.mean(axis=0)) & (values.mean(axis=0) <= high)).all()
    mirrored_low, mirrored_high = intervals(1 - values)
    assert 1 - mirrored_high == pytest.approx(low, abs=1e-9)
    assert 1 - mirrored_low == pytest.approx(high, abs=1e-9)


def test_the_interval_of_scaled_values_is_scaled():
    ends = np.array(intervals(SKEWED))
    scaled = np.array(intervals(4 * SKEWED - 2, bounds=(-2.0, 2.0)))
    assert scaled == pytest.approx(4 * ends - 2, abs=1e-9)


def test_repeats_that_pass_the_bounds_of_a_metric_have_an_interval():
    low, high = intervals(np.array([[0.0], [1.5], [0.5]]))
    assert 0 <= low < 2 / 3 < high <= 1.5


def test_one_user_shows_nothing_of_others_and_users_who_are_alike_show_little():
    assert np.isnan(intervals(np.array([[0.5]]))).all()
    assert np.isfinite(intervals(np.array([[0.3], [0.7]]))).all()
    low, high = intervals(np.full((150, 1), 1 / 3))
    assert low < 0.333 < 0.334 < high


def test_a_metric_without_an_upper_bound_has_no_interval_of_equal_values():
    alike = hit_rate_of([1] * 20).dcg(k=1)
    why = "too few users, or values that hardly differ"
    assert repr(alike.interval()) == f"[nan, nan] (95%, beta: {why})"
    assert f"no interval: {why}" in alike._repr_html_()


def test_a_metric_without_an_upper_bound_has_no_interval_of_few_hits():
    few, some = (hit_rate_of([1] * hits + [0] * (30 - hits)) for hits in (9, 10))
    assert all(map(math.isnan, few.dcg(k=1).interval()))
    assert 0 < some.dcg(k=1).interval().low < 1 / 3 < some.dcg(k=1).interval().high
