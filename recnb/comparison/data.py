"""The data of a comparison: each model's data for the common users, and how differences are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recnb.comparison.common_users import COMMON_USERS
from recnb.comparison.conclusions import population_in_words
from recnb.comparison.differences import ComparedMetrics, MetricRequest, all_pairs, measure
from recnb.comparison.results import Judged, Settings
from recnb.conventions import presets
from recnb.display.language import pgettext
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric
from recnb.results.arguments import STANDARD, Metrics, asked_metrics, chosen_metrics, options_of
from recnb.results.evaluation_data import EvaluationData

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ComparisonData:
    """What tables, reports and conclusions of a comparison read."""

    models: Mapping[str, EvaluationData]  #: each model's data, for the common users
    judged: tuple[Judged, ...]  #: how many users each model was evaluated on, and how many were left out
    baseline: str | None  #: the model that the others are compared with; None: every two
    settings: Settings  #: confidence, test, method of intervals, draws

    @property
    def names(self) -> list[str]:
        """The models, in the order shown."""
        return list(self.models)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Model and baseline of every difference."""
        return all_pairs(self.names, self.baseline)

    @property
    def n_users(self) -> int:
        """How many users all models are judged on."""
        return self._first.n_users

    @property
    def users(self) -> pd.Index[Any]:
        """The users that all models are judged on."""
        return self._first.users

    @property
    def _first(self) -> EvaluationData:
        return next(iter(self.models.values()))

    def basis(self) -> str:
        """In words: on whom and how the models are compared."""
        first = self._first
        orders = {one.convention.order for one in self.models.values()}
        convention = first.convention if len(orders) == 1 else replace(first.convention, order="auto")
        counts = first.counts
        skipped = counts.n_without_relevant if convention.no_relevant == "skip" else 0
        words = population_in_words(self.judged, self.n_users, skipped, zero=convention.no_list == "zero")
        library = (
            [pgettext("comparison", "each metric as {library} has it", library=first.library)] if first.library else []
        )
        # On whom they are compared is said first, and once.
        notes = [str(one) for one in first.prepared.notes if getattr(one, "message", "") != COMMON_USERS]
        return "; ".join([*words, *library, *convention.phrases(graded=first.prepared.graded), *notes])

    def measured(
        self,
        metrics: Metrics,
        k: object,
        options: Mapping[str, Any],
        pairs: Sequence[tuple[str, str]] | None = None,
    ) -> ComparedMetrics:
        """Means and differences as they come, before they are put into a frame or a sentence."""
        return measure(
            self.models, self.request(metrics, k, options, self.pairs if pairs is None else pairs), self.settings
        )

    def request(
        self, metrics: Metrics, k: object, options: Mapping[str, Any], pairs: Sequence[tuple[str, str]]
    ) -> MetricRequest:
        """Metrics, options, cut-offs and pairs, each checked."""
        cutoffs = Cutoffs.of(k)
        chosen = asked_metrics(self._named(metrics))
        for metric in chosen:
            if metric.of == "all":
                raise OptionError(
                    f"{metric.name} is one number of all lists of a model, with no value for each user, so no users can be paired: "
                    f"{metric.name} of each model is in .beyond(k=10)."
                )
        own = [options_of(metric, metrics, options, chosen) for metric in chosen]
        if any(metric.needs_whole_list(mine) for metric, mine in zip(chosen, own, strict=True)):
            for one in self.models.values():
                one.hits(None)
        return MetricRequest(chosen, own, cutoffs, pairs)

    def _named(self, metrics: Metrics) -> Metrics:
        """The metrics asked for; if none are, those that the library has."""
        library = self._first.library
        if metrics is None and library is not None:
            return [name for name in STANDARD if presets.of_metric(name, library)]
        return metrics

    def chosen(self, metrics: Metrics, options: Mapping[str, Any]) -> tuple[list[Metric[...]], list[dict[str, Any]]]:
        """The metrics of accuracy that are asked for, each with its own options."""
        metrics = self._named(metrics)
        chosen = chosen_metrics(metrics)
        return chosen, [options_of(metric, metrics, options, chosen) for metric in chosen]
