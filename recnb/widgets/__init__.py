"""Playground, explorer, exercises and glossary. ipywidgets and anywidget are imported when a widget is shown."""

from recnb.widgets.playground import Playground

playground = Playground

__all__ = ["Playground", "playground"]
