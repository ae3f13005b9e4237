"""The data of a report: fields that its forms and its JSON read.

Numbers are rows of the two tables of `results/numbers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

from recnb.display.language import Language, Noun, checked
from recnb.display.style import COLOURS
from recnb.display.text import sample_in_words, with_symbol
from recnb.lint import Finding, Lint
from recnb.metrics.metric import Better, label_of, sign_of
from recnb.report.distribution import Distribution
from recnb.results.numbers import DifferenceRow, MeanRow
from recnb.results.user_groups import UserGroup
from recnb.stats import Settings

#: Lines of a picture of more models than there are colours; pairs of models that are
#: shown one by one.
FEW_LINES, MOST_PAIRS = 5, 3


@dataclass(frozen=True)
class MetricWords:
    """A metric with its meaning, formula and convention."""

    metric: str
    symbol: str
    term: str  #: in words
    reads: str
    formula: str
    #: Of accuracy the options in words, also those not given; of others the range.
    convention: str
    bounds: tuple[float, float]
    is_accuracy: bool
    better: Better

    @property
    def sign(self) -> int:
        """What values are multiplied by to be in order, the best the highest."""
        return sign_of(self.better)

    @property
    def row_name(self) -> str:
        """What a row is called, in the language in force."""
        return with_symbol(self.term, self.symbol)


@dataclass(frozen=True, eq=False)
class SegmentNumbers:
    """The two tables of segments, in the lead metric at the middle cut-off.

    The differences of one model are its gaps to all other users.
    """

    by: str  #: what defines the segments
    names: tuple[str, ...]  #: of each part of the division, by position
    means: tuple[MeanRow, ...]
    differences: tuple[DifferenceRow, ...]
    is_tested: bool  #: whether anything is: nothing is in parts of the data
    basis: str


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportData:
    """All that a report shows; JSON has these fields."""

    # What is asked
    models: tuple[str, ...]  #: "" is the only one
    #: The model that the others are compared with, and that marks beside means are
    #: against; None: every two are, and marks are against the best.
    baseline: str | None
    #: Metrics of accuracy, the first of which is the lead metric, then those beyond it.
    metrics: tuple[MetricWords, ...]
    k: tuple[int | None, ...]  #: all cut-offs; None: the whole list
    lead_k: int  #: the cut-off at which users are looked at: the middle one
    settings: Settings  #: of intervals and tests

    # Whom the numbers are of
    n_users: int
    n_lists: int | None  #: None where each user has one
    cluster: str  #: the column whose values are clusters; "" of users
    #: What lists are clustered by in intervals and tests; "" where each user has one.
    clustered_by: str

    # The two tables
    means: tuple[MeanRow, ...]
    differences: tuple[DifferenceRow, ...]

    # The lead metric
    curve: tuple[MeanRow, ...]  #: its means at many cut-offs
    #: Of one model, how the values of users are spread; None of several.
    distribution: Distribution | None
    #: Of each model the share of users with a hit in the first `lead_k`, if there is
    #: such.
    hit_rates: tuple[MeanRow, ...]
    segments: SegmentNumbers | None
    users: tuple[UserGroup, ...]

    # What is odd
    lints: Mapping[str, Lint]  #: of each model
    #: The means over the items that are judged, the best first, if these have another
    #: order; else empty.
    judged_order: Mapping[str, float]
    #: Metrics beyond accuracy without a value, and what they need.
    lacking: Mapping[str, str]
    #: What is not here and why: what takes rows that stayed elsewhere.
    left_out: str
    #: The lead metric without propensities, in words; empty if there are none.
    unweighted: str

    # What it rests on
    basis: str
    #: Versions, time, library, convention, options and counts.
    made_with: Mapping[str, Any]

    # The words
    lang: str  #: the language of its words, in which it is shown
    noun: str  #: what the caller calls those whose lists these are
    item_noun: str  #: and what is in these

    @property
    def language(self) -> Language:
        """The language with the noun."""
        return Language(checked(self.lang), Noun(self.noun, self.item_noun))

    @property
    def is_one(self) -> bool:
        """Whether it is of one model."""
        return len(self.models) == 1

    @property
    def lead(self) -> MetricWords:
        """The metric of the headline, the curve and the users: the first."""
        return self.metrics[0]

    @property
    def of_accuracy(self) -> list[MetricWords]:
        """The metrics of accuracy."""
        return [metric for metric in self.metrics if metric.is_accuracy]

    @property
    def has_own_cutoffs(self) -> bool:
        """Whether metrics have cut-offs of their own, with which they are named."""
        return not all(
            self.means_of(metric.metric, self.lead_k) for metric in self.of_accuracy
        )

    @property
    def sample(self) -> str:
        """The users in words, with the number of their lists if they have several."""
        return sample_in_words(self.n_users, self.n_lists, self.cluster)

    @property
    def label(self) -> str:
        """The lead metric at the middle cut-off, as nDCG@10."""
        return label_of(self.lead.symbol, self.lead_k)

    @property
    def at_lead(self) -> list[DifferenceRow]:
        """The differences of the lead metric at the middle cut-off."""
        lead = self.lead.metric, self.lead_k
        return [row for row in self.differences if (row.metric, row.k) == lead]

    @property
    def ranked(self) -> list[str]:
        """The models in the order of their means of the lead metric, the best first.

        It is at the middle cut-off; where neither is better, the highest comes first.
        """
        levels = {}
        for row in self.means_of(self.lead.metric, self.lead_k):
            level = self.lead.sign * row.mean
            levels[row.model] = -inf if isnan(level) else level
        return sorted(self.models, key=lambda model: -levels[model])

    @property
    def drawn(self) -> list[str]:
        """The models that a picture has room for: of many the first in their order."""
        if len(self.models) <= len(COLOURS):
            return [*self.models]
        return self.ranked[:FEW_LINES]

    @property
    def n_checks(self) -> int:
        """The number of checks that were made of each model."""
        return min(lint.n_checks for lint in self.lints.values())

    @property
    def findings(self) -> list[tuple[list[str], list[Finding]]]:
        """Findings of the lint, warnings first, the findings of a check together.

        Each has its model. Of one model, two findings of a check are apart.
        """
        of_models = []
        for model, lint in self.lints.items():
            of_models += [(model, finding) for finding in lint]
        of_models.sort(key=lambda one: one[1].severity != "warning")
        checks: dict[str, tuple[list[str], list[Finding]]] = {}
        for model, finding in of_models:
            check = finding.short if self.is_one else finding.name
            models, found = checks.setdefault(check, ([], []))
            models.append(model)
            found.append(finding)
        return list(checks.values())

    def means_of(self, metric: str, k: int | None) -> list[MeanRow]:
        """Return the means of all models in one metric at a cut-off.

        None at the cut-offs of other metrics.
        """
        return [row for row in self.means if (row.metric, row.k) == (metric, k)]

    def curve_of(self, model: str) -> list[MeanRow]:
        """Return the means of a model at the cut-offs of the curve."""
        return [row for row in self.curve if row.model == model]
