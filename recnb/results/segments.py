"""Segments of users, by a column of the users or by their history, and the metrics of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import columns_of, table_of
from recnb.data.encoding import distinct, positions
from recnb.data.join import InMemoryRows
from recnb.data.validation import of_one_unit
from recnb.display.fonts import lettering
from recnb.display.language import N_, _, current, pgettext
from recnb.display.templates import translated, user_text
from recnb.display.text import one_line
from recnb.errors import FRAME, Argument, Code, OptionError, RecnbError, near
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import Bools
from recnb.results import beyond_accuracy
from recnb.results.arguments import Metrics, asked_measures, metrics_under, options_of
from recnb.results.plots import draw_intervals, plain
from recnb.results.score import Score
from recnb.results.table import Table
from recnb.stats import intervals
from recnb.stats.groups import gap_to_rest
from recnb.stats.multiple_testing import holm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData

#: Numbers with more values than this are put into bins.
FEW = 8

#: A segment with fewer users is marked as small.
SMALL = 30

#: What is worked out of train, unless the users have a column of the name.
WORKED_OUT = ("activity", "popularity_taste")


@dataclass(frozen=True, eq=False)
class Segments:
    """Which segment each user is in."""

    label: str
    names: tuple[str, ...]  #: in the order to be shown; the last may be that of users of whom nothing is known
    users: pl.Series  #: each once
    code: Ints  #: position in `names` for each of `users`

    def of(self, users: pl.Series) -> Ints:
        """The segment of each of some users; -1 for one of whom nothing is known."""
        order = self.users.arg_sort()
        at = positions(self.users.gather(order), users)
        sorted_code = self.code[order.to_numpy()]
        return np.where(at >= 0, sorted_code[at], -1) if len(sorted_code) else np.full(len(users), -1)


def label_of(by: Any) -> str:
    """The name of what defines the segments, as it is shown."""
    return by if isinstance(by, str) else str(getattr(by, "name", None) or "segment")


def segments_of(evaluation: EvaluationData, by: Any, bins: int = 4) -> Segments:
    """Segments by the name of a column, by a Series or mapping of user to segment, or by what users did in train."""
    if not (isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2):
        raise OptionError(f"bins={bins!r}: give the number of quantile bins, a whole number from 2 up.")
    if isinstance(by, str):
        table, label = _column(evaluation, by), by
    elif isinstance(by, Mapping) or hasattr(by, "items"):
        listed = dict(by.items())
        label = label_of(by)
        # NaN among words would become a word.
        values = [None if isinstance(value, float) and value != value else value for value in listed.values()]
        series = pl.Series(values, strict=False)
        if series.dtype == pl.Object or series.dtype.is_nested():
            problem = f" holds {one_line(repr(values[0]))}, which names no segment: give each user a text or a number."
            raise OptionError(Argument("by", label), problem)
        table = pl.DataFrame({"user": list(listed), "value": series})
    else:
        raise OptionError(
            f"by={by!r}: name a column of the users frame, or give a Series or mapping of user to segment."
        )
    evaluated = evaluation.prepared.users
    if table["user"].dtype != evaluated.dtype:
        try:
            table = table.with_columns(pl.col("user").cast(evaluated.dtype))
        except pl.exceptions.PolarsError:
            kind, example = table["user"].dtype, table["user"][0]
            problem = f": its users are {kind}, such as {example!r}, and those evaluated {evaluated.dtype}, such as {evaluated[0]!r}."
            raise OptionError(Argument("by", label), problem) from None
    rows = table.filter(pl.col("user").is_in(_everyone(evaluation).implode()))
    if rows["value"].drop_nulls().len() == 0:
        raise OptionError(Argument("by", label), f" says nothing of the users evaluated, such as {evaluated[0]!r}.")
    names, code = _coded(rows["value"], bins)
    return Segments(label, names, rows["user"], code)


def _everyone(evaluation: EvaluationData) -> pl.Series:
    """The users evaluated, and those with a list: metrics beyond accuracy are of all lists."""
    prepared = evaluation.prepared
    if not isinstance(prepared.rows, InMemoryRows):
        return prepared.users.alias("user")  # metrics of all lists are not to be had of rows that are away
    return distinct(pl.concat([prepared.users.alias("user"), prepared.recs["user"]]))


def _column(evaluation: EvaluationData, by: str) -> pl.DataFrame:
    """A column that is known of the users: of the users frame, of the truth if it is one value a user, or worked out of train."""
    users, of_truth = evaluation.side_data.users, _columns_of_truth(evaluation)
    if users is not None and by in users.columns and by != "user":
        return users.select("user", value=by)
    if by in of_truth:
        table = of_truth[by]().unique()
        twice = table.filter(pl.col("user").is_duplicated())
        if twice.height:
            problem = f": that column of the truth has more than one value for user {twice['user'][0]!r}, "
            raise OptionError(Argument("by", by), problem, "and a segment is one for each user.")
        return table
    if by in WORKED_OUT:
        return _worked_out(evaluation, by)
    single = [name for name, read in of_truth.items() if not read().unique()["user"].is_duplicated().any()]
    worked_out = [] if evaluation.side_data.train is None else WORKED_OUT
    names = [*([] if users is None else [name for name in users.columns if name != "user"]), *single, *worked_out]
    give = Code("recs.rec.against(truth, users=frame)", Argument("users", FRAME))
    hint = () if users is not None else (" Give what is known of them: ", give, ".")
    problem = " is no column that is known of the users."
    raise OptionError(Argument("by", by), problem, *hint, fix=near(by, names) if names else ())


def _columns_of_truth(evaluation: EvaluationData) -> dict[str, Callable[[], pl.DataFrame]]:
    """The columns of the truth, each with what reads it as `value`; those that have a role are held already."""
    side_data, source = evaluation.side_data, evaluation.prepared.source
    truth, user = side_data.truth, side_data.truth_user
    if truth is None:
        return {}
    columns: dict[str, Callable[[], pl.DataFrame]] = {}
    if source is not None:
        for role in source.truth.columns:
            columns[source.truth_labels[role]] = partial(source.truth.select, "user", value=role)
    for name in columns_of(truth, "truth"):
        columns.setdefault(name, partial(table_of, truth, "truth", {"user": user, "value": name}))
    columns.pop(user, None)
    return columns


def _worked_out(evaluation: EvaluationData, by: str) -> pl.DataFrame:
    train = evaluation.side_data.train
    if train is None:
        give = Code("recs.rec.against(truth, train=frame)", Argument("train", FRAME))
        raise RecnbError(Argument("by", by), " needs what users had before: type ", give, ".")
    users = _everyone(evaluation).alias("user").to_frame()
    if by == "activity":
        counts = train.group_by("user").agg(value=pl.len().cast(pl.Int64))
        return users.join(counts, on="user", how="left").with_columns(pl.col("value").fill_null(0))
    shares = train.unique().with_columns(share=pl.len().over("item") / pl.col("user").n_unique())
    return users.join(shares.group_by("user").agg(value=pl.col("share").mean()), on="user", how="left")


def _coded(values: pl.Series, bins: int) -> tuple[tuple[str, ...], Ints]:
    """Names of segments, and which each value is in: numbers that are many in quantile bins, others as they are."""
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
        whole = bool((numbers[known] % 1 == 0).all())
        names = [_range(numbers[code == at], whole) for at in range(len(used))]
    else:
        found = present.unique().sort()
        names = [str(value) for value in found.to_list()]
        code = positions_in(found, values)
    if (code < 0).any():
        names.append(_("not known"))
        code = np.where(code < 0, len(names) - 1, code)
    return tuple(names), code.astype(np.int64)


def positions_in(found: pl.Series, values: pl.Series) -> Ints:
    """The position of each value among those found; -1 if it is missing."""
    coded = pl.DataFrame({"value": found}).with_row_index("at")
    joined = values.alias("value").to_frame().join(coded, on="value", how="left", maintain_order="left")
    return joined["at"].cast(pl.Int64).fill_null(-1).to_numpy()


def _range(values: Any, whole: bool) -> str:
    low, high = values.min(), values.max()
    if low == high:
        return f"{low:g}"
    low, high = (f"{end:,.0f}" if whole else f"{end:.3g}" for end in (low, high))
    return pgettext("segment", "{low} to {high}", low=low, high=high)


def _ids(index: pd.Index[Any], like: pl.Series) -> pl.Series:
    """The users of a result as ids of the kind that frames have."""
    users = pl.Series(index.to_numpy())
    return users if users.dtype == like.dtype else of_one_unit(pl.from_pandas(index.to_series())).cast(like.dtype)


def table_by(
    evaluation: EvaluationData,
    metrics: Metrics,
    k: int | Sequence[int | None] | None,
    by: Any,
    *,
    bins: int = 4,
    confidence: float = 0.95,
    options: Mapping[str, Any],
    computed: Mapping[str, Floats] | None = None,
) -> SegmentTable:
    """Each metric at each cut-off in each segment: mean and interval, and the gap to all other users.

    The p-values of the gaps (the more careful of Welch's test and Student's) are corrected by Holm's method over the whole table.
    `computed` has the values of each metric for the users evaluated at the one cut-off, if they were computed before.
    """
    metrics = metrics_under(evaluation.library, metrics)
    segments = segments_of(evaluation, by, bins)
    chosen = [metric for _name, metric in asked_measures(metrics)]
    for metric in chosen:
        if metric.of == "all":
            problem = f"{metric.name} is one number of all lists, with no value for each user, so "
            raise OptionError(problem, Argument("by"), " cannot break it down: leave it out.")
    rows: list[Segment] = []
    for metric in chosen:
        of_metric = options_of(metric, metrics, options, chosen)
        for cut in metric.cutoffs(Cutoffs.of(k)):
            if computed is None or np.isnan(computed[metric.name]).any():
                score = beyond_accuracy.score_of(evaluation, metric, cut, of_metric)
                assert isinstance(score, Score)
                per_user = score.per_user
            else:
                per_user = pd.Series(computed[metric.name], index=evaluation.users)
            names = list(segments.names)
            code = segments.of(_ids(per_user.index, segments.users))
            if (code < 0).any() and _("not known") not in names:
                names.append(_("not known"))
            code = np.where(code < 0, len(names) - 1, code)
            values: Floats = np.asarray(per_user, dtype=np.float64)[:, np.newaxis]
            rows += [
                _segment(metric, cut, names[at], values, code == at, confidence) for at in np.unique(code).tolist()
            ]
    words = _(
        "by {by}: {confidence}% intervals, not corrected for the number of comparisons; gap to all other users "
        "by the more careful of Welch's t and Student's, p corrected by Holm over this table",
        by=segments.label,
        confidence=f"{100 * confidence:g}",
    )
    frame = pd.DataFrame([vars(row) for row in rows])
    frame["p_holm"] = _corrected(frame)
    frame["k"] = frame["k"].astype(object) if frame["k"].isna().any() else frame["k"]
    # Levels in the order of the rows, so that looking up a metric finds its rows side by side.
    keys = ["metric", "k", "segment"]
    codes, levels = zip(*(pd.factorize(frame[key]) for key in keys), strict=True)
    index = pd.MultiIndex(levels=[list(level) for level in levels], codes=[code.tolist() for code in codes], names=keys)
    table = SegmentTable(frame.drop(columns=keys).set_axis(index, axis=0))
    basis = f"{evaluation.basis()}; {words}"
    table.attrs = {"basis": basis, "n_users": evaluation.n_users, "by": segments.label, "lang": current()}
    return table


def _segment(
    metric: Metric[...], k: int | None, name: str, values: Floats, inside: Bools, confidence: float
) -> Segment:
    n = int(inside.sum())
    low, high, _method = intervals(values[inside], confidence, bounds=metric.bounds)
    gap = gap_to_rest(values, inside, confidence)
    numbers = (float(number[0]) for number in (low, high, gap.gap, gap.low, gap.high, gap.p))
    return Segment(metric.name, k, name, n, float(values[inside].mean()), *numbers, small=n < SMALL)


def _corrected(rows: pd.DataFrame) -> pd.Series[float]:
    """P-values corrected by Holm's method over all tests of a table.

    Of two segments each is the rest of the other: that is one test, and counts once.
    """
    groups = rows.groupby(["metric", "k"], dropna=False)["p"]
    twins = (groups.transform("size") == 2) & (groups.transform("count") == 2)
    again = twins & rows.duplicated(["metric", "k"])
    corrected = pd.Series(holm(rows["p"].mask(again).to_numpy()))
    return corrected.where(~again, corrected.shift())


@dataclass(frozen=True)
class Segment:
    """One metric at one cut-off in one segment of the users."""

    metric: str
    k: int | None
    segment: str
    n_users: int
    mean: float
    low: float
    high: float
    gap: float  #: the mean here less the mean of all other users
    gap_low: float
    gap_high: float
    p: float  #: of the test of the gap; NaN: too few users or differences
    p_holm: float = field(default=np.nan, kw_only=True)  #: corrected over the whole table
    small: bool = field(kw_only=True)  #: too few users to say much


class SegmentTable(Table):
    """Means of segments with their intervals, and the gap of each to all other users.

    Indexed by metric, k and segment; columns n_users, mean, low, high, gap, gap_low, gap_high, p, p_holm, small.
    """

    def _number(self, value: float, column: object) -> str:
        """Gaps with their sign; a small p is not rounded to 0."""
        if column in ("p", "p_holm") and value < 0.0001:
            return "<0.0001"
        return f"{value:+.4f}" if str(column).startswith("gap") and np.isfinite(value) else f"{value:.4f}"

    def _draw(self, ax: Axes | None) -> Axes:
        """The metrics in each segment, with their intervals."""
        index: Any = self.index
        names = [_label(metric, k) for metric, k in zip(*map(index.get_level_values, ("metric", "k")), strict=True)]
        segments = index.droplevel(["metric", "k"]).to_flat_index()
        shown: Any = self.set_axis(pd.MultiIndex.from_arrays([segments, names]))
        parts = (shown[part].unstack(sort=False) for part in ("mean", "low", "high"))
        with lettering(self.attrs.get("lang", "en"), rc=True) as fonts:
            ax = draw_intervals(ax, *parts)
            ax.set_xlabel(_("mean over users"), **fonts)
            ax.set_ylabel(plain(self.attrs.get("by", "")), **fonts)
        return ax

    def _title(self) -> str:
        return translated(N_("By {by}"), by=user_text(self.attrs.get("by", ""), 80))


def _label(metric: str, k: Any) -> str:
    return metric if pd.isna(k) else f"{metric}@{k:.0f}"
