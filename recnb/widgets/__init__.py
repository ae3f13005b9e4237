"""Widgets: views over the explanations of `recnb.results`, each with a state that knows no widget and a still twin in HTML.

ipywidgets and anywidget are imported when a view is made; `PlaygroundState` needs neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.errors import RecnbError
from recnb.results.single_list import Ranking, Truth
from recnb.widgets.playground.state import METRICS, PlaygroundState

if TYPE_CHECKING:
    from recnb.results.arguments import Metrics
    from recnb.widgets.playground.view import Playground


def playground(
    ranking: Ranking | None = None,
    truth: Truth | None = None,
    metrics: Metrics = METRICS,
    *,
    k: int | None = None,
    lang: str | None = None,
) -> Playground:
    """A ranked list whose items are moved, and beside it what each move does to the metrics.

    Items are dragged, or moved with Alt and an arrow key; how relevant each is, the cut-off k and the gain are changed in
    place. The metric in focus, at first the last one named, is worked out: its formula, the numbers put in, and which
    terms the last step changed. What is given is the same as for `recnb.ndcg`: items in rank order and what is relevant,
    or the grades of a list alone; without anything, a small example.

    `.state` is the playground without its view: `playground().state.move("C", 1)`, `.state.values()`,
    `.state.sentence()`. Needs `recnb[notebook]`.
    """
    try:
        from recnb.widgets.playground.view import Playground
    except ImportError as missing:
        raise RecnbError(
            f'playground needs ipywidgets and anywidget, and {missing.name} is not installed: pip install "recnb[notebook]". '
            "Without them, recnb.widgets.PlaygroundState does the same without a view."
        ) from missing
    return Playground(PlaygroundState(ranking, truth, metrics, k=k, lang=lang))


__all__ = ["PlaygroundState", "playground"]
