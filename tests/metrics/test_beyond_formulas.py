"""The formulas of metrics beyond accuracy as they are set, and their explanations.

That a formula gives the value is tested with every explanation, in tests/results/test_explanation.py.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.display.language import use_language
from recnb.errors import OptionError
from recnb.metrics.metric import LIST_METRICS
from recnb.results.explanation import column_label as header

SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, train=SAMPLE.train, items=SAMPLE.items)


def test_explanation_by_hand() -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
    train = pd.DataFrame({"user": [1, 2, 3, 4, 1, 5], "item": list("aaaacb")})
    explained = recnb.evaluate(recs, recs, train=train).explain("novelty", 1, k=2)
    assert explained.numbers == "(log2(5/4) + log2(5/1)) / 2 = 2.6439 / 2 = 1.3219"
    assert explained.to_frame()["term"].tolist() == ["log2(5/4)", "log2(5/1)"]
    assert recnb.evaluate(recs, recs, train=train).explain("coverage", k=2).numbers == "2 / 3 = 0.6667"


def test_entropy_of_one_item_is_zero_without_a_sign() -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": ["a", "a"], "rank": [1, 1]})
    ev = recnb.evaluate(recs, recs)
    assert [math.copysign(1, value) for value in (ev.entropy(k=1), *ev.explain("entropy", k=1).rows["credit"])] == [
        1,
        1,
    ]


def test_no_credit_is_zero_with_a_sign() -> None:
    for name, metric in LIST_METRICS.items():
        credit = EV.explain(name, None if metric.of == "all" else EV.users[0], k=3).rows["credit"].to_numpy()
        assert not np.signbit(credit[credit == 0]).any(), name


def test_items_are_explained_the_most_shown_first() -> None:
    recs = pd.DataFrame({"user": [1, 1, 2, 2, 3], "item": list("abcbb"), "rank": [1, 2, 1, 2, 1]})
    ev = recnb.evaluate(recs, recs, train=recs)
    for name in ("coverage", "personalization"):
        explained = ev.explain(name, k=2).to_frame()
        assert explained["item"].tolist() == ["b", "a", "c"], name
        assert explained["times"].tolist() == [3, 1, 1]


def test_an_explanation_keeps_its_language() -> None:
    with use_language("ko"):
        explained = EV.explain("novelty", "u002", k=3)
    assert "사용자 u002의 Novelty@3" in repr(explained)
    assert "보유 수" in explained._repr_html_()
    assert repr(EV.explain("novelty", "u002", k=3, lang="ko")) == repr(explained)


def test_a_column_without_a_title_of_its_own_is_named_as_in_the_formula() -> None:
    names = {name for metric in LIST_METRICS.values() for name in metric.formulas()[0].names()}
    with use_language("ko"):
        assert {name for name in names if not re.search("[가-힣]", header(name))} == {"alpha"}
    assert header("n_items") == "n_items"


def test_ties_are_averaged_where_hits_count() -> None:
    """Two orders of two equal scores: the unexpected hit is first in one of them."""
    recs = pd.DataFrame({"user": [1, 1], "item": ["f", "g"], "score": [1.0, 1.0]})
    truth = pd.DataFrame({"user": [1], "item": ["f"]})
    ev = recnb.evaluate(recs, truth, train=pd.DataFrame({"user": [2], "item": ["a"]}), ties="expected")
    assert ev.serendipity(k=1) == 1 / 2
    with pytest.raises(OptionError, match="averages many orders"):
        ev.explain("serendipity", 1, k=1)
