"""Fingerprints: the same for the same rows, however they are held; another for any change."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb.data.fingerprint import Fingerprint

TABLE = pl.DataFrame(
    {
        "user": ["ann", "ann", "bob", "세라"],
        "item": [7, 8, 7, 2**60],
        "rank": [1, 2, 1, 1],
        "score": [0.5, -0.25, 1e300, 0.0],
    }
)
ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.text("ab1", max_size=2),
        st.one_of(st.none(), st.floats(allow_nan=False)),
    ),
    max_size=8,
)


def table_of(rows):
    schema = {"user": pl.Int64, "item": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_fingerprints_are_those_of_every_version():
    """The values are pinned: a record of an earlier version can be checked."""
    assert str(Fingerprint.of(TABLE)) == "17836b7961a574893cb72f252d7022aa"
    assert (
        str(Fingerprint.of(TABLE, in_order=True)) == "d3975add4eb959bef93e23c93f41c0b5"
    )
    missing = pl.DataFrame({"user": [1], "item": ["x"], "score": [None]})
    assert str(Fingerprint.of(missing)) == "438009d3f6535b48011234feaec1e436"


@given(ROWS, st.randoms(use_true_random=False), st.integers(0, 8))
def test_neither_the_order_of_rows_nor_parts_matter(rows, random, cut):
    whole = Fingerprint.of(table_of(rows))
    shuffled = random.sample(rows, len(rows))
    assert Fingerprint.of(table_of(shuffled)) == whole
    parts = [table_of(shuffled[:cut]), table_of(shuffled[cut:])]
    assert sum(map(Fingerprint.of, parts), Fingerprint()) == whole


@given(ROWS, ROWS)
def test_other_rows_have_another_fingerprint(rows, others):
    def in_order(rows):
        return sorted(rows, key=lambda row: (row[0], row[1], str(row[2])))

    def plain(rows):  # -0.0 is 0.0
        return [(*row[:2], row[2] and row[2] + 0.0) for row in rows]

    same_rows = in_order(plain(rows)) == in_order(plain(others))
    same = Fingerprint.of(table_of(rows)) == Fingerprint.of(table_of(others))
    assert same == same_rows


@pytest.mark.parametrize("column", TABLE.columns)
def test_one_changed_cell_is_another_fingerprint(column):
    changed = TABLE.with_columns(pl.col(column).shift(fill_value=TABLE[column][-1]))
    assert Fingerprint.of(changed) != Fingerprint.of(TABLE)
    cell = pl.when(pl.int_range(pl.len()) == 2).then(pl.lit(TABLE[column][0]))
    other = TABLE.with_columns(cell.otherwise(pl.col(column)).alias(column))
    rows_differ = not other.equals(TABLE)
    assert (Fingerprint.of(other) != Fingerprint.of(TABLE)) == rows_differ


def test_two_rows_that_swap_a_cell_are_other_rows():
    swapped = TABLE.with_columns(rank=pl.Series([2, 1, 1, 1]))
    assert Fingerprint.of(swapped) != Fingerprint.of(TABLE)


def test_a_column_under_another_role_is_another_table():
    renamed = TABLE.rename({"rank": "relevance"})
    assert Fingerprint.of(renamed) != Fingerprint.of(TABLE)
    assert Fingerprint.of(TABLE.select(reversed(TABLE.columns))) == Fingerprint.of(
        TABLE
    )


def test_a_repeated_row_counts():
    once, twice = TABLE.head(1), pl.concat([TABLE.head(1), TABLE.head(1)])
    assert Fingerprint.of(twice).total == 2 * Fingerprint.of(once).total % 2**128
    assert Fingerprint.of(twice) != Fingerprint.of(once)


@pytest.mark.parametrize(
    "types",
    [
        {"rank": pl.Int8, "score": pl.Float64, "item": pl.String},
        {"rank": pl.Float64},
        {"item": pl.UInt64, "rank": pl.UInt64},
        {"user": pl.Categorical},
    ],
)
def test_the_type_that_holds_values_does_not_matter(types):
    assert Fingerprint.of(TABLE.cast(types)) == Fingerprint.of(TABLE)


def test_true_is_1_and_missing_is_missing():
    def of(values, dtype=None):
        column = pl.Series("relevance", values, dtype)
        return Fingerprint.of(TABLE.select("user", "item", column))

    assert of([True, False, True, True]) == of([1.0, 0.0, 1.0, 1.0]) == of([1, 0, 1, 1])
    assert of([None, 1.0, 0.0, 2.0]) == of([float("nan"), 1.0, -0.0, 2.0])
    signed = np.copysign([np.nan, 1.0, 0.0, 2.0], [-1, 1, 1, 1])
    assert of(signed) == of([None, 1.0, 0.0, 2.0])
    assert of([None] * 4) == of([None] * 4, pl.Float64)
    assert of([2**53 + 1] * 4, pl.Int64) != of([2**53] * 4, pl.Int64)


def test_the_place_in_the_list_is_part_of_a_row_where_rows_are_in_order():
    first = TABLE.select("user", "item")
    swapped = first[[1, 0, 2, 3]]
    moved = first[[2, 0, 3, 1]]  # the order within each user is kept
    assert Fingerprint.of(swapped) == Fingerprint.of(first)
    assert Fingerprint.of(swapped, in_order=True) != Fingerprint.of(
        first, in_order=True
    )
    assert Fingerprint.of(moved, in_order=True) == Fingerprint.of(first, in_order=True)
