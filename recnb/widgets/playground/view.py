"""The playground's view: the list in a little JavaScript, everything else ipywidgets.

What the hand does goes to the state; the state tells of every change, whoever made it, and all is shown anew from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import resources
from typing import Any

import anywidget
import ipywidgets as w  # type: ignore[import-untyped]
import traitlets

from recnb.display import html
from recnb.display.language import N_, _, ngettext, use_language
from recnb.errors import RecnbError
from recnb.metrics.formula import number
from recnb.widgets.keyboard import Keys
from recnb.widgets.playground import html as parts
from recnb.widgets.playground import wording as words
from recnb.widgets.playground.state import PlaygroundState

_FILES = resources.files("recnb.widgets.playground")


class RankingList(anywidget.AnyWidget):
    """A list that is dragged or moved by keys. It can only permute `order`, and set `relevance` to numbers from 0 up."""

    _esm = _FILES.joinpath("ranking_list.js").read_text("utf-8")
    _css = _FILES.joinpath("ranking_list.css").read_text("utf-8")

    order = traitlets.List(traitlets.Int()).tag(sync=True)  #: positions of items, in rank order
    relevance = traitlets.List(traitlets.Float()).tag(sync=True)  #: by position, those outside the list included
    moved = traitlets.Int(-1).tag(sync=True)  #: the position of the item that the hand took last
    shown = traitlets.Dict().tag(sync=True)  #: what is to be read: made in Python, in the playground's language

    @traitlets.validate("order")
    def _permutes(self, proposal: Any) -> list[int]:
        if problem := self._problem("order", proposal["value"]):
            raise traitlets.TraitError(problem)
        return list(proposal["value"])

    @traitlets.validate("relevance")
    def _grades(self, proposal: Any) -> list[float]:
        if problem := self._problem("relevance", proposal["value"]):
            raise traitlets.TraitError(problem)
        return [float(grade) for grade in proposal["value"]]

    def _problem(self, name: str, value: Any) -> str:
        """What is wrong with a value that is not yet in force; nothing is before the first one."""
        if name == "order":
            fits = isinstance(value, list) and all(type(one) is int for one in value)
            if not fits or (self.order and sorted(value) != sorted(self.order)):
                return (
                    f"order={value!r} is no permutation of {self.order!r}: a list in a playground only moves its items."
                )
        if name == "relevance":
            fits = isinstance(value, list) and all(_is_grade(one) for one in value)
            if not fits or (self.relevance and len(value) != len(self.relevance)):
                return f"relevance={value!r}: a number from 0 up for each of the {len(self.relevance)} items."
        if name == "moved" and (type(value) is not int or not -1 <= value < len(self.relevance)):
            return f"moved={value!r} is no item."
        return ""

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the browser sends, as far as it fits; of what does not, the browser is sent the value in force."""
        own = {name: value for name, value in sync_data.items() if name in ("order", "relevance", "moved")}
        refused = [name for name, value in own.items() if self._problem(name, value)]
        refused += [name for name in sync_data if name == "shown"]  # what is read is Python's to say
        super().set_state({name: value for name, value in sync_data.items() if name not in refused})
        if refused:
            self.send_state(refused)

    def __repr__(self) -> str:
        return f"RankingList(order={self.order}, relevance={self.relevance})"


class Playground(w.VBox):  # type: ignore[misc]
    """A ranked list that is played with, and beside it what its metrics make of each move; `.state` is what is shown."""

    def __init__(self, state: PlaygroundState) -> None:
        self.state = state
        self._showing = False
        self._position = {item: at for at, item in enumerate(state.items)}
        with use_language(state.lang):
            self._make()
            super().__init__(self._laid_out())
        self.add_class("recnb-play")
        self._show()
        self._wire()

    def _make(self) -> None:
        state = self.state
        wide = {"description_width": "initial"}
        # A slider that cannot move does not show at all, so it has two ends even for one item.
        most = max(2, len(state.order), state.k)
        self.list = RankingList()
        self.list.add_class("recnb-ranking")
        self.slider = w.IntSlider(value=state.k, min=1, max=most, description=_("cut-off k"), style=wide)
        gains = [(_("linear"), "linear"), (_("exponential"), "exponential"), (_("binary"), "binary")]
        # Radio buttons, for toggle buttons say which one is pressed by colour alone.
        fitting = w.Layout(width="max-content")
        radio: dict[str, Any] = {"orientation": "horizontal", "style": wide, "layout": fitting}
        self.gain = w.RadioButtons(options=gains, description=_("gain"), **radio)
        named = [(metric.symbol, name) for name, metric in state.metrics.items()]
        self.focus_on = w.RadioButtons(options=named, description=_("explain"), **radio)
        self.undo, self.reset = (
            w.Button(description=_("Undo"), tooltip=_("Take the last step back"), icon="undo", layout=fitting),
            w.Button(
                description=_("Start again"), tooltip=_("Go back to the first list"), icon="refresh", layout=fitting
            ),
        )
        self.problem, self.values, self.changes = w.HTML(), w.HTML(), w.HTML()
        self.formula, self.how = w.HTMLMath(), w.HTML()
        marked = {
            "k": self.slider, "gain": self.gain, "focus": self.focus_on, "undo": self.undo, "reset": self.reset, "problem": self.problem,
            "values": self.values, "changes": self.changes, "formula": self.formula, "how": self.how,
        }  # fmt: skip
        for name, one in marked.items():
            one.add_class(f"recnb-play-{name}")

    def _laid_out(self) -> list[Any]:
        row = w.Layout(flex_flow="row wrap", align_items="center", grid_gap="0.2em 1.5em")
        buttons = [w.HBox([self.undo, self.reset])]
        controls = w.Box([self.slider, *([self.gain] if self.state.has_gain else []), *buttons], layout=row)
        left = w.VBox(
            [self.list, self.problem, self.formula],
            layout=w.Layout(flex="1 1 26em", min_width="22em", max_width="40em"),
        )
        side = [*([self.focus_on] if len(self.state.metrics) > 1 else []), self.values, self.changes]
        right = w.VBox(side, layout=w.Layout(flex="1 1 24em", min_width="20em"))
        middle = w.Box(
            [left, right], layout=w.Layout(flex_flow="row wrap", align_items="flex-start", grid_gap="0.5em 2em")
        )
        return [controls, middle, self.how, Keys("recnb-play", self.state.lang)]

    def _wire(self) -> None:
        state, items = self.state, self.state.items
        self.list.observe(self._by_hand(self._reordered), "order")
        self.list.observe(self._by_hand(self._regraded), "relevance")
        self.slider.observe(self._by_hand(lambda: state.set_k(self.slider.value, sliding=True)), "value")
        self.gain.observe(self._by_hand(lambda: state.set_gain(str(self.gain.value))), "value")
        self.focus_on.observe(self._by_hand(self._focused), "value")
        self.undo.on_click(self._by_hand(state.undo))
        self.reset.on_click(self._by_hand(state.reset))
        state.watchers.append(self._show)
        assert len(items) == len(self.list.relevance)

    def _by_hand(self, act: Callable[[], None]) -> Callable[[Any], None]:
        """Do what a control says; if recnb cannot evaluate that, say why, and show the state as it was."""

        def acted(_ignored: Any) -> None:
            if self._showing:
                return
            self.problem.value = ""
            try:
                act()
            except RecnbError as problem:
                self.problem.value = f'<div role="alert" style="font-weight: 600;">⚠ {html.text(problem, 600)}</div>'
                self._show()

        return acted

    def _reordered(self) -> None:
        moved = self.state.items[self.list.moved] if self.list.moved >= 0 else None
        self.state.reorder([self.state.items[at] for at in self.list.order], moved=moved)

    def _regraded(self) -> None:
        for item, grade in zip(self.state.items, self.list.relevance, strict=True):
            self.state.set_relevance(item, grade)

    def _focused(self) -> None:
        if self.focus_on.value != self.state.focus:
            self.state.look_at(str(self.focus_on.value))

    def _show(self) -> None:
        """Everything anew from the state; what is as it was is not sent, and no hand is taken to have done it."""
        self._showing = True
        try:
            self._put()
        finally:
            self._showing = False

    def _put(self) -> None:
        state = self.state
        with use_language(state.lang):
            shown = self._shown()
        with self.list.hold_sync():
            self.list.shown = shown
            self.list.relevance = [state.setting.relevance[item] for item in state.items]
            self.list.order = [self._position[item] for item in state.order]
        self.slider.max = max(self.slider.max, state.k)
        self.slider.value = state.k
        self.gain.value = state.gain
        self.focus_on.value = state.focus
        self.undo.disabled = not state.past
        self.reset.disabled = state.setting == state.first
        self.values.value = parts.values(state)
        self.changes.value = parts.changes(state)
        self.formula.value, self.how.value = parts.how(state)

    def _shown(self) -> dict[str, Any]:
        state = self.state
        changed = state.changed()
        change = {one.item: one.change for one in changed.terms}
        place = {item: rank for rank, item in enumerate(state.order, 1)}
        items = []
        for item in state.items:
            label = words.name(item, 200)
            grade, rank = number(state.setting.relevance[item]), place.get(item)
            aria = (
                N_("{item}, rank {rank} of {n}, relevance {relevance}")
                if rank is None or rank <= state.k
                else N_("{item}, rank {rank} of {n}, below the cut-off, relevance {relevance}")
            )
            term, by = changed.now.terms.get(item), change.get(item, 0.0)
            items.append(
                {
                    "label": label,
                    "aria": _(aria, item=label, rank=rank, n=len(state.order), relevance=grade) if rank else label,
                    "aria_relevance": _("relevance of {item}", item=label),
                    "worth": words.short(term) if term else "",
                    "changed": words.turned(by),
                    "turn": "up" if by > 0 else "down" if by < 0 else "",
                }
            )
        texts = {
            "hint": _("Drag an item, or press Alt + ↑ or ↓ on it. + and − change its relevance."),
            "list": ngettext("The list, {n} item", "The list, {n} items", len(state.order)),
            "outside": _("Not recommended"),
            "cut": _("k = {k}: ranks below do not count", k=state.k),
            "k": _("cut-off k"),
            "said": words.announcement(state),
        }
        return {"lang": state.lang, "k": state.k, "items": items, "texts": texts}

    def __repr__(self) -> str:
        return repr(self.state)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/plain": repr(self), "text/html": parts.twin(self.state)}


def _is_grade(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


__all__ = ["Playground", "RankingList"]
