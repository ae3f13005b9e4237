"""Metrics beyond accuracy of lists in parts: counts of items that add up, and values of users put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import buckets
from recnb.errors import ElsewhereError, OptionError, RecnbError
from recnb.metrics.metric import LIST_METRICS

RNG = np.random.default_rng(1)
LISTS = {user: RNG.permutation(25)[: RNG.integers(1, 9)].tolist() for user in range(60)}
RECS = pd.DataFrame([(u, i, r) for u, items in LISTS.items() for r, i in enumerate(items, 1)], columns=["user", "item", "rank"])  # fmt: skip
TRUTH = pd.DataFrame(sorted(set(map(tuple, RNG.integers(0, (65, 25), (200, 2)).tolist()))), columns=["user", "item"])
TRAIN = pd.DataFrame(sorted(set(map(tuple, RNG.integers(0, (70, 27), (300, 2)).tolist()))), columns=["user", "item"])
ITEMS = pd.DataFrame({"item": range(30), "genre": RNG.choice(list("xyz"), 30)})
ADDED_UP = [name for name, metric in LIST_METRICS.items() if metric.over != "user pairs"]


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({name: str for name in ("user", "item") if name in frame})


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are put into eight files."""
    for name, value in {"WHOLE": 30, "SHARE": 0, "SLOTS": 8, "BUCKET": 500}.items():
        monkeypatch.setattr(buckets, name, value)


def in_parts(recs: pd.DataFrame, truth: pd.DataFrame, **given: Any) -> recnb.Evaluation:
    made = recnb.evaluate(pl.from_pandas(recs).lazy(), truth, **given)
    assert len(made._data.source.ranges) > 3
    return made


@pytest.mark.parametrize(
    ("ids", "options"), [(pd.DataFrame.copy, {}), (as_text, {"averaged_users": "union", "no_relevant": "zero"})]
)
def test_numbers_words_and_explanations_are_those_of_frames_in_memory(ids: Any, options: Any) -> None:
    recs, truth, train, items = map(ids, (RECS, TRUTH, TRAIN, ITEMS))
    whole = recnb.evaluate(recs, truth, train=train, items=items, **options)
    parts = in_parts(recs, truth, train=train, items=items, **options)
    for name in ADDED_UP:
        for k in (2, None):
            score, expected = getattr(parts, name)(k=k), getattr(whole, name)(k=k)
            assert (score, score.basis) == (pytest.approx(expected, rel=1e-12), expected.basis), name
            user = None
            if LIST_METRICS[name].of == "user":
                pd.testing.assert_series_equal(score.per_user, expected.per_user, rtol=1e-12)
                assert score.interval() == pytest.approx(expected.interval(), rel=1e-9)
                user = expected.per_user.dropna().index[3]
            else:
                pd.testing.assert_series_equal(score.per_item, expected.per_item)
            assert repr(parts.explain(name, user, k=k)) == repr(whole.explain(name, user, k=k)), name
    pd.testing.assert_frame_equal(parts.beyond(k=[1, 3]), whole.beyond(k=[1, 3]).drop("personalization"))


def test_what_compares_the_lists_of_users_is_refused() -> None:
    parts = in_parts(RECS, TRUTH)
    for ask in (parts.personalization, lambda: parts.items(k=2)):
        with pytest.raises(ElsewhereError, match=r"stay in a lazy frame.*frame\.collect"):
            ask()
    with pytest.raises(OptionError, match="novelty has no option"):
        parts.novelty(kold="drop")
    with pytest.raises(RecnbError, match="novelty needs what users had before"):
        parts.novelty()
