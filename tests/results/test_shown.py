"""What results show, held against files: after a change of words, `python -m
tests.results.test_shown` writes them and git shows the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb import LIST_METRICS
from recnb.report.report import Report
from tests.comparison import test_runs as over_splits
from tests.results import test_clustered as split
from tests.sample import SAMPLE

SHOWN = Path(__file__).parent / "shown"
KNN, TEST = SAMPLE.models["item-knn"], SAMPLE.test
EV = recnb.evaluate(
    KNN, TEST, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users
)
FOUND = recnb.compare(
    SAMPLE.recommendations, TEST, baseline="popular", users=SAMPLE.users
)
BY = (EV.ndcg(k=10).per_user > 0.3).map({True: "some", False: "none"})
MODELS = {
    "ndcg": SAMPLE.models["popular"],
    "recall": SAMPLE.models["factors"],
}  # names of metrics


def tables() -> dict[str, recnb.Table]:
    return {
        "table": EV.table(k=[5, 10, None]),
        "intervals": EV.table(["ndcg", "coverage"], k=[5, None], intervals=True),
        "options": EV.table(["dcg", "P@5"], gain="exponential"),
        "by segment": EV.table(["ndcg", "novelty"], k=10, by="segment"),
        "small p": EV.table(["map"], by=BY, k=None),
        "measures": EV.measures(["nDCG@10", "AP(rel=4)", "gini@5"]),
        "items": EV.items(k=10),
        "beyond": EV.beyond(k=5),
        "curve": EV.curve("ndcg", k=[1, 5]),
        "user": EV.user("u026", k=10),
        "nobody": recnb.evaluate({1: ["a"]}, {1: ["a"], 2: ["b"]}).user(2),
        "as a library": EV.under("trec").table(["ndcg", "err"], k=5),
        "models": FOUND.table(["ndcg", "map"], k=[5, 10]),
        "models by segment": FOUND.table("ndcg", k=10, by="segment"),
        "models against the best": recnb.compare(
            SAMPLE.models, TEST, pairs="all"
        ).table("ndcg", k=[5, 10], intervals=True),
        "named as metrics": recnb.compare(MODELS, TEST).table("ndcg", k=10),
    }


#: a: an ordinary list. b: no hit. c: no list. d: gaps in the ranks. e: one long list.
#: f: nothing relevant.
LISTS: dict[str, dict[int, int]] = {
    "a": {1: 10, 2: 11, 3: 12, 4: 13},
    "b": {1: 20, 2: 21},
    "c": {},
    "d": {2: 30, 5: 31, 6: 32},
    "e": {rank: rank for rank in range(1, 101)},
    "f": {1: 10},
}
RELEVANT: dict[str, dict[int, float]] = {
    "a": {13: 3, 10: 1, 99: 2},
    "b": {77: 1, 78: 2},
    "c": {10: 1},
    "d": {32: 2, 30: 2},
    "e": {item: 1 + item % 3 for item in range(1, 120, 2)},
    "f": {5: 0},
}
ROWS = [
    (user, item, rank)
    for user, ranked in LISTS.items()
    for rank, item in ranked.items()
]
RANKED = pd.DataFrame(ROWS, columns=["user", "item", "rank"])
LISTED, ONE = (
    recnb.evaluate(RANKED, RELEVANT),
    recnb.evaluate(RANKED, RELEVANT, no_relevant="one"),
)
TITLES = recnb.evaluate(
    {"u": [1580, 7]},
    {"u": [7, 9]},
    items=pd.DataFrame(
        {"item": [1580, 7, 9], "Title": ["Men <in> Black", "Up", "Coco"]}
    ),
    train={"u": [7]},
)
LARGE = recnb.evaluate(
    {"u": ["a", "b", "c"]}, {"u": {"a": 1_234_567.5, "b": 1e-5, "c": 11}}
)


def results() -> dict[str, Any]:
    return {
        "score": EV.ndcg(k=5),
        "of one list": recnb.ndcg([1, 0, 2]),
        "of all lists": EV.coverage(k=5),
        "interval": EV.map().interval(0.9),
        "of few": recnb.ndcg([1, 0]).interval(),
        "evaluation": EV,
        "ndcg": LISTED.explain("ndcg", "a", k=4),
        "no hit": LISTED.explain("ndcg", "b", k=2),
        "gaps": LISTED.explain("map", "d", k=6),
        "long": LISTED.explain("ndcg", "e"),
        "cut": LISTED.explain("recall", "e", k=1),
        "ideal alone": LISTED.explain("idcg", "d", k=3),
        "by convention": ONE.explain("ndcg", "f", k=2),
        "titles": TITLES.explain("ndcg", "u", k=2),
        "novelty": TITLES.explain("novelty", "u", k=2),
        "large": LARGE.explain("dcg", "u", gain="linear"),
        "coverage": EV.explain("coverage", k=2),
        "calibration": EV.explain("calibration", "u026", k=3),
        "judged": recnb.evaluate(
            {"q": ["b", "c", "a"]}, {"q": {"a": 1, "b": 0, "d": 1}}
        ).explain("Bpref", "q"),
        "grades": recnb.explain("ndcg", [3, 0, 2], k=2),
        "never cut": recnb.explain("ndcg", [3, 0, 2], k=1, ideal="all"),
        "ideal never cut": recnb.explain("idcg", [3, 0, 2], k=1, ideal="all"),
        "ideal of a truth": recnb.explain("idcg", {"a": 1, "b": 3}),
        "all terms": recnb.explain("cg", [1] * 12),
        "all rows": recnb.explain("cg", [1] * 30),
        "in Korean": EV.explain("ndcg", "u026", k=3, lang="ko"),
    }


# The line below a number, which says what it rests on

GAINS: dict[str, dict[str, Any]] = {
    "dcg": {"gain": "exponential"},
    "ndcg": {"gain": "linear"},
}
TIED = pd.DataFrame({"user": 1, "item": ["a", "b"], "score": 1.0})
APART = (
    pd.DataFrame({"user": ["u"], "item": ["ABC-1"], "rank": 1}),
    pd.DataFrame({"user": ["u"], "item": ["abc-1"]}),
)
NO_LISTS: Any = (
    {"a": ["x", "y"], "b": ["z"]},
    {"a": ["x"], "b": ["q"], "c": ["x"], "d": ["y"]},
)
RUN: Any = (
    {"u": {"a": 2.0, "b": 1.0}, "v": {"a": 1.0}},
    {"u": {"a": 1, "b": 2}, "v": {"a": 2}},
)
MORE: dict[str, Any] = {
    "relevant_from": 2,
    "averaged_users": "union",
    "judged_only": True,
}
#: Columns that are named by words and by numbers.
VECTORS = dict.fromkeys(["one", "two", 0, 1], 1.0)
NUMBERED = recnb.evaluate(
    KNN, TEST, items=pd.DataFrame({"item": SAMPLE.items["item"], **VECTORS})
)
#: Queries of labels; of the first no gain can be had, and some libraries count it all
#: the same.
GROUPS: Any = ([0, 0, 1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1, 0.3, 0.9], [2, 2, 2])


def evaluations() -> dict[str, recnb.Evaluation]:
    """Those of which all kinds of results are asked for their lines."""
    of_groups = {
        f"{library}, zeros {rule}": recnb.evaluate_groups(
            *GROUPS, convention=library, no_relevant=rule
        )
        for library in ("lightgbm", "xgboost")
        for rule in ("one", "zero", "skip")
    }
    return {
        "ties": recnb.evaluate(TIED, {1: ["b"]}),
        "other ties": recnb.evaluate(TIED, {1: ["b"]}, ties="item_desc"),
        "trec": EV.under("trec"),
        "evidently": EV.under("evidently"),
        "apart": recnb.evaluate(*APART),
        "apart, of Polars": recnb.evaluate(*map(pl.from_pandas, APART)),
        "not apart": recnb.evaluate(APART[0], APART[1].assign(item="ABC-1")),
        **{
            f"{library}, without a list": recnb.evaluate(*NO_LISTS).under(library)
            for library in ("recommenders", "rectools", "replay")
        },
        "threshold": recnb.evaluate(*RUN, convention="trec", relevant_from=2),
        "rule": recnb.evaluate(*RUN, convention="trec", no_relevant="one"),
        "more": recnb.evaluate(*RUN, convention="trec", **MORE),
        **of_groups,
    }


def lines() -> dict[str, list[Any]]:
    trec, ranx, users = (
        recnb.evaluate(KNN, TEST, convention="trec"),
        EV.under("ranx"),
        SAMPLE.train["user"] != "u026",
    )
    return {
        **{
            name: [
                ev.ndcg(k=2),
                ev.table(["ndcg", "map"], k=2),
                ev.measures(["nDCG@2", "AP"]),
                ev.at_least("ndcg", 0, k=2),
                ev.lint(k=2),
                ev.basis,
            ]
            for name, ev in evaluations().items()
        },
        "options": [
            EV.table(GAINS, k=5),
            EV.table(GAINS, k=5, by="segment"),
            EV.report(k=[5], metrics=GAINS),
            recnb.compare(SAMPLE.models, TEST).table(GAINS, k=5),
        ],
        "texts": [
            EV.measures(
                ["nDCG@5", "nDCG(dcg='exp-log2')@5", "RBP(p=0.5)@5", "RBP@5", "ERR@20"]
            ),
            EV.at_least("AP(rel=4)", 0.1),
            EV.at_least("novelty", 0.1, k=5),
        ],
        "scale": [
            ranx.err(k=20),
            ranx.table("err", k=20),
            EV.err(k=20),
            EV.table("err", k=20),
            EV.at_least("err", 0.1, k=20),
            EV.err(k=20, max_relevance=8),
        ],
        "lacking": [
            trec.err(k=5),
            trec.table(["ndcg", "err"], k=5),
            trec.measures(["ERR@5", "Bpref", "RR@1"]),
            trec.report(metrics=["ndcg", "err"], k=5),
            ranx.measures(["nDCG@2", "RBP@2", "cg@2"]),
        ],
        "compared": [
            recnb.compare({"a": APART[0], "b": APART[0]}, APART[1]).basis,
            recnb.compare(
                {"a": RUN[0], "b": RUN[0]}, RUN[1], convention="trec", **MORE
            ).basis,
        ],
        "beyond accuracy": [
            *(getattr(EV, name)(k=5) for name in LIST_METRICS),
            EV.novelty(k=5, cold="drop"),
            EV.coverage(population="catalogue+padding"),
            EV.coverage(count_only_catalogue=False),
            EV.coverage(normalize=False),
            EV.novelty(normalize=True),
            EV.novelty(normalize=np.bool_(True)),
            EV.tail_share(k=2, ratio=0.5),
            EV.calibration(k=2, alpha=np.float32(0.5)),
            NUMBERED.diversity(k=2, features=["one", "two"]),
            NUMBERED.diversity(k=2, features=[0, 1]),
            EV.table(["novelty", "ndcg"], k=5),
        ],
        "other frames": [
            recnb.evaluate(KNN, TEST, train=SAMPLE.train).coverage(k=5),
            recnb.evaluate(
                KNN, TEST, items=SAMPLE.items, train=SAMPLE.train[users]
            ).calibration(k=5),
        ],
        "metrics": [
            EV.rbp(p=0.5),
            EV.dcg(log_base=10),
            EV.mrr(target="preferred"),
            EV.map(out_of="hits"),
            EV.ndcg(ideal="list"),
            EV.ndcg(),
        ],
        "lists": [
            recnb.ndcg(["a"], ["a", "b"]),
            recnb.ndcg([["A"], ["B"]], [{"A": 1}, {}]),
            recnb.ndcg([["A"], ["B"]], [{"A": 1}, {"C": 1}]),
            recnb.ndcg(y_true=[3, 0], y_score=[0.5, 0.5]),
        ],
    }


# Users with several lists

#: Lists of one day are missing, and users have weights.
FEWER = split.RECS.query("day != 'd2' or user >= 'u20'")
WEIGHTED: dict[str, Any] = {
    "split": "day",
    "user_weight": {f"u{user:02}": user % 3 + 1 for user in range(40)},
}
#: The lists of one day, whose users are put together by topic.
OF_DAY, OTHER_OF_DAY, TRUTH_OF_DAY = (
    frame.query("day == 'd1'") for frame in (split.RECS, split.OTHER, split.TRUTH)
)
TOPICS: dict[str, Any] = {"users": split.TOPIC, "cluster": "topic"}


def drawn(ax: Any) -> str:
    return f"{ax.get_xlabel()} | {ax.get_ylabel()}"


def paired(n: int, **options: Any) -> Any:
    """Return the difference of stored values, of which three of four gain."""
    before = pd.Series(np.linspace(0.3, 0.5, n))
    steps = np.where(np.arange(n) % 4 < 3, 0.1, -0.1)
    if "cluster" in options:
        before = split.in_groups(before, pd.Series(np.arange(n) // 2), "household")
    return recnb.paired(before + steps, before, **options)


def lists_of_users() -> dict[str, Any]:
    ev, found, of_topics = split.EV, split.FOUND, split.BY_TOPIC
    weighted = recnb.evaluate(FEWER, split.TRUTH, **WEIGHTED)
    models = {"a": FEWER, "b": split.OTHER}
    of_models = recnb.compare(models, split.TRUTH, **WEIGHTED)
    graded = split.TRUTH.assign(relevance=1 + split.TRUTH["item"] % 2)
    by_relevance = recnb.compare(models, graded, split="day").table(["AP(rel=2)"])
    models = {"a": OF_DAY, "b": OTHER_OF_DAY}
    of_day = recnb.compare(models, TRUTH_OF_DAY, baseline="a", **TOPICS)
    return {
        "score": ev.ndcg(k=5),
        "gate of models": found.not_worse("ndcg", k=5),
        "movers": found.movers("ndcg", k=5, n=1),
        "overlap": found.overlap(5),
        "items": ev.items(k=5).attrs["basis"],
        "lint": ev.lint(k=5),
        "power": ev.detectable("ndcg", k=5),
        "drawn": drawn(ev.ndcg(k=5).plot()),
        "by relevance": by_relevance,
        "by topic, power": of_topics.detectable("ndcg", k=5),
        "by topic, drawn": drawn(of_topics.curve("ndcg", [1, 5]).plot()),
        "one day by topic": of_day.not_worse("ndcg", k=5),
        "one day by topic, differences": of_day.differences("ndcg", k=5),
        "one day by topic, gate": of_day["a"].at_least("ndcg", 0.01, k=5),
        "one day by topic, report": of_day.report(5),
        "weighted": weighted.ndcg(k=5).basis,
        "weighted, lint": weighted.lint(k=5),
        "weighted, by day": weighted.table("ndcg", k=5, by="day"),
        "weighted, models": of_models.basis,
        "over splits": over_splits.FOUND.runs("ndcg", k=5),
        "over splits, shared": over_splits.FOUND.runs("ndcg", k=5, test_share=0.2),
        **{
            f"over splits by {column}": over_splits.runs_over(column).notes[0]
            for column in over_splits.SPLITS
        },
        "stored, 5": paired(5),
        "stored, 12": paired(12),
        "stored, 2,000": paired(2_000),
        "stored, in clusters": paired(40, cluster="household"),
        **{
            f"report, {name}, {lang}": one.report(5, lang=lang).to_markdown()
            for name, one in {"one": ev, "several": found}.items()
            for lang in ("en", "ko")
        },
    }


# Relevant pairs with propensities, and users with weights

PROPENSITY = recnb.popularity_propensity(SAMPLE.train, 1.5, items=SAMPLE.items["item"])
#: Whose list a model serves has little weight.
SERVED = recnb.evaluate(SAMPLE.models["popular"], TEST).hit_rate(k=10).per_user
BY_HEADS: dict[str, Any] = {
    "user_weight": 10 - 9 * SERVED,
    "users": SAMPLE.users,
    "no_relevant": "skip",
}
WEEKS = TEST.assign(week=np.arange(len(TEST)) % 3)
BOTH_WEIGHTS: dict[str, Any] = {
    "propensity": PROPENSITY,
    "user_weight": pd.Series(np.arange(1.0, 301), SAMPLE.users["user"]),
    "averaged_users": "recs",
    "no_relevant": "zero",
}
#: Recall is 5/11 and 6/11 with propensities, 1/4 and 3/4 without; precision is 2.5 and
#: 0.5, 1/4 and 1/2.
RARE_OR_USUAL = {
    "rare": {"u": ["r", "x"], "v": ["x", "y"]},
    "usual": {"u": ["a", "x"], "v": ["b", "x"]},
}
TRUTH_OF_RARE = pd.DataFrame({"user": [*"uuv"], "item": [*"rab"], "p": [0.1, 1, 1]})


def weights() -> dict[str, Any]:
    popular = SAMPLE.models["popular"]
    ev = recnb.evaluate(popular, TEST, propensity=PROPENSITY, min_propensity=0.02)
    found = recnb.compare(SAMPLE.models, TEST, propensity=PROPENSITY)
    parts = recnb.evaluate(popular, WEEKS, **BOTH_WEIGHTS)
    two = {"a": popular, "b": SAMPLE.models["factors"]}
    rare = recnb.compare(RARE_OR_USUAL, TRUTH_OF_RARE, propensity="p")
    by_hand = recnb.evaluate(
        {"u": ["x", "a", "c"]},
        {"u": ["a", "b", "c"]},
        propensity={"a": 0.5, "b": 0.25, "c": 0.125},
    )
    return {
        "by hand": by_hand.explain("ndcg", "u", k=3),
        "basis": ev.ndcg(k=10).basis,
        "intervals": ev.table("ndcg", k=10, intervals=True),
        "report": ev.report(k=10).to_markdown(),
        "models": found.table("ndcg", k=10, intervals=True),
        "differences": found.differences("ndcg", k=10),
        "report of models": found.report(k=10).to_markdown(),
        "parts": parts.table(["precision", "dcg"], k=10, by="week").attrs["basis"],
        "all parts": parts.table(["precision", "dcg"], k=10).attrs["basis"],
        "by heads": recnb.evaluate(popular, TEST, **BY_HEADS).report(k=10),
        "models by heads": recnb.compare(two, TEST, **BY_HEADS).report(k=10),
        "rare or usual": rare.table(["recall", "precision"], k=2),
        "report of rare or usual": rare.report(k=2, metrics=["recall", "precision"]),
    }


def line_of(result: Any) -> str:
    """Return the line below a result of any kind, after the number of a score."""
    if isinstance(result, str):
        return result
    if isinstance(result, float):
        return repr(result)
    if isinstance(result, Report):
        return str(result.to_dict()["basis"])
    return str(
        result.attrs["basis"] if isinstance(result, pd.DataFrame) else result.basis
    )


def text_of(result: Any) -> str:
    """Return what a result shows, without the version and the date of a report."""
    if isinstance(result, str):
        return result.rpartition("\n\nrecnb ")[0] or result
    return repr(result)


def frames_of(explained: Any) -> str:
    """Return what an explanation holds beside its text, of each frame the first rows."""
    held = []
    for one in (explained.to_frame(), explained.ideal):
        if one is not None:
            rows = one.head(4).to_csv(index=False, float_format="%.6g")
            held.append(f"{len(one)} rows\n{rows}")
    names = ("label", "metric", "user", "k", "terms", "out_of_terms", "missed")
    held += [f"{name}: {getattr(explained, name)!r}" for name in names]
    return "\n".join([*held, explained.latex])


def explanations() -> dict[str, Any]:
    return {
        name: one
        for name, one in results().items()
        if isinstance(one, recnb.results.Explanation)
    }


def written(shown: dict[str, Any], form: Callable[[Any], str]) -> str:
    return "".join(f"== {name}\n{form(result)}\n\n" for name, result in shown.items())


FILES: dict[str, Callable[[], str]] = {
    "tables.txt": lambda: written(tables(), repr),
    "tables.md": lambda: written(tables(), lambda table: table.to_markdown()),
    "tables.tex": lambda: written(tables(), lambda table: table.to_latex()),
    "results.txt": lambda: written(results(), repr),
    "explanations.txt": lambda: written(explanations(), frames_of),
    "weights.txt": lambda: written(weights(), text_of),
    "lists.txt": lambda: written(lists_of_users(), text_of),
    "lines.txt": lambda: written(
        lines(), lambda results: "\n".join(map(line_of, results))
    ),
}


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file: str) -> None:
    assert FILES[file]() == (SHOWN / file).read_text("utf-8")


if __name__ == "__main__":
    SHOWN.mkdir(exist_ok=True)
    for file, text in FILES.items():
        (SHOWN / file).write_text(text(), "utf-8")
