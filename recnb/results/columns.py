"""A column: one metric at one cut-off, with the values of all models.

In a split a list's id stands where a user's does: `users` are then lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from recnb.errors import FrameError
from recnb.metrics.hits import Bools, Cutoffs, Floats, Ints, cached_property
from recnb.metrics.measure import Measure
from recnb.metrics.recommendation_lists import Whole
from recnb.results.arguments import Asked
from recnb.results.evaluation_data import Models
from recnb.results.scoring import values_of
from recnb.results.values import Basis, Values, WordedBasis, interval_of_all
from recnb.stats import Clusters, Moments


@dataclass(frozen=True, eq=False)
class Column:
    """A metric at one cut-off: users with a value in every model, and their values.

    A metric that is one number of all lists has no values of users: its column has the
    numbers themselves, in `known` and `of_all`.

    |                       | `users`              | `n_users`      | `n_lists`    |
    |-----------------------|----------------------|----------------|--------------|
    | each user has a list  | users                | of `users`     | None         |
    | in a split            | lists                | clusters       | of `users`   |
    | with `cluster=`       | users                | clusters       | of `users`   |
    | number of all lists   | those with a list    | of `users`     | None         |

    A cluster is a user with all lists, or the users of one value of `cluster=`. What is
    drawn at random is a cluster, so `n_users` is the size of the sample.
    """

    name: str  #: of the metric, as it is asked for
    measure: Measure  #: the metric with its options, and its bounds under them
    k: int | None
    users: pl.Series  #: users, or ids of lists; see above
    values: Floats  #: users × models; without rows of a number of all lists
    weights: Floats | None  #: of the users; None: all count the same
    bases: Sequence[Basis | WordedBasis]  #: what the number of each model rests on
    #: The mean of each model over all its users, where no user of one is left out for
    #: another; None: it is to be computed from the values.
    known: Floats | None = None
    of_all: Sequence[Whole] = ()  #: the number of all lists, of each model
    #: The clusters of the users; None: each is drawn by itself.
    clusters: Clusters | None = None
    cluster: str = ""  #: the column whose values are clusters; "" of users
    #: Of a number of all lists, by model, a code for each user with a list.
    clusters_of_all: Sequence[Callable[[], Ints | None]] = ()
    part: int = 0  #: the part of the division that it is of; set by the division
    whole: Column | None = None  #: of a segment, the column of all users; see `among`
    inside: Bools | None = None  #: which users of that one are in the segment

    @property
    def n_users(self) -> int:
        """The number of users or clusters that are drawn at random."""
        return len(self.users) if self.clusters is None else self.clusters.n

    @property
    def n_lists(self) -> int | None:
        """The number of lists in clusters; None where each is drawn by itself."""
        return None if self.clusters is None else len(self.users)

    def among(self, inside: Bools) -> Column:
        """Return the column of a segment, which knows that of all users."""
        return replace(self.of_users(inside), whole=self, inside=inside)

    def of_users(self, inside: Bools) -> Column:
        """Return the column of some of its users."""
        return replace(
            self,
            users=self.users.filter(pl.Series(inside)),
            values=_rows_of_users(self.values, inside),
            weights=None if self.weights is None else self.weights[inside],
            clusters=None if self.clusters is None else self.clusters.among(inside),
            known=None,
        )

    @cached_property
    def _moments(self) -> Moments:
        return Moments.of(self.values, self.measure.bounds, self.weights, self.clusters)

    @property
    def mean(self) -> Floats:
        """The number of each model; NaN without a user."""
        if self.known is not None:
            return self.known
        if not len(self.values):
            return np.full(self.values.shape[1], np.nan)
        return self._moments.mean

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the interval of each number; NaN where there is none."""
        if not self.of_all:
            return self._moments.interval(confidence)
        numbers = zip(self.of_all, self.clusters_of_all, strict=True)
        ends = [
            interval_of_all(number, confidence, clusters)
            for number, clusters in numbers
        ]
        low, high = np.array(ends, dtype=np.float64).T
        return low, high


def metric_columns(models: Models, asked: Asked, cutoffs: Cutoffs) -> Iterator[Column]:
    """Compute a metric of every model, and give a column for each cut-off."""
    name, measure = asked
    metric = measure.metric
    if metric.needs:
        check_side_data(models)
    of_models = [values_of(model, measure, cutoffs) for model in models.values()]
    if metric.of == "all":
        yield from _columns_of_all(name, of_models)
        return
    users = users_in_common([values.users for values in of_models])
    first = next(iter(models.values()))
    weights = first.source.weight_of(users)
    clusters = Clusters.of(first.clusters_of(users))
    matrices = [_rows_of(values, users) for values in of_models]
    counts = [_n_values(values) for values in of_models]
    for index, cutoff in enumerate(cutoffs):
        column = Column(
            name=name,
            measure=of_models[0].measure,
            k=cutoff,
            users=users,
            values=_values_at(index, matrices),
            weights=weights,
            clusters=clusters,
            cluster=first.side_data.cluster or "",
            bases=[values.basis for values in of_models],
        )
        column = _of_users_with_values(column)
        # The column has fewer users than a model has values where some of its users
        # have none in another model; where it has as many, the mean is that of `Values`.
        most_values = max(count[index] for count in counts)
        if most_values == len(column.users):
            known = np.array([values.mean[index] for values in of_models])
            column = replace(column, known=known)
        yield column


def _of_users_with_values(column: Column) -> Column:
    """Leave out users who have no value in some model."""
    is_missing = np.isnan(column.values)
    if not is_missing.any():
        return column
    lacks_value = is_missing.any(axis=1)
    return column.of_users(np.logical_not(lacks_value))


def _n_values(values: Values) -> Sequence[int]:
    """Count the users who have a value, by cut-off."""
    if not np.isnan(values.matrix).any():  # as a rule, and quicker than to count them
        return [len(values.users)] * len(values.k)
    counts: list[int] = values.n_users.tolist()
    return counts


def _values_at(index: int, matrices: Sequence[Floats]) -> Floats:
    """Return the values at one of the cut-offs, users × models."""
    if len(matrices) == 1:
        return matrices[0][:, index : index + 1]
    # The values of a model lie together in memory, so that a sum does not depend on the
    # models beside it.
    stacked: Floats = np.stack([matrix[:, index] for matrix in matrices]).T
    return stacked


def _rows_of_users(values: Floats, inside: Bools) -> Floats:
    """Return the rows of some users; those of a model lie together as before."""
    rows: Floats = np.compress(inside, values.T, axis=1).T
    return rows


def _rows_of(values: Values, users: pl.Series) -> Floats:
    """Return the values of some users, who stand in one order everywhere."""
    if len(values.users) == len(users):
        return values.matrix
    rows: Floats = values.matrix[values.users.is_in(users.implode()).to_numpy()]
    return rows


def _columns_of_all(name: str, of_models: Sequence[Values]) -> Iterator[Column]:
    """Give a column for each cut-off of a metric that is one number of all lists."""
    first = of_models[0]
    for index, cutoff in enumerate(first.k):
        yield Column(
            name=name,
            measure=first.measure,
            k=cutoff,
            users=first.users,
            values=np.zeros((0, len(of_models))),
            weights=None,
            bases=[values.basis for values in of_models],
            known=np.array([values.mean[index] for values in of_models]),
            of_all=[values.of_all[index] for values in of_models],
            clusters_of_all=[values.clusters for values in of_models],
        )


def users_in_common(users_of_each: Sequence[pl.Series]) -> pl.Series:
    """Return the users of all models, in the order that the first has them."""
    users, *others = users_of_each
    for other in others:
        if not users.equals(other):
            users = users.filter(users.is_in(other.implode()))
    return users


def check_side_data(models: Models) -> None:
    """Refuse metrics of side data that are not the same for all models."""
    (first, ours), *others = models.items()
    for role, (name, theirs) in product(("train", "items"), others):
        frame, other = getattr(ours.side_data, role), getattr(theirs.side_data, role)
        if frame is None or other is None:
            continue
        if frame is other or same_rows(frame, other):
            continue
        problem = (
            f"{first!r} and {name!r} have different {role}=, of which this metric "
            f"is made, so the difference would be that of {role}=:"
        )
        fix = (
            f"give compare() one {role}= and frames of "
            f"recommendations, or evaluate both with the same."
        )
        raise FrameError(f"{problem} {fix}")


def same_rows(table: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Return whether two tables have the same rows, in whatever order."""
    if table.columns != other.columns:
        return False
    rows = np.sort(table.hash_rows().to_numpy())
    return np.array_equal(rows, np.sort(other.hash_rows().to_numpy()))
