"""The page of training loops: its programs as they stand, and what it says of nights
and of forks; pickles: test_pickle.py.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest

import recnb
from tests.laws.test_splits import frames_of, rows_of
from tests.tools.parity.environments import python, wanted
from tests.tools.readme import output_of

PAGE = Path(recnb.__file__).with_name("TRAINING.md").read_text("utf-8")


def programs_of(page: str) -> dict[str, str]:
    """The programs of the page by the headings that they stand under."""
    programs = {}
    for section in page.split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        if program := re.search(r"```python\n(.*?)```", text, re.DOTALL):
            programs[heading] = program[1]
    return programs


PROGRAMS = programs_of(PAGE)
NIGHTS = "Nights, weeks and a trend"
PRINTING = [
    "A loop over epochs",
    "scikit-learn",
    NIGHTS,
    "Folds and seeds",
    "Two models, and two metrics",
]
#: How the rest of a program shows that the library did what the page says.
CLAIMS = {
    "LightGBM": """
assert max(history["valid_0"]["ndcg@5"]) == float(after)
""",
    "XGBoost": """
assert len(history["valid"]["ndcg@5"]) < 20
assert max(history["valid"]["ndcg@5"]) == round(float(after), 6)
""",
    "MLflow": """
run = mlflow.last_active_run()
run_id = run.info.run_id
stored = mlflow.artifacts.load_dict(f"runs:/{run_id}/report.json")
assert stored["made_with"] == report.to_dict()["made_with"]
assert run.data.metrics["nDCG_at_10"] == float(ev.ndcg(k=10))
assert run.data.tags["convention"] == str(ev.convention)
assert "0.2589" in mlflow.artifacts.load_text(f"runs:/{run_id}/report.html")
""",
    "Great Tables": """
page = table.as_raw_html()
assert "0.2589" in page and found.basis in page
assert "0.2589" in table.as_latex()
""",
}


def test_every_program_of_the_page_is_tested() -> None:
    assert len(PROGRAMS) == PAGE.count("```python")
    assert {*PROGRAMS} == {*PRINTING, *CLAIMS}


@pytest.mark.parametrize(
    "heading",
    [
        pytest.param(heading, marks=[pytest.mark.slow] * (heading == "scikit-learn"))
        for heading in PRINTING
    ],
)
def test_a_program_prints_what_the_page_says(
    heading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"```text\n{output_of(PROGRAMS[heading])}\n```" in PAGE


@pytest.mark.parametrize(
    "heading, more", [("LightGBM", (True,)), ("XGBoost", ())], ids=str
)
def test_a_metric_of_boosting_is_the_mean_over_queries(
    heading: str, more: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, heading.lower(), SimpleNamespace())
    names: dict[str, Any] = {}
    exec(PROGRAMS[heading].partition("rng =")[0], names)
    rows = SimpleNamespace(
        get_label=lambda: np.array([3, 0, 2, 1, 0]), get_group=lambda: np.array([3, 2])
    )
    mean = (recnb.ndcg([0, 2, 3], k=5) + recnb.ndcg([0, 1], k=5)) / 2
    assert names["ndcg"]([0.2, 0.9, 0.5, 0.1, 0.7], rows) == (
        "ndcg@5",
        pytest.approx(mean, abs=1e-12),
        *more,
    )


def test_a_run_has_the_means_and_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = MagicMock()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    names: dict[str, Any] = {}
    exec(PROGRAMS["MLflow"], names)
    ev = names["ev"]
    (metrics,) = mlflow.log_metrics.call_args.args
    assert metrics == {"nDCG_at_10": ev.ndcg(k=10), "R_at_10": ev.recall(k=10)}
    mlflow.set_tag.assert_called_once_with("convention", str(ev.convention))
    texts = {call.args[1]: call.args[0] for call in mlflow.log_text.mock_calls}
    assert "0.2589" in texts["report.html"]
    stored = json.loads(texts["report.json"])
    assert stored["made_with"] == names["report"].to_dict()["made_with"]


def test_a_table_has_its_numbers_and_what_they_rest_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = MagicMock()
    monkeypatch.setitem(sys.modules, "great_tables", made)
    exec(PROGRAMS["Great Tables"], {})
    called, header, numbers, note = made.mock_calls
    (rows,) = called.args
    assert [*rows[called.kwargs["rowname_col"]]] == ["item-knn", "factors", "popular"]
    assert round(rows.loc[0, "ndcg@10"], numbers.kwargs["decimals"]) == 0.2589
    assert numbers.kwargs["columns"] == ["ndcg@10", "recall@10", "hit_rate@10"]
    assert header.kwargs["subtitle"] == "261 users"
    assert "relevance above 0" in note.args[0]


@pytest.mark.parity
@pytest.mark.parametrize("heading", CLAIMS)
def test_a_program_does_with_the_library_itself_what_the_page_says(
    heading: str, tmp_path: Path
) -> None:
    interpreter = python("recipes")
    how = (
        "run `python -m tests.tools.parity.environments <folder>` and set "
        "RECNB_PARITY=<folder>, both with RECNB_PARITY_ALL=1"
    )
    if interpreter is None and not wanted("recipes"):
        pytest.skip(how)
    assert interpreter is not None, how
    runs = {
        "MLFLOW_TRACKING_URI": (tmp_path / "runs").as_uri(),
        "MLFLOW_ALLOW_FILE_STORE": "true",
    }
    root = str(Path(recnb.__file__).parents[1])
    subprocess.run(
        [interpreter, "-W", "ignore", "-c", PROGRAMS[heading] + CLAIMS[heading]],
        check=True,
        cwd=tmp_path,
        env={**os.environ, **runs, "PYTHONPATH": root},
        timeout=300,
    )


def test_values_stored_by_night_have_the_numbers_of_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values").mkdir()
    names: dict[str, Any] = {}
    exec(PROGRAMS[NIGHTS].partition("sample =")[0], names)
    recs, truth, nights = frames_of(1, ["day"], n_users=80)
    models = {"popular": recs, "item-knn": recs.assign(score=-recs["score"])}
    for (night,) in nights:
        lists = {
            name: rows_of(rows, ["day"], (night,)) for name, rows in models.items()
        }
        names["evaluate_night"](night, lists, rows_of(truth, ["day"], (night,)))
    stored = pd.read_parquet("values").set_index("night", append=True)

    found = recnb.compare(models, truth, split="day", baseline="popular")
    for model, ev in found.items():
        score = ev.ndcg(k=10)
        assert stored[model].mean() == pytest.approx(float(score), abs=1e-12)
        of_stored = recnb.interval(stored[model], cluster="user")
        assert list(of_stored) == pytest.approx(list(score.interval()), abs=1e-12)
    change = recnb.paired(stored["item-knn"], stored["popular"], cluster="user")
    row = found.differences("ndcg", k=10).iloc[0]
    for name in ("difference", "low", "high", "p", "won", "lost", "n_users", "n_lists"):
        assert getattr(change, name) == pytest.approx(row[name], abs=1e-12), name


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
