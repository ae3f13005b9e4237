"""The same numbers as trec_eval and scikit-learn, user by user and in the mean, on random data.

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
from tests.reference import err as err_reference

CUTOFFS = (1, 3, 5, 10, 20)
N_USERS, N_ITEMS = 300, 40


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


def frames(seed: int, grades: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Lists of 0 to 12 items, ordered by score, and 1 to 15 judged items for each user, one at least relevant."""
    rng = np.random.default_rng(seed)
    recs, truth = [], []
    for user in range(N_USERS):
        listed = rng.permutation(N_ITEMS)[: rng.integers(0, 13)]
        recs += [(f"u{user}", f"i{item}", 100.0 - rank) for rank, item in enumerate(listed)]
        judged = rng.permutation(N_ITEMS)[: rng.integers(1, 16)]
        relevance = rng.integers(0, grades + 1, len(judged))
        relevance[0] = max(relevance[0], 1)
        truth += [(f"u{user}", f"i{item}", int(grade)) for item, grade in zip(judged, relevance, strict=True)]
    recs_frame = pd.DataFrame(recs, columns=["user", "item", "score"])
    return recs_frame.sample(frac=1, random_state=seed), pd.DataFrame(truth, columns=["user", "item", "relevance"])


@pytest.fixture(scope="module", params=[1, 4], ids=["binary", "graded"])
def both(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, pd.DataFrame, Evaluation]:
    recs, truth = frames(seed=request.param, grades=request.param)
    evaluation = recnb.evaluate(recs, truth)
    assert evaluation.counts.n_without_list > 5
    return recs, truth, evaluation


# trec_eval: (measure of pytrec_eval, whether it takes a cut-off, metric here, options)

TREC = [
    ("ndcg_cut", True, "ndcg", {}),
    ("map_cut", True, "average_precision", {}),
    ("P", True, "precision", {}),
    ("recall", True, "recall", {}),
    ("success", True, "hit_rate", {}),
    ("map", False, "average_precision", {}),
    ("recip_rank", False, "reciprocal_rank", {}),
    ("Rprec", False, "r_precision", {}),
    ("num_rel_ret", False, "cg", {"gain": "binary"}),
    ("set_P", False, "precision", {}),
    ("set_recall", False, "recall", {}),
    ("set_F", False, "f1", {}),
]


@pytest.mark.parametrize(("measure", "cut", "metric", "options"), TREC, ids=[row[0] for row in TREC])
def test_trec_eval(
    measure: str, cut: bool, metric: str, options: dict[str, Any], both: tuple[pd.DataFrame, pd.DataFrame, Evaluation]
) -> None:
    """trec_eval answers for users with a list (`averaged_users="both"`); ours count 0 for the others, and so does its -c."""
    pytrec_eval = peer("pytrec_eval")
    recs, truth, evaluation = both
    run, qrels = (
        {user: dict(zip(part["item"], part[column], strict=True)) for user, part in frame.groupby("user")}
        for frame, column in ((recs, "score"), (truth, "relevance"))
    )
    asked = f"{measure}.{','.join(map(str, CUTOFFS))}" if cut else measure
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {asked}).evaluate(run)
    in_both = recnb.evaluate(recs, truth, averaged_users="both")
    assert set(in_both.users) == set(theirs)
    for k in CUTOFFS if cut else (None,):
        name = f"{measure}_{k}" if cut else measure
        expected = {user: values[name] for user, values in theirs.items()}
        ours = getattr(in_both, metric)(k=k, **options)
        assert ours.per_user.to_dict() == close(expected)
        assert float(ours) == close(np.mean(list(expected.values())))
        everyone = {user: expected.get(user, 0.0) for user in evaluation.users}
        assert getattr(evaluation, metric)(k=k, **options).per_user.to_dict() == close(everyone)


def test_trec_eval_ndcg_of_whole_lists(both: tuple[pd.DataFrame, pd.DataFrame, Evaluation]) -> None:
    """trec_eval's plain ndcg never cuts the ideal list: a k below all lists and truths."""
    pytrec_eval = peer("pytrec_eval")
    recs, truth, _ = both
    run, qrels = (
        {user: dict(zip(part["item"], part[column], strict=True)) for user, part in frame.groupby("user")}
        for frame, column in ((recs, "score"), (truth, "relevance"))
    )
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)
    ours = recnb.evaluate(recs, truth, averaged_users="both").ndcg(k=1000).per_user.to_dict()
    assert ours == close({user: values["ndcg"] for user, values in theirs.items()})


# ir-measures: (measure as it writes it, metric here, k, options)

IR_MEASURES = [
    *[(f"nDCG@{k}", "ndcg", k, {}) for k in CUTOFFS],
    *[(f"AP@{k}", "average_precision", k, {}) for k in CUTOFFS],
    *[(f"P@{k}", "precision", k, {}) for k in CUTOFFS],
    *[(f"R@{k}", "recall", k, {}) for k in CUTOFFS],
    *[(f"RR@{k}", "reciprocal_rank", k, {}) for k in CUTOFFS],
    *[(f"Success@{k}", "hit_rate", k, {}) for k in CUTOFFS],
    ("RR", "reciprocal_rank", None, {}),
    ("AP", "average_precision", None, {}),
    ("Rprec", "r_precision", None, {}),
    ("SetP", "precision", None, {}),
    ("SetR", "recall", None, {}),
    ("SetF", "f1", None, {}),
    ("SetF(beta=0.5)", "fbeta", None, {"beta": math.sqrt(0.5)}),
]


@pytest.mark.parametrize(("measure", "metric", "k", "options"), IR_MEASURES, ids=[row[0] for row in IR_MEASURES])
def test_ir_measures(
    measure: str,
    metric: str,
    k: int | None,
    options: dict[str, Any],
    both: tuple[pd.DataFrame, pd.DataFrame, Evaluation],
) -> None:
    """ir-measures counts 0 for users without a list, as we do; the beta of its SetF is the square of the usual one."""
    ir_measures = peer("ir_measures")
    recs, truth, evaluation = both
    asked = ir_measures.parse_measure(measure)
    qrels = truth.set_axis(["query_id", "doc_id", "relevance"], axis=1)
    run = recs.set_axis(["query_id", "doc_id", "score"], axis=1)
    ours = getattr(evaluation, metric)(k=k, **options)
    assert float(ours) == close(ir_measures.calc_aggregate([asked], qrels, run)[asked])
    theirs = {one.query_id: one.value for one in ir_measures.iter_calc([asked], qrels, run)}
    assert ours.per_user.to_dict() == close({user: theirs.get(user, 0.0) for user in evaluation.users})


# scikit-learn


@pytest.fixture(scope="module", params=["graded", "fractional"])
def dense(request: pytest.FixtureRequest) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Evaluation]:
    """Relevance and score of every item for every user: each list ranks all items, and no two scores are equal."""
    rng = np.random.default_rng(8)
    relevance = rng.integers(0, 5, (N_USERS, N_ITEMS)).astype(float) * (rng.random((N_USERS, N_ITEMS)) < 0.3)
    if request.param == "fractional":
        relevance *= rng.random((N_USERS, N_ITEMS))
    relevance[np.arange(N_USERS), rng.integers(0, N_ITEMS, N_USERS)] += 1
    score = rng.permuted(np.tile(np.arange(float(N_ITEMS)), (N_USERS, 1)), axis=1)
    user, item = (index.ravel() for index in np.indices(relevance.shape))
    recs = pd.DataFrame({"user": user, "item": item, "score": score.ravel()})
    truth = pd.DataFrame({"user": user, "item": item, "relevance": relevance.ravel()})
    return relevance, score, recnb.evaluate(recs, truth)


@pytest.mark.parametrize("k", [*CUTOFFS, N_ITEMS, None])
def test_scikit_learn_ndcg(k: int | None, dense: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Evaluation]) -> None:
    metrics = peer("sklearn.metrics")
    relevance, score, evaluation = dense
    assert float(evaluation.ndcg(k=k)) == close(metrics.ndcg_score(relevance, score, k=k))
    expected = [metrics.ndcg_score(relevance[[user]], score[[user]], k=k) for user in range(N_USERS)]
    assert evaluation.ndcg(k=k).per_user.tolist() == close(expected)


@pytest.mark.parametrize("log_base", [2, math.e, 10])
@pytest.mark.parametrize("k", [1, 5, 20, None])
def test_scikit_learn_dcg(
    k: int | None, log_base: float, dense: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Evaluation]
) -> None:
    metrics = peer("sklearn.metrics")
    relevance, score, evaluation = dense
    assert float(evaluation.dcg(k=k, log_base=log_base)) == close(
        metrics.dcg_score(relevance, score, k=k, log_base=log_base)
    )
    exponential = metrics.dcg_score(2**relevance - 1, score, k=k, log_base=log_base)
    assert float(evaluation.dcg(k=k, log_base=log_base, gain="exponential")) == close(exponential)
    ideal = metrics.dcg_score(relevance, relevance + score / 1e6, k=k, log_base=log_base)
    assert float(evaluation.idcg(k=k, log_base=log_base)) == close(ideal)


def test_scikit_learn_precision_recall_f(both: tuple[pd.DataFrame, pd.DataFrame, Evaluation]) -> None:
    """The first k as a set of predicted labels, each user a sample; sklearn divides by what was predicted."""
    metrics = peer("sklearn.metrics")
    recs, truth, evaluation = both
    order = recs.sort_values("score", ascending=False)
    users = list(evaluation.users)
    items = [f"i{item}" for item in range(N_ITEMS)]
    relevant = (
        pd.crosstab(truth["user"], truth["item"], truth["relevance"], aggfunc="max")
        .reindex(index=users, columns=items)
        .fillna(0)
        > 0
    )
    for k in CUTOFFS:
        top = order.groupby("user").head(k)
        shown = pd.crosstab(top["user"], top["item"]).reindex(index=users, columns=items).fillna(0) > 0
        asked = {"average": "samples", "zero_division": 0}
        assert float(evaluation.precision(k=k, out_of="list")) == close(
            metrics.precision_score(relevant, shown, **asked)
        )
        assert float(evaluation.recall(k=k)) == close(metrics.recall_score(relevant, shown, **asked))
    for beta in (0.5, 1, 2):
        whole = pd.crosstab(recs["user"], recs["item"]).reindex(index=users, columns=items).fillna(0) > 0
        assert float(evaluation.fbeta(beta=beta)) == close(
            metrics.fbeta_score(relevant, whole, beta=beta, average="samples", zero_division=0)
        )


# ERR: the peers' needs Perl, so it is held against its meaning


def test_err_is_the_expected_reciprocal_rank() -> None:
    """Every way in which the items of a list can satisfy a reader or not, its chance, and where the reader then stops."""
    rng = np.random.default_rng(9)
    for _ in range(20):
        grades = rng.integers(0, 5, rng.integers(1, 9)).tolist()
        stop = [(2**grade - 1) / 2**4 for grade in grades]
        expected = 0.0
        for satisfied in itertools.product([False, True], repeat=len(grades)):
            chance = math.prod(one if yes else 1 - one for one, yes in zip(stop, satisfied, strict=True))
            expected += chance / (satisfied.index(True) + 1) if any(satisfied) else 0
        assert recnb.err(grades, max_relevance=4) == close(expected)
        assert err_reference(list(range(len(grades))), dict(enumerate(grades)), max_relevance=4) == close(expected)


def test_a_missing_peer_is_never_passed_over_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECNB_REQUIRE_ALL", "1")
    with pytest.raises(AssertionError, match="no_such_library is not installed"):
        peer("no_such_library")
    monkeypatch.delenv("RECNB_REQUIRE_ALL")
    with pytest.raises(pytest.skip.Exception, match="parity with it was not checked"):
        peer("no_such_library")
