"""Frames beside recommendations and truth: train, items, users."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import ColumnError, FrameError

RECS = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
TRUTH = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
TRAIN = pd.DataFrame({"user_id": [1, 2, 2], "item_id": ["c", "b", "c"], "rating": [1, 2, 3]})
ITEMS = pd.DataFrame({"movieId": ["a", "b", "c"], "genre": ["x", "y", "x"]})
USERS = pd.DataFrame({"member_id": [1, 2, 3], "segment": ["new", "old", "old"]})


def test_each_is_read_under_its_role() -> None:
    ev = recnb.evaluate(RECS, TRUTH, train=TRAIN, items=pl.from_pandas(ITEMS), users=USERS)
    assert ev._data.side_data.train is not None
    assert ev._data.side_data.train.columns == ["user", "item"]
    assert ev._data.side_data.items is not None
    assert ev._data.side_data.items.columns == ["item", "genre"]
    assert ev._data.side_data.users is not None
    assert ev._data.side_data.users.to_dict(as_series=False) == {"user": [1, 2, 3], "segment": ["new", "old", "old"]}
    assert ev.under("ranx")._data.side_data is ev._data.side_data
    assert recnb.evaluate(RECS, TRUTH, convention="ranx", train=TRAIN)._data.side_data.train is not None


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"train": "train"}, FrameError, "there is no file 'train'"),
        ({"items": ITEMS.assign(movieId=[1, 2, 3])}, FrameError, "items in column 'movieId' whole numbers"),
        ({"users": USERS.assign(member_id=list("abc"))}, FrameError, "users in column 'member_id' text"),
        ({"items": pd.concat([ITEMS, ITEMS])}, FrameError, "item 'a' has more than one row"),
        (
            {"items": ITEMS.rename(columns={"movieId": "thing"})},
            ColumnError,
            "items: no column is known to be the item",
        ),
        ({"train": TRAIN.drop(columns="item_id")}, ColumnError, "train: no column is known to be the item"),
        ({"users": USERS.assign(member_id=[1, None, 3])}, FrameError, "missing"),
    ],
)
def test_what_cannot_be_read(given: dict[str, object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        recnb.evaluate(RECS, TRUTH, **given)


def test_attributes_that_cannot_be_read() -> None:
    items = pd.DataFrame({"item": ["a", "b"], "words": ["x", "y"], "one": [1.0, 0.5], "two": [0.5, 3.0]})
    train = pd.DataFrame({"user": [1, 2], "item": ["a", "b"]})
    ev = recnb.evaluate(RECS, TRUTH, train=train, items=items)
    with pytest.raises(
        FrameError, match="column 'words' holds text, and several columns of features= must hold numbers"
    ):
        ev.diversity(features=["one", "words"])
    with pytest.raises(FrameError, match="column 'one' holds other numbers than 0 and 1, which name no genre"):
        ev.calibration(genre=["one", "two"])
