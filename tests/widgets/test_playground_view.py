"""The playground's view without a browser: its controls are wired to the state, and its twin shows all there is."""

import html as markup
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import recnb
from recnb import METRICS
from recnb.display.language import _, use_language
from recnb.errors import RecnbError
from recnb.widgets import playground
from recnb.widgets.playground import view as parts
from recnb.widgets.playground.view import RankingList

NASTY = ["<script>alert(1)</script>", "$x$ and $y$", "a \"quoted\" 'name'", "שלום", "🎬", "x" * 5000, 7]


def positions(view, order: str) -> list[int]:
    return [view.state.items.index(item) for item in order]


def by_hand(view, **sent) -> None:
    """What the browser does: it sends values of traits, and they are taken as far as they fit."""
    view.list.set_state(sent)


# The list can only permute.


@pytest.mark.parametrize("wrong", ([0, 0, 1, 2, 3, 4], [0, 1, 2], [0, 1, 2, 3, 4, 6], [], [0, 1, 2, 3, 4, 5, 6]))
def test_what_is_no_permutation_is_refused(wrong):
    view = playground()
    before = list(view.list.order)
    view.list.order = wrong
    assert "once each" in view.problem.value
    assert view.list.order == before
    assert view.state.setting == view.state.first


@pytest.mark.parametrize(
    "sent",
    (
        {"order": [0, 0, 1, 2, 3, 4]}, {"order": None}, {"order": "012345"}, {"order": [0, 1, 2, 3, 4, True]}, {"order": [0.0, 1, 2, 3, 4, 5]},
        {"relevance": [1]}, {"relevance": [None] * 7}, {"relevance": [-1.0] + [0] * 6}, {"relevance": ["3"] * 7}, {"relevance": [float("nan")] * 7},
        {"relevance": [True] * 7}, {"moved": 99}, {"moved": "A"}, {"shown": {"k": 1}},
    ),
    ids=str,
)  # fmt: skip
def test_what_a_browser_sends_is_checked_and_the_value_in_force_sent_back(sent, monkeypatch):
    view = playground()
    before, back = {name: getattr(view.list, name) for name in sent}, []
    monkeypatch.setattr(RankingList, "send_state", lambda self, key=None: back.append(key))
    by_hand(view, **sent)
    assert back == [list(sent)]
    assert {name: getattr(view.list, name) for name in sent} == before
    assert view.state.setting == view.state.first


def test_what_fits_is_taken_beside_what_does_not():
    view = playground()
    by_hand(view, order=positions(view, "CABDEF"), relevance=[1])
    assert "".join(view.state.order) == "CABDEF"


def test_an_item_cannot_be_lost_whatever_is_sent():
    view = playground()
    for order in ([5, 4, 3, 2, 1, 0], [0], [6, 1, 2, 3, 4, 5], [1, 0, 2, 3, 4, 5]):
        by_hand(view, order=order)
        assert sorted(view.state.order) == list("ABCDEF")
        assert view.list.order == positions(view, "".join(view.state.order))


# The controls are wired.


def test_a_drag_reaches_the_state_and_what_is_shown():
    view = playground()
    by_hand(view, moved=2, order=positions(view, "CABDEF"))
    assert view.state.step.item == "C"
    value = float(recnb.ndcg(list("CABDEF"), view.state.relevance, k=6))
    assert f"{value:.4f}" in view.values.value
    assert "C moved from rank 3 to rank 1." in view.changes.value
    assert f"nDCG@6 = {value:.4f}" in view.how.value
    shown = view.list.shown
    assert shown["texts"]["said"] == view.state.announcement()
    assert shown["items"][2]["aria"] == "C, rank 1 of 6, relevance 3"
    assert shown["items"][2]["worth"] == "3/log2(1+1) = 3"
    assert shown["items"][2]["turn"] == "up"
    assert shown["items"][2]["changed"] == "▲ +1.5000"
    assert shown["items"][0]["changed"] == "▼ -0.7381"


def test_the_slider_cuts():
    view = playground()
    view.k.value = 3
    assert view.state.k == 3
    assert f"{float(recnb.ndcg(list('ABCDEF'), view.state.relevance, k=3)):.4f}" in view.values.value
    assert "nDCG@3" in view.values.value
    assert view.list.shown["k"] == 3
    assert "below the cut-off" in view.list.shown["items"][3]["aria"]
    view.state.set_k(9)
    assert (view.k.value, view.k.max) == (9, 9)


def test_relevance_is_changed_in_place():
    view = playground()
    by_hand(view, relevance=[2, 0, 3, 0, 1, 0, 0])
    assert view.state.relevance["G"] == 0
    assert view.state.values()["recall"].now == 1
    view.state.set_relevance("B", 0.5)
    assert view.list.relevance[1] == 0.5


def test_gain_focus_undo_and_reset():
    view = playground()
    assert view.undo.disabled
    assert view.reset.disabled
    view.gain.value = "exponential"
    assert view.state.gain == "exponential"
    assert "2^{\\mathrm{rel}_i}" in view.formula.value
    view.explained.value = "recall"
    assert view.state.focus == "recall"
    assert "Recall@6 = 0.7500" in view.how.value
    view.state.move("A", 6)
    assert not view.undo.disabled
    view.undo.click()
    assert "".join(view.state.order) == "ABCDEF"
    view.reset.click()
    assert (view.state.gain, view.gain.value) == ("linear", "linear")
    assert view.reset.disabled
    view.state.look_at("precision")
    assert view.explained.value == "precision"


def test_what_cannot_be_evaluated_is_said_and_taken_back():
    view = playground()
    view.gain.value = "exponential"
    by_hand(view, relevance=[2000, 0, 3, 0, 1, 0, 2])
    assert "too large" in view.problem.value
    assert view.list.relevance[0] == 2
    assert view.state.relevance["A"] == 2
    by_hand(view, relevance=[1, 0, 3, 0, 1, 0, 2])
    assert view.problem.value == ""
    assert view.state.relevance["A"] == 1


def test_controls_that_would_do_nothing_are_not_shown():
    shown = {type(one).__name__ for one in controls(playground(metrics=["recall"]))}
    assert "RadioButtons" not in shown
    assert sum(type(one).__name__ == "RadioButtons" for one in controls(playground())) == 2


def controls(box):
    for one in getattr(box, "children", ()):
        yield one
        yield from controls(one)


@pytest.mark.parametrize("lang", ("en", "ko"))
def test_every_control_has_a_name(lang):
    view = playground(lang=lang)
    for one in controls(view):
        if type(one).__name__ in ("IntSlider", "RadioButtons", "Button"):
            assert one.description
    with use_language(lang):
        assert view.k.description == _("cut-off k")
        assert view.list.shown["texts"]["hint"] == _(
            "Drag an item, or press Alt + ↑ or ↓ on it. + and − change its relevance."
        )


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_can_be_played_with(name):
    view = playground(metrics=[name])
    view.state.move("C", 1)
    view.k.value = 2
    formula, rest = view.formula.value, view.how.value
    assert "$\\displaystyle" not in rest
    assert re.fullmatch(r'<div style="[^"]*">\$\\displaystyle [^<>]*\$</div>', formula)
    assert f"{view.state.values()[name].now:.4f}" in view.values.value


def test_one_item_and_a_hundred():
    assert playground([1]).k.max == 2
    view = playground(list(range(100)), [99, 5])
    view.state.move(99, 1)
    assert view.state.values()["ndcg"].now == float(recnb.ndcg(list(view.state.order), [99, 5]))


def test_items_that_read_alike_stay_two():
    view = playground(["1", 1, "a"], {1: 2, "a": 1})
    by_hand(view, order=[1, 0, 2], moved=1)
    assert view.state.order == (1, "1", "a")


# What is shown of the user's is text.


def test_names_are_text_everywhere():
    view = playground(NASTY, {NASTY[0]: 1, NASTY[1]: 2, NASTY[5]: 3, "<b>out</b>": 1}, ["ndcg", "err"])
    for item in NASTY[:2]:
        view.state.move(item, 3)
        for shown in (view.values.value, view.changes.value, view.how.value, view._repr_mimebundle_()["text/html"]):
            assert "<script" not in shown
            assert "<b>out" not in shown
    assert "$x$" in markup.unescape(view.changes.value)
    assert all(len(one["label"]) <= 200 for one in view.list.shown["items"])


def test_the_list_puts_names_in_as_text():
    script = str(RankingList._esm)
    assert "innerHTML" not in script
    assert "insertAdjacentHTML" not in script
    assert "http" not in script


# What stands in place of the view.


def test_the_bundle_has_a_still_twin():
    view = playground(k=4)
    bundle = view._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(view) == repr(view.state)
    assert not re.search(r"0x[0-9a-f]{6}", repr(view) + repr(view.list) + bundle["text/html"])
    text = re.sub(r"<[^>]*>", " ", bundle["text/html"])
    for name, one in view.state.values().items():
        assert METRICS[name].label(4) in text
        assert f"{one.now:.4f}" in text
    assert "cut-off k = 4" in text
    assert _(
        "This is a still picture. Run the cell, and the items can be dragged and their relevance changed."
    ) in markup.unescape(text)
    assert all(part in bundle["text/html"] for part in parts.explanation(view.state))
    assert "<script" not in bundle["text/html"]
    assert "<script" not in bundle["text/html"]


def test_the_twin_is_the_same_each_time_and_follows_the_state():
    assert playground()._repr_mimebundle_()["text/html"] == playground()._repr_mimebundle_()["text/html"]
    view = playground()
    view.state.move("C", 1)
    assert "C moved from rank 3 to rank 1." in view._repr_mimebundle_()["text/html"]


def test_the_twin_speaks_its_own_language():
    view = playground(lang="ko")
    shown = view._repr_mimebundle_()["text/html"]
    assert "컷오프 k = 6" in shown
    assert "정지 화면" in shown
    assert "cut-off" not in parts.part(view.state, "values")


class Typeset(HTMLParser):
    """The text that MathJax looks at: what stands in no element that says to ignore it."""

    def __init__(self, shown: str) -> None:
        super().__init__()
        self.ignored: list[bool] = []
        self.text = ""
        self.feed(shown)

    def handle_starttag(self, tag, attrs):
        before = bool(self.ignored and self.ignored[-1])
        self.ignored.append(before or "mathjax_ignore" in (dict(attrs).get("class") or ""))

    def handle_endtag(self, tag):
        self.ignored.pop()

    def handle_data(self, data):
        self.text += "" if self.ignored and self.ignored[-1] else data


@pytest.mark.parametrize("name", ("ndcg", "err"))
def test_the_formula_is_typeset_and_what_is_the_users_is_not(name):
    view = playground(["$x$", "b"], {"$x$": 1, "$z$": 2}, [name])
    view.state.move("$x$", 2)
    looked_at = Typeset(view._repr_mimebundle_()["text/html"]).text
    assert looked_at == f"$\\displaystyle {view.state.explanation().latex}$"


def test_importing_recnb_imports_no_widgets():
    program = "import sys, recnb; recnb.widgets.PlaygroundState().sentence(); print(*{'ipywidgets', 'anywidget'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_without_ipywidgets_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.delitem(sys.modules, "recnb.widgets.playground.view")
    with pytest.raises(RecnbError, match=r"pip install \"recnb\[notebook\]\""):
        playground()
