"""Frames as they are given: roles found, ids seen to be of one kind, and whether the lists fit into memory."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from recnb.conventions import Convention
from recnb.data import streaming, validation
from recnb.data.batches import stream_of
from recnb.data.columns import Frame, columns_of, find, role_of, table_of
from recnb.data.combined_frame import split
from recnb.data.join import InMemoryRows, Prepared, Source, named_columns_exist, one_model
from recnb.data.partition import Layout
from recnb.data.ranking import ranked
from recnb.display.language import Sentence


def prepare(recs: Frame, truth: Frame | None, columns: Mapping[str, str | None], convention: Convention) -> Prepared:
    """Find the roles, check the rows and code the users of two frames, or of one that holds both sides."""
    return read(recs, truth, columns).under(convention)


def read(recs: Frame, truth: Frame | None, columns: Mapping[str, str | None]) -> Source:
    """Find the columns of two frames, or of one with both sides, and check that their ids are of one type."""
    if truth is None:
        recs_table, truth_table, labels, truth_labels, notes = split(recs, columns)
        return _held(recs_table, truth_table, labels, truth_labels, notes)
    named_columns_exist(columns, recs, truth)
    labels = find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"])
    _one_model(recs)
    truth_labels = find(truth, "truth", ["user", "item"], columns, ["relevance"])
    stream = stream_of(recs, "recommendations", labels)
    raw_truth = table_of(truth, "truth", truth_labels)
    if stream is None:
        raw_recs = table_of(recs, "recommendations", labels)
    else:
        layout = Layout(labels, truth_labels, None)
        streaming.same_kind(stream, raw_truth, layout)
        whole = stream.whole(streaming.WHOLE)
        if whole is None:
            floats = (*_float_ids(stream.head(0), "recs", labels), *_float_ids(raw_truth, "truth", truth_labels))
            return streaming.source(stream, raw_truth, layout, floats)
        raw_recs = whole
    floats = (*_float_ids(raw_recs, "recs", labels), *_float_ids(raw_truth, "truth", truth_labels))
    recs_table = validation.ids(raw_recs, "recommendations", labels)
    truth_table = validation.ids(raw_truth, "truth", truth_labels)
    return _held(recs_table, truth_table, labels, truth_labels, floats=floats)


def read_lists(recs: Frame, columns: Mapping[str, str | None]) -> pl.DataFrame:
    """Recommendations alone, as user, item, rank: by rank if there is one, else by score."""
    labels = find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"])
    table = validation.ids(table_of(recs, "recommendations", labels), "recommendations", labels)
    convention = Convention(order="rank" if "rank" in labels else "score", duplicates="keep")
    return ranked(table, convention, labels).select("user", "item", "rank")


def _held(
    recs: pl.DataFrame,
    truth: pl.DataFrame,
    labels: Mapping[str, str],
    truth_labels: Mapping[str, str],
    notes: tuple[str | Sentence, ...] = (),
    floats: tuple[str, ...] = (),
) -> Source:
    recs, truth = validation.aligned(recs, truth, labels, truth_labels)
    return Source(InMemoryRows(recs), truth, labels, truth_labels, notes, floats)


def _float_ids(table: pl.DataFrame, name: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}[{labels[role]!r}]" for role in validation.IDS if table[role].dtype.is_float())


def _one_model(recs: Frame) -> None:
    """Refuse a frame of several models: it holds several lists for each user."""
    column = next((name for name in columns_of(recs, "recommendations") if role_of(name) == "model"), None)
    if column is None:
        return
    stream = stream_of(recs, "recommendations", {"model": column})
    batches = [table_of(recs, "recommendations", {"model": column})] if stream is None else stream.batches()
    models: pl.Series | None = None
    for batch in batches:
        of_batch = batch["model"].unique()
        models = of_batch if models is None else pl.concat([models, of_batch]).unique()
    if models is not None:
        one_model(models.sort(), column)


__all__ = ["prepare", "read", "read_lists"]
