"""The message of an error in the words of Python and in those of the command line, made of the same parts."""

from __future__ import annotations

import pickle
import re
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from recnb.cli import in_words, main
from recnb.errors import COLUMN, FRAME, Argument, Code, ColumnError, FrameError, FrameName, OptionError

FILES = {"recommendations": "als.csv", "truth": "t.csv", "model 'knn': ": "knn.csv"}


@pytest.mark.parametrize(
    ("argument", "python", "typed"),
    [
        (Argument("item", "sku"), "item='sku'", "--item sku"),
        (Argument("item", "the sku"), "item='the sku'", "--item 'the sku'"),
        (Argument("rank", COLUMN), "rank='...'", "--rank COLUMN"),
        (Argument("relevant_from", 4), "relevant_from=4", "--relevant-from 4"),
        (Argument("relevant_from"), "relevant_from=", "--relevant-from"),
        (Argument("k", [5, 10]), "k=[5, 10]", "--k 5 10"),
        (Argument("metrics", ["ndcg", "recall"]), "metrics=['ndcg', 'recall']", "--metrics ndcg recall"),
        (Argument("ties", "first"), "ties='first'", "--data-option ties=first"),
        (Argument("gain", "linear"), "gain='linear'", "--option gain=linear"),
        (Argument("normalize", value=True), "normalize=True", "--option normalize=True"),
        (Argument("users", "both"), "users='both'", "--data-option users=both"),
        (Argument("users", FRAME), "users=frame", "--users FILE"),
        (Argument("train", FRAME), "train=frame", "--train FILE"),
        (Argument("resamples", 10), "resamples=10", "resamples=10"),
        (Code("recs.rec.against(truth, train=frame)", Argument("train", FRAME)), "recs.rec.against(truth, train=frame)", "--train FILE"),
        (Code(": frame.dropna()"), ": frame.dropna()", ""),
    ],
)  # fmt: skip
def test_each_part_in_both_words(argument: Argument | Code, python: str, typed: str) -> None:
    error = OptionError("say ", argument, ".")
    assert str(error) == f"say {python}."
    assert in_words(error, {}) == f"say {typed}."


def test_frames_by_their_files() -> None:
    error = FrameError.of_column("recommendations", "score", "is text.", fix=("Say ", Argument("rank", COLUMN), "."))
    assert str(error) == "recommendations: column 'score' is text. Say rank='...'."
    assert in_words(error, FILES) == "recommendations (als.csv): column 'score' is text. Say --rank COLUMN."
    of_model = error.about("model 'knn': ")
    assert type(of_model) is FrameError
    assert str(of_model) == f"model 'knn': {error}"
    assert in_words(of_model, FILES).startswith("model 'knn': recommendations (knn.csv): column 'score'")
    assert in_words(FrameError(FrameName("items"), " is empty."), FILES) == "items is empty."
    assert in_words(OSError("no such\nfile"), FILES) == "no such file"


def test_parts_survive_the_way_from_a_worker() -> None:
    error = ColumnError(FrameName("truth"), " has no column.", fix="Name it.", subject="ndcg: ")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ColumnError
    assert str(again) == str(error) == "ndcg: truth has no column. Name it."
    assert again.statement == "truth has no column. Name it."
    assert in_words(again, FILES) == "ndcg: truth (t.csv) has no column. Name it."


def _refused(recs: dict[str, list[object]], truth: dict[str, list[object]], folder: Path) -> str:
    pd.DataFrame(recs).to_parquet(folder / "recs.parquet")
    pd.DataFrame(truth).to_parquet(folder / "truth.parquet")
    with redirect_stderr(StringIO()) as printed:
        assert main(["report", str(folder / "recs.parquet"), str(folder / "truth.parquet")]) == 2
    return printed.getvalue()


RECS: dict[str, list[object]] = {"user": ["u", "u"], "item": ["a", "b"], "rank": [1, 2]}
TRUTH: dict[str, list[object]] = {"user": ["u"], "item": ["b"], "relevance": [1.0]}


@pytest.mark.parametrize(
    ("recs", "truth", "words"),
    [
        ({"who": ["u"], "what": ["i"], "x": [0.5]}, TRUTH, "--user who, --item what, --score x."),
        (RECS, {"who": ["u"], "item": ["b"]}, "--user who."),
        ({**RECS, "item_id": ["a", "b"]}, TRUTH, "--item item."),
        ({"user": ["u"], "item": ["a"]}, TRUTH, "--data-option order=row"),
        ({**RECS, "rank": [0, 1]}, TRUTH, "add 1."),
        ({**RECS, "rank": [-1, -2]}, TRUTH, "--score rank"),
        ({**RECS, "item": ["a", None]}, TRUTH, "Drop that row."),
        ({**RECS, "item": ["a", "a"]}, TRUTH, "--data-option duplicates=dedupe"),
        ({**RECS, "item": [1, 2]}, TRUTH, "Make both text."),
        ({**RECS, "item": [2.0**60, 1.0]}, TRUTH, "as whole numbers or as text,"),
        ({**RECS, "score": [1, 2]}, TRUTH, "--data-option order=rank or --data-option order=score."),
        (RECS, {**TRUTH, "relevance": [None]}, "0 for not relevant; or drop the rows."),
        (
            RECS,
            {**TRUTH, "relevance": [-1.0]},
            "count it as 0 by --data-option negative_relevance=zero, as --convention trec does; if it means not relevant, set it to 0, which",
        ),
        (RECS, {**TRUTH, "relevance": [1e300]}, "Make the scale smaller."),
        (RECS, {"user": ["u", "u"], "item": ["b", "b"]}, "--data-option duplicates=dedupe"),
    ],
)
def test_remedies_are_in_words_of_the_command_line(
    recs: dict[str, list[object]], truth: dict[str, list[object]], words: str, tmp_path: Path
) -> None:
    said = _refused(recs, truth, tmp_path)
    assert words in said
    assert not re.search(r"\.\w+\(|\w='|frame\[|recs\[|dtype|\w=\.\.\.", said), said


@pytest.mark.parametrize(
    "recs",
    [{"user": ["u", "v"], "recommended": [["a", "b"], ["b"]]}, {"user": ["u", "v"], "1": ["a", "b"], "2": ["b", None]}],
    ids=["lists", "ranks"],
)
def test_files_hold_what_frames_hold(recs: dict[str, list[object]], tmp_path: Path) -> None:
    five, users = {name: values * 5 for name, values in recs.items()}, [f"u{at}" for at in range(10)]
    pd.DataFrame({**five, "user": users}).to_parquet(tmp_path / "recs.parquet")
    pd.DataFrame({"user": users, "item": "b"}).to_parquet(tmp_path / "truth.parquet")
    files = [str(tmp_path / name) for name in ("recs.parquet", "truth.parquet")]
    assert main(["report", *files, "--k", "2", "--fail-below", "mrr@2=0.75"]) == 0
    assert main(["report", *files, "--k", "2", "--fail-below", "mrr@2=0.76"]) == 1
