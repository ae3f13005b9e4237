"""Whether the intervals that are given unasked hold what they say where hits are rare or users few, every cell simulated.

A cell is right (93 to 97 in a hundred 95 % intervals hold the mean), or careful (more than that), or has no interval.
"""

import math
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from recnb.stats import intervals, paired
from recnb.stats.groups import gap_to_rest
from recnb.stats.paired import intervals_of_differences
from recnb.stats.significance import student
from tests.stats.test_simulated import bounds, made_users

pytestmark = pytest.mark.slow

RUNS = 3000
SIZES = (20, 50, 200, 1000)
UNIT = (0.0, 1.0)

#: Draws users × samples of a population, and the population's mean.
Population = tuple[Callable[[np.random.Generator, tuple[int, int]], np.ndarray], float]


def values_of(zero: float | None) -> Population:
    """nDCG@10 of made lists, with so large a share of users at 0; None: as it comes, a good half."""
    _, every = made_users()
    some = every[every > 0]
    if zero is None:
        return (lambda rng, shape: every[rng.integers(0, len(every), shape)]), float(every.mean())
    return (lambda rng, shape: np.where(rng.random(shape) < zero, 0.0, some[rng.integers(0, len(some), shape)])), (
        1 - zero
    ) * float(some.mean())


def hits_of(rate: float) -> Population:
    return (lambda rng, shape: (rng.random(shape) < rate) * 1.0), rate


def differences_of(tied: float) -> Population:
    """Differences of two models in nDCG@10, with so large a share of users who do not differ."""
    better, worse = made_users()
    apart = (better - worse)[np.abs(better - worse) > 1e-12]
    return (lambda rng, shape: np.where(rng.random(shape) < tied, 0.0, apart[rng.integers(0, len(apart), shape)])), (
        1 - tied
    ) * float(apart.mean())


def hits_apart(mine: float, theirs: float) -> Population:
    return (lambda rng, shape: (rng.random(shape) < mine) * 1.0 - (rng.random(shape) < theirs)), mine - theirs


def hits_more(more: float) -> Population:
    """A model that hits wherever the other does, and for some users more."""
    return hits_of(more)


MEANS = {
    "nDCG, half at 0": partial(values_of, None),
    "nDCG, 90 % at 0": partial(values_of, 0.9),
    "nDCG, 97 % at 0": partial(values_of, 0.97),
    "hit rate 0.1": partial(hits_of, 0.1),
    "hit rate 0.05": partial(hits_of, 0.05),
    "hit rate 0.01": partial(hits_of, 0.01),
    "hit rate 0.95": partial(hits_of, 0.95),
}
DIFFERENCES = {
    "nDCG, 44 % tied": partial(differences_of, 0.44),
    "nDCG, 90 % tied": partial(differences_of, 0.9),
    "nDCG, 97 % tied": partial(differences_of, 0.97),
    "hit rates 0.1, 0.05": partial(hits_apart, 0.1, 0.05),
    "hit rates 0.02, 0.01": partial(hits_apart, 0.02, 0.01),
    "0.01 more hits": partial(hits_more, 0.01),
}


def held(low: np.ndarray, high: np.ndarray, mean: float) -> float:
    return float(((low <= mean + 1e-12) & (mean <= high + 1e-12)).mean())


def coverage_of_mean(population: Population, n: int, runs: int = RUNS, seed: int = 0) -> float:
    """Share of the intervals of a mean over n users that hold it."""
    draw, mean = population
    low, high, _ = intervals(draw(np.random.default_rng([seed, n]), (n, runs)), bounds=UNIT)
    return held(low, high, mean)


def coverage_of_difference(population: Population, n: int, runs: int = RUNS, seed: int = 0) -> float:
    """Share of the intervals of a paired difference over n users that hold it."""
    draw, mean = population
    drawn = draw(np.random.default_rng([seed, n]), (n, runs))
    low, high, _ = intervals_of_differences(drawn, 0.95, "auto", 1, 0, (-1.0, 1.0))
    return held(low, high, mean)


def rejected_segments(population: Population, n: int, runs: int = RUNS, seed: int = 0, of: int = 261) -> float:
    """How often a segment of n users drawn at random is found to differ from the other users at 0.05."""
    values = population[0](np.random.default_rng([seed, n]), (of, runs))
    return float((gap_to_rest(values, np.arange(of) < n).p <= 0.05).mean())


def rejected_nulls(n: int, runs: int = 100_000, seed: int = 0) -> float:
    """How often Student's test finds a difference between models that swap their hits by a coin: 1, -1 or 0 a user."""
    apart = np.random.default_rng([seed, n]).choice([1.0, -1.0, 0.0], (n, runs), p=[0.35, 0.35, 0.3])
    p = student(apart.mean(axis=0), apart.std(axis=0, ddof=1), n, np.count_nonzero(apart, axis=0))
    return float((p <= 0.05).mean())


def said(doc: str | None, rows: dict[str, Population]) -> dict[tuple[str, int], float]:
    """The table of coverage in a docstring."""
    cells = {}
    for name in rows:
        (row,) = re.findall(rf"^ +{re.escape(name)}((?: +\d+\.\d){{4}})$", doc or "", flags=re.MULTILINE)
        cells |= {(name, n): float(share) / 100 for n, share in zip(SIZES, row.split(), strict=True)}
    return cells


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", MEANS)
def test_the_interval_of_a_mean_is_right_or_careful(name: str, n: int) -> None:
    share = coverage_of_mean(MEANS[name](), n)
    assert share >= 0.94
    expected = said(intervals.__doc__, MEANS)[name, n]
    assert share == pytest.approx(expected, abs=0.0005)
    assert coverage_of_mean(MEANS[name](), n, seed=1) == pytest.approx(
        expected, abs=0.002 + 1.5 * bounds(expected, RUNS)
    )


@pytest.mark.parametrize("n", [2, 3, 5, 10])
@pytest.mark.parametrize("name", MEANS)
def test_the_interval_of_a_handful_of_users_is_careful(name: str, n: int) -> None:
    assert coverage_of_mean(MEANS[name](), n) >= 0.95 - bounds(0.95, RUNS)


@pytest.mark.parametrize("n", [12, 20, 50, 200, 1000])
@pytest.mark.parametrize("name", ["nDCG, half at 0", "nDCG, 90 % at 0", "nDCG, 97 % at 0"])
def test_without_an_upper_bound_an_interval_is_right_or_there_is_none(name: str, n: int) -> None:
    """Values as of DCG: gains of several sizes."""
    draw, mean = MEANS[name]()
    rng = np.random.default_rng(n)
    values = draw(rng, (n, RUNS)) * rng.choice([1.0, 1.6, 2.1, 2.5], (n, RUNS))
    low, high, _ = intervals(values, bounds=(0, math.inf))
    none = np.isnan(low)
    assert (none == ((values > 0).sum(axis=0) < 10)).all()
    assert (none | ((low <= mean * 1.8) & (mean * 1.8 <= high))).mean() >= 0.93


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_interval_of_a_difference_is_right_or_careful(name: str, n: int) -> None:
    share = coverage_of_difference(DIFFERENCES[name](), n)
    assert share >= 0.93
    assert share == pytest.approx(said(paired.__doc__, DIFFERENCES)[name, n], abs=0.0005)


@pytest.mark.parametrize("n", [5, 10, 20, 50])
@pytest.mark.parametrize("name", MEANS)
def test_random_segments_are_rarely_found_to_differ(name: str, n: int) -> None:
    share = rejected_segments(MEANS[name](), n)
    assert share <= 0.05 + bounds(0.05, RUNS)
    assert (share == 0) or n >= 10


@pytest.mark.parametrize("n", [2, 3, 5, 10, 20])
def test_random_swaps_are_rarely_found_to_differ(n: int) -> None:
    share = rejected_nulls(n)
    assert share <= 0.06
    assert (share == 0) or n >= 6
