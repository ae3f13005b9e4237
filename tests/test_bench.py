"""The bench on tiny data: it times the same thing, reads memory right and says what failed. No times are tested."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import recnb
from tests.tools.bench import __main__ as program
from tests.tools.bench import contenders, measure
from tests.tools.bench.contenders import CUTOFFS, NAMES, PEERS, TWELVE, last_column, polars_ndcg
from tests.tools.bench.data import TINY, Size, make, write, write_pieces

ODD = Size("odd", 37, 13, 4)


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("size", [TINY, ODD, Size("long", 20, 40, 20)], ids=lambda size: size.name)
def test_the_query_computes_what_recnb_does(size, strings, shuffled, scores):
    recs, truth = make(size, strings=strings, shuffled=shuffled, scores=scores)
    assert ("score" in recs.columns) is scores
    assert (recs["user"].rle_id().n_unique() > size.users) is shuffled
    assert not recs.select("user", "item").is_duplicated().any()
    assert 0 < recnb.evaluate(recs, truth).recall(k=size.list_length) < 0.6
    for k in (1, 5, 10):
        assert polars_ndcg(recs, truth, k) == pytest.approx(recnb.evaluate(recs, truth).ndcg(k=k), abs=1e-12)


def test_comparison_refuses_to_time_different_things(monkeypatch):
    monkeypatch.setattr(program, "polars_ndcg", lambda *_: 0.5)
    with pytest.raises(AssertionError, match="must be the same"):
        program.compare(TINY, 1, strings=False, shuffled=False, scores=False)


def test_files_hold_the_frames(tmp_path, monkeypatch):
    recs, truth = make(ODD, strings=True)
    write(tmp_path, recs, truth)
    for reads in ("polars", "pandas"):
        assert [pl.DataFrame(frame).rows() for frame in measure.load(tmp_path, reads)] == [recs.rows(), truth.rows()]
    monkeypatch.setattr("tests.tools.bench.data.PIECE", 100)
    write_pieces(tmp_path, ODD, shuffled=True)
    recs, truth = (pl.read_parquet(tmp_path / f"{name}-*.parquet") for name in ("recs", "truth"))
    assert (len(list(tmp_path.glob("recs-*.parquet"))), recs.height, truth["user"].n_unique()) == (6, ODD.rows, 37)
    assert polars_ndcg(recs, truth) == pytest.approx(recnb.evaluate(recs, truth).ndcg(k=10), abs=1e-12)


def test_the_peak_is_of_what_was_held_since_the_run_began(tmp_path, monkeypatch):
    size = 200_000_000
    greedy = contenders.Contender("polars", lambda *_: lambda: {"sum": np.ones(size // 8).sum()})
    monkeypatch.setitem(measure.CONTENDERS, "greedy", greedy)
    write(tmp_path, *make(TINY))
    found = measure.measured("greedy", tmp_path, 1)
    assert 0.9 * size < found.peak - found.held < 1.4 * size
    monkeypatch.setitem(measure.CONTENDERS, "frugal", contenders.Contender("polars", lambda *_: dict))
    frugal = measure.measured("frugal", tmp_path, 1)
    assert frugal.peak - frugal.held < 0.2 * size


def test_each_contender_in_its_own_process_says_the_same(tmp_path):
    write(tmp_path, *make(TINY, strings=True))
    query, twelve = (measure.alone(name, tmp_path) for name in ("query", "twelve"))
    assert twelve.values == pytest.approx(
        last_column(recnb.evaluate(*make(TINY, strings=True)).table(TWELVE, k=CUTOFFS))
    )
    assert set(query.values) == {"ndcg"}
    assert 0 < query.held <= query.peak


def test_what_fails_is_told(tmp_path):
    assert measure.alone("six", tmp_path, limit=0.01) == "over 0.01 s"
    assert measure.alone("six", tmp_path / "nowhere").startswith("exit 1: FileNotFoundError")


def test_other_numbers_of_a_library_are_found():
    recs, truth = make(TINY)
    right = {name: recnb.as_in("rectools", name, recs, truth, k=10) for name in NAMES}
    assert program.differing("rectools", right, recs, truth) == []
    for wrong in (right["ndcg"] + 1e-5, float("nan")):
        assert [one[:13] for one in program.differing("rectools", {**right, "ndcg": wrong}, recs, truth)] == [
            "ndcg differs:"
        ]


@pytest.mark.parametrize("library", PEERS)
def test_every_peer_is_held_against_a_recorded_convention(library):
    assert set(PEERS[library].variants.values()) <= set(recnb.conventions.metrics(library))


def test_streamed_numbers_are_held_against_those_in_memory(tmp_path):
    write_pieces(tmp_path, ODD)
    found = measure.measured("six of files", tmp_path, 1)
    program.same_as_in_memory(found, tmp_path)
    with pytest.raises(AssertionError, match="streamed"):
        program.same_as_in_memory(measure.Measured({**found.values, "recall": 0.5}, 0, 0, 0, ""), tmp_path)


def test_what_is_printed_are_tables(capsys, monkeypatch):
    monkeypatch.setattr(program, "SMALL", TINY)
    program.main(["--quick", "--rounds", "1", "--only", "query", "presets", "memory", "files", "--millions"])
    tables = [part.splitlines() for part in capsys.readouterr().out.split("### ")[1:]]
    assert [len([line for line in one if line.startswith("|")]) for one in tables] == [2 + 8, 2 + 3, 2 + 2, 2]
    assert all(len({line.count("|") for line in one if line.startswith("|")}) == 1 for one in tables)
