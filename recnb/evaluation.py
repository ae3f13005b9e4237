"""One model's recommendations against the truth: every metric as a method, written one binding line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.asked import STANDARD, Metrics, chosen_metrics, options_of
from recnb.averaging import Scoring, cutoffs_under, means_of
from recnb.beside import Beside
from recnb.binding import method
from recnb.conventions import Convention, presets
from recnb.errors import OptionError, UnknownUserError, near
from recnb.frames import Counts, Prepared
from recnb.hits import Cutoffs, Floats, Hits
from recnb.metric import Metric, metric_named
from recnb.metrics import accuracy
from recnb.results import Curve, Explanation, Score, Table, html
from recnb.results.explanation import explain as explanation_of
from recnb.results.words import basis_of
from recnb.uncertainty import intervals

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.report import Report
    from recnb.whose.found import Identified, IdentifiedUsers
    from recnb.whose.spread import Spread
    from recnb.whose.why import Why


class Evaluation:
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

    precision = method(accuracy.precision)
    recall = method(accuracy.recall)
    f1 = method(accuracy.f1)
    fbeta = method(accuracy.fbeta)
    hit_rate = method(accuracy.hit_rate)
    reciprocal_rank = method(accuracy.reciprocal_rank)
    mrr = reciprocal_rank
    average_precision = method(accuracy.average_precision)
    map = average_precision
    cg = method(accuracy.cg)
    dcg = method(accuracy.dcg)
    idcg = method(accuracy.idcg)
    ndcg = method(accuracy.ndcg)
    r_precision = method(accuracy.r_precision)
    rbp = method(accuracy.rbp)
    err = method(accuracy.err)

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

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known of the data to read the numbers."""
        return self._prepared.notes

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

    def values(self, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> Floats:
        """A metric's value for each user at each cut-off; NaN for one who is left out at the last."""
        made = self._scoring(metric, options).averaged(cutoffs)
        return made.values if made.kept is None else np.where(made.kept, made.values, np.nan)

    def means(self, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> Floats:
        """A metric's mean over users at each cut-off."""
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
        return words if self._library is None else f"as {self._library}: {words}"

    def basis(self, convention: Convention | None = None) -> str:
        """In words: how many users, who was left out, and by which convention."""
        return basis_of(self.counts, convention or self.convention, self.notes, graded=self._prepared.graded)

    def table(self, metrics: Metrics = None, k: int | Sequence[int | None] | None = None, **options: Any) -> Table:
        """Means over users: one row per metric, one column per cut-off.

        `options` apply to each metric that has them: `table(["ndcg", "precision"], k=[5, 10], gain="exponential")`; a
        mapping gives each metric its own: `table({"precision": {"out_of": "list"}, "recall": {}}, k=5)`.
        """
        cutoffs = Cutoffs.of(k)
        if metrics is None and self._library is not None:
            metrics = [name for name in STANDARD if presets.of_metric(name, self._library)]
        chosen = chosen_metrics(metrics)
        own = [options_of(metric, metrics, options, chosen) for metric in chosen]
        asked = list(zip(chosen, own, strict=True))
        if self._library is None:
            means = means_of(self._prepared, asked, cutoffs)
        else:
            self._read_once(chosen, cutoffs, own)
            means = np.array([self.means(metric, cutoffs, mine) for metric, mine in asked])
        import pandas as pd

        index = pd.Index([metric.name for metric in chosen], name="metric")
        # As objects, whole numbers stay whole beside a None.
        columns = pd.Index(list(cutoffs), dtype=object if None in cutoffs.values else None, name="k")
        table = Table(means, index=index, columns=columns)
        everything = {
            name: value
            for metric, mine in zip(chosen, own, strict=True)
            for name, value in {**metric.defaults, **mine}.items()
            if name in mine
        }
        convention = self.convention.with_metric(everything)
        # Text and numbers only: pandas writes attrs as JSON where it writes them.
        basis = self.basis(convention) if self._library is None else f"each metric as {self._library} has it"
        table.attrs = {"basis": basis, "n_users": self.n_users, "convention": str(convention)}
        return table

    def _read_once(
        self, metrics: Sequence[Metric[...]], cutoffs: Cutoffs, options: Sequence[Mapping[str, Any]]
    ) -> None:
        """Join as deep as the deepest metric needs, so that no metric makes the join be done again."""
        if any(metric.needs_whole_list(mine) for metric, mine in zip(metrics, options, strict=True)):
            self._prepared.hits(None)

    def curve(self, metric: str, k: Iterable[int] = range(1, 21), **options: Any) -> Curve:
        """A metric at many cut-offs, with a 95% interval at each.

        `curve("ndcg", k=range(1, 51)).plot()` draws it.
        """
        chosen = metric_named(metric)
        chosen.check(options)
        cutoffs = Cutoffs.of(list(k) if isinstance(k, Iterable) and not isinstance(k, str) else k)
        if cutoffs.deepest is None:
            raise OptionError("a curve runs over whole numbers: leave None out of k, such as k=range(1, 21).")
        scoring = self._scoring(chosen, options)
        made = scoring.averaged(cutoffs)
        low, high, _ = intervals(self.values(chosen, cutoffs, options))
        finite = tuple(one for one in cutoffs if one is not None)
        mean, lower, upper = (tuple(map(float, ends)) for ends in (made.means, low, high))
        n_users, basis = scoring.prepared.counts.n_users, self._basis_of(scoring)
        return Curve(chosen.name, chosen.symbol, finite, mean, lower, upper, n_users=n_users, basis=basis)

    def explain(self, metric: str, user: Any, k: int | None = None, **options: Any) -> Explanation:
        """How one user's list comes by its score: formula, numbers put in, a row per rank, the ideal list."""
        chosen = metric_named(metric)
        chosen.check(options)
        if self._library is not None:
            scoring = self._scoring(chosen, options)
            return Evaluation(scoring.prepared, beside=self._beside).explain(metric, user, k, **scoring.options)
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
        metrics: Iterable[str] | None = None,
        *,
        confidence: float = 0.95,
        **options: Any,
    ) -> Report:
        """What was evaluated, each metric with its interval, the curve over k, and the users behind the mean."""
        from recnb.results.report import report_of

        return report_of(self, k=k, metrics=metrics, confidence=confidence, options=options)

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

    def position(self, user: Any) -> int:
        """Where a user stands among those evaluated."""
        users = self._prepared.users
        try:
            found = users.index_of(user)
        except (TypeError, pl.exceptions.PolarsError):
            found = None
        if found is None:
            shown = ", ".join(map(repr, users.head(5).to_list()))
            alike = near(user, map(str, users.head(10_000).to_list())).split("Known")[0]
            kind = (
                f" Users are {'whole numbers' if users.dtype.is_integer() else 'text'}."
                if not isinstance(user, type(users[0]))
                else ""
            )
            raise UnknownUserError(
                f"user {user!r} is not among the {self.n_users:,} users evaluated.{kind} {alike}They are {shown}"
                f"{', …' if self.n_users > 5 else ''}; users with no relevant item may have been left out."
            )
        return int(found)

    def list_of(self, position: int) -> dict[int, Any]:
        """The list of the user at a position: item by rank."""
        user = self._prepared.users[position]
        mine = self._prepared.recs.filter(pl.col("user") == user).sort("rank")
        return dict(zip(mine["rank"].to_list(), mine["item"].to_list(), strict=True))

    def truth_of(self, position: int) -> pl.DataFrame:
        """The relevant items of the user at a position, in the order of the truth."""
        return self._prepared.truth.filter(pl.col("user") == self._prepared.users[position]).select("item", "relevance")

    def hits(self, depth: int | None = None) -> Hits:
        """The hits down to a rank: what every metric is made of."""
        return self._prepared.hits(depth)

    def to_frame(self) -> pd.DataFrame:
        """What is known of each user: length of the list, relevant items, hits."""
        import pandas as pd

        hits = self._prepared.hits(None)
        found = np.bincount(hits.user if hits.tied is None else hits.user[hits.tied.top], minlength=hits.n_users)
        return pd.DataFrame(
            {"list_length": hits.list_length, "n_relevant": hits.n_relevant, "n_hits": found}, index=self.users
        )

    def _repr_html_(self) -> str:
        counts = self.counts
        what = f"{counts.n_recommended:,} recommended rows against {counts.n_relevant:,} relevant items"
        title = f"<div><b>Evaluation of {what}</b></div>"
        ask = "<code>.report()</code> <code>.table(k=[5, 10])</code> <code>.ndcg(k=10)</code> <code>.explain('ndcg', user, k=10)</code>"
        return html.root(title, html.note(html.text(self.basis(), 2000)), html.note(f"Ask {ask}"), label="evaluation")

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"Evaluation of {counts.n_recommended:,} recommended rows against {counts.n_relevant:,} relevant items\n"
            f"{self.basis()}\nAsk .report(), .table(k=[5, 10]), .ndcg(k=10), .explain('ndcg', user, k=10)"
        )


def index_of(users: pl.Series, kept: np.ndarray[Any, np.dtype[np.bool_]] | None) -> pd.Index[Any]:
    """Users as an index: all, or those kept."""
    import pandas as pd

    labels = users.to_numpy()
    index: pd.Index[Any] = pd.Index(labels if kept is None else labels[kept], name="user")
    return index
