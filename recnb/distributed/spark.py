"""Spark DataFrames: users put into buckets, both frames cogrouped, and a function called of each bucket by a worker."""

# Spark need not be installed where types are checked.

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import pandas as pd
import polars as pl
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from recnb.comparison.models import register as register_engine
from recnb.data import Frame, Layout, Part, Source, table_of, validation
from recnb.data.parts import Parts
from recnb.display.language import current, use_language
from recnb.distributed import kernel
from recnb.distributed.evaluation import PartedEvaluation
from recnb.distributed.kernel import BUCKET, ROW, check_npartitions
from recnb.errors import FrameError, RecnbError
from recnb.evaluate import parse_options

T = TypeVar("T")

#: What a worker sends back: a pickled result in pieces, since a row of Spark holds 2 GB and a message of Connect less.
SCHEMA = "bucket int, piece int, bytes binary"

#: Bytes of a piece.
PIECE = 4 * 2**20

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress Spark's warning about newer versions of pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def evaluate(recs: Frame, truth: Frame, *, npartitions: int | None = None, **options: Any) -> PartedEvaluation:
    """Evaluate Spark DataFrames of recommendations and relevant items where they are; options are those of `recnb.evaluate`.

    Classic and Connect sessions serve; one of the two may be a frame that is here, such as a pandas one. `npartitions` is
    the number of parts that users are put into, each of which one worker holds in memory while it evaluates it; by default
    `spark.sql.shuffle.partitions`. To ask often, persist the frames.

    Spark keeps no order of rows: `ties="first"`, and `order="row"`, go by the order in which Spark reads its source. What
    should hold on every run needs a rank, or ties told apart by `ties="item_asc"`.

        evaluation = recnb.spark.evaluate(spark.table("recs"), spark.table("truth"), relevant_from=4)
        evaluation.table(["ndcg", "recall"], k=[5, 10])
    """
    given = parse_options(options)
    parts = SparkParts(recs, truth, given.columns, npartitions)
    return PartedEvaluation(parts, given)


class SparkParts(Parts):
    """Buckets of whole users, which Spark's workers are given."""

    where, remedy = "Spark DataFrames", "recnb.evaluate(recs.toPandas(), truth.toPandas())"

    def __init__(self, recs: Frame, truth: Frame, columns: Mapping[str, str | None], npartitions: int | None) -> None:
        session = _session(recs, truth)
        check_npartitions(npartitions)
        super().__init__(Layout.of(_names_of(recs), _names_of(truth), columns))
        left = by_role(recs, "recommendations", self.layout.recs_read, session)
        right = by_role(truth, "truth", self.layout.truth, session)
        check_types(left, "recommendations", self.layout.recs_read)
        check_types(right, "truth", self.layout.truth)
        same_kinds(left, right, self.layout)
        self._picked, self._n = (left, right), npartitions or _shuffled_into(session)

    def each(self, work: Callable[[Part], T]) -> Iterator[T]:
        """Call a function of each bucket, in a worker; results are in the order of buckets."""
        left, right = (numbered(rows, self._n).groupBy(BUCKET) for rows in self._picked)
        with _working():
            found = left.cogroup(right).applyInArrow(sent(work, self.layout), SCHEMA).collect()
        return received((row[0], row[1], row[2]) for row in found)

    def rows_of(self, users: pl.Series) -> Source:
        """Return the rows of some users."""
        wanted = fn.col("user").isin(users.to_list())
        with _working():
            # What is filtered before it is numbered can be left to the source.
            left, right = (numbered(rows.filter(wanted), 1).toArrow() for rows in self._picked)
        return kernel.read_part(left, right, self.layout).source


def sent(work: Callable[[Part], Any], layout: Layout) -> Callable[[tuple[Any, ...], pa.Table, pa.Table], pa.Table]:
    """Make the function of a bucket that Spark calls; errors of the data are returned like results.

    An exception would be tried again four times, and come back as text.
    """
    lang, size = current(), PIECE

    def of_bucket(key: tuple[Any, ...], recs: pa.Table, truth: pa.Table) -> pa.Table:
        with use_language(lang):
            try:
                made = pickle.dumps(kernel.call(work, recs, truth, layout), protocol=5)
            except RecnbError as problem:
                made = pickle.dumps(problem)
        pieces = [made[start : start + size] for start in range(0, len(made), size)]
        return pa.table(
            {
                "bucket": pa.array([key[0].as_py()] * len(pieces), pa.int32()),
                "piece": pa.array(range(len(pieces)), pa.int32()),
                "bytes": pa.array(pieces, pa.binary()),
            }
        )

    return of_bucket


def received(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[Any]:
    """Return the results of the workers in the order of buckets; raise the first error."""
    buckets: dict[int, dict[int, bytes]] = {}
    for bucket, piece, content in rows:
        buckets.setdefault(bucket, {})[piece] = bytes(content)
    for bucket in sorted(buckets):
        pieces = buckets.pop(bucket)
        made = pickle.loads(b"".join(pieces[piece] for piece in sorted(pieces)))
        if isinstance(made, RecnbError):
            raise made
        yield made


def register() -> None:
    """Make Spark DataFrames known to `recnb.compare`."""
    register_engine("pyspark", lambda recs, truth, options: evaluate(recs, truth, **options))


def _names_of(frame: Frame) -> Frame:
    """Return a frame without rows that has the columns of a Spark one; any other as it is."""
    return pd.DataFrame(columns=pd.Index(frame.columns, dtype=object)) if isinstance(frame, DataFrame) else frame


def by_role(frame: Frame, name: str, roles: Mapping[str, str], session: Any) -> DataFrame:
    """Return the columns that are read, named by role, as a Spark DataFrame."""
    if not isinstance(frame, DataFrame):
        return _sent(frame, name, roles, session)
    # By position: names may hold dots, or differ in case alone, which Spark would read otherwise.
    places = {column: str(place) for place, column in enumerate(frame.columns)}
    return frame.toDF(*places.values()).select(*(fn.col(places[column]).alias(role) for role, column in roles.items()))


def _sent(frame: Frame, name: str, roles: Mapping[str, str], session: Any) -> DataFrame:
    """Send a local frame to Spark."""
    table = validation.ids(table_of(frame, name, roles), name, roles)
    plain = [
        pl.col(role).cast(pl.String if dtype in (pl.Categorical, pl.Enum) else pl.Float64)
        for role, dtype in table.schema.items()
        if dtype in (pl.Categorical, pl.Enum, pl.Null) or dtype.is_unsigned_integer()
    ]
    with quiet():
        made: DataFrame = session.createDataFrame(table.with_columns(plain).to_arrow())
    return made


def numbered(rows: DataFrame, n: int) -> DataFrame:
    """With the place of each row, and the bucket of its user."""
    return rows.select(
        *(fn.col(role) for role in rows.columns),
        fn.monotonically_increasing_id().alias(ROW),
        fn.pmod(fn.hash(_hashed(rows)), fn.lit(n)).alias(BUCKET),
    )


def _hashed(rows: DataFrame) -> Any:
    """Users as one type on both sides, so that equal ids have equal hashes: 1 as an int, a bigint and a double."""
    kind, user = kind_of(rows.schema["user"].dataType), fn.col("user")
    if kind == "whole numbers":
        # As doubles, since a NaN is refused where it is read, and not by a cast; 0 is added to make 0 of -0.
        return user.cast("double") + fn.lit(0.0)
    return user.cast("string") if kind == "text" else user


def kind_of(dtype: DataType) -> str | None:
    """Describe ids of a type; None if they can be of no such type."""
    name = dtype.simpleString()
    if name in NUMBERS:
        return "whole numbers"
    return "text" if isinstance(dtype, StringType) or name.startswith(("char", "varchar")) else None


def check_types(rows: DataFrame, name: str, labels: Mapping[str, str]) -> None:
    """Refuse columns whose types can hold no ids, or no numbers."""
    for role, column in labels.items():
        dtype = rows.schema[role].dataType
        if role in validation.IDS and kind_of(dtype) is None:
            wanted = f"no {role} id, one a row, as text or whole numbers"
        elif role not in validation.IDS and isinstance(dtype, (ArrayType, MapType, StructType)):
            wanted = f"no {role}, which is a number"
        else:
            continue
        how = "F.explode makes a row of each element" if isinstance(dtype, ArrayType) else f"cast it, F.col({column!r})"
        raise FrameError(f"{name}: column {column!r} holds {dtype.simpleString()[:80]}, {wanted}: {how}.")


def same_kinds(recs: DataFrame, truth: DataFrame, layout: Layout) -> None:
    """Refuse ids of different types, which would never match."""
    for role in validation.IDS:
        left, right = (kind_of(rows.schema[role].dataType) for rows in (recs, truth))
        if left != right:
            frame, column = ("truth", layout.truth[role]) if left == "text" else ("recs", layout.recs[role])
            raise FrameError(
                f"the {role} ids are of different kinds: {left} in column {layout.recs[role]!r} of the recommendations, {right} in "
                f"column {layout.truth[role]!r} of the truth. They would never match. Make both text: "
                f"{frame} = {frame}.withColumn({column!r}, {frame}[{column!r}].cast('string'))."
            )


def _shuffled_into(session: Any) -> int:
    """Return the number of parts that Spark shuffles into; some platforms leave that to themselves."""
    said = str(session.conf.get("spark.sql.shuffle.partitions"))
    return int(said) if said.isdigit() else 200


def _session(recs: Frame, truth: Frame) -> Any:
    sides = {"recommendations": recs, "truth": truth}
    sessions = [frame.sparkSession for frame in sides.values() if isinstance(frame, DataFrame)]
    if not sessions:
        raise FrameError(
            f"neither frame is of Spark: recommendations is a {type(recs).__name__}, truth a {type(truth).__name__}. "
            "Give Spark DataFrames, one of them at least (a pandas-on-Spark one by frame.to_spark()), or type recnb.evaluate(recs, truth)."
        )
    if len({type(session) for session in sessions}) > 1:
        raise FrameError("one frame is of a Connect session, the other of a classic one: read both by one session.")
    return sessions[0]


@contextmanager
def _working() -> Iterator[None]:
    """Add the fix to errors of Spark that have one."""
    try:
        with quiet():
            yield
    except (PySparkException, Py4JError) as problem:
        raise _explained(problem) or problem from problem


def _explained(problem: Exception) -> RecnbError | None:
    """Return the fix for a failure of Spark that is not caused by the data."""
    text = str(problem)
    if "No module named 'recnb'" in text or 'No module named "recnb"' in text:
        return RecnbError(
            "Spark's Python workers cannot import recnb: install it where they run, or ship an environment that has it "
            "(spark.archives with venv-pack or conda-pack); on one machine set PYSPARK_PYTHON to this Python before the session starts."
        )
    if "maxResultSize" in text:
        return RecnbError(
            "hits, truth and counts of all users are more than the driver may take from its workers: start the session with a larger "
            "spark.driver.maxResultSize (1g by default; 0 is no limit) and enough spark.driver.memory, or ask .table "
            "and .curve, which bring sums."
        )
    return None
