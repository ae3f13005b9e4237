"""What a task of an engine does with its part: read the rows of some users, and call a function of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import Facts, Frame, Layout, Part, table_of, validation
from recnb.errors import FrameError, OptionError
from recnb.evaluate import ParsedOptions
from recnb.metrics.metric import Metric
from recnb.results.provenance import Basis
from recnb.results.values import Request, Values, values_of
from recnb.stats import Moments

T = TypeVar("T")

#: The column that holds the place of each row before an engine moved it, so that equal scores keep the order they had.
ROW = "recnb_row"

#: The column of the bucket that an engine puts each user into.
BUCKET = "recnb_bucket"


def check_npartitions(npartitions: object) -> None:
    """Refuse what is no number of parts."""
    if npartitions is not None and not (isinstance(npartitions, int) and npartitions >= 1):
        raise OptionError(f"npartitions={npartitions!r} is no number of parts: give a whole number from 1 up.")


def call(work: Callable[[Part], T], recs: Frame, truth: Frame, layout: Layout) -> T:
    """Call a function of a part; columns of its rows are named by role, and either side may have none."""
    return work(read_part(recs, truth, layout))


def read_part(recs: Frame, truth: Frame, layout: Layout) -> Part:
    """Read the rows of some users."""
    return Part.of(
        _rows(recs, "recommendations", layout.recs_read, layout.recs),
        _rows(truth, "truth", layout.truth, layout.truth),
        layout,
    )


def _rows(frame: Frame, name: str, roles: Mapping[str, str], labels: Mapping[str, str]) -> pl.DataFrame:
    table = table_of(frame, name, {role: role for role in (*roles, ROW)}).sort(ROW).drop(ROW)
    if table.height == 0:
        return table
    # A missing id is described by the other ids of its row.
    for role, other in (("user", "item"), ("item", "user")):
        if (missing := validation.is_missing(table[role])).any():
            raise FrameError(
                f"{name}: column {labels[role]!r} has missing {role} ids, such as that beside {other} "
                f"{table[other].filter(missing)[0]!r}. Drop those rows: frame.dropna(subset=[{labels[role]!r}])."
            )
    return validation.ids(table, name, labels)


@dataclass(frozen=True, eq=False)
class MetricSums:
    """One metric, over some users: what its means and their intervals need, which adds up with that of other users."""

    moments: tuple[Moments, ...]  #: by cut-off
    basis: Basis
    convention: Convention  #: with the metric's options

    @classmethod
    def of(cls, found: Values, scale: float | None) -> MetricSums:
        """Sum up the values of users; `scale` is the highest relevance of all users, for a metric that takes it."""
        assert isinstance(found.basis, Basis)
        columns = zip(found.matrix.T, ~np.isnan(found.matrix).T, strict=True)
        moments = (Moments.of(values[kept, np.newaxis], found.metric.bounds) for values, kept in columns)
        basis = found.basis if found.basis.scale is None else replace(found.basis, scale=scale)
        return cls(tuple(moments), basis, found.convention)

    def __add__(self, other: MetricSums) -> MetricSums:
        moments = tuple(mine + theirs for mine, theirs in zip(self.moments, other.moments, strict=True))
        users, without_list, without_relevant = np.add(self.basis.counts, other.basis.counts).tolist()
        notes = tuple(dict.fromkeys((*self.basis.notes, *other.basis.notes)))
        basis = replace(self.basis, counts=(users, without_list, without_relevant), notes=notes)
        return MetricSums(moments, basis, self.convention)


@dataclass(frozen=True, eq=False)
class Sums:
    """Several metrics over some users."""

    metrics: tuple[MetricSums, ...]
    facts: Facts
    n_users: int  #: evaluated
    n_relevant: int  #: pairs of one of these and a relevant item
    convention: Convention  #: of the data

    @classmethod
    def of(cls, requests: Sequence[Request], given: ParsedOptions, scale: float | None, part: Part) -> Sums:
        """Evaluate a part, and sum up."""
        data = given.data(part.source)
        found = []
        for metric, k, options in requests:
            values = values_of(data, metric, k, options)
            if takes_scale(metric, values.options):
                # Where nothing is relevant, the data have no scale, and need none.
                of_all = values_of(data, metric, k, {**options, "max_relevance": scale or None})
                values = replace(values, matrix=of_all.matrix)
            found.append(MetricSums.of(values, scale))
        return cls(tuple(found), part.facts, data.n_users, data.counts.n_relevant, data.convention)

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            metrics=tuple(mine + theirs for mine, theirs in zip(self.metrics, other.metrics, strict=True)),
            facts=self.facts + other.facts,
            n_users=self.n_users + other.n_users,
            n_relevant=self.n_relevant + other.n_relevant,
            convention=self.convention,
        )


def takes_scale(metric: Metric[...], options: Mapping[str, Any]) -> bool:
    """Say whether a metric with these options uses the highest relevance of all users."""
    return {"max_relevance": 0, **metric.defaults, **options}["max_relevance"] is None


def highest(given: ParsedOptions, part: Part) -> float:
    """Return the highest relevance in the truth of a part."""
    return given.data(part.source).prepared.max_relevance
