"""Statistics of values per user; arrays of numpy in and out.

`scipy.stats` takes a second to import, so functions that need scipy import
`scipy.special`, when they are called. `README.md` has the methods and their coverage.
"""

from recnb.stats.bins import bins_of
from recnb.stats.clusters import Clusters
from recnb.stats.correction import holm
from recnb.stats.groups import Gap, gap_to_rest
from recnb.stats.intervals import (
    BETA,
    BETA_OF_CLUSTERS,
    ENOUGH,
    UNBOUNDED,
    Moments,
    interval_of_pairs,
    intervals,
)
from recnb.stats.means import mean_of, means
from recnb.stats.paired import Paired, Settings, paired
from recnb.stats.power import Detectable, detectable, users_needed
from recnb.stats.resampled import resampled

__all__ = [
    "BETA",
    "BETA_OF_CLUSTERS",
    "ENOUGH",
    "UNBOUNDED",
    "Clusters",
    "Detectable",
    "Gap",
    "Moments",
    "Paired",
    "Settings",
    "bins_of",
    "detectable",
    "gap_to_rest",
    "holm",
    "interval_of_pairs",
    "intervals",
    "mean_of",
    "means",
    "paired",
    "resampled",
    "users_needed",
]
