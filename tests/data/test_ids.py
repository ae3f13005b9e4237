"""Ids, scores and relevance are what they are, however their columns store them: equal ones meet, close ones are told apart.

Columns of any kind, in frames of any kind, and what is done to them afterwards are tried by the law of `tests/test_attack.py`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.errors import FrameError, RecnbError, UnknownUserError

RNG = np.random.default_rng(7)
RECS = pd.DataFrame({
    "user": np.repeat(np.arange(11), 8), "item": np.concatenate([RNG.permutation(30)[:8] for _ in range(11)]),
    "score": np.concatenate([np.sort(RNG.integers(0, 40, 8) / 4)[::-1] for _ in range(11)]),
}).sample(frac=1, random_state=1, ignore_index=True)  # fmt: skip
TRUTH = pd.DataFrame({
    "user": np.repeat(np.arange(2, 12), 6), "item": np.concatenate([RNG.permutation(30)[:6] for _ in range(10)]),
    "rating": RNG.integers(0, 4, 60),
}).sample(frac=1, random_state=2, ignore_index=True)  # fmt: skip


def numbers(recs: Any, truth: Any) -> Any:
    return recnb.evaluate(recs, truth).table(["ndcg", "average_precision", "err"], k=[1, 5, None]).to_numpy()


WANT = numbers(RECS, TRUTH)
BLOCK = pd.DataFrame(np.repeat(RECS.to_numpy(), 2, axis=0), columns=RECS.columns)
DECIMALS = {"relevance": TRUTH["rating"].astype(pd.ArrowDtype(pa.decimal128(21, 2)))}
#: Frames with the same rows.
SAME: dict[str, tuple[Any, Any]] = {
    "one label of all rows": (RECS.set_axis([0] * len(RECS), axis=0), TRUTH),
    "labels that are missing": (RECS.set_axis([None] * len(RECS), axis=0), TRUTH),
    "labels of two levels": (RECS.set_axis(pd.MultiIndex.from_product([["a"], range(len(RECS))]), axis=0), TRUTH),
    "rows of a larger frame": (BLOCK.iloc[::2], TRUTH),
    "an array by columns": (pd.DataFrame(np.asfortranarray(RECS.to_numpy()), columns=RECS.columns), TRUTH),
    "an array by rows": (RECS.astype(float), TRUTH),
    "sparse columns": (RECS.assign(score=RECS["score"].astype(pd.SparseDtype("float64", 0.0))), TRUTH),
    "decimals of Arrow": (RECS, TRUTH.drop(columns="rating").assign(**DECIMALS)),
    "an interval that nobody reads": (RECS, duckdb.from_arrow(pa.Table.from_pandas(TRUTH)).select("*, to_days(item::int) as since")),
}  # fmt: skip


@pytest.mark.parametrize("what", SAME)
def test_the_same_rows_give_the_same_numbers(what: str) -> None:
    assert numbers(*SAME[what]) == pytest.approx(WANT, abs=1e-15)


OTHERS: dict[str, list[Any]] = {
    "times": [dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 2, 12)], "days": [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
    "durations": [dt.timedelta(1), dt.timedelta(2)], "true and false": [True, False], "decimals": [Decimal("1.5"), Decimal("2.5")],
}  # fmt: skip
CONVERT: list[Callable[[pl.DataFrame], Any]] = [pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow]


@pytest.mark.parametrize("convert", CONVERT)
@pytest.mark.parametrize("case", OTHERS)
def test_other_ids_are_refused_until_they_are_text(case: str, convert: Callable[[pl.DataFrame], Any]) -> None:
    recs = pl.DataFrame({"user": [1, 1], "rank": [2, 1], "item": OTHERS[case]})
    words = r"recommendations: column 'item' holds .*, which is no item id.*Make them text"
    with pytest.raises(FrameError, match=words):
        recnb.evaluate(convert(recs), convert(recs[:1]))
    text = recs.with_columns(item=pl.Series([str(one) for one in OTHERS[case]]))
    assert recnb.evaluate(convert(text), convert(text[:1])).mrr() == 0.5


@pytest.mark.parametrize("side", [0, 1])
def test_closed_connection(side: int) -> None:
    frames: list[Any] = [RECS, TRUTH]
    with duckdb.connect() as connection:
        frames[side] = connection.from_arrow(pa.Table.from_pandas(frames[side]))
    with pytest.raises(RecnbError, match=f"{('recommendations', 'truth')[side]} cannot be read"):
        recnb.evaluate(*frames)


@pytest.mark.parametrize(
    "users", [["b", "a", "Z"], [2**40, -5, 7], ["ü", "z", "日"], [-(2**63), 2**63 - 1], [1.0, 2.0], ["", "ü"]]
)
def test_users_are_sorted_and_each_can_be_explained(users: list[Any]) -> None:
    recs = pd.DataFrame({"user": users, "item": range(len(users)), "rank": 1})
    ev = recnb.evaluate(recs, recs[["user", "item"]].assign(item=0), train=recs)
    per_user = ev.precision(k=1).per_user
    assert per_user.index.tolist() == sorted(users)
    assert per_user.index.name == "user"
    for user in ev.users:
        assert ev.explain("precision", user, k=1).value == (user == users[0])
        assert ev.explain("novelty", user, k=1).value == ev.novelty(k=1).per_user[user]
        assert ev.user(user)["item"].tolist()[:1] == [users.index(user)]


@pytest.mark.parametrize("user", ["1", 1.5, dt.date(2020, 1, 3), pd.Timestamp(1), Decimal("1.5"), b"1", 2**70, [1]])
@pytest.mark.parametrize("ids", [["a", "b"], [1, 2]])
def test_what_is_no_such_id_is_not_found(user: Any, ids: list[Any]) -> None:
    recs = pl.DataFrame({"user": ids, "item": [1, 2], "rank": [1, 1]})
    with pytest.raises(UnknownUserError):
        recnb.evaluate(recs, recs).explain("precision", user, k=1)


#: Scores that rise by less than a float tells apart.
CLOSE = {
    "int64": pl.Series([2**60, 2**60 + 1, 2**60 + 2]),
    "uint64": pl.Series([2**63, 2**63 + 1, 2**63 + 2], dtype=pl.UInt64),
    "decimal": pl.Series([Decimal(f"0.1234567890123456789{at}") for at in range(3)]),
}


@pytest.mark.parametrize("kind", CLOSE)
def test_close_scores_are_no_ties(kind: str) -> None:
    """The last of three is the best; equal scores stay tied."""
    recs = pl.DataFrame({"user": 1, "item": ["a", "b", "c"], "score": CLOSE[kind]})
    truth = pl.DataFrame({"user": 1, "item": ["c"]})
    for options in ({}, {"ties": "expected"}, {"candidates": "padded"}, {"duplicates": "keep"}):
        assert recnb.evaluate(recs, truth, **options).reciprocal_rank(k=3) == 1.0
    found = recnb.evaluate(recs, truth).lint(k=3)
    assert not {"ties", "one_score", "upside_down"} & {one.name for one in found.findings}
    with pytest.raises(FrameError, match="disagree in 2 places"):
        recnb.evaluate(recs.with_columns(rank=pl.Series([1, 2, 3])), truth)
    equal = recs.with_columns(score=CLOSE[kind][[0, 0, 0]])
    assert recnb.evaluate(equal, truth, ties="expected").reciprocal_rank(k=3) == pytest.approx(11 / 18)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("grade", [0.1, 0.7, 3.5])
def test_threshold_meets_grades_of_any_precision(dtype: str, grade: float) -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1]})
    truth = recs[["user", "item"]].assign(relevance=np.array([grade * 0.9, grade], dtype=dtype))
    for ties in ("first", "expected"):
        ev = recnb.evaluate(recs, truth, relevant_from=grade, ties=ties)
        assert (ev.counts.n_relevant, ev.reciprocal_rank(k=2)) == (1, 0.5)


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 2**11), ("float32", 2**24), ("float64", 2**53)])
@pytest.mark.parametrize("library", [pd, pl])
def test_float_ids_beyond_what_their_type_counts_are_refused(dtype: str, bound: int, library: Any) -> None:
    def frame(ids: list[int]) -> Any:
        return library.DataFrame({"user": np.array([1, 1]), "item": np.array(ids).astype(dtype), "rank": [1, 2]})

    with pytest.raises(FrameError, match=r"not exact"):
        recnb.evaluate(frame([bound + 1, bound]), frame([1, 2]))
    assert recnb.evaluate(frame([bound - 1, 5]), frame([bound - 1, 7])).recall(k=1) == 0.5


@pytest.mark.filterwarnings("error")
def test_grades_whose_sums_would_overflow_are_refused() -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    truth = recs[["user", "item"]].assign(relevance=1e308)
    with pytest.raises(FrameError, match=r"'relevance' holds 1e\+308 for user 1, item 1.*Make the scale smaller"):
        recnb.evaluate(recs, truth)
    truth["relevance"] /= truth["relevance"].max()
    assert recnb.evaluate(recs, truth).ndcg(k=2) == 1.0
    for call in (lambda: recnb.ndcg([1, 2], {1: 1e308, 2: 1e308}), lambda: recnb.dcg([1e308, 1e308])):
        with pytest.raises(RecnbError, match=r"1e\+308"):
            call()
