"""The way into the explorer: one evaluation or several, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recnb.errors import RecnbError
from recnb.widgets.explorer_state import ExplorerState

if TYPE_CHECKING:
    from recnb.evaluation import Evaluation
    from recnb.widgets.explorer_view import Explorer


def explorer(
    evaluations: Evaluation | Mapping[str, Evaluation],
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
    named = evaluations if isinstance(evaluations, Mapping) else {"": evaluations}
    state = ExplorerState(named, metric, k, options, lang)
    try:
        from recnb.widgets.explorer_view import Explorer
    except ImportError as missing:
        raise RecnbError(
            f'explore needs ipywidgets and anywidget, and {missing.name} is not installed: pip install "recnb[notebook]". '
            "Without them, recnb.widgets.explorer_state.ExplorerState does the same without a view."
        ) from missing
    return Explorer(state)


__all__ = ["explorer"]
