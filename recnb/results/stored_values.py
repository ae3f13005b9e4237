"""Intervals and tests of values that were stored: a Series by user, or by list."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from recnb.data.names import role_of
from recnb.display.language import N_, _, current, use_language
from recnb.display.templates import framed
from recnb.display.text import fixed, sample_in_words, signed
from recnb.errors import (
    FrameError,
    NoUsersError,
    OptionError,
    Suggesting,
    is_word,
    near,
    quoted,
)
from recnb.metrics.hits import Floats
from recnb.results.measuring import detectable_of
from recnb.results.score import Interval
from recnb.results.verdicts import in_words, verdict_of
from recnb.stats import Clusters, Paired, Settings, intervals
from recnb.stats import paired as paired_test

#: A level of the index, or a Series or mapping of user to cluster.
Cluster = str | pd.Series | Mapping[Any, Any] | None
#: The lowest and the highest value that there may be.
Bounds = tuple[float, float]

#: Values pass bounds by as much when they are summed in another order.
ROUNDING = 1e-9


def interval(
    values: pd.Series[float],
    confidence: float = 0.95,
    bounds: Bounds = (0, 1),
    cluster: Cluster = None,
) -> Interval:
    """Return the interval of the mean of stored values, as `score.interval()` does.

    Parameters
    ----------
    values : Series
        By user, such as `score.per_user`; or by user and more levels, such as days:
        lists, of which those of one user are drawn together. Users are the level with a
        usual name of theirs ("user", "user_id", "qid"), else the first. All count the
        same.
    confidence : float, default 0.95
        The confidence of the interval, between 0 and 1.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that the metric may have; `float("inf")` for
        one without an upper bound.
    cluster : str, Series or mapping, optional
        What is drawn together instead of the lists of a user: the name of a level, or a
        Series of user to cluster.

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
    >>> recnb.interval(pd.Series([0.2, 0.3, 0.6, 0.5, 1.0, 0.9], index=nights))
    [0.1496, 0.9151] (95%, beta)
    """
    bottom, top = _checked_bounds(bounds)
    series = _checked(values, "values")
    _refuse_beyond(series, "values", bottom, top)
    of_rows: Floats = np.asarray(series, dtype=np.float64)
    low, high = intervals(
        of_rows[:, np.newaxis],
        confidence,
        (bottom, top),
        clusters=_clusters_of(series.index, cluster),
    )
    return Interval(float(low[0]), float(high[0]), confidence, "beta")


def paired(
    values: pd.Series[float],
    baseline: pd.Series[float],
    confidence: float = 0.95,
    bounds: Bounds = (0, 1),
    cluster: Cluster = None,
    *,
    better: Literal["high", "low"] = "high",
) -> PairedDifference:
    """Return the difference of stored values, as a row of `found.differences()` is.

    Parameters
    ----------
    values, baseline : Series
        As in `recnb.interval`, matched by their index. Users, or lists, of one side
        alone are left out, and counted.
    confidence : float, default 0.95
        The confidence of the interval, between 0 and 1.
    bounds : tuple of float, default (0, 1)
        The lowest and the highest value that the metric may have.
    cluster : str, Series or mapping, optional
        As in `recnb.interval`.
    better : {"high", "low"}, default "high"
        "low" if less is better.

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
    if not is_word(better, ("high", "low")):
        raise OptionError(
            f"better={quoted(better)} says not what is better. "
            f"{near(better, ('high', 'low'))}"
        )
    bottom, top = _checked_bounds(bounds)
    pair = _matched(values, baseline)
    for series, name in ((pair.values, "values"), (pair.baseline, "baseline")):
        _refuse_beyond(series, name, bottom, top)
    differences = pair.values.to_numpy(np.float64) - pair.baseline.to_numpy(np.float64)
    tests = paired_test(
        differences,
        settings,
        (bottom - top, top - bottom),
        clusters=_clusters_of(pair.values.index, cluster),
    )
    return _difference_of(tests, pair, settings, better, _name_of(cluster))


def _difference_of(
    tests: Paired,
    pair: _Pair,
    settings: Settings,
    better: Literal["high", "low"],
    cluster: str,
) -> PairedDifference:
    """Return the numbers of one difference with its verdict."""
    won, lost = int(tests.won[0]), int(tests.lost[0])
    if better == "low":
        won, lost = lost, won
    return PairedDifference(
        difference=float(tests.mean[0]),
        low=float(tests.low[0]),
        high=float(tests.high[0]),
        p=float(tests.p[0]),
        effect_size=float(tests.effect_size[0]),
        won=won,
        tied=int(tests.tied[0]),
        lost=lost,
        n_users=round(tests.n_effective),
        n_lists=tests.n,
        detectable=float(detectable_of(tests, settings.alpha)[0]),
        verdict=verdict_of(
            float(tests.mean[0]),
            float(tests.low[0]),
            float(tests.high[0]),
            float(tests.p[0]),
            alpha=settings.alpha,
            better=better,
            all_tied=bool(tests.tied[0] == tests.n > 1),
        ),
        n_only_values=pair.n_only_values,
        n_only_baseline=pair.n_only_baseline,
        confidence=settings.confidence,
        cluster=cluster,
        lang=current(),
    )


@dataclass(frozen=True, repr=False)
class PairedDifference(Suggesting):
    """The difference of two Series of values, with its interval and its test.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> before = pd.Series([i / 40 for i in range(20)])
    >>> difference = recnb.paired(before + before / 5, before)
    >>> round(difference.to_dict()["difference"], 4), difference.verdict
    (0.0475, 'better')
    >>> len(difference.to_frame())
    1
    """

    difference: float
    low: float
    high: float
    p: float  #: NaN, as the interval is, if fewer than 10 users differ
    effect_size: float
    won: int  #: users, or lists, for which the values are better
    tied: int
    lost: int
    n_users: int  #: or clusters
    n_lists: int
    detectable: float  #: the smallest difference found with 80 % power
    verdict: str
    n_only_values: int  #: users, or lists, left out since the baseline lacks them
    n_only_baseline: int
    confidence: float
    cluster: str  #: what is drawn together, by its name; "" for the lists of a user
    lang: str

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain Python.

        Returns
        -------
        dict
            What `json` can write.
        """
        numbers = asdict(self)
        del numbers["lang"], numbers["cluster"]
        return numbers

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers as a frame of one row.

        Returns
        -------
        DataFrame
            A column per number.
        """
        return pd.DataFrame([self.to_dict()])

    @property
    def basis(self) -> str:
        """In words: the users, and those left out."""
        n_lists = None if self.n_lists == self.n_users else self.n_lists
        words = [sample_in_words(self.n_users, n_lists, self.cluster)]
        if self.n_only_values:
            left_out = N_("{n:,} only in the values, left out")
            words.append(_(left_out, n=self.n_only_values))
        if self.n_only_baseline:
            left_out = N_("{n:,} only in the baseline, left out")
            words.append(_(left_out, n=self.n_only_baseline))
        return "; ".join(words)

    def _in_words(self) -> str:
        interval_in_words = _(
            "{confidence} interval {low} to {high}",
            confidence=f"{100 * self.confidence:g}%",
            low=fixed(self.low),
            high=fixed(self.high),
        )
        concluded = f"{in_words(self.verdict)}; {self.basis}"
        if isnan(self.p):
            return f"{signed(self.difference)}: {concluded}"
        p = _p_in_words(self.p)
        return f"{signed(self.difference)} ({interval_in_words}; {p}): {concluded}"

    def __repr__(self) -> str:
        with use_language(self.lang):
            return self._in_words()

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(framed(_("difference"), self._in_words()))


def _p_in_words(p: float) -> str:
    """Return what stands behind an interval."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


# What is given, checked


class _Pair(NamedTuple):
    """Two Series of the same index, and how many rows each had beside it."""

    values: pd.Series[float]
    baseline: pd.Series[float]
    n_only_values: int
    n_only_baseline: int


def _matched(values: Any, baseline: Any) -> _Pair:
    """Match two Series by their index."""
    ours, theirs = _checked(values, "values"), _checked(baseline, "baseline")
    if ours.index.nlevels != theirs.index.nlevels:
        raise FrameError(
            f"values have an index of {ours.index.nlevels} levels and baseline one of "
            f"{theirs.index.nlevels}: give both by user, or both by user and the same "
            "levels."
        )
    if ours.index.nlevels > 1:
        theirs = _in_order_of_levels(theirs, ours.index.names)
    is_common = ours.index.isin(theirs.index)
    common = ours[is_common]
    if common.empty:
        raise NoUsersError(
            f"no user is in both: values are of users such as {ours.index[0]!r}, "
            f"baseline of such as {theirs.index[0]!r}."
        )
    return _Pair(
        values=common,
        baseline=theirs.reindex(common.index),
        n_only_values=len(ours) - len(common),
        n_only_baseline=len(theirs) - len(common),
    )


def _in_order_of_levels(
    values: pd.Series[float], names: Sequence[Hashable]
) -> pd.Series[float]:
    """Return values by levels in this order, if all of them have the same names."""
    have_same_names = set(names) == set(values.index.names)
    if None in names or len(set(names)) < len(names) or not have_same_names:
        return values
    places = [values.index.names.index(name) for name in names]
    return values.reorder_levels(places)


def _checked(values: Any, name: str) -> pd.Series[float]:
    """Refuse what is no Series of one number for each user or list."""
    if not isinstance(values, pd.Series):
        raise FrameError(
            f"{name} is a {type(values).__name__}: give a pandas Series by user, such "
            "as score.per_user."
        )
    if values.empty:
        raise NoUsersError(f"{name} is empty: nothing is left to average.")
    is_numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if not is_numeric or pd.api.types.is_complex_dtype(values.dtype):
        raise FrameError(
            f"{name} holds {values.dtype} such as {quoted(values.iloc[0])}: give one "
            "number for each user."
        )
    is_missing = values.isna()
    if is_missing.any():
        raise FrameError(
            f"{name} has {int(is_missing.sum()):,} missing values, the first of "
            f"{values.index[is_missing][0]!r}: leave these users out, {name}.dropna(), "
            "or fill in what they count."
        )
    if not np.isfinite(values.to_numpy(np.float64)).all():
        raise FrameError(f"{name} holds infinite values: leave them out.")
    _refuse_repeated(values.index, name)
    return values.astype(np.float64)


def _refuse_repeated(index: pd.Index[Any], name: str) -> None:
    """Refuse an index that has a row twice."""
    is_repeated = index.duplicated()
    if not is_repeated.any():
        return
    example = index[is_repeated][0]
    problem = f"{name} has {example!r} more than once"
    if index.nlevels > 1:
        raise FrameError(f"{problem}: give each list one value.")
    raise FrameError(
        f"{problem}: if these are lists of several days, give them an index of both, "
        "such as pd.concat({'mon': monday, 'tue': tuesday}).swaplevel()."
    )


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    """Refuse bounds that are no pair of numbers in order."""
    is_pair = isinstance(bounds, (tuple, list)) and len(bounds) == 2
    is_pair = is_pair and not any(isinstance(end, (str, bool)) for end in bounds)
    try:
        bottom, top = (float(end) for end in bounds) if is_pair else (0.0, 0.0)
    except (TypeError, ValueError):
        bottom = top = 0.0
    if not bottom < top:
        raise OptionError(
            f"bounds={quoted(bounds)} are no lowest and highest value: give two "
            "numbers, such as (0, 1), or (0, float('inf')) of a metric without an "
            "upper bound."
        )
    return bottom, top


def _refuse_beyond(
    values: pd.Series[float], name: str, bottom: float, top: float
) -> None:
    """Refuse values beyond the bounds."""
    is_beyond = (values < bottom - ROUNDING) | (values > top + ROUNDING)
    if is_beyond.any():
        user, value = next(values[is_beyond].items())
        raise OptionError(
            f"{name} holds {value:g} (of {user!r}), beyond bounds=({bottom:g}, "
            f"{top:g}): give those of the metric, such as bounds=(0, float('inf')) "
            "for DCG."
        )


# Clusters


def _clusters_of(index: pd.Index[Any], cluster: Cluster) -> Clusters | None:
    """Return what is drawn together; None if every row is drawn by itself."""
    if cluster is None:
        return None if index.nlevels == 1 else _clusters_by(_users_in(index))
    if isinstance(cluster, str):
        if cluster not in index.names:
            names = ", ".join(map(repr, index.names))
            raise OptionError(
                f"cluster={cluster!r} is no level of the index, whose levels are "
                f"{names}: name one, or give a Series of user to cluster."
            )
        return _clusters_by(index.get_level_values(cluster), repr(cluster))
    if not isinstance(cluster, (pd.Series, Mapping)):
        raise OptionError(
            f"cluster= is a {type(cluster).__name__}: name a level of the index, or "
            "give a Series of user to cluster."
        )
    users = _users_in(index)
    of_user = pd.Series(cluster)
    _refuse_repeated(of_user.index, "cluster")
    values = of_user.reindex(users)
    is_missing = values.isna().to_numpy()
    if is_missing.any():
        raise FrameError(
            f"cluster= lacks {int(is_missing.sum()):,} users, such as "
            f"{users[is_missing][0]!r}: give every user a cluster."
        )
    return _clusters_by(pd.Index(values))


def _users_in(index: pd.Index[Any]) -> pd.Index[Any]:
    """Return the level of users: that with the name of one, else the first.

    Nights that were put together by pd.concat have their day first.
    """
    named = [level for level, name in enumerate(index.names) if role_of(name) == "user"]
    if not named and index.nlevels > 1 and None in index.names:
        raise FrameError(
            f"the index has {index.nlevels} levels, and no name says which one holds "
            f"users: {index[0]!r}. Name them: values.index.names = ['user', 'day']."
        )
    return index.get_level_values(named[0] if named else 0)


def _name_of(cluster: Cluster) -> str:
    """Return what clusters are called; "" where they are users."""
    if cluster is None:
        return ""
    name = cluster if isinstance(cluster, str) else getattr(cluster, "name", None)
    return "cluster" if name is None else str(name)


def _clusters_by(values: pd.Index[Any], what: str = "user") -> Clusters | None:
    """Return the clusters of rows of equal values, in the order of the values."""
    is_missing = np.asarray(values.isna())
    if is_missing.any():
        raise FrameError(
            f"the index has {int(is_missing.sum()):,} rows without a {what}: give "
            "every row one, or leave these rows out."
        )
    codes, _names = pd.factorize(values, sort=True)
    return Clusters.of(codes.astype(np.int64))
