"""Weights as tables: propensities of relevant pairs, and weights of users.

Propensities are given, or follow from the popularity of items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import polars as pl

from recnb.data.columns import as_column
from recnb.data.names import ROLES
from recnb.data.role_table import RoleTable, as_numbers, ids_in_words, is_missing
from recnb.data.roles import as_named, labels_of
from recnb.data.tables import Frame, InputTable, opened
from recnb.errors import ColumnError, FrameError, OptionError, is_number, quoted


@dataclass(frozen=True)
class Weight:
    """A weight of pairs or of users: how it is given and checked.

    What is given becomes a table of ids, under the name of their role, and "value".
    """

    keyword: str
    role: str  #: whose values it has: "item" or "user"
    places: str  #: where a column that it names may be, in words
    #: The least and the largest: sums of 1 / propensity, and squares of weights, are
    #: finite.
    least: float
    largest: float

    def table_of(self, given: object, described: pl.DataFrame | None) -> pl.DataFrame:
        """Read a column of items= or users=, `described`, or a Series or mapping by id."""
        if isinstance(given, str):
            table = self._of_column(given, described)
        elif isinstance(given, (pd.Series, Mapping)):
            table = self._by_id(given)
        else:
            raise OptionError(
                f"{self.keyword}= is a {type(given).__name__}: name a column, or give a "
                f"pandas Series by {self.role}, or a mapping."
            )
        table = table.filter(~is_missing(table["value"]))
        by_id = RoleTable(f"{self.keyword}=", table, {}).with_ids([self.role])
        by_id.refuse_repeated_ids(self.role)
        values = self.checked(by_id.rows, "value", by_id.name)
        return by_id.rows.with_columns(value=values)

    def _of_column(self, column: str, described: pl.DataFrame | None) -> pl.DataFrame:
        """Return a column of items= or users= by item or user."""
        # The first column is that of the ids, under the name of their role.
        if described is None or column not in described.columns[1:]:
            series = f", or give a Series by {self.role}"
            raise ColumnError(
                f"{self.keyword}={column!r} is no column of {self.places}: name one"
                f"{series}.",
                {series: ""},
            )
        return described.select(self.role, value=column)

    def _by_id(self, given: pd.Series[Any] | Mapping[Any, float]) -> pl.DataFrame:
        """Return a Series or a mapping by item or user as a table."""
        # `dict` of a Series would look up each of its values.
        series = given if isinstance(given, pd.Series) else pd.Series(dict(given))
        n_levels = series.index.nlevels
        if n_levels > 1:
            raise OptionError(
                f"{self.keyword}= has {n_levels} ids for each value: give one by "
                f"{self.role}, or name a column that has the value of each row."
            )
        rows = series.rename_axis(self.role).rename("score").reset_index()
        # Read as a score, whose values that are no numbers stay text: `checked` names one.
        table = InputTable.of(rows, f"{self.keyword}=")
        columns = table.select({self.role: self.role, "score": "score"})
        return columns.rename({"score": "value"})

    def checked(self, table: pl.DataFrame, column: str, in_words: str) -> pl.Series:
        """Return the weights in a column as numbers; refuse bad ones.

        Errors call the column `in_words`.
        """
        values = as_numbers(table[column], in_words).cast(pl.Float64)
        is_right = values.is_between(self.least, self.largest)
        wrong = table.filter(~is_right.fill_null(value=False))
        if wrong.height:
            are = "is" if wrong.height == 1 else "are"
            raise FrameError(
                f"{in_words}: {wrong.height:,} of {table.height:,} values {are} missing or "
                f"not from {self.least:g} to {self.largest:g}, such as "
                f"{wrong[column][0]!r} for {ids_in_words(wrong, 0)}. Correct them, or "
                "leave their rows out."
            )
        return values


PROPENSITY = Weight(
    keyword="propensity",
    role="item",
    places="the truth or of items=",
    least=1e-50,
    largest=1.0,
)
USER_WEIGHT = Weight(
    keyword="user_weight",
    role="user",
    places="users=",
    least=1e-50,
    largest=1e50,
)
#: What to do about pairs without a propensity.
BY_POPULARITY = (
    "Give each of them one, of items that train does not have by "
    "popularity_propensity(..., items=truth['item'])."
)
#: The keywords of weights.
WEIGHTS = (PROPENSITY.keyword, USER_WEIGHT.keyword)


def read_weights(
    given: Mapping[str, Any],
    items: pl.DataFrame | None,
    users: pl.DataFrame | None,
    *,
    truth_has_propensity: bool,
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Return propensities by item and weights by user, None where none were given.

    Propensities in a column of the truth were read with it.
    """
    by_item = by_user = None
    if "propensity" in given and not truth_has_propensity:
        by_item = PROPENSITY.table_of(given["propensity"], items)
    if "user_weight" in given:
        by_user = USER_WEIGHT.table_of(given["user_weight"], users)
        # Their shares alone matter.
        by_user = by_user.with_columns(pl.col("value") / pl.col("value").max())
    return by_item, by_user


def look_up(table: pl.DataFrame, rows: pl.DataFrame, keyword: str) -> pl.Series:
    """Return the "value" of each row by its id, null if a table by id has none."""
    if rows.height == 0:  # of a part, whose ids have no type
        return table["value"].clear()
    by_id = RoleTable(f"{keyword}=", table, {})
    RoleTable("the frames", rows, {}).refuse_other_kinds(by_id)
    role, _value = table.columns
    with_values = rows.select(role).join(
        table, on=role, how="left", maintain_order="left"
    )
    return with_values["value"]


def refuse_lacking(
    values: pl.Series,
    ids: pl.DataFrame,
    keyword: str,
    fix: str = "Give each of them one.",
) -> None:
    """Raise an error if rows have no value, with the ids of one."""
    if not values.null_count():
        return
    lacking = ids.filter(values.is_null()).unique(maintain_order=True)
    called = f"{ids.columns[0]}s" if ids.width == 1 else "pairs of user and item"
    raise FrameError(
        f"{keyword}= has no value for {lacking.height:,} of {ids.n_unique():,} "
        f"{called}, such as {ids_in_words(lacking, 0)}. {fix}"
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
    items = as_column([*given], "items: column 'items'", "item").to_frame()
    others = RoleTable("items=", items, {}).with_ids(["item"])
    RoleTable("train", known.to_frame(), {}).refuse_other_kinds(others)
    return others.rows.unique()
