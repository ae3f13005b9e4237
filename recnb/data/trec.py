"""Runs and judgements in the files of TREC: six columns `query Q0 document rank score tag`, four `query 0 document relevance`.

Ids stay text, as trec_eval has them, so that `007` and `7` are two documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import polars as pl

from recnb.data import validation
from recnb.data.columns import Frame, find, table_of
from recnb.data.files import File, beginning, content, lines_of, replacing
from recnb.data.item_lists import of_mapping
from recnb.errors import ColumnError, FrameError

RUN = ("user", "q0", "item", "rank", "score", "model")
QRELS = ("user", "iteration", "item", "relevance")

#: White space between columns, for C and so for trec_eval; a no-break space is part of an id.
BLANKS = " \t\r\x0b\x0c"


def read_trec_run(path: File, *, rank: bool = False) -> pd.DataFrame:
    """A run as a frame of recommendations: user (the query), item (the document), score, model (the tag).

    trec_eval puts documents in order by score and never reads the rank, which in many files does not agree with it; so
    the rank is left out unless asked for. Files may be compressed (.gz, .xz, .bz2, .zst, .zip).
    """
    table = _read(path, RUN, "run")
    frame = table.select("user", "item", _numbers(table, path, "score"), "model").to_pandas()
    if rank:
        frame.insert(2, "rank", _numbers(table, path, "rank", whole=True).to_pandas())
    return frame


def read_trec_qrels(path: File) -> pd.DataFrame:
    """Judgements as a frame of truth: user (the query), item (the document), relevance, below 0 for what was not judged."""
    table = _read(path, QRELS, "qrels")
    return table.select("user", "item", _numbers(table, path, "relevance", whole=True)).to_pandas()


def write_trec_run(recs: Frame | Mapping[Any, Any], path: File, *, tag: str | None = None, **columns: str) -> None:
    """Write recommendations, a frame or a mapping by user, as a run; ranks without scores get scores that give the same order.

    `tag` names the run: the frame's model column if it has one, else "recnb". Columns are found and named as in
    `recnb.evaluate`. Scores that differ by less than a float can hold are written as whole numbers in the same order.
    """
    name = "recommendations"
    recs = of_mapping(recs, name) if isinstance(recs, Mapping) else recs
    labels = find(recs, name, ["user", "item"], columns, ["rank", "score", "model"])
    if not {"rank", "score"} & set(labels):
        raise ColumnError("recommendations have neither rank nor score: add frame['rank'], 1 for the top of each list.")
    table = table_of(recs, name, labels)
    if "rank" in labels:
        table = table.with_columns(validation.ranks(table, name, labels))
    scores = validation.scores(table, name, labels) if "score" in labels else -table["rank"].alias("score")
    floats = pl.Series("score", validation.in_floats(scores))
    ranks = ["rank"] if "rank" in labels else []
    table = table.with_columns(floats).sort("user", -pl.col("score"), *ranks, maintain_order=True)
    if not ranks:
        table = table.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    _checked_order(table, labels)
    if "model" in labels and table["model"].n_unique() > 1:
        names = ", ".join(map(repr, table["model"].unique(maintain_order=True).head(3).to_list()))
        raise FrameError(
            f"{name}: column {labels['model']!r} holds several models ({names}), and a run holds one: write a file for each, "
            f"frame[frame[{labels['model']!r}] == {table['model'][0]!r}]."
        )
    frame = table.to_pandas()
    if tag is not None or "model" not in labels:
        frame["model"] = tag or "recnb"
    frame["q0"] = "Q0"
    frame["score"] = frame["score"].map(repr)  # the shortest text that reads back as the same number
    _write(frame, RUN, path, name)


def _checked_order(table: pl.DataFrame, labels: dict[str, str]) -> None:
    """Refuse ranks that put items in another order than scores do; trec_eval would follow the scores."""
    falls = (pl.col("user") == pl.col("user").shift()) & (pl.col("rank") < pl.col("rank").shift())
    for row in table.select(falls.arg_true()).to_series().head(1).to_list():
        (_, upper), (user, lower) = table.select("user", "item")[row - 1 : row + 1].rows()
        raise FrameError(
            f"recommendations: {labels['rank']!r} and {labels['score']!r} disagree: user {user!r} has item {lower!r} at rank "
            f"{table['rank'][row]}, and {upper!r}, with a higher score, at rank {table['rank'][row - 1]}. Leave out the one that is "
            f"not the order, such as frame.drop(columns={labels['score']!r})."
        )


def write_trec_qrels(truth: Frame | Mapping[Any, Any], path: File, **columns: str) -> None:
    """Write judgements, a frame or a mapping by user, as qrels; every row counts 1 where there is no relevance. trec_eval reads whole numbers only."""
    truth = of_mapping(truth, "truth") if isinstance(truth, Mapping) else truth
    labels = find(truth, "truth", ["user", "item"], columns, ["relevance"])
    table = table_of(truth, "truth", labels).to_pandas()
    if "relevance" not in table:
        table["relevance"] = 1
    grades = table["relevance"].astype(float)
    if (broken := ~(grades % 1 == 0)).any():
        raise FrameError(
            f"truth: a relevance is {grades[broken].iloc[0]:g}, and qrels hold whole numbers: round them, or multiply "
            "them so that all are whole."
        )
    table["relevance"] = grades.astype("int64")
    table["iteration"] = "0"
    _write(table, QRELS, path, "truth")


def kind_of(path: File) -> str | None:
    """Return the format of a text file by its first line: "run", "qrels" or None."""
    words = first_words(path)
    if len(words) >= len(RUN) and words[1].upper() in ("Q0", "0") and _is_number(words[4]):
        return "run"
    return "qrels" if len(words) == len(QRELS) and _is_number(words[3]) else None


def first_words(path: File) -> list[str]:
    """The words of the first line that is neither blank nor a comment."""
    lines = (line.split() for line in beginning(path).splitlines())
    return next((words for words in lines if words and not words[0].startswith("#")), [])


def _is_number(text: str) -> bool:
    return pl.Series([text]).cast(pl.Float64, strict=False).is_not_nan().all() is True


def _read(path: File, names: tuple[str, ...], kind: str) -> pl.DataFrame:
    """All columns as text, and `line`, the number of each; a broken line is refused.

    As in trec_eval, what follows the sixth column of a run is no part of it, and lines that begin with # are comments.
    """
    shape = f"{len(names)} columns, {' '.join(names)}"
    text = lines_of(content(path)).str.strip_chars(BLANKS)
    words = text.str.replace_all(f"[{BLANKS}]+", " ").str.splitn(" ", len(names) + 1).struct.unnest()
    words.columns = [*names, "more"]
    table = words.with_columns(text.alias("text")).with_row_index("line", offset=1).filter(text.fill_null("") != "")
    whole = pl.col(names[-1]).is_not_null() & (pl.lit(value=True) if kind == "run" else pl.col("more").is_null())
    comment = pl.col("text").str.starts_with("#")
    value = pl.col(names[4] if kind == "run" else names[3]).cast(pl.Float64, strict=False)
    for broken, why in (
        (comment & whole & value.is_not_null(), "may be a comment or a row: take out the line, or the # in front"),
        (~comment & ~whole, f"is no {kind} of TREC, which has {shape}"),
    ):
        for line, held in table.filter(broken).select("line", "text").head(1).rows():
            raise FrameError(f"{path}: line {line}, {held[:120]!r}, {why}.")
    table = table.filter(~comment)
    if table.is_empty():
        raise FrameError(f"{path} is empty: a {kind} of TREC has {shape}.")
    return table


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


def _write(table: pd.DataFrame, names: tuple[str, ...], path: File, frame: str) -> None:
    table = table[list(names)].astype(str)
    for name in ("user", "item", "model"):
        if name in table and (broken := ~table[name].str.fullmatch(r"\S+")).any():
            raise FrameError(
                f"{frame}: the {name} {table[name][broken].iloc[0]!r} holds blanks or nothing, which this format has no way to write: "
                f"replace them, such as frame[{name!r}].str.replace(' ', '_')."
            )
    if (broken := table["user"].str.startswith("#")).any():
        raise FrameError(
            f"{frame}: the user {table['user'][broken].iloc[0]!r} begins with #, and such lines are comments in this format: "
            "write another sign, such as frame['user'].str.replace('#', 'n')."
        )
    with replacing(path) as file:
        table.to_csv(file, sep=" ", header=False, index=False, quoting=3, lineterminator="\n", encoding="utf-8")
