"""Which column plays which role in recommendations and truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from recnb.data.columns import (
    Columns,
    Frame,
    Labels,
    columns_of,
    each_named,
    find,
    in_side_frame,
    role_of,
)
from recnb.data.sheet import IDS, RECS, TRUTH
from recnb.errors import ColumnError, FrameError, listed, quoted

#: The frame that holds the column of a role; those of other roles are in both, or in
#: either.
HOLDER = {
    "rank": RECS,
    "score": RECS,
    "recommended": RECS,
    "relevance": TRUTH,
    "relevant": TRUTH,
    "propensity": TRUTH,
}
#: The roles of columns of lists, which become rows before columns are looked for.
OF_LISTS = ("recommended", "relevant")


@dataclass(frozen=True)
class Layout:
    """Which column plays which role in either frame, and which names models, if one
    does.
    """

    recs: Labels
    truth: Labels
    model: str | None
    #: Of items or pairs, where it is no column of the truth.
    propensity: pl.DataFrame | None = None

    @classmethod
    def of(
        cls,
        recs: Frame,
        truth: Frame,
        columns: Columns,
        side_frames: Mapping[str, Frame],
    ) -> Layout:
        """Find the columns by role; frames without rows suffice. `side_frames`: frames
        that a column may be named of as well.
        """
        of_recs, of_truth = columns_of(recs, RECS), columns_of(truth, TRUTH)
        for role, column in each_named(columns):
            holder = HOLDER.get(role)
            present = {RECS: of_recs, TRUTH: of_truth, None: [*of_recs, *of_truth]}
            is_known = column in present[holder] and role not in OF_LISTS
            if not is_known and holder is None:
                is_known = in_side_frame(column, side_frames)
            if not is_known:
                raise _absent(role, column, columns[role], present[holder])
        return cls(
            recs=find(recs, RECS, IDS, columns, ["rank", "score"]),
            truth=find(truth, TRUTH, IDS, columns, ["relevance", "propensity"]),
            model=next((name for name in of_recs if role_of(name) == "model"), None),
        )


def _absent(role: str, column: str, given: object, present: list[str]) -> ColumnError:
    """Return the error for a column that a keyword names and no frame has."""
    none = {
        RECS: "recommendations have no",
        TRUTH: "truth has no",
        None: "neither frame has a",
    }[HOLDER.get(role)]
    kind = "column of lists" if role in OF_LISTS else "column"
    return ColumnError(
        f"{none} {kind} {column!r}, which {role}={quoted(given)} names.",
        fix=f"Columns: {listed(sorted({*map(str, present)}))}.",
    )


def one_model(models: pl.Series, column: str, *, both_sides: bool = False) -> None:
    """Refuse the lists of several models; `both_sides`: in a frame that holds the truth
    as well.
    """
    if len(models) <= 1:
        return
    holder, frames = "recommendations hold", "recs, truth"
    if both_sides:
        holder, frames = "the frame holds", "frame"
    raise FrameError(
        f"{holder} the lists of {len(models)} models in column {column!r}, such as "
        f"{models[0]!r}: compare them, recnb.compare({frames}), or evaluate one alone."
    )
