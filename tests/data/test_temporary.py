"""Temporary folders and files: whose they are, when they go, and that a file is
replaced as a whole or not at all.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import recnb
from recnb.data import temporary
from recnb.data.files import written
from recnb.data.temporary import (
    CONTENT,
    LOCK,
    remove_abandoned_folders,
    replacing,
    temporary_folder,
)
from recnb.errors import WriteError


class Owner:
    """Whatever a temporary folder is made for."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


#: A process that makes a temporary folder with a file, and waits.
HOLDER = """
import signal, sys, time
from recnb.data.temporary import replacing, temporary_folder

class Owner: pass

owner = Owner()
{before}
(temporary_folder(owner) / "rows").write_text("x" * 100)
with replacing(__import__("pathlib").Path(sys.argv[1])) as file:
    file.write(b"half of it")
    file.flush()
    print("ready", flush=True)
    time.sleep(60)
"""


def holder(folder, before=""):
    """Start such a process, and return it when it has its folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER.format(before=before), str(folder / "target")],
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "TMPDIR": str(folder),
            "PYTHONPATH": str(Path(recnb.__file__).parent.parent),
        },
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process, number):
    process.send_signal(number)
    process.stdout.close()
    return process.wait(timeout=30)


# ---- folders


def test_a_folder_goes_with_its_owner(folder):
    owner = Owner()
    made = temporary_folder(owner)
    (made / "rows").write_text("x")
    assert [made.parent] == [*folder.iterdir()]
    del owner
    gc.collect()
    assert not [*folder.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to handle")
def test_nothing_temporary_is_left_at_sigterm(folder):
    process = holder(folder)
    assert len([*folder.iterdir()]) == 2
    assert end(process, signal.SIGTERM) == -signal.SIGTERM
    assert not [*folder.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to handle")
def test_a_program_that_handles_sigterm_goes_on_doing_so(folder):
    before = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))"
    assert end(holder(folder, before), signal.SIGTERM) == 7
    assert not [*folder.iterdir()]


def test_the_handler_of_sigterm_is_there_while_something_is_temporary(folder):
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    owner = Owner()
    temporary_folder(owner)
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    del owner
    gc.collect()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(folder):
    killed, living = holder(folder), holder(folder)
    before = {path for path in folder.iterdir() if path.is_dir()}
    end(killed, signal.SIGKILL)
    assert {path for path in folder.iterdir() if path.is_dir()} == before
    owner = Owner()
    mine = temporary_folder(owner).parent
    (left,) = {path for path in folder.iterdir() if path.is_dir()} - {mine}
    assert (left / CONTENT / "rows").exists()
    end(living, signal.SIGTERM)
    assert {path for path in folder.iterdir() if path.is_dir()} == {mine}


def abandoned(folder):
    """Leave a folder behind, as a killed process does."""
    end(holder(folder), signal.SIGKILL)
    (path,) = (path for path in folder.iterdir() if path.is_dir())
    return path


def test_the_folder_of_another_user_stays(folder, monkeypatch):
    left = abandoned(folder)
    monkeypatch.setattr(os, "geteuid", lambda: left.stat().st_uid + 1, raising=False)
    remove_abandoned_folders()
    assert left.exists()
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    remove_abandoned_folders()
    assert not left.exists()


def test_the_folder_of_another_machine_stays(folder):
    left = abandoned(folder)
    (left / LOCK).write_text("host:another boot:0000")
    remove_abandoned_folders()
    assert left.exists()


def test_a_container_knows_the_folder_of_another_on_its_machine(folder, monkeypatch):
    left, kernel = abandoned(folder), folder / "boot_id"
    (left / LOCK).write_text("host:another boot:0000")
    monkeypatch.setattr(temporary, "BOOT", kernel)
    kernel.write_text("1111\n")
    remove_abandoned_folders()
    assert left.exists()
    kernel.write_text("0000\n")
    remove_abandoned_folders()
    assert not left.exists()


@pytest.mark.parametrize("name", ["recnb-report", "recnb-link", "other"])
def test_a_folder_that_is_none_of_these_stays(name, folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / CONTENT).mkdir()
    (elsewhere / CONTENT / "rows").write_text("mine")
    if name == "recnb-link":
        (elsewhere / LOCK).write_text(temporary._machine())
        (folder / name).symlink_to(elsewhere)
    else:
        (folder / name / CONTENT).mkdir(parents=True)
        (folder / name / CONTENT / "rows").write_text("mine")
    remove_abandoned_folders()
    assert (folder / name / CONTENT / "rows").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_leaves_the_folder_to_its_parent(folder):
    owner = Owner()
    made = temporary_folder(owner)
    child = os.fork()
    if child == 0:
        del owner
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert made.exists()


def test_a_folder_without_locks_is_left_to_its_process(folder, monkeypatch):
    owner = Owner()
    monkeypatch.setattr(temporary, "_lock", lambda *_, **__: False)
    made = temporary_folder(owner)
    assert (made.parent / LOCK).read_bytes() == b""
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    remove_abandoned_folders()
    assert made.exists()
    del owner
    gc.collect()
    assert not [*folder.iterdir()]


@pytest.mark.parametrize("step", ["_lock", "_machine", "mkdir"])
def test_a_folder_that_is_being_made_is_not_taken_for_abandoned(
    step, folder, monkeypatch
):
    """As where another process looks for abandoned folders before a step."""
    place = Path if step == "mkdir" else temporary
    real = getattr(place, step)
    looked = []

    def after_a_look(*arguments, **options):
        if not looked:
            looked.append(True)
            remove_abandoned_folders()
        return real(*arguments, **options)

    owner = Owner()
    monkeypatch.setattr(place, step, after_a_look)
    made = temporary_folder(owner)
    assert looked
    assert made.is_dir()
    remove_abandoned_folders()
    assert made.is_dir()


# ---- files


def test_a_file_is_as_it_was_until_all_is_written(tmp_path):
    target = tmp_path / "r.txt"
    target.write_text("as it was")

    def write(text):
        with replacing(target) as file:
            file.write(text)
            file.flush()
            assert target.read_text() == "as it was"
            if text == b"half":
                raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write(b"half")
    assert [*tmp_path.iterdir()] == [target]
    assert target.read_text() == "as it was"
    write(b"all of it")
    assert target.read_text() == "all of it"
    assert [*tmp_path.iterdir()] == [target]


def test_a_full_disk_is_an_error_with_the_reason(tmp_path, monkeypatch):
    def full(_file):
        raise OSError(28, "No space left on device")

    (tmp_path / "r.txt").write_text("as it was")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match=r"r.txt cannot be written: No space left"):
        written("new", tmp_path / "r.txt")
    assert (tmp_path / "r.txt").read_text() == "as it was"


def test_a_killed_process_leaves_the_older_file_and_the_next_one_tidies_up(tmp_path):
    target = tmp_path / "target"
    target.write_text("as it was")
    killed, living = holder(tmp_path), holder(tmp_path)
    end(killed, signal.SIGKILL)
    assert target.read_text() == "as it was"
    assert len([path for path in tmp_path.iterdir() if path.is_file()]) == 3
    written("new", target)
    assert target.read_text() == "new"
    assert len([path for path in tmp_path.iterdir() if path.is_file()]) == 2
    end(living, signal.SIGTERM)
    assert [path for path in tmp_path.iterdir() if path.is_file()] == [target]
    assert target.read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_permissions_and_links_are_kept(tmp_path):
    target, link = tmp_path / "r.txt", tmp_path / "link.txt"
    target.write_text("as it was")
    target.chmod(0o640)
    link.symlink_to("r.txt")
    written("new", link)
    assert (link.is_symlink(), target.read_text()) == (True, "new")
    assert target.stat().st_mode & 0o777 == 0o640
    umask = os.umask(0o027)
    try:
        written("new", tmp_path / "other.txt")
    finally:
        os.umask(umask)
    assert (tmp_path / "other.txt").stat().st_mode & 0o777 == 0o640


def test_a_file_that_must_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    target = tmp_path / "r.txt"
    target.write_text("as it was")
    target.chmod(0o440)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to it
    with pytest.raises(WriteError, match=r"r.txt cannot be written: Permission denied"):
        written("new", target)
    assert target.read_text() == "as it was"


def test_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    with pytest.raises(WriteError, match="cannot be written: Too many levels"):
        written("new", tmp_path / "loop.txt")
    assert (tmp_path / "loop.txt").is_symlink()


@pytest.mark.parametrize("name", ["r" * 255, "é" * 127, "r [*].html"])
def test_any_name_of_a_file_can_be_written(name, tmp_path):
    written("new", tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {name}
