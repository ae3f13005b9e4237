"""Learning to rank: rows of queries without items, groups and labels beside scores,
held by scikit-learn and by frames.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from tests.rows import hold_refusals, read_rows, value_of

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
WITH_ITEMS = ROWS.assign(doc_id=list("abcab"))
LABEL, SCORES = ROWS["label"], ROWS["prediction"]
KNOWN = read_rows("groups.toml")


def lacking(column: str) -> pd.DataFrame:
    """The rows with a value missing."""
    return ROWS.assign(**{column: ROWS[column].astype(float).where(ROWS.index != 3)})


@pytest.mark.parametrize("call", KNOWN["same"])
def test_groups_and_rows_of_queries(call: str) -> None:
    assert value_of(call, globals()) == pytest.approx(
        value_of(KNOWN["same"][call], globals()), abs=1e-15
    )


test_what_is_no_group_is_refused = hold_refusals(KNOWN["refused"], globals())


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


@pytest.mark.slow
@given(queries, st.integers(1, 9))
def test_groups_are_scored_as_by_scikit_learn(
    groups: list[list[tuple[int, int]]], k: int
) -> None:
    """Scores without ties; a query without a relevant row is 0 there, and left out here
    unless asked otherwise.
    """
    from sklearn.metrics import ndcg_score

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
