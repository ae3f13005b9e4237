"""What callers hold, as frames with a row an item: mappings, Series, matrices, frames of lists or of ranks, and files.

Nothing else in the package reads these: columns are found and rows are joined in frames alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.columns import Frame, columns_of, find, fractional, from_pandas, role_of, table_of
from recnb.data.item_lists import LISTS, SETS, by_rank, by_user, holds_lists, ids_of, in_cells, of_mapping
from recnb.data.source import Source
from recnb.data.table_files import IDS, Trec, Wanted, read_together
from recnb.data.validation import kind, repeated
from recnb.display.language import N_, Sentence
from recnb.display.text import one_line
from recnb.errors import Argument, Code, ColumnError, FrameError, FrameName, OptionError, RecnbError, is_several

#: Any table; a mapping or Series by user; rows of items, whose users are `user_ids`; the path of a file.
Input: TypeAlias = Frame | Mapping[Any, Any] | Sequence[Any] | np.ndarray[Any, Any] | str | os.PathLike[str]

RECS, TRUTH = "recommendations", "truth"
#: What the file of a frame may be beside a table, and the ids of those that do not have both.
TREC: Mapping[str, Trec] = {RECS: "run", TRUTH: "qrels"}
DESCRIBED = {"items": IDS[1:], "users": IDS[:1]}
#: Roles that a frame with a column for each rank has no column for.
OF_OTHER_FRAMES = ("item", "rank", "score", "relevance", "recommended", "relevant")
#: The keyword that names a column of lists.
COLUMN_OF_LISTS = {RECS: "recommended", TRUTH: "relevant"}


@dataclass(eq=False)
class Inputs:
    """The frames of an evaluation, each with a row an item."""

    columns: Mapping[str, str | None]  #: role -> column of these frames, as named by keyword
    user_ids: Any
    frames: dict[str, Any]  #: by name; recommendations alone have both sides
    used_ids: bool = False  #: whether users were given for rows without any
    converted: set[str] = field(default_factory=set)  #: the frames that callers have in another form
    spent: set[str] = field(default_factory=set)  #: keywords whose columns of lists were read
    padded: set[str] = field(default_factory=set)  #: the frames whose lists ended in -1

    def noted(self, source: Source) -> Source:
        """The frames that were read, with a note on lists that ended in -1; an error if that is an item."""
        if not self.padded:
            return source
        if source.truth["item"].dtype == pl.Int64 and (source.truth["item"] == -1).any():
            held = " hold rows of items that end in -1, which ends a list, and in "
            raise FrameError(FrameName(RECS), held, FrameName(TRUTH), " -1 is an item: give the items other numbers.")
        return replace(source, notes=(*source.notes, Sentence(N_("-1 ends a list"))))

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Leave code for frames out of messages about what callers have in another form."""
        try:
            yield
        except RecnbError as problem:
            if self.converted.isdisjoint(part for part in problem.parts if isinstance(part, FrameName)):
                raise
            raise problem.without_code() from problem

    def convert(self, name: str) -> None:
        """Make a frame of what was given under a name; what is one already, or no table, is left as it is."""
        if name not in DESCRIBED and (name != RECS or TRUTH in self.frames):
            table = self._table(self.frames[name], name)
            if table is not None:
                self.frames[name] = table
                self.converted.add(name)

    def _table(self, given: Any, name: str) -> pl.DataFrame | None:
        if isinstance(given, pd.Series) and given.index.nlevels == 2:
            levels = given.index.names
            known = {self._role_of_id(level) for level in levels} == {*IDS}
            labels = list(map(str, levels)) if known else IDS
            of_recs = str(given.name) if role_of(given.name) == "rank" else "score"
            value = of_recs if name == RECS else "relevance"
            of_levels = [given.index.get_level_values(at).to_series() for at in range(2)]
            ids = {
                label: from_pandas(level, name, label, "item") for label, level in zip(labels, of_levels, strict=True)
            }
            return pl.DataFrame({**ids, value: from_pandas(given, name, value, role_of(value) or value)})
        if isinstance(given, (list, tuple, np.ndarray, pl.Series)):
            return self._of_rows(given, name)
        if isinstance(given, pd.Series) and is_numbered(given.index):
            return self._of_rows(given.to_list(), name)
        if isinstance(given, Mapping):
            _no_columns(given, name)
        if isinstance(given, (Mapping, pd.Series)):
            return of_mapping(given, name)
        if hasattr(type(given), "columns") or hasattr(type(given), "__arrow_c_stream__"):
            return self._of_frame(given, name, columns_of(given, name))
        return None

    def _role_of_id(self, column: object) -> str | None:
        """Whether a name is that of users or of items: as named by keyword, or a name that is known."""
        return next((role for role in IDS if column is not None and column == self.columns.get(role)), role_of(column))

    def _of_rows(self, given: Any, name: str) -> pl.DataFrame | None:
        if getattr(given, "ndim", 1) == 0 or len(given) == 0 or not isinstance(given[0], (*LISTS, *SETS, Mapping)):
            return None
        if fields := getattr(given[0], "_fields", ()):
            problem = f": the rows are records of {', '.join(fields)}: make a frame of them by pandas.DataFrame."
            raise FrameError(FrameName(name), problem)
        users = self._given_users(len(given), name)
        if isinstance(given, np.ndarray) and given.ndim > 1:
            if given.ndim > 2 or given.shape[1] == 0:
                raise FrameError(FrameName(name), f": the shape is {given.shape}; give a row of items for each user.")
            items: Any = given.ravel()
        elif not all(issubclass(one, LISTS) for one in set(map(type, given))) or len(set(map(len, given))) > 1:
            return by_user(users, list(given), name, ordered=name == RECS)
        else:
            items = list(chain.from_iterable(given))
        if not isinstance(items, np.ndarray) or items.dtype == object:
            objects = pd.Series(items, dtype=object)
            items = objects.where(objects.notna(), None)
        ids = ids_of(items, name, None, "items")
        table = self._ranked(users, ids, name)
        if ids.dtype.is_float() and (
            (table["item"] % 1 != 0).any() or (len(ids) == table.height and repeated(table, ["user", "item"]).height)
        ):
            held = f": rows of numbers, such as {ids[0]:g}, look like scores of all items, and not like items in rank order."
            best = "Rank them first: numpy.argsort(-scores, axis=1, kind='stable')[:, :10] has the ten best columns of each row."
            raise FrameError(FrameName(name), held, fix=best)
        return table

    def _ranked(self, users: pl.Series, items: pl.Series, name: str) -> pl.DataFrame:
        dtype = items.dtype
        whole = dtype.is_signed_integer() or (dtype.is_float() and (items.drop_nulls().drop_nans() % 1 == 0).all())
        if whole and (items == -1).any():
            self.padded.add(name)
            items = items.replace({-1: None})
        table = by_rank(users, items, name)
        return table if name == RECS else table.drop("rank")

    def _given_users(self, n: int, name: str) -> pl.Series:
        """The users of rows that have no key."""
        self.used_ids = True
        if self.user_ids is None:
            of_rows = ": each row is a list of items, and the users are not given."
            name_them = "Name them in the order of the rows, user_ids=[...]; for the numbers of the rows from 0: "
            raise FrameError(FrameName(name), of_rows, fix=(name_them, Argument("user_ids", range(n)), "."))
        if not is_several(self.user_ids):
            raise OptionError(
                f"user_ids={one_line(repr(self.user_ids))}: give the user of each row, in a list, an array or a Series."
            )
        users = ids_of(list(self.user_ids), name, None, "users")
        if len(users) != n:
            rows = f": there are {n:,} rows, and user_ids= has {len(users):,} users; give one user for each row."
            raise FrameError(FrameName(name), rows)
        return users

    def _of_frame(self, frame: Frame, name: str, names: list[Any]) -> pl.DataFrame | None:
        """A frame with lists in cells or with a column for each rank, by item."""
        items = [column for column in names if column == self.columns.get("item") or role_of(column) == "item"]
        if items and not holds_lists(frame, items[0], LISTS):
            return None
        if (ranks := self._ranks(frame, name, names)) is not None:
            return self._of_ranks(frame, name, ranks, [column for column in names if column not in ranks])
        role = COLUMN_OF_LISTS.get(name, "")
        lists = [column for column in names if column == self.columns.get(role)] or [
            column for column in names if role_of(column) == role or holds_lists(frame, column)
        ]
        if len(lists) != 1:
            return None
        named = {self.columns.get(each) for each in ("rank", "score", "relevance")} & {*names}
        if items and (named or any(role_of(column) in ("rank", "score", "relevance") for column in names)):
            return None  # a number of each row belongs to one item
        self.spent.update(one for one in (role, "item") if lists[0] == self.columns.get(one))
        label = find(frame, name, ["user"], self.columns)["user"]
        if items and table_of(frame, name, {"user": label})["user"].is_duplicated().any():
            return None
        return in_cells(frame, name, label, lists[0], ordered=name == RECS).rename({"user": label})

    def _ranks(self, frame: Frame, name: str, names: list[Any]) -> list[Any] | None:
        """The columns of a frame that has one for each rank, as 1 to 20 or rec_1 to rec_20; None if it has other roles."""
        named_user = [column for column in names if column == self.columns.get("user")]
        users = named_user or [column for column in names if role_of(column) == "user"]
        left = [column for column in names if column not in users]
        numbers = {column: found for column in left if (found := re.fullmatch(r"(.*?)(\d+)", str(column)))}
        prefixes = {found[1] for found in numbers.values()}
        named = {column for role in OF_OTHER_FRAMES if (column := self.columns.get(role)) is not None}
        if (
            len(numbers) < (1 if prefixes == {""} else 2)
            or any(role_of(one) in OF_OTHER_FRAMES for one in left)
            or named & {*left}
        ):
            return None
        if _holds_fractions(frame, name, [*numbers]):
            if prefixes == {""}:
                raise _of_items(name, [*numbers], "hold numbers that are not whole")
            return None
        ranks = sorted(numbers, key=lambda column: int(numbers[column][2]))
        places = [int(numbers[column][2]) for column in ranks]
        examples = " and ".join(map(repr, ranks[:2]))
        if len(prefixes) > 1 or places[0] > 1 or places != list(range(places[0], places[0] + len(places))):
            raise _of_items(name, ranks, "are no ranks from 1 without a gap")
        if others := [column for column in left if column not in numbers]:
            held = f": there is a column for each rank, such as {examples}, and one that is no rank: {others[0]!r}."
            drop = Code(f": frame.drop(columns={others!r})")
            of_users = () if users else ("If it holds the users, ", Argument("user", others[0]), ". ")
            fix = (*of_users, "Else drop it" if of_users else "Drop it", drop, ".")
            raise ColumnError(FrameName(name), held, fix=fix)
        return ranks

    def _of_ranks(self, frame: Frame, name: str, ranks: list[Any], others: list[Any]) -> pl.DataFrame | None:
        label: Any = "user"
        table = table_of(frame, name, {str(at): column for at, column in enumerate(ranks)})
        if others:
            if len(others) > 1:
                return None
            label = others[0]
            users = table_of(frame, name, {"user": label})["user"]
        elif isinstance(frame, pd.DataFrame) and not is_numbered(frame.index):
            users = from_pandas(frame.index.to_series(), name, "index", "user")
            label = frame.index.name if role_of(frame.index.name) == "user" else label
        else:
            users = self._given_users(table.height, name)
        kinds = {kind(pl.Int64() if dtype.is_float() else dtype) for dtype in table.dtypes if dtype != pl.Null}
        if len(kinds) > 1:
            held = f": there are items of more than one kind: {' and '.join(sorted(kinds))}."
            raise FrameError(FrameName(name), held, fix="Make all its columns one kind.")
        columns = pl.concat([pl.DataFrame({"item": column}) for column in table], how="vertical_relaxed")["item"]
        items = columns.gather(np.arange(len(columns)).reshape(len(ranks), -1).T.ravel())
        ranked = self._ranked(users, items, name)
        hashes = np.sort(items.hash().to_numpy().reshape(-1, len(ranks)), axis=1)
        # Equal hashes are seldom, unless of missing items, and only then are the items compared.
        alike = (hashes[:, 1:] == hashes[:, :-1]).any(axis=1).sum() * 2 > len(users)
        numbers = items.dtype.is_numeric() or items.dtype == pl.Boolean
        if alike and numbers and repeated(ranked, ["user", "item"])["user"].n_unique() * 2 > len(users):
            raise _of_items(
                name, ranks, "hold the same more than once in most rows", "list each once, and end a list by None"
            )
        return ranked.rename({"user": label})


def is_file(given: object) -> bool:
    """Whether a path was given."""
    return isinstance(given, (str, os.PathLike))


def read_inputs(given: Mapping[str, Input | None], columns: Mapping[str, str | None], user_ids: Any = None) -> Inputs:
    """Read recommendations, truth, train, items and users, by these names; what is not given is None."""
    frames: dict[str, Any] = {name: frame for name, frame in given.items() if frame is not None or name == RECS}
    inputs = Inputs(columns, user_ids, frames)
    files = [name for name, frame in frames.items() if is_file(frame)]
    for name in frames:
        if name not in files:
            inputs.convert(name)
    wanted: list[Wanted] = [
        (frame, TREC.get(name) if name in files and TRUTH in frames else None, DESCRIBED.get(name, IDS))
        for name, frame in frames.items()
    ]
    named = {role: column for role, column in columns.items() if column is not None}
    frames |= zip(frames, read_together(wanted, named), strict=True)
    for name in files:
        inputs.convert(name)
    inputs.converted.update(files)
    inputs.columns = {role: column for role, column in columns.items() if role not in inputs.spent}
    return inputs


def refuse_unused(user_ids: Any, *, used: bool) -> None:
    """Raise an error for users who were given and not needed."""
    if user_ids is not None and not used:
        raise OptionError("user_ids= names the users of rows of items, and every input has its users: leave it out.")


def is_numbered(index: pd.Index[Any]) -> bool:
    """Whether an index is the numbers of rows from 0, as pandas gives it to a frame without one."""
    return isinstance(index, pd.RangeIndex) and index.name is None and index.start == 0


def _holds_fractions(frame: Frame, name: str, columns: list[Any]) -> bool:
    """Whether columns hold numbers that are not whole, which are no items."""
    floats = [column for column in columns if str(column) in map(str, fractional(frame))]
    table = table_of(frame, name, {str(at): column for at, column in enumerate(floats)}) if floats else pl.DataFrame()
    return any(bool((column.fill_nan(None) % 1 > 0).any()) for column in table)


def _of_items(name: str, columns: list[Any], held: str, if_ranks: str = "") -> ColumnError:
    """The error for numbered columns that do not hold the items of ranks."""
    problem = (
        f": there is no item column, and the numbered columns, such as {' and '.join(map(repr, columns[:2]))}, {held}."
    )
    stack = (
        "If each is an item and the cells are ratings or scores",
        Code(", frame.stack().dropna() with users as index"),
    )
    fix = (*stack, f"; if they hold the item of each rank, {if_ranks or f'rename them 1 to {len(columns)}'}.")
    return ColumnError(FrameName(name), problem, fix=fix)


def _no_columns(given: Mapping[Any, Any], name: str) -> None:
    """Refuse columns in a mapping, whose names would be taken for users."""
    if len(given) <= 20 and set(IDS) <= {role_of(key) for key in given}:
        columns = ", ".join(map(repr, given))
        raise FrameError(
            FrameName(name),
            f": a mapping of columns ({columns}) is given, where one of users is needed; make it a frame, pandas.DataFrame(...).",
        )
