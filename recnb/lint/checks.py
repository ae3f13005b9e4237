"""The checks: of ids, of lists, of the truth, and against train and items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions.convention import PHRASES
from recnb.data.columns import columns_of, plain_name, table_of
from recnb.data.load import ONLY_LISTED
from recnb.data.sheet import in_floats, repeated
from recnb.display.language import N_, _
from recnb.lint.data import (
    FRAMES,
    PAIR,
    LintData,
    NotCheckedError,
    comparable_times,
    find_ties,
    list_rows,
    quoted_id,
)
from recnb.lint.findings import Problem, check
from recnb.lint.repair import SPELLINGS, Repair
from recnb.metrics.gain import best_of_all
from recnb.metrics.hits import Cutoffs, Ints
from recnb.metrics.measure import metric_named
from recnb.results.scoring import Scoring, averaged

#: Names of columns that tell whether, how often or how much a user had an item.
AMOUNTS = re.compile(
    "(is|n|num|total)?(purchase[sd]?|bought|sold|sales|units(sold)?|quantity|qty|revenue|spen[dt]|amount|n|cnt|counts?|order(s|ed|count)?"
    "|click(s|ed)?|(times)?play(s|ed|count)?|view(s|ed|count)?|watch(ed|time)|listen(s|ed|count)|visits|like[sd]?|stars"
    "|freq(uency)?|weight|strength|interact(ions?|ed)|events|conver(sions?|ted)|engagement|feedback|response|positive|relevant|value)"
)
NOTHING = (
    "",
    "nan",
    "none",
    "null",
    "nat",
    "<na>",
    "n/a",
    "undefined",
)  #: words for missing values, in lower case
FILLERS = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0)  #: numbers for missing scores
HUGE = -1e30  #: and those below this
MOVES = 0.0005  #: a mean that ties could move by so much shows in its third digit
SCALES = (5.0, 10.0, 100.0)  #: highest values of the scales on which people rate
ENOUGH = 10  #: users, or places, for which a common property is not taken for chance
CANDIDATES, SHARE = (
    10,
    0.5,
)  #: candidates that look sampled: no fewer than this, and at most such a share of the items
DEPTH = 1000  #: the depth at which runs of retrieval are cut: lists of so many items are no samples
MISSING = 0.05  #: the share of a sample's rows that may be missing
SAMPLED = N_(
    "The candidates look sampled: each of {n:,} lists has all the relevant items, among "
    "{size:,} items or beside as many"
)
NEARLY_SAMPLED = N_(
    "The candidates look sampled: each of {n:,} lists has nearly all the relevant items, "
    "among up to {size:,} items or beside as many"
)
SAMPLED_IN_TRUTH = N_(
    "The candidates look sampled: `truth` has up to {size:,} items for each of {n:,} "
    "users, relevant or not, and lists have hardly any others"
)
LOW = 0.9  #: a share of the highest value of a metric: what cannot pass it is reported
MANY_ROWS, MANY_USERS = (
    0.1,
    0.05,
)  #: shares of relevant rows and of users that make a warning


def require_users(n: int) -> None:
    """Raise an error if there are too few users, or lists, to tell a rule from chance."""
    if n < ENOUGH:
        words = N_("It takes {least} users with a list.")
        raise NotCheckedError(_(words, least=ENOUGH))


def require_scores(data: LintData) -> None:
    """Raise an error if the lists have no scores."""
    if "score" not in data.source.labels:
        raise NotCheckedError(_("The lists have no scores."))


def require_cutoff(data: LintData) -> None:
    """Raise an error if whole lists are evaluated."""
    if data.asked_k is None:
        raise NotCheckedError(_("Give `k=` to check."))


def require_best_value(data: LintData) -> None:
    """Raise an error if no value of the metric is the best of all."""
    label = data.metric.label(data.asked_k)
    if data.metric.better is None:
        words = N_("{label} has no direction: a value is neither good nor bad.")
        raise NotCheckedError(_(words, label=label))
    lowest, highest = data.metric.bounds
    best = highest if data.metric.better == "high" else lowest
    if not np.isfinite(best):
        words = N_("{label} has no highest value.")
        raise NotCheckedError(_(words, label=label))


@check(N_("ids written otherwise"))
def ids_written_otherwise(data: LintData) -> Iterator[Problem]:
    for role in PAIR:
        listed, others = (
            data.ids("recs", role),
            {name: data.ids(name, role) for name in data.given[1:]},
        )
        if listed.dtype != pl.String:
            continue
        ids = pl.concat(
            each.to_frame(role).with_columns(frame=pl.lit(name))
            for name, each in others.items()
        )
        lost = ids.filter(~pl.col(role).is_in(listed.implode()))
        for way, (plain, *_code) in SPELLINGS.items() if lost.height else ():
            known = pl.DataFrame({"listed": listed, "plain": listed}).with_columns(
                plain(pl.col("plain"))
            )
            known = known.filter(pl.col("plain") != "").unique(
                "plain", keep="first", maintain_order=True
            )
            found = lost.with_columns(plain=plain(pl.col(role))).join(
                known, on="plain", maintain_order="left"
            )
            frames, repair = found["frame"].unique(maintain_order=True), Repair(data)
            for frame in data.given if found.height else ():
                if (
                    data.ids(frame, role)
                    .to_frame("id")
                    .filter(plain(pl.col("id")) != pl.col("id"))
                    .height
                ):
                    repair.respell(frame, role, way)
                    if (
                        frame in FRAMES[:2]
                        and repair.changed(frame).select(PAIR).is_duplicated().any()
                    ):
                        repair.drop_repeats(frame)
            yield Problem(
                found.select(role).unique(maintain_order=True),
                ids.filter(pl.col("frame").is_in(frames.implode()))[role].n_unique(),
                short={
                    "user": "Users in {frames} that no list has, and that would have one "
                    "but for {how}: {n:,} of {of:,}",
                    "item": "Items in {frames} that no list has, and that would be in one "
                    "but for {how}: {n:,} of {of:,}",
                }[role],
                why="They count as other ids, and match no recommended row; lists have {listed}.",
                advice="If they mean the same, write ids in one way in all frames:",
                repair=repair,
                facts={
                    "frames": ", ".join(frames),
                    "how": _(way),
                    "listed": quoted_id(next(iter(found["listed"]), "")),
                },
            )


@check(N_("missing ids as text"))
def missing_ids(data: LintData) -> Iterator[Problem]:
    for role in PAIR:
        repair, rows, height = Repair(data), list[pl.DataFrame](), 0
        for name in FRAMES[:2]:
            ids, height = data.ids(name, role), height + data.frame(name).height
            words = ids.filter(
                ids.cast(pl.String).str.strip_chars().str.to_lowercase().is_in(NOTHING)
            ).to_list()
            if words:
                rows.append(
                    data.frame(name).filter(pl.col(role).is_in(words)).select(PAIR)
                )
                repair.drop_rows(name, role, words)
        yield Problem(
            pl.concat(rows) if rows else 0,
            height,
            grave=len(rows) > 1,
            short={
                "user": "Rows with a word for a missing value as their user: {n:,} of {of:,}",
                "item": "Rows with a word for a missing value as their item: {n:,} of {of:,}",
            }[role],
            why="One missing value is not the other, and these count as one id.",
            advice="If these ids are missing, leave their rows out:",
            repair=repair,
        )


@check(N_("lists and truth without an item in common"))
def no_item_meets(data: LintData) -> Iterator[Problem]:
    relevant, listed = (
        data.relevant.select("item").unique(maintain_order=True),
        data.ids("recs", "item"),
    )
    if not relevant["item"].is_in(listed.implode()).any():
        yield Problem(
            relevant,
            relevant.height,
            short="Relevant items that are in no list: {n:,} of {of:,}",
            why="Every metric of hits is 0, whatever the model does; lists hold items "
            "such as {listed}.",
            advice="Check whether both frames write items in the same way, and the `item=` column.",
            frame="truth",
            facts={"listed": quoted_id(listed[0])},
        )


@check(N_("repeated pairs"))
def duplicates(data: LintData) -> Iterator[Problem]:
    rule = data.convention.duplicates
    for name in FRAMES[:2] if rule != "error" else ():
        pairs = repeated(data.frame(name), PAIR).rename({"len": "rows"})
        yield Problem(
            pairs,
            data.frame(name).height,
            short="Pairs of user and item that are repeated in `{frame}`: {n:,}, in "
            "{rows:,} of {of:,} rows",
            why="By this convention, {rule}.",
            advice="Keep each pair once:",
            repair=Repair(data).drop_repeats(name),
            grave=rule != "dedupe",
            frame=name,
            facts={
                "frame": name,
                "rows": pairs["rows"].sum(),
                "rule": _(PHRASES["duplicates", rule]),
            },
        )


@check(N_("equal scores"))
def ties(data: LintData) -> Iterator[Problem]:
    require_scores(data)
    options = (
        {"order": "score", "ties": "expected"}
        if data.convention.order == "rank"
        else {"ties": "expected"}
    )
    if (tied := find_ties(data)) is not None:
        short = N_(
            "Users for whom equal scores decide: {n:,} of {of:,}; {label} is "
            "anything from {lower:.4f} to {upper:.4f}"
        )
        if not np.isfinite(tied.upper):
            short = N_(
                "Users with equal scores of items of different relevance: {n:,} of {of:,}"
            )
        elif f"{tied.lower:.4f}" == f"{tied.upper:.4f}":
            short = N_(
                "Users for whom equal scores decide: {n:,} of {of:,}; {label} is "
                "{lower:.4f} in any order, to four decimals"
            )
        yield Problem(
            tied.first,
            len(data.listed),
            short=short,
            why=(
                "All scores of each list are equal, so the number follows from the "
                "order of the rows: if that is the order of rank, give the places as "
                "ranks."
            )
            if tied.constant
            else "The number is of one order among many.",
            advice="Give scores that differ, or average over all orders:",
            repair=Repair(data, **options),
            grave=not tied.upper - tied.lower < MOVES,
            facts={"lower": tied.lower, "upper": tied.upper},
        )


@check(N_("items that are not judged"))
def unjudged(data: LintData) -> Iterator[Problem]:
    judged, convention = data.joined.judged, data.convention
    # A truth of what users liked judges nothing else; one with items that are not
    # relevant says what was judged.
    says_judged = (
        convention.judged == "truth"
        and not convention.judged_only
        and data.hits.tied is None
    )
    if says_judged and (judged["relevance"].cast(pl.Float64) <= 0).any():
        evaluated = pl.col("user").is_in(data.joined.users.implode())
        top = data.joined.recs.filter(
            evaluated, pl.col("rank") <= (data.k or np.inf)
        ).select(*PAIR, "rank")
        rows, metric = (
            top.join(judged, on=PAIR, how="anti", maintain_order="left"),
            metric_named("judged"),
        )
        scoring = Scoring(data.joined, metric, {})
        _values, mean = averaged(scoring, Cutoffs.one(data.k))
        share = mean.item()
        yield Problem(
            rows,
            top.height,
            short="Recommended rows that are not judged: {n:,} of {of:,}; {judged} is {share:.4f}",
            why="They count as not relevant, and nobody has looked: a model that "
            "finds other items than those judged is at a disadvantage.",
            advice="Report {judged} with the number; to rank the judged items alone:",
            repair=Repair(data, judged_only=True),
            grave=rows.height >= MANY_ROWS * top.height,
            facts={"judged": metric.label(data.k), "share": share},
        )


@check(N_("ranks against scores"))
def rank_against_score(data: LintData) -> Iterator[Problem]:
    require_scores(data)
    rows = list_rows(data) if data.convention.order in ("rank", "row") else None
    if rows is not None:
        rises = rows.row[1:][rows.same_user & (rows.score[1:] > rows.score[:-1])]
        yield Problem(
            data.joined.recs[rises],
            int(rows.same_user.sum()),
            short="Rows with a higher score than the row above: {n:,} of {of:,}",
            why="The ranks, or the rows, are followed, and not the scores.",
            repair=Repair(data, order="score"),
            advice="If the score is what ranks the items (a reranker keeps the scores of "
            "the stage before):",
        )


@check(N_("lists upside down"))
def upside_down(data: LintData) -> Iterator[Problem]:
    require_scores(data)
    if data.convention.order != "score":
        return
    recs, score = data.source.recs, in_floats(data.source.recs["score"])
    same_user = (recs["user"].head(-1) == recs["user"].tail(-1)).to_numpy()
    if same_user.sum() < ENOUGH:
        words = N_("It takes {least} rows below another one.")
        raise NotCheckedError(_(words, least=ENOUGH))
    if (score[1:] > score[:-1])[same_user].all():
        yield Problem(
            recs,
            recs.height,
            short="The rows of every list run from the lowest score to the highest: the "
            "lists may be upside down",
            why="The highest score is taken for the top.",
            advice="If {column} is a rank, name it so, `rank=`; if it is a distance, turn it:",
            repair=Repair(data).negate_scores(),
            facts={"column": quoted_id(data.source.labels["score"])},
        )


@check(N_("rows without a score"))
def filler_score(data: LintData) -> Iterator[Problem]:
    require_scores(data)
    scored = data.convention.order == "score"
    score = (
        data.source.recs["score"].cast(pl.Float64).to_numpy() if scored else np.zeros(1)
    )
    filled, rest = score == score.min(), score[score != score.min()]
    filler, low, high = score.min(), rest.min(initial=np.inf), rest.max(initial=-np.inf)
    apart = (
        len(rest)
        and filled.sum() > 1
        and (low - filler > 2 * (high - low) or filler < 0 <= low)
    )
    if apart and (filler in FILLERS or filler <= HUGE):
        rows = data.source.recs.filter(pl.Series(filled))
        yield Problem(
            rows,
            len(score),
            short="Rows with the score {filler:g}, far from all others: {n:,} of "
            "{of:,}; filled in where there was none?",
            why="The other scores run from {low:g} to {high:g}.",
            advice="If these items were not recommended, take the rows out:",
            repair=Repair(data).drop_rows("recs", "score", [rows["score"][0]]),
            facts={"filler": filler, "low": low, "high": high},
        )


@check(N_("short lists"))
def short_lists(data: LintData) -> Iterator[Problem]:
    lengths = data.joined.all_hits.list_length
    n_lists = int(data.listed.sum())
    longest = int(lengths.max(initial=0))
    ends_early = data.listed & (lengths < np.minimum(longest, data.hits.n_relevant))
    if ends_early.any() and data.ideal_ends_with_the_list:
        yield Problem(
            data.users(ends_early),
            n_lists,
            short="Lists of different length, which end before what is relevant to "
            "their users: {n:,} of {of:,}",
            why="Their ideal ends where they do, so a short list is not charged for "
            "what it leaves out; {label} at k = {longest:,} is {cut:.4f}.",
            advice="Give a cut-off, the same for all, such as `k={longest}`; or ask for "
            "what trec_eval returns of whole lists, `.measure('nDCG')`.",
            grave=False,
            facts={
                "longest": longest,
                "cut": averaged(data.scoring, Cutoffs.one(longest))[1].item(),
            },
        )
    require_cutoff(data)
    short = data.users(data.listed & (lengths < (data.k or 0)))
    yield Problem(
        short,
        n_lists,
        short="Lists that end above rank {k:,}: {n:,} of {of:,}",
        why="There is no hit below the end of a list.",
        advice="Recommend at least {k:,} items, or use a smaller cut-off.",
        grave=short.height == n_lists,
    )


@check(N_("empty places"))
def rank_gaps(data: LintData) -> Iterator[Problem]:
    if data.joined.has_gaps:
        evaluated = data.joined.recs.filter(
            pl.col("user").is_in(data.joined.users.implode())
        )
        lists = evaluated.group_by("user").agg(
            pl.col("rank").max(), rows=pl.len(), first=pl.col("rank").min()
        )
        yield Problem(
            lists.filter(pl.col("rank") != pl.col("rows")).select(
                "user", "rank", "rows"
            ),
            lists.height,
            short="Lists whose ranks leave places empty: {n:,} of {of:,}",
            why="Ranks are used as given: an empty place counts as a miss, and items "
            "below it are discounted accordingly.",
            advice="If these places were not used, close the gaps:",
            repair=Repair(data).close_gaps(),
            grave=bool((lists["first"] > 1).all()),
        )


@check(N_("perfect values"))
def perfect(data: LintData) -> Iterator[Problem]:
    require_best_value(data)
    values, (lowest, highest) = np.nan_to_num(data.averaged[0]), data.metric.bounds
    require_users(len(values))
    is_perfect = values >= highest - 1e-12
    short = N_("Every one of {n:,} users has the highest possible {label}")
    if data.metric.better == "low":
        is_perfect = values <= lowest + 1e-12
        short = N_("Every one of {n:,} users has the lowest possible {label}")
    if is_perfect.all():
        yield Problem(
            len(values),
            len(values),
            short=short,
            why="{label} is {value:.4f}, which real recommendations do not reach.",
            advice="Check whether the lists were made from the truth.",
        )


@check(N_("relevance that is ratings"))
def ratings(data: LintData) -> Iterator[Problem]:
    plain = data.convention.relevant_from is None and data.convention.relevant == ">0"
    if not plain or "relevance" not in data.source.truth_labels:
        return
    grades = data.joined.judged["relevance"].cast(pl.Float64)
    low, high = float(grades.to_numpy().min()), float(grades.to_numpy().max())
    if (
        high in SCALES
        and 0 < low <= 0.5 * high
        and (grades * 2 % 1 == 0).all()
        and grades.n_unique() > 2
    ):
        liked = int(0.8 * high)
        yield Problem(
            data.source.truth.filter(pl.col("relevance").cast(pl.Float64) < liked),
            len(grades),
            short="Relevance looks like ratings from {low:g} to {high:g}, and all "
            "{of:,} rows count as relevant",
            why="A hit on what the user disliked is a hit; rows below {liked}: {n:,}.",
            advice="Set the lowest rating that counts as relevant:",
            repair=Repair(data, relevant_from=liked),
            frame="truth",
            facts={"low": low, "high": high, "liked": liked},
        )


@check(N_("a column that looks like relevance and is not used"))
def unused_relevance(data: LintData) -> Iterator[Problem]:
    given, truth, labels = data.side.truth, data.source.truth, data.source.truth_labels
    names = [] if given is None or "relevance" in labels else columns_of(given, "truth")
    names = [
        name
        for name in names
        if name not in labels.values() and AMOUNTS.fullmatch(plain_name(name))
    ]
    amounts = (
        table_of(given, "truth", {"relevance": names[0]})["relevance"]
        if names
        else pl.Series("relevance", [])
    )
    are_numbers = amounts.dtype.is_numeric() or amounts.dtype == pl.Boolean
    is_zero = amounts.cast(pl.Float64) <= 0 if are_numbers else amounts.is_null()
    if (
        are_numbers
        and len(amounts) == truth.height
        and (amounts.n_unique() > 1 or is_zero.all())
    ):
        zeros, rows = int(is_zero.sum()), truth.select(*PAIR, amounts.alias(names[0]))
        yield Problem(
            rows.filter(is_zero) if zeros else rows,
            len(amounts),
            short=(
                "Column {column} of the truth looks like relevance, and is not used; "
                "it is 0 or below in {zeros:,} of {of:,} rows"
            )
            if zeros
            else "Column {column} of the truth looks like relevance, and is not used",
            why="Each of the {of:,} rows counts as 1.",
            advice="If it is how relevant an item is, name it:",
            repair=Repair(data, relevance=names[0]).change(
                "truth", lambda rows: rows.with_columns(amounts)
            ),
            grave=zeros > 0,
            frame="truth",
            facts={"column": quoted_id(names[0]), "zeros": zeros},
        )


@check(N_("a value that cannot be passed"))
def ceiling(data: LintData) -> Iterator[Problem]:
    require_cutoff(data)
    require_best_value(data)
    top = data.metric.bounds[1]
    n_relevant = np.bincount(data.hits.truth_user, minlength=len(data.listed))
    values, most = data.values_of(
        replace(best_of_all(data.hits, data.gain), list_length=n_relevant)
    )
    known = data.convention.judged == "truth" and data.metric.better == "high"
    if known and most > 0 and data.measured[1] <= most < LOW * top:
        yield Problem(
            data.users(values < top - 1e-12),
            len(values),
            short="{label} cannot pass {most:.4f}: {n:,} of {of:,} users cannot reach {top:g}",
            why="Lists of all relevant items and of nothing else have this value: the "
            "truth and the cut-off decide as much as the lists.",
            advice=(
                "Take another cut-off, or divide by what could be found, "
                "`out_of='min(k, relevant)'`."
            )
            if "min(k, relevant)" in data.metric.words.get("out_of", ())
            else "Take another cut-off, or report with the number what it cannot pass.",
            grave=False,
            facts={"most": most, "top": top},
        )


class SampledCandidates(NamedTuple):
    """Candidates that look sampled."""

    size: int  #: of each user, the most; of the items that are not relevant, maybe
    words: str  #: what the finding says of them


def find_sample(data: LintData) -> SampledCandidates | None:
    """Return what looks sampled: the lists, or the items of the truth that they are
    taken from.
    """
    knows_truth = data.convention.judged == "truth"
    if not knows_truth or data.convention.candidates != "list":
        return None
    require_users(int(data.listed.sum()))
    return sample_in_lists(data) or sample_in_truth(data)


def sample_in_lists(data: LintData) -> SampledCandidates | None:
    """Look for lists of as many items each, or of as many that are not relevant, which
    have all relevant items; a few rows may be missing.
    """
    listed, n_relevant = data.listed, data.hits.n_relevant[data.listed]
    lengths = data.joined.all_hits.list_length[listed]
    lost = n_relevant - count_found(data)[listed]
    is_few = lengths.max() < most_sampled(data.joined.recs["item"].n_unique())
    if not is_few or lost.sum() > MISSING * n_relevant.sum():
        return None
    negatives = lengths - n_relevant + lost
    for sizes in (lengths, negatives):
        if (sizes == sizes[0]).all() and sizes[0] >= CANDIDATES and not lost.any():
            return SampledCandidates(int(sizes[0]), SAMPLED)
    # A list that lacks a relevant item lacks a candidate: it is shorter than others.
    full = int(lengths.max())
    is_nearly = bool((lengths + lost <= full).all()) and not lacks_many(lengths, full)
    if not is_nearly:
        full = int(negatives.max())
        is_usual = (negatives == full).mean() >= SHARE
        is_nearly = is_usual and not lacks_many(negatives, full)
    if is_nearly and full >= CANDIDATES:
        return SampledCandidates(full, NEARLY_SAMPLED)
    return None


def sample_in_truth(data: LintData) -> SampledCandidates | None:
    """Look for as many items of the truth for each user, or as many that are not
    relevant, of which the lists are the top; a few rows may be missing.
    """
    users = data.users(data.listed)
    judged = data.joined.judged.join(users, on="user", how="semi")
    recs = data.joined.recs.join(users, on="user", how="semi")
    n_items = pl.concat([judged["item"], recs["item"]]).n_unique()
    # What was not relevant and is in no list was put into the truth as a candidate.
    is_negative = pl.col("relevance").cast(pl.Float64) <= 0
    unlisted = judged.join(recs, on=PAIR, how="anti").select(is_negative).to_series()
    n_others = recs.join(judged, on=PAIR, how="anti").height
    if not unlisted.sum() > len(unlisted) / 2 or n_others > MISSING * recs.height:
        return None
    longest = int(data.joined.all_hits.list_length.max())
    for rows in (judged, judged.filter(is_negative)):
        counts = rows.group_by("user").len("size")
        counted = users.join(counts, on="user", how="left")
        sizes = counted["size"].fill_null(0).to_numpy().astype(np.int64)
        full = int(sizes.max(initial=0))
        is_few = max(longest, CANDIDATES) <= full < most_sampled(n_items)
        if is_few and not lacks_many(sizes, full):
            return SampledCandidates(full, SAMPLED_IN_TRUTH)
    return None


def lacks_many(sizes: Ints, full: int) -> bool:
    """Return whether more than a few of as many rows for each user are missing."""
    return bool((full - sizes).sum() > MISSING * full * len(sizes))


def most_sampled(n_items: int) -> float:
    """Return the size below which candidates may be a sample of the items."""
    return min(DEPTH, SHARE * n_items + 1)


def count_found(data: LintData) -> Ints:
    """Count the relevant items of each user that are in the list."""
    found = np.zeros(len(data.hits.truth_user), dtype=bool)
    found[data.hits.truth_row] = True
    return np.bincount(data.hits.truth_user[found], minlength=len(data.listed))


def is_joined(data: LintData) -> bool:
    """Return whether the truth looks like the hits of the lists alone: many lists have
    none, and no relevant item is missing.
    """
    none = data.joined.n_without_relevant
    return ONLY_LISTED in data.joined.notes and none > MANY_ROWS * (
        len(data.joined.users) + none
    )


@check(N_("sampled candidates"))
def sampled_candidates(data: LintData) -> Iterator[Problem]:
    sample = find_sample(data)
    if sample is not None and not is_joined(data):
        yield Problem(
            data.users(data.listed),
            len(data.listed),
            facts={"size": sample.size, "items": data.joined.recs["item"].n_unique()},
            short=sample.words,
            why="Ranking a few of {items:,} items is easier than ranking all. Such a "
            "number is no estimate of the full ranking's, and may order models "
            "otherwise (Krichene and Rendle, 2020).",
            advice="Rank all items of the catalogue except those in train, or report "
            "with the number how candidates were sampled.",
        )


def is_nothing_missed(data: LintData) -> bool:
    """Return whether lists of a part of the items have every relevant item of their
    users, and do not look sampled.
    """
    lists = data.joined
    lost = (data.hits.n_relevant - count_found(data))[data.listed]
    if lost.any() or data.convention.judged != "truth":
        return False
    if data.convention.candidates != "list" or find_sample(data) is not None:
        return False
    return bool(lists.all_hits.list_length.max() < lists.recs["item"].n_unique())


@check(N_("no missed relevant items"))
def nothing_missed(data: LintData) -> Iterator[Problem]:
    n, lists = len(data.hits.truth_user), data.joined
    if ONLY_LISTED in lists.notes or is_nothing_missed(data):
        yield Problem(
            n,
            n,
            short="No relevant item is missing from the lists",
            grave=is_joined(data),
            why="Relevant items that were not recommended are not in the data: recall "
            "of whole lists is 1 for every user.",
            advice="Give the whole truth: in one frame with the lists, a row with a "
            "missing rank for each relevant item that was not recommended.",
        )


@check(N_("weights of few pairs"), needs="propensity")
def heavy_pairs(data: LintData) -> Iterator[Problem]:
    rows = data.joined.truth
    if rows.is_empty():
        return
    falling = np.sort(rows["weight"].to_numpy())[::-1]
    half = int(np.searchsorted(np.cumsum(falling), falling.sum() / 2)) + 1
    if half < max(ENOUGH, MANY_ROWS * rows.height):
        yield Problem(
            rows.filter(rows["weight"] >= falling[half - 1]).select(*PAIR, "weight"),
            rows.height,
            facts={"half": half, "top": falling[0]},
            short="Few relevant pairs carry half of the weight: {half:,} of {of:,}, "
            "each up to {top:.3g}",
            frame="truth",
            why="They count for as much as all others together, so that the number "
            "depends on which of them were seen and are found.",
            advice="Give a least propensity, which trades some bias for less chance, and "
            "report it:",
            repair=Repair(data, min_propensity=float(1 / np.quantile(falling, 0.95))),
        )


@check(N_("clipped propensities"), needs="propensity")
def clipped(data: LintData) -> Iterator[Problem]:
    rows, least, repair = (
        data.joined.truth,
        data.convention.min_propensity,
        Repair(data, min_propensity=None),
    )
    if not least:
        return
    of_full = repair.measured()
    if of_full is None:
        raise NotCheckedError(_("It would take long with so many rows."))
    if abs(of_full[1] - data.measured[1]) >= MOVES:
        yield Problem(
            rows.filter(rows["weight"] >= 1 / least).select(*PAIR),
            rows.height,
            frame="truth",
            facts={"least": least},
            short="Relevant pairs whose propensities are clipped at {least:g}: {n:,} of {of:,}",
            why="Clipping moves the number, towards that without propensities.",
            repair=repair,
            advice="Report the least propensity with the number; to see it without:",
        )


@check(N_("users of whom nothing was seen"), needs="propensity")
def nothing_seen(data: LintData) -> Iterator[Problem]:
    listed = data.source.recs.select("user").unique(maintain_order=True)
    seen = data.joined.truth.select("user")
    unseen = listed.join(seen, on="user", how="anti", maintain_order="left")
    counted = data.users(~np.isnan(data.averaged[0]).ravel())
    why = N_(
        "Weighted precision, cg, dcg and rbp are without bias only if each of these "
        "users counts 0."
    )
    repair = Repair(data, averaged_users="recs", no_relevant="zero")
    yield Problem(
        unseen.join(counted, on="user", how="anti", maintain_order="left"),
        listed.height,
        grave=False,
        short="Users left out since nothing of theirs was seen: {n:,} of {of:,}",
        why=why,
        advice="Let them count 0:",
        repair=repair,
    )
    if data.convention.no_relevant == "one":
        yield Problem(
            unseen.join(counted, on="user", how="semi", maintain_order="left"),
            listed.height,
            grave=False,
            short="Users that count 1, of whom nothing was seen: {n:,} of {of:,}",
            why=why,
            advice="Let them count 0:",
            repair=repair,
        )


@check(N_("users without a list"))
def users_without_list(data: LintData) -> Iterator[Problem]:
    users = data.users(~data.listed)
    if data.convention.judged_only:  # a list that holds no judged item is one
        users = users.join(
            data.source.recs, on="user", how="anti", maintain_order="left"
        )
    why = N_("Each of them counts 0.")
    if data.convention.no_relevant == "one":
        why = N_("Each of them counts 0, or 1 where no item is relevant to the user.")
    if data.metric.missed != "0":
        why = N_("Each of them counts as a list without a hit.")
    yield Problem(
        users,
        len(data.listed),
        short="Users without a list: {n:,} of {of:,}",
        why=why,
        advice="If nothing was to be recommended to them, evaluate those in both frames:",
        repair=Repair(data, averaged_users="both"),
        grave=users.height >= MANY_USERS * len(data.listed),
    )


@check(N_("items seen before"), needs="train")
def seen_in_train(data: LintData) -> Iterator[Problem]:
    repair = Repair(data).match_rows("recs", "train", PAIR, "anti")
    yield Problem(
        repair.left_out,
        data.source.recs.height,
        short="Recommended rows of items that their users had in train: {n:,} of {of:,}",
        why="They take the places of items that are new to their users.",
        repair=repair,
        advice="If what was seen is not to be recommended again, take it out before ranking:",
    )


@check(N_("leakage from train to truth"), needs="train")
def train_in_truth(data: LintData) -> Iterator[Problem]:
    repair = Repair(data).match_rows("truth", "train", PAIR, "anti")
    yield Problem(
        data.relevant_of(repair.left_out),
        data.relevant.height,
        short="Relevant pairs that are in train as well: {n:,} of {of:,}",
        why="These answers were in train, or could not be recommended: the number "
        "measures memory, not prediction.",
        advice="Split again, so that no pair is on both sides:",
        repair=repair,
        frame="truth",
    )


@check(N_("train later than the truth"), needs="train")
def train_after_truth(data: LintData) -> Iterator[Problem]:
    train, (when, until) = data.frame("train"), comparable_times(data)
    first_of_user = (
        data.source.truth.select("user", first=until)
        .group_by("user")
        .agg(pl.col("first").min())
    )
    rows = (
        train.select(PAIR)
        .with_columns(when)
        .join(first_of_user, on="user", maintain_order="left")
    )
    is_late = (pl.col(when.name) > pl.col("first")).fill_null(value=False)
    yield Problem(
        rows.filter(is_late).drop("first"),
        train.height,
        short="Rows of train that are later than a row of the truth of their user: "
        "{n:,} of {of:,}",
        why="The model may have learned from what came after the answers, which "
        "nobody knows when lists are shown.",
        advice="Split again by time, so that all rows of train are before those of "
        "the truth; train and rank anew.",
    )
    yield Problem(
        rows.filter(~is_late, pl.col(when.name) > until.min()).drop("first"),
        train.height,
        short="Rows of train that are later than the first row of the truth, which is "
        "of another user: {n:,} of {of:,}",
        why="The model may have learned what others did later, such as which items "
        "became popular, which nobody knows when the first lists are shown.",
        advice="Split at one time for all users, or report with the number that each "
        "user is split by itself.",
        grave=False,
    )


@check(N_("new relevant items"), needs="train")
def cold_relevant(data: LintData) -> Iterator[Problem]:
    repair = Repair(data).match_rows("truth", "train", ["item"], "semi")
    cold = data.relevant_of(repair.left_out)
    yield Problem(
        cold,
        data.relevant.height,
        short="Relevant pairs of items that are not in train: {n:,} of {of:,}",
        why="A model trained on train alone cannot recommend them.",
        grave=cold.height >= MANY_ROWS * data.relevant.height,
        advice="Report it with the number, or remove such items from the truth for all models:",
        repair=repair,
        frame="truth",
    )


@check(N_("items outside the catalogue"), needs="items")
def outside_items(data: LintData) -> Iterator[Problem]:
    for name in FRAMES[:2]:
        repair = Repair(data).match_rows(name, "items", ["item"], "semi")
        yield Problem(
            repair.left_out.select(PAIR),
            data.frame(name).height,
            short="Rows of `{frame}` whose items are not in the catalogue, `items=`: "
            "{n:,} of {of:,}",
            why="A model that recommends from the catalogue cannot find them, and "
            "coverage may pass 1.",
            advice="Add these items to `items=`; or, if they cannot be had, take them out:",
            repair=repair,
            frame=name,
            facts={"frame": name},
        )
