"""Evaluate Spark DataFrames where they are: `recnb.spark.evaluate(recs, truth).table(k=[5, 10])`.

The same conventions and the same numbers as with pandas, in classic and in Connect sessions.
Needs `pip install "recnb[spark]"`, Java, and recnb where Spark's Python workers run.
"""

from importlib import import_module as _import

try:
    _import("pyspark.sql")
except ImportError as problem:  # pragma: no cover
    raise ImportError('recnb.spark needs Spark 4: pip install "recnb[spark]"') from problem

from recnb.distributed.spark import evaluate, register

register()

__all__ = ["evaluate"]
