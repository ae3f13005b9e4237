"""Statistics of values per user: intervals for means, paired tests of two models, corrections for multiple tests, power.

    intervals.py         intervals for a mean, by the bootstrap too; moments.py has closed forms
    paired.py            two models on the same users: interval, tests, users won and lost; significance.py has the tests
    groups.py            a group of users against all others
    multiple_testing.py  corrections of p-values
    power.py             the differences that a number of users can show

Arrays of numpy in, arrays of numpy out. scipy.stats takes a second to import, so it is imported by the functions that use it;
the others need scipy.special alone.
"""

from recnb.stats.intervals import BETA, METHODS, IntervalMethod, interval_of_pairs, intervals
from recnb.stats.moments import ENOUGH, UNBOUNDED, Bounds, Moments, checked_confidence
from recnb.stats.multiple_testing import benjamini_hochberg, holm
from recnb.stats.paired import PAIRED_METHODS, Paired, PairedMethod, paired
from recnb.stats.power import Detectable, detectable, users_needed

__all__ = [
    "BETA", "ENOUGH", "METHODS", "PAIRED_METHODS", "UNBOUNDED", "Bounds", "Detectable", "IntervalMethod", "Moments",
    "Paired", "PairedMethod", "benjamini_hochberg", "checked_confidence", "detectable", "holm", "interval_of_pairs", "intervals", "paired", "users_needed",
]  # fmt: skip
