"""The join of lists with the truth.

It says which items of a list are relevant, at which rank, and what there was to find:

1. Match and rank. Of many rows with given ranks, Polars counts the lists
   (`match_given_ranks`); otherwise numpy puts them in order (`match_in_numpy` in
   `rules.py`). Both return `Matches`.
2. What there is to find: the wanted rows, which are the relevant truth rows of the users
   evaluated. Numbered by the ids of users, they are the *entries*.
3. Hits, by `find_hits`: the matches that are wanted, by the ids of users.

    recs                      truth                    truth rows, by user, best first
    frame                     frame                    truth frame
    row   user item score     row  user item relevance row   row  user
    0     b    i    9         0    b    x    1         0     1    a
    1     a    j    8         1    a    k    3         1     2    b
    2     a    k    5         2    b    i    2         2     0    b
    3     b    x    1

    matches              wanted            hits
    truth row rank       entry truth row   user rank entry
    1         1          0     0           a    2    0
    0         2          1     1           b    1    1
    2         2          2     2           b    2    2

Which rows are relevant and which users count is decided here. Where a library departs
otherwise, its own step is in `rules.py`, which lists them. The words for rows are in
`matches.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import rules
from recnb.data.ids import each_once, positions
from recnb.data.matches import (
    Matches,
    RepeatedRankError,
    Truth,
    TruthRows,
    judged_by_join,
)
from recnb.data.sheet import is_relevant, repeated
from recnb.metrics.hits import Bools, Hits, Ints, order_by_user_and_rank

#: Up to as many rows of lists, numpy takes less time than a query of Polars.
FEW_ROWS = 50_000


class JoinResult(NamedTuple):
    """What is kept of two frames."""

    #: The users evaluated, sorted.
    users: pl.Series
    hits: Hits
    #: [entry] -> frame row of the truth.
    frame_row_of_entry: Ints
    #: Whether some user has a list and rows of the truth.
    in_both: bool
    #: Users of either frame who have no relevant item.
    n_without_relevant: int
    #: Whether some list leaves a rank empty.
    has_gaps: bool


class Wanted(NamedTuple):
    """What there is to find: the relevant truth rows of the users evaluated."""

    #: [truth row] -> whether it is wanted.
    is_wanted: Bools
    #: [entry] -> truth row.
    rows: Ints
    #: [truth row] -> its first entry; of no use if it is not wanted.
    entry: Ints


def join(
    recs: pl.DataFrame,
    truth: Truth,
    convention: Convention,
    all_items: pl.Series | None = None,
) -> JoinResult:
    """Join lists with the truth under a convention whose order is settled.

    `all_items` has every item, sorted, by
    default those of both tables. Raises a RepeatError; the caller knows the frames and
    says which rows are repeated.
    """
    rules.refuse_contradictions(convention)

    # Match and rank.
    if recs.height > FEW_ROWS and ranks_are_kept(convention):
        matches = match_given_ranks(recs, truth, convention)
    else:
        matches = rules.match_in_numpy(recs, truth, convention, all_items)

    # What there is to find.
    truth_rows = rules.unjudged_as_zero(matches.truth, convention)
    row_is_relevant = _relevant_rows(matches, truth_rows, convention)
    n_users = len(matches.users)
    n_relevant = np.bincount(truth_rows.user[row_is_relevant], minlength=n_users)
    with_list = matches.n_rows > 0
    with_truth = np.bincount(truth_rows.user, minlength=n_users) > 0
    is_evaluated = {
        "truth": with_truth,
        "recs": with_list,
        "both": with_list & with_truth,
        "union": with_list | with_truth,
    }[convention.averaged_users]
    if convention.no_relevant == "skip":
        is_evaluated = is_evaluated & (n_relevant > 0)
    is_wanted = row_is_relevant & is_evaluated[truth_rows.user]
    rows, entry = np.flatnonzero(is_wanted), np.cumsum(is_wanted) - 1
    wanted = Wanted(is_wanted, rows, entry)
    if convention.duplicates == "rows":
        wanted = _with_copies(wanted, matches)

    return JoinResult(
        users=matches.users.filter(pl.Series(is_evaluated)),
        hits=find_hits(matches, truth_rows, wanted, is_evaluated, convention),
        frame_row_of_entry=truth_rows.frame_row[wanted.rows],
        in_both=bool((with_list & with_truth).any()),
        n_without_relevant=int((n_relevant == 0).sum()),
        has_gaps=matches.has_gaps,
    )


# ---- lists whose ranks are given


def ranks_are_kept(convention: Convention) -> bool:
    """Return whether given ranks are all there is: no row is added or leaves."""
    return convention.keeps_ranks and convention.candidates == "list"


def match_given_ranks(
    recs: pl.DataFrame, truth: Truth, convention: Convention
) -> Matches:
    """Match lists whose ranks are given with the truth; Polars counts them.

    Raises a RepeatError.
    """
    lists = _sizes_of_lists(recs)
    _refuse_repeated_ranks(recs, lists)
    judged = judged_by_join(recs, truth, convention)
    users = each_once(lists["user"], truth.users)
    truth_rows = truth.among(users)
    rank = recs["rank"].to_numpy()[judged.listed]
    user = positions(users, lists["user"])
    n_rows = np.zeros(len(users), dtype=np.int64)
    n_rows[user] = lists["n_rows"].to_numpy()
    last_rank = np.zeros(len(users), dtype=np.int64)
    last_rank[user] = lists["last_rank"].to_numpy()
    return Matches(
        users=users,
        truth=truth_rows,
        truth_row=truth_rows.of_frame_rows(judged.judging),
        rank=rank,
        score=-rank,
        n_rows=n_rows,
        last_rank=last_rank,
        has_gaps=bool((last_rank != n_rows).any()),
    )


def _sizes_of_lists(recs: pl.DataFrame) -> pl.DataFrame:
    """Return user, number of rows, last rank and sum of the ranks' hashes of each list."""
    rank = pl.col("rank")
    sizes = {"n_rows": pl.len(), "last_rank": rank.max(), "hashes": rank.hash().sum()}
    return recs.lazy().group_by("user").agg(**sizes).collect(engine="streaming")


def _refuse_repeated_ranks(recs: pl.DataFrame, lists: pl.DataFrame) -> None:
    """Raise an error for a rank that a list gives twice.

    Ranks 1 to n, each once, have one sum of hashes, modulo 2**64. Another set of ranks
    with this sum has chance 2**-64: only the rows of lists with other sums are looked at.
    """
    n_rows = lists["n_rows"].to_numpy()
    ranks = pl.Series(np.arange(1, int(n_rows.max(initial=0)) + 1))
    sum_of_first = np.cumsum(ranks.hash().to_numpy(), dtype=np.uint64)
    has_all_ranks = lists["hashes"].to_numpy() == sum_of_first[n_rows - 1]
    if has_all_ranks.all():
        return
    others = lists["user"].filter(pl.Series(~has_all_ranks))
    rows = recs.filter(pl.col("user").is_in(others.implode()))
    if repeated(rows, ["user", "rank"]).height:
        raise RepeatedRankError


# ---- what there is to find, and hits


def _relevant_rows(matches: Matches, truth: TruthRows, convention: Convention) -> Bools:
    """Return which truth rows are relevant."""
    row_is_relevant = is_relevant(truth.relevance, convention)
    if convention.judged == "truth" or convention.candidates == "catalogue":
        # With the whole catalogue below each list, every item is recommended.
        return row_is_relevant
    # What was not recommended is not judged, hence not relevant. Rows that `padded` added
    # are recommended, and have matches.
    is_matched = np.zeros(len(truth.user), dtype=bool)
    is_matched[matches.truth_row] = True
    is_relevant_and_matched: Bools = row_is_relevant & is_matched
    return is_relevant_and_matched


def _with_copies(wanted: Wanted, matches: Matches) -> Wanted:
    """Repeat each wanted row of the truth as often as it was matched, once at least.

    Of the wanted rows 0, 2 and 3 let row 2 be matched twice. Its hits have its first entry:

        entry    0  1  2  3        truth row   0  1  2  3
        rows     0  2  2  3        entry       0     1  3
    """
    times = rules.copies_of_each(wanted.rows, matches)
    entry = wanted.entry.copy()
    entry[wanted.rows] = np.cumsum(times) - times
    return wanted._replace(rows=np.repeat(wanted.rows, times), entry=entry)


def find_hits(
    matches: Matches,
    truth: TruthRows,
    wanted: Wanted,
    is_evaluated: Bools,
    convention: Convention,
) -> Hits:
    """Return the matches that are wanted as hits, and what there was to find."""
    position = np.cumsum(is_evaluated) - 1  # [user] -> among those evaluated
    hit_match = _hit_matches(matches, wanted, convention)
    truth_row = matches.truth_row[hit_match]
    hits = Hits(
        user=position[truth.user[truth_row]],
        rank=rules.shared_rank(matches, hit_match, convention.ties),
        list_length=matches.last_rank[is_evaluated],
        relevance=truth.relevance[truth_row],
        entry=wanted.entry[truth_row],
        truth_user=position[truth.user[wanted.rows]],
        truth_relevance=truth.relevance[wanted.rows],
        max_relevance=float(truth.relevance.max(initial=0.0)),
    )
    if convention.ties == "expected":
        return rules.average_over_ties(hits, *matches.ties_of(hit_match))
    return hits


def _hit_matches(matches: Matches, wanted: Wanted, convention: Convention) -> Ints:
    """Return the matches that are hits, by user and rank.

    Ranks that equal scores share come later (`rules.shared_rank`) and keep this order.
    """
    is_hit = wanted.is_wanted[matches.truth_row]
    if rules.only_positive_scores_hit(convention):
        is_hit &= matches.score > 0
    hit_match = np.flatnonzero(is_hit)
    user = matches.truth.user[matches.truth_row[hit_match]]
    hit_match = hit_match[order_by_user_and_rank(user, matches.rank[hit_match])]
    if convention.duplicates == "hit_once":
        return rules.first_of_each(hit_match, matches)
    return hit_match
