"""Cut-offs, sums of credit, and ideal lists whose ranks are all filled; what metrics make of them is in test_reference.py."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs, Hits, count_within
from recnb.metrics.metric import METRICS, Credit

LISTS = {"a": [0, 1], "b": [2, 0, 0], "c": [0]}


def hits_of(lists: dict[str, list[float]]) -> Hits:
    """The hits of lists given by their grades, and of one relevant item of user a that is in no list."""
    recs = {user: [f"{user}{rank}" for rank in range(len(grades))] for user, grades in lists.items() if grades}
    truth = {user: dict(zip(recs.get(user, []), grades, strict=True)) for user, grades in lists.items()}
    truth["a"]["missed"] = 3
    return recnb.evaluate(recs, truth, averaged_users="union", no_relevant="zero").hits()


# Cut-offs


@pytest.mark.parametrize(
    ("k", "values", "deepest"),
    [(np.int32(3), (3,), 3), (None, (None,), None), (np.array([10, 5]), (10, 5), 10), ((1, None), (1, None), None), (range(1, 4), (1, 2, 3), 3)],
)  # fmt: skip
def test_cutoffs(k: Any, values: tuple[int | None, ...], deepest: int | None) -> None:
    cutoffs, uncut = Cutoffs.of(k), Cutoffs(values, uncut=True)
    assert (cutoffs.values, tuple(cutoffs), len(cutoffs), cutoffs.deepest) == (values, values, len(values), deepest)
    by_user = [[length if one is None else one for one in values] for length in (3, 0)]
    assert cutoffs.depth(np.array([3, 0])).tolist() == by_user
    assert uncut.size(np.array([3, 0])).tolist() == by_user
    assert (uncut.deepest, set(uncut.depth(np.array([3, 0])).ravel() >= 2**31)) == (None, {True})


# Sums


@given(
    st.lists(st.tuples(st.sets(st.integers(1, 12)), st.integers(0, 12)), min_size=1, max_size=6),
    st.lists(st.one_of(st.none(), st.integers(1, 14)), unique=True, min_size=1, max_size=6),
    st.booleans(),
)
def test_total(users: list[tuple[set[int], int]], cutoffs: list[int | None], uncut: bool) -> None:
    """Each cell sums one user's rows down to one cut-off, in whatever order cut-offs are given, users without rows included."""
    rows = [(user, rank) for user, (ranks, _) in enumerate(users) for rank in sorted(ranks)]
    user, rank = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    length, relevance = np.array([length for _, length in users]), np.ones(len(rows))
    hits = Hits(user, rank, relevance, np.arange(len(rows)), user, relevance, length, max_relevance=1)
    credit = [float(number**2) for number in range(len(rows))]
    for earned in (np.array(credit), 1.0):
        total = hits.total(earned, Cutoffs(tuple(cutoffs), uncut=uncut))
        assert (total.shape, total.dtype) == ((len(users), len(cutoffs)), np.float64)
        for position, (_, length_of) in enumerate(users):
            for column, k in enumerate(cutoffs):
                depth = np.inf if uncut else length_of if k is None else k
                each = zip(rows, credit, strict=True)
                reached = [value for (who, here), value in each if who == position and here <= depth]
                assert total[position, column] == (len(reached) if isinstance(earned, float) else sum(reached))


def test_credit_is_out_of_users_by_cutoffs() -> None:
    """Per-user values as a row would line up with the cut-offs: they are refused."""
    hits = hits_of(LISTS)
    with pytest.raises(TypeError, match="column"):
        Credit(hits, [1, 2], hits.weight, hits.n_relevant.astype(float))  # type: ignore[arg-type]


# Lists of k items as good as the best


@pytest.mark.parametrize("options", [{}, {"gain": "exponential"}, {"gain": "binary", "discount": "rank"}, {"log_base": 10}], ids=str)  # fmt: skip
@pytest.mark.parametrize("k", [2, None, [1, 3], [None, 2]], ids=str)
def test_the_full_ideal_is_what_its_rows_add_up_to(k: Any, options: dict[str, Any]) -> None:
    made = METRICS["idcg"].at(hits_of(LISTS), k, {**options, "ideal": "k"})
    rows = made.by_rank.rows
    assert rows.rank.tolist() == count_within(rows.user).tolist()
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
    with pytest.raises(OptionError, match="give a k of at most 1,000,000"):
        getattr(recnb, metric)([1, 0], k=10**9, ideal="k")
    assert getattr(recnb, metric)([1, 0], k=10**6, ideal="k") > 0
