"""The explorer as HTML: the summary, one user, and all of it where nothing can be run."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from recnb.display.language import use_language
from recnb.display.templates import render
from recnb.widgets.explorer.state import ExplorerState
from recnb.widgets.explorer.table import users_table
from recnb.widgets.explorer.user import detail_of


def summary(state: ExplorerState) -> Markup:
    """Show the mean of each model, that of the segment picked, and the convention behind them."""
    with use_language(state.lang):
        return render("widgets/explorer/summary.jinja", state=state)


def detail(state: ExplorerState) -> Markup:
    """Show the lists of one user with their hits, the items missed, and the worked explanation."""
    with use_language(state.lang):
        return render("widgets/explorer/detail.jinja", state=state, live=True, **_detail(state))


def still(state: ExplorerState) -> Markup:
    """Show the explorer as it is, without a kernel: summary, bars, a page of the table, one user."""
    table = users_table(state)
    with use_language(state.lang):
        return render("widgets/explorer/explorer.jinja", state=state, table=table, live=False, **_detail(state))


def _detail(state: ExplorerState) -> dict[str, Any]:
    user = detail_of(state)
    explanation = None if user is None else user.explanation
    return {"detail": user, "explanation": None if explanation is None else Markup(explanation._repr_html_())}
