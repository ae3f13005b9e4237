"""A number of recnb's held against the one that must come out."""

from __future__ import annotations

import math

Values = dict[int, float]


class FindingError(AssertionError):
    """Something that recnb must not do; `what` is the same for the same flaw of a smaller case."""

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"{what}: {detail}")
        self.what = what


def close(got: float, want: float) -> bool:
    return math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(got) and math.isnan(want))


def hold(got: float, want: float, what: str, detail: str = "") -> None:
    if not close(float(got), want):
        raise FindingError(what, f"{float(got)!r}, and by definition {want!r} {detail}")


def mean(values: Values) -> float:
    return math.fsum(values.values()) / len(values) if values else math.nan
