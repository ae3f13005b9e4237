"""A user is found by the id that results show: a whole number or text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import UnknownUserError

KINDS: dict[str, Any] = {
    "whole numbers": pd.Series([-(2**63), 2**63 - 1]),
    "whole numbers as floats": pd.Series([1.0, 2.0]),
    "text": pd.Series(["", "ü"]),
    "categories": pl.Series(["a", "b"], dtype=pl.Categorical),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_user_of_a_result_can_be_explained(kind: str) -> None:
    users = KINDS[kind]
    columns = {"user": users, "item": type(users)([1, 2]), "rank": type(users)([1, 1])}
    recs = pl.DataFrame(columns) if isinstance(users, pl.Series) else pd.DataFrame(columns)
    truth = (
        pl.DataFrame({**columns, "item": pl.Series([1, 1])}) if isinstance(users, pl.Series) else recs.assign(item=1)
    )
    ev = recnb.evaluate(recs, truth, train=truth)
    assert ev.precision(k=1).per_user.tolist() == [1.0, 0.0]
    for position, user in enumerate(ev.users):
        assert ev.explain("precision", user, k=1).value == 1 - position
        assert ev.explain("novelty", user, k=1).value == ev.novelty(k=1).per_user.iloc[position]
        assert ev.user(user)["item"].tolist()[:1] == [position + 1]


@pytest.mark.parametrize("user", ["1", 1.5, dt.date(2020, 1, 3), pd.Timestamp(1), Decimal("1.5"), b"1", 2**70, [1]])
@pytest.mark.parametrize("text", [False, True])
def test_what_is_no_such_id_is_not_found(user: Any, text: bool) -> None:
    ids = ["a", "b"] if text else [1, 2]
    recs = pl.DataFrame({"user": ids, "item": [1, 2], "rank": [1, 1]})
    with pytest.raises(UnknownUserError):
        recnb.evaluate(recs, recs).explain("precision", user, k=1)
