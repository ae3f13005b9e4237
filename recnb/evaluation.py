"""One model's recommendations against the truth: every metric at any cut-off, tables, curves, explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb import beyond_shown, whole_lists
from recnb.asked import STANDARD, Asked, Metrics, position_of
from recnb.averaging import Scoring, cutoffs_under
from recnb.beside import Beside
from recnb.conventions import Convention, presets
from recnb.errors import OptionError, is_word
from recnb.frames import Counts, Prepared
from recnb.hits import Cutoffs, Floats, Hits
from recnb.known import Known
from recnb.list_metric import LIST_METRICS, ListMetric
from recnb.methods import Methods
from recnb.metric import Metric, metric_named
from recnb.results import Curve, Explanation, Score, Table, evaluated
from recnb.results.explanation import explain as explanation_of
from recnb.results.report_text import one_line
from recnb.results.words import basis_of
from recnb.strings import say, speaking
from recnb.tabled import tabled
from recnb.uncertainty import intervals

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.catalogue_score import CatalogueScore
    from recnb.results.lint import Lint
    from recnb.results.report import Report
    from recnb.uncertainty import Detectable
    from recnb.whose.found import Identified, IdentifiedUsers
    from recnb.whose.spread import Spread
    from recnb.whose.why import Why
    from recnb.widgets.explorer_view import Explorer


class Evaluation(Methods):
    """The data of one model, joined; metrics are methods, each with `k` and its own options.

    `k=None` takes each user's whole list.
    """

    def __init__(
        self,
        prepared: Prepared,
        library: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        beside: Beside | None = None,
    ) -> None:
        self._prepared = prepared
        self._beside = beside or Beside()
        self._library = library
        self._overrides = dict(overrides or {})
        #: All lists, and what is known of items: what metrics beyond accuracy look at; read when it is asked for.
        self.known = Known(prepared, self._beside)

    @property
    def n_users(self) -> int:
        """How many users are evaluated."""
        return self.counts.n_users

    @property
    def users(self) -> pd.Index[Any]:
        """The users evaluated, in the order of every per-user result."""

        return index_of(self._prepared.users, None)

    @property
    def convention(self) -> Convention:
        """The decisions about the data that are in force."""
        return self._prepared.convention

    @property
    def counts(self) -> Counts:
        """How much data is behind the numbers, and what was left out."""
        return self._prepared.counts

    @property
    def beside(self) -> Beside:
        """What is known beside recommendations and truth: train, items, users."""
        return self._beside

    @property
    def prepared(self) -> Prepared:
        """The frames as they were read and joined."""
        return self._prepared

    @property
    def library(self) -> str | None:
        """The library whose conventions each metric follows; None: recnb's own."""
        return self._library

    def restricted(self, prepared: Prepared) -> Evaluation:
        """The same evaluation for some of its users, whose data is `prepared`."""
        return Evaluation(prepared, self._library, self._overrides, self._beside)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known of the data to read the numbers."""
        return tuple(map(str, self._prepared.notes))

    def score(self, metric: Metric[...], k: int | None, options: Mapping[str, Any], /) -> Score:
        """The mean of a metric, as the methods give it."""
        scoring = self._scoring(metric, options)
        made = scoring.averaged(Cutoffs.of(k))
        kept = None if made.kept is None or made.kept.all() else made.kept[:, 0]
        values = made.values[:, 0] if kept is None else made.values[kept, 0]
        users = scoring.prepared.users
        return Score(
            values,
            lambda: index_of(users, kept),
            metric.name,
            k,
            scoring.in_force,
            self._basis_of(scoring),
            float(made.means[0]),
        )

    def list_score(
        self, metric: ListMetric[..., Any], k: int | None, options: Mapping[str, Any], /
    ) -> Score | CatalogueScore:
        """A metric beyond accuracy, as the methods give it."""
        return whole_lists.score_of(self, metric, k, options)

    def beyond(self, k: int | Sequence[int | None] | None = None) -> Table:
        """Every metric beyond accuracy that the data allow; what the others need is said below the table."""
        return beyond_shown.beyond_table(self, k)

    def values(self, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> Floats:
        """A metric's value for each user at each cut-off; NaN for one who is left out at the last."""
        made = self._scoring(metric, options).averaged(cutoffs)
        return made.values if made.kept is None else np.where(made.kept, made.values, np.nan)

    def means(self, metric: Asked, cutoffs: Cutoffs, options: Mapping[str, Any]) -> Floats:
        """A metric's mean over users at each cut-off."""
        if isinstance(metric, ListMetric):
            return whole_lists.means_of(self, metric, cutoffs, options)
        return self._scoring(metric, options).averaged(cutoffs).means

    def _scoring(self, metric: Metric[...], options: Mapping[str, Any]) -> Scoring:
        """The data and the options under which a metric is worked out here: the evaluation's own, or a library's."""
        if self._library is None:
            return Scoring(self._prepared, metric, dict(options))
        chosen = presets.default_of(self._library, metric.name)
        convention = replace(chosen.convention, **self._overrides)
        source = self._prepared.source
        assert source is not None
        return Scoring(source.under(source.as_given(convention)), metric, {**dict(chosen.options), **options})

    def under(self, library: str) -> Evaluation:
        """The same data under another library's conventions: who counts, how ties stand, what each metric is divided by.

        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = sample.models["popular"].rec.against(sample.test)
        >>> round(ev.ndcg(k=10), 4), round(ev.under("rectools").ndcg(k=10), 4)
        (0.1725, 0.1062)
        """
        name = presets.library_named(library)
        source = self._prepared.source
        assert source is not None
        first = presets.of_library(name)[0].convention
        return Evaluation(source.under(source.as_given(first)), name, beside=self._beside)

    def _basis_of(self, scoring: Scoring) -> str:
        prepared = scoring.prepared
        words = basis_of(prepared.counts, scoring.in_force, self.notes, graded=prepared.graded)
        return words if self._library is None else say("basis.as_library", library=self._library, words=words)

    def basis(self, convention: Convention | None = None) -> str:
        """In words: how many users, who was left out, and by which convention."""
        if convention is not None and not isinstance(convention, Convention):
            raise OptionError(f"convention={one_line(repr(convention))} is no recnb.Convention.")
        return basis_of(self.counts, convention or self.convention, self.notes, graded=self._prepared.graded)

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
        if by is not None:
            from recnb.segments import table_by

            if metrics is None and self._library is not None:
                metrics = [name for name in STANDARD if presets.of_metric(name, self._library)]
            return table_by(self, metrics, k, by, bins=bins, options=options)
        return tabled(self, metrics, k, options)

    def curve(self, metric: str, k: Iterable[int] = range(1, 21), **options: Any) -> Curve:
        """A metric at many cut-offs, with a 95% interval at each.

        `curve("ndcg", k=range(1, 51)).plot()` draws it.
        """
        if is_word(metric, LIST_METRICS):
            return beyond_shown.curve_of(self, LIST_METRICS[metric], k, options)
        chosen = metric_named(metric)
        chosen.check(options)
        cutoffs = Cutoffs.of_curve(k)
        scoring = self._scoring(chosen, options)
        made = scoring.averaged(cutoffs)
        low, high, _ = intervals(self.values(chosen, cutoffs, options), bounds=chosen.bounds)
        finite = tuple(one for one in cutoffs if one is not None)
        mean, lower, upper = (tuple(map(float, ends)) for ends in (made.means, low, high))
        n_users, basis = scoring.prepared.counts.n_users, self._basis_of(scoring)
        return Curve(chosen.name, chosen.symbol, finite, mean, lower, upper, n_users=n_users, basis=basis)

    def explain(
        self, metric: str, user: Any = None, k: int | None = None, *, lang: str | None = None, **options: Any
    ) -> Explanation:
        """How one user's list comes by its score: formula, numbers put in, a row per rank, the ideal list.

        A metric of all lists together needs no user: `explain("coverage", k=10)`.
        """
        with speaking(lang):
            if is_word(metric, LIST_METRICS):
                return beyond_shown.explain_of(self, LIST_METRICS[metric], user, k, options)
            return self._explain(metric_named(metric), user, k, options)

    def _explain(self, chosen: Metric[...], user: Any, k: int | None, options: Mapping[str, Any]) -> Explanation:
        chosen.check(options)
        if self._library is not None:
            scoring = self._scoring(chosen, options)
            return Evaluation(scoring.prepared, beside=self._beside)._explain(chosen, user, k, scoring.options)
        cutoffs = cutoffs_under(self.convention, Cutoffs.one(k))
        position = self.position(user)
        hits = self._scoring(chosen, options).hits(cutoffs).of(position)
        if hits.tied is not None:
            raise OptionError(
                "ties='expected' averages many orders, and a worked explanation follows one: choose ties='first'."
            )
        convention = self.convention.with_metric({**chosen.defaults, **options})
        explanation = explanation_of(
            chosen, hits, cutoffs.values[0], options, items=self.list_of(position), truth_items=self.truth_of(position)["item"].to_list(),
            user=user, basis="; ".join([*convention.phrases(graded=self._prepared.graded), *self.notes]),
        )  # fmt: skip
        if hits.n_relevant[0] == 0 and self.convention.no_relevant in ("one", "nan"):
            return explanation.decided(1.0 if self.convention.no_relevant == "one" else np.nan)
        return explanation

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
        from recnb.reported import report_of

        with speaking(lang):
            return report_of(self, k=k, metrics=metrics, confidence=confidence, by=by, bins=bins, options=options)

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
        theirs = None if against is None else against.score(chosen, cutoff, options)
        mine = self.score(chosen, cutoff, options)
        return detectable_of(mine, theirs, power=power, alpha=alpha, correlation=correlation)

    def why(self, metric: str, k: int | None = None, *, other: Any, variant: str | None = None, **options: Any) -> Why:
        """From this number to another's, one convention switched at a time: what each switch did, and to whom.

        `other` is a library (`variant` picks one of its several ways), a Convention or another Evaluation;
        `ev.under("ranx").why("ndcg", k=10, other="rectools")` goes from one library to another.
        """
        from recnb.whose.why import why

        return why(self, metric, k, other=other, variant=variant, **options)

    def identify(
        self, metric: str, value: Any, k: int | None = None, *, digits: int | None = None, **options: Any
    ) -> Identified | IdentifiedUsers:
        """Which named conventions, and which one step away from them, give a printed number on this data.

        `value` is the number as printed, as text where it ends in zeros; or a Series or mapping of user to printed
        value, which finds the convention that fits most users and names those that fit none.
        """
        from recnb.whose.identify import identify

        return identify(self, metric, value, k, digits=digits, **options)

    def spread(self, metric: str, k: int | None = None, **options: Any) -> Spread:
        """What every library would say of this data, grouped where they agree."""
        from recnb.whose.spread import spread

        return spread(self, metric, k, **options)

    def explore(self, metric: str = "ndcg", k: int | None = 10, *, lang: str | None = None, **options: Any) -> Explorer:
        """A widget: from the mean to the users behind it and to one user's list, by hand. Needs `recnb[notebook]`."""
        from recnb.widgets.explorer import explorer

        return explorer(self, metric, k, lang=lang, **options)

    def lint(self, k: int | None = 10, metric: str = "ndcg", **options: Any) -> Lint:
        """What is odd about the data, and what it does to the numbers, told by one metric at one cut-off.

        It looks into train, items and users as well, where `evaluate` was given them. The Lint is true where something
        was found; it iterates over its findings, the gravest first.
        """
        from recnb.lint import lint

        return lint(self, k, metric, **options)

    def position(self, user: Any) -> int:
        """Where a user stands among those evaluated."""
        return position_of(user, self._prepared.users)

    def list_of(self, position: int) -> dict[int, Any]:
        """The list of the user at a position: item by rank."""
        return self.lists_of([position])[0]

    def lists_of(self, positions: Sequence[int]) -> list[dict[int, Any]]:
        """The lists of some users, fetched at once where rows are elsewhere."""
        users = self._prepared.users[list(positions)]
        rows = self._prepared.rows.of(users).select("user", "rank", "item").sort("rank", maintain_order=True)
        found: dict[Any, dict[int, Any]] = {user: {} for user in users.to_list()}
        for user, rank, item in rows.iter_rows():
            found[user][rank] = item
        return [found[user] for user in users.to_list()]

    def truth_of(self, position: int) -> pl.DataFrame:
        """The relevant items of the user at a position, the most relevant first."""
        return self._prepared.truth.filter(pl.col("user") == self._prepared.users[[position]]).select(
            "item", "relevance"
        )

    def hits(self, depth: int | None = None) -> Hits:
        """The hits down to a rank: what every metric is made of."""
        return self._prepared.hits(Cutoffs.one(depth).values[0])

    def to_frame(self) -> pd.DataFrame:
        """What is known of each user: length of the list, relevant items, hits."""
        import pandas as pd

        hits = self._prepared.hits(None)
        found = np.bincount(hits.user if hits.tied is None else hits.user[hits.tied.top], minlength=hits.n_users)
        return pd.DataFrame(
            {"list_length": hits.list_length, "n_relevant": hits.n_relevant, "n_hits": found}, index=self.users
        )

    def _repr_html_(self) -> str:
        return evaluated.fragment(self)

    def __repr__(self) -> str:
        return evaluated.text(self)


def index_of(users: pl.Series, kept: np.ndarray[Any, np.dtype[np.bool_]] | None) -> pd.Index[Any]:
    """Users as an index: all, or those kept."""
    import pandas as pd

    # numpy has no time zones.
    zoned = isinstance(users.dtype, pl.Datetime) and users.dtype.time_zone is not None
    labels = pd.DatetimeIndex(users.to_pandas()) if zoned else users.to_numpy()
    index: pd.Index[Any] = pd.Index(labels if kept is None else labels[kept], name="user")
    return index
