"""One user of the explorer: each model's list with its hits, the items missed, and the worked explanation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recnb.display.language import _, use_language
from recnb.errors import RecnbError
from recnb.results.explanation import Explanation, explanation_of
from recnb.widgets.explorer.data import MetricOfUsers
from recnb.widgets.explorer.state import ExplorerState

#: Rows shown of longer lists.
RANKS_SHOWN, MISSED_SHOWN = 30, 10


@dataclass(frozen=True)
class ShownItem:
    """An item of a list, or a relevant item that was missed."""

    rank: int | None  #: None if it is not in the list
    item: Any
    title: str  #: "" if the item has none
    relevance: float  #: 0 if the item is not a hit
    above: bool = False  #: whether it is above the cut-off


@dataclass(frozen=True)
class ExplorerList:
    """One model's list for one user."""

    model: str
    value: float
    n_places: int  #: of which `rows` holds the first
    n_hits: int  #: above the cut-off
    n_relevant: int
    rows: tuple[ShownItem, ...]
    missed: tuple[ShownItem, ...]  #: the most relevant first
    n_missed: int


@dataclass(frozen=True)
class UserDetail:
    """What is shown of one user."""

    user: Any
    lists: tuple[ExplorerList, ...]
    explanation: Explanation | None
    problem: str  #: why there is no explanation


def detail_of(state: ExplorerState) -> UserDetail | None:
    """Return the lists of the user shown; None if this metric does not evaluate the user."""
    position = state.at
    if position is None:
        return None
    models = [state.model, *([state.other] if state.paired else [])]
    positions = [int(state.population.positions[model][position]) for model in models]
    lists = [
        _list(state.names[model], state.looks[model], at, state.k) for model, at in zip(models, positions, strict=True)
    ]
    explanation, problem = None, ""
    look = state.looks[state.model]
    with use_language(state.lang):
        if look.hits.tied is not None:
            problem = _(
                'Equal scores are averaged over all their orders here (ties="expected"), so there is no one '
                "order to work through; the value is the mean over them."
            )
        else:
            try:
                explanation = explanation_of(look.evaluation, state.metric.name, state.user, state.k, state.options)
            except RecnbError as refused:
                problem = str(refused)
    return UserDetail(state.user, tuple(lists), explanation, problem)


def _list(name: str, model: MetricOfUsers, position: int, k: int | None) -> ExplorerList:
    places, relevant, grades, hits = model.list_of(position)
    depth = model.depth(k, position)
    # A convention may count a hit at another rank than its own, or at several: the first one is shown.
    counted: dict[int, int] = {}
    for row, rank in zip(hits.truth_row.tolist(), hits.rank.tolist(), strict=True):
        counted[row] = min(rank, counted.get(row, rank))
    found = {row for row, rank in counted.items() if rank <= depth}
    missed = [row for row in np.argsort(-np.asarray(grades), kind="stable").tolist() if row not in found]
    # Above the cut-off all rows are shown, below it the hits. An item that is in the list twice is a hit once.
    row_of = {relevant[row]: row for row in counted}
    above, below = [], []
    for rank, item in places:
        hit = row_of.pop(item, None)
        if rank <= depth if hit is None else hit in found:
            above.append((rank, item, 0.0 if hit is None else float(grades[hit])))
        elif hit is not None:
            below.append((rank, item, float(grades[hit])))
    above, below = above[:RANKS_SHOWN], below[:MISSED_SHOWN]
    shown_missed = missed[:MISSED_SHOWN]
    titles = model.evaluation.item_titles(
        [item for _rank, item, _grade in above + below] + [relevant[row] for row in shown_missed]
    )
    rank_of = {item: rank for rank, item in reversed(places)}
    return ExplorerList(
        model=name,
        value=float(model.values(k)[position]),
        n_places=len(places),
        n_hits=len(found),
        n_relevant=len(relevant),
        rows=tuple(
            ShownItem(rank, item, titles.get(item, ""), grade, is_above)
            for is_above, rows in ((True, above), (False, below))
            for rank, item, grade in rows
        ),
        missed=tuple(
            ShownItem(rank_of.get(item), item, titles.get(item, ""), float(grades[row]))
            for row, item in ((row, relevant[row]) for row in shown_missed)
        ),
        n_missed=len(missed),
    )
