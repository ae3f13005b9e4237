"""The environments that have the libraries which recnb is held against, and how to make them.

`python -m tests.parity.environments <folder>` makes them; `RECNB_PARITY=<folder>` tells the tests where they are. Some
libraries agree on their pins and share one environment, which has what their metrics import and no more: all that they
ask for includes a notebook server, a load tester and libraries of models. The others take minutes to install, and torch
from the package index can be gigabytes: they are made, and checked, by hand, with RECNB_PARITY_ALL=1 (on
Linux, with Python 3.11).
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import venv
from dataclasses import dataclass

#: The libraries, at the versions of presets.csv. cwl-eval computes rank-biased precision for ir-measures.
LIBRARIES = [
    "ranx==0.3.21",
    "rectools==0.19.0",
    "recommenders==1.2.1",
    "replay-rec==0.22.0",
    "ir-measures==0.4.3",
    "cwl-eval==1.0.12",
    "recpack==0.3.6",
    "rs-metrics==0.6.0",
    "implicit==0.7.3",
]
#: What their metrics import.
IMPORTED = [
    "annotated-types==0.8.0",
    "attrs==23.2.0",
    "cbor2==6.2.1",
    "certifi==2026.10.18",
    "charset-normalizer==3.5.2",
    "cloudpickle==3.1.2",
    "contourpy==1.3.3",
    "cycler==0.12.1",
    "fonttools==4.68.0",
    "idna==3.20",
    "ir_datasets==0.6.3",
    "joblib==1.6.0",
    "kiwisolver==1.5.1",
    "llvmlite==0.50.0",
    "lz4==4.4.5",
    "markdown-it-py==4.3.0",
    "matplotlib==3.11.2",
    "mdurl==0.1.2",
    "narwhals==2.28.0",
    "numba==0.68.1",
    "numpy==1.26.4",
    "orjson==3.13.0",
    "packaging==26.3",
    "pandas==2.3.3",
    "patsy==1.0.3",
    "pillow==13.0.0",
    "polars-runtime-32==1.44.2",
    "polars==1.44.2",
    "psutil==7.2.2",
    "pyarrow==23.0.1",
    "pydantic==2.14.3",
    "pydantic_core==2.50.4",
    "Pygments==2.21.0",
    "pyparsing==3.3.3",
    "python-dateutil==4.0.0",
    "pytz==2026.6",
    "PyYAML==6.0.3",
    "requests==2.34.2",
    "rich==15.0.0",
    "scikit-learn==1.8.0",
    "scipy==1.17.1",
    "seaborn==0.13.2",
    "setuptools==65.5.0",
    "six==1.17.0",
    "statsmodels==0.15.0",
    "tabulate==0.10.0",
    "threadpoolctl==3.8.0",
    "tqdm==4.70.1",
    "typeguard==4.6.0",
    "typing-inspection==0.4.5",
    "typing_extensions==4.16.0",
    "tzdata==2026.6",
    "urllib3==2.8.0",
    "wcwidth==0.9.4",
]
#: Environments that are made by hand: what is installed with all that it asks for, and what is installed alone.
BY_HAND: dict[str, tuple[list[str], list[str]]] = {
    "torch": (
        [
            "torch==2.13.0", "torchmetrics==1.9.0", "torcheval==0.0.7", "lenskit==2025.8.1", "pandas<3", "scikit-learn",
            "colorlog", "colorama", "tabulate", "texttable", "psutil", "pyyaml", "tqdm", "tensorboard", "plotly",
        ],
        ["recbole==1.2.1", "thop"],
    ),
    "evidently": (["evidently==0.7.23", "pandas<3"], []),
    "boosting": (["lightgbm==4.7.0", "catboost==1.2.10", "xgboost-cpu==3.2.0"], []),
    "small": (
        ["numpy>2", "scipy", "pandas<3", "scikit-learn", "powerlaw", "tqdm", "six", "psutil", "lightfm-next==1.19.0"],
        ["cornac==3.0.1", "rexmex==0.1.3"],
    ),
    "old": (
        [
            "numpy==1.26.4", "pandas==1.5.3", "scikit-learn==1.8.0", "matplotlib<3.9", "seaborn==0.11.2", "plotly<5",
            "scipy==1.17.1", "funcsigs",
        ],
        ["recmetrics==0.1.5"],
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """How a library is asked."""

    script: str  #: tests/parity/run_<script>.py
    environment: str = ""  #: folder of its environment; the project's own if empty
    variants: tuple[str, ...] = ()  #: those that it is asked for; all if none


#: By the library's name in presets.csv; what is in brackets tells two environments of one library apart.
ASKED = {
    "pytrec_eval-terrier": Asked("pytrec_eval"),
    "ir-measures": Asked("ir_measures"),
    "ir-measures (cwl-eval)": Asked("ir_measures", "libraries", ("rbp_rel1",)),
    "scikit-learn": Asked("scikit_learn"),
    "ranx": Asked("ranx", "libraries"),
    "rectools": Asked("rectools", "libraries"),
    "recommenders": Asked("recommenders", "libraries"),
    "replay-rec": Asked("replay", "libraries"),
    "recpack": Asked("recpack", "libraries"),
    "rs-metrics": Asked("rs_metrics", "libraries"),
    "implicit": Asked("implicit", "libraries"),
    "torchmetrics": Asked("torchmetrics", "torch"),
    "torcheval": Asked("torcheval", "torch"),
    "lenskit": Asked("lenskit", "torch"),
    "recbole": Asked("recbole", "torch"),
    "evidently": Asked("evidently", "evidently"),
    "lightgbm": Asked("lightgbm", "boosting"),
    "catboost": Asked("catboost", "boosting"),
    "xgboost": Asked("xgboost", "boosting"),
    "cornac": Asked("cornac", "small"),
    "rexmex": Asked("rexmex", "small"),
    "lightfm-next": Asked("lightfm", "small"),
    "recmetrics": Asked("recmetrics", "old"),
}


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
    return folder.absolute() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make(folder: pathlib.Path) -> None:
    """Make the environments in a folder."""
    install(folder / "libraries", ["--no-deps", *LIBRARIES, *IMPORTED])
    for name, (packages, alone) in BY_HAND.items():
        if wanted(name):
            install(folder / name, packages, ["--no-deps", *alone])


def install(folder: pathlib.Path, *calls: list[str]) -> None:
    """Make one virtual environment, with what pip is called for."""
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(interpreter(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for packages in calls:
        if packages != ["--no-deps"]:
            subprocess.run([*pip, *packages], check=True)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
