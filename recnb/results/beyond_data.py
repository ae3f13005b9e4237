"""The numbers of a report beyond accuracy, frozen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BeyondRow:
    """One metric beyond accuracy at each cut-off; or, where the data do not allow it, what it needs."""

    metric: str
    symbol: str
    title: str
    reads: str
    formula: str
    latex: str
    bounds: str  #: in words
    k: tuple[int | None, ...]
    values: tuple[tuple[float, float, float], ...]  #: value, lower and upper end at each cut-off; NaN: no interval
    basis: str
    n_users: int = 0  #: whose values the mean is of; of a number of all lists, how many lists
    needs: str = ""  #: what is missing and what to type; "" if there are values
