"""What is refused: an error says what was found, where, an example of it, and what to do.

Each row of the files beside this one is a call, the class of its error, and its message,
or pieces of it where forms or versions differ. The names that a call may use are in
`names.py`. What is given to `evaluate` is refused in the same words at every other way
in; a row has other words by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from recnb import errors
from recnb.cli.messages import in_words
from recnb.errors import RecnbError
from tests import doors
from tests.refused import names
from tests.rows import read_rows


def refused(
    call: Callable[[], Any], kind: type[RecnbError], *pieces: str
) -> RecnbError:
    """Hold that a call raises an error of this kind, with these pieces, in one line."""
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is kind, f"{type(raised.value).__name__}: {message}"
    for piece in pieces:
        assert piece in message, f"{piece!r} is not in: {message}"
    assert 30 < len(message) < 700
    assert "\n" not in message
    assert "in one part" not in message  # no frame here has more rows than a part
    return raised.value


FRAMES = [
    *read_rows("refused/frames.toml").items(),
    *read_rows("refused/splits.toml").items(),
]
HELD = read_rows("refused/pandas.toml")
CALLS = read_rows("refused/calls.toml")
FORMS: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
}


@pytest.mark.thin
@pytest.mark.parametrize(
    ("row", "form"),
    [
        *(pytest.param(row, "pandas", id=name) for name, row in HELD.items()),
        *(
            pytest.param(row, form, id=f"{name} ({form})")
            for name, row in FRAMES
            for form in FORMS
        ),
    ],
)
def test_refused_at_every_door(row: dict[str, Any], form: str) -> None:
    def call(door: doors.Door) -> Any:
        def evaluate(*frames: Any, **options: Any) -> float:
            return door(*map(FORMS[form], frames), **options)

        return eval(row["call"], {**vars(names), "evaluate": evaluate})

    # NaN in pandas is missing in Polars
    words = [
        "None" if piece == "nan" and form != "pandas" else piece
        for piece in row.get("words", [])
    ]
    kind = getattr(errors, row["error"])
    problem = refused(lambda: call(doors.evaluate), kind, *words)
    assert str(problem) == row.get("message", str(problem))
    for name, door in doors.OTHERS.items():
        try:
            with pytest.raises((RecnbError, doors.LineError)) as raised:
                call(door)
        except doors.NotGivenError:
            continue
        told, wanted = str(raised.value), str(problem)
        if name == "command":
            told, wanted = without_file(told), in_words(problem, {})
        if name in row:
            assert row[name] in told
        else:
            assert told.removeprefix("model 'a': ") == wanted, name


def without_file(line: str) -> str:
    """Return what the command says of a table without its file, which it names."""
    without = re.sub(r" \(\S+\.(parquet|csv)\)", "", line, count=1)
    if line.startswith(("recommendations", "truth", "train", "items", "users")):
        assert without != line
    return without


@pytest.mark.parametrize("call", CALLS)
def test_refused(call: str) -> None:
    row = CALLS[call]
    kind = getattr(errors, row["error"])
    problem = refused(lambda: eval(call, vars(names)), kind)
    wanted = row.get("match") or re.escape(row["message"])
    assert re.fullmatch(wanted, str(problem))
