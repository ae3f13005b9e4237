"""The results of a comparison: means, differences with their tests, single users, similarity of the lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Literal

from recnb.metrics.metric import LIST_METRICS
from recnb.report.curve import Curve
from recnb.report.data import MetricDescription, RankedItem
from recnb.stats import Test

if TYPE_CHECKING:
    from recnb.lint.findings import Finding, Form

#: Conclusions of a difference; `hint` and `torn` are inconclusive.
Verdict = Literal["better", "worse", "higher", "lower", "hint", "torn", "open", "same", "untested"]

#: The verdicts that are findings. Beyond accuracy more is not better: there a model is higher or lower.
FOUND: tuple[Verdict, ...] = ("better", "worse", "higher", "lower")

POWER = 0.8


@dataclass(frozen=True)
class Settings:
    """The settings of tests and intervals."""

    confidence: float
    test: Test
    method: str  #: of the intervals of differences: that of the test, or "bootstrap"
    resamples: int
    permutations: int
    seed: int

    @property
    def alpha(self) -> float:
        """The level of the tests: what the confidence leaves."""
        return round(1 - self.confidence, 12)


class _Labelled:
    """Something of one metric at one cut-off."""

    symbol: str
    k: int | None

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"


@dataclass(frozen=True)
class Mean(_Labelled):
    """One model's mean over the common users, compared with the best of the column."""

    model: str
    metric: str
    symbol: str
    k: int | None
    mean: float
    low: float
    high: float
    n_users: int
    best: bool  #: the highest mean, or one that is the same to the last digits
    near_best: bool  #: not significantly different from the best

    @property
    def judges(self) -> bool:
        """True if more of the metric is better, which does not hold beyond accuracy."""
        return self.metric not in LIST_METRICS


@dataclass(frozen=True)
class Difference(_Labelled):
    """One model against another in one metric at one cut-off, over the users that both are judged on."""

    metric: str
    symbol: str
    k: int | None
    model: str
    baseline: str
    difference: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    p_holm: float = nan  #: corrected over all differences shown
    effect_size: float = nan
    won: int = 0
    tied: int = 0
    lost: int = 0
    n_users: int = 0
    detectable: float = nan  #: the smallest difference found with 80 % power; NaN if too few users differ
    alpha: float = 0.05

    def to_dict(self) -> dict[str, Any]:
        """The difference with its verdict as plain Python."""
        return asdict(self) | {"verdict": self.verdict}

    @property
    def verdict(self) -> Verdict:
        """The conclusion: a finding needs the corrected test and the interval to agree."""
        if self.n_users > 1 and self.tied == self.n_users:
            return "same"
        if isnan(self.p) or isnan(self.low):
            return "untested"
        excluded = self.low > 0 or self.high < 0
        if self.p_holm <= self.alpha and excluded:
            if self.metric in LIST_METRICS:
                return "higher" if self.difference > 0 else "lower"
            return "better" if self.difference > 0 else "worse"
        if self.p_holm <= self.alpha:
            return "torn"
        return "hint" if excluded else "open"


@dataclass(frozen=True)
class ModelUsers:
    """The number of users one model was evaluated on, and of those left out."""

    model: str
    n_users: int  #: evaluated
    n_left_out: int  #: of these, not evaluated in every other model
    n_without_list: int  #: of those compared, without a list


@dataclass(frozen=True)
class Mover:
    """A user whose value moved, with the list of either model down to k."""

    user: Any
    before: float  #: the baseline's value
    after: float
    n_relevant: int
    old: tuple[RankedItem, ...]  #: the baseline's list
    new: tuple[RankedItem, ...]

    @property
    def change(self) -> float:
        """The difference of the two values."""
        return self.after - self.before

    @property
    def ranks(self) -> list[tuple[int, RankedItem | None, RankedItem | None]]:
        """Each rank with the baseline's item and the model's."""
        old, new = ({item.rank or 0: item for item in items} for items in (self.old, self.new))
        return [(rank, old.get(rank), new.get(rank)) for rank in range(1, max([*old, *new], default=0) + 1)]


@dataclass(frozen=True)
class MovedUsers(_Labelled):
    """The users who gain and lose most by one model in the place of another."""

    metric: str
    symbol: str
    k: int | None
    model: str
    baseline: str
    gained: tuple[Mover, ...]
    lost: tuple[Mover, ...]
    won_tied_lost: tuple[int, int, int]


@dataclass(frozen=True)
class Overlap:
    """The similarity of the lists of two models, over the users to whom either gives a list."""

    model: str
    other: str
    k: int | None
    jaccard: float
    n_users: int
    n_identical: int  #: users whose two lists are the same, item for item


@dataclass(frozen=True)
class BeyondAccuracy:
    """One metric beyond accuracy of every model: no test, since most are of all lists together."""

    metric: str
    symbol: str
    title: str
    reads: str
    k: int | None
    values: tuple[tuple[float, float, float], ...]  #: for each model value, lower and upper end; NaN: no interval
    basis: str  #: of the first model


@dataclass(frozen=True, eq=False)
class ModelFinding:
    """A finding of the lint with the same counts in some models; its effects may differ."""

    models: tuple[str, ...]
    of_each: tuple[Finding, ...]

    @property
    def finding(self) -> Finding:
        """That of the first model."""
        return self.of_each[0]

    def effects(self, form: Form, strong: Callable[[str], str]) -> list[str]:
        """The effect, with the name of each model if it is not the same on all."""
        effects = [finding.sentence("effect", form) for finding in self.of_each]
        if len(set(effects)) == 1:
            return effects[:1]
        return [strong(model) + ": " + effect for model, effect in zip(self.models, effects, strict=True)]


@dataclass(frozen=True)
class ComparisonSegments:
    """The differences in the lead metric at the lead cut-off within each segment of the users."""

    by: str
    rows: tuple[tuple[str, Difference], ...]  #: segment and difference; p-values are corrected over all of them
    n_small: int  #: segments of fewer users are marked as small
    words: str = ""  #: what a row is, if a column splits users

    @property
    def n_tested(self) -> int:
        """The number of differences that p-values are corrected for."""
        return tested(difference for _segment, difference in self.rows)

    @property
    def reach(self) -> float:
        """The largest size of a difference or of an end of its interval."""
        return reach_of([difference for _segment, difference in self.rows])


def reach_of(differences: Iterable[Difference]) -> float:
    """The largest size of a difference or of an end of its interval; 1 if all are 0."""
    ends = [end for row in differences for end in (row.difference, row.low, row.high) if isfinite(end)]
    return max(map(abs, ends), default=0.0) or 1.0


@dataclass(frozen=True)
class ComparisonReportData:
    """Everything that a report of a comparison shows."""

    models: tuple[str, ...]
    reference: str | None  #: the model that the others are compared with; None: every pair
    k: tuple[int | None, ...]  #: all cut-offs; None: the whole list
    lead_k: int
    metrics: tuple[MetricDescription, ...]
    means: tuple[Mean, ...]
    differences: tuple[Difference, ...]
    curves: Mapping[str, Curve]  #: of each model
    moved: tuple[MovedUsers, ...]
    overlaps: tuple[Overlap, ...]
    beyond: tuple[BeyondAccuracy, ...]  #: at the lead cut-off; () where neither train nor items is known
    findings: tuple[ModelFinding, ...]  #: warnings first
    n_checks: int
    segments: ComparisonSegments | None  #: if that was asked for
    n_users: int
    judged: tuple[ModelUsers, ...]
    settings: Settings
    basis: str
    notes: tuple[str, ...]
    left_out: tuple[str, ...] = ()  #: what is not here and why, in words: what takes rows that stayed elsewhere
    _computed: Mapping[str, Any] = field(default_factory=dict)  #: numbers of sections that have no field here, by name

    @property
    def lead(self) -> MetricDescription:
        """The metric that the curve and the users are shown by: the first."""
        return self.metrics[0]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of models compared, in the order shown."""
        return tuple(dict.fromkeys((difference.model, difference.baseline) for difference in self.differences))

    @property
    def n_tested(self) -> int:
        """The number of comparisons that p-values are corrected for."""
        return tested(self.differences)

    def metrics_at(self, k: int | None) -> list[MetricDescription]:
        """The metrics that have numbers at a cut-off."""
        return [metric for metric in self.metrics if self.means_at(metric.metric, k)]

    def means_at(self, metric: str, k: int | None) -> list[Mean]:
        """The means of all models in one column."""
        return [mean for mean in self.means if (mean.metric, mean.k) == (metric, k)]

    def at(self, k: int | None, metric: str | None = None) -> list[Difference]:
        """The differences at one cut-off, of one metric or of all."""
        return [row for row in self.differences if row.k == k and metric in (None, row.metric)]

    def drawn(self) -> list[Difference]:
        """The differences at the lead cut-off that fit into one picture: of metrics with an upper bound, else of the lead."""
        bounded = {metric.metric for metric in self.metrics if metric.top is not None}
        return [row for row in self.at(self.lead_k) if row.metric in bounded] or self.at(self.lead_k, self.lead.metric)


def tested(differences: Iterable[Difference]) -> int:
    """The number of differences that have a p-value."""
    return sum(not isnan(difference.p) for difference in differences)
