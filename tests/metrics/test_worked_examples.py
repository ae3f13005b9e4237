"""The worked examples of five textbook articles, recomputed; their claims, tested; and where the notebooks show each.

`worked_examples.json` holds every figure as an article prints it and as the definition gives it. After a change of the
notebooks, `python -m tests.metrics.test_worked_examples` writes the table of notebooks/README.md anew.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import e, log2, log10
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from nbformat import NotebookNode

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

# One list at a time, with the functions that take plain lists.


def four_users(inputs: Inputs, mean: str, score: Callable[..., float]) -> Figures:
    """A figure for each row, and their mean."""
    rows = [(row["recommended"], row.get("relevance") or row["relevant"]) for row in inputs["rows"]]
    figures = {f"user{number}": float(score(*row)) for number, row in enumerate(rows, 1)}
    several = float(score([recommended for recommended, _ in rows], [relevant for _, relevant in rows]))
    assert several == pytest.approx(sum(figures.values()) / len(rows), abs=SMALLEST)
    return figures | {mean: several}


def preferred_rank(*rows: Any) -> float:
    return recnb.reciprocal_rank(*rows, target="preferred")


def rated_users(inputs: Inputs) -> Figures:
    figures = {}
    for name, score in {"dcg": recnb.dcg, "idcg": recnb.idcg, "ndcg": recnb.ndcg}.items():
        each = four_users(inputs, "mean", score)
        figures |= {f"{name}_{user}": value for user, value in each.items() if user != "mean"}
    return figures | {"mean_ndcg": each["mean"]}


def graded(inputs: Inputs, *names: str) -> Figures:
    return {name: float(getattr(recnb, name)(inputs["relevance"], k=inputs["k"])) for name in names}


def recommended(inputs: Inputs, name: str) -> Figures:
    return {name: float(getattr(recnb, name)(inputs["recommended"], inputs["relevance"], k=inputs["k"]))}


def cases(inputs: Inputs) -> Figures:
    lists, truths = zip(*((case["recommended"], case["relevance"]) for case in inputs["cases"]), strict=True)
    return {"mean_ndcg": float(recnb.ndcg(lists, truths, k=inputs["k"]))}


def precision_recall(inputs: Inputs) -> Figures:
    shown, liked, k = inputs["recommended"], inputs["relevant"], inputs["k"]
    assert (len(liked), len(set(shown[:k]) & set(liked))) == (inputs["n_relevant"], inputs["n_hits"])
    return {"precision": float(recnb.precision(shown, liked, k=k)), "recall": float(recnb.recall(shown, liked, k=k))}


FROM_LISTS: dict[str, Callable[[Inputs], Figures]] = {
    "dcg-1": lambda inputs: recommended(inputs, "dcg"),
    "idcg-1": lambda inputs: graded(inputs, "idcg"),
    "idcg-2": lambda inputs: graded(inputs, "idcg"),
    "ndcg-1": lambda inputs: recommended(inputs, "ndcg"),
    "mean-ndcg-1": cases,
    "precision-recall-1": precision_recall,
    "ndcg-six-documents": lambda inputs: graded(inputs, "cg", "dcg", "idcg", "ndcg"),
    "rr-ordered": lambda inputs: four_users(inputs, "mrr", preferred_rank),
    "rr-unordered": lambda inputs: four_users(inputs, "mrr", recnb.reciprocal_rank),
    "ap-map": lambda inputs: four_users(inputs, "map", recnb.average_precision),
    "ndcg-users": rated_users,
    "dcg-three": lambda inputs: graded(inputs, "dcg", "idcg", "ndcg"),
}


# The same from frames: lists in the cells of one frame, or two long frames.


def rows_of(inputs: Inputs) -> list[tuple[str, list[str], Any]]:
    """User, list and relevant items of each row; a single list is one user."""
    rows = inputs.get("rows") or inputs.get("cases") or [inputs]
    return [
        (row.get("user", f"case {at}"), row["recommended"], row.get("relevance") or row["relevant"])
        for at, row in enumerate(rows)
    ]


def list_frame(inputs: Inputs) -> recnb.Evaluation:
    return pd.DataFrame(rows_of(inputs), columns=["user", "recommended", "relevant"]).rec.evaluation()


def long_frames(inputs: Inputs) -> recnb.Evaluation:
    rows = rows_of(inputs)
    recs = pd.DataFrame(
        [(user, item, rank) for user, shown, _ in rows for rank, item in enumerate(shown, 1)],
        columns=["user", "item", "rank"],
    )
    grades = [
        (user, item, relevant[item] if isinstance(relevant, dict) else 1)
        for user, _, relevant in rows
        for item in relevant
    ]
    return recs.rec.against(pd.DataFrame(grades, columns=["user", "item", "relevance"]))


def figures_of(ev: recnb.Evaluation, mean: str, score: recnb.Score, prefix: str = "") -> Figures:
    """The values of the users by number, and the mean."""
    assert list(score.per_user.index) == list(ev.users)
    return {f"{prefix}user{number}": value for number, value in enumerate(score.per_user, 1)} | {mean: float(score)}


def of_rated_users(ev: recnb.Evaluation, k: int | None) -> Figures:
    figures = figures_of(ev, "", ev.dcg(k=k), "dcg_") | figures_of(ev, "", ev.idcg(k=k), "idcg_")
    figures |= figures_of(ev, "mean_ndcg", ev.ndcg(k=k), "ndcg_")
    return {name: value for name, value in figures.items() if name}


FROM_FRAMES: dict[str, Callable[[recnb.Evaluation, int | None], Figures]] = {
    "dcg-1": lambda ev, k: {"dcg": ev.dcg(k=k)},
    "ndcg-1": lambda ev, k: {"ndcg": ev.ndcg(k=k)},
    "mean-ndcg-1": lambda ev, k: {"mean_ndcg": ev.ndcg(k=k)},
    "precision-recall-1": lambda ev, k: {"precision": ev.precision(k=k), "recall": ev.recall(k=k)},
    "rr-ordered": lambda ev, k: figures_of(ev, "mrr", ev.reciprocal_rank(k=k, target="preferred")),
    "rr-unordered": lambda ev, k: figures_of(ev, "mrr", ev.mrr(k=k)),
    "ap-map": lambda ev, k: figures_of(ev, "map", ev.map(k=k)),
    "ndcg-users": of_rated_users,
}


def agree(figures: Figures, example: dict[str, Any]) -> None:
    """The figures are the derived ones, and agree with the printed ones exactly where that is recorded."""
    assert set(figures) == set(example["derived"]) == set(example["printed"]) == set(example["agrees"])
    for name, value in figures.items():
        assert value == pytest.approx(example["derived"][name], abs=SMALLEST), name
        rounds_to_it = abs(value - example["printed"][name]) <= 0.5 * 10 ** -example["digits"] + SMALLEST
        assert rounds_to_it is example["agrees"][name], name


@pytest.mark.parametrize("name", FROM_LISTS)
def test_worked(name: str) -> None:
    agree(FROM_LISTS[name](WORKED[name]["inputs"]), WORKED[name])


@pytest.mark.parametrize("frames", [list_frame, long_frames])
@pytest.mark.parametrize("name", FROM_FRAMES)
def test_worked_from_frames(name: str, frames: Callable[[Inputs], recnb.Evaluation]) -> None:
    inputs = WORKED[name]["inputs"]
    agree(
        {figure: float(value) for figure, value in FROM_FRAMES[name](frames(inputs), inputs.get("k")).items()},
        WORKED[name],
    )


def test_everything_with_lists_is_also_tested_from_frames() -> None:
    with_lists = {name for name, one in WORKED.items() if {"rows", "cases", "recommended"} & set(one["inputs"])}
    assert with_lists == set(FROM_FRAMES)


def test_dcg_speed() -> None:
    """Walking the list and looking up the liked items give the same DCG, on 200,000 items instead of ten million."""
    inputs = WORKED["dcg-speed"]["inputs"]
    chance, n_items = random.Random(5), inputs["n_items"] // 50
    ranking = chance.sample(range(n_items), n_items)
    liked = {item: chance.randint(1, 5) for item in chance.sample(range(n_items), inputs["n_liked"])}

    walked = sum(liked.get(item, 0) / log2(rank + 1) for rank, item in enumerate(ranking, 1))
    rank_of = {item: rank for rank, item in enumerate(ranking, 1)}
    looked_up = sum(stars / log2(rank_of[item] + 1) for item, stars in liked.items())

    assert looked_up == pytest.approx(walked, abs=SMALLEST)
    assert recnb.dcg(ranking, liked) == pytest.approx(walked, abs=SMALLEST)
    assert WORKED["dcg-speed"]["derived"] == WORKED["dcg-speed"]["printed"]


def test_what_the_notes_say() -> None:
    """Figures that articles give in passing."""
    grades = WORKED["ndcg-six-documents"]["inputs"]["relevance"]
    assert [round(grade / log2(i + 1), 3) for i, grade in enumerate(grades, 1)] == [3, 1.262, 1.5, 0, 0.387, 0.712]
    judged = WORKED["idcg-2"]["inputs"]["relevance"]
    assert round(recnb.dcg(["A", "B", "C"], judged) / recnb.idcg(judged), 4) == 0.5682
    printed = WORKED["ndcg-users"]["printed"]
    others = [printed[f"ndcg_user{number}"] for number in (2, 3, 4)]
    assert (
        round((0.6753 + sum(others)) / 4, 4)
        == printed["mean_ndcg"]
        != round((printed["ndcg_user1"] + sum(others)) / 4, 4)
    )


# The claims, each put to the test.


def claim_binary_forms() -> None:
    chance = np.random.default_rng(1)
    for _ in range(20):
        grades = chance.integers(0, 2, 8).tolist()
        assert recnb.dcg(grades) == recnb.dcg(grades, gain="exponential")
    assert recnb.dcg([2, 1]) != recnb.dcg([2, 1], gain="exponential")


def claim_log_base() -> None:
    grades = [3, 2, 3, 0, 1, 2]
    for gain in ("linear", "exponential"):
        for base, per_bit in ((e, log2(e)), (10, log2(10))):
            assert recnb.ndcg(grades, gain=gain, log_base=base) == pytest.approx(
                recnb.ndcg(grades, gain=gain), abs=SMALLEST
            )
            assert recnb.dcg(grades, gain=gain, log_base=base) == pytest.approx(
                per_bit * recnb.dcg(grades, gain=gain), abs=1e-10
            )
    assert recnb.dcg(grades, log_base=10) == pytest.approx(
        sum(grade / log10(i + 1) for i, grade in enumerate(grades, 1)), abs=1e-10
    )
    assert round(recnb.ndcg(grades, gain="exponential", log_base=e), 6) == 0.948811


def claim_dcg_range() -> None:
    ev = list_frame(WORKED["ndcg-users"]["inputs"])
    assert ev.ndcg().per_user.between(0, 1).all()
    assert round(ev.dcg().per_user["사용자4"], 4) == 6.3157
    assert recnb.METRICS["ndcg"].bounds == (0, 1)
    assert recnb.METRICS["dcg"].bounds == (0, float("inf"))


def claim_hit_rate() -> None:
    inputs = WORKED["rr-unordered"]["inputs"]
    ev, k = list_frame(inputs), 2
    both = [(len(set(row["recommended"][:k]) & set(row["relevant"])), len(row["relevant"])) for row in inputs["rows"]]
    assert ev.recall(k=k).per_user.tolist() == [n / liked for n, liked in both]
    assert ev.precision(k=k).per_user.tolist() == [n / k for n, _ in both]
    assert ev.hit_rate(k=k).per_user.tolist() == [float(n > 0) for n, _ in both]
    assert (round(ev.recall(k=k), 4), ev.precision(k=k), ev.hit_rate(k=k), ev.hit_rate(k=1)) == (0.5833, 0.5, 1.0, 0.5)


def claim_idcg_bound() -> None:
    judged = WORKED["idcg-2"]["inputs"]["relevance"]
    best = sorted(judged, key=judged.__getitem__, reverse=True)
    for k in (1, 2, 3, 4, 5):
        for ranking in (best, best[::-1], ["A", "B", "C"]):
            assert 0 <= recnb.dcg(ranking, judged, k=k) <= recnb.idcg(judged, k=k) + SMALLEST
    assert recnb.dcg(best, judged) > recnb.idcg(judged, k=3)
    assert -1 / log2(2) < 0, "DCG of one disliked item on top; not shown, DCG is 0 and IDCG below it"
    for refuse in (lambda: recnb.dcg([-1]), lambda: recnb.ndcg(["A"], {"A": -1, "B": 1})):
        with pytest.raises(recnb.errors.RecnbError, match="-1"):
            refuse()


def claim_average_precision() -> None:
    lists = [["a", "b", "x", "y"], ["x", "a", "y", "b"], ["x", "y", "a", "b"]]
    frame = pd.DataFrame({"user": ["Mina", "Jun", "Sora"], "recommended": lists, "relevant": [["a", "b"]] * 3})
    assert (frame.rec.precision(k=4).per_user == 0.5).all()
    assert frame.rec.average_precision(k=4) == pytest.approx((1 + 1 / 2 + (1 / 3 + 2 / 4) / 2) / 3, abs=SMALLEST)


def claim_argsort() -> None:
    scores = np.array([0.2, 0.9, 0.5, 0.7])

    class Fixed:
        """The same scores for everybody."""

        def predict(self, user: int) -> np.ndarray[Any, Any]:
            return scores

    assert scores.argsort().tolist() == [0, 2, 3, 1], "the worst comes first"
    for item, rank in {1: 1, 3: 2, 2: 3, 0: 4}.items():
        test = sp.csr_matrix(([1.0], ([0], [item])), shape=(1, 4))
        assert (
            recnb.evaluate_model(Fixed(), test, k=4, metrics=["reciprocal_rank"]).loc["reciprocal_rank", 4] == 1 / rank
        )


def claim_swap() -> None:
    before, after = [3, 2, 3, 0, 1, 2], [3, 2, 0, 3, 1, 2]
    assert recnb.cg(before) == recnb.cg(after)
    assert (round(recnb.dcg(before), 5), round(recnb.dcg(after), 5)) == (6.86113, 6.65316)
    printed = {value for one in WORKED.values() for value in one["printed"].values()}
    assert not {round(6.65316, digits) for digits in (2, 3, 4, 5)} & printed


def claim_short_list() -> None:
    inputs = WORKED["ndcg-1"]["inputs"]
    shown, judged = inputs["recommended"], inputs["relevance"]
    ours = {k: recnb.ndcg(shown, judged, k=k) for k in (None, 3, 5)}
    theirs = {k: recnb.ndcg(shown, judged, k=k, ideal="min(k, list)") for k in (None, 1, 3, 5)}
    assert [round(theirs[k], 6) for k in (None, 3, 5)] == [0.604888] * 3
    assert [round(ours[k], 6) for k in (None, 3, 5)] == [0.604888, 0.604888, 0.568182]
    assert theirs[1] == recnb.ndcg(shown, judged, k=1)
    assert {*list_frame(inputs).identify("ndcg", "0.6049", k=5)["fit"]} == {"one of the nearest"}, (
        "no convention of a library"
    )


def claim_nothing_relevant() -> None:
    lists, truths = [["A"], ["B"]], [{"A": 1}, {}]
    counted = recnb.ndcg(lists, truths)
    frame = pd.DataFrame({"user": [1, 2], "recommended": lists, "relevant": truths})
    assert (counted, frame.rec.ndcg()) == (0.5, 1.0)
    assert "1 list with no relevant item counts 0" in repr(counted)
    assert "1 with no relevant item left out" in repr(frame.rec.ndcg())


def claim_comparable() -> None:
    grades, tenfold = [3, 2, 3, 0, 1, 2], [30, 20, 30, 0, 10, 20]
    assert recnb.dcg(tenfold) == pytest.approx(10 * recnb.dcg(grades), abs=1e-10)
    assert recnb.ndcg(tenfold) == pytest.approx(recnb.ndcg(grades), abs=SMALLEST)
    assert abs(recnb.ndcg(tenfold, gain="exponential") - recnb.ndcg(grades, gain="exponential")) > 0.01


def claim_rank_denominator() -> None:
    one_hit = [[0] * (rank - 1) + [1] for rank in (1, 2, 3)]
    assert [round(1 / recnb.dcg(row), 3) for row in one_hit] == [1, 1.585, 2]
    assert [round(1 / recnb.dcg(row, discount="rank"), 3) for row in one_hit] == [1, 2, 3]


def claim_ap_over_k() -> None:
    shown, liked = ["a", "x", "b"], ["a", "b"]
    assert recnb.average_precision(shown, liked, k=3) == pytest.approx((1 + 2 / 3) / 2, abs=SMALLEST)
    mean = sum(recnb.precision(shown, liked, k=k) for k in (1, 2, 3)) / 3
    assert (round(recnb.average_precision(shown, liked, k=3), 4), round(mean, 4)) == (0.8333, 0.7222)


def claim_unsupervised() -> None:
    """Other labels, another model: what it is to predict is given for training."""
    features = np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0], [0.5, 1.0]])
    for weights in ([4.0, 1.0], [1.0, 5.0]):
        labels = features @ weights
        np.testing.assert_allclose(np.linalg.lstsq(features, labels, rcond=None)[0], weights)


def claim_unlimited_list() -> None:
    shown, liked = list(range(1, 21)), [7, 15]
    assert (recnb.recall(shown, liked), recnb.precision(shown, liked), recnb.hit_rate(shown, liked)) == (1, 0.1, 1)


def claim_more_likes() -> None:
    assert (recnb.dcg([1]), round(recnb.dcg([1, 1, 1]), 4)) == (1, 2.1309)
    assert recnb.ndcg([1]) == recnb.ndcg([1, 1, 1]) == 1


def claim_likes() -> None:
    for name in ("dcg", "ndcg", "precision", "average_precision"):
        score = getattr(recnb, name)
        assert score(["B", "A"], {"A": 1, "B": 0}) == score(["C", "A"], {"A": 1, "B": 0})


def claim_partial_feedback() -> None:
    assert round(recnb.ndcg(["A"], {"A": 3, "B": 2, "C": 1}, k=3), 4) == round(3 / 4.7619, 4) == 0.63
    assert recnb.ndcg(["A"], {"A": 3}, k=3) == 1


def claim_log_penalty() -> None:
    for rank in range(1, 50):
        assert recnb.dcg([0] * (rank - 1) + [1]) * log2(rank + 1) == pytest.approx(1, abs=SMALLEST)


def claim_useful() -> None:
    assert recnb.ndcg([0.1, 0.1]) == recnb.ndcg([3, 2, 1]) == 1
    assert (round(recnb.dcg([0.1, 0.1]), 4), round(recnb.dcg([3, 2, 1]), 4)) == (0.1631, 4.7619)


def claim_position_words() -> None:
    earned = [recnb.dcg([0] * (rank - 1) + [1]) for rank in range(1, 50)]
    assert all(lower < higher for higher, lower in pairwise(earned))


TESTED_CLAIMS: dict[str, Callable[[], None]] = {
    name.replace("_", "-"): test for name, test in list(globals().items()) if name.startswith("claim_")
}


@pytest.mark.parametrize("name", TESTED_CLAIMS)
def test_claim(name: str) -> None:
    TESTED_CLAIMS[name]()


# Where each is shown.


#: Folders of notebooks, one for each language.
FOLDERS = [folder for folder in (BUILT, BUILT / "ko") if list(folder.glob("*.ipynb"))]
#: The last line of a text above a tagged cell.
WORKED_LINE = re.compile(r"<small>worked: (.*)</small>$")
#: A row of `compare` as text: name, printed figure, computed figure, whether they agree.
COMPARED = re.compile(r"^.*\S\s+(-?\d+(?:\.\d+)?)\s+-?\d+\.\d+\s+\D.*$", re.M)


def cells_of(folder: Path) -> Iterator[tuple[str, int, NotebookNode, set[str]]]:
    """Each code cell: its notebook, its number there from 0, and the ids that it is tagged with."""
    for path in sorted(folder.glob("*.ipynb")):
        code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        for number, cell in enumerate(code):
            tags = {tag for tag in cell.metadata.get("tags", []) if tag in WORKED or tag.startswith("claim-")}
            yield path.name, number, cell, tags


def places(folder: Path) -> dict[str, list[tuple[str, int]]]:
    """For each id, the cells tagged with it: notebook and number."""
    found: dict[str, list[tuple[str, int]]] = {}
    for notebook, number, _cell, tags in cells_of(folder):
        for tag in tags:
            found.setdefault(tag, []).append((notebook, number))
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


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_examples_named_in_a_text_are_in_the_cell_below_it(folder: Path) -> None:
    """`<small>worked: id</small>` ends the text above a tagged cell."""
    for path in folder.glob("*.ipynb"):
        for above, cell in pairwise(nbformat.read(path, as_version=4).cells):
            named = [name for line in WORKED_LINE.findall(above.source) for name in line.split(", ")]
            assert not named or named == cell.metadata["tags"], path.name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_is_called_printed_is_printed(folder: Path) -> None:
    """Where a cell compares with printed figures, it is tagged with one worked example and shows its figures, all of them."""
    compared = set()
    for notebook, number, cell, tags in cells_of(folder):
        if re.search(r"(?<!\.)(?<!def )\bcompare\(", cell.source):
            (name,) = tags
            texts = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
            (table,) = [text for text in texts if re.match(r"\s+\S+ +recnb +\S+\n", text)]
            printed = [float(figure) for figure in COMPARED.findall(table)]
            assert sorted(printed) == sorted(WORKED[name]["printed"].values()), f"{notebook}, cell {number}"
            compared.add(name)
    assert compared == set(WORKED) - {"dcg-speed"}


def test_readme_of_the_notebooks_names_the_cells() -> None:
    text = README.read_text(encoding="utf-8")
    assert table() in text, "type: python -m tests.metrics.test_worked_examples"
    assert [name for name in sorted(path.name for path in BUILT.glob("*.ipynb")) if f"]({name})" not in text] == []


if __name__ == "__main__":
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(before + table() + rest.split(END)[1], encoding="utf-8")
