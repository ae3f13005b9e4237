"""Comparisons against hand-worked numbers, scipy on the values of users, and laws."""

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import recnb
from recnb.errors import ColumnError, FrameError, NoUsersError, OptionError
from tests.comparison.frames import FIRST, SECOND, TRUTH, lists


def ten_times(frame):
    """Each user ten times, under another name."""
    return pd.concat([frame.assign(user=frame["user"] + str(at)) for at in range(10)], ignore_index=True)


def test_by_hand():
    found = recnb.compare({"new": FIRST, "old": SECOND}, TRUTH, baseline="old")
    assert found.n_users == 4
    assert found.table("mrr", k=2)["reciprocal_rank@2"].to_dict() == {"new": 0.625, "old": 0.375}
    row = found.differences("mrr", k=2).iloc[0]
    assert (row.model, row.baseline, row.difference) == ("new", "old", 0.25)
    assert (row.won, row.tied, row.lost, row.n_users) == (2, 2, 0, 4)
    assert row.effect_size == pytest.approx(0.25 / np.sqrt(1 / 12))
    assert row.verdict == "untested"
    # Two of ten times as many users gain 1/2: t is the mean 1/4 over its error, sqrt(1/16 / 39).
    models = {"new": ten_times(FIRST), "old": ten_times(SECOND)}
    row = recnb.compare(models, ten_times(TRUTH), baseline="old").differences("mrr", k=2).iloc[0]
    t = 0.25 / np.sqrt(1 / 16 / 39)
    assert (row.difference, row.won, row.tied, row.lost) == (0.25, 20, 20, 0)
    assert row.p == pytest.approx(max(2 * stats.t.sf(t, 39), 2.0**-19))
    assert (row.low, row.high) == pytest.approx((0.25 - 2.022691 * 0.25 / t, 0.25 + 2.022691 * 0.25 / t), abs=1e-6)
    assert row.verdict == "better"


def test_tests_are_those_of_scipy_on_the_values_of_users(sample, compared):
    frame = compared.differences(["ndcg", "recall"], k=[5, 10])
    evaluations = {name: one.rec.against(sample.test) for name, one in sample.models.items()}
    for row in frame.itertuples():
        new, old = (getattr(evaluations[name], row.metric)(k=row.k).per_user for name in (row.model, row.baseline))
        assert row.difference == pytest.approx((new - old).mean(), abs=1e-12)
        assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue, abs=1e-12)
        apart = (new - old).round(12)
        assert (row.won, row.tied, row.lost) == ((apart > 0).sum(), (apart == 0).sum(), (apart < 0).sum())
    assert (frame.p_holm >= frame.p).all()


def test_corrections_are_over_all_that_is_shown(compared):
    alone = compared.differences("hit_rate", k=10)
    among = compared.differences(k=[5, 10, 20])
    here = among[(among.metric == "hit_rate") & (among.k == 10)]
    assert here.p.tolist() == alone.p.tolist()
    assert (here.p_holm.to_numpy() > alone.p_holm.to_numpy()).any()
    assert compared.differences(k=[5, 10, 20]).notes[0].startswith("42 comparisons")


def test_swapping_model_and_baseline_mirrors_everything(sample):
    sides = {name: sample.models[name] for name in ("factors", "popular")}
    here, there = (
        recnb.compare(sides, sample.test, baseline=one).differences(k=[5, 10]) for one in ("popular", "factors")
    )
    assert here.difference.to_numpy() == pytest.approx(-there.difference.to_numpy(), abs=1e-15)
    assert here.low.to_numpy() == pytest.approx(-there.high.to_numpy(), abs=1e-12)
    assert here.high.to_numpy() == pytest.approx(-there.low.to_numpy(), abs=1e-12)
    assert here.won.tolist() == there.lost.tolist()
    assert here.effect_size.to_numpy() == pytest.approx(-there.effect_size.to_numpy())
    assert here.p.to_numpy() == pytest.approx(there.p.to_numpy(), abs=1e-12)


def made(n, skill, seed):
    """Lists of two for n users, of whom a share has the relevant item first."""
    rng = np.random.default_rng(seed)
    hit = rng.random(n) < skill
    items = np.where(hit[:, np.newaxis], [0, 1], [2, 3])
    return pl.DataFrame({"user": np.repeat(np.arange(n), 2), "item": items.ravel(), "rank": np.tile([1, 2], n)})


def test_a_planted_difference_is_found_and_one_that_is_not_there_is_not():
    n = 1000
    truth = pl.DataFrame({"user": np.arange(n), "item": np.zeros(n, dtype=int)})
    models = {"base": made(n, 0.5, 1), "better": made(n, 0.7, 2), "alike": made(n, 0.5, 3), "worse": made(n, 0.3, 4)}
    found = recnb.compare(models, truth)
    verdicts = found.differences("hit_rate", k=1).set_index("model").verdict.to_dict()
    assert verdicts == {"better": "better", "alike": "open", "worse": "worse"}
    better, alike, worse = found.differences("hit_rate", k=1).conclusions
    assert "better is better than base" in better
    assert "no significant difference between alike and base" in alike
    assert "80% power" in alike
    assert "worse is worse than base" in worse
    assert not any("equal" in line for line in (better, alike, worse))


def test_models_that_give_the_same_are_said_to_give_the_same_value():
    found = recnb.compare({"one": FIRST, "two": FIRST}, TRUTH)
    row = found.differences("ndcg", k=2).iloc[0]
    assert (row.verdict, np.isnan(row.p), row.tied) == ("same", True, 4)
    assert "each of 4 users the same value" in found.differences("ndcg", k=2).conclusions[0]
    assert found.overlap(2).loc[0, ["jaccard", "n_identical"]].tolist() == [1, 4]


def test_two_models_are_both_and_three_are_all(sample, compared):
    both = recnb.compare({"one": FIRST, "two": SECOND}, TRUTH)
    assert "4 users that both models are judged on" in both.basis()
    assert "261 users that all 3 models are judged on" in compared.basis()
    first, second = lists(a="xy", b="yx"), lists(b="xy", c="xp")
    part = recnb.compare({"one": first, "two": second}, TRUTH, averaged_users="recs").models["one"]
    assert "1 user that both models are judged on" in part.basis()


def test_segments_are_corrected_over_the_tests_made(sample):
    few = sample.users.assign(few=sample.users["user"].map(lambda user: "few" if user < "u006" else "many"))
    found = recnb.compare(sample.models, sample.test, baseline="popular", users=few)
    rows = found.differences("ndcg", k=10, by="few")
    assert len(rows) == 4
    assert (rows["p_holm"].notna().sum(), rows.attrs["n_compared"]) == (2, 2)
    report = found.report(k=10, metrics=["ndcg"], by="few")
    assert "Holm&#39;s method over the 2 tests here" in report.to_html()
    assert "over the 2 tests" in report.to_latex()


def test_one_user_is_no_sample():
    found = recnb.compare({"one": lists(a="xy"), "two": lists(a="yx")}, TRUTH.head(1))
    assert found.differences("ndcg", k=2).verdict.tolist() == ["untested"]
    assert "too few users or differences for a test" in found.differences("ndcg", k=2).conclusions[0]
    assert "too few users or differences for a test" in repr(found.report(k=2))


def test_users_without_a_list_count_0_and_are_said():
    found = recnb.compare({"all": FIRST, "few": lists(a="xy")}, TRUTH)
    assert found.n_users == 4
    assert found.table("mrr", k=2).loc["few"].item() == 0.25
    assert "3 without a list from few, which counts 0" in found.basis()


def test_only_users_that_all_models_are_judged_on():
    first, second = lists(a="xy", b="yx", c="pq"), lists(b="xy", c="xp", d="xq")
    found = recnb.compare({"one": first, "two": second}, TRUTH, averaged_users="recs")
    assert found.users.tolist() == ["b", "c"]
    assert found.table("mrr", k=2)["reciprocal_rank@2"].to_dict() == {"one": 0.25, "two": 1.0}
    assert "2 users that both models are judged on; 1 user of one left out" in found.basis()
    for one in found.models.values():
        assert one.users.tolist() == ["b", "c"]
        assert one.counts.n_users == 2
    # What is known of a user stays as it was.
    assert found.models["two"].explain("mrr", "c", k=2).value == 1.0
    assert found.models["two"].under("ranx").n_users == 2
    assert found.users_by_model[0].n_left_out == 1


@pytest.mark.parametrize(
    "options", [{"ties": "expected"}, {"candidates": "padded"}, {"averaged_users": "union", "no_relevant": "zero"}]
)
def test_restricted_users_keep_the_values_they_have(sample, options):
    models = dict(sample.models)
    models["popular"] = models["popular"].query("user > 'u100'")
    options = {"order": "score", "averaged_users": "recs", **options}
    found = recnb.compare(models, sample.test, **options)
    for name, frame in models.items():
        whole = frame.rec.against(sample.test, **options)
        for value in (lambda ev: ev.ndcg(k=10).per_user, lambda ev: ev.mrr(k=10, target="preferred").per_user):
            mine = value(found.models[name])
            pd.testing.assert_series_equal(mine, value(whole).loc[mine.index])


def test_a_restricted_evaluation_explains_as_the_whole_one_does(sample):
    models = dict(sample.models)
    models["popular"] = models["popular"].query("user > 'u100'")
    found = recnb.compare(models, sample.test, averaged_users="recs").models["factors"]
    whole = models["factors"].rec.against(sample.test, averaged_users="recs")
    for user in found.users[[0, 50, -1]]:
        mine, theirs = found.explain("ndcg", user, k=10), whole.explain("ndcg", user, k=10)
        assert (mine.value, mine.missed, mine.terms) == (theirs.value, theirs.missed, theirs.terms)
        pd.testing.assert_frame_equal(mine.to_frame(), theirs.to_frame())


def test_a_convention_of_a_library_may_have_its_own_users_for_each_metric(sample):
    found = recnb.compare(sample.models, sample.test, convention="recommenders")
    frame = found.differences(["ndcg", "precision"], k=10)
    values = [
        recnb.evaluate(sample.models[name], sample.test, convention="recommenders").precision(k=10).per_user
        for name in ("factors", "item-knn")
    ]
    row = frame[(frame.metric == "precision") & (frame.model == "factors")].iloc[0]
    assert row.difference == pytest.approx((values[0] - values[1]).mean(), abs=1e-12)
    assert "recommenders" in found.basis()


def test_every_two_models():
    models = {"a": FIRST, "b": SECOND, "c": lists(a="px", b="xp")}
    found = recnb.compare(models, TRUTH, pairs="all")
    frame = found.differences("mrr", k=2)
    assert list(zip(frame.model, frame.baseline, strict=True)) == [("b", "a"), ("c", "a"), ("c", "b")]
    assert (found.baseline, recnb.compare(models, TRUTH).baseline) == (None, "a")
    first = recnb.compare(models, TRUTH, pairs="all", baseline="c").differences("mrr", k=2)
    assert list(zip(first.model, first.baseline, strict=True)) == [("a", "c"), ("b", "c"), ("b", "a")]


@pytest.mark.parametrize(
    "kind",
    [lambda f: f, pl.from_pandas, lambda f: pl.from_pandas(f).lazy(), lambda f: pl.from_pandas(f).to_arrow()],
    ids=["pandas", "polars", "lazy", "arrow"],
)
def test_one_frame_with_a_column_of_models(kind):
    frame = pd.concat([FIRST.assign(model="new"), SECOND.assign(model="old")], ignore_index=True)
    found = recnb.compare(kind(frame), kind(TRUTH))
    assert found.names == ["new", "old"]
    assert found.table("mrr", k=2)["reciprocal_rank@2"].to_dict() == {"new": 0.625, "old": 0.375}
    named = recnb.compare(kind(frame.rename(columns={"model": "which"})), kind(TRUTH), model="which")
    assert named.names == ["new", "old"]
    assert frame.columns.tolist() == ["user", "item", "rank", "model"]


def test_other_forms_of_models():
    frame = pd.concat([FIRST.assign(model="new"), SECOND.assign(model="old")])
    assert frame.rec.compare(TRUTH, baseline="old").names == ["new", "old"]
    assert pl.from_pandas(frame).rec.compare(TRUTH).n_users == 4
    rows = [(m, u, i, s, r) for m, order in (("new", (3, 2, 1)), ("old", (1, 2, 3))) for u in "ab"
            for i, s, r in zip("xyz", order, (1, 0, 0), strict=True)]  # fmt: skip
    both = pd.DataFrame(rows, columns=["model", "user", "item", "score", "relevance"])
    assert recnb.compare(both).table("mrr", k=3)["reciprocal_rank@3"].round(4).to_dict() == {"new": 1.0, "old": 0.3333}
    mixed = recnb.compare({"new": EVALUATED, "old": SECOND}, TRUTH)
    for found in (recnb.compare({"new": EVALUATED, "old": SECOND.rec.against(TRUTH)}), mixed):
        assert found.table("mrr", k=2).iloc[:, 0].tolist() == [0.625, 0.375]
    # Rows of the truth may stand in another order, and one list may have scores where another has ranks.
    scored = SECOND.assign(score=-SECOND["rank"]).drop(columns="rank").rec.against(TRUTH.iloc[::-1])
    found = recnb.compare({"a": EVALUATED, "b": scored})
    assert found.table("mrr", k=2).iloc[1, 0] == 0.375
    assert "ordered by score, or by rank" in found.basis()


EVALUATED = FIRST.rec.against(TRUTH)
SEVERAL = pd.concat([FIRST.assign(model="new"), SECOND.assign(model="old")])
PREDICTED = pd.DataFrame({"qid": [1, 1], "label": [0, 1], "a": [0.1, 0.2], "b": [0.2, 0.1]})


def two(**options):
    return recnb.compare({"a": FIRST, "b": SECOND}, TRUTH, **options)


def beside(other, *truth, **options):
    return recnb.compare({"a": EVALUATED, "b": other}, *truth, **options)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: recnb.compare({"a": FIRST}, TRUTH), OptionError, "needs two models"),
        (lambda: recnb.compare({}, TRUTH), OptionError, "none is given"),
        (lambda: recnb.compare(EVALUATED), OptionError, "one Evaluation, and a comparison needs two"),
        (lambda: recnb.compare({"a": FIRST, " ": SECOND}, TRUTH), OptionError, "name each by a text of its own"),
        (lambda: recnb.compare({1: FIRST, "1": SECOND}, TRUTH), OptionError, "name each by a text of its own"),
        (lambda: two(baseline="c"), OptionError, "none of the models"),
        (lambda: two(baselin="a"), OptionError, r"'baselin' is no option of a comparison\. Did you mean 'baseline'"),
        (lambda: two(relevant_fom=4), OptionError, "Did you mean 'relevant_from'"),
        (lambda: two(pairs="each"), OptionError, "'all'"),
        (lambda: two(test="z"), OptionError, "'wilcoxon'"),
        (lambda: two(method="bcaa"), OptionError, "say method='t' or 'bootstrap'"),
        (lambda: two(confidence=95), OptionError, "0.95"),
        (lambda: two(alpha=0.01), OptionError, "confidence"),
        (lambda: two(tie="first"), OptionError, "'ties'"),
        (lambda: two(model="m"), OptionError, "has their names"),
        (lambda: recnb.compare(FIRST, TRUTH), ColumnError, "no column is known to be the model"),
        (lambda: recnb.compare(FIRST.assign(model="a"), TRUTH), OptionError, "only 'a' is given"),
        (lambda: recnb.compare(FIRST.assign(model=["a", None] * 4), TRUTH), FrameError, "without a model"),
        (lambda: recnb.compare(FIRST.assign(model="one"), TRUTH, model=3), FrameError, "there is no column 3"),
        (lambda: recnb.compare({"a": FIRST, "b": SECOND.drop(columns="item")}, TRUTH), ColumnError, "model 'b': "),
        (lambda: recnb.compare({"a": FIRST, "b": SECOND}, pl.from_pandas(TRUTH).lazy().select("no")), FrameError, "truth cannot be read"),
        (lambda: recnb.compare({"a": lists(a="xy"), "b": lists(b="xy")}, TRUTH, averaged_users="recs"), NoUsersError, "judged in every model"),
        (lambda: SEVERAL.rec.against(TRUTH), FrameError, r"recnb\.compare\(recs, truth\)"),
        (lambda: beside(SECOND.rec.against(TRUTH, averaged_users="recs")), OptionError, "averaged_users='truth' and averaged_users='recs'"),
        (lambda: beside(recnb.evaluate(SECOND, TRUTH, convention="ranx")), OptionError, "convention='recnb' and convention='ranx'"),
        (lambda: beside(SECOND.rec.against(TRUTH.head(3))), FrameError, r"relevant items \(4 and 3\): only 'a' has user 'd', item 'x'"),
        (lambda: beside(EVALUATED, TRUTH), OptionError, "leave out the truth"),
        (lambda: beside(EVALUATED, averaged_users="recs"), OptionError, "leave out averaged_users="),
        (lambda: recnb.compare(PREDICTED), ColumnError, re.escape("score=['pred_a', 'pred_b']")),
        (lambda: recnb.compare(PREDICTED, score=["a"]), OptionError, "two models at least"),
        (lambda: recnb.compare(PREDICTED, score=["a", "a"]), OptionError, "two models at least"),
        (lambda: recnb.compare({"a": PREDICTED, "b": PREDICTED}, score=["a", "b"]), OptionError, "several columns of predictions"),
        (lambda: recnb.compare(PREDICTED, score=["a", "c"]), ColumnError, "no column 'c'"),
        (lambda: recnb.evaluate(PREDICTED, score=["a", "b"]), OptionError, "a column is named as text"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
@pytest.mark.parametrize("with_items", [True, False])
def test_columns_of_predictions(convert: Any, with_items: bool) -> None:
    """Each column is a model, as if it was the one score of the frame."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"qid": np.repeat(np.arange(20), 5), "label": rng.integers(0, 3, 100), "f1": rng.random(100)})
    frame = frame.assign(y_pred=rng.random(100), xgb_pred=frame["label"] + rng.random(100))
    if with_items:
        frame["item"] = np.tile(np.arange(5), 20)
    found = recnb.compare(convert(frame), score=["y_pred", "xgb_pred"])
    assert list(found) == ["y_pred", "xgb_pred"]
    for name in found:
        others = [column for column in ("y_pred", "xgb_pred") if column != name]
        assert found[name].ndcg(k=3) == recnb.evaluate(frame.drop(columns=others), score=name).ndcg(k=3)
    assert found["xgb_pred"].ndcg(k=3) > found["y_pred"].ndcg(k=3)


def test_conclusions_name_equal_scores_that_decide():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"qid": np.repeat(np.arange(60), 8), "label": np.tile([1, 1, 0, 0, 0, 0, 0, 0], 60)})
    frame = frame.assign(pred=0.0, pred2=rng.normal(size=len(frame)))
    found = recnb.compare(frame, score=["pred", "pred2"]).differences("ndcg", k=5)
    told = [note for note in found.notes if note.startswith("pred: Users for whom equal scores decide: 60 of 60")]
    assert len(told) == 1
    assert told[0] in repr(found)
    assert "equal scores decide" in found._repr_html_()
    assert not any(note.startswith("pred2: ") for note in found.notes)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "1 with no relevant item left out"),
        ({"no_relevant": "one"}, "1 with no relevant item counting 1 where evaluated"),
        ({"no_relevant": "zero"}, "1 with no relevant item counting 0 where evaluated"),
        ({"convention": "lightgbm"}, "1 with no relevant item counting 1 where evaluated"),
        ({"convention": "lightgbm", "no_relevant": "zero"}, "1 with no relevant item counting 0 where evaluated"),
        ({"convention": "catboost"}, ""),  # its metrics differ in this
    ],
)
def test_what_users_with_no_relevant_item_count_is_said(given, words):
    lists = {"u": {"x": 1.0, "z": 0.5}, "v": {"y": 1.0}}
    found = recnb.compare(
        {"a": lists, "b": lists}, {"u": {"x": 1, "z": 0}, "v": {"y": 0}}, averaged_users="both", **given
    )
    for basis in (found.basis(), found.table("ndcg", k=1).attrs["basis"]):
        assert words in basis
        assert bool(words) == ("with no relevant item" in basis)


def test_a_table_by_segment_names_the_users_behind_metrics_beyond_accuracy(sample):
    found = recnb.compare(sample.recommendations, sample.test, train=sample.train)
    whole, parts = found.table("novelty", k=10), found.table("novelty", k=10, by="activity")
    assert "beyond accuracy over all users who have a value in every model" in whole.attrs["basis"]
    assert "beyond accuracy over the users evaluated who have a value in every model" in parts.attrs["basis"]
    # The sizes of the segments are those of the users evaluated with a list.
    model = found.models["item-knn"]
    values = model.novelty(k=10).per_user
    assert whole.loc["item-knn", "novelty@10"] == pytest.approx(values.mean())
    n_in_train = sample.train.groupby("user").size()
    first = values.index[n_in_train.reindex(values.index).between(0, 9) & values.index.isin(model.users)]
    assert parts.loc[("0 to 9", "item-knn"), "novelty@10"] == pytest.approx(values[first].mean())
