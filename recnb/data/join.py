"""The join of lists with the truth.

It says which items of a list are relevant, at which rank, and what there was to find:

1. `Matches`: the rows of lists that the truth judges, ranked by `match` in `ranking.py`.
2. What there is to find: the wanted rows, which are the relevant truth rows of the users
   evaluated. Numbered in the order of users' ids, they are the *entries*.
3. Hits, by `find_hits`: the matches that are wanted, in the order of users' ids.

    recommendations           truth                      truth rows: by user, best first
    row   user item score     row  user item relevance   truth row   row   user
    0     b    i    9         0    b    x    1           0           1     a
    1     a    j    8         1    a    k    3           1           3     a
    2     a    k    5         2    b    i    2           2           2     b
    3     b    x    1         3    a    j    0           3           0     b

    matches                   wanted                     hits
    truth row   rank          entry   truth row          user   rank   entry
    2           1             0       0                  a      2      0
    1           1             1       2                  b      1      1
    0           2             2       3                  b      2      2
    3           2

Which rows are relevant and which users count is decided here. Where a library departs
otherwise, its step is in the table at the top of `ranking.py`. The words for rows are in
`truth.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import ranking
from recnb.data.expected_ties import average_over_ties
from recnb.data.matches import Matches
from recnb.data.role_table import RoleTable
from recnb.data.rows import RowsInMemory
from recnb.data.truth import GradedTruth, is_relevant
from recnb.errors import FrameError, NoUsersError
from recnb.metrics.hits import Bools, Floats, Hits, Ints, order_by_user_and_rank


class Wanted(NamedTuple):
    """What there is to find: the relevant truth rows of the users evaluated."""

    #: [truth row] -> whether it is wanted.
    is_wanted: Bools
    #: [entry] -> truth row.
    rows: Ints
    #: [truth row] -> its first entry; of no use if it is not wanted.
    entry: Ints

    @classmethod
    def of(cls, is_wanted: Bools, matches: Matches, convention: Convention) -> Wanted:
        """Return wanted rows with their entries: one each, or several in copies.

        Under duplicates="rows" a row is repeated as often as it was matched, once at
        least. Of the wanted rows 0, 2 and 3 let row 2 be matched twice. Its hits have
        its first entry:

            truth row    0  1  2  3        entry  0  1  2  3
            times        1  0  2  1        rows   0  2  2  3
            first entry  0     1  3
        """
        times = is_wanted.astype(np.int64)
        if convention.duplicates == "rows":
            wanted_row = np.flatnonzero(is_wanted)
            times[wanted_row] = ranking.copies_of_each(wanted_row, matches)
        rows = np.repeat(np.arange(len(times)), times)
        return cls(is_wanted, rows, entry=np.cumsum(times) - times)


@dataclass(eq=False, kw_only=True)
class JoinedUsers:
    """The users whom a join evaluates, with their hits."""

    users: pl.Series  #: the users evaluated, sorted
    hits: Hits  #: of whole lists
    convention: Convention
    #: Per user, whether anything was recommended, whatever has left the list or was put
    #: below it.
    has_list: Bools
    n_with_relevant: int  #: users of either frame who have a relevant item
    in_both: bool  #: whether some user has a list and rows of the truth
    has_gaps: bool  #: whether some list that counts leaves a rank empty
    user_weight: Floats | None = None  #: per user; None: all count the same

    def refuse_strangers(self, recs: RoleTable, truth: RoleTable) -> None:
        """Raise an error, with a user of each table, if no user is in both."""
        if not self.in_both:
            listed, judged = recs["user"].first(), truth["user"].first()
            raise FrameError(
                f"no user is in both frames: recommendations hold users such as {listed!r}, "
                f"truth holds users such as {judged!r}. Check that both frames use the "
                "same ids, and the user= column."
            )

    def refuse_no_users(self) -> None:
        """Raise an error if no user can be averaged."""
        if not len(self.users):
            why = _why_nobody_counts(self.convention, self.hits.max_relevance)
            raise NoUsersError(f"no user that counts has a relevant item: {why}")


def join(
    lists: RoleTable,
    truth: GradedTruth,
    convention: Convention,
    all_items: pl.Series | None = None,
    weight: Floats | None = None,
) -> tuple[JoinedUsers, RowsInMemory]:
    """Join lists with the truth under a convention whose order is settled.

    Return the rows behind the hits as well.

    `all_items` has every item, sorted, by default those of both tables. `weight` is that
    of each frame row of the truth.
    """
    ranking.refuse_contradictions(convention)

    # Match and rank.
    matches = ranking.match(lists, truth, convention, all_items)

    # What there is to find.
    truth_by_user = matches.truth_by_user
    row_is_relevant = _relevant_rows(matches, convention)
    n_users = len(matches.users)
    n_relevant = np.bincount(truth_by_user.user[row_is_relevant], minlength=n_users)
    has_list = matches.has_list
    has_truth = np.bincount(truth_by_user.user, minlength=n_users) > 0
    is_evaluated = _evaluated(has_list, has_truth, n_relevant, convention)
    is_wanted = row_is_relevant & is_evaluated[truth_by_user.user]
    wanted = Wanted.of(is_wanted, matches, convention)

    # Hits, and counts of all users.
    hits = find_hits(matches, wanted, is_evaluated, convention)
    frame_row_of_entry = truth_by_user.frame_row[wanted.rows]
    if weight is not None:
        hits = replace(hits, truth_weight=weight[frame_row_of_entry])
    joined = JoinedUsers(
        users=matches.users.filter(pl.Series(is_evaluated)),
        hits=hits,
        convention=convention,
        has_list=has_list[is_evaluated],
        n_with_relevant=int((n_relevant > 0).sum()),
        in_both=bool((has_list & has_truth).any()),
        has_gaps=matches.has_gaps,
    )
    return joined, RowsInMemory(lists, truth, convention, frame_row_of_entry, weight)


def _why_nobody_counts(convention: Convention, highest: float) -> str:
    """Say why no user is averaged, and what to change."""
    averaged = f"averaged_users={convention.averaged_users!r}"
    is_any_relevant = is_relevant(np.array([highest]), convention).all()
    if is_any_relevant and convention.judged == "list":
        return (
            "judged='list' looks at recommended items alone, and none is relevant. Say "
            "judged='truth', and relevant items that lists missed count as well."
        )
    if is_any_relevant and convention.averaged_users in ("recs", "both"):
        return (
            f"{averaged} counts users with a list, and those with a relevant item have "
            "no list. Give them lists; or say averaged_users='truth', and they count."
        )
    needed = "other than 0" if convention.relevant == "!=0" else "above 0"
    if convention.relevant_from is not None:
        needed = f"{convention.relevant_from:g} or more"
    return (
        f"relevance must be {needed} and the highest in the truth is {highest!r}. Check "
        f"relevant_from= and {averaged}."
    )


def _evaluated(
    has_list: Bools, has_truth: Bools, n_relevant: Ints, convention: Convention
) -> Bools:
    """Return for each user whether values are averaged over this user."""
    averaged = {
        "truth": has_truth,
        "recs": has_list,
        "both": has_list & has_truth,
        "union": has_list | has_truth,
    }[convention.averaged_users]
    if convention.no_relevant == "skip":
        return averaged & (n_relevant > 0)
    return averaged


# ---- what there is to find, and hits


def _relevant_rows(matches: Matches, convention: Convention) -> Bools:
    """Return which truth rows are relevant."""
    row_is_relevant = is_relevant(matches.truth_by_user.relevance, convention)
    if convention.judged == "truth" or convention.candidates == "catalogue":
        # With the whole catalogue below each list, every item is recommended.
        return row_is_relevant
    # What was not recommended is not judged, hence not relevant. Rows that `padded` added
    # are recommended, and have matches.
    is_recommended = np.zeros_like(row_is_relevant)
    is_recommended[matches.truth_row] = True
    return row_is_relevant & is_recommended


def find_hits(
    matches: Matches, wanted: Wanted, is_evaluated: Bools, convention: Convention
) -> Hits:
    """Return the matches that are wanted as hits, and what there was to find."""
    truth_by_user = matches.truth_by_user
    position = np.cumsum(is_evaluated) - 1  # [user] -> among those evaluated
    hit_match = _hit_matches(matches, wanted, convention)
    truth_row = matches.truth_row[hit_match]
    hits = Hits(
        user=position[truth_by_user.user[truth_row]],
        rank=ranking.shared_rank(matches, hit_match, convention.ties),
        list_length=matches.last_rank[is_evaluated],
        relevance=truth_by_user.relevance[truth_row],
        entry=wanted.entry[truth_row],
        truth_user=position[truth_by_user.user[wanted.rows]],
        truth_relevance=truth_by_user.relevance[wanted.rows],
        max_relevance=float(truth_by_user.relevance.max(initial=0.0)),
    )
    if convention.ties == "expected":
        return average_over_ties(hits, matches.ties_of(hit_match))
    return hits


def _hit_matches(matches: Matches, wanted: Wanted, convention: Convention) -> Ints:
    """Return the matches that are hits, by user and rank.

    Ranks that equal scores share come later (`ranking.shared_rank`) and keep this order.
    """
    is_hit = wanted.is_wanted[matches.truth_row]
    if ranking.only_positive_scores_hit(convention):
        is_hit &= matches.score > 0
    hit_match = np.flatnonzero(is_hit)
    user = matches.truth_by_user.user[matches.truth_row[hit_match]]
    hit_match = hit_match[order_by_user_and_rank(user, matches.rank[hit_match])]
    if convention.duplicates == "hit_once":
        return ranking.first_of_each(hit_match, matches)
    return hit_match
