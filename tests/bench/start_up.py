"""What importing recnb costs, and its first call, each in a fresh process."""

from __future__ import annotations

import statistics
import subprocess
import sys

from tests.bench.measure import ROOT

PROGRAM = """
import time; import pandas as pd, polars
start = time.perf_counter(); import recnb; imported = time.perf_counter() - start
recs = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rank": [1, 2, 1, 2]})
truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
start = time.perf_counter(); recs.rec.against(truth).ndcg(k=2); called = time.perf_counter() - start
print(imported, called)
"""


def line(rounds: int = 7) -> None:
    """Print both."""
    command = [sys.executable, "-c", PROGRAM]
    runs = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(rounds)
    ]
    imported, called = (statistics.median(float(run[column]) for run in runs) for column in (0, 1))
    print(
        f"\n### Start-up\n\nImporting recnb takes {imported * 1000:.0f} ms beyond pandas and Polars, the first call on four "
        f"rows {called * 1000:.0f} ms (medians of {rounds} fresh processes)."
    )
