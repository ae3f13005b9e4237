"""A folder of BEIR: documents, queries and judgements, each in a file of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from recnb.data import files
from recnb.data.names import RECS, TRUTH, Named
from recnb.data.tables import (
    FORMS,
    HINTS,
    InputTable,
    MadeTable,
    Tables,
    errors_name_frame,
    is_path,
)

#: The file of documents or of queries, by the table that it is, and its column of ids.
TEXTS = {"items": ("corpus.jsonl", "document"), "users": ("queries.jsonl", "query")}
#: The columns of a file of judgements.
OF_JUDGEMENTS = {"query-id", "corpus-id", "score"}


def folder(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read judgements of the test as the truth, documents as items, queries as users."""
    if not is_path(thing):
        return None
    given = Path(thing)
    if not os.path.isdir(given / "qrels"):
        return None
    if name in TEXTS:
        file, _id = TEXTS[name]
        return _texts(given / file, name)
    return _judgements(given, named) if name == TRUTH else None


def _judgements(root: Path, named: Named) -> InputTable:
    """Read the judgements of the test, with ids as text."""
    rows = files.read(root / "qrels" / "test.tsv", TRUTH, named).frame
    ids = pl.col("^(query|corpus)-id$").cast(pl.String)
    return MadeTable.of(rows.with_columns(ids), TRUTH)


def _texts(file: Path, name: str) -> InputTable:
    """Read documents or queries; a document without a title has the beginning of its text."""
    with errors_name_frame(str(file), files.FIX):
        rows = pl.read_ndjson(files.checked_input(file), infer_schema_length=None)
    if not {"_id", "text"} <= {*rows.columns}:  # an error later says what is missing
        return MadeTable.of(rows, name)
    shown = pl.col("text")
    if name == "items":
        shown = shown.str.slice(0, 80).alias("title")
        if "title" in rows.columns:
            is_titled = pl.col("title").cast(pl.String).str.strip_chars() != ""
            shown = pl.when(is_titled).then("title").otherwise(shown).alias("title")
    _file, label = TEXTS[name]
    ids = pl.col("_id").cast(pl.String).alias(label)
    return MadeTable.of(rows.select(ids, shown), name)


def name_relevance(tables: Tables, named: Named) -> tuple[Tables, Named]:
    """Name the scores of judgements as their relevance."""
    truth = tables.get(TRUTH, tables[RECS])
    if {*truth.columns} >= OF_JUDGEMENTS and "relevance" not in truth.by_role:
        return tables, {"relevance": ["score"], **named}
    return tables, named


FORMS.insert(0, folder)
HINTS.append(({"corpus-id"}, name_relevance))
