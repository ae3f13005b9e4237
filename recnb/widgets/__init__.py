"""Widgets: playground, explorer and exercises, and the glossary.

Each widget is HTML that Python makes; where a kernel runs, its controls change it. ipywidgets and anywidget are imported
when a widget is shown; everything else needs neither.
"""

from recnb.widgets.playground import Playground

playground = Playground

__all__ = ["Playground", "playground"]
