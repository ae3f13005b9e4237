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
from recnb.data.trec import kind_of
from recnb.errors import ColumnError, FrameError

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
        ("\n\n", "is empty"),
        ("# nothing here\n", "is empty"),
        ("a b c\n", "line 1, 'a b c', is no run of TREC, which has 6 columns"),
        ("q Q0 d 1 x tag\n", "line 1 has the score 'x'"),
        ("q Q0 d 1 1 tag\n\nq Q0 d 1 nan tag\n", "line 3 has the score 'nan'"),
        ("q Q0 d 1 1 tag\nq Q0 d 1 1,5 tag\n", "line 2 has the score '1,5'"),
        ("# a comment\nq Q0 d 1 1\n", "line 2, 'q Q0 d 1 1', is no run"),
        ("q Q0 d 1 1 tag\nq Q0 d 1\n", "line 2, 'q Q0 d 1', is no run"),
        ("q Q0 d 1 1 tag\n#q2 Q0 d 1 1 tag\n", "line 2, '#q2 Q0 d 1 1 tag', may be a comment or a row"),
    ],
)
def test_a_broken_run_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(FrameError, match=words):
        recnb.read_trec_run(_file(tmp_path, text))


def test_broken_judgements_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FrameError, match=r"the relevance '0\.5', which is no whole number"):
        recnb.read_trec_qrels(_file(tmp_path, "q 0 d 0.5\n"))
    for text in (RUN, "q 0 d 1 1\n", "q 0 d\n"):
        with pytest.raises(FrameError, match=r"line 1, .* is no qrels of TREC, which has 4 columns"):
            recnb.read_trec_qrels(_file(tmp_path, text))
    for grade in ("1e3", "x", "0x1", "nan", "1.1.1"):
        with pytest.raises(FrameError, match=f"line 2 has the relevance '{grade}'"):
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
    assert kind_of(path) == "run"
    qrels = tmp_path / "a.qrels"
    qrels.write_bytes(b"# comment here\r\n301 0 CR#93E-1860 0\r\n301\tQ0\td2\t1 \r\n# and here\r\n301 0 d3 -2")
    judged = recnb.read_trec_qrels(qrels)
    assert judged["item"].tolist() == ["CR#93E-1860", "d2", "d3"]
    assert judged["relevance"].tolist() == [0, 1, -2]
    assert kind_of(qrels) == "qrels"


WORD = st.text(st.characters(exclude_categories=("Z", "C"), codec="utf-8"), min_size=1, max_size=6)


@given(st.lists(st.tuples(WORD, WORD, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=20))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]]
) -> None:
    rows = [(f"q{user}", item, score) for user, item, score in rows]  # a query that begins with # would be a comment
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
    with pytest.raises(FrameError, match="has 1 score that is missing"):
        recnb.write_trec_run(recs.assign(score=None), tmp_path / "run")
    with pytest.raises(FrameError, match=r"a relevance is 0\.5"):
        recnb.write_trec_qrels(recs.assign(relevance=0.5), tmp_path / "qrels")


def test_a_path_that_is_no_file(tmp_path: Path) -> None:
    for read in (recnb.read_trec_run, recnb.read_trec_qrels):
        with pytest.raises(FrameError, match=r"there is no file '.*missing'"):
            read(tmp_path / "missing")
        with pytest.raises(FrameError, match="is a folder: name a file in it"):
            read(tmp_path)


def test_judgements_without_relevance_count_1(tmp_path: Path) -> None:
    recnb.write_trec_qrels(pd.DataFrame({"user": [1, 2], "item": ["b", "a"]}), tmp_path / "qrels")
    assert (tmp_path / "qrels").read_text() == "1 0 b 1\n2 0 a 1\n"


def test_ranks_and_scores_that_disagree_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "run"
    recs = pd.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "rank": [1, 2], "score": [0.1, 0.9]})
    with pytest.raises(
        FrameError, match=r"'rank' and 'score' disagree: user 'u' has item 'a' at rank 1, and 'b', .* at rank 2"
    ):
        recnb.write_trec_run(recs, path)
    assert not path.exists()
    recnb.write_trec_run(recs.drop(columns="score"), path)
    assert recnb.read_trec_run(path)["item"].tolist() == ["a", "b"]
    tied = recs.assign(score=0.5)[::-1]
    recnb.write_trec_run(tied, path)
    assert recnb.read_trec_run(path, rank=True)["rank"].tolist() == [1, 2]


def test_scores_that_a_float_cannot_tell_apart_keep_their_order(tmp_path: Path) -> None:
    recs = pd.DataFrame({"user": ["u"] * 3, "item": list("abc"), "score": [2**60, 2**60 + 1, 2**60 + 2]})
    recnb.write_trec_run(recs, tmp_path / "run")
    assert recnb.read_trec_run(tmp_path / "run")["item"].tolist() == ["c", "b", "a"]
    assert recnb.read_trec_run(tmp_path / "run")["score"].is_unique


def test_a_run_holds_one_model(tmp_path: Path) -> None:
    recs = pd.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "score": [2.0, 1.0], "model": ["x", "y"]})
    with pytest.raises(FrameError, match=r"several models \('x', 'y'\), and a run holds one"):
        recnb.write_trec_run(recs, tmp_path / "run", tag="both")
    recnb.write_trec_run(recs[recs["model"] == "x"], tmp_path / "run")
    assert recnb.read_trec_run(tmp_path / "run")["item"].tolist() == ["a"]


def test_users_that_would_be_comments_are_not_written(tmp_path: Path) -> None:
    recs = pd.DataFrame({"user": ["#1"], "item": ["a"], "score": [2.0]})
    with pytest.raises(FrameError, match="'#1' begins with #"):
        recnb.write_trec_run(recs, tmp_path / "run")


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
