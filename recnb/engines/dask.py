"""Evaluations of Dask DataFrames: both frames shuffled by user, each pair of partitions evaluated where it is, sums merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from dask.base import compute, persist
from dask.dataframe.dispatch import meta_nonempty
from dask.delayed import delayed

from recnb.asked import STANDARD, Metrics
from recnb.conventions import Convention, presets
from recnb.engines import kernel
from recnb.engines.kernel import ROW, Plan, Question
from recnb.entry import given_of
from recnb.errors import FrameError, OptionError, RecnbError, UnknownUserError
from recnb.evaluation import index_of
from recnb.frames import Layout, check, table_of
from recnb.hits import Cutoffs
from recnb.list_metric import ListMetric
from recnb.methods import Methods
from recnb.metric import Metric
from recnb.partial import Partial, refuse_unless_mean
from recnb.results import Curve, Explanation, Table, html
from recnb.results.partial_score import PartialScore

if TYPE_CHECKING:
    from dask.delayed import Delayed

#: Partial results that one task adds up.
AT_ONCE = 16

#: The column that says which users are put together.
BUCKET = "recnb_bucket"

#: Rows of a partition that get numbers of their own.
ROWS = 2**40


def elsewhere(name: str, does: str) -> Callable[..., NoReturn]:
    """A method that says where its answer is to be had."""

    def refuse(self: Any, *args: Any, **options: Any) -> NoReturn:
        raise RecnbError(
            f"{name} {does}, which stay with Dask's workers. Fetch the frames, or some users of them: "
            f"recnb.evaluate(recs.compute(), truth.compute()).{name}(...); or ask .table, .curve, .per_user, .explain here."
        )

    refuse.__name__ = name
    refuse.__doc__ = f"Not to be had of partitions: it {does}."
    return refuse


class DaskScore(PartialScore):
    """A metric's mean over users of Dask DataFrames; its interval comes of moments, and `per_user` stays with Dask."""

    _values: Callable[[], Any]

    @property
    def per_user(self) -> Any:
        """The value of each user, a Dask Series indexed by user, worked out when it is computed."""
        if not hasattr(self, "_values"):
            raise RecnbError(
                "the values of users stayed where this score was pickled: ask the evaluation for them again."
            )
        return self._values()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_values"}


class DaskEvaluation(Methods):
    """The data of one model in Dask DataFrames; nothing is computed before a number is asked for.

    What is asked in one call, several metrics at several cut-offs, is one graph with one shuffle. To ask more often,
    `persist()` keeps the shuffled rows with the workers.
    """

    def __init__(self, recs: Any, truth: Any, options: Mapping[str, Any], npartitions: int | None = None) -> None:
        given = given_of(options)
        if given.beside:
            raise OptionError(
                f"{next(iter(given.beside))}= serves metrics beyond accuracy and segments, which Dask frames do not give: "
                "type recnb.evaluate(recs.compute(), truth.compute(), ...)."
            )
        refuse_unless_mean(given.convention, "Dask frames")
        recs, truth = _dask_frame(recs, "recommendations", truth), _dask_frame(truth, "truth", recs)
        if npartitions is not None and not (isinstance(npartitions, int) and npartitions >= 1):
            raise OptionError(f"npartitions={npartitions!r} is no number of partitions: give a whole number from 1 up.")
        self._plan = Plan(given, Layout.of(recs._meta, truth._meta, given.columns))
        self._options = dict(options)
        _same_kinds(recs, truth, self._plan.layout)
        self._given = recs, truth
        self._n = npartitions or max(recs.npartitions, truth.npartitions)
        sides = ((recs, self._plan.layout.recs_read), (truth, self._plan.layout.truth))
        self._rows = tuple(_by_role(frame, roles) for frame, roles in sides)
        self._shuffled = tuple(frame.shuffle(BUCKET, npartitions=self._n, ignore_index=True) for frame in self._rows)

    @property
    def convention(self) -> Convention:
        """The decisions about the data that were asked for."""
        return self._plan.given.convention

    def under(self, library: str) -> DaskEvaluation:
        """The same data under another library's conventions."""
        columns = dict(self._plan.given.columns)
        return DaskEvaluation(*self._given, {**columns, "convention": library}, self._n)

    def persist(self) -> DaskEvaluation:
        """The same with the shuffled rows kept by the workers (or here, without a cluster), so that later questions need no shuffle."""
        kept = object.__new__(DaskEvaluation)
        kept.__dict__.update(self.__dict__)
        kept._shuffled = persist(*self._shuffled)
        return kept

    def score(self, metric: Metric[...], k: int | None, options: Mapping[str, Any], /) -> DaskScore:
        """The mean of a metric, as the methods give it."""
        made = self._partial([metric.name], k, options).score(metric.name, k)
        score = DaskScore(made.moments, made.metric, made.k, made.convention, made.basis)
        score._values = lambda: self._values(self._question([metric.name], k, options), drop=True)[score.label]
        return score

    def list_score(self, metric: ListMetric[..., Any], k: int | None, options: Mapping[str, Any], /) -> NoReturn:
        """Metrics beyond accuracy look at all lists together, which no partition holds."""
        elsewhere(metric.name, "looks at all lists together")(self)
        raise AssertionError

    def table(self, metrics: Metrics = None, k: int | Sequence[int | None] | None = None, **options: Any) -> Table:
        """Means over users: one row per metric, one column per cut-off; one graph for all of them."""
        return self._partial(metrics, k, options).table()

    def curve(self, metric: str, k: Iterable[int] = range(1, 21), **options: Any) -> Curve:
        """A metric at many cut-offs, with a 95% interval, by moments, at each."""
        return self._partial([metric], list(k), options).curve(metric)

    def partial(self, metrics: Metrics = None, k: Any = None, *, compute: bool = True, **options: Any) -> Any:
        """The sums of all users as a `Partial`, which adds up with others; `compute=False` gives it as a Dask Delayed."""
        question = self._question(metrics, k, options)
        parts, top = self._parts(question)
        tasks = [_task(kernel.partial)(one, question, top) for one in parts]
        while len(tasks) > 1:
            tasks = [_task(kernel.added)(tasks[start : start + AT_ONCE]) for start in range(0, len(tasks), AT_ONCE)]
        whole = _task(kernel.settled)(tasks[0], self._plan)
        return whole.compute() if compute else whole

    def _partial(self, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> Partial:
        made: Partial = self.partial(metrics, k, **options)
        return made

    def per_user(self, metrics: Metrics = None, k: Any = None, **options: Any) -> Any:
        """Each user's values as a Dask DataFrame, a column for each metric at each cut-off; NaN where a user is left out."""
        return self._values(self._question(metrics, k, options))

    def _values(self, question: Question, *, drop: bool = False) -> Any:
        parts, top = self._parts(question)
        names = [label for metric, _ in question.chosen() for label in kernel.labels_of(metric, question.k)]
        some = check.ids(
            table_of(meta_nonempty(self._rows[1]._meta)[:1], "truth", dict.fromkeys(check.IDS, "user")), "truth", {}
        )
        meta = pd.DataFrame(np.empty((0, len(names))), index_of(some["user"], None)[:0], names)
        made = [_task(kernel.values)(one, question, top, drop=drop) for one in parts]
        return dd.from_delayed(made, meta=meta, verify_meta=False, prefix="recnb-values")

    def explain(self, metric: str, user: Any, k: int | None = None, **options: Any) -> Explanation:
        """How one user's list comes by its score; only that user's rows are fetched."""
        question = self._question([metric], k, options)
        mine = compute(*(rows[rows["user"] == user] for rows in self._rows))
        if not any(map(len, mine)):
            raise UnknownUserError(f"user {user!r} is in neither frame.")
        top = self._parts(question)[1]
        if top is not None:
            options = {**options, "max_relevance": top.compute()}
        return kernel.part(mine[0], mine[1], self._plan).evaluation.explain(metric, user, k, **options)

    def _question(self, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> Question:
        library = self._plan.given.library
        if metrics is None and library is not None:
            metrics = [name for name in STANDARD if presets.of_metric(name, library)]
        kept = metrics if metrics is None or isinstance(metrics, (str, Mapping)) else list(metrics)
        question = Question(kept, Cutoffs.of(k), dict(options))
        question.chosen()  # what is misspelt is said before any work
        return question

    def _parts(self, question: Question) -> tuple[list[Any], Delayed | None]:
        """The users of each partition, joined; and the scale of grades, if a metric takes that of all users."""
        recs, truth = (frame.to_delayed() for frame in self._shuffled)
        parts = [_task(kernel.part)(left, right, self._plan) for left, right in zip(recs, truth, strict=True)]
        return parts, _task(max)([_task(kernel.scale)(one) for one in parts]) if question.needs_scale else None

    report = elsewhere("report", "shows how users are spread, and the best and worst of their lists")
    explore = elsewhere("explore", "shows the lists of users")
    lint = elsewhere("lint", "looks at rows of both frames")
    why = elsewhere("why", "prepares the same rows under several conventions")
    identify = elsewhere("identify", "prepares the same rows under many conventions")
    spread = elsewhere("spread", "prepares the same rows under the conventions of all libraries")
    beyond = elsewhere("beyond", "looks at all lists together")
    hits = elsewhere("hits", "gives rows of both frames")
    detectable = elsewhere("detectable", "takes the values of users side by side")

    def __repr__(self) -> str:
        return (
            f"Evaluation of Dask DataFrames, {self._n:,} partitions of users, nothing computed yet; {self.convention}\n"
            "Ask .table(k=[5, 10]), .ndcg(k=10), .curve('ndcg'), .per_user(['ndcg'], k=10)"
        )

    def _repr_html_(self) -> str:
        title, ask = repr(self).split("\n")
        return html.root(html.note(html.text(title, 2000)), html.note(html.text(ask)), label="evaluation")


class DaskAccessor:
    """Evaluate recommendations in a Dask DataFrame: `ddf.rec.against(dtruth)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def against(self, truth: Any, *, npartitions: int | None = None, **options: Any) -> DaskEvaluation:
        """These recommendations against a Dask (or pandas) DataFrame of relevant items; options are those of `evaluate`.

        `npartitions` is the number of partitions that users are put into, by default that of the larger frame.
        """
        return DaskEvaluation(self._frame, truth, options, npartitions)


def register() -> None:
    """Make `.rec` known to Dask DataFrames."""
    from dask.dataframe.extensions import register_dataframe_accessor

    if getattr(dd.DataFrame, "rec", None) is not DaskAccessor:
        register_dataframe_accessor("rec")(DaskAccessor)


def _task(function: Callable[..., Any]) -> Any:
    return delayed(function, pure=False)


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
    return picked.map_partitions(_plain, dict(roles), meta=_plain(picked._meta, dict(roles)))


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
    if len(users) == 0:
        return np.zeros(0, dtype=np.int64)
    ids = table_of(pd.DataFrame({label: users}), "the frame", {"user": label})["user"]
    if ids.dtype.is_float():
        ids = ids.fill_nan(None).cast(pl.Int64, strict=False)
    plain = ids.fill_null(0).to_numpy().astype(np.int64) if ids.dtype.is_integer() else ids.cast(pl.String).to_numpy()
    hashed = pd.util.hash_array(plain)
    return (hashed >> np.uint64(33)).astype(np.int64)


def _uncategorized(column: pd.Series[Any]) -> pd.Series[Any]:
    """Values for codes: categories may differ from partition to partition."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    kept = column.cat.categories.dtype
    return column.astype(object if kept.kind == "O" or column.hasnans else kept)


def _same_kinds(recs: Any, truth: Any, layout: Layout) -> None:
    """Refuse ids that could never meet, before anything is moved; where a type says nothing, a first row is looked at."""
    sides = ((recs, layout.recs, "recommendations"), (truth, layout.truth, "truth"))
    told = [{role: _kind(frame, labels[role], name) for role in check.IDS} for frame, labels, name in sides]
    if any(None not in (told[0][role], told[1][role]) and told[0][role] != told[1][role] for role in check.IDS):
        left, right = (_first(frame, labels, name) for frame, labels, name in sides)
        check.same_kind(left, right, layout.recs, layout.truth)


def _kind(frame: Any, column: str, name: str) -> str | None:
    """What the ids of a column are; None where the frame has no rows."""
    dtype = frame._meta.dtypes[column]
    if isinstance(dtype, pd.CategoricalDtype) or dtype is np.dtype(object):
        row = _first(frame, {"user": column, "item": column}, name)
        return check.kind(row["user"].dtype) if row.height else None
    typed = table_of(frame._meta, name, {"id": column})["id"].dtype
    return check.kind(pl.Int64()) if typed.is_float() or typed.is_integer() else check.kind(typed)


def _first(frame: Any, labels: Mapping[str, str], name: str) -> pl.DataFrame:
    """The first row whose ids are there."""
    ids = {role: labels[role] for role in check.IDS}
    columns = list(dict.fromkeys(ids.values()))
    for number in range(frame.npartitions):
        rows = frame[columns].partitions[number].compute().dropna().head(1)
        if len(rows):
            return check.ids(table_of(rows, name, ids), name, labels)
    return pl.DataFrame(schema=dict.fromkeys(ids, pl.Int64))


__all__ = ["DaskAccessor", "DaskEvaluation", "DaskScore", "register"]
