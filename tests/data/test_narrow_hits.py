"""Hits in few bytes: they come back to the bit, of all users and block by block."""

from dataclasses import fields

import numpy as np
import polars as pl
import pytest

import recnb
from recnb.data import narrow_hits
from recnb.data.narrow_hits import NarrowHits
from recnb.metrics import hits as hits_module
from tests.random_frames import random_frames, sized

WEIGHTS = {"propensity": "p"}
CASES = {
    "plain": {},
    "weighted": WEIGHTS,
    "ties": {"ties": "expected"},
    "weighted ties": {"ties": "expected", **WEIGHTS},
    "everything relevant": {"relevant": "any", "no_relevant": "zero"},
}


def hits_of(options, n_users=40):
    rng = np.random.default_rng(11)
    recs, truth = random_frames(rng, n_users)
    truth = truth.assign(p=rng.uniform(0.01, 1, len(truth)))
    return recnb.evaluate(recs, truth, **options).joined.all_hits


def hold(mine, theirs):
    """Hold columns of hits against those of others, to the bit and the type."""
    for column in fields(hits_module.Hits):
        value, other = getattr(mine, column.name), getattr(theirs, column.name)
        if column.name == "tied" and other is not None:
            assert all(map(np.array_equal, vars(value).values(), vars(other).values()))
        elif isinstance(other, np.ndarray):
            assert value.dtype == other.dtype, column.name
            assert np.array_equal(value, other), column.name
        else:
            assert value == other, column.name


@pytest.fixture(params=CASES.values(), ids=CASES)
def hits(request):
    return hits_of(request.param)


def test_hits_come_back_to_the_bit(hits):
    narrow = NarrowHits.of(hits)
    hold(narrow.widened, hits)
    assert np.array_equal(narrow.list_length, hits.list_length)
    assert np.array_equal(narrow.n_relevant, hits.n_relevant)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_blocks_are_the_hits_of_some_users_after_others(size, hits, monkeypatch):
    monkeypatch.setattr(narrow_hits, "BLOCK", size)
    first = 0
    for block in NarrowHits.of(hits).blocks():
        users = np.arange(hits.n_users)
        hold(block, hits.with_users((first <= users) & (users < first + block.n_users)))
        first += block.n_users
    assert first == hits.n_users


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_parts_of_users_in_any_order_are_put_in_order(size, hits, monkeypatch):
    monkeypatch.setattr(narrow_hits, "BLOCK", size)
    rng = np.random.default_rng(5)
    users = np.arange(hits.n_users)
    part_of_user = rng.integers(0, 3, hits.n_users)
    parts = [NarrowHits.of(hits.with_users(part_of_user == part)) for part in range(3)]
    order_of_parts = np.argsort(part_of_user, kind="stable")
    position = np.empty_like(users)
    position[order_of_parts] = users
    hold(NarrowHits.concatenate(parts).in_order(position).widened, hits)


def test_each_number_takes_as_few_bytes_as_hold_it():
    hits = hits_of({})
    narrow = NarrowHits.of(hits)
    columns = {**narrow.by_user, **narrow.by_entry, **narrow.by_hit}
    assert {column.dtype.itemsize for column in columns.values()} == {1}
    third = np.full(len(hits.truth_relevance), 1 / 3)
    exact = NarrowHits.of(hits.with_rows(slice(None), truth_relevance=third))
    assert exact.by_entry["relevance"].dtype == np.float64


def test_there_may_be_no_users():
    nobody = hits_of({}).with_users(np.zeros(40, dtype=bool)[: hits_of({}).n_users])
    narrow = NarrowHits.of(nobody)
    hold(narrow.widened, nobody)
    assert [block.n_users for block in narrow.blocks()] == [0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda ev: str(ev.table(["ndcg", "precision"], k=[3, None])),
        lambda ev: ev.recall(k=3).interval(),
        lambda ev: repr(ev),
        lambda ev: ev.counts,
    ],
)
@pytest.mark.parametrize("options", [{}, {"relevant": "any"}, WEIGHTS])
def test_numbers_and_counts_need_no_widened_hits(options, ask, monkeypatch):
    rng = np.random.default_rng(11)
    recs, truth = random_frames(rng, 40)
    truth = truth.assign(p=rng.uniform(0.01, 1, len(truth)))
    in_memory = recnb.evaluate(recs, truth, **options)
    sized(monkeypatch)
    ev = recnb.evaluate(pl.from_pandas(recs).lazy(), truth, **options)
    assert ask(ev) == ask(in_memory)
    assert isinstance(ev.joined.kept_hits, NarrowHits)
    assert "widened" not in vars(ev.joined.kept_hits)
