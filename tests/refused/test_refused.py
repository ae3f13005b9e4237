"""What is refused: an error says what was found, where, an example of it, and what to do.

Each row of the files beside this one is a call, the class of its error, and pieces of
its message. The names that a call may use are in `names.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb import errors
from recnb.errors import RecnbError
from tests.refused import names
from tests.rows import read_rows


def refused(call: Callable[[], Any], kind: type[RecnbError], *pieces: str) -> None:
    """Hold that a call raises an error of this kind, which has these pieces, in one
    line.
    """
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is kind, f"{type(raised.value).__name__}: {message}"
    for piece in pieces:
        assert piece in message, f"{piece!r} is not in: {message}"
    assert 30 < len(message) < 700
    assert "\n" not in message
    assert "in one part" not in message  # no frame here has more rows than a part


def hold(
    name: str, row: dict[str, Any], form: Callable[[pd.DataFrame], Any] | None = None
) -> None:
    """Hold that the call of a row is refused, of frames of some form where one is given."""

    def evaluate(*frames: Any, **options: Any) -> recnb.Score:
        if form:
            frames = tuple(map(form, frames))
        return recnb.evaluate(*frames, **options).ndcg(k=2)

    space = {**vars(names), "evaluate": evaluate}
    refused(
        lambda: eval(row.get("call", name), space),
        getattr(errors, row["error"]),
        *row["words"],
    )


FRAMES = read_rows("refused/frames.toml")
OTHERS = {**read_rows("refused/pandas.toml"), **read_rows("refused/calls.toml")}


@pytest.mark.parametrize("form", ["pandas", "polars", "lazy"])
@pytest.mark.parametrize("name", FRAMES)
def test_refused_in_frames_of_every_library(name: str, form: str) -> None:
    row = FRAMES[name]
    if form == "pandas":
        hold(name, row)
        return
    # NaN in pandas is missing in Polars
    words = ["None" if piece == "nan" else piece for piece in row["words"]]
    forms = {
        "polars": pl.from_pandas,
        "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    }
    hold(name, {**row, "words": words}, forms[form])


@pytest.mark.parametrize("name", OTHERS)
def test_refused(name: str) -> None:
    hold(name, OTHERS[name])
