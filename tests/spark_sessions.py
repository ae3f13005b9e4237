"""Spark sessions of the tests; `python -m tests.spark_sessions connect` checks one that
needs a process of its own.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from tests.random_frames import METRICS, K, random_frames

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.maxResultSize": "32m",
}


def session(master: str, *, remote: bool = False) -> Any:
    """A session of this machine, without pages or bars."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = (
            SparkSession.builder.remote(master)
            if remote
            else SparkSession.builder.master(master)
        )
        for name, value in QUIET.items():
            builder = builder.config(name, value)
        made = builder.getOrCreate()
        if not remote:
            made.sparkContext.setLogLevel("ERROR")
        return made


def agree(made: Any, expected: Any) -> None:
    """Two tables hold the same numbers of the same users, to the last digits."""
    np.testing.assert_allclose(made.to_numpy(), expected.to_numpy(), rtol=0, atol=1e-12)
    assert made.attrs["basis"] == expected.attrs["basis"]
    assert list(made.columns) == list(expected.columns)
    assert list(made.index) == list(expected.index)


def connect() -> None:
    """A Connect session, whose frames are of another class."""
    import recnb.spark
    from recnb.errors import FrameError

    spark = session("local[2]", remote=True)
    recs, truth = random_frames(np.random.default_rng(1), text=True)
    left, right = spark.createDataFrame(recs), spark.createDataFrame(truth)
    assert type(left).__module__.startswith("pyspark.sql.connect")
    expected = recnb.evaluate(recs, truth)
    made = recnb.spark.evaluate(left, right)
    agree(made.table(METRICS, k=K), expected.table(METRICS, k=K))
    user = expected.users[2]
    assert (
        made.explain("ndcg", user, 5).value == expected.explain("ndcg", user, 5).value
    )
    np.testing.assert_allclose(
        made.err(k=5).per_user, expected.err(k=5).per_user, atol=1e-12
    )
    with pytest.raises(FrameError, match="item ids are of different kinds"):
        recnb.spark.evaluate(left, right.withColumn("item", right["relevance"])).ndcg(
            k=5
        )
    with pytest.raises(FrameError, match=r"pairs? of user and item (is|are) repeated"):
        recnb.spark.evaluate(left.union(left), right).table(["ndcg"], k=5)
    spark.stop()


if __name__ == "__main__":
    connect()
    print("agreed")
