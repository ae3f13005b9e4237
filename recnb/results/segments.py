"""Segments: groups of users by a column, a Series or their history, and the metrics of
each; parts of the truth, such as weeks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions.convention import in_words
from recnb.data.columns import columns_of, from_pandas, table_of
from recnb.data.encoding import distinct, positions
from recnb.data.in_memory import Sheets
from recnb.data.item_data import words_of
from recnb.data.lists_that_count import leave_out_lists
from recnb.data.sheet import TRUTH, Sheet, kind
from recnb.data.source import elsewhere, rows_of
from recnb.display.language import N_, _, pgettext
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, RecnbError, is_several, near, quoted
from recnb.metrics.hits import Cutoffs, Ints
from recnb.metrics.metric import Given, Metric
from recnb.results.arguments import Asked, Metrics, asked_of
from recnb.results.evaluation_data import EvaluationData, values_of
from recnb.results.table import Table
from recnb.results.values import merged, pairs_in_words, weights_in_words
from recnb.stats import Moments, gap_to_rest, holm

#: Numbers of more values are put into bins; more segments are refused; a segment of
#: fewer users is marked as small.
FEW, MOST, SMALL = 8, 200, 30

#: The columns of a table of segments after those that name a row; a part of the truth
#: has the first four and the last.
NUMBERS = (
    "n_users",
    "mean",
    "low",
    "high",
    "gap",
    "gap_low",
    "gap_high",
    "p",
    "p_holm",
    "small",
)

#: A column each value of which is a truth of its own; how it is asked for.
PART = N_(
    "each {by} is a truth of its own: its rows of the truth, and the users who have one"
)
#: The same where other users are averaged than those of the truth.
PART_OF_OTHERS = N_(
    "each {by} is a truth of its own: its rows of the truth, and {users}"
)
ALONE = (
    "stands alone, in a table or a report, without tests: these take the truth's rows "
    "of one value after the other."
)

#: Values of such a column, each with the evaluation against its rows.
Parts = Iterator[tuple[Any, EvaluationData]]


class Segments(NamedTuple):
    """Which segment each user is in."""

    labels: tuple[str, ...]  #: what each column is called
    #: Values of each segment, in the order shown; the last: of users of whom nothing is
    #: known.
    keys: list[tuple[Any, ...]]
    users: pl.Series  #: each once
    code: Ints  #: by user: the position in `keys`

    def of(self, users: pl.Series) -> Ints:
        """Return the segment of each of some users, as its position in `keys`."""
        place = positions(self.users, users)
        return np.where(place >= 0, self.code[place], len(self.keys) - 1)


def table_by(
    data: EvaluationData,
    metrics: Metrics,
    k: object,
    by: Any,
    bins: int,
    options: Given,
    confidence: float = 0.95,
) -> Table:
    """Return each metric at each cut-off in each segment: mean, interval and the gap to
    all other users.
    """
    asked, cutoffs, by = asked_of(data, metrics, options), Cutoffs.of(k), unlisted(by)
    for each in asked:
        if each.metric.of == "all":
            raise no_segments(each.metric)
    parts = parts_of(data, by, bins)
    if parts is None:
        segments = segments_of(data, by, bins)
        labels, (rows, phrases) = (
            segments.labels,
            _rows_of_segments(data, asked, cutoffs, segments, confidence),
        )
    else:
        labels, (rows, phrases) = (
            (by,),
            _rows_of_parts(data, asked, cutoffs, parts, confidence),
        )
    metric, cuts, keys, numbers = zip(*rows, strict=True)
    frame = pd.DataFrame(numbers, columns=NUMBERS[: len(numbers[0])]).astype(
        {"n_users": int}
    )
    label, n_tests = one_line(", ".join(labels)), 0
    if parts is None:
        tests = frame.groupby([pd.Series(metric), pd.Series(cuts)], dropna=False)["p"]
        # Of two segments each is the rest of the other, which is one test.
        again = (
            (tests.transform("size") == 2)
            & (tests.transform("count") == 2)
            & (tests.cumcount() == 1)
        )
        corrected = pd.Series(holm(frame["p"].mask(again).to_numpy()))
        frame["p_holm"], n_tests = (
            corrected.where(~again, corrected.shift()),
            int((frame["p"].notna() & ~again).sum()),
        )
        words = _(
            "by {by}: {confidence}% intervals, not corrected for the number of "
            "comparisons; gap to all other users "
            "by the more careful of Welch's t and Student's, p corrected by Holm over this table",
            by=label,
            confidence=f"{100 * confidence:g}",
        )
    else:
        words = part_in_words(data, label)
    frame["small"] = frame["n_users"] < SMALL
    names = ["metric", "k", *distinct_labels(labels, {"metric", "k", *NUMBERS})]
    # Levels are in the order of the rows, so that a metric is found with its rows side
    # by side.
    columns = [
        pd.factorize(pd.Series(column, dtype=object))
        for column in (metric, cuts, *zip(*keys, strict=True))
    ]
    levels: list[Any] = [level.infer_objects() for _code, level in columns]
    frame.index = pd.MultiIndex(
        levels, [[*code] for code, _level in columns], names=names
    )
    table = Table.made(frame, [*merged(phrases), words], _("By {by}", by=label))
    table.attrs |= {
        "n_users": data.n_users,
        "by": ", ".join(labels),
        "n_tests": n_tests,
    }
    return table


def _rows_of_segments(
    data: EvaluationData,
    asked: Sequence[Asked],
    cutoffs: Cutoffs,
    segments: Segments,
    confidence: float,
) -> tuple[list[Any], dict[str, list[str]]]:
    """Compute each metric in each segment that has users, with the phrases of its
    basis.
    """
    rows, phrases = list[Any](), dict[str, list[str]]()
    for name, metric, own in asked:
        found = values_of(data, metric, metric.cutoffs(cutoffs), own)
        phrases[name], code = found.basis.phrases(brief=True), segments.of(found.users)
        for cut, of_users in zip(found.k, found.matrix.T, strict=True):
            kept = ~np.isnan(of_users)
            values, segment_of = of_users[kept, np.newaxis], code[kept]
            weights = None if found.weights is None else found.weights[kept]
            for segment in np.unique(segment_of).tolist():
                inside = segment_of == segment
                of_segment = None if weights is None else weights[inside]
                moments = Moments.of(values[inside], found.metric.bounds, of_segment)
                gap = gap_to_rest(values, inside, confidence, weights)
                numbers = np.concatenate(
                    [[inside.sum()], moments.mean, *moments.interval(confidence), *gap]
                )
                rows.append(
                    (metric.name, cut, segments.keys[segment], numbers.tolist())
                )
    return rows, phrases


def distinct_labels(labels: Sequence[str], taken: Collection[str]) -> list[str]:
    """Name the columns of segments in a table that has columns of its own: "segment
    mean" for one called as one of these.
    """
    return [f"segment {label}" if label in taken else label for label in labels]


def segments_of(data: EvaluationData, by: Any, bins: int = 4) -> Segments:
    """Return segments by the names of columns, by a Series or mapping of user to
    segment, or by what users did in train.
    """
    columns = [_column(data, each) for each in (by if isinstance(by, list) else [by])]
    labels = tuple(label for label, _table in columns)
    if not labels or len(set(labels)) < len(labels):
        raise OptionError(f"by={quoted(by)}: name at least one column, each once.")
    everyone, names, codes = _everyone(data), list[list[Any]](), list[Ints]()
    for label, table in columns:
        values = everyone.to_frame().join(
            table, on="user", how="left", maintain_order="left"
        )["value"]
        if values.drop_nulls().is_empty():
            raise OptionError(
                f"by={quoted(label)} says nothing of the users evaluated, such as {everyone[0]!r}."
            )
        values = _binned(values, bins)
        present = values.drop_nulls().unique().sort().to_list()
        names.append([*present, _unknown(present)])
        codes.append(
            values.rank("dense").fill_null(len(names[-1])).cast(pl.Int64).to_numpy() - 1
        )
    used, code = np.unique(np.stack(codes), axis=1, return_inverse=True)
    _refuse_many(used.shape[1], ", ".join(labels))
    keys = [
        tuple(of_column[at] for of_column, at in zip(names, row, strict=True))
        for row in used.T.tolist()
    ]
    unknown = tuple(of_column[-1] for of_column in names)
    return Segments(
        labels,
        keys if keys[-1] == unknown else [*keys, unknown],
        everyone,
        code.ravel(),
    )


def no_segments(metric: Metric[...]) -> OptionError:
    """Return the error of a number of all lists that is asked for by segment."""
    problem = (
        f"{metric.name} is one number of all lists, with no value for each user, so "
    )
    return OptionError(problem, "by= cannot break it down: leave it out.")


def unlisted(by: Any) -> Any:
    """Return what a list of one holds, of several columns a list, and anything else as
    it is.
    """
    listed = (
        [*by]
        if is_several(by) and not isinstance(by, (Mapping, pd.Series, pd.DataFrame))
        else [by]
    )
    return listed[0] if len(listed) == 1 else listed


def _refuse_many(n: int, label: str) -> None:
    if n > MOST:
        problem = f" makes {n:,} segments, and a table has at most {MOST}."
        fix = (
            "Put dates into periods, frame['week'] = frame['date'].dt.to_period('W'), "
            "and other values into groups."
        )
        raise OptionError(f"by={quoted(label)}{problem}", fix=fix)


def _unknown(names: Collection[Any]) -> str:
    """Name the segment of missing values, unlike every value there is."""
    name = _("not known")
    while name in names:
        name = f"({name})"
    return name


def _everyone(data: EvaluationData) -> pl.Series:
    """Return the users evaluated, and those with a list: metrics beyond accuracy are of
    all lists.
    """
    joined = data.joined
    users = joined.users.alias("user")
    # Metrics of all lists are not to be had of rows that are away.
    return (
        distinct(pl.concat([users, joined.recs["user"]]))
        if joined.source.in_memory
        else users
    )


def _binned(values: pl.Series, bins: int) -> pl.Series:
    """Put numbers that are many into quantile bins, named by their lowest and highest
    value.
    """
    if not (isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2):
        fix = (
            "For bins of your own give a column of them, "
            "users.assign(bin=pd.cut(users['age'], [0, 18, 30, 100]))."
        )
        raise OptionError(
            f"bins={bins!r}: give the number of quantile bins, a whole number from 2 up.",
            fix=fix,
        )
    if not values.dtype.is_numeric() or values.drop_nulls().n_unique() <= FEW:
        return values
    numbers = values.cast(pl.Float64)
    edges = np.unique(np.quantile(numbers.drop_nulls(), np.arange(1, bins) / bins))
    code = pl.Series(np.searchsorted(edges, numbers.fill_null(0)))
    known = pl.DataFrame({"code": code, "value": numbers}).drop_nulls()
    ends = (
        known.group_by("code")
        .agg(low=pl.min("value"), high=pl.max("value"))
        .sort("code")
    )
    names = _ranges(ends.select("low", "high").rows())
    named = code.replace_strict(
        ends["code"], pl.Series(names, dtype=pl.Enum(names)), default=None
    )
    return pl.select(pl.when(numbers.is_not_null()).then(named)).to_series()


def _ranges(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Name bins with as many digits as tell their ends apart."""
    values = {end for of_bin in ends for end in of_bin}
    digits = next(
        n
        for n in range(3, 18)
        if len({f"{value:.{n}g}" for value in values}) == len(values)
    )
    form = ".0f" if all(value.is_integer() for value in values) else f".{digits}g"
    shown = [(f"{low:{form}}", f"{high:{form}}") for low, high in ends]
    return [
        low
        if low == high
        else pgettext("segment", "{low} to {high}", low=low, high=high)
        for low, high in shown
    ]


# One column: user and value


def _column(data: EvaluationData, by: Any) -> tuple[str, pl.DataFrame]:
    """Return the name of a column that is given or known of the users, and the one
    value of each user.
    """
    if isinstance(by, str):
        label, table = by, _column_named(data, by)
    elif isinstance(by, (Mapping, pd.Series)):
        label, table = _column_given(data, by)
    else:
        fix = (
            "Name a column of recs.rec.against(truth, users=frame), or give a Series "
            "or mapping of user to segment."
        )
        raise OptionError(f"by={one_line(repr(by))} names no segments.", fix=fix)
    if table.height == 0:
        raise OptionError(
            f"by={quoted(label)} is empty, and names no segments.",
            fix="Give the segment of each user.",
        )
    ids, value, users = table["user"], table["value"], data.joined.judged["user"]
    if value.dtype.is_nested() or value.dtype == pl.Object:
        raise _no_segment(value, label)
    if kind(ids.dtype) != kind(users.dtype):
        raise OptionError(
            f"by={quoted(label)} has users such as {ids[0]!r}; those evaluated "
            f"are such as {users[0]!r}."
        )
    table = pl.DataFrame([ids.cast(users.dtype), _as_shown(value)]).unique(
        maintain_order=True
    )
    for user in table.filter(pl.col("user").is_duplicated())["user"].head(1):
        problem = (
            f"by={quoted(label)} has more than one value for user {user!r}: give each "
            f"user one."
        )
        raise OptionError(
            problem, fix=f"A column of the truth that differs within users {ALONE}"
        )
    return label, table


def _no_segment(values: pl.Series, label: str) -> OptionError:
    """Return the error for a column whose values name no segments."""
    example = one_line(repr(values.drop_nulls().to_list()[0]))
    return OptionError(
        f"by={quoted(label)} holds {example}, which names no segment: give text or numbers."
    )


def _column_given(data: EvaluationData, by: Any) -> tuple[str, pl.DataFrame]:
    """Return the column of a Series or mapping of user to segment."""
    label = str(getattr(by, "name", None) or "segment")
    given = by if isinstance(by, pd.Series) else pd.Series(dict(by), dtype=object)
    numbered = (
        isinstance(by, pd.Series)
        and isinstance(given.index, pd.RangeIndex)
        and given.index.name is None
        and given.index.start == 0
    )
    if numbered and {*_everyone(data).to_list()} != {*given.index.to_list()}:
        problem = (
            f"by={quoted(label)} has no users on its index, only the numbers of its "
            f"rows, which are not those of the users."
        )
        raise OptionError(
            problem,
            fix=f"Put the users on its index, users.set_index('user')[{label!r}].",
        )
    try:
        values = from_pandas(given, "by", label, "value")
    except (
        FrameError
    ):  # values of several kinds are text, and what is missing none of it
        values = pl.Series(
            given.astype(object).where(given.notna(), None).to_list(), strict=False
        )
    return label, pl.DataFrame({"user": given.index.to_list(), "value": values})


def _column_named(data: EvaluationData, by: str) -> pl.DataFrame:
    """Return the column of this name: of the users, else of the truth, else worked out
    of train.
    """
    users, train = data.side_data.users, data.side_data.train
    if users is not None and by in users.columns and by != "user":
        return users.select("user", value=by)
    of_truth = _column_of_truth(data, by)
    if of_truth is not None:
        return of_truth.select("user", "value")
    if by == "activity" and train is not None:
        counts = train.group_by("user").agg(value=pl.len().cast(pl.Int64))
        return (
            _everyone(data)
            .to_frame()
            .join(counts, on="user", how="left")
            .with_columns(pl.col("value").fill_null(0))
        )
    if by == "activity":
        raise RecnbError(
            "by='activity' needs what users had before: type recs.rec.against(truth, train=frame)."
        )
    of_items = (
        []
        if data.side_data.items is None
        else [name for name in data.side_data.items.columns if name != "item"]
    )
    if by in of_items:
        problem = (
            f"by={quoted(by)} is a column of items=: each value is a truth of its "
            f"own, and groups no users."
        )
        raise OptionError(problem, fix=f"It {ALONE}")
    problem = (
        f"by={quoted(by)} is no column of users=, items= or of the truth, where "
        f"segments come from."
    )
    columns = [
        *(() if users is None else users.columns),
        *_columns_of_truth(data),
        *["activity"] * (train is not None),
    ]
    ids = ("user", data.side_data.truth_user, data.side_data.truth_item)
    known = near(by, [*(name for name in columns if name not in ids), *of_items])
    raise OptionError(
        problem,
        fix=f"Give what is known of them: recs.rec.against(truth, users=frame). {known}",
    )


def rows_naming_segments(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return the rows of the column that segments of the users evaluated come from: of
    `users=`, else of the truth, of `items=` or of train; None where there is none.
    """
    users, items, train = (
        data.side_data.users,
        data.side_data.items,
        data.side_data.train,
    )
    if users is not None and by in users.columns and by != "user":
        table = users.select("user", value=by)
    elif (of_truth := _column_of_truth(data, by)) is not None:
        table = of_truth
    elif items is not None and by in items.columns and by != "item":
        return items.select("item", value=by)
    elif by == "activity" and train is not None:
        table = train.select("user", "item")
    else:
        return None
    evaluated = data.joined.users
    if kind(table["user"].dtype) != kind(evaluated.dtype):
        return None  # which is refused where the segments are made
    return rows_of(table.cast({"user": evaluated.dtype}), evaluated)


def _columns_of_truth(data: EvaluationData) -> list[str]:
    return (
        []
        if data.side_data.truth is None
        else columns_of(data.side_data.truth, "truth")
    )


def _column_of_truth(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return a column of the truth as user, item and value; None if there is none."""
    side_data, columns = data.side_data, _columns_of_truth(data)
    roles = {"user": side_data.truth_user, "item": side_data.truth_item}
    if by not in columns or by in roles.values():
        return None
    held = {role: label for role, label in roles.items() if label in columns}
    table = table_of(side_data.truth, "truth", {**held, "value": by})
    if "item" not in held:  # rows are items
        table = table.with_row_index("item").cast({"item": pl.Int64})
    return Sheet(TRUTH, table, roles).with_ids().rows


# Parts of the truth: a column that differs within users, or one of items=, each value
# of which is a truth of its own


def parts_of(data: EvaluationData, by: Any, bins: int) -> Parts | None:
    """Return the evaluation of each value of a column of the truth that differs within
    users, or of one of items=, if `by` names one.

    Many numbers of items are put into bins. An item of several genres, in a list or as
    "comedy|drama", is in the part of each.
    """
    users, items = data.side_data.users, data.side_data.items
    if not isinstance(by, str) or (users is not None and by in users.columns):
        return None
    given = _column_of_truth(data, by)
    if given is None:
        if (
            items is None
            or by not in items.columns
            or by in ("item", *_columns_of_truth(data))
        ):
            return None
        row, values = np.arange(items.height), _as_shown(items[by])
        has_words = values.dtype in (pl.String, pl.List, pl.Array)
        if values.dtype in (pl.Struct, pl.Object):
            raise _no_segment(values, by)
        row, values = words_of(values) if has_words else (row, _binned(values, bins))
        given = pl.DataFrame({"item": items["item"][row], "value": values}).unique(
            maintain_order=True
        )
    elif not given.select("user", "value").unique()["user"].is_duplicated().any():
        return None
    elif by in data.side_data.differing:
        raise _list_of_each_value(data, by)
    source = data.source.of_all_users
    if not isinstance(source, Sheets):
        raise elsewhere(source)
    rows, ids = (
        source.truth.with_row_index("row"),
        [name for name in given.columns if name != "value"],
    )
    given = given.cast({name: rows[name].dtype for name in ids})
    if "user" not in ids:
        return _each_part(
            data,
            source,
            by,
            rows.join(given, on=ids, how="left", maintain_order="left"),
        )
    given = given.join(rows, on=ids, how="semi", maintain_order="left")
    if (
        given.height > rows.height
    ):  # of one frame with both sides, where some rows of a pair are not judged
        problem = f"by={quoted(by)} is of rows that are not judged as well: "
        raise OptionError(problem, "give recommendations and truth as a frame each.")
    return _each_part(data, source, by, rows.with_columns(_as_shown(given["value"])))


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


def _as_shown(values: pl.Series) -> pl.Series:
    """Return values that differ where they are shown to: NaN is missing, and times are
    in microseconds, which is what Python has of nanoseconds.
    """
    dtype = values.dtype
    if isinstance(dtype, (pl.Datetime, pl.Duration)) and dtype.time_unit == "ns":
        return values.dt.cast_time_unit("us")
    return values.fill_nan(None) if dtype.is_float() else values


def _each_part(
    data: EvaluationData, source: Sheets, by: str, rows: pl.DataFrame
) -> Parts:
    """Evaluate against the rows of the truth of one value after the other, of the values
    that users evaluated have: models compared on the same users then have the same.
    """
    is_evaluated = rows["user"].is_in(data.joined.users.implode())
    values = rows["value"].filter(is_evaluated).unique().sort(nulls_last=True)
    _refuse_many(len(values), by)
    unknown = _unknown(values.to_list())
    for value in values.to_list():
        here = rows.filter(
            pl.col("value").eq_missing(pl.lit(value, dtype=values.dtype))
        )["row"]
        judgements = source.judgements.with_rows(source.truth[here])
        part = replace(source, judgements=judgements, is_part=True)
        yield (
            unknown if value is None else value,
            data.restricted(leave_out_lists(part).under(data.convention)),
        )


def _rows_of_parts(
    data: EvaluationData,
    asked: Sequence[Asked],
    cutoffs: Cutoffs,
    parts: Parts,
    confidence: float,
) -> tuple[list[Any], dict[str, list[str]]]:
    """Compute each metric against the truth of each value alone: mean, interval and
    users, without a gap or a test.
    """
    rows, phrases = dict[Any, list[Any]](), dict[str, list[str]]()
    for value, part in parts:
        for name, metric, own in (
            asked if part.n_users else ()
        ):  # something in it is relevant
            found = values_of(part, metric, metric.cutoffs(cutoffs), own)
            columns = (found.n_users, found.mean, *found.interval(confidence))
            for cut, *numbers in zip(
                found.k, *(column.tolist() for column in columns), strict=True
            ):
                rows.setdefault((name, cut), []).append(
                    (metric.name, cut, (value,), numbers)
                )
            # Of users and weights each row has its own.
            of_row = [
                "; ".join(found.basis.users_in_words()),
                *pairs_in_words(part.joined.weighting),
            ]
            phrases[name] = [
                words
                for words in found.basis.phrases(brief=True)
                if words not in of_row
            ]
            phrases[name] += [
                *weights_in_words(data.joined.user_weight),
                *pairs_in_words(data.joined.weighting),
            ]
    return [row for of_metric in rows.values() for row in of_metric], phrases
