"""What a bad k, option, metric or user gets, on frames and on lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import WORDS
from recnb.errors import CutoffError, OptionError, RecnbError, UnknownUserError
from recnb.metrics.metric import METRICS

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
TRUTH = pd.DataFrame({"user": [1, 2], "item": [11, 10], "relevance": [1.0, 2.0]})
EV = recnb.evaluate(RECS, TRUTH)
ONE = pd.merge(RECS, TRUTH, how="outer")
NAMED = recnb.evaluate(RECS.assign(user=["anna", "anna", "bo"]), TRUTH.assign(user=["anna", "bo"]))
MANY = pd.DataFrame({"user": range(1000), "item": 1, "rank": 1})
OF_MANY = recnb.evaluate(MANY, MANY[["user", "item"]].assign(relevance=[0.0] + [1.0] * 999))
LARGE = recnb.evaluate(RECS, TRUTH.assign(relevance=[2000.0, 1]))


def refused(call: Callable[[], Any], kind: type[RecnbError], *pieces: str) -> None:
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is kind, message
    assert isinstance(raised.value, ValueError)
    for piece in pieces:
        assert piece in message, f"{piece!r} is not in: {message}"
    assert 30 < len(message) < 600


def everywhere(name: Any = "ndcg", k: Any = 2, **options: Any) -> list[Callable[[], Any]]:
    """A metric asked for in every way: of an evaluation, of one frame, of one list."""
    calls: list[Callable[[], Any]] = [
        lambda: EV.table([name], k=k, **options),
        lambda: EV.explain(name, 1, k=k, **options),
        lambda: ONE.rec.explain(name, 1, k=k, **options),
        lambda: recnb.explain(name, [1, 2], k=k, **options),
    ]
    if name in METRICS:
        ways = [(getattr(EV, name), ()), (getattr(ONE.rec, name), ()), (getattr(recnb, name), ([1, 2],))]
        calls += [lambda way=way, given=given: way(*given, k=k, **options) for way, given in ways]  # type: ignore[misc]
    return calls


def evaluations(**options: Any) -> list[Callable[[], Any]]:
    """Frames evaluated in every way."""
    return [
        lambda: RECS.rec.against(TRUTH, **options),
        lambda: ONE.rec.evaluation(**options),
        lambda: recnb.evaluate(RECS, TRUTH, **options),
    ]


# k

BAD_K = [
    0, -1, 2.5, 10.0, True, False, np.True_, "ten", "10", float("nan"), {5}, {5: 1}, b"5", object(), np.float64(3), 10**30, np.array(5),
]  # fmt: skip


@pytest.mark.parametrize("k", BAD_K, ids=lambda k: type(k).__name__)
def test_a_k_that_counts_no_ranks(k: Any) -> None:
    for call in everywhere(k=k):
        refused(call, CutoffError, f"k={k!r}", "whole number from 1 up", "k=10", "None")
    if not isinstance(k, (set, dict)):  # which give one cut-off after the other
        with pytest.raises(CutoffError):
            EV.curve("ndcg", k=k)


@pytest.mark.parametrize(("k", "wrong"), [([[1]], "[1]"), ([True], "True"), ([0], "0"), ([5, None, 0], "0")])
def test_one_of_several_k_that_counts_no_ranks(k: Any, wrong: str) -> None:
    refused(lambda: EV.table(["ndcg"], k=k), CutoffError, f"k={wrong} is not a cut-off")


@pytest.mark.parametrize("k", [[], (), np.array([], dtype=int), range(0)])
def test_an_empty_k(k: Any) -> None:
    for call in (*everywhere(k=k), lambda: EV.curve("ndcg", k=k)):
        refused(call, CutoffError, "at least one cut-off", "k=[5, 10]")


@pytest.mark.parametrize("k", [[5, 10], (5,), range(1, 4), np.array([1, 2])])
def test_several_k_where_one_number_is_asked_for(k: Any) -> None:
    for call in everywhere(k=k)[1:]:
        refused(call, CutoffError, "one call gives one number", ".table(k=", ".curve(")


def test_k_and_options_as_numpy_writes_them() -> None:
    assert EV.ndcg(k=np.int32(2)) == EV.ndcg(k=2)
    assert EV.ndcg(k=np.int64(2)).k == 2
    assert EV.table(["ndcg"], k=np.array([1, 2])).columns.tolist() == [1, 2]
    assert EV.ndcg(k=10**9) == EV.ndcg(k=None)
    assert EV.dcg(k=2, log_base=np.int64(2)) == EV.dcg(k=2)
    assert EV.fbeta(k=2, beta=np.float32(2)) == EV.fbeta(k=2, beta=2)
    for threshold in (np.int64(2), np.float32(2), np.float64(2), 2):
        assert RECS.rec.against(TRUTH, relevant_from=threshold).n_users == 1
    assert EV.curve("ndcg", k=2).index.tolist() == [2]  # type: ignore[arg-type]


# Metrics and their options


@pytest.mark.parametrize(
    ("name", "near"),
    [("ndgc", "'ndcg'"), ("recal", "'recall'"), ("MRRR", "'mrr'"), ("mean_average_precision", "'average_precision'"), ("hitrat", "'hit_rate'"), (None, "Known"), (5, "Known")],
)  # fmt: skip
def test_a_metric_that_is_none(name: Any, near: str) -> None:
    for call in (*everywhere(name), lambda: EV.curve(name)):
        refused(call, OptionError, f"{name!r} is no metric", near, "'ndcg'")


WITH_WORDS = [(name, option) for name, metric in METRICS.items() for option in metric.words]


@pytest.mark.parametrize(("name", "option"), WITH_WORDS)
@pytest.mark.parametrize("value", ["nonsense", None, 5, ["linear"], ""])
def test_a_word_that_is_none(name: str, option: str, value: Any) -> None:
    words = [repr(word) for word in METRICS[name].words[option]]
    for call in (*everywhere(name, **{option: value}), lambda: EV.curve(name, k=[2], **{option: value})):
        refused(call, OptionError, f"{option}={value!r}", *words)


@pytest.mark.parametrize("name", METRICS)
def test_an_option_that_the_metric_has_not(name: str) -> None:
    for call in everywhere(name, gian="linear")[1:]:
        refused(call, OptionError, f"{name} has no option 'gian'", "'k'")


@pytest.mark.parametrize(
    ("name", "option", "values"),
    [
        ("ndcg", "log_base", (1, float("inf"), float("nan"))), ("dcg", "log_base", (0.5,)), ("idcg", "log_base", ("2",)),
        ("rbp", "p", (0, 1, "0.8", float("nan"))), ("fbeta", "beta", (0, -1, float("inf"))), ("err", "max_relevance", (0, -1, "5")),
    ],
)  # fmt: skip
def test_a_number_that_makes_no_sense(name: str, option: str, values: tuple[Any, ...]) -> None:
    for value in values:
        for call in (*everywhere(name, **{option: value})[:3], lambda: getattr(recnb, name)([2, 1], **{option: value})):  # noqa: B023
            refused(call, OptionError, f"{option}={value!r}")


# Options of an evaluation


# `relevant` names a column of lists as well: a word that is no convention is taken for that.
@pytest.mark.parametrize("option", [option for option in WORDS if option != "relevant"])
@pytest.mark.parametrize("value", ["nonsense", None, 5, ["first"], True])
def test_a_convention_that_is_none(option: str, value: Any) -> None:
    words = [repr(word) for word in WORDS[option]]
    for call in (*evaluations(**{option: value}), lambda: recnb.Convention(**{option: value})):
        refused(call, OptionError, f"{option}={value!r}", *words)


@pytest.mark.parametrize(
    ("option", "near"),
    [
        ("usr", "'user' or 'users'"), ("relevence", "'relevance'"), ("no_relevent", "'no_relevant'"), ("tie", "'ties'"),
        ("duplicate", "'duplicates'"), ("metric", "Known"), *((name, "ev.table(k=10, gain='exponential')") for name in ("k", "gain", "metrics", "out_of")),
    ],
)  # fmt: skip
def test_an_option_of_an_evaluation_that_is_none(option: str, near: str) -> None:
    for call in evaluations(**{option: "x"}):
        refused(call, OptionError, f"{option!r} is no option", near)


@pytest.mark.parametrize("threshold", [0, -1, "4", float("nan"), float("inf"), True, [4]])
def test_a_threshold_that_is_none(threshold: Any) -> None:
    for call in evaluations(relevant_from=threshold):
        refused(call, OptionError, f"relevant_from={threshold!r}", "above 0", "relevant_from=4")


# Users, intervals, and single calls


@pytest.mark.parametrize("user", [3, "1", 1.5, (1,), [1], float("nan"), pd.NA, -1, 2**70, b"1", object(), True])
def test_a_user_who_is_not_there(user: Any) -> None:
    refused(lambda: EV.explain("ndcg", user, k=2), UnknownUserError, "is not evaluated", "are 1, 2")
    refused(lambda: NAMED.explain("ndcg", user, k=2), UnknownUserError, "'anna', 'bo'")


SINGLE: dict[str, tuple[Callable[[], Any], type[RecnbError], tuple[str, ...]]] = {
    "a k twice": (lambda: EV.table(["ndcg"], k=[5, 10, 5]), CutoffError, ("k=[5, 10, 5]", "each once")),
    "a k of a curve twice": (lambda: EV.curve("ndcg", k=[2, 2]), CutoffError, ("k=[2, 2]", "each once")),
    "None in a curve": (lambda: EV.curve("ndcg", k=[None, 5]), OptionError, ("whole numbers", "leave None out", "range(")),
    "no k of a curve": (lambda: EV.curve("ndcg", k=None), OptionError, ("whole numbers", "leave None out", "range(")),
    "no metrics": (lambda: EV.table([], k=2), OptionError, ("metrics is empty", "metrics=['ndcg']")),
    "a metric twice": (lambda: EV.table(["map", "average_precision"], k=2), OptionError, ("'average_precision' more than once",)),
    "metrics=5": (lambda: EV.table(5, k=2), OptionError, ("metrics=5", "metrics=['ndcg', 'recall']")),  # type: ignore[arg-type]
    "another metric's option": (lambda: EV.table(["precision"], k=2, gain="linear"), OptionError, ("precision", "'gain'", "'out_of'")),
    "no metric's option": (lambda: EV.table(["precision", "ndcg"], k=2, gian=1), OptionError, ("precision, ndcg", "'gian'", "Did you mean 'gain'")),
    "a near word": (lambda: EV.ndcg(k=2, gain="exponental"), OptionError, ("Did you mean 'exponential'?",)),
    "a near option": (lambda: EV.ndcg(k=2, discont="log"), OptionError, ("Did you mean 'discount'?",)),
    "a near target": (lambda: EV.mrr(k=2, target="frist"), OptionError, ("Did you mean 'first'?",)),
    "a gain too large": (lambda: LARGE.ndcg(k=2, gain="exponential"), OptionError, ("2000", "gain='linear'")),
    "a grade too large": (lambda: LARGE.err(k=2), OptionError, ("2000", "smaller scale")),
    "a near user": (lambda: NAMED.explain("ndcg", "ana", k=2), UnknownUserError, ("'ana' is not evaluated", "'anna', 'bo'")),
    "a user left out": (lambda: OF_MANY.explain("ndcg", 0), UnknownUserError, ("user 0 is not evaluated", "1 with no relevant item left out")),
    "a user of many": (lambda: OF_MANY.explain("ndcg", 5000), UnknownUserError, ("999 users", "1, 2, 3, 4, 5, …")),
    "95 for 95 %": (lambda: EV.ndcg(k=2).interval(confidence=95), OptionError, ("confidence=95", "0.95")),
    "confidence 0": (lambda: EV.ndcg(k=2).interval(confidence=0), OptionError, ("confidence=0",)),
    "confidence 1": (lambda: EV.ndcg(k=2).interval(confidence=1), OptionError, ("confidence=1",)),
    "confidence as text": (lambda: EV.ndcg(k=2).interval(confidence="95%"), OptionError, ("confidence='95%'", "0.95")),  # type: ignore[arg-type]
    "a near method": (lambda: EV.ndcg(k=2).interval(method="boot"), OptionError, ("method='boot'", "Did you mean 'bootstrap'", "'beta'", "'t'")),  # type: ignore[arg-type]
    "no method": (lambda: EV.ndcg(k=2).interval(method=None), OptionError, ("method=None",)),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("case", SINGLE)
def test_a_single_call(case: str) -> None:
    call, kind, pieces = SINGLE[case]
    refused(call, kind, *pieces)
