"""Checks of the truth: what counts as relevant, how much of it there is, and what that lets a metric reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from recnb.frames.check import repeated
from recnb.frames.relevant import is_relevant
from recnb.frames.single import ONLY_LISTED
from recnb.hits import Hits
from recnb.lint.check import Findings, check, found, severity_of, with_option
from recnb.lint.looked import Looked
from recnb.results.lint_words import Theirs

#: Highest values of the scales on which people rate.
SCALES = (5.0, 10.0, 100.0)
#: How many users it takes for what all of them share to be no chance.
ENOUGH = 10
#: A candidate set that looks sampled: not smaller than this, and at most such a share of the items.
CANDIDATES, SHARE = 10, 0.5
#: A metric that cannot get above this is worth a word.
LOW_RECALL, LOW_PRECISION = 0.9, 0.5


@check("no_item_meets")
def no_item_meets(looked: Looked) -> Findings:
    """Lists and truth that have no item in common."""
    if len(looked.items_relevant) == 0 or looked.items_relevant.is_in(looked.items_listed.implode()).any():
        return
    yield found(
        looked, "no_item_meets", "warning", len(looked.items_relevant), len(looked.items_relevant),
        listed=Theirs.of(looked.items_listed[0]), relevant=Theirs.of(looked.items_relevant[0]),
    )  # fmt: skip


@check("perfect")
def perfect(looked: Looked) -> Findings:
    """Every user at the top of the scale."""
    top = looked.scoring.metric.bounds[1]
    values = looked.values
    if not np.isfinite(top) or len(values) < ENOUGH or not (values >= top - 1e-12).all():
        return
    yield found(looked, "perfect", "warning", len(values), len(values))


@check("ratings")
def ratings(looked: Looked) -> Findings:
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
        looked, "ratings", "warning", disliked.height, grades.len(), low=low, high=high, liked=liked,
        other=looked.again(relevant_from=liked), user=Theirs.of(worst["user"]), item=Theirs.of(worst["item"]),
        column=Theirs.of(looked.label_of("relevance", "truth")), code=with_option(looked, f"relevant_from={liked:g}"),
    )  # fmt: skip


@check("alike")
def alike(looked: Looked) -> Findings:
    """A relevance that is the same everywhere and is not 1."""
    if "relevance" not in looked.source.truth.columns:
        return
    grades = looked.prepared.judged["relevance"]
    if grades[0] == 1 or not (grades == grades[0]).all():
        return
    yield found(
        looked, "alike", "note", grades.len(), grades.len(), grade=float(grades[0]),
        column=Theirs.of(looked.label_of("relevance", "truth")),
    )  # fmt: skip


@check("negative_relevance")
def negative_relevance(looked: Looked) -> Findings:
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
        user=Theirs.of(row["user"]), item=Theirs.of(row["item"]), grade=float(row["relevance"]), variant={"effect": how},
    )  # fmt: skip


@check("duplicates_in_truth")
def duplicates_in_truth(looked: Looked) -> Findings:
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
        looked, "duplicates_in_truth", "note", twice.height, truth.height, extra=int(twice["len"].sum()) - twice.height,
        exact=whole.height, user=Theirs.of(user), item=Theirs.of(item), times=times,
        variant={"effect": "graded" if "relevance" in truth.columns else "plain"},
    )  # fmt: skip


@check("one_relevant_each")
def one_relevant_each(looked: Looked) -> Findings:
    """Exactly one relevant item for every user."""
    if looked.n_users < 2 or not (looked.n_relevant == 1).all():
        return
    yield found(looked, "one_relevant_each", "note", looked.n_users, looked.n_users)


@check("few_relevant")
def few_relevant(looked: Looked) -> Findings:
    """So few relevant items that precision cannot get far."""
    if looked.k is None or (looked.n_relevant == 1).all():
        return
    few = looked.n_relevant < looked.k
    most = float((np.minimum(looked.n_relevant, looked.k) / looked.k).mean())
    if most >= LOW_PRECISION:
        return
    user = int(looked.n_relevant.argmin())
    yield found(
        looked, "few_relevant", "note", int(few.sum()), looked.n_users, most=most, user=looked.user(user),
        relevant=int(looked.n_relevant[user]), code=f'ev.precision(k={looked.k}, out_of="min(k, relevant)")',
    )  # fmt: skip


@check("more_relevant_than_places")
def more_relevant_than_places(looked: Looked) -> Findings:
    """More relevant items than places, so that recall cannot get far."""
    relevant, depth = looked.n_relevant, looked.depth
    reach = np.divide(np.minimum(relevant, depth), relevant, out=np.ones(len(relevant)), where=relevant > 0)
    most = float(reach[looked.listed].mean()) if looked.listed.any() else 1.0
    many = (relevant > depth) & looked.listed
    if most > LOW_RECALL or not many.any():
        return
    user = int(np.where(looked.listed, relevant, 0).argmax())
    yield found(
        looked, "more_relevant_than_places", "note", int(many.sum()), looked.n_users, most=most, user=looked.user(user),
        relevant=int(relevant[user]), code="" if looked.k is None else f'ev.recall(k={looked.k}, out_of="min(k, relevant)")',
    )  # fmt: skip


@check("sampled_candidates")
def sampled_candidates(looked: Looked) -> Findings:
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
        looked, "sampled_candidates", "warning", int(looked.listed.sum()), looked.n_users, size=size, chance=chance,
        items=len(looked.items_listed), user=looked.user(user), length=int(length[0]), relevant=int(relevant[0]),
        variant={"short": how, "effect": "one" if one else "several"},
    )  # fmt: skip


def _candidates(looked: Looked) -> int | None:
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


def _all_found(looked: Looked) -> bool:
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


def _by_chance(looked: Looked, size: int) -> float:
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
def nothing_missed(looked: Looked) -> Findings:
    """No relevant item that was not recommended: what lists missed is not in the data."""
    complete = ONLY_LISTED in looked.prepared.notes
    whole = int(looked.list_length.max(initial=0)) >= len(looked.items_listed)
    plain = int(looked.listed.sum()) >= ENOUGH and _all_found(looked) and not whole
    if not complete and not (plain and _candidates(looked) is None):
        return
    n = len(looked.hits.truth_user)
    yield found(looked, "nothing_missed", severity_of(0.0, 1.0), n, n, variant={"advice": "one" if complete else "two"})
