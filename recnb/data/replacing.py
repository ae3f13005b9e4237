"""Files that are written beside their target and take its place as a whole."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

#: Paths of the streams of a process, which may lead to a regular file.
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Open a file beside another one, which it replaces when all is written.

    An error leaves the other one as it was. A link is followed; owner and permissions
    are kept. A device, a pipe and the streams of the process are written to.
    """
    is_special = target.exists() and not target.is_file()
    if is_special or os.path.abspath(target).startswith(STREAMS):
        with target.open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(target))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = target.with_name(f".recnb-{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            _copy_owner_and_mode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _copy_owner_and_mode(source: Path, copy: Path) -> None:
    if sys.platform != "win32":
        status = source.stat()
        with suppress(OSError):  # only root may give a file away
            os.chown(copy, status.st_uid, status.st_gid)
    shutil.copymode(source, copy)
