"""Files: any as a table (Parquet, Arrow, CSV, JSON lines, runs and qrels of TREC), and results written whole or not at all.

A run of TREC has six columns, `query Q0 document rank score tag`, qrels four, `query 0 document relevance`. Their ids stay text,
as trec_eval has them, so that `007` and `7` are two documents.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import Made, role_of, table_of
from recnb.display.progress import steps
from recnb.errors import ColumnError, FrameError, OptionError, RecnbError

File: TypeAlias = str | Path
Trec = Literal["run", "qrels"]
#: A file or a frame, what a file may be beside a table, and the ids that it holds.
Wanted: TypeAlias = tuple[Any, Trec | None, Sequence[str]]

IDS = ("user", "item")
#: How a file is read, by its ending; what is compressed has one more.
TABLES: dict[str, Callable[[bytes], pl.DataFrame]] = {
    **dict.fromkeys((".parquet", ".pq"), pl.read_parquet), **dict.fromkeys((".arrow", ".feather", ".ipc"), pl.read_ipc)
}  # fmt: skip
CSV, LINES, COMPRESSED = (".csv", ".tsv"), (".jsonl", ".ndjson"), {".gz": "gzip", ".zst": "zstd"}
COLUMNS = {"run": ("user", "q0", "item", "rank", "score", "model"), "qrels": ("user", "iteration", "item", "relevance")}
#: White space between columns, for C and so for trec_eval; a no-break space is part of an id.
BLANKS = " \t\r\x0b\x0c"


# ---- files as tables


def read_together(files: Sequence[Wanted], columns: Mapping[str, str]) -> list[Any]:
    """Read files and frames that belong together; whole numbers of a CSV file, which has no kinds, are text where other ids are."""
    tables = [
        read(Path(file), trec, columns) if isinstance(file, (str, os.PathLike)) else file
        for file, trec, _ in steps(files, "files read")
    ]
    is_csv = [isinstance(file, (str, os.PathLike)) and _ending(Path(file)) in CSV for file, *_ in files]
    for role in IDS if any(is_csv) else ():
        ids = {
            (at, label): table_of(table, str(file), {label: label})[label]
            for at, (table, (file, _, roles)) in enumerate(zip(tables, files, strict=True))
            for label in getattr(table, "columns", ())
            if role in roles and (label == columns.get(role) or role_of(label) == role)
        }
        if any(column.dtype == pl.Int64 and not is_csv[at] for (at, _), column in ids.items()):
            continue
        texts = [column.unique() for column in ids.values() if column.dtype == pl.String]
        for (at, _), column in ids.items():
            # Ids of which none would be met stay numbers, and are refused as another kind.
            if column.dtype == pl.Int64 and any(column.cast(pl.String).is_in(text.implode()).any() for text in texts):
                tables[at] = Made(tables[at].with_columns(column.cast(pl.String)))
    return tables


def read(path: File, trec: Trec | None = None, columns: Mapping[str, str] | None = None) -> Made:
    """Read a file as a table; `trec`: what a file of another ending is; `columns`: roles of columns with other names."""
    data, ending = content(path), _ending(Path(path))
    try:
        if ending in TABLES:
            return Made(TABLES[ending](data))
        if ending in LINES:
            return Made(pl.read_ndjson(_text(data, path).encode(), infer_schema_length=None))
        if ending in CSV:
            return _csv(data, path, "\t" if ending == ".tsv" else ",", columns or {})
    except (pl.exceptions.PolarsError, OSError) as problem:
        reason = str(problem).strip().split("\n")[0]
        fix = "If it was cut short, make it again; save text as UTF-8."
        raise FrameError(f"{path} cannot be read as {ending}: {reason}.", fix=fix) from problem
    if trec:
        return Made(_trec(data, path, trec))
    known = ".parquet, .arrow, .csv, .tsv, .jsonl, or recommendations as a run and a truth as qrels of TREC"
    raise FrameError(f"{path}: its ending says of no format, and what recnb reads here is {known}.")


def _ending(file: Path) -> str:
    """Return the last suffix that names a format, not a compression."""
    return next((suffix for suffix in map(str.lower, reversed(file.suffixes)) if suffix not in COMPRESSED), "")


def content(path: File) -> bytes:
    """Return what a file holds, decompressed; a byte order mark is taken off."""
    import pyarrow as pa

    file = Path(path)
    if not file.is_file():
        what = "is a folder: name a file in it" if file.is_dir() else "is a pipe or a device: save it as a file first"
        raise FrameError(f"{file} {what}." if file.exists() else f"there is no file {str(path)!r}.")
    compression = COMPRESSED.get(file.suffix.lower())
    try:
        data = file.read_bytes()
        if compression:
            data = pa.CompressedInputStream(pa.BufferReader(data), compression).read()
    except OSError as problem:
        fix = f"If it is no {file.suffix} file, rename it; else make it again." if compression else ""
        raise FrameError(f"{path} cannot be read: {problem.strerror or problem}.", fix=fix) from problem
    return data.removeprefix(codecs.BOM_UTF8)


def _text(data: bytes, path: File) -> str:
    try:
        text, bad = data.decode(), data.find(0)
    except UnicodeDecodeError as problem:
        text, bad = "", problem.start
    if bad >= 0:
        line = data.count(b"\n", 0, bad) + 1
        raise FrameError(f"{path} is no text in UTF-8: line {line} holds the byte 0x{data[bad]:02x}. Save it as UTF-8.")
    return text


def _csv(data: bytes, path: File, separator: str, columns: Mapping[str, str]) -> Made:
    """Read a CSV file, with the first separator that its header holds."""
    data = data.strip(b"\r\n")
    header = _text(data, path).split("\n", 1)[0].rstrip("\r")
    separator = next((sign for sign in (separator, ";", "\t", "|", ",") if sign in header), separator)
    for names in csv.reader([header], delimiter=separator):
        if twice := [name for name in names if name and names.count(name) > 1]:
            raise ColumnError(f"{path} has more than one column called {twice[0]!r}: rename all but one.")
    table = pl.read_csv(data, separator=separator, infer_schema=False)
    table = table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines
    roles = {label: role for role, label in columns.items()}
    return Made([_plain_kind(column, roles.get(column.name) or role_of(column.name)) for column in table])


def _plain_kind(column: pl.Series, role: str | None) -> pl.Series:
    """Return text as numbers where nothing is lost by it: `007` stays text, and so does what would run together."""
    whole = column.cast(pl.Int64, strict=False)
    if (whole.cast(pl.String) == column).sum() == len(column) - column.null_count():
        return whole
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() > column.null_count() or role in ("user", "item", "model"):
        return column
    # 1.5 and 1.50 are one score, and may be two versions.
    return number if role or number.n_unique() == column.n_unique() else column


# ---- runs and judgements of TREC


def read_trec_run(path: File, *, rank: bool = False) -> pd.DataFrame:
    """Read a run as a frame of recommendations: user (the query), item (the document), score, model (the tag).

    trec_eval puts documents in order by score and never reads the rank, which in many files does not agree with it; so
    the rank is left out unless asked for. Files may be compressed (.gz, .zst).
    """
    return _trec(content(path), path, "run", rank=rank).to_pandas()


def read_trec_qrels(path: File) -> pd.DataFrame:
    """Read judgements as a frame of truth: user (the query), item (the document), relevance, below 0 for what was not judged."""
    return _trec(content(path), path, "qrels").to_pandas()


def _trec(data: bytes, path: File, kind: Trec, *, rank: bool = False) -> pl.DataFrame:
    """Read a run or qrels as a table; a broken line is refused.

    As in trec_eval, what follows the sixth column of a run is no part of it, and lines that begin with # are comments.
    """
    names, numbers = COLUMNS[kind], ["relevance"] if kind == "qrels" else [*["rank"] * rank, "score"]
    text = pl.Series([_text(data, path)]).str.split("\n").explode().str.strip_chars(BLANKS)
    words = text.str.replace_all(f"[{BLANKS}]+", " ").str.splitn(" ", len(names) + 1).struct.unnest()
    words.columns = [*names, "more"]
    table = (
        words.with_columns(text=text).with_row_index("line", offset=1).filter(text != "", ~text.str.starts_with("#"))
    )
    broken = {f"is no {kind} of TREC, which has {len(names)} columns, {' '.join(names)}": pl.col(names[-1]).is_null()}
    if kind == "qrels":
        broken = {why: lacks | pl.col("more").is_not_null() for why, lacks in broken.items()}
    for name in numbers:
        good = pl.col(name).cast(pl.Float64, strict=False).is_not_nan().fill_null(value=False)
        if name != "score":  # 1e3 and 0.5 are 1 and 0 for trec_eval
            good = pl.col(name).str.contains(r"^[-+]?\d{1,15}(\.0*)?$")
        broken[f"has a {name} that is no {'' if name == 'score' else 'whole '}number"] = ~good
    for why, bad in broken.items():
        for line, held in table.filter(bad).select("line", "text").head(1).rows():
            raise FrameError(f"{path}: line {line}, {held[:120]!r}, {why}.")
    if table.is_empty():
        raise FrameError(f"{path} is empty: a {kind} of TREC has {len(names)} columns, {' '.join(names)}.")
    values = [pl.col(one).cast(pl.Float64).cast(pl.Float64 if one == "score" else pl.Int64) for one in numbers]
    return table.select("user", "item", *values, *["model"] * (kind == "run"))


# ---- results as files


def checked_target(path: File) -> Path:
    """Return the path of a file that can be written, or raise an error with the reason."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise OptionError(f"path={path!r} names no file: give a text such as 'report.html', or a pathlib.Path.")
    target = Path(path)
    if target.is_dir():
        raise RecnbError(f"{path} cannot be written: it is a folder; name another file.")
    if not target.parent.is_dir():
        make = f"make its folder first, pathlib.Path({str(target.parent)!r}).mkdir(parents=True)."
        raise RecnbError(f"{path} cannot be written: there is no folder {str(target.parent)!r}: {make}")
    return target


def written(text: str, path: File | None) -> str | None:
    """Write text to a file, which is as it was if that fails, and return None; return the text if there is no path."""
    if path is None:
        return text
    target = checked_target(path).resolve()  # what a link leads to is replaced, not the link
    in_place = target.exists() and not target.is_file()  # a pipe or a device
    temporary = target if in_place else target.with_name(f".{secrets.token_hex(4)}.{target.name}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        if not in_place:
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
    except OSError as problem:
        raise RecnbError(f"{path} cannot be written: {problem.strerror or problem}.") from problem
    finally:
        if not in_place:
            temporary.unlink(missing_ok=True)
    return None


def json_values(value: Any) -> Any:
    """Return nested data as JSON has it: mappings for dataclasses, lists for tuples, None for NaN, text for dates and the like."""
    if is_dataclass(value):
        return {field.name: json_values(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: json_values(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


class AsJson(ABC):
    """A result that can be written as JSON."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain Python that `json` can write; NaN is None."""

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: File) -> None: ...
    def to_json(self, path: File | None = None) -> str | None:
        """Return `to_dict` as JSON text, or write it to a file.

        Parameters
        ----------
        path
            The file to write; None: return the text.
        """
        return written(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", path)
