"""A user is found by the id that results show, whatever kind it is of."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import UnknownUserError

DAYS = [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]
NANOSECONDS = pd.to_datetime([10**18, 10**18 + 1])
KINDS: dict[str, Any] = {
    "dates": pl.Series(DAYS),
    "datetimes": pd.Series(pd.to_datetime(DAYS)).astype("datetime64[us]"),
    "nanoseconds": pd.Series(NANOSECONDS),
    "nanoseconds in a zone": pd.Series(NANOSECONDS.tz_localize("UTC").tz_convert("Asia/Seoul")),
    "timedeltas": pd.Series(pd.to_timedelta([1, 2], unit="D")),
    "decimals": pl.Series([Decimal("0.0000"), Decimal("1.5")], dtype=pl.Decimal(38, 4)),
    "bytes": pl.Series([b"", b"a"]),
    "switches": pd.Series([False, True]),
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
    for position, user in enumerate([*ev.users, *users.to_list()]):
        at = position % 2
        assert ev.explain("precision", user, k=1).value == 1 - at
        assert ev.explain("novelty", user, k=1).value == ev.novelty(k=1).per_user.iloc[at]
        assert ev._data.truth_of(at)["item"].to_list() == [1]
        assert ev._data.list_of(at) == {1: at + 1}


def test_users_keep_their_time_zone() -> None:
    users = KINDS["nanoseconds in a zone"]
    recs = pd.DataFrame({"user": users, "item": [1, 2], "rank": 1})
    ev = recnb.evaluate(recs, recs.assign(item=[1, 1]))
    assert ev.precision(k=1).per_user.to_dict() == {users[0]: 1.0, users[1]: 0.0}
    assert ev.users.tolist() == users.tolist()
    left_out = recnb.evaluate(recs, recs.assign(relevance=[0, 1]), no_relevant="zero").ndcg(k=1).per_user
    assert left_out.index.tolist() == users.tolist()


def test_what_is_near_is_not_taken() -> None:
    recs = pl.DataFrame({"user": DAYS, "item": [1, 2], "rank": [1, 1]})
    ev = recnb.evaluate(recs, recs)
    for user in (
        pd.Timestamp("2020-01-01 05:00"),
        pd.Timestamp("2020-01-01", tz="UTC"),
        dt.date(2020, 1, 3),
        "2020-01-01",
    ):
        with pytest.raises(UnknownUserError):
            ev.explain("precision", user, k=1)
