"""Frames on which a library's metric raises an error, or follows no recorded rule.

`as_in` refuses both.

A row of `refusals.csv` says in words which frames these are, and names the question of
`AskedNumber` that recognises them; the column `refuses` of `presets.csv` lists the rows
of each preset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import Preset
from recnb.data import Joined, Source
from recnb.data.sheet import grades_of
from recnb.display.data_file import rows_of
from recnb.errors import FrameError
from recnb.metrics.hits import Floats

PAIR = ["user", "item"]
#: What still applies where no user is left.
OF_NOBODY = (
    "no list of k",
    "no place k",
    "nothing relevant",
    "users without relevant",
    "neither",
)


class NoRuleError(FrameError):
    """A library's number follows no rule that is recorded, so it could be any."""


class Refusal(NamedTuple):
    """A row of `refusals.csv`: frames for which a library has no number.

    It raises an error or, if there is a remedy, its number follows no rule.
    """

    word: str
    question: str  #: the method of `AskedNumber`
    argument: str  #: its argument, a whole number; empty if it takes none
    frames: str  #: in words
    remedy: str

    def applies(self, asked: AskedNumber) -> bool:
        """Return whether the frames are such."""
        question = getattr(asked, self.question)
        if self.argument:
            return bool(question(int(self.argument)))
        return bool(question())


#: By the words of the column `refuses` in `presets.csv`.
REFUSALS = {row["word"]: Refusal(**row) for row in rows_of("libraries/refusals.csv")}


def refuse(preset: Preset | None, asked: AskedNumber) -> None:
    """Raise an error where the library of a preset does.

    The same where its number follows no recorded rule.
    """
    if preset is None:
        return
    for word in preset.refuses:
        if asked.joined is None and word not in OF_NOBODY:
            continue
        refusal = REFUSALS[word]
        if refusal.applies(asked):
            raise _error_of(preset, refusal)


def _error_of(preset: Preset, refusal: Refusal) -> FrameError:
    end = f"on {refusal.frames}, so it has no number for these frames."
    subject = f"{preset.label} "
    if not refusal.remedy:
        return FrameError(f"raises an error {end}", subject=subject)
    problem = f"follows no rule that recnb could record {end}"
    fix = refusal.remedy
    if preset.note:
        fix = f"{fix} By defect: {preset.note}."
    return NoRuleError(problem, fix=fix, subject=subject)


class Places(NamedTuple):
    """Places of lists; a value for each."""

    chance: Floats  #: of a hit there, over all orders of equal scores
    lowest: Floats  #: relevance of such a hit
    highest: Floats


@dataclass(frozen=True)
class AskedNumber:
    """What a library is asked for, and what its metrics may trip over."""

    source: Source
    convention: Convention
    joined: Joined | None  #: None where no user is left
    k: int | None

    # Relevance

    @property
    def grades(self) -> pl.Series:
        """The relevance of each row of the truth."""
        return grades_of(self.source.truth)

    def has_fractions(self) -> bool:
        return bool((self.grades % 1 != 0).any())

    def has_negative_grades(self) -> bool:
        return bool((self.grades < 0).any())

    def has_negative_integers(self) -> bool:
        return self.grades.dtype.is_integer() and self.has_negative_grades()

    def has_grades_above(self, top: int) -> bool:
        return bool((self.grades > top).any())

    def has_grades(self) -> bool:
        return bool((self.grades * (self.grades - 1) != 0).any())

    # Users

    def has_users_without_truth(self) -> bool:
        return _has_other_users(self.source.recs, self.source.truth)

    def has_users_without_list(self) -> bool:
        return _has_other_users(self.source.truth, self.source.recs)

    def has_other_users(self) -> bool:
        return self.has_users_without_truth() or self.has_users_without_list()

    def has_nothing_relevant(self) -> bool:
        return self._relevant_rows().is_empty()

    def has_users_without_relevant(self) -> bool:
        has_empty_lists = len(self.source.users_without_items) > 0
        return has_empty_lists or len(self._users_without_relevant()) > 0

    def has_users_with_neither(self) -> bool:
        users = self._users_without_relevant()
        return not users.is_in(self.source.recs["user"].implode()).all()

    # Lists

    def has_lists_of_one(self) -> bool:
        if self.joined is None:
            return False
        return bool((self.joined.list_length < 2).any())

    def has_lists_of_hits_alone(self) -> bool:
        relevant = self._relevant_rows()
        hits = self.source.recs.join(relevant, on=PAIR, how="semi")
        others = self.source.recs.join(relevant, on=PAIR, how="anti")
        return not hits["user"].is_in(others["user"].implode()).all()

    def has_repeats(self) -> bool:
        return bool(self.source.recs.select(PAIR).is_duplicated().any())

    def has_no_list_of_k(self) -> bool:
        if self.k is None:
            return False
        lengths = self._ranked_rows().group_by("user").len()
        return int(lengths["len"].to_numpy().max()) < self.k

    def has_no_place_k(self) -> bool:
        """Equal scores share their middle place, rounded down."""
        if self.joined is None:
            return True
        if self.k is None:
            return False
        users = self.joined.users
        if self.convention.no_relevant == "skip":
            # Metrics of gains leave users without any out later.
            users = self._users_with_relevant()
        rows = self._ranked_rows().filter(pl.col("user").is_in(users.implode()))
        place = pl.col("score").rank("average", descending=True).over("user").floor()
        return int(rows.select(place.max()).item() or 0) < self.k

    def has_short_lists(self) -> bool:
        if self.joined is None or self.k is None:
            return False
        users = self.joined.users
        listed = self.source.recs.filter(pl.col("user").is_in(users.implode()))
        lengths = listed.group_by("user").len()
        return lengths.height < len(users) or bool((lengths["len"] < self.k).any())

    def has_unsorted_rows(self) -> bool:
        if "score" not in self.source.recs.columns:
            return False
        rows = self.source.recs.select("user", "score")
        rows = rows.sort("user", maintain_order=True)
        is_same_user = pl.col("user") == pl.col("user").shift(1)
        falls_not = pl.col("score") >= pl.col("score").shift(1)
        return bool(rows.select((is_same_user & falls_not).any()).item())

    def _ranked_rows(self) -> pl.DataFrame:
        """Return user and score of every row that is ranked.

        Missed items last, if the convention ranks them.
        """
        recs = self.source.recs
        order = self.convention.order
        if order == "row":
            score = -pl.int_range(pl.len()).cast(pl.Float64)
        elif order == "rank":
            score = -pl.col("rank").cast(pl.Float64)
        else:
            score = pl.col(order).cast(pl.Float64)
        rows = recs.select("user", score=score)
        if self.convention.candidates == "list":
            return rows
        missed = self.source.truth.select(PAIR).unique().join(recs, on=PAIR, how="anti")
        return pl.concat([rows, missed.select("user", score=pl.lit(-np.inf))])

    def _users_without_relevant(self) -> pl.Series:
        users = self.source.truth["user"].unique()
        with_relevant = self._relevant_rows()["user"]
        return users.filter(~users.is_in(with_relevant.implode()))

    def _users_with_relevant(self) -> pl.Series:
        rows = self._relevant_rows()
        if self.convention.judged == "list":
            rows = rows.join(self.source.recs, on=PAIR, how="semi")
        return rows["user"]

    def _relevant_rows(self) -> pl.DataFrame:
        truth = self.source.truth
        if "relevance" not in truth.columns:
            return truth
        return truth.filter(grades_of(truth) > 0)

    # Equal scores

    def has_ties(self) -> bool:
        """Return whether equal scores decide which places of the first k have a hit."""
        places = self._places_of_hits(longer_than=0)
        return bool((places.chance < 1 - 1e-9).any())

    def has_graded_ties(self, length: int) -> bool:
        """Return whether ties decide a hit, or its grade, in lists longer than this."""
        places = self._places_of_hits(longer_than=length)
        is_unsure = (places.chance < 1 - 1e-9) | (places.highest != places.lowest)
        return bool(is_unsure.any())

    def _places_of_hits(self, longer_than: int) -> Places:
        """Return the places down to k of longer lists that may have a hit.

        None if no scores are equal.
        """
        assert self.joined is not None
        convention = self.joined.convention
        hits = self.source.under(replace(convention, ties="expected")).hits(None)
        if hits.tied is None:
            return Places(np.zeros(0), np.zeros(0), np.zeros(0))
        is_near = hits.list_length[hits.user] > longer_than
        if self.k is not None and convention.cutoff == "k":
            is_near &= hits.rank <= self.k
        user = hits.user[is_near]
        rank = hits.rank[is_near]
        is_next = np.ones(len(user), dtype=bool)
        is_next[1:] = (np.diff(user) != 0) | (np.diff(rank) != 0)
        place = np.flatnonzero(is_next)
        relevance = hits.relevance[is_near]
        return Places(
            chance=np.add.reduceat(hits.tied.weight[is_near], place),
            lowest=np.minimum.reduceat(relevance, place),
            highest=np.maximum.reduceat(relevance, place),
        )


def _has_other_users(frame: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Return whether a user of one frame is not in the other."""
    return not frame["user"].is_in(other["user"].unique().implode()).all()
