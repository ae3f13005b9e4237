"""How sure a mean over users, or a difference of two, can be: from per-user values or their sums alone.

    mean.py          intervals for means; bootstrap.py draws, moments.py has the closed forms
    paired.py        two models on the same users: interval, tests, users won and lost; significance.py has the tests
    corrections.py   many tests at once
    power.py         what a number of users can show

Numpy arrays in, numpy arrays out; neither pandas nor Polars is known here.
"""

from recnb.stats.intervals import MANY_USERS, METHODS, IntervalMethod, interval_of_pairs, intervals
from recnb.stats.moments import ENOUGH, UNBOUNDED, Bounds, Moments, checked_confidence
from recnb.stats.multiple_testing import benjamini_hochberg, holm
from recnb.stats.paired import PAIRED_METHODS, Paired, PairedMethod, paired
from recnb.stats.power import Detectable, detectable, users_needed

__all__ = [
    "ENOUGH", "MANY_USERS", "METHODS", "PAIRED_METHODS", "UNBOUNDED", "Bounds", "Detectable", "IntervalMethod", "Moments",
    "Paired", "PairedMethod", "benjamini_hochberg", "checked_confidence", "detectable", "holm", "interval_of_pairs", "intervals", "paired", "users_needed",
]  # fmt: skip
