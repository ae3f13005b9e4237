"""Every metric, with every word of every option, at every cut-off, equals its naive definition.

That its formula text gives the value is tested with every explanation, in tests/results/test_explanation.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given

import recnb
from recnb import METRICS
from tests.reference import REFERENCE
from tests.strategies import CUTOFFS, Data, Options, choices, data, every_choice, random_data

NAMES = sorted(METRICS)


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def naive(name: str, options: Options, source: Data, user: Any, k: int | None) -> float:
    if name == "err" and options.get("max_relevance") is None:
        options = {
            **options,
            "max_relevance": max(source.truth[one][i] for one in source.users for i in source.truth[one]),
        }
    return REFERENCE[name](source.ranking(user), source.truth.get(user, {}), k, **options)


def test_every_metric_has_a_definition() -> None:
    assert set(REFERENCE) == set(METRICS)


@pytest.mark.parametrize("name", NAMES)
def test_all_options_through_lists(name: str) -> None:
    """As a plain function of one list, of several, and of grades in rank order."""
    function, source = getattr(recnb, name), random_data(seed=2, n_users=10, gaps=False)
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


@given(data(), choices())
@example(Data({"u1": ["a"]}, {"u1": {"a": 1e-20}}), {"ndcg": {"gain": "exponential"}})
def test_random_data_through_frames(source: Data, chosen: dict[str, Options]) -> None:
    """Of users with a relevant item, and of everyone, where users for whom nothing is relevant count 0."""
    evaluation = recnb.evaluate(source.recs, source.relevant)
    everyone = recnb.evaluate(source.recs, source.relevant, averaged_users="union", no_relevant="zero")
    assert (set(evaluation.users), set(everyone.users)) == (set(source.users), {*source.lists, *source.truth})
    for name, options in chosen.items():
        for k in CUTOFFS:
            score = getattr(evaluation, name)(k=k, **options)
            wanted = {user: naive(name, options, source, user, k) for user in source.users}
            assert score.per_user.to_dict() == close(wanted), f"{name}@{k} {options}"
            assert (float(score), score.n_users) == (close(np.mean(list(wanted.values()))), len(wanted))
            of_all = getattr(everyone, name)(k=k, **options).per_user.to_dict()
            assert of_all == close(dict.fromkeys(everyone.users, 0) | wanted), f"{name}@{k} {options}"


@pytest.mark.parametrize("n_users", [len(CUTOFFS), 1, 2, 17])
def test_table(n_users: int) -> None:
    """A table holds the means of single calls, with as many users as cut-offs (where arrays could line up wrongly) too."""
    source = random_data(seed=4, n_users=40)
    keep = source.users[:n_users]
    lists = {user: source.ranking(user) for user in keep if source.ranking(user)}
    source = Data(lists, {user: source.truth[user] for user in keep})
    evaluation = recnb.evaluate(source.recs, source.relevant)
    table = evaluation.table(NAMES, k=CUTOFFS)
    assert (table.shape, list(table.index)) == ((len(NAMES), len(CUTOFFS)), NAMES)
    for name in NAMES:
        wanted = [np.mean([naive(name, {}, source, user, k) for user in keep]) for k in CUTOFFS]
        assert table.loc[name].tolist() == close(wanted), name
