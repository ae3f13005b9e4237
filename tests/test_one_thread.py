"""Python as it is in a browser: one core, and no threads that can be started."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recnb.data import file_parts, tables

#: What is done before anything else is imported. Arrow reads its number of threads from
#: OMP_NUM_THREADS.
BROWSER = """
import os, sys, threading
os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.sched_getaffinity = lambda process: {0}
def refuse(thread):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
"""

#: A number, a report, a comparison, a lint, a widget, and tables that are read in parts.
ASKED = """
import pathlib, tempfile
import polars as pl
import recnb
from recnb.data import file_parts, tables

sample = recnb.datasets.load_sample()
recs, truth = sample.models["item-knn"], sample.test
ev = recnb.evaluate(recs, truth, train=sample.train, items=sample.items, users=sample.users)
print(repr(float(ev.ndcg(k=10))), ev.ndcg(k=10).interval())
print(ev.table(["ndcg", "novelty", "coverage"], k=[5, 10]))
print(ev.lint())
print(ev.explain("ndcg", "u026", k=10))
print(len(ev.report(k=[5, 10])._repr_html_()), len(recnb.playground()._repr_html_()))
print(recnb.compare(sample.recommendations, truth, baseline="popular").table(k=10))
tables.ROWS_IN_MEMORY, file_parts.N_PARTS = 500, 8
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


def test_a_browser_gets_the_numbers_of_a_kernel(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((tables, "ROWS_IN_MEMORY"), (file_parts, "N_PARTS")):
        value = getattr(module, name)
        monkeypatch.setattr(module, name, value)  # which the program sets
    exec(ASKED, {})
    assert printed(BROWSER + ASKED) == capsys.readouterr().out
