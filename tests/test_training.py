"""The page of training loops: its programs as they stand, and what it says of forks;
pickles: test_pickle.py.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import recnb
from tests.tools.readme import output_of

PAGE = Path(recnb.__file__).with_name("TRAINING.md").read_text("utf-8")
LOOP, LIGHTGBM, HISTORY = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("program", [LOOP, HISTORY])
def test_a_program_prints_what_the_page_says(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"```text\n{output_of(program)}\n```" in PAGE


@pytest.mark.filterwarnings("ignore")
def test_an_feval_returns_the_mean_over_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names: dict[str, Any] = {}
    if importlib.util.find_spec("lightgbm"):
        exec(LIGHTGBM, names)
        assert max(names["history"]["valid_0"]["ndcg@5"]) == pytest.approx(
            float(names["after"]), abs=1e-12
        )
    else:
        monkeypatch.setitem(sys.modules, "lightgbm", SimpleNamespace())
        exec(LIGHTGBM.partition("rng =")[0], names)
    rows = SimpleNamespace(
        get_label=lambda: np.array([3, 0, 2, 1, 0]), get_group=lambda: np.array([3, 2])
    )
    mean = (recnb.ndcg([0, 2, 3], k=5) + recnb.ndcg([0, 1], k=5)) / 2
    assert names["ndcg"]([0.2, 0.9, 0.5, 0.1, 0.7], rows) == (
        "ndcg@5",
        pytest.approx(mean, abs=1e-12),
        True,
    )


#: Before the first evaluation a forked worker evaluates, after it one does other work
#: or is refused, and the loop goes on.
FORKED = """
import os, recnb
ask = lambda: recnb.evaluate_groups([1, 0], [0.9, 0.2], group=[2]).ndcg(k=2)
for evaluates in (True, False):
    if not (child := os.fork()):
        os._exit(int(evaluates and ask() != 1))
    assert (os.waitpid(child, 0)[1], ask()) == (0, 1)
if not (child := os.fork()):
    try:
        ask()
    except recnb.errors.RecnbError as problem:
        os._exit("get_context('spawn')" in str(problem))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_workers_do_no_harm() -> None:
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=60
    )
