"""Calibration: whether a list has the genres that its user's history has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recnb.metrics.metric import metric, number_option
from recnb.metrics.recommendation_lists import Cut, Lists, PerUser, TermRows
from recnb.metrics.sorting import Floats, Ints

if TYPE_CHECKING:
    from recnb.metrics.recommendation_lists import Sparse

#: Cells of the largest table that is held at once.
BLOCK = 2**21


def _divergence(options: Mapping[str, Any]) -> str:
    if options["divergence"] == "js":
        return "(p * log(2 * p / (p + q)) + q * log(2 * q / (p + q))) / 2"
    return "p * log(p / ((1 - alpha) * q + alpha * p))"


@metric(
    called="miscalibration",
    sentence="Less is better: a list is calibrated if it keeps the shares of genres that its user had.",
    symbol="Calibration", over="genres", credit=_divergence, bounds=(0, math.inf), top="log2(1 / alpha), 6.64 for 0.01",
    references=["steck2018", "abdollahpouri2021", "lin1991"], needs=("train", "genre"),
    no_value="It needs items with a genre both in the user's history in train and in their list.",
)  # fmt: skip
def calibration(
    lists: Lists,
    k: int | None = None,
    *,
    genre: object = None,
    divergence: Literal["kl", "js"] = "kl",
    alpha: float = 0.01,
    weight: Literal["equal", "rank"] = "equal",
    base: float = 2,
    cutoff: Cut = "k",
) -> PerUser:
    """How far the genres of a list are from those of the user's history, in bits: 0 if the shares are the same.

    sum over genres of p log(p / ((1 - alpha) q + alpha p)), where p is the genre's share of what the user had in train
    and q its share of the list; an item of several genres counts in each by an equal part. Steck 2018, RecSys, where
    it is C_KL: the divergence of Kullback and Leibler, less is better.

    - genre: the column of `items=` that names genres, as lists or as `"comedy|drama"`; or columns of 0 and 1; by
      itself a column named genre, genres, category, categories, tag or tags
    - divergence: "js" that of Jensen and Shannon, which is the same both ways and at most 1 bit: Lin 1991; on groups
      of popularity, Abdollahpouri et al. 2021, UMAP
    - alpha: how much of p is put into q, so that a genre the list lacks costs no infinity; 0.01 in the paper
    - weight: "rank" an item at rank i counts 1 / log2(1 + i) in q instead of 1, the paper's w_r(i)
    - base of the logarithm: 2 gives bits; e gives nats

    Items without a genre do not count. Users who have no history, or no genre in it or in the list, have no value.
    """
    number_option("alpha", alpha, "share between 0 and 1, such as 0.01", lambda alpha: 0 < alpha < 1)
    number_option("base", base, "base of a logarithm: give a number above 1, such as 2", lambda base: base > 1)
    catalogue = lists.catalogue
    had_user, had_item = catalogue.reading("calibration", "train").history()
    of_item, names = catalogue.reading("calibration", "genre").genres(genre, "calibration")
    of_item = _shares(of_item)
    shown = lists.upto(k, cutoff)
    row_weight = np.ones(len(shown.rank)) if weight == "equal" else 1 / np.log2(1.0 + shown.rank)
    total, counted = np.zeros(shown.n_users), np.zeros(shown.n_users, dtype=bool)

    def of_users(low: int, high: int) -> tuple[Floats, Floats, Floats, Ints]:
        """Return the shares of genres in history and list, what each genre adds, and who has both."""
        p = _distribution(had_user, had_item, np.ones(len(had_user)), of_item, low, high)
        q = _distribution(shown.user, shown.item, row_weight, of_item, low, high)
        both = (p.sum(axis=1) > 0) & (q.sum(axis=1) > 0)
        earned = _js(p, q) if divergence == "js" else _kl(p, (1 - alpha) * q + alpha * p)
        return p, q, earned / math.log(base), both

    step = max(1, BLOCK // max(len(names), 1))
    for low in range(0, shown.n_users, step):
        _, _, earned, both = of_users(low, min(low + step, shown.n_users))
        total[low : low + step], counted[low : low + step] = np.where(both, earned.sum(axis=1), 0.0), both

    def rows(user: int) -> TermRows:
        p, q, earned, _ = (part[0] for part in of_users(user, user + 1))
        some = np.flatnonzero((p > 0) | (q > 0))
        some = some[np.argsort(-p[some], kind="stable")]
        values = {"p": p[some], "q": q[some], "alpha": alpha}
        return TermRows(earned[some], values, labels=[str(names[int(genre)]) for genre in some])

    # Shares that are the same may differ in their last digit, and no divergence is below 0.
    return PerUser(np.maximum(total, 0.0), np.ones(shown.n_users), counted, rows)


def _shares(genres: Sparse) -> Sparse:
    """Return each item's genres as shares that add up to 1, or nothing."""
    shares = genres.copy()
    row = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    size = np.bincount(row, shares.data, shares.shape[0])
    shares.data = shares.data / np.where(size > 0, size, 1.0)[row]
    return shares


def _distribution(user: Ints, item: Ints, weight: Floats, of_item: Sparse, low: int, high: int) -> Floats:
    """Return the shares of genres of the users from `low` to `high`: users × genres; 0 where there is no genre at all."""
    from scipy import sparse

    first, last = np.searchsorted(user, [low, high])
    parts: Any = (weight[first:last], (user[first:last] - low, item[first:last]))
    holds = sparse.csr_array(parts, shape=(high - low, of_item.shape[0]))
    out = np.asarray((holds @ of_item).toarray(), dtype=np.float64)
    size = out.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(out, size, out=np.zeros_like(out), where=size > 0))


def _kl(p: Floats, q: Floats) -> Floats:
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    return np.asarray(p * np.log(ratio))


def _js(p: Floats, q: Floats) -> Floats:
    middle = (p + q) / 2
    return (_kl(p, middle) + _kl(q, middle)) / 2
