"""Bounds of a machine: the memory that it and its container leave, and work in turn on as many cores as there are."""

import os

import psutil
import pytest

from recnb.data import buckets
from recnb.data.parallel import in_turn, n_cores


@pytest.mark.parametrize("limit, used, left", [("1000000\n", "400000\n", 600_000), ("1000000", "3000000", 0), ("max\n", "5", None)])  # fmt: skip
def test_a_container_sets_the_limit(limit, used, left, tmp_path, monkeypatch):
    (tmp_path / "max").write_text(limit)
    (tmp_path / "current").write_text(used)
    monkeypatch.setattr(buckets, "LIMITS", ((tmp_path / "max", tmp_path / "current"),))
    found = buckets.available_memory()
    assert found == left if left is not None else found > 2**20


def test_there_is_no_more_than_the_machine_has():
    assert 0 < buckets.available_memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize("counted, used", [(3, 3), (64, 8), (None, 1)])
def test_cores_are_counted_where_the_system_does_not_list_those_allowed(counted, used, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert n_cores() == used


def test_work_in_turn_ends_with_the_first_error_in_order():
    begun, done = [], []

    def work(one):
        begun.append(one)
        if one in (3, 4):
            raise ValueError(one)
        return one

    with pytest.raises(ValueError, match="3"):
        done.extend(in_turn(range(1000), work))
    assert done in ([], [0, 1, 2])
    assert len(begun) < 100
