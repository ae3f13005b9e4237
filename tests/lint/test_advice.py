"""What a finding advises is run on the frames that provoked it: the problem is gone, and the number is the one that was stated."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.lint import Finding
from tests.lint_planted import METRIC, PLANTED, SIDES, Data

#: Names of columns that are no names of Python, and differ between the frames where they are found by themselves.
NAMES = {"user": "member id", "item": "class", "rank": "place {0}", "score": "how much", "rating": "liked?"}
TRAIN = {"user": "userId", "item": "movie_id"}


def renamed(data: Data) -> Data:
    """The same frames with other names of columns, given by keyword where they are not known."""
    frames = {name: frame.rename(columns=TRAIN if name in SIDES[2:] else NAMES) for name, frame in data.frames.items()}
    columns = {*frames["recs"].columns, *frames["truth"].columns}
    named = {{"rating": "relevance"}.get(role, role): name for role, name in NAMES.items() if name in columns}
    return data.with_(**frames).saying(**named)


def with_numbers(data: Data) -> Data:
    """The same frames with whole numbers as ids, of another type in each frame."""
    frames = {}
    for (name, frame), dtype in zip(data.frames.items(), ["int64", "int32", "float64", "int16", "uint8"], strict=False):
        numbers = {role: frame[role].str[1:].astype(int).astype(dtype) for role in ("user", "item") if role in frame}
        frames[name] = frame.assign(**numbers)
    return data.with_(**frames)


def categories(data: Data) -> Data:
    """The same frames with ids as categories in the lists and in train."""
    return data.with_(**{
        name: frame.astype({"user": "category", "item": "category"}) for name, frame in data.frames.items() if name in ("recs", "train")
    })  # fmt: skip


def polars(data: Data) -> Data:
    return data.with_(**{name: pl.from_pandas(frame) for name, frame in data.frames.items()})


def lazy(data: Data) -> Data:
    """Lists that are lazy, beside frames that are not."""
    data = polars(data)
    return data.with_(recs=data.recs.lazy())


def lazy_sides(data: Data) -> Data:
    data = polars(data)
    return data.with_(**{name: frame.lazy() for name, frame in data.frames.items() if name in SIDES[2:]})


FORMS = {
    "pandas": [], "renamed": [renamed], "polars": [polars], "polars renamed": [renamed, polars], "lazy": [lazy], "lazy sides": [renamed, lazy_sides],
    "numbers": [with_numbers], "numbers renamed": [with_numbers, renamed], "numbers polars": [with_numbers, polars],
    "categories": [categories, renamed], "categories polars": [categories, polars],
}  # fmt: skip
#: Conventions of libraries, with options on top of them.
OPTIONS: dict[str, dict[str, Any]] = {
    "recnb": {},
    "recnb, those in both": {"no_relevant": "zero"},
    "trec_eval": {"convention": "trec_eval", "no_relevant": "zero"},
    "evidently": {"convention": "evidently", "ties": "first"},
    "rectools": {"convention": "rectools"},
    "scikit-learn": {"convention": "scikit-learn", "candidates": "list"},
}


def typed(finding: Finding, data: Data, k: int | None, metric: str, options: dict[str, Any]) -> tuple[Any, float]:
    """Type the code of a finding: the evaluation that it leaves, and the number that the finding is about."""
    names = {**data.frames, "pd": pd, "pl": pl, "recnb": recnb, "ev": data.evaluate()}
    code = finding.code.splitlines()
    if code[-1].startswith("ev = "):
        exec("\n".join(code), names)
        return names["ev"], float(names["ev"].table({metric: options}, k=k).iloc[0, 0])
    return names["ev"], float(eval(code[-1], names))


def asked(finding: Finding, k: int, options: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The cut-off and the options that the code asks for."""
    if not finding.code.startswith("ev."):
        return k, options
    called = eval("dict(" + finding.code.partition("(")[2])
    return called.pop("k"), called


def holds(data: Data, name: str, k: int, metric: str) -> bool:
    """Whether a finding is there, and what it advises removes it and gives the number that it states."""
    lint = data.lint(k, metric)
    if name not in lint.names:
        return False
    finding = lint[name]
    assert finding.code, finding
    ev, number = typed(finding, data, k, metric, {})
    assert number == pytest.approx(finding.facts["other"], abs=1e-12, nan_ok=True)
    assert f"put right, {finding.facts['other_label']} is {number:.4f}" in finding.effect
    k, options = asked(finding, k, {})
    again = ev.lint(k, metric, **options)
    assert [one.short for one in again].count(finding.short) == 0
    assert again.names.count(name) < lint.names.count(name)
    return True


#: Findings that only words can put right, and those of text.
WORDS = ("no_item_meets", "perfect", "sampled_candidates", "nothing_missed")
OF_TEXT = ("ids_written_otherwise", "missing_ids")
CASES = [
    (name, form)
    for name in PLANTED
    for form in FORMS
    if name.split(":")[0] not in WORDS and not ("numbers" in form and name.split(":")[0] in OF_TEXT)
]


@pytest.mark.parametrize("name, form", CASES)
def test_what_is_advised_is_run(name: str, form: str) -> None:
    data, check = PLANTED[name][0], name.split(":")[0]
    for change in FORMS[form]:
        data = change(data)
    assert holds(data, check, *METRIC.get(name, (10, "ndcg")))
