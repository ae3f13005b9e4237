"""What retrieval for language models leaves behind, as frames with lists in their cells.

That is a list of lists, whose queries are numbered, or a log with a question a row: what
was retrieved for it, and what should have been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recnb.data.beir import IDS_OF_QRELS
from recnb.data.columns import (
    ENGINES,
    Columns,
    by_name,
    columns_of,
    named,
    table_of,
)
from recnb.data.sheet import RECS, TRUTH
from recnb.errors import (
    ColumnError,
    FrameError,
    NoRowsError,
    is_several,
    listed,
    quoted,
)

#: Columns of what was retrieved, and of what should have been, as ragas and LlamaIndex
#: name them. Of several, ids come before texts.
PAIRS = (
    ("retrieved_context_ids", "reference_context_ids"),
    ("retrieved_ids", "expected_ids"),
    ("retrieved_contexts", "reference_contexts"),
    ("retrieved", "expected"),
)
LISTS_OF = {
    RECS: ("recommended", [retrieved for retrieved, _expected in PAIRS]),
    TRUTH: ("relevant", [expected for _retrieved, expected in PAIRS]),
}
#: Columns that tell the rows of a log from each other.
QUESTIONS = ("query_id", "question_id", "user_input", "question", "query")
#: What the items of such lists are called.
DOCUMENT = "document"


def is_list_of_documents(label: str) -> bool:
    """Return whether a column of lists is one of retrieved or expected documents."""
    return any(label in labels for _role, labels in LISTS_OF.values())


# ---- as frames


def with_lists_as_frames(frames: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """Return frames in the place of lists, logs and data sets, by name."""
    _refuse_other_lengths(frames.get(RECS), frames.get(TRUTH))
    with_frames = dict(frames)
    for name in LISTS_OF:
        if name in frames:
            with_frames[name] = _as_frame(frames[name], name, columns)
    return with_frames


def _as_frame(given: Any, name: str, columns: Columns) -> Any:
    """Return a log, numbered lists or a data set as a frame, anything else as it is."""
    if isinstance(given, (list, tuple)) and not given:
        raise NoRowsError(f"{name}: there are no rows to evaluate, it is empty.")
    labels = _lists_of_log(given, columns)
    if labels and isinstance(given, Mapping):
        return _frame_of_columns(given, name, labels)
    if labels:
        return pd.DataFrame(given)
    if _are_numbered_lists(given):
        lists = pd.Series([*given], dtype=object)
        column = LISTS_OF[name][1][-1]
        return pd.DataFrame({"query": np.arange(len(lists)), column: lists})
    kind = type(given)
    is_of_engine = kind.__module__.split(".", 1)[0] in ENGINES
    if hasattr(kind, "__arrow_c_stream__") or is_of_engine:
        return given
    if hasattr(kind, "to_pandas"):  # a data set of Hugging Face, or of ragas
        return given.to_pandas()
    return given


def _lists_of_log(given: Any, columns: Columns) -> list[str]:
    """Return the names of lists in a list of records, or in a mapping of columns.

    They are known, or given by keyword; what has none of them is no log.
    """
    records = given if isinstance(given, (list, tuple)) else [given]
    if not all(isinstance(record, Mapping) for record in records):
        return []
    names = {name for record in records for name in record}
    labels = list[str]()
    for role, usual in LISTS_OF.values():
        labels += [label for label in [*usual, *named(columns, role)] if label in names]
    return labels


def _frame_of_columns(log: Mapping[Any, Any], name: str, lists: Sequence[str]) -> Any:
    """Return a mapping of columns as a frame; that of one question is refused."""
    fix = "Give each column a value for every question; one question alone as [log]."
    for label in lists:
        cells = log[label] if is_several(log[label]) else [log[label]]
        for cell in cells:
            if isinstance(cell, (str, int)):
                raise FrameError(
                    f"{name}: {label!r} of this dictionary holds {quoted(cell)}, where a "
                    f"column of a log holds a list for each question. {fix}"
                )
    try:
        return pd.DataFrame(log)
    except ValueError as problem:
        raise FrameError(
            f"{name}: the columns of this dictionary make no table: {problem}. {fix}"
        ) from problem


def _are_numbered_lists(given: Any) -> bool:
    """Return whether this is a list of the lists of queries."""
    if not isinstance(given, (list, tuple)):
        return False
    kinds = (list, tuple, set, frozenset, np.ndarray)
    return all(isinstance(documents, kinds) for documents in given)


def _refuse_other_lengths(recs: Any, truth: Any) -> None:
    """Raise an error for more lists on one side, where both are numbered."""
    if not _are_numbered_lists(recs) or not _are_numbered_lists(truth):
        return
    if len(recs) != len(truth):
        raise FrameError(
            f"recommendations hold {len(recs):,} lists and the truth "
            f"{len(truth):,}, and lists of both belong together by their place. Give "
            "one of each for every query, in one order; [] where there is nothing."
        )


# ---- their columns


def with_columns_named(
    frames: Mapping[str, Any], columns: Columns
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Name the columns of lists and of queries, beside those that keywords name.

    Also that of relevance in judgements of BEIR. Return frames as well, as the rows of
    a log without a column of queries are numbered.
    """
    roles = {role: label for role, label in columns.items() if label is not None}
    labels = {name: _labels_of(frames[name]) for name in LISTS_OF if name in frames}
    if _are_judgements_of_beir(labels.get(TRUTH, [])):
        roles.setdefault("relevance", "score")
    with_lists = {
        name: present if _has_lists(frames[name], present, roles) else []
        for name, present in labels.items()
    }
    lists = _lists_in(with_lists, roles)
    roles = {**lists, **roles}
    if not lists or "user" in roles:
        return dict(frames), roles
    with_queries, queries = dict(frames), list[str]()
    for name, (role, _usual) in LISTS_OF.items():
        columns_there = labels.get(name, [])
        if lists.get(role) not in columns_there:
            continue
        query = _column_of_queries(columns_there)
        if query is None:
            with_queries[name] = _with_rows_numbered(frames[name], name, lists)
            continue
        _refuse_repeated(frames[name], name, query)
        queries.append(query)
    if queries:
        roles["user"] = [*dict.fromkeys(queries)]
    return with_queries, roles


def _labels_of(frame: Any) -> list[str]:
    """Return the columns of a table; none of what is no table, or is refused later."""
    if isinstance(frame, (Mapping, pd.Series)):
        return []
    try:
        return columns_of(frame, "")
    except FrameError:
        return []


def _are_judgements_of_beir(columns: Sequence[str]) -> bool:
    """Return whether the score in a table is that of its judgements."""
    return {*IDS_OF_QRELS, "score"} <= {*columns} and not by_name(columns, "relevance")


def _has_lists(frame: Any, labels: Sequence[str], columns: Columns) -> bool:
    """Return whether a frame may hold lists of documents.

    A frame with a row an item does not. That a column has a name of items, such as that
    of the document cited, does not matter beside lists.
    """
    if not {*named(columns, "item")}.isdisjoint(labels):
        return False
    if not by_name(labels, "item"):
        return True
    return any(
        _holds_lists(frame, label) for label in labels if is_list_of_documents(label)
    )


def _holds_lists(frame: Any, label: str) -> bool:
    """Return whether the cells of a column are lists."""
    if isinstance(frame, pd.DataFrame):
        cells = frame[label].dropna()
        return len(cells) > 0 and is_several(cells.iloc[0])
    return table_of(frame, "", {label: label})[label].dtype.is_nested()


def _lists_in(labels: Mapping[str, list[str]], columns: Columns) -> dict[str, str]:
    """Return the columns of retrieved and of expected documents, by role.

    `labels`: the columns of the frames that may hold lists. One frame has both.
    """
    recs = labels[RECS]
    truth = labels.get(TRUTH, recs)
    for retrieved, expected in PAIRS:
        if retrieved in recs and expected in truth:
            return {"recommended": retrieved, "relevant": expected}
    lists = {}
    for name, (role, usual) in LISTS_OF.items():
        present = [label for label in usual if label in labels.get(name, [])]
        if present:
            lists[role] = present[0]
    if lists and TRUTH not in labels:
        _refuse_no_expected(lists["recommended"], recs, columns)
    return lists


def _refuse_no_expected(
    retrieved: str, labels: Sequence[str], columns: Columns
) -> None:
    """Raise an error for a log that does not hold what should have been retrieved."""
    if named(columns, "relevant") or by_name(labels, "relevant"):
        return
    expected = dict(PAIRS)[retrieved]
    raise ColumnError(
        f"column {retrieved!r} is what was retrieved, and there is no column of "
        f"what should have been. Columns: {listed(labels)}. Add it, "
        f"{expected!r}, or name it, relevant='...'; or give a truth as well."
    )


def _column_of_queries(columns: Sequence[str]) -> str | None:
    """Return the column that tells the rows of a log from each other."""
    usual = [*QUESTIONS, *by_name(columns, "user")]
    present = [label for label in usual if label in columns]
    return present[0] if present else None


def _with_rows_numbered(frame: Any, name: str, lists: Mapping[str, str]) -> Any:
    """Return a frame with a column of queries, which are numbered from 0."""
    if isinstance(frame, pd.DataFrame):
        return frame.assign(query=np.arange(len(frame)))
    present = columns_of(frame, name)
    roles = {label: label for label in lists.values() if label in present}
    table = table_of(frame, name, roles)
    return table.with_columns(query=np.arange(table.height))


def _refuse_repeated(frame: Any, name: str, query: str) -> None:
    """Raise an error for a question that is asked twice: it would have two lists."""
    questions = table_of(frame, name, {"query": query})["query"]
    repeats = questions.filter(questions.is_duplicated())
    if len(repeats):
        raise FrameError(
            f"{name}: {repeats[0]!r} is in more than one row of column {query!r}, "
            "and each query has one list. Name a column of ids, user='...'; or give "
            "each row one, frame.assign(query_id=range(len(frame))), where frame is "
            "pandas.DataFrame(log) of a list."
        )
