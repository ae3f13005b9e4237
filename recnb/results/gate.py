"""Gates: conditions that a model must meet, as a test of a release asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from recnb.data.files import AsJson, json_values
from recnb.display.language import N_, _, current, use_language
from recnb.display.text import one_line, sample_in_words, told_apart, whole
from recnb.errors import OptionError, Suggesting, is_number, quoted
from recnb.metrics.measure import measure_named
from recnb.metrics.metric import Given
from recnb.results.arguments import with_options
from recnb.results.numbers import DifferenceRow, label_of
from recnb.results.score import score_of
from recnb.results.values import merged
from recnb.results.verdicts import FOUND, OF_SIGN
from recnb.stats import ENOUGH

if TYPE_CHECKING:
    from recnb.results.evaluation_data import Models


class GateCheck(NamedTuple):
    """One condition on one number of one model: whether it is met.

    A sentence says so.
    """

    check: str  #: "at_least", "at_most" or "not_worse"
    passed: bool
    numbers: dict[
        str, Any
    ]  #: metric, k, model and number of users; the value, or the difference with its interval
    says: str
    basis: str = ""  #: the users and the convention behind the number

    @property
    def label(self) -> str:
        """The metric's name at its cut-off."""
        return label_of(self.numbers["metric"], self.numbers["k"])

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
    lang: str = field(
        default_factory=current
    )  #: the language of its words, that in force when it was made

    def __bool__(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def basis(self) -> str:
        """The users and the convention behind the numbers.

        Of each check, if they are not all the same.
        """
        names = [
            f"{one_line(check.numbers['model'])} {check.label}".lstrip()
            for check in self.checks
        ]
        return "; ".join(
            merged(
                dict(zip(names, ([check.basis] for check in self.checks), strict=True))
            )
        )

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
            results = [
                f"{_('passed') if check.passed else _('failed')}: {check.says}"
                for check in self.checks
            ]
        return "\n".join([*results, self.basis])


#: Which way a number passes: what its limit is called, and the sentences of what is
#: passed, what is failed, and of too few users.
LIMITS = {
    "at_least": (
        "least",
        N_("{label} is {value}, at least {least}"),
        N_("{label} is {value}, below {least}"),
        N_("{label} is {value}, and shows nothing of the least, {least}: {users}"),
    ),
    "at_most": (
        "most",
        N_("{label} is {value}, at most {most}"),
        N_("{label} is {value}, above {most}"),
        N_("{label} is {value}, and shows nothing of the most, {most}: {users}"),
    ),
}


#: What a check that a model is not worse says.
NO_CONCLUSION = N_("{label}: no conclusion on {model} against {baseline}")
SAME_VALUES = N_("{label}: {model} and {baseline} give every user the same value")
NOT_SHOWN_WORSE = N_("{label}: {model} is not shown to be worse than {baseline}")
NOT_TESTED = N_(
    "{label}: {model} is not shown to be worse than {baseline}, as no test could be made"
)
WORSE = N_("{label}: {model} is worse than {baseline}")
NOT_WORSE_BY = N_("{label}: {model} is not worse than {baseline} by {margin} or more")
WORSE_BY = N_("{label}: {model} is worse than {baseline} by {margin} or more")
INCONCLUSIVE = N_(
    "{label}: inconclusive whether {model} is worse than {baseline} by {margin} or more"
)
INTERVAL = N_(
    "difference {difference}, {confidence:g}% interval {low} to {high}, {users}"
)
NO_INTERVAL = N_(
    "difference {difference}, too few users or differences for an interval, {users}"
)

#: The numbers of a difference that a check has.
NUMBERS = (
    "k",
    "model",
    "n_users",
    "baseline",
    "difference",
    "low",
    "high",
    "metric",
    "better",
    "p_holm",
    "verdict",
)


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
    measure = with_options(measure_named(metric).cut_at(k), options)
    checks = list[GateCheck]()
    for model, data in models.items():
        score = score_of(data, measure)
        about = {
            "metric": measure.name,
            "k": measure.k,
            "model": model,
            "n_users": score.n_users,
        }
        if score.n_lists != score.n_users:
            about["n_lists"] = score.n_lists
        if data.side_data.cluster is not None:
            about["cluster"] = data.side_data.cluster
        checks.append(
            limit_check(check, about, float(score), float(limit), score.basis)
        )
    return Gate(tuple(checks))


def limit_check(
    check: str, about: dict[str, Any], value: float, limit: float, basis: str = ""
) -> GateCheck:
    """Check whether a number is on the right side of a limit.

    `about`: its metric, k, model and n_users.
    """
    called, if_passed, if_failed, if_few = LIMITS[check]
    enough, model = about["n_users"] >= ENOUGH, about["model"]
    # NaN is on neither side.
    is_within = value >= limit if check == "at_least" else value <= limit
    passed = enough and is_within
    words = if_passed if passed else if_failed
    if not enough:
        words = if_few
    shown = {
        "value": told_apart(value, limit),
        called: whole(limit),
        "users": _users(
            about["n_users"], about.get("n_lists"), about.get("cluster", "")
        ),
    }
    says = _(words, label=label_of(about["metric"], about["k"]), **shown)
    if model:
        says = f"{one_line(model)}: {says}"
    numbers = {**about, "value": value, called: limit}
    return GateCheck(check, passed, numbers, says, basis)


def not_worse_check(
    row: DifferenceRow, margin: float, confidence: float, basis: str = ""
) -> GateCheck:
    """Check that a model is not worse than the baseline.

    That it is not shown to be worse or, with a margin, that it is shown to be less than
    it behind.

    Without a margin the verdict of the difference says so, which is that of the table
    of differences. With one its interval does, which is not corrected.
    """
    passed, words = _conclusion_on(row, margin)
    numbers = {name: getattr(row, name) for name in NUMBERS}
    numbers |= {
        "n_differ": row.won + row.lost,
        "margin": margin,
        "confidence": confidence,
    }
    if row.n_lists is not None:
        numbers["n_lists"] = row.n_lists
    if row.cluster:
        numbers["cluster"] = row.cluster
    says = _in_words(row, words, margin, confidence)
    return GateCheck("not_worse", passed, numbers, says, basis)


def _conclusion_on(row: DifferenceRow, margin: float) -> tuple[bool, str]:
    """Return whether a model passes as not worse than the baseline, and the sentence."""
    low, high = row.low, row.high
    if row.better == "low":  # a model above the baseline is the worse one
        low, high = -row.high, -row.low
    if row.n_users < ENOUGH:
        return False, NO_CONCLUSION
    if not row.won + row.lost:
        return True, SAME_VALUES
    if margin:
        if not isfinite(low):
            return False, NO_CONCLUSION
        if low > -margin:
            return True, NOT_WORSE_BY
        return False, WORSE_BY if high <= -margin else INCONCLUSIVE
    if row.verdict == "untested" and high < 0:
        return False, NO_CONCLUSION  # a difference of few, for which no model passes
    if row.verdict == "untested":
        return True, NOT_TESTED
    if row.verdict in FOUND and row.verdict != _finding_for(row):
        return False, WORSE
    return True, NOT_SHOWN_WORSE


def _finding_for(row: DifferenceRow) -> str:
    """Return the finding that speaks for a model; any other one speaks against it."""
    below_0, above_0 = OF_SIGN[row.better]
    return below_0 if row.better == "low" else above_0


def _in_words(
    row: DifferenceRow, conclusion: str, margin: float, confidence: float
) -> str:
    """Return a conclusion on a difference in words, with its interval."""
    edge = margin if row.better == "low" else -margin
    shown = {
        "label": label_of(row.metric, row.k),
        "model": one_line(row.model),
        "baseline": one_line(row.baseline),
        "margin": whole(margin),
        "confidence": 100 * confidence,
        "users": _users(row.n_users, row.n_lists, row.cluster),
    }
    for name in ("difference", "low", "high"):
        shown[name] = told_apart(getattr(row, name), edge, 0)
    if row.difference > 0:
        shown["difference"] = f"+{shown['difference']}"
    interval = "{users}"
    if isfinite(row.low):
        interval = _(INTERVAL)
    elif row.won + row.lost:
        interval = _(NO_INTERVAL)
    return f"{_(conclusion)} ({interval})".format_map(shown)


def _users(n_users: int, n_lists: int | None = None, cluster: str = "") -> str:
    """Return the number of users in words, and that they are too few, if they are."""
    users = sample_in_words(n_users, n_lists, cluster)
    return (
        users
        if n_users >= ENOUGH
        else _("{users}, where a gate needs {enough}", users=users, enough=ENOUGH)
    )
