"""Measures by the names that papers print: against ir_measures and pytrec_eval, and in every call that takes metrics."""

from __future__ import annotations

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import OptionError, RecnbError

#: Runs compared with ir_measures: few in a usual test run.
N_RUNS = 200 if os.environ.get("RECNB_HYPOTHESIS") == "ci" else 30

#: Measures of ir_measures that recnb has; ERR and exponential gains are printed with five digits there.
EXACT = [
    "nDCG@10", "nDCG", "nDCG(judged_only=True)@10", "AP", "AP@5", "AP(rel=2)", "AP(rel=3,judged_only=True)@10", "RR", "RR@5",
    "RR(rel=2)", "RR(rel=2)@10", "RR(judged_only=True)", "P@5", "P(rel=2)@5", "P(judged_only=True)@10", "R@20", "R@5",
    "Rprec", "Rprec(rel=2)", "Success@1", "Success(rel=3)@5", "Judged@10", "Judged", "Judged@50", "Bpref", "Bpref(rel=2)",
    "Bpref(rel=3)", "IPrec@0.0", "IPrec@0.1", "IPrec@0.5", "IPrec@1.0", "IPrec(rel=2)@0.3",
    "IPrec(judged_only=True)@0.2",
]  # fmt: skip
ROUNDED = ["ERR@5", "ERR@20", 'nDCG(dcg="exp-log2")@10', 'nDCG(dcg="exp-log2")@5']


def run_of(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A run and judgments with ties, documents that are not judged, queries without a run or without a relevant document."""
    rng = np.random.default_rng(seed)
    n_docs, ties = int(rng.integers(15, 60)), int(rng.choice([3, 8, 1000]))
    run, qrels = [], []
    for query in range(int(rng.integers(3, 10))):
        top = int(rng.choice([0, 3, 4], p=[0.1, 0.2, 0.7]))
        qrels += [
            (f"q{query}", f"d{doc}", int(rng.integers(0, top + 1)))
            for doc in rng.permutation(n_docs)[: rng.integers(1, n_docs)]
        ]
        listed = rng.permutation(n_docs)[: rng.integers(1, n_docs)] if rng.random() < 0.9 or query == 0 else []
        run += [(f"q{query}", f"d{doc}", float(rng.integers(0, ties))) for doc in listed]
    qrels.append(("q0", "d0 relevant", 3))
    run.append(("q0", "d0 relevant", 1.0))
    columns = ["query_id", "doc_id"]
    return pd.DataFrame(run, columns=[*columns, "score"]), pd.DataFrame(qrels, columns=[*columns, "relevance"])


def in_ir_measures(run: pd.DataFrame, qrels: pd.DataFrame, names: list[str]) -> dict[str, float]:
    ir = import_module("ir_measures")
    measures = {name: ir.parse_measure(name) for name in names}
    found: dict[Any, float] = {}
    found |= ir.calc_aggregate(list(measures.values()), qrels, run)
    return {name: float(found[measure]) for name, measure in measures.items()}


@pytest.mark.parametrize("seed", range(N_RUNS))
def test_equal_those_of_ir_measures(seed: int) -> None:
    run, qrels = run_of(seed)
    got = recnb.evaluate(run, qrels).under("ir_measures").measures(EXACT)["mean"].to_dict()
    # trec_eval divides by 0 where no document of a list is judged.
    want = in_ir_measures(run, qrels, EXACT)
    undefined = [name for name, value in want.items() if np.isnan(value)]
    assert set(undefined) <= {"IPrec(judged_only=True)@0.2"}
    assert {**got, **dict.fromkeys(undefined)} == pytest.approx({**want, **dict.fromkeys(undefined)}, abs=1e-9)


#: Of lists from which items that are not judged are left out.
JUDGED_ONLY = [
    "AP(judged_only=True)", "nDCG(judged_only=True)@5", "P(judged_only=True)@3", "RR(judged_only=True)",
    "R(judged_only=True)@4", "Rprec(judged_only=True)",
]  # fmt: skip


def with_negatives(qrels: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The judgments with grades of -1 and -2 in the place of some zeros; with nothing else in a query, trec_eval crashes."""
    rng = np.random.default_rng(seed)
    below = rng.integers(1, 3, len(qrels)) * (rng.random(len(qrels)) < 0.4) * (qrels["relevance"] == 0)
    below *= qrels.duplicated("query_id")
    return qrels.assign(relevance=qrels["relevance"] - below)


@pytest.mark.parametrize("seed", range(N_RUNS))
def test_items_of_negative_grades_are_not_judged(seed: int) -> None:
    run, qrels = run_of(seed)
    qrels = with_negatives(qrels, seed)
    got = recnb.evaluate(run, qrels, convention="ir_measures").measures(JUDGED_ONLY)["mean"].to_dict()
    assert got == pytest.approx(in_ir_measures(run, qrels, JUDGED_ONLY), abs=1e-9)
    peer = import_module("pytrec_eval")
    by_query = [
        {query: dict(zip(rows["doc_id"], rows[value], strict=True)) for query, rows in frame.groupby("query_id")}
        for frame, value in ((qrels, "relevance"), (run, "score"))
    ]
    names = {"average_precision": "map", "reciprocal_rank": "recip_rank", "r_precision": "Rprec", "ndcg": "ndcg"}
    names |= {"bpref": "bpref"}
    theirs = peer.RelevanceEvaluator(by_query[0], set(names.values()), judged_docs_only_flag=True).evaluate(by_query[1])
    evaluation = recnb.evaluate(run, qrels, convention="trec", judged_only=True)
    for ours, name in names.items():
        wanted = {query: values[name] for query, values in theirs.items()}
        assert getattr(evaluation, ours)().per_user.to_dict() == pytest.approx(wanted, abs=1e-9), name
    of_measure = recnb.evaluate(run, qrels, convention="trec").measure("Bpref(judged_only=True)")
    assert of_measure == evaluation.bpref()


@pytest.mark.parametrize("convention", ["trec", "ir_measures"])
def test_runs_of_different_queries_are_compared_on_what_is_judged(convention: str) -> None:
    run, qrels = run_of(3)
    qrels = with_negatives(qrels, 3)
    runs = {"all": run, "some": run[run["query_id"] != "q0"].assign(score=lambda rows: -rows["score"])}
    options: dict[str, Any] = {"convention": convention, "judged_only": True}
    found = recnb.compare(runs, qrels, **options)
    names = ["AP", "nDCG@5", "Bpref"]
    table = found.table(names)
    assert ("q0" in found.users) is (convention == "ir_measures")
    for model, lists in runs.items():
        alone = recnb.evaluate(lists, qrels, **options)
        for name in names:
            score = alone.measure(name)
            assert isinstance(score, recnb.Score)
            assert table.loc[model, name] == pytest.approx(score.per_user[found.users].mean(), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_equal_those_that_ir_measures_prints_with_five_digits(seed: int) -> None:
    run, qrels = run_of(seed)
    for frame in (run, qrels):
        frame["query_id"], frame["doc_id"] = frame["query_id"].str[1:], frame["doc_id"].str.replace(" ", "-")
    got = recnb.evaluate(run, qrels).under("ir_measures").measures(ROUNDED)
    assert got["mean"].to_dict() == pytest.approx(in_ir_measures(run, qrels, ROUNDED), abs=1.1e-5)


@pytest.mark.parametrize("seed", range(N_RUNS))
def test_equal_those_of_trec_eval(seed: int) -> None:
    """Query by query, with grades of -1, which trec_eval takes as pooled and not judged."""
    peer = import_module("pytrec_eval")
    run, qrels = run_of(seed)
    rng = np.random.default_rng(seed)
    qrels["relevance"] -= (rng.random(len(qrels)) < 0.2) * (qrels["relevance"] == 0)
    as_dict = [
        {query: dict(zip(rows["doc_id"], rows[value], strict=True)) for query, rows in frame.groupby("query_id")}
        for frame, value in ((qrels, "relevance"), (run, "score"))
    ]
    theirs = peer.RelevanceEvaluator(as_dict[0], {"bpref", "iprec_at_recall"}).evaluate(as_dict[1])
    evaluation = recnb.evaluate(run, qrels, convention="trec")
    names = {"Bpref": "bpref"}
    names |= {f"IPrec@{level / 10}": f"iprec_at_recall_{level / 10:.2f}" for level in range(11)}
    for ours, name in names.items():
        wanted = {query: values[name] for query, values in theirs.items()}
        score = evaluation.measure(ours)
        assert isinstance(score, recnb.Score)
        assert score.per_user.to_dict() == pytest.approx(wanted, abs=1e-9), name


SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)


def test_a_measure_is_the_method_with_its_options() -> None:
    same = {
        "nDCG@10": EV.ndcg(k=10),
        "mrr": EV.reciprocal_rank(),
        "P": EV.precision(),
        "nDCG(dcg='exp-log2')@5": EV.ndcg(k=5, gain="exponential"),
        "RBP(p=0.5)": EV.rbp(p=0.5),
        "P@10": EV.precision(k=10),
        "coverage@10": EV.coverage(k=10),
        "bpref": EV.bpref(),
        "IPrec@0.3": EV.interpolated_precision(recall=0.3),
    }
    for text, score in same.items():
        assert EV.measure(text) == score, text
        assert EV.measure(text).k == score.k
    assert EV.measure("nDCG@10").label == "ndcg@10"
    assert EV.measure("ndcg@10", gain="exponential") == EV.ndcg(k=10, gain="exponential")


def test_rel_is_the_evaluation_with_that_threshold() -> None:
    strict = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, relevant_from=4)
    score = EV.measure("AP(rel=4)@10")
    assert isinstance(score, recnb.Score)
    assert score == strict.average_precision(k=10)
    assert score.n_users == strict.n_users < EV.n_users
    assert "relevance of 4 or more" in score.basis


def test_judged_only_is_the_evaluation_of_lists_without_other_items() -> None:
    recs = SAMPLE.models["item-knn"]
    judged = recs.merge(SAMPLE.test[["user", "item"]], on=["user", "item"])
    judged["rank"] = judged.groupby("user")["rank"].rank().astype(int)
    wanted = recnb.evaluate(judged, SAMPLE.test).precision(k=3)
    assert EV.measure("P(judged_only=True)@3") == wanted
    evaluation = recnb.evaluate(recs, SAMPLE.test, judged_only=True)
    assert evaluation.precision(k=3) == wanted
    assert "items that are not judged left out of the lists" in evaluation.basis()
    user = wanted.per_user.idxmax()
    assert list(evaluation.explain("precision", user, k=3).rows["item"]) == list(
        judged[judged["user"] == user]["item"][:3]
    )
    with pytest.raises(OptionError, match="judged_only='yes'"):
        recnb.evaluate(recs, SAMPLE.test, judged_only="yes")


def test_judged_only_without_a_judged_item() -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": ["x", "y"], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": ["a", "b"]})
    assert recnb.evaluate(recs, truth, judged_only=True).ndcg(k=3) == 0


def test_judged_and_bpref_by_hand() -> None:
    """a is relevant, b and c are judged not to be, x and y are not judged; two relevant items are not in the list."""
    recs = pd.DataFrame({"user": 1, "item": list("xbayc"), "rank": range(1, 6)})
    truth = pd.DataFrame({"user": 1, "item": list("abcde"), "relevance": [2, 0, 0, 1, 1]})
    evaluation = recnb.evaluate(recs, truth)
    assert [float(evaluation.judged(k=k)) for k in (1, 2, 4, None, 9)] == [0, 0.5, 0.5, 0.6, 0.6]
    assert float(evaluation.bpref()) == pytest.approx((1 - 1 / 2) / 3)
    assert evaluation.explain("Bpref", 1).numbers == "(1-min(1, 3)/max(1, min(2, 3))) / 3 = 0.5 / 3 = 0.1667"


def test_rows_have_the_names_given_and_intervals() -> None:
    names = ["nDCG@10", "ndcg@5", "MAP(rel=4)", "Judged@10", "gini@10"]
    table = EV.measures(names)
    assert list(table.index) == names
    assert list(table.columns) == ["mean", "low", "high", "users"]
    assert table.loc["nDCG@10", ["low", "high"]].tolist() == pytest.approx(EV.ndcg(k=10).interval())
    assert table.loc[["gini@10"], ["low", "high"]].isna().all(axis=None)
    assert table["users"].tolist() == [261, 261, 235, 261, 298]
    assert "MAP(rel=4)" in table._repr_html_()
    wide = EV.measures(["nDCG@10"], confidence=0.99)
    assert wide.loc["nDCG@10", "low"] < table.loc["nDCG@10", "low"]


def test_tables_take_measures() -> None:
    table = EV.table(["nDCG@10", "P@5", "AP(rel=4)@5"])
    assert list(table.index) == ["nDCG@10", "P@5", "AP(rel=4)@5"]
    assert table["mean"].tolist() == [EV.ndcg(k=10), EV.precision(k=5), EV.measure("AP(rel=4)@5")]
    assert list(EV.table(["nDCG@10", "recall"], k=20).index) == ["nDCG@10", "recall@20"]
    assert EV.table(["P", "AP(rel=4)"], k=[5, 10]).loc["AP(rel=4)", 10] == EV.measure("AP(rel=4)@10")
    with pytest.raises(OptionError, match="has its cut-off"):
        EV.table(["nDCG@10"], k=[5, 10])
    by = EV.table(["nDCG@10", "P@5"], by="segment")
    assert {(metric, k) for metric, k, _segment in by.index} == {("ndcg", 10), ("precision", 5)}


def test_reports_and_comparisons_take_measures() -> None:
    report = EV.report(metrics=["nDCG@10", "P@5"])
    assert report.k == (5, 10)
    assert [metric.metric for metric in report.metrics if metric.is_accuracy] == ["ndcg", "precision"]
    assert EV.report(metrics=["nDCG@10", "recall"], k=20).k == (10, 20)
    for wrong in (["nDCG@10", "AP(rel=4)@10"], ["bpref"]):
        with pytest.raises(OptionError):
            EV.report(metrics=wrong)
    with pytest.raises(OptionError, match="leave one of them out"):
        EV.report(metrics=["nDCG@10"], k=5)
    found = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular")
    table = found.table(["nDCG@10", "P@5", "AP(rel=4)@5", "Bpref"])
    assert list(table.columns) == ["nDCG@10", "P@5", "AP(rel=4)@5", "Bpref"]
    assert table.loc["item-knn", "AP(rel=4)@5"] == pytest.approx(EV.measure("AP(rel=4)@5"))
    assert len(found.differences(["nDCG@10", "P@5"])) == 4


def test_what_a_library_lacks_is_said_of_the_metric() -> None:
    ours = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, convention="trec_eval")
    lacks = "recnb's own: pytrec_eval-terrier has no such number"
    for name, shown in {
        "err": str(ours.table(["ndcg", "err"], k=5)),
        "ERR@5": str(ours.measures(["ERR@5", "Bpref"])),
        "ERR": ours.report(metrics=["ndcg", "err"], k=5).basis,
    }.items():
        own = next(part for part in shown.split("; ") if lacks in part)
        assert own.startswith(f"{name}: ")
        assert "by the conventions of pytrec_eval-terrier" in shown
    assert "recnb's own" in repr(ours.err(k=5))
    assert "recnb's own" not in repr(ours.ndcg(k=5))
    assert ours.explain("err", ours.users[0], k=5).value == ours.err(k=5).per_user.iloc[0]
    assert EV.under("sklearn").measure("Gini@5") > 0


WRONG: list[Any] = [
    "nDCG@0", "P@1.5", "IPrec", "IPrec@2", "nDCG(rel=2)", "AP(rel=0)", "AP(2)", "P(judged_only=1)@5", "nDCG(dcg='x')", "", "@5", 5,
    "Fbeta(beta=0)", "SetP", "NumRet", "P_5", "P(cutoff=5)@5", "novelty(rel=2)", "P(k=5)@5",
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_measure_is_refused(text: Any) -> None:
    with pytest.raises(RecnbError):
        EV.measure(text)


def test_an_error_names_the_nearest() -> None:
    for text, near in {"nDGC@10": "nDCG", "Bperf": "bpref", "AP(rell=2)": "rel", "Sucess@5": "Success"}.items():
        with pytest.raises(OptionError, match=f"(?i){near}"):
            EV.measure(text)
    for call in (EV.curve, EV.spread):
        with pytest.raises(OptionError, match="nDCG@10"):
            call("nDCG@10", 5)
    with pytest.raises(OptionError):
        EV.lint(metric="bpref")
    with pytest.raises(OptionError):
        recnb.explain("bpref", ["a"], ["a"])
    with pytest.raises(OptionError):
        EV.explain("Judged@5", EV.users[0])


def test_files_have_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the rows are not in memory, judged items are gathered as hits are."""
    from tests.data.test_streaming import sized

    recs, names = SAMPLE.models["item-knn"], ["nDCG@10", "AP(rel=2)@10", "Bpref", "Judged@10", "P(judged_only=True)@5"]
    recs.to_parquet(tmp_path / "recs.parquet")
    truth = SAMPLE.test.assign(relevance=SAMPLE.test["rating"] - 2).drop(columns="rating")
    truth = truth[truth["relevance"] >= 0]
    wanted = recnb.evaluate(recs, truth).measures(names)
    sized(monkeypatch, whole=100, rows=500, batch=200)
    streamed = recnb.evaluate(pl.scan_parquet(tmp_path / "recs.parquet"), truth)
    pd.testing.assert_frame_equal(streamed.measures(names).to_frame(), wanted.to_frame())


#: Learning to rank: the relevant rows are at rank 3 of query 1 and at rank 2 of query 2; query 3 has none.
LABELS = pd.DataFrame(
    {
        "qid": [1] * 3 + [2] * 3 + [3] * 2,
        "label": [0, 0, 2, 0, 1, 0, 0, 0],
        "pred": [0.9, 0.5, 0.1, 0.9, 0.5, 0.1, 0.7, 0.2],
    }
)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "scikit-learn", "catboost"])
def test_own_metrics_have_own_relevance(library: str) -> None:
    """A library's nDCG counts every judged item; what the library lacks counts those of relevance above 0."""
    ours = recnb.evaluate(LABELS, convention=library)
    assert ours.ndcg().convention.relevant == "any"
    own = {"mrr": (1 / 3 + 1 / 2) / 3, "hit_rate": 1 / 3, "recall": 1 / 3}
    for name, expected in own.items():
        if "recnb's own" in (score := getattr(ours, name)(k=None if name == "mrr" else 2)).basis:
            assert score == pytest.approx(expected), name
            assert score.convention.relevant == ">0"
    assert ours.mrr() == pytest.approx(own["mrr"])
    assert recnb.evaluate(LABELS, convention=library, relevant_from=2).hit_rate(k=3) == pytest.approx(1 / 3)
    assert recnb.evaluate(LABELS, convention="lightgbm", relevant="any").hit_rate(k=1) == 1


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "scikit-learn"])
def test_counts_under_libraries(library: str) -> None:
    """No row of label 0 is called relevant, found or missed."""
    ours = recnb.evaluate(LABELS, convention=library)
    assert ours.counts.n_relevant == 2
    assert list(ours.to_frame()["n_relevant"]) == [1, 1, 0]
    report = ours.report(k=2)
    text = report.to_markdown()
    assert {"found 0 of 1 relevant", "found 1 of 1 relevant"} <= set(re.findall(r"found \d of \d relevant", text))
    assert "of 3 relevant" not in text
    assert "of 2 relevant" not in text
    assert "of 3" not in "".join(one.short for one in ours.lint(k=3) if "elevant" in one.short)


def test_values_of_users_as_columns() -> None:
    ev = recnb.evaluate(LABELS)
    frame = ev.to_frame(["ndcg", "nDCG@1", "AP(rel=2)"], k=[2, 3], gain="exponential")
    assert list(frame.columns) == ["ndcg@2", "ndcg@3", "nDCG@1", "AP(rel=2)@2", "AP(rel=2)@3"]
    assert frame.index.name == "qid"
    pd.testing.assert_series_equal(frame["ndcg@3"], ev.ndcg(k=3, gain="exponential").per_user, check_names=False)
    assert frame["AP(rel=2)@3"].isna().tolist() == [False, True]  # query 2 has no item of relevance 2
    assert list(ev.to_frame().columns) == ["list_length", "n_relevant", "n_hits"]
    assert ev.to_frame(k=2)["hit_rate@2"].tolist() == [0, 1]
    with pytest.raises(OptionError, match="one number of all lists"):
        ev.to_frame(["personalization"])


def test_options_are_named_below_measures() -> None:
    ev = recnb.evaluate(LABELS)
    assert "gain 2^relevance - 1" in str(ev.measures(["nDCG@2"], gain="exponential"))
    assert "gain 2^relevance - 1" not in str(ev.measures(["nDCG@2"]))


def test_the_users_behind_a_threshold_of_its_own_are_told() -> None:
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    strict = recnb.evaluate(sample.models["item-knn"], sample.test, relevant_from=4)
    users, without_list, left_out, *_decisions = strict.basis().split("; ")
    for table in (ev.measures(["nDCG@10", "AP(rel=4)"]), ev.table(["ndcg", "AP(rel=4)"])):
        assert (
            f"AP(rel=4): {users}, {without_list}, {left_out}, relevant: relevance of 4 or more" in table.attrs["basis"]
        )
        assert "left out" in left_out


def under(relevance: list[float], library: str) -> recnb.Evaluation:
    recs = pd.DataFrame({"user": 1, "item": list("abc"), "score": [3.0, 2.0, 1.0]})
    return recnb.evaluate(
        recs, pd.DataFrame({"user": 1, "item": list("abc"), "relevance": relevance}), convention=library
    )


@pytest.mark.parametrize(
    ("metric", "relevance", "library"),
    [("recall", [3, 2, 0], "recpack"), ("ndcg", [2, -1, 1], "catboost")],
)
def test_a_number_by_the_conventions_of_a_library_is_no_promise_of_its_own(
    metric: str, relevance: list[float], library: str
) -> None:
    odd = under(relevance, library)
    assert getattr(odd, metric)(k=2).basis.startswith(f"by the conventions of {library}")
    source = odd._data.prepared.source
    with pytest.raises(RecnbError, match=r"follows no rule that recnb could record|raises an error"):
        recnb.as_in(library, f"{metric}@2", source.recs, source.truth)


def test_what_a_library_does_not_cut_is_cut_as_recnb_does() -> None:
    evaluation = under([0, 0, 1], "trec")
    assert evaluation.reciprocal_rank() == pytest.approx(1 / 3)
    assert evaluation.reciprocal_rank(k=1) == evaluation.precision(k=1) == 0
    assert not evaluation.at_least("RR@1", 0.1)
    words = "recnb's own: pytrec_eval-terrier has no such number"
    assert evaluation.reciprocal_rank(k=1).basis.endswith(words)
    for shown in (evaluation.measures(["RR@1", "AP@1"]), evaluation.table(["RR", "AP"], k=[1])):
        assert words in repr(shown)
    assert f"AP@1: {words}" not in repr(evaluation.measures(["RR", "recall@1"]))


def test_rbp_of_ir_measures_is_cut_where_asked() -> None:
    evaluation = under([0, 1, 0], "ir_measures")
    assert evaluation.rbp(k=1, p=0.8) == 0
    assert evaluation.rbp(k=2, p=0.8) == evaluation.rbp(p=0.8) == pytest.approx(0.16)
    assert evaluation.rbp(k=2).basis.startswith("by the conventions of ir-measures")


def test_tables_keep_names_as_typed() -> None:
    found = recnb.compare(SAMPLE.recommendations, SAMPLE.test)
    assert list(found.table(["nDCG@10", "AP", "recall"])) == ["nDCG@10", "AP", "recall"]
    assert list(found.table(["AP", "ndcg"], k=[5])) == ["AP@5", "ndcg@5"]
    assert list(EV.table(["AP", "mrr"]).index) == ["AP", "reciprocal_rank"]


def test_what_to_type_for_metrics() -> None:
    for call, method in ((recnb.evaluate, "measures"), (recnb.compare, "table")):
        with pytest.raises(OptionError, match=rf"\.{method}\(\["):
            call(SAMPLE.recommendations, SAMPLE.test, metrics=["nDCG@10"])
    truth = {"u": {"a": -1, "b": 1}}
    with pytest.raises(RecnbError, match="negative_relevance='zero', as convention='trec' does"):
        recnb.evaluate({"u": ["a", "b"]}, truth)
    assert recnb.evaluate({"u": ["a", "b"]}, truth, negative_relevance="zero").reciprocal_rank() == 0.5
    assert recnb.evaluate({"u": ["a", "b"]}, truth, convention="trec").reciprocal_rank() == 0.5


def test_a_gate_has_the_basis_of_its_measure() -> None:
    basis = EV.at_least("AP(rel=4)", 0.01).basis
    assert "relevance of 4 or more" in basis
    assert "relevance above 0" not in basis
    assert "relevance above 0" in EV.at_least("AP", 0.01).basis


def test_err_under_a_library_names_the_highest_relevance() -> None:
    assert "highest relevance 3, that of the truth" in under([0, 3, 1], "trec").err(k=2).basis
    assert "highest relevance" not in under([0, 3, 1], "ir_measures").err(k=2).basis


def test_a_measure_is_named_once() -> None:
    with pytest.raises(OptionError, match="'nDCG@10' is named more than once"):
        EV.measures(["nDCG@10", "P@5", "nDCG@10"])


def test_each_reason_why_a_number_is_not_the_librarys_has_its_line() -> None:
    line = under([0, 3, 1], "ranx").measures(["nDCG@2", "RBP@2", "cg@2"]).attrs["basis"]
    assert "RBP@2, cg@2: " in line
    assert line.count("recnb's own: ranx has no such number") == 1


def test_interpolated_precision_is_the_sum_of_its_rises() -> None:
    lists, truth = {"u": ["a", "x", "b"]}, {"u": ["a", "b"]}
    explanation = recnb.evaluate(lists, truth).explain("IPrec@0.0", "u")
    assert (explanation.value, explanation.numbers) == (1, "1 = 1")
    late = recnb.evaluate({"u": ["x", "a", "b"]}, truth).explain("IPrec@0.0", "u")
    assert late.rows["credit"].tolist() == pytest.approx([0, 1 / 2, 1 / 6])
    assert late.value == pytest.approx(2 / 3)


def test_an_option_of_a_text_is_kept_where_another_is_given_for_all() -> None:
    plain, exponential = EV.ndcg(k=10), EV.ndcg(k=10, gain="exponential")
    assert plain != exponential
    for convention in (None, "lightgbm"):  # whose gain is exponential
        evaluation = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test, convention=convention)
        linear = evaluation.ndcg(k=10, gain="linear")
        assert evaluation.measure("nDCG(dcg='log2')@10") == linear
        assert evaluation.measures(["nDCG(dcg='log2')@10"], gain="exponential")["mean"].item() == linear


@pytest.mark.parametrize("text", ["AP(rel=2)@5", "AP(rel=2)", "nDCG(dcg='exp-log2')@5"])
def test_what_takes_options_as_keywords_refuses_those_of_a_text(text: str) -> None:
    with pytest.raises(OptionError, match=r"its options as keywords\. Did you mean '(average_precision|ndcg)'"):
        EV.explore(text)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_an_option_of_a_text_and_another_for_the_same_metric_are_refused(gain: str) -> None:
    text = f"nDCG(gain='{gain}')"
    for call in (
        lambda: EV.at_least(text, 0.1, k=10, gain="binary"),
        lambda: EV.table({text: {"gain": "binary"}}, k=10),
        lambda: EV.explain(text, "u001", k=10, gain="binary"),
        lambda: EV.curve(text, gain="binary"),
    ):
        with pytest.raises(
            OptionError, match=f"gives gain='{gain}', and gain='binary' is another: leave one of them out"
        ):
            call()
