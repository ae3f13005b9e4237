"""Python as it is in a browser: no psutil, one core, and no threads that can be started."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import recnb
from recnb.data import buckets, join, parallel
from recnb.data.parallel import in_turn
from tests.random_frames import random_frames

#: What is done before anything else is imported. Arrow reads its number of threads from
#: OMP_NUM_THREADS.
BROWSER = """
import os, sys, threading
os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.sched_getaffinity = lambda process: {0}
sys.modules["psutil"] = None
def refuse(thread):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
"""

#: A number, a report, a comparison, a lint, a widget, and tables that are read in parts.
ASKED = """
import pathlib, tempfile
import polars as pl
import recnb
from recnb.data import buckets

sample = recnb.datasets.load_sample()
recs, truth = sample.models["item-knn"], sample.test
ev = recnb.evaluate(recs, truth, train=sample.train, items=sample.items, users=sample.users)
print(repr(float(ev.ndcg(k=10))), ev.ndcg(k=10).interval())
print(ev.table(["ndcg", "novelty", "coverage"], k=[5, 10]))
print(ev.lint())
print(ev.explain("ndcg", "u026", k=10))
print(len(ev.report(k=[5, 10])._repr_html_()), len(recnb.playground()._repr_html_()))
print(recnb.compare(sample.recommendations, truth, baseline="popular").table(k=10))
buckets.WHOLE, buckets.SHARE, buckets.BLOCK, buckets.ROWS = 100, 0, 500, 500
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "recs.parquet")
    recs.to_parquet(path)
    streamed = recnb.evaluate(pl.scan_parquet(path), pl.from_pandas(truth).lazy())
    print(streamed.table(["ndcg", "recall"], k=[5, 10]))
    del streamed
"""


def printed(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_a_browser_gets_the_numbers_of_a_kernel() -> None:
    assert printed(BROWSER + ASKED) == printed(ASKED)


def _refuse_to_start(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", _refuse_to_start)
    monkeypatch.setattr(parallel, "n_cores", lambda: 4)


@pytest.mark.usefixtures("no_threads")
def test_pieces_are_done_one_after_the_other_where_no_thread_can_be_started() -> None:
    done: list[int] = []

    def do(piece: int) -> int:
        done.append(piece)
        return piece**2

    results = in_turn(range(5), do)
    assert (next(results), done) == (0, [0])
    assert [*results] == [1, 4, 9, 16]
    assert done == [0, 1, 2, 3, 4]


def test_many_blocks_give_the_numbers_of_one_without_threads(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    recs, truth = random_frames(np.random.default_rng(3), n_users=200)

    def per_user() -> Any:
        values = recnb.evaluate(recs, truth).ndcg(k=5).per_user
        return values.sort_index()

    of_one_block = per_user()
    monkeypatch.setattr(join, "BLOCK", 64)
    request.getfixturevalue("no_threads")
    assert per_user().equals(of_one_block)


def test_memory_is_a_round_number_without_psutil(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.setattr(buckets, "LIMITS", ())
    assert buckets.available_memory() == buckets.UNKNOWN_MEMORY == 2**30
