"""Segments: groups of users by a column, a Series or their history, and the metrics of each; parts of the truth, such as weeks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import validation
from recnb.data.columns import columns_of, from_pandas, table_of
from recnb.data.encoding import distinct, positions
from recnb.data.relevance import LazyRows
from recnb.data.source import InMemoryRows
from recnb.display.language import _, pgettext
from recnb.display.progress import steps
from recnb.display.text import one_line
from recnb.errors import FrameError, NoUsersError, OptionError, RecnbError, is_several, near, quoted
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import Metric
from recnb.results.arguments import Asked, Metrics, asked_of
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import merged
from recnb.results.table import Table
from recnb.results.values import Values, values_of
from recnb.stats import Moments, holm
from recnb.stats.groups import gap_to_rest

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
    """Which segment each user is in."""

    labels: tuple[str, ...]  #: what each column is called
    keys: tuple[tuple[Any, ...], ...]  #: the values of each segment, in the order to be shown
    users: pl.Series = field(default_factory=lambda: pl.Series("user", []))  #: each once
    code: Ints = field(
        default_factory=lambda: np.zeros(0, dtype=np.int64)
    )  #: for each of `users`, the position in `keys`
    unknown: tuple[str, ...] = ()  #: the key of users of whom nothing is known
    by_recs: bool = False  #: whether a column is one of the recommendations
    words: str = ""  #: what the rows are, if they are parts of the truth

    @property
    def label(self) -> str:
        """What defines the segments, as it is shown."""
        return ", ".join(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """Each segment as it is shown; the last may be that of users of whom nothing is known."""
        return tuple(", ".join(map(str, key)) for key in self.keys)

    def of(self, users: pl.Series) -> Ints:
        """Return the segment of each of some users; -1 for one of whom nothing is known."""
        at = positions(self.users, users)
        return np.where(at >= 0, self.code[at], -1) if len(self.code) else np.full(len(users), -1)

    def placed(self, users: pl.Series) -> tuple[list[tuple[Any, ...]], Ints]:
        """Return the segments with that of unknown users, and for each of some users its position among them."""
        keys = [*self.keys, *([self.unknown] if self.unknown not in self.keys else [])]
        code = self.of(users)
        return keys, np.where(code < 0, keys.index(self.unknown), code)


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
    gap: float = np.nan  #: the mean here less the mean of all other users; NaN: none
    gap_low: float = np.nan
    gap_high: float = np.nan
    p: float = np.nan  #: of the test of the gap; NaN: too few users or differences
    p_holm: float = np.nan  #: corrected over the whole table
    key: tuple[Any, ...] = field(kw_only=True)  #: its value of each column
    small: bool = field(kw_only=True)  #: too few users to say much


#: The columns of a table of segments that are numbers, and the fields of a segment.
NUMBERS = ("n_users", "mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm", "small")
COLUMNS = [each.name for each in fields(Segment)]


def table_by(
    data: EvaluationData, metrics: Metrics, k: object, by: Any, bins: int, options: Mapping[str, Any]
) -> Table:
    """Return the segments of `segment_rows` as a table: metric, k and the columns of the segments, then numbers."""
    segments, rows, basis = segment_rows(data, metrics, k, by, bins, options)
    if segments.words:
        words = _("by {by}: 95% intervals", by=one_line(segments.label))
    else:
        words = _(
            "by {by}: {confidence}% intervals, not corrected for the number of comparisons; gap to all other users "
            "by the more careful of Welch's t and Student's, p corrected by Holm over this table",
            by=one_line(segments.label),
            confidence="95",
        )
    frame = pd.DataFrame([asdict(row) | {"key": row.key} for row in rows], columns=COLUMNS)
    levels_of = {"metric": frame["metric"], "k": frame["k"].astype(object if frame["k"].isna().any() else int)}
    for at, named in enumerate(distinct_labels(segments.labels, {*COLUMNS} - {"segment", "key"})):
        levels_of[named] = pd.Series([row.key[at] for row in rows], dtype=object)
    # Levels in the order of the rows, so that looking up a metric finds its rows side by side.
    codes, levels = zip(*map(pd.factorize, levels_of.values()), strict=True)
    index = pd.MultiIndex(list(map(list, levels)), [code.tolist() for code in codes], names=list(levels_of))
    columns = [name for name in NUMBERS if not segments.words or not name.startswith(("gap", "p"))]
    table = Table.made(
        frame[columns].set_axis(index, axis=0), [*basis, words], title=_("By {by}", by=one_line(segments.label, 80))
    )
    table.attrs |= {"n_users": data.n_users, "by": segments.label}
    return table


def segment_rows(
    data: EvaluationData,
    metrics: Metrics,
    k: object,
    by: Any,
    bins: int,
    options: Mapping[str, Any],
    confidence: float = 0.95,
    computed: Mapping[str, Floats] | None = None,
) -> tuple[Segments, list[Segment], list[str]]:
    """Compute each metric at each cut-off in each segment: mean and interval, and the gap to all other users; and the basis.

    The p-values of the gaps (the more careful of Welch's test and Student's) are corrected by Holm's method over all rows.
    `computed` has the values of the users evaluated by metric, if they were computed before.
    """
    asked = asked_of(data.library, metrics, options)
    for each in asked:
        if each.metric.of == "all":
            problem = f"{each.metric.name} is one number of all lists, with no value for each user, so "
            raise OptionError(problem, "by= cannot break it down: leave it out.")
    if (part := _column_of_parts(data, by)) is not None:
        return _rows_of_parts(data, asked, Cutoffs.of(k), part, confidence)
    segments, rows, phrases = segments_of(data, by, bins), list[Segment](), {}
    for name, metric, own in asked:
        cutoffs = metric.cutoffs(Cutoffs.of(k))
        if computed is None:
            found = values_of(data, metric, cutoffs, own)
            users, matrix, metric = found.users, found.matrix, found.metric
            phrases[name] = found.basis.phrases(brief=True)
        else:
            users, matrix = data.prepared.users, computed[metric.name][:, np.newaxis]
        keys, code = segments.placed(users)
        for cut, of_users in zip(cutoffs, matrix.T, strict=True):
            kept = ~np.isnan(of_users)
            for at in np.unique(code[kept]).tolist():
                rows.append(_segment(metric, cut, keys[at], of_users[kept], code[kept] == at, confidence))
    corrected = _corrected(rows)
    return segments, [replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True)], merged(phrases)


def _segment(
    metric: Metric[...], k: int | None, key: tuple[Any, ...], of_users: Floats, inside: Any, confidence: float
) -> Segment:
    column = of_users[:, np.newaxis]
    moments, gap = Moments.of(column[inside], metric.bounds), gap_to_rest(column, inside, confidence)
    ends = dict(zip(("low", "high"), moments.interval(confidence), strict=True))
    tested = {"gap": gap.gap, "gap_low": gap.low, "gap_high": gap.high, "p": gap.p}
    numbers = {name: float(value[0]) for name, value in (ends | tested).items()}
    mean, name = float(column[inside].mean()), ", ".join(map(str, key))
    return Segment(metric.name, k, name, moments.n, mean, **numbers, key=key, small=moments.n < SMALL)


def _repeats(rows: Sequence[Segment]) -> pd.Series[bool]:
    """Mark the rows that repeat the test of the row before: of two segments each is the rest of the other."""
    frame = pd.DataFrame([(row.metric, row.k, row.p) for row in rows], columns=["metric", "k", "p"])
    groups = frame.groupby(["metric", "k"], dropna=False)["p"]
    twins = (groups.transform("size") == 2) & (groups.transform("count") == 2)
    return twins & frame.duplicated(["metric", "k"])


def _corrected(rows: Sequence[Segment]) -> list[float]:
    """Correct p-values by Holm's method over all tests of a table, of which one that is repeated counts once."""
    again, p = _repeats(rows), pd.Series([row.p for row in rows], dtype=float)
    corrected = pd.Series(holm(np.asarray(p.mask(again), dtype=np.float64)))
    return [float(value) for value in corrected.where(~again, corrected.shift())]


def n_tests(rows: Sequence[Segment]) -> int:
    """Return the number of tests over which the p-values of segments are corrected."""
    tested = pd.Series([not np.isnan(row.p) for row in rows], dtype=bool)
    return int((tested & ~_repeats(rows)).sum())


def distinct_labels(labels: Sequence[str], taken: Collection[str]) -> list[str]:
    """Name the columns of segments in a table that has columns of its own: "segment mean" for one called as one of these."""
    return [f"segment {label}" if label in taken else label for label in labels]


def segments_of(data: EvaluationData, by: Any, bins: int = 4) -> Segments:
    """Return segments by the names of columns, by a Series or mapping of user to segment, or by what users did in train."""
    if not (isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2):
        fix = "For bins of your own give a column of them, users.assign(bin=pd.cut(users['age'], [0, 18, 30, 100]))."
        raise OptionError(f"bins={bins!r}: give the number of quantile bins, a whole number from 2 up.", fix=fix)
    columns = [_column(data, each) for each in ([by] if not is_several(by) or _holds_columns(by) else by)]
    labels = tuple(column.label for column in columns)
    if not labels or len(set(labels)) < len(labels):
        problem = ": name each column once." if labels else " is empty: name a column at least."
        raise OptionError(f"by={quoted(by)}", problem)
    everyone = _everyone(data)
    names, codes = zip(*(column.coded(everyone, bins) for column in columns), strict=True)
    code = np.stack(codes, axis=1)
    known = (code >= 0).any(axis=1)  # of whom nothing is known is not among them
    unknown = tuple(map(_unknown, names))
    all_names = [[*named, missing] for named, missing in zip(names, unknown, strict=True)]
    keys, combined = _combined(code[known], all_names)
    _refuse_many(len(keys), ", ".join(labels))
    by_recs = any(column.frame == "recommendations" for column in columns)
    return Segments(labels, keys, everyone.filter(pl.Series(known)), combined, unknown, by_recs)


def _refuse_many(n: int, label: str) -> None:
    if n > MOST:
        problem = f" makes {n:,} segments, and a table has at most {MOST}."
        fix = "Put dates into periods, frame['week'] = frame['date'].dt.to_period('W'), and other values into groups."
        raise OptionError(f"by={quoted(label)}", problem, fix=fix)


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
    """Return the combinations of values that occur, in order, and for each row of codes its combination; -1 is the last name."""
    shape = [len(of_column) for of_column in names]
    used, code = np.unique(np.ravel_multi_index((codes % shape).T, shape), return_inverse=True)
    places = zip(*(of_column.tolist() for of_column in np.unravel_index(used, shape)), strict=True)
    return tuple(tuple(of_column[at] for of_column, at in zip(names, row, strict=True)) for row in places), code


def _everyone(data: EvaluationData) -> pl.Series:
    """Return the users evaluated, and those with a list: metrics beyond accuracy are of all lists."""
    prepared = data.prepared
    if not isinstance(prepared.rows, InMemoryRows):
        return prepared.users.alias("user")  # metrics of all lists are not to be had of rows that are away
    return distinct(pl.concat([prepared.users.alias("user"), prepared.recs["user"]]))


# ---- One column: where it comes from, and the segment of each user.


@dataclass(frozen=True, eq=False)
class SegmentColumn:
    """One column that segments are made of: the value of each user."""

    label: str
    table: pl.DataFrame  #: user, value
    frame: str = "users"  #: what it is a column of: users, truth or recommendations

    def refusal(self, *problem: Any) -> OptionError:
        """Return the error for a column that makes no segments."""
        return OptionError(f"by={quoted(self.label)}", *problem)

    def checked(self, users: pl.Series) -> SegmentColumn:
        """Return the column with ids of the kind of the users, and one value a user; refuse any other."""
        ids, table = self.table["user"], self.table
        try:
            table = table.with_columns(ids.cast(users.dtype))
        except pl.exceptions.PolarsError:
            theirs = f"those evaluated {users.dtype}, such as {users[0]!r}."
            raise self.refusal(f": its users are {ids.dtype}, such as {ids[0]!r}, and {theirs}") from None
        value = pl.col("value").fill_nan(None) if table["value"].dtype.is_float() else pl.col("value")
        if table["value"].dtype.is_nested():
            example = next(each for each in table["value"].to_list() if each is not None)
            problem = f" holds several values for one user, such as {example!r}, and a segment is one value:"
            raise self.refusal(
                f"{problem} give a column with one of them, or a column of each user's combination as text."
            )
        table = table.with_columns(value).unique(maintain_order=True)
        twice = table.filter(pl.col("user").is_duplicated())
        if twice.height:
            raise self._differing(twice)
        return replace(self, table=table)

    def _differing(self, twice: pl.DataFrame) -> OptionError:
        """Return the error for several values of one user, with what to type in its place."""
        user, name = twice["user"][0], one_line(repr(self.label))
        if self.frame == "recommendations":
            problem = f" is a column of the recommendations that differs within lists, such as that of user {user!r}: "
            code = f"recs[recs[{name}] == value].rec.against(truth)"
            return self.refusal(problem, "evaluate the rows of one value by themselves, ", code, ".")
        if self.frame == "truth":
            problem = f" is a column of the truth that differs within users, such as {user!r}: it stands alone, "
            code = f"recnb.compare(models, truth[truth[{name}] == value])"
            return self.refusal(
                problem,
                f".table(by={name})",
                " of one model, and models are compared value by value, ",
                code,
                ".",
            )
        return self.refusal(f" has more than one value for user {user!r}: give each user one.")

    def coded(self, users: pl.Series, bins: int) -> tuple[list[Any], Ints]:
        """Return the segments, and for each of some users its position among them; -1: nothing is known."""
        of_users = (
            users.alias("user").to_frame().join(self.table, on="user", how="left", maintain_order="left")["value"]
        )
        if of_users.drop_nulls().is_empty():
            raise self.refusal(f" says nothing of the users evaluated, such as {users[0]!r}.")
        return _coded(of_users, bins)


def _column(data: EvaluationData, by: Any) -> SegmentColumn:
    """Return a column that is given, or one that is known of the users."""
    if isinstance(by, str):
        column = _column_named(data, by)
    elif hasattr(type(by), "columns"):
        give = "recs.rec.against(truth, users=frame)"
        problem = "by= is a frame of several columns: give it with the users, "
        raise OptionError(problem, give, ", and name a column of it.")
    elif _holds_columns(by):
        column = _column_given(data, by)
    else:
        raise OptionError(
            f"by={by!r}: name a column of the users frame, or give a Series or mapping of user to segment."
        )
    return column.checked(data.prepared.judged["user"])


def _column_given(data: EvaluationData, by: Any) -> SegmentColumn:
    """Return the column of a Series or mapping of user to segment."""
    label = str(getattr(by, "name", None) or "segment")
    index = by.index if isinstance(by, pd.Series) else None
    if isinstance(index, pd.RangeIndex) and index.name is None and index.start == 0:
        _refuse_positions(data, index, label)
    given = by if isinstance(by, pd.Series) else pd.Series(dict(by.items()), dtype=object)
    try:
        series = from_pandas(given, "by", label, "value")
    except FrameError:  # values of several kinds are text, and what is missing none of it
        series = pl.Series(given.astype(object).where(given.notna(), None).to_list(), strict=False)
    if series.dtype == pl.Object or series.dtype.is_nested():
        problem = f" holds {one_line(repr(given.iloc[0]))}, which names no segment: give each user a text or a number."
        raise OptionError(f"by={quoted(label)}", problem)
    return SegmentColumn(label, pl.DataFrame({"user": given.index.to_list(), "value": series}))


def _refuse_positions(data: EvaluationData, index: pd.Index[Any], label: str) -> None:
    """Refuse the numbers of rows for users, unless they are exactly the users."""
    users = _everyone(data).to_list()
    if {*users} == {*index.to_list()}:
        return
    other = next((user for user in users if user not in index), users[0])
    problem = f" has no users on its index, only the numbers of its rows, 0 to {len(index) - 1:,}: users such as {other!r} would be not known, or in another's segment."
    code = f", users.set_index('user')[{label!r}]"
    raise OptionError(f"by={quoted(label)}", problem, fix=("Put the users on its index", code, "."))


#: The columns of a frame, each with what reads it as `value` beside ids.
Columns = dict[str, Callable[..., pl.DataFrame]]


def _column_named(data: EvaluationData, by: str) -> SegmentColumn:
    """Return the column of this name: of the users, of the truth, of the recommendations, or worked out of train."""
    side_data, users = data.side_data, data.side_data.users
    of_users = [] if users is None else [name for name in users.columns if name != "user"]
    frames: dict[str, Columns] = {
        "users": {} if users is None else {name: partial(users.select, value=name) for name in of_users},
        "truth": _columns_of_truth(data),
        "recommendations": _columns_of(side_data.recs, "recommendations", data),
    }
    having = [frame for frame, columns in frames.items() if by in columns]
    for frame in having:
        values = frames[frame][by]("user").unique(maintain_order=True)
        for other in having[1:] if frame == "users" else ():
            _refuse_another(by, values, other, frames[other][by]("user"))
        return SegmentColumn(by, values, frame)
    if by in WORKED_OUT:
        return SegmentColumn(by, _worked_out(data, by))
    worked_out = [] if side_data.train is None else WORKED_OUT
    names = [*chain.from_iterable(frames.values()), *worked_out]
    give = "recs.rec.against(truth, users=frame)"
    hint = () if users is not None else (" Give what is known of them: ", give, ".")
    problem = " is no column of users=, of the truth or of the recommendations, where segments come from."
    raise OptionError(f"by={quoted(by)}", problem, *hint, fix=near(by, names) if names else ())


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
        code = f": users.rename(columns={{{by!r}: {f'user_{by}'!r}}})"
        raise OptionError(f"by={quoted(by)}", problem, fix=("Rename one of them", code, "."))


def _columns_of_truth(data: EvaluationData) -> Columns:
    """Return the columns of the truth; those that have a role are held already."""
    side_data, source = data.side_data, data.prepared.source
    columns: Columns = {}
    if source is not None and side_data.truth is not None:
        columns = {source.truth_labels[role]: partial(source.truth.select, value=role) for role in source.truth.columns}
    columns |= _columns_of(side_data.truth, "truth", data)
    return {name: read for name, read in columns.items() if name not in (side_data.truth_user, side_data.truth_item)}


def _columns_of(frame: Any, name: str, data: EvaluationData) -> Columns:
    """Return the columns of a frame that have no role."""
    side_data, source = data.side_data, data.prepared.source
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


def _worked_out(data: EvaluationData, by: str) -> pl.DataFrame:
    """Count the rows of each user in train, or average the popularity of their items there."""
    train = data.side_data.train
    if train is None:
        give = "recs.rec.against(truth, train=frame)"
        raise RecnbError(f"by={quoted(by)} needs what users had before: type ", give, ".")
    users = _everyone(data).alias("user").to_frame()
    if by == "activity":
        counts = train.group_by("user").agg(value=pl.len().cast(pl.Int64))
        return users.join(counts, on="user", how="left").with_columns(pl.col("value").fill_null(0))
    shares = train.unique(maintain_order=True).with_columns(share=pl.len().over("item") / pl.col("user").n_unique())
    return users.join(shares.group_by("user").agg(value=pl.col("share").mean()), on="user", how="left")


def _coded(values: pl.Series, bins: int) -> tuple[list[Any], Ints]:
    """Return segments, and for each value its segment (-1: missing): numbers that are many in bins, others as they are."""
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


# ---- Parts of the truth: a column that differs within users, each value of which is a truth of its own.


def _column_of_parts(data: EvaluationData, by: Any) -> SegmentColumn | None:
    """Return the column of the truth that differs within users, if `by` names one: user, item, value."""
    users = data.side_data.users
    if not isinstance(by, str) or (users is not None and by in users.columns):
        return None
    read = _columns_of_truth(data).get(by)
    if read is None or not read("user").unique()["user"].is_duplicated().any():
        return None
    return SegmentColumn(by, read("user", "item"), "truth")


def _parts(data: EvaluationData, column: SegmentColumn) -> Iterator[tuple[Any, EvaluationData]]:
    """Yield each value of the column with the evaluation against its rows of the truth alone."""
    source = data.prepared.source
    assert source is not None
    truth, rows = source.truth, column.table
    rows = rows.with_columns(pl.col(name).cast(truth[name].dtype) for name in ("user", "item"))
    if rows["value"].dtype.is_float():
        rows = rows.with_columns(pl.col("value").fill_nan(None))
    pairs = rows.unique(maintain_order=True)
    twice = pairs.filter(pl.struct("user", "item").is_duplicated())
    if twice.height:
        user, item, _value = twice.row(0)
        raise column.refusal(f" has more than one value for user {user!r} and item {item!r}: give each pair one.")
    values = pairs["value"].unique()
    _refuse_many(len(values), column.label)
    for value in steps([*values.drop_nulls().sort().to_list(), *[None] * values.has_nulls()], _("segments")):
        here = pairs.filter(pl.col("value").eq_missing(pl.lit(value, dtype=pairs["value"].dtype)))
        part = truth.join(here.select("user", "item"), on=["user", "item"], how="semi", maintain_order="left")
        try:
            prepared = replace(source, truth_rows=LazyRows.of(part), _known={}).under(data.convention)
        except NoUsersError:  # nothing in it is relevant
            continue
        yield value, EvaluationData(prepared, data.library, data.overrides, data.side_data)


def _rows_of_parts(
    data: EvaluationData, asked: Sequence[Asked], k: Cutoffs, column: SegmentColumn, confidence: float
) -> tuple[Segments, list[Segment], list[str]]:
    """Compute each metric against each part of the truth: mean, interval and users, without a gap or a test."""
    rows, keys, phrases = [], [], dict[str, list[str]]()
    unknown = _unknown(column.table["value"].unique().to_list())
    for value, part in _parts(data, column):
        key = (unknown if value is None else value,)
        keys.append(key)
        for name, metric, own in asked:
            found = values_of(part, metric, metric.cutoffs(k), own)
            ends = (found.mean, *found.interval(confidence), found.n_users)
            for cut, mean, low, high, n in zip(found.k, *(each.tolist() for each in ends), strict=True):
                rows.append(Segment(metric.name, cut, str(key[0]), n, mean, low, high, key=key, small=n < SMALL))
            phrases[name] = [*column_words(found, column.label)]
    order = {
        (each.metric.name, cut): at for at, (each, cut) in enumerate((a, c) for a in asked for c in a.metric.cutoffs(k))
    }
    rows.sort(key=lambda row: order[row.metric, row.k])
    words = _(
        "each {by} is a truth of its own: its rows of the truth, and the users who have one", by=one_line(column.label)
    )
    return Segments((column.label,), tuple(keys), words=words), rows, [*merged(phrases), words]


def column_words(found: Values, label: str) -> list[str]:
    """Return the basis of a metric over parts of the truth: without the number of users, which each row has."""
    return [phrase for phrase in found.basis.phrases(brief=True) if phrase not in found.basis.users_in_words()]
