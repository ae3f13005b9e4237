"""The data of a comparison: each model's data for the common users, and the settings of tests and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recnb.comparison.common_users import COMMON_USERS
from recnb.comparison.conclusions import population_in_words
from recnb.comparison.differences import Block, ComparedMetrics, computed_blocks, measure
from recnb.comparison.results import ModelUsers, Settings
from recnb.display.language import pgettext
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs
from recnb.report.request import MetricOptions
from recnb.results.arguments import Metrics, asked_measures, metrics_under, options_of
from recnb.results.evaluation_data import EvaluationData

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonData:
    """The data that tables, reports and conclusions of a comparison read."""

    _models: Mapping[str, EvaluationData]  # each model's data, for the common users
    judged: tuple[ModelUsers, ...]  #: numbers of users of each model, evaluated and left out
    baseline: str | None  #: the model that the others are compared with; None if every two are compared
    settings: Settings  #: confidence, test, method of intervals, draws

    @property
    def names(self) -> list[str]:
        """The names of the models, in the order shown."""
        return list(self._models)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Model and baseline of every difference."""
        if self.baseline is not None:
            return [(name, self.baseline) for name in self.names if name != self.baseline]
        return [(later, earlier) for at, later in enumerate(self.names) for earlier in self.names[:at]]

    @property
    def n_users(self) -> int:
        """The number of users that all models are evaluated on."""
        return self._first.n_users

    @property
    def users(self) -> pd.Index[Any]:
        """The users that all models are evaluated on."""
        return self._first.users

    @property
    def _first(self) -> EvaluationData:
        return next(iter(self._models.values()))

    def basis(self) -> str:
        """Return the users and the convention that models are compared by, in words."""
        first = self._first
        orders = {model.convention.order for model in self._models.values()}
        convention = first.convention if len(orders) == 1 else replace(first.convention, order="auto")
        skipped = first.counts.n_without_relevant if convention.no_relevant == "skip" else 0
        words = population_in_words(self.judged, self.n_users, skipped, zero=convention.no_list == "zero")
        if first.library:
            words.append(pgettext("comparison", "each metric as {library} has it", library=first.library))
        # The users compared are named first, and once.
        notes = [str(note) for note in first.prepared.notes if getattr(note, "message", "") != COMMON_USERS]
        return "; ".join([*words, *convention.phrases(graded=first.prepared.graded), *notes])

    def _chosen(self, metrics: Metrics, options: Mapping[str, Any]) -> list[MetricOptions]:
        """The metrics asked for, or the usual ones, each with its options; one without values of users is refused."""
        named = metrics_under(self._first.library, metrics)
        chosen = [metric for _name, metric in asked_measures(named)]
        for metric in chosen:
            if metric.summed:
                sums = (
                    f".measure({metric.symbol!r}): {metric.symbol} is a sum over users, and this takes means over users"
                )
                raise OptionError(f"for each model ask found[model]{sums}.")
            if metric.of == "all":
                raise OptionError(
                    f"{metric.name} is one number of all lists of a model, with no value for each user, so no users can be paired: "
                    f"{metric.name} of each model is in .beyond(k=10)."
                )
        return [(metric, options_of(metric, named, options, chosen)) for metric in chosen]

    def _blocks(self, metrics: Sequence[MetricOptions], cutoffs: Cutoffs) -> Iterator[list[Block]]:
        """The values of users in every model, one metric after the other."""
        if any(metric.needs_whole_list(options) for metric, options in metrics):
            for model in self._models.values():
                model.hits(None)
        return computed_blocks(self._models, metrics, cutoffs)

    def _measured(
        self, metrics: Metrics, k: object, options: Mapping[str, Any], pairs: Sequence[tuple[str, str]]
    ) -> ComparedMetrics:
        """Means and differences, before they are put into a frame or a sentence."""
        cutoffs = Cutoffs.of(k)
        return measure(self._blocks(self._chosen(metrics, options), cutoffs), self.names, pairs, self.settings)
