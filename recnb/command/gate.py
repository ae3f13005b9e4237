"""A number that a release must reach, and the figures of trec_eval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from recnb.asked import asked as metric_asked
from recnb.comparison import Comparison
from recnb.errors import OptionError, near
from recnb.evaluation import Evaluation
from recnb.hits import Cutoffs

#: Names that trec_eval prints, and recnb's for them; those with a dash are at a cut-off.
TREC = {
    "map": "average_precision", "Rprec": "r_precision", "recip_rank": "reciprocal_rank",
    "P_": "precision", "recall_": "recall", "ndcg_cut_": "ndcg", "success_": "hit_rate",
}  # fmt: skip


@dataclass(frozen=True)
class Gate:
    """A number that a release must reach: `ndcg@10=0.3`, of every model or of one, `als:ndcg@10=0.3`."""

    model: str | None
    metric: str
    k: int | None
    least: float

    @classmethod
    def of(cls, text: str) -> Gate:
        """Read `[model:]metric[@k]=value`."""
        name, _, least = text.rpartition("=")
        model, _, label = name.rpartition(":")
        metric, at, k = label.partition("@")
        try:
            gate = cls(model or None, metric, int(k) if at else None, float(least))
        except ValueError:
            gate = None
        if gate is None or not isfinite(gate.least):
            raise OptionError(f"--fail-below {text}: say it as ndcg@10=0.3, or als:ndcg@10=0.3 of several models.")
        metric_asked(metric)  # a slip is told before the work, not after it
        Cutoffs.one(gate.k)
        return gate

    def below(self, result: Evaluation | Comparison, options: Mapping[str, Any]) -> Iterator[str]:
        """A line for each model that does not reach the number."""
        models = {"": result} if isinstance(result, Evaluation) else dict(result.models)
        if self.model is not None:
            if self.model not in models:
                raise OptionError(f"--fail-below {self.model}:…: there is no such model. {near(self.model, models)}")
            models = {self.model: models[self.model]}
        mine = {name: value for name, value in options.items() if name in metric_asked(self.metric).defaults}
        for name, evaluation in models.items():
            value = _number(evaluation, self.metric, self.k, mine)
            if not value >= self.least:  # NaN reaches nothing
                label = f"{self.metric}@{self.k}" if self.k else self.metric
                yield f"{f'{name}: ' if name else ''}{label} is {value:.4f}, below {self.least:g}"


def trec_lines(evaluation: Evaluation, k: Sequence[int]) -> Iterator[tuple[str, str]]:
    """What trec_eval prints of a run, under the evaluation's convention."""
    hits = evaluation.hits(None)
    yield "num_q", str(evaluation.n_users)
    yield "num_ret", str(int(hits.list_length.sum()))
    yield "num_rel", str(int(hits.n_relevant.sum()))
    yield "num_rel_ret", str(len(hits.user))
    for name, metric in TREC.items():
        for cut in k if name.endswith("_") else [None]:
            yield f"{name}{cut or ''}", f"{_number(evaluation, metric, cut, {}):.4f}"


def _number(evaluation: Evaluation, metric: str, k: int | None, options: Mapping[str, Any]) -> float:
    return float(evaluation.table([metric], k, **options).to_numpy()[0, 0])
