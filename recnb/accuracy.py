"""Metrics of accuracy, functions of hits.

`@metric` gives each its formula as text, bounds, sources and how to read it.

Counts per user enter as a column, so that users and cut-offs never line up by accident.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from recnb.metrics.gain import (
    GAIN,
    GAIN_AND_DISCOUNT,
    LOG_BASE,
    OUT_OF,
    PATIENCE,
    Discount,
    Gain,
    Ideal,
    Worth,
    examined,
    gain_of,
    ideal_of,
    out_of_count,
    reach,
)
from recnb.metrics.hits import Cutoff, Hits
from recnb.metrics.metric import ALWAYS, Credit, metric, number_option
from recnb.results.calls import function, method

#: Functions of one list: `recnb` takes its names from here.
__all__ = [
    "average_precision",
    "cg",
    "dcg",
    "err",
    "f1",
    "fbeta",
    "hit_rate",
    "idcg",
    "mrr",
    "ndcg",
    "precision",
    "r_precision",
    "rbp",
    "recall",
    "reciprocal_rank",
]


@function
@metric(
    symbol="Precision",
    called="precision",
    credit="1",
    out_of="out_of",
    bounds=(0, 1),
    references=["manning2008", "jain2016"],
    sentence="Of what was shown, how much was relevant. It cannot reach 1 for a {user} "
    "with fewer than k relevant {items}.",
    meanings={"out_of": OUT_OF},
    printed="P",
    also=("prec", "setp", "setrelp"),
)
def precision(
    hits: Hits,
    k: Cutoff = None,
    *,
    out_of: Literal["k", "list", "min(k, relevant)"] = "k",
) -> Credit:
    """Share of the first k places that hold a relevant item.

    Divided by k, so that a list shorter than k is not rewarded for it. `out_of="list"`
    divides by the length of the list where that is shorter; `out_of="min(k, relevant)"`
    by what could have been found.

    With propensities, the weights of the hits over k; `out_of="min(k, relevant)"`, over
    the k largest weights, is PSP@k of extreme classification (Jain, Prabhu and Varma
    2016).

    Parameters
    ----------
    out_of : {"k", "list", "min(k, relevant)"}, default "k"
        What the sum is divided by. "k": k; "list": min(k, list_length); "min(k,
        relevant)": min(k, n_relevant).

    Examples
    --------
    >>> import recnb
    >>> float(recnb.precision(["a", "x", "b", "y", "c"], ["a", "b", "c", "d", "e", "f"], k=5))
    0.6
    """
    return Credit(hits, k, hits.weight, out_of_count(hits, k, out_of))


@function
@metric(
    symbol="Recall",
    called="recall",
    credit="1",
    out_of="out_of",
    bounds=(0, 1),
    references=["manning2008", "yang2018"],
    sentence="Of what is relevant, how much was shown. It cannot reach 1 for a {user} "
    "with more than k relevant {items}.",
    meanings={"out_of": OUT_OF},
    printed="R",
    also=("setr",),
)
def recall(
    hits: Hits,
    k: Cutoff = None,
    *,
    out_of: Literal["relevant", "min(k, relevant)", "min(list, relevant)"] = "relevant",
) -> Credit:
    """Share of a user's relevant items that are among the first k.

    `out_of="min(k, relevant)"` is the capped recall that can always reach 1. With
    propensities, the weights of the hits over those of all relevant items: the
    self-normalised estimator of recall on all n that are relevant (Yang et al. 2018).
    It is a ratio of two sums, and its bias about recall / n times (the mean of 1 /
    propensity over all of them minus that over the hits).

    Parameters
    ----------
    out_of : {"relevant", "min(k, relevant)", "min(list, relevant)"}, default "relevant"
        What the sum is divided by. "relevant": n_relevant; "min(k, relevant)": min(k,
        n_relevant); "min(list, relevant)": min(k, list_length, n_relevant).

    Examples
    --------
    >>> import recnb
    >>> float(recnb.recall(["a", "x", "b", "y", "c"], ["a", "b", "c", "d", "e", "f"], k=5))
    0.5
    """
    return Credit(hits, k, hits.weight, out_of_count(hits, k, out_of))


@function
@metric(
    symbol="F1",
    called="F1 score",
    credit="2",
    out_of="k + n_relevant",
    bounds=(0, 1),
    references=["vanrijsbergen1979"],
    sentence="High only where precision and recall both are.",
    printed="F1",
    also=("f",),
    instead="recall",
)
def f1(hits: Hits, k: Cutoff = None) -> Credit:
    """Harmonic mean of precision and recall, per user.

    Examples
    --------
    >>> import recnb
    >>> round(recnb.f1(["a", "x", "b", "y", "c"], ["a", "b", "c", "d", "e", "f"], k=5), 4)
    0.5455
    """
    out_of = out_of_count(hits, k, "k") + out_of_count(hits, k, "relevant")
    return Credit(hits, k, 2.0 * hits.weight, out_of)


@function
@metric(
    symbol="F-beta",
    called="F-beta score",
    credit="1 + beta^2",
    out_of="k + beta^2 * n_relevant",
    bounds=(0, 1),
    references=["vanrijsbergen1979"],
    sentence="As F1, with recall weighing beta times as much as precision.",
    ranges={
        "beta": (
            "a number above 0 and up to 1e6, where F-beta is recall",
            lambda beta: 0 < beta <= 1e6,
        )
    },
    printed="Fbeta",
    also=("f-beta", "setf"),
    instead="recall",
)
def fbeta(hits: Hits, k: Cutoff = None, *, beta: float = 1.0) -> Credit:
    """Weighted harmonic mean of precision and recall, per user: recall counts beta
    times as much.

    Parameters
    ----------
    beta : float, default 1.0
        How much recall weighs beside precision, above 0 and up to 1e6.

    Examples
    --------
    >>> import recnb
    >>> truth = ["a", "b", "c", "d", "e", "f"]
    >>> round(recnb.fbeta(["a", "x", "b", "y", "c"], truth, k=5, beta=2), 4)
    0.5172
    """
    beta = float(beta)
    out_of = out_of_count(hits, k, "k") + beta**2 * out_of_count(hits, k, "relevant")
    return Credit(hits, k, (1 + beta**2) * hits.weight, out_of)


@function
@metric(
    symbol="HR",
    called="hit rate",
    credit="first",
    bounds=(0, 1),
    references=["deshpande2004"],
    sentence="The share of {users} whose list held anything relevant.",
    printed="Success",
    also=("hr", "hit", "hits", "hitrate"),
    instead="recall",
)
def hit_rate(hits: Hits, k: Cutoff = None) -> Credit:
    """1 if any of the first k places holds a relevant item; its mean is the share of
    users with a hit.

    What some texts call hit rate is `recall`, hits out of what the user liked, or
    `precision`, out of what was shown.

    Examples
    --------
    >>> import recnb
    >>> [float(recnb.hit_rate(["x", "a"], ["a", "b"], k=k)) for k in (1, 2)]
    [0.0, 1.0]
    """
    return Credit(hits, k, hits.first)


@function
@metric(
    symbol="RR",
    called="reciprocal rank",
    credit="target / rank",
    bounds=(0, 1),
    references=["voorhees1999"],
    sentence="One over the rank of the first relevant {item}: 1 at the top, 1/2 at rank 2.",
    meanings={"target": {"first": "first", "preferred": "preferred"}},
    aliases=("mrr",),
    printed="RR",
    instead="dcg with discount='rank'",
)
def reciprocal_rank(
    hits: Hits, k: Cutoff = None, *, target: Literal["first", "preferred"] = "first"
) -> Credit:
    """One over the rank of the first relevant item, 0 if none is in the first k; its
    mean over users is MRR.

    Parameters
    ----------
    target : {"first", "preferred"}, default "first"
        "preferred" looks for the user's most preferred item instead: the one of highest
        relevance and, of equal ones, the first that the truth lists.

    Examples
    --------
    >>> import recnb
    >>> float(recnb.reciprocal_rank(["D", "B", "A"], ["A", "D"]))
    1.0
    >>> float(recnb.reciprocal_rank(["D", "B", "A"], ["A", "D"], target="preferred"))
    0.3333333333333333
    """
    chosen = hits.first if target == "first" else hits.weigh(hits.preferred)
    return Credit(hits, k, np.asarray(chosen / hits.rank, dtype=np.float64))


@function
@metric(
    symbol="AP",
    called="average precision",
    credit="nth / rank",
    out_of="out_of",
    bounds=(0, 1),
    references=["buckley2000", "manning2008"],
    sentence="Precision at the place of each relevant {item}, averaged; one that was "
    "not shown adds 0.",
    meanings={"out_of": OUT_OF},
    aliases=("map",),
    printed="AP",
    instead="dcg, or precision",
)
def average_precision(
    hits: Hits,
    k: Cutoff = None,
    *,
    out_of: Literal[
        "relevant", "min(k, relevant)", "min(list, relevant)", "hits", "k", "list"
    ] = "relevant",
) -> Credit:
    """Mean, over a user's relevant items, of the precision at the place of each; its
    mean over users is MAP.

    Libraries differ in what the sum is divided by: all relevant items (the default, as
    trec_eval), `"min(k, relevant)"`, the hits found, k, or the length of the list.

    Parameters
    ----------
    out_of : str, default "relevant"
        What the sum is divided by. "relevant": n_relevant; "min(k, relevant)": min(k,
        n_relevant); "min(list, relevant)": min(k, list_length, n_relevant); "hits":
        n_hits; "k": k; "list": min(k, list_length).

    Examples
    --------
    >>> import recnb
    >>> round(recnb.average_precision(["D", "A", "B", "C"], ["A", "B"]), 4)
    0.5833
    """
    return Credit(
        hits, k, hits.weigh(hits.nth / hits.rank), out_of_count(hits, k, out_of)
    )


@function
@metric(
    symbol="CG",
    called="cumulative gain",
    credit="gain",
    bounds=(0, math.inf),
    references=["jarvelin2002"],
    sentence="What was collected in the first k places, wherever it stood.",
    meanings={"gain": GAIN},
    printed="CG",
)
def cg(hits: Hits, k: Cutoff = None, *, gain: Gain = "linear") -> Credit:
    """Gain of the first k places added up, without regard to rank; with propensities,
    of gain times weight.

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        What a hit is worth by its relevance. "linear": relevance; "exponential":
        2^relevance - 1; "binary": 1.

    Examples
    --------
    >>> import recnb
    >>> float(recnb.cg([3, 2, 3, 0, 1, 2]))
    11.0
    """
    return Credit(hits, k, hits.weigh(gain_of(hits.relevance, gain)))


@function
@metric(
    symbol="DCG",
    called="discounted cumulative gain",
    credit="gain / discount",
    out_of="out_of",
    bounds=(0, math.inf),
    references=["jarvelin2002", "burges2005"],
    sentence="A hit at the top earns its full gain; further down, less and less. It has no "
    "upper bound.",
    meanings={**GAIN_AND_DISCOUNT, "out_of": OUT_OF},
    ranges={"log_base": LOG_BASE},
    printed="DCG",
)
def dcg(
    hits: Hits,
    k: Cutoff = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log",
    log_base: float = 2,
    out_of: Literal["1", "relevant"] = "1",
) -> Credit:
    """Sum of the gains of the first k items, each discounted by its rank.

    With propensities, of gain times weight. `out_of="relevant"` divides by the number
    of relevant items, or by their weights: the average over all of Yang et al. 2018,
    and its self-normalised estimator.

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        What a hit is worth by its relevance. "linear": relevance; "exponential":
        2^relevance - 1; "binary": 1.
    discount : {"log", "clipped_log", "rank"}, default "log"
        What the gain of a hit is divided by. "log": log(1 + rank); "clipped_log":
        max(1, log(rank)); "rank": rank.
    log_base : float, default 2
        The base of the logarithm of the discount, above 1.
    out_of : {"1", "relevant"}, default "1"
        What the sum is divided by. "1": 1; "relevant": n_relevant.

    Examples
    --------
    >>> import recnb
    >>> round(recnb.dcg([3, 2, 3, 0, 1, 2]), 3)
    6.861
    """
    worth = Worth(gain, discount, log_base)
    return Credit(hits, k, worth.of(hits), out_of_count(hits, k, out_of))


@function
@metric(
    symbol="IDCG",
    called="ideal discounted cumulative gain",
    credit="gain / discount",
    bounds=(0, math.inf),
    better=None,
    references=["jarvelin2002"],
    sentence="The most that DCG could be for this {user}: it belongs to the truth, not "
    "to the list.",
    over="ideal",
    meanings=GAIN_AND_DISCOUNT,
    ranges={"log_base": LOG_BASE},
    printed="IDCG",
)
def idcg(
    hits: Hits,
    k: Cutoff = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log",
    log_base: float = 2,
    ideal: Ideal = "relevant",
) -> Credit:
    """DCG of the ideal list: the relevant items from the most relevant down, cut at k.

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        What a hit is worth by its relevance. "linear": relevance; "exponential":
        2^relevance - 1; "binary": 1.
    discount : {"log", "clipped_log", "rank"}, default "log"
        What the gain of a hit is divided by. "log": log(1 + rank); "clipped_log":
        max(1, log(rank)); "rank": rank.
    log_base : float, default 2
        The base of the logarithm of the discount, above 1.
    ideal : {"relevant", "all", "k", "min(k, list)"}, default "relevant"
        The ideal list, as in `ndcg`.

    Examples
    --------
    >>> import recnb
    >>> round(recnb.idcg([3, 2, 2, 1], k=4), 4)
    5.6925
    """
    return ideal_of(hits, k, ideal, Worth(gain, discount, log_base))


@function
@metric(
    symbol="nDCG",
    called="normalized discounted cumulative gain",
    credit="gain / discount",
    out_of="ideal(gain / discount)",
    bounds=(0, 1),
    references=["jarvelin2002", "burges2005"],
    sentence="The list's DCG as a share of the best possible one's: 1 is the best possible list.",
    meanings=GAIN_AND_DISCOUNT,
    ranges={"log_base": LOG_BASE},
    printed="nDCG",
)
def ndcg(
    hits: Hits,
    k: Cutoff = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log",
    log_base: float = 2,
    ideal: Ideal = "relevant",
) -> Credit:
    """Discounted gain earned, out of what the ideal list would earn.

    The ideal list holds all relevant items, most relevant first, and is cut at k as the
    list is. `ideal="min(k, list)"` cuts the ideal list where the list ends, which
    forgives a list shorter than k; `ideal="all"` does not cut it, so that a user with
    more than k relevant items cannot reach 1; `ideal="k"` supposes that every one of k
    places could hold an item as good as the user's best. With propensities, gain times
    weight, out of the same over the best order of weighted gains: PSnDCG of extreme
    classification (Jain, Prabhu and Varma 2016). That order holds what was seen alone,
    so the number compares models, and is no estimate of nDCG on all that is relevant.

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        What a hit is worth by its relevance. "linear": relevance; "exponential":
        2^relevance - 1; "binary": 1.
    discount : {"log", "clipped_log", "rank"}, default "log"
        What the gain of a hit is divided by. "log": log(1 + rank); "clipped_log":
        max(1, log(rank)); "rank": rank.
    log_base : float, default 2
        The base of the logarithm of the discount, above 1.
    ideal : {"relevant", "all", "k", "min(k, list)"}, default "relevant"
        The best list, as said above.

    Examples
    --------
    >>> import recnb
    >>> round(recnb.ndcg([3, 2, 3, 0, 1, 2]), 3)
    0.961
    """
    worth = Worth(gain, discount, log_base)
    return Credit(hits, k, worth.of(hits), ideal_of(hits, k, ideal, worth))


@function
@metric(
    symbol="R-Precision",
    called="R-precision",
    credit="rank <= n_relevant",
    out_of="n_relevant",
    bounds=(0, 1),
    references=["buckley2000"],
    sentence="Precision at the depth where a perfect list would have found everything.",
    printed="Rprec",
    also=("r-precision",),
    instead="precision with out_of='min(k, relevant)'",
)
def r_precision(hits: Hits, k: Cutoff = None) -> Credit:
    """Share of relevant items in the first n places, n being the number of the user's
    relevant items; k may cut further up.

    Examples
    --------
    >>> import recnb
    >>> float(recnb.r_precision(["a", "x", "b"], ["a", "b"]))
    0.5
    """
    in_reach = hits.rank <= hits.n_relevant[hits.user]
    return Credit(hits, k, hits.weigh(in_reach), out_of_count(hits, k, "relevant"))


@function
@metric(
    symbol="RBP",
    called="rank-biased precision",
    credit="(1 - p) * p^(rank - 1)",
    out_of="out_of",
    bounds=(0, 1),
    references=["moffat2008", "yang2018"],
    sentence="Expected relevance per examined {item} for a reader who continues with "
    "probability p.",
    meanings={"out_of": OUT_OF},
    ranges={"p": PATIENCE},
    printed="RBP",
)
def rbp(
    hits: Hits,
    k: Cutoff = None,
    *,
    p: float = 0.8,
    out_of: Literal["1", "relevant"] = "1",
) -> Credit:
    """Rate at which a reader of patience p meets relevant items, cut at k.

    The weights of all ranks add up to 1 only over an endless list, so a perfect list of
    k earns 1 - p^k. With propensities each term is multiplied by the item's weight.

    Parameters
    ----------
    p : float, default 0.8
        The chance of looking further, between 0 and 1.
    out_of : {"1", "relevant"}, default "1"
        "relevant" divides as in `dcg`, "1" does not divide.

    Examples
    --------
    >>> import recnb
    >>> round(recnb.rbp(["a", "x", "b"], ["a", "b"], p=0.5), 4)
    0.625
    """
    earned = hits.weigh(examined(hits, p))
    return Credit(hits, k, earned, out_of_count(hits, k, out_of))


@function
@metric(
    symbol="ERR",
    called="expected reciprocal rank",
    credit="reach * stop / rank",
    bounds=(0, 1),
    references=["chapelle2009"],
    sentence="Expected 1/rank of the place where the reader stops; more relevant "
    "{items} stop more readers.",
    meanings={"stop": {ALWAYS: "(2^relevance - 1) / 2^max_relevance"}},
    printed="ERR",
    instead="rbp",
)
def err(hits: Hits, k: Cutoff = None, *, max_relevance: float | None = None) -> Credit:
    """Expected reciprocal rank: chance that the reader stops at a rank, over that rank,
    added up.

    Parameters
    ----------
    max_relevance : float, optional
        The top of the scale of grades; by default the highest relevance in the truth,
        of all users.

    Examples
    --------
    >>> import recnb
    >>> round(recnb.err([3, 2, 1], max_relevance=4), 4)
    0.4998
    """
    highest = hits.truth_relevance.max(initial=0)
    top = hits.max_relevance if max_relevance is None else max_relevance
    scale = (
        f"the top of the scale, which 2 is raised to: the truth holds {highest:g}, "
        f"and 1000 is the most: use a smaller scale"
    )
    number_option("max_relevance", top, scale, lambda top: highest <= top <= 1000)
    stop = (np.exp2(hits.relevance) - 1.0) / 2.0**top
    reached = reach(hits, stop)
    return Credit(hits, k, reached * stop / hits.rank, names={"reach": reached})


mrr = reciprocal_rank


class Accuracy:
    """The metrics as methods: of an evaluation, and of `df.rec`."""

    precision = method(precision)
    recall = method(recall)
    f1 = method(f1)
    fbeta = method(fbeta)
    hit_rate = method(hit_rate)
    reciprocal_rank = method(reciprocal_rank)
    mrr = reciprocal_rank
    average_precision = method(average_precision)
    map = average_precision
    cg = method(cg)
    dcg = method(dcg)
    idcg = method(idcg)
    ndcg = method(ndcg)
    r_precision = method(r_precision)
    rbp = method(rbp)
    err = method(err)
