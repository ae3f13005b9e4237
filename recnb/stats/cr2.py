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

    The variance is then a sum of squares over clusters g, of z_g = v_g (y_g - sum(p y)):
    y_g is the value of all lists of g, and v = p / sqrt(1 - p). Where values of clusters
    are independent with variance 1, C is the covariance matrix of z, clusters × clusters:

        C = diag(d) - u v' - v u' + s v v', with d = v², u = p v, s = sum(p²).

    Satterthwaite's degrees of freedom are trace(C)² / trace(C²), both of which are sums
    over clusters. Of clusters of one size they are n - 1.
    """
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
