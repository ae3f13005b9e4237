"""Numbers by name or text, and under the conventions of a library."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.errors import OptionError
from tests import evaluated
from tests.evaluated import EV, KNN
from tests.results.test_shown import GROUPS
from tests.rows import hold_calls, read_rows, value_of
from tests.sample import SAMPLE

RECS, TRUTH = KNN, SAMPLE.test

# Under the conventions of a library


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_what_counts_for_a_query_of_zeros_is_explained(library: str) -> None:
    ev = recnb.evaluate_groups(*GROUPS, convention=library)
    value, explained = ev.ndcg(k=2).per_user[0], ev.explain("ndcg", 0, k=2)
    assert explained.value == value
    assert f"by convention {value:g}" in repr(explained) or value == 0
    for rule in ("one", "zero", "skip"):
        under = recnb.evaluate_groups(*GROUPS, convention=library, no_relevant=rule)
        assert under.ndcg(k=2).n_users == (2 if rule == "skip" else 3)


# Measures by the names that papers print

STRICT = recnb.evaluate(RECS, TRUTH, relevant_from=4)
JUDGED = RECS.merge(TRUTH[["user", "item"]], on=["user", "item"])
JUDGED["rank"] = JUDGED.groupby("user")["rank"].rank().astype(int)

ROWS = read_rows("results/same.toml")
#: Texts, each with the number that it means.
SAME = ROWS["measures"]


@pytest.mark.parametrize("text", SAME)
def test_a_measure_is_the_method_with_its_options(text: str) -> None:
    score, same = EV.measure(text), value_of(SAME[text], globals())
    assert (score, score.k) == (same, same.k)
    assert score.to_frame().to_numpy().tolist() == same.to_frame().to_numpy().tolist()
    row = EV.measures([text]).loc[text]
    assert row["mean"] == score
    if score.has_interval:
        counted = [*score.interval(), same.n_users]
        assert row[["low", "high", "n_users"]].tolist() == pytest.approx(counted)
    table = EV.table([text])
    assert table.index.tolist() == [score.metric if text in ("mrr", "bpref") else text]
    assert table.to_numpy().item() == score
    assert EV.measure(text, k=score.k) == score
    if "@" in text and "IPrec" not in text:
        with pytest.raises(OptionError, match="cut-off"):
            EV.measure(text, k=4)
        with pytest.raises(OptionError, match="cut-off"):
            EV.table([text], k=[5, 10])


# Under the conventions of a library

#: Learning to rank: the relevant rows are at rank 3 of query 1 and at rank 2 of query
#: 2; query 3 has none.
LABELS = pd.DataFrame(
    {
        "qid": [1] * 3 + [2] * 3 + [3] * 2,
        "label": [0, 0, 2, 0, 1, 0, 0, 0],
        "pred": [0.9, 0.5, 0.1, 0.9, 0.5, 0.1, 0.7, 0.2],
    }
)


def under(relevance: list[float], library: str) -> recnb.Evaluation:
    judged = {1: dict(zip("abc", relevance, strict=True))}
    return recnb.evaluate(
        {1: {"a": 3.0, "b": 2.0, "c": 1.0}}, judged, convention=library
    )


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "scikit-learn", "catboost"])
def test_own_metrics_have_own_relevance(library: str) -> None:
    """A library's nDCG counts every judged item; what the library lacks counts those of
    relevance above 0.
    """
    ours = recnb.evaluate(LABELS, convention=library)
    assert ours.ndcg().convention.relevant == "any"
    assert ours.mrr() == pytest.approx(5 / 18)
    for score in (ours.hit_rate(k=2), ours.recall(k=2)):
        if "recnb's own" in score.basis:
            assert score == pytest.approx(1 / 3)
            assert score.convention.relevant == ">0"
    strict = recnb.evaluate(LABELS, convention=library, relevant_from=2)
    assert strict.hit_rate(k=3) == pytest.approx(1 / 3)
    every = recnb.evaluate(LABELS, convention="lightgbm", relevant="any")
    assert every.hit_rate(k=1) == 1
    if library != "catboost":  # no row of label 0 is called relevant, found or missed
        assert ours.counts.n_relevant == 2
        assert ours.hits().n_relevant.tolist() == [1, 1, 0]
        shown = ours.report(k=2).to_markdown()
        found = {*re.findall(r"found \d of \d relevant", shown)}
        assert found == {"found 0 of 1 relevant", "found 1 of 1 relevant"}


# Calls that are the same

POPULAR, BOOSTED = (
    recnb.evaluate(SAMPLE.models["popular"], TRUTH, convention=library)
    for library in (None, "lightgbm")
)
SAME_CALLS = ROWS["calls"]


def near(wanted: Any) -> Any:
    return pytest.approx(wanted, rel=1e-12, abs=1e-12)


test_calls_that_are_the_same = hold_calls(SAME_CALLS, vars(evaluated) | globals())
