"""Playground, explorer and exercises.

ipywidgets and anywidget are imported when a widget is shown.
"""

from recnb.widgets.playground import Playground

playground = Playground

__all__ = ["Playground", "playground"]
