"""The data of a comparison: each model's data for the common users, and the settings of tests and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from recnb.comparison.common_users import COMMON_USERS
from recnb.comparison.conclusions import population_in_words
from recnb.comparison.differences import ComparedMetrics, MetricRequest, all_pairs, differences_by, measure, measured_by
from recnb.comparison.results import Mean, ModelUsers, Settings
from recnb.conventions import presets
from recnb.display.language import _, pgettext
from recnb.errors import OptionError, is_word, near
from recnb.metrics.hits import Cutoffs
from recnb.results.arguments import STANDARD, Metrics, asked_metrics, options_of
from recnb.results.evaluation_data import EvaluationData

if TYPE_CHECKING:
    import pandas as pd


#: The columns of `differences`, in order.
DIFFERENCE_COLUMNS = (
    "metric", "k", "model", "baseline", "difference", "low", "high", "t_p", "wilcoxon_p", "randomization_p", "p_holm", "p_bh",
    "effect_size", "won", "tied", "lost", "n_users", "detectable", "verdict",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ComparisonData:
    """The data that tables, reports and conclusions of a comparison read."""

    models: Mapping[str, EvaluationData]  #: each model's data, for the common users
    judged: tuple[ModelUsers, ...]  #: numbers of users of each model, evaluated and left out
    baseline: str | None  #: the model that the others are compared with; None if every two are compared
    settings: Settings  #: confidence, test, method of intervals, draws

    @property
    def names(self) -> list[str]:
        """The models, in the order shown."""
        return list(self.models)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Model and baseline of every difference."""
        return all_pairs(self.names, self.baseline)

    def pair(self, model: str | None, baseline: str | None) -> tuple[str, str]:
        """A model and the one that it is compared with, each checked; by default the first other one, and the baseline."""
        for name in (model, baseline):
            if name is not None and not is_word(name, self.models):
                raise OptionError(f"{name!r} is none of the models. {near(name, self.names)}")
        baseline = baseline or self.baseline or self.names[0]
        others = [name for name in self.names if name != baseline]
        if model == baseline:
            raise OptionError(f"{model!r} is the baseline itself: name another model, such as {others[0]!r}.")
        return model or others[0], baseline

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
        return next(iter(self.models.values()))

    def basis(self) -> str:
        """The users and the convention that models are compared by, in words."""
        first = self._first
        orders = {model.convention.order for model in self.models.values()}
        convention = first.convention if len(orders) == 1 else replace(first.convention, order="auto")
        counts = first.counts
        skipped = counts.n_without_relevant if convention.no_relevant == "skip" else 0
        words = population_in_words(self.judged, self.n_users, skipped, zero=convention.no_list == "zero")
        library = (
            [pgettext("comparison", "each metric as {library} has it", library=first.library)] if first.library else []
        )
        # The users compared are named first, and once.
        notes = [str(note) for note in first.prepared.notes if getattr(note, "message", "") != COMMON_USERS]
        return "; ".join([*words, *library, *convention.phrases(graded=first.prepared.graded), *notes])

    def measured(
        self,
        metrics: Metrics,
        k: object,
        options: Mapping[str, Any],
        pairs: Sequence[tuple[str, str]] | None = None,
    ) -> ComparedMetrics:
        """Means and differences, before they are put into a frame or a sentence."""
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
        if any(metric.needs_whole_list(metric_options) for metric, metric_options in zip(chosen, own, strict=True)):
            for model in self.models.values():
                model.hits(None)
        return MetricRequest(chosen, own, cutoffs, pairs)

    def _named(self, metrics: Metrics) -> Metrics:
        """The metrics asked for; if none are, those that the library has."""
        library = self._first.library
        if metrics is None and library is not None:
            return [name for name in STANDARD if presets.of_metric(name, library)]
        return metrics

    def means_frame(self, request: MetricRequest, by: Any, bins: int) -> pd.DataFrame:
        """A row for each model, or for each segment and model; a column for each metric and cut-off."""
        import pandas as pd

        if by is None:
            frame = self._wide(measure(self.models, request, self.settings).means)
        else:
            segments = measured_by(self.models, request, self.settings, by, bins)
            frame = pd.concat(
                {name: self._wide(results.means) for name, results in segments.items()}, names=["segment"]
            )
        basis = [self.basis()]
        if any(not metric.is_accuracy for metric in request.metrics):
            basis.append(_("metrics beyond accuracy over all users who have a value in every model"))
        frame.attrs = {"basis": "; ".join(basis), "n_users": self.n_users}
        return frame

    def _wide(self, means: Sequence[Mean]) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, dict[str, float]] = {}
        for mean in means:
            columns.setdefault(mean.metric if mean.k is None else f"{mean.metric}@{mean.k}", {})[mean.model] = mean.mean
        return pd.DataFrame(columns, index=pd.Index(self.names, name="model"), dtype=float)

    def differences_frame(self, request: MetricRequest, by: Any, bins: int) -> pd.DataFrame:
        """A row for each metric, cut-off and pair, and for each segment."""
        import pandas as pd

        if by is None:
            rows = [("", difference) for difference in measure(self.models, request, self.settings).differences]
        else:
            rows = differences_by(self.models, request, self.settings, by, bins)
        columns = [*([] if by is None else ["segment"]), *DIFFERENCE_COLUMNS]
        cells = [
            {"segment": segment, **asdict(difference), "verdict": difference.verdict} for segment, difference in rows
        ]
        frame = pd.DataFrame(cells, columns=pd.Index(columns))
        frame.attrs = {
            "corrected": self.settings.test,
            "confidence": self.settings.confidence,
            "n_compared": len(frame),
        }
        return frame
