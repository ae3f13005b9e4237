"""The command line: files in, a report out, a gate that holds; what is refused is
refused before anything is written, in one line.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import recnb
from recnb import compare, evaluate  # in rows of data
from recnb.cli import EXIT_CODES, main
from recnb.cli.gates import GateRequest
from tests.doors import CODE
from tests.rows import read_rows
from tests.sample import SAMPLE
from tests.trec import write_qrels, write_run

KNN, POPULAR, TEST = SAMPLE.models["item-knn"], SAMPLE.models["popular"], SAMPLE.test
EV = evaluate(KNN, TEST)
ONE, TWO = "item-knn.csv test.csv", "item-knn.csv popular.csv test.csv"

DAYS = [("mon", 1), ("tue", 1), ("mon", 2)]
USERS = SAMPLE.users.assign(spent=range(1, 301), topic=[n // 2 for n in range(300)])
NAMES = {"user": "who", "item": "what"}
#: The frames that are written to CSV, by the names of the files.
FILES = {
    **SAMPLE.models,
    "test": TEST,
    "train": SAMPLE.train,
    "users": SAMPLE.users,
    "items": SAMPLE.items,
    "all": SAMPLE.recommendations,
    "models": SAMPLE.recommendations,
    "days": pd.concat([KNN.assign(day=day, seed=seed) for day, seed in DAYS]),
    "truth_days": pd.concat([TEST.assign(day="mon"), TEST.tail(900).assign(day="tue")]),
    "topics": USERS,
    "seen": TEST.assign(seen=[0.1, 0.5, 1.0, 0.02] * 271),
    "chances": SAMPLE.items.assign(chance=0.5),
    "named": POPULAR.rename(columns=NAMES),
    "truth_named": TEST.rename(columns={**NAMES, "user": "whose"}),
    "new/recs": KNN,
    "old/recs": POPULAR,
    "const": POPULAR.assign(score=1.0).drop(columns="rank"),
}
#: Frames that are written in parts, by the names of the folders.
PARTS = {"parts": KNN, "parts_old": POPULAR, "truth": TEST}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    for name in ("new", "old", "empty", *PARTS):
        (made / name).mkdir()
    for name, frame in FILES.items():
        frame.to_csv(made / f"{name}.csv", index=False)
    runs = {**SAMPLE.models, "new": KNN, "old": POPULAR}
    for name, frame in runs.items():
        write_run(frame, made / f"{name}.run")
    write_qrels(TEST, made / "qrels.txt")
    for name, frame in PARTS.items():
        for part, rows in enumerate((frame[:1000], frame[1000:])):
            rows.to_parquet(made / name / f"{part}.parquet")
    KNN[:0].to_parquet(made / "empty.parquet")
    for name in ("empty.run", "empty/_SUCCESS"):
        (made / name).touch()
    return made


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(line):
    return main(["report", *shlex.split(line)])


ALIKE = read_rows("cli/alike.toml")


def both_reports(line, call):
    """The report of a line, and that of a call in Python."""
    assert run(f"{line} --k 10 -o alike.json") == 0
    expected = eval(call, globals()).report(k=10).to_json()
    return json.loads(Path("alike.json").read_text("utf-8")), json.loads(expected)


@pytest.mark.parametrize("line", ALIKE["reports"])
def test_the_report_is_that_of_python(line):
    made, expected = both_reports(line, ALIKE["reports"][line])
    assert made == expected


@pytest.mark.parametrize("line", ALIKE["numbers"])
def test_the_numbers_are_those_of_python(line):
    made, expected = both_reports(line, ALIKE["numbers"][line])
    assert made["means"] == expected["means"]
    assert made["models"] == expected["models"]


def test_the_console_shows_the_report(capsys):
    assert run(ONE) == 0
    said = capsys.readouterr()
    assert said.out == f"{EV.report()!r}\n"
    assert said.err == ""


def test_metrics_segments_and_language(capsys):
    files = "popular.csv test.csv --users users.csv --train train.csv"
    metrics = "--metrics \"nDCG(gain='exponential')@10\" recall"
    report = evaluate(POPULAR, TEST, users=SAMPLE.users, train=SAMPLE.train).report(
        5,
        ["nDCG(gain='exponential')@10", "recall"],
        by=["segment", "activity"],
        lang="ko",
    )
    for by in ("segment activity", "segment --by activity"):
        assert run(f"{files} {metrics} --k 5 --by {by} --lang ko") == 0
        assert capsys.readouterr().out == f"{report!r}\n"
    assert recnb.language() == "en"


ENDED = read_rows("cli/ended.toml")


@pytest.mark.parametrize("line", ENDED)
def test_the_version_and_an_option_that_is_none(line, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["recnb", *line.split()])
    with pytest.raises(SystemExit):
        main()
    words = ENDED[line].format(version=recnb.__version__)
    assert words in "".join(capsys.readouterr())


def lines_of(file):
    """Lines, what is said of each, and the exit code."""
    return [
        (line, words, int(code))
        for code, said in read_rows(file).items()
        for line, words in said.items()
    ]


@pytest.mark.parametrize(("line", "words", "code"), lines_of("cli/gates.toml"))
def test_a_gate(line, words, code, capsys):
    Path("gate.csv").unlink(missing_ok=True)
    assert run(f"{line} -o gate.csv") == code
    assert words in capsys.readouterr().err
    assert Path("gate.csv").exists()


TYPED = read_rows("cli/gates_typed.toml")


@pytest.mark.parametrize("line", TYPED)
def test_a_gate_is_read_as_it_is_typed(line):
    flag, text = line.split()
    assert GateRequest.read(flag, text) == GateRequest(
        **{"flag": flag, "model": None, **TYPED[line]}
    )


def test_the_json_of_a_report_has_the_gates_also_those_that_fail():
    two = f"{TWO} --baseline popular --k 10 -o gates.json"
    assert run(f"{two} --fail-below popular:ndcg@10=0.9 --fail-if-worse ndcg@10:1") == 1
    report = json.loads(Path("gates.json").read_text("utf-8"))
    failed, passed = report.pop("gates")
    assert (failed["check"], failed["model"]) == ("at_least", "popular")
    assert (failed["passed"], passed["passed"]) == (False, True)
    found = compare({"item-knn": KNN, "popular": POPULAR}, TEST, baseline="popular")
    assert found.not_worse("ndcg", k=10, margin=1).to_dict()["checks"] == [passed]
    assert report == json.loads(found.report(k=10).to_json())
    assert repr(recnb.read_report("gates.json")) == repr(found.report(k=10))
    assert run(two) == 0
    assert "gates" not in json.loads(Path("gates.json").read_text("utf-8"))


def test_help_and_the_page_have_the_exit_codes(capsys):
    with pytest.raises(SystemExit) as ended:
        run("--help")
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    page = Path(recnb.__file__).with_name("cli") / "README.md"
    text = page.read_text("utf-8")
    rows = dict(re.findall(r"^\| (\d) \| (.+) \|$", text, re.MULTILINE))
    assert rows == {str(code): words for code, words in EXIT_CODES.items()}
    for code, words in rows.items():
        assert f" {code} {words}" in shown


def test_every_file_that_is_asked_for_is_written(capsys, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    report = EV.report(k=10)
    texts = {
        "every.html": report.to_html(),
        "every.json": report.to_json(),
        "every.csv": report.to_frame().to_csv(index=False),
        "every.md": report.to_markdown(),
        "every.txt": f"{report!r}\n",
    }
    assert run(f"{ONE} --k 10 -o {' -o '.join(texts)}") == 0
    told = capsys.readouterr()
    assert [f"written: {name}" for name in texts] == told.err.splitlines()
    assert told.out == ""
    for name, text in texts.items():
        assert Path(name).read_text("utf-8") == text
    again = f"-o every.md -o {shlex.quote(os.path.abspath('every.md'))}"
    assert run(f"--model a=item-knn.csv --model b=item-knn.csv test.csv {again}") == 0


# Refused


@pytest.fixture
def refused(capsys):
    """The one line in which the command refuses its arguments."""

    def asked(line, code=2):
        assert run(line) == code
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("recnb: error: ")
        assert told.err.count("\n") == 1
        assert not CODE.search(told.err)
        return told.err

    return asked


@pytest.mark.thin
@pytest.mark.parametrize(("line", "words", "code"), lines_of("cli/refused.toml"))
@pytest.mark.parametrize("output", ["old.html", "new.html"])
def test_refused_before_anything_is_written(folder, line, words, code, output, refused):
    (folder / "old.html").write_text("as it was")
    (folder / "folder.html").mkdir(exist_ok=True)
    before = sorted(os.listdir(folder))
    assert words in refused(f"-o {output} {line}", code)
    assert sorted(os.listdir(folder)) == before
    assert (folder / "old.html").read_text() == "as it was"


@pytest.mark.parametrize(
    "name", ["item-knn.csv", "test.csv", "train.csv", "items.csv", "users.csv"]
)
def test_no_input_is_written_over(folder, name, refused):
    for link in ("link.csv", "hard.csv"):
        (folder / link).unlink(missing_ok=True)
    (folder / "link.csv").symlink_to(folder / name)
    os.link(folder / name, folder / "hard.csv")
    held = (folder / name).read_bytes()
    line = f"{ONE} --train train.csv --items items.csv --users users.csv"
    others = f"./{name}", f"{folder}/{name}", f"../{folder.name}/{name}"
    for output in (name, *others, "link.csv", "hard.csv"):
        told = refused(f"{line} -o {shlex.quote(output)}")
        assert f"-o {output} is {name}, which is read" in told
        assert (folder / name).read_bytes() == held


#: The command where no file may have more than some bytes, as on a full disk.
FULL_DISK = """
import resource, sys
from recnb.cli import main
from recnb.data import tables

limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
tables.ROWS_IN_MEMORY = 30
sys.exit(main(["report", *sys.argv[2:]]))
"""


@pytest.mark.parametrize(
    ("rows", "limit", "words"),
    [
        (
            "csv",
            3000,
            "old.html cannot be written: File too large.",
        ),
        pytest.param(
            "parquet",
            1000,
            "temporary files cannot be written to {}: File too large",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_full_disk_is_told_in_one_sentence(rows, limit, words, tmp_path):
    pytest.importorskip("resource")
    SAMPLE.models["item-knn"].to_parquet(tmp_path / "recs.parquet")
    SAMPLE.models["item-knn"].to_csv(tmp_path / "recs.csv", index=False)
    (tmp_path / "old.html").write_text("as it was")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    arguments = [tmp_path / f"recs.{rows}", "test.csv", "-o", tmp_path / "old.html"]
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(limit), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(recnb.__file__).parent.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(temporary),
        },
    )
    assert done.returncode == 6, done.stderr
    assert words.format(temporary) in done.stderr
    assert done.stderr.count("\n") == 1
    left = {"old.html", "recs.csv", "recs.parquet", "temporary"}
    assert {path.name for path in tmp_path.iterdir()} == left
    assert not [*temporary.iterdir()]


@pytest.mark.parametrize(
    ("recs", "truth", "options", "code"), read_rows("cli/exit_codes.toml")["rows"]
)
def test_the_exit_code_tells_what_was_wrong(
    recs, truth, options, code, tmp_path, capsys
):
    files = tmp_path / "recs.csv", tmp_path / "truth.csv"
    for file, text in zip(files, (recs, truth), strict=True):
        file.write_text(text)
    assert run(f"{shlex.join(map(str, files))} {options}") == code
    assert capsys.readouterr().err.count("\n") <= 2


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (ZeroDivisionError(), "ZeroDivisionError"),
        (
            MemoryError("no 9 GiB"),
            "recnb: error: memory ran out (no 9 GiB): allow more",
        ),
        (
            OSError("Cannot allocate memory (os error 12)"),
            "recnb: error: memory ran out (Cannot",
        ),
    ],
)
def test_a_fault_of_recnb_is_no_number_below_the_bar(fault, words, capsys, monkeypatch):
    def failing(*_, **__):
        raise fault

    monkeypatch.setattr("recnb.cli.command.evaluate", failing)
    assert run(f"{ONE} --fail-below ndcg@10=0.1") == 3
    assert words in capsys.readouterr().err


CONSOLES = read_rows("cli/consoles.toml")["rows"]


@pytest.mark.parametrize(
    ("arguments", "shell", "encoding", "code", "words"),
    [
        CONSOLES[0],
        *(pytest.param(*row, marks=pytest.mark.slow) for row in CONSOLES[1:]),
    ],
)
def test_the_command_itself_and_a_console_that_cannot_take_what_is_told(
    arguments, shell, encoding, code, words
):
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m recnb report {arguments} {shell}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(recnb.__file__).parent.parent),
            "PYTHONIOENCODING": encoding,
        },
    )
    assert done.returncode == code, done.stderr
    assert ("nDCG@10" in done.stdout) == (code == 0)
    assert bool(done.stdout) == (code == 0)
    assert words in done.stderr
    assert done.stderr.count("\n") == bool(words)
