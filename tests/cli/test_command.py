"""The command line: files in, a report out, and a gate that holds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import recnb
from recnb.cli import main, read_gate
from recnb.errors import OptionError
from tests.trec import write_qrels, write_run

SAMPLE = recnb.datasets.load_sample()
KNN = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
ONE = ("item-knn.parquet", "test.csv", "--format", "csv")
TWO = ("item-knn.parquet", "popular.parquet", "test.csv", "--k", 10, "--format", "csv")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, frame in SAMPLE.models.items():
        frame.to_parquet(folder / f"{name}.parquet")
        write_run(frame, folder / f"{name}.run", tag=name)
    write_qrels(SAMPLE.test, folder / "qrels.txt")
    SAMPLE.recommendations.to_csv(folder / "all.csv", index=False)
    for name in ("test", "train", "users", "items"):
        getattr(SAMPLE, name).to_csv(folder / f"{name}.csv", index=False)
    return folder


def run(files, *arguments):
    def named(one):
        return str(files / str(one)) if "." in str(one) and "=" not in str(one) else str(one)

    return main(["report", *map(named, arguments)])


def test_a_report_in_each_form(files, capsys):
    expected = f"{KNN.ndcg(k=10):.4f}"
    for name in ("r.html", "r.md", "r.tex", "r.json", "r.csv", "r.txt"):
        assert run(files, "item-knn.parquet", "test.csv", "--k", 5, 10, "-o", name) == 0
        written = (files / name).read_text(encoding="utf-8")
        assert expected in written if name not in ("r.json", "r.csv") else str(float(KNN.ndcg(k=10)))[:8] in written
    assert json.loads((files / "r.json").read_text())["k"] == [5, 10]
    capsys.readouterr()
    assert run(files, "item-knn.parquet", "test.csv") == 0
    said = capsys.readouterr()
    assert f"nDCG@10 = {expected}" in said.out
    assert said.err == ""


def test_several_files_are_compared(files, capsys):
    names = ("item-knn.run", "factors.run", "popular.run")
    assert run(files, *names, "qrels.txt", "--baseline", "popular", "--k", 10, "--convention", "trec_eval") == 0
    assert "Comparison of item-knn, factors, popular" in capsys.readouterr().out
    assert run(files, "all.csv", "test.csv", "--baseline", "popular", "--k", 10, "--format", "json") == 0
    direct = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular").report(k=10).to_dict()
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(direct))
    assert run(files, "item-knn.parquet", "popular.parquet", "test.csv", "--k", 10, "--format", "latex") == 0
    assert r"\toprule" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*ONE, "--fail-below", "ndcg@10=0.25"), 0, "recnb: ndcg@10 is 0.2589, at least 0.25"),
        ((*ONE, "--fail-below", "ndcg@10=0.3"), 1, "recnb: ndcg@10 is 0.2589, below 0.3"),
        ((*ONE, "--metrics", "P@5", "--fail-below", "IPrec@0.1=0.9"), 1, "recnb: IPrec@0.1 is 0.4268, below 0.9"),
        ((*TWO, "--fail-below", "item-knn:ndcg@10=0.25"), 0, "recnb: item-knn: ndcg@10"),
        ((*TWO, "--fail-below", "item-knn:AP(rel=4)@10=0.1"), 0, "recnb: item-knn: AP(rel=4)@10"),
        ((*TWO, "--fail-below", "ndcg@10=0.25"), 1, "recnb: popular: ndcg@10 is 0.1725, below 0.25"),
        ((*TWO, "--baseline", "popular", "--fail-if-worse", "ndcg@10", "--fail-if-worse", "recall@5:1"), 0,
            "recnb: ndcg@10: item-knn is not shown to be worse than popular (difference +0.0864"),
        ((*TWO, "--baseline", "item-knn", "--fail-if-worse", "ndcg@10"), 1,
            "recnb: ndcg@10: popular is worse than item-knn (difference -0.0864"),
    ],
)  # fmt: skip
def test_a_gate(files, arguments, code, words, capsys):
    assert run(files, *arguments) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "text", "read"),
    [
        ("--fail-below", "recall=0.5", (None, "recall", 0.5)),
        ("--fail-below", "als:AP(rel=2)@10=0.1", ("als", "AP(rel=2)@10", 0.1)),
        ("--fail-if-worse", "ndcg@10", (None, "ndcg@10", 0)),
        ("--fail-if-worse", "nDCG@10:0.01", (None, "nDCG@10", 0.01)),
        ("--fail-if-worse", "C:als:ndcg:0.5", ("C:als", "ndcg", 0.5)),
        ("--fail-below", "ndcg@ten=0.3", None),
        ("--fail-below", "ndcg@10=x", None),
    ],
)
def test_a_gate_as_it_is_typed(flag, text, read):
    if read is None:
        with pytest.raises(OptionError, match=r"say it as \[model:\]ndcg@10=0\.3|is no measure"):
            read_gate(flag, text)
    else:
        assert read_gate(flag, text) == read


def test_a_gate_is_written_with_the_warnings_about_its_data(files, capsys):
    const = SAMPLE.models["popular"].assign(score=1.0).drop(columns="rank")
    const.to_parquet(files / "const.parquet")
    two = ("const.parquet", "popular.parquet", "test.csv", "--baseline", "popular", "--k", 10)
    gates = ("--fail-if-worse", "ndcg@10:1", "--fail-below", "popular:hit_rate@10=0.1")
    assert run(files, *two, *gates, "--gate-json", "gate.json") == 0
    found = recnb.compare({"const": const, "popular": SAMPLE.models["popular"]}, SAMPLE.test, baseline="popular")
    lines = [f"{name}: warning: {warning.short}" for name in found.names for warning in found[name].lint().warnings]
    assert any("equal scores decide" in line for line in lines)
    warned = [line for line in capsys.readouterr().err.splitlines() if ": warning: " in line]
    assert warned == [f"recnb: {line}" for line in lines]
    told = json.loads((files / "gate.json").read_text("utf-8"))
    assert (told["passed"], told["warnings"]) == (True, lines)
    assert [check["check"] for check in told["checks"]] == ["at_least", "not_worse"]
    assert told["checks"][1] == json.loads(found.not_worse("ndcg", k=10, margin=1).to_json())["checks"][0]


def test_columns_options_and_language(files, tmp_path, capsys):
    names = {"user": "who", "item": "what"}
    SAMPLE.models["popular"].rename(columns=names).to_csv(tmp_path / "popular.csv", index=False)
    SAMPLE.test.rename(columns=names).to_csv(tmp_path / "truth.csv", index=False)
    arguments = ["--user", "who", "--item", "what", "--relevant-from", "4", "--metrics", "nDCG(gain='exponential')@10", "--ties", "item_asc", "--lang", "ko"]  # fmt: skip
    assert main(["report", str(tmp_path / "popular.csv"), str(tmp_path / "truth.csv"), *arguments]) == 0
    said = capsys.readouterr().out
    value = SAMPLE.models["popular"].rec.against(SAMPLE.test, relevant_from=4).ndcg(k=10, gain="exponential")
    assert f"{value:.4f}" in said
    assert "사용자" in said
    assert recnb.language() == "en"


def test_segments_by_several_columns_after_one_flag(files, capsys):
    given = ("popular.parquet", "test.csv", "--users", "users.csv", "--train", "train.csv", "--k", 5, "--format", "json")  # fmt: skip
    assert run(files, *given, "--by", "segment", "activity") == 0
    together = capsys.readouterr().out
    assert run(files, *given, "--by", "segment", "--by", "activity") == 0
    assert together == capsys.readouterr().out
    assert "segment, activity" in together


def test_the_command_itself(files):
    command = [sys.executable, "-m", "recnb", "report", str(files / "popular.run"), str(files / "qrels.txt")]
    done = subprocess.run([*command, "--k", "10"], capture_output=True, text=True, check=True)
    assert "nDCG@10 = " in done.stdout
