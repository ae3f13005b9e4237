"""The notebook that needs Java, in each language, is compared with its stored outputs
here, and not by the README's test command.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.tools.notebooks import ROOT, stored

pytestmark = pytest.mark.spark

NOTEBOOKS = [path for path in stored() if path.stem == "11_scale"]


@pytest.mark.parametrize(
    "notebook", NOTEBOOKS, ids=[path.parent.name for path in NOTEBOOKS]
)
def test_its_stored_outputs_are_what_it_gives(notebook: Path) -> None:
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
        "pytest"
    ]["ini_options"]["addopts"]
    assert f"--ignore={notebook.relative_to(ROOT).as_posix()}" in configured
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
        str(notebook),
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
