"""Runs and judgements in the files of TREC: six columns `query Q0 document rank score tag`, four `query 0 document relevance`.

Ids stay text, as trec_eval has them, so that `007` and `7` are two documents.
"""

from __future__ import annotations

import pandas as pd
import polars as pl

from recnb.data.files import File, beginning, content, lines_of
from recnb.errors import FrameError

RUN = ("user", "q0", "item", "rank", "score", "model")
QRELS = ("user", "iteration", "item", "relevance")

#: White space between columns, for C and so for trec_eval; a no-break space is part of an id.
BLANKS = " \t\r\x0b\x0c"


def read_trec_run(path: File, *, rank: bool = False) -> pd.DataFrame:
    """Read a run as a frame of recommendations: user (the query), item (the document), score, model (the tag).

    trec_eval puts documents in order by score and never reads the rank, which in many files does not agree with it; so
    the rank is left out unless asked for. Files may be compressed (.gz, .zst).
    """
    return read_trec(path, "run", rank=rank).to_pandas()


def read_trec_qrels(path: File) -> pd.DataFrame:
    """Read judgements as a frame of truth: user (the query), item (the document), relevance, below 0 for what was not judged."""
    return read_trec(path, "qrels").to_pandas()


def read_trec(path: File, kind: str, *, rank: bool = False) -> pl.DataFrame:
    """Read a run or qrels as a table; a broken line is refused.

    As in trec_eval, what follows the sixth column of a run is no part of it, and lines that begin with # are comments.
    """
    names = RUN if kind == "run" else QRELS
    shape = f"{len(names)} columns, {' '.join(names)}"
    text = lines_of(content(path)).str.strip_chars(BLANKS)
    words = text.str.replace_all(f"[{BLANKS}]+", " ").str.splitn(" ", len(names) + 1).struct.unnest()
    words.columns = [*names, "more"]
    table = words.with_columns(text.alias("text")).with_row_index("line", offset=1).filter(text.fill_null("") != "")
    whole = pl.col(names[-1]).is_not_null() & (pl.lit(value=True) if kind == "run" else pl.col("more").is_null())
    comment, value = pl.col("text").str.starts_with("#"), pl.col("score" if kind == "run" else "relevance")
    for broken, why in (
        (
            comment & whole & value.cast(pl.Float64, strict=False).is_not_null(),
            "may be a comment or a row: take out the line, or the # in front",
        ),
        (~comment & ~whole, f"is no {kind} of TREC, which has {shape}"),
    ):
        for line, held in table.filter(broken).select("line", "text").head(1).rows():
            raise FrameError(f"{path}: line {line}, {held[:120]!r}, {why}.")
    table = table.filter(~comment)
    if table.is_empty():
        raise FrameError(f"{path} is empty: a {kind} of TREC has {shape}.")
    if kind == "qrels":
        return table.select("user", "item", _numbers(table, path, "relevance", whole=True))
    ranks = [_numbers(table, path, "rank", whole=True)] if rank else []
    return table.select("user", "item", *ranks, _numbers(table, path, "score"), "model")


def kind_of(path: File) -> str | None:
    """Return the format of a text file by its first line: "run", "qrels" or None."""
    words = first_words(path)
    if len(words) >= len(RUN) and words[1].upper() in ("Q0", "0") and _is_number(words[4]):
        return "run"
    return "qrels" if len(words) == len(QRELS) and _is_number(words[3]) else None


def first_words(path: File) -> list[str]:
    """Return the words of the first line that is neither blank nor a comment."""
    lines = (line.split() for line in beginning(path).splitlines())
    return next((words for words in lines if words and not words[0].startswith("#")), [])


def _is_number(text: str) -> bool:
    return pl.Series([text]).cast(pl.Float64, strict=False).is_not_nan().all() is True


def _numbers(table: pl.DataFrame, path: File, name: str, *, whole: bool = False) -> pl.Series:
    numbers = table[name].cast(pl.Float64, strict=False)
    good = numbers.is_not_nan().fill_null(value=False)
    if whole:  # 1e3 and 0.5 are 1 and 0 for trec_eval
        good &= table[name].str.contains(r"^[-+]?\d{1,15}(\.0*)?$")
    if not good.all():
        row = int((~good).to_numpy().argmax())
        remedy = "whole number; other numbers belong in a table, such as a CSV file" if whole else "number"
        raise FrameError(
            f"{path}: line {table['line'][row]} has the {name} {table[name][row]!r}, which is no {remedy}."
        )
    return numbers.cast(pl.Int64) if whole else numbers
