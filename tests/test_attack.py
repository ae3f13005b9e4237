"""Any frame, of any kind, by any way in and under any options, gives what loops over users and rows give, or is refused.

The command tries the same few hundred data sets each time, CI three minutes of others each day.
"""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import HealthCheck, given, settings

from tests.examples import examples
from tests.tools.attack.__main__ import attack
from tests.tools.attack.cases import Case, cases
from tests.tools.attack.check import check

SEED = int(os.environ.get("RECNB_ATTACK_SEED", 1000 * int(time.strftime("%Y%m%d"))))


@settings(max_examples=examples(800), suppress_health_check=list(HealthCheck))
@given(cases())
def test_any_frame_gives_what_loops_give(case: Case) -> None:
    check(case)


@pytest.mark.attack
def test_nothing_is_found() -> None:
    outcomes, found = attack(SEED, 160)
    assert not found, f"again: RECNB_ATTACK_SEED={SEED}"
    assert outcomes["evaluated"] > outcomes.total() / 4, f"most cases give no number: {outcomes}"
