"""The bench on tiny data: what is compared is the same thing, memory is read right, failures are told. No times."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import recnb
from tests.bench import __main__ as program
from tests.bench import against_peers, against_query, measure, memory, streamed
from tests.bench.contenders import CUTOFFS, SIX, TWELVE, last_column, polars_ndcg
from tests.bench.data import TINY, Size, make, write, write_pieces
from tests.bench.peers import PEERS, Peer

ODD = Size("odd", 37, 13, 4)


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("size", [TINY, ODD, Size("long", 20, 40, 20)], ids=lambda size: size.name)
def test_the_query_computes_what_recnb_does(size, strings, shuffled, scores):
    recs, truth = make(size, strings=strings, shuffled=shuffled, scores=scores)
    assert ("score" in recs.columns) is scores
    assert (recs["user"].rle_id().n_unique() > size.users) is shuffled
    assert recs.height == size.rows
    assert truth.height == size.users * size.relevant
    assert not recs.select("user", "item").is_duplicated().any()
    assert not truth.select("user", "item").is_duplicated().any()
    assert truth["relevance"].is_between(1, 5).all()
    assert 0 < recnb.evaluate(recs, truth).recall(k=size.list_length) < 0.6
    for k in (1, 5, 10):
        assert polars_ndcg(recs, truth, k) == pytest.approx(recnb.evaluate(recs, truth).ndcg(k=k), abs=1e-12)


def test_twelve_metrics_hold_the_six():
    assert TWELVE[:6] == SIX
    assert len(set(TWELVE)) == 12
    recs, truth = make(ODD, strings=False)
    table = recnb.evaluate(recs, truth).table(TWELVE, k=CUTOFFS)
    assert last_column(table)["recall"] == recnb.evaluate(recs, truth).recall(k=CUTOFFS[-1])


def test_comparison_refuses_to_time_different_things(monkeypatch):
    monkeypatch.setattr(against_query, "polars_ndcg", lambda *_: 0.5)
    with pytest.raises(AssertionError, match="must be the same"):
        against_query.compare(TINY, strings=False, shuffled=False, scores=False, rounds=1)


def test_files_hold_the_frames(tmp_path):
    recs, truth = make(ODD, strings=True)
    write(tmp_path, recs, truth)
    from tests.bench.alone import load

    for reads in ("polars", "pandas"):
        assert [pl.DataFrame(frame).rows() for frame in load(tmp_path, reads)] == [recs.rows(), truth.rows()]


def test_pieces_hold_all_users_once(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.bench.data.PIECE", 100)
    write_pieces(tmp_path, ODD)
    recs, truth = (pl.read_parquet(tmp_path / f"{name}-*.parquet") for name in ("recs", "truth"))
    assert len(list(tmp_path.glob("recs-*.parquet"))) == 6
    assert recs.height == ODD.rows
    assert truth["user"].n_unique() == recs["user"].n_unique() == ODD.users
    assert not truth.select("user", "item").is_duplicated().any()
    evaluation = recnb.evaluate(recs, truth)
    assert 0 < evaluation.recall(k=10) < 1
    assert polars_ndcg(recs, truth) == pytest.approx(evaluation.ndcg(k=10), abs=1e-12)


@pytest.mark.skipif(not measure.CLEAR.exists(), reason="the system keeps no peak that can be reset")
def test_peak_is_of_what_was_held_since_the_reset():
    size = 200_000_000
    assert measure.reset_peak()
    before = measure.held()
    big = np.ones(size // 8)
    assert measure.held() - before > 0.9 * size
    del big
    assert 0.9 * size < measure.peak() - before < 1.3 * size
    assert measure.held() - before < 0.2 * size
    assert measure.reset_peak()
    assert measure.peak() - before < 0.2 * size


def test_peak_where_the_system_has_no_status_file(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "STATUS", tmp_path / "none")
    monkeypatch.setattr(measure, "CLEAR", tmp_path / "no folder" / "none")
    assert not measure.reset_peak()
    assert measure.peak() > 10_000_000
    assert measure.held() > 10_000_000


@pytest.mark.slow
def test_each_contender_in_its_own_process_says_the_same():
    query, six, twelve = memory.peaks(TINY, strings=True)
    assert query.values["ndcg"] == pytest.approx(six.values["ndcg"], abs=1e-12)
    assert set(six.values) == set(SIX)
    assert set(twelve.values) == set(TWELVE)
    for one in (query, six, twelve):
        assert one.runs == 1
        assert 0 < one.held <= one.peak
        assert one.seconds > 0
    assert memory.ratio(six, query).startswith(f"{six.peak / query.peak:.2f}")


def test_a_process_that_takes_too_long_or_too_much_is_ended_and_told(tmp_path):
    write(tmp_path, *make(TINY, strings=False))
    assert measure.alone("six", tmp_path, limit=0.01) == measure.Failed("over 0.01 s")
    failed = measure.alone("six", tmp_path / "nowhere")
    assert isinstance(failed, measure.Failed)
    assert failed.reason.startswith("exit 1: FileNotFoundError")
    with pytest.raises(RuntimeError, match="not measured: exit 1"):
        measure.must(failed)


@pytest.mark.skipif(not measure.STATUS.exists(), reason="the system does not say what a process holds")
def test_a_process_that_holds_too_much_is_ended_and_told(tmp_path):
    write(tmp_path, *make(TINY, strings=False))
    assert measure.alone("six", tmp_path, most=1.0) == measure.Failed("over 0 GB of memory")


def test_a_library_that_says_something_else_is_found_out():
    recs, truth = make(TINY, strings=False)
    peer = Peer("pandas", lambda *_: dict, "recnb", "nobody", variants={"recall": "recall", "ndcg": "ndcg"})
    right = {name: recnb.as_in("rectools", name, recs, truth, k=10) for name in peer.variants}
    assert against_peers.differing("rectools", peer, right, recs, truth) == []
    wrong = against_peers.differing("rectools", peer, {**right, "ndcg": right["ndcg"] + 1e-5}, recs, truth)
    assert len(wrong) == 1
    assert wrong[0].startswith("ndcg differs")
    unknown = against_peers.differing("rectools", peer, {**right, "ndcg": float("nan")}, recs, truth)
    assert len(unknown) == 1


def test_every_peer_is_held_against_a_recorded_convention():
    for library, peer in PEERS.items():
        assert set(peer.variants.values()) <= set(recnb.conventions.metrics(library))


def test_streamed_numbers_are_held_against_those_in_memory(tmp_path):
    write_pieces(tmp_path, ODD)
    found = measure.must(measure.alone("six of files", tmp_path))
    streamed.as_in_memory(found, tmp_path)
    found.values["recall"] += 1e-9
    with pytest.raises(AssertionError, match="streamed"):
        streamed.as_in_memory(found, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not measure.STATUS.exists(), reason="addresses are limited on Linux")
def test_what_needs_more_than_the_limit_fails_and_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(streamed, "TIMES", 1e-4)
    monkeypatch.setattr(streamed, "PIECE", 10_000)
    streamed.under_limit(3000)
    printed = capsys.readouterr().out
    assert printed.count("| passes |") == 4
    assert "NDCG@10 of the last two differs by" in printed
    write_pieces(tmp_path, ODD)
    assert isinstance(measure.alone("collected", tmp_path, "--limit", "150", environ=streamed.FRUGAL), measure.Failed)


def test_what_is_printed_is_a_table(capsys):
    against_query.table([TINY], rounds=1)
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 8  # ids, order of rows, rank or score
    assert len({line.count("|") for line in table}) == 1
    assert re.fullmatch(
        r"\| warm-up \| strings \| in any order \| score \| [\d.]+ s \| [\d.]+ s \| [\d.]+ \| .*\|", table[-1]
    )


@pytest.mark.parametrize(
    "arguments, parts",
    [
        ([], ["query", "memory", "peers", "start-up"]),
        (["--stream"], ["query", "memory", "peers", "stream", "start-up"]),
        (["--quick"], ["query", "memory"]),
        (["--only", "stream"], ["stream"]),
    ],
)
def test_options_choose_the_parts(arguments, parts):
    assert program.parts_of(program.parsed(arguments)) == parts
