"""Libraries that evaluate what is retrieved for language models, each asked for its
variants in presets.csv.

They are handed the queries of the truth, with the items that have a relevance above 0
as the expected ones, and each list by score; a query of the recommendations alone is no
query of theirs. Most of them have no cut-off of their own: their retriever returns k
items, so they are handed the first k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.tools.parity.data import (
    DataSet,
    Metric,
    lists,
    mean,
    qrels,
    runs,
    variants,
)


class Query(NamedTuple):
    """What a library knows of a query."""

    name: str
    expected: list[str]
    retrieved: list[str]


def queries(data: DataSet, *, top_k: int | None = None) -> list[Query]:
    """Every query of the truth, with the first `top_k` items of its list."""
    retrieved = lists(data)
    return [
        Query(
            name,
            expected=[item for item, grade in grades.items() if grade > 0],
            retrieved=retrieved.get(name, [])[:top_k],
        )
        for name, grades in qrels(data).items()
    ]


def haystack_ai() -> dict[str, Metric]:
    """Its evaluators, which compare the content of documents."""
    from haystack import Document
    from haystack.components import evaluators as e

    def run(evaluator: Any, expected: list[Any], asked: list[Query]) -> float:
        retrieved = [[Document(content=item) for item in q.retrieved] for q in asked]
        return evaluator.run(expected, retrieved)["score"]

    def ask(data: DataSet, evaluator: Any) -> float:
        asked = queries(data, top_k=data["k"])
        expected = [[Document(content=item) for item in q.expected] for q in asked]
        return run(evaluator, expected, asked)

    def ask_with_scores(data: DataSet, evaluator: Any) -> float:
        expected = [
            [Document(content=item, score=float(g)) for item, g in grades.items()]
            for grades in qrels(data).values()
        ]
        return run(evaluator, expected, queries(data, top_k=data["k"]))

    evaluators = {
        "ndcg": e.DocumentNDCGEvaluator(),
        "ap": e.DocumentMAPEvaluator(),
        "rr": e.DocumentMRREvaluator(),
        "recall_multi_hit": e.DocumentRecallEvaluator(mode="multi_hit"),
        "recall_single_hit": e.DocumentRecallEvaluator(),
    }
    with_scores = {"ndcg_scores": e.DocumentNDCGEvaluator()}
    return {**variants(ask, evaluators), **variants(ask_with_scores, with_scores)}


def llama_index_core() -> dict[str, Metric]:
    """The mean of what a metric computes of each query."""
    from llama_index.core.evaluation.retrieval import metrics as m

    def ask(data: DataSet, metric: Any) -> float:
        return mean(
            metric.compute(expected_ids=q.expected, retrieved_ids=q.retrieved).score
            for q in queries(data, top_k=data["k"])
        )

    metrics = {
        "ndcg": m.NDCG(),
        "hit": m.HitRate(),
        "hit_granular": m.HitRate(use_granular_hit_rate=True),
        "rr": m.MRR(),
        "precision": m.Precision(),
        "recall": m.Recall(),
        "ap": m.AveragePrecision(),
    }
    return variants(ask, metrics)


def mlflow() -> dict[str, Metric]:
    """The mean that its metrics of retrievers return."""
    import pandas as pd
    from mlflow import metrics as m

    def ask(data: DataSet, make: Callable[[int], Any]) -> float:
        asked = queries(data)
        value = make(data["k"])(
            predictions=pd.Series([q.retrieved for q in asked]),
            targets=pd.Series([q.expected for q in asked]),
        )
        return value.aggregate_results["mean"]

    metrics = {
        "precision": m.precision_at_k,
        "recall": m.recall_at_k,
        "ndcg": m.ndcg_at_k,
    }
    return variants(ask, metrics)


def mteb() -> dict[str, Metric]:
    """What the evaluator of its retrieval and reranking tasks makes of a run."""
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    def ask(data: DataSet, name: str) -> float:
        k = data["k"]
        field, _blank, label = name.partition(" ")
        scores = calculate_retrieval_scores(runs(data), qrels(data), [k])
        return getattr(scores, field)[f"{label}@{k}"]

    names = {
        "ndcg": "ndcg NDCG",
        "ap": "map MAP",
        "recall": "recall Recall",
        "precision": "precision P",
        "hit": "hit_rate HitRate",
        "rr": "mrr MRR",
    }
    return variants(ask, names)


def ragas() -> dict[str, Metric]:
    """The mean that `evaluate` shows, of ids or of texts that have no letter in common."""
    import os

    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    from ragas import EvaluationDataset, SingleTurnSample, evaluate
    from ragas import metrics as m

    def shown(metric: Any, samples: list[Any]) -> float:
        result = evaluate(EvaluationDataset(samples), [metric], show_progress=False)
        return result._repr_dict[metric.name]

    def ask_ids(data: DataSet, metric: Any) -> float:
        samples = [
            SingleTurnSample(
                retrieved_context_ids=q.retrieved, reference_context_ids=q.expected
            )
            for q in queries(data, top_k=data["k"])
        ]
        return shown(metric, samples)

    def ask_texts(data: DataSet, metric: Any) -> float:
        items = sorted({row[1] for row in data["recs"] + data["truth"]})
        texts = {item: 8 * chr(ord("一") + n) for n, item in enumerate(items)}
        samples = [
            SingleTurnSample(
                retrieved_contexts=[texts[item] for item in q.retrieved],
                reference_contexts=[texts[item] for item in q.expected],
            )
            for q in queries(data, top_k=data["k"])
        ]
        return shown(metric, samples)

    of_texts = {
        "context_precision": m.NonLLMContextPrecisionWithReference(),
        "context_recall": m.NonLLMContextRecall(),
    }
    of_ids = {
        "id_precision": m.IDBasedContextPrecision(),
        "id_recall": m.IDBasedContextRecall(),
    }
    return {**variants(ask_texts, of_texts), **variants(ask_ids, of_ids)}


def information_retrieval(data: DataSet, name: str) -> float:
    """What InformationRetrievalEvaluator makes of lists that have their scores."""
    from sentence_transformers.sentence_transformer import evaluation

    k = data["k"]
    asked = queries(data)
    evaluator = evaluation.InformationRetrievalEvaluator(
        queries={q.name: q.name for q in asked},
        corpus={},
        relevant_docs={q.name: {*q.expected} for q in asked},
        mrr_at_k=[k],
        ndcg_at_k=[k],
        accuracy_at_k=[k],
        precision_recall_at_k=[k],
        map_at_k=[k],
    )
    hits: dict[str, list[dict[str, Any]]] = {q: [] for q in evaluator.queries_ids}
    for user, item, score, _rank in data["recs"]:
        if user in hits:
            hits[user].append({"corpus_id": item, "score": score})
    values = evaluator.compute_metrics([*hits.values()])
    return float(values[f"{name}@k"][k])


class ScoresAsEmbeddings:
    """A model for which a document is its score."""

    def encode_query(self, texts: list[str], **_: Any) -> Any:
        import torch

        return torch.zeros(len(texts))

    def encode_document(self, scores: list[float], **_: Any) -> Any:
        import torch

        return torch.tensor(scores)


def reranking(data: DataSet, name: str) -> float:
    """What RerankingEvaluator makes of the items of each list, by their scores."""
    from sentence_transformers.sentence_transformer import evaluation

    samples = []
    for query in queries(data):
        sample: dict[str, Any] = {"query": query.name, "positive": [], "negative": []}
        for user, item, score, _rank in data["recs"]:
            if user == query.name:
                side = "positive" if item in query.expected else "negative"
                sample[side].append(score)
        samples.append(sample)
    evaluator = evaluation.RerankingEvaluator(
        samples,
        at_k=data["k"],
        similarity_fct=lambda _query, scores: scores,
    )
    return float(evaluator.compute_metrics(ScoresAsEmbeddings())[name])


def sentence_transformers() -> dict[str, Metric]:
    """Its evaluators of lists and of lists to be put in order."""
    names = {
        "ndcg": "ndcg",
        "accuracy": "accuracy",
        "precision": "precision",
        "recall": "recall",
        "rr": "mrr",
        "ap": "map",
    }
    reranked = {"ndcg": "ndcg", "rr": "mrr", "ap": "map"}
    return {
        **variants(information_retrieval, names),
        **variants(reranking, reranked, "[rerank]"),
    }
