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
from tests.rows import read_rows

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
RECS = pd.DataFrame(
    [
        (query, document, score)
        for query, scores in RESULTS.items()
        for document, score in scores.items()
    ],
    columns=["user", "item", "score"],
)
LOG = read_rows("data/log.toml")["rows"]


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
    judged = pd.DataFrame(JUDGED, columns=["query-id", "corpus-id", "score"])
    judged.to_csv(tmp_path / "qrels" / "test.tsv", sep="\t", index=False)
    return tmp_path


def _write_lines(file: Path, lines: list[dict[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


# ---- BEIR


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1\t100\t1\n2\t102\t1\n", "If these are values, write names of columns"),
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


def test_judgements_of_score_0_are_not_relevant(folder: Path) -> None:
    truth = folder / "qrels" / "test.tsv"
    assert recnb.evaluate(RESULTS, truth).mrr(k=1) == 1 / 3
    assert recnb.evaluate(RESULTS, truth).ndcg(k=1).n_users == 3
    frame = pd.DataFrame(JUDGED, columns=["query-id", "corpus-id", "score"])
    assert recnb.evaluate(RESULTS, frame.drop(columns="score")).mrr(k=1) == 2 / 3
    ranked = frame.assign(label=[0, 1, 0, 0])  # which says of itself what it is
    assert recnb.evaluate(RESULTS, ranked).n_users == 1


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
    files = {"items": folder / "corpus.jsonl", "users": folder / "queries.jsonl"}
    again = recnb.evaluate(RESULTS, folder, **files)
    assert again.user("1").equals(ev.user("1"))


def test_a_folder_without_judgements_of_the_test_names_the_others(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    with pytest.raises(FrameError, match=r"no file .*test\.tsv") as raised:
        recnb.evaluate(RESULTS, folder)
    file = str(folder / "qrels" / "dev.tsv")
    assert repr(file) in str(raised.value)
    assert (numbers(RESULTS, file) == numbers(RECS, TRUTH)).all()


def test_a_folder_of_beir_holds_no_lists(folder: Path) -> None:
    for given_frames in ((folder, folder), (folder, None)):
        with pytest.raises(FrameError, match=r"no lists\. Give it as the truth"):
            recnb.evaluate(*given_frames)
    with pytest.raises(FrameError, match=r"no lists\. Give it as the truth"):
        recnb.evaluate(RESULTS, folder, train=folder)


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


def test_values_of_numbered_queries_stand_in_their_order() -> None:
    score = recnb.evaluate([["a", "b"], [], ["c"]], [["b"], ["a"], ["c"]]).mrr()
    assert score.per_user.to_dict() == {0: 0.5, 1: 0.0, 2: 1.0}
    assert score.per_user.index.name == "query"


# ---- logs


FORMS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "a list of dictionaries": list,
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "Polars, lazy": lambda log: pl.DataFrame(log).lazy(),
    "Arrow": lambda log: pl.DataFrame(log).to_arrow(),
    "a data set": lambda log: DataSet(log),
}


class DataSet:
    """What data sets of Hugging Face and of ragas have in common."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame, with an array in each cell of lists."""
        return pl.DataFrame(self._rows).to_pandas()


@pytest.mark.parametrize("form", FORMS)
def test_a_log_is_a_list_for_each_question(form: str) -> None:
    wanted = expected_of(LOG, "retrieved_contexts", "reference_contexts")
    make = FORMS[form]
    assert (numbers(make(LOG)) == wanted).all()
    assert (numbers(make(LOG), make(LOG)) == wanted).all()
    numbered = make(without("user_input", "user_id", "session_id"))
    assert (numbers(numbered) == wanted).all()
    assert recnb.evaluate(numbered).mrr().per_user.to_dict() == {0: 0.5, 1: 1.0}


@pytest.mark.parametrize("form", FORMS)
def test_other_columns_of_a_log_tell_the_truth_and_the_split(form: str) -> None:
    log = [
        {"retrieved": ["a", "b"], "ground_truth": ["b"], "day": 1},
        {"retrieved": ["c"], "ground_truth": ["c"], "day": 2},
    ]
    make = FORMS[form]
    assert recnb.evaluate(make(log)).mrr().per_user.to_dict() == {0: 0.5, 1: 1.0}
    assert recnb.evaluate(make(log), split="day").mrr() == 0.75
    asked_twice = make([{"question": "who", **row} for row in log])
    assert recnb.evaluate(asked_twice, split="day").mrr() == 0.75


def test_a_log_in_a_file(tmp_path: Path) -> None:
    wanted = expected_of(LOG, "retrieved_contexts", "reference_contexts")
    pl.DataFrame(LOG).write_parquet(tmp_path / "log.parquet")
    assert (numbers(tmp_path / "log.parquet") == wanted).all()


def test_ids_are_read_before_texts() -> None:
    ids = [("a", "b"), ("c", "d")]
    log = [
        {**row, "retrieved_context_ids": [*pair], "reference_context_ids": [pair[0]]}
        for row, pair in zip(LOG, ids, strict=True)
    ]
    assert recnb.evaluate(log).mrr() == 1.0
    assert recnb.evaluate(LOG).mrr() == 0.75
    named = {
        "recommended": "retrieved_contexts",
        "relevant": "reference_contexts",
    }
    assert recnb.evaluate(log, **named).mrr() == 0.75


def test_a_query_is_told_by_its_id_then_by_its_text_then_by_who_asked() -> None:
    def index_name(log: list[dict[str, Any]], **options: Any) -> object:
        return recnb.evaluate(log, **options).mrr().per_user.index.name

    with_ids = [{**row, "question_id": number} for number, row in enumerate(LOG)]
    assert index_name(with_ids) == "question_id"
    assert index_name(LOG) == "user_input"
    assert index_name(LOG, user="response") == "response"
    assert index_name(without("user_input", "session_id")[:1]) == "user_id"


@pytest.mark.thin
@pytest.mark.parametrize("column", ["document", "item_id", "item"])
@pytest.mark.parametrize("form", FORMS)
def test_a_column_named_like_items_does_not_matter_beside_lists(
    form: str, column: str
) -> None:
    wanted = expected_of(LOG, "retrieved_contexts", "reference_contexts")
    extra = {column: "guide.pdf", "score": 0.5, "rank": 1}
    log = FORMS[form]([{**row, **extra} for row in LOG])
    assert (numbers(log) == wanted).all()
    truth = {row["user_input"]: row["reference_contexts"] for row in LOG}
    assert (numbers(log, truth) == wanted).all()


def test_names_of_lists_are_given_by_keyword() -> None:
    log = [
        {"asked": row["user_input"], "hits": row["retrieved_contexts"], "gold": gold}
        for row, gold in zip(LOG, [LOG[0]["reference_contexts"], None], strict=True)
    ]
    names = {"user": "asked", "recommended": "hits", "relevant": "gold"}
    assert recnb.evaluate(log, **names).mrr() == 0.5
    retrieved = [{"retrieved": ["a", "b"], "gold": ["b"]}]
    assert recnb.evaluate(retrieved, relevant="gold").mrr() == 0.5


def test_a_question_without_its_lists_may_come_first() -> None:
    log = [{"user_input": "Who?"}, *LOG]
    assert (numbers(log) == numbers(LOG)).all()


def test_a_frame_of_items_keeps_its_columns_of_these_names() -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
    truth = pd.DataFrame({"user": [1], "item": ["b"], "expected": [3]})
    truth["retrieved"] = "yesterday"
    assert recnb.evaluate(recs, truth).mrr() == 0.5


def test_retrieved_lists_are_judged_by_a_truth_of_any_form(folder: Path) -> None:
    log = [
        {"query_id": query, "retrieved_ids": [*scores]}
        for query, scores in RESULTS.items()
    ]
    assert (numbers(log, folder) == numbers(RESULTS, TRUTH)).all()
    with_truth = [{**row, "relevant": ["100"]} for row in log]
    assert recnb.evaluate(with_truth).mrr() == numbers(with_truth)[2, 2]


def test_rows_with_ids_may_ask_one_question() -> None:
    frame = pd.DataFrame([*LOG, LOG[0]])
    ev = recnb.evaluate(frame.assign(query_id=range(len(frame))))
    assert ev.mrr().per_user.to_list() == [0.5, 1.0, 0.5]
    turns = [{**row, "turn": number} for number, row in enumerate([*LOG, LOG[0]])]
    ev = recnb.evaluate(turns, user="turn")
    assert ev.mrr().per_user.to_list() == [0.5, 1.0, 0.5]


@pytest.mark.parametrize("form", FORMS)
def test_a_question_of_which_nothing_is_expected_is_refused_where_it_counts(
    form: str,
) -> None:
    log = FORMS[form](
        [*LOG, {**LOG[0], "user_input": "Hello", "reference_contexts": []}]
    )
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
    numbered = [["a"], ["b"]], [["a"], []]
    assert recnb.evaluate(*numbered).mrr() == 1.0
    with pytest.raises(FrameError, match="the list of 1 is empty"):
        recnb.evaluate(*numbered, no_relevant="zero")
    judged = recnb.evaluate(*numbered, averaged_users="recs", no_relevant="zero")
    assert judged.mrr() == 0.5


def test_llama_index_says_that_it_refuses_a_question_without_truth() -> None:
    presets = recnb.conventions.metrics("llama-index")
    for metric in presets:
        assert "where a user of the truth has no list or no relevant item" in repr(
            recnb.as_in("llama-index", metric, LOG, k=5)
        )


def test_nothing_that_was_given_is_changed() -> None:
    frame = pd.DataFrame(without("user_input", "user_id", "session_id"))
    before = frame.copy(deep=True)
    log = json.dumps(LOG)
    recnb.evaluate(frame)
    recnb.evaluate(LOG)
    assert frame.equals(before)
    assert json.dumps(LOG) == log
