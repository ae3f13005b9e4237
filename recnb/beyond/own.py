"""Metrics of one's own of a frame of the lists: their functions' results are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.beyond.kinds import CatalogueMetric, ListMetric
from recnb.beyond.recommendation_lists import Lists, PerUser, Whole
from recnb.data.names import IDS
from recnb.display.text import one_line
from recnb.errors import OptionError, is_number, quoted
from recnb.metrics.hits import Floats
from recnb.metrics.metric import Metric
from recnb.results.own_metric import OWN_KINDS, refuse_outside


class OwnListMetric(ListMetric[...]):
    """A metric of the caller's, of a frame of lists: a value for each user.

    A user whose value is NaN, or who has no row down to the cut-off, is left out.
    """

    def at(self, lists: Lists, k: Any, options: Mapping[str, Any]) -> PerUser:
        """Compute the values of lists, and check them."""
        shown = lists.upto(k)
        frame = _frame_of(shown)
        returned = super().at(frame, k, options)
        position, row = np.unique(shown.user, return_index=True)
        users = pd.Index(frame["user"].iloc[row])
        value = np.full(lists.n_users, np.nan)
        value[position] = _numbers_of_users(self, returned, users)
        refuse_outside(self, value, options)
        return PerUser(value)


class OwnCatalogueMetric(CatalogueMetric[...]):
    """A metric of the caller's, of a frame of lists: one number of all together."""

    def at(self, lists: Lists, k: Any, options: Mapping[str, Any]) -> Whole:
        """Compute the number of lists, and check it."""
        returned = super().at(_frame_of(lists.upto(k)), k, options)
        if not is_number(returned):
            raise OptionError(
                f"{self.name} returned {one_line(quoted(returned), 60)}. over='all' is one finite "
                f"number: return lists['item'].nunique(), or say over='list'."
            )
        refuse_outside(self, np.array([returned]), options)
        return Whole(returned)


def _frame_of(lists: Lists) -> pd.DataFrame:
    """Return rows of lists: user, item, rank, relevance and the columns of items=.

    Relevance is 0 of a pair that the truth lacks, and of a user who is not
    evaluated. What else tells the lists of a user apart is behind the user.
    """
    rows = pl.DataFrame(
        {
            "user": lists.users.gather(lists.user),
            "item": lists.catalogue.ids.gather(lists.item),
            "rank": lists.rank,
        }
    )
    joined = lists.joined
    judged = joined.rows.relevant.select(*IDS).with_columns(
        relevance=joined.hits.truth_relevance
    )
    rows = rows.join(judged, on=[*IDS], how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("relevance").fill_null(0.0))
    described = lists.catalogue.frame
    if described is not None:
        columns = [name for name in described.columns if name not in rows.columns]
        described = described.select("item", *columns)
        rows = rows.join(described, on="item", how="left", maintain_order="left")
    keys = joined.source.keys.keys_of(rows["user"])
    rows = keys.hstack(rows.drop("user", *keys.columns, strict=False))
    return rows.to_pandas()


def _numbers_of_users(
    metric: Metric[...], returned: Any, users: pd.Index[Any]
) -> Floats:
    """Return the numbers that a function returned of these users, in their order.

    Anything but a Series with a number for each of them is refused.
    """
    problem = _problem_with(returned, users)
    if problem:
        raise OptionError(
            f"{metric.name} returned {problem}. over='list' is a pandas Series with a "
            f"number for each user: return lists.groupby('user')['rank'].mean()."
        )
    numbers: Floats = returned.reindex(users).to_numpy(np.float64, na_value=np.nan)
    return numbers


def _problem_with(returned: object, users: pd.Index[Any]) -> str:
    """Say what is wrong with the values of users; empty if nothing is."""
    if not isinstance(returned, pd.Series):
        return one_line(quoted(returned), 60)
    valued = returned.index
    n_values = valued.value_counts().reindex(users, fill_value=0)
    odd = n_values[n_values != 1]
    if len(odd):
        return f"{odd.iloc[0]} values of user {odd.index.tolist()[0]!r}"
    unknown = valued.difference(users, sort=False).tolist()
    if unknown:
        return f"a value of {unknown[0]!r}, who is no user of the frame"
    if not pd.api.types.is_numeric_dtype(returned.dtype):
        return f"values of type {returned.dtype}"
    infinite = valued[np.isinf(returned)].tolist()
    if infinite:
        return f"an infinite value of user {infinite[0]!r}"
    return ""


OWN_KINDS |= {"list": OwnListMetric, "all": OwnCatalogueMetric}
