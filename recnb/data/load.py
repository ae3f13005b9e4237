"""The way in: files read, every form made a table, roles found, ids checked, and whether the lists fit into memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.buckets import batches_of, origin_of
from recnb.data.columns import Frame, by_name, columns_of, find, table_of
from recnb.data.files import IDS, Wanted, read_together
from recnb.data.forms import RECS, ROWS_ARE_ITEMS, TRUTH, Input, both_sides, by_item
from recnb.data.parts import Layout, one_model, read_batches
from recnb.data.source import Source, ranked, source_of

#: The ids of frames that do not have both.
DESCRIBED = {"items": IDS[1:], "users": IDS[:1]}


def is_file(given: object) -> bool:
    """Return whether a path was given."""
    return isinstance(given, (str, os.PathLike))


def tables_of(
    given: Mapping[str, Input | None], columns: Mapping[str, str | None]
) -> tuple[dict[str, Any], dict[str, str | None]]:
    """Read recommendations, truth, train, items and users, by these names, as tables with a row an item (or a user).

    Return the tables of what was given, and the columns named by keyword but for those of lists, which have been read.
    """
    frames = {name: frame for name, frame in given.items() if frame is not None or name == RECS}
    if any(map(is_file, frames.values())):
        trec: dict[str, Any] = {RECS: "run", TRUTH: "qrels"} if TRUTH in frames else {}
        wanted: list[Wanted] = [(frame, trec.get(name), DESCRIBED.get(name, IDS)) for name, frame in frames.items()]
        named = {role: column for role, column in columns.items() if column is not None}
        frames = dict(zip(frames, read_together(wanted, named), strict=True))
    left = dict(columns)
    for name in frames:
        if name not in DESCRIBED and (name != RECS or TRUTH in frames):
            frames[name], spent = by_item(frames[name], name, columns)
            for role in spent:
                left.pop(role, None)
    return frames, left


def read(recs: Frame, truth: Frame | None, columns: Mapping[str, str | None]) -> Source:
    """Find the columns of two tables, or of one with both sides, and check that their ids are of one type."""
    if truth is None:
        sides = both_sides(recs, columns)
        models = [name for name in by_name(columns_of(recs, "the frame"), "model") if name not in sides.labels.values()]
        if ROWS_ARE_ITEMS in sides.notes and models:
            _one_model(recs, models[0], both_sides=True)
        return source_of(sides.recs, sides.truth, sides.labels, sides.truth_labels, notes=sides.notes)
    layout = Layout.of(recs, truth, columns)
    _one_model(recs, layout.model)
    if (origin := origin_of(recs)) is not None:
        return read_batches(recs, truth, layout, origin)
    lists, judged = table_of(recs, RECS, layout.recs), table_of(truth, TRUTH, layout.truth)
    lists, judged = validation.ids(lists, RECS, layout.recs), validation.ids(judged, TRUTH, layout.truth)
    return source_of(lists, judged, layout.recs, layout.truth)


def read_lists(recs: Frame, columns: Mapping[str, str | None]) -> pl.DataFrame:
    """Return recommendations alone, as user, item, rank: by rank if there is one, else by score."""
    labels = find(recs, RECS, IDS, columns, ["rank", "score"])
    table = validation.ids(table_of(recs, RECS, labels), RECS, labels)
    convention = Convention(order="rank" if "rank" in labels else "score", duplicates="keep")
    return ranked(table, convention, labels).select("user", "item", "rank")


def _one_model(recs: Frame, column: str | None, *, both_sides: bool = False) -> None:
    """Refuse a frame of several models: it holds several lists for each user."""
    if column is not None:
        found = [batch["model"].unique() for batch in batches_of(recs, RECS, {"model": column})]
        if found:
            one_model(pl.concat(found).unique().sort(), column, both_sides=both_sides)
