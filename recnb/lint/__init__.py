"""The lint: findings about the data of an evaluation, and their effect on the numbers.

A check is a function in one of the modules `checks_*`, made a `Check` by its decorator; `LintData` is what it sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import current
from recnb.errors import ElsewhereError, OptionError, near
from recnb.lint import checks_ids, checks_lists, checks_train, checks_truth, checks_users
from recnb.lint.check import Check
from recnb.lint.data import LintData
from recnb.lint.findings import Finding, Lint
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import METRICS, Metric, metric_named
from recnb.results.arguments import check_options

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: In the order in which their findings are shown.
CHECKS = tuple(
    check
    for module in (checks_ids, checks_lists, checks_truth, checks_users, checks_train)
    for check in vars(module).values()
    if isinstance(check, Check)
)


def lint(
    evaluation: EvaluationData, k: int | None, metric: str, options: Mapping[str, Any], values: Floats | None = None
) -> Lint:
    """Make all checks that the frames given and the rows in memory allow; the arguments are those of `Evaluation.lint`.

    `values`: the metric's value for each user at k, if it was computed before; NaN for a user who is left out.
    """
    chosen = metric_named(metric)
    if chosen.plain_name not in METRICS:
        raise OptionError(f"the lint measures its effects on a metric of accuracy. {near(metric, METRICS)}")
    check_options(chosen, options)
    (k,) = Cutoffs.one(k).values
    scoring = evaluation.scoring(chosen, options, whole=k is None)
    if values is not None and (np.isnan(values).any() or len(values) < len(scoring.prepared.users)):
        values = None  # whose mean is another
    data = LintData(scoring, evaluation.side_data, k, evaluation.library, values)
    findings: list[Finding] = []
    unchecked: dict[str, tuple[str, ...]] = {}
    elsewhere: list[str] = []
    for check in CHECKS:
        if check.needs is not None and getattr(data.side_data, check.needs) is None:
            unchecked[check.needs] = (*unchecked.get(check.needs, ()), check.name)
            continue
        try:
            findings += check.findings(data)
        except ElsewhereError:
            elsewhere.append(check.name)
    findings.sort(key=lambda finding: finding.severity != "warning")
    n_checks = len(CHECKS) - len(elsewhere) - sum(map(len, unchecked.values()))
    low = high = np.nan if "ties" in elsewhere or not np.isfinite(data.value) else data.value
    for finding in findings:
        if finding.name == "ties":
            low, high = finding.facts["lower"], finding.facts["upper"]
    return Lint(
        tuple(findings), n_checks, unchecked, data.label, k, data.value, low, high, data.n_users,
        "; ".join(evaluation.phrases(scoring, Cutoffs.one(k))), current(), tuple(elsewhere),
    )  # fmt: skip


def ties_in(
    evaluation: EvaluationData, k: int | None, metric: Metric[...], options: Mapping[str, Any]
) -> Finding | None:
    """The finding of equal scores, if there are any and the rows of the lists are in memory."""
    data = LintData(evaluation.scoring(metric, options), evaluation.side_data, k, evaluation.library)
    try:
        return next(iter(checks_lists.ties.findings(data)), None)
    except ElsewhereError:
        return None


__all__ = ["CHECKS", "Finding", "Lint", "lint", "ties_in"]
