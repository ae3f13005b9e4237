"""`df.rec`: the evaluation of a frame, whatever frame it is, and light to import."""

from __future__ import annotations

import json
import subprocess
import sys
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
from tests.rows import hold_calls, hold_refusals, read_rows
from tests.sample import SAMPLE

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
TRUTH = pd.DataFrame(
    {"user": [1, 2, 2], "item": [11, 10, 12], "relevance": [1.0, 2.0, 1.0]}
)
ONE = RECS.merge(TRUTH, how="outer", on=["user", "item"])
NAMES = [*METRICS, *ALIASES]


@pytest.mark.parametrize(
    "convert",
    [pd.DataFrame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()],
)
def test_the_accessor_is_the_evaluation(convert: Any) -> None:
    against = convert(RECS).rec.against(convert(TRUTH))
    want, of_one = recnb.evaluate(RECS, TRUTH), convert(ONE).rec
    assert isinstance(against, Evaluation)
    for name in NAMES:
        score = getattr(want, name)(k=2)
        for other in (getattr(against, name)(k=2), getattr(of_one, name)(k=2)):
            assert (other, other.label) == (score, score.label)


COLUMNS = {"user": "who", "item": "what", "rank": "at"}
RENAMED = ONE.rename(columns=COLUMNS)
GIVEN = {**COLUMNS, "relevant_from": 2}
OF_RENAMED = recnb.evaluate(RENAMED, **GIVEN)
PLANS = pd.DataFrame({"who": [1, 2], "plan": ["x", "y"]})
ROWS = read_rows("accessor.toml")


test_keywords_of_evaluate_are_taken_by_each_method = hold_calls(ROWS["same"], globals())
test_keywords_that_are_none_are_refused = hold_refusals(ROWS["refused"], globals())


FRAMES = [
    pd.DataFrame(),
    pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
    pd.DataFrame(np.eye(2), columns=["a", "a"]),
    pl.DataFrame(),
    pl.LazyFrame({"a": [1]}),
    pl.LazyFrame({"a": [1]}).select("nope"),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_frames_that_have_nothing_to_do_with_it_are_left_in_peace(frame: Any) -> None:
    assert "rec" in dir(frame)
    accessor = frame.rec
    assert isinstance(accessor, recnb.RecAccessor)
    for name in dir(accessor):
        getattr(accessor, name)  # looking at a method evaluates nothing
    assert repr(accessor).startswith("df.rec: ")


ROLES = [
    (SAMPLE.models["popular"], "user 'user', item 'item', rank 'rank', score 'score'"),
    (SAMPLE.recommendations, "model 'model'"),
    (SAMPLE.test, "relevance 'rating'"),
    (pl.LazyFrame({"a": [1]}), "no column that recnb knows by its name"),
    (pd.DataFrame({"userId": [1], "user_id": [2]}), "user 'userId' or 'user_id'"),
    (pd.DataFrame(np.eye(2), columns=["a", "a"]), "more than one column is called 'a'"),
]


@pytest.mark.parametrize(("frame", "found"), ROLES)
def test_the_accessor_shows_the_roles_it_found(frame: Any, found: str) -> None:
    assert found in repr(frame.rec).splitlines()[0]


def test_tab() -> None:
    """What a notebook completes: on a frame, on the accessor and on an evaluation."""
    shell = InteractiveShell.instance()
    shell.user_ns.update(
        frame=pd.DataFrame({"a": [1]}),
        recs=RECS,
        ev=recnb.evaluate(RECS, TRUTH),
        recnb=recnb,
    )
    shell.Completer.use_jedi = False
    try:
        with provisionalcompleter():
            for text, wanted in (
                ("frame.re", {"rec"}),
                ("frame.rec.", {*NAMES, "against", "report", "explain"}),
                ("recs.rec.nd", {"ndcg"}),
                ("ev.", {*NAMES}),
                ("recnb.", {*NAMES} - {"map"}),
            ):
                found = {
                    text[: one.start] + one.text
                    for one in shell.Completer.completions(text, len(text))
                }
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


HEAVY = {
    *("matplotlib", "ipywidgets", "scipy.stats", "IPython", "pooch", "dask", "pyspark"),
    *("jupyterlab", "sklearn", "duckdb", "hypothesis"),
}
CODE = f"""
import importlib, json, sys, warnings, pandas as pd, polars as pl
@pd.api.extensions.register_dataframe_accessor("rec")
class Other:
    def __init__(self, frame): pass
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import recnb
told = [len(seen), "rec" in str(seen[0].message)]
recs = pd.DataFrame({{"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]}})
ev = recs.rec.against(pd.DataFrame({{"user": [1], "item": ["b"]}}))
ev.table(k=[1, 2]); ev.ndcg(k=2).interval(); repr(ev.explain("ndcg", 1, k=2)); ev.ndcg(k=2)._repr_html_()
heavy = [name for name in {HEAVY} if name in sys.modules]
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
print(json.dumps([told, heavy, [type(frame.rec) is RecAccessor for frame in (pd.DataFrame(), pl.DataFrame(), pl.LazyFrame())]]))
"""  # noqa: E501


def test_a_python_of_its_own() -> None:
    """Another's accessor is replaced with a warning, a first call is light, and loading
    again is silent and registers once.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[1, True], [], [True, True, True]]
