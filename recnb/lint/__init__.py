"""The lint: findings about the data of an evaluation, their effect on a metric, and what to type.

A check (`checks.py`) finds rows and says how they are put right (`repair.py`); the effect is the metric of what is put right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import current
from recnb.errors import ElsewhereError, OptionError, near
from recnb.lint import checks
from recnb.lint.check import Check
from recnb.lint.data import LintData
from recnb.lint.findings import Finding, Lint
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import METRICS, Metric, metric_named
from recnb.results.arguments import check_options

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: In the order in which their findings are shown.
CHECKS = tuple(check for check in vars(checks).values() if isinstance(check, Check))


def lint(evaluation: EvaluationData, k: int | None, metric: str, options: Mapping[str, Any]) -> Lint:
    """Make all checks that the frames given and the rows in memory allow; the arguments are those of `Evaluation.lint`."""
    chosen = metric_named(metric)
    if chosen.plain_name not in METRICS:
        raise OptionError(f"the lint measures its effects on a metric of accuracy. {near(metric, METRICS)}")
    check_options(chosen, options)
    (k,) = Cutoffs.one(k).values
    data = LintData(evaluation, chosen, options, k)
    findings: list[Finding] = []
    unchecked: dict[str, tuple[str, ...]] = {}
    elsewhere: list[str] = []
    for check in CHECKS:
        if check.needs not in (None, *data.given):
            unchecked[str(check.needs)] = (*unchecked.get(str(check.needs), ()), check.name)
            continue
        try:
            findings += check.findings(data)
        except ElsewhereError:
            elsewhere.append(check.name)
    findings.sort(key=lambda finding: finding.severity != "warning")
    n_checks = len(CHECKS) - len(elsewhere) - sum(map(len, unchecked.values()))
    label, value, _users = data.own
    low = high = np.nan if "ties" in elsewhere or not np.isfinite(value) else value
    for finding in findings:
        if finding.name == "ties":
            low, high = finding.facts["lower"], finding.facts["upper"]
    return Lint(
        tuple(findings), n_checks, unchecked, label, k, value, low, high, len(data.prepared.users),
        "; ".join(evaluation.basis_of(data.scoring, Cutoffs.one(k)).phrases()), current(), tuple(elsewhere),
    )  # fmt: skip


def ties_in(
    evaluation: EvaluationData, k: int | None, metric: Metric[...], options: Mapping[str, Any]
) -> Finding | None:
    """Return the finding of equal scores, if there are any and the rows of the lists are in memory."""
    try:
        return next(iter(checks.ties.findings(LintData(evaluation, metric, options, k))), None)
    except ElsewhereError:
        return None


__all__ = ["CHECKS", "Finding", "Lint", "lint", "ties_in"]
