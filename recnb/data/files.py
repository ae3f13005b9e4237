"""Files, folders and patterns as tables.

Files are Parquet, Arrow, CSV, JSON lines, and runs and qrels of TREC.
"""

from __future__ import annotations

import csv
import glob
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import pandas as pd
import polars as pl

from recnb.data.columns import kind
from recnb.data.names import OF_LISTS, RECS, TRUTH, Named, role_of
from recnb.data.tables import FileTable, errors_name_frame
from recnb.errors import (
    ColumnError,
    FrameError,
    NoRowsError,
)

File: TypeAlias = str | os.PathLike[str]
Trec = Literal["run", "qrels"]
Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)

#: The forms of files by their endings; a compressed file, never Parquet, has one more.
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
CSV, LINES, COMPRESSED = (".csv", ".tsv"), (".jsonl", ".ndjson"), (".gz", ".zst")
#: What files of other endings are, by the table that they are.
TREC: dict[str, Trec] = {RECS: "run", TRUTH: "qrels"}
COLUMNS = {
    "run": ("user", "q0", "item", "rank", "score", "model"),
    "qrels": ("user", "iteration", "item", "relevance"),
}
#: Columns of lists that have no role by their names; a room of inputs adds its own.
COLUMNS_OF_LISTS: set[str] = set()
#: White space between columns, for C and so for trec_eval; a no-break space is part of
#: an id.
BLANKS = " \t\r\x0b\x0c"

#: What to do about a path that leads to no file, and about a file that is broken.
WHOLE_PATH = "Give its whole path, or its path from the current folder."
FIX = "If it was cut short, make it again; if its ending is wrong, rename it."


# ---- which files a path names


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
    files = {given}
    if given.is_dir():
        files = _files_below(given)
        if not files:
            raise NoRowsError(f"the folder {str(path)!r} holds no files. {WHOLE_PATH}")
    elif is_pattern(path) and not given.exists():
        files = set()
        for match in glob.glob(str(path), recursive=True):
            files |= _files_below(Path(match))
        if not files:
            raise FrameError(f"no file matches {str(path)!r}. {WHOLE_PATH}")
    for file in files:
        _refuse_name(file)
    return sorted(files)


def _files_below(root: Path) -> set[Path]:
    """Return the files in a folder and its folders, or the file itself.

    Files whose names begin with _ or . are left out.
    """
    folder = root if root.is_dir() else root.parent
    files = set()
    for path in (root, *root.rglob("*")):
        names = path.relative_to(folder).parts
        if path.is_file() and not any(name[0] in "_." for name in names):
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


def one_form(files: Sequence[Path], path: File) -> str:
    """Return the ending that all files have, "" for TREC."""
    example_of = {_ending(file): file for file in files}
    ending = max(example_of)
    if len(example_of) == 1:
        return ending
    mixed = " and ".join(str(file) for file in [*example_of.values()][:2])
    pattern = Path(path, "*") if Path(path).is_dir() else Path(path)
    raise FrameError(
        f"{path} is to be one table, and its files are of several kinds: "
        f"{mixed}. Name those that are meant by a pattern, such as "
        f"{str(pattern.with_suffix(ending))!r}."
    )


def _ending(file: Path) -> str:
    """Return the suffix that names a format, not a compression; "" without one."""
    if file.suffix.lower() in COMPRESSED:
        file = file.with_suffix("")
    ending = file.suffix.lower()
    return ending if ending in (*PARQUET, *READERS) else ""


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
    raise FrameError(f"there is no file {str(path)!r}. {WHOLE_PATH}")


# ---- files as one table


def read(path: File, name: str, named: Named) -> FileTable:
    """Read a file, or those of a folder or a pattern, as one table.

    Parquet is read when its rows are asked for.
    """
    files = [checked_input(file) for file in files_of(path)]
    ending = one_form(files, path)
    with errors_name_frame(str(path), FIX):
        if ending in PARQUET:
            has_keys = _are_partitioned(files)
            scans = {file: _parquet(file, has_keys) for file in files}
            rows: Any = _together(scans, named)
        else:
            rows = _together({file: _table(file, name) for file in files}, named)
        if ending in CSV:
            rows = pl.DataFrame(
                [_plain_kind(column, _role(column.name, named)) for column in rows]
            )
        if ending in LINES:
            for file in files:
                _refuse_null_numbers(file, rows.schema, named)
        columns = rows.collect_schema().names()
    return FileTable(name, rows, columns, from_text=ending in CSV)


def _are_partitioned(files: Sequence[Path]) -> bool:
    """Return whether files are in folders such as day=2026-01-01."""
    top = os.path.commonpath([file.parent for file in files])
    return any("=" in str(file.parent.relative_to(top)) for file in files)


def _together(tables: Mapping[Path, Table], named: Named) -> Table:
    """Put the tables of files one below the other.

    Columns with a role are in each of them, and a column is of one kind.
    """
    schemas: dict[Path, pl.Schema] = {
        file: table.collect_schema() for file, table in tables.items()
    }
    for column in sorted(set().union(*schemas.values())):
        types: dict[Path, pl.DataType] = {
            file: schema[column] for file, schema in schemas.items() if column in schema
        }
        if _role(column, named):
            _refuse_lacking(column, [*types], [*schemas])
        _refuse_other_kinds(column, types)
    return pl.concat(tables.values(), how="diagonal_relaxed")


def _refuse_lacking(column: str, has: Sequence[Path], files: Sequence[Path]) -> None:
    """Raise an error for a file without a column that others have."""
    lacks = [file for file in files if file not in has]
    # A key may be left out of a line of JSON.
    if lacks and _ending(has[0]) not in LINES:
        raise FrameError(
            f"{has[0]} has a column {column!r}, and {lacks[0]} has none. Give one "
            "table files with the same columns; a pattern in place of a folder "
            "names some of its files."
        )


def _refuse_other_kinds(column: str, types: Mapping[Path, pl.DataType]) -> None:
    """Raise an error for a column that is of numbers in one file, and not in another."""
    known = {file: dtype for file, dtype in types.items() if dtype != pl.Null}
    with_numbers = [file for file, dtype in known.items() if dtype.is_numeric()]
    others = [file for file, dtype in known.items() if not dtype.is_numeric()]
    if with_numbers and others:
        number, other = with_numbers[0], others[0]
        raise FrameError(
            f"column {column!r} is of different kinds: {kind(types[number])} in "
            f"{number}, {kind(types[other])} in {other}. Make both one kind."
        )


def _role(column: str, named: Named) -> str | None:
    """Return the role of a column, by keyword or by its name."""
    for role, labels in named.items():
        if column in labels:
            return role
    return role_of(column)


# ---- one file as a table


def _parquet(file: Path, has_keys: bool) -> pl.LazyFrame:
    """Return the rows of a Parquet file, to be read.

    `has_keys`: folders such as day=2026-01-01 are columns.
    """
    with errors_name_frame(str(file), FIX):
        table = pl.scan_parquet(file, hive_partitioning=has_keys, glob=False)
        table.collect_schema()  # which raises the error for a broken file
    return table


def _table(file: Path, name: str) -> pl.DataFrame:
    """Read a file of another form than Parquet; values of CSV are text."""
    reader = READERS.get(_ending(file))
    if reader is not None:
        with errors_name_frame(str(file), FIX):
            return reader(file)
    if name in TREC:
        rows = _trec(file, TREC[name])
        return rows.rename({"user": "query", "item": "document"})
    raise FrameError(
        f"{file}: its ending says of no format, and what recnb reads here is .parquet, "
        ".arrow, .csv, .tsv, .jsonl, or recommendations as a run and a truth as qrels of "
        "TREC."
    )


def _content(file: Path) -> bytes:
    """Return what a file holds, decompressed."""
    import pyarrow as pa

    with errors_name_frame(str(file), FIX), pa.input_stream(str(file)) as stream:
        data: bytes = stream.read()
    return data


def _text(file: Path) -> str:
    """Return what a file holds as text in UTF-8, without a byte order mark."""
    try:
        text = _content(file).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        byte = problem.object[problem.start]
        raise FrameError(
            f"{file} is no text in UTF-8: line {line} holds the byte 0x{byte:02x}. Save "
            "it as UTF-8."
        ) from problem
    if not text.strip():
        raise NoRowsError(f"{file} is empty: it has no rows.")
    return text


def _arrow(file: Path) -> pl.DataFrame:
    """Read a file of Arrow."""
    return pl.read_ipc(_content(file))


def _json(file: Path) -> pl.DataFrame:
    """Raise an error for JSON that is not in lines."""
    raise FrameError(
        f"{file} is JSON, of which recnb reads lines, .jsonl. In Python, give "
        "what it holds: json.loads(path.read_text())."
    )


def _json_lines(file: Path) -> pl.DataFrame:
    """Read lines of JSON; a line that is broken is refused."""
    text = _text(file)
    try:
        return pl.read_ndjson(text.encode(), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        _refuse_broken_line(text, file)
        raise


def _refuse_broken_line(text: str, file: Path) -> None:
    """Raise an error for the first line that is no JSON, if there is one."""
    constants: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{file} cannot be read as .jsonl: line {number}, {line[:120]!r}"
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


def _refuse_null_numbers(file: Path, schema: pl.Schema, named: Named) -> None:
    """Raise an error for an item of a list whose number is null.

    A struct of Polars has every item of all lines, null where a line had none.
    """
    columns = []
    for column, dtype in schema.items():
        is_of_lists = _role(column, named) in OF_LISTS.values()
        if dtype == pl.Struct and (is_of_lists or column in COLUMNS_OF_LISTS):
            columns.append(column)
    if not columns:
        return
    for number, line in enumerate(_text(file).split("\n"), 1):
        row = json.loads(line.strip() or "{}")
        for column in columns:
            numbers = row.get(column) or {}
            lacking = [item for item in numbers if numbers[item] is None]
            if lacking:
                raise FrameError(
                    f"{file}: line {number} has null as the number of item "
                    f"{lacking[0]!r}. Write a number, or leave the item out."
                )


def _csv(file: Path) -> pl.DataFrame:
    """Read a CSV file as text, with the first separator that its header holds."""
    text = _text(file).strip("\r\n")
    header = text.split("\n", 1)[0]
    usual = "\t" if _ending(file) == ".tsv" else ","
    found = [separator for separator in (usual, *";\t|,") if separator in header]
    separator = found[0] if found else usual
    try:
        table = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    except pl.exceptions.ComputeError:
        _refuse_long_row(text, file, separator)
        raise
    for name in table.columns:
        if name.endswith("_duplicated_0"):  # so Polars calls the second of two
            raise ColumnError(
                f"{file} has more than one column called {name[:-13]!r}: rename "
                "all but one. If these are values, write names of columns above them."
            )
    return table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines


def _refuse_long_row(text: str, file: Path, separator: str) -> None:
    """Raise an error for the first row of more fields than the header, if there is one."""
    rows = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    header = next(rows)
    for row in rows:
        if len(row) > len(header):
            raise FrameError(
                f"{file}: line {rows.line_num}, {separator.join(row)[:120]!r}, has "
                f"{len(row)} fields, and the header {len(header)}. Correct it; text that "
                f"holds {separator!r} stands in quotes."
            )


def _plain_kind(column: pl.Series, role: str | None) -> pl.Series:
    """Return text as numbers where nothing is lost by it.

    `007` stays text, and so do texts that would become equal numbers.
    """
    whole = column.cast(pl.Int64, strict=False)
    if whole.cast(pl.String).eq_missing(column).all():
        return whole
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() > column.null_count() or role in ("user", "item", "model"):
        return column
    # 1.5 and 1.50 are one score, and may be two versions.
    return number if role or number.n_unique() == column.n_unique() else column


#: What reads a file, by its ending.
READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    **dict.fromkeys(ARROW, _arrow),
    **dict.fromkeys(CSV, _csv),
    **dict.fromkeys(LINES, _json_lines),
    ".json": _json,
}


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
    return _trec(checked_input(path), "run").to_pandas()


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
    return _trec(checked_input(path), "qrels").to_pandas()


def _trec(file: Path, form: Trec) -> pl.DataFrame:
    """Read a run or qrels as a table; a broken line is refused.

    As in trec_eval, what follows the sixth column of a run is no part of it, and lines
    that begin with # are comments.
    """
    names = COLUMNS[form]
    if form == "run":
        end, problem = "", "a score that is no number"
        number = pl.col("score").cast(pl.Float64, strict=False).fill_nan(None)
    else:
        end, problem = "$", "a relevance that is no whole number"
        # trec_eval reads 1e3 as 1, and 0.5 as 0.
        whole = pl.col("relevance").str.extract(r"^([-+]?\d{1,15})(\.0*)?$")
        number = whole.cast(pl.Float64, strict=False).cast(pl.Int64)
    word = f"[^{BLANKS}]+"
    words = f"[{BLANKS}]+".join(f"(?<{name}>{word})" for name in names)
    line = pl.Series([_text(file)]).str.split("\n").explode().str.strip_chars(BLANKS)
    columns = line.str.extract_groups(f"^{words}{end}").struct.unnest()
    lines = columns.with_columns(text=line).with_row_index("line", offset=1)
    lines = lines.filter(line != "", ~line.str.starts_with("#"))
    if lines.is_empty():
        raise NoRowsError(f"{file} is empty: it has no rows.")
    form_in_words = f"{form} of TREC, which has {len(names)} columns, {' '.join(names)}"
    _refuse_line(lines, pl.col("user").is_null(), f"is no {form_in_words}", file)
    _refuse_line(lines, number.is_null(), f"has {problem}", file)
    return lines.select("user", "item", number, "^model$")


def _refuse_line(
    lines: pl.DataFrame, is_wrong: pl.Expr, problem: str, file: Path
) -> None:
    """Raise an error for the first line that is wrong, if there is one."""
    wrong = lines.filter(is_wrong)
    if wrong.height:
        line, text = wrong.select("line", "text").row(0)
        raise FrameError(f"{file}: line {line}, {text[:120]!r}, {problem}.")
