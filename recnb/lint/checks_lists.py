"""Checks of the lists: repeated pairs, equal scores, what orders them, how long they are."""

from __future__ import annotations

import numpy as np
import polars as pl

from recnb.data.validation import in_floats
from recnb.lint.check import Check, Findings, finding, with_options
from recnb.lint.data import LintData, repeats_in
from recnb.lint.findings import Quoted
from recnb.lint.ties import ties_of, with_ranks

#: Numbers that programs write for missing scores, and the least size that is too large for a score.
FILLERS, HUGE = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0), 1e30
#: A mean that ties could move by so much shows in its third digit.
MOVES = 0.0005
#: Lists differ a lot in length if the long ones are so many times as long as the short ones.
APART = 5


@Check
def duplicates(data: LintData) -> Findings:
    """A pair that is recommended more than once."""
    if data.convention.duplicates == "error":
        return
    repeats = repeats_in(data.source.recs)
    if not repeats:
        return
    how = data.convention.duplicates
    once = data.value if how == "dedupe" else data.again(duplicates="dedupe")
    yield finding(
        data, "note" if how == "dedupe" else "warning", repeats.pop("n"), data.source.recs.height, how, **repeats, once=once,
        code=f"recs.{'unique' if data.is_polars else 'drop_duplicates'}([{data.label_of('user')!r}, {data.label_of('item')!r}])",
    )  # fmt: skip


@Check
def ties(data: LintData) -> Findings:
    """Equal scores, whose order is arbitrary."""
    if "score" not in data.prepared.rows.columns:
        return
    tied = ties_of(data)
    if tied is None:
        return
    rows, runs, bounds = tied.rows, tied.runs, tied.bounds
    runs_in_reach = np.r_[tied.deciding, tied.straddling]
    users = rows.user[runs.start[runs_in_reach]]
    moved = np.zeros(data.n_users) if bounds is None else np.nan_to_num(bounds.high - bounds.low)
    n_moved = int((moved > 1e-12).sum())
    if len(users) == 0 or (n_moved == 0 and bounds is not None and len(tied.straddling) == 0):
        return
    user = int(moved.argmax() if n_moved else users[0])
    of_user = runs_in_reach[users == user]
    run = int(of_user[np.argmax(runs.size[of_user])])
    first, size = int(runs.start[run]), int(runs.size[run])
    how = "unbounded" if bounds is None else "moves" if n_moved else "still"
    low, high, lower, upper = (np.nan,) * 4
    if bounds is not None:
        low, high, lower, upper = float(bounds.low[user]), float(bounds.high[user]), bounds.lower, bounds.upper
    grave = bounds is None or upper - lower >= MOVES
    assert rows.score is not None
    yield finding(
        data, "warning" if grave and how != "still" else "note", n_moved if how == "moves" else len(np.unique(users)),
        data.n_users, how, data.convention.order, rows=int(runs.size[runs.tied].sum()), runs=int(runs.tied.sum()),
        straddling=len(tied.straddling), deciding=len(tied.deciding), lower=lower, upper=upper, low=low, high=high, user=data.user(user), size=size,
        score=float(rows.score[first]), first=int(rows.rank[first]), last=int(rows.rank[first + size - 1]),
        code=with_options(data, **{"order": "score"} if data.convention.order == "rank" else {}, ties="expected"),
    )  # fmt: skip


@Check
def rank_against_score(data: LintData) -> Findings:
    """Lists whose order disagrees with the scores."""
    by = data.convention.order
    if by not in ("rank", "row") or "score" not in data.prepared.rows.columns:
        return
    rows, score = data.rows, data.rows.score
    if score is None or not (rises := rows.same_user & (score[1:] > score[:-1])).any():
        return
    at = int(rises.argmax()) + 1
    upper, lower = data.place(at - 1), data.place(at)
    given = data.prepared.recs["score"].gather(rows.row[at - 1 : at + 1])
    yield finding(
        data, "warning", int(rises.sum()), int(rows.same_user.sum()), by, users=len(np.unique(rows.user[1:][rises])),
        other=data.again(order="score"), user=lower["user"], item=lower["item"], lower=lower["rank"],
        score=float(given[1]), above=upper["item"], upper=upper["rank"], above_score=float(given[0]),
        column=Quoted(data.label_of("score")), code=with_options(data, order="score"),
    )  # fmt: skip


@Check
def upside_down(data: LintData) -> Findings:
    """Rows from the lowest score to the highest: a distance or a rank that was taken for a score."""
    if data.convention.order != "score" or "score" not in data.source.recs.columns:
        return
    recs = data.source.recs
    same, score = recs["user"].rle_id().to_numpy(), in_floats(recs["score"])
    neighbours = same[1:] == same[:-1]
    if neighbours.sum() < 10 or not (score[1:] > score[:-1])[neighbours].all():
        return
    hits = data.hits
    rank = data.list_length[hits.user] + 1 - hits.rank
    turned = data.measured(with_ranks(hits, rank))[1] if hits.tied is None and (rank > 0).all() else np.nan
    column = data.label_of("score")
    yield finding(
        data, "warning", recs.height, recs.height, turned=turned, column=Quoted(column), user=Quoted(recs["user"][0]),
        first=float(recs["score"][0]), second=float(recs["score"][1]),
        code=f"recs[{column!r}] = -recs[{column!r}]" if not data.is_polars else f"recs.with_columns(-pl.col({column!r}))",
    )  # fmt: skip


@Check
def one_score(data: LintData) -> Findings:
    """Lists in which all scores are equal."""
    score = data.rows.score if data.convention.order == "score" else None
    if score is None or not (same := data.rows.same_user).any() or not (score[1:] == score[:-1])[same].all():
        return
    yield finding(
        data, "warning", len(score), len(score), "everywhere" if (score == score[0]).all() else "in_each", score=float(score[0]),
        user=data.user(data.rows.user[0]), column=Quoted(data.label_of("score")),
    )  # fmt: skip


@Check
def filler_score(data: LintData) -> Findings:
    """Scores far from all others, such as -999, which were filled in for missing ones."""
    score = data.rows.score if data.convention.order == "score" else None
    if score is None or len(score) < 3:
        return
    for end, filler in (("last", float(score.min())), ("first", float(score.max()))):
        at = score == filler
        rest = score[~at]
        if at.sum() < 2 or len(rest) == 0 or not (filler in FILLERS or abs(filler) >= HUGE):
            continue
        gap = min(abs(filler - float(rest.min())), abs(filler - float(rest.max())))
        span = float(rest.max() - rest.min())
        if gap <= 2 * span and not (filler < 0 <= rest.min()):
            continue
        yield finding(
            data, "warning", int(at.sum()), len(score), end, score=filler, **data.place(int(at.argmax())),
            low=float(rest.min()), high=float(rest.max()), reach=int((at & data.in_reach).sum()),
            code=f"recs = recs[recs[{data.label_of('score')!r}] != {filler:g}]",
        )  # fmt: skip


@Check
def short_lists(data: LintData) -> Findings:
    """Lists that end above the cut-off."""
    if data.k is None or not data.listed.any():
        return
    short = data.listed & (data.list_length < data.k)
    n, of = int(short.sum()), int(data.listed.sum())
    at = int(np.where(short, data.list_length, np.iinfo(np.int64).max).argmin())
    longest = int(data.list_length.max())
    yield finding(
        data, "warning" if n == of else "note", n, of, "all" if n == of else "some", longest=longest, user=data.user(at),
        length=int(data.list_length[at]), most=float((np.minimum(data.list_length, data.k) / data.k).mean()),
        code=f"ev.table(k={longest})" if n == of else f'ev.precision(k={data.k}, out_of="list")',
    )  # fmt: skip


@Check
def rank_gaps(data: LintData) -> Findings:
    """Ranks that leave places empty."""
    if not data.prepared.has_gaps:
        return
    rows = data.rows
    count = np.bincount(rows.user, minlength=data.n_users)
    gappy = count != data.list_length
    if not gappy.any():
        return
    user = int(gappy.argmax())
    ranks = rows.rank[rows.user == user]
    empty = int(np.flatnonzero(ranks != np.arange(1, len(ranks) + 1))[0]) + 1
    first = np.flatnonzero(np.r_[True, ~rows.same_user])
    late = bool((rows.rank[first] > 1).all())
    yield finding(
        data, "warning" if late else "note", int(gappy.sum()), int(data.listed.sum()), "late" if late else "some",
        user=data.user(user), rank=empty, length=int(data.list_length[user]), rows=len(ranks),
        start=int(rows.rank[first].min()),
        code=f"recs.assign(rank=recs.groupby({data.label_of('user')!r})[{data.label_of('rank')!r}].rank(method=\"first\"))",
    )  # fmt: skip


@Check
def same_list(data: LintData) -> Findings:
    """The same list for all users."""
    n_listed = int(data.listed.sum())
    if n_listed < 2:
        return
    rows = data.rows
    top = np.flatnonzero(rows.rank == 1)
    items = data.prepared.recs["item"]
    if items.gather(rows.row[top]).n_unique() > 1 or len(top) < n_listed:
        return
    inside = data.in_reach
    places = pl.DataFrame({"item": items.gather(rows.row[inside]), "rank": rows.rank[inside]}).n_unique()
    depth = int(rows.rank[inside].max(initial=0))
    if places > depth:
        return
    shown = items.gather(rows.row[np.flatnonzero(rows.user == rows.user[0])[:3]]).to_list()
    yield finding(data, "note", n_listed, data.n_users, items=Quoted(*shown), depth=depth)


@Check
def list_lengths(data: LintData) -> Findings:
    """Lists of very different length."""
    length = data.list_length[data.listed]
    if len(length) < 5:
        return
    short, long = np.quantile(length, [0.05, 0.95])
    if long < APART * short:
        return
    at = int(data.list_length.argmax())
    below = int((length * APART <= long).sum())
    yield finding(
        data, "warning" if data.k is None else "note", below, len(length), "whole" if data.k is None else "cut",
        usual=short, long=long, longest=int(length.max()), shortest=int(length.min()), user=data.user(at),
    )  # fmt: skip
