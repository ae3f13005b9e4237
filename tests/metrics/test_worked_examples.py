"""The worked examples of five textbook articles, recomputed; and where the notebooks
show them and test the articles' claims.

`worked_examples.json` holds every figure as an article prints it and as the definition
gives it.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from math import log2
from pathlib import Path
from typing import Any

import nbformat
import pytest

import recnb
from tests.tools.notebooks import BUILT

EXAMPLES = json.loads(
    Path(__file__)
    .parents[1]
    .joinpath("worked_examples.json")
    .read_text(encoding="utf-8")
)
WORKED = {one["id"]: one for one in EXAMPLES["worked"]}
CLAIMS = {one["id"]: one for one in EXAMPLES["claims"]}
SMALLEST = 1e-12

Inputs = dict[str, Any]
Figures = dict[str, float]

# One list at a time, with the functions that take plain lists.


def four_users(inputs: Inputs, mean: str, score: Callable[..., float]) -> Figures:
    """A figure for each row, and their mean."""
    rows = [
        (row["recommended"], row.get("relevance") or row["relevant"])
        for row in inputs["rows"]
    ]
    figures = {
        f"user{number}": float(score(*row)) for number, row in enumerate(rows, 1)
    }
    several = float(
        score(
            [recommended for recommended, _ in rows], [relevant for _, relevant in rows]
        )
    )
    assert several == pytest.approx(sum(figures.values()) / len(rows), abs=SMALLEST)
    return figures | {mean: several}


def rated_users(inputs: Inputs) -> Figures:
    figures = {}
    for name, score in {
        "dcg": recnb.dcg,
        "idcg": recnb.idcg,
        "ndcg": recnb.ndcg,
    }.items():
        each = four_users(inputs, "mean", score)
        figures |= {
            f"{name}_{user}": value for user, value in each.items() if user != "mean"
        }
    return figures | {"mean_ndcg": each["mean"]}


def graded(inputs: Inputs, *names: str) -> Figures:
    return {
        name: float(getattr(recnb, name)(inputs["relevance"], k=inputs["k"]))
        for name in names
    }


def recommended(inputs: Inputs, *names: str, truth: str = "relevance") -> Figures:
    return {
        name: float(
            getattr(recnb, name)(inputs["recommended"], inputs[truth], k=inputs["k"])
        )
        for name in names
    }


def mean_ndcg(inputs: Inputs) -> Figures:
    lists, truths = (
        [case[side] for case in inputs["cases"]]
        for side in ("recommended", "relevance")
    )
    # Its ideal ends where each list does.
    return {"mean_ndcg": float(recnb.ndcg(lists, truths, ideal="min(k, list)"))}


FROM_LISTS: dict[str, Callable[[Inputs], Figures]] = {
    "dcg-1": lambda inputs: recommended(inputs, "dcg"),
    "ndcg-1": lambda inputs: recommended({**inputs, "k": 3}, "ndcg"),
    "idcg-1": lambda inputs: graded(inputs, "idcg"),
    "idcg-2": lambda inputs: graded(inputs, "idcg"),
    "mean-ndcg-1": mean_ndcg,
    "precision-recall-1": lambda inputs: recommended(
        inputs, "precision", "recall", truth="relevant"
    ),
    "ndcg-six-documents": lambda inputs: graded(inputs, "cg", "dcg", "idcg", "ndcg"),
    "rr-ordered": lambda inputs: four_users(
        inputs, "mrr", partial(recnb.reciprocal_rank, target="preferred")
    ),
    "rr-unordered": lambda inputs: four_users(inputs, "mrr", recnb.reciprocal_rank),
    "ap-map": lambda inputs: four_users(inputs, "map", recnb.average_precision),
    "ndcg-users": rated_users,
    "dcg-three": lambda inputs: graded(inputs, "dcg", "idcg", "ndcg"),
}


@pytest.mark.parametrize("name", FROM_LISTS)
def test_worked(name: str) -> None:
    """The figures are the derived ones, and agree with the printed ones exactly where
    that is recorded.
    """
    example = WORKED[name]
    figures = FROM_LISTS[name](example["inputs"])
    assert (
        set(figures)
        == set(example["derived"])
        == set(example["printed"])
        == set(example["agrees"])
    )
    for figure, value in figures.items():
        assert value == pytest.approx(example["derived"][figure], abs=SMALLEST), figure
        rounds_to_it = (
            abs(value - example["printed"][figure])
            <= 0.5 * 10 ** -example["digits"] + SMALLEST
        )
        assert rounds_to_it is example["agrees"][figure], figure


def test_dcg_speed() -> None:
    """Walking the list gives the DCG that looking up the liked items does, on 20,000
    items instead of ten million.
    """
    inputs, chance = WORKED["dcg-speed"]["inputs"], random.Random(5)
    ranking = chance.sample(range(inputs["n_items"] // 500), inputs["n_items"] // 500)
    liked = {
        item: chance.randint(1, 5) for item in chance.sample(ranking, inputs["n_liked"])
    }
    walked = sum(
        liked.get(item, 0) / log2(rank + 1) for rank, item in enumerate(ranking, 1)
    )
    assert recnb.dcg(ranking, liked) == pytest.approx(walked, abs=SMALLEST)
    assert WORKED["dcg-speed"]["derived"] == WORKED["dcg-speed"]["printed"]


# Where each is shown.


#: Folders of notebooks, one for each language.
FOLDERS = [folder for folder in (BUILT, BUILT / "ko") if list(folder.glob("*.ipynb"))]


def tags(folder: Path) -> Counter[str]:
    """How many code cells of a folder's notebooks are tagged with each id."""
    cells = (
        cell
        for path in folder.glob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
    )
    found = Counter(
        tag
        for cell in cells
        if cell.cell_type == "code"
        for tag in cell.metadata.get("tags", [])
    )
    return Counter(
        {
            tag: n
            for tag, n in found.items()
            if tag in WORKED or tag.startswith("claim-")
        }
    )


def test_every_example_is_tested() -> None:
    assert set(WORKED) == {*FROM_LISTS, "dcg-speed"}


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
