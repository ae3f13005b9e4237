"""environment.yml says what pyproject.toml says, in conda's names and grammar."""

import pathlib
import re
import tomllib

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
CONDA_NAME = {"matplotlib": "matplotlib-base"}
SPEC = re.compile(
    r"^(?P<name>[a-z0-9][a-z0-9._-]*)(?: (?P<range>(?:>=|<=|<|>|==|!=)[0-9][0-9.]*(?:,(?:>=|<=|<|>|==|!=)[0-9][0-9.]*)*))?$"
)


def specs() -> dict[str, str]:
    found = [SPEC.match(one) for one in ENVIRONMENT["dependencies"] if isinstance(one, str)]
    assert all(found), "a dependency is no conda match spec"
    return {one["name"]: one["range"] or "" for one in found if one}


def wanted() -> dict[str, str]:
    requirements = list(PROJECT["dependencies"])
    for extra in ("notebook", "datasets"):
        requirements += PROJECT["optional-dependencies"][extra]
    pairs = [re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", one) for one in requirements]
    return {CONDA_NAME.get(one[1], one[1]): one[2] for one in pairs if one}


def test_only_keys_that_conda_reads():
    assert set(ENVIRONMENT) == {"name", "channels", "dependencies"}
    assert ENVIRONMENT["name"] == PROJECT["name"]
    assert ENVIRONMENT["channels"][0] == "conda-forge"


def test_runtime_dependencies_have_the_same_ranges():
    conda = specs()
    assert {name: conda.get(name) for name in wanted()} == wanted()


def test_python_range_is_the_same():
    assert specs()["python"] == PROJECT["requires-python"]


def test_test_tools_have_the_same_ranges():
    tests = dict(
        re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", one).groups()
        for one in PROJECT["optional-dependencies"]["test"]
        if "[" not in one
    )
    conda = specs()
    shared = set(tests) & set(conda)
    assert {"pytest", "nbval", "hypothesis"} <= shared
    assert {name: conda[name] for name in shared} == {name: tests[name] for name in shared}


def test_nothing_is_listed_that_the_project_does_not_name():
    known = {
        *wanted(),
        "python",
        "pip",
        *(re.split("[<>=[]", one)[0] for one in PROJECT["optional-dependencies"]["test"]),
    }
    assert set(specs()) <= known


def test_the_project_itself_is_installed_by_pip_in_the_way_conda_accepts():
    pip = [one["pip"] for one in ENVIRONMENT["dependencies"] if isinstance(one, dict)]
    assert pip == [["-e ."]], "conda hands these lines to pip as a requirements file: no --no-deps, no options"
    assert "pip" in specs()
