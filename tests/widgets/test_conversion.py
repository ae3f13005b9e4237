"""Notebooks that are run and converted show their widgets without a network, by the
commands of the page.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests import kernels
from tests.tools.notebooks import BUILT

PAGE = (BUILT / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^    jupyter (nbconvert .*) \S+\.ipynb$", PAGE, re.M)
CODE = """import recnb

recnb.language("ko")
recnb.playground([3, 2, 0, 1])"""


def converted(command: str, folder: Path) -> str:
    """Run a command of the page on a notebook of one cell, and return what it makes."""
    kernels.prepare()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    nbformat.write(notebook, folder / "cell.ipynb")
    arguments = [*shlex.split(command), "--output", "made", "cell.ipynb"]
    subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (made,) = folder.glob("made*.html")
    return made.read_text("utf-8")


def test_the_page_has_a_command_for_pages_and_one_for_slides() -> None:
    kinds = [re.search(r"--to (\w+)", command) for command in COMMANDS]
    assert [kind[1] for kind in kinds if kind] == ["html", "slides"]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_converted_notebook_shows_the_still_picture(
    command: str, tmp_path: Path
) -> None:
    made = converted(command, tmp_path)
    assert "정지 화면이다" in made
    assert "application/vnd.jupyter.widget-view+json" not in made


@pytest.mark.slow
def test_without_the_option_it_does_not(tmp_path: Path) -> None:
    option = " --ExecutePreprocessor.store_widget_state=False"
    assert option in COMMANDS[0]
    assert "정지 화면이다" not in converted(COMMANDS[0].replace(option, ""), tmp_path)
