"""Means and differences as they are computed: corrections, segments and marks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.display.language import use_language
from recnb.metrics.hits import Cutoffs
from recnb.results import measuring
from recnb.results.arguments import asked_of
from recnb.results.measuring import places_of, places_of_parts
from recnb.results.numbers import measured
from recnb.results.segments import division_by
from recnb.results.verdicts import FOUND, verdict_of
from tests.comparison.frames import SAMPLE
from tests.examples import examples

MODELS = {
    name: recnb.evaluate(recs, SAMPLE.test, users=SAMPLE.users)
    for name, recs in SAMPLE.models.items()
}
ONE = {"": MODELS["item-knn"]}
PAIRS = list(itertools.combinations(MODELS, 2))
WEEKS = SAMPLE.test.assign(week=SAMPLE.test.index % 3)


def numbers_at(models: Any, metrics: Any, k: Any, **rest: Any) -> Any:
    asked = asked_of(next(iter(models.values())), metrics, {})
    return measured(models, asked, Cutoffs.of(k), **rest)


def holm(p: list[float]) -> list[float]:
    """Holm 1979, as it is written: the smallest times n, the next times n - 1, ..."""
    corrected, highest = dict[int, float](), 0.0
    for n_below, place in enumerate(np.argsort(p, kind="stable").tolist()):
        highest = max(highest, min(1.0, p[place] * (len(p) - n_below)))
        corrected[place] = highest
    return [corrected[place] for place in range(len(p))]


@pytest.mark.parametrize("by", [None, "segment", "week"])
def test_means_of_one_model_are_those_beside_others_and_of_its_scores(by: Any) -> None:
    models = {
        name: recnb.evaluate(recs, WEEKS, users=SAMPLE.users)
        for name, recs in SAMPLE.models.items()
    }
    division = division_by(models, by)
    together = numbers_at(models, ["ndcg"], [5, 10], division=division).means()
    for name, model in models.items():
        alone = {name: model}
        rows = numbers_at(alone, ["ndcg"], [5, 10], division=division_by(alone, by))
        beside = [row for row in together if row.model == name]
        for row, other in zip(rows.means(), beside, strict=True):
            assert (row.k, row.n_users) == (other.k, other.n_users)
            numbers = [row.mean, row.low, row.high]
            assert numbers == pytest.approx([other.mean, other.low, other.high])
            if by is None:
                assert row.mean == float(model.ndcg(k=row.k))
                assert numbers[1:] == pytest.approx(model.ndcg(k=row.k).interval())


def test_a_place_cut_in_parts_has_each_user_once() -> None:
    asked = asked_of(ONE[""], ["ndcg"], {})
    (whole,) = places_of(ONE, asked[0], Cutoffs.of(10))
    division = division_by(ONE, "segment")
    parts = list(places_of_parts(ONE, asked, Cutoffs.of(10), division))
    assert len(parts) > 1
    assert (
        sorted(user for part in parts for user in part.users) == whole.users.to_list()
    )
    values = dict(zip(whole.users, whole.values[:, 0], strict=True))
    for part in parts:
        assert [values[user] for user in part.users] == part.values[:, 0].tolist()
    total = sum(part.mean[0] * part.sample.n_units for part in parts)
    assert total / whole.sample.n_units == pytest.approx(whole.mean[0])


def test_two_segments_are_one_test_and_more_are_one_each() -> None:
    halves = pd.Series({user: i % 2 for i, user in enumerate(SAMPLE.users["user"])})
    numbers = numbers_at(ONE, ["ndcg", "recall"], 10, division=division_by(ONE, halves))
    p, p_holm = numbers.tests["p"][:, 0], numbers.tests["p_holm"][:, 0]
    assert numbers.tests["is_test"][:, 0].tolist() == [True, True, False, False]
    # Each column has one test, so nothing is corrected.
    assert p_holm.tolist() == p.tolist()
    thirds = pd.Series({user: i % 3 for i, user in enumerate(SAMPLE.users["user"])})
    numbers = numbers_at(ONE, ["ndcg"], 10, division=division_by(ONE, thirds))
    assert numbers.tests["is_test"].all()
    p, p_holm = numbers.tests["p"][:, 0], numbers.tests["p_holm"][:, 0]
    assert p_holm == pytest.approx(holm(p))


def test_what_is_not_read_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = numbers_at(MODELS, ["ndcg"], [5, 10], pairs=PAIRS)
    for name in ("paired", "Moments"):
        monkeypatch.delattr(measuring, name)
    assert numbers.mean.shape == numbers.best.shape == (2, 3)
    for unread in ("ends", "tests", "near_best"):
        with pytest.raises(NameError):
            getattr(numbers, unread)


def test_both_tables_have_one_key() -> None:
    weeks = recnb.evaluate(SAMPLE.models["popular"], WEEKS, users=SAMPLE.users)
    models = {"a": weeks, "b": weeks}
    division = division_by(models, "segment")
    numbers = numbers_at(
        models, ["ndcg", "recall"], [5, 10], division=division, pairs=[("b", "a")]
    )
    key = ("part", "metric", "k", "n_users")
    means = [[getattr(row, name) for name in key] for row in numbers.means()]
    tests = [[getattr(row, name) for name in key] for row in numbers.differences()]
    assert len(division.keys) > 1
    assert means[::2] == means[1::2] == tests
    assert len({(*row.column, row.part) for row in numbers.differences()}) == len(tests)


def test_a_basis_is_worded_when_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError("worded too early")

    monkeypatch.setattr("recnb.results.scoring.averaged_in_words", refuse)
    score = ONE[""].ndcg(k=10)
    assert score.interval()[0] < score < score.interval()[1]
    with pytest.raises(AssertionError, match="worded too early"):
        score.basis  # noqa: B018
    monkeypatch.undo()
    with use_language("ko"):
        in_korean = score.basis
    assert in_korean != score.basis
    assert "261 users" in score.basis


@pytest.mark.parametrize("against", [None, "popular"])
def test_a_mark_is_the_verdict_of_the_pair(against: str | None) -> None:
    pairs = PAIRS if against is None else [(name, against) for name in MODELS][:2]
    numbers = numbers_at(MODELS, ["ndcg", "recall"], [5, 10], pairs=pairs)
    verdicts = {
        (row.metric, row.k, row.model, row.baseline): row.verdict
        for row in numbers.differences()
    }
    best = {(row.metric, row.k): row.model for row in numbers.means() if row.best}
    marks = set()
    for row in numbers.means(against):
        of_column = row.metric, row.k
        other = against or best[of_column]
        found = [
            verdicts.get((*of_column, *pair), "")
            for pair in ((row.model, other), (other, row.model))
        ]
        (verdict,) = [each for each in found if each] or [""]
        if against is None:
            is_near = not row.best and verdict not in FOUND
            assert row.mark == ("near_best" if is_near else "")
        else:
            assert row.mark == (verdict if verdict in FOUND else "")
        marks.add(row.mark)
    assert len(marks) > 1


NUMBERS = st.floats(-1, 1).map(lambda number: round(number, 3))


@settings(max_examples=examples(200), deadline=None)
@given(
    NUMBERS, st.floats(0, 0.5), st.floats(0, 1), st.sampled_from(["high", "low", None])
)
def test_a_verdict_turns_with_the_pair(
    difference: float, half: float, p: float, better: Any
) -> None:
    ends = difference - half, difference + half
    verdict = verdict_of(difference, *ends, p, alpha=0.05, better=better)
    turned = verdict_of(-difference, -ends[1], -ends[0], p, alpha=0.05, better=better)
    opposite = {
        "better": "worse",
        "worse": "better",
        "higher": "lower",
        "lower": "higher",
    }
    assert turned == opposite.get(verdict, verdict)
    assert (verdict in FOUND) == (p <= 0.05 and (ends[0] > 0 or ends[1] < 0))
    if verdict in FOUND:
        is_good = difference < 0 if better == "low" else difference > 0
        assert verdict in (("better", "higher") if is_good else ("worse", "lower"))
