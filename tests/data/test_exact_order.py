"""Order, ids and thresholds are decided on the type that a column has; columns of any type are tried by the law of test_attack."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import FrameError, RecnbError

#: Scores that rise by less than a float tells apart.
CLOSE = {
    "int64": pl.Series([2**60, 2**60 + 1, 2**60 + 2]),
    "uint64": pl.Series([2**63, 2**63 + 1, 2**63 + 2], dtype=pl.UInt64),
    "decimal": pl.Series([Decimal(f"0.1234567890123456789{at}") for at in range(3)]),
}


@pytest.mark.parametrize("kind", CLOSE)
def test_close_scores_are_no_ties(kind: str) -> None:
    """The last of three is the best; equal scores stay tied."""
    recs = pl.DataFrame({"user": 1, "item": ["a", "b", "c"], "score": CLOSE[kind]})
    truth = pl.DataFrame({"user": 1, "item": ["c"]})
    for options in ({}, {"ties": "expected"}, {"candidates": "padded"}, {"duplicates": "keep"}):
        assert recnb.evaluate(recs, truth, **options).reciprocal_rank(k=3) == 1.0
    found = recnb.evaluate(recs, truth).lint(k=3)
    assert not {"ties", "one_score", "upside_down"} & {one.name for one in found.findings}
    with pytest.raises(FrameError, match="disagree in 2 places"):
        recnb.evaluate(recs.with_columns(rank=pl.Series([1, 2, 3])), truth)
    equal = recs.with_columns(score=CLOSE[kind][[0, 0, 0]])
    assert recnb.evaluate(equal, truth, ties="expected").reciprocal_rank(k=3) == pytest.approx(11 / 18)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("grade", [0.1, 0.7, 3.5])
def test_threshold_meets_grades_of_any_precision(dtype: str, grade: float) -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1]})
    truth = recs[["user", "item"]].assign(relevance=np.array([grade * 0.9, grade], dtype=dtype))
    for ties in ("first", "expected"):
        ev = recnb.evaluate(recs, truth, relevant_from=grade, ties=ties)
        assert (ev.counts.n_relevant, ev.reciprocal_rank(k=2)) == (1, 0.5)


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 2**11), ("float32", 2**24), ("float64", 2**53)])
@pytest.mark.parametrize("library", [pd, pl])
def test_float_ids_beyond_what_their_type_counts_are_refused(dtype: str, bound: int, library: Any) -> None:
    def frame(ids: list[int]) -> Any:
        return library.DataFrame({"user": np.array([1, 1]), "item": np.array(ids).astype(dtype), "rank": [1, 2]})

    with pytest.raises(FrameError, match=r"not exact"):
        recnb.evaluate(frame([bound + 1, bound]), frame([1, 2]))
    assert recnb.evaluate(frame([bound - 1, 5]), frame([bound - 1, 7])).recall(k=1) == 0.5


@pytest.mark.filterwarnings("error")
def test_grades_whose_sums_would_overflow_are_refused() -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    truth = recs[["user", "item"]].assign(relevance=1e308)
    with pytest.raises(FrameError, match=r"'relevance' holds 1e\+308 for user 1, item 1.*Make the scale smaller"):
        recnb.evaluate(recs, truth)
    truth["relevance"] /= truth["relevance"].max()
    assert recnb.evaluate(recs, truth).ndcg(k=2) == 1.0
    for call in (lambda: recnb.ndcg([1, 2], {1: 1e308, 2: 1e308}), lambda: recnb.dcg([1e308, 1e308])):
        with pytest.raises(RecnbError, match=r"1e\+308"):
            call()


def test_exponential_gain_of_a_tiny_grade() -> None:
    assert float(recnb.dcg([1e-17], gain="exponential")) == pytest.approx(1e-17 * np.log(2), rel=1e-12)
    assert float(recnb.ndcg([1e-17, 2e-17], gain="exponential")) < 1
    assert float(recnb.dcg([3.0], gain="exponential")) == 7.0
