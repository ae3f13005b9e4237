"""Files as tables: what is blank is no row, and what is said twice is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import recnb

TRUTH = {"u": ["b"]}

LINES = {
    "ends of Windows": b"user,item,rank\r\nu,a,1\r\nu,b,2\r\n",
    "blank lines": b"\n\nuser,item,rank\n\nu,a,1\n\nu,b,2\n\n\n",
    "blank lines of Windows": b"user,item,rank\r\n\r\nu,a,1\r\nu,b,2\r\n\r\n",
    "blank lines within quotes": b'user,item,rank,title\nu,a,1,"one\n\ntwo"\n\nu,b,2,"three"\n',
}


@pytest.mark.parametrize("case", LINES)
def test_lines_of_csv(case: str, tmp_path: Path) -> None:
    file = tmp_path / "recs.csv"
    file.write_bytes(LINES[case])
    ev = recnb.evaluate(file, TRUTH)
    assert ev.mrr() == 0.5
    assert ev.counts.n_recommended == 2
