"""Checks of the truth: what counts as relevant, how much of it there is, and what that lets a metric reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from recnb.data.combined_frame import ONLY_LISTED
from recnb.data.relevance import is_relevant
from recnb.data.validation import repeated
from recnb.display.language import N_, Plural
from recnb.lint.check import Findings, check, found, severity_of, with_option
from recnb.lint.context import LintContext
from recnb.lint.values import Theirs
from recnb.metrics.hits import Hits

#: Highest values of the scales on which people rate.
SCALES = (5.0, 10.0, 100.0)
#: How many users it takes for what all of them share to be no chance.
ENOUGH = 10
#: A candidate set that looks sampled: not smaller than this, and at most such a share of the items.
CANDIDATES, SHARE = 10, 0.5
#: A metric that cannot get above this is worth a word.
LOW_RECALL, LOW_PRECISION = 0.9, 0.5


@check("no_item_meets")
def no_item_meets(looked: LintContext) -> Findings:
    """Lists and truth that have no item in common."""
    if len(looked.items_relevant) == 0 or looked.items_relevant.is_in(looked.items_listed.implode()).any():
        return
    yield found(
        looked, "no_item_meets", "warning", len(looked.items_relevant), len(looked.items_relevant),
        short=N_("None of the {n:,} relevant items is in any list"),
        effect=N_("Every metric is 0."),
        example=N_("Lists hold items such as {listed}, the truth such as {relevant}."),
        advice=N_("Look whether both frames write items in the same way, and the `item=` column."),
        listed=Theirs.of(looked.items_listed[0]), relevant=Theirs.of(looked.items_relevant[0]),
    )  # fmt: skip


@check("perfect")
def perfect(looked: LintContext) -> Findings:
    """Every user at the top of the scale."""
    top = looked.scoring.metric.bounds[1]
    values = looked.values
    if not np.isfinite(top) or len(values) < ENOUGH or not (values >= top - 1e-12).all():
        return
    yield found(
        looked,
        "perfect",
        "warning",
        len(values),
        len(values),
        short=N_("Every one of {n:,} users has the highest possible {label}"),
        effect=N_("{label} is {value:.4f}, which real recommendations do not reach."),
        advice=N_("Look whether the lists were made from the truth."),
    )


@check("ratings")
def ratings(looked: LintContext) -> Findings:
    """Relevance that looks like ratings, of which the bad ones count as relevant as well."""
    convention, truth = looked.convention, looked.source.truth
    if convention.relevant_from is not None or convention.relevant != ">0" or "relevance" not in truth.columns:
        return
    grades = looked.prepared.judged["relevance"]
    low, high = float(grades.min() or 0.0), float(grades.max() or 0.0)  # type: ignore[arg-type]
    if high not in SCALES or low <= 0 or low > 0.5 * high or grades.n_unique() < 3 or (grades * 2 % 1 != 0).any():
        return
    liked = 0.8 * high
    disliked = looked.prepared.judged.filter(pl.col("relevance") < liked)
    worst = looked.prepared.judged.row(int(grades.arg_min() or 0), named=True)
    yield found(
        looked, "ratings", "warning", disliked.height, grades.len(),
        short=N_("Relevance looks like ratings from {low:g} to {high:g}, and all {of:,} rows count as relevant"),
        effect=N_(
            "A hit on what the user disliked is a hit: {n:,} rows are below {liked:g}. {label} is {value:.4f}; with relevance from {liked:g} "
            "it is {other:.4f}."
        ),
        example=N_("User {user} gave item {item} a {low:g} in {column}."),
        advice=N_("Say from which rating on an item was liked:"),
        low=low, high=high, liked=liked,
        other=looked.again(relevant_from=liked), user=Theirs.of(worst["user"]), item=Theirs.of(worst["item"]),
        column=Theirs.of(looked.label_of("relevance", "truth")), code=with_option(looked, f"relevant_from={liked:g}"),
    )  # fmt: skip


@check("alike")
def alike(looked: LintContext) -> Findings:
    """A relevance that is the same everywhere and is not 1."""
    if "relevance" not in looked.source.truth.columns:
        return
    grades = looked.prepared.judged["relevance"]
    if grades[0] == 1 or not (grades == grades[0]).all():
        return
    yield found(
        looked, "alike", "note", grades.len(), grades.len(),
        short=N_("Every relevance is {grade:g}"),
        effect=N_("Grades add nothing: NDCG is that of relevant or not, and CG and DCG are {grade:g} times as large."),
        advice=N_("Look whether {column} is the column that is meant."),
        grade=float(grades[0]),
        column=Theirs.of(looked.label_of("relevance", "truth")),
    )  # fmt: skip


@check("negative_relevance")
def negative_relevance(looked: LintContext) -> Findings:
    """Relevance below 0, under a convention that has a place for it."""
    truth, how = looked.source.truth, looked.convention.negative_relevance
    if how == "error" or "relevance" not in truth.columns:
        return
    below = truth.filter(pl.col("relevance").cast(pl.Float64) < 0)
    if below.height == 0:
        return
    row = below.row(0, named=True)
    yield found(
        looked, "negative_relevance", "warning" if how == "keep" else "note", below.height, truth.height,
        short=Plural(
            "{n:,} row of the truth has a relevance below 0",
            "{n:,} rows of the truth have a relevance below 0",
        ),
        effect={
            "zero": N_("They count as 0, not relevant."),
            "keep": N_("They count as they are: a gain below 0 takes {label} out of its bounds."),
        }[how],
        example=N_("User {user}, item {item}: {grade:g}."),
        advice=N_("Set them to 0, or choose another scale."),
        user=Theirs.of(row["user"]), item=Theirs.of(row["item"]), grade=float(row["relevance"]), )  # fmt: skip


@check("duplicates_in_truth")
def duplicates_in_truth(looked: LintContext) -> Findings:
    """A pair that is judged more than once."""
    if looked.convention.duplicates == "error":
        return
    truth = looked.source.truth
    twice = repeated(truth, ["user", "item"])
    if twice.height == 0:
        return
    user, item, times = twice.row(0)
    whole = repeated(truth, truth.columns)
    yield found(
        looked, "duplicates_in_truth", "note", twice.height, truth.height,
        short=Plural(
            "{n:,} pair of user and item is judged more than once: surplus rows: {extra:,}, pairs repeated as a whole: {exact:,}",
            "{n:,} pairs of user and item are judged more than once: surplus rows: {extra:,}, pairs repeated as a whole: {exact:,}",
        ),
        effect=(
            N_("Each pair counts once, with the highest relevance it was given.")
            if 'relevance' in truth.columns
            else N_("Each pair counts once.")
        ),
        example=N_("User {user}, item {item}: {times:,} rows."),
        advice=N_("Keep the one that is meant."),
        extra=int(twice["len"].sum()) - twice.height,
        exact=whole.height, user=Theirs.of(user), item=Theirs.of(item), times=times,
        )  # fmt: skip


@check("one_relevant_each")
def one_relevant_each(looked: LintContext) -> Findings:
    """Exactly one relevant item for every user."""
    if looked.n_users < 2 or not (looked.n_relevant == 1).all():
        return
    yield found(
        looked,
        "one_relevant_each",
        "note",
        looked.n_users,
        looked.n_users,
        short=N_("Every one of {n:,} users has exactly one relevant item"),
        effect=N_(
            "Several metrics are one: recall is the hit rate, precision the hit rate over k, MAP the MRR. They "
            "do not confirm each other."
        ),
        advice=N_("Report one of them, and NDCG or MRR for the place."),
    )


@check("few_relevant")
def few_relevant(looked: LintContext) -> Findings:
    """So few relevant items that precision cannot get far."""
    if looked.k is None or (looked.n_relevant == 1).all():
        return
    few = looked.n_relevant < looked.k
    most = float((np.minimum(looked.n_relevant, looked.k) / looked.k).mean())
    if most >= LOW_PRECISION:
        return
    user = int(looked.n_relevant.argmin())
    yield found(
        looked, "few_relevant", "note", int(few.sum()), looked.n_users,
        short=Plural(
            "precision@{k} cannot pass {most:.4f}: {n:,} user has fewer than {k:,} relevant items",
            "precision@{k} cannot pass {most:.4f}: {n:,} users have fewer than {k:,} relevant items",
        ),
        effect=N_("Divided by {k:,} places, precision says as much about the truth as about the lists."),
        example=N_("User {user}: {relevant:,} relevant."),
        advice=N_("Recall and NDCG can reach 1, and so can:"),
        most=most, user=looked.user(user),
        relevant=int(looked.n_relevant[user]), code=f'ev.precision(k={looked.k}, out_of="min(k, relevant)")',
    )  # fmt: skip


@check("more_relevant_than_places")
def more_relevant_than_places(looked: LintContext) -> Findings:
    """More relevant items than places, so that recall cannot get far."""
    relevant, depth = looked.n_relevant, looked.depth
    reach = np.divide(np.minimum(relevant, depth), relevant, out=np.ones(len(relevant)), where=relevant > 0)
    most = float(reach[looked.listed].mean()) if looked.listed.any() else 1.0
    many = (relevant > depth) & looked.listed
    if most > LOW_RECALL or not many.any():
        return
    user = int(np.where(looked.listed, relevant, 0).argmax())
    yield found(
        looked, "more_relevant_than_places", "note", int(many.sum()), looked.n_users,
        short=Plural(
            "Recall cannot pass {most:.4f} in {cut}: {n:,} user has more relevant items than places",
            "Recall cannot pass {most:.4f} in {cut}: {n:,} users have more relevant items than places",
        ),
        effect=N_("A perfect list would not reach 1 in recall, F1 or MAP; {most:.4f} is over the users with a list."),
        example=N_("User {user}: {relevant:,} relevant."),
        advice=N_("Take a larger k, or divide by what could be found:"),
        most=most, user=looked.user(user),
        relevant=int(relevant[user]), code="" if looked.k is None else f'ev.recall(k={looked.k}, out_of="min(k, relevant)")',
    )  # fmt: skip


@check("sampled_candidates")
def sampled_candidates(looked: LintContext) -> Findings:
    """A ranking of a few candidates, all relevant items among them, instead of the catalogue."""
    size = _candidates(looked)
    if size is None:
        return
    length, relevant = looked.list_length[looked.listed], looked.n_relevant[looked.listed]
    one = bool((relevant == 1).all())
    how = "one" if one else "equal" if (length == size).all() else "added"
    user = int(looked.listed.argmax())
    chance = _by_chance(looked, size) if one else float((relevant / length).mean())
    yield found(
        looked, "sampled_candidates", "warning", int(looked.listed.sum()), looked.n_users,
        short={
            "one": N_(
                "The candidates look sampled: each of {n:,} lists has {size:,} items, exactly one of them relevant"
            ),
            "equal": N_(
                "The candidates look sampled: each of {n:,} lists has {size:,} items, all the relevant ones among them"
            ),
            "added": N_(
                "The candidates look sampled: each of {n:,} lists has all the relevant items and {size:,} others"
            ),
        }[how],
        effect=(
            N_(
                "Ranking one item among {size:,} of {items:,} is easier than among all: a random order has {label} = {chance:.4f}. Such a "
                "number is no estimate of the full ranking's, and may order models otherwise (Krichene and Rendle, 2020)."
            )
            if one
            else N_(
                "Ranking a few of {items:,} items is easier than ranking all: a random order has a precision of {chance:.4f}. Such a number "
                "is no estimate of the full ranking's, and may order models otherwise (Krichene and Rendle, 2020)."
            )
        ),
        example=N_("User {user}: {length:,} items, {relevant:,} of them relevant."),
        advice=N_(
            "Rank all items of the catalogue but those seen in train, or say beside the number that candidates were sampled, and how."
        ),
        size=size, chance=chance,
        items=len(looked.items_listed), user=looked.user(user), length=int(length[0]), relevant=int(relevant[0]),
        )  # fmt: skip


def _candidates(looked: LintContext) -> int | None:
    """The number of candidates that all users have, or have beside their relevant items; None if it does not look so."""
    length, relevant = looked.list_length[looked.listed], looked.n_relevant[looked.listed]
    if len(length) < ENOUGH or not _all_found(looked):
        return None
    if (length == length[0]).all():
        size = int(length[0])
    elif (length - relevant == length[0] - relevant[0]).all():
        size = int(length[0] - relevant[0])
    else:
        return None
    return size if size >= CANDIDATES and length.max() <= SHARE * len(looked.items_listed) else None


def _all_found(looked: LintContext) -> bool:
    """Whether the lists hold all that is relevant to those who have one."""
    if looked.convention.candidates != "list":
        return False
    if looked.convention.judged == "list":
        # What was not recommended is not seen under this convention, and may well be in the truth.
        recs = looked.prepared.recs
        relevant = looked.prepared.judged.filter(is_relevant(looked.convention))
        return relevant.join(recs, on="user", how="semi").join(recs, on=["user", "item"], how="anti").height == 0
    hits = looked.hits
    found_rows = np.zeros(len(hits.truth_user), dtype=bool)
    found_rows[hits.truth_row] = True
    return bool(found_rows[looked.listed[hits.truth_user]].all())


def _by_chance(looked: LintContext, size: int) -> float:
    """The metric's mean over the places that one relevant item could have among so many."""
    places = np.arange(size)
    one = np.ones(size)
    like = looked.hits
    hits = Hits(
        user=places, rank=places + 1, list_length=np.full(size, size), relevance=one, truth_row=places, truth_user=places,
        truth_relevance=one, max_relevance=like.max_relevance if like.max_relevance > 0 else 1.0,
    )  # fmt: skip
    return looked.measured(hits, replace(looked.convention, no_hit="zero"))[1]


@check("nothing_missed")
def nothing_missed(looked: LintContext) -> Findings:
    """No relevant item that was not recommended: what lists missed is not in the data."""
    complete = ONLY_LISTED in looked.prepared.notes
    whole = int(looked.list_length.max(initial=0)) >= len(looked.items_listed)
    plain = int(looked.listed.sum()) >= ENOUGH and _all_found(looked) and not whole
    if not complete and not (plain and _candidates(looked) is None):
        return
    n = len(looked.hits.truth_user)
    yield found(
        looked,
        "nothing_missed",
        severity_of(0.0, 1.0),
        n,
        n,
        short=N_("No relevant item is missing from the lists"),
        effect=N_(
            "What a recommender did not find is not in the data: recall of whole lists is 1 for everybody, and the ideal list knows nothing "
            "else."
        ),
        advice=(
            N_(
                "Add a row with a missing rank for each relevant item that was not recommended, or give the "
                "truth as a frame of its own."
            )
            if complete
            else N_("Look whether the truth was cut down to what was recommended.")
        ),
    )
