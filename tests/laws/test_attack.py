"""Any frame, of any kind, by any way in and under any options, gives what loops over
users and rows give, or is refused.

The command tries the same 40 data sets each time, CI some thousand others each day:
RECNB_ATTACK_SEED and RECNB_ATTACK_CASES say which, and how many.
"""

from __future__ import annotations

import os
import time

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings

from tests.tools.attack.cases import Case, cases
from tests.tools.attack.check import check

SEED = int(os.environ.get("RECNB_ATTACK_SEED", time.strftime("%Y%m%d")))
CASES = int(os.environ.get("RECNB_ATTACK_CASES", "4000"))


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(cases())
def test_any_frame_gives_what_loops_give(case: Case) -> None:
    check(case)


@pytest.mark.attack
@hypothesis.seed(SEED)
@settings(max_examples=CASES, database=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_nothing_is_found(case: Case) -> None:
    check(case)
