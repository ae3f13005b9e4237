"""Splits: lists of several days, folds or seeds, each matched with its own truth.

Below the join a list's id stands where a user's does, as text that reads well in every
error: "u1 [day=2024-05-01]". So the join, the parts of files and engines, and every
metric see a user for each list. `Splits` makes these ids, and finds user and split in
them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.checks import TEXT, is_missing, kind
from recnb.data.convert import with_series
from recnb.data.ids import positions
from recnb.data.names import RECS, TRUTH
from recnb.data.sheet import Sheet
from recnb.errors import FrameError, NoUsersError, quoted
from recnb.metrics.hits import Ints, cached_property

#: What stands between a user and a split in a list's id.
OPENING = " ["
#: The column of the text that stands for a combination of values.
LABEL = "split"


def split_role(column: str) -> str:
    """Return the name of a column of the split in tables whose columns are roles."""
    return f"split {column}"


class MetLabels(NamedTuple):
    """The labels of combinations that rows of both sides are in."""

    judged: frozenset[str] = frozenset()  #: in the truth
    met: frozenset[str] = frozenset()  #: in which some user is on both sides


@dataclass(frozen=True, eq=False)
class Splits:
    """The combinations of values that tell lists of a user apart."""

    columns: tuple[str, ...]  #: the caller's
    #: The distinct combinations in the recommendations, sorted, a row each.
    values: pl.DataFrame
    user_dtype: pl.DataType

    @classmethod
    def of(cls, lists: Sheet, columns: Sequence[str]) -> Splits:
        """Find the combinations in recommendations, of which each may be one row."""
        by_column = {column: _values_of(lists, column) for column in columns}
        values = pl.DataFrame(by_column).unique().sort(columns)
        splits = cls(tuple(columns), values, lists["user"].dtype)
        splits._refuse_alike_or_open()
        return splits

    def _refuse_alike_or_open(self) -> None:
        """Refuse values whose text cannot be told apart, or cannot be read again."""
        labels = self.labels
        bad = labels.filter(
            labels.is_duplicated() | labels.str.contains(OPENING, literal=True)
        )
        if len(bad):
            raise FrameError(
                f"{RECS}: split={self._as_typed} holds {bad[0].removesuffix(']')!r}, "
                f"which cannot be told from another list's name: write its name and "
                f"values without {OPENING!r} and ', '."
            )

    @property
    def _as_typed(self) -> str:
        """The columns as a caller types them."""
        return repr(self.columns[0] if len(self.columns) == 1 else [*self.columns])

    @cached_property
    def labels(self) -> pl.Series:
        """The text of each combination, which ends the ids of its lists."""
        texts = [
            ", ".join(
                f"{column}={_shown(value)}"
                for column, value in zip(self.columns, row, strict=True)
            )
            for row in self.values.iter_rows()
        ]
        return pl.Series(LABEL, texts, dtype=pl.String) + "]"

    # From users to lists

    def with_list_ids(self, sheet: Sheet) -> Sheet:
        """Return a sheet with lists in the place of users.

        A row without a column of the split holds for each of its values, and is
        repeated.
        """
        present = [name for name in self.columns if split_role(name) in sheet]
        roles = [split_role(name) for name in present]
        if not sheet.rows.height:
            rows = sheet.rows.drop(roles)
            return sheet.with_rows(with_series(rows, rows["user"].cast(pl.String)))
        renamed = self.values.rename({name: split_role(name) for name in self.columns})
        labelled = renamed.with_columns(self.labels).select(*roles, LABEL)
        table = self.with_values(sheet).rows
        if roles:
            rows = table.join(
                labelled, on=roles, how="left", maintain_order="left_right"
            )
        else:
            rows = table.join(labelled, how="cross")
        self._refuse_unlisted(sheet, rows, present)
        users = _joined(rows["user"], rows[LABEL]).alias("user")
        return sheet.with_rows(with_series(rows.drop(*roles, LABEL), users))

    def with_values(self, sheet: Sheet) -> Sheet:
        """Return a sheet whose values of the split are of the recommendations' types."""
        for name in self.columns:
            if split_role(name) in sheet:
                values = _values_of(sheet, name)
                self._refuse_other_kind(sheet.name, values)
                sheet = sheet.with_columns(values.alias(split_role(name)))
        return sheet

    def _refuse_other_kind(self, name: str, values: pl.Series) -> None:
        """Raise an error for values of another type than the recommendations have."""
        ours = self.values[values.name]
        if values.dtype == ours.dtype:
            return
        raise FrameError(
            f"column {values.name!r} of split= holds {kind(ours.dtype)} in the "
            f"{RECS} (such as {ours[0]!r}) and {kind(values.dtype)} in {name} "
            f"(such as {values[0]!r}). They would never match. "
            f"{_fix_of_kinds(ours, values, name)}"
        )

    def _refuse_unlisted(
        self, sheet: Sheet, rows: pl.DataFrame, names: Sequence[str]
    ) -> None:
        """Raise an error for rows of the truth in a combination that has no lists."""
        lacking = rows.filter(pl.col(LABEL).is_null())
        if not lacking.height:
            return
        row = lacking.row(0, named=True)
        pairs = {name: row[split_role(name)] for name in names}
        words = ", ".join(f"{name}={_shown(value)}" for name, value in pairs.items())
        others = [
            f"{sheet.name}[{name!r}] != {_typed(value)}"
            for name, value in pairs.items()
        ]
        if len(others) > 1:
            others = [f"({other})" for other in others]
        raise FrameError(
            f"{sheet.name} has rows of {words}, and the {RECS} have no list there. "
            "Add its lists, or leave its rows out, such as "
            f"{sheet.name}[{' | '.join(others)}]."
        )

    def of_lists(self, rows: pl.DataFrame, code: int) -> pl.DataFrame:
        """Return the rows of users, as of train, that hold in one combination, by list.

        Rows that lack a column of the split hold for each of its values.
        """
        for name in self.columns:
            role = split_role(name)
            if role in rows.columns:
                rows = rows.filter(pl.col(role) == self.values[name][code])
        label = pl.Series([self.labels[code]]).new_from_index(0, rows.height)
        return with_series(rows, _joined(rows["user"], label).alias("user"))

    # From lists to users

    def lists(self, list_ids: pl.Series) -> pl.DataFrame:
        """Return the user of each list, and its values of the split's columns."""
        users, labels = _taken_apart(list_ids)
        values = self.values[positions(self.labels, labels)]
        return pl.DataFrame([users.cast(self.user_dtype), *values.get_columns()])

    def keys_of(self, list_ids: pl.Series) -> pl.DataFrame:
        """Return lists with user and values under the names of roles, as train has."""
        roles = {name: split_role(name) for name in self.columns}
        return self.lists(list_ids).rename(roles).with_columns(list_ids.alias("list"))

    def users_of(self, list_ids: pl.Series) -> pl.Series:
        """Return the user of each list."""
        users, _labels = _taken_apart(list_ids)
        return users.cast(self.user_dtype)

    @staticmethod
    def of_user(user: Any, list_ids: pl.Series) -> pl.Series:
        """Return those lists that are of a user."""
        return list_ids.filter(list_ids.str.starts_with(f"{user}{OPENING}"))

    def codes_of(self, list_ids: pl.Series) -> Ints:
        """Return the row of `values` that each list is of."""
        _users, labels = _taken_apart(list_ids)
        return positions(self.labels, labels)

    def codes_with(self, values: Mapping[str, Any]) -> Ints:
        """Return the rows of `values` that have these values in some columns."""
        has_values = np.ones(self.values.height, dtype=bool)
        for column, value in values.items():
            has_values &= [known == value for known in self.values[column].to_list()]
        return np.flatnonzero(has_values)

    def of_codes(self, codes: Ints) -> Splits:
        """Return some of the combinations."""
        return replace(self, values=self.values[codes])

    def list_id(self, key: tuple[Any, ...]) -> Any:
        """Return the id of the list that a user and values name, else the key.

        They are as the index of results has them, or dates in the place of its times.
        """
        if len(key) != 1 + len(self.columns):
            return key
        user, *values = key
        is_text = isinstance(user, str)
        users_are_text = self.user_dtype == pl.String
        if is_text != users_are_text:
            return key  # The ids of lists hold texts, in which 1 is the user "1".
        code = self._code_of(values)
        if code is None:
            return key
        return f"{user}{OPENING}{self.labels[code]}"

    def _code_of(self, values: Sequence[Any]) -> int | None:
        """Return the row of `values` that has these, or None; a date is its midnight."""
        as_in_index = [
            pd.Timestamp(value) if isinstance(value, date) else value
            for value in values
        ]
        index = self.index_of(self.values)
        entry = as_in_index[0] if len(as_in_index) == 1 else tuple(as_in_index)
        if entry not in index:
            return None
        code = index.get_loc(entry)
        # The text "2024-05" is in an index of times: all rows of May, as a slice.
        return code if isinstance(code, int) else None

    @staticmethod
    def index_of(table: pl.DataFrame) -> pd.Index[Any]:
        """Return the columns of a table as the index of results, a level each."""
        arrays = [pd.Index(column.to_numpy(), name=column.name) for column in table]
        return arrays[0] if len(arrays) == 1 else pd.MultiIndex.from_arrays(arrays)

    # What both sides must have

    def met(self, lists: pl.Series, judged: pl.Series) -> MetLabels:
        """Return the labels of all of the truth, and of the lists that have a truth."""
        in_truth = judged.unique()
        in_both = in_truth.filter(in_truth.is_in(lists.implode()))
        return MetLabels(self._labels_in(in_truth), self._labels_in(in_both))

    def refuse_unmet(self, parts: Sequence[MetLabels]) -> None:
        """Raise an error for a combination whose lists meet no truth in any part."""
        judged = frozenset[str]().union(*(part.judged for part in parts))
        met = frozenset[str]().union(*(part.met for part in parts))
        for label in self.labels:
            where = label.removesuffix("]")
            if label not in judged:
                raise FrameError(
                    f"the {RECS} have lists of {where}, and {TRUTH} has no rows of it. Add "
                    "its truth, or leave its lists out."
                )
            if label not in met:
                raise FrameError(
                    f"no user is in both frames where {where}. Check that both frames use "
                    "the same ids there, or leave it out of both."
                )

    @staticmethod
    def _labels_in(list_ids: pl.Series) -> frozenset[str]:
        """Return the labels of these lists, each once."""
        _users, labels = _taken_apart(list_ids)
        return frozenset(labels.unique().to_list())

    def refuse_without_users(self, evaluated: pl.Series) -> None:
        """Raise an error for a combination in which no list is evaluated."""
        counted = self._labels_in(evaluated)
        for label in self.labels:
            if label not in counted:
                raise NoUsersError(
                    "no user that counts has a relevant item where "
                    f"{label.removesuffix(']')}. Leave it out of both frames, or check "
                    "relevant_from=."
                )


def with_distinct_splits(rows: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """Return a user of each combination in rows whose columns are roles."""
    roles = [split_role(column) for column in columns]
    return rows.select("user", *roles).unique(roles)


def _joined(users: pl.Series, labels: pl.Series) -> pl.Series:
    """Return ids of lists; refuse users whose ids cannot be found in them again."""
    texts = users.cast(pl.String)
    if users.dtype == pl.String:
        bad = texts.filter(texts.str.contains(OPENING, literal=True))
        if len(bad):
            raise FrameError(
                f"user {bad[0]!r} holds {OPENING!r}, which begins the split in the name "
                "of a list: write ids without it."
            )
    return texts + OPENING + labels


def _taken_apart(list_ids: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the text of the user of each list, and its label."""
    halves = list_ids.str.splitn(OPENING, 2).struct.unnest()
    return halves["field_0"].alias("user"), halves["field_1"]


def _values_of(sheet: Sheet, column: str) -> pl.Series:
    """Return a column of the split; refuse what is missing, and other types.

    It is of text, whole numbers, True and False, dates or times.
    """
    values = sheet[split_role(column)].alias(column)
    missing = is_missing(values)
    name = f"{sheet.name}: column {column!r}"
    if missing.any():
        raise FrameError(
            f"{name} of split= has {missing.sum():,} missing values, the first in row "
            f"{missing.arg_true()[0]}. Drop such rows, or fill them in."
        )
    dtype = values.dtype
    if dtype in TEXT:
        return values.cast(pl.String)
    if dtype in (pl.Date, pl.Boolean):
        return values
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
        return values.dt.cast_time_unit("us")
    whole = values
    if dtype.is_numeric():
        whole = values.cast(pl.Int64, strict=False)
        if (whole.cast(dtype) == values).all() and not whole.null_count():
            return whole
    raise FrameError(
        f"{name} of split= holds {kind(dtype)} such as {quoted(values.to_list()[0])}: "
        "give text, whole numbers or dates."
    )


def _fix_of_kinds(ours: pl.Series, theirs: pl.Series, name: str) -> str:
    """Say how both sides get one kind; text that meets dates is made dates."""
    if {ours.dtype, theirs.dtype} != {pl.String(), pl.Date()}:
        return "Make both one kind."
    table = RECS if ours.dtype == pl.String else name
    column = f"{table}[{ours.name!r}]"
    return f"Make both one kind: {column} = pandas.to_datetime({column}).dt.date"


def _typed(value: Any) -> str:
    """Return a value as it is compared with a column of pandas."""
    return repr(_shown(value) if isinstance(value, datetime) else value)


def _shown(value: Any) -> str:
    """Return a value as text; of a time at midnight the date."""
    if isinstance(value, datetime) and value.time() == time():
        return str(value.date())
    return str(value)
