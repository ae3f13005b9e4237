"""The same numbers as trec_eval and scikit-learn by default, user by user and in the mean, on random data.

The peers are extras: without them these tests are skipped, unless RECNB_REQUIRE_ALL is set. trec_eval orders by a score
in single precision and breaks ties by the document's name, so the scores here are far apart.
"""

from __future__ import annotations

import importlib
import itertools
import math
import os
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb import Evaluation
from tests.reference import REFERENCE

CUTOFFS = (1, 3, 5, 10, 20)
N_USERS, N_ITEMS = 300, 40
Both = tuple[pd.DataFrame, pd.DataFrame, Evaluation]


def peer(name: str) -> Any:
    """The library to compare with; a missing one fails where everything is required, and skips elsewhere."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        reason = f"{name} is not installed, and parity with it was not checked: pip install 'recnb[test]'"
        if os.environ.get("RECNB_REQUIRE_ALL") == "1":
            raise AssertionError(reason) from problem
        pytest.skip(reason)


def close(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.fixture(scope="module", params=[1, 4], ids=["binary", "graded"])
def both(request: pytest.FixtureRequest) -> Both:
    """Lists of 0 to 12 items, ordered by score, and 1 to 15 judged items for each user, one at least relevant."""
    rng, rows, judged = np.random.default_rng(request.param), [], []
    for user in range(N_USERS):
        listed = rng.permutation(N_ITEMS)[: rng.integers(0, 13)]
        rows += [(f"u{user}", f"i{item}", 100.0 - rank) for rank, item in enumerate(listed)]
        items = rng.permutation(N_ITEMS)[: rng.integers(1, 16)]
        relevance = rng.integers(0, request.param + 1, len(items))
        relevance[0] = max(relevance[0], 1)
        judged += [(f"u{user}", f"i{item}", int(grade)) for item, grade in zip(items, relevance, strict=True)]
    recs = pd.DataFrame(rows, columns=["user", "item", "score"]).sample(frac=1, random_state=0)
    truth = pd.DataFrame(judged, columns=["user", "item", "relevance"])
    evaluation = recnb.evaluate(recs, truth)
    assert evaluation.counts.n_without_list > 5
    return recs, truth, evaluation


#: Measure of pytrec_eval, with its cut-off if it takes one; metric here, and its cut-off.
TREC = [
    *[(f"{measure}.{k}", metric, k) for k in CUTOFFS for measure, metric in [
        ("ndcg_cut", "ndcg"), ("map_cut", "average_precision"), ("P", "precision"), ("recall", "recall"), ("success", "hit_rate"),
    ]],
    ("map", "average_precision", None), ("recip_rank", "reciprocal_rank", None), ("Rprec", "r_precision", None),
    ("set_P", "precision", None), ("set_recall", "recall", None), ("set_F", "f1", None), ("ndcg", "ndcg", 1000),
]  # fmt: skip


@pytest.mark.parametrize(("measure", "metric", "k"), TREC)
def test_trec_eval(measure: str, metric: str, k: int | None, both: Both) -> None:
    """trec_eval answers for users with a list (`averaged_users="both"`); ours count 0 for the others, and so does its -c."""
    recs, truth, evaluation = both
    run, qrels = (
        {user: dict(zip(part["item"], part[column], strict=True)) for user, part in frame.groupby("user")}
        for frame, column in ((recs, "score"), (truth, "relevance"))
    )
    theirs = peer("pytrec_eval").RelevanceEvaluator(qrels, {measure}).evaluate(run)
    expected = {user: values[measure.replace(".", "_")] for user, values in theirs.items()}
    ours = getattr(recnb.evaluate(recs, truth, averaged_users="both"), metric)(k=k)
    assert ours.per_user.to_dict() == close(expected)
    assert float(ours) == close(np.mean(list(expected.values())))
    everyone = {user: expected.get(user, 0.0) for user in evaluation.users}
    assert getattr(evaluation, metric)(k=k).per_user.to_dict() == close(everyone)


def test_scikit_learn() -> None:
    """Every list ranks all items, and no two scores are equal; a fraction is relevance as well."""
    metrics, rng, shape = peer("sklearn.metrics"), np.random.default_rng(8), (N_USERS, N_ITEMS)
    relevance = rng.integers(0, 5, shape) * (rng.random(shape) < 0.3) * rng.random(shape)
    relevance[:, 0] += 1
    score = rng.permuted(np.tile(np.arange(float(N_ITEMS)), (N_USERS, 1)), axis=1)
    user, item = (index.ravel() for index in np.indices(shape))
    recs = pd.DataFrame({"user": user, "item": item, "score": score.ravel()})
    evaluation = recnb.evaluate(recs, recs[["user", "item"]].assign(relevance=relevance.ravel()))
    for k in (*CUTOFFS, None):
        assert float(evaluation.ndcg(k=k)) == close(metrics.ndcg_score(relevance, score, k=k))
        dcg = evaluation.dcg(k=k, log_base=10, gain="exponential")
        assert float(dcg) == close(metrics.dcg_score(2**relevance - 1, score, k=k, log_base=10))


def test_err_is_the_expected_reciprocal_rank() -> None:
    """Every way in which the items of a list can satisfy a reader or not, its chance, and where the reader then stops."""
    rng = np.random.default_rng(9)  # the peers' ERR needs Perl
    for _ in range(20):
        grades = rng.integers(0, 5, rng.integers(1, 9)).tolist()
        stop = [(2**grade - 1) / 2**4 for grade in grades]
        expected = 0.0
        for satisfied in itertools.product([False, True], repeat=len(grades)):
            chance = math.prod(one if yes else 1 - one for one, yes in zip(stop, satisfied, strict=True))
            expected += chance / (satisfied.index(True) + 1) if any(satisfied) else 0
        assert recnb.err(grades, max_relevance=4) == close(expected)
        assert REFERENCE["err"](list(range(len(grades))), dict(enumerate(grades)), max_relevance=4) == close(expected)


def test_a_missing_peer_is_never_passed_over_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECNB_REQUIRE_ALL", "1")
    with pytest.raises(AssertionError, match="no_such_library is not installed"):
        peer("no_such_library")
    monkeypatch.delenv("RECNB_REQUIRE_ALL")
    with pytest.raises(pytest.skip.Exception, match="parity with it was not checked"):
        peer("no_such_library")
