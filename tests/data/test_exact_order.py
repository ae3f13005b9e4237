"""Order, ids and thresholds are decided on the type that a column has, where floats would run values together."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import FrameError

TRUTH = pd.DataFrame({"user": [1, 2], "item": ["c", "c"]})

#: Scores that rise by less than a float tells apart.
CLOSE = {
    "int64": pl.Series([2**60, 2**60 + 1, 2**60 + 2]),
    "int64, below 0": pl.Series([-(2**60) - 2, -(2**60) - 1, -(2**60)]),
    "uint64": pl.Series([2**63, 2**63 + 1, 2**63 + 2], dtype=pl.UInt64),
    "nanoseconds": pl.Series([1_700_000_000_000_000_000 + at for at in range(3)]),
    "decimal": pl.Series([Decimal(f"0.1234567890123456789{at}") for at in range(3)]),
}


def lists(scores: pl.Series, rows: str) -> pl.DataFrame:
    """Two lists of a, b, c with these scores: c is the best, and stands last."""
    both = pl.concat([scores, scores])
    frame = pl.DataFrame({"user": [1, 1, 1, 2, 2, 2], "item": ["a", "b", "c"] * 2, "score": both})
    return frame if rows == "together" else frame[[0, 3, 1, 4, 2, 5]]


@pytest.mark.parametrize("rows", ["together", "apart"])
@pytest.mark.parametrize("kind", CLOSE)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "last"},
        {"ties": "item_asc"},
        {"ties": "expected"},
        {"ties": "worst"},
        {"candidates": "padded"},
        {"duplicates": "keep"},
        {"nonpositive_scores": "never_hit"},
    ],
    ids=str,
)
def test_close_scores_are_told_apart(kind: str, rows: str, options: dict[str, Any]) -> None:
    expected = 0.0 if "nonpositive_scores" in options and "below" in kind else 1.0
    ev = recnb.evaluate(lists(CLOSE[kind], rows), TRUTH, **options)
    assert ev.reciprocal_rank(k=3) == expected


@pytest.mark.parametrize("rows", ["together", "apart"])
@pytest.mark.parametrize("kind", CLOSE)
def test_ranks_that_close_scores_contradict(kind: str, rows: str) -> None:
    recs = lists(CLOSE[kind], rows).with_columns(rank=pl.col("item").rank("dense").cast(pl.Int64))
    with pytest.raises(FrameError, match="disagree in 4 places"):
        recnb.evaluate(recs, TRUTH)
    turned = recs.with_columns(rank=4 - pl.col("rank"))
    assert recnb.evaluate(turned, TRUTH).reciprocal_rank(k=3) == 1.0


@pytest.mark.parametrize("kind", CLOSE)
def test_close_scores_are_no_ties_to_the_lint(kind: str) -> None:
    found = recnb.evaluate(lists(CLOSE[kind], "together"), TRUTH).lint(k=3)
    assert not {"ties", "one_score", "upside_down"} & {one.name for one in found.findings}


def test_tied_whole_numbers_stay_tied() -> None:
    recs = lists(pl.Series([2**60, 2**60, 2**60]), "together")
    assert recnb.evaluate(recs, TRUTH, ties="expected").reciprocal_rank(k=3) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("grade", [0.1, 0.7, 3.5])
@pytest.mark.parametrize("options", [{}, {"ties": "expected"}], ids=str)
def test_threshold_meets_grades_of_any_precision(dtype: str, grade: float, options: dict[str, Any]) -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1]})
    truth = pd.DataFrame({"user": [1, 1], "item": [1, 2], "relevance": np.array([grade * 0.9, grade], dtype=dtype)})
    ev = recnb.evaluate(recs, truth, relevant_from=grade, **options)
    assert (ev.counts.n_relevant, ev.reciprocal_rank(k=2)) == (1, 0.5)


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 2**11), ("float32", 2**24), ("float64", 2**53)])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_float_ids_beyond_what_their_type_counts_are_refused(dtype: str, bound: int, kind: str) -> None:
    def frame(ids: list[int]) -> Any:
        columns = {"user": np.array([1, 1]), "item": np.array(ids).astype(dtype), "rank": np.array([1, 2])}
        return pd.DataFrame(columns) if kind == "pandas" else pl.DataFrame(columns)

    with pytest.raises(FrameError, match=r"not exact"):
        recnb.evaluate(frame([bound, bound + 1][::-1]), frame([1, 2]))
    assert recnb.evaluate(frame([bound - 1, 5]), frame([bound - 1, 7])).recall(k=1) == 0.5


@pytest.mark.filterwarnings("error")
def test_grades_whose_sums_would_overflow_are_refused() -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    truth = pd.DataFrame({"user": [1, 1], "item": [1, 2], "relevance": [1e308, 1e308]})
    with pytest.raises(FrameError, match=r"'relevance' holds 1e\+308 for user 1, item 1.*Make the scale smaller"):
        recnb.evaluate(recs, truth)
    truth["relevance"] /= truth["relevance"].max()
    assert recnb.evaluate(recs, truth).ndcg(k=2) == 1.0
    with pytest.raises(recnb.errors.RecnbError, match=r"1e\+308"):
        recnb.ndcg([1, 2], {1: 1e308, 2: 1e308})
    with pytest.raises(recnb.errors.RecnbError, match=r"1e\+308"):
        recnb.dcg([1e308, 1e308])


def test_exponential_gain_of_a_tiny_grade() -> None:
    assert float(recnb.dcg([1e-17], gain="exponential")) == pytest.approx(1e-17 * np.log(2), rel=1e-12)
    assert float(recnb.ndcg([1e-17, 2e-17], gain="exponential")) < 1
    assert float(recnb.dcg([3.0], gain="exponential")) == 7.0
