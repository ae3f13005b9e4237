"""The pictures of the README show what is shown today."""

from __future__ import annotations

import pytest

from tests.tools.pictures import FOLDER, PICTURES, text_of


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_not_old(name: str) -> None:
    stored = (FOLDER / f"{name}.txt").read_text("utf-8")
    assert text_of(PICTURES[name]()) == stored, "type: python -m tests.tools.pictures"


def test_every_picture_is_made() -> None:
    assert {path.stem for path in FOLDER.glob("*.png")} == {*PICTURES}
