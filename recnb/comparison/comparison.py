"""Models against each other on the same users: means, paired differences, tests, and what may be concluded of them."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Never, NoReturn, Unpack

import numpy as np
import pandas as pd

from recnb.comparison.common_users import (
    check_conventions,
    check_lists_of_common_users,
    check_side_data,
    check_truths,
    restrict_to_common_users,
    share_catalogue,
)
from recnb.comparison.data import ComparisonData
from recnb.comparison.differences import curves_of, differences_by
from recnb.comparison.models import models_of, reference_of, settings_of
from recnb.comparison.parts import ComparisonRows, ComparisonTable, Curves, Differences, Movers
from recnb.data import Frame
from recnb.data.forms import Input
from recnb.display.document import Line, Mark, Name, Note, html, inline, joined, say
from recnb.display.language import N_, _, checked, current, use_language
from recnb.display.templates import framed
from recnb.display.text import one_line
from recnb.errors import OptionError, Suggesting, UnknownNameError, is_number, is_word, near, quoted
from recnb.evaluate import refuse_positional
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import any_metric, measure_named
from recnb.options import Options, with_options_listed
from recnb.report.conclusions import Difference, comparison_title, tested
from recnb.results.arguments import Metrics, asked_of, check_options, chosen_metrics
from recnb.results.gate import Gate, not_worse_check
from recnb.results.segments import distinct_labels
from recnb.results.table import Table
from recnb.stats import Test
from recnb.stats.intervals import check_resampled
from recnb.stats.moments import checked_confidence

if TYPE_CHECKING:
    from recnb.report.report import Report

#: A cut-off or several; None is the whole list.
AnyCutoffs = int | Sequence[int | None] | None

#: Views of earlier versions, and what has the same numbers.
FORMER = {
    "means": "Type .table(k=10), whose plot() draws the intervals; .report(k=10).to_frame() has them as numbers.",
    "forest": "Type .differences(k=10).plot().",
    "plot": "Type .differences('ndcg', k=10).plot().",
    "conclusion": "Type .differences(k=10).conclusions, a sentence for each.",
    "tradeoff": "Type .table(k=10) for metrics of users, and .beyond(k=10) for those of all lists.",
}

#: Which models are compared: each with the baseline, or every two.
Pairs = Literal["baseline", "all"]
PAIRS = ("baseline", "all")

#: The columns of `differences`, in order.
DIFFERENCE_COLUMNS = (
    "metric", "k", "model", "baseline", "difference", "low", "high", "p", "p_holm", "effect_size",
    "won", "tied", "lost", "n_users", "detectable", "verdict",
)  # fmt: skip

#: Methods that the repr names.
CALLS = (
    ".report()", ".table(k=10)", ".differences(k=[5, 10])", ".curve('ndcg')", ".movers('ndcg', k=10)", ".overlap(k=10)",
    ".beyond(k=10)", ".not_worse('ndcg', k=10)",
)  # fmt: skip


@with_options_listed
def compare(
    models: Mapping[str, Input | Evaluation] | Frame,
    truth: Input | None = None,
    *others: Never,
    baseline: str | None = None,
    pairs: Pairs = "baseline",
    confidence: float = 0.95,
    test: Test = "t",
    method: Literal["t", "bootstrap"] | None = None,
    resamples: int | None = None,
    permutations: int | None = None,
    seed: int | None = None,
    model: str | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare models on the users that all of them are evaluated on.

    Parameters
    ----------
    models
        Recommendations by name, in any form that `recnb.evaluate` takes, or Evaluations; or one frame or file with a column of models, which `model="column"` names,
        or with a column of predictions for each, `score=["y_pred", "xgb_pred"]`.
        Frames and evaluations of Dask and Spark need `import recnb.dask` or `recnb.spark`: hits and counts are fetched, and
        the rows of the lists are not, so overlap and metrics beyond accuracy are not available.
    truth
        The relevant items of each user, as in `recnb.evaluate`, unless all models are Evaluations.
    baseline
        The model that all others are compared with; by default the first.
    pairs
        "baseline", or "all" to compare every two models.
    confidence
        Confidence of intervals; tests have the level 1 - `confidence`.
    test
        The test of differences: "t" (Student's paired t), "wilcoxon" or "randomization" (random signs). Each has the interval
        that belongs to it; that of "wilcoxon" is of the median of pairwise means of the users who differ. Fewer than 10
        users who differ are not tested.
    method
        "bootstrap" makes the intervals of the t test by scipy's BCa bootstrap of the users.
    resamples
        Bootstrap samples of users; 2,000 unless given.
    permutations
        Samples of signs of the randomization test; 10,000 unless given.
    seed
        Seed of either; 0 unless given.
    model
        The column of models, of one frame.
    **options
        Those of `evaluate`: columns, conventions, `train=`, `items=`, `users=`.

    Returns
    -------
    Comparison

    Raises
    ------
    OptionError
        If an option is unknown, or models are evaluated under different conventions.
    FrameError
        If models are evaluated on different truths, or have lists of different users.
    NoUsersError
        If no user is evaluated in every model.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> comparison = recnb.compare(sample.recommendations, sample.test, baseline="popular")
    >>> print(comparison.differences("ndcg", k=10).conclusions[0])
    nDCG@10: item-knn is better than popular, by 0.0864 (95% interval 0.0604 to 0.1124; p < 0.001, Holm's correction over 2 comparisons).
    """
    settings = settings_of(confidence, test, method, resamples, permutations, seed)
    if not is_word(pairs, PAIRS):
        raise OptionError(f"pairs={pairs!r} says not whom to compare. {near(pairs, PAIRS)}")
    refuse_positional(others, "compare", "the models")
    evaluated = models_of(models, truth, dict(options) if model is None else {**options, "model": model})
    reference = reference_of(baseline, pairs, list(evaluated))
    check_conventions(evaluated)
    check_truths(evaluated)
    kept, judged = restrict_to_common_users(share_catalogue(evaluated))
    check_lists_of_common_users(kept)
    if settings.method == "bootstrap":
        check_resampled(next(iter(kept.values())).n_users)
    if pairs == "all" and baseline is not None:
        kept = {name: kept[name] for name in sorted(kept, key=lambda name: name != reference)}
    return Comparison(kept, judged, None if pairs == "all" else reference, settings)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonData, Suggesting, Mapping[str, Evaluation]):
    """Models on the same users, as `compare` returns them; every difference is between the values of one user.

    It is a mapping of names to evaluations: `found["als"].ndcg(k=10)`. `report()` shows everything; `table`, `differences`,
    `movers`, `overlap`, `beyond` and `curve` are its parts. Conclusions hold for the users as a sample, not for another training run or another split of the data.
    """

    def __getitem__(self, model: str) -> Evaluation:
        """One model's Evaluation, for the common users."""
        return Evaluation(self._models[self._checked(model)])

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    # The same object is the same comparison, as for every other result.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _ipython_key_completions_(self) -> list[str]:
        return self.names

    def items(self, *given: Any, **options: Any) -> ItemsView[str, Evaluation]:
        """The names of the models with their evaluations; how often items are shown is asked of one: `found["als"].items(k=10)`."""
        self._refuse(
            "items", given, options, "How often each item is shown is asked of one model: found[{!r}].items(k=10)."
        )
        return super().items()

    def values(self, *given: Any, **options: Any) -> ValuesView[Evaluation]:
        """The evaluations of the models; the values of users are asked of one: `found["als"].ndcg(k=10).per_user`."""
        self._refuse(
            "values", given, options, "The values of users are those of one model: found[{!r}].ndcg(k=10).per_user."
        )
        return super().values()

    def _refuse(self, name: str, given: tuple[Any, ...], options: Mapping[str, Any], instead: str) -> None:
        """Refuse arguments of what a mapping has under a name."""
        if given or options:
            problem = f"{name}() of a comparison gives its models and takes no arguments."
            raise OptionError(problem, fix=instead.format(self.names[0]))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name in FORMER:
                raise UnknownNameError(f"Comparison has no {name!r}.", fix=FORMER[name])
            if not name.startswith("_") and hasattr(Evaluation, name):
                problem = f"Comparison has no {name!r}."
                raise UnknownNameError(
                    problem,
                    fix=f"It is one of each model: found[{self.names[0]!r}].{name}{'(...)' * callable(getattr(Evaluation, name))}.",
                )
            super().__getattr__(name)

    @property
    def models(self) -> dict[str, Evaluation]:
        """Each model's Evaluation, for the common users."""
        return dict(self)

    def table(
        self, metrics: Metrics = None, k: AnyCutoffs = None, *, by: Any = None, bins: int = 4, **options: Any
    ) -> ComparisonTable:
        """Return means over the common users.

        Parameters
        ----------
        metrics
            Names of metrics, or measures as papers print them, as "nDCG@10", which bring their cut-off; or a mapping of name to
            its own options. None: the usual ones.
        k
            Cut-off or cut-offs; None is the whole list.
        by
            Segments of users, as in `Evaluation.table`: a column of `users=` or of the truth, a
            Series of user to segment, or several in a list.
        bins
            Number of quantile bins for a `by` that is a number.
        **options
            Options of the metrics, applied to each metric that has them.

        Returns
        -------
        ComparisonTable
            A DataFrame with a row per model, or per segment (under the names of its columns) and model, and a column per metric
            and cut-off, as "ndcg@10". Where it is shown the best of each column is bold; `plot()` draws it with intervals.
        """
        if "intervals" in options:
            problem = "the table of a comparison has no intervals= beside the means."
            raise OptionError(
                problem, fix="Type .table(k=10).plot(), which draws them; .report(k=10).to_frame() has them as numbers."
            )
        segments, measured = self._compared(metrics, k, options, [], by, bins)
        labels = distinct_labels(segments.labels, ["model"]) if segments else []
        levels = [f"segment {at}" for at in range(len(labels))]
        named = [
            (name, metric, metric.cutoffs(Cutoffs.of(k)))
            for name, metric, _own in asked_of(self._first.library, metrics, options)
        ]
        columns = {
            (metric.name, cut): name if cut in (None, metric.cutoff) else f"{name}@{cut}"
            for name, metric, own in named for cut in own
        }  # fmt: skip
        rows = pd.DataFrame([
            dict(zip(levels, key, strict=True)) | asdict(mean)
            | {"column": columns[mean.metric, mean.k]}
            for key, of_segment in measured.items() for mean in of_segment.means
        ])  # fmt: skip
        rows = rows.set_index([*levels, "model"]).rename_axis(index=[*labels, "model"])
        wide = [rows.set_index("column", append=True)[part].unstack(sort=False) for part in ("mean", "low", "high")]
        table = ComparisonTable(wide[0].rename_axis(columns=None).astype(float))
        table._measured = lambda: wide
        basis = [self.basis(), *filter(None, [segments.words if segments else ""])]
        if any(not metric.is_accuracy for _name, metric, _own in named):
            everyone = _("metrics beyond accuracy over all users who have a value in every model")
            evaluated = _("metrics beyond accuracy over the users evaluated who have a value in every model")
            basis.append(evaluated if segments else everyone)
        asked = asked_of(self._first.library, metrics, options)
        basis += self._options_in_words(asked)
        table.attrs = {"n_users": self.n_users, "alpha": self.settings.alpha, "lang": current()}
        table.attrs["basis"] = "; ".join(basis)
        for kind in ("best", "near_best"):
            marked = rows[rows[kind]]
            table.attrs[kind] = {column: [*marked.index[marked["column"] == column]] for column in table}
        return table

    def differences(
        self, metrics: Metrics = None, k: AnyCutoffs = None, *, by: Any = None, bins: int = 4, **options: Any
    ) -> Differences:
        """Return paired differences with intervals, tests and corrections.

        Metrics beyond accuracy that have a value for each user (novelty, popularity, diversity, ...) are compared on the users
        who have a value in every model, with relevant items or not; their verdicts are "higher" and "lower".

        Parameters
        ----------
        metrics, k, by, bins, **options
            As in `table`.

        Returns
        -------
        Differences
            A DataFrame with a row per metric, cut-off and pair of models, and per segment; `conclusions` has a sentence for each,
            and `plot()` draws them with their intervals. `p` is that of the test, and `p_holm` is corrected by
            Holm's method for all rows; both are NaN where fewer than 10 users differ. `detectable` is the smallest difference
            found with 80 % power; `won`, `tied` and `lost` count users.
        """
        segments, measured = self._compared(metrics, k, options, self.pairs, by, bins)
        labels = distinct_labels(segments.labels, DIFFERENCE_COLUMNS) if segments else []
        rows_of = differences_by(measured)
        cells = [row.to_dict() | dict(zip(labels, key, strict=True)) for key, row in rows_of]
        made, names = [row for _key, row in rows_of], [", ".join(map(str, key)) for key, _row in rows_of if key]
        frame = pd.DataFrame(cells, columns=pd.Index([*labels, *DIFFERENCE_COLUMNS]))
        settings = self.settings
        shown = ("difference", "low", "high", "p_holm", "won", "tied", "lost", "n_users", "verdict")
        rows = Differences(frame)
        rows.attrs = self._rows_attrs(len(labels) + 4, shown) | {
            "corrected": settings.test,
            "confidence": settings.confidence,
            "n_compared": tested(made),
        }
        rows._made, rows._settings, rows._segments = tuple(made), settings, tuple(names)
        rows._ties = tuple(
            f"{one_line(model)}: {found.short}." for model, found in self._tied(metrics, k, options).items()
        )
        return rows

    def _rows_attrs(self, n_labels: int, shown: Sequence[str]) -> dict[Any, Any]:
        """What a frame whose first columns say what each row is of is shown by."""
        return {"labels": n_labels, "shown": shown, "basis": self.basis(), "lang": current()}

    def not_worse(
        self, metric: str, k: int | None = None, margin: float = 0, *, model: str | None = None, **options: Any
    ) -> Gate:
        """Check that models are not worse than the baseline, as a test of a release would.

        Parameters
        ----------
        metric, k, **options
            The metric of accuracy, as in `table`.
        margin
            0: a model fails if it is shown to be worse, its interval of the paired difference below 0. Above 0: it fails unless it
            is shown to be less than the margin below the baseline, the interval above -`margin` (a test of non-inferiority).
        model
            The model; None: all but the baseline.

        Returns
        -------
        Gate
            True if every check is passed; it prints why, and `to_json` writes it for CI. Intervals have the confidence
            of the comparison, and are not corrected for the number of models. Without data no check is passed: of fewer than 10
            users, or of so few who differ that there is no interval; where every user has the same value it is.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
        >>> found.not_worse("ndcg", k=10, model="item-knn")
        passed: ndcg@10: item-knn is not shown to be worse than popular (difference +0.0864, 95% interval 0.0604 to 0.1124, 261 users)
        261 users that all 3 models are judged on; in each model 2 without a list, which counts 0; 39 with no relevant item left out; ordered by rank; relevant: relevance above 0
        """
        chosen = measure_named(metric)
        if not chosen.is_accuracy:
            raise OptionError(f"{metric!r} is beyond accuracy, where lower is not worse: name a metric of accuracy.")
        if not is_number(margin) or margin < 0:
            problem = ": give how far below the baseline a model may be, a number from 0 up, such as 0.01."
            raise OptionError(f"margin={quoted(margin)}", problem)
        if self.baseline is None:
            problem = "every two models are compared, and none is the baseline that others may not be worse than: "
            raise OptionError(problem, f"compare with baseline={quoted(self.names[0])}.")
        pairs = self.pairs if model is None else [self._pair(model, None)]
        differences = self._measured([metric], Cutoffs.one(k), options, pairs).differences
        return Gate(
            tuple(
                not_worse_check(
                    *(chosen.name, row.k, row.model, row.n_users),
                    baseline=row.baseline,
                    n_differ=row.won + row.lost,
                    difference=row.difference,
                    low=row.low,
                    high=row.high,
                    margin=float(margin),
                    confidence=self.settings.confidence,
                    basis=self.basis(),
                )
                for row in differences
            )
        )

    def movers(
        self,
        metric: str = "ndcg",
        k: int | None = None,
        n: int = 5,
        *,
        model: str | None = None,
        baseline: str | None = None,
        lang: str | None = None,
        **options: Any,
    ) -> Movers:
        """Return the users who gain and lose most by one model in the place of another, with both lists.

        Parameters
        ----------
        metric
            Name of a metric of accuracy.
        k
            Cut-off; None is the whole list.
        n
            Number of users who gain, and of users who lose.
        model, baseline
            The two models; by default the first that is not the baseline, and the baseline.
        lang
            "en" or "ko"; None: the language in force.
        **options
            Options of the metric.

        Returns
        -------
        Movers
        """
        from recnb.report.users import moved

        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise OptionError(f"n={n!r} is no number of users: give a whole number from 1 up.")
        (chosen,) = chosen_metrics([metric])
        check_options(chosen, options)
        pair, cutoffs = self._pair(model, baseline), Cutoffs.one(k)
        values = {name: self._models[name].values(chosen, cutoffs, options)[:, 0] for name in pair}
        groups = moved(self._models, pair, values, cutoffs.values[0], int(n))
        return Movers(tuple(groups), pair, chosen.symbol, cutoffs.values[0], lang=checked(lang))

    def _pair(self, model: str | None, baseline: str | None) -> tuple[str, str]:
        """A model and the one that it is compared with; by default the first other one, and the baseline."""
        for name in (model, baseline):
            if name is not None:
                self._checked(name)
        baseline = baseline or self.baseline or self.names[0]
        others = [name for name in self.names if name != baseline]
        if model == baseline:
            raise OptionError(f"{model!r} is the baseline itself: name another model, such as {others[0]!r}.")
        return model or others[0], baseline

    def overlap(self, k: int | None = None, **gone: Any) -> ComparisonRows:
        """Return how similar the lists of each two models are.

        Parameters
        ----------
        k
            Cut-off; None is the whole list.

        Returns
        -------
        ComparisonRows
            A row per two models: Jaccard's share, items in both lists out of items in either, as a mean over users with a list; and
            the number of users with the very same list.
        """
        from recnb.comparison.overlap import overlaps

        if gone:
            problem = (
                f"overlap() takes k alone, and not {next(iter(gone))}=: rank-biased overlap is no longer part of it."
            )
            raise OptionError(problem, fix="Packages such as rbo compute it from two lists.")
        frame = pd.DataFrame(list(map(asdict, overlaps(self._models, Cutoffs.one(k).values[0]))))
        rows = ComparisonRows(frame)
        rows.attrs = self._rows_attrs(3, ("jaccard", "n_users", "n_identical"))
        return rows

    def beyond(self, k: int | None = None) -> Table:
        """Return the metrics beyond accuracy that `train=` and `items=` allow for every model.

        Parameters
        ----------
        k
            Cut-off; None is the whole list.

        Returns
        -------
        Table
            A row per model, a column per metric. Values are of all lists of a model, or of the users with a list; nothing is tested.
        """
        from recnb.report.build import beyond_of

        check_side_data(self._models)
        found = beyond_of(self._models, Cutoffs.one(k).values[0])
        if not found:
            raise OptionError(
                "metrics beyond accuracy need what users had before: give compare() train=, and items= for some."
            )
        columns = {metric: of_models for metric, (of_models, _basis) in found.items()}
        frame = pd.DataFrame(columns, index=pd.Index(self.names, name="model"))
        return Table.made(frame, [" · ".join(dict.fromkeys(basis for _of_models, basis in found.values()))])

    def curve(
        self, metric: str = "ndcg", k: Iterable[int] = range(1, 21), *, lang: str | None = None, **options: Any
    ) -> Curves:
        """Return a metric at many cut-offs for every model, with an interval at each; `.plot()` draws it.

        Parameters
        ----------
        metric
            Name of a metric.
        k
            Cut-offs.
        lang
            "en" or "ko"; None: the language in force.
        **options
            Options of the metric.

        Returns
        -------
        Curves
        """
        chosen = any_metric(metric)
        cutoffs = Cutoffs.of_curve(k)
        means = self._measured([chosen.name], cutoffs, options, []).means
        return Curves(curves_of(means, self.names), self.settings, lang=checked(lang))

    def explore(self, metric: str = "ndcg", k: int | None = 10, *, lang: str | None = None, **options: Any) -> Any:
        """Return a widget to go through users and see each model's list; arguments are those of `Evaluation.explore`."""
        from recnb.widgets import needs_notebook

        with needs_notebook("explore"):
            from recnb.widgets.explorer_view import explorer
        models = {self.baseline: self.models[self.baseline], **self.models} if self.baseline else self.models
        return explorer(models, metric, k, lang=lang, **options)

    def report(
        self,
        k: int | Sequence[int] = (5, 10, 20),
        metrics: Metrics = None,
        *,
        movers: int = 2,
        by: Any = None,
        bins: int = 4,
        confidence: float | None = None,
        lang: str | None = None,
        **options: Any,
    ) -> Report:
        """Return the report of the comparison: findings, conclusions, means, tests, curves, segments, users, overlap.

        Parameters
        ----------
        k
            Cut-offs, whole numbers; conclusions are drawn at the middle one.
        metrics, by, bins, **options
            As in `table`; the first metric is the lead metric.
        movers
            Number of users who gain, and of users who lose, shown for each pair of models.
        confidence
            Confidence of intervals; None: that of the comparison.
        lang
            "en" or "ko"; None: the language in force.

        Returns
        -------
        Report
        """
        from recnb.comparison.compared import compared_of
        from recnb.report.build import report_of
        from recnb.report.request import request_of

        if not isinstance(movers, (int, np.integer)) or isinstance(movers, bool) or movers < 0:
            raise OptionError(f"movers={movers!r} is no number of users: give a whole number from 0 up.")
        with use_language(lang):
            data: ComparisonData = self
            if confidence is not None:
                checked_confidence(confidence)
                data = replace(self, settings=replace(self.settings, confidence=float(confidence)))
            elsewhere = ".differences(k=None)"
            request = request_of(
                self._first, k, metrics, options, data.settings.confidence, by=by, bins=bins, instead=elsewhere
            )
            return report_of(self._models, request, compared_of(data, request), users=int(movers))

    def _title(self) -> Line:
        models = joined(Mark("strong", Name(name)) for name in self.names if name != self.baseline)
        return comparison_title(models, self.baseline)

    def __repr__(self) -> str:
        calls = _("Methods: {calls}", calls=", ".join(CALLS))
        return "\n".join([inline(self._title(), "txt"), self.basis(), calls])

    def _repr_html_(self) -> str:
        calls = say(N_("Methods: {calls}"), calls=joined((Mark("code", call) for call in CALLS), " "))
        blocks = [Note(self._title(), "plain"), Note(self.basis()), Note(calls)]
        return str(framed(_("comparison of models"), html(blocks)))


__all__ = ["Comparison", "Difference", "compare"]
