"""The truth as a convention reads it: a relevance for each pair, and which of them are relevant."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.columns import roles_of, with_series
from recnb.metrics.hits import Floats

#: Names of columns that tell whether, how often or how much a user had an item.
AMOUNTS = (
    "purchases", "purchase", "purchased", "ispurchased", "bought", "isbought", "sold", "sales", "units", "unitssold",
    "quantity", "qty", "revenue", "spend", "spent", "amount", "n", "cnt", "count", "counts", "orders", "ordercount",
    "ordered", "clicks", "click", "clicked", "isclicked", "plays", "played", "playcount", "timesplayed", "views", "viewed",
    "viewcount", "watched", "watchtime", "listens", "listened", "listencount", "visits", "likes", "like", "liked",
    "isliked", "stars", "frequency", "freq", "weight", "strength", "interactions", "interaction", "interacted", "events",
    "conversions", "conversion", "converted", "engagement", "feedback", "response", "positive", "ispositive", "relevant",
    "isrelevant",
)  # fmt: skip
#: Grades on which libraries raise an error, by the words of the column `refuses` in presets.csv.
REFUSED_GRADES: dict[str, Callable[[pl.Series], bool]] = {
    "fractions": lambda grades: bool((grades % 1 != 0).any()),
    "negative grades": lambda grades: bool((grades < 0).any()),
    "negative integers": lambda grades: grades.dtype.is_integer() and bool((grades < 0).any()),
    "grades above 4": lambda grades: bool((grades > 4).any()),
    "grades above 30": lambda grades: bool((grades > 30).any()),
    "grades above 31": lambda grades: bool((grades > 31).any()),
}
#: Grades on which the number of a library follows no rule, by the words of the same column.
UNRULED_GRADES: dict[str, Callable[[pl.Series], bool]] = {
    "grades": lambda grades: bool((grades * (grades - 1) != 0).any()),
    "negatives": lambda grades: bool((grades < 0).any()),
}


def grades_of(truth: pl.DataFrame) -> pl.Series:
    """The relevance of each row as it was given, but True and False as 1 and 0; without a column of it, a single 1."""
    if "relevance" not in truth.columns:
        return pl.Series([1.0])
    grades = truth["relevance"]
    return grades.cast(pl.Int64) if grades.dtype == pl.Boolean else grades


def graded_truth(truth: pl.DataFrame, labels: Mapping[str, str], convention: Convention) -> pl.DataFrame:
    """Return the truth with a relevance for each pair (1 without a relevance column), each pair once."""
    return once(graded(truth, labels, convention), labels, convention)


def graded(truth: pl.DataFrame, labels: Mapping[str, str], convention: Convention) -> pl.DataFrame:
    """Return the truth with a relevance for each row, 1 without a relevance column."""
    if "relevance" in truth.columns:
        grades = validation.relevance(truth, "truth", labels, negative=convention.negative_relevance)
        threshold = convention.relevant_from
        if threshold is not None and truth["relevance"].dtype in (pl.Float32, pl.Float16):
            # 0.7 in single precision is a little below 0.7, and meant to reach it.
            with np.errstate(over="ignore"):
                rounded = [float(kind(threshold)) for kind in (np.float32, np.float16)]
            grades = pl.select(pl.when(pl.lit(grades).is_in(rounded)).then(threshold).otherwise(grades)).to_series()
        return with_series(truth, grades.alias("relevance"))
    return with_series(truth, pl.Series("relevance", np.ones(truth.height)))


def zeros_in(amounts: pl.Series) -> int:
    """How many values are 0, of numbers and of True and False."""
    known = amounts.dtype.is_numeric() or amounts.dtype == pl.Boolean
    return int((amounts.cast(pl.Float64) == 0).sum()) if known else 0


def top_of(judged: pl.DataFrame) -> float:
    """Return the top of the scale of grades: the highest relevance in the truth of all users."""
    highest = judged["relevance"].max()
    return max(float(highest), 0.0) if isinstance(highest, (int, float)) else 0.0


def once(truth: pl.DataFrame, labels: Mapping[str, str], convention: Convention) -> pl.DataFrame:
    """Return each pair once; repeated pairs raise an error or are merged, by the convention."""
    if convention.duplicates == "error":
        pair = f"{labels.get('user', 'user')!r}, {labels.get('item', 'item')!r}"
        drop = roles_of(labels).code(
            f"frame.drop_duplicates([{pair}])", f"frame.unique([{pair}], keep='first', maintain_order=True)"
        )
        dedupe = "duplicates='dedupe'"
        remedy = ("Keep one", drop, ", or ", dedupe, " to keep the highest relevance.")
        validation.no_pair_twice(truth, "truth", remedy)
    else:
        truth = truth.group_by("user", "item", maintain_order=True).agg(pl.col("relevance").max())
    return truth


def is_relevant(relevance: Floats, convention: Convention) -> NDArray[np.bool_]:
    """Whether judged items of these relevances count as relevant, shape (n,)."""
    if convention.relevant_from is not None:
        return relevance >= convention.relevant_from
    if convention.relevant == "any":
        return np.ones(len(relevance), dtype=bool)
    return relevance != 0 if convention.relevant == "!=0" else relevance > 0


def relevant_only(judged: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """The judged rows whose item counts as relevant."""
    return judged.filter(is_relevant(judged["relevance"].to_numpy(), convention))


def relevant_rows(judged: pl.DataFrame, recs: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """The relevant rows of the truth: all of them, or only those of recommended items."""
    lowest = judged["relevance"].min()
    usual = convention.relevant == ">0" and convention.relevant_from is None
    all_are = usual and isinstance(lowest, float) and lowest > 0
    relevant = judged if all_are else relevant_only(judged, convention)
    if convention.judged == "list":
        relevant = relevant.join(recs, on=["user", "item"], how="semi", maintain_order="left")
    return relevant
