"""Statistics of values per user: intervals of means, paired tests, Holm's correction, power; arrays of numpy in and out.

`scipy.stats` takes a second to import, so the functions that use it import it. `README.md` has the methods and their coverage.
"""

from recnb.stats.intervals import (  # fmt: skip
    BETA,
    ENOUGH,
    METHODS,
    UNBOUNDED,
    Bounds,
    IntervalMethod,
    Moments,
    checked_confidence,
    interval_of_pairs,
    intervals,
)
from recnb.stats.paired import TESTS, Paired, Settings, Test, gap_to_rest, holm, paired, settings_of
from recnb.stats.power import Detectable, detectable, users_needed

__all__ = [
    "BETA", "ENOUGH", "METHODS", "TESTS", "UNBOUNDED", "Bounds", "Detectable", "IntervalMethod", "Moments", "Paired", "Settings",
    "Test", "checked_confidence", "detectable", "gap_to_rest", "holm", "interval_of_pairs", "intervals", "paired", "settings_of", "users_needed",
]  # fmt: skip
