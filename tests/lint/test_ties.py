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
from tests.rows import hold_calls, read_rows


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


#: A list of one user, in which items of ranks 2 to 4 have equal scores; and of ranks
#: that leave places empty.
EQUAL = pd.DataFrame({"user": 1, "item": list("abcde"), "score": [5, 3, 3, 3, 1]})
GAPS = EQUAL.head(4).assign(rank=[1, 2, 5, 6])
#: One of 10,000 users has equal scores.
RARE: dict[str, Any] = {f"u{at}": {"a": 3, "b": 2, "c": 1} for at in range(9_999)}
RARE["u"] = dict.fromkeys("abc", 1)


test_what_is_told_of_ties = hold_calls(read_rows("lint/ties.toml"), globals())


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


#: What lists with equal scores are evaluated under, and the metrics that may be asked.
OPTIONS: list[dict[str, Any]] = [
    *({"convention": library} for library in recnb.conventions.names()),
    *({"duplicates": rule} for rule in ("dedupe", "hit_once", "keep", "rows")),
]
ASKED = ("ndcg", "precision", "recall", "average_precision", "f1")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_shuffled_rows_give_values_within_the_bounds(options: dict[str, Any]) -> None:
    """Wherever one order of equal scores is taken."""
    recs, truth = many(6, 25)
    if "duplicates" in options:
        recs = pd.concat([recs, recs.iloc[::4].assign(score=1.0)], ignore_index=True)
    evaluated = partial(recnb.evaluate, truth=truth, **options)
    library = options.get("convention")
    name = next(
        name for name in ASKED if library is None or presets.of_metric(name, library)
    )
    ev = evaluated(recs)
    lint = ev.lint(5, name)
    lower, upper = bounds_of(lint)
    value = float(ev.measure(name, k=5))
    assert lint.value == pytest.approx(value, nan_ok=True)
    convention = ev.convention
    if library is not None:
        convention = presets.of_metric(name, library)[0].convention
    if convention.ties in ("max_rank", "floor_mean_rank"):  # no order decides
        assert "ties" not in lint.names
    if convention.order == "row" or not np.isfinite(lower):
        return
    for seed in range(5):
        shuffled = evaluated(recs.sample(frac=1, random_state=seed))
        value = float(shuffled.measure(name, k=5))
        assert lower - 1e-12 <= value <= upper + 1e-12
