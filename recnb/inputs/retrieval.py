"""What retrieval for language models leaves behind: lists in cells.

That is a list of lists, whose queries are numbered, or a log with a question a row: what
was retrieved for it, and what should have been.

    query  retrieved   expected      query  document  rank      query  document
    "Who"  ["a", "b"]  ["b"]     ->  "Who"  "a"       1    and  "Who"  "b"
                                     "Who"  "b"       2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.forms import Tables, form, hint, rows_of_lists, with_a_row_an_item
from recnb.data.names import IDS, OF_LISTS, RECS, TRUTH, Named
from recnb.data.tables import InputTable
from recnb.errors import ColumnError, FrameError, is_several, listed, quoted

#: Columns of what was retrieved, and of what should have been, as ragas and LlamaIndex
#: name them. Of several, ids come before texts.
PAIRS = (
    ("retrieved_context_ids", "reference_context_ids"),
    ("retrieved_ids", "expected_ids"),
    ("retrieved_contexts", "reference_contexts"),
    ("retrieved", "expected"),
)
RETRIEVED, EXPECTED = zip(*PAIRS, strict=True)
TEXTS = {"retrieved_contexts", "reference_contexts"}
LABELS = {*RETRIEVED, *EXPECTED}
#: Columns that tell the rows of a log from each other.
QUESTIONS = ("query_id", "question_id", "user_input", "question", "query")


@form
def numbered(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list of lists, whose queries are numbered from 0."""
    kinds = (list, tuple, set, frozenset, np.ndarray)
    if not isinstance(thing, (list, tuple)) or not thing or name not in OF_LISTS:
        return None
    if not all(isinstance(documents, kinds) for documents in thing):
        return None
    _refuse_rows(thing, name)
    queries = pl.DataFrame({"query": range(len(thing))})
    table = rows_of_lists(queries, [*thing], f"{name} holds", name)
    rows = table.frame.rename({"item": "document"})
    return replace(table, frame=rows, columns=rows.columns, n_numbered=len(thing))


def _refuse_rows(thing: Any, name: str) -> None:
    """Refuse tuples that are all of two or all of three, as rows of a table are."""
    widths = {len(one) if isinstance(one, tuple) else 0 for one in thing}
    if widths not in ({2}, {3}):
        return
    number = "score" if name == RECS else "relevance"
    names = [*IDS, number][: len(thing[0])]
    words = f"{', '.join(names[:-1])} and {names[-1]}"
    raise FrameError(
        f"{name} is a list of tuples such as {quoted(thing[0])}, each a row of {words}, or "
        f"the list of a query. Rows are pandas.DataFrame(rows, columns={names}); lists are "
        "[list(one) for one in lists]."
    )


@form
def log(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a mapping of columns, of which some are lists of documents."""
    if not isinstance(thing, Mapping) or name not in OF_LISTS:
        return None
    of_lists = [label for role in OF_LISTS.values() for label in named.get(role, ())]
    labels = [label for label in thing if label in LABELS or label in of_lists]
    if not labels:
        return None
    fix = "Give each column a value for every question; one question alone as [log]."
    for label in labels:
        column = thing[label]
        cells = column if is_several(column) else [column]
        wrong = [cell for cell in cells if isinstance(cell, (str, int))]
        if wrong:
            raise FrameError(
                f"{name}: {label!r} of this dictionary holds {quoted(wrong[0])}, where a "
                f"column of a log holds a list for each question. {fix}"
            )
    try:
        table = InputTable.of(pd.DataFrame(thing), name)
    except ValueError as problem:
        raise FrameError(
            f"{name}: the columns of this dictionary make no table: {problem}. {fix}"
        ) from problem
    return replace(table, made_by_recnb=True)


@hint
def logs(tables: Tables, named: Named) -> tuple[Tables, Named]:
    """Make a row a document of logs, by the usual names of their columns."""
    recs, truth = tables[RECS], tables.get(TRUTH, tables[RECS])
    _refuse_other_lengths(recs, truth)
    found = _columns_of_documents(recs, truth, named)
    if not found:
        return tables, named
    if "recommended" in found and TRUTH not in tables:
        _refuse_no_expected(found, recs, named)
    sides = {**tables, TRUTH: replace(truth, name=TRUTH)}
    columns = _with_queries_named(sides, found, named)
    for name, role in OF_LISTS.items():
        is_log = role in found or TRUTH not in tables
        if is_log and not sides[name].has_role("user", columns):
            sides[name] = _with_queries(sides[name], columns)
    return _unfolded(sides, columns)


def _with_queries_named(
    sides: Tables, found: Named, named: Named
) -> dict[str, Sequence[str]]:
    """Return the columns of lists, and those that tell the rows of logs apart."""
    columns = {**found, **named}
    if "user" in named:
        return columns
    names = [name for name, role in OF_LISTS.items() if role in found]
    queries = [_column_of_queries(sides[name]) for name in names]
    present = [*dict.fromkeys(filter(None, queries))]
    return {**columns, "user": present} if present else columns


def _unfolded(sides: Tables, named: Named) -> tuple[Tables, Named]:
    """Return tables with a row a document, and the columns left to be found."""
    rows, left = dict(sides), dict(named)
    for name, role in OF_LISTS.items():
        labels = [label for label in named.get(role, ()) if label in LABELS]
        if labels and labels[0] in sides[name].columns:
            rows[name] = with_a_row_an_item(sides[name], named, labels[0], "document")
            del left[role]
    return rows, left


def _with_queries(table: InputTable, named: Named) -> InputTable:
    """Return a log with a column of queries, which are numbered from 0."""
    if isinstance(table.frame, pd.DataFrame):
        rows: Any = table.frame.assign(query=np.arange(len(table.frame)))
    else:
        labels = [label for role in OF_LISTS.values() for label in named.get(role, ())]
        cells = table.select({one: one for one in labels if one in table.columns})
        rows = cells.with_columns(query=np.arange(cells.height))
    return replace(table, frame=rows, columns=[*rows.columns])


def _refuse_other_lengths(recs: InputTable, truth: InputTable) -> None:
    """Raise an error for more lists on one side, where both are numbered."""
    n_recs, n_truth = recs.n_numbered, truth.n_numbered
    if n_recs is None or n_truth is None or n_recs == n_truth:
        return
    lists = "1 list" if n_recs == 1 else f"{n_recs:,} lists"
    raise FrameError(
        f"recommendations hold {lists} and the truth {n_truth:,}, and lists of both "
        "belong together by their place. Give one of each for every query, in one order; "
        "[] where there is nothing."
    )


def _columns_of_documents(
    recs: InputTable, truth: InputTable, named: Named
) -> dict[str, Sequence[str]]:
    """Return the columns of retrieved and of expected documents, by role."""
    ours, theirs = _labels_in(recs, named), _labels_in(truth, named)
    for retrieved, expected in PAIRS:
        if retrieved in ours and expected in theirs:
            return {"recommended": [retrieved], "relevant": [expected]}
    found = {
        "recommended": [label for label in RETRIEVED if label in ours],
        "relevant": [label for label in EXPECTED if label in theirs],
    }
    first = [labels[0] for labels in found.values() if labels]
    if TEXTS.intersection(first) and any(label.endswith("_ids") for label in first):
        found["relevant"] = []  # ids are no texts
    return {role: labels[:1] for role, labels in found.items() if labels}


def _labels_in(table: InputTable, named: Named) -> list[str]:
    """Return the columns of a table that hold lists of documents.

    A column that has a name of items, such as that of the document cited, does not matter
    beside lists.
    """
    labels = [column for column in table.columns if column in LABELS]
    if not labels or not {*named.get("item", ())}.isdisjoint(table.columns):
        return []
    if "item" in table.by_role:
        return [label for label in labels if label in table.columns_of_lists()]
    return labels


def _refuse_no_expected(found: Named, log: InputTable, named: Named) -> None:
    """Raise an error for a log that does not hold what should have been retrieved."""
    if "relevant" in {**found, **named} or "relevant" in log.by_role:
        return
    retrieved = found["recommended"][0]
    expected = dict(PAIRS)[retrieved]
    raise ColumnError(
        f"column {retrieved!r} is what was retrieved, and there is no column of "
        f"what should have been. Columns: {listed(log.columns)}. Add it, "
        f"{expected!r}, or name it, relevant='...'; or give a truth as well."
    )


def _column_of_queries(table: InputTable) -> str | None:
    """Return the column that tells the rows of a log from each other, once each."""
    usual = [*QUESTIONS, *table.by_role.get("user", [])]
    query = next((column for column in usual if column in table.columns), None)
    if query is None:
        return None
    queries = table.select({"query": query})["query"]
    repeats = queries.filter(queries.is_duplicated())
    if len(repeats):
        raise _repeated_query(table, query, repeats[0])
    return query


def _repeated_query(table: InputTable, query: str, repeated: object) -> FrameError:
    """Return the error for a query in several rows."""
    fix = "Give each row one, frame.assign(query_id=range(len(frame)))"
    if table.made_by_recnb:
        fix += ", where frame is pandas.DataFrame(log)"
    for column in table.columns:
        if column not in (query, *LABELS) and _tells_apart(table, column):
            fix = f"Type user={column!r}, which has another value in each row"
            break
    return FrameError(
        f"{table.name}: {repeated!r} is in more than one row of column {query!r}, "
        f"and each query has one list. {fix}."
    )


def _tells_apart(table: InputTable, column: str) -> bool:
    """Return whether a column has text or a whole number, another in each row."""
    try:
        values = table.select({column: column})[column]
    except FrameError:  # of several kinds
        return False
    is_id = values.dtype == pl.String or values.dtype.is_integer()
    return is_id and not values.null_count() and not values.is_duplicated().any()
