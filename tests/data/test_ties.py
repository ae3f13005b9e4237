"""Equal scores: long runs of them in closed form, what is tied below a list, and what has no mean; the law of test_attack has the rest."""

from __future__ import annotations

import math
from fractions import Fraction

import pandas as pd
import pytest

import recnb
from recnb.errors import OptionError


@pytest.mark.parametrize("g, m, above", [(1000, 1, 0), (1000, 7, 0), (1000, 400, 3), (1000, 1000, 2), (5000, 30, 1)])
def test_large_runs_of_equal_scores(g: int, m: int, above: int):
    """Exact fractions say what a thousand tied items give; enumerating their orders could not."""
    items = [f"i{number}" for number in range(above + g)]
    recs = pd.DataFrame({"user": 1, "item": items, "score": [2.0] * above + [1.0] * g})
    truth = pd.DataFrame({"user": 1, "item": items[above : above + m]})
    ev = recnb.evaluate(recs, truth, ties="expected")
    first = [Fraction(math.comb(g - j, m - 1), math.comb(g, m)) for j in range(1, g + 1)]
    for k in (1, 10, g // 2, above + g):
        inside = range(1, min(g, k - above) + 1)
        wanted = {
            "precision": Fraction(m * len(inside), g * k),
            "recall": Fraction(len(inside), g),
            "hit_rate": sum(first[: len(inside)], Fraction(0)),
            "reciprocal_rank": math.fsum(float(first[j - 1]) / (above + j) for j in inside),
            "average_precision": math.fsum((1 + (j - 1) * (m - 1) / (g - 1)) / (above + j) / g for j in inside),
            "dcg": math.fsum(m / g / math.log2(above + j + 1) for j in inside),
        }
        for name, value in wanted.items():
            got = float(getattr(ev, name)(k=k))
            assert math.isfinite(got)
            assert got == pytest.approx(float(value), rel=1e-9, abs=1e-12), (name, k)


def test_padding_shares_the_bottom():
    """Two judged items were not recommended: either may stand third."""
    recs = pd.DataFrame({"user": 1, "item": ["a", "b"], "score": [2.0, 1.0]})
    truth = pd.DataFrame({"user": 1, "item": ["c", "d"], "relevance": [1.0, 0.0]})
    ev = recnb.evaluate(recs, truth, ties="expected", candidates="padded")
    assert float(ev.reciprocal_rank()) == pytest.approx((1 / 3 + 1 / 4) / 2, abs=1e-15)
    worst = recnb.evaluate(recs, truth, ties="worst", candidates="padded")
    assert float(worst.reciprocal_rank()) == 1 / 4


def test_what_has_no_closed_form_is_refused():
    recs = pd.DataFrame({"user": 1, "item": ["a", "b"], "score": [1.0, 1.0]})
    truth = pd.DataFrame({"user": 1, "item": ["a"]})
    ev = recnb.evaluate(recs, truth, ties="expected")
    for ask, words in (
        (ev.err, "no mean over ties"),
        (lambda: ev.average_precision(out_of="hits"), "no mean over ties"),
        (lambda: ev.reciprocal_rank(target="preferred"), "choose ties='first'"),
        (lambda: ev.explain("ndcg", 1), "follows one"),
        (
            lambda: recnb.evaluate(recs, truth, ties="expected", duplicates="hit_once"),
            "has no mean for duplicates=.hit_once",
        ),
        (lambda: recnb.evaluate(recs, truth, ties="last", candidates="catalogue"), "goes with"),
    ):
        with pytest.raises(OptionError, match=words):
            ask()


@pytest.mark.parametrize("duplicates", ["keep", "rows", "hit_once", "dedupe"])
@pytest.mark.parametrize("order", ["rank", "score"])
def test_a_preferred_item_that_is_repeated_counts_where_it_first_stands(duplicates: str, order: str) -> None:
    recs = pd.DataFrame({"user": 1, "item": ["x", "a", "b", "a"], "rank": [1, 2, 3, 4], "score": [4.0, 3.0, 2.0, 1.0]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "b"], "relevance": [3, 1]})
    ev = recnb.evaluate(recs, truth, duplicates=duplicates, order=order)
    for k, expected in ((1, 0.0), (2, 0.5), (None, 0.5)):
        assert ev.reciprocal_rank(k=k, target="preferred") == expected
    assert ev.explain("reciprocal_rank", 1, target="preferred").value == 0.5
