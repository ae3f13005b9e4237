"""Exercises: what is drawn, which mistake gives which number, how answers are read and
judged, and how it all shows.
"""

from __future__ import annotations

import pickle
import re
from decimal import Decimal
from fractions import Fraction
from math import inf, log2, nan
from typing import Any

import numpy as np
import pytest

import recnb
from recnb.results.single_list import OF_ONE_LIST, score_lists
from recnb.widgets.quiz.draw import _says_something
from recnb.widgets.quiz.mistakes import Mistake
from recnb.widgets.quiz.slips import SLIPS
from recnb.widgets.quiz.typed import read_answer
from tests.rows import hold_refusals, read_rows

# What is drawn


@pytest.mark.parametrize("metric", OF_ONE_LIST)
def test_an_exercise_is_small_and_each_mistake_is_recognised(metric: str) -> None:
    seen: set[str] = set()
    n_mistakes: list[int] = []
    for seed, asked in enumerate([None, None, 2, 10]):
        k = None if metric == "r_precision" else asked
        q = recnb.quiz(metric, seed=seed, k=k, lang="en")
        assert q.k == (k or q.k)
        assert min(q.value, abs(q.value - 1)) > 10.0**-4
        for row, truth in zip(q.lists, q.truths, strict=True):
            assert len({*row}) == len(row) > (q.k or 0)
            assert 3 <= len(row) <= max(6, (k or 0) + 2)
            assert list(truth) == sorted(truth)
            assert {*truth.values()} <= {1, 2, 3}
        assert len(q.lists) > 1 or q.truth.keys() - {*q.row}
        for number, sentence in q.mistakes:
            assert abs(number - q.value) > 10.0**-4
            answer = q.check(f"{number:.4f}")
            assert (bool(answer), q.grade(number), answer.mistake) == (
                False,
                0,
                (number, sentence),
            )
            assert sentence in repr(answer)
            assert not re.search(r"[{}|]|None|nan", sentence)
            seen.add(sentence[:25])
        n_mistakes.append(len(q.mistakes))
    assert np.ptp(n_mistakes) <= 4, "most mistakes have a number of their own"
    slips = [slip for slip in SLIPS if slip["metric"] == metric]
    if metric != "r_precision":  # both of its confusions may give the same number
        said = [re.sub("[{}]", "", slip["sentence"])[:12] for slip in slips]
        assert all(any(words in one for one in seen) for words in said)


@pytest.mark.parametrize("metric", OF_ONE_LIST)
def test_the_value_is_that_of_recnb_and_of_the_solution(metric: str) -> None:
    for options in [
        {},
        *({name: words[-1]} for name, words in OF_ONE_LIST[metric].words.items()),
    ]:
        q = recnb.quiz(metric, seed=6, lang="en", **options)
        asked = (q.lists, q.truths) if len(q.lists) > 1 else (q.row, q.truth)
        score = score_lists(OF_ONE_LIST[metric], *asked, q.k, **q.options)
        assert q.value == float(score)
        solution = repr(q.reveal())
        assert q.rounded(q.value) in solution
        if len(q.lists) == 1:  # each side of the line of numbers is an answer
            line = next(
                line
                for line in solution.splitlines()
                if line.startswith("  ") and " = " in line
            )
            beyond = re.compile(r"log_|max|min")
            sides = [side for side in line.split(" = ") if not beyond.search(side)]
            assert len(sides) > 1
            assert all(q.check(side) for side in (*sides, line)), sides


# Lists of one's own


@pytest.mark.parametrize("metric", OF_ONE_LIST)
def test_a_list_of_ones_own_has_the_value_of_recnb_and_its_mistakes(
    metric: str,
) -> None:
    for given in (
        (["B", "<A>", 3, "D"], {"<A>": 2, 3: 0.5, "X": 1}),
        (["A", "B"], {"A": 1}),
        ([3, 0, 1],) if metric == "auc" else ([0, 3, 1],),
    ):
        q = recnb.quiz(metric, *given, lang="en")
        options = {"beta": 2} if metric == "fbeta" else {}
        ranking, truth = (*given, None)[:2]
        score = score_lists(OF_ONE_LIST[metric], ranking, truth, q.k, **options)
        assert q.value == float(score)
        assert q.rounded(q.value) in repr(q.check(q.value))
        assert all(
            np.isfinite(one.number) and not q.check(f"{one.number:.4f}")
            for one in q.mistakes
        )


# Answers as people write them

ANSWERS = read_rows("widgets/quiz_answers.toml")
#: An answer, its number and its decimals; none of a fraction.
TYPED: list[tuple[Any, float, int | None]] = [
    (Fraction(2, 3), 2 / 3, None),
    (np.float64(0.25), 0.25, 2),
    (np.int64(3), 3, 0),
    (0.8732, 0.8732, 4),
    (Decimal("0.50"), 0.5, 2),
]
NO_NUMBERS = (
    *ANSWERS["no_numbers"],
    "9" * 500,
    "(" * 300,
    "-" * 3000 + "1",
    True,
    [0.8, 0.9],
    {"value": 1},
    nan,
    inf,
    object,
    None,
)


@pytest.mark.parametrize("typed", ANSWERS["typed"])
def test_answers_are_read_as_people_write_them(typed: str) -> None:
    number, *decimals = ANSWERS["typed"][typed]
    value = pytest.approx(eval(str(number), {"log2": log2}), abs=1e-12)
    assert read_answer(typed) == (value, *(decimals or [None]))


def test_numbers_of_python_are_answers() -> None:
    for typed, value, decimals in TYPED:
        assert read_answer(typed) == (pytest.approx(value, abs=1e-12), decimals), typed


PRECISION = recnb.quiz("precision", seed=3, lang="en")


@pytest.mark.parametrize("bad", NO_NUMBERS)
def test_what_is_no_number_is_told_and_is_not_right(bad: Any) -> None:
    answer = PRECISION.check(bad)
    assert "is not read as a number" in repr(answer)
    assert (bool(answer), PRECISION.grade(bad)) == (False, 0.0)


def test_no_value_of_an_exercise_is_on_an_edge_of_rounding() -> None:
    values = [0.12344, 0.12345, 0.12346]
    assert [*map(_says_something, values)] == [True, False, True]


HINTS = read_rows("widgets/quiz_hints.toml")
FIVE = {"A": 2, "C": 3, "E": 3, "D": 1, "F": 1}


@pytest.mark.parametrize("call", HINTS["hints"])
def test_what_an_answer_is_told(call: str) -> None:
    told = " ".join(repr(eval(call)).split())
    for words in HINTS["hints"][call]:
        assert words in told


@pytest.mark.parametrize("call", HINTS["same"])
def test_an_exercise_asked_for_in_other_words_is_the_same(call: str) -> None:
    assert repr(eval(call)) == repr(eval(HINTS["same"][call]))


#: What is typed, the value, the numbers of mistakes, and what is said.
JUDGED = [
    *ANSWERS["judged"],
    [Decimal("0.8732"), 0.87324519, [], "right"],
]


@pytest.mark.parametrize(("typed", "value", "mistakes", "expected"), JUDGED)
def test_right_is_the_value_rounded_and_fewer_digits_are_judged_at_those_given(
    typed: Any, value: float, mistakes: list[float], expected: str
) -> None:
    q = recnb.quiz("precision", ["A", "B", "C"], {"A": 1}, lang="en")
    q.value, vars(q)["mistakes"] = (
        value,
        tuple(Mistake(number, f"slip{at}") for at, number in enumerate(mistakes)),
    )
    answer = q.check(typed)
    assert bool(answer) == (expected == "right")
    assert answer or expected in repr(answer)


# How it shows; its text: test_shown; escaping and Korean: tests/display


def test_the_widget_checks_and_reveals_and_its_static_form_has_no_controls() -> None:
    q = recnb.quiz("ndcg", seed=3, lang="en")
    still, (top, worked) = q._repr_html_(), q.widget().children
    assert "Check your answer with q.check(value)" in still
    assert "<input" not in still
    assert "q.check" not in top.html
    for typed, words in [
        ("<b>x", "&#39;&lt;b&gt;x&#39; is not read as a number"),
        (f"{q.mistakes[0].number:.4f}", "A common mistake gives exactly this number"),
        (f"{q.value:.4f}", f"✓ Right: {q.label}"),
    ]:
        q.use("value", typed)
        assert words not in top.html, "what is typed is checked when it is entered"
        assert not worked.value
        q.use("check")
        assert words in top.html.partition('role="alert"')[2]
    assert "What common mistakes give here" in worked.value
    assert worked.value in q._repr_html_()
    assert repr(pickle.loads(pickle.dumps(q))) == str(q)
    right, wrong, revealed = q.check(q.value), q.check(0.1), q.reveal()
    for said, solved in ((right, True), (wrong, False), (revealed, True)):
        assert ("ideal list" in repr(said)) == solved
        assert ("<details" in said._repr_html_()) == solved
    assert bool(q.reveal()) is False


test_what_is_refused_is_told = hold_refusals(
    read_rows("widgets/quiz_refused.toml"), globals()
)
