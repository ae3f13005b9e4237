"""Results are written to files, or it is said why not."""

from __future__ import annotations

import os
import sys

import pytest

from recnb.errors import WriteError
from recnb.results.files import written


@pytest.mark.skipif(sys.platform != "linux", reason="the device is of Linux")
def test_a_full_disk_is_an_error_with_the_reason():
    with pytest.raises(
        WriteError, match=r"cannot be written: No space left on device\. Free"
    ):
        written("new", "/dev/full")


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


def test_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    with pytest.raises(WriteError, match="cannot be written: Too many levels"):
        written("new", tmp_path / "loop.txt")
    assert (tmp_path / "loop.txt").is_symlink()


@pytest.mark.parametrize("name", ["r" * 255, "é" * 127, "r [*].html"])
def test_any_name_of_a_file_can_be_written(name, tmp_path):
    written("new", tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {name}
