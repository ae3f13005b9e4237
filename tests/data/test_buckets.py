"""What streaming leaves behind, no files, and no memory that grows with the rows; bounds of a machine, its memory and cores."""

import gc
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import psutil
import pytest

import recnb
from recnb.data import buckets, parts
from recnb.data.parallel import in_turn, n_cores
from recnb.errors import FrameError
from tests.data.test_streaming import same, shuffled, sized
from tests.random_frames import random_frames


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    sized(monkeypatch, whole=30, rows=20, batch=7)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_files_are_gone_with_the_evaluation(folder):
    recs, truth = random_frames(np.random.default_rng(17), n_users=100)
    made = recnb.evaluate(pl.from_pandas(shuffled(recs)).lazy(), pl.from_pandas(truth).lazy())
    assert len([*folder.iterdir()]) == 2
    same(made, recnb.evaluate(shuffled(recs), truth))
    del made
    gc.collect()
    assert not any(folder.iterdir())


def test_they_are_gone_after_an_error_too(folder):
    recs, truth = random_frames(np.random.default_rng(18))
    twice = shuffled(pd.concat([recs, recs[:1]], ignore_index=True))
    with pytest.raises(FrameError, match=r"(is|are) repeated.*one part of the frame: there may be more"):
        recnb.evaluate(pl.from_pandas(twice).lazy(), truth)
    missing = shuffled(recs).astype({"item": "Int64"})
    missing.loc[len(missing) - 1, "item"] = None
    with pytest.raises(FrameError, match="1 missing item id, the first in row"):
        recnb.evaluate(pl.from_pandas(missing).lazy(), truth)
    gc.collect()
    assert not any(folder.iterdir())


@pytest.mark.parametrize("available, most", [(10**9, 60), (24 * 20 * 20 // 4, 30)])
def test_buckets_are_as_large_as_asked_and_smaller_where_memory_is_short(available, most, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(20), n_users=60)
    monkeypatch.setattr(buckets, "SLOTS", 128)
    monkeypatch.setattr(buckets, "available_memory", lambda: available)
    seen, joined = [], parts.part_of
    monkeypatch.setattr(parts, "part_of", lambda *rows: seen.append(rows[0].height) or joined(*rows))
    for frame in (recs, shuffled(recs)):
        seen.clear()
        recnb.evaluate(pl.from_pandas(frame).lazy(), truth)
        assert 5 < max(seen) <= most, seen
        assert sum(seen) == len(recs)


@pytest.mark.parametrize("limit, used, left", [("1000000\n", "400000\n", 600_000), ("1000000", "3000000", 0), ("max\n", "5", None)])  # fmt: skip
def test_a_container_sets_the_limit(limit, used, left, tmp_path, monkeypatch):
    (tmp_path / "max").write_text(limit)
    (tmp_path / "current").write_text(used)
    monkeypatch.setattr(buckets, "LIMITS", ((tmp_path / "max", tmp_path / "current"),))
    found = buckets.available_memory()
    assert found == left if left is not None else found > 2**20


def test_there_is_no_more_than_the_machine_has():
    assert 0 < buckets.available_memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize("counted, used", [(3, 3), (64, 8), (None, 1)])
def test_cores_are_counted_where_the_system_does_not_list_those_allowed(counted, used, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert n_cores() == used


def test_work_in_turn_ends_with_the_first_error_in_order():
    begun, done = [], []

    def work(one):
        begun.append(one)
        if one in (3, 4):
            raise ValueError(one)
        return one

    with pytest.raises(ValueError, match="3"):
        done.extend(in_turn(range(1000), work))
    assert done in ([], [0, 1, 2])
    assert len(begun) < 100


PEAK = """
import sys
import polars as pl
import recnb
from recnb.data import buckets

folder, whole = sys.argv[1], int(sys.argv[2])
buckets.WHOLE, buckets.SHARE, buckets.BLOCK, buckets.ROWS, buckets.BUCKET = whole, 0, 100_000, 100_000, 2_400_000
for name in ("tiny", "recs"):
    made = pl.scan_parquet(f"{folder}/{name}.parquet").rec.against(pl.scan_parquet(f"{folder}/truth.parquet"))
    made.table(["ndcg", "recall"], k=10)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024, made.counts.n_recommended, made._data.source.in_memory)
"""


def peak_of(folder, n, whole):
    """Megabytes at the peak for 2,000 users with lists of n items, of whom 10 are hits at most."""
    users = np.repeat(np.arange(2000), n)
    item = np.tile(np.arange(n), 2000)
    rows = pl.DataFrame({"user": users, "item": item, "rank": item + 1})
    rows[: 100 * n].write_parquet(folder / "tiny.parquet")
    rows.write_parquet(folder / "recs.parquet", row_group_size=50_000)
    found = subprocess.run(
        [sys.executable, "-c", PEAK, str(folder), str(whole)], check=True, capture_output=True, text=True,
        env={**os.environ, "POLARS_MAX_THREADS": "2", "POLARS_ROW_GROUP_PREFETCH_SIZE": "1"},
    ).stdout.split()  # fmt: skip
    assert found[1:] == [str(2000 * n), str(whole >= 2000 * n)]
    return float(found[0])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the peak")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    truth = pl.DataFrame({"user": np.repeat(np.arange(2000), 10), "item": np.tile(np.arange(0, 40, 4), 2000)})
    truth.write_parquet(tmp_path / "truth.parquet")
    few, many = (peak_of(tmp_path, n, 100_000) for n in (400, 3200))
    # 5,600,000 rows more are 134 MB as they stand in a table, and more while they are joined.
    assert many - few < 100
    assert peak_of(tmp_path, 3200, 10_000_000) - many > 100
