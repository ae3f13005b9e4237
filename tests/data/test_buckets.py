"""What streaming leaves behind: no files, and no memory that grows with the rows."""

import gc
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import buckets, parts
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


def test_what_is_in_memory_needs_no_files(folder, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(19))
    monkeypatch.setattr(buckets, "WHOLE", 10_000)
    monkeypatch.setattr(buckets, "SHARE", 0)
    same(recnb.evaluate(pl.from_pandas(shuffled(recs)).lazy(), truth), recnb.evaluate(shuffled(recs), truth))
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
    rows.write_parquet(folder / "recs.parquet", row_group_size=50_000)
    del rows
    pl.DataFrame({"user": users[: 100 * n], "item": item[: 100 * n], "rank": item[: 100 * n] + 1}).write_parquet(
        folder / "tiny.parquet"
    )
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
