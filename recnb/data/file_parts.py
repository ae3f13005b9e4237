"""Frames larger than memory: read once in batches, put into files of whole users, and
joined one bucket of users after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from typing import Any, TypeVar

import polars as pl

from recnb.data import lists_that_count
from recnb.data.buckets import Batches, Buckets, batches_of, origin_of, ranges_of
from recnb.data.columns import Frame, Labels, collected, is_scan
from recnb.data.in_memory import Sheets, source_of
from recnb.data.layout import Layout
from recnb.data.lists_that_count import AllLists, ListsThatCount, without_others
from recnb.data.parallel import in_turn
from recnb.data.parts import Parts, of_one_part, part_of
from recnb.data.sheet import RECS, TRUTH, Sheet
from recnb.data.source import Source, rows_of
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import ElsewhereError, FrameError

T = TypeVar("T")


class FileParts(Parts):
    """Buckets of users in temporary files, joined one after the other on all cores."""

    def __init__(
        self, lists: Buckets, judged: Buckets, layout: Layout, origin: tuple[str, str]
    ) -> None:
        super().__init__(layout)
        #: None once it was pickled.
        self.buckets: tuple[Buckets, Buckets] | None = (lists, judged)
        self.where, self.remedy = origin
        self.ranges = ranges_of(lists, judged)
        self.keeps_truth = not judged.in_files

    def _sides(self) -> tuple[Buckets, Buckets]:
        if self.buckets is None:
            raise ElsewhereError(
                f"this asks for rows of the lists, which stayed in {self.where} when the "
                "evaluation was pickled.",
                fix=f"Evaluate the frames again; if they fit into memory: {self.remedy}.",
            )
        return self.buckets

    def _read_truth(self) -> pl.DataFrame:
        return self._sides()[1].all()

    def each(self, work: Callable[[Sheets], T]) -> Iterator[T]:
        """Apply a function to every bucket."""

        def on_part(rows: tuple[pl.DataFrame, pl.DataFrame]) -> T:
            with of_one_part():
                return work(self._part(*rows))

        return in_turn(self._buckets(), on_part)

    def _buckets(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield the rows of either side, of one bucket of users after the other."""
        lists, judged = self._sides()
        for ends in steps(self.ranges, _("buckets of users joined"), len(self.ranges)):
            recs, truth = lists.bucket(*ends), judged.bucket(*ends)
            if recs.height or truth.height:
                yield recs, truth

    def rows_of(self, users: pl.Series) -> Sheets:
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

    # What pickles an evaluation may be on its way to another machine: it takes what is
    # in memory, and no rows of lists.

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"truth": self.truth, "buckets": None}

    def __deepcopy__(self, memo: object) -> FileParts:
        return self


def read_batches(
    recs: Frame, truth: Frame, layout: Layout, origin: tuple[str, str]
) -> Source:
    """Read both frames in batches, and check their ids; what does not fit into memory
    is put into files.

    Of Parquet, lists that do not count are read when something needs them. Other frames
    are read once: a query may take long, or give other rows the next time.
    """
    with closing(_batches_checked(truth, TRUTH, layout.truth)) as batches:
        judged = Buckets(batches)
    if is_scan(recs) and not judged.in_files:
        counted = _lists_that_count(recs, judged, layout, origin)
        if counted is not None:
            return counted
    source = _read_lists(recs, judged, layout, origin)
    if isinstance(source, Sheets):
        return without_others(source)
    return source


def _read_lists(
    recs: Frame, judged: Buckets, layout: Layout, origin: tuple[str, str]
) -> Source:
    """Read the lists beside a truth that was read."""
    example = Sheet(TRUTH, judged.first, layout.truth)
    with (
        steps(None, _("rows read")) as bar,
        closing(_batches_checked(recs, RECS, layout.recs)) as batches,
    ):

        def alike() -> Iterator[pl.DataFrame]:
            for batch in batches:
                Sheet(RECS, batch, layout.recs).refuse_other_kinds(example)
                bar.update(batch.height)
                yield batch

        lists = Buckets(alike())
    if lists.in_files:
        return FileParts(lists, judged, layout, origin)
    return source_of(
        Sheet(RECS, lists.all(), layout.recs),
        Sheet(TRUTH, judged.all(), layout.truth),
    )


def _lists_that_count(
    recs: pl.LazyFrame, judged: Buckets, layout: Layout, origin: tuple[str, str]
) -> Source | None:
    """Read the lists of users of the truth alone; None if that saves little, or if ids
    are to be looked at row by row.
    """
    judged_users = judged.all()["user"].unique()
    column = layout.recs["user"]
    with collected(RECS):
        n_rows = recs.select(pl.len()).collect().item()
        if n_rows < lists_that_count.MANY:
            return None
        # Each user once, on all cores.
        users = recs.select(column).unique().collect(engine="streaming")[column]
    if users.dtype != judged_users.dtype or users.null_count():
        return None
    is_counted = users.is_in(judged_users.implode())
    share = is_counted.to_numpy().mean()
    if not share or share > lists_that_count.MOST_LEFT:
        return None
    wanted = recs.filter(pl.col(column).is_in(judged_users.implode()))
    counted = _read_lists(wanted, judged, layout, origin)

    def read_all() -> Source:
        everyone = _read_lists(recs, judged, layout, origin)
        _refuse_changed(counted, everyone, judged_users)
        return everyone

    left_out = users.filter(~is_counted)
    return ListsThatCount(counted, left_out, AllLists(read_all), n_rows)


def _refuse_changed(counted: Source, everyone: Source, users: pl.Series) -> None:
    """Raise an error if the lists of the users of the truth are others than when they
    were first read; lists in files are not compared.
    """
    if not isinstance(counted, Sheets) or not isinstance(everyone, Sheets):
        return
    if not rows_of(everyone.recs, users).equals(counted.recs):
        raise FrameError(
            f"{RECS}: the files hold other lists than when they were first read.",
            fix="Evaluate them again.",
        )


def _batches_checked(frame: Frame, name: str, labels: Labels) -> Batches:
    """Yield the rows of a frame in batches, with ids of one kind, none missing."""
    with closing(batches_of(frame, name, labels)) as batches:
        sheet = Sheet(name, pl.DataFrame(), labels)
        for batch in batches:
            sheet = sheet.with_rows(batch)
            with of_one_part() if origin_of(frame) else nullcontext():
                checked = sheet.with_ids()
            yield checked.rows
        if sheet.rows.height == 0:
            sheet.with_ids()  # which raises the error for a frame without rows
