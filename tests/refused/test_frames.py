"""Frames that are refused where one call or a few words do not tell it."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data.checks import GRADES, RANKS, SCORES
from recnb.data.sheet import Sheet
from recnb.errors import FrameError, OptionError
from tests.refused.names import LIKED, RANKED, RECS, TRUTH
from tests.refused.test_refused import refused


def test_a_lazy_frame_that_cannot_be_collected(tmp_path: Path) -> None:
    lazy = pl.from_pandas(RECS).lazy()
    broken = lazy.with_columns(pl.col("nope"))
    refused(
        lambda: recnb.evaluate(broken, TRUTH),
        FrameError,
        "recommendations cannot be read",
        "nope",
        "mend what it reads",
    )
    late = lazy.with_columns(pl.col("item").cast(pl.String) + "x").with_columns(
        pl.col("item").cast(pl.Int64)
    )
    refused(
        lambda: recnb.evaluate(RECS, late),
        FrameError,
        "truth cannot be read",
        "mend what it reads",
    )
    for n, name in enumerate(("0.parquet", f"{'long' * 50}.parquet")):
        RECS.assign(**{"more": n} if n else {}).to_parquet(tmp_path / name)
    files, none = pl.scan_parquet(tmp_path), pl.scan_parquet(tmp_path / "none")
    refused(
        lambda: recnb.evaluate(files, TRUTH),
        FrameError,
        "recommendations cannot be read",
        f"{name}'.",
    )
    refused(
        lambda: recnb.evaluate(none, TRUTH),
        FrameError,
        "recommendations cannot be read: No such file",
        "none",
    )


def test_users_is_a_frame_or_a_file_and_no_word() -> None:
    """In an evaluation, a comparison, and one frame with both sides alike."""
    for word, error, problem in (
        ("both", OptionError, "Type averaged_users='both'."),
        ("none.csv", FrameError, "there is no file 'none.csv'"),
    ):
        for call in (
            lambda word=word: recnb.evaluate(RANKED, LIKED, users=word),
            lambda word=word: recnb.compare(
                {"a": RANKED, "b": RANKED}, LIKED, users=word
            ),
            lambda word=word: RECS.rec.against(TRUTH, users=word),
        ):
            refused(call, error, problem)


@pytest.mark.parametrize("duplicates", ["dedupe", "keep", "rows", "hit_once"])
def test_a_rank_given_twice_is_told_of_the_items_that_share_it(duplicates) -> None:
    """`a` is repeated as well, at two ranks, which is no reason to refuse."""
    rows = {"user": "u", "item": ["a", "a", "b", "c"], "rank": [1, 3, 2, 2]}
    with pytest.raises(FrameError, match="user 'u' has 'b' and 'c' at rank 2"):
        recnb.evaluate(pd.DataFrame(rows), {"u": ["b"]}, duplicates=duplicates)


WHOLE_TYPES = [pl.Int64, pl.UInt32, pl.Int128]
FLOAT_TYPES = [pl.Float32, pl.Float64]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "role, bad, dtypes",
    [
        ("score", None, WHOLE_TYPES + FLOAT_TYPES),
        ("score", math.nan, FLOAT_TYPES),
        ("score", math.inf, FLOAT_TYPES),
        ("score", -math.inf, FLOAT_TYPES),
        ("rank", None, WHOLE_TYPES + FLOAT_TYPES),
        ("rank", 0, WHOLE_TYPES + FLOAT_TYPES),
        ("rank", 2**31 + 1, [pl.Int64, pl.Int128, pl.Float64]),
        ("rank", 1.5, FLOAT_TYPES),
        ("rank", math.nan, FLOAT_TYPES),
        ("relevance", None, WHOLE_TYPES + FLOAT_TYPES),
        ("relevance", -1, [pl.Int64, pl.Int128, *FLOAT_TYPES]),
        ("relevance", math.inf, FLOAT_TYPES),
        ("relevance", 1e101, [pl.Float64]),
        ("relevance", math.nan, FLOAT_TYPES),
    ],
)
def test_one_bad_number_is_refused_wherever_it_stands(role, bad, dtypes, place):
    numbers = [3, 2, 1]
    numbers[place] = bad
    for dtype in dtypes:
        rows = pl.DataFrame(
            {
                "user": [1, 1, 1],
                "item": [1, 2, 3],
                role: pl.Series(numbers, dtype=dtype, strict=False),
            }
        )
        sheet = Sheet("rows", rows, {})
        allowed = {"score": SCORES, "rank": RANKS, "relevance": GRADES["error"]}
        with pytest.raises(FrameError, match=role):
            sheet.numbers(role, allowed[role])
