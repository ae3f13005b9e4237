"""The command line: files in, a report out, a gate that holds; what is refused is
refused before anything is written, in one line.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import recnb
from recnb.cli import EXIT_CODES, main
from recnb.cli.gates import GateRequest
from tests.doors import CODE
from tests.rows import read_rows
from tests.sample import SAMPLE
from tests.trec import write_qrels, write_run

KNN = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
ONE, TWO = ("item-knn.csv", "test.csv"), ("item-knn.csv", "popular.csv", "test.csv")
CSV = ("-o", "gate.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    for name, frame in SAMPLE.models.items():
        frame.to_csv(made / f"{name}.csv", index=False)
        write_run(frame, made / f"{name}.run", tag=name)
    write_qrels(SAMPLE.test, made / "qrels.txt")
    SAMPLE.recommendations.to_csv(made / "all.csv", index=False)
    SAMPLE.recommendations.to_csv(made / "models.csv", index=False)
    for name in ("test", "train", "users", "items"):
        getattr(SAMPLE, name).to_csv(made / f"{name}.csv", index=False)
    return made


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*arguments):
    return main(["report", *map(str, arguments)])


def without_gates(text):
    report = json.loads(text)
    report.pop("gates", None)
    return report


def test_a_report_in_each_form(capsys):
    expected = f"{KNN.ndcg(k=10):.4f}"
    for name in ("r.html", "r.md", "r.json", "r.csv", "r.txt"):
        assert run("item-knn.csv", "test.csv", "--k", 5, 10, "-o", name) == 0
        written = Path(name).read_text(encoding="utf-8")
        assert (
            expected in written
            if name not in ("r.json", "r.csv")
            else str(float(KNN.ndcg(k=10)))[:8] in written
        )
    assert json.loads(Path("r.json").read_text())["k"] == [5, 10]
    capsys.readouterr()
    assert run("item-knn.csv", "test.csv") == 0
    said = capsys.readouterr()
    assert f"nDCG@10 = {expected}" in said.out
    assert said.err == ""


def test_several_files_are_compared(capsys):
    names = ("item-knn.run", "factors.run", "popular.run")
    assert (
        run(
            *names,
            "qrels.txt",
            "--baseline",
            "popular",
            "--k",
            10,
            "--convention",
            "trec_eval",
        )
        == 0
    )
    assert "Comparison of item-knn, factors, popular" in capsys.readouterr().out
    assert (
        run(
            "all.csv",
            "test.csv",
            "--baseline",
            "popular",
            "--k",
            10,
            "--format",
            "json",
        )
        == 0
    )
    direct = (
        recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular")
        .report(k=10)
        .to_dict()
    )
    said = capsys.readouterr().out
    assert without_gates(said) == without_gates(json.dumps(direct))


def test_models_are_named_after_their_files(tmp_path, capsys):
    """Whatever the tags of runs; after their paths where two files have one name."""
    runs, files, models = [], [], {"new": "item-knn", "old": "popular"}
    for name, model in models.items():
        runs.append(tmp_path / f"{name}.run")
        runs[-1].symlink_to(Path(f"{model}.run").resolve())
        files.append(tmp_path / name / "recs.csv")
        files[-1].parent.mkdir()
        files[-1].symlink_to(Path(f"{model}.csv").resolve())
    for paths, names in ((runs, models), (files, files)):
        assert run(*paths, "test.csv", "--k", 10, "--format", "csv") == 0
        told = capsys.readouterr().out
        assert all(f"{name}," in told for name in names), told


def test_lists_of_several_days_and_seeds(tmp_path, capsys):
    recs, truth = SAMPLE.models["item-knn"], SAMPLE.test
    days = [("mon", 1), ("tue", 1), ("mon", 2)]
    recs = pd.concat([recs.assign(day=day, seed=seed) for day, seed in days])
    truth = pd.concat([truth.assign(day="mon"), truth.tail(900).assign(day="tue")])
    topics = SAMPLE.users.assign(topic=[n // 2 for n in range(300)])
    files = {"recs": recs, "truth": truth, "users": topics}
    for name, frame in files.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = (tmp_path / "recs.csv", tmp_path / "truth.csv")
    given = ("--split", "day", "--split", "seed", "--cluster", "topic")
    given += ("--users", tmp_path / "users.csv", "--k", 10, "--format", "json")
    assert run(*paths, *given) == 0
    expected = recnb.evaluate(
        recs, truth, split=["day", "seed"], users=topics, cluster="topic"
    )
    said = capsys.readouterr().out
    assert without_gates(said) == without_gates(expected.report(k=10).to_json())
    assert run(*paths, "--split", "night") == 4
    assert "which --split night names" in capsys.readouterr().err


def test_weights_are_columns_of_files(tmp_path, capsys):
    seen = SAMPLE.test.assign(seen=[0.1, 0.5, 1.0, 0.02] * 271)
    items, users = (
        SAMPLE.items.assign(chance=0.5),
        SAMPLE.users.assign(spent=range(1, 301)),
    )
    for name, frame in (("seen", seen), ("items", items), ("users", users)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    recs, of_items = (
        SAMPLE.models["item-knn"],
        ("test.csv", "--items", tmp_path / "items.csv"),
    )
    for given, expected in (
        (
            (tmp_path / "seen.csv", "--propensity", "seen", "--min-propensity", 0.1),
            recnb.evaluate(recs, seen, propensity="seen", min_propensity=0.1),
        ),
        (
            (*of_items, "--propensity", "chance"),
            recnb.evaluate(recs, SAMPLE.test, items=items, propensity="chance"),
        ),
        (
            ("test.csv", "--users", tmp_path / "users.csv", "--user-weight", "spent"),
            recnb.evaluate(recs, SAMPLE.test, users=users, user_weight="spent"),
        ),
    ):
        assert run("item-knn.csv", *given, "--k", 10, "--format", "json") == 0
        said = capsys.readouterr().out
        assert without_gates(said) == without_gates(expected.report(k=10).to_json())


ENDED = read_rows("cli/ended.toml")


@pytest.mark.parametrize("line", ENDED)
def test_the_version_and_an_option_that_is_none(line, capsys):
    with pytest.raises(SystemExit):
        main(line.split())
    words = ENDED[line].format(version=recnb.__version__)
    assert words in "".join(capsys.readouterr())


def test_a_command_that_is_gone_is_told_in_a_shell(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["recnb", "check", "report.json"])
    with pytest.raises(SystemExit):
        main()
    assert "error: check was removed" in capsys.readouterr().err


def test_models_by_name_and_in_parts(tmp_path, capsys):
    models = {"new": SAMPLE.models["item-knn"], "old": SAMPLE.models["popular"]}
    for name, frame in {**models, "t": SAMPLE.test}.items():
        (tmp_path / name).mkdir()
        for part, rows in enumerate((frame[:1000], frame[1000:])):
            rows.to_parquet(tmp_path / name / f"{part}.parquet")
    new, old, truth = f"{tmp_path}/new/", f"{tmp_path}/old/*.parquet", f"{tmp_path}/t"
    want = recnb.compare(models, SAMPLE.test, baseline="old")
    how = (
        "--baseline",
        "old",
        "--k",
        10,
        "--format",
        "json",
        "--fail-below",
        "new:ndcg@10=0.25",
    )
    for given in (
        ("--model", f"new={new}", "--model", f"old={old}"),
        (new, "--model", f"old={old}"),
    ):
        assert run(*given, truth, *how) == 0
        said = capsys.readouterr().out
        assert without_gates(said) == without_gates(want.report(k=10).to_json())
    assert run(new, old, truth, "--k", 10) == 0
    assert "Comparison of new, old" in capsys.readouterr().out
    for name in (f"{tmp_path}/new/0.parquet", f"{tmp_path}/t/1.parquet"):
        assert run(new, truth, "-o", name, "--format", "text") == 2
        assert f"is {name}, which is read" in capsys.readouterr().err


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
    assert run(*shlex.split(line), *CSV) == code
    assert words in capsys.readouterr().err
    assert Path("gate.csv").exists()


TYPED = read_rows("cli/gates_typed.toml")


@pytest.mark.parametrize("line", TYPED)
def test_a_gate_is_read_as_it_is_typed(line):
    flag, text = line.split()
    assert GateRequest.read(flag, text) == GateRequest(
        **{"flag": flag, "model": None, **TYPED[line]}
    )


def test_warnings_about_the_data_are_printed_with_gates(capsys):
    const = SAMPLE.models["popular"].assign(score=1.0).drop(columns="rank")
    const.to_csv("const.csv", index=False)
    two = ("const.csv", "popular.csv", "test.csv", "--baseline", "popular", "--k", 10)
    gates = ("--fail-if-worse", "ndcg@10:1", "--fail-below", "popular:hit_rate@10=0.1")
    assert run(*two, *gates, *CSV) == 0
    models = {"const": const, "popular": SAMPLE.models["popular"]}
    found = recnb.compare(models, SAMPLE.test, baseline="popular")
    lines = [
        f"recnb: {name}: warning: {warning.short}"
        for name in found.names
        for warning in found[name].lint().warnings
    ]
    assert any("equal scores decide" in line for line in lines)
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if ": warning: " in line] == lines


def test_the_json_of_a_report_has_the_gates_also_those_that_fail():
    gates = ("--fail-below", "popular:ndcg@10=0.9", "--fail-if-worse", "ndcg@10:1")
    two = (*TWO, "--baseline", "popular", "--k", 10, "-o", "gates.json")
    assert run(*two, *gates) == 1
    report = json.loads(Path("gates.json").read_text("utf-8"))
    failed, passed = report["gates"]
    assert (failed["check"], failed["model"]) == ("at_least", "popular")
    assert (failed["passed"], passed["passed"]) == (False, True)
    models = {name: SAMPLE.models[name] for name in ("item-knn", "popular")}
    found = recnb.compare(models, SAMPLE.test, baseline="popular")
    (check,) = found.not_worse("ndcg", k=10, margin=1).to_dict()["checks"]
    assert passed == check
    of_models = found.report(k=10)
    assert without_gates(json.dumps(report)) == without_gates(of_models.to_json())
    shown = repr(recnb.read_report("gates.json"))
    assert shown == repr(of_models)
    assert run(*two) == 0
    assert "gates" not in json.loads(Path("gates.json").read_text("utf-8"))


def test_help_and_the_page_have_the_exit_codes(capsys):
    with pytest.raises(SystemExit) as ended:
        run("--help")
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    page = Path(recnb.__file__).with_name("cli") / "README.md"
    text = page.read_text("utf-8")
    for code, words in EXIT_CODES.items():
        assert f" {code} {words}" in shown
        assert f"| {code} | {words} |" in text


def test_every_file_that_is_asked_for_is_written(capsys, refused):
    names = ["every.html", "every.json", "every.csv", "every.md"]
    outputs = [text for name in names for text in ("-o", name)]
    assert run(*ONE, "--k", 10, *outputs) == 0
    told = capsys.readouterr()
    assert [f"written: {name}" for name in names] == told.err.splitlines()
    assert told.out == ""
    report = KNN.report(k=10)
    said = Path("every.json").read_text("utf-8")
    assert without_gates(said) == without_gates(report.to_json())
    assert Path("every.md").read_text("utf-8") == report.to_markdown()
    assert Path("every.csv").read_text("utf-8") == report.to_frame().to_csv(index=False)
    assert "nDCG@10" in Path("every.html").read_text("utf-8")
    again = ["-o", "every.md", "-o", os.path.abspath("every.md")]
    assert (
        run("--model", "a=item-knn.csv", "--model", "b=item-knn.csv", ONE[1], *again)
        == 0
    )
    capsys.readouterr()
    words = "-o docx.docx is no form of a report"
    assert words in refused(*ONE, "-o", "new.csv", "-o", "docx.docx")
    assert not Path("new.csv").exists()


def test_columns_options_and_language(tmp_path, capsys):
    names = {"user": "who", "item": "what"}
    SAMPLE.models["popular"].rename(columns=names).to_csv(
        tmp_path / "popular.csv", index=False
    )
    SAMPLE.test.rename(columns=names | {"user": "whose"}).to_csv(
        tmp_path / "truth.csv", index=False
    )
    arguments = [
        "--user",
        "who",
        "--user",
        "whose",
        "--item",
        "what",
        "--relevant-from",
        "4",
        "--metrics",
        "nDCG(gain='exponential')@10",
        "--ties",
        "item_asc",
        "--lang",
        "ko",
    ]
    assert run(tmp_path / "popular.csv", tmp_path / "truth.csv", *arguments) == 0
    said = capsys.readouterr().out
    value = (
        SAMPLE.models["popular"]
        .rec.against(SAMPLE.test, relevant_from=4)
        .ndcg(k=10, gain="exponential")
    )
    assert f"{value:.4f}" in said
    assert "사용자" in said
    assert recnb.language() == "en"


def test_segments_by_several_columns_after_one_flag_or_two(capsys):
    given = (
        "popular.csv",
        "test.csv",
        "--users",
        "users.csv",
        "--train",
        "train.csv",
        "--k",
        5,
        "--format",
        "json",
    )
    told = []
    for again in ([], ["--by"]):
        assert run(*given, "--by", "segment", *again, "activity") == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert "segment, activity" in told[0]


# Quiet


def test_quiet_prints_failures_alone(capsys):
    passed = ["--fail-below", "ndcg@10=0.1"]
    for output in ((), CSV):
        assert run(*ONE, *passed, *output, "--quiet") == 0
        said = capsys.readouterr()
        assert (said.out, said.err) == ("", "")
    failed = [*passed, "--fail-below", "ndcg@10=0.9"]
    assert run(*ONE, *failed, *CSV, "-q") == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["recnb: nDCG@10 is 0.2589, below 0.9"]
    assert run("none.csv", "test.csv", "--quiet") == 4
    assert "none.csv" in capsys.readouterr().err


# Refused


@pytest.fixture
def refused(capsys):
    """The one line in which the command refuses its arguments."""

    def asked(*arguments, code=2):
        assert main(["report", *map(str, arguments)]) == code
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
    assert words in refused("-o", output, *shlex.split(line), code=code)
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
    side_data = ["--train", "train.csv", "--items", "items.csv", "--users", "users.csv"]
    for output in (
        name,
        f"./{name}",
        str(folder / name),
        f"../{folder.name}/{name}",
        "link.csv",
        "hard.csv",
    ):
        assert f"-o {output} is {name}, which is read" in refused(
            *ONE, *side_data, "-o", output
        )
        assert (folder / name).read_bytes() == held


def test_a_device_is_written_to():
    assert main(["report", *ONE, "-o", os.devnull, "--format", "text"]) == 0


#: The command where no file may have more than some bytes, as on a full disk.
FULL_DISK = """
import resource, sys
from recnb.cli import main
from recnb.data import tables

limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
tables.HELD = 30
sys.exit(main(["report", *sys.argv[2:]]))
"""


@pytest.mark.parametrize(
    ("rows", "limit", "words"),
    [
        (
            "csv",
            3000,
            "old.html cannot be written: File too large. Free some space there",
        ),
        pytest.param(
            "parquet",
            1000,
            "temporary files cannot be written to {}: File too large",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_full_disk_leaves_the_older_report_and_one_sentence(
    rows, limit, words, tmp_path
):
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
    assert (tmp_path / "old.html").read_text() == "as it was"
    left = {"old.html", "recs.csv", "recs.parquet", "temporary"}
    assert {path.name for path in tmp_path.iterdir()} == left
    assert not [*temporary.iterdir()]


@pytest.mark.parametrize(
    ("recs", "truth", "options", "code"), read_rows("cli/exit_codes.toml")["rows"]
)
def test_the_exit_code_tells_what_was_wrong(
    recs, truth, options, code, tmp_path, capsys
):
    (tmp_path / "recs.csv").write_text(recs)
    (tmp_path / "truth.csv").write_text(truth)
    files = (tmp_path / "recs.csv", tmp_path / "truth.csv")
    assert run(*files, *options.split()) == code
    assert capsys.readouterr().err.count("\n") <= 2


def test_an_empty_day_has_a_code_of_its_own_in_every_form(tmp_path, refused):
    empty = pd.DataFrame({"user": ["u"], "item": ["a"], "score": [1.0]})[:0]
    empty.to_parquet(tmp_path / "day.parquet")
    (tmp_path / "day.run").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "_SUCCESS").write_text("")
    for name in ("day.parquet", "day.run", "folder"):
        refused(tmp_path / name, "test.csv", code=5)


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
    assert main(["report", *ONE, "--fail-below", "ndcg@10=0.1"]) == 3
    assert words in capsys.readouterr().err


CONSOLES = read_rows("cli/consoles.toml")["rows"]


@pytest.mark.parametrize(
    ("arguments", "shell", "code", "words"),
    [
        CONSOLES[0],
        *(pytest.param(*row, marks=pytest.mark.slow) for row in CONSOLES[1:]),
    ],
)
def test_the_command_itself_and_a_console_that_cannot_take_what_is_told(
    arguments, shell, code, words
):
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m recnb report {arguments} {shell}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(recnb.__file__).parent.parent),
            "PYTHONIOENCODING": "ascii",
        },
    )
    assert done.returncode == code, done.stderr
    assert ("ndcg,10," in done.stdout) == (code == 0)
    assert bool(done.stdout) == (code == 0)
    assert words in done.stderr
    assert done.stderr.count("\n") == bool(words)
