"""pytrec_eval-terrier: the mean over the queries that it returns."""

from __future__ import annotations

from tests.parity.common import Metric, answer, mean, qrels, runs
from tests.parity.data import DataSet

#: Our name of the variant -> the measure that is asked for, with a cutoff after the dot.
MEASURES = {
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
    "setf": "set_F",
    "gm_map": "gm_map",
}


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import pytrec_eval

    def measured(measure: str) -> Metric:
        def metric(data: DataSet) -> float:
            asked = measure.format(k=data["k"])
            values = pytrec_eval.RelevanceEvaluator(qrels(data), {asked}).evaluate(runs(data))
            numbers = [one[asked.replace(".", "_")] for one in values.values()]
            return (
                float(pytrec_eval.compute_aggregated_measure(asked, numbers)) if measure == "gm_map" else mean(numbers)
            )

        return metric

    return {name: measured(measure) for name, measure in MEASURES.items()}


if __name__ == "__main__":
    answer(metrics(), "pytrec_eval-terrier")
