"""Lists beside what each user had.

Hits that nobody needed a recommender for, and genres that the user knows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recnb.beyond.recommendation_lists import Lists, PerUser, TermRows
from recnb.metrics.gain import out_of_count
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import FILLED, Credit, metric

if TYPE_CHECKING:
    from recnb.beyond.catalogue import Sparse


@metric(
    called="serendipity",
    sentence="Precision without the hits that a list of the most popular {items} would "
    "have had as well.",
    symbol="Serendipity",
    over="hits",
    credit="k + 1 <= expected_rank",
    out_of="k",
    bounds=(0, 1),
    references=["ge2010", "kaminskas2016"],
    needs=("train",),
    instead="precision",
)
def serendipity(lists: Lists, k: int | None = None) -> PerUser:
    """Share of the first k places that hold a relevant item which a list of the most
    popular items would not show.

    sum over hits of unexpected / k: precision, of which the hits of a primitive model
    are taken away. Ge, Delgado-Battenfeld and Jannach 2010, RecSys; Kaminskas and
    Bridge 2016, ACM TiiS 7(1). The primitive model gives each user the k most popular
    items of train that they have not had; of equally popular ones those whose id sorts
    first. What they had is not unexpected either. The users are those evaluated, since
    hits need a truth.

    Other things are called serendipity: rectools weighs hits by their place by
    popularity; recommenders and evidently take 1 less the mean cosine between an item
    and what the user had. Their numbers are not made here.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["item-knn"], sample.test, train=sample.train)
    >>> round(ev.serendipity(k=10), 4)
    0.0556
    """
    convention = lists.joined.convention
    cutoffs = replace(Cutoffs.of(k), cut=convention.cutoff)
    hits = lists.hits.down_to(cutoffs.deepest)
    # What is unexpected depends on k: one at a time.
    (size,) = cutoffs.size(hits.list_length).T
    expected_rank = lists.expected_rank[hits.entry]
    unexpected = expected_rank > size[hits.user]
    places = out_of_count(hits, cutoffs, "k")
    credit = Credit(hits, cutoffs, hits.weigh(unexpected), places)

    def rows(user: int) -> TermRows:
        """Return the hits of one list, with the rank that was expected of each."""
        hits.refuse_ties("a worked explanation follows one order of each list")
        hit = np.flatnonzero(hits.user == user)
        item = lists.truth_item[hits.entry[hit]]
        return TermRows(
            earned=credit.earned[hit],
            names={"expected_rank": expected_rank[hit], "k": size[user]},
            of={"rank": hits.rank[hit], "item": item},
            undefined=not hits.n_relevant[user],
        )

    nothing_to_find = FILLED[convention.no_relevant]
    value = np.where(hits.n_relevant == 0, nothing_to_find, credit.value[:, 0])
    return PerUser(value, rows)


@metric(
    called="miscalibration",
    better="low",
    sentence="Less is better: a list is calibrated if it keeps the shares of genres "
    "that its {user} had.",
    symbol="Calibration",
    over="genres",
    credit="p * log(p / ((1 - alpha) * q + alpha * p))",
    bounds=(0, math.inf),
    top="log2(1 / alpha), 6.64 for 0.01",
    references=["steck2018"],
    needs=("train", "genre"),
    no_value="It needs items with a genre both in the user's history in train and in their list.",
    ranges={
        "alpha": (
            "a share between 0 and 1, such as 0.01",
            lambda alpha: 0 < alpha < 1,
        )
    },
)
def calibration(
    lists: Lists, k: int | None = None, *, genre: object = None, alpha: float = 0.01
) -> PerUser:
    """How far the genres of a list are from those of the user's history, in bits: 0 if
    the shares are the same.

    sum over genres of p log(p / ((1 - alpha) q + alpha p)), where p is the genre's
    share of what the user had in train and q its share of the list; an item of several
    genres counts in each by an equal part. Steck 2018, RecSys, where it is C_KL: the
    divergence of Kullback and Leibler, less is better.

    Items without a genre do not count. Users who have no history, or no genre in it or
    in the list, have no value.

    Parameters
    ----------
    genre : str or list of str, optional
        The column of `items=` that names genres, as lists or as `"comedy|drama"`; or
        columns of 0 and 1; by itself a column named genre, genres, category,
        categories, tag or tags.
    alpha : float, default 0.01
        How much of p is put into q, so that a genre the list lacks costs no infinity;
        0.01 in the paper.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> more = {"train": sample.train, "items": sample.items}
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test, **more)
    >>> round(ev.calibration(k=10), 4)
    1.5042
    """
    shown = lists.upto(k)
    had_user, had_item = lists.history
    genres, names = lists.catalogue.described(genre, "genre")
    genres = _shares(genres)
    p = _shares(lists.table_of(had_user, had_item) @ genres)
    q = _shares(lists.table_of(shown.user, shown.item) @ genres)
    # Sparse tables: where p is 0, nothing is added.
    ratio = p.multiply(((1 - alpha) * q + alpha * p).power(-1))
    ratio.data = np.log2(ratio.data)
    earned = p.multiply(ratio)

    def rows(user: int) -> TermRows:
        """Return the genres of one user, those of which the history has most first."""
        tables = (p, q, earned)
        of_history, of_list, credit = (each[[user]].toarray()[0] for each in tables)
        order = np.argsort(-of_history, kind="stable")
        order = order[(of_history + of_list)[order] > 0]
        return TermRows(
            earned=credit[order],
            names={"p": of_history[order], "q": of_list[order], "alpha": alpha},
            of={"genre": [str(names[each]) for each in order.tolist()]},
        )

    # Shares that are the same may differ in their last digit, and no divergence is
    # below 0.
    value = np.maximum(earned.sum(axis=1), 0.0)
    has_both = (np.diff(p.indptr) > 0) & (np.diff(q.indptr) > 0)
    return PerUser(np.where(has_both, value, np.nan), rows)


def _shares(of_rows: Sparse) -> Sparse:
    """Return each row as shares that add up to 1, or nothing."""
    shares = of_rows.copy()
    size: Floats = of_rows.sum(axis=1)
    shares.data = shares.data / np.repeat(size, np.diff(shares.indptr))
    return shares
