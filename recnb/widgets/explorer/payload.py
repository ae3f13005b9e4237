"""What the view is told: the words, the bars and one page of rows, all of it text; no more leaves for the browser."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from recnb.display.language import N_, _, ngettext, use_language
from recnb.display.svg import percent
from recnb.display.text import one_line
from recnb.metrics.formula import number
from recnb.metrics.hits import Ints
from recnb.widgets.explorer.state import PAGE

if TYPE_CHECKING:
    from recnb.widgets.explorer.histogram import Bar
    from recnb.widgets.explorer.state import ExplorerState

#: Columns of the table of users.
COLUMN_TITLES: dict[str, str] = {
    "user": N_("user"),
    "hits": N_("hits"),
    "relevant": N_("relevant"),
    "length": N_("list length"),
}


#: Ids and names are cut to so many characters.
LONGEST = 60

#: Parts of the users that are listed.
PARTS_LISTED = 30


def told(state: ExplorerState) -> dict[str, Any]:
    """All that the table of users shows, ready to be put on the page as text."""
    with use_language(state.lang):
        shown = state.shown()
        state.turn(state.page)
        page = state.on_page()
        cells = zip(*(cells_of(state, name, page) for name in state.columns), strict=True)
        return {
            "columns": [_column(state, name) for name in state.columns],
            "rows": [{"at": at, "cells": list(row)} for at, row in zip(page.tolist(), cells, strict=True)],
            "chosen": state.at,
            "said": _said(state),
            "page": state.page,
            "pages": state.pages,
            "range": range_in_words(state, len(shown)),
            "bars": {"title": bars_title(state), "items": _bars(state)},
            "parts": _parts(state),
            "search": state.text,
            "filtered": bool(state.text or state.picked or state.part is not None),
        }


def words(lang: str) -> dict[str, str]:
    """The words that stay."""
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
            "k": _("k"),
        }


def name_of(state: ExplorerState, column: str) -> str:
    """What a column is called."""
    if column.startswith("value:"):
        return one_line(state.names[int(column[6:])], LONGEST)
    if column == "value":
        return state.label
    if column == "difference":
        return _("difference")
    if column == "segment":
        return one_line(state.segment, LONGEST)
    return _(COLUMN_TITLES[column])


def cells_of(state: ExplorerState, column: str, page: Ints) -> list[str]:
    """A column of the page as text."""
    if column == "user":
        return [one_line(user, LONGEST) for user in state.population.users.gather(page).to_list()]
    numbers = state.column(column)[page].tolist()
    if column == "segment" and state.parts is not None:
        return [one_line(state.parts.labels[code], LONGEST) for code in numbers]
    if column == "difference":
        return [signed(one) for one in numbers]
    if column.startswith("value"):
        return [fixed(one) for one in numbers]
    return [number(round(float(one), 2)) for one in numbers]


def fixed(value: float) -> str:
    """A value of the metric, to be read down a column; a dash where there is none."""
    return "–" if isnan(value) else f"{value:.4f}"


def signed(value: float) -> str:
    """A difference with its sign; none where there is no difference to be seen."""
    if isnan(value):
        return "–"
    return f"{value:+.4f}" if round(value, 4) else "0.0000"


def _said(state: ExplorerState) -> str:
    """Whose list is shown, for those who hear it."""
    at = state.at
    return "" if at is None else f"{one_line(state.user, LONGEST)}: {state.label} = {fixed(float(state.values()[at]))}"


def range_in_words(state: ExplorerState, n: int) -> str:
    """Which rows are on the page, out of how many."""
    if not n:
        return _("no user matches")
    first = state.page * PAGE + 1
    return _("{first:,}–{last:,} of {n:,}", first=first, last=min(n, first + PAGE - 1), n=n)


def bars_title(state: ExplorerState) -> str:
    """What the bars are of, and over whom."""
    n = int(state.in_part().sum())
    return _("{users} by {what}", what=what_is_spread(state), users=ngettext("{n:,} user", "{n:,} users", n))


def what_is_spread(state: ExplorerState) -> str:
    """The number that the bars are of."""
    if state.shape == "difference":
        return f"{state.label}, {one_line(state.names[state.model], 30)} − {one_line(state.names[state.other], 30)}"
    return f"{state.label}, {one_line(state.names[state.model], 30)}" if state.paired else state.label


def _column(state: ExplorerState, name: str) -> dict[str, Any]:
    here = state.sorting == name
    return {
        "key": name,
        "label": name_of(state, name),
        "number": name not in ("user", "segment"),
        "sort": ("descending" if state.descending else "ascending") if here else "none",
    }


def _bars(state: ExplorerState) -> list[dict[str, Any]]:
    bars = state.bars()
    return [
        _bar(one, f"{one.count:,} · {percent(one.share)}", one.share, max(other.share for other in bars))
        for one in bars
    ]


def _bar(one: Bar, text: str, size: float, largest: float) -> dict[str, Any]:
    """A bar as long as its share of the longest; its numbers stand beside it."""
    share = round(size / largest, 4) if size > 0 and largest > 0 else 0.0
    return {"label": one_line(one.label, LONGEST), "text": text, "share": share, "picked": one.picked}


def _parts(state: ExplorerState) -> dict[str, Any] | None:
    parts = state.parts
    if parts is None:
        return None
    number_of = signed if state.shape == "difference" else fixed
    shown = state.means_of_parts()[:PARTS_LISTED]
    sizes = [0.0 if isnan(one.share) else abs(one.share) for one in shown]
    items = [
        _bar(one, f"{number_of(one.share)} · {one.count:,}", size, max(sizes))
        for one, size in zip(shown, sizes, strict=True)
    ]
    title = _("Mean {what} by {column} · users", what=what_is_spread(state), column=one_line(parts.column, LONGEST))
    return {"title": title, "items": items}
