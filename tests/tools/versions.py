"""Constraints for pip: the lowest versions that `pyproject.toml` declares.

    python -m tests.tools.versions            every dependency at its lowest version
    python -m tests.tools.versions pyarrow    this one alone

`.ci/run` installs what each prints, `pip install --constraint FILE`, and runs the usual
tests with it.
"""

from __future__ import annotations

import argparse
import pathlib
import tomllib
from collections.abc import Iterable

from packaging.requirements import Requirement

PYPROJECT = pathlib.Path(__file__).resolve().parents[2] / "pyproject.toml"


def declared() -> list[Requirement]:
    """Return the requirements of the package and of what its usual tests need."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    texts = list(project["dependencies"])
    for extra in ("notebook", "datasets", "dask", "test"):
        texts.extend(extras[extra])
    requirements = [Requirement(text) for text in texts]
    return [each for each in requirements if each.name != project["name"]]


def lowest(requirement: Requirement) -> str | None:
    """Return the version after `>=`, or None where there is no lowest one.

    >>> lowest(Requirement("numpy>=2.0,<3")), lowest(Requirement("jsonschema<4.25"))
    ('2.0', None)
    """
    for specifier in requirement.specifier:
        if specifier.operator == ">=":
            return specifier.version
    return None


def constraints(names: Iterable[str] = ()) -> list[str]:
    """Return a line `name==lowest` for each dependency, or for those named.

    >>> [line.split("==")[0] for line in constraints(["pyarrow"])]
    ['pyarrow']
    """
    chosen = set(names)
    versions = {each.name: lowest(each) for each in declared()}
    unknown = chosen - set(versions)
    if unknown:
        raise SystemExit(f"pyproject.toml declares no {', '.join(sorted(unknown))}")
    return [
        f"{name}=={version}"
        for name, version in sorted(versions.items())
        if version is not None and (not chosen or name in chosen)
    ]


def main() -> None:
    """Print the constraints."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.versions", description=main.__doc__
    )
    parser.add_argument(
        "names", nargs="*", help="dependencies; all where none is named"
    )
    print("\n".join(constraints(parser.parse_args().names)))


if __name__ == "__main__":
    main()
