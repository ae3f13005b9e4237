"""Hits spread over all ranks that orders of equal scores could put them on."""

from __future__ import annotations

import numpy as np

from recnb.data.matches import RowTies
from recnb.metrics.hits import (
    Floats,
    Hits,
    Ints,
    TieSpread,
    count_within,
    order_by_user_and_rank,
    run_starts,
)


def average_over_ties(hits: Hits, ties: RowTies) -> Hits:
    """Spread each hit over all ranks that the order of its tie could put it on.

    That is the mean over all orders. Of scores 9 5 5 5 let the first and two of the
    others be hits, each with its tie:

        hit  above  n_tied  n_hits  n_hits_above
        0    0      1       1       0
        1    1      3       2       1
        2    1      3       2       1

    These rows are returned. `nth` is 1 for the user's first hit, 2 for the second; it
    is a mean where orders differ. `first` is the chance that the hit is on this rank and
    the user's first:

        hit  place  rank  weight  nth  first
        0    1      1     1       1    1
        1    1      2     1/3     2    0
        1    2      3     1/3     2.5  0
        1    3      4     1/3     3    0
        2    1      2     1/3     2    0
        2    2      3     1/3     2.5  0
        2    3      4     1/3     3    0

    `ties` are by hit.
    """
    hit = np.repeat(np.arange(len(ties.n_tied)), ties.n_tied)
    place = count_within(hit)  # in the tie
    above, n_tied = ties.of(hit)
    n_hits, n_hits_above = (counts[hit] for counts in _hits_in_ties(hits.user, ties))
    rank = above + place
    spread = TieSpread(
        weight=1.0 / n_tied,
        nth=_expected_nth(place, n_tied, n_hits, n_hits_above),
        first=np.where(n_hits_above == 0, _first_chance(place, n_tied, n_hits), 0.0),
    )
    order = order_by_user_and_rank(hits.user[hit], rank)
    return hits.with_rows(
        hit[order],
        rank=rank[order],
        tied=spread.with_rows(order),
    )


def _hits_in_ties(user: Ints, ties: RowTies) -> tuple[Ints, Ints]:
    """Return how many hits each hit's tie has, and how many are in the user's higher ties.

    Hits stand by user and rank, so those of one tie are neighbours.
    """
    first_hit = run_starts(user, ties.above)  # [tie]
    n_hits = np.diff(first_hit, append=len(user))  # [tie]
    n_hits_above = count_within(user)[first_hit] - 1  # [tie]
    return np.repeat(n_hits, n_hits), np.repeat(n_hits_above, n_hits)


def _expected_nth(
    place: Ints, n_tied: Ints, n_hits: Ints, n_hits_above: Ints
) -> Floats:
    """Return which of the user's hits, counted from 1, a hit at a place in its tie is.

    It is a mean over the orders of the tie. Each other hit of the tie is equally likely
    on each of the other places, and place - 1 of these are above this one.
    """
    # A tie of one row has no other place and no other hit: 0 / 1, not 0 / 0.
    other_places = np.maximum(n_tied - 1, 1)
    hits_above_in_tie = (place - 1.0) * (n_hits - 1) / other_places
    nth: Floats = 1.0 + n_hits_above + hits_above_in_tie
    return nth


def _first_chance(place: Ints, n_tied: Ints, n_hits: Ints) -> Floats:
    """Return the probability that a hit is at a place in its tie, and the first of it.

    The hits of a tie can stand in C(n_tied, n_hits) ways. If the first of them is at this
    place, the n_hits - 1 others are on the n_tied - place places below, in C(n_tied -
    place, n_hits - 1) ways. Each hit of the tie is equally likely to be that first one:
    hence / n_hits.
    """
    log_chance = _log_choose(n_tied - place, n_hits - 1) - _log_choose(n_tied, n_hits)
    return np.exp(log_chance) / n_hits


def _log_choose(n: Ints, m: Ints) -> Floats:
    """Return the logarithm of C(n, m), the number of ways to choose m of n."""
    from scipy.special import gammaln

    # C(n, m) of n below m is 0, as gammaln is infinite at 0 and at whole numbers below.
    return np.asarray(gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0))
