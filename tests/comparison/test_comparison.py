"""Comparisons against scipy on the values of users, and rank-biased overlap by its
definition.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import recnb
from recnb.metrics.metric import EVERY_METRIC
from tests.comparison.frames import SAMPLE, SIDES

BEYOND = (
    "novelty",
    "popularity",
    "tail_share",
    "diversity",
    "serendipity",
    "calibration",
)


@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (("ndcg", "recall", *BEYOND), SIDES),
        # A library may have its own users for each metric.
        (("ndcg", "precision"), {"convention": "recommenders"}),
    ],
)
def test_differences_are_those_of_the_values_of_users_and_tests_those_of_scipy(
    metrics: Any, options: Any
) -> None:
    """Beyond accuracy over the users who have a value in every model; there more is not
    called better.
    """
    found = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **options)
    evaluated = {
        name: model.rec.against(SAMPLE.test, **options)
        for name, model in SAMPLE.models.items()
    }
    frame = found.differences(metrics, k=[5, 10])
    assert len(frame) == len(metrics) * 2 * 2
    for row in frame.itertuples():
        values = {
            name: getattr(ev, row.metric)(k=row.k).per_user
            for name, ev in evaluated.items()
        }
        together = pd.concat(values, axis=1, join="inner")
        new, old = together[row.model], together[row.baseline]
        apart = (new - old).round(12)
        gained = EVERY_METRIC[row.metric].sign * apart
        assert row.difference == pytest.approx(apart.mean(), abs=1e-12)
        assert [row.won, row.tied, row.lost] == [
            (gained > 0).sum(),
            (gained == 0).sum(),
            (gained < 0).sum(),
        ]
        assert row.n_users == len(together)
        if row.tied < row.n_users:
            test = stats.ttest_rel(new, old)
            assert row.p == pytest.approx(test.pvalue, abs=1e-12)
            assert row.effect_size == pytest.approx(apart.mean() / apart.std())
        if row.metric == "ndcg":
            interval = tuple(test.confidence_interval())
            assert (row.low, row.high) == pytest.approx(interval)
        directed = EVERY_METRIC[row.metric].better is not None
        assert (row.verdict in ("better", "worse")) <= directed
        assert (row.verdict in ("higher", "lower")) <= (not directed)
    assert (frame.p_holm.dropna() >= frame.p.dropna()).all()


@pytest.mark.parametrize("metric", ["ndcg", "novelty"])
def test_a_table_and_differences_by_segment_are_those_of_the_users_in_it(
    metric: str,
) -> None:
    """Beyond accuracy of all users who have a value in every model."""
    found = recnb.compare(SAMPLE.models, SAMPLE.test, users=SAMPLE.users, **SIDES)
    frame = found.differences(metric, k=10, by="segment")
    table = found.table(metric, k=10, by="segment")
    of = SAMPLE.users.set_index("user")["segment"]
    evaluations = {name: getattr(ev, metric)(k=10) for name, ev in found.items()}
    values = pd.DataFrame({name: ev.per_user for name, ev in evaluations.items()})
    values = values.dropna()
    assert frame.n_users.sum() == 2 * len(values)
    for row in frame.itertuples():
        inside = values[of[values.index] == row.segment]
        new, old = inside[row.model], inside[row.baseline]
        assert row.difference == pytest.approx((new - old).mean())
        assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue)
        mean = table.loc[(row.segment, row.model), f"{metric}@10"]
        assert mean == pytest.approx(new.mean(), abs=1e-12)
    assert frame.p_holm.min() == pytest.approx(min(frame.p.min() * len(frame), 1))


def overlap_of(one: list[int], two: list[int], p: float) -> float:
    """Rank-biased overlap, depth by depth: equation 32 of Webber et al. (2010)."""
    short, long = sorted((one, two), key=len)
    if not short:
        return 0.0

    def common(depth: int) -> int:
        return len(set(short[:depth]) & set(long[:depth]))

    n, in_short, in_long = len(short), common(len(short)), common(len(long))
    total = sum(common(d) / d * p**d for d in range(1, len(long) + 1))
    total += sum(
        in_short * (d - n) / (n * d) * p**d for d in range(n + 1, len(long) + 1)
    )
    below = (in_long - in_short) / len(long) + in_short / n
    return (1 - p) / p * total + below * p ** len(long)


LISTS = st.lists(st.integers(0, 7), unique=True, max_size=8)


@given(
    st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=5),
    st.none() | st.integers(1, 6),
    st.floats(0.01, 0.99),
)
def test_rank_biased_overlap_is_that_of_its_definition(pairs, k, p):
    users = {f"u{n}": lists for n, lists in enumerate(pairs) if any(lists)}
    models = {
        name: {user: lists[n] for user, lists in users.items() if lists[n]}
        for n, name in enumerate(["one", "two"])
    }
    assume(all(models.values()))
    found = recnb.compare(models, {user: [0] for user in users}).overlap(k, p=p)
    values = [overlap_of(one[:k], two[:k], p) for one, two in users.values()]
    assert found.rbo.item() == pytest.approx(sum(values) / len(values), abs=1e-12)


def test_an_overlap_is_to_the_last_digit_the_same_each_time():
    found = recnb.compare(SAMPLE.models, SAMPLE.test)
    assert len({tuple(found.overlap(10)["jaccard"]) for _ in range(8)}) == 1


def test_a_mean_beyond_accuracy_is_over_the_users_who_have_a_list_of_every_model() -> (
    None
):
    lists = SAMPLE.models["popular"]
    lacking = lists["user"].unique()[:40]
    models = {
        "all": SAMPLE.models["item-knn"],
        "fewer": lists[~lists["user"].isin(lacking)],
    }
    found = recnb.compare(models, SAMPLE.test, train=SAMPLE.train)
    of_users = {
        name: recnb.evaluate(recs, SAMPLE.test, train=SAMPLE.train)
        .novelty(k=10)
        .per_user
        for name, recs in models.items()
    }
    both = of_users["all"].index.intersection(of_users["fewer"].index)
    assert len(both) < len(of_users["all"])
    table = found.table("novelty", k=10)["novelty@10"]
    for name, values in of_users.items():
        assert table[name] == pytest.approx(values[both].mean(), abs=1e-12)


def test_as_many_users_without_a_list_are_said_to_be_so_in_each_model_if_they_differ():
    truth = {user: ["x"] for user in "abcd"}
    lists = {
        "x": {user: ["x"] for user in "abc"},
        "y": {user: ["x"] for user in "abd"},
    }
    without = "1 of them without a list, which counts 0"
    found = recnb.compare(lists, truth)
    assert found.basis.split("; ")[1] == f"in each model {without}"
    alike = recnb.compare({"x": lists["x"], "y": lists["x"]}, truth)
    assert alike.basis.split("; ")[1] == without
