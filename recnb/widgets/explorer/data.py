"""The data of an explorer: models under a metric, the users that they have in common, and segments of these users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from recnb.data import table_of, validation
from recnb.data.columns import columns_of
from recnb.data.encoding import positions
from recnb.display.language import _
from recnb.errors import FrameError, RecnbError
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import Metric
from recnb.results.aggregation import cutoffs_under
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import WORKED_OUT, segments_of

#: A column gives a segment for each of its values if they are at most so many; more numbers are put into bins.
MOST_SEGMENTS = 30

#: Cut-offs, and users, whose results are kept.
KEPT = 12


class MetricOfUsers:
    """A metric with its options, for each user of one model and any cut-off."""

    def __init__(self, evaluation: EvaluationData, metric: Metric[...], options: Mapping[str, Any]) -> None:
        self.evaluation, self._scoring = evaluation, evaluation.scoring(metric, options)
        self.prepared = self._scoring.prepared
        self.users = self.prepared.users  #: those evaluated, sorted
        self.options: dict[str, Any] = {**metric.defaults, **self._scoring.options}  #: a library's own among them
        # Cut anywhere, the lists are of the same users.
        self.basis = "; ".join(evaluation.phrases(self._scoring, Cutoffs.one(1)))
        # Of the whole lists, so that another cut-off needs no other join.
        self.hits = self.prepared.hits(None)
        self.values, self.list_of = lru_cache(KEPT)(self._values), lru_cache(KEPT)(self._list_of)

    def _values(self, k: int | None) -> Floats:
        """Return the metric of each user; NaN for one who is left out."""
        return self._scoring.averaged(Cutoffs.one(k)).counted[:, 0]

    def n_hits(self, k: int | None) -> Floats:
        """Return the number of hits of each user; where ties are averaged, the expected number."""
        return self.hits.total(self.hits.weight, self._cutoffs(k))[:, 0]

    def _list_of(self, position: int) -> tuple[list[tuple[int, Any]], list[Any], list[float], Hits]:
        """Return a user's list as pairs of rank and item, the relevant items, their grades, and the hits."""
        rows = self.prepared.rows.of(self.users[[position]]).sort("rank").select("rank", "item").rows()
        truth = self.prepared.truth.filter(pl.col("user") == self.users[position])
        return rows, truth["item"].to_list(), truth["relevance"].to_list(), self.hits.of_user(position)

    def depth(self, k: int | None, position: int) -> int:
        """Return how many ranks of a user's list count."""
        return int(self._cutoffs(k).depth(self.hits.list_length[[position]])[0, 0])

    def _cutoffs(self, k: int | None) -> Cutoffs:
        return cutoffs_under(self.prepared.convention, Cutoffs.one(k))


def common_users(users_of: Mapping[str, pl.Series]) -> tuple[pl.Series, list[Ints]]:
    """Return the users that all models have in common, sorted, and their positions in each model."""
    first, users = next(iter(users_of.items()))
    for name, others in users_of.items():
        if others.dtype != users.dtype:
            raise FrameError(
                f"the user ids of {first!r} are such as {users[0]!r}, those of {name!r} such as {others[0]!r}: they "
                "would never match. Make both text or both whole numbers."
            )
        if not others.equals(users):
            users = users.filter(pl.Series(positions(others, users) >= 0))
    if len(users) == 0:
        raise FrameError(
            f"{', '.join(map(repr, users_of))} have no user in common: evaluate them on the same users, or explore one at a time."
        )
    same = np.arange(len(users))
    return users, [same if own_users.equals(users) else positions(own_users, users) for own_users in users_of.values()]


class UserSegments(NamedTuple):
    """The segment of each user by one column."""

    labels: tuple[str, ...]  #: sorted; the last may be that of users without a value
    codes: Ints  #: per user, the position of the label


def segment_columns(evaluations: Sequence[EvaluationData]) -> dict[str, Callable[[pl.Series], UserSegments]]:
    """Return what divides users into segments, by name: columns of the frame of users, and of the truth if constant per user.

    Numbers with many values, and the users' activity in train, are divided as by `ev.table(by=...)`.
    """
    columns: dict[str, Callable[[pl.Series], UserSegments]] = {}
    for evaluation in evaluations:
        for name, users, values in _columns_of(evaluation):
            few = values.n_unique() <= MOST_SEGMENTS
            divide = partial(_by_value, users, values) if few else partial(_as_in_table, evaluation, name)
            columns.setdefault(name, divide)
    for evaluation in evaluations:
        for name in WORKED_OUT if evaluation.side_data.train is not None else ():
            columns.setdefault(name, partial(_as_in_table, evaluation, name))
    return columns


def _by_value(users_of_column: pl.Series, values: pl.Series, users: pl.Series) -> UserSegments:
    """Divide users by a column of few values, a segment each."""
    # As text on both sides: with a null, whole numbers would become floats.
    distinct = values.drop_nulls().unique().sort().cast(pl.String)
    row, code = positions(users_of_column, users), positions(distinct, values.cast(pl.String))
    return _with_others(distinct.to_list(), np.where(row >= 0, code[row], -1), _("none given"))


def _as_in_table(evaluation: EvaluationData, name: str, users: pl.Series) -> UserSegments:
    """Divide users by a column that `ev.table(by=...)` puts into bins."""
    segments = segments_of(evaluation, name)
    return _with_others(list(segments.names), segments.of(users), _("not known"))


def _with_others(labels: list[str], codes: Ints, others: str) -> UserSegments:
    """Make users without a value, whose code is -1, a segment of their own, the last."""
    if (codes < 0).any():
        labels = labels if others in labels else [*labels, others]
        codes = np.where(codes < 0, labels.index(others), codes)
    return UserSegments(tuple(labels), codes)


def _columns_of(evaluation: EvaluationData) -> Iterator[tuple[str, pl.Series, pl.Series]]:
    """Yield the columns that divide users: name, users, values."""
    side_data, source = evaluation.side_data, evaluation.prepared.source
    if side_data.users is not None:
        for name in side_data.users.drop("user").columns:
            if _divides(side_data.users[name]):
                yield name, side_data.users["user"], side_data.users[name]
    if side_data.truth is None or source is None:
        return
    roles = {side_data.truth_user, *source.labels.values(), *source.truth_labels.values()}
    for name in columns_of(side_data.truth, "truth"):
        if name in roles:
            continue
        try:
            table = table_of(side_data.truth, "truth", {"user": side_data.truth_user, "value": name})
        except RecnbError:  # a column that holds no plain values
            continue
        if not _divides(table["value"]):
            continue
        per_user = table.group_by("user").agg(n=pl.col("value").n_unique(), value=pl.col("value").first())
        if (per_user["n"] == 1).all():
            ids = validation.ids(per_user.select("user", item=pl.lit(0)), "truth", {})
            yield str(name), ids["user"], per_user["value"]


def _divides(values: pl.Series) -> bool:
    """Whether a column gives segments: it has a few values, or many numbers."""
    if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
        return False
    n = values.n_unique()
    return n >= 2 if values.dtype.is_numeric() else 2 <= n <= MOST_SEGMENTS
