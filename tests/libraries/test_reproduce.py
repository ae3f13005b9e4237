"""`as_in` under the names that papers and other libraries print, and for one frame with both sides."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import FrameError, OptionError, RecnbError

SAMPLE = recnb.datasets.load_sample()
BOTH = (SAMPLE.models["item-knn"], SAMPLE.test)


@pytest.mark.parametrize(
    ("library", "asked", "k", "recorded", "at"),
    [
        ("rectools", "MAP", 10, "ap", 10),
        ("rectools", "map@10", None, "ap", 10),
        ("pytrec_eval", "ndcg_cut_10", None, "ndcg", 10),
        ("pytrec_eval", "map", None, "ap_nocut", None),
        ("ir_measures", "nDCG@10", None, "ndcg", 10),
        ("ranx", "recall@5", 5, "recall", 5),
        ("ir_measures", "rbp", 3, "rbp_rel1", 3),
    ],
)
def test_a_measure_is_the_first_variant_of_a_library(
    library: str, asked: str, k: int | None, recorded: str, at: int | None
) -> None:
    assert recnb.as_in(library, asked, *BOTH, k=k) == recnb.as_in(library, recorded, *BOTH, k=at)


@pytest.mark.parametrize(
    ("library", "asked", "problem"),
    [
        ("replay", "map", "one of 'ap[pandas]', 'ap[polars]', 'ap[dict]': type which"),
        ("evidently", "ndcg@5", "one of 'ndcg[list]', 'ndcg[full]'"),
        ("pytrec_eval", "RR@10", "does not cut lists at k"),
        ("pytrec_eval", "R-precision@10", "does not cut lists at k"),
        ("pytrec_eval", "AP(rel=2)", "no metric of pytrec_eval-terrier"),
        ("rectools", "infAP", "no metric of rectools"),
        ("rectools", "nonsense", "no metric of rectools"),
    ],
)
def test_a_measure_that_is_not_one_number_of_the_library_is_refused(library: str, asked: str, problem: str) -> None:
    with pytest.raises(OptionError, match=re.escape(problem)):
        recnb.as_in(library, asked, *BOTH)


@pytest.mark.parametrize(
    ("library", "metric"), [("pytrec_eval", "rprec"), ("ranx", "ndcg_nocut"), ("cornac", "ap[list]")]
)
def test_a_cut_off_of_a_metric_that_is_not_cut_is_refused(library: str, metric: str) -> None:
    with pytest.raises(OptionError, match=r"does not cut lists at k\. Ask for it without k"):
        recnb.as_in(library, metric, *BOTH, k=3)
    assert recnb.as_in(library, metric, *BOTH) > 0


def test_an_option_that_is_cut_at_k_changes_with_k() -> None:
    one, three = (recnb.as_in("ir_measures", "rbp_rel1", *BOTH, k=k) for k in (1, 3))
    assert one < three <= recnb.as_in("ir_measures", "rbp_rel1", *BOTH)


@pytest.mark.parametrize(
    ("library", "metric", "variant"), [("scikit-learn", "ndcg", "ndcg[list]"), ("lenskit", "map", "ap")]
)
def test_frames_that_a_library_refuses_have_a_number_by_its_conventions_and_none_of_its_own(
    library: str, metric: str, variant: str
) -> None:
    sample = recnb.datasets.load_sample()
    recs = sample.models["popular"]
    with pytest.raises(FrameError, match=rf"{library} \S+ raises an error"):
        recnb.as_in(library, variant, recs, sample.test, k=10)
    for ev in (recnb.evaluate(recs, sample.test, convention=library), recnb.evaluate(recs, sample.test).under(library)):
        assert getattr(ev, metric)(k=10).basis.startswith(f"by the conventions of {library}: ")


def test_two_cut_offs_are_refused() -> None:
    with pytest.raises(OptionError, match="leave one of them out"):
        recnb.as_in("ranx", "nDCG@5", *BOTH, k=10)


@pytest.mark.parametrize(("library", "metric"), [("lightgbm", "ndcg"), ("xgboost", "ndcg_linear"), ("catboost", "dcg")])
def test_one_frame_with_both_sides_is_enough(library: str, metric: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"qid": np.repeat(range(20), 10), "label": rng.integers(0, 4, 200), "pred": rng.permutation(200) / 7}
    )
    recs = frame.assign(user=frame.qid, item=range(200), score=frame.pred)[["user", "item", "score"]]
    truth = recs[["user", "item"]].assign(relevance=frame.label)
    assert recnb.as_in(library, metric, frame, k=5) == pytest.approx(
        recnb.as_in(library, metric, recs, truth, k=5), abs=1e-12
    )


@pytest.mark.parametrize(
    ("library", "metric", "top", "refused"),
    [
        ("lightgbm", "ndcg", 30, 31),
        ("lightgbm", "ap", 30, 31),
        ("xgboost", "ndcg", 31, 32),
        ("xgboost", "ndcg_minus", 31, 32),
    ],
)
def test_grades_beyond_a_librarys_table_of_gains_are_refused(library: str, metric: str, top: int, refused: int) -> None:
    """LightGBM's default label_gain has 31 entries; XGBoost's exponential gain is of at most 31."""
    lists = {1: {"a": 2.0, "b": 1.0}}
    assert recnb.as_in(library, metric, lists, {1: {"a": top, "b": 1}}, k=2) > 0
    with pytest.raises(RecnbError, match=f"{metric} raises an error on relevance above {top}"):
        recnb.as_in(library, metric, lists, {1: {"a": refused, "b": 1}}, k=2)


@pytest.mark.parametrize("library", ["lightgbm", "rectools"])
def test_an_option_of_a_text_that_a_library_has_otherwise_is_refused(library: str) -> None:
    assert recnb.as_in(library, "nDCG@10", *BOTH) == pytest.approx(float(recnb.as_in(library, "ndcg", *BOTH, k=10)))
    for text in ("nDCG(dcg='log2')@10", "nDCG(gain='linear')@10"):
        with pytest.raises(OptionError, match=f"is no metric of {library} that recnb has recorded"):
            recnb.as_in(library, text, *BOTH)
    assert recnb.as_in("trec", "nDCG(dcg='log2')@10", *BOTH) == recnb.as_in("trec", "nDCG@10", *BOTH)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_metrics_beyond_accuracy_take_train_and_items_as_evaluate_does(frame: Any) -> None:
    recs, truth = frame({"user": [1, 1, 2, 2], "item": list("abac"), "rank": [1, 2, 1, 2]}), {1: ["a"]}
    items = frame({"item": list("abcd"), "x": [1.0, 0.0, 1.0, 0.0], "y": [0.0, 2.0, 1.0, 0.0]})
    assert recnb.as_in("recpack", "ild", recs, truth, items=items, features=["x", "y"]) == pytest.approx((1 + 0.5) / 2)
    assert recnb.as_in("recbole", "coverage", recs, truth, k=2, items=items) == 3 / 5
    assert recnb.as_in("recbole", "coverage", recs, k=2, items=items) == 3 / 5
    train = frame({"user": [1, 2, 3], "item": list("abz")})
    assert recnb.as_in("replay-rec", "coverage[train]", recs, truth, k=1, train=train) == 1 / 3
    with pytest.raises(RecnbError, match="needs what items are like"):
        recnb.as_in("recpack", "ild", recs, truth)
