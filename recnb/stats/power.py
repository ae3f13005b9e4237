"""Power: the difference that users can show, the users that a difference needs."""

from __future__ import annotations

import math
from typing import Self

import numpy as np

from recnb.display.language import _
from recnb.display.text import sample_in_words
from recnb.errors import OptionError, is_number, quoted
from recnb.stats.clusters import Clusters
from recnb.stats.intervals import ENOUGH, Moments, effective_count
from recnb.stats.means import Floats
from recnb.stats.paired import settled

#: The correlation of two models' values per user, assumed if it is not measured.
#: Between a neighbourhood model, a factor model and the most popular items it is 0.3 to
#: 0.8, on the bundled sample and on MovieLens 100K, for ndcg, precision, recall, hit
#: rate, reciprocal rank and average precision at 10; this is the low end.
CORRELATION = 0.3


class Detectable(float):
    """The smallest difference of two models that users can show, with its assumptions.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> smallest = ev.detectable("ndcg", k=10)
    >>> round(float(smallest), 4), recnb.users_needed(0.01, smallest)
    (0.0376, 3695)
    """

    label: str  #: metric and cut-off
    n_users: int  #: or values of `cluster=`
    n_lists: int | None  #: None where each user has one
    cluster: str  #: the column whose values are the sample; "" of users
    sd: float  #: standard deviation of the differences of users
    words: str  #: the number in a sentence, with its assumptions

    @classmethod
    def of(
        cls,
        label: str,
        values: Floats,
        others: Floats | None,
        power: float,
        alpha: float,
        weights: Floats | None,
        clusters: Clusters | None = None,
        cluster: str = "",
    ) -> Self:
        """Compute it from the values of users, and those of another model.

        Without these, the other has the same variance and an assumed correlation.
        `cluster` is the column that makes the clusters, if users do not.
        """
        is_measured = others is not None
        factor = 1.0 if is_measured else math.sqrt(2 * (1 - CORRELATION))
        baseline = values.min() if others is None else others
        differences = settled(values - baseline)
        moments = Moments.of(
            differences[:, np.newaxis], weights=weights, clusters=clusters
        )
        sd = factor * float(moments.sd[0])
        reach = factor * float(np.maximum(*moments.reach)[0])
        difference = detectable(sd, moments.n, power, alpha) + reach
        # So few do not show how far others would differ.
        if effective_count(differences != 0, weights, clusters) < ENOUGH:
            difference = math.nan
        self = cls(difference)
        self.label = label
        self.n_users = len(values) if clusters is None else clusters.n
        self.n_lists = None if clusters is None else len(values)
        self.cluster = cluster
        self.sd = sd
        self.words = self._in_words(power, alpha, is_measured=is_measured)
        return self

    def _in_words(self, power: float, alpha: float, *, is_measured: bool) -> str:
        """Return the number in a sentence, with its assumptions."""
        users = sample_in_words(self.n_users, self.n_lists, self.cluster)
        if math.isnan(self):
            return _(
                "With {users}, or with differences that hardly vary, the "
                "detectable difference in {label} cannot be estimated.",
                users=users,
                label=self.label,
            )
        shown = _(
            "A true difference of {difference:.4f} in {label} is found over "
            "{users} with a chance of {power:.0%} (paired t test at "
            "{alpha:g}); a smaller one will more often be missed.",
            difference=float(self),
            label=self.label,
            users=users,
            power=power,
            alpha=alpha,
        )
        if is_measured:
            spread = _(
                "The differences spread by {sd:.4f}, as measured between the two models.",
                sd=self.sd,
            )
        else:
            spread = _(
                "Assumed, not measured: another model whose values have "
                "a correlation of {correlation:g} with these, so that the "
                "differences spread by {sd:.4f}; against= another evaluation "
                "measures it.",
                correlation=CORRELATION,
                sd=self.sd,
            )
        return f"{shown} {spread}"

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{float(self):.4f} ({self.words})"


def detectable(sd: float, n: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest true difference that a two-sided paired test finds.

    It is in units of the metric, found with a given power; `sd` is the standard
    deviation of the differences of `n` users. NaN if it is 0, or below 10 users, which
    are not tested. Of 20 users the t test has a power of 0.75 where 0.8 is asked for.
    """
    errors = _errors(power, alpha)
    if not sd > 0 or n < ENOUGH:
        return math.nan
    return errors * sd / math.sqrt(n)


def users_needed(
    difference: float, sd: float | Detectable, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return the number of users that a paired test needs to find a true difference.

    The test of means is two-sided; it needs at least 10.

    Parameters
    ----------
    difference : float
        The true difference, in units of the metric.
    sd : float or Detectable
        The standard deviation of the differences of users, a number or the result of
        `ev.detectable("ndcg", k=10)`.
    power : float, default 0.8
        The chance of finding the difference.
    alpha : float, default 0.05
        The level of the test.

    Returns
    -------
    int
        The number of users.

    Examples
    --------
    >>> import recnb
    >>> recnb.users_needed(0.02, sd=0.3), recnb.users_needed(0.01, sd=0.3)
    (1766, 7064)
    """
    errors = _errors(power, alpha)
    spread = sd.sd if isinstance(sd, Detectable) else sd
    if not (is_number(spread) and spread > 0):
        raise OptionError(
            f"sd={quoted(spread)} is no standard deviation of differences: give a "
            "number above 0, or ev.detectable('ndcg', k=10)."
        )
    if not (is_number(difference) and abs(difference) >= 1e-9 * spread):
        raise OptionError(
            f"difference={quoted(difference)} is none that any number of users could "
            "show: give one such as 0.01."
        )
    return max(ENOUGH, math.ceil((errors * spread / difference) ** 2))


def _errors(power: float, alpha: float) -> float:
    """Return how many standard errors a difference must be for a power at a level."""
    from scipy.special import ndtri

    if not (is_number(alpha) and 0 < alpha < 1):
        raise OptionError(
            f"alpha={quoted(alpha)} is no level of a test: give a number between "
            f"0 and 1, such as 0.05."
        )
    if not (is_number(power) and alpha < power < 1):
        raise OptionError(
            f"power={quoted(power)} is no power: give a number from alpha "
            f"({alpha:g}) to 1, such as 0.8."
        )
    return float(ndtri(1 - alpha / 2) + ndtri(power))
