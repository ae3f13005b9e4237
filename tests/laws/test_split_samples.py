"""Intervals, tests and segments of lists in a split, on random frames: the values of
each split alone, put together, with the clusters that a loop finds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.stats import Moments, UserSample
from recnb.stats import paired as paired_of
from tests.examples import examples
from tests.laws.test_splits import Kwargs, each_alone, frames_of, put_together

N_USERS = 40
USERS = pd.DataFrame(
    {
        "user": range(N_USERS),
        "topic": [user % 14 for user in range(N_USERS)],
        "country": ["a" if user < 21 else "b" for user in range(N_USERS)],
        "weight": [1 + user % 4 / 3 for user in range(N_USERS)],
    }
).set_index("user", drop=False)
BOUNDS = {"precision": (0.0, 1.0), "dcg": (0.0, math.inf)}
COLUMNS = st.sampled_from([["fold"], ["day"], ["fold", "seed"]])


def of_list(values: pd.Series[float], column: str) -> Any:
    """A column of USERS, for each list by its user."""
    return USERS[column].loc[values.index.get_level_values("user")].to_numpy()


def sample_of(values: pd.Series[float], cluster: str, *, weighted: bool) -> UserSample:
    """The lists that are drawn together, by a loop."""
    codes: dict[Any, int] = {}
    of_lists = [codes.setdefault(x, len(codes)) for x in of_list(values, cluster)]
    weights = of_list(values, "weight") if weighted else None
    return UserSample(len(values), weights, np.array(of_lists))


def interval_of(
    values: pd.Series[float], cluster: str, metric: str, *, weighted: bool
) -> Any:
    """The interval of the values of lists, about."""
    sample = sample_of(values, cluster, weighted=weighted)
    moments = Moments(values.to_numpy()[:, np.newaxis], sample, BOUNDS[metric])
    low, high, *_rest = moments.interval()
    return pytest.approx([low[0], high[0]], abs=1e-10, nan_ok=True)


def values_of(
    recs: pd.DataFrame, truth: pd.DataFrame, columns: list[str], metric: str, **kw: Any
) -> pd.Series[float]:
    """The values of a metric in each split alone, put together."""
    keys = [*recs[columns].drop_duplicates().itertuples(index=False, name=None)]
    of_keys = {
        key: getattr(part, metric)(k=3).per_user
        for key, part in each_alone(recs, truth, columns, keys, **kw)
    }
    values: pd.Series[float] = put_together(of_keys, columns)
    return values


@given(
    seed=st.integers(0, 10**6),
    columns=COLUMNS,
    weighted=st.booleans(),
    cluster=st.sampled_from(["user", "topic"]),
    inverse=st.booleans(),
)
@settings(max_examples=examples(24))
def test_intervals_are_of_the_lists_of_all_splits_by_their_clusters(
    seed: int, columns: list[str], weighted: bool, cluster: str, inverse: bool
) -> None:
    recs, truth, _keys = frames_of(seed, columns, n_users=N_USERS)
    options: Kwargs = {"users": USERS}
    metric = "dcg" if inverse else "precision"
    if inverse:
        truth["p"] = np.random.default_rng(seed).integers(1, 9, len(truth)) / 8
        options["propensity"] = "p"
    values = values_of(recs, truth, columns, metric, **options)
    if weighted:
        options["user_weight"] = "weight"
    if cluster != "user":
        options["cluster"] = cluster
    ev = recnb.evaluate(recs, truth, split=columns, **options)
    score = getattr(ev, metric)(k=3)
    wanted = interval_of(values, cluster, metric, weighted=weighted)
    assert list(score.interval()) == wanted
    assert score.n_users == len({*of_list(values, cluster)})
    assert score.n_lists == len(values)

    by_country = ev.table(metric, k=3, by="country").to_frame().reset_index()
    for row in by_country.itertuples():
        inside = values[of_list(values, "country") == row.country]
        wanted = interval_of(inside, cluster, metric, weighted=weighted)
        assert [row.low, row.high] == wanted


@given(
    seed=st.integers(0, 10**6),
    columns=COLUMNS,
    weighted=st.booleans(),
    cluster=st.sampled_from(["user", "topic"]),
)
@settings(max_examples=examples(16))
def test_differences_are_tested_over_the_clusters_of_all_splits(
    seed: int, columns: list[str], weighted: bool, cluster: str
) -> None:
    recs, truth, keys = frames_of(seed, columns, n_users=N_USERS)
    rng = np.random.default_rng(seed)
    models = {"a": recs, "b": recs.assign(score=rng.random(len(recs)))}
    options: Kwargs = {"users": USERS}
    a, b = (values_of(rows, truth, columns, "ndcg") for rows in models.values())
    assert [*a.index] == [*b.index]  # both models have lists of the same users
    differences = (b - a).to_numpy()
    if weighted:
        options["user_weight"] = "weight"
    if cluster != "user":
        options["cluster"] = cluster
    sample = sample_of(a, cluster, weighted=weighted)
    found = recnb.compare(models, truth, split=columns, baseline="a", **options)
    row = found.differences("ndcg", k=3).iloc[0]
    wanted = paired_of(differences[:, np.newaxis], sample, bounds=(-1.0, 1.0))
    mean = np.average(differences, weights=sample.weights)
    assert row.difference == pytest.approx(mean)
    for name in ("low", "high", "p", "effect_size"):
        value = getattr(wanted, name)[0]
        assert row[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name

    # Each combination is the comparison of its lists alone.
    by_split = found.runs("ndcg", k=3).by_split
    by = found.differences("ndcg", k=3, by=columns).to_frame()
    assert len(by) == len(keys)
    has_test = by["p"].notna()
    assert (by["p"] <= by["p_holm"])[has_test].all()
    for row in by.itertuples():
        key = tuple(
            part.date() if isinstance(part, pd.Timestamp) else part
            for part in (getattr(row, column) for column in columns)
        )
        alone = {
            name: next(each_alone(rows, truth, columns, [key], **options))[1]
            for name, rows in models.items()
        }
        means = {name: float(part.ndcg(k=3)) for name, part in alone.items()}
        in_split = by_split.loc[tuple(getattr(row, column) for column in columns)]
        assert in_split.squeeze().to_dict() == pytest.approx(means)
        of_alone = recnb.compare(alone, baseline="a").differences("ndcg", k=3).iloc[0]
        for name in ("difference", "low", "high", "p", "n_users", "won", "lost"):
            value = pytest.approx(of_alone[name], abs=1e-9, nan_ok=True)
            assert getattr(row, name) == value, name
