"""Which column plays which role in recommendations and truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from recnb.data.columns import (
    Columns,
    Frame,
    Labels,
    Made,
    columns_of,
    each_named,
    find,
    in_side_frame,
    named,
    role_of,
)
from recnb.data.sheet import IDS, RECS, TRUTH, Sheet
from recnb.data.splits import BY_USER, Keys, SplitKeys, split_role
from recnb.errors import ColumnError, FrameError, OptionError, listed, quoted

#: The frame that holds the column of a role; those of other roles are in both, or in
#: either.
HOLDER = {
    "rank": RECS,
    "score": RECS,
    "recommended": RECS,
    "relevance": TRUTH,
    "relevant": TRUTH,
    "propensity": TRUTH,
    "split": RECS,
}
#: The roles of columns of lists, which become rows before columns are looked for.
OF_LISTS = ("recommended", "relevant")


@dataclass(frozen=True)
class Layout:
    """Which column plays which role in either frame, and which names models."""

    recs: Labels
    truth: Labels
    model: str | None
    #: Of items or pairs, where it is no column of the truth.
    propensity: pl.DataFrame | None = None
    #: The columns of the split, and those of them that the truth has.
    split: tuple[str, ...] = ()
    truth_split: tuple[str, ...] = ()
    keys: Keys = BY_USER  #: of all lists, once both frames were looked at
    #: Users of the truth whose list is empty: no row of it can hold them.
    users_without_items: Sequence[Any] = ()

    @property
    def recs_read(self) -> Labels:
        """The columns that are read of recommendations: roles, and those of a split."""
        return {**self.recs, **{split_role(name): name for name in self.split}}

    @property
    def truth_read(self) -> Labels:
        """The columns that are read of the truth: roles, and those of a split."""
        return {**self.truth, **{split_role(name): name for name in self.truth_split}}

    def with_keys(self, listed: pl.DataFrame, judged: pl.DataFrame) -> Layout:
        """Give lists their numbers, the same in all parts; a row of each suffices."""
        lists = Sheet(RECS, listed, self.recs).with_ids(["user"])
        judgements = Sheet(TRUTH, judged, self.truth).with_ids(["user"])
        return replace(self, keys=SplitKeys.read(lists, judgements, self.split))

    @property
    def keys_read(self) -> tuple[list[str], list[str]]:
        """The roles that tell lists apart, of each frame; none without a split."""
        if not self.split:
            return [], []
        of_split = (self.split, self.truth_split)
        listed, judged = (["user", *map(split_role, names)] for names in of_split)
        return listed, judged

    @classmethod
    def of(
        cls,
        recs: Frame,
        truth: Frame,
        columns: Columns,
        side_frames: Mapping[str, Frame],
    ) -> Layout:
        """Find the columns by role; frames without rows suffice.

        `side_frames`: frames that a column may be named of as well.
        """
        of_recs, of_truth = columns_of(recs, RECS), columns_of(truth, TRUTH)
        for role, column in each_named(columns):
            holder = HOLDER.get(role)
            present = {RECS: of_recs, TRUTH: of_truth, None: [*of_recs, *of_truth]}
            is_known = column in present[holder] and role not in OF_LISTS
            if not is_known and holder is None:
                is_known = in_side_frame(column, side_frames)
            if not is_known and role == "split" and column in of_truth:
                raise _no_split(column)
            if not is_known:
                raise _absent(role, column, columns[role], present[holder])
        split = tuple(named(columns, "split"))
        is_made = isinstance(truth, Made)
        layout = cls(
            recs=find(recs, RECS, IDS, columns, ["rank", "score"]),
            truth=find(truth, TRUTH, IDS, columns, ["relevance", "propensity"]),
            model=next((name for name in of_recs if role_of(name) == "model"), None),
            split=split,
            truth_split=tuple(name for name in split if name in of_truth),
            users_without_items=truth.without_items if is_made else (),
        )
        refuse_split_in_role(split, layout.recs)
        refuse_split_in_role(layout.truth_split, layout.truth)
        return layout


def refuse_split_in_role(split: Sequence[str], labels: Labels) -> None:
    """Refuse a column of a split that has a role as well, or is named twice."""
    if len({*split}) < len(split):
        raise ColumnError(f"split={split!r} names a column twice: name each once.")
    role_of_column = {column: role for role, column in labels.items()}
    for column in split:
        role = role_of_column.get(column, column)
        if column in role_of_column or column in IDS:
            raise ColumnError(
                f"split={column!r} is the column of the {role}: name one that tells "
                f"the lists of a user apart, such as a day or a fold."
            )


def _no_split(column: str) -> OptionError:
    """Return the error for a column that the truth alone has."""
    return OptionError(
        f"split={column!r} is a column of the truth alone, so lists are the same "
        f"for each of its values. Leave split= out, and say by={column!r} where "
        "you ask for numbers: each value is then a truth of its own."
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
        f"{none} {kind} {column!r}, which {role}={quoted(given)} names. "
        f"Columns: {listed(sorted({*map(str, present)}))}."
    )


def one_model(models: pl.Series, column: str, *, both_sides: bool = False) -> None:
    """Refuse the lists of several models.

    `both_sides`: they are in a frame that holds the truth as well.
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
