"""Many cases after each other; a finding made as small as it stays one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.attack import ways
from tests.attack.checks import check
from tests.attack.drawing import Case, draw_case
from tests.attack.held import FindingError

#: Seconds that one finding may take to be made smaller.
SHRINKING = 10


@dataclass
class Found:
    """A finding: its number under the seed, and the smallest case that shows it."""

    seed: int
    number: int
    problem: FindingError
    case: Case

    def __str__(self) -> str:
        recs, truth = ways.columns_of(self.case)
        columns = "\n".join(
            f"  {side} {name}: {list(one)!r} ({one.dtype})"
            for side, some in (("recs", recs), ("truth", truth))
            for name, one in some.items()
        )
        return f"{self.problem}\n  again: python -m tests.attack --seed {self.seed} --only {self.number}\n  {self.case!r}\n{columns}"


@dataclass
class Run:
    """What was tried, and what was found: one of each kind."""

    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    found: dict[str, Found] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.outcomes.total()

    def __str__(self) -> str:
        outcomes = ", ".join(f"{n:,} {name}" for name, n in self.outcomes.most_common())
        return f"seed {self.seed}: {self.n:,} data sets ({outcomes}), {len(self.found)} kinds of findings"


def finding(case: Case) -> FindingError | None:
    try:
        check(case)
    except FindingError as problem:
        return problem
    return None


def smaller(case: Case, problem: FindingError) -> tuple[Case, FindingError]:
    """Rows, options and metrics left out, one after the other, for as long as the same is found."""

    def still(other: Case) -> FindingError | None:
        now = finding(other)
        return now if now is not None and now.what == problem.what else None

    tries: list[Callable[[Case], list[Case]]] = [
        lambda one: (
            [replace(one, metrics={name: options}) for name, options in one.metrics.items()]
            if len(one.metrics) > 1
            else []
        ),
        lambda one: [replace(one, k=(k,)) for k in one.k] if len(one.k) > 1 else [],
        lambda one: [
            replace(one, options={other: value for other, value in one.options.items() if other != name})
            for name in one.options
        ],
        lambda one: [replace(one, recs=one.recs[:at] + one.recs[at + 1 :]) for at in range(len(one.recs))],
        lambda one: [replace(one, truth=one.truth[:at] + one.truth[at + 1 :]) for at in range(len(one.truth))],
        lambda one: [replace(one, way="pandas")] if one.way != "pandas" else [],
        lambda one: [replace(one, users=("int64", "int64"))] if one.users != ("int64", "int64") else [],
        lambda one: [replace(one, items=("int64", "int64"))] if one.items != ("int64", "int64") else [],
        lambda one: [replace(one, changed=False)] if one.changed else [],
    ]
    end, again = time.monotonic() + SHRINKING, True
    while again:
        again = False
        for candidates in tries:
            for other in candidates(case):
                if time.monotonic() > end:
                    return case, problem
                now = still(other)
                if now is not None:
                    case, problem, again = other, now, True
                    break
    return case, problem


def attack(
    seed: int, seconds: float, *, only: int | None = None, most: int = 20, say: Callable[[Any], None] = print
) -> Run:
    """Cases for this long, or one; each kind of finding is told once."""
    run, end, number = Run(seed), time.monotonic() + seconds, only or 0
    while time.monotonic() < end or only is not None:
        case = draw_case(seed, number)
        try:
            run.outcomes[check(case)] += 1
        except FindingError as problem:
            run.outcomes["found"] += 1
            if problem.what not in run.found:
                run.found[problem.what] = Found(seed, number, problem, case)
                small, told = smaller(case, problem)
                run.found[problem.what] = Found(seed, number, told, small)
                say(run.found[problem.what])
                if len(run.found) >= most:
                    break
        if only is not None:
            break
        number += 1
    return run
