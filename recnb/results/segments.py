"""Splits: all users, segments of them by a column, a Series or their history, or parts
of the truth, such as weeks. A split gives columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions.convention import in_words
from recnb.data.encoding import positions
from recnb.data.in_memory import Sheets
from recnb.data.item_data import words_of
from recnb.data.lists_that_count import without_others
from recnb.data.source import elsewhere
from recnb.display.language import N_, _
from recnb.errors import FrameError, OptionError, is_several, quoted
from recnb.metrics.hits import Cutoffs, Ints
from recnb.results.arguments import Asked
from recnb.results.columns import Column, metric_columns, same_rows
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.segment_values import (
    as_shown,
    binned,
    column_of_truth,
    column_of_users,
    columns_of_truth,
    everyone_in,
    no_segment,
    rows_naming_segments,
)
from recnb.results.values import Basis, WordedBasis, pairs_in_words

#: More segments are refused; a segment of fewer users is marked as small.
MOST, SMALL = 200, 30

#: A column each value of which is a truth of its own.
PART = N_(
    "each {by} is a truth of its own: its rows of the truth, and the users who have one"
)
#: The same where other users are averaged than those of the truth.
PART_OF_OTHERS = N_(
    "each {by} is a truth of its own: its rows of the truth, and {users}"
)

#: The values that a part is defined by, one for each column.
Key = tuple[Any, ...]


class Split:
    """All users as one part; its subclasses split the users, or the truth."""

    labels: Sequence[str] = ()  #: what each column of the keys is called
    keys: Sequence[Key] = ((),)  #: of each part, in the order shown
    is_tested: bool = True  #: whether models are tested within a part
    has_gaps: bool = False  #: whether a part of one model is tested against the others

    def columns(
        self, models: Models, asked: Sequence[Asked], k: Cutoffs
    ) -> Iterator[Column]:
        """Compute metrics of models, and give a column for each part, metric and
        cut-off.
        """
        for each in asked:
            yield from metric_columns(models, each, each.metric.cutoffs(k))


#: All users.
WHOLE = Split()


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments(Split):
    """Groups of users."""

    labels: Sequence[str]
    keys: Sequence[Key]  #: the last: of users of whom nothing is known
    users: pl.Series  #: each once
    code: Ints  #: by user: the position in `keys`
    evaluated: pl.Series | None = None  #: others are in no segment; None: all are
    has_gaps: bool = True

    def columns(
        self, models: Models, asked: Sequence[Asked], k: Cutoffs
    ) -> Iterator[Column]:
        """Compute metrics of all users, and cut each column into its segments."""
        for column in super().columns(models, asked, k):
            code = self.of(column.users)
            for segment in np.unique(code[code >= 0]).tolist():
                yield replace(column.among(code == segment), part=segment)

    def of(self, users: pl.Series) -> Ints:
        """Return the segment of each of some users, as its position in `keys`; -1 for
        those in none.
        """
        place = positions(self.users, users)
        code = np.where(place >= 0, self.code[place], len(self.keys) - 1)
        if self.evaluated is not None:
            code[~users.is_in(self.evaluated.implode()).to_numpy()] = -1
        return code


@dataclass(frozen=True, eq=False, kw_only=True)
class TruthParts(Split):
    """Parts of the truth: the rows of one value of a column, each a truth of its own."""

    labels: Sequence[str]
    keys: Sequence[Key]
    evaluations: Mapping[str, Sequence[Callable[[], EvaluationData]]]  #: by model
    is_tested: bool = False

    def columns(
        self, models: Models, asked: Sequence[Asked], k: Cutoffs
    ) -> Iterator[Column]:
        """Evaluate against one part of the truth after the other."""
        for part in range(len(self.keys)):
            here = {name: self.evaluations[name][part]() for name in models}
            if not all(model.n_users for model in here.values()):
                continue  # nothing in it is relevant
            first = next(iter(here.values()))
            for column in super().columns(here, asked, k):
                words = [_without_users(basis, first) for basis in column.bases]
                yield replace(column, part=part, bases=words)


def _without_users(basis: Basis | WordedBasis, part: EvaluationData) -> WordedBasis:
    """Return a basis without the phrases of users and weights, which each part has of
    its own.
    """
    of_part = [
        "; ".join(basis.users_in_words()),
        *pairs_in_words(part.joined.weighting),
    ]
    phrases = [words for words in basis.phrases(brief=True) if words not in of_part]
    return WordedBasis(partial(list, phrases))


def split_by(models: Models, by: Any, bins: int, *, truth: bool = True) -> Split:
    """Return the split that `by` names: all users, segments of them, or parts of the
    truth where these are allowed.
    """
    if by is None:
        return WHOLE
    by = unlisted(by)
    check_same_segments(models, by)
    if truth:
        parts = {name: parts_of(model, by, bins) for name, model in models.items()}
        evaluations = {name: of for name, of in parts.items() if of is not None}
        if len(evaluations) == len(models):
            first = next(iter(evaluations.values()))
            return TruthParts(
                labels=(by,),
                keys=[(value,) for value in first],
                evaluations={name: [*of.values()] for name, of in evaluations.items()},
            )
    first_model = next(iter(models.values()))
    segments = segments_of(first_model, by, bins)
    if len(models) == 1:
        return segments
    # Beyond accuracy, who has a list has a value; of models those evaluated are paired.
    return replace(segments, evaluated=first_model.joined.users)


def check_same_segments(models: Models, by: Any) -> None:
    """Refuse segments by a column that has not the same values for all models: each
    would be judged in segments of its own.
    """
    (first, ours), *others = models.items()
    columns = by if isinstance(by, list) else [by]
    for column, (name, theirs) in product(columns, others):
        if not isinstance(column, str):
            continue
        rows = rows_naming_segments(ours, column)
        other = rows_naming_segments(theirs, column)
        if rows is None or other is None:
            continue
        if rows.equals(other) or same_rows(rows, other):
            continue
        raise FrameError(
            f"by={quoted(column)} is not the same column in {first!r} and {name!r}, so "
            f"their segments are not the same.",
            fix="Give compare() frames of recommendations, and one truth, users= and "
            "items= for all.",
        )


def distinct_labels(labels: Sequence[str], taken: Collection[str]) -> list[str]:
    """Name the columns of segments in a table that has columns of its own: "segment
    mean" for one called as one of these.
    """
    return [f"segment {label}" if label in taken else label for label in labels]


def unlisted(by: Any) -> Any:
    """Unwrap a one-element list; several columns are a list."""
    if isinstance(by, (Mapping, pd.Series, pd.DataFrame)) or not is_several(by):
        return by
    listed = [*by]
    return listed[0] if len(listed) == 1 else listed


def refuse_many(n: int, label: str) -> None:
    """Refuse more segments than a table has."""
    if n > MOST:
        problem = f" makes {n:,} segments, and a table has at most {MOST}."
        fix = (
            "Put dates into periods, frame['week'] = frame['date'].dt.to_period('W'), "
            "and other values into groups."
        )
        raise OptionError(f"by={quoted(label)}{problem}", fix=fix)


def unknown_among(names: Collection[Any]) -> str:
    """Name the segment of missing values, unlike every value there is."""
    name = _("not known")
    while name in names:
        name = f"({name})"
    return name


# Segments of users


def segments_of(data: EvaluationData, by: Any, bins: int = 4) -> Segments:
    """Return segments by the names of columns, by a Series or mapping of user to
    segment, or by what users did in train.
    """
    listed = by if isinstance(by, list) else [by]
    columns = [column_of_users(data, each) for each in listed]
    labels = tuple(label for label, _table in columns)
    if not labels or len(set(labels)) < len(labels):
        raise OptionError(f"by={quoted(by)}: name at least one column, each once.")
    everyone = everyone_in(data)
    names, codes = list[list[Any]](), list[Ints]()
    for label, table in columns:
        joined = everyone.to_frame().join(
            table, on="user", how="left", maintain_order="left"
        )
        values = joined["value"]
        if values.drop_nulls().is_empty():
            raise OptionError(
                f"by={quoted(label)} says nothing of the users evaluated, such as "
                f"{everyone[0]!r}."
            )
        values = binned(values, bins)
        present = values.drop_nulls().unique().sort().to_list()
        names.append([*present, unknown_among(present)])
        place = values.rank("dense").fill_null(len(names[-1])).cast(pl.Int64)
        codes.append(place.to_numpy() - 1)
    used, code = np.unique(np.stack(codes), axis=1, return_inverse=True)
    refuse_many(used.shape[1], ", ".join(labels))
    keys = []
    for row in used.T.tolist():
        key = [of_column[at] for of_column, at in zip(names, row, strict=True)]
        keys.append(tuple(key))
    unknown = tuple(of_column[-1] for of_column in names)
    if keys[-1] != unknown:
        keys.append(unknown)
    return Segments(labels=labels, keys=keys, users=everyone, code=code.ravel())


# Parts of the truth: a column that differs within users, or one of items=


#: The evaluation against the rows of each value, made when it is called.
Parts = dict[Any, Callable[[], EvaluationData]]


def parts_of(data: EvaluationData, by: Any, bins: int) -> Parts | None:
    """Return the evaluation of each value of a column of the truth that differs within
    users, or of one of items=, if `by` names one.

    Many numbers of items are put into bins. An item of several genres, in a list or as
    "comedy|drama", is in the part of each.
    """
    users = data.side_data.users
    if not isinstance(by, str) or (users is not None and by in users.columns):
        return None
    given = column_of_truth(data, by)
    if given is None:
        given = _column_of_items(data, by, bins)
        if given is None:
            return None
    elif not given.select("user", "value").unique()["user"].is_duplicated().any():
        return None
    elif by in data.side_data.differing:
        raise _list_of_each_value(data, by)
    source = data.source.everyone
    if not isinstance(source, Sheets):
        raise elsewhere(source)
    return _each_part(data, source, by, _rows_with_values(source, by, given))


def _column_of_items(data: EvaluationData, by: str, bins: int) -> pl.DataFrame | None:
    """Return a column of `items=` as item and value, a row for each of several values;
    None if there is none.
    """
    items = data.side_data.items
    others = ("item", *columns_of_truth(data))
    if items is None or by not in items.columns or by in others:
        return None
    values = as_shown(items[by])
    if values.dtype in (pl.Struct, pl.Object):
        raise no_segment(values, by)
    if values.dtype in (pl.String, pl.List, pl.Array):
        row, values = words_of(values)
    else:
        row, values = np.arange(items.height), binned(values, bins)
    table = pl.DataFrame({"item": items["item"][row], "value": values})
    return table.unique(maintain_order=True)


def _rows_with_values(source: Sheets, by: str, given: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the truth, numbered, with the values of a column."""
    rows = source.truth.with_row_index("row")
    ids = [name for name in given.columns if name != "value"]
    given = given.cast({name: rows[name].dtype for name in ids})
    if "user" not in ids:
        return rows.join(given, on=ids, how="left", maintain_order="left")
    given = given.join(rows, on=ids, how="semi", maintain_order="left")
    if given.height > rows.height:
        # Of one frame with both sides, where some rows of a pair are not judged.
        problem = f"by={quoted(by)} is of rows that are not judged as well: "
        raise OptionError(problem, "give recommendations and truth as a frame each.")
    return rows.with_columns(as_shown(given["value"]))


def _each_part(
    data: EvaluationData, source: Sheets, by: str, rows: pl.DataFrame
) -> Parts:
    """Return the evaluation against the rows of the truth of each value that users
    evaluated have: models compared on the same users then have the same values.
    """
    is_evaluated = rows["user"].is_in(data.joined.users.implode())
    values = rows["value"].filter(is_evaluated).unique().sort(nulls_last=True)
    refuse_many(len(values), by)
    names = values.to_list()
    unknown = unknown_among(names)

    def evaluated(value: Any) -> EvaluationData:
        is_value = pl.col("value").eq_missing(pl.lit(value, dtype=values.dtype))
        here = source.truth[rows.filter(is_value)["row"]]
        judgements = source.judgements.with_rows(here)
        part = replace(source, judgements=judgements, is_part=True)
        return data.restricted(without_others(part).under(data.convention))

    return {
        unknown if value is None else value: partial(evaluated, value)
        for value in names
    }


def part_in_words(data: EvaluationData, by: str) -> str:
    """Say that each value is a truth of its own, and which users are averaged there."""
    convention = data.convention
    users, nothing = convention.averaged_users, convention.no_relevant
    if users == "truth":
        words = _(PART, by=by)
    else:
        words = _(PART_OF_OTHERS, by=by, users=in_words("averaged_users", users))
    if nothing == "skip" or not data.one_no_relevant_rule:
        return words
    return f"{words}; {in_words('no_relevant', nothing)}"


def _list_of_each_value(data: EvaluationData, by: str) -> OptionError:
    """Return the error for a column that both frames have: users have a list of each
    value, and these were joined as one.
    """
    users = {"recs": data.source.labels["user"], "truth": data.side_data.truth_user}
    code = [
        f"{name}[{user!r}] = {name}[{user!r}].astype(str) + ' ' + "
        f"{name}[{by!r}].astype(str)"
        for name, user in users.items()
    ]
    return OptionError(
        f"by={quoted(by)} is a column of both frames and differs within users in both: "
        f"a user's lists of all its values are taken as one.",
        fix=f"If each value has a list of its own, make a user of each: "
        f"{'; '.join(code)}. If it is a column of items, leave it out of the "
        f"recommendations.",
    )
