"""What a finding advises is run on the frames that provoked it: the problem is gone,
and the number is the one that was stated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.lint import CHECKS
from tests.lint_planted import CLEAN, FRAMES, METRIC, PLANTED, Data

#: Names of columns that are no names of Python, and differ between the frames where
#: they are found by themselves.
NAMES = {
    "user": "member id",
    "item": "class",
    "rank": "place {0}",
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
#: Findings that only words can put right, and those of text.
WORDS = {
    check.name for check in CHECKS if "repair" not in inspect.getsource(check.search)
}
OF_TEXT = {"ids_written_otherwise", "missing_ids"}
#: How frames and options are given, and what is no finding there, or cannot be
#: evaluated.
FORMS: dict[str, tuple[list[Callable[[Data], Data]], set[str]]] = {
    "pandas": ([], set()),
    "renamed": ([renamed], set()),
    "polars": ([renamed, polars], set()),
    "lazy": ([polars, lazy], set()),
    "lazy sides": ([renamed, polars, lazy_sides], set()),
    "numbers": ([with_numbers], OF_TEXT),
    "numbers polars": ([with_numbers, renamed, polars], OF_TEXT),
    "categories": ([categories, renamed], set()),
    "categories polars": ([categories, polars], set()),
    "option": ([under(no_relevant="zero")], set()),
    "trec_eval": (
        [under(convention="trec_eval", no_relevant="zero")],
        {"rank_gaps", "ratings", "users_without_list"},
    ),
    "rectools": (
        [under(convention="rectools", relevant_from=1)],
        {"ratings", "unused_relevance"},
    ),
    "evidently": (
        [under(convention="evidently", ties="first")],
        {
            "ids_written_otherwise",
            "ratings",
            "users_without_list",
            "train_in_truth",
            "cold_relevant",
            "unjudged",
        },
    ),
    "scikit-learn": (
        [under(convention="scikit-learn", candidates="list")],
        {"ties", "ratings", "train_in_truth", "cold_relevant", "unjudged"},
    ),
}


def holds(data: Data, name: str, k: int = 10, metric: str = "ndcg") -> bool:
    """Whether a finding is there, and what it advises removes it and gives the number
    that it states.
    """
    lint = data.lint(k, metric)
    if name not in lint.names:
        return False
    finding = lint[name]
    if (
        not finding.code
    ):  # only words: categories, and two Polars frames of different types or kinds
        assert finding.advice.endswith(".")
        return isinstance(data.recs, pl.LazyFrame | pl.DataFrame)
    typed = {**data.frames, "pd": pd, "pl": pl, "recnb": recnb}
    exec(finding.code, typed)
    if name != "lists_taken_as_one":  # whose number would be of other lists
        number = float(typed["ev"].table([metric], k=k).iloc[0, 0])
        assert number == pytest.approx(finding.facts["other"], abs=1e-12, nan_ok=True)
        assert f", {finding.facts['other_label']} is {number:.4f}" in finding.effect
    again = typed["ev"].lint(k, metric)
    assert finding.short not in [one.short for one in again]
    assert again.names.count(name) < lint.names.count(name)
    # What is put right leaves no gap, and closes none that was there.
    if name != "rank_gaps":
        assert ("rank_gaps" in again.names) == ("rank_gaps" in lint.names)
    return True


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
        data = change(data)
    assert holds(data, name.split(":")[0], *METRIC.get(name, ()))


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
    # What an option puts right is the same call for every form.
    assert holds(form(PLANTED["ties"][0]), "ties")


@pytest.mark.parametrize("check", ["seen_in_train", "duplicates", "users_without_list"])
def test_a_comparison_advises_a_call_of_compare(check: str) -> None:
    data = PLANTED[check][0]
    models = {"clean": CLEAN.recs, "<new>": data.recs}
    frames = {name: data.frames[name] for name in FRAMES[2:] if name in data.frames}
    options = {**frames, **dict(data.options)}
    found = recnb.compare(models, data.truth, baseline="clean", **options)
    finding = found["<new>"].lint(10)[check]
    assert finding.code.splitlines()[-1].startswith("found = recnb.compare(")
    assert "baseline='clean'" in finding.code
    values: dict[str, Any] = {"models": models, "truth": data.truth, "recnb": recnb}
    exec(finding.code, {**values, **frames}, values)
    assert check not in values["found"]["<new>"].lint(10).names
    value = values["found"]["<new>"].ndcg(k=10)
    assert value == pytest.approx(finding.facts["other"])
    column = pd.concat(frame.assign(model=name) for name, frame in models.items())
    (in_frame,) = [
        found
        for found in recnb.compare(column, data.truth, **options)["<new>"].lint(10)
        if found.name == check
    ]
    assert "recs" not in in_frame.code, "which is a part of a frame"
    assert "recnb.evaluate" not in in_frame.code


def test_the_call_that_is_advised_is_that_of_the_caller() -> None:
    data = PLANTED["ties"][0]
    frame = data.recs.merge(
        data.truth.assign(relevance=1), how="outer", on=["user", "item"]
    )
    assert frame.rec.lint()["ties"].code == "ev = recnb.evaluate(df, ties='expected')"
    other = renamed(data).evaluate(ties="last").under("trec_eval").lint()["ties"]
    assert "convention='pytrec_eval-terrier', ties='expected')" in other.code
    assert "ties='last'" not in other.code
    given = data.evaluate(
        convention=recnb.Convention(no_relevant="zero"), ties="last"
    ).lint()["ties"]
    assert given.code.endswith("users=users, ties='expected', no_relevant='zero')")
    users = PLANTED["users_without_list"][0].with_(
        users=CLEAN.users
    )  # a frame, beside who is averaged
    assert (
        "users=users, averaged_users='both'" in users.lint()["users_without_list"].code
    )
    assert holds(users, "users_without_list")
