"""How often each item is shown, and one user's list, against loops in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import buckets
from recnb.errors import CutoffError, ElsewhereError, UnknownUserError

SAMPLE = recnb.datasets.load_sample()
RECS = SAMPLE.models["item-knn"]
EV = recnb.evaluate(RECS, SAMPLE.test, train=SAMPLE.train, items=SAMPLE.items)


@pytest.mark.parametrize("k", [1, 10, None])
def test_items_by_loops(k: int | None) -> None:
    items = EV.items(k=k)
    places = [row for row in RECS.itertuples() if k is None or row.rank <= k]
    shown = Counter(row.item for row in places)
    had = Counter(SAMPLE.train["item"])
    relevant = set(zip(SAMPLE.test["user"], SAMPLE.test["item"], strict=True))
    hits = Counter(row.item for row in places if (row.user, row.item) in relevant)
    wanted = Counter(item for _user, item in relevant)
    titles = dict(zip(SAMPLE.items["item"], SAMPLE.items["title"], strict=True))
    assert set(items.index) == {*RECS["item"], *SAMPLE.test["item"], *SAMPLE.train["item"], *SAMPLE.items["item"]}
    assert list(items.columns) == ["title", "shown", "share", "share_in_train", "ratio", "hits", "relevant"]
    for row in items.itertuples():
        share, in_train = shown[row.Index] / len(places), had[row.Index] / len(SAMPLE.train)
        assert (row.shown, row.hits, row.relevant) == (shown[row.Index], hits[row.Index], wanted[row.Index])
        assert (row.share, row.share_in_train) == pytest.approx((share, in_train), abs=1e-15)
        assert row.ratio == pytest.approx(share / in_train if in_train else np.nan, nan_ok=True)
        assert row.title == titles.get(row.Index, "")
    assert items["shown"].is_monotonic_decreasing
    assert items["share"].sum() == pytest.approx(1)
    assert items["hits"].sum() == EV.hits(k).user.size
    assert (items["hits"] <= items[["shown", "relevant"]].min(axis=1)).all()


def test_items_without_other_frames_and_of_users_who_are_left_out() -> None:
    recs = pd.DataFrame({"user": [1, 1, 2, 3], "item": ["a", "b", "a", "b"], "rank": [1, 2, 1, 1]})
    truth = pd.DataFrame({"user": [1, 2, 4, 3], "item": ["b", "c", "a", "b"], "relevance": [1, 2, 1, 0]})
    items = recnb.evaluate(recs, truth).items(k=2)
    assert list(items.columns) == ["shown", "share", "hits", "relevant"]
    assert items.to_dict("index") == {
        "a": {"shown": 2, "share": 0.5, "hits": 0, "relevant": 1},
        "b": {"shown": 2, "share": 0.5, "hits": 1, "relevant": 1},  # user 3 has no relevant item
        "c": {"shown": 0, "share": 0.0, "hits": 0, "relevant": 1},
    }


def test_hits_of_items_are_those_of_the_rows_where_ties_are_averaged() -> None:
    recs = pd.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [1.0, 1.0, 0.5]})
    truth = pd.DataFrame({"user": [1, 1], "item": ["b", "c"]})
    for ties in ("first", "expected"):
        items = recnb.evaluate(recs, truth, ties=ties).items(k=2)
        assert items["shown"].to_dict() == {"a": 1, "b": 1, "c": 0}
        assert items["hits"].to_dict() == {"a": 0, "b": 1, "c": 0}


def test_items_are_shown_by_the_columns_of_the_frame_and_the_rest_is_counted() -> None:
    items = EV.items(k=10)
    lines, html = repr(items).splitlines(), items._repr_html_()
    assert lines[0].split() == ["item", *items.to_frame().columns]
    assert lines[1].startswith(items.index[0])
    assert f"{len(items) - 20} more rows in .to_frame()" in repr(items)
    assert (len(items), html.count("<tr")) == (250, 21)
    assert "298 users with a list, lists cut at 10" in html


def test_one_user_by_loops() -> None:
    liked = dict(SAMPLE.test.query("user == 'u026'")[["item", "rating"]].to_numpy())
    listed = RECS.query("user == 'u026'").sort_values("rank")
    for k in (1, 10, None):
        one = EV.user("u026", k=k)
        want = listed if k is None else listed[listed["rank"] <= k]
        frame = one.to_frame()
        assert list(frame.columns) == ["rank", "item", "title", "score", "relevance", "hit"]
        assert frame[["rank", "item"]].to_numpy().tolist() == want[["rank", "item"]].to_numpy().tolist()
        assert frame["score"].tolist() == want["score"].tolist()
        assert frame["relevance"].tolist() == [liked.get(item, 0) for item in want["item"]]
        assert frame["hit"].tolist() == [item in liked for item in want["item"]]
        ranks = dict(zip(listed["item"], listed["rank"], strict=True))
        left = {item: float(ranks.get(item, np.nan)) for item in set(liked) - set(want["item"])}
        assert dict(zip(one.missed["item"], one.missed["rank"], strict=True)) == pytest.approx(left, nan_ok=True)


def test_one_user_shows_what_the_frame_has() -> None:
    one = EV.user("u026", k=10)
    lines = repr(one).splitlines()
    assert lines[0] == "user u026: found 2 of 3 relevant"
    assert lines[1].split() == list(one.to_frame().columns)
    assert "i161  The Staircase of Foxglove Farm" in repr(one)
    assert one._repr_html_().count("✓") == 2
    nobody = recnb.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}).user(2)
    assert (len(nobody), nobody.missed["item"].tolist()) == (0, ["b"])
    assert "found 0 of 1 relevant" in repr(nobody)
    assert "<table" in nobody._repr_html_()


def test_errors_and_rows_that_are_elsewhere(tmp_path, monkeypatch) -> None:
    with pytest.raises(UnknownUserError, match="user 'u0266' is not evaluated"):
        EV.user("u0266")
    with pytest.raises(CutoffError):
        EV.items(k=0)
    RECS.to_parquet(tmp_path / "recs.parquet")
    monkeypatch.setattr(buckets, "WHOLE", 100)
    monkeypatch.setattr(buckets, "SHARE", 0)
    streamed = recnb.evaluate(pl.scan_parquet(tmp_path / "recs.parquet"), SAMPLE.test)
    assert streamed.user("u026", k=10).to_frame()["item"].tolist() == EV.user("u026", k=10).to_frame()["item"].tolist()
    with pytest.raises(ElsewhereError):
        streamed.items(k=10)


def test_a_user_who_is_left_out_is_answered_with_the_reason() -> None:
    ev = recnb.evaluate({1: ["a"], 2: ["a"], 3: ["b"]}, {1: {"a": 1}, 2: {"a": 0}, 4: {"a": 1}}, averaged_users="both")
    for user in (2, 3, 4, 5, "1"):  # nothing relevant, no truth, no list, neither, and text for a number
        for call in (lambda user=user: ev.user(user), lambda user=user: ev.explain("ndcg", user, k=1)):
            with pytest.raises(
                UnknownUserError, match=f"user {user!r} is not evaluated. Those evaluated are 1: 1 user"
            ):
                call()
