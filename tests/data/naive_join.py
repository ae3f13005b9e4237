"""The join in plain loops: the law that `recnb.data.join` is held against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recnb.conventions import Convention

Row = dict[str, Any]


class RepeatedError(Exception):
    """Rows are repeated that may not be."""


@dataclass
class Place:
    """A row of a list, at its rank."""

    item: Any
    score: float
    row: int | None  #: of recommendations; None: it was added
    given_rank: int = 0
    rank: int = 0
    above: int = 0  #: ranks above those of equal scores
    tied: int = 1  #: rows of the same score


@dataclass
class NaiveJoin:
    """What a join must give."""

    users: list[Any] = field(default_factory=list)
    #: User, rank, relevance, number of the entry, and the share that it has of this rank.
    hits: list[tuple[int, int, float, int, float]] = field(default_factory=list)
    #: User, relevance, and row of the truth.
    entries: list[tuple[int, float, int]] = field(default_factory=list)
    list_length: list[int] = field(default_factory=list)
    #: Of each row of recommendations; 0: it left its list.
    rank_of_row: dict[int, int] = field(default_factory=dict)
    in_both: bool = False
    n_without_relevant: int = 0
    has_gaps: bool = False
    max_relevance: float = 0.0


def naive_join(recs: list[Row], truth: list[Row], convention: Convention) -> NaiveJoin:
    """Join rows of recommendations and of the truth under a convention."""
    refuse_repeats(recs, truth, convention)
    result = NaiveJoin()
    unjudged_as_zero = (
        convention.judged_only and convention.negative_relevance == "zero"
    )
    items = sorted({row["item"] for row in [*recs, *truth]})
    for user in sorted({row["user"] for row in [*recs, *truth]}):
        listed = [n for n, row in enumerate(recs) if row["user"] == user]
        judged = {
            row["item"]: (n, row["relevance"])
            for n, row in enumerate(truth)
            if row["user"] == user
        }
        places = ranked(listed, recs, judged, convention)
        for place in places:
            if place.row is not None:
                result.rank_of_row[place.row] = place.rank
        last = max([place.rank for place in places], default=0)
        given = [recs[row].get("rank", 0) for row in listed]
        if convention.keeps_ranks and (judged or others_count(convention)):
            result.has_gaps |= max(given, default=0) != len(given)
        if convention.candidates == "catalogue":
            places, last = with_catalogue(places, last, items, convention)
        if unjudged_as_zero:
            judged = {
                item: (n, max(relevance, 0.0))
                for item, (n, relevance) in judged.items()
            }
        result.in_both |= bool(listed and judged)
        for _n, relevance in judged.values():
            result.max_relevance = max(result.max_relevance, relevance)
        add_user(result, user, places, last, bool(listed), judged, convention)
    return result


def others_count(convention: Convention) -> bool:
    """Return whether a number may see the list of a user whom the truth lacks."""
    of_others = convention.averaged_users in ("recs", "union")
    return of_others or convention.candidates == "catalogue"


def refuse_repeats(recs: list[Row], truth: list[Row], convention: Convention) -> None:
    """Raise an error for rows that may not be repeated."""
    by_rank = convention.order == "rank"
    judged = [(row["user"], row["item"]) for row in truth]
    users = {row["user"] for row in truth}
    recs = [row for row in recs if row["user"] in users or others_count(convention)]
    ranks = [(row["user"], row["rank"]) for row in recs] if by_rank else []
    pairs = [(row["user"], row["item"]) for row in recs]
    if convention.duplicates != "error":
        pairs = []
    elif by_rank:
        pairs = [pair for pair in pairs if pair in judged]
    for keys in (ranks, judged, pairs):
        if len(set(keys)) < len(keys):
            raise RepeatedError


def ranked(
    listed: list[int], recs: list[Row], judged: dict[Any, Any], convention: Convention
) -> list[Place]:
    """Put the rows of one list in order, and rank them."""
    places = []
    for row in listed:
        score = score_of(row, recs[row], convention)
        given = recs[row]["rank"] if convention.order == "rank" else 0
        places.append(Place(recs[row]["item"], score, row, given))
    if convention.candidates == "padded":
        known = {place.item for place in places}
        missed = [item for item in judged if item not in known]
        places += [Place(item, -np.inf, None) for item in missed]
    if convention.ties == "last":
        places.reverse()
    if convention.ties in ("item_asc", "item_desc"):
        rising = convention.ties == "item_asc"
        items = sorted({place.item for place in places}, reverse=not rising)
        places.sort(key=lambda place: items.index(place.item))
    if convention.ties == "worst":
        places.sort(key=lambda place: judged.get(place.item, (0, 0.0))[1])
    places.sort(key=lambda place: -place.score)
    places = staying(places, judged, convention)
    last_given = max([place.given_rank for place in places], default=0)
    n_added = 0
    for number, place in enumerate(places, 1):
        place.rank = number
        if convention.keeps_ranks:
            n_added += place.row is None
            place.rank = place.given_rank or last_given + n_added
    for place in places:
        equal = [other for other in places if other.score == place.score]
        place.above, place.tied = equal[0].rank - 1, len(equal)
    return places


def score_of(number: int, row: Row, convention: Convention) -> float:
    """Return what orders a list, the highest first."""
    if convention.order == "rank":
        return -row["rank"]
    if convention.order == "row":
        return -number
    if convention.score_dtype == "float32":
        return float(np.float32(row["score"]))
    return float(row["score"])


def staying(
    places: list[Place], judged: dict[Any, Any], convention: Convention
) -> list[Place]:
    """Leave out repeats, and what is not judged, as the convention says."""
    if convention.duplicates == "dedupe":
        first = {place.item: place for place in reversed(places)}
        places = [place for place in places if first[place.item] is place]
    if convention.judged_only:
        places = [place for place in places if place.item in judged]
        if convention.negative_relevance == "zero":
            places = [place for place in places if judged[place.item][1] >= 0]
    return places


def with_catalogue(
    places: list[Place], last: int, items: list[Any], convention: Convention
) -> tuple[list[Place], int]:
    """Put all other items below a list, sorted by id; return the last rank as well."""
    known = {place.item for place in places}
    below = [item for item in items if item not in known]
    end = last + len(below)
    for number, item in enumerate(below, last + 1):
        rank = end if convention.ties == "max_rank" else number
        places.append(Place(item, -np.inf, None, rank=rank, above=rank - 1))
    return places, end


def add_user(
    result: NaiveJoin,
    user: Any,
    places: list[Place],
    last: int,
    has_list: bool,
    judged: dict[Any, Any],
    convention: Convention,
) -> None:
    """Add what is kept of one user."""
    times = {item: sum(place.item == item for place in places) for item in judged}
    wanted = {
        item: (row, relevance)
        for item, (row, relevance) in judged.items()
        if is_relevant(relevance, convention)
        and (convention.judged == "truth" or times[item])
    }
    result.n_without_relevant += not wanted
    counts = {
        "truth": bool(judged),
        "recs": has_list,
        "both": bool(judged) and has_list,
        "union": True,
    }[convention.averaged_users]
    if not counts or (convention.no_relevant == "skip" and not wanted):
        return
    position = len(result.users)
    result.users.append(user)
    result.list_length.append(last)
    entry_of = {}
    # The most relevant first; equal ones in the order of the rows.
    for item, (row, relevance) in sorted(wanted.items(), key=lambda it: -it[1][1]):
        entry_of[item] = len(result.entries)
        copies = max(times[item], 1) if convention.duplicates == "rows" else 1
        result.entries += [(position, relevance, row)] * copies
    hit = set()
    for place in sorted(places, key=lambda place: place.rank):
        never = convention.nonpositive_scores == "never_hit"
        if never and convention.order == "score" and place.score <= 0:
            continue
        once = convention.duplicates == "hit_once"
        if place.item not in wanted or (once and place.item in hit):
            continue
        hit.add(place.item)
        relevance, entry = wanted[place.item][1], entry_of[place.item]
        for rank in ranks_of(place, convention.ties):
            share = 1 / place.tied if convention.ties == "expected" else 1.0
            result.hits.append((position, rank, relevance, entry, share))


def ranks_of(place: Place, ties: str) -> list[int]:
    """Return the rank of a hit, or all that its tie could give it."""
    first, last = place.above + 1, place.above + place.tied
    if ties == "expected":
        return [*range(first, last + 1)]
    if ties == "max_rank":
        return [last]
    if ties == "floor_mean_rank":
        return [(first + last) // 2]
    return [place.rank]


def is_relevant(relevance: float, convention: Convention) -> bool:
    """Return whether a judged item is relevant."""
    if convention.relevant_from is not None:
        return relevance >= convention.relevant_from
    if convention.relevant == "any":
        return True
    return relevance != 0 if convention.relevant == "!=0" else relevance > 0
