"""The worked examples of five textbook articles, recomputed; and where the notebooks
show them and test the articles' claims.

`worked_examples.json` holds every figure as an article prints it and as the definition
gives it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import nbformat
import pytest

import recnb
from tests.tools.notebooks import BUILT

FILE = Path(__file__).parents[1] / "worked_examples.json"
EXAMPLES = json.loads(FILE.read_text(encoding="utf-8"))
WORKED = {one["id"]: one for one in EXAMPLES["worked"]}
CLAIMS = {one["id"]: one for one in EXAMPLES["claims"]}
SMALLEST = 1e-12

#: Examples whose figures one call gives, in their order.
CALLED = [name for name, example in WORKED.items() if "call" in example]


def users_and_mean(score: recnb.Score) -> list[float]:
    return [*score.per_user, float(score)]


@pytest.mark.parametrize("name", CALLED)
def test_worked(name: str) -> None:
    """The figures are the derived ones, and agree with the printed ones exactly where
    that is recorded.
    """
    example = WORKED[name]
    inputs = example["inputs"]
    users = inputs.get("rows") or inputs.get("cases", [])
    lists = [user["recommended"] for user in users]
    truths = [user.get("relevance") or user["relevant"] for user in users]
    names = {**globals(), **inputs, "lists": lists, "truths": truths}
    values = eval(example["call"], names)
    derived, printed, agrees = (
        example[figures] for figures in ("derived", "printed", "agrees")
    )
    assert derived.keys() == printed.keys() == agrees.keys()
    assert values == pytest.approx([*derived.values()], abs=SMALLEST)
    nearest = 0.5 * 10 ** -example["digits"] + SMALLEST
    for figure, value in zip(derived, values, strict=True):
        rounds_to_it = abs(value - printed[figure]) <= nearest
        assert rounds_to_it is agrees[figure], figure


# Where each is shown.


#: Folders of notebooks, one for each language.
FOLDERS = [folder for folder in (BUILT, BUILT / "ko") if list(folder.glob("*.ipynb"))]


def tags(folder: Path) -> Counter[str]:
    """How many code cells of a folder's notebooks are tagged with each id."""
    return Counter(
        tag
        for path in folder.glob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        for tag in cell.metadata.get("tags", [])
        if tag in WORKED or tag.startswith("claim-")
    )


def test_every_example_is_tested() -> None:
    """But for one on random data of no seed."""
    assert set(WORKED) == {*CALLED, "dcg-speed"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_example_is_shown_once(folder: Path) -> None:
    assert tags(folder) == dict.fromkeys([*WORKED, *CLAIMS], 1)


def test_the_page_has_each_claim_with_its_verdict() -> None:
    lines = (BUILT / "README.md").read_text("utf-8").splitlines()
    rows = {line.split("`")[1]: line for line in lines if line.startswith("| `claim-")}
    assert rows.keys() == CLAIMS.keys()
    for name, claim in CLAIMS.items():
        verdict = claim["verdict"][0].upper() + claim["verdict"][1:]
        assert f"| {claim['claim']} *{verdict}.* |" in rows[name]
    assert f"put {len(CLAIMS)} statements" in "\n".join(lines)
    assert f"each of the {len(CLAIMS)} claims" in "\n".join(lines)
