"""What results show, held against files: after a change of words, `python -m tests.results.test_shown` writes them and git shows the difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recnb

SHOWN = Path(__file__).parent / "shown"
SAMPLE = recnb.datasets.load_sample()
KNN, TEST = SAMPLE.models["item-knn"], SAMPLE.test
EV = recnb.evaluate(KNN, TEST, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)
FOUND = recnb.compare(SAMPLE.recommendations, TEST, baseline="popular", users=SAMPLE.users)
BY = (EV.ndcg(k=10).per_user > 0.3).map({True: "some", False: "none"})
MODELS = {"ndcg": SAMPLE.models["popular"], "recall": SAMPLE.models["factors"]}  # names of metrics

TABLES: dict[str, recnb.Table] = {
    "table": EV.table(k=[5, 10, None]), "intervals": EV.table(["ndcg", "coverage"], k=[5, None], intervals=True), "options": EV.table(["dcg", "P@5"], gain="exponential"),
    "by segment": EV.table("ndcg", k=10, by="segment"), "small p": EV.table(["map"], by=BY, k=None), "measures": EV.measures(["nDCG@10", "AP(rel=4)", "gini@5"]),
    "items": EV.items(k=10), "beyond": EV.beyond(k=5), "curve": EV.curve("ndcg", k=[1, 5]), "user": EV.user("u026", k=10),
    "nobody": recnb.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}).user(2), "as a library": EV.under("trec").table(["ndcg", "err"], k=5),
    "models": FOUND.table(["ndcg", "map"], k=[5, 10]), "models by segment": FOUND.table("ndcg", k=10, by="segment"), "named as metrics": recnb.compare(MODELS, TEST).table("ndcg", k=10),
}  # fmt: skip

#: a: an ordinary list. b: no hit. d: gaps in the ranks. e: one long list. f: no list, and nothing relevant.
LISTS = {"a": {1: 10, 2: 11, 3: 12, 4: 13}, "b": {1: 20, 2: 21}, "d": {2: 30, 5: 31, 6: 32}, "e": {rank: rank for rank in range(1, 101)}}  # fmt: skip
ROWS = [(user, item, rank) for user, ranked in LISTS.items() for rank, item in ranked.items()]
RELEVANT = {"a": {13: 3, 10: 1, 99: 2}, "b": {77: 1, 78: 2}, "d": {32: 2, 30: 2}, "e": {item: 1 + item % 3 for item in range(1, 120, 2)}, "f": {5: 0}}  # fmt: skip
LISTED = recnb.evaluate(pd.DataFrame(ROWS, columns=["user", "item", "rank"]), RELEVANT)
ONE = recnb.evaluate(pd.DataFrame(ROWS, columns=["user", "item", "rank"]), RELEVANT, no_relevant="one", averaged_users="union")  # fmt: skip
TITLES = recnb.evaluate({"u": [1580, 7]}, {"u": [7, 9]}, items=pd.DataFrame({"item": [1580, 7, 9], "Title": ["Men <in> Black", "Up", "Coco"]}), train={"u": [7]})  # fmt: skip
LARGE = recnb.evaluate({"u": ["a", "b", "c"]}, {"u": {"a": 1_234_567.5, "b": 1e-5, "c": 11}})

RESULTS: dict[str, Any] = {
    "score": EV.ndcg(k=5), "of one list": recnb.ndcg([1, 0, 2]), "of all lists": EV.coverage(k=5), "interval": EV.map().interval(0.9, "t"), "of few": recnb.ndcg([1, 0]).interval(),
    "evaluation": EV, "ndcg": LISTED.explain("ndcg", "a", k=4), "no hit": LISTED.explain("ndcg", "b", k=2), "gaps": LISTED.explain("map", "d", k=6), "long": LISTED.explain("ndcg", "e"),
    "cut": LISTED.explain("recall", "e", k=1), "ideal alone": LISTED.explain("idcg", "d", k=3), "by convention": ONE.explain("ndcg", "f", k=2), "titles": TITLES.explain("ndcg", "u", k=2),
    "novelty": TITLES.explain("novelty", "u", k=2), "large": LARGE.explain("dcg", "u", gain="linear"), "coverage": EV.explain("coverage", k=2), "calibration": EV.explain("calibration", "u026", k=3),
    "judged": recnb.evaluate({"q": ["b", "c", "a"]}, {"q": {"a": 1, "b": 0, "d": 1}}).explain("Bpref", "q"), "grades": recnb.explain("ndcg", [3, 0, 2], k=2),
    "in Korean": EV.explain("ndcg", "u026", k=3, lang="ko"),
}  # fmt: skip


def written(shown: dict[str, Any], form: Callable[[Any], str]) -> str:
    return "".join(f"== {name}\n{form(result)}\n\n" for name, result in shown.items())


FILES: dict[str, Callable[[], str]] = {
    "tables.txt": lambda: written(TABLES, repr),
    "tables.md": lambda: written(TABLES, lambda table: table.to_markdown()),
    "tables.tex": lambda: written(TABLES, lambda table: table.to_latex()),
    "results.txt": lambda: written(RESULTS, repr),
}


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file: str) -> None:
    assert FILES[file]() == (SHOWN / file).read_text("utf-8")


if __name__ == "__main__":
    SHOWN.mkdir(exist_ok=True)
    for file, text in FILES.items():
        (SHOWN / file).write_text(text(), "utf-8")
