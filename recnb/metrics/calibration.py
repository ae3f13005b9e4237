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

    Items without a genre do not count. Users who have no history, or no genre in it or in the list, have no value.
    """
    number_option("alpha", alpha, "share between 0 and 1, such as 0.01", lambda alpha: 0 < alpha < 1)
    catalogue, shown = lists.catalogue, lists.upto(k, cutoff)
    had_user, had_item = catalogue.reading("calibration", "train").history()
    genres, names = catalogue.reading("calibration", "genre").genres(genre, "calibration")
    genres = _shares(genres)
    row_weight = np.ones(len(shown.rank)) if weight == "equal" else 1 / np.log2(1.0 + shown.rank)
    history = _shares(_table(had_user, had_item, np.ones(len(had_user)), lists) @ genres)
    of_lists = _shares(_table(shown.user, shown.item, row_weight, lists) @ genres)

    def of_users(users: slice) -> tuple[Floats, Floats, Floats]:
        """Return the shares of genres in history and list, users × genres, and what each genre adds."""
        p, q = history[users].toarray(), of_lists[users].toarray()
        if divergence == "kl":
            return p, q, _kl(p, (1 - alpha) * q + alpha * p)
        middle = (p + q) / 2
        return p, q, (_kl(p, middle) + _kl(q, middle)) / 2

    def rows(user: int) -> TermRows:
        """Return the genres of one user's history and list, the largest of the history first."""
        p, q, earned = (part[0] for part in of_users(slice(user, user + 1)))
        present = np.flatnonzero((p > 0) | (q > 0))
        genre = present[np.argsort(-p[present], kind="stable")]
        values = {"p": p[genre], "q": q[genre], "alpha": alpha}
        return TermRows(earned[genre], values, labels=[str(names[each]) for each in genre.tolist()])

    step = max(1, BLOCK // max(len(names), 1))
    blocks = [of_users(slice(low, low + step))[2].sum(axis=1) for low in range(0, shown.n_users, step)]
    counted = (np.diff(history.indptr) > 0) & (np.diff(of_lists.indptr) > 0)
    # Shares that are the same may differ in their last digit, and no divergence is below 0.
    total = np.where(counted, np.maximum(np.concatenate([np.zeros(0), *blocks]), 0.0), 0.0)
    return PerUser(total, np.ones(shown.n_users), counted, rows)


def _table(user: Ints, item: Ints, weight: Floats, lists: Lists) -> Sparse:
    """Return users × items."""
    from scipy import sparse

    cells: Any = (weight, (user, item))
    return sparse.csr_array(cells, shape=(lists.n_users, lists.n_items))


def _shares(of_rows: Sparse) -> Sparse:
    """Return each row as shares that add up to 1, or nothing."""
    shares = of_rows.tocsr(copy=True)
    row = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    size = np.bincount(row, shares.data, shares.shape[0])
    shares.data = shares.data / np.where(size > 0, size, 1.0)[row]
    return shares


def _kl(p: Floats, q: Floats) -> Floats:
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    return np.asarray(p * np.log2(ratio))
