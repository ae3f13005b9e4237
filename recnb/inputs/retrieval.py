"""What retrieval for language models leaves behind: lists in cells.

That is a list of lists, whose queries are numbered, or a log with a question a row: what
was retrieved for it, and what should have been.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.forms import Tables, form, hint, rows_of_lists, with_a_row_an_item
from recnb.data.names import OF_LISTS, RECS, TRUTH, Named
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
LABELS = {label for pair in PAIRS for label in pair}
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
    roles = {
        2: "user and item",
        3: "user, item and " + ("score" if name == RECS else "relevance"),
    }
    if len(widths) > 1 or not widths <= {*roles}:
        return
    words = roles[widths.pop()]
    names = words.replace(" and ", ", ").split(", ")
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
    lists = [label for label in thing if label in LABELS or label in of_lists]
    if not lists:
        return None
    fix = "Give each column a value for every question; one question alone as [log]."
    for label in lists:
        for cell in thing[label] if is_several(thing[label]) else [thing[label]]:
            if isinstance(cell, (str, int)):
                raise FrameError(
                    f"{name}: {label!r} of this dictionary holds {quoted(cell)}, where a "
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
def lists_of_documents(tables: Tables, named: Named) -> tuple[Tables, Named]:
    """Make rows of lists of documents, whose columns have usual names here."""
    recs, truth = tables[RECS], tables.get(TRUTH, tables[RECS])
    _refuse_other_lengths(recs, truth)
    found = _lists_in(recs, truth, named)
    if not found:
        return tables, named
    if "recommended" in found and TRUTH not in tables:
        _refuse_no_expected(found, recs, named)
    opened, columns = dict(tables), {**found, **named}
    opened[TRUTH] = replace(truth, name=TRUTH)
    if "user" not in named:
        queries = _queries_of(opened, found)
        if queries:
            columns["user"] = queries
    for name, role in OF_LISTS.items():
        is_log = role in found or TRUTH not in tables
        if is_log and not opened[name].has_role("user", columns):
            opened[name] = _with_queries(opened[name], columns)
        labels = [label for label in columns.get(role, ()) if label in LABELS]
        if labels and labels[0] in opened[name].columns:
            table = opened[name]
            opened[name] = with_a_row_an_item(table, columns, labels[0], "document")
            del columns[role]
    return opened, columns


def _queries_of(tables: Tables, found: Named) -> list[str]:
    """Return the columns that tell the rows of logs from each other."""
    queries: list[str] = []
    for name, role in OF_LISTS.items():
        if role in found and found[role][0] in tables[name].columns:
            query = _column_of_queries(tables[name])
            if query is not None and query not in queries:
                queries.append(query)
    return queries


def _with_queries(table: InputTable, named: Named) -> InputTable:
    """Return a log with a column of queries, which are numbered from 0."""
    if isinstance(table.frame, pd.DataFrame):
        rows: Any = table.frame.assign(query=np.arange(len(table.frame)))
    else:
        labels = [label for role in OF_LISTS.values() for label in named.get(role, ())]
        lists = table.select({one: one for one in labels if one in table.columns})
        rows = lists.with_columns(query=np.arange(lists.height))
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


def _lists_in(
    recs: InputTable, truth: InputTable, named: Named
) -> dict[str, list[str]]:
    """Return the columns of retrieved and of expected documents, by role."""
    ours, theirs = _labels_in(recs, named), _labels_in(truth, named)
    for retrieved, expected in PAIRS:
        if retrieved in ours and expected in theirs:
            return {"recommended": [retrieved], "relevant": [expected]}
    found: dict[str, list[str]] = {}
    for at, (role, labels) in enumerate((("recommended", ours), ("relevant", theirs))):
        present = [pair[at] for pair in PAIRS if pair[at] in labels]
        if present:
            found[role] = [present[0]]
    return found


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
    if not len(repeats):
        return query
    fix = "give each row one, frame.assign(query_id=range(len(frame)))"
    if table.made_by_recnb:
        fix += ", where frame is pandas.DataFrame(log)"
    for column in table.columns:
        if column not in (query, *LABELS) and _tells_apart(table, column):
            fix = f"type user={column!r}, which has another value in each row"
            break
    raise FrameError(
        f"{table.name}: {repeats[0]!r} is in more than one row of column {query!r}, "
        f"and each query has one list. {fix[0].upper()}{fix[1:]}."
    )


def _tells_apart(table: InputTable, column: str) -> bool:
    """Return whether a column has text or a whole number, another in each row."""
    try:
        values = table.select({column: column})[column]
    except FrameError:  # of several kinds
        return False
    is_id = values.dtype == pl.String or values.dtype.is_integer()
    return is_id and not values.null_count() and not values.is_duplicated().any()
