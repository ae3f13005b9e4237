"""Folders of BEIR, lists of lists and logs of a chatbot, all equal to the same frames."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recnb
from recnb.errors import ColumnError, FrameError
from tests.rows import hold_refused, read_rows

METRICS = ["ndcg", "recall", "mrr", "average_precision", "precision"]

#: Documents whose ids are whole numbers as text, as in many data sets of BEIR.
TITLES = {"100": "Salt", "101": "", "102": "Tin", "103": "Lead", "104": "Gold"}
JUDGED = [("1", "100", 2), ("1", "103", 0), ("2", "102", 1), ("3", "104", 1)]
RESULTS = {
    "1": {"103": 0.9, "100": 0.8, "101": 0.7},
    "2": {"102": 0.6, "104": 0.5},
    "3": {"100": 0.4, "102": 0.3},
}
TRUTH = pd.DataFrame(JUDGED, columns=["user", "item", "relevance"])
QRELS = TRUTH.set_axis(["query-id", "corpus-id", "score"], axis=1)
RECS = pd.DataFrame(
    [
        (query, document, score)
        for query, scores in RESULTS.items()
        for document, score in scores.items()
    ],
    columns=["user", "item", "score"],
)
RETRIEVED = [
    {"query_id": query, "retrieved_ids": [*scores]} for query, scores in RESULTS.items()
]
LOG = read_rows("data/log.toml")["rows"]
WITH_IDS = [
    {**row, "retrieved_context_ids": [*pair], "reference_context_ids": [pair[0]]}
    for row, pair in zip(LOG, ("ab", "cd"), strict=True)
]
#: Calls and what they come to, and forms of a log.
ROWS = read_rows("data/retrieval.toml")
REFUSED = read_rows("data/retrieval_refused.toml")


def numbers(*given: Any, **options: Any) -> Any:
    return recnb.evaluate(*given, **options).table(METRICS, k=[1, 2, 3]).to_numpy()


def expected_of(log: list[dict[str, Any]], retrieved: str, expected: str) -> Any:
    """Return the numbers of a log, by mappings of the number of its row."""
    return numbers(
        {number: row[retrieved] for number, row in enumerate(log)},
        {number: row[expected] for number, row in enumerate(log)},
    )


def without(*columns: str) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name not in columns}
        for row in LOG
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a folder of BEIR."""
    lines = [
        {"_id": document, "title": title, "text": f"All about {document}."}
        for document, title in TITLES.items()
    ]
    (tmp_path / "qrels").mkdir()
    _write_lines(tmp_path / "corpus.jsonl", lines)
    queries = [{"_id": query, "text": f"Question {query}?"} for query in RESULTS]
    _write_lines(tmp_path / "queries.jsonl", queries)
    QRELS.to_csv(tmp_path / "qrels" / "test.tsv", sep="\t", index=False)
    return tmp_path


def _write_lines(file: Path, lines: list[dict[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize("call", ROWS["calls"])
def test_a_call_comes_to(call: str, folder: Path) -> None:
    names = {**globals(), "folder": folder}
    assert eval(call, names) == eval(ROWS["calls"][call])


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str, folder: Path) -> None:
    hold_refused(call, REFUSED[call], {**globals(), "folder": folder})


# ---- BEIR


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "1\t100\t1\n2\t102\t1\n",
            "called '1'; rename all but one. If these are values",
        ),
        ("1\t100\t2\n", r"no column is known to be the user.*'1', '100', '2'"),
    ],
)
def test_judgements_without_a_header_are_refused(
    text: str, words: str, folder: Path
) -> None:
    (folder / "qrels" / "test.tsv").write_text(text)
    with pytest.raises(ColumnError, match=words):
        recnb.evaluate(RESULTS, folder)


def test_results_in_json_are_read_in_python(folder: Path) -> None:
    file = folder / "results.json"
    for text in (json.dumps(RESULTS), json.dumps(RESULTS, indent=1), json.dumps(LOG)):
        file.write_text(text)
        with pytest.raises(FrameError, match=r"json.loads\(path.read_text\(\)\)"):
            recnb.evaluate(file, folder)
    results = json.loads(json.dumps(RESULTS))
    assert (numbers(results, folder) == numbers(RECS, TRUTH)).all()


def test_a_folder_of_beir_is_a_truth_with_ids_of_text(folder: Path) -> None:
    expected = numbers(RECS, TRUTH)
    judgements = folder / "qrels" / "test.tsv"
    for truth in (folder, str(folder), judgements):
        assert (numbers(RESULTS, truth) == expected).all()
    RECS.to_csv(folder / "results.csv", index=False)
    assert (numbers(folder / "results.csv", folder) == expected).all()
    frame = pd.read_csv(judgements, sep="\t", dtype={"query-id": str, "corpus-id": str})
    assert (numbers(RESULTS, frame) == expected).all()
    assert (numbers(RESULTS, pl.from_pandas(frame)) == expected).all()


@pytest.mark.parametrize(("title", "shown"), [(None, "text"), (1984, "1984")])
def test_titles_that_are_missing_or_numbers(
    title: Any, shown: str, folder: Path
) -> None:
    lines = [{"_id": document, "title": title, "text": "text"} for document in TITLES]
    _write_lines(folder / "corpus.jsonl", lines)
    ev = recnb.evaluate(RESULTS, folder, items=folder)
    assert {*ev.user(ev.users[0], k=2)["title"]} == {shown}


def test_documents_and_queries_of_a_folder_have_titles_and_texts(folder: Path) -> None:
    ev = recnb.evaluate(RESULTS, folder, items=folder, users=folder)
    assert [*ev.user("1")["title"]] == ["Lead", "Salt", "All about 101."]
    assert ev.coverage(k=1) == 3 / 5
    assert repr(ev.user("1")).startswith("query 1 (Question 1?): found 1 of 1 relevant")
    worked = [
        ev.explain("ndcg", "1", k=1),
        ev.explain("diversity", "1", k=2, features="title"),
    ]
    assert all(" of query 1 (Question 1?) = " in repr(each) for each in worked)
    report = ev.report(k=1).to_markdown()
    assert all(f"**{query}** (Question {query}?)" in report for query in RESULTS)
    by_text = repr(ev.table("mrr", k=3, by="text"))
    assert all(f"Question {query}?" in by_text for query in RESULTS)


# ---- lists


documents = st.lists(st.integers(0, 9).map("d{}".format), unique=True, max_size=6)


@given(st.lists(st.tuples(documents, documents), min_size=1, max_size=8))
def test_lists_of_numbered_queries_are_mappings_by_number(pairs: Any) -> None:
    retrieved = [first for first, _second in pairs]
    expected = [second for _first, second in pairs]
    assume(any(first and second for first, second in pairs))
    wanted = numbers(dict(enumerate(retrieved)), dict(enumerate(expected)))
    assert (numbers(retrieved, expected) == wanted).all()
    assert (numbers(tuple(retrieved), [*map(set, expected)]) == wanted).all()
    arrays = [np.array(items, dtype=object) for items in retrieved]
    assert (numbers(arrays, dict(enumerate(expected))) == wanted).all()
    rows = [{"retrieved_ids": first, "expected_ids": second} for first, second in pairs]
    assert (numbers(rows) == wanted).all()


# ---- logs


class DataSet:
    """What data sets of Hugging Face and of ragas have in common."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame, with an array in each cell of lists."""
        return pl.DataFrame(self._rows).to_pandas()


def in_file(log: list[dict[str, Any]], folder: Path) -> Path:
    """Write a log into a file, and return its path."""
    path = folder / "log.parquet"
    pl.DataFrame(log).write_parquet(path)
    return path


@pytest.fixture(params=ROWS["forms"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """Return what makes a form of a log."""
    names = {**globals(), "folder": tmp_path}
    return lambda log: eval(ROWS["forms"][request.param], {**names, "log": log})


def test_a_log_is_a_list_for_each_question(make: Callable[..., Any]) -> None:
    wanted = expected_of(LOG, "retrieved_contexts", "reference_contexts")
    assert (numbers(make(LOG)) == wanted).all()
    assert (numbers(make(LOG), make(LOG)) == wanted).all()
    numbered = make(without("user_input", "user_id", "session_id"))
    assert (numbers(numbered) == wanted).all()
    assert recnb.evaluate(numbered).mrr().per_user.to_dict() == {0: 0.5, 1: 1.0}


def test_other_columns_of_a_log_tell_the_truth_and_the_split(
    make: Callable[..., Any],
) -> None:
    log = [
        {"retrieved": ["a", "b"], "ground_truth": ["b"], "day": 1},
        {"retrieved": ["c"], "ground_truth": ["c"], "day": 2},
    ]
    assert recnb.evaluate(make(log)).mrr().per_user.to_dict() == {0: 0.5, 1: 1.0}
    assert recnb.evaluate(make(log), split="day").mrr() == 0.75
    asked_twice = make([{"question": "who", **row} for row in log])
    assert recnb.evaluate(asked_twice, split="day").mrr() == 0.75


@pytest.mark.thin
@pytest.mark.parametrize("column", ["document", "item_id", "item"])
def test_a_column_named_like_items_does_not_matter_beside_lists(
    make: Callable[..., Any], column: str
) -> None:
    wanted = expected_of(LOG, "retrieved_contexts", "reference_contexts")
    extra = {column: "guide.pdf", "score": 0.5, "rank": 1}
    log = make([{**row, **extra} for row in LOG])
    assert (numbers(log) == wanted).all()
    truth = {row["user_input"]: row["reference_contexts"] for row in LOG}
    assert (numbers(log, truth) == wanted).all()


def test_a_question_of_which_nothing_is_expected_is_refused_where_it_counts(
    make: Callable[..., Any],
) -> None:
    log = make([*LOG, {**LOG[0], "user_input": "Hello", "reference_contexts": []}])
    assert recnb.evaluate(log).mrr() == 0.75
    assert recnb.as_in("haystack", "recall_multi_hit", LOG, k=5) == 0.75
    problem = (
        "truth: the list of 'Hello' is empty, and users with no relevant item count"
    )
    for call in (
        lambda: recnb.evaluate(log, no_relevant="zero"),
        lambda: recnb.as_in("mlflow", "recall", log, k=5),
        lambda: recnb.evaluate(log).under("mlflow").recall(5),
        lambda: recnb.evaluate(log).why("recall", 5, other="mlflow"),
    ):
        with pytest.raises(FrameError, match=problem):
            call()


def test_nothing_that_was_given_is_changed() -> None:
    frame = pd.DataFrame(without("user_input", "user_id", "session_id"))
    before = frame.copy(deep=True)
    log = json.dumps(LOG)
    recnb.evaluate(frame)
    recnb.evaluate(LOG)
    assert frame.equals(before)
    assert json.dumps(LOG) == log
