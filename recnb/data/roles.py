"""Which column of a table plays which role: by its usual name, or as a keyword says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from recnb.data.names import (
    BOTH,
    HOLDER,
    NAMES,
    OF_LISTS,
    RECS,
    TRUTH,
    Labels,
    Named,
    RolesWanted,
    role_of,
    title_column,
)
from recnb.data.tables import InputTable
from recnb.errors import ColumnError, OptionError, listed, quoted


def settle(
    table: InputTable, named: Named, wanted: RolesWanted, known: Sequence[str] = ()
) -> dict[str, str]:
    """Return which column of a table plays which role.

    A keyword wins over names. Where two columns could play a role, one of `known`, the
    columns of other tables, wins.
    """
    roles = (*wanted.needed, *wanted.one_of, *wanted.possible)
    taken: set[str] = set()
    for role in (*roles, "split"):
        taken.update(named.get(role, ()))
    labels: dict[str, str] = {}
    for role in roles:
        found = _named_here(table, role, named.get(role, ()))
        found = found or _suggested(table, role, taken, wanted)
        column = _chosen(table, role, found, known)
        if column is not None:
            _refuse_two_roles(table, column, role, labels)
            labels[role] = str(column)
    _refuse_levels(table, [role for role in roles if role not in labels])
    missing = _missing(wanted, labels)
    if missing:
        raise _no_column(table, missing, labels, named)
    return labels


def _named_here(table: InputTable, role: str, names: Sequence[str]) -> list[str]:
    """Return those of the columns that a keyword names that a table has, one at most."""
    found = [column for column in names if column in table.columns]
    if len(found) > 1:
        raise ColumnError(
            f"{table.name}: {found[0]!r} and {found[1]!r} are both columns of it, and "
            f"{role}= names one for each table. Drop or rename the one that is no "
            f"{role} here."
        )
    return found


def _suggested(
    table: InputTable, role: str, taken: set[str], wanted: RolesWanted
) -> list[str]:
    """Return the columns whose names suggest a role.

    Those `taken`, which keywords name for other roles, are the last resort: the keyword
    may be meant for the other table.
    """
    suggested = table.by_role.get(role, [])
    free = [column for column in suggested if column not in taken]
    if free or role not in wanted.needed or table.name == BOTH:
        return free
    return suggested


def _chosen(
    table: InputTable, role: str, found: Sequence[str], known: Sequence[str]
) -> str | None:
    """Return the column that plays a role, of those that could; None without any."""
    if len(found) > 1:
        found = [column for column in found if column in known] or found
    if len(found) > 1:
        could_be = " and ".join(map(repr, found))
        raise ColumnError(
            f"{table.name}: {could_be} could each be the {role} column. Say which: "
            f"{role}={found[0]!r}."
        )
    return found[0] if found else None


def _refuse_two_roles(
    table: InputTable, column: str, role: str, labels: Labels
) -> None:
    """Refuse a column that plays another role already."""
    for other, label in labels.items():
        if label == column:
            raise ColumnError(
                f"{table.name}: column {column!r} cannot be both {other} and {role}: "
                f"name another column for one, {role}='...'."
            )


def _refuse_levels(table: InputTable, lacking: Sequence[str]) -> None:
    """Refuse a table if a level of its index could play a role that it lacks."""
    for level in table.levels:
        if role_of(level) in lacking:
            raise ColumnError(
                f"{table.name} has no {role_of(level)} column, and its index holds "
                f"{level!r}: type .reset_index() to make columns of it."
            )


def _missing(wanted: RolesWanted, labels: Labels) -> list[str]:
    """Return the roles for which a column is needed and none was found."""
    missing = [role for role in wanted.needed if role not in labels]
    if "rank" in labels or "score" in labels:
        return missing
    # An order that may be left out is asked for along with other roles.
    if wanted.one_of or (missing and "rank" in wanted.possible):
        missing.append("score")
    return sorted(missing, key=[*NAMES].index)


def _no_column(
    table: InputTable, missing: Sequence[str], labels: Labels, named: Named
) -> ColumnError:
    """Return the error for roles without a column, with what to type."""
    words = [{"score": "rank or score"}.get(role, role) for role in missing]
    problem = f"{table.name}: no column is known to be the {' or the '.join(words)}."
    held = f"Its columns: {listed(table.columns) or 'none'}."
    used = {*labels.values()}
    free = [
        column
        for column in table.columns
        if column not in used and role_of(column) in (None, *missing)
    ]
    if not all(isinstance(column, str) for column in free):
        return ColumnError(
            f"{problem} {held} A column is named as text; a table with a row for each "
            "user is given as a mapping of user to items or scores."
        )
    lists: list[str] = []
    if table.name in (*OF_LISTS, BOTH) and "item" not in labels:
        lists = table.columns_of_lists()
    if lists:
        return ColumnError(
            f"{problem} {held} {_name_lists(table, free, lists, labels)}"
        )
    return ColumnError(f"{problem} {held} {_name_each(table, missing, free, named)}")


def _name_lists(
    table: InputTable, free: Sequence[str], lists: Sequence[str], labels: Labels
) -> str:
    """Say which keywords name columns of lists."""
    roles = [OF_LISTS[table.name]] if table.name in OF_LISTS else [*OF_LISTS.values()]
    examples = []
    if "user" not in labels:
        others = [column for column in free if column not in lists]
        examples.append(f"user={(others or ['...'])[0]!r}")
    for role, column in zip_longest(roles, lists[: len(roles)], fillvalue="..."):
        examples.append(f"{role}={column!r}")
    return f"Name what holds lists: {', '.join(examples)}."


def _name_each(
    table: InputTable, missing: Sequence[str], free: Sequence[str], named: Named
) -> str:
    """Say which keywords name columns, with those that may be meant.

    Beside the name that another table has, that of this one is to be typed. Which of two
    columns is the score, and which the relevance, is not to be seen by their places.
    """
    title = title_column(free)
    ids = sorted(free, key=lambda column: column == title)  # an id at the very last
    open_roles = {"score", "relevance"} & {*missing}
    examples, verb = [], "Say which"
    for role, column in zip_longest(missing, ids[: len(missing)], fillvalue="..."):
        others = named.get(role)
        if others:
            verb = "Name each"
            examples.append(f"{role}={[*others, column]}")
        elif len(open_roles) == 2 and role in open_roles:
            examples.append(f"{role}=...")
        else:
            examples.append(f"{role}={column!r}")
    fix = f"{verb}: {', '.join(examples)}."
    if table.name == BOTH:
        fix += " Or give the other frame as well, recs.rec.against(truth)."
    return fix


def refuse_absent(named: Named, tables: Mapping[str, InputTable]) -> None:
    """Refuse a column that a keyword names and no table has that may hold it."""
    for role, names in named.items():
        columns = _may_be_named(role, tables)
        for column in names:
            if column not in columns:
                raise _absent(role, column, names, tables)


def _may_be_named(role: str, tables: Mapping[str, InputTable]) -> list[str]:
    """Return the columns that a keyword may name.

    A column of users or of items may be in any of the tables.
    """
    if BOTH not in tables and role in OF_LISTS.values():
        return []  # lists that are there are rows by now
    if role in HOLDER:
        return tables[BOTH if BOTH in tables else HOLDER[role]].columns
    return [*chain.from_iterable(table.columns for table in tables.values())]


def _absent(
    role: str, column: str, names: Sequence[str], tables: Mapping[str, InputTable]
) -> OptionError | ColumnError:
    """Return the error for a column that a keyword names and no table has."""
    if role == "split" and TRUTH in tables and column in tables[TRUTH].columns:
        return _split_of_truth(column)
    table = tables.get(BOTH)
    if role in OF_LISTS.values():
        table = tables.get(HOLDER[role], table)
    if table is None or table.is_one_side:
        return _absent_of_sides(role, column, names, tables)
    return ColumnError(
        f"{table.name} has no column for {role}={column!r}. Columns: "
        f"{listed(table.columns)}."
    )


def _split_of_truth(column: str) -> OptionError:
    """Return the error for a split that only the truth has."""
    return OptionError(
        f"split={column!r} is a column of the truth alone, so lists are the same "
        f"for each of its values. Leave split= out, and say by={column!r} where "
        "you ask for numbers: each value is then a truth of its own."
    )


def _absent_of_sides(
    role: str, column: str, names: Sequence[str], tables: Mapping[str, InputTable]
) -> ColumnError:
    """Return the error for a column that neither of two tables has."""
    words = {RECS: "recommendations have no", TRUTH: "truth has no"}
    none = words.get(HOLDER.get(role, ""), "neither frame has a")
    kind = "column of lists" if role in OF_LISTS.values() else "column"
    present: set[str] = set()
    for name in {HOLDER.get(role, RECS), HOLDER.get(role, TRUTH)}:
        present |= {str(known) for known in tables[name].columns}
    given: object = names[0] if len(names) == 1 else [*names]
    return ColumnError(
        f"{none} {kind} {column!r}, which {role}={quoted(given)} names. Columns: "
        f"{listed(sorted(present))}."
    )
