"""Libraries of retrieval and of PyTorch, each asked for its variants in presets.csv."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.tools.parity.common import Metric, arrays, mean, qrels, runs
from tests.tools.parity.data import DataSet


def ir_measures() -> dict[str, Metric]:
    """Aggregated by itself.

    What gdeval computes needs Perl and users that are numbers; rank-biased precision needs cwl-eval. Interpolated precision is
    asked for at the level of the preset, a recall of 0; tests/results/test_measures.py has others.
    """
    import ir_measures

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

    def measured(text: str) -> Metric:
        def metric(data: DataSet) -> float:
            # One user after the other, as in the files of TREC: cwl-eval takes what stands together for a list.
            rows = [ir_measures.ScoredDoc(*row[:3]) for row in sorted(data["recs"], key=lambda row: row[0])]
            measure = ir_measures.parse_measure(text.format(k=data["k"]))
            return float(ir_measures.calc_aggregate([measure], qrels(data), rows)[measure])

        return metric

    return {name: measured(text) for name, text in measures.items()}


def pytrec_eval() -> dict[str, Metric]:
    """The mean over the queries that it returns, or what it makes of them itself.

    Interpolated precision is asked for at the level of the preset, a recall of 0; tests/results/test_measures.py has all levels.
    """
    import pytrec_eval

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

    def measured(measure: str) -> Metric:
        def metric(data: DataSet) -> float:
            asked = measure.format(k=data["k"])
            values = pytrec_eval.RelevanceEvaluator(qrels(data), {asked}).evaluate(runs(data))
            numbers = [one[asked.replace(".", "_", 1)] for one in values.values()]
            return mean(numbers)

        return metric

    return {name: measured(measure) for name, measure in measures.items()}


def ranx() -> dict[str, Metric]:
    """`evaluate`, with users made comparable but for the variants called strict."""
    from ranx import Qrels, Run, evaluate

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
        "ndcg[strict]": "ndcg@{k}",
        "precision[strict]": "precision@{k}",
    }

    def named(name: str, strict: bool) -> Metric:
        def metric(data: DataSet) -> float:
            asked = name.format(k=data["k"])
            return float(evaluate(Qrels(qrels(data)), Run(runs(data)), asked, make_comparable=not strict))

        return metric

    return {variant: named(name, variant.endswith("[strict]")) for variant, name in names.items()}


def scikit_learn() -> dict[str, Metric]:
    """One user at a time, averaged over the users of the truth, which is this script's doing."""
    import numpy as np
    from sklearn.metrics import (
        average_precision_score,
        dcg_score,
        label_ranking_average_precision_score,
        ndcg_score,
    )

    encodings = {"[list]": False, "[full]": True}

    scores: dict[str, Callable[[Any, Any, int], float]] = {
        "ndcg": lambda true, score, k: ndcg_score([true], [score], k=k),
        "ndcg_ignore_ties": lambda true, score, k: ndcg_score([true], [score], k=k, ignore_ties=True),
        "dcg": lambda true, score, k: dcg_score([true], [score], k=k),
        "ap": lambda true, score, k: average_precision_score(true > 0, score),
        "lrap": lambda true, score, k: label_ranking_average_precision_score([true > 0], [score]),
    }

    def metric(score: Callable[[Any, Any, int], float], full: bool) -> Metric:
        def of(data: DataSet) -> float:
            candidates = arrays(data, full=full)
            values = []
            for user in qrels(data):
                rows = candidates.get(user, [])
                true, given = np.array([grade for _, grade in rows]), np.array([one for one, _ in rows], dtype=float)
                values.append(float(score(true, given, data["k"])))
            return mean(values)

        return of

    return {name + suffix: metric(score, full) for suffix, full in encodings.items() for name, score in scores.items()}


def torchmetrics() -> dict[str, Metric]:
    """Torchmetrics, on the CPU."""
    import torch
    from torchmetrics import retrieval as r

    encodings = {"[list]": False, "[full]": True}

    made: dict[str, Callable[[int], Any]] = {
        "ndcg": lambda k: r.RetrievalNormalizedDCG(top_k=k),
        "ap": lambda k: r.RetrievalMAP(top_k=k),
        "rr": lambda k: r.RetrievalMRR(top_k=k),
        "precision": lambda k: r.RetrievalPrecision(top_k=k),
        "precision_adaptive": lambda k: r.RetrievalPrecision(top_k=k, adaptive_k=True),
        "recall": lambda k: r.RetrievalRecall(top_k=k),
        "hit": lambda k: r.RetrievalHitRate(top_k=k),
        "rprec": lambda k: r.RetrievalRPrecision(),
    }

    def metric(name: str, make: Callable[[int], Any], full: bool) -> Metric:
        def of(data: DataSet) -> float:
            rows = [
                (number, score, grade if name.startswith("ndcg") else int(grade > 0))
                for number, candidates in enumerate(arrays(data, full=full).values())
                for score, grade in candidates
            ]
            indexes, scores, grades = zip(*rows, strict=True)
            library = make(data["k"])
            library.update(torch.tensor(scores), torch.tensor(grades), indexes=torch.tensor(indexes))
            return float(library.compute())

        return of

    return {
        name + suffix: metric(name, make, full) for suffix, full in encodings.items() for name, make in made.items()
    }


def torcheval() -> dict[str, Metric]:
    """Retrieval_precision of one user at a time, averaged over the users of the truth; missed items stand below."""
    import torch
    from torcheval.metrics.functional import retrieval_precision

    def metric(*, limited: bool) -> Metric:
        def of(data: DataSet) -> float:
            rows = arrays(data, full=True)
            columns = [[torch.tensor(column) for column in zip(*rows[user], strict=True)] for user in qrels(data)]
            return mean(
                float(retrieval_precision(score, (grade > 0).long(), data["k"], limit_k_to_size=limited))
                for score, grade in columns
            )

        return of

    return {"precision": metric(limited=False), "precision_limit": metric(limited=True)}
