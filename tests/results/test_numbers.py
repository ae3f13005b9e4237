"""Means and differences as they are computed: corrections, segments and marks."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.display.language import use_language
from recnb.metrics.hits import Cutoffs
from recnb.results import measuring
from recnb.results.arguments import asked_of
from recnb.results.numbers import measured
from recnb.results.segments import division_by
from recnb.results.verdicts import FOUND, verdict_of
from tests.evaluated import EV
from tests.evaluated import FOUND as COMPARED
from tests.examples import examples
from tests.sample import SAMPLE

MODELS = dict(COMPARED)
PAIRS = list(itertools.combinations(MODELS, 2))
WEEKS = SAMPLE.test.assign(week=SAMPLE.test.index % 3)


def numbers_at(models: Any, metrics: Any, k: Any, **rest: Any) -> Any:
    asked = asked_of(next(iter(models.values())), metrics, Cutoffs.of(k), {})
    return measured(models, asked, Cutoffs.of(k), **rest)


def test_what_is_not_read_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = numbers_at(MODELS, ["ndcg"], [5, 10], pairs=PAIRS)
    for name in ("paired", "Moments"):
        monkeypatch.delattr(measuring, name)
    assert numbers.mean.shape == numbers.best.shape == (2, 3)
    for unread in ("estimates", "tests", "near_best"):
        with pytest.raises(NameError):
            getattr(numbers, unread)


def test_both_tables_have_one_key() -> None:
    weeks = recnb.evaluate(SAMPLE.models["popular"], WEEKS, users=SAMPLE.users)
    models = {"a": weeks, "b": weeks}
    division = division_by(models, "segment")
    numbers = numbers_at(
        models, ["ndcg", "recall"], [5, 10], division=division, pairs=[("b", "a")]
    )
    means, tests = (
        [(row.part, row.label, row.n_users) for row in rows]
        for rows in (numbers.means(), numbers.differences())
    )
    assert means[::2] == means[1::2] == tests
    assert [part for part, _column, _n in tests] == [0] * 4 + [1] * 4 + [2] * 4
    assert len({*tests}) == len(tests)


def test_a_basis_is_worded_when_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError("worded too early")

    monkeypatch.setattr("recnb.results.scoring.averaged_in_words", refuse)
    score = EV.ndcg(k=10)
    assert score.interval()[0] < score < score.interval()[1]
    with pytest.raises(AssertionError, match="worded too early"):
        score.basis  # noqa: B018
    monkeypatch.undo()
    with use_language("ko"):
        in_korean = score.basis
    assert in_korean != score.basis
    assert "261 users" in score.basis


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
    opposite = {"better": "worse", "higher": "lower"}
    opposite |= {word: other for other, word in opposite.items()}
    assert turned == opposite.get(verdict, verdict)
    assert (verdict in FOUND) == (p <= 0.05 and (ends[0] > 0 or ends[1] < 0))
    if verdict in FOUND:
        is_good = difference < 0 if better == "low" else difference > 0
        assert verdict in (("better", "higher") if is_good else ("worse", "lower"))
