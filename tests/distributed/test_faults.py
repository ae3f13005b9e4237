"""Workers that are lost, and sessions of other kinds."""

import os
import pathlib
import signal
import subprocess
import sys
import time
from functools import partial
from threading import Thread

import numpy as np
import pytest

from tests.random_frames import random_frames
from tests.spark_sessions import agree

ROOT = pathlib.Path(__file__).resolve().parents[2]
lossy = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.mark.slow
@lossy
def test_a_dask_worker_lost_in_mid_run_changes_nothing():
    import dask
    import dask.dataframe as dd
    import distributed

    import recnb.dask

    def slow(piece):
        time.sleep(0.3)
        return piece

    recs, truth = random_frames(np.random.default_rng(13), 200)
    left, right = (
        dd.from_map(
            slow,
            [one.iloc[rows] for rows in np.array_split(np.arange(len(one)), 8)],
            meta=one.iloc[:0],
        )
        for one in (recs, truth)
    )
    settings = {
        "distributed.comm.timeouts.connect": "10s",
        "distributed.worker.memory.terminate": False,
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as client,
        dask.config.set(scheduler="dask.distributed"),
    ):
        made = []
        asking = Thread(target=lambda: made.append(recnb.dask.evaluate(left, right)))
        asking.start()
        pids = client.run(os.getpid)
        while asking.is_alive() and sum(map(bool, client.who_has().values())) < 4:
            time.sleep(0.05)
        assert not made
        held = [workers[0] for workers in client.who_has().values() if workers]
        os.kill(pids[max(held, key=held.count)], signal.SIGKILL)
        asking.join(timeout=120)
        assert set(client.run(os.getpid).values()) != set(pids.values())
    table = made[0].table(["ndcg", "err"], [1, 5])
    agree(table, recnb.evaluate(recs, truth).table(["ndcg", "err"], [1, 5]))


def die_once(marker, part):
    """Kill the worker of the first call."""
    if not os.path.exists(marker):
        with open(marker, "w") as file:
            file.write("dead")
        os.kill(os.getpid(), signal.SIGKILL)
    return part.recs.rows.height


def broken(part):
    return 1 / 0


@pytest.mark.spark
@lossy
@pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)
def test_spark_starts_lost_tasks_again_and_raises_what_a_task_raises(
    spark_session, tmp_path
):
    import recnb.spark

    recs, truth = random_frames(np.random.default_rng(4))
    frames = map(spark_session.createDataFrame, (recs, truth))
    parts = recnb.spark.evaluate(*frames).source
    assert sum(parts.each(partial(die_once, str(tmp_path / "marker")))) == len(recs)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        list(parts.each(broken))


@pytest.mark.spark
def test_connect_sessions_give_the_numbers_of_pandas():
    if os.environ.get("RECNB_REQUIRE_ALL") != "1":
        pytest.importorskip("grpc")
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark_sessions", "connect"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.stdout.endswith("agreed\n"), done.stdout[-2000:] + done.stderr[-6000:]
