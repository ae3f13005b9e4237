"""Temporary files and folders.

Each is locked by the process that made it, and removed when it is done with, at SIGTERM
as well; if that process was killed, a later run removes it.
"""

from __future__ import annotations

import errno
import os
import platform
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

import polars as pl

from recnb.errors import WriteError

#: What the names of temporary folders and files begin with.
PREFIX = "recnb-"
#: The locked file of a temporary folder, beside the folder of what is put into it.
LOCK, CONTENT = "lock", "content"
#: Where Linux names the kernel that runs, which containers on one machine share.
BOOT = Path("/proc/sys/kernel/random/boot_id")

#: Paths of the streams of a process, which may lead to a regular file.
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")

#: What is to be removed when the process ends.
_pending: dict[Path, Callable[[], object]] = {}


# ---- locks


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO, *, wait: bool) -> bool:
        """Lock a file until it is closed or the process ends; False if another holds it."""
        way = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK
        try:
            msvcrt.locking(file.fileno(), way, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock(file: BinaryIO, *, wait: bool) -> bool:
        """Lock a file until it is closed or the process ends; False if another holds it.

        False as well if the file system has no locks.
        """
        way = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.flock(file, way)
        except OSError:
            return False
        return True


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Return whether an open file is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except OSError:
        return False


# ---- folders


def temporary_folder(owner: object) -> Path:
    """Make a folder that is removed with an object, or when the process ends.

    Folders that processes on this machine left behind when they were killed are removed
    first.
    """
    remove_abandoned_folders()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = (folder / LOCK).open("wb")
    try:
        # It names the machine once it is locked. Another process that looks for
        # abandoned folders passes by a lock without a name.
        if _lock(lock, wait=True):
            lock.write(_machine().encode())
            lock.flush()
        (folder / CONTENT).mkdir()
    except OSError:
        _remove_folder(folder, lock)
        raise
    remove = _once_in_this_process(folder, lambda: _remove_folder(folder, lock))
    weakref.finalize(owner, remove)
    return folder / CONTENT


@contextmanager
def written_to_disk() -> Iterator[None]:
    """Raise errors of writing to a temporary folder as one that names it."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as problem:
        # Python names the folder, where there is none; Polars adds its query.
        folder = tempfile.tempdir or "the folder for temporary files"
        message = getattr(problem, "strerror", None) or str(problem)
        reason = message.split("\n")[0].rpartition(" error: ")[2]
        raise WriteError(
            f"temporary files cannot be written to {folder}: {reason}. Free some "
            "space there, or name a folder of a larger disk, TMPDIR."
        ) from problem


def remove_abandoned_folders() -> None:
    """Remove temporary folders of this user whose process has ended."""
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    """Remove a temporary folder that nobody holds the lock of."""
    status = folder.lstat()
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        return
    if folder.is_symlink() or (folder / LOCK).is_symlink():
        return
    with (folder / LOCK).open("r+b") as lock:
        # Another machine may share the folder, and not the locks.
        if not {*lock.read().decode().split()} & {*_machine().split()}:
            return
        if _lock(lock, wait=False):
            _remove_folder(folder, lock)


def _remove_folder(folder: Path, lock: BinaryIO | None = None) -> None:
    """Remove a temporary folder, its lock last.

    If something cannot be removed now, a later run knows it as abandoned by the lock.
    """
    for _attempt in range(10):
        shutil.rmtree(folder / CONTENT, ignore_errors=True)
        is_empty = not (folder / CONTENT).exists()
        if is_empty:
            break
        time.sleep(0.02)  # threads of Polars may write on for a while after an error
    if sys.platform == "win32" and lock is not None:
        lock.close()  # an open file cannot be removed
    if is_empty:
        with suppress(OSError):
            (folder / LOCK).unlink(missing_ok=True)
            folder.rmdir()
    if lock is not None:
        lock.close()


def _machine() -> str:
    """Return the names by which this machine is known: of its host and its running kernel.

    A container or a restart keeps one of the two.
    """
    names = [f"host:{platform.node()}"]
    with suppress(OSError):
        names.append(f"boot:{BOOT.read_text().strip()}")
    return " ".join(names)


# ---- files beside their target


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
    beside, file = _file_beside(target)
    remove = _once_in_this_process(beside, lambda: beside.unlink(missing_ok=True))
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if target.exists():
                _copy_owner_and_mode(target, beside)
            if sys.platform != "win32":  # where an open file can be renamed, and is
                beside.replace(target)  # locked until it has its name
        if sys.platform == "win32":
            beside.replace(target)
    finally:
        remove()


def _copy_owner_and_mode(source: Path, copy: Path) -> None:
    if sys.platform != "win32":
        status = source.stat()
        with suppress(OSError):  # only root may give a file away
            os.chown(copy, status.st_uid, status.st_gid)
    shutil.copymode(source, copy)


def _file_beside(target: Path) -> tuple[Path, BinaryIO]:
    """Make a locked file in the folder of another.

    Files that killed processes left there are removed.
    """
    name = target.name[:100]  # file systems limit the bytes of a name
    while len(name.encode()) > 150:
        name = name[:-1]
    prefix = f".{PREFIX}{name}-"
    with suppress(OSError):  # a folder that can be written to and not listed
        for left in [*target.parent.iterdir()]:
            if left.name.startswith(prefix) and len(left.name) == len(prefix) + 16:
                _remove_file_if_abandoned(left)
    while True:
        beside = target.parent / f"{prefix}{secrets.token_hex(8)}"
        file = beside.open("xb")
        if not _lock(file, wait=True) or _is_at(file, beside):
            return beside, file
        file.close()


def _remove_file_if_abandoned(path: Path) -> None:
    with path.open("r+b") as file:
        is_abandoned = _lock(file, wait=False)
        if is_abandoned and sys.platform != "win32":
            path.unlink()
    if is_abandoned and sys.platform == "win32":
        path.unlink()


# ---- the end of the process


def _once_in_this_process(
    path: Path, remove: Callable[[], object]
) -> Callable[[], None]:
    """Return a function that removes something, once and in this process alone.

    A process that was forked removes nothing. At SIGTERM it is called as well.
    """
    process = os.getpid()

    def removed() -> None:
        if os.getpid() == process and _pending.pop(path, None) is not None:
            remove()
            _handle_sigterm()

    _pending[path] = removed
    _handle_sigterm()
    return removed


def _handle_sigterm() -> None:
    """Handle SIGTERM while there is something to remove, unless the program does."""
    if threading.current_thread() is not threading.main_thread():
        return
    handler = signal.getsignal(signal.SIGTERM)
    if _pending and handler is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _remove_and_end)
    elif not _pending and handler is _remove_and_end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _remove_and_end(number: int, _frame: FrameType | None) -> Any:
    """Remove what is temporary, and end as without a handler."""
    for removed in [*_pending.values()]:
        with suppress(OSError):
            removed()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
