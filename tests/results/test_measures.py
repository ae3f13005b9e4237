"""Measures by the names that papers print: against ir_measures and pytrec_eval, and in every call that takes metrics."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import OptionError

#: Runs compared with ir_measures: few in a usual test run.
N_RUNS = 200 if os.environ.get("RECNB_HYPOTHESIS") == "ci" else 30

#: Measures of ir_measures that recnb has; ERR and exponential gains are printed with five digits there.
EXACT = [
    "nDCG@10", "nDCG", "nDCG(judged_only=True)@10", "AP", "AP@5", "AP(rel=2)", "AP(rel=3,judged_only=True)@10", "RR", "RR@5",
    "RR(rel=2)", "RR(rel=2)@10", "RR(judged_only=True)", "P@5", "P(rel=2)@5", "P(judged_only=True)@10", "R@20", "R@5",
    "Rprec", "Rprec(rel=2)", "Success@1", "Success(rel=3)@5", "Judged@10", "Judged", "Judged@50", "Bpref", "Bpref(rel=2)",
    "Bpref(rel=3)", "infAP", "infAP(rel=2)", "IPrec@0.0", "IPrec@0.1", "IPrec@0.5", "IPrec@1.0", "IPrec(rel=2)@0.3",
    "IPrec(judged_only=True)@0.2", "SetP", "SetP(rel=2)", "SetP(judged_only=True)", "SetR", "SetR(rel=2)", "SetF", "SetF(beta=2.0)",
    "SetF(rel=2)", "NumRet", "NumRel", "NumRelRet", "NumRet(rel=2)",
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
    ir = pytest.importorskip("ir_measures")
    measures = {name: ir.parse_measure(name) for name in names}
    found = ir.calc_aggregate(list(measures.values()), qrels, run)
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
    peer = pytest.importorskip("pytrec_eval")
    run, qrels = run_of(seed)
    rng = np.random.default_rng(seed)
    qrels["relevance"] -= (rng.random(len(qrels)) < 0.2) * (qrels["relevance"] == 0)
    as_dict = [
        {query: dict(zip(rows["doc_id"], rows[value], strict=True)) for query, rows in frame.groupby("query_id")}
        for frame, value in ((qrels, "relevance"), (run, "score"))
    ]
    theirs = peer.RelevanceEvaluator(
        as_dict[0], {"bpref", "infAP", "iprec_at_recall", "num_ret", "num_rel_ret"}
    ).evaluate(as_dict[1])
    evaluation = recnb.evaluate(run, qrels, convention="trec")
    names = {"Bpref": "bpref", "infAP": "infAP", "NumRet": "num_ret", "NumRelRet": "num_rel_ret"}
    names |= {f"IPrec@{level / 10}": f"iprec_at_recall_{level / 10:.2f}" for level in range(11)}
    for ours, name in names.items():
        wanted = {query: values[name] for query, values in theirs.items()}
        score = evaluation.measure(ours)
        assert isinstance(score, recnb.Score)
        assert score.per_user.to_dict() == pytest.approx(wanted, abs=1e-9), name
