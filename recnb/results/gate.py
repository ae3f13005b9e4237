"""Gates: conditions that the numbers of a model must meet, as a test of a release asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

import pandas as pd

from recnb.data.files import AsJson, json_values
from recnb.display.document import Note, Rows, html
from recnb.display.language import N_, _, current, ngettext, use_language
from recnb.display.templates import framed
from recnb.display.text import one_line, told_apart, whole
from recnb.errors import OptionError, Suggesting, is_number, quoted
from recnb.results.arguments import check_options, measure_at
from recnb.results.score import n_users_of, score_of
from recnb.stats import ENOUGH

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True)
class Check:
    """One condition on one number of one model: whether it is met, and the sentence that says so."""

    check: str  #: "at_least" or "not_worse"
    passed: bool
    numbers: Mapping[str, Any]  #: metric, k, model and number of users; the value, or the difference with its interval
    says: str
    basis: str  #: the users and the convention behind the number

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain Python."""
        return {"check": self.check, "passed": self.passed, **self.numbers, "basis": self.basis, "says": self.says}


@dataclass(frozen=True, eq=False, repr=False)
class Gate(AsJson, Suggesting):
    """The checks of a gate; true if all are passed.

    Shown by a notebook, with the numbers behind each check; `to_frame` and `to_json` export them.
    """

    checks: tuple[Check, ...]
    lang: str = field(default_factory=current)  #: the language of its words, that in force when it was made
    warnings: tuple[str, ...] = ()  #: of the lint, about the data behind the numbers

    def __bool__(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def basis(self) -> str:
        """The users and the convention behind the numbers, of each check if they are not all the same."""
        bases: dict[str, list[str]] = {}
        for check in self.checks:
            name = f"{one_line(check.numbers['model'])} {_label(check.numbers)}".lstrip()
            bases.setdefault(check.basis, []).append(name)
        return "; ".join(basis if len(bases) == 1 else f"{', '.join(names)}: {basis}" for basis, names in bases.items())

    @property
    def lines(self) -> list[str]:
        """A sentence for each check."""
        return [check.says for check in self.checks]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per check with its numbers."""
        return pd.DataFrame([check.to_dict() for check in self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as plain Python that `json` can write."""
        checks = [check.to_dict() for check in self.checks]
        gate = {"schema": "recnb.gate/1", "passed": bool(self), "checks": checks, "basis": self.basis}
        return dict(json_values({**gate, "warnings": self.warnings}))

    def __repr__(self) -> str:
        with use_language(self.lang):
            marks = [_("passed") if check.passed else _("failed") for check in self.checks]
        return "\n".join([*(f"{mark}: {line}" for mark, line in zip(marks, self.lines, strict=True)), self.basis])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            rows = [("✓ " + _("passed") if one.passed else "✗ " + _("failed"), one.says) for one in self.checks]
            title = _("Gate: passed") if self else _("Gate: failed")
            table = Rows([_("result"), _("check")], rows, title, left=4)  # sentences, which are broken into lines
            return str(framed(_("gate"), html([table, Note(self.basis)])))


def at_least(
    models: Mapping[str, EvaluationData], metric: str, value: float, k: int | None, options: Mapping[str, Any]
) -> Gate:
    """Check whether a number of each model reaches a value."""
    if not is_number(value):
        raise OptionError(f"value={quoted(value)} is no number that a metric could reach: give one, such as 0.3.")
    chosen, cutoff = measure_at(metric, k)
    check_options(chosen, options)
    scores = {model: score_of(data, chosen, cutoff, options) for model, data in models.items()}
    return Gate(
        tuple(
            at_least_check(chosen.name, cutoff, model, n_users_of(score), float(score), float(value), score.basis)
            for model, score in scores.items()
        )
    )


def at_least_check(
    metric: str, k: int | None, model: str, n_users: int, value: float, least: float, basis: str = ""
) -> Check:
    """Check whether the number of a model reaches the least that passes; `model` is "" where there is one."""
    numbers = {"metric": metric, "k": k, "model": model, "n_users": n_users, "value": value, "least": least}
    passed = n_users >= ENOUGH and value >= least  # NaN reaches nothing
    if n_users < ENOUGH:
        words = N_("{label} is {value}, and shows nothing of the least, {least}: {users}")
    else:
        words = N_("{label} is {value}, at least {least}") if passed else N_("{label} is {value}, below {least}")
    shown = {"value": told_apart(value, least), "least": whole(least), "users": _users(n_users)}
    says = _(words, label=_label(numbers), **shown)
    return Check("at_least", passed, numbers, f"{one_line(model)}: {says}" if model else says, basis)


def not_worse_check(
    metric: str, k: int | None, model: str, n_users: int, *, baseline: str, n_differ: int,
    difference: float, low: float, high: float, margin: float, confidence: float, basis: str = "",
) -> Check:  # fmt: skip
    """Check that a model is not shown to be worse than the baseline or, with a margin, shown to be less than it below.

    `n_differ` counts users whose values differ; `difference` is the model's mean less the baseline's, with its interval.
    """
    known = isfinite(low)
    passed = n_users >= ENOUGH and (not n_differ or (known and (low > -margin if margin else high >= 0)))
    words = next(
        words
        for holds, words in (
            (n_users < ENOUGH or (n_differ and not known), N_("{label}: no conclusion on {model} against {baseline}")),
            (not n_differ, N_("{label}: {model} and {baseline} give every user the same value")),
            (passed and margin, N_("{label}: {model} is not worse than {baseline} by {margin} or more")),
            (passed, N_("{label}: {model} is not shown to be worse than {baseline}")),
            (not margin, N_("{label}: {model} is worse than {baseline}")),
            (high <= -margin, N_("{label}: {model} is worse than {baseline} by {margin} or more")),
            (True, N_("{label}: inconclusive whether {model} is worse than {baseline} by {margin} or more")),
        )
        if holds
    )
    interval = "{users}"
    if known:
        interval = _("difference {difference}, {confidence:g}% interval {low} to {high}, {users}")
    elif n_differ:
        interval = _("difference {difference}, too few users or differences for an interval, {users}")
    ends = {"difference": difference, "low": low, "high": high}
    shown = {name: told_apart(number, -margin, 0) for name, number in ends.items()}
    shown["difference"] = "+" * (difference > 0) + shown["difference"]
    numbers = {"metric": metric, "k": k, "model": model, "n_users": n_users, "baseline": baseline, "n_differ": n_differ}
    names = {"label": _label(numbers), "model": one_line(model), "baseline": one_line(baseline)}
    values = {"margin": whole(margin), "confidence": 100 * confidence, "users": _users(n_users)}
    says = f"{_(words)} ({interval})".format_map(names | shown | values)
    return Check("not_worse", passed, {**numbers, **ends, "margin": margin, "confidence": confidence}, says, basis)


def _label(numbers: Mapping[str, Any]) -> str:
    """Return the metric at its cut-off."""
    return str(numbers["metric"]) if numbers["k"] is None else f"{numbers['metric']}@{numbers['k']}"


def _users(n_users: int) -> str:
    """Return the number of users in words, and that they are too few, if they are."""
    users = ngettext("{n:,} user", "{n:,} users", n_users)
    return users if n_users >= ENOUGH else _("{users}, where a gate needs {enough}", users=users, enough=ENOUGH)
