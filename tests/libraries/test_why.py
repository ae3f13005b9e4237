"""The way from one number to another ends at the other side, and its changes add up, on frames with every awkward case."""

from __future__ import annotations

import itertools
import math
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import WORDS
from recnb.conventions.presets import of_metric
from recnb.data import read
from recnb.display.language import use_language
from recnb.errors import OptionError, RecnbError
from recnb.libraries.variant import Variant
from recnb.libraries.why import walk
from recnb.metrics.measure import metric_named
from tests.tools.parity.data import data_set

METRICS = ("ndcg", "dcg", "precision", "recall", "f1", "average_precision", "reciprocal_rank", "hit_rate", "rbp")
SAMPLE = recnb.datasets.load_sample()
EV = SAMPLE.models["popular"].rec.against(SAMPLE.test)


def awkward(kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Random frames of a kind: users in one frame only, short lists, judgements of 0."""
    data = data_set(Random(5), kind)
    recs = pd.DataFrame(data["recs"], columns=["user", "item", "score", "rank"])
    return recs, pd.DataFrame(data["truth"], columns=["user", "item", "relevance"])


@pytest.mark.parametrize("metric", [pytest.param(name, marks=() if name in ("ndcg", "recall") else pytest.mark.slow) for name in METRICS])  # fmt: skip
def test_the_way_between_two_presets_adds_up(metric: str) -> None:
    walked = 0
    for kind in ("odd grades", "repeated", "tied"):
        source, numbers = read(*awkward(kind), {}), dict[Any, float]()
        for one in of_metric(metric):
            with suppress(RecnbError):
                numbers[one] = Variant.of_preset(one).measure(source, 2).value
        pairs = list(itertools.permutations(numbers, 2))
        for one, other in pairs[:: max(1, len(pairs) // 60)]:
            way = walk(source, Variant.of_preset(one), source, Variant.of_preset(other), 2)
            assert (way.start.value, way.end.value) == pytest.approx((numbers[one], numbers[other]), nan_ok=True)
            if math.isfinite(numbers[one]) and math.isfinite(numbers[other]):
                added = way.start.value + sum(step.change for step in way.steps)
                assert added == pytest.approx(way.end.value, rel=1e-12, abs=1e-12)
                walked += 1
            assert all(step.was != step.now and (step.n_moved > 0) == (step.most != "") for step in way.steps)
    assert walked > 5


def test_from_an_evaluation_to_a_library() -> None:
    made = EV.why("ndcg", 10, other="rectools")
    assert made.index.tolist() == ["", "gain", "ideal"]
    assert made["value"].iloc[0] == EV.ndcg(k=10)
    end = recnb.as_in("rectools", "ndcg", SAMPLE.models["popular"], SAMPLE.test, k=10)
    assert made["value"].iloc[-1] == pytest.approx(end, abs=1e-12)
    assert made["change"].sum() == pytest.approx(end - EV.ndcg(k=10), abs=1e-12)
    assert "changes nothing on these frames: " in repr(made)
    other = EV.why("ndcg", 10, other="rectools ndcg_achievable", gain="exponential")
    assert other["value"].iloc[0] == EV.ndcg(k=10, gain="exponential")
    assert repr(EV.why("nDCG@10", other="ranx")) == repr(EV.why("ndcg", k=10, other="ranx"))
    with use_language("ko"):
        assert "사용자" in repr(EV.why("ndcg", 10, other="lenskit"))


def test_users_who_moved() -> None:
    """The first has all that is relevant, the second the one item at the end, the third nothing."""
    lists = pd.DataFrame({"user": np.repeat([1, 2, 3], 3), "item": list("abcabdbce"), "score": [3.0, 2.0, 1.0] * 3})
    judged = pd.DataFrame({"user": [1, 1, 2, 3], "item": list("acdz"), "relevance": [1, 3, 2, 1]})
    ev = recnb.evaluate(lists, judged)
    made = ev.why("recall", 3, other=recnb.Convention(relevant_from=3))
    assert made.loc["relevant", ["n_moved", "moved_most"]].tolist() == [2, "2: 1.0000 → not counted"]
    assert made["value"].tolist() == pytest.approx([2 / 3, 1.0])
    made = ev.why("dcg", 3, other=recnb.Convention().with_metric({"discount": "clipped_log"}), log_base=10)
    assert made["from"].iloc[1].endswith(", base 10")
    assert made["value"].iloc[-1] == pytest.approx(float(ev.dcg(k=3, discount="clipped_log", log_base=10)))
    ranked = recnb.evaluate(lists.drop(columns="score").assign(rank=[1, 2, 3] * 3), judged)
    assert "No score in these frames" in repr(ranked.why("ndcg", 2, other="lightgbm"))


KNN = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
STRICT = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test, relevant_from=4, averaged_users="both")
#: From, the metric, to; the number at the end, and which decisions are switched.
WAYS: dict[str, tuple[Any, str, Any, Any, list[str] | None]] = {
    "an evaluation": (EV, "recall", STRICT, STRICT.recall(k=10), ["", "relevant", "averaged_users"]),
    "a convention": (EV, "recall", STRICT.convention, STRICT.recall(k=10), ["", "relevant", "averaged_users"]),
    "itself": (EV, "ndcg", EV, EV.ndcg(k=10), [""]), "other frames": (EV, "ndcg", KNN, KNN.ndcg(k=10), ["", "frames"]),
    "back": (EV.under("trec_eval"), "ndcg", "recnb", EV.ndcg(k=10), None),
    "judged only": (recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test, judged_only=True), "ndcg", "recnb", EV.ndcg(k=10), None),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_to_conventions_and_evaluations(way: str) -> None:
    ev, metric, other, value, decisions = WAYS[way]
    made = ev.why(metric, 10, other=other)
    assert made["value"].iloc[-1] == pytest.approx(float(value), abs=1e-12)
    assert decisions is None or made.index.tolist() == decisions


@pytest.mark.parametrize(
    "given, match",
    [
        ({}, "other='rectools'"), ({"other": 3}, r"\.identify\("), ({"other": [3]}, "name the library"), ({"other": "rectool"}, "no library"),
        ({"other": "rectools precision"}, "computes precision, not ndcg"), ({"other": "rectools ngdc"}, "no metric of rectools"),
        ({"other": "ranx", "metric": "nDCG@5"}, "leave one of them out"), ({"other": "rectools", "metric": "rbp"}, "has no rbp"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_refused(given: dict[str, Any], match: str) -> None:
    with pytest.raises(OptionError, match=match):
        EV.why(**{"metric": "ndcg", "k": 10, **given})


def test_every_word_of_a_convention_is_said() -> None:
    made = partial(Variant.made, "", metric=metric_named("ndcg"), options={})
    for axis, words in WORDS.items():
        assert len({made(recnb.Convention(**{axis: word})).words(axis) for word in words}) == len(words), axis
