"""How an evaluation shows itself before anything is asked of it: what was joined, its basis, and what to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.errors import ElsewhereError
from recnb.results import html
from recnb.strings import say

if TYPE_CHECKING:
    from recnb.evaluation import Evaluation

CALLS = (".report()", ".table(k=[5, 10])", ".ndcg(k=10)", ".explain('ndcg', user, k=10)")


def text(evaluation: Evaluation) -> str:
    """For a console."""
    return f"{_title(evaluation)}\n{evaluation.basis()}\n{say('evaluation.ask', calls=', '.join(CALLS))}"


def fragment(evaluation: Evaluation) -> str:
    """For a notebook."""
    title = f"<div><b>{_title(evaluation)}</b></div>"
    ask = say("evaluation.ask", calls=" ".join(f"<code>{call}</code>" for call in CALLS))
    basis = html.note(html.text(evaluation.basis(), 2000))
    return html.root(title, basis, html.note(ask), label=say("evaluation.region"))


def _title(evaluation: Evaluation) -> str:
    counts = evaluation.counts
    try:
        return say("evaluation.title", rows=counts.n_recommended, relevant=counts.n_relevant)
    except ElsewhereError:  # some of the users, whose rows were not counted by themselves
        return say("evaluation.title_away", relevant=counts.n_relevant)
