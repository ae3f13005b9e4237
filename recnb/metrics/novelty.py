"""Metrics of whole lists, beyond accuracy: novelty, popularity, the long tail, diversity.

Each gives one value per user and needs no truth. Users whose list holds nothing are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from recnb.errors import OptionError, RecnbError
from recnb.metrics import pairwise
from recnb.metrics.hits import Bools
from recnb.metrics.metric import metric, number_option
from recnb.metrics.recommendation_lists import Cut, Lists, PerUser, Popularity, TermRows
from recnb.metrics.sorting import Floats, Ints


def _list_or_k(options: Mapping[str, Any]) -> str:
    return "n_shown" if options["divisor"] == "list" else "k"


@metric(
    called="novelty",
    sentence="One bit more means items that half as many users have. High values are not good in themselves.",
    symbol="Novelty", over="list", bounds=(0, np.inf), top="log2 of the users of train", references=["zhou2010"],
    credit=lambda options: "log(total / count)" + (" / log(n_users)" if options["normalize"] else ""),
    out_of=_list_or_k, needs=("train",),
)  # fmt: skip
def novelty(
    lists: Lists,
    k: int | None = None,
    *,
    popularity: Literal["users", "interactions"] = "users",
    cold: Literal["log2(users)", "drop", "zero", "error"] = "log2(users)",
    divisor: Literal["list", "k"] = "list",
    normalize: bool = False,
    cutoff: Cut = "k",
) -> PerUser:
    """How surprising the shown items are, in bits: 0 if every user already had them all.

    mean over the list of -log2(count / total), where count is of users who had the item, or of
    interactions with it; divided by log2(users) with `normalize`. Mean self-information: Zhou et al. 2010, PNAS 107(10).

    - cold, an item that train does not have: "log2(users)" as if one user had it; "drop" leaves it out; "zero" 0 bits
    - divisor: "k" also for a list that is shorter; cutoff: "none" is of whole lists
    """
    shown = lists.upto(k, cutoff)
    count = lists.catalogue.counts(popularity, "novelty")
    n_users = lists.catalogue.n_users
    total = n_users if popularity == "users" else int(count.sum())
    bits = np.full(lists.n_items, 0.0 if cold == "zero" else np.log2(max(n_users, 1)))
    known = count > 0
    bits[known] = np.log2(total / count[known])
    counted = total / np.exp2(bits)  # what a cold item counts as, as well
    if normalize:  # with one user there is nothing to divide by, and no value
        bits = bits / np.log2(n_users) if n_users > 1 else np.full(lists.n_items, np.nan)
    names = {"count": counted, "total": total, "n_users": n_users}
    return _mean_of_items(shown, bits, _kept(shown, count, cold, "novelty"), divisor, k, names)


@metric(
    called="popularity", sentence="High where a list repeats what everyone has anyway.",
    symbol="Popularity", over="list", bounds=(0, 1), references=["abdollahpouri2019"],
    other_bounds=lambda options: (0, np.inf) if options["popularity"] == "count" else None,
    credit=lambda options: "count" if options["popularity"] == "count" else "count / total",
    out_of=_list_or_k, needs=("train",),
)  # fmt: skip
def popularity(
    lists: Lists,
    k: int | None = None,
    *,
    popularity: Popularity = "users",
    cold: Literal["zero", "drop", "error"] = "zero",
    divisor: Literal["list", "k"] = "list",
    cutoff: Cut = "k",
) -> PerUser:
    """How popular the shown items are: the share of users who already had the average item of the list.

    mean over the list of count / total. Average recommendation popularity: Abdollahpouri et al. 2019, FLAIRS 32.

    - popularity: "interactions" is interactions / all of them; "count" is interactions, not divided; "max" is
      interactions / those of the most popular item
    - cold, an item that train does not have: "zero" 0; "drop" leaves it out
    """
    shown = lists.upto(k, cutoff)
    count = lists.catalogue.counts(popularity, "popularity")
    out_of = {
        "users": lists.catalogue.n_users,
        "interactions": int(count.sum()),
        "count": 1,
        "max": int(count.max(initial=0)),
    }[popularity]
    kept, names = _kept(shown, count, cold, "popularity"), {"count": count, "total": out_of}
    return _mean_of_items(shown, count / max(out_of, 1), kept, divisor, k, names)


@metric(
    called="popularity rank", sentence="Random recommendations have about one half.",
    symbol="Popularity rank", over="list", credit="place / total", out_of=_list_or_k, bounds=(0, 1),
    references=["ekstrand2017"], needs=("train",),
)  # fmt: skip
def popularity_rank(
    lists: Lists,
    k: int | None = None,
    *,
    popularity: Literal["users", "interactions"] = "users",
    cold: Literal["zero", "drop", "error"] = "zero",
    divisor: Literal["list", "k"] = "list",
    cutoff: Cut = "k",
) -> PerUser:
    """Mean popularity rank of the recommended items among all items: 1 is the most popular, near 0 the least.

    mean over the list of (rank of the item's count, from the least popular) / (items in train); items that are equally
    popular share their mean rank. Ekstrand and Mahant 2017, FLAIRS 30; lenskit MeanPopRank, where a cold item is 0.
    """
    shown = lists.upto(k, cutoff)
    count = lists.catalogue.counts(popularity, "popularity_rank")
    place = np.zeros(lists.n_items)
    _, group, size = np.unique(count[count > 0], return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(size) - (size - 1) / 2
    place[count > 0] = mean_rank[group]
    total = max(len(group), 1)
    kept, names = _kept(shown, count, cold, "popularity_rank"), {"place": place, "total": total}
    return _mean_of_items(shown, place / total, kept, divisor, k, names)


@metric(
    called="tail share", sentence="How much of what is shown is rarely had. What the tail is depends on `ratio`.",
    symbol="Tail share", over="list", credit="tail", out_of=_list_or_k, bounds=(0, 1),
    references=["abdollahpouri2019"], needs=("train",),
)  # fmt: skip
def tail_share(
    lists: Lists, k: int | None = None, *, ratio: float = 0.8, divisor: Literal["list", "k"] = "list", cutoff: Cut = "k"
) -> PerUser:
    """What share of the list comes from the long tail, the least popular items of train.

    items of the list in the tail / length of the list; the tail is the `ratio` of train's items, rounded down but at
    least one, with the fewest interactions: four fifths unless said otherwise, so that the head is the most popular
    fifth. Of equally rare items those whose id sorts first. A ratio above 1 is a count: the tail is every item with so
    many interactions or fewer. Abdollahpouri et al. 2019, FLAIRS 32; recbole TailPercentage (0.1). Cold items are not in
    the tail.
    """
    shown = lists.upto(k, cutoff)
    count = lists.catalogue.counts("interactions", "tail_share")
    size = number_option("ratio", ratio, "share above 0, such as 0.1, or count above 1", lambda value: value > 0)
    in_train = np.flatnonzero(count)
    if size > 1:
        tail = (count > 0) & (count <= size)
    else:
        rarest = in_train[np.argsort(count[in_train], kind="stable")]
        tail = np.zeros(lists.n_items, dtype=bool)
        tail[rarest[: max(int(len(in_train) * size), 1)]] = True
    return _mean_of_items(shown, tail.astype(np.float64), None, divisor, k, {"tail": tail.astype(np.int64)})


#: Pairs of an explanation: those of a hundred items. A list of 20,000 items has 200 million.
PAIRS_EXPLAINED = 4950

#: Formula text of a pair, by distance: each names what the pair has in common, or how far apart it is.
_PAIR = {"cosine": "cosine", "jaccard": "jaccard", "cooccurrence": "together"}


def _pair(options: Mapping[str, Any]) -> str:
    if options["distances"] is not None:
        return "distance"
    alike = _PAIR.get(options["distance"], "")
    return f"1 - {alike}" if alike else "differing"


def _diversity_bounds(options: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the bounds of diversity where they are not those of a distance of two directions."""
    if options["distance"] == "hamming" or options["distances"] is not None or options["divisor"] == "list":
        return 0, np.inf
    return None


@metric(
    called="intra-list diversity", sentence="It depends on the features: items with equal features have distance 0.",
    symbol="Diversity", over="pairs", credit=_pair, bounds=(0, 2), references=["smyth2001", "ziegler2005"],
    other_bounds=_diversity_bounds,
    out_of=lambda options: "n_shown * (n_shown - 1) / 2" if options["divisor"] == "pairs" else "n_shown",
    top="1, 2 where features can be negative", needs=("features",),
    no_value="A list of one item has no pairs: say single='zero' to count 0.",
)  # fmt: skip
def diversity(
    lists: Lists,
    k: int | None = None,
    *,
    distance: Literal["cosine", "jaccard", "hamming", "cooccurrence"] = "cosine",
    features: object = None,
    distances: object = None,
    divisor: Literal["pairs", "list"] = "pairs",
    single: Literal["skip", "zero"] = "skip",
    cutoff: Cut = "k",
) -> PerUser:
    """Mean distance between two items of a list, 0 if all have the same features.

    sum over pairs of the list of distance / (n (n - 1) / 2). Intra-list diversity: Smyth and McClave 2001, ICCBR; 1 less
    the intra-list similarity of Ziegler et al. 2005, WWW.

    - distance: "cosine" 1 - cosine of the features, 1 if an item has none; "jaccard" 1 - shared features / features of
      either, 0 if neither has any; "hamming" how many features differ; "cooccurrence" 1 - users with both /
      sqrt(users with one · users with the other), from train instead of features
    - features: which columns of `items=` say what an item is like: one of genres (`"comedy|drama"` or lists of words),
      or several of numbers; by itself the column of genres, or all columns of 0 and 1
    - distances: instead of features, how far any two items are apart: a frame with items as index and as columns, or
      a square matrix in the order of `items=`
    - divisor: "list" divides by n instead of the number of pairs
    - single, a list with one item: "skip" leaves it out; "zero" counts 0
    """
    if distances is not None and (features is not None or distance != "cosine"):
        raise OptionError("distances= says how far items are apart, so features= and distance= have nothing to say.")
    shown = lists.upto(k, cutoff)
    n, n_pairs = shown.n_shown, shown.n_shown * (shown.n_shown - 1) / 2
    total = pairwise.total_distance(shown, distance, features, distances)
    total = np.where(np.abs(total) > 1e-12 * n_pairs, total, 0.0)  # exactly 0, whatever was rounded
    out_of = np.where(n == 1, 1.0, n_pairs if divisor == "pairs" else n)

    def rows(user: int) -> TermRows:
        """Return each pair, computed as a list of its own."""
        pairs = pairwise.first_pairs(shown.of_user(user), PAIRS_EXPLAINED)
        earned = diversity.function(pairs, distance=distance, features=features, distances=distances).total
        alike = np.round(1 - earned, 12) + 0.0  # the number that is shown
        names = dict.fromkeys(_PAIR.values(), alike) | dict.fromkeys(("distance", "differing"), earned)
        of_user = {"n_shown": n[user]}
        items = pairs.item.reshape(-1, 2)
        return TermRows(earned, names | of_user, items, n_rows=int(n_pairs[user]), total=float(total[user]))

    return PerUser(total, out_of, (n > 1) | ((n == 1) & (single == "zero")), rows)


def _kept(shown: Lists, count: Ints, cold: str, metric: str) -> Bools | None:
    """Return which items count: all, or those that train has."""
    never = (count == 0) & (shown.times_shown > 0)
    if cold == "error" and never.any():
        raise RecnbError(
            f"train has never seen {shown.examples(never)}, and cold='error' refuses them: say cold='drop' to leave them "
            "out or cold='zero' to count 0.",
            subject=f"{metric}: ",
        )
    return count > 0 if cold == "drop" else None


def _mean_of_items(
    shown: Lists, value: Floats, kept: Bools | None, divisor: str, k: int | None, names: Mapping[str, Any]
) -> PerUser:
    """Return the mean over each list of a value that each item has; `names` holds what the formula names, by item."""
    row_kept = np.ones(len(shown.item), dtype=bool) if kept is None else kept[shown.item]
    earned, n_kept = np.where(row_kept, value[shown.item], 0.0), shown.per_user(row_kept.astype(np.float64))
    of_length = shown.n_shown if k is None else np.full(shown.n_users, k)
    out_of = n_kept if divisor == "list" else of_length.astype(np.float64)

    def rows(user: int) -> TermRows:
        """Return the rows of one list; those that do not count are left out."""
        row = np.flatnonzero((shown.user == user) & row_kept)
        item = shown.item[row]
        of_item = {name: each[item] if isinstance(each, np.ndarray) else each for name, each in names.items()}
        return TermRows(earned[row], {**of_item, "n_shown": n_kept[user], "k": out_of[user]}, item, shown.rank[row])

    return PerUser(shown.per_user(earned), out_of, (shown.n_shown > 0) & (out_of > 0), rows)
