"""Frames that are refused where one call or a few words do not tell it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import recnb
from recnb.errors import FrameError
from tests.refused.names import RECS, TRUTH
from tests.refused.test_refused import refused
from tests.rows import read_rows


def test_files_that_cannot_be_scanned(tmp_path: Path) -> None:
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


BAD = read_rows("refused/bad_numbers.toml")["rows"]


@pytest.mark.thin
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(("role", "bad", "dtypes"), BAD)
def test_one_bad_number_is_refused_wherever_it_stands(role, bad, dtypes, place):
    numbers = [3, 2, 1]
    numbers[place] = None if bad == "missing" else bad
    for dtype in dtypes:
        values = pl.Series(numbers, dtype=getattr(pl, dtype), strict=False)
        rows = pl.DataFrame({"user": 1, "item": [1, 2, 3], role: values})
        frames = (RECS, rows) if role == "relevance" else (rows, TRUTH)
        with pytest.raises(FrameError, match=f"column '{role}' h"):
            recnb.evaluate(*frames)


def test_files_of_several_types(tmp_path: Path) -> None:
    for n, dtype in enumerate(("int64", "int32")):
        RECS.assign(rank=RECS["rank"].astype(dtype)).to_parquet(
            tmp_path / f"{n}.parquet"
        )
    with pytest.raises(FrameError, match=r"rank: [^,]*\. .* of the same types\.$"):
        recnb.evaluate(tmp_path, TRUTH)
