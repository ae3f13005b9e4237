"""Rooms of the package that can be deleted: nothing fails but the calls that are the
room's own.

The calls are made without each room alone, so a room that needs another is found. The
tests of other rooms take minutes, and each file of them is run once: without any room
but those that it names. A test that fails without one room fails without several, so
this finds what a run of the file for each room would. The calls find what it would
not: a test that passes only because one more room is gone.

A further room is a row of `ROOMS`; a further call is a line of
`unplug_calls.toml`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

import recnb
from tests.rows import read_rows

pytestmark = pytest.mark.slow

ROOT = Path(recnb.__file__).parents[1]


@dataclass(frozen=True)
class Room:
    """What is deleted, and what goes with it."""

    #: Files and folders; a pattern may name several.
    files: tuple[str, ...]
    #: The calls of `CALLS` that are the room's own.
    own: tuple[str, ...] = ()
    #: What they raise.
    errors: frozenset[str] = frozenset({"ImportError", "ModuleNotFoundError"})
    #: How a test of another room names this one: such a file is run with it, and so is
    #: one that imports it.
    named: str = r"(?!)"


ROOMS = {
    "lint": Room(
        files=("recnb/lint", "tests/lint"),
        own=(
            *("lint", "report", "report of models", "report that is read"),
            *("in Korean", "command line"),
        ),
        named=r"recnb\.lint|tests\.lint|\.lint\(|judged_order|\.report\(|"
        r"recnb\.report|tests\.report|read_report|recnb\.cli|\"-m\", \"recnb\"",
    ),
    "report": Room(
        files=("recnb/report", "tests/report"),
        own=(
            "report",
            "report of models",
            "report that is read",
            "in Korean",
            "command line",
        ),
        named=r"recnb\.report|tests\.report|\.report\(|read_report|recnb\.cli|"
        r"\"-m\", \"recnb\"",
    ),
    "comparison": Room(
        files=("recnb/comparison", "tests/comparison"),
        own=(
            *("compared", "differences", "movers", "overlap", "not worse"),
            *("report of models", "beyond accuracy of models"),
            *("differences with unjudged items", "command line"),
        ),
        errors=frozenset({"ModuleNotFoundError", "NameError"}),
        named=r"compare\(|compared|Comparison|recnb\.comparison|tests\.comparison|"
        r"not_worse|--baseline|recnb\.cli|\"-m\", \"recnb\"",
    ),
    "widgets": Room(
        files=("recnb/widgets", "tests/widgets"),
        own=("playground", "quiz", "explorer"),
        named="widgets|playground|quiz|explore|marimo",
    ),
    "libraries": Room(
        files=("recnb/libraries", "tests/libraries"),
        own=("as in", "as in, of all lists", "why", "identify"),
        named=r"recnb\.libraries|tests\.libraries|as_in\b|\.identify\(|\.why\(",
    ),
    "command line": Room(
        files=("recnb/cli", "recnb/__main__.py", "tests/cli"),
        own=("command line",),
        named=r"recnb\.cli|\"-m\", \"recnb\"",
    ),
    "distributed": Room(
        files=(
            *("recnb/distributed", "recnb/dask.py", "recnb/spark.py"),
            "tests/distributed",
        ),
        own=("dask",),
        named=r"dask|spark|recnb\.distributed",
    ),
    "locale": Room(
        files=("recnb/locale",),
        named="korean|Korean|\"ko\"|'ko'|[가-힣]|translations",
    ),
    "beyond accuracy": Room(
        files=(
            "recnb/beyond",
            "tests/metrics/test_beyond_laws.py",
            "tests/results/test_beyond_accuracy.py",
            "tests/results/test_own_metric_of_items.py",
        ),
        own=(
            *("beyond accuracy", "beyond accuracy of models", "items"),
            *("coverage", "coverage by its name", "own metric of a frame"),
            "as in, of all lists",
        ),
        errors=frozenset({"ModuleNotFoundError", "UnknownNameError", "OptionError"}),
        named=r"recnb\.beyond|LIST_METRICS|\.items\(k|\.beyond\(|over=\"|[\"'.](coverage|"
        "user_coverage|gini|entropy|personalization|novelty|popularity|popularity_rank|"
        r"tail_share|diversity|serendipity|calibration)[\"'(@]",
    ),
    "search": Room(
        files=("recnb/search", "tests/metrics/test_search_measures.py"),
        own=("auc", "judged"),
        errors=frozenset({"ModuleNotFoundError", "OptionError"}),
        named=r"recnb\.search|RETRIEVAL_METRICS|EVERY_METRIC|Judged|\"judged[\"@(]|"
        r"\bauc\b|AUC|[Bb]pref|infAP|inferred_|SetAP|set_average|IPrec|interpolated_|"
        "(retrieved|relevant|hit)_count|(RBP-|rbp_)residual|NumRe",
    ),
    "retrieval's inputs": Room(
        files=(
            *("recnb/inputs/retrieval.py", "recnb/inputs/beir.py"),
            "tests/data/test_retrieval.py",
        ),
        own=("numbered lists",),
        errors=frozenset({"FrameError"}),
        named=r"beir|retrieved|\[\[\"[^]]*\"\],|load_questions",
    ),
    "model on matrices": Room(
        files=(
            "recnb/model_predictions.py",
            "tests/test_model_predictions.py",
        ),
        own=("model",),
        named="evaluate_model|model_predictions",
    ),
    "questions": Room(
        files=("recnb/datasets/questions", "recnb/datasets/questions.py"),
        own=("questions",),
        named="questions",
    ),
}

DATA = """
from contextlib import suppress
from scipy.sparse import csr_matrix
import recnb

sample = recnb.datasets.load_sample()
recs, truth = sample.models["factors"], sample.test
ev = recnb.evaluate(recs, truth, train=sample.train, items=sample.items)
with suppress(ModuleNotFoundError):  # without the room of comparisons
    models = recnb.compare(sample.models, truth, baseline="popular", train=sample.train)
segments = sample.users.set_index("user")["segment"]
user = truth["user"].iloc[0]
found, relevant = ["a", "b", "c"], {"b": 2, "d": 1}
"""

#: Name -> what is typed.
CALLS = read_rows("unplug_calls.toml")

#: Makes each call; prints the errors, and from where the package was imported.
CALLER = """
import json, sys
import matplotlib
matplotlib.use("agg")
names = {}
exec(sys.argv[1], names)
errors = {}
for name, call in json.loads(sys.argv[2]).items():
    try:
        exec(call, names)
    except Exception as error:
        errors[name] = [type(error).__name__, str(error)]
print(json.dumps([names["recnb"].__file__, errors]))
"""

#: The folders of tests that are run.
TESTED = ("comparison", "datasets", "report", "results", "stats")
#: What is left out of them, which takes most of the time: laws, and what is not run by
#: default.
MARKS = "not (hypothesis or browser or spark or parity or slow or attack or site)"


def copy_without(rooms: Iterable[str], folder: Path) -> Path:
    """Copy package and tests, and delete rooms from the copy."""
    for name in ("recnb", "tests"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for room in rooms:
        for name in ROOMS[room].files:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


def errors_of_calls(folder: Path) -> dict[str, list[str]]:
    """Make the calls with the package in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", CALLER, DATA, json.dumps(CALLS)],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    imported_from, errors = json.loads(done.stdout)
    assert Path(imported_from).parents[1] == folder
    return errors


def test_every_call_works_with_all_rooms():
    assert errors_of_calls(ROOT) == {}


@pytest.mark.parametrize("room", ROOMS)
def test_without_a_room_its_own_calls_alone_fail(room, tmp_path):
    errors = errors_of_calls(copy_without([room], tmp_path))
    assert set(errors) == set(ROOMS[room].own), errors
    assert {kind for kind, _message in errors.values()} <= ROOMS[room].errors


def naming(room: Room, texts: dict[str, str]) -> set[str]:
    """The tests of a room, those that name it, and those that import such a test."""
    naming = {path for path in texts if path.startswith(room.files)}
    named = room.named
    while found := {path for path in texts if re.search(named, texts[path])} - naming:
        naming |= found
        modules = [path.removesuffix(".py").replace("/", ".") for path in found]
        named = "|".join(rf"{re.escape(module)}\b" for module in modules)
    return naming


def text_with_rows(path: Path) -> str:
    """The text of a file, and of the rows of data that it reads."""
    text = path.read_text("utf-8")
    rows = re.findall(r'read_rows\("(.+?)"\)', text)
    return "".join(
        [text, *[(ROOT / "tests" / name).read_text("utf-8") for name in rows]]
    )


def files_by_rooms() -> dict[frozenset[str], list[str]]:
    """The files of tests that are run, by the rooms that they name."""
    texts = {
        path.relative_to(ROOT).as_posix(): text_with_rows(path)
        for path in sorted(ROOT.glob("tests/**/*.py"))
    }
    naming_room = {name: naming(room, texts) for name, room in ROOMS.items()}
    tests: dict[frozenset[str], list[str]] = defaultdict(list)
    for path in texts:
        _tests, *folders, name = path.split("/")
        if name == "test_shown.py":  # whose recorded calls are of all rooms together
            continue
        if name.startswith("test_") and folders and folders[0] in TESTED:
            tests[frozenset(r for r in ROOMS if path in naming_room[r])].append(path)
    return tests


def test_without_the_rooms_that_they_do_not_name_the_tests_of_others_pass(tmp_path):
    tests = files_by_rooms()
    # Most tests of numbers name no room, but for those that show and compare them.
    shown = {"lint", "report", "comparison"}
    n_files = sum(len(files) for named, files in tests.items() if named <= shown)
    assert n_files >= 8
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-m", MARKS]
    for number, (named, files) in enumerate(tests.items()):
        copy = copy_without(ROOMS.keys() - named, tmp_path / str(number))
        done = subprocess.run(
            [*command, *files], cwd=copy, capture_output=True, text=True
        )
        assert done.returncode == 0, (named, done.stdout[-3000:])
