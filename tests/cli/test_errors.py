"""What the command line refuses, it refuses before anything is written, with exit code 2, in one line that names the file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.cli import main

SAMPLE = recnb.datasets.load_sample()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    for name, frame in SAMPLE.models.items():
        frame.to_csv(made / f"{name}.csv", index=False)
    for name in ("test", "train", "users", "items"):
        getattr(SAMPLE, name).to_csv(made / f"{name}.csv", index=False)
    return made


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture
def refused(capsys):
    """The one line in which the command refuses its arguments."""

    def asked(*arguments):
        assert main(["report", *map(str, arguments)]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("recnb: error: ")
        assert told.err.count("\n") == 1
        return told.err

    return asked


ONE, TWO = ("item-knn.csv", "test.csv"), ("item-knn.csv", "popular.csv", "test.csv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*ONE, "--metrics", "nDCG(gain='up')@10"), "gain='up' is no option"),
        ((*ONE, "--ties", "none"), "ties='none' is no convention"),
        ((*ONE, "--baseline", "popular"), "no column is known to be the model"),
        ((*ONE, "--model", "nope"), "there is no column 'nope'"),
        (("item-knn.csv", *ONE), "is given twice"),
        (("nothing.csv", "test.csv"), "there is no file"),
        (("item-knn.csv", "users.csv"), "users.csv): no column is known to be the item"),
        ((*TWO, "--baseline", "als"), "baseline='als' is none of the models"),
        ((*ONE, "--confidence", "2"), "confidence=2.0"),
        ((*ONE, "--k", "0"), "k=0 is not a cut-off"),
        ((*ONE, "--fail-below", "ndgc@10=0.1"), "Did you mean 'ndcg'"),
        ((*ONE, "--fail-below", "ndcg@=0.1"), "say it as [model:]ndcg@10=0.3"),
        ((*ONE, "--fail-below", "novelty@10=0.1"), "give train="),
        ((*ONE, "--fail-below", "als:ndcg@10=0.1"), "one file has no model to name"),
        ((*TWO, "--fail-below", "item-nn:ndcg@10=0.1"), "Did you mean 'item-knn'"),
        ((*TWO, "--fail-if-worse", "ndcg@10"), "say --baseline"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "ndcg@10:-0.1"), "say it as [model:]ndcg@10[:0.01]"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "popular:ndcg@10"), "is the baseline itself"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "als:ndcg@10"), "'als' is none of the models"),
        ((*TWO, "--gate-json", "gate.json"), "there is no gate"),
        ((*TWO, "--gate-json", "test.csv", "--fail-below", "ndcg=0.1"), "--gate-json test.csv is test.csv, which is read"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("output", ["old.html", "new.html"])
def test_refused_before_anything_is_written(folder, arguments, words, output, refused):
    (folder / "old.html").write_text("as it was")
    before = sorted(os.listdir(folder))
    assert words in refused(*arguments, "-o", output)
    assert sorted(os.listdir(folder)) == before
    assert (folder / "old.html").read_text() == "as it was"


RECS: dict[str, list[Any]] = {"user": ["u", "u"], "item": ["a", "b"], "rank": [1, 2]}
LISTS: dict[str, list[Any]] = {"user": ["u"], "item": ["b"]}
TRUTH: dict[str, list[Any]] = {**LISTS, "relevance": [1.0]}


@pytest.mark.parametrize(
    ("recs", "truth", "words"),
    [
        ({"who": ["u"], "what": ["i"], "x": [0.5]}, TRUTH, "user='who', item='what', score='x'."),
        ({**RECS, "item": [1, 2]}, TRUTH, "Make both text."),
        (LISTS, TRUTH, "rank='...' or score='...'; or, if rows stand in rank order already, order='row'"),
        ({name: values[:0] for name, values in RECS.items()}, TRUTH, "there are no rows"),
        (RECS, {**TRUTH, "relevance": [None]}, "0 for not relevant; or drop the rows."),
        (RECS, {**TRUTH, "relevance": [-1.0]}, "else set it to 0"),
    ],
)
def test_errors_of_frames_name_the_file_and_hold_no_code(recs, truth, words, tmp_path, refused):
    lists, judged = tmp_path / "lists.parquet", tmp_path / "truth.parquet"
    pd.DataFrame(recs).to_parquet(lists)
    pd.DataFrame(truth).to_parquet(judged)
    told = refused(lists, judged)
    assert words in told
    assert (f"recommendations ({lists})" in told) or (f"truth ({judged})" in told) or "Make both text." in told
    assert not re.search(r"\.\w+\(|frame|recs[.\[]|dtype", told.replace(str(tmp_path), "")), told
    pd.DataFrame(RECS).to_parquet(tmp_path / "other.parquet")
    if truth is TRUTH:
        assert f"model 'lists' ({lists}): " in refused(tmp_path / "other.parquet", lists, judged)


@pytest.mark.parametrize("name", ["item-knn.csv", "test.csv", "train.csv", "items.csv", "users.csv"])
def test_no_input_is_written_over(folder, name, refused):
    for link in ("link.csv", "hard.csv"):
        (folder / link).unlink(missing_ok=True)
    (folder / "link.csv").symlink_to(folder / name)
    os.link(folder / name, folder / "hard.csv")
    held = (folder / name).read_bytes()
    side_data = ["--train", "train.csv", "--items", "items.csv", "--users", "users.csv"]
    for output in (name, f"./{name}", str(folder / name), f"../{folder.name}/{name}", "link.csv", "hard.csv"):
        assert f"-o {output} is {name}, which is read" in refused(*ONE, *side_data, "-o", output)
        assert (folder / name).read_bytes() == held


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "out.html"), "out.html cannot be written: it is a folder"),
        (("-o", "none/out.html"), "there is no folder 'none'"),
        (("-o", "report.docx"), "report.docx is no form of a report"),
        (("-o", "new.json", "--gate-json", "new.json", "--fail-below", "ndcg=0"), "a file each"),
    ],
)
def test_where_nothing_can_be_written_is_told_before_the_work(folder, arguments, words, refused, monkeypatch):
    monkeypatch.setattr("recnb.cli.evaluate", lambda *_, **__: pytest.fail("evaluated"))
    (folder / "out.html").mkdir(exist_ok=True)
    assert words in refused(*ONE, *arguments)


def test_a_full_disk_is_told_and_a_device_is_written_to(refused, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "write_text", full)
        assert "r.html cannot be written: No space left on device" in refused(*ONE, "-o", "r.html")
    assert main(["report", *ONE, "-o", os.devnull, "--format", "text"]) == 0


def test_a_gate_is_told_after_the_report(folder):
    assert main(["report", *ONE, "-o", "gate.html", "--fail-below", "ndcg@10=1"]) == 1
    assert (folder / "gate.html").exists()


def test_a_fault_of_recnb_is_no_number_below_the_bar(capsys, monkeypatch):
    monkeypatch.setattr("recnb.cli.evaluate", lambda *_, **__: 1 / 0)
    assert main(["report", *ONE, "--fail-below", "ndcg@10=0.1"]) == 3
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "shell", "words"),
    [
        ("item-knn.csv test.csv --lang ko", "", "give -o FILE, or set PYTHONIOENCODING=utf-8"),
        ("item-knn.csv test.csv --format csv", "> /dev/full", "No space left on device"),
        ("none.csv test.csv", "2>&-", ""),
    ],
)
def test_a_console_that_cannot_take_what_is_told(arguments, shell, words):
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m recnb report {arguments} {shell}', sys.executable],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(recnb.__file__).parent.parent), "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == bool(words)


def test_the_model_whose_ids_are_of_another_kind_is_named(tmp_path, refused):
    ints = pd.DataFrame({"user": [1, 2], "item": [5, 6], "rank": 1})
    ints.to_parquet(tmp_path / "pop.parquet")
    ints.assign(user=["1", "2"]).to_parquet(tmp_path / "als_str.parquet")
    ints.drop(columns="rank").to_csv(tmp_path / "truth.csv", index=False)
    files = [tmp_path / name for name in ("pop.parquet", "als_str.parquet", "truth.csv")]
    for first, second in ((0, 1), (1, 0)):
        told = refused(files[first], files[second], files[2])
        assert "the user ids are of different kinds: recommendations " in told
