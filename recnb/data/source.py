"""Two frames as they were read (`Source`), and what an evaluation keeps of them under a convention (`Prepared`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data import validation
from recnb.data.columns import Frame, Roles, columns_of, with_series
from recnb.data.encoding import distinct
from recnb.data.join import Ids, Joined, JoinError, join, needs_positions, number_ids, scores_of
from recnb.data.lists import check_lists, refuse_repeated_pairs
from recnb.data.population import no_users, users_meet
from recnb.data.relevance import LazyRows, graded, once, relevant_rows, top_of
from recnb.display.language import Sentence
from recnb.errors import ColumnError, ElsewhereError, FrameError, OptionError, quoted
from recnb.metrics.cached import cached_property
from recnb.metrics.hits import Hits, Ints


class Counts:
    """Sizes of the data behind the numbers, and of what was left out."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    @property
    def n_users(self) -> int:
        """Users evaluated."""
        return len(self._prepared.users)

    @property
    def n_without_list(self) -> int:
        """Of these, users with no recommendations."""
        return int((self._prepared.list_length == 0).sum())

    @property
    def n_without_relevant(self) -> int:
        """Users of either frame who have no relevant item."""
        return self._prepared.n_without_relevant

    @property
    def n_recommended(self) -> int:
        """Rows of recommendations."""
        stored = self._prepared.row_counts
        return self._prepared.recs.height if stored is None else self._known(stored.n_recommended)

    @property
    def n_relevant(self) -> int:
        """Pairs of an evaluated user and a relevant item."""
        return len(self._prepared.truth_user)

    @property
    def n_items_recommended(self) -> int:
        """Distinct items in the lists."""
        stored = self._prepared.row_counts
        return self._prepared.recs["item"].n_unique() if stored is None else self._known(len(stored.items))

    @property
    def n_items_relevant(self) -> int:
        """Distinct relevant items."""
        return self._prepared.truth["item"].n_unique()

    @property
    def n_not_relevant(self) -> int:
        """Rows of the truth that are not relevant."""
        stored = self._prepared.row_counts
        return (
            self._prepared.judged.height - self._prepared.relevant.height if stored is None else stored.n_not_relevant
        )

    @property
    def n_gaps(self) -> int:
        """Number of users whose ranks have gaps."""
        if self._prepared.row_counts is not None:
            return self._known(self._prepared.row_counts.n_gaps)
        if not self._prepared.has_gaps:
            return 0
        lengths = self._prepared.recs.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
        return int((lengths["length"] != lengths["n"]).sum())

    def _known(self, count: int) -> int:
        """A stored count of rows; an error if it covers more users than these, as the rows are not in memory."""
        if self._prepared.row_counts is not None and self._prepared.row_counts.of_more and count:
            self._prepared.rows.all()
        return count


@dataclass(frozen=True)
class RowCounts:
    """Counts of rows that are not kept."""

    n_recommended: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once
    of_more: bool = False  #: whether rows, gaps and items are those of more users than are evaluated

    @classmethod
    def of(cls, counts: Counts, recs: pl.DataFrame) -> RowCounts:
        """The counts of rows that are at hand."""
        return cls(
            counts.n_recommended,
            counts.n_not_relevant,
            counts.n_gaps,
            distinct(recs["item"]),
        )

    @classmethod
    def total(cls, parts: Sequence[RowCounts]) -> RowCounts:
        """Add up the counts of parts with different users."""
        items = [part.items for part in parts if len(part.items)] or [parts[0].items]
        return cls(
            sum(part.n_recommended for part in parts),
            sum(part.n_not_relevant for part in parts),
            sum(part.n_gaps for part in parts),
            distinct(pl.concat(items)),
        )


@dataclass(frozen=True, eq=False)
class InMemoryRows:
    """Rows in memory."""

    rows: LazyRows

    @property
    def frame(self) -> pl.DataFrame:
        """Every row."""
        return self.rows.frame

    @property
    def columns(self) -> list[str]:
        """The roles that have a column."""
        return self.frame.columns

    def all(self) -> pl.DataFrame:
        """Every row."""
        return self.frame

    def of(self, users: pl.Series) -> pl.DataFrame:
        """The rows of some users."""
        return self.frame.filter(pl.col("user").is_in(users.implode()))


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """Rows that stay where they are: hits and counts are gathered from them, and a few users' rows fetched."""

    columns: list[str]  #: the roles that have a column
    where: str  #: what holds the rows, in words: "the files of a lazy frame"
    remedy: str  #: what to type to have them here
    gather: Callable[[Convention], Prepared]  #: hits and counts of all users under a convention
    fetch: Callable[[pl.Series, Convention], pl.DataFrame]  #: the ranked rows of some users

    def all(self) -> NoReturn:
        """Raise an error: the rows are not in memory."""
        raise elsewhere(self.where, self.remedy)

    # What pickles an evaluation may be on its way to another machine, so it takes what is in memory and no rows.

    def __getstate__(self) -> dict[str, Any]:
        left = partial(_left_behind, self.where, self.remedy)
        return self.__dict__ | {"gather": left, "fetch": left}

    def __deepcopy__(self, memo: object) -> RemoteRows:
        return self


def _left_behind(where: str, remedy: str, *_of: object) -> NoReturn:
    raise ElsewhereError(
        f"this asks for rows of the lists, which stayed in {where} when the evaluation was pickled. Evaluate the frames "
        f"again; if they fit into memory: {remedy}."
    )


def elsewhere(where: str, remedy: str) -> ElsewhereError:
    """Return the error for what needs all rows, where they are not in memory."""
    return ElsewhereError(
        f"this looks at every row of the lists, and they stay in {where}: only hits and counts were fetched. "
        f"If they fit into memory: {remedy}."
    )


@dataclass(frozen=True, eq=False)
class RemoteRanking:
    """Ranked rows that are not in memory, under one convention."""

    away: RemoteRows
    convention: Convention

    @property
    def columns(self) -> list[str]:
        """The roles that have a column."""
        return ["user", "item", "rank", *(["score"] if "score" in self.away.columns else [])]

    def all(self) -> pl.DataFrame:
        """Raise an error: the rows are not in memory."""
        return self.away.all()

    def of(self, users: pl.Series) -> pl.DataFrame:
        """The rows of some users."""
        if self.convention.judged_only:
            return self.away.all()
        return self.away.fetch(users, self.convention)


@dataclass(eq=False)
class Prepared:
    """Checked frames under a convention, joined: users as numbers, and the hits of whole lists."""

    rows: InMemoryRows | RemoteRanking  #: user, item, rank, and score where lists have one
    judged_rows: LazyRows  #: all rows of the truth: user, item, relevance
    truth_rows: LazyRows  #: the relevant rows of the users evaluated, in the order of `all_hits.truth_user`
    users: pl.Series  #: the users evaluated, sorted
    all_hits: Hits  #: of whole lists
    n_without_relevant: int  #: users of either frame who have no relevant item
    convention: Convention
    has_gaps: bool = False  #: whether some list leaves a rank empty
    graded: bool = True  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...] = ()
    source: Source | None = None  #: the frames as they were read, to be looked at under another convention
    row_counts: RowCounts | None = None  #: what was counted of rows that are not here
    _cut: dict[int, Hits] = field(default_factory=dict)

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
        return self.rows.all()

    @property
    def truth_user(self) -> Ints:
        """The position in `users` of each row of `truth`."""
        return self.all_hits.truth_user

    @property
    def list_length(self) -> Ints:
        """The last rank of each user's list."""
        return self.all_hits.list_length

    @property
    def max_relevance(self) -> float:
        """The highest relevance in the truth, whoever is evaluated."""
        return self.all_hits.max_relevance

    @property
    def counts(self) -> Counts:
        """Sizes of the data behind the numbers, and of what was left out."""
        return Counts(self)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the truth, of all users."""
        recs = self.recs if self.convention.judged == "list" else self.judged
        return relevant_rows(self.judged, recs, self.convention)

    def hits(self, depth: int | None) -> Hits:
        """The hits among the first `depth` ranks (None: all)."""
        if depth is None or self.all_hits.tied is not None or depth >= self.list_length.max(initial=0):
            return self.all_hits
        if depth not in self._cut:
            self._cut[depth] = self.all_hits.cut(depth)
        return self._cut[depth]


@dataclass(frozen=True, eq=False)
class Source:
    """Both frames after reading: columns by role, ids of one type; not yet under a convention."""

    rows: InMemoryRows | RemoteRows  #: user, item, and rank or score or both
    truth_rows: LazyRows  #: user, item, and relevance if there is one
    labels: Mapping[str, str]  #: which column of the recommendations plays which role
    truth_labels: Mapping[str, str]
    notes: tuple[str | Sentence, ...] = ()
    floats: tuple[str, ...] = ()  #: columns whose ids came as floats, by frame
    part: bool = False  #: whether these are some of the users: what holds of all is then seen to elsewhere
    #: the frames that these are some users of: the catalogue and the scale of grades are theirs
    whole: Source | None = None
    catalogue: pl.Series | None = None  #: every item there is, where models are compared
    _known: dict[Convention, Prepared] = field(default_factory=dict)
    _ids: dict[bool, Ids] = field(default_factory=dict, init=False)

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations; an error if they are not in memory."""
        return self.rows.all()

    @property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self.truth_rows.frame

    @property
    def truth_roles(self) -> list[str]:
        """The roles that have a column in the truth."""
        return list(self.truth_labels) if isinstance(self.rows, RemoteRows) else self.truth.columns

    def sample(self, role: str) -> pl.Series:
        """Ids of a role, to compare their kind with others."""
        return self.recs[role] if isinstance(self.rows, InMemoryRows) else self.truth[role]

    @cached_property
    def items(self) -> pl.Series:
        """Every item of either frame, sorted."""
        if self.catalogue is not None:
            return self.catalogue
        return distinct(pl.concat([self.recs["item"], self.truth["item"]])) if self.whole is None else self.whole.items

    def ids(self, *, positions: bool) -> Ids:
        """The ids of both frames as numbers, worked out once; `positions`: those of items are in the order of their ids."""
        if positions not in self._ids:
            self._ids[positions] = number_ids(self.recs, self.truth, self.items if positions else None)
        return self._ids[positions]

    def under(self, convention: Convention) -> Prepared:
        """The frames under a convention, worked out once for each."""
        # What is kept has no source: in a cycle of references, rows would stay in memory until Python looks for cycles.
        data = replace(convention, metric=(), cutoff="k")
        if data not in self._known:
            self._known[data] = self._prepared(data)
        known = self._known[data]
        return replace(known, convention=convention.ordered_by(known.convention.order), source=self)

    def as_given(self, convention: Convention) -> Convention:
        """A library's convention for these frames, with the order column that they have."""
        other: Mapping[str, Order] = {"score": "rank", "rank": "score"}
        if convention.order in other and convention.order not in self.rows.columns:
            return replace(convention, order=other[convention.order])
        return convention

    def _prepared(self, convention: Convention) -> Prepared:
        if isinstance(self.rows, RemoteRows):
            return replace(self.rows.gather(convention), notes=self.notes)
        if convention.judged_only:
            return self._of_judged(convention)
        truth = graded(self.truth, self.truth_labels, convention)
        top = top_of(truth if self.whole is None else graded(self.whole.truth, self.truth_labels, convention))
        recs, convention = check_lists(self.recs, convention, self.labels)
        joined, truth, ids = self._joined(recs, truth, convention)
        if not self.part and not (joined.with_list & joined.with_truth).any():
            users_meet(recs["user"], truth["user"])
        if not self.part and not joined.averaged.any():
            raise no_users(truth["relevance"].max(), convention)
        # Ranks counted along lists in cells are the order of rows.
        order = "row" if self.labels.get("rank") == self.labels["item"] else convention.order
        return Prepared(
            rows=InMemoryRows(LazyRows(partial(_ranked, recs, joined.rank, ids.lists.rows, convention))),
            judged_rows=LazyRows.of(truth),
            truth_rows=LazyRows.of(truth, joined.truth_rows),
            users=joined.users,
            all_hits=replace(joined.hits, max_relevance=top),
            n_without_relevant=joined.n_without_relevant,
            convention=replace(convention, order=order),
            has_gaps=joined.has_gaps,
            graded="relevance" in self.truth.columns,
            notes=self.notes,
        )

    def _joined(
        self, recs: pl.DataFrame, truth: pl.DataFrame, convention: Convention
    ) -> tuple[Joined, pl.DataFrame, Ids]:
        """Join; what the truth repeats is merged first, where the convention merges it."""
        positions = needs_positions(convention)
        ids = self.ids(positions=positions)
        while True:
            try:
                return join(recs, truth, ids, convention), truth, ids
            except JoinError as problem:
                if problem.why == "ranks":
                    refuse_repeated_pairs(recs, self.labels, merge=False)
                    validation.no_rank_twice(recs, "recommendations", self.labels)
                elif problem.why == "hashes":
                    positions = True
                elif convention.duplicates == "error":
                    refuse_repeated_pairs(recs, self.labels)
                    once(truth, self.truth_labels, convention)
                else:
                    truth = once(truth, self.truth_labels, convention)
            ids = number_ids(recs, truth, self.items if positions else None)

    def _of_judged(self, convention: Convention) -> Prepared:
        """The data of lists from which items that are not judged are left out, and ranks counted anew."""
        whole, judged = self.under(replace(convention, judged_only=False)), self.truth
        if convention.negative_relevance == "zero":  # trec_eval's grade of what is in the pool and not judged
            kept = graded(judged, self.truth_labels, replace(convention, negative_relevance="keep"))["relevance"] >= 0
            judged = judged.filter(kept)
        ranked = whole.rows.all().join(judged, on=["user", "item"], how="semi", maintain_order="left")
        ranked = ranked.with_columns(rank=pl.col("rank").rank("dense").over("user").cast(pl.Int64))
        shared = ranked.select(repeats=pl.struct("user", "rank").is_duplicated().any()).item()
        if shared or whole.all_hits.tied is not None:
            problem = " gives equal scores no ranks of their own, from which items could be left out: choose "
            raise OptionError(f"ties={quoted(convention.ties)}", problem, "ties='first'.")
        order: Order = "rank"
        listed = replace(convention, judged_only=False, order=order, ties="first", score_dtype="float64")
        labels, truth = {**self.labels, "rank": "rank"}, self.truth
        if convention.averaged_users in ("both", "recs"):  # a user none of whose items is judged still has a list
            truth = truth.join(self.recs, on="user", how="semi", maintain_order="left")
            listed = replace(listed, averaged_users="truth" if convention.averaged_users == "both" else "union")
        some = replace(
            self, rows=InMemoryRows(LazyRows.of(ranked)), truth_rows=LazyRows.of(truth), labels=labels, part=True,
            whole=self.whole or self, _known={},
        )  # fmt: skip
        in_force = convention.ordered_by(whole.convention.order)
        return replace(
            some.under(listed), judged_rows=whole.judged_rows, convention=in_force, source=None, notes=self.notes
        )


def _ranked(recs: pl.DataFrame, rank: Ints, rows: Ints | None, convention: Convention) -> pl.DataFrame:
    """Return user, item, rank, and score where there is one, in the order of the rows as they came.

    `rank` is by place in the lists; `rows` has the row at each place, None where places are rows.
    """
    table = recs
    if len(rank) == recs.height:
        by_row = rank
        if rows is not None:
            by_row = np.empty_like(rank)
            by_row[rows] = rank
        table = with_series(recs, pl.Series("rank", by_row, dtype=pl.Int64))
    if convention.score_dtype == "float32" and convention.order == "score":
        table = with_series(table, pl.Series("score", scores_of(recs, convention)))
    table = table[["user", "item", "rank", *(["score"] if "score" in table.columns else [])]]
    return table if rank.all() else table.filter(pl.col("rank") > 0)


def ranked(recs: pl.DataFrame, convention: Convention, labels: Mapping[str, str]) -> pl.DataFrame:
    """Return lists as user, item, rank, and score where there is one; repeated pairs are kept or merged by the convention."""
    nothing = LazyRows.of(recs.select("user", "item").clear())
    return Source(InMemoryRows(LazyRows.of(recs)), nothing, labels, {}, part=True).under(convention).recs


def one_model(models: pl.Series, column: str, library: str = "", *, both_sides: bool = False) -> None:
    """Refuse the lists of several models; `both_sides`: in a frame that holds the truth as well."""
    if len(models) > 1:
        which, frame = ("the frame holds", "frame") if both_sides else ("recommendations hold", "recs")
        given = frame if both_sides else "recs, truth"
        raise FrameError(
            f"{which} the lists of {len(models)} models in column {column!r}, such as {models[0]!r}: compare them, "
            f"recnb.compare({given}), or evaluate one alone",
            Roles({}, library).code(
                f"{frame}[{frame}[{column!r}] == {models[0]!r}]",
                f"{frame}.filter(pl.col({column!r}) == {models[0]!r})",
                ", ",
            ),
            ".",
        )


def named_columns_exist(columns: Mapping[str, str | None], recs: Frame, truth: Frame) -> None:
    """Raise an error if a column named by keyword is not in the frame in which its role is read."""
    of_recs, of_truth = columns_of(recs, "recommendations"), columns_of(truth, "truth")
    holders = {
        "rank": (("recommendations", " have no"), of_recs),
        "score": (("recommendations", " have no"), of_recs),
        "relevance": (("truth", " has no"), of_truth),
    }
    for role, column in columns.items():
        if column is None:
            continue
        if role in ("recommended", "relevant"):
            name = "recommendations" if role == "recommended" else "truth"
            alone = f" One frame with both sides goes alone: type frame.rec.evaluation({role}={column!r})."
            no_lists = (" names a column of lists, and ", name, " has no such column, one list a user.")
            raise ColumnError(f"{role}={quoted(column)}", *no_lists, alone)
        said, present = holders.get(role, (("neither frame has the",), [*of_recs, *of_truth]))
        if column not in present:
            listed = ", ".join(map(repr, sorted(set(map(str, present)))))
            named = (*said, f" column {column!r} that ", f"{role}={quoted(column)}", " names.")
            raise ColumnError(*named, fix=f"Columns: {listed}.")


__all__ = ["Counts", "Prepared", "Source", "named_columns_exist", "one_model"]
