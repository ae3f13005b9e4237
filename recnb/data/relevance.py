"""The truth as a convention reads it: a relevance for each pair, and which of them are relevant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.columns import with_series
from recnb.metrics.hits import Floats


def grades_of(truth: pl.DataFrame) -> pl.Series:
    """Return the relevance of each row as it was given, but True and False as 1 and 0; without a column of it, a single 1."""
    if "relevance" not in truth.columns:
        return pl.Series([1.0])
    grades = truth["relevance"]
    return grades.cast(pl.Int64) if grades.dtype == pl.Boolean else grades


def graded(truth: pl.DataFrame, labels: Mapping[str, str], convention: Convention) -> pl.DataFrame:
    """Return the truth with a relevance for each row, 1 without a relevance column."""
    if "relevance" not in truth.columns:
        return with_series(truth, pl.Series("relevance", np.ones(truth.height)))
    grades = validation.relevance(truth, "truth", labels, negative=convention.negative_relevance)
    threshold = convention.relevant_from
    if threshold is not None and truth["relevance"].dtype in (pl.Float32, pl.Float16):
        # 0.7 in single precision is a little below 0.7, and meant to reach it.
        with np.errstate(over="ignore"):
            rounded = [float(kind(threshold)) for kind in (np.float32, np.float16)]
        grades = pl.select(pl.when(pl.lit(grades).is_in(rounded)).then(threshold).otherwise(grades)).to_series()
    return with_series(truth, grades.alias("relevance"))


def top_of(judged: pl.DataFrame) -> float:
    """Return the top of the scale of grades: the highest relevance in the truth of all users."""
    highest = judged["relevance"].max()
    return max(float(highest), 0.0) if isinstance(highest, (int, float)) else 0.0


def once(truth: pl.DataFrame, labels: Mapping[str, str], convention: Convention) -> pl.DataFrame:
    """Return each pair once; repeated pairs raise an error or are merged, by the convention."""
    if convention.duplicates == "error":
        validation.no_pair_twice(truth, "truth", labels)
        return truth
    return truth.group_by("user", "item", maintain_order=True).agg(pl.col("relevance").max())


def is_relevant(relevance: Floats, convention: Convention) -> NDArray[np.bool_]:
    """Return whether judged items of these relevances count as relevant, shape (n,)."""
    if convention.relevant_from is not None:
        return relevance >= convention.relevant_from
    if convention.relevant == "any":
        return np.ones(len(relevance), dtype=bool)
    return relevance != 0 if convention.relevant == "!=0" else relevance > 0


def relevant_only(judged: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """Return the judged rows whose item counts as relevant."""
    return judged.filter(is_relevant(judged["relevance"].to_numpy(), convention))


def relevant_rows(judged: pl.DataFrame, recs: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """Return the relevant rows of the truth: all of them, or only those of recommended items."""
    relevant = relevant_only(judged, convention)
    if convention.judged == "list":
        relevant = relevant.join(recs, on=["user", "item"], how="semi", maintain_order="left")
    return relevant
