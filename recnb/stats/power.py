"""Power: the difference that users can show."""

from __future__ import annotations

import math

import numpy as np

from recnb.errors import OptionError, is_number, quoted
from recnb.stats.means import ENOUGH, Floats

#: The power of the difference that is called detectable.
POWER = 0.8


def smallest_found(
    sd: Floats,
    n: float,
    power: float = POWER,
    alpha: float = 0.05,
    margin: float | Floats = 0.0,
) -> Floats:
    """Return the smallest true difference that a two-sided paired test finds, by column.

    It is in units of the metric, found with a given power. `sd` is the standard
    deviation of the differences of `n` users, and `margin` how far their mean may go
    beyond its errors. NaN if `sd` is 0, or below 10 users, which are not tested. Of 20
    users the t test has a power of 0.75 where 0.8 is asked for.
    """
    n_errors = standard_errors_needed(power, alpha)
    is_tested = (sd > 0) & (n >= ENOUGH)
    return np.where(is_tested, n_errors * sd / math.sqrt(n) + margin, np.nan)


def standard_errors_needed(power: float, alpha: float) -> float:
    """Return how many standard errors a difference must be for a power at a level."""
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / 2) + ndtri(power))


def check_power(power: float, alpha: float) -> None:
    """Refuse a power or a level that a test cannot have."""
    if not (is_number(alpha) and 0 < alpha < 1):
        raise OptionError(
            f"alpha={quoted(alpha)} is no level of a test: give a number between "
            f"0 and 1, such as 0.05."
        )
    if not (is_number(power) and alpha < power < 1):
        raise OptionError(
            f"power={quoted(power)} is no power: give a number from alpha "
            f"({alpha:g}) to 1, such as 0.8."
        )
