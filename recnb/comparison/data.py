"""The data of a comparison: each model's data for the common users, and the settings of tests and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recnb.comparison.common_users import COMMON_TO_ALL, COMMON_TO_BOTH, population_in_words
from recnb.comparison.differences import ComparedMetrics, computed_blocks, measure, measure_by
from recnb.comparison.models import OWN
from recnb.conventions import options_in_words
from recnb.display.text import one_line
from recnb.errors import OptionError, UnknownModelError, is_word, near, quoted
from recnb.lint import ties_in
from recnb.lint.findings import Finding
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric
from recnb.report.conclusions import Settings
from recnb.report.data import ModelUsers
from recnb.report.request import MetricOptions
from recnb.results.arguments import Metrics, asked_of
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import merged, scale_in_words
from recnb.results.segments import Segments

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonData:
    """The data that tables, reports and conclusions of a comparison read."""

    _models: Mapping[str, EvaluationData]  # each model's data, for the common users
    users_by_model: tuple[ModelUsers, ...]  #: numbers of users of each model, evaluated and left out
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
        without = first.counts.n_without_relevant if first.one_no_relevant_rule else 0
        words = population_in_words(self.users_by_model, self.n_users, without, convention.no_relevant)
        if first.library:
            words += first.as_library_has_it
        # The users compared are named first, and once.
        notes = [
            str(note)
            for note in first.prepared.notes
            if getattr(note, "message", "") not in (COMMON_TO_ALL, COMMON_TO_BOTH)
        ]
        apart = merged({one_line(name): [str(note) for note in model.apart] for name, model in self._models.items()})
        return "; ".join([*words, *convention.phrases(graded=first.prepared.graded), *notes, *apart])

    def _options_in_words(self, metrics: Iterable[tuple[str, Metric[...], Mapping[str, Any]]]) -> list[str]:
        """Return the options behind the numbers of metrics, defaults included, in words."""
        phrases = {}
        for name, metric, options in metrics:
            in_force = self._first.scoring(metric, options).in_force if metric.is_accuracy else None
            options = {**metric.defaults, **options} if in_force is None else dict(in_force.metric)
            of_truth = "max_relevance" in options and options["max_relevance"] is None
            phrases[name] = [
                *options_in_words(options),
                *[scale_in_words(self._first.prepared.max_relevance)] * of_truth,
            ]
        return merged(phrases)

    def _chosen(self, metrics: Metrics, options: Mapping[str, Any]) -> list[MetricOptions]:
        """The metrics asked for, or the usual ones, each with its options; one without values of users is refused."""
        for name, value in options.items():
            if name in OWN:
                problem = " is an option of the comparison and not of its metrics: give it to recnb.compare, "
                raise OptionError(f"{name}=", problem, f"{name}={quoted(value)}.")
        asked = asked_of(self._first.library, metrics, options)
        for _name, metric, _own in asked:
            if metric.of == "all":
                raise OptionError(
                    f"{metric.name} is one number of all lists of a model, so no users can be paired: "
                    "that of each model is in .beyond(k=10)."
                )
        return [(metric, own) for _name, metric, own in asked]

    def _measured(
        self, metrics: Metrics, k: object, options: Mapping[str, Any], pairs: Sequence[tuple[str, str]]
    ) -> ComparedMetrics:
        """Means and differences, before they are put into a frame or a sentence."""
        return self._compared(metrics, k, options, pairs)[1][()]

    def _compared(
        self,
        metrics: Metrics,
        k: object,
        options: Mapping[str, Any],
        pairs: Sequence[tuple[str, str]],
        by: Any = None,
        bins: int = 4,
    ) -> tuple[Segments | None, dict[tuple[Any, ...], ComparedMetrics]]:
        """Means and differences of each segment, or of all users under ()."""
        cutoffs, chosen = Cutoffs.of(k), self._chosen(metrics, options)
        if by is None:
            blocks = computed_blocks(self._models, chosen, cutoffs)
            return None, {(): measure(blocks, self.names, pairs, self.settings)}
        return measure_by(self._models, chosen, cutoffs, pairs, self.settings, by, bins)

    def _tied(self, metrics: Metrics, k: object, options: Mapping[str, Any]) -> dict[str, Finding]:
        """The lint's warning of equal scores for each model, by the first of the metrics at the last cut-off."""
        (metric, of_metric), *_others = self._chosen(metrics, options)
        cutoff = metric.cutoffs(Cutoffs.of(k)).values[-1]
        if not metric.is_accuracy:
            return {}
        found = {name: ties_in(model, cutoff, metric, of_metric) for name, model in self._models.items()}
        return {name: finding for name, finding in found.items() if finding and finding.severity == "warning"}

    def _checked(self, model: object) -> str:
        """The name of a model."""
        if not is_word(model, self._models):
            raise UnknownModelError(f"{model!r} is none of the models.", fix=near(model, self.names))
        return str(model)
