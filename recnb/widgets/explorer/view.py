"""The explorer's view: ipywidgets for what is looked at, and one table in a little JavaScript for the users.

What the hand does goes to the state; what is shown is made anew from it, and no more than a page of it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from importlib import resources
from typing import Any, TypeGuard

import anywidget
import ipywidgets as w  # type: ignore[import-untyped]
import traitlets

from recnb.display.language import N_, _, use_language
from recnb.display.text import one_line
from recnb.metrics.metric import METRICS
from recnb.widgets.explorer import html
from recnb.widgets.explorer.payload import LONGEST, told, words
from recnb.widgets.explorer.state import SHAPES, ExplorerState
from recnb.widgets.keyboard import Keys

#: What bars show.
BAR_SHAPES: dict[str, str] = {
    "value": N_("values"),
    "difference": N_("differences"),
}


_FILES = resources.files("recnb.widgets.explorer")


class UsersTable(anywidget.AnyWidget):
    """Bars to pick from and a page of users; the browser says what was done, and shows what it is told."""

    _esm = _FILES.joinpath("users_table.js").read_text("utf-8")
    _css = _FILES.joinpath("users_table.css").read_text("utf-8")

    shown = traitlets.Dict().tag(sync=True)  #: all that is on the page, as text
    words = traitlets.Dict().tag(sync=True)
    lang = traitlets.Unicode("en").tag(sync=True)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take nothing from the browser but its messages: what is shown is Python's to say."""
        super().set_state({name: value for name, value in sync_data.items() if name not in ("shown", "words", "lang")})

    def __repr__(self) -> str:
        return f"UsersTable({len(self.shown.get('rows', []))} rows)"


class Explorer(w.VBox):  # type: ignore[misc]
    """From a mean to the users behind it, to one user's list; `.state` is what is shown."""

    def __init__(self, state: ExplorerState) -> None:
        self.state = state
        self._quiet = False
        self._detailed: Any = None
        self._options_of: Any = None  # the metric that the controls of options are of
        with use_language(state.lang):
            self._make()
            super().__init__([self.controls, self.summary, self.table, self.detail, Keys("recnb-explorer", state.lang)])
        self.add_class("recnb-explorer")
        self._show()
        self._wire()

    def _make(self) -> None:
        state, wide = self.state, {"description_width": "initial"}
        fits = w.Layout(width="auto", margin="2px 14px 2px 0")
        measures = [(f"{METRICS[name].symbol} ({name})", name) for name in state.metrics]
        self.metric = w.Dropdown(options=measures, description=_("Metric"), style=wide, layout=fits)
        # A slider that cannot move does not show at all, so it has two ends even for lists of one item.
        self.k = w.IntSlider(
            min=1, max=max(2, state.longest), description=_("k"), style=wide, layout=w.Layout(width="20em")
        )
        self.whole = w.Checkbox(description=_("whole lists"), indent=False, layout=fits)
        self.options = w.Box([], layout=w.Layout(flex_flow="row wrap"))
        columns = [(_("none"), ""), *((one_line(name, LONGEST), name) for name in state.segments.names)]
        self.segment = w.Dropdown(options=columns, description=_("Segment"), style=wide, layout=fits)
        models = [(one_line(name, LONGEST), name) for name in state.names]
        self.model = w.Dropdown(options=models, description=_("Model"), style=wide, layout=fits)
        self.other = w.Dropdown(options=models, description=_("compared with"), style=wide, layout=fits)
        shapes = [(_(BAR_SHAPES[one]), one) for one in SHAPES]
        self.shape = w.Dropdown(options=shapes, description=_("Bars show"), style=wide, layout=fits)
        self.summary, self.table, self.detail = (
            w.HTML(),
            UsersTable(words=words(state.lang), lang=state.lang),
            w.HTMLMath(),
        )
        paired = [self.model, self.other, self.shape] if state.paired else []
        segments = [self.segment] if state.segments.names else []
        self.controls = w.Box(
            [self.metric, self.k, self.whole, self.options, *segments, *paired], layout=w.Layout(flex_flow="row wrap", align_items="center")
        )  # fmt: skip
        marked = {
            "metric": self.metric, "k": self.k, "whole": self.whole, "options": self.options, "segment": self.segment,
            "model": self.model, "other": self.other, "shape": self.shape, "summary": self.summary, "table": self.table,
            "detail": self.detail, "controls": self.controls,
        }  # fmt: skip
        for name, one in marked.items():
            one.add_class(f"recnb-explorer-{name}")

    def _wire(self) -> None:
        state = self.state
        self.metric.observe(self._by_hand(lambda name: state.ask(metric=name)), "value")
        self.k.observe(self._by_hand(lambda k: state.ask(k=k)), "value")
        self.whole.observe(self._by_hand(lambda whole: state.ask(k=None if whole else self.k.value)), "value")
        self.segment.observe(self._by_hand(lambda column: state.choose_segment(column or None)), "value")
        self.model.observe(self._by_hand(state.choose_model), "value")
        self.other.observe(self._by_hand(lambda other: state.choose_model(state.names[state.model], other)), "value")
        self.shape.observe(self._by_hand(state.choose_shape), "value")
        self.table.on_msg(lambda _ignored, content, __: self.act(content))

    def _by_hand(self, act: Callable[[Any], Any]) -> Callable[[Any], None]:
        """Do what a control says and show what became of it; what the view sets by itself is no such thing."""

        def acted(change: Any) -> None:
            if not self._quiet:
                self.state.problem = ""
                act(change["new"])
                self._show()

        return acted

    def act(self, message: Any) -> None:
        """Do what a message of the table says; one that makes no sense is ignored."""
        if not isinstance(message, Mapping):
            return
        state, kind = self.state, message.get("kind")
        at, page, text, column = (message.get(name) for name in ("at", "page", "text", "column"))
        if kind == "pick" and _is_index(at) and at in state.on_page():
            state.choose(at)
        elif kind == "turn" and _is_index(page):
            state.turn(page)
        elif kind == "bar" and _is_index(at):
            state.pick_bar(at)
        elif kind == "part" and _is_index(at):
            state.pick_part(at)
        elif kind == "search" and isinstance(text, str):
            state.search(text)
        elif kind == "sort" and isinstance(column, str):
            state.sort(column)
        elif kind == "all":
            state.show_all()
        else:
            return
        self._show()

    def _show(self) -> None:
        """Everything anew from the state; what is as it was is not sent."""
        state = self.state
        with self._by_itself():
            self.metric.value = state.metric.name
            self.k.max = max(self.k.max, state.k or 1)
            self.k.disabled = self.whole.value = state.k is None
            if state.k is not None:
                self.k.value = state.k
            self.segment.value = state.segment or ""
            self.model.value, self.other.value = state.names[state.model], state.names[state.other]
            self.shape.value = state.shape
            self._show_options()
        self.summary.value = html.summary(state)
        self.table.shown = told(state)
        key = (
            state.user,
            state.chosen_by_hand,
            state.metric.name,
            state.k,
            tuple(state.options.items()),
            state.model,
            state.other,
        )
        if key != self._detailed:
            self._detailed = key
            self.detail.value = html.detail(state)

    @contextmanager
    def _by_itself(self) -> Any:
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _show_options(self) -> None:
        """A control for each option of the metric, made anew if it is another metric's."""
        state = self.state
        chosen = state.options_in_force()
        if self._options_of is not state.metric:
            self._options_of = state.metric
            self.options.children = [self._option(name) for name in chosen]
        for one in self.options.children:
            one.value = chosen[one.description]

    def _option(self, name: str) -> Any:
        style, layout = {"description_width": "initial"}, w.Layout(width="auto", margin="2px 14px 2px 0")
        own = self.state.metric.words.get(name)
        if own is None:
            number = w.Layout(width="11em", margin="2px 14px 2px 0")
            control: Any = w.FloatText(
                self.state.options_in_force()[name], description=name, style=style, layout=number
            )
            control.continuous_update = False  # half a number is none
        else:
            control = w.Dropdown(options=own, description=name, style=style, layout=layout)
        control.add_class(f"recnb-explorer-option-{name}")
        control.observe(self._by_hand(lambda value: self.state.ask(**{name: value})), "value")
        return control

    def __repr__(self) -> str:
        return repr(self.state)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/plain": repr(self), "text/html": html.still(self.state)}


def _is_index(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


__all__ = ["Explorer", "UsersTable"]
