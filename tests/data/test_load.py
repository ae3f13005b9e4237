"""What callers hold: mappings, Series, lists in cells, one frame with both sides, and
files, all equal to the same frames.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.conventions import Convention
from recnb.data import tables
from recnb.errors import FrameError, LeftMergeWarning, NoRowsError
from tests import doors
from tests.rows import hold_calls, hold_refusals, read_rows, value_of
from tests.trec import write_qrels, write_run

LISTS = {"ann": ["a", "b", "c"], "bob": ["c", "d", "a"], "cy": ["x", "a", "b"]}
LIKED = {
    "cy": {"b": 1, "q": 2},
    "bob": {"d": 3, "x": 1},
    "ann": {"a": 2, "c": 1},
}  # another order on purpose
SCORED = {
    user: {item: 1 / (3 + at) for at, item in reversed([*enumerate(items)])}
    for user, items in LISTS.items()
}
METRICS = ["ndcg", "recall", "mrr", "average_precision", "precision", "err"]


def recs_of(lists: Any) -> pd.DataFrame:
    rows = [
        (user, item, rank)
        for user, items in lists.items()
        for rank, item in enumerate(items, 1)
    ]
    return pd.DataFrame(rows, columns=["user", "item", "rank"])


def truth_of(liked: Any) -> pd.DataFrame:
    rows = [
        (user, item, grade)
        for user, items in liked.items()
        for item, grade in items.items()
    ]
    return pd.DataFrame(rows, columns=["user", "item", "relevance"])


def numbers(*given: Any, **options: Any) -> Any:
    return recnb.evaluate(*given, **options).table(METRICS, k=[1, 2, None]).to_numpy()


RECS, TRUTH, IDS = recs_of(LISTS), truth_of(LIKED), list(LISTS)
WANT, BINARY = numbers(RECS, TRUTH), numbers(RECS, TRUTH[["user", "item"]])


def same(recs: Any, truth: Any, want: Any = WANT, **options: Any) -> None:
    """Hold that the numbers are those of the frames."""
    assert (numbers(recs, truth, **options) == want).all()


def cells(lists: Any, **columns: Any) -> dict[str, Any]:
    return {
        "user": list(lists),
        **{
            name: [one(items) for items in lists.values()]
            for name, one in columns.items()
        },
    }


def by_pair(numbers: Any) -> dict[tuple[str, str], float]:
    return {
        (user, item): number
        for user, items in numbers.items()
        for item, number in items.items()
    }


def series_by_pair(numbers: Any) -> pd.Series:
    return pd.Series(by_pair(numbers)).rename_axis(["user", "item"])


def structs(items: dict[str, float]) -> list[dict[str, Any]]:
    """As Spark's ALS has them."""
    return [{"item": item, "rating": score} for item, score in items.items()]


class Once:
    """A stream of Arrow and nothing else, which can be read once."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.table = pa.Table.from_pandas(frame, preserve_index=False)
        self.is_read = False

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        assert not self.is_read
        self.is_read = True
        return self.table.__arrow_c_stream__(requested_schema)


class Tensor:
    """What a tensor of torch has of a list."""

    def __init__(self, values: list[Any]) -> None:
        self.values, self.shape = values, (len(values),)

    def __iter__(self) -> Any:
        return (Tensor([value]) for value in self.values)

    def tolist(self) -> list[Any]:
        return self.values


def each(of: Callable[[list[Any]], Any]) -> dict[str, Any]:
    """The collection of each user, in order."""
    return {user: of(items) for user, items in LISTS.items()}


WRITERS: dict[str, Callable[[pd.DataFrame, str], Any]] = {
    "csv": lambda frame, name: frame.to_csv(name, index=False),
    "csv.gz": lambda frame, name: frame.to_csv(name, index=False),
    "tsv": lambda frame, name: frame.to_csv(name, index=False, sep="\t"),
    "parquet": pd.DataFrame.to_parquet,
    "run": write_run,
    "qrels": write_qrels,
}


def in_file(frame: pd.DataFrame, ending: str) -> str:
    """Write a file of the folder, and return its name."""
    name = f"rows.{ending}"
    WRITERS[ending](frame, name)
    return name


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written into a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


class Ranx:
    """What runs and qrels of ranx have, which are known by the package of their class:
    ranx itself was tried by hand.
    """

    __module__ = "ranx.data_structures"

    def __init__(self, by_user: dict[str, dict[str, float]]) -> None:
        self.by_user = by_user

    def to_dict(self) -> dict[str, dict[str, float]]:
        return self.by_user


ROWS = read_rows("data/forms.toml")


def held(side: str, how: str) -> Any:
    """What a row of the file makes."""
    return value_of(ROWS[side][how], globals())


test_a_call_comes_to = hold_calls(read_rows("data/load.toml"), globals())
test_refused = hold_refusals(read_rows("data/load_refused.toml"), globals())


@pytest.mark.parametrize("side", ["truth", "binary"])
def test_forms_of_the_truth(side: str) -> None:
    for how in ROWS[side]:
        for recs in (RECS, SCORED):
            same(recs, held(side, how), WANT if side == "truth" else BINARY)


@pytest.mark.parametrize("how", ROWS["recs"])
def test_every_form_at_every_door(how: str) -> None:
    make = partial(held, "recs", how)
    same(make(), LIKED)
    same(make(), pl.from_pandas(TRUTH))
    for model in recnb.compare({"a": make(), "b": make()}, LIKED).values():
        assert (model.table(METRICS, k=[1, 2, None]).to_numpy() == WANT).all()
    for door in (doors.accessor, doors.command):
        with contextlib.suppress(doors.NotGivenError):
            assert door(make(), TRUTH) == pytest.approx(doors.evaluate(RECS, TRUTH))
    in_ranx = recnb.as_in("ranx", "ndcg", make(), LIKED, k=2)
    assert in_ranx == recnb.as_in("ranx", "ndcg", RECS, LIKED, k=2)
    if "pair" in how or "mapping" in how or how in ("records", "stream of Arrow"):
        train = recnb.evaluate(RECS, TRUTH, train=make()).side_data.train
        assert train.height == len(RECS)


def test_usual_names_of_both_sides() -> None:
    """Two columns of numbers, whose names say which is which."""
    both = pd.DataFrame(
        {"uid": [1, 1], "iid": [1, 2], "a": [0.0, 1.0], "b": [0.2, 0.1]}
    )
    for relevance, score in (
        ("r_ui", "est"),
        ("true_r", "est"),
        ("actual", "predicted"),
        ("click", "ctr"),
        ("stars", "estimate"),
    ):
        named = both.rename(columns={"a": relevance, "b": score})
        assert named.rec.mrr() == 0.5
        assert named[[*reversed(named.columns)]].rec.mrr() == 0.5


def test_a_column_that_the_lists_have_is_that_of_users_in_other_frames() -> None:
    queries = pd.DataFrame({"query_id": IDS, "query": ["text"] * len(IDS)})
    recs, truth = (one.rename(columns={"user": "query_id"}) for one in (RECS, TRUTH))
    users = recnb.evaluate(recs, truth, users=queries).side_data.users
    assert users.columns == ["user", "query"]
    queries["items"] = queries["query_id"]
    with pytest.raises(FrameError, match="could each be the user column"):
        recnb.evaluate(RECS, TRUTH, users=queries)


def test_columns_of_lists_by_keyword() -> None:
    recs = pd.DataFrame(cells(LISTS, best=list, other=lambda _: [1])).rename(
        columns={"user": "who"}
    )
    truth = pd.DataFrame(cells(LIKED, right=dict, wrong=lambda _: [1])).rename(
        columns={"user": "who"}
    )
    same(recs, truth, user="who", recommended="best", relevant="right")
    same(recs, TRUTH, user="who", recommended="best")
    shown = RECS.rename(columns={"item": "ware"}).assign(
        recommended=True
    )  # a row an item, whatever else it says
    same(shown, TRUTH.rename(columns={"item": "ware"}), item="ware")


@pytest.mark.parametrize("how", ROWS["binary"])
def test_train_in_the_forms_of_a_truth(how: str) -> None:
    want = recnb.evaluate(RECS, TRUTH, train=TRUTH[["user", "item"]])
    ev = recnb.evaluate(LISTS, LIKED, train=held("binary", how))
    assert ev.novelty(k=3) == want.novelty(k=3)
    in_ranx = [one.under("ranx").novelty(k=3) for one in (ev, want)]
    assert in_ranx[0] == in_ranx[1]


# ---- one frame with both sides


def outer() -> pd.DataFrame:
    return TRUTH.merge(RECS, how="outer", on=["user", "item"])


#: Forms of one frame with both sides.
FORMS: list[Callable[[pd.DataFrame], Any]] = [
    pd.DataFrame,
    lambda frame: frame.convert_dtypes(),
    pl.from_pandas,
    lambda frame: pl.from_pandas(frame).lazy(),
    lambda frame: pa.Table.from_pandas(frame),
    lambda frame: duckdb.from_arrow(pa.Table.from_pandas(frame)),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_list_of_either_side_for_each_user(
    form: Callable[[pd.DataFrame], Any],
) -> None:
    bought = [list(LIKED[user]) for user in LISTS]
    frame = pd.DataFrame(cells(LISTS, shown=list)).assign(bought=bought)
    same(form(frame), None, BINARY, recommended="shown", relevant="bought")


@pytest.mark.thin
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "ask",
    [
        recnb.evaluate,
        lambda one: recnb.as_in("rectools", "recall", one, k=3),
        lambda one: recnb.compare({"a": one, "b": one}),
    ],
)
def test_a_left_merge_is_warned_of(
    form: Callable[[pd.DataFrame], Any], ask: Callable[[Any], Any]
) -> None:
    """The warning is at the line of the call; the frames before it have no such loss."""
    merged = RECS.merge(TRUTH, how="left")
    with pytest.warns(LeftMergeWarning, match=r"recs\.rec\.against\(truth\)") as caught:
        ask(form(merged))
    assert [warning.filename for warning in caught] == [__file__]
    # With a label in every row, and with what was missed, nothing looks lost.
    ask(form(merged.fillna({"relevance": 0})))
    ask(form(outer()))


@pytest.mark.parametrize("form", [pd.DataFrame, pl.from_pandas])
@pytest.mark.filterwarnings("default")
def test_a_left_merge_is_warned_of_once_a_frame(
    form: Callable[[pd.DataFrame], Any],
) -> None:
    merged = form(RECS.merge(TRUTH, how="left").query("rank < 3"))
    with pytest.warns(LeftMergeWarning) as caught:
        merged.rec.report(k=2).to_html()
    assert [warning.filename for warning in caught] == [__file__]
    models = pd.concat([RECS.assign(model="a"), RECS.assign(model="b")])
    merged = form(models.merge(TRUTH, how="left"))
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        merged.rec.compare()
    assert [warning.category for warning in shown] == [LeftMergeWarning]
    with pytest.warns(LeftMergeWarning):
        recnb.evaluate(in_file(RECS.merge(TRUTH, how="left"), "csv"))


def test_the_lint_names_a_left_merge() -> None:
    merged = RECS.merge(TRUTH, how="left")
    with pytest.warns(LeftMergeWarning):
        finding = merged.rec.lint()["nothing_missed"]
    assert finding.severity == "warning"
    # Nine rows, of which four are relevant.
    assert "Rows without relevance: 5 of 9" in finding.effect
    assert "`recs.rec.against(truth)`" in finding.advice
    labelled = merged.fillna({"relevance": 0}).rec.lint()["nothing_missed"]
    assert "left merge" not in labelled.effect


@pytest.mark.parametrize("how", ROWS["twice"])
def test_an_item_twice_is_refused_where_a_number_sees_the_list(how: str) -> None:
    lists = held("twice", how)
    truth = {"ann": {"b": 1}}
    ev = recnb.evaluate(lists, truth)
    assert ev.reciprocal_rank() == 0.5
    assert ev.reciprocal_rank().n_users == 1
    with pytest.raises(FrameError, match=r"user 'bob', item 'x' \(2 times\)"):
        recnb.evaluate(lists, {**truth, "bob": {"a": 1}})
    with pytest.raises(FrameError, match=r"user 'bob', item 'x' \(2 times\)"):
        recnb.evaluate(lists, truth, averaged_users="recs", no_relevant="zero")


# ---- files


def test_a_stream_of_arrow_is_a_frame_beside_lists_too() -> None:
    """Of what is known of users and items, and where propensities are estimated."""
    sample = recnb.datasets.load_sample()
    frames = {"train": sample.train, "items": sample.items, "users": sample.users}
    streams = {name: Once(frame) for name, frame in frames.items()}
    recs, truth = sample.models["item-knn"], sample.test
    ev, of_frames = (recs.rec.against(truth, **beside) for beside in (streams, frames))
    assert ev.beyond(k=5).equals(of_frames.beyond(k=5))
    segments = ev.table("ndcg", k=5, by="segment")
    assert segments.equals(of_frames.table("ndcg", k=5, by="segment"))
    estimated = recnb.popularity_propensity(Once(sample.train), gamma=1.5)
    assert estimated.equals(recnb.popularity_propensity(sample.train, gamma=1.5))


# ---- files as they are written

TREC = read_rows("data/trec.toml")
READERS = {"run": recnb.read_trec_run, "qrels": recnb.read_trec_qrels}


def _file(folder: Path, text: str, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("kind", "row"),
    [(kind, row) for kind, rows in TREC["broken"].items() for row in rows],
)
def test_what_is_broken_is_refused(
    tmp_path: Path, kind: str, row: dict[str, str]
) -> None:
    for path, said in (
        (_file(tmp_path, row["text"]), row["words"]),
        (tmp_path / "none", "there is no file '.*none'"),
        (tmp_path, "is a folder"),
        ("x" * 300, "there is no file 'xxx"),
    ):
        with pytest.raises(FrameError, match=said):
            READERS[kind](path)


def test_folders_whose_keys_are_one_number_are_refused(tmp_path: Path) -> None:
    for user in ("01", "1", "10"):
        (tmp_path / f"user={user}").mkdir()
        items = pl.DataFrame({"item": ["a", "b"], "rank": [1, 2]})
        items.write_parquet(tmp_path / f"user={user}" / "0.parquet")
    truth = {1: ["a"], 10: ["b"]}
    with pytest.raises(FrameError, match="'user=01' and 'user=1', whose keys are read"):
        recnb.evaluate(tmp_path, truth)
    (tmp_path / "user=1" / "0.parquet").unlink()
    assert recnb.evaluate(tmp_path, truth).mrr() == 0.75, "01 alone is 1"


@pytest.mark.parametrize("ending", [".parquet", ".pq", ".PARQUET"])
def test_files_of_a_folder_are_parquet_by_their_endings(
    tmp_path: Path, ending: str
) -> None:
    for user, name in ((1, "a.parquet"), (2, f"b{ending}")):
        rows = pl.DataFrame({"user": [user], "item": ["a"], "rank": [1]})
        rows.write_parquet(tmp_path / name)
    (tmp_path / "_SUCCESS").touch()
    truth = {1: ["a"], 2: ["a"]}
    assert recnb.evaluate(tmp_path, truth).mrr() == 1
    assert recnb.evaluate(tmp_path / f"b{ending}", truth).mrr() == 0.5, "a file alone"


@pytest.mark.parametrize("kind", READERS)
def test_a_file_as_trec_eval_reads_it(tmp_path: Path, kind: str) -> None:
    row = TREC["read"][kind]
    read = READERS[kind](_file(tmp_path, row["text"]))
    assert read.to_dict("list") == row["columns"]


def test_an_empty_list_of_the_truth_is_known_wherever_its_lists_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In memory, in files, compared, of some users."""
    lists = {"u1": ["a"], "u2": ["b"], "u9": ["c"]}
    truth: dict[str, list[str]] = {"u1": ["a"], "u2": ["b"], "u9": []}
    rows = pl.DataFrame({"user": [*lists], "item": ["a", "b", "c"], "rank": 1})
    compared = recnb.compare({"x": lists, "y": lists}, truth, candidates="catalogue")
    evaluations = [recnb.evaluate(lists, truth), compared["x"]]
    evaluations.append(recnb.evaluate(rows.lazy(), truth))
    monkeypatch.setattr(tables, "ROWS_IN_MEMORY", 0)
    evaluations.append(recnb.evaluate(rows.lazy(), truth))
    for evaluation in evaluations:
        some = evaluation.source.among(evaluation.joined.users.head(1))
        for source in (evaluation.source, some):
            with pytest.raises(FrameError, match="the list of 'u9' is empty"):
                source.under(Convention(no_relevant="zero"))


@pytest.mark.parametrize("how", ROWS["empty"])
def test_lists_that_are_all_empty_count_0(how: str) -> None:
    """As an empty list beside others does: each has a truth, and finds nothing."""
    lists, truth = held("empty", how), {"ann": ["a"], "bob": ["b"]}
    ev = recnb.evaluate(lists, truth)
    assert ev.ndcg(k=2).per_user.to_dict() == {"ann": 0, "bob": 0}
    assert "2 of them without a list, which counts 0" in ev.basis
    assert recnb.as_in("ranx", "recall", lists, truth, k=2) == 0
    found = recnb.compare({"full": truth, "empty": lists}, truth)
    assert found.table("recall", k=2).to_frame().to_numpy().tolist() == [[1], [0]]
    assert "Comparison" in repr(found.report(k=2))
    with pytest.raises(NoRowsError):  # of nobody whom the truth knows
        recnb.evaluate(lists, {"cy": ["a"]})
