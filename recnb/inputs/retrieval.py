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

from recnb.data.lists import ListCells
from recnb.data.names import IDS, LIST_ROLES, RECS, TRUTH, Named
from recnb.data.roles import columns_named, has_role
from recnb.data.tables import (
    FORMS,
    HINTS,
    InputTable,
    ListTable,
    MadeTable,
    Tables,
)
from recnb.errors import ColumnError, FrameError, listed, quoted

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


def list_of_lists(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read a list of lists, whose queries are numbered from 0."""
    kinds = (list, tuple, set, frozenset, np.ndarray)
    if not isinstance(thing, (list, tuple)) or not thing or name not in LIST_ROLES:
        return None
    if not all(isinstance(documents, kinds) for documents in thing):
        return None
    _refuse_rows(thing, name)
    queries = pl.Series("query", range(len(thing)))
    return ListCells(name, queries, thing, item="document").in_rows()


def _refuse_rows(thing: Any, name: str) -> None:
    """Refuse tuples that are all of two or all of three, as rows of a table are."""
    widths = {
        len(documents) if isinstance(documents, tuple) else 0 for documents in thing
    }
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


def refuse_columns(thing: Any, name: str, named: Named) -> None:
    """Refuse a log as a mapping of columns, of which some are lists of documents.

    It is asked as a form, before that of mappings by user, and makes no table.
    """
    is_mapping = isinstance(thing, Mapping) and name in LIST_ROLES
    if is_mapping and not LABELS.isdisjoint(thing):
        raise FrameError(
            f"{name} is a dictionary of columns, {listed(thing)}. Make a frame of it, "
            "pandas.DataFrame(columns); give one question alone as [question]."
        )


def name_columns_of_logs(tables: Tables, named: Named) -> tuple[Tables, Named]:
    """Name the columns of logs: queries, documents, and lists of both sides.

    Queries that have no column are numbered.
    """
    recs, truth = tables[RECS], tables.get(TRUTH, tables[RECS])
    _refuse_other_lengths(recs, truth)
    list_columns = _columns_of_documents(recs, truth, named)
    if not list_columns:
        return tables, named
    if "recommended" in list_columns and TRUTH not in tables:
        _refuse_no_expected(list_columns, recs, named)
    sides = {**tables, TRUTH: replace(truth, name=TRUTH)}
    columns = {**list_columns, "item": ["document"], **named}
    if "user" not in named:
        names = [name for name, role in LIST_ROLES.items() if role in list_columns]
        queries = [_column_of_queries(sides[name], named) for name in names]
        columns["user"] = [*dict.fromkeys(filter(None, queries))]
    for name, role in LIST_ROLES.items():
        is_log = role in list_columns or TRUTH not in tables
        if is_log and not has_role(sides[name], "user", columns):
            sides[name] = _with_queries(sides[name])
    return sides, columns


def _with_queries(table: InputTable) -> InputTable:
    """Return a log with a column of queries, which are numbered from 0."""
    rows = table.frame
    if isinstance(rows, pd.DataFrame):
        rows = rows.assign(query=np.arange(len(rows)))
    else:
        rows = rows.with_row_index("query")
    return replace(table, frame=rows, columns=[*table.columns, "query"])


def _refuse_other_lengths(recs: InputTable, truth: InputTable) -> None:
    """Raise an error for more lists on one side, where both are numbered."""
    n_recs, n_truth = _n_numbered(recs), _n_numbered(truth)
    if n_recs is None or n_truth is None or n_recs == n_truth:
        return
    lists = "1 list" if n_recs == 1 else f"{n_recs:,} lists"
    raise FrameError(
        f"recommendations hold {lists} and the truth {n_truth:,}, and lists of both "
        "belong together by their place. Give one of each for every query, in one order; "
        "[] where there is nothing."
    )


def _n_numbered(table: InputTable) -> int | None:
    """Return the number of lists whose queries are numbered; None of other tables."""
    if not isinstance(table, ListTable) or "query" not in table.columns:
        return None
    n_with_items: int = table.frame["query"].n_unique()
    return n_with_items + len(table.without_items)


def _columns_of_documents(
    recs: InputTable, truth: InputTable, named: Named
) -> dict[str, Sequence[str]]:
    """Return the columns of retrieved and of expected documents, by role."""
    of_recs, of_truth = _labels_in(recs, named), _labels_in(truth, named)
    for retrieved, expected in PAIRS:
        if retrieved in of_recs and expected in of_truth:
            return {"recommended": [retrieved], "relevant": [expected]}
    list_columns = {
        "recommended": [label for label in RETRIEVED if label in of_recs],
        "relevant": [label for label in EXPECTED if label in of_truth],
    }
    chosen = [labels[0] for labels in list_columns.values() if labels]
    if TEXTS.intersection(chosen) and any(label.endswith("_ids") for label in chosen):
        # Ids never equal texts: what was expected is not among these columns.
        list_columns["relevant"] = []
    return {role: labels[:1] for role, labels in list_columns.items() if labels}


def _labels_in(table: InputTable, named: Named) -> list[str]:
    """Return the columns of a table that hold lists of documents.

    A column that has a name of items, such as that of the document cited, does not matter
    beside lists.
    """
    labels = [column for column in table.columns if column in LABELS]
    if not labels or columns_named(table, "item", named):
        return []
    if "item" in table.by_role:
        of_lists = table.list_columns
        return [label for label in labels if label in of_lists]
    return labels


def _refuse_no_expected(list_columns: Named, recs: InputTable, named: Named) -> None:
    """Raise an error for a log that does not hold what should have been retrieved."""
    if "relevant" in {**list_columns, **named} or "relevant" in recs.by_role:
        return
    retrieved = list_columns["recommended"][0]
    expected = dict(PAIRS)[retrieved]
    raise ColumnError(
        f"column {retrieved!r} is what was retrieved, and there is no column of "
        f"what should have been. Columns: {listed(recs.columns)}. Add it, "
        f"{expected!r}, or name it, relevant='...'; or give a truth as well."
    )


def _column_of_queries(table: InputTable, named: Named) -> str | None:
    """Return the column of queries, each of which has one row; with a split, one in it."""
    usual = [*QUESTIONS, *table.by_role.get("user", [])]
    query = next((column for column in usual if column in table.columns), None)
    if query is None:
        return None
    by_list = [query, *columns_named(table, "split", named)]
    keys = table.select({column: column for column in by_list})
    repeats = keys[query].filter(keys.is_duplicated())
    if len(repeats):
        with_ids = "frame.assign(query_id=range(len(frame)))"
        if isinstance(table, MadeTable):
            with_ids += ", where frame is a pandas frame of these rows"
        raise FrameError(
            f"{table.name}: {repeats[0]!r} is in more than one row of column {query!r}, "
            f"and each query has one list. Give each row one, {with_ids}.",
            {with_ids: "in a column of numbers, 'query_id'"},
        )
    return query


FORMS[:0] = [refuse_columns, list_of_lists]
HINTS.append(({*LABELS, "document"}, name_columns_of_logs))
