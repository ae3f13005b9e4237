"""One model's recommendations against the truth: what can be asked of an evaluation, a method each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recnb.conventions import Convention
from recnb.data import Counts
from recnb.display.language import use_language
from recnb.display.text import one_line
from recnb.errors import OptionError
from recnb.metrics.hits import Cutoffs, Hits
from recnb.metrics.list_metric import ListMetric
from recnb.metrics.metric import Metric, metric_named
from recnb.results import Curve, Explanation, Score, Table, beyond_accuracy, beyond_accuracy_tables, evaluation_text
from recnb.results.arguments import Metrics
from recnb.results.evaluation_data import EvaluationData
from recnb.results.metric_curve import curve_of
from recnb.results.metric_explanation import explanation_of
from recnb.results.metric_methods import Methods
from recnb.results.metric_table import table_of

if TYPE_CHECKING:
    import pandas as pd

    from recnb.libraries.agreement import Spread
    from recnb.libraries.explain_difference import Why
    from recnb.libraries.identify import Identified, IdentifiedUsers
    from recnb.lint.findings import Lint
    from recnb.report.report import Report
    from recnb.results.catalogue_score import CatalogueScore
    from recnb.stats import Detectable
    from recnb.widgets.explorer.view import Explorer


class Evaluation(Methods):
    """One model's recommendations, joined with the truth.

    Metrics are methods, each with `k` and its own options. `k=None` takes each user's whole list.
    """

    def __init__(self, data: EvaluationData) -> None:
        self._data = data

    @property
    def n_users(self) -> int:
        """How many users are evaluated."""
        return self._data.n_users

    @property
    def users(self) -> pd.Index[Any]:
        """The users evaluated, in the order of every per-user result."""
        return self._data.users

    @property
    def convention(self) -> Convention:
        """The decisions about the data that are in force."""
        return self._data.convention

    @property
    def counts(self) -> Counts:
        """How much data is behind the numbers, and what was left out."""
        return self._data.counts

    @property
    def library(self) -> str | None:
        """The library whose conventions each metric follows; None for recnb's own."""
        return self._data.library

    @property
    def notes(self) -> tuple[str, ...]:
        """What to consider of the data when reading the numbers."""
        return self._data.notes

    def _score(self, metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> Score:
        return self._data.score(metric, k, options)

    def _list_score(
        self, metric: ListMetric[..., Any], k: int | None, options: Mapping[str, Any]
    ) -> Score | CatalogueScore:
        return beyond_accuracy.score_of(self._data, metric, k, options)

    def beyond(self, k: int | Sequence[int | None] | None = None) -> Table:
        """Every metric beyond accuracy that the data allow; what the others need is said below the table."""
        return beyond_accuracy_tables.beyond_table(self._data, k)

    def under(self, library: str) -> Evaluation:
        """The same data under another library's conventions: who counts, how ties stand, what each metric is divided by.

        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = sample.models["popular"].rec.against(sample.test)
        >>> round(ev.ndcg(k=10), 4), round(ev.under("rectools").ndcg(k=10), 4)
        (0.1725, 0.1062)
        """
        return Evaluation(self._data.under(library))

    def basis(self, convention: Convention | None = None) -> str:
        """In words: how many users, who was left out, and by which convention."""
        return self._data.basis(convention)

    def table(
        self,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        by: Any = None,
        bins: int = 4,
        **options: Any,
    ) -> Table:
        """Means over users: one row per metric, one column per cut-off.

        `options` apply to each metric that has them: `table(["ndcg", "precision"], k=[5, 10], gain="exponential")`; a
        mapping gives each metric its own: `table({"precision": {"out_of": "list"}, "recall": {}}, k=5)`.

        `by` breaks the users down, with intervals and the gap of each segment to all others: a column of `users=` or of
        the truth, "activity" or "popularity_taste" (of train, in `bins` quantile bins), or a Series of user to segment.
        """
        return table_of(self._data, metrics, k, options, by=by, bins=bins)

    def curve(self, metric: str, k: Iterable[int] = range(1, 21), **options: Any) -> Curve:
        """A metric at many cut-offs, with a 95% interval at each.

        `curve("ndcg", k=range(1, 51)).plot()` draws it.
        """
        return curve_of(self._data, metric, k, options)

    def explain(
        self, metric: str, user: Any = None, k: int | None = None, *, lang: str | None = None, **options: Any
    ) -> Explanation:
        """How one user's list comes by its score: formula, numbers put in, a row per rank, the ideal list.

        A metric of all lists together needs no user: `explain("coverage", k=10)`.
        """
        return explanation_of(self._data, metric, user, k, options, lang)

    def report(
        self,
        k: int | Sequence[int] = (5, 10, 20),
        metrics: Metrics = None,
        *,
        by: Any = None,
        bins: int = 4,
        confidence: float = 0.95,
        lang: str | None = None,
        **options: Any,
    ) -> Report:
        """What is odd about the data, each metric with its interval, the curve over k, and the users behind the mean.

        With `train=` or `items=` metrics beyond accuracy stand beside them; `by` adds segments of the users, as in `table`.
        """
        from recnb.report.build import report_of

        with use_language(lang):
            return report_of(self._data, k=k, metrics=metrics, confidence=confidence, by=by, bins=bins, options=options)

    def detectable(
        self, metric: str, k: int | None = None, power: float = 0.8, *, alpha: float = 0.05,
        against: Evaluation | None = None, correlation: float | None = None, **options: Any,
    ) -> Detectable:  # fmt: skip
        """The smallest difference between two models that these users can show, by a paired t test of this power.

        It needs the spread of users' differences: measured `against` another evaluation, or taken from the spread of
        this metric and a correlation between the models (0.3 unless given, which is careful); `.words` says which.
        """
        from recnb.results.detectable import detectable_of

        chosen = metric_named(metric)
        chosen.check(options)
        (cutoff,) = Cutoffs.one(k).values
        if against is not None and not isinstance(against, Evaluation):
            raise OptionError(
                f"against={one_line(repr(against))} is no Evaluation: give one, such as recnb.evaluate(other, truth)."
            )
        theirs = None if against is None else against._data.score(chosen, cutoff, options)
        mine = self._data.score(chosen, cutoff, options)
        return detectable_of(mine, theirs, power=power, alpha=alpha, correlation=correlation)

    def why(self, metric: str, k: int | None = None, *, other: Any, variant: str | None = None, **options: Any) -> Why:
        """From this number to another's, one convention switched at a time: what each switch did, and to whom.

        `other` is a library (`variant` picks one of its several ways), a Convention or another Evaluation;
        `ev.under("ranx").why("ndcg", k=10, other="rectools")` goes from one library to another.
        """
        from recnb.libraries.explain_difference import why

        other = other._data if isinstance(other, Evaluation) else other
        return why(self._data, metric, k, other=other, variant=variant, **options)

    def identify(
        self, metric: str, value: Any, k: int | None = None, *, digits: int | None = None, **options: Any
    ) -> Identified | IdentifiedUsers:
        """Which named conventions, and which one step away from them, give a printed number on this data.

        `value` is the number as printed, as text where it ends in zeros; or a Series or mapping of user to printed
        value, which finds the convention that fits most users and names those that fit none.
        """
        from recnb.libraries.identify import identify

        return identify(self._data, metric, value, k, digits=digits, **options)

    def spread(self, metric: str, k: int | None = None, **options: Any) -> Spread:
        """What every library would say of this data, grouped where they agree."""
        from recnb.libraries.agreement import spread

        return spread(self._data, metric, k, **options)

    def explore(self, metric: str = "ndcg", k: int | None = 10, *, lang: str | None = None, **options: Any) -> Explorer:
        """A widget: from the mean to the users behind it and to one user's list, by hand. Needs `recnb[notebook]`."""
        from recnb.widgets.explorer.explore import explorer

        return explorer({"": self._data}, metric, k, lang=lang, **options)

    def lint(self, k: int | None = 10, metric: str = "ndcg", **options: Any) -> Lint:
        """What is odd about the data, and what it does to the numbers, told by one metric at one cut-off.

        It looks into train, items and users as well, where `evaluate` was given them. The Lint is true where something
        was found; it iterates over its findings, the gravest first.
        """
        from recnb.lint import lint

        return lint(self._data, k, metric, **options)

    def hits(self, depth: int | None = None) -> Hits:
        """The hits down to a rank: what every metric is computed from."""
        return self._data.hits(depth)

    def to_frame(self) -> pd.DataFrame:
        """What is known of each user: length of the list, relevant items, hits."""
        return self._data.to_frame()

    def _repr_html_(self) -> str:
        return evaluation_text.fragment(self._data)

    def __repr__(self) -> str:
        return evaluation_text.text(self._data)
