"""Segments: groups of users by a column, a Series or their history, and the metrics of each; parts of the truth, such as weeks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
from recnb.metrics.hits import Cutoffs, Ints
from recnb.results.arguments import Asked, Metrics, asked_of
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import merged
from recnb.results.table import Table
from recnb.results.values import values_of
from recnb.stats import Moments, holm
from recnb.stats.groups import gap_to_rest

#: Numbers with more values than this are put into bins.
FEW = 8

#: More segments than this are refused: nobody reads them.
MOST = 200

#: A segment with fewer users is marked as small.
SMALL = 30

#: What is worked out of train, unless a frame has a column of the name.
WORKED_OUT = ("activity", "popularity_taste")

#: The columns of a table of segments after those that name a row.
NUMBERS = ("n_users", "mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm", "small")


class Segments(NamedTuple):
    """Which segment each user is in."""

    labels: tuple[str, ...]  #: what each column is called
    keys: list[
        tuple[Any, ...]
    ]  #: the values of each segment, in the order shown; the last: users of whom nothing is known
    users: pl.Series  #: each once
    code: Ints  #: by user: the position in `keys`
    words: str = ""  #: what the rows are, if they are parts of the truth

    @property
    def label(self) -> str:
        """What defines the segments, as it is shown."""
        return ", ".join(self.labels)

    def of(self, users: pl.Series) -> Ints:
        """Return the segment of each of some users, as its position in `keys`."""
        at = positions(self.users, users)
        return np.where(at >= 0, self.code[at], len(self.keys) - 1)


def table_by(
    data: EvaluationData, metrics: Metrics, k: object, by: Any, bins: int, options: Mapping[str, Any]
) -> Table:
    """Return the rows of `segment_frame` as a table: metric, k and the columns of the segments, then numbers."""
    segments, frame, basis = segment_frame(data, metrics, k, by, bins, options)
    words = _("by {by}: 95% intervals", by=one_line(segments.label))
    if not segments.words:
        words = _(
            "by {by}: {confidence}% intervals, not corrected for the number of comparisons; gap to all other users "
            "by the more careful of Welch's t and Student's, p corrected by Holm over this table",
            by=one_line(segments.label),
            confidence="95",
        )
    levels_of = {"metric": frame["metric"], "k": frame["k"].astype(object if frame["k"].isna().any() else int)}
    for at, label in enumerate(distinct_labels(segments.labels, {"metric", "k", *NUMBERS})):
        levels_of[label] = pd.Series([key[at] for key in frame["key"]], dtype=object)
    # Levels in the order of the rows, so that looking up a metric finds its rows side by side.
    codes, levels = zip(*map(pd.factorize, levels_of.values()), strict=True)
    index = pd.MultiIndex(list(map(list, levels)), [code.tolist() for code in codes], names=list(levels_of))
    numbers = frame[[name for name in NUMBERS if name in frame]].set_axis(index, axis=0)
    table = Table.made(numbers, [*basis, words], title=_("By {by}", by=one_line(segments.label, 80)))
    table.attrs |= {"n_users": data.n_users, "by": segments.label, "drawn": "segments"}
    return table


def segment_frame(
    data: EvaluationData,
    metrics: Metrics,
    k: object,
    by: Any,
    bins: int,
    options: Mapping[str, Any],
    confidence: float = 0.95,
) -> tuple[Segments, pd.DataFrame, list[str]]:
    """Compute each metric at each cut-off in each segment: a row each with mean, interval and the gap to all other users; and the basis.

    The p-values of the gaps (the more careful of Welch's test and Student's) are corrected by Holm's method over all rows.
    """
    asked, cutoffs = asked_of(data.library, metrics, options), Cutoffs.of(k)
    for each in asked:
        if each.metric.of == "all":
            problem = f"{each.metric.name} is one number of all lists, with no value for each user, so "
            raise OptionError(problem, "by= cannot break it down: leave it out.")
    if (pairs := _parts_of_users(data, by)) is not None:
        return _frame_of_parts(data, asked, cutoffs, by, pairs, confidence)
    segments, rows, phrases = segments_of(data, by, bins), [], {}
    for name, metric, own in asked:
        found = values_of(data, metric, metric.cutoffs(cutoffs), own)
        phrases[name], code = found.basis.phrases(brief=True), segments.of(found.users)
        for cut, of_users in zip(found.k, found.matrix.T, strict=True):
            kept = ~np.isnan(of_users)
            values, segment_of = of_users[kept, np.newaxis], code[kept]
            for segment in np.unique(segment_of).tolist():
                inside = segment_of == segment
                moments = Moments.of(values[inside], found.metric.bounds)
                gap, mean = gap_to_rest(values, inside, confidence), values[inside].mean(axis=0)
                numbers = np.concatenate([mean, *moments.interval(confidence), *gap])
                rows.append((metric.name, cut, segments.keys[segment], moments.n, *numbers.tolist()))
    columns = ["metric", "k", "key", *(name for name in NUMBERS if name not in ("p_holm", "small"))]
    frame = _named(pd.DataFrame(rows, columns=columns).astype({"k": object}))
    again = _repeats(frame)
    corrected = pd.Series(holm(frame["p"].mask(again).to_numpy(dtype=np.float64)))
    return segments, frame.assign(p_holm=corrected.where(~again, corrected.shift())), merged(phrases)


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the name of each segment as it is shown, and whether it has too few users to say much."""
    return frame.assign(segment=[", ".join(map(str, key)) for key in frame["key"]], small=frame["n_users"] < SMALL)


def _repeats(frame: pd.DataFrame) -> pd.Series[bool]:
    """Mark the rows that repeat the test of the row before: of two segments each is the rest of the other."""
    groups = frame.groupby(["metric", "k"], dropna=False)["p"]
    twins = (groups.transform("size") == 2) & (groups.transform("count") == 2)
    return twins & frame.duplicated(["metric", "k"])


def n_tests(frame: pd.DataFrame) -> int:
    """Return the number of tests over which the p-values of segments are corrected."""
    return int((frame["p"].notna() & ~_repeats(frame)).sum()) if "p" in frame else 0


def distinct_labels(labels: Sequence[str], taken: Collection[str]) -> list[str]:
    """Name the columns of segments in a table that has columns of its own: "segment mean" for one called as one of these."""
    return [f"segment {label}" if label in taken else label for label in labels]


def segments_of(data: EvaluationData, by: Any, bins: int = 4) -> Segments:
    """Return segments by the names of columns, by a Series or mapping of user to segment, or by what users did in train."""
    if not (isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2):
        fix = "For bins of your own give a column of them, users.assign(bin=pd.cut(users['age'], [0, 18, 30, 100]))."
        raise OptionError(f"bins={bins!r}: give the number of quantile bins, a whole number from 2 up.", fix=fix)
    is_list = is_several(by) and not hasattr(by, "items") and not hasattr(by, "columns")
    columns = [_column(data, each) for each in (by if is_list else [by])]
    labels = tuple(label for label, _table in columns)
    if not labels or len(set(labels)) < len(labels):
        problem = ": name each column once." if labels else " is empty: name a column at least."
        raise OptionError(f"by={quoted(by)}", problem)
    everyone, names, codes = _everyone(data), list[list[Any]](), list[Ints]()
    for label, table in columns:
        values = everyone.to_frame().join(table, on="user", how="left", maintain_order="left")["value"]
        if values.drop_nulls().is_empty():
            raise OptionError(f"by={quoted(label)} says nothing of the users evaluated, such as {everyone[0]!r}.")
        of_column, code = _coded(values, bins)
        names.append([*of_column, _unknown(of_column)])
        codes.append(code)
    shape = [len(of_column) for of_column in names]
    used, code = np.unique(np.ravel_multi_index(tuple(codes), shape), return_inverse=True)
    _refuse_many(len(used), ", ".join(labels))
    places = zip(*(at.tolist() for at in np.unravel_index(used, shape)), strict=True)
    keys = [tuple(of_column[at] for of_column, at in zip(names, row, strict=True)) for row in places]
    unknown = tuple(of_column[-1] for of_column in names)
    return Segments(labels, keys if keys[-1] == unknown else [*keys, unknown], everyone, code)


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


def _everyone(data: EvaluationData) -> pl.Series:
    """Return the users evaluated, and those with a list: metrics beyond accuracy are of all lists."""
    prepared = data.prepared
    users = prepared.users.alias("user")
    # Metrics of all lists are not to be had of rows that are away.
    return distinct(pl.concat([users, prepared.recs["user"]])) if isinstance(prepared.rows, InMemoryRows) else users


def _coded(values: pl.Series, bins: int) -> tuple[list[Any], Ints]:
    """Return segments, and for each value its segment, after the last for one that is missing: numbers that are many in bins."""
    present = values.drop_nulls()
    if values.dtype.is_numeric() and present.n_unique() > FEW:
        inner = np.unique(np.quantile(present.cast(pl.Float64).to_numpy(), np.arange(1, bins) / bins))
        bin_of = pl.Series("bin", np.searchsorted(inner, values.cast(pl.Float64).to_numpy()))
        binned = pl.DataFrame([bin_of, values.alias("value")]).with_columns(
            pl.when(pl.col("value").is_not_null()).then("bin").alias("bin")
        )
        ends = binned.drop_nulls().group_by("bin").agg(low=pl.min("value"), high=pl.max("value")).sort("bin")
        return _ranges(ends.select(pl.col("low", "high").cast(pl.Float64)).rows()), _ranks(binned["bin"], len(ends))
    names = present.unique().sort().to_list()
    return names, _ranks(values, len(names))


def _ranks(values: pl.Series, n: int) -> Ints:
    """Return the position of each value among the n there are, in order; n for one that is missing."""
    return values.rank("dense").cast(pl.Int64).fill_null(n + 1).to_numpy() - 1


def _ranges(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Name bins by their lowest and highest value, with as many digits as tell these apart."""
    values = {end for of_bin in ends for end in of_bin}
    digits = next(n for n in range(3, 18) if len({f"{value:.{n}g}" for value in values}) == len(values))
    form = ".0f" if all(value.is_integer() for value in values) else f".{digits}g"
    return [
        pgettext("segment", "{low} to {high}", low=f"{low:{form}}", high=f"{high:{form}}")
        if low < high
        else f"{low:{form}}"
        for low, high in ends
    ]


# One column: user and value


def _column(data: EvaluationData, by: Any) -> tuple[str, pl.DataFrame]:
    """Return the name of a column that is given or known of the users, and the one value of each user."""
    label = by if isinstance(by, str) else str(getattr(by, "name", None) or "segment")
    if isinstance(by, str):
        table = _column_named(data, by)
    elif isinstance(by, (Mapping, pd.Series)):
        table = _column_given(data, by, label)
    else:
        problem = f"by={one_line(repr(by))}: name a column of the users frame, which "
        fix = ", or give a Series or mapping of user to segment."
        raise OptionError(problem, "recs.rec.against(truth, users=frame)", " takes", fix)
    of_column, ids, users = f"by={quoted(label)}", table["user"], data.prepared.judged["user"]
    try:
        table = table.with_columns(ids.cast(users.dtype))
    except pl.exceptions.PolarsError:
        theirs = f"and those evaluated {users.dtype}, such as {users[0]!r}."
        raise OptionError(f"{of_column}: its users are {ids.dtype}, such as {ids[0]!r}, {theirs}") from None
    if table["value"].dtype.is_nested() or table["value"].dtype == pl.Object:
        example = one_line(repr(next(value for value in table["value"].to_list() if value is not None)))
        problem = f" holds {example}, which names no segment: give each user a text or a number."
        raise OptionError(of_column, problem)
    if table["value"].dtype.is_float():
        table = table.with_columns(pl.col("value").fill_nan(None))
    table = table.unique(maintain_order=True)
    twice = table.filter(pl.col("user").is_duplicated())
    if twice.height:
        problem = f" has more than one value for user {twice['user'][0]!r}: give each user one. A column of the truth that differs within users stands alone, "
        code = f"recnb.compare(models, truth[truth[{quoted(label)}] == value])"
        fix = ", of one model, and models are compared value by value, "
        raise OptionError(of_column, problem, f".table(by={quoted(label)})", fix, code, ".")
    return label, table


def _column_given(data: EvaluationData, by: Any, label: str) -> pl.DataFrame:
    """Return the column of a Series or mapping of user to segment."""
    index = by.index if isinstance(by, pd.Series) else None
    if isinstance(index, pd.RangeIndex) and index.name is None and index.start == 0:
        users = _everyone(data).to_list()
        if {*users} != {*index.to_list()}:
            other = next((user for user in users if user not in index), users[0])
            problem = f" has no users on its index, only the numbers of its rows, and no row is that of user {other!r}."
            code = f", users.set_index('user')[{label!r}]"
            raise OptionError(f"by={quoted(label)}", problem, fix=("Put the users on its index", code, "."))
    given = by if isinstance(by, pd.Series) else pd.Series(dict(by), dtype=object)
    try:
        values = from_pandas(given, "by", label, "value")
    except FrameError:  # values of several kinds are text, and what is missing none of it
        values = pl.Series(given.astype(object).where(given.notna(), None).to_list(), strict=False)
    return pl.DataFrame({"user": given.index.to_list(), "value": values})


def _column_named(data: EvaluationData, by: str) -> pl.DataFrame:
    """Return the column of this name: of the users, of the truth, or worked out of train."""
    side_data, users, of_truth = data.side_data, data.side_data.users, _column_of_truth(data, by)
    if users is not None and by in users.columns and by != "user":
        if of_truth is not None:
            code = f": users.rename(columns={{{by!r}: {f'user_{by}'!r}}})"
            problem = " is a column of users= and of the truth."
            raise OptionError(f"by={quoted(by)}", problem, fix=("Rename one of them", code, "."))
        return users.select("user", value=by)
    if of_truth is not None:
        return of_truth.select("user", "value")
    if by in WORKED_OUT:
        return _worked_out(data, by)
    if side_data.recs is not None and by in columns_of(side_data.recs, "recommendations"):
        assert data.prepared.source is not None
        code = f"users=recs[[{data.prepared.source.labels['user']!r}, {by!r}]].drop_duplicates()"
        problem = " is a column of the recommendations, and segments are of users: give each user one value, "
        raise OptionError(f"by={quoted(by)}", problem, code, ".")
    names = [*([] if users is None else users.columns[1:]), *_names_in_truth(data)]
    names += [] if side_data.train is None else WORKED_OUT
    hint = () if users is not None else (" Give what is known of them: ", "recs.rec.against(truth, users=frame)", ".")
    problem = " is no column of users= or of the truth, where segments come from."
    raise OptionError(f"by={quoted(by)}", problem, *hint, fix=near(by, names) if names else ())


def _names_in_truth(data: EvaluationData) -> dict[str, str]:
    """Return the columns of the truth other than ids: name and, of one that is held already, its role."""
    side_data, source = data.side_data, data.prepared.source
    if side_data.truth is None or source is None:
        return {}
    names = dict.fromkeys(columns_of(side_data.truth, "truth"), "")
    names |= {source.truth_labels[role]: role for role in source.truth.columns}
    return {name: role for name, role in names.items() if name not in (side_data.truth_user, side_data.truth_item)}


def _column_of_truth(data: EvaluationData, by: str) -> pl.DataFrame | None:
    """Return a column of the truth as user, item and value; None if there is none."""
    side_data, source, role = data.side_data, data.prepared.source, _names_in_truth(data).get(by)
    if role is None or source is None:
        return None
    if role:
        return source.truth.select("user", "item", value=role)
    roles = {"user": side_data.truth_user, "item": side_data.truth_item}
    columns = columns_of(side_data.truth, "truth")
    table = table_of(
        side_data.truth, "truth", {**{role: label for role, label in roles.items() if label in columns}, "value": by}
    )
    if "item" not in table.columns:  # rows are items
        table = table.with_row_index("item").cast({"item": pl.Int64})
    return validation.ids(table, "truth", roles)


def _worked_out(data: EvaluationData, by: str) -> pl.DataFrame:
    """Count the rows of each user in train, or average the popularity of their items there."""
    train = data.side_data.train
    if train is None:
        give = "recs.rec.against(truth, train=frame)"
        raise RecnbError(f"by={quoted(by)} needs what users had before: type ", give, ".")
    users = _everyone(data).to_frame()
    if by == "activity":
        counts = train.group_by("user").agg(value=pl.len().cast(pl.Int64))
        return users.join(counts, on="user", how="left").with_columns(pl.col("value").fill_null(0))
    shares = train.unique(maintain_order=True).with_columns(share=pl.len().over("item") / pl.col("user").n_unique())
    return users.join(shares.group_by("user").agg(value=pl.col("share").mean()), on="user", how="left")


# Parts of the truth: a column that differs within users, each value of which is a truth of its own


def _parts_of_users(data: EvaluationData, by: Any) -> pl.DataFrame | None:
    """Return the column of the truth that differs within users, if `by` names one: user, item, value."""
    users = data.side_data.users
    if not isinstance(by, str) or (users is not None and by in users.columns):
        return None
    pairs = _column_of_truth(data, by)
    differs = pairs is not None and pairs.select("user", "value").unique()["user"].is_duplicated().any()
    return pairs if differs else None


def _parts(data: EvaluationData, by: str, pairs: pl.DataFrame) -> Iterator[tuple[Any, EvaluationData]]:
    """Yield each value of the column with the evaluation against its rows of the truth alone."""
    source = data.prepared.source
    assert source is not None
    truth = source.truth
    pairs = pairs.with_columns(pl.col(name).cast(truth[name].dtype) for name in ("user", "item"))
    if pairs["value"].dtype.is_float():
        pairs = pairs.with_columns(pl.col("value").fill_nan(None))
    pairs = pairs.unique(maintain_order=True)
    twice = pairs.filter(pl.struct("user", "item").is_duplicated())
    if twice.height:
        user, item, _value = twice.row(0)
        problem = f" has more than one value for user {user!r} and item {item!r}: give each pair one."
        raise OptionError(f"by={quoted(by)}", problem)
    values = pairs["value"].unique()
    _refuse_many(len(values), by)
    for value in steps([*values.drop_nulls().sort().to_list(), *[None] * values.has_nulls()], _("segments")):
        here = pairs.filter(pl.col("value").eq_missing(pl.lit(value, dtype=pairs["value"].dtype)))
        part = truth.join(here.select("user", "item"), on=["user", "item"], how="semi", maintain_order="left")
        try:
            prepared = replace(source, truth_rows=LazyRows.of(part), _known={}).under(data.convention)
        except NoUsersError:  # nothing in it is relevant
            continue
        yield value, EvaluationData(prepared, data.library, data.overrides, data.side_data)


def _frame_of_parts(
    data: EvaluationData, asked: Sequence[Asked], cutoffs: Cutoffs, by: str, pairs: pl.DataFrame, confidence: float
) -> tuple[Segments, pd.DataFrame, list[str]]:
    """Compute each metric against each part of the truth: mean, interval and users, without a gap or a test."""
    rows, phrases, unknown = [], dict[str, list[str]](), _unknown(pairs["value"].unique().to_list())
    for value, part in _parts(data, by, pairs):
        key = (unknown if value is None else value,)
        for name, metric, own in asked:
            found = values_of(part, metric, metric.cutoffs(cutoffs), own)
            numbers = (found.n_users, found.mean, *found.interval(confidence))
            for cut, *of_cut in zip(found.k, *(column.tolist() for column in numbers), strict=True):
                rows.append((metric.name, cut, key, *of_cut))
            # Each row has its own number of users.
            phrases[name] = [
                words for words in found.basis.phrases(brief=True) if words not in found.basis.users_in_words()
            ]
    frame = _named(pd.DataFrame(rows, columns=["metric", "k", "key", *NUMBERS[:4]]).astype({"k": object}))
    by_metric = [group for _key, group in frame.groupby(["metric", "k"], sort=False, dropna=False)]
    words = _("each {by} is a truth of its own: its rows of the truth, and the users who have one", by=one_line(by))
    segments = Segments((by,), [], pl.Series("user", []), np.zeros(0, dtype=np.int64), words)
    return segments, pd.concat(by_metric, ignore_index=True), [*merged(phrases), words]
