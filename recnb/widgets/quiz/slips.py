"""Common slips: each is a wrong formula, in the grammar of those of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recnb.display.language import N_
from recnb.metrics.formula import Formula
from recnb.metrics.hits import Floats
from recnb.widgets.quiz.exercise import Exercise


class Slip(NamedTuple):
    """A common mistake that is no option, cut-off or metric."""

    credit: str  #: what is added for each hit; once, if it names nothing of a hit
    out_of: str  #: what the sum is divided by
    sentence: str


def slips_of(q: Exercise) -> Iterator[tuple[float, Slip]]:
    """Compute the number of each slip that can be made with an exercise."""
    if q.metric not in SLIPS:
        return
    numbers = {**_of_hits(q), **_of_lists(q)}
    if "discount" in q.options:
        numbers |= _of_gains(q)
    for slip in SLIPS[q.metric]:
        with np.errstate(divide="ignore"):
            credit = np.sum(Formula.of(slip.credit).value(numbers))
            number = credit / Formula.of(slip.out_of).value(numbers)
        yield float(number), slip


def _of_hits(q: Exercise) -> dict[str, Floats]:
    """Return what formulas name of each hit of the first list.

    All metrics but the hit rate have one list.
    """
    grades = np.array([q.truth.get(item, 0.0) for item in q.row[: q.depth]])
    ranks = np.arange(1.0, len(grades) + 1)
    is_hit = grades > 0
    nth = np.arange(1.0, is_hit.sum() + 1)
    return {
        "rank": ranks[is_hit],
        "relevance": grades[is_hit],
        "relevance_so_far": np.cumsum(grades[is_hit]),
        "nth": nth,
        "first": nth == 1,
        "last": nth == len(nth),
        # Of each rank, whether it holds a hit or not.
        "precision_at_each_rank": np.cumsum(is_hit) / ranks,
    }


def _of_lists(q: Exercise) -> dict[str, float]:
    """Return what formulas name of whole lists, and the answer."""
    n_hits = 0
    n_in_list = 0
    n_relevant = 0
    n_users_with_all = 0
    for items, truth in zip(q.lists, q.truths, strict=True):
        hits = truth.keys() & items[: q.k]
        n_hits += len(hits)
        n_in_list += len(truth.keys() & items)
        n_relevant += len(truth)
        if hits == truth.keys():
            n_users_with_all += 1
    has_more = q.depth + 1 < len(q.row)  # else it is the list, not cut
    return {
        "k": q.depth,
        "list_length": len(q.row),
        "n_hits": n_hits,
        "n_in_list": n_in_list,
        "n_relevant": n_relevant,
        "total_relevance": sum(q.truth.values()),
        "n_users": len(q.lists),
        "n_users_with_all": n_users_with_all,
        "value": q.value,
        "value_one_rank_down": q.score(k=q.depth + 1) if has_more else q.value,
    }


def _of_gains(q: Exercise) -> dict[str, float]:
    """Return what formulas name of the gains of the list and of ideal lists."""
    top = q.with_list(q.row[: q.depth])
    best = q.with_list(sorted(q.truth, key=lambda item: -q.truth[item]))
    return {
        "cg": q.score("cg"),
        "dcg": q.score("dcg"),
        "dcg_uncut": q.score("dcg", k=None),
        "ideal_cg": best.score("cg"),
        "idcg": q.score("idcg"),
        "idcg_uncut": q.score("idcg", k=q.depth + len(q.truth)),
        "idcg_of_list": q.score("idcg", ideal="list"),
        "idcg_of_top": top.score("idcg", ideal="list"),
    }


NOT_GRADED = N_(
    "Relevance was added as if it were a gain: this metric uses only whether an "
    "item is relevant, so each hit counts 1."
)
ONE_RANK_MORE = N_(
    "One rank too many was used: from 0 to {depth} there are {next} "
    "ranks, and only the first {depth} count."
)
IDEAL_UNCUT = N_(
    "The ideal list was not cut: it holds {relevant} items, and counts "
    "only down to rank {depth}, as the list does."
)
IDEAL_OF_LIST = N_(
    "The ideal list was made of the recommended items only: relevant "
    "items that were missed belong to it."
)
IDEAL_OF_TOP = N_(
    "Only the first {depth} items of the list were put in their best "
    "order: the ideal list chooses from all relevant items."
)
UNDISCOUNTED = N_(
    "Nothing was discounted: a gain at rank {rank} is divided by {divides}."
)

#: The slips that are made with each metric.
SLIPS = {
    "precision": [
        Slip(
            "n_hits",
            "1",
            N_("This is the number of hits: divide it by k = {depth}."),
        ),
        Slip(
            "n_hits",
            "list_length",
            N_(
                "The number was divided by {length}, the length of the whole list: "
                "the list counts down to rank {depth} only."
            ),
        ),
        Slip(
            "n_in_list",
            "k",
            N_(
                "Hits below rank {depth} were counted as well, and divided by "
                "{depth}: they are below the cut-off."
            ),
        ),
        Slip("relevance", "k", NOT_GRADED),
        Slip("value_one_rank_down", "1", ONE_RANK_MORE),
        Slip(
            "1 - value",
            "1",
            N_(
                "Items that are not relevant were counted: those that are relevant count."
            ),
        ),
    ],
    "recall": [
        Slip(
            "n_hits",
            "1",
            N_(
                "This is the number of hits: divide it by that of relevant items, {relevant}."
            ),
        ),
        Slip(
            "n_hits",
            "list_length",
            N_(
                "The hits were divided by {length}, the length of the list, instead "
                "of the {relevant} relevant items."
            ),
        ),
        Slip(
            "n_hits",
            "n_in_list",
            N_(
                "Only the relevant items of the list were counted as relevant: those "
                "that it misses are relevant, too, {relevant} in all."
            ),
        ),
        Slip("relevance", "total_relevance", NOT_GRADED),
        Slip(
            "1 - value",
            "1",
            N_(
                "Relevant items that are missed were counted: those among the first {depth} count."
            ),
        ),
    ],
    "hit_rate": [
        Slip(
            "n_hits",
            "n_users",
            N_(
                "Hits were counted, not users: a user with two hits counts 1, as one "
                "with a single hit does."
            ),
        ),
        Slip(
            "value * n_users",
            "1",
            N_(
                "This is the number of users with a hit: divide it by the number of users, {users}."
            ),
        ),
        Slip(
            "n_users_with_all",
            "n_users",
            N_(
                "Only users whose relevant items were all found were counted: one hit is enough."
            ),
        ),
    ],
    "reciprocal_rank": [
        Slip(
            "last / rank",
            "1",
            N_("This is one over the rank of the last hit: the first one counts."),
        ),
        Slip(
            "first / (rank - 1)",
            "1",
            N_("Ranks were counted from 0: the top of the list is rank 1."),
        ),
        Slip(
            "first * rank",
            "1",
            N_("This is the rank itself: the reciprocal rank is 1 divided by it."),
        ),
        Slip(
            "1 / rank",
            "n_hits",
            N_("One over the rank was averaged over all hits: only one item counts."),
        ),
        Slip(
            "1 / rank",
            "1",
            N_("One over the rank was added up over all hits: only one item counts."),
        ),
        Slip(
            "first / log2(rank + 1)",
            "1",
            N_(
                "The discount of DCG was taken, log2(rank + 1): the reciprocal rank "
                "divides by the rank itself."
            ),
        ),
        Slip(
            "first * relevance / rank",
            "1",
            N_(
                "The relevance was divided by the rank: this metric uses only whether "
                "an item is relevant, so it is 1 over the rank."
            ),
        ),
    ],
    "average_precision": [
        Slip(
            "nth / rank",
            "n_hits",
            N_(
                "The sum was divided by the number of hits: that forgives every "
                "relevant item that was not found."
            ),
        ),
        Slip(
            "nth / rank",
            "k",
            N_(
                "The sum was divided by k = {depth}: it is out of all relevant items, {relevant}."
            ),
        ),
        Slip(
            "nth / rank",
            "1",
            N_(
                "The precisions at the hits were added and not divided: their sum is "
                "out of all relevant items, {relevant}."
            ),
        ),
        Slip(
            "nth / rank",
            "list_length",
            N_(
                "The sum was divided by {length}, the length of the list: what was "
                "shown does not enter the denominator here."
            ),
        ),
        Slip(
            "precision_at_each_rank",
            "k",
            N_(
                "The precision was averaged over all {depth} ranks: it is taken only "
                "at the ranks that hold a relevant item."
            ),
        ),
        Slip(
            "1 / rank",
            "n_relevant",
            N_(
                "Each hit was counted 1 over its rank: the precision at the second "
                "hit is 2 over its rank, at the third 3."
            ),
        ),
        Slip("relevance_so_far / rank", "n_relevant", NOT_GRADED),
    ],
    "cg": [
        Slip("value_one_rank_down", "1", ONE_RANK_MORE),
        Slip(
            "value",
            "k",
            N_(
                "The gains were averaged over the {depth} places: cumulative gain is their sum."
            ),
        ),
    ],
    "idcg": [
        Slip("idcg_uncut", "1", IDEAL_UNCUT),
        Slip("idcg_of_list", "1", IDEAL_OF_LIST),
        Slip("idcg_of_top", "1", IDEAL_OF_TOP),
        Slip("ideal_cg", "1", UNDISCOUNTED),
    ],
    "ndcg": [
        Slip("dcg", "idcg_uncut", IDEAL_UNCUT),
        Slip("dcg", "idcg_of_list", IDEAL_OF_LIST),
        Slip("dcg", "idcg_of_top", IDEAL_OF_TOP),
        Slip(
            "1",
            "value",
            N_(
                "The division is upside down: the DCG of the list is divided by that "
                "of the ideal list, so the value is at most 1."
            ),
        ),
        Slip(
            "dcg_uncut",
            "idcg",
            N_(
                "The ideal list was cut and the list was not: the DCG counts only the "
                "first {depth} ranks, as the IDCG does."
            ),
        ),
        Slip("cg", "ideal_cg", UNDISCOUNTED),
    ],
    "auc": [
        Slip(
            "1 - value",
            "1",
            N_(
                "Pairs in the wrong order were counted: those with the relevant item "
                "above count."
            ),
        ),
    ],
}
