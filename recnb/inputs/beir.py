"""A folder of BEIR: documents, queries and judgements, each in a file of its own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from recnb.data import files
from recnb.data.forms import Tables, form, hint
from recnb.data.names import RECS, TRUTH, Named
from recnb.data.tables import InputTable
from recnb.errors import FrameError

#: The file of documents or of queries, by the table that it is, and its column of ids.
TEXTS = {"items": ("corpus.jsonl", "document"), "users": ("queries.jsonl", "query")}
JUDGEMENTS = Path("qrels", "test.tsv")
#: The columns of a file of judgements.
OF_JUDGEMENTS = {"query-id", "corpus-id", "score"}


@form
def folder(thing: Any, name: str, named: Named) -> InputTable | None:
    """Read judgements of the test as the truth, documents as items, queries as users.

    Documents and queries may be named as files as well.
    """
    if not isinstance(thing, (str, os.PathLike)):
        return None
    is_folder = Path(thing, "qrels").is_dir()
    if name in TEXTS and (is_folder or str(thing).endswith(".jsonl")):
        file, label = TEXTS[name]
        return _texts(Path(thing, file) if is_folder else Path(thing), name, label)
    if not is_folder:
        return None
    if name != TRUTH:
        raise FrameError(
            f"{thing} is a folder of BEIR, which holds judgements, documents and "
            "queries, and no lists. Give it as the truth; as items= and users= for "
            "titles and texts."
        )
    rows: Any = files.read(_judgements(Path(thing)), None, named)
    ids = pl.col("query-id", "corpus-id").cast(pl.String)
    return InputTable.of_rows(name, rows.with_columns(ids))


def _judgements(folder: Path) -> Path:
    """Return the file of the judgements of the test."""
    judgements = folder / JUDGEMENTS
    others = sorted(folder.glob("qrels/*.tsv"))
    if not judgements.exists() and others:
        raise FrameError(
            f"there is no file {str(judgements)!r}, which is read of a folder of "
            f"BEIR. Name the judgements that are meant, such as {str(others[0])!r}."
        )
    return judgements


def _texts(file: Path, name: str, label: str) -> InputTable:
    """Read documents or queries; a document without a title has the beginning of its text."""
    rows: Any = files.read(file)
    table = InputTable.of_rows(name, rows)
    if not {"_id", "text"} <= {*table.columns}:
        return table
    title = pl.col("text")
    if name == "items":
        title = title.str.slice(0, 80).alias("title")
        if "title" in table.columns:
            is_titled = pl.col("title").str.strip_chars() != ""
            title = pl.when(is_titled).then("title").otherwise(title).alias("title")
    rows = rows.select(pl.col("_id").cast(pl.String).alias(label), title)
    return replace(table, frame=rows, columns=rows.columns)


@hint
def judgements(tables: Tables, named: Named) -> tuple[Tables, Named]:
    """Name the score of judgements as their relevance."""
    truth = tables.get(TRUTH, tables[RECS])
    if {*truth.columns} >= OF_JUDGEMENTS and "relevance" not in truth.by_role:
        return tables, {"relevance": ["score"], **named}
    return tables, named
