"""The data of one evaluation: users, lists, titles; and one metric of accuracy on it, under the convention it follows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, presets, shown_at
from recnb.data import Counts, Prepared, Source
from recnb.data.item_data import ItemData, ItemDataOfParts
from recnb.data.relevance import relevant_only
from recnb.data.side_data import SideData
from recnb.data.source import Tables
from recnb.display.language import N_, Sentence
from recnb.display.text import one_line
from recnb.errors import OptionError, UnknownUserError, quoted
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Bools, Cutoffs, Floats, Hits
from recnb.metrics.metric import Credit, Metric
from recnb.results.provenance import Basis, follows

#: Columns of the frame of items that name them for a reader, without regard to case.
TITLES = ("title", "name", "label")

#: Why a user is not evaluated whose metric has nothing to find.
NOTHING_RELEVANT = "none of their items in the truth is relevant"


@dataclass(frozen=True, eq=False)
class Scoring:
    """One metric on joined data, with the options in force."""

    prepared: Prepared
    metric: Metric[...]
    options: Mapping[str, Any]

    @property
    def convention(self) -> Convention:
        """The convention of the data."""
        return self.prepared.convention

    @property
    def in_force(self) -> Convention:
        """The convention of the data with the metric's own options."""
        return self.convention.with_metric({**self.metric.defaults, **self.options})

    def hits(self, cutoffs: Cutoffs) -> Hits:
        """Return the hits that the metric needs at these cut-offs, with all judged items if it counts these."""
        whole = self.metric.needs_whole_list(self.options)
        hits = self.prepared.hits(None if whole else cutoffs.deepest)
        return replace(hits, judged=self.prepared.judged_hits()) if self.metric.needs_judged else hits

    def credit(self, cutoffs: Cutoffs) -> Credit:
        """Return the credit of the hits at these cut-offs."""
        cutoffs = cutoffs_under(self.convention, cutoffs)
        return self.metric.at(self.hits(cutoffs), cutoffs, self.options)

    def averaged(self, cutoffs: Cutoffs) -> tuple[Floats, Floats]:
        """Return the values of users × cut-offs, NaN where not averaged, and their mean."""
        return average(self.credit(cutoffs), self.convention)

    def users_behind(self, cutoffs: Cutoffs) -> tuple[int, int, int]:
        """Count the users behind the mean at the deepest cut-off, those of them without a list, and those with no relevant item."""
        n_users, without_list, n_without = self.prepared.counts.of_users
        credit = None if self.convention.relevant == ">0" else self.credit(Cutoffs.one(cutoffs.deepest))
        if credit is None or not isinstance(credit.out_of, Credit):
            return n_users, without_list, n_without
        # Where an item of no gain can be relevant, an ideal of 0 says that there is nothing to find.
        n_undefined = int((np.asarray(credit.possible) == 0).sum())
        if self.convention.no_relevant == "skip":  # those counted are others, who are left out before
            return n_users - n_undefined, without_list, n_without + n_undefined
        return n_users, without_list, n_undefined


def cutoffs_under(convention: Convention, k: object) -> Cutoffs:
    """Return the cut-offs; under a convention that does not cut, they only label the numbers."""
    cutoffs = Cutoffs.of(k)
    return Cutoffs(cutoffs.values, uncut=True) if convention.cutoff == "none" else cutoffs


def average(credit: Credit, convention: Convention) -> tuple[Floats, Floats]:
    """Fill in and leave out users who have nothing to find, and average the others."""
    matrix, undefined = credit.value, undefined_in(credit, convention)
    if undefined is not None and undefined.any():
        matrix = np.where(undefined, {"skip": np.nan, "one": 1.0}.get(convention.no_relevant, 0.0), matrix)
    elif len(matrix):
        return matrix, np.asarray(matrix.mean(axis=0))
    n, total = np.count_nonzero(~np.isnan(matrix), axis=0), np.nansum(matrix, axis=0)
    return matrix, np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0)


def undefined_in(credit: Credit, convention: Convention) -> Bools | None:
    """Mark users who had nothing to find: no relevant item or, where an item of no gain can be relevant, an ideal of 0."""
    if convention.relevant != ">0" and isinstance(credit.out_of, Credit):
        return np.asarray(np.asarray(credit.possible) == 0)
    n_relevant = credit.rows.n_relevant
    return None if n_relevant.all() else (n_relevant == 0)[:, np.newaxis]


class EvaluationData:
    """The joined data of one model, and the convention in force.

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
        self.library = library
        self.overrides = dict(overrides or {})
        self.side_data = side_data or SideData()

    @cached_property
    def item_data(self) -> ItemData:
        """All lists, and the attributes of items: what metrics beyond accuracy read."""
        kind = ItemData if self.source.in_memory else ItemDataOfParts
        return kind(self.prepared, self.side_data)

    @property
    def source(self) -> Source:
        """The frames as they were read, to be looked at under another convention."""
        return self.prepared.source

    @property
    def n_users(self) -> int:
        """The number of users evaluated."""
        return len(self.prepared.users)

    @property
    def users(self) -> pd.Index[Any]:
        """The users evaluated, in the order of every per-user result."""
        users: pd.Index[Any] = pd.Index(self.prepared.users.to_numpy(), name=self.user_label)
        return users

    @property
    def user_label(self) -> str:
        """The caller's name of the column of users: that of the recommendations, unless it is "user" and the truth has another."""
        labels = self.source.labels, self.source.truth_labels
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
        """Return the same evaluation for some of its users, whose data is `prepared`."""
        return EvaluationData(prepared, self.library, self.overrides, self.side_data)

    def under(self, library: str) -> EvaluationData:
        """Return the same data under a library's conventions."""
        name = presets.library_named(library)
        convention = self.source.as_given(presets.data_convention(name))
        return EvaluationData(self.source.under(convention), name, side_data=self.side_data)

    # The metrics

    def scoring(self, metric: Metric[...], options: Mapping[str, Any], *, whole: bool = False) -> Scoring:
        """Return a metric on the data and with the options in force: the evaluation's own, or a library's.

        What a library lacks is worked out as recnb defines it, relevance above 0 included, on the library's users and order.
        """
        recorded = self._recorded(metric, whole=whole)
        own = {} if recorded is None else dict(recorded.options)
        options = {**own, **metric.given, **options}
        if not metric.is_accuracy or (self.library is None and not metric.data):
            return Scoring(self.prepared, metric, options)
        convention = self.convention
        if recorded is not None:
            convention = replace(recorded.convention, **self.overrides)
        elif self.library is not None:
            no_relevant = "zero" if convention.no_relevant == "one" else convention.no_relevant
            plain = {"cutoff": "k", "relevant": ">0", "no_relevant": no_relevant}
            convention = replace(convention, **plain | self.overrides)
        convention = self.source.as_given(replace(convention, **metric.data))
        return Scoring(self.source.under(convention), metric, options)

    def _recorded(self, metric: Metric[...], *, whole: bool = False) -> presets.Preset | None:
        """Return what is recorded of a metric in the library; nothing of one that it never cuts, if a cut-off is asked for."""
        if self.library is None:
            return None
        name = metric.plain_name
        if not metric.is_accuracy:  # of several ways that go by one formula, the one that has its name
            variants = presets.of_metric(name, self.library)
            return next((one for one in variants if one.variant.split("[")[0] == name), next(iter(variants), None))
        found = presets.default_of(self.library, name, whole=whole)
        return None if found is not None and found.convention.cutoff == "none" and not whole else found

    def is_own(self, metric: Metric[...], *, whole: bool = False) -> bool:
        """Whether a number under a library's conventions is recnb's own, since nothing is recorded of it there."""
        return self.library is not None and self._recorded(metric, whole=whole) is None

    def values(self, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]) -> Floats:
        """Return a metric's value for each user at each cut-off; NaN for one who is left out at the last."""
        scoring = self.scoring(metric, options, whole=cutoffs.values == (None,))
        matrix, _mean = scoring.averaged(cutoffs)
        here = scoring.prepared.users.is_in(self.prepared.users.implode()).to_numpy()
        if here.sum() < self.n_users or np.isfinite(matrix[~here]).any():
            raise OptionError(
                f"{self.library} averages {metric.name} over other users than its other metrics: ask for it alone."
            )
        kept: Floats = matrix[here]
        return kept

    # What is said of the numbers

    def basis_of(self, scoring: Scoring, cutoffs: Cutoffs, given: Mapping[str, Any] | None = None) -> Basis:
        """Return what a metric's number at the deepest of these cut-offs rests on; `given`: the options of the call."""
        whole, options = cutoffs.values == (None,), {**scoring.metric.defaults, **scoring.options}
        is_scaled = options.get("max_relevance", "") is None
        shown = shown_at(None, options) if whole and self.library is None else options
        return Basis(
            counts=scoring.users_behind(cutoffs),
            convention=scoring.convention.with_metric(shown),
            graded=self.prepared.graded,
            notes=(*self.prepared.notes, *self.apart),
            scale=scoring.prepared.all_hits.max_relevance if is_scaled else None,
            library=self.library,
            given=tuple(self.overrides),
            options=dict(given or {}),
            is_own=self.is_own(scoring.metric, whole=whole),
        )

    def basis(self, convention: Convention | None = None) -> str:
        """Return in words how many users there are, who was left out, and the convention, whatever the metric."""
        if convention is not None and not isinstance(convention, Convention):
            raise OptionError(f"convention={one_line(repr(convention))} is no recnb.Convention.")
        return "; ".join(
            [*self.users_in_words, *(convention or self.convention).phrases(graded=self.prepared.graded), *self.notes]
        )

    @property
    def users_in_words(self) -> list[str]:
        """The users evaluated, and those left out."""
        return Basis(self.counts.of_users, self.convention, self.prepared.graded, ()).users_in_words()

    @property
    def as_library_has_it(self) -> list[str]:
        """Whose conventions each metric follows, and what was given on top of them; nothing for recnb's own."""
        return [follows(self.library, self.convention.given_in_words(self.overrides))] if self.library else []

    @property
    def notes(self) -> tuple[str, ...]:
        """Properties of the data that the numbers depend on."""
        return tuple(map(str, (*self.prepared.notes, *self.apart)))

    @cached_property
    def apart(self) -> tuple[Sentence, ...]:
        """A note if no item of the lists is in the truth, as where ids are written in two ways."""
        if len(self.prepared.all_hits.rank) or not isinstance(self.source, Tables) or self.source.is_part:
            return ()
        items, judged = self.prepared.recs["item"], self.prepared.judged["item"]
        if not len(items) or not len(judged) or items.is_in(judged.unique().implode()).any():
            return ()
        message = N_("no recommended item is in the truth: lists hold items such as {item}, the truth such as {other}")
        return (Sentence(message, {"item": one_line(repr(items[0]), 80), "other": one_line(repr(judged[0]), 80)}),)

    # Users and their lists

    def position(self, user: Any) -> int:
        """Return the position of a user among those evaluated."""
        if place_of(user, self.prepared.users) is None and (reason := self._left_out(user)):
            raise not_evaluated(user, reason)
        return position_of(user, self.prepared.users)

    def _left_out(self, user: Any) -> str:
        """Return why a user of the frames is not evaluated; nothing for one who is in none of them."""
        judged = self.prepared.judged
        listed = self.source.in_memory and place_of(user, self.prepared.recs["user"]) is not None
        if place_of(user, judged["user"]) is None:
            return "they have a list, and no item in the truth" if listed else ""
        if place_of(user, relevant_only(judged, self.convention)["user"]) is None:
            return NOTHING_RELEVANT
        return "the convention leaves them out" if listed else "they have relevant items, and no list"

    def lists_of(self, positions: Sequence[int]) -> list[dict[int, Any]]:
        """Return the lists of the users at some positions, item by rank; fetched at once where rows are elsewhere."""
        users = self.prepared.users[list(positions)]
        rows = self.prepared.lists_of(users).select("user", "rank", "item").sort("rank", maintain_order=True)
        found: dict[Any, dict[int, Any]] = {user: {} for user in users.to_list()}
        for user, rank, item in rows.iter_rows():
            found[user][rank] = item
        return [found[user] for user in users.to_list()]

    def truth_of(self, position: int) -> pl.DataFrame:
        """Return the relevant items of the user at a position, the most relevant first."""
        return self.prepared.truth.filter(pl.col("user") == self.prepared.users[[position]]).select("item", "relevance")

    def item_titles(self, items: Sequence[Any]) -> dict[Any, str]:
        """Return the titles of items, of those that have one in the frame of items: shown wherever items are."""
        frame = self.side_data.items
        column = None if frame is None else next((name for name in frame.columns if name.lower() in TITLES), None)
        if frame is None or column is None or not items:
            return {}
        wanted = frame.filter(pl.col("item").is_in(pl.Series(items, dtype=frame["item"].dtype).implode()))
        return {item: str(title) for item, title in wanted.select("item", column).iter_rows() if title is not None}

    def hits(self, depth: int | None = None) -> Hits:
        """Return the hits down to a rank, from which every metric of accuracy is computed."""
        return self.prepared.hits(Cutoffs.one(depth).values[0])

    def to_frame(self) -> pd.DataFrame:
        """Return a row per user: length of the list, relevant items, hits."""
        hits = self.prepared.hits(None)
        found = np.bincount(hits.user if hits.tied is None else hits.user[hits.tied.top], minlength=hits.n_users)
        counts = {"list_length": hits.list_length, "n_relevant": hits.n_relevant, "n_hits": found}
        return pd.DataFrame(counts, index=self.users)


def position_of(user: Any, users: pl.Series, *, evaluated: bool = True) -> int:
    """Return the position of a user among those evaluated, or among those with a list."""
    found = place_of(user, users)
    if found is None:
        by_text = {str(known): known for known in users.head(10_000).to_list()}
        close = [repr(by_text[name]) for name in difflib.get_close_matches(str(user), by_text, n=2, cutoff=0.6)]
        question = f"Did you mean {' or '.join(close)}? " if close else ""
        shown = ", ".join(map(repr, users.head(5).to_list())) + ", …" * (len(users) > 5)
        among = f"the {len(users):,} users {'evaluated' if evaluated else 'who have a list'}"
        raise UnknownUserError(f"user {quoted(user)} is not among {among}. {question}They are {shown}.")
    return found


def place_of(user: Any, users: pl.Series) -> int | None:
    """Return the position of one id, as typed by a user, among the users; None if it is not among them."""
    try:
        return users.index_of(user)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return None


def not_evaluated(user: Any, reason: str) -> UnknownUserError:
    """Return the error that names a user who is left out, and why."""
    return UnknownUserError(f"user {user!r} is not evaluated: {reason}.")
