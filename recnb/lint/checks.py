"""The checks: of ids, of lists, of the truth, and against train and items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from recnb.conventions.convention import PHRASES
from recnb.data.columns import columns_of, plain_name, table_of
from recnb.data.load import ONLY_LISTED
from recnb.data.sheet import in_floats, repeated
from recnb.display.language import N_, _
from recnb.lint.data import FRAMES, PAIR, LintData, find_ties, list_rows
from recnb.lint.findings import Problem, check, quoted_id
from recnb.lint.repair import SPELLINGS, Repair
from recnb.metrics.gain import best_of_all
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import metric_named
from recnb.results.evaluation_data import Scoring

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
LOW = 0.9  #: a share of the highest value of a metric: what cannot pass it is reported
MANY_ROWS, MANY_USERS = (
    0.1,
    0.05,
)  #: shares of relevant rows and of users that make a warning


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
        share = Scoring(data.joined, metric, {}).averaged(Cutoffs.one(data.k))[1].item()
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
    if data.convention.order != "score":
        return
    recs, score = data.source.recs, in_floats(data.source.recs["score"])
    same_user = (recs["user"].head(-1) == recs["user"].tail(-1)).to_numpy()
    if same_user.sum() >= ENOUGH and (score[1:] > score[:-1])[same_user].all():
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
    lengths, n_lists = data.joined.all_hits.list_length, int(data.listed.sum())
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
    values = np.nan_to_num(data.averaged[0])
    if len(values) >= ENOUGH and (values >= data.metric.bounds[1] - 1e-12).all():
        yield Problem(
            len(values),
            len(values),
            short="Every one of {n:,} users has the highest possible {label}",
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
    top = data.metric.bounds[1]
    n_relevant = np.bincount(data.hits.truth_user, minlength=len(data.listed))
    values, most = data.values_of(
        replace(best_of_all(data.hits, data.gain), list_length=n_relevant)
    )
    known = data.asked_k is not None and data.convention.judged == "truth"
    if known and most > 0 and data.measured[1] <= most < LOW * top < np.inf:
        yield Problem(
            data.users(values < top - 1e-12),
            len(values),
            short="{label} cannot pass {most:.4f}: {n:,} of {of:,} users cannot reach {top:g}",
            why="Lists of all relevant items and of nothing else have this value: the "
            "truth and the cut-off decide as much as the lists.",
            advice="Take another cut-off, or divide by what could be found, "
            "`out_of='min(k, relevant)'`.",
            grave=False,
            facts={"most": most, "top": top},
        )


def count_candidates(data: LintData) -> int | None:
    """Count the candidates of each list, 0 if they do not look sampled; None if
    something relevant is in no list.
    """
    listed, found = data.listed, np.zeros(len(data.hits.truth_user), dtype=bool)
    found[data.hits.truth_row] = True
    known = (
        data.convention.candidates == "list"
        and data.convention.judged == "truth"
        and listed.sum() >= ENOUGH
    )
    if not known or not found[listed[data.hits.truth_user]].all():
        return None
    lengths = data.joined.all_hits.list_length[listed]
    sizes = [
        sizes[0]
        for sizes in (lengths, lengths - data.hits.n_relevant[listed])
        if (sizes == sizes[0]).all()
    ]
    few = lengths.max() < min(DEPTH, SHARE * data.joined.recs["item"].n_unique() + 1)
    return int(sizes[0]) if sizes and few and sizes[0] >= CANDIDATES else 0


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
    if (size := count_candidates(data)) and not is_joined(data):
        yield Problem(
            data.users(data.listed),
            len(data.listed),
            facts={"size": size, "items": data.joined.recs["item"].n_unique()},
            short="The candidates look sampled: each of {n:,} lists has all the "
            "relevant items, among {size:,} items or beside as many",
            why="Ranking a few of {items:,} items is easier than ranking all. Such a "
            "number is no estimate of the full ranking's, and may order models "
            "otherwise (Krichene and Rendle, 2020).",
            advice="Rank all items of the catalogue except those in train, or report "
            "with the number how candidates were sampled.",
        )


@check(N_("no missed relevant items"))
def nothing_missed(data: LintData) -> Iterator[Problem]:
    n, lists, from_lists = (
        len(data.hits.truth_user),
        data.joined,
        ONLY_LISTED in data.joined.notes,
    )
    if from_lists or (
        count_candidates(data) == 0
        and lists.all_hits.list_length.max() < lists.recs["item"].n_unique()
    ):
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
            why="The number follows from these pairs, and moves with each of them.",
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
    of_full = repair.measured() if least else None
    if least and of_full is not None and abs(of_full[1] - data.measured[1]) >= MOVES:
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
    listed, seen = (
        data.source.recs.select("user").unique(maintain_order=True),
        data.joined.truth.select("user"),
    )
    if data.convention.no_relevant != "zero" or data.convention.averaged_users not in (
        "recs",
        "union",
    ):
        yield Problem(
            listed.join(seen, on="user", how="anti", maintain_order="left"),
            listed.height,
            grave=False,
            short="Users left out since nothing of theirs was seen: {n:,} of {of:,}",
            why="Weighted precision, cg, dcg and rbp are without bias only if each of "
            "these users counts 0.",
            advice="Let them count 0:",
            repair=Repair(data, averaged_users="recs", no_relevant="zero"),
        )


@check(N_("users without a list"))
def users_without_list(data: LintData) -> Iterator[Problem]:
    users = data.users(~data.listed)
    yield Problem(
        users,
        len(data.listed),
        short="Users without a list: {n:,} of {of:,}",
        why="Each of them counts 0.",
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
    train, truth, times = data.frame("train"), data.source.truth, data.times
    if [*map(len, times)] == [train.height, truth.height]:
        first = (
            truth.select("user", first=times[1])
            .group_by("user")
            .agg(pl.col("first").min())
        )
        rows = (
            train.select(PAIR)
            .with_columns(times[0])
            .join(first, on="user", maintain_order="left")
        )
        yield Problem(
            rows.filter(pl.col(times[0].name) > pl.col("first")).drop("first"),
            train.height,
            short="Rows of train that are later than a row of the truth of their user: "
            "{n:,} of {of:,}",
            why="The model may have learned from what came after the answers, which "
            "nobody knows when lists are shown.",
            advice="Split again by time, so that all rows of train are before those of "
            "the truth; train and rank anew.",
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
