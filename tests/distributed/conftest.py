"""The engines that a law is tried on: Dask here, Spark where a session is asked for."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

ENGINES = [
    "dask",
    pytest.param(
        "spark",
        marks=[
            pytest.mark.spark,
            pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
            pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
        ],
    ),
]


def pieces(frame, n):
    """Rows as they come, users torn apart; some pieces are empty."""
    edges = np.sort(np.random.default_rng(len(frame) + n).integers(0, len(frame) + 1, n - 1))
    return [frame.iloc[a:b] for a, b in zip([0, *edges], [*edges, len(frame)], strict=True)]


@pytest.fixture(scope="session")
def spark_session():
    if os.environ.get("RECNB_REQUIRE_ALL") != "1":
        pytest.importorskip("pyspark")
    from tests.spark_sessions import session

    made = session("local[2,4]")
    yield made
    made.stop()


@pytest.fixture(params=ENGINES)
def engine(request):
    """What an engine has: its module, and a frame of its own made of one of pandas."""
    if request.param == "dask":
        import dask
        import dask.dataframe as dd

        import recnb.dask

        def parted(frame, n=4):
            return dd.from_map(lambda piece: piece, pieces(frame, n), meta=frame.iloc[:0])

        with dask.config.set(scheduler="sync"):
            yield SimpleNamespace(name="dask", evaluate=recnb.dask.evaluate, parted=parted)
        return
    import pyarrow as pa

    import recnb.spark

    session = request.getfixturevalue("spark_session")

    def united(frame, n=4):
        first, *others = (
            session.createDataFrame(pa.Table.from_pandas(one, preserve_index=False)) for one in pieces(frame, n)
        )
        for other in others:
            first = first.union(other)
        return first

    yield SimpleNamespace(name="spark", evaluate=recnb.spark.evaluate, parted=united)
