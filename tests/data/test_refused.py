"""What is refused: frames, lists in cells, mappings. An error says what was found, where, an example of it, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import ColumnError, FrameError, NoUsersError, OptionError, RecnbError

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
SCORED = RECS.drop(columns="rank").assign(score=[0.9, 0.5, 0.7])
TRUTH = pd.DataFrame({"user": [1, 2], "item": [11, 10], "relevance": [1.0, 2.0]})
DAYS = pd.to_datetime(["2026-01-01", "2026-01-02"])


def refused(call: Callable[[], Any], kind: type[RecnbError], *pieces: str) -> str:
    """Return the message of a refusal: of this kind, holding these pieces, in one line."""
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is kind, f"{type(raised.value).__name__}: {message}"
    assert isinstance(raised.value, ValueError)
    for piece in pieces:
        assert piece in message, f"{piece!r} is not in: {message}"
    assert 30 < len(message) < 700
    assert "\n" not in message
    return message


#: name -> (recommendations, truth, options, kind of error, pieces of the message)
Case = tuple[Any, Any, dict[str, Any], type[RecnbError], tuple[str, ...]]

COLUMNS: dict[str, Case] = {
    "no user column": (RECS.rename(columns={"user": "whom"}), TRUTH,
        {}, ColumnError, ("recommendations: no column is known to be the user", "'whom', 'item', 'rank'", "user='whom'")),
    "no item column": (RECS, TRUTH.rename(columns={"item": "what"}),
        {}, ColumnError, ("truth: no column is known to be the item", "'user', 'what', 'relevance'", "item='what'")),
    "no columns at all": (pd.DataFrame(), TRUTH, {}, ColumnError, ("recommendations", "none", "user=")),
    "two user columns": (RECS.assign(user_id=1), TRUTH,
        {}, ColumnError, ("recommendations", "'user' and 'user_id'", "user='user'")),
    "two score columns": (SCORED.assign(prediction=1), TRUTH,
        {}, ColumnError, ("'score' and 'prediction'", "score='score'")),
    "two relevance columns": (RECS, TRUTH.assign(label=1),
        {}, ColumnError, ("truth", "'relevance' and 'label'", "relevance='relevance'")),
    "nothing gives the order": (RECS[["user", "item"]], TRUTH,
        {}, ColumnError, ("recommendations", "rank='...'", "score='...'", "order='row'")),
    "order by a score that is not there": (RECS, TRUTH,
        {"order": "score"}, ColumnError, ("order='score'", "score='...'")),
    "order by a rank that is not there": (SCORED, TRUTH,
        {"order": "rank"}, ColumnError, ("order='rank'", "rank='...'")),
    "a keyword that neither frame has": (RECS, TRUTH,
        {"user": "member"}, ColumnError, ("neither frame", "user='member'", "'item', 'rank', 'relevance', 'user'")),
    "rank= names a column of the truth": (RECS, TRUTH.assign(place=1),
        {"rank": "place"}, ColumnError, ("recommendations have no column 'place'", "rank='place'")),
    "score= names a column of the truth": (SCORED, TRUTH,
        {"score": "relevance"}, ColumnError, ("recommendations have no", "score='relevance'", "'item', 'score', 'user'")),
    "relevance= names a column of the recommendations": (RECS, TRUTH,
        {"relevance": "rank"}, ColumnError, ("truth has no column 'rank'", "'item', 'relevance', 'user'")),
    "one column in two roles": (RECS, TRUTH,
        {"user": "item", "item": "item"}, ColumnError, ("'item' cannot be both user and item", "item='...'")),
    "rank and score from one column": (RECS, TRUTH,
        {"rank": "rank", "score": "rank"}, ColumnError, ("'rank' cannot be both rank and score",)),
    "column names twice": (pd.concat([RECS, RECS[["rank"]]], axis=1), TRUTH,
        {}, ColumnError, ("recommendations", "more than one column is called 'rank'", "rename")),
    "column names of two levels": (pd.concat({"a": RECS}, axis=1), TRUTH,
        {}, ColumnError, ("recommendations", "('a', 'user')")),
    "a keyword that is no text": (RECS.set_axis([0, 1, 2], axis=1), TRUTH,
        {"user": 0}, OptionError, ("user=0", ".columns.map(str)")),
    "lists named by keyword": (RECS, TRUTH,
        {"recommended": "item"}, ColumnError, ("recommendations have no column of lists 'item'", "recommended='item'")),
    "lists named as items": (RECS.assign(item=[[10], [11], [12]]), TRUTH,
        {}, FrameError, ("recommendations", "'item'", "List", "Explode 'item'")),
    "user in the index": (RECS.set_index("user"), TRUTH,
        {}, ColumnError, ("recommendations", "index holds 'user'", ".reset_index()")),
}  # fmt: skip

IDS: dict[str, Case] = {
    "users 1 and '1'": (RECS, TRUTH.astype({"user": str}),
        {}, FrameError, ("user ids", "whole numbers (such as 1)", "text (such as '1')", "Make both text")),
    "items '10' and 10": (RECS.astype({"item": str}), TRUTH,
        {}, FrameError, ("item ids", "text (such as '10')", "whole numbers (such as 11)", "Make both text")),
    "kinds, under other names": (RECS.astype({"user": str}), TRUTH.rename(columns={"user": "userId"}),
        {}, FrameError, ("column 'user'", "column 'userId'", "'userId'")),
    "items that are days": (RECS, TRUTH.assign(item=DAYS), {}, FrameError, ("truth", "'item'", "Datetime", "no item id")),
    "items that are true": (RECS, TRUTH.assign(item=[True, False]), {}, FrameError, ("truth", "'item'", "Boolean", "no item id")),
    "no user in common": (RECS, TRUTH.assign(user=[7, 8]),
        {}, FrameError, ("no user is in both frames", "such as 1", "such as 7", "user=")),
    "a user missing": (RECS.astype({"user": "Int64"}).assign(user=pd.array([1, None, 2], dtype="Int64")), TRUTH,
        {}, FrameError, ("recommendations", "'user'", "1 missing", "row 1", "Drop that row")),
    "an item missing": (RECS, TRUTH.assign(item=[np.nan, 10]),
        {}, FrameError, ("truth", "'item'", "1 missing", "row 0", "Drop that row")),
    "text missing": (RECS.assign(item=["a", None, None]), TRUTH.assign(item=TRUTH["item"].astype(str)),
        {}, FrameError, ("recommendations", "'item'", "2 missing", "row 1")),
    "a category missing": (RECS.assign(user=pd.Categorical([1, None, 2])), TRUTH,
        {}, FrameError, ("'user'", "1 missing", "row 1")),
    "all missing": (RECS.assign(user=[None] * 3), TRUTH, {}, FrameError, ("'user'", "3 missing")),
    "ids with a fraction": (RECS.assign(user=[1.0, 1.5, 2.0]), TRUTH,
        {}, FrameError, ("recommendations", "'user'", "1.5", "whole numbers or text")),
    "infinite ids": (RECS.assign(user=[1.0, np.inf, 2.0]), TRUTH, {}, FrameError, ("'user'", "inf")),
    "floats too large to be exact": (RECS.assign(item=[2.0**60, 11, 10]), TRUTH,
        {}, FrameError, ("'item'", "1152921504606846976", "2**53", "as text")),
    "floats beyond whole numbers": (RECS.assign(item=[1e300, 11, 10]), TRUTH, {}, FrameError, ("'item'", "2**53")),
    "whole numbers too large": (RECS.assign(item=np.array([2**64 - 1, 11, 10], dtype=np.uint64)), TRUTH,
        {}, FrameError, ("'item'", "18446744073709551615", "Make them text")),
    "numbers and text in one column": (RECS.assign(item=pd.Series(["a", 11, 10], dtype=object)), TRUTH,
        {}, FrameError, ("recommendations", "'item'", "int, str", ".astype(str)")),
    "complex numbers": (RECS.assign(item=[1j, 2j, 3j]), TRUTH,
        {}, FrameError, ("recommendations", "'item'", "complex")),
    "structs": (RECS, TRUTH.assign(item=[{"a": 1}, {"a": 2}]),
        {}, FrameError, ("truth", "'item'", "Struct", "one id a row")),
    "periods": (RECS.assign(item=pd.period_range("2026", periods=3, freq="D")), TRUTH,
        {}, FrameError, ("recommendations", "'item'", "text")),
    "objects of no kind": (RECS.assign(item=[object(), object(), object()]), TRUTH,
        {}, FrameError, ("recommendations", "'item'", "object")),
}  # fmt: skip

VALUES: dict[str, Case] = {
    "a pair twice": (pd.concat([RECS, pd.DataFrame({"user": [1], "item": [11], "rank": [3]})]), TRUTH,
        {}, FrameError, ("recommendations", "1 pair of", "user 1, item 11 (2 times)", "['user', 'item']", "duplicates='dedupe'")),
    "a pair twice, under other names": (pd.concat([SCORED, SCORED]).set_axis(["qid", "docno", "score"], axis=1), TRUTH,
        {}, FrameError, ("3 pairs", "['qid', 'docno']")),
    "a judged pair twice, under other names": (RECS, pd.concat([TRUTH, TRUTH]).rename(columns={"item": "movieId"}),
        {}, FrameError, ("truth", "2 pairs", "['user', 'movieId']", "duplicates='dedupe'")),
    "rank 0": (RECS.assign(rank=[0, 1, 1]), TRUTH,
        {}, FrameError, ("recommendations", "'rank'", "rank 0", "user 1, item 10", "add 1")),
    "rank below 0": (RECS.assign(rank=[1, -3, 1]), TRUTH, {}, FrameError, ("'rank'", "rank -3", "user 1, item 11")),
    "rank with a fraction": (RECS.assign(rank=[1.5, 2, 1]), TRUTH,
        {}, FrameError, ("'rank'", "1.5", "user 1, item 10", "score='rank'")),
    "rank NaN": (RECS.assign(rank=[1, np.nan, 1]), TRUTH, {}, FrameError, ("'rank'", "user 1, item 11", "rank")),
    "rank missing": (RECS.assign(rank=pd.array([1, None, 1], dtype="Int64")), TRUTH,
        {}, FrameError, ("'rank'", "missing", "user 1, item 11")),
    "rank infinite": (RECS.assign(rank=[1, np.inf, 1]), TRUTH, {}, FrameError, ("'rank'", "inf", "user 1, item 11")),
    "rank twice": (RECS.assign(rank=[1, 1, 1]), TRUTH,
        {}, FrameError, ("'rank'", "rank 1", "10 and 11", "user 1", "its own rank")),
    "rank as text": (RECS.astype({"rank": str}), TRUTH,
        {}, FrameError, ("recommendations", "'rank'", "text", "'1'", "numbers are needed")),
    "rank beyond any list": (RECS.assign(rank=[1, 2**40, 1]), TRUTH,
        {}, FrameError, ("'rank'", "1.09951e+12", "user 1, item 11", "score='rank'")),
    "rank beyond whole numbers": (RECS.assign(rank=[1, 1e300, 1]), TRUTH,
        {}, FrameError, ("'rank'", "1e+300", "score='rank'")),
    "rank of 64 bits without sign": (RECS.assign(rank=np.array([1, 2**64 - 1, 1], dtype=np.uint64)), TRUTH,
        {}, FrameError, ("'rank'", "1.84467e+19")),
    "rank and score that disagree": (RECS.assign(score=[0.1, 0.9, 0.5]), TRUTH,
        {}, FrameError, ("'rank' and 'score' disagree in 1 place", "User 1", "item 10 at rank 1 with score 0.1", "item 11",
         "order='rank' or order='score'")),
    "score NaN": (SCORED.assign(score=[0.1, np.nan, 0.5]), TRUTH,
        {}, FrameError, ("recommendations", "'score'", "1 score that is", "nan", "user 1, item 11", "drop the row")),
    "score infinite": (SCORED.assign(score=[0.1, 0.2, -np.inf]), TRUTH,
        {}, FrameError, ("'score'", "-inf", "user 2, item 10")),
    "score missing": (SCORED.assign(score=pd.array([None, None, 0.5], dtype="Float64")), TRUTH,
        {}, FrameError, ("'score'", "2 scores", "None", "user 1, item 10")),
    "score as text": (SCORED.assign(score=["high", "low", "low"]), TRUTH,
        {}, FrameError, ("recommendations", "'score'", "text", "'high' is no number")),
    "score as text, the first missing": (SCORED.assign(score=[None, "low", "low"]), TRUTH,
        {}, FrameError, ("'score'", "text", "'low'")),
    "score as days": (SCORED.assign(score=pd.date_range("2026-01-01", periods=3)), TRUTH,
        {}, FrameError, ("'score'", "2026")),
    "score NaN beside a rank": (RECS.assign(score=[0.9, np.nan, 0.5]), TRUTH,
        {}, FrameError, ("'score'", "nan", "user 1, item 11")),
    "relevance NaN": (RECS, TRUTH.assign(relevance=[np.nan, 1]),
        {}, FrameError, ("truth", "'relevance'", "1 value that is", "nan", "user 1, item 11", "0 for not relevant")),
    "relevance missing": (RECS, TRUTH.assign(relevance=[None, None]),
        {}, FrameError, ("truth", "'relevance'", "2 values", "None")),
    "relevance infinite": (RECS, TRUTH.assign(relevance=[1, np.inf]),
        {}, FrameError, ("truth", "'relevance'", "inf", "user 2, item 10")),
    "relevance negative": (RECS, TRUTH.assign(relevance=[1, -0.5]),
        {}, FrameError, ("truth", "'relevance'", "-0.5", "user 2, item 10", "set it to 0")),
    "relevance as text": (RECS, TRUTH.assign(relevance=["liked", "hated"]),
        {}, FrameError, ("truth", "'relevance'", "text", "'liked' is no number")),
    "relevance under another name": (RECS, TRUTH.assign(relevance=[1, -1]).rename(columns={"relevance": "stars"}),
        {"relevance": "stars"}, FrameError, ("truth", "'stars'", "-1")),
    "nothing relevant": (RECS, TRUTH.assign(relevance=0.0),
        {}, NoUsersError, ("no user", "relevance must be above 0", "highest", "0.0", "relevant_from=")),
    "nothing above the threshold": (RECS, TRUTH,
        {"relevant_from": 9}, NoUsersError, ("9 or more", "2.0", "relevant_from=")),
    "nothing relevant to those who have a list and a truth": (RECS[:2], TRUTH.assign(relevance=[0, 1]),
        {"averaged_users": "both"}, NoUsersError, ("no user that counts", "averaged_users='both'")),
    "empty recommendations": (RECS.iloc[:0], TRUTH, {}, FrameError, ("recommendations: there are no rows")),
    "empty truth": (RECS, TRUTH.iloc[:0], {}, FrameError, ("truth: there are no rows")),
}  # fmt: skip


CASES = {**COLUMNS, **IDS, **VALUES}
#: What no Polars frame can hold.
OF_PANDAS = {
    "column names twice", "column names of two levels", "a keyword that is no text", "user in the index",
    "numbers and text in one column", "complex numbers", "periods", "objects of no kind",
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
@pytest.mark.parametrize("lazy", [None, False, True])
def test_frames(what: str, lazy: bool | None) -> None:
    """In pandas, in Polars, and read in batches."""
    recs, truth, options, error, pieces = CASES[what]
    if lazy is not None:
        if what in OF_PANDAS:
            return
        recs, truth = (pl.from_pandas(frame).lazy() if lazy else pl.from_pandas(frame) for frame in (recs, truth))
        pieces = tuple("None" if piece == "nan" else piece for piece in pieces)  # NaN in pandas is missing in Polars
    refused(lambda: recnb.evaluate(recs, truth, **options).ndcg(k=2), error, *pieces)


@pytest.mark.parametrize("thing", [5, [1, 2], pl.Series([1]), np.zeros(2), RECS.groupby("user"), iter([1])])
def test_what_is_no_frame(thing: Any) -> None:
    name = type(thing).__name__
    refused(
        lambda: recnb.evaluate(thing, TRUTH),
        FrameError,
        f"recommendations is a {name}",
        "pandas or Polars",
        "recnb.ndcg(",
    )
    refused(lambda: recnb.evaluate(RECS, thing), FrameError, f"truth is a {name}", "recnb.evaluate_groups(")
    if isinstance(thing, int):
        refused(lambda: recnb.evaluate(None, TRUTH), FrameError, "recommendations is a NoneType")


def test_a_lazy_frame_that_cannot_be_collected() -> None:
    lazy = pl.from_pandas(RECS).lazy()
    broken = lazy.with_columns(pl.col("nope"))
    refused(lambda: recnb.evaluate(broken, TRUTH), FrameError, "recommendations cannot be read", "nope", ".collect()")
    late = lazy.with_columns(pl.col("item").cast(pl.String) + "x").with_columns(pl.col("item").cast(pl.Int64))
    refused(lambda: recnb.evaluate(RECS, late), FrameError, "truth cannot be read", ".collect()")


LISTS = {"user": ["a", "b"], "recommended": [["x", "y"], ["y"]], "relevant": [["x"], ["y", "z"]]}
LIST_CASES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "text in a cell": ({"recommended": ["x", ["y"]]}, ("'recommended'", "str 'x'", "user 'a'", "list of items")),
    "text in a cell of the relevant": ({"relevant": [["x"], "y"]}, ("'relevant'", "str 'y'", "user 'b'", "mapping")),
    "a number in a cell": ({"relevant": [5, ["y"]]}, ("'relevant'", "int 5", "user 'a'")),
    "a user missing": ({"user": ["a", None]}, ("'user'", "missing", "Drop that row")),
    "an item twice in a truth": ({"relevant": [["x"], ["y", "y"]]}, ("truth", "user 'b', item 'y' (2 times)", "duplicates='dedupe'")),
    "an item missing": ({"recommended": [["x", None], ["y"]]}, ("'recommended'", "1 missing item id,")),
    "items of other kinds": ({"relevant": [[1], [2]]}, ("item ids", "text (such as 'x')", "whole numbers (such as 1)", "'recommended'", "'relevant'")),
    "lists in lists": ({"recommended": [[["x"]], [["y"]]]}, ("'recommended'", "List")),
    "negative relevance": ({"relevant": [{"x": -1}, {"y": 1}]}, ("'relevant'", "-1", "user 'a', item 'x'")),
    "relevance as text": ({"relevant": [{"x": "very"}, {"y": 1}]}, ("'relevant'", "'very'")),
    "relevance NaN": ({"relevant": [{"x": np.nan}, {"y": 1}]}, ("'relevant'", "nan", "user 'a', item 'x'")),
    "relevance missing": ({"relevant": [{"x": None}, {"y": 1}]}, ("'relevant'", "None", "user 'a', item 'x'")),
}  # fmt: skip


@pytest.mark.parametrize("what", LIST_CASES)
def test_lists_in_cells_refused(what: str) -> None:
    cells, pieces = LIST_CASES[what]
    refused(lambda: pd.DataFrame({**LISTS, **cells}).rec.ndcg(k=2), FrameError, *pieces)
    assert float(pd.DataFrame(LISTS).rec.ndcg(k=2)) > 0


def test_one_frame_that_lacks_a_side() -> None:
    alone = "recs.rec.against(truth)"
    refused(
        lambda: RECS.rec.ndcg(k=2),
        ColumnError,
        "to be the relevance",
        "'user', 'item', 'rank'",
        alone,
        "relevance='...'",
    )
    refused(
        lambda: TRUTH.rec.ndcg(k=2),
        ColumnError,
        "to be the rank or score",
        "'user', 'item', 'relevance'",
        "score='...'",
    )
    refused(lambda: TRUTH.rec.evaluation(user="member"), ColumnError, "user='member'", "'user', 'item', 'relevance'")


RANKED = {"ann": ["a", "b", "c"], "cy": ["x", "a", "b"]}
LIKED = {"cy": {"b": 1, "q": 2}, "ann": {"a": 2, "c": 1}}
SCORES = {"a": 0.5, "b": 0.2}
PAIRS = pd.DataFrame({"user": ["ann"] * 3, "item": ["a", "b", "c"], "rank": [1, 2, 3]})
HELD: dict[str, tuple[Any, Any, dict[str, Any], tuple[str, ...]]] = {
    "a list": (["a", "b"], LIKED, {}, ("recommendations is a list", "recnb.ndcg(ranking, relevant)")),
    "numbers": ([3, 0], [0.2, 0.9], {}, ("recnb.evaluate_groups(y_true, y_score, group=sizes)",)),
    "a number": (5, None, {}, ("or the path of a file",)),
    "one mapping": (RANKED, None, {}, ("nothing that recnb reads", "recnb.evaluate(recs, truth)")),
    "relevance by item": (RANKED, {"a": 1.0, "b": 2.0}, {}, ("truth", "holds float 1.0 for user 'a'", "mapping of item to relevance")),
    "items as text": ({"ann": "abc"}, LIKED, {}, ("recommendations", "str 'abc'", "user 'ann'")),
    "a set in rank order": ({"ann": {"a", "b"}}, LIKED, {}, ("recommendations", "set", "rank order")),
    "a frame of a user": ({"ann": PAIRS}, LIKED, {}, ("holds DataFrame <DataFrame> for user 'ann'",)),
    "lists and scores": ({**RANKED, "ann": SCORES}, LIKED, {}, ("lists for some users and mappings for others",)),
    "a score missing": ({"ann": {"a": 1.0, "b": np.nan}}, LIKED, {}, ("recommendations", "missing", "user 'ann', item 'b'")),
    "a score as text": ({"ann": {"a": "high"}}, LIKED, {}, ("score that is no number", "'high'")),
    "negative relevance": (RANKED, {"ann": {"a": -1}}, {}, ("truth", "-1", "user 'ann', item 'a'")),
    "an item twice": ({"ann": ["a", "a"]}, LIKED, {}, ("user 'ann', item 'a' (2 times)", "duplicates='dedupe'")),
    "an item missing": ({"ann": ["a", None]}, LIKED, {}, ("missing item id,",)),
    "items of two kinds": ({"ann": ["a", 1]}, LIKED, {}, ("int, str", "one kind")),
    "True beside 1": ({"ann": [True, 1]}, LIKED, {}, ("bool, int", "one kind")),
    "times": ({"ann": [pd.Timestamp(1)]}, LIKED, {}, ("which is no item id",)),
    "users of two kinds": ({"ann": ["a"], 1: ["a"]}, LIKED, {}, ("users of more than one kind", "int, str")),
    "ids of two kinds": ({1: ["a"]}, LIKED, {}, ("user ids", "such as 1", "such as 'cy'")),
    "columns": (PAIRS.to_dict("list"), TRUTH, {}, ("mapping of columns", "'user', 'item', 'rank'", "pandas.DataFrame")),
    "users given twice": (pd.Series([["a"], ["b"]], index=["u", "u"]), LIKED, {}, ("more than one list of user 'u'",)),
    "users of rows": ([["a"]], LIKED, {"user_ids": ["ann"]}, ("'user_ids' is no option",)),
    "a Series of items": (pd.Series(["a", "b"], index=["ann", "bob"]), LIKED, {}, ("str 'a' for user 'ann'",)),
    "a Series of two levels": (-PAIRS.set_index(["user", "item"])["rank"], LIKED, {}, ("a Series", "nothing that recnb reads")),
    "a column of lists that is none": (RANKED, LIKED, {"recommended": "best"}, ("recommended='best'",)),
    "no file": ("nothing.csv", TRUTH, {}, ("there is no file 'nothing.csv'",)),
    "items with scores": ({"ann": [("a", 0.9), ("b", 0.2)]}, LIKED, {}, ("tuple, such as ('a', 0.9)", "dict(pairs)")),
    "titles in a mapping": (RANKED, LIKED, {"items": {"a": "A"}}, ("items is a dict", "path of a file")),
    "users in a mapping": (RANKED, LIKED, {"users": {"ann": "A"}}, ("users is a dict", "path of a file")),
    "many columns": (pd.DataFrame(np.ones((2, 1000)), columns=[f"c{at}x" for at in range(1000)]), TRUTH, {}, ("'c9x' and 990 more",)),
}  # fmt: skip


@pytest.mark.parametrize("what", HELD)
def test_what_else_people_hold(what: str) -> None:
    recs, truth, options, pieces = HELD[what]
    with pytest.raises((FrameError, OptionError)) as found:
        recnb.evaluate(recs, truth, **options)
    for piece in pieces:
        assert piece in str(found.value)
    assert len(str(found.value)) < 700


def test_who_is_averaged_was_called_users() -> None:
    given = {"ann": ["a", "b"], "cy": ["x"]}, {"ann": ["a"]}
    with pytest.warns(FutureWarning, match="averaged_users="):
        old = recnb.evaluate(*given, users="recs", no_relevant="zero")
    assert old.mrr() == recnb.evaluate(*given, averaged_users="recs", no_relevant="zero").mrr() == 1 / 2
    with pytest.raises(FrameError, match="there is no file 'evryone'"):
        recnb.evaluate(RANKED, LIKED, users="evryone")
