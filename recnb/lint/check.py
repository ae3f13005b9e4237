"""A check: a function of the data that yields what it found, and how that becomes a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from recnb.display.language import N_, Message, current
from recnb.errors import RecnbError
from recnb.lint.data import LintData
from recnb.lint.findings import TITLES, Finding, Quoted
from recnb.lint.repair import Repair, code_of, measured

#: The effect of every problem that can be put right: the metric as it is, and of what is put right.
EFFECT = N_("{label} is {value:.4f}; put right, {other_label} is {other:.4f}.")
OF_OTHER_USERS = N_("{label} is {value:.4f}; put right, {other_label} is {other:.4f}, users: {other_users:,} instead of {users:,}.")  # fmt: skip
EXAMPLE = N_("Such as {example}.")


@dataclass(frozen=True)
class Problem:
    """A problem: the rows concerned, one of which is the example, or their number, and how they are put right.

    Its sentences are in the catalogue of translations without a mark such as `N_`; they hold `facts`, {n}, {of}, {label} and {value}.
    """

    rows: pl.DataFrame | int
    of: int
    short: Message
    why: Message = ""  #: what it means for the numbers
    advice: Message = ""
    repair: Repair | None = None
    grave: bool = True  #: whether it is a warning
    frame: str = "recs"  #: whose columns the rows have
    facts: dict[str, Any] = field(default_factory=dict)


CheckFunction = Callable[[LintData], Iterator[Problem]]


@dataclass(frozen=True)
class Check:
    """A function that looks for one thing, and has the name of its findings; `needs`: the frame without which there is nothing to look at."""

    function: CheckFunction
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
        label, value, users = data.own
        facts = {"label": label, "value": value, "users": users, "k": data.k or 0, **found.facts}
        sentences = {"short": found.short, "why": found.why, "advice": found.advice}
        code = ""
        if not isinstance(found.rows, int):
            labels = data.source.truth_labels if found.frame == "truth" else data.source.labels
            first = found.rows.bottom_k(1, by=found.rows.columns[:2]).row(
                0, named=True
            )  # in whatever order rows are given
            facts["example"] = Quoted(**{labels.get(role, role): value for role, value in first.items()})
            sentences["example"] = EXAMPLE
        try:
            if found.repair is not None:
                put_right = measured(data, found.repair)
                code = code_of(data, found.repair)
                if put_right is not None:
                    facts |= dict(zip(("other_label", "other", "other_users"), put_right, strict=True))
                    sentences["effect"] = EFFECT if put_right[2] == users else OF_OTHER_USERS
        except RecnbError:
            pass  # what is put right cannot be evaluated: no number, and no code
        return Finding(self.name, "warning" if found.grave else "note", n, found.of, facts, code, sentences, current())


def check(title: str, needs: str | None = None) -> Callable[[CheckFunction], Check]:
    """Make a function a check; `title`: what it looks for, in lists of checks that were not made."""

    def made(function: CheckFunction) -> Check:
        TITLES[function.__name__] = title
        return Check(function, needs)

    return made
