"""What a comparison shows: marks, verdicts and conclusions in the right words,
pictures, both languages.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recnb
from recnb.display.document import inline
from recnb.report.conclusions import Difference, conclusion
from recnb.stats import Settings
from tests.comparison.frames import FIRST, SAMPLE, TRUTH, compared, lists

mpl.use("Agg")


@pytest.mark.parametrize(
    ("test", "p_of"), [("t", stats.ttest_rel), ("wilcoxon", stats.wilcoxon)]
)
def test_what_is_near_the_best_is_not_apart_from_it_by_the_corrected_test(test, p_of):
    """Beyond accuracy nothing is best, and marks beside it stay as they are."""
    # By the t test "other" is near the best of one column, by the other it is not.
    models = SAMPLE.models | {"other": SAMPLE.models["factors"].query("rank != 5")}
    found, p = recnb.compare(models, SAMPLE.test, train=SAMPLE.train, test=test), {}
    table = found.table(["ndcg", "recall"], k=[5, 10])
    verdicts, is_near = found.differences(["ndcg", "recall"], k=[5, 10]), {}
    for column in table:
        metric, k = column.split("@")
        values = {
            name: getattr(found[name], metric)(k=int(k)).per_user for name in found
        }
        best = table[column].idxmax()
        # Of a pair with the baseline it is what the difference says.
        pairs = {name for name in found if found.baseline in (best, name)} - {best}
        p |= {
            (column, name): p_of(values[best], values[name]).pvalue
            for name in found
            if name not in (best, *pairs)
        }
        tested = verdicts[(verdicts.metric == metric) & (verdicts.k == int(k))]
        for name in pairs:
            other = best if name == found.baseline else name
            (verdict,) = tested[tested.model == other].verdict
            is_near[column, name] = verdict not in ("better", "worse")
    is_near |= dict(
        zip(p, recnb.stats.holm(np.array([*p.values()])) > 0.05, strict=True)
    )
    assert set(is_near.values()) == {True, False}
    beside = found.table(["ndcg", "novelty", "recall"], k=[5, 10])
    for marks in (table.attrs, beside.attrs):
        for column in table:
            assert marks["best"][column] == [table[column].idxmax()]
            assert marks["near_best"][column] == [
                name for name in found if is_near.get((column, name))
            ]
    assert (
        beside.attrs["best"]["novelty@10"]
        == beside.attrs["near_best"]["novelty@10"]
        == []
    )
    assert (
        table._repr_html_().count("<b><u>") == len(table.columns) + 1
    )  # and in the legend
    table["mine"] = 1.5  # a column that was not compared
    assert "*1.5000*" not in repr(table)


USUAL = {
    "metric": "ndcg",
    "symbol": "nDCG",
    "k": 5,
    "model": "new",
    "baseline": "old",
    "difference": 0.01,
    "low": -0.01,
    "high": 0.03,
    "p": 0.2,
    "p_holm": 0.4,
    "effect_size": 0.1,
    "won": 5,
    "tied": 2,
    "lost": 3,
    "n_users": 10,
    "detectable": 0.05,
    "alpha": 0.05,
}


@pytest.mark.parametrize(
    ("values", "verdict", "words"),
    [
        (
            {"low": 0.005, "p_holm": 0.04},
            "better",
            "new is better than old, by 0.0100 (95% interval 0.0050 to 0.0300; p = 0.040",
        ),
        (
            {"difference": -0.01, "low": -0.02, "high": -0.005, "p_holm": 0.01},
            "worse",
            "worse than old, by 0.0100 (95% interval 0.0050 to 0.0200",
        ),
        (
            {"better": None, "low": 0.005, "p_holm": 0.04},
            "higher",
            (
                "is higher than old, by 0.0100 (95% interval 0.0050 to 0.0300; p = "
                "0.040, Holm's correction over 3 comparisons). High values are not "
                "good in themselves."
            ),
        ),
        (
            {
                "better": None,
                "difference": -0.01,
                "low": -0.02,
                "high": -0.005,
                "p_holm": 0.01,
            },
            "lower",
            "by 0.0100 (95% interval 0.0050 to 0.0200",
        ),
        (
            {"better": "low", "low": 0.005, "p_holm": 0.04},
            "worse",
            (
                "nDCG@5, of which less is better: new is worse than old, higher by "
                "0.0100 (95% interval 0.0050 to 0.0300"
            ),
        ),
        (
            {
                "better": "low",
                "difference": -0.01,
                "low": -0.02,
                "high": -0.005,
                "p_holm": 0.01,
            },
            "better",
            "new is better than old, lower by 0.0100 (95% interval 0.0050 to 0.0200",
        ),
        ({"low": 0.005, "p_holm": 0.06}, "hint", "inconclusive. new differs"),
        ({"p_holm": 0.01}, "torn", "inconclusive. The corrected test"),
        (
            {},
            "open",
            (
                "no significant difference between new and old: +0.0100 (95% interval "
                "-0.0100 to 0.0300; p = 0.40"
            ),
        ),
        (
            {"tied": 10, "won": 0, "lost": 0, "difference": 0.0},
            "same",
            "each of 10 users the same value",
        ),
        ({"p": np.nan}, "untested", "too few users or differences for a test"),
    ],
)
def test_what_may_be_said(values, verdict, words):
    one = Difference(**{**USUAL, **values})
    assert one.verdict == verdict
    assert words in inline(conclusion(one, Settings(), 3), "txt")


def test_users_who_are_too_few_or_alike_and_one_comparison():
    same = recnb.compare({"one": FIRST, "two": FIRST}, TRUTH)
    row = same.differences("ndcg", k=2).iloc[0]
    assert (row.verdict, np.isnan(row.p), row.tied) == ("same", True, 4)
    assert same.overlap(2).loc[0, ["jaccard", "n_identical"]].tolist() == [1, 4]
    alone = recnb.compare({"one": lists(a="xy"), "two": lists(a="yx")}, TRUTH.head(1))
    assert alone.differences("ndcg", k=2).verdict.tolist() == ["untested"]
    assert "too few users or differences for a test" in repr(alone.report(k=2))
    single = recnb.compare(
        {name: SAMPLE.models[name] for name in ("factors", "popular")}, SAMPLE.test
    )
    assert "Holm" not in str(single.differences("ndcg", k=10))
    assert (
        single.differences("ndcg", k=10).notes[0].startswith("Comparisons tested: 1 ")
    )


def test_conclusions_name_equal_scores_that_decide():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "qid": np.repeat(np.arange(60), 8),
            "label": np.tile([1, 1, 0, 0, 0, 0, 0, 0], 60),
        }
    )
    frame = frame.assign(pred=0.0, pred2=rng.normal(size=len(frame)))
    found = recnb.compare(frame, score=["pred", "pred2"]).differences("ndcg", k=5)
    (told,) = (note for note in found.notes if note.startswith("pred"))
    assert told.startswith("pred: Users for whom equal scores decide: 60 of 60")
    assert told in repr(found)
    assert "equal scores decide" in found._repr_html_()


def test_a_forest_names_its_rows_by_verdict_metric_and_models():
    axes = compared().differences("ndcg", k=[5, 10]).plot()
    assert [one.get_text() for one in axes.get_yticklabels()] == [
        f"▲ nDCG@{k} {model} − popular"
        for k in (5, 10)
        for model in ("item-knn", "factors")
    ]
    assert axes.get_xlabel() == "difference, first minus second"
    assert len(compared().curve("ndcg", k=range(1, 6)).plot().lines) == 3
