"""The explorer: what it shows is what pandas makes of the values of users, and its controls change that."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import OptionError, RecnbError
from recnb.metrics.metric import METRICS
from recnb.widgets.explorer import LISTED, ExplorerState

SAMPLE = recnb.datasets.load_sample()
SIDE: dict[str, Any] = {"users": SAMPLE.users, "train": SAMPLE.train, "items": SAMPLE.items}
EV = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, **SIDE)
MODELS = {name: SAMPLE.models[name].rec.against(SAMPLE.test, **SIDE) for name in ("popular", "item-knn")}


def one(metric: str = "ndcg", k: int | None = 10, **options: Any) -> ExplorerState:
    return ExplorerState({"": EV}, metric, k, options)


@pytest.mark.parametrize("metric", METRICS)
def test_values_are_those_of_the_evaluation(metric: str) -> None:
    state = one()
    for k in (5, None):
        assert state.ask(metric=metric, k=k), state.problem
        score = getattr(EV, metric)(k=k)
        pd.testing.assert_series_equal(state.to_frame()["value"].sort_index(), score.per_user, check_names=False)
        assert state.means() == {"": pytest.approx(float(score))}
        assert state.basis == score.basis
    hits = EV.hits(5)
    assert state.ask(k=5)
    assert state.to_frame()["hits"].sum() == len(hits.rank)
    assert state.to_frame()["length"].eq(20).sum() == len(EV.users) - 2


def test_options_are_kept_for_a_metric_that_has_them() -> None:
    state = one(gain="exponential")
    assert state.means()[""] == pytest.approx(float(EV.ndcg(k=10, gain="exponential")))
    assert state.ask(metric="dcg")
    assert state.means()[""] == pytest.approx(float(EV.dcg(k=10, gain="exponential")))
    assert state.ask(metric="recall")
    assert state.means()[""] == pytest.approx(float(EV.recall(k=10)))


@pytest.mark.parametrize("column", ["value", "hits", "relevant", "length"])
@pytest.mark.parametrize("descending", [True, False])
def test_what_is_shown_is_what_pandas_would_show(column: str, descending: bool) -> None:
    state = one()
    state.choose_segment("segment")
    state.choose_part("regular")
    state.search("U01")
    if column != "value":
        state.sort(column)
    state.descending = descending
    want = state._values[(SAMPLE.users.set_index("user")["segment"].reindex(state._values.index) == "regular")]
    want = want[want.index.str.contains("u01")].sort_values(column, ascending=not descending, kind="stable")
    shown = state.to_frame()
    assert shown.index.tolist() == want.index.tolist()
    assert shown["segment"].eq("regular").all()
    state.show_all()
    assert len(state.to_frame()) == 261


@pytest.mark.parametrize("models", [{"": EV}, MODELS], ids=["one", "two"])
@pytest.mark.parametrize("metric", ["ndcg", "dcg", "hit_rate"])
def test_each_user_is_in_one_bar_between_its_ends(models: dict[str, recnb.Evaluation], metric: str) -> None:
    state = ExplorerState(models, metric)
    column = "difference" if len(models) > 1 else "value"
    counts = state.bars()
    assert sum(counts.values()) == len(state.to_frame())
    assert counts["0"] == (state.to_frame()[column].abs() <= 1e-12).sum()
    for label, count in counts.items():
        state.choose_bar(label)
        numbers = state.to_frame()[column]
        assert len(numbers) == count
        if label != "0" and count:
            low, high = (float(part.replace("−", "-")) for part in label.split(" – "))
            assert numbers.between(low - 0.006 * abs(low) - 1e-9, high + 0.006 * abs(high) + 1e-9).all(), label


def test_segments_are_columns_of_users_and_their_activity() -> None:
    state = one()
    assert list(state.segments) == ["segment", "branch", "joined", "activity"]
    state.choose_segment("segment")
    by = EV.table("ndcg", k=10, by="segment").loc[("ndcg", 10)]
    assert state.means_of_segments() == {
        name: (int(row["n_users"]), pytest.approx(row["mean"])) for name, row in by.sort_index().iterrows()
    }
    state.choose_segment("activity")
    assert [n for n, _mean in state.means_of_segments().values()] == [71, 68, 58, 64]  # quarters, ties together
    state.choose_part(next(iter(state.means_of_segments())))
    assert len(state.to_frame()) == 71
    assert ", 71 users" in state.summary()
    state.choose_segment("")
    assert (state.part, state.means_of_segments()) == ("", {})


def test_users_without_a_segment_are_one_of_their_own() -> None:
    users = SAMPLE.users.assign(team=["x", "y", None] * 100, age=[None if at % 7 == 0 else at for at in range(300)])
    state = ExplorerState({"": recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, users=users)})
    for column in ("team", "age"):
        state.choose_segment(column)
        parts = state.means_of_segments()
        assert "not known" in parts
        assert sum(n for n, _mean in parts.values()) == 261


def test_what_is_refused_changes_nothing() -> None:
    state = one()
    before = state.to_frame()
    assert not state.ask(k=0)
    assert "k=0" in state.problem
    assert "k=0" in html.unescape(state.summary())
    assert not state.ask(gain="cubic")
    assert "'cubic'" in state.problem
    pd.testing.assert_frame_equal(state.to_frame(), before)
    for call in (
        lambda: state.choose_segment("sgment"),
        lambda: state.choose_part("x"),
        lambda: state.choose_bar("x"),
        lambda: state.choose("nobody"),
        lambda: state.sort("hots"),
        lambda: state.choose_models("x"),
        lambda: ExplorerState({}),
    ):
        with pytest.raises(OptionError):
            call()


def test_the_user_near_the_mean_comes_first_and_another_is_chosen() -> None:
    state = one()
    values = EV.ndcg(k=10).per_user
    assert abs(values[state.user] - values.mean()) == (values - values.mean()).abs().min()
    state.choose("u026")
    assert EV.user("u026", k=10)._repr_html_() in state.detail()
    assert EV.explain("ndcg", "u026", k=10)._repr_html_() in state.detail()


def test_a_list_without_an_explanation_says_why() -> None:
    ev = recnb.evaluate(SAMPLE.models["item-knn"].assign(score=1.0), SAMPLE.test, order="score", ties="expected")
    assert "averages many orders" in ExplorerState({"": ev}).detail()


@pytest.mark.parametrize("library", ["rectools", "lenskit", "trec_eval", "lightgbm"])
def test_under_a_library_numbers_are_those_of_the_evaluation(library: str) -> None:
    ev = EV.under(library)
    state = ExplorerState({"": ev}, "ndcg")
    assert state.means()[""] == pytest.approx(float(ev.ndcg(k=10)))
    assert "nDCG@10" in state._repr_html_()


def test_models_are_compared_over_the_users_they_have_in_common() -> None:
    state = ExplorerState(MODELS)
    a, b = (ev.ndcg(k=10).per_user for ev in MODELS.values())
    assert (state.model, state.other, state.sorting) == ("item-knn", "popular", "difference")
    np.testing.assert_allclose(state.to_frame()["difference"], (b - a).sort_values(ascending=False, kind="stable"))
    assert state.better_worse_same() == ((b > a).sum(), (b < a).sum(), (b == a).sum())
    state.choose_models("popular")
    assert (state.model, state.other) == ("popular", "item-knn")
    assert state.to_frame()["difference"].sum() == pytest.approx((a - b).sum())
    some = SAMPLE.test[SAMPLE.test["user"] < "u100"]
    fewer = ExplorerState({"all": EV, "some": SAMPLE.models["popular"].rec.against(some)})
    assert len(fewer.to_frame()) == some["user"].nunique() - (some.groupby("user")["rating"].max() <= 0).sum()
    found = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular").explore()
    assert (found.state.other, found.state.model) == ("popular", "factors")


def test_columns_stand_below_each_other_and_long_lists_end() -> None:
    many = pd.DataFrame({"user": np.arange(500), "item": 1, "rank": 1})
    header, lines = ExplorerState({"": recnb.evaluate(many, many[["user", "item"]])}).lines()
    assert len(lines) == LISTED
    assert {len(line) for line, _user in lines} == {len(header)}
    assert lines[0] == ("0".ljust(len("user")) + "   1.0000     1         1       1", 0)


def test_the_view_follows_its_controls() -> None:
    view = EV.explore()
    assert view.metric.value == "ndcg"
    view.metric.value = "recall"
    assert f"{float(EV.recall(k=10)):.4f}" in view.summary.value
    view.k.value = 0
    assert view.state.k is None
    view.k.value = 5
    view.metric.value = "ndcg"
    gain = next(control for control in view.options.children if control.description == "gain")
    gain.value = "exponential"
    assert f"{float(EV.ndcg(k=5, gain='exponential')):.4f}" in view.summary.value
    view.segment.value = "segment"
    assert [value for _line, value in view.parts.options] == ["", "devoted", "new", "regular"]
    view.parts.value = "new"
    view.search.value = "u0"
    assert view.state.to_frame()["segment"].eq("new").all()
    view.search.value = ""
    view.parts.value = ""
    view.bars.value = "0"
    assert (view.state.to_frame()["value"] == 0).all()
    view.bars.value = ""
    view.sort.value = "hits"
    view.ascending.value = True
    assert view.state.to_frame()["hits"].is_monotonic_increasing
    view.users.value = 3
    user = view.state.to_frame().index[3]
    assert EV.explain("ndcg", user, k=5, gain="exponential")._repr_html_() in view.detail.value
    bundle = view._repr_mimebundle_()
    assert bundle["text/plain"] == repr(view.state)
    assert "still picture" in bundle["text/html"]
    view.close()


def test_it_speaks_korean_whatever_the_setting_is_later() -> None:
    view = EV.explore(lang="ko")
    view.metric.value = "precision"
    assert "사용자" in view.summary.value
    assert 'lang="ko"' in view.state._repr_html_()
    with pytest.raises(RecnbError, match="lang"):
        EV.explore(lang="xx")
