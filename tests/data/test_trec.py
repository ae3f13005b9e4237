"""Runs and qrels: what is written is read back, what is broken is refused, and trec_eval reads the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import recnb
from recnb.errors import FrameError

RUN = 'q1 Q0 "d1 1 3.5 tag\nq1\tQ0  NA 1 3.5 tag\nq2 Q0 007 1 1e-3 tag\n'
QRELS = "q1 0 d1 2\nq1 0 NA -1\n q2 0 007 0\n"


def _file(folder: Path, text: str, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_run(tmp_path: Path) -> None:
    read = recnb.read_trec_run(_file(tmp_path, RUN))
    assert read.to_dict("list") == {
        "user": ["q1", "q1", "q2"], "item": ['"d1', "NA", "007"], "score": [3.5, 3.5, 0.001], "model": ["tag"] * 3
    }  # fmt: skip
    assert recnb.read_trec_run(_file(tmp_path, RUN), rank=True)["rank"].tolist() == [1, 1, 1]


def test_judgements(tmp_path: Path) -> None:
    read = recnb.read_trec_qrels(_file(tmp_path, QRELS))
    assert read.to_dict("list") == {"user": ["q1", "q1", "q2"], "item": ["d1", "NA", "007"], "relevance": [2, -1, 0]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("# nothing here\n", "is empty"),
        ("a b c\n", "line 1, 'a b c', is no run of TREC, which has 6 columns"),
        ("q Q0 d 1 x tag\n", "line 1, .* has a score that is no number"),
        ("q Q0 d 1 1 tag\n\nq Q0 d 1 nan tag\n", "line 3, .* has a score that is no number"),
        ("q Q0 d 1 1 tag\nq Q0 d 1 1,5 tag\n", "line 2, .* has a score that is no number"),
        ("# a comment\nq Q0 d 1 1\n", "line 2, 'q Q0 d 1 1', is no run"),
        ("q Q0 d 1 1 tag\nq Q0 d 1\n", "line 2, 'q Q0 d 1', is no run"),
    ],
)
def test_a_broken_run_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(FrameError, match=words):
        recnb.read_trec_run(_file(tmp_path, text))


def test_broken_judgements_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FrameError, match="has a relevance that is no whole number"):
        recnb.read_trec_qrels(_file(tmp_path, "q 0 d 0.5\n"))
    for text in (RUN, "q 0 d 1 1\n", "q 0 d\n"):
        with pytest.raises(FrameError, match=r"line 1, .* is no qrels of TREC, which has 4 columns"):
            recnb.read_trec_qrels(_file(tmp_path, text))
    for grade in ("1e3", "x", "0x1", "nan", "1.1.1"):
        with pytest.raises(FrameError, match=f"line 2, 'q 0 e {grade}', has a relevance"):
            recnb.read_trec_qrels(_file(tmp_path, f"q 0 d 1\nq 0 e {grade}\n"))
    assert recnb.read_trec_qrels(_file(tmp_path, "q 0 d +1\nq 0 e 2.0\n"))["relevance"].tolist() == [1, 2]


def test_a_run_as_trec_eval_reads_it(tmp_path: Path) -> None:
    text = (
        "# begins with a comment of some six words\r\n"
        "q1\tQ0\td1\t7\t  2.129133\tSTANDARD\r\n"
        "q1\t0\td2\t7\t+.5E+01\tSTANDARD ... more junk\r\n"
        "\r\n"
        "  q1 Q0 d3 7 5. STANDARD at end of lines, 1 2 3  \r\n"
        "q1 iter d#4 x -1e-3 STANDARD\r\n"
        "q1 0 d\u00a05 - 1E3 STANDARD"
    )
    path = tmp_path / "a.run"
    path.write_bytes(text.encode())
    read = recnb.read_trec_run(path)
    assert read["item"].tolist() == ["d1", "d2", "d3", "d#4", "d\u00a05"]
    assert read["score"].tolist() == [2.129133, 5.0, 5.0, -0.001, 1000.0]
    assert set(read["model"]) == {"STANDARD"}
    qrels = tmp_path / "a.qrels"
    qrels.write_bytes(b"# comment here\r\n301 0 CR#93E-1860 0\r\n301\tQ0\td2\t1 \r\n# and here\r\n301 0 d3 -2")
    judged = recnb.read_trec_qrels(qrels)
    assert judged["item"].tolist() == ["CR#93E-1860", "d2", "d3"]
    assert judged["relevance"].tolist() == [0, 1, -2]


def test_a_path_that_is_no_file(tmp_path: Path) -> None:
    for read in (recnb.read_trec_run, recnb.read_trec_qrels):
        with pytest.raises(FrameError, match=r"there is no file '.*missing'"):
            read(tmp_path / "missing")
        with pytest.raises(FrameError, match="is a folder: name a file in it"):
            read(tmp_path)
