"""Files as tables: Parquet, CSV, and runs and qrels of TREC."""

from __future__ import annotations

import csv
import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import pandas as pd
import polars as pl
import pyarrow as pa

from recnb.data.names import IDS, RECS, TRUTH, Named, role_of
from recnb.data.tables import FileTable, errors_name_frame, refuse_equal_names
from recnb.errors import FrameError, NoRowsError

File: TypeAlias = str | os.PathLike[str]
Trec = Literal["run", "qrels"]

#: The forms of files by their endings; a compressed file, never Parquet, has one more.
PARQUET, CSV, COMPRESSED = (".parquet", ".pq"), (".csv", ".tsv"), (".gz", ".zst")
#: What reads files of other endings.
ELSEWHERE = {
    ".json": "json.loads(path.read_text())",
    **dict.fromkeys((".jsonl", ".ndjson"), "polars.read_ndjson(path)"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "polars.read_ipc(path)"),
}
#: How a file of any other ending is read, by its table.
TREC: dict[str, Trec] = {RECS: "run", TRUTH: "qrels"}
#: The columns of these, in order.
COLUMNS = {
    "run": ("user", "q0", "item", "rank", "score", "model"),
    "qrels": ("user", "iteration", "item", "relevance"),
}
#: White space between columns, for C and so for trec_eval; a no-break space is part of
#: an id.
BLANKS = " \t\r\x0b\x0c"

#: What to do about a path that leads to no file, and about a file that is broken.
WHOLE_PATH = "Give its whole path, or its path from the current folder."
FIX = "If it was cut short, make it again; if its ending is wrong, rename it."


# ---- which files a path names


def files_of(path: File) -> list[Path]:
    """Return the files that a path names, sorted.

    These are the file itself, those of Parquet in a folder and its folders, or those that
    a pattern matches, such as "recs/*.parquet", which may be folders as well.
    """
    if path == "":  # which Path takes for the current folder
        raise FrameError("the path of a file is empty text: give its name.")
    given = Path(path)
    if os.path.isdir(path):
        found = [given]
    elif glob.has_magic(str(path)) and not os.path.exists(path):
        found = [*map(Path, glob.glob(str(path), recursive=True))]
    else:
        return [checked_input(given)]
    each_once: set[Path] = set()
    for file in found:
        if file.is_dir():
            inside = file.rglob("*")
            each_once.update(each for each in inside if _ending(each) in PARQUET)
        else:
            each_once.add(file)
    # Spark writes folders of such names.
    files = sorted(file for file in each_once if not file.is_dir())
    for file in files:
        checked_input(file)
        if _ending(file) not in PARQUET:
            raise FrameError(
                f"{str(path)!r} matches {file}, and a pattern is of files of Parquet."
            )
    if not files:
        # An empty folder is a table without rows; a pattern may be mistyped.
        kind = NoRowsError if os.path.isdir(path) else FrameError
        raise kind(
            f"there is no file of Parquet in {str(path)!r}. {WHOLE_PATH} Of files of "
            "another form, name one, or save them as Parquet."
        )
    return files


def checked_input(path: File) -> Path:
    """Return the path of a file that can be read, or raise an error with the reason."""
    # Bytes that are no UTF-8 stand in the name as surrogates.
    if re.search("[\ud800-\udfff]", str(path)):
        raise FrameError(
            f"the name of the file {str(path)!r} is not in UTF-8: rename it."
        )
    if os.path.isfile(path):
        return Path(path)
    if os.path.exists(path):
        raise FrameError(
            f"{path} is a folder, or a pipe or a device: name a file in it, or save it "
            "as one."
        )
    raise FrameError(f"there is no file {str(path)!r}. {WHOLE_PATH}")


# ---- a file as a table


def read(path: File, name: str, named: Named) -> FileTable:
    """Read a file as a table; of Parquet also those of a folder or a pattern.

    Parquet is read when its rows are asked for.
    """
    files = files_of(path)
    file, ending = files[0], _ending(files[0])
    if ending in PARQUET:  # several files all are
        # In a folder or a pattern, folders such as day=2026-01-01 are columns.
        has_keys = files != [Path(path)]
        _refuse_equal_keys(files, path)
        with errors_name_frame(str(path), FIX):
            rows = pl.scan_parquet(files, hive_partitioning=has_keys, glob=False)
            # An error for a broken file is raised here.
            names = rows.collect_schema().names()
            return FileTable(name, rows, names, made_of="files")
    if ending in CSV:
        with errors_name_frame(str(path), FIX):
            columns = [_plain_kind(column, named) for column in _csv(file)]
        return FileTable.of(pl.DataFrame(columns), name)
    if ending in ELSEWHERE:
        fix = f"In Python, give what it holds: {ELSEWHERE[ending]}."
        raise FrameError(
            f"{path} is of a form that recnb does not read. {fix}",
            {fix: "Save it as Parquet."},
        )
    if name not in TREC:
        raise FrameError(
            f"{file}: its ending says of no format, and what recnb reads here is .parquet, "
            ".csv, .tsv, or recommendations as a run and a truth as qrels of TREC."
        )
    lines = _trec(file, TREC[name]).rename({"user": "query", "item": "document"})
    return FileTable.of(lines, name)


def _refuse_equal_keys(files: Sequence[Path], path: File) -> None:
    """Refuse folders such as user=01 beside user=1, whose keys are read as one number."""
    folders: dict[str, str] = {}
    for name in {folder.name for file in files for folder in file.parents}:
        other = folders.setdefault(re.sub("=0+(?=[0-9])", "=", name), name)
        if other != name:
            first, second = sorted((name, other))
            raise FrameError(
                f"{str(path)!r} has folders {first!r} and {second!r}, whose keys are read "
                "as one number. Rename those of one."
            )


def _ending(file: Path) -> str:
    """Return the suffix of a file, in lower case, before that of a compression."""
    if file.suffix.lower() in COMPRESSED:
        file = file.with_suffix("")
    return file.suffix.lower()


def _content(file: Path) -> bytes:
    """Return what a file holds, decompressed."""
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


def _csv(file: Path) -> pl.DataFrame:
    """Read a CSV file as text, with the first separator that its header holds."""
    text = _text(file).strip("\r\n")
    header = text.split("\n", 1)[0]
    usual = "\t" if _ending(file) == ".tsv" else ","
    in_header = [separator for separator in (usual, *";\t|,") if separator in header]
    separator = in_header[0] if in_header else usual
    content = text.encode()
    first_row = pl.read_csv(
        content,
        separator=separator,
        has_header=False,
        infer_schema=False,
        n_rows=1,
        truncate_ragged_lines=True,
    )
    refuse_equal_names(
        [name or "" for name in first_row.row(0)],
        str(file),
        hint=" If these are values, write names of columns above them.",
    )
    try:
        table = pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.ComputeError:
        _refuse_long_row(text, file, separator)
        raise
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


def _plain_kind(column: pl.Series, named: Named) -> pl.Series:
    """Return text as numbers where nothing is lost by it.

    `007` stays text, and so do texts that would become equal numbers.
    """
    whole = column.cast(pl.Int64, strict=False)
    if whole.cast(pl.String).eq_missing(column).all():
        return whole
    by_keyword = [role for role, labels in named.items() if column.name in labels]
    role = next(iter(by_keyword), role_of(column.name))
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() > column.null_count() or role in (*IDS, "model"):
        return column
    # 1.5 and 1.50 are one score, and may be two versions.
    return number if role or number.n_unique() == column.n_unique() else column


# ---- runs and judgements of TREC


def read_trec_run(path: File) -> pd.DataFrame:
    """Read a run as a frame of recommendations.

    The rank is left out, as trec_eval never reads it.

    Parameters
    ----------
    path : path
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
    path : path
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
