"""Workers of Spark that are lost, and sessions of other kinds."""

import os
import pathlib
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from tests.random_frames import random_frames

ROOT = pathlib.Path(__file__).resolve().parents[2]


def die_once(marker, part):
    """Kill the worker of the first call."""
    if not os.path.exists(marker):
        with open(marker, "w") as file:
            file.write("dead")
        os.kill(os.getpid(), signal.SIGKILL)
    return part.recs.height


def broken(part):
    return 1 / 0


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_starts_lost_tasks_again_and_raises_what_a_task_raises(spark_session, tmp_path):
    import recnb.spark

    recs, truth = random_frames(np.random.default_rng(4))
    parts = recnb.spark.evaluate(*map(spark_session.createDataFrame, (recs, truth)), npartitions=3)._parts
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
