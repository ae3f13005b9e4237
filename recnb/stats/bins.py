"""Bins of equal width, which a report and the explorer share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def bins_of(values: NDArray[np.float64], end: float, n_bins: int) -> NDArray[np.int64]:
    """Return the bin of each value, 0 to n_bins - 1, of equal bins from 0 to `end`.

    A bin holds its lower end, the last one both; so does a value on an end where the
    last digit of a division says otherwise. Values beyond an end are in the bin at it.
    """
    bins = (values / end * n_bins + 1e-9).astype(np.int64)
    return np.clip(bins, 0, n_bins - 1)
