"""Common slips: each is a wrong formula, in the grammar of metrics.

A row of `slips.csv` is a metric, what is added for each hit (once, if it names nothing
of a hit), what the sum is divided by, and a sentence that says so. Slips are named in the
order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from recnb.display.data_file import rows_of
from recnb.metrics.formula import Formula
from recnb.metrics.hits import Floats
from recnb.widgets.quiz.exercise import Exercise

SLIPS = rows_of("widgets/quiz/slips.csv")


def slips_of(q: Exercise) -> Iterator[tuple[float, str]]:
    """Compute the number of each slip of the metric, with its sentence."""
    numbers = {**_of_hits(q), **_of_lists(q)}
    if "discount" in q.options:
        numbers |= _of_gains(q)
    for slip in SLIPS:
        if slip["metric"] != q.metric:
            continue
        with np.errstate(divide="ignore"):
            credit = np.sum(Formula.of(slip["credit"]).value(numbers))
            number = credit / Formula.of(slip["out_of"]).value(numbers)
        yield float(number), slip["sentence"]


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

    def best_first(items: Iterable[str]) -> Exercise:
        return q.with_list(sorted(items, key=lambda item: -q.truth.get(item, 0)))

    best = best_first(q.truth)
    return {
        "cg": q.score("cg"),
        "dcg": q.score("dcg"),
        "dcg_uncut": q.score("dcg", k=None),
        "ideal_cg": best.score("cg"),
        "idcg": q.score("idcg"),
        "idcg_uncut": q.score("idcg", k=q.depth + len(q.truth)),
        "idcg_of_list": best_first(q.row).score("dcg"),
        "idcg_of_top": best_first(q.row[: q.depth]).score("dcg"),
    }
