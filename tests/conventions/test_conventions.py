"""Conventions as values: they print and parse back, compare, and say each decision in
words; presets and their page can be read by eye.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb import conventions
from recnb.conventions import WORDS, Convention
from recnb.conventions.convention import PHRASES
from recnb.conventions.presets import ALIASES, preset
from recnb.display.data_file import rows_of
from recnb.metrics.metric import (
    EVERY_METRIC,
    LIST_METRICS,
    METRICS,
    RETRIEVAL_METRICS,
)
from tests.rows import read_rows
from tests.strategies import values_of
from tests.tools.conventions_page import PAGE, page

DEFAULTS = {one.name: one.default for one in fields(Convention)}
METRIC_OPTIONS = {
    name: values
    for metric in METRICS.values()
    for name, values in values_of(metric).items()
}
ROWS = rows_of("conventions/presets.csv")


def all_conventions() -> st.SearchStrategy[Convention]:
    axes: dict[str, st.SearchStrategy[Any]] = {
        name: st.sampled_from(words) for name, words in WORDS.items()
    }
    axes["relevant_from"] = st.none() | st.integers(1, 10**6) | st.floats(1e-9, 1e9)
    options = {
        name: st.sampled_from(values)
        for name, values in METRIC_OPTIONS.items()
        if None not in values
    }
    metric = st.fixed_dictionaries({}, optional=options)
    return st.builds(
        lambda own, chosen: Convention(**own).with_metric(chosen),
        st.fixed_dictionaries(axes),
        metric,
    )


@given(one=all_conventions(), other=all_conventions())
def test_what_is_printed_is_python_that_makes_it_again(
    one: Convention, other: Convention
) -> None:
    assert eval(repr(one), {"Convention": Convention}) == one
    assert (one == other) == (repr(one) == repr(other))
    assert len({one, other}) == (1 if one == other else 2)


@pytest.mark.parametrize("name", WORDS)
def test_each_value_of_each_axis_is_said_in_words(name: str) -> None:
    """What differs from the default adds or changes one phrase, in words of its own."""
    # A relevance below 0 counts as it is where it may be that of a relevant item.
    usual = {"relevant": "any"} if name == "negative_relevance" else {}
    shown = {word: str(Convention(**usual, **{name: word})) for word in WORDS[name]}
    assert len({*shown.values()}) == len(shown)
    for word, text in shown.items():
        said = {*text.split("; ")} - {*str(Convention(**usual)).split("; ")}
        assert len(said) == (0 if word == DEFAULTS[name] else 1), said
        assert all("_" not in phrase and " " in phrase.strip() for phrase in said), said


@pytest.mark.parametrize("name", {**METRICS, **RETRIEVAL_METRICS})
def test_each_word_of_an_option_has_a_phrase(name: str) -> None:
    words = {**METRICS, **RETRIEVAL_METRICS}[name].words
    said = {(option, word) for option in words for word in words[option]}
    # Nothing is divided by: no words.
    assert said - {("out_of", "1")} <= PHRASES.keys()


SAID = read_rows("conventions/said.toml")


@pytest.mark.parametrize("said", SAID)
def test_options_are_said_in_words_and_values_are_read(said: str) -> None:
    assert eval(said) == SAID[said]


def test_presets_can_be_read_by_eye() -> None:
    """They are sorted, each once, of one version a library, and written without what is
    the default.
    """
    assert [row["library"] for row in ROWS] == sorted(row["library"] for row in ROWS)
    assert len({(row["library"], row["variant"]) for row in ROWS}) == len(ROWS)
    assert (
        len({(row["library"], row["version"]) for row in ROWS})
        == len({row["library"] for row in ROWS})
        == 28
    )
    for row in ROWS:
        one = preset(row["library"], row["variant"])
        if one.metric not in LIST_METRICS:
            own = {
                name
                for name in DEFAULTS
                if getattr(one.convention, name) != DEFAULTS[name]
            }
            assert {
                part.partition("=")[0] for part in row["convention"].split("; ") if part
            } == own, row
            EVERY_METRIC[one.metric].check(dict(one.options))


def test_libraries_and_their_metrics_are_listed_under_all_their_names() -> None:
    assert conventions.names() == [*dict.fromkeys(row["library"] for row in ROWS)]
    for name in conventions.names():
        assert conventions.metrics(name) == [
            row["variant"] for row in ROWS if row["library"] == name
        ]
    for other, name in {
        "SKLearn": "scikit-learn",
        "scikit_learn": "scikit-learn",
        "ir measures": "ir-measures",
        **ALIASES,
    }.items():
        assert conventions.metrics(other) == conventions.metrics(name)


def test_the_page_of_libraries_is_what_the_presets_say() -> None:
    text = PAGE.read_text("utf-8")
    assert page(text) == text, "type: python -m tests.tools.conventions_page"
