"""Splits as the sample: means of splits, and tests over them."""

import math
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import recnb
from recnb.stats import holm
from tests.rows import hold_calls, hold_refusals, read_rows
from tests.sample import SAMPLE

near = pytest.approx
SPLIT = ["fold", "seed"]


def in_splits(frame):
    """Return rows of a frame of the sample with splits, one for each user."""
    number = frame["user"].str[1:].astype(int)
    return frame.assign(fold=number % 5, seed=number // 5 % 3)


RECS, TRUTH = map(in_splits, (SAMPLE.recommendations, SAMPLE.test))
FOUND = recnb.compare(RECS, TRUTH, split=SPLIT, model="model", pairs="all")
RUNS = FOUND.runs("ndcg", k=5, test_share=0.2)


def mean_alone(model, fold, seed):
    """The mean of a model in one split, evaluated alone."""
    recs, truth = (
        frame.query(f"fold == {fold} and seed == {seed}") for frame in (RECS, TRUTH)
    )
    return float(recs[recs["model"] == model].rec.against(truth).ndcg(k=5))


@cache
def alone():
    """The mean of each model in each split."""
    splits = [*product(range(5), range(3))]
    return pd.DataFrame(
        {
            model: {split: mean_alone(model, *split) for split in splits}
            for model in SAMPLE.models
        }
    )


def over(splits, **options):
    """Runs over the splits that a query finds."""
    recs, truth = (frame.query(splits) for frame in (RECS, TRUTH))
    return recnb.compare(recs, truth, **options).runs("ndcg", k=5)


test_a_call_comes_to = hold_calls(read_rows("comparison/runs.toml"), globals())
test_runs_that_cannot_be = hold_refusals(
    read_rows("comparison/runs_refused.toml"), globals()
)


@pytest.mark.parametrize("share", [None, 0.2, 1 / 3])
def test_a_difference_has_the_corrected_resampled_t_test(share):
    overlap = 0 if share is None else share / (1 - share)
    rows = FOUND.runs("ndcg", k=5, test_share=share).differences
    for row in rows.itertuples():
        d = (alone()[row.model] - alone()[row.baseline]).to_numpy()
        error = math.sqrt((1 / 15 + overlap) * d.var(ddof=1))
        half = scipy.stats.t.ppf(0.975, 14) * error
        assert row.difference == near(d.mean())
        assert (row.low, row.high) == near((d.mean() - half, d.mean() + half))
        assert row.p == near(2 * scipy.stats.t.sf(abs(d.mean()) / error, 14))
    assert rows["p_holm"].tolist() == near(holm(rows["p"].to_numpy()))


def test_means_of_splits_that_differ_by_rounding_alone_are_the_same():
    """Two models with the same values of users, who are summed in another order."""
    rows = []
    for fold in range(3):
        ranks = np.random.default_rng(fold).permutation(13).tolist()
        for model, places in (("a", ranks), ("b", ranks[::-1])):
            for user, place in enumerate(places):
                items = [*range(place), "x", *range(place, 12)]
                rows.append((model, user, fold, [*map(str, items)]))
    recs = pd.DataFrame(rows, columns=["model", "user", "fold", "recommended"])
    truth = {user: ["x"] for user in range(13)}
    runs = recnb.compare(recs, truth, split="fold").runs("mrr")
    assert (runs.by_split["a"] != runs.by_split["b"]).any()
    row = runs.differences.iloc[0]
    assert (row["verdict"], row["difference"]) == ("same", 0.0)
    assert math.isnan(row["p"])
