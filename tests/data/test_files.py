"""Files as they are written: runs and qrels as trec_eval reads them, lines of CSV, and what is broken is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import recnb
from recnb.errors import FrameError

RUN = 'q1 Q0 "d1 1 3.5 tag\nq1\tQ0  NA 1 3.5 tag\nq2 Q0 007 1 1e-3 tag\n'
READERS = {"run": recnb.read_trec_run, "qrels": recnb.read_trec_qrels}


def _file(folder: Path, text: str, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("run", "", "is empty, and so no run of TREC"),
        ("run", "\n# nothing here\n", "is empty"),
        ("run", "a b c\n", "line 1, 'a b c', is no run of TREC, which has 6 columns"),
        ("run", "# a comment\n\nq Q0 d 1 1 tag\nq Q0 d 1 1\n", "line 4, 'q Q0 d 1 1', is no run"),
        ("run", "q Q0 d 1 x tag\n", "line 1, .* has a score that is no number"),
        ("run", "q Q0 d 1 1 tag\n\nq Q0 d 1 nan tag\n", "line 3, .* has a score that is no number"),
        ("run", "q Q0 d 1 1 tag\nq Q0 d 1 1,5 tag\n", "line 2, .* has a score that is no number"),
        ("qrels", RUN, r"line 1, .* is no qrels of TREC, which has 4 columns"),
        ("qrels", "q 0 d 1 1\n", "is no qrels"),
        ("qrels", "q 0 d\n", "is no qrels"),
        *(("qrels", f"q 0 d 1\nq 0 e {grade}\n", f"line 2, 'q 0 e {grade}', has a relevance that is no whole number")
          for grade in ("0.5", "1e3", "x", "0x1", "nan", "1.1.1")),
    ],
)  # fmt: skip
def test_what_is_broken_is_refused(tmp_path: Path, kind: str, text: str, words: str) -> None:
    with pytest.raises(FrameError, match=words):
        READERS[kind](_file(tmp_path, text))


def test_a_run_as_trec_eval_reads_it(tmp_path: Path) -> None:
    text = (
        "# begins with a comment of some six words\r\n"
        "q1\tQ0\td1\t7\t  2.129133\tSTANDARD\r\n"
        "q1\t0\td2\t7\t+.5E+01\tSTANDARD ... more junk\r\n"
        "\r\n"
        "  q1 Q0 d3 7 5. STANDARD at end of lines, 1 2 3  \r\n"
        "q1 iter d#4 x -1e-3 STANDARD\r\n"
        "q1 0 d\u00a05 - 1E3 STANDARD\n"
    )
    read = recnb.read_trec_run(_file(tmp_path, text + RUN))
    assert read["user"].tolist() == ["q1"] * 7 + ["q2"]
    assert read["item"].tolist() == ["d1", "d2", "d3", "d#4", "d\u00a05", '"d1', "NA", "007"]
    assert read["score"].tolist() == [2.129133, 5.0, 5.0, -0.001, 1000.0, 3.5, 3.5, 0.001]
    assert read["model"].tolist() == ["STANDARD"] * 5 + ["tag"] * 3
    qrels = "# comment here\r\n301 0 CR#93E-1860 0\r\n301\tQ0\td2\t+1 \r\n# and here\r\n301 0 NA -2\n 2 0 007 0.0\n"
    assert recnb.read_trec_qrels(_file(tmp_path, qrels)).to_dict("list") == {
        "user": ["301", "301", "301", "2"], "item": ["CR#93E-1860", "d2", "NA", "007"], "relevance": [0, 1, -2, 0]
    }  # fmt: skip


@pytest.mark.parametrize("kind", READERS)
def test_a_path_that_is_no_file(kind: str, tmp_path: Path) -> None:
    with pytest.raises(FrameError, match=r"there is no file '.*missing'"):
        READERS[kind](tmp_path / "missing")
    with pytest.raises(FrameError, match="is a folder"):
        READERS[kind](tmp_path)


@pytest.mark.parametrize("lines", [
    "user,item,rank\r\nu,a,1\r\nu,b,2\r\n",
    "\n\nuser,item,rank\n\nu,a,1\n\nu,b,2\n\n\n",
    "user,item,rank\r\n\r\nu,a,1\r\nu,b,2\r\n\r\n",
    'user,item,rank,title\nu,a,1,"one\n\ntwo"\n\nu,b,2,"three"\n',
])  # fmt: skip
def test_blank_lines_of_csv_are_no_rows(lines: str, tmp_path: Path) -> None:
    ev = recnb.evaluate(_file(tmp_path, lines, "recs.csv"), {"u": ["b"]})
    assert ev.mrr() == 0.5
    assert ev.counts.n_recommended == 2


def test_ids_of_csv_that_look_like_numbers_are_as_they_are_written(tmp_path: Path) -> None:
    assert recnb.evaluate(_file(tmp_path, "user,item,rank\nu,1.5,1\nu,1.50,2\n", "a.csv"), {"u": ["1.50"]}).mrr() == 0.5
