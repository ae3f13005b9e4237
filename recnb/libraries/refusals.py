"""Frames on which a library's metric raises an error, or returns a number that follows
no recorded rule: `as_in` refuses both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import Preset
from recnb.data import Joined, Source
from recnb.data.sheet import grades_of
from recnb.errors import FrameError

PAIR = ["user", "item"]


class NoRuleError(FrameError):
    """A library's number follows no rule that is recorded, so it could be any."""


@dataclass(frozen=True)
class AskedNumber:
    """What a library is asked for, and what its metrics trip over."""

    source: Source
    convention: Convention
    joined: Joined | None  #: None where no user is left
    k: int | None

    def users_without(self, frame: str) -> bool:
        """Return whether a user of one frame is not in the other, the one that is
        named.
        """
        recs, truth = self.source.recs["user"], self.source.truth["user"]
        users, others = (recs, truth) if frame == "truth" else (truth, recs)
        return not users.is_in(others.unique().implode()).all()

    def candidates(self) -> pl.DataFrame:
        """Return user and score of every row that is ranked; missed items last, if the
        convention ranks them.
        """
        recs, order = self.source.recs, self.convention.order
        score = (
            -pl.int_range(pl.len())
            if order == "row"
            else pl.col(order) * (-1 if order == "rank" else 1)
        )
        rows = recs.select("user", score=score.cast(pl.Float64))
        if self.convention.candidates == "list":
            return rows
        missed = self.source.truth.select(PAIR).unique().join(recs, on=PAIR, how="anti")
        return pl.concat([rows, missed.select("user", score=pl.lit(-np.inf))])

    def no_list_of_k(self) -> bool:
        """Return whether every list is shorter than k."""
        return (
            self.k is not None
            and int(self.candidates().group_by("user").len()["len"].to_numpy().max())
            < self.k
        )

    def no_place_k(self) -> bool:
        """Return whether no item of a user evaluated stands at place k; equal scores
        share their middle place, rounded down.
        """
        if self.joined is None:
            return True
        users, recs, truth = self.joined.users, self.source.recs, self.source.truth
        if (
            self.convention.no_relevant == "skip"
        ):  # metrics of gains leave users without any out later
            liked = (
                truth.filter(grades_of(truth) > 0)
                if "relevance" in truth.columns
                else truth
            )
            users = (
                liked.join(recs, on=PAIR, how="semi")
                if self.convention.judged == "list"
                else liked
            )["user"]
        rows = self.candidates().filter(pl.col("user").is_in(users.implode()))
        place = pl.col("score").rank("average", descending=True).over("user").floor()
        return self.k is not None and int(rows.select(place.max()).item() or 0) < self.k

    def short_lists(self) -> bool:
        """Return whether a user evaluated has fewer than k rows."""
        if self.joined is None or self.k is None:
            return False
        rows = (
            self.source.recs.filter(pl.col("user").is_in(self.joined.users.implode()))
            .group_by("user")
            .len()
        )
        return rows.height < len(self.joined.users) or bool(
            (rows["len"] < self.k).any()
        )

    def unsorted_rows(self) -> bool:
        """Return whether a row has no lower score than the row before it of its list."""
        if "score" not in self.source.recs.columns:
            return False
        rows = self.source.recs.select("user", "score").sort(
            "user", maintain_order=True
        )
        same, rising = (
            pl.col("user") == pl.col("user").shift(1),
            pl.col("score") >= pl.col("score").shift(1),
        )
        return bool(rows.select((same & rising).any()).item())

    def ties(self, *, graded: bool = False, above: int = 0) -> bool:
        """Return whether equal scores decide which places of the first k have a hit,
        or, if `graded`, a hit of which grade.

        `above`: only in lists that are longer.
        """
        assert self.joined is not None
        hits = self.source.under(replace(self.joined.convention, ties="expected")).hits(
            None
        )
        depth = (
            np.inf if self.k is None or self.joined.convention.cutoff != "k" else self.k
        )
        near = (hits.rank <= depth) & (hits.list_length[hits.user] > above)
        if hits.tied is None or not near.any():
            return False
        user, rank, relevance, chance = (
            hits.user[near],
            hits.rank[near],
            hits.relevance[near],
            hits.tied.weight[near],
        )
        starts = np.flatnonzero(
            np.r_[True, (np.diff(user) != 0) | (np.diff(rank) != 0)]
        )
        unsure = np.add.reduceat(chance, starts) < 1 - 1e-9
        differ = np.maximum.reduceat(relevance, starts) != np.minimum.reduceat(
            relevance, starts
        )
        return bool(unsure.any() or (graded and differ.any()))


class Refusal(NamedTuple):
    """Frames for which a library has no number: it raises an error or, if there is a
    remedy, its number follows no rule.
    """

    frames: str
    applies: Callable[[AskedNumber], bool]
    remedy: str = ""


def _of_grades(
    frames: str, applies: Callable[[pl.Series], object], remedy: str = ""
) -> Refusal:
    """Refuse relevance by its column."""
    return Refusal(
        frames, lambda asked: bool(applies(grades_of(asked.source.truth))), remedy
    )


NO_TRUTH = Refusal(
    "users of the recommendations with no truth",
    lambda asked: asked.users_without("truth"),
)
NO_LIST = Refusal(
    "users of the truth with no list", lambda asked: asked.users_without("recs")
)
DIFFER = "Give scores that differ."
DECIDE = "equal scores that decide where a relevant item stands"
#: By the words of the column `refuses` in presets.csv.
REFUSALS: dict[str, Refusal] = {
    "fractions": _of_grades(
        "relevance that is not whole", lambda grades: (grades % 1 != 0).any()
    ),
    "negative grades": _of_grades(
        "relevance below 0", lambda grades: (grades < 0).any()
    ),
    "negative integers": _of_grades(
        "relevance below 0 in a column of integers",
        lambda grades: grades.dtype.is_integer() and (grades < 0).any(),
    ),
    **{
        f"grades above {top}": _of_grades(
            f"relevance above {top}",
            partial(lambda top, grades: (grades > top).any(), top),
        )
        for top in (4, 30, 31)
    },
    "other users": Refusal(
        "users that are in one frame only",
        lambda asked: NO_TRUTH.applies(asked) or NO_LIST.applies(asked),
    ),
    "users without truth": NO_TRUTH,
    "users without list": NO_LIST,
    "one item": Refusal(
        "lists of fewer than two items",
        lambda asked: (
            asked.joined is not None
            and bool((asked.joined.all_hits.list_length < 2).any())
        ),
    ),
    "no list of k": Refusal(
        "frames in which no list has k items", AskedNumber.no_list_of_k
    ),
    "no place k": Refusal(
        "frames in which no list of a user evaluated has an item at place k",
        AskedNumber.no_place_k,
    ),
    "grades": _of_grades(
        "relevance other than 0 and 1",
        lambda grades: (grades * (grades - 1) != 0).any(),
        "Give a truth of 0 and 1.",
    ),
    "not binary": _of_grades(
        "relevance other than 0 and 1",
        lambda grades: (grades * (grades - 1) != 0).any(),
    ),
    "negatives": _of_grades(
        "relevance below 0",
        lambda grades: (grades < 0).any(),
        "Give relevance of 0 or more.",
    ),
    "repeats": Refusal(
        "pairs that are recommended twice",
        lambda asked: bool(asked.source.recs.select(PAIR).is_duplicated().any()),
        "Recommend each pair once.",
    ),
    "ties": Refusal(
        "equal scores that decide where a hit stands", AskedNumber.ties, DIFFER
    ),
    "graded ties": Refusal(DECIDE, partial(AskedNumber.ties, graded=True), DIFFER),
    "long ties": Refusal(
        f"{DECIDE}, in lists of more than 15",
        partial(AskedNumber.ties, graded=True, above=15),
        DIFFER,
    ),
    "unsorted rows": Refusal(
        "rows that do not fall in score from each to the next of their list",
        AskedNumber.unsorted_rows,
        "Sort each list by its scores, highest first, and give scores that differ.",
    ),
    "short lists": Refusal(
        "lists of fewer than k items",
        AskedNumber.short_lists,
        "Ask for a k that every list reaches.",
    ),
}


def refuse(preset: Preset | None, asked: AskedNumber) -> None:
    """Raise an error where the library of a preset does, or where its number follows no
    recorded rule.
    """
    if preset is None:
        return
    of_nobody = {
        "no list of k",
        "no place k",
    }  # what still applies where no user is left
    for word in (
        preset.refuses
        if asked.joined is not None
        else (one for one in preset.refuses if one in of_nobody)
    ):
        frames, applies, remedy = REFUSALS[word]
        if applies(asked):
            does = (
                "follows no rule that recnb could record"
                if remedy
                else "raises an error"
            )
            note = f" By defect: {preset.note}." if preset.note and remedy else ""
            problem = f"{does} on {frames}, so it has no number for these frames."
            kind = NoRuleError if remedy else FrameError
            raise kind(
                problem, fix=f"{remedy}{note}".strip(), subject=f"{preset.label} "
            )
