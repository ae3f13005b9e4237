"""Any file as a table: Parquet, Arrow, CSV (also with tabs or semicolons), JSON lines, and runs and qrels of TREC."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from recnb.data.columns import Made, role_of, table_of
from recnb.data.files import COMPRESSED, File, content, lines_of
from recnb.data.trec import first_words, kind_of, read_trec
from recnb.display.progress import steps
from recnb.errors import ColumnError, FrameError

Trec = Literal["run", "qrels"]
IDS = ("user", "item")
TEXT = (".csv", ".tsv")

#: A file or a frame, what a file may be beside a table, and the ids that it holds.
Wanted: TypeAlias = tuple[Any, Trec | None, Sequence[str]]


def read_together(files: Sequence[Wanted], columns: Mapping[str, str]) -> list[Any]:
    """Read files and frames that belong together; whole numbers of a CSV file, which has no kinds, are text where other ids are."""
    is_csv = [isinstance(file, (str, os.PathLike)) and _ending(Path(file)) in TEXT for file, _, _ in files]
    tables = [
        read(Path(file), trec, columns) if isinstance(file, (str, os.PathLike)) else file
        for file, trec, _ in steps(files, "files read")
    ]
    for role in IDS if any(is_csv) else ():
        ids = {
            (place, label): table_of(tables[place], str(files[place][0]), {label: label})[label]
            for place, (_, _, roles) in enumerate(files)
            for label in getattr(tables[place], "columns", ())
            if role in roles and (label == columns.get(role) or role_of(label) == role)
        }
        texts = pl.concat(
            [pl.Series([], dtype=pl.String), *(ids[at].unique() for at in ids if ids[at].dtype == pl.String)]
        )
        if any(ids[place, label].dtype == pl.Int64 and not is_csv[place] for place, label in ids):
            continue
        for (place, _), column in ids.items():
            # Ids of which none would be met stay numbers, and are refused as another kind.
            if column.dtype == pl.Int64 and (as_text := column.cast(pl.String)).is_in(texts.implode()).any():
                tables[place] = Made(tables[place].with_columns(as_text))
    return tables


def read(path: File, trec: Trec | None = None, columns: Mapping[str, str] | None = None) -> Made:
    """Read a file as a table; `trec`: whether it may be a run or qrels; `columns`: roles of columns with other names."""
    file = Path(path)
    ending = _ending(file)
    if file.is_dir():
        raise FrameError(f"{file} is a folder: name its files.")
    if not file.is_file():
        pipe = f"{file} is a pipe or a device: save it as a file first."
        raise FrameError(pipe if file.exists() else f"there is no file {str(path)!r}.")
    try:
        if ending in (".parquet", ".pq"):
            return Made(pl.read_parquet(file, glob=False))
        if ending in (".arrow", ".feather", ".ipc"):
            with file.open("rb") as stream:
                return Made(pl.read_ipc(stream))
        if ending in (".jsonl", ".ndjson"):
            return _json_lines(file)
    except (pl.exceptions.PolarsError, OSError) as problem:
        reason = str(problem).strip().split("\n")[0]
        raise FrameError(
            f"{file} cannot be read as {ending}: {reason}. It may be cut short: make it again."
        ) from problem
    kind = kind_of(file) if trec else None
    if ending in TEXT and kind != trec:
        kind = None
    if trec and (kind == trec or (kind is None and ending not in TEXT and len(first_words(file)) >= 4)):
        return Made(read_trec(file, trec))  # which says where a line differs
    if ending in TEXT:
        return _csv(file, "\t" if ending == ".tsv" else ",", columns or {})
    if kind:
        role = "the last file must be the truth" if trec == "qrels" else "only the last file is the truth"
        held = "a run" if kind == "run" else "judgements (qrels)"
        raise FrameError(f"{file} is {held}, and {role}: recommendations first, then the qrels.")
    known = ".parquet, .arrow, .csv, .tsv, .jsonl, or a run or qrels of TREC"
    raise FrameError(f"{file}: its ending says of no format that recnb reads: {known}.")


def _ending(file: File) -> str:
    """Return the last suffix that names a format, not a compression."""
    return next((suffix for suffix in map(str.lower, reversed(Path(file).suffixes)) if suffix not in COMPRESSED), "")


def _csv(file: Path, separator: str, columns: Mapping[str, str]) -> Made:
    data = content(file)
    if not data.strip():
        raise FrameError(f"{file} is empty.")
    if b"\n" not in data:  # lines that end as on an old Mac
        data = data.replace(b"\r", b"\n")
    header = data.lstrip(b"\r\n").split(b"\n", 1)[0].decode().rstrip("\r")
    separator = next((sign for sign in (separator, ";", "\t", "|", ",") if sign in header), separator)
    (names,) = csv.reader([header], delimiter=separator)
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise ColumnError(f"{file} has more than one column called {twice[0]!r}: rename all but one.")
    try:
        table = pl.read_csv(_without_blank_lines(data), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as problem:
        raise FrameError(f"{file}: {_broken(data, separator) or str(problem).split('.')[0]}.") from problem
    roles = {label: role for role, label in columns.items()}
    return Made([_plain_kind(column, roles.get(column.name) or role_of(column.name)) for column in table])


def _without_blank_lines(data: bytes) -> bytes:
    """Return the lines of a CSV file that hold something; blank ones within quotes are part of a text."""
    data = data.strip(b"\r\n")
    if not re.search(rb"\n[ \t\r]*\n", data):
        return data
    quotes, at = 0, 0

    def kept(blank: re.Match[bytes]) -> bytes:
        nonlocal quotes, at
        quotes, at = quotes + data.count(b'"', at, blank.start()), blank.start()
        return blank[0] if quotes % 2 else b""

    return re.sub(rb"(?m)^[ \t\r]*\n", kept, data)


def _json_lines(file: Path) -> Made:
    data = content(file)
    table = pl.read_ndjson(BytesIO(data), infer_schema_length=None)
    lines = lines_of(data)
    for name in table.columns:
        key = re.escape(json.dumps(name)) + r"\s*:"
        for line in (lines.str.count_matches(key) > 1).arg_true().to_list():
            pairs = json.loads(lines[line], object_pairs_hook=list)
            if [key for key, _value in pairs].count(name) > 1:
                raise FrameError(f"{file}: line {line + 1} has {name!r} more than once: leave one of them out.")
    return Made(table)


def _broken(data: bytes, separator: str) -> str:
    """Say which line has more fields than the header, those in quotes left out of the count."""
    marks = lines_of(data).str.replace_all('"[^"]*"', "").str.count_matches(separator, literal=True)
    header = marks.drop_nulls()[0]
    for line in (marks > header).arg_true().head(1).to_list():
        return f"line {line + 1} has {marks[line] + 1} fields, and the header {header + 1}: put fields with {separator!r} in quotes"
    return ""


def _plain_kind(column: pl.Series, role: str | None) -> pl.Series:
    """Return text as numbers where nothing is lost by it: `007` stays text, and so does what would run together."""
    whole = column.cast(pl.Int64, strict=False)
    if (whole.cast(pl.String) == column).fill_null(value=False).sum() == len(column) - column.null_count():
        return whole
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() > column.null_count() or role in ("user", "item", "model"):
        return column
    # 1.5 and 1.50 are one score, and may be two versions.
    return number if role or number.n_unique() == column.n_unique() else column
