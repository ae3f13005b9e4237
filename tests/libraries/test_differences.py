"""The way from one number to another adds up; which libraries print a given number of
the same frames.
"""

from __future__ import annotations

import itertools
import math
from contextlib import suppress
from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import of_metric
from recnb.data.names import RECS, TRUTH
from recnb.data.read import read_tables, tables_of
from recnb.errors import RecnbError
from recnb.libraries import as_in
from recnb.libraries.identify import printed_number
from recnb.libraries.number import Measurement, Variant
from recnb.libraries.why import walk
from tests.presets import cut_at
from tests.rows import hold_calls, hold_refusals, read_rows
from tests.sample import SAMPLE
from tests.tools.parity.data import data_set

METRICS = (
    "ndcg",
    "dcg",
    "precision",
    "recall",
    "f1",
    "average_precision",
    "reciprocal_rank",
    "hit_rate",
    "rbp",
)
EV = SAMPLE.models["popular"].rec.against(SAMPLE.test)


def awkward(kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Random frames of a kind: users in one frame only, short lists, judgements of 0."""
    data, columns = data_set(Random(5), kind), ["user", "item", "score", "rank"]
    return pd.DataFrame(data["recs"], columns=columns), pd.DataFrame(
        data["truth"], columns=["user", "item", "relevance"]
    )


@pytest.mark.parametrize(
    "metric",
    [
        pytest.param(name, marks=() if name in ("ndcg", "recall") else pytest.mark.slow)
        for name in METRICS
    ],
)
def test_the_way_between_two_presets_adds_up(metric: str) -> None:
    walked = 0
    for kind in ("odd grades", "repeated", "tied"):
        frames = dict(zip((RECS, TRUTH), awkward(kind), strict=True))
        source = read_tables(*tables_of(frames, {}))
        numbers = dict[Variant, Measurement]()
        for one in map(Variant.of_preset, of_metric(metric)):
            with suppress(RecnbError):
                numbers[one] = one.measure(source, 2)
        pairs = list(itertools.permutations(numbers, 2))
        for one, other in pairs[:: max(1, len(pairs) // 60)]:
            start, end = numbers[one], numbers[other]
            axes = one.differing_axes(other)
            taken = replace(one, preset=None)
            for axis in axes:
                taken = taken.taking(axis, other)
            assert taken == replace(other, preset=None, name=one.name)
            rows, notes = walk(axes, one, other, start, end, source, 2)
            together = [row for row in rows if ", " in row[0]]
            assert len(together) <= " ".join(notes).count("switched together")
            before = start.value
            for decisions, ours, theirs, value, change, n_moved, _most in rows:
                assert change == pytest.approx(value - before, nan_ok=True)
                assert ours != theirs
                assert n_moved or change
                assert {*decisions.split(", ")} <= {*axes}
                before = value
            assert before == pytest.approx(end.value, nan_ok=True)
            walked += math.isfinite(end.value - start.value)
    assert walked > 5


def test_users_who_moved() -> None:
    """The first has all that is relevant, the second the one item at the end, the third
    nothing; the fourth has all, before and after.
    """
    lists = pd.DataFrame(
        {
            "user": np.repeat([1, 2, 3, 4], 3),
            "item": list("abcabdbceabc"),
            "score": [3.0, 2.0, 1.0] * 4,
        }
    )
    judged = pd.DataFrame(
        {"user": [1, 1, 2, 3, 4], "item": [*"acdzc"], "relevance": [1, 3, 2, 1, 3]}
    )
    ev = recnb.evaluate(lists, judged)
    made = ev.why("recall", 3, other=recnb.Convention(relevant_from=3))
    assert made["n_moved"].tolist() == [0, 2]
    assert made["moved_most"].tolist() == ["", "2: 1.0000 → not counted"]
    assert made["value"].tolist() == pytest.approx([3 / 4, 1.0])
    tied = pd.DataFrame({"user": [1, 1, 2, 2], "item": [*"abba"], "score": 1.0})
    made = recnb.evaluate(tied, {1: ["a"], 2: ["a"]}).why(
        "mrr", 2, other=recnb.Convention(ties="last")
    )
    assert made["n_moved"].tolist() == [0, 2]  # one up, one down
    assert made["change"].tolist()[1:] == [0.0]
    options = {"gain": "exponential", "discount": "clipped_log"}
    other = recnb.Convention().with_metric(options)
    made = ev.why("dcg", 3, other=other, log_base=10)
    gain, discount = made["from"][1:]
    assert (gain, discount) == ("linear gain", "discount log10(1 + rank)")
    assert made["value"].iloc[-1] == pytest.approx(
        float(ev.dcg(k=3, log_base=10, **options))
    )
    ranked = recnb.evaluate(
        lists.drop(columns="score").assign(rank=[1, 2, 3] * 4), judged
    )
    assert "No score in these frames" in repr(ranked.why("ndcg", 2, other="lightgbm"))

    ev = recnb.evaluate({1: ["a"]}, {1: ["b"], 2: ["c"]})
    made = ev.why("recall", 2, other="evidently recall[list]")
    assert "2 users at the start, 0 at the end" in " ".join(repr(made).split())


KNN = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
STRICT = recnb.evaluate(
    SAMPLE.models["popular"], SAMPLE.test, relevant_from=4, averaged_users="both"
)
JUDGED_ONLY = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test, judged_only=True)
#: Frames that only the decision beside them makes a number of.
RANKED = SAMPLE.models["popular"].drop(columns="score")
OF_RANKS = recnb.evaluate(RANKED, SAMPLE.test)
REPEATED = recnb.evaluate(
    pd.concat([RANKED, RANKED[:5].assign(rank=range(21, 26))]),
    SAMPLE.test,
    duplicates="dedupe",
)
#: From, the metric, to; the number at the end, and which decisions are switched.
WAYS = read_rows("libraries/ways.toml")


@pytest.mark.parametrize("way", WAYS)
def test_to_conventions_and_evaluations(way: str) -> None:
    metric, value, decisions = WAYS[way]
    start, other = (eval(side) for side in way.split(" -> "))
    made = start.why(metric, 10, other=other)
    assert made["value"].iloc[-1] == pytest.approx(float(eval(value)), abs=1e-12)
    assert not decisions or made.index.tolist() == ["", *decisions]


test_a_call_comes_to = hold_calls(read_rows("libraries/calls.toml"), globals())
test_what_is_asked_wrongly_is_refused = hold_refusals(
    read_rows("libraries/why_refused.toml"), globals()
)


# All libraries


@pytest.mark.thin
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize(
    "metric", ["ndcg", "precision", "average_precision", "reciprocal_rank", "err"]
)
def test_each_number_is_what_the_library_would_return(metric: str, part: int) -> None:
    clean, truth = awkward("tied")
    ev = recnb.evaluate(clean, truth, order="score")
    found = cache(lambda printed: ev.identify(metric, printed, 3))
    for preset in of_metric(metric)[part::3]:
        asked = (preset.library, preset.variant, clean, truth)
        try:
            value = as_in(*asked, cut_at(preset.library, preset.variant, 3))
        except RecnbError:
            value = math.nan
        if math.isnan(value):
            assert preset.label not in found("0.5").index
            continue
        fits = found(f"{value:.9f}")
        assert fits.loc[preset.label, "value"] == pytest.approx(value, abs=1e-12)


def test_an_option_is_that_of_our_number_alone() -> None:
    plain = EV.ndcg(k=10)
    exponential = EV.ndcg(k=10, gain="exponential", log_base=3)
    found = EV.identify("ndcg", f"{plain:.9f}", 10, gain="exponential", log_base=3)
    assert "recnb" in EV.identify("ndcg", f"{plain:.9f}", 10).index
    assert "ranx ndcg" in found.index
    own = EV.identify("ndcg", f"{exponential:.9f}", 10, gain="exponential", log_base=3)
    assert own.loc["recnb", "value"] == exponential
    under = EV.under("rectools")
    own = under.identify("ndcg", f"{under.ndcg(k=10):.6f}", 10)
    assert own.index[0] == "as rectools"


def test_how_a_number_fits() -> None:
    value, before = float(EV.ndcg(k=10)), len(EV.joined.source._known)
    assert EV.identify("ndcg", f"{value:.4f}", 10).index[0] == "recnb"
    beside = EV.identify("ndcg", f"{value + 1e-4:.4f}", 10)
    assert "recnb" not in beside.index[beside["fit"] == "rounds to it"]
    none = EV.identify("ndcg", "0.9063", 10)
    assert [*none["fit"]] == ["one of the nearest"] * 5
    assert none["difference"].abs().is_monotonic_increasing
    assert [*none["difference"]] == pytest.approx([*none["value"] - 0.9063])
    assert "none of" in repr(none)
    assert len(EV.joined.source._known) == before  # nothing that was tried is kept


PRINTED = read_rows("libraries/printed.toml")


@pytest.mark.parametrize("given", PRINTED)
def test_how_a_number_is_written_says_how_many_digits_it_has(given: str) -> None:
    assert [*printed_number(eval(given))] == PRINTED[given]
