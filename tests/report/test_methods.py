"""The methods of numbers in sentences: each follows from the options of these numbers."""

import pickle
import re

import pandas as pd
import pytest

import recnb
from recnb.conventions.convention import PHRASES
from recnb.display.language import use_language
from recnb.metrics import REFERENCES
from recnb.metrics.measure import Measure
from recnb.report import texts
from recnb.report.methods import OF_EXPONENTIAL_GAIN, OF_WEIGHTS, PUBLICATIONS

SAMPLE = recnb.datasets.load_sample()
RECS, TRUTH = SAMPLE.models["item-knn"], SAMPLE.test
SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
EV = recnb.evaluate(RECS, TRUTH, **SIDE_DATA)


def compared(**options):
    return recnb.compare(SAMPLE.models, TRUTH, baseline="popular", **options)


def sentence_of(methods, beginning):
    (sentence,) = [each for each in methods.sentences if each.startswith(beginning)]
    return sentence


@pytest.mark.parametrize("name", recnb.METRICS)
def test_a_metric_is_defined_by_its_formula_and_its_references(name):
    metric = recnb.METRICS[name]
    methods = EV.methods(name, k=10)
    definition = methods.sentences[0]
    assert definition.startswith(f"{metric.symbol}@10 ({metric.term}): ")
    assert Measure(metric).formula_text() in definition
    cited = re.findall(r"\[(\w+)\]", definition)
    special = (*OF_WEIGHTS, *OF_EXPONENTIAL_GAIN)
    assert cited == [key for key in metric.references if key not in special]


@pytest.mark.parametrize("name", ["recall", "rbp"])
def test_the_source_of_weights_is_cited_where_there_are_some(name):
    weighted = recnb.evaluate(
        RECS, TRUTH.assign(propensity=0.5), propensity="propensity"
    )
    methods = weighted.methods(name, k=10)
    assert "[yang2018]" in methods.sentences[0]
    assert "yang2018" in methods.bibtex
    assert "yang2018" not in EV.methods(name, k=10).bibtex


def test_the_formula_is_that_of_the_options():
    linear = EV.methods("ndcg", k=10)
    exponential = EV.methods("ndcg", k=10, gain="exponential")
    assert "add relevance/log2(1+rank)" in linear.text
    assert "add (2^relevance-1)/log2(1+rank)" in exponential.text
    assert PHRASES["gain", "exponential"] in exponential.text
    by_library = EV.under("xgboost").methods("ndcg", k=10)
    assert "by the conventions of xgboost" in by_library.text


def test_users_and_conventions_are_the_line_below_a_table():
    for ev in (
        EV,
        EV.under("rectools"),
        recnb.evaluate(RECS, TRUTH, averaged_users="recs", no_relevant="zero"),
        recnb.evaluate(RECS, TRUTH, relevant_from=4, ties="worst"),
    ):
        basis = ev.table(["ndcg", "recall"], k=[5, 10]).attrs["basis"]
        methods = ev.methods(["ndcg", "recall"], k=[5, 10])
        said = sentence_of(methods, "Users and conventions: ")
        assert said == f"Users and conventions: {basis}."


def test_intervals_and_tests_are_said_as_reports_say_them():
    methods = EV.methods(["ndcg", "recall"], k=10, confidence=0.9)
    (remark,) = [note for note in methods.sentences if "90% intervals" in note]
    assert remark in EV.report([10], ["ndcg", "recall"], confidence=0.9).to_markdown()
    for options in ({}, {"test": "randomization"}):
        found = compared(**options)
        methods = found.methods(["ndcg", "recall"], k=10)
        assert texts.TESTS[found.settings.test] in methods.text
        report = found.report([10], ["ndcg", "recall"]).to_latex()
        tested = [
            note for note in methods.sentences if " comparisons are tested" in note
        ]
        assert len(tested) == 1
        assert tested[0].replace("%", r"\%") in report


def test_how_many_tests_are_corrected_is_counted():
    two = compared().methods(["ndcg", "recall"], k=10)
    assert "4 comparisons are tested" in two.text
    assert "holm1979" in two.references
    models = {name: SAMPLE.models[name] for name in ("popular", "item-knn")}
    single = recnb.compare(models, TRUTH).methods("ndcg", k=10)
    assert "Comparisons tested: 1" in single.text
    assert "holm1979" not in single.references
    drawn = compared(test="randomization").methods("ndcg", k=10)
    assert "smucker2007" in drawn.references
    assert "smucker2007" not in two.references


def test_clustered_lists_are_said():
    recs = pd.concat([RECS.assign(day=1), RECS.assign(day=2)])
    methods = recnb.evaluate(recs, TRUTH, split="day").methods("ndcg", k=10)
    assert "lists of 261 users in 2 values of day" in methods.text
    assert "clustered by" in methods.text
    assert "clopper1934" not in methods.references


def test_software_is_that_of_the_record():
    record, methods = EV.record("ndcg", k=10), EV.methods("ndcg", k=10)
    for library in ("recnb", "python", "numpy", "pandas", "polars"):
        assert f" {record['versions'][library]}" in methods.sentences[-1]
    assert f"Version {recnb.__version__}" in methods.bibtex


def test_every_key_in_a_sentence_has_an_entry():
    methods = compared(**SIDE_DATA).methods(
        [*recnb.METRICS, "coverage", "novelty", "AP(rel=2)"], k=10
    )
    keys = set(re.findall(r"\[([a-z]+\d{4}|recnb)\]", methods.text))
    assert keys == {*methods.references}
    entries = re.findall(r"^@(article|misc)\{(\w+),$", methods.bibtex, re.MULTILINE)
    assert [key for _kind, key in entries] == list(methods.references)
    assert methods.bibtex.count("{") == methods.bibtex.count("}")


@pytest.mark.parametrize("metric", ["dcg", "ndcg"])
def test_the_source_of_the_exponential_gain_is_cited_where_it_is_in_force(metric):
    ev = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test)
    for gain in ("linear", "binary"):
        assert "burges2005" not in ev.methods(metric, k=5, gain=gain).references
    methods = ev.methods(metric, k=5, gain="exponential")
    assert "burges2005" in methods.references
    assert "[burges2005]" in methods.sentences[0]


def test_references_are_entries_of_bibtex():
    entry = EV.methods("err", k=10).bibtex.split("\n\n")[0]
    assert entry.splitlines() == [
        "@misc{chapelle2009,",
        "  author = {Chapelle, O. and Metzler, D. and Zhang, Y. and Grinspan, P.},",
        "  title = {{Expected reciprocal rank for graded relevance}},",
        "  howpublished = {CIKM 2009},",
        "  year = {2009},",
        "  doi = {10.1145/1645953.1646033},",
        "}",
    ]
    article = EV.methods("rbp", k=10).bibtex.split("\n\n")[0]
    assert "  journal = {ACM Transactions on Information Systems}," in article
    assert "  volume = {27},\n  number = {1}," in article


def test_every_name_of_an_author_is_told_apart():
    for row in [*REFERENCES.values(), *PUBLICATIONS.values()]:
        names = row["authors"].replace(" et al.", "")
        surnames = names.count(",") - names.count(".,")
        divided = recnb.report.methods._authors(names).split(" and ")
        assert len(divided) == surnames, row["key"]


def test_every_publication_on_tests_is_cited():
    cited = set()
    for options in ({}, {"test": "randomization"}):
        cited |= {*compared(**options).methods(["ndcg", "recall"], k=10).references}
    assert {*PUBLICATIONS} <= cited


def test_methods_are_text_html_and_can_be_pickled():
    methods = EV.methods("ndcg", k=10)
    assert str(methods) == methods.text == " ".join(methods.sentences)
    assert repr(methods) == "\n".join(methods.sentences)
    again = pickle.loads(pickle.dumps(methods))
    assert (again.text, again.bibtex) == (methods.text, methods.bibtex)
    models = {"<b>x": RECS, "y": SAMPLE.models["popular"]}
    lists = RECS[RECS["user"] != "u001"]
    shown = recnb.compare({**models, "<i>z": lists}, TRUTH).methods("ndcg", k=10)
    assert "<b>" not in shown._repr_html_()
    assert "<i>" not in shown._repr_html_()


def test_methods_keep_the_language_they_are_made_in():
    with use_language("ko"):
        methods = EV.methods("ndcg", k=10)
        title = recnb.METRICS["ndcg"].term
    assert f"({title})" in methods.text
    assert methods.lang == "ko"
