"""Frames on which a library's metric raises an error, or returns a number that follows no recorded rule: `as_in` refuses both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import Preset
from recnb.data import Prepared, Source
from recnb.data.relevance import REFUSED_GRADES, UNRULED_GRADES, grades_of
from recnb.errors import FrameError
from recnb.libraries.facts import facts_of

Condition = Callable[[Source, Prepared, int | None], bool]

GRADES = REFUSED_GRADES | UNRULED_GRADES


def _lacks(values: pl.Series, others: pl.Series) -> bool:
    return not bool(values.is_in(others.unique().implode()).all())


def _candidates(source: Source, convention: Convention) -> pl.DataFrame:
    """User and score of every row that is ranked; missed items last, if the convention ranks them."""
    recs, order = source.recs, convention.order
    score = -pl.int_range(pl.len()) if order == "row" else pl.col(order) * (-1 if order == "rank" else 1)
    rows = recs.select("user", score=score.cast(pl.Float64))
    if convention.candidates == "list":
        return rows
    missed = source.truth.select("user", "item").unique().join(recs, on=["user", "item"], how="anti")
    return pl.concat([rows, missed.select("user", score=pl.lit(-np.inf))])


def _longest(source: Source, convention: Convention) -> int:
    return int(_candidates(source, convention)["user"].value_counts()["count"].to_numpy().max())


def _last_place(source: Source, prepared: Prepared) -> int:
    """The last place of an item of a user evaluated; equal scores share their middle place, rounded down."""
    place = pl.col("score").rank("average", descending=True).over("user").floor()
    users = prepared.users
    if prepared.convention.no_relevant == "skip":  # metrics of gains leave users without any out later
        liked = (
            source.truth.filter(grades_of(source.truth) > 0) if "relevance" in source.truth.columns else source.truth
        )
        seen = prepared.convention.judged == "list"
        users = (liked.join(source.recs, on=["user", "item"], how="semi") if seen else liked)["user"]
    rows = _candidates(source, prepared.convention).filter(pl.col("user").is_in(users.implode()))
    return int(rows.select(place.max()).item() or 0)


def _shortest(source: Source, prepared: Prepared) -> int:
    lengths = prepared.users.to_frame("user").join(source.recs.group_by("user").len(), on="user", how="left")
    return int(lengths["len"].fill_null(0).to_numpy().min())


def _open(source: Source, prepared: Prepared, k: int | None, *, graded: bool = False, above: int = 0) -> bool:
    """Whether equal scores decide which places of the first k have a hit, or, if `graded`, a hit of which grade.

    `above`: only in lists that are longer.
    """
    convention = prepared.convention
    if convention.candidates == "list" and not facts_of(source).has_ties:
        return False
    hits = source.under(replace(convention, ties="expected")).hits(None)
    rank_at_most = np.inf if k is None or convention.cutoff == "none" else k
    near = (hits.rank <= rank_at_most) & (hits.list_length[hits.user] > above)
    if hits.tied is None or not near.any():
        return False
    user, rank, relevance, chance = hits.user[near], hits.rank[near], hits.relevance[near], hits.tied.weight[near]
    starts = np.flatnonzero(np.r_[True, (np.diff(user) != 0) | (np.diff(rank) != 0)])
    unsure = np.add.reduceat(chance, starts) < 1 - 1e-9
    differ = np.maximum.reduceat(relevance, starts) != np.minimum.reduceat(relevance, starts)
    return bool(unsure.any() or (graded and differ.any()))


class Refusal(NamedTuple):
    """Frames for which a library has no number."""

    frames: str
    applies: Condition
    remedy: str = ""


def _of_grades(word: str, frames: str, remedy: str = "") -> Refusal:
    return Refusal(frames, lambda source, _prepared, _k: GRADES[word](grades_of(source.truth)), remedy)


#: By the words of the column `refuses` in presets.csv: frames on which the library raises an error.
RAISES: dict[str, Refusal] = {
    "fractions": _of_grades("fractions", "relevance that is not whole"),
    "negative grades": _of_grades("negative grades", "relevance below 0"),
    "negative integers": _of_grades("negative integers", "relevance below 0 in a column of integers"),
    **{f"grades above {top}": _of_grades(f"grades above {top}", f"relevance above {top}") for top in (4, 30, 31)},
    "other users": Refusal(
        "users that are in one frame only",
        lambda s, p, k: _lacks(s.recs["user"], s.truth["user"]) or _lacks(s.truth["user"], s.recs["user"]),
    ),
    "users without truth": Refusal(
        "users of the recommendations with no truth", lambda s, p, k: _lacks(s.recs["user"], s.truth["user"])
    ),
    "users without list": Refusal(
        "users of the truth with no list", lambda s, p, k: _lacks(s.truth["user"], s.recs["user"])
    ),
    "one item": Refusal("lists of fewer than two items", lambda s, p, k: bool((p.list_length < 2).any())),
    "no list of k": Refusal(
        "frames in which no list has k items", lambda s, p, k: k is not None and _longest(s, p.convention) < k
    ),
    "no place k": Refusal(
        "frames in which no list of a user evaluated has an item at place k",
        lambda s, p, k: k is not None and _last_place(s, p) < k,
    ),
}
SCORES_THAT_DIFFER = "Give scores that differ."
#: Frames on which it returns a number that follows no convention.
UNRULED: dict[str, Refusal] = {
    "grades": _of_grades("grades", "relevance other than 0 and 1", "Give a truth of 0 and 1."),
    "negatives": _of_grades("negatives", "relevance below 0", "Give relevance of 0 or more."),
    "repeats": Refusal(
        "pairs that are recommended twice", lambda s, p, k: facts_of(s).has_repeats, "Recommend each pair once."
    ),
    "ties": Refusal("equal scores that decide where a hit stands", _open, SCORES_THAT_DIFFER),
    "graded ties": Refusal(
        "equal scores that decide where a relevant item stands", partial(_open, graded=True), SCORES_THAT_DIFFER
    ),
    "long ties": Refusal(
        "equal scores that decide where a relevant item stands, in lists of more than 15",
        partial(_open, graded=True, above=15),
        SCORES_THAT_DIFFER,
    ),
    "unsorted rows": Refusal(
        "rows that do not fall in score from each to the next of their list",
        lambda s, p, k: not facts_of(s).falls_by_row,
        "Sort each list by its scores, highest first, and give scores that differ.",
    ),
    "short lists": Refusal(
        "lists of fewer than k items",
        lambda s, p, k: k is not None and _shortest(s, p) < k,
        "Ask for a k that every list reaches.",
    ),
}
REFUSALS = RAISES | UNRULED


def refuse(preset: Preset | None, source: Source, prepared: Prepared | Convention, k: int | None) -> None:
    """Raise an error where the library of a preset does, or where its number follows no recorded rule.

    Where no user is left there is only the convention, and no list that reaches k.
    """
    if preset is None:
        return
    for word in preset.refuses:
        if isinstance(prepared, Prepared):
            applies = REFUSALS[word].applies(source, prepared, k)
        else:
            short = word == "no list of k" and k is not None and _longest(source, prepared) < k
            applies = short or word == "no place k"
        if applies:
            does = "raises an error" if word in RAISES else "follows no rule that recnb could record"
            note = f" By defect: {preset.note}." if preset.note and word in UNRULED else ""
            problem = f"{does} on {REFUSALS[word].frames}, so it has no number for these frames."
            raise FrameError(problem, fix=f"{REFUSALS[word].remedy}{note}".strip(), subject=f"{preset.label} ")
