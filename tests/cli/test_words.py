"""The message of an error in the words of Python and in those of the command line, made of the same parts."""

from __future__ import annotations

import pickle

import pytest

from recnb.cli import in_words
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
