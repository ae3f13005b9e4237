"""Rows in parts of whole users: what is done with each, and one `Joined` of all.

A part is the rows of whole users on both sides, as `InMemory`. What memory does not hold
is a list of parts, wherever they are (`StoredRows`): files (`file_parts.py`), partitions
of Dask, groups of Spark. `Parts.each` applies a function to every part where it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from operator import add, attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention
from recnb.data.in_memory import InMemory
from recnb.data.join import JoinedUsers
from recnb.data.names import RECS, TRUTH, Labels
from recnb.data.role_table import RoleTable, no_rows, rows_of_users
from recnb.data.roles import Layout
from recnb.data.rows import JoinedRows, RowCounts
from recnb.data.source import Source
from recnb.data.splits import BY_USER, Keys, split_labels
from recnb.errors import ElsewhereError, FrameError
from recnb.metrics.hits_of_parts import copied_to_hold, hits_together

T = TypeVar("T")


def columns_alone(name: str, labels: Labels) -> RoleTable:
    """Return a table whose rows are elsewhere."""
    return RoleTable(name, pl.DataFrame(schema=[*labels]), labels)


class StoredRows(ABC):
    """The rows of both tables, by role and in parts of whole users, wherever they are."""

    where: str  #: what holds them, in words
    remedy: str  #: what to type to have them in memory
    #: Whether rows of the truth are kept of each part, and not made again where they are
    #: asked for.
    keeps_truth = False

    @abstractmethod
    def each(
        self, work: Callable[[pl.DataFrame, pl.DataFrame], T | None]
    ) -> Iterable[T | None]:
        """Apply a function to the lists and the truth of every part, where they are."""

    @abstractmethod
    def of_users(self, users: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the lists and the truth of some users."""

    @abstractmethod
    def distinct(self, name: str, roles: Sequence[str]) -> pl.DataFrame:
        """Return the values that some columns of a table have together."""

    @abstractmethod
    def first(self) -> pl.DataFrame:
        """Return a row of the lists."""


@dataclass(eq=False, kw_only=True)
class Parts(Source):
    """Both tables in parts of whole users."""

    in_memory = False
    stored: StoredRows

    @classmethod
    def of(
        cls, stored: StoredRows, layout: Layout, users_without_items: Sequence[Any] = ()
    ) -> Parts:
        """Return the source of stored rows, in which lists have one number everywhere."""
        recs = columns_alone(RECS, layout.recs)
        truth = columns_alone(TRUTH, layout.truth)
        keys = BY_USER
        if layout.split:
            roles = [*split_labels(layout.split)]
            of_truth = [role for role in roles if role in layout.truth_read]
            listed = stored.distinct(RECS, ["user", *roles])
            judged = stored.distinct(TRUTH, ["user", *of_truth])
            with counted_in_parts():
                recs_keys = recs.with_rows(listed).with_ids(["user"])
                truth_keys = truth.with_rows(judged).with_ids(["user"])
            recs_keys.refuse_other_kinds(truth_keys)
            keys = Keys.of(recs_keys, truth_keys, layout.split)
        return cls(
            recs=recs,
            truth=truth,
            keys=keys,
            users_without_items=users_without_items,
            stored=stored,
        )

    def each(self, work: Callable[[InMemory], T]) -> Iterator[T]:
        """Apply a function to every part that has rows, where it is.

        `UsersOfParts` applies it to the parts of other users too.
        """
        on_rows = partial(_on_rows, work, self._template)
        for result in self.stored.each(on_rows):
            if result is not None:
                yield result

    @property
    def _template(self) -> InMemory:
        """A part without its rows."""
        return InMemory(
            self.recs,
            self.truth,
            keys=self.keys,
            propensity=self.propensity,
            needs_users=False,
        )

    def rows_of(self, list_ids: pl.Series) -> InMemory:
        """Return the rows of some lists."""
        users = self.keys.users_of(list_ids).unique()
        part = part_of(self._template, *self.stored.of_users(users))
        return part.among(list_ids) if self.keys.columns else part

    @property
    def recs_rows(self) -> pl.DataFrame:
        """An error: the rows of lists are not in memory."""
        raise self.elsewhere()

    def elsewhere(self) -> ElsewhereError:
        """Return the error for what needs all rows."""
        return ElsewhereError(
            f"this looks at every row of the lists, and they stay in {self.stored.where}: "
            "only hits and counts were fetched. If they fit into memory, or do so once "
            f"they are cut at the rank you need: {self.stored.remedy}."
        )

    @cached_property
    def truth_rows(self) -> pl.DataFrame:
        """All rows of the truth, which are read where they are."""
        return _by_user(self.each(attrgetter("truth_rows")))

    def example(self) -> RoleTable:
        """Return a user and an item of the lists."""
        return self.recs.with_rows(self.stored.first()).with_ids()

    def among(self, users: pl.Series) -> UsersOfParts:
        """Return some of the users."""
        shared = {
            one.name: getattr(self, one.name) for one in fields(Parts) if one.init
        }
        return UsersOfParts(**shared, of_all=self, users=users)

    def numbered_as(self, keys: Keys, numbers: pl.Series) -> Parts:
        """Return the same with other keys, by which rows are numbered as they are read."""
        return replace(self, keys=keys)

    # The join

    def join(self, convention: Convention) -> tuple[JoinedUsers, JoinedRows]:
        """Join every part, and merge hits and a few counts of each user."""
        if convention.candidates == "catalogue":
            raise ElsewhereError(
                "candidates='catalogue' ranks every item of all users below each list, and "
                f"the lists stay in {self.stored.where}. If they fit into memory: "
                f"{self.stored.remedy}."
            )
        work = partial(_joined_part, convention, self.stored.keeps_truth)
        parts = [*self.each(work)]
        listed = _first_known(RECS, [part.first_listed for part in parts])
        judged = _first_known(TRUTH, [part.first_judged for part in parts])
        # Each part may have rows of one table alone, whose ids are of one kind.
        recs = self.recs.with_rows(pl.DataFrame({"user": [listed]}))
        truth = self.truth.with_rows(pl.DataFrame({"user": [judged]}))
        recs.refuse_other_kinds(truth)
        joined = _merged([part.joined for part in parts])
        # Where some user is in both tables, items of all parts are of one kind.
        joined.refuse_strangers(recs, truth)
        joined.refuse_no_users()
        if self.keys.columns:
            self.keys.refuse_without_users(joined.users)
        counts = reduce(add, [part.counts for part in parts])
        # The rows hold a copy of this source, which keeps its joins: it would be a cycle.
        rows = RowsOfParts(replace(self), convention, counts)
        if self.stored.keeps_truth:
            # Set here, so that these properties do not read them again.
            rows.truth = _by_user([part.kept["truth"] for part in parts])
            rows.relevant = _by_user([part.kept["relevant"] for part in parts])
        return joined, rows


@dataclass(eq=False, kw_only=True)
class UsersOfParts(Parts):
    """Some users of parts: what they have is taken from what is joined of all."""

    of_all: Parts
    users: pl.Series

    @cached_property
    def truth_rows(self) -> pl.DataFrame:
        """The rows of the truth of these users."""
        return rows_of_users(self.of_all.truth_rows, self.users)

    def join(self, convention: Convention) -> tuple[JoinedUsers, JoinedRows]:
        """Return what is joined of these users."""
        joined = self.of_all.joined_under(convention).among(self.users)
        return joined, joined.rows

    def among(self, users: pl.Series) -> UsersOfParts:
        """Return some of these users."""
        return self.of_all.among(users)

    def numbered_as(self, keys: Keys, numbers: pl.Series) -> UsersOfParts:
        """Return the same with other keys, among which lists have these numbers."""
        return self.of_all.numbered_as(keys, numbers).among(numbers[self.users])


@dataclass(eq=False)
class RowsOfParts(JoinedRows):
    """The rows behind the hits of parts: counted, and read where they are."""

    parts: Parts
    convention: Convention
    row_counts: RowCounts

    @property
    def lists(self) -> pl.DataFrame:
        """An error: the rows of lists are not in memory."""
        raise self.parts.elsewhere()

    @cached_property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth, by user."""
        return self._read("truth")

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self._read("relevant")

    def _read(self, name: str) -> pl.DataFrame:
        """Return rows of the truth of all parts, by user."""
        return _by_user(self.parts.each(partial(_rows_under, self.convention, name)))

    @property
    def n_users(self) -> int:
        """Number of users of either table."""
        return self.row_counts.n_users

    @property
    def n_recommended(self) -> int:
        """Number of rows of lists."""
        return self.row_counts.n_recommended

    def counts(self, convention: Convention) -> RowCounts:
        """Return the counts of all rows, which were added up."""
        return self.row_counts

    def lists_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users' lists, which are fetched."""
        return self._fetched(users).lists_of(users)

    def relevant_of(self, users: pl.Series) -> pl.DataFrame:
        """Return the relevant rows of some users, fetched unless they are here."""
        if "relevant" in vars(self):
            return super().relevant_of(users)
        return self._fetched(users).relevant_of(users)

    def _fetched(self, users: pl.Series) -> JoinedRows:
        """Return rows in memory, of these users at least."""
        _joined, rows = self.parts.rows_of(users).join(self.convention)
        return rows

    def __getstate__(self) -> dict[str, Any]:
        # Rows that stay in files are not pickled: those of the truth are read first.
        return {**vars(self), "truth": self.truth, "relevant": self.relevant}


# ---- what is done with a part


@contextmanager
def counted_in_parts() -> Iterator[None]:
    """Say in an error of rows that it counts those of a part, or those that differ."""
    try:
        yield
    except FrameError as problem:
        # One of its kinds, such as that of a table without rows, counts no rows.
        if type(problem) is not FrameError:
            raise
        note = "(Rows are counted in one part of the frame: there may be more.)"
        raise FrameError(f"{problem} {note}", problem.typed) from None


class JoinedPart(NamedTuple):
    """What is fetched of a part that was joined where it is."""

    joined: JoinedUsers
    counts: RowCounts
    #: The first user of each table, for errors; None: it has no rows.
    first_listed: Any
    first_judged: Any
    #: Rows of the truth by their names in `JoinedRows`; empty if they are not kept.
    kept: dict[str, pl.DataFrame]


def part_of(
    template: InMemory, recs_rows: pl.DataFrame, truth_rows: pl.DataFrame
) -> InMemory:
    """Return rows of some users under the labels, keys and propensities of a template.

    Either table may have no rows; its ids are then of the other's type.
    """
    recs, truth = (
        table.with_ids() if table.rows.height else table
        for table in (
            template.recs.with_rows(recs_rows),
            template.truth.with_rows(truth_rows),
        )
    )
    recs, truth = recs.typed_as(truth), truth.typed_as(recs)
    recs.refuse_other_kinds(truth)
    part = replace(
        template,
        recs=template.keys.numbered(recs),
        truth=template.keys.numbered(truth),
    )
    return part.with_weights(template.propensity, None)


def _on_rows(
    work: Callable[[InMemory], T],
    template: InMemory,
    recs: pl.DataFrame,
    truth: pl.DataFrame,
) -> T | None:
    """Apply a function to a part; None: it has no rows, so that ids have no type."""
    if recs.is_empty() and truth.is_empty():
        return None
    with counted_in_parts():
        return work(part_of(template, recs, truth))


def _joined_part(
    convention: Convention, keeps_truth: bool, part: InMemory
) -> JoinedPart:
    """Join a part, and count its rows, of which those of the truth alone may be kept."""
    joined, rows = part.join(convention)
    kept: dict[str, pl.DataFrame] = {}
    if keeps_truth:
        kept = {"truth": rows.truth, "relevant": rows.relevant}
    return JoinedPart(
        joined=replace(joined, hits=copied_to_hold(joined.hits)),
        counts=rows.counts(joined.convention),
        first_listed=part.recs["user"].first(),
        first_judged=part.truth["user"].first(),
        kept=kept,
    )


def _rows_under(convention: Convention, name: str, part: InMemory) -> pl.DataFrame:
    """Return rows of the truth of a part under a convention."""
    _joined, behind_hits = part.join(convention)
    rows: pl.DataFrame = getattr(behind_hits, name)
    return rows


def _by_user(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of parts together, by user."""
    return pl.concat(tables).sort("user", maintain_order=True)


# ---- the merge


def _first_known(name: str, users: Sequence[Any]) -> Any:
    """Return a user of a table, of the first of each part that has rows of it."""
    for user in users:
        if user is not None:
            return user
    raise no_rows(name)


def _merged(parts: Sequence[JoinedUsers]) -> JoinedUsers:
    """Return what is joined of parts, each of other users, as of one frame.

    Their hits may take most of the memory: they are taken out of the parts, so that none
    are held twice.
    """
    hits = [vars(part).pop("hits") for part in parts]
    users = pl.concat([part.users for part in parts])
    by_id = users.arg_sort()
    position = np.empty(len(users), dtype=np.int64)
    position[by_id] = np.arange(len(users))
    return JoinedUsers(
        users=users.gather(by_id),
        hits=hits_together(hits, position),
        convention=parts[0].convention,  # as of all parts
        has_list=np.concatenate([part.has_list for part in parts])[by_id],
        n_with_relevant=sum(part.n_with_relevant for part in parts),
        in_both=any(part.in_both for part in parts),
        has_gaps=any(part.has_gaps for part in parts),
    )
