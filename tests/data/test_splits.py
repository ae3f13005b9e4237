"""Lists in a split by whichever way frames come in, and what is refused of them."""

from __future__ import annotations

import datetime as dt
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import recnb
from recnb import errors
from recnb.errors import (
    ElsewhereError,
    FrameError,
    OptionError,
    UnknownUserError,
)
from tests.laws.test_splits import as_dict, frames_of
from tests.random_frames import sized
from tests.refused import names
from tests.rows import read_rows

METRICS = ["ndcg", "average_precision", "err"]


def same(made: Any, whole: Any) -> None:
    """Whether two evaluations have the same numbers, lists and line."""
    for metric in METRICS:
        ours, theirs = (getattr(ev, metric)(k=3) for ev in (made, whole))
        assert as_dict(ours.per_user) == pytest.approx(as_dict(theirs.per_user))
        assert float(ours) == pytest.approx(float(theirs), abs=1e-12)
        assert ours.basis == theirs.basis


FORMS = {
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "dataset": lambda frame: ds.dataset(
        pa.Table.from_pandas(frame, preserve_index=False)
    ),
    "categories": lambda frame: frame.astype(
        dict.fromkeys([*frame.columns][3:], "category")
    ),
}


@pytest.mark.thin
@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
@pytest.mark.parametrize("held", [["seed", "day"], ["day"], []], ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("in_files", [False, True], ids=["in memory", "in files"])
def test_frames_of_every_library(
    form: str, held: list[str], text: bool, in_files: bool, monkeypatch: Any
) -> None:
    recs, truth, _keys = frames_of(11, ["seed", "day"], text=text)
    lacking = [name for name in ("seed", "day") if name not in held]
    truth = truth.drop(columns=lacking).drop_duplicates(["user", "item", *held])
    whole = recnb.evaluate(recs, truth, split=["seed", "day"])
    if in_files:
        sized(monkeypatch)
    made = recnb.evaluate(FORMS[form](recs), FORMS[form](truth), split=["seed", "day"])
    same(made, whole)
    assert made.counts == whole.counts
    key = whole.users[7]
    pd.testing.assert_frame_equal(
        made.user(key, k=4).to_frame(), whole.user(key, k=4).to_frame()
    )
    by = [ev.table(METRICS, k=3, by="day").to_frame() for ev in (made, whole)]
    pd.testing.assert_frame_equal(by[0], by[1], check_exact=False)
    same(pickle.loads(pickle.dumps(made)), whole)


def test_rows_in_files_with_weights(monkeypatch: Any) -> None:
    recs, truth, _keys = frames_of(12, ["fold"])
    users = pd.DataFrame({"user": range(12), "weight": range(1, 13)})
    pairs = pd.MultiIndex.from_product([range(12), range(9)], names=["user", "item"])
    propensity = pd.Series(np.linspace(0.1, 1, len(pairs)), pairs)
    options: dict[str, Any] = {"split": "fold", "users": users}
    options |= {"user_weight": "weight", "propensity": propensity}
    whole = recnb.evaluate(recs, truth, **options)
    sized(monkeypatch)
    lazy = pl.from_pandas(recs).lazy()
    made = recnb.evaluate(lazy, truth, **options)
    for ev in (made, whole):
        assert "lists of 12 users in 3 values of fold" in ev.dcg(k=3).basis
    assert float(made.dcg(k=3)) == pytest.approx(float(whole.dcg(k=3)))
    with pytest.raises(ElsewhereError, match="stay in a lazy frame"):
        made.coverage(k=3)


def test_a_folder_for_each_day(tmp_path: Path) -> None:
    recs, truth, _keys = frames_of(13, ["day"], text=True)
    for name, frame in (("recs", recs), ("truth", truth)):
        for day, rows in frame.groupby("day"):
            folder = tmp_path / name / f"day={day}"
            folder.mkdir(parents=True)
            rows.drop(columns="day").to_parquet(folder / "0.parquet")
    made = recnb.evaluate(str(tmp_path / "recs"), str(tmp_path / "truth"), split="day")
    same(made, recnb.evaluate(recs, truth, split="day"))


def test_text_files_with_folds_as_text_and_as_numbers(tmp_path: Path) -> None:
    recs, truth, _keys = frames_of(14, ["fold"])
    recs.to_csv(tmp_path / "recs.csv", index=False)
    truth.to_csv(tmp_path / "truth.csv", index=False)
    made = recnb.evaluate(
        str(tmp_path / "recs.csv"), str(tmp_path / "truth.csv"), split="fold"
    )
    same(made, recnb.evaluate(recs, truth, split="fold"))


def test_one_frame_with_both_sides_and_the_accessor() -> None:
    recs, truth, _keys = frames_of(15, ["fold"])
    whole = recnb.evaluate(recs, truth, split="fold")
    both = recs.merge(truth, on=["user", "item", "fold"], how="outer")
    both = both.sort_values("score", ascending=False, kind="stable")
    wanted = recnb.evaluate(both.dropna(subset="score"), truth, split="fold")
    for frame in (both, pl.from_pandas(both), pl.from_pandas(both).lazy()):
        score = frame.rec.ndcg(k=3, split="fold")
        values = recnb.evaluate(
            both.dropna(subset="score").drop(columns="relevance"), truth, split="fold"
        )
        assert float(score) == pytest.approx(float(values.ndcg(k=3)))
    assert wanted.n_users == whole.n_users
    assert float(recs.rec.against(truth, split="fold").ndcg(k=3)) == whole.ndcg(k=3)
    explained = both.rec.explain("ndcg", (0, 10), 3, split="fold")
    assert "0 [fold=10]" in repr(explained)


def test_lists_in_cells_and_mappings() -> None:
    cells = pd.DataFrame(
        {
            "user": ["u", "v", "u", "v"],
            "day": ["mon", "mon", "tue", "tue"],
            "recommended": [["a", "b"], ["b"], ["b", "a"], ["c", "a"]],
        }
    )
    relevant = cells.rename(columns={"recommended": "relevant"})
    relevant["relevant"] = [["b"], ["b"], ["b", "c"], ["a"]]
    ev = recnb.evaluate(cells, relevant, split="day")
    values = ev.reciprocal_rank(k=2).per_user
    assert values.to_dict() == {
        ("u", "mon"): 0.5,
        ("u", "tue"): 1.0,
        ("v", "mon"): 1.0,
        ("v", "tue"): 0.5,
    }
    # Truth that lacks the day holds for each.
    held = recnb.evaluate(cells, {"u": ["b"], "v": ["a"]}, split="day")
    assert held.reciprocal_rank(k=2).per_user.to_list() == [0.5, 1.0, 0.0, 0.5]
    with pytest.raises(FrameError, match="recommendations have no column 'day'"):
        recnb.evaluate({"u": ["a"]}, {"u": ["a"]}, split="day")
    with pytest.raises(FrameError, match="more than one list of user"):
        recnb.evaluate(cells, relevant)


# ---- what is refused

RECS, TRUTH = names.DAYS, names.JUDGED

REFUSED = read_rows("refused/splits.toml")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_of_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sized(monkeypatch, held=0)

    def evaluate(recs: pd.DataFrame, truth: pd.DataFrame, split: Any) -> recnb.Score:
        return recnb.evaluate(pl.LazyFrame(recs), truth, split=split).ndcg(k=2)

    row = REFUSED[name]
    with pytest.raises(getattr(errors, row["error"])) as raised:
        eval(row["call"], {**vars(names), "evaluate": evaluate})
    for words in row.get("parts", row["words"]):
        assert words in str(raised.value)


def test_a_user_of_several_lists_is_told_how_to_name_one() -> None:
    ev = recnb.evaluate(RECS, TRUTH, split="day")
    for ask in (ev.user, lambda user: ev.explain("ndcg", user, k=2)):
        with pytest.raises(UnknownUserError, match="user u has 2 lists") as problem:
            ask("u")
        name = re.search("such as '(.*)'", str(problem.value))
        assert name is not None
        assert ask(name[1]) is not None
        with pytest.raises(UnknownUserError, match="'w' is not evaluated"):
            ask("w")


def test_a_list_is_named_by_its_user_and_day_and_by_nothing_like_them() -> None:
    days = pd.to_datetime(["2024-05-01", "2024-05-02"])
    truth = pd.DataFrame({"user": 1, "item": ["a", "b"], "day": days})
    ev = recnb.evaluate(truth.assign(rank=1), truth, split="day")
    for day in (days[0], dt.date(2024, 5, 1), "2024-05-01"):
        assert "1 [day=2024-05-01]" in repr(ev.explain("recall", (1, day), k=1))
    for key in ((1, "2024-05"), ("1", days[0]), (1, dt.date(2024, 5, 3)), (1,)):
        name = re.escape(f"user {key!r} is not evaluated")
        with pytest.raises(UnknownUserError, match=name):
            ev.explain("recall", key, k=1)


def test_lists_whose_names_are_alike_are_told_apart() -> None:
    recs = pd.DataFrame({"user": "u [x", "item": ["a", "b"], "rank": 1})
    recs = recs.assign(day=["1, s=2", "1"], s=["3", "2, s=3"])
    ev = recnb.evaluate(recs, {"u [x": ["b"]}, split=["day", "s"])
    values = {("u [x", "1", "2, s=3"): 1.0, ("u [x", "1, s=2", "3"): 0.0}
    assert ev.recall(k=1).per_user.to_dict() == values
    for key, value in values.items():
        assert ev.explain("recall", key, k=1).value == value
    name = "u [x [day=1, s=2, s=3]"
    assert repr(ev.user(("u [x", "1", "2, s=3"))).startswith(f"user {name}: found 1")
    with pytest.raises(UnknownUserError, match="is not evaluated"):
        ev.user(name)


def test_times_less_than_a_microsecond_apart_are_refused() -> None:
    start = pd.Timestamp("2024-05-01 03:00").as_unit("ns")
    times = [start + pd.Timedelta(n, "ns") for n in (0, 1000, 2)]
    recs = pd.DataFrame({"user": 1, "item": [*"abc"], "at": times, "rank": 1})
    with pytest.raises(FrameError, match=r"recommendations: .* in nanoseconds"):
        recnb.evaluate(recs, TRUTH.assign(user=1), split="at")
    recs = recs.assign(at=recs["at"].dt.floor("us")).drop(index=2)
    with pytest.raises(FrameError, match=r"truth: .* in nanoseconds"):
        recnb.evaluate(recs, recs.assign(at=times[1:]), split="at")
    assert recnb.evaluate(recs, recs, split="at").n_lists == 2


def test_a_column_of_the_truth_alone_is_asked_for_by_its_name() -> None:
    recs = RECS[["user", "item", "rank"]].head(2)
    with pytest.raises(OptionError, match="say by='day' where you ask") as problem:
        recnb.evaluate(recs, TRUTH, split="day")
    assert "split='day' is a column of the truth alone" in str(problem.value)
    recnb.evaluate(recs, TRUTH).table("ndcg", k=1, by="day")
    with pytest.raises(OptionError, match="'split' is no option of evaluate_groups"):
        recnb.evaluate_groups([1, 0], [1.0, 0.5], group=[2], split="day")


def test_lists_of_several_days_taken_as_one_are_noted() -> None:
    recs, truth, _keys = frames_of(16, ["day"])
    recs = recs.drop_duplicates(["user", "item"]).assign(genre=lambda f: f["item"] % 3)
    truth = truth.drop_duplicates(["user", "item"]).assign(
        genre=lambda f: f["item"] % 3
    )
    note = "The lists of all values of `day` of a user are taken as one"
    lint = recnb.evaluate(recs, truth).lint()
    assert note in str(lint)
    assert "`genre`" not in str(lint)
    assert lint["lists_taken_as_one"].code == "split='day'"
    for options in ({"split": "day"}, {}):
        other = truth if options else truth.assign(day="never")
        found = recnb.evaluate(recs, other, **options).lint()
        assert "taken as one" not in str(found)
    with pytest.raises(OptionError, match="evaluate with split='day'"):
        recnb.evaluate(recs, truth).table("ndcg", k=3, by="day")
