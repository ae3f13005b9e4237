"""The explorer: from the mean of a metric to the users behind it, and to one user's list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recnb.results.evaluation_data import EvaluationData
from recnb.widgets import needs_notebook
from recnb.widgets.explorer.state import ExplorerState

if TYPE_CHECKING:
    from recnb.widgets.explorer.view import Explorer


def explorer(
    evaluations: Mapping[str, EvaluationData],
    metric: str = "ndcg",
    k: int | None = 10,
    *,
    lang: str | None = None,
    **options: Any,
) -> Explorer:
    """Show the users behind a mean, and each user's list, in a widget.

    Several evaluations, by their names, are shown side by side, over the users that all have in common.
    `.state` is the explorer without its view: `.state.ask(k=5)`, `.state.search("u01")`, `.state.to_frame()`.
    """
    state = ExplorerState(evaluations, metric, k, options, lang)
    with needs_notebook("explore"):
        from recnb.widgets.explorer.view import Explorer
    return Explorer(state)


__all__ = ["explorer"]
