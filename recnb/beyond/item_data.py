"""The data of metrics beyond accuracy: lists, training data, attributes of items."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl

from recnb.beyond.catalogue import Catalogue
from recnb.beyond.recommendation_lists import Lists
from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.conventions.convention import TRUTH_ORDERS
from recnb.data.ids import each_once, positions
from recnb.data.in_memory import ranked
from recnb.metrics.hits import order_by_user_and_rank
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
        self._lists: dict[bool, Lists] = {}  #: of all users, of those evaluated

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
    def catalogue(self) -> Catalogue:
        """What is known of every item there is, anywhere."""
        given = (self.side_data.train, self.side_data.items)
        frames = [self.recs, self.joined.rows.relevant, *given]
        columns = [frame["item"] for frame in frames if frame is not None]
        return Catalogue(each_once(*columns), self.side_data)

    @cached_property
    def _by_split(self) -> list[ItemData]:
        """The lists of each combination of values of a split, whose train may differ."""
        data = EvaluationData(self.joined, self.side_data)
        keys, listed = data.keys, self.joined.source.recs_rows["user"]
        return [
            ItemData(data.of_split(combination))
            for combination in keys.combinations_of(listed).iter_slices(1)
        ]

    def parts_for(self, metric: Metric[...]) -> list[Lists]:
        """Return the lists that a metric is computed of: all together, or by split.

        They are of the users evaluated, or of all who have a list, as the metric says.
        """
        is_split = bool(self.joined.source.keys.columns)
        parts = self._by_split if is_split and metric.of == "user" else [self]
        for part in parts:
            part.catalogue.refuse_lack(metric)
        return [part.lists(evaluated=metric.of_evaluated) for part in parts]

    def lists(self, *, evaluated: bool = False) -> Lists:
        """Return all lists, or those of the users evaluated, of whom some may have none."""
        if evaluated not in self._lists:
            listed = self.recs["user"]
            users = self.joined.users if evaluated else each_once(listed)
            user = positions(users, listed)
            rank = self.recs["rank"].to_numpy()
            order = order_by_user_and_rank(user, rank)
            order = order[user[order] >= 0]
            self._lists[evaluated] = Lists(
                user=user[order],
                rank=rank[order],
                item=self.catalogue.item_of(self.recs)[order],
                users=users,
                catalogue=self.catalogue,
                joined=self.joined,
            )
        return self._lists[evaluated]

    def times_shown(self, k: int | None) -> pd.Series[int]:
        """Return the number of lists that show each item down to k, by item.

        They are the items of the catalogue, and each that is shown.
        """
        times = self.lists().upto(k).times_shown
        is_shown = times > 0
        if self.catalogue.listed is not None:
            is_shown |= self.catalogue.listed
        items = self.catalogue.ids.filter(pl.Series(is_shown)).to_numpy()
        index: pd.Index[Any] = pd.Index(items, name="item")
        return pd.Series(times[is_shown], index=index, name="n_lists")
