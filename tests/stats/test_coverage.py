"""Whether intervals hold what they say, tests err as rarely as they say, and power is
what it is said to be, simulated.

Two made models rank for half a million users; samples are drawn of these, so the true
difference is known. The data was made once, to look like nDCG@10 (half of the users
score 0, two in five are tied), and not for the numbers to come out. A cell is right (93
to 97 in a hundred 95 % intervals hold the mean), or careful (more than that), or has no
interval.
"""

import functools
import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from recnb import stats
from recnb.results.detectable import users_needed
from recnb.stats import UserSample, gap_to_rest, smallest_found
from tests.rows import read_rows
from tests.stats.samples import intervals, paired

pytestmark = pytest.mark.slow

README = Path(stats.__file__).with_name("README.md").read_text("utf-8")

RUNS, FEWER = 3000, 600
SIZES = (20, 50, 200, 1000)


def bounds(chance, runs):
    """How far a share of so many runs may lie from its chance: it lies further once in
    two thousand times.
    """
    return 3.5 * math.sqrt(chance * (1 - chance) / runs)


@functools.cache
def made_users():
    """nDCG@10 of two models, the first a little better, from lists made rank by rank."""
    n, depth, rng = 500_000, 10, np.random.default_rng(7)
    n_relevant, taste = rng.integers(1, 6, n), rng.beta(0.5, 2.5, n)
    gain = 1 / np.log2(np.arange(2, depth + 2))
    ideal = np.cumsum(gain)[n_relevant - 1]

    def ndcg(quality):
        chance = taste[:, np.newaxis] * quality * 0.8 * np.linspace(1, 0.3, depth)
        hits = rng.random((n, depth)) < chance
        hits &= np.cumsum(hits, axis=1) <= n_relevant[:, np.newaxis]
        return (hits * gain).sum(axis=1) / ideal

    return ndcg(1.15), ndcg(1.0)


def differing():
    """The differences of the users whom the models do not serve the same."""
    better, worse = made_users()
    return (better - worse)[np.abs(better - worse) > 1e-12]


def mixed(some, zero):
    """Values of which so large a share is 0, and the others are drawn of some."""

    def draw(rng, shape):
        return np.where(
            rng.random(shape) < zero, 0.0, some[rng.integers(0, len(some), shape)]
        )

    return draw, (1 - zero) * float(some.mean())


def values_of(zero=None):
    """nDCG@10 of made lists, with so large a share of users at 0; None: as it comes, a
    good half.
    """
    every = made_users()[1]
    if zero is None:
        return (lambda rng, shape: every[rng.integers(0, len(every), shape)]), float(
            every.mean()
        )
    return mixed(every[every > 0], zero)


def differences_of(tied):
    return mixed(differing(), tied)


def hits_of(rate):
    return (lambda rng, shape: (rng.random(shape) < rate) * 1.0), rate


def hits_apart(mine, theirs):
    return (
        lambda rng, shape: (
            (rng.random(shape) < mine) * 1.0 - (rng.random(shape) < theirs)
        )
    ), mine - theirs


POPULATIONS = read_rows("stats/coverage.toml")
MEANS, DIFFERENCES = POPULATIONS["means"], POPULATIONS["differences"]
#: Weights of users: how far they spread (sigma of a lognormal), and the power of 3 by
#: which they grow with the value.
WEIGHTS = POPULATIONS["weights"]


def population(name):
    """What draws users × samples, and the mean."""
    kind, *numbers = (MEANS | DIFFERENCES)[name]
    return globals()[kind](*numbers)


def said(name, n, sizes=SIZES):
    """The share in the README's tables, whose columns are sizes; NaN where there is no
    interval.
    """
    (row,) = re.findall(
        rf"^ +{re.escape(name)}((?: +(?:\d+\.\d|-))+)$", README, flags=re.MULTILINE
    )
    share = row.split()[sizes.index(n)]
    return math.nan if share == "-" else float(share) / 100


def held(low, high, mean):
    """Share of the intervals that hold the mean, where there is one."""
    given = np.isfinite(low)
    return (
        ((low <= mean + 1e-12) & (mean <= high + 1e-12))[given].mean()
        if given.any()
        else math.nan
    )


def ends_of(name, values, weights=None):
    """The ends of the intervals of samples of a population."""
    if name in MEANS:
        return intervals(values, weights=weights)
    made = paired(values, bounds=(-1.0, 1.0), weights=weights)
    return made.low_even_untested, made.high_even_untested


@pytest.mark.parametrize(
    "name, n",
    [*product(MEANS, (2, 3, 5, 10, *SIZES)), *product(DIFFERENCES, SIZES)],
)
def test_an_interval_is_right_or_careful(name, n):
    draw, mean = population(name)
    values = draw(np.random.default_rng([0, n]), (n, RUNS))
    share = held(*ends_of(name, values), mean)
    if n <= 10:
        assert share >= 0.95 - bounds(0.95, RUNS)
        return
    assert share >= (0.94 if name in MEANS else 0.93)
    assert share == pytest.approx(said(name, n), abs=0.0005)


@pytest.mark.parametrize("n", [12, *SIZES])
@pytest.mark.parametrize(
    "name", ["nDCG, half at 0", "nDCG, 90 % at 0", "nDCG, 97 % at 0"]
)
def test_without_an_upper_bound_an_interval_is_right_or_there_is_none(name, n):
    """Values as of DCG: gains of several sizes."""
    draw, mean = population(name)
    rng = np.random.default_rng(n)
    values = draw(rng, (n, RUNS)) * rng.choice([1.0, 1.6, 2.1, 2.5], (n, RUNS))
    low, high = intervals(values, bounds=(0, math.inf))
    none = np.isnan(low)
    assert (none == ((values > 0).sum(axis=0) < 10)).all()
    assert (none | ((low <= mean * 1.8) & (mean * 1.8 <= high))).mean() >= 0.93


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    "name",
    ["nDCG, half at 0", "hit rate 0.05", "nDCG, 44 % tied", "hit rates 0.1, 0.05"],
)
def test_intervals_of_users_with_weights_are_right_or_careful(name, weights, n):
    """Each sample has weights of its own; the mean that they estimate is that of all
    users, by how weights grow with the value.
    """
    spread, power = WEIGHTS[weights]
    draw, rng = population(name)[0], np.random.default_rng([0, n])
    every = draw(rng, 500_000)
    true, ends = np.average(every, weights=3.0 ** (power * every)), []
    for values in draw(rng, (FEWER, n))[:, :, np.newaxis]:
        weight = rng.lognormal(0, spread, n) * 3.0 ** (power * values[:, 0])
        ends.append(ends_of(name, values, weight))
    share = held(*np.array(ends)[:, :, 0].T, true)
    assert share >= 0.93
    assert share == pytest.approx(said(f"{name}, {weights}", n), abs=0.0005)


@pytest.mark.parametrize("n", [12, 60, 300])
def test_tests_err_as_rarely_as_they_say(n):
    runs, rng = 4000, np.random.default_rng(n)
    made = differences_of(0.44)[0](rng, (n, runs)) * rng.choice([-1.0, 1.0], (n, runs))
    share = (paired(made).p <= 0.05).mean()
    assert share <= 0.05 + bounds(0.05, runs)
    assert share >= 0.05 - bounds(0.05, runs) or n == 12


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_what_is_detectable_is_found_as_often_as_said(power):
    runs, draw, mean = 10_000, *differences_of(0.44)
    sd = float(draw(np.random.default_rng(0), (100_000, 1)).std())
    n = users_needed(mean, sd, power)
    assert n > 150
    found = (paired(draw(np.random.default_rng(n), (n, runs))).p <= 0.05).mean()
    assert found == pytest.approx(power, abs=0.02)
    for few in (20, 40):  # of normal differences the approximation is short of users
        made = np.random.default_rng(few).normal(
            smallest_found(2.0, few, power), 2.0, (few, 20_000)
        )
        assert power - 0.06 <= (paired(made).p <= 0.05).mean() <= power + 0.01


@pytest.mark.parametrize("n", [5, 10, 20, 50])
@pytest.mark.parametrize("name", MEANS)
def test_random_segments_are_rarely_found_to_differ(name, n):
    values = population(name)[0](np.random.default_rng([0, n]), (261, RUNS))
    share = (gap_to_rest(values, UserSample(261), np.arange(261) < n).p <= 0.05).mean()
    assert share <= 0.05 + bounds(0.05, RUNS)
    assert (share == 0) or n >= 10
