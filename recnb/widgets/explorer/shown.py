"""The contents of an explorer: the table of users as text for the browser; summary, one user and the still picture as HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from recnb.display.language import N_, _, ngettext, use_language
from recnb.display.templates import render
from recnb.display.text import fixed, one_line, percent, signed
from recnb.errors import RecnbError
from recnb.metrics.formula import number
from recnb.metrics.hits import Ints
from recnb.results.explanation import Explanation, explanation_of
from recnb.widgets.explorer.data import MetricOfUsers
from recnb.widgets.explorer.histogram import Bar
from recnb.widgets.explorer.state import PAGE, ExplorerState

COLUMNS: dict[str, str] = {
    "user": N_("user"),
    "hits": N_("hits"),
    "relevant": N_("relevant"),
    "length": N_("list length"),
    "difference": N_("difference"),
}

#: Segments that are listed, and characters of the name of a model where there are two.
SEGMENTS_LISTED, MODEL_NAME = 30, 30

#: Rows shown of longer lists.
RANKS_SHOWN, MISSED_SHOWN = 30, 10


def users_table(state: ExplorerState) -> dict[str, Any]:
    """Return all that the table of users shows; nothing else is sent to the browser."""
    with use_language(state.lang):
        n_shown = len(state.shown())
        state.turn(state.page)
        page, first = state.on_page(), state.page * PAGE + 1
        rows = zip(*(_cells(state, name, page) for name in state.table), strict=True)
        users = ngettext("{n:,} user", "{n:,} users", int(state.in_part().sum()))
        what = state.label
        if state.paired:
            other = f" − {one_line(state.names[state.other], MODEL_NAME)}" if state.shape == "difference" else ""
            what = f"{state.label}, {one_line(state.names[state.model], MODEL_NAME)}{other}"
        mean_of = signed if state.shape == "difference" else fixed
        at = state.at
        value = "" if at is None else f"{one_line(state.user)}: {state.label} = {fixed(float(state.values()[at]))}"
        return {
            "columns": [_column(state, name) for name in state.table],
            "rows": [{"at": at, "cells": list(cells)} for at, cells in zip(page.tolist(), rows, strict=True)],
            "chosen": at,
            "said": value,
            "page": state.page,
            "pages": state.pages,
            "range": _("{first:,}–{last:,} of {n:,}", first=first, last=first - 1 + len(page), n=n_shown)
            if n_shown
            else _("no user matches"),
            "bars": _bars(
                _("{users} by {what}", what=what, users=users),
                state.bars(),
                lambda bar: f"{bar.count:,} · {percent(bar.share)}",
            ),
            "parts": _bars(
                _("Mean {what} by {column} · users", what=what, column=one_line(state.segment)),
                state.means_of_parts()[:SEGMENTS_LISTED],
                lambda part: f"{mean_of(part.share)} · {part.count:,}",
            ),
            "search": state.text,
            "filtered": bool(state.text or state.picked or state.part is not None),
        }


def labels(lang: str) -> dict[str, str]:
    """Return the labels of controls, which stay the same."""
    with use_language(lang):
        return {
            "search": _("Search users"),
            "search_hint": _("part of a user id"),
            "show_all": _("Show all"),
            "previous": _("previous page"),
            "next": _("next page"),
            "first": _("first page"),
            "last": _("last page"),
            "table": _("users, by their value"),
            "pick_bar": _("Show only these users"),
            "pick_part": _("Show only this segment"),
            "pages": _("Pages"),
            "how": _("Enter or click shows the user's list below; arrow keys move, column heads sort."),
        }


def _column(state: ExplorerState, name: str) -> dict[str, Any]:
    direction = "descending" if state.descending else "ascending"
    return {
        "key": name,
        "label": _(COLUMNS[name]) if name in COLUMNS else one_line(state.header(name)),
        "number": name not in ("user", "segment"),
        "sort": direction if state.sorting == name else "none",
    }


def _cells(state: ExplorerState, column: str, page: Ints) -> list[str]:
    """Return a column of the page as text."""
    if column == "user":
        return [one_line(user) for user in state.users.gather(page).to_list()]
    numbers = state.table[column][page].tolist()
    if column == "segment" and state.parts is not None:
        return [one_line(state.parts.labels[code]) for code in numbers]
    if column in ("hits", "relevant", "length"):
        return [number(round(float(value), 2)) for value in numbers]
    return [(signed if column == "difference" else fixed)(value) for value in numbers]


def _bars(title: str, bars: list[Bar], text_of: Callable[[Bar], str]) -> dict[str, Any] | None:
    """Return bars, each as long as its share of the longest, with its numbers; None if there are none."""
    sizes = np.nan_to_num(np.abs([bar.share for bar in bars]))
    shares = (sizes / (sizes.max(initial=0.0) or 1.0)).tolist()
    items = [
        {"label": one_line(bar.label), "text": text_of(bar), "share": round(share, 4), "picked": bar.picked}
        for bar, share in zip(bars, shares, strict=True)
    ]
    return {"title": title, "items": items} if items else None


# One user


@dataclass(frozen=True)
class ShownItem:
    """An item of a list, or a relevant item that was missed."""

    rank: int | None  #: None if it is not in the list
    item: Any
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
    titles: Mapping[Any, str]  #: of the items shown that have one


@dataclass(frozen=True)
class UserDetail:
    """One user: the lists, and the worked explanation."""

    lists: tuple[ExplorerList, ...]
    explanation: Explanation | None
    problem: str  #: why there is no explanation


def detail_of(state: ExplorerState) -> UserDetail | None:
    """Return the lists of the user shown; None if this metric does not evaluate the user."""
    if state.at is None:
        return None
    models = [state.model, state.other] if state.paired else [state.model]
    lists = tuple(_list(state.names[at], state.looks[at], int(state.positions[at][state.at]), state.k) for at in models)
    explanation, problem, look = None, "", state.looks[state.model]
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
    return UserDetail(lists, explanation, problem)


def _list(name: str, model: MetricOfUsers, position: int, k: int | None) -> ExplorerList:
    places, relevant, grades, hits = model.list_of(position)
    depth = model.depth(k, position)
    # A convention may count a hit at another rank than its own, or at several: the first one is shown.
    counted = dict(sorted(zip(hits.truth_row.tolist(), hits.rank.tolist(), strict=True), reverse=True))
    found = {row for row, rank in counted.items() if rank <= depth}
    missed = [row for row in np.argsort(-np.asarray(grades), kind="stable").tolist() if row not in found]
    # Above the cut-off all rows are shown, below it the hits. An item that is in the list twice is a hit once.
    row_of = {relevant[row]: row for row in counted}
    above, below = [], []
    for rank, item in places:
        hit = row_of.pop(item, None)
        if rank <= depth if hit is None else hit in found:
            above.append(ShownItem(rank, item, 0.0 if hit is None else grades[hit], above=True))
        elif hit is not None:
            below.append(ShownItem(rank, item, grades[hit]))
    rows = (*above[:RANKS_SHOWN], *below[:MISSED_SHOWN])
    rank_of = {item: rank for rank, item in reversed(places)}
    gone = tuple(ShownItem(rank_of.get(relevant[row]), relevant[row], grades[row]) for row in missed[:MISSED_SHOWN])
    return ExplorerList(
        model=name,
        value=float(model.values(k)[position]),
        n_places=len(places),
        n_hits=len(found),
        n_relevant=len(relevant),
        rows=rows,
        missed=gone,
        n_missed=len(missed),
        titles=model.evaluation.item_titles([row.item for row in (*rows, *gone)]),
    )


# HTML


def summary(state: ExplorerState) -> Markup:
    """Show the mean of each model, that of the segment picked, and the convention behind them."""
    with use_language(state.lang):
        return render("widgets/explorer/summary.jinja", state=state)


def detail(state: ExplorerState) -> Markup:
    """Show the lists of one user with their hits, the items missed, and the worked explanation."""
    with use_language(state.lang):
        return render("widgets/explorer/detail.jinja", state=state, live=True, detail=detail_of(state))


def still(state: ExplorerState) -> Markup:
    """Show the explorer as it is, without a kernel: summary, bars, a page of the table, one user."""
    table, user = users_table(state), detail_of(state)
    with use_language(state.lang):
        return render("widgets/explorer/explorer.jinja", state=state, table=table, live=False, detail=user)
