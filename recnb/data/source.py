"""Two frames as they were read (`Source`), and what an evaluation keeps of them under a
convention (`Prepared`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data.columns import Labels, with_series
from recnb.data.encoding import distinct
from recnb.data.join import JoinResult, RepeatError, join, order_column
from recnb.data.numbered import Ids, number_ids
from recnb.data.quirks import needs_positions
from recnb.data.sheet import IDS, TRUTH, Sheet, relevant_only
from recnb.data.weights import Weighting, checked, look_up
from recnb.display.language import Sentence
from recnb.errors import ElsewhereError, FrameError, NoUsersError
from recnb.metrics.hits import Floats, Hits, Ints, cached_property


class LazyRows:
    """Rows that are read or gathered on first use."""

    def __init__(self, load: Callable[[], pl.DataFrame]) -> None:
        self._load: Callable[[], pl.DataFrame] | None = load

    @property
    def are_here(self) -> bool:
        """Whether they were asked for before."""
        return "frame" in vars(self)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows, in their order."""
        assert self._load is not None
        frame = self._load()
        self._load = None  # what it holds on to may go
        return frame

    def __getstate__(self) -> dict[str, Any]:
        return {"frame": self.frame}


class Source(ABC):
    """Both frames after reading: columns by role, ids of one type; not yet under a
    convention.
    """

    notes: tuple[str | Sentence, ...] = ()
    propensity: pl.DataFrame | None = (
        None  #: of items or pairs, where it is no column of the truth
    )
    user_weights: pl.DataFrame | None = None  #: user and value
    where, remedy = (
        "",
        "",
    )  #: what holds rows that are not in memory, and what to type to have them there, in words

    @property
    @abstractmethod
    def labels(self) -> Labels:
        """Which column of the recommendations plays which role."""

    @property
    @abstractmethod
    def truth_labels(self) -> Labels:
        """Which column of the truth plays which role."""

    @property
    @abstractmethod
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations; an error if they are not in memory."""

    @property
    @abstractmethod
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""

    @abstractmethod
    def join(self, convention: Convention) -> Prepared:
        """Join the frames under a convention."""

    def lists_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the ranked rows of some users' lists."""
        return rows_of(self.under(convention).recs, users)

    def truth_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the relevant rows of some users."""
        return rows_of(self.under(convention).truth, users)

    @abstractmethod
    def example(self) -> Sheet:
        """Return a user and an item of the lists, which say of what kind ids are."""

    @abstractmethod
    def among(self, users: pl.Series) -> Source:
        """Return the rows of some users; the catalogue and the scale of grades are
        those of all.
        """

    @property
    def in_memory(self) -> bool:
        """Whether rows of recommendations are in memory."""
        return not self.where

    @cached_property
    def _known(self) -> dict[Convention, Prepared]:
        """What was joined, by convention, without its source: a cycle would keep rows
        in memory until Python looks for it.
        """
        return {}

    def under(self, convention: Convention) -> Prepared:
        """Return the frames under a convention, joined once for each."""
        data = replace(convention, metric=(), cutoff="k")
        known = self._known.get(data)
        if known is None:
            known = replace(self.join(data), notes=self.notes)
            self._known[data] = self._known[data.ordered_by(known.convention.order)] = (
                known
            )
            if self.user_weights is not None:
                known.user_weight = self.weight_of(known.users)
        return replace(
            known,
            convention=convention.ordered_by(known.convention.order),
            made_of=self,
        )

    @property
    def weighted(self) -> bool:
        """Whether relevant pairs have propensities."""
        return self.propensity is not None or "propensity" in self.truth_labels

    def weigh(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> None:
        """Let relevant pairs and users have weights, before anything is joined."""
        self.propensity, self.user_weights = propensity, user_weights

    def as_given(self, convention: Convention) -> Convention:
        """Return a library's convention for these frames, with the order column that
        they have.
        """
        other: Mapping[str, Order] = {"score": "rank", "rank": "score"}
        if convention.order in other and convention.order not in self.labels:
            return replace(convention, order=other[convention.order])
        return convention

    def weight_of(self, users: pl.Series) -> Floats | None:
        """Return the weights of some users; None: all count the same."""
        if self.user_weights is None:
            return None
        return look_up(self.user_weights, users.alias("user").to_frame(), "user_weight")

    def forget(self) -> None:
        """Let go of what was joined."""
        self._known.clear()


def elsewhere(source: Source) -> ElsewhereError:
    """Return the error for what needs all rows, where they are not in memory."""
    return ElsewhereError(
        f"this looks at every row of the lists, and they stay in {source.where}: "
        f"only hits and counts were fetched. "
        f"If they fit into memory, or do so once they are cut at the rank you "
        f"need: {source.remedy}."
    )


@dataclass(eq=False)
class Tables(Source):
    """Both frames in memory."""

    lists: Sheet  #: user, item, and rank or score or both
    judgements: Sheet  #: user, item, and relevance if there is one
    notes: tuple[str | Sentence, ...] = ()
    # : whether these are some of the users: what holds of all is then seen to elsewhere
    is_part: bool = False
    whole: Tables | None = (
        None  #: the frames that these are some users of: catalogue and scale of grades are theirs
    )
    catalogue: pl.Series | None = (
        None  #: every item there is, where models are compared
    )
    propensity: pl.DataFrame | None = None
    user_weights: pl.DataFrame | None = None
    _ids: dict[bool, Ids] = field(default_factory=dict, init=False)

    @property
    def labels(self) -> Labels:
        """Which column of the recommendations plays which role."""
        return self.lists.labels

    @property
    def truth_labels(self) -> Labels:
        """Which column of the truth plays which role."""
        return self.judgements.labels

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations."""
        return self.lists.rows

    @property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self.judgements.rows

    @cached_property
    def items(self) -> pl.Series:
        """Every item of either frame, sorted."""
        if self.catalogue is not None:
            return self.catalogue
        return (
            distinct(pl.concat([self.recs["item"], self.truth["item"]]))
            if self.whole is None
            else self.whole.items
        )

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        return self.lists

    def among(self, users: pl.Series) -> Tables:
        """Return the rows of some users."""
        return replace(
            self,
            lists=self.lists.with_rows(rows_of(self.recs, users)),
            judgements=self.judgements.with_rows(rows_of(self.truth, users)),
            whole=self.whole or self,
        )

    def join(self, convention: Convention) -> Prepared:
        """Join the frames under a convention."""
        # A grade below 0 of what was pooled and not judged is 0, once it has left the
        # lists.
        below_0 = convention.judged_only and convention.negative_relevance == "zero"
        read = replace(convention, negative_relevance="keep") if below_0 else convention
        judgements = self.judgements.graded(read)
        truth, of_all = judgements.rows, judgements
        if self.whole is not None:
            of_all = self.whole.judgements.graded(read)
        top = float(of_all["relevance"].to_numpy().max(initial=0.0))
        lists, convention = self.lists.in_order(convention)
        recs = lists.rows
        joined, truth = self._joined(recs, truth, convention)
        hits = replace(joined.hits, max_relevance=top)
        if self.propensity is not None or "propensity" in truth.columns:
            propensity = self._propensity_of(truth)
            weight = 1.0 / np.maximum(propensity, convention.min_propensity or 0.0)
            truth, hits = (
                truth.with_columns(weight=weight),
                replace(hits, truth_weight=weight[joined.truth_rows]),
            )
        if not self.is_part:
            examples = recs["user"][0], truth["user"][0]
            check_users(
                len(joined.users),
                joined.in_both,
                examples,
                truth["relevance"].max(),
                convention,
            )
        if below_0:
            truth = truth.with_columns(pl.col("relevance").clip(0.0))
        return Prepared(
            list_rows=LazyRows(partial(_ranked, recs, joined.rank, convention)),
            judged_rows=LazyRows(lambda: truth),
            truth_rows=LazyRows(lambda: truth[joined.truth_rows]),
            users=joined.users,
            all_hits=hits,
            n_without_relevant=joined.n_without_relevant,
            convention=convention,
            has_gaps=joined.has_gaps,
            graded="relevance" in self.truth.columns,
        )

    def _propensity_of(self, truth: pl.DataFrame) -> Floats:
        if self.propensity is not None:
            return look_up(self.propensity, truth, "propensity")
        named = f"truth: column {self.truth_labels['propensity']!r}"
        return checked(truth.rename({"propensity": "value"}), named, 1.0)

    def _joined(
        self, recs: pl.DataFrame, truth: pl.DataFrame, convention: Convention
    ) -> tuple[JoinResult, pl.DataFrame]:
        """Join; what the truth repeats is merged first, where the convention merges
        it.
        """
        by_position = needs_positions(convention)
        items = self.items if by_position else None
        if by_position not in self._ids:
            self._ids[by_position] = number_ids(recs, truth, items)
        try:
            return join(recs, truth, self._ids[by_position], convention), truth
        except RepeatError as problem:
            lists = self.lists.with_rows(recs)
            if problem.args == ("rank",):
                lists.refuse_repeated_pairs()
                lists.refuse_repeated_ranks()
            if convention.duplicates == "error":
                lists.refuse_repeated_pairs()
                self.judgements.with_rows(truth).refuse_repeated_pairs()
            truth = truth.group_by("user", "item", maintain_order=True).agg(
                pl.col("relevance", "^propensity$").max()
            )
            return join(recs, truth, number_ids(recs, truth, items), convention), truth


def source_of(lists: Sheet, judgements: Sheet, **known: Any) -> Tables:
    """Return the source of rows in memory, whose ids must be of one kind."""
    lists.refuse_other_kinds(judgements)
    return Tables(lists, judgements, **known)


def _ranked(recs: pl.DataFrame, rank: Ints, convention: Convention) -> pl.DataFrame:
    """Return user, item, rank, and score where there is one, in the order of the rows
    as they came, without those left out.
    """
    table = with_series(recs, pl.Series("rank", rank))
    if convention.score_dtype == "float32" and convention.order == "score":
        table = with_series(table, pl.Series("score", order_column(recs, convention)))
    table = table[
        ["user", "item", "rank", *(["score"] if "score" in table.columns else [])]
    ]
    return table if rank.all() else table.filter(pl.col("rank") > 0)


def ranked(lists: Sheet, convention: Convention) -> pl.DataFrame:
    """Return lists as user, item, rank, and score where there is one; repeated pairs
    are kept or merged by the convention.
    """
    no_judgements = Sheet(TRUTH, lists.rows.select(IDS).clear(), {})
    return Tables(lists, no_judgements, is_part=True).under(convention).recs


def rows_of(table: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    """Return the rows of some users."""
    return table.filter(pl.col("user").is_in(users.implode()))


def check_users(
    n_users: int,
    in_both: bool,
    examples: Sequence[Any],
    highest: object,
    convention: Convention,
) -> None:
    """Raise an error if no user is in both frames, of which `examples` has one each, or
    if none can be averaged.
    """
    if not in_both:
        held = (
            f"recommendations hold users such as {examples[0]!r}, truth holds users "
            f"such as {examples[1]!r}"
        )
        fix = "Check that both frames use the same ids, and the user= column."
        raise FrameError(f"no user is in both frames: {held}.", fix=fix)
    if n_users == 0:
        needed = (
            "above 0"
            if convention.relevant_from is None
            else f"{convention.relevant_from:g} or more"
        )
        held = f"relevance must be {needed} and the highest in the truth is {highest!r}"
        fix = f"Check relevant_from= and averaged_users={convention.averaged_users!r}."
        raise NoUsersError(f"no user that counts has a relevant item: {held}.", fix=fix)


# ---- what an evaluation keeps


@dataclass(frozen=True)
class Counts:
    """Sizes of the data behind the numbers, and of what was left out."""

    n_users: int  #: evaluated
    n_without_list: int  #: of these, users with no recommendations
    n_without_relevant: int  #: users of either frame who have no relevant item
    n_recommended: int  #: rows of recommendations
    n_relevant: int  #: pairs of an evaluated user and a relevant item
    n_items_recommended: int  #: distinct items in the lists
    n_items_relevant: int  #: distinct relevant items
    n_not_relevant: int  #: rows of the truth that are not relevant
    n_gaps: int  #: users whose ranks have gaps


@dataclass(frozen=True)
class RowCounts:
    """Counts of rows that are not kept."""

    n_recommended: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once


@dataclass(eq=False)
class Prepared:
    """Checked frames under a convention, joined: users as numbers, and the hits of
    whole lists.
    """

    users: pl.Series  #: the users evaluated, sorted
    all_hits: Hits  #: of whole lists
    convention: Convention
    list_rows: (
        LazyRows | None
    )  #: user, item, rank, and score where there is one, of all lists; None: elsewhere
    judged_rows: LazyRows  #: all rows of the truth: user, item, relevance
    # : the relevant rows of the users evaluated, in the order of `all_hits.truth_user`
    truth_rows: LazyRows
    n_without_relevant: int  #: users of either frame who have no relevant item
    has_gaps: bool = False  #: whether some list leaves a rank empty
    graded: bool = True  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...] = ()
    user_weight: Floats | None = (
        None  #: of each user evaluated; None: all count the same
    )
    known_counts: RowCounts | None = None  #: of rows that are elsewhere
    made_of: Source | None = None
    _cut: dict[int, Hits] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        """The frames as they were read, to be looked at under another convention."""
        assert self.made_of is not None
        return self.made_of

    @property
    def judged(self) -> pl.DataFrame:
        """All rows of the truth: user, item, relevance."""
        return self.judged_rows.frame

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self.truth_rows.frame

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the lists; an error if they are not in memory."""
        return self.source.recs if self.list_rows is None else self.list_rows.frame

    def lists_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users' lists, fetched where they are elsewhere."""
        return self.source.lists_of(users, self.convention)

    def truth_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the relevant rows of some users, fetched where they are elsewhere."""
        if self.truth_rows.are_here:
            return rows_of(self.truth, users)
        return self.source.truth_of(users, self.convention)

    @property
    def of_users(self) -> tuple[int, int, int]:
        """Users evaluated, those of them without a list, and users with no relevant
        item.
        """
        return (
            len(self.users),
            int((self.all_hits.list_length == 0).sum()),
            self.n_without_relevant,
        )

    @property
    def counts(self) -> Counts:
        """Sizes of the data behind the numbers, and of what was left out; an error if
        rows that are elsewhere were not counted.
        """
        return Counts(
            *self.of_users,
            n_recommended=self.row_counts.n_recommended,
            n_relevant=len(self.all_hits.truth_user),
            n_items_recommended=len(self.row_counts.items),
            n_items_relevant=self.truth["item"].n_unique(),
            n_not_relevant=self.row_counts.n_not_relevant,
            n_gaps=self.row_counts.n_gaps,
        )

    @cached_property
    def weighting(self) -> Weighting | None:
        """The weights of the relevant pairs of the users evaluated."""
        return Weighting.of(self.all_hits.truth_weight)

    @cached_property
    def row_counts(self) -> RowCounts:
        """Counts of rows, which are known of rows that are elsewhere."""
        if self.known_counts is not None:
            return self.known_counts
        judged, n_gaps = self.judged, 0
        relevant = relevant_only(judged, self.convention)
        if self.convention.judged == "list":
            relevant = relevant.join(self.recs, on=["user", "item"], how="semi")
        if self.has_gaps:
            lists = self.recs.group_by("user").agg(
                length=pl.col("rank").max(), n=pl.len()
            )
            n_gaps = int((lists["length"] != lists["n"]).sum())
        return RowCounts(
            self.recs.height,
            judged.height - relevant.height,
            n_gaps,
            distinct(self.recs["item"]),
        )

    def hits(self, depth: int | None) -> Hits:
        """Return the hits among the first `depth` ranks (None: all)."""
        if (
            depth is None
            or self.all_hits.tied is not None
            or depth >= self.all_hits.list_length.max(initial=0)
        ):
            return self.all_hits
        if depth not in self._cut:
            self._cut[depth] = self.all_hits.with_rows(self.all_hits.rank <= depth)
        return self._cut[depth]

    def judged_hits(self) -> Hits:
        """Return the judged items in the lists, relevant or not, as hits of the same
        users on the same ranks.
        """
        everyone: dict[str, Any] = {"averaged_users": "union", "no_relevant": "zero"}
        convention = replace(
            self.convention, relevant="any", relevant_from=None, **everyone
        )
        if convention.negative_relevance != "zero":
            return self._hits_under(convention)
        with_grades = self._hits_under(
            replace(convention, negative_relevance="keep", judged_only=False)
        )
        if not convention.judged_only:
            return with_grades
        # Items of a grade below 0 have left the lists; in the truth they are still
        # those that were not judged.
        hits = self._hits_under(convention)
        return replace(
            hits,
            truth_user=with_grades.truth_user,
            truth_relevance=with_grades.truth_relevance,
        )

    def _hits_under(self, convention: Convention) -> Hits:
        """Return the hits under another convention, of the users evaluated."""
        known = self.source.under(convention)
        return known.all_hits.with_users(
            known.users.is_in(self.users.implode()).to_numpy()
        )

    def among(self, users: pl.Series, note: str | Sentence = "") -> Prepared:
        """Return the same data of some of the users alone, with the hits and the
        highest relevance that they have here.
        """
        kept = self.users.is_in(users.implode())
        hits = self.all_hits.with_users(kept.to_numpy())
        here = self.users.filter(kept)
        return replace(
            self,
            users=here,
            user_weight=None
            if self.user_weight is None
            else self.user_weight[kept.to_numpy()],
            all_hits=hits,
            list_rows=None
            if self.list_rows is None
            else LazyRows(lambda: rows_of(self.recs, here)),
            judged_rows=LazyRows(lambda: rows_of(self.judged, here)),
            truth_rows=LazyRows(lambda: rows_of(self.truth, here)),
            n_without_relevant=int((hits.n_relevant == 0).sum()),
            notes=(*self.notes, note) if note else self.notes,
            known_counts=None,
            made_of=self.source.among(here),
            _cut={},
        )
