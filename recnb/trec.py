"""Runs and judgements in the files of TREC: six columns `query Q0 document rank score tag`, four `query 0 document relevance`.

Ids stay text, as trec_eval has them, so that `007` and `7` are two documents.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from recnb.errors import ColumnError, FrameError
from recnb.frames.read import Frame, find, table_of

File: TypeAlias = str | Path

RUN = ("user", "q0", "item", "rank", "score", "model")
QRELS = ("user", "iteration", "item", "relevance")


def read_trec_run(path: File, *, rank: bool = False) -> pd.DataFrame:
    """A run as a frame of recommendations: user (the query), item (the document), score, model (the tag).

    trec_eval puts documents in order by score and never reads the rank, which in many files does not agree with it; so
    the rank is left out unless asked for. Files may be compressed (.gz, .xz, .bz2, .zst).
    """
    table = _read(path, RUN, "run")
    score = _numbers(table["score"], path, "score")
    made = pd.DataFrame({"user": table["user"], "item": table["item"], "score": score, "model": table["model"]})
    if rank:
        made.insert(2, "rank", _whole(table["rank"], path, "rank"))
    return made


def read_trec_qrels(path: File) -> pd.DataFrame:
    """Judgements as a frame of truth: user (the query), item (the document), relevance, below 0 for what was not judged."""
    table = _read(path, QRELS, "qrels")
    return pd.DataFrame(
        {"user": table["user"], "item": table["item"], "relevance": _whole(table["relevance"], path, "relevance")}
    )


def write_trec_run(recs: Frame, path: File, *, tag: str | None = None, **columns: str) -> None:
    """Write recommendations as a run; a frame with ranks and no scores gets scores that give the same order.

    `tag` names the run: the frame's model column if it has one, else "recnb". Columns are found and named as in
    `recnb.evaluate`.
    """
    labels = find(recs, "recommendations", ["user", "item"], columns, ["rank", "score", "model"])
    if not {"rank", "score"} & set(labels):
        raise ColumnError("recommendations have neither rank nor score: add frame['rank'], 1 for the top of each list.")
    table = table_of(recs, "recommendations", labels).to_pandas()
    if "score" not in table:
        table["score"] = -table["rank"].astype(float)
    if bad := table["score"].isna().sum():
        raise FrameError(f"recommendations: {bad:,} scores are missing: fill them in, or leave these rows out.")
    table = table.sort_values(["user", "score"], ascending=[True, False], kind="stable")
    if "rank" not in table:
        table["rank"] = table.groupby("user", sort=False).cumcount() + 1
    if tag is not None or "model" not in table:
        table["model"] = tag or "recnb"
    table["q0"] = "Q0"
    table["score"] = table["score"].map(float).map(repr)  # the shortest text that reads back as the same number
    _write(table, RUN, path, "recommendations")


def write_trec_qrels(truth: Frame, path: File, **columns: str) -> None:
    """Write judgements as qrels; every row counts 1 where there is no relevance. trec_eval reads whole numbers only."""
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
    """What a text file looks like by its first line: "run", "qrels" or neither."""
    try:
        first = pd.read_csv(path, sep="\0", header=None, nrows=1, dtype=str, quoting=3, na_filter=False, engine="c")
    except (ValueError, UnicodeDecodeError):  # empty, or no text
        return None
    parts = str(first.iloc[0, 0]).split()
    if len(parts) == len(RUN) and parts[1].upper() == "Q0":
        return "run"
    return "qrels" if len(parts) == len(QRELS) and parts[3].lstrip("-").isdigit() else None


def _read(path: File, names: tuple[str, ...], kind: str) -> pd.DataFrame:
    """All columns as text; a line with another number of them is refused."""
    shape = f"{len(names)} columns, {' '.join(names)}"
    try:
        with warnings.catch_warnings():
            # pandas warns of lines with more columns than the first, and goes on without them.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                path, sep=r"\s+", header=None, names=[*names, "more"], dtype=str, quoting=3, na_filter=True,
                keep_default_na=False, na_values=[""], index_col=False, encoding="utf-8",
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning) as problem:
        said = str(problem).strip().removesuffix(".")
        raise FrameError(f"{path} is no {kind} of TREC, which has {shape}: {said}.") from None
    if table.empty:
        raise FrameError(f"{path} is empty: a {kind} of TREC has {shape}.")
    broken = table[list(names)].isna().any(axis=1) | table["more"].notna()
    if broken.any():
        row = int(broken.to_numpy().argmax())
        held = " ".join(str(value) for value in table.iloc[row] if isinstance(value, str))
        raise FrameError(f"{path} is no {kind} of TREC, which has {shape}: row {row + 1} is {held[:120]!r}.")
    return table


def _numbers(column: pd.Series[str], path: File, name: str) -> pd.Series[Any]:
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.isna().any():
        row = int(numbers.isna().to_numpy().argmax())
        raise FrameError(f"{path}: row {row + 1} has the {name} {column.iloc[row]!r}, which is no number.")
    return numbers.astype(float)


def _whole(column: pd.Series[str], path: File, name: str) -> pd.Series[Any]:
    numbers = _numbers(column, path, name)
    if (broken := numbers % 1 != 0).any():
        row = int(broken.to_numpy().argmax())
        raise FrameError(f"{path}: row {row + 1} has the {name} {column.iloc[row]!r}, which is no whole number.")
    return numbers.astype("int64")


def _write(table: pd.DataFrame, names: tuple[str, ...], path: File, frame: str) -> None:
    table = table[list(names)].astype(str)
    for name in ("user", "item", "model"):
        if name in table and (broken := ~table[name].str.fullmatch(r"\S+")).any():
            raise FrameError(
                f"{frame}: the {name} {table[name][broken].iloc[0]!r} holds blanks or nothing, which this format has no way to write: "
                f"replace them, such as frame[{name!r}].str.replace(' ', '_')."
            )
    table.to_csv(path, sep=" ", header=False, index=False, quoting=3, lineterminator="\n", encoding="utf-8")
