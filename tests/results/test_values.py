"""Numbers by name or text, against ir_measures; and the line below a number, which says
what was computed and for whom.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb import METRICS
from recnb.conventions import options_in_words
from recnb.errors import NoUsersError, OptionError
from recnb.metrics.metric import LIST_METRICS
from recnb.results.arguments import STANDARD  # noqa: F401 -- in rows
from tests.rows import read_rows
from tests.sample import SAMPLE
from tests.strategies import each_word, values_of

RECS, TRUTH = SAMPLE.models["item-knn"], SAMPLE.test
EV = RECS.rec.against(TRUTH, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)
CHOICES = [
    (name, options) for name, metric in METRICS.items() for options in each_word(metric)
]


SYMBOLS = {metric.symbol for metric in (*METRICS.values(), *LIST_METRICS.values())}


def said_of(name: str, line: str) -> list[str]:
    """The phrases of a line that hold for a metric: those without names, and those
    behind its own.
    """
    phrases = []
    for part in line.split("; "):
        names, _colon, own = part.partition(": ")
        if {each.partition("@")[0] for each in names.split(", ")} <= SYMBOLS:
            symbol = METRICS[name].symbol
            phrases += own.split(", ") if symbol in names.split(", ") else []
        else:
            phrases.append(part)
    return phrases


def options_said(name: str, line: str) -> dict[str, Any]:
    """The options of a metric as its line has them."""
    said, found = ", ".join(said_of(name, line)), {}
    for option, values in values_of(METRICS[name]).items():
        if (
            option == "max_relevance"
            and "highest relevance 5, that of the truth" in said
        ):
            found[option] = 5.0
        for value in values:
            if (option, value) == ("log_base", 2) or value is None:
                continue
            if value == "1":  # what is divided by nothing has no words for it
                found[option] = value
                continue
            words = options_in_words(
                {option: value} | ({"discount": "log"} if option == "log_base" else {})
            )[0]
            if (
                words if (option, value) != ("discount", "log") else "(1 + rank)"
            ) in said:
                found[option] = value
    return found


@pytest.mark.parametrize(("name", "options"), CHOICES, ids=str)
def test_a_number_follows_from_the_options_in_its_line(
    name: str, options: dict[str, Any]
) -> None:
    """The line of a table with every other metric beside it is read back, and gives the
    number again.
    """
    table = EV.table({other: {} for other in METRICS} | {name: options}, k=7)
    said = options_said(name, table.attrs["basis"])
    assert {
        option for option in METRICS[name].defaults if option != "log_base"
    } <= said.keys()
    assert {**options, **said} == {**said, **options}
    assert getattr(EV, name)(7, **said) == pytest.approx(table.loc[name, 7], rel=1e-12)
    assert (
        options_said(
            name,
            f"{METRICS[name].symbol}: "
            + getattr(EV, name)(7, **options).basis.replace("; ", ", "),
        )
        == said
    )


# Under the conventions of a library


#: Queries of labels; of the first no gain can be had, and some libraries count it all
#: the same.
GROUPS: dict[str, Any] = {
    "y_true": [0, 0, 1, 0, 1, 0],
    "y_score": [0.4, 0.3, 0.2, 0.1, 0.3, 0.9],
    "group": [2, 2, 2],
}


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_what_counts_for_a_query_of_zeros_is_explained(library: str) -> None:
    ev = recnb.evaluate_groups(**GROUPS, convention=library)
    value, explained = ev.ndcg(k=2).per_user[0], ev.explain("ndcg", 0, k=2)
    assert explained.value == value
    assert f"by convention {value:g}" in repr(explained) or value == 0
    for rule in ("one", "zero", "skip"):
        under = recnb.evaluate_groups(**GROUPS, convention=library, no_relevant=rule)
        score, shown = (
            under.ndcg(k=2),
            under.table("ndcg", k=2, intervals=True).to_numpy(),
        )
        assert shown[0, 1:] == pytest.approx(tuple(score.interval()))
        assert score.n_users == (2 if rule == "skip" else 3)
    with pytest.raises(recnb.errors.UnknownUserError, match="user 0 is not evaluated"):
        under.explain("ndcg", 0, k=2)
    assert under.explain("ndcg", 1, k=2).value == under.ndcg(k=2).per_user[1]


# Measures by the names that papers print

#: Runs compared with ir_measures: few in a usual test run.
N_RUNS = 200 if os.environ.get("RECNB_HYPOTHESIS") == "ci" else 30

#: Measures of ir_measures that recnb has; ERR and exponential gains are printed with
#: five digits there.
EXACT = [
    "nDCG@10",
    "nDCG",
    "nDCG(judged_only=True)@10",
    "AP",
    "AP@5",
    "AP(rel=2)",
    "AP(rel=3,judged_only=True)@10",
    "RR",
    "RR@5",
    "RR(rel=2)",
    "RR(rel=2)@10",
    "RR(judged_only=True)",
    "P@5",
    "P(rel=2)@5",
    "P(judged_only=True)@10",
    "R@20",
    "R@5",
    "Rprec",
    "Rprec(rel=2)",
    "Success@1",
    "Success(rel=3)@5",
    "Judged@10",
    "Judged",
    "Judged@50",
    "Bpref",
    "Bpref(rel=2)",
    "Bpref(rel=3)",
    "IPrec@0.0",
    "IPrec@0.1",
    "IPrec@0.5",
    "IPrec@1.0",
    "IPrec(rel=2)@0.3",
    "IPrec(judged_only=True)@0.2",
]
#: Of lists from which items that are not judged are left out.
JUDGED_ONLY = [
    f"{name}(judged_only=True){at}"
    for name, at in {
        "AP": "",
        "nDCG": "@5",
        "P": "@3",
        "RR": "",
        "R": "@4",
        "Rprec": "",
    }.items()
]
ROUNDED = ["ERR@5", "ERR@20", 'nDCG(dcg="exp-log2")@10', 'nDCG(dcg="exp-log2")@5']


def run_of(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A run and judgments with ties, documents that are not judged, queries without a
    run or without a relevant document.
    """
    rng = np.random.default_rng(seed)
    docs, ties = (
        np.array([f"d{doc}" for doc in range(rng.integers(15, 60))]),
        int(rng.choice([3, 8, 1000])),
    )
    run, qrels = [("q0", "d0 relevant", 1.0)], [("q0", "d0 relevant", 3)]
    for query in range(int(rng.integers(3, 10))):
        top = int(rng.choice([0, 3, 4], p=[0.1, 0.2, 0.7]))
        judged, listed = (
            rng.permutation(docs)[: rng.integers(1, len(docs))] for _side in range(2)
        )
        qrels += [(f"q{query}", doc, int(rng.integers(0, top + 1))) for doc in judged]
        if rng.random() < 0.9 or query == 0:
            run += [(f"q{query}", doc, float(rng.integers(0, ties))) for doc in listed]
    names = ["query_id", "doc_id"]
    return pd.DataFrame(run, columns=[*names, "score"]), pd.DataFrame(
        qrels, columns=[*names, "relevance"]
    )


def in_ir_measures(
    run: pd.DataFrame, qrels: pd.DataFrame, names: list[str]
) -> dict[str, float]:
    ir = import_module("ir_measures")
    measures = {name: ir.parse_measure(name) for name in names}
    found = ir.calc_aggregate(list(measures.values()), qrels, run)
    return {name: float(found[measure]) for name, measure in measures.items()}


def with_negatives(qrels: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The judgments with grades of -1 and -2 in the place of some zeros; with nothing
    else in a query, trec_eval crashes.
    """
    rng = np.random.default_rng(seed)
    below = (
        rng.integers(1, 3, len(qrels))
        * (rng.random(len(qrels)) < 0.4)
        * (qrels["relevance"] == 0)
    )
    return qrels.assign(
        relevance=qrels["relevance"] - below * qrels.duplicated("query_id")
    )


@pytest.mark.parametrize("seed", range(N_RUNS))
def test_equal_those_of_ir_measures(seed: int) -> None:
    run, qrels = run_of(seed)
    got = (
        recnb.evaluate(run, qrels)
        .under("ir_measures")
        .measures(EXACT)["mean"]
        .to_dict()
    )
    want = in_ir_measures(run, qrels, EXACT)
    # trec_eval divides by 0 where no document of a list is judged.
    undefined = [name for name, value in want.items() if np.isnan(value)]
    assert set(undefined) <= {"IPrec(judged_only=True)@0.2"}
    assert {**got, **dict.fromkeys(undefined)} == pytest.approx(
        {**want, **dict.fromkeys(undefined)}, abs=1e-9
    )
    negative = with_negatives(qrels, seed)  # these are not judged
    got = (
        recnb.evaluate(run, negative, convention="ir_measures")
        .measures(JUDGED_ONLY)["mean"]
        .to_dict()
    )
    assert got == pytest.approx(in_ir_measures(run, negative, JUDGED_ONLY), abs=1e-9)
    if seed < 5:
        for frame in (run, qrels):
            frame["query_id"], frame["doc_id"] = (
                frame["query_id"].str[1:],
                frame["doc_id"].str.replace(" ", "-"),
            )
        got = (
            recnb.evaluate(run, qrels)
            .under("ir_measures")
            .measures(ROUNDED)["mean"]
            .to_dict()
        )
        assert got == pytest.approx(in_ir_measures(run, qrels, ROUNDED), abs=1.1e-5)


STRICT = recnb.evaluate(RECS, TRUTH, relevant_from=4)
JUDGED = RECS.merge(TRUTH[["user", "item"]], on=["user", "item"])
JUDGED["rank"] = JUDGED.groupby("user")["rank"].rank().astype(int)

#: Texts, each with the number that it means.
SAME: dict[str, recnb.Score | recnb.CatalogueScore] = {
    "nDCG@10": EV.ndcg(k=10),
    "ndcg@10": EV.ndcg(k=10),
    "mrr": EV.reciprocal_rank(),
    "P": EV.precision(),
    "P@10": EV.precision(k=10),
    "nDCG(dcg='exp-log2')@5": EV.ndcg(k=5, gain="exponential"),
    "RBP(p=0.5)": EV.rbp(p=0.5),
    "coverage@10": EV.coverage(k=10),
    "bpref": EV.measure("bpref"),
    "IPrec@0.3": EV.measure("interpolated_precision", recall=0.3),
    "AP(rel=4)@10": STRICT.average_precision(k=10),
    "AP(rel=4)": STRICT.average_precision(),
    "P(judged_only=True)@3": recnb.evaluate(JUDGED, TRUTH).precision(k=3),
}


@pytest.mark.parametrize("text", SAME)
def test_a_measure_is_the_method_with_its_options(text: str) -> None:
    score = EV.measure(text)
    assert (score, score.k) == (SAME[text], SAME[text].k)
    assert (
        score.to_frame().to_numpy().tolist()
        == SAME[text].to_frame().to_numpy().tolist()
    )
    row = EV.measures([text]).loc[text]
    assert row["mean"] == score
    if score.has_interval:
        assert row[["low", "high", "users"]].tolist() == pytest.approx(
            [*score.interval(), SAME[text].n_users]
        )
    assert EV.table([text]).index.tolist() == [
        text if text not in ("mrr", "bpref") else score.metric
    ]
    assert EV.table([text]).to_numpy().item() == score
    if "@" in text and "IPrec" not in text:
        for call in (
            lambda: EV.measure(text, k=4),
            lambda: EV.table([text], k=[5, 10]),
        ):
            with pytest.raises(OptionError, match="cut-off"):
                call()
        assert EV.measure(text, k=score.k) == score


def test_a_level_of_relevance_that_the_truth_has_not_is_what_is_wrong() -> None:
    ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b"]})
    words = r"AP\(rel=2\) counts items of relevance 2 or more, and the highest .* is 1:"
    with pytest.raises(NoUsersError, match=words) as raised:
        ev.measures(["nDCG@2", "AP(rel=2)"])
    assert "relevant_from" not in str(raised.value)


# Under the conventions of a library

#: Learning to rank: the relevant rows are at rank 3 of query 1 and at rank 2 of query
#: 2; query 3 has none.
LABELS = pd.DataFrame(
    {
        "qid": [1] * 3 + [2] * 3 + [3] * 2,
        "label": [0, 0, 2, 0, 1, 0, 0, 0],
        "pred": [0.9, 0.5, 0.1, 0.9, 0.5, 0.1, 0.7, 0.2],
    }
)


def under(relevance: list[float], library: str) -> recnb.Evaluation:
    judged = {1: dict(zip("abc", relevance, strict=True))}
    return recnb.evaluate(
        {1: {"a": 3.0, "b": 2.0, "c": 1.0}}, judged, convention=library
    )


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "scikit-learn", "catboost"])
def test_own_metrics_have_own_relevance(library: str) -> None:
    """A library's nDCG counts every judged item; what the library lacks counts those of
    relevance above 0.
    """
    ours = recnb.evaluate(LABELS, convention=library)
    assert ours.ndcg().convention.relevant == "any"
    own = {"mrr": (1 / 3 + 1 / 2) / 3, "hit_rate": 1 / 3, "recall": 1 / 3}
    for name, expected in own.items():
        if (
            "recnb's own"
            in (score := getattr(ours, name)(k=None if name == "mrr" else 2)).basis
        ):
            assert score == pytest.approx(expected), name
            assert score.convention.relevant == ">0"
    assert ours.mrr() == pytest.approx(own["mrr"])
    assert recnb.evaluate(LABELS, convention=library, relevant_from=2).hit_rate(
        k=3
    ) == pytest.approx(1 / 3)
    assert (
        recnb.evaluate(LABELS, convention="lightgbm", relevant="any").hit_rate(k=1) == 1
    )
    if library != "catboost":  # no row of label 0 is called relevant, found or missed
        assert (ours.counts.n_relevant, ours.hits().n_relevant.tolist()) == (
            2,
            [1, 1, 0],
        )
        found = set(
            re.findall(r"found \d of \d relevant", ours.report(k=2).to_markdown())
        )
        assert found == {"found 0 of 1 relevant", "found 1 of 1 relevant"}


# Calls that are the same

FOUND = recnb.compare(SAMPLE.recommendations, TRUTH, baseline="popular")
POPULAR, BOOSTED = (
    recnb.evaluate(SAMPLE.models["popular"], TRUTH, convention=library)
    for library in (None, "lightgbm")
)
SAME_CALLS = read_rows("results/same.toml")


def near(wanted: Any) -> Any:
    return pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("call", SAME_CALLS)
def test_calls_that_are_the_same(call: str) -> None:
    assert eval(call) == eval(SAME_CALLS[call])
