"""Tests that start kernels pass for any user's home, and leave nothing in it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from pathlib import Path

import nbval.kernel
import psutil
import pytest

from tests import kernels
from tests.tools.notebooks import ROOT

LONG = "a" * 60
#: Folders of a user below a new one, and which of them are there.
HOMES = {
    "of a long name": ({"HOME": f"{LONG}/{LONG}", "TMPDIR": f"{LONG}/tmp"}, True),
    "with folders of its own": (
        {
            "HOME": "home", "TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data",
            "XDG_RUNTIME_DIR": f"{LONG}/{LONG}", "JUPYTER_RUNTIME_DIR": f"{LONG}/jupyter", "IPYTHONDIR": "ipython",
        },
        False,
    ),
}  # fmt: skip
COMMAND = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--color=no", "-m", ""]
TESTS = [
    "notebooks/ko/07_playground.ipynb",
    "tests/test_notebook_hygiene.py::test_a_notebook_runs_alone_in_an_empty_folder[ko/07_playground]",
]


def variables_of_a_user(folder: Path, names: dict[str, str]) -> dict[str, str]:
    """The variables of this process, those of its user's folders replaced."""
    dropped = (*kernels.KEPT, kernels.FOLDER, "PYTEST_XDIST_WORKER", "MATPLOTLIBRC")
    kept = {name: value for name, value in os.environ.items() if name not in dropped and not name.startswith("XDG_")}
    return kept | {name: str(folder / below) for name, below in names.items()}


@pytest.mark.parametrize("names, made", HOMES.values(), ids=HOMES)
def test_kernels_start_in_any_home_and_leave_nothing(names, made, tmp_path):
    asked = variables_of_a_user(tmp_path, names)
    for name in names if made else ():
        Path(asked[name]).mkdir(parents=True, exist_ok=True)
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run([sys.executable, *COMMAND, *TESTS], cwd=ROOT, env=asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    left = [one for one in sorted(tmp_path.rglob("*")) if one not in before and not one.name.startswith("pytest-of-")]
    assert left == []
    alive = [one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"])]
    assert not [line for line in alive if str(tmp_path) in " ".join(line)]


def test_a_kernel_that_dies_leaves_nothing_to_a_later_test(monkeypatch):
    # The folder of the run is short enough for the path of a socket, that of the test need not be.
    monkeypatch.setenv(kernels.FOLDER, str(Path(os.environ[kernels.FOLDER], "missing")))
    gc.collect()
    with pytest.raises(RuntimeError, match="Kernel died"):
        nbval.kernel.RunningKernel(":nbval-parent-env")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gc.collect()
    assert [str(one.message) for one in caught] == []
