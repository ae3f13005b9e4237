"""The order of lists by score, held against a sort by every key."""

import os

import numpy as np
import pytest

from recnb.data.parallel import in_shares, in_turn, n_cores
from recnb.metrics.sorting import order_from_highest

KINDS = {
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 2, 19, 3000])
def test_lists_are_ordered_as_by_all_keys(kind, n):
    rng = np.random.default_rng(n)
    for n_users in (1, 5, max(1, n // 10)):
        user, score = rng.integers(0, n_users, n), KINDS[kind](rng, n)
        for within in (None, np.arange(n)[::-1], rng.integers(0, 9, n)):
            keys = [np.arange(n), *([] if within is None else [within]), -score, user]
            assert order_from_highest(user, score, within).tolist() == np.lexsort(keys).tolist()


def test_a_share_of_work_has_one_core():
    assert set(in_shares(range(8), lambda some: n_cores(), sorts=2**24)) == {1}
    assert list(in_turn(range(8), lambda one: (one, n_cores()))) == [(one, 1) for one in range(8)]
    assert n_cores() >= 1


@pytest.mark.parametrize("counted, used", [(3, 3), (64, 8), (None, 1)])
def test_cores_are_counted_where_the_system_does_not_list_those_allowed(counted, used, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert n_cores() == used


def test_work_in_turn_ends_with_the_first_error_in_order():
    begun = []

    def work(one):
        begun.append(one)
        if one in (3, 4):
            raise ValueError(one)
        return one

    done = []
    with pytest.raises(ValueError, match="3"):
        done.extend(in_turn(range(1000), work))
    assert done in ([], [0, 1, 2])
    assert len(begun) < 100
