"""What a finding advises is run on the frames that provoked it: the problem is gone,
and the number is the one that was stated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.lint import CHECKS
from tests.lint_planted import CLEAN, FRAMES, METRIC, PAIR, PLANTED, Data
from tests.rows import read_rows

#: Names of columns that are no names of Python or would be code, and differ between the
#: frames where they are found by themselves.
NAMES = {
    "user": "{user} id",
    "item": "'] + 1 / 0 #",
    "rank": "class",
    "score": "how much",
    "rating": "liked?",
}
TRAIN = {"user": "userId", "item": "movie_id"}


def renamed(data: Data) -> Data:
    """The same frames with other names of columns, given by keyword where they are not
    known.
    """
    frames = {
        name: frame.rename(columns=TRAIN if name in FRAMES[2:] else NAMES)
        for name, frame in data.frames.items()
    }
    columns = {*frames["recs"].columns, *frames["truth"].columns}
    named = {
        {"rating": "relevance"}.get(role, role): name
        for role, name in NAMES.items()
        if name in columns
    }
    return data.with_(**frames).saying(**named)


def with_numbers(data: Data) -> Data:
    """The same frames with whole numbers as ids, of another type in each frame."""
    frames = {}
    for (name, frame), dtype in zip(
        data.frames.items(),
        ["int64", "int32", "float64", "int16", "uint8"],
        strict=False,
    ):
        numbers = {
            role: frame[role].str[1:].astype(int).astype(dtype)
            for role in ("user", "item")
            if role in frame
        }
        frames[name] = frame.assign(**numbers)
    return data.with_(**frames)


def made(by: Callable[[Any], Any], *names: str) -> Callable[[Data], Data]:
    """Return what changes some frames of data, by default all."""
    return lambda data: data.with_(
        **{
            name: by(frame)
            for name, frame in data.frames.items()
            if name in (names or FRAMES)
        }
    )


def under(**options: Any) -> Callable[[Data], Data]:
    """Return what evaluates under a library's convention, with an option on top of it."""
    return lambda data: renamed(
        data.with_(options=tuple({**options, **dict(data.options)}.items()))
    )


polars = made(pl.from_pandas)
categories = made(
    lambda frame: frame.astype({"user": "category", "item": "category"}),
    "recs",
    "train",
)
lazy, lazy_sides = (
    made(lambda frame: frame.lazy(), *names) for names in (("recs",), FRAMES[2:])
)
#: Findings that only words can put right.
WORDS = {check.name for check in CHECKS if not check.advice.endswith(":")}
FORMS = read_rows("lint/forms.toml")


def fixed(data: Data, code: str) -> Data:
    """Return the data with the changes of frames, or the options, that code says."""
    if not code.startswith(tuple(f"{name} = " for name in FRAMES)):
        return data.saying(**eval(f"dict({code})"))
    typed = {**data.frames, "pl": pl}
    exec(code, typed)
    return data.with_(**{name: typed[name] for name in data.frames})


def hold_fixed(data: Data, name: str, k: int = 10, metric: str = "ndcg") -> None:
    """Hold that what a finding advises removes it and gives the number that it states."""
    lint = data.lint(k, metric)
    finding = lint[name]
    if not finding.code:  # two Polars frames of different types, or kinds
        assert finding.advice.endswith(".")
        assert isinstance(data.recs, pl.LazyFrame | pl.DataFrame)
        return
    ev = fixed(data, finding.code).evaluate()
    if name != "lists_taken_as_one":  # whose number would be of other lists
        number = float(ev.table([metric], k=k).iloc[0, 0])
        assert number == pytest.approx(finding.facts["other"], abs=1e-12, nan_ok=True)
        assert f", {finding.facts['other_label']} is {number:.4f}" in finding.effect
    again = ev.lint(k, metric)
    assert finding.short not in [one.short for one in again]
    assert again.names.count(name) < lint.names.count(name)
    # What is put right leaves no gap, and closes none that was there.
    if name != "rank_gaps":
        assert ("rank_gaps" in again.names) == ("rank_gaps" in lint.names)


CASES = [
    (name, form)
    for name in PLANTED
    for form, (_changes, absent) in FORMS.items()
    if name.split(":")[0] not in {*WORDS, *absent}
]


@pytest.mark.thin
@pytest.mark.parametrize("name, form", CASES)
def test_what_is_advised_is_run(name: str, form: str) -> None:
    data = PLANTED[name][0]
    for change in FORMS[form][0]:
        data = eval(change)(data)
    hold_fixed(data, name.split(":")[0], *METRIC.get(name, ()))


def mappings(data: Data) -> Data:
    lists = {
        user: dict(zip(part["item"], part["score"], strict=True))
        for user, part in data.recs.groupby("user")
    }
    return data.with_(
        recs=lists,
        truth={user: set(part["item"]) for user, part in data.truth.groupby("user")},
    )


arrow, mixed = (
    made(lambda frame: pa.Table.from_pandas(frame, preserve_index=False)),
    made(pl.from_pandas, "train"),
)


@pytest.mark.parametrize(
    "form", [arrow, mappings, mixed], ids=["arrow", "mappings", "mixed"]
)
def test_frames_for_which_there_is_no_code_have_words_and_the_number(
    form: Callable[[Data], Data],
) -> None:
    data = PLANTED["seen_in_train"][0]
    finding, known = form(data).lint()["seen_in_train"], data.lint()["seen_in_train"]
    assert finding.code == ""
    assert (
        finding.advice
        == "If what was seen is not to be recommended again, take it out before ranking."
    )
    assert finding.facts["other"] == pytest.approx(known.facts["other"], abs=1e-12)
    # What an option puts right is the same for every form.
    hold_fixed(form(PLANTED["ties"][0]), "ties")


def test_of_models_in_one_frame_only_words_are_said() -> None:
    data = PLANTED["seen_in_train"][0]
    models = {"clean": CLEAN.recs, "<new>": data.recs}
    in_frame = pd.concat(frame.assign(model=name) for name, frame in models.items())
    by_name, one_frame = (
        recnb.compare(given, data.truth, train=data.train)["<new>"].lint(10)
        for given in (models, in_frame)
    )
    code = by_name["seen_in_train"].code
    assert code == data.lint()["seen_in_train"].code
    assert code.startswith("recs = ")
    assert one_frame["seen_in_train"].code == ""


def test_of_one_frame_with_both_sides_options_are_said() -> None:
    data = PLANTED["ties"][0]
    frame = data.recs.merge(data.truth.assign(relevance=1), how="outer", on=PAIR)
    assert frame.rec.lint()["ties"].code == "ties='expected'"
