"""Evaluations, comparisons and all they return go through pickle and deepcopy, unused
and after any method.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import ElsewhereError
from tests.evaluated import EV, FOUND, KNN
from tests.random_frames import sized
from tests.sample import SAMPLE

MADE = {"evaluation": EV, "comparison": FOUND}
#: What methods are given that ask for it.
GIVEN = {
    "metric": "ndcg",
    "metrics": ["ndcg", "novelty"],
    "k": 5,
    "user": "u026",
    "recs": {"u026": ["m01"]},
    "value": 0.1,
    "text": "nDCG@5",
    "names": ["nDCG@5"],
    "library": "ranx",
    "other": "rectools",
    "x": "novelty",
    "y": "ndcg",
}
#: Methods of a mapping, whose results are the models; figures, which are matplotlib's;
#: live widgets; and runs, which take a split.
OTHERS = {"get", "items", "keys", "values", "plot", "explore", "runs"}
WAYS = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "deepcopy": copy.deepcopy,
}


def methods(kind: str) -> list[str]:
    of = type(MADE[kind])
    others = OTHERS - {"items"} if kind == "evaluation" else OTHERS
    return [
        name
        for name in dir(MADE[kind])
        if not name.startswith("_")
        and callable(getattr(of, name, None))
        and name not in others
    ]


def called(made: Any, name: str) -> Any:
    """The result of a method, with arguments for the parameters that it has."""
    asked = inspect.signature(getattr(made, name)).parameters
    given = {each: value for each, value in GIVEN.items() if each in asked}
    return getattr(made, name)(**given)


def as_shown(result: Any) -> tuple[Any, ...]:
    """What is compared: how it is shown, and the numbers that are worked out when they
    are asked for.
    """
    if isinstance(result, recnb.Evaluation):
        return result.n_users, repr(result.table(k=5))
    html = getattr(result, "_repr_html_", str)()
    if isinstance(result, recnb.Score | recnb.CatalogueScore):
        ends = tuple(map(str, result.interval())) if result.has_interval else ()
        return (
            type(result),
            repr(result),
            html,
            result.k,
            result.convention,
            ends,
            result.to_frame().to_dict(),
        )
    return type(result), repr(result), html, str(getattr(result, "attrs", ""))


@pytest.mark.thin
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "method", [(kind, name) for kind in MADE for name in methods(kind)], ids=".".join
)
def test_every_method_leaves_and_returns_what_can_be_copied(
    method: tuple[str, str], way: str
) -> None:
    kind, name = method
    result, copied = called(MADE[kind], name), WAYS[way]
    assert as_shown(copied(result)) == as_shown(result)
    assert as_shown(called(copied(MADE[kind]), name)) == as_shown(result)


def test_pickle_takes_hits_and_leaves_rows_that_are_in_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sized(monkeypatch, held=500)
    recs, truth = (pl.from_pandas(frame).lazy() for frame in (KNN, SAMPLE.test))
    made = recnb.evaluate(recs, truth)
    restored, copied = WAYS["pickle"](made), WAYS["deepcopy"](made)
    pd.testing.assert_frame_equal(restored.table(k=5), made.table(k=5))
    assert copied.under("ranx").ndcg(k=5) == made.under("ranx").ndcg(k=5)
    for ask in (lambda: restored.under("ranx"), lambda: restored.user("u026", k=5)):
        with pytest.raises(
            ElsewhereError, match=r"stayed in .* when the evaluation was pickled"
        ):
            ask()
