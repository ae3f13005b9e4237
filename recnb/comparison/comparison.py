"""Models against each other on the same users: means, paired differences, tests, and what may be concluded of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recnb.comparison.common_users import common, one_catalogue, one_convention, one_truth
from recnb.comparison.conclusions import comparison_title
from recnb.comparison.data import ComparisonData
from recnb.comparison.differences import lines_of
from recnb.comparison.models import models_of, reference_of, settings_of
from recnb.comparison.parts import Conclusion, Curves, Forest, Movers, Tradeoff
from recnb.comparison.results import Difference, ModelUsers, Settings, Test, rows_of
from recnb.data import Frame
from recnb.display.language import _, checked
from recnb.display.text import one_line
from recnb.errors import OptionError, is_word, near
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import any_metric
from recnb.results.arguments import STANDARD, Metrics, chosen_metrics
from recnb.stats import PairedMethod

if TYPE_CHECKING:
    import pandas as pd

    from recnb.comparison.report import ComparisonReport

#: Who is held against whom: each model against the baseline, or every two.
Pairs = Literal["baseline", "all"]
PAIRS = ("baseline", "all")

#: What can be asked, for the repr.
CALLS = (
    ".report()", ".table(k=10)", ".differences(k=[5, 10])", ".conclusion('ndcg', k=10)", ".forest('ndcg', k=10)",
    ".movers('ndcg', k=10)", ".overlap(k=10)",
)  # fmt: skip


def compare(
    models: Mapping[str, Frame | Evaluation] | Frame,
    truth: Frame | None = None,
    *,
    baseline: str | None = None,
    pairs: Pairs = "baseline",
    confidence: float = 0.95,
    test: Test = "t",
    method: PairedMethod = "auto",
    resamples: int = 2000,
    permutations: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Hold models against each other on the users that all of them are judged on.

    `models` are frames of recommendations or Evaluations by name, or one frame with a column of models (`model="column"`
    names it); `truth` and the other options are those of `evaluate`: columns, conventions, `train=`, `items=`, `users=`.
    Frames and evaluations of Dask and Spark are taken as well, after `import recnb.dask` or `recnb.spark`: hits and counts are
    fetched, and the rows of the lists stay, so that overlap and metrics beyond accuracy are not to be had of them.

    Every model is held against `baseline`, by default the first; `pairs="all"` holds every two against each other. `test`
    gives the p-value that is corrected for the number of comparisons and concluded from: "t" (Student's paired t),
    "wilcoxon" or "randomization" (signs of differences flipped at random); all three are in `differences`. `method` makes
    the intervals of differences: "bca", "percentile", "t", "moments", or "auto": BCa, and below 300 users, where that is
    too narrow, Student's t. The seed makes draws repeat: `resamples` of users, and `permutations` of signs, 10,000 unless
    said otherwise (2,000 above 5,000 users where another test is concluded from).

    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> found = recnb.compare(sample.recommendations, sample.test, baseline="popular")
    >>> print(found.conclusion("ndcg", k=10).lines[0])
    nDCG@10: item-knn is better than popular, by 0.0864 (95% interval 0.0604 to 0.1124; p < 0.001, Holm's correction over 2 comparisons).
    """
    settings = settings_of(confidence, test, method, resamples, 1 if permutations is None else permutations, seed)
    if not is_word(pairs, PAIRS):
        raise OptionError(f"pairs={pairs!r} says not whom to compare. {near(pairs, PAIRS)}")
    found = models_of(models, truth, dict(options))
    reference = reference_of(baseline, pairs, list(found))
    one_convention(found)
    one_truth(found)
    kept, judged = common(one_catalogue(found))
    if pairs == "all" and baseline is not None:
        kept = {name: kept[name] for name in [reference or "", *(one for one in kept if one != reference)]}
    if permutations is None:
        many = next(iter(kept.values())).n_users > 5_000 and test != "randomization"
        settings = replace(settings, permutations=2_000 if many else 10_000)
    return Comparison(ComparisonData(kept, judged, None if pairs == "all" else reference, settings))


class Comparison:
    """Models on the same users; every difference is between the two values of one user.

    `report()` shows it all; `table`, `differences`, `conclusion`, `forest`, `movers`, `overlap`, `curve` and `tradeoff` are
    its parts. What holds here holds for the users as a sample: not for another training run or another split.
    """

    def __init__(self, data: ComparisonData) -> None:
        self._data = data

    @property
    def models(self) -> dict[str, Evaluation]:
        """Each model's Evaluation, for the common users."""
        return {name: Evaluation(data) for name, data in self._data.models.items()}

    @property
    def names(self) -> list[str]:
        """The models, in the order shown."""
        return self._data.names

    @property
    def baseline(self) -> str | None:
        """The model that the others are compared with; None: every two."""
        return self._data.baseline

    @property
    def judged(self) -> tuple[ModelUsers, ...]:
        """How many users each model was evaluated on, and how many were left out."""
        return self._data.judged

    @property
    def settings(self) -> Settings:
        """Confidence, test, method of intervals and draws."""
        return self._data.settings

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Model and baseline of every difference."""
        return self._data.pairs

    @property
    def n_users(self) -> int:
        """How many users all models are judged on."""
        return self._data.n_users

    @property
    def users(self) -> pd.Index[Any]:
        """The users that all models are judged on."""
        return self._data.users

    def basis(self) -> str:
        """In words: on whom and how the models are compared."""
        return self._data.basis()

    def table(
        self,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        by: Any = None,
        bins: int = 4,
        **options: Any,
    ) -> pd.DataFrame:
        """Means over the common users: one row per model, one column per metric and cut-off, named as in "ndcg@10".

        `by` makes such rows for each segment of the users, as in `differences`, which tests them.
        """
        return self._data.means_frame(self._data.request(metrics, k, options, []), by, bins)

    def means(
        self, metrics: Metrics = None, k: int | Sequence[int | None] | None = None, **options: Any
    ) -> pd.DataFrame:
        """Means as a long frame, with their intervals and whether each is the best or not told apart from it."""
        import pandas as pd

        made = self._data.measured(metrics, k, options, pairs=[])
        return pd.DataFrame(list(rows_of(made.means))).drop(columns="symbol")

    def differences(
        self,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        by: Any = None,
        bins: int = 4,
        **options: Any,
    ) -> pd.DataFrame:
        """Paired differences, a row for each metric, cut-off and pair, with intervals, tests and corrections.

        `p_holm` and `p_bh` are the p-value of the chosen test, corrected for all rows of this frame; `detectable` is the
        smallest difference that would have shown with 80 % power; `won`, `tied` and `lost` count users.

        Metrics beyond accuracy that have a value for each user (novelty, popularity, diversity, ...) are compared on the
        users who have a value in every model, judged or not, as `n_users` says; their verdicts are "higher" and "lower".

        `by` makes rows for each segment of the users: a column of `users=` or of the truth, "activity" or
        "popularity_taste" (of train, in `bins` quantile bins), or a Series of user to segment.
        """
        return self._data.differences_frame(self._data.request(metrics, k, options, self.pairs), by, bins)

    def conclusion(
        self,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        lang: str | None = None,
        **options: Any,
    ) -> Conclusion:
        """In words: what may be concluded of each difference, and what may not."""
        made = self._data.measured(metrics, k, options)
        return Conclusion(made.differences, made.settings, checked(lang))

    def forest(
        self,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        lang: str | None = None,
        **options: Any,
    ) -> Forest:
        """The differences with their intervals, one under the other, about a line at 0; `.plot(ax=)` draws it."""
        made = self._data.measured(metrics, k, options)
        return Forest(made.differences, made.settings, checked(lang))

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
        """The users who gain and lose most by one model in the place of another, with both lists side by side."""
        from recnb.comparison.movers import moved

        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise OptionError(f"n={n!r} is no number of users: give a whole number from 1 up.")
        (chosen,) = chosen_metrics([metric])
        chosen.check(options)
        pair = self._pair(model, baseline)
        cutoff = Cutoffs.one(k).values[0]
        return Movers(moved(self._data.models, pair, chosen, cutoff, options, int(n)), checked(lang))

    def _pair(self, model: str | None, baseline: str | None) -> tuple[str, str]:
        for name in (model, baseline):
            if name is not None and not is_word(name, self._data.models):
                raise OptionError(f"{name!r} is none of the models. {near(name, self.names)}")
        against = baseline or (self.baseline or self.names[0])
        if model is None:
            model = next(name for name in self.names if name != against)
        if model == against:
            raise OptionError(f"{model!r} is the baseline itself: name another model, such as {self._other(model)!r}.")
        return model, against

    def _other(self, model: str) -> str:
        return next(name for name in self.names if name != model)

    def overlap(self, k: int | None = None, *, p: float = 0.9) -> pd.DataFrame:
        """How alike the lists of each two models are down to k, as means over users: Jaccard's share of items in both, and
        rank-biased overlap (extrapolated, Webber et al. 2010), for which a rank weighs `p` times as much as the one above it.
        """
        import pandas as pd

        from recnb.comparison.rank_similarity import overlaps

        return pd.DataFrame(list(rows_of(overlaps(self._data.models, Cutoffs.one(k).values[0], p))))

    def beyond(self, k: int | None = None) -> pd.DataFrame:
        """Metrics beyond accuracy, one row per model: those that `train=` and `items=` allow for every model.

        They are of all lists of a model, or of the users with a list; nothing is tested.
        """
        import pandas as pd

        from recnb.comparison.build import beyond

        made = beyond(self._data, Cutoffs.one(k).values[0])
        if not made:
            raise OptionError(
                "metrics beyond accuracy need what users had before: give compare() train=, and items= for some."
            )
        columns = {one.metric: [value for value, _, _ in one.values] for one in made}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="model"))

    def curve(
        self, metric: str = "ndcg", k: Iterable[int] = range(1, 21), *, lang: str | None = None, **options: Any
    ) -> Curves:
        """A metric at many cut-offs for every model, with an interval at each; `.plot()` draws it."""
        chosen = any_metric(metric)
        cutoffs = Cutoffs.of_curve(k)
        made = self._data.measured([chosen.name], list(cutoffs), options, pairs=[])
        return Curves(lines_of(made.means, self.names), self.settings, checked(lang))

    def tradeoff(self, x: str, y: str = "ndcg", k: int | None = None, *, lang: str | None = None) -> Tradeoff:
        """Two metrics against each other, a point for each model: any two methods of an Evaluation, such as coverage and NDCG."""
        points: dict[str, tuple[float, float]] = {}
        for name, one in self.models.items():
            for metric in (x, y):
                if str(metric).startswith("_") or not callable(getattr(one, str(metric), None)):
                    raise OptionError(f"{metric!r} is no metric of an Evaluation. {near(metric, STANDARD)}")
            points[name] = (float(getattr(one, x)(k=k)), float(getattr(one, y)(k=k)))
        return Tradeoff(x, y, Cutoffs.one(k).values[0], points, self.n_users, checked(lang))

    def explore(self, *args: Any, **options: Any) -> Any:
        """A widget to go through users and see each model's list."""
        from recnb.widgets.explorer import explorer

        return explorer(self._data.models, *args, **options)

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
    ) -> ComparisonReport:
        """All of it: findings, conclusions, means, differences with tests, curves, segments (`by`), users who moved, overlap."""
        from recnb.comparison.build import report_of

        data = self._data if confidence is None else self._at(confidence)
        return report_of(data, k, metrics, movers, by, bins, lang, options)

    def _at(self, confidence: float) -> ComparisonData:
        """The same with another confidence."""
        old = self.settings
        settings = settings_of(confidence, old.test, old.method, old.resamples, old.permutations, old.seed)
        return replace(self._data, settings=settings)

    def __repr__(self) -> str:
        baseline = one_line(self.baseline) if self.baseline else None
        title = comparison_title(", ".join(map(one_line, self.names)), baseline)
        return f"{title}\n{self.basis()}\n{_('Ask {calls}', calls=', '.join(CALLS))}"

    def _repr_html_(self) -> str:
        from recnb.comparison.html import part

        return part("comparison", _("comparison of models"), self, CALLS)


__all__ = ["Comparison", "Difference", "compare"]
