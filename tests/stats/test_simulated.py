"""Whether intervals hold what they say, tests err as rarely as they say, and power is what it is said to be.

Two made models rank for half a million users; samples are drawn of these, so the true difference is known. The data was
made once, to look like NDCG@10 (half of the users score 0, two in five are tied), and not for the numbers to come out.
"""

import functools
import math
import re

import numpy as np
import pytest

from recnb.stats import benjamini_hochberg, detectable, holm, intervals, paired, users_needed
from recnb.stats.intervals import bca, percentiles, resampled_means
from recnb.stats.paired import intervals_of_differences
from recnb.stats.significance import settled, sign_flip, student, wilcoxon

SIZES = (20, 30, 50, 100, 200, 500)


@functools.cache
def made_users() -> tuple[np.ndarray, np.ndarray]:
    """NDCG@10 of two models, the first a little better, from lists made rank by rank."""
    n, depth, rng = 500_000, 10, np.random.default_rng(7)
    n_relevant, taste = rng.integers(1, 6, n), rng.beta(0.5, 2.5, n)
    gain = 1 / np.log2(np.arange(2, depth + 2))
    ideal = np.cumsum(gain)[n_relevant - 1]

    def ndcg(quality: float) -> np.ndarray:
        chance = taste[:, np.newaxis] * quality * 0.8 * np.linspace(1, 0.3, depth)
        hits = rng.random((n, depth)) < chance
        hits &= np.cumsum(hits, axis=1) <= n_relevant[:, np.newaxis]
        return (hits * gain).sum(axis=1) / ideal

    return ndcg(1.15), ndcg(1.0)


def population(of: str) -> np.ndarray:
    better, worse = made_users()
    return {"difference": better - worse, "score": worse}[of]


def samples(values: np.ndarray, n: int, runs: int, seed: int) -> np.ndarray:
    """Users drawn of a population, one column a run."""
    return values[np.random.default_rng(seed).integers(0, len(values), (n, runs))]


def coverage(of: str, n: int, runs: int, seed: int = 0) -> dict[str, float]:
    """How often each 95 % interval holds the mean of the population."""
    values = population(of)
    held: dict[str, list[np.ndarray]] = {"t": [], "percentile": [], "bca": []}
    for part in range(max(1, runs // 500)):
        drawn = samples(values, n, min(runs, 500), seed + 1000 * part + n)
        means = resampled_means(drawn, 2000, seed=part)
        low_high = (intervals(drawn, method="t")[:2], percentiles(means, 0.95), bca(drawn, means, 0.95))
        for inside, (low, high) in zip(held.values(), low_high, strict=True):
            inside.append((low <= values.mean()) & (values.mean() <= high))
    return {method: float(np.mean(inside)) for method, inside in held.items()}


def bounds(chance: float, runs: int) -> float:
    """How far a share of so many runs may lie from its chance: it lies further once in two thousand times."""
    return 3.5 * math.sqrt(chance * (1 - chance) / runs)


def said(doc: str | None) -> dict[tuple[str, int], float]:
    """The table of coverage in a docstring."""
    cells = {}
    for name, row in re.findall(r"^ +(t|percentile|bootstrap|bca)((?: +\d\d\.\d){6})$", doc or "", flags=re.MULTILINE):
        for n, share in zip(SIZES, row.split(), strict=True):
            cells["percentile" if name == "bootstrap" else name, n] = float(share) / 100
    assert len(cells) == 18
    return cells


# Intervals


def test_intervals_hold_the_mean_nearly_as_often_as_they_say() -> None:
    runs = 500
    for share in coverage("difference", 200, runs, seed=1).values():
        assert share == pytest.approx(0.95, abs=0.005 + bounds(0.95, runs))


@pytest.mark.slow
@pytest.mark.parametrize("of", ["difference", "score"])
@pytest.mark.parametrize("n", [300, 500])
def test_coverage_of_every_interval_is_right_from_300_users_on(of: str, n: int) -> None:
    for method, share in coverage(of, n, runs=5000).items():
        assert 0.94 <= share <= 0.96, (method, share)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 30, 50, 100, 299, 300, 500])
def test_coverage_of_the_interval_that_paired_chooses_is_right(n: int) -> None:
    values, held = population("difference"), []
    for part in range(10):
        drawn = samples(values, n, 500, part + 31 * n)
        low, high, _ = intervals_of_differences(drawn, 0.95, "auto", 2000, part, (-1.0, 1.0))
        held.append((low <= values.mean()) & (values.mean() <= high))
    assert 0.94 <= np.mean(held) <= (0.975 if n == 20 else 0.96), "of 20 users often fewer than 10 differ"


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
def test_coverage_is_what_the_docstring_says(n: int) -> None:
    for method, share in coverage("difference", n, runs=1500, seed=77).items():
        expected = said(paired.__doc__)[method, n]
        assert share == pytest.approx(expected, abs=0.0005 + bounds(expected, 1500)), method


# Tests


def two_alike(n: int, runs: int, seed: int) -> np.ndarray:
    """Differences of two models that are equally good: each user's two values in an order thrown by a coin."""
    coins = np.random.default_rng(seed + 1).choice([-1.0, 1.0], (n, runs))
    return samples(population("difference"), n, runs, seed) * coins


def false_positives(n: int, runs: int, seed: int) -> dict[str, float]:
    made = settled(two_alike(n, runs, seed))
    found = {
        "t": student(made.mean(axis=0), made.std(axis=0, ddof=1), n, np.count_nonzero(made, axis=0)),
        "wilcoxon": wilcoxon(made),
        "randomization": sign_flip(made, 1999, seed)[0],
    }
    return {name: float((p <= 0.05).mean()) for name, p in found.items()}


def test_tests_err_about_as_rarely_as_they_say() -> None:
    for share in false_positives(100, 500, seed=1).values():
        assert share == pytest.approx(0.05, abs=bounds(0.05, 500))


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 100, 300])
def test_tests_err_as_rarely_as_they_say(n: int) -> None:
    for name, share in false_positives(n, 4000, seed=n).items():
        assert share == pytest.approx(0.05, abs=bounds(0.05, 4000)), name


@pytest.mark.slow
def test_tests_of_few_users_err_no_oftener_than_they_say() -> None:
    for name, share in false_positives(12, 4000, seed=5).items():
        assert share <= 0.05 + bounds(0.05, 4000), name


# Corrections


def families(runs: int, real: int, alike: int, together: float, seed: int) -> np.ndarray:
    """P-values of families of t tests, the first `real` of things that are there; `together` is their correlation."""
    rng = np.random.default_rng(seed)
    n, m = 50, real + alike
    shared, own = rng.normal(0, 1, (n, runs, 1)), rng.normal(0, 1, (n, runs, m))
    data = math.sqrt(together) * shared + math.sqrt(1 - together) * own
    data[:, :, :real] += 0.5
    return student(data.mean(axis=0), data.std(axis=0, ddof=1), n, np.full(data.shape[1:], n))


def rates(runs: int, real: int, alike: int, together: float, seed: int) -> tuple[float, float, float]:
    """Share of families with a false finding under Holm; share of false findings under BH, and its standard error."""
    p = families(runs, real, alike, together, seed)
    by_holm, by_bh = (np.array([correct(one) for one in p]) <= 0.05 for correct in (holm, benjamini_hochberg))
    false = by_bh[:, real:].sum(axis=1) / np.maximum(by_bh.sum(axis=1), 1)
    return float(by_holm[:, real:].any(axis=1).mean()), float(false.mean()), float(false.std() / math.sqrt(runs))


def test_corrections_keep_about_what_they_promise() -> None:
    family_wise, false, error = rates(500, 4, 8, 0.0, seed=0)
    assert family_wise <= 0.05 + bounds(0.05, 500)
    assert false <= 0.05 + 3.5 * error


@pytest.mark.slow
@pytest.mark.parametrize("together", [0.0, 0.7])
def test_corrections_keep_what_they_promise(together: float) -> None:
    runs = 6000
    nothing_there, false, error = rates(runs, 0, 12, together, seed=1)
    some_there, some_false, some_error = rates(runs, 4, 8, together, seed=2)
    for family_wise in (nothing_there, some_there):
        assert family_wise <= 0.05 + bounds(0.05, runs)
    assert some_false <= 0.05 + 3.5 * some_error
    if not together:
        # Independent tests use up what is allowed: all but a hair of 5 %, and for BH the share that is not there.
        exactly = 1 - (1 - 0.05 / 12) ** 12
        assert nothing_there == pytest.approx(exactly, abs=bounds(exactly, runs))
        assert false == pytest.approx(0.05, abs=3.5 * error)
        assert some_false == pytest.approx(0.05 * 8 / 12, abs=3.5 * some_error)
    uncorrected = (families(runs, 0, 12, together, seed=1) <= 0.05).any(axis=1).mean()
    assert uncorrected > 0.15, "without a correction something is found far oftener"


# Power


@pytest.mark.parametrize("n", [12, 40])
def test_what_is_detectable_is_found_as_often_as_said(n: int) -> None:
    runs = 20_000
    for power, alpha in ((0.8, 0.05), (0.5, 0.01)):
        shifted = np.random.default_rng(n).normal(detectable(2.0, n, power, alpha), 2.0, (n, runs))
        found = (student(shifted.mean(axis=0), shifted.std(axis=0, ddof=1), n, np.full(runs, n)) <= alpha).mean()
        assert found == pytest.approx(power, abs=bounds(power, runs))


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_what_is_detectable_in_ndcg_is_found_as_often_as_said(power: float) -> None:
    """The differences are far from normal; with a few hundred users that is no matter."""
    runs, values = 10_000, population("difference")
    n = users_needed(float(values.mean()), float(values.std()), power)
    assert n > 150
    drawn = samples(values, n, runs, seed=n)
    found = (student(drawn.mean(axis=0), drawn.std(axis=0, ddof=1), n, np.count_nonzero(drawn, axis=0)) <= 0.05).mean()
    assert found == pytest.approx(power, abs=bounds(power, runs))
