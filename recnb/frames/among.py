"""An evaluation's data for some of its users: the hits they have, unchanged, and their rows of both frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from recnb.frames.prepare import Prepared
from recnb.frames.rows import Held
from recnb.hits import Hits, Ints
from recnb.strings import Sentence


def among(prepared: Prepared, users: pl.Series, note: str | Sentence = "") -> Prepared:
    """The same data of these users alone, all of whom are evaluated; each keeps the values that they have there.

    The hits are taken over and not made again, so what a hit owes to the whole data (a catalogue below the lists, the
    highest relevance) stays as it was.
    """
    kept = prepared.users.is_in(users.implode()).to_numpy()
    position = np.cumsum(kept) - 1
    hits = _of(prepared.hits(None), kept, position)
    source = prepared.source
    if not isinstance(prepared.rows, Held) or source is None or not isinstance(source.rows, Held):
        rows, source = prepared.rows, None
    else:
        rows = Held(prepared.rows.of(users))
        source = replace(source, rows=Held(source.rows.of(users)), truth=_rows(source.truth, users), _known={})
    return replace(
        prepared,
        rows=rows,
        judged=_rows(prepared.judged, users),
        truth=prepared.truth.filter(pl.Series(kept[prepared.truth_user])),
        users=prepared.users.filter(pl.Series(kept)),
        truth_user=hits.truth_user,
        list_length=hits.list_length,
        n_strangers=0,
        notes=(*prepared.notes, *([note] if note else [])),
        source=source,
        general=None if prepared.general is None else hits,
        _hits={None: hits},
    )


def _rows(table: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    return table.filter(pl.col("user").is_in(users.implode()))


def _of(hits: Hits, kept: np.ndarray[tuple[int], np.dtype[np.bool_]], position: Ints) -> Hits:
    mine, truth = kept[hits.user], kept[hits.truth_user]
    row = np.cumsum(truth) - 1
    return replace(
        hits,
        user=position[hits.user[mine]],
        rank=hits.rank[mine],
        list_length=hits.list_length[kept],
        relevance=hits.relevance[mine],
        truth_row=row[hits.truth_row[mine]],
        truth_user=position[hits.truth_user[truth]],
        truth_relevance=hits.truth_relevance[truth],
        tied=None if hits.tied is None else hits.tied.of(mine),
    )
