"""The page of training loops: its programs, as they stand, and what it says of forks and pickles."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recnb

PAGE = Path(recnb.__file__).with_name("TRAINING.md").read_text("utf-8")
LOOP, LIGHTGBM = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_a_loop_over_epochs_prints_what_the_page_says() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(LOOP, {})
    assert f"```text\n{printed.getvalue()}```" in PAGE


class Rows:
    """As much of a LightGBM data set as an feval and the model below look at."""

    def __init__(self, features: Any, label: Any, group: Any, reference: Any = None) -> None:
        self.features, self.get_label, self.get_group = features, lambda: label, lambda: np.array(group)


class Model:
    """After n rounds, the scores are the first feature with less and less noise."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def predict(self, features: Any) -> Any:
        return features[:, 0] + features[:, 1] / self.rounds


def trained(options: Any, train: Rows, num_boost_round: int, valid_sets: list[Rows], feval: Any, callbacks: list[Any]) -> Model:  # fmt: skip
    values = []
    for n in range(1, 1 + num_boost_round):
        name, value, higher = feval(Model(n).predict(valid_sets[0].features), valid_sets[0])
        assert (name, type(value), higher) == ("ndcg@5", float, True)
        values.append(value)
    callbacks[1]["valid_0"] = {name: values}
    return Model(1 + int(np.argmax(values)))


@pytest.mark.parametrize("real", [False, True], ids=["stand-in", "LightGBM"])
@pytest.mark.filterwarnings("ignore")
def test_lightgbm_gets_the_number_of_recnb(real: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not real:
        stand_in = {"Dataset": Rows, "train": trained, "early_stopping": lambda *_, **__: None, "record_evaluation": lambda kept: kept}  # fmt: skip
        monkeypatch.setitem(sys.modules, "lightgbm", types.SimpleNamespace(**stand_in))
    elif not importlib.util.find_spec("lightgbm"):
        pytest.skip("LightGBM is not installed")
    names: dict[str, Any] = {}
    exec(LIGHTGBM, names)
    values = names["history"]["valid_0"]["ndcg@5"]
    assert len({*values}) > 3
    assert max(values) == pytest.approx(float(names["after"]), abs=1e-12)
    shuffled = np.random.default_rng(2).permutation(1_000)
    assert names["after"] > recnb.evaluate_groups(names["grades"][1_000:], shuffled, group=[20] * 50).ndcg(k=5)


FORKED = """
import os, recnb
ask = lambda: float(recnb.evaluate_groups([3, 0, 2], [0.2, 0.9, 0.5], group=[3]).ndcg(k=3))
def forked(work):
    child = os.fork()
    if child == 0:
        os._exit(work() or 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
forked(lambda: ask() < 0.5)  # a worker forked before the first evaluation evaluates
value = ask()
forked(lambda: sum(range(10**5)) < 0)  # one forked after it does other work, and the loop goes on
assert ask() == value
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_workers_do_no_harm() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=60)


def test_what_a_loop_keeps_is_pickled() -> None:
    ev = recnb.evaluate_groups([3, 0, 2], [0.2, 0.9, 0.5], group=[3])
    for one in (ev.ndcg(k=3), ev.table("ndcg", k=3), ev):
        assert repr(pickle.loads(pickle.dumps(one))) == repr(one)
