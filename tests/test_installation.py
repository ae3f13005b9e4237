"""What is installed: the package whole, and one that Python finds from any folder."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def built(kind: str, folder: pathlib.Path) -> zipfile.ZipFile:
    """A wheel of this checkout, as pip builds it."""
    code = (
        "import sys; from hatchling import build; print(getattr(build, "
        "sys.argv[1])(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, f"build_{kind}", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return zipfile.ZipFile(folder / done.stdout.split()[-1])


def test_an_editable_install_is_found_from_the_folder_above_a_clone(tmp_path):
    built("editable", tmp_path).extractall(tmp_path / "site")
    (
        tmp_path / "recnb"
    ).mkdir()  # the clone: a folder without __init__.py, which is a namespace package to Python
    code = (
        "import site, sys; site.addsitedir(sys.argv[1]); "
        "from importlib.util import find_spec; print(find_spec('recnb').origin)"
    )
    found = subprocess.run(
        [sys.executable, "-S", "-c", code, str(tmp_path / "site")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": ""},
    )
    assert pathlib.Path(found.stdout.strip()) == ROOT / "recnb" / "__init__.py"


def test_a_wheel_has_every_file_of_the_package(tmp_path):
    with built("wheel", tmp_path) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("recnb/")}
    files = (
        path
        for path in (ROOT / "recnb").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    assert held == {path.relative_to(ROOT).as_posix() for path in files}
    for ending in (".py", ".jinja", ".po", ".mo", ".csv", ".js", ".css", "py.typed"):
        assert any(name.endswith(ending) for name in held)
