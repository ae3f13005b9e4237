"""Every metric, with every word of every option, at every cut-off, equals its naive definition.

Frames are held against the same definitions by the law of tests/test_attack.py, formula texts in tests/results/test_explanation.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.metrics.metric import RETRIEVAL_METRICS
from tests.reference import REFERENCE
from tests.strategies import CUTOFFS, GRADES, Data, data, every_choice, random_data


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def test_every_metric_has_a_definition() -> None:
    assert set(REFERENCE) == set(METRICS)


@pytest.mark.parametrize("scale", ["graded", "far apart"])
@pytest.mark.parametrize("name", sorted(METRICS))
def test_all_options_through_lists(name: str, scale: str) -> None:
    """As a plain function of one list, of several, and of grades in rank order."""
    function, source = getattr(recnb, name), random_data(seed=2, n_users=4, gaps=False, grades=GRADES[scale])
    users = [user for user in source.truth if source.ranking(user)]
    pairs = [(source.ranking(user), source.truth[user]) for user in users]
    grades = [3, 0, 2, 2, 0, 1]
    for options in every_choice(METRICS[name]):
        for k in CUTOFFS:
            wanted = [REFERENCE[name](*pair, k, **options) for pair in pairs]
            assert [float(function(*pair, k=k, **options)) for pair in pairs] == close(wanted), f"{name}@{k} {options}"
            of_grades = REFERENCE[name](list(range(6)), dict(enumerate(grades)), k, **options)
            assert float(function(grades, k=k, **options)) == close(of_grades)
        if options.get("max_relevance", 1) is not None:
            lists, truths = zip(*pairs, strict=True)
            assert function(list(lists), list(truths), k=k, **options).per_user.tolist() == close(wanted)


# Measures of judged items

Ranking, Truth = list[Any], dict[Any, float]
LEVELS = (0.0, 0.1, 0.25, 0.5, 1.0)


def rows_of(ranking: Ranking, truth: Truth, k: int | None) -> list[tuple[int, int, int]]:
    """Each hit down to k: its rank, its number, and how many judged items that are not relevant are above it."""
    rows: list[tuple[int, int, int]] = []
    for rank, item in enumerate(ranking[: len(ranking) if k is None else k], 1):
        if truth.get(item, 0) > 0:
            above = sum(other in truth and not truth[other] > 0 for other in ranking[: rank - 1])
            rows.append((rank, len(rows) + 1, above))
    return rows


def judged(ranking: Ranking, truth: Truth, k: int | None) -> float:
    depth = min(len(ranking), len(ranking) if k is None else k)
    return sum(item in truth for item in ranking[:depth]) / depth if depth else 0


def bpref(ranking: Ranking, truth: Truth, k: int | None) -> float:
    n_relevant = sum(grade > 0 for grade in truth.values())
    fewer = min(n_relevant, len(truth) - n_relevant)
    found = rows_of(ranking, truth, k)
    return sum(1 - (min(above, n_relevant) / fewer if above else 0) for _, _, above in found) / n_relevant


def interpolated_precision(ranking: Ranking, truth: Truth, k: int | None, recall: float = 0.0) -> float:
    needed = int(recall * sum(grade > 0 for grade in truth.values()) + 0.9)
    return max((nth / rank for rank, nth, _ in rows_of(ranking, truth, k) if nth >= needed), default=0)


OF_JUDGED: dict[str, Callable[..., float]] = {one.__name__: one for one in (judged, bpref, interpolated_precision)}


@given(data(), st.sampled_from(CUTOFFS), st.sampled_from(LEVELS))
def test_naive_definitions(source: Data, k: int | None, level: float) -> None:
    evaluation = recnb.evaluate(source.recs, source.relevant)
    for name, definition in OF_JUDGED.items():
        options = {"recall": level} if name == "interpolated_precision" else {}
        wanted = {user: definition(source.ranking(user), source.truth[user], k, **options) for user in source.users}
        if name == "judged":  # an empty place is no item that could be judged, and is a place
            wanted = {user: value for user, value in wanted.items() if None not in source.ranking(user)}
        values = getattr(evaluation, name)(k=k, **options).per_user
        assert values[list(wanted)].to_dict() == close(wanted), name
        assert values.between(0, 1 + 1e-12).all()
        if name != "judged":
            best = RETRIEVAL_METRICS[name].at(evaluation.hits().ideal, k, options).value[:, 0]
            assert (values.to_numpy() <= best + 1e-12).all(), "no list beats the ideal one"
        table = evaluation.table({name: options}, k=[1, k] if k != 1 else 1)
        assert table.loc[name].iloc[-1] == close(values.mean())


def test_users_who_are_left_out_do_not_shift_the_others() -> None:
    """User 1 has nothing relevant, 2 no list, 3 is not in the truth: positions differ between judged items and hits."""
    recs = pd.DataFrame({"user": [1, 1, 3, 4, 4, 4], "item": list("abaxba"), "rank": [1, 2, 1, 1, 2, 3]})
    truth = pd.DataFrame({"user": [1, 2, 4, 4], "item": list("aaab"), "relevance": [0, 1, 2, 0]})
    for users in ("truth", "recs", "both", "union"):
        values = recnb.evaluate(recs, truth, averaged_users=users).judged(k=3).per_user
        assert values[4] == close(2 / 3)
        assert recnb.evaluate(recs, truth, averaged_users=users).bpref().per_user[4] == 0
    every = recnb.evaluate(recs, truth, averaged_users="union", no_relevant="zero").judged(k=3).per_user
    np.testing.assert_allclose(every, [1 / 2, 0, 0, 2 / 3])
