"""Which columns of recommendations and truth play a role, tell lists apart, name models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recnb.data.batches import batches_of
from recnb.data.checks import is_missing
from recnb.data.names import BOTH, IDS, RECS, TRUTH, WANTED, Labels, Named
from recnb.data.roles import refuse_absent, settle
from recnb.data.splits import split_role
from recnb.data.tables import InputTable, Tables
from recnb.errors import ColumnError, FrameError

#: Names under which rows of lists have columns in results, beside those of a split.
OF_RESULTS = (*IDS, "rank", "score", "relevance")


@dataclass(frozen=True)
class Layout:
    """Which column plays which role in either table."""

    recs: Labels
    truth: Labels
    #: The columns that are read: roles, and those of a split.
    recs_read: Labels
    truth_read: Labels
    split: Sequence[str]

    @classmethod
    def of(cls, tables: Tables, named: Named) -> Layout:
        """Settle the columns of recommendations and truth; tables without rows suffice."""
        recs, truth = tables[RECS], tables[TRUTH]
        refuse_absent(named, tables)
        split = tuple(named.get("split", ()))
        labels = settle(recs, named, WANTED[RECS])
        truth_labels = settle(truth, named, WANTED[TRUTH])
        return cls(
            recs=labels,
            truth=truth_labels,
            recs_read=with_split(labels, split),
            truth_read=with_split(
                truth_labels, tuple(name for name in split if name in truth.columns)
            ),
            split=split,
        )


def columns_of_models(table: InputTable, labels: Labels) -> list[str]:
    """Return the columns of a table that name models by their names, and play no role."""
    columns = table.by_role.get("model", [])
    return [column for column in columns if column not in labels.values()]


def refuse_models(table: InputTable, labels: Labels) -> None:
    """Refuse the rows of several models, which hold several lists for each user."""
    holder, call = "recommendations hold", "recnb.compare(recs, truth)"
    if table.name == BOTH:
        holder, call = "the frame holds", "recnb.compare(frame)"
    for column in columns_of_models(table, labels):
        models = _models_in(table, column)
        if len(models) > 1:
            raise FrameError(
                f"{holder} the lists of {len(models)} models in column {column!r}, such "
                f"as {models[0]!r}: compare them, {call}, or evaluate one alone.",
                {call: "--model COLUMN"},
            )


def _models_in(table: InputTable, column: str) -> pl.Series:
    """Return the models that a column names, sorted."""
    found = [batch["model"].unique() for batch in batches_of(table, {"model": column})]
    if not found:
        return pl.Series()
    models = pl.concat(found).unique().sort(nulls_last=True)
    if table.name == BOTH:
        models = models.filter(~is_missing(models))  # what was not recommended
    return models


def with_split(labels: Labels, split: Sequence[str]) -> Labels:
    """Return labels with the columns of a split.

    One that has a role as well, or is named twice, is refused.
    """
    if len({*split}) < len(split):
        raise ColumnError(f"split={split!r} names a column twice: name each once.")
    role_of_column = {column: role for role, column in labels.items()}
    for column in split:
        if column in role_of_column:
            raise ColumnError(
                f"split={column!r} is the column of the {role_of_column[column]}: name "
                "one that tells the lists of a user apart, such as a day or a fold."
            )
        if column in OF_RESULTS:
            raise ColumnError(
                f"split={column!r} is the name of another column in results: rename the "
                "column, such as to 'fold'."
            )
    return {**labels, **{split_role(column): column for column in split}}
