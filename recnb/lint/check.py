"""A check: a function of the data that yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from recnb.conventions import Convention
from recnb.data.columns import role_of
from recnb.display.language import Message, _, current
from recnb.lint.data import LintData
from recnb.lint.findings import TITLES, Finding, Severity

Findings = Iterator[Finding]
CheckFunction = Callable[[LintData], Findings]
#: The frame without which there is nothing to check.
Needs = Literal["train", "items", "users"] | None


@dataclass(frozen=True)
class Check:
    """A function that looks for one thing, and has the name of its findings."""

    function: CheckFunction
    needs: Needs

    @property
    def name(self) -> str:
        """The name of its findings."""
        return self.function.__name__

    def findings(self, data: LintData) -> list[Finding]:
        """The findings in the data; one of no case is none."""
        return [replace(finding, name=self.name) for finding in self.function(data) if finding.n]


def check(title: str, needs: Needs = None) -> Callable[[CheckFunction], Check]:
    """Make a function a check; `title`: what it looks for, in lists of checks that were not made."""

    def made(function: CheckFunction) -> Check:
        TITLES[function.__name__] = title
        return Check(function, needs)

    return made


def finding(
    data: LintData, severity: Severity, n: int, of: int, *, short: Message, effect: Message, example: Message = "",
    advice: Message = "", code: str = "", **facts: Any,
) -> Finding:  # fmt: skip
    """A finding: its sentences, and their values besides metric, value and cut-off, which all of them may use.

    The sentences are in the catalogue of translations without a mark such as `N_`.
    """
    cut = _("the whole lists") if data.k is None else _("the first {k:,} places", k=data.k)
    values = {"label": data.label, "value": data.value, "k": data.k or 0, "cut": cut, **facts}
    sentences = {"short": short, "effect": effect, "example": example, "advice": advice}
    return Finding("", severity, int(n), int(of), values, code, sentences, current())


def severity_of(share: float, least: float) -> Severity:
    """A warning from the share `least` on."""
    return "warning" if share >= least else "note"


def with_options(data: LintData, **changes: Any) -> str:
    """The call that evaluates the user's frames with changed options, and with the options that they were evaluated with."""
    labels = {**data.source.truth_labels, **data.source.labels}
    in_lists = labels.get("rank") == labels["item"]  # a column of lists has another role
    combined = data.source.labels is data.source.truth_labels or data.label_of("rank") == data.label_of("item")
    options = [] if data.library is None or combined else [f'convention="{data.library}"']
    roles = [role for role in ("user", "item", "rank", "score", "relevance") if role in labels and not in_lists]
    options += [f"{role}={labels[role]!r}" for role in roles if role_of(labels[role]) != role]
    if data.library is None:
        # The order follows from the columns, the options of the metric are given with the metric.
        axes = [axis for axis in fields(Convention) if axis.name not in ("order", "metric", *changes)]
        values = {axis.name: (getattr(data.convention, axis.name), axis.default) for axis in axes}
        changes = {name: value for name, (value, default) in values.items() if value != default} | changes
    options += [
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value:g}" for name, value in changes.items()
    ]
    return f"{'df.rec.evaluation(' if combined else 'recs.rec.against(truth, '}{', '.join(options)})"
