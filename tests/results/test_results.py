"""Score, Interval, Convention and Evaluation: numbers that know what they are made of."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats

import recnb
from recnb import Convention
from recnb.conventions import WORDS, in_words
from recnb.metrics.metric import METRICS

RNG = np.random.default_rng(5)
N = 60
RECS = pd.DataFrame(
    {
        "user": np.repeat(np.arange(N), 5),
        "item": np.concatenate([RNG.permutation(20)[:5] for _ in range(N)]),
        "rank": np.tile(np.arange(1, 6), N),
    }
)
TRUTH = pd.DataFrame(
    {
        "user": np.repeat(np.arange(N), 4),
        "item": np.concatenate([RNG.permutation(20)[:4] for _ in range(N)]),
        "rating": RNG.integers(1, 6, 4 * N),
    }
)
EV = recnb.evaluate(RECS, TRUTH)
SCORE = EV.ndcg(k=5)
VALUES = SCORE.per_user.to_numpy()


# Score


def test_a_score_is_a_float() -> None:
    value = VALUES.mean()
    assert isinstance(SCORE, float)
    assert float(SCORE) == value == SCORE
    assert hash(SCORE) == hash(value)
    for result in (
        SCORE + 1,
        1 - SCORE,
        SCORE * 2,
        SCORE / 3,
        SCORE**2,
        -SCORE,
        abs(SCORE),
        SCORE + SCORE,
        round(SCORE, 3),
        sum([SCORE, SCORE]),
        max(0.0, SCORE) + 0,
    ):
        assert type(result) is float
    assert (SCORE + 1, SCORE / 3, round(SCORE, 3)) == (value + 1, value / 3, round(value, 3))
    assert SCORE > 0
    assert SCORE < 1.0
    assert pytest.approx(value) == SCORE
    assert math.sqrt(SCORE) == math.sqrt(value)
    assert sorted([EV.ndcg(k=1), EV.ndcg(k=5), 0.0])[0] == 0.0
    assert np.mean([SCORE, SCORE]) == pytest.approx(value)
    assert pd.Series([SCORE, 0.5]).dtype == np.float64


def test_a_score_is_written_like_a_float() -> None:
    value = float(SCORE)
    assert f"{SCORE:.3f}" == f"{value:.3f}"
    assert f"{SCORE}" == str(SCORE) == str(value)
    assert f"{SCORE:8.2%}" == f"{value:8.2%}"
    assert f"{SCORE:.2f}" == f"{value:.2f}"
    assert json.loads(json.dumps({"ndcg": SCORE})) == {"ndcg": value}


def test_what_a_score_carries() -> None:
    assert (SCORE.metric, SCORE.k, SCORE.label, SCORE.n_users) == ("ndcg", 5, "ndcg@5", N)
    assert (EV.map(k=None).metric, EV.map(k=None).k, EV.map().label) == ("average_precision", None, "average_precision")
    assert SCORE.convention == replace(
        EV.convention, metric=(("gain", "linear"), ("discount", "log"), ("log_base", 2), ("ideal", "relevant"))
    )
    assert EV.ndcg(k=5, gain="exponential").convention != SCORE.convention
    per_user = SCORE.per_user
    assert per_user.name == "ndcg@5"
    assert per_user.index.name == "user"
    assert per_user.dtype == np.float64
    pd.testing.assert_index_equal(per_user.index, EV.users)
    pd.testing.assert_frame_equal(SCORE.to_frame(), per_user.to_frame())
    assert per_user.mean() == pytest.approx(float(SCORE), abs=1e-15)
    per_user.iloc[:] = 0  # a copy: the score is not changed through it
    assert (SCORE.per_user.to_numpy() == VALUES).all()


def test_a_score_says_what_it_is_in_one_line() -> None:
    shown = repr(SCORE)
    for piece in (
        "ndcg@5",
        f"{float(SCORE):.4f}",
        "60 users",
        "ordered by rank",
        "relevance above 0",
        "linear gain",
        "discount log",
        "ideal: all relevant items",
    ):
        assert piece in shown
    assert "\n" not in shown
    assert SCORE.basis in shown
    assert "gain 2^relevance - 1" in repr(EV.ndcg(k=5, gain="exponential"))
    assert "p = 0.5" in repr(EV.rbp(p=0.5))
    assert "log10(1 + rank)" in repr(EV.dcg(log_base=10))
    assert "most preferred item" in repr(EV.reciprocal_rank(target="preferred"))
    assert "out of the hits" in repr(EV.average_precision(out_of="hits"))


def test_a_score_in_a_notebook() -> None:
    low, high = SCORE.interval()
    html = SCORE._repr_html_()
    assert f"ndcg@5 = {float(SCORE):.4f}" in html
    assert f"{low:.4f} to {high:.4f}" in html
    assert "60 users" in html
    alone = recnb.ndcg([1, 0, 2])
    assert "to nan" not in alone._repr_html_()
    assert "one list of 3" in alone._repr_html_()


@pytest.mark.parametrize(
    "again",
    [
        copy.copy,
        copy.deepcopy,
        *(
            lambda score, protocol=protocol: pickle.loads(pickle.dumps(score, protocol))
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
        ),
    ],
)
def test_a_score_survives(again: Any) -> None:
    for score in (SCORE, recnb.ndcg(["a", "b"], {"b": 1})):
        other = again(score)
        assert type(other) is recnb.Score
        assert other == score
        assert (other.metric, other.k, other.convention, other.basis) == (
            score.metric,
            score.k,
            score.convention,
            score.basis,
        )
        pd.testing.assert_series_equal(other.per_user, score.per_user)
        assert repr(other) == repr(score)
        assert other.interval() == pytest.approx(score.interval(), nan_ok=True)


@pytest.mark.parametrize(
    ("users", "dtype"),
    [([3, 1], "int64"), (["b", "a"], "str")],
)
def test_users_keep_their_kind(users: Any, dtype: str) -> None:
    recs = pd.DataFrame({"user": users, "item": [1, 2], "rank": 1})
    for frame in (recs, pl.from_pandas(recs)):
        index = recnb.evaluate(frame, frame[["user", "item"]]).ndcg(k=1).per_user.index
        assert index.dtype == dtype
        assert index.tolist() == sorted(users)


# Interval


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_students_interval_against_scipy(confidence: float) -> None:
    want = scipy.stats.t.interval(confidence, N - 1, loc=VALUES.mean(), scale=scipy.stats.sem(VALUES))
    assert list(SCORE.interval(confidence, method="t")) == pytest.approx(want, abs=1e-12)


def test_a_wider_confidence_is_a_wider_interval() -> None:
    for method in ("beta", "t"):
        ends = [SCORE.interval(confidence, method=method) for confidence in (0.5, 0.8, 0.95, 0.99)]
        assert all(
            outer.low < inner.low <= SCORE <= inner.high < outer.high for inner, outer in itertools.pairwise(ends)
        )


def test_an_interval_is_a_pair() -> None:
    interval = SCORE.interval(confidence=0.9)
    low, high = interval
    assert isinstance(interval, tuple)
    assert len(interval) == 2
    assert (low, high) == (interval.low, interval.high) == (interval[0], interval[1])
    assert repr(interval) == f"[{low:.4f}, {high:.4f}] (90%, beta)"
    assert "(99.9%, t)" in repr(SCORE.interval(0.999, method="t"))
    for other in (copy.copy(interval), copy.deepcopy(interval), pickle.loads(pickle.dumps(interval))):
        assert other == interval
        assert (other.confidence, other.method) == (0.9, "beta")


@pytest.mark.parametrize("method", ["beta", "bootstrap", "t"])
def test_one_user_has_no_interval_and_equal_users_none_by_their_spread(method: str) -> None:
    assert all(map(math.isnan, recnb.ndcg([1, 0, 2]).interval(method=method)))
    low, high = recnb.precision([[1, 0, 0]] * 7).interval(method=method)
    assert (low < 1 / 3 < high) if method == "beta" else math.isnan(low + high)


def test_without_a_cutoff_the_ideal_list_is_as_long_as_the_list() -> None:
    ev = recnb.evaluate(RECS, TRUTH)
    for shown in (repr(ev.ndcg()), ev.explain("ndcg", ev.users[0]).basis, repr(recnb.ndcg(["a"], ["a", "b"]))):
        assert "ideal: all relevant items, cut at the list's length" in shown
    assert recnb.ndcg(["a"], ["a", "b"]) == 1
    assert repr(ev.ndcg(k=5)).endswith("ideal: all relevant items, cut at k)")
    assert "ideal: the" in repr(ev.ndcg(ideal="list")) or "cut at" not in repr(ev.ndcg(ideal="list"))


# Convention


def test_a_convention_says_every_decision() -> None:
    default = Convention()
    assert (
        str(default)
        == default.in_words()
        == "users of the truth; ordered by score, or by rank; relevant: relevance above 0"
    )
    said = set()
    for name, words in WORDS.items():
        phrases = [str(Convention(**{name: word})) for word in words]
        if name != "no_relevant":  # that is said with the count of such users
            assert len(set(phrases)) == len(words), f"two words of {name} read the same"
        said.update(phrases)
    assert "relevance of 4 or more" in str(Convention(relevant_from=4))
    assert "relevance of 2.5 or more" in str(Convention(relevant_from=2.5))
    assert "gain 2^relevance - 1" in str(default.with_metric({"gain": "exponential"}))


def test_every_word_of_every_metric_has_a_phrase() -> None:
    for metric in METRICS.values():
        for option, words in metric.words.items():
            phrases = [in_words(option, word) for word in words]
            assert len(set(phrases)) == len(words)
            assert not any(phrase.startswith(f"{option} = ") for phrase in phrases)


def test_a_convention_is_a_value() -> None:
    one, other = Convention(averaged_users="both", relevant_from=4), Convention(averaged_users="both", relevant_from=4)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Convention(averaged_users="both")
    assert len({one, other, Convention()}) == 2
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(FrozenInstanceError):
        one.users = "truth"  # type: ignore[misc]
    assert set(WORDS) == {field.name for field in fields(Convention)} - {"relevant_from", "judged_only", "metric"}
    assert Convention().ordered_by("rank") == Convention(order="rank")
    assert Convention(order="row").ordered_by("rank") == Convention(order="row")


# Evaluation


def test_what_an_evaluation_knows() -> None:
    assert EV.n_users == N == len(EV.users)
    assert EV.users.tolist() == list(range(N))
    assert EV.notes == ()
    assert EV.convention == Convention(order="rank")
    frame = EV.to_frame()
    pd.testing.assert_index_equal(frame.index, EV.users)
    assert frame.columns.tolist() == ["list_length", "n_relevant", "n_hits"]
    assert (frame["list_length"] == 5).all()
    assert (frame["n_relevant"] == 4).all()
    assert (frame["n_hits"] / 5).tolist() == EV.precision(k=5).per_user.tolist()


def test_the_hits_of_an_evaluation() -> None:
    both = RECS.merge(TRUTH, on=["user", "item"]).sort_values(["user", "rank"])
    for depth in (None, 3, 1):
        mine = both if depth is None else both[both["rank"] <= depth]
        hits = recnb.evaluate(RECS, TRUTH).hits(depth)
        assert (hits.user.tolist(), hits.rank.tolist(), hits.relevance.tolist()) == (
            mine["user"].tolist(),
            mine["rank"].tolist(),
            mine["rating"].astype(float).tolist(),
        )


def test_an_evaluation_shows_itself() -> None:
    shown = repr(EV)
    for piece in ("300 recommended rows", "240 relevant items", "60 users", "ordered by rank", ".table(", ".explain("):
        assert piece in shown


def test_cut_offs_may_be_asked_in_any_order() -> None:
    """Hits are cut at the depth asked for: asking deeper, then shallower, changes nothing."""
    for order in ([1, 5, None, 3], [None, 1], [5, 3, 1], [3, None, 5]):
        ev = recnb.evaluate(RECS, TRUTH)
        for k in order:
            for metric in ("ndcg", "recall", "r_precision"):
                assert getattr(ev, metric)(k=k) == getattr(EV, metric)(k=k)
            assert ev.ndcg(k=k, ideal="list") == EV.ndcg(k=k, ideal="list")


def test_per_user_results_bear_the_name_of_the_column() -> None:
    recs = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": [11, 10]})
    for renamed, other in (
        (recs.rename(columns={"user": "customer_id"}), truth),
        (recs, truth.rename(columns={"user": "customer_id"})),
    ):
        ev = recnb.evaluate(renamed, other, train=truth.assign(item=12))
        for name in (
            ev.ndcg(k=2).per_user.index.name, ev.ndcg(k=2).to_frame().index.name, ev.to_frame().index.name, ev.users.name,
            ev.novelty(k=2).per_user.index.name, ev.under("rectools").ndcg(k=2).per_user.index.name,
        ):  # fmt: skip
            assert name == "customer_id"
    both = recnb.evaluate(recs.rename(columns={"user": "userId"}), truth.rename(columns={"user": "member"}))
    assert both.users.name == "userId"
    assert recnb.evaluate(recs.rename(columns={"user": "who"}), truth, user="who").users.name == "who"
    assert recnb.evaluate({1: [10, 11]}, truth.rename(columns={"user": "member"})).users.name == "member"
    assert recnb.evaluate({1: [10, 11]}, {1: [11]}).users.name == "user"


def test_a_report_is_of_one_set_of_users() -> None:
    recs = pd.DataFrame({"user": [1, 1, 2, 2, 5], "item": list("ababa"), "score": [2.0, 1, 2, 1, 1]})
    truth = pd.DataFrame({"user": [1, 2, 4], "item": list("aba"), "relevance": 1})
    ev = recnb.evaluate(recs, truth, convention="recommenders")
    with pytest.raises(recnb.errors.OptionError, match="averages ndcg over other users than its other metrics"):
        ev.report(metrics=["precision", "ndcg"], k=2)
