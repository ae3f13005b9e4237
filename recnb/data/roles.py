"""Which column of a table plays which role (`labels_of`).

1. It is the column of this table that a keyword names for the role.
2. Else it is one whose name suggests the role, unless a keyword names it for another.
3. Of several such columns of train, items or users, it is one that recommendations or
   truth use (`in_others`). Of several of these, an error asks.

An index of pandas is no column: an error says how to make it one. The places of columns
matter only in errors, which propose the next free one (`_no_column`).

Beside roles, columns tell the lists of a user apart, or name models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from recnb.data.names import (
    BOTH,
    IDS,
    LIST_ROLES,
    NAMES,
    NUMBERS,
    ONLY_IN,
    RECS,
    ROLES,
    TRUTH,
    Labels,
    Named,
    Roles,
)
from recnb.data.role_table import is_missing
from recnb.data.splits import split_labels
from recnb.data.tables import InputTable, ListTable, Tables
from recnb.errors import ColumnError, FrameError, is_several, listed, quoted

#: The tables that hold lists of users.
HOLD_LISTS = (*LIST_ROLES, "train")
#: Names under which rows of lists have columns in results, beside those of a split.
RESULT_COLUMNS = (*IDS, *NUMBERS)


def as_named(given: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return the columns that keywords name, by role.

    What is no name is left out: `parse_options` refuses it.
    """
    named: dict[str, Sequence[str]] = {}
    for role, names in given.items():
        if isinstance(names, str):
            named[role] = [names]
        elif is_several(names):
            named[role] = [*names]
    return named


def labels_of(
    table: InputTable, named: Named, roles: Roles, in_others: Sequence[str] = ()
) -> dict[str, str]:
    """Return which column of a table plays which role.

    A keyword wins over names. Where two columns could play a role, one of
    `in_others`, the columns of other tables, wins.
    """
    labels: dict[str, str] = {}
    for role in roles:
        columns = _columns_for(role, table, named, roles)
        if len(columns) > 1:
            columns = [column for column in columns if column in in_others] or columns
        if len(columns) > 1:
            raise ColumnError(
                f"{table.name}: {' and '.join(map(repr, columns))} could each be the "
                f"{role} column. Say which: {role}={columns[0]!r}."
            )
        for column in columns:
            _refuse_two_roles(table, column, role, labels)
            labels[role] = column
    _refuse_levels(table, roles, labels)
    _refuse_relevant_items(table, roles, labels)
    missing = _missing(table, roles, labels)
    if missing:
        raise _no_column(table, missing, labels, named)
    return labels


def _columns_for(role: str, table: InputTable, named: Named, roles: Roles) -> list[str]:
    """Return the columns that could play a role: as a keyword says, else by their names.

    A column that a keyword names plays another role by its name only where that is needed
    and has no other: the keyword may mean the column of another table.
    """
    suggested = table.by_role.get(role, [])
    if not named:
        return suggested
    columns = columns_named(table, role, named)
    if len(columns) > 1:
        raise ColumnError(
            f"{table.name}: {columns[0]!r} and {columns[1]!r} are both columns of it, and "
            f"{role}= names one for each table. Drop or rename the one that is no "
            f"{role} here."
        )
    if columns:
        return columns
    by_keyword = {
        *chain.from_iterable(named.get(each, ()) for each in (*roles, "split"))
    }
    free = [column for column in suggested if column not in by_keyword]
    # One frame has the columns of both tables: none is meant for another.
    if roles[role] and not free and table.name != BOTH:
        return suggested
    return free


def _refuse_two_roles(
    table: InputTable, column: str, role: str, labels: Labels
) -> None:
    """Raise an error for a column that plays another role already."""
    for other, label in labels.items():
        if label == column:
            raise ColumnError(
                f"{table.name}: column {column!r} cannot be both {other} and {role}: "
                f"name another column for one, {role}='...'."
            )


def _missing(table: InputTable, roles: Roles, labels: Labels) -> list[str]:
    """Return the roles for which a column is needed and none was found."""
    missing = {role for role in roles if roles[role] and role not in labels}
    has_order = "rank" in labels or "score" in labels
    # Lists may stand in order, without a rank or a score (order="row"). But an error for
    # another column says at once what else to name.
    if not has_order and (table.name == BOTH or (missing and "rank" in roles)):
        missing.add("score")
    return [role for role in NAMES if role in missing]


def _refuse_levels(table: InputTable, roles: Roles, labels: Labels) -> None:
    """Raise an error for an index of pandas that holds what no column does."""
    for role, level in table.levels.items():
        if role in roles and role not in labels:
            raise ColumnError(
                f"{table.name}: there is no {role} column, and its index holds "
                f"{level!r}: type .reset_index() to make columns of it."
            )


def _refuse_relevant_items(table: InputTable, roles: Roles, labels: Labels) -> None:
    """Raise an error for a column that may say which items are relevant, and is not read.

    Without a relevance every row of the truth would be relevant, whatever such a column
    holds.
    """
    has_items = "item" in labels or not roles.get("item")
    if "relevance" not in roles or "relevance" in labels or not has_items:
        return
    columns = table.by_role.get("relevant", [])
    if columns:
        column = columns[0]
        keyword = "relevant" if column in table.list_columns else "relevance"
        raise ColumnError(
            f"{table.name}: column {column!r} may say which items are relevant. If it "
            f"does, say {keyword}={column!r}; else drop it."
        )


def columns_named(table: InputTable, role: str, named: Named) -> list[str]:
    """Return the columns of a table that keywords name for a role."""
    return [column for column in named.get(role, ()) if column in table.columns]


def has_role(table: InputTable, role: str, named: Named) -> bool:
    """Return whether a column of a table plays a role, by its name or as named."""
    return role in table.by_role or bool(columns_named(table, role, named))


def list_column_of(table: InputTable, named: Named) -> str | None:
    """Return the column of a list for each user.

    It is named by keyword or, of a table without items, by its name.
    """
    if table.name not in HOLD_LISTS or isinstance(table, ListTable):
        return None
    # Lists of train, which no keyword names, are of what was relevant before.
    role = LIST_ROLES.get(table.name, "relevant")
    if table.name in LIST_ROLES and role in named:
        return next(iter(columns_named(table, role, named)), None)
    if has_role(table, "item", named):
        return None
    usual = table.by_role.get(role, [])
    return usual[0] if len(usual) == 1 else None


# ---- both tables


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
        """Find the columns of recommendations and truth; tables without rows suffice."""
        recs, truth = tables[RECS], tables[TRUTH]
        refuse_absent(named, tables)
        split = tuple(named.get("split", ()))
        labels = labels_of(recs, named, ROLES[RECS])
        truth_labels = labels_of(truth, named, ROLES[TRUTH])
        return cls(
            recs=labels,
            truth=truth_labels,
            recs_read=with_split(labels, split),
            truth_read=with_split(truth_labels, columns_named(truth, "split", named)),
            split=split,
        )


def with_split(labels: Labels, split: Sequence[str]) -> Labels:
    """Return labels with the columns of a split.

    One that has a role as well, or is named twice, is refused.
    """
    if not split:
        return labels
    if len({*split}) < len(split):
        raise ColumnError(f"split={split!r} names a column twice: name each once.")
    role_of_column = {column: role for role, column in labels.items()}
    for column in split:
        if column in role_of_column or column in RESULT_COLUMNS:
            role = role_of_column.get(column, column)
            raise ColumnError(
                f"split={column!r} is the column of the {role}, or has its name in "
                "results: name one that tells the lists of a user apart, such as a day or "
                "a fold, or rename it."
            )
    return {**labels, **split_labels(split)}


def refuse_absent(named: Named, tables: Tables) -> None:
    """Refuse a column that a keyword names and no table has that may hold it."""
    for role, names in named.items():
        if role == "propensity":
            continue  # which may be a column of items=, and is looked for there
        holders = [*tables]
        if role in ONLY_IN:
            holders = [BOTH if BOTH in tables else ONLY_IN[role]]
        columns = [*chain.from_iterable(tables[name].columns for name in holders)]
        absent = [column for column in names if column not in columns]
        if role in LIST_ROLES.values() and BOTH not in tables:
            absent = [*names]  # lists that were there are rows now, and named no more
        if not absent:
            continue
        where = holders[0] if len(holders) == 1 else "the frames"
        given: object = names[0] if len(names) == 1 else [*names]
        present = sorted({*map(str, columns)})
        raise ColumnError(
            f"{where}: there is no column {absent[0]!r}, which {role}={quoted(given)} "
            f"names. Columns: {listed(present)}."
        )


# ---- models


def columns_of_models(table: InputTable, labels: Labels) -> list[str]:
    """Return the columns of a table that name models by their names, and play no role."""
    columns = table.by_role.get("model", [])
    return [column for column in columns if column not in labels.values()]


def refuse_models(table: InputTable, labels: Labels) -> None:
    """Refuse the rows of several models, which hold several lists for each user."""
    call = "recnb.compare(recs, truth)"
    if table.name == BOTH:
        call = "recnb.compare(frame)"
    for column in columns_of_models(table, labels):
        models = table.distinct(column).sort(nulls_last=True)
        if table.name == BOTH:
            models = models.filter(~is_missing(models))  # what was not recommended
        if len(models) > 1:
            raise FrameError(
                f"{table.name}: column {column!r} names {len(models)} models, such as "
                f"{models[0]!r}: compare them, {call}, or evaluate one alone.",
                {call: "--baseline NAME"},
            )


# ---- errors


def _no_column(
    table: InputTable, missing: Sequence[str], labels: Labels, named: Named
) -> ColumnError:
    """Return the error for roles without a column, with what to type."""
    words = [{"score": "rank or score"}.get(role, role) for role in missing]
    problem = (
        f"{table.name}: no column is known to be the {' or the '.join(words)}. "
        f"Its columns: {listed(table.columns) or 'none'}."
    )
    taken = {*labels.values()}
    for role, columns in table.by_role.items():
        if role is not None and role not in missing:
            taken.update(columns)
    free = [column for column in table.columns if column not in taken]
    if not all(isinstance(column, str) for column in free):
        return ColumnError(
            f"{problem} A column is named as text; a table with a row for each "
            "user is given as a mapping of user to items or scores."
        )
    lists: list[str] = []
    if table.name in (*LIST_ROLES, BOTH) and "item" not in labels:
        lists = table.list_columns
    # Columns mostly stand in the order of roles: the first may be the first role's.
    others = [column for column in free if column not in lists]
    meant = dict(zip(missing, others, strict=False))
    if lists:
        # A list has the items, and their order.
        sides = [
            role for name, role in LIST_ROLES.items() if table.name in (name, BOTH)
        ]
        meant |= zip(sides, lists, strict=False)
        missing = [*(role for role in missing if role == "user"), *sides]
    return ColumnError(f"{problem} {_name_each(table, missing, meant, named)}")


def _name_each(
    table: InputTable, missing: Sequence[str], meant: Labels, named: Named
) -> str:
    """Say which keywords name the missing columns, with those that may be meant."""
    # Which of two columns is the score, and which the relevance, no place tells.
    are_alike = {"score", "relevance"} <= {*missing}
    examples = []
    for role in missing:
        column = meant.get(role, "...")
        example = f"{role}={column!r}"
        if named.get(role):  # the column of another table
            example = f"{role}={[*named[role], column]}"
        elif are_alike and role in ("score", "relevance"):
            example = f"{role}=..."
        examples.append(example)
    verb = "Name each" if any(map(named.get, missing)) else "Say which"
    fix = f"{verb}: {', '.join(examples)}."
    if table.name == BOTH:
        fix += " Or give the other frame as well, recnb.evaluate(recs, truth)."
    return fix
