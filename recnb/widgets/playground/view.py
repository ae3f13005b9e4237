"""The playground's view: the list in a little JavaScript, everything else ipywidgets or HTML.

Controls change the state; the state notifies the view of each change, wherever it comes from, and the view shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets as w
import traitlets
from markupsafe import Markup

from recnb.display.language import N_, _, ngettext, use_language
from recnb.display.templates import render, user_text
from recnb.display.text import arrow, trimmed
from recnb.errors import RecnbError, is_number
from recnb.metrics.formula import number
from recnb.widgets.playground.state import GAINS, PlaygroundState
from recnb.widgets.view import FITTING, ROWS, WIDE, View, script

#: A longer term is shown in the list as its value alone.
LONGEST_TERM = 26

#: An item above and below the cut-off, for screen readers.
RANKED = N_("{item}, rank {rank} of {n}, relevance {relevance}")
BELOW = N_("{item}, rank {rank} of {n}, below the cut-off, relevance {relevance}")

#: A formula in the HTML of an explanation, which is typeset; everything around it is not.
_FORMULA = re.compile(r"<div[^>]*>\$\\displaystyle.*?\$</div>")


def part(state: PlaygroundState, name: str, **values: Any) -> str:
    """Return a part of the playground as HTML: "values" of the metrics, or "changes" by the last step."""
    with use_language(state.lang):
        return render(f"widgets/playground/{name}.jinja", state=state, **values)


def explanation(state: PlaygroundState) -> tuple[str, str]:
    """Return how the metric in focus is worked out: the formula, to be typeset, and the rest, which is not."""
    worked = state.explanation()._repr_html_()
    (formula,) = _FORMULA.findall(worked)
    return Markup(formula), Markup(worked.replace(formula, ""))


def still(state: PlaygroundState) -> str:
    """Return the whole playground as it is, without a kernel, a script or a style sheet."""
    formula, rest = explanation(state)
    return part(state, "playground", formula=formula, explanation=rest)


class RankingList(anywidget.AnyWidget):
    """A list whose items are dragged or moved by keys; the browser can permute `order` and set `relevance`, from 0 up."""

    _esm = script("make.js", "playground/ranking_list.js")
    _css = script("playground/ranking_list.css")

    order = traitlets.List(traitlets.Int()).tag(sync=True)  #: positions of items, in rank order
    relevance = traitlets.List(traitlets.Float()).tag(sync=True)  #: by position, those outside the list included
    moved = traitlets.Int(-1).tag(sync=True)  #: the position of the item that was moved last
    shown = traitlets.Dict().tag(sync=True)  #: the texts, in the playground's language

    def _fits(self, name: str, value: Any) -> bool:
        """Whether a value can be taken from the browser; texts are made in Python alone."""
        if name == "moved":
            return type(value) is int and -1 <= value < len(self.relevance)
        if name == "order" and isinstance(value, list):
            return all(type(at) is int for at in value) and sorted(value) == sorted(self.order)
        if name == "relevance" and isinstance(value, list):
            return len(value) == len(self.relevance) and all(is_number(grade) and grade >= 0 for grade in value)
        return name not in ("order", "relevance", "shown")

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take the valid values that the browser sends; instead of the others, send back the present ones."""
        refused = [name for name, value in sync_data.items() if not self._fits(name, value)]
        super().set_state({name: value for name, value in sync_data.items() if name not in refused})
        if refused:
            self.send_state(refused)

    def __repr__(self) -> str:
        return f"RankingList(order={self.order}, relevance={self.relevance})"


class Playground(View):
    """A ranked list that can be moved, with its metrics before and after each step; `.state` is what is shown."""

    state: PlaygroundState

    def __init__(self, state: PlaygroundState) -> None:
        with use_language(state.lang):
            super().__init__("recnb-play", state, self._rows(state), still)
        self._position = {item: position for position, item in enumerate(state.items)}
        self._show()
        self._on_change(self.list, self._reorder, "order")
        self._on_change(self.list, self._set_relevance, "relevance")
        self._on_change(self.k, lambda k: state.set_k(k, sliding=True))
        self._on_change(self.gain, state.set_gain)
        self._on_change(self.explained, state.look_at)
        self.undo.on_click(lambda _ignored: self._apply(state.undo))
        self.reset.on_click(lambda _ignored: self._apply(state.reset))
        state.watchers.append(self._show)

    def _rows(self, state: PlaygroundState) -> list[Any]:
        """Make the controls and lay them out."""
        self.list = RankingList()
        # A slider that cannot move is not shown at all, so it has two ends even for one item.
        most = max(2, len(state.order), state.k)
        self.k = w.IntSlider(value=state.k, min=1, max=most, description=_("cut-off k"), style=WIDE)
        # Radio buttons, since toggle buttons show which one is pressed by colour alone.
        radio: dict[str, Any] = {"orientation": "horizontal", "style": WIDE, "layout": FITTING}
        gains = [(_(gain), gain) for gain in GAINS]
        self.gain = w.RadioButtons(options=gains, description=_("gain"), **radio)
        metrics = [(metric.symbol, name) for name, metric in state.metrics.items()]
        self.explained = w.RadioButtons(options=metrics, description=_("explain"), **radio)
        undo, reset = _("Take the last step back"), _("Go back to the first list")
        self.undo = w.Button(description=_("Undo"), tooltip=undo, icon="undo", layout=FITTING)
        self.reset = w.Button(description=_("Start again"), tooltip=reset, icon="refresh", layout=FITTING)
        self.problem, self.values, self.changes, self.how = w.HTML(), w.HTML(), w.HTML(), w.HTML()
        self.formula = w.HTMLMath()

        gain, focus = [self.gain] * state.has_gain, [self.explained] * (len(state.metrics) > 1)
        row = w.Layout(**ROWS, grid_gap="0.2em 1.5em")
        controls = w.Box([self.k, *gain, w.HBox([self.undo, self.reset])], layout=row)
        of_list = w.Layout(flex="1 1 26em", min_width="22em", max_width="40em")
        left = w.VBox([self.list, self.problem, self.formula], layout=of_list)
        right = w.VBox([*focus, self.values, self.changes], layout=w.Layout(flex="1 1 24em", min_width="20em"))
        side_by_side = w.Layout(flex_flow="row wrap", align_items="flex-start", grid_gap="0.5em 2em")
        return [controls, w.Box([left, right], layout=side_by_side), self.how]

    def _apply(self, act: Callable[[], Any]) -> None:
        """Act on the state; if recnb cannot evaluate the result, show why, and the state as it was."""
        self.problem.value = ""
        try:
            act()
        except RecnbError as problem:
            alert = Markup('<div role="alert" style="font-weight: 600;">⚠ {}</div>')
            self.problem.value = alert.format(user_text(problem, 600))
            self._show()

    def _reorder(self, order: list[int]) -> None:
        moved = self.state.items[self.list.moved] if self.list.moved >= 0 else None
        self.state.reorder([self.state.items[position] for position in order], moved=moved)

    def _set_relevance(self, relevance: list[float]) -> None:
        for item, grade in list(zip(self.state.items, relevance, strict=True)):
            self.state.set_relevance(item, grade)

    def _show(self) -> None:
        """Show the state in all controls; only what has changed is sent to the browser."""
        state = self.state
        with use_language(state.lang), self._setting_controls():
            with self.list.hold_sync():
                self.list.shown = self._list_shown()
                self.list.relevance = [state.setting.relevance[item] for item in state.items]
                self.list.order = [self._position[item] for item in state.order]
            self.k.max = max(self.k.max, state.k)
            self.k.value, self.gain.value, self.explained.value = state.k, state.gain, state.focus
            self.undo.disabled, self.reset.disabled = not state.past, state.setting == state.first
            self.values.value, self.changes.value = part(state, "values"), part(state, "changes")
            self.formula.value, self.how.value = explanation(state)

    def _list_shown(self) -> dict[str, Any]:
        """Return the texts of the list."""
        state, n = self.state, len(self.state.order)
        changed = state.changed()
        changes = {term.item: term.change for term in changed.terms}
        items = []
        for item in state.items:
            aria = name = state.name(item, 200)
            if item in state.order:
                rank, relevance = state.rank(item), number(state.setting.relevance[item])
                message = RANKED if rank <= state.k else BELOW
                aria = _(message, item=name, rank=rank, n=n, relevance=relevance)
            term, change = changed.now.terms.get(item), changes.get(item, 0.0)
            worth = str(term or "")
            items.append(
                {
                    "label": name,
                    "aria": aria,
                    "aria_relevance": _("relevance of {item}", item=name),
                    "worth": trimmed(term.credit) if term and len(worth) > LONGEST_TERM else worth,
                    "changed": arrow(change),
                    "turn": "up" if change > 0 else "down" if change < 0 else "",
                }
            )
        texts = {
            "hint": _("Drag an item, or press Alt + ↑ or ↓ on it. + and − change its relevance."),
            "list": ngettext("The list, {n} item", "The list, {n} items", n),
            "outside": _("Not recommended"),
            "cut": _("k = {k}: ranks below do not count", k=state.k),
            "said": state.announcement(),
        }
        return {"k": state.k, "items": items, "texts": texts}


__all__ = ["Playground", "RankingList"]
