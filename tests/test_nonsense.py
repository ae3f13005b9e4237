"""Nonsense for every public argument is refused by an error of recnb's own, or does no harm."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import RecnbError
from recnb.evaluate import KEYWORDS
from recnb.metrics.metric import LIST_METRICS, METRICS

NONSENSE: list[Any] = [
    1e200, -1, 0, 2.5, float("nan"), float("inf"), True, None, "", "nope", b"x", [], [1, "a"], [[1]], {}, {"a": None}, {"ndcg": None},
    {"ndcg": 5}, np.array(3), np.array([1.0, 2.0]), np.ones((2, 2)), np.array([]), object(), {1}, pd.DataFrame({"x": [1]}),
    pd.Series([1, 2]), 1 + 2j, 10**400, pd.Timestamp("2020-01-01"), pd.NA, int, iter([1]),
]  # fmt: skip

RECS = pd.DataFrame([(user, item, rank) for user in "uvwxyz" for rank, item in enumerate("abcd", 1)], columns=["user", "item", "rank"])  # fmt: skip
OTHER = RECS.assign(rank=5 - RECS["rank"])
TRUTH = pd.DataFrame([(user, item, 1 + at) for user in "uvwxyz" for at, item in enumerate("bd")], columns=["user", "item", "rating"])  # fmt: skip
TRAIN = pd.DataFrame([(user, item) for user in "uvw" for item in "ab"], columns=["user", "item"])
ITEMS = pd.DataFrame({"item": list("abcd"), "genres": ["x", "y", "x|y", "y"]})
USERS = pd.DataFrame({"user": list("uvwxyz"), "sex": list("fmfmfm")})
EV = recnb.evaluate(RECS, TRUTH, train=TRAIN, items=ITEMS, users=USERS)
FOUND = recnb.compare({"a": RECS, "b": OTHER}, TRUTH, train=TRAIN, items=ITEMS, users=USERS)


def named(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Callable[[Any], Any]]:
    """A call for each argument of a function, the others as they are."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = [one.name for one in inspect.signature(function).parameters.values() if one.kind not in kinds]
    return {name: lambda value, name=name: function(**{**given, name: value}) for name in names}


def calls() -> dict[str, Callable[[Any], Any]]:
    """Every call, by the argument that it is given."""
    made: dict[str, Callable[[Any], Any]] = {}

    def add(label: str, function: Callable[..., Any], **given: Any) -> None:
        made.update({f"{label}({name}=)": call for name, call in named(function, given).items()})

    for name, metric in METRICS.items():
        function = getattr(recnb, name)
        made[f"{name}(ranking)"] = lambda value, function=function: function(value)
        made[f"{name}(ranking, truth)"] = lambda value, function=function: function(value, ["a"])
        made[f"{name}(list, truth)"] = lambda value, function=function: function(["a", "b"], value)
        for option in ["k", *metric.defaults]:
            made[f"{name}(list, {option}=)"] = lambda value, function=function, option=option: function(["a"], ["a"], **{option: value})  # fmt: skip
    for name in [*METRICS, *LIST_METRICS]:
        add(f"ev.{name}", getattr(EV, name))
    for method, given in {
        "table": {}, "curve": {"metric": "ndcg"}, "explain": {"metric": "ndcg", "user": "u"},
        "detectable": {"metric": "ndcg"}, "why": {"metric": "ndcg", "other": "rectools", "k": 2}, "lint": {}, "beyond": {}, "under": {},
        "hits": {}, "basis": {},
    }.items():  # fmt: skip
        add(f"ev.{method}", getattr(EV, method), **given)
    made["ev.identify(value=)"] = lambda value: EV.identify("ndcg", value, k=2)
    made["ev.report(by=)"] = lambda value: EV.report(k=2, metrics=["ndcg"], by=value)
    add("score.interval", EV.ndcg(k=2).interval)
    add("coverage.interval", EV.coverage(k=2).interval)
    add("compare", recnb.compare, models={"a": RECS, "b": OTHER}, truth=TRUTH)
    for method, given in {
        "table": {"metrics": ["ndcg"]}, "differences": {"metrics": ["ndcg"]},
        "movers": {}, "overlap": {}, "beyond": {}, "curve": {},
    }.items():  # fmt: skip
        add(f"found.{method}", getattr(FOUND, method), **given)
    add("evaluate", recnb.evaluate, recs=RECS, truth=TRUTH)
    for option in KEYWORDS:
        made[f"evaluate({option}=)"] = lambda value, option=option: recnb.evaluate(RECS, TRUTH, **{option: value}).ndcg(k=2)  # fmt: skip
    add("evaluate_model", recnb.evaluate_model, model=None, test=TRUTH)
    add("as_in", recnb.as_in, library="rectools", metric="ndcg", recs=RECS, truth=TRUTH, k=2)
    add("users_needed", recnb.users_needed, difference=0.1, sd=0.2)
    add("quiz", recnb.quiz, metric="ndcg")
    add("playground", recnb.playground, ranking=["a", "b"], truth=["a"])
    add("explain", recnb.explain, metric="ndcg", ranking=["a"], truth=["a"])
    add("language", recnb.language)
    add("Convention", recnb.Convention)
    return made


CALLS = calls()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_nonsense_is_refused_or_does_no_harm(call: str) -> None:
    raised = []
    before = recnb.language()
    for value in NONSENSE:
        try:
            repr(CALLS[call](value))
        except RecnbError as problem:
            if "\n" in str(problem):  # such as a frame that is quoted
                raised.append(str(problem))
        except Exception as problem:
            raised.append(f"{value!r}: {type(problem).__name__}: {problem}")
    recnb.language(before)
    assert raised == []


@pytest.mark.parametrize(
    "report", [EV.report(k=2, metrics=["ndcg"]), FOUND.report(k=2, metrics=["ndcg"])], ids=["one", "compared"]
)
@pytest.mark.parametrize("form", ["to_html", "to_markdown", "to_latex", "to_json"])
def test_a_file_that_cannot_be_written(report: Any, form: str, tmp_path: Path) -> None:
    for nonsense in (3, [], np.array(3), b"x", object()):
        with pytest.raises(RecnbError, match=r"path=.* names no file"):
            getattr(report, form)(nonsense)
    for path in (tmp_path, f"{tmp_path}/a\0b"):
        with pytest.raises(RecnbError, match=r"cannot be written.*name another file|names no file"):
            getattr(report, form)(path)
    path = tmp_path / "no" / "folder" / "report"
    with pytest.raises(RecnbError, match="make its folder first") as found:
        getattr(report, form)(path)
    exec("import pathlib; pathlib" + str(found.value).split(", pathlib")[1].rstrip("."))
    assert getattr(report, form)(path) is None
    assert path.read_text(encoding="utf-8") == getattr(report, form)()
