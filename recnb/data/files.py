"""Files: any as a table (Parquet, Arrow, CSV, JSON lines, runs and qrels of TREC, whose ids stay text), and results as files."""

from __future__ import annotations

import codecs
import json
import os
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
from recnb.data.validation import IDS
from recnb.display.progress import steps
from recnb.errors import ColumnError, FrameError, OptionError, RecnbError

File: TypeAlias = str | Path
Trec = Literal["run", "qrels"]
#: A file or a frame, what a file may be beside a table, and the ids that it holds.
Wanted: TypeAlias = tuple[Any, Trec | None, Sequence[str]]

#: How a file is read, by its ending; what is compressed has one more.
TABLES: dict[str, Callable[[bytes], pl.DataFrame]] = {
    **dict.fromkeys((".parquet", ".pq"), pl.read_parquet), **dict.fromkeys((".arrow", ".feather", ".ipc"), pl.read_ipc)
}  # fmt: skip
CSV, LINES, COMPRESSED = (".csv", ".tsv"), (".jsonl", ".ndjson"), (".gz", ".zst")
COLUMNS = {"run": ("user", "q0", "item", "rank", "score", "model"), "qrels": ("user", "iteration", "item", "relevance")}
#: White space between columns, for C and so for trec_eval; a no-break space is part of an id.
BLANKS = " \t\r\x0b\x0c"


# ---- files as tables


def is_file(given: object) -> bool:
    """Return whether a path was given."""
    return isinstance(given, (str, os.PathLike))


def read_together(files: Sequence[Wanted], columns: Mapping[str, str]) -> list[Any]:
    """Read files and frames that belong together; whole numbers of a CSV file, which has no kinds, are text where other ids are."""
    wanted = steps(files, "files read")
    tables = [read(Path(file), trec, columns) if is_file(file) else file for file, trec, _ in wanted]
    is_csv = [is_file(file) and _ending(Path(file)) in CSV for file, *_ in files]
    for role in IDS if any(is_csv) else ():
        ids = {
            (at, label): table_of(table, "the file", {label: label})[label]
            for at, (table, (_, _, roles)) in enumerate(zip(tables, files, strict=True))
            for label in getattr(table, "columns", ())
            if role in roles and (label == columns.get(role) or role_of(label) == role)
        }
        texts = [column.unique() for column in ids.values() if column.dtype == pl.String]
        for (at, _), column in ids.items():
            # Ids of which none would be met stay numbers, and are refused as another kind.
            text = column.cast(pl.String) if is_csv[at] and column.dtype == pl.Int64 else None
            if text is not None and any(text.is_in(known.implode()).any() for known in texts):
                tables[at] = Made(tables[at].with_columns(text))
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
        if file.exists():
            raise FrameError(f"{path} is a folder, or a pipe or a device: name a file in it, or save it as one.")
        fix = "Give its whole path, or its path from the current folder."
        raise FrameError(f"there is no file {str(path)!r}.", fix=fix)
    try:
        with pa.input_stream(str(file)) as stream:
            data: bytes = stream.read()
    except OSError as problem:
        fix = f"If it is no {file.suffix} file, rename it; else make it again."
        raise FrameError(f"{path} cannot be read: {problem.strerror or problem}.", fix=fix) from problem
    return data.removeprefix(codecs.BOM_UTF8)


def _text(data: bytes, path: File) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        line, byte = data.count(b"\n", 0, problem.start) + 1, f"0x{data[problem.start]:02x}"
        raise FrameError(
            f"{path} is no text in UTF-8: line {line} holds the byte {byte}. Save it as UTF-8."
        ) from problem


def _csv(data: bytes, path: File, separator: str, columns: Mapping[str, str]) -> Made:
    """Read a CSV file, with the first separator that its header holds."""
    data = data.strip(b"\r\n")
    header = _text(data, path).split("\n", 1)[0]
    separator = next((sign for sign in (separator, ";", "\t", "|", ",") if sign in header), separator)
    table = pl.read_csv(data, separator=separator, infer_schema=False)
    for name in table.columns:
        if name.endswith("_duplicated_0"):  # so Polars calls the second of two
            raise ColumnError(f"{path} has more than one column called {name[:-13]!r}: rename all but one.")
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


def read_trec_run(path: File) -> pd.DataFrame:
    """Read a run as a frame of recommendations: user (the query), item (the document), score, model (the tag).

    The rank is left out, as trec_eval never reads it. Files may be compressed (.gz, .zst).
    """
    return _trec(content(path), path, "run").to_pandas()


def read_trec_qrels(path: File) -> pd.DataFrame:
    """Read judgements as a frame of truth: user (the query), item (the document), relevance, below 0 for what was not judged."""
    return _trec(content(path), path, "qrels").to_pandas()


def _trec(data: bytes, path: File, kind: Trec) -> pl.DataFrame:
    """Read a run or qrels as a table; a broken line is refused.

    As in trec_eval, what follows the sixth column of a run is no part of it, and lines that begin with # are comments.
    """
    names, value, wanted = COLUMNS[kind], "score" if kind == "run" else "relevance", "number"
    form = f"{kind} of TREC, which has {len(names)} columns, {' '.join(names)}"
    text = pl.Series([_text(data, path)]).str.split("\n").explode().str.strip_chars(BLANKS)
    words = text.str.replace_all(f"[{BLANKS}]+", " ").str.splitn(" ", len(names) + 1).struct.unnest()
    words.columns = [*names, "more"]
    lines = words.with_columns(text=text).with_row_index("line", offset=1)
    lines = lines.filter(text != "", ~text.str.starts_with("#"))
    if lines.is_empty():
        raise FrameError(f"{path} is empty, and so no {form}.")
    is_short, number = pl.col(names[-1]).is_null(), pl.col(value).cast(pl.Float64, strict=False)
    is_number = number.is_not_nan().fill_null(value=False)
    if kind == "qrels":  # 1e3 and 0.5 are 1 and 0 for trec_eval
        is_short, wanted = is_short | pl.col("more").is_not_null(), "whole number"
        is_number, number = pl.col(value).str.contains(r"^[-+]?\d{1,15}(\.0*)?$"), number.cast(pl.Int64)
    for bad, why in ((is_short, f"is no {form}"), (~is_number, f"has a {value} that is no {wanted}")):
        for line, held in lines.filter(bad).select("line", "text").head(1).rows():
            raise FrameError(f"{path}: line {line}, {held[:120]!r}, {why}.")
    return lines.select("user", "item", number, *["model"] * (kind == "run"))


# ---- results as files


def checked_target(path: File) -> Path:
    """Return the path of a file that can be written, or raise an error with the reason."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise OptionError(f"path={path!r} names no file: give a text such as 'report.html', or a pathlib.Path.")
    target, folder = Path(path), str(Path(path).parent)
    if target.is_dir():
        raise RecnbError(f"{path} cannot be written: it is a folder; name another file.")
    if not target.parent.is_dir():
        make = f"there is no folder {folder!r}: make its folder first, pathlib.Path({folder!r}).mkdir(parents=True)."
        raise RecnbError(f"{path} cannot be written: {make}")
    return target


def written(text: str, path: File | None) -> str | None:
    """Write text to a file, and return None; return the text if there is no path."""
    if path is None:
        return text
    try:
        checked_target(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as problem:
        raise RecnbError(f"{path} cannot be written: {problem.strerror or problem}.") from problem
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
        """Return `to_dict` as JSON text, or write it to the file `path`."""
        return written(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", path)
