"""The playground: what it takes and refuses, what it says, what its controls do, and laws that hold after any steps."""

from __future__ import annotations

import html as markup
import math
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.display.language import _, use_language
from recnb.errors import CutoffError, OptionError, RecnbError
from recnb.widgets import Playground
from tests.examples import examples

NASTY = ["<script>alert(1)</script>", "$x$ and $y$", "a \"quoted\" 'name'", "שלום", "🎬", "x" * 5000, 7]
ITEMS = tuple("ABCDEF")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.sampled_from([*ITEMS, "G"]), st.integers(1, 6)),
        st.tuples(st.just("remove"), st.sampled_from(ITEMS)),
        st.tuples(st.just("relevance"), st.sampled_from([*ITEMS, "G"]), st.sampled_from((0, 0.5, 1, 2, 3))),
        st.tuples(st.just("k"), st.integers(1, 9)),
        st.tuples(st.just("gain"), st.sampled_from(("linear", "exponential", "binary"))),
        st.tuples(st.just("order"), st.permutations([*ITEMS, "G"])),
        st.tuples(st.sampled_from(("undo", "reset"))),
    ),
    max_size=8,
)


def do(play: Playground, name: str, *given: Any) -> None:
    """Do a step; a rank that the list does not have, and the last item, are left as they are."""
    if name == "relevance":
        play.change(relevance={given[0]: given[1]})
    elif name in ("k", "gain", "order"):
        play.change(**{name: given[0]})
    elif name == "move":
        play.move(given[0], min(given[1], len({*play.now.order, given[0]})))
    elif name != "remove" or play.now.order != (given[0],):
        getattr(play, name)(*given)


def after(steps: list[Any], **options: Any) -> Playground:
    play = Playground(**options)
    for step in steps:
        do(play, *step)
    return play


def shown(html: str) -> str:
    """The text of HTML."""
    return " ".join(markup.unescape(re.sub(r"<[^>]*>", " ", html)).split())


# By hand.


def test_the_example_by_hand() -> None:
    play = recnb.playground()
    assert (play.now.order, play.outside, play.focus) == (ITEMS, ("G",), "ndcg")
    ideal = 3 + 2 / math.log2(3) + 2 / 2 + 1 / math.log2(5)
    by_hand = [3 / 6, 3 / 4, (1 / 1 + 2 / 3 + 3 / 5) / 4, (2 + 3 / 2 + 1 / math.log2(6)) / ideal]
    assert play.table().now.tolist() == pytest.approx(by_hand)
    assert repr(Playground(k=3)) == (
        "Playground: 6 items, k=3, linear gain; relevance in brackets\n"
        "  1. A (2), 2. B (0), 3. C (3), 4. D (0), 5. E (1), 6. F (0)\n"
        "  not in the list: G (2)\n"
        "  Precision@3 0.6667, Recall@3 0.5000, AP@3 0.4167, nDCG@3 0.6652"
    )


def test_a_move_by_hand() -> None:
    play = Playground(["A", "B", "X", "C"], {"A": 1, "C": 3}, ["dcg"])
    play.move("C", 1)
    assert play.now.order == ("C", "A", "B", "X")
    assert play.table().change["dcg"] == pytest.approx(3 + 1 / math.log2(3) - 1 - 3 / math.log2(5))
    assert [(term.item, term.before.text, term.now.text) for term in play.terms()] == [
        ("C", "3/log2(1+4)", "3/log2(1+1)"),
        ("A", "1/log2(1+1)", "1/log2(1+2)"),
    ]
    assert play.terms()[0].change == pytest.approx(3 - 3 / math.log2(5))
    assert play.sentence() == (
        "C moved from rank 4 to rank 1. 2 terms changed, C: 3/log2(1+4) = 1.2920 → 3/log2(1+1) = 3; "
        "A: 1/log2(1+1) = 1 → 1/log2(1+2) = 0.6309. DCG@4: 2.2920 → 3.6309 (+1.3389)."
    )


def test_a_missed_item_is_taken_in_and_put_out_again() -> None:
    play = Playground(["A", "B"], {"A": 1, "G": 2}, k=2)
    play.move("G", 1)
    assert (play.now.order, play.outside, play.now.k) == (("G", "A", "B"), (), 2)
    assert play.action == "G came into the list, at rank 1."
    assert play.table().now["recall"] == 1
    play.remove("G")
    assert (play.now, play.outside) == (play.first, ("G",))
    assert play.action == "G was put out of the list, from rank 1."
    play.remove("B")
    with pytest.raises(RecnbError, match="holds some of the items"):
        play.remove("A")
    assert play.now.order == ("A",)


STEPS_SAID = {
    "The relevance of A went from 0 to 1. 1 term changed, A: 0 → 1/log2(1+1) = 1. The sum went from 1.2619 to 2.2619 "
    "(+1.0000). What it is divided by went from 2 to 2.6309. nDCG@2: 0.6309 → 0.8597 (+0.2288).": {"relevance": {"A": 1}},
    "The cut-off k went from 2 to 1. 1 term changed, B: 2/log2(1+2) = 1.2619 → 0. The sum went from 1.2619 to 0.0000 "
    "(-1.2619). nDCG@1: 0.6309 → 0.0000 (-0.6309).": {"k": 1},
    "The list was put in another order. 1 term changed, B: 2/log2(1+2) = 1.2619 → 2/log2(1+1) = 2. The sum went from 1.2619 "
    "to 2.0000 (+0.7381). nDCG@2: 0.6309 → 1.0000 (+0.3691).": {"order": "BA"},
    "The gain is binary instead of linear. 1 term changed, B: 2/log2(1+2) = 1.2619 → 1/log2(1+2) = 0.6309. The sum went "
    "from 1.2619 to 0.6309 (-0.6309). What it is divided by went from 2 to 1. nDCG@2 stays 0.6309.": {"gain": "binary"},
}  # fmt: skip


@pytest.mark.parametrize("said", STEPS_SAID)
def test_a_step_is_said_with_its_terms_their_sum_and_the_metric(said: str) -> None:
    play = Playground(["A", "B"], {"B": 2}, ["ndcg"], k=2)
    play.change(**STEPS_SAID[said])
    assert play.sentence() == said


@pytest.mark.parametrize("lang", ("en", "ko"))
def test_every_step_is_said_in_its_language(lang: str) -> None:
    play = Playground(lang=lang, metrics=["recall", "ndcg"])
    with use_language(lang):
        assert play.sentence() == _("Move an item to see what changes.")
    said = [play.sentence()]
    for step in (("move", "B", 4), ("order", "FEDCBA"), ("relevance", "B", 1.5), ("k", 3), ("undo",), ("reset",)):
        do(play, *step)
        said.append(play.sentence())
    assert len(set(said)) == len(said)
    if lang == "ko":
        play.move("C", 1)
        assert play.action == "C: 3위에서 1위로 옮겼다."
        assert "컷오프 k = 6" in shown(play._repr_html_())


def test_a_move_that_changes_no_term_says_so() -> None:
    play = Playground(["A", "B", "C"], ["A"], ["ndcg", "precision"])
    play.move("B", 3)
    assert play.sentence() == "B moved from rank 2 to rank 3. Precision@3 stays 0.3333."


# What it takes.


def test_grades_alone_are_named_by_letters() -> None:
    play = Playground([3, 2, 0, 1])
    assert play.now.relevance == {"A": 3, "B": 2, "C": 0, "D": 1}
    assert play.table().now["ndcg"] == float(recnb.ndcg([3, 2, 0, 1]))
    assert Playground([1] * 30).now.order[-1] == "#30"


TRUTHS = (["b", "z"], {"b", "z"}, {"b": 1, "z": 1, "q": 0}, ("b", "z"), pd.Series(["b", "z"]), np.array(["b", "z"]))


@pytest.mark.parametrize("truth", TRUTHS)
def test_a_truth_as_recnb_takes_it(truth: Any) -> None:
    play = Playground(iter("abc"), truth)
    assert play.now.relevance["b"] == play.now.relevance["z"] == 1
    assert "z" in play.outside
    for name, value in play.table().now.items():
        assert value == float(getattr(recnb, str(name))(["a", "b", "c"], truth)), name


def test_equal_relevance_is_decided_by_the_order_of_the_truth() -> None:
    play = Playground(["a", "b"], {"b": 1, "a": 1}, ["reciprocal_rank", "ndcg"])
    for _step in range(2):
        ideal = play.explain("ndcg").ideal
        assert ideal is not None
        assert ideal["item"].tolist() == ["b", "a"]
        play.move("b", 1)


def test_metrics_with_options_of_their_own() -> None:
    play = Playground(["a", "b"], {"b": 2}, {"ndcg": {"discount": "rank"}, "fbeta": {"beta": 2}})
    assert play.table().now["ndcg"] == float(recnb.ndcg(["a", "b"], {"b": 2}, discount="rank"))
    assert play.table().now["fbeta"] == float(recnb.fbeta(["a", "b"], {"b": 2}, beta=2))
    assert not Playground([1], metrics={"ndcg": {"gain": "binary"}}).has_gain
    mrr = Playground([0, 1], metrics="mrr")
    assert (mrr.focus, mrr.has_gain) == ("reciprocal_rank", False)


REFUSED: tuple[tuple[tuple[Any, ...], type[Exception], str], ...] = (
    ((["a", "a"], ["a"]), RecnbError, "more than once"),
    ((["a", "b"],), RecnbError, "needs its truth"),
    (([],), RecnbError, "empty"),
    (([], ["a"]), RecnbError, "from 1 to 100"),
    ((None, ["a"]), RecnbError, "without a ranking"),
    (("abc", ["a"]), RecnbError, "give a list"),
    (({"a": 1},), RecnbError, "no order"),
    ((pd.DataFrame({"item": [1]}),), RecnbError, "is a frame"),
    (([["a"], ["b"]], [["a"], ["b"]]), RecnbError, "one list"),
    (([1, -1],), RecnbError, "a number from 0 up"),
    ((["a"], {"a": "much"}), RecnbError, "a number from 0 up"),
    (([1, 2], ["1"]), RecnbError, "never match"),
    ((list(range(1, 102)), [1]), RecnbError, "moved by hand"),
    ((None, None, ["ndgc"]), OptionError, "Did you mean 'ndcg'"),
    ((None, None, []), OptionError, "at least one"),
    ((None, None, ["ndcg", "ndcg"]), OptionError, "more than once"),
)


@pytest.mark.parametrize("arguments, error, says", REFUSED)
def test_what_cannot_be_played_with_is_refused(arguments: tuple[Any, ...], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        Playground(*arguments)
    with pytest.raises(RecnbError, match=r"dict\(zip\("):
        Playground(items=pd.DataFrame({"item": ["a"]}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "act, says",
    (
        (lambda play: play.move("Z", 1), "not an item"), (lambda play: play.move("A", 0), "ranks 1 to 6"),
        (lambda play: play.move("A", 7), "ranks 1 to 6"), (lambda play: play.move("G", 8), "ranks 1 to 7"),
        (lambda play: play.move("A", True), "ranks 1 to 6"), (lambda play: play.remove("Z"), "not an item"),
        (lambda play: play.change(order="ABCDEE"), "each once"), (lambda play: play.change(order="ABZ"), "some of the items"),
        (lambda play: play.change(order=""), "each once"), (lambda play: play.change(relevance={"Z": 1}), "not an item"),
        (lambda play: play.change(relevance={"A": -1}), "a number from 0 up"),
        (lambda play: play.change(relevance={"A": math.nan}), "a number from 0 up"),
        (lambda play: play.change(relevance={"A": "3"}), "a number from 0 up"),
        (lambda play: play.change(gain="exponental"), "Did you mean 'exponential'"), (lambda play: play.look_at("dcg"), "not among"),
        (lambda play: play.change(relevance={"A": 2000}, gain="exponential"), "too large"),
        *((lambda play, k=k: play.change(k=k), "k=") for k in (0, -1, 1.5, "3", True)),
    ),
)  # fmt: skip
def test_what_cannot_be_done_changes_nothing(act: Callable[[Playground], None], says: str) -> None:
    play = Playground()
    play.move("C", 1)
    before = play.now, [*play.past], play.before, play.action, play.focus
    with pytest.raises(RecnbError, match=says):
        act(play)
    assert (play.now, play.past, play.before, play.action, play.focus) == before


@pytest.mark.parametrize("k", (0, -1, 1.5, "3", True))
def test_a_k_that_cuts_nothing_is_refused(k: Any) -> None:
    with pytest.raises(CutoffError):
        Playground(k=k)


def test_what_a_slider_passes_is_one_step() -> None:
    play = Playground()
    for k in (5, 4, 3):
        play.change(k=k)
    assert (len(play.past), play.action) == (1, "The cut-off k went from 6 to 3.")
    play.change(k=6)
    assert (play.past, play.now, play.before) == ([], play.first, play.first)
    play.change(k=5)
    play.move("A", 2)
    play.change(k=4)
    assert len(play.past) == 3


def test_what_stays_the_same_is_no_step() -> None:
    play = Playground(k=3)
    for step in (
        ("move", "A", 1),
        ("order", ITEMS),
        ("relevance", "A", 2),
        ("k", 3),
        ("gain", "linear"),
        ("undo",),
        ("reset",),
    ):
        do(play, *step)
    assert play.past == []
    truth = {"a": 1, "z": 2}
    play = Playground(["a", "b"], truth)
    play.change(relevance={"z": 5})
    assert truth == {"a": 1, "z": 2}


# Laws.


@given(STEPS)
@settings(max_examples=examples(20), deadline=None)
def test_after_any_steps_the_values_are_those_of_recnb(steps: list[Any]) -> None:
    play = after(steps, metrics=list(METRICS))
    now = play.now
    for name, value in play.table().now.items():
        gain = {"gain": now.gain} if "gain" in METRICS[str(name)].defaults else {}
        assert value == float(getattr(recnb, str(name))(list(now.order), now.relevance, k=now.k, **gain)), name
    assert sorted([*now.order, *play.outside]) == [*ITEMS, "G"]


@given(STEPS, st.sampled_from(list(METRICS)))
@settings(max_examples=examples(40), deadline=None)
def test_the_changes_of_terms_add_up_to_that_of_their_sum(steps: list[Any], name: str) -> None:
    play = after(steps, metrics=[name])
    before, now = play.explain(setting=play.before), play.explain()
    assert sum(term.change for term in play.terms()) == pytest.approx(now.total - before.total)
    assert play.table().change[name] == pytest.approx(now.value - before.value)


@given(STEPS, st.sampled_from([*ITEMS, "G"]), st.integers(1, 6))
@settings(max_examples=examples(40), deadline=None)
def test_a_move_and_its_inverse_restore(steps: list[Any], item: str, rank: int) -> None:
    play = after(steps)
    setting = play.now
    old = setting.order.index(item) + 1 if item in setting.order else None
    do(play, "move", item, rank)
    play.move(item, old) if old else play.remove(item)
    assert play.now == setting


@given(STEPS)
@settings(max_examples=examples(40), deadline=None)
def test_undo_leads_back_to_the_start(steps: list[Any]) -> None:
    play = after(steps)
    past = [*play.past]
    while past:
        play.undo()
        assert play.now == past.pop()
    play.undo()
    assert play.now == play.first


@given(STEPS, st.data())
@settings(max_examples=examples(40), deadline=None)
def test_order_matters_to_those_metrics_that_look_at_it(steps: list[Any], data: st.DataObject) -> None:
    play = after(steps, metrics=["recall", "precision", "cg", "hit_rate", "idcg", "f1"])
    play.change(k=9)
    before = play.table().now
    play.change(order=data.draw(st.permutations(play.now.order)))
    pd.testing.assert_series_equal(play.table().now, before)
    play = after(steps, metrics=["dcg", "ndcg", "average_precision", "reciprocal_rank", "rbp", "precision", "recall"])
    play.change(k=9)
    order, relevance = play.now.order, play.now.relevance
    rank = data.draw(st.integers(1, len(order)))
    if rank > 1 and relevance[order[rank - 2]] <= relevance[order[rank - 1]]:
        play.move(order[rank - 1], rank - 1)
        assert (play.table().change >= -1e-12).all()


# What is shown, and what controls do.


def test_controls_do_what_steps_do() -> None:
    play = Playground()
    index = {item: str(at) for at, item in enumerate(play.items)}
    for name, value, item, order in (
        ("rank", "1", "C", "CABDEF"), ("by", "1", "C", "ACBDEF"), ("by", "-1", "A", "ACBDEF"), ("by", "1", "F", "ACBDE"),
        ("by", "-1", "G", "ACBDEG"), ("by", "-1", "G", "ACBDGE"), ("rank", "0", "A", "CBDGE"), ("rank", "2", "A", "CABDGE"),
    ):  # fmt: skip
        play.use(name, value, index[item])
        assert "".join(play.now.order) == order
    for name, value, grade in (("step", "1", 3), ("step", "-1", 2), ("relevance", "0.1", 0.1), ("step", "1", 1.1), ("step", "-1", 0.1), ("step", "-1", 0)):  # fmt: skip
        play.use(name, value, index["A"])
        assert play.now.relevance["A"] == grade
    for name, value in (("k", "2"), ("gain", "binary"), ("focus", "recall")):
        play.use(name, value)
    assert (play.now.k, play.now.gain, play.focus) == (2, "binary", "recall")
    play.use("undo")
    assert play.now.gain == "linear"
    play.use("reset")
    assert play.now == play.first


def test_what_is_refused_is_said_and_the_control_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Playground()
    top, sent = play.widget().children[0], []
    monkeypatch.setattr(type(top), "send", lambda self, content, buffers=None: sent.append(content))
    for value, says in (("2000", "too large"), ("-1", "from 0 up"), ("", "from 0 up")):
        play.use("gain", "exponential")
        play.use("relevance", value, "0")
        assert says in play.problem
        assert says in shown(top.html)
        assert play.now.relevance["A"] == 2
    assert len(sent) == 6
    play.use("undo")
    assert (play.problem, 'role="alert"' in top.html) == ("", False)


def test_the_widget_shows_each_step_wherever_it_comes_from() -> None:
    play = recnb.playground(k=4)
    assert play.widget() is play.widget()
    top, worked = play.widget().children
    play.move("C", 1)
    value = f"{float(recnb.ndcg(list('CABDEF'), play.now.relevance, k=4)):.4f}"
    assert f"C moved from rank 3 to rank 1. nDCG@4: 0.6148 → {value}" in shown(top.html)
    assert f"nDCG@4 = {value}" in shown(worked.value)
    assert 'aria-label="C, rank 1 of 6, relevance 3"' in top.html
    assert 'aria-label="E, rank 5 of 6, below the cut-off, relevance 1"' in top.html
    assert 'aria-label="G, not in the list, relevance 2"' in top.html
    row = re.search(r'<tr data-key="2".*?</tr>', top.html)
    assert row
    assert re.fullmatch(r"1 ⠿ ✓ C − \+ 3/log2\(1\+1\) = 3 ▲ \+1\.5000 ×", shown(row[0]))
    assert "k = 4: ranks below do not count" in shown(top.html)
    play.use("by", "1", "2")
    assert "C moved from rank 1 to rank 2." in shown(top.html)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_can_be_played_with(name: str) -> None:
    play = recnb.playground(metrics=[name])
    play.move("C", 1)
    play.change(k=2)
    assert f"{play.table().now[name]:.4f}" in shown(play._html(live=True))
    assert play.has_gain == ('name="gain"' in play._html(live=True))
    assert 'name="focus"' not in play._html(live=True)


def test_a_hundred_items_and_items_that_read_alike() -> None:
    play = recnb.playground(list(range(100)), [99, 5])
    play.move(99, 1)
    assert play.table().now["ndcg"] == float(recnb.ndcg(list(play.now.order), [99, 5]))
    play = recnb.playground(["1", 1, "a"], {1: 2, "a": 1})
    play.use("rank", "1", "1")
    assert play.now.order == (1, "1", "a")


def test_names_are_text_everywhere() -> None:
    play = recnb.playground(NASTY, {NASTY[0]: 1, NASTY[1]: 2, NASTY[5]: 3, "<b>out</b>": 1}, ["ndcg", "err"])
    for item in NASTY[:2]:
        play.move(item, 3)
        for html in (play._html(live=True), play._repr_html_()):
            assert "<script" not in html
            assert "<b>out" not in html
            assert "x" * 300 not in html
    assert len(play.sentence()) < 600


def test_items_are_shown_by_their_titles() -> None:
    play = Playground(
        ["m1", "m2"], {"m2": 1, "m3": 2}, ["recall"], items={"m1": "Alien", "m2": None, "m3": "Brazil <b>"}
    )  # type: ignore[dict-item]
    assert [play.name(item) for item in play.items] == ["Alien (m1)", "m2", "Brazil <b> (m3)"]
    play.move("m1", 2)
    assert play.action == "Alien (m1) moved from rank 1 to rank 2."
    assert "Brazil <b> (m3)" in repr(play.explain())
    assert "<bdi>Brazil &lt;b&gt;</bdi>" in play._repr_html_()


def test_the_bundle_has_a_still_twin_of_the_same_html() -> None:
    play = recnb.playground(k=4)
    bundle = play._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(play)
    assert bundle["text/html"] == recnb.playground(k=4)._repr_html_()
    text = shown(bundle["text/html"])
    for name, value in play.table().now.items():
        assert f"{METRICS[str(name)].label(4)}" in text
        assert f"{value:.4f}" in text
    assert "cut-off k = 4" in text
    assert "3/log2(1+3) = 1.5" in text
    assert "This is a still picture. Run the cell" in text
    assert not re.search(r"<(script|button|input|select|form)", bundle["text/html"])


class Typeset(HTMLParser):
    """The text that MathJax looks at: what stands in no element that says to ignore it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ignored: list[bool] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        before = bool(self.ignored and self.ignored[-1])
        self.ignored.append(before or "mathjax_ignore" in (dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        self.ignored.pop()

    def handle_data(self, data: str) -> None:
        self.text += "" if self.ignored and self.ignored[-1] else data


@pytest.mark.parametrize("name", ("ndcg", "err"))
def test_the_formula_is_typeset_and_what_is_the_users_is_not(name: str) -> None:
    play = recnb.playground(["$x$", "b"], {"$x$": 1, "$z$": 2}, [name])
    play.move("$x$", 2)
    assert Typeset(play._repr_html_()).text == f"$\\displaystyle {play.explain().latex}$"


def test_without_a_widget_library_there_is_the_still_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys, recnb; recnb.playground().sentence(); print(*{'ipywidgets', 'anywidget'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    play = recnb.playground()
    assert set(play._repr_mimebundle_()) == {"text/plain", "text/html"}
    with pytest.raises(RecnbError, match=r"pip install \"recnb\[notebook\]\""):
        play.widget()
