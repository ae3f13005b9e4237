"""The power of a paired test: which differences a number of users can show, by the normal approximation."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from recnb.display.document import Mark, Note, html
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.templates import framed
from recnb.errors import OptionError, is_number, quoted
from recnb.stats.intervals import ENOUGH, Floats
from recnb.stats.paired import settled

#: The correlation of two models' values per user, assumed if it is not measured. Between a neighbourhood model, a factor
#: model and the most popular items it is 0.3 to 0.8, on the bundled sample and on MovieLens 100K, for ndcg, precision, recall,
#: hit rate, reciprocal rank and average precision at 10; this is the low end.
CORRELATION = 0.3


class Detectable(float):
    """The smallest difference between two models that a number of users can show: a float with its assumptions."""

    label: str  #: metric and cut-off
    n_users: int
    sd: float  #: standard deviation of the differences of users
    words: str  #: the number in a sentence, with its assumptions
    lang: str

    def __new__(cls, difference: float, **parts: Any) -> Self:
        """Pack the difference with its parts, which are the attributes."""
        self = super().__new__(cls, difference)
        vars(self).update(parts)
        return self

    @classmethod
    def of(
        cls, label: str, values: Floats, others: Floats | None = None, power: float = 0.8, alpha: float = 0.05
    ) -> Self:
        """Compute it from the values of users, and those of another model, or of one of the same variance and an assumed correlation."""
        n = len(values)
        apart = settled(values - (values.min() if others is None else others))
        sd = math.nan if n < 2 else float(apart.std(ddof=1))
        if others is None:
            sd *= math.sqrt(2 * (1 - CORRELATION))
        # So few users who differ do not show how far others would.
        difference = detectable(sd, n, power, alpha) if np.count_nonzero(apart) >= ENOUGH else math.nan
        terms = {
            "label": label,
            "users": ngettext("{n:,} user", "{n:,} users", n),
            "power": power,
            "alpha": alpha,
            "sd": sd,
        }
        if math.isnan(difference):
            words = _("With {users}, or with differences that hardly vary, the detectable difference in {label} cannot be estimated.", **terms)  # fmt: skip
        else:
            found = _("A true difference of {difference:.4f} in {label} is found over {users} with a chance of {power:.0%} (paired t test at {alpha:g}); a smaller one will more often be missed.", difference=difference, **terms)  # fmt: skip
            measured = _("The differences of users spread by {sd:.4f}, as measured between the two models.", **terms)
            assumed = _("Assumed, not measured: another model whose values per user have a correlation of {correlation:g} with these, so that the differences spread by {sd:.4f}; against= another evaluation measures it.", correlation=CORRELATION, **terms)  # fmt: skip
            words = f"{found} {assumed if others is None else measured}"
        return cls(difference, label=label, n_users=n, sd=sd, words=words, lang=current())

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{float(self):.4f} ({self.words})"

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            title = _("detectable difference in {label}", label=self.label)
            return str(framed(title, html([Note(Mark("strong", f"{float(self):.4f}"), "plain"), Note(self.words)])))


def detectable(sd: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest true difference of means that a two-sided paired test finds with a given power, in units of the metric.

    `sd` is the standard deviation of the differences of `n` users. NaN if it is 0, or below 10 users, which are not tested. Of 20
    users the t test has a power of 0.75 where 0.8 is asked for.
    """
    errors = _errors(power, alpha)
    return errors * sd / math.sqrt(n) if sd > 0 and n >= ENOUGH else math.nan


def users_needed(difference: float, sd: float | Detectable, power: float = 0.8, alpha: float = 0.05) -> int:
    """Return the number of users that a two-sided paired test needs to find a true difference of means, at least 10.

    `difference` is in units of the metric; `sd` is the standard deviation of the differences of users, a number or the result of
    `ev.detectable("ndcg", k=10)`; `power` is the chance of finding the difference, `alpha` the level of the test.

    >>> users_needed(0.02, sd=0.3), users_needed(0.01, sd=0.3)
    (1766, 7064)
    """
    errors = _errors(power, alpha)
    spread = sd.sd if isinstance(sd, Detectable) else sd
    if not (is_number(spread) and spread > 0):
        problem = f"sd={quoted(spread)} is no standard deviation of differences: give a number above 0, or "
        raise OptionError(problem, "ev.detectable('ndcg', k=10).")
    if not (is_number(difference) and abs(difference) >= 1e-9 * spread):
        problem = f"difference={quoted(difference)} is none that any number of users could show: "
        raise OptionError(problem, "give one such as 0.01.")
    return max(ENOUGH, math.ceil((errors * spread / difference) ** 2))


def _errors(power: float, alpha: float) -> float:
    """Return how many standard errors a true difference must be for this power at this level."""
    from scipy.special import ndtri

    if not (is_number(alpha) and 0 < alpha < 1):
        raise OptionError(f"alpha={quoted(alpha)} is no level of a test: give a number between 0 and 1, such as 0.05.")
    if not (is_number(power) and alpha < power < 1):
        raise OptionError(
            f"power={quoted(power)} is no power: give a number between alpha ({alpha:g}) and 1, such as 0.8."
        )
    return float(ndtri(1 - alpha / 2) + ndtri(power))
