"""The lint: findings about the data of an evaluation.

Each has its effect on a metric, and what to type.

A check (`checks.py`) finds rows and says how they are put right (`repair.py`); the
effect is the metric of what is put right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recnb.display.forms import Line, Name, joined, say
from recnb.display.language import N_, Plural, _, current
from recnb.errors import OptionError, near
from recnb.lint import checks
from recnb.lint.data import LintData, NotCheckedError
from recnb.lint.findings import Check, Finding, Lint
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import ACCURACY, METRICS, Given, Metric

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
    measure = measure.with_options(options).cut_at(k)
    data = LintData(evaluation, measure)
    is_weighted = evaluation.source.has_propensities
    wanted = [check for check in CHECKS if is_weighted or not check.weighted]
    found = list[Finding]()
    not_made = dict[Check, NotCheckedError]()
    for check in wanted:
        try:
            found += check.findings(data)
        except NotCheckedError as reason:
            # A traceback holds the frames of these calls, and so all rows.
            not_made[check] = reason.with_traceback(None)
    # Warnings first.
    findings = sorted(found, key=lambda finding: finding.severity == "note")
    n_checks = len(wanted) - len(not_made)
    return Lint(
        findings=tuple(findings),
        n_checks=n_checks,
        not_checked={check.name: str(reason) for check, reason in not_made.items()},
        label=measure.label,
        value=data.measured.value,
        headline=_headline(findings, n_checks),
        measured=data.in_words,
        not_checked_lines=_lines(not_made),
        basis="; ".join(data.scoring.phrases()),
        lang=current(),
    )


def _lines(not_made: Mapping[Check, NotCheckedError]) -> tuple[str, ...]:
    """Return a line for each reason why checks were not made."""
    titles = dict[str, list[str]]()
    for check, reason in not_made.items():
        titles.setdefault(str(reason), []).append(_(check.title))
    return tuple(
        _("Not checked: {what}. {reason}", what=", ".join(what), reason=reason)
        for reason, what in titles.items()
    )


def _headline(findings: Sequence[Finding], n_checks: int) -> str:
    if not findings:
        return _("Lint: no findings in {checks} checks", checks=n_checks)
    counts = list[str]()
    for severity, plural in COUNTS.items():
        n = sum(finding.severity == severity for finding in findings)
        if n:
            counts.append(_(plural, n=n))
    listed = ", ".join(counts)
    return _("Lint: {counts}, of {checks} checks", counts=listed, checks=n_checks)


def finding_of(
    check: Check, evaluation: EvaluationData, measure: Measure
) -> Finding | None:
    """Return what one check finds first; None if nothing, or if it cannot be made."""
    try:
        findings = check.findings(LintData(evaluation, measure))
    except NotCheckedError:
        return None
    return findings[0] if findings else None


def judged_order(models: Models, measure: Measure) -> dict[str, float]:
    """Return the means of models over the items that are judged, the best first.

    Empty if these have the same order over all items.
    """
    means = dict[str, float]()
    of_judged = dict[str, float]()
    for name, model in models.items():
        means[name] = LintData(model, measure).measured.value
        of_judged[name] = means[name]
        finding = finding_of(checks.unjudged, model, measure)
        if finding is not None:
            of_judged[name] = finding.facts.get("other", means[name])
    order = _best_first(of_judged, measure.metric)
    if order == _best_first(means, measure.metric):
        return {}
    return {name: of_judged[name] for name in order}


def order_in_words(label: str, of_judged: Mapping[str, float]) -> Line:
    """Warn that items nobody judged decide the order of models."""
    words = N_(
        "Without the {items} that are not judged, judged_only=True, the models are in "
        "another order by {label}: {models}."
    )
    listed = [[Name(name), f" {mean:.4f}"] for name, mean in of_judged.items()]
    return say(words, label=label, models=joined(listed))


def _best_first(values: Mapping[str, float], metric: Metric[...]) -> list[str]:
    return sorted(values, key=lambda name: -metric.sign * values[name])


__all__ = [
    "CHECKS",
    "Finding",
    "Lint",
    "finding_of",
    "judged_order",
    "lint",
    "order_in_words",
]
