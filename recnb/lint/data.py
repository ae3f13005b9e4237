"""What checks read: the frames, one metric at one cut-off, the lists in order, and the
bounds of the metric over all orders of equal scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions.convention import ROW_ORDERS, TRUTH_ORDERS
from recnb.data.encoding import positions
from recnb.data.sheet import in_floats
from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.metrics.gain import Gain, gain_of
from recnb.metrics.hits import (
    Cutoffs,
    Floats,
    Hits,
    Ints,
    count_within,
    in_order,
    order_by_user_and_rank,
    user_rank_key,
)
from recnb.metrics.metric import Given, Metric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import average, averaged, cutoffs_under, in_force

Mask = NDArray[np.bool_]
PAIR = ["user", "item"]
#: The frames that a check may look at, by the names of their arguments.
FRAMES = ("recs", "truth", "train", "items", "users")
#: The frames whose rows may say when.
DATED = ("train", "truth")
#: What times are, in words.
NUMBERS, DATES = N_("numbers"), N_("dates")
OTHER_KIND = N_("neither numbers nor dates")


class NotCheckedError(Exception):
    """A check cannot be made; the message says why, and what to give."""


def quoted_id(value: Any) -> str:
    """Return an id as Python writes it, so that 1 is told from '1', on one line; a
    backtick would begin code.
    """
    words = (
        repr(value)
        if isinstance(value, str)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
    return one_line(words, 40).replace("`", "'")


class LintData:
    """One metric at one cut-off on the data of an evaluation; each part is computed
    when it is first used.
    """

    def __init__(
        self,
        evaluation: EvaluationData,
        metric: Metric[...],
        options: Given,
        k: int | None,
    ) -> None:
        self.evaluation, self.options, self.asked_k = evaluation, dict(options), k
        self.scoring = in_force(evaluation, metric, options, whole=k is None)
        self.metric = self.scoring.metric  # with the bounds that it has here
        self.joined, self.side = self.scoring.joined, evaluation.side_data
        self.convention, self.source = self.joined.convention, self.joined.source
        #: The cut-off; None where whole lists count, and k is only what some
        #: denominators say.
        self.k = k if self.convention.cutoff == "k" else None
        #: The gain that orders items with weights: binary for a metric without one.
        self.gain: Gain = {**self.metric.defaults, **self.scoring.options}.get(
            "gain", "binary"
        )

    @cached_property
    def averaged(self) -> tuple[Floats, Floats]:
        """The metric as it is: the values of the users, and their mean."""
        return averaged(self.scoring, Cutoffs.one(self.asked_k))

    @property
    def measured(self) -> tuple[str, float, int]:
        """The metric's label, its mean, and the number of users behind it."""
        values, mean = self.averaged
        return (
            self.metric.label(self.asked_k),
            float(mean[0]),
            int(np.count_nonzero(~np.isnan(values))),
        )

    @cached_property
    def hits(self) -> Hits:
        """The hits in whole lists."""
        return self.joined.hits(None)

    def values_of(self, hits: Hits) -> tuple[Floats, float]:
        """Compute the metric of hits of the same users: their values, and the mean."""
        credit = self.metric.at(
            hits,
            cutoffs_under(self.convention, Cutoffs.one(self.asked_k)),
            self.scoring.options,
        )
        matrix, mean = average(credit, self.convention, self.joined.user_weight)
        return np.nan_to_num(matrix[:, 0]), float(mean[0])

    @property
    def given(self) -> list[str]:
        """The names of the frames that there are."""
        return [
            name
            for name in FRAMES
            if name in FRAMES[:2] or getattr(self.side, name) is not None
        ]

    def frame(self, name: str) -> pl.DataFrame:
        """Return one of the frames, by roles; an error if its rows are not in memory."""
        frame: pl.DataFrame = getattr(
            self.source if name in FRAMES[:2] else self.side, name
        )
        return frame

    def ids(self, name: str, role: str) -> pl.Series:
        """Return the users or items of a frame, each once; none of a frame that has no
        such column.
        """
        frame, none = self.frame(name), pl.Series(role, [], dtype=pl.String)
        return (
            frame[role].unique(maintain_order=True) if role in frame.columns else none
        )

    @property
    def ideal_ends_with_the_list(self) -> bool:
        """Whether there is no cut-off, and ideal lists are cut where lists end."""
        ideal = {**self.metric.defaults, **self.scoring.options}.get("ideal")
        is_whole = self.asked_k is None and self.convention.cutoff == "k"
        return is_whole and ideal == "relevant"

    @cached_property
    def listed(self) -> Mask:
        """Which of the users evaluated have a list."""
        return np.asarray(self.joined.all_hits.list_length > 0)

    def users(self, chosen: Mask) -> pl.DataFrame:
        """Return some of the users evaluated as rows."""
        return self.joined.users.filter(pl.Series(chosen)).alias("user").to_frame()

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated, without those of relevance 0 that
        only a convention counts.
        """
        return self.joined.truth.filter(pl.col("relevance") > 0)

    def relevant_of(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return those of the relevant pairs of the users evaluated that are among
        these.
        """
        return self.relevant.select(PAIR).join(
            pairs, on=PAIR, how="semi", maintain_order="left"
        )


# ---- times of train and of the truth


def comparable_times(data: LintData) -> tuple[pl.Series, pl.Series]:
    """Return when, of each row of train and of the truth: as numbers, times or, where
    one is a day or text, days; an error that says why they cannot be compared.
    """
    _check_time_columns(data.side.time_columns)
    if len(data.side.times) < 2:
        raise NotCheckedError(_("A column of times holds values of several kinds."))
    heights = (data.frame("train").height, data.frame("truth").height)
    times = list[pl.Series]()
    for name, column, height in zip(DATED, data.side.times, heights, strict=True):
        if len(column) != height:
            words = N_("Rows of `{frame}` were left out or put together.")
            raise NotCheckedError(_(words, frame=name))
        times.append(_days(column, name))
    kinds = [_kind_of_time(column) for column in times]
    if kinds[0] != kinds[1] or kinds[0] == OTHER_KIND:
        words = N_(
            "The times are {train} in `train` and {truth} in `truth`: give both as "
            "dates, or both as numbers."
        )
        raise NotCheckedError(_(words, train=_(kinds[0]), truth=_(kinds[1])))
    if kinds[0] == NUMBERS:
        first, second = (one.cast(pl.Float64).fill_nan(None) for one in times)
        return first, second
    is_day = any(column.dtype == pl.Date for column in times)
    shared = pl.Date() if is_day else pl.Datetime("us")
    return times[0].cast(shared), times[1].cast(shared)


def _check_time_columns(columns: tuple[Sequence[str], Sequence[str]]) -> None:
    """Raise an error if it is not known which columns say when."""
    lacking = [name for name, names in zip(DATED, columns, strict=True) if not names]
    if len(lacking) == 2:
        words = N_(
            "No column of `train` and of `truth` is known to say when: call it "
            "`timestamp` in both."
        )
        raise NotCheckedError(_(words))
    if lacking:
        words = N_("No column of `{frame}` is known to say when: call it `timestamp`.")
        raise NotCheckedError(_(words, frame=lacking[0]))
    if {*columns[0]} & {*columns[1]}:
        return
    for name, names in zip(DATED, columns, strict=True):
        if len(names) > 1:
            words = N_(
                "Several columns of `{frame}` say when, {columns}: call one of them as "
                "in the other frame."
            )
            listed = ", ".join(map(quoted_id, names))
            raise NotCheckedError(_(words, frame=name, columns=listed))


def _days(column: pl.Series, frame: str) -> pl.Series:
    """Return text as days, and any other column as it is."""
    if column.dtype != pl.String:
        return column
    days = column.str.head(10).str.to_date("%Y-%m-%d", strict=False)
    unread = column.filter(days.is_null() & column.is_not_null())
    if len(unread):
        words = N_(
            "Column {column} of `{frame}` holds text that is no day such as "
            "2026-01-31: {example}."
        )
        facts = {"column": quoted_id(column.name), "example": quoted_id(unread[0])}
        raise NotCheckedError(_(words, frame=frame, **facts))
    return days


def _kind_of_time(column: pl.Series) -> str:
    if column.dtype.is_numeric():
        return NUMBERS
    return DATES if column.dtype in (pl.Date, pl.Datetime) else OTHER_KIND


# ---- equal scores


class Ties(NamedTuple):
    """What equal scores leave open."""

    # : a row for each user for whom they decide: user, and rank and score at which they
    # begin
    first: pl.DataFrame
    constant: bool  #: whether all scores of each list are equal
    # : the mean of the metric with all equal scores in their worst order; NaN if no
    # order is known to be
    lower: float
    upper: float  #: and in their best order


class ListRows(NamedTuple):
    """The lists of the users evaluated, by user, then rank; every array has a value for
    each row.
    """

    user: Ints  #: position among the users evaluated
    rank: Ints
    score: Floats
    row: Ints  #: position in the joined recommendations
    same_user: Mask  #: whether a row and the one before are of one user; one shorter than the rows


def list_rows(data: LintData) -> ListRows | None:
    """Return the lists of the users evaluated, in order; None if they have no scores
    that are numbers.
    """
    if "score" not in data.source.labels:
        return None
    recs = data.joined.recs
    if not (recs["score"].dtype.is_numeric() or recs["score"].dtype == pl.Boolean):
        return None
    user, rank = positions(data.joined.users, recs["user"]), recs["rank"].to_numpy()
    row = np.flatnonzero(user >= 0)
    key = user_rank_key(user[row], rank[row])
    row = row if (key[1:] > key[:-1]).all() else row[in_order(key)]
    return ListRows(
        user[row],
        rank[row],
        in_floats(recs["score"])[row],
        row,
        np.diff(user[row]) == 0,
    )


def find_ties(data: LintData) -> Ties | None:
    """Find what equal scores leave open; None if there are none, or if no order of them
    is chosen.

    Every metric of hits grows if a more relevant item changes places with a less
    relevant one above it. So it is highest with each run of equal scores in order of
    falling relevance, and lowest in order of rising relevance.
    """
    convention, hits = data.convention, data.hits
    chosen = convention.order in ("score", "rank") and convention.ties in (
        *ROW_ORDERS,
        *TRUTH_ORDERS,
    )
    rows = list_rows(data) if chosen else None
    if rows is None or len(rows.row) == 0:
        return None
    same = rows.same_user & (rows.score[1:] == rows.score[:-1])
    rising = rows.same_user & (
        (rows.score[1:] > rows.score[:-1]) | (rows.rank[1:] == rows.rank[:-1])
    )
    if not same.any() or rising.any():
        return None
    start = np.flatnonzero(
        np.r_[True, ~same]
    )  # the first row of each run of equal scores
    size = np.diff(np.r_[start, len(rows.row)])
    place = _locate_hits(hits, rows)
    on = np.flatnonzero(place >= 0)
    # The hits of each run, the most relevant first, have its first places in the best
    # order and its last in the worst.
    run = np.repeat(np.arange(len(start)), size)[place[on]]
    weighted = hits.truth_weight is not None
    value = (
        gain_of(hits.relevance, data.gain) * hits.weight if weighted else hits.relevance
    )
    order = np.lexsort((~hits.preferred[on], -value[on], run))
    on, run = on[order], run[order]
    best, worst, above = hits.rank.copy(), hits.rank.copy(), count_within(run) - 1
    best[on], worst[on] = (
        rows.rank[start[run] + above],
        rows.rank[start[run] + size[run] - 1 - above],
    )
    (low, lower), (high, upper) = (
        data.values_of(_with_ranks(hits, rank)) for rank in (worst, best)
    )
    # The order by relevance need not be the best if the denominator depends on the
    # order, a hit has a negative gain, or the metric is the caller's.
    unknown = data.metric.own or data.scoring.options.get("out_of") == "hits"
    if unknown or (hits.relevance < 0).any():
        lower, upper, high = np.nan, np.nan, np.full(len(low), np.inf)
    begins = start[np.unique(run[size[run] > 1])]
    first = data.joined.recs[rows.row[begins[(high > low + 1e-12)[rows.user[begins]]]]]
    first = first.unique("user", keep="first", maintain_order=True).select(
        "user", "rank", "score"
    )
    return Ties(first, bool(same[rows.same_user].all()), lower, upper)


def _locate_hits(hits: Hits, rows: ListRows) -> Ints:
    """Find the row of each hit; -1 for a hit below the lists."""
    stride = int(rows.rank.max(initial=0)) + 1
    key, wanted = (
        np.r_[rows.user * stride + rows.rank, -1],
        hits.user * stride + hits.rank,
    )
    at = np.minimum(np.searchsorted(key[:-1], wanted), len(key) - 1)
    return np.where((key[at] == wanted) & (hits.rank < stride), at, -1)


def _with_ranks(hits: Hits, rank: Ints) -> Hits:
    """Return the hits on other ranks, sorted by them."""
    order = order_by_user_and_rank(hits.user, rank)
    return hits.with_rows(order, rank=rank[order])
