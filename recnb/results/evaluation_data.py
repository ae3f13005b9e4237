"""The data of one evaluation, and the values of metrics on it: what tables, reports and explanations read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from markupsafe import Markup

from recnb.conventions import Convention, options_in_words, presets, shown_at
from recnb.data import Counts, Prepared
from recnb.data.encoding import place_of
from recnb.data.item_data import ItemData
from recnb.data.relevance import REFUSED_GRADES, UNRULED_GRADES, grades_of, relevant_only
from recnb.data.side_data import SideData
from recnb.data.source import InMemoryRows
from recnb.display.language import _
from recnb.display.templates import render
from recnb.display.text import one_line
from recnb.errors import ElsewhereError, OptionError, UnknownUserError
from recnb.metrics.hits import Cutoffs, Floats, Hits
from recnb.metrics.metric import Metric
from recnb.results.aggregation import Scoring
from recnb.results.arguments import position_of
from recnb.results.provenance import (
    OWN,
    WHY_OWN,
    as_library,
    as_library_has_it,
    basis_of,
    merged,
    phrases_of,
    scale_in_words,
    users_in_words,
)

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
    def given_in_words(self) -> str:
        """In words: what was given on top of a library's conventions."""
        return self.convention.given_in_words(self.overrides)

    @property
    def one_no_relevant_rule(self) -> bool:
        """Whether all metrics do the same with users who have no relevant item."""
        if self.library is None or "no_relevant" in self.overrides:
            return True
        return len({preset.convention.no_relevant for preset in presets.of_library(self.library)}) == 1

    @property
    def as_library_has_it(self) -> str:
        """In words: whose conventions a metric follows, and what was given on top of them."""
        return as_library_has_it(self.library, self.given_in_words)

    def restricted(self, prepared: Prepared) -> EvaluationData:
        """The same evaluation for some of its users, whose data is `prepared`."""
        return EvaluationData(prepared, self.library, self.overrides, self.side_data)

    @property
    def notes(self) -> tuple[str, ...]:
        """Properties of the data that the numbers depend on."""
        return (*map(str, self.prepared.notes), *self.no_item_meets)

    @cached_property
    def no_item_meets(self) -> tuple[str, ...]:
        """A note if no item of the lists is in the truth, as where ids are written in two ways."""
        rows, judged = self.prepared.rows, self.prepared.judged["item"]
        is_part = self.prepared.source is not None and self.prepared.source.part
        if is_part or len(self.prepared.all_hits.rank) or not isinstance(rows, InMemoryRows):
            return ()
        items = rows.all()["item"]
        if not len(items) or not len(judged) or items.is_in(judged.unique().implode()).any():
            return ()
        words = _("no recommended item is in the truth: lists hold items such as {item}, the truth such as {other}")
        return (words.format(item=one_line(repr(items[0]), 80), other=one_line(repr(judged[0]), 80)),)

    def values(self, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> Floats:
        """A metric's value for each user at each cut-off; NaN for one who is left out at the last."""
        scoring = self.scoring(metric, options, whole=cutoffs.values == (None,))
        values, users = scoring.averaged(cutoffs).counted, scoring.prepared.users
        here = users.is_in(self.prepared.users.implode()).to_numpy()
        if here.sum() < self.n_users or np.isfinite(values[~here]).any():
            problem = (
                f"{self.library} averages {metric.name} over other users than its other metrics: ask for it alone."
            )
            raise OptionError(problem)
        kept: Floats = values[here]
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

    def library_notes(self, named: Iterable[tuple[str, Metric[...], Cutoffs]]) -> tuple[list[str], list[str]]:
        """Which of these names at their cut-offs are recnb's own, and the lines below on these."""
        own: dict[str, list[str]] = {}
        for name, metric, cutoffs in named:
            if why := self.why_own(metric, whole=cutoffs.values == (None,)):
                own.setdefault(why, []).append(name)
        lines = [f"{OWN} {_(WHY_OWN[why], library=self.library)}" for why in own]
        if len(own) > 1:
            lines = [f"{line} ({', '.join(names)})" for line, names in zip(lines, own.values(), strict=True)]
        return [name for names in own.values() for name in names], lines

    def under(self, library: str) -> EvaluationData:
        """The same data under a library's conventions."""
        name = presets.library_named(library)
        source = self.prepared.source
        assert source is not None
        first = presets.data_convention(name)
        return EvaluationData(source.under(source.as_given(first)), name, side_data=self.side_data)

    def phrases(self, scoring: Scoring, cutoffs: Cutoffs, *, beside_name: Mapping[str, Any] | None = None) -> list[str]:
        """Return the users and the convention behind a metric's number at the deepest of these cut-offs, in words.

        In a table the name of a library says what it decides, beside the options that are given.
        """
        prepared, whole = scoring.prepared, cutoffs.values == (None,)
        options = {**scoring.metric.defaults, **scoring.options}
        shown = options if self.library is not None or not whole else shown_at(None, options)
        convention, n_undefined = scoring.convention.with_metric(shown), scoring.n_undefined(cutoffs)
        scale = self.scale_in_words(options)
        words = phrases_of(prepared.counts, convention, self.notes, graded=prepared.graded, n_undefined=n_undefined)
        words = [*words, *scale]
        if self.library is None:
            return words
        if why := self.why_own(scoring.metric, whole=whole):
            return words if beside_name is not None else [*words, _(WHY_OWN[why], library=self.library)]
        if beside_name is not None:
            users = users_in_words(prepared.counts, convention, n_undefined)
            return [self.as_library_has_it, *users, *options_in_words(beside_name), *scale, *self.notes]
        return [as_library(self.library, self.given_in_words, words[0]), *words[1:]]

    def scale_in_words(self, options: Mapping[str, Any]) -> list[str]:
        """Return the scale of grades that a metric takes from the truth, in words; nothing for one that takes none."""
        if "max_relevance" not in options or options["max_relevance"] is not None:
            return []
        return [scale_in_words(self.prepared.max_relevance)]

    def phrases_of_metrics(
        self, metrics: Iterable[tuple[str, Metric[...], Mapping[str, Any]]], cutoffs: Cutoffs
    ) -> dict[str, list[str]]:
        """Return the users and the convention behind each metric of accuracy of a table, by the name it has there."""
        found = {}
        for name, metric, options in metrics:
            own = metric.cutoffs(cutoffs)
            scoring = self.scoring(metric, options, whole=own.values == (None,))
            found[name] = self.phrases(scoring, own, beside_name=options)
        return found

    def decisions_of_metrics(self, metrics: Iterable[tuple[str, Metric[...], Mapping[str, Any]]]) -> str:
        """Return the convention of several metrics of accuracy in words, what differs behind their names."""
        scorings = {name: self.scoring(metric, options).in_force for name, metric, options in metrics}
        return "; ".join(merged({name: convention.decisions() for name, convention in scorings.items()}))

    def basis(self, convention: Convention | None = None) -> str:
        """In words: how many users, who was left out, and by which convention."""
        if convention is not None and not isinstance(convention, Convention):
            raise OptionError(f"convention={one_line(repr(convention))} is no recnb.Convention.")
        return basis_of(self.counts, convention or self.convention, self.notes, graded=self.prepared.graded)

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
