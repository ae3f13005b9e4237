"""When segments begin whose names are times, which a report draws as a line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

#: Names of columns whose numbers are times.
TIMES = {"time", "hour", "day", "date", "week", "month", "quarter", "year", "period"}


def times_of(by: str, segments: Iterable[str]) -> list[Any]:
    """Return when each segment begins; nothing if they are no times.

    That is a date, or the number of a week or year; None of a last one not known.
    """
    words = re.split(r"[\W_\d]+", by.casefold())
    is_named = not TIMES.isdisjoint(words)
    times = [_time_of(segment, is_named) for segment in segments]
    known = times[:-1] if None in times else times
    kinds = {type(time) for time in known}
    if len(times) < 2 or len(kinds) != 1 or type(None) in kinds:
        return []
    return times


def _time_of(segment: str, is_named: bool) -> Any:
    """Return when a segment begins; `is_named`: a whole number is one of a time."""
    start = segment.partition("/")[0]
    with contextlib.suppress(ValueError):
        if re.match(r"\d{4}-W", start):
            return pd.Timestamp.fromisoformat(start)
        if re.match(r"\d{4}(-\d|Q)", start):
            return pd.Period(start).start_time
    return int(start) if is_named and start.isdecimal() else None
