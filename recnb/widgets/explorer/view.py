"""The explorer's view: ipywidgets for the controls, and one table in a little JavaScript for the users.

Controls change the state; all is shown from the state again, and no more than a page of it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from recnb.display.language import _, use_language
from recnb.display.text import one_line
from recnb.errors import RecnbError
from recnb.metrics.metric import METRICS
from recnb.widgets.explorer import shown
from recnb.widgets.explorer.state import SHAPES, ExplorerState
from recnb.widgets.view import ROWS, WIDE, View, script

#: The layout of a control.
CONTROL = {"width": "auto", "margin": "2px 14px 2px 0"}


class UsersTable(anywidget.AnyWidget):
    """A histogram to pick from and a page of users; the browser sends messages, and shows texts made in Python."""

    _esm = script("make.js", "explorer/users_table.js")
    _css = script("explorer/users_table.css")

    shown = traitlets.Dict().tag(sync=True)  #: all that is on the page, as text
    words = traitlets.Dict().tag(sync=True)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take nothing from the browser but its messages."""
        super().set_state({name: value for name, value in sync_data.items() if name not in ("shown", "words")})


class Explorer(View):
    """From a mean to the users behind it, and to one user's list; `.state` is what is shown."""

    state: ExplorerState

    def __init__(self, state: ExplorerState) -> None:
        self._detail_key: Any = None
        self._options_of: Any = None  # the metric whose options have controls
        with use_language(state.lang):
            super().__init__("recnb-explorer", state, self._rows(state), shown.still)
        self._show()
        self._on_change(self.metric, lambda name: state.ask(metric=name))
        self._on_change(self.k, lambda k: state.ask(k=k))
        self._on_change(self.whole, lambda whole: state.ask(k=None if whole else self.k.value))
        self._on_change(self.segment, lambda column: state.choose_segment(column or None))
        self._on_change(self.model, state.choose_model)
        self._on_change(self.other, lambda other: state.choose_model(state.names[state.model], other))
        self._on_change(self.shape, state.choose_shape)
        self.table.on_msg(lambda _ignored, content, __: self.act(content))

    def _rows(self, state: ExplorerState) -> list[Any]:
        """Make the controls and lay them out."""

        def dropdown(description: str, options: list[tuple[str, str]]) -> Any:
            return w.Dropdown(options=options, description=description, style=WIDE, layout=CONTROL)

        self.metric = dropdown(_("Metric"), [(f"{METRICS[name].symbol} ({name})", name) for name in state.metrics])
        # A slider that cannot move is not shown at all, so it has two ends even for lists of one item.
        longest = (int(evaluation.prepared.list_length.max(initial=1)) for evaluation in state.evaluations)
        most = max(2, state.k or 1, *longest)
        self.k = w.IntSlider(min=1, max=most, description=_("k"), style=WIDE, layout={"width": "20em"})
        self.whole = w.Checkbox(description=_("whole lists"), indent=False, layout=CONTROL)
        self.options = w.Box([], layout={"flex_flow": "row wrap"})
        columns = [(one_line(name), name) for name in state.segments]
        self.segment = dropdown(_("Segment"), [(_("none"), ""), *columns])
        models = [(one_line(name), name) for name in state.names]
        self.model, self.other = dropdown(_("Model"), models), dropdown(_("compared with"), models)
        self.shape = dropdown(_("Bars show"), [(_(label), shape) for shape, label in SHAPES.items()])
        segment, paired = [self.segment] * bool(columns), [self.model, self.other, self.shape] * state.paired
        self.controls = w.Box([self.metric, self.k, self.whole, self.options, *segment, *paired], layout=ROWS)
        self.summary, self.detail = w.HTML(), w.HTMLMath()
        self.table = UsersTable(words=shown.labels(state.lang))
        return [self.controls, self.summary, self.table, self.detail]

    def _apply(self, act: Callable[[], Any]) -> None:
        self.state.problem = ""
        try:
            act()
        except RecnbError as refused:
            self.state.problem = str(refused)
        self._show()

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
        with self._setting_controls():
            self.metric.value = state.metric.name
            self.k.max = max(self.k.max, state.k or 1)
            self.k.disabled = self.whole.value = state.k is None
            self.k.value = state.k or self.k.value
            self.segment.value, self.shape.value = state.segment or "", state.shape
            self.model.value, self.other.value = state.names[state.model], state.names[state.other]
            self._show_options()
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
            layout = CONTROL | {"width": "11em"}
            control: Any = w.FloatText(value, description=name, style=WIDE, layout=layout)
            control.continuous_update = False  # a number is not to be read before it is typed
        else:
            control = w.Dropdown(options=words, description=name, style=WIDE, layout=CONTROL)
        control.add_class(f"recnb-explorer-option-{name}")
        self._on_change(control, lambda value: self.state.ask(**{name: value}))
        return control


__all__ = ["Explorer", "UsersTable"]
