"""CR2: the variance of a mean of lists in clusters of unequal sizes, without weights.

Bell and McCaffrey, Survey Methodology 28 (2002); Imbens and Kolesár, Review of Economics
and Statistics 98 (2016). `shares` are p: the part of all lists that each cluster has.
"""

from __future__ import annotations

import numpy as np

from recnb.stats.means import Floats


def variance_of_mean(deviations: Floats, shares: Floats) -> Floats:
    """Return the variance of the mean of each column, from deviations of clusters.

    A cluster pulls the mean to itself, which 1 / (1 - p) makes up for.
    """
    of_clusters = deviations / len(shares)
    rest = 1 - shares
    variance: Floats = (np.square(of_clusters) / rest[:, np.newaxis]).sum(axis=0)
    return variance


def degrees_of_freedom(shares: Floats) -> float:
    """Return the degrees of freedom if the lists of a cluster are alike.

    The variance is then a sum of squares over clusters, of z = v (y - sum(p y)): y is the
    value of all lists of a cluster, and v = p / sqrt(1 - p). Where values of clusters
    are independent with variance 1, z has the covariance matrix

        C = diag(v²) + R,  R = s v v' - u v' - v u',  with u = p v and s = sum(p²).

    Satterthwaite's degrees of freedom are trace(C)² / trace(C²). Of clusters of one size
    they are n - 1.
    """
    s = float(np.square(shares).sum())
    v = shares / np.sqrt(1 - shares)
    u = shares * v
    # C is clusters × clusters, and is not made. R is W K W', of which W has two columns.
    w = np.column_stack([u, v])
    k = np.array([[0.0, -1.0], [-1.0, s]])
    r_diagonal = ((w @ k) * w).sum(axis=1)
    product = k @ (w.T @ w)  # 2 × 2; its square has the trace of R²
    trace = float((v**2 + r_diagonal).sum())
    trace_of_square = float((v**4 + 2 * v**2 * r_diagonal).sum())
    trace_of_square += float((product @ product).trace())
    return trace**2 / trace_of_square
