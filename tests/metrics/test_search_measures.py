"""Measures of search: the numbers of trec_eval and ir_measures topic by topic, naive
definitions, and laws.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import OptionError
from recnb.metrics.metric import RETRIEVAL_METRICS
from tests.strategies import CUTOFFS, Data, data

Rows = dict[str, dict[str, Any]]

#: Measure of recnb -> that of trec_eval.
OF_TREC_EVAL = {
    "infAP": "infAP",
    "SetP": "set_P",
    "SetRelP": "set_relative_P",
    "SetR": "set_recall",
    "SetF": "set_F",
    "SetAP": "set_map",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "Bpref": "bpref",
    "AP": "map",
    "nDCG": "ndcg",
    "RR": "recip_rank",
    "Rprec": "Rprec",
}

#: Measures as ir_measures takes them.
OF_IR_MEASURES = [
    ir_measures.infAP,
    ir_measures.infAP(rel=2),
    ir_measures.SetP(rel=2),
    ir_measures.SetP(judged_only=True),
    ir_measures.SetRelP,
    ir_measures.SetR,
    ir_measures.SetR(rel=2),
    ir_measures.SetF,
    ir_measures.SetF(beta=2.0),
    ir_measures.SetAP(rel=2),
    ir_measures.NumRet,
    ir_measures.NumRelRet,
    ir_measures.NumRet(rel=2),
    ir_measures.NumRel,
    ir_measures.nDCG(cutoff=10),
    ir_measures.P(cutoff=5, rel=2),
    ir_measures.AP(cutoff=10),
    ir_measures.IPrec @ 0.1,
    ir_measures.IPrec @ 0.5,
    ir_measures.IPrec @ 1.0,
]

#: Who is averaged, and how lists are ordered, by both libraries.
AS_TREC: dict[str, Any] = {
    "ties": "item_desc",
    "negative_relevance": "zero",
    "no_relevant": "zero",
    "averaged_users": "both",
}


def judgments() -> Rows:
    """150 topics; grades from -2, which was pooled and not judged, to 3.

    Of every tenth topic nothing is relevant.
    """
    rng = np.random.default_rng(5)
    qrels = {}
    for topic in range(150):
        items = rng.choice(60, size=rng.integers(3, 40), replace=False)
        highest = 1 if topic % 10 == 0 else 4
        grades = rng.integers(-2, highest, len(items))
        qrels[f"t{topic}"] = {
            f"d{item:02}": int(grade) for item, grade in zip(items, grades, strict=True)
        }
    return qrels


def run(number: int) -> Rows:
    """Lists with equal scores, some of them short.

    Ten topics are missing, another run by run, and five are not in the judgments.
    """
    rng = np.random.default_rng(100 + number)
    lists = {}
    for topic in range(155):
        if topic % 15 == number % 15:
            continue
        items = rng.choice(80, size=rng.integers(1, 50), replace=False)
        scores = rng.integers(0, 8, len(items))
        lists[f"t{topic}"] = {
            f"d{item:02}": float(score)
            for item, score in zip(items, scores, strict=True)
        }
    return lists


QRELS = judgments()


#: Runs that are drawn, the first of them by the test command.
NUMBERS = [
    pytest.param(number, marks=() if number < 5 else pytest.mark.slow)
    for number in range(20)
]


@pytest.mark.parametrize("number", NUMBERS)
def test_each_topic_has_the_number_of_trec_eval(number: int) -> None:
    lists = run(number)
    wanted = OF_TREC_EVAL.values()
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, set(wanted))
    theirs = pd.DataFrame(evaluator.evaluate(lists)).T.sort_index()
    by_options = recnb.evaluate(lists, QRELS, **AS_TREC)
    by_name = recnb.evaluate(lists, QRELS, convention="trec_eval")
    for (measure, name), ev in product(OF_TREC_EVAL.items(), (by_options, by_name)):
        mine = ev.measure(measure).per_user.sort_index()
        assert mine.index.tolist() == theirs.index.tolist()
        np.testing.assert_allclose(
            mine, theirs[name], rtol=1e-12, atol=1e-12, err_msg=measure
        )


@pytest.mark.parametrize("number", NUMBERS)
def test_each_topic_has_the_number_of_ir_measures(number: int) -> None:
    lists = run(number)
    ev = recnb.evaluate(lists, QRELS, **AS_TREC)
    for measure in OF_IR_MEASURES:
        # Each by itself: asked with others, NumRet of ir_measures 0.4 now and then counts
        # judged documents alone, as its place among them is that of a hash.
        theirs = {
            each.query_id: each.value
            for each in ir_measures.iter_calc([measure], QRELS, lists)
            if each.query_id in lists
        }
        values = ev.measure(measure).per_user.to_dict()
        assert values == pytest.approx(theirs, rel=1e-12, abs=1e-12), str(measure)


@pytest.mark.parametrize("measure", [ir_measures.Accuracy, ir_measures.Accuracy @ 10])
def test_auc_is_what_ir_measures_calls_accuracy(measure: Any) -> None:
    """Which has no value of a topic without a pair; equal scores stay in order."""
    lists = run(3)
    theirs = {}
    for topic, scores in lists.items():
        try:
            values = [*ir_measures.iter_calc([measure], QRELS, {topic: scores})]
        except ZeroDivisionError:  # of a list of relevant items alone
            continue
        theirs |= {each.query_id: each.value for each in values}
    assert len(theirs) > 50
    ev = recnb.evaluate(lists, QRELS, **AS_TREC | {"ties": "first"})
    values = ev.measure(measure).per_user.to_dict()
    assert {topic: values[topic] for topic in theirs} == pytest.approx(theirs)
    others = set(values) - set(theirs)
    assert others
    assert {values[topic] for topic in others} == {0.5}


# Naive definitions


def of_pairs(relevant: list[bool]) -> float:
    """AUC, pair by pair."""
    pairs = [
        (here, there)
        for here, is_hit in enumerate(relevant)
        for there, is_other in enumerate(relevant)
        if is_hit and not is_other
    ]
    if not pairs:
        return 0.5
    return sum(here < there for here, there in pairs) / len(pairs)


@given(data(gaps=False), st.sampled_from(CUTOFFS))
def test_search_measures_equal_their_definitions(source: Data, k: int | None) -> None:
    ev = recnb.evaluate(source.recs, source.relevant)
    names = ("auc", "set_average_precision", "rbp_residual")
    counts = ("retrieved_count", "relevant_count", "hit_count")
    values = {name: ev.measure(name, k=k).per_user for name in (*names, *counts)}
    infap = ev.measure("infAP", k=k).per_user
    for user in source.users:
        truth = source.truth[user]
        shown = source.ranking(user)[:k]
        relevant = [truth.get(item, 0) > 0 for item in shown]
        n_relevant = sum(grade > 0 for grade in truth.values())
        n_hits = sum(relevant)
        seen = sum(
            0.2 * 0.8**place for place, item in enumerate(shown) if item in truth
        )
        wanted = {
            "auc": of_pairs(relevant),
            "set_average_precision": n_hits / max(1, len(shown)) * n_hits / n_relevant,
            "rbp_residual": 1 - seen,
            "retrieved_count": len(shown),
            "relevant_count": n_relevant,
            "hit_count": n_hits,
        }
        for name, value in wanted.items():
            assert values[name][user] == pytest.approx(value, abs=1e-12), name
        judged = [item in truth for item in shown]
        assert infap[user] == pytest.approx(
            inferred(relevant, judged, n_relevant), abs=1e-12
        )


def inferred(relevant: list[bool], judged: list[bool], n_relevant: int) -> float:
    """infAP of a pool that was judged whole, as Yilmaz and Aslam (2006) write it."""
    total = 0.0
    for above, is_hit in enumerate(relevant):
        if not is_hit:
            continue
        n_hits = sum(relevant[:above])
        n_judged = sum(judged[:above])
        expected = 0.0
        if above:
            share = (n_hits + 1e-5) / (n_judged + 2e-5)
            expected = above / (above + 1) * n_judged / above * share
        total += 1 / (above + 1) + expected
    return total / n_relevant


# Laws


@given(data(gaps=False), st.sampled_from(CUTOFFS), st.floats(0.01, 0.99))
def test_rbp_with_its_residual_is_rbp_if_all_that_is_not_judged_is_relevant(
    source: Data, k: int | None, p: float
) -> None:
    """Below the list as well, where relevant items would add p to the power of k."""
    ev = recnb.evaluate(source.recs, source.relevant)
    upper = ev.rbp(k=k, p=p).per_user + ev.measure("rbp_residual", k=k, p=p).per_user
    for user in source.users:
        shown = source.ranking(user)[:k]
        truth = source.truth[user]
        could_be = [place for place, item in enumerate(shown) if truth.get(item, 1) > 0]
        best = sum((1 - p) * p**place for place in could_be) + p ** len(shown)
        assert upper[user] == pytest.approx(best, abs=1e-12)


def test_what_was_pooled_and_not_judged_is_in_the_residual() -> None:
    """Of ranks 1 to 3 two are judged; below them all could be relevant."""
    truth = {"u": {"a": 1, "x": -1, "b": 0}}
    ev = recnb.evaluate({"u": list("axb")}, truth, negative_relevance="zero")
    assert ev.measure("rbp_residual", p=0.5) == pytest.approx(0.25 + 0.125)


#: What is relevant is never nothing here, and every list has places below its end.
WITHOUT_LOWEST = {"relevant_count", "rbp_residual"}


def test_bounds_hold_and_are_reached() -> None:
    """By lists of what is relevant alone, of it above and below the rest, and of the rest."""
    truth = {"u": {"a": 1, "b": 1, "c": 1}}
    lists = ("abc", "abcxyz", "xyzabc", "xyz")
    of_lists = [recnb.evaluate({"u": [*items]}, truth) for items in lists]
    without = recnb.evaluate(
        {"v": ["a"]}, {**truth, "v": ["a"]}, averaged_users="truth"
    )
    for name, metric in RETRIEVAL_METRICS.items():
        values = [float(ev.measure(name, k=6)) for ev in of_lists]
        values.append(without.measure(name, k=6).per_user["u"])
        low, high = metric.bounds
        assert low <= min(values), name
        assert max(values) <= high, name
        if name not in WITHOUT_LOWEST:
            assert min(values) == pytest.approx(low, abs=1e-5), name
        if math.isfinite(high):
            assert max(values) == pytest.approx(high, abs=1e-5), name
        else:
            assert max(values) > 1, name


def test_a_plain_list_is_scored_and_explained() -> None:
    scored = recnb.auc(y_true=[1, 0, 1, 0], y_score=[0.9, 0.8, 0.4, 0.1])
    assert scored == of_pairs([True, False, True, False]) == 3 / 4
    value = recnb.auc(["a", "x", "b", "y"], ["a", "b", "c"], k=3)
    explained = recnb.explain("auc", ["a", "x", "b", "y"], ["a", "b", "c"], k=3)
    assert explained.value == float(value)
    assert explained.numbers.endswith(f"= {float(value):.4g}")


def test_measures_of_search_are_asked_by_name() -> None:
    ev = recnb.evaluate({1: ["a", "b"]}, {1: ["b"]})
    frame = pd.DataFrame({"qid": [1, 1], "label": [0, 1], "score": [2.0, 1.0]})
    gone = {*RETRIEVAL_METRICS} & {*dir(ev), *dir(frame.rec)}
    assert not gone
    for name in RETRIEVAL_METRICS:
        for holder, of in ((ev, "ev"), (frame.rec, "df.rec")):
            with pytest.raises(AttributeError, match="was removed") as refused:
                getattr(holder, name)
            advice = str(refused.value).partition("Type ")[2].rstrip(".")
            for call in advice.split(", or "):
                assert call.startswith(of)
                eval(call.replace(of, "holder", 1), {"holder": holder})


# What is not there, and what to do about it


def test_what_is_refused_says_what_to_type() -> None:
    ev = recnb.evaluate(run(2), QRELS, **AS_TREC)
    with pytest.raises(OptionError) as refused:
        ev.measure("GMAP")
    call = str(refused.value).partition("Type ")[2].removesuffix(".")
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"gm_map"})
    logs = [values["gm_map"] for values in evaluator.evaluate(run(2)).values()]
    wanted = math.exp(sum(logs) / len(logs))
    assert eval(call, {"np": np, "ev": ev}) == pytest.approx(wanted, rel=1e-12)
    for measure in (ir_measures.alpha_nDCG @ 10, ir_measures.ERR_IA @ 10, "P_IA@5"):
        with pytest.raises(OptionError, match="It counts subtopics"):
            ev.measure(measure)
    with pytest.raises(
        OptionError, match=r"The number of users evaluated is \.n_users"
    ):
        ev.measure(ir_measures.NumQ)
    with pytest.raises(OptionError, match="has no terms to explain"):
        ev.explain("RBP-residual", "t1")


def test_a_metric_that_takes_no_propensities_names_one_that_does() -> None:
    truth = pd.DataFrame({"user": ["u"], "item": ["a"], "p": [0.5]})
    ev = recnb.evaluate({"u": ["a", "b"]}, truth, propensity="p")
    assert ev.measure("NumRelRet") == 2
    with pytest.raises(OptionError, match="the nearest is recall"):
        ev.measure("SetAP")
