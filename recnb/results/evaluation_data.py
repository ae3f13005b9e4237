"""The data of one evaluation, and the values of metrics on it: what tables, reports and explanations read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from markupsafe import Markup

from recnb.conventions import Convention, presets, shown_at
from recnb.data import Counts, Prepared
from recnb.data.encoding import place_of
from recnb.data.item_data import ItemData
from recnb.data.relevance import REFUSED_GRADES, UNRULED_GRADES, grades_of, relevant_only
from recnb.data.side_data import SideData
from recnb.data.source import InMemoryRows
from recnb.display.language import N_, Sentence, _
from recnb.display.templates import render
from recnb.display.text import one_line
from recnb.errors import ElsewhereError, OptionError, UnknownUserError
from recnb.metrics.hits import Cutoffs, Floats, Hits
from recnb.metrics.metric import Metric
from recnb.results.aggregation import Scoring, users_behind
from recnb.results.arguments import position_of
from recnb.results.provenance import Basis

#: What to ask an evaluation first.
CALLS = (".report()", ".table(k=[5, 10])", ".ndcg(k=10)", ".explain('ndcg', user, k=10)")

#: Columns of the frame of items that name them for a reader, without regard to case.
TITLES = ("title", "name", "label")

#: Why a user is not evaluated whose metric has nothing to find.
NOTHING_RELEVANT = "none of their items in the truth is relevant"


class EvaluationData:
    """The joined data of one model, the convention in force, and each metric's values per user.

    Each metric follows the conventions of `library`, over which `overrides` take precedence; None is recnb itself.
    """

    def __init__(
        self,
        prepared: Prepared,
        library: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        side_data: SideData | None = None,
    ) -> None:
        self.prepared = prepared
        self.side_data = side_data or SideData()
        self.library = library
        self.overrides = dict(overrides or {})
        #: All lists, and the attributes of items: what metrics beyond accuracy read; loaded on first use.
        self.item_data = ItemData(prepared, self.side_data)

    @property
    def n_users(self) -> int:
        """The number of users evaluated."""
        return self.counts.n_users

    @property
    def users(self) -> pd.Index[Any]:
        """The users evaluated, in the order of every per-user result."""
        return index_of(self.prepared.users, name=self.user_label)

    @property
    def user_label(self) -> str:
        """The caller's name of the column of users: that of the recommendations, unless it is "user" and the truth has another."""
        source = self.prepared.source
        labels = () if source is None else (source.labels, source.truth_labels)
        return next((label for of_frame in labels if (label := of_frame.get("user", "user")) != "user"), "user")

    @property
    def convention(self) -> Convention:
        """The decisions about the data that are in force."""
        return self.prepared.convention

    @property
    def counts(self) -> Counts:
        """The size of the data, and the number of users and rows left out."""
        return self.prepared.counts

    @property
    def one_no_relevant_rule(self) -> bool:
        """Whether all metrics do the same with users who have no relevant item."""
        if self.library is None or "no_relevant" in self.overrides:
            return True
        return len({preset.convention.no_relevant for preset in presets.of_library(self.library)}) == 1

    def restricted(self, prepared: Prepared) -> EvaluationData:
        """The same evaluation for some of its users, whose data is `prepared`."""
        return EvaluationData(prepared, self.library, self.overrides, self.side_data)

    @property
    def notes(self) -> tuple[str, ...]:
        """Properties of the data that the numbers depend on."""
        return tuple(map(str, (*self.prepared.notes, *self.apart)))

    @cached_property
    def apart(self) -> tuple[Sentence, ...]:
        """A note if no item of the lists is in the truth, as where ids are written in two ways."""
        rows, judged = self.prepared.rows, self.prepared.judged["item"]
        is_part = self.prepared.source is not None and self.prepared.source.part
        if is_part or len(self.prepared.all_hits.rank) or not isinstance(rows, InMemoryRows):
            return ()
        items = rows.all()["item"]
        if not len(items) or not len(judged) or items.is_in(judged.unique().implode()).any():
            return ()
        examples = {"item": one_line(repr(items[0]), 80), "other": one_line(repr(judged[0]), 80)}
        return (
            Sentence(
                N_("no recommended item is in the truth: lists hold items such as {item}, the truth such as {other}"),
                examples,
            ),
        )

    def values(self, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> Floats:
        """Return a metric's value for each user at each cut-off; NaN for one who is left out at the last."""
        scoring = self.scoring(metric, options, whole=cutoffs.values == (None,))
        (matrix, _mean), users = scoring.averaged(cutoffs), scoring.prepared.users
        here = users.is_in(self.prepared.users.implode()).to_numpy()
        if here.sum() < self.n_users or np.isfinite(matrix[~here]).any():
            problem = (
                f"{self.library} averages {metric.name} over other users than its other metrics: ask for it alone."
            )
            raise OptionError(problem)
        kept: Floats = matrix[here]
        return kept

    def scoring(self, metric: Metric[...], options: Mapping[str, Any], *, whole: bool = False) -> Scoring:
        """The data and the options under which a metric is worked out here: the evaluation's own, or a library's.

        What a library lacks is worked out as recnb defines it, relevance above 0 included, on the library's users and order.
        """
        recorded = self._recorded(metric, whole=whole)
        if recorded is None and self.library is None and not metric.data:
            return Scoring(self.prepared, metric, dict(options))
        if recorded is None:
            convention, own = self.convention if self.library is None else self._own_convention, {}
        else:
            convention, own = replace(recorded.convention, **self.overrides), dict(recorded.options)
        source = self.prepared.source
        assert source is not None
        convention = source.as_given(replace(convention, **metric.data))
        return Scoring(source.under(convention), metric, {**own, **metric.given, **options})

    def _recorded(self, metric: Metric[...], *, whole: bool = False) -> presets.Preset | None:
        if self.library is None:
            return None
        name = metric.plain_name
        found = presets.default_of(self.library, name, whole=whole)
        return None if found is not None and found.convention.cutoff == "none" and not whole else found

    @property
    def _own_convention(self) -> Convention:
        """The convention of recnb's own metrics under a library's."""
        own: dict[str, Any] = {"cutoff": "k", "relevant": ">0"}
        if self.convention.no_relevant == "one":
            own["no_relevant"] = "zero"
        return replace(self.convention, **own | self.overrides)

    @cached_property
    def _odd_grades(self) -> frozenset[str]:
        """Words for the grades on which libraries raise an error, or return a number that follows no rule."""
        source = self.prepared.source
        if source is None:
            return frozenset()
        grades = grades_of(source.truth)
        return frozenset(word for word, applies in (REFUSED_GRADES | UNRULED_GRADES).items() if applies(grades))

    def why_own(self, metric: Metric[...], *, whole: bool = False) -> str | None:
        """Why a number is recnb's own under a library's conventions, by the words of `WHY_OWN`; None if it is the library's."""
        if self.library is None:
            return None
        recorded = self._recorded(metric, whole=whole)
        if recorded is None:
            if self._recorded(metric, whole=True) is not None:
                return "uncut"
            return "none"
        odd = self._odd_grades.intersection(recorded.refuses) if recorded.refuses else frozenset()
        return "refused" if odd & REFUSED_GRADES.keys() else "unruled" if odd else None

    def under(self, library: str) -> EvaluationData:
        """The same data under a library's conventions."""
        name = presets.library_named(library)
        source = self.prepared.source
        assert source is not None
        first = presets.data_convention(name)
        return EvaluationData(source.under(source.as_given(first)), name, side_data=self.side_data)

    def basis_of(self, scoring: Scoring, cutoffs: Cutoffs, given: Mapping[str, Any] | None = None) -> Basis:
        """Return what a metric's number at the deepest of these cut-offs rests on; `given`: the options of the call."""
        prepared, whole = scoring.prepared, cutoffs.values == (None,)
        options = {**scoring.metric.defaults, **scoring.options}
        of_truth = "max_relevance" in options and options["max_relevance"] is None
        shown = shown_at(None, options) if whole and self.library is None else options
        return Basis(
            counts=users_behind(prepared, scoring.n_undefined(cutoffs)),
            convention=scoring.convention.with_metric(shown),
            graded=prepared.graded,
            notes=(*self.prepared.notes, *self.apart),
            scale=prepared.max_relevance if of_truth else None,
            library=self.library,
            given=tuple(self.overrides),
            options=dict(given or {}),
            why_own=self.why_own(scoring.metric, whole=whole),
        )

    @property
    def as_library_has_it(self) -> list[str]:
        """Whose conventions each metric follows, and what was given on top of them; nothing for recnb's own."""
        basis = Basis((0, 0, 0), self.convention, True, (), library=self.library, given=tuple(self.overrides))
        return basis.phrases(brief=True)[:1] if self.library else []

    @property
    def users_in_words(self) -> list[str]:
        """The users evaluated, and those left out."""
        return Basis(users_behind(self.prepared, None), self.convention, self.prepared.graded, ()).users_in_words()

    def basis(self, convention: Convention | None = None) -> str:
        """In words: how many users, who was left out, and by which convention."""
        if convention is not None and not isinstance(convention, Convention):
            raise OptionError(f"convention={one_line(repr(convention))} is no recnb.Convention.")
        notes = (*self.prepared.notes, *self.apart)
        basis = Basis(users_behind(self.prepared, None), convention or self.convention, self.prepared.graded, notes)
        return "; ".join(basis.phrases())

    def position(self, user: Any) -> int:
        """The position of a user among those evaluated."""
        if place_of(user, self.prepared.users) is None and (reason := self._left_out(user)):
            raise not_evaluated(user, reason)
        return position_of(user, self.prepared.users)

    def _left_out(self, user: Any) -> str:
        """Why a user of the frames is not evaluated; empty for one who is in none of them."""
        judged, rows = self.prepared.judged, self.prepared.rows
        listed = isinstance(rows, InMemoryRows) and place_of(user, rows.all()["user"]) is not None
        if place_of(user, judged["user"]) is None:
            return "they have a list, and no item in the truth" if listed else ""
        if place_of(user, relevant_only(judged, self.convention)["user"]) is None:
            return NOTHING_RELEVANT
        return "they have relevant items, and no list" if not listed else "the convention leaves them out"

    def list_of(self, position: int) -> dict[int, Any]:
        """The list of the user at a position: item by rank."""
        return self.lists_of([position])[0]

    def lists_of(self, positions: Sequence[int]) -> list[dict[int, Any]]:
        """The lists of some users, fetched at once where rows are elsewhere."""
        users = self.prepared.users[list(positions)]
        rows = self.prepared.rows.of(users).select("user", "rank", "item").sort("rank", maintain_order=True)
        found: dict[Any, dict[int, Any]] = {user: {} for user in users.to_list()}
        for user, rank, item in rows.iter_rows():
            found[user][rank] = item
        return [found[user] for user in users.to_list()]

    def truth_of(self, position: int) -> pl.DataFrame:
        """The relevant items of the user at a position, the most relevant first."""
        return self.prepared.truth.filter(pl.col("user") == self.prepared.users[[position]]).select("item", "relevance")

    def item_titles(self, items: Sequence[Any]) -> dict[Any, str]:
        """The titles of items, of those that have one in the frame of items: shown wherever items are."""
        frame = self.side_data.items
        column = None if frame is None else next((name for name in frame.columns if name.lower() in TITLES), None)
        if frame is None or column is None or not items:
            return {}
        wanted = frame.filter(pl.col("item").is_in(pl.Series(items, dtype=frame["item"].dtype).implode()))
        return {
            item: str(title)
            for item, title in zip(wanted["item"].to_list(), wanted[column].to_list(), strict=True)
            if title is not None
        }

    def hits(self, depth: int | None = None) -> Hits:
        """The hits down to a rank, from which every metric of accuracy is computed."""
        return self.prepared.hits(Cutoffs.one(depth).values[0])

    def to_frame(self) -> pd.DataFrame:
        """A row per user: length of the list, relevant items, hits."""
        hits = self.prepared.hits(None)
        found = np.bincount(hits.user if hits.tied is None else hits.user[hits.tied.top], minlength=hits.n_users)
        return pd.DataFrame(
            {"list_length": hits.list_length, "n_relevant": hits.n_relevant, "n_hits": found}, index=self.users
        )

    def __repr__(self) -> str:
        return f"{self._title()}\n{self.basis()}\n{_('Methods: {calls}', calls=', '.join(CALLS))}"

    def _repr_html_(self) -> str:
        calls = Markup(" ").join(Markup("<code>{}</code>").format(call) for call in CALLS)
        return str(render("results/evaluation.jinja", title=self._title(), basis=self.basis(), calls=calls))

    def _title(self) -> str:
        counts = self.counts
        try:
            return _(
                "Evaluation of {rows:,} recommended rows against {relevant:,} relevant items",
                rows=counts.n_recommended,
                relevant=counts.n_relevant,
            )
        except ElsewhereError:  # some of the users, whose rows were not counted by themselves
            return _(
                "Evaluation of some users' lists, which are not here, against {relevant:,} relevant items",
                relevant=counts.n_relevant,
            )


def not_evaluated(user: Any, reason: str) -> UnknownUserError:
    """The error that names a user who is left out, and why."""
    return UnknownUserError(f"user {user!r} is not evaluated: {reason}.")


def index_of(
    users: pl.Series, kept: np.ndarray[Any, np.dtype[np.bool_]] | None = None, name: str = "user"
) -> pd.Index[Any]:
    """Users as an index: all of them, or those kept; `name`: what the caller calls their column."""
    # numpy has no time zones.
    zoned = isinstance(users.dtype, pl.Datetime) and users.dtype.time_zone is not None
    labels = pd.DatetimeIndex(users.to_pandas()) if zoned else users.to_numpy()
    index: pd.Index[Any] = pd.Index(labels if kept is None else labels[kept], name=name)
    return index
