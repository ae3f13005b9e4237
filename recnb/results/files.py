"""Results as files, each of which takes the place of another as a whole, and as JSON."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np

from recnb.data.files import File
from recnb.data.tables import is_path
from recnb.errors import OptionError, WriteError

#: Paths of the streams of a process, which may lead to a regular file.
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Open a file beside another one, which it replaces when all is written.

    An error leaves the other one as it was. A link is followed, and permissions are
    kept. A device, a pipe and the streams of the process are written to.
    """
    is_special = target.exists() and not target.is_file()
    if is_special or os.path.abspath(target).startswith(STREAMS):
        with target.open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(target))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = target.with_name(f".recnb-{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def checked_target(path: File) -> Path:
    """Return the path of a file that can be written, or raise an error with the reason."""
    if not is_path(path) or "\0" in str(path):
        raise OptionError(
            f"path={path!r} names no file: give a text such as 'report.html', or a pathlib.Path."
        )
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise WriteError(
            f"{path} cannot be written: name a file, and make its folder first if it "
            "does not exist."
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
    """Return nested data as JSON has it: tuples as lists, NaN as None."""
    if isinstance(value, Mapping):
        return {name: json_values(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def as_json(values: Mapping[str, Any]) -> str:
    """Return plain Python as the text of a file of JSON, with a line for each key."""
    lines = []
    for name, value in values.items():
        key = json.dumps(name, ensure_ascii=False)
        lines.append(f"{key}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}")
    body = ",\n".join(lines)
    return f"{{\n{body}\n}}\n"


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
        path : path, optional
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
