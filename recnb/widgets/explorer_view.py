"""The explorer's view: controls of ipywidgets that change the state, from which all is shown again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ipywidgets as w
from markupsafe import Markup

from recnb.display.language import _, use_language
from recnb.display.text import fixed, one_line
from recnb.errors import RecnbError
from recnb.metrics.metric import METRICS
from recnb.widgets.explorer import LISTED, ExplorerState
from recnb.widgets.view import ROWS, WIDE, View

#: The layout of a control, and the longest bar of a list of bars, in signs.
CONTROL, BAR = {"width": "auto", "margin": "2px 14px 2px 0"}, 18


def explorer(models: Mapping[str, Any], metric: str, k: int | None, lang: str | None, **options: Any) -> Explorer:
    """Show the users behind a mean, and each user's list, in a widget."""
    return Explorer(ExplorerState(models, metric, k, options, lang))


class Explorer(View):
    """From a mean to the users behind it, and to one user's list; `.state` is what is shown."""

    state: ExplorerState

    def __init__(self, state: ExplorerState) -> None:
        self._shown: Any = None
        self._metric_of_options = ""
        with use_language(state.lang):
            super().__init__("recnb-explorer", state, self._rows(state), ExplorerState._repr_html_)
            self._show()
        self._on_change(self.metric, lambda name: state.ask(metric=name))
        self._on_change(self.k, lambda k: state.ask(k=k or None))
        self._on_change(self.segment, state.choose_segment)
        self._on_change(self.model, state.choose_models)
        self._on_change(self.other, lambda other: state.choose_models(state.model, other))
        self._on_change(self.bars, lambda label: state.choose_bar(label or ""))
        self._on_change(self.parts, lambda label: state.choose_part(label or ""))
        self._on_change(self.search, state.search)
        self._on_change(self.sort, state.sort)
        self._on_change(self.ascending, lambda yes: setattr(state, "descending", not yes))
        self._on_change(self.users, lambda at: None if at is None else state.choose(self._ids[at]))

    def _rows(self, state: ExplorerState) -> list[Any]:
        """Make the controls and lay them out."""
        self.metric = w.Dropdown(
            options=[(f"{metric.symbol} ({name})", name) for name, metric in METRICS.items()],
            description=_("Metric"), style=WIDE, layout=CONTROL,
        )  # fmt: skip
        self.k = w.BoundedIntText(
            min=0, max=100_000, description=_("k (0: whole lists)"), style=WIDE, layout={"width": "14em"}
        )
        columns = [(_("none"), ""), *((one_line(name), name) for name in state.segments)]
        self.options = w.Box([], layout=ROWS)
        self.segment = w.Dropdown(options=columns, description=_("Segment"), style=WIDE, layout=CONTROL)
        models = [(one_line(name), name) for name in state.models]
        self.model = w.Dropdown(options=models, description=_("Model"), style=WIDE, layout=CONTROL)
        self.other = w.Dropdown(options=models, description=_("compared with"), style=WIDE, layout=CONTROL)
        self.search = w.Text(
            placeholder=_("part of a user id"), description=_("Search users"), style=WIDE, layout=CONTROL
        )
        self.sort = w.Dropdown(
            options=list(zip(state.headers()[1:], state._numbers(), strict=True)), description=_("sort by"), style=WIDE,
            layout=CONTROL,
        )  # fmt: skip
        self.ascending = w.Checkbox(description=_("lowest first"), indent=False, layout=CONTROL)
        self.summary, self.detail = w.HTML(), w.HTMLMath()
        self.header = w.HTML()
        self.bars = w.Select(rows=12, layout={"width": "26em"})
        self.parts = w.Select(rows=5, layout={"width": "26em"})
        self.users = w.Select(rows=16, layout={"width": "34em"})
        for control in (self.bars, self.parts, self.users):
            control.add_class("recnb-lines")
        return [
            w.Box(
                [
                    self.metric,
                    self.k,
                    self.options,
                    self.segment,
                    *([self.model, self.other] if state.is_paired else []),
                ],
                layout=ROWS,
            ),
            self.summary,
            w.Box(
                [
                    w.VBox([self.bars, self.parts]),
                    w.VBox([w.Box([self.search, self.sort, self.ascending], layout=ROWS), self.header, self.users]),
                ],
                layout={"flex_flow": "row wrap", "align_items": "flex-start"},
            ),
            self.detail,
        ]

    def _show_options(self) -> None:
        """Show a list for each option of the metric whose values are words; made again for another metric only."""
        metric = METRICS[self.state.metric]
        if self._metric_of_options != metric.name:
            self._metric_of_options = metric.name
            self.options.children = [
                w.Dropdown(options=words, description=name, style=WIDE, layout=CONTROL)
                for name, words in metric.words.items()
            ]
            for control in self.options.children:
                self._on_change(control, partial(self._ask_option, control.description))
        for control in self.options.children:
            control.value = self.state.options.get(control.description, metric.defaults[control.description])

    def _ask_option(self, name: str, word: str) -> None:
        self.state.ask(**{name: word})

    def _apply(self, act: Callable[[], Any]) -> None:
        with use_language(self.state.lang):
            try:
                act()
            except RecnbError as refused:
                self.state.problem = str(refused)
            self._show()

    def _show(self) -> None:
        """Show the state in all controls."""
        state = self.state
        header, lines = state.lines()
        self._ids = [user for _line, user in lines]
        n_shown = len(state.to_frame())
        with self._setting_controls():
            self.metric.value, self.k.value, self.segment.value = state.metric, state.k or 0, state.segment
            self.model.value, self.other.value = state.model, state.other
            self._show_options()
            self.sort.value, self.ascending.value = state.sorting, not state.descending
            self.bars.options = [(_("all users"), ""), *_with_bars(state.bars())]
            self.bars.value = state.bar
            means = state.means_of_segments()
            self.parts.options = [
                (_("all segments"), ""),
                *((f"{one_line(name, 20)}  {n:,}  {fixed(mean)}", name) for name, (n, mean) in means.items()),
            ]
            self.parts.value = state.part
            self.parts.layout.display = "" if means else "none"
            self.users.options = [(line, at) for at, (line, _user) in enumerate(lines)]
            self.users.value = self._ids.index(state.user) if state.user in self._ids else None
        n_listed = _("{n:,} of {all:,} users", n=min(n_shown, LISTED), all=n_shown)
        self.header.value = str(Markup("<small>{}</small><pre>{}</pre>").format(n_listed, header))
        self.summary.value = state.summary()
        key = (state.user, state.metric, state.k, tuple(state.options.items()))
        if key != self._shown:
            self._shown, self.detail.value = key, state.detail()


def _with_bars(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return a line of text for each bar: its label, as many blocks as users, and their number."""
    most, width = max(1, *counts.values()), max(map(len, counts))
    return [(f"{label.ljust(width)}  {'█' * round(BAR * n / most)} {n:,}", label) for label, n in counts.items()]
