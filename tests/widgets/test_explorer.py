"""The explorer's logic, without a browser and without a widget: who is shown, in which order, and what is told of one user."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.data import join
from recnb.errors import OptionError, RecnbError
from recnb.widgets.explorer.shown import detail, still, summary, users_table
from recnb.widgets.explorer.state import PAGE, ExplorerState
from tests.explorer import explorer_state
from tests.results.test_html import Page

SAMPLE = recnb.datasets.load_sample()
BESIDE = {"users": SAMPLE.users, "items": SAMPLE.items}
EVALUATIONS = {name: recnb.evaluate(recs, SAMPLE.test, **BESIDE) for name, recs in SAMPLE.models.items()}
EV = EVALUATIONS["item-knn"]


def one(**options: Any) -> ExplorerState:
    return explorer_state({"item-knn": EV}, **options)


def frame_of(state: ExplorerState) -> pd.DataFrame:
    """All users as pandas has them, in the order of ids."""
    values = EV._score(state.metric, state.k, state.options).per_user
    lists = EV.to_frame()
    found = SAMPLE.models["item-knn"].merge(SAMPLE.test, on=["user", "item"]).query(f"rank <= {state.k}")
    hits = found.groupby("user").size().reindex(values.index, fill_value=0)
    return pd.DataFrame(
        {"value": values, "hits": hits, "relevant": lists["n_relevant"], "length": lists["list_length"]}
    )


@pytest.mark.parametrize("metric", ["ndcg", "precision", "average_precision", "err", "idcg", "rbp"])
def test_values_are_those_of_the_evaluation(metric: str) -> None:
    state = one(metric=metric, k=5)
    for k in (1, 7, 20):
        state.ask(k=k)
        expected = getattr(EV, metric)(k=k)
        shown = state.to_frame().sort_index()
        pd.testing.assert_series_equal(shown["value"], expected.per_user, check_names=False)
        assert state.mean() == pytest.approx(float(expected), abs=1e-15)
        assert f"{float(expected):.4f}" in summary(state)


def test_options_count() -> None:
    state = one()
    assert state.ask(gain="exponential")
    assert state.mean() == pytest.approx(float(EV.ndcg(k=10, gain="exponential")))
    assert state.ask(metric="precision")
    assert state.mean() == pytest.approx(float(EV.precision(k=10)))
    assert state.ask(k=None, out_of="list")
    assert state.mean() == pytest.approx(float(EV.precision(out_of="list")))
    assert state.options == {"out_of": "list"}
    assert state.label == "Precision"


def test_nothing_is_joined_after_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    joins = []
    matches = join.matches
    monkeypatch.setattr(join, "matches", lambda *args: joins.append(args) or matches(*args))
    ev = recnb.evaluate(SAMPLE.models["factors"].sample(frac=1, random_state=0), SAMPLE.test, **BESIDE)
    assert len(joins) == 1
    state = explorer_state({"": ev}, k=3)
    for metric in state.metrics:
        for k in (1, 20, None, 4):
            state.ask(metric=metric, k=k)
            users_table(state)
    state.ask(metric="ndcg", ideal="list")
    state.choose(5)
    detail(state)
    assert len(joins) == 1


def test_a_column_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    state = one()
    users_table(state)
    state.ask(k=5)
    users_table(state)
    monkeypatch.setattr("recnb.results.aggregation.Scoring.averaged", None)
    monkeypatch.setattr(np, "argsort", None)
    state.ask(k=10)
    state.search("u1")
    state.pick_bar(3)
    state.turn(1)
    users_table(state)
    state.ask(k=5)
    assert len(users_table(state)["rows"]) > 0


@given(
    st.sampled_from(["user", "value", "hits", "relevant", "length"]),
    st.booleans(),
    st.sampled_from(["", "u", "U1", "27", "zzz", ".", "0"]),
    st.sets(st.integers(0, 10), max_size=3),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([1, 5, 10]),
)
def test_what_is_shown_is_what_pandas_would_show(
    column: str, again: bool, text: str, bars: set[int], part: int | None, k: int
) -> None:
    state = one(k=k)
    state.sort("user")
    frame = frame_of(state).assign(segment=SAMPLE.users.set_index("user")["segment"])
    if column != "user":
        state.sort(column)
    if again:
        state.sort(column)
    state.search(text)
    state.choose_segment("segment")
    if part is not None:
        state.pick_part(part)
        frame = frame[frame["segment"] == sorted(frame["segment"].unique())[part]]
    for bar in bars:
        state.pick_bar(bar)
    if bars:
        level = pd.cut(frame["value"] + 1e-9, [0, 1e-7, *np.arange(1, 10) / 10, 1.1], labels=False, include_lowest=True)
        frame = frame[level.isin(bars)]
    frame = frame[frame.index.str.lower().str.contains(text.lower(), regex=False)]
    frame = frame.sort_index(ascending=not (column == "user" and again))
    if column != "user":
        frame = frame.sort_values(column, ascending=again, kind="stable")
    shown = state.to_frame()
    assert shown.index.tolist() == frame.index.tolist()
    assert shown["hits"].tolist() == frame["hits"].tolist()
    assert shown["segment"].tolist() == frame["segment"].tolist()
    paged: list[str] = []
    for page in range(state.pages):
        state.turn(page)
        rows = users_table(state)["rows"]
        assert len(rows) <= PAGE
        paged += [row["cells"][0] for row in rows]
    assert paged == frame.index.tolist()


def test_bars_hold_every_user_once() -> None:
    state = one()
    assert [bar.label for bar in state.bars()][:3] == ["0", ">0 – 0.1", "0.1 – 0.2"]
    values = EV.ndcg(k=10).per_user
    assert state.bars()[0].count == int((values == 0).sum())
    for column in [None, *state.segments]:
        state.choose_segment(column)
        for part in range(len(state.parts.labels) if state.parts else 1):
            state.part = None
            state.pick_part(part)
            bars = state.bars()
            assert sum(bar.count for bar in bars) == state.in_part().sum()
            assert sum(bar.share for bar in bars) == pytest.approx(1)
            state.picked = frozenset(range(len(bars)))
            assert len(state.shown()) == state.in_part().sum()
            state.picked = frozenset()
            for at, bar in enumerate(bars):
                state.pick_bar(at)
                assert len(state.shown()) == bar.count
                state.pick_bar(at)


def test_means_of_segments_are_those_of_pandas() -> None:
    state = one()
    assert list(state.segments) == ["segment", "branch", "joined"]
    state.choose_segment("branch")
    branch = SAMPLE.users.set_index("user")["branch"]
    expected = EV.ndcg(k=10).per_user.groupby(branch).agg(["mean", "size"])
    means = state.means_of_parts()
    assert [bar.label for bar in means] == expected.index.tolist()
    np.testing.assert_allclose([bar.share for bar in means], expected["mean"])
    assert [bar.count for bar in means] == expected["size"].tolist()
    state.pick_part(1)
    assert state.mean(part=True) == pytest.approx(expected["mean"].iloc[1])
    assert state.mean() == pytest.approx(float(EV.ndcg(k=10)))
    text = "".join(text for text, _ in Page(summary(state)).text)
    assert f"branch = {means[1].label}: {means[1].share:.4f} over {means[1].count} users" in text


@pytest.mark.parametrize("column", ["joined", "activity", "popularity_taste"])
def test_numbers_with_many_values_are_grouped_as_the_table_groups_them(column: str) -> None:
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, users=SAMPLE.users, train=SAMPLE.train)
    state = explorer_state({"": ev})
    state.choose_segment(column)
    table = ev.table("ndcg", k=10, by=column).loc[("ndcg", 10)]
    means = state.means_of_parts()
    assert [bar.label for bar in means] == table.index.tolist()
    assert [bar.count for bar in means] == table["n_users"].tolist()
    np.testing.assert_allclose([bar.share for bar in means], table["mean"])


def test_a_column_of_the_truth_parts_users_if_each_has_one_value() -> None:
    truth = SAMPLE.test.assign(
        country=[{"0": "KR", "1": "DE"}.get(user[1], "FR") for user in SAMPLE.test["user"]],
        day=range(len(SAMPLE.test)),
        device=["tv" if n % 2 else "phone" for n in range(len(SAMPLE.test))],
        tags=[[] for _ in range(len(SAMPLE.test))],
        mixed=[n if n % 2 else "tv" for n in range(len(SAMPLE.test))],
    )
    ev = recnb.evaluate(SAMPLE.models["item-knn"], truth)
    state = explorer_state({"": ev})
    assert list(state.segments) == ["country"]
    state.choose_segment("country")
    expected = EV.ndcg(k=10).per_user.groupby(truth.groupby("user")["country"].first()).mean()
    assert {bar.label: bar.share for bar in state.means_of_parts()} == pytest.approx(expected.to_dict())


def test_users_without_a_segment_are_a_part_of_their_own() -> None:
    users = pd.DataFrame({"user": ["u002", "u004"], "age": [30, None], "plan": pd.Categorical(["b", "a"])})
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, users=users)
    state = explorer_state({"": ev})
    state.choose_segment("plan")
    assert state.parts is not None
    assert state.parts.labels == ("a", "b", "none given")
    assert [bar.count for bar in state.means_of_parts()] == [1, 1, EV.n_users - 2]
    state.sort("segment")
    assert state.to_frame()["plan"].iloc[:2].tolist() == ["a", "b"]


def test_numbers_part_users_in_their_own_order() -> None:
    users = pd.DataFrame(
        {"user": SAMPLE.users["user"], "level": [n % 12 for n in range(300)], "paid": [n % 2 == 0 for n in range(300)]}
    )
    state = explorer_state({"": recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, users=users)})
    state.choose_segment("level")
    assert state.parts is not None
    assert state.parts.labels == tuple(map(str, range(12)))
    expected = EV.ndcg(k=10).per_user.groupby(users.set_index("user")["level"]).mean()
    np.testing.assert_allclose([bar.share for bar in state.means_of_parts()], expected)
    state.choose_segment("paid")
    assert state.parts.labels == ("false", "true")


def test_what_is_refused_changes_nothing() -> None:
    state = one(metric="rbp")
    before = users_table(state)
    assert not state.ask(p=3.0)
    assert "p=3.0" in state.problem
    assert "p=3.0" in summary(state)
    assert not state.ask(k=0)
    assert not state.ask(metric="ndgc")
    assert not state.ask(gain="linear")
    assert users_table(state) == before
    assert (state.metric.name, state.k, state.options) == ("rbp", 10, {})
    assert state.ask(p=0.5)
    assert state.problem == ""
    for wrong in ({"metric": "ndgc"}, {"k": 0}, {"options": {"gian": 1}}, {"lang": "xx"}):
        with pytest.raises(RecnbError):
            one(**wrong)
    for call in (
        lambda: state.choose_model("x"),
        lambda: state.choose_segment("x"),
        lambda: state.choose_shape("difference"),
    ):
        with pytest.raises(OptionError):
            call()
    with pytest.raises(OptionError):
        explorer_state({})


def test_picked_bars_are_let_go_where_there_are_others() -> None:
    state = one()
    state.pick_bar(2)
    state.ask(k=5)
    assert state.picked == {2}
    state.ask(metric="dcg")
    assert state.picked == frozenset()
    state.pick_bar(99)
    assert state.picked == frozenset()


def test_pages_end() -> None:
    state = one()
    state.turn(10_000)
    assert state.page == state.pages - 1
    assert len(state.on_page()) == EV.n_users - PAGE * (state.pages - 1)
    state.turn(-3)
    assert state.page == 0
    state.search("no such user")
    empty = users_table(state)
    assert empty["rows"] == []
    assert empty["pages"] == 1
    assert empty["range"] == "no user matches"
    assert "no user matches" in still(state)
    state.show_all()
    assert users_table(state)["range"] == "1–20 of 261"


def test_columns_of_one_name_are_kept_apart() -> None:
    users = SAMPLE.users.rename(columns={"branch": "hits"})[["user", "hits"]]
    state = explorer_state({"": recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, users=users)})
    state.choose_segment("hits")
    assert list(state.to_frame()) == ["value", "hits", "relevant", "length", "hits (segment)"]


def test_users_sorted_by_their_segment_are_sorted_by_value_again_if_another_is_chosen() -> None:
    state = one()
    state.choose_segment("branch")
    state.sort("segment")
    assert state.sorting == "segment"
    state.choose_segment("joined")
    assert (state.sorting, state.descending) == ("value", True)
