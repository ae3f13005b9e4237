"""Tables that are read in batches, as often as needed: lazy Polars frames, pyarrow datasets, DuckDB relations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, ClassVar

import polars as pl

from recnb.data.columns import Frame, collected, from_arrow, is_dataset, is_relation, owned
from recnb.display.language import N_

#: Rows that a batch has, about.
ROWS = 2**20

Batches = Generator[pl.DataFrame, None, None]


class Stream(ABC):
    """A table that stays where it is: batches come with the columns of the roles alone, under the names of the roles."""

    where: ClassVar[str]  #: what holds the rows, in words
    remedy: ClassVar[str]  #: what to type to have them in memory
    keeps_its_place: ClassVar[bool] = True  #: whether a reading goes on where it was left, whatever is read meanwhile

    def __init__(self, frame: Frame, name: str, roles: Mapping[str, str]) -> None:
        self.frame, self.name, self.roles = frame, name, dict(roles)
        self._begun: Batches | None = None

    @abstractmethod
    def _read(self) -> Iterator[pl.DataFrame]:
        """Batches of any size from the first row on."""

    @abstractmethod
    def head(self, n: int) -> pl.DataFrame:
        """The first rows; with `n=0` an empty frame with the types."""

    @abstractmethod
    def of(self, users: pl.Series) -> pl.DataFrame:
        """The rows of some users, who are given as ids that were checked."""

    def batches(self) -> Batches:
        """Every row in batches, in order."""
        begun, self._begun = self._begun, None
        return self._batches() if begun is None else begun

    def whole(self, limit: int) -> pl.DataFrame | None:
        """The whole table, if it has no more rows than that; else what was read is kept for the next reading."""
        batches, seen, n = self._batches(), deque[pl.DataFrame](), 0
        for batch in batches:
            seen.append(batch)
            n += batch.height
            if n > limit:
                if self.keeps_its_place:
                    self._begun = _resumed(seen, batches)
                else:
                    batches.close()
                return None
        return owned(pl.concat(seen, rechunk=False)) if seen else self.head(0)

    def _from_arrow(self, table: Any) -> pl.DataFrame:
        """Convert to Polars; dictionary-encoded text becomes text, since dictionaries may differ between batches."""
        frame = from_arrow(table, self.name, self.roles)
        return frame.with_columns(pl.col(pl.Categorical).cast(pl.String), pl.selectors.enum().cast(pl.String))

    def _batches(self) -> Batches:
        with collected(self.name):
            for batch in self._read():
                if batch.height:
                    yield batch


class _Lazy(Stream):
    where = N_("a lazy frame")
    remedy = "collect the frame first, frame.collect()"

    def _selected(self) -> pl.LazyFrame:
        frame: pl.LazyFrame = self.frame
        return frame.select(pl.col(column).alias(role) for role, column in self.roles.items())

    def _read(self) -> Iterator[pl.DataFrame]:
        return iter(self._selected().collect_batches(chunk_size=ROWS, engine="streaming"))

    def head(self, n: int) -> pl.DataFrame:
        with collected(self.name):
            if n == 0:
                return pl.DataFrame(schema=self._selected().collect_schema())
            return self._selected().head(n).collect()

    def of(self, users: pl.Series) -> pl.DataFrame:
        column, wanted = pl.col("user"), users
        kind = self._selected().collect_schema()["user"]
        if kind in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        else:
            wanted = users.cast(kind, strict=False).drop_nulls()
        # The bounds let a scan pass over the blocks of a file that hold others only.
        low, high = (pl.lit(end, wanted.dtype) for end in (wanted.min(), wanted.max()))
        with collected(self.name):
            return (
                self._selected()
                .filter(column.is_between(low, high) & column.is_in(wanted.implode()))
                .collect(engine="streaming")
            )


class _Dataset(Stream):
    where = N_("the files of a pyarrow dataset")
    remedy = "read the dataset first, dataset.to_table()"

    def _scan(self, **options: Any) -> Any:
        import pyarrow.dataset as ds

        # One batch and one file ahead: what is read further ahead is held, and is as large as the files.
        columns = {role: ds.field(column) for role, column in self.roles.items()}
        return self.frame.scanner(columns=columns, batch_size=ROWS, batch_readahead=1, fragment_readahead=1, **options)

    def _read(self) -> Iterator[pl.DataFrame]:
        return map(self._from_arrow, self._scan().to_batches())

    def head(self, n: int) -> pl.DataFrame:
        return self._from_arrow(self._scan().head(n) if n else self._scan().projected_schema.empty_table())

    def of(self, users: pl.Series) -> pl.DataFrame:
        import pyarrow as pa
        import pyarrow.dataset as ds

        field = ds.field(self.roles["user"])
        kind = self.frame.schema.field(self.roles["user"]).type
        if isinstance(kind, pa.BaseExtensionType):  # such as UUIDs, which Arrow compares as the bytes they are made of
            kind = kind.storage_type
            field = field.cast(kind)
        if pa.types.is_float16(kind):  # which Arrow does not look up
            kind = pa.float32()
            field = field.cast(kind)
        if pa.types.is_decimal(kind):  # Arrow has whole numbers become decimals only of 19 digits and more
            users = users.cast(pl.Decimal(kind.precision, kind.scale), strict=False).drop_nulls()
        values = users.to_arrow().cast(kind.value_type if pa.types.is_dictionary(kind) else kind)
        return self._from_arrow(self._scan(filter=field.isin(values)).to_table())


class _DuckDB(Stream):
    where = N_("a DuckDB relation")
    remedy = "fetch the relation first, relation.to_arrow_table()"
    keeps_its_place = False  # a connection that is asked something else forgets what it was reading

    def _selected(self, relation: Any = None) -> Any:
        import duckdb

        columns = (duckdb.ColumnExpression(column).alias(role) for role, column in self.roles.items())
        return (self.frame if relation is None else relation).select(*columns)

    def _read(self) -> Iterator[pl.DataFrame]:
        selected = self._selected()
        reader = getattr(selected, "to_arrow_reader", None) or selected.fetch_record_batch
        return map(self._from_arrow, reader(ROWS))

    def head(self, n: int) -> pl.DataFrame:
        return self._table(lambda: self._selected().limit(n))

    def of(self, users: pl.Series) -> pl.DataFrame:
        import duckdb

        values = [duckdb.ConstantExpression(user) for user in users.to_list()]
        wanted = duckdb.ColumnExpression(self.roles["user"]).isin(*values)
        return self._table(lambda: self._selected(self.frame.filter(wanted)))

    def _table(self, relation: Callable[[], Any]) -> pl.DataFrame:
        import pyarrow as pa

        with collected(self.name):
            return self._from_arrow(pa.table(relation()))


def stream_of(frame: Frame, name: str, roles: Mapping[str, str]) -> Stream | None:
    """A table to be read in batches; None if it is one that is in memory already."""
    if isinstance(frame, pl.LazyFrame):
        return _Lazy(frame, name, roles)
    if is_dataset(frame):
        return _Dataset(frame, name, roles)
    if is_relation(frame):
        return _DuckDB(frame, name, roles)
    return None


def _resumed(seen: deque[pl.DataFrame], rest: Batches) -> Batches:
    with closing(rest):
        while seen:
            yield seen.popleft()
        yield from rest


__all__ = ["Stream", "stream_of"]
