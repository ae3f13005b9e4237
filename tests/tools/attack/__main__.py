"""`python -m tests.tools.attack --minutes 60 --seed 7`: random frames of any kind, by any way in, against plain Python."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.tools.attack.cases import Case, cases
from tests.tools.attack.check import FindingError, check

ROUND = 200  #: cases of one seed


def attack(seed: int, seconds: float) -> tuple[Counter[str], list[str]]:
    """Check cases for this long; return the outcomes, and the findings, each with the smallest case that shows it."""
    outcomes, found, end = Counter[str](), list[str](), time.monotonic() + seconds
    while time.monotonic() < end and len(found) < 3:
        try:
            one_round(seed, end, outcomes)
        except* FindingError as problems:
            for problem in problems.exceptions:
                found.append("\n".join([f"seed {seed}: {problem}", *getattr(problem, "__notes__", [])]))
                print(found[-1])
        seed += 1
    return outcomes, found


def one_round(seed: int, end: float, outcomes: Counter[str]) -> None:
    """Check the cases of one seed, until the time is over."""
    failed, phases = [], [Phase.generate, Phase.shrink]

    @hypothesis.seed(seed)
    @settings(max_examples=ROUND, database=None, deadline=None, phases=phases, suppress_health_check=list(HealthCheck))
    @given(cases())
    def one_case(case: Case) -> None:
        if time.monotonic() > end and not failed:
            return
        try:
            outcomes[check(case)] += 1
        except FindingError:
            failed.append(case)
            raise

    one_case()


def main() -> int:
    os.environ["RECNB_NO_PROGRESS"] = "1"
    parser = argparse.ArgumentParser(prog="python -m tests.tools.attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1000 * int(time.strftime("%Y%m%d")))
    asked = parser.parse_args()
    outcomes, found = attack(asked.seed, asked.minutes * 60)
    print(f"from seed {asked.seed}: {outcomes.total():,} cases, {dict(outcomes)}, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
