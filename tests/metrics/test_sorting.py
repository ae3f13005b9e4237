"""Orders and numbers of rows, held against sorts by every key and plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from recnb.metrics.hits import count_within, in_order, order_from_highest, stands_from_highest

VALUES = {
    "even": lambda rng, n: rng.random(n),
    "of many sizes": lambda rng, n: np.exp(rng.normal(0, 30, n)),
    "equal in part": lambda rng, n: rng.integers(0, 4, n) * 1.0,
    "all the same": lambda rng, n: np.zeros(n),
    "infinite in part": lambda rng, n: np.where(rng.random(n) < 0.2, -np.inf, rng.random(n)),
    "close together": lambda rng, n: 1 + rng.integers(0, 1000, n) * 2.0**-52,
    "of tiny difference": lambda rng, n: rng.integers(0, 100, n) * 5e-324,
    "of huge difference": lambda rng, n: np.where(rng.random(n) < 0.5, 1e308, -1e308),
    "one far off": lambda rng, n: np.where(np.arange(n) == n // 2, 1e300, rng.random(n)),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("n", [0, 1, 2, 19, 3000])
def test_rows_are_ordered_as_by_all_keys(kind, n):
    rng = np.random.default_rng(n)
    for n_users, first_user in itertools.product((1, 5, max(1, n // 10)), (0, 2**61)):
        user, value = first_user + rng.integers(0, n_users, n), VALUES[kind](rng, n)
        for within in (None, np.arange(n)[::-1], rng.integers(0, 9, n)):
            keys = [np.arange(n), *([] if within is None else [within]), -value, user]
            expected = np.lexsort(keys)
            assert order_from_highest(user, value, within).tolist() == expected.tolist()
        assert stands_from_highest(user[expected], value[expected])
        stands = (np.diff(user) > 0) | ((np.diff(user) == 0) & (value[1:] <= value[:-1]))
        assert stands_from_highest(user, value) == stands.all()


@pytest.mark.parametrize("top", [1, 5, 2**40, 2**62])
@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_whole_numbers_are_ordered(n, top):
    key = np.random.default_rng(n).integers(0, top, n)
    assert in_order(key).tolist() == sorted(range(n), key=key.tolist().__getitem__)


@pytest.mark.parametrize("users", [[], [3], [0, 0, 0], [0, 1, 1, 0, 0], list("aab")])
def test_rows_of_each_run_are_numbered(users):
    expected = [number for _user, run in itertools.groupby(users) for number, _ in enumerate(run, 1)]
    assert count_within(np.array(users)).tolist() == expected
