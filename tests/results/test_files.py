"""A file is replaced as a whole or not at all."""

from __future__ import annotations

import os
import sys

import pytest

from recnb.errors import WriteError
from recnb.results.files import replacing, written


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
    with pytest.raises(
        WriteError, match=r"r.txt cannot be written: No space left on device."
    ):
        written("new", tmp_path / "r.txt")
    assert (tmp_path / "r.txt").read_text() == "as it was"


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


@pytest.mark.parametrize("name", ["r" * 255, "é" * 127, "r [*].html"])
def test_any_name_of_a_file_can_be_written(name, tmp_path):
    written("new", tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {name}
