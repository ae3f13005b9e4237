"""Files, folders and patterns as tables, and results as files.

Files are Parquet, Arrow, CSV, JSON lines, and runs and qrels of TREC.
"""

from __future__ import annotations

import codecs
import csv
import glob
import json
import os
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

from recnb.data.checks import kind
from recnb.data.names import Named, role_of
from recnb.data.replacing import replacing
from recnb.data.tables import Scanned
from recnb.errors import (
    ColumnError,
    FrameError,
    NoRowsError,
    OptionError,
    RecnbError,
    WriteError,
)

File: TypeAlias = str | os.PathLike[str]
Trec = Literal["run", "qrels"]

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
    """Return the files that a path names, sorted.

    These are the file itself, all in a folder, or those that a pattern matches. As
    engines do that write folders, names that begin with _ or . are left out.
    """
    if path == "":  # which Path takes for the current folder
        raise FrameError("the path of a file is empty text: give its name.")
    given = Path(path)
    _refuse_name(given)
    if not given.is_dir() and (given.exists() or not is_pattern(path)):
        return [given]
    roots = [given]
    if not given.is_dir():
        roots = [Path(match) for match in glob.glob(str(path), recursive=True)]
    files: set[Path] = set()
    for root in roots:
        files |= _files_below(root)
    for file in files:
        _refuse_name(file)
    if files:
        return sorted(files)
    fix = "Give its whole path, or its path from the current folder."
    if given.is_dir():
        raise NoRowsError(f"the folder {str(path)!r} holds no files. {fix}")
    raise FrameError(f"no file matches {str(path)!r}. {fix}")


def _files_below(root: Path) -> set[Path]:
    """Return the files in a folder and its folders, or the file itself.

    Files whose names begin with _ or . are left out.
    """
    if not root.is_dir():
        return {root} if root.is_file() and root.name[0] not in "_." else set()
    files = set()
    for path in sorted(root.rglob("*")):
        if any(part[0] in "_." for part in path.relative_to(root).parts):
            continue
        if path.is_file():
            files.add(path)
    return files


def _refuse_name(path: Path) -> None:
    """Raise an error for a name that is not UTF-8, which readers of files cannot open."""
    try:
        str(path).encode()
    except UnicodeEncodeError as problem:
        raise FrameError(
            f"the name {str(path)!r} is not UTF-8: rename the file or folder."
        ) from problem


def is_csv(path: File) -> bool:
    """Return whether files are text, which has no kinds of values."""
    return _ending(files_of(path)[0]) in CSV


def read(
    path: File, trec: Trec | None = None, named: Named = MappingProxyType({})
) -> pl.DataFrame | Scanned:
    """Read a file, or those of a folder or a pattern, as one table.

    Parquet is read when its rows are asked for.

    `trec`: what files of other endings are; `named`: columns with other names, by role.
    """
    files = files_of(path)
    ending = one_form(files, path)
    has_keys = _are_partitioned(files)
    tables = [_table(file, ending, trec, has_keys) for file in files]
    table: pl.DataFrame | pl.LazyFrame = tables[0]
    if len(tables) > 1:
        with _read_as(ending, path):
            table = _together(tables, files, ending, has_keys, named)
    if isinstance(table, pl.LazyFrame):
        return Scanned.of(table)
    if ending not in CSV:
        return table
    roles = {label: role for role, labels in named.items() for label in labels}
    return pl.DataFrame(
        [
            _plain_kind(column, roles.get(column.name) or role_of(column.name))
            for column in table
        ]
    )


def _are_partitioned(files: Sequence[Path]) -> bool:
    """Return whether files are in folders such as day=2026-01-01."""
    top = os.path.commonpath([file.parent for file in files])
    return any("=" in str(file.parent.relative_to(top)) for file in files)


def one_form(files: Sequence[Path], path: File) -> str:
    """Return the ending that all files have, "" for TREC."""
    example_of: dict[str, Path] = {}
    for file in files:
        ending = _ending(file)
        is_known = ending in (*PARQUET, *ARROW, *CSV, *LINES)
        example_of[ending if is_known else ""] = file
    form = max(example_of)
    if len(example_of) == 1:
        return form
    mixed = " and ".join(str(file) for file in [*example_of.values()][:2])
    pattern = Path(path, "*") if Path(path).is_dir() else Path(path)
    raise FrameError(
        f"{path} is to be one table, and its files are of several kinds: "
        f"{mixed}. Name those that are meant by a pattern, such as "
        f"{str(pattern.with_suffix(form))!r}."
    )


def _together(
    tables: list[Any],
    files: Sequence[Path],
    ending: str,
    has_keys: bool,
    named: Named,
) -> pl.DataFrame | pl.LazyFrame:
    """Put the tables of files one below the other.

    Columns with a role are in each of them, and a column is of one kind.
    """
    schemas = [dict(table.collect_schema()) for table in tables]
    for file, schema in zip(files, schemas, strict=True):
        if ending not in LINES:  # whose keys may be left out of a line
            _refuse_lacking(file, schema, files[0], schemas[0], named)
        _refuse_kinds(file, schema, files[0], schemas[0])
    is_one_schema = all(schema == schemas[0] for schema in schemas)
    if isinstance(tables[0], pl.LazyFrame) and is_one_schema:
        return pl.scan_parquet([*files], hive_partitioning=has_keys, glob=False)
    together: pl.DataFrame | pl.LazyFrame = pl.concat(tables, how="diagonal_relaxed")
    return together


Schema: TypeAlias = Mapping[str, pl.DataType]


def _refuse_lacking(
    file: Path, schema: Schema, first: Path, first_schema: Schema, named: Named
) -> None:
    """Raise an error for a column with a role that one of two files lacks."""
    labels = {label for labels in named.values() for label in labels}
    for column in sorted({*first_schema} ^ {*schema}):
        if column not in labels and role_of(column) is None:
            continue
        has, lacks = (file, first) if column in schema else (first, file)
        raise FrameError(
            f"{has} has a column {column!r}, and {lacks} has none. Give one table "
            "files with the same columns; a pattern in place of a folder names some "
            "of its files."
        )


def _refuse_kinds(
    file: Path, schema: Schema, first: Path, first_schema: Schema
) -> None:
    """Raise an error for a column of numbers in one of two files alone."""
    for column in {*first_schema} & {*schema}:
        type_, first_type = schema[column], first_schema[column]
        if pl.Null in (type_, first_type):
            continue
        if type_.is_numeric() != first_type.is_numeric():
            raise FrameError(
                f"column {column!r} is of different kinds: {kind(first_type)} in "
                f"{first}, {kind(type_)} in {file}. Make both one kind."
            )


def _table(file: Path, ending: str, trec: Trec | None, has_keys: bool) -> Any:
    """Read a file as a table; values of a CSV file are text.

    `has_keys`: folders such as day=2026-01-01 are columns.
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
    if _ending(file) == ".json":
        raise FrameError(
            f"{file} is JSON, of which recnb reads lines, .jsonl. In Python, give "
            "what it holds: json.loads(path.read_text())."
        )
    if trec:
        rows = _trec(data, file, trec)
        return rows.rename({"user": "query", "item": "document"})
    raise FrameError(
        f"{file}: its ending says of no format, and what recnb reads here is .parquet, "
        ".arrow, .csv, .tsv, .jsonl, or recommendations as a run and a truth as qrels of "
        "TREC."
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
            f"{path} cannot be read as {ending}: {reason}. {fix}"
        ) from problem


def _ending(file: Path) -> str:
    """Return the last suffix that names a format, not a compression."""
    for suffix in reversed(file.suffixes):
        if suffix.lower() not in COMPRESSED:
            return suffix.lower()
    return ""


def checked_input(path: File) -> Path:
    """Return the path of a file that can be read, or raise an error with the reason."""
    file = Path(path)
    if file.is_file():
        return file
    if file.exists():
        raise FrameError(
            f"{path} is a folder, or a pipe or a device: name a file in it, or save it "
            "as one."
        )
    fix = "Give its whole path, or its path from the current folder."
    raise FrameError(f"there is no file {str(path)!r}. {fix}")


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
            f"{path} cannot be read: {problem.strerror or problem}. {fix}"
        ) from problem
    return data.removeprefix(codecs.BOM_UTF8)


def _text(data: bytes, path: File) -> str:
    """Return bytes as text in UTF-8, in lines that end with LF or CRLF."""
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        byte = data[problem.start]
        raise FrameError(
            f"{path} is no text in UTF-8: line {line} holds the byte 0x{byte:02x}. Save "
            "it as UTF-8."
        ) from problem
    return text


def _json_lines(text: str, path: File) -> pl.DataFrame:
    """Read lines of JSON; a line that is broken is refused."""
    try:
        return pl.read_ndjson(text.encode(), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        _refuse_broken_line(text, path)
        raise


def _refuse_broken_line(text: str, path: File) -> None:
    """Raise an error for the first line that is no JSON, if there is one."""
    constants: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path} cannot be read as .jsonl: line {number}, {line[:120]!r}"
        try:
            json.loads(line or "null", parse_constant=constants.append)
        except json.JSONDecodeError as problem:
            raise FrameError(
                f"{where}: {problem.msg} (character {problem.colno}). If the file was "
                "cut short, make it again."
            ) from problem
        if constants:
            raise FrameError(
                f"{where}: JSON has no {constants[0]}. Write null, or leave the key out."
            )


def _csv(data: bytes, path: File, separator: str) -> pl.DataFrame:
    """Read a CSV file as text, with the first separator that its header holds."""
    data = data.strip(b"\r\n")
    header = _text(data, path).split("\n", 1)[0]
    for candidate in (separator, ";", "\t", "|", ","):
        if candidate in header:
            separator = candidate
            break
    try:
        table = pl.read_csv(data, separator=separator, infer_schema=False)
    except pl.exceptions.ComputeError:
        _refuse_long_row(_text(data, path), path, separator)
        raise
    for name in table.columns:
        if name.endswith("_duplicated_0"):  # so Polars calls the second of two
            raise ColumnError(
                f"{path} has more than one column called {name[:-13]!r}: rename "
                "all but one. If these are values, write names of columns above them."
            )
    return table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines


def _refuse_long_row(text: str, path: File, separator: str) -> None:
    """Raise an error for the first row of more fields than the header, if there is one."""
    rows = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    header = next(rows)
    for row in rows:
        if len(row) > len(header):
            raise FrameError(
                f"{path}: line {rows.line_num}, {separator.join(row)[:120]!r}, has "
                f"{len(row)} fields, and the header {len(header)}. Correct it; text that "
                f"holds {separator!r} stands in quotes."
            )


def _plain_kind(column: pl.Series, role: str | None) -> pl.Series:
    """Return text as numbers where nothing is lost by it.

    `007` stays text, and so do texts that would become equal numbers.
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
    """Read a run as a frame of recommendations.

    The rank is left out, as trec_eval never reads it.

    Parameters
    ----------
    path : path or file
        The run; may be compressed (.gz, .zst).

    Returns
    -------
    DataFrame
        Columns user (the query), item (the document), score and model (the tag).

    Examples
    --------
    >>> import pathlib, recnb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.txt")
    ...     _ = path.write_text("q1 Q0 d7 1 9.5 bm25")
    ...     recs = recnb.read_trec_run(path)
    >>> recs
      user item  score model
    0   q1   d7    9.5  bm25
    """
    return _trec(content(path), path, "run").to_pandas()


def read_trec_qrels(path: File) -> pd.DataFrame:
    """Read judgements as a frame of truth.

    Parameters
    ----------
    path : path or file
        The qrels; may be compressed (.gz, .zst).

    Returns
    -------
    DataFrame
        Columns user (the query), item (the document) and relevance, which is below 0 for
        what was not judged.

    Examples
    --------
    >>> import pathlib, recnb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels.txt")
    ...     _ = path.write_text("q1 0 d7 2")
    ...     truth = recnb.read_trec_qrels(path)
    >>> truth
      user item  relevance
    0   q1   d7          2
    """
    return _trec(content(path), path, "qrels").to_pandas()


def _trec(data: bytes, path: File, kind: Trec) -> pl.DataFrame:
    """Read a run or qrels as a table; a broken line is refused.

    As in trec_eval, what follows the sixth column of a run is no part of it, and lines
    that begin with # are comments.
    """
    names = COLUMNS[kind]
    lines = _lines_of_words(_text(data, path), names)
    form = f"{kind} of TREC, which has {len(names)} columns, {' '.join(names)}"
    if lines.is_empty():
        raise NoRowsError(f"{path} is empty, and so no {form}.")
    is_short = pl.col(names[-1]).is_null()
    if kind == "run":
        number = pl.col("score").cast(pl.Float64, strict=False)
        is_number = number.is_not_nan().fill_null(value=False)
        _refuse_line(lines, is_short, f"is no {form}", path)
        _refuse_line(lines, ~is_number, "has a score that is no number", path)
        return lines.select("user", "item", number, "model")
    is_long = pl.col("more").is_not_null()
    # trec_eval reads 1e3 as 1, and 0.5 as 0.
    is_whole = pl.col("relevance").str.contains(r"^[-+]?\d{1,15}(\.0*)?$")
    _refuse_line(lines, is_short | is_long, f"is no {form}", path)
    _refuse_line(lines, ~is_whole, "has a relevance that is no whole number", path)
    relevance = pl.col("relevance").cast(pl.Float64).cast(pl.Int64)
    return lines.select("user", "item", relevance)


def _lines_of_words(text: str, names: Sequence[str]) -> pl.DataFrame:
    """Return the lines that are no comments, each with its number and its words.

    Words after the last of the names are `more`.
    """
    line = pl.Series([text]).str.split("\n").explode().str.strip_chars(BLANKS)
    with_spaces = line.str.replace_all(f"[{BLANKS}]+", " ")
    words = with_spaces.str.splitn(" ", len(names) + 1).struct.unnest()
    words.columns = [*names, "more"]
    lines = words.with_columns(text=line).with_row_index("line", offset=1)
    return lines.filter(line != "", ~line.str.starts_with("#"))


def _refuse_line(
    lines: pl.DataFrame, is_wrong: pl.Expr, problem: str, path: File
) -> None:
    """Raise an error for the first line that is wrong, if there is one."""
    wrong = lines.filter(is_wrong)
    if wrong.height:
        line, text = wrong.select("line", "text").row(0)
        raise FrameError(f"{path}: line {line}, {text[:120]!r}, {problem}.")


# ---- results as files


def checked_target(path: File) -> Path:
    """Return the path of a file that can be written, or raise an error with the reason."""
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
    """Write text to a file and return None; return the text if there is no path.

    The file keeps what it holds until all is written.
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
    """Return nested data as JSON has it.

    Dataclasses become mappings, tuples lists, NaN None, dates and the like text.
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
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)


def as_json(values: Mapping[str, Any]) -> str:
    """Return plain Python as the text of a file of JSON."""
    text = json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n"


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
        """Return `to_dict` as JSON text, or write it to the file `path`.

        Parameters
        ----------
        path : path or file, optional
            Where it is written; without it text is returned.

        Returns
        -------
        str or None
            The JSON, unless it is written.

        Examples
        --------
        >>> import json, recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> json.loads(report.to_json())["k"]
        [10]
        """
        return written(as_json(self.to_dict()), path)
