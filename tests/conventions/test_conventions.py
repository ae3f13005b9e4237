"""Conventions as values: they print and parse back, compare, hash, and say each decision in words; presets can be read by eye."""

from __future__ import annotations

import csv
import re
from dataclasses import fields
from importlib.resources import files
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb import conventions
from recnb.conventions import WORDS, Convention
from recnb.conventions.presets import ALIASES, preset, presets
from recnb.errors import OptionError
from recnb.libraries import as_in
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import LIST_METRICS, METRICS
from tests.strategies import values_of

DEFAULTS = {one.name: one.default for one in fields(Convention)}
EACH = [(name, word) for name, words in WORDS.items() for word in words]
METRIC_OPTIONS = {
    name: tuple(dict.fromkeys(value for metric in METRICS.values() for value in values_of(metric).get(name, ())))
    for name in dict.fromkeys(name for metric in METRICS.values() for name in metric.defaults)
}


def all_conventions() -> st.SearchStrategy[Convention]:
    axes: dict[str, st.SearchStrategy[Any]] = {name: st.sampled_from(words) for name, words in WORDS.items()}
    axes["relevant_from"] = st.none() | st.integers(1, 10**6) | st.floats(1e-9, 1e9)
    options = st.dictionaries(st.sampled_from(sorted(METRIC_OPTIONS)), st.integers(0, 9), max_size=3)
    metric = options.map(
        lambda drawn: {
            name: value
            for name, at in drawn.items()
            if (value := METRIC_OPTIONS[name][at % len(METRIC_OPTIONS[name])]) is not None
        }
    )
    return st.builds(lambda own, chosen: Convention(**own).with_metric(chosen), st.fixed_dictionaries(axes), metric)


@given(one=all_conventions(), other=all_conventions())
def test_what_is_printed_is_python_that_makes_it_again(one: Convention, other: Convention):
    assert eval(repr(one), {"Convention": Convention}) == one
    assert (one == other) == (repr(one) == repr(other))
    assert len({one, other}) == (1 if one == other else 2)


@pytest.mark.parametrize("name, word", EACH)
def test_each_value_of_each_axis_is_said_in_words(name: str, word: str):
    """What differs from the default adds or changes one phrase, in words of its own."""
    default, this = (set(str(one).split("; ")) for one in (Convention(), Convention(**{name: word})))
    said = this - default
    assert len(said) == (0 if word == DEFAULTS[name] else 1), said
    for phrase in said:
        assert "_" not in phrase, phrase
        assert " " in phrase.strip(), phrase
        others = {str(Convention(**{name: other})) for other in WORDS[name] if other != word}
        assert str(Convention(**{name: word})) not in others


def test_a_threshold_is_said_in_words():
    assert "relevance of 3.5 or more" in str(Convention(relevant_from=3.5))


def test_the_base_of_a_logarithm_is_said_where_it_is_not_two():
    assert conventions.options_in_words({"discount": "log", "log_base": 2}) == ["discount log2(1 + rank)"]
    assert conventions.options_in_words({"discount": "log", "log_base": 10}) == ["discount log10(1 + rank)"]
    assert conventions.options_in_words({"log_base": 2}) == []
    assert conventions.options_in_words({"log_base": 10}) == ["logarithm of base 10"]


@pytest.mark.parametrize("name", WORDS)
def test_a_wrong_word_is_refused_and_the_words_are_named(name: str):
    close = WORDS[name][-1] + "x"
    with pytest.raises(OptionError, match=re.escape(f"{name}={close!r} is no convention")) as refused:
        Convention(**{name: close})
    assert repr(WORDS[name][-1]) in str(refused.value)


def test_a_wrong_name_is_refused_and_the_near_one_named():
    with pytest.raises(OptionError, match="threshold"):
        Convention(relevant_from=0)


# Presets ----------------------------------------------------------------------------------------------------------------


def rows() -> list[dict[str, str]]:
    with (files("recnb.conventions") / "presets.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_presets_can_be_read_by_eye():
    table = rows()
    assert list(table[0]) == [
        "library",
        "version",
        "variant",
        "metric",
        "options",
        "convention",
        "refuses",
        "tolerance",
        "note",
    ]
    libraries = [row["library"] for row in table]
    assert libraries == sorted(libraries)
    assert len({(row["library"], row["variant"]) for row in table}) == len(table)
    assert {row["library"]: row["version"] for row in table} == {
        row["library"]: row["version"] for row in reversed(table)
    }
    for row in table:
        assert all(value == value.strip() for value in row.values()), row
        assert 0 < float(row["tolerance"]) < 0.01


def test_presets_hold_no_unknown_words():
    for row in rows():
        one = preset(row["library"], row["variant"])
        if one.metric in LIST_METRICS:
            continue
        # Written without what is the default.
        own = {name for name in DEFAULTS if getattr(one.convention, name) != DEFAULTS[name]}
        assert {part.partition("=")[0] for part in row["convention"].split("; ") if part} == own, row
        metric_named(one.metric).check(dict(one.options))


def test_libraries_and_their_metrics_are_listed():
    names = conventions.names()
    assert names == sorted(dict.fromkeys(row["library"] for row in rows()))
    assert len(names) == 22
    for name in names:
        assert conventions.metrics(name) == [row["variant"] for row in rows() if row["library"] == name]
    assert set(ALIASES.values()) <= set(names)
    same = {
        "scikit-learn": ["sklearn", "scikit_learn", "SKLearn"],
        "pytrec_eval-terrier": ["trec", "trec_eval", "pytrec_eval"],
    }
    for name, others in {**same, "ir-measures": ["ir_measures", "ir measures"], "rectools": ["RecTools"]}.items():
        assert all(conventions.metrics(other) == conventions.metrics(name) for other in others)


def test_unknown_names_are_refused_and_near_ones_named():
    recs = pl.DataFrame({"user": [1], "item": ["a"], "score": [1.0]})
    with pytest.raises(OptionError, match=r"'rectool' is no library.*rectools"):
        as_in("rectool", "ndcg", recs, recs)
    with pytest.raises(OptionError, match=r"'ndgc' is no metric of rectools.*ndcg"):
        as_in("rectools", "ndgc", recs, recs)
    with pytest.raises(OptionError, match=r"'trec-evil' is no library.*trec-eval"):
        conventions.metrics("trec-evil")


def test_presets_are_kept():
    assert presets() is presets()
