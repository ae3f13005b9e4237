"""Libraries of retrieval and of PyTorch, each asked for its variants in presets.csv."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.tools.parity.data import (
    DataSet,
    Metric,
    candidates,
    mean,
    qrels,
    runs,
    variants,
)


def ir_measures() -> dict[str, Metric]:
    """Aggregated by itself; rank-biased precision needs cwl-eval, and interpolated
    precision is asked for at a recall of 0.
    """
    import ir_measures

    def ask(data: DataSet, text: str) -> Any:
        # One user after the other, as in the files of TREC: cwl-eval takes what stands
        # together for a list.
        rows = [
            ir_measures.ScoredDoc(*row[:3])
            for row in sorted(data["recs"], key=lambda row: row[0])
        ]
        measure = ir_measures.parse_measure(text.format(k=data["k"]))
        return ir_measures.calc_aggregate([measure], qrels(data), rows)[measure]

    measures = {
        "ndcg": "nDCG@{k}",
        "ndcg_nojudgedcut": "nDCG",
        "ndcg_exp": "nDCG(dcg='exp-log2')@{k}",
        "precision": "P@{k}",
        "recall": "R@{k}",
        "ap": "AP@{k}",
        "rr": "RR@{k}",
        "rr_nocut": "RR",
        "hit": "Success@{k}",
        "rprec": "Rprec",
        "setp": "SetP",
        "setr": "SetR",
        "err": "ERR@{k}",
        "rbp_rel1": "RBP(p=0.8,rel=1)",
        "bpref": "Bpref",
        "iprec": "IPrec@0.0",
        "judged": "Judged@{k}",
    }
    return variants(ask, measures)


def pytrec_eval_terrier() -> dict[str, Metric]:
    """The mean over the queries that it returns; interpolated precision is asked for at
    a recall of 0.
    """
    import pytrec_eval

    def ask(data: DataSet, measure: str) -> float:
        name = measure.format(k=data["k"])
        values = pytrec_eval.RelevanceEvaluator(qrels(data), {name}).evaluate(
            runs(data)
        )
        return mean(one[name.replace(".", "_", 1)] for one in values.values())

    measures = {
        "ndcg": "ndcg_cut.{k}",
        "ndcg_nocut": "ndcg",
        "precision": "P.{k}",
        "recall": "recall.{k}",
        "ap": "map_cut.{k}",
        "ap_nocut": "map",
        "hit": "success.{k}",
        "rprec": "Rprec",
        "rr": "recip_rank",
        "relative_p": "relative_P.{k}",
        "bpref": "bpref",
        "iprec": "iprec_at_recall.0.00",
    }
    return variants(ask, measures)


def ranx() -> dict[str, Metric]:
    """`evaluate`, with users made comparable but for the variants called strict."""
    from ranx import Qrels, Run, evaluate

    def ask(data: DataSet, name: str, make_comparable: bool = True) -> Any:
        return evaluate(
            Qrels(qrels(data)),
            Run(runs(data)),
            name.format(k=data["k"]),
            make_comparable=make_comparable,
        )

    names = {
        "ndcg": "ndcg@{k}",
        "ndcg_burges": "ndcg_burges@{k}",
        "dcg": "dcg@{k}",
        "dcg_burges": "dcg_burges@{k}",
        "precision": "precision@{k}",
        "recall": "recall@{k}",
        "f1": "f1@{k}",
        "ap": "map@{k}",
        "rr": "mrr@{k}",
        "hit": "hit_rate@{k}",
        "rprec": "r-precision",
        "ndcg_nocut": "ndcg",
        "precision_nocut": "precision",
    }
    strict = {"ndcg": "ndcg@{k}", "precision": "precision@{k}"}
    return {
        **variants(ask, names),
        **variants(ask, strict, "[strict]", make_comparable=False),
    }


def scikit_learn() -> dict[str, Metric]:
    """One user at a time, averaged over the users of the truth, which is this script's
    doing.
    """
    import numpy as np
    from sklearn import metrics as m

    def ask(data: DataSet, score: Callable[..., float], full: bool) -> float:
        lists, values = candidates(data, full=full), []
        for user in qrels(data):
            rows = lists.get(user, [])
            true, given = (
                np.array([row[2] for row in rows]),
                np.array([row[1] for row in rows], dtype=float),
            )
            values.append(float(score(true, given, data["k"])))
        return mean(values)

    metrics: dict[str, Callable[..., float]] = {
        "ndcg": lambda true, score, k: m.ndcg_score([true], [score], k=k),
        "ndcg_ignore_ties": lambda true, score, k: m.ndcg_score(
            [true], [score], k=k, ignore_ties=True
        ),
        "dcg": lambda true, score, k: m.dcg_score([true], [score], k=k),
        "ap": lambda true, score, k: m.average_precision_score(true > 0, score),
        "lrap": lambda true, score, k: m.label_ranking_average_precision_score(
            [true > 0], [score]
        ),
    }
    return {
        **variants(ask, metrics, "[list]", full=False),
        **variants(ask, metrics, "[full]", full=True),
    }


def torchmetrics() -> dict[str, Metric]:
    """Torchmetrics, on the CPU."""
    import torch
    from torchmetrics import retrieval as r

    def ask(data: DataSet, make: Callable[..., Any], full: bool) -> Any:
        library, indexes, scores, grades = make(data["k"]), [], [], []
        for number, rows in enumerate(candidates(data, full=full).values()):
            for _item, score, grade in rows:
                indexes.append(number)
                scores.append(score)
                grades.append(
                    grade
                    if isinstance(library, r.RetrievalNormalizedDCG)
                    else int(grade > 0)
                )
        library.update(
            torch.tensor(scores), torch.tensor(grades), indexes=torch.tensor(indexes)
        )
        return library.compute()

    metrics: dict[str, Callable[..., Any]] = {
        "ndcg": lambda k: r.RetrievalNormalizedDCG(top_k=k),
        "ap": lambda k: r.RetrievalMAP(top_k=k),
        "rr": lambda k: r.RetrievalMRR(top_k=k),
        "precision": lambda k: r.RetrievalPrecision(top_k=k),
        "precision_adaptive": lambda k: r.RetrievalPrecision(top_k=k, adaptive_k=True),
        "recall": lambda k: r.RetrievalRecall(top_k=k),
        "hit": lambda k: r.RetrievalHitRate(top_k=k),
        "rprec": lambda k: r.RetrievalRPrecision(),
    }
    return {
        **variants(ask, metrics, "[list]", full=False),
        **variants(ask, metrics, "[full]", full=True),
    }
