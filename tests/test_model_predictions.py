"""The evaluation loop of a model on sparse matrices, held by a plain loop over users."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import recnb
from recnb import errors
from tests.refused.test_refused import refused
from tests.rows import read_rows

METRICS = [
    "precision",
    "recall",
    "ndcg",
    "average_precision",
    "reciprocal_rank",
    "hit_rate",
    "f1",
    "dcg",
]


@dataclass
class Model:
    """Scores that stand in a matrix; remembers whom it was asked about."""

    scores: Any

    def __post_init__(self) -> None:
        self.asked: list[Any] = []

    def predict(self, user: int) -> Any:
        self.asked.append(user)
        return self.scores[user]


def lists_and_truth(scores: Any, test: Any, train: Any) -> tuple[Any, Any]:
    """Predict, and leave out what was trained on; users without test items are left out."""
    lists, truth = {}, {}
    for user in np.flatnonzero(test.any(axis=1)).tolist():
        truth[user] = {
            item: test[user, item] for item in np.flatnonzero(test[user]).tolist()
        }
        items = np.arange(test.shape[1])
        if train is not None:
            items = items[train[user] == 0]
        best = np.argsort(-scores[user, items], kind="stable")
        lists[user] = items[best].tolist()
    return lists, truth


SHAPE = (6, 8)


@given(
    arrays.arrays(np.float64, SHAPE, elements=st.integers(-3, 3).map(float)),
    arrays.arrays(np.int64, SHAPE, elements=st.sampled_from([0, 0, 0, 1, 2])),
    st.none() | arrays.arrays(np.int64, SHAPE, elements=st.sampled_from([0, 0, 1])),
    st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True),
)
def test_the_same_as_a_loop(scores: Any, test: Any, train: Any, ks: list[int]) -> None:
    """Scores have many ties; train and test may overlap; k may be above the number of
    items left.
    """
    evaluated = test.any(axis=1)
    assume(evaluated.any())
    assume(train is None or (train[evaluated] == 0).any())
    model = Model(scores)
    had = None if train is None else sp.csr_matrix(train)
    table, of_function = (
        recnb.evaluate_model(one, sp.csr_matrix(test), had, k=ks, metrics=METRICS)
        for one in (model, lambda user: scores[user])
    )
    assert of_function.to_frame().equals(table.to_frame())
    assert (table.columns.tolist(), table.index.tolist()) == (ks, METRICS)
    lists, truth = lists_and_truth(scores, test, train)
    expected = recnb.evaluate(lists, truth).table(METRICS, k=ks)
    np.testing.assert_allclose(table, expected, atol=1e-12)
    assert model.asked == np.flatnonzero(evaluated).tolist()
    assert all(type(user) is int for user in model.asked)


RNG = np.random.default_rng(3)
SCORES = RNG.integers(0, 6, (40, 25)) / 2
TEST = np.where(RNG.random((40, 25)) < 0.1, RNG.integers(1, 4, (40, 25)), 0)
TRAIN = np.where((RNG.random((40, 25)) < 0.3) & (TEST == 0), 1, 0)
BINARY = (TEST > 0).astype(int)


def table(scores: Any, of: Any = sp.csr_matrix) -> Any:
    return recnb.evaluate_model(Model(scores), of(BINARY), of(TRAIN), k=[3, 10])


WANT = table(SCORES)


def halves(matrix: Any) -> Any:
    """Return a matrix of which every entry, 0 as well, is given in two parts."""
    rows, columns = np.indices(matrix.shape).reshape(2, -1)
    return sp.coo_matrix(
        (np.repeat(matrix.ravel() / 2, 2), (np.repeat(rows, 2), np.repeat(columns, 2))),
        matrix.shape,
    )


KINDS: list[Callable[[Any], Any]] = [
    sp.csc_matrix,
    sp.coo_matrix,
    sp.lil_matrix,
    sp.csr_array,
    sp.coo_array,
    halves,
    lambda matrix: sp.csr_matrix(matrix.astype(bool)),
    lambda matrix: sp.csr_matrix(matrix.astype("float32")),
]


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_of_any_kind_stay_as_they_are(kind: Callable[[Any], Any]) -> None:
    test, train = kind(BINARY), kind(TRAIN)
    before = test.copy(), train.copy()
    pd.testing.assert_frame_equal(
        recnb.evaluate_model(Model(SCORES), test, train, k=[3, 10]), WANT
    )
    for now, then in zip((test, train), before, strict=True):
        assert (type(now), now.dtype) == (type(then), then.dtype)
        assert (now != then).nnz == 0


MASKED = np.where(
    TRAIN, -np.inf, np.where(SCORES.max() == SCORES, np.inf, SCORES)
)  # a model may mask items itself
SCORED: dict[str, Any] = {
    "infinite in part": MASKED,
    "float32": SCORES.astype("float32"),
    "lists": SCORES.tolist(),
    "Series": [*map(pd.Series, SCORES)],
    "of one row": [row.reshape(1, -1) for row in SCORES],
}


@pytest.mark.parametrize("what", SCORED)
def test_scores_of_any_kind(what: str) -> None:
    pd.testing.assert_frame_equal(table(SCORED[what]), WANT)


T = sp.csr_matrix(TEST)
GOOD = Model(SCORES)
REFUSED = read_rows("models_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str) -> None:
    row = REFUSED[call]
    kind = getattr(errors, row["error"])
    refused(lambda: eval(call, globals()), kind, *row["words"])
