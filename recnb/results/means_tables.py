"""Tables of the means of one model, and words that a comparison shares with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.errors import OptionError, is_several, quoted
from recnb.metrics.hits import WHOLE_LISTS, Cutoffs
from recnb.metrics.measure import Measure, plain_text, symbol_of
from recnb.results.arguments import (
    AnyCutoffs,
    AnyMetric,
    Metrics,
    asked_of,
    measure_of_curve,
)
from recnb.results.basis import all_weights_in_words, merged, taken_as_known
from recnb.results.evaluation_data import EvaluationData
from recnb.results.numbers import ESTIMATE, Bases, Numbers, measured
from recnb.results.segments import SMALL, division_by, part_in_words
from recnb.results.shown import Shown, WordedLater
from recnb.results.table import Table, check_flag
from recnb.stats import Settings

#: The columns of the gap of a segment to all other users, and which number each is.
GAP = {
    "gap": "difference",
    "gap_low": "low",
    "gap_high": "high",
    "p": "p",
    "p_holm": "p_holm",
}

#: What stands below a table of segments.
GAPS = N_(
    "by {by}: {confidence:g}% intervals, not corrected for the number of comparisons; "
    "gap to all other {users} by the more careful of Welch's t and Student's, p "
    "corrected by Holm over the segments of each column"
)
#: What stands below a table of segments in which no gap is tested.
WITHOUT_TESTS = N_(
    "by {by}: {confidence:g}% intervals, not corrected for the number of comparisons"
)


def table(
    data: EvaluationData,
    metrics: Metrics = None,
    k: AnyCutoffs = None,
    *,
    intervals: bool = False,
    by: Any = None,
    confidence: float = 0.95,
    **options: Any,
) -> Table:
    """Return means over users, one row per metric and one column per cut-off.

    `.plot()` draws it, without segments.

    Parameters
    ----------
    metrics : str, list or dict, optional
        Names, or measures as papers print them, `["nDCG@10", "AP(rel=2)"]`; or a
        mapping of name to its own options. None: the usual ones.
    k : int or list of int, optional
        Cut-off or cut-offs; None is the whole list. Beside names with a cut-off of
        their own it is not given, and there is one column.
    intervals : bool, default False
        True: three columns per cut-off, (k, "mean"), (k, "low") and (k, "high"),
        with intervals. A table of segments has intervals in any case.
    by : str, Series or list, optional
        Segments, each with its interval and difference from all others. Users are
        divided by

        - a column of `users=`, or one of the truth that has one value per user,
        - "activity", which is computed from `train=`,
        - a Series of user to segment.

        A column of the truth that differs within users, such as a week, divides
        the truth: each value is a truth of its own. To use several, give a list.
    confidence : float, default 0.95
        Confidence level of the intervals, between 0 and 1.
    **options
        Options of the metrics, applied to each metric that has them, as
        `gain="exponential"`.

    Returns
    -------
    Table
        A DataFrame with users and convention in a line below.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> ev.table(["ndcg", "recall"], k=[5, 10]).to_frame().round(4)
    k           5       10
    metric
    ndcg    0.1337  0.1725
    recall  0.1399  0.2504
    """
    check_flag("intervals", intervals)
    cutoffs = Cutoffs.of(k)
    asked = asked_of(
        data, metrics, cutoffs, options, "k", "intervals", "confidence", "by"
    )
    settings = Settings(confidence)
    if by is not None:
        return _table_by(data, asked, cutoffs, by, settings)
    with_cutoff = [each.asked_as for each in asked if each.k is not None]
    if with_cutoff and k is not None:
        raise OptionError(
            f"{with_cutoff[0]!r} has its cut-off, and k={quoted(k)} has columns for "
            "others: give each name its own cut-off, or none."
        )
    numbers = measured({"": data}, asked, cutoffs, settings=settings)
    basis = _below(data, numbers, intervals=intervals)
    means = by_cutoff(numbers, cutoffs, basis, intervals=intervals)
    if with_cutoff:  # there is one column, and each row has a cut-off of its own
        means.columns = pd.Index(ESTIMATE if intervals else ["mean"])
    return means


def _below(
    data: EvaluationData, numbers: Numbers, *, intervals: bool = True
) -> WordedLater:
    """Return the phrases below numbers of one model, and of their intervals."""
    bases = numbers.bases  # words that are made later keep these, and not the numbers
    # What is not shown is not computed.
    interval_phrases = intervals_in_words(data, numbers) if intervals else []
    return WordedLater(lambda: [*phrases_of(bases), *interval_phrases])


def intervals_in_words(data: EvaluationData, numbers: Numbers) -> list[str]:
    """Return the phrases of intervals: what they are clustered by, and do not cover.

    Nothing if no number has one.
    """
    if np.isnan(numbers.estimates).any(axis=2).all():
        return []
    confidence = 100 * numbers.settings.confidence
    words = _("{confidence:g}% intervals", confidence=confidence)
    return [words, *_sampling_in_words(data, numbers)]


def _sampling_in_words(data: EvaluationData, numbers: Numbers) -> list[str]:
    """Say what intervals and tests are clustered by, and what they take as known."""
    # In one value of a split a user may have one list.
    panels = numbers.panels
    is_clustered = any(panel.sample.is_clustered or panel.of_all for panel in panels)
    clustering = data.clustering_in_words if is_clustered else []
    return [*clustering, *taken_as_known(data.source.has_propensities)]


def phrases_of(bases: Bases, *of_each: str) -> list[str]:
    """Return the phrases below the numbers of one model; `of_each`: of every metric."""
    phrases = {}
    for name, (basis,) in bases.items():
        phrases[symbol_of(name)] = [*basis.phrases(brief=True), *of_each]
    return merged(phrases)


def _table_by(
    data: EvaluationData,
    asked: Sequence[Measure],
    cutoffs: Cutoffs,
    by: Any,
    settings: Settings,
) -> Table:
    """Return each metric at each cut-off in each segment.

    A row has its mean with the interval, and the gap to all other users.
    """
    division = division_by({"": data}, by)
    numbers = measured({"": data}, asked, cutoffs, division=division, settings=settings)
    label = one_line(", ".join(division.labels))
    frame = by_segment(numbers)
    columns = frame.columns.to_list()
    if not frame["small"].any():
        columns.remove("small")
    shown = Shown(
        title=_("By {by}", by=label),
        columns=columns,
        basis=_basis_of_segments(data, numbers, label),
    )
    return Table(frame, shown=shown)


def _basis_of_segments(data: EvaluationData, numbers: Numbers, label: str) -> list[str]:
    """Return the phrases below a table of segments."""
    bases = numbers.bases
    if numbers.has_gaps:
        level = 100 * numbers.settings.confidence
        words = GAPS if numbers.n_tests else WITHOUT_TESTS
        return [
            *phrases_of(bases),
            _(words, by=label, confidence=level),
            *_sampling_in_words(data, numbers),
        ]
    return [
        *phrases_of(bases, *all_weights_in_words(data.joined)),
        *intervals_in_words(data, numbers),
        part_in_words(data, numbers.division),
    ]


def measures(
    data: EvaluationData,
    names: AnyMetric | Iterable[AnyMetric],
    *,
    confidence: float = 0.95,
    **options: Any,
) -> Table:
    """Return several measures by the names that papers print, a row each.

    Parameters
    ----------
    names : str or list of str
        Names as in `measure`.
    confidence : float, default 0.95
        Of the intervals, between 0 and 1.
    **options
        Options of the metrics, applied to each metric that has them.

    Returns
    -------
    Table
        A row per measure: mean, low, high and n_users.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> ev.measures(["nDCG@10", "AP(rel=4)"]).to_frame().round(4)
                 mean     low    high  n_users
    measure
    nDCG@10    0.1725  0.1503  0.1979      261
    AP(rel=4)  0.1063  0.0850  0.1340      235
    """
    given: Any = names if is_several(names) else [names]
    if not isinstance(given, Mapping):
        given = [*given]  # it may be read once alone
    texts = [plain_text(name) for name in given]
    if not texts or names is None:
        raise OptionError(
            "no measure is named: give at least one, such as names=['nDCG@10']."
        )
    asked = asked_of(data, given, WHOLE_LISTS, options)
    settings = Settings(confidence)
    numbers = measured({"": data}, asked, WHOLE_LISTS, settings=settings)
    index = pd.Index(map(str, texts), name="measure")
    frame = pd.DataFrame(numbers.estimates[:, 0], index, ESTIMATE)
    frame["n_users"] = [place.sample.n_units for place in numbers.places]
    return Table(frame, shown=Shown(basis=_below(data, numbers), plot="metrics"))


def curve(
    data: EvaluationData,
    metric: AnyMetric,
    k: Iterable[int] = range(1, 21),
    *,
    confidence: float = 0.95,
    **options: Any,
) -> Table:
    """Return a metric at many cut-offs, a row each, with the ends of an interval.

    `.plot()` draws the curve.

    Parameters
    ----------
    metric : str or Metric
        The metric.
    k : iterable of int, default range(1, 21)
        The cut-offs.
    confidence : float, default 0.95
        Of the intervals, between 0 and 1.
    **options
        Options of the metric.

    Returns
    -------
    Table
        A row per cut-off: mean, low and high.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> ev.curve("recall", k=[1, 5, 10]).to_frame().round(4)
        recall     low    high
    k
    1   0.0312  0.0209  0.0457
    5   0.1399  0.1155  0.1698
    10  0.2504  0.2191  0.2853
    """
    measure, cutoffs = measure_of_curve(metric, k)
    measure = measure.with_options(options)
    settings = Settings(confidence)
    numbers = measured({"": data}, [measure], cutoffs, settings=settings)
    ((basis,),) = numbers.bases.values()
    interval_phrases = intervals_in_words(data, numbers)
    counted = None
    if measure.metric.of == "user":
        counted = numbers.places[-1].sample.counted
    shown = Shown(
        basis=WordedLater(lambda: [*basis.phrases(), *interval_phrases]),
        headings={measure.name: f"{measure.symbol}@k"},
        plot="curve",
        symbol=measure.symbol,
        counted=counted,
    )
    index = pd.Index([place.k for place in numbers.places], name="k")
    columns = [measure.name, "low", "high"]
    return Table(numbers.estimates[:, 0], index, columns, shown=shown)


# Views of numbers


def by_cutoff(
    numbers: Numbers,
    cutoffs: Cutoffs,
    basis: Sequence[str],
    *,
    intervals: bool = False,
) -> Table:
    """Return metrics × cut-offs: means, or these and the ends of their intervals."""
    rows = _labels(*numbers.bases).rename("metric")
    columns = _labels(*cutoffs).rename("k")
    cells = numbers.mean
    if intervals:
        cells = numbers.estimates
        columns = pd.MultiIndex.from_product(
            [list(columns), ESTIMATE], names=["k", None]
        )
    cells = cells.reshape(len(rows), len(columns))
    return Table(cells, rows, columns, shown=Shown(basis=basis, plot="metrics"))


@lru_cache
def _labels(*labels: Any) -> pd.Index[Any]:
    """Return labels as an index, made once: it takes pandas longer than a metric."""
    # As objects, whole numbers stay whole beside a None.
    index: pd.Index[Any] = pd.Index(labels, dtype=object if None in labels else None)
    return index


def by_segment(numbers: Numbers) -> pd.DataFrame:
    """Return a row for each metric, cut-off and segment, in this order."""
    places = numbers.places
    columns: dict[str, Any] = {"n_users": [place.sample.n_units for place in places]}
    if any(place.sample.n_lists is not None for place in places):
        columns["n_lists"] = [place.sample.size for place in places]
    columns |= zip(ESTIMATE, numbers.estimates[:, 0].T, strict=True)
    if numbers.has_gaps:
        for name, number in GAP.items():
            columns[name] = numbers.tests[number][:, 0]
    columns["small"] = [n_users < SMALL for n_users in columns["n_users"]]
    labels = distinct_labels(numbers.division.labels, {"metric", "k", *columns})
    rows = [
        (place.measure.name, place.k, *numbers.division.keys[place.part])
        for place in places
    ]
    frame = pd.DataFrame(columns, _index(rows, ["metric", "k", *labels]))
    in_order = [*dict.fromkeys(place.column for place in places)]
    position = [in_order.index(place.column) for place in places]
    return frame.iloc[np.argsort(position, kind="stable")]


def _index(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> pd.MultiIndex:
    """Return an index whose levels are in the order of the rows, if there are any.

    pandas then finds a metric with its rows side by side.
    """
    codes, levels = [], list[Any]()
    for place in range(len(names)):
        column = pd.Series([row[place] for row in rows], dtype=object)
        code, level = pd.factorize(column)
        codes.append([*code])
        levels.append(level.infer_objects())
    return pd.MultiIndex(levels, codes, names=[*names])


def distinct_labels(labels: Sequence[str], taken: Collection[str]) -> list[str]:
    """Name the columns of segments in a table that has other columns as well.

    A column of segments called "mean" is "segment mean" where "mean" is taken.
    """
    names = list[str]()
    for label in labels:
        while label in {*taken, *names}:
            label = f"segment {label}"
        names.append(label)
    return names
