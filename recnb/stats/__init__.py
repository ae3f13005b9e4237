"""Statistics of values per user: intervals of means, paired tests, Holm's correction,
power; arrays of numpy in and out.

`scipy.stats` takes a second to import, so the functions that use it import it.
`README.md` has the methods and their coverage.
"""

from recnb.stats.bins import bins_of
from recnb.stats.intervals import (
    BETA,
    ENOUGH,
    UNBOUNDED,
    IntervalMethod,
    Moments,
    interval_of_pairs,
    intervals,
)
from recnb.stats.paired import (
    Detectable,
    Paired,
    Settings,
    Test,
    detectable,
    gap_to_rest,
    holm,
    paired,
    tau_ap,
    users_needed,
)

__all__ = [
    "BETA",
    "ENOUGH",
    "UNBOUNDED",
    "Detectable",
    "IntervalMethod",
    "Moments",
    "Paired",
    "Settings",
    "Test",
    "bins_of",
    "detectable",
    "gap_to_rest",
    "holm",
    "interval_of_pairs",
    "intervals",
    "paired",
    "tau_ap",
    "users_needed",
]
