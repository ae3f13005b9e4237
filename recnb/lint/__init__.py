"""The lint: what is odd about the data of an evaluation, and what it does to the numbers.

Each check is a function in one of the modules `of_lists`, `of_truth`, `of_users`, `of_train` and `of_ids`, entered in
CHECKS by its decorator; what they look at is made once, in `looked`. All work is on whole columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import current
from recnb.errors import ElsewhereError
from recnb.lint import checks_ids, checks_lists, checks_train, checks_truth, checks_users
from recnb.lint.check import ENTERED
from recnb.lint.context import LintContext
from recnb.lint.findings import Finding, Lint
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import metric_named

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: Where checks are, in the order in which their findings are shown; within a module as they stand there.
MODULES = (checks_ids, checks_lists, checks_truth, checks_users, checks_train)
CHECKS = tuple(one for module in MODULES for one in ENTERED if one.function.__module__ == module.__name__)


def lint(evaluation: EvaluationData, k: int | None = 10, metric: str = "ndcg", **options: Any) -> Lint:
    """Look for everything in CHECKS that the frames given allow, and the rows that are here."""
    chosen = metric_named(metric)
    chosen.check(options)
    (k,) = Cutoffs.one(k).values
    scoring = evaluation.scoring(chosen, options)
    looked = LintContext(scoring, evaluation.side_data, k, evaluation.library)
    given = {"train": looked.side_data.train, "items": looked.side_data.items, "users": looked.side_data.users}
    findings: list[Finding] = []
    unchecked: dict[str, tuple[str, ...]] = {}
    elsewhere: list[str] = []
    for check in CHECKS:
        if check.needs is not None and given[check.needs] is None:
            unchecked[check.needs] = (*unchecked.get(check.needs, ()), check.name)
            continue
        try:
            findings += list(check.function(looked))
        except ElsewhereError:
            elsewhere.append(check.name)
    n_checks = len(CHECKS) - len(elsewhere) - sum(map(len, unchecked.values()))
    low, high = (np.nan, np.nan) if "ties" in elsewhere else _bounds(findings, looked)
    findings.sort(key=lambda one: one.severity != "warning")
    return Lint(
        tuple(findings), n_checks, unchecked, looked.label, k, looked.value, low, high, looked.n_users,
        evaluation.basis_of_metric(scoring), current(), tuple(elsewhere),
    )  # fmt: skip


def _bounds(findings: list[Finding], looked: LintContext) -> tuple[float, float]:
    """How far ties could move the mean: nowhere, if none were found."""
    facts: Mapping[str, Any] = next((one.facts for one in findings if one.name == "ties"), {})
    low, high = facts.get("lower", looked.value), facts.get("upper", looked.value)
    return (float(low), float(high)) if np.isfinite(low) else (np.nan, np.nan)


__all__ = ["CHECKS", "Finding", "Lint", "lint"]
