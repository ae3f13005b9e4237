"""`recnb check`."""

import json
from pathlib import Path

import pandas as pd
import pytest

import recnb
from recnb.cli import main

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


def test_gates_and_several_models_are_checked():
    models = ["item-knn.csv", "popular.csv"]
    gate = ["--fail-if-worse", "ndcg@10"]
    report = ["report", *models, "test.csv", "--baseline", "popular", "--k", 5]
    assert run(*report, *gate, "-o", "report.json") == 0
    assert run("check", "report.json", "--recs", *models, "--truth", "test.csv") == 0
    named = ["--model", "item-knn=item-knn.csv", "--model", "popular=factors.csv"]
    assert run("check", "report.json", *named, "--truth", "test.csv") == 1


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
