"""Nonsense for every public argument is refused by an error of recnb's own, or does no
harm.
"""

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
    1e200,
    -1,
    0,
    2.5,
    float("nan"),
    float("inf"),
    True,
    None,
    "",
    "nope",
    b"x",
    [],
    [1, "a"],
    [[1]],
    {},
    {"a": None},
    {"ndcg": None},
    {"ndcg": 5},
    np.array(3),
    np.array([1.0, 2.0]),
    np.ones((2, 2)),
    np.array([]),
    object(),
    {1},
    pd.DataFrame({"x": [1]}),
    pd.Series([1, 2]),
    1 + 2j,
    10**400,
    pd.Timestamp("2020-01-01"),
    pd.NA,
    int,
    iter([1]),
]

RECS = pd.DataFrame(
    [(user, item, rank) for user in "uvwxyz" for rank, item in enumerate("abcd", 1)],
    columns=["user", "item", "rank"],
)
MODELS = {"a": RECS, "b": RECS.assign(rank=5 - RECS["rank"])}
TRUTH = pd.DataFrame(
    [(user, item, 1 + at) for user in "uvwxyz" for at, item in enumerate("bd")],
    columns=["user", "item", "rating"],
)
SIDES: dict[str, Any] = {
    "train": pd.DataFrame(
        [(user, item) for user in "uvw" for item in "ab"], columns=["user", "item"]
    ),
    "items": pd.DataFrame({"item": list("abcd"), "genres": ["x", "y", "x|y", "y"]}),
    "users": pd.DataFrame({"user": list("uvwxyz"), "sex": list("fmfmfm")}),
}
EV, FOUND = recnb.evaluate(RECS, TRUTH, **SIDES), recnb.compare(MODELS, TRUTH, **SIDES)

#: Functions by name, each with arguments that make sense; each argument is given
#: nonsense, the others as they are here.
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{
        f"ev.{name}": (getattr(EV, name), {})
        for name in (
            *METRICS,
            *LIST_METRICS,
            "table",
            "lint",
            "beyond",
            "under",
            "hits",
        )
    },
    **{
        f"ev.{name}": (
            getattr(EV, name),
            {"metric": "ndcg", "k": [2] if name == "curve" else 2},
        )
        for name in ("curve", "detectable")
    },
    "ev.explain": (EV.explain, {"metric": "ndcg", "user": "u"}),
    "ev.why": (EV.why, {"metric": "ndcg", "other": "rectools", "k": 2}),
    "ev.identify": (EV.identify, {"metric": "ndcg", "value": 0.5, "k": 2}),
    "score.interval": (EV.ndcg(k=2).interval, {}),
    "coverage.interval": (EV.coverage(k=2).interval, {}),
    "ev.report": (EV.report, {"k": 2, "metrics": ["ndcg"]}),
    "compare": (recnb.compare, {"models": MODELS, "truth": TRUTH}),
    "found.table": (FOUND.table, {"metrics": ["ndcg"]}),
    "found.differences": (FOUND.differences, {"metrics": ["ndcg"]}),
    **{
        f"found.{name}": (getattr(FOUND, name), {})
        for name in ("movers", "overlap", "beyond", "curve")
    },
    "evaluate_model": (recnb.evaluate_model, {"model": None, "test": TRUTH}),
    "as_in": (
        recnb.as_in,
        {"library": "rectools", "metric": "ndcg", "recs": RECS, "truth": TRUTH, "k": 2},
    ),
    "users_needed": (recnb.users_needed, {"difference": 0.1, "sd": 0.2}),
    "quiz": (recnb.quiz, {"metric": "ndcg"}),
    "playground": (recnb.playground, {"ranking": ["a", "b"], "truth": ["a"]}),
    "explain": (recnb.explain, {"metric": "ndcg", "ranking": ["a"], "truth": ["a"]}),
    "language": (recnb.language, {}),
    "Convention": (recnb.Convention, {}),
}


def calls() -> dict[str, Callable[[Any], Any]]:
    """Every call, by the argument that it is given."""
    made: dict[str, Callable[[Any], Any]] = {}
    for label, (function, given) in FUNCTIONS.items():
        for one in inspect.signature(function).parameters.values():
            if (
                one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
                and (label, one.name) not in SLOW
            ):
                made[f"{label}({one.name}=)"] = (
                    lambda value, function=function, given=given, name=one.name: (
                        function(**{**given, name: value})
                    )
                )
    for name, metric in METRICS.items():
        function = getattr(recnb, name)
        made[f"{name}(ranking)"] = function
        made[f"{name}(ranking, truth)"] = lambda value, function=function: function(
            value, ["a"]
        )
        made[f"{name}(list, truth)"] = lambda value, function=function: function(
            ["a", "b"], value
        )
        for option in ["k", *metric.defaults]:
            made[f"{name}(list, {option}=)"] = (
                lambda value, function=function, option=option: function(
                    ["a"], ["a"], **{option: value}
                )
            )
    for option in KEYWORDS:
        made[f"evaluate({option}=)"] = lambda value, option=option: recnb.evaluate(
            RECS, TRUTH, **{option: value}
        ).ndcg(k=2)
    return made


#: Nonsense that is evaluated, for which a report is made each time.
SLOW = {("ev.report", name) for name in ("k", "metrics", "confidence", "lang")}
CALLS = calls()


@pytest.mark.thin
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("call", CALLS)
def test_nonsense_is_refused_or_does_no_harm(call: str, part: int) -> None:
    raised, before = [], recnb.language()
    for value in NONSENSE[part::3]:
        try:
            repr(CALLS[call](value))
        except RecnbError as problem:
            if "\n" in str(problem):  # such as a frame that is quoted
                raised.append(str(problem))
        except Exception as problem:
            raised.append(f"{value!r}: {type(problem).__name__}: {problem}")
    recnb.language(before)
    assert raised == []


@pytest.mark.parametrize("form", ["to_html", "to_markdown", "to_json"])
def test_a_file_that_cannot_be_written(form: str, tmp_path: Path) -> None:
    for number, made in enumerate((EV, FOUND)):
        report = made.report(k=2, metrics=["ndcg"])
        write, path = (
            getattr(report, form),
            tmp_path / f"no{number}" / "folder" / "report",
        )
        for nonsense in (3, [], np.array(3), b"x", object(), f"{tmp_path}/a\0b"):
            with pytest.raises(RecnbError, match=r"names no file"):
                write(nonsense)
        with pytest.raises(RecnbError, match=r"cannot be written.*name another file"):
            write(tmp_path)
        with pytest.raises(RecnbError, match="make it first"):
            write(path)
        path.parent.mkdir(parents=True)
        assert write(path) is None
        assert path.read_text(encoding="utf-8") == write()
