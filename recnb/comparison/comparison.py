"""Models against each other on the same users: means, paired differences, tests, and
what may be concluded of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Unpack

import numpy as np
import pandas as pd

from recnb.comparison.models import (
    check_models,
    models_of,
    restrict_to_common_users,
    share_catalogue,
    users_in_words,
    without_relevant_in_words,
)
from recnb.comparison.tables import Curves, Differences, Means, Movers
from recnb.conventions import cut_of, options_in_words
from recnb.data import Frame
from recnb.data.load import Input
from recnb.display.document import Line, Mark, Note, html, inline, joined, say, strong
from recnb.display.language import N_, _, use_language, use_noun
from recnb.display.templates import framed
from recnb.display.text import one_line
from recnb.display.text import users_in_words as n_users_in_words
from recnb.errors import (
    OptionError,
    Suggesting,
    UnknownModelError,
    UnknownNameError,
    is_number,
    is_word,
    near,
    quoted,
)
from recnb.evaluate import Options, with_options_listed
from recnb.evaluation import Evaluation
from recnb.lint import checks, finding_of, judged_order
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import ACCURACY, sign_of
from recnb.report.conclusions import FOUND, conclusion, corrected_with, notes, tested
from recnb.report.data import Mean, ModelUsers
from recnb.report.differences import (
    Compared,
    Key,
    check_side_data,
    compared,
    means_of,
    overlaps,
    paired_values,
    plain_means,
    users_in_common,
)
from recnb.results.arguments import (
    AnyCutoffs,
    AnyMetric,
    Asked,
    Metrics,
    asked_of,
    check_options,
    metric_of_curve,
)
from recnb.results.evaluation_data import EvaluationData, Models, values_of
from recnb.results.gate import Gate, not_worse_check
from recnb.results.segments import distinct_labels, no_segments
from recnb.results.table import Table, check_flag
from recnb.results.tables import beyond_table
from recnb.results.values import (
    follows,
    merged,
    pairs_in_words,
    scale_in_words,
    taken_as_known,
    weights_in_words,
)
from recnb.stats import Settings, Test, tau_ap

if TYPE_CHECKING:
    from recnb.report.report import Report

#: Of more models than these every two are compared if none is named as the baseline,
#: and tests are corrected within each metric.
MANY = 8

#: A mean, and the ends of its interval.
ENDS = ["mean", "low", "high"]

#: Methods that the repr names.
CALLS = (
    ".report()",
    ".table(k=10)",
    ".differences(k=[5, 10])",
    ".curve('ndcg')",
    ".movers('ndcg', k=10)",
    ".overlap(k=10)",
    ".agreement(k=10)",
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
    test: Test = "t",
    correction: Literal["all", "metric"] | None = None,
    model: str | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare models on the users that all of them are evaluated on.

    Parameters
    ----------
    models
        Recommendations by name, as `recnb.evaluate` takes them, or Evaluations; or one
        frame, file or folder with a column of models, named by `model="column"`, or
        with a column of predictions for each, `score=["y_pred", "xgb_pred"]`.
    truth
        As in `recnb.evaluate`; nothing if all models are Evaluations.
    baseline, pairs
        The model that all others are compared with, by default the first; "all"
        compares every two models, as do more than eight models unless a baseline is
        named.
    confidence
        Of the intervals; tests have the level 1 - `confidence`.
    test
        "t" (Student's paired t) or "randomization" (10,000 draws, more if so many tests
        are corrected together), each with the interval that belongs to it.
    correction
        Holm's correction of p-values over "all" tests that are made together, or over
        those of each "metric"; by default "all" for up to eight models, "metric" for
        more, since that many make so many tests of each. Every conclusion says which.
    **options
        Those of `evaluate`: columns, conventions, `train=`, `items=`, `users=`.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> comparison = recnb.compare(sample.recommendations, sample.test, baseline="popular")
    >>> print(comparison.differences("ndcg", k=10).conclusions[0])
    nDCG@10: item-knn is better than popular, by 0.0864 (95% interval
    0.0604 to 0.1124; p < 0.001, Holm's correction over 2 comparisons).
    """
    settings = Settings(
        confidence, test, correction="all" if correction is None else correction
    )
    if pairs is not None and not is_word(pairs, ("baseline", "all")):
        raise OptionError(
            f"pairs={quoted(pairs)} says not whom to compare.",
            fix=near(pairs, ("baseline", "all")),
        )
    evaluated = models_of(models, truth, model, dict(options))
    is_many = len(evaluated) > MANY
    if correction is None and is_many:
        settings = replace(settings, correction="metric")
    if pairs is None:
        pairs = "all" if is_many and baseline is None else "baseline"
    reference = next(iter(evaluated)) if baseline is None else str(baseline)
    if reference not in evaluated:
        raise OptionError(
            f"baseline={quoted(baseline)} is none of the models.",
            fix=near(baseline, evaluated),
        )
    check_models(evaluated)
    kept, judged = restrict_to_common_users(share_catalogue(evaluated))
    if pairs == "all" and baseline is not None:
        kept = {reference: kept[reference], **kept}
    if pairs == "all":
        return Comparison(kept, judged, None, settings)
    is_named = baseline is not None
    return Comparison(kept, judged, reference, settings, is_named)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Suggesting, Mapping[str, Evaluation]):
    """Models on the same users, as `compare` returns them; every difference is between
    the values of one user.

    It is a mapping of names to evaluations: `found["als"].ndcg(k=10)`. `report()` shows
    everything; the other methods are its parts. Conclusions hold for the users as a
    sample, not for another training run or another split of the data.
    """

    _models: Models  # each model's data, for the common users
    users_by_model: tuple[
        ModelUsers, ...
    ]  #: numbers of users of each model, evaluated and left out
    baseline: (
        str | None
    )  #: the model that the others are compared with; None if every two are compared
    settings: Settings  #: confidence, test and correction
    _baseline_is_named: bool = False  # and not the first model by default

    # The same object is the same comparison, as for every other result.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self, model: str) -> Evaluation:
        """One model's Evaluation, for the common users."""
        if not is_word(model, self._models):
            raise UnknownModelError(
                f"{quoted(model)} is none of the models.", fix=near(model, self.names)
            )
        return Evaluation(self._models[model])

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def _ipython_key_completions_(self) -> list[str]:
        return self.names

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if not name.startswith("_") and hasattr(Evaluation, name):
                fix = f"It is one of each model: found[{self.names[0]!r}].{name}."
                raise UnknownNameError(f"Comparison has no {name!r}.", fix=fix)
            super().__getattr__(name)

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
        """The number of users that all models are evaluated on."""
        return self._first.n_users

    @property
    def users(self) -> pd.Index[Any]:
        """The users that all models are evaluated on."""
        return self._first.users

    @property
    def _first(self) -> EvaluationData:
        return next(iter(self._models.values()))

    def table(
        self,
        metrics: Metrics = None,
        k: AnyCutoffs = None,
        *,
        intervals: bool = False,
        by: Any = None,
        bins: int = 4,
        **options: Any,
    ) -> Means:
        """Return means over the common users, and numbers of all lists: a row per
        model, or per segment and model, a column per metric and cut-off.

        Where it is shown the best of each column is bold, the lowest where less is
        better, and marked is what is shown to differ from the baseline, if `compare`
        was given one, else what is not shown to differ from the best. `plot()` draws it
        with intervals. Parameters are those of `Evaluation.table`.
        """
        check_flag("intervals", intervals)
        cutoffs = Cutoffs.of(k)
        asked = asked_of(self._first, metrics, options, "k", "intervals", "by", "bins")
        columns = _columns_of(asked, cutoffs)
        of_users = [each for each in asked if each.metric.of != "all"]
        of_lists = [each for each in asked if each.metric.of == "all"]
        if of_lists and by is not None:
            raise no_segments(of_lists[0].metric)
        found = Compared([], [])
        if of_users:
            found = compared(
                self._models,
                of_users,
                cutoffs,
                self.pairs,
                self.settings,
                by,
                bins,
                apart=True,
            )
        numbers, phrases = self._numbers_of_lists(of_lists, cutoffs)
        means = [*found.means, *(((), mean) for mean in numbers)]
        parts = _laid_out(means, columns, found.labels)
        frame = parts[0]
        if intervals:
            frame = pd.concat(parts, axis=1, keys=ENDS).swaplevel(axis=1)
            frame = frame[[(name, end) for name in parts[0] for end in ENDS]]
        basis = self._basis_of_table(of_users, cutoffs, found.parts, phrases)
        if intervals:
            percent = f"{100 * self.settings.confidence:g}"
            basis.append(_("{confidence}% intervals", confidence=percent))
            basis += taken_as_known(self._first.source.weighted)
        table = Means.made(frame, basis)
        table._ends, table._settings = parts[1:], self.settings
        table._directions = {
            columns[each.metric.name, cut]: each.metric.better
            for each in asked
            for cut in each.metric.cutoffs(cutoffs)
        }
        table._every_pair = self.baseline is None
        table.attrs["n_users"] = self.n_users
        table.attrs |= _marks(found, columns, self._baseline_is_named)
        is_tested = self._baseline_is_named and not found.parts
        table.attrs["baseline"] = self.baseline if is_tested else None
        return table

    def _basis_of_table(
        self,
        asked: Sequence[Asked],
        cutoffs: Cutoffs,
        parts: str,
        of_lists: Mapping[str, list[str]],
    ) -> list[str]:
        """Return the phrases below a table: of metrics that users have values of, and
        of numbers of all lists.
        """
        basis = [self._basis_of(asked)]
        if parts:
            basis.append(parts)
        if not all(each.metric.is_accuracy for each in asked):
            basis.append(
                _(
                    "metrics beyond accuracy over the users who have a value in every model"
                )
            )
        of_accuracy = [
            (each.metric, each.options) for each in asked if each.metric.is_accuracy
        ]
        unweighted = plain_means(self._models, of_accuracy, cutoffs)
        if unweighted:
            basis.append(unweighted.removesuffix("."))
        known = basis[0].split("; ")
        phrases = self._phrases_of_options(asked, cutoffs)
        for name, words in of_lists.items():
            phrases[name] = [phrase for phrase in words if phrase not in known]
        return [*basis, *merged(phrases)]

    def _numbers_of_lists(
        self, asked: Sequence[Asked], cutoffs: Cutoffs
    ) -> tuple[list[Mean], dict[str, list[str]]]:
        """Return the numbers of all lists of each model, which have no interval, and
        the phrases of what each rests on.
        """
        if asked:
            check_side_data(self._models)
        means, phrases = list[Mean](), dict[str, list[str]]()
        for name, metric, options in asked:
            words = dict[str, list[str]]()
            for model, data in self._models.items():
                values = values_of(data, metric, metric.cutoffs(cutoffs), options)
                words[model] = values.basis.phrases(brief=True)
                for cut, number in zip(values.k, values.mean.tolist(), strict=True):
                    means.append(
                        Mean(
                            model=model,
                            metric=metric.name,
                            symbol=metric.symbol,
                            k=cut,
                            mean=number,
                            low=nan,
                            high=nan,
                            n_users=int(values.n_users[-1]),
                        )
                    )
            first, *others = words.values()
            if all(other == first for other in others):
                phrases[name] = first
            else:
                for model, of_model in words.items():
                    phrases[f"{name} ({one_line(model)})"] = of_model
        return means, phrases

    def differences(
        self,
        metrics: Metrics = None,
        k: AnyCutoffs = None,
        *,
        by: Any = None,
        bins: int = 4,
        **options: Any,
    ) -> Differences:
        """Return paired differences with intervals and tests: a row per metric, cut-off
        and pair of models, and per segment.

        `conclusions` has a sentence for each, and `plot()` draws them. `p_holm` is
        corrected by Holm's method for all rows; it is NaN where fewer than 10 users
        differ. `verdict` is "better" or "worse" ("higher" or "lower" of a metric where
        neither is better, such as novelty);
        "hint", printed as inconclusive; "torn", where test and interval disagree;
        "open", no difference shown; "same" or "untested". `detectable` is the smallest
        difference found with 80 % power; `won`, `tied` and `lost` count users. Metrics
        beyond accuracy are compared on the users who have a value in every model.
        Parameters are those of `table`.
        """
        asked = self._asked(metrics, options)
        found = compared(
            self._models, asked, Cutoffs.of(k), self.pairs, self.settings, by, bins
        )
        keys, rows = zip(*found.differences, strict=True)
        frame = pd.DataFrame([row.to_dict() for row in rows]).drop(
            columns=["symbol", "alpha"]
        )
        labels = distinct_labels(found.labels, frame.columns)
        for at, label in enumerate(labels):
            frame.insert(at, label, [key[at] for key in keys])
        table = Differences.made(frame, [self._basis_of(asked)])
        n_tested, within = tested(rows), [", ".join(map(str, key)) for key in keys]
        together = corrected_with(rows, self.settings)
        with use_noun(self._first.noun):
            said = [
                inline(conclusion(row, self.settings, *together[row.metric]), "txt")
                for row in rows
            ]
            warnings = self._warnings(asked[0], k)
            remarks = notes(self.settings, n_tested)
        table.conclusions = [
            f"{one_line(at)}: {text}" if at else text
            for at, text in zip(within, said, strict=True)
        ]
        table._made = list(zip(within, rows, strict=True))
        table._warnings = warnings
        known = taken_as_known(self._first.source.weighted)
        table.notes = [*warnings, *remarks, *known]
        table.attrs["labels"] = len(labels) + 4
        return table

    def not_worse(
        self,
        metric: AnyMetric,
        k: int | None = None,
        margin: float = 0,
        *,
        model: str | None = None,
        **options: Any,
    ) -> Gate:
        """Check that all models but the baseline, or the `model` that is named, are not
        worse than it, as a test of a release would.

        With `margin` 0 a model fails if it is shown to be worse, its interval of the
        paired difference below 0. Above 0 it fails unless the interval is above
        -`margin` (a test of non-inferiority). Of a metric where less is better it is
        the other way round: above 0, and below `margin`. Without data no check is passed: of fewer
        than 10 users, or of so few who differ that there is no interval. Intervals are
        not corrected for the number of models.
        """
        chosen = metric_named(metric)
        if chosen.better is None:
            problem = f"a high or low {chosen.name} is not good or bad in itself: "
            raise OptionError(
                problem,
                "name a metric of which more or less is better, such as 'ndcg'.",
            )
        if not is_number(margin) or margin < 0:
            raise OptionError(
                f"margin={quoted(margin)}: give how far behind a model may be, "
                f"from 0 up, such as 0.01."
            )
        if self.baseline is None:
            raise OptionError(
                f"there is no baseline: compare(models, truth, baseline={quoted(self.names[0])})."
            )
        pairs = self.pairs if model is None else [self._pair(model, None)]
        asked = self._asked([metric], options)
        basis = self._basis_of(asked)
        found = compared(self._models, asked, Cutoffs.one(k), pairs, self.settings)
        checks, columns = (
            [],
            ("k", "model", "n_users", "baseline", "difference", "low", "high"),
        )
        for _key, row in found.differences:
            about = {name: getattr(row, name) for name in columns}
            about |= {"metric": chosen.name, "better": chosen.better}
            about |= {"n_differ": row.won + row.lost}
            checks.append(
                not_worse_check(about, float(margin), self.settings.confidence, basis)
            )
        return Gate(tuple(checks))

    def movers(
        self,
        metric: AnyMetric = "ndcg",
        k: int | None = None,
        n: int = 5,
        *,
        model: str | None = None,
        baseline: str | None = None,
        **options: Any,
    ) -> Movers:
        """Return the `n` users who gain and the `n` who lose most with one model
        instead of another, with both lists.

        Parameters are those of `table`; the models are by default the first that is not
        the baseline, and the baseline.
        """
        from recnb.report.build import moved

        chosen, pair = metric_named(metric, ACCURACY), self._pair(model, baseline)
        cut = chosen.cut_at(k)
        check_options(chosen, options)
        values = {
            name: self._models[name].values(chosen, Cutoffs.of(cut), options)[:, 0]
            for name in pair
        }
        n_shown = _count("n", n)
        groups = moved(self._models, pair, values, cut, n_shown, chosen.better)
        rows = [
            (
                user.user,
                *user.values,
                user.values[1] - user.values[0],
                user.n_relevant,
                *([item.item for item in items] for items in user.lists),
            )
            for group in groups
            for user in group.users
        ]
        frame = pd.DataFrame(
            rows,
            columns=["user", "before", "after", "change", "n_relevant", "old", "new"],
        )
        table = Movers.made(
            frame,
            [self._basis_of([Asked("", chosen, options)])],
            chosen.symbol if cut is None else f"{chosen.symbol}@{cut}",
        )
        table.groups = tuple(groups)
        return table

    def overlap(self, k: int | None = None) -> Table:
        """Return how similar the lists of each two models are: items in both out of
        items in either, and users with the same list.
        """
        return Table.made(
            pd.DataFrame(overlaps(self._models, Cutoffs.one(k).values[0])), [self.basis]
        )

    def agreement(
        self, metrics: Metrics = None, k: AnyCutoffs = None, **options: Any
    ) -> Table:
        """Return how alike each two metrics order the models, from -1 to 1: Kendall's
        tau-b, and tau AP, which weighs the top.

        `tau_ap` is that of Yilmaz, Aslam and Robertson (SIGIR 2008), the mean of either
        metric taken as the truth. A model that is moved up or down by chance counts as
        well: orders of models that are not shown to differ need not agree. Parameters
        are those of `table`.
        """
        from scipy.stats import kendalltau

        asked_of(self._first, metrics, options, "k")  # by= and intervals= are refused
        means = self.table(metrics, k, **options)
        signs = {name: sign_of(better) for name, better in means._directions.items()}
        if means.shape[1] < 2:
            raise OptionError(
                "agreement is between metrics, and one is asked for: name two, or several cut-offs."
            )
        rows = []
        for one, other in combinations(means.columns, 2):
            pair = [
                signs[name] * means[name].to_numpy(dtype=float) for name in (one, other)
            ]
            rows.append(
                (
                    one,
                    other,
                    float(kendalltau(*np.round(pair, 12)).statistic),
                    tau_ap(np.asarray(pair[0]), np.asarray(pair[1])),
                )
            )
        frame = pd.DataFrame(rows, columns=["metric", "other", "tau_b", "tau_ap"])
        return Table.made(
            frame,
            [
                _("orders of {n} models by their means", n=len(self)),
                means.attrs["basis"],
            ],
        )

    def beyond(self, k: int | None = None) -> Table:
        """Return the metrics beyond accuracy that `train=` and `items=` allow for every
        model, down to k; nothing is tested.
        """
        from recnb.report.build import has_side_data

        check_side_data(self._models)
        if not has_side_data(self._models):
            raise OptionError(
                "metrics beyond accuracy need more frames: give compare() train=, "
                "and items= for some."
            )
        for model in self._models.values():
            len(model.joined.recs)  # or an error that says where they are
        tables = [
            beyond_table(model, Cutoffs.one(k).values)
            for model in self._models.values()
        ]
        frame = pd.concat(
            [table.iloc[:, 0] for table in tables],
            axis=1,
            join="inner",
            keys=self.names,
        ).dropna()
        cut = _("whole lists") if k is None else _("lists cut at {k}", k=k)
        return Table.made(
            frame.T.rename_axis(index="model", columns=None),
            [tables[0].attrs["basis"]],
            title=f"{_('Beyond accuracy')}, {cut}",
        )

    def curve(
        self,
        metric: AnyMetric = "ndcg",
        k: Iterable[int] = range(1, 21),
        **options: Any,
    ) -> Curves:
        """Return a metric at many cut-offs for every model, with an interval at each;
        `.plot()` draws it.
        """
        chosen, cutoffs = metric_of_curve(metric, k)
        (asked,) = self._asked([chosen.name], options)
        blocks = paired_values(self._models, asked.metric, cutoffs, asked.options)
        means = [
            mean
            for block in blocks
            for mean in means_of(block, self.names, self.settings.confidence)
        ]
        rows = pd.DataFrame(map(vars, means))[["model", "k", "mean", "low", "high"]]
        frame = pd.concat(
            [rows[rows["model"] == name] for name in self.names], ignore_index=True
        )
        table = Curves.made(frame, [self._basis_of([asked])])
        table.attrs |= {"symbol": chosen.symbol, "n_users": None}
        return table

    def explore(
        self,
        metric: Any = "ndcg",
        k: int | None = 10,
        *,
        lang: str | None = None,
        **options: Any,
    ) -> Any:
        """Return a widget to go through users and see each model's list; arguments are
        those of `Evaluation.explore`.
        """
        from recnb.widgets.explorer import Explorer

        models = (
            {self.baseline: self[self.baseline], **self}
            if self.baseline
            else dict(self)
        )
        return Explorer(models, metric, k, lang=lang, **options)

    def report(
        self,
        k: int | Sequence[int] = (5, 10, 20),
        metrics: Metrics = None,
        *,
        movers: int = 2,
        by: Any = None,
        bins: int = 4,
        lang: str | None = None,
        **options: Any,
    ) -> Report:
        """Return the report of the comparison: findings, conclusions, means, tests,
        curves, segments, users.

        Conclusions are drawn at the middle cut-off, users and curves shown by the first
        metric: `movers` users who gain, and as many who lose, for each pair of models.
        `by`: segments to compare them in, a column of `users=` or of the truth,
        "activity", a Series, or several in a list; values of a column of `items=`, or
        of one of the truth that differs within users, have means and no tests. `lang`
        is "en" or "ko"; other parameters are those of `Evaluation.table`.
        """
        from recnb.report.build import report_of, request_of

        with use_language(lang), use_noun(self._first.noun):
            request = request_of(self._first, k, metrics, options, by=by, bins=bins)
            asked = [
                Asked(metric.symbol, metric, dict(own))
                for metric, own in request.metrics
            ]
            basis = "; ".join(
                [self._basis_of(asked), *self._options_in_words(asked, k)]
            )
            about: dict[str, Any] = {
                "pairs": self.pairs,
                "baseline": self.baseline,
                "basis": basis,
            }
            return report_of(
                self._models,
                request,
                self.settings,
                users=_count("movers", movers),
                **about,
            )

    @property
    def basis(self) -> str:
        """The users and the convention that models are compared by, in words."""
        return self._basis_of([])

    def _basis_of(self, metrics: Iterable[Asked]) -> str:
        """Return the users and the convention behind some metrics in words."""
        asked = list(metrics)
        with use_noun(self._first.noun):
            has_missed = any(each.metric.missed != "0" for each in asked)
            basis = self._basis(has_missed=has_missed)
            return "; ".join([basis, *self._other_data_in_words(asked)])

    def _other_data_in_words(self, metrics: Iterable[Asked]) -> list[str]:
        """Name the metrics with relevant items or users of their own, such as AP(rel=2),
        and say which, and how many users.
        """
        first, phrases = self._first, list[str]()
        known = first.convention.phrases(graded=first.joined.graded)
        for name, metric, options in metrics:
            scorings = [
                model.scoring(metric, options) for model in self._models.values()
            ]
            if all(
                scoring.joined is model.joined
                for scoring, model in zip(scorings, self._models.values(), strict=True)
            ):
                continue
            users = users_in_common([scoring.joined.users for scoring in scorings])
            words = [] if len(users) == self.n_users else [n_users_in_words(len(users))]
            if first.library is None:  # whose name says its decisions
                convention = scorings[0].convention
                decisions = convention.phrases(graded=first.joined.graded)
                words += [phrase for phrase in decisions if phrase not in known]
            if words:
                phrases.append(f"{name or metric.symbol}: {', '.join(words)}")
        return phrases

    def _basis(self, *, has_missed: bool) -> str:
        first, orders = (
            self._first,
            {model.convention.order for model in self._models.values()},
        )
        convention = (
            first.convention
            if len(orders) == 1
            else replace(first.convention, order="auto")
        )
        words = users_in_words(
            self.users_by_model, self.n_users, convention, has_missed=has_missed
        )
        if first.one_no_relevant_rule:
            words += without_relevant_in_words(
                self.users_by_model, convention, has_missed=has_missed
            )
        remarks = [note for note in map(str, first.joined.notes) if note not in words]
        apart = merged(
            {
                one_line(name): [*map(str, model.apart)]
                for name, model in self._models.items()
            }
        )
        of_library = (
            [follows(first.library, convention.given_in_words(first.overrides))]
            if first.library
            else []
        )
        decisions = [*of_library, *convention.phrases(graded=first.joined.graded)]
        words += weights_in_words(first.joined.user_weight)
        return "; ".join(
            [
                *words,
                *decisions,
                *remarks,
                *apart,
                *pairs_in_words(first.joined.weighting),
            ]
        )

    def _options_in_words(self, metrics: Iterable[Asked], k: object) -> list[str]:
        """Return the options behind the numbers of metrics, defaults included, in
        words.
        """
        return merged(self._phrases_of_options(metrics, Cutoffs.of(k)))

    def _phrases_of_options(
        self, metrics: Iterable[Asked], cutoffs: Cutoffs
    ) -> dict[str, list[str]]:
        """Return the phrases of the options of each metric."""
        phrases = {}
        for name, metric, options in metrics:
            used = {**metric.defaults, **options}
            depths = metric.cutoffs(cutoffs).values
            whole = depths == (None,)
            scoring = self._first.scoring(metric, options, whole=whole)
            if metric.is_accuracy:
                used = dict(scoring.in_force.metric)
            cutoff = cut_of(scoring.convention.cutoff, also_whole=None in depths)
            phrases[name] = options_in_words(used, cutoff)
            if "max_relevance" in used and used["max_relevance"] is None:
                phrases[name].append(
                    scale_in_words(self._first.joined.all_hits.max_relevance)
                )
        return phrases

    def _asked(self, metrics: Metrics, options: Mapping[str, Any]) -> list[Asked]:
        """Return the metrics asked for, or the usual ones, each with its options; one
        without values of users is refused.
        """
        asked = asked_of(self._first, metrics, options)
        for _name, metric, _own in asked:
            if metric.of == "all":
                problem = (
                    f"{metric.name} is one number of all lists of a model, so no "
                    f"users can be paired: "
                )
                raise OptionError(problem, "that of each model is in .beyond(k=10).")
        return asked

    def _warnings(self, asked: Asked, k: object) -> list[str]:
        """Return a sentence for each model whose equal scores decide a metric at the
        last cut-off, and one if unjudged items decide the order.
        """
        _name, metric, options = asked
        cutoff = metric.cutoffs(Cutoffs.of(k)).values[-1]
        models = self._models if metric.is_accuracy else {}
        found = [
            (name, finding_of(checks.ties, model, cutoff, metric, options))
            for name, model in models.items()
        ]
        ties = [
            f"{one_line(name)}: {tied.short}."
            for name, tied in found
            if tied and tied.severity == "warning"
        ]
        return [
            *ties,
            *filter(
                None, [inline(judged_order(models, cutoff, metric, options), "txt")]
            ),
        ]

    def _pair(self, model: str | None, baseline: str | None) -> tuple[str, str]:
        """Return a model and the one that it is compared with; by default the first
        other one, and the baseline.
        """
        for name in (model, baseline):
            if name is not None:
                self[name]  # or an error that lists the models
        baseline = (self.baseline or self.names[0]) if baseline is None else baseline
        model = (
            next(name for name in self.names if name != baseline)
            if model is None
            else model
        )
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
        calls = _("Methods: {calls}", calls=", ".join(CALLS))
        return "\n".join([inline(self._title(), "txt"), self.basis, calls])

    def _repr_html_(self) -> str:
        calls = say(
            N_("Methods: {calls}"),
            calls=joined((Mark("code", call) for call in CALLS), " "),
        )
        blocks = [Note(self._title(), "plain"), Note(self.basis), Note(calls)]
        return str(framed(_("comparison of models"), html(blocks)))


def _columns_of(
    asked: Sequence[Asked], cutoffs: Cutoffs
) -> dict[tuple[str, int | None], str]:
    """Return the names of the columns of a table, by metric and cut-off: as asked for,
    with the cut-off behind it unless the name has it.
    """
    columns = dict[tuple[str, int | None], str]()
    for name, metric, _options in asked:
        for cut in metric.cutoffs(cutoffs):
            place = metric.name, cut
            column = name if cut in (None, metric.cutoff) else f"{name}@{cut}"
            if place in columns:
                raise OptionError(
                    f"{columns[place]!r} and {column!r} are the same: name one of them."
                )
            columns[place] = column
    return columns


def _laid_out(
    means: Sequence[tuple[Key, Mean]],
    columns: Mapping[tuple[str, int | None], str],
    labels: Sequence[str],
) -> list[pd.DataFrame]:
    """Return a frame of means and one of each end of their intervals: a row per segment
    and model, in the order that they come in.
    """
    places = list(dict.fromkeys((*key, mean.model) for key, mean in means))
    row_of = {place: row for row, place in enumerate(places)}
    column_of = {place: column for column, place in enumerate(columns)}
    numbers = np.full((len(ENDS), len(places), len(columns)), nan)
    for key, mean in means:
        row = row_of[*key, mean.model]
        column = column_of[mean.metric, mean.k]
        numbers[:, row, column] = mean.mean, mean.low, mean.high
    names = distinct_labels(labels, ["model"])
    if names:
        index = pd.MultiIndex.from_tuples(places, names=[*names, "model"])
    else:
        index = pd.Index([model for (model,) in places], name="model")
    return [pd.DataFrame(part, index, [*columns.values()]) for part in numbers]


def _marks(
    found: Compared,
    columns: Mapping[tuple[str, int | None], str],
    has_baseline: bool,
) -> dict[str, dict[str, list[Any]]]:
    """Return by kind of mark and column the labels of the rows that have it: the best
    mean, and what differs from the baseline or does not from the best.
    """
    kinds = FOUND if has_baseline else ("near_best",)
    marks: dict[str, dict[str, list[Any]]] = {
        kind: {column: [] for column in columns.values()}
        for kind in ("best", "near_best", *kinds)
    }
    for key, mean in found.means:
        column = columns[mean.metric, mean.k]
        label = (*key, mean.model) if key else mean.model
        if mean.best:
            marks["best"][column].append(label)
        # Of parts of the truth nothing is tested.
        if mean.near_best and not has_baseline and not found.parts:
            marks["near_best"][column].append(label)
    for key, row in found.differences if has_baseline else ():
        if row.verdict in FOUND:
            label = (*key, row.model) if key else row.model
            marks[row.verdict][columns[row.metric, row.k]].append(label)
    if has_baseline or found.parts:
        marks["near_best"] = {}
    return marks


def _count(name: str, n: object) -> int:
    """Return a number of users as it was given, or refuse it."""
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0:
        raise OptionError(
            f"{name}={quoted(n)} is no number of users: give a whole number from 0 up."
        )
    return int(n)
