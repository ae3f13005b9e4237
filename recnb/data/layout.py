"""The columns of both tables, as parts of their rows are read by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from recnb.data.names import IDS, RECS, TRUTH, WANTED, Labels, Named
from recnb.data.roles import refuse_absent, settle
from recnb.data.sheet import Sheet
from recnb.data.splits import BY_USER, Keys, SplitKeys, split_role
from recnb.data.tables import InputTable
from recnb.errors import ColumnError

T = TypeVar("T")


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
    users_without_items: Sequence[object] = ()

    @property
    def recs_read(self) -> Labels:
        """The columns that are read of recommendations: roles, and those of a split."""
        return {**self.recs, **{split_role(name): name for name in self.split}}

    @property
    def truth_read(self) -> Labels:
        """The columns that are read of the truth: roles, and those of a split."""
        return {**self.truth, **{split_role(name): name for name in self.truth_split}}

    def with_keys(
        self, rows: Iterable[T], distinct: Callable[[T, list[str]], pl.DataFrame]
    ) -> Layout:
        """Give lists their numbers, the same in all parts, if there is a split.

        `distinct` returns the values that some columns have together in one side's rows.
        """
        if not self.split:
            return self
        of_split = (self.split, self.truth_split)
        roles = [["user", *map(split_role, names)] for names in of_split]
        listed, judged = map(distinct, rows, roles)
        lists = Sheet(RECS, listed, self.recs).with_ids(["user"])
        judgements = Sheet(TRUTH, judged, self.truth).with_ids(["user"])
        return replace(self, keys=SplitKeys.read(lists, judgements, self.split))

    @classmethod
    def of(cls, tables: Mapping[str, InputTable], named: Named) -> Layout:
        """Settle the columns of recommendations and truth; tables without rows suffice."""
        recs, truth = tables[RECS], tables[TRUTH]
        refuse_absent(named, tables)
        split = tuple(named.get("split", ()))
        labels = settle(recs, named, WANTED[RECS])
        used = {*labels.values()}
        models = [name for name in recs.by_role.get("model", ()) if name not in used]
        layout = cls(
            recs=labels,
            truth=settle(truth, named, WANTED[TRUTH]),
            model=models[0] if models else None,
            split=split,
            truth_split=tuple(name for name in split if name in truth.columns),
            users_without_items=truth.without_items,
        )
        if split:
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
