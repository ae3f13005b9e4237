"""Which models are compared and on whom: every form of them, what is refused, users in
common; identical lists have identical values.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import presets
from recnb.errors import FrameError
from recnb.metrics.metric import LIST_METRICS, METRICS
from tests.comparison.frames import (
    FIRST,
    SAMPLE,
    SECOND,
    SIDES,
    TRUTH,
    compared,
    lists,
    many_models,
)
from tests.rows import hold_calls, hold_refusals, read_rows

mpl.use("Agg")
near = pytest.approx
SAMPLED = compared()
HALVES = pd.Series({user: "ab"[user > "u150"] for user in SAMPLED["popular"].users})
HALVES.name = "s"
EVALUATED = FIRST.rec.against(TRUTH)
SEVERAL = pd.concat(
    [FIRST.assign(model="new"), SECOND.assign(model="old")], ignore_index=True
)
WHICH = SEVERAL.rename(columns={"model": "which"})
MRR = {"new": 0.625, "old": 0.375}
SCORED = SECOND.assign(score=-SECOND["rank"]).drop(columns="rank")
PREDICTED = pd.DataFrame(
    {"qid": np.repeat(range(20), 5), "label": [0, 2, 1, 0, 1] * 20}
)
PREDICTED = PREDICTED.assign(a=np.sin(PREDICTED.index), b=np.cos(PREDICTED.index))
PARTS = {"part1": lists(a="xy", b="yx"), "part2": lists(c="pq", d="xq")}
UNEQUAL = recnb.compare(
    {"one": lists(a="xy", b="yx", c="pq"), "two": lists(b="xy", c="xp", d="xq")},
    TRUTH,
    averaged_users="recs",
)
UNMOVED = recnb.compare(
    {"a": lists(a="xy", b="yx"), "b": lists(a="xy", b="yx")}, TRUTH
).movers(k=2)
MORE = {"fewer": {"a": "xy"}, "more": {"a": "xy", "b": "zw"}}
HAD = {"a": "z", "b": "x", "c": "y", "d": "zw"}
FEWER_LISTS = [
    recnb.compare(
        {
            name: {user: [*items] for user, items in MORE[name].items()}
            for name in order
        },
        {"a": ["x"], "b": ["x"]},
        train={user: [*items] for user, items in HAD.items()},
    )
    for order in (["fewer", "more"], ["more", "fewer"])
]
UNHAD = recnb.compare(
    {"a": {"a": ["x"]}, "b": {"a": ["y"]}}, {"a": ["x"]}, train={"b": ["z"], "c": ["w"]}
)
COLD = {"k": 1, "cold": "drop", "by": pd.Series({"a": "s"}, name="segment")}
WITHOUT_VALUE = [
    UNHAD.table(["ndcg", "novelty"], **COLD),
    UNHAD.table("novelty", **COLD),
    UNHAD.differences("novelty", **COLD),
]
NO_HIT = {"u": {"x": 1.0, "z": 0.5}, "v": {"y": 1.0}}
GRADES = {"u": {"x": 1, "z": 0}, "v": {"y": 0}}


def hits_of(*n_lists: int) -> Any:
    """Models with one hit for so many of 12 users, by the conventions of recommenders."""
    truth = pd.DataFrame({"user": range(12), "item": "a"})
    models = {
        name: truth.head(n).assign(rank=1)
        for name, n in zip("xy", n_lists, strict=True)
    }
    return recnb.compare(models, truth, convention="recommenders")


WITH_LIST, NINE = hits_of(8, 10), hits_of(9, 9)


def in_days(names: str) -> Any:
    """Two models in this order; user 2, alone in the day y, has a list from one."""
    truth = pd.DataFrame({"user": [1, 1, 2], "item": list("pqp"), "day": list("xzy")})
    lists_of: dict[str, Any] = {"a": {1: ["p"], 2: ["p"]}, "b": {1: ["q"]}}
    models = {name: lists_of[name] for name in names}
    return recnb.compare(models, truth, averaged_users="both")


def segments_tested(report: Any) -> list[str]:
    """Return the segment of each difference."""
    told = report.to_dict()["segments"]
    return [told["names"][part] for part in told["differences"]["part"]]


def weighted_for_rexmex() -> Any:
    truth = SAMPLE.test.assign(shown=0.5)
    return recnb.compare(SAMPLE.models, truth, propensity="shown", convention="rexmex")


def mrr_of(found: Any) -> Any:
    return found.table("mrr", k=2)["reciprocal_rank@2"].to_dict()


def two(**options: Any) -> Any:
    return recnb.compare({"a": FIRST, "b": SECOND}, TRUTH, **options)


def beside(other: Any, *truth: Any, **options: Any) -> Any:
    return recnb.compare({"a": EVALUATED, "b": other}, *truth, **options)


def graded_otherwise(**options: Any) -> Any:
    """Two models, of which one has items that are not relevant in its truth."""
    truths = {"a": GRADES, "b": {"u": {"x": 1}}}
    return recnb.compare(
        {
            name: recnb.evaluate({"u": ["x"]}, truth, **options)
            for name, truth in truths.items()
        }
    )


def many(n: int, **options: Any) -> Any:
    return recnb.compare(many_models(n), SAMPLE.test, **options)


COSTS = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="item-knn", **SIDES)
TABLE = SAMPLED.table(["coverage", "ndcg", "novelty"], k=[5, 10], intervals=True)
#: Nine models with the relevant item further and further down.
APART = recnb.compare(
    {
        f"m{at}": {
            user: [*"abcdefghijklmnopq"[: 2 * at + user % 2], f"x{user}"]
            for user in range(20)
        }
        for at in range(9)
    },
    {user: [f"x{user}"] for user in range(20)},
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "expected"},
        {"candidates": "padded"},
        {"averaged_users": "union", "no_relevant": "zero"},
    ],
)
def test_restricted_users_keep_their_values_and_explanations(options: Any) -> None:
    fewer = SAMPLE.models["popular"].query("user > 'u100'")
    options = {"order": "score", "averaged_users": "recs", **options}
    models = {**SAMPLE.models, "popular": fewer}
    found = recnb.compare(models, SAMPLE.test, **options)
    for name, frame in models.items():
        whole = frame.rec.against(SAMPLE.test, **options)
        values = found[name].ndcg(k=10).per_user
        of_whole = whole.ndcg(k=10).per_user.loc[values.index]
        pd.testing.assert_series_equal(values, of_whole)
        ours, theirs = (
            ev.explain("ndcg", found.users[-1], k=10) for ev in (found[name], whole)
        )
        assert (ours.value, ours.missed, ours.terms) == (
            theirs.value,
            theirs.missed,
            theirs.terms,
        )


# Nothing that two models do not share may make a difference between them.

TWINS = {
    file.stem: pd.read_csv(file)
    for file in (Path(__file__).parent / "twins").glob("*.csv")
}
LISTS, JUDGED = TWINS["lists"].drop(columns="of"), TWINS["judged"]
KNOWN = {
    "train": TWINS["train"],
    "items": TWINS["items"].assign(genres=lambda items: items["genres"].str.split()),
}
#: Two models with the same lists for six users, of whom one serves another two as well,
#: with items of their own. One of these is the only one with the highest grade.
MODELS = {"these": LISTS[TWINS["lists"]["of"] == "both"], "and more": LISTS}


@pytest.mark.thin
@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize(
    "convention", read_rows("comparison/conventions.toml")["conventions"], ids=str
)
def test_no_metric_of_accuracy_differs(convention: Any, evaluated: bool) -> None:
    library = convention.get("convention")
    names = [
        name for name in METRICS if library is None or presets.of_metric(name, library)
    ]
    assert len(names) >= 3
    models, truth, options = MODELS, JUDGED, convention
    if evaluated:
        models = {
            name: model.rec.against(truth, **options) for name, model in models.items()
        }
        truth, options = None, {}
    found = recnb.compare(models, truth, **options)
    for name in names:
        for k in (1, 3, 50, None) if library is None else (3,):
            values = [getattr(found[model], name)(k=k).per_user for model in models]
            one, other = (each[each.index.str.startswith("u")] for each in values)
            pd.testing.assert_series_equal(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("sides", [KNOWN, {"train": KNOWN["train"]}])
def test_no_metric_beyond_accuracy_differs(sides: Any) -> None:
    found = recnb.compare(MODELS, JUDGED, averaged_users="both", **sides)
    names = [
        metric.name
        for metric in LIST_METRICS.values()
        if metric.of != "all"
        and ("items" in sides or not {"features", "genre"} & {*metric.needs})
    ]
    assert len(names) >= 4
    assert (found.differences(names, k=[2, 3, 5]).difference == 0).all()


@pytest.fixture
def depth() -> Iterator[Any]:
    """A metric of the caller's, whose function is given the columns of items=."""

    @recnb.metric(symbol="Depth", over="list")
    def depth(lists: Any, k: Any = None) -> Any:
        """Mean rank of the items shown."""
        return lists.groupby("user")["rank"].mean()

    yield depth
    del LIST_METRICS["depth"]


def test_a_metric_of_the_callers_takes_items_that_all_models_share(depth: Any) -> None:
    found = known_otherwise("items")
    with pytest.raises(FrameError, match="'a' and 'b' have different items="):
        found.differences(depth, k=3)


def known_otherwise(name: str, **names: str) -> Any:
    """Two models, of which one is evaluated with fewer rows of train or of items, or with
    other names of columns.
    """
    frame = KNOWN[name].rename(columns=names)
    others = KNOWN | {name: frame if names else frame.iloc[:-2]}
    evaluated = {}
    for model, known in {"a": KNOWN, "b": others}.items():
        evaluated[model] = MODELS["these"].rec.against(JUDGED, **known)
    return recnb.compare(evaluated)


#: Frames of two users, each of whom is in one segment.
DATA = {
    "truth": pd.DataFrame({"user": [1, 1, 2, 2], "item": list("pqpq")}).assign(
        day=list("xyxy"), half=list("aabb")
    ),
    "users": pd.DataFrame({"user": [1, 2], "group": ["u", "v"]}),
    "items": pd.DataFrame({"item": list("pq"), "genre": ["s", "t"]}),
    "train": pd.DataFrame({"user": [1, 1, 2], "item": list("rst")}),
}


def two_with(name: str, frame: pd.DataFrame) -> Any:
    """Two models, of which one is evaluated with another frame than the other."""
    recs = pd.DataFrame({"user": [1, 2], "item": ["p", "q"], "rank": 1})
    evaluated = {}
    for model, frames in {"a": DATA, "b": DATA | {name: frame}}.items():
        sides = dict(frames)
        evaluated[model] = recnb.evaluate(recs, sides.pop("truth"), **sides)
    return recnb.compare(evaluated)


test_a_call_comes_to = hold_calls(read_rows("comparison/calls.toml"), globals())
test_what_cannot_be_compared_is_refused = hold_refusals(
    read_rows("comparison/models_refused.toml"), globals()
)


def test_models_of_a_relation_are_told_apart() -> None:
    found = recnb.compare(duckdb.sql("SELECT * FROM SEVERAL"), TRUTH)
    assert {name: found[name].reciprocal_rank() for name in found} == MRR
