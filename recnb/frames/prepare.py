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
from recnb.frames.codes import distinct, positions
from recnb.frames.counts import Counts, Tallied, Tally
from recnb.frames.general import general_hits, is_general
from recnb.frames.order import order_by, ranked
from recnb.frames.population import list_lengths, no_users, population, users_meet
from recnb.frames.read import Frame, columns_of, find, role_of, table_of
from recnb.frames.relevant import graded_truth, relevant_rows
from recnb.frames.rows import Away, Held, Ranked
from recnb.frames.runs import Runs, runs_of
from recnb.frames.single import split
from recnb.hits import Hits, Ints, in_order
from recnb.strings import Sentence


@dataclass(eq=False)
class Prepared:
    """Checked frames, coded by user, from which hits are cut at the depth that is asked for."""

    rows: Held | Ranked  #: user, item, rank, and score where lists have one
    judged: pl.DataFrame  #: all rows of the truth: user, item, relevance
    truth: pl.DataFrame  #: the relevant rows of the users evaluated, by user where the short way made them
    users: pl.Series  #: the users evaluated, sorted
    truth_user: Ints  #: position in users, per row of truth
    list_length: Ints  #: per user, the last rank
    has_gaps: bool  #: whether some list leaves a rank empty
    n_strangers: int  #: users with a list who are not evaluated
    convention: Convention
    graded: bool = True  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...] = ()
    source: Source | None = None  #: the frames as they were read, to be looked at under another convention
    last_place: int = 0  #: on the long way, the last place that any item stands on
    general: Hits | None = None  #: all hits, where the convention needs the long way
    tally: Tally | None = None  #: what was counted of rows that are not here
    _hits: dict[int | None, Hits] = field(default_factory=dict)

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
        return relevant_rows(self.judged, self.recs, self.convention)

    def hits(self, depth: int | None) -> Hits:
        """The hits among the first `depth` ranks (None: all), joined once and kept."""
        if self.general is not None:
            return self.general
        for known, hits in self._hits.items():
            if known is None or (depth is not None and known >= depth):
                return hits
        self._hits.clear()
        self._hits[depth] = self._join(depth)
        return self._hits[depth]

    def _join(self, depth: int | None) -> Hits:
        recs = self.recs.lazy()
        if depth is not None and depth < self.list_length.max(initial=0):
            recs = recs.filter(pl.col("rank") <= depth)
        # Only pairs that hit need codes, and the truth has them: the row of the truth is all that the join brings back.
        truth = self.truth.lazy().select("user", "item", row=pl.int_range(pl.len()))
        found = recs.join(truth, on=["user", "item"]).select("rank", "row").collect()
        rank, row = found["rank"].to_numpy(), found["row"].to_numpy()
        user = self.truth_user[row]
        order = in_order(user * (int(rank.max(initial=0)) + 1) + rank)
        rank, row, user = rank[order], row[order], user[order]
        if self.convention.duplicates == "hit_once":
            first = np.sort(np.unique(row, return_index=True)[1])
            rank, row, user = rank[first], row[first], user[first]
        relevance = self.truth["relevance"].to_numpy()
        return Hits(
            user=user,
            rank=rank,
            list_length=self.list_length,
            relevance=relevance[row],
            truth_row=row,
            truth_user=self.truth_user,
            truth_relevance=relevance,
            max_relevance=float(relevance.max(initial=0.0)),
            depth=depth,
        )


def prepare(recs: Frame, truth: Frame | None, columns: Mapping[str, str | None], convention: Convention) -> Prepared:
    """Find the roles, check the rows and code the users of two frames, or of one that holds both sides."""
    return read(recs, truth, columns).under(convention)


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
        graded = "relevance" in self.truth.columns
        truth = graded_truth(self.truth, self.truth_labels, convention)
        if is_general(convention):
            prepared = _general(self.recs, truth, convention, self.labels, part=self.part)
        else:
            recs, by = ranked(self.recs, convention, self.labels, self.runs)
            if self.labels.get("rank") == self.labels["item"]:
                by = "row"  # the ranks were counted off along the lists
            prepared = _code(recs, truth, convention.ordered_by(by), self.runs, part=self.part)
        return replace(prepared, graded=graded, notes=self.notes, source=self)


def read(recs: Frame, truth: Frame | None, columns: Mapping[str, str | None]) -> Source:
    """Find the roles of two frames, or of one that holds both sides, and see that their ids can meet."""
    notes: tuple[str | Sentence, ...] = ()
    floats: tuple[str, ...] = ()
    if truth is None:
        recs_table, truth_table, labels, truth_labels, notes = split(recs, columns)
    else:
        named_columns_exist(columns, recs, truth)
        labels = find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"])
        _one_model(recs)
        truth_labels = find(truth, "truth", ["user", "item"], columns, ["relevance"])
        raw_recs, raw_truth = table_of(recs, "recommendations", labels), table_of(truth, "truth", truth_labels)
        floats = (*_float_ids(raw_recs, "recs", labels), *_float_ids(raw_truth, "truth", truth_labels))
        recs_table = check.ids(raw_recs, "recommendations", labels)
        truth_table = check.ids(raw_truth, "truth", truth_labels)
    check.same_kind(recs_table, truth_table, labels, truth_labels)
    return Source(Held(recs_table), truth_table, labels, truth_labels, notes, floats)


def _float_ids(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}[{labels[role]!r}]" for role in check.IDS if table[role].dtype.is_float())


def read_lists(recs: Frame, columns: Mapping[str, str | None]) -> pl.DataFrame:
    """Recommendations alone, as user, item, rank: by rank if there is one, else by score."""
    labels = find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"])
    table = check.ids(table_of(recs, "recommendations", labels), "recommendations", labels)
    convention = Convention(order="rank" if "rank" in labels else "score", duplicates="keep")
    return ranked(table, convention, labels)[0].select("user", "item", "rank")


def _general(
    recs: pl.DataFrame, judged: pl.DataFrame, convention: Convention, labels: Mapping[str, str], *, part: bool
) -> Prepared:
    """The long way: any ties, padding, repeated rows."""
    by = order_by(recs, convention, labels)
    if convention.duplicates == "error":
        check.no_pair_twice(recs, "recommendations", "Say duplicates='dedupe' to keep the one ranked highest.")
    if by == "rank":
        recs = recs.with_columns(rank=check.ranks(recs, "recommendations", labels["rank"]))
    elif by == "score":
        recs = recs.with_columns(score=check.scores(recs, "recommendations", labels["score"]))
    if not part:
        users_meet(recs["user"], judged["user"])
    convention = convention.ordered_by(by)
    made = general_hits(recs, judged, convention)
    if len(made.users) == 0 and not part:
        raise no_users(judged["relevance"].max(), convention)
    strangers = int((positions(made.users, distinct(recs["user"])) < 0).sum())
    hits = made.hits
    return Prepared(
        Held(made.recs),
        judged,
        made.truth,
        made.users,
        hits.truth_user,
        hits.list_length,
        False,
        strangers,
        convention,
        last_place=made.last_place,
        general=hits,
    )


def _one_model(recs: Frame) -> None:
    """A frame of several models holds several lists for each user, which must not be taken for one."""
    column = next((name for name in columns_of(recs, "recommendations") if role_of(name) == "model"), None)
    if column is None:
        return
    one_model(table_of(recs, "recommendations", {"model": column})["model"].unique().sort(), column)


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


def _code(
    recs: pl.DataFrame, judged: pl.DataFrame, convention: Convention, runs: Runs | None, *, part: bool
) -> Prepared:
    if runs is not None and runs.n_rows != recs.height:
        runs = None  # rows were taken out
    relevant = relevant_rows(judged, recs, convention)
    users = population(recs, judged, relevant, convention)
    truth_user = positions(users, relevant["user"])
    if (truth_user < 0).any():
        relevant = relevant.filter(pl.Series(truth_user >= 0))
        truth_user = truth_user[truth_user >= 0]
    if (truth_user[1:] < truth_user[:-1]).any():
        # By user, so that the hits of some users are a slice of all.
        order = in_order(truth_user)
        relevant, truth_user = relevant.select(pl.all().gather(order)), truth_user[order]
    if not part and (len(users) == 0 or (len(truth_user) == 0 and convention.no_relevant == "skip")):
        users_meet(recs["user"], judged["user"])
        raise no_users(judged["relevance"].max(), convention)
    list_length, has_gaps, n_strangers = list_lengths(recs, users, runs)
    if not part and not list_length[truth_user].any():
        users_meet(recs["user"], judged["user"])
    return Prepared(Held(recs), judged, relevant, users, truth_user, list_length, has_gaps, n_strangers, convention)


__all__ = [
    "Counts",
    "Prepared",
    "Source",
    "named_columns_exist",
    "one_model",
    "prepare",
    "read",
    "read_lists",
]
