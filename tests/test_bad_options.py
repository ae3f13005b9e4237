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


def refused(call: Callable[[], Any], kind: type[RecnbError], *pieces: str) -> None:
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is kind, message
    assert isinstance(raised.value, ValueError)
    for piece in pieces:
        assert piece in message, f"{piece!r} is not in: {message}"
    assert 30 < len(message) < 600


# k

BAD_K = [
    0,
    -1,
    2.5,
    10.0,
    True,
    False,
    np.True_,
    "ten",
    "10",
    float("nan"),
    {5},
    {5: 1},
    b"5",
    object(),
    np.float64(3),
    [[1]],
    [True],
    [0],
    [5, None, 0],
]


@pytest.mark.parametrize("k", BAD_K, ids=lambda k: type(k).__name__ if type(k) is object else repr(k))
def test_a_k_that_counts_no_ranks(k: Any) -> None:
    shown = repr(
        next((one for one in k if one is not None and (isinstance(one, (bool, list)) or one < 1)), k)
        if isinstance(k, list)
        else k
    )
    refused(lambda: EV.table(["ndcg"], k=k), CutoffError, f"k={shown}", "whole number from 1 up", "k=10", "None")
    calls = [
        lambda: EV.ndcg(k=k),
        lambda: EV.explain("ndcg", 1, k=k),
        lambda: ONE.rec.ndcg(k=k),
        lambda: recnb.ndcg([1, 2], k=k),
        lambda: recnb.explain("ndcg", [1, 2], k=k),
    ]
    for call in calls:
        with pytest.raises(CutoffError):
            call()


@pytest.mark.parametrize("k", [[], (), np.array([], dtype=int), range(0)])
def test_an_empty_k(k: Any) -> None:
    for call in (
        lambda: EV.ndcg(k=k),
        lambda: EV.table(["ndcg"], k=k),
        lambda: EV.curve("ndcg", k=k),
        lambda: recnb.ndcg([1], k=k),
    ):
        refused(call, CutoffError, "k is empty", "k=[5, 10]")


@pytest.mark.parametrize("k", [[5, 10], (5,), range(1, 4), np.array([1, 2])])
def test_several_k_where_one_number_is_asked_for(k: Any) -> None:
    for call in (lambda: EV.ndcg(k=k), lambda: EV.explain("ndcg", 1, k=k), lambda: recnb.ndcg([1], k=k)):
        refused(call, CutoffError, "one call gives one number", ".table(k=", ".curve(")


def test_the_same_k_twice() -> None:
    refused(lambda: EV.table(["ndcg"], k=[5, 10, 5]), CutoffError, "k holds 5 more than once")
    refused(lambda: EV.curve("ndcg", k=[2, 2]), CutoffError, "k holds 2 more than once")


def test_k_as_numpy_writes_it() -> None:
    assert EV.ndcg(k=np.int32(2)) == EV.ndcg(k=2)
    assert EV.ndcg(k=np.int64(2)).k == 2
    assert EV.table(["ndcg"], k=np.array([1, 2])).columns.tolist() == [1, 2]
    assert EV.ndcg(k=10**9) == EV.ndcg(k=None)


def test_a_curve_needs_numbers() -> None:
    for k in ([None, 5], None):
        refused(lambda k=k: EV.curve("ndcg", k=k), OptionError, "whole numbers", "leave None out", "range(")  # type: ignore[misc]
    for k in ("ten", 2.5, [0, 1], [True]):
        with pytest.raises(CutoffError):
            EV.curve("ndcg", k=k)
    assert EV.curve("ndcg", k=2).index.tolist() == [2]  # type: ignore[arg-type]


# Metrics and their options


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("ndgc", "'ndcg'"),
        ("recal", "'recall'"),
        ("MRRR", "'mrr'"),
        ("mean_average_precision", "'average_precision'"),
        ("hitrat", "'hit_rate'"),
        (None, "Known"),
        (5, "Known"),
    ],
)
def test_a_metric_that_is_none(name: Any, near: str) -> None:
    for call in (
        lambda: EV.table([name], k=2),
        lambda: EV.curve(name),
        lambda: EV.explain(name, 1),
        lambda: recnb.explain(name, ["a"], ["a"]),
    ):
        refused(call, OptionError, f"{name!r} is no metric", near, "'ndcg'")


def test_metrics_of_a_table() -> None:
    refused(lambda: EV.table([], k=2), OptionError, "metrics is empty", "metrics=['ndcg']")
    refused(
        lambda: EV.table(["map", "ndcg", "average_precision"], k=2), OptionError, "'average_precision' more than once"
    )
    refused(lambda: EV.table(5, k=2), OptionError, "metrics=5", "metrics=['ndcg', 'recall']")  # type: ignore[arg-type]
    refused(lambda: EV.table(["precision"], k=2, gain="linear"), OptionError, "precision", "'gain'", "'out_of'")
    refused(
        lambda: EV.table(["precision", "ndcg"], k=2, gian="linear"),
        OptionError,
        "precision, ndcg",
        "'gian'",
        "Did you mean 'gain'",
    )
    refused(lambda: EV.table(["ndcg"], k=2, gain="exp"), OptionError, "gain='exp'", "'exponential'")


WITH_WORDS = [(name, option) for name, metric in METRICS.items() for option in metric.words]


@pytest.mark.parametrize(("name", "option"), WITH_WORDS)
@pytest.mark.parametrize("value", ["nonsense", None, 5, ["linear"], ""])
def test_a_word_that_is_none(name: str, option: str, value: Any) -> None:
    words = [repr(word) for word in METRICS[name].words[option]]
    calls = [
        lambda: getattr(EV, name)(k=2, **{option: value}), lambda: getattr(ONE.rec, name)(k=2, **{option: value}),
        lambda: EV.table([name], k=2, **{option: value}), lambda: EV.curve(name, k=[2], **{option: value}),
        lambda: EV.explain(name, 1, k=2, **{option: value}), lambda: getattr(recnb, name)(["a"], ["a"], k=2, **{option: value}),
    ]  # fmt: skip
    for call in calls:
        refused(call, OptionError, f"{option}={value!r}", *words)


@pytest.mark.parametrize("name", METRICS)
def test_an_option_that_the_metric_has_not(name: str) -> None:
    for call in (
        lambda: getattr(EV, name)(k=2, gian="linear"),
        lambda: getattr(ONE.rec, name)(gian=1),
        lambda: getattr(recnb, name)([1], gian=1),
        lambda: EV.explain(name, 1, gian=1),
    ):
        refused(call, OptionError, f"{name} has no option 'gian'", "'k'")


def test_the_near_word_is_named() -> None:
    refused(lambda: EV.ndcg(k=2, gain="exponental"), OptionError, "Did you mean 'exponential'?")
    refused(lambda: EV.ndcg(k=2, discont="log"), OptionError, "Did you mean 'discount'?")
    refused(lambda: EV.reciprocal_rank(k=2, target="frist"), OptionError, "Did you mean 'first'?")


@pytest.mark.parametrize(
    ("name", "options", "piece"),
    [
        ("ndcg", {"log_base": 1}, "log_base=1"),
        ("dcg", {"log_base": 0.5}, "log_base=0.5"),
        ("idcg", {"log_base": "2"}, "log_base='2'"),
        ("ndcg", {"log_base": float("inf")}, "log_base=inf"),
        ("ndcg", {"log_base": float("nan")}, "log_base=nan"),
        ("rbp", {"p": 0}, "p=0"),
        ("rbp", {"p": 1}, "p=1"),
        ("rbp", {"p": "0.8"}, "p='0.8'"),
        ("rbp", {"p": float("nan")}, "p=nan"),
        ("fbeta", {"beta": 0}, "beta=0"),
        ("fbeta", {"beta": -1}, "beta=-1"),
        ("fbeta", {"beta": float("inf")}, "beta=inf"),
        ("err", {"max_relevance": 1}, "max_relevance=1"),
        ("err", {"max_relevance": "5"}, "max_relevance='5'"),
    ],
)
def test_a_number_that_makes_no_sense(name: str, options: dict[str, Any], piece: str) -> None:
    for call in (
        lambda: getattr(EV, name)(k=2, **options),
        lambda: EV.table([name], k=2, **options),
        lambda: getattr(recnb, name)([2, 1], **options),
    ):
        with pytest.raises(OptionError, match=piece):
            call()


def test_a_gain_too_large_for_numbers() -> None:
    truth = TRUTH.assign(relevance=[2000.0, 1])
    refused(lambda: recnb.evaluate(RECS, truth).ndcg(k=2, gain="exponential"), OptionError, "2000", "gain='linear'")
    refused(lambda: recnb.evaluate(RECS, truth).err(k=2), OptionError, "2000", "smaller scale")
    assert np.isfinite(recnb.evaluate(RECS, truth).ndcg(k=2))


# Options of an evaluation


# `relevant` names a column of lists as well: a word that is no convention is taken for that.
@pytest.mark.parametrize("option", [option for option in WORDS if option != "relevant"])
@pytest.mark.parametrize("value", ["nonsense", None, 5, ["first"], True])
def test_a_convention_that_is_none(option: str, value: Any) -> None:
    words = [repr(word) for word in WORDS[option]]
    for call in (
        lambda: RECS.rec.against(TRUTH, **{option: value}),
        lambda: ONE.rec.evaluation(**{option: value}),
        lambda: recnb.Convention(**{option: value}),
    ):
        refused(call, OptionError, f"{option}={value!r}", *words)


@pytest.mark.parametrize(
    ("option", "near"),
    [
        ("usr", "'user' or 'users'"),
        ("relevence", "'relevance'"),
        ("no_relevent", "'no_relevant'"),
        ("tie", "'ties'"),
        ("duplicate", "'duplicates'"),
        ("metric", "Known"),
    ],
)
def test_an_option_of_an_evaluation_that_is_none(option: str, near: str) -> None:
    for call in (
        lambda: RECS.rec.against(TRUTH, **{option: "x"}),
        lambda: ONE.rec.evaluation(**{option: "x"}),
        lambda: recnb.evaluate(RECS, TRUTH, **{option: "x"}),
    ):
        refused(call, OptionError, f"{option!r} is no option", near, "'relevant_from'", "'relevance'")


@pytest.mark.parametrize("option", ["k", "gain", "metrics", "out_of"])
def test_an_option_of_a_metric(option: str) -> None:
    for call in (
        lambda: RECS.rec.against(TRUTH, **{option: "x"}),
        lambda: ONE.rec.evaluation(**{option: "x"}),
        lambda: recnb.evaluate(RECS, TRUTH, **{option: "x"}),
    ):
        refused(call, OptionError, f"{option!r} is no option", "ev.table(k=10, gain='exponential')")


@pytest.mark.parametrize("threshold", [0, -1, "4", float("nan"), float("inf"), True, [4]])
def test_a_threshold_that_is_none(threshold: Any) -> None:
    refused(
        lambda: RECS.rec.against(TRUTH, relevant_from=threshold),
        OptionError,
        f"relevant_from={threshold!r}",
        "above 0",
        "relevant_from=4",
    )


def test_a_threshold_as_numpy_writes_it() -> None:
    for threshold in (np.int64(2), np.float32(2), np.float64(2), 2):
        assert RECS.rec.against(TRUTH, relevant_from=threshold).n_users == 1


# Users


@pytest.mark.parametrize("user", [3, "1", 1.5, (1,), [1], float("nan"), pd.NA, -1, 2**70, b"1", object(), True])
def test_a_user_who_is_not_there(user: Any) -> None:
    refused(lambda: EV.explain("ndcg", user, k=2), UnknownUserError, "is not among the 2 users", "They are 1, 2")


@pytest.mark.parametrize("user", [1, "amy", "<b>", ""])
def test_a_user_of_text_who_is_not_there(user: Any) -> None:
    ev = recnb.evaluate(RECS.assign(user=["anna", "anna", "bo"]), TRUTH.assign(user=["anna", "bo"]))
    refused(lambda: ev.explain("ndcg", user, k=2), UnknownUserError, repr(user), "'anna', 'bo'")
    refused(lambda: ev.explain("ndcg", "ana", k=2), UnknownUserError, "Did you mean 'anna'?")
    assert ev.explain("ndcg", "anna", k=2).user == "anna"


def test_a_user_left_out_is_not_there_and_many_are_not_all_listed() -> None:
    many = pd.DataFrame({"user": range(1000), "item": 1, "rank": 1})
    ev = recnb.evaluate(many, many[["user", "item"]].assign(relevance=[0.0] + [1.0] * 999))
    refused(lambda: ev.explain("ndcg", 0), UnknownUserError, "user 0", "none of their items in the truth is relevant")
    refused(
        lambda: ev.explain("ndcg", 5000),
        UnknownUserError,
        "999 users",
        "1, 2, 3, 4, 5, …",
    )


# Intervals


@pytest.mark.parametrize(
    ("options", "pieces"),
    [
        ({"confidence": 95}, ("confidence=95", "0.95")),
        ({"confidence": 0}, ("confidence=0",)),
        ({"confidence": 1}, ("confidence=1",)),
        ({"confidence": "95%"}, ("confidence='95%'", "0.95")),
        ({"method": "boot"}, ("method='boot'", "Did you mean 'bootstrap'", "'beta'", "'t'")),
        ({"method": None}, ("method=None",)),
        ({"resamples": 0}, ("resamples=0", "whole number from 1")),
        ({"resamples": 10.5}, ("resamples=10.5",)),
        ({"seed": "x"}, ("seed='x'", "whole number from 0")),
        ({"seed": -1}, ("seed=-1", "whole number from 0")),
    ],
)
def test_an_interval_that_is_none(options: dict[str, Any], pieces: tuple[str, ...]) -> None:
    refused(lambda: EV.ndcg(k=2).interval(**options), OptionError, *pieces)


def test_a_refusal_leaves_the_evaluation_as_it_was() -> None:
    before = EV.table(k=[1, 2, None])
    for call in (
        lambda: EV.ndcg(k=0),
        lambda: EV.ndcg(k=2, gain="exp"),
        lambda: EV.explain("ndcg", 99),
        lambda: EV.table(["nope"], k=2),
    ):
        with pytest.raises(RecnbError):
            call()
    pd.testing.assert_frame_equal(EV.table(k=[1, 2, None]), before)


def test_numbers_of_numpy_are_numbers() -> None:
    assert EV.dcg(k=np.array(2), log_base=np.int64(2)) == EV.dcg(k=2)
    assert EV.fbeta(k=np.int64(2), beta=np.float32(2)) == EV.fbeta(k=2, beta=2)


@pytest.mark.parametrize("k", [10**30, np.array(0), np.array([[1, 2]])])
def test_depths_that_no_list_has(k: object) -> None:
    with pytest.raises(RecnbError, match="k"):
        EV.ndcg(k=k)


def test_a_frame_of_several_models_is_not_one_list() -> None:
    models = pd.concat([RECS.assign(model="a"), RECS.assign(model="b")])
    with pytest.raises(RecnbError, match=r"2 models in column 'model'.*recs\[recs\['model'\] == 'a'\]"):
        recnb.evaluate(models, TRUTH)
    assert recnb.evaluate(RECS.assign(model="a"), TRUTH).ndcg(k=2) == EV.ndcg(k=2)
    with pytest.raises(RecnbError, match="'model'"):
        recnb.evaluate(RECS, TRUTH, model="model")


SAMPLE = recnb.datasets.load_sample()
FRAMES_WHERE_NONE_IS_MEANT: dict[str, Callable[[pd.DataFrame], Any]] = {
    "models as one": lambda frame: recnb.as_in("rectools", "ndcg", {"knn": frame}, SAMPLE.test, k=10),
    "models as a truth": lambda frame: recnb.evaluate(frame, {"knn": frame}),
    "library": lambda frame: recnb.as_in(frame, "ndcg", frame, SAMPLE.test),
    "metric of a library": lambda frame: recnb.as_in("rectools", frame, frame, SAMPLE.test),
    "metric": lambda frame: EV.explain(frame, 1),
    "user": lambda frame: EV.explain("ndcg", frame),
    "k": lambda frame: EV.ndcg(k=frame),
    "option": lambda frame: EV.ndcg(k=5, gain=frame),
    "convention": lambda frame: recnb.evaluate(RECS, TRUTH, order=frame),
    "column": lambda frame: recnb.evaluate(RECS, TRUTH, user=frame),
    "limit": lambda frame: EV.at_least("ndcg", frame, k=5),
    "other number": lambda frame: EV.why("ndcg", k=5, other=frame),
    "language": recnb.language,
}


@pytest.mark.parametrize("where", FRAMES_WHERE_NONE_IS_MEANT)
def test_a_frame_is_not_quoted(where: str) -> None:
    with pytest.raises(RecnbError, match="<DataFrame>") as caught:
        FRAMES_WHERE_NONE_IS_MEANT[where](SAMPLE.models["item-knn"])
    assert "\n" not in str(caught.value)
