"""What is installed: the package whole, and one that Python finds from any folder."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile

import pytest

import recnb
from tests.tools.readme import programs_of

ROOT = pathlib.Path(__file__).resolve().parent.parent

#: Bytes that a browser may have to load.
MOST_BYTES = 1_000_000
#: What translators edit; gettext reads what is compiled of it.
SOURCE_ALONE = {".po"}


def build(kind: str, folder: pathlib.Path, root: pathlib.Path = ROOT) -> pathlib.Path:
    """Build a wheel, an editable one, or an archive of the sources, as pip does."""
    code = (
        "import sys; from hatchling import build; print(getattr(build, "
        "sys.argv[1])(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, f"build_{kind}", str(folder)],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def test_an_editable_install_is_found_from_the_folder_above_a_clone(tmp_path):
    with zipfile.ZipFile(build("editable", tmp_path)) as archive:
        archive.extractall(tmp_path / "site")
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
        # Before version 3.13, Python reads the path of the package by the locale.
        env=os.environ | {"PYTHONPATH": "", "LC_ALL": "C.UTF-8"},
    )
    assert pathlib.Path(found.stdout.strip()) == ROOT / "recnb" / "__init__.py"


# ---- what is in it


def test_a_wheel_has_every_file_of_the_package_that_is_read(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    in_wheel = {name for name in names if name.startswith("recnb/")}
    files = (
        path
        for path in (ROOT / "recnb").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    read = {path for path in files if path.suffix not in SOURCE_ALONE}
    assert in_wheel == {path.relative_to(ROOT).as_posix() for path in read}
    for ending in (".py", ".jinja", ".mo", ".csv", ".js", ".css", "py.typed"):
        assert any(name.endswith(ending) for name in in_wheel)


def test_a_wheel_is_small_and_for_every_system(wheel):
    assert wheel.name == f"recnb-{recnb.__version__}-py3-none-any.whl"
    assert wheel.stat().st_size < MOST_BYTES


def test_sources_make_the_same_wheel(wheel, tmp_path):
    with tarfile.open(build("sdist", tmp_path)) as archive:
        if hasattr(tarfile, "data_filter"):  # from Python 3.11.4 on
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(tmp_path)
    (sources,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for name in ("LICENSE", "README.md", "CITATION.cff"):
        assert (sources / name).read_bytes() == (ROOT / name).read_bytes()
    again = build("wheel", tmp_path, root=sources)
    assert again.read_bytes() == wheel.read_bytes()
    translations = {path.name for path in (sources / "recnb/locale").rglob("*.?o")}
    assert translations == {"recnb.po", "recnb.mo"}


# ---- installed, used and removed


def files_below(folder: pathlib.Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


class Environment:
    """A virtual environment with a home and a temporary folder of its own."""

    def __init__(self, folder: pathlib.Path) -> None:
        venv.create(folder / "env", with_pip=False)
        scripts = "Scripts" if os.name == "nt" else "bin"
        self.scripts = folder / "env" / scripts
        self.python = self.scripts / ("python.exe" if os.name == "nt" else "python")
        scheme = {"base": str(folder / "env"), "platbase": str(folder / "env")}
        self.packages = pathlib.Path(sysconfig.get_path("purelib", "venv", scheme))
        self.folder = folder
        for name in ("home", "tmp", "work"):
            (folder / name).mkdir()

    def pip(self, *arguments: str) -> None:
        """Run this interpreter's pip for the environment, which has none."""
        command = [sys.executable, "-m", "pip", "--python", str(self.python)]
        options = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *options, *arguments], check=True)

    def printed(self, *command: str) -> str:
        """Return what a command prints, which sees nothing of the one who runs it."""
        folders = {
            "HOME": "home",
            "USERPROFILE": "home",
            "TMPDIR": "tmp",
            "TEMP": "tmp",
        }
        kept = {"PATH", "SYSTEMROOT", "LD_LIBRARY_PATH"} & set(os.environ)
        env = {name: os.environ[name] for name in kept}
        env |= {name: str(self.folder / path) for name, path in folders.items()}
        done = subprocess.run(
            command,
            cwd=self.folder / "work",
            capture_output=True,
            text=True,
            check=False,
            env=env | {"PYTHONUTF8": "1"},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout


@pytest.mark.slow
def test_it_is_installed_used_and_removed_without_a_trace(
    wheel: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """With what it asks for, which is downloaded."""
    environment = Environment(tmp_path)
    environment.pip("install", str(wheel))
    environment.pip("check")
    python = str(environment.python)
    page = (ROOT / "recnb" / "metrics" / "README.md").read_text("utf-8")
    program, output = programs_of(page)[0]
    where = "import recnb; print(recnb.__file__)"
    printed = environment.printed(python, "-c", f"{program}\n{where}")
    *lines, file = printed.splitlines()
    assert "\n".join(lines) == output
    assert pathlib.Path(file).is_relative_to(environment.packages)
    version = environment.printed(str(environment.scripts / "recnb"), "--version")
    assert recnb.__version__ in version
    of_recnb = {"recnb", f"recnb-{recnb.__version__}.dist-info"}
    assert of_recnb <= files_below(environment.packages)

    environment.pip("uninstall", "--yes", "recnb")
    assert not {name for name in files_below(environment.packages) if "recnb" in name}
    assert not {name for name in files_below(environment.scripts) if "recnb" in name}
    for folder in ("home", "tmp", "work"):
        files = {path for path in (tmp_path / folder).rglob("*") if path.is_file()}
        assert not {path for path in files if "recnb" in path.as_posix()}
    assert not files_below(tmp_path / "work")
