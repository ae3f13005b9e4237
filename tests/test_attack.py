"""The standing attack, three minutes of it: each day other data sets."""

from __future__ import annotations

import os
import time

import pytest

from tests.attack.drawing import SPOILS, WAYS, draw_case
from tests.attack.kinds import GRADES, IDS, SCORES
from tests.attack.run import attack, finding

SEED = int(os.environ.get("RECNB_ATTACK_SEED", time.strftime("%Y%m%d")))
SECONDS = 160  #: and ten for making a finding small


@pytest.mark.attack
def test_nothing_is_found() -> None:
    print(f"RECNB_ATTACK_SEED={SEED}")
    told: list[str] = []
    run = attack(SEED, SECONDS, most=3, say=lambda found: told.append(str(found)))
    print(run)
    assert not told, f"again: RECNB_ATTACK_SEED={SEED}\n{run}\n" + "\n".join(told)
    assert run.outcomes["evaluated"] > run.n / 4, f"most cases give no number, so little was looked at: {run}"


def test_a_seed_gives_the_same_cases() -> None:
    assert [draw_case(5, number) for number in range(20)] == [draw_case(5, number) for number in range(20)]
    assert draw_case(5, 0) != draw_case(6, 0)


def test_every_kind_and_every_way_is_drawn() -> None:
    cases = [draw_case(1, number) for number in range(1500)]
    assert {kind for case in cases for kind in (*case.users, *case.items)} == set(IDS)
    assert {case.scores for case in cases} == set(SCORES)
    assert {case.grades for case in cases} == set(GRADES)
    assert {case.way for case in cases} == set(WAYS)
    assert len(set(SPOILS)) == len(SPOILS)


def test_a_planted_flaw_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference that is off by one place is told from recnb within a few cases."""
    from tests import reference

    monkeypatch.setattr(reference, "discount_of", lambda rank, discount, log_base: rank + 1.0)
    told = [finding(draw_case(2, number)) for number in range(40)]
    assert any("dcg" in str(one) for one in told)
