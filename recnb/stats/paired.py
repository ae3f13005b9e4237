"""Paired comparison of two models on the same users: interval, test, users won and lost; Holm's correction.

- Student's paired t test: the mean against its standard error.
- Wilcoxon's signed-rank test: whether differences lie more, and further, to one side; no statement about the mean.
- Randomization test: how often the mean differs by this much if each user's two values are swapped at random.

Smucker, Allan and Carterette (CIKM 2007) find that t and randomization agree and that Wilcoxon may not; Urbano, Lima and
Hanjalic (SIGIR 2019) find that t keeps its level best and has the most power.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import FrameError
from recnb.stats.intervals import RESAMPLES, bootstrap
from recnb.stats.moments import ENOUGH, ROUNDING, UNBOUNDED, Bounds, Floats, Ints, Moments, checked_confidence

Test = Literal["t", "wilcoxon", "randomization"]
TESTS = ("t", "wilcoxon", "randomization")

#: How the interval of a mean difference is made: Student's t, or the bootstrap.
PAIRED_METHODS = ("t", "bootstrap")

PERMUTATIONS = 10_000


@dataclass(frozen=True, eq=False)
class Paired:
    """Mean difference, interval, test and users, an entry for each column."""

    mean: Floats  #: mean difference; above 0 if the model is better than the baseline
    low: Floats
    high: Floats
    p: Floats  #: NaN if fewer than 10 users differ
    sd: Floats  #: standard deviation of the differences (n - 1)
    effect_size: Floats  #: Cohen's d_z, mean / sd
    won: Ints  #: users for whom the model is better
    tied: Ints
    lost: Ints
    n: int  #: users


def paired(
    differences: Floats,
    *,
    confidence: float = 0.95,
    test: Test = "t",
    method: Literal["t", "bootstrap"] = "t",
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    bounds: Bounds = UNBOUNDED,
) -> Paired:
    """Return interval, test, effect size and users won, tied and lost, for each column.

    `differences` are users × columns: the values of the model minus those of the baseline; `bounds` are the lowest and highest
    possible difference. `method` makes the interval of `test="t"`; the other tests have intervals of their own.

    Notes
    -----
    If fewer than 10 users differ there is no test. The interval of the t test is then `beta` within the bounds (see
    `intervals`), as it is if fewer than 10 users are off the lowest or the highest difference, and other intervals are NaN.

    The interval of `test="randomization"` holds the mean differences that the test does not reject, if they are taken from each
    user's. That of `test="wilcoxon"` is Hodges and Lehmann's (Ann. Math. Statist. 34, 1963), for the median of the pairwise means
    of the users who differ, on which the test decides: the mean difference may lie outside of it.

    Coverage of 95 % intervals in percent, where there is one, on simulated nDCG@10 and hits of two models
    (`tests/stats/test_coverage.py`); of `test="t"`:

        users                       20      50     200    1000
        nDCG, 44 % tied           96.5    94.8    95.4    94.6
        nDCG, 90 % tied          100.0    99.8    94.6    94.5
        nDCG, 97 % tied          100.0   100.0    99.7    95.2
        hit rates 0.1, 0.05       99.9    98.3    95.2    95.3
        hit rates 0.02, 0.01     100.0   100.0    98.9    95.4
        0.01 more hits           100.0   100.0   100.0    96.5

    Of the others, of nDCG with 44 % tied:

        bootstrap                    -       -    93.8    93.0
        randomization             94.8    95.2    93.7    93.7
        wilcoxon                  96.1    95.5    94.5    94.0

    No p-value of the t test is below 2^(1 - users who differ), the lowest of the randomization test. Differences within 1e-12 of
    each other count as equal, and one within 1e-12 of 0 is a tie.

    Examples
    --------
    >>> made = np.array([[0.2], [0.0], [0.5], [0.1], [-0.1], [0.3], [0.0], [0.4], [0.2], [0.1], [-0.2], [0.3]])
    >>> result = paired(made)
    >>> result.mean.round(3).item(), result.low.round(3).item(), result.high.round(3).item(), result.p.round(4).item()
    (0.15, 0.019, 0.281, 0.0288)
    >>> result.won.item(), result.tied.item(), result.lost.item(), result.effect_size.round(3).item()
    (8, 2, 2, 0.726)
    """
    values = _checked(differences)
    checked_confidence(confidence)
    n, m = values.shape
    signs = settled(values)
    won, lost = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    differ, nothing = won + lost, np.full(m, np.nan)
    if n < 2:
        mean = values.mean(axis=0) if n else nothing
        return Paired(mean, nothing, nothing, nothing, nothing, nothing, won, n - differ, lost, n)
    mean = np.where(differ == 0, 0.0, values.mean(axis=0))
    sd = np.where(np.ptp(signs, axis=0) == 0, 0.0, values.std(axis=0, ddof=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        effect_size = np.where(differ == 0, 0.0, mean / sd)
    if test == "t":
        low, high, p = _student(values, signs, mean, sd, confidence, bounds)
        if method == "bootstrap":
            low, high = (
                np.where(differ < ENOUGH, np.nan, end) for end in bootstrap(values, confidence, resamples, seed)
            )
    else:
        low, high, p = nothing.copy(), nothing.copy(), nothing.copy()
        for at in steps(np.flatnonzero(differ >= ENOUGH).tolist(), _("testing")):
            if test == "wilcoxon":
                low[at], high[at], p[at] = _wilcoxon(signs[:, at], confidence)
            else:
                low[at], high[at], p[at] = _randomization(signs[:, at], confidence, permutations, seed)
    return Paired(mean, low, high, np.where(differ < ENOUGH, np.nan, p), sd, effect_size, won, n - differ, lost, n)


def holm(p: Floats) -> Floats:
    """Return p-values corrected by Holm's method, which bounds the chance of any false finding.

    If findings are those below 0.05 after the correction, at most 5 of 100 such families of tests hold a false finding,
    however the tests depend on each other (Holm 1979, Scandinavian Journal of Statistics 6). scipy has no such function.
    NaN is no test: it is not counted, and stays NaN.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).round(3).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    corrected: Floats = np.array(p, dtype=np.float64)
    wrong = corrected[(corrected < 0) | (corrected > 1)]
    if len(wrong):
        raise FrameError(f"{wrong[0]!r} is no p-value: they lie between 0 and 1.")
    tested = ~np.isnan(corrected)
    values = corrected[tested]
    rising = np.argsort(values, kind="stable")
    values[rising] = np.minimum(np.maximum.accumulate(values[rising] * np.arange(len(values), 0, -1)), 1.0)
    corrected[tested] = values
    return corrected


def settled(differences: Floats) -> Floats:
    """Round differences to twelve decimals: ties must not depend on the order in which two models add the same terms.

    >>> settled(np.array([0.1 + 0.2 - 0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    return np.round(differences, 12) + 0.0  # -0.0 is 0


def _student(
    values: Floats, signs: Floats, mean: Floats, sd: Floats, confidence: float, bounds: Bounds
) -> tuple[Floats, Floats, Floats]:
    """Return the interval and the p-value of Student's paired t test; of few users who differ the interval within the bounds."""
    from scipy.special import stdtr, stdtrit

    n, m = values.shape
    error = sd / np.sqrt(n)
    half = stdtrit(n - 1, (1 + confidence) / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(n - 1, -np.abs(np.where(mean == 0, 0.0, mean / error)))
    p = np.minimum(np.maximum(p, 2.0 ** (1.0 - np.count_nonzero(signs, axis=0))), 1.0)
    # So few users do not show how far others may differ, so the bounds of the metric take the place of those seen.
    seen = (0, signs.min(axis=0), signs.max(axis=0))
    few = np.min([np.count_nonzero(signs != end, axis=0) for end in seen], axis=0) < ENOUGH
    low, high = replace(Moments.of(values, bounds), above=np.zeros(m), below=np.zeros(m)).interval(confidence)
    return np.where(few, low, mean - half), np.where(few, high, mean + half), p


def _wilcoxon(differences: Floats, confidence: float) -> tuple[float, float, float]:
    """Return Hodges and Lehmann's interval of the users who differ, and the p-value of scipy's Wilcoxon test of them."""
    from scipy import special, stats

    made = np.sort(differences[differences != 0])
    n = len(made)
    # scipy goes through permutations where few users differ and some by the same, which takes a second.
    is_exact = n <= 50 and len(np.unique(np.abs(made))) == n
    p = float(stats.wilcoxon(made, method="exact" if is_exact else "approx").pvalue)
    n_pairs, sd = n * (n + 1) // 2, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    left_out = int(np.floor(n_pairs / 2 - special.ndtri((1 + confidence) / 2) * sd))
    if left_out < 0:
        return np.nan, np.nan, p
    return _pairwise_mean(made, left_out), _pairwise_mean(made, n_pairs - 1 - left_out), p


def _pairwise_mean(values: Floats, place: int) -> float:
    """Find the mean at a place, from 0, in the order of all means of two values or of one; values are sorted."""
    low, high = values[0], values[-1]
    for _halving in range(60):
        middle = (low + high) / 2
        of_two = np.searchsorted(values, 2 * middle - values, side="right").sum()
        below = (of_two + np.searchsorted(values, middle, side="right")) // 2
        low, high = (low, middle) if below > place else (middle, high)
    return float(high)


def _randomization(differences: Floats, confidence: float, permutations: int, seed: int) -> tuple[float, float, float]:
    """Return the interval and the p-value of the randomization test (Fisher 1935), from one set of drawn signs.

    If `shift` is taken from each difference, the mean under drawn signs is `of_rest + (mean - shift) * of_signs`; the interval
    holds the shifts for which this is as far from 0 as `mean - shift` in more than 1 - `confidence` of the draws.
    """
    rng, n, mean = np.random.default_rng(seed), len(differences), float(differences.mean())
    columns = np.column_stack([differences - mean, np.ones(n)]) / n
    at_once = max(1, 4_000_000 // n)
    drawn = []
    for start in range(0, permutations, at_once):
        signs = rng.integers(0, 2, (min(at_once, permutations - start), n), dtype=np.int8) * 2.0 - 1
        drawn.append(signs @ columns)
    of_rest, of_signs = np.concatenate(drawn).T
    as_far = np.abs(of_rest + mean * of_signs) >= np.abs(mean) - ROUNDING
    p = (1 + np.count_nonzero(as_far)) / (1 + permutations)
    allowed = int((1 - confidence) * (1 + permutations) + ROUNDING)
    if not allowed:
        return np.nan, np.nan, p
    ends = []
    for side in (1, -1):  # the furthest shift to each side at which a draw is as far
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.maximum(side * of_rest / (1 - of_signs), -side * of_rest / (1 + of_signs))
        reach[np.abs(of_signs) > 1 - ROUNDING] = np.inf  # all signs alike: as far whatever is taken off
        ends.append(mean - side * np.partition(reach, -allowed)[-allowed])
    return ends[0], ends[1], p


def _checked(differences: Floats) -> Floats:
    """Return differences as users × columns of finite numbers, or raise an error."""
    values: Floats = np.asarray(differences, dtype=np.float64)
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if values.ndim != 2:
        raise FrameError(f"differences have {values.ndim} dimensions: give users × columns.")
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        problem = f"{len(bad):,} of {values.size:,} differences are no number, the first {values[row, column]} at user {row}, column {column}"
        raise FrameError(f"{problem}: leave out users on whom only one of the two models is judged.")
    return values
