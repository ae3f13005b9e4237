"""Student's t: the interval and the test of a mean, or of a difference of means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recnb.errors import OptionError, is_number, quoted
from recnb.stats.means import Floats


class Tested(NamedTuple):
    """A mean, or a difference of means, with interval and p-value, by column."""

    mean: Floats
    low: Floats
    high: Floats
    p: Floats


def t_test(
    mean: Floats,
    error: Floats,
    degrees_of_freedom: float | Floats,
    *,
    confidence: float,
    margin: tuple[float | Floats, float | Floats] = (0.0, 0.0),
) -> Tested:
    """Test a mean by its standard error and its degrees of freedom; NaN without an error.

    `margin` is how far down and up the mean may go beyond its errors: the interval is
    longer by it, and the mean that is tested is nearer to 0 by it.
    """
    from scipy.special import stdtr, stdtrit

    check_confidence(confidence)
    down, up = margin
    half = stdtrit(degrees_of_freedom, (1 + confidence) / 2) * error
    left = np.maximum(np.abs(mean) - np.where(mean > 0, down, up), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(degrees_of_freedom, -left / error)
    return Tested(mean, mean - half - down, mean + half + up, p)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no share, or so near 0 or 1 that no level is left."""
    if not (is_number(confidence) and 0 < round(confidence, 12) < 1):
        raise OptionError(
            f"confidence={quoted(confidence)} is no share: give a number between "
            f"0 and 1, such as 0.95."
        )
