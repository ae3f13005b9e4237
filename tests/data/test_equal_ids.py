"""Ids are whole numbers or text; equal ones meet, however their columns store them, and others are refused with what to type."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import recnb
from recnb.data import buckets
from recnb.errors import FrameError, RecnbError

NOON = datetime.datetime(2024, 1, 1, 12)

#: NDCG of two lists of the same two items: the first user's relevant item is on top, the second's below.
RIGHT = (1 + 1 / np.log2(3)) / 2


def frames(listed: Any, judged: Any) -> dict[str, pl.DataFrame]:
    """Two lists of two items, whose ids are `listed`; each user has one relevant item, whose ids are `judged`."""
    recs = pl.DataFrame({"user": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "item": listed})
    return {"recs": recs, "truth": pl.DataFrame({"user": [1, 2], "item": judged})}


WAYS = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "lazy": lambda frame: frame.lazy(),
    "arrow": lambda frame: frame.to_arrow(),
    "dataset": lambda frame: pa.dataset.dataset(frame.to_arrow()),
    "duckdb": lambda frame: duckdb.connect().from_arrow(frame.to_arrow()),
}
WHOLE = {
    "narrow": pl.Int8, "unsigned": pl.UInt64, "floats": pl.Float64, "decimals": pl.Decimal(12, 3), "hugeint": pl.Decimal(38, 0),
}  # fmt: skip


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_meet(dtype: str, way: str, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if streamed:
        monkeypatch.setattr(buckets, "WHOLE", 0)
        monkeypatch.setattr(buckets, "SHARE", 0)
    made = frames([1, 2, 1, 2], [1, 2])
    recs, truth = WAYS[way](made["recs"].cast({"item": WHOLE[dtype], "user": WHOLE[dtype]})), made["truth"]
    ev = recnb.evaluate(recs, truth, train=truth, items=truth.select("item"))
    assert ev.ndcg(k=2) == pytest.approx(RIGHT)
    assert ev.counts.n_users == 2
    assert ev.explain("ndcg", 2, k=2).to_frame()["item"].tolist() == [1, 2]


def test_words_of_a_category_meet_text() -> None:
    made = frames(list("abab"), ["a", "b"])
    for dtype in (pl.Categorical, pl.Enum(["b", "a"])):
        assert recnb.evaluate(made["recs"].cast({"item": dtype}), made["truth"]).ndcg(k=2) == pytest.approx(RIGHT)


OTHERS: dict[str, list[Any]] = {
    "times": [NOON, NOON + datetime.timedelta(1)],
    "days": [NOON.date(), NOON.date() + datetime.timedelta(1)],
    "durations": [datetime.timedelta(1), datetime.timedelta(2)],
    "true and false": [True, False],
    "decimals": [Decimal("1.5"), Decimal("2.5")],
}


@pytest.mark.parametrize("way", ["polars", "pandas", "arrow"])
@pytest.mark.parametrize("case", OTHERS)
def test_other_ids_are_refused_until_they_are_text(case: str, way: str) -> None:
    made = {name: WAYS[way](frame) for name, frame in frames(OTHERS[case] * 2, OTHERS[case]).items()}
    with pytest.raises(
        FrameError, match=r"recommendations: column 'item' holds .*, which is no item id.*Make them text"
    ):
        recnb.evaluate(**made)
    text = {
        name: frame.with_columns(item=pl.Series([str(one) for one in frame["item"]]))
        for name, frame in frames(OTHERS[case] * 2, OTHERS[case]).items()
    }
    assert recnb.evaluate(**text).ndcg(k=2) == pytest.approx(RIGHT)


def test_an_interval_that_nobody_reads_is_no_matter() -> None:
    made = frames([1, 2, 1, 2], [1, 2])
    truth = duckdb.connect().from_arrow(made["truth"].to_arrow()).select("*, to_days(item::int) as since")
    assert recnb.evaluate(made["recs"], truth).ndcg(k=2) == pytest.approx(RIGHT)


@pytest.mark.parametrize("side", ["recs", "truth"])
def test_closed_connection(side: str) -> None:
    made: dict[str, Any] = dict(frames([1, 2, 1, 2], [1, 2]))
    connection = duckdb.connect()
    made[side] = connection.from_arrow(made[side].to_arrow())
    connection.close()
    name = "recommendations" if side == "recs" else "truth"
    with pytest.raises(RecnbError, match=f"{name} cannot be read"):
        recnb.evaluate(**made)
