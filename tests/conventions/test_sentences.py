"""What the lines below numbers, errors and advice say of users, negative relevance and
options is so.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import OptionError
from recnb.metrics.metric import METRICS, RETRIEVAL_METRICS

RUN = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2", "q3"],
        "doc_id": ["a", "b", "c", "a", "a"],
        "score": [3.0, 2.0, 1.0, 1.0, 1.0],
    }
)
#: Of q2 all that is judged is not relevant; nothing of q3 is judged.
QRELS = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["a", "b", "a"],
        "relevance": [2, 0, 0],
    }
)


def test_a_query_that_the_truth_lacks_was_not_judged() -> None:
    """It is not one with no relevant document: nobody has looked."""
    ev = recnb.evaluate(RUN, QRELS, convention="ir_measures")
    models = recnb.compare({"one": RUN, "two": RUN}, QRELS, convention="ir_measures")
    assert "1 of them with no relevant document, which counts 0" in models.basis
    shown = [ev.basis, ev.ndcg(k=2).basis, models.basis, ev.report(k=2).to_markdown()]
    for words in shown:
        assert "1 left out, without judgements" in " ".join(words.split())
        assert "left out, with no relevant document" not in words
    # Where every query without a relevant document is left out, it is one of them.
    ev = recnb.evaluate(RUN, QRELS)
    assert "2 left out, with no relevant document" in ev.basis


# Grades below 0


NEGATIVE = QRELS.assign(relevance=[2, -1, 0])


def test_negative_relevance_is_said_to_be_what_it_is() -> None:
    ev = recnb.evaluate(RUN, NEGATIVE, negative_relevance="zero")
    unjudged = "negative relevance means not judged"
    counts_0 = "negative relevance counts 0"
    for name in ("bpref", "infAP", "AP(judged_only=True)"):
        number = ev.measure(name)
        assert unjudged in number.basis
        assert counts_0 not in number.basis
    for number in (ev.ndcg(k=2), ev.precision(k=2), ev.measure("Judged@2")):
        assert counts_0 in number.basis
        assert unjudged not in number.basis
    explained = ev.explain("bpref", "q1")
    assert unjudged in explained.basis
    assert explained.to_frame()["judged"].tolist() == [True, False, False]
    judged = recnb.evaluate(RUN, QRELS).explain("bpref", "q1")
    assert judged.to_frame()["judged"].tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("relevant", "judged_only", "said"),
    [
        (">0", False, "counts 0"),
        (">0", True, "counts 0"),
        ("any", False, "counts as it is"),
        ("!=0", False, "counts as it is"),
    ],
)
def test_negative_relevance_that_is_kept_counts_0_where_it_is_not_relevant(
    relevant: Any, judged_only: bool, said: str
) -> None:
    """q1: gains 2 and -1 at ranks 1 and 2; as it is, the sum is 2 - 1 / log2(3)."""
    kept = recnb.Convention(
        relevant=relevant, negative_relevance="keep", judged_only=judged_only
    )
    ev = recnb.evaluate(RUN, NEGATIVE, convention=kept)
    dcg = 2 - (said != "counts 0") / np.log2(3)
    assert ev.dcg(k=2).per_user["q1"] == pytest.approx(dcg)
    models = recnb.compare({"one": RUN, "two": RUN}, NEGATIVE, convention=kept)
    for words in (ev.basis, ev.dcg(k=2).basis, models.basis, str(kept)):
        assert f"negative relevance {said}" in words
    given = recnb.evaluate(
        RUN, NEGATIVE, convention="trec_eval", negative_relevance="keep"
    )
    assert "with negative relevance counts 0" in given.recall(k=2).basis


# Advice


def test_what_is_advised_under_propensities_takes_them() -> None:
    """And it is a metric that weights take the bias out of: not nDCG."""
    ev = recnb.evaluate(
        {"u": ["a", "b"]},
        pd.DataFrame({"user": ["u"], "item": ["a"], "p": [0.5]}),
        propensity="p",
    )
    for name, metric in {**METRICS, **RETRIEVAL_METRICS}.items():
        if metric.instead:
            words = re.escape(f"the nearest is {metric.instead}")
            with pytest.raises(OptionError, match=words):
                ev.measure(name, k=2)
            for named in metric.instead.split(" with ")[0].split(", or "):
                assert METRICS[named].takes_weights
                assert named != "ndcg", name
    assert ev.report(k=[1])._data.metrics[0].metric == "precision"
    assert ev.table(k=1).index.tolist() == ["precision", "recall", "ndcg"]


def test_what_is_given_already_is_not_advised() -> None:
    recs = pd.DataFrame({"user": ["u", "u"], "item": ["a", "a"], "rank": [1, 1]})
    truth = pd.DataFrame({"user": ["u"], "item": ["a"]})
    assert recnb.evaluate(recs[:1], truth, duplicates="dedupe").ndcg() == 1
