"""environment.yml says what pyproject.toml says, in conda's names."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))


def ranges(requirements: list[str]) -> dict[str, str]:
    """The range of versions of each package; conda has a blank before it, and a name of
    its own for matplotlib. What says for which systems it is, after a semicolon, is
    pip's alone: conda is for none that has other packages.
    """
    found = (
        re.fullmatch(r"([\w.-]+)((?:\[.*\])?) ?([<>=!\d.,]*)", one.split(";")[0])
        for one in requirements
    )
    return {
        one[1].replace("matplotlib-base", "matplotlib"): one[3]
        for one in found
        if one and not one[2]
    }


def test_conda_gets_the_packages_of_pip():
    assert [*ENVIRONMENT] == ["name", "channels", "dependencies"]
    assert ENVIRONMENT["channels"][0] == "conda-forge"
    *specs, by_pip = ENVIRONMENT["dependencies"]
    assert by_pip == {"pip": ["-e ."]}, (
        "conda hands these lines to pip as a requirements file"
    )
    extras = PROJECT["optional-dependencies"]
    used = ranges(PROJECT["dependencies"] + extras["notebook"] + extras["datasets"])
    known = {
        "python": PROJECT["requires-python"],
        "pip": "",
        **used,
        **ranges(extras["test"]),
    }
    conda = ranges(specs)
    assert len(conda) == len(specs)
    assert {"python", "pip", "pytest", "nbval", "hypothesis", *used} <= set(conda)
    assert conda == {name: known.get(name) for name in conda}


def test_ci_names_paths_that_exist():
    """pytest ends at once, with no test run, if one of its paths is not there."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    named = re.findall(r"(?<![\w./$])(?:tests|notebooks|recnb)/[\w./{},*]+", script)
    assert len(named) > 5
    for path in named:
        shell = ["bash", "-O", "failglob", "-c", f"ls -d {path}"]
        found = subprocess.run(shell, cwd=ROOT, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr


def test_the_site_is_built_with_its_extra_alone():
    tools = ROOT / "tests" / "tools"
    files = [
        *(tools / "site").glob("*.py"),
        tools / "notebooks.py",
        tools / "readme.py",
    ]
    files.append(ROOT / "tests" / "kernels.py")
    code = "\n".join(file.read_text("utf-8") for file in files)
    imported = {*re.findall(r"^ *(?:import|from) (\w+)", code, re.MULTILINE)}
    extras = PROJECT["optional-dependencies"]
    wanted = imported & {*ranges(extras["test"])}
    assert "jupytext" in wanted
    assert wanted <= {*ranges(extras["site"])}
