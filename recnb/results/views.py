"""Views of numbers: the frame of each table, and marks.

A view arranges what `Numbers` has, and computes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from recnb.metrics.hits import Cutoffs
from recnb.results.measuring import Place
from recnb.results.numbers import DifferenceRow, Numbers
from recnb.results.segments import SMALL
from recnb.results.verdicts import FOUND

#: A mean, and the ends of its interval.
ENDS = ["mean", "low", "high"]

#: The columns of a table of segments that have the numbers of a gap.
GAP = {
    "gap": "difference",
    "gap_low": "low",
    "gap_high": "high",
    "p": "p",
    "p_holm": "p_holm",
}

#: The columns of a table of differences: all fields of a row but those that tell what
#: its other columns say.
DIFFERENCES = [
    field.name
    for field in fields(DifferenceRow)
    if field.name not in ("symbol", "better", "n_lists", "cluster", "part")
]

#: The name of each column of a table of models, by metric and cut-off.
Names = Mapping[tuple[str, int | None], str]


# One model


def by_cutoff(
    numbers: Numbers, cutoffs: Cutoffs, *, intervals: bool = False
) -> pd.DataFrame:
    """Return metrics × cut-offs: means, or these and the ends of their intervals."""
    # As objects, whole numbers stay whole beside a None.
    dtype = object if None in cutoffs.values else None
    columns = pd.Index(list(cutoffs), dtype=dtype, name="k")
    cells = numbers.mean
    if intervals:
        cells = numbers.estimates
        columns = pd.MultiIndex.from_product([list(columns), ENDS], names=["k", None])
    rows = pd.Index([*numbers.bases], name="metric")
    return pd.DataFrame(cells.reshape(len(rows), len(columns)), rows, columns)


def by_measure(numbers: Numbers) -> pd.DataFrame:
    """Return a row for each measure, at its own cut-off."""
    rows = pd.Index([place.name for place in numbers.places], name="measure")
    frame = pd.DataFrame(numbers.estimates[:, 0], rows, ENDS)
    frame["users"] = [place.sample.n_units for place in numbers.places]
    return frame


def curve(numbers: Numbers, name: str) -> pd.DataFrame:
    """Return a row for each cut-off of a metric of this name."""
    rows = pd.Index([place.k for place in numbers.places], name="k")
    return pd.DataFrame(numbers.estimates[:, 0], rows, [name, "low", "high"])


def by_segment(numbers: Numbers) -> pd.DataFrame:
    """Return a row for each metric, cut-off and segment, in this order."""
    order = _by_metric(numbers)
    places = [numbers.places[row] for row in order]
    columns: dict[str, Any] = _counts(places)
    columns |= zip(ENDS, numbers.estimates[order, 0].T, strict=True)
    if numbers.division.has_gaps:
        for name, number in GAP.items():
            columns[name] = numbers.tests[number][order, 0]
    columns["small"] = [place.sample.n_units < SMALL for place in places]
    keys = [numbers.division.keys[place.part] for place in places]
    labels = distinct_labels(numbers.division.labels, {"metric", "k", *columns})
    metrics = [place.measure.name for place in places]
    cutoffs = [place.k for place in places]
    levels: list[Sequence[Any]] = [metrics, cutoffs, *zip(*keys, strict=True)]
    return pd.DataFrame(columns, _index(levels, ["metric", "k", *labels]))


def _counts(places: Sequence[Place]) -> dict[str, list[int]]:
    """Return the number of users of each place, and of lists where users have several."""
    counts = {"n_users": [place.sample.n_units for place in places]}
    if any(place.sample.n_lists is not None for place in places):
        counts["n_lists"] = [place.sample.size for place in places]
    return counts


def _by_metric(numbers: Numbers) -> list[int]:
    """Return the rows of the places in the order of metrics, then of cut-offs."""
    metrics = list(numbers.bases)
    columns = dict.fromkeys((place.name, place.k) for place in numbers.places)
    in_order = sorted(columns, key=lambda column: metrics.index(column[0]))
    order_of = {column: order for order, column in enumerate(in_order)}
    rows = range(len(numbers.places))
    places = numbers.places
    return sorted(rows, key=lambda row: order_of[places[row].name, places[row].k])


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


def distinct_labels(labels: Sequence[str], taken: Collection[str]) -> list[str]:
    """Name the columns of segments in a table that has other columns as well.

    A column of segments called "mean" is "segment mean" where "mean" is taken.
    """
    return [f"segment {label}" if label in taken else label for label in labels]


# Several models


def by_model(numbers: Numbers, names: Names) -> pd.DataFrame:
    """Return means with the ends of their intervals, a row for each part and model."""
    parts = list(dict.fromkeys(place.part for place in numbers.places))
    columns = list(names)
    shape = len(parts), len(numbers.models), len(columns), len(ENDS)
    cells = np.full(shape, np.nan)
    for place, of_models in zip(numbers.places, numbers.estimates, strict=True):
        column = columns.index((place.measure.name, place.k))
        cells[parts.index(place.part), :, column] = of_models
    labels = []
    for part in parts:
        labels += [_label(numbers, part, model) for model in numbers.models]
    levels = [*distinct_labels(numbers.division.labels, ["model"]), "model"]
    # Labels of parts are tuples, of which pandas makes levels.
    index = pd.Index(labels).set_names(levels)
    rows = cells.reshape(len(labels), -1)
    return pd.DataFrame(rows, index, pd.MultiIndex.from_product([names.values(), ENDS]))


def _label(numbers: Numbers, part: int, model: str) -> Any:
    """Return the label of the row of a model, in a part if there are several."""
    key = numbers.division.keys[part]
    return (*key, model) if key else model


def marks(
    numbers: Numbers, names: Names, against: str | None
) -> dict[str, dict[str, list[Any]]]:
    """Return by kind of mark and column the labels of the rows that have it.

    The best mean, and what differs from the baseline or does not from the best.
    """
    kinds: Sequence[str] = ("best", "near_best")
    if against is not None:
        kinds = ("best", *FOUND)
    labels = {
        kind: {column: list[Any]() for column in names.values()} for kind in kinds
    }
    of_places = zip(numbers.places, numbers.best, numbers.marks(against), strict=True)
    for place, best, marks_of_place in of_places:
        column = names[place.measure.name, place.k]
        of_models = zip(numbers.models, best, marks_of_place, strict=True)
        for model, is_best, mark in of_models:
            label = _label(numbers, place.part, model)
            if is_best:
                labels["best"][column].append(label)
            if mark:
                labels[mark][column].append(label)
    if against is not None or not numbers.division.is_tested:
        labels["near_best"] = {}
    return labels


def differences(numbers: Numbers) -> pd.DataFrame:
    """Return a row for each difference, after the columns that name its segment."""
    rows = numbers.differences()
    keys = [numbers.division.keys[row.part] for row in rows]
    labels = distinct_labels(numbers.division.labels, DIFFERENCES)
    columns = {label: [key[at] for key in keys] for at, label in enumerate(labels)}
    columns |= {name: [getattr(row, name) for row in rows] for name in DIFFERENCES}
    if any(row.n_lists is not None for row in rows):
        columns["n_lists"] = [row.n_lists or row.n_users for row in rows]
    return pd.DataFrame(columns)


def curves(numbers: Numbers) -> pd.DataFrame:
    """Return a row for each model and cut-off of a metric."""
    cutoffs = [place.k for place in numbers.places]
    by_model = numbers.estimates.swapaxes(0, 1)
    frame = pd.DataFrame(by_model.reshape(-1, len(ENDS)), columns=ENDS)
    frame.insert(0, "model", np.repeat([*numbers.models], len(cutoffs)).tolist())
    frame.insert(1, "k", cutoffs * len(numbers.models))
    return frame


def by_split(numbers: Numbers) -> pd.DataFrame:
    """Return the means of models, a row for each value of the split."""
    keys = [numbers.division.keys[place.part] for place in numbers.places]
    index = pd.MultiIndex.from_tuples(keys, names=list(numbers.division.labels))
    return pd.DataFrame(numbers.mean, index, list(numbers.models))
