"""Nonsense for every public argument is refused by an error of recnb's own, or does no
harm.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import RecnbError
from recnb.metrics.metric import LIST_METRICS, METRICS
from tests.rows import read_rows

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

ROWS = read_rows("nonsense.toml")
NONSENSE = ROWS["nonsense"]
#: Calls of one list, of grades as well, and of methods.
METRIC_CALLS = [
    *[(f"EV.{name}", {}) for name in (*METRICS, *LIST_METRICS)],
    *[(f"recnb.{name}", {}) for name in METRICS],
    *[(f"recnb.{name}", {"ranking": "['a']", "truth": "['a']"}) for name in METRICS],
]
#: Nonsense that is evaluated, for which a report is made each time.
SLOW = {("EV.report", name) for name in ("k", "metrics", "confidence", "lang")}


def asked() -> Iterator[tuple[str, dict[str, str], str]]:
    """Every argument of every call, beside those that make sense."""
    for call, given in (*METRIC_CALLS, *ROWS["calls"].items()):
        for one in inspect.signature(eval(call)).parameters.values():
            is_named = one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
            if is_named and (call, one.name) not in SLOW:
                yield call, given, one.name


@pytest.mark.thin
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize(("call", "given", "name"), [*asked()])
def test_nonsense_is_refused_or_does_no_harm(
    call: str, given: dict[str, str], name: str, part: int
) -> None:
    raised, before = [], recnb.language()
    for value in NONSENSE[part::3]:
        sense = {each: eval(text) for each, text in given.items()}
        try:
            result = eval(call)(**{**sense, name: eval(value)})
            if isinstance(result, recnb.Evaluation):
                result = result.ndcg(k=2)
            repr(result)
        except RecnbError as problem:
            if "\n" in str(problem):  # such as a frame that is quoted
                raised.append(str(problem))
        except Exception as problem:
            raised.append(f"{value}: {type(problem).__name__}: {problem}")
    recnb.language(before)
    assert raised == []


@pytest.mark.parametrize("form", ["to_html", "to_markdown", "to_json"])
def test_a_file_that_cannot_be_written(form: str, tmp_path: Path) -> None:
    path = tmp_path / "no" / "folder" / "report"
    write = getattr(EV.report(k=2, metrics=["ndcg"]), form)
    for nonsense in (3, [], np.array(3), b"x", object(), f"{tmp_path}/a\0b"):
        with pytest.raises(RecnbError, match=r"names no file"):
            write(nonsense)
    with pytest.raises(RecnbError, match=r"cannot be written: name a file"):
        write(tmp_path)
    with pytest.raises(RecnbError, match="make its folder first"):
        write(path)
    path.parent.mkdir(parents=True)
    assert write(path) is None
    assert path.read_text(encoding="utf-8") == write()
