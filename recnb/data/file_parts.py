"""Frames larger than memory: put into files of whole users, joined part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from typing import Any, TypeVar

import polars as pl

from recnb.data.buckets import Batches, Buckets, batches_of, origin_of, ranges_of
from recnb.data.columns import Frame, Labels
from recnb.data.in_memory import Sheets, source_in_splits
from recnb.data.layout import Layout
from recnb.data.parts import Parts, of_one_part, part_of
from recnb.data.sheet import RECS, TRUTH, Sheet
from recnb.data.source import Origin, Source
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import ElsewhereError

T = TypeVar("T")


class FileParts(Parts):
    """Buckets of users in temporary files, joined one at a time."""

    def __init__(
        self, lists: Buckets, judged: Buckets, layout: Layout, origin: tuple[str, str]
    ) -> None:
        super().__init__(layout)
        #: The tables of the lists and of the truth; None once this was pickled.
        self._tables: tuple[Buckets, Buckets] | None = (lists, judged)
        self._origin = Origin(*origin)
        #: The slots of each bucket, the same of both tables.
        self._slots_of_buckets = ranges_of(lists, judged)
        self.keeps_truth = not judged.in_files

    @property
    def origin(self) -> Origin:
        """What holds rows that are not in memory."""
        return self._origin

    def _sides(self) -> tuple[Buckets, Buckets]:
        """Return the tables of the lists and of the truth; an error without them."""
        if self._tables is None:
            raise ElsewhereError(
                f"this asks for rows of the lists, which stayed in {self.where} when the "
                "evaluation was pickled. Evaluate the frames again; if they fit into "
                f"memory: {self.remedy}."
            )
        return self._tables

    def _read_truth(self) -> pl.DataFrame:
        truth = Sheet(TRUTH, self._sides()[1].all(), self.layout.truth)
        return self.keys.numbered(truth).rows

    def each(self, work: Callable[[Sheets], T]) -> Iterator[T]:
        """Apply a function to every bucket."""

        def on_part(rows: tuple[pl.DataFrame, pl.DataFrame]) -> T:
            with of_one_part():
                return work(self._part(*rows))

        return map(on_part, self._rows_of_buckets())

    def _rows_of_buckets(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield the rows of lists and truth of each bucket of users."""
        lists, judged = self._sides()
        n_buckets = len(self._slots_of_buckets)
        for low, high in steps(
            self._slots_of_buckets, _("buckets of users joined"), n_buckets
        ):
            recs = lists.rows_in_slots(low, high)
            truth = judged.rows_in_slots(low, high)
            if recs.height or truth.height:
                yield recs, truth

    def rows_of_users(self, users: pl.Series) -> Sheets:
        """Return the rows of some users."""
        lists, judged = self._sides()
        return self._part(lists.rows_of(users), judged.rows_of(users))

    def _part(self, recs: pl.DataFrame, truth: pl.DataFrame) -> Sheets:
        layout = self.layout
        lists = Sheet(RECS, recs, layout.recs)
        return part_of(lists, Sheet(TRUTH, truth, layout.truth), layout)

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        lists, _judged = self._sides()
        return Sheet(RECS, lists.first, self.labels)

    # What pickles an evaluation may be on its way to another machine, which has not these
    # files: the truth goes along, read from them if need be, and no rows of lists.

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"truth": self.truth, "_tables": None}

    # By default a copy is made as by pickling, without the rows of lists. Nothing writes
    # into the files, so copies can share them.

    def __deepcopy__(self, memo: object) -> FileParts:
        return self


def read_batches(
    recs: Frame, truth: Frame, layout: Layout, origin: tuple[str, str]
) -> Source:
    """Read both frames in batches, and check their ids.

    What does not fit into memory is put into files. Each frame is read once: a query may
    take long, or give other rows the next time.
    """
    roles_of_lists, roles_of_truth = layout.keys_read
    keys_of_lists, keys_of_truth = list[pl.DataFrame](), list[pl.DataFrame]()
    with closing(_batches_checked(truth, TRUTH, layout.truth_read)) as batches:
        judged = Buckets(_noted(batches, roles_of_truth, keys_of_truth))
    truth_example = Sheet(TRUTH, judged.first, layout.truth)  # one row, for its types
    with (
        steps(None, _("rows read")) as bar,
        closing(_batches_checked(recs, RECS, layout.recs_read)) as batches,
    ):

        def checked(batch: pl.DataFrame) -> pl.DataFrame:
            """Return a batch, after a check that its ids are of the truth's kind.

            On the way, the bar is moved.
            """
            Sheet(RECS, batch, layout.recs).refuse_other_kinds(truth_example)
            bar.update(batch.height)
            return batch

        lists = Buckets(_noted(map(checked, batches), roles_of_lists, keys_of_lists))
    if not lists.in_files:
        return source_in_splits(
            Sheet(RECS, lists.all(), layout.recs),
            Sheet(TRUTH, judged.all(), layout.truth),
            layout.split,
            users_without_items=layout.users_without_items,
        )
    if layout.split:
        layout = layout.with_keys(
            pl.concat(keys_of_lists, how="vertical_relaxed"),
            pl.concat(keys_of_truth, how="vertical_relaxed"),
        )
    return FileParts(lists, judged, layout, origin)


def _noted(
    batches: Iterator[pl.DataFrame], roles: Sequence[str], keys: list[pl.DataFrame]
) -> Batches:
    """Yield batches, and note the values of some columns that lists have there."""
    for batch in batches:
        if roles:
            keys.append(batch.select(roles).unique())
        yield batch


def _batches_checked(frame: Frame, name: str, labels: Labels) -> Batches:
    """Yield the rows of a frame in batches, with ids of one kind, none missing."""
    no_rows = Sheet(name, pl.DataFrame(), labels)
    has_rows = False
    with closing(batches_of(frame, name, labels)) as batches:
        is_whole = origin_of(frame) is None  # a frame in memory is one batch
        for batch in batches:
            # Errors count rows of this batch alone, unless it is all there is.
            with nullcontext() if is_whole else of_one_part():
                checked = no_rows.with_rows(batch).with_ids()
            has_rows = True
            yield checked.rows
        if not has_rows:
            _refuse_no_rows(no_rows)


def _refuse_no_rows(sheet: Sheet) -> None:
    """Raise the error for a frame without rows, which `Sheet.with_ids` words."""
    sheet.with_ids()
