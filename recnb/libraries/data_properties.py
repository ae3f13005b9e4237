"""Properties of the frames that decide which axes of a convention matter: equal scores, repeated pairs, missing lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.data import Source
from recnb.data.encoding import distinct, positions
from recnb.data.validation import in_floats
from recnb.metrics.hits import count_within, in_order


@dataclass(frozen=True, eq=False)
class DataProperties:
    """Properties of the frames, whatever the convention."""

    orders: tuple[Order, ...]  #: the columns that lists can be ordered by; "row": their order in the frame
    same_order: frozenset[str]  #: the orders that give the same lists, without ties
    tied: dict[str, bool]  #: per order, whether a list has equal values; "float32" for scores in single precision
    gaps: bool  #: whether ranks of a list leave places empty
    nonpositive: bool  #: whether some score is 0 or less
    repeated: bool  #: whether a pair is recommended twice
    judged_twice: bool
    all_listed: bool  #: whether every judged item was recommended
    lowest: float  #: relevance
    lowest_positive: float
    users_without_truth: bool  #: whether some user with a list is not in the truth
    users_without_list: bool  #: whether some user of the truth has no list
    n_rows: int

    def with_available_order(self, convention: Convention) -> Convention:
        """The convention, ordered by a column that the frames have."""
        if convention.order in self.orders:
            return convention
        # A library would be given scores that fall with the ranks, or ranks that follow the scores.
        return replace(convention, order=self.orders[0])

    def plain(self, convention: Convention) -> Convention:
        """The plainest convention with the same result for these frames."""
        c = SimpleNamespace(**vars(self.with_available_order(convention)))
        c.metric = ()
        if c.order == "rank" and self.gaps:
            return Convention(**vars(c))  # some conventions keep the gaps, others close them
        # Items below a list have no positive score either.
        if c.order != "score" or not (self.nonpositive or (c.candidates == "padded" and not self.all_listed)):
            c.nonpositive_scores = "keep"
        if c.order != "score" or not self.tied["float32"]:
            c.score_dtype = "float64"
        tied = self.tied["float32" if c.order == "score" and c.score_dtype == "float32" else c.order]
        if not self.repeated and (c.duplicates != "error" or not self.judged_twice):
            c.duplicates = "keep" if self.judged_twice else "error"
        if self.all_listed:
            c.judged = "truth"
            c.candidates = "list" if c.candidates == "padded" else c.candidates
        if not tied and c.candidates == "list":
            c.ties = "first"
        if c.order in self.same_order and c.nonpositive_scores == "keep" and not tied:
            c.order = next(order for order in self.orders if order in self.same_order)
            c.score_dtype = "float64"
        lowest = self._lowest(c)
        if self.lowest >= 0:
            c.negative_relevance = "error"
        if c.relevant_from is not None or lowest > 0 or (c.relevant == "!=0" and lowest >= 0):
            c.relevant = ">0"
        if c.relevant_from is not None and c.relevant_from <= self.lowest_positive:
            c.relevant_from = None
        if c.candidates != "padded" or c.users not in ("recs", "both"):
            # Users without truth change nothing if there are none, or if they are left out.
            of_truth = not self.users_without_truth or c.no_relevant == "skip"
            with_list = not self.users_without_list
            if c.users in ("recs", "union") and of_truth:
                c.users = "both" if c.users == "recs" else "truth"
            if c.users in ("both", "recs") and with_list:
                c.users = "truth" if c.users == "both" else "union"
            if with_list and not self.users_without_truth:
                c.users = "truth"
        return Convention(**vars(c))

    def _lowest(self, c: Any) -> float:
        """The lowest relevance under a convention."""
        return max(self.lowest, 0.0) if c.negative_relevance == "zero" else self.lowest

    def all_users_have_relevant(self, c: Convention) -> bool:
        """Whether all users who count have a relevant item, under a convention in its plain form."""
        whole = c.relevant_from is None and c.relevant == ">0" and self._lowest(c) > 0
        return whole and c.judged == "truth" and c.users in ("truth", "both")


_PROPERTIES: WeakKeyDictionary[Source, DataProperties] = WeakKeyDictionary()


def properties_of(source: Source, like: Source | None = None) -> DataProperties:
    """The properties of frames, computed once; `like`: frames with the same properties."""
    if source not in _PROPERTIES:
        _PROPERTIES[source] = _computed(source) if like is None else properties_of(like)
    return _PROPERTIES[source]


def _computed(source: Source) -> DataProperties:
    recs, truth = source.recs, source.truth
    columns: tuple[Order, ...] = ("rank", "score")
    orders: tuple[Order, ...] = (*(column for column in columns if column in recs.columns), "row")
    tied, same_order, nonpositive, gaps = {"row": False, "float32": False}, {"row"}, False, False
    # One code per user, in the order of the rows: what follows compares neighbours within a user.
    code = positions(distinct(recs["user"]), recs["user"])
    by_user = in_order(code)
    user = code[by_user]
    if "rank" in orders:
        rank = recs["rank"].cast(pl.Float64).to_numpy()
        tied["rank"] = _equal_within(code, rank)
        down = np.lexsort((rank, code))
        gaps = not np.array_equal(rank[down], count_within(code[down]))
        if np.array_equal(rank[by_user], count_within(user)):
            same_order.add("rank")
    if "score" in orders:
        score = in_floats(recs["score"])
        tied["score"] = _equal_within(code, score)
        with np.errstate(over="ignore"):
            single = recs["score"].cast(pl.Float64).to_numpy().astype(np.float32).astype(np.float64)
        tied["float32"] = tied["score"] or _equal_within(code, single)
        nonpositive = not bool((single > 0).all())
        along = score[by_user]
        if (along[1:] < along[:-1])[user[1:] == user[:-1]].all():
            same_order.add("score")
    pairs, judged = recs.select("user", "item").unique(), truth.select("user", "item").unique()
    grades = truth["relevance"].cast(pl.Float64).drop_nulls().to_numpy() if "relevance" in truth.columns else np.ones(1)
    with_list, with_truth = pairs.select("user").unique(), judged.select("user").unique()
    return DataProperties(
        orders=orders,
        same_order=frozenset(same_order),
        tied=tied,
        gaps=gaps,
        nonpositive=nonpositive,
        repeated=pairs.height < recs.height,
        judged_twice=judged.height < truth.height,
        all_listed=judged.join(pairs, on=["user", "item"], how="anti").height == 0,
        lowest=float(grades.min()) if len(grades) else 0.0,
        lowest_positive=float(grades[grades > 0].min(initial=np.inf)),
        users_without_truth=with_list.join(with_truth, on="user", how="anti").height > 0,
        users_without_list=with_truth.join(with_list, on="user", how="anti").height > 0,
        n_rows=recs.height + truth.height,
    )


def _equal_within(user: np.ndarray[Any, Any], value: np.ndarray[Any, Any]) -> bool:
    """Whether some user has a value twice."""
    order = np.lexsort((value, user))
    u, v = user[order], value[order]
    return bool(((u[1:] == u[:-1]) & (v[1:] == v[:-1])).any())
