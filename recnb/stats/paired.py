"""Paired comparison of two models on the same users: interval, significance tests, effect size.

All functions read an array of differences, users × columns (a metric at a cut-off of one model, minus the same of the other):

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
from numpy.typing import NDArray

from recnb.errors import FrameError, OptionError, is_word, near
from recnb.stats.intervals import IntervalMethod, intervals
from recnb.stats.moments import ENOUGH, UNBOUNDED, Bounds, Floats, Ints, Moments
from recnb.stats.significance import settled, sign_flip, student, wilcoxon

PairedMethod = Literal["auto", "bca", "percentile", "t", "moments"]
PAIRED_METHODS = ("auto", "bca", "percentile", "t", "moments")


@dataclass(frozen=True)
class Paired:
    """Mean difference, interval, tests and users, an entry for each column."""

    mean: Floats  #: mean difference; above 0 if the model is better than the baseline
    low: Floats
    high: Floats
    method: tuple[str, ...]  #: how the interval was made
    sd: Floats  #: standard deviation of the differences (n - 1)
    effect_size: Floats  #: Cohen's d_z, mean / sd
    t_p: Floats
    wilcoxon_p: Floats
    randomization_p: Floats
    won: Ints  #: users for whom the model is better
    tied: Ints
    lost: Ints
    n: int  #: users


def paired(
    differences: Floats,
    *,
    confidence: float = 0.95,
    method: PairedMethod = "auto",
    resamples: int = 2000,
    permutations: int = 10_000,
    seed: int = 0,
    bounds: Bounds = UNBOUNDED,
) -> Paired:
    """Return interval, tests, effect size and users won, tied and lost, for each column.

    `differences` are users × columns: the values of the model minus those of the baseline. `method` "auto" is Student's t; if
    fewer than 10 users differ, or fewer than 10 are off the lowest or the highest difference, `beta` within the `bounds`, the
    lowest and highest possible difference (see `intervals`); without bounds `beta` is NaN. `resamples` are of the bootstrap,
    `permutations` samples of signs of the randomization test, and `seed` is of both.

    Notes
    -----
    Coverage of 95 % intervals in percent, on simulated nDCG@10 of two models (10,000 samples and more,
    `tests/stats/test_simulated.py`):

        users         20      30      50     100     200     500
        t           94.8    95.2    95.0    94.8    95.1    95.3
        percentile  91.3    92.8    93.5    94.2    94.7    95.1
        bca         88.9    91.0    92.4    93.6    94.4    95.1

    Coverage of `auto` if few users differ (3,000 samples, `tests/stats/test_coverage.py`):

        users                       20      50     200    1000
        nDCG, 44 % tied           96.5    94.8    95.4    94.6
        nDCG, 90 % tied          100.0    99.8    94.6    94.5
        nDCG, 97 % tied          100.0   100.0    99.7    95.2
        hit rates 0.1, 0.05       99.9    98.3    95.2    95.3
        hit rates 0.02, 0.01     100.0   100.0    98.9    95.4
        0.01 more hits           100.0   100.0   100.0    96.5

    No p-value is below 2^(1 - users who differ), the lowest of the randomization test. Differences within 1e-12 of each other
    count as equal, and one within 1e-12 of 0 is a tie.

    Examples
    --------
    >>> result = paired(np.array([[0.2], [0.0], [0.5], [0.1], [-0.1], [0.3], [0.0], [0.4]]), method="t")
    >>> result.mean.round(3).item(), result.low.round(3).item(), result.high.round(3).item(), result.method
    (0.175, -0.002, 0.352, ('t',))
    >>> result.t_p.round(4).item(), result.wilcoxon_p.round(4).item(), result.randomization_p.round(4).item()
    (0.0524, 0.0938, 0.0938)
    >>> result.won.item(), result.tied.item(), result.lost.item(), result.effect_size.round(3).item()
    (5, 2, 1, 0.825)
    """
    if not is_word(method, PAIRED_METHODS):
        raise OptionError(f"method={method!r} makes no interval of differences. {near(method, PAIRED_METHODS)}")
    if not (isinstance(permutations, (int, np.integer)) and not isinstance(permutations, bool) and permutations >= 1):
        raise OptionError(f"permutations={permutations!r} is no number of draws: give a whole number, such as 10_000.")
    differences = checked(differences)
    n, m = differences.shape
    low, high, used = intervals_of_differences(differences, confidence, method, resamples, seed, bounds)
    signs = settled(differences)
    alike = np.ptp(signs, axis=0) == 0 if n else np.zeros(m, dtype=np.bool_)
    won, lost = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    nothing = np.full(m, np.nan)
    mean = differences.mean(axis=0) if n else nothing
    mean = np.where(alike & (signs[:1] == 0).all(axis=0), 0.0, mean)
    sd = np.where(alike, 0.0, differences.std(axis=0, ddof=1)) if n > 1 else nothing
    flipped, _how = sign_flip(signs, permutations, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(sd == 0, np.where(mean == 0, 0.0, np.sign(mean) * np.inf), mean / sd)
    return Paired(
        mean=mean,
        low=low,
        high=high,
        method=used,
        sd=sd,
        effect_size=effect,
        t_p=student(mean, sd, n, won + lost),
        wilcoxon_p=wilcoxon(signs),
        randomization_p=flipped,
        won=won,
        tied=n - won - lost,
        lost=lost,
        n=n,
    )


def intervals_of_differences(
    differences: Floats, confidence: float, method: PairedMethod, resamples: int, seed: int, bounds: Bounds
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Lower and upper ends for the mean of each column, and the method of each."""
    chosen: IntervalMethod = "t" if method == "auto" else "bootstrap" if method == "percentile" else method
    low, high, _ = intervals(differences, confidence, chosen, resamples, seed)
    signs = settled(differences)
    n, m = signs.shape
    if not n:
        return low, high, (chosen,) * m
    least, most = signs.min(axis=0), signs.max(axis=0)
    low, high = (np.where(least == most, np.nan, end) for end in (low, high))
    if method != "auto":
        return low, high, (method,) * m
    few = np.min([np.count_nonzero(signs != end, axis=0) for end in (0, least, most)], axis=0) < ENOUGH
    # So few users do not show how far others may differ, so the bounds of the metric take their place.
    bounded = replace(Moments.of(differences, bounds), above=np.zeros(m), below=np.zeros(m)).interval(confidence)
    low, high = (np.where(few, a, b) for a, b in zip(bounded, (low, high), strict=True))
    return low, high, tuple(np.where(few, "beta", "t").tolist())


def checked(differences: Floats) -> Floats:
    """Return differences as users × columns of finite numbers, or raise an error."""
    values: Floats = np.asarray(differences, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2:
        raise FrameError(f"differences have {values.ndim} dimensions: give users × columns.")
    bad: NDArray[np.int64] = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        raise FrameError(
            f"{len(bad):,} of {values.size:,} differences are no number, the first {values[row, column]} at user {row}, "
            f"column {column}: leave out users on whom only one of the two models is judged."
        )
    return values
