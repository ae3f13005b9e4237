"""What recnb writes, it writes whole or not at all, and where it cannot, the error names the path."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import recnb
from recnb.errors import RecnbError
from recnb.report.report import Report

sample = cache(recnb.datasets.load_sample)


@cache
def report() -> Report:
    return sample().models["popular"].rec.against(sample().test).report(k=5, metrics=["ndcg"])


@cache
def comparison() -> Report:
    return recnb.compare(sample().recommendations, sample().test).report(k=5, metrics=["ndcg"])


FORMATS = ("to_html", "to_json", "to_markdown", "to_latex")
WRITERS: dict[str, Callable[[Path], object]] = {
    **{f"Report.{name}": lambda path, name=name: getattr(report(), name)(path) for name in FORMATS},
    **{f"Comparison.{name}": lambda path, name=name: getattr(comparison(), name)(path) for name in FORMATS},
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_path_where_nothing_can_be_written_is_named(write: Callable[[Path], object], tmp_path: Path) -> None:
    missing = tmp_path / "none" / "file"
    with pytest.raises(RecnbError) as told:
        write(missing)
    assert f"{missing} cannot be written: there is no folder {str(missing.parent)!r}: make its folder first" in str(
        told.value
    )
    missing.parent.mkdir()
    write(missing)
    assert missing.stat().st_size > 0
    with pytest.raises(RecnbError, match="it is a folder; name another file"):
        write(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["none"]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_what_fails_leaves_the_file_as_it_was(
    write: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("as it was")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", full)
        with pytest.raises(RecnbError, match="file cannot be written: No space left on device"):
            write(file)
    assert os.listdir(tmp_path) == ["file"]
    assert file.read_text() == "as it was"
