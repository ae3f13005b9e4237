"""Runs and qrels: what is written is read back, what is broken is refused, and trec_eval reads the same."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import ColumnError, FrameError
from recnb.trec import kind_of

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
    assert kind_of(_file(tmp_path, RUN)) == "run"


def test_judgements(tmp_path: Path) -> None:
    read = recnb.read_trec_qrels(_file(tmp_path, QRELS))
    assert read.to_dict("list") == {"user": ["q1", "q1", "q2"], "item": ["d1", "NA", "007"], "relevance": [2, -1, 0]}
    assert kind_of(_file(tmp_path, QRELS)) == "qrels"
    assert kind_of(_file(tmp_path, "user,item\n1,2\n")) is None
    assert kind_of(_file(tmp_path, "")) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("a b c\n", "row 1 is 'a b c'"),
        ("q Q0 d 1 x tag\n", "row 1 has the score 'x'"),
        ("q Q0 d 1 1 tag\nq Q0 d 1 1 tag more\n", "row 2 is"),
        ("q Q0 d 1 1 tag\nq Q0 d 1 1 tag more still\n", "line 2"),
        ("q Q0 d 1 1 tag\nq Q0 d 1\n", "row 2 is 'q Q0 d 1'"),
    ],
)
def test_a_broken_run_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(FrameError, match=words):
        recnb.read_trec_run(_file(tmp_path, text))


def test_broken_judgements_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FrameError, match=r"the relevance '0\.5', which is no whole number"):
        recnb.read_trec_qrels(_file(tmp_path, "q 0 d 0.5\n"))
    with pytest.raises(FrameError, match="is no qrels of TREC, which has 4 columns"):
        recnb.read_trec_qrels(_file(tmp_path, RUN))


WORD = st.text(st.characters(exclude_categories=("Z", "C"), codec="utf-8"), min_size=1, max_size=6)


@given(st.lists(st.tuples(WORD, WORD, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=20))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]]
) -> None:
    path = tmp_path_factory.mktemp("trec") / "run.gz"
    frame = pd.DataFrame(rows, columns=["user", "item", "score"])
    recnb.write_trec_run(frame, path, tag="mine")
    read = recnb.read_trec_run(path)
    assert sorted(zip(read["user"], read["item"], read["score"], strict=True)) == sorted(rows)
    assert (read["model"] == "mine").all()


def test_ranks_become_scores_of_the_same_order(tmp_path: Path) -> None:
    recs = pl.DataFrame({"member": ["b", "a", "a"], "item": ["x", "y", "z"], "rank": [1, 2, 1], "model": ["m"] * 3})
    recnb.write_trec_run(recs, tmp_path / "run", user="member")
    assert (tmp_path / "run").read_text() == "a Q0 z 1 -1.0 m\na Q0 y 2 -2.0 m\nb Q0 x 1 -1.0 m\n"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    recs = pd.DataFrame({"user": [1], "item": ["two words"], "score": [1.0]})
    with pytest.raises(FrameError, match="the item 'two words' holds blanks"):
        recnb.write_trec_run(recs, tmp_path / "run")
    with pytest.raises(ColumnError, match="neither rank nor score"):
        recnb.write_trec_run(recs.drop(columns="score"), tmp_path / "run")
    with pytest.raises(FrameError, match="1 scores are missing"):
        recnb.write_trec_run(recs.assign(score=None), tmp_path / "run")
    with pytest.raises(FrameError, match=r"a relevance is 0\.5"):
        recnb.write_trec_qrels(recs.assign(relevance=0.5), tmp_path / "qrels")


def test_trec_eval_reads_the_same(tmp_path: Path) -> None:
    sample = recnb.datasets.load_sample()
    recs = sample.models["item-knn"]
    recnb.write_trec_run(recs, tmp_path / "run")
    recnb.write_trec_qrels(sample.test, tmp_path / "qrels")
    with (tmp_path / "run").open() as run_file, (tmp_path / "qrels").open() as qrels_file:
        run, qrels = pytrec_eval.parse_run(run_file), pytrec_eval.parse_qrel(qrels_file)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10"}).evaluate(run)
    ev = recnb.evaluate(
        recnb.read_trec_run(tmp_path / "run"), recnb.read_trec_qrels(tmp_path / "qrels"), convention="trec_eval"
    )
    for name, score in (("map", ev.map()), ("ndcg_cut_10", ev.ndcg(k=10))):
        assert float(score) == pytest.approx(sum(one[name] for one in theirs.values()) / len(theirs), abs=1e-12)
