"""Comparisons against hand-worked numbers, scipy on the values of users, and laws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import recnb
from recnb.errors import OptionError, RecnbError, UnknownModelError, UnknownNameError
from recnb.metrics.metric import LIST_METRICS
from tests.comparison.frames import FIRST, SAMPLE, SECOND, SIDES, TRUTH, compared, lists

EVALUATED = {name: one.rec.against(SAMPLE.test, **SIDES) for name, one in SAMPLE.models.items()}
BEYOND = ("novelty", "popularity", "tail_share", "diversity", "serendipity", "calibration")


def ten_times(frame):
    """Each user ten times, under another name."""
    return pd.concat([frame.assign(user=frame["user"] + str(at)) for at in range(10)], ignore_index=True)


def test_by_hand():
    found = recnb.compare({"new": FIRST, "old": SECOND}, TRUTH, baseline="old")
    assert found.table("mrr", k=2)["reciprocal_rank@2"].to_dict() == {"new": 0.625, "old": 0.375}
    row = found.differences("mrr", k=2).iloc[0]
    assert (row.model, row.baseline, row.difference) == ("new", "old", 0.25)
    assert (row.won, row.tied, row.lost, row.n_users, row.verdict) == (2, 2, 0, 4, "untested")
    assert row.effect_size == pytest.approx(0.25 / np.sqrt(1 / 12))
    # Two of ten times as many users gain 1/2: t is the mean 1/4 over its error, sqrt(1/16 / 39).
    models = {"new": ten_times(FIRST), "old": ten_times(SECOND)}
    row = recnb.compare(models, ten_times(TRUTH), baseline="old").differences("mrr", k=2).iloc[0]
    t = 0.25 / np.sqrt(1 / 16 / 39)
    assert (row.difference, row.won, row.tied, row.lost, row.verdict) == (0.25, 20, 20, 0, "better")
    assert row.p == pytest.approx(max(2 * stats.t.sf(t, 39), 2.0**-19))
    assert (row.low, row.high) == pytest.approx((0.25 - 2.022691 * 0.25 / t, 0.25 + 2.022691 * 0.25 / t), abs=1e-6)


def test_differences_are_those_of_the_values_of_users_and_tests_those_of_scipy():
    """Beyond accuracy over the users who have a value in every model; there more is not called better."""
    frame = compared().differences(["ndcg", "recall", *BEYOND], k=[5, 10])
    assert len(frame) == 8 * 2 * 2
    for row in frame.itertuples():
        values = {name: getattr(one, row.metric)(k=row.k).per_user for name, one in EVALUATED.items()}
        together = pd.concat(values, axis=1, join="inner")
        new, old = together[row.model], together[row.baseline]
        assert row.difference == pytest.approx((new - old).mean(), abs=1e-12)
        apart = (new - old).round(12)
        assert (row.won, row.tied, row.lost) == ((apart > 0).sum(), (apart == 0).sum(), (apart < 0).sum())
        assert row.n_users == len(together)
        if row.tied < row.n_users:
            assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue, abs=1e-12)
        assert (row.verdict in ("better", "worse")) <= (row.metric not in LIST_METRICS)
    assert (frame.p_holm.dropna() >= frame.p.dropna()).all()


def test_corrections_are_over_all_that_is_shown():
    alone, among = compared().differences("hit_rate", k=10), compared().differences(k=[5, 10, 20])
    here = among[(among.metric == "hit_rate") & (among.k == 10)]
    assert here.p.tolist() == alone.p.tolist()
    assert (here.p_holm.to_numpy() > alone.p_holm.to_numpy()).any()
    assert among.notes[0].startswith("42 comparisons")


def test_every_two_models():
    models = {"a": FIRST, "b": SECOND, "c": lists(a="px", b="xp")}
    for baseline, pairs in (
        (None, [("b", "a"), ("c", "a"), ("c", "b")]),
        ("c", [("a", "c"), ("b", "c"), ("b", "a")]),
    ):
        frame = recnb.compare(models, TRUTH, pairs="all", baseline=baseline).differences("mrr", k=2)
        assert list(zip(frame.model, frame.baseline, strict=True)) == pairs
    assert recnb.compare(models, TRUTH).baseline == "a"


def made(n, skill, seed):
    """Lists of two for n users, of whom a share has the relevant item first."""
    hit = np.random.default_rng(seed).random(n) < skill
    items = np.where(hit[:, np.newaxis], [0, 1], [2, 3])
    return pl.DataFrame({"user": np.repeat(np.arange(n), 2), "item": items.ravel(), "rank": np.tile([1, 2], n)})


def test_a_planted_difference_is_found_and_one_that_is_not_there_is_not():
    n = 1000
    truth = pl.DataFrame({"user": np.arange(n), "item": np.zeros(n, dtype=int)})
    models = {"base": made(n, 0.5, 1), "better": made(n, 0.7, 2), "alike": made(n, 0.5, 3), "worse": made(n, 0.3, 4)}
    found = recnb.compare(models, truth).differences("hit_rate", k=1)
    assert found.set_index("model").verdict.to_dict() == {"better": "better", "alike": "open", "worse": "worse"}
    better, alike, worse = found.conclusions
    assert "better is better than base" in better
    assert "no significant difference between alike and base" in alike
    assert "80% power" in alike
    assert "worse is worse than base" in worse


# Segments


def test_a_table_and_differences_by_segment_are_those_of_the_users_in_it():
    found = recnb.compare(SAMPLE.models, SAMPLE.test, users=SAMPLE.users)
    frame, table = (ask("ndcg", k=10, by="segment") for ask in (found.differences, found.table))
    of = SAMPLE.users.set_index("user")["segment"]
    values = {name: one.ndcg(k=10).per_user for name, one in found.items()}
    assert frame.n_users.sum() == 2 * found.n_users
    for row in frame.itertuples():
        mine = [user for user in found.users if of[user] == row.segment]
        new, old = values[row.model].loc[mine], values[row.baseline].loc[mine]
        assert row.difference == pytest.approx((new - old).mean())
        assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue)
        assert table.loc[(row.segment, row.model), "ndcg@10"] == pytest.approx(new.mean(), abs=1e-12)
    assert frame.p_holm.min() == pytest.approx(min(frame.p.min() * len(frame), 1))


def test_segments_are_corrected_over_the_tests_made():
    few = SAMPLE.users.assign(few=np.where(SAMPLE.users["user"] < "u006", "few", "many"))
    found = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", users=few)
    rows = found.differences("ndcg", k=10, by="few")
    assert (len(rows), rows["p_holm"].notna().sum(), rows.notes[0][:13]) == (4, 2, "2 comparisons")
    assert "over the 2 tests" in found.report(k=10, metrics=["ndcg"], by="few").to_latex()


def test_users_of_whom_nothing_is_known_are_a_segment_of_their_own():
    found = recnb.compare({"one": FIRST, "two": SECOND}, TRUTH)
    frame = found.differences("mrr", k=2, by={"a": "early", "b": "late", "c": "early"})
    assert dict(zip(frame.segment, frame.n_users, strict=True)) == {"early": 2, "late": 1, "not known": 1}
    assert frame.difference.tolist() == [-0.25, 0.0, -0.5]
    with pytest.raises(OptionError, match="nothing of the users"):
        found.differences("mrr", k=2, by={"x": "early"})


def test_beyond_accuracy_a_table_by_segment_is_of_the_users_evaluated():
    whole, parts = compared().table(["ndcg", "novelty"], k=10), compared().table("novelty", k=10, by="activity")
    assert "metrics beyond accuracy over the users who have a value in every model" in whole.attrs["basis"]
    values = EVALUATED["item-knn"].novelty(k=10).per_user
    assert whole.loc["item-knn", "novelty@10"] == pytest.approx(values.mean())
    n_in_train = SAMPLE.train.groupby("user").size().reindex(values.index)
    first = values.index[n_in_train.between(0, 9) & values.index.isin(compared().users)]
    assert parts.loc[("0 to 9", "item-knn"), "novelty@10"] == pytest.approx(values[first].mean())


# Lists and users


def test_movers_are_those_whose_value_changed_most():
    found = recnb.compare({"old": SECOND, "new": lists(a="xy", b="qp", c="px", d="xq")}, TRUTH)
    movers = found.movers("mrr", k=2, n=2)
    assert list(movers) == ["user", "before", "after", "change", "n_relevant", "old", "new"]
    assert movers.user.tolist() == ["a", "c", "b"]
    assert movers.change.tolist() == [0.5, 0.5, -0.5] == (movers.after - movers.before).tolist()
    assert movers.old.tolist() == [["y", "x"], ["p", "q"], ["y", "x"]]
    gained, lost = movers.groups
    assert gained.counts == lost.counts == (3, 0, 1)
    assert ([item.relevance for item in gained.users[0].lists[1]], gained.users[0].n_relevant) == ([1.0, 0.0], 1)
    back = found.movers("mrr", k=2, model="old", baseline="new")
    assert back.change.tolist() == [0.5, -0.5, -0.5, -0.5]
    for wrong in ({"n": -1}, {"model": "other"}, {"model": "old"}, {"metric": "novelty"}):
        with pytest.raises(OptionError):
            found.movers(**{"metric": "mrr", "k": 2, **wrong})


def test_overlap_sees_order_gaps_and_repeats():
    gaps = FIRST.assign(rank=FIRST["rank"] * 2)
    frame = recnb.compare({"one": FIRST, "gaps": gaps, "turned": SECOND}, TRUTH).overlap().set_index(["model", "other"])
    assert frame.loc[("one", "gaps")].tolist()[1:] == [1.0, 4, 4]
    assert frame.loc[("one", "turned")].tolist()[1:] == [1.0, 4, 2]
    fewer = recnb.compare({"one": FIRST, "none": FIRST[FIRST["user"] == "b"]}, TRUTH).overlap(1).iloc[0]
    assert (fewer.jaccard, fewer.n_users, fewer.n_identical) == (0.25, 4, 1)
    twice = pd.DataFrame({"user": ["a"] * 3, "item": ["x", "x", "y"], "rank": [1, 2, 3]})
    for duplicates in ("keep", "rows", "hit_once"):
        found = recnb.compare({"one": twice, "two": lists(a="xy")}, TRUTH.head(1), duplicates=duplicates)
        assert found.overlap().loc[0, ["jaccard", "n_identical"]].tolist() == [1, 1]


def test_a_curve_and_what_is_beyond_accuracy_are_those_of_each_model():
    for metric in ("recall", "novelty"):
        curve, table = compared().curve(metric, k=[5, 10]), compared().table(metric, k=10)
        at = curve[curve.k == 10].set_index("model")["mean"]
        pd.testing.assert_series_equal(at[compared().names], table[f"{metric}@10"], check_names=False)
    with pytest.raises(OptionError, match="leave None out"):
        compared().curve(k=[1, None])
    found = compared().beyond(k=10)
    assert found.loc["popular"].to_dict() == compared()["popular"].beyond(k=10)[10].to_dict()
    assert "users with a list" in repr(found)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda found: found.differences(["ndcg", "coverage"], k=10), r"coverage is one number of all lists.*\.beyond\(k=10\)"),
        (lambda found: found.differences("novelty", k=10), "novelty needs what users had before: give train="),
        (lambda found: found.beyond(k=10), r"give compare\(\) train="),
        (lambda found: found.report(k=10, movers=-1), "-1 is no number of users"),
    ],
)  # fmt: skip
def test_what_has_no_value_is_refused(call, words):
    with pytest.raises(RecnbError, match=words):
        call(recnb.compare(SAMPLE.recommendations, SAMPLE.test))


def test_a_convention_of_a_library_may_have_its_own_users_for_each_metric():
    found = recnb.compare(SAMPLE.models, SAMPLE.test, convention="recommenders")
    frame = found.differences(["ndcg", "precision"], k=10).set_index(["metric", "model"])
    values = [recnb.evaluate(SAMPLE.models[name], SAMPLE.test, convention="recommenders").precision(k=10).per_user for name in ("factors", "item-knn")]  # fmt: skip
    assert frame.difference["precision", "factors"] == pytest.approx((values[0] - values[1]).mean(), abs=1e-12)
    assert "recommenders" in found.basis()


def test_a_comparison_is_a_mapping_of_evaluations():
    found = compared()
    assert isinstance(found, Mapping)
    assert list(found) == list(found.keys()) == found.names == found._ipython_key_completions_()
    assert (len(found), "popular" in found, "pop" in found, 3 in found, found.get("pop")) == (3, True, False, False, None)  # fmt: skip
    for name, evaluation in found.items():
        assert evaluation.ndcg(k=10) == found.models[name].ndcg(k=10) == found[name].ndcg(k=10)
    with pytest.raises(UnknownModelError, match=r"'populr' is none of the models\. Did you mean 'popular'") as refused:
        found["populr"]
    assert isinstance(refused.value, KeyError)
    with pytest.raises(UnknownNameError, match=r"It is one of each model: found\['item-knn'\]\.ndcg\."):
        found.ndcg(k=10)
    assert found != recnb.compare(SAMPLE.recommendations, SAMPLE.test)
    assert found in {found}
