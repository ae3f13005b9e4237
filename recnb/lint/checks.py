"""The checks: of ids, of lists, of the truth, and against train and items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from recnb.data.columns import columns_of, plain_name, table_of
from recnb.data.forms import ONLY_LISTED
from recnb.data.relevance import AMOUNTS, zeros_in
from recnb.data.validation import in_floats, repeated
from recnb.display.language import N_, _
from recnb.lint.check import Problem, check
from recnb.lint.data import FRAMES, PAIR, LintData
from recnb.lint.findings import Quoted
from recnb.lint.repair import SPELLINGS, FrameChange, Repair, against, closed_up, once, spelled, turned, without
from recnb.lint.ties import ties_of

#: Text that programs write for missing values, in lower case.
NOTHING = ("", "nan", "none", "null", "nat", "<na>", "n/a", "undefined")
#: Numbers that programs write for missing scores, and the least size that is too large for a score.
FILLERS, HUGE = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0), 1e30
#: A mean that ties could move by so much shows in its third digit.
MOVES = 0.0005
#: Highest values of the scales on which people rate.
SCALES = (5.0, 10.0, 100.0)
#: Ends of the names of columns that are ids or times: 0 is one of them.
ENDS = ("id", "code", "time", "timestamp", "ts", "date", "year", "month", "week", "day", "hour", "minute", "second")
#: The least number of users, or of places, for which a common property is not taken for chance.
ENOUGH = 10
#: Candidates that look sampled: no fewer than this, and at most such a share of the items.
CANDIDATES, SHARE = 10, 0.5
#: With a greater share of users without a relevant item, a truth within the lists is what was found of it.
NO_HIT = 0.1
#: A share of the highest value of a metric: what cannot pass it is reported.
LOW = 0.9
#: Least shares of relevant rows and of users for a warning.
MANY_ROWS, MANY_USERS = 0.1, 0.05

# ---- ids


def spellings(data: LintData, role: str, way: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Find the ids of each other frame that no list has, and would have if ids were written in this way, beside those of lists."""
    listed, change = data.ids("recs", role), SPELLINGS[way][0](pl.col("plain"))
    for frame in FRAMES[1:] if listed.dtype == pl.String else ():
        if len(lost := data.unlisted(frame, role)):
            known = pl.DataFrame({"listed": listed, "plain": listed}).with_columns(change).filter(pl.col("plain") != "")
            odd = pl.DataFrame({role: lost, "plain": lost}).with_columns(change)
            odd = odd.join(known.unique("plain", keep="first"), on="plain", maintain_order="left").drop("plain")
            yield from [(frame, odd)] if odd.height else []


@check(N_("ids written otherwise"))
def ids_written_otherwise(data: LintData) -> Iterator[Problem]:
    """Users or items that no list has, and would have if ids were written in one way."""
    for role, way, found in ((role, way, dict(spellings(data, role, way))) for role in PAIR for way in SPELLINGS):
        if not found:
            continue
        steps: list[FrameChange] = []
        for frame in (frame for frame in data.given if len(data.ids(frame, role))):
            ids, step = data.ids(frame, role), spelled(data, frame, role, way)
            plain = step.change(ids.to_frame(role))[role]
            steps += [step] if (plain != ids).any() else []
            merged = frame in FRAMES[:2] and plain.n_unique() < len(ids)
            if merged and step.change(data.frame(frame)).select(PAIR).is_duplicated().any():
                steps += [once(data, frame), *closed_up(data, frame)]
        odd = pl.concat(found.values())
        yield Problem(
            odd.select(role).unique(maintain_order=True), sum(len(data.ids(frame, role)) for frame in found),
            short={
                "user": "Users in {frames} that no list has, and that would have one but for {how}: {n:,} of {of:,}",
                "item": "Items in {frames} that no list has, and that would be in one but for {how}: {n:,} of {of:,}",
            }[role],
            why="They count as other ids, and match no recommended row; lists have {listed}.",
            advice="If they mean the same, write ids in one way in all frames:", repair=Repair(steps),
            facts={"frames": ", ".join(found), "how": _(way), "listed": Quoted(odd["listed"][0])},
        )  # fmt: skip


@check(N_("missing ids as text"))
def missing_ids(data: LintData) -> Iterator[Problem]:
    """Missing ids that became text: "nan" of one frame meets "nan" of the other."""
    for role in PAIR:
        ids = {name: data.ids(name, role) for name in FRAMES[:2] if data.ids(name, role).dtype == pl.String}
        odd = {name: each.filter(each.str.strip_chars().str.to_lowercase().is_in(NOTHING)).to_list() for name, each in ids.items()}  # fmt: skip
        words = {name: each for name, each in odd.items() if each}
        rows = [data.frame(name).filter(pl.col(role).is_in(each)).select(PAIR) for name, each in words.items()]
        steps = [without(data, name, role, each) for name, each in words.items()]
        yield Problem(
            pl.concat(rows) if rows else 0, data.source.recs.height + data.source.truth.height,
            short={
                "user": "Rows with a word for a missing value as their user: {n:,} of {of:,}",
                "item": "Rows with a word for a missing value as their item: {n:,} of {of:,}",
            }[role],
            why="One missing value is not the other, and these count as one id.",
            advice="If these ids are missing, leave their rows out:", repair=Repair([*steps, *closed_up(data)] if "recs" in words else steps), grave=len(words) > 1,
        )  # fmt: skip


@check(N_("lists and truth without an item in common"))
def no_item_meets(data: LintData) -> Iterator[Problem]:
    """Lists and truth that have no item in common, however ids are written."""
    relevant, listed = data.relevant.select("item").unique(maintain_order=True), data.ids("recs", "item")
    meets = relevant["item"].is_in(listed.implode()).any()
    if not meets and not any(frame == "truth" for way in SPELLINGS for frame, _ids in spellings(data, "item", way)):
        yield Problem(
            relevant, relevant.height, short="Relevant items that are in no list: {n:,} of {of:,}",
            why="Every metric of hits is 0, whatever the model does; lists hold items such as {listed}.",
            advice="Check whether both frames write items in the same way, and the `item=` column.",
            frame="truth", facts={"listed": Quoted(listed[0])},
        )  # fmt: skip


# ---- lists


@check(N_("repeated pairs"))
def duplicates(data: LintData) -> Iterator[Problem]:
    """Pairs that are recommended or judged more than once, under a convention that has a rule for them."""
    rule = data.convention.duplicates
    for name, frame in ((name, data.frame(name)) for name in FRAMES[:2] if rule != "error"):
        pairs = repeated(frame, PAIR).rename({"len": "rows"})
        yield Problem(
            pairs, frame.height,
            short={
                "recs": "Pairs of user and item that are recommended more than once: {n:,}, in {rows:,} of {of:,} rows",
                "truth": "Pairs of user and item that are judged more than once: {n:,}, in {rows:,} of {of:,} rows",
            }[name],
            why={
                "dedupe": "Each pair counts once: at its highest place, with its highest relevance.",
                "keep": "A repeated hit counts again, so metrics may exceed 1.",
                "rows": "Each repeat is another hit and another relevant item.",
                "hit_once": "A repeat takes a rank and cannot be a hit.",
            }[rule],
            advice="Keep each pair once:", repair=Repair([once(data, name), *closed_up(data, name)]), grave=rule != "dedupe",
            frame=name, facts={"rows": pairs["rows"].sum()},
        )  # fmt: skip


@check(N_("equal scores"))
def ties(data: LintData) -> Iterator[Problem]:
    """Equal scores, whose order is arbitrary."""
    if (tied := ties_of(data)) is None:
        return
    bounded, by_rank = np.isfinite(tied.upper), data.convention.order == "rank"
    yield Problem(
        tied.first, len(tied.low),
        short="Users for whom equal scores decide: {n:,} of {of:,}; {label} is anything from {lower:.4f} to {upper:.4f}" if bounded else "Users with equal scores of items of different relevance: {n:,} of {of:,}",
        why=(
            "All scores of each list are equal, so the number follows from the order of the rows: if that is the order of rank, give the places as ranks."
            if tied.constant
            else "The number is of one order among many." if bounded else "Under this convention the bounds over all orders are not known."
        ),
        advice="The ranks settled what the scores leave open. To average over all orders:" if by_rank else "Give scores that differ, or average over all orders:",
        repair=Repair(conventions={"order": "score", "ties": "expected"} if by_rank else {"ties": "expected"}),
        grave=not tied.upper - tied.lower < MOVES, facts={"lower": tied.lower, "upper": tied.upper},
    )  # fmt: skip


@check(N_("ranks against scores"))
def rank_against_score(data: LintData) -> Iterator[Problem]:
    """Lists whose order disagrees with the scores."""
    rows = data.rows if data.convention.order in ("rank", "row") and "score" in data.prepared.rows.columns else None
    if rows is not None:
        rises = rows.row[1:][rows.same_user & (rows.score[1:] > rows.score[:-1])]
        yield Problem(
            data.prepared.recs[rises], int(rows.same_user.sum()),
            short="Rows with a higher score than the row above: {n:,} of {of:,}",
            why="The ranks, or the rows, are followed, and not the scores.",
            advice="If the score is what ranks the items (a reranker keeps the scores of the stage before):",
            repair=Repair(conventions={"order": "score"}),
        )  # fmt: skip


@check(N_("lists upside down"))
def upside_down(data: LintData) -> Iterator[Problem]:
    """Rows from the lowest score to the highest: a distance or a rank that was taken for a score."""
    if data.convention.order != "score":
        return
    recs = data.source.recs
    runs, score = recs["user"].rle_id().to_numpy(), in_floats(recs["score"])
    neighbours = runs[1:] == runs[:-1]
    if neighbours.sum() >= ENOUGH and (score[1:] > score[:-1])[neighbours].all():
        yield Problem(
            recs, recs.height, short="The rows of every list run from the lowest score to the highest: the lists may be upside down",
            why="The highest score is taken for the top.",
            advice="If {column} is a rank, name it so, `rank=`; if it is a distance, turn it:",
            repair=Repair([turned(data)]), facts={"column": Quoted(data.source.labels["score"])},
        )  # fmt: skip


@check(N_("rows without a score"))
def filler_score(data: LintData) -> Iterator[Problem]:
    """Scores far from all others, such as -999, which were filled in for missing ones."""
    recs = data.source.recs if data.convention.order == "score" else pl.DataFrame()
    score = recs["score"].cast(pl.Float64).to_numpy() if recs.height else np.zeros(1)
    for filler in (float(score.min()), float(score.max())):
        rest = score[score != filler] if filler in FILLERS or abs(filler) >= HUGE else score[:0]
        if len(rest) == 0 or len(score) - len(rest) < 2:
            continue
        low, high = float(rest.min()), float(rest.max())
        if min(abs(filler - low), abs(filler - high)) > 2 * (high - low) or filler < 0 <= low:
            rows = recs[np.flatnonzero(score == filler)]
            yield Problem(
                rows, recs.height, short="Rows with the score {filler:g}, far from all others: {n:,} of {of:,}; filled in where there was none?",
                why="The other scores run from {low:g} to {high:g}.",
                advice="If these items were not recommended, take the rows out:",
                repair=Repair([without(data, "recs", "score", [rows["score"][0]])]), facts={"filler": filler, "low": low, "high": high},
            )  # fmt: skip


@check(N_("short lists"))
def short_lists(data: LintData) -> Iterator[Problem]:
    """Lists that end above the cut-off."""
    lengths = data.prepared.list_length
    short = data.of_users(data.listed & (lengths < (data.k or 0)))
    every = 0 < short.height == data.listed.sum()
    yield Problem(
        short, int(data.listed.sum()),
        short="No list reaches rank {k:,}: the longest ends at {longest:,}" if every else "Lists that end above rank {k:,}: {n:,} of {of:,}",
        why="There is no hit below the end of a list.",
        advice="Recommend at least {k:,} items, or use a smaller cut-off:" if every else "Recommend at least {k:,} items, or use a smaller cut-off.",
        repair=Repair(of_metric={"k": int(lengths.max())}) if every else None, grave=every, facts={"longest": int(lengths.max(initial=0))},
    )  # fmt: skip


@check(N_("empty places"))
def rank_gaps(data: LintData) -> Iterator[Problem]:
    """Ranks that leave places empty."""
    if data.prepared.has_gaps:
        evaluated = data.prepared.recs.filter(pl.col("user").is_in(data.prepared.users.implode()))
        lists = evaluated.group_by("user").agg(pl.col("rank").max(), rows=pl.len(), first=pl.col("rank").min())
        late = bool((lists["first"] > 1).all())
        yield Problem(
            lists.filter(pl.col("rank") != pl.col("rows")).select("user", "rank", "rows"), lists.height,
            short="No list begins at rank 1: {n:,} of {of:,} leave places empty" if late else "Lists whose ranks leave places empty: {n:,} of {of:,}",
            why="Ranks are used as given: an empty place counts as a miss, and items below it are discounted accordingly.",
            advice="If these places were not used, close the gaps:", repair=Repair(closed_up(data)), grave=late,
        )  # fmt: skip


# ---- the truth


@check(N_("perfect values"))
def perfect(data: LintData) -> Iterator[Problem]:
    """Every user at the top of the scale."""
    values = np.nan_to_num(data.averaged[0])
    if len(values) >= ENOUGH and (values >= data.metric.bounds[1] - 1e-12).all():
        yield Problem(
            len(values), len(values), short="Every one of {n:,} users has the highest possible {label}",
            why="{label} is {value:.4f}, which real recommendations do not reach.",
            advice="Check whether the lists were made from the truth.",
        )  # fmt: skip


@check(N_("relevance that is ratings"))
def ratings(data: LintData) -> Iterator[Problem]:
    """Relevance that looks like ratings, of which the bad ones count as relevant as well."""
    plain = data.convention.relevant_from is None and data.convention.relevant == ">0"
    graded = plain and "relevance" in data.source.truth_labels
    grades = data.prepared.judged["relevance"].cast(pl.Float64) if graded else pl.Series([0.0])
    low, high = float(grades.to_numpy().min()), float(grades.to_numpy().max())
    if high in SCALES and 0 < low <= 0.5 * high and (grades * 2 % 1 == 0).all() and grades.n_unique() > 2:
        liked = int(0.8 * high)
        yield Problem(
            data.source.truth.filter(pl.col("relevance").cast(pl.Float64) < liked), len(grades),
            short="Relevance looks like ratings from {low:g} to {high:g}, and all {of:,} rows count as relevant",
            why="A hit on what the user disliked is a hit; rows below {liked}: {n:,}.",
            advice="Set the lowest rating that counts as relevant:",
            repair=Repair(conventions={"relevant_from": liked}), frame="truth", facts={"low": low, "high": high, "liked": liked},
        )  # fmt: skip


@check(N_("a column that looks like relevance and is not used"))
def unused_relevance(data: LintData) -> Iterator[Problem]:
    """Numbers in the truth that say how often or how much, while every pair counts as 1."""
    given, truth, labels = data.side.truth, data.source.truth, data.source.truth_labels
    names = [] if given is None or "relevance" in labels else columns_of(given, "truth")
    for name in (name for name in names if name not in labels.values()):
        amounts = table_of(given, "truth", {"relevance": name})["relevance"]
        if not (amounts.dtype.is_numeric() or amounts.dtype == pl.Boolean) or len(amounts) != truth.height:
            continue
        kinds, known = amounts.n_unique(), plain_name(name) in AMOUNTS
        # What differs in each row is a number of the row.
        zeros = zeros_in(amounts) if known or not (plain_name(name).endswith(ENDS) or kinds == len(amounts)) else 0
        if kinds > 1 and (zeros or known):
            rows = truth.select(*PAIR, amounts.alias(name))
            yield Problem(
                rows.filter(pl.col(name).cast(pl.Float64) == 0) if zeros else rows, len(amounts),
                short="Column {column} of the truth is not used as relevance; it is 0 in {n:,} of {of:,} rows" if zeros else "Column {column} of the truth looks like relevance, and is not used",
                why="Each of the {of:,} rows counts as 1.", advice="If it is how relevant an item is, name it:",
                repair=Repair([FrameChange("truth", partial(pl.DataFrame.hstack, columns=[amounts]), None)], columns={"relevance": name}),
                grave=zeros > 0, facts={"column": Quoted(name)},
            )  # fmt: skip
            return


@check(N_("a value that cannot be passed"))
def ceiling(data: LintData) -> Iterator[Problem]:
    """The value that the best lists could reach with this truth, if it is far below that of the metric."""
    top = data.metric.bounds[1]
    n_relevant = np.bincount(data.hits.truth_user, minlength=len(data.listed))
    values, most = data.of_hits(replace(data.hits.ideal, list_length=n_relevant))
    known = data.asked_k is not None and data.convention.judged == "truth"
    if known and most > 0 and data.own[1] <= most < LOW * top < np.inf:
        yield Problem(
            data.of_users(values < top - 1e-12), len(values), short="{label} cannot pass {most:.4f}: {n:,} of {of:,} users cannot reach {top:g}",
            why="Lists of all relevant items and of nothing else have this value: the truth and the cut-off decide as much as the lists.",
            advice="Take another cut-off, or divide by what could be found:",
            repair=Repair(of_metric={"out_of": "min(k, relevant)"}), grave=False, facts={"most": most, "top": top},
        )  # fmt: skip


def candidates_of(data: LintData) -> tuple[bool, int]:
    """Return whether the lists hold all that is relevant to those who have one; and how many candidates, 0 if they do not look sampled."""
    users, found = np.flatnonzero(data.listed), np.zeros(len(data.hits.truth_user), dtype=bool)
    found[data.hits.truth_row] = True
    known = data.convention.candidates == "list" and data.convention.judged == "truth" and len(users) >= ENOUGH
    if not known or not found[data.listed[data.hits.truth_user]].all():
        return False, 0
    lengths = data.prepared.list_length[users]
    sizes = [sizes for sizes in (lengths, lengths - data.hits.n_relevant[users]) if (sizes == sizes[0]).all()]
    few = lengths.max() <= SHARE * data.prepared.recs["item"].n_unique()
    return True, int(sizes[0][0]) if sizes and few and sizes[0][0] >= CANDIDATES else 0


def is_joined(data: LintData) -> bool:
    """Return whether the truth looks like the hits of the lists alone: many lists have none, and no relevant item is missing."""
    none = data.prepared.n_without_relevant
    return ONLY_LISTED in data.prepared.notes and none > NO_HIT * (len(data.prepared.users) + none)


@check(N_("sampled candidates"))
def sampled_candidates(data: LintData) -> Iterator[Problem]:
    """A ranking of a few candidates, all relevant items among them, instead of the catalogue."""
    _all, size = candidates_of(data)
    if size and not is_joined(data):
        beside = (data.prepared.list_length[data.listed] != size).any()
        yield Problem(
            data.of_users(data.listed), len(data.listed),
            short="The candidates look sampled: each of {n:,} lists has all the relevant items and {size:,} others" if beside else "The candidates look sampled: each of {n:,} lists has {size:,} items, all the relevant ones among them",
            why="Ranking a few of {items:,} items is easier than ranking all. Such a number is no estimate of the full ranking's, and may order models otherwise (Krichene and Rendle, 2020).",
            advice="Rank all items of the catalogue except those in train, or report with the number how candidates were sampled.",
            facts={"size": size, "items": data.prepared.recs["item"].n_unique()},
        )  # fmt: skip


@check(N_("no missed relevant items"))
def nothing_missed(data: LintData) -> Iterator[Problem]:
    """No relevant item that was not recommended: what lists missed is not in the data."""
    complete = ONLY_LISTED in data.prepared.notes
    found, size = (False, 0) if complete else candidates_of(data)
    if complete or (found and not size and data.prepared.list_length.max() < data.prepared.recs["item"].n_unique()):
        yield Problem(
            len(data.hits.truth_user), len(data.hits.truth_user), short="No relevant item is missing from the lists",
            why="Relevant items that were not recommended are not in the data: recall of whole lists is 1 for every user.",
            advice="Add a row with a missing rank for each relevant item that was not recommended, or give the truth as a frame of its own." if complete else "Check whether the truth was cut down to what was recommended.",
            grave=is_joined(data),
        )  # fmt: skip


# ---- users, train and items


@check(N_("users without a list"))
def users_without_list(data: LintData) -> Iterator[Problem]:
    """Evaluated users without a list."""
    users = data.of_users(~data.listed)
    yield Problem(
        users, len(data.listed), short="Users without a list: {n:,} of {of:,}",
        why="Each of them counts 0.",
        advice="If nothing was to be recommended to them, evaluate those in both frames:",
        repair=Repair(conventions={"averaged_users": "both"}), grave=users.height >= MANY_USERS * len(data.listed),
    )  # fmt: skip


@check(N_("items seen before"), needs="train")
def seen_in_train(data: LintData) -> Iterator[Problem]:
    """Recommended items that are in train for their users."""
    seen, change = against(data, "recs", "train", PAIR, "anti")
    yield Problem(
        seen, data.source.recs.height, short="Recommended rows of items that their users had in train: {n:,} of {of:,}",
        why="They take the places of items that are new to their users.",
        advice="If what was seen is not to be recommended again, take it out before ranking:", repair=Repair([change, *closed_up(data)]),
    )  # fmt: skip


@check(N_("leakage from train to truth"), needs="train")
def train_in_truth(data: LintData) -> Iterator[Problem]:
    """Pairs that are in train and in the truth: leakage."""
    pairs, change = against(data, "truth", "train", PAIR, "anti")
    leaked = data.relevant.select(PAIR).join(pairs, on=PAIR, how="semi", maintain_order="left")
    yield Problem(
        leaked, data.relevant.height, short="Relevant pairs that are in train as well: {n:,} of {of:,}",
        why="All answers were in train: the number measures memory, not prediction." if leaked.height == data.relevant.height else "These answers were in train, or could not be recommended.",
        advice="Split again, so that no pair is on both sides:", repair=Repair([change]), frame="truth",
    )  # fmt: skip


@check(N_("new relevant items"), needs="train")
def cold_relevant(data: LintData) -> Iterator[Problem]:
    """Relevant items that are not in train."""
    pairs, change = against(data, "truth", "train", ["item"], "semi")
    cold = data.relevant.select(PAIR).join(pairs, on=PAIR, how="semi", maintain_order="left")
    yield Problem(
        cold, data.relevant.height, short="Relevant pairs of items that are not in train: {n:,} of {of:,}",
        why="A model trained on train alone cannot recommend them.",
        advice="Report it with the number, or remove such items from the truth for all models:",
        repair=Repair([change]), frame="truth", grave=cold.height >= MANY_ROWS * data.relevant.height,
    )  # fmt: skip


@check(N_("items outside the catalogue"), needs="items")
def outside_items(data: LintData) -> Iterator[Problem]:
    """Recommended or judged items that have no row in the frame of items."""
    for name in FRAMES[:2]:
        outside, change = against(data, name, "items", ["item"], "semi")
        yield Problem(
            outside.select(PAIR), data.frame(name).height,
            short={
                "recs": "Recommended rows of items that are not in the catalogue, `items=`: {n:,} of {of:,}",
                "truth": "Rows of the truth whose items are not in the catalogue, `items=`: {n:,} of {of:,}",
            }[name],
            why={"recs": "Coverage may pass 1.", "truth": "A model that recommends from the catalogue cannot find them."}[name],
            advice="Add these items to `items=`; or, if they cannot be had, take them out:",
            repair=Repair([change, *closed_up(data, name)]), frame=name,
        )  # fmt: skip
