"""The environments that have the libraries which recnb is held against, and how to make
them.

`python -m tests.tools.parity.environments <folder>` makes them; `RECNB_PARITY=<folder>`
tells the tests where they are. Some libraries agree on their pins and share one
environment, which has what their metrics import and no more. The others take minutes to
install, and torch can be gigabytes: they are made, and checked, with RECNB_PARITY_ALL=1
(on Linux, with Python 3.11).
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import venv
from dataclasses import dataclass

#: Environments that are made on demand: what is installed with all that it asks for,
#: and what is installed alone.
BY_HAND = {
    "torch": (
        (
            "torch==2.13.0 torchmetrics==1.9.0 lenskit==2025.8.1 pandas<3 scikit-learn "
            "colorlog colorama tabulate texttable psutil pyyaml tqdm tensorboard plotly"
        ),
        "recbole==1.2.1 thop",
    ),
    "evidently": ("evidently==0.7.23 pandas<3", ""),
    "boosting": ("lightgbm==4.7.0 catboost==1.2.10 xgboost-cpu==3.2.0", ""),
    "retrieval": (
        (
            "torch==2.13.0 sentence-transformers==6.2.0 mteb==2.26.24 "
            "llama-index-core==0.14.25 haystack-ai==3.4.1 pandas cachetools "
            "databricks-sdk fastapi gitpython importlib_metadata opentelemetry-proto "
            "opentelemetry-sdk protobuf sqlparse"
        ),
        "mlflow==3.18.0",
    ),
    "ragas": ("ragas==0.4.3 rapidfuzz langchain-community<0.4", ""),
    # what recnb needs, and what the recipes of recnb/TRAINING.md use beside it
    "recipes": (
        (
            "numpy>=2.1,<3 pandas>=2.2.3,<4 polars>=1.37,<3 pyarrow scipy>=1.15,<2 "
            "jinja2 matplotlib tqdm psutil lightgbm==4.7.0 xgboost-cpu==3.2.0 "
            "mlflow-skinny==3.17.2 great-tables==1.1.0"
        ),
        "",
    ),
    "small": (
        "numpy>2 scipy pandas<3 scikit-learn powerlaw tqdm six psutil",
        "cornac==3.0.1",
    ),
}


@dataclass(frozen=True)
class Asked:
    """How a library is asked."""

    environment: str  #: folder of its environment; the project's own if empty
    variants: tuple[str, ...] = ()  #: those that it is asked for; all if none


#: By the names of presets.csv, the libraries of each environment.
LIBRARIES = {
    "": "pytrec_eval-terrier ir-measures scikit-learn",
    "libraries": "ranx rectools recommenders replay-rec recpack rs-metrics implicit",
    "torch": "torchmetrics lenskit recbole",
    "evidently": "evidently",
    "boosting": "lightgbm catboost xgboost",
    "retrieval": "haystack-ai llama-index-core mlflow mteb sentence-transformers",
    "ragas": "ragas",
    "small": "cornac",
}
ASKED = {
    name: Asked(environment)
    for environment, names in LIBRARIES.items()
    for name in names.split()
}
#: What is in brackets tells two environments of one library apart.
ASKED["ir-measures (cwl-eval)"] = Asked("libraries", ("rbp_rel1",))


def wanted(environment: str) -> bool:
    """Whether an environment is to be made, and its libraries to be asked."""
    return environment not in BY_HAND or os.environ.get("RECNB_PARITY_ALL") == "1"


def python(environment: str) -> pathlib.Path | None:
    """The interpreter of an environment; None where it was not made."""
    if not environment:
        return pathlib.Path(sys.executable)
    if not (folder := os.environ.get("RECNB_PARITY")):
        return None
    found = interpreter(pathlib.Path(folder) / environment)
    return found if found.exists() else None


def interpreter(folder: pathlib.Path) -> pathlib.Path:
    """The interpreter of the virtual environment in a folder."""
    return folder.absolute() / (
        "Scripts/python.exe" if os.name == "nt" else "bin/python"
    )


def make(folder: pathlib.Path) -> None:
    """Make the environments in a folder."""
    install(
        folder / "libraries",
        ["--no-deps", "-r", str(pathlib.Path(__file__).with_name("libraries.txt"))],
    )
    for name, (packages, alone) in BY_HAND.items():
        if wanted(name):
            install(folder / name, packages.split(), ["--no-deps", *alone.split()])


def install(folder: pathlib.Path, *calls: list[str]) -> None:
    """Make one virtual environment, with what pip is called for."""
    venv.create(folder, with_pip=True, clear=True)
    pip = [
        str(interpreter(folder)),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    for packages in calls:
        if packages != ["--no-deps"]:
            subprocess.run([*pip, *packages], check=True)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
