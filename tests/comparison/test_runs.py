"""Splits as the sample: means of splits, and tests over them."""

import copy
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import recnb
from recnb.errors import OptionError
from recnb.stats import holm, resampled

RNG = np.random.default_rng(3)


def frames(seed, columns):
    """Recommendations of three models over splits, and the truth of each."""
    rng = np.random.default_rng(seed)
    combinations = pd.MultiIndex.from_product([range(n) for n in columns.values()])
    rows, truth = [], []
    for combination in combinations:
        users = rng.choice(40, 15, replace=False)
        for user in users.tolist():
            relevant = rng.permutation(20)[:4]
            truth += [(user, *combination, item) for item in relevant.tolist()]
            for name, skill in (("a", 0.0), ("b", 0.2), ("c", 0.9)):
                score = rng.random(20)
                score[relevant] += skill * rng.random()
                items = np.argsort(-score)[:5].tolist()
                rows += [
                    (name, user, *combination, item, rank)
                    for rank, item in enumerate(items, 1)
                ]
    recs = pd.DataFrame(rows, columns=["model", "user", *columns, "item", "rank"])
    return recs, pd.DataFrame(truth, columns=["user", *columns, "item"])


RECS, TRUTH = frames(0, {"fold": 5, "seed": 3})
SPLIT = ["fold", "seed"]
FOUND = recnb.compare(RECS, TRUTH, split=SPLIT, model="model", pairs="all")


def means_alone():
    """The mean of each model in each combination, evaluated alone."""
    means = {}
    for fold in range(5):
        for seed in range(3):
            of_models = {}
            for model in "abc":
                recs = RECS[
                    (RECS.model == model) & (RECS.fold == fold) & (RECS.seed == seed)
                ]
                truth = TRUTH[(TRUTH.fold == fold) & (TRUTH.seed == seed)]
                ev = recnb.evaluate(recs.drop(columns="model"), truth)
                of_models[model] = float(ev.ndcg(k=5))
            means[fold, seed] = of_models
    return pd.DataFrame(means).T


ALONE = means_alone()


def test_a_model_has_the_mean_of_its_splits_and_their_spread():
    runs = FOUND.runs("ndcg", k=5, test_share=0.2)
    assert runs["mean"].to_dict() == pytest.approx(ALONE.mean().to_dict())
    assert runs["sd"].to_dict() == pytest.approx(ALONE.std(ddof=1).to_dict())
    assert runs["n_splits"].tolist() == [15, 15, 15]
    assert runs.by_split.to_numpy() == pytest.approx(ALONE.to_numpy())
    assert runs.by_split.index.names == SPLIT


@pytest.mark.parametrize("share", [None, 0.2, 1 / 3])
def test_a_difference_has_the_corrected_resampled_t_test(share):
    runs = FOUND.runs("ndcg", k=5, test_share=share)
    overlap = 0 if share is None else share / (1 - share)
    p = []
    for row in runs.differences.to_frame().itertuples():
        d = (ALONE[row.model] - ALONE[row.baseline]).to_numpy()
        error = math.sqrt((1 / 15 + overlap) * d.var(ddof=1))
        half = scipy.stats.t.ppf(0.975, 14) * error
        assert row.difference == pytest.approx(d.mean())
        assert (row.low, row.high) == pytest.approx((d.mean() - half, d.mean() + half))
        assert row.p == pytest.approx(2 * scipy.stats.t.sf(abs(d.mean()) / error, 14))
        if share is None:
            paired = scipy.stats.ttest_1samp(d, 0)
            assert row.p == pytest.approx(paired.pvalue)
        p.append(row.p)
    assert runs.differences["p_holm"].tolist() == pytest.approx(holm(np.array(p)))


def test_splits_that_are_all_alike_are_not_tested():
    test = resampled(np.full((6, 1), 0.1))
    assert (test.mean[0], math.isnan(test.p[0])) == (pytest.approx(0.1), True)
    assert math.isnan(resampled(np.full((1, 1), 0.1)).p[0])


def test_means_of_splits_that_differ_by_rounding_alone_are_the_same():
    """Two models with the same values of users, who are summed in another order."""
    rows = []
    for fold in range(3):
        ranks = np.random.default_rng(fold).permutation(13).tolist()
        for model, places in (("a", ranks), ("b", ranks[::-1])):
            for user, place in enumerate(places):
                items = [*range(place), "x", *range(place, 12)]
                for rank, item in enumerate(map(str, items), 1):
                    rows.append((model, user, fold, item, rank))
    recs = pd.DataFrame(rows, columns=["model", "user", "fold", "item", "rank"])
    truth = {user: ["x"] for user in range(13)}
    found = recnb.compare(recs, truth, split="fold", model="model")
    runs = found.runs("mrr")
    assert (runs.by_split["a"] != runs.by_split["b"]).any()
    row = runs.differences.iloc[0]
    assert (row["verdict"], row["difference"]) == ("same", 0.0)


#: Columns of splits by what they are, which is said of intervals: results/shown/lists.txt.
SPLITS = ("day", "Date", "event_date", "seed", "fold", "run_id", "shop", "birthday")


def runs_over(column):
    """Runs over splits by a column."""
    recs, truth = (
        frame[frame.seed == 0].drop(columns="seed").rename(columns={"fold": column})
        for frame in (RECS, TRUTH)
    )
    return recnb.compare(recs, truth, split=column).runs("ndcg", k=5)


def test_runs_are_shown_in_every_form():
    runs = FOUND.runs("ndcg", k=5, test_share=0.2)
    for shown in (runs.to_markdown(), runs._repr_html_()):
        assert "Nadeau and Bengio 2003" in shown
        assert "Differences over splits" in shown
    assert repr(copy.deepcopy(runs)) == repr(runs)
    assert type(runs.to_frame()) is pd.DataFrame


def test_pooling_lists_as_if_they_were_users_is_no_test_of_either():
    """Intervals over users are longer than those of lists taken for users."""
    row = FOUND.differences("ndcg", k=5).iloc[0]
    a, b = (FOUND[name].ndcg(k=5).per_user for name in (row.baseline, row.model))
    as_users = recnb.paired(b.reset_index(drop=True), a.reset_index(drop=True))
    assert as_users.difference == pytest.approx(row.difference)
    assert as_users.n_users == row.n_lists > row.n_users


@pytest.mark.parametrize("share", [0, 1, -0.2, "20 %", True])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(OptionError, match=r"test_share=.*such as 0\.2"):
        FOUND.runs("ndcg", k=5, test_share=share)


def test_runs_are_over_several_splits():
    recs = RECS[RECS.fold == 0].drop(columns="fold")
    truth = TRUTH[TRUTH.fold == 0].drop(columns="fold")
    one = recs[recs.seed == 0].drop(columns="seed")
    plain = recnb.compare(one, truth[truth.seed == 0].drop(columns="seed"))
    with pytest.raises(OptionError, match=r"there are none: .*split='fold'"):
        plain.runs("ndcg", k=5)
    alone = recnb.compare(recs[recs.seed == 0], truth[truth.seed == 0], split="seed")
    with pytest.raises(OptionError, match="seed has one"):
        alone.runs("ndcg", k=5)


def test_the_title_has_what_the_text_of_a_measure_changes():
    title = FOUND.runs("nDCG(dcg='exp-log2')@5").attrs["title"]
    assert title == "nDCG(dcg='exp-log2')@5 over splits"


def test_a_cut_off_beside_that_of_the_text_is_refused():
    with pytest.raises(OptionError, match="'nDCG@5' has its cut-off, and k=10"):
        FOUND.runs("nDCG@5", k=10)
