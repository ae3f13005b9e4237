"""Frames that are read in batches: what is read, what is held in memory and what in
files, which are gone with the evaluation.

That their numbers are those of frames in memory is held in
tests/distributed/test_engines.py, and by the law of tests/laws/test_attack.py.
"""

import gc
import os
import re
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pytest

import recnb
from recnb.data import tables
from recnb.errors import FrameError, RecnbError, WriteError
from tests.random_frames import METRICS, STREAMED, K, random_frames, shuffled, sized


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Whatever has more than 30 rows is put into files."""
    sized(monkeypatch)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def same(made, whole):
    np.testing.assert_allclose(
        made.table(METRICS, k=K), whole.table(METRICS, k=K), rtol=0, atol=1e-12
    )
    assert made.basis == whole.basis


# ---- what is read


FILES = {
    "files": lambda folder, files: pl.scan_parquet(files),
    "one file, filtered": lambda folder, files: pl.scan_parquet(
        folder / "one.parquet"
    ).filter("keep"),
    "a pattern": lambda folder, files: f"{folder}/0*.parquet",
    "duckdb": lambda folder, files: duckdb.read_parquet(files),
    "dataset": lambda folder, files: ds.dataset(files),
    "dataset, filtered": lambda folder, files: ds.dataset(
        folder / "one.parquet"
    ).filter(ds.field("keep")),
}


@pytest.mark.parametrize("where", FILES)
def test_files(where, tmp_path):
    """Lists of users are torn over the files, beside columns that are not read."""
    recs, truth = random_frames(np.random.default_rng(3), n_users=45, text=True)
    recs, truth = (
        frame.rename(columns={"user": "who"}) for frame in (shuffled(recs), truth)
    )
    recs = recs.assign(more="x", other=1.5, model="a")
    for number, start in enumerate(range(0, len(recs), 31)):
        recs[start : start + 31].to_parquet(
            tmp_path / f"{number:03}.parquet", row_group_size=10
        )
    recs.assign(keep=True).to_parquet(tmp_path / "one.parquet")
    source = FILES[where](tmp_path, sorted(map(str, tmp_path.glob("0*.parquet"))))
    made, whole = (recnb.evaluate(one, truth, user="who") for one in (source, recs))
    assert not made.source.in_memory
    same(made, whole)
    user = made.users[5]
    assert made.user(user).equals(whole.user(user))


def test_lists_that_lose_every_row_are_no_empty_table():
    recs = pl.DataFrame({"user": range(400), "item": "a", "rank": 1})
    truth = recs.select("user", item=pl.lit("b"))
    ev = recnb.evaluate(recs.lazy(), truth, judged_only=True)
    assert not ev.source.in_memory
    assert (ev.ndcg(k=2), ev.counts.n_recommended) == (0, 0)


def test_items_of_other_kinds_beside_other_users():
    recs = pl.DataFrame({"user": 1, "item": range(40), "rank": range(1, 41)})
    truth = pl.DataFrame({"user": [2], "item": ["a"]})
    with pytest.raises(FrameError, match="no user is in both frames"):
        recnb.evaluate(recs.lazy(), truth)


def test_ids_of_train_that_never_match_those_of_files_are_refused():
    recs, truth = random_frames(np.random.default_rng(3), n_users=45)
    train = pd.DataFrame({"user": ["x"], "item": 1})
    words = r"such as \d+\), train .* text \(such as 'x'\)"
    with pytest.raises(FrameError, match=words):
        recnb.evaluate(pl.from_pandas(recs).lazy(), truth, train=train)


@pytest.mark.parametrize("options", [{}, {"split": "day"}])
def test_missing_users_of_rows_in_files_are_counted_of_a_part(options):
    users = [1] * 40 + [None] * 3
    recs = pl.DataFrame({"user": users, "item": range(43), "rank": range(1, 44)})
    words = r"missing user ids.*there may be more"
    with pytest.raises(FrameError, match=words):
        recnb.evaluate(
            recs.with_columns(day=pl.col("item") % 2).lazy(), recs.head(1), **options
        )


def test_models_in_one_file_are_not_held(tmp_path):
    recs, truth = random_frames(np.random.default_rng(4))
    both = pd.concat(
        [recs.assign(model="a"), recs.assign(model="b", score=-recs["score"])]
    )
    both.to_parquet(tmp_path / "recs.parquet")
    found, whole = (
        recnb.compare(tmp_path / "recs.parquet", truth),
        recnb.compare(both, truth),
    )
    assert (found.table(k=3).to_numpy() == whole.table(k=3).to_numpy()).all()
    with pytest.raises(
        RecnbError,
        match=r"stay in files.*read the files into a frame first, polars\.read_parquet",
    ):
        found["a"].personalization(k=3)


def test_a_connection_may_be_asked_other_things_meanwhile():
    recs, truth = random_frames(np.random.default_rng(10))
    connection = duckdb.connect()
    frames = {"recs": recs, "truth": truth, "train": recs[["user", "item"]]}
    for name, frame in frames.items():
        connection.register(name, frame)
    left, right, train = (connection.table(name) for name in frames)
    same(recnb.evaluate(left, right, train=train), recnb.evaluate(recs, truth))


# ---- what is held


@pytest.mark.parametrize("fits", [True, False])
def test_what_fits_is_held_in_memory(fits, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(2))
    monkeypatch.setattr(tables, "ROWS_IN_MEMORY", len(recs) if fits else len(recs) - 1)
    made = recnb.evaluate(STREAMED["lazy"](recs), truth)
    assert made.source.in_memory is fits
    same(made, recnb.evaluate(recs, truth))


def test_a_truth_that_does_not_fit_puts_both_into_files():
    recs, truth = random_frames(np.random.default_rng(2))
    made = recnb.evaluate(STREAMED["lazy"](recs[:20]), STREAMED["lazy"](truth))
    assert not made.source.in_memory
    same(made, recnb.evaluate(recs[:20], truth))


def test_rows_of_each_user_keep_their_order():
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({"user": rng.integers(0, 900, 10**6), "rank": 1})
    recs = rows.with_row_index("item").lazy()
    source = recnb.evaluate(recs, {0: [0]}, order="row").source
    parts = [lists for lists, _truth in source.stored.each(lambda *rows: rows)]
    assert all(part["item"].is_sorted() for part in parts)
    assert sum(part.height for part in parts) == rows.height
    users = [{*part["user"]} for part in parts]
    assert sum(map(len, users)) == len(set().union(*users))


# ---- files that are left behind


def test_files_are_gone_with_the_evaluation(folder):
    recs, truth = random_frames(np.random.default_rng(17), n_users=60)
    made = recnb.evaluate(STREAMED["lazy"](shuffled(recs)), STREAMED["lazy"](truth))
    assert len([*folder.iterdir()]) == 1
    same(made, recnb.evaluate(shuffled(recs), truth))
    del made
    gc.collect()
    assert not any(folder.iterdir())


def test_they_are_gone_after_an_error_too(folder):
    recs, truth = random_frames(np.random.default_rng(18))
    missing = shuffled(recs).astype({"item": "Int64"})
    missing.loc[len(missing) - 1, "item"] = None
    for wrong, words in (
        (shuffled(pd.concat([recs, recs[:1]])), "are repeated"),
        (missing, "1 missing item id, the first in row"),
    ):
        with pytest.raises(
            FrameError, match=f"{words}.*one part of the frame: there may be more"
        ):
            recnb.evaluate(STREAMED["lazy"](wrong), truth)
    gc.collect()
    assert not any(folder.iterdir())


def test_a_folder_that_cannot_hold_them_is_named(folder):
    recs, truth = random_frames(np.random.default_rng(18))
    folder.rmdir()
    words = f"temporary files cannot be written to {folder}: No such file or directory"
    with pytest.raises(WriteError, match=re.escape(words)):
        recnb.evaluate(STREAMED["lazy"](recs), truth)


# ---- memory


PEAK = """
import sys
import polars as pl
import recnb
from recnb.data import tables

folder, held = sys.argv[1], int(sys.argv[2])
tables.ROWS_IN_MEMORY = held
recs, truth = (pl.scan_parquet(f"{folder}/{name}.parquet") for name in ("recs", "truth"))
for rows in (recs.head(10_000), recs):
    made = rows.rec.against(truth)
    made.table(["ndcg", "recall"], k=10)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024, made.counts.n_recommended, made.source.in_memory)
"""


def peak_of(folder, n, held):
    """Megabytes at the peak for 2,000 users with lists of n items, of whom 10 are hits
    at most.
    """
    item = np.tile(np.arange(n), 2000)
    rows = pl.DataFrame(
        {"user": np.repeat(np.arange(2000), n), "item": item, "rank": item + 1}
    )
    rows.write_parquet(folder / "recs.parquet", row_group_size=50_000)
    found = subprocess.run(
        [sys.executable, "-c", PEAK, str(folder), str(held)],
        check=True,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "POLARS_MAX_THREADS": "2",
            "POLARS_ROW_GROUP_PREFETCH_SIZE": "1",
        },
    ).stdout.split()
    assert found[1:] == [str(2000 * n), str(held >= 2000 * n)]
    return float(found[0])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the peak")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    truth = pl.DataFrame(
        {
            "user": np.repeat(np.arange(2000), 10),
            "item": np.tile(np.arange(0, 40, 4), 2000),
        }
    )
    truth.write_parquet(tmp_path / "truth.parquet")
    # What the allocator keeps grows with the first parts, and is the same after dozens.
    few, many = (peak_of(tmp_path, n, 100_000) for n in (1600, 6400))
    # 9,600,000 rows more are 230 MB as they stand in a table, and more while they are
    # joined; some 50 MB are measured here.
    assert many - few < 120
    assert peak_of(tmp_path, 6400, 20_000_000) - many > 120


@pytest.mark.parametrize("options", [{}, {"propensity": "p"}, {"ties": "expected"}])
def test_blocks_of_users_have_the_numbers_of_all(options, monkeypatch):
    rng = np.random.default_rng(12)
    recs, truth = random_frames(rng, 40)
    truth = truth.assign(p=rng.uniform(0.01, 1, len(truth)))
    names = ["ndcg", "recall", "dcg", "rbp"]
    want = recnb.evaluate(recs, truth, **options).table(names, k=K).to_frame()
    monkeypatch.setattr("recnb.metrics.hits.USERS_AT_ONCE", 7)
    got = recnb.evaluate(recs, truth, **options).table(names, k=K).to_frame()
    pd.testing.assert_frame_equal(got, want, check_exact=True)
