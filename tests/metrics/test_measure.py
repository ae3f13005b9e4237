"""Measures as text: what they mean, and that they print as they parse."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb.errors import OptionError
from recnb.metrics.measure import DCG, GRADED, OTHERS, PRINTED, MeasureText, metric_named, spelling_of
from recnb.metrics.metric import RETRIEVAL_METRICS

OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "ndcg": {"gain": st.sampled_from(list(DCG.values())), "ideal": st.sampled_from(["list", "k"])},
    "rbp": {"p": st.floats(0.01, 0.99)},
    "fbeta": {"beta": st.floats(0.01, 100)},
    "precision": {"out_of": st.sampled_from(["list", "min(k, relevant)"])},
}


@st.composite
def measures(draw: st.DrawFn) -> MeasureText:
    metric = draw(st.sampled_from(list(PRINTED)))
    options = draw(st.fixed_dictionaries({}, optional=OPTIONS.get(metric, {})))
    k = draw(st.none() | st.integers(1, 2**31 - 1))
    if metric == "interpolated_precision":
        options, k = {"recall": draw(st.integers(0, 1000)) / 1000}, None
    rel = {} if metric in GRADED else {"relevant_from": st.integers(1, 9) | st.floats(0.5, 5)}
    data = draw(st.fixed_dictionaries({}, optional={**rel, "judged_only": st.booleans()}))
    return MeasureText(metric, options, data, k)


@given(measures(), st.randoms(use_true_random=False))
def test_measures_print_as_they_parse(measure: MeasureText, pick: Any) -> None:
    text = str(measure)
    assert MeasureText.parse(text) == measure
    assert str(MeasureText.parse(text)) == text
    name, bracket, rest = text.partition("(") if "(" in text else text.partition("@")
    spelt = "".join(pick.choice((letter.upper(), letter.lower())) for letter in name)
    assert MeasureText.parse(f" {spelt} {bracket}{rest} ") == measure
    found = metric_named(text)
    assert found.plain_name == measure.metric
    assert found.cutoff == measure.k
    assert metric_named(found.name).name == found.name


@given(st.text(max_size=12) | st.from_regex(r"[A-Za-z]{1,4}\\((rel|p|cutoff)=[\\w.'-]*\\)?(@[\\d.]*)?", fullmatch=True))
def test_any_other_text_is_refused(text: str) -> None:
    with contextlib.suppress(OptionError):
        assert str(metric_named(text).name)


@pytest.mark.parametrize(
    ("texts", "metric", "k"),
    [
        (
            ["nDCG@10", "ndcg@10", "NDCG @ 10", "nDCG(cutoff=10)", "nDCG(dcg='log2')@10"],
            "ndcg",
            10,
        ),
        (["AP", "MAP", "map", "average_precision"], "average_precision", None),
        (["RR", "MRR"], "reciprocal_rank", None),
        (["P@5", "precision@5", "Precision@5", "P(k=5)"], "precision", 5),
        (["R@5", "Recall@5"], "recall", 5),
        (["Success@1", "HR@1", "Hit@1", "hit_rate@1"], "hit_rate", 1),
        (["Rprec", "RPrec", "r_precision", "R-Precision"], "r_precision", None),
    ],
)
def test_other_spellings(texts: list[str], metric: str, k: int | None) -> None:
    for text in texts:
        found = metric_named(text)
        assert (found.plain_name, found.cutoff) == (metric, k), text


def test_every_printed_name_is_of_a_metric() -> None:
    for metric, name in PRINTED.items():
        assert metric_named(f"{name}@0.5" if name == "IPrec" else name).plain_name == metric
    assert set(RETRIEVAL_METRICS) <= set(PRINTED)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("P.5", "P@5"), ("P_5", "P@5"), ("recall.5", "R@5"), ("map_cut.10", "AP@10"), ("ndcg_cut_10", "nDCG@10"),
        ("success_1", "Success@1"), ("iprec_at_recall_0.10", "IPrec@0.1"), ("recip_rank", "RR"), ("set_P", "P"),
    ],
)  # fmt: skip
def test_names_that_trec_eval_prints_are_answered_with_what_to_type(text: str, meant: str) -> None:
    assert spelling_of(text) == meant
    assert str(metric_named(meant).cutoff or "") in meant
    with pytest.raises(OptionError, match=f"name of trec_eval: type '{meant}'"):
        metric_named(text)


@pytest.mark.parametrize("text", ["SetP", "SetR(rel=2)", "SetF", "infAP", "inf_ap", "NumRet", "num_rel", "NumRelRet"])
def test_measures_that_recnb_lacks_are_answered_with_what_to_type(text: str) -> None:
    with pytest.raises(OptionError, match=f"recnb has no {text.partition('(')[0]}: ") as refused:
        metric_named(text)
    for meant in re.findall(r"type '(\w+)'", str(refused.value)):
        assert metric_named(meant).plain_name in PRINTED
    assert str(refused.value).endswith(tuple(f"{advice}." for advice in OTHERS.values()))


def test_an_unknown_measure_is_answered_with_the_nearest_that_is_printed() -> None:
    known = []
    for text, meant in (("nDGC@10", "'nDCG@10'"), ("ndgc", "'ndcg'")):
        with pytest.raises(OptionError, match=f"Did you mean {meant}") as refused:
            metric_named(text)
        known.append(str(refused.value).partition("Known: ")[2])
    assert len(set(known)) == 1, "the same names are known however the measure is typed"


@pytest.mark.parametrize(
    ("text", "words"),
    [("nDCG(dcg=[1])@10", "known are 'log2' and 'exp-log2'"), ("nDCG(cutoff=5,k=6)", "gives cutoff twice, once as k")],
)
def test_parameters_that_cannot_be_are_refused(text: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        metric_named(text)


def test_a_measure_of_another_library_is_given_by_its_text() -> None:
    with pytest.raises(OptionError, match=r"nDCG@10 is no metric of recnb\. Give its name as text: 'nDCG@10'\."):
        metric_named(ir_measures.nDCG @ 10)
