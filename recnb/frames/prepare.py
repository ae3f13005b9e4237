"""Two frames, checked and joined: what an evaluation keeps of them, and the hits down to any depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.errors import ColumnError, FrameError
from recnb.frames import check
from recnb.frames.codes import by_user, distinct, positions
from recnb.frames.counts import Counts, Tallied, Tally
from recnb.frames.general import general_hits, is_general
from recnb.frames.order import by_rank, order_by, ranked
from recnb.frames.population import list_lengths, no_users, population, users_meet
from recnb.frames.quick import Joined, Pairs, joined
from recnb.frames.read import Frame, columns_of
from recnb.frames.relevant import graded, once, relevant_rows, top_of
from recnb.frames.rows import Away, Held, Ranked, Taken
from recnb.frames.runs import Runs, runs_of
from recnb.hits import Hits, Ints, in_order
from recnb.strings import Sentence


@dataclass(eq=False)
class Made:
    """The hits that are kept: the last cut, and what it was cut from. They are replaced as one, so that threads need no lock."""

    hits: tuple[Hits, ...] = ()


@dataclass(eq=False)
class Prepared:
    """Checked frames, coded by user, from which hits are cut at the depth that is asked for."""

    rows: Held | Ranked  #: user, item, rank, and score where lists have one
    judged: pl.DataFrame  #: all rows of the truth: user, item, relevance
    taken: Taken  #: the relevant rows of the users evaluated, by user where the short way made them
    users: pl.Series  #: the users evaluated, sorted
    truth_user: Ints  #: position in users, per row of truth
    list_length: Ints  #: per user, the last rank
    has_gaps: bool  #: whether some list leaves a rank empty
    n_strangers: int  #: users with a list who are not evaluated
    convention: Convention
    max_relevance: float  #: the highest relevance in the truth, whoever is evaluated
    graded: bool = True  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...] = ()
    source: Source | None = None  #: the frames as they were read, to be looked at under another convention
    general: Hits | None = None  #: all hits, where the convention needs the long way
    pairs: Pairs | None = None  #: what finds hits the quick way
    tally: Tally | None = None  #: what was counted of rows that are not here
    made: Made = field(default_factory=Made)

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self.taken.frame

    @property
    def recs(self) -> pl.DataFrame:
        """Every row of the lists; an error that says so, where they are not in memory."""
        return self.rows.all()

    @cached_property
    def counts(self) -> Counts:
        """How much data is behind the numbers, and what of it was left out."""
        return Counts(self) if self.tally is None else Tallied(self, self.tally)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the truth, of all users."""
        recs = self.recs if self.convention.judged == "list" else self.judged
        return relevant_rows(self.judged, recs, self.convention)

    def hits(self, depth: int | None) -> Hits:
        """The hits among the first `depth` ranks (None: all), joined once and kept."""
        if self.general is not None:
            return self.general
        if depth is not None and depth >= self.list_length.max(initial=0):
            depth = None
        kept = self.made.hits
        known = next((one for one in kept if one.depth == depth), None)
        if known is None:
            deeper = next((one for one in kept if one.depth is None or (depth is not None and one.depth > depth)), None)
            if deeper is None or depth is None:
                known = self._join(depth)
                self.made.hits = (known,)
            else:
                known = deeper.down_to(depth)
                self.made.hits = (deeper, known)
        return known

    def _join(self, depth: int | None) -> Hits:
        met = None if self.pairs is None else self.pairs.met(depth)
        if met is not None:
            return self._hits_of(self.recs["rank"].to_numpy()[met[0]], met[1], depth)
        recs = self.recs.lazy()
        if depth is not None:
            recs = recs.filter(pl.col("rank") <= depth)
        # Only pairs that hit need codes, and the truth has them: the row of the truth is all that the join brings back.
        truth = self.truth.lazy().select("user", "item", row=pl.int_range(pl.len()))
        found = recs.join(truth, on=["user", "item"]).select("rank", "row").collect()
        return self._hits_of(found["rank"].to_numpy(), found["row"].to_numpy(), depth)

    def _hits_of(self, rank: Ints, row: Ints, depth: int | None) -> Hits:
        """The hits on these ranks, each the relevant item in a row of the truth."""
        user = self.truth_user[row]
        key = user * (int(rank.max(initial=0)) + 1) + rank
        if not (key[1:] >= key[:-1]).all():
            order = in_order(key)
            rank, row, user = rank[order], row[order], user[order]
        if self.convention.duplicates == "hit_once":
            first = np.sort(np.unique(row, return_index=True)[1])
            rank, row, user = rank[first], row[first], user[first]
        relevance = self.taken.relevance
        return Hits(
            user=user,
            rank=rank,
            list_length=self.list_length,
            relevance=relevance[row],
            truth_row=row,
            truth_user=self.truth_user,
            truth_relevance=relevance,
            max_relevance=self.max_relevance,
            depth=depth,
        )


@dataclass(frozen=True, eq=False)
class Source:
    """Both frames as they were read: roles found, ids of one kind. What they mean is up to a convention."""

    rows: Held | Away  #: user, item, and rank or score or both
    truth: pl.DataFrame  #: user, item, and relevance if there is one
    labels: Mapping[str, str]  #: which column of the recommendations plays which role
    truth_labels: Mapping[str, str]
    notes: tuple[str | Sentence, ...] = ()
    floats: tuple[str, ...] = ()  #: columns whose ids came as floats, by frame
    part: bool = False  #: whether these are some of the users: what holds of all is then seen to elsewhere
    whole: Source | None = (
        None  #: the frames that these are some users of: the catalogue and the scale of grades are theirs
    )
    catalogue: pl.Series | None = None  #: every item there is, where models are compared
    _known: dict[Convention, Prepared] = field(default_factory=dict)

    @property
    def recs(self) -> pl.DataFrame:
        """Every row of the recommendations; an error that says so, where they are not in memory."""
        return self.rows.all()

    def sample(self, role: str) -> pl.Series:
        """Ids of a role, to compare their kind with others."""
        return self.recs[role] if isinstance(self.rows, Held) else self.truth[role]

    @cached_property
    def runs(self) -> Runs | None:
        """Where each list begins, if lists stand one after the other."""
        return runs_of(self.recs["user"])

    @cached_property
    def items(self) -> pl.Series:
        """Every item of either frame, sorted."""
        if self.catalogue is not None:
            return self.catalogue
        return distinct(pl.concat([self.recs["item"], self.truth["item"]])) if self.whole is None else self.whole.items

    def under(self, convention: Convention) -> Prepared:
        """The frames under a convention, worked out once for each."""
        data = replace(convention, metric=(), cutoff="k", average="user", no_list="zero", no_hit="zero")
        if data not in self._known:
            self._known[data] = self._prepared(data)
        known = self._known[data]
        return replace(known, convention=convention.ordered_by(known.convention.order))

    def as_given(self, convention: Convention) -> Convention:
        """A library's convention for these frames: where they lack the column it reads, the one that says the same."""
        other = {"score": "rank", "rank": "score"}
        if convention.order in other and convention.order not in self.rows.columns:
            return replace(convention, order=other[convention.order])  # type: ignore[arg-type]
        return convention

    def _prepared(self, convention: Convention) -> Prepared:
        if isinstance(self.rows, Away):
            return replace(self.rows.gather(convention), notes=self.notes, source=self)
        truth = graded(self.truth, self.truth_labels, convention)
        top = top_of(truth if self.whole is None else graded(self.whole.truth, self.truth_labels, convention))
        general = is_general(convention)
        quick = None if general else joined(self.recs, truth, convention, self.labels, self.runs)
        if quick is not None:
            prepared = _quick(quick, truth, top, convention.ordered_by(self._order(quick.by)))
        elif general:
            truth = once(truth, self.truth_labels, convention)
            prepared = _general(self, truth, top, convention)
        else:
            truth = once(truth, self.truth_labels, convention)
            recs, by = ranked(self.recs, convention, self.labels, self.runs)
            prepared = _code(recs, truth, top, convention.ordered_by(self._order(by)), self.runs, part=self.part)
        return replace(prepared, graded="relevance" in self.truth.columns, notes=self.notes, source=self)

    def _order(self, by: str) -> str:
        """What put lists in order: ranks that were counted off along lists in cells are their rows."""
        return "row" if self.labels.get("rank") == self.labels["item"] else by


def _general(source: Source, judged: pl.DataFrame, top: float, convention: Convention) -> Prepared:
    """The long way: any ties, padding, repeated rows."""
    recs, labels, part = source.recs, source.labels, source.part
    by = order_by(recs, convention, labels)
    if convention.duplicates == "error":
        check.no_pair_twice(recs, "recommendations", "Say duplicates='dedupe' to keep the one ranked highest.")
    if by == "rank":
        recs = by_rank(recs, convention, labels)
    elif by == "score":
        recs = recs.with_columns(score=check.scores(recs, "recommendations", labels["score"]))
    if not part:
        users_meet(recs["user"], judged["user"])
    convention = convention.ordered_by(by)
    made = general_hits(recs, judged, source.items, convention)
    if len(made.users) == 0 and not part:
        raise no_users(judged["relevance"].max(), convention)
    strangers = int((positions(made.users, distinct(recs["user"])) < 0).sum())
    hits = replace(made.hits, max_relevance=top)
    return Prepared(
        Held(made.recs),
        judged,
        Taken(made.truth, None),
        made.users,
        hits.truth_user,
        hits.list_length,
        False,
        strangers,
        convention,
        top,
        general=hits,
    )


def one_model(models: pl.Series, column: str) -> None:
    """Refuse the lists of several models."""
    if len(models) > 1:
        raise FrameError(
            f"recommendations hold the lists of {len(models)} models in column {column!r}, such as {models[0]!r}: compare them, "
            f"recnb.compare(recs, truth), or evaluate one alone, recs[recs[{column!r}] == {models[0]!r}]."
        )


def named_columns_exist(columns: Mapping[str, str | None], recs: Frame, truth: Frame) -> None:
    """A column named by keyword must stand where its role is read: a rank or score with the recommendations, a relevance in the truth."""
    of_recs, of_truth = columns_of(recs, "recommendations"), columns_of(truth, "truth")
    holders = {
        "rank": ("recommendations have no", of_recs),
        "score": ("recommendations have no", of_recs),
        "relevance": ("truth has no", of_truth),
    }
    for role, column in columns.items():
        if column is None:
            continue
        if role in ("recommended", "relevant"):
            raise ColumnError(
                f"{role}={column!r} names a column of lists, which a frame with one row a user has: type frame.rec.evaluation({role}={column!r}). "
                f"Two frames hold one item a row: frame.explode({column!r})."
            )
        said, present = holders.get(role, ("neither frame has the", [*of_recs, *of_truth]))
        if column not in present:
            listed = ", ".join(map(repr, sorted(set(map(str, present)))))
            raise ColumnError(f"{said} column {column!r} that {role}={column!r} names. Columns: {listed}.")


def _quick(made: Joined, judged: pl.DataFrame, top: float, convention: Convention) -> Prepared:
    return Prepared(
        Held(made.recs), judged, made.taken, made.users, made.truth_user, made.list_length, made.has_gaps,
        made.n_strangers, convention, top, pairs=made.pairs,
    )  # fmt: skip


def _code(
    recs: pl.DataFrame, judged: pl.DataFrame, top: float, convention: Convention, runs: Runs | None, *, part: bool
) -> Prepared:
    if runs is not None and runs.n_rows != recs.height:
        runs = None  # rows were taken out
    relevant = relevant_rows(judged, recs, convention)
    users = population(recs, judged, relevant, convention)
    truth_user = positions(users, relevant["user"])
    if (truth_user < 0).any():
        relevant = relevant.filter(pl.Series(truth_user >= 0))
        truth_user = truth_user[truth_user >= 0]
    # By user, so that the hits of some users are a slice of all; best first, so that the ideal list is sorted once.
    order, truth_user, relevance = by_user(truth_user, relevant["relevance"].to_numpy())
    if not part and (len(users) == 0 or (len(truth_user) == 0 and convention.no_relevant == "skip")):
        users_meet(recs["user"], judged["user"])
        raise no_users(judged["relevance"].max(), convention)
    list_length, has_gaps, n_strangers = list_lengths(recs, users, runs)
    if not part and not list_length[truth_user].any():
        users_meet(recs["user"], judged["user"])
    return Prepared(
        Held(recs),
        judged,
        Taken(relevant, order, relevance),
        users,
        truth_user,
        list_length,
        has_gaps,
        n_strangers,
        convention,
        top,
    )


__all__ = ["Counts", "Prepared", "Source", "named_columns_exist", "one_model"]
