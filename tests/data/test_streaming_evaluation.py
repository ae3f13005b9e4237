"""What an evaluation of lists in files answers: all that one in memory does, from hits and counts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from tests.data.test_streaming import lists_are_away, same, sized


@pytest.fixture(scope="module")
def sample():
    return recnb.datasets.load_sample()


@pytest.fixture
def pair(sample, monkeypatch):
    sized(monkeypatch, whole=500, rows=300, batch=100)
    popular = sample.models["popular"]
    return recnb.evaluate(pl.from_pandas(popular).lazy(), sample.test), recnb.evaluate(popular, sample.test)


def test_users_lists_and_explanations(pair):
    made, whole = pair
    assert lists_are_away(made)
    same(made, whole)
    for user in whole.users[[0, 7, 30]]:
        assert made.explain("ndcg", user, k=5)._repr_html_() == whole.explain("ndcg", user, k=5)._repr_html_()
    pd.testing.assert_series_equal(made.ndcg(k=10).per_user, whole.ndcg(k=10).per_user)
    curves = (one.curve("recall", k=range(1, 6)).to_frame() for one in pair)
    pd.testing.assert_frame_equal(*curves, rtol=1e-12)
    assert repr(made) == repr(whole)
    assert made._repr_html_() == whole._repr_html_()
    assert made.detectable("ndcg", k=10).words == whole.detectable("ndcg", k=10).words


def test_segments_comparison_and_report(pair, sample):
    made, whole = pair
    groups = pd.Series(np.where(np.arange(len(whole.users)) % 2, "odd", "even"), index=whole.users)
    pd.testing.assert_frame_equal(made.table(by=groups), whole.table(by=groups))
    assert "nDCG" in made.report(k=[5, 10]).to_markdown()
    other = sample.models[next(name for name in sample.models if name != "popular")]
    both = recnb.compare({"popular": made, "other": recnb.evaluate(pl.from_pandas(other).lazy(), sample.test)})
    expected = recnb.compare({"popular": whole, "other": recnb.evaluate(other, sample.test)})
    pd.testing.assert_frame_equal(both.table(k=[5, 10]), expected.table(k=[5, 10]))
    pd.testing.assert_frame_equal(both.differences(k=10), expected.differences(k=10))
    assert repr(both.movers("ndcg", k=10)) == repr(expected.movers("ndcg", k=10))
    assert "nDCG@10" in both.report(k=[5, 10]).to_markdown()
    frames = {"popular": pl.from_pandas(sample.models["popular"]).lazy(), "other": pl.from_pandas(other).lazy()}
    pd.testing.assert_frame_equal(recnb.compare(frames, sample.test).table(), expected.table())
