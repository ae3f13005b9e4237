"""`Comparison`: models against each other on the same users.

Means, paired differences, tests, and what follows from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack

import pandas as pd

from recnb.comparison.basis import ComparedBasis, warnings_of
from recnb.comparison.common import LeftOut, on_common_users
from recnb.comparison.models import models_of
from recnb.comparison.overlap import overlaps
from recnb.comparison.runs import runs_table, splits_of
from recnb.comparison.tables import (
    column_names,
    curves,
    differences_table,
    means_table,
    movers_frame,
)
from recnb.data import Frame
from recnb.data.read import Input
from recnb.display.forms import Line, joined, say, strong
from recnb.display.language import (
    N_,
    Noun,
    _,
    current,
    use_language,
    use_noun,
    with_noun,
)
from recnb.display.templates import FormName, write
from recnb.display.text import one_line
from recnb.errors import (
    OptionError,
    Suggesting,
    UnknownModelError,
    is_number,
    is_word,
    near,
    quoted,
)
from recnb.evaluate import Options, with_options_listed
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs, one_cutoff
from recnb.metrics.measure import Measure, call_of, measure_named
from recnb.metrics.metric import ACCURACY, Given
from recnb.results.arguments import (
    NO_PAIRS,
    AnyCutoffs,
    AnyMetric,
    Metrics,
    asked_of,
    count_of_users,
    measure_of_curve,
    refuse_whole_metrics,
)
from recnb.results.basis import depth_in_words, merged, taken_as_known
from recnb.results.evaluation_data import (
    EvaluationData,
    check_side_data,
    has_side_data,
)
from recnb.results.gate import Gate, not_worse_check
from recnb.results.numbers import Numbers, measured
from recnb.results.scoring import values_of_users
from recnb.results.segments import (
    EVERYONE,
    Division,
    division_by,
)
from recnb.results.shown import Shown, WordedLater
from recnb.results.table import Table, check_flag
from recnb.results.user_cards import UserCards
from recnb.results.user_groups import moved
from recnb.stats import Settings

if TYPE_CHECKING:
    from recnb.report.report import Report

#: Of more models than these every two are compared if none is named as the baseline.
MANY = 8

#: Methods that the repr names.
CALLS = (
    ".report()",
    ".table(k=10)",
    ".differences(k=[5, 10])",
    ".curve('ndcg')",
    ".movers('ndcg', k=10)",
    ".overlap(k=10)",
    ".beyond(k=10)",
    ".not_worse('ndcg', k=10)",
)


@with_options_listed
def compare(
    models: Mapping[str, Input | Evaluation] | Frame,
    truth: Input | None = None,
    *,
    baseline: str | None = None,
    pairs: Literal["baseline", "all"] | None = None,
    confidence: float = 0.95,
    model: str | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare models on the users that all of them are evaluated on.

    Parameters
    ----------
    models : dict, frame or path
        Recommendations by name, as `recnb.evaluate` takes them, or Evaluations; or one
        frame, file or folder with a column of models, named by `model="column"`, or
        with a column of predictions for each, `score=["y_pred", "xgb_pred"]`.
    truth : frame, mapping, Series or path, optional
        As in `recnb.evaluate`; omit it if all models are Evaluations.
    baseline : str, optional
        The model that all others are compared with, by default the first.
    pairs : {"baseline", "all"}, optional
        "all" compares every two models, as do more than eight models unless a baseline
        is named.
    confidence : float, default 0.95
        Of the intervals; tests have the level 1 - `confidence`.
    model : str, optional
        The column that names the models, if they are in one frame.
    **options
        Keywords of `evaluate`: columns, conventions, `train=`, `items=`, `users=`.

    Returns
    -------
    Comparison
        A mapping of names to Evaluations, with a report, tables and differences.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> comparison = recnb.compare(sample.recommendations, sample.test, baseline="popular")
    >>> print(comparison.differences("ndcg", k=10).conclusions[0])
    nDCG@10: item-knn is better than popular, by 0.0864 (95% interval
    0.0604 to 0.1124; p < 0.0001, Holm's correction over 2 comparisons).
    """
    settings = Settings(confidence=confidence)
    if pairs is not None and not is_word(pairs, ("baseline", "all")):
        raise OptionError(
            f"pairs={quoted(pairs)} does not say which models to compare. "
            f"{near(pairs, ('baseline', 'all'))}"
        )
    evaluated = models_of(models, truth, model, baseline, dict(options))
    if pairs is None:
        pairs = "all" if len(evaluated) > MANY and baseline is None else "baseline"
    reference = next(iter(evaluated)) if baseline is None else str(baseline)
    kept, left_out = on_common_users(evaluated)
    if pairs == "baseline":
        return Comparison(kept, left_out, reference, settings)
    # Each is compared with those before it: as the first, the baseline is compared with
    # none, and all others with it.
    kept = {reference: kept[reference], **kept}
    return Comparison(kept, left_out, None, settings)


@dataclass(frozen=True, eq=False, repr=False)
@with_noun
class Comparison(Suggesting, Mapping[str, Evaluation]):
    """Models on the same users, as `compare` returns them.

    Every difference is between the values of one user.

    It is a mapping of names to evaluations: `found["als"].ndcg(k=10)`. `report()` shows
    everything; the other methods are its parts. Conclusions hold for the users as a
    sample, not for another training run or another split of the data; `runs` takes
    the splits of `split=` as the sample.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> found = recnb.compare(sample.recommendations, sample.test)
    >>> {name: round(ev.ndcg(k=10), 4) for name, ev in found.items()}
    {'item-knn': 0.2589, 'factors': 0.2635, 'popular': 0.1725}
    """

    _models: Mapping[str, Evaluation]  # of each model, for the common users
    left_out: Mapping[str, LeftOut]  #: how many users of each model are not compared
    #: The model that the others are compared with; None if every two are compared.
    baseline: str | None
    settings: Settings  #: the confidence of intervals, and with it the level of tests

    # The same object is the same comparison, as for every other result.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self, model: str) -> Evaluation:
        """One model's Evaluation, for the common users."""
        return self._models[self._checked(model)]

    def _checked(self, model: str) -> str:
        """Return the name of a model, or raise an error that lists the models."""
        if is_word(model, self._models):
            return model
        raise UnknownModelError(
            f"{quoted(model)} is none of the models. {near(model, self.names)}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def _ipython_key_completions_(self) -> list[str]:
        return self.names

    def _instead_of(self, name: str) -> str:
        call = call_of(name)
        if call:
            metric, _bracket, cutoff = call.partition("(")
            return f'Type found.table("{metric}", {cutoff}.'
        instead = super()._instead_of(name)
        if not instead and hasattr(Evaluation, name):
            return f"Type found[{self.names[0]!r}].{name}."
        return instead

    @property
    def models(self) -> dict[str, Evaluation]:
        """Each model's Evaluation, for the common users."""
        return dict(self)

    @property
    def names(self) -> list[str]:
        """The names of the models, in the order shown."""
        return list(self._models)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Model and baseline of every difference."""
        if self.baseline is not None:
            return [
                (name, self.baseline) for name in self.names if name != self.baseline
            ]
        return [
            (later, earlier)
            for at, later in enumerate(self.names)
            for earlier in self.names[:at]
        ]

    @property
    def n_users(self) -> int:
        """The number of users that all models are evaluated on.

        With `cluster=`, the number of clusters.
        """
        return self._first.n_users

    @property
    def n_lists(self) -> int:
        """The number of lists that all models are evaluated on.

        It is the number of users, unless they have several lists.
        """
        return self._first.n_lists

    @property
    def users(self) -> pd.Index[Any]:
        """The users that all models are evaluated on."""
        return self._first.users

    @property
    def _noun(self) -> Noun:
        return self._first.noun

    @property
    def _first(self) -> EvaluationData:
        return next(iter(self._models.values()))

    def _measured(
        self, asked: Sequence[Measure], cutoffs: Cutoffs, division: Division = EVERYONE
    ) -> Numbers:
        """Measure metrics of the models, and the differences of their pairs."""
        return measured(
            self._models,
            asked,
            cutoffs,
            division=division,
            pairs=self.pairs,
            settings=self.settings,
        )

    def _one_asked(
        self, metric: AnyMetric | Measure, k: object, options: Given, *of_call: str
    ) -> tuple[Measure, Cutoffs]:
        """Look up the metric of a call at one cut-off: the one in its text, or k.

        `of_call`: other keywords of the call, which a misspelt option may mean.
        """
        cutoff = Cutoffs((one_cutoff(k),))
        (measure,) = asked_of(self._first, [metric], cutoff, options, "k", *of_call)
        measure = measure.cut_at(k)
        return measure, measure.cutoffs()

    def table(
        self,
        metrics: Metrics = None,
        k: AnyCutoffs = None,
        *,
        intervals: bool = False,
        by: Any = None,
        **options: Any,
    ) -> Table:
        """Return means over the common users, and numbers of all lists.

        When shown, the best of each column is bold (the lowest if less is better), and
        means that are shown to differ from the baseline are marked; if every two models
        are compared, those not shown to differ from the best.

        Parameters
        ----------
        metrics : str, list or dict, optional
            Names, or measures as papers print them, `["nDCG@10", "AP(rel=2)"]`; or a
            mapping of name to its own options. None: the usual ones.
        k : int or list of int, optional
            Cut-off or cut-offs; None is the whole list.
        intervals : bool, default False
            True: each mean with the two ends of its interval.
        by : str, Series or list, optional
            Segments, as in `Evaluation.table`.
        **options
            Options of the metrics, applied to each metric that has them.

        Returns
        -------
        Table
            A row per model, or per segment and model; a column per metric and cut-off.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
        >>> found.table(["ndcg", "recall"], k=10).to_frame().round(4)
                  ndcg@10  recall@10
        model
        item-knn   0.2589     0.3145
        factors    0.2635     0.2963
        popular    0.1725     0.2504
        """
        check_flag("intervals", intervals)
        cutoffs = Cutoffs.of(k)
        asked = asked_of(self._first, metrics, cutoffs, options, "k", "intervals", "by")
        division = division_by(self._models, by)
        numbers = self._measured(asked, cutoffs, division)
        return means_table(
            numbers,
            column_names(asked, cutoffs),
            self._basis.of_means(numbers, asked, cutoffs, intervals=intervals),
            baseline=self.baseline,
            intervals=intervals,
        )

    def differences(
        self,
        metrics: Metrics = None,
        k: AnyCutoffs = None,
        *,
        by: Any = None,
        **options: Any,
    ) -> Table:
        """Return paired differences with intervals and tests.

        A row per metric, cut-off and pair of models, and per segment. Metrics beyond
        accuracy are compared on the users who have a value in every model.

        Parameters
        ----------
        metrics : str, list or dict, optional
            As in `table`.
        k : int or list of int, optional
            Cut-off or cut-offs; None is the whole list.
        by : str, Series or list, optional
            Segments, as in `table`.
        **options
            Options of the metrics.

        Returns
        -------
        Table
            `p_holm` is corrected by Holm's method within each metric and cut-off, over
            pairs of models and segments; it is NaN where fewer than 10 users differ.
            `verdict` is "better" or "worse" ("higher" or "lower" for a metric such as
            novelty, where neither is better); "hint", printed as inconclusive; "torn",
            if test and interval disagree; "open", if no difference is shown; "same" or
            "untested". `detectable` is the smallest difference that would be found with
            80 % power. `won`, `tied` and `lost` count users or, if users have several,
            lists: `n_lists` of `n_users`, clustered. Its `conclusions` has a sentence
            for each row, and `plot()` draws them.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
        >>> found.differences("ndcg", k=10)["verdict"].tolist()
        ['better', 'better']
        """
        cutoffs = Cutoffs.of(k)
        asked = asked_of(self._first, metrics, cutoffs, options, "k", "by")
        refuse_whole_metrics(asked, NO_PAIRS)
        division = division_by(self._models, by, is_tested=True)
        numbers = self._measured(asked, cutoffs, division)
        return differences_table(
            numbers,
            self._basis.of_differences(numbers, asked, cutoffs),
            warnings=WordedLater(lambda: warnings_of(self._models, asked[0], cutoffs)),
            known=taken_as_known(self._first.source.has_propensities),
        )

    def not_worse(
        self,
        metric: AnyMetric,
        k: int | None = None,
        margin: float = 0,
        *,
        model: str | None = None,
        **options: Any,
    ) -> Gate:
        """Check that models are not worse than the baseline, as before a release.

        With `margin` 0, a model fails if its verdict in `differences`, corrected for
        the number of models, is that it is worse. With a `margin` above 0, it fails
        unless its interval, which is not corrected, is above -`margin` (a test of
        non-inferiority) or, if less is better, below `margin`. If too few users differ
        for a test, the interval within the bounds of the metric is used: with `margin`
        0, a model passes unless that interval is below 0, and the check says that no
        test could be made. A model that has the baseline's value for every user passes.
        Others fail with a margin but no interval, and all fail with fewer than 10 users.

        Parameters
        ----------
        metric : str or Metric
            The metric.
        k : int, optional
            The cut-off; None is the whole list.
        margin : float, default 0
            By how much a model may be worse, in units of the metric.
        model : str, optional
            The model that is checked, by default all but the baseline. Its verdict is
            corrected for all models.
        **options
            Options of the metric.

        Returns
        -------
        Gate
            True if no model fails; `to_json` writes it for CI.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
        >>> bool(found.not_worse("ndcg", k=10, model="item-knn"))
        True
        """
        measure, cutoff = self._one_asked(metric, k, options, "margin", "model")
        if measure.metric.better is None:
            raise OptionError(
                f"a high or low {measure.name} is not good or bad in itself: name a "
                "metric of which more or less is better, such as 'ndcg'."
            )
        if not is_number(margin) or margin < 0:
            raise OptionError(
                f"margin={quoted(margin)}: give how far behind a model may be, "
                f"from 0 up, such as 0.01."
            )
        if self.baseline is None:
            raise OptionError(
                "there is no baseline where each two models are compared: say "
                f"compare(models, truth, baseline={quoted(self.names[0])}), without pairs=."
            )
        pairs = self.pairs if model is None else [self._pair(model, None)]
        refuse_whole_metrics([measure], NO_PAIRS)
        # All pairs are tested also if one model is named: they are corrected together.
        numbers = self._measured([measure], cutoff)
        basis = "; ".join(self._basis.of_metrics([measure], cutoff, numbers.bases))
        checks = [
            not_worse_check(row, float(margin), self.settings.confidence, basis)
            for row in numbers.difference_rows(even_untested=True)
            if (row.model, row.baseline) in pairs
        ]
        return Gate(tuple(checks))

    def runs(
        self,
        metric: AnyMetric = "ndcg",
        k: int | None = None,
        *,
        test_share: float | None = None,
        **options: Any,
    ) -> Table:
        """Return a metric over the splits of `split=`, which are the sample here.

        Parameters
        ----------
        metric : str or Metric, default "ndcg"
            The metric.
        k : int, optional
            The cut-off; None is the whole list.
        test_share : float, optional
            For folds, the share of the data that each tests, 0.2 for five folds; it
            gives the corrected resampled t test. Without it, as for seeds or days, the
            test is the paired t test.
        **options
            Options of the metric.

        Returns
        -------
        Table
            A row per model, with the mean, standard deviation and number of its means
            by split. Its `differences` has a row for each pair of models with its test, and
            `by_split` the means.

        Examples
        --------
        >>> import pandas as pd, recnb
        >>> sample = recnb.datasets.load_sample()
        >>> lists = sample.recommendations[["model", "user", "item", "score"]]
        >>> seeds = [lists.assign(seed=1), lists[lists.index % 2 == 0].assign(seed=2)]
        >>> found = recnb.compare(pd.concat(seeds), sample.test, split="seed")
        >>> found.runs("recall", k=10).to_frame().round(4)
                    mean      sd  n_splits
        model
        item-knn  0.2729  0.0588         2
        factors   0.2817  0.0206         2
        popular   0.2369  0.0190         2
        """
        measure, cutoff = self._one_asked(metric, k, options, "test_share")
        splits = splits_of(self._models)
        numbers = self._measured([measure], cutoff, splits)
        basis = self._basis.of_metrics([measure], cutoff, numbers.bases)
        return runs_table(numbers, basis, test_share)

    def movers(
        self,
        metric: AnyMetric = "ndcg",
        k: int | None = None,
        n: int = 5,
        *,
        model: str | None = None,
        baseline: str | None = None,
        **options: Any,
    ) -> Table:
        """Return the users who gain or lose most from one model to another.

        Parameters
        ----------
        metric : str or Metric, default "ndcg"
            The metric.
        k : int, optional
            The cut-off; None is the whole list.
        n : int, default 5
            Number of users who gain, and of users who lose.
        model : str, optional
            The one model, by default the first that is not the baseline.
        baseline : str, optional
            The other, by default the baseline of the comparison.
        **options
            Options of the metric.

        Returns
        -------
        Table
            The users, with both lists of each.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
        >>> movers = found.movers("ndcg", k=10, n=2)
        """
        asked = measure_named(metric, ACCURACY)
        n_shown = count_of_users("n", n)
        pair = self._pair(model, baseline)
        of_call = ("n", "model", "baseline")
        measure, cutoff = self._one_asked(asked, k, options, *of_call)
        values = {
            name: values_of_users(self._models[name], measure, cutoff)[:, 0]
            for name in pair
        }
        better = measure.metric.better
        groups = moved(self._models, pair, values, measure.k, n_shown, better)
        frame = movers_frame(groups)
        basis = self._basis.of_metrics([measure], cutoff)
        with use_noun(self._first.noun_of_lists):
            cards = None
            if groups:  # where nobody moves, the empty table says of whom
                cards = UserCards(groups, measure.label, current().fields)
            shown = Shown(
                title=measure.label,
                basis=basis,
                cards=cards,
                frame_title=_("{Users} with the largest changes in value"),
            )
        return Table(frame, shown=shown)

    def overlap(self, k: int | None = None, *, p: float = 0.9) -> Table:
        """Return how similar the lists of every two models are.

        Parameters
        ----------
        k : int, optional
            The cut-off; None is the whole list.
        p : float, default 0.9
            Chance that a reader of `rbo` looks one rank further: with 0.9 the first ten
            ranks have 86% of the weight.

        Returns
        -------
        Table
            A row per pair of models. `jaccard` is items in both out of items in either,
            `n_identical` the users with the same list. `rbo` is the rank-biased overlap,
            for which the top of the lists counts most: 1 for equal lists, 0 for lists
            without a common item.

        References
        ----------
        Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, ACM
        Transactions on Information Systems 28(4).

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test)
        >>> found.overlap(k=10).to_frame()[["model", "other", "jaccard"]].round(3)
              model    other  jaccard
        0  item-knn  factors    0.426
        1  item-knn  popular    0.352
        2   factors  popular    0.228
        """
        k = one_cutoff(k)
        frame = pd.DataFrame(overlaps(self._models, k, p))
        shown = Shown(basis=self._basis.of_all(), index=["model", "other"])
        return Table(frame, shown=shown)

    def beyond(self, k: int | None = None) -> Table:
        """Return the metrics beyond accuracy of every model, down to k.

        It has those that `train=` and `items=` allow, and NaN if a model has no number;
        nothing is tested.

        Parameters
        ----------
        k : int, optional
            The cut-off; None is the whole list.

        Returns
        -------
        Table
            A row per model, a column per metric.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test, train=sample.train)
        >>> found.beyond(k=10).to_frame()[["coverage", "novelty"]].round(3)
                  coverage  novelty
        model
        item-knn     0.512    2.319
        factors      0.383    2.474
        popular      0.133    1.812
        """
        check_side_data(self._models)
        if not has_side_data(self._models):
            raise OptionError(
                "metrics beyond accuracy need more frames: give compare() train=, "
                "and items= for some."
            )
        k = one_cutoff(k)
        columns, basis = {}, {}
        for name, model in self._models.items():
            table = model.beyond(k)
            columns[name] = table.iloc[:, 0]
            basis[one_line(name)] = table._shown.basis
        frame = pd.concat(columns, axis=1)
        shown = Shown(
            title=f"{_('Beyond accuracy')}, {depth_in_words(k)}", basis=merged(basis)
        )
        return Table(frame.T.rename_axis(index="model", columns=None), shown=shown)

    def curve(
        self,
        metric: AnyMetric = "ndcg",
        k: Iterable[int] = range(1, 21),
        **options: Any,
    ) -> Table:
        """Return a metric at many cut-offs for every model, with intervals.

        `.plot()` draws it.

        Parameters
        ----------
        metric : str or Metric, default "ndcg"
            The metric.
        k : iterable of int, default range(1, 21)
            The cut-offs.
        **options
            Options of the metric.

        Returns
        -------
        Table
            A row per model and cut-off, with the ends of an interval; NaN without one.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test)
        >>> len(found.curve("recall", k=[5, 10]))
        6
        """
        measure, cutoffs = measure_of_curve(metric, k)
        (measure,) = asked_of(self._first, [measure], cutoffs, options, "k")
        numbers = self._measured([measure], cutoffs)
        shown = Shown(
            title=f"{measure.symbol}@k",
            basis=self._basis.of_means(numbers, [measure], cutoffs, intervals=True),
            pivot=("k", "model", "mean"),
            plot="curves",
            symbol=measure.symbol,
        )
        return Table(curves(numbers), shown=shown)

    def report(
        self,
        k: int | Sequence[int] = (5, 10, 20),
        metrics: Metrics = None,
        *,
        movers: int = 2,
        by: Any = None,
        lang: str | None = None,
        **options: Any,
    ) -> Report:
        """Return the report of the comparison.

        It has findings, conclusions, means, tests, curves, segments and users. Conclusions
        are drawn at the middle cut-off, users and curves shown by the first metric.

        Parameters
        ----------
        k : int or list of int, default (5, 10, 20)
            The cut-offs.
        metrics : str, list or dict, optional
            As in `table`.
        movers : int, default 2
            Number of users who gain, and of users who lose, for the first pairs of models.
        by : str, Series or list, optional
            Segments to compare models in: a column of `users=` or of the truth, "activity",
            a Series, or several in a list; values of a column of the truth that differs
            within users have means and no tests.
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
        >>> found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
        >>> report = found.report(k=[5, 10], metrics=["ndcg", "recall"])
        >>> report.to_frame()["model"].unique().tolist()
        ['item-knn', 'factors', 'popular']
        """
        from recnb.report.build import report_of
        from recnb.report.request import request_of

        n_movers = count_of_users("movers", movers)
        with use_language(lang):
            request = request_of(self._first, k, metrics, options, by=by)
            basis = self._basis.of_metrics(request.metrics, Cutoffs.of(k))
            return report_of(
                self._models,
                request,
                self.settings,
                pairs=self.pairs,
                baseline=self.baseline,
                basis="; ".join(basis),
                n_shown=n_movers,
            )

    @property
    def basis(self) -> str:
        """The users and the convention that models are compared by, in words."""
        return "; ".join(self._basis.of_all())

    @property
    def _basis(self) -> ComparedBasis:
        return ComparedBasis(self._models, self.left_out)

    def _pair(self, model: str | None, baseline: str | None) -> tuple[str, str]:
        """Return the names of a model and of the one that it is compared with.

        By default it is compared with the baseline, and is the first of the others.
        """
        if baseline is None:
            baseline = self.baseline or self.names[0]
        baseline = self._checked(baseline)
        if model is None:
            model = next(name for name in self.names if name != baseline)
        model = self._checked(model)
        if model == baseline:
            raise OptionError(f"{model!r} is the baseline itself: name another model.")
        return model, baseline

    def _title(self) -> Line:
        models = joined(strong(name) for name in self.names if name != self.baseline)
        if self.baseline is None:
            return say(
                N_("Comparison of {models}, each two against each other"), models=models
            )
        return say(
            N_("Comparison of {models} against {baseline}"),
            models=models,
            baseline=strong(self.baseline),
        )

    def __repr__(self) -> str:
        return self._written("lines")

    def _repr_html_(self) -> str:
        return self._written("html")

    def _written(self, form: FormName) -> str:
        return write(
            "results/evaluation.jinja",
            form,
            label=_("comparison of models"),
            title=self._title(),
            basis=self.basis,
            calls=CALLS,
        )
