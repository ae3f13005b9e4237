"""The checks: of ids, lists, the truth, weights, users, and against train and items.

Each is a header of words and a search, which yields a `Problem` for what is wrong. The
words hold {n} and {of}, the numbers of rows; {k}, {label} and {value} of the metric; and
`facts` of the problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions.convention import PHRASES
from recnb.data.matches import in_floats
from recnb.data.names import plain_name
from recnb.data.role_table import repeated
from recnb.display.language import N_, _
from recnb.lint.data import (
    ENOUGH_FOR_A_RULE,
    PAIR,
    SIDES,
    LintData,
    NotCheckedError,
    quoted_id,
)
from recnb.lint.findings import Problem, check
from recnb.lint.repair import SPELLINGS, Repair, respelt
from recnb.lint.samples import find_sample, is_nothing_missed, is_truth_of_hits
from recnb.lint.ties import find_ties, list_rows
from recnb.lint.times import comparable_times
from recnb.metrics.gain import best_of_all
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import measure_named
from recnb.results.scoring import values_of_hits
from recnb.stats import mean_of

#: Names of columns that tell whether, how often or how much a user had an item, apart by
#: blanks. Blanks and "_" in them are taken out before, so that "times_played" is "timesplayed".
AMOUNT_WORDS = """
    purchase purchases purchased bought sold sales units unitssold quantity qty
    revenue spend spent amount
    n cnt count counts freq frequency weight strength value
    order orders ordered ordercount click clicks clicked
    play plays played playcount timesplay timesplays timesplayed timesplaycount
    view views viewed viewcount watched watchtime listens listened listencount visits
    like likes liked stars positive relevant feedback response engagement events
    interaction interactions interacted conversion conversions converted
"""
#: What may stand before each of them: "is_clicked", "num_plays".
BEFORE_AMOUNTS = ("", "is", "n", "num", "total")
AMOUNTS = {before + word for before in BEFORE_AMOUNTS for word in AMOUNT_WORDS.split()}
#: Words for missing values, in lower case.
NOTHING = ("", "nan", "none", "null", "nat", "<na>", "n/a", "undefined")
MOVES = 0.0005  #: a mean that moves by so much shows in its third digit
SCALES = (5.0, 10.0, 100.0)  #: highest values of the scales on which people rate
LOW = 0.9  #: a share of the highest value of a metric: what cannot pass it is reported
MANY_ROWS = 0.1  #: the share of rows from which a problem is grave, or one of many
MANY_USERS = 0.05  #: the share of users that makes a warning


# Ids


LOST_IDS = {
    "user": N_(
        "{Users} in {frames} that no list has, and that would have one but for {how}: "
        "{n:,} of {of:,}"
    ),
    "item": N_(
        "{Items} in {frames} that no list has, and that would be in one but for {how}: "
        "{n:,} of {of:,}"
    ),
}


@check(
    "ids written otherwise",
    why="They count as other ids, and match no recommended row; lists have {listed}.",
    advice="If they mean the same, write ids in one way in all frames:",
)
def ids_written_otherwise(data: LintData) -> Iterator[Problem]:
    for role in PAIR:
        listed = data.ids("recs", role)
        if listed.dtype != pl.String:
            continue
        ids = pl.concat(
            data.ids(name, role).to_frame(role).with_columns(frame=pl.lit(name))
            for name in data.given
            if name != "recs"
        )
        is_lost = ~pl.col(role).is_in(listed.implode())
        lost = ids.filter(is_lost, pl.col(role).str.strip_chars() != "")
        if lost.is_empty():
            continue
        # One select for all ways: by most of them no id is listed.
        is_listed = lost.select(
            respelt(pl.col(role), way)
            .is_in(respelt(pl.lit(listed), way).implode())
            .alias(way)
            for way in SPELLINGS
        )
        for way in SPELLINGS:
            if not is_listed[way].any():
                continue
            plain = pl.select(listed=listed, plain=respelt(pl.lit(listed), way))
            plain = plain.unique("plain", keep="first", maintain_order=True)
            otherwise = lost.with_columns(plain=respelt(pl.col(role), way))
            otherwise = otherwise.join(plain, on="plain", maintain_order="left")
            frames = otherwise["frame"].unique(maintain_order=True)
            of_frames = ids.filter(pl.col("frame").is_in(frames.implode()))
            yield Problem(
                otherwise.select(role).unique(maintain_order=True),
                of_frames[role].n_unique(),
                repair=_respell_all(data, role, way),
                facts={
                    "frames": ", ".join(frames),
                    "how": _(way),
                    "listed": quoted_id(otherwise["listed"][0]),
                },
                short=LOST_IDS[role],
            )


def _respell_all(data: LintData, role: str, way: str) -> Repair | None:
    """Write ids in one way wherever they are not, and join pairs that become equal.

    In a split users are part of the ids of lists, which are not written anew.
    """
    if role == "user" and data.source.keys.columns:
        return None
    repair = Repair(data)
    for frame in data.given:
        ids = data.ids(frame, role)
        plain = ids.to_frame(role).select(respelt(pl.col(role), way)).to_series()
        if (plain == ids).all():
            continue
        repair.respell(frame, role, way)
        if frame in SIDES:
            pairs = repair.changed(frame).select(PAIR)
            if pairs.is_duplicated().any():
                repair.drop_repeats(frame)
    return repair


IDS_OF_NOTHING = {
    "user": N_("Rows whose {user} stands for a missing value: {n:,} of {of:,}"),
    "item": N_("Rows whose {item} stands for a missing value: {n:,} of {of:,}"),
}


@check(
    "ids that stand for a missing value",
    why="One missing value is not the other, and these count as one id.",
    advice="If these ids are missing, leave their rows out:",
)
def missing_ids(data: LintData) -> Iterator[Problem]:
    n_rows = sum(data.frame(name).height for name in SIDES)
    words = pl.all().cast(pl.String).str.strip_chars().str.to_lowercase()
    for role in PAIR:
        repair = Repair(data)
        rows = list[pl.DataFrame]()
        for name in SIDES:
            ids = data.frame(name)[role].unique(maintain_order=True)
            called = data.source.keys.users_of(ids) if role == "user" else ids
            is_nothing = called.to_frame().select(words.is_in(NOTHING)).to_series()
            is_missing = is_nothing | _is_filler(ids, role)
            missing = ids.filter(is_missing).to_list()
            if missing:
                frame = data.frame(name).select(PAIR)
                rows.append(frame.filter(pl.col(role).is_in(missing)))
                repair.drop_rows(name, role, missing)
        if rows:
            yield Problem(
                pl.concat(rows),
                n_rows,
                repair=repair,
                grave=len(rows) == len(SIDES),
                short=IDS_OF_NOTHING[role],
            )


def _is_filler(ids: pl.Series, role: str) -> pl.Series:
    """Return which items are -1, with which libraries pad lists, if none else is below 0."""
    if role == "user" or not ids.dtype.is_integer() or (ids < 0).sum() != 1:
        return pl.Series(np.zeros(len(ids), dtype=bool))
    return ids == -1


@check(
    "lists and truth without a common {item}",
    short="Relevant {items} that are in no list: {n:,} of {of:,}",
    why="Every metric of hits is 0, whatever the model does; lists hold {items} such "
    "as {listed}.",
    advice="Check whether both frames write {items} in the same way, and the `item=` column.",
)
def no_item_meets(data: LintData) -> Iterator[Problem]:
    relevant = data.relevant.select("item").unique(maintain_order=True)
    listed = data.ids("recs", "item")
    if len(listed) and not relevant["item"].is_in(listed.implode()).any():
        yield Problem(
            relevant,
            relevant.height,
            frame="truth",
            facts={"listed": quoted_id(listed[0])},
        )


# Lists


@check(
    "repeated pairs",
    short="Pairs of {user} and {item} that are repeated in `{frame}`: {n:,}, in "
    "{rows:,} of {of:,} rows",
    why="By this convention, {rule}.",
    advice="Keep each pair once:",
)
def duplicates(data: LintData) -> Iterator[Problem]:
    rule = data.convention.duplicates
    words = _(PHRASES["duplicates", rule])
    if rule == "error":  # all but those that no number of accuracy sees were refused
        words = _("{items} that nobody judged keep each of their ranks")
    for name in SIDES:
        pairs = repeated(data.frame(name), PAIR).rename({"len": "rows"})
        yield Problem(
            pairs,
            data.frame(name).height,
            repair=Repair(data).drop_repeats(name),
            grave=rule != "dedupe",
            frame=name,
            facts={"frame": name, "rows": pairs["rows"].sum(), "rule": words},
        )


ALL_TIED = N_(
    "All scores of each list are equal, so the number follows from the order of the "
    "rows: if that is the order of rank, give the places as ranks."
)
WITHOUT_BOUNDS = N_(
    "{Users} with equal scores of {items} of different relevance: {n:,} of {of:,}"
)
SAME_TO_FOUR_DECIMALS = N_(
    "{Users} whose equal scores decide: {n:,} of {of:,}; {label} is {lower:.4f} in any "
    "order, to four decimals"
)


@check(
    "equal scores",
    needs=["score"],
    short="{Users} whose equal scores decide: {n:,} of {of:,}; {label} is anything "
    "from {lower:.4f} to {upper:.4f}",
    why="The number is of one order among many.",
    advice="Give scores that differ, or average over all orders:",
)
def ties(data: LintData) -> Iterator[Problem]:
    tied = find_ties(data)
    if tied is None:
        return
    options = {"ties": "expected"}
    if data.convention.order == "rank":
        options = {"order": "score", "ties": "expected"}
    short = ""
    has_bounds = np.isfinite(tied.upper)
    # Without bounds nobody knows how far ties move the number.
    moves_little = has_bounds and tied.upper - tied.lower < MOVES
    if not has_bounds:
        short = WITHOUT_BOUNDS
    elif f"{tied.lower:.4f}" == f"{tied.upper:.4f}":
        short = SAME_TO_FOUR_DECIMALS
    yield Problem(
        tied.first,
        len(data.listed),
        repair=Repair(data, **options),
        grave=not moves_little,
        facts={"lower": tied.lower, "upper": tied.upper},
        short=short,
        why=ALL_TIED if tied.constant else "",
    )


@check(
    "{items} that are not judged",
    short="Recommended rows that are not judged: {n:,} of {of:,}; {judged} is {share:.4f}",
    why="They count as not relevant, and nobody has looked: a model that finds other "
    "{items} than those judged is at a disadvantage.",
    advice="Report {judged} with the number; to rank the judged {items} alone:",
    needs=["judged"],
)
def unjudged(data: LintData) -> Iterator[Problem]:
    if not _tells_judged(data):
        return
    is_top = pl.col("rank") <= (data.k or np.inf)
    top = data.lists.filter(is_top).select(*PAIR, "rank")
    judged = data.joined.rows.truth
    rows = top.join(judged, on=PAIR, how="anti", maintain_order="left")
    measure = measure_named("judged").cut_at(data.k)
    values = values_of_hits(data.joined, measure, Cutoffs((data.k,)))
    share = mean_of(values[:, 0], data.joined.user_weight)
    yield Problem(
        rows,
        top.height,
        repair=Repair(data, judged_only=True),
        grave=rows.height >= MANY_ROWS * top.height,
        facts={"judged": measure.label, "share": share},
    )


def _tells_judged(data: LintData) -> bool:
    """Return whether the truth tells which items were judged, and lists have others.

    A truth of what users liked, without a row of relevance 0, does not.
    """
    convention = data.convention
    if convention.judged != "truth" or convention.judged_only:
        return False
    if data.hits.tied is not None:  # hits that share ranks have no rows
        return False
    grades = data.joined.rows.truth["relevance"].cast(pl.Float64)
    return bool((grades <= 0).any())


@check(
    "ranks against scores",
    needs=["score"],
    short="Rows with a higher score than the row above: {n:,} of {of:,}",
    why="The ranks, or the rows, are followed, and not the scores.",
    advice="If the score is what ranks the {items} (a reranker keeps the scores of the "
    "stage before):",
)
def rank_against_score(data: LintData) -> Iterator[Problem]:
    if data.convention.order not in ("rank", "row"):
        return
    rows = list_rows(data)
    if rows is not None:
        yield Problem(
            data.joined.rows.lists[rows.row[1:][rows.rises]],
            int(rows.same_user.sum()),
            repair=Repair(data, order="score"),
        )


@check(
    "lists upside down",
    needs=["score"],
    short="The rows of every list run from the lowest score to the highest: the lists "
    "may be upside down",
    why="The highest score is taken for the top.",
    advice="If {column} is a rank, name it so, `rank=`; if it is a distance, turn it:",
)
def upside_down(data: LintData) -> Iterator[Problem]:
    if data.convention.order != "score":
        return
    recs = data.source.recs_rows
    score = in_floats(recs["score"])
    same_user = (recs["user"].head(-1) == recs["user"].tail(-1)).to_numpy()
    if same_user.sum() < ENOUGH_FOR_A_RULE:
        raise NotCheckedError(
            "It takes {least} rows below another one.", least=ENOUGH_FOR_A_RULE
        )
    if (score[1:] > score[:-1])[same_user].all():
        yield Problem(
            recs,
            recs.height,
            repair=Repair(data).negate_scores(),
            facts={"column": quoted_id(data.source.recs.labels["score"])},
        )


@check(
    "short lists",
    needs=["k"],
    short="Lists shorter than {k:,}: {n:,} of {of:,}",
    why="There is no hit below the end of a list.",
    advice="Make lists of at least {k:,} {items}, or use a smaller cut-off.",
)
def short_lists(data: LintData) -> Iterator[Problem]:
    lengths = data.joined.hits.list_length
    n_lists = int(data.listed.sum())
    users = data.users(data.listed & (lengths < (data.k or 0)))
    yield Problem(users, n_lists, grave=users.height == n_lists)


@check(
    "empty places",
    short="Lists whose ranks leave places empty: {n:,} of {of:,}",
    why="Ranks are used as given: an empty place counts as a miss, and {items} below "
    "it are discounted accordingly.",
    advice="If these places were not used, close the gaps:",
)
def rank_gaps(data: LintData) -> Iterator[Problem]:
    if not data.joined.has_gaps:
        return
    rank = pl.col("rank")
    lists = data.lists.group_by("user")
    ends = lists.agg(rank.max(), rows=pl.len(), first=rank.min())
    yield Problem(
        ends.filter(rank != pl.col("rows")).select("user", "rank", "rows"),
        ends.height,
        repair=Repair(data).close_gaps(),
        grave=bool((ends["first"] > 1).all()),
    )


# Values


LOWEST = N_("Every one of {n:,} {users} has the lowest possible {label}")


@check(
    "perfect values",
    needs=["direction", "best value", "lists"],
    short="Every one of {n:,} {users} has the highest possible {label}",
    why="{label} is {value:.4f}, which real recommendations do not reach.",
    advice="Check whether the lists were made from the truth.",
)
def perfect(data: LintData) -> Iterator[Problem]:
    values = np.nan_to_num(data.values)
    n_users = len(values)
    if (np.abs(values - data.best_value) <= 1e-12).all():
        is_cost = data.metric.better == "low"
        yield Problem(n_users, n_users, short=LOWEST if is_cost else "")


# The truth, and the items that were ranked


@check(
    "relevance that is ratings",
    short="Relevance looks like ratings from {low:g} to {high:g}, and all {of:,} rows "
    "count as relevant",
    why="{Items} with a low rating count as hits as well; rows below {liked}: {n:,}.",
    advice="Set the lowest rating that counts as relevant:",
)
def ratings(data: LintData) -> Iterator[Problem]:
    convention = data.convention
    if convention.relevant_from is not None or convention.relevant != ">0":
        return
    if "relevance" not in data.source.truth.labels:
        return
    grades = data.joined.rows.truth["relevance"].cast(pl.Float64).to_numpy()
    low = float(grades.min())
    high = float(grades.max())
    are_half_steps = (grades * 2 % 1 == 0).all()
    is_scale = high in SCALES and 0 < low <= high / 2 and are_half_steps
    if is_scale and len(np.unique(grades)) > 2:
        liked = int(0.8 * high)
        is_disliked = pl.col("relevance").cast(pl.Float64) < liked
        yield Problem(
            data.source.truth_rows.filter(is_disliked),
            len(grades),
            repair=Repair(data, relevant_from=liked),
            frame="truth",
            facts={"low": low, "high": high, "liked": liked},
        )


@check(
    "a column that looks like relevance and is not used",
    short="Column {column} of the truth looks like relevance, and is not used; it is 0 or "
    "below in {zeros:,} of {of:,} rows",
    why="Each of the {of:,} rows counts as 1.",
    advice="If it is how relevant {items} are, name it:",
)
def unused_relevance(data: LintData) -> Iterator[Problem]:
    truth = data.source.truth_rows
    amounts = _column_of_amounts(data)
    if amounts is None or len(amounts) != truth.height:
        return
    is_zero = amounts.cast(pl.Float64) <= 0
    if amounts.n_unique() == 1 and not is_zero.all():
        return
    n_zeros = int(is_zero.sum())
    rows = truth.select(*PAIR, amounts)
    if n_zeros:
        rows = rows.filter(is_zero)
    repair = Repair(data, relevance=amounts.name)
    repair.columns["truth"] = amounts.alias("relevance")
    yield Problem(
        rows,
        len(amounts),
        repair=repair,
        grave=n_zeros > 0,
        frame="truth",
        facts={"column": quoted_id(amounts.name), "zeros": n_zeros},
    )


def _column_of_amounts(data: LintData) -> pl.Series | None:
    """Find the first column of the truth that is named like relevance and has no role.

    None if there is none, if it holds no numbers, or relevance was given.
    """
    table = data.side.truth_columns
    if table is None or "relevance" in data.source.truth.labels:
        return None
    names = [name for name in table.columns if plain_name(name) in AMOUNTS]
    if not names:
        return None
    amounts = table.columns[names[0]]
    if isinstance(amounts, str):
        return None  # it holds values of several kinds
    are_numbers = amounts.dtype.is_numeric() or amounts.dtype == pl.Boolean
    return amounts.alias(names[0]) if are_numbers else None


@check(
    "a value that cannot be passed",
    needs=["k", "direction", "best value"],
    short="{label} cannot pass {most:.4f}: {n:,} of {of:,} {users} cannot reach {top:g}",
    why="Lists of all relevant {items} and of nothing else have this value: the truth "
    "and the cut-off decide as much as the lists.",
    advice="Take another cut-off, or report with the number what it cannot pass.",
)
def ceiling(data: LintData) -> Iterator[Problem]:
    top = data.best_value
    if data.convention.judged != "truth" or data.metric.better != "high":
        return
    # What a list of all relevant items of its user, the best first, would have.
    n_relevant = np.bincount(data.hits.truth_user, minlength=len(data.listed))
    ideal_lists = replace(best_of_all(data.hits, data.gain), list_length=n_relevant)
    values, most = data.values_of(ideal_lists)
    if most > 0 and data.measured.value <= most < LOW * top:
        yield Problem(
            data.users(values < top - 1e-12),
            len(values),
            grave=False,
            facts={"most": most, "top": top},
        )


@check(
    "sampled candidates",
    why="Ranking a few of {n_items:,} {items} is easier than ranking all. Such a "
    "number is no estimate of the full ranking's, and may order models otherwise "
    "(Krichene and Rendle, 2020).",
    advice="Rank all {items} of the catalogue except those in train, or report with "
    "the number how candidates were sampled.",
)
def sampled_candidates(data: LintData) -> Iterator[Problem]:
    sample = find_sample(data)
    if sample is not None and not is_truth_of_hits(data):
        n_items = data.joined.rows.lists["item"].n_unique()
        yield Problem(
            data.users(data.listed),
            len(data.listed),
            facts={"size": sample.size, "n_items": n_items},
            short=sample.words,
        )


LEFT_MERGE = N_(
    "Rows without relevance: {empty:,} of {rows:,}, as after a left merge of "
    "recommendations with a truth, which loses relevant {items} that were not "
    "recommended, and {users} without a hit."
)
BOTH_FRAMES = N_(
    "Give the two frames as they were before the merge, `recs.rec.against(truth)`."
)


@check(
    "no missed relevant {items}",
    short="No relevant {item} is missing from the lists",
    why="Relevant {items} that were not recommended are not in the data: recall of "
    "whole lists is 1 for every {user}.",
    advice="Give the whole truth: in one frame with the lists, a row with a missing "
    "rank for each relevant {item} that was not recommended.",
)
def nothing_missed(data: LintData) -> Iterator[Problem]:
    n_relevant = len(data.hits.truth_user)
    if data.source.one_frame.is_left_merge:
        n_rows = data.source.recs_rows.height
        yield Problem(
            n_relevant,
            n_relevant,
            facts={"empty": n_rows - data.source.truth_rows.height, "rows": n_rows},
            why=LEFT_MERGE,
            advice=BOTH_FRAMES,
        )
    elif data.source.one_frame.only_listed or is_nothing_missed(data):
        yield Problem(n_relevant, n_relevant, grave=is_truth_of_hits(data))


# Weights


@check(
    "clipped propensities",
    weighted=True,
    short="Relevant pairs whose propensities are clipped at {least:g}: {n:,} of {of:,}",
    why="Clipping moves the number, towards that without propensities.",
    advice="Report the least propensity with the number; to see it without:",
)
def clipped(data: LintData) -> Iterator[Problem]:
    least = data.convention.min_propensity
    if not least:
        return
    repair = Repair(data, min_propensity=None)
    of_full = repair.measured()
    if of_full is None:
        raise NotCheckedError("It would take long with so many rows.")
    if abs(of_full.value - data.measured.value) >= MOVES:
        rows = data.joined.rows.relevant
        yield Problem(
            rows.filter(rows["weight"] >= 1 / least).select(*PAIR),
            rows.height,
            repair=repair,
            frame="truth",
            facts={"least": least},
        )


@check(
    "{users} of whom nothing was seen",
    weighted=True,
    short="{Users} of whom nothing was seen, and who are left out or count 1: {n:,} of "
    "{of:,}",
    why="Weighted precision, cg, dcg and rbp are without bias only if each of these "
    "{users} counts 0.",
    advice="Let them count 0:",
)
def nothing_seen(data: LintData) -> Iterator[Problem]:
    listed = data.source.recs_rows.select("user").unique(maintain_order=True)
    seen = data.joined.rows.relevant.select("user")
    count_0 = data.users(data.values == 0)
    unseen = listed
    for users in (seen, count_0):
        unseen = unseen.join(users, on="user", how="anti", maintain_order="left")
    repair = Repair(data, averaged_users="recs", no_relevant="zero")
    yield Problem(unseen, listed.height, repair=repair, grave=False)


# Users and their lists


MISSING_LISTS = N_("Lists that are missing: {n:,} of {of:,}")


@check(
    "{users} without a list",
    short="{Users} without a list: {n:,} of {of:,}",
    why="Each of them counts as a list without a hit.",
    advice="If no list was to be made for them, evaluate only the {users} in both frames:",
)
def users_without_list(data: LintData) -> Iterator[Problem]:
    n_users = len(data.listed)
    # What a convention puts below no list may be a hit.
    counts_0 = data.joined.hits.list_length == 0
    users = data.users(~data.listed & counts_0)
    yield Problem(
        users,
        n_users,
        short=MISSING_LISTS if data.source.keys.columns else "",
        repair=Repair(data, averaged_users="both"),
        grave=users.height >= MANY_USERS * n_users,
    )


def _may_tell_lists_apart(data: LintData, column: str) -> bool:
    """Return whether a column may tell the lists of a user apart, as a day does.

    An item of the recommendations has several of its values, a user of the truth as well,
    and some are in both frames. Other columns describe items.
    """
    recs, truth = data.side.recs_columns, data.side.truth_columns
    if recs is None or truth is None:
        return False
    if not recs.differs_within(["item"], column):
        return False
    if not truth.differs_within(["user"], column):
        return False
    ours, theirs = recs[column], truth[column]
    is_one_kind = ours.dtype == theirs.dtype
    return is_one_kind and bool(ours.is_in(theirs.unique().implode()).any())


@check(
    "lists taken as one",
    short="The lists of all values of `{column}` of a {user} are taken as one",
    why="Both frames have the column, with values in common, and it differs within "
    "{users}: each value, such as a day, may have a list and a truth of its own.",
    advice="If so, evaluate each list with its own truth:",
)
def lists_taken_as_one(data: LintData) -> Iterator[Problem]:
    users = data.users(data.listed)
    for column in data.side.differing:
        if not _may_tell_lists_apart(data, column):
            continue
        split: Any = column
        if data.source.keys.columns:
            split = [*data.source.keys.columns, column]
        repair = Repair(data, split=split)
        facts = {"column": column}
        yield Problem(users, users.height, repair=repair, grave=False, facts=facts)


# Beside train and items


@check(
    "{items} seen before",
    needs=["train"],
    short="Recommended rows of {items} that their {users} had in train: {n:,} of {of:,}",
    why="They take the places of {items} that are new to their {users}.",
    advice="If what was seen is not to be recommended again, take it out before ranking:",
)
def seen_in_train(data: LintData) -> Iterator[Problem]:
    repair = Repair(data).match_rows("recs", "train", PAIR, "anti")
    yield Problem(repair.left_out, data.source.recs_rows.height, repair=repair)


@check(
    "leakage from train to truth",
    needs=["train"],
    short="Relevant pairs that are in train as well: {n:,} of {of:,}",
    why="These answers were in train, or could not be recommended: the number measures "
    "memory, not prediction.",
    advice="Split again, so that no pair is on both sides:",
)
def train_in_truth(data: LintData) -> Iterator[Problem]:
    repair = Repair(data).match_rows("truth", "train", PAIR, "anti")
    leaked = data.relevant_of(repair.left_out)
    yield Problem(leaked, data.relevant.height, repair=repair, frame="truth")


@check(
    "train later than the truth",
    needs=["train"],
    short="Rows of train after the same {user}'s first row of the truth: {n:,} of {of:,}",
    why="The model may have learned from what came after the answers, which nobody knows "
    "when lists are shown.",
    advice="Split again by time, so that all rows of train are before those of the truth; "
    "train and rank anew.",
)
def train_after_truth(data: LintData) -> Iterator[Problem]:
    when, until = comparable_times(data)
    answers = data.source.truth_rows.select("user", first=until)
    first_of_user = answers.group_by("user").agg(pl.col("first").min())
    train = data.frame("train").select(PAIR).with_columns(when)
    rows = train.join(first_of_user, on="user", maintain_order="left")
    is_late = (pl.col(when.name) > pl.col("first")).fill_null(value=False)
    yield Problem(rows.filter(is_late).drop("first"), train.height)
    is_after_others = ~is_late & (pl.col(when.name) > until.min())
    yield Problem(
        rows.filter(is_after_others).drop("first"),
        train.height,
        grave=False,
        short="Rows of train after another {user}'s first row of the truth: {n:,} of "
        "{of:,}",
        why="The model may have learned what others did later, such as which {items} "
        "became popular, which nobody knows when the first lists are shown.",
        advice="Split at one time for all {users}, or report with the number that each "
        "{user} is split by itself.",
    )


@check(
    "new relevant {items}",
    needs=["train"],
    short="Relevant pairs whose {item} is not in train: {n:,} of {of:,}",
    why="A model trained on train alone cannot recommend them.",
    advice="Report it with the number, or remove such {items} from the truth for all models:",
)
def cold_relevant(data: LintData) -> Iterator[Problem]:
    repair = Repair(data).match_rows("truth", "train", ["item"], "semi")
    cold = data.relevant_of(repair.left_out)
    n_relevant = data.relevant.height
    is_many = cold.height >= MANY_ROWS * n_relevant
    yield Problem(cold, n_relevant, repair=repair, grave=is_many, frame="truth")


@check(
    "{items} outside the catalogue",
    needs=["items"],
    short="Rows of `{frame}` whose {items} are not in the catalogue, `items=`: {n:,} "
    "of {of:,}",
    why="A model that recommends from the catalogue cannot find them, and coverage may "
    "pass 1.",
    advice="Add these {items} to `items=`; or, if they cannot be had, take them out:",
)
def outside_items(data: LintData) -> Iterator[Problem]:
    for name in SIDES:
        repair = Repair(data).match_rows(name, "items", ["item"], "semi")
        yield Problem(
            repair.left_out.select(PAIR),
            data.frame(name).height,
            repair=repair,
            frame=name,
            facts={"frame": name},
        )
