"""The explorer's view without a browser: what controls and messages do to the state, and what is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

import recnb
from recnb.widgets.explorer import explorer
from recnb.widgets.explorer.view import Explorer

SAMPLE = recnb.datasets.load_sample()
EVALUATIONS = {
    name: recnb.evaluate(recs, SAMPLE.test, users=SAMPLE.users, items=SAMPLE.items)
    for name, recs in SAMPLE.models.items()
}
EV = EVALUATIONS["item-knn"]


def send(one: Explorer, **message: Any) -> None:
    """What the browser would send."""
    one.table._handle_custom_msg(message, [])


def test_controls_ask_and_the_numbers_follow() -> None:
    one = EV.explore()
    assert f"{float(EV.ndcg(k=10)):.4f}" in one.summary.value
    one.k.value = 4
    assert f"{float(EV.ndcg(k=4)):.4f}" in one.summary.value
    assert one.table.shown["columns"][1]["label"] == "nDCG@4"
    one.metric.value = "precision"
    (out_of,) = one.options.children
    assert out_of.options == ("k", "list", "min(k, relevant)")
    out_of.value = "min(k, relevant)"
    expected = EV.precision(k=4, out_of="min(k, relevant)")
    assert f"{float(expected):.4f}" in one.summary.value
    assert out_of is one.options.children[0], "a control that is used is not made anew"
    one.whole.value = True
    assert one.k.disabled
    assert f"{float(EV.precision(out_of='min(k, relevant)')):.4f}" in one.summary.value
    one.whole.value = False
    assert one.state.k == 4
    one.metric.value = "recall"
    assert one.state.options == {"out_of": "min(k, relevant)"}, "an option that both metrics have stays"
    one.options.children[0].value = "relevant"
    one.metric.value = "precision"
    assert one.options.children[0].value == "k", "a word that the other metric does not have is let go"
    assert one.state.mean() == pytest.approx(float(EV.precision(k=4)))


def test_what_is_refused_is_said_and_the_control_goes_back() -> None:
    one = EV.explore("rbp")
    one.options.children[0].value = 7.0
    assert one.options.children[0].value == 0.8
    assert "p=7.0" in one.summary.value
    assert 'role="alert"' in one.summary.value
    one.k.value = 5
    assert 'role="alert"' not in one.summary.value


def test_err_starts_from_the_scale_of_the_truth() -> None:
    one = EV.explore("err")
    (top,) = one.options.children
    assert (top.description, top.value) == ("max_relevance", 5.0)
    before = one.summary.value
    top.value = 6.0
    assert one.state.mean() == pytest.approx(float(EV.err(k=10, max_relevance=6)))
    assert one.summary.value != before


def test_a_message_that_names_a_row_opens_the_user() -> None:
    one = EV.explore()
    row = one.table.shown["rows"][3]
    send(one, kind="pick", at=row["at"])
    assert one.state.user == row["cells"][0]
    assert one.table.shown["chosen"] == row["at"]
    assert row["cells"][1] in one.detail.value
    assert EV.explain("ndcg", row["cells"][0], k=10)._repr_html_() in one.detail.value
    one.k.value = 3
    assert EV.explain("ndcg", row["cells"][0], k=3)._repr_html_() in one.detail.value


def test_messages_search_sort_turn_and_pick() -> None:
    one = EV.explore()
    assert len(one.table.shown["rows"]) == 20
    send(one, kind="turn", page=13)
    assert one.table.shown["range"] == "261–261 of 261"
    send(one, kind="sort", column="hits")
    assert [column["sort"] for column in one.table.shown["columns"]] == ["none", "none", "descending", "none", "none"]
    send(one, kind="sort", column="hits")
    assert one.table.shown["columns"][2]["sort"] == "ascending"
    send(one, kind="search", text="U01")
    assert all("u01" in row["cells"][0] for row in one.table.shown["rows"])
    send(one, kind="bar", at=0)
    assert one.table.shown["bars"]["items"][0]["picked"]
    assert {row["cells"][1] for row in one.table.shown["rows"]} == {"0.0000"}
    one.segment.value = "segment"
    assert one.table.shown["columns"][-1]["label"] == "segment"
    send(one, kind="part", at=1)
    assert {row["cells"][-1] for row in one.table.shown["rows"]} <= {"new"}
    assert "segment" in one.summary.value
    assert one.table.shown["filtered"]
    send(one, kind="all")
    assert not one.table.shown["filtered"]
    assert one.table.shown["search"] == ""
    one.segment.value = ""
    assert one.table.shown["parts"] is None


BAD: list[Any] = [
    None, "pick", [], {}, {"kind": "pick"}, {"kind": "pick", "at": "1"}, {"kind": "pick", "at": -1}, {"kind": "pick", "at": True},
    {"kind": "pick", "at": 1.0}, {"kind": "pick", "at": 10**9}, {"kind": "turn", "page": "2"}, {"kind": "turn", "page": -1},
    {"kind": "bar", "at": 99}, {"kind": "part", "at": 0}, {"kind": "search", "text": 5}, {"kind": "sort", "column": "__class__"},
    {"kind": "sort", "column": "value:99"}, {"kind": ["pick"], "at": 1}, {"kind": "show_all"},
]  # fmt: skip


@pytest.mark.parametrize("message", BAD, ids=str)
def test_messages_that_make_no_sense_are_ignored(message: Any) -> None:
    one = EV.explore()
    before = json.dumps(one.table.shown), one.detail.value, one.summary.value
    one.table._handle_custom_msg(message, [])
    assert (json.dumps(one.table.shown), one.detail.value, one.summary.value) == before


def test_a_user_who_is_not_on_the_page_is_not_picked() -> None:
    one = EV.explore()
    hidden = int(one.state.shown()[40])
    before = one.state.user
    send(one, kind="pick", at=hidden)
    assert one.state.user == before


def test_the_browser_cannot_say_what_is_shown() -> None:
    one = EV.explore()
    before = dict(one.table.shown)
    one.table.set_state({"shown": {"rows": []}, "words": {}})
    assert one.table.shown == before
    assert one.table.words["search"] == "Search users"


def test_sorting_sends_a_page_and_no_explanation_again(monkeypatch: pytest.MonkeyPatch) -> None:
    one = EV.explore()
    sent: list[Any] = []
    one.table.observe(lambda change: sent.append(change["new"]), "shown")
    monkeypatch.setattr("recnb.widgets.explorer.shown.detail", None)
    send(one, kind="sort", column="relevant")
    send(one, kind="turn", page=2)
    assert len(sent) == 2
    assert all(len(json.dumps(page)) < 5_000 for page in sent)


def test_several_models_have_controls_of_their_own() -> None:
    one = explorer({name: one._data for name, one in EVALUATIONS.items()}, "recall", 5)
    assert one.model in one.controls.children
    assert one.model.value == "item-knn"
    one.model.value = "factors"
    assert one.other.value == "item-knn"
    one.other.value = "popular"
    columns = [column["label"] for column in one.table.shown["columns"]]
    assert columns == ["user", "item-knn", "factors", "popular", "difference", "hits", "relevant", "list length"]
    for row in one.table.shown["rows"]:
        assert float(row["cells"][4]) == pytest.approx(float(row["cells"][2]) - float(row["cells"][3]), abs=2e-4)
    assert "factors − popular" in one.table.shown["bars"]["title"]
    one.shape.value = "value"
    assert one.table.shown["bars"]["title"] == "261 users by Recall@5, factors"
    assert EV.explore().model not in EV.explore().controls.children


def test_it_is_stored_as_a_still_picture() -> None:
    one, again = EV.explore(), EV.explore()
    bundle = one._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    html = bundle["text/html"]
    assert html == again._repr_mimebundle_()["text/html"]
    assert bundle["text/plain"] == repr(again)
    for words in ("<script", "<style", "http", "javascript:", "<svg"):
        assert words not in html
    assert f"{float(EV.ndcg(k=10)):.4f}" in html
    for row in one.table.shown["rows"]:
        assert row["cells"][0] in html
    assert EV.explain("ndcg", one.state.user, k=10)._repr_html_() in html
    assert " at 0x" not in repr(one)
    assert repr(one).startswith("nDCG@10 = 0.2589 (261 users")


def test_it_speaks_korean_whatever_the_setting_is_later() -> None:
    one = EV.explore(lang="ko")
    one.k.value = 3
    assert "사용자" in one.summary.value
    assert one.metric.description == "지표"
    assert one.table.words["search"] == "사용자 찾기"
    assert one.children[-1].lang == "ko"
    assert "추천 목록" in one._repr_mimebundle_()["text/html"]


def test_a_column_of_which_there_are_two_is_refused_where_it_is_chosen() -> None:
    truth = SAMPLE.test.assign(age=[2 * int(user[1:]) for user in SAMPLE.test["user"]])
    users = SAMPLE.users.assign(age=range(len(SAMPLE.users)))
    one = recnb.evaluate(SAMPLE.models["item-knn"], truth, users=users).explore()
    one.segment.value = "age"
    assert "is a column of users= and of the truth, and they differ" in one.summary.value
    assert one.segment.value == ""
    one.segment.value = "branch"
    assert "they differ" not in one.summary.value
