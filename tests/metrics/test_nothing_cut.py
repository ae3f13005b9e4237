"""Without a cut-off nothing is cut, the ideal list neither; the k of a denominator is the
length of the list.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from random import Random

import pandas as pd
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


#: Metrics whose denominator counts k or the list -> it, of a list's length and the number
#: of relevant items; the k of a denominator is the length of the list.
DIVISORS: dict[tuple[str, str], Callable[[int, int], float]] = {
    ("precision", "k"): lambda length, _n: length,
    ("precision", "list"): lambda length, _n: length,
    ("precision", "min(k, relevant)"): min,
    ("recall", "relevant"): lambda _length, n: n,
    ("recall", "min(k, relevant)"): min,
    ("recall", "min(list, relevant)"): min,
    ("average_precision", "relevant"): lambda _length, n: n,
    ("average_precision", "min(k, relevant)"): min,
    ("average_precision", "k"): lambda length, _n: length,
    ("average_precision", "list"): lambda length, _n: length,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("metric", "out_of"), DIVISORS)
def test_the_k_of_a_denominator_is_the_length_of_the_list(
    metric: str, out_of: str, *, weighted: bool
) -> None:
    """Weights of 1 are no weights."""
    is_weighted = weighted and metric != "average_precision"  # which takes no weights
    options = {"propensity": dict.fromkeys(TRUTH, 1.0)} if is_weighted else {}
    for items in (SHORT, LONG, LONG[:2], ["b1", "g3", "b2"]):
        found = [rank for rank, item in enumerate(items, 1) if item in TRUTH]
        earned = float(len(found))
        if metric == "average_precision":
            earned = sum(nth / rank for nth, rank in enumerate(found, 1))
        ev = recnb.evaluate({"u": items}, {"u": TRUTH}, **options)
        value = getattr(ev, metric)(out_of=out_of)
        assert value == pytest.approx(
            earned / DIVISORS[metric, out_of](len(items), len(TRUTH)), abs=1e-12
        )


def test_the_others_add_up_whole_lists() -> None:
    ranks = [1, 3, 4, 5]
    expected = {
        "fbeta": 2 * 4 / (5 + 4),
        "f1": 2 * 4 / (5 + 4),
        "rbp": sum(0.2 * 0.8 ** (rank - 1) for rank in ranks),
        "err": sum(0.5**nth / rank for nth, rank in enumerate(ranks, 1)),
        "r_precision": 3 / 4,
        "hit_rate": 1,
        "cg": 4,
    }
    for metric, value in expected.items():
        assert getattr(evaluation(LONG), metric)() == pytest.approx(value, abs=1e-12)


NAMES = {
    "ndcg": "ndcg",
    "map": "average_precision",
    "recip_rank": "reciprocal_rank",
    "set_recall": "recall",
    "set_P": "precision",
    "Rprec": "r_precision",
}


@pytest.mark.parametrize("seed", range(20))
def test_whole_lists_are_those_of_pytrec_eval(seed: int) -> None:
    import pytrec_eval

    random = Random(seed)
    every = [f"i{number}" for number in range(12)]
    run, qrel = dict[str, dict[str, float]](), dict[str, dict[str, int]]()
    for user in ("u", "v", "w"):
        items = random.sample(every, random.randint(1, 9))
        scores = random.sample(range(100), len(items))
        run[user] = dict(zip(items, map(float, scores), strict=True))
        judged = random.sample(every, random.randint(1, 9))
        qrel[user] = {item: random.randint(0, 3) for item in judged} | {"sure": 1}
    rows = [(u, i, s) for u, found in run.items() for i, s in found.items()]
    pairs = [(u, i, g) for u, judged in qrel.items() for i, g in judged.items()]
    ev = recnb.evaluate(
        pd.DataFrame(rows, columns=["user", "item", "score"]),
        pd.DataFrame(pairs, columns=["user", "item", "relevance"]),
    )
    want = pytrec_eval.RelevanceEvaluator(qrel, set(NAMES)).evaluate(run)
    for name, metric in NAMES.items():
        values = getattr(ev, metric)().per_user
        for user in run:
            assert values[user] == pytest.approx(want[user][name], abs=1e-9), name
