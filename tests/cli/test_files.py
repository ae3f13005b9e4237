"""What the command line reads is what is in the files named: every row, every id, in every form, or an error with the file's name."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import recnb
from recnb.cli import main

TRUTH = "user,item\nu1,a\nu2,b\nu3,c\n"
RECS = "user,item,score\nu1,a,3\nu1,x,2\nu2,x,3\nu2,b,2\nu3,x,3\nu3,y,2\n"
RIGHT = (1 + 1 / 2 + 0) / 3

#: The words in front of each error.
Tells = Callable[..., str]


@pytest.fixture
def value(capsys: pytest.CaptureFixture[str]) -> Callable[..., float]:
    """The reciprocal rank at 5 that the command gives."""

    def asked(*arguments: object) -> float:
        line = ["report", *map(str, arguments), "--k", "5", "--metrics", "reciprocal_rank", "--format", "csv"]
        assert main(line) == 0, capsys.readouterr().err
        return float(pl.read_csv(capsys.readouterr().out.encode())["mean"][0])

    return asked


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Tells:
    """The one line in which the command refuses its arguments."""

    def asked(*arguments: object) -> str:
        assert main(["report", *map(str, arguments)]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("recnb: error: ")
        assert told.err.count("\n") == 1
        return told.err

    return asked


def put(file: Path, content: str | bytes) -> Path:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_a_pipe_is_told_from_a_file(tmp_path: Path, refused: Tells) -> None:
    os.mkfifo(tmp_path / "r.csv")
    assert "a pipe or a device" in refused(tmp_path / "r.csv", put(tmp_path / "t.csv", TRUTH))


def test_a_key_that_first_comes_late_in_json_lines_is_read(
    tmp_path: Path, value: Callable[..., float], capsys: pytest.CaptureFixture[str]
) -> None:
    recs = put(tmp_path / "r.csv", "user,item,score\n" + "".join(f"u{n},a,1\n" for n in range(300)))
    rows = [{"user": f"u{n}", "item": "a", "relevance": 1} for n in range(150)]
    rows += [{"user": f"u{n}", "item": item, "relevance": int(item == "b")} for n in range(150, 300) for item in "ab"]
    late = [{**row} for row in rows]
    truth = put(tmp_path / "t.jsonl", "\n".join(map(json.dumps, late)))
    assert value(recs, truth) == 0.5
    without = [
        {name: one for name, one in row.items() if n >= 150 or name != "relevance"} for n, row in enumerate(rows)
    ]
    put(truth, "\n".join(map(json.dumps, without)))
    # The rows without a relevance are no rows of relevance 1, nor the others all relevant.
    assert main(["report", str(recs), str(truth)]) == 2
    assert "150 values that are missing" in capsys.readouterr().err
    models = [{"user": f"u{n}", "item": "a", "score": 1, "model": "one"} for n in range(150)]
    models = [{"user": row["user"], "item": "a", "score": 1} for row in models] + models
    put(tmp_path / "m.jsonl", "\n".join(map(json.dumps, models)))
    assert main(["report", str(tmp_path / "m.jsonl"), str(recs), "--model", "model"]) == 2
    assert "150 rows without a model" in capsys.readouterr().err


@pytest.mark.parametrize("role", ["user", "item"])
def test_ids_in_a_named_column_do_not_run_together(tmp_path: Path, role: str, value: Callable[..., float]) -> None:
    other = "item" if role == "user" else "user"
    recs = put(tmp_path / "r.csv", f"who,{other},score\n007,1,1\n1E2,2,1\n")
    truth = put(tmp_path / "t.csv", f"who,{other}\n07,1\n100,2\n1E2,3\n007,4\n")
    assert value(recs, truth, f"--{role}", "who") == 0.0
    beside = put(tmp_path / "beside.csv", recs.read_text())
    assert recnb.compare({"a": recs, "b": beside}, truth, **{role: "who"})["a"].reciprocal_rank(k=5) == 0.0
    put(truth, f"who,{other}\n007,1\n1E2,2\n")
    assert value(recs, truth, f"--{role}", "who") == 1.0


def test_segments_named_by_codes_do_not_run_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = [f"u{n}" for n in range(20)]
    recs = put(tmp_path / "r.csv", "user,item,score\n" + "".join(f"{one},a,1\n" for one in users))
    known = put(
        tmp_path / "users.csv",
        "user,branch\n" + "".join(f"{one},{'07' if n % 2 else '007'}\n" for n, one in enumerate(users)),
    )
    told = [
        str(one) for one in ("report", recs, recs, "--users", known, "--by", "branch", "--k", 5, "--format", "json")
    ]
    assert main(told) == 0
    rows = json.loads(capsys.readouterr().out)["segments"]["rows"]
    assert {row["segment"] for row in rows} == {"007", "07"}


def test_scores_in_a_named_column_are_numbers(tmp_path: Path, value: Callable[..., float]) -> None:
    recs = put(tmp_path / "r.csv", "user,item,sure\nu1,a,1.50\nu1,x,1.5\nu1,y,9\n")
    truth = put(tmp_path / "t.csv", "user,item\nu1,a\n")
    assert value(recs, truth, "--score", "sure") == 0.5


def test_a_header_that_holds_a_name_twice_is_refused(tmp_path: Path, refused: Tells) -> None:
    truth = put(tmp_path / "t.csv", TRUTH)
    recs = put(tmp_path / "r.csv", "user,item,item,score\nu1,x,a,1\n")
    assert "r.csv has more than one column called 'item'" in refused(recs, truth)
    recs = put(tmp_path / "r.tsv", 'user\titem\t"item"\tscore\nu1\tx\ta\t1\n')
    assert "r.tsv has more than one column called 'item'" in refused(recs, truth)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_what_spreadsheets_write_is_read(
    tmp_path: Path, separator: str, encoding: str, value: Callable[..., float]
) -> None:
    recs = put(tmp_path / "r.csv", RECS.replace(",", separator).replace("\n", "\r\n").encode(encoding))
    truth = put(tmp_path / "t.csv", TRUTH.replace(",", separator).encode(encoding))
    assert value(recs, truth) == pytest.approx(RIGHT)


@pytest.mark.parametrize("form", ["csv", "jsonl", "run"])
@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_files_are_read_and_broken_ones_named(
    tmp_path: Path, form: str, ending: str, value: Callable[..., float], refused: Tells
) -> None:
    rows = [line.split(",") for line in RECS.splitlines()[1:]]
    text = {
        "csv": RECS,
        "jsonl": "".join(json.dumps({"user": u, "item": i, "score": int(s)}) + "\n" for u, i, s in rows),
        "run": "".join(f"{u} Q0 {i} 0 {s} tag\n" for u, i, s in rows),
    }[form].encode()
    truth = put(tmp_path / "t.csv", TRUTH)
    recs = tmp_path / f"r.{form}{ending}"
    if ending == ".zst":
        import pyarrow as pa

        with pa.CompressedOutputStream(str(recs), "zstd") as stream:
            stream.write(text)
    else:
        recs.write_bytes(gzip.compress(text))
    assert value(recs, truth) == pytest.approx(RIGHT)
    recs.write_bytes(recs.read_bytes()[:-6])
    assert f"{recs} cannot be read" in refused(recs, truth)
    recs.write_bytes(b"not compressed")
    told = refused(recs, truth)
    assert f"{recs} cannot be read" in told
    assert f"If it is no {ending} file, rename it" in told


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.csv", "user,item,score\nu1,a,1\nu2,b,2,3\n", "found more fields"),
        ("r.csv", 'user,item,score\nu1,"a,b",1\n\nu2,b,2,3\n', "found more fields"),
        ("r.csv", b"user,item,score\nu1,a,1\nu2,\xe9,1\n", "line 3 holds the byte 0xe9"),
        ("r.csv", 'user,item,score\nu1,"a,1\nu2,b,1\n', ""),
        ("r.jsonl", '{"user": "u1"}\n{"user": \n', "cannot be read as .jsonl"),
        ("r.jsonl", b'{"user": "\xe9"}\n', "line 1 holds the byte 0xe9"),
        ("r.jsonl", "", "cannot be read as .jsonl"),
        ("r.run", b"u1 Q0 a 1 1 t\n" * 90_000 + b"u2 Q0 \xe9 1 1 t\n", "line 90001 holds the byte 0xe9"),
        ("r.parquet", b"PAR1 and no more", "cannot be read as .parquet"),
        ("r.parquet", b"", "cannot be read as .parquet"),
        ("r.arrow", b"", "cannot be read as .arrow"),
        ("r.xlsx", b"PK\x03\x04\xff\xfe\x00", "is no text in UTF-8"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(
    tmp_path: Path, name: str, content: str | bytes, words: str, refused: Tells
) -> None:
    truth = put(tmp_path / "t.csv", TRUTH)
    told = refused(put(tmp_path / name, content), truth)
    assert str(tmp_path / name) in told
    assert words in told


def test_a_file_that_is_cut_short_is_named(tmp_path: Path, refused: Tells) -> None:
    truth, recs = put(tmp_path / "t.csv", TRUTH), tmp_path / "r.parquet"
    for write in ("write_parquet", "write_ipc"):
        recs = tmp_path / ("r.parquet" if write == "write_parquet" else "r.arrow")
        getattr(pl.read_csv(RECS.encode()), write)(recs)
        recs.write_bytes(recs.read_bytes()[:-20])
        assert f"{recs} cannot be read" in refused(recs, truth)
        assert f"{recs} cannot be read" in refused(truth, recs)


def test_five_columns_and_grades_that_are_not_whole_are_told_as_what_they_are(tmp_path: Path, refused: Tells) -> None:
    run = put(tmp_path / "a.run", "u1 Q0 a 1 1.0 tag\n")
    qrels = put(tmp_path / "a.qrels", "u1 0 a 1\n")
    assert "line 1, 'u1 0 a 0.5', has a relevance that is no whole number" in refused(
        run, put(tmp_path / "b.qrels", "u1 0 a 0.5\n")
    )
    assert "is no qrels of TREC, which has 4 columns" in refused(run, put(tmp_path / "b.qrels", "u1 0 a 1 1\n"))
    assert "is no run of TREC, which has 6 columns" in refused(put(tmp_path / "b.run", "u1 Q0 a 1 1.0\n"), qrels)
    assert "a.qrels: line 1, 'u1 0 a 1', is no run of TREC" in refused(qrels, qrels)


def test_each_path_is_told_by_its_name(tmp_path: Path, refused: Tells) -> None:
    truth, recs = put(tmp_path / "t.csv", TRUTH), put(tmp_path / "r.csv", RECS)
    for flag in ("--train", "--items", "--users"):
        assert "no file" in refused(recs, truth, flag, tmp_path / "none.csv")
        assert "is a folder" in refused(recs, truth, flag, tmp_path)
        assert "its ending says of no format" in refused(recs, truth, flag, put(tmp_path / "x", "a b c d\n"))
    assert "is a folder" in refused(tmp_path, truth)
    (tmp_path / "again.csv").symlink_to(recs)
    assert "is given twice" in refused(recs, tmp_path / "again.csv", truth)
    assert "is given twice" in refused(recs, tmp_path / ".." / tmp_path.name / "r.csv", truth)
    assert f"truth ({truth}): no column is known to be the item" in refused(recs, put(truth, "user,what\nu1,a\n"))
    assert "item='what'" in refused(recs, truth)


def test_ids_of_a_csv_meet_the_same_ids_as_text(tmp_path: Path, value: Callable[..., float], refused: Tells) -> None:
    truth = put(tmp_path / "t.csv", "user,item\n1,10\n2,20\n")
    run = put(tmp_path / "a.run", "1 Q0 10 1 2 t\n1 Q0 7 2 1 t\n2 Q0 7 1 2 t\n2 Q0 20 2 1 t\n")
    assert value(run, truth) == 0.75
    zeros = put(tmp_path / "a.csv", "user,item,score\n1,10,2\n1,007,1\n2,007,2\n2,20,1\n")
    assert value(zeros, truth) == 0.75
    assert value(zeros, truth, "--train", put(tmp_path / "old.csv", "user,item\n1,10\n")) == 0.75
    numbers = tmp_path / "a.parquet"
    pl.DataFrame({"user": [1, 2], "item": [10, 20], "score": [1.0, 1.0]}).write_parquet(numbers)
    assert value(numbers, truth) == 1.0
    told = refused(numbers, put(tmp_path / "t2.csv", "user,item\n1,10\n2,020\n"))
    assert "of different kinds" in told
    assert ".astype" not in told
    told = refused(put(tmp_path / "b.csv", "user,item,score\n1,m10,1\n"), truth)
    assert "item ids are of different kinds" in told
