"""Lists that stand one after the other are joined the quick way: it gives what the other way gives, or gives way."""

import importlib
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import sorted_pairs
from recnb.data.hash_index import HashIndex
from recnb.errors import FrameError
from recnb.metrics.hits import Hits, stands_best_first
from tests.distributed.test_chunks import random_frames

prepare = importlib.import_module("recnb.data.join")  # the package has a function of that name

CONVENTIONS = [
    {},
    {"users": "recs", "no_relevant": "zero"},
    {"users": "both"},
    {"users": "union", "no_relevant": "zero"},
    {"users": "truth", "no_relevant": "nan"},
    {"relevant_from": 2},
    {"order": "row"},
    {"duplicates": "dedupe"},
    {"order": "score", "ties": "item_asc"},
]


def frames_in_order(seed, text, shuffled):
    """Lists that stand one after the other, best first; users sorted or not."""
    rng = np.random.default_rng(seed)
    recs, truth = random_frames(rng, 40, text)
    recs = recs.drop_duplicates(["user", "item"]).drop_duplicates(["user", "score"])
    recs = recs.sort_values(["user", "score"], ascending=[True, False], kind="stable")
    if shuffled:
        users = rng.permutation(recs["user"].unique())
        place = pd.Series(np.arange(len(users)), index=users)
        recs = recs.iloc[np.argsort(recs["user"].map(place).to_numpy(), kind="stable")]
    return recs.reset_index(drop=True), truth.drop_duplicates(["user", "item"]).sample(frac=1, random_state=seed)


@pytest.fixture
def ways(monkeypatch):
    """Which way each join went."""
    taken = []
    quick = prepare.joined

    def watched(*args):
        made = quick(*args)
        taken.append(made is not None)
        return made

    monkeypatch.setattr(prepare, "joined", watched)
    monkeypatch.setattr(sorted_pairs, "BLOCK", 16)
    return taken


def the_other_way(monkeypatch, *frames, **options):
    with monkeypatch.context() as patched:
        patched.setattr(prepare, "joined", lambda *_: None)
        ev = recnb.evaluate(*frames, **options)
        ev.hits(None)
        return ev


def assert_same(one, other):
    assert one._data.prepared.users.equals(other._data.prepared.users)
    assert one._data.prepared.has_gaps == other._data.prepared.has_gaps
    assert one._data.prepared.n_strangers == other._data.prepared.n_strangers
    mine, theirs = one.hits(None), other.hits(None)
    for name in [field.name for field in fields(Hits)]:
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)
    assert one._data.prepared.truth.equals(other._data.prepared.truth)
    assert one._data.prepared.recs.equals(other._data.prepared.recs)
    assert one.convention == other.convention
    assert one.basis() == other.basis()
    for name in ("n_users", "n_without_list", "n_without_relevant", "n_relevant", "n_not_relevant", "n_gaps"):
        assert getattr(one.counts, name) == getattr(other.counts, name), name


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("options", CONVENTIONS, ids=str)
def test_both_ways_give_the_same(options, text, shuffled, ways, monkeypatch):
    for seed in range(3):
        recs, truth = frames_in_order(seed, text, shuffled)
        ways.clear()
        made = recnb.evaluate(recs, truth, **options)
        assert ways == [True]
        assert_same(made, the_other_way(monkeypatch, recs, truth, **options))


@pytest.mark.parametrize("shuffled", [False, True])
def test_ranks_with_gaps_and_scores_beside_them(shuffled, ways, monkeypatch):
    recs, truth = frames_in_order(7, text=True, shuffled=shuffled)
    recs["rank"] = recs.groupby("user", sort=False).cumcount() * 2 + 1
    for frame in (recs, recs.drop(columns="score"), pl.from_pandas(recs).with_columns(pl.col("rank").cast(pl.UInt16))):
        made = recnb.evaluate(frame, truth)
        assert made._data.prepared.has_gaps
        assert_same(made, the_other_way(monkeypatch, frame, truth))
    assert ways == [True] * 3


def test_hits_can_be_had_down_to_a_rank(ways):
    recs, truth = frames_in_order(3, text=False, shuffled=False)
    ev = recnb.evaluate(recs, truth)
    whole = ev.hits(None)
    assert ways == [True]
    for depth in (3, 1, 2, 10**6):
        cut = ev.hits(depth)
        assert cut.rank.tolist() == whole.rank[whole.rank <= depth].tolist()
        assert cut.user.tolist() == whole.user[whole.rank <= depth].tolist()


DISORDERS = {
    "a pair twice in a list": lambda r, t: (pd.concat([r.iloc[:1], r]), t),
    "a pair twice in the truth": lambda r, t: (r, pd.concat([t, t.iloc[:1]])),
    "lists torn apart": lambda r, t: (pd.concat([r.iloc[5:], r.iloc[:5]]) if r.user[4] == r.user[5] else None, t),
    "scores that rise": lambda r, t: (r.iloc[::-1], t),
    "a score that is missing": lambda r, t: (r.assign(score=r.score.where(r.index != 3)), t),
    "a score without end": lambda r, t: (r.assign(score=r.score.where(r.index != 0, np.inf)), t),
    "ranks from 0": lambda r, t: (r.drop(columns="score").assign(rank=r.groupby("user").cumcount()), t),
    "ranks beyond lists": lambda r, t: (r.drop(columns="score").assign(rank=r.groupby("user").cumcount() + 2**32), t),
    "ranks as fractions": lambda r, t: (r.drop(columns="score").assign(rank=r.groupby("user").cumcount() + 1.5), t),
    "a rank twice": lambda r, t: (r.drop(columns="score").assign(rank=1), t),
    "ranks and scores that disagree": lambda r, t: (r.assign(rank=r.groupby("user").cumcount(ascending=False) + 1), t),
    "ranks that rise and scores that do so as well": lambda r, t: (
        r.assign(rank=r.groupby("user").cumcount() + 1, score=-r.score),
        t,
    ),
    "no user in both": lambda r, t: (r, t.assign(user=t.user + 10**6)),
    "nothing relevant": lambda r, t: (r, t.assign(relevance=0)),
}

FINE = ("lists torn apart", "scores that rise")


@pytest.mark.parametrize("what", DISORDERS)
def test_what_is_out_of_order_goes_the_other_way(what, ways, monkeypatch):
    recs, truth = frames_in_order(11, text=False, shuffled=False)
    recs, truth = DISORDERS[what](recs, truth)
    if what in FINE:
        assert_same(recnb.evaluate(recs, truth), the_other_way(monkeypatch, recs, truth))
    else:
        with pytest.raises(FrameError) as expected:
            the_other_way(monkeypatch, recs, truth)
        with pytest.raises(type(expected.value)) as said:
            recnb.evaluate(recs, truth)
        assert str(said.value) == str(expected.value)
    assert True not in ways


@pytest.mark.parametrize("text", [False, True])
def test_numbers_that_are_equal_by_chance_change_nothing(text, ways, monkeypatch):
    recs, truth = frames_in_order(5, text, shuffled=False)
    expected = the_other_way(monkeypatch, recs, truth)
    monkeypatch.setattr(sorted_pairs, "_numbers", lambda items: np.arange(len(items), dtype=np.uint64) % 3)
    assert_same(recnb.evaluate(recs, truth), expected)
    assert ways == [False]


def test_items_that_only_look_alike_are_no_hits(ways, monkeypatch):
    recs = pd.DataFrame({"user": [1] * 3, "item": ["a", "b", "c"], "rank": [1, 2, 3]})
    truth = pd.DataFrame({"user": [1] * 3, "item": ["b", "c", "d"]})
    expected = the_other_way(monkeypatch, recs, truth)
    # In the truth each item has the number of another one of the list.
    monkeypatch.setattr(sorted_pairs, "_numbers", lambda _: np.arange(3, dtype=np.uint64))
    assert_same(recnb.evaluate(recs, truth), expected)
    assert ways == [True]  # what is in order is joined, the other way where numbers mislead


def test_one_list_of_many_items_is_one_block(ways, monkeypatch):
    items = np.random.default_rng(0).permutation(5_000)
    recs = pd.DataFrame({"user": 1, "item": items, "rank": np.arange(5_000) + 1})
    truth = pd.DataFrame({"user": 1, "item": items[::7]})
    made = recnb.evaluate(recs, truth)
    assert ways == [True]
    assert_same(made, the_other_way(monkeypatch, recs, truth))


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-20, 1e12])
def test_grades_of_any_kind_are_put_in_order(scale, ways, monkeypatch):
    recs, truth = frames_in_order(8, text=False, shuffled=True)
    truth = truth.assign(relevance=truth["relevance"] * scale)
    made = recnb.evaluate(recs, truth)
    assert ways == [True]
    assert_same(made, the_other_way(monkeypatch, recs, truth))
    hits = made.hits(None)
    assert stands_best_first(hits.truth_user, hits.truth_relevance)
    assert hits.ideal.relevance.tolist() == hits.truth_relevance.tolist()


@pytest.mark.parametrize(("n_known", "n_values"), [(1, 5), (3, 100), (1_000, 70_000)])
def test_texts_are_looked_up_as_a_join_finds_them(n_known, n_values):
    rng = np.random.default_rng(n_known)
    known = pl.Series([f"user {one}" for one in rng.permutation(n_known)])
    values = pl.Series([f"user {one}" for one in rng.integers(0, int(n_known * 1.3) + 1, n_values)])
    places = {name: place for place, name in enumerate(known)}
    assert HashIndex(known).positions(values).tolist() == [places.get(name, -1) for name in values]


def test_hashes_that_mislead_are_noticed():
    known, values = pl.Series(["a", "b", "c"]), pl.Series(["c", "a", "x"])
    lookup = HashIndex(known)
    assert lookup.positions(values).tolist() == [2, 0, -1]
    # Were the hashes those of other texts, what is found would not be what was asked for.
    other = HashIndex(pl.Series(["c", "x", "a"]))
    other.known = known
    assert other.positions(values) is None
