"""Gates: conditions that a model must meet, as a test of a release asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isclose, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from recnb.display.language import N_, _, current, use_language
from recnb.display.text import one_line, sample_in_words, told_apart, whole
from recnb.errors import OptionError, Suggesting, is_number, quoted
from recnb.metrics.measure import measure_named
from recnb.metrics.metric import Given
from recnb.results.files import AsJson, json_values
from recnb.results.numbers import DifferenceRow
from recnb.results.score import MetricValue, counted, score_of
from recnb.results.verdicts import verdict_in_words
from recnb.stats import ENOUGH, ROUNDING

if TYPE_CHECKING:
    from recnb.results.evaluation_data import Models


class GateCheck(NamedTuple):
    """One condition on one number of one model: whether it is met.

    A sentence says so.
    """

    check: str  #: "at_least", "at_most" or "not_worse"
    passed: bool
    #: Metric, k, model and number of users; the value and its limit, or the difference
    #: with its interval.
    numbers: dict[str, Any]
    says: str
    basis: str  #: the users and the convention behind the number

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain Python."""
        return {
            "check": self.check,
            "passed": self.passed,
            **self.numbers,
            "basis": self.basis,
            "says": self.says,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Gate(AsJson, Suggesting):
    """The checks of a gate; true if all are passed.

    `to_frame` and `to_json` export them with the numbers behind each.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> gate = ev.at_least("ndcg", 0.1, k=10)
    >>> bool(gate), sorted(gate.to_dict())
    (True, ['basis', 'checks', 'passed', 'schema'])
    >>> gate.to_frame()[["metric", "k", "n_users", "value", "passed"]].round(4)
      metric   k  n_users   value  passed
    0   ndcg  10      261  0.1725    True
    """

    checks: tuple[GateCheck, ...]
    #: The language of its words, that in force when it was made.
    lang: str = field(default_factory=current)

    def __bool__(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def basis(self) -> str:
        """The users and the convention behind the numbers.

        Of several checks, in their order, those that are not the same.
        """
        return "; ".join(dict.fromkeys(check.basis for check in self.checks))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per check with its numbers.

        Returns
        -------
        DataFrame
            One row per check.
        """
        return pd.DataFrame([check.to_dict() for check in self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as plain Python that `json` can write.

        Returns
        -------
        dict
            The checks with their numbers.
        """
        checks = [check.to_dict() for check in self.checks]
        gate = {
            "schema": "recnb.gate/2",
            "passed": bool(self),
            "checks": checks,
            "basis": self.basis,
        }
        return dict(json_values(gate))

    def __repr__(self) -> str:
        with use_language(self.lang):
            results = {True: _("passed"), False: _("failed")}
        lines = [f"{results[check.passed]}: {check.says}" for check in self.checks]
        return "\n".join([*lines, self.basis])


# Limits


#: By check: the name of its limit in frames, and what is said where it is passed and
#: failed.
LIMITS = {
    "at_least": (
        "least",
        N_("{label} is {value}, at least {limit}"),
        N_("{label} is {value}, below {limit}"),
    ),
    "at_most": (
        "most",
        N_("{label} is {value}, at most {limit}"),
        N_("{label} is {value}, above {limit}"),
    ),
}


def within(
    check: str,
    models: Models,
    metric: Any,
    limit: float,
    *,
    k: int | None,
    options: Given,
) -> Gate:
    """Check whether a number of each model is "at_least" or "at_most" a limit.

    The name of the model is "" where there is one.
    """
    if not is_number(limit):
        raise OptionError(
            f"value={quoted(limit)} is no number that a metric could reach: give one, such as 0.3."
        )
    measure = measure_named(metric).with_options(options).cut_at(k)
    if isinstance(limit, np.floating):  # with the digits that were typed
        limit = float(str(limit))
    return Gate(
        tuple(
            limit_check(check, score_of(data, measure), float(limit), model)
            for model, data in models.items()
        )
    )


def limit_check(
    check: str,
    score: MetricValue,
    limit: float,
    model: str,
) -> GateCheck:
    """Check whether a score of a model is on the right side of a limit."""
    name_of_limit, passed, failed = LIMITS[check]
    value = float(score)
    # A mean of numbers 0.3 may be 0.2999999999999999.
    if isclose(value, limit, rel_tol=ROUNDING, abs_tol=ROUNDING):
        value = limit
    users = counted(score)
    numbers: dict[str, Any] = {
        "metric": score.metric,
        "k": score.k,
        "model": model,
        **users,
        "value": value,
        name_of_limit: limit,
    }
    is_enough = score.n_users >= ENOUGH
    # NaN is on neither side.
    is_within = value >= limit if check == "at_least" else value <= limit
    says = _(
        passed if is_within else failed,
        label=score.label,
        value=told_apart(value, limit),
        limit=whole(limit),
    )
    if not is_enough:
        says = f"{says} ({_if_enough(sample_in_words(**users), score.n_users)})"
    if model:
        says = f"{one_line(model)}: {says}"
    return GateCheck(check, is_enough and is_within, numbers, says, score.basis)


# Models that are not to be worse than a baseline


#: What is said of a model by what is concluded: without a margin, and with one.
CONCLUSIONS = {
    "not_worse": (
        N_("{label}: {model} is not shown to be worse than {baseline}"),
        N_("{label}: {model} is not worse than {baseline} by {margin} or more"),
    ),
    "worse": (
        N_("{label}: {model} is worse than {baseline}"),
        N_("{label}: {model} is worse than {baseline} by {margin} or more"),
    ),
    "undecided": (
        N_("{label}: no conclusion on {model} against {baseline}"),
        N_(
            "{label}: inconclusive whether {model} is worse than {baseline} by "
            "{margin} or more"
        ),
    ),
}


def not_worse_check(
    row: DifferenceRow, margin: float, confidence: float, basis: str
) -> GateCheck:
    """Check that a model is not worse than the baseline.

    Without a margin, it is not shown to be worse: by the verdict in the table of
    differences. With one, it is shown to be less than the margin behind: by the interval,
    which is not corrected.
    """
    conclusion = _conclusion_on(row, margin)
    without_margin, with_margin = CONCLUSIONS[conclusion]
    numbers = {
        **row.to_dict(),
        "better": row.better,
        "n_differ": row.won + row.lost,
        "margin": margin,
        "confidence": confidence,
    }
    words = _(
        with_margin if margin else without_margin,
        label=row.label,
        model=one_line(row.model),
        baseline=one_line(row.baseline),
        margin=whole(margin),
    )
    says = f"{words} ({_difference_in_words(row, margin, confidence)})"
    return GateCheck("not_worse", conclusion == "not_worse", numbers, says, basis)


def _conclusion_on(row: DifferenceRow, margin: float) -> str:
    """Return what is concluded of a model against the baseline, of `CONCLUSIONS`."""
    if row.n_users < ENOUGH:
        return "undecided"
    if row.won + row.lost == 0:
        return "not_worse"
    low, high = row.low, row.high
    if row.better == "low":  # a model above the baseline is the worse one
        low, high = -row.high, -row.low
    if margin:
        if low > -margin:
            return "not_worse"
        return "worse" if high <= -margin else "undecided"
    # Few users differ, and the interval within the bounds is below 0: none passes.
    if row.verdict == "untested" and high < 0:
        return "undecided"
    return "worse" if row.verdict == "worse" else "not_worse"


def _difference_in_words(row: DifferenceRow, margin: float, confidence: float) -> str:
    """Return a difference with its interval, or why it has no test, and its users."""
    # Decimals tell on which side of the margin, and of 0, a number is.
    edge = margin if row.better == "low" else -margin
    difference = told_apart(row.difference, edge, 0)
    if row.difference > 0:
        difference = f"+{difference}"
    words = [_("difference {difference}", difference=difference)]
    if isfinite(row.low):
        interval = _(
            "{confidence:g}% interval {low} to {high}",
            confidence=100 * confidence,
            low=told_apart(row.low, edge, 0),
            high=told_apart(row.high, edge, 0),
        )
        words.append(interval)
    if row.verdict in ("same", "untested"):
        words.append(verdict_in_words(row.verdict))
    return ", ".join([*words, _if_enough(row.users_phrase, row.n_users)])


def _if_enough(users: str, n_users: int) -> str:
    """Return the users in words, with what a gate needs where they are too few."""
    if n_users >= ENOUGH:
        return users
    return _("{users}, where a gate needs {enough}", users=users, enough=ENOUGH)
