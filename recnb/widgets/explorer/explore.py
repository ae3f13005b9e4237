"""The way into the explorer: one evaluation or several, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recnb.errors import RecnbError
from recnb.widgets.explorer.state import ExplorerState

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData
    from recnb.widgets.explorer.view import Explorer


def explorer(
    evaluations: Mapping[str, EvaluationData],
    metric: str = "ndcg",
    k: int | None = 10,
    *,
    lang: str | None = None,
    **options: Any,
) -> Explorer:
    """From a mean to the users behind it, and to one user's list: all of it by hand, in the notebook.

    Several evaluations, by their names, are looked at side by side, over the users that all have in common.
    `.state` is the explorer without its view: `.state.ask(k=5)`, `.state.search("u01")`, `.state.to_frame()`.
    """
    state = ExplorerState(evaluations, metric, k, options, lang)
    try:
        from recnb.widgets.explorer.view import Explorer
    except ImportError as missing:
        raise RecnbError(
            f'explore needs ipywidgets and anywidget, and {missing.name} is not installed: pip install "recnb[notebook]".'
        ) from missing
    return Explorer(state)


__all__ = ["explorer"]
