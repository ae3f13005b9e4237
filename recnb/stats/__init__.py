"""Statistics of values per user; arrays of numpy in and out.

`scipy.stats` takes a second to import, so functions that need scipy import
`scipy.special`, when they are called. `README.md` has the methods and their coverage.
"""

from recnb.stats.groups import gap_to_rest
from recnb.stats.intervals import UNBOUNDED, Moments, interval_of_pairs
from recnb.stats.means import ENOUGH, ROUNDING, mean_of, means, without_rounding
from recnb.stats.paired import Paired, Settings, holm, paired, resampled
from recnb.stats.power import POWER, check_power, smallest_found, standard_errors_needed
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
    "gap_to_rest",
    "holm",
    "interval_of_pairs",
    "mean_of",
    "means",
    "paired",
    "resampled",
    "smallest_found",
    "standard_errors_needed",
    "without_rounding",
]
