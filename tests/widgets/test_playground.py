"""The playground: what it takes and refuses, what it says, what its controls do, and
laws that hold after any steps.
"""

from __future__ import annotations

import html as markup
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.errors import RecnbError
from recnb.widgets import Playground
from recnb.widgets.playground import GAINS
from tests.examples import examples
from tests.rows import hold_calls, hold_refusals, hold_refused, read_rows
from tests.test_import import printed

ITEMS = tuple("ABCDEFG")  # G is missed
KINDS = ("move", "remove", "relevance", "k", "gain", "order", "undo", "reset")
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(ITEMS), st.integers(1, 9)),
    max_size=8,
)


def after(steps: list[tuple[str, str, int]], **options: Any) -> Playground:
    """Do steps; a rank beyond the list is its last one, and the last item is not put
    out.
    """
    play = Playground(**options)
    changes: dict[str, Callable[[str, int], dict[str, Any]]] = {
        "relevance": lambda item, n: {"relevance": {item: n // 3}},
        "k": lambda _item, n: {"k": n},
        "gain": lambda _item, n: {"gain": GAINS[n % 3]},
        "order": lambda _item, n: {"order": ITEMS[n % 7 :][::-1]},
    }
    for kind, item, n in steps:
        if kind == "move":
            play.move(item, min(n, len({*play.now.order, item})))
        elif kind == "remove":
            play.remove(item) if play.now.order != (item,) else None
        elif kind in changes:
            play.change(**changes[kind](item, n))
        else:
            getattr(play, kind)()
    return play


def shown(html: str) -> str:
    """The text of HTML."""
    return " ".join(markup.unescape(re.sub(r"<[^>]*>", " ", html)).split())


# What it takes.


def ratings(*given: Any) -> dict[Any, float]:
    """The relevance of all items."""
    return dict(Playground(*given).now.relevance)


def values(*given: Any, **options: Any) -> list[float]:
    """The value of each metric."""
    return Playground(*given, **options).table()["now"].tolist()


def used(play: Playground, *use: str) -> Playground:
    """A playground after one use of a control."""
    play.use(*use)
    return play


def changed(**changes: Any) -> Playground:
    """A playground after one change."""
    play = Playground()
    play.change(**changes)
    return play


test_what_it_is_made_of = hold_calls(
    read_rows("widgets/playground_made.toml"), globals()
)
test_what_cannot_be_played_with_is_refused = hold_refusals(
    read_rows("widgets/playground_refused.toml"), globals()
)


STEPS_REFUSED = read_rows("widgets/steps_refused.toml")


@pytest.mark.parametrize("step", STEPS_REFUSED)
def test_what_cannot_be_done_changes_nothing(step: str) -> None:
    play = Playground()
    play.move("C", 1)
    before = play.now, [*play.past], play.before, play.action, play.focus
    hold_refused(step, STEPS_REFUSED[step], {**globals(), "play": play})
    assert (play.now, play.past, play.before, play.action, play.focus) == before


# Laws.


@given(STEPS)
@settings(max_examples=examples(12), deadline=None)
def test_after_any_steps_the_values_are_those_of_recnb_and_changes_of_terms_add_up(
    steps: list[Any],
) -> None:
    play = after(steps, metrics=list(METRICS))
    now = play.now
    assert sorted([*now.order, *play.outside]) == [*ITEMS]
    for name, row in play.table().iterrows():
        gain = {"gain": now.gain} if "gain" in METRICS[str(name)].defaults else {}
        assert row["now"] == float(
            getattr(recnb, str(name))(list(now.order), now.relevance, k=now.k, **gain)
        ), name
        play.look_at(str(name))
        before, after_it = play.explain(setting=play.before), play.explain()
        assert sum(term.change for term in play.terms()) == pytest.approx(
            after_it.total - before.total
        )
        assert row["change"] == pytest.approx(after_it.value - before.value)


@given(STEPS, st.sampled_from(ITEMS))
@settings(max_examples=examples(40), deadline=None)
def test_steps_lead_back(steps: list[Any], item: str) -> None:
    play = after(steps)
    setting, past = play.now, [*play.past]
    play.move(item, 1)
    play.move(
        item, setting.order.index(item) + 1
    ) if item in setting.order else play.remove(item)
    assert play.now == setting
    while len(play.past) > len(past):
        play.undo()
    while past:
        play.undo()
        assert play.now == past.pop()
    assert play.now == play.first


# What is shown, and what controls do.


def test_controls_do_what_steps_do() -> None:
    play = Playground()
    for use, state in read_rows("widgets/playground_used.toml")["rows"]:
        name, value, item = [*use.split(), "", ""][:3]
        play.use(name, value, str(play.items.index(item)) if item else "")
        now = play.now
        shown = ["".join(now.order), now.k, now.gain, play.focus, now.relevance["A"]]
        assert " ".join(map(str, shown)) == state, use


def test_what_is_refused_is_said_and_the_control_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play = Playground(gain="exponential")
    top, sent = play.widget().children[0], []
    monkeypatch.setattr(
        type(top), "send", lambda self, content, buffers=None: sent.append(content)
    )
    for n, (value, says) in enumerate(
        (("2000", "too large"), ("-1", "from 0 up"), ("", "from 0 up")), 1
    ):
        play.use("relevance", value, "0")
        assert says in play.problem
        assert says in shown(top.html)
        assert (play.now, sent) == (play.first, ["draw"] * n)
    play.use("relevance", "1", "0")
    assert (play.problem, 'role="alert"' in top.html, len(sent)) == ("", False, 4)


def test_the_widget_shows_each_step_wherever_it_comes_from_beside_its_still_twin() -> (
    None
):
    play = recnb.playground(k=4)
    assert play.widget() is play.widget()
    top, worked = play.widget().children
    play.move("C", 1)
    value = f"{float(recnb.ndcg(list('CABDEF'), play.now.relevance, k=4)):.4f}"
    assert f"C moved from rank 3 to rank 1. nDCG@4: 0.6148 → {value}" in shown(top.html)
    assert f"nDCG@4 = {value}" in shown(worked.value)
    top._handle_custom_msg({"name": "by", "value": "1", "key": "2"}, [])
    assert "C moved from rank 1 to rank 2." in shown(top.html)
    bundle = play._repr_mimebundle_()
    assert set(bundle) == {
        "text/plain",
        "text/html",
        "application/vnd.jupyter.widget-view+json",
    }
    assert (bundle["text/plain"], bundle["text/html"]) == (
        repr(play),
        play._repr_html_(),
    )
    assert not re.search(r"<(script|button|input|select|form)", bundle["text/html"])
    assert "컷오프 k = 6" in shown(Playground(lang="ko")._repr_html_())


def test_without_a_widget_library_there_is_the_still_twin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = (
        "import sys, recnb; recnb.playground().sentence(); print(*{'ipywidgets', "
        "'anywidget'} & set(sys.modules))"
    )
    assert printed(program) == ""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    play = recnb.playground()
    assert set(play._repr_mimebundle_()) == {"text/plain", "text/html"}
    with pytest.raises(RecnbError, match=r"pip install \"recnb\[notebook\]\""):
        play.widget()
