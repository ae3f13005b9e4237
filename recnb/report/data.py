"""The numbers of a report, frozen: who was evaluated, what a metric gave, how users are spread, single lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recnb.conventions import options_in_words
from recnb.display.language import current
from recnb.lint.findings import Lint
from recnb.metrics.hits import Floats, Ints
from recnb.metrics.metric import Metric
from recnb.report.curve import Curve
from recnb.results.segments import Segment

if TYPE_CHECKING:
    import pandas as pd

BINS = 10


#: Values closer than this are the same: sums taken in another order differ in the last places.
SAME = 1e-12


@dataclass(frozen=True)
class CountSummary:
    """The distribution of a count over users."""

    min: int
    median: float
    mean: float
    max: int

    @classmethod
    def of(cls, counts: Ints) -> CountSummary:
        """The spread of counts, zeros where there are none.

        >>> CountSummary.of(np.array([1, 2, 6]))
        CountSummary(min=1, median=2.0, mean=3.0, max=6)
        """
        if len(counts) == 0:
            return cls(0, 0.0, 0.0, 0)
        return cls(int(counts.min()), float(np.median(counts)), float(counts.mean()), int(counts.max()))


@dataclass(frozen=True)
class PopulationSummary:
    """The users, lists and relevant items evaluated."""

    n_users: int  #: evaluated
    n_without_list: int  #: of these, with no recommendations
    n_without_relevant: int  #: users of either frame with no relevant item
    n_recommended: int  #: rows of recommendations
    n_relevant: int  #: pairs of an evaluated user and a relevant item
    n_items_recommended: int  #: distinct items in the lists
    n_items_relevant: int  #: distinct relevant items
    n_not_relevant: int  #: rows of the truth that are not relevant
    n_gaps: int  #: users with ranks that are empty
    list_length: CountSummary  #: over the users with a list
    relevant_per_user: CountSummary  #: of the users evaluated
    users: tuple[str, ...]  #: in words: how many users, and who was left out and why
    conventions: tuple[str, ...]  #: in words: how lists are ordered, what is relevant, options that were given
    notes: tuple[str, ...]  #: properties of the data that the numbers depend on


@dataclass(frozen=True)
class MetricDescription:
    """A metric with its meaning, formula and convention."""

    metric: str
    symbol: str
    title: str
    reads: str
    formula: str
    convention: str  #: the metric's own options in words, those that were not given as well
    bounds: tuple[float, float]

    @classmethod
    def of(cls, metric: Metric[...], options: Mapping[str, Any], **numbers: Any) -> Self:
        """Describe a metric with its options; `numbers` are those of a subclass."""
        convention = "; ".join(options_in_words({**metric.defaults, **options}))
        formula = metric.formula_text(options)
        words = (metric.name, metric.symbol, metric.title, metric.reads, formula, convention, metric.bounds)
        return cls(*words, **numbers)

    @property
    def top(self) -> float | None:
        """The metric's upper bound, None if it has none."""
        return self.bounds[1] if isfinite(self.bounds[1]) else None


@dataclass(frozen=True)
class MetricSummary(MetricDescription):
    """One metric at each cut-off: its mean over users and the ends of the mean's interval."""

    k: tuple[int | None, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def values(self) -> tuple[tuple[float, float, float], ...]:
        """Mean, lower and upper end at each cut-off."""
        return tuple(zip(self.mean, self.low, self.high, strict=True))

    def at(self, k: int | None) -> tuple[float, float, float]:
        """Mean, lower and upper end at a cut-off; NaN at those of other metrics."""
        return self.values[self.k.index(k)] if k in self.k else (nan, nan, nan)


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

    def at(self, k: int | None) -> tuple[float, float, float]:
        """Value, lower and upper end at a cut-off; NaN at those of other metrics, and ends where there is no interval."""
        return self.values[self.k.index(k)] if k in self.k else (nan, nan, nan)


@dataclass(frozen=True)
class Distribution:
    """The distribution of the lead metric over users at one cut-off, in ten bins; each bin holds its lower edge."""

    metric: str
    symbol: str
    k: int
    n_users: int  #: with a value
    n_without_value: int  #: NaN, where the convention makes it so
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    shares: tuple[float, ...]
    n_zero: int  #: exactly 0
    n_top: int | None  #: exactly at the metric's upper bound; None if it has none
    mean: float
    quartiles: tuple[float, float, float]

    @property
    def top(self) -> float:
        """Where the last bin ends."""
        return self.edges[-1]


@dataclass(frozen=True)
class RankedItem:
    """An item that is shown; its relevance is 0 if it is not relevant."""

    rank: int | None  #: None: it is not in the list
    item: Any
    relevance: float
    title: str = ""  #: from the frame of items, if it has one


@dataclass(frozen=True)
class UserSummary:
    """One user's list down to k with its hits, and the most relevant of the items that were missed."""

    user: Any
    value: float
    n_hits: int
    n_relevant: int
    n_places: int  #: how many items the first k ranks hold; `places` has at most the first 20 of them
    places: tuple[RankedItem, ...]
    missed: tuple[RankedItem, ...]  #: most relevant first, with their ranks below k
    n_missed: int


@dataclass(frozen=True)
class ReportSegments:
    """Each metric in each segment of the users, and the gap of each segment to all other users."""

    by: str  #: what defines the segments
    k: int
    confidence: float
    rows: tuple[Segment, ...]
    basis: str
    words: str = ""  #: what a row is, if a column splits users

    @property
    def alpha(self) -> float:
        """The level of the corrected tests."""
        return 1 - self.confidence

    def of(self, metric: str) -> list[Segment]:
        """The segments of one metric."""
        return [segment for segment in self.rows if segment.metric == metric]

    def reach(self, metric: str) -> float:
        """The largest distance from 0 of a metric's gaps and of the ends of their intervals."""
        ends = [end for row in self.of(metric) for end in (row.gap, row.gap_low, row.gap_high) if isfinite(end)]
        return max(map(abs, ends), default=0.0) or 1.0

    def differs(self, segment: Segment) -> bool:
        """Return whether a segment differs from all other users: the corrected test and the interval agree."""
        excludes_0 = isfinite(segment.gap_low) and (segment.gap_low > 0 or segment.gap_high < 0)
        return bool(excludes_0 and segment.p_holm <= self.alpha)

    def to_frame(self) -> pd.DataFrame:
        """A row for each metric and segment, with the gap to all other users."""
        import pandas as pd

        return pd.DataFrame([vars(segment) for segment in self.rows])


@dataclass(frozen=True, eq=False)
class ReportData:
    """The numbers of a report, frozen; each of its forms reads them."""

    population: PopulationSummary
    k: tuple[int | None, ...]  #: all cut-offs; None: the whole list
    lead_k: int  #: the cut-off at which users are looked at: the middle one
    metrics: tuple[MetricSummary, ...]  #: the first is the lead metric
    confidence: float
    method: str  #: of the intervals
    curve: Curve
    distribution: Distribution
    best: tuple[UserSummary, ...]
    worst: tuple[UserSummary, ...]
    findings: Lint  #: problems in the data, measured with the lead metric at `lead_k`
    beyond: tuple[BeyondRow, ...]  #: beyond accuracy, at each cut-off; () where neither train nor items is known
    segments: ReportSegments | None  #: the metrics at `lead_k` by segment, if that was asked for
    basis: str
    _computed: Mapping[str, Any]  #: numbers of sections that have no field here, by the section's name
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def n_users(self) -> int:
        """The number of users that the means are over."""
        return self.population.n_users

    @property
    def lead(self) -> MetricSummary:
        """The metric of the curve, the distribution and the users shown."""
        return self.metrics[0]

    @property
    def label(self) -> str:
        """The lead metric at the middle cut-off, as nDCG@10."""
        return f"{self.lead.symbol}@{self.lead_k}"

    @property
    def measured(self) -> tuple[MetricSummary | BeyondRow, ...]:
        """All metrics with values: those of accuracy, then those beyond it."""
        return *self.metrics, *(metric for metric in self.beyond if metric.values)

    @property
    def groups(self) -> tuple[tuple[str, tuple[UserSummary, ...]], ...]:
        """The users shown: "best" and "worst", or the "only" one."""
        if not self.worst:
            return (("only", self.best),) if self.best else ()
        return ("best", self.best), ("worst", self.worst)

    def to_frame(self) -> pd.DataFrame:
        """The means as a long frame: metric, k, mean, low, high, n_users; those beyond accuracy last.

        `segments` and `findings` have frames of their own: `report.segments.to_frame()`, `report.findings.to_frame()`.
        """
        import pandas as pd

        rows = [
            (metric.metric, k, *values, metric.n_users if isinstance(metric, BeyondRow) else self.n_users)
            for metric in self.measured
            for k, values in zip(metric.k, metric.values, strict=True)
        ]
        return pd.DataFrame(rows, columns=["metric", "k", "mean", "low", "high", "n_users"])


def distribution_of(values: Floats, measured: MetricSummary, k: int) -> Distribution:
    """The distribution of the values of users: ten bins, quartiles, and the number of users at either bound."""
    defined = values[~np.isnan(values)]
    largest = float(defined.max(initial=0.0))
    top = measured.top or nice_above(largest)
    # A value on an edge belongs to the bin above it, also where the last digit of a division says otherwise.
    bins = np.minimum((defined / top * BINS + 1e-9).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    quartiles = np.quantile(defined, [0.25, 0.5, 0.75]).tolist() if len(defined) else [np.nan] * 3
    return Distribution(
        metric=measured.metric,
        symbol=measured.symbol,
        k=k,
        n_users=len(defined),
        n_without_value=len(values) - len(defined),
        edges=tuple((np.arange(BINS + 1) * top / BINS).tolist()),
        counts=tuple(counts.tolist()),
        shares=tuple((counts / max(len(defined), 1)).tolist()),
        n_zero=int((np.abs(defined) <= SAME).sum()),
        n_top=None if measured.top is None else int((defined >= measured.top - SAME).sum()),
        mean=float(defined.mean()) if len(defined) else float("nan"),
        quartiles=(quartiles[0], quartiles[1], quartiles[2]),
    )


def nice_above(value: float) -> float:
    """The next number from `value` up that reads well on an axis.

    >>> nice_above(0.0), nice_above(7.3), nice_above(0.31), nice_above(20)
    (1.0, 8.0, 0.4, 20.0)
    """
    if value <= 0:
        return 1.0
    scale = 10.0 ** np.floor(np.log10(value))
    step = next(step for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * scale >= value * (1 - SAME))
    return float(f"{step * scale:.12g}")
