"""Measures of search that look at more than the relevant items found.

At the items judged not relevant, at levels of recall, at whole lists as sets, and at
counts, as trec_eval and ir_measures define them. Items of the truth that are not
relevant are judged as well, all others are not; `hits.judged` has both.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from recnb.metrics.gain import PATIENCE, examined, out_of_count
from recnb.metrics.hits import Cutoff, Floats, Hits, Ints, run_starts
from recnb.metrics.metric import Credit, Definition, metric


def measure(*, symbol: str, **definition: Any) -> Definition:
    """Define a measure of search, whose symbol is the name that papers print."""
    return metric(symbol=symbol, printed=symbol, retrieval=True, **definition)


def with_judged(joined: Any, hits: Hits) -> Hits:
    """Return hits with all judged items of the same lists, relevant or not."""
    return replace(hits, judged=joined.judged_hits())


def judged_of(hits: Hits) -> Hits:
    """Return the judged items in the lists as hits.

    The relevant ones where no others are given.
    """
    hits.refuse_ties("measures of judged items depend on one order of the list")
    return hits if hits.judged is None else hits.judged


def graded_of(hits: Hits) -> Hits:
    """Return the judged items whose grade is not that of what was not judged."""
    judged = judged_of(hits)
    return judged.with_rows(judged.relevance >= 0)


def nonrelevant_above(hits: Hits) -> Ints:
    """Return the number of judged, not relevant items that are above each hit."""
    return count_above(hits, graded_of(hits)) - count_above(hits, hits)


def count_above(hits: Hits, others: Hits) -> Ints:
    """Return how many of other rows of the same lists are above each hit.

    The hits are among them.
    """
    stride = int(others.rank.max(initial=0)) + 1
    start, here = (
        np.searchsorted(others.user * stride + others.rank, hits.user * stride + to)
        for to in (0, hits.rank)
    )
    return np.asarray(here - start)


@measure(
    called="judged share",
    better=None,
    symbol="Judged",
    credit="1",
    out_of="min(k, list_length)",
    bounds=(0, 1),
    references=["buckley2004"],
    sentence="Of what was shown, how much the truth has a grade for. Where it is low, "
    "other numbers are not certain.",
    needs=("judged",),
    per_row_texts=False,
)
def judged(hits: Hits, k: Cutoff = None) -> Credit:
    """Share of the first k items that are judged, relevant or not; of shorter lists,
    the share of all items.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("judged", k=10), 4)
    0.2088
    """
    rows = judged_of(hits)
    return Credit(rows, k, np.ones(len(rows.user)), out_of_count(rows, k, "list"))


@measure(
    called="binary preference",
    symbol="Bpref",
    credit="1 - min(nonrelevant_above, n_relevant) / max(1, min(n_nonrelevant, n_relevant))",
    out_of="n_relevant",
    bounds=(0, 1),
    references=["buckley2004"],
    sentence="How few {items} judged not relevant are above the relevant ones. {Items} "
    "that are not judged do not count.",
    needs=("judged",),
    below_0_unjudged=True,
    instead="recall",
)
def bpref(hits: Hits, k: Cutoff = None) -> Credit:
    """Mean, over a user's relevant items, of the share of judged nonrelevant items that
    are not above each.

    At most as many nonrelevant items count as there are relevant ones. A relevant item
    that is not in the list adds 0.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("bpref", k=10), 4)
    0.433
    """
    relevant = hits.n_relevant
    judged = judged_of(hits)
    known = judged.truth_user[judged.truth_relevance >= 0]
    n_nonrelevant = np.bincount(known, minlength=hits.n_users) - relevant
    nonrelevant = nonrelevant_above(hits)
    fewer = np.maximum(1, np.minimum(n_nonrelevant, relevant))
    above = np.minimum(nonrelevant, relevant[hits.user])
    return Credit(
        hits,
        k,
        earned=1.0 - above / fewer[hits.user],
        out_of=out_of_count(hits, k, "relevant"),
        names={
            "nonrelevant_above": nonrelevant,
            "n_nonrelevant": n_nonrelevant[hits.user],
        },
    )


@measure(
    called="inferred average precision",
    symbol="infAP",
    credit="(1 + pooled_above * (100000 * (nth - 1) + 1) / "
    "(100000 * (nth - 1 + nonrelevant_above) + 2)) / rank",
    out_of="n_relevant",
    bounds=(0, 1),
    references=["yilmaz2006"],
    sentence="Average precision in which each {item} of the pool that nobody judged is "
    "as likely relevant as the judged {items} above the hit.",
    needs=("judged",),
    below_0_unjudged=True,
    instead="recall",
)
def inferred_average_precision(hits: Hits, k: Cutoff = None) -> Credit:
    """Average precision as it is expected where a sample of the pool was judged.

    The truth holds the pool: an item of it that was not judged has a relevance below 0.
    An item that the truth does not hold is not relevant. As in trec_eval, 0.00001 is
    added to the relevant and to the nonrelevant items above a hit, so that their share
    is defined at the first.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("inferred_average_precision", k=10), 4)
    0.2531
    """
    relevant_above = np.asarray(hits.nth - 1, dtype=np.float64)
    nonrelevant = nonrelevant_above(hits)
    judged_above = relevant_above + nonrelevant
    share = (100000 * relevant_above + 1) / (100000 * judged_above + 2)
    # All items of the truth: one of a relevance below 0 was in the pool and not judged.
    pooled = count_above(hits, judged_of(hits))
    return Credit(
        hits,
        k,
        earned=(1 + pooled * share) / hits.rank,
        out_of=out_of_count(hits, k, "relevant"),
        names={"nonrelevant_above": nonrelevant, "pooled_above": pooled},
    )


@measure(
    called="interpolated precision",
    symbol="IPrec",
    credit="rise",
    bounds=(0, 1),
    references=["manning2008"],
    sentence="The highest precision at any rank from which on this share of the "
    "relevant {items} is found.",
    ranges={
        "recall": (
            "a share of the relevant items, from 0 to 1",
            lambda share: 0 <= share <= 1,
        )
    },
    instead="precision",
)
def interpolated_precision(
    hits: Hits, k: Cutoff = None, *, recall: float = 0.0
) -> Credit:
    """Highest precision at any rank where recall is at least `recall`; 0 if it is
    nowhere.

    A level of `recall * n_relevant` items counts as reached as in trec_eval, which adds
    0.9 and rounds down.

    Parameters
    ----------
    recall : float, default 0.0
        The least share of relevant items, from 0 to 1.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("interpolated_precision", k=10), 4)
    0.5376
    """
    hits.refuse_ties("IPrec depends on one order of the list")
    earned = rise(hits, recall)
    return Credit(hits, k, earned, names={"rise": earned})


def rise(hits: Hits, recall: float) -> Floats:
    """Return by how much each hit exceeds the highest precision before it.

    That is the precision at the user's hits, from a level of recall on.
    """
    needed = (recall * hits.n_relevant + 0.9).astype(np.int64)
    precision = np.where(hits.nth >= needed[hits.user], hits.nth / hits.rank, 0.0)
    # The running maximum within users, of places among the values: whole numbers stay
    # exact.
    values, place = np.unique(precision, return_inverse=True)
    base = hits.user * len(values)
    highest = values[np.maximum.accumulate(place + base) - base]
    before = np.roll(highest, 1)
    before[run_starts(hits.user)] = 0.0
    return np.asarray(highest - before)


@measure(
    called="residual of rank-biased precision",
    better=None,
    symbol="RBP-residual",
    credit="(p - 1) * p^(rank - 1)",
    missed="1",
    bounds=(0, 1),
    references=["moffat2008"],
    sentence="How much RBP could rise if every {item} that is not judged were "
    "relevant: the true value lies between RBP and RBP plus this.",
    needs=("judged",),
    below_0_unjudged=True,
    per_row_texts=False,
    ranges={"p": PATIENCE},
    instead="rbp",
)
def rbp_residual(hits: Hits, k: Cutoff = None, *, p: float = 0.8) -> Credit:
    """Share of the examining that falls on items not judged, and below the list or k.

    Parameters
    ----------
    p : float, default 0.8
        The chance of looking further, between 0 and 1.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("rbp_residual", k=10), 4)
    0.8171
    """
    graded = graded_of(hits)
    return Credit(graded, k, -examined(graded, p), missed=1.0)


# Lists as sets.


@measure(
    called="set average precision",
    symbol="SetAP",
    credit="1",
    out_of="n_relevant * min(k, list_length) / max(1, n_hits)",
    bounds=(0, 1),
    references=["buckley2000"],
    sentence="Precision times recall of what was shown, whatever its order.",
    instead="recall",
)
def set_average_precision(hits: Hits, k: Cutoff = None) -> Credit:
    """Precision of the whole list times its recall, without regard to rank.

    Examples
    --------
    >>> import recnb
    >>> float(recnb.evaluate([["x", "a"]], [["a", "b"]]).measure("SetAP"))
    0.25
    """
    n_hits = np.maximum(out_of_count(hits, k, "hits"), 1.0)
    n_relevant = out_of_count(hits, k, "relevant")
    n_shown = out_of_count(hits, k, "list")
    return Credit(hits, k, hits.weight, n_relevant * n_shown / n_hits)


@measure(
    called="area under the ROC curve",
    symbol="AUC",
    credit="nth - rank",
    out_of="max(1, n_hits * (min(k, list_length) - n_hits))",
    missed="max(0.5, n_hits * (min(k, list_length) - n_hits))",
    bounds=(0, 1),
    references=["hanley1982"],
    sentence="Chance that of a relevant and another {item} of the list, the relevant "
    "one is higher; 1/2 says nothing about the order.",
    instead="dcg",
)
def auc(hits: Hits, k: Cutoff = None) -> Credit:
    """Share of pairs of a relevant and another item of the list that are in order.

    That is the relevant one above; 1/2 of a list without such a pair.
    Relevant items that are not in the list do not count: of a list that was cut it
    does not say what was missed.

    Examples
    --------
    >>> import recnb
    >>> float(recnb.auc(y_true=[1, 0, 1, 0], y_score=[0.9, 0.8, 0.4, 0.1]))
    0.75
    """
    hits.refuse_ties("AUC depends on one order of the list")
    n_hits = np.asarray(out_of_count(hits, k, "hits"))
    pairs = n_hits * (out_of_count(hits, k, "list") - n_hits)
    # A hit with rank - nth other items above it is in so many pairs that are out of order.
    earned = np.asarray(hits.nth - hits.rank, dtype=np.float64)
    return Credit(
        hits, k, earned, out_of=np.maximum(pairs, 1.0), missed=np.maximum(pairs, 0.5)
    )


# Counts.


@measure(
    called="number of items shown",
    better=None,
    symbol="NumRet",
    credit="0",
    missed="min(k, list_length)",
    bounds=(0, math.inf),
    references=["buckley2000"],
    sentence="How long the lists are. trec_eval and ir_measures print the sum over "
    "{users}, this is the mean.",
    instead="precision",
)
def retrieved_count(hits: Hits, k: Cutoff = None) -> Credit:
    """Length of the list, of which at most k places count.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("retrieved_count", k=10), 4)
    8.55
    """
    length = np.asarray(out_of_count(hits, k, "list"))
    return Credit(hits, k, np.zeros(len(hits.user)), missed=length)


@measure(
    called="number of relevant items",
    better=None,
    symbol="NumRel",
    credit="0",
    missed="n_relevant",
    bounds=(0, math.inf),
    references=["buckley2000"],
    sentence="How much there was to find: it belongs to the truth, not to the list. "
    "trec_eval and ir_measures print the sum over {users}, this is the mean.",
    instead="recall",
)
def relevant_count(hits: Hits, k: Cutoff = None) -> Credit:
    """Number of items that are relevant to the user, shown or not.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("relevant_count", k=10), 4)
    3.35
    """
    n_relevant = np.asarray(out_of_count(hits, k, "relevant"))
    return Credit(hits, k, np.zeros(len(hits.user)), missed=n_relevant)


@measure(
    called="number of hits",
    symbol="NumRelRet",
    credit="1",
    bounds=(0, math.inf),
    references=["buckley2000"],
    sentence="How many relevant {items} the list held. trec_eval and ir_measures print "
    "the sum over {users}, this is the mean.",
)
def hit_count(hits: Hits, k: Cutoff = None) -> Credit:
    """Number of relevant items among the first k.

    With propensities, their weights added up.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> ev = recnb.evaluate(questions.retrievers["bm25"], questions.truth)
    >>> round(ev.measure("hit_count", k=10), 4)
    1.45
    """
    return Credit(hits, k, hits.weight)
