"""Frames as they are given: roles found, ids seen to be of one kind, and whether the lists fit into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.batches import batches_of, origin_of
from recnb.data.columns import Frame, columns_of, find, fractional, library_of, role_of, table_of
from recnb.data.combined_frame import ROWS_ARE_ITEMS, split
from recnb.data.parts import Layout, read_batches, source_of
from recnb.data.relevance import refuse_zeros
from recnb.data.source import Source, one_model, ranked
from recnb.display.language import N_, Sentence


def read(recs: Frame, truth: Frame | None, columns: Mapping[str, str | None]) -> Source:
    """Find the columns of two frames, or of one with both sides, and check that their ids are of one type."""
    source = _read(recs, truth, columns)
    score = source.labels.get("score")
    # The score was found by a name other than its own, and other columns could be one.
    if score in (None, "score", columns.get("score")) or {*fractional(recs)} <= {*source.labels.values()}:
        return source
    return replace(source, notes=(*source.notes, Sentence(N_("score: column {column}"), {"column": repr(score)})))


def _read(recs: Frame, truth: Frame | None, columns: Mapping[str, str | None]) -> Source:
    if truth is None:
        recs_table, truth_table, labels, truth_labels, notes = split(recs, columns)
        model = next((name for name in columns_of(recs, "the frame") if role_of(name) == "model"), None)
        if ROWS_ARE_ITEMS in notes and model not in labels.values():
            _one_model(recs, model, both_sides=True)
        return source_of(recs_table, truth_table, labels, truth_labels, notes=notes)
    layout = Layout.of(recs, truth, columns)
    refuse_zeros(truth, layout.truth)
    _one_model(recs, layout.model)
    if (origin := origin_of(recs)) is not None:
        return read_batches(recs, truth, layout, origin)
    raw_recs = table_of(recs, "recommendations", layout.recs)
    raw_truth = table_of(truth, "truth", layout.truth)
    recs_table = validation.ids(raw_recs, "recommendations", layout.recs)
    truth_table = validation.ids(raw_truth, "truth", layout.truth)
    of_recs = validation.float_ids(raw_recs, "recs", layout.recs)
    of_truth = validation.float_ids(raw_truth, "truth", layout.truth)
    return source_of(recs_table, truth_table, layout.recs, layout.truth, floats=(*of_recs, *of_truth))


def read_lists(recs: Frame, columns: Mapping[str, str | None]) -> pl.DataFrame:
    """Recommendations alone, as user, item, rank: by rank if there is one, else by score."""
    labels = find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"])
    table = validation.ids(table_of(recs, "recommendations", labels), "recommendations", labels)
    convention = Convention(order="rank" if "rank" in labels else "score", duplicates="keep")
    return ranked(table, convention, labels).select("user", "item", "rank")


def _one_model(recs: Frame, column: str | None, *, both_sides: bool = False) -> None:
    """Refuse a frame of several models: it holds several lists for each user."""
    if column is None:
        return
    models: pl.Series | None = None
    for batch in batches_of(recs, "recommendations", {"model": column}):
        found = batch["model"].unique()
        models = found if models is None else pl.concat([models, found]).unique()
    if models is not None:
        one_model(models.sort(), column, library_of(recs), both_sides=both_sides)


__all__ = ["read", "read_lists"]
