"""Runs and qrels of TREC, to be read by recnb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl


def write_run(frame: Any, path: Path | str, tag: str = "recnb") -> None:
    """Write recommendations, with a rank or a score, as a run."""
    table = frame.to_pandas() if isinstance(frame, pl.DataFrame) else frame
    score = table["score"] if "score" in table else -table["rank"]
    columns = {
        "user": table["user"],
        "q0": "Q0",
        "item": table["item"],
        "rank": 1,
        "score": score.map(repr),
        "tag": tag,
    }
    pd.DataFrame(columns).to_csv(path, sep=" ", header=False, index=False)


def write_qrels(frame: Any, path: Path | str) -> None:
    """Write judgements as qrels."""
    grades = frame[
        "relevance"
        if "relevance" in frame
        else "rating"
        if "rating" in frame
        else "item"
    ]
    table = pd.DataFrame(
        {
            "user": frame["user"],
            "iteration": 0,
            "item": frame["item"],
            "relevance": grades,
        }
    )
    table.to_csv(path, sep=" ", header=False, index=False)
