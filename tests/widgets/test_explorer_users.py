"""The explorer's logic from user to user: lists and explanations, other conventions, several models, what is sent."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError
from recnb.widgets.explorer.shown import detail, detail_of, still, summary, users_table
from recnb.widgets.explorer.state import ExplorerState
from tests.explorer import explorer_state
from tests.results.test_html import EVIL, Page
from tests.widgets.test_explorer import EV, EVALUATIONS, SAMPLE, one


def two() -> ExplorerState:
    return explorer_state({name: EVALUATIONS[name] for name in ("item-knn", "popular")})


def test_the_list_of_a_user() -> None:
    recs = pd.DataFrame({"user": ["a"] * 5 + ["b"], "item": [*"pqrstp"], "rank": [1, 2, 3, 4, 5, 1]})
    truth = pd.DataFrame({"user": ["a"] * 4 + ["b", "c"], "item": [*"qtxpzz"], "rating": [3, 5, 4, 0, 1, 2]})
    titles = pd.DataFrame({"item": ["q", "x"], "title": ["Quince", "Xylophone"]})
    state = explorer_state({"": recnb.evaluate(recs, truth, items=titles)}, k=3)
    state.user = "a"
    one = detail_of(state)
    assert one is not None
    (mine,) = one.lists
    assert [(row.rank, row.item, row.relevance, row.above) for row in mine.rows] == [
        (1, "p", 0, True), (2, "q", 3, True), (3, "r", 0, True), (5, "t", 5, False),
    ]  # fmt: skip
    assert [(gone.item, gone.relevance, gone.rank) for gone in mine.missed] == [
        ("t", 5, 5), ("x", 4, None),
    ]  # fmt: skip
    assert mine.titles == {"q": "Quince", "x": "Xylophone"}
    assert (mine.n_hits, mine.n_relevant, mine.n_places, mine.n_missed) == (1, 3, 5, 2)
    assert one.explanation is not None
    assert one.explanation.value == mine.value == state.values()[0]
    text = "".join(text for text, _ in Page(detail(state)).text)
    for words in ("1 of 3 relevant items in the first 3", "✓ hit, relevance 3", "✓ below the cut-off, relevance 5", "cut-off k = 3",
                  "… 1 more rank", "Xylophone x relevance 4, not in the list", "t relevance 5, at rank 5"):  # fmt: skip
        assert words in text
    state.user = "c"
    text = "".join(text for text, _ in Page(detail(state)).text)
    assert "No list: nothing was recommended." in text
    assert "z relevance 2, not in the list" in text
    state.user = "nobody"
    assert "nobody" in detail(state)
    assert users_table(state)["chosen"] is None


def test_every_user_has_the_value_that_their_explanation_ends_with() -> None:
    for ev in (EV, EV.under("rectools"), EV.under("ranx")):
        state = explorer_state({"": ev})
        for metric in ("ndcg", "recall", "reciprocal_rank"):
            assert state.ask(metric=metric)
            for at in range(0, state.n_users, 37):
                state.choose(at)
                shown = detail_of(state)
                assert shown is not None
                assert shown.explanation is not None, shown.problem
                assert shown.explanation.value == pytest.approx(state.values()[at])
                assert shown.lists[0].n_hits == state.table["hits"][at]


def test_a_library_has_its_own_metrics_options_and_users() -> None:
    state = explorer_state({"": EV.under("rectools")})
    assert "rbp" not in state.metrics
    assert state.options_in_force() == {"gain": "binary", "discount": "log", "log_base": 2, "ideal": "k"}
    assert state.mean() == pytest.approx(float(EV.under("rectools").ndcg(k=10)))
    assert "rectools" in summary(state)
    # What the library lacks is recnb's own, and is marked.
    assert state.ask(metric="rbp")
    assert "recnb's own" in repr(EV.under("rectools").rbp(k=10))


@pytest.mark.parametrize(
    "library", ["recbole", "ranx", "recpack", "lenskit", "pytrec_eval-terrier", "scikit-learn", "cornac"]
)
def test_under_a_library_numbers_are_those_of_the_library(library: str) -> None:
    under = EV.under(library)
    state = explorer_state({"": under})
    asked = 0
    for metric in state.metrics:
        if not state.ask(metric=metric):  # a library may refuse the data of one of its metrics
            assert state.problem
            continue
        score = under._score(state.metric, state.k, state.options)
        assert state.mean() == pytest.approx(float(score), nan_ok=True)
        values = state.values()
        np.testing.assert_allclose(values[~np.isnan(values)], score.per_user.dropna())
        assert sum(bar.count for bar in state.bars()) == state.n_users
        asked += 1
    assert asked


def test_shared_ties_have_no_order_to_explain() -> None:
    recs = SAMPLE.models["item-knn"].drop(columns="rank").assign(score=lambda frame: frame["score"].round(0))
    state = explorer_state({"": recnb.evaluate(recs, SAMPLE.test, ties="expected")})
    shown = detail_of(state)
    assert shown is not None
    assert shown.explanation is None
    assert 'ties="expected"' in unescape(detail(state))
    assert f"{shown.lists[0].value:.4f}" in detail(state)
    assert not state.ask(metric="err")


def test_an_explanation_that_is_refused_says_why() -> None:
    truth = SAMPLE.test.assign(rating=SAMPLE.test["rating"].where(SAMPLE.test["user"] != "u002", 0))
    state = explorer_state({"": recnb.evaluate(SAMPLE.models["item-knn"], truth, relevant="any")})
    state.user = "u002"
    shown = detail_of(state)
    assert shown is not None
    assert shown.explanation is None
    assert "none of their items in the truth is relevant" in detail(state)


def _last_page(state: ExplorerState) -> dict[str, Any]:
    state.turn(state.pages)
    return users_table(state)


def test_one_user() -> None:
    ev = recnb.evaluate(
        pd.DataFrame({"user": [7], "item": ["a"], "rank": [1]}), pd.DataFrame({"user": [7], "item": ["a"]})
    )
    state = explorer_state({"": ev}, k=None)
    assert users_table(state)["rows"] == [{"at": 0, "cells": ["7", "1.0000", "1", "1", "1"]}]
    assert users_table(state)["bars"]["title"] == "1 user by nDCG"
    assert [bar.count for bar in state.bars()] == [0] * 10 + [1]
    assert state.user == 7
    assert "Nothing was missed" in still(state)


def test_several_models_side_by_side() -> None:
    state = two()
    a, b = (EVALUATIONS[name].ndcg(k=10).per_user for name in ("item-knn", "popular"))
    shown = state.to_frame().sort_index()
    pd.testing.assert_series_equal(shown["item-knn"], a, check_names=False)
    pd.testing.assert_series_equal(shown["popular"], b, check_names=False)
    pd.testing.assert_series_equal(shown["difference"], a - b, check_names=False)
    assert state.to_frame()["difference"].is_monotonic_decreasing
    assert [bar.label for bar in state.bars()][5] == "0"
    apart = (a - b).to_numpy()
    assert state.better_worse_same() == ((apart > 0).sum(), (apart < 0).sum(), (apart == 0).sum())
    assert sum(bar.count for bar in state.bars()[:5]) == (apart < 0).sum()
    state.choose_model("popular")
    assert state.names[state.other] == "item-knn"
    np.testing.assert_array_equal(state.table["difference"], -apart)
    state.user = "u002"
    one = detail_of(state)
    assert one is not None
    assert [mine.model for mine in one.lists] == ["popular", "item-knn"]
    assert one.explanation is not None
    assert one.explanation.value == b["u002"]
    text = "".join(text for text, _ in Page(still(state)).text)
    assert "The list of popular" in text
    assert "The list of item-knn" in text
    state.choose_shape("value")
    assert sum(bar.count for bar in state.bars()) == state.n_users
    state.ask(metric="dcg")
    state.choose_shape("difference")
    assert sum(bar.count for bar in state.bars()) == state.n_users


def test_models_are_compared_over_the_users_they_have_in_common() -> None:
    most = SAMPLE.test[SAMPLE.test["user"] > "u050"]
    other = recnb.evaluate(SAMPLE.models["popular"], most)
    state = explorer_state({"all": EV, "some": other})
    expected = pd.concat(
        [EV.ndcg(k=10).per_user.rename("all"), other.ndcg(k=10).per_user.rename("some")], axis=1
    ).dropna()
    assert state.n_users == other.n_users < EV.n_users
    pd.testing.assert_frame_equal(state.to_frame()[["all", "some"]].sort_index(), expected, check_names=False)
    assert state.mean(0) == pytest.approx(expected["all"].mean())
    state.choose(3)
    one = detail_of(state)
    assert one is not None
    assert one.explanation is not None
    assert one.explanation.value == one.lists[0].value == state.values(0)[3]
    assert one.lists[1].value == state.values(1)[3]
    nobody = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test[SAMPLE.test["user"] <= "u050"])
    with pytest.raises(FrameError, match="no user in common"):
        explorer_state({"some": other, "others": nobody})
    numbers = recnb.evaluate(
        pd.DataFrame({"user": [1], "item": ["a"], "rank": [1]}), pd.DataFrame({"user": [1], "item": ["a"]})
    )
    with pytest.raises(FrameError, match="never match"):
        explorer_state({"text": EV, "numbers": numbers})


@pytest.mark.parametrize("evil", EVIL)
def test_text_of_the_users_stays_text(evil: str) -> None:
    recs = pd.DataFrame({"user": [evil, evil, "b"], "item": [evil, evil + "2", evil], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [evil, evil, "b"], "item": [evil + "3", evil, evil]})
    users = pd.DataFrame({"user": [evil, "b"], evil + "column": [evil, "x"]})
    items = pd.DataFrame({"item": [evil], "title": [evil]})
    ev = recnb.evaluate(recs, truth, users=users, items=items)
    for state in (explorer_state({"": ev}), explorer_state({evil: ev, "other": ev})):
        state.choose_segment(evil + "column")
        state.pick_part(0)
        state.user = evil
        page = Page(still(state))
        allowed = {
            "div",
            "b",
            "code",
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "span",
            "bdi",
            "ul",
            "li",
            "details",
            "summary",
        }
        assert page.tags <= allowed
        assert page.attributes <= {"class", "style", "role", "aria-label", "scope", "colspan"}
        for piece, off in page.text:
            if evil in piece or piece.count("$") not in (0, 2):
                assert off, f"mathematics is on around {piece!r}"
        assert "\u202e" not in "".join(map(str, users_table(state)["rows"]))
        json.dumps(users_table(state))


def test_it_speaks_korean() -> None:
    state = one(lang="ko")
    assert users_table(state)["columns"][0]["label"] == "사용자"
    assert "추천 목록" in detail(state)
    assert "users" not in summary(state)
    assert users_table(one())["columns"][0]["label"] == "user"


def test_no_more_is_sent_than_is_shown() -> None:
    n, length = 100_000, 10
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(n), length)
    item = (rng.random((n, 1)) * 1000).astype(int) + np.arange(length) * 1000
    recs = pd.DataFrame({"user": user, "item": item.ravel(), "rank": np.tile(np.arange(1, length + 1), n)})
    truth = recs[rng.random(len(recs)) < 0.1][["user", "item"]]
    state = explorer_state(
        {"": recnb.evaluate(recs, truth, users=pd.DataFrame({"user": np.arange(n), "plan": np.arange(n) % 30}))}
    )
    state.choose_segment("plan")
    assert len(json.dumps(users_table(state))) < 9_000
    assert len(detail(state)) < 30_000
    assert len(still(state)) < 100_000
    state.search("99")
    state.sort("hits")
    assert len(json.dumps(users_table(state))) < 9_000
    assert len(state.shown()) == sum("99" in str(one) for one in state.users)
