"""Gates: conditions that the numbers of a model must meet, as a test of a release asks for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Never

import pandas as pd

from recnb.data.files import AsJson, json_values
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.templates import in_one_line, render, user_text
from recnb.display.text import one_line, told_apart, whole
from recnb.errors import OptionError, Suggesting, is_number, quoted
from recnb.results.arguments import check_options, measure_at
from recnb.results.score import n_users_of, score_of
from recnb.stats import ENOUGH

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True)
class GateCheck(ABC):
    """One condition on one number of one model."""

    kind: ClassVar[str]
    metric: str
    k: int | None
    model: str  #: "" where there is one model
    n_users: int
    basis: str = field(default="", kw_only=True)  #: the users and the convention behind the number

    @property
    def label(self) -> str:
        """The metric at its cut-off."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"

    @property
    def has_data(self) -> bool:
        """Whether the users are enough for a conclusion."""
        return self.n_users >= ENOUGH

    @property
    @abstractmethod
    def passed(self) -> bool:
        """Whether the condition is met."""

    @abstractmethod
    def sentence(self) -> str:
        """The result in words, with the numbers behind it."""

    def to_dict(self) -> dict[str, Any]:
        """The check as plain Python."""
        return {"check": self.kind, "passed": self.passed, **asdict(self), "says": self.sentence()}

    def _users(self) -> str:
        """The number of users, and that they are too few, if they are."""
        users = ngettext("{n:,} user", "{n:,} users", self.n_users)
        return users if self.has_data else _("{users}, where a gate needs {enough}", users=users, enough=ENOUGH)


@dataclass(frozen=True)
class AtLeast(GateCheck):
    """A number that a model must reach."""

    kind = "at_least"
    value: float
    least: float

    @property
    def passed(self) -> bool:
        """Whether the number is reached, by users enough."""
        return self.has_data and self.value >= self.least  # NaN reaches nothing

    def sentence(self) -> str:
        """The number and the least that passes."""
        value = told_apart(self.value, self.least)
        names: dict[str, Any] = {
            "label": self.label,
            "value": value,
            "least": whole(self.least),
            "users": self._users(),
        }
        if not self.has_data:
            words = _("{label} is {value}, and shows nothing of the least, {least}: {users}", **names)
        elif self.passed:
            words = _("{label} is {value}, at least {least}", **names)
        else:
            words = _("{label} is {value}, below {least}", **names)
        return f"{one_line(self.model)}: {words}" if self.model else words


@dataclass(frozen=True)
class NotWorse(GateCheck):
    """A model that must not be worse than the baseline, or not by as much as a margin."""

    kind = "not_worse"
    baseline: str
    n_differ: int  #: users whose values differ
    difference: float  #: of the users' values, the model's less the baseline's
    low: float
    high: float
    margin: float
    confidence: float

    @property
    def passed(self) -> bool:
        """Whether the model is not shown to be worse or, with a margin, shown to be less than it below the baseline."""
        if not self.has_data:
            return False
        if not self.n_differ:
            return True
        return isfinite(self.low) and (self.low > -self.margin if self.margin else self.high >= 0)

    def sentence(self) -> str:
        """The conclusion, the difference and its interval."""
        if not self.has_data or (self.n_differ and not isfinite(self.low)):
            words = _("{label}: no conclusion on {model} against {baseline}")
        elif not self.n_differ:
            words = _("{label}: {model} and {baseline} give every user the same value")
        elif self.passed and self.margin:
            words = _("{label}: {model} is not worse than {baseline} by {margin} or more")
        elif self.passed:
            words = _("{label}: {model} is not shown to be worse than {baseline}")
        elif not self.margin:
            words = _("{label}: {model} is worse than {baseline}")
        elif self.high <= -self.margin:
            words = _("{label}: {model} is worse than {baseline} by {margin} or more")
        else:
            words = _("{label}: inconclusive whether {model} is worse than {baseline} by {margin} or more")
        if isfinite(self.low):
            numbers = _("difference {difference}, {confidence:g}% interval {low} to {high}, {users}")
        elif self.n_differ:
            numbers = _("difference {difference}, too few users or differences for an interval, {users}")
        else:
            numbers = "{users}"
        shown = {name: told_apart(getattr(self, name), -self.margin, 0) for name in ("low", "high", "difference")}
        if self.difference > 0:
            shown["difference"] = "+" + shown["difference"]
        names = {"label": self.label, "model": one_line(self.model), "baseline": one_line(self.baseline)}
        values = {"margin": whole(self.margin), "confidence": 100 * self.confidence, "users": self._users()}
        return f"{words} ({numbers})".format_map({**names, **shown, **values})


@dataclass(frozen=True, eq=False, repr=False)
class Gate(AsJson, Suggesting):
    """The checks of a gate; true if all are passed.

    Shown by a notebook, with the numbers behind each check; `to_frame` and `to_json` export them.
    """

    checks: tuple[GateCheck, ...]
    lang: str = field(default_factory=current)  #: the language of its words, that in force when it was made
    warnings: tuple[str, ...] = ()  #: of the lint, about the data behind the numbers

    def __bool__(self) -> bool:
        return all(check.passed for check in self.checks)

    def __add__(self, other: object) -> Never:
        raise OptionError("gates are not added.", fix="Type bool(one) and bool(other); each says why by itself.")

    def to_junit(self, *_args: Any, **_options: Any) -> Never:
        """There is no JUnit of a gate."""
        raise OptionError(
            "a gate has no JUnit's XML.", fix="Type to_json(path); or assert the gate in a test of pytest."
        )

    @property
    def basis(self) -> str:
        """The users and the convention behind the numbers, of each check if they are not all the same."""
        bases: dict[str, list[str]] = {}
        for check in self.checks:
            bases.setdefault(check.basis, []).append(f"{one_line(check.model)} {check.label}".lstrip())
        return "; ".join(basis if len(bases) == 1 else f"{', '.join(of)}: {basis}" for basis, of in bases.items())

    @property
    def lines(self) -> list[str]:
        """A sentence for each check."""
        with use_language(self.lang):
            return [check.sentence() for check in self.checks]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per check with its numbers."""
        with use_language(self.lang):
            return pd.DataFrame([check.to_dict() for check in self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as plain Python that `json` can write."""
        with use_language(self.lang):
            checks = [check.to_dict() for check in self.checks]
        gate = {"schema": "recnb.gate/1", "passed": bool(self), "checks": checks, "basis": self.basis}
        return dict(json_values({**gate, "warnings": self.warnings}))

    def __repr__(self) -> str:
        with use_language(self.lang):
            marks = [_("passed") if check.passed else _("failed") for check in self.checks]
        return "\n".join([*(f"{mark}: {line}" for mark, line in zip(marks, self.lines, strict=True)), self.basis])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            rows = [
                [
                    in_one_line("✓ " + _("passed") if check.passed else "✗ " + _("failed")),
                    user_text(check.sentence(), 1000),
                ]
                for check in self.checks
            ]
            return str(render(
                "results/table.jinja", label=_("gate"), basis=self.basis,
                tables=[{
                    "title": _("Gate: passed") if self else _("Gate: failed"), "header": [_("result"), _("check")],
                    "rows": rows, "numbers_from": 2, "tinted": (),
                }],
            ))  # fmt: skip


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
            AtLeast(*(chosen.name, cutoff, model, n_users_of(score), float(score), float(value)), basis=score.basis)
            for model, score in scores.items()
        )
    )
