"""Lists in a split that are elsewhere: the same numbers as of pandas, and the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import METRICS
from tests.data.test_splits import same
from tests.laws.test_splits import as_dict, frames_of

pytestmark = pytest.mark.thin


@pytest.fixture
def own_metric() -> Iterator[Any]:
    """A metric of the caller's, of hits."""

    @recnb.metric(symbol="Steep", credit="1 / rank^2", out_of="k", bounds=(0, 1))
    def steep(hits, k=None):
        """How high the hits are."""
        return Credit(hits, k, 1 / hits.rank**2, out_of_count(hits, k, "k"))

    yield steep
    del METRICS[steep.name]


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


def test_weights_intervals_and_metrics_of_ones_own_are_those_of_pandas(
    kind: Any, own_metric: Any
) -> None:
    recs, truth, _keys = frames_of(23, ["fold"], n_users=90)
    truth["p"] = np.random.default_rng(23).integers(1, 9, len(truth)) / 8
    users = pd.DataFrame({"user": range(90)})
    users = users.assign(weight=users["user"] % 3 + 1, topic=users["user"] % 37)
    options: dict[str, Any] = {"split": "fold", "users": users}
    metrics = {
        "dcg": {"propensity": "p"},
        "precision": {"user_weight": "weight"},
        "ndcg": {"cluster": "topic"},
        own_metric: {},
    }
    for metric, more in metrics.items():
        whole = recnb.evaluate(recs, truth, **options, **more)
        made = kind.evaluate(
            kind.parted(recs), kind.parted(truth, 3), npartitions=3, **options, **more
        )
        ours, theirs = (ev.measure(metric, k=3) for ev in (made, whole))
        assert as_dict(ours.per_user) == pytest.approx(as_dict(theirs.per_user))
        assert float(ours) == pytest.approx(float(theirs), abs=1e-12)
        assert list(ours.interval()) == pytest.approx(list(theirs.interval()))
        assert np.isfinite(list(ours.interval())).all()
        assert (ours.n_users, ours.n_lists) == (theirs.n_users, theirs.n_lists)
        by = [ev.table([metric], k=3, by="fold").to_frame() for ev in (made, whole)]
        pd.testing.assert_frame_equal(by[0], by[1], check_exact=False)


def test_differences_of_models_are_those_of_pandas(kind: Any) -> None:
    recs, truth, _keys = frames_of(24, ["fold"], n_users=30)
    other = recs.assign(score=np.random.default_rng(24).random(len(recs)))
    # Lists of one model alone come before all others.
    first = other.drop_duplicates(["item", "fold"]).assign(user=-1)
    models = {"a": recs, "b": pd.concat([other, first])}
    found = recnb.compare(models, truth, split="fold", baseline="a")
    evaluations = {
        name: kind.evaluate(kind.parted(rows), kind.parted(truth, 3), split="fold")
        for name, rows in models.items()
    }
    made = recnb.compare(evaluations, baseline="a")
    for by in (None, "fold"):
        ours, theirs = (
            each.differences("ndcg", k=3, by=by).to_frame() for each in (made, found)
        )
        pd.testing.assert_frame_equal(ours, theirs, check_exact=False)
    runs = [each.runs("ndcg", k=3, test_share=0.2) for each in (made, found)]
    pd.testing.assert_frame_equal(runs[0].to_frame(), runs[1].to_frame())
    pd.testing.assert_frame_equal(*(each.differences.to_frame() for each in runs))


def test_what_is_refused(kind: Any) -> None:
    recs, truth, _keys = frames_of(22, ["fold"])

    def value(truth: pd.DataFrame) -> recnb.Score:
        lists = kind.parted(recs)
        return kind.evaluate(lists, kind.parted(truth, 3), split="fold").ndcg(k=2)

    with pytest.raises(FrameError, match="lists of fold=10, and truth has no rows"):
        value(truth[truth["fold"] < 10])
    with pytest.raises(FrameError, match="truth has rows of fold=7"):
        value(pd.concat([truth, truth.assign(fold=7)]))
