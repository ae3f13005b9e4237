"""Whether intervals of lists in clusters hold what they say, simulated.

Users return, and the values of one user are alike or not. Nothing is drawn list by list
where a sum will do: of 0 and 1 a user's number of hits is binomial, by a chance that
has the beta distribution of the correlation asked for.
"""

import numpy as np
import pytest

from recnb.stats import Moments, UserSample
from recnb.stats import paired as paired_of
from tests.stats.test_coverage import held, said

pytestmark = pytest.mark.slow

#: How many times numbers of lists are drawn, and samples of values for each.
DRAWS, SAMPLES = 40, 100
SIZES = (20, 50, 200, 2000)
ALIKE = (0.0, 0.3, 0.9)
RATES = {"hits": (0.02, 0.1, 0.5, 0.9), "values": (0.1, 0.5, 0.9)}
#: Users return 1 + Geometric times: the chance not to return, and so their lists.
LEAVES = 0.2
MOST_LISTS = 30


def drawn_sizes(rng, n):
    """How many lists each user has: 1 + Geometric, to 30."""
    return np.minimum(rng.geometric(LEAVES, n), MOST_LISTS)


def hits(rng, sizes, rate, alike):
    """Values of 0 and 1, lists × samples; two lists of a user correlate by `alike`."""
    shape = (len(sizes), SAMPLES)
    chance = np.full(shape, rate)
    if alike:
        strength = 1 / alike - 1
        chance = rng.beta(rate * strength, (1 - rate) * strength, shape)
    chance = np.repeat(chance, sizes, axis=0)
    return (rng.random(chance.shape) < chance) * 1.0


def levels(rng, sizes, rate, alike):
    """Values of any size: each list has its user's value or one of its own."""
    shape = (2 * rate, 2 - 2 * rate)
    own = rng.beta(*shape, (sizes.sum(), SAMPLES))
    of_user = rng.beta(*shape, (len(sizes), SAMPLES))
    is_of_user = rng.random(own.shape) < np.sqrt(alike)
    return np.where(is_of_user, np.repeat(of_user, sizes, axis=0), own)


KINDS = {"hits": hits, "values": levels}


def sample_of(sizes):
    """The lists of users who have so many."""
    return UserSample(sum(sizes), codes=np.repeat(np.arange(len(sizes)), sizes))


def coverage_of_means(kind, n, rate, alike):
    """The share of 95 % intervals that hold the mean."""
    rng = np.random.default_rng([n, round(100 * rate), round(10 * alike)])
    shares = []
    for _draw in range(DRAWS):
        sizes = drawn_sizes(rng, n)
        values = KINDS[kind](rng, sizes, rate, alike)
        low, high = Moments(values, sample_of(sizes), (0.0, 1.0)).interval()
        shares.append(held(low, high, rate))
    return np.mean(shares)


def coverage_of_differences(kind, n, rate, alike):
    """The same of the difference of two models, the second a little worse."""
    rng = np.random.default_rng([1, n, round(100 * rate), round(10 * alike)])
    other, draw, shares = 0.8 * rate, KINDS[kind], []
    for _draw in range(DRAWS):
        sizes = drawn_sizes(rng, n)
        differences = draw(rng, sizes, rate, alike) - draw(rng, sizes, other, alike)
        test = paired_of(differences, sample_of(sizes), bounds=(-1.0, 1.0))
        ends = test.low_in_bounds, test.high_in_bounds
        shares.append(held(*ends, rate - other))
    return np.mean(shares)


CELLS = [
    pytest.param(kind, alike, rate, id=f"{kind} of {rate}, correlation {alike}")
    for kind in KINDS
    for alike in ALIKE
    for rate in RATES[kind]
]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("kind", "alike", "rate"), CELLS)
def test_the_interval_of_a_mean_of_lists_covers(kind, alike, rate, n):
    share = coverage_of_means(kind, n, rate, alike)
    assert share >= 0.945
    assert share == pytest.approx(said(f"{kind} {rate}, {alike}", n, SIZES), abs=0.0006)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("kind", "alike", "rate"), CELLS)
def test_the_interval_of_a_difference_of_lists_covers(kind, alike, rate, n):
    share = coverage_of_differences(kind, n, rate, alike)
    assert share >= 0.946 - 3 * np.sqrt(0.946 * 0.054 / (DRAWS * SAMPLES))
    name = f"difference of {kind} {rate}, {alike}"
    assert share == pytest.approx(said(name, n, SIZES), abs=0.0006)
