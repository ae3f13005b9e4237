"""The lint: findings about the data of an evaluation.

Each has its effect on a metric, and what to type.

A check (`checks.py`) finds rows and says how they are put right (`repair.py`); the
effect is the metric of what is put right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.document import Line, Name, joined, say
from recnb.display.language import N_, Plural, _, current
from recnb.errors import ElsewhereError, OptionError, near
from recnb.lint import checks
from recnb.lint.data import FRAMES, LintData, Measured, NotCheckedError
from recnb.lint.findings import Check, Finding, Lint
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import ACCURACY, METRICS, Given, Metric
from recnb.results.arguments import with_options
from recnb.results.scoring import basis_of

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData, Models

#: In the order in which their findings are shown.
CHECKS = tuple(check for check in vars(checks).values() if isinstance(check, Check))
COUNTS = {
    "warning": Plural("{n:,} warning", "{n:,} warnings"),
    "note": Plural("{n:,} note", "{n:,} notes"),
}


def lint(
    evaluation: EvaluationData, k: int | None, metric: Any, options: Given
) -> Lint:
    """Make all checks that the frames given and the rows in memory allow.

    The arguments are those of `Evaluation.lint`.
    """
    measure = measure_named(metric, ACCURACY)
    if measure.metric.name not in METRICS:
        raise OptionError(
            f"the lint measures its effects on a metric of accuracy. {near(metric, METRICS)}"
        )
    measure = with_options(measure, options).cut_at(k)
    k = measure.k
    data = LintData(evaluation, measure)
    made = ChecksMade()
    for check in CHECKS:
        if check.needs != "propensity" or evaluation.source.weighted:
            made.add(check, data)
    # Warnings first.
    findings = sorted(made.findings, key=lambda finding: finding.severity == "note")
    measured = data.measured
    lower, upper = _bounds(made, measured.value)
    return Lint(
        findings=tuple(findings),
        n_checks=made.n,
        unchecked={frame: _names(left) for frame, left in made.unchecked.items()},
        elsewhere=_names(made.elsewhere),
        undecided={
            check.name: reason
            for reason, left in made.undecided.items()
            for check in left
        },
        label=measured.label,
        k=k,
        value=measured.value,
        lower=lower,
        upper=upper,
        headline=_headline(findings, made.n),
        measured=_measured(measured, data.sample, lower, upper),
        not_checked=tuple(made.not_checked()),
        basis="; ".join(basis_of(evaluation, data.scoring, Cutoffs.one(k)).phrases()),
        lang=current(),
    )


class ChecksMade:
    """The findings of the checks that could be made, and the other checks by reason."""

    def __init__(self) -> None:
        self.n = 0
        self.findings: list[Finding] = []
        self.elsewhere: list[Check] = []  #: rows that they need are not in memory
        self.unchecked: dict[str, list[Check]] = {}  #: by the frame that was not given
        self.undecided: dict[str, list[Check]] = {}  #: by what they say themselves

    def add(self, check: Check, data: LintData) -> None:
        """Make a check, or note why it cannot be made."""
        frame = check.needs
        if frame in FRAMES and frame not in data.given:
            self.unchecked.setdefault(frame, []).append(check)
            return
        try:
            self.findings += check.findings(data)
        except ElsewhereError:
            self.elsewhere.append(check)
        except NotCheckedError as error:
            self.undecided.setdefault(str(error), []).append(check)
        else:
            self.n += 1

    def not_checked(self) -> list[str]:
        """Return a line for each reason why checks were not made."""
        lines = list[str]()
        if self.elsewhere:
            words = N_(
                "Not checked, since the rows of the lists are not in memory: {what}."
            )
            lines.append(_(words, what=_titles(self.elsewhere)))
        for frame, left in self.unchecked.items():
            words = N_("Not checked: {what}. Give `{frame}=` to check.")
            lines.append(_(words, what=_titles(left), frame=frame))
        for reason, left in self.undecided.items():
            words = N_("Not checked: {what}. {reason}")
            lines.append(_(words, what=_titles(left), reason=reason))
        return lines


def _names(listed: Sequence[Check]) -> tuple[str, ...]:
    return tuple(check.name for check in listed)


def _titles(listed: Sequence[Check]) -> str:
    return ", ".join(_(check.title) for check in listed)


def _bounds(made: ChecksMade, value: float) -> tuple[float, float]:
    """Return the metric's mean with all equal scores in their worst and best order.

    NaN if the rows are not in memory.
    """
    for finding in made.findings:
        if finding.name == "ties":
            return finding.facts["lower"], finding.facts["upper"]
    if checks.ties in made.elsewhere:
        return np.nan, np.nan
    return value, value


def _headline(findings: Sequence[Finding], n_checks: int) -> str:
    if not findings:
        return _("Lint: no findings in {checks} checks", checks=n_checks)
    counts = list[str]()
    for severity, plural in COUNTS.items():
        n = sum(finding.severity == severity for finding in findings)
        if n:
            counts.append(_(plural, n=n))
    words = N_("Lint: {counts}, of {checks} checks")
    return _(words, counts=", ".join(counts), checks=n_checks)


def _measured(measured: Measured, users: str, lower: float, upper: float) -> str:
    """Return in words what effects are measured with, over which users."""
    words = N_("Effects are measured with {label}: {value} over {users}.")
    value = f"{measured.value:.4f}"
    sentence = _(words, label=measured.label, value=value, users=users)
    low, high = f"{lower:.4f}", f"{upper:.4f}"
    if not upper > lower or low == high:
        return sentence
    words = N_(
        "With equal scores in another order it could be anything from {low} to {high}."
    )
    return f"{sentence} {_(words, low=low, high=high)}"


def finding_of(
    check: Check, evaluation: EvaluationData, measure: Measure
) -> Finding | None:
    """Return what one check finds; None without a finding, or without rows in memory."""
    try:
        return next(check.findings(LintData(evaluation, measure)), None)
    except (ElsewhereError, NotCheckedError):
        return None


def judged_order(models: Models, measure: Measure) -> Line:
    """Return a warning if unjudged items decide the order of models, else ""."""
    means = dict[str, float]()
    of_judged = dict[str, float]()
    for name, model in models.items():
        means[name] = LintData(model, measure).measured.value
        of_judged[name] = means[name]
        finding = finding_of(checks.unjudged, model, measure)
        if finding is not None:
            of_judged[name] = finding.facts.get("other", means[name])
    order = _best_first(means, measure.metric)
    order_of_judged = _best_first(of_judged, measure.metric)
    if order == order_of_judged:
        return ""
    words = N_(
        "Without the items that are not judged, judged_only=True, the models are "
        "in another order by {label}: {models}."
    )
    listed = [[Name(name), f" {of_judged[name]:.4f}"] for name in order_of_judged]
    return say(words, label=measure.label, models=joined(listed))


def _best_first(values: Mapping[str, float], metric: Metric[...]) -> list[str]:
    return sorted(values, key=lambda name: -metric.sign * values[name])


__all__ = ["CHECKS", "Finding", "Lint", "finding_of", "judged_order", "lint"]
