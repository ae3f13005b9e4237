"""The evaluation loop of a model on sparse matrices: predict, leave out what was trained on, rank, score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.load import read
from recnb.data.source import Prepared
from recnb.display.language import N_, Sentence, _
from recnb.display.progress import steps
from recnb.errors import FrameError, RecnbError
from recnb.metrics.hits import Cutoffs, Ints


class Predictor(Protocol):
    """An object that scores all items for a user."""

    def predict(self, user: int, /) -> Any:
        """One score per item, higher is better."""
        ...


#: What scores all items for a user: an object, or a function of the user.
Model = Predictor | Callable[[int], Any]

#: Functions for models of other interfaces.
WRAPPED = (
    "Give a function of the user, such as lambda user: model.item_factors @ model.user_factors[user] for one of implicit, or "
    "lambda user: model.predict(user, np.arange(n_items)) for one of LightFM."
)


def model_lists(model: Model, test: Any, train: Any = None, k: int | Sequence[int] = 10) -> Prepared:
    """Join lists of the largest k from a model's scores with the test items; users and items are numbers."""
    predict = getattr(model, "predict", model)
    if not callable(predict):
        raise RecnbError(f"the model is a {type(model).__name__} without a predict method.", fix=WRAPPED)
    depth = Cutoffs.of(k).deepest
    if depth is None:
        raise RecnbError("a model ranks every item, so there is no whole list to take: give k a number, such as k=10.")
    held_out, seen = _matrix(test, "test"), None if train is None else _matrix(train, "train")
    if seen is not None and seen.shape != held_out.shape:
        same = "both are users × items of the same users and items."
        raise FrameError(f"train has shape {seen.shape} and test {held_out.shape}: {same}")
    if not np.isfinite(held_out.data).all() or (held_out.data < 0).any():
        raise FrameError(
            "test holds a relevance that is NaN, infinite or below 0: keep entries of relevant items, numbers above 0."
        )
    users = np.flatnonzero(np.diff(held_out.indptr))
    if len(users) == 0:
        raise FrameError("test has no relevant items: every row is empty.")
    lists = [
        _top(predict, int(user), held_out.shape[1], seen, depth) for user in steps(users, _("users ranked"), len(users))
    ]
    if not any(map(len, lists)):
        raise FrameError("train holds every item of every user with test items: check that train and test differ.")
    lengths = list(map(len, lists))
    ranks = np.concatenate([np.arange(1, length + 1) for length in lengths])
    recs = pl.DataFrame({"user": np.repeat(users, lengths), "item": np.concatenate(lists), "rank": ranks})
    coo = held_out.tocoo()
    truth = pl.DataFrame({"user": coo.row, "item": coo.col, "relevance": coo.data})
    notes = [Sentence(N_("ranked by the model's scores"))]
    if left_out := held_out.shape[0] - len(users):
        notes.append(Sentence(N_("{n:,} with no test item left out"), {"n": left_out}))
    if seen is not None:
        notes.append(Sentence(N_("items of train taken out")))
    return replace(read(recs, truth, {}).under(Convention(order="rank")), notes=tuple(notes))


def _matrix(matrix: Any, name: str) -> Any:
    import scipy.sparse as sp

    if not sp.issparse(matrix):
        raise RecnbError(
            f"{name} is a {type(matrix).__name__}: give a SciPy sparse matrix of users × items, scipy.sparse.csr_matrix({name})."
        )
    sparse: Any = matrix
    if sparse.ndim != 2 or sparse.dtype.kind not in "biuf":
        raise FrameError(
            f"{name} has shape {sparse.shape} and holds {sparse.dtype}: give a matrix of users × items that holds numbers."
        )
    copy = sparse.tocsr(copy=True).astype(np.float64)
    copy.sum_duplicates()
    copy.eliminate_zeros()
    return copy


def _top(predict: Callable[[int], Any], user: int, n_items: int, seen: Any, depth: int) -> Ints:
    """Return the user's best items that were not trained on, from the highest score; of equal ones the lowest number."""
    where = f"model.predict({user})"
    try:
        predicted = predict(user)
    except TypeError as problem:
        alone = "it is called with a user alone, and gives one score per item."
        raise RecnbError(f"{where} raised a TypeError, {problem}: {alone}", fix=WRAPPED) from problem
    try:
        scores = np.array(predicted, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as problem:
        held = f"{where} gave a {type(predicted).__name__} that is no array of numbers: one score per item is needed."
        raise RecnbError(held, fix="If it is sparse: .toarray().") from problem
    if len(scores) != n_items:
        raise RecnbError(f"{where} gave {len(scores)} scores, and the matrices have {n_items} items.")
    if np.isnan(scores).any():
        raise RecnbError(f"{where} gave NaN for item {int(np.isnan(scores).argmax())}: a score must place its item.")
    items = np.arange(n_items)
    if seen is not None:
        items = np.delete(items, seen.indices[seen.indptr[user] : seen.indptr[user + 1]])
    if len(items) > depth:
        # All items that score as high as the last place, so that equal scores are settled by item number below.
        last = np.partition(scores[items], len(items) - depth)[len(items) - depth]
        items = items[scores[items] >= last]
    return items[np.argsort(-scores[items], kind="stable")][:depth]
