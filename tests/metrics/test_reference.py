"""Every metric, with every word of every option, at every cut-off, equals its naive definition in `reference.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb import METRICS, Evaluation
from tests.reference import REFERENCE
from tests.strategies import CUTOFFS, Data, Options, choices, data, every_choice, random_data, values_of

CHOICES = [(name, options) for name, metric in METRICS.items() for options in every_choice(metric)]
NAMES = sorted(METRICS)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def expected(name: str, options: Options, source: Data, user: Any, k: int | None) -> float:
    chosen = {"max_relevance": None, **options} if name == "err" else dict(options)
    if name == "err" and chosen["max_relevance"] is None:
        chosen["max_relevance"] = max(source.truth[one][item] for one in source.users for item in source.truth[one])
    return REFERENCE[name](source.ranking(user), source.truth.get(user, {}), k, **chosen)


@pytest.fixture(scope="module")
def several() -> tuple[Data, Evaluation]:
    """A dozen users and more: graded, with gaps, without lists, without relevant items."""
    source = random_data(seed=1, n_users=24)
    assert len(source.lists) < 24
    assert any(None in ranking for ranking in source.lists.values())
    assert any(not source.ranking(user) for user in source.users)
    assert len(source.users) < 24
    return source, recnb.evaluate(source.recs, source.relevant)


def test_every_metric_has_a_definition() -> None:
    """A new metric needs a naive definition."""
    assert set(REFERENCE) == set(METRICS)


@pytest.mark.parametrize(
    ("name", "options"),
    CHOICES,
    ids=lambda value: value if isinstance(value, str) else ",".join(map(str, value.values())),
)
def test_all_options_through_frames(name: str, options: Options, several: tuple[Data, Evaluation]) -> None:
    """Each combination of options, at each cut-off, user by user, and the mean."""
    source, evaluation = several
    for k in CUTOFFS:
        score = getattr(evaluation, name)(k=k, **options)
        wanted = {user: expected(name, options, source, user, k) for user in source.users}
        assert score.per_user.to_dict() == close(wanted), f"{name}@{k} {options}"
        assert float(score) == close(sum(wanted.values()) / len(wanted))
        assert score.n_users == len(wanted)


@pytest.mark.parametrize("name", NAMES)
def test_all_options_through_one_list(name: str) -> None:
    """Each combination of options, at each cut-off, as a plain function of one list and of several lists."""
    function = getattr(recnb, name)
    source = random_data(seed=2, n_users=10, gaps=False)
    users = [user for user in source.truth if source.ranking(user)]
    rankings, truths = [source.ranking(user) for user in users], [source.truth[user] for user in users]
    for options in every_choice(METRICS[name]):
        for k in CUTOFFS:
            wanted = [
                REFERENCE[name](ranking, truth, k, **options) for ranking, truth in zip(rankings, truths, strict=True)
            ]
            values = [
                float(function(ranking, truth, k=k, **options)) for ranking, truth in zip(rankings, truths, strict=True)
            ]
            assert values == close(wanted), f"{name}@{k} {options}"
        if options.get("max_relevance", 1) is not None:
            assert function(rankings, truths, k=5, **options).per_user.tolist() == close(
                [REFERENCE[name](ranking, truth, 5, **options) for ranking, truth in zip(rankings, truths, strict=True)]
            )


@pytest.mark.parametrize("name", NAMES)
def test_grades_alone(name: str) -> None:
    """A list of grades is a ranking whose truth is what it holds."""
    grades = [3, 0, 2, 2, 0, 1]
    ranking, truth = list(range(6)), dict(enumerate(grades))
    for options in every_choice(METRICS[name]):
        for k in CUTOFFS:
            assert float(getattr(recnb, name)(grades, k=k, **options)) == close(
                REFERENCE[name](ranking, truth, k, **options)
            )


@given(data(), choices())
def test_random_data_through_frames(source: Data, chosen: dict[str, Options]) -> None:
    """Small data of every kind, with options drawn for each metric."""
    evaluation = recnb.evaluate(source.recs, source.relevant)
    assert set(evaluation.users) == set(source.users)
    for name, options in chosen.items():
        for k in CUTOFFS:
            values = getattr(evaluation, name)(k=k, **options).per_user.to_dict()
            assert values == close({user: expected(name, options, source, user, k) for user in source.users}), (
                f"{name}@{k} {options}"
            )


@given(data(), choices())
def test_users_without_relevant_items_count_0(source: Data, chosen: dict[str, Options]) -> None:
    """Asked for everyone, users of either frame for whom nothing is relevant count 0, wherever their ids sort."""
    everyone = recnb.evaluate(source.recs, source.relevant, averaged_users="union", no_relevant="zero")
    assert set(everyone.users) == {*source.lists, *source.truth}
    for name, options in chosen.items():
        values = getattr(everyone, name)(k=3, **options).per_user.to_dict()
        assert values == close({user: expected(name, options, source, user, 3) for user in values}), f"{name} {options}"
        assert all(values[user] == 0 for user in values if user not in source.users)


@given(data(gaps=False), choices(), st.sampled_from(CUTOFFS))
def test_random_data_through_one_list(source: Data, chosen: dict[str, Options], k: int | None) -> None:
    """Each user's list by itself; the highest relevance is then that of the one list."""
    for user, truth in source.truth.items():
        for name, options in chosen.items():
            value = float(getattr(recnb, name)(source.ranking(user), truth, k=k, **options))
            assert value == close(REFERENCE[name](source.ranking(user), truth, k, **options)), f"{name}@{k} {options}"


@pytest.mark.parametrize("n_users", [len(CUTOFFS), 1, 2, 17])
def test_table(n_users: int) -> None:
    """A table holds the means of single calls, with as many users as cut-offs (where arrays could line up wrongly) too."""
    source = random_data(seed=4, n_users=40)
    keep = source.users[:n_users]
    source = Data(
        {user: source.ranking(user) for user in keep if source.ranking(user)},
        {user: source.truth[user] for user in keep},
    )
    evaluation = recnb.evaluate(source.recs, source.relevant)
    assert evaluation.n_users == n_users
    for option, values in [
        (None, (None,)),
        *{
            name: values
            for metric in METRICS.values()
            for name, values in values_of(metric).items()
            if name != "out_of"
        }.items(),
    ]:
        names = [name for name in NAMES if option is None or option in METRICS[name].defaults]
        for value in values:
            options = {} if option is None else {option: value}
            table = evaluation.table(names, k=CUTOFFS, **options)
            assert table.shape == (len(names), len(CUTOFFS))
            assert list(table.index) == names
            for row, name in enumerate(names):
                wanted = [np.mean([expected(name, options, source, user, k) for user in keep]) for k in CUTOFFS]
                assert table.iloc[row].tolist() == close(wanted), f"{name} {options}"
                assert table.iloc[row].tolist() == close(
                    [float(getattr(evaluation, name)(k=k, **options)) for k in CUTOFFS]
                )


@pytest.mark.parametrize("name", ["precision", "recall", "average_precision"])
def test_table_of_denominators(name: str) -> None:
    """Every denominator in a table with as many users as cut-offs, which out_of's arrays of users × cut-offs must tell apart."""
    source = random_data(seed=5, n_users=40)
    keep = source.users[: len(CUTOFFS)]
    source = Data(
        {user: source.ranking(user) for user in keep if source.ranking(user)},
        {user: source.truth[user] for user in keep},
    )
    evaluation = recnb.evaluate(source.recs, source.relevant)
    for word in METRICS[name].words["out_of"]:
        table = evaluation.table([name], k=CUTOFFS, out_of=word)
        assert table.iloc[0].tolist() == close(
            [
                np.mean([REFERENCE[name](source.ranking(user), source.truth[user], k, out_of=word) for user in keep])
                for k in CUTOFFS
            ]
        )
