"""Means over users: a plain loop, users without a value, weights, layouts in memory."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb.stats import mean_of, means

VALUES = st.one_of(st.just(math.nan), st.floats(-10, 10))


def plain_mean(values, weights):
    """Return sum(w x) / sum(w) of the users who have a value; NaN if none has."""
    total = total_weight = 0.0
    for value, weight in zip(values, weights, strict=True):
        if not math.isnan(value):
            total += weight * value
            total_weight += weight
    return total / total_weight if total_weight else math.nan


@st.composite
def users_by_columns(draw):
    """Draw users × columns, some without a value, and a weight for each user."""
    n_users = draw(st.integers(0, 12))
    n_columns = draw(st.integers(1, 4))
    column = st.lists(VALUES, min_size=n_users, max_size=n_users)
    columns = draw(st.lists(column, min_size=n_columns, max_size=n_columns))
    weight = st.floats(0.01, 100)
    weights = draw(st.lists(weight, min_size=n_users, max_size=n_users))
    return np.array(columns, dtype=np.float64).reshape(n_columns, n_users).T, weights


@given(users_by_columns(), st.booleans())
def test_a_mean_is_that_of_a_plain_loop_over_the_users_who_have_a_value(drawn, even):
    values, weights = drawn
    counts = [1.0] * len(weights) if even else weights
    want = [plain_mean(column, counts) for column in values.T.tolist()]
    given_weights = None if even else np.array(weights, dtype=np.float64)
    mean = means(values, given_weights)
    assert mean == pytest.approx(want, abs=1e-9, nan_ok=True)
    of_first = mean_of(values[:, 0], given_weights)
    assert of_first == pytest.approx(want[0], abs=1e-9, nan_ok=True)


def test_a_column_that_lies_together_has_the_same_mean_beside_any_other():
    values = np.asfortranarray(np.random.default_rng(5).random((10_001, 4)))
    alone = [mean_of(np.ascontiguousarray(column)) for column in values.T]
    assert means(values).tolist() == alone
