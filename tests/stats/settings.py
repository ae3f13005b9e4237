"""Settings of tests as keywords."""

from typing import Any

import numpy as np

from recnb import stats
from recnb.stats import UNBOUNDED, Paired, Settings


def paired(differences: Any, *, bounds: Any = UNBOUNDED, **settings: Any) -> Paired:
    """Compare two models on the same users."""
    return stats.paired(np.asarray(differences), Settings(**settings), bounds)
