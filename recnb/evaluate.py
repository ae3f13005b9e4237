"""The way in: recommendations and truth in any form, or one frame that holds both sides, joined into an Evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Never, Unpack

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.call import GivenFrame
from recnb.data.columns import Made, from_pandas
from recnb.data.forms import RECS, TRUTH, Input
from recnb.data.load import read, tables_of
from recnb.data.model_predictions import Model, model_lists
from recnb.data.side_data import read_side_data
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, RecnbError, is_several
from recnb.evaluation import Evaluation
from recnb.options import Options, parse_options, with_options_listed
from recnb.results import Table
from recnb.results.evaluation_data import EvaluationData


@with_options_listed
def evaluate(recs: Input, truth: Input | None = None, *others: Never, **options: Unpack[Options]) -> Evaluation:
    """Join recommendations with the truth.

    Columns are found by their usual names, as `user_id`, `movieId` or `prediction`, or named by keyword. Users and items are matched
    by id, never by position. Frames are never changed.

    Parameters
    ----------
    recs : frame, mapping, Series or path
        A frame with a row per recommended item: user, item, and rank or score; a mapping or Series of user to items in rank order, or
        to a mapping of item to score; a frame with a column of such lists, `user, recommended`; the path of a file (Parquet, Arrow,
        CSV, TSV, JSON lines, a run of TREC). Frames are those of pandas, Polars, pyarrow and DuckDB; a LazyFrame of files, a dataset of
        pyarrow and a relation of DuckDB may be larger than memory. A matrix is `dict(zip(users, matrix.tolist()))`.
    truth
        The relevant items in any of these forms: a frame with a row per item, and relevance if it is graded; a mapping of user to items,
        or to a mapping of item to relevance; a column of lists, `relevant`; qrels of TREC. None if `recs` has both sides; one with both
        and no item column is learning to rank, and each row is an item. An empty list counts as no list.
    user, item, rank, score, relevance, recommended, relevant : str
        Names of columns, as `user="member"`.
    train, items, users : optional
        What users had before; items with their titles and attributes; users with their columns, for segments.
    convention : Convention or str, optional
        All conventions at once, or the name of a library, as "rectools" or "ir_measures".
    order, ties, duplicates, candidates, judged, judged_only, relevant_from, averaged_users, no_relevant, …
        Single conventions, as in `recnb.Convention`, which take precedence over `convention`.

    See Also
    --------
    recnb.dask.evaluate, recnb.spark.evaluate : For frames of Dask and Spark.
    recnb.compare : Several models.
    recnb.evaluate_groups : Labels and scores of learning to rank.

    Examples
    --------
    >>> import pandas as pd
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    >>> evaluate(recs, truth).reciprocal_rank(k=2)
    reciprocal_rank@2 = 0.7500 (2 users; ordered by rank; relevant: every pair of the truth; first relevant item)
    >>> round(evaluate({1: ["a", "b"], 2: ["a"]}, {2: {"a": 3}, 1: {"b": 1}}).ndcg(k=2), 4)
    0.8155
    """
    refuse_positional(others, "evaluate", "recommendations")
    return Evaluation(data_of(recs, truth, options))


def refuse_positional(others: Sequence[object], function: str, first: str) -> None:
    """Raise an error for more than two arguments without a name."""
    if others:
        raise OptionError(
            f"recnb.{function} takes {first} first and the truth second; name what else you give, as train=. Metrics are asked of "
            "what it returns: .measures(['nDCG@10']); several models go in one mapping: recnb.compare({'a': recs, 'b': others}, truth)."
        )


def data_of(recs: Input, truth: Input | None, options: Mapping[str, Any]) -> EvaluationData:
    """Return the data of an evaluation."""
    parsed = parse_options(options)
    frames, columns = tables_of({RECS: recs, TRUTH: truth, **parsed.side_data}, parsed.columns)
    lists, judged = frames.pop(RECS), frames.pop(TRUTH, None)
    source = read(lists, judged, columns)
    if judged is None:
        side_data = read_side_data(source, lists, columns, **frames)
    else:
        side_data = read_side_data(source, judged, columns, recs=lists, **frames)
    labels = {"recs": source.labels, "truth": source.truth_labels, **side_data.labels}
    given = {"recs": lists, **({} if judged is None else {"truth": judged}), **frames}
    call = parsed.call({name: GivenFrame.of(frame, labels[name]) for name, frame in given.items()})
    return parsed.data(source, replace(side_data, call=call))


@with_options_listed
def evaluate_groups(
    y_true: Any, y_score: Any, group: Sequence[int] | None = None, *, qid: Any = None, **options: Unpack[Options]
) -> Evaluation:
    """Evaluate predictions of learning to rank: a label and a score for each row, and the query of each.

    Parameters
    ----------
    y_true, y_score : array-like, shape (n_rows,)
        Relevance of each row, from 0 up; and its predicted score: a higher one is ranked higher, equal ones keep their order.
    group : array-like of int
        Number of rows of each query, one query after the other, as LightGBM and XGBoost have it; the queries are 0, 1, ….
    qid : array-like, shape (n_rows,)
        The query of each row, in any order. Give this or `group`.
    **options
        Conventions, as in `recnb.evaluate`. The users of the Evaluation are the queries, and each row is an item of its own.

    Examples
    --------
    >>> ev = evaluate_groups([3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7], group=[3, 2])
    >>> ev.ndcg(k=10).per_user.round(4).to_dict()
    {0: 0.648, 1: 0.6309}
    """
    if (group is None) == (qid is None):
        once = "group=[3, 2] for the number of rows of each query, or qid= for the query of each row"
        raise OptionError(f"the query of each row is needed once: {once}: a list, an array or a column.")
    labels, scores = _column(y_true, "y_true"), _column(y_score, "y_score")
    n = len(labels)
    if n == 0:
        raise FrameError("y_true is empty: there are no rows to evaluate.")
    name, query = ("qid", _column(qid, "qid")) if group is None else ("group", _queries(_column(group, "group"), n))
    columns = {"user": (name, query), "score": ("y_score", scores), "relevance": ("y_true", labels)}
    for label, column in columns.values():
        if len(column) != n:
            raise FrameError(f"y_true has {n:,} values, and {label} {len(column):,}: each row has one of both.")
        if label != "group" and not column.index.equals(labels.index) and {*column.index} == {*labels.index}:
            same = f"give both in one, {label}.loc[y_true.index]"
            raise FrameError(f"y_true and {label} have the same index in another order: {same}.")
    named: Any = {role: label for role, (label, _) in columns.items()}
    try:
        table = {label: from_pandas(column, "the frame", label, role) for role, (label, column) in columns.items()}
        return evaluate(Made(table), **named | options)
    except RecnbError as problem:  # columns that were given one by one are no frame
        text = re.sub(r"^(?:the frame|recommendations|truth): column '(\w+)' ", r"\1 ", str(problem))
        raise type(problem)(text) from problem


def _queries(sizes: pd.Series[Any], n: int) -> pd.Series[Any]:
    """Give each row the number of its query; a query has so many rows."""
    if not pd.api.types.is_integer_dtype(sizes) or (sizes < 1).any() or sizes.sum() != n or len(sizes) == n > 1:
        need = f"whole numbers from 1 up that add up to the {n:,} rows of y_true"
        fix = (
            f"If it is the query of each row, it is qid=; if each row is a query, qid=range({n})."
            if len(sizes) == n
            else ""
        )
        raise FrameError(f"group= is the number of rows of each query: {need}.", fix=fix)
    return pd.Series(np.repeat(np.arange(len(sizes)), sizes))


def _column(values: Any, name: str) -> pd.Series[Any]:
    """Return values as a column."""
    if isinstance(values, pd.Series):
        return values
    values = values.to_numpy() if isinstance(values, (pl.Series, pl.DataFrame, pd.DataFrame)) else values
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if not is_several(values) or isinstance(values, Mapping) or any(map(is_several, [*values][:1])):
        held, fix = (
            f"is {one_line(repr(values))}",
            "Several models: recnb.compare({'a': recnb.evaluate_groups(...), ...}).",
        )
        if isinstance(values, np.ndarray) and values.ndim == 2:
            held, fix = (
                f"has the shape {values.shape}",
                f"Type {name}.ravel(), with group=[{values.shape[1]}] * {len(values)}.",
            )
        raise FrameError(f"{name} {held}: give a list, an array of one dimension or a column, frame['...'].", fix=fix)
    return pd.Series(values if isinstance(values, np.ndarray) else list(values))


def evaluate_model(
    model: Model,
    test: Any,
    train: Any = None,
    k: int | Sequence[int] = 10,
    metrics: Iterable[str] | None = None,
    **options: Any,
) -> Table:
    """Evaluate a model that scores all items for a user.

    Items of `train` are removed from a user's ranking. The others are ranked from the highest score; of equal scores, the
    lower item number is first. Users without test items are left out.

    Parameters
    ----------
    model
        An object whose `predict(user)` returns one score per item, shape (n_items,), or a function of the user that does.
    test, train
        SciPy sparse matrices, shape (n_users, n_items). An entry above 0 is a relevant item and its relevance.
    k, metrics, **options
        As in `table` of an evaluation.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> class Same:
    ...     def predict(self, user): return np.array([0.9, 0.5, 0.1])
    >>> test = sp.csr_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> evaluate_model(Same(), test, k=2, metrics=["precision", "recall"]).to_frame()
    k            2
    metric
    precision  0.25
    recall     0.50
    """
    return model_evaluation(model, test, train, k).table(metrics, k, **options)


def model_evaluation(model: Model, test: Any, train: Any = None, k: int | Sequence[int] = 10) -> Evaluation:
    """Return the Evaluation of such a model's lists, down to the largest k."""
    return Evaluation(EvaluationData(model_lists(model, test, train, k)))
