"""Any frame, of any kind, by any way in and under any options, gives what loops over users and rows give, or is refused.

The command tries the same few hundred data sets each time, CI three minutes of others each day.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.examples import examples
from tests.tools.attack import ways
from tests.tools.attack.__main__ import attack
from tests.tools.attack.cases import WAYS, Case, cases
from tests.tools.attack.check import check
from tests.tools.attack.kinds import GRADES, IDS, SCORES

SEED = int(os.environ.get("RECNB_ATTACK_SEED", 1000 * int(time.strftime("%Y%m%d"))))


@settings(max_examples=examples(800), suppress_health_check=list(HealthCheck))
@given(cases())
def test_any_frame_gives_what_loops_give(case: Case) -> None:
    check(case)


@pytest.mark.attack
def test_nothing_is_found() -> None:
    outcomes, found = attack(SEED, 160)
    assert not found, f"again: RECNB_ATTACK_SEED={SEED}"
    assert outcomes["evaluated"] > outcomes.total() / 4, (
        f"most cases give no number, so little was looked at: {outcomes}"
    )


def test_every_kind_and_every_way_is_drawn() -> None:
    drawn: list[Case] = []

    @settings(
        max_examples=800,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def keep(case: Case) -> None:
        drawn.append(case)

    keep()
    assert {kind for case in drawn for kind in (*case.users, *case.items)} == set(IDS)
    assert {case.scores for case in drawn} == set(SCORES)
    assert {case.grades for case in drawn} == set(GRADES)
    assert {case.way for case in drawn} == set(WAYS)


@pytest.mark.parametrize("how", ways.SPOILS)
def test_what_must_be_refused_differs_from_what_is_taken(how: str) -> None:
    rows = ((0, 0, 1, 1), (0, 1, 0, 2))
    case = Case(("int64",) * 2, ("int64",) * 2, "float64", "float64", rows, ((0, 0, 2), (0, 3, 1)), ("score",))
    recs, truth = (ways.native(columns) for columns in ways.columns_of(case))
    spoiled = ways.SPOILS[how]((recs.copy(), truth.copy()), 0)
    assert any(not one.equals(other) for one, other in zip((recs, truth), spoiled, strict=True))


def test_a_planted_flaw_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests import reference

    monkeypatch.setattr(reference, "discount_of", lambda position, discount, log_base: position + 1.0)
    _outcomes, found = attack(2, 30, say=lambda text: None, shrink=False)
    assert any("dcg" in one for one in found)


def test_the_length_of_a_list_with_gaps_and_shared_places_is_not_defined_by_the_reference() -> None:
    """Two items that were missed share place 3 below a list whose last rank is 2: its length is 4, and no place says so."""
    options = {"ties": "floor_mean_rank", "candidates": "padded", "negative_relevance": "zero"}
    case = Case(
        ("int64",) * 2, ("int64",) * 2, "float64", "signed", ((0, 0, 1, 2),), ((0, 6, 0), (0, 10, 3)), ("rank",), options,
        {"precision": {"out_of": "list"}}, (20,),
    )  # fmt: skip
    assert check(case) == "evaluated"
    assert check(replace(case, metrics={"precision": {}})) == "evaluated"
