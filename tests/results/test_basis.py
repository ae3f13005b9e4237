"""The line below a number: it says what was computed, metric by metric, with every option and its users."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb import METRICS
from recnb.conventions import options_in_words
from recnb.errors import OptionError
from recnb.metrics.metric import LIST_METRICS
from tests.strategies import each_word, values_of

SAMPLE = recnb.datasets.load_sample()
RECS, POPULAR, TRUTH = SAMPLE.models["item-knn"], SAMPLE.models["popular"], SAMPLE.test
EV = RECS.rec.against(TRUTH, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)
CHOICES = [(name, options) for name, metric in METRICS.items() for options in each_word(metric)]


def said_of(name: str, line: str) -> list[str]:
    """The phrases of a line that hold for a metric: those without names, and those behind its own."""
    phrases = []
    for part in line.split("; "):
        names, _colon, own = part.partition(": ")
        known = {*METRICS, *LIST_METRICS}
        if {each.partition("@")[0] for each in names.split(", ")} <= known:
            phrases += own.split(", ") if name in names.split(", ") else []
        else:
            phrases.append(part)
    return phrases


def options_said(name: str, line: str) -> dict[str, Any]:
    """The options of a metric as its line has them."""
    said, found = ", ".join(said_of(name, line)), {}
    for option, values in values_of(METRICS[name]).items():
        if option == "max_relevance" and "highest relevance 5, that of the truth" in said:
            found[option] = 5.0
        for value in values:
            if (option, value) == ("log_base", 2) or value is None:
                continue
            with_base = {option: value} | ({"discount": "log"} if option == "log_base" else {})
            words = options_in_words(with_base)[0]
            if option == "discount" and value == "log":
                words = "(1 + rank)"
            if words in said:
                found[option] = value
    return found


@pytest.mark.parametrize(("name", "options"), CHOICES, ids=str)
def test_a_number_follows_from_the_options_in_its_line(name: str, options: dict[str, Any]) -> None:
    """The line of a table with every other metric beside it is read back, and gives the number again."""
    metrics = {other: {} for other in METRICS} | {name: options}
    table = EV.table(metrics, k=7)
    said = options_said(name, table.attrs["basis"])
    assert {**METRICS[name].defaults, **said}.keys() == METRICS[name].defaults.keys()
    told = {**options, **said}
    assert {option: told[option] for option in options} == options
    shown = {option for option in METRICS[name].defaults if option != "log_base"}
    assert shown <= said.keys()
    assert getattr(EV, name)(7, **said) == pytest.approx(table.loc[name, 7], rel=1e-12)
    assert options_said(name, f"{name}: " + getattr(EV, name)(7, **options).basis.replace("; ", ", ")) == said


@pytest.mark.parametrize(
    "made",
    [
        lambda: EV.table({"dcg": {"gain": "exponential"}, "ndcg": {"gain": "linear"}}, k=5),
        lambda: EV.table({"dcg": {"gain": "exponential"}, "ndcg": {"gain": "linear"}}, k=5, by="segment"),
        lambda: EV.report(k=[5], metrics={"dcg": {"gain": "exponential"}, "ndcg": {"gain": "linear"}}),
        lambda: recnb.compare(SAMPLE.models, TRUTH).table({"dcg": {"gain": "exponential"}, "ndcg": {"gain": "linear"}}, k=5),
    ],
    ids=["table", "segments", "report", "comparison"],
)  # fmt: skip
def test_options_of_one_metric_are_not_said_of_another(made: Any) -> None:
    result = made()
    line = result.attrs["basis"] if isinstance(result, pd.DataFrame) else result.basis
    line = line.replace("nDCG", "ndcg").replace("DCG", "dcg")
    assert "gain 2^relevance - 1" in said_of("dcg", line)
    assert "linear gain" in said_of("ndcg", line)
    assert "gain 2^relevance - 1" not in said_of("ndcg", line)


def test_measures_have_the_options_of_each_text() -> None:
    table = EV.measures(["nDCG@5", "nDCG(dcg='exp-log2')@5", "RBP(p=0.5)@5", "RBP@5", "ERR@20"])
    line = table.attrs["basis"]
    assert "nDCG@5: linear gain" in line
    assert "nDCG(dcg='exp-log2')@5: gain 2^relevance - 1" in line
    assert "RBP(p=0.5)@5: p = 0.5" in line
    assert "RBP@5: p = 0.8" in line
    assert "ERR@20: highest relevance 5, that of the truth" in line
    table = EV.table({"dcg": {"gain": "exponential"}, "ndcg": {}}, k=5)
    assert "dcg: gain 2^relevance - 1" in table.attrs["convention"]
    assert "ndcg: linear gain" in table.attrs["convention"]


@pytest.mark.parametrize("library", [None, "ranx"])
def test_the_scale_of_grades_is_said(library: str | None) -> None:
    ev = EV if library is None else EV.under(library)
    for line in (ev.err(k=20).basis, ev.table("err", k=20).attrs["basis"], ev.at_least("err", 0.1, k=20).basis):
        assert "highest relevance 5, that of the truth" in line
    assert "max_relevance = 8" in ev.err(k=20, max_relevance=8).basis


@pytest.mark.parametrize("name", LIST_METRICS)
def test_metrics_beyond_accuracy_say_their_options(name: str) -> None:
    metric = LIST_METRICS[name]
    for line in (getattr(EV, name)(k=5).basis, EV.table([name, "ndcg"], k=5).attrs["basis"]):
        for option, value in metric.defaults.items():
            told = bool(value) and (option, value) != ("cutoff", "k")
            assert (f"{option}={value}" in line) == told, (option, line)


def test_the_rule_of_ties_is_said_where_scores_order_lists() -> None:
    """Two items at score 1.0, the second relevant: the order given decides the number."""
    recs = pd.DataFrame({"user": 1, "item": ["a", "b"], "score": 1.0})
    ev = recnb.evaluate(recs, pd.DataFrame({"user": [1], "item": ["b"]}))
    assert ev.ndcg(k=3) == pytest.approx(0.6309, abs=1e-4)
    for line in (ev.ndcg(k=3).basis, ev.table(k=3).attrs["basis"], ev.report(k=[3]).basis, ev.basis()):
        assert "equal scores in the order given" in line
    other = recnb.evaluate(recs, pd.DataFrame({"user": [1], "item": ["b"]}), ties="item_desc")
    assert other.ndcg(k=3) == 1.0
    assert "equal scores by item, descending" in other.ndcg(k=3).basis
    assert "equal scores" not in EV.ndcg(k=3).basis  # ranks have no ties


def test_users_are_those_of_the_metric() -> None:
    gate = EV.at_least("AP(rel=4)", 0.1)
    score = EV.measure("AP(rel=4)")
    assert gate.to_dict()["checks"][0]["n_users"] == score.n_users == 235
    assert EV.at_least("novelty", 1, k=5).to_dict()["checks"][0]["n_users"] == EV.novelty(k=5).n_users == 298
    line = EV.table(["ndcg", "AP(rel=4)"]).attrs["basis"]
    assert "ndcg: 261 users" in line
    assert "AP(rel=4): 235 users" in line


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_lists_and_truth_whose_items_never_meet_are_told(frame: Any) -> None:
    recs = frame({"user": ["u", "v"], "item": ["ABC-1", "ABC-2"], "rank": [1, 1]})
    truth = frame({"user": ["u", "v"], "item": ["abc-1", "abc-2"]})
    ev = recnb.evaluate(recs, truth)
    note = "no recommended item is in the truth: lists hold items such as 'ABC-1', the truth such as 'abc-1'"
    found = recnb.compare({"a": recs, "b": recs}, truth)
    lines = [ev.ndcg(k=1).basis, ev.table(k=1).attrs["basis"], ev.report(k=[1]).basis, ev.basis(), found.basis()]
    assert all(note in line for line in lines)
    missed = frame({"user": ["u", "v"], "item": ["abc-2", "abc-1"], "rank": [1, 1]})
    assert "no recommended item" not in recnb.evaluate(missed, truth).ndcg(k=1).basis


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("popularity", {"popularity": "count"}),
        ("diversity", {"distance": "hamming"}),
        ("diversity", {"divisor": "list"}),
    ],
)
def test_values_are_within_their_bounds(name: str, options: dict[str, Any]) -> None:
    low, high = LIST_METRICS[name].bounded(options).bounds
    score = getattr(EV, name)(k=10, **options)
    assert score.per_user.between(low, high).all()
    assert score.interval().high >= score > LIST_METRICS[name].bounds[1] - 0.5
    assert not score.interval().high <= LIST_METRICS[name].bounds[1] < score.per_user.max()


def test_calls_take_the_text_of_a_measure() -> None:
    assert EV.measure("nDCG@10", k=10) == EV.ndcg(k=10)
    curve = EV.curve("nDCG@10").to_frame()
    assert curve.index.tolist() == list(range(1, 11))
    assert curve["ndcg"].iloc[-1] == EV.ndcg(k=10)
    assert repr(EV.detectable("nDCG@10")) == repr(EV.detectable("ndcg", k=10))
    for call in (lambda: EV.measure("nDCG@10", k=5), lambda: EV.detectable("nDCG@10", k=5)):
        with pytest.raises(OptionError, match="k=5 is another"):
            call()


def test_a_star_import_leaves_the_names_of_python() -> None:
    names: dict[str, Any] = {}
    exec("from recnb import *", names)
    assert "map" not in names
    assert names["average_precision"] is recnb.map


def test_more_segments_than_anybody_reads_are_refused() -> None:
    ids = pd.Series(TRUTH["user"].unique())
    many = pd.Series([f"name {number}" for number in range(len(ids))], index=ids, name="many")
    with pytest.raises(OptionError, match="at most 200"):
        EV.table("ndcg", k=10, by=many)
    stamped = TRUTH.assign(at=range(len(TRUTH))).astype({"at": str})
    with pytest.raises(OptionError, match=r"to_period\('W'\)"):
        RECS.rec.against(stamped).table("ndcg", k=10, by="at")
