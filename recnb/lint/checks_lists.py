"""Checks of the lists: repeated pairs, equal scores, what orders them, how long they are."""

from __future__ import annotations

import numpy as np
import polars as pl

from recnb.data.validation import in_floats
from recnb.display.language import N_, Plural
from recnb.lint.check import Findings, check, finding, with_options
from recnb.lint.data import LintData, repeats_in
from recnb.lint.findings import Quoted
from recnb.lint.ties import ties_of, with_ranks

#: Numbers that programs write for missing scores, and the least size that is too large for a score.
FILLERS, HUGE = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0), 1e30
#: A mean that ties could move by so much shows in its third digit.
MOVES = 0.0005
#: Lists differ a lot in length if the long ones are so many times as long as the short ones.
APART = 5


@check(N_("repeated pairs"))
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
        data, "note" if how == "dedupe" else "warning", **repeats, of=data.source.recs.height,
        short=Plural(
            "{n:,} pair of user and item is recommended more than once: surplus rows: {extra:,}, pairs repeated as a whole: {exact:,}",
            "{n:,} pairs of user and item are recommended more than once: surplus rows: {extra:,}, pairs repeated as a whole: {exact:,}",
        ),
        effect={
            "dedupe": "Each pair keeps its highest place and what stood below moves up, so {label} = {value:.4f} is of lists without repeats.",
            "keep": "Each repeat counts again and metrics may exceed 1: {label} is {value:.4f} with the repeats, {once:.4f} with each pair once.",
            "rows": "Each repeat is another hit and another relevant item: {label} is {value:.4f} with the repeats, {once:.4f} with each pair once.",
            "hit_once": "A repeat takes a rank and cannot be a hit: {label} is {value:.4f} with the repeats, {once:.4f} with each pair once.",
        }[how],
        example="User {user} was recommended {item} {times:,} times.",
        advice="Keep each pair once:",
        once=once, code=f"recs.{data.code(pandas='drop_duplicates', polars='unique')}([{data.label_of('user')!r}, {data.label_of('item')!r}])",
    )  # fmt: skip


@check(N_("equal scores"))
def ties(data: LintData) -> Findings:
    """Equal scores, whose order is arbitrary."""
    if "score" not in data.prepared.rows.columns:
        return
    tied = ties_of(data)
    if tied is None:
        return
    rows, runs = tied.rows, tied.runs
    runs_in_reach = np.r_[tied.deciding, tied.straddling]
    users = rows.user[runs.start[runs_in_reach]]
    moved = np.nan_to_num(tied.high - tied.low)
    n_moved = int((moved > 1e-12).sum())
    how = "moves" if n_moved else "still" if tied.bounded else "unbounded"
    if len(users) == 0 or (how == "still" and len(tied.straddling) == 0):
        return
    user = int(moved.argmax() if n_moved else users[0])
    of_user = runs_in_reach[users == user]
    run = int(of_user[np.argmax(runs.size[of_user])])
    first, size = int(runs.start[run]), int(runs.size[run])
    assert rows.score is not None
    yield finding(
        data, "note" if how == "still" or tied.upper - tied.lower < MOVES else "warning",
        n_moved if how == "moves" else len(np.unique(users)), data.n_users,
        short={
            "moves": Plural(
                "Equal scores decide for {n:,} user of {of:,}: {label} is anything from {lower:.4f} to {upper:.4f}",
                "Equal scores decide for {n:,} users of {of:,}: {label} is anything from {lower:.4f} to {upper:.4f}",
            ),
            "still": Plural(
                "Equal scores straddle the cut-off for {n:,} user of {of:,}, and move {label} for nobody",
                "Equal scores straddle the cut-off for {n:,} users of {of:,}, without an effect on {label}",
            ),
            "unbounded": Plural(
                "There are equal scores within the first places for {n:,} user of {of:,}",
                "There are equal scores within the first places for {n:,} users of {of:,}",
            ),
        }[how],
        effect={
            "moves": "Rows that share their score with another of the list: {rows:,}. Runs of equal scores: {runs:,}, of which {straddling:,} straddle the cut-off and {deciding:,} hold items of different relevance. {label} = {value:.4f} is of one order among many.",
            "still": "Runs of equal scores that begin within {cut} and end below: {straddling:,}. Which of their items are shown is left to chance.",
            "unbounded": "Runs that straddle the cut-off: {straddling:,}; runs of different relevance: {deciding:,}. Under this convention the metric's bounds over orders are not known.",
        }[how],
        example=(
            "User {user}: {size:,} items share the score {score:g} on ranks {first:,} to {last:,}, and the value is anything from {low:.4f} to {high:.4f}."
            if how == "moves"
            else "User {user}: {size:,} items share the score {score:g} on ranks {first:,} to {last:,}."
        ),
        advice={
            "score": "Average over all orders, or give scores that differ:",
            "rank": "The ranks settled what the scores leave open. To average over all orders:",
        }.get(data.convention.order, ""),
        rows=int(runs.size[runs.tied].sum()), runs=int(runs.tied.sum()), straddling=len(tied.straddling),
        deciding=len(tied.deciding), lower=tied.lower, upper=tied.upper, low=float(tied.low[user]), high=float(tied.high[user]),
        user=data.user(user), size=size, score=float(rows.score[first]), first=int(rows.rank[first]),
        last=int(rows.rank[first + size - 1]),
        code=with_options(data, **{"order": "score"} if data.convention.order == "rank" else {}, ties="expected"),
    )  # fmt: skip


@check(N_("ranks against scores"))
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
        data, "warning", int(rises.sum()), int(rows.same_user.sum()),
        short=Plural(
            "The order of the lists and the scores disagree in {n:,} place (users: {users:,})",
            "The order of the lists and the scores disagree in {n:,} places (users: {users:,})",
        ),
        effect={
            "rank": "Ranks are followed. {label} is {value:.4f}; by score it would be {other:.4f}.",
            "row": "The order of the rows is followed. {label} is {value:.4f}; by score it would be {other:.4f}.",
        }[by],
        example="User {user}: {above} at rank {upper:,} with score {above_score:g} is above {item} at rank {lower:,} with score {score:g}.",
        advice="If {column} is what ranks the items (a reranker keeps the scores of the stage before):",
        users=len(np.unique(rows.user[1:][rises])), other=data.again(order="score"), user=lower["user"],
        item=lower["item"], lower=lower["rank"], score=float(given[1]), above=upper["item"], upper=upper["rank"],
        above_score=float(given[0]), column=Quoted(data.label_of("score")), code=with_options(data, order="score"),
    )  # fmt: skip


@check(N_("lists upside down"))
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
        data, "warning", recs.height, recs.height,
        short="The rows of every list run from the lowest score to the highest: the lists may be upside down",
        effect="The highest score is taken for the top. {label} is {value:.4f}; the other way round it would be {turned:.4f}.",
        example="User {user} begins with {first:g} and {second:g}.",
        advice="If {column} is a rank, name it so, `rank=`; if it is a distance, turn it:",
        turned=turned, column=Quoted(column),
        user=Quoted(recs["user"][0]), first=float(recs["score"][0]), second=float(recs["score"][1]),
        code=data.code(pandas=f"recs[{column!r}] = -recs[{column!r}]", polars=f"recs.with_columns(-pl.col({column!r}))"),
    )  # fmt: skip


@check(N_("constant scores"))
def one_score(data: LintData) -> Findings:
    """Lists in which all scores are equal."""
    score = data.rows.score if data.convention.order == "score" else None
    if score is None or not (same := data.rows.same_user).any() or not (score[1:] == score[:-1])[same].all():
        return
    all_one = bool((score == score[0]).all())
    yield finding(
        data, "warning", len(score), len(score),
        short=(
            "All {n:,} rows have the same score, {score:g}"
            if all_one
            else "Within each list all items have the same score"
        ),
        effect="The scores give no order: {label} = {value:.4f} follows from the order of the rows.",
        example="User {user}: {score:g} throughout.",
        advice="Check whether {column} is the model's score; if the rows are in rank order, say `order=\"row\"`.",
        score=float(score[0]), user=data.user(data.rows.user[0]), column=Quoted(data.label_of("score")),
    )  # fmt: skip


@check(N_("filled-in scores"))
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
        place = data.place(int(at.argmax()))
        yield finding(
        data, "warning", int(at.sum()), len(score),
            short=Plural(
                "{n:,} row has the score {score:g}, far from all others: filled in where there was none?",
                "{n:,} rows have the score {score:g}, far from all others: filled in where there was none?",
            ),
            effect={
                "last": "They are at the end of their lists, {reach:,} of them within {cut}; the other scores run from {low:g} to {high:g}.",
                "first": "They are at the top of their lists, {reach:,} of them within {cut}; the other scores run from {low:g} to {high:g}.",
            }[end],
            example="User {user}: {item} at rank {rank:,}.",
            advice="If these items were not recommended, take the rows out:",
            score=filler, user=place["user"],
            item=place["item"], rank=place["rank"], low=float(rest.min()), high=float(rest.max()),
            reach=int((at & data.in_reach).sum()),
            code=data.code(
                pandas=f"recs = recs[recs[{data.label_of('score')!r}] != {filler:g}]",
                polars=f"recs = recs.filter(pl.col({data.label_of('score')!r}) != {filler:g})",
            ),
        )  # fmt: skip


@check(N_("short lists"))
def short_lists(data: LintData) -> Findings:
    """Lists that end above the cut-off."""
    if data.k is None or not data.listed.any():
        return
    short = data.listed & (data.list_length < data.k)
    n, of = int(short.sum()), int(data.listed.sum())
    at = int(np.where(short, data.list_length, np.iinfo(np.int64).max).argmin())
    longest = int(data.list_length.max())
    yield finding(
        data, "warning" if n == of else "note", n, of,
        short=(
            "No list reaches rank {k:,}: the longest ends at {longest:,}"
            if n == of
            else Plural("{n:,} list of {of:,} ends above rank {k:,}", "{n:,} lists of {of:,} end above rank {k:,}")
        ),
        effect=(
            "@{k} is of {longest:,} places at most: Precision@{k} cannot pass {most:.4f}, and the ideal list has {k:,} places."
            if n == of
            else "Empty places count as misses: Precision@{k} cannot pass {most:.4f} whatever is recommended."
        ),
        example="The list of user {user} ends at rank {length:,}.",
        advice=(
            "Recommend at least {k:,} items, or use a smaller cut-off:"
            if n == of
            else "Recommend at least {k:,} items, or divide precision by the length of each list:"
        ),
        longest=longest, user=data.user(at),
        length=int(data.list_length[at]), most=float((np.minimum(data.list_length, data.k) / data.k).mean()),
        code=f"ev.table(k={longest})" if n == of else f'ev.precision(k={data.k}, out_of="list")',
    )  # fmt: skip


@check(N_("empty places"))
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
    by, of = data.label_of("rank"), data.label_of("user")
    yield finding(
        data, "warning" if late else "note", int(gappy.sum()), int(data.listed.sum()),
        short=(
            "No list begins at rank 1: the first rank of any is {start:,}"
            if late
            else Plural(
                "Ranks leave places empty in {n:,} list of {of:,}",
                "Ranks leave places empty in {n:,} lists of {of:,}",
            )
        ),
        effect="Ranks are used as given: a gap counts as a miss, and items below it are discounted accordingly.",
        example="User {user} has {rows:,} rows and the last rank {length:,}; rank {rank:,} is empty.",
        advice="If these places were not used, close the gaps:",
        user=data.user(user), rank=empty, length=int(data.list_length[user]), rows=len(ranks),
        start=int(rows.rank[first].min()),
        code=data.code(
            pandas=f"recs.assign(rank=recs.groupby({of!r})[{by!r}].rank(method=\"first\"))",
            polars=f"recs.with_columns(pl.col({by!r}).rank(\"ordinal\").over({of!r}))",
        ),
    )  # fmt: skip


@check(N_("one list for everybody"))
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
    yield finding(
        data,
        "note",
        n_listed,
        data.n_users,
        short="All {n:,} users with a list have the same one, down to rank {depth:,}",
        effect="{label} = {value:.4f} measures how popular these items are, not how well lists fit single users.",
        example="It begins with {items}.",
        advice="Expected of a popularity baseline; otherwise check whether the model is given the user.",
        items=Quoted(*shown),
        depth=depth,
    )


@check(N_("lists of different length"))
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
        data, "warning" if data.k is None else "note", below, len(length),
        short="Lists differ in length: {shortest:,} to {longest:,} places",
        effect=(
            "Each user's k is the length of their list, so longer lists tend to a higher recall and a lower precision."
            if data.k is None
            else "Within {cut} only lists that end earlier lose; metrics of whole lists (`k=None`, coverage) do not compare users alike."
        ),
        example="The list of user {user} has {longest:,} places; one list in twenty has at most {usual:g}.",
        advice="Cut all lists at one k.",
        usual=short, long=long,
        longest=int(length.max()), shortest=int(length.min()), user=data.user(at),
        )  # fmt: skip
