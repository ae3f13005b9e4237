"""The evaluation loop of a model on sparse matrices.

Predict, leave out what was trained on, rank, score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from recnb.display.language import N_, Sentence
from recnb.errors import FrameError, RecnbError
from recnb.evaluate import evaluate
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.results import Table

#: What to give for models of other interfaces.
WRAPPED = (
    "Give a function of the user, such as lambda user: model.item_factors @ "
    "model.user_factors[user] for one of implicit, or "
    "lambda user: model.predict(user, np.arange(n_items)) for one of LightFM."
)


def evaluate_model(
    model: Any,
    test: Any,
    train: Any = None,
    k: int | Sequence[int] = 10,
    metrics: Iterable[str] | None = None,
    **options: Any,
) -> Table:
    """Evaluate a model that scores all items for a user.

    Items that a user has in `train` are left out, and so are users without test items;
    of equal scores, the lower item number is first.

    Parameters
    ----------
    model : object or callable
        An object whose `predict(user)` returns one score per item, shape (n_items,), or
        a function of the user that does.
    test : sparse matrix, shape (n_users, n_items)
        Of SciPy. An entry above 0 is a relevant item and its relevance.
    train : sparse matrix, shape (n_users, n_items), optional
        What users had before.
    k : int or list of int, default 10
        Cut-off or cut-offs.
    metrics : str or list of str, optional
        As in `Evaluation.table`.
    **options
        Options of the metrics.

    Returns
    -------
    Table
        A row per metric, a column per cut-off.

    Examples
    --------
    >>> import numpy as np, recnb, scipy.sparse as sp
    >>> class Same:
    ...     def predict(self, user): return np.array([0.9, 0.5, 0.1])
    >>> test = sp.csr_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> recnb.evaluate_model(Same(), test, k=2, metrics=["precision", "recall"]).to_frame()
    k             2
    metric
    precision  0.25
    recall     0.50
    """
    return lists_evaluated(model, test, train, k).table(metrics, k, **options)


def lists_evaluated(
    model: Any, test: Any, train: Any, k: int | Sequence[int]
) -> Evaluation:
    """Evaluate lists of a model's best items, as many as the largest k.

    Users and items are numbers.
    """
    predict = getattr(model, "predict", model)
    if not callable(predict):
        raise RecnbError(
            f"the model is a {type(model).__name__} without a predict method. {WRAPPED}"
        )
    depth = Cutoffs.of(k).deepest
    if depth is None:
        raise RecnbError(
            "a model ranks every item, so there is no whole list to take: give k "
            "a number, such as k=10."
        )
    held_out, seen = _matrices(test, train)
    users = np.flatnonzero(np.diff(held_out.indptr))
    if len(users) == 0:
        raise FrameError("test has no relevant items: every row is empty.")
    truth = held_out.tocoo()
    judged = {"user": truth.row, "item": truth.col, "relevance": truth.data}
    recs = _best_items(predict, users, seen, depth)
    ev = evaluate(recs, pl.DataFrame(judged))
    notes = [Sentence(N_("ranked by the model's scores"))]
    n_left_out = held_out.shape[0] - len(users)
    if n_left_out:
        words = N_("{n:,} with no test {item} left out")
        notes.append(Sentence(words, {"n": n_left_out}))
    if train is not None:
        notes.append(Sentence(N_("{items} of train taken out")))
    return replace(ev, joined=replace(ev.joined, notes=tuple(notes)))


def _best_items(
    predict: Callable[[int], Any], users: Ints, seen: Any, depth: int
) -> dict[int, Ints]:
    """Return the best items that each user has not seen, ranked."""
    lists = {}
    for user in users.tolist():
        scores = _scores(predict, user, seen.shape[1])
        ranked = np.argsort(-scores, kind="stable")  # of equal scores the lower item
        is_new = np.isin(ranked, seen[[user]].indices, invert=True)
        lists[user] = ranked[is_new][:depth]
    return lists


def _matrices(test: Any, train: Any) -> tuple[Any, Any]:
    """Return copies of the matrices; the second is of what users had before."""
    held_out = _matrix(test, "test")
    if train is None:
        return held_out, type(held_out)(held_out.shape)  # without an entry
    seen = _matrix(train, "train")
    if seen.shape != held_out.shape:
        raise FrameError(
            f"train has shape {seen.shape} and test {held_out.shape}: both are "
            f"the same users × items."
        )
    return held_out, seen


def _matrix(given: Any, name: str) -> Any:
    """Return a copy of a sparse matrix of numbers, each entry once and none of them 0."""
    import scipy.sparse as sp

    is_sparse: bool = sp.issparse(given)
    if not is_sparse or given.ndim != 2 or given.dtype.kind not in "biuf":
        raise FrameError(
            f"{name} is of {type(given).__name__} with dtype "
            f"{getattr(given, 'dtype', None)}: give a SciPy sparse matrix of users × "
            f"items that holds numbers, scipy.sparse.csr_matrix({name})."
        )
    matrix = given.tocsr().astype(np.float64)  # always a copy
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _scores(predict: Callable[[int], Any], user: int, n_items: int) -> Floats:
    """Return the model's score of each item."""
    where = f"model.predict({user})"
    try:
        scores = np.array(predict(user), dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as problem:
        raise RecnbError(
            f"{where} gave no array of numbers, {problem}: it is asked for a user alone, "
            f"and gives one score per item; if it is sparse, .toarray(). {WRAPPED}"
        ) from problem
    n_missing = np.isnan(scores).sum()
    if len(scores) != n_items or n_missing:
        raise RecnbError(
            f"{where} gave {len(scores)} scores, {n_missing} of them NaN, and each of the "
            f"{n_items} items of the matrices needs one."
        )
    return scores
