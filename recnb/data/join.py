"""Two frames, checked and joined: what an evaluation keeps of them, and the hits down to any depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.columns import Frame, columns_of
from recnb.data.encoding import by_user, distinct, positions
from recnb.data.general_join import general_hits, is_general
from recnb.data.population import list_lengths, no_users, population, users_meet
from recnb.data.ranking import by_rank, order_by, ranked
from recnb.data.relevance import LazyRows, graded, once, relevant_rows, top_of
from recnb.data.runs import Runs, runs_of
from recnb.data.sorted_join import Joined, Pairs, joined
from recnb.display.language import Sentence
from recnb.errors import Argument, ColumnError, ElsewhereError, FrameError, FrameName
from recnb.metrics.hits import Hits, Ints, in_order


class Counts:
    """Sizes of the data behind the numbers, and of what was left out."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    @property
    def n_users(self) -> int:
        """Users evaluated."""
        return len(self._prepared.users)

    @cached_property
    def n_without_list(self) -> int:
        """Of these, users with no recommendations."""
        return int((self._prepared.list_length == 0).sum())

    @cached_property
    def n_without_relevant(self) -> int:
        """Users of either frame who have no relevant item."""
        prepared, convention = self._prepared, self._prepared.convention
        everyone_evaluated = convention.users in ("truth", "union") and convention.no_relevant == "skip"
        if everyone_evaluated and len(prepared.truth_user) == prepared.judged.height:
            # Every user of the truth is evaluated, so only lists of others are left: nothing to count again.
            return prepared.n_strangers
        anyone = distinct(pl.concat([prepared.recs["user"], prepared.judged["user"]]))
        return len(anyone) - len(distinct(prepared.relevant["user"]))

    @property
    def n_recommended(self) -> int:
        """Rows of recommendations."""
        return self._prepared.recs.height

    @property
    def n_relevant(self) -> int:
        """Pairs of an evaluated user and a relevant item."""
        return len(self._prepared.truth_user)

    @cached_property
    def n_items_recommended(self) -> int:
        """Distinct items in the lists."""
        return self._prepared.recs["item"].n_unique()

    @cached_property
    def n_items_relevant(self) -> int:
        """Distinct relevant items."""
        return self._prepared.truth["item"].n_unique()

    @cached_property
    def n_not_relevant(self) -> int:
        """Rows of the truth that are not relevant."""
        return self._prepared.judged.height - self._prepared.relevant.height

    @cached_property
    def n_gaps(self) -> int:
        """Number of users whose ranks have gaps."""
        if not self._prepared.has_gaps:
            return 0
        lengths = self._prepared.recs.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
        return int((lengths["length"] != lengths["n"]).sum())


@dataclass(frozen=True)
class RowCounts:
    """Counts of rows that are not kept."""

    n_recommended: int
    n_without_relevant: int
    n_not_relevant: int
    n_gaps: int
    items: pl.Series  #: of the lists, each once
    of_more: bool = False  #: whether rows, gaps and items are those of more users than are evaluated

    @classmethod
    def of(cls, counts: Counts, recs: pl.DataFrame) -> RowCounts:
        """The counts of rows that are at hand."""
        return cls(
            counts.n_recommended,
            counts.n_without_relevant,
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
            sum(part.n_without_relevant for part in parts),
            sum(part.n_not_relevant for part in parts),
            sum(part.n_gaps for part in parts),
            distinct(pl.concat(items)),
        )


class StoredCounts(Counts):
    """The counts of data whose rows are not in memory."""

    def __init__(self, prepared: Prepared, row_counts: RowCounts) -> None:
        super().__init__(prepared)
        self._row_counts = row_counts

    @property
    def n_recommended(self) -> int:
        """Rows of recommendations."""
        return self._known(self._row_counts.n_recommended)

    @cached_property
    def n_without_relevant(self) -> int:
        """Users of either frame who have no relevant item."""
        return self._row_counts.n_without_relevant

    @cached_property
    def n_items_recommended(self) -> int:
        """Distinct items in the lists."""
        return self._known(len(self._row_counts.items))

    @cached_property
    def n_not_relevant(self) -> int:
        """Rows of the truth that are not relevant."""
        return self._row_counts.n_not_relevant

    @cached_property
    def n_gaps(self) -> int:
        """Number of users whose ranks have gaps."""
        return self._known(self._row_counts.n_gaps)

    def _known(self, count: int) -> int:
        """A count of rows; an error if it covers more users than these and the rows are not in memory."""
        if self._row_counts.of_more and count:
            self._prepared.rows.all()
        return count


@dataclass(frozen=True, eq=False)
class InMemoryRows:
    """Rows in memory."""

    frame: pl.DataFrame

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

    def all(self) -> pl.DataFrame:
        """Raise an error: the rows are not in memory."""
        raise ElsewhereError(
            f"this looks at every row of the lists, and they stay in {self.where}: only hits and counts were fetched. "
            f"If they fit into memory: {self.remedy}."
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
        return self.away.fetch(users, self.convention)


@dataclass(eq=False)
class HitCache:
    """The hits that are kept: the last cut, and what it was cut from. They are replaced as one, so that threads need no lock."""

    hits: tuple[Hits, ...] = ()


@dataclass(eq=False)
class Prepared:
    """Checked frames with users as numbers, from which hits are computed down to any rank."""

    rows: InMemoryRows | RemoteRanking  #: user, item, rank, and score where lists have one
    judged: pl.DataFrame  #: all rows of the truth: user, item, relevance
    truth_rows: LazyRows  #: the relevant rows of the users evaluated, by user where the short way made them
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
    row_counts: RowCounts | None = None  #: what was counted of rows that are not here
    cache: HitCache = field(default_factory=HitCache)

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self.truth_rows.frame

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the lists; an error if they are not in memory."""
        return self.rows.all()

    @cached_property
    def counts(self) -> Counts:
        """Sizes of the data behind the numbers, and of what was left out."""
        return Counts(self) if self.row_counts is None else StoredCounts(self, self.row_counts)

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
        kept = self.cache.hits
        known = next((hits for hits in kept if hits.depth == depth), None)
        if known is None:
            deeper = next(
                (hits for hits in kept if hits.depth is None or (depth is not None and hits.depth > depth)), None
            )
            if deeper is None or depth is None:
                known = self._join(depth)
                self.cache.hits = (known,)
            else:
                known = deeper.down_to(depth)
                self.cache.hits = (deeper, known)
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
        relevance = self.truth_rows.relevance
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
    """Both frames after reading: columns by role, ids of one type; not yet under a convention."""

    rows: InMemoryRows | RemoteRows  #: user, item, and rank or score or both
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
        """All rows of the recommendations; an error if they are not in memory."""
        return self.rows.all()

    def sample(self, role: str) -> pl.Series:
        """Ids of a role, to compare their kind with others."""
        return self.recs[role] if isinstance(self.rows, InMemoryRows) else self.truth[role]

    @cached_property
    def runs(self) -> Runs | None:
        """First row of each list, if the rows of each user are adjacent."""
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
        """A library's convention for these frames, with the order column that they have."""
        other = {"score": "rank", "rank": "score"}
        if convention.order in other and convention.order not in self.rows.columns:
            return replace(convention, order=other[convention.order])  # type: ignore[arg-type]
        return convention

    def _prepared(self, convention: Convention) -> Prepared:
        if isinstance(self.rows, RemoteRows):
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
        """Return what ordered the lists; ranks counted along lists in cells are the order of rows."""
        return "row" if self.labels.get("rank") == self.labels["item"] else by


def _general(source: Source, judged: pl.DataFrame, top: float, convention: Convention) -> Prepared:
    """The long way: any ties, padding, repeated rows."""
    recs, labels, part = source.recs, source.labels, source.part
    by = order_by(recs, convention, labels)
    if convention.duplicates == "error":
        remedy = ("Say ", Argument("duplicates", "dedupe"), " to keep the one ranked highest.")
        validation.no_pair_twice(recs, "recommendations", remedy)
    if by == "rank":
        recs = by_rank(recs, convention, labels)
    elif by == "score":
        recs = recs.with_columns(score=validation.scores(recs, "recommendations", labels["score"]))
    if not part:
        users_meet(recs["user"], judged["user"])
    convention = convention.ordered_by(by)
    joined = general_hits(recs, judged, source.items, convention)
    if len(joined.users) == 0 and not part:
        raise no_users(judged["relevance"].max(), convention)
    strangers = int((positions(joined.users, distinct(recs["user"])) < 0).sum())
    hits = replace(joined.hits, max_relevance=top)
    return Prepared(
        InMemoryRows(joined.recs),
        judged,
        LazyRows(joined.truth, None),
        joined.users,
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
    """Raise an error if a column named by keyword is not in the frame in which its role is read."""
    of_recs, of_truth = columns_of(recs, "recommendations"), columns_of(truth, "truth")
    holders = {
        "rank": ((FrameName("recommendations"), " have no"), of_recs),
        "score": ((FrameName("recommendations"), " have no"), of_recs),
        "relevance": ((FrameName("truth"), " has no"), of_truth),
    }
    for role, column in columns.items():
        if column is None:
            continue
        if role in ("recommended", "relevant"):
            raise ColumnError(
                f"{role}={column!r} names a column of lists, which a frame with one row a user has: type frame.rec.evaluation({role}={column!r}). "
                f"Two frames hold one item a row: frame.explode({column!r})."
            )
        said, present = holders.get(role, (("neither frame has the",), [*of_recs, *of_truth]))
        if column not in present:
            listed = ", ".join(map(repr, sorted(set(map(str, present)))))
            named = (*said, f" column {column!r} that ", Argument(role, column), " names.")
            raise ColumnError(*named, fix=f"Columns: {listed}.")


def _quick(joined: Joined, judged: pl.DataFrame, top: float, convention: Convention) -> Prepared:
    return Prepared(
        InMemoryRows(joined.recs), judged, joined.truth_rows, joined.users, joined.truth_user, joined.list_length, joined.has_gaps,
        joined.n_strangers, convention, top, pairs=joined.pairs,
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
        InMemoryRows(recs),
        judged,
        LazyRows(relevant, order, relevance),
        users,
        truth_user,
        list_length,
        has_gaps,
        n_strangers,
        convention,
        top,
    )


__all__ = ["Counts", "Prepared", "Source", "named_columns_exist", "one_model"]
