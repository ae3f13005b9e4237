"""Work in shares and in turn, on as many cores as there are."""

import os

import pytest

from recnb.data.parallel import in_turn, n_cores


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
