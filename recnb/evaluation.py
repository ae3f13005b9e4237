"""`Evaluation`: one model's recommendations against the truth.

What you can ask of it, a method each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from recnb.accuracy import Accuracy
from recnb.data import Counts
from recnb.display.forms import Mark
from recnb.display.language import N_, Noun, _, use_language, with_noun
from recnb.display.templates import FormName, write
from recnb.errors import ElsewhereError, Suggesting
from recnb.metrics.measure import call_of, measure_named
from recnb.metrics.metric import ACCURACY
from recnb.results import CatalogueScore, Explanation, Score, Table, tables
from recnb.results.arguments import AnyCutoffs, AnyMetric, Metrics
from recnb.results.detectable import Detectable, detectable_of
from recnb.results.evaluation_data import EvaluationData
from recnb.results.gate import Gate, within
from recnb.results.score import score_of
from recnb.results.table import check_flag
from recnb.results.worked import explanation_of
from recnb.results.worst import worst_of
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
    """Methods that an Evaluation and `df.rec` share.

    Those of `df.rec` evaluate the frame first.
    """

    _typed_as = "ev"

    def _meant(self, name: str) -> str:
        call = call_of(name)
        return f"{self._typed_as}.{call}" if call else super()._meant(name)

    @property
    def _data(self) -> EvaluationData:
        """The evaluation itself: `df.rec` calls each of these methods with one."""
        return self  # type: ignore[return-value]

    def table(
        self,
        metrics: Metrics = None,
        k: AnyCutoffs = None,
        *,
        intervals: bool = False,
        by: Any = None,
        confidence: float = 0.95,
        **options: Any,
    ) -> Table:
        """Return means over users, one row per metric and one column per cut-off.

        `.plot()` draws it, without segments.

        Parameters
        ----------
        metrics : str, list or dict, optional
            Names, or measures as papers print them, `["nDCG@10", "AP(rel=2)"]`; or a
            mapping of name to its own options. None: the usual ones.
        k : int or list of int, optional
            Cut-off or cut-offs; None is the whole list. Beside names with a cut-off of
            their own it is not given, and there is one column.
        intervals : bool, default False
            True: three columns per cut-off, (k, "mean"), (k, "low") and (k, "high"),
            with intervals. A table of segments has intervals in any case.
        by : str, Series or list, optional
            Segments, each with its interval and difference from all others. Users are
            divided by

            - a column of `users=`, or one of the truth that has one value per user,
            - "activity", which is computed from `train=`,
            - a Series of user to segment.

            A column of the truth that differs within users, such as a week, divides
            the truth: each value is a truth of its own. To use several, give a list.
        confidence : float, default 0.95
            Confidence level of the intervals, between 0 and 1.
        **options
            Options of the metrics, applied to each metric that has them, as
            `gain="exponential"`.

        Returns
        -------
        Table
            A DataFrame with users and convention in a line below.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.table(["ndcg", "recall"], k=[5, 10]).to_frame().round(4)
        k           5       10
        metric
        ndcg    0.1337  0.1725
        recall  0.1399  0.2504
        """
        check_flag("intervals", intervals)
        return tables.table_of(
            self._data,
            metrics,
            k,
            options,
            by=by,
            intervals=intervals,
            confidence=confidence,
        )

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

    def measures(
        self,
        names: AnyMetric | Iterable[AnyMetric],
        *,
        confidence: float = 0.95,
        **options: Any,
    ) -> Table:
        """Return several measures by the names that papers print, a row each.

        Parameters
        ----------
        names : str or list of str
            Names as in `measure`.
        confidence : float, default 0.95
            Of the intervals, between 0 and 1.
        **options
            Options of the metrics, applied to each metric that has them.

        Returns
        -------
        Table
            A row per measure: mean, low and high of its interval, and the users.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.measures(["nDCG@10", "AP(rel=4)"]).to_frame().round(4)
                     mean     low    high  users
        measure
        nDCG@10    0.1725  0.1503  0.1979    261
        AP(rel=4)  0.1063  0.0850  0.1340    235
        """
        return tables.measures_of(self._data, names, options, confidence=confidence)

    def curve(
        self,
        metric: AnyMetric,
        k: Iterable[int] = range(1, 21),
        *,
        confidence: float = 0.95,
        **options: Any,
    ) -> Table:
        """Return a metric at many cut-offs, a row each, with the ends of an interval.

        `.plot()` draws the curve.

        Parameters
        ----------
        metric : str or Metric
            The metric.
        k : iterable of int, default range(1, 21)
            The cut-offs.
        confidence : float, default 0.95
            Of the intervals, between 0 and 1.
        **options
            Options of the metric.

        Returns
        -------
        Table
            A row per cut-off: mean, low and high.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.curve("recall", k=[1, 5, 10]).to_frame().round(4)
            recall     low    high
        k
        1   0.0312  0.0209  0.0457
        5   0.1399  0.1155  0.1698
        10  0.2504  0.2191  0.2853
        """
        return tables.curve_of(self._data, metric, k, options, confidence=confidence)

    def explain(
        self,
        metric: AnyMetric,
        user: Any = None,
        k: int | None = None,
        *,
        lang: str | None = None,
        **options: Any,
    ) -> Explanation:
        """Return the worked computation of one user's score.

        It shows formula, values, a row per rank and the ideal list.

        Parameters
        ----------
        metric : str or Metric
            The metric.
        user : hashable, optional
            The id of the user; with `split=` a tuple, as in `per_user.index`:
            `("u1", "2024-05-01")`. A metric of all lists together needs none.
        k : int, optional
            The cut-off; None is the whole list.
        lang : {"en", "ko"}, optional
            The language; None is that of `recnb.language`.
        **options
            Options of the metric.

        Returns
        -------
        Explanation
            Its `numbers` are the formula with the numbers of the user.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["item-knn"], sample.test)
        >>> print(ev.explain("recall", "u026", k=10).numbers)
        (1 + 1) / 3 = 2 / 3 = 0.6667
        """
        return explanation_of(self._data, metric, user, k, options, lang=lang)

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

    def user(self, user: Any, k: int | None = None) -> Table:
        """Return one user's list down to k: rank, item, score, relevance, hit.

        Parameters
        ----------
        user : hashable
            The id of the user; in a split a tuple, as in `explain`.
        k : int, optional
            The cut-off; None is the whole list.

        Returns
        -------
        Table
            A row per item of the list. Its `missed` has the relevant items that
            it lacks.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.user("u026", k=3).to_frame()
           rank  item   score  relevance    hit
        0     1  i062  0.4200        0.0  False
        1     2  i128  0.3600        0.0  False
        2     3  i076  0.3167        0.0  False
        """
        return tables.user_list_of(self._data, user, k)

    def worst(
        self, metric: AnyMetric, k: int | None = None, *, n: int = 10, **options: Any
    ) -> Table:
        """Return the users or queries with the lowest values of a metric, a row each.

        Among users with equal values, those with more relevant items come first. Users
        without a value are left out, and weights of users do not change the order.

        Parameters
        ----------
        metric : str or Metric
            A metric of accuracy. If less is better, the highest values come first.
        k : int, optional
            The cut-off; None is the whole list.
        n : int, default 10
            The number of users.
        **options
            Options of the metric.

        Returns
        -------
        Table
            A row per user: the value, n_relevant, n_found and n_missed; the text of the
            query if `users=` has a column `text`; the item on top of the list (first)
            and the most relevant one that is not in it (missing), by title or text if
            `items=` has one.

        See Also
        --------
        user : The list of one of them.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.worst("ndcg", k=10, n=2).to_frame()[["n_relevant", "n_found", "first"]]
              n_relevant  n_found first
        user
        u056           8        0  None
        u156           7        0  i027
        """
        measure = measure_named(metric, ACCURACY).with_options(options).cut_at(k)
        return worst_of(self._data, measure, n)

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

    ev.ndcg(k=10)                        a number, with .interval() and .per_user
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
        return sorted({*super().__dir__()} - hidden)

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

    def detectable(
        self,
        metric: AnyMetric,
        k: int | None = None,
        power: float = 0.8,
        *,
        alpha: float = 0.05,
        against: Evaluation | None = None,
        **options: Any,
    ) -> Detectable:
        """Return one number: the smallest difference of two models that can be detected.

        The test is a paired t test on these users. A column `detectable` of
        `found.differences()` has it of each difference that is measured.

        Parameters
        ----------
        metric : str or Metric
            A metric of accuracy.
        k : int, optional
            The cut-off; None is the whole list.
        power : float, default 0.8
            Probability of detecting a difference of that size.
        alpha : float, default 0.05
            Significance level of the two-sided test.
        against : Evaluation, optional
            An evaluation of the other model, from which the standard deviation of
            differences is measured; without it, a cautious correlation of 0.3 between
            the models' values is assumed.
        **options
            Options of the metric.

        Returns
        -------
        Detectable
            A float in units of the metric, and no table. It is printed with its
            assumptions in words, and `recnb.users_needed` takes it.

        See Also
        --------
        recnb.users_needed : How many users it takes to find a difference.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> round(float(ev.detectable("ndcg", k=10)), 4)
        0.0376
        """
        measure = measure_named(metric, ACCURACY).with_options(options).cut_at(k)
        return detectable_of(self, measure, power, alpha, against)

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

        It is not of some users whose lists are in a file or an engine.
        """
        n_relevant = int(self.joined.hits.n_relevant.sum())
        try:
            n_rows = self.joined.rows.n_recommended
        except ElsewhereError:
            words = N_(
                "Evaluation of some {users} against {relevant:,} relevant {items}"
            )
            return _(words, relevant=n_relevant)
        words = N_(
            "Evaluation of {rows:,} recommended rows against {relevant:,} relevant {items}"
        )
        return _(words, rows=n_rows, relevant=n_relevant)
