"""The data that checks read: sorted lists, hits, and the metric on data that are changed in one respect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.conventions.convention import ROW_ORDERS
from recnb.data import Prepared, Source
from recnb.data.encoding import distinct, positions
from recnb.data.relevance import LazyRows, top_of
from recnb.data.side_data import SideData
from recnb.data.source import InMemoryRows
from recnb.data.validation import in_floats, repeated
from recnb.errors import FrameError, RecnbError
from recnb.lint.findings import Quoted
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints, in_order
from recnb.results.aggregation import Scoring, averaged, cutoffs_under

Mask = NDArray[np.bool_]
#: "relevant": the relevant pairs of users evaluated; "all": lists, truth and train.
Frames = Literal["lists", "truth", "relevant", "train", "all"]


@dataclass(frozen=True, eq=False)
class ListRows:
    """The lists of the users evaluated, by user, then rank."""

    user: Ints
    rank: Ints
    score: Floats | None
    row: Ints  #: which row of the prepared recommendations each is

    @cached_property
    def stride(self) -> int:
        """The difference between the keys of one user and the next."""
        return int(self.rank.max(initial=0)) + 1

    @cached_property
    def key(self) -> Ints:
        """One number for each place, rising."""
        return self.user * self.stride + self.rank

    @cached_property
    def same_user(self) -> Mask:
        """Whether a row and the one before are of one user; one shorter than the rows."""
        return np.asarray(self.user[1:] == self.user[:-1])

    def places(self, hits: Hits) -> Ints:
        """The row of each hit; -1 for a hit below the lists."""
        if len(self.key) == 0:
            return np.full(len(hits.user), -1)
        wanted = hits.user * self.stride + hits.rank
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where((self.key[at] == wanted) & (hits.rank < self.stride), at, -1)


class LintData:
    """One metric at one cut-off on the data of an evaluation; each part is computed when it is first used.

    `values` are the metric's values per user, if they were computed before.
    """

    def __init__(
        self, scoring: Scoring, side_data: SideData, k: int | None, library: str | None = None, values: Floats | None = None
    ) -> None:  # fmt: skip
        self.library = library  #: whose conventions are followed; None: recnb's own
        self.scoring = scoring
        self.side_data = side_data
        self.options = {**scoring.metric.defaults, **scoring.options}
        self.cutoffs = Cutoffs.one(k)
        self.prepared: Prepared = scoring.prepared
        source = self.prepared.source
        assert source is not None
        self.source: Source = source
        self.convention: Convention = self.prepared.convention
        #: The cut-off; None where whole lists count, and k is only what some denominators say.
        self.k = None if self.convention.cutoff == "none" else k
        self.label = scoring.metric.label(k)
        self.n_users = len(self.prepared.users)
        self.list_length: Ints = self.prepared.list_length  #: per user, the last rank
        self._ids: dict[tuple[Frames, str], pl.Series] = {}
        if values is not None:
            self._measured = values, float(values.mean())

    # ---- the metric -------------------------------------------------------------------------------------------

    @cached_property
    def hits(self) -> Hits:
        """The hits of whole lists."""
        return self.prepared.hits(None)

    def measured(self, hits: Hits, convention: Convention | None = None) -> tuple[Floats, float]:
        """The metric of these hits: users' values, and the mean."""
        scoring, convention = self.scoring, convention or self.convention
        credit = scoring.metric.at(hits, cutoffs_under(convention, self.cutoffs), scoring.options)
        try:
            average = averaged(credit, convention, scoring.metric)
        except FrameError:  # the convention refuses some users; a check names them
            return np.full(self.n_users, np.nan), np.nan
        return average.values[:, 0], float(average.means[0])

    @cached_property
    def _measured(self) -> tuple[Floats, float]:
        return self.measured(self.hits)

    @property
    def value(self) -> float:
        """The metric's mean."""
        return self._measured[1]

    @property
    def values(self) -> Floats:
        """The metric of each user."""
        return self._measured[0]

    def mean_of(self, users: Mask) -> float:
        """The mean over some of the users; NaN if there is none."""
        values = self.values[users]
        return np.nan if np.isnan(values).all() else float(np.nanmean(values))

    def again(self, truth: pl.DataFrame | None = None, **changes: Any) -> float:
        """The metric's mean with another truth, or under a changed convention; NaN if there is none."""
        if truth is not None:
            self.source.rows.all()  # raises an error if they are not in memory
        source = self.source
        if truth is not None:
            labels = {"relevance": "relevance", **source.truth_labels}
            source = replace(source, truth_rows=LazyRows.of(truth), truth_labels=labels, _known={})
        try:
            prepared = source.under(replace(self.convention, **changes))
            return self.measured(prepared.hits(None), prepared.convention)[1]
        except RecnbError:
            return np.nan

    def without_relevant(self, pairs: pl.DataFrame) -> float:
        """The metric's mean without some pairs of the truth; NaN if there is none, or if it needs lists that are not in memory."""
        if isinstance(self.source.rows, InMemoryRows):
            return self.again(self.source.truth.join(pairs, on=["user", "item"], how="anti", maintain_order="left"))
        c = self.convention
        by_hits_alone = (
            c.ties in ROW_ORDERS and c.candidates == "list" and c.judged == "truth" and c.duplicates != "rows"
        )
        if not by_hits_alone or c.relevant != ">0" or c.no_relevant != "skip":
            return np.nan
        marked = self.prepared.truth.join(
            pairs.unique().with_columns(out=True), on=["user", "item"], how="left", maintain_order="left"
        )
        kept = marked["out"].is_null().to_numpy()
        row, hits = np.cumsum(kept) - 1, self.hits
        still, grades = kept[hits.truth_row], hits.truth_relevance[kept]
        fewer = replace(
            hits, user=hits.user[still], rank=hits.rank[still], relevance=hits.relevance[still], truth_row=row[hits.truth_row[still]],
            truth_user=hits.truth_user[kept], truth_relevance=grades, max_relevance=top_of(self.prepared.judged.join(pairs, on=["user", "item"], how="anti")),
        )  # fmt: skip
        # Users without a relevant item are no longer averaged.
        return self.measured(fewer.among(fewer.n_relevant > 0))[1]

    def without_rows(self, out: Mask) -> float:
        """The metric's mean without some rows of the lists; the rows below move up."""
        rows, hits = self.rows, self.hits
        n_out = np.r_[0, np.cumsum(out)]
        starts, ends = (np.searchsorted(rows.user, np.arange(self.n_users), side) for side in ("left", "right"))
        at = rows.places(hits)
        above = n_out[np.where(at >= 0, at, ends[hits.user])] - n_out[starts[hits.user]]
        kept = ~np.r_[out, False][at]  # a hit below the lists, at -1, is kept
        return self.measured(
            replace(
                hits, user=hits.user[kept], rank=(hits.rank - above)[kept], relevance=hits.relevance[kept],
                truth_row=hits.truth_row[kept], list_length=hits.list_length - (n_out[ends] - n_out[starts]),
                tied=None if hits.tied is None else hits.tied.of(kept),
            )
        )[1]  # fmt: skip

    # ---- the lists --------------------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> ListRows:
        """The lists of the users evaluated, sorted."""
        recs = self.prepared.recs
        users = positions(self.prepared.users, recs["user"])
        row = np.flatnonzero(users >= 0)
        user, rank = users[row], recs["rank"].to_numpy()[row]
        key = user * (int(rank.max(initial=0)) + 1) + rank
        if not (key[1:] > key[:-1]).all():
            order = in_order(key)
            user, rank, row = user[order], rank[order], row[order]
        score = None
        if "score" in recs.columns and (recs["score"].dtype.is_numeric() or recs["score"].dtype == pl.Boolean):
            score = in_floats(recs["score"])[row]
        return ListRows(user, rank, score, row)

    @cached_property
    def listed(self) -> Mask:
        """Whether each user has a list."""
        return np.asarray(self.list_length > 0)

    @cached_property
    def n_relevant(self) -> Ints:
        """Per user, how many items are relevant: under a convention by which every judged item is, those of relevance above 0."""
        hits = self.hits
        if not self.all_judged:
            return hits.n_relevant
        return np.bincount(hits.truth_user[hits.truth_relevance > 0], minlength=self.n_users)

    @property
    def all_judged(self) -> bool:
        """Whether every judged item is relevant to a metric of graded gain, to which one of relevance 0 adds nothing."""
        return self.convention.relevant == "any" and self.options.get("gain", "binary") != "binary"

    def relevant_of(self, judged: pl.DataFrame) -> pl.DataFrame:
        """The same rows, without those of relevance 0 that only a convention counts."""
        return judged.filter(pl.col("relevance") > 0) if self.all_judged else judged

    @cached_property
    def depth(self) -> Ints:
        """Per user, the rank down to which the list counts."""
        return self.list_length if self.k is None else np.full(self.n_users, self.k)

    @cached_property
    def in_reach(self) -> Mask:
        """Whether each row is at or above the cut-off."""
        return np.asarray(self.rows.rank <= self.depth[self.rows.user])

    # ---- ids --------------------------------------------------------------------------------------------------

    def ids_in(self, frame: Frames, role: str) -> pl.Series:
        """The users or items of a frame, each once."""
        if (frame, role) not in self._ids:
            self._ids[frame, role] = self._distinct(frame, role)
        return self._ids[frame, role]

    def _distinct(self, frame: Frames, role: str) -> pl.Series:
        train, row_counts = self.side_data.train, self.prepared.row_counts
        if frame == "all":
            frames: tuple[Frames, ...] = ("lists", "truth") if train is None else ("lists", "truth", "train")
            return distinct(pl.concat([self.ids_in(part, role).alias(role) for part in frames]))
        if frame == "lists" and role == "item" and row_counts is not None and not row_counts.of_more:
            return row_counts.items  # counted where the rows are
        if frame == "lists":
            return distinct(self.prepared.recs[role])
        if frame == "train":
            assert train is not None
            return distinct(train[role])
        return distinct((self.prepared.judged if frame == "truth" else self.relevant_of(self.prepared.truth))[role])

    def user(self, position: int) -> Quoted:
        """A user evaluated, by position."""
        return Quoted(self.prepared.users[int(position)])

    def place(self, at: int) -> dict[str, Any]:
        """User, item and rank of one of the sorted rows, for an example."""
        rows = self.rows
        item = self.prepared.recs["item"][int(rows.row[at])]
        return {"user": self.user(int(rows.user[at])), "item": Quoted(item), "rank": int(rows.rank[at])}

    def label_of(self, role: str, frame: str = "recs") -> str:
        """The caller's name of the column that plays a role."""
        labels = self.source.labels if frame == "recs" else self.source.truth_labels
        return labels.get(role, role)

    def code(self, *, pandas: str, polars: str) -> str:
        """The line of code for the kind of frames that the caller has."""
        return polars if isinstance(self.side_data.truth, (pl.DataFrame, pl.LazyFrame)) else pandas


def is_in(values: pl.Series, others: pl.Series) -> pl.Series:
    """Whether each value is among the others."""
    return values.is_in(others.implode())


def outside(values: pl.Series, others: pl.Series) -> pl.Series:
    """The values that are not among the others."""
    return values.filter(~is_in(values, others))


def pair_at(frame: pl.DataFrame, row: int) -> dict[str, Any]:
    """User and item of a row, for an example."""
    return {role: Quoted(frame[role][row]) for role in ("user", "item")}


def repeats_in(frame: pl.DataFrame) -> dict[str, Any]:
    """Facts about the repeated pairs of a frame, and the first of them; empty if there are none."""
    pairs = repeated(frame, ["user", "item"])
    if pairs.height == 0:
        return {}
    user, item, times = pairs.row(0)
    return {
        "n": pairs.height,
        "extra": int(pairs["len"].sum()) - pairs.height,
        "exact": repeated(frame, frame.columns).height,
        "user": Quoted(user),
        "item": Quoted(item),
        "times": times,
    }
