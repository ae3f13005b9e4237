"""Learning to rank: rows of queries without items, groups and labels beside scores,
held by scikit-learn and by frames.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

import recnb
from recnb.errors import FrameError, OptionError, RecnbError

ROWS = pd.DataFrame(
    {
        "qid": [1, 1, 1, 2, 2],
        "label": [3, 0, 2, 1, 0],
        "prediction": [0.2, 0.9, 0.5, 0.1, 0.7],
    }
)
#: The lists are 0, 2, 3 and 0, 1.
FIRST = (2 / math.log2(3) + 3 / 2) / (3 + 2 / math.log2(3))
SECOND = 1 / math.log2(3)
SHUFFLED = ROWS.sample(frac=1, random_state=3)


@pytest.mark.parametrize(
    "convert",
    [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()],
    ids=["pandas", "polars", "lazy"],
)
@pytest.mark.parametrize("frame", [ROWS, SHUFFLED], ids=["sorted", "shuffled"])
def test_rows_without_items(frame: pd.DataFrame, convert: Any) -> None:
    score = convert(frame).rec.ndcg(k=10)
    assert score == pytest.approx((FIRST + SECOND) / 2, abs=1e-15)
    assert score.per_user.to_dict() == pytest.approx({1: FIRST, 2: SECOND})
    assert score.per_user.index.name == "qid"
    assert "each row is its own item" in score.basis
    assert recnb.evaluate(convert(frame)).ndcg(k=10) == score


def test_rows_with_ranks_or_items() -> None:
    ranked = ROWS.assign(rank=[3, 1, 2, 2, 1]).drop(columns="prediction")
    assert ranked.rec.ndcg(k=10) == ROWS.rec.ndcg(k=10)
    assert list(ROWS.rec.explain("ndcg", 1, k=3).to_frame()["item"]) == [1, 2, 0]
    frame = ROWS.assign(doc_id=list("abcab"))
    assert frame.rec.ndcg(k=10) == ROWS.rec.ndcg(k=10)
    assert "each row" not in frame.rec.ndcg(k=10).basis
    assert (
        frame.rename(columns={"doc_id": "goods"})
        .rec.evaluation(item="goods")
        .counts.n_items_recommended
        == 3
    )
    with pytest.raises(RecnbError, match="index holds 'item'"):
        frame.rename(columns={"doc_id": "item"}).set_index("item").rec.ndcg(k=10)
    for column in ("label", "prediction"):
        with pytest.raises(
            FrameError, match=r"row 3 \(\w+ 2, item 3\) has no score or no relevance"
        ):
            ROWS.assign(
                **{column: ROWS[column].astype(float).where(ROWS.index != 3)}
            ).rec.ndcg(k=3)


def test_group_sizes_and_queries() -> None:
    label, prediction = ROWS["label"], ROWS["prediction"]
    want = [FIRST, SECOND]
    for convert in (list, np.array, pd.Series, pl.Series):
        by_size = recnb.evaluate_groups(
            convert(label), convert(prediction), group=convert([3, 2])
        )
        assert by_size.ndcg(k=10).per_user.tolist() == pytest.approx(want)
        by_query = recnb.evaluate_groups(
            convert(label), convert(prediction), qid=convert(ROWS["qid"])
        )
        assert by_query.ndcg(k=10).per_user.to_dict() == pytest.approx(
            {1: FIRST, 2: SECOND}
        )
    assert by_size.users.name == "group"
    assert by_query.users.name == "qid"
    apart = recnb.evaluate_groups(
        SHUFFLED["label"], SHUFFLED["prediction"], qid=SHUFFLED["qid"]
    )
    assert apart.ndcg(k=10).per_user.to_dict() == pytest.approx({1: FIRST, 2: SECOND})
    named = recnb.evaluate_groups(
        label, prediction, qid=list("aaabb"), relevant_from=2, no_relevant="zero"
    )
    assert named.precision(k=3).per_user.to_dict() == pytest.approx(
        {"a": 2 / 3, "b": 0}
    )


queries = st.lists(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 10**6)),
        min_size=2,
        max_size=8,
        unique_by=lambda row: row[1],
    ),
    min_size=1,
    max_size=6,
)


@given(queries, st.integers(1, 9))
def test_groups_are_scored_as_by_scikit_learn(
    groups: list[list[tuple[int, int]]], k: int
) -> None:
    """Scores without ties; a query without a relevant row is 0 there, and left out here
    unless asked otherwise.
    """
    want = [
        ndcg_score([[label for label, _ in rows]], [[score for _, score in rows]], k=k)
        for rows in groups
    ]
    label, score = ([row[at] for rows in groups for row in rows] for at in (0, 1))
    ev = recnb.evaluate_groups(
        label, score, group=[len(rows) for rows in groups], no_relevant="zero"
    )
    assert ev.ndcg(k=k).per_user.tolist() == pytest.approx(want, abs=1e-12)
    lists = [[[row[at] for row in rows] for rows in groups] for at in (0, 1)]
    found = recnb.ndcg(y_true=lists[0], y_score=lists[1], k=k)
    assert found == pytest.approx(np.mean(want), abs=1e-12)


def test_queries_of_several_kinds_are_refused() -> None:
    """Numpy makes 1 and "1" the same text, and two queries would be one."""
    for queries in ([1, "1"], (1, "1"), [[1], ["1"]]):
        with pytest.raises(RecnbError, match="more than one kind"):
            recnb.evaluate_groups([1, 0], [0.1, 0.2], qid=queries)


def test_labels_and_scores_in_other_forms() -> None:
    y_true, y_score = [3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7]
    for form in (list, np.array, pd.Series, pl.Series):
        with pytest.raises((FrameError, OptionError), match=r"recnb\.evaluate_groups"):
            recnb.evaluate(form(y_true), form(y_score))
    frame = pd.DataFrame({"qid": [1, 1, 1, 2, 2], "y_true": y_true, "y_score": y_score})
    ndcg = recnb.evaluate(frame).ndcg(k=3)
    assert recnb.evaluate_groups(y_true, y_score, [3, 2]).ndcg(k=3) == ndcg
    # Indexes that differ are those of other frames, as after a split.
    assert (
        recnb.evaluate_groups(
            pd.Series(y_true, index=range(5, 10)), pd.Series(y_score), [3, 2]
        ).ndcg(k=3)
        == ndcg
    )
    column = np.array(y_true)[:, None]
    for scores in (
        np.array(y_score)[:, None],
        pd.DataFrame({"p": y_score}),
        pl.DataFrame({"p": y_score}),
    ):
        assert recnb.evaluate_groups(column, scores, group=[3, 2]).ndcg(k=3) == ndcg


def test_sizes_of_1_are_advised_both_meanings() -> None:
    y_true, y_score = [1, 0], [0.1, 0.2]
    assert recnb.evaluate_groups(y_true, y_score, group=[2]).joined.users.len() == 1
    apart = recnb.evaluate_groups(y_true, y_score, qid=range(2))
    assert apart.joined.n_without_relevant == 1
