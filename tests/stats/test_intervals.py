"""Intervals of means: closed forms, scipy, laws, pairs of users."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import recnb
from recnb.stats import Moments, UserSample
from tests.rows import hold_calls, read_rows
from tests.stats.samples import UNIT, intervals

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


@pytest.mark.parametrize(
    "n, hits", [(20, 0), (20, 1), (20, 7), (20, 20), (10**6, 0), (10**6, 50)]
)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_hits_have_clopper_and_pearsons_interval(n, hits, confidence):
    values = np.repeat([1.0, 0.0], [hits, n - hits])[:, np.newaxis]
    ends = Moments(values, UserSample(n), UNIT).interval(confidence)
    want = scipy.stats.binomtest(hits, n).proportion_ci(confidence)
    near = pytest.approx([want.low, want.high], rel=1e-6, abs=1e-12)
    assert np.ravel(ends) == near


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


ALL_HIT = hit_rate_of([1] * 20)
NINE, TEN = (hit_rate_of([1] * hits + [0] * (30 - hits)) for hits in (9, 10))


test_a_call_comes_to = hold_calls(read_rows("stats/intervals.toml"), globals())
