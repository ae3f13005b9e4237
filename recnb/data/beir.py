"""A folder of BEIR: documents, queries and judgements, each in a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from recnb.errors import FrameError

#: The file of documents or of queries, by the role of its ids, and their column.
TEXTS = {"item": ("corpus.jsonl", "document"), "user": ("queries.jsonl", "query")}
JUDGEMENTS = Path("qrels", "test.tsv")
#: The ids in files of judgements.
IDS_OF_QRELS = ("query-id", "corpus-id")


def is_beir(folder: str | Path) -> bool:
    """Return whether a path is a folder of BEIR."""
    return Path(folder, "qrels").is_dir()


def file_in(folder: str | Path, roles: Sequence[str], *, is_truth: bool) -> Path:
    """Return the file of a folder that is read for ids of these roles.

    The truth is the judgements of the test; documents are items, and queries users.
    """
    path = Path(folder)
    if len(roles) == 1:
        return path / TEXTS[roles[0]][0]
    if not is_truth:
        raise FrameError(
            f"{folder} is a folder of BEIR, which holds judgements, documents and "
            "queries, and no lists. Give it as the truth; as items= and users= for "
            "titles and texts."
        )
    judgements = path / JUDGEMENTS
    others = sorted(path.glob("qrels/*.tsv"))
    if not judgements.exists() and others:
        raise FrameError(
            f"there is no file {str(judgements)!r}, which is read of a folder of "
            f"BEIR. Name the judgements that are meant, such as {str(others[0])!r}."
        )
    return judgements


def with_roles(table: pl.DataFrame, roles: Sequence[str]) -> pl.DataFrame:
    """Name the columns of a file of BEIR by their roles; another is returned as it is.

    Ids are text. A document without a title has the beginning of its text.
    """
    if {*IDS_OF_QRELS} <= {*table.columns}:
        return table.with_columns(pl.col(IDS_OF_QRELS).cast(pl.String))
    if len(roles) != 1 or not {"_id", "text"} <= {*table.columns}:
        return table
    ids = pl.col("_id").cast(pl.String).alias(TEXTS[roles[0]][1])
    if "user" in roles:
        return table.select(ids, "text")
    beginning = pl.col("text").str.slice(0, 80)
    if "title" not in table.columns:
        return table.select(ids, title=beginning)
    is_titled = pl.col("title").str.strip_chars() != ""
    title = pl.when(is_titled).then("title").otherwise(beginning)
    return table.select(ids, title=title)
