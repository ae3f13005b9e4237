"""Write down what a library returns: `python -m tests.tools.parity.record ranx` writes
its rows of tests/recorded/values.csv anew.

The library is asked where it is installed (`environments.py`), for the metrics of its
presets and the recorded cases.
"""

from __future__ import annotations

import csv
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

from recnb.conventions.presets import Preset, of_library
from recnb.metrics.metric import LIST_METRICS, RETRIEVAL_METRICS
from tests.tools.parity.data import DataSet
from tests.tools.parity.environments import ASKED, python

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECORDED = ROOT / "tests" / "recorded"
#: Errors of what is missing here, as Perl: what was recorded stays.
NOT_ASKED = (
    "CalledProcessError",
    "ImportError",
    "ModuleNotFoundError",
    "FileNotFoundError",
)
COLUMNS = ("library", "version", "variant", "case", "value", "error")


def asked(library: str, variants: list[str], data: list[DataSet]) -> dict[str, Any]:
    """The library's version, and its value or error for each metric and data set."""
    where = python(ASKED[library].environment)
    if where is None:
        raise SystemExit(
            f"{library} is not installed: python -m "
            f"tests.tools.parity.environments FOLDER, RECNB_PARITY=FOLDER"
        )
    done = subprocess.run(
        [str(where), "-m", "tests.tools.parity.ask", library, *variants],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "PYTHONHOME")
        },
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def data_set(case: dict[str, Any]) -> DataSet:
    """A recorded case in the form in which libraries are asked."""
    columns = {
        "recs": ("user", "item", "score", "rank"),
        "truth": ("user", "item", "relevance"),
    }
    rows = {
        side: [[row[name] for name in names] for row in case[side]]
        for side, names in columns.items()
    }
    return {**rows, "k": case["k"]}


def presets_of(asked: str) -> list[Preset]:
    """The presets that are asked for under a name of `ASKED`: those of the library that
    no other name is for.
    """
    library, only = asked.split(" ")[0], ASKED[asked].variants
    others = {
        one
        for name, how in ASKED.items()
        if name.startswith(f"{library} (")
        for one in how.variants
    }
    return [
        one
        for one in of_library(library)
        if (one.variant in only if only else one.variant not in others)
    ]


def recorded(library: str) -> list[dict[str, Any]]:
    """The rows of a library."""
    cases = [
        case
        for case in json.loads((RECORDED / "cases.json").read_text("utf-8"))
        if case["id"].startswith("c")
    ]
    elsewhere = {*LIST_METRICS, *RETRIEVAL_METRICS}
    variants = [
        one.variant for one in presets_of(library) if one.metric not in elsewhere
    ]
    answer, rows = asked(library, variants, [data_set(case) for case in cases]), []
    for variant in variants:
        for case, value in zip(cases, answer["values"][variant], strict=True):
            said = ("", value) if isinstance(value, str) else (repr(value), "")
            row = (library.split(" ")[0], answer["version"], variant, case["id"], *said)
            if not said[1].startswith(NOT_ASKED):
                rows.append(dict(zip(COLUMNS, row, strict=True)))
    return rows


def written(
    rows: list[dict[str, Any]], new: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The table with new rows in the places of old ones, and new metrics behind the
    others.
    """
    made = {(row["library"], row["variant"], row["case"]): row for row in [*rows, *new]}
    metrics = list(
        dict.fromkeys((library, variant) for library, variant, _case in made)
    )
    return sorted(
        made.values(), key=lambda row: metrics.index((row["library"], row["variant"]))
    )


if __name__ == "__main__":
    path = RECORDED / "values.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        before = list(csv.DictReader(lines))
    found = [row for library in sys.argv[1:] for row in recorded(library)]
    with path.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(written(before, found))
    print(
        f"{len(found):,} values of {', '.join(sys.argv[1:])}: git diff {path.relative_to(ROOT)}"
    )
