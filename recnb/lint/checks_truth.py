"""Checks of the truth: which items count as relevant, how many there are, and which values a metric can reach."""

from __future__ import annotations

import numpy as np
import polars as pl

from recnb.data.columns import columns_of, plain_name, table_of
from recnb.data.combined_frame import ONLY_LISTED
from recnb.data.relevance import AMOUNTS, relevant_only, zeros_in
from recnb.display.language import N_, Plural
from recnb.lint.check import Findings, check, finding, with_options
from recnb.lint.data import LintData, is_in, pair_at, repeats_in
from recnb.lint.findings import Quoted
from recnb.metrics.hits import Hits

#: Highest values of the scales on which people rate.
SCALES = (5.0, 10.0, 100.0)
#: Ends of the names of columns that are ids or times: 0 is one of them.
ENDS = ("id", "code", "time", "timestamp", "ts", "date", "year", "month", "week", "day", "hour", "minute", "second")
#: The least number of users for which a common property is not taken for chance.
ENOUGH = 10
#: A candidate set that looks sampled: not smaller than this, and at most such a share of the items.
CANDIDATES, SHARE = 10, 0.5
#: With a greater share of users without a relevant item, a truth within the lists is what was found of it.
NO_HIT = 0.1
#: The highest possible value of a metric below which it is reported.
LOW_RECALL, LOW_PRECISION = 0.9, 0.5


@check(N_("lists and truth without an item in common"))
def no_item_meets(data: LintData) -> Findings:
    """Lists and truth that have no item in common."""
    relevant, listed = data.ids_in("relevant", "item"), data.ids_in("lists", "item")
    if len(relevant) == 0 or is_in(relevant, listed).any():
        return
    yield finding(
        data, "warning", len(relevant), len(relevant),
        short="None of the {n:,} relevant items is in any list",
        effect="Every metric is 0.",
        example="Lists hold items such as {listed}, the truth such as {relevant}.",
        advice="Check whether both frames write items in the same way, and the `item=` column.",
        listed=Quoted(listed[0]), relevant=Quoted(relevant[0]),
    )  # fmt: skip


@check(N_("perfect values"))
def perfect(data: LintData) -> Findings:
    """Every user at the top of the scale."""
    top = data.scoring.metric.bounds[1]
    values = data.values
    if not np.isfinite(top) or len(values) < ENOUGH or not (values >= top - 1e-12).all():
        return
    yield finding(
        data,
        "warning",
        len(values),
        len(values),
        short="Every one of {n:,} users has the highest possible {label}",
        effect="{label} is {value:.4f}, which real recommendations do not reach.",
        advice="Check whether the lists were made from the truth.",
    )


@check(N_("relevance that is ratings"))
def ratings(data: LintData) -> Findings:
    """Relevance that looks like ratings, of which the bad ones count as relevant as well."""
    convention, truth = data.convention, data.source.truth
    if convention.relevant_from is not None or convention.relevant != ">0" or "relevance" not in truth.columns:
        return
    grades = data.prepared.judged["relevance"].cast(pl.Float64).to_numpy()
    low, high = float(grades.min(initial=np.inf)), float(grades.max(initial=0.0))
    if high not in SCALES or not 0 < low <= 0.5 * high or len(np.unique(grades)) < 3 or (grades * 2 % 1 != 0).any():
        return
    liked = 0.8 * high
    yield finding(
        data, "warning", int((grades < liked).sum()), len(grades),
        short="Relevance looks like ratings from {low:g} to {high:g}, and all {of:,} rows count as relevant",
        effect="A hit on what the user disliked is a hit: {n:,} rows are below {liked:g}. {label} is {value:.4f}; with relevance from {liked:g} it is {other:.4f}.",
        example="User {user} gave item {item} a {low:g} in {column}.",
        advice="Set the lowest rating that counts as relevant:",
        low=low, high=high, liked=liked,
        other=data.again(relevant_from=liked), **pair_at(data.prepared.judged, int(grades.argmin())),
        column=Quoted(data.label_of("relevance", "truth")), code=with_options(data, relevant_from=liked),
    )  # fmt: skip


@check(N_("a column that looks like relevance and is not used"))
def unused_relevance(data: LintData) -> Findings:
    """Numbers in the truth that say how often or how much, while every pair counts as 1."""
    given = data.side_data.truth
    if given is None or "relevance" in data.source.truth_labels:
        return
    ids = (data.side_data.truth_user, data.side_data.truth_item)
    found: list[tuple[int, str, pl.Series]] = []
    for name in (name for name in columns_of(given, "truth") if name not in ids):
        plain = plain_name(name)
        amounts = table_of(given, "truth", {"relevance": name})["relevance"]
        if not (amounts.dtype.is_numeric() or amounts.dtype == pl.Boolean) or len(amounts) != data.source.truth.height:
            continue
        known, values = plain in AMOUNTS, amounts.n_unique()
        # What differs in each row is a number of the row.
        zeros = zeros_in(amounts) if known or not (plain.endswith(ENDS) or values == len(amounts)) else 0
        if values > 1 and (zeros or known):
            found.append((zeros, name, amounts))
    for zeros, name, amounts in sorted(found, key=lambda one: one[0] == 0)[:1]:
        other = (amounts.cast(pl.Float64) == 0) if zeros else (amounts != amounts.mode()[0])
        row = int(other.fill_null(value=False).to_numpy().argmax())
        yield finding(
            data, "warning" if zeros else "note", zeros or len(amounts), len(amounts),
            short=(
                "Column {column} of the truth is 0 in {n:,} of {of:,} rows, and is not used as relevance"
                if zeros
                else "Column {column} of the truth looks like relevance, and is not used"
            ),
            effect="Each of the {of:,} rows counts as 1. {label} is {value:.4f}; with {column} as relevance it is {other:.4f}.",
            example="User {user}, item {item}: {amount}.",
            advice="If it is how relevant an item is, name it:",
            column=Quoted(name), other=data.again(data.source.truth.with_columns(amounts)), amount=Quoted(amounts[row]),
            **pair_at(data.source.truth, row),
            code=with_options(data, relevance=name),
        )  # fmt: skip


@check(N_("constant relevance"))
def alike(data: LintData) -> Findings:
    """A constant relevance other than 1."""
    if "relevance" not in data.source.truth.columns:
        return
    grades = data.prepared.judged["relevance"]
    if grades[0] == 1 or not (grades == grades[0]).all():
        return
    yield finding(
        data, "note", grades.len(), grades.len(),
        short="Every relevance is {grade:g}",
        effect="Grades add nothing: nDCG is that of relevant or not, and with linear gain CG and DCG are {grade:g} times as large.",
        advice="Check whether {column} is the column that is meant.",
        grade=float(grades[0]),
        column=Quoted(data.label_of("relevance", "truth")),
    )  # fmt: skip


@check(N_("negative relevance"))
def negative_relevance(data: LintData) -> Findings:
    """Relevance below 0, under a convention that has a place for it."""
    truth, how = data.source.truth, data.convention.negative_relevance
    if how == "error" or "relevance" not in truth.columns:
        return
    below = truth.filter(pl.col("relevance").cast(pl.Float64) < 0)
    if below.height == 0:
        return
    yield finding(
        data, "warning" if how == "keep" else "note", below.height, truth.height,
        short=Plural(
            "{n:,} row of the truth has a relevance below 0",
            "{n:,} rows of the truth have a relevance below 0",
        ),
        effect={
            "zero": "They count as 0, not relevant.",
            "keep": "They count as they are: a gain below 0 takes {label} out of its bounds.",
        }[how],
        example="User {user}, item {item}: {grade:g}.",
        advice={
            "zero": "Keep them if they mark what was pooled and not judged: Bpref and infAP count a grade of 0 as judged.",
            "keep": "Set them to 0, or choose another scale.",
        }[how],
        **pair_at(below, 0), grade=float(below["relevance"][0]), )  # fmt: skip


@check(N_("repeated pairs of the truth"))
def duplicates_in_truth(data: LintData) -> Findings:
    """A pair that is judged more than once."""
    if data.convention.duplicates == "error":
        return
    truth = data.source.truth
    repeats = repeats_in(truth)
    if not repeats:
        return
    yield finding(
        data, "note", **repeats, of=truth.height,
        short=Plural(
            "{n:,} pair of user and item is judged more than once: surplus rows: {extra:,}, pairs repeated as a whole: {exact:,}",
            "{n:,} pairs of user and item are judged more than once: surplus rows: {extra:,}, pairs repeated as a whole: {exact:,}",
        ),
        effect=(
            "Each pair counts once, with the highest relevance it was given."
            if "relevance" in truth.columns
            else "Each pair counts once."
        ),
        example="User {user}, item {item}: {times:,} rows.",
        advice="Keep the one that is meant.",
    )  # fmt: skip


@check(N_("one relevant item each"))
def one_relevant_each(data: LintData) -> Findings:
    """Exactly one relevant item for every user."""
    if data.n_users < 2 or not (data.n_relevant == 1).all():
        return
    yield finding(
        data,
        "note",
        data.n_users,
        data.n_users,
        short="Every one of {n:,} users has exactly one relevant item",
        effect="Several metrics coincide: recall is the hit rate, precision the hit rate over k, MAP the MRR.",
        advice="Report one of them, and nDCG or MRR for the place.",
    )


@check(N_("few relevant items"))
def few_relevant(data: LintData) -> Findings:
    """So few relevant items that precision cannot be high."""
    if data.k is None or (data.n_relevant == 1).all():
        return
    few = data.n_relevant < data.k
    most = float((np.minimum(data.n_relevant, data.k) / data.k).mean())
    if most >= LOW_PRECISION:
        return
    user = int(data.n_relevant.argmin())
    yield finding(
        data, "note", int(few.sum()), data.n_users,
        short=Plural(
            "Precision@{k} cannot pass {most:.4f}: {n:,} user has fewer than {k:,} relevant items",
            "Precision@{k} cannot pass {most:.4f}: {n:,} users have fewer than {k:,} relevant items",
        ),
        effect="With the denominator {k:,}, precision depends on the truth as much as on the lists.",
        example="User {user}: {relevant:,} relevant.",
        advice="Recall and nDCG can reach 1, and so can:",
        most=most, user=data.user(user),
        relevant=int(data.n_relevant[user]), code=f'ev.precision(k={data.k}, out_of="min(k, relevant)")',
    )  # fmt: skip


@check(N_("more relevant items than places"))
def more_relevant_than_places(data: LintData) -> Findings:
    """More relevant items than places, so that recall cannot be high."""
    relevant, depth = data.n_relevant, data.depth
    reach = np.divide(np.minimum(relevant, depth), relevant, out=np.ones(len(relevant)), where=relevant > 0)
    most = float(reach[data.listed].mean()) if data.listed.any() else 1.0
    many = (relevant > depth) & data.listed
    if most > LOW_RECALL or not many.any():
        return
    user = int(np.where(data.listed, relevant, 0).argmax())
    yield finding(
        data, "note", int(many.sum()), data.n_users,
        short=Plural(
            "Recall cannot pass {most:.4f} in {cut}: {n:,} user has more relevant items than places",
            "Recall cannot pass {most:.4f} in {cut}: {n:,} users have more relevant items than places",
        ),
        effect="A perfect list would not reach 1 in recall, F1 or MAP; {most:.4f} is over the users with a list.",
        example="User {user}: {relevant:,} relevant.",
        advice="Take a larger k, or divide by what could be found:",
        most=most, user=data.user(user),
        relevant=int(relevant[user]), code="" if data.k is None else f'ev.recall(k={data.k}, out_of="min(k, relevant)")',
    )  # fmt: skip


@check(N_("sampled candidates"))
def sampled_candidates(data: LintData) -> Findings:
    """A ranking of a few candidates, all relevant items among them, instead of the catalogue."""
    size = None if _is_joined(data) else _candidates(data)
    if size is None:
        return
    length, relevant = data.list_length[data.listed], data.n_relevant[data.listed]
    single = bool((relevant == 1).all())
    how = "one" if single else "equal" if (length == size).all() else "added"
    user = int(data.listed.argmax())
    chance = _by_chance(data, size) if single else float((relevant / length).mean())
    yield finding(
        data, "warning", int(data.listed.sum()), data.n_users,
        short={
            "one": "The candidates look sampled: each of {n:,} lists has {size:,} items, exactly one of them relevant",
            "equal": "The candidates look sampled: each of {n:,} lists has {size:,} items, all the relevant ones among them",
            "added": "The candidates look sampled: each of {n:,} lists has all the relevant items and {size:,} others",
        }[how],
        effect=(
            "Ranking one item among {size:,} of {items:,} is easier than among all: a random order has {label} = {chance:.4f}. Such a number is no estimate of the full ranking's, and may order models otherwise (Krichene and Rendle, 2020)."
            if single
            else "Ranking a few of {items:,} items is easier than ranking all: a random order has a precision of {chance:.4f}. Such a number is no estimate of the full ranking's, and may order models otherwise (Krichene and Rendle, 2020)."
        ),
        example="User {user}: {length:,} items, {relevant:,} of them relevant.",
        advice="Rank all items of the catalogue except those in train, or report with the number how candidates were sampled.",
        size=size, chance=chance,
        items=len(data.ids_in("lists", "item")), user=data.user(user), length=int(length[0]), relevant=int(relevant[0]),
        )  # fmt: skip


def _is_joined(data: LintData) -> bool:
    """Whether the truth looks like the hits of the lists alone: many lists have none, and no relevant item is missing."""
    without = data.prepared.n_without_relevant
    return ONLY_LISTED in data.prepared.notes and without > NO_HIT * (data.n_users + without)


def _candidates(data: LintData) -> int | None:
    """The number of candidates that all users have, or have beside their relevant items; None if it does not look so."""
    length, relevant = data.list_length[data.listed], data.n_relevant[data.listed]
    if len(length) < ENOUGH or not _all_found(data):
        return None
    sizes = next((sizes for sizes in (length, length - relevant) if (sizes == sizes[0]).all()), None)
    if sizes is None or sizes[0] < CANDIDATES or length.max() > SHARE * len(data.ids_in("lists", "item")):
        return None
    return int(sizes[0])


def _all_found(data: LintData) -> bool:
    """Whether the lists hold all that is relevant to those who have one."""
    if data.convention.candidates != "list":
        return False
    if data.convention.judged == "list":
        # What was not recommended is not seen under this convention, and may well be in the truth.
        recs = data.prepared.recs
        relevant = relevant_only(data.prepared.judged, data.convention)
        return relevant.join(recs, on="user", how="semi").join(recs, on=["user", "item"], how="anti").height == 0
    hits = data.hits
    found_rows = np.zeros(len(hits.truth_user), dtype=bool)
    found_rows[hits.truth_row] = True
    return bool(found_rows[data.listed[hits.truth_user]].all())


def _by_chance(data: LintData, size: int) -> float:
    """The metric's mean over the places that one relevant item could have among so many."""
    places = np.arange(size)
    ones = np.ones(size)
    top = data.hits.max_relevance
    hits = Hits(
        user=places, rank=places + 1, list_length=np.full(size, size), relevance=ones, truth_row=places, truth_user=places,
        truth_relevance=ones, max_relevance=top if top > 0 else 1.0,
    )  # fmt: skip
    return data.measured(hits, data.convention)[1]


@check(N_("no missed relevant items"))
def nothing_missed(data: LintData) -> Findings:
    """No relevant item that was not recommended: what lists missed is not in the data."""
    complete = ONLY_LISTED in data.prepared.notes
    whole = int(data.list_length.max(initial=0)) >= len(data.ids_in("lists", "item"))
    plain = int(data.listed.sum()) >= ENOUGH and _all_found(data) and not whole
    if not complete and not (plain and _candidates(data) is None):
        return
    n = int(data.n_relevant.sum())
    yield finding(
        data, "warning" if _is_joined(data) else "note", n, n,
        short="No relevant item is missing from the lists",
        effect="Relevant items that were not recommended are not in the data: recall of whole lists is 1 for every user.",
        advice=(
            "Add a row with a missing rank for each relevant item that was not recommended, or give the truth as a frame of its own."
            if complete
            else "Check whether the truth was cut down to what was recommended."
        ),
    )  # fmt: skip
