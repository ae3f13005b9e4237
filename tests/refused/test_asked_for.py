"""A cut-off, a metric, an option, a user or a list that is none is refused wherever it
can be given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import WORDS
from recnb.errors import (
    CutoffError,
    OptionError,
    RecnbError,
    UnknownUserError,
)
from recnb.metrics.metric import METRICS
from tests.refused.names import EV, ONE, RECS, TRUTH
from tests.refused.test_refused import refused
from tests.rows import read_rows

# A cut-off, a metric or an option that is none, wherever it can be given


def everywhere(
    name: Any = "ndcg", k: Any = 2, **options: Any
) -> list[Callable[[], Any]]:
    """A metric asked for in every way: of an evaluation, of one frame, of one list; the
    last ways give one number.
    """
    calls: list[Callable[[], Any]] = [
        lambda: EV.table([name], k=k, **options),
        lambda: EV.explain(name, 1, k=k, **options),
        lambda: ONE.rec.explain(name, 1, k=k, **options),
        lambda: recnb.explain(name, [1, 2], k=k, **options),
    ]
    if name in METRICS:
        ways = [
            (getattr(EV, name), ()),
            (getattr(ONE.rec, name), ()),
            (getattr(recnb, name), ([1, 2],)),
        ]
        calls += [
            lambda way=way, given=given: way(*given, k=k, **options)
            for way, given in ways
        ]
    return calls


ROWS = read_rows("refused/asked.toml")


def values(codes: Iterable[str]) -> list[Any]:
    """Evaluate rows of the file."""
    return [eval(code, {"np": np, "pd": pd, "math": math}) for code in codes]


NO_WORDS = ("nonsense", None, 5, ["linear"], "")
#: What is asked for, with the words of the message.
ASKED: list[tuple[type[RecnbError], dict[str, Any], tuple[str, ...]]] = [
    *(
        (CutoffError, {"k": k}, (f"k={k!r}", "whole number from 1 up", "k=10", "None"))
        for k in values(ROWS["k"]["no_number"])
    ),
    *(
        (CutoffError, {"k": k}, ("at least one cut-off", "k=[5, 10]"))
        for k in values(ROWS["k"]["none"])
    ),
    *(
        (OptionError, {"name": eval(name)}, (f"{name} is no metric", near))
        for name, near in ROWS["metrics"].items()
    ),
    *(
        (OptionError, {"name": name, "gian": "linear"}, (name, "option 'gian'", "'k'"))
        for name in METRICS
    ),
    *(
        (OptionError, {"name": name, option: value}, (f"{option}={value!r}",))
        for name, options in ROWS["numbers"].items()
        for option, codes in options.items()
        for value in values(codes)
    ),
    *(
        (
            OptionError,
            {"name": name, option: value},
            (f"{option}={value!r}", *map(repr, words)),
        )
        for name, metric in METRICS.items()
        for option, words in metric.words.items()
        for value in NO_WORDS
    ),
]


@pytest.mark.parametrize(("kind", "asked", "words"), ASKED)
def test_what_is_asked_for_is_none(
    kind: type[RecnbError], asked: dict[str, Any], words: tuple[str, ...]
) -> None:
    for call in everywhere(**asked):
        refused(call, kind, *words)
    if not isinstance(
        asked.get("k"), (set, dict)
    ):  # which give one cut-off after the other
        metric, options = (
            asked.get("name", "ndcg"),
            {name: value for name, value in asked.items() if name != "name"},
        )
        refused(lambda: EV.curve(metric, **{"k": [2], **options}), kind)


@pytest.mark.parametrize("k", values(ROWS["k"]["several"]))
def test_several_k_where_one_number_is_asked_for(k: Any) -> None:
    for call in everywhere(k=k)[1:]:
        refused(call, CutoffError, "one call gives one number", ".table(k=", ".curve(")


#: Options of an evaluation. `relevant` names a column of lists as well: a word that is
#: no convention is taken for that.
GIVEN: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    *(
        ({option: value}, (f"{option}={value!r}", *map(repr, words)))
        for option, words in WORDS.items()
        if option != "relevant"
        for value in values(ROWS["given"]["words"])
    ),
    *(
        (
            {"relevant_from": value},
            (f"relevant_from={value!r}", "above 0", "relevant_from=4"),
        )
        for value in values(ROWS["given"]["relevant_from"])
    ),
    *(
        ({option: "x"}, (f"{option!r} is no option", near))
        for option, near in ROWS["options"].items()
    ),
]


@pytest.mark.parametrize(("options", "words"), GIVEN)
def test_what_is_given_with_the_frames_is_none(
    options: dict[str, Any], words: tuple[str, ...]
) -> None:
    ways: list[Callable[..., Any]] = [
        RECS.rec.against,
        ONE.rec.evaluation,
        recnb.evaluate,
        recnb.evaluate_groups,
        recnb.compare,
        recnb.Convention,
    ]
    frames: Any = [
        (TRUTH,),
        (),
        (RECS, TRUTH),
        ([1, 0], [0.5, 0.2], [2]),
        ({"a": RECS, "b": RECS}, TRUTH),
        (),
    ]
    for way, given in zip(ways, frames, strict=True):
        if way is not recnb.Convention or "is no option" not in words[0]:
            refused(
                lambda way=way, given=given: way(*given, **options), OptionError, *words
            )


@pytest.mark.parametrize("user", values(ROWS["given"]["users"]))
def test_a_user_who_is_not_there(user: Any) -> None:
    named = recnb.evaluate({"anna": ["a"], "bo": ["b"]}, {"anna": ["a"], "bo": ["b"]})
    refused(
        lambda: EV.explain("ndcg", user, k=2),
        UnknownUserError,
        "is not evaluated",
        "are 1, 2",
    )
    refused(lambda: named.user(user), UnknownUserError, "'anna', 'bo'")


# Lists of numbers: grades and scores, or ids

FORMS: list[Any] = [
    list,
    np.array,
    pd.Series,
    iter,
    lambda values: [values],
    lambda values: np.array([values]),
]


@pytest.mark.parametrize(("ranking", "truth"), values(ROWS["positions"]["rows"]))
def test_grades_and_scores_by_position_are_not_taken_for_items(
    ranking: Any, truth: Any
) -> None:
    words = (
        "hold numbers",
        "recnb.ndcg(y_true=..., y_score=...)",
        "if they are ids of items",
        "set(truth)",
    )
    for form in FORMS:
        refused(
            lambda form=form: recnb.ndcg(form(ranking), form(truth)), RecnbError, *words
        )
    for odd in (([0.5, 2.0], {2, 3}), ([True], {1, 2}), (ranking[:1], [0.5, 2.5])):
        refused(lambda odd=odd: recnb.ndcg(*odd), RecnbError, *words)
