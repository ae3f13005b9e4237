"""Many tests at once: p-values made larger, so that one can still say how often a finding is luck."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recnb.errors import FrameError
from recnb.stats._types import Floats


def holm(p: Floats) -> Floats:
    """The share of chance at which a test would be found among all of these, so that even one false finding is that rare.

    Below 0.05 after the correction: in at most 5 of 100 such tables is anything found that is not there, however the
    tests hang together. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 1979.
    NaN is no test: it is not counted, and given back.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).round(3).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    return _adjusted(p, lambda ordered, rank: np.maximum.accumulate(ordered * (len(rank) + 1 - rank)))


def benjamini_hochberg(p: Floats) -> Floats:
    """The share of false findings to reckon with if this test and all with smaller p are taken as found.

    Below 0.05 after the correction: of what is found, 5 % are expected not to be there. Benjamini and Hochberg,
    "Controlling the false discovery rate", J. R. Statist. Soc. B 57, 1995; it holds for independent tests and for
    those that lean the same way, as metrics and cut-offs of one model do. NaN is no test, and given back.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, np.nan])).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    return _adjusted(p, lambda ordered, rank: np.minimum.accumulate((ordered * len(rank) / rank)[::-1])[::-1])


def _adjusted(p: Floats, correct: Callable[[Floats, Floats], Floats]) -> Floats:
    """P-values corrected in rising order (with their ranks from 1 up), put back where they stood, and cut at 1."""
    given: Floats = np.asarray(p, dtype=np.float64)
    flat = given.ravel()
    tested = np.flatnonzero(~np.isnan(flat))
    values = flat[tested]
    if ((values < 0) | (values > 1)).any():
        wrong = values[(values < 0) | (values > 1)][0]
        raise FrameError(f"{wrong!r} is no p-value: they lie between 0 and 1.")
    rising = np.argsort(values, kind="stable")
    made = flat.copy()
    made[tested[rising]] = np.minimum(correct(values[rising], np.arange(1.0, len(values) + 1)), 1.0)
    return made.reshape(given.shape)
