"""Gates: conditions that the numbers of a model must meet, as a test of a release asks for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload
from xml.etree import ElementTree

import pandas as pd

from recnb.data.files import AsJson, json_values, written
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.templates import in_one_line, render, user_text
from recnb.display.text import one_line
from recnb.errors import Argument, OptionError, Suggesting, is_number
from recnb.results.arguments import check_options, measure_at
from recnb.results.beyond_accuracy import score_of

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

    @property
    def label(self) -> str:
        """The metric at its cut-off."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"

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


@dataclass(frozen=True)
class AtLeast(GateCheck):
    """A number that a model must reach."""

    kind = "at_least"
    value: float
    least: float

    @property
    def passed(self) -> bool:
        """Whether the number is reached."""
        return self.value >= self.least  # NaN reaches nothing

    def sentence(self) -> str:
        """The number and the least that passes."""
        reached, missed = _("{label} is {value:.4f}, at least {least:g}"), _("{label} is {value:.4f}, below {least:g}")
        words = (reached if self.passed else missed).format(label=self.label, value=self.value, least=self.least)
        return f"{one_line(self.model)}: {words}" if self.model else words


@dataclass(frozen=True)
class NotWorse(GateCheck):
    """A model that must not be worse than the baseline, or not by as much as a margin."""

    kind = "not_worse"
    baseline: str
    difference: float  #: of the users' values, the model's less the baseline's
    low: float
    high: float
    margin: float
    confidence: float

    @property
    def passed(self) -> bool:
        """Whether the model is not shown to be worse or, with a margin, shown to be less than it below the baseline."""
        return self.low > -self.margin if self.margin else not self.high < 0

    def sentence(self) -> str:
        """The conclusion, the difference and its interval."""
        if self.margin:
            better = _("{label}: {model} is not worse than {baseline} by {margin:g} or more")
            worse = _("{label}: {model} may be worse than {baseline} by {margin:g} or more")
        else:
            better = _("{label}: {model} is not shown to be worse than {baseline}")
            worse = _("{label}: {model} is worse than {baseline}")
        if isfinite(self.low):
            numbers = _("difference {difference:+.4f}, {confidence:g}% interval {low:.4f} to {high:.4f}, {users}")
        else:
            numbers = _("difference {difference:+.4f}, too few users or differences for an interval, {users}")
        names = {"label": self.label, "model": one_line(self.model), "baseline": one_line(self.baseline)}
        users = ngettext("{n:,} user", "{n:,} users", self.n_users)
        values = {**vars(self), **names, "users": users, "confidence": 100 * self.confidence}
        return f"{better if self.passed else worse} ({numbers})".format_map(values)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(AsJson, Suggesting):
    """The checks of a gate; true if all are passed.

    Shown by a notebook, with the numbers behind each check; `to_frame`, `to_json` and `to_junit` export them.
    """

    checks: tuple[GateCheck, ...]
    basis: str  #: the users and the convention behind the numbers
    lang: str = field(default_factory=current)  #: the language of its words, that in force when it was made
    warnings: tuple[str, ...] = ()  #: of the lint, about the data behind the numbers

    def __bool__(self) -> bool:
        return all(check.passed for check in self.checks)

    def __add__(self, other: Gate) -> Gate:
        warnings = tuple(dict.fromkeys((*self.warnings, *other.warnings)))
        return Gate((*self.checks, *other.checks), self.basis, self.lang, warnings)

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

    @overload
    def to_junit(self, path: None = None) -> str: ...
    @overload
    def to_junit(self, path: str | Path) -> None: ...
    def to_junit(self, path: str | Path | None = None) -> str | None:
        """Return the gate as a test suite of JUnit's XML, which CI servers show, or write it to a file.

        Parameters
        ----------
        path
            The file; None returns the text.
        """
        failed = sum(not check.passed for check in self.checks)
        suite = ElementTree.Element("testsuite", name="recnb", tests=f"{len(self.checks)}", failures=f"{failed}")
        for check, line in zip(self.checks, self.lines, strict=True):
            name = f"{check.label} {check.kind} {one_line(check.model)}".rstrip()
            case = ElementTree.SubElement(suite, "testcase", classname="recnb", name=name)
            shown = ElementTree.SubElement(case, "system-out" if check.passed else "failure")
            shown.text = line
            if not check.passed:
                shown.set("message", line)
        if self.warnings:
            ElementTree.SubElement(suite, "system-out").text = "\n".join(self.warnings)
        ElementTree.indent(suite)
        text = ElementTree.tostring(suite, encoding="unicode")
        return written(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', path)

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
                "results/table.jinja", label=_("gate"), title=_("Gate: passed") if self else _("Gate: failed"), numbers_from=2,
                header=[_("result"), _("check")], rows=rows, basis=self.basis,
            ))  # fmt: skip


def at_least(
    models: Mapping[str, EvaluationData],
    basis: str,
    metric: str,
    value: float,
    k: int | None,
    options: Mapping[str, Any],
) -> Gate:
    """Whether a number of each model reaches a value; `basis` is that of metrics of the users compared."""
    if not is_number(value):
        raise OptionError(Argument("value", value), " is no number that a metric could reach: give one, such as 0.3.")
    chosen, cutoff = measure_at(metric, k)
    check_options(chosen, options)
    scores = {model: score_of(data, chosen, cutoff, options) for model, data in models.items()}
    checks = [
        AtLeast(chosen.name, cutoff, model, models[model].n_users, float(score), float(value))
        for model, score in scores.items()
    ]
    data = next(iter(models.values()))
    if chosen.data or not chosen.is_accuracy or data.library is not None:
        bases = {model: score.basis for model, score in scores.items()}
        alike = len(set(bases.values())) == 1
        basis = bases.popitem()[1] if alike else "; ".join(f"{one_line(model)}: {bases[model]}" for model in bases)
    return Gate(tuple(checks), basis)
