"""A sheet: the rows of one of the caller's tables, by role, and checks of them.

Checks of ids, numbers, repeats and order are methods here, since their errors name the
table and the caller's columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.checks import (
    GRADES,
    RANKS,
    SCORES,
    TEXT,
    Range,
    first_failed,
    is_missing,
    kind,
)
from recnb.data.convert import with_series
from recnb.data.names import IDS, TRUTH, Labels
from recnb.data.tables import Frame, InputTable
from recnb.errors import ColumnError, FrameError, NoRowsError, quoted
from recnb.metrics.hits import Bools, Floats

#: How errors end where a pair or a rank of a user repeats, after "If the rows are".
SEVERAL_LISTS = (
    "the lists of several models, compare them; of several days, folds or seeds, name "
    "the columns that tell these apart, such as split='fold'."
)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The rows of one table: a column for each role, under the role's name."""

    #: What errors call the table: "recommendations", "truth", "train".
    name: str
    rows: pl.DataFrame
    #: The caller's column of each role.
    labels: Labels

    @classmethod
    def read(
        cls,
        frame: Frame,
        name: str,
        labels: Labels,
        id_roles: Sequence[str] = IDS,
    ) -> Sheet:
        """Read the columns of a frame that play a role, and check the ids."""
        return cls(name, InputTable.of(frame, name).select(labels), labels).with_ids(
            id_roles
        )

    def __getitem__(self, role: str) -> pl.Series:
        return self.rows[role]

    def __contains__(self, role: str) -> bool:
        return role in self.rows.columns

    def label(self, role: str) -> str:
        """Return what the caller calls the column of a role."""
        return self.labels.get(role, role)

    def column_in_words(self, role: str) -> str:
        """Name the column of a role as errors do."""
        return f"{self.name}: column {self.label(role)!r}"

    def pair_in_words(self, row: int) -> str:
        """Name the user and the item of a row."""
        return f"user {self['user'][row]!r}, item {self['item'][row]!r}"

    def with_rows(self, rows: pl.DataFrame) -> Sheet:
        """Return the sheet with other rows."""
        return replace(self, rows=rows)

    def with_columns(self, *columns: pl.Series) -> Sheet:
        """Return the sheet with more columns, or others under the same names."""
        return self.with_rows(with_series(self.rows, *columns))

    # Ids

    def with_ids(self, roles: Sequence[str] = IDS) -> Sheet:
        """Return the sheet with ids as whole numbers or text; refuse it without rows."""
        if self.rows.height == 0:
            raise NoRowsError(
                f"{self.name}: there are no rows to evaluate, it is empty."
            )
        return self.with_columns(*[self._ids(role).alias(role) for role in roles])

    def _ids(self, role: str) -> pl.Series:
        """Return the ids of a role as whole numbers or text; refuse missing ones."""
        self._refuse_missing(role)
        values = self[role]
        if values.dtype in (pl.Int64, pl.String):
            return values
        if values.dtype in TEXT:
            return values.cast(pl.String)
        if values.dtype.is_float():
            return self._whole_numbers(role)
        if not values.dtype.is_integer() and not values.dtype.is_decimal():
            raise self._no_id(role, wrong=values)
        whole = values.cast(pl.Int64, strict=False)
        # A UInt64 beyond 2**63 becomes null, and the Decimal 1.5 becomes 1.
        is_same = whole.cast(values.dtype, strict=False).eq_missing(values)
        if not is_same.all():
            raise self._no_id(role, wrong=values.filter(~is_same))
        return whole

    def _refuse_missing(self, role: str) -> None:
        """Raise an error for missing ids."""
        values = self[role]
        if not values.null_count() and not values.dtype.is_float():
            return
        missing = is_missing(values).arg_true()
        if len(missing):
            n, plural = len(missing), "s" * (len(missing) > 1)
            raise FrameError(
                f"{self.column_in_words(role)} has {n:,} missing {role} id{plural}, the "
                f"first in row {missing[0]}. Drop such rows."
            )

    def _whole_numbers(self, role: str) -> pl.Series:
        """Return ids that came as floats, as whole numbers.

        pandas makes floats of whole numbers as soon as one is missing.
        """
        values = self[role]
        mantissa_bits = {"Float16": 11, "Float32": 24}.get(str(values.dtype), 53)
        exact_below = 2**mantissa_bits  # from there on, floats skip whole numbers
        inexact = values.filter(
            (values != values.floor()) | (values.abs() >= exact_below)
        )
        if len(inexact):
            raise FrameError(
                f"{self.column_in_words(role)} holds the {values.dtype} {inexact[0]!r}, not "
                "exact as an id: read ids as whole numbers or as text."
            )
        return values.cast(pl.Int64)

    def _no_id(self, role: str, wrong: pl.Series) -> FrameError:
        """Return the error for a column with `wrong` values, which cannot be ids."""
        example, type_in_words = wrong.head(1).to_list()[0], str(wrong.dtype)[:80]
        if isinstance(example, bytes) and len(example) == 16:  # a UUID of Arrow
            example, type_in_words = UUID(bytes=example), "16 bytes"
        fix = "Make them text, in the other frame as well."
        if wrong.dtype in (pl.List, pl.Array):
            fix = (
                f"Explode {self.label(role)!r} into a row of each; "
                "a column of lists is named by recommended= or relevant=."
            )
        return FrameError(
            f"{self.column_in_words(role)} holds {type_in_words} such as "
            f"{quoted(example)}, which is not a valid {role} id: each row needs one "
            f"id, a whole number below 2**63 or text. {fix}"
        )

    def refuse_other_kinds(self, other: Sheet) -> None:
        """Raise an error for ids of another type.

        1 and "1" never match, and every score would be 0.
        """
        if not self.rows.height or not other.rows.height:
            return
        for role in IDS:
            if role not in other:
                continue  # a frame of users has no items, one of items no users
            if kind(self[role].dtype) == kind(other[role].dtype):
                continue
            examples = ", ".join(
                f"{sheet.name} in column {sheet.label(role)!r} "
                f"{kind(sheet[role].dtype)} (such as {sheet[role][0]!r})"
                for sheet in (self, other)
            )
            raise FrameError(
                f"the {role} ids are of different kinds: {examples}. They would never "
                f"match. {_fix_of_kinds(self, other, role)}"
            )

    # Numbers

    def numbers(self, role: str, allowed: Range) -> pl.Series:
        """Return the column of a role as numbers that pass the checks of a range.

        They are of the type they have: as floats, large whole numbers would become
        equal.
        """
        values = self._as_numbers(role)
        failed = first_failed(values, allowed)
        if failed is None:
            return values
        check, bad = failed
        n, row = len(bad), bad[0]
        problem = check.problem.format(
            n=n,
            s="s" * (n > 1),
            are="are" if n > 1 else "is",
            value=values[row],
            pair=self.pair_in_words(row),
        )
        fix = check.fix.format(column=self.label(role))
        raise FrameError(f"{self.column_in_words(role)} {problem} {fix}")

    def _as_numbers(self, role: str) -> pl.Series:
        """Return the column of a role as numbers; True and False are 1 and 0.

        Raises an error for a column of any other type, unless it is empty.
        """
        column = self[role]
        if column.dtype.is_numeric():
            return column
        if column.dtype == pl.Boolean or column.null_count() == len(column):
            return column.cast(pl.Float64)
        given = column.drop_nulls()
        problem = (
            f"{self.column_in_words(role)} holds {kind(column.dtype)} where numbers are "
            "needed"
        )
        if column.dtype in TEXT:
            text = given.cast(pl.String)
            not_numbers = text.filter(text.cast(pl.Float64, strict=False).is_null())
            if len(not_numbers):
                raise FrameError(
                    f"{problem}, and {not_numbers[0]!r} is no number: correct it, or drop "
                    "the row."
                )
        example = given.head(1).to_list()[0]
        raise FrameError(f"{problem}, such as {quoted(example)}: make them numbers.")

    # Repeats

    def refuse_repeated_pairs(self, *, share_a_rank: bool = False) -> None:
        """Raise an error for repeated pairs of user and item, which would count twice.

        With `share_a_rank`, only for those that have the same rank as well, of which
        duplicates="dedupe" cannot keep the higher.
        """
        keys = [*IDS, "rank"] if share_a_rank else [*IDS]
        twice = repeated(self.rows, keys)
        if twice.height == 0:
            return
        if twice.height == 1:
            pairs = "1 pair of user and item is"
        else:
            pairs = f"{twice.height:,} pairs of user and item are"
        columns = [self.label(role) for role in IDS]
        user, item, n_rows = twice.select(*IDS, "len").row(0)
        raise FrameError(
            f"{self.name}: {pairs} repeated in {columns}, such as user {user!r}, "
            f"item {item!r} ({n_rows} times). "
            f"{self._repeats_fix(share_a_rank=share_a_rank)}"
        )

    def _repeats_fix(self, *, share_a_rank: bool) -> str:
        """Return what to do about repeated pairs, in words."""
        if share_a_rank:
            fix = "Drop the repeats: they have the same rank, so none is higher."
        else:
            fix = (
                f"Drop the repeats; or say duplicates='dedupe' to keep {self._kept()}."
            )
        if self.name == TRUTH:
            return fix
        return f"{fix} If they are {SEVERAL_LISTS}"

    def _kept(self) -> str:
        """Return which of repeated rows duplicates='dedupe' keeps, in words."""
        if self.name == TRUTH:
            return "the highest relevance"
        if "rank" in self.labels:
            return "the one ranked highest, if no rank is given twice"
        return "the one ranked highest"

    def refuse_repeated_ranks(self) -> None:
        """Raise an error for two items of a user that share a rank."""
        twice = repeated(self.rows, ["user", "rank"])
        if twice.height == 0:
            return
        user, rank, _n = twice.row(0)
        same = self.rows.filter(pl.col("user") == user, pl.col("rank") == rank)
        first, second = same["item"].to_list()[:2]
        raise FrameError(
            f"{self.column_in_words('rank')} gives a rank twice: user {user!r} has "
            f"{first!r} and {second!r} at rank {rank} ({twice.height:,} such in "
            "all). Give each item of a user its own rank, or give scores alone. If "
            f"the rows are {SEVERAL_LISTS}"
        )

    # The order of lists

    def with_order_settled(self, convention: Convention) -> tuple[Sheet, Convention]:
        """Return the sheet with its scores or ranks checked, and the settled convention.

        The order of the settled convention is "rank", "score" or "row", never "auto".
        """
        order = self._order(convention)
        settled = convention.ordered_by(order)
        if order == "row":
            return self, settled
        if order == "score":
            scores = self.numbers("score", SCORES)
            return self.with_columns(scores.alias("score")), settled
        ranks = self.numbers("rank", RANKS).cast(pl.Int64)
        with_ranks = self.with_columns(ranks.alias("rank"))
        # Under order="rank" the caller has said that scores do not matter.
        if convention.order == "auto" and "score" in self:
            with_ranks._refuse_disagreement()
        return with_ranks, settled

    def _order(self, convention: Convention) -> str:
        """Return what orders the lists: "rank", "score" or "row"."""
        order = convention.order
        if order == "auto":
            for role in ("rank", "score"):
                if role in self:
                    return role
            raise ColumnError(
                f"{self.name} have no rank or score column that recnb knows. Say which "
                "one puts a list in order, rank='...' or score='...'; or, if rows stand "
                "in rank order already, order='row'."
            )
        if order != "row" and order not in self:
            raise ColumnError(
                f"order={quoted(order)}, but {self.name} have no {order} column: "
                f"say {order}='...'."
            )
        return order

    def _refuse_disagreement(self) -> None:
        """Raise an error if an item is ranked above one with a higher score."""
        scores = self.numbers("score", SCORES)
        rows = _sorted_by_rank(self.rows.with_columns(score=scores))
        # Neighbours are enough: where none disagree, no rows do.
        rows = rows.with_columns(
            pl.col("user", "item", "rank", "score").shift().name.suffix("_above")
        )
        wrong = rows.filter(
            pl.col("user") == pl.col("user_above"),
            pl.col("rank") > pl.col("rank_above"),  # equal ranks are refused elsewhere
            pl.col("score") > pl.col("score_above"),
        )
        if wrong.height == 0:
            return
        row, plural = wrong.row(0, named=True), "s" * (wrong.height > 1)
        fix = "Say which one is the order: order='rank' or order='score'."
        if repeated(rows, ["user", "rank"]).height:
            fix += f" If the rows are {SEVERAL_LISTS}"
        raise FrameError(
            f"{self.name}: {self.label('rank')!r} and {self.label('score')!r} "
            f"disagree in {wrong.height:,} place{plural}: user {row['user']!r} has "
            f"item {row['item']!r} at rank {row['rank']}, below item "
            f"{row['item_above']!r}, with a higher score, {row['score']:g}. {fix}"
        )

    # What is relevant

    def graded(self, convention: Convention) -> Sheet:
        """Return the truth with a relevance for each row, 1 without a relevance column.

        A relevance below 0 is refused, made 0 or kept, as the convention says.
        """
        if "relevance" not in self:
            return self.with_columns(pl.Series("relevance", np.ones(self.rows.height)))
        negative = convention.negative_relevance
        relevances = self.numbers("relevance", GRADES[negative]).cast(pl.Float64)
        if negative == "zero":
            relevances = relevances.clip(lower_bound=0.0)
        if convention.relevant_from is not None:
            dtype = self["relevance"].dtype
            threshold = convention.relevant_from
            relevances = _with_exact_threshold(relevances, dtype, threshold)
        return self.with_columns(relevances.alias("relevance"))


def _fix_of_kinds(ours: Sheet, theirs: Sheet, role: str) -> str:
    """Say how ids of two kinds become one; as text 1.0 would not match 1."""
    for sheet in (ours, theirs):
        is_text = sheet[role].dtype == pl.String
        if is_text and sheet[role].str.contains(r"^-?\d+\.0+$").all():
            column = f"{sheet.name}[{sheet.label(role)!r}]"
            return (
                f"Make numbers of such text, {column} = {column}.astype(float); of a "
                "CSV file pandas.read_csv does."
            )
    return "Make both text."


def _with_exact_threshold(
    relevances: pl.Series, dtype: pl.DataType, threshold: float
) -> pl.Series:
    """Return relevances in which those that stand for the threshold are equal to it.

    A Float32 column holds the threshold 0.7 as 0.69999999, and `>= 0.7` would leave it
    out: such values become 0.7.
    """
    if dtype not in (pl.Float32, pl.Float16):
        return relevances  # whole numbers and Float64 hold the threshold as it is
    in_precision = pl.Series([float(threshold)]).cast(dtype)[0]
    return relevances.set(relevances == in_precision, threshold)


def _sorted_by_rank(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows by user and rank: as they are, if users and the ranks of each rise."""
    is_first_of_user = pl.col("user") != pl.col("user").shift()
    rank_rises = pl.col("rank") > pl.col("rank").shift()
    # The first row has none above it: null, which `all` passes over.
    ranks_rise = rows.select((is_first_of_user | rank_rises).all()).item()
    if ranks_rise and rows["user"].is_sorted():
        return rows
    return rows.sort("user", "rank")


def repeated(table: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the key values that occur in more than one row, with their count."""
    # Grouping is slow: only rows whose hash occurs more than once are grouped.
    row_hash = pl.Series(np.zeros(table.height, dtype=np.uint64))
    # With one seed 1, 2 and 2, 1 would have the same sum.
    for seed, key in enumerate(keys, 1):
        row_hash += table[key].hash(seed)
    ordered = row_hash.sort().to_numpy()
    repeated_hashes = pl.Series(ordered[1:][ordered[1:] == ordered[:-1]])
    suspects = table.filter(row_hash.is_in(repeated_hashes.implode()))
    counts = suspects.group_by(keys, maintain_order=True).len()
    return counts.filter(pl.col("len") > 1)


def in_floats(scores: pl.Series) -> Floats:
    """Return floats that sort as the scores do, and are above 0 where the scores are.

    With nonpositive_scores="never_hit" an item is a hit only if its score is above 0.

        scores    -5   2**53   2**53 + 1
        floats    -5   2**53   2**53        the last two have become equal
        places     1       2       3        in the sorted order, which tells them apart
        returned   0       1       2        counted from the highest score not above 0
    """
    floats = scores.cast(pl.Float64).to_numpy()
    if _are_told_apart(scores, floats):
        return floats
    places = scores.rank("dense").to_numpy().astype(np.float64)
    place_of_zero = places[floats <= 0].max(initial=0.0)
    return np.asarray(places - place_of_zero)


def _are_told_apart(scores: pl.Series, floats: Floats) -> bool:
    """Return whether scores that differ still do as floats."""
    if scores.dtype.is_float():
        return True
    if scores.dtype.is_integer() and np.abs(floats).max(initial=0.0) < 2**53:
        return True  # whole numbers below are exact
    return len(np.unique(floats)) == scores.n_unique()


def is_relevant(relevance: Floats, convention: Convention) -> Bools:
    """Return which rows of the truth count as relevant."""
    if convention.relevant_from is not None:
        return relevance >= convention.relevant_from
    if convention.relevant == "any":
        return np.ones(len(relevance), dtype=bool)
    if convention.relevant == "!=0":
        return np.not_equal(relevance, 0)
    return relevance > 0


def relevant_only(truth: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """Return the rows of the truth that count as relevant."""
    return truth.filter(is_relevant(truth["relevance"].to_numpy(), convention))
