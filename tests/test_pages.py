"""The README and the pages: every program prints what stands below it, every call in a
table runs, and the README is one page.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

import recnb
from recnb.cli import main
from tests.tools import readme
from tests.tools.readme import PROGRAM_PAGES, README, ROOT
from tests.trec import write_qrels, write_run

TEXT = README.read_text("utf-8")
CLI_PAGE = ROOT / "recnb" / "cli" / "README.md"

#: What the tables of the pages call df, matrix, users, lists, ...
HELD = """
import numpy, pandas, recnb, scipy.sparse
sample = recnb.datasets.load_sample()
recs, truth = sample.models["item-knn"], sample.test
ev = recnb.evaluate(recs, truth, train=sample.train, items=sample.items, users=sample.users)
df = pandas.DataFrame({"user": [1, 1], "item": ["a", "b"], "y_pred": [0.9, 0.5], "xgb_pred": [0.2, 0.4], "relevance": [0, 1]})
users, matrix = ["u001", "u002"], numpy.array([["i080", "i002"], ["i080", "i003"]])
lists = pandas.DataFrame({"user": users, "recommended": matrix.tolist()})
y_true, y_score, sizes, ranking, relevant = [3, 0, 2], [0.2, 0.9, 0.5], [2, 1], ["a", "b"], ["b"]
test, train = (scipy.sparse.csr_matrix(one) for one in ([[0, 1, 0]], [[1, 0, 0]]))
model = type("Model", (), {"predict": lambda self, user: [3.0, 2.0, 1.0]})()
a = b = recs_als = recs_knn = recs
results = {"q1": {"d1": 0.4, "d2": 0.3}}
log = [{"user_input": "Why?", "retrieved_contexts": ["x", "y"], "reference_contexts": ["y"]}]
"""  # noqa: E501
#: The comparisons that the pages call found, of models and of runs.
FOUND = """
found = recnb.compare(sample.models, truth, baseline="popular")
"""
SEEDS = """
runs = {name: pandas.concat([frame.assign(seed=seed) for seed in range(12)]) for name, frame in sample.models.items()}
old_runs, runs_of_both, runs = runs["popular"], runs, runs["item-knn"]
found = recnb.compare(runs_of_both, truth, split="seed", baseline="popular")
"""  # noqa: E501
#: Each page with tables of calls, and how many these have at least.
TABLES = {
    README: {"you have": 8, "you want": 9},
    ROOT / "recnb/data/README.md": {"you have": 20},
    ROOT / "recnb/metrics/README.md": {"you want": 20},
    ROOT / "recnb/conventions/README.md": {"you want": 6},
    ROOT / "recnb/stats/README.md": {"you want": 14, "the sample": 4},
    CLI_PAGE: {"you want": 4},
}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("files")
    with contextlib.chdir(folder):
        write_files()
    return folder


def write_files() -> None:
    """Write the files that the pages name."""
    sample = recnb.datasets.load_sample()
    recs, truth = sample.models["item-knn"], sample.test
    models = {"als": "factors", "knn": "item-knn", "new": "item-knn", "old": "popular"}
    for name, model in {**models, "recs": "item-knn"}.items():
        sample.models[model].to_parquet(f"{name}.parquet")
    for name, frame in (("truth", truth), ("train", sample.train)):
        frame.to_csv(f"{name}.csv", index=False)
    sample.items.to_csv("items.csv", index=False)
    write_run(recs, "run.txt")
    write_qrels(truth, "qrels.txt")
    recnb.evaluate(recs, truth).report(k=5).to_json("report.json")
    # Folders, whose lists say cust and whose truth says customer_uuid, for two days.
    mondays = {"recs": recs, "recs_new": recs, "old": sample.models["popular"]}
    for name, frame in mondays.items():
        Path(name).mkdir()
        given = frame.assign(day="mon")
        if name != "recs":
            given = frame.rename(columns={"user": "cust"})
        given.to_parquet(f"{name}/1.parquet")
    Path("truth").mkdir()
    truth.assign(day="mon").to_parquet("truth/1.parquet")
    Path("scifact/qrels").mkdir(parents=True)
    judged = "query-id\tcorpus-id\tscore\nq1\td2\t1\n"
    Path("scifact/qrels/test.tsv").write_text(judged)


@pytest.fixture
def files(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files, in a folder of the test."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", TABLES, ids=name_of)
@pytest.mark.usefixtures("files")
def test_the_calls_of_a_table_run(page: Path) -> None:
    text = page.read_text("utf-8")
    held: dict[str, object] = {}
    exec(HELD + FOUND, held)
    for head, least in TABLES[page].items():
        calls = readme.calls_of(text, head)
        assert len(calls) >= least
        for call in calls:
            if "runs" in call:
                exec(SEEDS, held)
            eval(call, held)


@pytest.mark.parametrize("page", PROGRAM_PAGES, ids=name_of)
def test_a_program_prints_what_stands_below_it(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    programs = readme.programs_of(page.read_text("utf-8"))
    assert programs
    for program, printed in programs:
        assert readme.output_of(program) == printed, "python -m tests.tools.readme"


# The README.


def test_the_readme_is_one_page() -> None:
    assert len(TEXT.splitlines()) <= 75
    assert len(TEXT.split()) <= 600


def test_the_first_program_gives_the_numbers_beside_it() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, object] = {}
    values = {}
    for line in filter(None, program.splitlines()):
        if re.match(r"import |[a-z, ]+ = ", line):
            exec(line, names)
        else:
            values[line] = eval(line, names)
    ((line, score),) = [
        (line, value) for line, value in values.items() if "interval" in line
    ]
    assert isinstance(score, recnb.Score)
    interval = score.interval()
    shown = f"{score:.4f}, 95% interval {interval.low:.4f} to {interval.high:.4f}"
    assert line.endswith(f"# {shown}")


# The command line.


def commands() -> list[str]:
    """The commands of the page, without the shell's."""
    blocks = re.findall(r"```sh\n(.*?)```", CLI_PAGE.read_text("utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("command", commands())
@pytest.mark.usefixtures("files")
def test_a_command_of_the_page_runs(command: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "recnb"
    if "customer_uuid" in arguments:
        truth = pd.read_parquet("truth/1.parquet").drop(columns="day")
        truth.rename(columns={"user": "customer_uuid"}).to_parquet("truth/1.parquet")
    code = main(arguments)
    assert code == (1 if "--fail-below" in arguments else 0)  # of which 0.3 is asked
    outputs = [arguments[at + 1] for at, one in enumerate(arguments) if one == "-o"]
    assert all(Path(output).stat().st_size for output in outputs)
