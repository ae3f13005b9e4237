"""Evaluate Dask DataFrames where they are.

`import recnb.dask` makes `.rec` known to them: `ddf.rec.against(dtruth).table(k=[5, 10])`.
`recnb.dask.evaluate(recs, truth)` is the same. Conventions and numbers are those of
pandas; `recnb.compare` takes Dask DataFrames from then on. Needs
`pip install "recnb[dask]"`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import InputTable
from recnb.data.names import RECS, TRUTH, Labels
from recnb.data.parts import StoredRows
from recnb.data.role_table import RoleTable
from recnb.data.roles import Layout
from recnb.display.language import N_
from recnb.distributed.evaluation import (
    BUCKET,
    ROW,
    call,
    evaluation_of,
    refuse_others,
    rows_of,
)
from recnb.errors import FrameError
from recnb.evaluate import ENGINES
from recnb.evaluation import Evaluation

try:
    import dask
    import dask.dataframe as dd
    from dask.dataframe.extensions import register_dataframe_accessor
except ImportError as problem:  # pragma: no cover
    raise ImportError('recnb.dask needs Dask: pip install "recnb[dask]"') from problem

T = TypeVar("T")

#: Rows of a partition that get numbers of their own.
ROWS = 2**40


def evaluate(recs: Any, truth: Any, **options: Any) -> Evaluation:
    """Evaluate Dask DataFrames of recommendations and relevant items.

    Options are those of `recnb.evaluate`; `train=`, `items=` and `users=` are frames
    here, not Dask's. Users are put into as many partitions as the larger frame has.

    A task for each partition is named `recnb-part`, so Dask's ProgressBar and its
    dashboard tell how far it is.

    >>> import dask.dataframe as dd
    >>> import recnb, recnb.dask
    >>> sample = recnb.datasets.load_sample()
    >>> ddf = dd.from_pandas(sample.models["popular"], npartitions=4)
    >>> dtruth = dd.from_pandas(sample.test, npartitions=1)
    >>> evaluation = ddf.rec.against(dtruth, averaged_users="both")
    >>> round(float(evaluation.ndcg(k=10)), 4), round(float(evaluation.ndcg(k=10).per_user.mean()), 4)
    (0.1738, 0.1738)
    """  # noqa: E501
    refuse_others(
        recs,
        truth,
        dd.DataFrame,
        "a Dask DataFrame, dd.from_pandas(frame, npartitions=1)",
    )
    return evaluation_of(
        recs._meta, truth._meta, options, partial(Partitions, recs, truth)
    )


class Partitions(StoredRows):
    """Partitions of whole users, made by a shuffle of both frames."""

    where = N_("the partitions of Dask DataFrames")
    remedy = "recnb.evaluate(recs.compute(), truth.compute())"

    def __init__(self, recs: Any, truth: Any, layout: Layout) -> None:
        n = max(recs.npartitions, truth.npartitions)
        self._rows = {
            RECS: _by_role(recs, layout.recs_read),
            TRUTH: _by_role(truth, layout.truth_read),
        }
        self._shuffled = [
            rows.shuffle(BUCKET, npartitions=n, ignore_index=True)
            for rows in self._rows.values()
        ]

    def each(self, work: Callable[[pl.DataFrame, pl.DataFrame], T]) -> tuple[T, ...]:
        """Call a function of the rows of each partition, where they are."""
        pairs = zip(*(frame.to_delayed() for frame in self._shuffled), strict=True)
        task = dask.delayed(call)
        tasks = (
            task(work, *pair, dask_key_name=f"recnb-part-{uuid4().hex}")
            for pair in pairs
        )
        return tuple(dask.compute(*tasks))

    def of_users(self, users: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows of some users."""
        wanted = users.to_list()
        recs, truth = dask.compute(
            *(rows[rows["user"].isin(wanted)] for rows in self._rows.values())
        )
        return rows_of(recs, RECS), rows_of(truth, TRUTH)

    def distinct(self, name: str, roles: Sequence[str]) -> pl.DataFrame:
        """Return the values that some columns of a frame have together."""
        values = self._rows[name][[*roles]].drop_duplicates().compute()
        return InputTable.of(values, name).select({role: role for role in roles})

    def first(self) -> pl.DataFrame:
        """Return a row of the lists, of the first partition that has some."""
        lists = self._rows[RECS]
        for number in range(lists.npartitions):
            rows = lists.get_partition(number).head(1, compute=False).compute()
            if len(rows):
                break
        return rows_of(rows, RECS)


@register_dataframe_accessor("rec")
class DaskAccessor:
    """Evaluate recommendations in a Dask DataFrame: `ddf.rec.against(dtruth)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def against(self, truth: Any, **options: Any) -> Evaluation:
        """Evaluate these recommendations against a Dask DataFrame.

        Options are those of `recnb.dask.evaluate`.
        """
        return evaluate(self._frame, truth, **options)


def _by_role(frame: Any, roles: Labels) -> Any:
    """Return the columns that are read, by role, with the place and bucket of each row."""
    columns = frame[list(dict.fromkeys(roles.values()))]
    return columns.map_partitions(
        _numbered,
        dict(roles),
        meta=_numbered(columns._meta, dict(roles)),
        token="recnb-rows",
    )


def _numbered(
    rows: pd.DataFrame, roles: Labels, partition_info: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Return the columns of a partition by role, with the place and bucket of each row."""
    number = partition_info["number"] if partition_info else 0
    columns = {role: _uncategorized(rows[column]) for role, column in roles.items()}
    place = np.arange(len(rows)) + number * ROWS
    bucket = _bucket(columns["user"])
    columns[ROW] = pd.Series(place, index=rows.index, dtype=np.int64)
    columns[BUCKET] = pd.Series(bucket, index=rows.index, dtype=np.int64)
    return pd.DataFrame(columns)


def _bucket(users: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a number for each user, the same on every worker and for every type of ids.

    Dask's own hash goes by the type that a column is said to have, so 1 in a column of
    objects is not the 1 of a column of numbers. The hash of pandas is the same in all
    its versions, and that of Polars need not be.
    """
    try:
        frame = pd.DataFrame({"user": users})
        rows = InputTable.of(frame, "the frame").select({"user": "user"})
        ids = RoleTable("the frame", rows, {}).with_ids(["user"])["user"]
    except (pl.exceptions.PolarsError, FrameError):
        # What is no id is refused by the part, wherever it is.
        return np.zeros(len(users), dtype=np.int64)
    return (pd.util.hash_array(ids.to_numpy()) >> np.uint64(33)).astype(np.int64)


def _uncategorized(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return values for codes: categories may differ from partition to partition."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    dtype = column.cat.categories.dtype
    if dtype.kind == "O" or column.hasnans:
        return column.astype(object)
    return column.astype(dtype)


ENGINES["dask"] = evaluate
