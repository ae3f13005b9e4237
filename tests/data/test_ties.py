"""Where equal scores stand: the mean over all their orders in closed form, and the rules that need no mean, against naive code."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import groupby, permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import recnb
from recnb.errors import OptionError

Ranking = list[str]
Truth = dict[str, float]
ITEMS = tuple("abcdefgh")
CUTOFFS = (1, 2, 3, 5, None)


def hit_ranks(ranking: Ranking, truth: Truth, k: int) -> list[int]:
    return [rank for rank, item in enumerate(ranking[:k], 1) if item in truth]


def naive_dcg(ranking: Ranking, truth: Truth, k: int, gain: Callable[[float], float] = float) -> float:
    return sum(gain(truth.get(item, 0.0)) / math.log2(rank + 1) for rank, item in enumerate(ranking[:k], 1))


def naive_ndcg(ranking: Ranking, truth: Truth, k: int, gain: Callable[[float], float] = float) -> float:
    best = sorted(truth, key=lambda item: -truth[item])
    return naive_dcg(ranking, truth, k, gain) / naive_dcg(best, truth, k, gain)


def naive_ap(ranking: Ranking, truth: Truth, k: int) -> float:
    ranks = hit_ranks(ranking, truth, k)
    return sum(nth / rank for nth, rank in enumerate(ranks, 1)) / len(truth)


def naive_list_ndcg(ranking: Ranking, truth: Truth, k: int) -> float:
    best = sorted((item for item in ranking if item in truth), key=lambda item: -truth[item])
    possible = naive_dcg(best, truth, k)
    return naive_dcg(ranking, truth, k) / possible if possible else 0.0


def exponential(grade: float) -> float:
    return 2.0**grade - 1


#: By recnb's name and options: what the metric is for one order. `k` is the depth, the list's length for None.
NAIVE: dict[tuple[str, tuple[tuple[str, Any], ...]], Callable[[Ranking, Truth, int], float]] = {
    ("precision", ()): lambda ranking, truth, k: len(hit_ranks(ranking, truth, k)) / k,
    ("recall", ()): lambda ranking, truth, k: len(hit_ranks(ranking, truth, k)) / len(truth),
    ("f1", ()): lambda ranking, truth, k: 2 * len(hit_ranks(ranking, truth, k)) / (k + len(truth)),
    ("hit_rate", ()): lambda ranking, truth, k: float(bool(hit_ranks(ranking, truth, k))),
    ("reciprocal_rank", ()): lambda ranking, truth, k: max((1 / r for r in hit_ranks(ranking, truth, k)), default=0.0),
    ("average_precision", ()): naive_ap,
    ("r_precision", ()): lambda ranking, truth, k: len(hit_ranks(ranking, truth, min(k, len(truth)))) / len(truth),
    ("rbp", (("p", 0.7),)): lambda ranking, truth, k: sum(0.3 * 0.7 ** (r - 1) for r in hit_ranks(ranking, truth, k)),
    ("dcg", ()): naive_dcg,
    ("dcg", (("gain", "exponential"),)): lambda ranking, truth, k: naive_dcg(ranking, truth, k, exponential),
    ("ndcg", ()): naive_ndcg,
    ("ndcg", (("gain", "exponential"),)): lambda ranking, truth, k: naive_ndcg(ranking, truth, k, exponential),
    ("ndcg", (("ideal", "list"),)): naive_list_ndcg,
}


def orders(scored: list[tuple[str, float]]) -> Iterator[Ranking]:
    """Every order of a list in which equal scores may stand any way round."""
    ranked = sorted(scored, key=lambda pair: -pair[1])
    groups = [[item for item, _ in group] for _, group in groupby(ranked, key=lambda pair: pair[1])]
    for chosen in product(*(permutations(group) for group in groups)):
        yield [item for group in chosen for item in group]


@st.composite
def users(draw: st.DrawFn) -> dict[str, tuple[list[tuple[str, float]], Truth]]:
    """Per user a scored list with ties, and relevant items of which some may not be recommended."""
    made = {}
    for number in range(draw(st.integers(1, 3))):
        items = draw(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=6, unique=True))
        scored = [(item, draw(st.sampled_from([1.0, 0.5, 0.0]))) for item in items]
        relevant = draw(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=5, unique=True))
        made[f"u{number}"] = scored, {item: draw(st.sampled_from([1.0, 2.0, 3.5])) for item in relevant}
    return made


def frames(data: dict[str, tuple[list[tuple[str, float]], Truth]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    recs = [(user, item, score) for user, (scored, _) in data.items() for item, score in scored]
    truth = [(user, item, grade) for user, (_, relevant) in data.items() for item, grade in relevant.items()]
    return (
        pd.DataFrame(recs, columns=["user", "item", "score"]),
        pd.DataFrame(truth, columns=["user", "item", "relevance"]),
    )


@given(data=users())
def test_expected_is_the_mean_over_all_orders(data: dict[str, tuple[list[tuple[str, float]], Truth]]):
    ev = recnb.evaluate(*frames(data), ties="expected")
    every = {user: list(orders(scored)) for user, (scored, _) in data.items()}
    for (name, options), naive in NAIVE.items():
        for k in CUTOFFS:
            values = getattr(ev, name)(k=k, **dict(options)).per_user
            for user, (scored, truth) in data.items():
                depth = len(scored) if k is None else k
                wanted = math.fsum(naive(order, truth, depth) for order in every[user]) / len(every[user])
                assert abs(values[user] - wanted) <= 1e-12 * max(1.0, wanted), (name, options, k, user)


@given(data=users())
def test_several_cutoffs_at_once_are_those_one_by_one(data: dict[str, tuple[list[tuple[str, float]], Truth]]):
    ev = recnb.evaluate(*frames(data), ties="expected")
    names = list(dict.fromkeys(name for name, _ in NAIVE))
    table = ev.table(names, k=list(CUTOFFS))
    for name in names:
        for column, k in enumerate(CUTOFFS):
            assert table.loc[name].iloc[column] == pytest.approx(float(getattr(ev, name)(k=k)), abs=1e-14)


@given(data=users())
def test_chances_add_up(data: dict[str, tuple[list[tuple[str, float]], Truth]]):
    """Each hit stands somewhere; somebody with a hit has a first one."""
    ev = recnb.evaluate(*frames(data), ties="expected")
    hits = ev.hits()
    assert hits.tied is not None
    found = {user: sum(item in truth for item, _ in scored) for user, (scored, truth) in data.items()}
    np.testing.assert_allclose(hits.total(hits.weight, None)[:, 0], list(found.values()), atol=1e-12)
    np.testing.assert_allclose(hits.total(hits.first, None)[:, 0], [float(n > 0) for n in found.values()], atol=1e-12)
    assert int(hits.tied.top.sum()) == sum(found.values())
    assert ev.to_frame()["n_hits"].tolist() == list(found.values())
    for first, share in zip(hits.first, hits.weight, strict=True):
        assert -1e-15 <= first <= share + 1e-15


@given(data=users())
def test_without_ties_every_rule_gives_the_same(data: dict[str, tuple[list[tuple[str, float]], Truth]]):
    recs, truth = frames(data)
    recs["score"] = -np.arange(len(recs), dtype=float)
    plain = recnb.evaluate(recs, truth).table(k=[1, 3, None])
    for ties in ("expected", "max_rank", "floor_mean_rank", "worst", "last"):
        names = [name for name in plain.index if (ties, name) != ("expected", "err")]
        shown = recnb.evaluate(recs, truth, ties=ties).table(names, k=[1, 3, None])
        np.testing.assert_allclose(shown.to_numpy(), plain.loc[names].to_numpy(), atol=1e-12)


def shared_ranks(scored: list[tuple[str, float]], ties: str) -> dict[str, int]:
    """The rank that each item shares with those of its score."""
    ranks = {}
    for item, score in scored:
        above = sum(other > score for _, other in scored)
        size = sum(other == score for _, other in scored)
        ranks[item] = above + size if ties == "max_rank" else (above + 1 + above + size) // 2
    return ranks


@given(data=users())
def test_shared_ranks(data: dict[str, tuple[list[tuple[str, float]], Truth]]):
    for ties in ("max_rank", "floor_mean_rank"):
        note(f"{ties=}")
        ranks_are_shared(ties, data)


def ranks_are_shared(ties: str, data: dict[str, tuple[list[tuple[str, float]], Truth]]) -> None:
    """Whether items of equal scores have the rank that `shared_ranks` gives them."""
    ev = recnb.evaluate(*frames(data), ties=ties)
    for k in (1, 2, 3, 5):
        recall, rr, ap, ndcg = (
            getattr(ev, name)(k=k).per_user for name in ("recall", "reciprocal_rank", "average_precision", "ndcg")
        )
        for user, (scored, truth) in data.items():
            ranks = [
                (rank, truth[item]) for item, rank in shared_ranks(scored, ties).items() if item in truth and rank <= k
            ]
            assert recall[user] == pytest.approx(len(ranks) / len(truth), abs=1e-12)
            assert rr[user] == pytest.approx(max((1 / rank for rank, _ in ranks), default=0.0), abs=1e-12)
            # Hits of one rank all count one another.
            precisions = [sum(other <= rank for other, _ in ranks) / rank for rank, _ in ranks]
            assert ap[user] == pytest.approx(sum(precisions) / len(truth), abs=1e-12)
            earned = sum(grade / math.log2(rank + 1) for rank, grade in ranks)
            best = naive_dcg(sorted(truth, key=lambda item: -truth[item]), truth, k)
            assert ndcg[user] == pytest.approx(earned / best, abs=1e-12)


@given(data=users())
def test_worst_is_the_lowest_of_all_orders(data: dict[str, tuple[list[tuple[str, float]], Truth]]):
    """And the mean lies between it and the best."""
    worst, mean = (recnb.evaluate(*frames(data), ties=ties) for ties in ("worst", "expected"))
    for (name, options), naive in NAIVE.items():
        for k in (1, 2, 3, 5):
            low = getattr(worst, name)(k=k, **dict(options)).per_user
            middle = getattr(mean, name)(k=k, **dict(options)).per_user
            for user, (scored, truth) in data.items():
                values = [naive(order, truth, k) for order in orders(scored)]
                assert low[user] == pytest.approx(min(values), abs=1e-12), (name, k)
                assert min(values) - 1e-12 <= middle[user] <= max(values) + 1e-12


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
    with pytest.raises(OptionError, match="no mean over ties"):
        ev.err()
    with pytest.raises(OptionError, match="no mean over ties"):
        ev.average_precision(out_of="hits")
    with pytest.raises(OptionError, match="hit_once"):
        recnb.evaluate(recs, truth, ties="expected", duplicates="hit_once")
    with pytest.raises(OptionError, match="follows one"):
        ev.explain("ndcg", 1)


def test_ranks_that_leave_places_empty_stay_where_they_are():
    recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [2, 5, 1]})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": ["b", "c", "a"], "relevance": [1.0, 2.0, 1.0]})
    short, general = recnb.evaluate(recs, truth), recnb.evaluate(recs, truth, relevant="any")
    for k in (1, 4, 5, None):
        for metric in ("ndcg", "precision", "average_precision", "reciprocal_rank", "err"):
            assert getattr(general, metric)(k=k) == getattr(short, metric)(k=k), (metric, k)


def test_padding_makes_no_list_for_a_user_who_has_none():
    recs = pd.DataFrame({"user": [1], "item": ["a"], "score": [1.0]})
    truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    for users in ("recs", "both"):
        assert recnb.evaluate(recs, truth, candidates="padded", averaged_users=users).users.tolist() == [1], users


@pytest.mark.parametrize("duplicates", ["keep", "rows", "hit_once", "dedupe"])
@pytest.mark.parametrize("order", ["rank", "score"])
def test_a_preferred_item_that_is_repeated_counts_where_it_first_stands(duplicates: str, order: str) -> None:
    recs = pd.DataFrame({"user": 1, "item": ["x", "a", "b", "a"], "rank": [1, 2, 3, 4], "score": [4.0, 3.0, 2.0, 1.0]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "b"], "relevance": [3, 1]})
    ev = recnb.evaluate(recs, truth, duplicates=duplicates, order=order)
    for k, expected in ((1, 0.0), (2, 0.5), (None, 0.5)):
        assert ev.reciprocal_rank(k=k, target="preferred") == expected
    assert ev.explain("reciprocal_rank", 1, target="preferred").value == 0.5


@pytest.mark.parametrize("duplicates", ["keep", "rows"])
def test_ties_have_no_mean_place_of_a_preferred_item_that_is_repeated(duplicates: str) -> None:
    recs = pd.DataFrame({"user": 1, "item": ["a", "b", "a"], "score": [3.0, 2.0, 1.0]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "b"], "relevance": [3, 1]})
    ev = recnb.evaluate(recs, truth, duplicates=duplicates, ties="expected")
    with pytest.raises(OptionError, match=r"choose ties='first', or duplicates='dedupe'"):
        ev.reciprocal_rank(target="preferred")
    for options in ({"duplicates": duplicates, "ties": "first"}, {"duplicates": "dedupe", "ties": "expected"}):
        assert recnb.evaluate(recs, truth, **options).reciprocal_rank(target="preferred") == 1
    once = recnb.evaluate(recs[:2], truth, duplicates=duplicates, ties="expected")
    assert once.reciprocal_rank(target="preferred") == 1
