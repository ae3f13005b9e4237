"""The data of an explorer: models under a metric, the users that they have in common, and segments of these users."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import polars as pl

from recnb.data import table_of, validation
from recnb.data.columns import columns_of
from recnb.data.encoding import place_of, positions
from recnb.display.language import _
from recnb.errors import FrameError, RecnbError
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import Metric
from recnb.results.aggregation import cutoffs_under
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import WORKED_OUT, segments_of

#: A column gives a segment for each of its values if they are at most so many; more numbers are put into bins.
MOST_SEGMENTS = 30

T = TypeVar("T")


class Cache:
    """The values computed last, by key; of more than `size`, the least recently used one is dropped."""

    def __init__(self, size: int = 48) -> None:
        self._size = size
        self._values: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any, compute: Callable[[], T]) -> T:
        """Return the value of a key, computed if it is not there."""
        if key not in self._values:
            self._values[key] = compute()
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        self._values.move_to_end(key)
        value: T = self._values[key]
        return value


class MetricOfUsers:
    """A metric with its options, for each user of one model and any cut-off."""

    def __init__(self, evaluation: EvaluationData, metric: Metric[...], options: Mapping[str, Any]) -> None:
        scoring = evaluation.scoring(metric, options)
        self.evaluation, self.metric, self._given_options = evaluation, metric, dict(options)
        self.prepared = scoring.prepared
        self.options: dict[str, Any] = {**metric.defaults, **scoring.options}  #: a library's own among them
        self.basis = evaluation.basis_of_metric(scoring)
        # Of the whole lists, so that another cut-off needs no other join.
        self.hits = scoring.prepared.hits(None)
        self._cache = Cache(12)

    @property
    def users(self) -> pl.Series:
        """The users evaluated, sorted."""
        return self.prepared.users

    def values(self, k: int | None) -> Floats:
        """Return the metric of each user; NaN for one who is left out."""
        cutoffs = Cutoffs.one(k)
        return self._cache.get(
            ("value", k), lambda: self.evaluation.values(self.metric, cutoffs, self._given_options)[:, 0]
        )

    def n_hits(self, k: int | None) -> Floats:
        """Return the number of hits of each user; where ties are averaged, the expected number."""
        return self._cache.get(("hits", k), lambda: self.hits.total(self.hits.weight, self._cutoffs(k))[:, 0])

    def mean(self, k: int | None) -> float:
        """Return the mean, averaged as the convention does."""
        return float(self.evaluation.means(self.metric, Cutoffs.one(k), self._given_options)[0])

    def list_of(self, position: int) -> tuple[list[tuple[int, Any]], list[Any], list[float], Hits]:
        """Return a user's list as pairs of rank and item, the relevant items, their grades, and the hits."""

        def read() -> tuple[list[tuple[int, Any]], list[Any], list[float], Hits]:
            rows = self.prepared.rows.of(self.users[[position]]).sort("rank")
            truth = self.prepared.truth.filter(pl.col("user") == self.users[position])
            ranked = list(zip(rows["rank"].to_list(), rows["item"].to_list(), strict=True))
            return ranked, truth["item"].to_list(), truth["relevance"].to_list(), self.hits.of(position)

        return self._cache.get(("list", position), read)

    def depth(self, k: int | None, position: int) -> int:
        """Return how many ranks of a user's list count."""
        return int(self._cutoffs(k).depth(self.hits.list_length[[position]])[0, 0])

    def _cutoffs(self, k: int | None) -> Cutoffs:
        return cutoffs_under(self.prepared.convention, Cutoffs.one(k))


@dataclass(frozen=True, eq=False)
class CommonUsers:
    """The users that all models have in common, and their positions in each model."""

    users: pl.Series  #: sorted
    positions: tuple[Ints, ...]  #: per model
    sources: tuple[pl.Series, ...]  #: the users of each model

    @classmethod
    def of(cls, names: Sequence[str], models: Sequence[MetricOfUsers]) -> CommonUsers:
        """Find the users in common."""
        sources = tuple(model.users for model in models)
        users = sources[0]
        for name, other in zip(names, sources, strict=True):
            if other.dtype != users.dtype:
                raise FrameError(
                    f"the user ids of {names[0]!r} are such as {users[0]!r}, those of {name!r} such as {other[0]!r}: they "
                    "would never match. Make both text or both whole numbers."
                )
        for other in sources[1:]:
            if not other.equals(users):
                users = users.filter(pl.Series(positions(other, users) >= 0))
        if len(users) == 0:
            raise FrameError(
                f"{', '.join(map(repr, names))} have no user in common: evaluate them on the same users, or explore one at a time."
            )
        found = (np.arange(len(users)) if source.equals(users) else positions(source, users) for source in sources)
        return cls(users, tuple(found), sources)

    def are_of(self, models: Sequence[MetricOfUsers]) -> bool:
        """Whether these models have the same users as those that these were found in."""
        return all(model.users is source for model, source in zip(models, self.sources, strict=True))

    def are_all_of(self, model: int) -> bool:
        """Whether a model has no other users."""
        return len(self.users) == len(self.sources[model])

    @cached_property
    def texts(self) -> pl.Series:
        """The ids as text in lower case, to be searched."""
        return self.users.cast(pl.String).str.to_lowercase()

    def position(self, user: Any) -> int | None:
        """Return the position of a user, None for one who is not among them."""
        return place_of(user, self.users)


@dataclass(frozen=True, eq=False)
class UserSegments:
    """The segment of each user by one column."""

    column: str
    labels: tuple[str, ...]  #: sorted; the last may be that of users without a value
    codes: Ints  #: per user, the position of the label


class SegmentColumns:
    """The columns that divide users into segments: of the frame of users, and of the truth if constant per user.

    Numbers with many values, and the users' activity in train, are divided as by `ev.table(by=...)`.
    """

    def __init__(self, evaluations: Sequence[EvaluationData]) -> None:
        self._columns: dict[str, tuple[pl.Series, pl.Series]] = {}
        self._binned: dict[str, EvaluationData] = {}
        for evaluation in evaluations:
            for name, users, values in [*_columns_of_users(evaluation), *_columns_of_truth(evaluation)]:
                if name in self.names or not _divides(values):
                    continue
                if values.n_unique() <= MOST_SEGMENTS:
                    self._columns[name] = users, values
                else:
                    self._binned[name] = evaluation
        for evaluation in evaluations:
            if evaluation.side_data.train is not None:
                self._binned |= {name: evaluation for name in WORKED_OUT if name not in self.names}

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [*self._columns, *self._binned]

    def of(self, name: str, users: pl.Series) -> UserSegments:
        """Divide users by a column; those without a value are a segment of their own, the last."""
        if name in self._binned:
            segments = segments_of(self._binned[name], name)
            labels, codes, without = list(segments.names), segments.of(users), _("not known")
        else:
            known, values = self._columns[name]
            # As text on both sides: with a null, whole numbers would become floats.
            distinct = values.drop_nulls().unique().sort().cast(pl.String)
            row, code = positions(known, users), positions(distinct, values.cast(pl.String))
            labels, codes, without = distinct.to_list(), np.where(row >= 0, code[row], -1), _("none given")
        if (codes < 0).any():
            labels = labels if without in labels else [*labels, without]
            codes = np.where(codes < 0, labels.index(without), codes)
        return UserSegments(name, tuple(labels), codes)


def _columns_of_users(evaluation: EvaluationData) -> list[tuple[str, pl.Series, pl.Series]]:
    """Return the columns of the frame of users: name, users, values."""
    frame = evaluation.side_data.users
    if frame is None:
        return []
    return [(name, frame["user"], frame[name]) for name in frame.columns if name != "user"]


def _columns_of_truth(evaluation: EvaluationData) -> list[tuple[str, pl.Series, pl.Series]]:
    """Return the columns of the truth that have one value per user: name, users, values."""
    side_data, source = evaluation.side_data, evaluation.prepared.source
    if side_data.truth is None or source is None:
        return []
    roles = {side_data.truth_user, *source.labels.values(), *source.truth_labels.values()}
    columns = []
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
            columns.append((str(name), ids["user"], per_user["value"]))
    return columns


def _divides(values: pl.Series) -> bool:
    """Whether a column gives segments: it has a few values, or many numbers."""
    if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary):
        return False
    n = values.n_unique()
    return n >= 2 if values.dtype.is_numeric() else 2 <= n <= MOST_SEGMENTS
