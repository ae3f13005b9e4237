"""The numbers of a report, frozen: models × metrics × cut-offs, and what stands behind them. JSON has them as they are here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display.language import current
from recnb.lint.findings import Finding, Lint
from recnb.metrics.hits import Floats, Ints
from recnb.metrics.metric import LIST_METRICS
from recnb.report.conclusions import Difference, Settings

if TYPE_CHECKING:
    import pandas as pd

BINS = 10

#: Values closer than this are the same: sums taken in another order differ in the last places.
SAME = 1e-12


@dataclass(frozen=True)
class MetricWords:
    """A metric with its meaning, formula and convention."""

    metric: str
    symbol: str
    title: str
    reads: str
    formula: str
    convention: str  #: of accuracy the options in words, those that were not given as well; else the range
    bounds: tuple[float, float]
    is_accuracy: bool


@dataclass(frozen=True)
class Mean:
    """One model's number of a metric at a cut-off, with the ends of its interval; NaN where it has none."""

    model: str
    metric: str
    symbol: str
    k: int | None
    mean: float
    low: float
    high: float
    n_users: int  #: whose values the mean is of; of a number of all lists, how many lists
    best: bool = False  #: of several models the highest, or the same to the last digits
    near_best: bool = False  #: not significantly different from the best

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    @property
    def judges(self) -> bool:
        """True if more of the metric is better, which does not hold beyond accuracy."""
        return self.metric not in LIST_METRICS


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
class Population:
    """The users, lists and relevant items that one model is evaluated on."""

    model: str
    n_users: int
    n_without_list: int  #: of these, with no recommendations
    n_without_relevant: int  #: users of either frame with no relevant item
    n_recommended: int  #: rows of recommendations
    n_relevant: int  #: pairs of an evaluated user and a relevant item
    n_items_recommended: int
    n_items_relevant: int
    n_not_relevant: int  #: rows of the truth that are not relevant
    n_gaps: int  #: users with ranks that are empty
    list_length: CountSummary  #: over the users with a list
    relevant_per_user: CountSummary
    users: tuple[str, ...]  #: in words: how many, and who was left out and why


@dataclass(frozen=True)
class Distribution:
    """The values of users of the lead metric, in ten bins; a bin holds its lower edge, the last one both."""

    model: str
    n_users: int  #: with a value
    n_without_value: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    shares: tuple[float, ...]
    n_zero: int  #: exactly 0
    n_top: int | None  #: exactly at the metric's upper bound; None if it has none
    mean: float
    quartiles: tuple[float, float, float]


@dataclass(frozen=True)
class RankedItem:
    """An item that is shown; its relevance is 0 if it is not relevant."""

    rank: int | None  #: None: it is not in the list
    item: Any
    relevance: float
    title: str = ""  #: from the frame of items, if it has one


@dataclass(frozen=True)
class ShownUser:
    """A user with the list of one model, or with the baseline's and the model's, down to k."""

    user: Any
    values: tuple[float, ...]  #: by each list
    n_relevant: int
    n_hits: int  #: in the last of the lists
    n_places: int  #: items in the first k ranks of the longest list, of which at most 20 are here
    lists: tuple[tuple[RankedItem, ...], ...]
    missed: tuple[RankedItem, ...] = ()  #: of one model the most relevant of the items missed, with their ranks below k
    n_missed: int = 0


@dataclass(frozen=True)
class UserGroup:
    """Users who are shown, and why: the best or worst of a model, or who gain or lose most by a model in the place of another."""

    kind: str  #: "best", "worst", "only", "gained" or "lost"
    model: str
    baseline: str | None
    users: tuple[ShownUser, ...]
    counts: tuple[int, int, int] | None = None  #: how many users gain, stay the same and lose


@dataclass(frozen=True, eq=False)
class SharedFinding:
    """A finding of the lint, the same in some models; its effects may differ."""

    models: tuple[str, ...]
    of_each: tuple[Finding, ...]

    @property
    def finding(self) -> Finding:
        """That of the first model."""
        return self.of_each[0]


@dataclass(frozen=True)
class SegmentRow:
    """A metric in a segment of the users: of one model with its gap to all other users, of two models their difference."""

    segment: str
    metric: str
    symbol: str
    k: int | None
    model: str
    baseline: str | None
    n_users: int
    mean: float
    low: float
    high: float
    gap: float
    gap_low: float
    gap_high: float
    p: float
    p_holm: float
    small: bool
    verdict: str  #: of a difference, or "above", "below", "open", "untested"
    difference: Difference | None = None  #: of two models, with all of its numbers


@dataclass(frozen=True)
class ReportSegments:
    """What defines the segments, and their rows."""

    by: str
    rows: tuple[SegmentRow, ...]
    basis: str
    words: str = ""  #: what a row is, if a column splits users

    def to_frame(self) -> pd.DataFrame:
        """A row for each metric, segment and pair of models."""
        import pandas as pd

        return pd.DataFrame([vars(row) for row in self.rows])


@dataclass(frozen=True)
class ModelUsers:
    """The number of users one model was evaluated on, and of those left out."""

    model: str
    n_users: int  #: evaluated
    n_left_out: int  #: of these, not evaluated in every other model
    n_without_list: int  #: of those compared, without a list


@dataclass(frozen=True)
class Compared:
    """What a comparison adds to the numbers of its models."""

    baseline: str | None  #: the model that the others are compared with; None: every two are
    pairs: tuple[tuple[str, str], ...]
    settings: Settings
    means: tuple[Mean, ...]
    curve: tuple[Mean, ...]  #: means of the lead metric at many cut-offs
    values: Mapping[
        str, Mapping[str, Floats]
    ]  #: of each model, the values of users of the lead metric at the middle cut-off
    differences: tuple[Difference, ...]
    segments: ReportSegments | None
    overlaps: tuple[Mapping[str, Any], ...]
    users_by_model: tuple[ModelUsers, ...]
    where: str  #: where the rows of lists are that were not fetched; "" if all are here
    basis: str


@dataclass(frozen=True, eq=False)
class ReportData:
    """The numbers of a report; each of its forms reads them."""

    models: tuple[str, ...]  #: "" is the only one
    baseline: str | None
    k: tuple[int | None, ...]  #: all cut-offs; None: the whole list
    lead_k: int  #: the cut-off at which users are looked at: the middle one
    confidence: float
    method: str  #: of the intervals of means
    n_users: int
    metrics: tuple[MetricWords, ...]  #: of accuracy, the first is the lead metric, then beyond it
    means: tuple[Mean, ...]
    curves: Mapping[str, tuple[Mean, ...]]  #: of each model, the lead metric at many cut-offs
    distributions: tuple[Distribution, ...]  #: of each model
    populations: tuple[Population, ...]  #: of each model whose rows are here
    users_by_model: tuple[ModelUsers, ...]  #: of several models, how many users of each are left out
    users: tuple[UserGroup, ...]
    lints: Mapping[str, Lint]  #: of each model
    findings: tuple[SharedFinding, ...]  #: warnings first
    lacking: Mapping[str, str]  #: metrics beyond accuracy without a value, and what they need
    differences: tuple[Difference, ...]
    overlaps: tuple[Mapping[str, Any], ...]  #: of each two models
    segments: ReportSegments | None
    settings: Settings | None  #: of tests, with several models
    notes: tuple[str, ...]  #: properties of the data that the numbers depend on
    left_out: tuple[str, ...]  #: what is not here and why, in words: what takes rows that stayed elsewhere
    conventions: tuple[str, ...]  #: in words
    basis: str
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def several(self) -> bool:
        """Whether models are compared."""
        return len(self.models) > 1

    @property
    def lead(self) -> MetricWords:
        """The metric of the headline, the curve and the users: the first."""
        return self.metrics[0]

    @property
    def label(self) -> str:
        """The lead metric at the middle cut-off, as nDCG@10."""
        return f"{self.lead.symbol}@{self.lead_k}"

    def means_of(self, metric: str, k: int | None) -> list[Mean]:
        """The means of all models in one metric at a cut-off; none at those of other metrics."""
        return [mean for mean in self.means if (mean.metric, mean.k) == (metric, k)]

    def to_frame(self) -> pd.DataFrame:
        """One long frame: a row for each metric, cut-off and model.

        Of one model the columns are metric, k, mean, low, high and n_users, metrics beyond accuracy last. With several, `low`
        and `high` are mean_low and mean_high, and `difference` with what follows is from the model's baseline. `segments` has a
        frame of its own: `report.segments.to_frame()`.
        """
        import pandas as pd

        frame = pd.DataFrame([vars(mean) for mean in self.means]).drop(columns="symbol")
        if not self.several:
            return frame.drop(columns=["model", "best", "near_best"])
        frame = frame.rename(columns={"low": "mean_low", "high": "mean_high"})
        apart = pd.DataFrame([row.to_dict() for row in self.differences]).drop(
            columns=["symbol", "n_users", "alpha", "p"]
        )
        return frame.merge(apart, on=["metric", "k", "model"], how="left", sort=False)


def distribution_of(model: str, values: Floats, top: float) -> Distribution:
    """The distribution of the values of users: ten bins, quartiles, and the number of users at either bound."""
    defined = values[~np.isnan(values)]
    end = top if isfinite(top) else nice_above(float(defined.max(initial=0.0)))
    # A value on an edge belongs to the bin above it, also where the last digit of a division says otherwise.
    bins = np.minimum((defined / end * BINS + 1e-9).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    low, middle, high = np.quantile(defined, [0.25, 0.5, 0.75]).tolist() if len(defined) else (nan, nan, nan)
    return Distribution(
        model=model,
        n_users=len(defined),
        n_without_value=len(values) - len(defined),
        edges=tuple((np.arange(BINS + 1) * end / BINS).tolist()),
        counts=tuple(counts.tolist()),
        shares=tuple((counts / max(len(defined), 1)).tolist()),
        n_zero=int((np.abs(defined) <= SAME).sum()),
        n_top=int((defined >= top - SAME).sum()) if isfinite(top) else None,
        mean=float(defined.mean()) if len(defined) else nan,
        quartiles=(low, middle, high),
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
