"""`recnb check`, `--log` and `--quiet`: what a job of every night needs."""

import json
from pathlib import Path

import pandas as pd
import pytest

import recnb
from recnb.cli import main
from recnb.display import progress
from recnb.display.progress import without_progress

SAMPLE = recnb.datasets.load_sample()
ONE = ["item-knn.csv", "test.csv", "--k", "10"]
GIVEN = ["--recs", "item-knn.csv", "--truth", "test.csv"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    for name, frame in {**SAMPLE.models, "test": SAMPLE.test}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    return main([*map(str, arguments)])


def lines():
    return [json.loads(line) for line in Path("log").read_text("utf-8").splitlines()]


def made(*options):
    """The JSON of a report, which is written."""
    assert run("report", *ONE, *options, "-o", "report.json", "--quiet") == 0
    return "report.json"


# ---- recnb check


def test_a_report_that_is_the_same_exits_with_0(capsys):
    assert run("check", made(), *GIVEN) == 0
    said = capsys.readouterr()
    assert "all numbers, inputs and conventions are the same" in said.out
    assert said.err == ""


def test_another_row_exits_with_1_and_names_the_input(capsys):
    made()
    SAMPLE.test[1:].to_csv("test.csv", index=False)
    assert run("check", "report.json", *GIVEN) == 1
    first_row = capsys.readouterr().out.splitlines()[2].split()
    assert first_row[:2] == ["input", "truth"]


def test_rows_in_another_order_and_form_of_file_are_the_same():
    made("--relevant-from", "3")
    SAMPLE.test.sample(frac=1, random_state=1).to_parquet("test.parquet")
    SAMPLE.models["item-knn"].sample(frac=1, random_state=1).to_parquet("recs.parquet")
    files = ["--recs", "recs.parquet", "--truth", "test.parquet"]
    assert run("check", "report.json", *files) == 0
    assert run("check", "report.json", *files, "--relevant-from", "2") == 1


def test_gates_and_several_models_are_checked(capsys):
    models = ["item-knn.csv", "popular.csv"]
    gate = ["--fail-if-worse", "ndcg@10", "--gate-json", "gate.json"]
    report = ["report", *models, "test.csv", "--baseline", "popular", "--k", 5]
    assert run(*report, *gate, "-o", "report.json") == 0
    for record in ("report.json", "gate.json"):
        assert run("check", record, "--recs", *models, "--truth", "test.csv") == 0
    assert "item-knn ndcg@10" in capsys.readouterr().out
    named = ["--model", "item-knn=item-knn.csv", "--model", "popular=factors.csv"]
    assert run("check", "gate.json", *named, "--truth", "test.csv") == 1


def test_splits_are_recorded_and_checked():
    recs = SAMPLE.models["item-knn"].assign(day="2026-01-01")
    more = recs[:200].assign(day="2026-01-02")
    pd.concat([recs, more]).to_csv("item-knn.csv", index=False)
    made("--split", "day")
    record = json.loads(Path("report.json").read_text())["record"]
    assert record["split"] == ["day"]
    assert run("check", "report.json", *GIVEN) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["none.json", *GIVEN], 4, "there is no file 'none.json'"),
        (["item-knn.csv", *GIVEN], 4, "item-knn.csv is no JSON"),
        (["report.json", "--recs", "none.csv", "--truth", "test.csv"], 4, "none.csv"),
        (["report.json", "--truth", "test.csv"], 2, "recommendations are files"),
        (["report.json", *GIVEN, "--log", "test.csv"], 2, "which is read"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(arguments, code, words, capsys):
    made()
    assert run("check", *arguments) == code
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1


def test_a_file_without_a_record_names_the_flag(capsys):
    Path("empty.json").write_text("{}")
    assert run("check", "empty.json", *GIVEN) == 4
    said = capsys.readouterr().err
    assert "empty.json holds no record of numbers" in said
    assert "recnb report -o report.json" in said


# ---- --log


def test_each_run_appends_a_line_with_its_numbers():
    for _night in range(2):
        assert run("report", *ONE, "-o", "report.json", "--log", "log") == 0
    first, second = lines()
    assert first | {"seconds": 0} == second | {"seconds": 0}
    assert first["made"] == "2026-01-01T00:00:00Z"
    assert (first["exit"], first["error"]) == (0, None)
    assert first["written"] == ["report.json"]
    assert first["command"][:2] == ["report", "item-knn.csv"]
    record = json.loads(Path("report.json").read_text())["record"]
    assert [number["mean"] for number in first["numbers"]] == [
        number["mean"] for number in record["numbers"]
    ]
    assert first["inputs"]["truth"] == {
        "rows": len(SAMPLE.test),
        "fingerprint": record["inputs"]["truth"]["fingerprint"],
    }


def test_runs_that_fail_append_their_code_and_the_reason():
    Path("nothing.csv").write_text("user,item,rating\n")
    log = ["--log", "log"]
    assert run("report", "none.csv", "test.csv", *log) == 4
    assert run("report", "item-knn.csv", "nothing.csv", *log) == 5
    assert run("report", *ONE, "--fail-below", "ndcg@10=0.9", *log) == 1
    assert run("report", *ONE, "--fail-below", "ndcg=x", *log) == 2
    with pytest.raises(SystemExit, match="2"):
        run("report", *ONE, "--kk", "10", *log)
    made()
    SAMPLE.test[1:].to_csv("test.csv", index=False)
    assert run("check", "report.json", *GIVEN, *log) == 1
    entries = lines()
    assert [entry["exit"] for entry in entries] == [4, 5, 1, 2, 2, 1]
    errors = [entry["error"] for entry in entries]
    assert "none.csv" in errors[0]
    assert errors[2] is errors[5] is None
    assert entries[2]["gates"][0]["passed"] is False
    assert entries[5]["passed"] is False
    assert ["input", "truth"] in [
        [row["of"], row["name"]] for row in entries[5]["differing"]
    ]


def test_a_log_that_cannot_be_written_has_the_code_of_that(capsys):
    Path("folder").mkdir()
    assert run("report", *ONE, "--log", "folder") == 2
    assert "it is a folder" in capsys.readouterr().err
    if Path("/dev/full").exists():
        assert run("report", *ONE, "--log", "/dev/full") == 6
        assert "/dev/full cannot be written: No space left" in capsys.readouterr().err


def test_a_log_is_no_other_output(capsys):
    assert run("report", *ONE, "-o", "a.json", "--log", "a.json") == 2
    assert "-o and --log write a file each" in capsys.readouterr().err


# ---- --quiet


def test_quiet_prints_failures_alone(capsys):
    passed = ["--fail-below", "ndcg@10=0.1"]
    assert run("report", *ONE, *passed, "-o", "a.html", "--quiet") == 0
    assert run("check", made(), *GIVEN, "-q") == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
    failed = [*passed, "--fail-below", "ndcg@10=0.9"]
    assert run("report", *ONE, *failed, "-o", "a.html", "--quiet") == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["recnb: ndcg@10 is 0.2589, below 0.9"]
    assert run("report", "none.csv", "test.csv", "--quiet") == 4
    assert "none.csv" in capsys.readouterr().err


def test_quiet_shows_no_progress(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(progress, "_bar", lambda: dict)
    monkeypatch.setattr("sys.stderr", Terminal())
    with without_progress(True):
        assert progress.steps([1], "rows")["disable"]
    with without_progress(False):
        assert "disable" not in progress.steps([1], "rows")
