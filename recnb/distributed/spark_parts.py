"""The work of Spark's Python workers on a bucket of users, and the form of its results."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from recnb.display.language import current, use_language
from recnb.distributed import kernel
from recnb.distributed.kernel import Part, Plan
from recnb.distributed.partial import Question
from recnb.errors import RecnbError
from recnb.metrics.metric import METRICS, Metric

#: What a worker sends back: a pickled result in pieces, since a row of Spark holds 2 GB and a message of Connect less.
SCHEMA = "bucket int, piece int, bytes binary"

#: Bytes of a piece.
PIECE = 4 * 2**20

#: A function of a bucket as `applyInArrow` takes it: the key, the rows of either side, a table.
Work = Callable[[tuple[Any, ...], pa.Table, pa.Table], pa.Table]


def sent(ask: Callable[[Part], Any], plan: Plan, question: Question | None = None) -> Work:
    """Compute the result of a bucket; errors of the data are returned like results.

    An exception would be tried again four times, and come back as text.
    """
    lang, metrics, size = current(), own_metrics(question), PIECE

    def work(key: tuple[Any, ...], recs: pa.Table, truth: pa.Table) -> pa.Table:
        _enter(metrics)
        with use_language(lang):
            try:
                made = pickle.dumps(ask(kernel.part(recs, truth, plan)), protocol=5)
            except RecnbError as problem:
                made = pickle.dumps(problem)
        pieces = [made[start : start + size] for start in range(0, len(made), size)]
        return pa.table(
            {
                "bucket": pa.array([key[0].as_py()] * len(pieces), pa.int32()),
                "piece": pa.array(range(len(pieces)), pa.int32()),
                "bytes": pa.array(pieces, pa.binary()),
            }
        )

    return work


def received(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[Any]:
    """Return the results of the workers in the order of buckets; raise the first error."""
    buckets: dict[int, dict[int, bytes]] = {}
    for bucket, piece, content in rows:
        buckets.setdefault(bucket, {})[piece] = bytes(content)
    for bucket in sorted(buckets):
        pieces = buckets.pop(bucket)
        made = pickle.loads(b"".join(pieces[piece] for piece in sorted(pieces)))
        if isinstance(made, RecnbError):
            raise made
        yield made


def scales(plan: Plan, question: Question) -> Work:
    """Return the highest relevance among the users of a bucket; errors of the data are left to the main job."""
    metrics = own_metrics(question)

    def work(_: tuple[Any, ...], recs: pa.Table, truth: pa.Table) -> pa.Table:
        _enter(metrics)
        try:
            top = kernel.scale(kernel.part(recs, truth, plan))
        except RecnbError:
            top = 0.0
        return pa.table({"scale": pa.array([top], pa.float64())})

    return work


def values(plan: Plan, question: Question, labels: Sequence[str], *, drop: bool, scale: str | None = None) -> Work:
    """Return the values of a bucket's users, a row each; the scale of grades is a column of the rows."""
    metrics = own_metrics(question)

    def work(_: tuple[Any, ...], recs: pa.Table, truth: pa.Table) -> pa.Table:
        _enter(metrics)
        top = None if scale is None else (recs if recs.num_rows else truth)[scale][0].as_py()
        made = kernel.values(kernel.part(recs, truth, plan), question, top, drop=drop)
        columns = {label: pa.array(made[label].to_numpy(dtype="float64"), pa.float64()) for label in labels}
        ids = recs.schema.field("user").type
        # Whole numbers are read as one type.
        whole = pa.types.is_integer(ids) or pa.types.is_floating(ids)
        users = pa.array(made.index.to_numpy(), pa.int64() if whole else ids)
        return pa.table({"user": users, **columns})

    return work


def own_metrics(question: Question | None) -> Mapping[str, Metric[...]]:
    """Return the metrics that are not recnb's own, which a worker has to be sent."""
    if question is None:
        return {}
    asked = [metric for metric, _ in question.chosen()]
    return {one.name: one for one in asked if not str(one.function.__module__).startswith("recnb.")}


def _enter(metrics: Mapping[str, Metric[...]]) -> None:
    """Register metrics by name; a module-level function, since `work` is pickled with its closure."""
    METRICS.update(metrics)
