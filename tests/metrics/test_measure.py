"""Measures as text: what they mean, and that they print as they parse."""

from __future__ import annotations

import contextlib
import inspect
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.beyond.kinds import CatalogueMetric
from recnb.errors import OptionError
from recnb.metrics.measure import Measure, measure_named, metric_named
from recnb.metrics.metric import (
    ACCURACY,
    EVERY_METRIC,
    KINDS,
    METRICS,
    PRINTED,
)
from tests.rows import read_rows

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
        assert found.metric is metric_named(one) is EVERY_METRIC[metric]
        assert pickle.loads(pickle.dumps(found)).metric is found.metric
        assert found.k == (None if is_level else after)
        assert found.name == (text + at if is_level else text if given else metric)
        assert measure_named(found.name).name == found.name
        assert found.options == options
        assert found.decisions == {
            decisions[name]: given[name] for name in given.keys() & decisions
        }


@given(
    st.text(max_size=12)
    | st.from_regex(
        r"[A-Za-z]{1,4}\((rel|p|cutoff)=[\w.'-]*\)?(@[\d.]*)?", fullmatch=True
    )
)
def test_any_other_text_is_refused(text: str) -> None:
    with contextlib.suppress(OptionError):
        assert str(metric_named(text).name)


ROWS = read_rows("metrics/measures.toml")


@pytest.mark.parametrize("measure", ROWS["spelt"])
def test_other_spellings(measure: str) -> None:
    wanted = measure_named(measure)
    for text in ROWS["spelt"][measure]:
        found = measure_named(text)
        for what in ("metric", "chosen", "decisions", "label"):
            assert getattr(found, what) == getattr(wanted, what), text


NOT_KNOWN = {**ROWS["not_known"], ir_measures.Compat: "'Compat' is no metric of recnb."}


@pytest.mark.parametrize("text", NOT_KNOWN)
def test_what_is_no_measure_is_refused(text: Any) -> None:
    with pytest.raises(OptionError, match=re.escape(NOT_KNOWN[text])):
        recnb.evaluate({1: ["a"]}, {1: ["a"]}).measure(text)


def test_measures_of_ir_measures_are_taken_as_their_text() -> None:
    """Wherever a metric is taken: one look-up has them all."""
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    given = [
        ir_measures.nDCG(dcg="exp-log2") @ 5,
        ir_measures.AP(rel=4),
        ir_measures.IPrec @ 0.1,
        ir_measures.Judged @ 10,
    ]
    assert ev.measures(given).equals(ev.measures([*map(str, given)]))
    ndcg = ir_measures.nDCG @ 10
    calls: list[Callable[[Any], Any]] = [
        ev.measure,
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


def test_a_text_is_the_metric_itself_with_the_options_of_the_text() -> None:
    truth = {"ann": {"a": 1, "b": 3}, "bob": {"c": 2, "d": 1}}
    hits = recnb.evaluate({"ann": ["a", "b"], "bob": ["x", "d", "c"]}, truth).hits()
    measure, ndcg = measure_named("nDCG(dcg='exp-log2')"), METRICS["ndcg"]
    assert measure.metric is ndcg
    exponential = ndcg(hits, 2, gain="exponential").value
    assert measure.at(hits, 2).value.tolist() == exponential.tolist()
    assert measure.at(hits, 2).value.tolist() != ndcg(hits, 2).value.tolist()


def test_options_of_a_call_go_beside_those_of_the_text() -> None:
    measure = measure_named("RBP(p=0.5)@10").with_options({"out_of": "relevant"})
    assert measure.options == {"p": 0.5, "out_of": "relevant"}
    assert measure.options_beside_text == {"out_of": "relevant"}
    assert measure.label == "RBP(p=0.5)@10"
    with pytest.raises(OptionError, match="no option 'gain'"):
        measure.with_options({"gain": "binary"})


def test_a_measure_has_one_cutoff() -> None:
    measure = measure_named("nDCG@10")
    assert measure.cut_at(None).k == measure.cut_at(10).k == 10
    assert measure_named("nDCG").cut_at(5).label == "nDCG@5"
    with pytest.raises(OptionError, match="'nDCG@10' has its cut-off, and k=5"):
        measure.cut_at(5)


def test_a_report_and_its_table_mean_the_same_by_a_name_without_a_cutoff() -> None:
    """Of lists that are shorter than what is relevant: the ideal holds all of it."""
    truth = {"ann": ["a", "x", "y"], "bob": ["x", "c"]}
    ev = recnb.evaluate({"ann": ["a", "b"], "bob": ["c"]}, truth)
    _precision, ndcg = ev.report(metrics=["P@5", "nDCG"]).means
    assert ndcg.k is None
    assert ndcg.mean == float(ev.measure("nDCG")) == ev.table(["nDCG"]).iloc[0, 0]
    assert ndcg.mean == float(ev.ndcg())


def test_the_options_in_force_are_those_given_and_the_defaults() -> None:
    measure = Measure(METRICS["ndcg"], {"gain": "exponential"}, 10)
    assert measure.chosen == {**METRICS["ndcg"].defaults, "gain": "exponential"}
    assert measure.label == "nDCG@10"
    assert Measure(METRICS["ndcg"]).label == "nDCG"
    assert measure.credit.text() != Measure(METRICS["ndcg"]).credit.text()


def test_weights_change_the_formula_and_the_bounds_of_what_is_no_share() -> None:
    for name, high in {
        "ndcg": 1,
        "recall": 1,
        "dcg": math.inf,
        "rbp": math.inf,
    }.items():
        weighted = Measure(METRICS[name], weighted=True)
        assert "weight" in weighted.credit.names(), name
        assert weighted.bounds == (0, high), name
        assert "weight" not in Measure(METRICS[name]).credit.names(), name


@pytest.mark.parametrize(
    "name", [name for name, metric in EVERY_METRIC.items() if not metric.own]
)
def test_what_a_metric_returns_tells_its_kind(name: str) -> None:
    metric = EVERY_METRIC[name]
    returned = inspect.signature(metric.function).return_annotation
    assert type(metric) is KINDS[returned]
    assert metric.registry[name] is metric
    assert metric.is_accuracy == (name in ACCURACY)
    assert (metric.of == "all") == isinstance(metric, CatalogueMetric)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("정확도", "'정밀도'"), ("재현률", "'재현율'"), ("적중율", "'적중률'")],
)
def test_a_name_in_other_letters_is_answered_in_them(typed: str, meant: str) -> None:
    ev = recnb.evaluate({1: ["a"]}, {1: ["a"]})
    for ask in (recnb.quiz, ev.measure, ev.table):
        with pytest.raises(OptionError) as refused:
            ask(typed)
        assert meant in str(refused.value)
        assert "'precision'" not in str(refused.value)
