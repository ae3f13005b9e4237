"""Score, Interval and Evaluation: numbers that know what they are made of."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

import recnb
from recnb import Convention
from recnb.display.language import use_language, width

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
EV = recnb.evaluate(
    RECS, TRUTH, train=TRUTH, items=pd.DataFrame({"item": range(25), "title": "A <b>"})
)
SCORE = EV.ndcg(k=5)
VALUES = SCORE.per_user.to_numpy()


def test_a_score_is_a_float() -> None:
    value = VALUES.mean()
    assert isinstance(SCORE, float)
    assert float(SCORE) == value == SCORE
    assert hash(SCORE) == hash(value)
    assert type(SCORE + SCORE) is type(round(SCORE, 3)) is float
    assert pd.Series([SCORE, 0.5]).dtype == np.float64
    for form in ("{:.3f}", "{}", "{:8.2%}"):
        assert form.format(SCORE) == form.format(float(value))
    assert json.loads(json.dumps({"ndcg": SCORE})) == {"ndcg": value}


def test_what_a_score_carries() -> None:
    assert (SCORE.metric, SCORE.k, SCORE.label, SCORE.n_users) == (
        "ndcg",
        5,
        "ndcg@5",
        N,
    )
    assert (EV.map(k=None).metric, EV.map(k=None).k, EV.map().label) == (
        "average_precision",
        None,
        "average_precision",
    )
    options = (
        ("gain", "linear"),
        ("discount", "log"),
        ("log_base", 2),
        ("ideal", "relevant"),
    )
    assert SCORE.convention == replace(EV.convention, metric=options)
    assert EV.ndcg(k=5, gain="exponential").convention != SCORE.convention
    per_user = SCORE.per_user
    assert (per_user.name, per_user.index.name, per_user.dtype) == (
        "ndcg@5",
        "user",
        np.float64,
    )
    pd.testing.assert_index_equal(per_user.index, EV.users)
    pd.testing.assert_frame_equal(SCORE.to_frame(), per_user.to_frame())
    per_user.iloc[:] = 0  # a copy: the score is not changed through it
    assert (SCORE.per_user.to_numpy() == VALUES).all()
    shown = EV.coverage(k=5)
    per_item = shown.per_item
    per_item.iloc[:] = 0
    assert (
        shown.per_item.to_dict()
        == RECS["item"].value_counts().reindex(range(25), fill_value=0).to_dict()
    )


RECS_OF_FOUR = pd.DataFrame(
    {"user": ["ann", "ann", "bob", "cid"], "item": [*"abbc"], "score": [2.0, 2, 3, 1]}
)
TRUTH_OF_FOUR = pd.DataFrame(
    {
        "user": ["ann", "bob", "cid", "dan", "eve"],
        "item": [*"abxab"],
        "rating": [5, 5, 5, 4, 0],
    }
)


def test_ties_are_said_where_a_relevant_item_has_an_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of more rows than are looked at, the rule is said in any case."""
    apart = RECS_OF_FOUR.assign(score=[3.0, 2, 3, 1])
    assert "ties" not in repr(recnb.evaluate(apart, TRUTH_OF_FOUR).ndcg(k=2))
    monkeypatch.setattr("recnb.results.scoring.LOOKED_AT", 3)
    assert "ties as given" in repr(recnb.evaluate(apart, TRUTH_OF_FOUR).ndcg(k=2))


def test_the_line_of_a_score_has_at_most_100_columns() -> None:
    ev = recnb.evaluate(
        RECS_OF_FOUR,
        TRUTH_OF_FOUR,
        ties="expected",
        relevant_from=5,
        no_relevant="zero",
    )
    for lang in ("en", "ko"):
        with use_language(lang):
            for library in ("", "pytrec_eval"):
                line = repr((ev.under(library) if library else ev).ndcg(k=2))
                assert width(line) <= 100
                assert "\n" not in line


def test_a_score_says_what_it_is_in_one_line() -> None:
    """What a notebook adds to it are the decisions that go without saying."""
    low, high = SCORE.interval()
    number = f"nDCG@5 = {float(SCORE):.4f}"
    assert repr(SCORE) == f"{number} (95% {low:.4f}–{high:.4f}, 60 users)"
    for piece in (number, f"{low:.4f} to {high:.4f}", "60 users", "linear gain"):
        assert piece in SCORE._repr_html_()
    alone = recnb.ndcg([1, 0, 2])._repr_html_()
    assert "to nan" not in alone
    assert "one list of 3" in alone
    assert (
        "no interval: fewer than 10 users" in recnb.dcg([[1, 0], [0, 1]])._repr_html_()
    )


def test_where_one_user_weighs_nearly_all_the_weights_are_why_there_is_no_interval() -> (
    None
):
    users = pd.DataFrame({"user": [*"abc"], "weight": [100.0, 1, 1]})
    lists = {user: ["x", "y"] for user in "abc"}
    truth = {"a": ["x"], "b": ["y"], "c": ["z"]}
    score = recnb.evaluate(lists, truth, users=users, user_weight="weight").recall(k=1)
    assert math.isnan(score.interval().low)
    shown = score._repr_html_()
    assert "the 3 users count as fewer than 2 of equal weight" in shown
    assert "upper bound" not in shown


def test_what_is_counted_under_cluster_is_a_value_of_it_and_not_a_user() -> None:
    names = [f"u{number}" for number in range(20)]
    users = pd.DataFrame({"user": names, "team": [*"ab"] * 10})
    lists = {user: ["x", "y"] for user in names}
    truth = {user: ["x"] for user in names}
    ev = recnb.evaluate(lists, truth, users=users, cluster="team")
    shown = ev.dcg(k=1)._repr_html_()
    assert "no interval: all values of team have the same mean" in shown
    lists["u0"] = ["y", "x"]
    ev = recnb.evaluate(lists, truth, users=users, cluster="team")
    shown = ev.dcg(k=1)._repr_html_()
    assert "fewer than 10 values of team with a value above 0" in shown
    # The bars are of users, of whom each has one list.
    ax = ev.dcg(k=1).plot()
    assert (ax.get_ylabel(), ax.get_xlabel().split(";")[0]) == (
        "share of 20 users",
        "DCG@1 of a user",
    )


AGAIN = [
    copy.copy,
    copy.deepcopy,
    *(
        lambda one, way=way: pickle.loads(pickle.dumps(one, way))
        for way in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


@pytest.mark.parametrize("users", [[3, 1], ["b", "a"]])
def test_users_keep_their_kind(users: Any) -> None:
    recs = pd.DataFrame({"user": users, "item": [1, 2], "rank": 1})
    for frame in (recs, pl.from_pandas(recs)):
        index = recnb.evaluate(frame, frame[["user", "item"]]).ndcg(k=1).per_user.index
        assert (index.dtype, index.tolist()) == (recs["user"].dtype, sorted(users))


def test_per_user_results_bear_the_name_of_the_column() -> None:
    recs = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": [11, 10]})
    as_id, as_member = ({"user": "customer_id"}, {"user": "member"})
    for lists, judged in (
        (recs.rename(columns=as_id), truth),
        (recs, truth.rename(columns=as_id)),
    ):
        ev = recnb.evaluate(lists, judged, train=truth.assign(item=12))
        made = [
            ev.ndcg(k=2).per_user,
            ev.novelty(k=2).per_user,
            ev.under("rectools").ndcg(k=2).per_user,
        ]
        assert {ev.users.name, *(one.index.name for one in made)} == {"customer_id"}
    both = recnb.evaluate(
        recs.rename(columns={"user": "userId"}), truth.rename(columns=as_member)
    )
    assert both.users.name == "userId"
    assert (
        recnb.evaluate(
            recs.rename(columns={"user": "who"}), truth, user="who"
        ).users.name
        == "who"
    )
    assert (
        recnb.evaluate({1: [10, 11]}, truth.rename(columns=as_member)).users.name
        == "member"
    )
    assert recnb.evaluate({1: [10, 11]}, {1: [11]}).users.name == "user"


def test_a_score_draws_the_distribution_of_its_users() -> None:
    bars = SCORE.plot(Figure().add_subplot(), bins=4).patches
    assert [bar.get_height() for bar in bars[:4]] == pytest.approx(
        (np.histogram(VALUES, 4)[0] / N).tolist()
    )


# Interval


def test_an_interval_is_a_pair_that_knows_its_confidence() -> None:
    interval = SCORE.interval(confidence=0.9)
    low, high = interval
    assert (
        (low, high)
        == (interval.low, interval.high)
        == (interval[0], interval[1])
        == interval
    )
    assert repr(interval) == f"[{low:.4f}, {high:.4f}] (90%, beta)"
    assert "(99.9%, beta)" in repr(SCORE.interval(0.999))
    for again in AGAIN:
        other = again(interval)
        assert (other, other.confidence, other.method) == (interval, 0.9, "beta")


def test_one_user_has_no_interval_and_equal_users_have_one() -> None:
    interval = recnb.ndcg([1, 0, 2]).interval()
    assert all(map(math.isnan, interval))
    assert repr(interval) == (
        "[nan, nan] (95%, beta: too few users with different values)"
    )
    low, high = recnb.precision([[1, 0, 0]] * 7).interval()
    assert low < 1 / 3 < high


# Evaluation


def test_what_an_evaluation_knows() -> None:
    assert EV.n_users == N == len(EV.users)
    assert (EV.users.tolist(), EV.convention) == (
        list(range(N)),
        Convention(order="rank"),
    )
    hits = EV.hits()
    assert (hits.list_length == 5).all()
    assert (hits.n_relevant == 4).all()
    n_hits = np.bincount(hits.user, minlength=N)
    assert (n_hits / 5).tolist() == EV.precision(k=5).per_user.tolist()
    for piece in (
        "300 recommended rows",
        "240 relevant items",
        "60 users",
        "ordered by rank",
        ".explain(",
    ):
        assert piece in EV._repr_html_()


def test_the_hits_of_an_evaluation_at_any_depth_in_any_order() -> None:
    both = RECS.merge(TRUTH, on=["user", "item"]).sort_values(["user", "rank"])
    for order in ([1, 5, None, 3], [None, 1], [5, 3, 1], [3, None, 5]):
        ev = recnb.evaluate(RECS, TRUTH)
        for k in order:
            mine, hits = both if k is None else both[both["rank"] <= k], ev.hits(k)
            for column, values in (
                ("user", hits.user),
                ("rank", hits.rank),
                ("rating", hits.relevance),
            ):
                assert values.tolist() == mine[column].tolist()
            for metric in ("ndcg", "recall", "r_precision"):
                assert getattr(ev, metric)(k=k) == getattr(EV, metric)(k=k)
