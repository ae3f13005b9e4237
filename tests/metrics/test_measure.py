"""Measures as text: what they mean, and that they print as they parse."""

from __future__ import annotations

import contextlib
import math
import pickle
from collections.abc import Callable
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import OptionError, is_number
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import EVERY_METRIC
from tests.rows import read_rows
from tests.strategies import LETTERS

#: The names that papers print, by metric.
PRINTED = {name: one.printed for name, one in EVERY_METRIC.items() if one.printed}
#: Options as a text gives them.
OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "ndcg": {"dcg": st.just("exp-log2"), "ideal": st.sampled_from(["all", "k"])},
    "rbp": {"p": st.floats(0.01, 0.79)},
    "fbeta": {"beta": st.floats(1.01, 100)},
    "precision": {"out_of": st.sampled_from(["list", "min(k, relevant)"])},
}
OF_DATA: dict[str, st.SearchStrategy[Any]] = {
    "rel": st.integers(1, 9) | st.floats(0.5, 5),
    "judged_only": st.just(True),
}


@st.composite
def measures(draw: st.DrawFn) -> tuple[str, dict[str, Any], int | float | None]:
    """A metric, its parameters, and what follows "@"."""
    # NumRet(rel=2) is another metric.
    names = [name for name in PRINTED if name != "retrieved_count"]
    metric = draw(st.sampled_from(names))
    optional = {**OPTIONS.get(metric, {}), **OF_DATA}
    given = draw(st.fixed_dictionaries({}, optional=optional))
    if metric == "interpolated_precision":
        return metric, given, draw(st.integers(0, 1000)) / 1000
    return metric, given, draw(st.none() | st.integers(1, 2**31 - 1))


@given(measures())
def test_measures_print_as_they_parse(measure: Any) -> None:
    metric, given, after = measure
    is_level = metric == "interpolated_precision"
    inside = ",".join(f"{name}={value!r}" for name, value in sorted(given.items()))
    brackets = f"({inside})" if inside else ""
    text = f"{PRINTED[metric]}{brackets}"
    at = "" if after is None else f"@{after}"
    decisions = {"rel": "relevant_from", "judged_only": "judged_only"}
    options = {name: given[name] for name in given.keys() - decisions}
    if "dcg" in options:
        options |= {"gain": "exponential"}
        del options["dcg"]
    if is_level:
        options["recall"] = after
    for one in (f"{text}{at}", f" {PRINTED[metric].swapcase()}{brackets} {at}"):
        found = measure_named(one)
        assert found.metric is EVERY_METRIC[metric]
        assert pickle.loads(pickle.dumps(found)).metric is found.metric
        assert found.k == (None if is_level else after)
        written = " ".join((one if is_level else one.partition("@")[0]).split())
        says_more = given or (is_level and at)
        assert found.name == (written if says_more else metric)
        assert measure_named(found.name).name == found.name
        assert found.options == options
        assert found.decisions == {
            decisions[name]: given[name] for name in given.keys() & decisions
        }


@given(
    st.text(LETTERS, max_size=12)
    | st.from_regex(
        r"[A-Za-z]{1,4}\((rel|p|cutoff)=[\w.'-]*\)?(@[\d.]*)?",
        fullmatch=True,
        alphabet=LETTERS,
    )
)
def test_any_other_text_is_refused(text: str) -> None:
    with contextlib.suppress(OptionError):
        assert measure_named(text).metric.name


ROWS = read_rows("metrics/measures.toml")


@pytest.mark.parametrize("measure", ROWS["spelt"])
def test_other_spellings(measure: str) -> None:
    wanted = measure_named(measure)
    for text in ROWS["spelt"][measure]:
        found = measure_named(text)
        for what in ("metric", "chosen", "decisions", "k"):
            assert getattr(found, what) == getattr(wanted, what), text


def test_measures_of_ir_measures_are_taken_as_their_text() -> None:
    """Wherever a metric is taken: one look-up has them all."""
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    ndcg = ir_measures.nDCG @ 10
    calls: list[Callable[[Any], Any]] = [
        ev.measure,
        lambda one: ev.measures([one, ir_measures.IPrec @ 0.1]),
        lambda one: ev.table([one, "P@5"]),
        lambda one: ev.table({one: {"gain": "exponential"}}),
        lambda one: ev.table(one, intervals=True),
        lambda one: ev.explain(one, "u026"),
        lambda one: ev.report(metrics=[one]),
        lambda one: ev.lint(None, one),
        lambda one: ev.at_least(one, 0.2),
        lambda one: recnb.compare(sample.models, sample.test).differences(one),
        lambda one: recnb.as_in("ir-measures", one, {"u": {"a": 1.0}}, {"u": ["a"]}),
    ]
    for call in calls:
        assert repr(call(ndcg)) == repr(call("nDCG@10"))


# What a number is of


def test_weights_change_the_formula_and_the_bounds_of_what_is_no_share() -> None:
    for name, high in {
        "ndcg": 1,
        "recall": 1,
        "dcg": math.inf,
        "rbp": math.inf,
        "hit_count": math.inf,
    }.items():
        weighted = Measure(EVERY_METRIC[name], weighted=True)
        assert "weight" in weighted.credit.names(), name
        assert weighted.bounds == (0, high), name
        assert "weight" not in Measure(EVERY_METRIC[name]).credit.names(), name


def test_every_option_that_is_a_number_has_a_range() -> None:
    for name, metric in EVERY_METRIC.items():
        numbers = {key for key, value in metric.defaults.items() if is_number(value)}
        assert metric.own or numbers == {*metric.ranges}, name
        for option in metric.ranges:
            with pytest.raises(OptionError, match=f"^{option}=-1 is not a"):
                Measure(metric).with_options({option: -1})
