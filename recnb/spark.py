"""Evaluate Spark DataFrames where they are.

`recnb.spark.evaluate(recs, truth).table(k=[5, 10])` has the same conventions and gives
the same numbers as with pandas, in classic and in Connect sessions; `recnb.compare`
takes Spark DataFrames from then on. Needs `pip install "recnb[spark]"`, Java, and recnb
where Spark's Python workers run.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import pandas as pd
import polars as pl
import pyarrow as pa

from recnb.data import Layout
from recnb.data.names import RECS, TRUTH
from recnb.data.parts import StoredRows
from recnb.display.language import N_, current, use_language
from recnb.distributed.evaluation import (
    BUCKET,
    ROW,
    call,
    evaluation_of,
    refuse_others,
    rows_of,
)
from recnb.errors import RecnbError
from recnb.evaluate import ENGINES
from recnb.evaluation import Evaluation

try:
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as fn
    from pyspark.sql.types import NumericType
except ImportError as problem:  # pragma: no cover
    raise ImportError(
        'recnb.spark needs Spark 4: pip install "recnb[spark]"'
    ) from problem

T = TypeVar("T")


def evaluate(recs: Any, truth: Any, **options: Any) -> Evaluation:
    """Evaluate Spark DataFrames of recommendations and relevant items where they are.

    Options are those of `recnb.evaluate`. Classic and Connect sessions serve. Users are
    put into `spark.sql.shuffle.partitions` parts, each of which one worker holds in
    memory while it evaluates it. To ask often, persist the frames.

    Spark keeps no order of rows: `ties="first"`, and `order="row"`, go by the order in
    which Spark reads its source. What should hold on every run needs a rank, or ties
    told apart by `ties="item_asc"`.

        recs, truth = spark.table("recs"), spark.table("truth")
        evaluation = recnb.spark.evaluate(recs, truth, relevant_from=4)
        evaluation.table(["ndcg", "recall"], k=[5, 10])
    """
    refuse_others(
        recs, truth, DataFrame, "a Spark DataFrame, spark.createDataFrame(frame)"
    )
    return evaluation_of(
        _columns_alone(recs),
        _columns_alone(truth),
        options,
        partial(Groups, recs, truth),
    )


class Groups(StoredRows):
    """Groups of whole users, which Spark's workers are given."""

    where = N_("Spark DataFrames")
    remedy = "recnb.evaluate(recs.toPandas(), truth.toPandas())"

    def __init__(self, recs: DataFrame, truth: DataFrame, layout: Layout) -> None:
        self._rows = {
            RECS: _by_role(recs, layout.recs_read),
            TRUTH: _by_role(truth, layout.truth_read),
        }
        self._n = _shuffle_partitions(recs.sparkSession)

    def each(self, work: Callable[[pl.DataFrame, pl.DataFrame], T]) -> Iterator[T]:
        """Call a function of each group, in a worker; results are in their order."""
        left, right = (
            _numbered(rows, self._n).groupBy(BUCKET) for rows in self._rows.values()
        )
        with warnings.catch_warnings():
            # Spark warns of pandas 3, which reads none of these rows.
            warnings.filterwarnings(
                "ignore", "PySpark does not yet fully support pandas", FutureWarning
            )
            in_worker = left.cogroup(right).applyInArrow(
                _sent(work), "bucket int, result binary"
            )
        for _bucket, pickled in sorted(in_worker.collect(), key=lambda row: row[0]):
            result = pickle.loads(pickled)
            if isinstance(result, RecnbError):
                raise result
            yield result

    def of_users(self, users: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows of some users."""
        wanted = fn.col("user").isin(users.to_list())
        # What is filtered before it is numbered can be left to the source.
        recs, truth = (
            rows_of(_numbered(rows.filter(wanted), 1).toArrow(), name)
            for name, rows in self._rows.items()
        )
        return recs, truth

    def distinct(self, name: str, roles: Sequence[str]) -> pl.DataFrame:
        """Return the values that some columns of a frame have together."""
        columns = (fn.col(f"`{role}`") for role in roles)
        distinct = self._rows[name].select(*columns).distinct().toArrow()
        return pl.DataFrame(pl.from_arrow(distinct))

    def first(self) -> pl.DataFrame:
        """Return a row of the lists."""
        return rows_of(_numbered(self._rows[RECS].limit(1), 1).toArrow(), RECS)


def _shuffle_partitions(session: Any) -> int:
    """Return Spark's number of partitions; 200 where a platform says "auto"."""
    n = str(session.conf.get("spark.sql.shuffle.partitions"))
    return int(n) if n.isdigit() else 200


def _sent(
    work: Callable[[pl.DataFrame, pl.DataFrame], Any],
) -> Callable[[tuple[Any, ...], pa.Table, pa.Table], pa.Table]:
    """Make the function of a group that Spark calls.

    Errors of the data are returned like results: an exception would be tried again four
    times, and come back as text.
    """
    lang = current()

    def of_bucket(key: tuple[Any, ...], recs: pa.Table, truth: pa.Table) -> pa.Table:
        with use_language(lang):
            try:
                result = call(work, recs, truth)
            except RecnbError as problem:
                result = problem
        pickled = pa.array([pickle.dumps(result, protocol=5)], pa.binary())
        bucket = pa.array([key[0].as_py()], pa.int32())
        return pa.table({"bucket": bucket, "result": pickled})

    return of_bucket


def _columns_alone(frame: DataFrame) -> pd.DataFrame:
    """Return the columns as a frame without rows."""
    return pd.DataFrame(columns=pd.Index(frame.columns, dtype=object))


def _by_role(frame: DataFrame, roles: Mapping[str, str]) -> DataFrame:
    """Return the columns that are read, by role."""
    # By position: names may hold dots, or differ in case alone, which Spark would read
    # otherwise.
    places = {column: str(place) for place, column in enumerate(frame.columns)}
    renamed = frame.toDF(*places.values())
    return renamed.select(
        *(fn.col(places[column]).alias(role) for role, column in roles.items())
    )


def _numbered(rows: DataFrame, n: int) -> DataFrame:
    """Add the place of each row, and the bucket of its user.

    Equal ids have one hash, 1 as an int, a bigint and a double.
    """
    user = fn.col("user")
    is_number = isinstance(rows.schema["user"].dataType, NumericType)
    hashed = user.cast("string")
    if is_number:
        hashed = user.cast("double") + fn.lit(0.0)  # which makes 0 of -0
    place = fn.monotonically_increasing_id().alias(ROW)
    bucket = fn.pmod(fn.hash(hashed), fn.lit(n)).alias(BUCKET)
    roles = (fn.col(f"`{role}`") for role in rows.columns)
    return rows.select(*roles, place, bucket)


ENGINES["pyspark"] = evaluate
