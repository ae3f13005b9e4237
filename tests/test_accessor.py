"""`df.rec`, and the names that recnb shows: everything bound, typed, documented, and light to import."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import recnb
from recnb.evaluation import Evaluation
from recnb.metrics.metric import ALIASES, METRICS

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
TRUTH = pd.DataFrame({"user": [1, 2, 2], "item": [11, 10, 12], "relevance": [1.0, 2.0, 1.0]})
ONE = RECS.merge(TRUTH, how="outer", on=["user", "item"])
NAMES = [*METRICS, *ALIASES]


def run(code: str, *options: str) -> str:
    """What a Python of its own prints; warnings are errors there as well."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *options, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# On frames


@pytest.mark.parametrize(
    "convert",
    [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()],
    ids=["pandas", "polars", "lazy"],
)
def test_the_accessor_is_the_evaluation(convert: Any) -> None:
    recs, truth, one = convert(RECS), convert(TRUTH), convert(ONE)
    want = recnb.evaluate(RECS, TRUTH)
    assert isinstance(recs.rec.against(truth), Evaluation)
    for name in NAMES:
        score = getattr(want, name)(k=2)
        assert getattr(recs.rec.against(truth), name)(k=2) == score
        assert getattr(one.rec, name)(k=2) == score
        assert getattr(one.rec, name)(k=2).label == score.label
    assert one.rec.ndcg(2, gain="exponential") == want.ndcg(k=2, gain="exponential")
    assert one.rec.evaluation(relevant_from=2).n_users == 1
    assert (one.rec.table(["ndcg"], k=[1, 2]).to_numpy() == want.table(["ndcg"], k=[1, 2]).to_numpy()).all()
    assert one.rec.curve("ndcg", k=[1, 2]).equals(want.curve("ndcg", k=[1, 2]))
    assert one.rec.explain("ndcg", 2, k=2).value == want.explain("ndcg", 2, k=2).value


def test_columns_and_conventions_on_every_method() -> None:
    """Keywords of `evaluate` are taken by each method of a frame, beside its own."""
    frame = ONE.rename(columns={"user": "who", "item": "what", "rank": "at"})
    columns = {"user": "who", "item": "what", "rank": "at"}
    ev = recnb.evaluate(frame, **columns, relevant_from=2)
    assert frame.rec.ndcg(k=2, **columns, relevant_from=2) == ev.ndcg(k=2)
    assert frame.rec.ndcg(2, gain="exponential", relevant_from=2, **columns) == ev.ndcg(k=2, gain="exponential")
    assert frame.rec.map(k=2, **columns, relevant_from=2) == ev.map(k=2)
    table = frame.rec.table(["ndcg"], [1, 2], gain="binary", **columns, relevant_from=2)
    assert (table.to_numpy() == ev.table(["ndcg"], k=[1, 2], gain="binary").to_numpy()).all()
    assert frame.rec.curve("ndcg", k=[1, 2], **columns, relevant_from=2).equals(ev.curve("ndcg", k=[1, 2]))
    assert frame.rec.report(k=2, **columns, relevant_from=2).n_users == ev.n_users
    assert frame.rec.lint(k=2, **columns, relevant_from=2).value == ev.lint(k=2).value
    users = pd.DataFrame({"who": [1, 2], "plan": ["x", "y"]})
    assert len(frame.rec.table("ndcg", k=2, by="plan", users=users, **columns)) > 0
    for library in ("trec_eval", "scikit-learn"):
        want = recnb.evaluate(ONE, convention=library)
        assert ONE.rec.ndcg(k=2, convention=library) == want.ndcg(k=2)
        assert ONE.rec.ndcg(k=2, convention=library).basis == want.ndcg(k=2).basis
    with pytest.raises(recnb.errors.OptionError, match="'gian'"):
        ONE.rec.ndcg(k=2, gian="binary")
    with pytest.raises(recnb.errors.RecnbError, match="who"):
        frame.rec.ndcg(k=2)


def test_a_user_by_position_leaves_the_keyword_to_the_column() -> None:
    frame = ONE.rename(columns={"user": "who"})
    assert frame.rec.explain("ndcg", 2, k=2, user="who").value == ONE.rec.explain("ndcg", 2, k=2).value
    assert ONE.rec.explain("ndcg", user=2, k=2).value == ONE.rec.explain("ndcg", 2, k=2).value


def test_a_column_called_rec() -> None:
    """It does not hide the accessor, nor the accessor the column."""
    recs = RECS.assign(rec=[True, False, True])
    assert recs.rec.against(TRUTH).ndcg(k=2) == recnb.evaluate(RECS, TRUTH).ndcg(k=2)
    assert recs["rec"].tolist() == [True, False, True]


FRAMES = [
    pd.DataFrame(), pd.DataFrame({"a": [1]}), pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), pd.DataFrame(np.eye(2), columns=["a", "a"]),
    pl.DataFrame(), pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}).lazy(), pl.LazyFrame({"a": [1]}).select("nope"),
]  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_frames_that_have_nothing_to_do_with_it_are_left_in_peace(frame: Any) -> None:
    assert "rec" in dir(frame)
    accessor = frame.rec
    assert isinstance(accessor, recnb.RecAccessor)
    for name in dir(accessor):
        getattr(accessor, name)  # looking at a method evaluates nothing
    assert hasattr(frame, "rec")
    assert repr(accessor).startswith("df.rec: ")


def test_tab() -> None:
    """What a notebook completes: on a frame, on the accessor and on an evaluation."""
    shell = InteractiveShell.instance()
    shell.user_ns.update(frame=pd.DataFrame({"a": [1]}), recs=RECS, ev=recnb.evaluate(RECS, TRUTH), recnb=recnb)
    shell.Completer.use_jedi = False
    try:
        with provisionalcompleter():
            for text, wanted in (
                ("frame.re", {"rec"}), ("frame.rec.", {*NAMES, "against", "report", "explain"}), ("recs.rec.nd", {"ndcg"}),
                ("ev.", {*NAMES}), ("recnb.", {*NAMES} - {"map"}),
            ):  # fmt: skip
                found = {text[: one.start] + one.text for one in shell.Completer.completions(text, len(text))}
                assert wanted <= {name.rsplit(".", 1)[-1] for name in found}, text
    finally:
        InteractiveShell.clear_instance()


def test_the_accessor_keeps_nothing_but_its_frame() -> None:
    for frame in (RECS.copy(), pl.from_pandas(RECS)):
        accessor = frame.rec
        accessor.against(TRUTH).ndcg(k=2)
        assert [*vars(accessor)] == ["_frame"]
        assert accessor._frame is frame
    changed = ONE.copy()
    first = changed.rec.recall(k=1)
    changed.loc[changed["rank"] == 1, "relevance"] = [1.0, 2.0]
    assert changed.rec.recall(k=1) != first, "a changed frame is read anew"
    assert RECS.attrs == {}


def test_an_accessor_of_another_is_not_taken_without_a_word() -> None:
    code = """
import pandas as pd, warnings
@pd.api.extensions.register_dataframe_accessor("rec")
class Other:
    def __init__(self, frame): pass
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import recnb
print(len(seen), "rec" in str(seen[0].message))
"""
    assert run(code) == "1 True"


def test_loading_again_is_silent_and_registers_once() -> None:
    code = """
import importlib, sys, recnb, pandas as pd, polars as pl
for _ in range(2):
    importlib.reload(recnb)
    importlib.reload(recnb.accessor)
    importlib.reload(recnb)
for name in [name for name in sys.modules if name.startswith("recnb")]:
    del sys.modules[name]
import recnb
from recnb.accessor import RecAccessor, register
register()
register()
print(all(type(frame.rec) is RecAccessor for frame in (pd.DataFrame(), pl.DataFrame(), pl.LazyFrame())))
"""
    assert run(code) == "True"


# Bindings


@pytest.mark.parametrize("alias", [None, *ALIASES])
@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_bound_everywhere(name: str, alias: str | None) -> None:
    if alias is not None and ALIASES[alias] != name:
        return
    bound = alias or name
    lines = {
        "recnb/evaluation.py": (Evaluation, f"{bound} = {name}" if alias else f"{name} = method(accuracy.{name})"),
        "recnb/accessor.py": (recnb.RecAccessor, f"{bound} = {name}" if alias else f"{name} = method(accuracy.{name})"),
        "recnb/__init__.py": (recnb, f"{bound} = {name}" if alias else f"{name} = on_lists(accuracy.{name})"),
    }
    for file, (place, line) in lines.items():
        assert callable(getattr(place, bound, None)), f"{file} lacks the line: {line}"
        assert getattr(place, bound) is getattr(place, name), f"{file}: {bound} is not {name}"
    # `from recnb import *` must not replace Python's `map`.
    assert (bound in recnb.__all__) == (bound != "map"), f"recnb/__init__.py: __all__ and {bound!r}"


@pytest.mark.parametrize("name", METRICS)
def test_signatures_and_help_are_real(name: str) -> None:
    metric = METRICS[name]
    for place, first in ((Evaluation, ["self"]), (recnb.RecAccessor, ["self"]), (recnb, ["ranking", "truth"])):
        function = getattr(place, name)
        parameters = inspect.signature(function).parameters
        last = ["y_true", "y_score"] if place is recnb else []
        assert list(parameters) == [*first, "k", *metric.defaults, *last], place
        assert parameters["k"].default is None
        assert parameters["k"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        for option, default in metric.defaults.items():
            assert parameters[option].default == default
            assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
        own = (inspect.getdoc(metric.function) or "").split(">>>")[0].rstrip()
        assert (inspect.getdoc(function) or "").startswith(own)
        assert (function.__doc__ or "").startswith(metric.title)
        assert len(metric.title) > 20
        assert function.__name__ == name
        assert "Score" in str(inspect.signature(function).return_annotation)
    assert list(inspect.signature(getattr(ONE.rec, name)).parameters) == ["k", *metric.defaults]


def test_public_methods_are_documented() -> None:
    for place in (Evaluation, recnb.RecAccessor, recnb.Score, recnb.Table, recnb.Explanation, recnb.Convention, recnb):
        for name in vars(place):
            thing = getattr(place, name)
            if not name.startswith("_") and callable(thing) and getattr(thing, "__module__", "").startswith("recnb"):
                assert inspect.getdoc(thing), f"{place.__name__}.{name}"


# The module


def test_public_names() -> None:
    """What users rely on; names may be added, none may go."""
    methods = {"table", "curve", "explain", "report", "lint", "items", "user", "measure", "measures"} | {*NAMES}
    functions = {
        "evaluate",
        "evaluate_groups",
        "evaluate_model",
        "compare",
        "as_in",
        "explain",
        "playground",
        "quiz",
        "glossary",
    }
    assert {*recnb.__all__} >= (functions | {*NAMES} | {"Score", "Table", "Explanation", "Interval", "Convention"}) - {
        "map"
    }
    assert len(recnb.__all__) == len({*recnb.__all__})
    assert all(hasattr(recnb, name) for name in recnb.__all__)
    assert {*dir(recnb.RecAccessor)} >= methods | {"against", "evaluation", "compare"}
    assert {*dir(Evaluation)} >= methods | {
        "under",
        "why",
        "identify",
        "spread",
        "explore",
        "beyond",
        "at_least",
        "detectable",
    }
    assert issubclass(recnb.errors.RecnbError, ValueError)
    assert issubclass(recnb.errors.ColumnError, recnb.errors.FrameError)
    assert (Path(recnb.__file__).parent / "py.typed").exists()


HEAVY = ["matplotlib", "ipywidgets", "scipy.stats", "IPython", "pooch", "dask", "pyspark", "jupyterlab", "sklearn", "duckdb", "hypothesis"]  # fmt: skip


def test_import_and_a_first_call_are_light() -> None:
    code = f"""
import json, sys, pandas as pd, recnb
recs = pd.DataFrame({{"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]}})
ev = recs.rec.against(pd.DataFrame({{"user": [1], "item": ["b"]}}))
ev.table(k=[1, 2]); ev.ndcg(k=2).interval(); repr(ev.explain("ndcg", 1, k=2)); ev.ndcg(k=2)._repr_html_()
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""
    assert json.loads(run(code)) == []
