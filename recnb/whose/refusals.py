"""What a library raises an error on, in words: `as_in` refuses the same frames instead of giving a number that never was."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from recnb.conventions.presets import Preset
from recnb.errors import FrameError, NoUsersError
from recnb.frames import Prepared, Source

#: A word of the column `refuses` in presets.csv -> what it means, and whether these frames are so.
Asked = Callable[[Source, Prepared, int | None], bool]


def _grades(source: Source) -> pl.Series:
    return source.truth["relevance"] if "relevance" in source.truth.columns else pl.Series([1.0])


def _lacks(wanted: pl.Series, there: pl.Series) -> bool:
    return not bool(wanted.is_in(there.unique().implode()).all())


def _longest(prepared: Prepared) -> int:
    return int(prepared.list_length.max(initial=0))


REFUSALS: dict[str, tuple[str, Asked]] = {
    "fractions": ("relevance that is not whole", lambda s, p, k: bool((_grades(s) % 1 != 0).any())),
    "negative grades": ("relevance below 0", lambda s, p, k: bool((_grades(s) < 0).any())),
    "grades above 4": ("relevance above 4", lambda s, p, k: bool((_grades(s) > 4).any())),
    "other users": (
        "users that are in one frame only",
        lambda s, p, k: _lacks(s.recs["user"], s.truth["user"]) or _lacks(s.truth["user"], s.recs["user"]),
    ),
    "users without truth": (
        "users of the recommendations with no truth",
        lambda s, p, k: _lacks(s.recs["user"], s.truth["user"]),
    ),
    "users without list": ("users of the truth with no list", lambda s, p, k: _lacks(s.truth["user"], s.recs["user"])),
    "one item": ("lists of fewer than two items", lambda s, p, k: bool((p.list_length < 2).any())),
    "no list of k": ("frames in which no list has k items", lambda s, p, k: k is not None and _longest(p) < k),
    "no place k": (
        "frames in which no list has an item at place k",
        lambda s, p, k: k is not None and p.last_place < k,
    ),
}


def refuse(source: Source, chosen: Preset, k: int | None) -> None:
    """Raise an error where the library does."""
    if not chosen.refuses:
        return
    try:
        prepared = source.under(source.as_given(chosen.convention))
    except NoUsersError:
        return
    for word in chosen.refuses:
        meaning, is_so = REFUSALS[word]
        if is_so(source, prepared, k):
            raise FrameError(
                f"{chosen.library} raises an error for {chosen.variant} on {meaning}, so it has no number for these frames."
            )


__all__ = ["REFUSALS", "refuse"]
