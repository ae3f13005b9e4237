"""The frames of the bench: made from a seed, in memory or in files.

A user's recommended items are all different, and a fifth of the relevant ones is among
them at random ranks. Truth is shuffled and graded 1 to 5, so that no contender can lean
on its order.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Size:
    """How much data is made."""

    name: str
    users: int
    list_length: int
    relevant: int  #: per user

    @property
    def rows(self) -> int:
        """The number of recommendations."""
        return self.users * self.list_length


SMALL = Size("1 M × 0.5 M, 100 k users", 100_000, 10, 5)
LARGE = [
    Size("10 M × 2 M, 100 k users, lists of 100", 100_000, 100, 20),
    Size("10 M × 5 M, 1 M users", 1_000_000, 10, 5),
]
#: Validation users of a training loop, and those of a large shop.
FEW = Size("10 k × 5 k, 1,000 users", 1_000, 10, 5)
EPOCHS = [Size("100 users × 10", 100, 10, 5), Size("1,000 users × 10", 1_000, 10, 5)]
#: What is run before the clock starts, where a contender compiles or imports at its
#: first call.
TINY = Size("warm-up", 50, 10, 5)
PIECE = 1_000_000  #: rows of a file of recommendations


def make(
    size: Size,
    *,
    strings: bool = False,
    shuffled: bool = False,
    scores: bool = False,
    repeats: float = 0,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make recommendations and truth; `repeats` is the share of recommended rows that
    come twice.
    """
    rng = np.random.default_rng(0)
    recs, truth = (pl.DataFrame(columns) for columns in _columns(size, rng))
    truth = truth.sample(fraction=1, shuffle=True, seed=1)
    if scores:
        recs = recs.select(
            "user", "item", score=rng.random(recs.height) / 2 - recs["rank"]
        )
    if repeats:
        recs = pl.concat([recs, recs.sample(fraction=repeats, seed=3)])
    if shuffled:
        recs = recs.sample(fraction=1, shuffle=True, seed=2)
    if strings:
        as_text = (
            pl.format("user-{}", "user").alias("user"),
            pl.format("item-{}", "item").alias("item"),
        )
        recs, truth = (frame.with_columns(as_text) for frame in (recs, truth))
    return recs, truth


def _columns(
    size: Size, rng: np.random.Generator, first_user: int = 0
) -> tuple[dict[str, Any], dict[str, Any]]:
    n, k, relevant = size.users, size.list_length, size.relevant
    users = np.arange(first_user, first_user + n)
    items = rng.integers(0, 50_000, n)[:, np.newaxis] + np.arange(k) * 7
    hit = rng.random((n, relevant)) < 0.2
    missed = (
        1_000_000 + rng.integers(0, 50_000, n)[:, np.newaxis] + np.arange(relevant) * 7
    )
    places = rng.permuted(np.tile(np.arange(k), (n, 1)), axis=1)[:, :relevant]
    wanted = np.where(hit, np.take_along_axis(items, places, axis=1), missed)
    recs = {
        "user": np.repeat(users, k),
        "item": items.ravel(),
        "rank": np.tile(np.arange(1, k + 1), n),
    }
    grades = rng.integers(1, 6, n * relevant).astype(float)
    return recs, {
        "user": np.repeat(users, relevant),
        "item": wanted.ravel(),
        "relevance": grades,
    }


def write(folder: pathlib.Path, recs: pl.DataFrame, truth: pl.DataFrame) -> None:
    """Write both frames as Arrow files in one piece."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in (("recs", recs), ("truth", truth)):
        frame.write_ipc(
            folder / f"{name}.arrow", record_batch_size=max(1, frame.height)
        )


def write_pieces(
    folder: pathlib.Path,
    size: Size,
    *,
    shuffled: bool = False,
    scores: bool = False,
) -> None:
    """Write Parquet files of a million recommendations each; `shuffled` mixes the users
    within a file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    users = max(1, PIECE // size.list_length)
    for number, first in enumerate(range(0, size.users, users)):
        piece = Size(
            "", min(users, size.users - first), size.list_length, size.relevant
        )
        frames = (
            pl.DataFrame(columns)
            for columns in _columns(piece, np.random.default_rng(number), first)
        )
        recs, truth = frames
        if scores:
            recs = recs.select("user", "item", score=1 / pl.col("rank"))
        for name, frame in (("recs", recs), ("truth", truth)):
            mixed = (
                frame.sample(fraction=1, shuffle=True, seed=number)
                if shuffled or name == "truth"
                else frame
            )
            mixed.write_parquet(
                folder / f"{name}-{number:05}.parquet", compression="uncompressed"
            )
