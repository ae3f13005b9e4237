"""What a check is: a function from what is looked at to findings, with the frames that it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from recnb.conventions import Convention
from recnb.data.columns import role_of
from recnb.display.language import Message, _, current
from recnb.lint.context import LintContext
from recnb.lint.findings import Finding, Severity

Findings = Iterator[Finding]


@dataclass(frozen=True)
class Check:
    """One thing that is looked for."""

    name: str  #: the finding it makes
    function: Callable[[LintContext], Findings]
    needs: str | None  #: the frame beside recommendations and truth without which it sees nothing


#: Of a convention, what follows from the columns and the metric, and is nothing that one says.
NOT_ASKED = ("order", "metric")

#: All that is looked for, as the modules are read.
ENTERED: list[Check] = []


def check(
    name: str, needs: str | None = None
) -> Callable[[Callable[[LintContext], Findings]], Callable[[LintContext], Findings]]:
    """Enter a function among the checks."""

    def enter(function: Callable[[LintContext], Findings]) -> Callable[[LintContext], Findings]:
        ENTERED.append(Check(name, function, needs))
        return function

    return enter


def found(
    looked: LintContext,
    name: str,
    severity: Severity,
    n: int,
    of: int,
    *,
    short: Message,
    effect: Message,
    example: Message = "",
    advice: Message = "",
    code: str = "",
    **facts: Any,
) -> Finding:
    """A finding: its sentences, with the numbers that all of them may use: metric, value and cut-off."""
    depth = _("the whole lists") if looked.k is None else _("the first {k:,} places", k=looked.k)
    told = {"label": looked.label, "value": looked.value, "k": looked.k or 0, "cut": depth, **facts}
    sentences = {"short": short, "effect": effect, "example": example, "advice": advice}
    return Finding(name, severity, int(n), int(of), told, code, sentences, current())


def with_option(looked: LintContext, option: str) -> str:
    """The call that evaluates the caller's frames with an option, beside those that they were evaluated with."""
    options = ", ".join([*_columns_named(looked), *_options_kept(looked, option), option])
    if looked.source.labels is looked.source.truth_labels or looked.label_of("rank") == looked.label_of("item"):
        return f"df.rec.evaluation({options})"
    options = options if looked.library is None else f'convention="{looked.library}", {options}'
    return f"recs.rec.against(truth, {options})"


def _columns_named(looked: LintContext) -> list[str]:
    """The columns whose names do not tell what they hold."""
    labels = {**looked.source.truth_labels, **looked.source.labels}
    if labels.get("rank") == labels["item"]:
        return []  # lists in one column, which goes by another role
    named = ((role, labels[role]) for role in ("user", "item", "rank", "score", "relevance") if role in labels)
    return [f"{role}={label!r}" for role, label in named if role_of(label) != role]


def _options_kept(looked: LintContext, option: str) -> list[str]:
    """What was asked for that is not recnb's own; a library's own decisions come with its name."""
    if looked.library is not None:
        return []
    given = set(re.findall(r"(\w+)=", option))
    apart = {one.name: getattr(looked.convention, one.name) for one in fields(Convention) if one.name not in NOT_ASKED}
    return [
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value:g}"
        for name, value in apart.items()
        if name not in given and value != getattr(Convention(), name)
    ]


def severity_of(share: float, grave_from: float) -> Severity:
    """A warning from this share on."""
    return "warning" if share >= grave_from else "note"
