"""What streaming leaves behind: no files, and no memory that grows with the rows."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import streaming, user_batches
from recnb.errors import FrameError
from tests.data.test_streaming import same, shuffled, sized
from tests.distributed.test_chunks import random_frames


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    sized(monkeypatch, whole=30, rows=20, batch=7)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_torn_lists_go_through_files_that_are_gone_afterwards(folder, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(17), n_users=100)
    written, levels = user_batches._written, []

    def spy(batches, into, level):
        assert into.parent == folder
        levels.append(level)
        return written(batches, into, level)

    monkeypatch.setattr(user_batches, "_written", spy)
    made = recnb.evaluate(pl.from_pandas(shuffled(recs)).lazy(), truth)
    assert levels[0] == 0
    assert 1 in levels  # a bucket was still too large
    assert max(levels) < user_batches.DEEPEST
    assert not any(folder.iterdir())
    same(made, recnb.evaluate(shuffled(recs), truth))


def test_they_are_gone_after_an_error_too(folder):
    recs, truth = random_frames(np.random.default_rng(18))
    twice = shuffled(pd.concat([recs, recs[:1]], ignore_index=True))
    with pytest.raises(FrameError, match=r"stand more than once.*\(Counted in some of the rows"):
        recnb.evaluate(pl.from_pandas(twice).lazy(), truth)
    missing = shuffled(recs).astype({"item": "Int64"})
    missing.loc[len(missing) - 1, "item"] = None
    with pytest.raises(FrameError, match="1 missing item ids, the first in row"):
        recnb.evaluate(pl.from_pandas(missing).lazy(), truth)
    assert not any(folder.iterdir())


def test_lists_that_stand_together_need_no_files(folder, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(19))
    monkeypatch.setattr(user_batches, "_written", lambda *_: pytest.fail("a file was written"))
    order = recs.user.unique()[::-1]
    recs = pd.concat([recs[recs.user == user] for user in order], ignore_index=True)  # by user, in any order of users
    same(recnb.evaluate(pl.from_pandas(recs).lazy(), truth), recnb.evaluate(recs, truth))


def test_no_table_is_much_larger_than_asked(monkeypatch):
    recs, truth = random_frames(np.random.default_rng(20), n_users=200)
    monkeypatch.setattr(user_batches, "BUCKETS", 8)
    seen, join = [], streaming._StreamState._join
    monkeypatch.setattr(
        streaming._StreamState, "_join", lambda self, recs, truth: seen.append(recs.height) or join(self, recs, truth)
    )
    for frame in (recs, shuffled(recs)):
        seen.clear()
        recnb.evaluate(pl.from_pandas(frame).lazy(), truth)
        assert max(seen) <= 3 * 20, seen
        # One table was joined before lists were found to be torn.
        assert len(recs) <= sum(seen) <= len(recs) + 60 * (frame is not recs)


PEAK = """
import sys
import polars as pl
import recnb
from recnb.data import batches, streaming

folder, whole = sys.argv[1], int(sys.argv[2])
streaming.WHOLE, streaming.ROWS, batches.ROWS = whole, 100_000, 100_000
for name in ("tiny", "recs"):
    made = pl.scan_parquet(f"{folder}/{name}.parquet").rec.against(pl.scan_parquet(f"{folder}/truth.parquet"))
    made.table(["ndcg", "recall"], k=10)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024, made.counts.n_recommended, type(made._data.prepared.rows).__name__)
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
    assert found[1:] == [str(2000 * n), "InMemoryRows" if whole >= 2000 * n else "RemoteRanking"]
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
