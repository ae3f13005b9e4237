"""Lists in a split that are elsewhere: the same numbers as of pandas, and the same rows."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.errors import ElsewhereError, FrameError
from tests.data.test_splits import same
from tests.test_splits import frames_of


@pytest.mark.parametrize("held", [["fold", "seed"], ["seed"], []], ids=str)
@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
def test_numbers_are_those_of_pandas(kind: Any, held: list[str], text: bool) -> None:
    recs, truth, _keys = frames_of(21, ["fold", "seed"], text=text)
    lacking = [name for name in ("fold", "seed") if name not in held]
    truth = truth.drop(columns=lacking).drop_duplicates(["user", "item", *held])
    options: dict[str, Any] = {"split": ["fold", "seed"]}
    whole = recnb.evaluate(recs, truth, **options)
    made = kind.evaluate(
        kind.parted(recs), kind.parted(truth, 3), npartitions=3, **options
    )
    same(made, whole)
    key = whole.users[5]
    assert made.user(key, k=4).to_frame().equals(whole.user(key, k=4).to_frame())
    by = [ev.table("ndcg", k=3, by="fold").to_frame() for ev in (made, whole)]
    pd.testing.assert_frame_equal(by[0], by[1])
    found = recnb.compare({"a": made, "b": made}).table("ndcg", k=3).to_frame()
    assert found.iloc[0, 0] == pytest.approx(float(whole.ndcg(k=3)))


def test_what_is_refused(kind: Any) -> None:
    recs, truth, _keys = frames_of(22, ["fold"])

    def value(truth: pd.DataFrame, metric: str = "ndcg", **options: Any) -> Any:
        lists = kind.parted(recs)
        ev = kind.evaluate(lists, kind.parted(truth, 3), split="fold", **options)
        return getattr(ev, metric)(k=2)

    train = truth[["user", "item"]].drop_duplicates()
    with pytest.raises(ElsewhereError, match="with split= and train="):
        value(truth, "novelty", train=train)
    with pytest.raises(FrameError, match="lists of fold=10, and truth has no rows"):
        value(truth[truth["fold"] < 10])
    with pytest.raises(FrameError, match="truth has rows of fold=7"):
        value(pd.concat([truth, truth.assign(fold=7)]))
