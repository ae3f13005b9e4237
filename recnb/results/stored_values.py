"""Intervals and tests of values that were stored: a Series by user, or by list."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.text import sample_in_words, signed
from recnb.errors import FrameError, NoUsersError, OptionError, Suggesting, quoted
from recnb.metrics.hits import Floats
from recnb.results.conclusions import ends_in_words, p_value
from recnb.results.own_metric import OVERSHOOT, checked_bounds
from recnb.results.score import Interval
from recnb.results.verdicts import verdict_in_words, verdicts_of_pairs
from recnb.stats import Moments, Settings, UserSample
from recnb.stats import paired as paired_values


def interval(
    values: pd.Series[float],
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0, 1),
    cluster: str | None = None,
) -> Interval:
    """Return the interval of the mean of stored values, as `score.interval()` does.

    Parameters
    ----------
    values : Series
        By user, such as `score.per_user`; or by several levels, such as user and day,
        of which `cluster` names one. All count the same.
    confidence : float, default 0.95
        The confidence of the interval, between 0 and 1.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that the metric may have; `float("inf")` for
        one without an upper bound.
    cluster : str, optional
        The level whose values are drawn at random, each with all its rows; without it
        each row is one user.

    Returns
    -------
    Interval
        The two ends; (nan, nan) of a single user.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> recnb.interval(pd.Series([0.2, 0.6, 0.4, 1.0], index=["a", "b", "c", "d"]))
    [0.1806, 0.8694] (95%, beta)
    >>> days = [["a", "b", "c"], ["mon", "tue"]]
    >>> nights = pd.MultiIndex.from_product(days, names=["user", "day"])
    >>> values = pd.Series([0.2, 0.3, 0.6, 0.5, 1.0, 0.9], index=nights)
    >>> recnb.interval(values, cluster="user")
    [0.1496, 0.9151] (95%, beta)
    """
    numbers = _numbers_of(values, "values", bounds)
    sample = _sample_of(values, cluster)
    low, high = Moments(numbers, sample, bounds).interval(confidence)
    return Interval(float(low[0]), float(high[0]), confidence, "beta")


def paired(
    values: pd.Series[float],
    baseline: pd.Series[float],
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0, 1),
    cluster: str | None = None,
) -> PairedDifference:
    """Return the difference of stored values, as a row of `found.differences()` is.

    Parameters
    ----------
    values, baseline : Series
        As in `recnb.interval`, of the same users, or lists, in any order. If less is
        better, exchange the two.
    confidence : float, default 0.95
        The confidence of the interval, between 0 and 1.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that the metric may have.
    cluster : str, optional
        As in `recnb.interval`.

    Returns
    -------
    PairedDifference
        The difference, its interval, p-value and verdict.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> before = pd.Series([i / 40 for i in range(20)])
    >>> recnb.paired(before + before / 5, before)
    +0.0475 (95% interval 0.0337 to 0.0613; p < 0.0001): better; 20 users
    """
    settings = Settings(confidence)
    ours = _numbers_of(values, "values", bounds)
    theirs = _numbers_of(baseline, "baseline", bounds)[_rows_of(values, baseline)]
    sample = _sample_of(values, cluster)
    lowest, highest = bounds
    bounds_of_difference = lowest - highest, highest - lowest
    tests = paired_values(ours - theirs, sample, settings, bounds_of_difference)
    (verdict,) = verdicts_of_pairs(tests, sample, settings, "high")
    numbers = {name: number.item() for name, number in tests._asdict().items()}
    del numbers["low_even_untested"], numbers["high_even_untested"]
    return PairedDifference(
        **numbers,
        verdict=verdict,
        n_users=sample.n_units,
        n_lists=sample.size,
        cluster=sample.cluster,
        confidence=confidence,
    )


@dataclass(frozen=True, repr=False)
class PairedDifference(Suggesting):
    """The difference of two Series of values, with its interval and its test.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> before = pd.Series([i / 40 for i in range(20)])
    >>> difference = recnb.paired(before + before / 5, before)
    >>> round(difference.low, 4), difference.verdict
    (0.0337, 'better')
    >>> pd.DataFrame([vars(difference)])[["won", "tied", "lost"]].to_numpy().tolist()
    [[19, 1, 0]]
    """

    difference: float
    low: float
    high: float
    p: float  #: NaN, as the interval is, if fewer than 10 users differ
    effect_size: float
    won: int  #: users, or lists, for which the values are better
    tied: int
    lost: int
    detectable: float  #: the smallest difference found with 80 % power
    verdict: str
    n_users: int  #: or values of `cluster=`
    n_lists: int
    cluster: str  #: the level whose values are drawn; "" of users
    confidence: float

    def __repr__(self) -> str:
        n_lists = None if self.n_lists == self.n_users else self.n_lists
        users = sample_in_words(self.n_users, n_lists, self.cluster)
        concluded = f"{verdict_in_words(self.verdict)}; {users}"
        if isnan(self.p):
            return f"{signed(self.difference)}: {concluded}"
        ends = ends_in_words(self.confidence, self.low, self.high)
        return f"{signed(self.difference)} ({ends}; p {p_value(self.p)}): {concluded}"


def _numbers_of(values: Any, name: str, bounds: Any) -> Floats:
    """Return the numbers of a Series as one column; refuse what has none of a metric."""
    if not isinstance(values, pd.Series):
        raise FrameError(
            f"{name} is a {type(values).__name__}: give a pandas Series by user, such "
            "as score.per_user."
        )
    if values.empty:
        raise NoUsersError(f"{name} is empty: nothing is left to average.")
    if values.dtype.kind not in "biuf":
        raise FrameError(
            f"{name} holds {values.dtype} such as {quoted(values.iloc[0])}: give one "
            "number for each user."
        )
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    is_number = np.isfinite(numbers)
    if not is_number.all():
        users = values.index[~is_number].tolist()
        raise FrameError(
            f"{name} has {len(users):,} missing or infinite values, the first of "
            f"{users[0]!r}: leave these users out, or fill in what they count."
        )
    bottom, top = checked_bounds(bounds)
    is_beyond = (numbers < bottom - OVERSHOOT) | (numbers > top + OVERSHOOT)
    if is_beyond.any():
        user = values.index[is_beyond].tolist()[0]
        raise OptionError(
            f"{name} holds {numbers[is_beyond][0]:g} (of {user!r}), beyond "
            f"bounds=({bottom:g}, {top:g}): give those of the metric, such as "
            "bounds=(0, float('inf')) for DCG."
        )
    return numbers[:, np.newaxis]


def _sample_of(values: pd.Series[float], cluster: Any) -> UserSample:
    """Return the rows as a sample: each by itself, or by the values of one level."""
    index = values.index
    names = ", ".join(map(repr, index.names))
    if cluster is None and index.nlevels > 1:
        raise FrameError(
            f"the index has the levels {names}: say by cluster= which one's values are "
            "drawn at random. A level without a name gets one by values.index.names = "
            "['user', 'day']."
        )
    if cluster is None or index.nlevels > 1:
        _refuse_repeated(values, "values")
    if cluster is None:
        return UserSample(len(values))
    if not isinstance(cluster, str) or cluster not in index.names:
        raise OptionError(
            f"cluster={quoted(cluster)} is no level of the index, whose levels are "
            f"{names}: name one. Groups of users become a level by "
            "values.index = pd.MultiIndex.from_arrays([values.index, "
            "values.index.map(groups)], names=['user', 'group'])."
        )
    drawn = pd.Categorical(index.get_level_values(cluster))
    n_missing = np.count_nonzero(drawn.isna())
    if n_missing:
        raise FrameError(
            f"the index has {n_missing:,} rows without a {cluster!r}: give every row "
            "one, or leave these rows out."
        )
    return UserSample(len(values), codes=drawn.codes, cluster=cluster)


def _rows_of(values: pd.Series[float], baseline: pd.Series[float]) -> Any:
    """Return by row of the values that of the baseline, which has the same users.

    Of values of a, b and baseline of b, a the rows are 1 and 0.
    """
    _refuse_repeated(values, "values")
    _refuse_repeated(baseline, "baseline")
    ours, theirs = values.index, baseline.index
    if ours.nlevels + theirs.nlevels > 2 and ours.names != theirs.names:
        raise FrameError(
            f"values have the levels {list(ours.names)} and baseline "
            f"{list(theirs.names)}: give both by user, or both by user and day under the "
            "same names and in one order, baseline.reorder_levels(['user', 'day'])."
        )
    alone = ours.symmetric_difference(theirs, sort=False).tolist()
    if alone:
        raise FrameError(
            f"{len(alone):,} users or lists are in values or in baseline alone, such as "
            f"{alone[0]!r}: leave them out, both = "
            "values.index.intersection(baseline.index); recnb.paired(values[both], "
            "baseline[both])."
        )
    return theirs.get_indexer(ours)


def _refuse_repeated(values: pd.Series[float], name: str) -> None:
    """Refuse an index that has a row twice."""
    repeated = values.index[values.index.duplicated()].tolist()
    if repeated:
        raise FrameError(
            f"{name} has {repeated[0]!r} more than once: give each list one value. "
            "Lists of several days are put together with both levels, "
            "pd.concat({'mon': monday, 'tue': tuesday}, names=['day', 'user']), and "
            "drawn by cluster='user'."
        )
