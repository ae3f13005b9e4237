"""Metrics beyond accuracy as methods of an evaluation: worked by hand, against plain
loops, and what they need.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats

import recnb
from recnb.metrics.measure import Measure
from recnb.metrics.metric import LIST_METRICS
from recnb.results.score import CatalogueScore
from recnb.stats import UserSample, interval_of_pairs
from tests.evaluated import EV as SHOP

# Four users of train; a is had by all, b by two, c, d and e by one each; f is new.
TRAIN = pd.DataFrame({"user": [1, 1, 2, 2, 3, 3, 4, 4, 4], "item": list("abacadabe")})
LISTS = {1: "cde", 2: "bde", 3: "bcf"}
RECS = pd.DataFrame(
    [(u, i, r) for u, items in LISTS.items() for r, i in enumerate(items, 1)],
    columns=["user", "item", "rank"],
)
TRUTH = pd.DataFrame({"user": [1, 1, 2, 3, 5], "item": list("cebfa")})
ITEMS = pd.DataFrame(
    {
        "item": list("abcdefgh"),
        "genres": ["x", "x|y", "y", "y|z", "z", "x|z", "x", None],
    }
)


def evaluation(**given: Any) -> recnb.Evaluation:
    return recnb.evaluate(RECS, TRUTH, **{"train": TRAIN, "items": ITEMS, **given})


EV = evaluation()


TWICE = pd.concat([RECS, RECS.head(1).assign(rank=9)])


GENRES = ITEMS["genres"].fillna("")
COLUMNS = ITEMS[["item"]].assign(
    **{word: GENRES.str.contains(word).astype(int) for word in "xyz"}
)
FORMS: list[Any] = [
    COLUMNS,
    COLUMNS.astype(dict.fromkeys("xyz", float)).assign(price=1.5),
    ITEMS.assign(genres=ITEMS["genres"].str.split("|")),
    pl.from_pandas(ITEMS),
    ITEMS.assign(year=range(8)),
]


@pytest.mark.parametrize("items", FORMS, ids=range(len(FORMS)))
def test_genres_as_words_lists_and_columns_are_the_same(items: Any) -> None:
    ev = evaluation(items=items)
    assert (ev.diversity(), ev.calibration()) == (EV.diversity(), EV.calibration())


def test_columns_may_be_chosen_and_others_be_of_any_kind() -> None:
    chosen = evaluation(items=COLUMNS).diversity(features=["x", "y", "z"])
    odd = pl.from_pandas(ITEMS).with_columns(
        took=pl.duration(hours=1),
        raw=pl.lit(b"\xff"),
        vector=pl.Series([[0.5, 1.0]] * len(ITEMS)),
    )
    made = evaluation(items=odd)
    assert made.coverage() == EV.coverage()
    assert made.diversity(features="genres") == chosen == EV.diversity()


def test_lists_of_text_are_genres_and_features() -> None:
    """Numbers may be vectors, and are refused: refused/calls.toml."""
    items = pl.DataFrame({"item": ["a", "b"], "what": [["1", "2"], ["3", "4"]]})
    given = {"u": ["a", "b"]}, {"u": ["a"]}
    ev = recnb.evaluate(*given, items=items, train={"u": ["a"]})
    assert ev.calibration(k=2, genre="what") > 0
    assert ev.diversity(k=2, features="what") == 1


def test_columns_that_are_named_by_numbers() -> None:
    """Items and users, as a matrix that becomes a frame has them."""
    users = pd.DataFrame({"user": [1, 2, 3, 5], 0: list("xyxy")})
    assert len(evaluation(users=users).table("ndcg", k=2, by="0")) == 2


def test_every_metric_is_a_method_within_its_bounds() -> None:
    """Shares lie between 0 and 1, entropies and divergences have no upper end, and
    options may have bounds of their own.
    """
    without_end = dict.fromkeys(("calibration", "entropy", "novelty"), (0, math.inf))
    bounds = {**dict.fromkeys(LIST_METRICS, (0, 1)), "diversity": (0, 2), **without_end}
    assert {name: metric.bounds for name, metric in LIST_METRICS.items()} == bounds
    for name, metric in LIST_METRICS.items():
        score, (low, high) = getattr(EV, name)(k=2), metric.bounds
        assert f"{metric.symbol}@2 = " in repr(score)
        assert "ordered by rank" in score.basis
        assert isinstance(score, CatalogueScore) == (metric.of == "all")
        assert low <= score <= high
        if metric.of == "user":
            assert score.interval().low <= score <= score.interval().high or math.isinf(
                high
            )
    assert math.isnan(EV.popularity(popularity="count").interval().low)
    counted = SHOP.popularity(k=10, popularity="count")
    bounds = Measure(LIST_METRICS["popularity"], {"popularity": "count"}).bounds
    assert counted.per_user.between(*bounds).all()
    assert counted.interval().high > counted > 1


#: The conventions of libraries have numbers of their own.
UNDER = {
    "rectools": "novelty",
    "rs-metrics": "novelty",
    "recbole": "gini",
    "lenskit": "gini[catalogue]",
}


@pytest.mark.parametrize("library", UNDER)
def test_under_a_library_is_its_own_number(library: str) -> None:
    given, ev = {"train": TRAIN, "items": ITEMS}, EV.under(library)
    name = UNDER[library].split("[")[0]
    expected = recnb.as_in(library, UNDER[library], RECS, TRUTH, k=3, **given)
    assert getattr(ev, name)(k=3) == pytest.approx(expected, rel=1e-12)
    assert (name in ev.beyond(k=3).index, ev.library) == (True, library)


def test_one_frame_with_both_sides_answers_as_well() -> None:
    frame = RECS.assign(relevance=[1, 0, 1, 1, 0, 0, 0, 0, 1])
    ev = frame.rec.evaluation(train=TRAIN, items=ITEMS)
    assert ev.novelty(k=2) == EV.novelty(k=2)
    assert frame.rec.personalization() == EV.personalization()


def test_personalization_has_the_jackknifes_interval() -> None:
    rng = np.random.default_rng(0)
    shown = np.array([rng.permutation(30)[:5] for _user in range(25)])

    def value(users: Any) -> float:
        pairs = itertools.combinations(users.tolist(), 2)
        shared = [len({*shown[i]} & {*shown[j]}) / 5 for i, j in pairs]
        return 1 - float(np.mean(shared))

    everyone = np.arange(25)
    left_out = np.array([value(everyone[everyone != one]) for one in everyone])
    half = scipy.stats.t.ppf(0.975, 24) * np.sqrt(24 * left_out.var())
    lists = dict(enumerate(shown.tolist()))
    score = recnb.evaluate(lists, lists).personalization(k=5)
    assert score == pytest.approx(value(everyone))
    ends = pytest.approx((score - half, score + half), abs=1e-12)
    assert tuple(score.interval()) == ends
    assert np.isnan(interval_of_pairs(np.linspace(0, 1, 9), UserSample(9))).all()
    assert np.isnan(interval_of_pairs(np.full(11, 0.5), UserSample(11))).all()
