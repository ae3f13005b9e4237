"""Evaluations of Dask DataFrames: both frames shuffled by user, each pair of partitions evaluated where it is, sums merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from dask.base import compute, persist
from dask.dataframe.dispatch import meta_nonempty
from dask.delayed import delayed

from recnb.comparison.models import Engine
from recnb.comparison.models import register as register_engine
from recnb.conventions import Convention
from recnb.data import Layout, table_of, validation
from recnb.data.parts import Kept
from recnb.distributed import kernel
from recnb.distributed.evaluation import PartedEvaluation, PartedScore
from recnb.distributed.kernel import BUCKET, ROW
from recnb.distributed.partial import Question
from recnb.errors import FrameError
from recnb.results.arguments import Metrics
from recnb.results.evaluation_data import index_of

if TYPE_CHECKING:
    from dask.delayed import Delayed

#: Partial results that one task adds up.
AT_ONCE = 16

#: Rows of a partition that get numbers of their own.
ROWS = 2**40


def evaluate(recs: Any, truth: Any, *, npartitions: int | None = None, **options: Any) -> DaskEvaluation:
    """Recommendations against the truth where one of them or both are Dask DataFrames; a pandas frame may be the other.

    Options are those of `recnb.evaluate`; `train=`, `items=` and `users=` are frames here, not Dask's, and serve what works
    on `fetch()`. `npartitions` is the number of partitions that users are put into, by default that of the larger frame.
    """
    return DaskEvaluation(recs, truth, options, npartitions)


class DaskScore(PartedScore):
    """A metric's mean over users of Dask DataFrames; `per_user` is a Dask Series, indexed by user."""


class DaskEvaluation(PartedEvaluation):
    """One model's data in Dask DataFrames; computed on the first number.

    What is asked in one call, several metrics at several cut-offs, is one graph with one shuffle: `table`, the metrics and
    `curve` bring back sums, `per_user` is a Dask DataFrame. `fetch()` brings hits, truth and counts of each user here, once,
    for `report`, `table(by=...)`, `detectable`, `lint`, `explore` and `recnb.compare`. What shows lists (the best and worst
    users of a report, movers, the explorer, `explain`) reads the rows of those users, in a pass over the recommendations
    each time. To ask more often, `persist()` keeps the shuffled rows with the workers, and they are looked for there.

    Intervals (`table`, the metrics, `curve`, `partial`) come of sums, and are those of an Evaluation.

    Tasks are named for what they do (`recnb-join` puts a partition of users together, then `recnb-sums` and `recnb-add`,
    `recnb-hits` or `recnb-values`), so Dask's ProgressBar and the task stream of its dashboard tell how far it is:
    `with dask.diagnostics.ProgressBar(): evaluation.table(k=10)`.

    >>> import dask.dataframe as dd
    >>> import recnb, recnb.dask
    >>> sample = recnb.datasets.load_sample()
    >>> ddf = dd.from_pandas(sample.models["popular"], npartitions=4)
    >>> evaluation = ddf.rec.against(sample.test)
    >>> round(float(evaluation.ndcg(k=10)), 4), round(float(evaluation.fetch().ndcg(k=10)), 4)
    (0.1725, 0.1725)
    """

    name: ClassVar[str] = "Dask"
    engine: ClassVar[str] = "the partitions of Dask DataFrames"
    parts: ClassVar[str] = "partitions of users"
    remedy: ClassVar[str] = "recnb.evaluate(recs.compute(), truth.compute())"
    scored: ClassVar[type[PartedScore]] = DaskScore

    def __init__(self, recs: Any, truth: Any, options: Mapping[str, Any], npartitions: int | None = None) -> None:
        recs, truth = _dask_frame(recs, "recommendations", truth), _dask_frame(truth, "truth", recs)
        super().__init__(recs, truth, options, npartitions)
        _same_kinds(recs, truth, self._plan.layout)
        self._n = npartitions or max(recs.npartitions, truth.npartitions)
        sides = (("recs", recs, self._plan.layout.recs_read), ("truth", truth, self._plan.layout.truth))
        self._rows = tuple(_by_role(frame, roles) for _, frame, roles in sides)
        metas = [(table_of(frame._meta, name, roles), name, roles) for name, frame, roles in sides]
        self._floats = tuple(column for meta in metas for column in validation.float_ids(*meta))
        self._shuffled = tuple(frame.shuffle(BUCKET, npartitions=self._n, ignore_index=True) for frame in self._rows)

    @staticmethod
    def _empty(frame: Any) -> Any:
        return frame._meta

    def persist(self) -> DaskEvaluation:
        """Keep the shuffled rows with the workers (in this process without a cluster), so that later calls need no shuffle."""
        kept = DaskEvaluation(*self._given, self._options, self._n)
        # Rows of single users are looked for among those that are kept.
        kept._shuffled = kept._rows = persist(*self._shuffled)
        return kept

    def partial(self, metrics: Metrics = None, k: Any = None, *, compute: bool = True, **options: Any) -> Any:
        """The sums of all users as a `Partial`, which adds up with others; `compute=False` gives it as a Dask Delayed."""
        question = self._question(metrics, k, options)
        parts, top = self._parts(question)
        tasks = [_task(kernel.partial, "sums", part, question, top) for part in parts]
        while len(tasks) > 1:
            tasks = [
                _task(kernel.added, "add", tasks[start : start + AT_ONCE]) for start in range(0, len(tasks), AT_ONCE)
            ]
        whole = _task(kernel.settled, "settle", tasks[0], self._plan)
        return whole.compute() if compute else whole

    def _values(self, question: Question, *, drop: bool = False) -> Any:
        parts, top = self._parts(question)
        some = validation.ids(
            table_of(meta_nonempty(self._rows[1]._meta)[:1], "truth", dict.fromkeys(validation.IDS, "user")),
            "truth",
            {},
        )
        meta = pd.DataFrame(columns=question.labels, index=index_of(some["user"], None)[:0], dtype=np.float64)
        results = [_task(kernel.values, "values", part, question, top, drop=drop) for part in parts]
        frame = dd.from_delayed(results, meta=meta, verify_meta=False, prefix="recnb-per-user")
        return frame[question.labels[0]] if drop else frame

    def _gathered(self, convention: Convention) -> Iterable[Kept]:
        results: tuple[Kept, ...] = compute(
            *(_task(kernel.gathered, "hits", part, convention) for part in self._joined())
        )
        return results

    def _rows_of(self, users: pl.Series) -> tuple[pd.DataFrame, pd.DataFrame]:
        wanted = users.to_list()
        left, right = compute(*(rows[rows["user"].isin(wanted)] for rows in self._rows))
        return left, right

    def _scale(self, question: Question) -> float:
        top = self._parts(question)[1]
        assert top is not None
        return float(top.compute())

    def _joined(self) -> list[Any]:
        """The users of each partition, joined."""
        recs, truth = (frame.to_delayed() for frame in self._shuffled)
        return [_task(kernel.part, "join", left, right, self._plan) for left, right in zip(recs, truth, strict=True)]

    def _parts(self, question: Question) -> tuple[list[Any], Delayed | None]:
        """The users of each partition, joined; and the scale of grades, if a metric takes that of all users."""
        parts = self._joined()
        if not question.needs_scale:
            return parts, None
        return parts, _task(max, "scale", [_task(kernel.scale, "scale", part) for part in parts])


class DaskAccessor:
    """Evaluate recommendations in a Dask DataFrame: `ddf.rec.against(dtruth)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def against(self, truth: Any, *, npartitions: int | None = None, **options: Any) -> DaskEvaluation:
        """These recommendations against a Dask (or pandas) DataFrame of relevant items; options are those of `recnb.dask.evaluate`."""
        return evaluate(self._frame, truth, npartitions=npartitions, **options)


def register() -> None:
    """Register `.rec` with Dask DataFrames, and Dask DataFrames with `recnb.compare`."""
    from dask.dataframe.extensions import register_dataframe_accessor

    if getattr(dd.DataFrame, "rec", None) is not DaskAccessor:
        register_dataframe_accessor("rec")(DaskAccessor)
    register_engine("dask", Engine(DaskEvaluation, _by_model, DaskEvaluation._empty))


def _by_model(frame: Any, column: str) -> dict[Any, Any]:
    """The rows of each model, in the order in which models come."""
    found = compute(*(_task(pd.unique, "models", part) for part in frame[column].to_delayed()))
    names = list(dict.fromkeys(name for part in found for name in np.asarray(part).tolist()))
    return {name: frame[frame[column] == name].drop(columns=column) for name in names}


def _task(function: Callable[..., Any], name: str, *given: Any, **options: Any) -> Any:
    """A task of a name that Dask's own displays show."""
    return delayed(function, pure=False)(*given, **options, dask_key_name=f"recnb-{name}-{uuid4().hex}")


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
    """The columns that are read, named by role, with the place of each row."""
    picked = frame[list(dict.fromkeys(roles.values()))]
    return picked.map_partitions(_plain, dict(roles), meta=_plain(picked._meta, dict(roles)), token="recnb-rows")


def _plain(
    rows: pd.DataFrame, roles: Mapping[str, str], partition_info: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """A partition with columns named by role, plain ids, numbered rows and the bucket of each user."""
    number = partition_info["number"] if partition_info else 0
    columns = {role: _uncategorized(rows[column]) for role, column in roles.items()}
    columns[ROW] = pd.Series(np.arange(len(rows)) + number * ROWS, index=rows.index, dtype=np.int64)
    columns[BUCKET] = pd.Series(_bucket(columns["user"], roles["user"]), index=rows.index, dtype=np.int64)
    return pd.DataFrame(columns)


def _bucket(users: pd.Series[Any], label: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A number for each user, the same whatever the ids are stored as, on every worker.

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


def _same_kinds(recs: Any, truth: Any, layout: Layout) -> None:
    """Raise an error for ids of different types before the shuffle; a column of objects is checked by its first row."""
    sides = ((recs, layout.recs, "recommendations"), (truth, layout.truth, "truth"))
    kinds = [{role: _kind(frame, labels[role], name) for role in validation.IDS} for frame, labels, name in sides]
    if any(
        None not in (kinds[0][role], kinds[1][role]) and kinds[0][role] != kinds[1][role] for role in validation.IDS
    ):
        left, right = (_first(frame, labels, name) for frame, labels, name in sides)
        validation.same_kind(left, right, layout.recs, layout.truth)


def _kind(frame: Any, column: str, name: str) -> str | None:
    """Describe the ids of a column; None if the frame has no rows."""
    dtype = frame._meta.dtypes[column]
    if isinstance(dtype, pd.CategoricalDtype) or dtype is np.dtype(object):
        row = _first(frame, {"user": column, "item": column}, name)
        return validation.kind(row["user"].dtype) if row.height else None
    typed = table_of(frame._meta, name, {"id": column})["id"].dtype
    return validation.kind(pl.Int64()) if typed.is_float() or typed.is_integer() else validation.kind(typed)


def _first(frame: Any, labels: Mapping[str, str], name: str) -> pl.DataFrame:
    """The first row without missing ids."""
    ids = {role: labels[role] for role in validation.IDS}
    columns = list(dict.fromkeys(ids.values()))
    for number in range(frame.npartitions):
        rows = frame[columns].partitions[number].compute().dropna().head(1)
        if len(rows):
            return validation.ids(table_of(rows, name, ids), name, labels)
    return pl.DataFrame(schema=dict.fromkeys(ids, pl.Int64))


__all__ = ["DaskAccessor", "DaskEvaluation", "DaskScore", "evaluate", "register"]
