"""The numpy core held against plain loops: counting, ordering, summing, the ideal lists, one user's part."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import CutoffError, OptionError
from recnb.metrics.accuracy import reach
from recnb.metrics.hits import Cutoffs, Hits
from recnb.metrics.metric import METRICS, Credit
from recnb.metrics.sorting import count_within, order_from_highest
from tests.strategies import Data, data, random_data

WHOLE = st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0])
FRACTIONS = st.sampled_from([0.5, 0.1, 2.0, 3.25])
HUGE = st.sampled_from([1.0, 2.0**31, 2.0**40, 2.0**52, 2.0**60, 1e300])
TINY = st.sampled_from([1.0, 1e-20, 2e-20, 5e-324])
grades = st.one_of([st.lists(one, max_size=30) for one in (WHOLE, FRACTIONS, HUGE, TINY)])


def ints(values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=np.int64)


def hits_of(lists: list[list[float]], missed: list[list[float]] | None = None) -> Hits:
    """Hits of lists given by their grades, and of relevant items that stand in no list (listed after those that do)."""
    rows = [
        (user, rank, grade) for user, ranking in enumerate(lists) for rank, grade in enumerate(ranking, 1) if grade > 0
    ]
    truth = [
        (user, grade)
        for user, ranking in enumerate(lists)
        for grade in [*(grade for grade in ranking if grade > 0), *(missed[user] if missed else [])]
    ]
    first_row = np.searchsorted([user for user, _ in truth], np.arange(len(lists)))
    nth = count_within(ints([user for user, _, _ in rows])) - 1
    return Hits(
        user=ints([user for user, _, _ in rows]),
        rank=ints([rank for _, rank, _ in rows]),
        list_length=ints([len(ranking) for ranking in lists]),
        relevance=np.array([grade for _, _, grade in rows], dtype=float),
        truth_row=ints([first_row[user] + at for (user, _, _), at in zip(rows, nth, strict=True)]),
        truth_user=ints([user for user, _ in truth]),
        truth_relevance=np.array([grade for _, grade in truth], dtype=float),
        max_relevance=max((grade for _, grade in truth), default=0.0),
    )


# Numbering and ordering


@given(st.lists(st.integers(0, 4), max_size=40))
def test_count_within(users: list[int]) -> None:
    """Rows of each run of equal values are numbered from 1."""
    expected: list[int] = []
    for at, user in enumerate(users):
        expected.append(expected[-1] + 1 if at and users[at - 1] == user else 1)
    assert count_within(ints(users)).tolist() == expected


@given(grades, st.randoms(use_true_random=False))
def test_best_first(relevance: list[float], pick: Any) -> None:
    """By user, then from the highest relevance down, equal ones in the order they had: whole, fractional, huge and tiny."""
    users = [pick.randrange(4) for _ in relevance]
    expected = sorted(range(len(relevance)), key=lambda at: (users[at], -relevance[at]))
    assert order_from_highest(ints(users), np.array(relevance, dtype=float)).tolist() == expected


@pytest.mark.parametrize("scale", [1.0, 0.3, 2.0**40])
@pytest.mark.parametrize("first_user", [0, 10**6, 2**40, 2**50, 2**61])
def test_best_first_of_many_rows(scale: float, first_user: int) -> None:
    """The way by whole numbers and the way by two columns give one order, whatever fits into a number."""
    rng = np.random.default_rng(5)
    user, relevance = first_user + rng.integers(0, 50, 5000), rng.integers(1, 6, 5000) * scale
    assert order_from_highest(user, relevance).tolist() == np.lexsort((-relevance, user)).tolist()


@pytest.mark.parametrize(
    ("users", "relevance", "expected"),
    [
        ([], [], []),
        ([0], [1.0], [0]),
        # 1 - 1e-20 is 1 in floating point, as 1 - 2e-20 is; the grades are different all the same
        ([0, 0, 1], [1e-20, 2e-20, 1.0], [1, 0, 2]),
        # so far apart that a user's lowest would be numbered after the next user's highest
        ([0, 0, 1], [2.0**40, 1.0, 2.0**40], [0, 1, 2]),
        ([1, 0, 0], [1e300, 1.0, 3.0], [2, 1, 0]),
        ([0, 0, 0], [2.0**60, 2.0**60 + 512, 2.0**60], [1, 0, 2]),
    ],
)
def test_best_first_of_odd_grades(users: list[int], relevance: list[float], expected: list[int]) -> None:
    assert order_from_highest(ints(users), np.array(relevance, dtype=float)).tolist() == expected


# Cut-offs


@pytest.mark.parametrize(
    ("k", "values", "deepest"),
    [(np.int32(3), (3,), 3), (None, (None,), None), (np.array([10, 5]), (10, 5), 10), ((1, None), (1, None), None), (range(1, 4), (1, 2, 3), 3)],
)  # fmt: skip
def test_cutoffs(k: Any, values: tuple[int | None, ...], deepest: int | None) -> None:
    cutoffs = Cutoffs.of(k)
    assert (cutoffs.values, tuple(cutoffs), len(cutoffs), cutoffs.deepest) == (values, values, len(values), deepest)
    assert cutoffs.depth(ints([3, 0])).tolist() == [
        [length if one is None else one for one in values] for length in (3, 0)
    ]


@pytest.mark.parametrize(
    "k", [0, -1, 2.0, 2.5, True, np.bool_(True), "5", b"5", [], [5, 0], [5, 5], [None, None], [True], [[5]], {5}, float("nan"), np.array([])],
    ids=repr,
)  # fmt: skip
def test_what_counts_no_ranks_is_refused(k: Any) -> None:
    for call in (lambda: Cutoffs.of(k), lambda: recnb.ndcg([3, 2], k=k)):
        with pytest.raises(CutoffError, match="k"):
            call()


def test_one_number_has_one_cutoff() -> None:
    assert (Cutoffs.one(5).values, Cutoffs.one(None).values) == ((5,), (None,))
    with pytest.raises(CutoffError, match=r"table\(k=\[5, 10\]\)"):
        recnb.evaluate(random_data(1, 5).recs, random_data(1, 5).relevant).ndcg(k=[5, 10])  # type: ignore[arg-type]


# Summing


def summed(ranked: Hits, credit: np.ndarray[Any, Any], cutoffs: tuple[int | None, ...]) -> list[list[float]]:
    """The sums by plain loops."""
    out = [[0.0] * len(cutoffs) for _ in range(ranked.n_users)]
    for user, rank, one in zip(ranked.user.tolist(), ranked.rank.tolist(), credit.tolist(), strict=True):
        for column, k in enumerate(cutoffs):
            if rank <= (ranked.list_length[user] if k is None else k):
                out[user][column] += one
    return out


@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 12), unique=True, max_size=8), st.integers(0, 12)), min_size=1, max_size=6
    ),
    st.lists(st.one_of(st.none(), st.integers(1, 14)), unique=True, min_size=1, max_size=6),
)
def test_total(users: list[tuple[list[int], int]], cutoffs: list[int | None]) -> None:
    """Each cell sums one user's rows down to one cut-off, in whatever order cut-offs are given, users without rows included."""
    rows = [(user, rank) for user, (ranks, _) in enumerate(users) for rank in sorted(ranks)]
    ranked = replace(
        hits_of([[]]),
        user=ints([user for user, _ in rows]),
        rank=ints([rank for _, rank in rows]),
        list_length=ints([length for _, length in users]),
    )
    credit = np.arange(1.0, len(ranked.user) + 1) ** 2
    total = ranked.total(credit, Cutoffs.of(cutoffs))
    assert total.shape == (len(users), len(cutoffs))
    assert total.dtype == np.float64
    assert total.tolist() == summed(ranked, credit, tuple(cutoffs))
    assert ranked.total(1.0, Cutoffs.of(cutoffs)).tolist() == summed(ranked, np.ones(len(credit)), tuple(cutoffs))
    for others in ([1], [2, 14], cutoffs):  # other cut-offs of the same rows, and these again
        assert ranked.total(credit, Cutoffs.of(others)).tolist() == summed(ranked, credit, tuple(others))


def test_credit_is_out_of_users_by_cutoffs() -> None:
    """Per-user values as a row would line up with the cut-offs: they are refused."""
    hits = hits_of([[1, 0], [0, 1]])
    with pytest.raises(TypeError, match="column"):
        Credit(hits, Cutoffs.of([1, 2]), np.ones(2), hits.n_relevant.astype(float))


# The best lists


# One user


@given(data())
def test_of(source: Data) -> None:
    """One user's rows and truth, with rows of the truth numbered anew, on the scale of the whole."""
    hits = recnb.evaluate(source.recs, source.relevant).hits()
    for whole in (hits, hits.ideal, hits.ideal_of_list):
        for user in range(hits.n_users):
            part = whole.of_user(user)
            mine = whole.user == user
            assert part.n_users == 1
            assert set(part.user.tolist()) <= {0}
            assert part.rank.tolist() == whole.rank[mine].tolist()
            assert part.nth.tolist() == whole.nth[mine].tolist()
            assert part.relevance.tolist() == whole.relevance[mine].tolist()
            assert part.list_length.tolist() == [whole.list_length[user]]
            assert part.truth_relevance.tolist() == whole.truth_relevance[whole.truth_user == user].tolist()
            assert part.truth_relevance[part.truth_row].tolist() == part.relevance.tolist()
            assert part.preferred.tolist() == whole.preferred[mine].tolist()
            assert part.max_relevance == whole.max_relevance
            assert part.ideal.relevance.tolist() == whole.ideal.of_user(user).relevance.tolist()


# The reader of ERR


def reach_by_loop(hits: Hits, stop: np.ndarray[Any, Any]) -> list[float]:
    reached: list[float] = []
    still_here, before = 1.0, -1
    for user, one in zip(hits.user.tolist(), stop.tolist(), strict=True):
        still_here = still_here if user == before else 1.0
        reached.append(still_here)
        still_here *= 1 - one
        before = user
    return reached


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0]), max_size=10), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_reach(lists: list[list[float]], pick: Any) -> None:
    """The chance of getting as far as each hit, for lists with different numbers of hits, none among them."""
    hits = hits_of(lists)
    stop = np.array([pick.choice([0.0, 0.25, 0.5, 1.0]) for _ in hits.user], dtype=float)
    assert reach(hits, stop).tolist() == reach_by_loop(hits, stop)


def test_reach_down_long_lists() -> None:
    rng = np.random.default_rng(11)
    hits = hits_of([rng.integers(0, 3, length).astype(float).tolist() for length in (3000, 0, 1, 500, 2000)])
    stop = rng.random(len(hits.user)) / 100
    np.testing.assert_allclose(reach(hits, stop), reach_by_loop(hits, stop), rtol=1e-12, atol=0)
    assert 0 < reach(hits, stop).min() < 1e-3


@pytest.mark.parametrize("options", [{}, {"gain": "exponential"}, {"gain": "binary", "discount": "rank"}, {"log_base": 10}], ids=str)  # fmt: skip
@pytest.mark.parametrize("k", [2, None, [1, 3], [None, 2], Cutoffs((2, 5), uncut=True)], ids=str)
def test_the_full_ideal_is_what_its_rows_add_up_to(k: Any, options: dict[str, Any]) -> None:
    hits = hits_of([[0, 1], [2, 0, 0], [0]], missed=[[3], [], []])
    made = METRICS["idcg"].at(hits, k, {**options, "ideal": "k"})
    np.testing.assert_allclose(made.value, made.by_rank.value, rtol=1e-15)
    assert made.value[2].tolist() == [0.0] * made.value.shape[1]


@pytest.mark.parametrize("metric", ["ndcg", "idcg"])
def test_the_full_ideal_makes_no_row_for_each_rank(metric: str) -> None:
    """2,000 users at 1,000 ranks would be 2,000,000 rows of 8 bytes in each of several columns."""
    recs = pd.DataFrame({"user": np.arange(2_000), "item": 1, "rank": 1})
    ev = recnb.evaluate(recs, recs[["user", "item"]])
    ev.hits()
    tracemalloc.start()
    ev.table([metric], k=[1, 1_000], ideal="k")
    getattr(ev, metric)(k=1_000, ideal="k")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000 * 8 / 4


@pytest.mark.parametrize("metric", ["ndcg", "idcg"])
def test_more_places_than_memory_has_are_refused(metric: str) -> None:
    with pytest.raises(OptionError, match=r"1,000,000,000 places are more than 1,000,000: give a smaller k"):
        getattr(recnb, metric)([1, 0], k=10**9, ideal="k")
    assert getattr(recnb, metric)([1, 0], k=10**6, ideal="k") > 0
