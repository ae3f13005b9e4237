"""`import recnb.dask` makes `.rec` known to Dask DataFrames:
`ddf.rec.against(dtruth).table(k=[5, 10])`.

`recnb.dask.evaluate(recs, truth)` is the same, and takes a pandas frame on either side.
The same conventions and the same numbers as with pandas; `recnb.compare` takes Dask
DataFrames from then on. Needs `pip install "recnb[dask]"`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import pandas as pd
import polars as pl

from recnb.comparison.models import register as register_engine
from recnb.data import Layout
from recnb.data.columns import Labels
from recnb.data.in_memory import Sheets
from recnb.data.parts import Parts
from recnb.data.sheet import RECS, TRUTH, Sheet
from recnb.distributed.evaluation import BUCKET, ROW, PartedEvaluation, call, read_part
from recnb.errors import FrameError
from recnb.evaluate import ParsedOptions, parse_options

try:
    import dask
    import dask.dataframe as dd
    from dask.dataframe.extensions import register_dataframe_accessor
except ImportError as problem:  # pragma: no cover
    raise ImportError('recnb.dask needs Dask: pip install "recnb[dask]"') from problem

T = TypeVar("T")

#: Rows of a partition that get numbers of their own.
ROWS = 2**40


def evaluate(
    recs: Any, truth: Any, *, npartitions: int | None = None, **options: Any
) -> PartedEvaluation:
    """Evaluate recommendations against the truth where one of them or both are Dask
    DataFrames; a pandas frame may be the other.

    Options are those of `recnb.evaluate`; `train=`, `items=` and `users=` are frames
    here, not Dask's. `npartitions` is the number of partitions that users are put into,
    by default that of the larger frame.

    A task for each partition is named `recnb-part`, so Dask's ProgressBar and its
    dashboard tell how far it is.

    >>> import dask.dataframe as dd
    >>> import recnb, recnb.dask
    >>> sample = recnb.datasets.load_sample()
    >>> ddf = dd.from_pandas(sample.models["popular"], npartitions=4)
    >>> evaluation = ddf.rec.against(sample.test)
    >>> round(float(evaluation.ndcg(k=10)), 4), round(float(evaluation.ndcg(k=10).per_user.mean()), 4)
    (0.1725, 0.1725)
    """  # noqa: E501
    given = parse_options(options).with_columns_of(getattr(truth, "columns", ()))
    return PartedEvaluation(DaskParts(recs, truth, given, npartitions), given)


class DaskParts(Parts):
    """Partitions of whole users, made by a shuffle of both frames."""

    where, remedy = (
        "the partitions of Dask DataFrames",
        "recnb.evaluate(recs.compute(), truth.compute())",
    )

    def __init__(
        self, recs: Any, truth: Any, given: ParsedOptions, npartitions: int | None
    ) -> None:
        recs, truth = (
            _dask_frame(recs, RECS, truth),
            _dask_frame(truth, TRUTH, recs),
        )
        super().__init__(
            Layout.of(recs._meta, truth._meta, given.columns, given.side_data)
        )
        n = npartitions or max(recs.npartitions, truth.npartitions)
        self._rows = (
            _by_role(recs, self.layout.recs),
            _by_role(truth, self.layout.truth),
        )
        self._shuffled = [
            frame.shuffle(BUCKET, npartitions=n, ignore_index=True)
            for frame in self._rows
        ]

    def each(self, work: Callable[[Sheets], T]) -> tuple[T, ...]:
        """Call a function of the users of each partition, where they are."""
        pairs = zip(*(frame.to_delayed() for frame in self._shuffled), strict=True)
        task = dask.delayed(call, pure=False)
        tasks = (
            task(work, *pair, self.layout, dask_key_name=f"recnb-part-{uuid4().hex}")
            for pair in pairs
        )
        return tuple(dask.compute(*tasks))

    def rows_of(self, users: pl.Series) -> Sheets:
        """Return the rows of some users."""
        wanted = users.to_list()
        left, right = dask.compute(
            *(rows[rows["user"].isin(wanted)] for rows in self._rows)
        )
        return read_part(left, right, self.layout)


class DaskAccessor:
    """Evaluate recommendations in a Dask DataFrame: `ddf.rec.against(dtruth)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def against(
        self, truth: Any, *, npartitions: int | None = None, **options: Any
    ) -> PartedEvaluation:
        """Evaluate these recommendations against a Dask (or pandas) DataFrame of
        relevant items; options are those of `recnb.dask.evaluate`.
        """
        return evaluate(self._frame, truth, npartitions=npartitions, **options)


def _dask_frame(frame: Any, name: str, other: Any) -> Any:
    if isinstance(frame, dd.DataFrame):
        return frame
    if isinstance(frame, pd.DataFrame):
        return dd.from_pandas(
            frame, npartitions=getattr(other, "npartitions", 1), sort=False
        )
    held = f"{name} is a {type(frame).__name__}"
    raise FrameError(
        f"{held}: give a Dask DataFrame, or a pandas one for the smaller side."
    )


def _by_role(frame: Any, roles: Labels) -> Any:
    """Return the columns that are read, named by role, with the place of each row and
    the bucket of its user.
    """
    picked = frame[list(dict.fromkeys(roles.values()))]
    return picked.map_partitions(
        _numbered,
        dict(roles),
        meta=_numbered(picked._meta, dict(roles)),
        token="recnb-rows",
    )


def _numbered(
    rows: pd.DataFrame, roles: Labels, partition_info: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    number = partition_info["number"] if partition_info else 0
    columns = {role: _uncategorized(rows[column]) for role, column in roles.items()}
    columns[ROW] = pd.Series(
        np.arange(len(rows)) + number * ROWS, index=rows.index, dtype=np.int64
    )
    columns[BUCKET] = pd.Series(
        _bucket(columns["user"]), index=rows.index, dtype=np.int64
    )
    return pd.DataFrame(columns)


def _bucket(users: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a number for each user, the same whatever the ids are stored as, on every
    worker.

    Dask's own hash goes by the type that a column is said to have, so 1 in a column of
    objects is not the 1 of a column of numbers. The hash of pandas is the same in all
    its versions, and that of Polars need not be.
    """
    try:
        frame = pd.DataFrame({"user": users})
        ids = Sheet.read(frame, "the frame", {"user": "user"}, ids=["user"])["user"]
    except (
        pl.exceptions.PolarsError,
        FrameError,
    ):  # what is no id is refused by the part, wherever it is
        return np.zeros(len(users), dtype=np.int64)
    return (pd.util.hash_array(ids.to_numpy()) >> np.uint64(33)).astype(np.int64)


def _uncategorized(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return values for codes: categories may differ from partition to partition."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    kept = column.cat.categories.dtype
    return column.astype(object if kept.kind == "O" or column.hasnans else kept)


if getattr(dd.DataFrame, "rec", None) is not DaskAccessor:
    register_dataframe_accessor("rec")(DaskAccessor)
register_engine("dask", lambda recs, truth, options: evaluate(recs, truth, **options))
