"""Evaluations of Spark DataFrames: users put into buckets, both frames cogrouped, each bucket evaluated by a worker, sums merged."""

# Spark need not be installed where types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import pandas as pd
import polars as pl
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from recnb.comparison.models import Engine
from recnb.comparison.models import register as register_engine
from recnb.conventions import Convention
from recnb.data import Facts, Frame
from recnb.data.parts import Kept
from recnb.distributed import kernel, spark_parts
from recnb.distributed.evaluation import PartedEvaluation, PartedScore
from recnb.distributed.kernel import BUCKET
from recnb.distributed.partial import Partial, Question
from recnb.distributed.spark_frames import (
    by_model,
    by_role,
    fits,
    floats,
    kind_of,
    names_of,
    numbered,
    quiet,
    same_kinds,
    unwrapped,
)
from recnb.errors import FrameError, RecnbError
from recnb.results.arguments import Metrics

#: The column that brings the scale of all users' grades to the workers.
SCALE = "recnb_scale"


def evaluate(recs: Frame, truth: Frame, *, npartitions: int | None = None, **options: Any) -> SparkEvaluation:
    """Spark DataFrames of recommendations and relevant items, evaluated where they are; options are those of `recnb.evaluate`.

    Classic and Connect sessions serve, and so do pandas-on-Spark DataFrames; one of the two may be a frame that is here,
    such as a pandas one. `npartitions` is the number of parts that users are put into, each of which one worker holds
    in memory while it evaluates it; by default `spark.sql.shuffle.partitions`.

    Spark keeps no order of rows: `ties="first"`, and `order="row"`, go by the order in which Spark reads its source. What
    should hold on every run needs a rank, or ties told apart by `ties="item_asc"`.

        evaluation = recnb.spark.evaluate(spark.table("recs"), spark.table("truth"), relevant_from=4)
        evaluation.table(["ndcg", "recall"], k=[5, 10])
    """
    return SparkEvaluation(recs, truth, options, npartitions)


class SparkScore(PartedScore):
    """A metric's mean over users of Spark DataFrames; `per_user` is a lazy Spark DataFrame: user, and the value."""


class SparkEvaluation(PartedEvaluation):
    """One model's data in Spark DataFrames; computed on the first number.

    What is asked in one call, several metrics at several cut-offs, is one question with one shuffle: `table`, the metrics and
    `curve` bring back sums, `per_user` is a lazy Spark DataFrame. `fetch()` brings hits, truth and counts of each user here,
    once, for `report`, `table(by=...)`, `detectable`, `lint`, `explore` and `recnb.compare`. To ask more often, `persist()`
    keeps the shuffled rows with Spark.

    Jobs are described by what they are for (`recnb: ndcg@10`), in Connect sessions by a tag, so Spark's pages and progress show it.
    """

    name: ClassVar[str] = "Spark"
    engine: ClassVar[str] = "Spark DataFrames"
    parts: ClassVar[str] = "parts of users"
    remedy: ClassVar[str] = "recnb.evaluate(recs.toPandas(), truth.toPandas())"
    scored: ClassVar[type[PartedScore]] = SparkScore

    def __init__(self, recs: Frame, truth: Frame, options: Mapping[str, Any], npartitions: int | None = None) -> None:
        recs, truth = unwrapped(recs), unwrapped(truth)
        session = _session(recs, truth)
        super().__init__(recs, truth, options, npartitions)
        self._session, layout = session, self._plan.layout
        left = by_role(recs, "recommendations", layout.recs_read, session)
        right = by_role(truth, "truth", layout.truth, session)
        same_kinds(left, right, (layout.recs_read, layout.truth))
        self._floats = (*floats(left, "recs", layout.recs), *floats(right, "truth", layout.truth))
        self._n = npartitions or _parts_of(session)
        self._picked, self._kept = (left, right), False
        self._rows = numbered(left, self._n), numbered(right, self._n)

    @staticmethod
    def _empty(frame: Any) -> Any:
        return names_of(frame)

    def persist(self) -> SparkEvaluation:
        """Keep the shuffled rows in Spark from the first call on, so that later ones need no shuffle; `unpersist()` frees them."""
        kept = SparkEvaluation(*self._given, self._options, self._n)
        left, right = (rows.repartition(self._n, BUCKET).persist() for rows in self._rows)
        kept._rows, kept._kept = (left, right), True
        return kept

    def unpersist(self) -> None:
        """Let go of the rows that `persist` keeps."""
        if self._kept:
            for rows in self._rows:
                rows.unpersist()

    def partial(self, metrics: Metrics = None, k: Any = None, **options: Any) -> Partial:
        """The sums of all users as a `Partial`, which adds up with others."""
        question, plan = self._question(metrics, k, options), self._plan
        top = self._scale(question) if question.needs_scale else None
        parts = self._received(lambda part: kernel.partial(part, question, top), " ".join(question.labels), question)
        return kernel.settled(kernel.added(parts), plan)

    def _values(self, question: Question, *, drop: bool = False) -> DataFrame:
        rows, scale, labels = self._rows, None, question.labels
        if question.needs_scale:
            top = self._scales(question).scalar()
            rows, scale = tuple(row.withColumn(SCALE, top) for row in rows), SCALE
        user = self._picked[0].schema["user"].dataType
        typed = LongType() if kind_of(user) == "whole numbers" else user
        schema = StructType([StructField("user", typed), *(StructField(label, DoubleType()) for label in labels)])
        work = spark_parts.values(self._plan, question, labels, drop=drop, scale=scale)
        return self._buckets(work, schema, rows)

    def _scales(self, question: Question) -> DataFrame:
        work = spark_parts.scales(self._plan, question)
        return self._buckets(work, "scale double", self._rows).agg(fn.max("scale").alias("scale"))

    def _scale(self, question: Question) -> float:
        found = self._collected(self._scales(question), f"{' '.join(question.labels)}, scale of grades")
        return float(found[0][0] or 0.0)

    def _gathered(self, convention: Convention) -> Iterable[Kept]:
        return self._received(lambda part: kernel.gathered(part, convention), "hits and counts of users")

    def _rows_of(self, users: pl.Series) -> tuple[Any, Any]:
        asked = users.to_list()
        if not all(fits(user, self._picked[0]) for user in asked):
            return pd.DataFrame(), pd.DataFrame()
        wanted = fn.col("user").isin(asked)
        kept = (rows.filter(wanted) for rows in self._rows)
        # What is filtered before it is numbered can be left to the source.
        read = (numbered(rows.filter(wanted), 1) for rows in self._picked)
        mine = kept if self._kept else read
        with self._working(f"rows of {len(asked)} users"):
            left, right = (rows.toArrow() for rows in mine)
        return left, right

    def _buckets(self, work: spark_parts.Work, schema: Any, rows: tuple[DataFrame, ...]) -> DataFrame:
        """A lazy frame of what the workers make of each bucket."""
        left, right = (row.groupBy(BUCKET) for row in rows)
        with quiet():
            return left.cogroup(right).applyInArrow(work, schema)

    def _received(self, ask: Any, said: str, question: Question | None = None) -> list[Any]:
        """Return the results of all buckets, in order; an error if there is no row of which to make one."""
        work = spark_parts.sent(ask, self._plan, question)
        rows = self._collected(self._buckets(work, spark_parts.SCHEMA, self._rows), said)
        if not rows:
            Facts().check(0, 0, self.convention, self._plan.layout)
        return list(spark_parts.received((row[0], row[1], row[2]) for row in rows))

    def _collected(self, frame: DataFrame, said: str) -> list[Any]:
        with self._working(said):
            return list(frame.collect())

    @contextmanager
    def _working(self, said: str) -> Iterator[None]:
        """Run a job under a description that Spark shows, and add the fix to errors that have one."""
        said = f"recnb: {said}"[:200]
        try:
            with quiet(), _described(self._session, said):
                yield
        except RecnbError:
            raise
        except Exception as problem:
            raise _explained(problem) or problem from problem


class SparkAccessor:
    """Evaluate recommendations in a pandas-on-Spark DataFrame: `psdf.rec.against(truth)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def against(self, truth: Any, *, npartitions: int | None = None, **options: Any) -> SparkEvaluation:
        """These recommendations against a frame of relevant items; options are those of `evaluate`."""
        return SparkEvaluation(self._frame, truth, options, npartitions)


def register() -> None:
    """Make Spark DataFrames known to `recnb.compare`, and `.rec` to pandas-on-Spark where that imports: pandas 3.1 has moved what it looks for."""
    register_engine("pyspark", Engine(SparkEvaluation, by_model, names_of))
    with quiet():
        try:
            from pyspark.pandas.extensions import register_dataframe_accessor
            from pyspark.pandas.frame import DataFrame as PandasOnSpark
        except ImportError:
            return
    if getattr(PandasOnSpark, "rec", None) is not SparkAccessor:
        register_dataframe_accessor("rec")(SparkAccessor)


def _parts_of(session: Any) -> int:
    """As many parts as Spark shuffles into; some platforms leave that to themselves."""
    said = str(session.conf.get("spark.sql.shuffle.partitions"))
    return int(said) if said.isdigit() else 200


def _session(recs: Frame, truth: Frame) -> Any:
    sides = {"recommendations": recs, "truth": truth}
    sessions = [frame.sparkSession for frame in sides.values() if isinstance(frame, DataFrame)]
    if not sessions:
        raise FrameError(
            f"neither frame is of Spark: recommendations is a {type(recs).__name__}, truth a {type(truth).__name__}. "
            "Give Spark DataFrames, one of them at least, or type recnb.evaluate(recs, truth)."
        )
    if len({type(session) for session in sessions}) > 1:
        raise FrameError("one frame is of a Connect session, the other of a classic one: read both by one session.")
    return sessions[0]


@contextmanager
def _described(session: Any, said: str) -> Iterator[None]:
    if type(session).__module__.startswith("pyspark.sql.connect"):
        tag = said.replace(",", ";")
        session.addTag(tag)
        try:
            yield
        finally:
            session.removeTag(tag)
        return
    context = session.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(said)
    try:
        yield
    finally:
        context.setJobDescription(before)


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
            "spark.driver.maxResultSize (1g by default; 0 is no limit) and enough spark.driver.memory, or ask .table, .curve "
            "and .per_user, which bring sums or stay with Spark."
        )
    return None
