"""Laws that every metric obeys, whatever it measures, on data of every kind, with
options drawn for each.

That rows may come in any order, and cut-offs together, is held by the law of
tests/laws/test_attack.py.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb import METRICS, Evaluation
from recnb.metrics.hits import (
    Hits,
    order_from_highest,
    stands_from_highest,
)
from recnb.metrics.metric import ALIASES, Credit
from tests.strategies import CUTOFFS, Data, Options, choices, data


def evaluated(source: Data) -> Evaluation:
    return recnb.evaluate(source.recs, source.relevant)


def per_user(
    evaluation: Evaluation, name: str, k: int | None, options: Options
) -> dict[Any, float]:
    values: dict[Any, float] = getattr(evaluation, name)(
        k=k, **options
    ).per_user.to_dict()
    return values


def value(name: str, hits: Hits, k: Any, options: Options) -> np.ndarray[Any, Any]:
    return METRICS[name].at(hits, k, options).value


def close(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(data(), choices(), st.sampled_from(CUTOFFS))
def test_no_list_beats_the_ideal_one(
    source: Data, chosen: dict[str, Options], k: int | None
) -> None:
    """Most relevant first is best, whatever the metric: for ERR and the preferred item
    too.

    It holds under every option, those included whose ideal list is another one.
    """
    hits = evaluated(source).hits()
    for name, options in chosen.items():
        for one in ({}, options):
            assert (
                value(name, hits, k, one)
                <= value(name, hits.ideal, k, one) * (1 + 1e-12) + 1e-12
            ).all(), f"{name} {one}"


@given(data(), choices(), st.sampled_from(CUTOFFS), st.randoms(use_true_random=False))
def test_a_hit_moved_up_never_lowers_the_value(
    source: Data, chosen: dict[str, Options], k: int | None, pick: random.Random
) -> None:
    """It changes places with the item above it; an average over the hits found alone
    falls with one more at the end.
    """
    places = [
        (user, at)
        for user in source.users
        for at, (above, here) in enumerate(
            zip(source.ranking(user), source.ranking(user)[1:], strict=False)
        )
        if None not in (above, here)
        and source.truth[user].get(here, 0) > 0
        and not source.truth[user].get(above, 0) > 0
    ]
    if not places:
        return
    user, at = pick.choice(places)
    lists = copy.deepcopy(source.lists)
    lists[user][at : at + 2] = reversed(lists[user][at : at + 2])
    before, after = evaluated(source), evaluated(Data(lists, source.truth))
    for name, options in chosen.items():
        if options.get("out_of") != "hits":
            low, high = (
                per_user(one, name, k, options)[user] for one in (before, after)
            )
            assert high >= low * (1 - 1e-12), f"{name} {options}"


@pytest.mark.parametrize(("alias", "name"), sorted(ALIASES.items()))
def test_an_alias_is_the_metric(alias: str, name: str) -> None:
    assert getattr(recnb, alias) is getattr(recnb, name)
    assert getattr(Evaluation, alias) is getattr(Evaluation, name)


# What no list reaches: RBP has places below any list, and ERR's users doubt even the
# highest grade.
WITHOUT_TOP = {"rbp", "err"}


def test_bounds_are_reached() -> None:
    """Intervals of few users rest on the bounds: a list without a hit is at the lower,
    one of all that is relevant at the upper.

    A metric without an upper bound is one that passes 1 where relevance is high.
    """
    found = pd.DataFrame({"user": 1, "item": list("abc"), "rank": [1, 2, 3]})
    truth = found[["user", "item"]]
    perfect, empty = (
        recnb.evaluate(found, truth),
        recnb.evaluate(found.assign(item=list("xyz")), truth),
    )
    high_grades = recnb.evaluate(found, truth.assign(relevance=9))
    for name, metric in METRICS.items():
        low, high = metric.bounds
        assert low == (0.0 if name == "idcg" else getattr(empty, name)(k=3)), name
        assert high == (math.inf if getattr(high_grades, name)(k=3) > 1 else 1), name
        if high == 1 and name not in WITHOUT_TOP:
            assert getattr(perfect, name)(k=3) == close(high), name


# What arrays of hits may be, take, and how rows are put in order


def test_credit_is_out_of_users_by_cutoffs() -> None:
    """Per-user values as a row would line up with the cut-offs: they are refused."""
    hits = recnb.evaluate({"a": [1, 2], "b": [1]}, {"a": [1], "b": [2]}).hits()
    with pytest.raises(TypeError, match="column"):
        Credit(hits, [1, 2], hits.weight, hits.n_relevant.astype(float))


def test_the_ideal_of_k_items_has_a_row_for_each_rank() -> None:
    """As good as the user's best item, and none of the truth; none of a user for whom
    nothing is relevant.
    """
    lists = {"ann": ["a"], "bob": ["b"], "cem": ["c"]}
    truth = {"ann": {"a": 2}, "bob": {"a": 1, "b": 3}, "cem": {"c": 0}}
    hits = recnb.evaluate(lists, truth, no_relevant="zero").hits()
    rows = METRICS["ndcg"].at(hits, [1, 2], {"ideal": "k"}).out_of.by_rank.rows
    assert rows.user.tolist() == [0, 0, 1, 1]
    assert rows.rank.tolist() == [1, 2, 1, 2]
    assert rows.relevance.tolist() == [2, 2, 3, 3]
    assert rows.entry.tolist() == [-1] * 4


# Orders and numbers of rows

VALUES: dict[str, Any] = {
    "equal in part": lambda rng, n: rng.integers(0, 4, n) * 1.0,
    "all the same": lambda rng, n: np.zeros(n),
    "infinite in part": lambda rng, n: np.where(
        rng.random(n) < 0.2, -np.inf, rng.random(n)
    ),
    "close together": lambda rng, n: 1 + rng.integers(0, 1000, n) * 2.0**-52,
    "of tiny difference": lambda rng, n: rng.integers(0, 100, n) * 5e-324,
    "of huge difference": lambda rng, n: np.where(rng.random(n) < 0.5, 1e308, -1e308),
}


@pytest.mark.thin
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("n", [0, 1, 2, 19, 3000])
def test_rows_are_ordered_as_by_all_keys(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for n_users, first_user in itertools.product((1, 5, max(1, n // 10)), (0, 2**61)):
        user, value = first_user + rng.integers(0, n_users, n), VALUES[kind](rng, n)
        for within in (None, np.arange(n)[::-1], rng.integers(0, 9, n)):
            expected = np.lexsort(
                [np.arange(n), *([] if within is None else [within]), -value, user]
            )
            assert order_from_highest(user, value, within).tolist() == expected.tolist()
        assert stands_from_highest(user[expected], value[expected])
        stands = (np.diff(user) > 0) | (
            (np.diff(user) == 0) & (value[1:] <= value[:-1])
        )
        assert stands_from_highest(user, value) == stands.all()
