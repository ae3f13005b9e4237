"""One frame with both sides, taken apart into recommendations and truth.

What has no rank, or no score in a frame without ranks, was not recommended. What has no
relevance was not judged.

    user  item  rank  relevance
    ann   a     1     3            recommended, and judged
    ann   b     2                  recommended, and not judged
    ann   c           1            judged, and missed by the list
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from recnb.caching import cached_property
from recnb.data.columns import is_missing
from recnb.data.in_memory import source_of
from recnb.data.joined import Source
from recnb.data.names import BOTH, RECS, ROLES, TRUTH, Named
from recnb.data.role_table import RoleTable
from recnb.data.roles import labels_of, refuse_absent, refuse_models, with_split
from recnb.data.tables import InputTable, Tables
from recnb.display.language import N_, Plural, Sentence
from recnb.errors import FrameError, LeftMergeWarning

#: Packages whose frames stand between a line of the caller's and this module.
INSIDE = ("recnb", "contextlib")

ROWS_ARE_ITEMS = Sentence(
    N_("each row is its own {item}, as there is no column of {items}")
)
NOT_SCORED = Plural(
    "{n:,} row without a score: judged, not recommended",
    "{n:,} rows without a score: judged, not recommended",
)
ONLY_LISTED = Sentence(
    N_(
        "relevant {items}: those in this frame, which holds no relevant {item} that "
        "was not recommended"
    )
)


def read_both_sides(tables: Tables, named: Named) -> Source:
    """Read one frame as recommendations and truth."""
    frame = replace(tables[RECS], name=BOTH)
    side_tables = {name: table for name, table in tables.items() if name != RECS}
    refuse_absent(named, {BOTH: frame, **side_tables})
    split = [*named.get("split", ())]
    both = _both_sides_of(frame, named, split)
    both.refuse_rows_of_neither()
    # A left merge of recommendations with a truth loses what the lists missed.
    is_left_merge = both.only_listed and not both.is_judged.all()
    source = source_of(
        both.recs(),
        both.truth(),
        split,
        notes=both.notes(),
        is_left_merge=is_left_merge,
        only_listed=both.only_listed,
        rows_are_items=not both.has_items,
    )
    if is_left_merge:
        _warn_of_left_merge(both.table.label("relevance"))
    return source


def _both_sides_of(frame: InputTable, named: Named, split: Sequence[str]) -> BothSides:
    """Read a frame with both sides; without a column of items each row is one."""
    roles = dict(ROLES[BOTH])
    roles["item"] = has_items = frame.has_role("item", named)
    labels = labels_of(frame, named, roles)
    rows = frame.select(with_split(labels, split))
    if not has_items:
        labels = {"user": labels["user"], "item": "item", **labels}
        rows = rows.with_row_index("item")
    refuse_models(frame, labels)
    table = RoleTable(BOTH, rows, labels).with_ids()
    order = "rank" if "rank" in labels else "score"
    return BothSides(
        table,
        has_items,
        order,
        is_listed=~is_missing(table[order]),
        is_judged=~is_missing(table["relevance"]),
    )


@dataclass(frozen=True, eq=False)
class BothSides:
    """The rows of a frame with both sides, each in lists, in the truth, or in both."""

    table: RoleTable
    has_items: bool  #: whether there is a column of items; else each row is one
    order: str  #: the role that orders the lists
    is_listed: pl.Series  #: which rows were recommended
    is_judged: pl.Series  #: which rows are of the truth

    @cached_property
    def only_listed(self) -> bool:
        """Whether no row is judged and was not recommended."""
        return not (self.is_judged & ~self.is_listed).any()

    def refuse_rows_of_neither(self) -> None:
        """Raise an error for the first row that is of neither side.

        A row that is an item of its own is of both.
        """
        is_kept, lacks = self.is_listed | self.is_judged, "and no"
        if not self.has_items:
            is_kept, lacks = self.is_listed & self.is_judged, "or no"
        others = (~is_kept).arg_true()
        if len(others):
            pair = self.table.ids_in_words(others[0])
            raise FrameError(
                f"{BOTH}: row {others[0]} ({pair}) has no {self.order} {lacks} relevance: "
                "drop such rows."
            )

    def recs(self) -> RoleTable:
        """Return the rows that were recommended."""
        rows = self._rows(RECS, self.is_listed, self.order)
        # Its labels are of all roles, to be named in a call with the one frame.
        return RoleTable(RECS, rows, self.table.labels)

    def truth(self) -> RoleTable:
        """Return the rows of the truth."""
        rows = self._rows(TRUTH, self.is_judged, "relevance")
        labels = self.table.labels
        of_truth = {role: labels[role] for role in labels if role in ROLES[TRUTH]}
        return RoleTable(TRUTH, rows, of_truth)

    def _rows(self, name: str, is_kept: pl.Series, role: str) -> pl.DataFrame:
        """Return the rows of a side, which have a value of a role; refuse to have none."""
        rows = self.table.rows.filter(is_kept)
        if rows.height == 0:
            verb = {RECS: "recommends", TRUTH: "judges"}[name]
            raise FrameError(
                f"{BOTH} {verb} nothing: every value of {self.table.label(role)!r} is "
                "missing."
            )
        of_other_side = ROLES[BOTH].keys() - ROLES[name].keys()
        return rows.drop(of_other_side, strict=False)

    def notes(self) -> tuple[Sentence, ...]:
        """Return what is said beside every number of the frame."""
        notes = []
        if self.only_listed:
            notes.append(ONLY_LISTED)
        if not self.has_items:
            notes.append(ROWS_ARE_ITEMS)
        n_not_scored = int((~self.is_listed).sum())
        if self.order == "score" and n_not_scored:
            notes.append(Sentence(NOT_SCORED, {"n": n_not_scored}))
        return tuple(notes)


def _warn_of_left_merge(relevance: str) -> None:
    """Warn, at the line that called recnb, of a frame that lost what lists missed."""
    level, caller = 1, inspect.currentframe()
    while caller and caller.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        level, caller = level + 1, caller.f_back
    warnings.warn(
        f"the frame: column {relevance!r} is missing in some rows, and no row is an item "
        "that was relevant and not recommended. So it is after a left merge of "
        "recommendations with a truth, which loses what the lists missed, and users "
        "without a hit. Give the two frames as they were before: "
        "recs.rec.against(truth), or recnb.compare(recs, truth).",
        LeftMergeWarning,
        stacklevel=level,
    )
