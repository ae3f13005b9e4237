"""Without a cut-off nothing is cut, the ideal list neither, whichever way a list comes in.

What is divided by is held by the naive definitions, which are asked without a cut-off as
well (test_reference.py).
"""

from __future__ import annotations

from math import log2

import pandas as pd  # noqa: F401  # which rows of data name
import pytest

import recnb
from tests.rows import read_rows

TRUTH = ["g0", "g1", "g2", "g3"]
IDEAL = sum(1 / log2(1 + rank) for rank in (1, 2, 3, 4))
SHORT, LONG = ["g0"], ["g0", "b1", "g1", "g2", "g3"]


def evaluation(items: list[str]) -> recnb.Evaluation:
    return recnb.evaluate({"u": items}, {"u": TRUTH})


def of_groups(items: list[str]) -> float:
    """What was not shown has a score below that of what was."""
    every = dict.fromkeys([*items, *TRUTH])
    labels = [float(item in TRUTH) for item in every]
    scores = [-float(place) for place in range(len(every))]
    ev = recnb.evaluate_groups(labels, scores, group=[len(every)])
    return float(ev.ndcg())


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
    found = float(eval(WAYS[way], {**globals(), "items": items}))
    assert found == pytest.approx(gained / IDEAL, abs=1e-12)


def test_groups_have_no_list_that_stops_early() -> None:
    assert of_groups(LONG) == pytest.approx(evaluation(LONG).ndcg(), abs=1e-12)


def test_a_shorter_list_is_never_better() -> None:
    values = [float(recnb.ndcg(LONG[:n], TRUTH)) for n in (5, 4, 3, 2, 1)]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[1] > values[2] > values[3]
