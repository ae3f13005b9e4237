"""Columns of items= as numbers: genres as words, numbers, flags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from recnb.data.ids import positions
from recnb.data.role_table import kind
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, is_several, listed, near, quoted
from recnb.metrics.hits import Floats, Ints

#: Columns that are taken for genres if nothing else is said.
GENRES = ("genre", "genres", "category", "categories", "tag", "tags")
#: Types of words, and of columns of them.
WORD = (pl.String, pl.Categorical, pl.Enum)
WORDS = (*WORD, pl.List, pl.Array)


def columns_of(items: pl.DataFrame, columns: object, argument: str) -> tuple[str, ...]:
    """Return the columns of items that were named, or those that speak for themselves."""
    names = [name for name in items.columns if name != "item"]
    if columns is None:
        return _columns_of_genres(items.select(names), argument)
    given = columns if is_several(columns) else [columns]
    chosen = tuple(map(str, given))
    if not chosen:
        raise OptionError(f"{argument}={quoted(columns)} names no column of items=.")
    for name in chosen:
        if name not in names:
            raise OptionError(
                f"{argument}={quoted(columns)}: items= has no column {name!r}. "
                f"{near(name, names)}"
            )
    return chosen


def _columns_of_genres(items: pl.DataFrame, argument: str) -> tuple[str, ...]:
    """Return the one column of words named as genres are, or all of 0 and 1."""
    of_words = [
        name
        for name in items.columns
        if name.lower() in GENRES and items[name].dtype in WORDS
    ]
    if len(of_words) == 1:
        return tuple(of_words)
    flags = [name for name in items.columns if _is_flag(items[name])]
    if flags and not of_words:
        return tuple(flags)
    problem = "has no column of genres"
    if of_words:
        problem = f"{' and '.join(map(repr, of_words))} could each be meant"
    example = [*of_words, *items.columns, "genres"][0]
    raise OptionError(
        f"items= {problem}. Its columns: "
        f"{listed(items.columns) or 'none'}. Say which: "
        f"{argument}={quoted(example)}."
    )


def _is_flag(column: pl.Series) -> bool:
    """Return whether a column is 0 and 1, or True and False."""
    if not column.dtype.is_numeric() or column.null_count():
        return column.dtype == pl.Boolean
    return bool(((column == 0) | (column == 1)).all())


def cells_of(
    items: pl.DataFrame, columns: Sequence[str], argument: str
) -> tuple[Floats, Ints, Ints, Sequence[str]]:
    """Return the words or numbers of items as the cells of a table that are not 0.

    These are their values, rows and columns; what the columns are called comes last.
    """
    first = items[columns[0]]
    if len(columns) == 1 and first.dtype in WORDS:
        row, words = _words_of(first)
        names = words.unique().sort()
        return np.ones(len(row)), row, positions(names, words), names.to_list()
    table = np.stack([_numbers(items[name], argument) for name in columns], axis=1)
    row, column = np.nonzero(table)
    return table[row, column], row, column, columns


def _words_of(column: pl.Series) -> tuple[Ints, pl.Series]:
    """Return the row and the word of each genre.

    Genres are lists, or text such as "comedy|drama".
    """
    dtype = column.dtype
    if isinstance(dtype, (pl.List, pl.Array)):
        if dtype.inner not in (*WORD, pl.Null):
            example = one_line(repr(column.drop_nulls().to_list()[:1])[1:-1], 60)
            raise FrameError(
                f"items: column {column.name!r} holds lists of what is no word, such "
                f"as {example}: give each item one list of words, ids as text, and each "
                f"number of a vector its column, features=['x0', 'x1']."
            )
        lists = column.cast(pl.List(pl.String))
    else:
        lists = column.cast(pl.String).str.split("|")
    table = pl.DataFrame({"row": np.arange(len(column)), "word": lists}).explode("word")
    table = table.with_columns(pl.col("word").str.strip_chars())
    table = table.filter(~pl.col("word").is_in(["", "(no genres listed)"]))
    table = table.unique(maintain_order=True)  # sums are the same each time
    return table["row"].to_numpy(), table["word"]


def _numbers(column: pl.Series, argument: str) -> Floats:
    """Return the numbers of one of several columns.

    Those that name a genre are 0 and 1.
    """
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise FrameError(
            f"items: column {column.name!r} holds {kind(column.dtype)}, and several "
            f"columns of {argument}= must hold numbers: name one column of words, or "
            f"columns of numbers."
        )
    numbers: Floats = column.cast(pl.Float64).to_numpy()
    if not np.isfinite(numbers).all():
        raise FrameError(
            f"items: column {column.name!r} holds a number that is missing or infinite: fill it in."
        )
    if argument == "genre" and not np.isin(numbers, (0, 1)).all():
        raise FrameError(
            f"items: column {column.name!r} holds other numbers than 0 and 1, which name no genre."
        )
    return numbers
