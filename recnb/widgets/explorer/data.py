"""What an explorer looks at: models under a metric, the users they have in common, and the columns that part these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import presets
from recnb.data import table_of, validation
from recnb.data.columns import columns_of
from recnb.data.encoding import positions
from recnb.display.language import _
from recnb.errors import FrameError, RecnbError
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import METRICS, Metric
from recnb.results.aggregation import cutoffs_under
from recnb.results.segments import WORKED_OUT, segments_of

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: A column of words parts users if it has at most so many different values; numbers that are many go into groups.
PARTS = 30


T = TypeVar("T")


class Kept:
    """What was worked out lately, by key; of more than `most`, what was not asked for longest goes first."""

    def __init__(self, most: int = 48) -> None:
        self._most = most
        self._known: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any, make: Callable[[], T]) -> T:
        """What is kept under a key, made if it is not there."""
        if key not in self._known:
            self._known[key] = make()
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        value: T = self._known[key]
        return value


def key_of(options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Options as something to find them by."""
    return tuple(sorted((name, repr(value)) for name, value in options.items()))


class Look:
    """One model under one metric and its options: what every user got."""

    def __init__(self, evaluation: EvaluationData, metric: Metric[...], options: Mapping[str, Any]) -> None:
        self.evaluation = evaluation
        self.metric = metric
        self.given = dict(options)
        scoring = evaluation.scoring(metric, options)
        self.prepared = scoring.prepared
        self.options: dict[str, Any] = {**metric.defaults, **scoring.options}
        self.basis = evaluation.basis_of_metric(scoring)
        # The whole lists, so that no other cut-off makes the join be done again.
        self.hits = scoring.prepared.hits(None)
        self._kept = Kept(12)

    @property
    def users(self) -> pl.Series:
        """The users evaluated, sorted."""
        return self.prepared.users

    def values(self, k: int | None) -> Floats:
        """The metric of each user; NaN for one who is left out."""
        return self._kept.get(
            ("value", k), lambda: self.evaluation.values(self.metric, Cutoffs.one(k), self.given)[:, 0]
        )

    def found(self, k: int | None) -> Floats:
        """How many hits stand in the first k; where ties are averaged, how many are expected to."""
        return self._kept.get(("found", k), lambda: self.hits.total(self.hits.weight, self.cutoffs(k))[:, 0])

    def mean(self, k: int | None) -> float:
        """The mean as the convention makes it."""
        return float(self.evaluation.means(self.metric, Cutoffs.one(k), self.given)[0])

    def of_user(self, at: int) -> tuple[list[tuple[int, Any]], list[Any], list[float], Hits]:
        """One user's list by rank, relevant items with their grades, and hits: whatever k is."""

        def read() -> tuple[list[tuple[int, Any]], list[Any], list[float], Hits]:
            mine = pl.col("user") == self.users[at]
            places = self.prepared.rows.of(self.users[[at]]).sort("rank")
            truth = self.prepared.truth.filter(mine)
            ranked = list(zip(places["rank"].to_list(), places["item"].to_list(), strict=True))
            return ranked, truth["item"].to_list(), truth["relevance"].to_list(), self.hits.of(at)

        return self._kept.get(("user", at), read)

    def cutoffs(self, k: int | None) -> Cutoffs:
        """The cut-off as the convention takes it."""
        return cutoffs_under(self.prepared.convention, Cutoffs.one(k))

    def depth(self, k: int | None, at: int) -> int:
        """How many ranks of one user's list count."""
        return int(self.cutoffs(k).depth(self.hits.list_length[[at]])[0, 0])


class ExplorerModel:
    """One evaluation by its name, and each look that was taken at it."""

    def __init__(self, name: str, evaluation: EvaluationData) -> None:
        self.name = name
        self.evaluation = evaluation
        self._looks = Kept(12)

    def under(self, metric: Metric[...], options: Mapping[str, Any]) -> Look:
        """The model under a metric."""
        key = (metric.name, key_of(options))
        return self._looks.get(key, lambda: Look(self.evaluation, metric, options))

    @property
    def metrics(self) -> list[str]:
        """The metrics it can be looked at by: all, or those of the library whose conventions are in force."""
        library = self.evaluation.library
        return [name for name in METRICS if library is None or presets.of_metric(name, library)]

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        return max(1, int(self.evaluation.prepared.list_length.max(initial=0)))


@dataclass(frozen=True, eq=False)
class ExplorerUsers:
    """The users that all models have in common, and where each stands in every model."""

    users: pl.Series
    at: tuple[Ints | None, ...]  #: per model; None: as they are
    sources: tuple[pl.Series, ...]  #: the users of each model

    @classmethod
    def of(cls, names: Sequence[str], looks: Sequence[Look]) -> ExplorerUsers:
        """The users in common, sorted."""
        sources = tuple(look.users for look in looks)
        first = sources[0]
        for name, other in zip(names, sources, strict=True):
            if other.dtype != first.dtype:
                raise FrameError(
                    f"the user ids of {names[0]!r} are such as {first[0]!r}, those of {name!r} such as {other[0]!r}: they "
                    "would never match. Make both text or both whole numbers."
                )
        if all(other is first or other.equals(first) for other in sources):
            return cls(first, (None,) * len(sources), sources)
        shared = np.ones(len(first), dtype=bool)
        for other in sources[1:]:
            shared &= positions(other, first) >= 0
        users = first.filter(pl.Series(shared))
        if len(users) == 0:
            raise FrameError(
                f"{', '.join(map(repr, names))} have no user in common: evaluate them on the same users, or explore one at a time."
            )
        return cls(users, tuple(positions(other, users) for other in sources), sources)

    def is_of(self, looks: Sequence[Look]) -> bool:
        """Whether these looks are at the same users."""
        return all(look.users is known for look, known in zip(looks, self.sources, strict=True))

    def part(self, model: int, values: Any) -> Any:
        """A model's values of its users, for those in common."""
        at = self.at[model]
        return values if at is None else values[at]

    def position_in(self, model: int, at: int) -> int:
        """Where a user in common stands in a model."""
        known = self.at[model]
        return at if known is None else int(known[at])

    @cached_property
    def texts(self) -> pl.Series:
        """The ids as text in lower case, to be searched."""
        return self.users.cast(pl.String).str.to_lowercase()

    def position(self, user: Any) -> int | None:
        """Where a user stands, None if they are not there."""
        try:
            found = self.users.index_of(user)
        except (TypeError, pl.exceptions.PolarsError):
            return None
        return None if found is None else int(found)


@dataclass(frozen=True, eq=False)
class Parts:
    """The values of a column, and which of them each user has."""

    column: str
    labels: tuple[str, ...]  #: sorted; the last is of those who have none, if there are any
    codes: Ints  #: per user, which label


class ExplorerSegments:
    """The columns that part users: of the frame of users, and of the truth where a column is constant per user.

    Numbers with many values, and what users did in train, are parted as `ev.table(by=...)` parts them.
    """

    def __init__(self, evaluations: Sequence[EvaluationData]) -> None:
        self._columns: dict[str, tuple[pl.Series, pl.Series]] = {}
        self._grouped: dict[str, EvaluationData] = {}
        for evaluation in evaluations:
            for name, user, column in [*_of_users(evaluation), *_of_truth(evaluation)]:
                if name in self.names:
                    continue
                if _many(column):
                    self._grouped[name] = evaluation
                else:
                    self._columns[name] = (user, column)
        for evaluation in evaluations:
            if evaluation.side_data.train is not None:
                self._grouped |= {name: evaluation for name in WORKED_OUT if name not in self.names}

    @property
    def names(self) -> list[str]:
        """The columns there are."""
        return [*self._columns, *self._grouped]

    def of(self, name: str, users: pl.Series, none: str) -> Parts:
        """The parts of users by a column; `none` is what those without a value are called."""
        if name in self._grouped:
            found = segments_of(self._grouped[name], name)
            return _parted(name, found.names, found.of(users), _("not known"))
        user, column = self._columns[name]
        distinct = column.drop_nulls().unique().sort().cast(pl.String)
        row = positions(user, users)
        # As text on both sides: a null among whole numbers would make floats of them.
        codes_of_rows = positions(distinct, column.cast(pl.String))
        codes = np.where(row >= 0, codes_of_rows[row], -1)
        return _parted(name, [str(one) for one in distinct.to_list()], codes, none)


def _parted(name: str, labels: Sequence[str], codes: Ints, none: str) -> Parts:
    """Parts of users; those without one are a part of their own, the last."""
    if (codes < 0).any():
        labels = labels if none in labels else [*labels, none]
        codes = np.where(codes < 0, list(labels).index(none), codes)
    return Parts(name, tuple(labels), codes)


def _of_users(evaluation: EvaluationData) -> list[tuple[str, pl.Series, pl.Series]]:
    frame = evaluation.side_data.users
    if frame is None:
        return []
    return [(name, frame["user"], frame[name]) for name in frame.columns if name != "user" and _parts(frame[name])]


def _of_truth(evaluation: EvaluationData) -> list[tuple[str, pl.Series, pl.Series]]:
    known, source = evaluation.side_data, evaluation.prepared.source
    if known.truth is None or source is None:
        return []
    roles = {known.truth_user, *source.labels.values(), *source.truth_labels.values()}
    found = []
    for name in columns_of(known.truth, "truth"):
        if name in roles:
            continue
        try:
            table = table_of(known.truth, "truth", {"user": known.truth_user, "value": name})
        except RecnbError:  # a column that is no plain value parts nobody
            continue
        if not _parts(table["value"]):
            continue
        per_user = table.group_by("user").agg(n=pl.col("value").n_unique(), value=pl.col("value").first())
        if (per_user["n"] == 1).all():
            ids = validation.ids(per_user.select("user", item=pl.lit(0)), "truth", {})
            found.append((str(name), ids["user"], per_user["value"]))
    return found


def _parts(column: pl.Series) -> bool:
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        return False
    return 2 <= column.n_unique() <= PARTS or _many(column)


def _many(column: pl.Series) -> bool:
    """Whether a column is of numbers with too many values to be a part each."""
    return column.dtype.is_numeric() and column.n_unique() > PARTS
