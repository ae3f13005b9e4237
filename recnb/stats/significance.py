"""Paired significance tests: a p-value for each column of differences, users × columns."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.stats.moments import Floats, Ints

Randomization = Literal["exact", "drawn", "limit"]

#: Up to this many users who differ, Wilcoxon's test is exact.
FEW_RANKS = 13

#: Up to this many users who differ, the randomization test is exact; above the second number it is the normal limit.
FEW_DIFFER = 16
MANY_DIFFER = 20_000


def settled(differences: Floats) -> Floats:
    """Round differences to twelve decimals, so that sums taken in another order make no difference.

    Ranks and ties must not depend on the order in which two models add the same terms.

    >>> settled(np.array([0.1 + 0.2 - 0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    return np.round(differences, 12) + 0.0  # -0.0 is 0


def student(mean: Floats, sd: Floats, n: int, differing: Ints) -> Floats:
    """Two-sided p-values of Student's paired t test, from means and standard deviations of the differences.

    They are not below the lowest p-value that the randomization test of the users who differ can reach (`lowest_p`). If no user
    differs, p is 1; one user gives NaN.
    """
    from scipy.special import stdtr

    if n < 2:
        return np.full_like(mean, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / (sd / np.sqrt(n)))
    return np.asarray(np.minimum(np.maximum(2 * stdtr(n - 1, -np.abs(t)), lowest_p(differing)), 1.0))


def lowest_p(differing: Ints | int) -> Floats:
    """The lowest p-value of the randomization test: all signs are the same in two of 2^(users who differ) patterns.

    >>> lowest_p(np.array([0, 2, 6])).tolist()
    [1.0, 0.5, 0.03125]
    """
    return np.asarray(np.minimum(2.0 ** (1.0 - differing), 1.0))


def wilcoxon(differences: Floats) -> Floats:
    """Two-sided p-values of Wilcoxon's signed-rank test (Biometrics 1945), exact up to 13 users who differ, else by scipy.

    If no user differs, p is 1.
    """
    from scipy import stats

    p_values = np.ones(differences.shape[1])
    if not len(differences):
        return np.full_like(p_values, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few users left after ties, which the p-value shows
        for column in steps(np.flatnonzero((differences != 0).any(axis=0)), _("testing")):
            every = differences[:, column]
            differing = every[every != 0]
            if len(differing) <= FEW_RANKS:
                # With ties scipy (1.17) takes seconds for it; where many do not differ, its normal limit is up to 0.24 off.
                p_values[column], _ignored = _sign_flip(stats.rankdata(np.abs(differing)) * np.sign(differing), 0, 0)
            else:
                p_values[column] = stats.wilcoxon(every).pvalue
    return p_values


def sign_flip(differences: Floats, permutations: int, seed: int) -> tuple[Floats, tuple[Randomization, ...]]:
    """Two-sided p-values of the randomization test: how often the mean is as far from 0 if signs are random.

    Users who do not differ have no sign. With up to 16 who differ, all signs are enumerated (`exact`); with up to 20,000 signs
    are `drawn`, and p is (1 + as far) / (1 + drawn), so never 0 (Phipson and Smyth 2010); above that p is the `limit`, normal with
    the variance of signed sums. The p-value of a column depends on its differences and the seed only. The test is Fisher's
    (1935); for rankings see Smucker, Allan and Carterette (2007).

    >>> sign_flip(np.array([[0.1], [0.2], [0.0], [0.3]]), 1000, seed=0)
    (array([0.25]), ('exact',))
    """
    columns = steps(differences.T, _("testing"))
    tested = [_sign_flip(column[column != 0], permutations, seed) for column in columns]
    if not len(differences):
        return np.full(differences.shape[1], np.nan), tuple(how for _ignored, how in tested)
    return np.array([p for p, _ignored in tested]), tuple(how for _ignored, how in tested)


def _sign_flip(differing: Floats, permutations: int, seed: int) -> tuple[float, Randomization]:
    n = len(differing)
    size = np.abs(differing)
    # As far but for the order of summing is as far.
    far = np.abs(differing.sum()) - 1e-12 * size.sum()
    if n <= FEW_DIFFER:
        # The sums of a pattern and of its opposite are opposite: half the patterns are enough.
        sums = _signed_sums(size, np.arange(2 ** max(n - 1, 0), dtype=np.uint16)[:, np.newaxis].view(np.uint8))
        return float((np.abs(sums) >= far).mean()), "exact"
    if n > MANY_DIFFER:
        from scipy.special import ndtr

        return float(2 * ndtr(-np.abs(differing.sum()) / np.sqrt((size**2).sum()))), "limit"
    rng = np.random.default_rng(seed)
    as_far = 0
    groups = -(-n // 8)
    at_once = max(1, 2_000_000 // groups)
    for start in range(0, permutations, at_once):
        drawn = min(at_once, permutations - start)
        signs = rng.integers(0, 256, (drawn, groups), dtype=np.uint8)
        as_far += int((np.abs(_signed_sums(size, signs)) >= far).sum())
    return (as_far + 1) / (permutations + 1), "drawn"


_PATTERNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little")


#: Groups of eight looked up at a time, so that their sums fit into the processor's cache.
_AT_ONCE = 32


def _signed_sums(sizes: Floats, signs: NDArray[np.uint8]) -> Floats:
    """Sums of sizes with signs, one for each row of signs; a byte holds the signs of eight.

    Eight sizes have 256 signed sums, which are made once and looked up.
    """
    n_groups = signs.shape[1]
    padded = np.zeros(n_groups * 8)
    padded[: len(sizes)] = sizes
    sums_of_eight = padded.reshape(n_groups, 8) @ _PATTERNS.T
    by_group = np.ascontiguousarray(signs.T)
    sums = np.zeros(len(signs))
    for start in range(0, n_groups, _AT_ONCE):
        table = sums_of_eight[start : start + _AT_ONCE]
        at = by_group[start : start + _AT_ONCE].astype(np.intp)
        at += 256 * np.arange(len(table))[:, np.newaxis]
        sums += table.ravel()[at].sum(axis=0)
    return sums
