"""One user of the explorer: each model's list with its hits, what it missed, and the worked explanation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import _, use_language
from recnb.errors import RecnbError
from recnb.results.explanation import Explanation, explanation_of

if TYPE_CHECKING:
    from recnb.widgets.explorer.data import ExplorerModel, Look
    from recnb.widgets.explorer.state import ExplorerState

#: Of longer lists these are shown.
RANKS_SHOWN, MISSED_SHOWN = 30, 10


@dataclass(frozen=True)
class Row:
    """One place of a list."""

    rank: int
    item: Any
    title: str  #: what the frame of items calls it, "" if it does not
    relevance: float  #: 0 where it is no hit
    above: bool  #: whether it counts: it stands above the cut-off


@dataclass(frozen=True)
class Missing:
    """A relevant item that does not stand above the cut-off."""

    item: Any
    title: str
    relevance: float
    rank: int | None  #: where it stands further down, if it does


@dataclass(frozen=True)
class List:
    """One model's list of one user."""

    model: str
    value: float
    n_places: int  #: of which `rows` holds the first
    n_hits: int  #: above the cut-off
    n_relevant: int
    rows: tuple[Row, ...]
    missed: tuple[Missing, ...]  #: most relevant first
    n_missed: int


@dataclass(frozen=True)
class Detail:
    """All that is shown of one user."""

    user: Any
    lists: tuple[List, ...]
    explanation: Explanation | None
    problem: str  #: why there is no explanation


def detail_of(state: ExplorerState) -> Detail | None:
    """The user that is looked at; None where this metric evaluates no such user."""
    at = state.at
    if at is None:
        return None
    shown = [state.model, *([state.other] if state.paired else [])]
    lists = tuple(
        _list(state.models[one], state.looks[one], state.population.position_in(one, at), state.k) for one in shown
    )
    explanation, problem = _explained(state)
    return Detail(state.user, lists, explanation, problem)


def _explained(state: ExplorerState) -> tuple[Explanation | None, str]:
    look = state.looks[state.model]
    with use_language(state.lang):
        if look.hits.tied is not None:
            return None, _(
                'Equal scores are averaged over all their orders here (ties="expected"), so there is no one '
                "order to work through; the value is the mean over them."
            )
        try:
            return explanation_of(look.evaluation, state.metric.name, state.user, state.k, state.options), ""
        except RecnbError as refused:
            return None, str(refused)


def _list(model: ExplorerModel, look: Look, at: int, k: int | None) -> List:
    places, relevant, grades, hits = look.of_user(at)
    depth = look.depth(k, at)
    # A convention may count a hit on another rank than it stands on, or on several by chance: the first one is told.
    counted: dict[int, int] = {}
    for row, rank in zip(hits.truth_row.tolist(), hits.rank.tolist(), strict=True):
        counted[row] = min(rank, counted.get(row, rank))
    found = {row for row, rank in counted.items() if rank <= depth}
    hits_of_list = _rows(places, {relevant[row]: (float(grades[row]), row in found) for row in counted}, depth)
    # Above the cut-off all is shown, and below it the hits alone.
    shown = [row for row in hits_of_list if row.above][:RANKS_SHOWN]
    shown += [row for row in hits_of_list if not row.above and row.relevance][:MISSED_SHOWN]
    order = [row for row in np.argsort(-np.asarray(grades), kind="stable").tolist() if row not in found]
    titles = model.evaluation.item_titles([row.item for row in shown] + [relevant[row] for row in order[:MISSED_SHOWN]])
    rows = tuple(replace(row, title=titles.get(row.item, "")) for row in shown)
    further = {item: rank for rank, item in reversed(places)}
    missed = [
        Missing(relevant[row], titles.get(relevant[row], ""), float(grades[row]), further.get(relevant[row]))
        for row in order[:MISSED_SHOWN]
    ]
    return List(
        model=model.name,
        value=float(look.values(k)[at]),
        n_places=len(places),
        n_hits=len(found),
        n_relevant=len(relevant),
        rows=rows,
        missed=tuple(missed),
        n_missed=len(order),
    )


def _rows(places: list[tuple[int, Any]], hits: dict[Any, tuple[float, bool]], depth: int) -> list[Row]:
    """A list, rank by rank; an item that stands there a second time is no hit."""
    rows = []
    for rank, item in places:
        relevance, above = hits.pop(item, (0.0, rank <= depth))
        rows.append(Row(rank, item, "", relevance, above))
    return rows
