"""Statistics of values per user; arrays of numpy in and out.

`scipy.stats` takes a second to import, so functions that need scipy import
`scipy.special`, when they are called. `README.md` has the methods and their coverage.
"""

from recnb.stats.groups import gap_to_rest
from recnb.stats.intervals import (
    ENOUGH,
    ROUNDING,
    UNBOUNDED,
    Moments,
    interval_of_pairs,
    settled,
)
from recnb.stats.means import mean_of, means
from recnb.stats.paired import Paired, Settings, holm, paired, resampled
from recnb.stats.power import POWER, check_power, detectable, errors_needed
from recnb.stats.sample import UserSample
from recnb.stats.student import Tested

__all__ = [
    "ENOUGH",
    "POWER",
    "ROUNDING",
    "UNBOUNDED",
    "Moments",
    "Paired",
    "Settings",
    "Tested",
    "UserSample",
    "check_power",
    "detectable",
    "errors_needed",
    "gap_to_rest",
    "holm",
    "interval_of_pairs",
    "mean_of",
    "means",
    "paired",
    "resampled",
    "settled",
]
