"""`Evaluation`: one model's recommendations against the truth.

What you can ask of it, a method each.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from recnb.accuracy import Accuracy
from recnb.data import Counts
from recnb.display.forms import Mark
from recnb.display.language import Noun, _, use_language, with_noun
from recnb.display.templates import FormName, write
from recnb.errors import ElsewhereError, Suggesting
from recnb.metrics.measure import call_of, measure_named
from recnb.results import (
    CatalogueScore,
    Score,
    Table,
    detectable,
    means_tables,
    user_groups,
    user_lists,
    worked,
)
from recnb.results.arguments import AnyCutoffs, AnyMetric, Metrics
from recnb.results.evaluation_data import EvaluationData
from recnb.results.gate import Gate, within
from recnb.results.score import score_of
from recnb.stats import Settings

if TYPE_CHECKING:
    from recnb.lint.findings import Lint
    from recnb.report.report import Report
    from recnb.widgets.explorer import Explorer

# Importing a room of metrics enters them in the tables of the layers below.
if TYPE_CHECKING or find_spec("recnb.beyond") is not None:
    from recnb.beyond.methods import BeyondMethods
else:
    BeyondMethods = object
if find_spec("recnb.search") is not None:
    import_module("recnb.search")

#: What to ask an evaluation first.
CALLS = (
    ".report()",
    ".table(k=[5, 10])",
    ".ndcg(k=10)",
    ".explain('ndcg', user, k=10)",
)

#: What users read of the data of an evaluation; the rest of it is for results.
PUBLIC = {
    "basis",
    "convention",
    "hits",
    "library",
    "n_lists",
    "n_users",
    "under",
    "users",
    "with_lists",
}


@with_noun
class EvaluationMethods(Accuracy, Suggesting, BeyondMethods):
    """Methods that an Evaluation and `df.rec` share: first looks at a frame.

    Questions that follow, such as `why` and `at_least`, need an Evaluation that is kept.

    `self` is an Evaluation in each of them: `df.rec` makes one of its frame, and calls
    them with it.
    """

    _typed_as = "ev"

    def _instead_of(self, name: str) -> str:
        call = call_of(name)
        if call:
            return f"Type {self._typed_as}.{call}."
        return super()._instead_of(name)

    @property
    def _data(self) -> EvaluationData:
        """This object, typed as the `EvaluationData` that it is in every call."""
        return cast("EvaluationData", self)

    # Methods that are assigned are functions of `results`, whose first argument is the
    # evaluation. Methods that end in a room that may be deleted import it when called.
    table = means_tables.table

    def measure(
        self, text: AnyMetric, *, k: int | None = None, **options: Any
    ) -> Score | CatalogueScore:
        """Return the number of a measure by the name that papers print.

        Names are those of recnb and ir_measures, as "nDCG@10", "AP(rel=2)" or
        "nDCG(dcg='exp-log2')@10"; case does not matter.

        Parameters
        ----------
        text : str or Metric
            The name; `rel` is the least relevance of a relevant item, and `judged_only`
            leaves items that are not judged out of the lists.
        k : int, optional
            The cut-off, if the name has none.
        **options
            Options of the metric.

        Returns
        -------
        Score or CatalogueScore
            A float with its users, cut-off and convention.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = sample.models["popular"].rec.against(sample.test)
        >>> round(ev.measure("nDCG@10"), 4)
        0.1725
        """
        measure = measure_named(text).with_options(options).cut_at(k)
        return score_of(self._data, measure)

    measures = means_tables.measures
    curve = means_tables.curve
    explain = worked.explain

    def items(self, k: int | None = None) -> Table:
        """Return how often each item is recommended and found down to k.

        Parameters
        ----------
        k : int, optional
            The cut-off; None is the whole list.

        Returns
        -------
        Table
            A row per item, the most recommended first: shown, share, hits and relevant;
            title if `items=` has one.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.items(k=10).to_frame().head(2).round(3)
              shown  share  hits  relevant
        item
        i052    219  0.073    20        20
        i170    219  0.073    14        14
        """
        from recnb.beyond.tables import items_of

        return items_of(self._data, k)

    user = user_lists.user
    worst = user_groups.worst

    def report(
        self,
        k: int | Sequence[int] = (5, 10, 20),
        metrics: Metrics = None,
        *,
        by: Any = None,
        confidence: float = 0.95,
        lang: str | None = None,
        **options: Any,
    ) -> Report:
        """Return a report of one model.

        It shows problems in the data, means with intervals, the curve over k, and the
        best and worst served users. With `train=` or `items=` it includes metrics beyond
        accuracy.

        Parameters
        ----------
        k : int or list of int, default (5, 10, 20)
            The cut-offs; the headline is at the middle one.
        metrics : str, list or dict, optional
            As in `table`; the headline is the first.
        by : str, Series or list, optional
            Segments, as in `table`.
        confidence : float, default 0.95
            Of the intervals, between 0 and 1.
        lang : {"en", "ko"}, optional
            The language; None is the one that is set.
        **options
            Options of the metrics.

        Returns
        -------
        Report
            `to_html`, `to_markdown`, `to_json` and `to_frame` export it.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> report = ev.report(k=[5, 10], metrics=["ndcg", "recall"])
        >>> report.to_frame().columns.tolist()
        ['metric', 'k', 'mean', 'low', 'high', 'n_users']
        """
        from recnb.report.build import report_of
        from recnb.report.request import request_of

        with use_language(lang):
            request = request_of(self._data, k, metrics, options, by=by)
            return report_of({"": self._data}, request, Settings(confidence))

    def lint(
        self, k: int | None = 10, metric: AnyMetric = "ndcg", **options: Any
    ) -> Lint:
        """Check the data, side frames included, for problems, the most severe first.

        Parameters
        ----------
        k : int, optional
            The cut-off at which effects are computed, by default 10.
        metric : str or Metric, default "ndcg"
            The metric on which the effect of a problem is computed.
        **options
            Options of the metric.

        Returns
        -------
        Lint
            The findings, each with its effect and a fix.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> [finding.name for finding in ev.lint()]
        ['ratings', 'users_without_list']
        """
        from recnb.lint import lint

        return lint(self._data, k, metric, options)


@with_noun
class Evaluation(EvaluationMethods, EvaluationData):
    """One model's recommendations, joined with the truth.

    It is returned by `recnb.evaluate` and `df.rec.against`.

    ev.ndcg(k=10)                        a number, with .interval(), .per_user and .plot()
    ev.table(k=[5, 10])                  the usual metrics, intervals=True, by="column"
    ev.report()                          all of it, with the problems found in the data
    ev.explain("ndcg", user, k=10)       the sum behind the number of one user
    ev.worst("ndcg", k=10)               the users to look at; ev.user(user) is a list
    ev.lint()                            problems in the data, each with its fix
    ev.curve("ndcg").plot()              a metric against k
    ev.items(k=10); ev.beyond(k=10)      how often items are shown; coverage, novelty, ...
    ev.why("ndcg", k=10, other="ranx")   why another library prints another number
    ev.identify("ndcg", 0.368, k=10)     the conventions that give a printed number

    Examples
    --------
    >>> import recnb
    >>> ev = recnb.evaluate({"ann": ["a", "b"], "bob": ["c"]}, {"ann": ["b"], "bob": ["d"]})
    >>> ev.reciprocal_rank(k=2)
    RR@2 = 0.2500 (95% 0.0138–0.8772, 2 users)
    """

    @property
    def _noun(self) -> Noun:
        return self.noun

    def __dir__(self) -> list[str]:
        """List what Tab shows: all but the fields and the internals of `EvaluationData`.

        `PUBLIC` names what is shown of it.
        """
        hidden = {*vars(self), *vars(EvaluationData)} - PUBLIC
        return [*({*super().__dir__()} - hidden)]

    @property
    def counts(self) -> Counts:
        """Counts of the data behind the numbers, and of what was left out."""
        return self.joined.counts

    def beyond(self, k: AnyCutoffs = None) -> Table:
        """Return every metric beyond accuracy that the data allow, a row each.

        The line below names those that need more frames.

        Parameters
        ----------
        k : int or list of int, optional
            Cut-off or cut-offs; None is the whole list.

        Returns
        -------
        Table
            A row per metric, a column per cut-off.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
        >>> ev.beyond(k=10).to_frame().loc[["coverage", "novelty"]].round(3)
        k            10
        metric
        coverage  0.133
        novelty   1.812
        """
        from recnb.beyond.tables import beyond_table

        return beyond_table(self, k)

    detectable = detectable.detectable

    def at_least(
        self, metric: AnyMetric, value: float, k: int | None = None, **options: Any
    ) -> Gate:
        """Check that a number reaches a value, as a release test would.

        Parameters
        ----------
        metric : str or Metric
            The metric.
        value : float
            The least value.
        k : int, optional
            The cut-off; None is the whole list.
        **options
            Options of the metric.

        Returns
        -------
        Gate
            True if the number reaches the value; `to_json` writes it for CI, and
            `assert gate, gate` in a script shows its numbers.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> bool(ev.at_least("ndcg", 0.3, k=10))
        False
        """
        return within("at_least", {"": self}, metric, value, k=k, options=options)

    def at_most(
        self, metric: AnyMetric, value: float, k: int | None = None, **options: Any
    ) -> Gate:
        """Check that a number, such as a cost, does not exceed a value.

        Parameters
        ----------
        metric : str or Metric
            The metric.
        value : float
            The highest value.
        k : int, optional
            The cut-off; None is the whole list.
        **options
            Options of the metric.

        Returns
        -------
        Gate
            True if the number does not exceed the value.

        See Also
        --------
        at_least : The counterpart.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test, train=sample.train)
        >>> bool(ev.at_most("popularity", 0.5, k=10))
        True
        """
        return within("at_most", {"": self}, metric, value, k=k, options=options)

    def why(
        self,
        metric: AnyMetric,
        k: int | None = None,
        *,
        other: Any = None,
        **options: Any,
    ) -> Table:
        """Explain the difference between this number and another.

        Conventions are switched one at a time.

        Parameters
        ----------
        metric : str or Metric
            The metric.
        k : int, optional
            The cut-off; None is the whole list.
        other : str, Convention or Evaluation
            Required: where the other number comes from. A library's name, with a
            variant of its metric if wanted ("xgboost ndcg_linear"); a Convention; or
            another Evaluation.
            `ev.under("ranx").why("ndcg", k=10, other="rectools")` compares two
            libraries.
        **options
            Options of the metric.

        Returns
        -------
        Table
            A row per convention that differs, with the number after it is switched.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.why("ndcg", k=10, other="rectools").to_frame().columns.tolist()
        ['from', 'to', 'value', 'change', 'n_moved', 'moved_most']
        """
        from recnb.libraries.why import why

        return why(self, metric, k, other, **options)

    def identify(
        self, metric: AnyMetric, value: Any, k: int | None = None, **options: Any
    ) -> Table:
        """Find the conventions that give a published number on this data.

        Parameters
        ----------
        metric : str or Metric
            The metric.
        value : float or str
            The number as printed; as text, such as "0.3680", if it ends in zeros.
        k : int, optional
            The cut-off; None is the whole list.
        **options
            Options of the metric.

        Returns
        -------
        Table
            A row per convention that gives the number: recnb's, or a library's.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> len(ev.identify("ndcg", "0.1725", k=10)) > 0
        True
        """
        from recnb.libraries.identify import identify

        return identify(self, metric, value, k, **options)

    def explore(
        self,
        metric: AnyMetric = "ndcg",
        k: int | None = 10,
        *,
        lang: str | None = None,
        **options: Any,
    ) -> Explorer:
        """Return an explorer: from the mean to users and to one user's list.

        As a widget it needs `recnb[notebook]`.

        Parameters
        ----------
        metric : str or Metric, default "ndcg"
            The metric.
        k : int, optional
            The cut-off, by default 10; None is the whole list.
        lang : {"en", "ko"}, optional
            The language; None is the one that is set.
        **options
            Options of the metric.

        Returns
        -------
        Explorer
            Shown in a notebook, with the controls.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> explorer = ev.explore("recall", k=5)
        """
        from recnb.widgets.explorer import Explorer

        return Explorer(self, metric, k, lang=lang, **options)

    def __repr__(self) -> str:
        return self._written("lines")

    def _repr_html_(self) -> str:
        return self._written("html")

    def _written(self, form: FormName) -> str:
        return write(
            "results/evaluation.jinja",
            form,
            label=_("evaluation"),
            title=Mark("strong", self._title()),
            basis=self.basis,
            calls=CALLS,
        )

    def _title(self) -> str:
        """Return what was evaluated, with the number of recommended rows if known.

        It is not known for some of the users if lists are in a file or an engine.
        """
        n_relevant = int(self.joined.hits.n_relevant.sum())
        try:
            n_rows = self.joined.rows.n_recommended
        except ElsewhereError:
            return _(
                "Evaluation of some {users} against {relevant:,} relevant {items}",
                relevant=n_relevant,
            )
        return _(
            "Evaluation of {rows:,} recommended and {relevant:,} relevant {items}",
            rows=n_rows,
            relevant=n_relevant,
        )
