"""The ranking as other libraries make it: ties shared or averaged, lists padded, rows repeated, scores in single precision.

recnb's own defaults need none of this and are joined in blocks of users (`join.py`); a convention that does is worked
out here, on whole numpy columns, into the same `Hits`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import ROW_ORDERS
from recnb.data import validation
from recnb.data.encoding import best_first_by_user, distinct, positions
from recnb.data.population import is_averaged
from recnb.data.ranking import best_first, item_key, tie_key
from recnb.data.relevance import is_relevant
from recnb.errors import Argument, OptionError
from recnb.metrics.hits import Floats, Hits, Ints, Tied, count_within, in_order

#: The values of a convention for which the join in blocks serves; all others need this one.
IN_BLOCKS: dict[str, tuple[str, ...]] = {
    "score_dtype": ("float64",),
    "ties": ROW_ORDERS,
    "duplicates": ("error", "dedupe"),
    "judged": ("truth",),
    "nonpositive_scores": ("keep",),
    "candidates": ("list",),
    "relevant": (">0",),
    "negative_relevance": ("error", "zero"),
}


def is_general(convention: Convention) -> bool:
    """Whether a convention needs the general join."""
    return any(getattr(convention, axis) not in words for axis, words in IN_BLOCKS.items())


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Ranked rows: user, item, score, rank, ties and row of the truth."""

    user: Ints
    item: Ints
    score: Floats
    place: Ints  #: in the order of the rule for ties, from 1
    above: Ints  #: how many rows of the list score higher
    tied: Ints  #: how many score the same, itself among them
    judged: Ints  #: its row of the truth; -1 where it is not judged
    row: Ints  #: its row of the recommendations; -1 where it is padding


@dataclass(frozen=True, eq=False)
class Codes:
    """Users and items of both frames by their place among all, the same under every convention."""

    users: pl.Series  #: of either frame, sorted
    items: pl.Series  #: all there are, sorted
    user: Ints
    item: Ints
    truth_user: Ints
    truth_item: Ints

    @classmethod
    def of(cls, recs: pl.DataFrame, truth: pl.DataFrame, items: pl.Series) -> Codes:
        """Code the rows of both frames."""
        users = distinct(pl.concat([recs["user"], truth["user"]]))
        of_recs = positions(users, recs["user"]), positions(items, recs["item"])
        return cls(users, items, *of_recs, positions(users, truth["user"]), positions(items, truth["item"]))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def with_truth(self, judged: pl.DataFrame) -> Codes:
        """The codes of rows of the truth of which each pair is kept once; the same where no pair was repeated."""
        if judged.height == len(self.truth_user):
            return self
        of_truth = positions(self.users, judged["user"]), positions(self.items, judged["item"])
        return Codes(self.users, self.items, self.user, self.item, *of_truth)


def score_of(recs: pl.DataFrame, convention: Convention) -> Floats:
    """Make of rank, row or score a score that is higher for better."""
    if convention.order == "rank":
        return -recs["rank"].to_numpy().astype(np.float64)
    if convention.order == "row":
        return -np.arange(recs.height, dtype=np.float64)
    if convention.score_dtype != "float32":
        return validation.in_floats(recs["score"])
    with np.errstate(over="ignore"):  # what is too large becomes infinite, as it does in those libraries
        return recs["score"].cast(pl.Float64).to_numpy().astype(np.float32).astype(np.float64)


def rank_rows(codes: Codes, score: Floats, grade: Floats, convention: Convention) -> RankedRows:
    """Rank rows: padding below the lists, ties by the convention, repeated pairs removed if the convention removes them."""
    user, item, row = codes.user, codes.item, np.arange(len(codes.user))
    pairs = codes.truth_user * codes.n_items + codes.truth_item
    judged = positions(pl.Series(pairs), pl.Series(user * codes.n_items + item))
    if convention.candidates == "padded":
        missed = np.flatnonzero(np.bincount(judged[judged >= 0], minlength=len(grade)) == 0)
        user, item = np.r_[user, codes.truth_user[missed]], np.r_[item, codes.truth_item[missed]]
        score, judged = np.r_[score, np.full(len(missed), -np.inf)], np.r_[judged, missed]
        row = np.r_[row, np.full(len(missed), -1)]
    order = best_first(user, score, _within(convention.ties, codes.items, item, judged, grade))
    if convention.duplicates == "dedupe":
        order = order[_first_of_each((user * codes.n_items + item)[order])]
    user, item, score, judged, row = user[order], item[order], score[order], judged[order], row[order]
    place = count_within(user)
    if convention.order == "rank" and convention.duplicates != "dedupe":
        # Ranks are data: a place that they leave empty stays empty, and padding goes on from the last of them.
        own = np.isfinite(score)
        last, count = np.zeros(len(codes.users), dtype=np.int64), np.bincount(user[own], minlength=len(codes.users))
        np.maximum.at(last, user[own], (-score[own]).astype(np.int64))
        place = place - count[user] + last[user]
        place[own] = (-score[own]).astype(np.int64)
    new = np.r_[True, (user[1:] != user[:-1]) | (score[1:] != score[:-1])] if len(user) else np.zeros(0, dtype=bool)
    starts = np.flatnonzero(new)
    sizes = np.diff(np.r_[starts, len(user)])
    above = np.repeat(place[starts] - 1, sizes)
    return RankedRows(user, item, score, place, above, np.repeat(sizes, sizes), judged, row)


def _within(ties: str, items: pl.Series, item: Ints, judged: Ints, grade: Floats) -> Ints | Floats | None:
    """Return the key that orders equal scores, lowest first; None for the order of rows."""
    if ties == "worst":
        return np.where(judged >= 0, grade[judged], 0.0) if len(grade) else None
    key = item_key(ties, items)
    return tie_key(ties, len(item), None if key is None else key[item])


def _first_of_each(key: Ints) -> Ints:
    """The rows that are the first with their key."""
    if len(key) == 0:
        return key
    order = in_order(key)
    ordered = key[order]
    return np.sort(order[np.r_[True, ordered[1:] != ordered[:-1]]])


@dataclass(frozen=True, eq=False)
class General:
    """The result of the general join."""

    users: pl.Series
    recs: pl.DataFrame  #: the lists as they were ranked: user, item, rank, and the score that ranked them
    truth: pl.DataFrame  #: relevant rows of the users evaluated, as often as they count
    hits: Hits
    n_without_relevant: int  #: users of either frame who have no relevant item


def general_hits(recs: pl.DataFrame, judged: pl.DataFrame, codes: Codes, convention: Convention) -> General:
    """Hits under any convention; `codes` are those of the recommendations and of the truth."""
    if convention.candidates == "catalogue" and convention.ties not in ("first", "max_rank"):
        catalogue, first, shared = (
            Argument("candidates", "catalogue"),
            Argument("ties", "first"),
            Argument("ties", "max_rank"),
        )
        raise OptionError(catalogue, " goes with ", first, " or ", shared, ".")
    if convention.ties == "expected" and convention.duplicates == "hit_once":
        once, dedupe = Argument("duplicates", "hit_once"), Argument("duplicates", "dedupe")
        raise OptionError(Argument("ties", "expected"), " has no mean for ", once, ": choose ", dedupe, ".")
    codes, grade = codes.with_truth(judged), judged["relevance"].to_numpy().astype(np.float64)
    if convention.negative_relevance == "zero":
        grade = np.maximum(grade, 0.0)
    rows = rank_rows(codes, score_of(recs, convention), grade, convention)
    relevant = is_relevant(grade, convention)
    length = np.zeros(len(codes.users), dtype=np.int64)
    np.maximum.at(length, rows.user, rows.place)
    place = {
        "max_rank": rows.above + rows.tied,
        "floor_mean_rank": (2 * rows.above + 1 + rows.tied) // 2,
    }.get(convention.ties, rows.place)

    # The relevant items, as often as each counts.
    times = np.bincount(rows.judged[rows.judged >= 0], minlength=len(grade))
    counts = relevant.astype(np.int64)
    if convention.judged == "list" and convention.candidates != "catalogue":
        counts = counts * (times > 0)
    if convention.duplicates == "rows":
        counts = counts * np.maximum(times, 1)
    listed = np.repeat(np.arange(len(counts)), counts)
    first_listed = np.full(len(counts), -1)
    first_listed[listed[::-1]] = np.arange(len(listed))[::-1]

    hit = (rows.judged >= 0) & (counts[rows.judged] > 0) if len(counts) else np.zeros(len(rows.user), dtype=bool)
    scored = convention.nonpositive_scores == "never_hit" and convention.order == "score"
    if scored:
        hit &= rows.score > 0
    if convention.duplicates == "hit_once":
        at = np.flatnonzero(hit)
        hit = np.zeros(len(hit), dtype=bool)
        hit[at[_first_of_each(rows.judged[at])]] = True
    user, rank, judged_row = rows.user[hit], place[hit], rows.judged[hit]
    above, tied = rows.above[hit], rows.tied[hit]
    if convention.candidates == "catalogue":
        missed = np.flatnonzero(relevant & (times == 0) & (not scored))
        held = np.unique(rows.user * codes.n_items + rows.item)
        end = length + codes.n_items - np.bincount(held // codes.n_items, minlength=len(length))
        below = (
            _catalogue_places(codes, held, length, missed)
            if convention.ties == "first"
            else end[codes.truth_user[missed]]
        )
        length = end
        user, rank = np.r_[user, codes.truth_user[missed]], np.r_[rank, below]
        judged_row = np.r_[judged_row, missed]
        above, tied = np.r_[above, below - 1], np.r_[tied, np.ones(len(below), dtype=np.int64)]
    order = _by_rank(user, rank)
    user, rank, judged_row, above, tied = (column[order] for column in (user, rank, judged_row, above, tied))

    hits = Hits(
        user=user, rank=rank, list_length=length, relevance=grade[judged_row], truth_row=first_listed[judged_row],
        truth_user=codes.truth_user[listed], truth_relevance=grade[listed], max_relevance=float(grade.max(initial=0.0)),
    )  # fmt: skip
    if convention.ties == "expected":
        hits = spread(hits, above, tied)
    truth = judged.select(pl.all().gather(listed)).with_columns(relevance=pl.Series(grade[listed]))
    own = rows.row >= 0
    lists = recs.select(pl.all().gather(rows.row[own])).with_columns(rank=pl.Series(rows.place[own]))
    if convention.score_dtype == "float32" and convention.order == "score":
        lists = lists.with_columns(score=pl.Series(rows.score[own]))
    lists = lists.select("user", "item", "rank", *(["score"] if "score" in lists.columns else []))
    return _of_population(codes, hits, lists, truth, convention)


def _catalogue_places(codes: Codes, held: Ints, length: Ints, missed: Ints) -> Ints:
    """Return the ranks of missed items if the whole catalogue is ranked below each list, sorted by id.

    No users × items table is made: an item's place is the list's length and its number among all items, less those
    before it that the list holds already.
    """
    user, item = codes.truth_user[missed], codes.truth_item[missed]
    before = np.searchsorted(held, user * codes.n_items + item) - np.searchsorted(held, user * codes.n_items)
    return np.asarray(length[user] + item - before + 1)


def _of_population(
    codes: Codes, hits: Hits, lists: pl.DataFrame, truth: pl.DataFrame, convention: Convention
) -> General:
    """Keep the users who are averaged, and renumber them."""
    n = len(codes.users)
    # By user, best first, as the join in blocks has them.
    order = best_first_by_user(hits.truth_user, hits.truth_relevance)[0]
    if order is not None:
        hits, truth = hits.with_truth_in(order), truth.select(pl.all().gather(order))
    with_list, with_truth = (np.bincount(column, minlength=n) > 0 for column in (codes.user, codes.truth_user))
    averaged = is_averaged(with_list, with_truth, hits.n_relevant > 0, convention)
    users, without = codes.users.filter(pl.Series(averaged)), int((hits.n_relevant == 0).sum())
    return General(users, lists, truth.filter(pl.Series(averaged[hits.truth_user])), hits.among(averaged), without)


def _by_rank(user: Ints, rank: Ints) -> Ints:
    """The order by user, then rank."""
    return in_order(user * (int(rank.max(initial=0)) + 1) + rank)


def spread(hits: Hits, above: Ints, tied: Ints) -> Hits:
    """Hits over all ranks that their ties could put them on, each with its chance: the mean over orders in closed form.

    In a run of g equal scores below a rows, m of them hits, a hit stands at each rank with chance 1/g; given that it
    stands j-th in the run, (j - 1)(m - 1)/(g - 1) other hits of the run are expected above it; and the first hit of
    the run stands j-th with chance C(g - j, m - 1)/C(g, m).
    """
    if len(hits.user) == 0:
        none = np.zeros(0)
        return replace(hits, tied=Tied(none, none, none, none > 0))
    run = np.r_[0, np.cumsum((hits.user[1:] != hits.user[:-1]) | (above[1:] != above[:-1]))]
    n_hits = np.bincount(run)
    hits_above = (count_within(hits.user) - count_within(run))[np.r_[True, run[1:] != run[:-1]]]
    row = np.repeat(np.arange(len(run)), tied)
    j = count_within(row)
    m, g = n_hits[run[row]], tied[row]
    earlier = hits_above[run[row]]
    others = np.divide((j - 1.0) * (m - 1), g - 1, out=np.zeros(len(j)), where=g > 1)
    first = np.where(earlier == 0, _first_chance(g, m, j) / m, 0.0)
    rank = above[row] + j
    order = _by_rank(hits.user[row], rank)
    row = row[order]
    nth = np.asarray(1.0 + earlier + others, dtype=np.float64)
    return replace(
        hits, user=hits.user[row], rank=rank[order], relevance=hits.relevance[row], truth_row=hits.truth_row[row],
        tied=Tied(weight=1.0 / g[order], nth=nth[order], first=first[order], top=(j == 1)[order]),
    )  # fmt: skip


def _first_chance(g: Ints, m: Ints, j: Ints) -> Floats:
    """Return the probability that the first of m hits among g ties is at position j: C(g - j, m - 1) / C(g, m)."""
    from scipy.special import gammaln

    def log_choose(n: Ints, m: Ints) -> Floats:
        return np.asarray(gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0))

    # C(n, m) of n below m is 0, as gammaln is infinite at 0 and at whole numbers below.
    return np.asarray(np.exp(log_choose(g - j, m - 1) - log_choose(g, m)))
