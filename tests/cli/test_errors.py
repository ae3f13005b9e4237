"""What the command line refuses, it refuses before anything is written, with exit code 2 and in its own words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import recnb
from recnb.cli import main

SAMPLE = recnb.datasets.load_sample()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("files")
    for name, frame in SAMPLE.models.items():
        frame.to_csv(made / f"{name}.csv", index=False)
    for name in ("test", "train", "users", "items"):
        getattr(SAMPLE, name).to_csv(made / f"{name}.csv", index=False)
    return made


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


ONE, TWO = ("item-knn.csv", "test.csv"), ("item-knn.csv", "popular.csv", "test.csv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*ONE, "--metrics", "nDCG(gain='up')@10"), "gain='up' is no option"),
        ((*ONE, "--ties", "none"), "ties='none' is no convention"),
        ((*ONE, "--metrics", "nDCG(gian='exponential')@10"), "'gain'"),
        ((*ONE, "--convention", "trac"), "trec_eval"),
        ((*ONE, "--baseline", "popular"), "no column is known to be the model"),
        ((*ONE, "--model", "nope"), "there is no column 'nope'"),
        ((*ONE, "--fail-below", "ndgc@10=0.1"), "Did you mean 'nDCG@10'"),
        (("item-knn.csv", *ONE), "is given twice"),
        (("nothing.csv", "test.csv"), "there is no file"),
        (("item-knn.csv", "users.csv"), "users.csv): no column is known to be the item"),
        ((*TWO, "--fail-if-worse", "ndcg@10"), "say --baseline"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "ndcg@10:-0.1"), "say it as ndcg@10"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "ndgc@10"), "Did you mean 'nDCG@10'"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "popular:ndcg@10"), "is the baseline itself"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "als:ndcg@10"), "there is no such model"),
        ((*TWO, "--gate-json", "gate.json"), "there is no gate"),
        ((*TWO, "--gate-json", "test.csv", "--fail-below", "ndcg=0.1"), "--gate-json test.csv is test.csv, which is read"),
        ((*ONE, "--k", "0"), "k=0 is not a cut-off"),
        ((*ONE, "--k", "5", "5"), "more than once"),
        ((*ONE, "--confidence", "2"), "confidence=2.0"),
        ((*TWO, "--confidence", "nan"), "confidence=nan"),
        ((*TWO, "--baseline", "als"), "baseline='als' is none of the models"),
        ((*ONE, "--metrics", "ndgc"), "Did you mean 'ndcg'"),
        ((*ONE, "--by", "nope", "--users", "users.csv"), "by='nope'"),
        ((*ONE, "--user", "who"), "user='who' names"),
        ((*ONE, "--fail-below", "ndcg@0=0.1"), "k=0 is not a cut-off"),
        ((*ONE, "--fail-below", "ndcg@=0.1"), "say it as ndcg@10=0.3"),
        ((*ONE, "--fail-below", "ndcg@10=nan"), "say it as ndcg@10=0.3"),
        ((*ONE, "--fail-below", "ndcg@10=inf"), "say it as ndcg@10=0.3"),
        ((*ONE, "--fail-below", "als:ndcg@10=0.1"), "als:…: there is no such model. One file has no model to name"),
        ((*TWO, "--fail-below", "item-nn:ndcg@10=0.1"), "Did you mean 'item-knn'"),
        ((*ONE, "--fail-below", "novelty@10=0.1"), "give train="),
        ((*ONE, "--order", "row", "--by", "genre"), "Give what is known of them"),
        ((*ONE, "--relevant-from", "9"), "the highest in the truth is 5.0"),
        ((*ONE, "--relevant-from", "9"), "Check relevant_from= and averaged_users="),
        ((*ONE, "--metrics", "RBP(p=2)"), "p=2"),
        ((*TWO, "--metrics", "ndcg", "novelty"), "give train=, a frame of user and item"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("output", ["old.html", "new.html"])
def test_refused_before_anything_is_written(
    folder: Path, arguments: tuple[str, ...], words: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "old.html").write_text("as it was")
    before = sorted(os.listdir(folder))
    assert main(["report", *arguments, "-o", output]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("recnb: error: ")
    assert told.err.count("\n") == 1
    assert words in told.err
    assert sorted(os.listdir(folder)) == before
    assert (folder / "old.html").read_text() == "as it was"


@pytest.mark.parametrize(
    ("recs", "words"),
    [
        ("user,item,score\nu001,i080,1\n,2,1\n", "Drop that row."),
        ("user,item,score\nu001,i080,1\nu001,i080,2\n", "Drop the repeats; or say duplicates='dedupe'"),
        ("user,item,score\nu001,i080,1\nu001,i081,x\n", "holds text where numbers are needed, and 'x' is no number"),
        (
            "user,item\nu001,i080\n",
            "rank='...' or score='...'; or, if rows stand in rank order already, order='row'",
        ),
        (
            "user,item,rank,score\nu001,i080,1,1\nu001,i081,2,2\n",
            "order='rank' or order='score'",
        ),
        ("user,item,score,prediction\nu001,i080,1,1\n", "Say which: score='score'."),
        ("user,item,score\n", "there are no rows"),
    ],
)
def test_errors_of_frames_name_the_file_and_hold_no_code(
    folder: Path, recs: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.csv").write_text(recs)
    assert main(["report", "bad.csv", "test.csv"]) == 2
    told = capsys.readouterr().err
    assert "recommendations (bad.csv)" in told
    assert words in told
    assert "frame" not in told
    assert main(["report", "popular.csv", "bad.csv", "test.csv"]) == 2
    assert "model 'bad' (bad.csv): recommendations" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["item-knn.csv", "test.csv", "train.csv", "items.csv", "users.csv"])
def test_no_input_is_written_over(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for link in ("link.csv", "hard.csv"):
        (folder / link).unlink(missing_ok=True)
    (folder / "link.csv").symlink_to(folder / name)
    os.link(folder / name, folder / "hard.csv")
    held = (folder / name).read_bytes()
    side_data = ["--train", "train.csv", "--items", "items.csv", "--users", "users.csv"]
    for output in (name, f"./{name}", str(folder / name), f"../{folder.name}/{name}", "link.csv", "hard.csv"):
        assert main(["report", *ONE, *side_data, "-o", output]) == 2
        assert f"-o {output} is {name}, which is read" in capsys.readouterr().err
        assert (folder / name).read_bytes() == held


def test_where_nothing_can_be_written_is_told_before_the_work(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recnb.cli.evaluate", lambda *_, **__: pytest.fail("evaluated"))
    (folder / "out.html").mkdir(exist_ok=True)
    assert main(["report", *ONE, "-o", "out.html"]) == 2
    assert "out.html cannot be written: it is a folder" in capsys.readouterr().err
    assert main(["report", *ONE, "-o", "none/out.html"]) == 2
    assert "there is no folder 'none'" in capsys.readouterr().err
    assert main(["report", *ONE, "-o", "report.docx"]) == 2
    assert ".docx is no form of a report" in capsys.readouterr().err
    assert main(["report", *ONE, "-o", "new.json", "--gate-json", "new.json", "--fail-below", "ndcg=0"]) == 2
    assert "a file each" in capsys.readouterr().err


def test_a_report_is_written_whole_or_not_at_all(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "r.html").write_text("as it was")
    before = sorted(os.listdir(folder))

    def half(self: Path, text: str, **how: object) -> None:
        self.write_bytes(text[: len(text) // 2].encode())
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", half)
        assert main(["report", *ONE, "-o", "r.html"]) == 2
    assert "r.html cannot be written: No space left on device" in capsys.readouterr().err
    assert (folder / "r.html").read_text() == "as it was"
    assert sorted(os.listdir(folder)) == before
    (folder / "r.html").chmod(0o640)
    (folder / "to.html").unlink(missing_ok=True)
    (folder / "to.html").symlink_to("r.html")
    assert main(["report", *ONE, "-o", "to.html"]) == 0
    assert (folder / "to.html").is_symlink()
    assert "<html" in (folder / "r.html").read_text(encoding="utf-8")
    assert (folder / "r.html").stat().st_mode & 0o777 == 0o640
    assert main(["report", *ONE, "-o", os.devnull, "--format", "text"]) == 0
    assert not os.path.isfile(os.devnull)


def test_a_gate_is_told_after_the_report_and_measures_what_it_shows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gate.html").unlink(missing_ok=True)
    assert main(["report", *ONE, "-o", "gate.html", "--fail-below", "ndcg@10=1"]) == 1
    assert (folder / "gate.html").exists()
    capsys.readouterr()
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
    plain, exponential = float(ev.ndcg(k=10)), float(ev.ndcg(k=10, gain="exponential"))
    assert plain != exponential
    bar = f"{(plain + exponential) / 2:.6f}"
    codes = [
        main(["report", *ONE, "--fail-below", f"{name}={bar}"]) for name in ("ndcg@10", "nDCG(gain='exponential')@10")
    ]
    assert codes == [int(plain < exponential), int(exponential < plain)]


def test_a_fault_of_recnb_is_no_number_below_the_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recnb.cli.evaluate", lambda *_, **__: 1 / 0)
    assert main(["report", *ONE, "--fail-below", "ndcg@10=0.1"]) == 3
    assert "ZeroDivisionError" in capsys.readouterr().err


def command(*arguments: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    line = f'"$0" -m recnb report {" ".join(arguments)} {shell}'
    here = str(Path(recnb.__file__).parent.parent)
    return subprocess.run(
        ["bash", "-c", line, sys.executable], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": here, **environment},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "shell", "words"),
    [
        (("--lang", "ko"), "", "give -o FILE, or set PYTHONIOENCODING=utf-8"),
        (("--format", "csv"), ">&-", "there is no console to write to"),
        (("--format", "csv"), "> /dev/full", "No space left on device"),
    ],
)
def test_a_console_that_cannot_take_the_report(arguments: tuple[str, ...], shell: str, words: str) -> None:
    done = command(*ONE, *arguments, shell=shell, PYTHONIOENCODING="ascii")
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_errors_do_not_go_where_the_report_goes() -> None:
    done = command("none.csv", "test.csv", shell="2>&-")
    assert done.returncode == 2
    assert done.stdout == ""


def test_the_model_whose_ids_are_of_another_kind_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ints = pd.DataFrame({"user": [1, 2], "item": [5, 6], "rank": 1})
    ints.to_parquet(tmp_path / "pop.parquet")
    ints.assign(user=["1", "2"]).to_parquet(tmp_path / "als_str.parquet")
    ints.drop(columns="rank").to_csv(tmp_path / "truth.csv", index=False)
    for first, second in (("pop", "als_str"), ("als_str", "pop")):
        files = [str(tmp_path / name) for name in (f"{first}.parquet", f"{second}.parquet", "truth.csv")]
        assert main(["report", *files]) == 2
        assert "als_str.parquet): the user ids are of different kinds: recommendations " in capsys.readouterr().err


def test_segments_by_several_columns_after_one_flag(capsys: pytest.CaptureFixture[str]) -> None:
    files = (
        "report",
        "popular.csv",
        "test.csv",
        "--users",
        "users.csv",
        "--train",
        "train.csv",
        "--k",
        "5",
        "--format",
        "json",
    )
    assert main([*files, "--by", "segment", "activity"]) == 0
    together = capsys.readouterr().out
    assert main([*files, "--by", "segment", "--by", "activity"]) == 0
    assert together == capsys.readouterr().out
    assert "segment, activity" in together
