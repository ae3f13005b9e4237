"""Clusters: lists that are no sample by themselves, such as those of one user.

A clustered sample is a sample of G cluster values. Of N lists with values x and mean m,
a cluster has the value m + G / N * (the sum of x - m over its lists). The mean of these
values is m, and their variance divided by G is the variance of the mean of the lists. Of
lists with weights w, the sum is of w (x - m), and N is the sum of w.

Differences without weights have the variance CR2 and its degrees of freedom, which are
made for clusters of unequal sizes (Bell and McCaffrey, Survey Methodology 28, 2002;
Imbens and Kolesár, Review of Economics and Statistics 98, 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each list."""

    codes: Ints  #: by list, the position of its cluster
    #: The lists, those of a cluster side by side; and where each cluster begins.
    order: Ints
    starts: Ints

    @classmethod
    def of(cls, codes: NDArray[np.int64] | None) -> Self | None:
        """Group lists by a code for each; None where each list is its own cluster.

        Of the codes 7, 2 and 7 the positions are 1, 0 and 1, the order is 1, 0 and 2, and
        the starts are 0 and 1.
        """
        if codes is None:
            return None
        distinct, positions = np.unique(codes, return_inverse=True)
        if len(distinct) == len(codes):
            return None
        # In a browser numpy's positions have 32 bits.
        positions = positions.astype(np.int64)
        order = np.argsort(positions, kind="stable")
        starts = np.searchsorted(positions[order], np.arange(len(distinct)))
        return cls(positions, order, starts)

    @property
    def n(self) -> int:
        """The number of clusters."""
        return len(self.starts)

    def among(self, inside: Bools) -> Self | None:
        """Return the clusters of some of the lists."""
        return self.of(self.codes[inside])

    def sums(self, values: Floats) -> Floats:
        """Sum up lists, or lists × columns, by cluster."""
        sums: Floats = np.add.reduceat(values[self.order], self.starts, axis=0)
        return sums

    def count(self, chosen: Bools) -> Floats:
        """Count the clusters with a list that is chosen, in each column.

        The counts are floats, as effective numbers (`n_off`) are, which they stand beside.
        """
        is_chosen = np.logical_or.reduceat(chosen[self.order], self.starts, axis=0)
        return np.asarray(np.count_nonzero(is_chosen, axis=0), dtype=np.float64)

    def n_off(
        self,
        values: Floats,
        bound: float | Floats,
        weights: Floats | None = None,
    ) -> Floats:
        """Return the effective number of clusters off a bound, by column.

        `values` are lists × columns.

        The distance of a cluster is that of its lists, summed up. If all clusters that
        are off the bound have the same distance, it is their number; if a few have most
        of it, it is lower.
        """
        distances = np.abs(values - bound)
        if weights is not None:
            distances = weights[:, np.newaxis] * distances
        return _effective_number(self.sums(distances))

    def shares(self, weights: Floats | None = None) -> Floats:
        """Return how much of all weight each cluster has; of all lists without."""
        if weights is None:
            weights = np.ones(len(self.codes))
        shares: Floats = self.sums(weights) / weights.sum()
        return shares

    def deviations(
        self, values: Floats, mean: Floats, weights: Floats | None = None
    ) -> Floats:
        """Return how far the value of each cluster is from the mean, in each column."""
        deviations = values - mean
        total = float(len(values))
        if weights is not None:
            deviations = weights[:, np.newaxis] * deviations
            total = float(weights.sum())
        return self.n / total * self.sums(deviations)

    def corrected_variance(self, deviations: Floats) -> Floats:
        """Return the variance CR2 of the mean of the lists in each column.

        `deviations` are those of `deviations`. A cluster that has a share p of all lists
        pulls the mean to itself, which 1 / (1 - p) makes up for.
        """
        of_clusters = deviations / self.n
        rest = 1 - self.shares()
        variance: Floats = (np.square(of_clusters) / rest[:, np.newaxis]).sum(axis=0)
        return variance

    def degrees_of_freedom(self) -> float:
        """Return the degrees of freedom of CR2 if the lists of a cluster are alike.

        They are trace(C)² / trace(C²) of C = diag(d) - u v' - v u' + s v v', whose
        products are sums over clusters. Of clusters of one size they are n - 1.
        """
        shares = self.shares()
        squares = np.square(shares)
        s = float(squares.sum())
        d = squares / (1 - shares)
        u = squares / np.sqrt(1 - shares)
        v = shares / np.sqrt(1 - shares)
        diagonal = s * v**2 - 2 * u * v
        uu, uv, vv = float(u @ u), float(u @ v), float(v @ v)
        trace = float((d + diagonal).sum())
        of_rest = 2 * uu * vv + 2 * uv**2 + s**2 * vv**2 - 4 * s * uv * vv
        trace_of_square = float(d @ d + 2 * d @ diagonal) + of_rest
        return trace**2 / trace_of_square


def _effective_number(sizes: Floats) -> Floats:
    """Return (sum t)² / sum t² of the sizes t in each column (Kish 1965).

    It is 0 if all sizes are 0, and the number of sizes if their squares are infinite, as
    all distances from a bound at infinity are, or too small for a float.
    """
    total = sizes.sum(axis=0)
    squares = np.square(sizes).sum(axis=0)
    has_quotient = np.isfinite(squares) & (squares > 0)
    number: Floats = np.full(sizes.shape[1], float(len(sizes)))
    np.divide(total**2, squares, out=number, where=has_quotient)
    # Of ten equal sizes floats may give a little less than 10, which is a limit.
    number = np.round(number, 9)
    return np.where(total == 0, 0.0, number)
