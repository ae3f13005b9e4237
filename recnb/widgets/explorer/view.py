"""The explorer's view: ipywidgets for the controls, and one table in a little JavaScript for the users.

Controls change the state; all is shown from the state again, and no more than a page of it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from recnb.display.language import N_, _, use_language
from recnb.display.text import one_line
from recnb.metrics.metric import METRICS
from recnb.widgets.explorer import shown
from recnb.widgets.explorer.state import ExplorerState
from recnb.widgets.keyboard import Keys

BAR_SHAPES: dict[str, str] = {"value": N_("values"), "difference": N_("differences")}

#: Styles of controls.
WIDE = {"description_width": "initial"}
FITTING = {"width": "auto", "margin": "2px 14px 2px 0"}

_FILES = resources.files("recnb.widgets.explorer")


class UsersTable(anywidget.AnyWidget):
    """A histogram to pick from and a page of users; the browser sends messages, and shows texts made in Python."""

    _esm = _FILES.joinpath("users_table.js").read_text("utf-8")
    _css = _FILES.joinpath("users_table.css").read_text("utf-8")

    shown = traitlets.Dict().tag(sync=True)  #: all that is on the page, as text
    words = traitlets.Dict().tag(sync=True)
    lang = traitlets.Unicode("en").tag(sync=True)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take nothing from the browser but its messages."""
        super().set_state({name: value for name, value in sync_data.items() if name not in ("shown", "words", "lang")})

    def __repr__(self) -> str:
        return f"UsersTable({len(self.shown.get('rows', []))} rows)"


class Explorer(w.VBox):  # type: ignore[misc]
    """From a mean to the users behind it, and to one user's list; `.state` is what is shown."""

    def __init__(self, state: ExplorerState) -> None:
        self.state = state
        self._showing = False
        self._detail_key: Any = None
        self._options_of: Any = None  # the metric whose options have controls
        with use_language(state.lang):
            self._make()
            super().__init__([self.controls, self.summary, self.table, self.detail, Keys("recnb-explorer", state.lang)])
        self.add_class("recnb-explorer")
        self._show()
        self._connect()

    def _make(self) -> None:
        state = self.state

        def dropdown(description: str, options: list[tuple[str, str]]) -> Any:
            return w.Dropdown(options=options, description=description, style=WIDE, layout=w.Layout(**FITTING))

        self.metric = dropdown(_("Metric"), [(f"{METRICS[name].symbol} ({name})", name) for name in state.metrics])
        # A slider that cannot move is not shown at all, so it has two ends even for lists of one item.
        longest = (int(evaluation.prepared.list_length.max(initial=1)) for evaluation in state.evaluations)
        most = max(2, state.k or 1, *longest)
        self.k = w.IntSlider(min=1, max=most, description=_("k"), style=WIDE, layout=w.Layout(width="20em"))
        self.whole = w.Checkbox(description=_("whole lists"), indent=False, layout=w.Layout(**FITTING))
        self.options = w.Box([], layout=w.Layout(flex_flow="row wrap"))
        columns = [(one_line(name), name) for name in state.segments.names]
        self.segment = dropdown(_("Segment"), [(_("none"), ""), *columns])
        models = [(one_line(name), name) for name in state.names]
        self.model, self.other = dropdown(_("Model"), models), dropdown(_("compared with"), models)
        self.shape = dropdown(_("Bars show"), [(_(label), shape) for shape, label in BAR_SHAPES.items()])
        segment = [self.segment] if columns else []
        paired = [self.model, self.other, self.shape] if state.paired else []
        self.controls = w.Box(
            [self.metric, self.k, self.whole, self.options, *segment, *paired],
            layout=w.Layout(flex_flow="row wrap", align_items="center"),
        )
        self.summary, self.detail = w.HTML(), w.HTMLMath()
        self.table = UsersTable(words=shown.labels(state.lang), lang=state.lang)
        for name in (
            "metric", "k", "whole", "options", "segment", "model", "other", "shape", "summary", "table", "detail", "controls",
        ):  # fmt: skip
            getattr(self, name).add_class(f"recnb-explorer-{name}")

    def _connect(self) -> None:
        state = self.state
        self.metric.observe(self._on_change(lambda name: state.ask(metric=name)), "value")
        self.k.observe(self._on_change(lambda k: state.ask(k=k)), "value")
        self.whole.observe(self._on_change(lambda whole: state.ask(k=None if whole else self.k.value)), "value")
        self.segment.observe(self._on_change(lambda column: state.choose_segment(column or None)), "value")
        self.model.observe(self._on_change(state.choose_model), "value")
        self.other.observe(self._on_change(lambda other: state.choose_model(state.names[state.model], other)), "value")
        self.shape.observe(self._on_change(state.choose_shape), "value")
        self.table.on_msg(lambda _ignored, content, __: self.act(content))

    def _on_change(self, act: Callable[[Any], Any]) -> Callable[[Any], None]:
        """Apply a control to the state and show the state; values that the view itself sets are not applied."""

        def apply(change: Any) -> None:
            if not self._showing:
                self.state.problem = ""
                act(change["new"])
                self._show()

        return apply

    def act(self, message: Any) -> None:
        """Apply a message of the table; one that is not valid is ignored."""
        state = self.state
        actions: dict[Any, tuple[str, type, Callable[[Any], None]]] = {
            "pick": ("at", int, state.choose),
            "turn": ("page", int, state.turn),
            "bar": ("at", int, state.pick_bar),
            "part": ("at", int, state.pick_part),
            "search": ("text", str, state.search),
            "sort": ("column", str, state.sort),
            "all": ("kind", str, lambda _kind: state.show_all()),
        }
        kind = message.get("kind") if isinstance(message, Mapping) else None
        if not isinstance(kind, str) or kind not in actions:
            return
        name, wanted, action = actions[kind]
        value = message.get(name)
        if type(value) is not wanted or (isinstance(value, int) and value < 0):
            return
        if kind != "pick" or value in state.on_page():
            action(value)
            self._show()

    def _show(self) -> None:
        """Show the state in all controls; only what has changed is sent to the browser."""
        state = self.state
        self._showing = True
        try:
            self.metric.value = state.metric.name
            self.k.max = max(self.k.max, state.k or 1)
            self.k.disabled = self.whole.value = state.k is None
            if state.k is not None:
                self.k.value = state.k
            self.segment.value, self.shape.value = state.segment or "", state.shape
            self.model.value, self.other.value = state.names[state.model], state.names[state.other]
            self._show_options()
        finally:
            self._showing = False
        self.summary.value = shown.summary(state)
        self.table.shown = shown.users_table(state)
        options = tuple(state.options.items())
        key = (state.user, state.chosen_by_hand, state.metric.name, state.k, options, state.model, state.other)
        if key != self._detail_key:
            self._detail_key = key
            self.detail.value = shown.detail(state)

    def _show_options(self) -> None:
        """Show a control for each option of the metric; they are made again for another metric only."""
        options = self.state.options_in_force()
        if self._options_of is not self.state.metric:
            self._options_of = self.state.metric
            self.options.children = [self._option(name, value) for name, value in options.items()]
        for control in self.options.children:
            control.value = options[control.description]

    def _option(self, name: str, value: Any) -> Any:
        words = self.state.metric.words.get(name)
        if words is None:
            layout = w.Layout(**{**FITTING, "width": "11em"})
            control: Any = w.FloatText(value, description=name, style=WIDE, layout=layout)
            control.continuous_update = False  # a number is not to be read before it is typed
        else:
            control = w.Dropdown(options=words, description=name, style=WIDE, layout=w.Layout(**FITTING))
        control.add_class(f"recnb-explorer-option-{name}")
        control.observe(self._on_change(lambda value: self.state.ask(**{name: value})), "value")
        return control

    def __repr__(self) -> str:
        return repr(self.state)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/plain": repr(self), "text/html": str(shown.still(self.state))}


__all__ = ["Explorer", "UsersTable"]
