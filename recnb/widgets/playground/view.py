"""The playground's view: the list in a little JavaScript, everything else ipywidgets.

Controls change the state; the state notifies the view of each change, wherever it comes from, and the view shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import resources
from typing import Any

import anywidget
import ipywidgets as w  # type: ignore[import-untyped]
import traitlets
from markupsafe import Markup

from recnb.display.language import N_, _, ngettext, use_language
from recnb.display.templates import user_text
from recnb.display.text import arrow, trimmed
from recnb.errors import RecnbError
from recnb.metrics.formula import number
from recnb.widgets.keyboard import Keys
from recnb.widgets.playground import html
from recnb.widgets.playground.state import GAINS, PlaygroundState

#: A longer term is shown in the list as its value alone.
LONGEST_TERM = 26

_FILES = resources.files("recnb.widgets.playground")


class RankingList(anywidget.AnyWidget):
    """A list whose items are dragged or moved by keys; the browser can permute `order` and set `relevance`, from 0 up."""

    _esm = _FILES.joinpath("ranking_list.js").read_text("utf-8")
    _css = _FILES.joinpath("ranking_list.css").read_text("utf-8")

    order = traitlets.List(traitlets.Int()).tag(sync=True)  #: positions of items, in rank order
    relevance = traitlets.List(traitlets.Float()).tag(sync=True)  #: by position, those outside the list included
    moved = traitlets.Int(-1).tag(sync=True)  #: the position of the item that was moved last
    shown = traitlets.Dict().tag(sync=True)  #: the texts, in the playground's language

    @traitlets.validate("order", "relevance")
    def _validated(self, proposal: Any) -> list[Any]:
        if problem := self._problem(proposal["trait"].name, proposal["value"]):
            raise traitlets.TraitError(problem)
        return list(proposal["value"])

    def _problem(self, name: str, value: Any) -> str:
        """Describe what is wrong with a value; nothing is before there is one."""
        if name == "order":
            fits = isinstance(value, list) and all(type(position) is int for position in value)
            if not fits or (self.order and sorted(value) != sorted(self.order)):
                return (
                    f"order={value!r} is no permutation of {self.order!r}: a list in a playground only moves its items."
                )
        if name == "relevance":
            fits = isinstance(value, list) and all(_is_grade(grade) for grade in value)
            if not fits or (self.relevance and len(value) != len(self.relevance)):
                return f"relevance={value!r}: a number from 0 up for each of the {len(self.relevance)} items."
        if name == "moved" and (type(value) is not int or not -1 <= value < len(self.relevance)):
            return f"moved={value!r} is no item."
        return ""

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take the valid values that the browser sends; instead of the others, send back the present ones."""
        own = {name: value for name, value in sync_data.items() if name in ("order", "relevance", "moved")}
        refused = [name for name, value in own.items() if self._problem(name, value)]
        refused += [name for name in sync_data if name == "shown"]  # texts are made in Python alone
        super().set_state({name: value for name, value in sync_data.items() if name not in refused})
        if refused:
            self.send_state(refused)

    def __repr__(self) -> str:
        return f"RankingList(order={self.order}, relevance={self.relevance})"


class Playground(w.VBox):  # type: ignore[misc]
    """A ranked list that can be moved, with its metrics before and after each step; `.state` is what is shown."""

    def __init__(self, state: PlaygroundState) -> None:
        self.state = state
        self._showing = False
        self._position = {item: position for position, item in enumerate(state.items)}
        with use_language(state.lang):
            super().__init__(self._widgets())
        self.add_class("recnb-play")
        self._show()
        self._connect()

    def _widgets(self) -> list[Any]:
        """Make the controls and lay them out."""
        state, wide, fitting = self.state, {"description_width": "initial"}, w.Layout(width="max-content")
        self.list = RankingList()
        self.list.add_class("recnb-ranking")
        # A slider that cannot move is not shown at all, so it has two ends even for one item.
        most = max(2, len(state.order), state.k)
        self.slider = w.IntSlider(value=state.k, min=1, max=most, description=_("cut-off k"), style=wide)
        # Radio buttons, since toggle buttons show which one is pressed by colour alone.
        radio: dict[str, Any] = {"orientation": "horizontal", "style": wide, "layout": fitting}
        gains = [(_(label), gain) for gain, label in GAINS.items()]
        self.gain = w.RadioButtons(options=gains, description=_("gain"), **radio)
        metrics = [(metric.symbol, name) for name, metric in state.metrics.items()]
        self.focus_on = w.RadioButtons(options=metrics, description=_("explain"), **radio)
        button = {"layout": fitting}
        self.undo = w.Button(description=_("Undo"), tooltip=_("Take the last step back"), icon="undo", **button)
        self.reset = w.Button(
            description=_("Start again"), tooltip=_("Go back to the first list"), icon="refresh", **button
        )
        self.problem, self.values, self.changes, self.how = w.HTML(), w.HTML(), w.HTML(), w.HTML()
        self.formula = w.HTMLMath()
        for name in ("gain", "undo", "reset", "problem", "values", "changes", "formula", "how"):
            getattr(self, name).add_class(f"recnb-play-{name}")
        self.slider.add_class("recnb-play-k")
        self.focus_on.add_class("recnb-play-focus")

        row = w.Layout(flex_flow="row wrap", align_items="center", grid_gap="0.2em 1.5em")
        gain = [self.gain] if state.has_gain else []
        controls = w.Box([self.slider, *gain, w.HBox([self.undo, self.reset])], layout=row)
        of_list = w.Layout(flex="1 1 26em", min_width="22em", max_width="40em")
        left = w.VBox([self.list, self.problem, self.formula], layout=of_list)
        focus = [self.focus_on] if len(state.metrics) > 1 else []
        right = w.VBox([*focus, self.values, self.changes], layout=w.Layout(flex="1 1 24em", min_width="20em"))
        side_by_side = w.Layout(flex_flow="row wrap", align_items="flex-start", grid_gap="0.5em 2em")
        return [controls, w.Box([left, right], layout=side_by_side), self.how, Keys("recnb-play", state.lang)]

    def _connect(self) -> None:
        state = self.state
        self.list.observe(self._on_change(self._reorder), "order")
        self.list.observe(self._on_change(self._set_relevance), "relevance")
        self.slider.observe(self._on_change(lambda: state.set_k(self.slider.value, sliding=True)), "value")
        self.gain.observe(self._on_change(lambda: state.set_gain(str(self.gain.value))), "value")
        self.focus_on.observe(self._on_change(lambda: state.look_at(str(self.focus_on.value))), "value")
        self.undo.on_click(self._on_change(state.undo))
        self.reset.on_click(self._on_change(state.reset))
        state.watchers.append(self._show)

    def _on_change(self, act: Callable[[], None]) -> Callable[[Any], None]:
        """Apply a control to the state; if recnb cannot evaluate the result, show why, and the state as it was."""

        def apply(_ignored: Any) -> None:
            if self._showing:
                return
            self.problem.value = ""
            try:
                act()
            except RecnbError as problem:
                alert = Markup('<div role="alert" style="font-weight: 600;">⚠ {}</div>')
                self.problem.value = alert.format(user_text(problem, 600))
                self._show()

        return apply

    def _reorder(self) -> None:
        moved = self.state.items[self.list.moved] if self.list.moved >= 0 else None
        self.state.reorder([self.state.items[position] for position in self.list.order], moved=moved)

    def _set_relevance(self) -> None:
        for item, grade in zip(self.state.items, self.list.relevance, strict=True):
            self.state.set_relevance(item, grade)

    def _show(self) -> None:
        """Show the state in all controls; only what has changed is sent to the browser."""
        state = self.state
        with use_language(state.lang):
            shown = self._list_shown()
        self._showing = True
        try:
            with self.list.hold_sync():
                self.list.shown = shown
                self.list.relevance = [state.setting.relevance[item] for item in state.items]
                self.list.order = [self._position[item] for item in state.order]
            self.slider.max = max(self.slider.max, state.k)
            self.slider.value, self.gain.value, self.focus_on.value = state.k, state.gain, state.focus
            self.undo.disabled, self.reset.disabled = not state.past, state.setting == state.first
            self.values.value, self.changes.value = html.values(state), html.changes(state)
            self.formula.value, self.how.value = html.explanation(state)
        finally:
            self._showing = False

    def _list_shown(self) -> dict[str, Any]:
        """Return the texts of the list."""
        state, n = self.state, len(self.state.order)
        changed = state.changed()
        changes = {term.item: term.change for term in changed.terms}
        items = []
        for item in state.items:
            name, relevance, change = (
                state.name(item, 200),
                number(state.setting.relevance[item]),
                changes.get(item, 0.0),
            )
            aria = name
            if item in state.order:
                rank = state.rank(item)
                message = (
                    N_("{item}, rank {rank} of {n}, relevance {relevance}")
                    if rank <= state.k
                    else N_("{item}, rank {rank} of {n}, below the cut-off, relevance {relevance}")
                )
                aria = _(message, item=name, rank=rank, n=n, relevance=relevance)
            term = changed.now.terms.get(item)
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
            "k": _("cut-off k"),
            "said": state.announcement(),
        }
        return {"lang": state.lang, "k": state.k, "items": items, "texts": texts}

    def __repr__(self) -> str:
        return repr(self.state)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/plain": repr(self), "text/html": str(html.still(self.state))}


def _is_grade(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


__all__ = ["Playground", "RankingList"]
