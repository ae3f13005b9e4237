"""The rows of one of the caller's tables, by role, and checks of their ids.

Checks are methods here, since their errors name the table and the caller's columns.
Those of lists are in `list_order.py`, and that of grades in `truth.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from recnb.data.ids import n_distinct
from recnb.data.names import IDS, Labels
from recnb.display.language import Noun, noun_of
from recnb.errors import FrameError, NoRowsError, quoted

#: Types of columns of text.
TEXT = (pl.String, pl.Categorical, pl.Enum)
#: From 2 to this power on, floats of a type skip whole numbers.
MANTISSA_BITS: dict[Any, int] = {pl.Float16: 11, pl.Float32: 24, pl.Float64: 53}


@dataclass(frozen=True, eq=False)
class RoleTable:
    """The rows of one table: a column for each role, under the role's name."""

    #: What errors call the table: "recommendations", "truth", "train".
    name: str
    rows: pl.DataFrame
    #: The caller's column of each role.
    labels: Labels
    #: Whether ranks are places in lists, where an item that stands twice moves the next.
    ranks_are_places: bool = False
    #: A `GradedTruth` by the decisions that grade a truth, for all lists beside it. A
    #: table with other rows begins with none.
    graded_truths: dict[Any, Any] = field(default_factory=dict, init=False)

    def __getitem__(self, role: str) -> pl.Series:
        return self.rows[role]

    def __contains__(self, role: str) -> bool:
        return role in self.rows.columns

    def label(self, role: str) -> str:
        """Return what the caller calls the column of a role, also one of a split."""
        return self.labels.get(role, role.removeprefix("split "))

    @property
    def noun(self) -> Noun:
        """What the caller calls users and items, as the names of their columns tell."""
        return noun_of(str(self.label("user")), str(self.label("item")))

    def ids_in_words(self, row: int) -> str:
        """Name the user and the item of a row as errors do."""
        return ids_in_words(self.rows, row, self.noun)

    def column_in_words(self, role: str) -> str:
        """Name the column of a role as errors do."""
        return f"{self.name}: column {self.label(role)!r}"

    def with_rows(self, rows: pl.DataFrame) -> RoleTable:
        """Return the table with other rows."""
        return replace(self, rows=rows)

    def with_columns(self, *columns: pl.Series) -> RoleTable:
        """Return the table with more columns, or others under the same names."""
        return self.with_rows(with_series(self.rows, *columns))

    # Ids

    def with_ids(self, roles: Sequence[str] = IDS) -> RoleTable:
        """Return the table with ids as whole numbers or text; refuse it without rows."""
        if self.rows.height == 0:
            raise no_rows(self.name)
        rows = self.rows
        for role in roles:
            ids = rows[role]
            if ids.null_count() or ids.dtype not in (pl.Int64, pl.String):
                rows = with_series(rows, self._ids(role))
        return self.with_rows(rows)

    def _ids(self, role: str) -> pl.Series:
        """Return the ids of a role as whole numbers or text; refuse missing ones."""
        self._refuse_missing(role)
        values = self[role]
        if values.dtype in TEXT:
            return values.cast(pl.String)
        if not values.dtype.is_numeric():
            raise self._no_id(role, wrong=values)
        # pandas makes floats of whole numbers as soon as one is missing.
        whole = values.cast(pl.Int64, strict=False)
        # A UInt64 beyond 2**63 becomes null, and 1.5 becomes 1.
        is_same = whole.cast(values.dtype, strict=False).eq_missing(values)
        if values.dtype.is_float():
            is_same &= values.abs() < 2 ** MANTISSA_BITS[values.dtype]
        if not is_same.all():
            raise self._no_id(role, wrong=values.filter(~is_same))
        return whole

    def _refuse_missing(self, role: str) -> None:
        """Raise an error for missing ids."""
        missing = is_missing(self[role]).arg_true()
        if len(missing):
            n, plural = len(missing), "s" * (len(missing) > 1)
            raise FrameError(
                f"{self.column_in_words(role)} has {n:,} missing {role} id{plural}, the "
                f"first in row {missing[0]}. Drop such rows."
            )

    def _no_id(self, role: str, wrong: pl.Series) -> FrameError:
        """Return the error for a column with `wrong` values, which cannot be ids."""
        example = wrong.head(1).to_list()[0]
        fix = "Make them text, in the other frame as well."
        if wrong.dtype.is_float():
            fix = "Floats are not exact: read ids as whole numbers or as text."
        if wrong.dtype in (pl.List, pl.Array):
            fix = (
                f"Explode {self.label(role)!r} into a row of each; "
                "a column of lists is named by recommended= or relevant=."
            )
        return FrameError(
            f"{self.column_in_words(role)} holds {str(wrong.dtype)[:80]} such as "
            f"{quoted(example)}, which is not a valid {role} id: each row needs one "
            f"id, a whole number below 2**63 or text. {fix}"
        )

    def refuse_repeated_ids(self, role: str) -> None:
        """Raise an error for an id of more than one row."""
        repeats = self[role].filter(self[role].is_duplicated())
        if len(repeats):
            raise FrameError(
                f"{self.name}: {role} {repeats[0]!r} has more than one row: give each "
                f"{role} one."
            )

    def typed_as(self, other: RoleTable) -> RoleTable:
        """Return the table as it is or, if it has no rows, with ids of another's types."""
        if self.rows.height:
            return self
        return self.with_columns(*[other[role].clear() for role in IDS])

    def refuse_other_kinds(self, other: RoleTable, roles: Sequence[str] = IDS) -> None:
        """Raise an error for ids, or values of a split, of another type.

        1 and "1" never match, and every score would be 0.
        """
        if not self.rows.height or not other.rows.height:
            return
        for role in roles:
            if role not in other:
                continue  # a frame of users has no items, one of items no users
            ours, theirs = self[role].dtype, other[role].dtype
            if ours == theirs:
                continue
            examples = []
            for table in (self, other):
                held, first = held_and_first(table[role])
                column = f"{table.name} in column {table.label(role)!r}"
                examples.append(f"{column} {held} (such as {first})")
            fix, typed = _fix_of_kinds(self, other, role)
            values = f"{role} ids" if role in IDS else "values of split="
            raise FrameError(
                f"the {values} are of different kinds: {', '.join(examples)}. They would "
                f"never match. {fix}",
                typed,
            )

    # Values, repeats

    def refuse_values(self, role: str, is_bad: pl.Series, why: str) -> None:
        """Raise an error for the first bad value, with why it is, and the fix."""
        if not is_bad.any():
            return
        rows = is_bad.arg_true()
        row = rows[0]
        value = self[role][row]
        shown = f"{value:g}" if isinstance(value, float) else value
        raise FrameError(
            f"{self.column_in_words(role)} holds {shown} for {self.ids_in_words(row)} "
            f"({len(rows):,} such in all): {why}"
        )

    def finite_numbers(self, role: str, why: str) -> pl.Series:
        """Return a column as numbers of their own type; refuse what is not finite."""
        numbers = as_numbers(self[role], self.column_in_words(role))
        is_finite = np.isfinite(numbers.cast(pl.Float64).to_numpy())
        self.refuse_values(role, pl.Series(~is_finite), why)
        return numbers

    def refuse_repeated_pairs(self, keys: Sequence[str], fix: str) -> None:
        """Raise an error for pairs of user and item that are repeated in these columns."""
        twice = repeated(self.rows, keys)
        if twice.height == 0:
            return
        noun = self.noun
        columns = [self.label(role) for role in IDS]
        raise FrameError(
            f"{self.name}: pairs of {noun.user} and {noun.item} are repeated in {columns}, "
            f"{twice.height:,} in all, such as {ids_in_words(twice, 0, noun)} "
            f"({twice['len'][0]} times). {fix}"
        )


def no_rows(name: str) -> NoRowsError:
    """Return the error for a table without rows."""
    return NoRowsError(
        f"{name}: there are no rows to evaluate: it is empty, or all its lists are."
    )


def _fix_of_kinds(
    ours: RoleTable, theirs: RoleTable, role: str
) -> tuple[str, dict[str, str]]:
    """Say how values of two kinds become one; as text 1.0 would not match 1.

    With it comes what is said in its place on the command line.
    """
    for table in (ours, theirs):
        values = table[role]
        if values.dtype != pl.String or not values.str.contains(r"^-?\d+\.0+$").all():
            continue
        column = f"{table.name}[{table.label(role)!r}]"
        fix = (
            f"Make numbers of such text, {column} = {column}.astype(float); of a "
            "CSV file pandas.read_csv does."
        )
        return fix, {fix: "Write such ids as whole numbers, 1 for 1.0."}
    return "Make both text." if role in IDS else "Make both one kind.", {}


def ids_in_words(rows: pl.DataFrame, row: int, noun: Noun | None = None) -> str:
    """Name the user and the item of a row, of those that it has, as errors do."""
    words = (noun or Noun())._asdict()
    ids = [f"{words[role]} {rows[role][row]!r}" for role in IDS if role in rows.columns]
    return ", ".join(ids)


def rows_of_users(table: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    """Return the rows of some users."""
    return table.filter(pl.col("user").is_in(pl.lit(users).implode()))


def repeated(table: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the key values that occur in more than one row, with their count."""
    # Grouping is slow: only rows whose hash occurs more than once are grouped.
    rows = table[:, [*keys]]
    row_hash = rows.hash_rows()
    if n_distinct(row_hash.to_numpy()) == len(row_hash):
        return with_series(rows.clear(), pl.Series("len", [], pl.UInt32))
    suspects = rows.filter(row_hash.is_duplicated())
    counts = suspects.group_by(keys, maintain_order=True).len()
    return counts.filter(pl.col("len") > 1)


def with_series(table: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """Replace or add columns, without the query that `DataFrame.with_columns` runs."""
    other = table.clone()
    for column in columns:
        if column.name in other.columns:
            other.replace_column(other.get_column_index(column.name), column)
        else:
            other.insert_column(other.width, column)
    return other


# ---- what values are


def kind(dtype: pl.DataType) -> str:
    """Describe the values of a type, ids or numbers."""
    if dtype.is_integer():
        return "whole numbers"
    if dtype in TEXT:
        return "text"
    return str(dtype)


def held_and_first(values: pl.Series) -> tuple[str, str]:
    """Describe the values of a column, and write the first; of times as text."""
    first = values.head(1).to_list()[0]
    if values.dtype.is_temporal():
        return str(values.dtype.base_type()), str(first)
    return kind(values.dtype), quoted(first)


def is_missing(values: pl.Series) -> pl.Series:
    """Return which values are null or NaN."""
    if values.dtype.is_float():
        return values.is_null() | values.is_nan()
    return values.is_null()


def as_numbers(values: pl.Series, name: str) -> pl.Series:
    """Return a column as numbers; True and False are 1 and 0.

    A column of any other type is refused, unless it is empty; errors call it `name`.
    """
    if values.dtype.is_numeric():
        return values
    if values.dtype == pl.Boolean or values.null_count() == len(values):
        return values.cast(pl.Float64)
    known = values.drop_nulls()
    if values.dtype in TEXT:
        text = known.cast(pl.String)
        not_numbers = text.filter(text.cast(pl.Float64, strict=False).is_null())
        known = not_numbers if len(not_numbers) else text
    example = known.head(1).to_list()[0]
    raise FrameError(
        f"{name} holds {kind(values.dtype)} where numbers are needed, such as "
        f"{quoted(example)}: make them numbers, or drop such rows."
    )
