"""Two frames, checked and joined: what an evaluation keeps of them, and the hits down to any depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.errors import ColumnError, FrameError
from recnb.frames import check
from recnb.frames.order import ranked
from recnb.frames.read import Frame, columns_of, find, table_of
from recnb.frames.single import split
from recnb.hits import Hits, Ints


@dataclass(frozen=True)
class Counts:
    """How much data is behind the numbers, and what of it was left out."""

    n_users: int  #: evaluated
    n_without_list: int  #: of these, with relevant items but no recommendations
    n_without_relevant: int  #: users of either frame with no relevant item
    n_recommended: int  #: rows of recommendations
    n_relevant: int  #: pairs of user and relevant item
    n_items_recommended: int  #: distinct items in the lists
    n_items_relevant: int  #: distinct relevant items
    n_below_threshold: int  #: rows of truth that are not relevant
    n_gaps: int  #: users whose ranks leave places empty


@dataclass(eq=False)
class Prepared:
    """Checked frames, coded by user, from which hits are cut at the depth that is asked for."""

    recs: pl.DataFrame  #: user, item, rank
    truth: pl.DataFrame  #: the relevant rows: user, item, relevance
    users: pl.Series  #: the users evaluated, sorted
    truth_user: Ints  #: position in users, per row of truth
    list_length: Ints  #: per user, the last rank
    counts: Counts
    convention: Convention
    graded: bool = True  #: whether the truth says how relevant an item is
    notes: tuple[str, ...] = ()
    _hits: dict[int | None, Hits] = field(default_factory=dict)

    def hits(self, depth: int | None) -> Hits:
        """The hits among the first `depth` ranks (None: all), joined once and kept."""
        for known, hits in self._hits.items():
            if known is None or (depth is not None and known >= depth):
                return hits
        self._hits.clear()
        self._hits[depth] = self._join(depth)
        return self._hits[depth]

    def _join(self, depth: int | None) -> Hits:
        recs = self.recs.lazy()
        if depth is not None:
            recs = recs.filter(pl.col("rank") <= depth)
        # Only pairs that hit need codes, and the truth has them: the row of the truth is all that the join brings back.
        truth = self.truth.lazy().select("user", "item", row=pl.int_range(pl.len()))
        found = recs.join(truth, on=["user", "item"]).select("rank", "row").collect()
        rank, row = found["rank"].to_numpy(), found["row"].to_numpy()
        user = self.truth_user[row]
        order = np.argsort(user * (int(rank.max(initial=0)) + 1) + rank, kind="stable")
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
    notes: tuple[str, ...] = ()
    if truth is None:
        recs_table, truth_table, labels, notes = split(recs, columns)
    else:
        roles = find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"])
        truth_roles = find(truth, "truth", ["user", "item"], columns, ["relevance"])
        _named_columns_exist(columns, [recs, truth])
        recs_table = check.ids(table_of(recs, "recommendations", roles), "recommendations", roles)
        truth_table = check.ids(table_of(truth, "truth", truth_roles), "truth", truth_roles)
        labels = {**truth_roles, **roles}
    check.same_kind(recs_table, truth_table, labels)
    graded = "relevance" in truth_table.columns
    truth_table = _relevance(truth_table, labels, convention)
    recs_table, by = ranked(recs_table, convention, labels)
    prepared = _code(recs_table, truth_table, convention.ordered_by(by))
    return replace(prepared, graded=graded, notes=notes)


def _named_columns_exist(columns: Mapping[str, str | None], frames: list[Frame]) -> None:
    present = {column for frame in frames for column in columns_of(frame, "the frame")}
    for role, column in columns.items():
        if column is not None and column not in present:
            listed = ", ".join(map(repr, sorted(map(str, present))))
            raise ColumnError(f"neither frame has the column {column!r} that {role}={column!r} names. Columns: {listed}.")


def _relevance(truth: pl.DataFrame, labels: Mapping[str, str], convention: Convention) -> pl.DataFrame:
    """The truth with a relevance for each pair, 1 where no column says."""
    if "relevance" in truth.columns:
        truth = truth.with_columns(relevance=check.relevance(truth, "truth", labels["relevance"]))
    else:
        truth = truth.with_columns(relevance=pl.lit(1.0))
    if convention.duplicates == "error":
        pair = f"[{labels.get('user', 'user')!r}, {labels.get('item', 'item')!r}]"
        check.no_pair_twice(
            truth, "truth", f"Keep one: frame.drop_duplicates({pair}), or duplicates='dedupe' to keep the highest relevance."
        )
    else:
        truth = truth.group_by("user", "item", maintain_order=True).agg(pl.col("relevance").max())
    return truth


def _code(recs: pl.DataFrame, truth: pl.DataFrame, convention: Convention) -> Prepared:
    if convention.candidates == "padded":
        recs = _padded(recs, truth)
    threshold = convention.relevant_from
    is_relevant = pl.col("relevance") > 0 if threshold is None else pl.col("relevance") >= threshold
    relevant = truth.filter(is_relevant)
    if convention.judged == "list":
        relevant = relevant.join(recs, on=["user", "item"], how="semi", maintain_order="left")
    lengths = recs.group_by("user").agg(length=pl.col("rank").max(), n=pl.len())
    with_list, with_truth = lengths["user"], truth["user"].unique()
    with_relevant = relevant["user"].unique()
    _users_meet(with_list, with_truth)

    population = _population(with_list, with_truth, with_relevant, convention)
    users = population.sort()
    relevant_codes = positions(users, relevant["user"])
    if (relevant_codes < 0).any():
        relevant = relevant.filter(pl.Series(relevant_codes >= 0))
        relevant_codes = relevant_codes[relevant_codes >= 0]
    if len(users) == 0 or (len(relevant_codes) == 0 and convention.no_relevant == "skip"):
        top = truth["relevance"].max()
        raise FrameError(
            "no user that counts has a relevant item: relevance must be "
            f"{'above 0' if threshold is None else f'{threshold:g} or more'} and the highest in the truth is {top}; "
            f"users={convention.users!r}. Check relevant_from= and users=."
        )
    list_codes = positions(users, with_list)
    list_length = np.zeros(len(users), dtype=np.int64)
    list_length[list_codes[list_codes >= 0]] = lengths["length"].to_numpy()[list_codes >= 0]
    anyone = pl.concat([with_list, with_truth]).n_unique()
    counts = Counts(
        n_users=len(users),
        n_without_list=int((list_length == 0).sum()),
        n_without_relevant=anyone - len(with_relevant),
        n_recommended=recs.height,
        n_relevant=len(relevant_codes),
        n_items_recommended=recs["item"].n_unique(),
        n_items_relevant=relevant["item"].n_unique(),
        n_below_threshold=truth.height - relevant.height,
        n_gaps=int((lengths["length"] != lengths["n"]).sum()),
    )
    return Prepared(recs, relevant, users, relevant_codes, list_length, counts, convention)


def _population(with_list: pl.Series, with_truth: pl.Series, with_relevant: pl.Series, convention: Convention) -> pl.Series:
    """Whose values are averaged."""
    if convention.users == "truth":
        users = with_truth
    elif convention.users == "recs":
        users = with_list
    elif convention.users == "both":
        users = with_list.filter(with_list.is_in(with_truth.implode()))
    else:
        users = pl.concat([with_list, with_truth]).unique()
    if convention.no_relevant == "skip":
        if convention.users in ("truth", "union"):
            return with_relevant
        return users.filter(users.is_in(with_relevant.implode()))
    if convention.no_relevant == "error":
        without = users.filter(~users.is_in(with_relevant.implode()))
        if len(without):
            raise FrameError(
                f"{len(without):,} users have no relevant item, such as {without.sort()[0]!r}, and no_relevant='error' refuses them: "
                "say no_relevant='skip' to leave them out or 'zero' to count 0."
            )
    return users


def _users_meet(with_list: pl.Series, with_truth: pl.Series) -> None:
    if not with_list.is_in(with_truth.implode()).any():
        raise FrameError(
            f"no user is in both frames: recommendations hold users such as {with_list.sort()[0]!r}, truth holds users such as "
            f"{with_truth.sort()[0]!r}. Check that both frames use the same ids, and the user= column."
        )


def _padded(recs: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """Put judged items that were not recommended below each list, in the order of the truth."""
    missed = truth.join(recs, on=["user", "item"], how="anti", maintain_order="left").select("user", "item")
    below = missed.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    ends = recs.group_by("user").agg(end=pl.col("rank").max())
    below = below.join(ends, on="user", how="left", maintain_order="left")
    return pl.concat([recs, below.select("user", "item", rank=pl.col("rank") + pl.col("end").fill_null(0))])


def positions(users: pl.Series, values: pl.Series) -> Ints:
    """Where each value stands among the sorted users; -1 for one that is not there."""
    if users.dtype == pl.Int64 and len(users):
        low, high = int(users[0]), int(users[-1])
        # Ids that lie close together are looked up in an array; others are joined.
        if high - low < 4 * (len(users) + len(values)) + 1024:
            lookup = np.full(high - low + 3, -1)
            lookup[users.to_numpy() - low + 1] = np.arange(len(users))
            return lookup[np.clip(values.to_numpy() - low + 1, 0, high - low + 2)]
    coded = users.alias("user").to_frame().with_row_index("position")
    joined = values.alias("user").to_frame().join(coded, on="user", how="left", maintain_order="left")
    return joined["position"].cast(pl.Int64).fill_null(-1).to_numpy()


__all__ = ["Counts", "Prepared", "positions", "prepare"]
