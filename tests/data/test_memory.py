"""How much memory there is: the least of what the machine and its container leave."""

import psutil
import pytest

from recnb.data import buckets


@pytest.mark.parametrize("limit, used, left", [("1000000\n", "400000\n", 600_000), ("1000000", "3000000", 0), ("max\n", "5", None)])  # fmt: skip
def test_a_container_sets_the_limit(limit, used, left, tmp_path, monkeypatch):
    (tmp_path / "max").write_text(limit)
    (tmp_path / "current").write_text(used)
    monkeypatch.setattr(buckets, "LIMITS", ((tmp_path / "max", tmp_path / "current"),))
    found = buckets.available_memory()
    assert found == left if left is not None else found > 2**20


def test_there_is_no_more_than_the_machine_has():
    assert 0 < buckets.available_memory() <= psutil.virtual_memory().total
