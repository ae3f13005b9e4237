"""Widgets: playground, explorer and exercises, each a state that imports no widget library, a view and HTML without a kernel.

ipywidgets and anywidget are imported when a view is made; `PlaygroundState` needs neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recnb.data import Frame
from recnb.errors import RecnbError
from recnb.results.arguments import Metrics
from recnb.results.single_list import Ranking, Truth
from recnb.widgets.playground.state import METRICS, PlaygroundState

if TYPE_CHECKING:
    from recnb.widgets.playground.view import Playground


@contextmanager
def needs_notebook(call: str, without: str = "") -> Iterator[None]:
    """Name the extra to install where the import of a view fails."""
    try:
        yield
    except ImportError as missing:
        raise RecnbError(
            f'{call} needs ipywidgets and anywidget, and {missing.name} is not installed: pip install "recnb[notebook]".{without}'
        ) from missing


def playground(
    ranking: Ranking | None = None,
    truth: Truth | None = None,
    metrics: Metrics = METRICS,
    *,
    k: int | None = None,
    lang: str | None = None,
    items: Mapping[Any, str] | Frame | None = None,
) -> Playground:
    """Show a ranked list whose items can be moved, and how each move changes its metrics. Needs `recnb[notebook]`.

    Items are dragged, or moved with Alt and an arrow key; relevance, the cut-off k and the gain are changed in place.
    The metric in focus is worked out: its formula, the numbers put in, and which terms the last step changed.
    `.state` is the playground without its view: `playground().state.move("C", 1)`, `.state.values()`,
    `.state.sentence()`.

    Parameters
    ----------
    ranking, truth
        Items in rank order and the relevant items, as `recnb.ndcg` takes them; or the grades of a list alone.
        By default a small example.
    metrics
        Names of metrics, or a mapping of each to its options.
    k
        The cut-off, by default the length of the list.
    lang
        "en" or "ko", by default the language that is set.
    items
        Titles of items: a mapping of item to title, or a frame with the items and their titles.
    """
    without = " Without them, recnb.widgets.PlaygroundState does the same without a view."
    with needs_notebook("playground", without):
        from recnb.widgets.playground.view import Playground
    return Playground(PlaygroundState(ranking, truth, metrics, k=k, lang=lang, items=items))


__all__ = ["PlaygroundState", "playground"]
