"""Equal ids meet, however their columns store them; where two kinds are refused, the advice makes them meet."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import recnb
from recnb.data import user_buckets
from recnb.errors import FrameError, RecnbError

NOON, NEXT = pd.Timestamp("2024-01-01 12:00"), pd.Timestamp("2024-01-02 12:00")
TIMES, LISTED = pd.Series([NOON, NEXT]), pd.Series([NOON, NEXT, NOON, NEXT])
DAYS, DAYS_LISTED = TIMES.dt.normalize(), LISTED.dt.normalize()

#: NDCG of two lists of the same two items: the first user's relevant item is on top, the second's below.
RIGHT = (1 + 1 / np.log2(3)) / 2


def frames(listed: Any, judged: Any) -> dict[str, pd.DataFrame]:
    """Two lists of two items, whose ids are `listed`; each user has one relevant item, whose ids are `judged`."""
    recs = pd.DataFrame({"user": [1, 1, 2, 2], "rank": [1, 2, 1, 2]})
    truth = pd.DataFrame({"user": [1, 2]})
    recs["item"], truth["item"] = listed, judged
    return {"recs": recs, "truth": truth}


def decimals(*ids: str) -> list[Decimal]:
    return [Decimal(one) for one in ids]


MEET = {
    "decimals of other digits": (decimals("1.5", "2", "1.5", "2"), decimals("1.50", "2.00")),
    "decimals, some whole": (decimals("1", "2.5", "1", "2.5"), decimals("1", "2.50")),
    "decimals all whole on one side": (decimals("1", "2.0", "1", "2.0"), decimals("1", "2")),
    "decimals and whole numbers": (decimals("1.0", "2.0", "1.0", "2.0"), [1, 2]),
    "whole numbers and decimals": ([1, 2, 1, 2], decimals("1.0", "2.0")),
    "time zones": (LISTED.dt.tz_localize("UTC"), TIMES.dt.tz_localize("UTC").dt.tz_convert("Asia/Seoul")),
    "nanoseconds and microseconds": (LISTED.astype("datetime64[ns]"), TIMES.astype("datetime64[us]")),
    "seconds and nanoseconds": (LISTED.astype("datetime64[s]"), TIMES.astype("datetime64[ns]")),
    "durations": (LISTED - NOON, (TIMES - NOON).astype("timedelta64[ms]")),
    "years that nanoseconds do not hold": (
        (LISTED.astype("datetime64[s]") + np.timedelta64(400 * 365, "D")),
        (TIMES.astype("datetime64[us]") + np.timedelta64(400 * 365, "D")),
    ),
}


@pytest.mark.parametrize("role", ["item", "user"])
@pytest.mark.parametrize("case", MEET)
def test_equal_ids_meet(case: str, role: str) -> None:
    made = frames(*MEET[case])
    if role == "user":
        made = {name: frame.rename(columns={"user": "item", "item": "user"}) for name, frame in made.items()}
        made["recs"]["rank"] = [1, 1, 2, 2]
    for way in (
        lambda frame: frame,
        lambda frame: pl.from_pandas(frame).lazy(),
        lambda frame: pa.Table.from_pandas(frame),
    ):
        ev = recnb.evaluate(way(made["recs"]), made["truth"], train=way(made["truth"]), items=made["truth"][["item"]])
        assert ev.ndcg(k=2) == pytest.approx(RIGHT), way
        assert ev.counts.n_users == 2
        assert ev.novelty(k=2) >= 0


@pytest.mark.parametrize("kind", ["hugeint", "decimal(20, 0)", "decimal(12, 3)", "ubigint"])
def test_numbers_of_duckdb_meet_whole_numbers(kind: str) -> None:
    made = frames([1, 2, 1, 2], [1, 2])
    recs = duckdb.connect().from_df(made["recs"]).select(f'"user"::{kind} as "user", item::{kind} as item, rank')
    assert recnb.evaluate(recs, made["truth"]).ndcg(k=2) == pytest.approx(RIGHT)


@pytest.mark.parametrize("way", ["lazy", "dataset", "duckdb"])
@pytest.mark.parametrize(
    "kind", ["hugeint", "decimal(10, 0)", "decimal(12, 3)", "timestamp_ns", "timestamp", "timestamptz"]
)
def test_equal_ids_meet_where_lists_are_streamed(kind: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_buckets, "WHOLE", 0)
    users = "timestamp '2024-01-01 12:00:00' + to_days(item)" if "time" in kind else "item"
    made = frames([1, 2, 1, 2], [1, 2])
    connection = duckdb.connect()
    recs = connection.from_df(made["recs"]).select(f'({users})::{kind} as "user", "user" as item, rank')
    recs = recs.order('"user", item').select('"user", item, item as rank')
    table = recs.to_arrow_table()
    given = {"lazy": pl.DataFrame(table).lazy(), "dataset": pa.dataset.dataset(table), "duckdb": recs}[way]
    plain = connection.from_df(made["truth"]).select(f'{users} as "user", "user" as item').df()
    if kind == "timestamptz":
        plain["user"] = plain["user"].dt.tz_localize("UTC").dt.tz_convert("Asia/Seoul")
        connection.execute("set timezone = 'UTC'")
    ev = recnb.evaluate(given, plain)
    assert ev.ndcg(k=2) == pytest.approx(RIGHT)
    for at in (0, 1):
        assert ev.explain("ndcg", plain["user"][at], k=2).to_frame()["item"].tolist() == [1, 2]
    by = {user: place for place, user in enumerate(plain["user"])}
    assert list(ev.table(["ndcg"], k=2, by=by).to_frame()["n_users"]) == [1, 1]


REFUSED = {
    "text and whole numbers": (["1", "2", "1", "2"], [1, 2]),
    "whole numbers and text": ([1, 2, 1, 2], ["1", "2"]),
    "text with a point and whole numbers": (["1.0", "2.0", "1.0", "2.0"], [1, 2]),
    "decimals and text": (decimals("1.0", "2.50", "1.0", "2.50"), ["1", "2.5"]),
    "text and decimals": (["1", "2.5", "1", "2.5"], decimals("1.0", "2.50")),
    "times and text": (LISTED, [str(one) for one in TIMES]),
    "text and times": ([str(one) for one in LISTED], TIMES.dt.tz_localize("UTC")),
    "times with and without a zone": (LISTED, TIMES.dt.tz_localize("UTC")),
    "days and times": ([one.date() for one in DAYS_LISTED], DAYS),
    "bytes and text": ([b"a", b"b", b"a", b"b"], ["a", "b"]),
    "true, false and whole numbers": ([True, False, True, False], [1, 0]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_advice_makes_refused_ids_meet(case: str) -> None:
    made = frames(*REFUSED[case])
    with pytest.raises(FrameError, match="different kinds") as caught:
        recnb.evaluate(made["recs"], made["truth"])
    advice = str(caught.value).rsplit("Make both", 1)[1].removesuffix(".")
    names: dict[str, Any] = {**made, "pd": pd, "Decimal": Decimal}
    for statement in re.findall(
        r"((?:plain|(?:recs|truth)\['item'\]) = .*?)(?= and (?:recs|truth)\[|, or |: recs|$)", advice
    ):
        exec(statement, names)
    assert recnb.evaluate(names["recs"], names["truth"]).ndcg(k=2) == pytest.approx(RIGHT)


def test_advice_for_ids_of_two_kinds_makes_no_id_of_what_is_missing() -> None:
    recs = pd.DataFrame({"user": [1, 1, 1], "item": pd.Series(["a", 1, None], dtype=object), "rank": [1, 2, 3]})
    with pytest.raises(FrameError, match=r"frame\.dropna\(subset=\['item'\]\), then \.astype\(str\)"):
        recnb.evaluate(recs, pd.DataFrame({"user": [1], "item": ["1"]}))
    with pytest.raises(FrameError, match=r"for example \.astype\(str\)"):
        recnb.evaluate(recs.iloc[:2], pd.DataFrame({"user": [1], "item": ["1"]}))


@pytest.mark.parametrize("side", ["recs", "truth"])
def test_intervals_of_duckdb_are_refused_by_name(side: str) -> None:
    made: dict[str, Any] = dict(frames([1, 2, 1, 2], [1, 2]))
    connection = duckdb.connect()
    made[side] = connection.from_df(made[side]).select(
        '"user", to_days(item) as item' + (", rank" if side == "recs" else "")
    )
    with pytest.raises(FrameError, match="column 'item' holds values of type INTERVAL") as caught:
        recnb.evaluate(made["recs"], made["truth"])
    advice = str(caught.value).split("make it text, ")[1].removesuffix(".")
    fixed = eval(advice, {"relation": made[side]})
    other = "truth" if side == "recs" else "recs"
    made[other]["item"] = [f"{one} day" + "s" * (one > 1) for one in made[other]["item"]]
    assert recnb.evaluate(**{**made, side: fixed}).ndcg(k=2) == pytest.approx(RIGHT)


def test_an_interval_that_nobody_reads_is_no_matter() -> None:
    made = frames([1, 2, 1, 2], [1, 2])
    truth = duckdb.connect().from_df(made["truth"]).select("*, to_days(item) as since")
    assert recnb.evaluate(made["recs"], truth).ndcg(k=2) == pytest.approx(RIGHT)


@pytest.mark.parametrize("side", ["recs", "truth"])
def test_closed_connection(side: str) -> None:
    made: dict[str, Any] = dict(frames([1, 2, 1, 2], [1, 2]))
    connection = duckdb.connect()
    made[side] = connection.from_df(made[side])
    connection.close()
    with pytest.raises(
        RecnbError, match=f"{'recommendations' if side == 'recs' else 'truth'}: the DuckDB relation cannot be read"
    ):
        recnb.evaluate(made["recs"], made["truth"])


ARROW = {
    "decimals of one and two digits": tuple(
        pd.Series(decimals(*ids), dtype=pd.ArrowDtype(pa.decimal128(12, scale)))
        for ids, scale in ((("1", "2.5", "1", "2.5"), 1), (("1", "2.5"), 2))
    )
}


@pytest.mark.parametrize("case", ["durations", "time zones", "nanoseconds and microseconds", *ARROW])
def test_equal_ids_meet_in_partitions(case: str) -> None:
    dd = pytest.importorskip("dask.dataframe")
    import recnb.dask

    made = {
        name: frame.rename(columns={"user": "item", "item": "user"})
        for name, frame in frames(*{**MEET, **ARROW}[case]).items()
    }
    made["recs"]["rank"] = [1, 1, 2, 2]
    parts = {name: dd.from_pandas(frame, npartitions=2, sort=False) for name, frame in made.items()}
    assert float(recnb.dask.evaluate(parts["recs"], parts["truth"]).ndcg(k=2)) == pytest.approx(RIGHT)


def test_dates_of_datetime_are_ids() -> None:
    day = datetime.date(2024, 1, 1)
    made = frames([day, datetime.date(2024, 1, 2)] * 2, [day, datetime.date(2024, 1, 2)])
    assert recnb.evaluate(**made).ndcg(k=2) == pytest.approx(RIGHT)
