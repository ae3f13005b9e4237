"""Keys of lists: a user, or a user in a split (a day, a fold, a seed).

With `split=` each pair of a user and a split is a user of its own, a whole number,
before the frames are joined; its cluster is the user. `Keys` gives these numbers, and
has the key of each for results and errors. Nothing between knows of splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time
from typing import Any

import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.data.names import RECS, TRUTH
from recnb.data.role_table import TEXT, RoleTable, held_and_first, is_missing
from recnb.errors import FrameError, NoUsersError


def split_labels(columns: Sequence[str]) -> dict[str, str]:
    """Return columns of the split by what they are called where columns are roles."""
    return {f"split {column}": column for column in columns}


class Keys:
    """The user and the values of the split of each list.

    An id of a list is its number, the row of its key. Without columns of a split it is
    the user's id, and there are no rows.

        list   user   split day    in words
          0    ann    2024-05-01   ann [day=2024-05-01]
          1    ann    2024-05-02   ann [day=2024-05-02]
          2    bob    2024-05-01   bob [day=2024-05-01]
    """

    def __init__(self, columns: Sequence[str], table: pl.DataFrame) -> None:
        self.columns = tuple(columns)  #: the caller's columns of the split
        #: The same by what they are called in tables whose columns are roles.
        self.labels = split_labels(columns)
        self.roles = [*self.labels]
        #: Each list as its number, `list`, its user and a role for each column; sorted.
        self.table = table

    @cached_property
    def combinations(self) -> pl.DataFrame:
        """The distinct values of the split, sorted, a row each, by role."""
        return self.combinations_of(self.table["list"])

    @cached_property
    def combinations_in_words(self) -> pl.DataFrame:
        """The combinations beside their `words`, "fold=1, seed=7"."""
        rows = self.combinations.rows()
        words = [_values_in_words(self.columns, row) for row in rows]
        return self.combinations.with_columns(pl.Series("words", words, pl.String))

    @classmethod
    def of(cls, recs: RoleTable, truth: RoleTable, columns: Sequence[str]) -> Keys:
        """Find the keys of both frames, which may have a single row for each key."""
        recs = _with_plain_values(recs, columns)
        listed = recs.rows.select("user", *split_labels(columns)).unique()
        of_recs = cls(columns, _table_of(listed))
        judged = of_recs._judged_in(of_recs._with_values(truth))
        keys = cls(columns, _table_of(pl.concat([listed, judged])))
        if combination := keys._lacking_in(judged):
            raise FrameError(
                f"the {RECS} have lists of {combination}, and {TRUTH} has no rows of it. Add "
                "its truth, or leave its lists out."
            )
        in_both = judged.join(listed, on=judged.columns, how="semi")
        if combination := keys._lacking_in(in_both):
            raise FrameError(
                f"no user is in both frames where {combination}. Check that both frames use "
                "the same ids there, or leave it out of both."
            )
        return keys

    def _judged_in(self, truth: RoleTable) -> pl.DataFrame:
        """Return the keys of the truth.

        A truth without a column of the split holds for each of its values.
        """
        present = [role for role in self.roles if role in truth]
        rows = truth.rows.select("user", *present).unique(maintain_order=True)
        if not present:
            return rows.join(self.combinations, how="cross")
        lacking = rows.join(
            self.combinations, on=present, how="anti", maintain_order="left"
        )
        if lacking.height:
            names = [self.labels[role] for role in present]
            words = _values_in_words(names, lacking.select(present).row(0))
            raise FrameError(
                f"{TRUTH} has rows of {words}, and the {RECS} have no list there. Add its "
                "lists, or leave its rows out."
            )
        return rows.join(self.combinations, on=present).select("user", *self.roles)

    def _lacking_in(self, rows: pl.DataFrame) -> str:
        """Return the first combination that no row has, in words; "": there is none.

        A row without a column of the split has each of its values.
        """
        roles = [role for role in self.roles if role in rows.columns]
        if not roles:
            return ""
        lacking = self.combinations_in_words.join(
            rows, on=roles, how="anti", maintain_order="left"
        )
        return "".join(lacking["words"].head(1))

    def refuse_without_users(self, evaluated: pl.Series) -> None:
        """Raise an error for a combination of values in which no list is evaluated."""
        if combination := self._lacking_in(self.table[evaluated]):
            raise NoUsersError(
                f"no user that counts has a relevant item where {combination}. Leave it out of "
                "both frames, or check relevant_from=."
            )

    # From users to lists

    def numbered(self, table: RoleTable) -> RoleTable:
        """Return a table whose users are lists.

        A row without a column of the split holds for each of its values, and is
        repeated.
        """
        if not self.columns:
            return table
        present = [role for role in self.roles if role in table]
        if not table.rows.height:
            number = pl.col("user").cast(pl.Int64)
            return table.with_rows(table.rows.drop(present).with_columns(number))
        rows = self._with_values(table).rows
        key = ["user", *present]
        rows = rows.join(self.table, on=key, maintain_order="left_right")
        rows = rows.with_columns(user="list").drop("list", *self.roles)
        return table.with_rows(rows)

    def rows_of_train(self, train: RoleTable) -> pl.DataFrame:
        """Return the rows of train, which must have some for each value of a split."""
        rows = self._with_values(train).rows
        if combination := self._lacking_in(rows):
            raise FrameError(
                f"train has no row of {combination}, of which there are lists. Add its "
                "rows; or drop the column of the split from train, whose rows are then "
                "those of every value."
            )
        return rows

    def _with_values(self, table: RoleTable) -> RoleTable:
        """Return a table whose values of the split are of the recommendations' types."""
        table = _with_plain_values(table, self.columns)
        RoleTable(RECS, self.combinations, {}).refuse_other_kinds(table, self.roles)
        return table

    def lists_in(self, values: pl.DataFrame) -> pl.Series:
        """Return the lists that have these values of the split, or of some columns."""
        return self.table.join(values, on=values.columns, how="semi")["list"]

    def together(self, others: Sequence[Keys]) -> Keys:
        """Return the keys of several models."""
        tables = [keys.table.drop("list") for keys in (self, *others)]
        if any(table.schema != tables[0].schema for table in tables):
            raise FrameError(
                "ids of users, or values of split=, are of different kinds in the models: "
                "make them one kind, .astype(str)."
            )
        return Keys(self.columns, _table_of(pl.concat(tables)))

    def places_in(self, keys: Keys) -> pl.Series:
        """Return the number of each list among other keys."""
        key = ["user", *self.roles]
        places = self.table.join(keys.table, on=key, maintain_order="left")
        return places["list_right"].alias("user")

    # From lists to users

    def keys_of(self, ids: pl.Series) -> pl.DataFrame:
        """Return the user of each list, and its values of the split's columns."""
        if not self.columns:
            return ids.to_frame("user")
        keys = self.table[ids].drop("list")
        return keys.rename(dict(zip(self.roles, self.columns, strict=True)))

    def users_of(self, ids: pl.Series) -> pl.Series:
        """Return the user of each list."""
        return self.keys_of(ids)["user"]

    def combinations_of(self, ids: pl.Series) -> pl.DataFrame:
        """Return the distinct values of the split that some lists have."""
        return self.table[ids].select(self.roles).unique().sort(self.roles)

    def index(self, ids: pl.Series, label: str) -> pd.Index[Any]:
        """Return lists as the index of results: user, and the columns of the split."""
        table = self.keys_of(ids).rename({"user": label})
        levels = [pd.Index(column.to_numpy(), name=column.name) for column in table]
        return levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels)

    def names(self, ids: pl.Series) -> pl.Series:
        """Return what lists are called in words and errors, "u1 [day=2024-05-01]"."""
        if not self.columns:
            return ids
        return self._names[ids]

    # The list that a caller names

    def find(self, key: Any) -> Any:
        """Return the id of the list that a caller names; None: there is no such list.

        In a split it is named as in words, "ann [day=2024-05-01]", or by its key in the
        index of results, ("ann", date(2024, 5, 1)).
        """
        if not self.columns:
            return key
        name = str(key)
        if isinstance(key, tuple) and len(key) == len(self.columns) + 1:
            user, *values = key
            name = f"{user} [{_values_in_words(self.columns, values)}]"
        ids = self.table["list"].filter(self._names == name)
        return ids[0] if len(ids) == 1 else None

    def in_words(self, key: Any) -> Any:
        """Return what the list that a caller names is called in words."""
        list_id = self.find(key)
        if not self.columns or list_id is None:
            return key
        return self._names[list_id]

    @cached_property
    def _names(self) -> pl.Series:
        """What each list is called in words."""
        lists = self.table.join(
            self.combinations_in_words, on=self.roles, maintain_order="left"
        )
        return lists.select(user=pl.format("{} [{}]", "user", "words"))["user"]


#: Keys without a split: each user has one list, whose id is the user's.
BY_USER = Keys([], pl.DataFrame(schema=["list", "user"]))


def _table_of(keys: pl.DataFrame) -> pl.DataFrame:
    """Return keys sorted, each once, behind its number."""
    sorted_keys = keys.unique().sort(pl.all())
    return sorted_keys.with_row_index("list").cast({"list": pl.Int64})


def _with_plain_values(table: RoleTable, columns: Sequence[str]) -> RoleTable:
    """Return a table whose columns of the split are text, numbers, booleans or times."""
    roles = [role for role in split_labels(columns) if role in table]
    return table.with_columns(*[_plain_values(table, role) for role in roles])


def _plain_values(table: RoleTable, role: str) -> pl.Series:
    """Return a column of the split of a table; refuse what is missing, and other types.

    It is of text, whole numbers, True and False, dates or times in microseconds.
    """
    values = table[role]
    problem = f"{table.column_in_words(role)} of split="
    missing = is_missing(values).arg_true()
    if len(missing):
        raise FrameError(
            f"{problem} has missing values, such as that of "
            f"{table.ids_in_words(missing[0])}. Drop such rows, or fill them in."
        )
    dtype = values.dtype
    if dtype in TEXT:
        return values.cast(pl.String)
    if dtype in (pl.Date, pl.Boolean):
        return values
    plain: pl.DataType = pl.Int64()
    wrong = values
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
        plain = pl.Datetime("us")
    if dtype.is_numeric() or isinstance(plain, pl.Datetime):
        as_plain = values.cast(plain, strict=False)
        wrong = values.filter(~as_plain.cast(dtype).eq_missing(values))
        if wrong.is_empty():
            return as_plain
    held, first = held_and_first(wrong)
    raise FrameError(
        f"{problem} holds {held} such as {first}: give text, whole numbers, dates or times "
        "of no zone in whole microseconds."
    )


def _values_in_words(columns: Sequence[str], values: Sequence[Any]) -> str:
    """Return values of the split's columns in words, "fold=1, seed=7"."""
    pairs = zip(columns, values, strict=True)
    return ", ".join(f"{column}={_shown(value)}" for column, value in pairs)


def _shown(value: Any) -> str:
    """Return a value as text; of a time at midnight the date."""
    if isinstance(value, datetime) and value.time() == time():
        return str(value.date())
    return str(value)
