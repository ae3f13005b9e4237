"""The rules that a machine can check: lint, layers, what the documentation claims
(types: test_typing.py).
"""

import contextlib
import io
import pathlib
import re
import subprocess
import sys

import recnb
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS
from tests.tools import readme
from tests.trec import write_qrels, write_run

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "recnb"


def run(*command: str) -> None:
    """Run a checker of this environment and show what it found."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"{' '.join(command)}\n{done.stdout[-6000:]}{done.stderr[-2000:]}"
    )


def test_ruff_finds_nothing():
    run("ruff", "check", "recnb", "tests", "notebooks")


def test_ruff_would_format_nothing():
    run("ruff", "format", "--check", "recnb", "tests", "notebooks")


def test_layers():
    linter = pathlib.Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]


def test_every_reference_is_listed_and_cited():
    from recnb.metrics import REFERENCES

    cited = {
        key
        for metric in (
            *METRICS.values(),
            *RETRIEVAL_METRICS.values(),
            *LIST_METRICS.values(),
        )
        for key in metric.references
    }
    of_tests = {"nadeau2003", "bouckaert2004"}  # `Comparison.runs` cites them
    assert not cited & of_tests
    assert cited | of_tests == set(REFERENCES)


def test_page_of_metrics_is_the_registry():
    text = readme.METRICS_PAGE.read_text("utf-8")
    assert readme.metrics_page(text) == text, "run: python -m tests.tools.readme"


def test_readme_shows_real_output():
    text = (ROOT / "README.md").read_text("utf-8")
    programs = readme.programs_of(text)
    assert programs
    for program, printed in programs:
        assert readme.output_of(program) == printed, program


#: What the first table of the README calls df, matrix, users, lists, ...
HELD = """
import pandas, scipy.sparse
df = pandas.DataFrame({"user": [1, 1], "item": ["a", "b"], "y_pred": [0.9, 0.5], "xgb_pred": [0.2, 0.4], "relevance": [0, 1]})
import numpy
users, matrix = ["u001", "u002"], numpy.array([["i080", "i002"], ["i080", "i003"]])
lists = pandas.DataFrame({"user": users, "recommended": matrix.tolist()})
y_true, y_score, sizes, ranking, relevant = [3, 0, 2], [0.2, 0.9, 0.5], [2, 1], ["a", "b"], ["b"]
test, train = (scipy.sparse.csr_matrix(one) for one in ([[0, 1, 0]], [[1, 0, 0]]))
model = type("Model", (), {"predict": lambda self, user: [3.0, 2.0, 1.0]})()
a = b = recs
results = {"q1": {"d1": 0.4, "d2": 0.3}}
log = [{"user_input": "Why?", "retrieved_contexts": ["x", "y"], "reference_contexts": ["y"]}]
"""  # noqa: E501


def test_rows_of_the_readme_run_after_its_ten_lines(tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text("utf-8")
    program = re.search(r"## Ten lines\n+```python\n(.*?)```", text, flags=re.DOTALL)
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program[1], names)
    wanted = readme.calls_of(text, "you want")
    assert len(wanted) > 15
    for call in wanted:
        eval(call, names)
    exec(HELD, names)
    monkeypatch.chdir(tmp_path)
    write_run(names["recs"], "run.txt")
    write_qrels(names["truth"], "qrels.txt")
    for name in ("recs", "truth"):
        (tmp_path / name).mkdir()
        names[name].to_parquet(f"{name}/1.parquet")
    (tmp_path / "scifact" / "qrels").mkdir(parents=True)
    judged = "query-id\tcorpus-id\tscore\nq1\td2\t1\n"
    (tmp_path / "scifact" / "qrels" / "test.tsv").write_text(judged)
    held = readme.calls_of(text, "you have")
    assert len(held) > 12
    for call in held:
        eval(call, names)


def test_version_is_the_same_everywhere():
    assert f'version = "{recnb.__version__}"' in (ROOT / "pyproject.toml").read_text(
        "utf-8"
    )
    assert f"## {recnb.__version__}" in (ROOT / "recnb/CHANGELOG.md").read_text("utf-8")
