"""The data of metrics beyond accuracy: lists, training data, attributes of items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.beyond.catalogue import Catalogue
from recnb.beyond.recommendation_lists import Lists, PerUser, Whole
from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.conventions.convention import TRUTH_ORDERS
from recnb.data.ids import each_once, positions
from recnb.data.in_memory import ranked
from recnb.data.names import IDS
from recnb.metrics.hits import ENDLESS, Ints, order_by_user_and_rank
from recnb.metrics.metric import Metric
from recnb.results.evaluation_data import EvaluationData


class ItemData:
    """The lists of an evaluation, of all users who have one, and data about the items.

    Each part is computed on first use.
    """

    def __init__(self, data: EvaluationData) -> None:
        # Not the evaluation itself, which keeps this: in a cycle of references all rows
        # would stay in memory until Python looks for cycles.
        self.joined = data.joined
        self.side_data = data.side_data
        self._rows: dict[bool, tuple[Ints, Ints, Ints]] = {}

    @cached_property
    def recs(self) -> pl.DataFrame:
        """Return every recommended row: user, item, rank."""
        joined = self.joined
        convention, recs = joined.convention, joined.rows.lists
        joined.refuse_repeats()
        if convention.ties in TRUTH_ORDERS or convention.score_dtype != "float64":
            # An order that looks at the truth, or at rounded scores, is none that
            # anyone was shown.
            shown = Convention(order=convention.order, duplicates="dedupe")
            recs = ranked(joined.source.recs, shown)
        elif convention.duplicates not in ("error", "dedupe"):
            recs = recs.sort("rank").unique(
                ["user", "item"], keep="first", maintain_order=True
            )
        return recs.select("user", "item", "rank")

    @cached_property
    def users(self) -> pl.Series:
        """The users with a list, sorted."""
        return each_once(self.recs["user"])

    @cached_property
    def items(self) -> pl.Series:
        """Every item there is, anywhere, sorted."""
        frames = [self.recs, self.joined.rows.relevant]
        given = (self.side_data.train, self.side_data.items)
        frames += [frame for frame in given if frame is not None]
        return each_once(*[frame["item"] for frame in frames])

    @cached_property
    def catalogue(self) -> Catalogue:
        """What is known of every item."""
        return Catalogue(self.items, self.side_data)

    @cached_property
    def _by_split(self) -> list[ItemData]:
        """The lists of each combination of values of a split, whose train may differ."""
        data = EvaluationData(self.joined, self.side_data)
        keys, listed = data.keys, self.joined.source.recs_rows["user"]
        return [
            ItemData(data.of_split(combination))
            for combination in keys.combinations_of(listed).iter_slices(1)
        ]

    def parts_for(self, metric: Metric[...]) -> list[ItemData]:
        """Return what a metric is computed of: all lists together, or those of a split."""
        is_split = bool(self.joined.source.keys.columns)
        return self._by_split if is_split and metric.of == "user" else [self]

    def users_of(self, metric: Metric[...]) -> pl.Series:
        """Return the users evaluated, or all who have a list, as the metric says."""
        return self.joined.users if metric.of_evaluated else self.users

    def compute(
        self, metric: Metric[...], k: int | None, options: Mapping[str, Any]
    ) -> PerUser | Whole:
        """Compute a metric of the users evaluated, or of all who have a list."""
        self.catalogue.refuse_lack(metric)
        lists = self.lists(evaluated=metric.of_evaluated)
        values: PerUser | Whole = metric.at(lists, k, options)
        return values

    def lists(self, *, evaluated: bool = False) -> Lists:
        """Return the rows of all lists, or of the users evaluated.

        Of these some may have no list.
        """
        users = self.joined.users if evaluated else self.users
        # The rows are kept, and not the lists, which refer to this object: in a cycle of
        # references all rows would stay in memory until Python looks for cycles.
        if evaluated not in self._rows:
            user = positions(users, self.recs["user"])
            rank = self.recs["rank"].to_numpy()
            item = positions(self.items, self.recs["item"])
            order = order_by_user_and_rank(user, rank)
            order = order[user[order] >= 0]
            self._rows[evaluated] = user[order], rank[order], item[order]
        return Lists(*self._rows[evaluated], users, data=self)

    def times_shown(self, k: int | None) -> pd.Series[int]:
        """Return the number of lists that show each item down to k, by item.

        They are the items of the catalogue, and each that is shown.
        """
        times = self.lists().upto(k).times_shown
        is_shown = times > 0
        if self.catalogue.listed is not None:
            is_shown |= self.catalogue.listed
        items = self.items.filter(pl.Series(is_shown)).to_numpy()
        index: pd.Index[Any] = pd.Index(items, name="item")
        return pd.Series(times[is_shown], index=index, name="n_lists")

    def frame(self, lists: Lists) -> pd.DataFrame:
        """Return rows of lists: user, item, rank, relevance and the columns of items=.

        Relevance is 0 of a pair that the truth lacks, and of a user who is not
        evaluated. What else tells the lists of a user apart is behind the user.
        """
        rows = pl.DataFrame(
            {
                "user": lists.users.gather(lists.user),
                "item": self.items.gather(lists.item),
                "rank": lists.rank,
            }
        )
        judged = self.joined.rows.relevant.select(*IDS).with_columns(
            relevance=self.joined.hits.truth_relevance
        )
        rows = rows.join(judged, on=[*IDS], how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("relevance").fill_null(0.0))
        described = self.catalogue.frame
        if described is not None:
            columns = [name for name in described.columns if name not in rows.columns]
            described = described.select("item", *columns)
            rows = rows.join(described, on="item", how="left", maintain_order="left")
        keys = self.joined.source.keys.keys_of(rows["user"])
        rows = keys.hstack(rows.drop("user", *keys.columns, strict=False))
        return rows.to_pandas()

    @cached_property
    def truth_item(self) -> Ints:
        """The position of the item of each relevant row."""
        return positions(self.items, self.joined.rows.relevant["item"])

    # What metrics ask to be read

    def history_of(self, users: pl.Series) -> tuple[Ints, Ints]:
        """Return the training items of users, as positions of user and item.

        Each is there once.
        """
        had = self.catalogue.pairs
        assert had is not None  # or the metric was refused
        # In a split these are of one of its values, where a user has one list.
        user = positions(self.joined.source.keys.users_of(users), had["user"])
        is_asked = user >= 0
        return user[is_asked], positions(self.items, had["item"])[is_asked]

    @cached_property
    def expected_rank(self) -> Ints:
        """Where each relevant row would be in a list of the most popular items.

        These are of the items that its user has not had: the place of its item by
        popularity, less the items above it that the user had. That is a search in what
        users had, each item once, sorted by place. An item that the user had is 0; one
        that train does not have is in no such list.
        """
        count = self.catalogue.counts["interactions"]
        by_count = np.argsort(-count, kind="stable")
        place = np.argsort(by_count) + 1
        stride = len(count) + 1
        had_user, had_item = self.history_of(self.joined.users)
        had = np.sort(had_user * stride + place[had_item])
        user, item = self.joined.hits.truth_user, self.truth_item
        key = user * stride + place[item]
        at = np.searchsorted(had, key)
        has = np.append(had, -1)[at] == key
        rank = place[item] - at + np.searchsorted(had, user * stride)
        return np.where(has, 0, np.where(count[item] > 0, rank, ENDLESS))
