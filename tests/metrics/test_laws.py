"""Laws that every metric obeys, whatever it measures, on data of every kind.

Each law is tried on all metrics in METRICS, with options drawn for each; a law that an option breaks says so.
"""

from __future__ import annotations

import copy
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
from recnb.metrics.hits import Hits
from recnb.metrics.metric import ALIASES
from tests.strategies import CUTOFFS, Data, Options, choices, data, random_data

cutoffs = st.sampled_from(CUTOFFS)


def evaluated(source: Data) -> Evaluation:
    return recnb.evaluate(source.recs, source.relevant)


def per_user(evaluation: Evaluation, name: str, k: int | None, options: Options) -> dict[Any, float]:
    values: dict[Any, float] = getattr(evaluation, name)(k=k, **options).per_user.to_dict()
    return values


def value(name: str, hits: Hits, k: Any, options: Options) -> np.ndarray[Any, Any]:
    return METRICS[name].at(hits, k, options).value


def close(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(data(), choices(), cutoffs)
def test_no_list_beats_the_ideal_one(source: Data, chosen: dict[str, Options], k: int | None) -> None:
    """Most relevant first is best, whatever the metric: for ERR and the preferred item too.

    It holds under every option, those included whose ideal list is another one.
    """
    hits = evaluated(source).hits()
    for name, options in chosen.items():
        for one in ({}, options):
            assert (value(name, hits, k, one) <= value(name, hits.ideal, k, one) * (1 + 1e-12) + 1e-12).all(), (
                f"{name} {one}"
            )


@given(data(), choices(), st.permutations(CUTOFFS))
def test_cutoffs_together_equal_cutoffs_apart(
    source: Data, chosen: dict[str, Options], order: list[int | None]
) -> None:
    asked = evaluated(source)
    for name, options in chosen.items():
        together = value(name, asked.hits(), order, options)
        for column, k in enumerate(order):
            assert together[:, column].tolist() == close([*per_user(asked, name, k, options).values()]), f"{name}@{k}"


@given(data(), choices(), cutoffs, st.randoms(use_true_random=False))
def test_a_hit_moved_up_never_lowers_the_value(
    source: Data, chosen: dict[str, Options], k: int | None, pick: random.Random
) -> None:
    """A hit changes places with the item above it that is none.

    Not so for an average over the hits found alone (out_of="hits"), which one more hit at the end lowers.
    """
    places = [
        (user, at)
        for user in source.users
        for at, (above, here) in enumerate(zip(source.ranking(user), source.ranking(user)[1:], strict=False))
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
            low, high = (per_user(one, name, k, options)[user] for one in (before, after))
            assert high >= low * (1 - 1e-12), f"{name} {options}"


@given(data(), choices(), cutoffs, st.integers(0, 1000))
def test_order_of_rows_does_not_matter(source: Data, chosen: dict[str, Options], k: int | None, seed: int) -> None:
    """Rows of both frames are shuffled; only the preferred one of equally relevant items is the one listed first."""
    recs, truth = (one.sample(frac=1, random_state=seed) for one in (source.recs, source.relevant))
    turns = (
        source.relevant.groupby("user").cumcount().sample(frac=1, random_state=seed).sort_values(kind="stable").index
    )
    before, after = evaluated(source), recnb.evaluate(recs, truth)
    in_turns = recnb.evaluate(recs, source.relevant.loc[turns])  # each user's rows keep their order
    for name, options in chosen.items():
        expected = per_user(before, name, k, options)
        assert per_user(in_turns, name, k, options) == close(expected), f"{name} {options}"
        if options.get("target") != "preferred":
            assert per_user(after, name, k, options) == close(expected), f"{name} {options}"


@given(data(), choices(), cutoffs)
def test_one_user_of_many_has_the_same_value(source: Data, chosen: dict[str, Options], k: int | None) -> None:
    """`hits.of_user(user)` is that user's part, on the scale of the whole."""
    hits = evaluated(source).hits()
    for name, options in chosen.items():
        whole = value(name, hits, k, options)
        alone = [value(name, hits.of_user(position), k, options)[0, 0] for position in range(hits.n_users)]
        assert alone == whole[:, 0].tolist(), f"{name} {options}"


@pytest.mark.parametrize(("alias", "name"), sorted(ALIASES.items()))
def test_an_alias_is_the_metric(alias: str, name: str) -> None:
    evaluation = evaluated(random_data(seed=6, n_users=10))
    assert getattr(recnb, alias) is getattr(recnb, name)
    assert per_user(evaluation, alias, 3, {}) == per_user(evaluation, name, 3, {})
    assert evaluation.table([alias], k=3).equals(evaluation.table([name], k=3))


# What no list reaches: RBP has places below any list, and ERR's users doubt even the highest grade.
WITHOUT_TOP = {"rbp", "err"}


def test_bounds_are_reached() -> None:
    """Intervals of few users rest on the bounds: a list without a hit is at the lower, one of all that is relevant at the upper."""
    found = pd.DataFrame({"user": 1, "item": list("abc"), "rank": [1, 2, 3]})
    truth = found[["user", "item"]]
    perfect, empty = recnb.evaluate(found, truth), recnb.evaluate(found.assign(item=list("xyz")), truth)
    for name, metric in METRICS.items():
        low, high = metric.bounds
        assert low == (0.0 if name == "idcg" else getattr(empty, name)(k=3)), name
        assert high == (math.inf if name in ("cg", "dcg", "idcg") else 1), name
        if name not in {"cg", "dcg", "idcg", *WITHOUT_TOP}:
            assert getattr(perfect, name)(k=3) == close(high), name
