"""Every metric, with every word of every option, at every cut-off, equals its naive definition and its formula text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.metrics.formula import Formula
from recnb.metrics.metric import Metric
from tests.reference import REFERENCE, ideal_grades, relevant_items
from tests.strategies import CUTOFFS, Data, Options, choices, data, every_choice, random_data, values_of

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
    words = {
        (option, value)
        for metric in METRICS.values()
        for option, values in values_of(metric).items()
        for value in values
    }
    for option, value in [("", None), *words]:
        allowed = [name for name in NAMES if not option or value in values_of(METRICS[name]).get(option, ())]
        options = {option: value} if option else {}
        table = evaluation.table(allowed, k=CUTOFFS, **options)
        assert (table.shape, list(table.index)) == ((len(allowed), len(CUTOFFS)), allowed)
        for name in allowed:
            wanted = [np.mean([naive(name, options, source, user, k) for user in keep]) for k in CUTOFFS]
            assert table.loc[name].tolist() == close(wanted), f"{name} {options}"


# The formula text, worked out by itself


def rows_of(grades: list[float], preferred: int | None, top: float) -> list[dict[str, float]]:
    """What the names of a formula stand for, at each hit of a list given by its grades; `preferred` is a rank."""
    rows: list[dict[str, float]] = []
    reach = 1.0
    for rank, grade in enumerate(grades, 1):
        if grade > 0:
            nth, here = (
                len(rows) + 1,
                {"rank": rank, "relevance": grade, "reach": reach, "preferred": rank == preferred},
            )
            rows.append({**here, "nth": nth, "first": nth == 1})
            reach *= 1 - (2**grade - 1) / 2**top
    return rows


def by_formula(
    metric: Metric[...], options: Options, ranking: list[Any], truth: dict[Any, float], k: int | None, top: float
) -> float:
    credit, out_of = metric.formulas(options)
    chosen = {**metric.defaults, **options}
    depth, grades, relevant = (
        len(ranking) if k is None else k,
        [truth.get(item, 0) for item in ranking],
        relevant_items(truth),
    )
    best = max(relevant, key=lambda item: truth[item], default=None)
    constants = {
        "k": depth, "n_relevant": len(relevant), "n_hits": sum(grade > 0 for grade in grades[:depth]), "list_length": len(ranking),
        **{name: chosen[name] for name in metric.defaults if name not in metric.words}, "max_relevance": chosen.get("max_relevance") or top,
    }  # fmt: skip
    hits = rows_of(grades, ranking.index(best) + 1 if best in ranking else None, constants["max_relevance"])
    ideal = rows_of(ideal_grades(ranking, truth, k, chosen.get("ideal", "relevant")), None, constants["max_relevance"])

    def added_up(formula: Formula, rows: list[dict[str, float]]) -> float:
        return math.fsum(float(formula.value({**constants, **row})) for row in rows if row["rank"] <= depth)

    over = added_up(credit, ideal if metric.over == "ideal" else hits)
    of_ideal = out_of.ideal()
    under = float(out_of.value(constants)) if of_ideal is None else added_up(of_ideal, ideal)
    return over / under if under else 0


@pytest.mark.parametrize("name", NAMES)
def test_the_formula_text_gives_the_value(name: str) -> None:
    source = random_data(seed=7, n_users=12, gaps=False)
    evaluation = recnb.evaluate(source.recs, source.relevant)
    top = max(source.truth[user][item] for user in source.users for item in source.truth[user])
    for options in every_choice(METRICS[name]):
        for k in CUTOFFS:
            values = getattr(evaluation, name)(k=k, **options).per_user.to_dict()
            made = {
                u: by_formula(METRICS[name], options, source.ranking(u), source.truth[u], k, top) for u in source.users
            }
            assert values == close(made), f"{name}@{k} {options}"


@given(data(gaps=False, most_users=1), choices(), st.sampled_from(CUTOFFS))
@example(Data({"u1": ["a"]}, {"u1": {"a": 1e-20}}), {"ndcg": {"gain": "exponential"}}, None)
def test_one_list_by_definition_and_by_formula(source: Data, chosen: dict[str, Options], k: int | None) -> None:
    ((user, truth),) = source.truth.items()
    ranking = source.ranking(user)
    for name, options in chosen.items():
        value = float(getattr(recnb, name)(ranking, truth, k=k, **options))
        if (
            source.top > 1e-3 or options.get("gain") != "exponential"
        ):  # 2^relevance - 1 of a tiny one is 0, as it is written
            assert value == close(by_formula(METRICS[name], options, ranking, truth, k, source.top)), name
        assert value == close(REFERENCE[name](ranking, truth, k, **options)), f"{name}@{k} {options}"
