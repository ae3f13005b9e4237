"""What callers hold: mappings, Series, matrices, frames of lists and of ranks, and files, all equal to the same frames."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.cli import main
from recnb.data.trec import write_trec_qrels, write_trec_run
from recnb.errors import FrameError, OptionError, RecnbError

LISTS = {"ann": ["a", "b", "c"], "bob": ["c", "d", "a"], "cy": ["x", "a", "b"]}
LIKED = {"cy": {"b": 1, "q": 2}, "bob": {"d": 3, "x": 1}, "ann": {"a": 2, "c": 1}}  # another order on purpose
SCORED = {user: {item: 1 / (3 + at) for at, item in reversed([*enumerate(items)])} for user, items in LISTS.items()}
RECS = pd.DataFrame(
    [(user, item, rank) for user, items in LISTS.items() for rank, item in enumerate(items, 1)],
    columns=["user", "item", "rank"],
)
TRUTH = pd.DataFrame(
    [(user, item, grade) for user, items in LIKED.items() for item, grade in items.items()],
    columns=["user", "item", "relevance"],
)
IDS = list(LISTS)
METRICS = ["ndcg", "recall", "mrr", "average_precision"]
WANT = recnb.evaluate(RECS, TRUTH).table(METRICS, k=[1, 2, 3])
BINARY = recnb.evaluate(RECS, TRUTH[["user", "item"]]).table(METRICS, k=[1, 2, 3])
WIDE = pd.DataFrame(list(LISTS.values()), index=pd.Index(IDS, name="user"), columns=[1, 2, 3])


def same(recs: Any, truth: Any, want: Any = WANT, **options: Any) -> None:
    """The numbers of the frames."""
    found = recnb.evaluate(recs, truth, **options).table(METRICS, k=[1, 2, 3])
    assert (found.to_numpy() == want.to_numpy()).all()


RECS_HELD: dict[str, Any] = {
    "mapping": LISTS,
    "mapping of tuples": {user: tuple(items) for user, items in LISTS.items()},
    "mapping of arrays": {user: np.array(items) for user, items in LISTS.items()},
    "mapping of Series": {user: pd.Series(items) for user, items in LISTS.items()},
    "mapping of lists and arrays": {**LISTS, "bob": np.array(LISTS["bob"])},
    "another mapping": MappingProxyType(LISTS),
    "mapping of scores": SCORED,
    "Series of lists": pd.Series(LISTS),
    "Series of scores": pd.Series(SCORED),
    "Series by user and item": -RECS.set_index(["user", "item"])["rank"].rename("score"),
    "Series of ranks": RECS.set_index(["item", "user"])["rank"],
    "Series of ranks of another name": RECS.sort_values("item").set_index(["user", "item"])["rank"].rename("Position"),
    "Series by item and user": RECS.assign(score=-RECS["rank"]).set_index(["item", "user"])["score"],
    "Series by levels without names": -RECS.set_index(["user", "item"])["rank"].rename(None).rename_axis([None, None]),
    "frame of lists": pd.DataFrame({"user": IDS, "recommended": list(LISTS.values())}),
    "frame of lists of another name": pd.DataFrame({"uid": IDS, "best": list(LISTS.values())}),
    "Polars frame of lists": pl.DataFrame({"user": IDS, "best": list(LISTS.values())}),
    "lazy frame of lists": pl.LazyFrame({"user": IDS, "recommended": list(LISTS.values())}),
    "Arrow table of lists": pa.table({"user": IDS, "recommendations": list(LISTS.values())}),
    "frame of scores": pd.DataFrame({"user": IDS, "recommended": list(SCORED.values())}),
    "ranks": WIDE,
    "ranks from 0": WIDE.set_axis([0, 1, 2], axis=1),
    "ranks in another order": WIDE[[3, 1, 2]],
    "ranks as text": WIDE.rename(columns=str).reset_index(),
    "Polars ranks": pl.from_pandas(WIDE.rename(columns=str).reset_index()),
    "lazy ranks": pl.from_pandas(WIDE.rename(columns=str).reset_index()).lazy(),
    "ranks with a prefix": WIDE.add_prefix("rec_"),
    "ranks with a prefix, users in a column": WIDE.add_prefix("top").reset_index(),
    "Polars ranks with a prefix": pl.from_pandas(WIDE.add_prefix("Rank ").reset_index()),
    "ranks with a prefix from 0": WIDE.set_axis(["i0", "i1", "i2"], axis=1),
    "categories by rank": WIDE.astype("category"),
}
ROWS: dict[str, Any] = {
    "matrix": np.array(list(LISTS.values())),
    "matrix of objects": np.array(list(LISTS.values()), dtype=object),
    "nested lists": list(LISTS.values()),
    "lists of tuples": [tuple(items) for items in LISTS.values()],
    "Series without users": pd.Series(list(LISTS.values())),
    "Polars lists": pl.Series(list(LISTS.values())),
    "rows of scores": list(SCORED.values()),
    "ranks without an index": WIDE.reset_index(drop=True),
    "lists that end early": [[*items, None] for items in LISTS.values()],
}
TRUTH_HELD: dict[str, Any] = {
    "mapping": LIKED,
    "Series": pd.Series(LIKED),
    "Series by user and item": TRUTH.set_index(["user", "item"])["relevance"],
    "Series by item and user": TRUTH.rename(columns={"item": "Movie ID"}).set_index(["Movie ID", "user"])["relevance"],
    "frame of mappings": pd.DataFrame({"user": list(LIKED), "relevant": list(LIKED.values())}),
    "frame": TRUTH,
    "lazy": pl.from_pandas(TRUTH).lazy(),
}
BINARY_HELD: dict[str, Any] = {
    "sets": {user: set(items) for user, items in LIKED.items()},
    "lists": {user: list(items) for user, items in LIKED.items()},
    "arrays": {user: np.array(list(items)) for user, items in LIKED.items()},
    "frame of sets": pd.DataFrame({"user": list(LIKED), "relevant": [set(items) for items in LIKED.values()]}),
    "frame of lists": pl.DataFrame({"user": list(LIKED), "liked": [list(items) for items in LIKED.values()]}),
    "columns": pd.DataFrame({user: list(items) for user, items in LIKED.items()}).T.rename_axis("user"),
}


@pytest.mark.parametrize("how", RECS_HELD)
def test_recommendations(how: str) -> None:
    for truth in (TRUTH, LIKED, pl.from_pandas(TRUTH)):
        same(RECS_HELD[how], truth)


def test_a_series_with_parts_named_by_keyword() -> None:
    truth = TRUTH.rename(columns={"user": "who"})
    same(RECS, truth.set_index(["item", "who"])["relevance"].rename_axis(["item", "who"]), user="who")
    scores = RECS.rename(columns={"user": "who"}).set_index(["item", "who"])["rank"].mul(-1).rename("score")
    same(scores, truth, user="who")
    ranks = RECS.set_index(["user", "item"])["rank"].rename("pos")
    same(ranks, TRUTH, rank="pos")
    same(-ranks, TRUTH, score="pos")


@pytest.mark.parametrize("how", ROWS)
def test_rows_of_items(how: str) -> None:
    for users in (IDS, np.array(IDS), pd.Index(IDS), pd.Series(IDS), pl.Series(IDS)):
        same(ROWS[how], LIKED, user_ids=users)
    numbered = TRUTH.assign(user=TRUTH["user"].map(IDS.index))
    same(ROWS[how], numbered, user_ids=range(3))
    with pytest.raises(FrameError, match=r"user_ids=range\(0, 3\)"):
        recnb.evaluate(ROWS[how], numbered)
    with pytest.raises(FrameError, match="there are 3 rows, and user_ids= has 2 users"):
        recnb.evaluate(ROWS[how], TRUTH, user_ids=IDS[:2])
    with pytest.raises(FrameError, match="user 'ann' has more than one row"):
        recnb.evaluate(ROWS[how], TRUTH, user_ids=["ann", "bob", "ann"])


@pytest.mark.parametrize("how", TRUTH_HELD)
def test_truth(how: str) -> None:
    for recs in (RECS, LISTS, SCORED):
        same(recs, TRUTH_HELD[how])


@pytest.mark.parametrize("how", BINARY_HELD)
def test_truth_without_relevance(how: str) -> None:
    same(LISTS, BINARY_HELD[how], BINARY)
    same(RECS, BINARY_HELD[how], BINARY)


def test_both_sides_by_row() -> None:
    relevant = [list(LIKED[user]) for user in IDS]
    same(list(LISTS.values()), relevant, BINARY, user_ids=IDS)
    same(np.array(list(LISTS.values())), pd.Series(relevant), BINARY, user_ids=IDS)


def test_lists_that_are_named() -> None:
    recs = pd.DataFrame({"who": IDS, "best": list(LISTS.values()), "other": [[1]] * 3})
    truth = pd.DataFrame({"who": list(LIKED), "right": list(LIKED.values()), "wrong": [[1]] * 3})
    same(recs, truth, user="who", recommended="best", relevant="right")
    same(recs, TRUTH, user="who", recommended="best")
    with pytest.raises(RecnbError, match="user="):
        recnb.evaluate(recs, truth)


@given(
    st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 12), unique=True, max_size=6), min_size=1),
    st.dictionaries(st.integers(0, 9), st.dictionaries(st.integers(0, 12), st.integers(0, 3), max_size=6), min_size=1),
)
def test_mappings_are_their_frames(lists: dict[int, list[int]], liked: dict[int, dict[int, int]]) -> None:
    """An empty list is no list, and an empty truth none: as in frames, which have no row of them."""
    recs = pd.DataFrame(
        [(user, item, rank) for user, items in lists.items() for rank, item in enumerate(items, 1)],
        columns=["user", "item", "rank"],
    )
    truth = pd.DataFrame(
        [(user, item, grade) for user, items in liked.items() for item, grade in items.items()],
        columns=["user", "item", "relevance"],
    )

    def result(recs: Any, truth: Any) -> Any:
        try:
            return recnb.evaluate(recs, truth).ndcg(k=3).per_user.to_dict()
        except RecnbError as problem:
            return type(problem)

    assert result(lists, liked) == result(recs, truth)


def test_an_empty_list_counts_0() -> None:
    ev = recnb.evaluate({**LISTS, "ann": []}, LIKED)
    assert ev.ndcg(k=3).per_user["ann"] == 0
    assert ev.counts.n_without_list == 1
    assert recnb.evaluate(LISTS, {**LIKED, "ann": {}}).counts.n_without_relevant == 1


def test_keys_and_items_of_other_kinds() -> None:
    assert recnb.evaluate({np.int64(1): np.array([5, 7])}, {1: {7: 1}}).mrr() == 0.5
    assert recnb.evaluate(np.array([[5, 7], [7, -1]]), {"u": {7}, "v": {7}}, user_ids=["u", "v"]).mrr() == 0.75
    # Lists that end early make floats of whole numbers.
    assert recnb.evaluate(np.array([[5, 7], [7, np.nan]]), {"u": {7}, "v": {7}}, user_ids=["u", "v"]).mrr() == 0.75
    gaps = pd.DataFrame({1: [5, 7], 2: pd.array([7, None], dtype="Int64")}, index=["u", "v"])
    ev = recnb.evaluate(gaps, {"u": {7}, "v": {7}})
    assert ev.mrr() == 0.75
    assert ev.hits().list_length.tolist() == [2, 1]


def test_nothing_given_is_changed() -> None:
    lists = {user: list(items) for user, items in LISTS.items()}
    ev = recnb.evaluate(lists, LIKED)
    before = ev.ndcg(k=3)
    lists["ann"].reverse()
    assert ev.ndcg(k=3) == before
    matrix = np.array([[1, 2], [2, 1]])
    ev = recnb.evaluate(matrix, {"u": [2], "v": [2]}, user_ids=["u", "v"])
    matrix[:] = 0
    assert ev.mrr() == 0.75


def test_side_data() -> None:
    train = {"ann": ["x"], "bob": ["y", "b"]}
    frame = pd.DataFrame({"user": ["ann", "bob", "bob"], "item": ["x", "y", "b"]})
    want = recnb.evaluate(RECS, TRUTH, train=frame).novelty(k=3)
    assert recnb.evaluate(LISTS, LIKED, train=train).novelty(k=3) == want
    assert recnb.evaluate(RECS, TRUTH, train=train).novelty(k=3) == want


# Files


def _lines(frame: pd.DataFrame, path: Path) -> None:
    pl.from_pandas(frame).write_ndjson(path)


WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "x.csv": lambda frame, path: frame.to_csv(path, index=False),
    "x.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "x.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "x.parquet": lambda frame, path: frame.to_parquet(path),
    "x.arrow": lambda frame, path: pl.from_pandas(frame).write_ipc(path),
    "x.feather": lambda frame, path: pl.from_pandas(frame).write_ipc(path),
    "x.jsonl": _lines,
}


@pytest.mark.parametrize("file", WRITERS)
def test_files(file: str, tmp_path: Path) -> None:
    recs, truth, train = tmp_path / f"recs{file}", tmp_path / f"truth{file}", tmp_path / f"train{file}"
    WRITERS[file](RECS, recs)
    WRITERS[file](TRUTH, truth)
    WRITERS[file](TRUTH[["user", "item"]].replace("q", "a"), train)
    same(recs, truth)
    same(str(recs), TRUTH)
    same(RECS, str(truth))
    same(LISTS, truth)
    same(recs, LIKED)
    users = tmp_path / f"users{file}"
    WRITERS[file](pd.DataFrame({"user": IDS, "plan": ["x", "y", "x"]}), users)
    ev = (
        recnb.evaluate(recs, truth, train=train, items=train, users=users)
        if False
        else recnb.evaluate(recs, truth, train=train, users=users)
    )
    assert ev.novelty(k=3) == recnb.evaluate(RECS, TRUTH, train=TRUTH.replace("q", "a")).novelty(k=3)
    assert {"x", "y"} <= {
        cell for row in ev.table("ndcg", k=3, by="plan").to_frame().reset_index().to_numpy() for cell in row
    }


def test_lists_and_ranks_in_files(tmp_path: Path) -> None:
    pl.DataFrame({"user": IDS, "recommended": list(LISTS.values())}).write_parquet(tmp_path / "lists.parquet")
    WIDE.to_csv(tmp_path / "ranks.csv")
    same(tmp_path / "lists.parquet", TRUTH)
    same(tmp_path / "ranks.csv", LIKED)


def test_both_sides_in_a_file(tmp_path: Path) -> None:
    both = RECS.merge(TRUTH, how="outer", on=["user", "item"])
    both.to_csv(tmp_path / "both.csv", index=False)
    same(tmp_path / "both.csv", None)


def test_files_of_trec(tmp_path: Path) -> None:
    write_trec_run(RECS, tmp_path / "run.txt")
    write_trec_qrels(TRUTH, tmp_path / "qrels.txt")
    same(tmp_path / "run.txt", tmp_path / "qrels.txt")
    same(tmp_path / "run.txt", LIKED)
    same(LISTS, tmp_path / "qrels.txt")
    with pytest.raises(FrameError, match=r"qrels\.txt is judgements"):
        recnb.evaluate(tmp_path / "qrels.txt", tmp_path / "run.txt")


def test_numbers_of_a_csv_file_are_text_where_other_ids_are(tmp_path: Path) -> None:
    pd.DataFrame({"user": [1, 2], "item": [10, 20], "rank": [1, 1]}).to_csv(tmp_path / "recs.csv", index=False)
    assert recnb.evaluate(tmp_path / "recs.csv", {"1": ["10"], "2": ["x"]}).mrr() == 0.5
    assert recnb.evaluate(tmp_path / "recs.csv", {1: [10], 2: [30]}).mrr() == 0.5


# Models


def test_models_to_compare(tmp_path: Path) -> None:
    backwards = {user: items[::-1] for user, items in LISTS.items()}
    frame = pd.concat([RECS.assign(model="a"), RECS.assign(model="b", rank=4 - RECS["rank"])])
    want = recnb.compare(frame, TRUTH).table(k=3)
    frame.to_csv(tmp_path / "models.csv", index=False)
    RECS.to_csv(tmp_path / "a.csv", index=False)
    for models in (
        {"a": LISTS, "b": backwards},
        {"a": RECS, "b": backwards},
        {"a": tmp_path / "a.csv", "b": backwards},
        tmp_path / "models.csv",
    ):
        for truth in (TRUTH, LIKED):
            assert (recnb.compare(models, truth).table(k=3).to_numpy() == want.to_numpy()).all()
    rows = {"a": np.array(list(LISTS.values())), "b": backwards}
    assert (recnb.compare(rows, LIKED, user_ids=IDS).table(k=3).to_numpy() == want.to_numpy()).all()
    with pytest.raises(OptionError, match="user_ids="):
        recnb.compare({"a": LISTS, "b": backwards}, LIKED, user_ids=IDS)


def test_users_are_no_models() -> None:
    for users in (LISTS, SCORED):
        with pytest.raises(RecnbError, match="model 'ann'"):
            recnb.compare(users, LIKED)


# What is refused


class Record(NamedTuple):
    query_id: str
    doc_id: str
    score: float


REFUSED: dict[str, tuple[Any, Any, dict[str, Any], tuple[str, ...]]] = {
    "a list": (["a", "b"], LIKED, {}, ("recommendations is a list", "recnb.ndcg(ranking, relevant)")),
    "relevance by item": (LISTS, {"a": 1.0, "b": 2.0}, {}, ("truth", "holds float 1.0 for user 'a'", "mapping of item to relevance")),
    "items as text": ({"ann": "abc"}, LIKED, {}, ("recommendations", "str 'abc'", "user 'ann'")),
    "a set in rank order": ({"ann": {"a", "b"}}, LIKED, {}, ("recommendations", "set", "rank order")),
    "lists and scores": ({**LISTS, "ann": SCORED["ann"]}, LIKED, {}, ("lists for some users and mappings for others",)),
    "a score missing": ({"ann": {"a": 1.0, "b": np.nan}}, LIKED, {}, ("recommendations", "missing", "user 'ann', item 'b'")),
    "a score as text": ({"ann": {"a": "high"}}, LIKED, {}, ("score that is no number", "'high'")),
    "negative relevance": (LISTS, {"ann": {"a": -1}}, {}, ("truth", "-1", "user 'ann', item 'a'")),
    "an item twice": ({"ann": ["a", "a"]}, LIKED, {}, ("user 'ann', item 'a' (2 times)", "duplicates='dedupe'")),
    "an item missing": ({"ann": ["a", None]}, LIKED, {}, ("missing item id,",)),
    "items of two kinds": ({"ann": ["a", 1]}, LIKED, {}, ("int, str", "one kind")),
    "users of two kinds": ({"ann": ["a"], 1: ["a"]}, LIKED, {}, ("users of more than one kind", "int, str")),
    "ids of two kinds": ({1: ["a"]}, LIKED, {}, ("user ids", "such as 1", "such as 'cy'")),
    "columns": (RECS.to_dict("list"), TRUTH, {}, ("mapping of columns", "'user', 'item', 'rank'", "pandas.DataFrame")),
    "a gap": ([["a", None, "b"]], LIKED, {"user_ids": ["ann"]}, ("no item at rank 2 of user 'ann'",)),
    "ranks of two kinds": (WIDE.assign(**{"3": 1}).drop(columns=3).set_axis([1, 2, 3], axis=1), LIKED, {}, ("more than one kind",)),
    "users given twice": (pd.Series([["a"], ["b"]], index=["u", "u"]), LIKED, {}, ("user 'u' has more than one row",)),
    "users of what has its own": (LISTS, LIKED, {"user_ids": IDS}, ("user_ids=", "leave it out")),
    "users that are one": ([["a"]], LIKED, {"user_ids": "ann"}, ("user_ids='ann'", "user of each row")),
    "a row that is none": ([["a"], "bc"], LIKED, {"user_ids": ["ann", "bob"]}, ("str 'bc' for user 'bob'",)),
    "a Series of items": (pd.Series(["a", "b"], index=["ann", "bob"]), LIKED, {}, ("str 'a' for user 'ann'",)),
    "a column of lists that is none": (LISTS, LIKED, {"recommended": "best"}, ("recommended='best'",)),
    "no file": ("nothing.csv", TRUTH, {}, ("there is no file 'nothing.csv'",)),
    "items with scores": ({"ann": [("a", 0.9), ("b", 0.2)]}, LIKED, {}, ("tuples, such as ('a', 0.9)", "dict(pairs)")),
    "scores of all items": (np.array([[0.1, 0.9], [0.2, 0.3]]), LIKED, {"user_ids": ["ann", "bob"]}, ("look like scores", "argsort")),
    "whole scores of all items": (np.array([[3.0, 3.0], [2.0, 1.0]]), LIKED, {"user_ids": ["ann", "bob"]}, ("look like scores",)),
    "records": ([Record("ann", "a", 0.5)], LIKED, {}, ("records of query_id, doc_id, score", "by pandas.DataFrame")),
    "a cube": (np.zeros((2, 2, 2)), LIKED, {"user_ids": [1, 2]}, ("the shape is (2, 2, 2)",)),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    recs, truth, options, pieces = REFUSED[what]
    with pytest.raises((FrameError, OptionError)) as found:
        recnb.evaluate(recs, truth, **options)
    for piece in pieces:
        assert piece in str(found.value)
    if not isinstance(recs, pd.DataFrame):
        assert "frame." not in str(found.value), "code for frames, where there is none"


def test_code_is_for_frames() -> None:
    twice = pd.concat([RECS, RECS[:1].assign(rank=4)])
    with pytest.raises(FrameError, match=r"frame\.drop_duplicates"):
        recnb.evaluate(twice, LIKED)
    with pytest.raises(FrameError) as found:
        recnb.evaluate({"ann": ["a", "a"]}, TRUTH)
    assert "drop_duplicates" not in str(found.value)
    with pytest.raises(FrameError, match=r"is nothing that recnb reads.*recnb\.evaluate"):
        recnb.evaluate(LISTS)
    with pytest.raises(FrameError, match=r"or the path of a file\.$"):
        recnb.evaluate(5)


def test_numbered_columns_that_are_no_ranks_are_not_taken_for_other_roles() -> None:
    wide = WIDE.add_prefix("rec_").reset_index()
    cases = {
        r"one that is no rank: 'country'\. Drop it: frame\.drop\(columns=\['country'\]\)": wide.assign(country="KR"),
        "such as 'rec_1' and 'rec_3', are no ranks from 1 without a gap.*rename them 1 to 2": wide.drop(
            columns="rec_2"
        ),
        "are no ranks from 1 without a gap.*rename them 1 to 3": wide.rename(columns={"rec_2": "alt_2"}),
        "If it holds the users, user='who'": wide.rename(columns={"user": "who"}),
    }
    for message, frame in cases.items():
        with pytest.raises(RecnbError, match=message):
            recnb.evaluate(frame, TRUTH)
    same(wide.rename(columns={"user": "who"}), TRUTH, user="who")
    long = RECS.rename(columns={"item": "thing"}).assign(x_1=1, x_2=2)
    with pytest.raises(RecnbError, match="item 'thing'"):
        recnb.evaluate(long, TRUTH)


def test_ranks_with_a_prefix_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    WIDE.add_prefix("rec_").reset_index().to_csv(tmp_path / "wide.csv", index=False)
    TRUTH.to_csv(tmp_path / "truth.csv", index=False)
    arguments = ["report", str(tmp_path / "wide.csv"), str(tmp_path / "truth.csv"), "--k", "3", "--metrics", "ndcg"]
    assert main([*arguments, "--format", "csv"]) == 0
    assert float(pl.read_csv(capsys.readouterr().out.encode())["mean"][0]) == WANT.loc["ndcg", 3]


def test_minus_1_at_the_end_of_a_row_of_numbers_ends_the_list() -> None:
    matrix = np.array([[7, 3, 5], [3, -1, -1], [5, 7, -1], [-1, -1, -1]])
    truth = {0: [5], 1: [3], 2: [7, 9], 3: [3]}
    lists = {user: [int(item) for item in row if item >= 0] for user, row in enumerate(matrix)}
    wanted = recnb.evaluate(lists, truth)
    wide = pd.DataFrame(matrix).rename(columns="i{}".format).assign(user=range(4))
    by_user = pd.DataFrame(matrix, index=list(range(4)))
    arrays = [matrix, matrix.astype(np.int32), matrix.astype(float), matrix.astype(np.float32)]
    for held in (*arrays, matrix.tolist(), matrix.astype(float).tolist(), by_user, by_user.astype(float), wide):
        ids = {"user_ids": range(4)} if isinstance(held, (list, np.ndarray)) else {}
        ev = recnb.evaluate(held, truth, **ids)
        assert (ev.table(k=None).to_numpy() == wanted.table(k=None).to_numpy()).all()
        assert ev.items().shape == wanted.items().shape
        assert "-1 ends a list" in ev.basis()
    assert "-1" not in wanted.basis()
    same_truth = recnb.evaluate(lists, np.array([[5, -1], [3, -1], [7, 9], [3, -1]]), user_ids=range(4))
    assert same_truth.mrr() == wanted.mrr()
    for kind in (int, float):
        with pytest.raises(RecnbError, match=r"no item at rank 2 of user 1, and one below it: .* or -1"):
            recnb.evaluate(np.array([[1, 2, 3], [4, -1, 5]], dtype=kind), {0: [1], 1: [5]}, user_ids=range(2))
    with pytest.raises(RecnbError, match="look like scores"):
        recnb.evaluate(np.array([[0.5, -1.0], [2.0, -1.0]]), {0: [1]}, user_ids=range(2))
    with pytest.raises(RecnbError, match="-1 is an item: give the items other numbers"):
        recnb.evaluate(matrix, {0: [-1], 1: [3]}, user_ids=range(4))


def test_an_index_from_1_is_one_of_users() -> None:
    lists = {user: [user, 7] for user in range(1, 4)}
    series = pd.Series(list(lists.values()), index=pd.RangeIndex(1, 4))
    truth = {user: [7] for user in lists}
    assert recnb.evaluate(series, truth).mrr() == recnb.evaluate(lists, truth).mrr() == 0.5
    with pytest.raises(RecnbError, match="user_ids="):
        recnb.evaluate(series.reset_index(drop=True), truth)


def test_repeated_pairs_of_several_models_are_to_be_compared() -> None:
    one = pd.DataFrame({"user": [1, 1, 2], "item": [5, 6, 5], "rank": [1, 2, 1]})
    recs = pd.concat([one.assign(algo="a", page=1), one.assign(algo="b", page=1)])
    truth = pd.DataFrame({"user": [1, 2], "item": [5, 6]})
    with pytest.raises(RecnbError, match=r"compare them: recnb\.compare\(recs, truth, model='algo'\)\. Else: Drop"):
        recnb.evaluate(recs, truth)
    with pytest.raises(RecnbError, match="Drop the repeats") as found:
        recnb.evaluate(recs.drop(columns="algo"), truth)
    assert "compare" not in str(found.value)


def test_items_and_users_are_frames() -> None:
    recs, truth = {1: ["a"], 2: ["b"]}, {1: ["a"], 2: ["a"]}
    for name in ("items", "users"):
        with pytest.raises(RecnbError, match=f"{name} is a dict.* with a row for each {name[:-1]}") as found:
            recnb.evaluate(recs, truth, **{name: {"a": "A"}})
        assert "mapping" not in str(found.value)


@pytest.mark.parametrize("library", ["ranx", "rectools"])
def test_as_in_reads_what_evaluate_reads(library: str) -> None:
    wanted = recnb.as_in(library, "ndcg", RECS, TRUTH, k=3)
    for recs in (LISTS, SCORED, WIDE, WIDE.add_prefix("rec_").reset_index()):
        assert recnb.as_in(library, "ndcg", recs, LIKED, k=3) == wanted
    matrix = np.array(list(LISTS.values()))
    assert recnb.as_in(library, "ndcg", matrix, LIKED, k=3, user_ids=IDS) == wanted
    novelty = recnb.as_in("recommenders", "novelty", RECS, TRUTH, k=3, train=TRUTH)
    assert recnb.as_in("recommenders", "novelty", LISTS, LIKED, k=3, train=LIKED) == novelty
    with pytest.raises(RecnbError, match="user_ids="):
        recnb.as_in(library, "ndcg", LISTS, LIKED, k=3, user_ids=IDS)


@pytest.mark.parametrize("library", [None, "ir_measures"])
def test_mappings_whose_sides_are_exchanged(library: str | None) -> None:
    run = {user: {f"d{at}": 60 - at for at in range(40)} for user in "abc"}
    qrels = {user: {f"d{at}": at % 3 for at in range(0, 60, 2)} for user in "abc"}
    options: dict[str, Any] = {} if library is None else {"convention": library}
    assert "look like relevance" not in recnb.evaluate(run, qrels, **options).ndcg(k=10).basis
    if library is None:
        assert "recommendations come first here" in recnb.evaluate(qrels, run).ndcg(k=10).basis
    else:
        with pytest.raises(FrameError, match=r"look like relevance.*recnb\.evaluate\(run, qrels\)"):
            recnb.evaluate(qrels, run, **options)
    scores = {user: {doc: -0.5 - at for at, doc in enumerate(docs)} for user, docs in run.items()}
    with pytest.raises(FrameError, match="recommendations come first here"):
        recnb.evaluate(qrels, scores, **options)


def test_mappings_are_written_for_trec(tmp_path: Path) -> None:
    run, qrels = {"q1": {"a": 0.5, "b": 0.75}}, {"q1": {"a": 1, "b": 0}}
    recnb.write_trec_run(run, tmp_path / "a.run")
    recnb.write_trec_qrels(qrels, tmp_path / "qrels.txt")
    assert (tmp_path / "a.run").read_text().splitlines() == ["q1 Q0 b 1 0.75 recnb", "q1 Q0 a 2 0.5 recnb"]
    assert (tmp_path / "qrels.txt").read_text().splitlines() == ["q1 0 a 1", "q1 0 b 0"]


def test_lists_of_a_group_under_the_name_of_the_item() -> None:
    lists = RECS.groupby("user", sort=False)["item"].agg(list).reset_index()
    for frame in (lists, pl.DataFrame(lists)):
        same(frame, TRUTH)
        same(frame, TRUTH, recommended="item")
    same(lists.rename(columns={"item": "best"}), TRUTH, item="best")
    for column, named in (("score", {}), ("rank", {}), ("stars", {"score": "stars"})):
        with pytest.raises(FrameError, match="one id a row is needed"):
            recnb.evaluate(lists.assign(**{column: 1}), TRUTH, **named)


@pytest.mark.parametrize("fill", [0, 0.0, np.nan])
@pytest.mark.parametrize("columns", [[1, 2, 3], [2, 5, 7]])
def test_a_matrix_of_ratings_is_no_frame_of_ranks(fill: float, columns: list[int]) -> None:
    recs = pd.DataFrame({"user": ["u", "u"], "item": columns[:2], "rank": [1, 2]})
    ratings = pd.DataFrame([[fill, 4.5, 4.5]], ["u"], columns)
    for frame in (ratings, ratings.fillna(0).astype(int)):
        with pytest.raises(FrameError, match=r"ratings or scores, frame\.stack\(\)\.dropna\(\)") as found:
            recnb.evaluate(recs, frame, duplicates="dedupe")
        assert "dedupe" not in str(found.value)
    assert recnb.evaluate(recs, ratings.stack().dropna()).mrr() == 0.5


@pytest.mark.parametrize("kind", [int, float, str])
def test_repeated_items_in_a_frame_of_ranks_are_repeated_pairs(kind: type) -> None:
    """Only numbers that most rows repeat look like ratings."""
    lists = pd.DataFrame([[5, 7, 5], [7, 5, 9], [9, 7, 5]], ["u", "v", "w"], [1, 2, 3]).astype(kind)
    truth = pd.DataFrame({"user": ["u", "v"], "item": pd.Series([5, 9]).astype(lists[1].iloc[:0].dtype)})
    for frame in (lists, lists.add_prefix("rank_")):
        with pytest.raises(FrameError, match=r"user 'u', item '?5'? \(2 times\)\..*duplicates='dedupe'"):
            recnb.evaluate(frame, truth)
        assert recnb.evaluate(frame, truth, duplicates="dedupe").mrr().per_user.tolist() == [1, 1 / 3]
    lists.loc["w"] = lists.loc["u"]
    expected = r"user 'u', item '5'" if kind is str else r"are ratings.* list each once, and end a list by None\."
    with pytest.raises(FrameError, match=expected):
        recnb.evaluate(lists, truth)


def test_ranks_that_end_early_with_nan() -> None:
    frame = pd.DataFrame({1: [5, 7], 2: [7, np.nan]}, index=["u", "v"])
    assert recnb.evaluate(frame, {"u": {7}, "v": {7}}).mrr() == 0.75


def test_of_many_columns_the_first_are_listed() -> None:
    frame = pd.DataFrame(np.ones((2, 1000)), columns=[f"c{at}x" for at in range(1000)])
    with pytest.raises(FrameError, match="'c9x' and 990 more") as found:
        recnb.evaluate(frame, TRUTH)
    assert len(str(found.value)) < 600


@pytest.mark.parametrize("named", [{}, {"relevance": "true"}, {"relevant": "true"}])
def test_two_columns_of_lists_are_named(named: dict[str, str]) -> None:
    frame = pd.DataFrame({"user": [1, 2], "pred": [["a"], ["b"]], "true": [None, ["b"]]})
    with pytest.raises(FrameError, match=r"recommended='pred', relevant='true'"):
        frame.rec.mrr(**named)
    assert frame.rec.mrr(recommended="pred", relevant="true") == 1


def test_lists_in_cells_have_one_row_a_user() -> None:
    frame = pd.DataFrame({"user": [1, 1], "item": [["a"], ["b"]]})
    with pytest.raises(
        FrameError, match=r"no item id: one id a row is needed, whole numbers or text: frame\.explode\('item'\)"
    ):
        recnb.evaluate(frame, {1: ["a"]})
    assert recnb.evaluate(frame.assign(user=[1, 2]), {1: ["a"]}).recall(k=1) == 1


def test_two_columns_of_users_of_a_frame_of_ranks() -> None:
    frame = pd.DataFrame({"user": [1, 2], "customer": [1, 2], "1": ["a", "b"], "2": ["c", "d"]})
    with pytest.raises(FrameError, match="'user' and 'customer' could each be the user column"):
        recnb.evaluate(frame, {1: ["a"]})
    with pytest.raises(FrameError, match=r"one that is no rank: 'user'\. Drop it: frame\.drop\(columns=\['user'\]\)"):
        recnb.evaluate(frame, {1: ["a"]}, user="customer")
    assert recnb.evaluate(frame.drop(columns="user"), {1: ["a"]}, user="customer").recall(k=1) == 1


COLLECTIONS = {
    "a range": lambda items: range(items[0], items[0] + len(items)),
    "keys of a mapping": lambda items: dict.fromkeys(items).keys(),
    "values of a mapping": lambda items: dict(enumerate(items)).values(),
    "a generator": lambda items: (item for item in items),
    "a map": lambda items: map(int, items),
    "a tensor": lambda items: Tensor(items),
}


class Tensor:
    """What a tensor of torch has of a list."""

    __module__ = "torch"

    def __init__(self, values: list[Any]) -> None:
        self.values, self.shape = values, (len(values),)

    def __iter__(self) -> Any:
        return (Tensor([value]) for value in self.values)

    def tolist(self) -> list[Any]:
        return self.values


@pytest.mark.parametrize("how", COLLECTIONS)
def test_any_collection_is_a_list(how: str) -> None:
    of = COLLECTIONS[how]
    assert recnb.evaluate({"u": of([4, 5, 6])}, {"u": [5]}).mrr() == 0.5
    assert recnb.evaluate({"u": [4, 5, 6]}, {"u": of([5, 6])}).mrr() == 0.5
    if how != "a tensor":
        assert recnb.mrr(of([4, 5, 6]), [5]) == recnb.mrr([4, 5, 6], of([5, 6])) == 0.5


def test_a_matrix_of_another_library_goes_by_user() -> None:
    matrix = Tensor([[4, 5], [5, 4]])
    with pytest.raises(FrameError, match="is a Tensor, which is nothing that recnb reads") as found:
        recnb.evaluate(matrix, {"u": [5], "v": [5]})
    by_user = eval(str(found.value).split("is a mapping: ")[1].removesuffix("."), {"users": "uv", "matrix": matrix})
    assert recnb.evaluate(by_user, {"u": [5], "v": [5]}).mrr() == 0.75
