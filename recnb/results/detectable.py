"""The smallest difference that users can show, and the users that a difference needs."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from recnb.display.language import _, named
from recnb.display.text import sample_in_words
from recnb.errors import NoUsersError, OptionError, is_number, quoted
from recnb.metrics.hits import Floats
from recnb.metrics.measure import measure_named
from recnb.metrics.metric import ACCURACY, label_of
from recnb.results.arguments import AnyMetric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import values_of
from recnb.stats import (
    ENOUGH,
    POWER,
    Moments,
    UserSample,
    check_power,
    smallest_found,
    standard_errors_needed,
    without_rounding,
)

#: The correlation of two models' values per user, assumed if it is not measured.
#: Between a neighbourhood model, a factor model and the most popular items it is 0.3 to
#: 0.8, on the bundled sample and on MovieLens 100K, for ndcg, precision, recall, hit
#: rate, reciprocal rank and average precision at 10; this is the low end.
CORRELATION = 0.3


class Detectable(float):
    """The smallest difference of two models that users can show, with its assumptions.

    It is one number, a float.

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
        cls, label: str, values: Floats, sample: UserSample, power: float, alpha: float
    ) -> Self:
        """Compute it from the values of users of one model.

        Another is assumed to have the same variance, and a correlation with it.
        """
        # Values less the lowest vary as values do, so that a user who is off it counts as
        # one who differs.
        differences = without_rounding(values - values.min())[:, np.newaxis]
        moments = Moments(differences, sample)
        factor = math.sqrt(2 * (1 - CORRELATION))
        sd = factor * moments.sd
        margin = factor * np.maximum(*moments.margin)
        (difference,) = smallest_found(sd, sample.n_effective, power, alpha, margin)
        if sample.count(differences != 0) < ENOUGH:
            difference = math.nan  # so few do not show how far others would differ
        self = cls(difference)
        self.label = label
        self.n_users = sample.n_units
        self.n_lists = sample.n_lists
        self.cluster = sample.cluster
        self.sd = float(sd[0])
        self.words = self._in_words(power, alpha)
        return self

    def _in_words(self, power: float, alpha: float) -> str:
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
        assumed = _(
            "Assumed, not measured: another model whose values have "
            "a correlation of {correlation:g} with these, so that the "
            "differences spread by {sd:.4f}. The table of differences of two models "
            "has the measured one.",
            correlation=CORRELATION,
            sd=self.sd,
        )
        return f"{shown} {assumed}"

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{float(self):.4f} ({self.words})"


def detectable(
    data: EvaluationData,
    metric: AnyMetric,
    k: int | None = None,
    power: float = POWER,
    *,
    alpha: float = 0.05,
    **options: Any,
) -> Detectable:
    """Return one number: the smallest difference of two models that can be detected.

    The test is a paired t test on these users, and the correlation of the models'
    values is assumed, a cautious 0.3. A column `detectable` of `found.differences()` has
    it of each difference that is measured.

    Parameters
    ----------
    metric : str or Metric
        A metric of accuracy.
    k : int, optional
        The cut-off; None is the whole list.
    power : float, default 0.8
        Probability of detecting a difference of that size.
    alpha : float, default 0.05
        Significance level of the two-sided test.
    **options
        Options of the metric.

    Returns
    -------
    Detectable
        A float in units of the metric, and no table. It is printed with its
        assumptions in words, and `recnb.users_needed` takes it.

    See Also
    --------
    recnb.users_needed : How many users it takes to find a difference.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> round(float(ev.detectable("ndcg", k=10)), 4)
    0.0376
    """
    check_power(power, alpha)
    measure = measure_named(metric, ACCURACY).with_options(options).cut_at(k)
    panel = values_of(data, measure, measure.cutoffs()).panel
    if not len(panel.users):
        label = label_of(measure.name, measure.k)
        raise NoUsersError(
            named(
                "no {user} has a value of {label}: all of them are left out.",
                label=label,
            )
        )
    return Detectable.of(measure.label, panel.values[0, 0], panel.sample, power, alpha)


def users_needed(
    difference: float, sd: float | Detectable, power: float = POWER, alpha: float = 0.05
) -> int:
    """Return the number of users that a paired test needs to find a true difference.

    The test of means is two-sided; it needs at least 10.

    Parameters
    ----------
    difference : float
        The true difference, in units of the metric.
    sd : float or Detectable
        The standard deviation of the differences of users: a number, of two models
        `(a.ndcg(k=10).per_user - b.ndcg(k=10).per_user).std()`, or the result of
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
    check_power(power, alpha)
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
    n_errors = standard_errors_needed(power, alpha)
    return max(ENOUGH, math.ceil((n_errors * spread / difference) ** 2))
