"""The join by blocks of users gives what the general join gives, in any order of rows, whatever hashes meet."""

import importlib
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import encoding, matches, parallel, user_rows
from recnb.errors import FrameError
from recnb.metrics.hits import Hits, stands_best_first
from tests.distributed.test_chunks import random_frames

prepare = importlib.import_module("recnb.data.join")  # the package has a function of that name

CONVENTIONS = [
    {},
    {"users": "recs", "no_relevant": "zero"},
    {"users": "both"},
    {"users": "union", "no_relevant": "zero"},
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


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Cut even small frames into blocks, and share these among all cores."""
    monkeypatch.setattr(user_rows, "BLOCK", 16)
    monkeypatch.setattr(parallel, "BLOCK", 16)
    monkeypatch.setattr(parallel, "SORTED", 1)
    monkeypatch.setattr(parallel, "READ", 1)


@pytest.fixture
def general(monkeypatch):
    """The evaluations that need the general join."""
    calls = []
    join = prepare._joined

    def watched(*args):
        prepared = join(*args)
        if prepared is None:
            calls.append(args)
        return prepared

    monkeypatch.setattr(prepare, "_joined", watched)
    return calls


def generally(monkeypatch, *frames, **options):
    """An evaluation by the general join."""
    with monkeypatch.context() as patched:
        patched.setattr(prepare, "_joined", lambda *_: None)
        ev = recnb.evaluate(*frames, **options)
        ev.hits(None)
        return ev


def assert_same(one, other):
    assert one._data.prepared.users.equals(other._data.prepared.users)
    mine, theirs = one.hits(None), other.hits(None)
    for name in [field.name for field in fields(Hits)]:
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)
    assert one._data.prepared.truth.equals(other._data.prepared.truth)
    lists = [ev._data.prepared.recs.sort("user", "rank").select("user", "item", "rank") for ev in (one, other)]
    assert lists[0].equals(lists[1])
    assert one.convention == other.convention
    for name in ("n_users", "n_without_list", "n_without_relevant", "n_relevant", "n_not_relevant"):
        assert getattr(one.counts, name) == getattr(other.counts, name), name


@pytest.mark.parametrize("order", ["in order", "users shuffled", "rows shuffled"])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("options", CONVENTIONS, ids=str)
def test_both_joins_give_the_same(options, text, order, general, monkeypatch):
    for seed in range(3):
        recs, truth = frames_in_order(seed, text, order != "in order")
        if order == "rows shuffled":
            recs = recs.sample(frac=1, random_state=seed)
        ev = recnb.evaluate(recs, truth, **options)
        assert not general
        assert_same(ev, generally(monkeypatch, recs, truth, **options))


def frames_of_kind(kind, recs, truth):
    """The same frames with ids of another type."""
    convert = {
        "wide integers": lambda ids: (ids.astype(np.int64) + 1) * 2**40 - 2**50,
        "times": lambda ids: pd.Timestamp("2020-01-01") + pd.to_timedelta(ids, "h"),
        "booleans": lambda ids: ids % 2 == 0,
    }[kind]
    return [frame.assign(**{role: convert(frame[role]) for role in ("user", "item")}) for frame in (recs, truth)]


@pytest.mark.parametrize("kind", ["wide integers", "times", "booleans"])
def test_ids_of_any_kind(kind, general, monkeypatch):
    recs, truth = frames_of_kind(kind, *frames_in_order(4, text=False, shuffled=True))
    recs = recs.drop_duplicates(["user", "item"]).sample(frac=1, random_state=1)
    truth = truth.drop_duplicates(["user", "item"])
    ev = recnb.evaluate(recs, truth)
    assert not general
    assert_same(ev, generally(monkeypatch, recs, truth))


@pytest.mark.parametrize("ties", ["first", "last", "item_asc", "item_desc"])
@pytest.mark.parametrize("text", [False, True])
def test_equal_scores_in_any_order_of_rows(ties, text, general, monkeypatch):
    for seed in range(3):
        recs, truth = frames_in_order(seed, text, shuffled=False)
        recs = recs.assign(score=np.random.default_rng(seed).integers(0, 3, len(recs))).sample(
            frac=1, random_state=seed
        )
        ev = recnb.evaluate(recs, truth, ties=ties)
        assert not general
        assert_same(ev, generally(monkeypatch, recs, truth, ties=ties))


@pytest.mark.parametrize("shift", [56, 62, 64])
def test_ids_whose_hashes_are_the_same_are_kept_apart(shift, general, monkeypatch):
    """Hashes of a few bits, or all equal."""
    recs, truth = frames_in_order(2, text=True, shuffled=True)
    recs = recs.sample(frac=1, random_state=2)
    expected = generally(monkeypatch, recs, truth)
    hashes, kept = encoding.hashes_of, np.uint64(2**64 - 2**shift if shift < 64 else 0)

    def few(values, seed=0):
        return hashes(values, seed) & kept

    monkeypatch.setattr(encoding, "hashes_of", few)
    assert_same(recnb.evaluate(recs, truth), expected)
    assert not general


@pytest.mark.parametrize("shuffled", [False, True])
def test_ranks_with_gaps_and_scores_beside_them(shuffled, general, monkeypatch):
    recs, truth = frames_in_order(7, text=True, shuffled=shuffled)
    recs["rank"] = recs.groupby("user", sort=False).cumcount() * 2 + 1
    for frame in (recs, recs.drop(columns="score"), pl.from_pandas(recs).with_columns(pl.col("rank").cast(pl.UInt16))):
        ev = recnb.evaluate(frame, truth)
        assert ev._data.prepared.has_gaps
        assert ev.counts.n_gaps == (recs.groupby("user").size() > 1).sum()
        assert not general
        assert_same(ev, generally(monkeypatch, frame, truth))


def test_hits_can_be_had_down_to_a_rank():
    recs, truth = frames_in_order(3, text=False, shuffled=False)
    ev = recnb.evaluate(recs, truth)
    whole = ev.hits(None)
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
def test_what_is_refused_is_refused_alike(what, monkeypatch):
    recs, truth = frames_in_order(11, text=False, shuffled=False)
    recs, truth = DISORDERS[what](recs, truth)
    if what in FINE:
        assert_same(recnb.evaluate(recs, truth), generally(monkeypatch, recs, truth))
        return
    with pytest.raises(FrameError) as expected:
        generally(monkeypatch, recs, truth)
    with pytest.raises(type(expected.value)) as refused:
        recnb.evaluate(recs, truth)
    assert str(refused.value) == str(expected.value)


@pytest.mark.parametrize("text", [False, True])
def test_items_whose_numbers_are_the_same_are_kept_apart(text, general, monkeypatch):
    """Numbers that mislead for one seed, or for all."""
    recs, truth = frames_in_order(5, text, shuffled=False)
    expected = generally(monkeypatch, recs, truth)
    numbers, seeds = matches._numbers, []

    def few(items, seed):
        seeds.append(seed)
        return numbers(items, seed) % np.uint64(3) if seed < 2 else numbers(items, seed)

    monkeypatch.setattr(matches, "_numbers", few)
    assert_same(recnb.evaluate(recs, truth), expected)
    assert len(general) == 1 or 2 in seeds


def test_items_that_only_look_alike_are_no_hits(monkeypatch):
    recs = pd.DataFrame({"user": [1] * 3, "item": ["a", "b", "c"], "rank": [1, 2, 3]})
    truth = pd.DataFrame({"user": [1] * 3, "item": ["b", "c", "d"]})
    expected = generally(monkeypatch, recs, truth)
    # In the truth each item has the number of another one of the list.
    numbers = matches._numbers

    def alike(items, seed):
        return np.arange(3, dtype=np.uint64) if seed == 0 else numbers(items, seed)

    monkeypatch.setattr(matches, "_numbers", alike)
    assert_same(recnb.evaluate(recs, truth), expected)


def test_whole_numbers_that_differ_in_the_highest_bits(general, monkeypatch):
    """The block's low bits take the place of these bits."""
    recs = pd.DataFrame({"user": [1, 1, 2], "item": [-1, 5, 2**63 - 1], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": [2**63 - 1, 5, 2**63 - 1]})
    ev = recnb.evaluate(recs, truth)
    assert not general
    assert_same(ev, generally(monkeypatch, recs, truth))
    assert ev.recall(k=2) == 0.75


def test_one_list_of_many_items_is_one_block(monkeypatch):
    items = np.random.default_rng(0).permutation(5_000)
    recs = pd.DataFrame({"user": 1, "item": items, "rank": np.arange(5_000) + 1})
    truth = pd.DataFrame({"user": 1, "item": items[::7]})
    assert_same(recnb.evaluate(recs, truth), generally(monkeypatch, recs, truth))


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-20, 1e12])
def test_grades_of_any_kind_are_put_in_order(scale, monkeypatch):
    recs, truth = frames_in_order(8, text=False, shuffled=True)
    truth = truth.assign(relevance=truth["relevance"] * scale)
    ev = recnb.evaluate(recs, truth)
    assert_same(ev, generally(monkeypatch, recs, truth))
    hits = ev.hits(None)
    assert stands_best_first(hits.truth_user, hits.truth_relevance)
    assert hits.ideal.relevance.tolist() == hits.truth_relevance.tolist()


@pytest.mark.parametrize(("n_known", "n_values"), [(1, 5), (3, 100), (1_000, 70_000)])
def test_texts_are_looked_up_as_a_dictionary_finds_them(n_known, n_values):
    rng = np.random.default_rng(n_known)
    known = pl.Series([f"user {number}" for number in rng.permutation(n_known)])
    values = pl.Series([f"user {number}" for number in rng.integers(0, int(n_known * 1.3) + 1, n_values)])
    places = {name: place for place, name in enumerate(known)}
    assert encoding.positions(known, values).tolist() == [places.get(name, -1) for name in values]


@pytest.mark.parametrize("low", [-(2**63), -1, 0, 2**63 - 4])
def test_whole_numbers_are_looked_up_at_both_ends_of_their_range(low):
    known = pl.Series([low + 2, low, low + 3])
    values = pl.Series([low, low + 1, low + 2, low + 3, -(2**63), 2**63 - 1])
    places = {name: place for place, name in enumerate(known)}
    assert encoding.positions(known, values).tolist() == [places.get(name, -1) for name in values]


@pytest.mark.parametrize("n_cores", [1, 2, 3, 8])
@pytest.mark.parametrize("highest", [1, 5, 2**64 - 1])
def test_numbers_are_sorted_by_several_cores(n_cores, highest, monkeypatch):
    monkeypatch.setattr(parallel, "n_cores", lambda: n_cores)
    monkeypatch.setattr(parallel, "SORTED", 500)
    keys = np.random.default_rng(n_cores).integers(0, highest, 5_000, dtype=np.uint64, endpoint=True)
    ordered = keys.copy()
    parallel.sort(ordered)
    assert ordered.tolist() == sorted(keys.tolist())
