"""The sample that values are of: users, or lists that are drawn together.

Lists of one user are no sample by themselves. A clustered sample is a sample of G
cluster values: of N lists with values x and mean m, a cluster has the value
m + G / N * (the sum of x - m over its lists). The mean of these values is m, and their
variance divided by G is the variance of the mean of the lists. Of lists with weights w,
the sum is of w (x - m), and N is the sum of w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recnb.caching import cached_property
from recnb.stats.cr2 import degrees_of_freedom
from recnb.stats.means import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class UserSample:
    """Users, who may have weights, or lists in clusters.

    What is drawn at random is a unit: a user, or a cluster with all its lists. Lists
    with the codes 7, 2 and 7 are two units, of which the second has two lists:

        list       0   1   2         lists, side by side   1 | 0   2
        code       7   2   7         a unit begins at      0   1
        position   1   0   1
    """

    size: int  #: the number of users, or of lists: that of values
    weights: Floats | None = None  #: by value; None: all count the same
    #: By list, a code that is the same within a cluster; None: each is drawn by itself.
    codes: Ints | None = None
    cluster: str = ""  #: the column whose values are clusters; "" of users

    def among(self, inside: Bools) -> UserSample:
        """Return the sample of some of the values."""
        weights = None if self.weights is None else self.weights[inside]
        codes = None if self.codes is None else self.codes[inside]
        return UserSample(int(inside.sum()), weights, codes, self.cluster)

    # How much is drawn

    @cached_property
    def positions(self) -> Ints | None:
        """By list, the position of its cluster; None if each is its own."""
        if self.codes is None:
            return None
        distinct, positions = np.unique(self.codes, return_inverse=True)
        return None if len(distinct) == self.size else positions

    @property
    def is_clustered(self) -> bool:
        """Whether some cluster has several lists."""
        return self.positions is not None

    @cached_property
    def n_units(self) -> int:
        """The number of users, or of clusters."""
        if self.positions is None:
            return self.size
        return int(self.positions.max()) + 1

    @property
    def n_lists(self) -> int | None:
        """The number of lists in clusters; None where each is drawn by itself."""
        return self.size if self.is_clustered else None

    @property
    def counted(self) -> dict[str, Any]:
        """The units by the name that results have, with lists and cluster if it has some."""
        counted: dict[str, Any] = {"n_users": self.n_units}
        if self.n_lists is not None:
            counted["n_lists"] = self.n_lists
        if self.cluster:
            counted["cluster"] = self.cluster
        return counted

    @cached_property
    def n_effective(self) -> float:
        """The effective number of units: of users with weights that of Kish (1965).

        That is how many users of equal weight show as much.
        """
        if self.is_clustered or self.weights is None or self.size == 0:
            return float(self.n_units)
        number = self._total**2 / np.square(self.weights).sum()
        # Of ten equal weights floats may give a little less than 10, which is a limit.
        return round(float(number), 12)

    @cached_property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of a test of the mean; of clusters those of CR2."""
        if not self.has_cr2:
            return self.n_effective - 1
        return degrees_of_freedom(self.shares)

    @property
    def has_cr2(self) -> bool:
        """Whether differences have the variance CR2: of several clusters without weights."""
        return self.is_clustered and self.n_units > 1 and self.weights is None

    # Weights

    @cached_property
    def _total(self) -> float:
        """The weight of all values."""
        return float(self.size if self.weights is None else self.weights.sum())

    @cached_property
    def shares(self) -> Floats:
        """The share of each unit of all weight."""
        weights = np.ones(self.size) if self.weights is None else self.weights
        return self.by_unit(weights) / self._total

    @cached_property
    def heaviest(self) -> float:
        """The share of the heaviest unit of all weight."""
        if not self.is_clustered and self.weights is None:
            return 1 / self.n_effective  # each user weighs 1, and all together n
        return float(self.shares.max())

    @cached_property
    def excess(self) -> float:
        """The share of the heaviest unit beyond an equal one; 0 without weights.

        If a user has 0.3 of all weight and the effective number is 5, an equal share is
        0.2 and the excess 0.1.
        """
        if self.weights is None:
            return 0.0
        return max(self.heaviest - 1 / self.n_effective, 0.0)

    # Values by unit

    @cached_property
    def _clusters(self) -> tuple[Ints, Ints]:
        """The lists, those of a cluster side by side; and where each cluster begins."""
        assert self.positions is not None
        order = np.argsort(self.positions, kind="stable")
        starts = np.searchsorted(self.positions[order], np.arange(self.n_units))
        return order, starts

    def by_unit(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum up values, or values × columns, by unit."""
        if self.positions is None:
            return values
        order, starts = self._clusters
        sums: NDArray[Any] = np.add.reduceat(values[order], starts, axis=0)
        return sums

    def weighed(self, values: NDArray[Any]) -> Floats:
        """Sum up values × columns by unit, each times its weight."""
        if self.weights is not None:
            values = self.weights[:, np.newaxis] * values
        return self.by_unit(values)

    def deviations(self, values: Floats, mean: Floats) -> Floats:
        """Return how far the value of each unit is from the mean, in each column."""
        deviations = self.weighed(values - mean)
        deviations *= self.n_effective / self._total
        return deviations

    def count(self, chosen: Bools) -> Floats:
        """Count the units with a value that is chosen, in each column.

        Of users with weights it is the effective number. Counts are floats, as effective
        numbers are, which they stand beside.
        """
        if not self.is_clustered and self.weights is not None:
            return _effective_number(self.weighed(chosen))
        n_chosen = np.count_nonzero(self.by_unit(chosen), axis=0)
        return np.asarray(n_chosen, dtype=np.float64)

    def n_off(self, distances: Floats) -> Floats:
        """Return the effective number of units off a bound, in each column.

        `distances` are those of values from the bound. The distance of a cluster is the
        sum of those of its lists: if all clusters off the bound are equally far, they are
        counted; if a few are by far the furthest, the number is lower.
        """
        if not self.is_clustered:
            return self.count(distances > 0)
        return _effective_number(self.weighed(np.abs(distances)))


def _effective_number(sizes: Floats) -> Floats:
    """Return sum(t)² / sum(t²) of the sizes t in each column (Kish 1965).

    Of sizes that are all alike it is the number of those that are not 0.
    """
    total = sizes.sum(axis=0)
    squares = np.square(sizes).sum(axis=0)
    number = np.full(len(total), float(len(sizes)))
    number[total == 0] = 0.0
    # Squares may be infinite, as all distances from a bound at infinity are, or too
    # small for a float: then the sizes count as alike.
    has_quotient = np.isfinite(squares) & (squares > 0)
    np.divide(total**2, squares, out=number, where=has_quotient)
    # As in `n_effective`, but distances are differences, which round more than weights.
    return np.round(number, 9)
