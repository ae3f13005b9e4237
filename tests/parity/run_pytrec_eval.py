"""pytrec_eval-terrier: the mean over the queries that it returns, or what it makes of them itself.

Interpolated precision is asked for at the level of the preset, a recall of 0; tests/results/test_measures.py has all levels,
and grades of -1 among whole ones, which matter to infAP.
"""

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
    "bpref": "bpref",
    "infap": "infAP",
    "iprec": "iprec_at_recall.0.00",
    "num_ret": "num_ret",
    "num_rel": "num_rel",
    "num_rel_ret": "num_rel_ret",
}

#: Those that are no mean: the library says what they are over several queries.
AGGREGATED = ("gm_map", "num_ret", "num_rel", "num_rel_ret")


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import pytrec_eval

    def measured(measure: str) -> Metric:
        def metric(data: DataSet) -> float:
            asked = measure.format(k=data["k"])
            values = pytrec_eval.RelevanceEvaluator(qrels(data), {asked}).evaluate(runs(data))
            numbers = [one[asked.replace(".", "_", 1)] for one in values.values()]
            return (
                float(pytrec_eval.compute_aggregated_measure(asked, numbers))
                if measure in AGGREGATED
                else mean(numbers)
            )

        return metric

    return {name: measured(measure) for name, measure in MEASURES.items()}


if __name__ == "__main__":
    answer(metrics(), "pytrec_eval-terrier")
