"""What is refused: frames, lists in cells, mappings. An error says what was found,
where, an example of it, and what to do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data.sheet import Sheet
from recnb.errors import (
    ColumnError,
    FrameError,
    NoRowsError,
    NoUsersError,
    OptionError,
    RecnbError,
)

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
SCORED = RECS.drop(columns="rank").assign(score=[0.9, 0.5, 0.7])
TRUTH = pd.DataFrame({"user": [1, 2], "item": [11, 10], "relevance": [1.0, 2.0]})


def refused(call: Callable[[], Any], kind: type[RecnbError], *pieces: str) -> None:
    """Hold that a call raises an error of this kind, which has these pieces, in one
    line.
    """
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is kind, f"{type(raised.value).__name__}: {message}"
    for piece in pieces:
        assert piece in message, f"{piece!r} is not in: {message}"
    assert 30 < len(message) < 700
    assert "\n" not in message


#: name -> (recommendations, truth, pieces of the message, options)
Case = tuple[Any, Any, tuple[str, ...], dict[str, Any]]


def case(recs: Any, truth: Any, *pieces: str, **options: Any) -> Case:
    return recs, truth, pieces, options


COLUMNS = {
    "no user column": case(
        RECS.rename(columns={"user": "whom"}),
        TRUTH,
        "recommendations: no column is known to be the user",
        "'whom', 'item', 'rank'",
        "user='whom'",
    ),
    "no item column": case(
        RECS,
        TRUTH.rename(columns={"item": "what"}),
        "truth: no column is known to be the item",
        "'user', 'what', 'relevance'",
        "item='what'",
    ),
    "two user columns": case(
        RECS.assign(user_id=1),
        TRUTH,
        "recommendations",
        "'user' and 'user_id'",
        "user='user'",
    ),
    "nothing gives the order": case(
        RECS[["user", "item"]],
        TRUTH,
        "recommendations",
        "rank='...'",
        "score='...'",
        "order='row'",
    ),
    "a keyword that neither frame has": case(
        RECS,
        TRUTH,
        "neither frame",
        "user='member'",
        "'item', 'rank', 'relevance', 'user'",
        user="member",
    ),
    "rank= names a column of the truth": case(
        RECS,
        TRUTH.assign(place=1),
        "recommendations have no column 'place'",
        "rank='place'",
        rank="place",
    ),
    "relevance= names a column of the lists": case(
        RECS,
        TRUTH,
        "truth has no column 'rank'",
        "'item', 'relevance', 'user'",
        relevance="rank",
    ),
    "one name that one frame lacks": case(
        RECS.rename(columns={"user": "who"}),
        TRUTH.rename(columns={"user": "whom"}),
        "truth",
        "Name each: user=['who', 'whom']",
        user="who",
    ),
    "one column in two roles": case(
        RECS,
        TRUTH,
        "'item' cannot be both user and item",
        "item='...'",
        user="item",
        item="item",
    ),
    "column names twice": case(
        pd.concat([RECS, RECS[["rank"]]], axis=1),
        TRUTH,
        "recommendations",
        "more than one column is called 'rank'",
    ),
    "column names of two levels": case(
        pd.concat({"a": RECS}, axis=1), TRUTH, "recommendations", "('a', 'user')"
    ),
    "no known name": case(
        pd.DataFrame({"who": ["u"], "what": ["i"], "x1": [0.1], "x2": [3]}),
        TRUTH,
        "'x1', 'x2'",
        "user='who', item='what', score='x1'",
    ),
    "fewer columns than roles": case(
        pd.DataFrame({"a": ["u"]}), TRUTH, "user='a', item='...', score='...'"
    ),
    "one known name": case(
        pd.DataFrame({"qid": [1], "what": ["x"], "out": [0.5]}),
        TRUTH,
        "item='what', score='out'",
    ),
    "a known rank": case(
        pd.DataFrame({"a": ["u"], "b": ["i"], "rank": [1]}),
        TRUTH,
        "user='a', item='b'.",
    ),
    "users in the index": case(
        RECS.set_index(["user", "item"]),
        TRUTH,
        "its index holds 'user'",
        ".reset_index()",
    ),
    "a column of lists that is not there": case(
        RECS,
        TRUTH,
        "recommendations has no column for recommended='best'",
        recommended="best",
    ),
    "relevance in the index": case(
        RECS,
        TRUTH.set_index("relevance"),
        "truth has no relevance column",
        "index holds 'relevance'",
    ),
}

ROWS = {
    "users 1 and '1'": case(
        RECS,
        TRUTH.astype({"user": str}),
        "user ids",
        "whole numbers (such as 1)",
        "text (such as '1')",
        "Make both text",
    ),
    "items as lists": case(
        RECS.assign(item=[[10], [11], [12]]),
        TRUTH,
        "'item'",
        "List",
        "such as [10]",
        "Explode 'item'",
    ),
    "a user missing": case(
        RECS.assign(user=pd.array([1, None, 2], dtype="Int64")),
        TRUTH,
        "recommendations",
        "'user'",
        "1 missing user id,",
        "row 1",
        "Drop such rows",
    ),
    "text missing": case(
        RECS.assign(item=["a", None, None]),
        TRUTH.assign(item=TRUTH["item"].astype(str)),
        "recommendations",
        "'item'",
        "2 missing item ids",
        "row 1",
    ),
    "ids with a fraction": case(
        RECS.assign(user=[1.0, 1.5, 2.0]),
        TRUTH,
        "recommendations",
        "'user'",
        "1.5",
        "not exact",
        "whole numbers or as text",
    ),
    "floats too large to be exact": case(
        RECS.assign(item=[2.0**53, 11, 10]),
        TRUTH,
        "'item'",
        "9007199254740992.0",
        "as text",
    ),
    "whole numbers too large": case(
        RECS.assign(item=np.array([2**64 - 1, 11, 10], dtype=np.uint64)),
        TRUTH,
        "'item'",
        "18446744073709551615",
        "below 2**63",
        "Make them text",
    ),
    "numbers and text in one column": case(
        RECS.assign(item=pd.Series(["a", 11, 10], dtype=object)),
        TRUTH,
        "recommendations",
        "'item'",
        "int, str, such as 'a'",
        "one kind",
    ),
    "complex numbers": case(
        RECS.assign(item=[1j, 2j, 3j]), TRUTH, "recommendations", "'item'", "complex"
    ),
    "structs": case(
        RECS,
        TRUTH.assign(item=[{"a": 1}, {"a": 2}]),
        "truth",
        "'item'",
        "Struct",
        "each row needs one id",
    ),
    "periods": case(
        RECS.assign(item=pd.period_range("2026", periods=3, freq="D")),
        TRUTH,
        "item",
        "text",
    ),
    "objects of no kind": case(
        RECS.assign(item=[object(), object(), object()]),
        TRUTH,
        "recommendations",
        "'item'",
        "object",
    ),
    "no user in common": case(
        RECS,
        TRUTH.assign(user=[7, 8]),
        "no user is in both frames",
        "such as 1",
        "such as 7",
        "user=",
    ),
    "a pair twice": case(
        pd.concat([RECS, pd.DataFrame({"user": [1], "item": [11], "rank": [3]})]),
        TRUTH,
        "recommendations",
        "1 pair of",
        "user 1, item 11 (2 times)",
        "['user', 'item']",
        "duplicates='dedupe'",
        "several models, compare them",
        "of several days, folds or seeds, name the columns",
        "split='fold'",
    ),
    "pairs twice, under other names": case(
        pd.concat([SCORED, SCORED]).set_axis(["qid", "docno", "score"], axis=1),
        TRUTH,
        "3 pairs",
        "['qid', 'docno']",
    ),
    "a judged pair twice": case(
        RECS,
        pd.concat([TRUTH, TRUTH]).rename(columns={"item": "movieId"}),
        "truth",
        "2 pairs",
        "['user', 'movieId']",
        "the highest relevance",
    ),
    "rank 0": case(
        RECS.assign(rank=[0, 1, 1]),
        TRUTH,
        "recommendations",
        "'rank' holds 0 for user 1, item 10",
        "add 1",
    ),
    "rank beyond the highest": case(
        RECS.assign(rank=[1, 3_000_000_000, 1]),
        TRUTH,
        "recommendations",
        "'rank' holds 3000000000 for user 1, item 11: a rank is at most 2,147,483,648.",
        "Number each list anew",
    ),
    "rank with a fraction": case(
        RECS.assign(rank=[1.5, 2, 1]), TRUTH, "'rank'", "1.5", "user 1, item 10"
    ),
    "rank missing": case(
        RECS.assign(rank=pd.array([1, None, 1], dtype="Int64")),
        TRUTH,
        "'rank'",
        "None",
        "user 1, item 11",
    ),
    "rank twice": case(
        RECS.assign(rank=[1, 1, 1]),
        TRUTH,
        "'rank'",
        "rank 1",
        "10 and 11",
        "user 1",
        "its own rank",
    ),
    "dates as relevance": case(
        RECS,
        TRUTH.assign(relevance=pd.Timestamp("2026-01-02")),
        "truth: column 'relevance' holds Datetime",
        "such as datetime.datetime(2026, 1, 2, 0, 0): make them numbers",
    ),
    "a word among grades": case(
        RECS,
        TRUTH.assign(relevance=["1", "good"]),
        "truth: column 'relevance' holds text",
        "'good' is no number: correct it, or drop the row",
    ),
    "rank twice, with scores": case(
        RECS.assign(rank=[1, 1, 1], score=[0.5, 0.9, 0.1]),
        TRUTH,
        "'rank' gives a rank twice: user 1 has 10 and 11 at rank 1",
        "its own rank",
    ),
    "rank as text": case(
        RECS.astype({"rank": str}),
        TRUTH,
        "recommendations",
        "'rank'",
        "text",
        "'1'",
        "numbers are needed",
    ),
    "rank beyond any list": case(
        RECS.assign(rank=[1, 2**40, 1]),
        TRUTH,
        "'rank'",
        "1099511627776",
        "user 1, item 11",
    ),
    "rank and score that disagree": case(
        RECS.assign(score=[0.1, 0.9, 0.5]),
        TRUTH,
        "'rank' and 'score' disagree in 1 place",
        "user 1 has item 11 at rank 2, below item 10, with a higher score, 0.9",
        "order='rank' or order='score'",
    ),
    "rank and score that disagree, rows apart": case(
        RECS.assign(score=[0.1, 0.9, 0.5]).iloc[[0, 2, 1]],
        TRUTH,
        "'rank' and 'score' disagree in 1 place",
        "user 1 has item 11 at rank 2, below item 10, with a higher score, 0.9",
        "order='rank' or order='score'",
    ),
    "score NaN": case(
        SCORED.assign(score=[0.1, np.nan, 0.5]),
        TRUTH,
        "recommendations",
        "'score'",
        "1 value that is",
        "nan",
        "user 1, item 11",
        "drop the row",
    ),
    "score infinite": case(
        SCORED.assign(score=[0.1, 0.2, -np.inf]),
        TRUTH,
        "'score'",
        "-inf",
        "user 2, item 10",
    ),
    "score as text": case(
        SCORED.assign(score=[None, "low", "low"]),
        TRUTH,
        "'score'",
        "text",
        "'low' is no number",
    ),
    "score NaN beside a rank": case(
        RECS.assign(score=[0.9, np.nan, 0.5]),
        TRUTH,
        "'score'",
        "nan",
        "user 1, item 11",
    ),
    "relevance NaN": case(
        RECS,
        TRUTH.assign(relevance=[np.nan, 1]),
        "truth",
        "'relevance'",
        "1 value that is",
        "nan",
        "user 1, item 11",
        "0 for not relevant",
    ),
    "relevance as text": case(
        RECS,
        TRUTH.assign(relevance=["liked", "hated"]),
        "truth",
        "'relevance'",
        "text",
        "'liked' is no number",
    ),
    "relevance negative": case(
        RECS,
        TRUTH.assign(stars=[1, -1]).drop(columns="relevance"),
        "truth",
        "'stars'",
        "-1",
        "user 2, item 10",
        "set it to 0",
        relevance="stars",
    ),
    "empty recommendations": case(
        RECS.iloc[:0], TRUTH, "recommendations: there are no rows"
    ),
    "empty truth": case(RECS, TRUTH.iloc[:0], "truth: there are no rows"),
}

NO_USERS = {
    "nothing relevant": case(
        RECS,
        TRUTH.assign(relevance=0.0),
        "no user",
        "relevance must be above 0",
        "highest",
        "0.0",
        "relevant_from=",
    ),
    "nothing above the threshold": case(
        RECS, TRUTH, "9 or more", "2.0", "relevant_from=", relevant_from=9
    ),
    "none of those who count": case(
        RECS[:2],
        TRUTH.assign(relevance=[0, 1]),
        "no user that counts",
        "averaged_users='both'",
        averaged_users="both",
    ),
}

LISTS = {
    "user": ["a", "b"],
    "recommended": [["x", "y"], ["y"]],
    "relevant": [["x"], ["y", "z"]],
}


def cells(*pieces: str, **changed: Any) -> Case:
    """A frame of lists, of which a column is changed."""
    return case(pd.DataFrame({**LISTS, **changed}), None, *pieces)


CELLS = {
    "text in a cell": cells(
        "'recommended'",
        "str 'x'",
        "user 'a'",
        "list of items",
        recommended=["x", ["y"]],
    ),
    "text in a cell of the relevant": cells(
        "'relevant'", "str 'y'", "user 'b'", "mapping", relevant=[["x"], "y"]
    ),
    "a user missing": cells("'user'", "1 missing user id,", user=["a", None]),
    "a user twice": cells(
        "'recommended' holds more than one list of user 'a'", user=["a", "a"]
    ),
    "an item twice": cells(
        "user 'a', item 'x' (2 times)",
        "Drop the repeats; or say",
        recommended=[["x", "y", "x"], ["y"]],
    ),
    "an item twice in a truth": cells(
        "truth", "user 'b', item 'y' (2 times)", relevant=[["x"], ["y", "y"]]
    ),
    "nothing relevant": cells("truth: there are no rows", relevant=[[], []]),
}

RANKED = {"ann": ["a", "b", "c"], "cy": ["x", "a", "b"]}
LIKED = {"cy": {"b": 1, "q": 2}, "ann": {"a": 2, "c": 1}}
PAIRS = pd.DataFrame({"user": ["ann"] * 3, "item": ["a", "b", "c"], "rank": [1, 2, 3]})
THINGS = [5, [1, 2], pl.Series([1]), np.zeros(2), RECS.groupby("user"), iter([1])]
BOTH = TRUTH.merge(RECS, how="outer", on=["user", "item"])
HELD = {
    "both sides, nothing recommended": case(
        BOTH.dropna(subset="relevance").assign(rank=np.nan), None, "recommends nothing"
    ),
    "both sides, nothing judged": case(
        BOTH.assign(relevance=np.nan),
        None,
        "judges nothing: every value of 'relevance'",
    ),
    "both sides, a row of neither": case(
        pd.concat([BOTH, pd.DataFrame({"user": [9], "item": [5]})]),
        None,
        "row 3",
        "no rank, no score and no relevance",
    ),
    "both sides, gaps without items": case(
        BOTH.drop(columns="item"), None, "has no score or no relevance"
    ),
    "both sides, no rows": case(BOTH[:0], None, "the frame: there are no rows"),
    **{
        f"lists of {type(one)}": case(
            one,
            TRUTH,
            f"recommendations is a {type(one).__name__}",
            "pandas or Polars",
            "recnb.ndcg(",
        )
        for one in THINGS
    },
    **{
        f"truth of {type(one)}": case(
            RECS, one, f"truth is a {type(one).__name__}", "recnb.evaluate_groups("
        )
        for one in THINGS
    },
    "a matrix": case(np.array([[4, 5], [5, 4]]), LIKED, "dict(zip(users, matrix))"),
    "one mapping": case(
        RANKED, None, "nothing that recnb reads", "recnb.evaluate(recs, truth)"
    ),
    "relevance by item": case(
        RANKED,
        {"a": 1.0, "b": 2.0},
        "truth holds float 1.0 for user 'a'",
        "mapping of item to relevance",
    ),
    "items as text": case(
        {"ann": "abc"}, LIKED, "recommendations", "str 'abc'", "user 'ann'"
    ),
    "a set in rank order": case(
        {"ann": {"a", "b"}}, LIKED, "recommendations", "set", "rank order"
    ),
    "a frame of a user": case(
        {"ann": PAIRS},
        LIKED,
        "holds DataFrame <DataFrame> for user 'ann'",
        "recnb.compare(models, truth)",
    ),
    "lists and scores": case(
        {**RANKED, "ann": {"a": 0.5}},
        LIKED,
        "lists for some users and mappings for others",
    ),
    "a score missing": case(
        {"ann": {"a": 1.0, "b": np.nan}},
        LIKED,
        "recommendations",
        "missing",
        "user 'ann', item 'b'",
    ),
    "negative relevance": case(
        RANKED, {"ann": {"a": -1}}, "truth", "-1", "user 'ann', item 'a'"
    ),
    "an item twice": case(
        {"ann": ["a", "a"]},
        LIKED,
        "user 'ann', item 'a' (2 times)",
        "duplicates='dedupe'",
    ),
    "an item missing": case({"ann": ["a", None]}, LIKED, "missing item id,"),
    "items of two kinds": case(
        {"ann": ["a", 1]}, LIKED, "'item'", "int, str", "one kind"
    ),
    "users of two kinds": case(
        {"ann": ["a"], 1: ["a"]},
        LIKED,
        "'user' holds values of more than one kind",
        "int, str",
    ),
    "users given twice": case(
        pd.Series([["a"], ["b"]], index=["u", "u"]),
        LIKED,
        "more than one list of user 'u'",
    ),
    "a Series of items": case(
        pd.Series(["a", "b"], index=["ann", "bob"]), LIKED, "str 'a' for user 'ann'"
    ),
    "records": case(
        [{"user": "ann", "item": "a", "rank": 1}],
        LIKED,
        "recommendations is a list",
        "pandas.DataFrame(records)",
    ),
    "a Series of two levels": case(
        -PAIRS.set_index(["user", "item"])["rank"],
        LIKED,
        "a Series",
        "nothing that recnb reads",
    ),
    "items with scores": case(
        {"ann": [("a", 0.9), ("b", 0.2)]}, LIKED, "tuples such as ('a', 0.9) in lists"
    ),
}

TEXT = RECS.astype({"item": str}), TRUTH.astype({"item": str})
ITEMS, USERS = (
    pd.DataFrame({"movieId": ["10", "11"]}),
    pd.DataFrame({"member_id": [1, 2]}),
)
BESIDE = {
    "train that is no file": case(*TEXT, "there is no file 'train'", train="train"),
    "items of other ids": case(
        *TEXT, "items in column 'movieId' whole numbers", items=ITEMS.astype(int)
    ),
    "users of other ids": case(
        *TEXT, "users in column 'member_id' text", users=USERS.astype(str)
    ),
    "an item in two rows": case(
        *TEXT, "item '10' has more than one row", items=ITEMS.iloc[[0, 1, 0]]
    ),
    "a user without a name": case(
        *TEXT, "users", "1 missing", users=USERS.replace(2, None)
    ),
    "titles in a mapping": case(
        *TEXT, "items is a dict", "path of a file", items={"10": "A"}
    ),
}
LACKING = {
    "a table of users by item": case(
        pd.DataFrame([[1.0, 0.5]], index=["ann"], columns=[3, 7]),
        LIKED,
        "Its columns: 3, 7",
        "given as a mapping of user",
    ),
    "a column of lists that is none": case(
        RANKED, LIKED, "recommended='best'", recommended="best"
    ),
    "many columns": case(
        pd.DataFrame(np.ones((2, 1000)), columns=[f"c{at}x" for at in range(1000)]),
        TRUTH,
        "'c9x' and 990 more",
    ),
    "items without items": case(
        *TEXT, "items: no column is known to be the item", items=USERS
    ),
    "train without items": case(
        *TEXT, "train: no column is known to be the item", train=TRUTH[["user"]]
    ),
    "one frame without roles": case(
        pd.DataFrame({"who": ["u"], "output": [0.5], "stars": [4]}),
        None,
        "user='who', score='output', relevance='stars'",
        "recs.rec.against(truth)",
    ),
    "lists alone": case(
        RECS,
        None,
        "to be the relevance",
        "'user', 'item', 'rank'",
        "recs.rec.against(truth)",
        "relevance='...'",
    ),
    "a truth alone": case(
        TRUTH,
        None,
        "to be the rank or score",
        "'user', 'item', 'relevance'",
        "score='...'",
    ),
    "a truth alone, by keyword": case(
        TRUTH, None, "user='member'", "'user', 'item', 'relevance'", user="member"
    ),
}

TABLES: dict[str, tuple[type[RecnbError], dict[str, Case]]] = {
    "columns": (ColumnError, COLUMNS),
    "rows": (FrameError, ROWS),
    "users": (NoUsersError, NO_USERS),
    "cells": (FrameError, CELLS),
    "held": (FrameError, HELD),
    "named": (
        OptionError,
        {
            "a keyword that is no text": case(
                RECS, TRUTH, "user=0", ".columns.map(str)", user=0
            )
        },
    ),
    "beside": (FrameError, BESIDE),
    "lacking": (ColumnError, LACKING),
}
CASES = {
    f"{table}: {name}": (kind, *one)
    for table, (kind, cases) in TABLES.items()
    for name, one in cases.items()
}
for name, (_kind, *one) in CASES.items():
    if any("there are no rows" in piece for piece in one[2]):
        CASES[name] = (NoRowsError, *one)
#: What no Polars frame can hold.
OF_PANDAS = (
    "names twice",
    "two levels",
    "in the index",
    "numbers and text in one column",
    "complex numbers",
    "periods",
    "objects of no kind",
)
OF_POLARS = [
    name
    for name in CASES
    if name.startswith(("columns", "rows", "users")) and not name.endswith(OF_PANDAS)
]


@pytest.mark.parametrize("what", CASES)
def test_refused(what: str) -> None:
    error, recs, truth, pieces, options = CASES[what]
    refused(lambda: recnb.evaluate(recs, truth, **options).ndcg(k=2), error, *pieces)


@pytest.mark.parametrize("what", OF_POLARS)
@pytest.mark.parametrize("lazy", [False, True])
def test_refused_in_polars_and_read_in_batches(what: str, lazy: bool) -> None:
    error, *given, pieces, options = CASES[what]
    recs, truth = (
        pl.from_pandas(frame).lazy() if lazy else pl.from_pandas(frame)
        for frame in given
    )
    pieces = tuple(
        "None" if piece == "nan" else piece for piece in pieces
    )  # NaN in pandas is missing in Polars
    refused(lambda: recnb.evaluate(recs, truth, **options).ndcg(k=2), error, *pieces)


def test_a_lazy_frame_that_cannot_be_collected(tmp_path: Path) -> None:
    lazy = pl.from_pandas(RECS).lazy()
    broken = lazy.with_columns(pl.col("nope"))
    refused(
        lambda: recnb.evaluate(broken, TRUTH),
        FrameError,
        "recommendations cannot be read",
        "nope",
        "mend what it reads",
    )
    late = lazy.with_columns(pl.col("item").cast(pl.String) + "x").with_columns(
        pl.col("item").cast(pl.Int64)
    )
    refused(
        lambda: recnb.evaluate(RECS, late),
        FrameError,
        "truth cannot be read",
        "mend what it reads",
    )
    for n, name in enumerate(("0.parquet", f"{'long' * 50}.parquet")):
        RECS.assign(**{"more": n} if n else {}).to_parquet(tmp_path / name)
    files, none = pl.scan_parquet(tmp_path), pl.scan_parquet(tmp_path / "none")
    refused(
        lambda: recnb.evaluate(files, TRUTH),
        FrameError,
        "recommendations cannot be read",
        f"{name}'.",
    )
    refused(
        lambda: recnb.evaluate(none, TRUTH),
        FrameError,
        "recommendations cannot be read: No such file",
        "none",
    )


def test_users_is_a_frame_or_a_file_and_no_word() -> None:
    """In an evaluation, a comparison, and one frame with both sides alike."""
    for word, error, problem in (
        ("both", OptionError, "Type averaged_users='both'."),
        ("none.csv", FrameError, "there is no file 'none.csv'"),
    ):
        for call in (
            lambda word=word: recnb.evaluate(RANKED, LIKED, users=word),
            lambda word=word: recnb.compare(
                {"a": RANKED, "b": RANKED}, LIKED, users=word
            ),
            lambda word=word: RECS.rec.against(TRUTH, users=word),
        ):
            refused(call, error, problem)


@pytest.mark.parametrize("duplicates", ["dedupe", "keep", "rows", "hit_once"])
def test_a_rank_given_twice_is_told_of_the_items_that_share_it(duplicates) -> None:
    """`a` is repeated as well, at two ranks, which is no reason to refuse."""
    rows = {"user": "u", "item": ["a", "a", "b", "c"], "rank": [1, 3, 2, 2]}
    with pytest.raises(FrameError, match="user 'u' has 'b' and 'c' at rank 2"):
        recnb.evaluate(pd.DataFrame(rows), {"u": ["b"]}, duplicates=duplicates)


WHOLE_TYPES = [pl.Int64, pl.UInt32, pl.Int128]
FLOAT_TYPES = [pl.Float32, pl.Float64]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "role, bad, dtypes",
    [
        ("score", None, WHOLE_TYPES + FLOAT_TYPES),
        ("score", math.nan, FLOAT_TYPES),
        ("score", math.inf, FLOAT_TYPES),
        ("score", -math.inf, FLOAT_TYPES),
        ("rank", None, WHOLE_TYPES + FLOAT_TYPES),
        ("rank", 0, WHOLE_TYPES + FLOAT_TYPES),
        ("rank", 2**31 + 1, [pl.Int64, pl.Int128, pl.Float64]),
        ("rank", 1.5, FLOAT_TYPES),
        ("rank", math.nan, FLOAT_TYPES),
        ("relevance", None, WHOLE_TYPES + FLOAT_TYPES),
        ("relevance", -1, [pl.Int64, pl.Int128, *FLOAT_TYPES]),
        ("relevance", math.inf, FLOAT_TYPES),
        ("relevance", 1e101, [pl.Float64]),
        ("relevance", math.nan, FLOAT_TYPES),
    ],
)
def test_one_bad_number_is_refused_wherever_it_stands(role, bad, dtypes, place):
    numbers = [3, 2, 1]
    numbers[place] = bad
    for dtype in dtypes:
        rows = pl.DataFrame(
            {
                "user": [1, 1, 1],
                "item": [1, 2, 3],
                role: pl.Series(numbers, dtype=dtype, strict=False),
            }
        )
        sheet = Sheet("rows", rows, {})
        read = {
            "score": sheet.scores,
            "rank": sheet.ranks,
            "relevance": lambda sheet=sheet: sheet.relevances("error"),
        }[role]
        with pytest.raises(FrameError, match=role):
            read()
