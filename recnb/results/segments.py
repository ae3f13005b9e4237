"""Divisions, of which numbers are made: all users, segments of them, or parts of the truth.

Segments come from a column, a Series or what users had before; parts of the truth are,
for example, its weeks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions.convention import in_words
from recnb.data.ids import positions
from recnb.data.in_memory import Sheets
from recnb.data.names import split_labels
from recnb.data.side_data import words_of
from recnb.data.splits import values_of
from recnb.data.weights import Weighting
from recnb.display.language import N_, _
from recnb.display.text import dates_alone, one_line
from recnb.errors import FrameError, OptionError, is_several, quoted
from recnb.metrics.hits import Ints
from recnb.results.evaluation_data import EvaluationData, Models, same_rows
from recnb.results.segment_values import (
    as_column,
    as_shown,
    binned,
    column_of_truth,
    column_of_users,
    columns_of_truth,
    everyone_in,
    is_column_of_users,
    no_segment_error,
    rows_naming_segments,
)
from recnb.results.values import Basis, pairs_in_words

#: More segments are refused.
MOST_SEGMENTS = 200
#: A segment of fewer users is marked as small.
SMALL = 30

#: A column each value of which is a truth of its own.
PART = N_(
    "each {by} is a truth of its own: its rows of the truth, and the users who have one"
)
#: The same where other users are averaged than those of the truth.
PART_OF_OTHERS = N_(
    "each {by} is a truth of its own: its rows of the truth, and {users}"
)

#: The same of a column of `split=`.
LISTS_OF_PART = N_("each {by} is evaluated alone: its lists, and their truth")

#: The values that a part is defined by, one for each column.
Key = tuple[Any, ...]


class Division:
    """All users as one part; its subclasses divide the users, or the truth."""

    labels: Sequence[str] = ()  #: what each column of the keys is called
    keys: Sequence[Key] = ((),)  #: of each part, in the order shown
    is_tested: bool = True  #: whether models are tested within a part
    has_gaps: bool = False  #: whether a part of one model is tested against the others

    @property
    def names(self) -> list[str]:
        """The name of each part: its values as they are shown."""
        if not self.labels:
            return [""]
        columns = [dates_alone(values) for values in zip(*self.keys, strict=True)]
        return [", ".join(map(str, key)) for key in zip(*columns, strict=True)]

    def evaluations_of(self, models: Models) -> Iterator[tuple[int, Models]]:
        """Give the models as they are evaluated in each part, with its position."""
        yield 0, models

    def bases_of(self, models: Models, bases: Sequence[Basis]) -> Sequence[Basis]:
        """Return what numbers of all parts rest on, of that which those of one do."""
        return bases


#: All users.
WHOLE = Division()


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments(Division):
    """Groups of users."""

    labels: Sequence[str]
    keys: Sequence[Key]  #: the last: of users of whom nothing is known
    users: pl.Series  #: each once
    code: Ints  #: by user: the position in `keys`
    evaluated: pl.Series | None = None  #: others are in no segment; None: all are
    has_gaps: bool = True

    def of(self, users: pl.Series) -> Ints:
        """Return the segments of some users as positions in `keys`; -1 is none."""
        index = positions(self.users, users)
        unknown = len(self.keys) - 1
        code = np.where(index >= 0, self.code[index], unknown)
        if self.evaluated is not None:
            code[~users.is_in(self.evaluated.implode()).to_numpy()] = -1
        return code


class EvaluatedParts(Division):
    """Parts of the data, each of which is evaluated by itself."""

    def evaluated(self, name: str, model: EvaluationData, part: int) -> EvaluationData:
        """Evaluate a model in one part."""
        raise NotImplementedError

    def evaluations_of(self, models: Models) -> Iterator[tuple[int, Models]]:
        """Evaluate in one part after the other."""
        for part in range(len(self.keys)):
            of_part = {
                name: self.evaluated(name, model, part)
                for name, model in models.items()
            }
            # Where a model has no list nothing is relevant.
            if all(model.n_lists for model in of_part.values()):
                yield part, of_part

    def bases_of(self, models: Models, bases: Sequence[Basis]) -> Sequence[Basis]:
        """Return what numbers of all parts rest on: all but users and weights."""
        # Models that are compared have the same weights.
        weighting = next(iter(models.values())).joined.weighting
        return [_shared_basis(basis, weighting) for basis in bases]


@dataclass(frozen=True, eq=False, kw_only=True)
class TruthParts(EvaluatedParts):
    """Parts of the truth: the rows of one value of a column, each a truth of its own."""

    labels: Sequence[str]
    keys: Sequence[Key]
    values: Sequence[Any]  #: the value of each part; None is of rows without one
    rows: Mapping[str, pl.DataFrame]  #: by model: those of the truth, with their values
    is_tested: bool = False

    def evaluated(self, name: str, model: EvaluationData, part: int) -> EvaluationData:
        """Evaluate a model against the rows of the truth that have one value."""
        rows, source = self.rows[name], _sheets_of(model)
        value = pl.lit(self.values[part], dtype=rows["value"].dtype)
        has_value = pl.col("value").eq_missing(value)
        truth = source.truth[rows.filter(has_value)["row"]]
        judgements = source.judgements.with_rows(truth)
        of_part = replace(source, judgements=judgements, is_part=True)
        return model.restricted(of_part.under(model.convention))


@dataclass(frozen=True, eq=False, kw_only=True)
class PartsOfSplit(EvaluatedParts):
    """Parts of `split=`: the lists of one value, or of one combination of values."""

    labels: Sequence[str]
    keys: Sequence[Key]
    values: pl.DataFrame  #: a row for each part, whose columns are roles
    is_tested: bool = False

    def evaluated(self, name: str, model: EvaluationData, part: int) -> EvaluationData:
        """Evaluate the lists of a model that have the values of a part."""
        return model.of_split(self.values.slice(part, 1))


def _shared_basis(basis: Basis, weighting: Weighting | None) -> Basis:
    """Return what holds for all parts.

    It is worded at once, so that the data of a part are not kept for its words.
    """
    # A brief basis has all phrases of users as one.
    of_users = "; ".join(basis.users_in_words())
    of_part = {of_users, *pairs_in_words(weighting)}
    shared = [words for words in basis.phrases(brief=True) if words not in of_part]

    def words(*, brief: bool) -> list[str]:
        return shared

    return Basis(words)


def division_by(models: Models, by: Any, *, is_tested: bool = False) -> Division:
    """Return the division that `by` names, the first of these that it fits.

    All users (None), parts of `split=` (its columns), parts of the truth (a column that
    differs within users, or one of items=), segments of users. Where models are tested
    within each part (`is_tested`), a column of the truth alone is refused.
    """
    if by is None:
        return WHOLE
    by = unlisted(by)
    if _names_splits(models, by):
        return _parts_of_split(models, by, is_tested=is_tested)
    check_same_segments(models, by)
    if not is_tested:
        parts_of_truth = _truth_parts(models, by)
        if parts_of_truth is not None:
            return parts_of_truth
    return _segments_of_models(models, by)


def _segments_of_models(models: Models, by: Any) -> Segments:
    """Return the segments of users, which are those of every model."""
    first_model = next(iter(models.values()))
    segments = segments_of(first_model, by)
    # A metric beyond accuracy has values of all users with a list. Those of one model
    # are all in segments; several models are compared on the users evaluated alone.
    if len(models) > 1:
        segments = replace(segments, evaluated=first_model.joined.users)
    return segments


def _names_splits(models: Models, by: Any) -> bool:
    """Return whether `by` names columns of `split=` alone."""
    split = next(iter(models.values())).keys.columns
    if not split:
        return False
    columns = by if isinstance(by, list) else [by]
    return all(isinstance(column, str) and column in split for column in columns)


def _parts_of_split(models: Models, by: Any, *, is_tested: bool) -> PartsOfSplit:
    """Return the parts by columns of `split=`."""
    columns = by if isinstance(by, list) else [by]
    first = next(iter(models.values()))
    values = first.keys.combinations_of(first.joined.users)
    values = values.select([*split_labels(columns)]).unique().sort(pl.all())
    refuse_many(values.height, ", ".join(columns))
    return PartsOfSplit(
        labels=columns, keys=values_of(values), values=values, is_tested=is_tested
    )


def _truth_parts(models: Models, by: Any) -> TruthParts | None:
    """Return the parts that `by` names; None unless it names some in every model.

    Values are those of the users evaluated. Models that are compared have the same
    users, and `check_same_segments` has compared the column: so their values are the
    same.
    """
    rows = {}
    for name, model in models.items():
        of_model = _truth_with_values(model, by)
        if of_model is None:
            return None
        rows[name] = of_model
    first, of_first = next(iter(models.values())), next(iter(rows.values()))
    is_evaluated = of_first["user"].is_in(first.joined.users.implode())
    of_users = of_first["value"].filter(is_evaluated)
    values = of_users.unique().sort(nulls_last=True).to_list()
    refuse_many(len(values), by)
    unknown = unknown_among(values)
    keys = [(unknown if value is None else value,) for value in values]
    return TruthParts(labels=(by,), keys=keys, values=values, rows=rows)


def check_same_segments(models: Models, by: Any) -> None:
    """Refuse a column whose values differ between models: so would their segments."""
    (first, ours), *others = models.items()
    listed = by if isinstance(by, list) else [by]
    names = [as_column(ours, column) for column in listed]
    columns = [column for column in names if isinstance(column, str)]
    for column, (name, theirs) in product(columns, others):
        rows = rows_naming_segments(ours, column)
        other = rows_naming_segments(theirs, column)
        if rows is None or other is None:
            continue
        if rows.equals(other) or same_rows(rows, other):
            continue
        raise FrameError(
            f"by={quoted(column)} is not the same column in {first!r} and "
            f"{name!r}, so their segments are not the same. Give compare() frames of "
            "recommendations, and one truth, users= and items= for all."
        )


def unlisted(by: Any) -> Any:
    """Unwrap a one-element list; several columns are a list."""
    if isinstance(by, (Mapping, pd.Series, pd.DataFrame)) or not is_several(by):
        return by
    listed = [*by]
    return listed[0] if len(listed) == 1 else listed


def refuse_many(n: int, label: str) -> None:
    """Refuse more segments than a table has."""
    if n > MOST_SEGMENTS:
        problem = f" makes {n:,} segments, and a table has at most {MOST_SEGMENTS}."
        fix = (
            "Put dates into periods, frame['week'] = frame['date'].dt.to_period('W'), "
            "and other values into groups."
        )
        raise OptionError(f"by={quoted(label)}{problem} {fix}")


def unknown_among(names: Collection[Any]) -> str:
    """Name the segment of missing values, unlike every value there is."""
    name = _("not known")
    while name in names:
        name = f"({name})"
    return name


# Segments of users


def segments_of(data: EvaluationData, by: Any) -> Segments:
    """Return segments by one column or by several together.

    A column is named, or given as a Series or mapping of user to segment, or worked out
    of what users did in train.
    """
    listed = by if isinstance(by, list) else [by]
    columns = [column_of_users(data, column) for column in listed]
    labels = tuple(label for label, _table in columns)
    if not labels or len(set(labels)) < len(labels):
        raise OptionError(f"by={quoted(by)}: name at least one column, each once.")
    users = everyone_in(data)
    names: list[list[Any]] = []
    codes: list[Ints] = []
    for label, table in columns:
        values = _values_of(users, table, label)
        names_of_column, code_of_column = _coded(binned(values))
        names.append(names_of_column)
        codes.append(code_of_column)
    # Of two columns, country (DE, FR, not known) and age (old, young, not known):
    #     user          a  b  c  d
    #     codes[0]      0  1  0  2
    #     codes[1]      1  0  1  2
    #     code          0  1  0  2    the position in `combinations`: 0 1, 1 0, 2 2
    #     keys          (DE, young), (FR, old), (not known, not known)
    combinations, code = np.unique(np.stack(codes), axis=1, return_inverse=True)
    refuse_many(combinations.shape[1], ", ".join(labels))
    keys = [_key_of(combination, names) for combination in combinations.T.tolist()]
    # A user of whom nothing is known is in the last segment, which there always is:
    # "not known" is the last name of each column.
    unknown = tuple(names_of_column[-1] for names_of_column in names)
    if unknown not in keys:
        keys.append(unknown)
    return Segments(labels=labels, keys=keys, users=users, code=code.ravel())


def _values_of(users: pl.Series, table: pl.DataFrame, label: str) -> pl.Series:
    """Return the value of each user in a column, null where it has none."""
    of_users = users.to_frame().join(
        table, on="user", how="left", maintain_order="left"
    )
    values = of_users["value"]
    if values.drop_nulls().is_empty():
        raise OptionError(
            f"by={quoted(label)} says nothing of the users evaluated, such as "
            f"{users[0]!r}."
        )
    return values


def _coded(values: pl.Series) -> tuple[list[Any], Ints]:
    """Return the names of the values, and the position of each user's among them.

    The names are sorted; the last one is that of a value that is not known.
    """
    present = values.drop_nulls().unique().sort().to_list()
    code = values.rank("dense").cast(pl.Int64) - 1
    unknown = len(present)
    return [*present, unknown_among(present)], code.fill_null(unknown).to_numpy()


def _key_of(combination: Sequence[int], names: Sequence[Sequence[Any]]) -> Key:
    """Return the names that stand for a combination of codes, one for each column."""
    columns = zip(combination, names, strict=True)
    return tuple(names_of_column[code] for code, names_of_column in columns)


# Parts of the truth: a column that differs within users, or one of items=


def _truth_with_values(data: EvaluationData, by: Any) -> pl.DataFrame | None:
    """Return the rows of the truth, numbered, with their values of a column.

    It is a column of the truth that differs within users, or one of items=; None if `by`
    names no such. Many numbers of items are put into bins. An item of several genres, in
    a list or as "comedy|drama", has a row for each.
    """
    by = as_column(data, by)
    if not isinstance(by, str) or is_column_of_users(data, by):
        return None
    of_truth = column_of_truth(data, by)
    if of_truth is not None:
        if not _differs_within_users(of_truth):
            return None
        if by in data.side_data.differing:
            raise _several_lists_error(data, by)
        return _with_values_of_truth(_sheets_of(data), by, of_truth)
    of_items = _column_of_items(data, by)
    if of_items is None:
        return None
    return _with_values_of_items(_sheets_of(data), of_items)


def _sheets_of(data: EvaluationData) -> Sheets:
    """Return lists and truth of all users; refused where they are not in memory."""
    source = data.source
    if not isinstance(source, Sheets):
        raise source.elsewhere()
    return source


def _differs_within_users(of_truth: pl.DataFrame) -> bool:
    """Return whether some user has rows of several values."""
    users = of_truth.select("user", "value").unique()["user"]
    return users.is_duplicated().any()


def _column_of_items(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return a column of items= as item and value; None if there is none.

    An item has a row for each of several values.
    """
    items = data.side_data.items
    if items is None or by not in items.columns:
        return None
    if by == "item" or by in columns_of_truth(data):
        return None
    values = as_shown(items[by])
    if values.dtype in (pl.Struct, pl.Object):
        raise no_segment_error(values, by)
    if values.dtype in (pl.String, pl.List, pl.Array):
        row, values = words_of(values)
    else:
        row, values = np.arange(items.height), binned(values)
    table = pl.DataFrame({"item": items["item"][row], "value": values})
    return table.unique(maintain_order=True)


def _with_values_of_items(source: Sheets, of_items: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the truth, numbered, one for each value of their item."""
    rows = source.truth.with_row_index("row")
    of_items = of_items.cast({"item": rows["item"].dtype})
    return rows.join(of_items, on="item", how="left", maintain_order="left")


def _with_values_of_truth(
    source: Sheets, by: str, of_truth: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows of the truth, numbered, with their values of a column.

    The column has a value for each row of the truth as it was given; `source` may have
    dropped rows, as those of users without a list, and keeps the others in their order.
    """
    rows = source.truth.with_row_index("row")
    pair = ["user", "item"]
    of_truth = of_truth.cast({name: rows[name].dtype for name in pair})
    # So these are the rows of `source`, one for one.
    kept = of_truth.join(rows, on=pair, how="semi", maintain_order="left")
    if kept.height > rows.height:
        # One frame has both sides, and a pair has a row that is not judged as well.
        problem = f"by={quoted(by)} is of rows that are not judged as well: "
        raise OptionError(f"{problem}give recommendations and truth as a frame each.")
    return rows.with_columns(as_shown(kept["value"]))


def part_in_words(data: EvaluationData, division: Division) -> str:
    """Say that each value is a truth of its own, and which users are averaged there."""
    by = one_line(", ".join(division.labels))
    if isinstance(division, PartsOfSplit):
        return _(LISTS_OF_PART, by=by)
    convention = data.convention
    users, nothing = convention.averaged_users, convention.no_relevant
    if users == "truth":
        words = _(PART, by=by)
    else:
        words = _(PART_OF_OTHERS, by=by, users=in_words("averaged_users", users))
    # Where the metrics of a library have several rules, each says its own.
    if nothing == "skip" or not data.one_no_relevant_rule:
        return words
    return f"{words}; {in_words('no_relevant', nothing)}"


def _several_lists_error(data: EvaluationData, by: str) -> OptionError:
    """Return the error for a column of both frames that differs within users.

    Users have a list of each value, and these were joined as one.
    """
    split: Any = by
    if data.keys.columns:
        split = [*data.keys.columns, by]
    return OptionError(
        f"by={quoted(by)} is a column of both frames and differs within users in "
        "both: a user's lists of all its values are taken as one. If each value "
        f"has a list of its own, evaluate with split={split!r}. If it is a "
        "column of items, leave it out of the recommendations."
    )
