"""Files of text: compressed or not, read as UTF-8, and written whole or not at all."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import secrets
import shutil
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
import polars as pl

from recnb.errors import FrameError, OptionError, RecnbError

File: TypeAlias = str | Path


def _zstd(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="zstd")


#: The function that opens a file, by its last ending.
COMPRESSED: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".zst": _zstd}


def beginning(path: File) -> str:
    """The first 64 kB of a file as text, whatever it holds."""
    return _read(Path(path), 65_536).removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def content(path: File) -> bytes:
    """All of a file as UTF-8; a byte order mark is taken off."""
    data = _read(Path(path)).removeprefix(codecs.BOM_UTF8)
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        of_two_bytes = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise FrameError(
            f"{path} is not UTF-8: line {_line(data, problem.start)} holds the byte 0x{data[problem.start]:02x}. Save it as UTF-8, "
            f"for example by iconv -f {'utf-16' if of_two_bytes else 'latin1'} -t utf-8."
        ) from None
    if (zero := data.find(0)) >= 0:
        raise FrameError(f"{path} is no text: line {_line(data, zero)} holds a zero byte.")
    return data


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def lines_of(data: bytes) -> pl.Series:
    """The lines of a file's content, null where one is empty."""
    if not data.strip():
        return pl.Series("line", [], dtype=pl.String)
    return pl.read_csv(data, separator="\0", has_header=False, quote_char=None, infer_schema=False).to_series()


def _read(path: Path, size: int = -1) -> bytes:
    if not path.exists():
        raise FrameError(f"there is no file {str(path)!r}.")
    if path.is_dir():
        raise FrameError(f"{path} is a folder: name a file in it.")
    opened = COMPRESSED.get(path.suffix.lower())
    try:
        with opened(path) if opened else path.open("rb") as stream:
            return bytes(stream.read(size) if size >= 0 else stream.read())
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or problem
        remedy = f" If it is no {path.suffix} file, rename it; else make it again." if path.suffix in COMPRESSED else ""
        raise FrameError(f"{path} cannot be read: {reason}.{remedy}") from problem


def checked_target(path: File) -> Path:
    """Return the path of a file that can be written, or raise an error with the reason."""
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(f"path={path!r} names no file: give a text such as 'report.html', or a pathlib.Path.")
    if "\0" in str(path):
        raise OptionError(f"{path!r} cannot be written: a file name holds no null character; name another file.")
    target = Path(path)
    if target.is_dir():
        raise RecnbError(f"{path} cannot be written: it is a folder; name another file.")
    if not target.parent.is_dir():
        raise RecnbError(
            f"{path} cannot be written: there is no folder {str(target.parent)!r}: make its folder first, "
            f"pathlib.Path({str(target.parent)!r}).mkdir(parents=True)."
        )
    return target


@contextmanager
def replacing(path: File) -> Iterator[Path]:
    """A file to write, which takes the place of `path` when the block is done; if it fails, `path` is as it was."""
    target = checked_target(path)
    if target.exists() and not target.is_file():  # a pipe or a device
        yield target
        return
    target = target.resolve()  # what a link leads to is replaced, not the link
    temporary = target.with_name(f".{secrets.token_hex(4)}.{target.name}")
    try:
        yield temporary
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except OSError as problem:
        raise RecnbError(f"{path} cannot be written: {problem.strerror or problem}.") from problem
    finally:
        temporary.unlink(missing_ok=True)


def written(text: str, path: File | None) -> str | None:
    """Write text to a file and return None; return the text if there is no path."""
    if path is None:
        return text
    with replacing(path) as file:
        file.write_text(text, encoding="utf-8", newline="\n")
    return None


def json_values(value: Any) -> Any:
    """Nested data as JSON has it: mappings for dataclasses, lists for tuples, None for NaN, text for dates and the like."""
    if is_dataclass(value):
        return {field.name: json_values(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: json_values(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
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
