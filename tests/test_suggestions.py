"""What is typed wrongly is answered with the nearest name; help and `df.rec` name what there is."""

from __future__ import annotations

import builtins
import copy
import inspect
import pydoc
import re
import typing
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb import LIST_METRICS, METRICS
from recnb.errors import OptionError, RecnbError, UnknownNameError

SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test)
BOTH = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2], "relevance": [0, 5]})


MISSPELT = [
    (EV, "ndgc", "ndcg"), (EV, "explian", "explain"), (SAMPLE.test.rec, "agianst", "against"), (pl.DataFrame({"user": [1]}).rec, "reprot", "report"),
    (FOUND, "diferences", "differences"), (FOUND["popular"], "tabel", "table"), (recnb, "evalute", "evaluate"), (recnb, "compar", "compare"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "typed", "meant"), MISSPELT)
def test_the_nearest_name_is_told(place, typed: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"has no '{typed}'\. Did you mean .*'{meant}'"):
        getattr(place, typed)
    assert not hasattr(place, typed)
    with pytest.raises(AttributeError) as caught:
        getattr(place, f"_{typed}")
    assert not isinstance(caught.value, RecnbError)


def test_a_name_like_none_is_answered_with_all() -> None:
    with pytest.raises(AttributeError, match=r"Evaluation has no 'zzzz'\. Known: .*ndcg"):
        getattr(EV, "zz" + "zz")


def test_objects_are_copied_as_before() -> None:
    assert float(copy.copy(EV).ndcg(k=5)) == float(copy.deepcopy(EV).ndcg(k=5)) == float(EV.ndcg(k=5))
    assert copy.copy(FOUND).names == FOUND.names


@pytest.mark.parametrize("name", [*METRICS, *LIST_METRICS])
def test_help_names_every_value_of_every_option(name: str) -> None:
    metric = METRICS.get(name) or LIST_METRICS[name]
    for function in (getattr(EV, name), getattr(recnb, name, getattr(EV, name)), getattr(SAMPLE.test.rec, name)):
        text = inspect.getdoc(function) or ""
        own, _, options = text.partition("Parameters\n----------\n")
        assert own.startswith((inspect.getdoc(metric.function) or "").split("\n")[0])
        assert "k : int, optional\n    Cut-off" in options
        assert "None: the whole list of each user" in options
        hints = typing.get_type_hints(metric.function)
        for option, default in metric.defaults.items():
            (line,) = [line for line in options.splitlines() if line.startswith(f"{option} : ")]
            if option in metric.words:
                assert all(f'"{word}"' in line for word in typing.get_args(hints[option]))
            if default is not None:
                assert (f'default "{default}"' if isinstance(default, str) else f"default {default}") in line
        assert text.count("Returns\n-------") == 1


def test_the_docstring_of_an_evaluation_is_a_menu() -> None:
    menu = [line for line in (inspect.getdoc(EV) or "").splitlines() if line.startswith("ev.")]
    assert len(menu) == 10
    for line in menu:
        for call in line.split("    ")[0].split(";"):
            assert hasattr(EV, call.strip().removeprefix("ev.").split("(")[0]), call


ROLES = [
    (SAMPLE.models["popular"], "user 'user', item 'item', rank 'rank', score 'score'"), (SAMPLE.recommendations, "model 'model'"),
    (SAMPLE.test, "relevance 'rating'"), (pl.LazyFrame({"a": [1]}), "no column that recnb knows by its name"),
    (pd.DataFrame({"userId": [1], "user_id": [2]}), "user 'userId' or 'user_id'"),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "found"), ROLES)
def test_the_accessor_shows_the_roles_it_found(frame, found: str) -> None:
    first, second = repr(frame.rec).splitlines()
    assert first.startswith("df.rec: ")
    assert found in first
    assert all(name in dir(frame.rec) for name in re.findall(r"\.(\w+)\(", second))


def test_the_accessor_shows_a_frame_that_cannot_be_read() -> None:
    assert "more than one column is called 'a'" in repr(pd.DataFrame([[1, 2]], columns=["a", "a"]).rec)


OF_DATA = {
    "threshold": lambda: EV.ndcg(k=10, relevant_from=4), "users": lambda: EV.ndcg(k=10, users=SAMPLE.users), "train": lambda: EV.coverage(k=10, train=SAMPLE.train),
    "table": lambda: EV.table(relevant_from=4), "report": lambda: EV.report(relevant_from=4), "lint": lambda: EV.lint(relevant_from=4),
    "curve": lambda: EV.curve("ndcg", ties="last"), "measures": lambda: EV.measures(["nDCG@10"], relevant_from=4),
    "comparison": lambda: FOUND.differences("ndcg", relevant_from=4),
}  # fmt: skip


@pytest.mark.parametrize("what", OF_DATA)
def test_options_of_the_data_are_told_apart_from_those_of_a_metric(what: str) -> None:
    advice = r"is no option of .* one of the data, .*: recs\.rec\.against\(truth, \w+=\.\.\.\), recnb\.evaluate or recnb\.compare"
    with pytest.raises(OptionError, match=advice):
        OF_DATA[what]()


#: A call -> what its error says.
TOLD: dict[str, tuple[Callable[[], Any], str]] = {
    "an option of a table": (lambda: EV.table(k=10, interval=True), "Did you mean 'intervals'"),
    "a measure": (lambda: EV.measure("nDGC@10"), "Did you mean 'ndcg'?"),
    "a user of a model": (lambda: FOUND.user(1), "found['item-knn'].user"),
    "a metric of a model": (lambda: FOUND.ndcg(k=10), "found['item-knn'].ndcg"),
    "a cut-off by another name": (lambda: EV.ndcg(k=10, cutoff=5), "ndcg has no option 'cutoff'. Known: 'k'"),
    "a cut-off twice": (lambda: EV.measure("nDCG@10", k=5), "leave one of them out"),
    "a quiz of one's own list": (lambda: recnb.quiz("ndcg", ["a"], {"a": 1}), "recnb.explain('ndcg', "),
    "a quiz beyond accuracy": (lambda: recnb.quiz("coverage"), "one of accuracy is needed"),
    "items by a title": (
        lambda: recnb.evaluate({"u": ["a"]}, {"u": ["a"]}, items=pd.DataFrame({"sku_uuid": ["a"], "product_name": ["x"], "category": ["c"]})),
        "item='sku_uuid'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TOLD)
def test_it_is_told_what_to_type(what: str) -> None:
    call, says = TOLD[what]
    with pytest.raises(RecnbError) as caught:
        call()
    assert says in str(caught.value)
    assert "item='product_name'" not in str(caught.value)


def test_help_of_the_package_is_about_the_package() -> None:
    text = pydoc.render_doc(recnb, renderer=pydoc.plaintext)
    assert len(text.splitlines()) < 6_000
    assert "class Evaluation(" in text
    assert "evaluate(recs: " in text
    assert "Methods inherited from pandas" not in text
    assert {name for name in dir(recnb) if not name.startswith("_")} <= {*recnb.__all__, "map"}


def test_a_comparison_completes_its_models_and_is_a_mapping() -> None:
    assert FOUND._ipython_key_completions_() == FOUND.names == [name for name, _model in FOUND.items()]
    assert not hasattr(FOUND, "ndcg")


def test_a_measure_without_a_cut_off_takes_k() -> None:
    assert EV.measure("nDCG", k=10) == EV.measure("nDCG@10") == EV.measure("nDCG@10", k=10) == EV.ndcg(k=10)


def test_all_of_recnb_leaves_python_its_own_names() -> None:
    space: dict[str, Any] = {}
    exec("from recnb import *", space)
    assert not {*space} & {*dir(builtins)} - {"__builtins__", "__doc__", "__name__"}
    assert recnb.map is recnb.average_precision
    assert space["ndcg"] is recnb.ndcg
