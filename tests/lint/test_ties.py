"""How far ties could move a metric: every order lies within the bounds, and some order
reaches each of them.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.conventions import presets
from recnb.lint import Lint
from recnb.lint.data import LintData
from recnb.lint.ties import find_ties
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.scoring import values_of_users
from tests import strategies
from tests.examples import examples
from tests.laws.sentences import Frames, frames


def bounds_of(lint: Lint) -> tuple[float, float]:
    """The least and the greatest mean over all orders of equal scores."""
    if "ties" not in lint.names:
        return lint.value, lint.value
    facts = lint["ties"].facts
    return facts["lower"], facts["upper"]


def every_order(recs: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of every user in every order: with ties='first', every order of equal
    scores.
    """
    lists = [part for _, part in recs.groupby("user")]
    orders = itertools.permutations(range(max(map(len, lists))))
    return [
        pd.concat([part.iloc[[at for at in order if at < len(part)]] for part in lists])
        for order in orders
    ]


@given(frames(plain=True), st.sampled_from((1, 2, 3, None)), strategies.choices())
@settings(max_examples=examples(15))
def test_bounds_are_the_lowest_and_the_highest_of_all_orders(
    data: Frames, k: int | None, options: dict[str, dict[str, Any]]
) -> None:
    recs = data.recs.groupby("user").head(4)
    evaluated = partial(recnb.evaluate, truth=data.relevance, **data.options)
    evaluations = [evaluated(one) for one in every_order(recs)]
    told = evaluated(recs)
    for name, metric in METRICS.items():
        lint = told.lint(k, name, **options[name])
        lower, upper = bounds_of(lint)
        measure = Measure(metric, options[name])
        values = np.array(
            [values_of_users(ev, measure, Cutoffs.of(k))[:, 0] for ev in evaluations]
        )
        if options[name].get("out_of") == "hits":  # no order is known to be the best
            assert "ties" not in lint.names or np.isnan(lower)
            continue
        # Users do not share ties, so the extremes of the mean are the means of the
        # extremes.
        assert lower == pytest.approx(values.min(axis=0).mean(), abs=1e-12)
        assert upper == pytest.approx(values.max(axis=0).mean(), abs=1e-12)
        assert lower - 1e-12 <= lint.value <= upper + 1e-12
        moved = values.max(axis=0) - values.min(axis=0) > 1e-12
        assert (lint["ties"].n if moved.any() else 0) == moved.sum()
        assert ("ties" in lint.names) == moved.any()


def many(seed: int, n_users: int = 60) -> tuple[pd.DataFrame, pd.DataFrame]:
    data = strategies.random_data(seed, n_users, gaps=False)
    recs = data.recs.drop(columns="rank")
    return recs.assign(
        score=np.random.default_rng(seed).integers(0, 4, len(recs)) / 2
    ), data.relevant


def test_what_is_told_of_ties() -> None:
    recs = pd.DataFrame({"user": 1, "item": list("abcde"), "score": [5, 3, 3, 3, 1]})
    truth = pd.DataFrame({"user": [1], "item": ["c"]})
    finding = recnb.evaluate(recs, truth).lint(3, "reciprocal_rank")["ties"]
    assert (
        finding.short
        == "Users whose equal scores decide: 1 of 1; RR@3 is anything from 0.0000 to 0.5000"
    )
    users = {
        f"u{at}": dict(zip("abc", (3, 2, 1), strict=True)) for at in range(9_999)
    } | {"u": dict.fromkeys("abc", 1)}
    rare = recnb.evaluate(users, {user: ["a"] for user in users}).lint(3, "dcg")
    assert rare["ties"].short == (
        "Users whose equal scores decide: 1 of 10,000; DCG@3 is 1.0000 in any "
        "order, to four decimals"
    )
    assert (finding.example, finding.severity) == (
        "Such as user 1, rank 2, score 3.",
        "warning",
    )
    # Places that ranks leave empty stay empty: the equal scores have ranks 2, 5 and 6
    # to share.
    ranked, both = (
        recs.head(4).assign(rank=[1, 2, 5, 6]),
        pd.DataFrame({"user": 1, "item": ["c", "d"]}),
    )
    lint = recnb.evaluate(ranked, both).lint(5, "average_precision")
    assert (lint.value, *bounds_of(lint)) == pytest.approx(
        (1 / 5 / 2, 1 / 5 / 2, (1 / 2 + 2 / 5) / 2)
    )
    assert lint["ties"].code == "order='score', ties='expected'"
    disagree = recnb.evaluate(
        ranked.assign(score=[1, 3, 3, 3]), truth, order="rank"
    ).lint(5)
    assert {"ties", "rank_against_score"} & {*disagree.names} == {"rank_against_score"}


def test_no_bound_is_told_of_a_cost() -> None:
    recs = pd.DataFrame({"user": 1, "item": list("abc"), "score": [1, 1, 1]})
    ev = recnb.evaluate(recs, pd.DataFrame({"user": [1], "item": ["c"]}))
    cost = replace(METRICS["reciprocal_rank"], better="low")
    ties = find_ties(LintData(ev, Measure(cost, k=3)))
    assert ties is not None
    assert np.isnan([ties.lower, ties.upper]).all()
    assert len(ties.first) == 1


def test_where_lists_are_not_cut_all_ties_count_and_no_bound_is_told_that_is_not_known() -> (
    None
):
    recs, truth = many(8)
    lint = recnb.evaluate(recs, truth, cutoff="none").lint(1, "average_precision")
    whole = recnb.evaluate(recs, truth).lint(None, "average_precision")
    assert (lint.value, *bounds_of(lint)) == pytest.approx(
        (whole.value, *bounds_of(whole)), abs=1e-12
    )
    worst, expected = (
        recnb.evaluate(recs, truth, ties=ties).lint(5) for ties in ("worst", "expected")
    )
    lower, upper = bounds_of(worst)
    assert worst.value == pytest.approx(lower, abs=1e-12)
    assert lower < expected.value < upper
    assert "ties" not in expected.names  # every order has its part in the number
    by_hits = recnb.evaluate(recs, truth).lint(5, "average_precision", out_of="hits")
    assert np.isnan(bounds_of(by_hits)).all()
    assert by_hits["ties"].short.startswith("Users with equal scores")
    assert by_hits["ties"].severity == "warning"


@pytest.mark.parametrize("library", recnb.conventions.names())
def test_within_a_librarys_conventions(library: str) -> None:
    """Shuffled rows give values within the bounds, wherever one order of equal scores
    is taken.
    """
    recs, truth = many(6, 25)
    known = {
        one.metric: one.convention for one in reversed(presets.of_library(library))
    }
    name = next(
        name
        for name in ("ndcg", "precision", "recall", "average_precision", "f1")
        if name in known
    )
    ev = recnb.evaluate(recs, truth, convention=library)
    lint = ev.lint(5, name)
    lower, upper = bounds_of(lint)
    assert lint.value == pytest.approx(
        float(ev.table([name], k=5).iloc[0, 0]), nan_ok=True
    )
    assert (
        known[name].ties not in ("max_rank", "floor_mean_rank")
        or "ties" not in lint.names
    )  # no order decides
    for seed in range(0 if known[name].order == "row" or not np.isfinite(lower) else 5):
        shuffled = recnb.evaluate(
            recs.sample(frac=1, random_state=seed), truth, convention=library
        )
        assert (
            lower - 1e-12
            <= float(shuffled.table([name], k=5).iloc[0, 0])
            <= upper + 1e-12
        )


@pytest.mark.parametrize("rule", ["dedupe", "hit_once", "keep", "rows"])
def test_with_repeats(rule: str) -> None:
    recs, truth = many(6, 25)
    recs = pd.concat([recs, recs.iloc[::4].assign(score=1.0)], ignore_index=True)
    lower, upper = bounds_of(
        recnb.evaluate(recs, truth, duplicates=rule).lint(5, "recall")
    )
    for seed in range(5):
        shuffled = recnb.evaluate(
            recs.sample(frac=1, random_state=seed), truth, duplicates=rule
        )
        assert lower - 1e-12 <= float(shuffled.recall(k=5)) <= upper + 1e-12
