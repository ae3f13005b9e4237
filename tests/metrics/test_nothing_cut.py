"""Without a cut-off nothing is cut, the ideal list neither, whichever way a list comes in.

What is divided by is held by the naive definitions, which are asked without a cut-off as
well (test_reference.py).
"""

from __future__ import annotations

from math import log2

import pytest

import recnb
from tests.rows import read_rows, value_of

TRUTH = ["g0", "g1", "g2", "g3"]
IDEAL = sum(1 / log2(1 + rank) for rank in (1, 2, 3, 4))
SHORT, LONG = ["g0"], ["g0", "b1", "g1", "g2", "g3"]


def evaluation(items: list[str]) -> recnb.Evaluation:
    return recnb.evaluate({"u": items}, {"u": TRUTH})


WAYS = read_rows("metrics/nothing_cut.toml")


@pytest.mark.thin
@pytest.mark.parametrize("items", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("way", WAYS)
def test_a_list_that_stops_early_is_charged_for_what_it_lacks(
    way: str, items: list[str]
) -> None:
    gained = sum(
        1 / log2(1 + rank) for rank, item in enumerate(items, 1) if item in TRUTH
    )
    found = float(value_of(WAYS[way], {**globals(), "items": items}))
    assert found == pytest.approx(gained / IDEAL, abs=1e-12)
