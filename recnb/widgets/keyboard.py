"""Keys pressed in a widget, kept from JupyterLab, which would take a letter typed in a list of choices for a command."""

from __future__ import annotations

from importlib import resources

import anywidget
import ipywidgets as w
import traitlets


class Keys(anywidget.AnyWidget):
    """A hidden part of a widget with a class of its own: it keeps the keys pressed there, and sets the language."""

    _esm = resources.files("recnb.widgets").joinpath("keyboard.js").read_text("utf-8")

    inside = traitlets.Unicode().tag(sync=True)
    lang = traitlets.Unicode("en").tag(sync=True)

    def __init__(self, inside: str, lang: str) -> None:
        super().__init__(inside=inside, lang=lang, layout=w.Layout(display="none"))

    def __repr__(self) -> str:
        return f"Keys({self.inside!r}, {self.lang!r})"


__all__ = ["Keys"]
