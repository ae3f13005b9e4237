"""Dask DataFrames: both shuffled by user, and a function called of each pair of partitions where it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import uuid4

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from dask.base import compute
from dask.delayed import delayed

from recnb.comparison.models import register as register_engine
from recnb.data import Layout, Part, Source, table_of, validation
from recnb.data.parts import Parts
from recnb.distributed import kernel
from recnb.distributed.evaluation import PartedEvaluation
from recnb.distributed.kernel import BUCKET, ROW, check_npartitions
from recnb.errors import FrameError
from recnb.evaluate import parse_options

T = TypeVar("T")

#: Rows of a partition that get numbers of their own.
ROWS = 2**40


def evaluate(recs: Any, truth: Any, *, npartitions: int | None = None, **options: Any) -> PartedEvaluation:
    """Evaluate recommendations against the truth where one of them or both are Dask DataFrames; a pandas frame may be the other.

    Options are those of `recnb.evaluate`; `train=`, `items=` and `users=` are frames here, not Dask's. `npartitions` is the
    number of partitions that users are put into, by default that of the larger frame.

    A task for each partition is named `recnb-part`, so Dask's ProgressBar and its dashboard tell how far it is.

    >>> import dask.dataframe as dd
    >>> import recnb, recnb.dask
    >>> sample = recnb.datasets.load_sample()
    >>> ddf = dd.from_pandas(sample.models["popular"], npartitions=4)
    >>> evaluation = ddf.rec.against(sample.test)
    >>> round(float(evaluation.ndcg(k=10)), 4), round(float(evaluation.ndcg(k=10).per_user.mean()), 4)
    (0.1725, 0.1725)
    """
    given = parse_options(options)
    parts = DaskParts(recs, truth, given.columns, npartitions)
    return PartedEvaluation(parts, given)


class DaskParts(Parts):
    """Partitions of whole users, made by a shuffle of both frames."""

    where, remedy = "the partitions of Dask DataFrames", "recnb.evaluate(recs.compute(), truth.compute())"

    def __init__(self, recs: Any, truth: Any, columns: Mapping[str, str | None], npartitions: int | None) -> None:
        recs, truth = _dask_frame(recs, "recommendations", truth), _dask_frame(truth, "truth", recs)
        check_npartitions(npartitions)
        super().__init__(Layout.of(recs._meta, truth._meta, columns))
        _refuse_kinds(recs, truth, self.layout)
        n = npartitions or max(recs.npartitions, truth.npartitions)
        sides = (("recs", recs, self.layout.recs_read), ("truth", truth, self.layout.truth))
        self._rows = tuple(_by_role(frame, roles) for _, frame, roles in sides)
        self._shuffled = tuple(frame.shuffle(BUCKET, npartitions=n, ignore_index=True) for frame in self._rows)

    def each(self, work: Callable[[Part], T]) -> tuple[T, ...]:
        """Call a function of the users of each partition, where they are."""
        pairs = zip(*(frame.to_delayed() for frame in self._shuffled), strict=True)
        task = delayed(kernel.call, pure=False)
        tasks = (task(work, *pair, self.layout, dask_key_name=f"recnb-part-{uuid4().hex}") for pair in pairs)
        found: tuple[T, ...] = compute(*tasks)
        return found

    def rows_of(self, users: pl.Series) -> Source:
        """Return the rows of some users."""
        wanted = users.to_list()
        left, right = compute(*(rows[rows["user"].isin(wanted)] for rows in self._rows))
        return kernel.read_part(left, right, self.layout).source


class DaskAccessor:
    """Evaluate recommendations in a Dask DataFrame: `ddf.rec.against(dtruth)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def against(self, truth: Any, *, npartitions: int | None = None, **options: Any) -> PartedEvaluation:
        """Evaluate these recommendations against a Dask (or pandas) DataFrame of relevant items; options are those of `recnb.dask.evaluate`."""
        return evaluate(self._frame, truth, npartitions=npartitions, **options)


def register() -> None:
    """Register `.rec` with Dask DataFrames, and Dask DataFrames with `recnb.compare`."""
    from dask.dataframe.extensions import register_dataframe_accessor

    if getattr(dd.DataFrame, "rec", None) is not DaskAccessor:
        register_dataframe_accessor("rec")(DaskAccessor)
    register_engine("dask", lambda recs, truth, options: evaluate(recs, truth, **options))


def _dask_frame(frame: Any, name: str, other: Any) -> Any:
    if isinstance(frame, dd.DataFrame):
        return frame
    if isinstance(frame, pd.DataFrame):
        n = getattr(other, "npartitions", 1)
        return dd.from_pandas(frame, npartitions=n, sort=False)
    raise FrameError(
        f"{name} is a {type(frame).__name__}: give a Dask DataFrame, or a pandas one for the smaller side."
    )


def _by_role(frame: Any, roles: Mapping[str, str]) -> Any:
    """Return the columns that are read, named by role, with the place of each row."""
    picked = frame[list(dict.fromkeys(roles.values()))]
    return picked.map_partitions(_plain, dict(roles), meta=_plain(picked._meta, dict(roles)), token="recnb-rows")


def _plain(
    rows: pd.DataFrame, roles: Mapping[str, str], partition_info: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Return a partition with columns named by role, plain ids, numbered rows and the bucket of each user."""
    number = partition_info["number"] if partition_info else 0
    columns = {role: _uncategorized(rows[column]) for role, column in roles.items()}
    columns[ROW] = pd.Series(np.arange(len(rows)) + number * ROWS, index=rows.index, dtype=np.int64)
    columns[BUCKET] = pd.Series(_bucket(columns["user"], roles["user"]), index=rows.index, dtype=np.int64)
    return pd.DataFrame(columns)


def _bucket(users: pd.Series[Any], label: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a number for each user, the same whatever the ids are stored as, on every worker.

    Dask's own hash goes by the type that a column is said to have, so 1 in a column of objects is not the 1 of a
    column of numbers.
    """
    try:
        ids = validation.ids(
            table_of(pd.DataFrame({label: users}), "the frame", {"user": label}), "the frame", {}, ["user"]
        )
    except (pl.exceptions.PolarsError, FrameError):
        # What is no id is refused by the join; until then it may be anywhere.
        return np.zeros(len(users), dtype=np.int64)
    # The hash of pandas is the same in all its versions, and that of Polars need not be.
    return (pd.util.hash_array(ids["user"].to_numpy()) >> np.uint64(33)).astype(np.int64)


def _uncategorized(column: pd.Series[Any]) -> pd.Series[Any]:
    """Values for codes: categories may differ from partition to partition."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    kept = column.cat.categories.dtype
    return column.astype(object if kept.kind == "O" or column.hasnans else kept)


def _refuse_kinds(recs: Any, truth: Any, layout: Layout) -> None:
    """Refuse ids of different types before the shuffle, where the columns say their types; else the parts do."""
    for role in validation.IDS:
        of_recs, of_truth = recs._meta.dtypes[layout.recs[role]], truth._meta.dtypes[layout.truth[role]]
        if np.dtype(object) in (of_recs, of_truth) or any(
            isinstance(one, pd.CategoricalDtype) for one in (of_recs, of_truth)
        ):
            continue
        if pd.api.types.is_numeric_dtype(of_recs) != pd.api.types.is_numeric_dtype(of_truth):
            frame, column = ("recs", layout.recs[role])
            if pd.api.types.is_numeric_dtype(of_truth):
                frame, column = ("truth", layout.truth[role])
            raise FrameError(
                f"the {role} ids are of different kinds: {of_recs} in column {layout.recs[role]!r} of the recommendations, {of_truth} "
                f"in column {layout.truth[role]!r} of the truth. They would never match. Make both text: "
                f"{frame} = {frame}.astype({{{column!r}: str}})."
            )


__all__ = ["DaskAccessor", "evaluate", "register"]
