"""A check: a function of the data that yields what it found, and how that becomes a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from recnb.display.language import N_, Message, _
from recnb.errors import RecnbError
from recnb.lint.data import LintData
from recnb.lint.findings import Finding, quoted_id
from recnb.lint.repair import Repair

SEVERITIES = {"warning": N_("warning"), "note": N_("note")}
#: The effect of every problem that can be put right: the metric as it is, and of what is put right.
EFFECT = N_("{label} is {value:.4f}; put right, {other_label} is {other:.4f}.")
OF_OTHER_USERS = N_("{label} is {value:.4f}; put right, {other_label} is {other:.4f}, users: {other_users:,} instead of {users:,}.")  # fmt: skip
EXAMPLE = N_("Such as {example}.")


@dataclass(frozen=True)
class Problem:
    """A problem: the rows concerned, one of which is the example, or their number, and how they are put right.

    Its sentences are in the catalogue of translations without a mark such as `N_`; they hold `facts`, {n}, {of}, {k}, {label} and {value}.
    """

    rows: pl.DataFrame | int
    of: int
    short: Message
    why: Message  #: what it means for the numbers
    advice: Message
    repair: Repair | None = None
    grave: bool = True  #: whether it is a warning
    frame: str = "recs"  #: whose columns the rows have
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A function that looks for one thing, and has the name of its findings; `needs`: the frame without which there is nothing to look at."""

    function: Callable[[LintData], Iterator[Problem]]
    title: str  #: what it looks for, in lists of checks that were not made
    needs: str | None

    @property
    def name(self) -> str:
        """The name of its findings."""
        return self.function.__name__

    def findings(self, data: LintData) -> Iterator[Finding]:
        """Make findings of what was found, with their effect and code."""
        for found in self.function(data):
            if n := found.rows if isinstance(found.rows, int) else found.rows.height:
                yield self._finding(data, found, n)

    def _finding(self, data: LintData, found: Problem, n: int) -> Finding:
        label, value, users = data.measured
        facts = {
            "label": label,
            "value": value,
            "users": users,
            "k": data.k or 0,
            "n": n,
            "of": found.of,
            **found.facts,
        }
        effect, code, severity = _(found.why, **facts), "", "warning" if found.grave else "note"
        with suppress(RecnbError):  # what is put right may be nothing to evaluate: no number, and no code
            if found.repair is not None and (other := found.repair.measured()) is not None:
                facts |= dict(zip(("other_label", "other", "other_users"), other, strict=True))
                effect += " " + _(EFFECT if other[2] == users else OF_OTHER_USERS, **facts)
            code = "" if found.repair is None else found.repair.code
        advice = _(found.advice, **facts)
        return Finding(
            self.name, severity, _(SEVERITIES[severity]), n, found.of, _(found.short, **facts), effect, _example(data, found),
            advice if code or not advice.endswith(":") else f"{advice[:-1]}.", code, facts,
        )  # fmt: skip


def _example(data: LintData, found: Problem) -> str:
    if isinstance(found.rows, int):
        return ""
    first = found.rows.bottom_k(1, by=found.rows.columns[:2])  # the same in whatever order rows are given
    labels = data.source.truth_labels if found.frame == "truth" else data.source.labels
    cells = (f"{quoted_id(labels.get(role, role))[1:-1]} {quoted_id(cell)}" for role, cell in first.row(0, named=True).items())  # fmt: skip
    return _(EXAMPLE, example=", ".join(cells))


def check(title: str, needs: str | None = None) -> Callable[[Callable[[LintData], Iterator[Problem]]], Check]:
    """Make a function a check."""
    return lambda function: Check(function, title, needs)
