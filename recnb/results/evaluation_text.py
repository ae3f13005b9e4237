"""How an evaluation shows itself before anything is asked of it: what was joined, its basis, and what to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.display import html
from recnb.display.language import _
from recnb.errors import ElsewhereError

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

CALLS = (".report()", ".table(k=[5, 10])", ".ndcg(k=10)", ".explain('ndcg', user, k=10)")


def text(evaluation: EvaluationData) -> str:
    """For a console."""
    return f"{_title(evaluation)}\n{evaluation.basis()}\n{_('Ask {calls}', calls=', '.join(CALLS))}"


def fragment(evaluation: EvaluationData) -> str:
    """For a notebook."""
    title = f"<div><b>{_title(evaluation)}</b></div>"
    ask = _("Ask {calls}", calls=" ".join(f"<code>{call}</code>" for call in CALLS))
    basis = html.note(html.text(evaluation.basis(), 2000))
    return html.root(title, basis, html.note(ask), label=_("evaluation"))


def _title(evaluation: EvaluationData) -> str:
    counts = evaluation.counts
    try:
        return _(
            "Evaluation of {rows:,} recommended rows against {relevant:,} relevant items",
            rows=counts.n_recommended,
            relevant=counts.n_relevant,
        )
    except ElsewhereError:  # some of the users, whose rows were not counted by themselves
        return _(
            "Evaluation of some users' lists, which are not here, against {relevant:,} relevant items",
            relevant=counts.n_relevant,
        )
