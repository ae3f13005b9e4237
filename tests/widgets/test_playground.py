"""The playground without its view, by hand: what it takes, what it refuses, what it says."""

import math

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.display.language import _, use_language
from recnb.errors import CutoffError, FrameError, OptionError, RecnbError
from recnb.widgets import PlaygroundState
from recnb.widgets.playground.view import still

NASTY = ["<script>alert(1)</script>", "$x$ and $y$", 'a "quoted" name', "שלום", "🎬", "x" * 5000, 7]


# By hand.


def test_the_example_by_hand():
    state = PlaygroundState()
    assert state.order == ("A", "B", "C", "D", "E", "F")
    assert state.outside == ("G",)
    values = {name: one.now for name, one in state.values().items()}
    assert values["precision"] == 3 / 6
    assert values["recall"] == 3 / 4
    assert values["average_precision"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 4)
    ideal = 3 + 2 / math.log2(3) + 2 / 2 + 1 / math.log2(5)
    assert values["ndcg"] == pytest.approx((2 + 3 / 2 + 1 / math.log2(6)) / ideal)
    assert state.focus == "ndcg"


def test_a_move_by_hand():
    state = PlaygroundState(["A", "B", "X", "C"], {"A": 1, "C": 3}, ["dcg"])
    state.move("C", 1)
    assert state.order == ("C", "A", "B", "X")
    assert state.values()["dcg"].change == pytest.approx(3 + 1 / math.log2(3) - 1 - 3 / math.log2(5))
    first, second = state.changed().terms
    assert (first.item, first.before.text, first.now.text) == ("C", "3/log2(1+4)", "3/log2(1+1)")
    assert first.change == pytest.approx(3 - 3 / math.log2(5))
    assert (second.item, second.before.rank, second.now.rank) == ("A", 1, 2)
    assert state.sentence() == (
        "C moved from rank 4 to rank 1. Its term went from 3/log2(1+4) = 1.2920 to 3/log2(1+1) = 3. "
        "1 other term changed, A: 1/log2(1+1) = 1 → 1/log2(1+2) = 0.6309. DCG@4: 2.2920 → 3.6309 (+1.3389)."
    )
    assert state.announcement() == "C, now rank 1 of 4. DCG@4: 2.2920 → 3.6309 (+1.3389)."


def test_the_sentence_says_sum_and_divisor_where_there_is_one():
    state = PlaygroundState(["A", "B"], {"B": 2}, ["ndcg"], k=2)
    state.set_relevance("A", 1)
    said = state.sentence()
    assert "The relevance of A went from 0 to 1. Its term went from 0 to 1/log2(1+1) = 1." in said
    assert "The sum went from 1.2619 to 2.2619 (+1.0000). What it is divided by went from 2 to 2.6309." in said
    assert said.endswith("nDCG@2: 0.6309 → 0.8597 (+0.2288).")


def test_in_korean():
    state = PlaygroundState(lang="ko")
    state.move("C", 1)
    said = state.sentence()
    assert said.startswith("C: 3위에서 1위로 옮겼다. 이 아이템의 항: 3/log2(1+3) = 1.5 → 3/log2(1+1) = 3.")
    assert "nDCG@6: 0.6828 → 0.8166 (+0.1338)." in said
    assert "moved" not in said
    assert state.announcement().startswith("C, 이제 6개 중 1위.")


@pytest.mark.parametrize("lang", ("en", "ko"))
def test_every_step_is_said(lang):
    state = PlaygroundState(lang=lang, metrics=["recall", "ndcg"])
    with use_language(lang):
        assert state.sentence() == _("Move an item to see what changes.")
    said = [state.sentence()]
    for act in (
        lambda: state.move("B", 2 + 2), lambda: state.reorder(state.order[::-1]), lambda: state.set_relevance("B", 1.5), lambda: state.set_k(3),
        lambda: state.set_gain("exponential"), state.undo, state.reset,
    ):  # fmt: skip
        act()
        said.append(state.sentence())
        assert state.announcement()
    assert len(set(said)) == len(said)


def test_a_move_that_changes_no_term_says_so():
    state = PlaygroundState(["A", "B", "C"], ["A"], ["ndcg", "precision"])
    state.move("B", 3)
    assert state.sentence() == (
        "B moved from rank 2 to rank 3. Its own term did not change. The sum stays 1.0000. Precision@3 stays 0.3333."
    )


# What it takes.


def test_grades_alone_are_named_by_letters():
    state = PlaygroundState([3, 2, 0, 1])
    assert state.order == ("A", "B", "C", "D")
    assert state.relevance == {"A": 3, "B": 2, "C": 0, "D": 1}
    assert state.values()["ndcg"].now == float(recnb.ndcg([3, 2, 0, 1]))
    assert PlaygroundState([1] * 30).order[-1] == "#30"


@pytest.mark.parametrize(
    "truth", (["b", "z"], {"b", "z"}, {"b": 1, "z": 1, "q": 0}, ("b", "z"), pd.Series(["b", "z"]), np.array(["b", "z"]))
)
def test_a_truth_as_recnb_takes_it(truth):
    state = PlaygroundState(["a", "b", "c"], truth)
    assert state.relevance["b"] == state.relevance["z"] == 1
    assert "z" in state.outside
    for name, one in state.values().items():
        assert one.now == float(getattr(recnb, name)(["a", "b", "c"], truth)), name


def test_judged_items_outside_the_list_can_become_relevant():
    state = PlaygroundState(["a", "b"], {"a": 1, "q": 0})
    assert state.outside == ("q",)
    state.set_relevance("q", 2)
    assert state.values()["recall"].now == 0.5
    assert state.order == ("a", "b")


def test_equal_relevance_is_decided_by_the_order_of_the_truth():
    state = PlaygroundState(["a", "b"], {"b": 1, "a": 1}, ["reciprocal_rank", "ndcg"])
    assert state.explanation("ndcg").ideal["item"].tolist() == ["b", "a"]
    state.move("b", 1)
    assert state.explanation("ndcg").ideal["item"].tolist() == ["b", "a"]


def test_metrics_with_options_of_their_own():
    state = PlaygroundState(["a", "b"], {"b": 2}, {"ndcg": {"discount": "rank"}, "fbeta": {"beta": 2}})
    assert state.values()["ndcg"].now == float(recnb.ndcg(["a", "b"], {"b": 2}, discount="rank"))
    assert state.values()["fbeta"].now == float(recnb.fbeta(["a", "b"], {"b": 2}, beta=2))
    assert not PlaygroundState([1], metrics={"ndcg": {"gain": "binary"}}).has_gain


def test_an_alias_and_a_single_metric():
    state = PlaygroundState([0, 1], metrics="mrr")
    assert state.focus == "reciprocal_rank"
    assert not state.has_gain


@pytest.mark.parametrize(
    "arguments, error, says",
    (
        ((["a", "a"], ["a"]), RecnbError, "more than once"),
        ((["a", "b"],), RecnbError, "needs its truth"),
        (([],), RecnbError, "empty"),
        (([], ["a"]), RecnbError, "empty"),
        ((None, ["a"]), RecnbError, "without a ranking"),
        (("abc", ["a"]), RecnbError, "give a list"),
        (({"a": 1},), RecnbError, "no order"),
        ((pd.DataFrame({"item": [1]}),), RecnbError, "one list"),
        (([["a"], ["b"]], [["a"], ["b"]]), RecnbError, "one list"),
        (([1, -1],), RecnbError, "a number from 0 up"),
        ((["a"], {"a": "much"}), RecnbError, "a number from 0 up"),
        (([1, 2], ["1"]), RecnbError, "never match"),
        ((list(range(1, 102)), [1]), RecnbError, "moves by hand"),
        ((None, None, ["ndgc"]), OptionError, "Did you mean 'ndcg'"),
        ((None, None, []), OptionError, "at least one"),
        ((None, None, ["ndcg", "ndcg"]), OptionError, "more than once"),
    ),
)
def test_what_cannot_be_played_with_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        PlaygroundState(*arguments)


@pytest.mark.parametrize("k", (0, -1, 1.5, "3", True))
def test_a_k_that_cuts_nothing_is_refused(k):
    with pytest.raises(CutoffError):
        PlaygroundState(k=k)
    with pytest.raises(CutoffError):
        PlaygroundState().set_k(k)


def test_a_k_below_the_list_counts_places_that_are_empty():
    state = PlaygroundState(["a", "b"], ["a", "z"], k=4)
    assert state.values()["precision"].now == 1 / 4
    assert state.values()["ndcg"].now == float(recnb.ndcg(["a", "b"], ["a", "z"], k=4))


@pytest.mark.parametrize(
    "act, says",
    (
        (lambda state: state.move("Z", 1), "not an item"),
        (lambda state: state.move("G", 1), "not an item"),
        (lambda state: state.move("A", 0), "ranks 1 to 6"),
        (lambda state: state.move("A", 7), "ranks 1 to 6"),
        (lambda state: state.move("A", True), "ranks 1 to 6"),
        (lambda state: state.reorder("ABCDE"), "once each"),
        (lambda state: state.reorder("ABCDEE"), "once each"),
        (lambda state: state.reorder("ABCDEG"), "once each"),
        (lambda state: state.set_relevance("Z", 1), "not an item"),
        (lambda state: state.set_relevance("A", -1), "a number from 0 up"),
        (lambda state: state.set_relevance("A", math.nan), "a number from 0 up"),
        (lambda state: state.set_relevance("A", "3"), "a number from 0 up"),
        (lambda state: state.set_gain("exponental"), "Did you mean 'exponential'"),
        (lambda state: state.look_at("dcg"), "not among the metrics"),
        (lambda state: state.look_at("ndgc"), "Did you mean 'ndcg'"),
    ),
)
def test_what_cannot_be_done_changes_nothing(act, says):
    state = PlaygroundState()
    state.move("C", 1)
    before, told = (state.setting, list(state.past), state.step, state.focus), []
    state.watchers.append(lambda: told.append(1))
    with pytest.raises(RecnbError, match=says):
        act(state)
    assert (state.setting, state.past, state.step, state.focus) == before
    assert told == []


def test_what_no_metric_can_be_worked_out_for_is_refused_whole():
    state = PlaygroundState(gain="exponential")
    before = state.setting
    with pytest.raises(RecnbError, match="too large"):
        state.set_relevance("A", 2000)
    assert state.setting == before
    state.set_gain("linear")
    state.set_relevance("A", 2000)
    with pytest.raises(RecnbError, match="too large"):
        state.set_gain("exponential")
    assert state.gain == "linear"


def test_items_may_be_any_text():
    state = PlaygroundState(NASTY, {NASTY[5]: 2, 7: 1}, ["ndcg"])
    state.move(NASTY[5], 1)
    assert len(state.sentence()) < 500
    assert state.values()["ndcg"].now == float(recnb.ndcg(state.order, state.relevance))


# The hand that slides, moves, and what is told.


def test_what_a_slider_passes_is_one_step():
    state = PlaygroundState()
    for k in (5, 4, 3):
        state.set_k(k, sliding=True)
    assert len(state.past) == 1
    assert state.sentence().startswith("The cut-off k went from 6 to 3.")
    state.undo()
    assert state.k == 6
    for k in (5, 6):
        state.set_k(k, sliding=True)
    assert state.past == []
    state.set_k(5)
    state.set_k(4)
    assert len(state.past) == 2


@pytest.mark.parametrize("moved", (None, "B", "C"))
def test_the_item_that_moved_is_the_one_said_to_have_where_there_is_a_choice(moved):
    state = PlaygroundState()
    state.reorder("ACBDEF", moved=moved)
    assert state.step.kind == "move"
    assert state.step.item == (moved or "B")


def test_a_wrong_guess_of_what_moved_is_not_believed():
    state = PlaygroundState()
    state.reorder("CABDEF", moved="A")
    assert state.step.item == "C"
    state.reorder("FEDBAC", moved="A")
    assert state.step.kind == "order"


def test_what_stays_the_same_is_no_step():
    state = PlaygroundState(k=3)
    told = []
    state.watchers.append(lambda: told.append(state.setting))
    state.move("A", 1)
    state.reorder(state.order)
    state.set_relevance("A", 2)
    state.set_k(3)
    state.set_gain("linear")
    state.undo()
    state.reset()
    assert state.past == []
    assert told == []
    state.move("A", 2)
    state.look_at("recall")
    assert len(told) == 2


def test_frames_and_truths_of_the_caller_are_not_changed():
    ranking, truth = ["a", "b"], {"a": 1, "z": 2}
    state = PlaygroundState(ranking, truth)
    state.move("b", 1)
    state.set_relevance("z", 5)
    state.relevance["a"] = 9
    assert (ranking, truth, state.relevance["a"]) == (["a", "b"], {"a": 1, "z": 2}, 1)


def test_the_repr_stands_alone():
    assert repr(PlaygroundState(k=3)) == (
        "Playground: 6 items, k=3, linear gain; relevance in brackets\n"
        "  1. A (2), 2. B (0), 3. C (3), 4. D (0), 5. E (1), 6. F (0)\n"
        "  not in the list: G (2)\n"
        "  Precision@3 0.6667, Recall@3 0.5000, AP@3 0.4167, nDCG@3 0.6652"
    )


# Titles of items.

TITLES = {"m1": "Alien", "m3": "Brazil <b>"}


@pytest.mark.parametrize(
    "items",
    (
        TITLES,
        pd.DataFrame({"item": list(TITLES), "Title": list(TITLES.values())}),
        pd.DataFrame({"movieId": ["m1", "m2", "m3"], "name": ["Alien", None, "Brazil <b>"]}),
    ),
)
def test_items_are_shown_by_their_titles(items):
    state = PlaygroundState(["m1", "m2"], {"m2": 1, "m3": 2}, ["recall"], items=items)
    assert [state.name(item) for item in state.items] == ["Alien (m1)", "m2", "Brazil <b> (m3)"]
    state.move("m1", 2)
    assert state.sentence().startswith("Alien (m1) moved from rank 1 to rank 2.")
    assert state.order == ("m2", "m1")
    shown = still(state)
    assert "<bdi>Alien</bdi>" in shown
    assert "Brazil <b> (m3)" in repr(state.explanation())
    assert "<bdi>Brazil &lt;b&gt;</bdi>" in shown


def test_a_frame_without_titles_is_refused():
    with pytest.raises(FrameError, match="no column of titles: name one of its columns 'title'"):
        PlaygroundState(["a"], ["a"], items=pd.DataFrame({"item": ["a"], "genre": ["x"]}))
