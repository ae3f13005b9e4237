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


def coverage(kind, n, rate, alike, *, differs):
    """The share of 95 % intervals that hold the mean, or the difference of a model from
    another with 0.8 times the mean.
    """
    seed = [n, round(100 * rate), round(10 * alike)]
    rng = np.random.default_rng([1, *seed] if differs else seed)
    other, draw, shares = 0.8 * rate, KINDS[kind], []
    for _draw in range(DRAWS):
        sizes = drawn_sizes(rng, n)
        values, sample = draw(rng, sizes, rate, alike), sample_of(sizes)
        if differs:
            differences = values - draw(rng, sizes, other, alike)
            test = paired_of(differences, sample, bounds=(-1.0, 1.0))
            low, high = test.low_even_untested, test.high_even_untested
        else:
            low, high = Moments(values, sample, (0.0, 1.0)).interval()
        shares.append(held(low, high, rate - other if differs else rate))
    return np.mean(shares)


CELLS = [
    pytest.param(kind, alike, rate, id=f"{kind} of {rate}, correlation {alike}")
    for kind in KINDS
    for alike in ALIKE
    for rate in RATES[kind]
]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("kind", "alike", "rate"), CELLS)
@pytest.mark.parametrize("differs", [False, True], ids=["mean", "difference"])
def test_intervals_of_lists_cover(kind, alike, rate, n, differs):
    share = coverage(kind, n, rate, alike, differs=differs)
    name = f"difference of {kind}" if differs else kind
    assert share == pytest.approx(said(f"{name} {rate}, {alike}", n, SIZES), abs=0.0006)
    assert share >= (0.935 if differs else 0.945)
