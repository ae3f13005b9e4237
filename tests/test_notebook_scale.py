"""The notebook that needs Java is compared with its stored outputs here, and not by the
README's test command.
"""

import subprocess
import sys
import tomllib

import pytest

from tests.tools.notebooks import BUILT, ROOT

pytestmark = pytest.mark.spark

NOTEBOOK = BUILT / "11_scale.ipynb"


def test_its_stored_outputs_are_what_it_gives():
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
        "pytest"
    ]["ini_options"]["addopts"]
    assert f"--ignore={NOTEBOOK.relative_to(ROOT).as_posix()}" in configured
    options = [option for option in configured if option.startswith("--nbval")]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
        *options,
        str(NOTEBOOK),
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
