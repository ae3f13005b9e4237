"""The direction of a metric: where less is better all that is said of models and users
is mirrored, and where neither is, nothing is called better or worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.errors import OptionError
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import EVERY_METRIC, METRICS
from tests.comparison.frames import SAMPLE
from tests.examples import examples

DATA: dict[str, Any] = {
    "users": SAMPLE.users,
    "train": SAMPLE.train,
    "items": SAMPLE.items,
}


def register(name: str, sign: int, better: Any) -> None:
    """Make a metric of the mean of 1 / rank, or of its negative."""

    def function(hits, k=None):
        """Reciprocal ranks."""
        return Credit(hits, k, sign / hits.rank, out_of_count(hits, k, "k"))

    function.__name__ = name
    credit = "1 / rank" if sign > 0 else "(0 - 1) / rank"
    bounds = (0, 1) if sign > 0 else (-1, 0)
    recnb.metric(
        symbol=name.title(), credit=credit, out_of="k", bounds=bounds, better=better
    )(function)


@pytest.fixture(autouse=True, scope="module")
def metrics() -> Iterator[None]:
    """One metric, its negative, and the same without a direction."""
    register("worth", 1, "high")
    register("price", -1, "low")
    register("trait", 1, None)
    yield
    for name in ("worth", "price", "trait"):
        del METRICS[name]


def check_mirrored(found: Any, k: int) -> None:
    """Compare all that is said of a metric with what is said of its negative."""
    worth, price = (found.differences([name], k=k) for name in ("worth", "price"))
    assert worth.verdict.tolist() == price.verdict.tolist()
    for name in ("won", "tied", "lost"):
        assert worth[name].tolist() == price[name].tolist()
    for of_worth, of_price in (
        ("difference", "difference"),
        ("low", "high"),
        ("high", "low"),
    ):
        np.testing.assert_allclose(worth[of_worth], -price[of_price], atol=1e-9)
    np.testing.assert_allclose(worth.p_holm, price.p_holm, atol=1e-9)
    worth_marks = found.table(["worth"], k=k).attrs
    price_marks = found.table(["price"], k=k).attrs
    for kind in ("best", "near_best", "better", "worse"):
        marks = worth_marks.get(kind, {}).get(f"worth@{k}")
        assert marks == price_marks.get(kind, {}).get(f"price@{k}")
    of_worth, of_price = (
        found.report(k=k, metrics=[name]) for name in ("worth", "price")
    )
    assert of_worth._data.ranked == of_price._data.ranked
    for one, other in zip(of_worth.users, of_price.users, strict=True):
        assert (one.kind, one.counts) == (other.kind, other.counts)
        assert [user.user for user in one.users] == [user.user for user in other.users]
    for name in found:
        alone = [found[name].report(k=k, metrics=[one]) for one in ("worth", "price")]
        groups = [[(g.kind, [u.user for u in g.users]) for g in r.users] for r in alone]
        assert groups[0] == groups[1]
        value = float(found[name].measure("worth", k=k))
        for limit in (value - 0.01, value, value + 0.01):
            passed = bool(found[name].at_least("worth", limit, k=k))
            assert passed is bool(found[name].at_most("price", -limit, k=k))
            passed = bool(found[name].at_most("worth", limit, k=k))
            assert passed is bool(found[name].at_least("price", -limit, k=k))
    if found.baseline is not None:
        for margin in (0, 0.01, 0.05):
            gates = [
                [check.passed for check in found.not_worse(name, k, margin).checks]
                for name in ("worth", "price")
            ]
            assert gates[0] == gates[1]


@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_where_less_is_better_all_is_mirrored(pairs: Any) -> None:
    found = recnb.compare(SAMPLE.models, SAMPLE.test, pairs=pairs, **DATA)
    check_mirrored(found, 10)


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_where_less_is_better_all_is_mirrored_on_random_lists(
    seed: int, k: int, with_baseline: bool
) -> None:
    rng = np.random.default_rng(seed)
    users = range(int(rng.integers(2, 40)))
    truth = {user: rng.choice(8, int(rng.integers(1, 4)), False) for user in users}
    models = {}
    for name, skill in (("a", 0.0), ("b", 0.3), ("c", 0.9)):
        scores = {
            user: rng.random(8) + skill * np.isin(range(8), truth[user])
            for user in users
        }
        models[name] = {user: np.argsort(-scores[user])[:5].tolist() for user in users}
    found = recnb.compare(
        models,
        {user: items.tolist() for user, items in truth.items()},
        baseline="a" if with_baseline else None,
        pairs=None if with_baseline else "all",
    )
    check_mirrored(found, k)


def forms(report: Any) -> str:
    """All that a report says, without the colours of the page."""
    html = re.sub(r'src="data:[^"]*"', "", report.to_html())
    return "\n".join([repr(report), report.to_markdown(), html])


def many_models(n: int) -> pd.DataFrame:
    """Lists of so many models, each with more chance than the one before."""
    rng = np.random.default_rng(1)
    frames = []
    for model in range(n):
        recs = SAMPLE.models["item-knn"].copy()
        moved = rng.random(len(recs)) < 0.02 * model
        recs["item"] = recs["item"].where(~moved, "none " + recs["rank"].astype(str))
        frames.append(recs[["user", "item", "rank"]].assign(model=f"run{model:02}"))
    return pd.concat(frames)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: recnb.compare(SAMPLE.models, SAMPLE.test, users=SAMPLE.users).report(
            metrics=["trait"], by="segment"
        ),
        lambda: recnb.compare(
            SAMPLE.models, SAMPLE.test, users=SAMPLE.users, pairs="all"
        ).report(metrics=["trait"], by="segment"),
        lambda: recnb.compare(many_models(10), SAMPLE.test).report(metrics=["trait"]),
        lambda: recnb.compare(many_models(10), SAMPLE.test, baseline="run03").report(
            metrics=["trait"]
        ),
        lambda: recnb.evaluate(
            SAMPLE.models["popular"], SAMPLE.test, users=SAMPLE.users
        ).report(metrics=["trait"], by="segment"),
    ],
)
def test_where_neither_is_better_no_form_of_a_report_says_so(ask: Any) -> None:
    report = ask()
    said = forms(report)
    assert re.findall(r".{30}\b(?:better|worse|best|worst|▲|▼).{30}", said) == []
    assert {group.kind for group in report.users} <= {
        "highest",
        "lowest",
        "risen",
        "fallen",
    }
    assert not any(mean.best or mean.near_best for mean in report.means)


def test_directions_of_recnb_s_own_metrics() -> None:
    """More is better of what counts relevant items; less is of calibration; of the rest
    neither is.
    """
    directions = {
        name: metric.better for name, metric in EVERY_METRIC.items() if not metric.own
    }
    assert [name for name, better in directions.items() if better == "low"] == [
        "calibration"
    ]
    assert {name for name, better in directions.items() if better is None} == {
        *("idcg", "judged", "coverage", "user_coverage", "gini", "entropy"),
        *("personalization", "novelty", "popularity", "popularity_rank"),
        *("tail_share", "diversity"),
        *("retrieved_count", "relevant_count", "rbp_residual"),
    }


def test_of_calibration_less_is_better() -> None:
    found = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="item-knn", **DATA)
    rows = found.differences(["calibration", "novelty"], k=10)
    verdicts = rows.set_index(["metric", "model"]).verdict
    assert verdicts["calibration", "popular"] == "worse"
    assert verdicts["novelty", "popular"] == "lower"
    assert "Less is better: Calibration@10." in repr(found.table("calibration", k=10))
    assert not found.not_worse("calibration", k=10)
    table = found.table(["calibration", "novelty"], k=10)
    assert table.attrs["best"]["calibration@10"] == [table["calibration@10"].idxmin()]
    assert table.attrs["best"]["novelty@10"] == []
    with pytest.raises(OptionError, match="not good or bad in itself"):
        found.not_worse("novelty", k=10)


@pytest.mark.parametrize("metric", ["ndcg", "price"])
def test_a_pair_has_one_verdict_in_headline_marks_and_matrix(metric: str) -> None:
    found = recnb.compare(many_models(14), SAMPLE.test)
    report = found.report(k=10, metrics=[metric], movers=0)
    first, *others = report._data.ranked
    apart = {
        name
        for name in others
        for row in report._data.at_lead
        if {row.model, row.baseline} == {first, name}
        and row.verdict in ("better", "worse")
    }
    assert apart
    assert apart != {*others}
    near = {mean.model for mean in report.means if mean.near_best}
    assert near == {*others} - apart
    assert {*found.table([metric], k=10).attrs["near_best"][f"{metric}@10"]} == near
    told = repr(report).replace("\n", " ")
    (named,) = re.findall(r"Not significantly worse than run\d\d: ([^.]*)\.", told)
    assert named.split(", ")[:4] == [name for name in others if name in near][:4]


def test_a_cost_is_said_to_count_who_has_no_list_as_a_list_without_a_hit() -> None:
    @recnb.metric(symbol="Cost", credit="0", missed="no_hit", better="low")
    def cost(hits, k=None):
        no_hit = 1 - hits.total(hits.first, k)
        return Credit(hits, k, np.zeros(len(hits.rank)), missed=no_hit)

    try:
        found = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular")
        ev = found["popular"]
        lists = SAMPLE.models["popular"]
        fewer = {f"m{n}": lists.iloc[400 * n :] for n in range(5)}
        same = {f"m{n}": lists for n in range(5)} | {"all": lists.iloc[400:]}
        said = [
            *(
                recnb.compare(models, SAMPLE.test).table([cost], k=5).attrs["basis"]
                for models in (fewer, same)
            ),
            found.table([cost], k=5).attrs["basis"],
            found.differences([cost], k=5).attrs["basis"],
            found.not_worse(cost, k=5).basis,
            found.report(metrics=[cost]).to_dict()["basis"],
            found.movers(cost, k=5).attrs["basis"],
            ev.measure(cost, k=5).basis,
            repr(ev.lint(5, cost)),
        ]
        miss = 1 - ev.hit_rate(k=5).per_user
        assert ev.measure(cost, k=5).per_user.to_dict() == miss.to_dict()
    finally:
        del METRICS["cost"]
    assert not any("counts 0" in text for text in said)
    assert all("no hit" in text or "without a hit" in text for text in said)
    assert "counts 0" in found.table("ndcg", k=5).attrs["basis"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("worth", "Every one of 12 users has the highest possible Worth@1"),
        ("price", "Every one of 12 users has the lowest possible Price@1"),
        ("trait", ""),
    ],
)
def test_values_that_cannot_be_better_are_a_finding(name: str, words: str) -> None:
    perfect = {user: ["a"] for user in range(12)}
    found = {
        finding.short
        for finding in recnb.evaluate(perfect, perfect).lint(1, name)
        if "possible" in finding.short
    }
    assert found == {words} - {""}


def test_pairs_that_are_tested_apart_have_the_numbers_of_those_tested_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = recnb.compare(many_models(5), SAMPLE.test, pairs="all")
    together = found.differences(["ndcg", "price"], k=[5, 10]).to_frame()
    monkeypatch.setattr("recnb.results.measuring.CELLS", 600)
    apart = found.differences(["ndcg", "price"], k=[5, 10]).to_frame()
    pd.testing.assert_frame_equal(together, apart, rtol=1e-9, atol=1e-12)
