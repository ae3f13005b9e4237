"""Statistics of values per user: intervals of means, paired tests of two models, the correction for many tests, power.

    moments.py    sums over users that add up over parts, and the intervals that are made of them
    intervals.py  intervals of a mean from the values, by the bootstrap too
    paired.py     two models on the same users: difference, interval, test; Holm's correction
    groups.py     a group of users against all others
    power.py      the differences that a number of users can show

Arrays of numpy in, arrays of numpy out. `scipy.stats` takes a second to import, so the functions that use it import it.
"""

from recnb.stats.intervals import BETA, METHODS, IntervalMethod, interval_of_pairs, intervals
from recnb.stats.moments import ENOUGH, UNBOUNDED, Bounds, Moments, checked_confidence
from recnb.stats.paired import TESTS, Paired, Test, holm, paired
from recnb.stats.power import Detectable, detectable, users_needed

__all__ = [
    "BETA", "ENOUGH", "METHODS", "TESTS", "UNBOUNDED", "Bounds", "Detectable", "IntervalMethod", "Moments", "Paired", "Test",
    "checked_confidence", "detectable", "holm", "interval_of_pairs", "intervals", "paired", "users_needed",
]  # fmt: skip
