"""What the command line reads is what is in the files named: every row, every id, in
every form, or an error with the file's name.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.cli import main
from recnb.errors import FrameError
from tests.rows import read_rows

TRUTH = "user,item\nu1,a\nu2,b\nu3,c\n"
RECS = "user,item,score\nu1,a,3\nu1,x,2\nu2,x,3\nu2,b,2\nu3,x,3\nu3,y,2\n"
RIGHT = (1 + 1 / 2 + 0) / 3

#: What the command gives for its arguments: the reciprocal rank at 5, or the one line
#: in which it refuses them.
Told = Callable[..., float | str]


@pytest.fixture
def told(capsys):
    def asked(*arguments):
        options = ["--k", "5", "--metrics", "reciprocal_rank", "--format", "csv"]
        line = ["report", *map(str, arguments), *options]
        code, said = main(line), capsys.readouterr()
        if code == 0:
            return float(pl.read_csv(said.out.encode())["mean"][0])
        is_option = "is given twice" in said.err or "--users takes" in said.err
        invalid = 2 if is_option else 4
        empty = 5 if "it has no rows" in said.err else invalid
        assert (code, said.out, said.err.count("\n")) == (empty, "", 1)
        assert said.err.startswith("recnb: error: ")
        return said.err

    return asked


def put(file, content):
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def lines(rows):
    return "\n".join(map(json.dumps, rows))


#: Of 300 users, 150 have a key that comes late in the file.
LATE = [{"user": f"u{n}", "item": "a", "relevance": 1} for n in range(150)]
LATE += [
    {"user": f"u{n}", "item": item, "relevance": int(item == "b")}
    for n in range(150, 300)
    for item in "ab"
]
FIRST_WITHOUT = [
    {name: row[name] for name in row if n >= 150 or name != "relevance"}
    for n, row in enumerate(LATE)
]
HALF = [
    {"user": f"u{n}", "item": "a", "score": 1, **({"model": "one"} if n >= 150 else {})}
    for n in range(300)
]
ALL_A = "user,item,score\n" + "".join(f"u{n},a,1\n" for n in range(300))


@pytest.mark.parametrize(
    ("recs", "truth", "options", "result"),
    [
        *(tuple(row.values()) for row in read_rows("cli/files.toml").values()),
        # A key that first comes late in JSON lines is read: rows without it are neither
        # relevant nor all alike.
        (("r.csv", ALL_A), ("t.jsonl", lines(LATE)), (), 0.5),
        (
            ("r.csv", ALL_A),
            ("t.jsonl", lines(FIRST_WITHOUT)),
            (),
            "150 values that are missing",
        ),
        (
            ("m.jsonl", lines(HALF)),
            ("t.csv", ALL_A),
            ("--model", "model"),
            "150 rows without a model",
        ),
        *(
            (("r.csv", RECS), ("t.csv", TRUTH), (flag, file), words)
            for flag in ("--train", "--items", "--users")
            for file, words in (
                ("none.csv", "no file"),
                (".", "several kinds: "),
                ("*.none", "no file matches"),
                ("x", "its ending says of no format"),
            )
        ),
        *(
            (
                ("r.csv", RECS.replace(",", by).replace("\n", "\r\n").encode(code)),
                ("t.csv", TRUTH.replace(",", by).encode(code)),
                (),
                RIGHT,
            )
            for by in ",;\t|"
            for code in ("utf-8", "utf-8-sig")
        ),
        # Files that are broken.
        *(
            ((name, content), ("t.csv", TRUTH), (), words)
            for name, content, words in (
                (
                    "r.csv",
                    b"user,item,score\nu1,a,1\nu2,\xe9,1\n",
                    "line 3 holds the byte 0xe9",
                ),
                (
                    "r.run",
                    b"u1 Q0 a 1 1 t\n" * 90_000 + b"u2 Q0 \xe9 1 1 t\n",
                    "line 90001 holds the byte 0xe9",
                ),
                ("r.parquet", b"PAR1 and no more", "cannot be read as .parquet"),
                ("r.parquet", b"", "cannot be read as .parquet"),
                ("r.arrow", b"", "cannot be read as .arrow"),
                ("r.xlsx", b"PK\x03\x04\xff\xfe\x00", "is no text in UTF-8"),
            )
        ),
    ],
    ids=lambda one: None if isinstance(one, tuple) else str(one)[:30],
)
def test_files_are_read_as_they_are_or_named(
    tmp_path, told, monkeypatch, recs, truth, options, result
):
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "x", "a b c d\n")
    found = told(
        put(tmp_path / recs[0], recs[1]), put(tmp_path / truth[0], truth[1]), *options
    )
    if isinstance(result, str):
        assert result in str(found)
        assert ".astype" not in str(found)
    else:
        assert found == pytest.approx(result)


@pytest.mark.parametrize("form", ["csv", "jsonl", "run", "parquet", "arrow"])
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_compressed_files_are_read_and_broken_ones_named(tmp_path, form, ending, told):
    frame, recs = pl.read_csv(RECS.encode()), tmp_path / f"r.{form}"
    rows = frame.with_columns(zero=pl.lit("Q0"), place=pl.lit(0), tag=pl.lit("tag"))
    {
        "csv": frame.write_csv,
        "jsonl": frame.write_ndjson,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "run": lambda path: rows.select(
            "user", "zero", "item", "place", "score", "tag"
        ).write_csv(path, separator=" ", include_header=False),
    }[form](recs)
    if ending and form in ("parquet", "arrow"):
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
    if ending or form in ("parquet", "arrow"):
        recs.write_bytes(recs.read_bytes()[:-6])
        assert f"{recs} cannot be read" in str(told(recs, truth))
    if ending:
        recs.write_bytes(b"not compressed")
        assert f"If it is no {ending} file, rename it" in str(told(recs, truth))


def test_a_pipe_a_folder_and_a_file_given_twice_are_told(tmp_path, told):
    truth, recs = put(tmp_path / "t.csv", TRUTH), put(tmp_path / "r.csv", RECS)
    os.mkfifo(tmp_path / "pipe.csv")
    assert "a pipe or a device" in str(told(tmp_path / "pipe.csv", truth))
    assert "r.csv has a column 'score', and" in str(told(tmp_path, truth))
    (tmp_path / "again.csv").symlink_to(recs)
    for again in (tmp_path / "again.csv", tmp_path / ".." / tmp_path.name / "r.csv"):
        assert "is given twice" in str(told(recs, again, truth))


def test_ids_of_several_files_meet(tmp_path, capsys):
    recs = put(tmp_path / "r.csv", "who,item,score\n007,1,1\n1E2,2,1\n")
    beside = put(tmp_path / "beside.csv", recs.read_text())
    truth = put(tmp_path / "t.csv", "who,item\n07,1\n100,2\n1E2,3\n007,4\n")
    found = recnb.compare({"a": recs, "b": beside}, truth, user="who")
    assert found["a"].reciprocal_rank(k=5) == 0.0
    users = "user,branch\n" + "".join(
        f"u{n},{'07' if n % 2 else '007'}\n" for n in range(20)
    )
    files = [put(tmp_path / f"{model}.csv", ALL_A) for model in "ab"]
    options = ["--by", "branch", "--k", "5", "--format", "json"]
    line = ["report", *files, "--users", put(tmp_path / "u.csv", users), *options]
    assert main([*map(str, line)]) == 0
    rows = json.loads(capsys.readouterr().out)["segments"]["rows"]
    assert {"007", "07"} <= {row["segment"] for row in rows}


@pytest.mark.parametrize("is_text", ["truth", "recommendations"])
def test_folders_of_dates_meet_a_csv_as_the_error_says(
    tmp_path, monkeypatch, told, is_text
):
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
    message = told(*names.values(), "--split", "day")
    assert f"write the {is_text} as Parquet, with dates in column 'day'" in message
    with_dates = pl.read_csv(names[is_text], try_parse_dates=True)
    with_dates.write_parquet(f"{is_text}.parquet")
    names[is_text] = f"{is_text}.parquet"
    assert told(*names.values(), "--split", "day") == 1.0


@pytest.mark.parametrize("place", ["", "folder/"])
def test_a_name_that_is_not_utf_8_is_refused(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / place / os.fsdecode(b"r\xff.csv")
    file.parent.mkdir(exist_ok=True)
    file.write_text("user,item,rank\n1,a,1\n")
    truth = tmp_path / "truth.csv"
    truth.write_text("user,item\n1,a\n")
    given = file.parent if place else file
    assert main(["report", str(given), str(truth)]) == 4
    assert "is not UTF-8: rename" in capsys.readouterr().err
    with pytest.raises(FrameError, match="is not UTF-8"):
        recnb.evaluate(given, truth)
