"""A file is written, or the reason is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from recnb.errors import WriteError
from recnb.results.files import written


def test_a_full_disk_is_an_error_with_the_reason(tmp_path, monkeypatch):
    def full(_path, _text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        WriteError, match=r"r.txt cannot be written: No space left on device. Free"
    ):
        written("new", tmp_path / "r.txt")


def test_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    with pytest.raises(WriteError, match="cannot be written: Too many levels"):
        written("new", tmp_path / "loop.txt")


@pytest.mark.parametrize("name", ["r" * 255, "é" * 127, "r [*].html"])
def test_any_name_of_a_file_can_be_written(name, tmp_path):
    written("new", tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {name}
