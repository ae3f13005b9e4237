"""Lists in a split by whichever way frames come in; refusals are rows of
refused/splits.toml.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recnb
from recnb.errors import UnknownUserError
from tests.laws.test_splits import as_dict, frames_of

METRICS = ["ndcg", "average_precision", "err"]


def same(made: Any, whole: Any) -> None:
    """Whether two evaluations have the same numbers, lists and line."""
    for metric in METRICS:
        ours, theirs = (getattr(ev, metric)(k=3) for ev in (made, whole))
        assert as_dict(ours.per_user) == pytest.approx(as_dict(theirs.per_user))
        assert float(ours) == pytest.approx(float(theirs), abs=1e-12)
        assert ours.basis == theirs.basis


def in_folders(frame: pd.DataFrame, path: Path) -> Path:
    """Write a folder for each day."""
    for day, rows in frame.groupby("day"):
        folder = path / f"day={day}"
        folder.mkdir(parents=True)
        rows.drop(columns="day").to_parquet(folder / "0.parquet")
    return path


def in_text(frame: pd.DataFrame, path: Path) -> Path:
    """Write a file of text."""
    file = path.with_suffix(".csv")
    frame.to_csv(file, index=False)
    return file


FORMS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "polars": lambda frame, _: pl.from_pandas(frame),
    "lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame, _: pa.Table.from_pandas(frame, preserve_index=False),
    "categories": lambda frame, _: frame.astype({"day": "category"}),
    "folders": in_folders,
    "text": in_text,
}


@pytest.mark.parametrize("form", FORMS)
def test_frames_of_every_form(form: str, tmp_path: Path) -> None:
    recs, truth, _keys = frames_of(11, ["seed", "day"], text=True)
    if form == "text":  # where a date is text
        recs, truth = (frame.astype({"day": str}) for frame in (recs, truth))
    whole = recnb.evaluate(recs, truth, split=["seed", "day"])
    made = recnb.evaluate(
        FORMS[form](recs, tmp_path / "recs"),
        FORMS[form](truth, tmp_path / "truth"),
        split=["seed", "day"],
    )
    same(made, whole)
    assert made.counts == whole.counts
    same(pickle.loads(pickle.dumps(made)), whole)


def test_one_frame_with_both_sides_and_the_accessor() -> None:
    recs, truth, _keys = frames_of(15, ["fold"])
    options = {"split": "fold", "ties": "item_asc"}
    whole = recnb.evaluate(recs, truth, **options)
    both = recs.merge(truth, on=["user", "item", "fold"], how="outer")
    wanted = as_dict(whole.ndcg(k=3).per_user)
    for frame in (both, pl.from_pandas(both), pl.from_pandas(both).lazy()):
        assert as_dict(frame.rec.ndcg(k=3, **options).per_user) == wanted
    same(recs.rec.against(truth, **options), whole)


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


def test_lists_whose_names_are_alike_are_told_apart() -> None:
    recs = pd.DataFrame({"user": "u [x", "item": ["a", "b"], "rank": 1})
    recs = recs.assign(day=["1, s=2", "1"], s=["3", "2, s=3"])
    ev = recnb.evaluate(recs, {"u [x": ["b"]}, split=["day", "s"])
    values = {("u [x", "1", "2, s=3"): 1.0, ("u [x", "1, s=2", "3"): 0.0}
    assert ev.recall(k=1).per_user.to_dict() == values
    for name in ("u [x", "u [x [day=1, s=2, s=3]"):
        with pytest.raises(UnknownUserError, match=r"^list .* is not evaluated"):
            ev.user(name)
