"""Weights as tables: propensities of relevant pairs, and weights of users.

Propensities are given, or follow from the popularity of items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.names import ROLES, Named
from recnb.data.role_table import (
    RoleTable,
    as_numbers,
    ids_in_words,
    is_missing,
)
from recnb.data.roles import as_named, labels_of
from recnb.data.tables import Frame, InputTable, as_column, opened
from recnb.display.language import _
from recnb.errors import (
    ColumnError,
    FrameError,
    OptionError,
    is_number,
    quoted,
)
from recnb.metrics.hits import Floats

#: The weights, and the ids that they are given by.
WEIGHTS = {"propensity": "item", "user_weight": "user"}
#: The least and the largest: sums of 1 / propensity, and squares of weights, are finite.
LIMITS = {"propensity": (1e-50, 1.0), "user_weight": (1e-50, 1e50)}


@dataclass(frozen=True)
class Weighting:
    """The number of weights, and their range."""

    n: int
    n_equal: float  #: how many of equal weight vary as little in their mean (Kish 1965)
    low: float
    high: float

    @classmethod
    def of(cls, weights: Floats | None) -> Weighting | None:
        """Sum up weights; None: there are none."""
        if weights is None or not len(weights):
            return None
        return cls(
            n=len(weights),
            n_equal=float(weights.sum()) ** 2
            / float(np.einsum("i,i", weights, weights)),
            low=float(weights.min()),
            high=float(weights.max()),
        )

    def in_words(self, words: str) -> str:
        """Fill in the range of the weights, and how many of equal weight they count as."""
        low, high = _end(self.low), _end(self.high)
        return _(words, low=low, high=high, n=self.n, n_equal=self.n_equal)


def _end(weight: float) -> str:
    """Return an end of the range of weights as text."""
    return f"{weight:,.0f}" if weight >= 999.5 else f"{weight:.3g}"


def with_propensity_named(
    named: Named, weights: Mapping[str, Any], of_truth: Sequence[object]
) -> Named:
    """Name the propensity as the column of the truth that it is, if it is one."""
    propensity = weights.get("propensity")
    if isinstance(propensity, str) and propensity in of_truth:
        return {**named, "propensity": [propensity]}
    return named


def read_weights(
    weights: Mapping[str, Any],
    named: Named,
    items: pl.DataFrame | None,
    users: pl.DataFrame | None,
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Return the weights of pairs and of users that keywords give, None without them.

    A propensity that is a column of the truth was read with it.
    """
    of_pairs = of_users = None
    if "propensity" in weights and "propensity" not in named:
        of_pairs = _table_of(weights["propensity"], "propensity", items)
    if "user_weight" in weights:
        of_users = _table_of(weights["user_weight"], "user_weight", users)
    return of_pairs, of_users


def _table_of(given: object, name: str, described: pl.DataFrame | None) -> pl.DataFrame:
    """Return weights as a table of ids and their "value".

    They are a column of items= or users=, `described`, or a Series or mapping by id.
    """
    if isinstance(given, str):
        table = _values_of_column(given, name, described)
    elif isinstance(given, (pd.Series, Mapping)):
        table = _values_by_id(given, name)
    else:
        raise OptionError(
            f"{name}= is a {type(given).__name__}: name a column, or give a pandas Series by "
            f"{WEIGHTS[name]}, or a mapping."
        )
    role = WEIGHTS[name]
    table = table.filter(~is_missing(table["value"]))
    by_id = RoleTable(f"{name}=", table, {}).with_ids([role])
    by_id.refuse_repeated_ids(role)
    table = by_id.rows
    values = checked(table, "value", name, f"{name}=")
    if name == "user_weight":  # of which shares alone matter
        values = pl.Series(values.to_numpy() / values.max())
    return table.with_columns(value=values)


def _values_of_column(
    column: str, name: str, described: pl.DataFrame | None
) -> pl.DataFrame:
    """Return a column of items= or users= by item or user."""
    role = WEIGHTS[name]
    # The first column is that of the ids, under the name of their role.
    if described is None or column not in described.columns[1:]:
        places = "the truth or of items=" if role == "item" else "users="
        series = f", or give a Series by {role}"
        raise ColumnError(
            f"{name}={column!r} is no column of {places}: name one{series}.",
            {series: ""},
        )
    return described.select(role, value=column)


def _values_by_id(
    given: pd.Series[Any] | Mapping[Any, float], name: str
) -> pl.DataFrame:
    """Return a Series or a mapping by item or user as a table."""
    # `dict` of a Series would look up each of its values.
    series = given if isinstance(given, pd.Series) else pd.Series(dict(given))
    n_levels, role = series.index.nlevels, WEIGHTS[name]
    if n_levels > 1:
        raise OptionError(
            f"{name}= has {n_levels} ids for each value: give one by {role}, or name a column "
            "that has the value of each row."
        )
    rows = series.rename_axis(role).rename("score").reset_index()
    # Read as a score, whose values that are no numbers stay text: `checked` names one.
    table = InputTable.of(rows, f"{name}=").select({role: role, "score": "score"})
    return table.rename({"score": "value"})


def checked(table: pl.DataFrame, column: str, name: str, in_words: str) -> pl.Series:
    """Return the weights in a column of a table as numbers; refuse bad ones.

    `name` is that of the weights in `WEIGHTS`; errors call them `in_words`.
    """
    low, high = LIMITS[name]
    values = as_numbers(table[column], in_words).cast(pl.Float64)
    wrong = table.filter(~values.is_between(low, high).fill_null(value=False))
    if wrong.height:
        are = "is" if wrong.height == 1 else "are"
        raise FrameError(
            f"{in_words}: {wrong.height:,} of {table.height:,} values {are} missing or not from "
            f"{low:g} to {high:g}, such as {wrong[column][0]!r} for {ids_in_words(wrong, 0)}. "
            "Correct them, or leave their rows out."
        )
    return values


def look_up(table: pl.DataFrame, rows: pl.DataFrame, name: str) -> pl.Series:
    """Return the value of each row by its ids, null if there is none."""
    if rows.height == 0:  # of a part, whose ids have no type
        return table["value"].clear()
    weights = RoleTable(f"{name}=", table, {})
    RoleTable("the frames", rows, {}).refuse_other_kinds(weights)
    role, _value = table.columns
    with_values = rows.select(role).join(
        table, on=role, how="left", maintain_order="left"
    )
    return with_values["value"]


def refuse_lacking(values: pl.Series, ids: pl.DataFrame, name: str) -> None:
    """Raise an error if rows have no value.

    It says how many ids have none, and which.
    """
    if not values.null_count():
        return
    lacking = ids.filter(values.is_null()).unique(maintain_order=True)
    kind_of_ids = f"{ids.columns[0]}s" if ids.width == 1 else "pairs of user and item"
    fix = "Give each of them one."
    if name == "propensity":
        fix = (
            "Give each of them one, of items that train does not have by "
            "popularity_propensity(..., items=truth['item'])."
        )
    raise FrameError(
        f"{name}= has no value for {lacking.height:,} of {ids.n_unique():,} "
        f"{kind_of_ids}, such as {ids_in_words(lacking, 0)}. {fix}"
    )


def popularity_propensity(
    train: Frame | str,
    gamma: float | None = None,
    *,
    items: Any = None,
    user: str | None = None,
    item: str | None = None,
) -> pd.Series[float]:
    """Estimate the propensity of each item by its popularity in train.

    It is the chance that a relevant pair of the item is seen: (n_i / max n)^((gamma + 1)
    / 2), where n_i are the users of train who have the item. A factor common to all does
    not change shares (recall, nDCG).

    Parameters
    ----------
    train : frame or path
        What users had before: user and item.
    gamma : float
        How much more popular items are shown, from the data: Yang et al. have 1.5 to
        2.5 for their four sets. No default.
    items : list or Series, optional
        Other items, a list or a column. One that train does not have counts as one that
        a single user had, since nothing smaller was seen. Without it they have no
        propensity.
    user, item : str, optional
        The columns of `train`, if their names are not usual ones.

    Returns
    -------
    Series
        The propensity of each item, indexed by item. Those of the literature lie in (0,
        1]; `evaluate` refuses others.

    References
    ----------
    Yang, Cui, Xuan, Wang, Belongie and Estrin 2018, Unbiased offline recommender
    evaluation for missing-not-at-random implicit feedback, RecSys, equation 15.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> train = pd.DataFrame({"user": [1, 2, 3, 4, 1], "item": ["a", "a", "a", "a", "b"]})
    >>> recnb.popularity_propensity(train, gamma=2.0, items=["b", "c"]).round(3).to_dict()
    {'a': 1.0, 'b': 0.125, 'c': 0.125}
    """
    if not is_number(gamma) or gamma <= -1:
        # Items that more users have are never seen less.
        raise OptionError(
            f"gamma={quoted(gamma)} is not above -1: give that of your data, such as "
            f"gamma=2.0."
        )
    named = as_named({"user": user, "item": item})
    table = opened(train, "train", named)
    labels = labels_of(table, named, ROLES["train"])
    pairs = table.role_table(labels).rows.unique()
    counts = pairs.group_by("item").len("n").sort("item")
    if items is not None:
        others = _items_of(items, counts["item"])
        with_others = others.join(counts, on="item", how="full", coalesce=True)
        counts = with_others.sort("item")
    n_users = counts["n"].fill_null(1).to_numpy()
    propensity = (n_users / n_users.max()) ** ((gamma + 1) / 2)
    index = pd.Index(counts["item"].to_list(), name=labels["item"])
    return pd.Series(propensity, index, name="propensity")


def _items_of(given: Any, known: pl.Series) -> pl.DataFrame:
    """Return items, a list or a column, each once.

    They must be of the kind of those of train.
    """
    if hasattr(type(given), "columns"):
        raise OptionError(
            f"items= is a {type(given).__name__}: give its column of items, such as "
            f"items=truth['item']."
        )
    items = as_column([*given], "items", "items", "item").to_frame()
    others = RoleTable("items=", items, {}).with_ids(["item"])
    RoleTable("train", known.to_frame(), {}).refuse_other_kinds(others)
    return others.rows.unique()
