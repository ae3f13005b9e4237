"""The rules that a machine can check: lint, layers, what the documentation claims (types: test_typing.py)."""

import ast
import collections
import contextlib
import graphlib
import importlib
import importlib.util
import io
import pathlib
import re
import subprocess
import sys

import recnb
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS
from tests.conftest import EARLY
from tests.tools import readme
from tests.trec import write_qrels, write_run

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "recnb"


def run(*command: str) -> None:
    """Run a checker of this environment and show what it found."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}{done.stderr[-2000:]}"


def test_files_that_start_early_exist():
    """One that was renamed would start late, and nothing else would show it."""
    assert not [file for file in EARLY if not (ROOT / file).exists()]


def test_ruff_finds_nothing():
    run("ruff", "check", "recnb", "tests", "notebooks")


def test_ruff_would_format_nothing():
    run("ruff", "format", "--check", "recnb", "tests", "notebooks")


def test_layers():
    linter = pathlib.Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


def imports() -> dict[str, set[str]]:
    """Which module of the package imports which, for types and within functions too."""
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in PACKAGE.rglob("*.py")
    }
    found: dict[str, set[str]] = {}
    for module, file in files.items():
        found[module] = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in files else str(node.module) for name in names]
            found[module] |= {name for name in names if name in files and name != module}
    return found


def test_no_circle_of_imports():
    graphlib.TopologicalSorter(imports()).prepare()  # an error names the circle


def test_a_class_name_is_used_once():
    classes = [
        node.name
        for file in PACKAGE.rglob("*.py")
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    assert not [name for name, n in collections.Counter(classes).items() if n > 1]


def test_every_reference_is_listed_and_cited():
    from recnb.metrics import REFERENCES

    cited = {
        key
        for metric in (*METRICS.values(), *RETRIEVAL_METRICS.values(), *LIST_METRICS.values())
        for key in metric.references
    }
    assert cited == set(REFERENCES)


def test_a_reference_is_of_the_year_of_its_key():
    from recnb.metrics import REFERENCES

    assert {key: int(key[-4:]) for key in REFERENCES} == {key: int(one["year"]) for key, one in REFERENCES.items()}


def test_page_of_metrics_is_the_registry():
    text = readme.METRICS_PAGE.read_text("utf-8")
    assert readme.metrics_page(text) == text, "run: python -m tests.tools.readme"


def test_readme_shows_real_output():
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    for program, printed in blocks:
        assert readme.output_of(program) == printed.rstrip("\n"), program


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
"""


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
    held = readme.calls_of(text, "you have")
    assert len(held) > 12
    for call in held:
        eval(call, names)


def test_version_is_the_same_everywhere():
    assert f'version = "{recnb.__version__}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    assert f"## {recnb.__version__}" in (ROOT / "recnb/CHANGELOG.md").read_text("utf-8")


def test_every_dependency_has_its_reason():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [
        one for group in project["optional-dependencies"].values() for one in group if not one.startswith("recnb[")
    ]
    text = (ROOT / "recnb/README.md").read_text("utf-8")
    missing = [
        name for one in [*project["dependencies"], *extras] if f"`{(name := re.split('[<>=[]', one)[0])}`" not in text
    ]
    assert not missing, f"recnb/README.md gives no reason for {missing}"


def test_every_module_imports():
    for path in ROOT.glob("recnb/**/*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name != "recnb.__main__" and ("spark" not in name or importlib.util.find_spec("pyspark")):
            importlib.import_module(name)


def test_nothing_stands_at_the_top_that_should_not():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    top = {path.split("/")[0] for path in tracked} or {"recnb"}
    allowed = {"pyproject.toml", "environment.yml", "README.md", "LICENSE", "notebooks", "recnb", "tests"}
    assert {name for name in top if not name.startswith(".")} <= allowed
