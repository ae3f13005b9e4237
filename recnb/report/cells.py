"""Cells, tables and words that the sections of a report share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any

from recnb.display.document import Estimate, Line, Mark, Name, Note, Rows
from recnb.display.language import N_, _, ngettext
from recnb.display.text import fixed
from recnb.report.data import Mean, ReportData

#: Pairs of models that are shown one by one; of more, what they have in common.
MOST_PAIRS = 3

#: The title of each column of a table, and what gives its cell.
Columns = Sequence[tuple[Line, Callable[[Any], Line]]]


def table_of_rows(columns: Columns, rows: Iterable[Any], caption: Line = "", **look: Any) -> Rows:
    """Return a table: a row for each of `rows`, its cells by the columns."""
    titles, cells = zip(*columns, strict=True)
    return Rows(titles, [[cell(row) for cell in cells] for row in rows], caption, **look)


def estimate_of(mean: Mean, **look: Any) -> Estimate:
    """Return a mean with the ends of its interval."""
    return estimate(mean.mean, mean.low, mean.high, **look)


def estimate(value: float, low: float, high: float, shown: Callable[[float], str] = fixed, **look: Any) -> Estimate:
    """Return a value with the ends of its interval, if it has one."""
    return Estimate(shown(value), (shown(low), shown(high)) if isfinite(low) else None, **look)


def users_in_words(n: int) -> str:
    """Return a number of users in words."""
    return ngettext("{n:,} user", "{n:,} users", n)


def strong(name: object) -> Mark:
    """Return a name of the user's that is set off."""
    return Mark("strong", Name(name))


def not_drawn(report: ReportData) -> list[Note]:
    """Say that a picture of many models has not all of them."""
    said, n = N_("Drawn for the {drawn} highest; {n} more models are not."), len(report.models) - len(report.drawn)
    return [Note(_(said, drawn=len(report.drawn), n=n))] if n else []
