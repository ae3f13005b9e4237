"""Weights: propensities of relevant pairs, as given or by the popularity of items, and
weights of users, each as a table.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import (
    Columns,
    Frame,
    columns_of,
    find,
    from_pandas,
    role_of,
    table_of,
)
from recnb.data.encoding import positions
from recnb.data.files import is_file
from recnb.data.files import read as read_file
from recnb.data.sheet import IDS, Sheet, is_missing, kind
from recnb.display.language import _
from recnb.errors import (
    ColumnError,
    FrameError,
    OptionError,
    is_number,
    is_several,
    is_word,
    near,
    quoted,
)
from recnb.metrics.hits import HIGHEST, Floats, Ints


@dataclass(frozen=True)
class Weighting:
    """The number of weights, their sum, the sum of their squares, and the lowest and
    the highest.
    """

    n: int
    total: float
    squares: float
    low: float
    high: float

    @classmethod
    def of(cls, weights: Floats | None) -> Weighting | None:
        """Sum up weights; None: there are none."""
        if weights is None or not len(weights):
            return None
        ends = float(weights.min()), float(weights.max())
        return cls(
            len(weights),
            float(weights.sum()),
            float(np.einsum("i,i", weights, weights)),
            *ends,
        )

    def in_words(self, words: str) -> str:
        """Fill in the range of the weights, and how many of equal weight vary as little
        in their mean (Kish 1965).
        """
        low, high = (
            f"{end:,.0f}" if end >= 1000 else f"{end:.3g}"
            for end in (self.low, self.high)
        )
        return _(
            words, low=low, high=high, n=self.n, n_equal=self.total**2 / self.squares
        )


def read_weights(
    given: object,
    name: str,
    frame: Frame | None,
    columns: Columns,
    highest: float = sys.float_info.max,
) -> pl.DataFrame | None:
    """Return numbers as a table of ids and "value": of a column of items= or users=, or
    of a Series or mapping by id.
    """
    if given is None:
        return None
    side, role = ("items", "item") if name == "propensity" else ("users", "user")
    if isinstance(given, str):
        names = [] if frame is None else columns_of(frame, side)
        if given not in names:
            places = "the truth or of items=" if side == "items" else "users="
            raise ColumnError(
                f"{name}={given!r} is no column of {places}: name one, or give a Series by {role}."
            )
        roles = [role]
        table = table_of(
            frame, side, {**find(frame, side, roles, columns), "value": given}
        )
    elif isinstance(given, (pd.Series, Mapping)):
        series: pd.Series[Any] = (
            given if isinstance(given, pd.Series) else pd.Series(dict(given))
        )
        levels = [
            series.index.get_level_values(at) for at in range(series.index.nlevels)
        ]
        roles = [role] if len(levels) == 1 else list(IDS)
        if len(levels) > len(IDS[side == "users" :]):
            raise OptionError(
                f"{name}= is a Series with {len(levels)} levels of its index: give one by {role}."
            )
        if [role_of(level) for level in series.index.names] == ["item", "user"]:
            roles.reverse()
        ids = {
            role: from_pandas(pd.Series(level), name, role, role)
            for role, level in zip(roles, levels, strict=True)
        }
        table = pl.DataFrame({**ids, "value": from_pandas(series, name, name, "score")})
    else:
        kind = type(given).__name__
        raise OptionError(
            f"{name}= is a {kind}: name a column, or give a Series by {role}, or a mapping."
        )
    table = table.filter(~is_missing(table["value"]))
    table = Sheet(f"{name}=", table, {}).with_ids(roles).rows
    if table.select(roles).hash_rows().n_unique() < table.height:
        for twice in (
            table.filter(table.select(roles).is_duplicated()).head(1).rows(named=True)
        ):
            raise FrameError(
                f"{name}= has more than one value for {_ids_of(twice)}: give each one."
            )
    values = checked(table, "value", name, highest)
    if len(values) and name == "user_weight":
        values = shares_of_largest(table, values)
    return table.with_columns(value=values)


def shares_of_largest(table: pl.DataFrame, weights: pl.Series) -> pl.Series:
    """Return weights of users, which matter by their shares alone, out of the largest;
    sums and squares of any of them are then finite and above 0.
    """
    values = weights.to_numpy()
    # Polars would multiply by a reciprocal, which may overflow.
    shares = pl.Series(values / values.max())
    lowest = int(values.argmin())
    if shares[lowest] < 1 / HIGHEST:
        example = _ids_of(table.row(lowest, named=True))
        raise FrameError(
            f"user_weight=: {weights[lowest]!r} for {example} is less than "
            f"{1 / HIGHEST:g} of the largest.",
            fix="Such a user does not count: leave them out, or make the weight larger.",
        )
    return shares


def checked(table: pl.DataFrame, column: str, name: str, highest: float) -> pl.Series:
    """Return the weights in a column of a table as numbers, if all are above 0 and none
    is above the highest; `name` is what an error calls it.
    """
    values = table[column].cast(pl.Float64, strict=False)
    is_good = ((values > 0) & (values <= highest)).fill_null(value=False)
    bad = table.filter(~is_good)
    if bad.height:
        row = bad.row(0, named=True)
        rule = "outside (0, 1]" if highest == 1 else "not above 0"
        raise FrameError(
            f"{name}: {bad.height:,} of {table.height:,} values are missing or {rule}, "
            f"such as {row[column]!r} for {_ids_of(row)}.",
            fix="Correct them, or leave their rows out.",
        )
    return values


def pair_weights(rows: pl.DataFrame, least: float, name: str) -> Floats:
    """Return 1 / propensity of each row, 1 / `least` at most, or raise an error if it
    is so large that sums overflow.
    """
    clipped = np.maximum(rows["propensity"].to_numpy(), least)
    tiny = np.flatnonzero(clipped < 1 / HIGHEST)
    if len(tiny):
        example = _ids_of(rows.row(int(tiny[0]), named=True))
        raise FrameError(
            f"{name}: {float(clipped[tiny[0]])!r} for {example} is so small that sums of "
            f"1 / propensity overflow.",
            fix="Give a least propensity, such as min_propensity=0.01.",
        )
    return np.asarray(1.0 / clipped)


def _ids_of(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{role} {row[role]!r}" for role in IDS if role in row)


def look_up(table: pl.DataFrame, rows: pl.DataFrame, name: str) -> pl.Series:
    """Return the value of each row by its ids, null if there is none."""
    if rows.height == 0:  # of a part, whose ids have no type
        return table["value"].clear()
    roles = table.columns[:-1]
    for role in roles:
        _refuse_other_kind(table[role], rows[role], name)
    place = pl.Series(_place_of(table.select(roles), rows.select(roles)))
    return table["value"].gather(place.replace(-1, None))


def _refuse_other_kind(known: pl.Series, wanted: pl.Series, name: str) -> None:
    """Raise an error for ids of weights that are of another type than the rows'."""
    if known.dtype != wanted.dtype:
        raise FrameError(
            f"{name}= has {known.name}s such as {known[0]!r}, and those evaluated are "
            f"such as {wanted[0]!r}: make them one kind, such as text."
        )


def refuse_lacking(values: pl.Series, ids: pl.DataFrame, name: str) -> None:
    """Raise an error if rows have no value; it says how many ids have none, and
    which.
    """
    if not values.null_count():
        return
    lacking = ids.filter(values.is_null()).unique(maintain_order=True)
    ids_in_words = f"{ids.columns[0]}s" if ids.width == 1 else "pairs of user and item"
    fix = "Give each of them one."
    if name == "propensity":
        fix = (
            "Give each of them one, of items that train does not have by "
            "popularity_propensity(..., items=truth['item'])."
        )
    raise FrameError(
        f"{name}= has no value for {lacking.height:,} of {ids.n_unique():,} "
        f"{ids_in_words}, such as {_ids_of(lacking.row(0, named=True))}.",
        fix=fix,
    )


def _place_of(known: pl.DataFrame, wanted: pl.DataFrame, seed: int = 0) -> Ints:
    """Return the row of known ids, which are distinct, that each wanted row equals; -1
    if there is none. Pairs are found by hash.
    """
    if known.width == 1:
        return positions(known.to_series(), wanted.to_series())
    place = positions(known.hash_rows(seed), wanted.hash_rows(seed))
    found = np.flatnonzero(place >= 0)
    is_each = known[place[found]].equals(
        wanted[found]
    )  # if not, different pairs have one hash
    return place if is_each else _place_of(known, wanted, seed + 1)


def popularity_propensity(
    train: Frame | str,
    gamma: float | None = None,
    *,
    model: Literal["power", "xmc"] = "power",
    a: float | None = None,
    b: float | None = None,
    items: Any = None,
    user: str | None = None,
    item: str | None = None,
) -> pd.Series[float]:
    """Estimate the propensity of each item, the chance that a relevant pair of it is
    seen, by its popularity in train.

    - "power": (n_i / max n)^((gamma + 1) / 2), of Yang, Cui, Xuan, Wang, Belongie and
      Estrin 2018, RecSys, equation 15
    - "xmc": 1 / (1 + C exp(-a log(n_i + b))), C = (log N - 1) (b + 1)^a, of Jain,
      Prabhu and Varma 2016, KDD

    n_i are the users of train who have the item, N all users of train. A factor common
    to all does not change shares (recall, nDCG).

    Parameters
    ----------
    train : frame or path
        What users had before: user and item, by their usual names or those in `user=`
        and `item=`.
    gamma : float
        How much more popular items are shown, from the data: Yang et al. have 1.5 to
        2.5 for their four sets. No default.
    model, a, b
        "xmc" takes a and b in place of gamma: Jain et al. have 0.55 and 1.5, or 0.5 and
        0.4 for Wikipedia, 0.6 and 2.6 for Amazon.
    items : optional
        Other items, a list or a column. One that train does not have counts by "power"
        as one that a single user had, since nothing smaller was seen; by "xmc", which
        is defined there, as n_i = 0. Without it they have no propensity.

    Returns
    -------
    Series
        The propensity of each item, indexed by item. Those of the literature lie in (0,
        1]; `evaluate` refuses others.

    Examples
    --------
    >>> import pandas as pd
    >>> train = pd.DataFrame({"user": [1, 2, 3, 4, 1], "item": ["a", "a", "a", "a", "b"]})
    >>> popularity_propensity(train, gamma=2.0, items=["b", "c"]).round(3).to_dict()
    {'a': 1.0, 'b': 0.125, 'c': 0.125}
    """
    if not is_word(model, ("power", "xmc")):
        raise OptionError(
            f"model={quoted(model)} is no model of propensities.",
            fix=near(model, ("power", "xmc")),
        )
    needed = {"gamma": gamma} if model == "power" else {"a": a, "b": b}
    for name, value in {"gamma": gamma, "a": a, "b": b}.items():
        # Items that more users have are never seen less, and (0 + b)^a is a number.
        is_good = value is None or (
            is_number(value) and (value > -1 if name == "gamma" else value >= 0)
        )
        if (name in needed) != (value is not None) or not is_good:
            takes = (
                "gamma=, such as gamma=2.0"
                if model == "power"
                else "a= and b=, such as a=0.55, b=1.5"
            )
            raise OptionError(
                f"{name}={quoted(value)}: model={model!r} takes {takes}, of your data."
            )
    frame = read_file(train) if is_file(train) else train
    labels = find(frame, "train", IDS, {"user": user, "item": item})
    pairs = Sheet.read(frame, "train", labels).rows.unique()
    counts = pairs.group_by("item").len("n").sort("item")
    if items is not None:
        column = (
            items
            if isinstance(items, pd.Series)
            else pd.Series([*items] if is_several(items) else [items])
        )
        others = Sheet(
            "items=",
            pl.DataFrame({"item": from_pandas(column, "items", "items", "item")}),
            {},
        ).with_ids(["item"])
        if kind(others["item"].dtype) != kind(counts["item"].dtype):
            raise FrameError(
                f"items= holds {others['item'][0]!r}, and train {counts['item'][0]!r}: "
                "make them one kind."
            )
        counts = (
            others.rows.unique()
            .join(counts, on="item", how="full", coalesce=True)
            .sort("item")
        )
    n = counts["n"].fill_null(0).to_numpy().astype(np.float64)
    if gamma is not None:
        propensity = (np.maximum(n, 1) / n.max()) ** ((gamma + 1) / 2)
    else:
        assert a is not None
        assert b is not None
        c = (math.log(pairs["user"].n_unique()) - 1) * (b + 1) ** a
        with np.errstate(divide="ignore"):
            propensity = 1 / (1 + c * (n + b) ** -a)
    return pd.Series(
        propensity,
        pd.Index(counts["item"].to_list(), name=labels["item"]),
        name="propensity",
    )
