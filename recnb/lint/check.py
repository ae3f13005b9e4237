"""What a check is: a function of the data that yields findings."""

from __future__ import annotations

import re
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


@dataclass(frozen=True)
class Check:
    """One thing to look for. Its findings have the name of its function."""

    function: CheckFunction
    needs: Literal["train", "items", "users"] | None  #: the frame without which there is nothing to check

    @property
    def name(self) -> str:
        """The name of its findings."""
        return self.function.__name__

    def findings(self, data: LintData) -> list[Finding]:
        """The findings in the data."""
        return [replace(finding, name=self.name) for finding in self.function(data)]


#: All checks, in the order in which the modules are read.
REGISTERED: list[Check] = []


def check(
    title: str, needs: Literal["train", "items", "users"] | None = None
) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as a check; `title`: what it looks for, in lists of checks that were not made."""

    def register(function: CheckFunction) -> CheckFunction:
        REGISTERED.append(Check(function, needs))
        TITLES[function.__name__] = title
        return function

    return register


def finding(
    data: LintData, severity: Severity, n: int, of: int, *, short: Message, effect: Message, example: Message = "",
    advice: Message = "", code: str = "", **facts: Any,
) -> Finding:  # fmt: skip
    """A finding: its sentences and their values, besides metric, value and cut-off, which all of them may use."""
    cut = _("the whole lists") if data.k is None else _("the first {k:,} places", k=data.k)
    values = {"label": data.label, "value": data.value, "k": data.k or 0, "cut": cut, **facts}
    sentences = {"short": short, "effect": effect, "example": example, "advice": advice}
    return Finding("", severity, int(n), int(of), values, code, sentences, current())


def severity_of(share: float, least: float) -> Severity:
    """A warning from the share `least` on."""
    return "warning" if share >= least else "note"


def with_option(data: LintData, option: str) -> str:
    """The call that evaluates the user's frames with an option, and the options that they were evaluated with."""
    options = ", ".join([*_column_options(data), *_convention_options(data, option), option])
    if data.source.labels is data.source.truth_labels or data.label_of("rank") == data.label_of("item"):
        return f"df.rec.evaluation({options})"
    options = options if data.library is None else f'convention="{data.library}", {options}'
    return f"recs.rec.against(truth, {options})"


def _column_options(data: LintData) -> list[str]:
    """Options for the columns whose roles do not follow from their names."""
    labels = {**data.source.truth_labels, **data.source.labels}
    if labels.get("rank") == labels["item"]:
        return []  # lists in one column, which has another role
    named = ((role, labels[role]) for role in ("user", "item", "rank", "score", "relevance") if role in labels)
    return [f"{role}={label!r}" for role, label in named if role_of(label) != role]


def _convention_options(data: LintData, option: str) -> list[str]:
    """Options in which the convention differs from recnb's; a library's convention is named as a whole."""
    if data.library is not None:
        return []
    new = re.findall(r"(\w+)=", option)
    values = {axis.name: (getattr(data.convention, axis.name), axis.default) for axis in fields(Convention)}
    # The order follows from the columns, the options of the metric are given with the metric.
    return [
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value:g}"
        for name, (value, default) in values.items()
        if name not in ("order", "metric", *new) and value != default
    ]
