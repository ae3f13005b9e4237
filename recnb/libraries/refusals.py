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


class AskedNumber(NamedTuple):
    """What a library is asked for."""

    source: Source
    convention: Convention
    prepared: Prepared | None  #: None where no user is left
    k: int | None


def _lacks(values: pl.Series, others: pl.Series) -> bool:
    return not bool(values.is_in(others.unique().implode()).all())


def _users_without_truth(asked: AskedNumber) -> bool:
    return _lacks(asked.source.recs["user"], asked.source.truth["user"])


def _users_without_list(asked: AskedNumber) -> bool:
    return _lacks(asked.source.truth["user"], asked.source.recs["user"])


def _candidates(asked: AskedNumber) -> pl.DataFrame:
    """Return user and score of every row that is ranked; missed items last, if the convention ranks them."""
    recs, truth, order = asked.source.recs, asked.source.truth, asked.convention.order
    score = -pl.int_range(pl.len()) if order == "row" else pl.col(order) * (-1 if order == "rank" else 1)
    rows = recs.select("user", score=score.cast(pl.Float64))
    if asked.convention.candidates == "list":
        return rows
    missed = truth.select("user", "item").unique().join(recs, on=["user", "item"], how="anti")
    return pl.concat([rows, missed.select("user", score=pl.lit(-np.inf))])


def _no_list_of_k(asked: AskedNumber) -> bool:
    return asked.k is not None and int(_candidates(asked)["user"].value_counts()["count"].to_numpy().max()) < asked.k


def _no_place_k(asked: AskedNumber) -> bool:
    """Return whether no item of a user evaluated stands at place k; equal scores share their middle place, rounded down."""
    if asked.prepared is None:
        return True
    users, source = asked.prepared.users, asked.source
    if asked.convention.no_relevant == "skip":  # metrics of gains leave users without any out later
        graded = "relevance" in source.truth.columns
        liked = source.truth.filter(grades_of(source.truth) > 0) if graded else source.truth
        seen = asked.convention.judged == "list"
        users = (liked.join(source.recs, on=["user", "item"], how="semi") if seen else liked)["user"]
    rows = _candidates(asked).filter(pl.col("user").is_in(users.implode()))
    place = pl.col("score").rank("average", descending=True).over("user").floor()
    return asked.k is not None and int(rows.select(place.max()).item() or 0) < asked.k


def _short_lists(asked: AskedNumber) -> bool:
    if asked.prepared is None or asked.k is None:
        return False
    lengths = asked.source.recs.group_by("user").len()
    lengths = asked.prepared.users.to_frame("user").join(lengths, on="user", how="left")
    return int(lengths["len"].fill_null(0).to_numpy().min()) < asked.k


def _unsorted_rows(asked: AskedNumber) -> bool:
    if "score" not in asked.source.recs.columns:
        return False
    rows = asked.source.recs.select("user", "score").sort("user", maintain_order=True)
    same, rising = pl.col("user") == pl.col("user").shift(1), pl.col("score") >= pl.col("score").shift(1)
    return bool(rows.select((same & rising).any()).item())


def _ties(asked: AskedNumber, *, graded: bool = False, above: int = 0) -> bool:
    """Return whether equal scores decide which places of the first k have a hit, or, if `graded`, a hit of which grade.

    `above`: only in lists that are longer.
    """
    if asked.prepared is None:
        return False
    convention = asked.prepared.convention
    hits = asked.source.under(replace(convention, ties="expected")).hits(None)
    near = (hits.rank <= (np.inf if asked.k is None or convention.cutoff == "none" else asked.k)) & (
        hits.list_length[hits.user] > above
    )
    if hits.tied is None or not near.any():
        return False
    user, rank, relevance, chance = hits.user[near], hits.rank[near], hits.relevance[near], hits.tied.weight[near]
    starts = np.flatnonzero(np.r_[True, (np.diff(user) != 0) | (np.diff(rank) != 0)])
    unsure = np.add.reduceat(chance, starts) < 1 - 1e-9
    differ = np.maximum.reduceat(relevance, starts) != np.minimum.reduceat(relevance, starts)
    return bool(unsure.any() or (graded and differ.any()))


def _grades(word: str, asked: AskedNumber) -> bool:
    return (REFUSED_GRADES | UNRULED_GRADES)[word](grades_of(asked.source.truth))


class Refusal(NamedTuple):
    """Frames for which a library has no number: it raises an error or, if there is a remedy, its number follows no rule."""

    frames: str
    applies: Callable[[AskedNumber], bool]
    remedy: str = ""


DIFFER = "Give scores that differ."
DECIDE = "equal scores that decide where a relevant item stands"
#: By the words of the column `refuses` in presets.csv.
REFUSALS: dict[str, Refusal] = {
    "fractions": Refusal("relevance that is not whole", partial(_grades, "fractions")),
    "negative grades": Refusal("relevance below 0", partial(_grades, "negative grades")),
    "negative integers": Refusal("relevance below 0 in a column of integers", partial(_grades, "negative integers")),
    **{f"grades above {top}": Refusal(f"relevance above {top}", partial(_grades, f"grades above {top}")) for top in (4, 30, 31)},
    "other users": Refusal("users that are in one frame only", lambda asked: _users_without_truth(asked) or _users_without_list(asked)),
    "users without truth": Refusal("users of the recommendations with no truth", _users_without_truth),
    "users without list": Refusal("users of the truth with no list", _users_without_list),
    "one item": Refusal("lists of fewer than two items", lambda asked: asked.prepared is not None and bool((asked.prepared.list_length < 2).any())),
    "no list of k": Refusal("frames in which no list has k items", _no_list_of_k),
    "no place k": Refusal("frames in which no list of a user evaluated has an item at place k", _no_place_k),
    "grades": Refusal("relevance other than 0 and 1", partial(_grades, "grades"), "Give a truth of 0 and 1."),
    "negatives": Refusal("relevance below 0", partial(_grades, "negatives"), "Give relevance of 0 or more."),
    "repeats": Refusal("pairs that are recommended twice", lambda asked: bool(asked.source.recs.select("user", "item").is_duplicated().any()), "Recommend each pair once."),
    "ties": Refusal("equal scores that decide where a hit stands", _ties, DIFFER),
    "graded ties": Refusal(DECIDE, partial(_ties, graded=True), DIFFER),
    "long ties": Refusal(f"{DECIDE}, in lists of more than 15", partial(_ties, graded=True, above=15), DIFFER),
    "unsorted rows": Refusal("rows that do not fall in score from each to the next of their list", _unsorted_rows, "Sort each list by its scores, highest first, and give scores that differ."),
    "short lists": Refusal("lists of fewer than k items", _short_lists, "Ask for a k that every list reaches."),
}  # fmt: skip


def refuse(preset: Preset | None, asked: AskedNumber) -> None:
    """Raise an error where the library of a preset does, or where its number follows no recorded rule."""
    for word in () if preset is None else preset.refuses:
        frames, applies, remedy = REFUSALS[word]
        if asked.prepared is None and word not in ("no list of k", "no place k"):
            continue
        if preset is not None and applies(asked):
            does = "follows no rule that recnb could record" if remedy else "raises an error"
            note = f" By defect: {preset.note}." if preset.note and remedy else ""
            problem = f"{does} on {frames}, so it has no number for these frames."
            raise FrameError(problem, fix=f"{remedy}{note}".strip(), subject=f"{preset.label} ")
