"""The page of other libraries: each program of theirs and of recnb's prints the same
number, which is the one that was recorded of the library.
"""

from __future__ import annotations

import csv
import functools
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import recnb
from recnb.conventions.presets import of_library
from tests.tools.parity.environments import ASKED, python, wanted
from tests.tools.readme import programs_of

RECORDED = Path(__file__).parent / "recorded"
PAGE = Path(recnb.__file__).with_name("PEERS.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## From (\S+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.DOTALL))
(DATA,) = re.findall(r"^## The data\n.*?```python\n(.*?)```", PAGE, re.M | re.DOTALL)

#: Of each library, its name in presets.csv, and the variants that its program prints.
VARIANTS = {
    "RecTools": ("rectools", "ndcg ndcg_achievable"),
    "ranx": ("ranx", "ndcg"),
    "ir_measures": ("ir-measures", "ndcg"),
    "pytrec_eval": ("pytrec_eval-terrier", "ndcg"),
    "LensKit": ("lenskit", "ndcg"),
    "evidently": ("evidently", "ndcg[list]"),
}
#: It was asked about one user after the other; here it is given a matrix of two.
NOT_RECORDED = "scikit-learn"


def printed(program: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    exec(DATA + program, {})
    return capsys.readouterr().out.rstrip("\n")


@functools.cache
def case() -> dict[str, Any]:
    cases = json.loads((RECORDED / "cases.json").read_text("utf-8"))
    (found,) = (each for each in cases if each["id"] == "c14_user_without_recs")
    return found


@functools.cache
def recorded_values() -> list[dict[str, str]]:
    with (RECORDED / "values.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["case"] == case()["id"]]


def recorded(library: str, variant: str) -> float:
    (row,) = (
        row
        for row in recorded_values()
        if (row["library"], row["variant"]) == (library, variant)
    )
    return float(row["value"])


def test_every_library_has_a_section_and_a_row():
    assert {*SECTIONS} == {*VARIANTS, NOT_RECORDED}
    rows = re.findall(r"^\| \[(\S+)\]\(#from-(\S+)\)", PAGE, re.M)
    assert {name for name, _anchor in rows} == {*SECTIONS}
    assert all(name.lower() == anchor for name, anchor in rows)


def test_the_data_are_those_of_a_recorded_case():
    names: dict[str, Any] = {}
    exec(DATA, names)
    assert names["recs"].to_dict("records") == case()["recs"]
    assert names["truth"].to_dict("records") == case()["truth"]
    assert case()["k"] == 3


@pytest.mark.parametrize("name", SECTIONS)
def test_their_number_is_recnbs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (theirs, their_output), (ours, our_output) = programs_of(SECTIONS[name])
    assert our_output == their_output
    assert "import recnb" in ours
    assert "recnb" not in theirs
    assert printed(ours, capsys) == our_output
    for program in (theirs, ours):
        assert len(program.strip().splitlines()) <= 12


@pytest.mark.parametrize("name", VARIANTS)
def test_their_number_is_the_recorded_one(name: str) -> None:
    library, variants = VARIANTS[name]
    values = [recorded(library, variant) for variant in variants.split()]
    (_program, output), _ours = programs_of(SECTIONS[name])
    assert output == " ".join(f"{value:.4f}" for value in values)
    assert {preset.variant for preset in of_library(library)} >= {*variants.split()}


def test_the_page_counts_its_numbers():
    """The first of each library: that of RecTools beside its option is recnb's."""
    numbers = {programs_of(text)[0][1].split()[0] for text in SECTIONS.values()}
    words = {5: "five", 6: "six", 7: "seven"}
    sentence = f"{words[len(SECTIONS)]} libraries give {words[len(numbers)]} numbers"
    assert sentence in PAGE


def runs() -> list[Any]:
    """The libraries that are installed here, and those of the environments which are
    made (`RECNB_PARITY_ALL=1`: all).
    """
    libraries = {name: library for name, (library, _variants) in VARIANTS.items()}
    params = []
    for name, library in {**libraries, NOT_RECORDED: NOT_RECORDED}.items():
        environment = ASKED[library].environment
        marks = pytest.mark.parity if environment else pytest.mark.slow
        if wanted(environment):
            params.append(pytest.param(name, environment, marks=marks, id=name))
    return params


@pytest.mark.parametrize(("name", "environment"), runs())
def test_their_program_prints_it(name: str, environment: str) -> None:
    interpreter = python(environment)
    assert interpreter, "make tests.tools.parity.environments, and set RECNB_PARITY"
    (program, output), _ours = programs_of(SECTIONS[name])
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(interpreter), "-W", "ignore", "-c", DATA + program],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.rstrip("\n") == output
