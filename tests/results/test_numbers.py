"""The basis of a number, which is worded late, and the verdict on a difference."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recnb.display.language import use_language
from recnb.results.verdicts import FOUND, verdict_of
from tests.evaluated import EV
from tests.examples import examples


def test_a_basis_is_worded_when_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError("worded too early")

    monkeypatch.setattr("recnb.results.scoring.AveragedUsers", refuse)
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
    NUMBERS,
    st.floats(0, 0.5),
    st.floats(0, 1) | st.just(nan),
    st.sampled_from(["high", "low", None]),
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
    assert (verdict == "untested") == isnan(p)
    assert (verdict in FOUND) == (p <= 0.05 and (ends[0] > 0 or ends[1] < 0))
    if verdict in FOUND:
        is_good = difference < 0 if better == "low" else difference > 0
        assert verdict in (("better", "higher") if is_good else ("worse", "lower"))
