"""The evaluation loop of a model on sparse matrices.

Predict, leave out what was trained on, rank, score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.names import RECS, TRUTH
from recnb.data.read import read
from recnb.data.source import Joined
from recnb.data.tables import InputTable
from recnb.display.language import N_, Sentence, _
from recnb.display.progress import steps
from recnb.errors import FrameError, RecnbError
from recnb.metrics.hits import Cutoffs, Floats, Ints

#: What scores all items for a user: an object whose `predict(user)` does, or a function
#: of the user.
Model = Any

#: What to give for models of other interfaces.
WRAPPED = (
    "Give a function of the user, such as lambda user: model.item_factors @ "
    "model.user_factors[user] for one of implicit, or "
    "lambda user: model.predict(user, np.arange(n_items)) for one of LightFM."
)


def model_lists(
    model: Model, test: Any, train: Any = None, k: int | Sequence[int] = 10
) -> Joined:
    """Join lists of a model's best items, as many as the largest k, with the test items.

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
    held_out = _matrix(test, "test")
    seen = None if train is None else _matrix(train, "train")
    if seen is not None and seen.shape != held_out.shape:
        raise FrameError(
            f"train has shape {seen.shape} and test {held_out.shape}: both are "
            f"the same users × items."
        )
    users = np.flatnonzero(np.diff(held_out.indptr))
    if len(users) == 0:
        raise FrameError("test has no relevant items: every row is empty.")
    lists = []
    for user in steps(users, _("users ranked"), len(users)):
        scores = _scores(predict, int(user), held_out.shape[1])
        lists.append(_ranked_items(scores, seen, user)[:depth])
    joined = _joined(users, lists, held_out)
    notes = [Sentence(N_("ranked by the model's scores"))]
    n_left_out = held_out.shape[0] - len(users)
    if n_left_out:
        words = N_("{n:,} with no test item left out")
        notes.append(Sentence(words, {"n": n_left_out}))
    if seen is not None:
        notes.append(Sentence(N_("items of train taken out")))
    return replace(joined, notes=tuple(notes))


def _ranked_items(scores: Floats, seen: Any, user: int) -> Ints:
    """Return the items that the user has not seen, the best first, of equal ones the lower."""
    items = np.argsort(-scores, kind="stable")
    if seen is None:
        return items
    had = seen.indices[seen.indptr[user] : seen.indptr[user + 1]]
    return items[np.isin(items, had, invert=True)]


def _joined(users: Ints, lists: Sequence[Ints], held_out: Any) -> Joined:
    """Join the list of each user with the test items."""
    lengths = [len(items) for items in lists]
    recs = pl.DataFrame(
        {
            "user": np.repeat(users, lengths),
            "item": np.concatenate(lists),
            "rank": np.concatenate([np.arange(1, n + 1) for n in lengths]),
        }
    )
    truth = held_out.tocoo()
    judged = pl.DataFrame(
        {"user": truth.row, "item": truth.col, "relevance": truth.data}
    )
    tables = {
        RECS: InputTable.of_rows(RECS, recs),
        TRUTH: InputTable.of_rows(TRUTH, judged),
    }
    return read(tables, {}).under(Convention(order="rank"))


def _matrix(given: Any, name: str) -> Any:
    """Return a copy of a sparse matrix of numbers, each entry once and none of them 0."""
    import scipy.sparse as sp

    is_sparse: bool = sp.issparse(given)
    if not is_sparse or given.ndim != 2 or given.dtype.kind not in "biuf":
        held = (
            f"shape {given.shape} and {given.dtype}"
            if is_sparse
            else type(given).__name__
        )
        fix = (
            f"give a SciPy sparse matrix of users × items that holds numbers, "
            f"scipy.sparse.csr_matrix({name})"
        )
        raise FrameError(f"{name} is of {held}: {fix}.")
    matrix = given.tocsr(copy=True).astype(np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _scores(predict: Callable[[int], Any], user: int, n_items: int) -> Floats:
    """Return the model's score of each item."""
    where = f"model.predict({user})"
    try:
        scores = np.array(predict(user), dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as problem:
        asked = (
            "it is asked for a user alone, and gives one score per item; if it is "
            "sparse, .toarray()."
        )
        raise RecnbError(
            f"{where} gave no array of numbers, {problem}: {asked} {WRAPPED}"
        ) from problem
    if len(scores) != n_items or np.isnan(scores).any():
        held = (
            "NaN among its scores"
            if len(scores) == n_items
            else f"{len(scores)} scores"
        )
        raise RecnbError(
            f"{where} gave {held}, and each of the {n_items} items of the matrices needs one."
        )
    return scores
