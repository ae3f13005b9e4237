"""How much memory there is: the least of what the machine, its containers and its own limit leave."""

import subprocess
import sys

import psutil
import pytest

from recnb.data import memory


@pytest.mark.parametrize(
    "limit, used, left", [("1000000\n", "400000\n", 600_000), ("1000000", "3000000", 0), ("max\n", "5", None)]
)
@pytest.mark.parametrize("own", [False, True])
def test_a_container_sets_the_limit(limit, used, left, own, tmp_path, monkeypatch):
    group = tmp_path / "user.slice" if own else tmp_path
    group.mkdir(exist_ok=True)
    (group / "memory.max").write_text(limit)
    (group / "memory.current").write_text(used)
    monkeypatch.setattr(memory, "GROUPS", {tmp_path: ("memory.max", "memory.current")})
    monkeypatch.setattr(memory, "_own_groups", lambda: ["user.slice"])
    found = memory.available_memory()
    assert found == left if left is not None else found > 2**20


def test_there_is_no_more_than_the_machine_has():
    assert 0 < memory.available_memory() <= psutil.virtual_memory().total


@pytest.mark.skipif(sys.platform != "linux", reason="limits the addresses of a process")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_the_limits_of_addresses_and_data_count(limit):
    code = f"""
import resource
from recnb.data.memory import available_memory
# The lower of the two limits is in force.
resource.setrlimit(resource.{limit}, (4 * 10**9, resource.getrlimit(resource.{limit})[1]))
print(available_memory())
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 0 <= int(done.stdout) < 4 * 10**9
