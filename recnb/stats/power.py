"""The power of Student's paired t test: which differences a number of users can show, by the noncentral t distribution."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from recnb.display.language import _, current, ngettext, use_language
from recnb.display.templates import render
from recnb.errors import OptionError, is_number
from recnb.stats.moments import ENOUGH, Floats
from recnb.stats.significance import lowest_p, settled

#: The correlation of two models' values per user, assumed if it is not measured. Between a neighbourhood model, a factor
#: model and the most popular items it is 0.3 to 0.8, on the bundled sample and on MovieLens 100K, for ndcg, precision, recall,
#: hit rate, reciprocal rank and average precision at 10; this is the low end.
CORRELATION = 0.3


class Detectable(float):
    """The smallest difference between two models that a number of users can show: a float with its assumptions.

    >>> import numpy as np
    >>> values = np.random.default_rng(0).random((2, 50))
    >>> smallest = Detectable.of("ndcg@10", values[0], values[1])
    >>> round(smallest, 3), smallest.n_users, round(smallest.sd, 3)
    (0.178, 50, 0.441)
    """

    label: str  #: metric and cut-off
    n_users: int
    power: float
    alpha: float
    sd: float  #: standard deviation of the differences of users
    correlation: float | None  #: assumed between the two models' values; None where the differences were measured
    lang: str

    def __new__(cls, difference: float, **terms: Any) -> Self:
        """Pack the difference with its terms, which are the attributes."""
        self = super().__new__(cls, difference)
        vars(self).update(terms, lang=current())
        return self

    @classmethod
    def of(
        cls,
        label: str,
        values: Floats,
        others: Floats | None = None,
        power: float = 0.8,
        alpha: float = 0.05,
        correlation: float | None = None,
    ) -> Self:
        """Compute it from one model's values per user, and the other's for the same users or an assumed correlation.

        If the correlation is assumed, the other model's values are assumed to have the same variance.
        """
        if others is None:
            correlation = CORRELATION if correlation is None else correlation
            if not (is_number(correlation) and -1 <= correlation < 1):
                raise OptionError(
                    f"correlation={correlation!r} is none between two models: give one from -1 to below 1."
                )
        elif correlation is not None:
            raise OptionError(
                "correlation= is for when nothing is measured, and against= measures: give one of the two."
            )
        n = len(values)
        apart = settled(values - (values.min(initial=math.inf) if others is None else others))
        sd = math.nan if n < 2 else float(apart.std(ddof=1))
        if correlation is not None:
            sd *= math.sqrt(2 * (1 - correlation))
        difference = detectable(sd, n, power, alpha)
        return cls(
            # So few users who differ do not show how far others would.
            difference if np.count_nonzero(apart) >= ENOUGH else math.nan,
            label=label, n_users=n, power=power, alpha=alpha, sd=sd, correlation=correlation,
        )  # fmt: skip

    @property
    def words(self) -> str:
        """The number in a sentence, with its assumptions."""
        with use_language(self.lang):
            if math.isnan(self):
                return _(
                    "With {users}, or with differences that hardly vary, the detectable difference in {label} cannot be estimated.",
                    label=self.label,
                    users=ngettext("{n:,} user", "{n:,} users", self.n_users),
                )
            sentence = _("A true difference of {difference:.4f} in {label} is found over {users} with a chance of {power:.0%} (paired t test at {alpha:g}); a smaller one will more often be missed.", label=self.label, difference=float(self), users=ngettext("{n:,} user", "{n:,} users", self.n_users), alpha=self.alpha, power=self.power)  # fmt: skip
            if self.correlation is None:
                return f"{sentence} {_('The differences of users spread by {sd:.4f}, as measured between the two models.', sd=self.sd)}"
            return f"{sentence} {_('Assumed, not measured: another model whose values per user have a correlation of {correlation:g} with these, so that the differences spread by {sd:.4f}; against= another evaluation measures it.', sd=self.sd, correlation=self.correlation)}"

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        terms = {name: value for name, value in vars(self).items() if name != "lang"}
        return (float(self),), terms

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{float(self):.4f} ({self.words})"

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(render("stats/detectable.jinja", smallest=self))


def detectable(sd: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest true difference of means that a two-sided paired t test finds with a given power, in units of the metric.

    `sd` is the standard deviation of the differences of `n` users. NaN if it is 0, or if even a randomization test of all users
    cannot reach `alpha` (below 6 users at 0.05).

    Examples
    --------
    >>> round(detectable(0.3, 100), 4), round(detectable(0.3, 400), 4)
    (0.0849, 0.0421)
    """
    from scipy.optimize import brentq

    _checked(power, alpha)
    if sd < 0:
        raise OptionError(f"sd={sd!r} is no standard deviation: give a number from 0 up.")
    if not sd > 0 or lowest_p(n) > alpha:
        return math.nan
    # In standard errors the answer lies near the sum of the two normal deviates, and above it for few users.
    high = 1.0
    while power_of(high, n, alpha) < power:
        high *= 2
    shift = brentq(lambda shift: power_of(shift, n, alpha) - power, 0.0, high, xtol=1e-12)
    return float(shift * sd / math.sqrt(n))


def users_needed(difference: float, sd: float | Detectable, power: float = 0.8, alpha: float = 0.05) -> int:
    """Return the number of users that a two-sided paired t test needs to find a true difference of means.

    Parameters
    ----------
    difference
        True difference of the means of two models, in units of the metric.
    sd
        Standard deviation of the differences of users: a number, or the result of `ev.detectable("ndcg", k=10)`.
    power
        Chance of finding the difference.
    alpha
        Level of the test.

    Returns
    -------
    int

    Raises
    ------
    OptionError
        If a value is out of its range, or the difference is too small for any number of users.

    Examples
    --------
    >>> users_needed(0.02, sd=0.3), users_needed(0.01, sd=0.3)
    (1768, 7066)
    """
    _checked(power, alpha)
    spread = sd.sd if isinstance(sd, Detectable) else sd
    if not (is_number(difference) and difference != 0):
        raise OptionError(f"difference={difference!r} is none that could be found: give one such as 0.01.")
    if not (is_number(spread) and spread >= 0):
        raise OptionError(
            f"sd={spread!r} is no standard deviation of differences: give a number, or ev.detectable('ndcg', k=10)."
        )
    if spread == 0:
        raise OptionError(
            "sd=0: users whose differences are all alike do not show how others spread. Give a number above 0."
        )
    size = min(abs(difference) / spread, 1e4)  # above it the power is 1, whatever the number of users
    if size < 1e-9:
        raise OptionError(
            f"difference={difference!r} is so small beside sd={spread:g} that no number of users would do: give a larger one."
        )

    def enough(n: int) -> bool:
        return bool(lowest_p(n) <= alpha) and power_of(size * math.sqrt(n), n, alpha) >= power

    few, many = 1, 2
    while not enough(many):
        few, many = many, many * 2
    while many - few > 1:
        between = (few + many) // 2
        few, many = (few, between) if enough(between) else (between, many)
    return many


def power_of(shift: float, n: int, alpha: float) -> float:
    """Chance that a two-sided paired t test finds a true difference of this many standard errors.

    >>> round(power_of(2.8, 100, 0.05), 3), round(power_of(0.0, 100, 0.05), 3)
    (0.792, 0.05)
    """
    from scipy.special import stdtrit

    edge = float(stdtrit(n - 1, 1 - alpha / 2))
    return 1 - _below(edge, n - 1, shift) + _below(-edge, n - 1, shift)


def _below(edge: float, freedom: int, shift: float) -> float:
    """Chance that a noncentral t lies below an edge; by its limits if scipy's function loses its digits."""
    from scipy.special import gammaincc, nctdtr, ndtr

    if freedom > 10_000_000:
        return float(ndtr(edge - shift))
    if shift > 10_000:
        return float(gammaincc(freedom / 2, freedom / 2 * (shift / edge) ** 2)) if edge > 0 else 0.0
    chance = float(nctdtr(freedom, shift, edge))
    # Below 1e-13 scipy may give NaN.
    return 0.0 if math.isnan(chance) else chance


def _checked(power: float, alpha: float) -> None:
    if not (is_number(alpha) and 0 < alpha < 1):
        raise OptionError(f"alpha={alpha!r} is no level of a test: give a number between 0 and 1, such as 0.05.")
    if not (is_number(power) and alpha < power < 1):
        raise OptionError(f"power={power!r} is no power: give a number between alpha ({alpha:g}) and 1, such as 0.8.")
