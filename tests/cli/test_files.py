"""What the command line reads is what is in the files named: every row, every id, in
every form, or an error with the file's name.
"""

from __future__ import annotations

import gzip
import json
import os

import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.cli import main
from recnb.errors import FrameError, RecnbError
from tests import doors
from tests.rows import read_rows

TRUTH = "user,item\nu1,a\nu2,b\nu3,c\n"
RECS = "user,item,score\nu1,a,3\nu1,x,2\nu2,x,3\nu2,b,2\nu3,x,3\nu3,y,2\n"
RIGHT = (1 + 1 / 2 + 0) / 3


def told(*files, **options):
    """What the command gives for files: the reciprocal rank at 5, or the line in which
    it refuses them.
    """
    try:
        return doors.command(*files, **options)
    except doors.LineError as line:
        return str(line)


def put(file, content):
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


ALL_A = "user,item,score\n" + "".join(f"u{n},a,1\n" for n in range(300))


#: As in `files.toml`.
FILES = [
    *read_rows("cli/files.toml").values(),
    {
        "recs": ("r.run", "u1 Q0 a 1 1 t\n" * 90_000 + "u2 Q0 \xe9 1 1 t\n"),
        "encoding": "latin-1",
        "result": "line 90001 holds the byte 0xe9",
    },
]


@pytest.mark.parametrize("row", FILES)
def test_files_are_read_as_they_are_or_named_at_every_door(tmp_path, monkeypatch, row):
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "x.odd", "a b c d\n")
    given = {"recs": ("r.csv", RECS), "truth": ("t.csv", TRUTH), "options": {}, **row}
    files = []
    for name, content in (given["recs"], given["truth"]):
        files.append(put(tmp_path / name, content.encode(row.get("encoding", "utf-8"))))
    wanted = row["result"]
    for door in (doors.evaluate, doors.compare, doors.command):
        if isinstance(wanted, float):
            assert door(*files, **given["options"]) == pytest.approx(wanted)
            continue
        with pytest.raises((RecnbError, doors.LineError)) as raised:
            door(*files, **given["options"])
        told = str(raised.value)
        if door is doors.command:
            wanted = row.get("command", wanted)
        for words in [wanted] if isinstance(wanted, str) else wanted:
            assert words in told


def test_rows_without_a_model_are_refused(tmp_path):
    rows = "user,item,score,model\nu1,a,1,\nu2,a,1,one\n"
    files = put(tmp_path / "m.csv", rows), put(tmp_path / "t.csv", ALL_A)
    with pytest.raises(FrameError, match=r"rows? without a model"):
        recnb.compare(*files)


@pytest.mark.thin
@pytest.mark.parametrize("form", ["csv", "run", "parquet"])
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_compressed_files_are_read_and_broken_ones_named(tmp_path, form, ending):
    frame, recs = pl.read_csv(RECS.encode()), tmp_path / f"r.{form}"
    rows = frame.with_columns(zero=pl.lit("Q0"), place=pl.lit(0), tag=pl.lit("tag"))
    {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "run": lambda path: rows.select(
            "user", "zero", "item", "place", "score", "tag"
        ).write_csv(path, separator=" ", include_header=False),
    }[form](recs)
    if ending and form == "parquet":
        return
    if ending:
        content, recs = recs.read_bytes(), tmp_path / f"r.{form}{ending}"
        recs.write_bytes(
            gzip.compress(content)
            if ending == ".gz"
            else pa.compress(content, "zstd", asbytes=True)
        )
    truth = put(tmp_path / "t.csv", TRUTH)
    assert told(recs, truth) == pytest.approx(RIGHT)
    if ending or form == "parquet":
        recs.write_bytes(recs.read_bytes()[:-6])
        assert f"{recs} cannot be read" in str(told(recs, truth))
    if ending:
        recs.write_bytes(b"not compressed")
        assert "if its ending is wrong, rename it" in str(told(recs, truth))


def test_a_pipe_and_parts_are_told(tmp_path):
    truth = put(tmp_path / "t.csv", TRUTH)
    put(tmp_path / "r.csv", RECS)
    os.mkfifo(tmp_path / "pipe.csv")
    assert "a pipe or a device" in str(told(tmp_path / "pipe.csv", truth))
    for user in ("u1", "u2"):
        put(tmp_path / f"{user}.csv", f"user,item,score\n{user},a,1\n")
    parts = told(tmp_path / "u1.csv", tmp_path / "u2.csv", truth)
    assert "as files by a pattern in quotes, 'recs_*.parquet'." in parts


def test_ids_of_several_files_meet(tmp_path):
    recs = put(tmp_path / "r.csv", "who,item,score\n007,1,1\n1E2,2,1\n")
    beside = put(tmp_path / "beside.csv", recs.read_text())
    truth = put(tmp_path / "t.csv", "who,item\n07,1\n100,2\n1E2,3\n007,4\n")
    found = recnb.compare({"a": recs, "b": beside}, truth, user="who")
    assert found["a"].reciprocal_rank(k=5) == 0.0
    users = "user,branch\n" + "".join(
        f"u{n},{'07' if n % 2 else '007'}\n" for n in range(20)
    )
    files = [put(tmp_path / f"{model}.csv", ALL_A) for model in "ab"]
    report = tmp_path / "report.json"
    options = ["--by", "branch", "--k", "5", "-o", report]
    line = ["report", *files, "--users", put(tmp_path / "u.csv", users), *options]
    assert main([*map(str, line)]) == 0
    segments = json.loads(report.read_text("utf-8"))["segments"]
    assert {"007", "07"} <= {*segments["names"]}


@pytest.mark.parametrize("path", ["out", "out/*.parquet", "out/**", "out/r.parquet"])
def test_folders_that_spark_writes_are_read(tmp_path, path):
    folder = tmp_path / "out" / "r.parquet"
    folder.mkdir(parents=True)
    for number, user in enumerate(["u1", "u2"]):
        rows = pl.DataFrame({"user": [user], "item": ["a"], "rank": [1]})
        rows.write_parquet(folder / f"part-{number}.parquet")
    truth = pl.DataFrame({"user": ["u1", "u2"], "item": ["a", "x"]})
    assert recnb.evaluate(f"{tmp_path}/{path}", truth).mrr() == 0.5


@pytest.mark.parametrize("is_text", ["truth", "recommendations"])
def test_folders_of_dates_meet_a_csv_as_the_error_says(tmp_path, monkeypatch, is_text):
    monkeypatch.chdir(tmp_path)
    days = ["2026-01-01", "2026-01-02"]
    recs = pl.DataFrame({"user": "u1", "item": "a", "score": 1.0, "day": days})
    tables = {"recommendations": recs, "truth": recs.drop("score")}
    names = {"recommendations": "lists", "truth": "judged"}
    for table, rows in tables.items():
        if table == is_text:
            names[table] += ".csv"
            rows.write_csv(names[table])
            continue
        for day in days:
            folder = tmp_path / names[table] / f"day={day}"
            folder.mkdir(parents=True)
            of_day = rows.filter(pl.col("day") == day).drop("day")
            of_day.write_parquet(folder / "part.parquet")
    assert "Make both one kind" in str(told(*names.values(), split="day"))
    with_dates = pl.read_csv(names[is_text], try_parse_dates=True)
    with_dates.write_parquet(f"{is_text}.parquet")
    names[is_text] = f"{is_text}.parquet"
    assert told(*names.values(), split="day") == 1.0
