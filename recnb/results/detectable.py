"""What the users of an evaluation can show: from scores to the smallest difference that would be found."""

from __future__ import annotations

import numpy as np

from recnb.errors import NoUsersError, OptionError
from recnb.metrics.hits import Floats
from recnb.results.score import Score
from recnb.stats.power import Detectable


def detectable_of(
    mine: Score, theirs: Score | None, *, power: float, alpha: float, correlation: float | None
) -> Detectable:
    """The smallest difference to find from one score and an assumed correlation, or from two of the same users."""
    for score in (mine, theirs):
        if score is not None and score.convention.average != "user":
            raise OptionError(
                f"average={score.convention.average!r} is no mean over users, so no number of users decides what it shows."
            )
    if theirs is None:
        values: Floats = np.asarray(mine.per_user, dtype=np.float64)
        return Detectable.of(mine.label, values, power=power, alpha=alpha, correlation=correlation)
    ours, other = mine.per_user.align(theirs.per_user, join="inner")
    if len(ours) == 0:
        raise NoUsersError(
            "against= is of other users: not one is in both evaluations, so no difference can be measured."
        )
    values, others = np.asarray(ours, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return Detectable.of(mine.label, values, others, power, alpha, correlation)
