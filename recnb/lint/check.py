"""What a check is: a function from what is looked at to findings, with the frames that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recnb.lint.looked import Looked
from recnb.results.lint import Finding, Severity
from recnb.strings import current, say

Findings = Iterator[Finding]


@dataclass(frozen=True)
class Check:
    """One thing that is looked for."""

    name: str  #: the finding it makes
    function: Callable[[Looked], Findings]
    needs: str | None  #: the frame beside recommendations and truth without which it sees nothing


#: All that is looked for, as the modules are read.
ENTERED: list[Check] = []


def check(
    name: str, needs: str | None = None
) -> Callable[[Callable[[Looked], Findings]], Callable[[Looked], Findings]]:
    """Enter a function among the checks."""

    def enter(function: Callable[[Looked], Findings]) -> Callable[[Looked], Findings]:
        ENTERED.append(Check(name, function, needs))
        return function

    return enter


def found(
    looked: Looked,
    name: str,
    severity: Severity,
    n: int,
    of: int,
    *,
    code: str = "",
    variant: Mapping[str, str] | None = None,
    **facts: Any,
) -> Finding:
    """A finding, with the numbers that all sentences may use: metric, value and cut-off."""
    depth = say("lint.cut.whole") if looked.k is None else say("lint.cut.k", k=looked.k)
    told = {"label": looked.label, "value": looked.value, "k": looked.k or 0, "cut": depth, **facts}
    return Finding(name, severity, int(n), int(of), told, code, dict(variant or {}), current())


def with_option(looked: Looked, option: str) -> str:
    """The call that evaluates the caller's frames with an option."""
    if looked.source.labels is looked.source.truth_labels or looked.label_of("rank") == looked.label_of("item"):
        return f"df.rec.evaluation({option})"
    option = option if looked.library is None else f'convention="{looked.library}", {option}'
    return f"recs.rec.against(truth, {option})"


def severity_of(share: float, grave_from: float) -> Severity:
    """A warning from this share on."""
    return "warning" if share >= grave_from else "note"
