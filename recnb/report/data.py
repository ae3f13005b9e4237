"""The numbers of a report, frozen: models × metrics × cut-offs, and the rest.

JSON has them as they are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.document import Line
from recnb.display.language import current
from recnb.display.style import COLOURS
from recnb.display.text import sample_in_words, with_symbol
from recnb.lint import Finding, Lint
from recnb.metrics.metric import Better, sign_of
from recnb.report.calls import Calls
from recnb.report.distribution import Distribution, Population
from recnb.results.numbers import DifferenceRow, MeanRow, as_plain
from recnb.results.segment_table import SegmentNumbers
from recnb.results.verdicts import MARKS
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
    title: str
    reads: str
    formula: str
    #: of accuracy the options in words, those that were not given as well; else the
    # range
    convention: str
    bounds: tuple[float, float]
    is_accuracy: bool
    better: Better = "high"

    @property
    def sign(self) -> int:
        """What values are multiplied by to be in order, the best the highest."""
        return sign_of(self.better)

    @property
    def row_name(self) -> str:
        """What a row is called, in the language in force."""
        return with_symbol(self.term, self.symbol)


@dataclass(frozen=True)
class RankedItem:
    """An item that is shown; its relevance is 0 if it is not relevant."""

    rank: int | None  #: None: it is not in the list
    item: Any
    relevance: float
    title: str = ""


@dataclass(frozen=True)
class ShownUser:
    """A user with the lists of one model, or of two.

    Those are a baseline and the model in its place.
    """

    user: Any
    values: tuple[float, ...]  #: of the lead metric, by list
    n_relevant: int
    n_hits: int  #: of the last of the lists
    n_places: int  #: items in the first k ranks of the longest list, of which at most 20 are here
    lists: tuple[tuple[RankedItem, ...], ...]
    missed: tuple[
        RankedItem, ...
    ]  #: of one model the most relevant of the items missed, with their ranks below k
    n_missed: int
    text: str = ""  #: that of a query, if users= has one


@dataclass(frozen=True)
class UserGroup:
    """Users who are shown, and why.

    The best or worst of a model, or who gain or lose most with a model instead of
    another.
    """

    #: "best" and "worst", "gained" and "lost"; where neither more nor less is better
    #: "highest" and "lowest", "risen" and "fallen"; "only" of one user
    kind: str
    model: str
    baseline: str | None
    users: tuple[ShownUser, ...]
    counts: tuple[int, int, int] | None = (
        None  #: how many users gain, stay the same and lose (or rise and fall)
    )


@dataclass(frozen=True)
class ModelUsers:
    """The number of users one model was evaluated on, and of those left out.

    Where users have several lists, these are counted.
    """

    model: str
    n_users: int  #: evaluated
    n_left_out: int  #: of these, not evaluated in every other model
    n_without_list: int  #: of those compared, without a list, which counts 0
    n_without_relevant: int = 0  #: of those compared, with no relevant item
    n_skipped: int = 0  #: with no relevant item, not evaluated


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportData:
    """The numbers of a report; each of its forms reads them."""

    #: Metrics of accuracy, the first of which is the lead metric, then those beyond it.
    metrics: tuple[MetricWords, ...]
    means: tuple[MeanRow, ...]
    differences: tuple[DifferenceRow, ...]
    settings: Settings  #: of intervals and tests
    n_users: int
    n_lists: int | None  #: None where each user has one
    cluster: str  #: the column whose values are clusters; "" of users
    #: What lists are clustered by in intervals and tests; "" where each user has one.
    clustered_by: str = ""
    #: The lead metric without propensities, in words; empty if there are none.
    unweighted: str
    models: tuple[str, ...]  #: "" is the only one
    #: The model that the others are compared with; None: every two are.
    baseline: str | None
    #: The baseline that marks beside means are against; None: they are against the best.
    marked_against: str | None
    k: tuple[int | None, ...]  #: all cut-offs; None: the whole list
    lead_k: int  #: the cut-off at which users are looked at: the middle one
    #: Of each model the share of users with a hit in the first `lead_k`, if there is
    #: such.
    hit_rates: tuple[MeanRow, ...]
    #: Of each model, the lead metric at many cut-offs.
    curves: Mapping[str, tuple[MeanRow, ...]]
    #: Of each model, the values of users of the lead metric, in bins.
    distributions: tuple[Distribution, ...]
    populations: tuple[Population, ...]  #: of each model whose rows are here
    users: tuple[UserGroup, ...]
    lints: Mapping[str, Lint]  #: of each model
    #: A warning if items that are not judged decide the order of the models, else "".
    judged_order: Line
    #: Metrics beyond accuracy without a value, and what they need.
    lacking: Mapping[str, str]
    segments: SegmentNumbers | None
    #: What is not here and why: what takes rows that stayed elsewhere.
    left_out: str
    basis: str
    #: Versions, time, library, convention and options.
    made_with: Mapping[str, Any]
    #: By field, the calls that return its numbers; those of metrics beyond accuracy of
    #: several models, which are in `means` as well, by "beyond".
    calls: Calls
    #: The language of its words, in which it is shown.
    lang: str = field(default_factory=current)
    noun: str = "user"  #: what the caller calls those whose lists these are

    @property
    def lead(self) -> MetricWords:
        """The metric of the headline, the curve and the users: the first."""
        return self.metrics[0]

    @property
    def sample(self) -> str:
        """The users in words, with the number of their lists if they have several."""
        return sample_in_words(self.n_users, self.n_lists, self.cluster)

    @property
    def label(self) -> str:
        """The lead metric at the middle cut-off, as nDCG@10."""
        return f"{self.lead.symbol}@{self.lead_k}"

    @property
    def at_lead(self) -> list[DifferenceRow]:
        """The differences of the lead metric at the middle cut-off."""
        return self.differences_of(self.lead.metric, self.lead_k)

    @property
    def ranked(self) -> list[str]:
        """The models in the order of their means of the lead metric, the best first.

        It is at the middle cut-off; where neither is better, the highest comes first.
        """
        means = {
            mean.model: self.lead.sign * mean.mean
            for mean in self.means_of(self.lead.metric, self.lead_k)
        }
        return sorted(
            self.models, key=lambda model: -np.nan_to_num(means[model], nan=-inf)
        )

    @property
    def drawn(self) -> list[str]:
        """The models that a picture has room for: of many the first in their order."""
        return (
            [*self.models]
            if len(self.models) <= len(COLOURS)
            else self.ranked[:FEW_LINES]
        )

    @property
    def findings(self) -> list[tuple[list[str], list[Finding]]]:
        """Findings of the lint, warnings first.

        The same finding of several models is there once, with their names.
        """
        same: dict[tuple[str, str], tuple[list[str], list[Finding]]] = {}
        for model, of_model in self.lints.items():
            for finding in of_model:
                models, found = same.setdefault((finding.name, finding.short), ([], []))
                models.append(model)
                found.append(finding)
        names = list(dict.fromkeys(name for name, _short in same))
        return sorted(
            same.values(),
            key=lambda one: (
                one[1][0].severity != "warning",
                names.index(one[1][0].name),
            ),
        )

    def means_of(self, metric: str, k: int | None) -> list[MeanRow]:
        """Return the means of all models in one metric at a cut-off.

        None at the cut-offs of other metrics.
        """
        return [row for row in self.means if (row.metric, row.k) == (metric, k)]

    def differences_of(self, metric: str, k: int | None) -> list[DifferenceRow]:
        """Return the differences in one metric at a cut-off."""
        return [row for row in self.differences if (row.metric, row.k) == (metric, k)]

    def marks_of(self, metric: str, k: int | None) -> dict[str, str]:
        """Return by model the sign of the mark beside its mean."""
        return {row.model: MARKS.get(row.mark, "") for row in self.means_of(metric, k)}

    def to_frame(self) -> pd.DataFrame:
        """Return one long frame: a row for each metric, cut-off and model.

        With several models `low` and `high` are mean_low and mean_high, and
        `difference` with what follows is from the model's baseline. `segments` has a
        frame of its own: `report.segments.to_frame()`.
        """
        means = pd.DataFrame([as_plain(row) for row in self.means])
        means = means.drop(columns=["symbol", "mark"])
        if not self.differences:
            return means.drop(columns=["model", "best", "near_best"])
        tests = pd.DataFrame([row.to_dict() for row in self.differences])
        tests = tests.drop(
            columns=["symbol", "n_users", "p", "n_lists", "cluster"], errors="ignore"
        )
        means = means.rename(columns={"low": "mean_low", "high": "mean_high"})
        return means.merge(tests, on=["metric", "k", "model"], how="left", sort=False)
