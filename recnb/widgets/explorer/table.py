"""What the table of users shows: histogram, segments and one page of rows, all of it text."""

from __future__ import annotations

from math import isfinite
from typing import Any

from recnb.display.language import N_, _, ngettext, use_language
from recnb.display.text import fixed, one_line, percent, signed
from recnb.metrics.formula import number
from recnb.metrics.hits import Ints
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


def users_table(state: ExplorerState) -> dict[str, Any]:
    """Return all that the table of users shows; nothing else is sent to the browser."""
    with use_language(state.lang):
        n_shown = len(state.shown())
        state.turn(state.page)
        page, first = state.on_page(), state.page * PAGE + 1
        columns = [_cells(state, name, page) for name in state.columns]
        users = ngettext("{n:,} user", "{n:,} users", int(state.in_part().sum()))
        what = state.label
        if state.paired:
            other = f" − {one_line(state.names[state.other], MODEL_NAME)}" if state.shape == "difference" else ""
            what = f"{state.label}, {one_line(state.names[state.model], MODEL_NAME)}{other}"
        bars = state.bars()
        longest = max(bar.share for bar in bars)
        items = [
            _bar(bar.label, f"{bar.count:,} · {percent(bar.share)}", bar.share, longest, bar.picked) for bar in bars
        ]
        at = state.at
        value = "" if at is None else f"{one_line(state.user)}: {state.label} = {fixed(float(state.values()[at]))}"
        return {
            "columns": [_column(state, name) for name in state.columns],
            "rows": [
                {"at": at, "cells": list(cells)}
                for at, cells in zip(page.tolist(), zip(*columns, strict=True), strict=True)
            ],
            "chosen": at,
            "said": value,
            "page": state.page,
            "pages": state.pages,
            "range": _("{first:,}–{last:,} of {n:,}", first=first, last=first - 1 + len(page), n=n_shown)
            if n_shown
            else _("no user matches"),
            "bars": {"title": _("{users} by {what}", what=what, users=users), "items": items},
            "parts": _segments(state, what),
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
            "k": _("k"),
        }


def _column(state: ExplorerState, name: str) -> dict[str, Any]:
    if name == "value":
        label = state.label
    elif name.startswith("value:"):
        label = one_line(state.names[int(name[6:])])
    else:
        label = one_line(state.segment) if name == "segment" else _(COLUMNS[name])
    direction = "descending" if state.descending else "ascending"
    return {
        "key": name,
        "label": label,
        "number": name not in ("user", "segment"),
        "sort": direction if state.sorting == name else "none",
    }


def _cells(state: ExplorerState, column: str, page: Ints) -> list[str]:
    """Return a column of the page as text."""
    if column == "user":
        return [one_line(user) for user in state.population.users.gather(page).to_list()]
    numbers = state.column(column)[page].tolist()
    if column == "segment" and state.parts is not None:
        return [one_line(state.parts.labels[code]) for code in numbers]
    if column == "difference":
        return [signed(value) for value in numbers]
    if column.startswith("value"):
        return [fixed(value) for value in numbers]
    return [number(round(float(value), 2)) for value in numbers]


def _segments(state: ExplorerState, what: str) -> dict[str, Any] | None:
    if state.parts is None:
        return None
    text_of = signed if state.shape == "difference" else fixed
    segments = state.means_of_parts()[:SEGMENTS_LISTED]
    sizes = [abs(segment.share) if isfinite(segment.share) else 0.0 for segment in segments]
    items = [
        _bar(segment.label, f"{text_of(segment.share)} · {segment.count:,}", size, max(sizes), segment.picked)
        for segment, size in zip(segments, sizes, strict=True)
    ]
    title = _("Mean {what} by {column} · users", what=what, column=one_line(state.parts.column))
    return {"title": title, "items": items}


def _bar(label: str, text: str, size: float, largest: float, picked: bool) -> dict[str, Any]:
    """Return a bar, as long as its share of the longest, with its numbers."""
    share = round(size / largest, 4) if size > 0 and largest > 0 else 0.0
    return {"label": one_line(label), "text": text, "share": share, "picked": picked}
