"""What the views of playground, explorer and quiz share: controls that change a state, from which all is shown again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

#: Styles of controls: a description as long as it is, a control as wide as its text, and controls in rows.
WIDE = {"description_width": "initial"}
FITTING = {"width": "max-content"}
ROWS = {"flex_flow": "row wrap", "align_items": "center"}


def script(*paths: str) -> str:
    """Return a script, of one or several files, or a style sheet of the widgets."""
    return "\n".join(resources.files("recnb.widgets").joinpath(path).read_text("utf-8") for path in paths)


class Controls(anywidget.AnyWidget):
    """A hidden part of a widget: it keeps keys from JupyterLab, names controls for screen readers, and sets the language.

    JupyterLab would take a letter typed in a list of choices for a command.
    """

    _esm = script("controls.js")
    _css = script("controls.css")

    lang = traitlets.Unicode("en").tag(sync=True)


class View(w.VBox):  # type: ignore[misc]
    """A widget of a state, with its text and a still picture for where no widget can be shown.

    `name` is its CSS class; each widget that is an attribute has it with the name of the attribute as a class of its own.
    `still` makes HTML of the state that needs no kernel, script or style sheet.
    """

    def __init__(self, name: str, state: Any, rows: Sequence[Any], still: Callable[[Any], str]) -> None:
        self.state, self._still = state, still
        self._showing = False
        super().__init__([*rows, Controls(lang=state.lang, layout=w.Layout(display="none"))])
        self.add_class("recnb-view").add_class(name)
        for attribute, part in vars(self).items():
            if isinstance(part, w.DOMWidget):
                part.add_class(f"{name}-{attribute}")

    def _on_change(self, control: Any, act: Callable[[Any], Any], value: str = "value") -> None:
        """Let each new value of a control act on the state, but for those that the view itself sets."""
        control.observe(lambda change: None if self._showing else self._apply(lambda: act(change["new"])), value)

    def _apply(self, act: Callable[[], Any]) -> None:
        """Act on the state, and show what has changed."""
        act()

    @contextmanager
    def _setting_controls(self) -> Iterator[None]:
        """Let the view set its controls, which then change nothing."""
        self._showing = True
        try:
            yield
        finally:
            self._showing = False

    def __repr__(self) -> str:
        return repr(self.state)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        return {**bundle, "text/plain": repr(self), "text/html": str(self._still(self.state))}
