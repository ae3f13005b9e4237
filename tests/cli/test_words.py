"""The message of an error on the command line: that of Python, with the file of the frame that it begins with."""

from __future__ import annotations

import pickle
import re
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recnb.cli import main
from recnb.errors import ColumnError

FILES = {"model 'knn': ": "knn.csv", "recommendations": "als.csv", "truth": "t.csv"}


def test_errors_survive_the_way_from_a_worker() -> None:
    again = pickle.loads(pickle.dumps(ColumnError("truth has no column.", fix="Name it.", subject="ndcg: ")))
    assert type(again) is ColumnError
    assert str(again) == "ndcg: truth has no column. Name it."
    assert (again.statement, again.problem) == ("truth has no column. Name it.", "truth has no column.")


RECS: dict[str, list[Any]] = {"user": ["u", "u"], "item": ["a", "b"], "rank": [1, 2]}
TRUTH: dict[str, list[Any]] = {"user": ["u"], "item": ["b"], "relevance": [1.0]}


@pytest.mark.parametrize(
    ("recs", "truth", "words"),
    [
        ({"who": ["u"], "what": ["i"], "x": [0.5]}, TRUTH, "user='who', item='what', score='x'."),
        ({**RECS, "rank": [0, 1]}, TRUTH, "add 1."),
        ({**RECS, "item": ["a", None]}, TRUTH, "Drop that row."),
        ({**RECS, "item": [1, 2]}, TRUTH, "Make both text."),
        ({**RECS, "item": [2.0**60, 1.0]}, TRUTH, "as whole numbers or as text,"),
        ({**RECS, "item": ["a", "a"]}, TRUTH, "Drop the repeats; or say duplicates='dedupe'"),
        (RECS, {**TRUTH, "relevance": [None]}, "0 for not relevant; or drop the rows."),
        (RECS, {**TRUTH, "relevance": [-1.0]}, "if it means not relevant, set it to 0; Bpref"),
        (RECS, {**TRUTH, "relevance": [1e300]}, "Make the scale smaller."),
    ],
)
def test_errors_of_files_have_no_code_for_frames(recs: Any, truth: Any, words: str, tmp_path: Path) -> None:
    pd.DataFrame(recs).to_parquet(tmp_path / "lists.parquet")
    pd.DataFrame(truth).to_parquet(tmp_path / "truth.parquet")
    with redirect_stderr(StringIO()) as printed:
        assert main(["report", str(tmp_path / "lists.parquet"), str(tmp_path / "truth.parquet")]) == 2
    assert words in printed.getvalue()
    assert not re.search(r"\.\w+\(|frame[.\[]|recs[.\[]|dtype", printed.getvalue()), printed.getvalue()


def test_files_hold_what_frames_hold(tmp_path: Path) -> None:
    users = [f"u{at}" for at in range(10)]
    pd.DataFrame({"user": users, "recommended": [["a", "b"], ["b"]] * 5}).to_parquet(tmp_path / "lists.parquet")
    pd.DataFrame({"user": users, "item": "b"}).to_parquet(tmp_path / "truth.parquet")
    files = [str(tmp_path / name) for name in ("lists.parquet", "truth.parquet")]
    assert main(["report", *files, "--k", "2", "--fail-below", "mrr@2=0.75"]) == 0
    assert main(["report", *files, "--k", "2", "--fail-below", "mrr@2=0.76"]) == 1
