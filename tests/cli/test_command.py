"""The command line: files in, a report out, a gate that holds, and errors in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import recnb
from recnb.cli import main, read_gate
from recnb.data.files import read
from recnb.errors import OptionError
from tests.trec import write_qrels, write_run

SAMPLE = recnb.datasets.load_sample()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, frame in SAMPLE.models.items():
        frame.to_parquet(folder / f"{name}.parquet")
        write_run(frame, folder / f"{name}.run", tag=name)
    write_qrels(SAMPLE.test, folder / "qrels.txt")
    SAMPLE.recommendations.to_csv(folder / "all.csv", index=False)
    for name in ("test", "train", "users", "items"):
        getattr(SAMPLE, name).to_csv(folder / f"{name}.csv", index=False)
    return folder


def run(files: Path, *arguments: str | int) -> int:
    def named(one: str | int) -> str:
        return str(files / str(one)) if "." in str(one) and "=" not in str(one) else str(one)

    return main(["report", *map(named, arguments)])


def test_a_report_in_each_form(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
    expected = f"{ev.ndcg(k=10):.4f}"
    for name in ("r.html", "r.md", "r.tex", "r.json", "r.csv", "r.txt"):
        assert run(files, "item-knn.parquet", "test.csv", "--k", 5, 10, "-o", name) == 0
        written = (files / name).read_text(encoding="utf-8")
        assert expected in written if name not in ("r.json", "r.csv") else str(float(ev.ndcg(k=10)))[:8] in written
    assert json.loads((files / "r.json").read_text())["k"] == [5, 10]
    capsys.readouterr()
    assert run(files, "item-knn.parquet", "test.csv") == 0
    said = capsys.readouterr()
    assert f"nDCG@10 = {expected}" in said.out
    assert said.err == ""


@pytest.mark.parametrize("form", ["parquet", "csv", "tsv", "arrow", "jsonl", "run"])
def test_each_kind_of_file_gives_the_same_numbers(
    files: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recs = pl.from_pandas(SAMPLE.models["popular"])
    path = tmp_path / f"popular.{form}"
    writers = {
        "parquet": recs.write_parquet, "csv": recs.write_csv, "arrow": recs.write_ipc, "jsonl": recs.write_ndjson,
        "tsv": lambda file: recs.write_csv(file, separator="\t"), "run": lambda file: write_run(recs, file),
    }  # fmt: skip
    writers[form](path)
    assert main(["report", str(path), str(files / "test.csv"), "--k", "10", "--format", "csv"]) == 0
    table = pl.read_csv(capsys.readouterr().out.encode())
    expected = recs.rec.against(SAMPLE.test).report(k=10).to_frame()
    assert table["mean"].to_list() == pytest.approx(expected["mean"].tolist(), abs=1e-12)


def test_ids_that_begin_with_zeros_stay_text(tmp_path: Path) -> None:
    file = tmp_path / "recs.csv"
    file.write_text("user,item,rank\n1,007,1\n2,7,1\n10,8,1\n")
    table = read(file, None)
    assert table.schema == {"user": pl.Int64, "item": pl.String, "rank": pl.Int64}
    file.write_text("user,item,score\n1,1.50,1.50\n2,1.5,\n")
    table = read(file, None)
    assert table.schema == {"user": pl.Int64, "item": pl.String, "score": pl.Float64}
    assert table["score"].to_list() == [1.5, None]


def test_several_files_are_compared(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("item-knn.run", "factors.run", "popular.run")
    assert run(files, *names, "qrels.txt", "--baseline", "popular", "--k", 10, "--convention", "trec_eval") == 0
    of_files = capsys.readouterr().out
    assert "Comparison of item-knn, factors, popular" in of_files
    assert run(files, "all.csv", "test.csv", "--baseline", "popular", "--k", 10, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    direct = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular").report(k=10).to_dict()
    assert told == json.loads(json.dumps(direct))
    assert run(files, "item-knn.parquet", "popular.parquet", "test.csv", "--k", 10, "--format", "latex") == 0
    assert r"\toprule" in capsys.readouterr().out


def test_a_gate(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "item-knn.parquet", "test.csv", "--fail-below", "ndcg@10=0.25", "--format", "csv") == 0
    assert run(files, "item-knn.parquet", "test.csv", "--fail-below", "ndcg@10=0.3", "--format", "csv") == 1
    assert "recnb: ndcg@10 is 0.2589, below 0.3" in capsys.readouterr().err
    two = ("item-knn.parquet", "popular.parquet", "test.csv", "--k", 10, "--format", "csv")
    assert run(files, *two, "--fail-below", "item-knn:ndcg@10=0.25") == 0
    assert run(files, *two, "--fail-below", "ndcg@10=0.25") == 1
    assert "recnb: popular: ndcg@10 is 0.1725, below 0.25" in capsys.readouterr().err
    assert run(files, *two, "--fail-below", "als:ndcg@10=0.25") == 2
    assert read_gate("--fail-below", "recall=0.5") == (None, "recall", 0.5)
    assert run(files, *two, "--fail-below", "item-knn:AP(rel=4)@10=0.1") == 0
    assert (
        run(
            files,
            "item-knn.parquet",
            "test.csv",
            "--metrics",
            "nDCG@10",
            "P@5",
            "--format",
            "csv",
            "--fail-below",
            "IPrec@0.1=0.9",
        )
        == 1
    )
    said = capsys.readouterr()
    assert "recnb: IPrec@0.1 is 0.4268, below 0.9" in said.err
    assert {line.split(",")[1] for line in said.out.splitlines()[-2:]} <= {"5", "10"}
    for text in ("ndcg@ten=0.3", "ndcg@10", "ndcg@10=x"):
        with pytest.raises(OptionError, match=r"say it as ndcg@10=0\.3|is no measure"):
            read_gate("--fail-below", text)


@pytest.mark.parametrize(
    ("text", "model", "measure", "margin"),
    [
        ("ndcg@10", None, "ndcg@10", 0),
        ("ndcg", None, "ndcg", 0),
        ("nDCG@10:0.01", None, "nDCG@10", 0.01),
        ("als:AP(rel=2)", "als", "AP(rel=2)", 0),
        ("C:als:ndcg:0.5", "C:als", "ndcg", 0.5),
    ],
)
def test_a_gate_against_a_baseline_as_it_is_typed(text: str, model: str | None, measure: str, margin: float) -> None:
    assert read_gate("--fail-if-worse", text) == (model, measure, margin)


def test_a_gate_against_a_baseline(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = ("item-knn.parquet", "popular.parquet", "test.csv", "--k", 10, "--format", "csv", "--baseline")
    assert run(files, *two, "popular", "--fail-if-worse", "ndcg@10", "--fail-if-worse", "recall@5:1") == 0
    assert (
        "recnb: ndcg@10: item-knn is not shown to be worse than popular (difference +0.0864" in capsys.readouterr().err
    )
    out = ("--gate-json", files / "gate.json")
    assert (
        run(files, *two, "item-knn", "--fail-if-worse", "ndcg@10", "--fail-below", "popular:hit_rate@10=0.1", *out) == 1
    )
    assert "recnb: ndcg@10: popular is worse than item-knn (difference -0.0864" in capsys.readouterr().err
    found = recnb.compare(
        {name: SAMPLE.models[name] for name in ("item-knn", "popular")}, SAMPLE.test, baseline="item-knn"
    )
    mine = found.not_worse("ndcg", k=10)
    told = json.loads((files / "gate.json").read_text("utf-8"))
    assert told["passed"] is False
    assert [check["check"] for check in told["checks"]] == ["at_least", "not_worse"]
    assert told["checks"][1] == json.loads(mine.to_json())["checks"][0]


def test_a_gate_prints_the_warnings_about_its_data(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SAMPLE.models["popular"].assign(score=1.0).drop(columns="rank", errors="ignore").to_parquet(files / "const.parquet")
    out = ("--gate-json", files / "gate.json")
    two = ("const.parquet", "popular.parquet", "test.csv", "--baseline", "popular", "--fail-if-worse", "ndcg@10:1")
    assert run(files, *two, *out) == 0
    found = recnb.compare(
        {"const": pl.read_parquet(files / "const.parquet"), "popular": SAMPLE.models["popular"]}, SAMPLE.test
    )
    lines = [f"{name}: warning: {warning.short}" for name in found.names for warning in found[name].lint().warnings]
    assert any("equal scores decide" in line for line in lines)
    warned = [line for line in capsys.readouterr().err.splitlines() if ": warning: " in line]
    assert warned == [f"recnb: {line}" for line in lines]
    assert json.loads((files / "gate.json").read_text("utf-8"))["warnings"] == lines


def test_columns_options_and_language(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renamed = SAMPLE.models["popular"].rename(columns={"user": "who", "item": "what"})
    renamed.to_csv(tmp_path / "popular.csv", index=False)
    truth = SAMPLE.test.rename(columns={"user": "who", "item": "what"})
    truth.to_csv(tmp_path / "truth.csv", index=False)
    arguments = ["--user", "who", "--item", "what", "--relevant-from", "4", "--metrics", "nDCG(gain='exponential')@10", "--ties", "item_asc", "--lang", "ko"]  # fmt: skip
    assert main(["report", str(tmp_path / "popular.csv"), str(tmp_path / "truth.csv"), *arguments]) == 0
    said = capsys.readouterr().out
    value = SAMPLE.models["popular"].rec.against(SAMPLE.test, relevant_from=4).ndcg(k=10, gain="exponential")
    assert f"{value:.4f}" in said
    assert "사용자" in said
    assert recnb.language() == "en"


def test_the_command_itself(files: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "recnb",
        "report",
        str(files / "popular.run"),
        str(files / "qrels.txt"),
        "--k",
        "10",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "nDCG@10 = " in done.stdout
    assert subprocess.run([*command[:3], "--help"], capture_output=True, text=True, check=True).stdout.startswith(
        "usage"
    )


def test_files_in_the_wrong_place_and_empty_ones_are_named(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "qrels.txt", "item-knn.run") == 2
    assert "line 1, " in capsys.readouterr().err
    (files / "nothing.csv").touch()
    assert run(files, "nothing.csv", "test.csv") == 2
    assert "nothing.csv cannot be read as .csv: empty CSV" in capsys.readouterr().err
