"""The worked examples of five textbook articles, recomputed; their claims, tested; and where the notebooks show each.

`worked_examples.json` holds every figure as an article prints it and as the definition gives it. After a change of the
notebooks, `python -m tests.metrics.test_worked_examples` writes the table of notebooks/README.md anew.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from math import e, log2, log10
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import recnb
from tests.tools.notebooks import BUILT

EXAMPLES = json.loads(Path(__file__).parents[1].joinpath("worked_examples.json").read_text(encoding="utf-8"))
WORKED = {one["id"]: one for one in EXAMPLES["worked"]}
CLAIMS = {one["id"]: one for one in EXAMPLES["claims"]}
README = BUILT / "README.md"
BEGIN, END = "<!-- table of worked examples: begin -->", "<!-- table of worked examples: end -->"
SMALLEST = 1e-12

Inputs = dict[str, Any]
Figures = dict[str, float]
Claims = Iterable[Any]

# One list at a time, with the functions that take plain lists.


def four_users(inputs: Inputs, mean: str, score: Callable[..., float]) -> Figures:
    """A figure for each row, and their mean."""
    rows = [(row["recommended"], row.get("relevance") or row["relevant"]) for row in inputs["rows"]]
    figures = {f"user{number}": float(score(*row)) for number, row in enumerate(rows, 1)}
    several = float(score([recommended for recommended, _ in rows], [relevant for _, relevant in rows]))
    assert several == pytest.approx(sum(figures.values()) / len(rows), abs=SMALLEST)
    return figures | {mean: several}


def rated_users(inputs: Inputs) -> Figures:
    figures = {}
    for name, score in {"dcg": recnb.dcg, "idcg": recnb.idcg, "ndcg": recnb.ndcg}.items():
        each = four_users(inputs, "mean", score)
        figures |= {f"{name}_{user}": value for user, value in each.items() if user != "mean"}
    return figures | {"mean_ndcg": each["mean"]}


def graded(inputs: Inputs, *names: str) -> Figures:
    return {name: float(getattr(recnb, name)(inputs["relevance"], k=inputs["k"])) for name in names}


def recommended(inputs: Inputs, *names: str, truth: str = "relevance") -> Figures:
    return {name: float(getattr(recnb, name)(inputs["recommended"], inputs[truth], k=inputs["k"])) for name in names}


def mean_ndcg(inputs: Inputs) -> Figures:
    lists, truths = ([case[side] for case in inputs["cases"]] for side in ("recommended", "relevance"))
    return {"mean_ndcg": float(recnb.ndcg(lists, truths, k=inputs["k"]))}


FROM_LISTS: dict[str, Callable[[Inputs], Figures]] = {
    "dcg-1": lambda inputs: recommended(inputs, "dcg"), "ndcg-1": lambda inputs: recommended(inputs, "ndcg"),
    "idcg-1": lambda inputs: graded(inputs, "idcg"), "idcg-2": lambda inputs: graded(inputs, "idcg"),
    "mean-ndcg-1": mean_ndcg,
    "precision-recall-1": lambda inputs: recommended(inputs, "precision", "recall", truth="relevant"),
    "ndcg-six-documents": lambda inputs: graded(inputs, "cg", "dcg", "idcg", "ndcg"),
    "rr-ordered": lambda inputs: four_users(inputs, "mrr", partial(recnb.reciprocal_rank, target="preferred")),
    "rr-unordered": lambda inputs: four_users(inputs, "mrr", recnb.reciprocal_rank),
    "ap-map": lambda inputs: four_users(inputs, "map", recnb.average_precision),
    "ndcg-users": rated_users,
    "dcg-three": lambda inputs: graded(inputs, "dcg", "idcg", "ndcg"),
}  # fmt: skip


def frame(inputs: Inputs) -> recnb.Evaluation:
    """The same from lists in the cells of a frame."""
    rows = [(row["user"], row["recommended"], row.get("relevance") or row["relevant"]) for row in inputs["rows"]]
    return pd.DataFrame(rows, columns=["user", "recommended", "relevant"]).rec.evaluation()


@pytest.mark.parametrize("name", FROM_LISTS)
def test_worked(name: str) -> None:
    """The figures are the derived ones, and agree with the printed ones exactly where that is recorded."""
    example = WORKED[name]
    figures = FROM_LISTS[name](example["inputs"])
    assert set(figures) == set(example["derived"]) == set(example["printed"]) == set(example["agrees"])
    for figure, value in figures.items():
        assert value == pytest.approx(example["derived"][figure], abs=SMALLEST), figure
        rounds_to_it = abs(value - example["printed"][figure]) <= 0.5 * 10 ** -example["digits"] + SMALLEST
        assert rounds_to_it is example["agrees"][figure], figure


def test_dcg_speed() -> None:
    """Walking the list gives the DCG that looking up the liked items does, on 20,000 items instead of ten million."""
    inputs, chance = WORKED["dcg-speed"]["inputs"], random.Random(5)
    ranking = chance.sample(range(inputs["n_items"] // 500), inputs["n_items"] // 500)
    liked = {item: chance.randint(1, 5) for item in chance.sample(ranking, inputs["n_liked"])}
    walked = sum(liked.get(item, 0) / log2(rank + 1) for rank, item in enumerate(ranking, 1))
    assert recnb.dcg(ranking, liked) == pytest.approx(walked, abs=SMALLEST)
    assert WORKED["dcg-speed"]["derived"] == WORKED["dcg-speed"]["printed"]


# The claims, each put to the test: what holds if it is true, or as false as the verdict says.


def close(expected: Any) -> Any:
    return pytest.approx(expected, abs=1e-10)


GRADES, SWAPPED, TENFOLD = [3, 2, 3, 0, 1, 2], [3, 2, 0, 3, 1, 2], [30, 20, 30, 0, 10, 20]
LISTS = [["a", "b", "x", "y"], ["x", "a", "y", "b"], ["x", "y", "a", "b"]]
HALVES = pd.DataFrame({"user": ["Mina", "Jun", "Sora"], "recommended": LISTS, "relevant": [["a", "b"]] * 3})
JUDGED = WORKED["idcg-2"]["inputs"]["relevance"]
ONE_HIT = [[0] * (rank - 1) + [1] for rank in range(1, 50)]
PRINTED = {value for one in WORKED.values() for value in one["printed"].values()}


def log_base() -> Claims:
    for options, base in itertools.product(({}, {"gain": "exponential"}), (e, 10)):
        yield recnb.ndcg(GRADES, log_base=base, **options) == close(recnb.ndcg(GRADES, **options))
        yield recnb.dcg(GRADES, log_base=base, **options) == close(log2(base) * recnb.dcg(GRADES, **options))
    yield recnb.dcg(GRADES, log_base=10) == close(sum(grade / log10(i + 1) for i, grade in enumerate(GRADES, 1)))
    yield round(recnb.ndcg(GRADES, gain="exponential", log_base=e), 6) == 0.948811


def dcg_range() -> Claims:
    ev = frame(WORKED["ndcg-users"]["inputs"])
    yield ev.ndcg().per_user.between(0, 1).all()
    yield round(ev.dcg().per_user["사용자4"], 4) == 6.3157


def hit_rate() -> Claims:
    inputs = WORKED["rr-unordered"]["inputs"]
    ev = frame(inputs)
    hits = [len(set(row["recommended"][:2]) & set(row["relevant"])) for row in inputs["rows"]]
    yield ev.recall(k=2).per_user.tolist() == [
        n / len(row["relevant"]) for n, row in zip(hits, inputs["rows"], strict=True)
    ]
    yield ev.precision(k=2).per_user.tolist() == [n / 2 for n in hits]
    yield ev.hit_rate(k=2).per_user.tolist() == [float(n > 0) for n in hits]
    yield (round(ev.recall(k=2), 4), ev.precision(k=2), ev.hit_rate(k=2), ev.hit_rate(k=1)) == (0.5833, 0.5, 1.0, 0.5)


def idcg_bound() -> Claims:
    best = sorted(JUDGED, key=JUDGED.__getitem__, reverse=True)
    for k, ranking in itertools.product((1, 2, 3, 4, 5), (best, best[::-1], ["A", "B", "C"])):
        yield 0 <= recnb.dcg(ranking, JUDGED, k=k) <= recnb.idcg(JUDGED, k=k) + SMALLEST
    yield recnb.dcg(best, JUDGED) > recnb.idcg(JUDGED, k=3)
    for refuse in (lambda: recnb.dcg([-1]), lambda: recnb.ndcg(["A"], {"A": -1, "B": 1})):
        with pytest.raises(recnb.errors.RecnbError, match="-1"):  # a negative DCG has no upper bound in the ideal
            refuse()


def argsort() -> Claims:
    scores = np.array([0.2, 0.9, 0.5, 0.7])
    yield scores.argsort().tolist() == [0, 2, 3, 1]  # the worst comes first
    for item, rank in {1: 1, 3: 2, 2: 3, 0: 4}.items():
        test = sp.csr_matrix(([1.0], ([0], [item])), shape=(1, 4))
        found = recnb.evaluate_model(lambda user: scores, test, k=4, metrics=["reciprocal_rank"])
        yield found.loc["reciprocal_rank", 4] == 1 / rank


def short_list() -> Claims:
    asked = [WORKED["ndcg-1"]["inputs"][side] for side in ("recommended", "relevance")]
    yield [round(recnb.ndcg(*asked, k=k), 6) for k in (None, 3, 5)] == [0.604888, 0.604888, 0.568182]
    yield [round(recnb.ndcg(*asked, k=k, ideal="min(k, list)"), 6) for k in (None, 3, 5)] == [0.604888] * 3
    yield recnb.ndcg(*asked, k=1, ideal="min(k, list)") == recnb.ndcg(*asked, k=1)
    found = recnb.evaluate({"u": asked[0]}, {"u": asked[1]}).identify("ndcg", "0.6049", k=5)
    yield {*found["fit"]} == {"one of the nearest"}  # no convention of a library


def nothing_relevant() -> Claims:
    lists, truths = [["A"], ["B"]], [{"A": 1}, {}]
    counted = recnb.ndcg(lists, truths)
    left_out = pd.DataFrame({"user": [1, 2], "recommended": lists, "relevant": truths}).rec.ndcg()
    yield (counted, left_out) == (0.5, 1.0)
    yield "1 list with no relevant item counts 0" in repr(counted)
    yield "1 with no relevant item left out" in repr(left_out)


def unsupervised() -> Claims:
    """Other labels, another model: what it is to predict is given for training."""
    features = np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0], [0.5, 1.0]])
    for weights in ([4.0, 1.0], [1.0, 5.0]):
        yield np.linalg.lstsq(features, features @ weights, rcond=None)[0] == close(weights)


LONGER = (log_base, dcg_range, hit_rate, idcg_bound, argsort, short_list, nothing_relevant, unsupervised)
TESTED_CLAIMS: dict[str, Callable[[], Claims]] = {
    **{f"claim-{test.__name__.replace('_', '-')}": test for test in LONGER},
    "claim-binary-forms": lambda: [
        *(recnb.dcg([*row]) == recnb.dcg([*row], gain="exponential") for row in itertools.product((0, 1), repeat=5)),
        recnb.dcg([2, 1]) != recnb.dcg([2, 1], gain="exponential"),
    ],
    "claim-average-precision": lambda: [
        (HALVES.rec.precision(k=4).per_user == 0.5).all(),
        HALVES.rec.average_precision(k=4) == close((1 + 1 / 2 + (1 / 3 + 2 / 4) / 2) / 3),
    ],
    "claim-comparable": lambda: [
        recnb.dcg(TENFOLD) == close(10 * recnb.dcg(GRADES)),
        recnb.ndcg(TENFOLD) == close(recnb.ndcg(GRADES)),
        abs(recnb.ndcg(TENFOLD, gain="exponential") - recnb.ndcg(GRADES, gain="exponential")) > 0.01,
    ],
    "claim-ap-over-k": lambda: [
        recnb.average_precision(["a", "x", "b"], ["a", "b"], k=3) == close((1 + 2 / 3) / 2),
        sum(recnb.precision(["a", "x", "b"], ["a", "b"], k=k) for k in (1, 2, 3)) / 3 == close((1 + 1 / 2 + 2 / 3) / 3),
    ],
    "claim-unlimited-list": lambda: [
        getattr(recnb, name)(list(range(1, 21)), [7, 15]) == value
        for name, value in {"recall": 1, "precision": 0.1, "hit_rate": 1}.items()
    ],
    "claim-likes": lambda: [
        score(["B", "A"], {"A": 1, "B": 0}) == score(["C", "A"], {"A": 1, "B": 0})
        for score in (recnb.dcg, recnb.ndcg, recnb.precision, recnb.average_precision)
    ],
    "claim-partial-feedback": lambda: [
        round(recnb.ndcg(["A"], {"A": 3, "B": 2, "C": 1}, k=3), 4) == round(3 / 4.7619, 4) == 0.63,
        recnb.ndcg(["A"], {"A": 3}, k=3) == 1,
    ],
    "claim-swap": lambda: [
        recnb.cg(GRADES) == recnb.cg(SWAPPED),
        (round(recnb.dcg(GRADES), 5), round(recnb.dcg(SWAPPED), 5)) == (6.86113, 6.65316),
        not {round(6.65316, digits) for digits in (2, 3, 4, 5)} & PRINTED,
    ],
    "claim-rank-denominator": lambda: [
        [round(1 / recnb.dcg(row, discount=how), 3) for row in ONE_HIT[:3]] == [1, *divisors]
        for how, divisors in (("log", [1.585, 2]), ("rank", [2, 3]))
    ],
    "claim-more-likes": lambda: [round(recnb.dcg([1] * n), 4) == dcg and recnb.ndcg([1] * n) == 1 for n, dcg in ((1, 1), (3, 2.1309))],
    "claim-log-penalty": lambda: [recnb.dcg(row) * log2(len(row) + 1) == close(1) for row in ONE_HIT],
    "claim-useful": lambda: [
        recnb.ndcg([0.1, 0.1]) == recnb.ndcg([3, 2, 1]) == 1,
        (round(recnb.dcg([0.1, 0.1]), 4), round(recnb.dcg([3, 2, 1]), 4)) == (0.1631, 4.7619),
    ],
    "claim-position-words": lambda: [recnb.dcg(row) > recnb.dcg(lower) for row, lower in pairwise(ONE_HIT)],
}  # fmt: skip


@pytest.mark.parametrize("name", TESTED_CLAIMS)
def test_claim(name: str) -> None:
    holds = list(TESTED_CLAIMS[name]())
    assert holds == [True] * len(holds) != []


# Where each is shown.


#: Folders of notebooks, one for each language.
FOLDERS = [folder for folder in (BUILT, BUILT / "ko") if list(folder.glob("*.ipynb"))]


def places(folder: Path) -> dict[str, list[tuple[str, int]]]:
    """For each id, the code cells tagged with it: notebook and number, from 0."""
    found: dict[str, list[tuple[str, int]]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        for number, cell in enumerate(code):
            for tag in cell.metadata.get("tags", []):
                if tag in WORKED or tag.startswith("claim-"):
                    found.setdefault(tag, []).append((path.name, number))
    return found


def name_of_test(name: str) -> str:
    """The test of an id, as pytest names it."""
    return "test_dcg_speed" if name == "dcg-speed" else f"test_{'claim' if name in CLAIMS else 'worked'}[{name}]"


def table() -> str:
    """The table of notebooks/README.md."""
    lines = [BEGIN, "| item | what | notebook | cell | test |", "|---|---|---|---|---|"]
    shown = places(BUILT)
    for name, one in {**WORKED, **CLAIMS}.items():
        for notebook, number in shown.get(name, []):
            what = one.get("what") or f"{one['claim']} *{one['verdict'][0].upper()}{one['verdict'][1:]}.*"
            lines.append(f"| `{name}` | {what} | [{notebook[:2]}]({notebook}) | {number} | `{name_of_test(name)}` |")
    return "\n".join([*lines, END])


def test_every_example_is_tested() -> None:
    assert set(WORKED) == {*FROM_LISTS, "dcg-speed"}
    assert set(CLAIMS) == set(TESTED_CLAIMS)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_example_is_shown_once(folder: Path) -> None:
    shown = places(folder)
    assert set(shown) == {*WORKED, *CLAIMS}
    assert {name: cells for name, cells in shown.items() if len(cells) != 1} == {}


def test_readme_of_the_notebooks_names_the_cells() -> None:
    text = README.read_text(encoding="utf-8")
    assert table() in text, "type: python -m tests.metrics.test_worked_examples"
    assert [name for name in sorted(path.name for path in BUILT.glob("*.ipynb")) if f"]({name})" not in text] == []


if __name__ == "__main__":
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(before + table() + rest.split(END)[1], encoding="utf-8")
