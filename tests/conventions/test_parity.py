"""The same numbers as trec_eval by default, user by user and in the mean, on random data.

trec_eval orders by a score in single precision and breaks ties by the document's name, so the scores here are far apart.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb

CUTOFFS = (1, 3, 5, 10, 20)
N_USERS, N_ITEMS = 300, 40


def peer(name: str) -> Any:
    """The library to compare with, of the extra `test`; a missing one is passed over unless RECNB_REQUIRE_ALL is set."""
    if os.environ.get("RECNB_REQUIRE_ALL") == "1":
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed, and parity with it was not checked")


def close(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


#: Measure of pytrec_eval, with its cut-off if it takes one; metric here, and its cut-off.
TREC = [
    *[(f"{measure}.{k}", metric, k) for k in CUTOFFS for measure, metric in [
        ("ndcg_cut", "ndcg"), ("map_cut", "average_precision"), ("P", "precision"), ("recall", "recall"), ("success", "hit_rate"),
    ]],
    ("map", "average_precision", None), ("recip_rank", "reciprocal_rank", None), ("Rprec", "r_precision", None),
    ("set_P", "precision", None), ("set_recall", "recall", None), ("set_F", "f1", None), ("ndcg", "ndcg", 1000),
]  # fmt: skip


@pytest.mark.parametrize("top", [1, 4], ids=["binary", "graded"])
def test_trec_eval(top: int) -> None:
    """Lists of 0 to 12 items; trec_eval answers for users with a list, ours count 0 for the others, and so does its -c."""
    rng, rows, judged = np.random.default_rng(top), [], []
    for user in range(N_USERS):
        rows += [
            (f"u{user}", f"i{item}", -rank) for rank, item in enumerate(rng.permutation(N_ITEMS)[: rng.integers(13)])
        ]
        items = rng.permutation(N_ITEMS)[: rng.integers(1, 16)]
        relevance = rng.integers(0, top + 1, len(items))
        relevance[0] = max(relevance[0], 1)
        judged += [(f"u{user}", f"i{item}", int(grade)) for item, grade in zip(items, relevance, strict=True)]
    recs = pd.DataFrame(rows, columns=["user", "item", "score"]).sample(frac=1, random_state=0)
    truth = pd.DataFrame(judged, columns=["user", "item", "relevance"])
    run, qrels = (
        {user: dict(zip(part["item"], part[column], strict=True)) for user, part in frame.groupby("user")}
        for frame, column in ((recs.assign(score=recs["score"].astype(float)), "score"), (truth, "relevance"))
    )
    theirs = peer("pytrec_eval").RelevanceEvaluator(qrels, {measure for measure, _metric, _k in TREC}).evaluate(run)
    everyone, listed = recnb.evaluate(recs, truth), recnb.evaluate(recs, truth, averaged_users="both")
    assert everyone.counts.n_without_list > 5
    for measure, metric, k in TREC:
        expected = {user: values[measure.replace(".", "_")] for user, values in theirs.items()}
        ours = getattr(listed, metric)(k=k)
        assert ours.per_user.to_dict() == close(expected), measure
        assert float(ours) == close(np.mean(list(expected.values())))
        expected = {user: expected.get(user, 0.0) for user in everyone.users}
        assert getattr(everyone, metric)(k=k).per_user.to_dict() == close(expected), measure
