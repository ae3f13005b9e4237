"""ir-measures: aggregated by itself.

What gdeval computes needs Perl and users that are numbers; rank-biased precision needs cwl-eval. Interpolated precision is
asked for at the level of the preset, a recall of 0; tests/results/test_measures.py has others.
"""

from __future__ import annotations

from tests.parity.common import Metric, answer, qrels
from tests.parity.data import DataSet

#: Our name of the variant -> the measure as ir-measures writes it.
MEASURES = {
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
    "setf": "SetF",
    "err": "ERR@{k}",
    "rbp_rel1": "RBP(p=0.8,rel=1)",
    "bpref": "Bpref",
    "infap": "infAP",
    "iprec": "IPrec@0.0",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "judged": "Judged@{k}",
}


def metrics() -> dict[str, Metric]:
    """Every variant, as a function of a data set."""
    import ir_measures

    def measured(text: str) -> Metric:
        def metric(data: DataSet) -> float:
            # One user after the other, as in the files of TREC: cwl-eval takes what stands together for a list.
            rows = [ir_measures.ScoredDoc(*row[:3]) for row in sorted(data["recs"], key=lambda row: row[0])]
            measure = ir_measures.parse_measure(text.format(k=data["k"]))
            return float(ir_measures.calc_aggregate([measure], qrels(data), rows)[measure])

        return metric

    return {name: measured(text) for name, text in MEASURES.items()}


if __name__ == "__main__":
    answer(metrics(), "ir-measures")
