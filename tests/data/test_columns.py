"""Which column plays which role, and which of them puts rows in order; the orders themselves are held by the law of test_attack."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.data import NAMES
from recnb.data.columns import from_pandas
from recnb.errors import ColumnError, FrameError

RECS = pd.DataFrame({"user": [1, 1, 1, 2, 2], "item": [10, 11, 12, 10, 13], "rank": [1, 2, 3, 1, 2]})
SCORED = RECS.drop(columns="rank").assign(score=[3, 2, 1, 2, 1])
TRUTH = pd.DataFrame({"user": [1, 1, 2], "item": [11, 14, 10], "relevance": [3.0, 1.0, 2.0]})
#: User 1 hits at rank 2 with relevance 3 (ideal 3, 1), user 2 at rank 1 with relevance 2.
DCG = pytest.approx([3 / np.log2(3), 2.0], abs=1e-15)


def dcg(recs: object, truth: object, **options: object) -> list[float]:
    return recnb.evaluate(recs, truth, **options).dcg(k=3).per_user.tolist()


# ---- roles


@pytest.mark.parametrize("role", ["user", "item", "rank", "score", "relevance"])
def test_every_common_name_in_any_spelling_and_any_other_by_keyword(role: str) -> None:
    frames = (SCORED if role == "score" else RECS), TRUTH
    assert dcg(*frames) == DCG
    for name in NAMES[role]:
        for spelled in (name, name.upper(), f"{name[:2]}_{name[2:]}", f" {name[0]} {name[1:3]}-{name[3:]} ".title()):
            recs, truth = (frame.rename(columns={role: spelled}) for frame in frames)
            assert dcg(recs, truth) == DCG, spelled
            if role in ("user", "item"):
                assert dcg(recs, TRUTH) == dcg(frames[0], truth) == DCG, spelled
    mine = {role: "xyz"}
    recs, truth = (frame.rename(columns=mine) for frame in frames)
    assert dcg(recs, truth, **mine) == DCG
    if role in ("user", "item"):
        assert dcg(recs, TRUTH, **mine) == dcg(RECS, truth, **mine) == DCG


def test_the_names_that_the_documentation_promises() -> None:
    promised = {
        "user": ["user_id", "userId", "query_id", "qid"], "item": ["item_id", "movieId", "doc_id"],
        "score": ["prediction", "score"], "relevance": ["rating", "label"],
    }  # fmt: skip
    for role, names in promised.items():
        assert {name.lower().replace("_", "") for name in names} <= set(NAMES[role])
    every = list(itertools.chain.from_iterable(NAMES.values()))
    assert len(every) == len(set(every)), "a name that suggests two roles suggests none"


def test_a_keyword_wins_over_common_names() -> None:
    recs = RECS.assign(user_id=[7, 7, 7, 8, 8])
    assert dcg(recs, TRUTH, user="user") == DCG
    with pytest.raises(FrameError, match="no user is in both frames"):
        dcg(recs, TRUTH, user="user_id")
    # `label` is usually relevance; named as the user column it is not taken for relevance as well.
    assert dcg(RECS, TRUTH.rename(columns={"user": "label"}), user="label") == DCG
    # The score column of one frame does not hide the relevance of the other.
    rated = SCORED.rename(columns={"score": "rating"}), TRUTH.rename(columns={"relevance": "rating"})
    assert dcg(*rated, score="rating") == DCG


def test_without_relevance_every_row_of_the_truth_is_relevant() -> None:
    ev = recnb.evaluate(RECS, TRUTH.drop(columns="relevance"))
    assert ev.cg(k=3).per_user.tolist() == [1.0, 1.0]
    assert "every pair of the truth" in ev.basis()
    assert "relevance above 0" in recnb.evaluate(RECS, TRUTH).basis()


PROPOSED: dict[str, tuple[dict[str, list[Any]], str]] = {
    "all": ({"who": ["u"], "what": ["i"], "x1": [0.1], "x2": [3]}, "user='who', item='what', score='x1'"),
    "none left": ({"a": ["u"]}, "user='a', item='...', score='...'"),
    "some found": ({"qid": [1], "what": ["x"], "out": [0.5]}, "item='what', score='out'"),
    "rank is there": ({"a": ["u"], "b": ["i"], "rank": [1]}, "user='a', item='b'."),
}  # fmt: skip
KINDS = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "lazy": lambda frame: pl.from_pandas(frame).lazy(), "arrow": pa.Table.from_pandas,
         "duckdb": lambda frame: import_module("duckdb").connect().from_arrow(pa.Table.from_pandas(frame))}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", PROPOSED)
def test_all_that_is_missing_is_in_one_error(what: str, kind: str) -> None:
    columns, proposed = PROPOSED[what]
    with pytest.raises(ColumnError) as found:
        recnb.evaluate(KINDS[kind](pd.DataFrame(columns)), TRUTH)
    assert proposed in str(found.value)
    assert all(repr(column) in str(found.value) for column in columns)


def test_one_frame_that_lacks_several() -> None:
    frame = pd.DataFrame({"who": ["u"], "output": [0.5], "stars": [4]})
    with pytest.raises(
        ColumnError, match=r"user='who', score='output', relevance='stars'.*recs\.rec\.against\(truth\)"
    ):
        frame.rec.ndcg(k=3)
    assert frame.rec.ndcg(k=3, user="who", score="output", relevance="stars") == 1


@pytest.mark.parametrize("index", [["user"], ["item"], ["user", "item"], ["user", "item", "rank"], ["rank"]])
def test_columns_in_the_index_are_asked_back(index: list[str]) -> None:
    with pytest.raises(ColumnError, match=r"its index holds '\w+'.*\.reset_index\(\)"):
        dcg(RECS.set_index(index), TRUTH)
    assert dcg(RECS.set_index(index).reset_index(), TRUTH) == DCG


COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "text, some missing": (pd.Series(["a", None, "a text that is longer than a view", "가"], dtype="str"), ["a", None, "a text that is longer than a view", "가"]),
    "a category that is missing": (pd.Series(["b", None, "a"], dtype="category"), ["b", None, "a"]),
    "bins": (pd.Series(pd.cut([1, 5], [0, 2, 6])), ["(0, 2]", "(2, 6]"]),
    "periods": (pd.Series(pd.period_range("2026", periods=2, freq="Y")), ["2026", "2027"]),
    "whole numbers and decimals": (pd.Series([1, 2.5], dtype=object), [1.0, 2.5]),
}  # fmt: skip


@pytest.mark.parametrize("what", COLUMNS)
def test_a_column_as_polars_has_it(what: str) -> None:
    column, values = COLUMNS[what]
    assert from_pandas(column, "users", "group", "group").to_list() == values


def test_groups_keep_an_order_of_their_own() -> None:
    for ordered, want in ((True, ["low", "high"]), (False, ["high", "low"])):
        column = pd.Series(pd.Categorical(["high", "low"], categories=["low", "high"], ordered=ordered))
        assert from_pandas(column, "users", "group", "group").sort().to_list() == want


@pytest.mark.parametrize("values", [["a", 1], [True, 1], [1j, 2], [object()], [10**30, 1], [[1], 2]])
def test_a_column_of_several_kinds_is_refused(values: list[Any]) -> None:
    with pytest.raises(FrameError, match="users: column 'group' holds values of more than one kind"):
        from_pandas(pd.Series(values, dtype=object), "users", "group", "group")


# ---- order


def test_the_order_in_force_is_said() -> None:
    assert "ordered by rank" in recnb.evaluate(RECS, TRUTH).basis()
    assert "equal scores" not in recnb.evaluate(RECS, TRUTH).basis()
    assert "ordered by score, equal scores in the order given" in recnb.evaluate(SCORED, TRUTH).basis()
    assert "equal scores by item, descending" in recnb.evaluate(SCORED, TRUTH, ties="item_desc").basis()
    assert "in the order given" in recnb.evaluate(SCORED, TRUTH, order="row").basis()


@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4], [3, 1, 4, 0, 2], [0, 1, 3, 4, 2]])
def test_rank_and_score_that_disagree_must_be_settled(rows: list[int]) -> None:
    """Also where a user's rows stand apart."""
    against = RECS.assign(score=[1, 2, 3, 1, 2]).iloc[rows]
    with pytest.raises(FrameError, match=r"'rank' and 'score' disagree in 3 places.*order='rank' or order='score'"):
        dcg(against, TRUTH)
    assert dcg(against, TRUTH, order="rank") == DCG
    assert dcg(against, TRUTH, order="score") == pytest.approx([3 / np.log2(3), 2 / np.log2(3)])


# ---- counts


def test_counts() -> None:
    recs = pd.DataFrame({"user": [1, 1, 5, 6, 6], "item": [10, 11, 10, 17, 18], "rank": [1, 2, 1, 1, 2]})
    truth = pd.DataFrame({"user": [1, 1, 2, 5, 9], "item": [11, 14, 10, 10, 10], "relevance": [3, 0, 2, 0, 0]})
    counts = recnb.evaluate(recs, truth).counts
    # 1 and 2 have something relevant, 2 has no list; 5, 6 and 9 have nothing relevant.
    assert (counts.n_users, counts.n_without_list, counts.n_without_relevant) == (2, 1, 3)
    assert (counts.n_recommended, counts.n_relevant, counts.n_not_relevant, counts.n_gaps) == (5, 2, 3, 0)
    assert (counts.n_items_recommended, counts.n_items_relevant) == (4, 2)
    assert recnb.evaluate(recs, truth, judged="list").counts.n_not_relevant == 4
    everyone = recnb.evaluate(recs, truth, averaged_users="union", no_relevant="zero")
    assert (everyone.counts.n_users, everyone.counts.n_without_list, everyone.counts.n_without_relevant) == (5, 2, 3)
    assert "2 of them without a list, which counts 0" in everyone.basis()
    assert "3 with no relevant item left out" in recnb.evaluate(recs, truth).basis()
