"""Files, folders and patterns as tables (Parquet, Arrow, CSV, JSON lines, runs and
qrels of TREC), and results as files.
"""

from __future__ import annotations

import codecs
import glob
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import (
    Columns,
    Made,
    Scanned,
    columns_of,
    each_named,
    ids_in,
    named,
    role_of,
)
from recnb.data.sheet import IDS, kind
from recnb.data.temporary import replacing
from recnb.display.progress import steps
from recnb.errors import (
    ColumnError,
    FrameError,
    NoRowsError,
    OptionError,
    RecnbError,
    WriteError,
)

File: TypeAlias = str | Path
Trec = Literal["run", "qrels"]
#: A file or a frame, what a file may be beside a table, and the ids that it holds.
Wanted: TypeAlias = tuple[Any, Trec | None, Sequence[str]]

#: The forms of files by their endings; what is compressed has one more.
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
CSV, LINES, COMPRESSED = (".csv", ".tsv"), (".jsonl", ".ndjson"), (".gz", ".zst")
COLUMNS = {
    "run": ("user", "q0", "item", "rank", "score", "model"),
    "qrels": ("user", "iteration", "item", "relevance"),
}
#: White space between columns, for C and so for trec_eval; a no-break space is part of
#: an id.
BLANKS = " \t\r\x0b\x0c"


# ---- files as tables


def is_file(given: object) -> bool:
    """Return whether a path was given."""
    return isinstance(given, (str, os.PathLike))


def is_pattern(path: object) -> bool:
    """Return whether a path is a pattern of files, such as "recs/*.parquet"."""
    return glob.has_magic(str(path))


def files_of(path: File) -> list[Path]:
    """Return the files that a path names: one, all in a folder, or those that a pattern
    matches, sorted.

    As engines do that write folders, names that begin with _ or . are left out.
    """
    if path == "":  # which Path takes for the current folder
        raise FrameError("the path of a file is empty text: give its name.")
    given = Path(path)
    if not given.is_dir() and (given.exists() or not is_pattern(path)):
        return [given]
    found = (
        [given]
        if given.is_dir()
        else [Path(one) for one in glob.glob(str(path), recursive=True)]
    )
    files: set[Path] = set()
    for one in found:
        if (one / "_delta_log").exists():
            problem = (
                f"{one} is a table of Delta Lake, whose folder holds rows that were "
                f"deleted as well."
            )
            raise FrameError(problem, fix="Give a frame of it, polars.scan_delta(...).")
        inside = one.rglob("*") if one.is_dir() else [one]
        files |= {
            file
            for file in inside
            if not any(part[0] in "_." for part in file.relative_to(one).parts)
        }
    for link in sorted(files):
        if link.is_symlink() and not link.exists():
            raise _leads_nowhere(link)
    files = {file for file in files if file.is_file() and file.name[0] not in "_."}
    if not files:
        fix = "Give its whole path, or its path from the current folder."
        if given.is_dir():
            raise NoRowsError(f"the folder {str(path)!r} holds no files.", fix=fix)
        raise FrameError(f"no file matches {str(path)!r}.", fix=fix)
    return sorted(files)


def read_together(files: Sequence[Wanted], columns: Columns) -> list[Any]:
    """Read files and frames that belong together; whole numbers of a CSV file, which
    has no kinds, are text where other ids are.
    """
    wanted = steps(files, "files read")
    tables: list[Any] = [
        read(file, trec, columns) if is_file(file) else file for file, trec, _ in wanted
    ]
    is_csv = [is_file(file) and _ending(files_of(file)[0]) in CSV for file, *_ in files]
    for role in IDS if any(is_csv) else ():
        ids = {
            (at, label): ids_in(table, label)
            for at, (table, (_, _, roles)) in enumerate(zip(tables, files, strict=True))
            for label in (
                columns_of(table, "the file") if hasattr(type(table), "columns") else ()
            )
            if role in roles
            and (label in named(columns, role) or role_of(label) == role)
        }
        texts = [
            column.unique() for column in ids.values() if column.dtype == pl.String
        ]
        for (at, _), column in ids.items():
            # Ids of which none would be met stay numbers, and are refused as another
            # kind.
            text = (
                column.cast(pl.String)
                if is_csv[at] and column.dtype == pl.Int64
                else None
            )
            if text is not None and any(
                text.is_in(known.implode()).any() for known in texts
            ):
                tables[at] = Made(tables[at].with_columns(text))
    return tables


def read(
    path: File, trec: Trec | None = None, columns: Columns = MappingProxyType({})
) -> Made | Scanned:
    """Read a file, or those of a folder or a pattern, as one table; Parquet is read
    when its rows are asked for.

    `trec`: what files of other endings are; `columns`: roles of columns with other
    names.
    """
    files = files_of(path)
    ending = one_form(files, path)
    folders = os.path.commonpath([file.parent for file in files])
    has_keys = any(
        "=" in part for file in files for part in file.parent.relative_to(folders).parts
    )
    tables = [_table(file, ending, trec, has_keys) for file in files]
    with _read_as(ending, path):
        table = (
            tables[0]
            if len(tables) == 1
            else _together(tables, files, ending, has_keys, columns)
        )
    if isinstance(table, pl.LazyFrame):
        return Scanned.of(table)
    if ending not in CSV:
        return Made(table)
    roles = {label: role for role, label in each_named(columns)}
    return Made(
        [
            _plain_kind(column, roles.get(column.name) or role_of(column.name))
            for column in table
        ]
    )


def one_form(files: Sequence[Path], path: File) -> str:
    """Return the form that all files have, "" for TREC."""
    forms = {
        ending
        if (ending := _ending(file)) in (*PARQUET, *ARROW, *CSV, *LINES)
        else "": file
        for file in files
    }
    if len(forms) > 1:
        mixed = " and ".join(str(file) for file in [*forms.values()][:2])
        meant = (Path(path, "*") if Path(path).is_dir() else Path(path)).with_suffix(
            max(forms)
        )
        problem = (
            f"{path} is to be one table, and its files are of several kinds: {mixed}."
        )
        raise FrameError(
            problem,
            fix=f"Name those that are meant by a pattern, such as {str(meant)!r}.",
        )
    return max(forms)


def _together(
    tables: list[Any],
    files: Sequence[Path],
    ending: str,
    has_keys: bool,
    columns: Columns,
) -> pl.DataFrame | pl.LazyFrame:
    """Put the tables of files one below the other; those with a role are in each of
    them, and columns are of one kind.
    """
    schemas, has_role = (
        [dict(table.collect_schema()) for table in tables],
        {one for _role, one in each_named(columns)},
    )
    has_role |= {column for schema in schemas for column in schema if role_of(column)}
    for file, schema in zip(files, schemas, strict=True):
        for column in (
            sorted(has_role & ({*schemas[0]} ^ {*schema}))
            if ending not in LINES
            else ()
        ):
            has, lacks = (file, files[0]) if column in schema else (files[0], file)
            fix = (
                "Give one table files with the same columns; a pattern in place of a "
                "folder names some of its files."
            )
            raise FrameError(
                f"{has} has a column {column!r}, and {lacks} has none.", fix=fix
            )
        for column in {*schemas[0]} & {*schema}:
            kinds = {
                one[column].is_numeric()
                for one in (schemas[0], schema)
                if one[column] != pl.Null
            }
            if len(kinds) > 1:
                held = f"{kind(schemas[0][column])} in {files[0]}, {kind(schema[column])} in {file}"
                raise FrameError(
                    f"column {column!r} is of different kinds: {held}.",
                    fix="Make both one kind.",
                )
    if isinstance(tables[0], pl.LazyFrame) and all(
        schema == schemas[0] for schema in schemas
    ):
        return pl.scan_parquet([*files], hive_partitioning=has_keys, glob=False)
    together: pl.DataFrame | pl.LazyFrame = pl.concat(tables, how="diagonal_relaxed")
    return together


def _table(file: Path, ending: str, trec: Trec | None, has_keys: bool) -> Any:
    """Read a file as a table, of CSV as text; `has_keys`: folders such as
    day=2026-01-01 are columns.
    """
    checked_input(file)
    with _read_as(ending, file):
        if ending in PARQUET and file.suffix.lower() not in COMPRESSED:
            table = pl.scan_parquet(file, hive_partitioning=has_keys, glob=False)
            table.collect_schema()  # which raises the error for a broken file
            return table
        data = content(file)
        if ending in PARQUET:
            return pl.read_parquet(data)
        if ending in ARROW:
            return pl.read_ipc(data)
        if ending in (*LINES, *CSV) and not data.strip():
            raise NoRowsError(f"{file} is empty: it has no rows.")
        if ending in LINES:
            return _json_lines(_text(data, file), file)
        if ending in CSV:
            return _csv(data, file, "\t" if ending == ".tsv" else ",")
    if trec:
        return _trec(data, file, trec)
    known = (
        ".parquet, .arrow, .csv, .tsv, .jsonl, or recommendations as a run and a "
        "truth as qrels of TREC"
    )
    raise FrameError(
        f"{file}: its ending says of no format, and what recnb reads here is {known}."
    )


@contextmanager
def _read_as(ending: str, path: File) -> Iterator[None]:
    """Raise errors of reading as errors that name the file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as problem:
        reason = str(problem).strip().split("\n")[0]
        fix = "If it was cut short, make it again; save text as UTF-8."
        raise FrameError(
            f"{path} cannot be read as {ending}: {reason}.", fix=fix
        ) from problem


def _ending(file: Path) -> str:
    """Return the last suffix that names a format, not a compression."""
    return next(
        (
            suffix
            for suffix in map(str.lower, reversed(file.suffixes))
            if suffix not in COMPRESSED
        ),
        "",
    )


def checked_input(path: File) -> Path:
    """Return the path of a file that can be read, or raise an error with the reason."""
    file = Path(path)
    if not file.is_file():
        if file.exists():
            raise FrameError(
                f"{path} is a folder, or a pipe or a device: name a file in it, or save it as one."
            )
        if file.is_symlink():
            raise _leads_nowhere(file)
        fix = "Give its whole path, or its path from the current folder."
        raise FrameError(f"there is no file {str(path)!r}.", fix=fix)
    return file


def _leads_nowhere(link: Path) -> FrameError:
    return FrameError(
        f"{link} is a link that leads to no file: name the file itself, or mend the link."
    )


def content(path: File) -> bytes:
    """Return what a file holds, decompressed; a byte order mark is taken off."""
    import pyarrow as pa

    file = checked_input(path)
    try:
        with pa.input_stream(str(file)) as stream:
            data: bytes = stream.read()
    except OSError as problem:
        fix = f"If it is no {file.suffix} file, rename it; else make it again."
        raise FrameError(
            f"{path} cannot be read: {problem.strerror or problem}.", fix=fix
        ) from problem
    return data.removeprefix(codecs.BOM_UTF8)


def _text(data: bytes, path: File) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        line, byte = (
            data.count(b"\n", 0, problem.start) + 1,
            f"0x{data[problem.start]:02x}",
        )
        held = f"line {line} holds the byte {byte}"
        raise FrameError(
            f"{path} is no text in UTF-8: {held}. Save it as UTF-8."
        ) from problem
    if "\n" not in text and "\r" in text.strip("\r"):
        raise FrameError(
            f"{path} ends its lines with CR alone, as old Macs did.",
            fix="Save it with line ends LF or CRLF.",
        )
    return text


def _json_lines(text: str, path: File) -> pl.DataFrame:
    """Read lines of JSON; a line that is broken, or that has a key twice, is refused."""
    try:
        table = pl.read_ndjson(text.encode(), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        _refuse_broken_line(text, path)
        raise
    lines = pl.DataFrame({"text": text.split("\n")}).with_row_index("line", offset=1)
    # A key may be spelled with an escape; what is found here may also be text, or be
    # deeper in the line.
    suspect = pl.col("text").str.contains(r'\\.[^"]*"\s*:')
    for name in table.columns:
        key = re.escape(json.dumps(name, ensure_ascii=False)) + r"\s*:"
        suspect |= pl.col("text").str.count_matches(key) > 1
    for line, held in lines.filter(suspect).rows():
        keys = [key for key, _value in json.loads(held, object_pairs_hook=list)]
        repeats = [key for key in keys if keys.count(key) > 1]
        if repeats:
            raise FrameError(
                f"{path}: line {line}, {held[:120]!r}, has the key {repeats[0]!r} "
                f"more than once.",
                fix="Leave out all but one.",
            )
    return table


def _refuse_broken_line(text: str, path: File) -> None:
    """Raise an error for the first line that is no JSON, if there is one."""

    constants: list[str] = []
    for line, held in enumerate(text.split("\n"), 1):
        where = f"{path} cannot be read as .jsonl: line {line}, {held[:120]!r}"
        try:
            json.loads(held or "null", parse_constant=constants.append)
        except json.JSONDecodeError as problem:
            raise FrameError(
                f"{where}: {problem.msg} (character {problem.colno}).",
                fix="If the file was cut short, make it again.",
            ) from problem
        if constants:
            raise FrameError(
                f"{where}: JSON has no {constants[0]}.",
                fix="Write null, or leave the key out.",
            )


def _csv(data: bytes, path: File, separator: str) -> pl.DataFrame:
    """Read a CSV file as text, with the first separator that its header holds."""
    data = data.strip(b"\r\n")
    header = _text(data, path).split("\n", 1)[0]
    separator = next(
        (sign for sign in (separator, ";", "\t", "|", ",") if sign in header), separator
    )
    table = pl.read_csv(data, separator=separator, infer_schema=False)
    for name in table.columns:
        if name.endswith("_duplicated_0"):  # so Polars calls the second of two
            raise ColumnError(
                f"{path} has more than one column called {name[:-13]!r}: rename all but one."
            )
    return table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines


def _plain_kind(column: pl.Series, role: str | None) -> pl.Series:
    """Return text as numbers where nothing is lost by it: `007` stays text, and so does
    what would run together.
    """
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
    """Read a run as a frame of recommendations: user (the query), item (the document),
    score, model (the tag).

    The rank is left out, as trec_eval never reads it. Files may be compressed (.gz,
    .zst).
    """
    return _trec(content(path), path, "run").to_pandas()


def read_trec_qrels(path: File) -> pd.DataFrame:
    """Read judgements as a frame of truth: user (the query), item (the document),
    relevance, below 0 for what was not judged.
    """
    return _trec(content(path), path, "qrels").to_pandas()


def _trec(data: bytes, path: File, kind: Trec) -> pl.DataFrame:
    """Read a run or qrels as a table; a broken line is refused.

    As in trec_eval, what follows the sixth column of a run is no part of it, and lines
    that begin with # are comments.
    """
    names, value, wanted = (
        COLUMNS[kind],
        "score" if kind == "run" else "relevance",
        "number",
    )
    form = f"{kind} of TREC, which has {len(names)} columns, {' '.join(names)}"
    text = (
        pl.Series([_text(data, path)]).str.split("\n").explode().str.strip_chars(BLANKS)
    )
    words = (
        text.str.replace_all(f"[{BLANKS}]+", " ")
        .str.splitn(" ", len(names) + 1)
        .struct.unnest()
    )
    words.columns = [*names, "more"]
    lines = words.with_columns(text=text).with_row_index("line", offset=1)
    lines = lines.filter(text != "", ~text.str.starts_with("#"))
    if lines.is_empty():
        raise NoRowsError(f"{path} is empty, and so no {form}.")
    is_short, number = (
        pl.col(names[-1]).is_null(),
        pl.col(value).cast(pl.Float64, strict=False),
    )
    is_number = number.is_not_nan().fill_null(value=False)
    if kind == "qrels":  # 1e3 and 0.5 are 1 and 0 for trec_eval
        is_short, wanted = is_short | pl.col("more").is_not_null(), "whole number"
        is_number, number = (
            pl.col(value).str.contains(r"^[-+]?\d{1,15}(\.0*)?$"),
            number.cast(pl.Int64),
        )
    for bad, why in (
        (is_short, f"is no {form}"),
        (~is_number, f"has a {value} that is no {wanted}"),
    ):
        for line, held in lines.filter(bad).select("line", "text").head(1).rows():
            raise FrameError(f"{path}: line {line}, {held[:120]!r}, {why}.")
    return lines.select("user", "item", number, *["model"] * (kind == "run"))


# ---- results as files


def checked_target(path: File) -> Path:
    """Return the path of a file that can be written, or raise an error with the
    reason.
    """
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise OptionError(
            f"path={path!r} names no file: give a text such as 'report.html', or a pathlib.Path."
        )
    target, folder = Path(path), str(Path(path).parent)
    if target.is_dir():
        raise RecnbError(
            f"{path} cannot be written: it is a folder; name another file."
        )
    if not target.parent.is_dir():
        raise RecnbError(
            f"{path} cannot be written: there is no folder {folder!r}: make it first."
        )
    return target


def written(text: str, path: File | None) -> str | None:
    """Write text to a file, which keeps what it holds until all is written, and return
    None; return the text if there is no path.
    """
    if path is None:
        return text
    target = checked_target(path)
    try:
        with replacing(target) as file:
            file.write(text.encode())
    except OSError as problem:
        raise WriteError(
            f"{path} cannot be written: {problem.strerror or problem}."
        ) from problem
    return None


def json_values(value: Any) -> Any:
    """Return nested data as JSON has it: mappings for dataclasses, lists for tuples,
    None for NaN, text for dates and the like.
    """
    if is_dataclass(value):
        return {
            field.name: json_values(getattr(value, field.name))
            for field in fields(value)
        }
    if isinstance(value, Mapping):
        return {name: json_values(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not isfinite(value):
        return None
    return (
        value if value is None or isinstance(value, (str, int, float)) else str(value)
    )


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
        return written(
            json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)
            + "\n",
            path,
        )
