"""The page of training loops: its programs as they stand, and what it says of nights
and of forks; pickles: test_pickle.py.
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
import pandas as pd
import pytest

import recnb
from tests.tools.readme import output_of

PAGE = Path(recnb.__file__).with_name("TRAINING.md").read_text("utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
LOOP, LIGHTGBM, NIGHTS, FOLDS = PROGRAMS
N_NIGHTS = 30


@pytest.mark.parametrize("program", [LOOP, NIGHTS, FOLDS])
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


def shop(seed: int, n_users: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make lists and truth of a month: users whose lists are good return more often."""
    rng = np.random.default_rng(seed)
    skill = rng.beta(0.6, 0.8, n_users)
    comes = rng.random((n_users, N_NIGHTS)) < 0.05 + 0.5 * skill[:, np.newaxis] ** 2
    comes[np.arange(n_users), rng.integers(N_NIGHTS, size=n_users)] = True
    users, nights = np.nonzero(comes)
    n_lists, n_items = len(users), 5
    dates = pd.Timestamp("2026-11-01") + pd.to_timedelta(nights, unit="D")
    items = rng.permuted(np.tile(np.arange(n_items), (n_lists, 1)), axis=1)
    is_hit = rng.random(n_lists) < skill[users]
    recs = pd.DataFrame(
        {
            "user": np.repeat(users, n_items),
            "night": np.repeat(dates, n_items),
            "item": items.ravel(),
            "rank": np.tile(np.arange(1, n_items + 1), n_lists),
        }
    )
    wanted = np.where(is_hit, rng.integers(n_items, size=n_lists), n_items)
    truth = pd.DataFrame({"user": users, "night": dates, "item": wanted})
    return recs, truth


def test_a_month_stored_by_night_has_the_numbers_of_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values").mkdir()
    names: dict[str, Any] = {}
    exec(NIGHTS.partition("sample =")[0], names)
    recs, truth = shop(1, n_users=80)
    models = {"popular": recs, "item-knn": recs.assign(rank=6 - recs["rank"])}
    for night, of_night in truth.groupby("night"):
        lists = {
            model: rows[rows["night"] == night].drop(columns="night")
            for model, rows in models.items()
        }
        names["evaluate_night"](night, lists, of_night.drop(columns="night"))
    stored = pd.read_parquet("values").set_index("night", append=True)
    assert len({*stored.index.get_level_values("night")}) == N_NIGHTS

    found = recnb.compare(models, truth, split="night", baseline="popular")
    for model, ev in found.items():
        score = ev.ndcg(k=10)
        assert stored[model].mean() == pytest.approx(float(score), abs=1e-12)
        of_stored = recnb.interval(stored[model])
        assert list(of_stored) == pytest.approx(list(score.interval()), abs=1e-12)
    change = recnb.paired(stored["item-knn"], stored["popular"]).to_dict()
    row = found.differences("ndcg", k=10).iloc[0]
    for name in ("difference", "low", "high", "p", "won", "lost", "n_users", "n_lists"):
        assert change[name] == pytest.approx(row[name], abs=1e-12), name


def test_the_interval_of_a_month_covers_the_number_of_all_users() -> None:
    recs, truth = shop(2, n_users=3_000)
    values = recnb.evaluate(recs, truth, split="night").ndcg(k=5).per_user
    number = values.mean()
    users = values.index.get_level_values("user").to_numpy()
    rng = np.random.default_rng(3)
    n_samples = 300
    by_user, as_users = 0, 0
    for _sample in range(n_samples):
        drawn = values[np.isin(users, rng.choice(3_000, 100, replace=False))]
        low, high = recnb.interval(drawn)
        by_user += low <= number <= high
        low, high = recnb.interval(drawn.reset_index(drop=True))
        as_users += low <= number <= high
    assert by_user / n_samples > 0.93
    assert as_users / n_samples < 0.8


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
