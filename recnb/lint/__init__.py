"""The lint: findings about the data of an evaluation, their effect on a metric, and
what to type.

A check (`checks.py`) finds rows and says how they are put right (`repair.py`); the
effect is the metric of what is put right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.document import Line, Name, joined, say
from recnb.display.language import N_, Plural, _, current
from recnb.display.text import users_in_words
from recnb.errors import ElsewhereError, OptionError, near
from recnb.lint import checks
from recnb.lint.data import LintData, NotCheckedError
from recnb.lint.findings import Check, Finding, Lint
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import ACCURACY, METRICS, Given, Metric
from recnb.results.arguments import check_options
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
    """Make all checks that the frames given and the rows in memory allow; the arguments
    are those of `Evaluation.lint`.
    """
    chosen = metric_named(metric, ACCURACY)
    if chosen.plain_name not in METRICS:
        raise OptionError(
            f"the lint measures its effects on a metric of accuracy. {near(metric, METRICS)}"
        )
    check_options(chosen, options)
    k = chosen.cut_at(k)
    data, findings = LintData(evaluation, chosen, options, k), list[Finding]()
    unchecked: dict[
        str, list[Check]
    ] = {}  # by the frame that was not given; "" is rows that are not in memory
    undecided: dict[str, list[Check]] = {}  # by the reason
    checks_here = [
        check
        for check in CHECKS
        if check.needs != "propensity" or evaluation.source.weighted
    ]
    for check in checks_here:
        try:
            if check.needs in (None, "propensity", *data.given):
                findings += check.findings(data)
            else:
                unchecked.setdefault(str(check.needs), []).append(check)
        except ElsewhereError:
            unchecked.setdefault("", []).append(check)
        except NotCheckedError as error:
            undecided.setdefault(str(error), []).append(check)
    left_out = [*unchecked.values(), *undecided.values()]
    n_checks = len(checks_here) - sum(map(len, left_out))
    not_checked = _not_checked(unchecked, undecided)
    elsewhere = unchecked.pop("", [])
    label, value, n_users = data.measured
    known = np.nan if checks.ties in elsewhere else value
    bounds = next((finding.facts for finding in findings if finding.name == "ties"), {})
    lower, upper = bounds.get("lower", known), bounds.get("upper", known)
    findings.sort(key=lambda finding: finding.severity != "warning")
    missing = {
        frame: tuple(check.name for check in left) for frame, left in unchecked.items()
    }
    return Lint(
        tuple(findings),
        n_checks,
        missing,
        tuple(check.name for check in elsewhere),
        {check.name: reason for reason, left in undecided.items() for check in left},
        label,
        k,
        value,
        lower,
        upper,
        _headline(findings, n_checks),
        _measured(label, value, lower, upper, n_users),
        tuple(not_checked),
        "; ".join(basis_of(evaluation, data.scoring, Cutoffs.one(k)).phrases()),
        current(),
    )


def _not_checked(
    unchecked: Mapping[str, Sequence[Check]], undecided: Mapping[str, Sequence[Check]]
) -> list[str]:
    """Return a line for each reason why checks were not made: a frame that was not
    given, rows that are elsewhere, and what a check says itself.
    """
    lines = list[str]()
    for frame, checks_left in sorted(unchecked.items(), key=lambda pair: not pair[0]):
        words = (
            N_("Not checked: {what}. Give `{frame}=` to check.")
            if frame
            else N_(
                "Not checked, since the rows of the lists are not in memory: {what}."
            )
        )
        lines.append(_(words, frame=frame, what=_titles(checks_left)))
    for reason, checks_left in undecided.items():
        words = N_("Not checked: {what}. {reason}")
        lines.append(_(words, what=_titles(checks_left), reason=reason))
    return lines


def _titles(listed: Sequence[Check]) -> str:
    return ", ".join(_(check.title) for check in listed)


def _headline(findings: list[Finding], n_checks: int) -> str:
    if not findings:
        return _("Lint: no findings in {checks} checks", checks=n_checks)
    numbers = {
        severity: sum(finding.severity == severity for finding in findings)
        for severity in COUNTS
    }
    counts = ", ".join(_(COUNTS[severity], n=n) for severity, n in numbers.items() if n)
    return _("Lint: {counts}, of {checks} checks", counts=counts, checks=n_checks)


def _measured(
    label: str, value: float, lower: float, upper: float, n_users: int
) -> str:
    measured = N_("Effects are measured with {label}: {value} over {users}.")
    words = _(
        measured, label=label, value=f"{value:.4f}", users=users_in_words(n_users)
    )
    if not upper > lower or f"{upper:.4f}" == f"{lower:.4f}":
        return words
    bounds = N_(
        "With equal scores in another order it could be anything from {low} to {high}."
    )
    return f"{words} {_(bounds, low=f'{lower:.4f}', high=f'{upper:.4f}')}"


def finding_of(
    check: Check,
    evaluation: EvaluationData,
    k: int | None,
    metric: Metric[...],
    options: Given,
) -> Finding | None:
    """Return what one check finds, if it finds anything and the rows of the lists are
    in memory.
    """
    try:
        return next(check.findings(LintData(evaluation, metric, options, k)), None)
    except (ElsewhereError, NotCheckedError):
        return None


def judged_order(
    models: Models, k: int | None, metric: Metric[...], options: Given
) -> Line:
    """Return a warning if models are in another order without the items that are not
    judged, else "".
    """
    found = {
        name: finding_of(checks.unjudged, model, k, metric, options)
        for name, model in models.items()
    }
    if not any(found.values()):
        return ""
    means = {
        name: LintData(model, metric, options, k).measured[1]
        for name, model in models.items()
    }
    alone = {
        name: one.facts.get("other", means[name]) if one else means[name]
        for name, one in found.items()
    }
    orders = [
        sorted(means, key=lambda name: -metric.sign * values[name])
        for values in (means, alone)
    ]
    if orders[0] == orders[1]:
        return ""
    words = N_(
        "Without the items that are not judged, judged_only=True, the models are "
        "in another order by {label}: {models}."
    )
    return say(
        words,
        label=metric.label(k),
        models=joined([Name(name), f" {alone[name]:.4f}"] for name in orders[1]),
    )


__all__ = ["CHECKS", "Finding", "Lint", "finding_of", "judged_order", "lint"]
