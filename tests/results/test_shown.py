"""What results show, held against files of calls: to show more, add a line `>>> call`;
`python -m tests.results.test_shown` writes what each shows, and git the difference.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.report.report import Report
from tests import evaluated
from tests.comparison import test_runs
from tests.drawn import html_of, look_of
from tests.evaluated import EV, KNN
from tests.results import test_beyond_accuracy, test_segments
from tests.results import test_clustered as split
from tests.results.test_score import RECS_OF_FOUR, TRUTH_OF_FOUR
from tests.sample import SAMPLE
from tests.shown import Recorded, text_of

TEST = SAMPLE.test
BY = (EV.ndcg(k=10).per_user > 0.3).map({True: "some", False: "none"})
MODELS = {
    "ndcg": SAMPLE.models["popular"],
    "recall": SAMPLE.models["factors"],
}  # names of metrics


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
#: Rows of one frame with both sides, and with what was judged and not recommended.
LABELLED = pd.DataFrame(
    {
        "qid": [1, 1, 1, 2, 2],
        "score": [0.1, 0.9, 0.5, 0.2, 0.3],
        "label": [2, 0, 1, 0, 1],
    }
)
WITH_MISSES = LABELLED.assign(doc_id=[3, 4, 5, 3, 4], score=[None, 0.9, 0.5, None, 0.3])
TWO_WEEKS: Any = (
    {"a": {"x": 2.0, "y": 1.0}, "b": {"x": 2.0, "y": 1.0}},
    pd.DataFrame(
        {"user": [*"aab"], "item": [*"xyy"], "relevance": 1, "week": [1, 2, 2]}
    ),
)
OF_FOUR = RECS_OF_FOUR, TRUTH_OF_FOUR
TREC = recnb.evaluate(KNN, TEST, convention="trec")


# Users with several lists

#: Lists of one day are missing, and users have weights.
FEWER = split.RECS.query("day != 'd2' or user >= 'u20'")
WEIGHTS: dict[str, Any] = {
    "split": "day",
    "user_weight": {f"u{user:02}": user % 3 + 1 for user in range(40)},
}
WEIGHTED = recnb.evaluate(FEWER, split.TRUTH, **WEIGHTS)
GRADED = split.TRUTH.assign(relevance=1 + split.TRUTH["item"] % 2)
#: The lists of one day, whose users are put together by topic as well.
OF_DAY, OTHER_OF_DAY, TRUTH_OF_DAY = (
    frame.query("day == 'd1'") for frame in (split.RECS, split.OTHER, split.TRUTH)
)
MODELS_OF_DAY = {"a": OF_DAY, "b": OTHER_OF_DAY}
DAY = recnb.compare(MODELS_OF_DAY, TRUTH_OF_DAY, baseline="a")
BY_TOPIC = recnb.compare(
    MODELS_OF_DAY, TRUTH_OF_DAY, baseline="a", users=split.TOPIC, cluster="topic"
)


def replaced(table: Any, number: float) -> Any:
    """Return a table as stored after its user put a number in place of all."""
    table[:] = number
    return pickle.loads(pickle.dumps(table))


def paired(n: int, **options: Any) -> Any:
    """Return the difference of stored values, of which three of four gain."""
    before = pd.Series(np.linspace(0.3, 0.5, n))
    steps = np.where(np.arange(n) % 4 < 3, 0.1, -0.1)
    if "cluster" in options:
        before = split.in_groups(before, pd.Series(np.arange(n) // 2), "household")
    return recnb.paired(before + steps, before, **options)


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


POPULAR = SAMPLE.models["popular"]
SEEN: dict[str, Any] = {"propensity": PROPENSITY, "min_propensity": 0.02}
WEIGHED = recnb.evaluate(POPULAR, TEST, **SEEN)
WEIGHED_MODELS = recnb.compare(SAMPLE.models, TEST, propensity=PROPENSITY)
BY_WEEK = recnb.evaluate(POPULAR, WEEKS, **BOTH_WEIGHTS)
RARE = recnb.compare(RARE_OR_USUAL, TRUTH_OF_RARE, propensity="p")
BY_HAND = recnb.evaluate(
    {"u": ["x", "a", "c"]},
    {"u": ["a", "b", "c"]},
    propensity={"a": 0.5, "b": 0.25, "c": 0.125},
)


# Segments, users and items

AGES = pd.Series([5, 20, 40, 90], index=list("abcd"), name="age")
BY_AGE = (
    {user: ["x"] for user in "abcd"},
    {"a": ["x"], "b": ["y"], "c": ["x"], "d": ["y"]},
)
ROWS_OF_ONE = pd.DataFrame(
    {
        "user": [1, 1, 1, 2],
        "score": [4, 3, 2, 1],
        "relevance": [0, 1, 1, 1],
        "kind": list("xxyx"),
    }
)
CUT_RATED = pd.cut(TEST["rating"], [0, 2, 4], labels=["z", "a"])
ODD = np.arange(len(SAMPLE.users)) % 2
READ_ALIKE = SAMPLE.users.assign(
    one=np.where(ODD, "a, b", "a"), two=np.where(ODD, "c", "b, c")
)
WEEK_MISSING = pd.DataFrame(
    {
        "user": [1, 1, 2, 3],
        "item": list("abaz"),
        "relevance": [1, 1, 0, 1],
        "week": ["x", None, "y", "z"],
    }
)
CITY = pd.Series(["x", "y", "y"], name="city")
#: Train has 200 of the 250 items.
IN_TRAIN = SAMPLE.train["item"].unique()[:200]
TRAIN_OF_200 = SAMPLE.train[SAMPLE.train["item"].isin(IN_TRAIN)]
OF_200 = recnb.evaluate(
    KNN[KNN["item"].isin(IN_TRAIN)], TEST, train=TRAIN_OF_200, items=SAMPLE.items
)
POPULATIONS = ("catalogue", "train", "catalogue+padding")
#: Names of 20 and of 21 letters.
LONG_NAMES = recnb.compare(
    {"m" * 20: {1: ["a"], 2: ["a"]}, "n" * 21: {1: ["b", "a"], 2: ["a"]}},
    {1: ["a"], 2: ["a"]},
)
#: Users of whom two or ten are in a segment of their own.
FEW = pd.Series(["few"] * 10 + ["two"] * 2 + ["rest"] * (EV.n_users - 12), EV.users)
BY_WEEKS = recnb.evaluate(
    pd.concat([KNN.assign(week=week) for week in range(3)]),
    WEEKS,
    split="week",
    users=SAMPLE.users,
)
NANOSECONDS = pl.Series([1, 2, 3000]).cast(pl.Datetime("ns"))
OF_TIMES: Any = ({1: [5], 2: [6], 3: [7]},) * 2
KNOWN: dict[str, Any] = {
    "users": pl.DataFrame({"user": [1, 2, 3], "seen": NANOSECONDS}),
}
SEEN_ON = pd.DataFrame(
    {
        "user": [1, 2],
        "item": ["a", "a"],
        "rank": 1,
        "seen": pd.to_datetime(["2024-05-01", "2024-05-02"]),
    }
)
ON_DAYS = recnb.compare({"a": SEEN_ON, "b": SEEN_ON}, SEEN_ON, split="seen")
TIMES = pl.DataFrame({"user": [1, 1, 1], "item": [5, 6, 7], "when": NANOSECONDS})
FEW_ITEMS: Any = (
    {1: ["a", "b"], 2: ["a"], 3: ["b"]},
    {1: {"b": 1}, 2: {"c": 2}, 4: {"a": 1}, 3: {"b": 0}},
)
SHARED = {"u": {"a": 1.0, "b": 1.0, "c": 0.5}}, {"u": ["b", "c"]}
VECTORS_OF_THREE = pd.DataFrame(
    {"item": list("abc"), "x": [0.6, 3.0, -0.8], "y": [0.8, 4.0, 0.6]}
)
TURNED = recnb.evaluate({"u": ["a", "b", "c"]}, {"u": ["a"]}, items=VECTORS_OF_THREE)
ONE_BELOW: Any = (
    {"u": {"a": 3.0, "b": 3.0, "c": 1.0, "d": 0.0}},
    {"u": {"b": 1, "d": 3, "x": 2}},
)


def sizes_of(name: str) -> str:
    """Return how many items there are by the line and by the explanation."""
    shown = []
    for population in POPULATIONS:
        explained = OF_200.explain(name, k=10, population=population)
        shown += [explained.basis, explained.numbers]
        assert getattr(OF_200, name)(k=10, population=population).basis == shown[-2]
    return "\n".join(shown)


def beside(asked: Any, usual: Any, **options: Any) -> str:
    """Return the lines of a report that one of usual data has not, but for numbers."""
    lines, known = (
        one.report(**options).to_markdown().splitlines() for one in (asked, usual)
    )
    known = {re.sub(r"[\d.]+", "", line) for line in known}
    return "\n".join(line for line in lines if re.sub(r"[\d.]+", "", line) not in known)


def lines_of(ev: recnb.Evaluation) -> str:
    """Return the lines below every kind of result."""
    asked = [
        ev.ndcg(k=2),
        ev.table(["ndcg", "map"], k=2),
        ev.measures(["nDCG@2", "AP"]),
        ev.at_least("ndcg", 0, k=2),
        ev.lint(k=2),
        ev.basis,
    ]
    return "\n".join(map(line_of, asked))


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


FILES: dict[str, Callable[[Any], str]] = {
    "tables.txt": repr,
    "tables.md": lambda table: table.to_markdown(),
    "pages.html": lambda shown: html_of(shown._repr_html_()),
    "plots.txt": look_of,
    "tables.tex": lambda table: table.to_latex(),
    "results.txt": repr,
    "explanations.txt": frames_of,
    "evaluations.txt": lines_of,
    "lines.txt": line_of,
    "lists.txt": text_of,
    "beyond.txt": text_of,
    "metrics.txt": "\n".join,
    "segments.txt": text_of,
    "users_and_items.txt": text_of,
    "weights.txt": text_of,
}
NAMES = vars(evaluated) | globals()
NAMES |= {
    "plt": plt,
    "runs": test_runs,
    "beyond": test_beyond_accuracy,
    "segments": test_segments,
}
RECORDED = Recorded(__file__, FILES, NAMES)


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file: str) -> None:
    RECORDED.hold(file)


if __name__ == "__main__":
    RECORDED.write()
