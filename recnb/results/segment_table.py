"""Segments as they are shown: in the table of `by=`, and in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Given
from recnb.results.arguments import Asked, Metrics, asked_of
from recnb.results.evaluation_data import EvaluationData
from recnb.results.measuring import measured
from recnb.results.numbers import DifferenceRow, MeanRow, Numbers
from recnb.results.segments import (
    SMALL,
    PartsOfSplit,
    distinct_labels,
    division_by,
    part_in_words,
)
from recnb.results.table import Table
from recnb.results.values import merged, pairs_in_words, weights_in_words
from recnb.stats import Settings

#: The columns of a table of segments after those that name a row; a part of the truth
#: has no gap.
GAP = {
    "gap": "difference",
    "gap_low": "low",
    "gap_high": "high",
    "p": "p",
    "p_holm": "p_holm",
}

#: What stands below a table of segments.
BASIS = N_(
    "by {by}: {confidence}% intervals, not corrected for the number of "
    "comparisons; gap to all other users "
    "by the more careful of Welch's t and Student's, p corrected by Holm over the "
    "segments of each column"
)
#: The same where no gap is tested.
BASIS_WITHOUT_TESTS = N_(
    "by {by}: {confidence}% intervals, not corrected for the number of comparisons"
)


def table_by(
    data: EvaluationData,
    metrics: Metrics,
    k: object,
    options: Given,
    *,
    by: Any,
    confidence: float = 0.95,
) -> Table:
    """Return each metric at each cut-off in each segment.

    A row has its mean with the interval, and the gap to all other users.
    """
    asked = asked_of(data, metrics, options)
    cutoffs = Cutoffs.of(k)
    division = division_by({"": data}, by)
    if not isinstance(division, PartsOfSplit):
        refuse_whole_metrics(asked)
    settings = Settings(confidence)
    numbers = measured({"": data}, asked, cutoffs, division=division, settings=settings)
    label = one_line(", ".join(division.labels))
    table = Table.made(
        _frame_of(numbers),
        _basis_of(data, numbers, label, confidence),
        _("By {by}", by=label),
    )
    table.attrs |= {
        "n_users": data.n_users,
        "by": ", ".join(division.labels),
        "n_tests": int(numbers.differences.is_test.sum()),
    }
    return table


def refuse_whole_metrics(asked: Sequence[Asked]) -> None:
    """Refuse metrics of all lists together, which have no value in a segment."""
    for each in asked:
        if each.metric.of == "all":
            raise OptionError(
                f"{each.measure.name} is one number of all lists, with no value for each "
                "user, so by= cannot break it down: leave it out."
            )


def _frame_of(numbers: Numbers) -> pd.DataFrame:
    """Return a row for each metric, cut-off and segment, in this order."""
    order = _by_metric(numbers)
    places = [numbers.places[row] for row in order]
    means, gaps = numbers.means, numbers.differences
    columns: dict[str, Any] = {"n_users": [place.n_users for place in places]}
    if any(place.n_lists is not None for place in places):
        columns["n_lists"] = [place.n_lists or place.n_users for place in places]
    for name in ("mean", "low", "high"):
        columns[name] = getattr(means, name)[order, 0]
    if numbers.division.has_gaps:
        for name, number in GAP.items():
            columns[name] = getattr(gaps, number)[order, 0]
    columns["small"] = [place.n_users < SMALL for place in places]
    keys = [numbers.division.keys[place.part] for place in places]
    labels = distinct_labels(numbers.division.labels, {"metric", "k", *columns})
    index = _index(
        [
            [place.measure.name for place in places],
            [place.k for place in places],
            *zip(*keys, strict=True),
        ],
        ["metric", "k", *labels],
    )
    return pd.DataFrame(columns, index)


def _by_metric(numbers: Numbers) -> list[int]:
    """Return the rows of the places in the order of metrics, then of cut-offs."""
    order_of_metric = {name: order for order, name in enumerate(numbers.bases)}
    order_of_cutoff = dict[tuple[str, int | None], int]()
    for place in numbers.places:
        order_of_cutoff.setdefault((place.name, place.k), len(order_of_cutoff))

    def order_of(row: int) -> tuple[int, int]:
        place = numbers.places[row]
        return order_of_metric[place.name], order_of_cutoff[place.name, place.k]

    return sorted(range(len(numbers.places)), key=order_of)


def _index(columns: Sequence[Sequence[Any]], names: Sequence[str]) -> pd.MultiIndex:
    """Return an index whose levels are in the order of the rows.

    pandas then finds a metric with its rows side by side.
    """
    codes, levels = [], list[Any]()
    for column in columns:
        code, level = pd.factorize(pd.Series(column, dtype=object))
        codes.append([*code])
        levels.append(level.infer_objects())
    return pd.MultiIndex(levels, codes, names=[*names])


def _basis_of(
    data: EvaluationData, numbers: Numbers, label: str, confidence: float
) -> list[str]:
    """Return the phrases below the table."""
    phrases = {
        name: bases[0].phrases(brief=True) for name, bases in numbers.bases.items()
    }
    if numbers.division.has_gaps:
        percent = f"{100 * confidence:g}"
        words = BASIS if numbers.differences.is_test.any() else BASIS_WITHOUT_TESTS
        return [*merged(phrases), _(words, by=label, confidence=percent)]
    weights = [
        *weights_in_words(data.joined.user_weight, of_lists=bool(data.keys.columns)),
        *pairs_in_words(data.joined.weighting),
    ]
    phrases = {name: [*words, *weights] for name, words in phrases.items()}
    return [*merged(phrases), part_in_words(data, numbers.division)]


# Segments of a report


class Segment(NamedTuple):
    """One segment in one metric."""

    name: str
    n_users: int
    is_small: bool
    means: Mapping[str, MeanRow]  #: by model; "" is the only one
    #: Of each pair of models; of one model its gap to all other users, if it has one.
    differences: Sequence[DifferenceRow]


@dataclass(frozen=True, eq=False)
class SegmentNumbers:
    """The segments of a report.

    Of one model they have the means with their gaps to all other users, of several
    their differences within each segment.
    """

    by: str  #: what defines the segments
    basis: str
    numbers: Numbers

    @property
    def is_tested(self) -> bool:
        """Whether anything is tested: nothing is in parts of the truth."""
        return self.numbers.division.is_tested

    @property
    def n_tests(self) -> int:
        """The number of tests that are corrected together."""
        return int(self.numbers.differences.is_test.sum())

    def of(self, metric: str) -> list[Segment]:
        """Return the segments in a metric, in the order shown."""
        places = zip(self.numbers.places, self._segments(), strict=True)
        return [segment for place, segment in places if place.measure.name == metric]

    def _segments(self) -> list[Segment]:
        """Return a segment for each place."""
        numbers = self.numbers
        means, differences = numbers.mean_rows(), numbers.difference_rows()
        segments = []
        for place in numbers.places:
            of_models = {row.model: row for row in islice(means, len(numbers.models))}
            segment = Segment(
                name=", ".join(map(str, numbers.division.keys[place.part])),
                n_users=place.n_users,
                is_small=place.n_users < SMALL,
                means=of_models,
                differences=list(islice(differences, len(numbers.pairs))),
            )
            segments.append(segment)
        return segments

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each metric, segment and pair of models."""
        return pd.DataFrame(self._rows())

    def to_dict(self) -> dict[str, Any]:
        """Return the segments as plain Python."""
        return {"by": self.by, "rows": self._rows(), "basis": self.basis}

    def _rows(self) -> list[dict[str, Any]]:
        """Return a row for each metric and segment, and for each pair of models."""
        segments = self._segments()
        if len(self.numbers.models) == 1:
            return [_of_one(segments[row]) for row in _by_metric(self.numbers)]
        rows = list[dict[str, Any]]()
        for segment in segments:
            rows.extend(_of_pair(segment, row) for row in segment.differences)
        return rows


def _of_one(segment: Segment) -> dict[str, Any]:
    """Return the numbers of one model in a segment: its mean and its gap."""
    (mean,) = segment.means.values()
    lists = {} if mean.n_lists is None else {"n_lists": mean.n_lists}
    numbers = {
        "segment": segment.name,
        "small": segment.is_small,
        "metric": mean.metric,
        "symbol": mean.symbol,
        "k": mean.k,
        "n_users": mean.n_users,
        **lists,
        "mean": mean.mean,
        "mean_low": mean.low,
        "mean_high": mean.high,
    }
    gap = dict.fromkeys(("difference", "low", "high", "p", "p_holm"), nan)
    verdict = "untested"
    for row in segment.differences:
        gap = {name: getattr(row, name) for name in gap}
        verdict = row.verdict
    return numbers | gap | {"verdict": verdict}


def _of_pair(segment: Segment, row: DifferenceRow) -> dict[str, Any]:
    """Return the numbers of two models in a segment: their difference and means."""
    numbers = {"segment": segment.name, "small": segment.is_small, **row.to_dict()}
    for whose, model in (("", row.model), ("baseline_", row.baseline)):
        mean = segment.means[model]
        numbers[f"{whose}mean"] = mean.mean
        numbers[f"{whose}mean_low"] = mean.low
        numbers[f"{whose}mean_high"] = mean.high
    return numbers
