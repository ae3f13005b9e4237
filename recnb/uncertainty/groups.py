"""How far the mean of one group of users stands from the mean of all others: Welch's t, which lets their spreads differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recnb.hits import Floats


@dataclass(frozen=True, eq=False)
class Gap:
    """A group's mean less that of the others, per column: the gap, its interval, and the p-value of Welch's test."""

    gap: Floats
    low: Floats
    high: Floats
    p: Floats


def gap_to_rest(values: Floats, inside: np.ndarray[tuple[int], np.dtype[np.bool_]], confidence: float = 0.95) -> Gap:
    """The gap between the users inside a group and all others, for each column of users × columns.

    NaN where either side has fewer than two users. Welch 1947, Biometrika 34.

    >>> made = gap_to_rest(np.array([[1.0], [2.0], [3.0], [5.0], [7.0]]), np.array([True, True, True, False, False]))
    >>> float(made.gap[0]), round(float(made.p[0]), 3)
    (-4.0, 0.094)
    """
    mine, rest = values[inside], values[~inside]
    nothing = np.full(values.shape[1], np.nan)
    if not len(mine) or not len(rest):
        return Gap(nothing, nothing, nothing, nothing)
    gap = mine.mean(axis=0) - rest.mean(axis=0)
    if len(mine) < 2 or len(rest) < 2:
        return Gap(gap, nothing, nothing, nothing)
    from scipy.stats import t

    of_mine, of_rest = mine.var(axis=0, ddof=1) / len(mine), rest.var(axis=0, ddof=1) / len(rest)
    variance = of_mine + of_rest
    some = variance > 0
    freedom = np.divide(
        variance**2, of_mine**2 / (len(mine) - 1) + of_rest**2 / (len(rest) - 1), out=np.ones_like(gap), where=some
    )
    error = np.sqrt(variance)
    half = t.ppf((1 + confidence) / 2, freedom) * error
    ratio = np.divide(np.abs(gap), error, out=np.where(gap == 0, 0.0, np.inf), where=some)
    return Gap(gap, gap - half, gap + half, np.asarray(2 * t.sf(ratio, freedom)))
