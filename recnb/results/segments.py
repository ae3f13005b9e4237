"""Segments of users, by a column of the users or by their history, and the metrics of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import Prepared, validation
from recnb.data.columns import columns_of, from_pandas, table_of
from recnb.data.encoding import distinct, positions
from recnb.data.input import is_numbered
from recnb.data.source import InMemoryRows
from recnb.data.user_parts import UserParts
from recnb.display.fonts import lettering
from recnb.display.language import N_, _, current, pgettext
from recnb.display.templates import translated, user_text
from recnb.display.text import one_line
from recnb.errors import FRAME, Argument, Code, FrameError, OptionError, RecnbError, is_several, near
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import Bools
from recnb.results.aggregation import Scoring
from recnb.results.arguments import Metrics, asked_of
from recnb.results.beyond_accuracy import UserValues, values_of
from recnb.results.evaluation_data import EvaluationData
from recnb.results.plots import draw_scales, plain
from recnb.results.provenance import merged
from recnb.results.table import Table
from recnb.stats import Moments, holm
from recnb.stats.groups import gap_to_rest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Numbers with more values than this are put into bins.
FEW = 8

#: More segments than this are refused: nobody reads them.
MOST = 200

#: A segment with fewer users is marked as small.
SMALL = 30

#: What is worked out of train, unless the users have a column of the name.
WORKED_OUT = ("activity", "popularity_taste")


@dataclass(frozen=True, eq=False)
class Segments:
    """Which segment each user is in, or each part of a user if a column differs within users."""

    labels: tuple[str, ...]  #: what each column is called
    keys: tuple[tuple[Any, ...], ...]  #: the values of each segment, in the order to be shown
    users: pl.Series  #: each once; the numbers of parts, if users are split
    code: Ints  #: position in `keys` for each of `users`
    parts: UserParts | None = None
    unknown: tuple[str, ...] = ()  #: the values of users of whom nothing is known
    by_recs: bool = False  #: whether a column is one of the recommendations
    words: str = ""  #: what the rows are, if users are split

    @property
    def label(self) -> str:
        """What defines the segments, as it is shown."""
        return ", ".join(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """Each segment as it is shown; the last may be that of users of whom nothing is known."""
        return tuple(", ".join(map(str, key)) for key in self.keys)

    def of(self, users: pl.Series) -> Ints:
        """The segment of each of some users; -1 for one of whom nothing is known."""
        at = positions(self.users, users)
        return np.where(at >= 0, self.code[at], -1) if len(self.code) else np.full(len(users), -1)

    def placed(self, users: pl.Series) -> tuple[list[tuple[Any, ...]], Ints]:
        """The segments with that of users of whom nothing is known, and the one that each of some users is in."""
        keys = [*self.keys, *([self.unknown] if self.unknown not in self.keys else [])]
        code = self.of(users)
        return keys, np.where(code < 0, keys.index(self.unknown), code)

    def user(self, users: pl.Series) -> Ints | None:
        """A number for the user of each part; None if users are whole."""
        return None if self.parts is None else self.parts.user(users)

    def check(self, metric: Metric[...]) -> None:
        """Refuse a metric that parts of users have no value of."""
        if self.parts is not None and (not metric.is_accuracy or metric.needs_judged):
            problem = f" splits users by their hits, and {metric.name} is no metric of hits alone: leave it out."
            raise OptionError(Argument("by", self.label), problem)

    def split(self, evaluation: EvaluationData) -> EvaluationData:
        """The data with a row for each part of a user; as it is if users are whole."""
        return evaluation if self.parts is None else SplitEvaluation(evaluation, self.parts)


class SplitEvaluation(EvaluationData):
    """An evaluation with a row for each part of a user, for metrics of accuracy."""

    def __init__(self, whole: EvaluationData, parts: UserParts) -> None:
        super().__init__(whole.prepared, whole.library, whole.overrides, whole.side_data)
        self._parts = parts
        self._split: dict[int, tuple[Hits, Prepared]] = {}

    def scoring(self, metric: Metric[...], options: Mapping[str, Any], *, whole: bool = False) -> Scoring:
        """The data and the options under which a metric is computed."""
        scoring = super().scoring(metric, options, whole=whole)
        hits = scoring.prepared.all_hits
        if id(hits) not in self._split:
            self._split[id(hits)] = hits, self._parts.split(scoring.prepared)
        prepared = replace(self._split[id(hits)][1], convention=scoring.prepared.convention)
        return replace(scoring, prepared=prepared)


@dataclass(frozen=True, eq=False)
class SegmentColumn:
    """One column that segments are made of: the values of users, or of their rows of a frame if these differ."""

    label: str
    table: pl.DataFrame  #: user, value; and item, if values differ within a user
    frame: str = "users"  #: what it is a column of: users, truth or list

    @property
    def ids(self) -> list[str]:
        """What values are of: users, or their items, which splits users."""
        return [name for name in ("user", "item") if name in self.table.columns]

    def refusal(self, problem: str) -> OptionError:
        """The error for a column that makes no segments."""
        return OptionError(Argument("by", self.label), problem)

    def coded(self, users: pl.Series, bins: int, at: int) -> tuple[list[Any], pl.DataFrame]:
        """The segments, and the rows of some users with the segment of each."""
        value, code = f"value {at}", f"code {at}"
        if self.table["value"].dtype.is_nested():
            example = next(each for each in self.table["value"].to_list() if each is not None)
            problem = f" holds several values for one user, such as {example!r}, and a segment is one value:"
            raise self.refusal(
                f"{problem} give a column with one of them, or a column of each user's combination as text."
            )
        known = self.table.filter(pl.col("user").is_in(users.implode())).rename({"value": value})
        of_users = known.select("user", value).unique(maintain_order=True)
        if of_users[value].drop_nulls().is_empty():
            raise self.refusal(f" says nothing of the users evaluated, such as {users[0]!r}.")
        named, codes = _coded(of_users[value], bins)
        of_users = of_users.with_columns(pl.Series(code, codes))
        return named, known.join(of_users, on=["user", value], nulls_equal=True, maintain_order="left")


def segments_of(evaluation: EvaluationData, by: Any, bins: int = 4) -> Segments:
    """Segments by the names of columns, by a Series or mapping of user to segment, or by what users did in train."""
    if not (isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2):
        fix = "For bins of your own give a column of them, users.assign(bin=pd.cut(users['age'], [0, 18, 30, 100]))."
        raise OptionError(f"bins={bins!r}: give the number of quantile bins, a whole number from 2 up.", fix=fix)
    columns = [_column(evaluation, each) for each in ([by] if not is_several(by) or _holds_columns(by) else by)]
    labels = tuple(column.label for column in columns)
    if not labels or len(set(labels)) < len(labels):
        problem = ": name each column once." if labels else " is empty: name a column at least."
        raise OptionError(Argument("by", by), problem)
    everyone = _everyone(evaluation)
    split = [at for at, column in enumerate(columns) if "item" in column.ids]
    if split:  # a library may evaluate others of the truth
        everyone = distinct(pl.concat([everyone, evaluation.prepared.judged["user"]]))
    names, coded = zip(*(column.coded(everyone, bins, at) for at, column in enumerate(columns)), strict=True)
    table = everyone.to_frame()
    for at, of_column in enumerate(coded):
        if at not in split:
            table = table.join(of_column.drop(f"value {at}"), on="user", how="left", maintain_order="left")
    numbered: dict[str, pl.DataFrame] = {}
    for frame in ("truth", "list"):
        pairs = [coded[at] for at in split if columns[at].frame == frame]
        if not pairs:
            table = table.with_columns(pl.lit(0, dtype=pl.Int64).alias(frame))
            continue
        rows = reduce(partial(pl.DataFrame.join, on=["user", "item"], maintain_order="left"), pairs)
        # One number for each combination of a user's values, that of its first row: those of one user are their parts.
        values = ["user", *(name for name in rows.columns if name.startswith("value"))]
        rows = rows.with_row_index(frame).with_columns(pl.col(frame).cast(pl.Int64).first().over(values))
        numbered[frame] = rows.select("user", "item", frame)
        parts = rows.drop("item", *values[1:]).unique(frame, keep="first", maintain_order=True)
        table = table.join(parts, on="user", how="left", maintain_order="left")
    codes = pl.col([f"code {at}" for at in range(len(columns))])
    if not split:  # of whom nothing is known is not among them
        table = table.filter(pl.any_horizontal(codes.is_not_null()))
    unknown = tuple(map(_unknown, names))
    all_names = [[*named, missing] for named, missing in zip(names, unknown, strict=True)]
    keys, code = _combined(table.select(codes.fill_null(-1)).to_numpy(), all_names)
    if len(keys) > MOST:
        problem = f" makes {len(keys):,} segments, and a table has at most {MOST}."
        fix = "Put dates into periods, frame['week'] = frame['date'].dt.to_period('W'), and other values into groups."
        raise OptionError(Argument("by", ", ".join(labels)), problem, fix=fix)
    of_recs = any(column.frame == "list" for column in columns)
    if not split:
        return Segments(labels, keys, table["user"], code, None, unknown, of_recs)
    of_users = table.select("user", pl.col("truth", "list").fill_null(-1))
    users = pl.int_range(table.height, eager=True)
    parts_of_users = UserParts(of_users, numbered.get("truth"), numbered.get("list"))
    return Segments(labels, keys, users, code, parts_of_users, unknown, of_recs, _words(columns))


def _unknown(names: Collection[Any]) -> str:
    """Name the segment of missing values, unlike every value there is."""
    name = _("not known")
    while name in names:
        name = f"({name})"
    return name


def _holds_columns(by: Any) -> bool:
    """Whether it is one mapping, Series or frame, and not a list of columns."""
    return isinstance(by, Mapping) or hasattr(by, "items") or hasattr(type(by), "columns")


def _combined(codes: Ints, names: Sequence[Sequence[Any]]) -> tuple[tuple[tuple[Any, ...], ...], Ints]:
    """The combinations of values that occur, in order, and which each row has; a code of -1 is the last name of its column."""
    shape = [len(of_column) for of_column in names]
    used, code = np.unique(np.ravel_multi_index((codes % shape).T, shape), return_inverse=True)
    places = zip(*(of_column.tolist() for of_column in np.unravel_index(used, shape)), strict=True)
    return tuple(tuple(of_column[at] for of_column, at in zip(names, row, strict=True)) for row in places), code


def distinct_labels(labels: Sequence[str], taken: Collection[str]) -> list[str]:
    """The names of the columns of segments in a table that has columns of its own: "segment mean" for one called as one of these."""
    return [f"segment {label}" if label in taken else label for label in labels]


def _words(columns: Sequence[SegmentColumn]) -> str:
    """What a row is, where users are split."""
    of_truth, of_lists = (
        ", ".join(one_line(column.label) for column in columns if "item" in column.ids and column.frame == frame)
        for frame in ("truth", "list")
    )
    words = [
        _("each user and {by} is a row: the user's list against the truth of that {by}", by=of_truth) * bool(of_truth),
        _("each user and {by} is a row: the hits of that {by}, at their ranks in the whole list", by=of_lists)
        * bool(of_lists),
    ]
    return "; ".join([*filter(None, words), _("intervals and tests keep the rows of a user together")])


def _everyone(evaluation: EvaluationData) -> pl.Series:
    """The users evaluated, and those with a list: metrics beyond accuracy are of all lists."""
    prepared = evaluation.prepared
    if not isinstance(prepared.rows, InMemoryRows):
        return prepared.users.alias("user")  # metrics of all lists are not to be had of rows that are away
    return distinct(pl.concat([prepared.users.alias("user"), prepared.recs["user"]]))


def _column(evaluation: EvaluationData, by: Any) -> SegmentColumn:
    """A column that is known of the users: given, of the users frame, of the truth, of the recommendations, or worked out of train."""
    if isinstance(by, str):
        column = _column_named(evaluation, by)
    elif hasattr(type(by), "columns"):
        give = Code("recs.rec.against(truth, users=frame)", Argument("users", FRAME))
        problem = "by= is a frame of several columns: give it with the users, "
        raise OptionError(problem, give, ", and name a column of it.")
    elif _holds_columns(by):
        column = _column_given(evaluation, by)
    else:
        raise OptionError(
            f"by={by!r}: name a column of the users frame, or give a Series or mapping of user to segment."
        )
    table, judged = column.table, evaluation.prepared.judged
    for role in column.ids:
        ids, kind = table[role], judged[role].dtype
        try:
            table = table.with_columns(ids.cast(kind))
        except pl.exceptions.PolarsError:
            theirs = f"those evaluated {kind}, such as {judged[role][0]!r}."
            raise column.refusal(f": its {role}s are {ids.dtype}, such as {ids[0]!r}, and {theirs}") from None
    if table["value"].dtype.is_float():
        table = table.with_columns(pl.col("value").fill_nan(None))
    if column.frame == "truth" and "item" in column.ids:
        table = table.join(judged, on=["user", "item"], how="semi", maintain_order="left")
    table = table.unique(maintain_order=True)
    twice = table.filter(pl.struct(column.ids).is_duplicated()).head(1)
    for pair in twice.select(column.ids).iter_rows(named=True):
        words = " and ".join(f"{role} {value!r}" for role, value in pair.items())
        raise column.refusal(
            f" has more than one value for {words}: give each {'pair' if len(pair) > 1 else 'user'} one."
        )
    return replace(column, table=table)


def _column_given(evaluation: EvaluationData, by: Any) -> SegmentColumn:
    """A Series or mapping of user to segment."""
    label = str(getattr(by, "name", None) or "segment")
    if isinstance(by, pd.Series) and is_numbered(by.index):
        _refuse_positions(evaluation, by.index, label)
    given = by if isinstance(by, pd.Series) else pd.Series(dict(by.items()), dtype=object)
    try:
        series = from_pandas(given, "by", label, "value")
    except FrameError:  # values of several kinds are text, and what is missing none of it
        series = pl.Series(given.astype(object).where(given.notna(), None).to_list(), strict=False)
    if series.dtype == pl.Object or series.dtype.is_nested():
        problem = f" holds {one_line(repr(given.iloc[0]))}, which names no segment: give each user a text or a number."
        raise OptionError(Argument("by", label), problem)
    return SegmentColumn(label, pl.DataFrame({"user": given.index.to_list(), "value": series}))


def _refuse_positions(evaluation: EvaluationData, index: pd.Index[Any], label: str) -> None:
    """Refuse the numbers of rows for users, unless they are exactly the users."""
    users = _everyone(evaluation).to_list()
    if {*users} == {*index.to_list()}:
        return
    other = next((user for user in users if user not in index), users[0])
    problem = f" has no users on its index, only the numbers of its rows, 0 to {len(index) - 1:,}: users such as {other!r} would be not known, or in another's segment."
    code = Code(f", users.set_index('user')[{label!r}]")
    raise OptionError(Argument("by", label), problem, fix=("Put the users on its index", code, "."))


def _refuse_another(by: str, users: pl.DataFrame, name: str, other: pl.DataFrame) -> None:
    """Refuse a column of the users that another frame has as well, with another value for a user."""
    both = users.select("user", here="value").join(other.select("user", there="value"), on="user")
    numbers = both["here"].dtype.is_numeric() and both["there"].dtype.is_numeric()
    same = pl.col("here", "there").cast(pl.Float64 if numbers else pl.String)
    differ = both.with_columns(same).filter(pl.col("here").ne_missing(pl.col("there")))
    if differ.height:
        user, here, there = differ.row(0)
        problem = (
            f" is a column of users= and of the {name}, and they differ: for user {user!r}, {here!r} and {there!r}."
        )
        code = Code(f": users.rename(columns={{{by!r}: {f'user_{by}'!r}}})")
        raise OptionError(Argument("by", by), problem, fix=("Rename one of them", code, "."))


#: The columns of a frame, each with what reads it as `value` beside ids.
Columns = dict[str, Callable[..., pl.DataFrame]]


def _column_named(evaluation: EvaluationData, by: str) -> SegmentColumn:
    side_data, users = evaluation.side_data, evaluation.side_data.users
    of_users = [] if users is None else [name for name in users.columns if name != "user"]
    frames: dict[str, Columns] = {
        "users": {} if users is None else {name: partial(users.select, value=name) for name in of_users},
        "truth": _columns_of_truth(evaluation),
        "list": _columns_of(side_data.recs, "recommendations", evaluation),
    }
    having = [frame for frame, columns in frames.items() if by in columns]
    for frame in having:
        values = frames[frame][by]("user").unique(maintain_order=True)
        for other in having[1:] if frame == "users" else ():
            _refuse_another(by, values, "truth" if other == "truth" else "recommendations", frames[other][by]("user"))
        split = values["user"].is_duplicated().any()
        return SegmentColumn(by, frames[frame][by]("user", "item") if split else values, frame)
    if by in WORKED_OUT:
        return SegmentColumn(by, _worked_out(evaluation, by))
    worked_out = [] if side_data.train is None else WORKED_OUT
    names = [*chain.from_iterable(frames.values()), *worked_out]
    give = Code("recs.rec.against(truth, users=frame)", Argument("users", FRAME))
    hint = () if users is not None else (" Give what is known of them: ", give, ".")
    problem = " is no column of users=, of the truth or of the recommendations, where segments come from."
    raise OptionError(Argument("by", by), problem, *hint, fix=near(by, names) if names else ())


def _columns_of_truth(evaluation: EvaluationData) -> Columns:
    """The columns of the truth; those that have a role are held already."""
    side_data, source = evaluation.side_data, evaluation.prepared.source
    columns: Columns = {}
    if source is not None and side_data.truth is not None:
        columns = {source.truth_labels[role]: partial(source.truth.select, value=role) for role in source.truth.columns}
    columns |= _columns_of(side_data.truth, "truth", evaluation)
    return {name: read for name, read in columns.items() if name not in (side_data.truth_user, side_data.truth_item)}


def _columns_of(frame: Any, name: str, evaluation: EvaluationData) -> Columns:
    """The columns of a frame that have no role."""
    side_data, source = evaluation.side_data, evaluation.prepared.source
    if frame is None:
        return {}
    roles = {"user": side_data.truth_user, "item": side_data.truth_item}
    if name == "recommendations":
        assert source is not None
        roles = {role: source.labels[role] for role in roles}
    columns = columns_of(frame, name)
    held = {role: label for role, label in roles.items() if label in columns}

    def read(column: str, *ids: str) -> pl.DataFrame:
        table = table_of(frame, name, {**held, "value": column})
        if "item" not in held:  # rows are items
            table = table.with_row_index("item").cast({"item": pl.Int64})
        return validation.ids(table, name, roles).select(*ids, "value")

    return {column: partial(read, column) for column in columns if column not in roles.values()}


def _worked_out(evaluation: EvaluationData, by: str) -> pl.DataFrame:
    train = evaluation.side_data.train
    if train is None:
        give = Code("recs.rec.against(truth, train=frame)", Argument("train", FRAME))
        raise RecnbError(Argument("by", by), " needs what users had before: type ", give, ".")
    users = _everyone(evaluation).alias("user").to_frame()
    if by == "activity":
        counts = train.group_by("user").agg(value=pl.len().cast(pl.Int64))
        return users.join(counts, on="user", how="left").with_columns(pl.col("value").fill_null(0))
    shares = train.unique(maintain_order=True).with_columns(share=pl.len().over("item") / pl.col("user").n_unique())
    return users.join(shares.group_by("user").agg(value=pl.col("share").mean()), on="user", how="left")


def _coded(values: pl.Series, bins: int) -> tuple[list[Any], Ints]:
    """Segments, and which each value is in (-1: missing): numbers that are many in bins, others as they are."""
    if values.dtype.is_float():
        values = values.fill_nan(None)
    present = values.drop_nulls()
    if values.dtype.is_numeric() and present.n_unique() > FEW:
        numbers = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
        known = ~np.isnan(numbers)
        inner = np.unique(np.quantile(numbers[known], np.arange(1, bins) / bins))
        used, among = np.unique(np.searchsorted(inner, numbers[known], side="left"), return_inverse=True)
        code = np.full(len(numbers), -1)
        code[known] = among
        return _ranges([(numbers[code == at].min(), numbers[code == at].max()) for at in range(len(used))]), code
    found = present.unique().sort()
    return found.to_list(), values.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1


def _ranges(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Name bins by their lowest and highest value, with as many digits as tell these and the bins apart."""
    whole = all(float(end).is_integer() for of_bin in ends for end in of_bin)
    names: list[str] = []
    for digits in range(3, 18):
        form, alone = (",.0f", ".0f") if whole else (f".{digits}g", f".{max(digits, 6)}g")
        shown = [(f"{low:{form}}", f"{high:{form}}") if low < high else (f"{low:{alone}}",) for low, high in ends]
        names = [
            pgettext("segment", "{low} to {high}", low=pair[0], high=pair[1]) if len(pair) == 2 else pair[0]
            for pair in shown
        ]
        if len(set(names)) == len(ends) and all(len(set(pair)) == len(pair) for pair in shown):
            break
    return names


def segment_rows(
    evaluation: EvaluationData,
    metrics: Metrics,
    k: object,
    by: Any,
    bins: int,
    options: Mapping[str, Any],
    confidence: float = 0.95,
    computed: Mapping[str, Floats] | None = None,
) -> tuple[Segments, list[Segment], list[str]]:
    """Each metric at each cut-off in each segment: mean and interval, and the gap to all other users; and the basis.

    The p-values of the gaps (the more careful of Welch's test and Student's) are corrected by Holm's method over all rows.
    `computed` has the values of each metric for the users evaluated at the one cut-off, if they were computed before.
    """
    asked, segments = asked_of(evaluation.library, metrics, options), segments_of(evaluation, by, bins)
    for _name, metric, _own in asked:
        if metric.of == "all":
            problem = f"{metric.name} is one number of all lists, with no value for each user, so "
            raise OptionError(problem, Argument("by"), " cannot break it down: leave it out.")
        segments.check(metric)
    split, rows = segments.split(evaluation), list[Segment]()
    of_accuracy = [each for each in asked if each.metric.is_accuracy]
    phrases = evaluation.phrases_of_metrics(of_accuracy, Cutoffs.of(k))
    for name, metric, own in asked:
        at_cutoffs = metric.cutoffs(Cutoffs.of(k))
        if computed is None or segments.parts is not None or np.isnan(computed[metric.name]).any():
            of_users = values_of(split, metric, at_cutoffs, own)
        else:
            of_users = UserValues(evaluation.prepared.users, computed[metric.name][:, np.newaxis])
        if not metric.is_accuracy:
            phrases[name] = of_users.basis()
        keys, code = segments.placed(of_users.users)
        metric = metric.bounded(own)
        user = segments.user(of_users.users)
        for cut, values in zip(at_cutoffs, of_users.values.T, strict=True):
            kept = ~np.isnan(values)
            at_cut, code_at, user_at = values[kept, np.newaxis], code[kept], None if user is None else user[kept]
            rows += [
                _segment(metric, cut, keys[at], at_cut, code_at == at, user_at, confidence)
                for at in np.unique(code_at).tolist()
            ]
    corrected = _corrected(_frame(rows)).tolist()
    words = [segments.words] if segments.words else []
    return (
        segments,
        [replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True)],
        [*merged(phrases), *words],
    )


def table_by(
    evaluation: EvaluationData, metrics: Metrics, k: object, by: Any, bins: int, options: Mapping[str, Any]
) -> SegmentTable:
    """The segments of `segment_rows` as a table."""
    segments, rows, basis = segment_rows(evaluation, metrics, k, by, bins, options)
    words = _(
        "by {by}: {confidence}% intervals, not corrected for the number of comparisons; gap to all other users "
        "by the more careful of Welch's t and Student's, p corrected by Holm over this table",
        by=one_line(segments.label),
        confidence="95",
    )
    frame = _frame(rows)
    levels_of = {"metric": frame["metric"], "k": frame["k"].astype(object if frame["k"].isna().any() else int)}
    for at, named in enumerate(distinct_labels(segments.labels, {*COLUMNS} - {"segment", "key"})):
        levels_of[named] = pd.Series([row.key[at] for row in rows], dtype=object)
    # Levels in the order of the rows, so that looking up a metric finds its rows side by side.
    codes, levels = zip(*map(pd.factorize, levels_of.values()), strict=True)
    index = pd.MultiIndex(list(map(list, levels)), [code.tolist() for code in codes], names=list(levels_of))
    counts = ["n_users"] if segments.parts is None else ["n_users", "n_rows"]
    numbers = ["mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm", "small"]
    table = SegmentTable(frame[[*counts, *numbers]].set_axis(index, axis=0))
    line = "; ".join([*basis, words])
    table.attrs = {"basis": line, "n_users": evaluation.n_users, "by": segments.label, "lang": current()}
    return table


def _frame(rows: Sequence[Segment]) -> pd.DataFrame:
    return pd.DataFrame([vars(row) for row in rows], columns=COLUMNS)


def _segment(
    metric: Metric[...],
    k: int | None,
    key: tuple[Any, ...],
    values: Floats,
    inside: Bools,
    user: Ints | None,
    confidence: float,
) -> Segment:
    own = values[inside]
    moments = Moments.of(own, metric.bounds) if user is None else Moments.of_clusters(own, user[inside], metric.bounds)
    gap = gap_to_rest(values, inside, confidence, user=user)
    ends = (*moments.interval(confidence), gap.gap, gap.low, gap.high, gap.p)
    numbers = (float(number[0]) for number in (own.mean(axis=0), *ends))
    name = ", ".join(map(str, key))
    return Segment(metric.name, k, name, moments.n, *numbers, key=key, n_rows=len(own), small=moments.n < SMALL)


def _again(rows: pd.DataFrame) -> pd.Series[bool]:
    """Whether a row repeats the test of the row before: of two segments each is the rest of the other."""
    groups = rows.groupby(["metric", "k"], dropna=False)["p"]
    twins = (groups.transform("size") == 2) & (groups.transform("count") == 2)
    return twins & rows.duplicated(["metric", "k"])


def _corrected(rows: pd.DataFrame) -> pd.Series[float]:
    """P-values corrected by Holm's method over all tests of a table, of which one that is repeated counts once."""
    again = _again(rows)
    corrected = pd.Series(holm(rows["p"].mask(again).to_numpy()))
    return corrected.where(~again, corrected.shift())


def n_tests(segments: Sequence[Segment]) -> int:
    """The number of tests over which the p-values of segments are corrected."""
    rows = _frame(segments)
    return int((rows["p"].notna() & ~_again(rows)).sum())


@dataclass(frozen=True)
class Segment:
    """One metric at one cut-off in one segment of the users."""

    metric: str
    k: int | None
    segment: str  #: its values as they are shown
    n_users: int
    mean: float
    low: float
    high: float
    gap: float  #: the mean here less the mean of all other users
    gap_low: float
    gap_high: float
    p: float  #: of the test of the gap; NaN: too few users or differences
    p_holm: float = field(default=np.nan, kw_only=True)  #: corrected over the whole table
    key: tuple[Any, ...] = field(kw_only=True)  #: its value of each column
    n_rows: int = field(kw_only=True)  #: more than users if these are split
    small: bool = field(kw_only=True)  #: too few users to say much


#: The fields of a segment.
COLUMNS = [each.name for each in fields(Segment)]


class SegmentTable(Table):
    """Means of segments with their intervals, and the gap of each to all other users.

    Indexed by metric, k and the columns of the segments under their names; columns n_users, mean, low, high, gap, gap_low,
    gap_high, p, p_holm, small, and n_rows if a column splits users into several rows.
    """

    def _number(self, value: float, column: object) -> str:
        """Gaps with their sign; a small p is not rounded to 0."""
        if column in ("p", "p_holm") and value < 0.0001:
            return "<0.0001"
        return (
            f"{value:+.4f}" if str(column).startswith("gap") and np.isfinite(value) else super()._number(value, column)
        )

    def _draw(self, ax: Axes | None, color: Any) -> Axes:
        """The metrics in each segment, with their intervals."""
        index: Any = self.index
        names = [_label(metric, k) for metric, k in zip(*map(index.get_level_values, ("metric", "k")), strict=True)]
        keys = [key[2:] for key in index]  # a segment's values, which may read alike when joined
        at = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        shown: Any = self.set_axis(pd.MultiIndex.from_arrays([[at[key] for key in keys], names]))
        wide = [shown[part].unstack(sort=False) for part in ("mean", "low", "high")]
        parts = [part.set_axis([", ".join(map(str, key)) for key in at]) for part in wide]
        by = plain(self.attrs.get("by", ""))
        with lettering(self.attrs.get("lang", "en"), rc=True) as fonts:
            return draw_scales(ax, parts, _of_metrics, axis=1, color=color, ylabel=by, **fonts)

    def _title(self) -> str:
        return translated(N_("By {by}"), by=user_text(self.attrs.get("by", ""), 80))


def _of_metrics(metrics: Sequence[str]) -> str:
    """The label of an axis of means; several metrics are in the legend."""
    return _("{label}, mean over users", label=metrics[0]) if len(metrics) == 1 else _("mean over users")


def _label(metric: str, k: Any) -> str:
    return metric if pd.isna(k) else f"{metric}@{k:.0f}"
