"""The kinds of frames that a law of rows elsewhere is tried on: read in batches,
Dask's, and Spark's where a session is asked for.
"""

import os
from functools import reduce
from types import SimpleNamespace

import numpy as np
import pytest

import recnb
from tests.random_frames import STREAMED, sized

ENGINES = [
    "dask",
    pytest.param(
        "spark",
        marks=[
            pytest.mark.spark,
            pytest.mark.filterwarnings(
                "ignore:PySpark does not yet fully support pandas:FutureWarning"
            ),
            pytest.mark.filterwarnings(
                "ignore::ResourceWarning",
                "ignore::pytest.PytestUnraisableExceptionWarning",
            ),
        ],
    ),
]


def pieces(frame, n):
    """Rows as they come, users torn apart; some pieces are empty."""
    edges = np.sort(
        np.random.default_rng(len(frame) + n).integers(0, len(frame) + 1, n - 1)
    )
    return [
        frame.iloc[a:b] for a, b in zip([0, *edges], [*edges, len(frame)], strict=True)
    ]


@pytest.fixture(scope="session")
def spark_session():
    if os.environ.get("RECNB_REQUIRE_ALL") != "1":
        pytest.importorskip("pyspark")
    from tests.spark_sessions import session

    made = session("local[2,4]")
    yield made
    made.stop()


def frames_of(request):
    """What a kind of frames has: how it is evaluated, and a frame of it made of one of
    pandas.
    """
    if request.param in STREAMED:
        sized(request.getfixturevalue("monkeypatch"))
        parted = STREAMED[request.param]
        yield SimpleNamespace(
            name=request.param,
            evaluate=recnb.evaluate,
            parted=lambda frame, n=4: parted(frame),
        )
    elif request.param == "dask":
        import dask
        import dask.dataframe as dd

        from recnb.dask import evaluate

        def from_pieces(frame, n=4):
            return dd.from_map(
                lambda piece: piece, pieces(frame, n), meta=frame.iloc[:0]
            )

        with dask.config.set(scheduler="sync"):
            yield SimpleNamespace(name="dask", evaluate=evaluate, parted=from_pieces)
    else:
        import pyarrow as pa

        from recnb.spark import evaluate

        session = request.getfixturevalue("spark_session")

        def united(frame, n=4):
            tables = (
                pa.Table.from_pandas(one, preserve_index=False)
                for one in pieces(frame, n)
            )
            return reduce(
                lambda one, other: one.union(other),
                map(session.createDataFrame, tables),
            )

        yield SimpleNamespace(name="spark", evaluate=evaluate, parted=united)


@pytest.fixture(params=[*STREAMED, *ENGINES])
def kind(request):
    yield from frames_of(request)


@pytest.fixture(params=ENGINES)
def engine(request):
    """A kind that computes nothing before a number is asked for, and leaves rows where
    they are.
    """
    yield from frames_of(request)
