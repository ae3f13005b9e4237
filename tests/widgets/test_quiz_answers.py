"""Answers to exercises: how they are read, judged and graded, what is said to them, and how it all shows."""

from __future__ import annotations

import pickle
import re
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import e, inf, log2, nan
from typing import Any

import numpy as np
import pytest

import recnb
from recnb.display.language import Sentence
from recnb.errors import CutoffError, OptionError, RecnbError
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz import Mistake, Quiz
from recnb.widgets.quiz.answer import judge, read
from recnb.widgets.quiz.state import TERMS_DIFFER
from recnb.widgets.quiz.view import QuizView
from tests.widgets.test_quiz import OTHERWISE

# Answers as people write them


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("2/3", 2 / 3), (" 4 / 6", 2 / 3), ("1.0/1.5", 2 / 3), (Fraction(2, 3), 2 / 3), ("67 %", 0.67), ("87.32%", 0.8732), ("0,87", 0.87), ("+,5", 0.5),
        ("(1+2/3)/4", 5 / 12), ("(1 + 2/3) / 4", 5 / 12), ("3/log2(1+1) + 2/log2(1+2)", 3 + 2 / log2(3)), ("(2^3-1)/log2(2)", 7), ("0,5*3", 1.5),
        ("-(1-3)", 2), ("1÷4×2", 0.5), ("0.2 * 0.8**2", 0.128), ("１/２", 0.5), ("−1", -1), ("8.732e-3", 0.008732), (np.float64(0.25), 0.25), (np.int64(3), 3),
    ],
)  # fmt: skip
def test_answers_are_read_as_people_write_them(typed: Any, value: float) -> None:
    assert read(typed).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_a_sum_is_right_as_solutions_print_it(metric: str) -> None:
    for options in [{}, *OTHERWISE.get(metric, [])]:
        q = recnb.quiz(metric, 4, lang="en", **options)
        if len(q.lists) == 1:
            worked = [side for side in q.reveal().explanations[0].numbers.split(" = ") if "log_" not in side]
            assert all(q.check(side) for side in worked), worked
            assert len(worked) > 1


@pytest.mark.parametrize(
    "bad",
    [
        "", "about 0.8", "0.8.7", "1,234.5", "0.8,7", "2/0", "1//2", "nan", "inf", "1e9999999999", "1e99999999999999999999", "1e500", "9" * 500, "½ or so",
        "<b>1</b>", "%", "1/2%", "open(1)", "9**99**99", "(1", "1;2", "a+1", "log2(-1)", "log2()", "[1]", "1 if 1 else 2", "10**999", "True", "(" * 300,
    ],
)  # fmt: skip
def test_text_that_is_no_number_is_refused(bad: str) -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
    with pytest.raises(RecnbError, match=r"is not read as a number: type it as 0\.1234"):
        q.check(bad)
    assert q.grade(bad) == 0.0
    with pytest.raises(RecnbError, match=r"숫자로 읽을 수 없다.*'2/3'"):
        recnb.quiz("ndcg", 3, lang="ko").check(bad)


@pytest.mark.parametrize("bad", [True, [0.8], {"value": 1}, nan, inf, object])
def test_what_is_no_answer_at_all_is_refused(bad: Any) -> None:
    q = recnb.quiz("ndcg", 3)
    with pytest.raises(RecnbError, match="give a number"):
        q.check(bad)
    assert q.grade(bad) == 0.0


# What is right


def judged(given: object, value: float, *slips: float, digits: int = 4) -> tuple[str, list[str], bool]:
    """What is said of an answer where the value and the numbers of mistakes are these."""
    made = [Mistake(f"slip{at}", number, Sentence("")) for at, number in enumerate(slips)]
    verdict, named, near = judge(read(given), value, made, digits)
    return verdict, [slip.name for slip in named], near


@pytest.mark.parametrize(
    "typed",
    [0.8732, "0.8732", "0,8732", 0.87324519, "0.873245", " .8732 ", "87.32%", "+0.8732", "０．８７３２", Decimal("0.8732"), np.float64(0.8732)],
)  # fmt: skip
def test_right_is_the_value_rounded_to_the_digits_asked_for(typed: Any) -> None:
    assert judged(typed, 0.87324519)[0] == "right"


@pytest.mark.parametrize("typed", [0.8731, 0.8733, "0.874", "-0.8732", "8.732e-3", 8732, "2/5"])
def test_any_other_number_is_wrong(typed: Any) -> None:
    assert judged(typed, 0.87324519)[0] == "wrong"


@pytest.mark.parametrize(
    ("typed", "value", "slips", "expected"),
    [
        ("0.873", 0.8732, [0.8691, 0.4], ("short", [], False)),
        ("0.87", 0.8732, [0.8691, 0.4], ("undecided", [], False)),  # as 0.8691 rounds to 0.87 as well
        ("0.9", 0.8732, [0.4], ("undecided", [], False)),  # as one decimal never is enough
        ("0.869", 0.8732, [0.8691, 0.4], ("wrong", ["slip0"], False)),
        ("0.4", 0.8732, [0.8691, 0.4], ("wrong", ["slip1"], False)),
        (0.5, 0.8732, [0.8691, 0.4], ("wrong", [], False)),
        (0.87, 0.86998, [0.8751], ("right", [], False)),  # 0.8700 typed as a number is 0.87
        (7, 7.0, [], ("right", [], False)),
        ("0.8732", 0.87328, [], ("wrong", [], True)),  # cut, not rounded
        ("0.8731", 0.87328, [], ("wrong", [], False)),
        ("0.25", 0.5, [0.25, 0.25], ("wrong", ["slip0", "slip1"], False)),
        ("67 %", 2 / 3, [], ("short", [], False)),
    ],
)  # fmt: skip
def test_fewer_digits_are_judged_at_those_given(typed: Any, value: float, slips: list[float], expected: Any) -> None:
    assert judged(typed, value, *slips) == expected


@pytest.mark.parametrize("k", [3, None])
def test_what_is_worked_out_on_paper_with_five_decimals_is_right(k: int | None) -> None:
    """With every factor and term rounded as the table of the notebook is, typed as a decimal or as the division."""

    def on_paper(grades: list[int]) -> float:
        return sum(round(grade * round(1 / log2(rank + 1), 5), 5) for rank, grade in enumerate(grades, 1))

    for seed in range(1, 61):
        q = recnb.quiz("ndcg", seed, k=k)
        over = on_paper([q.truth.get(item, 0) for item in q.row[: q.k]])
        under = on_paper(sorted(q.truth.values(), reverse=True)[: q.k])
        assert q.check(f"{over:.5f}/{under:.5f}"), seed
        assert q.check(f"{over / under:.4f}"), seed


def test_the_value_and_the_largest_term_are_marked_one_by_one() -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
    right, wrong, largest = f"{q.value:.4f}", f"{q.slips[0].value:.4f}", q.largest[0]
    other = next(item for item in q.items if item not in q.largest)
    said, term = f"nDCG@{q.k} = {right}.", f"✓ The largest term: {largest}, right."
    told = [
        (q.check(right, largest), 1, f"✓ Right: {said} {term}"),
        (q.check(right), 1, f"✓ Right: {said}"),
        (q.check_largest(f" {largest.lower()} "), None, term),
        (q.check(right, largest=other), 0.5, f"✓ The value is right: {said} ✗ The largest term: not {other}."),
        (q.check(wrong, largest), 0.5, f"✗ {wrong} is not right. A common mistake"),
        (q.check(wrong, other), 0, f"✗ {wrong} is not right. A common mistake"),
    ]
    for answer, points, words in told:
        assert repr(answer).startswith(words)
        assert bool(answer) is answer.correct is (points in (1, None))
        if answer.number:
            assert q.grade(answer.number.shown, answer.largest) == points
    assert repr(told[4][0]).endswith(term)
    assert re.search(r"<b>✓ The value is right.*</b>.*<b>✗ The largest term: not", told[3][0]._repr_html_(), re.DOTALL)
    assert (told[3][0].value_correct, told[3][0].largest_correct) == (True, False)
    assert (told[1][0].largest_correct, told[2][0].value_correct) == (None, None)
    assert [q.grade(None), q.grade(None, "E"), q.grade("?", "?"), q.grade(q.value)] == [0, 0.5, 0, 1]
    assert recnb.quiz("precision").grade(0.5, largest="A") <= 0.5, "not asked there"


def test_mistakes_that_give_the_same_number_are_all_named() -> None:
    q = recnb.quiz("precision", 3)
    both = replace(q.check(0.1), slips=q.slips[:2])
    assert len(both.sentences()) == 3
    assert both.slip == q.slips[0].name


def test_the_solution_is_shown_after_a_right_value_or_when_asked_for() -> None:
    q = recnb.quiz("ndcg", 3)
    shown = [q.check(q.value), q.check(0.1, reveal=True), q.check(0.1), q.check_largest(q.largest[0])]
    assert [answer.solution is not None for answer in shown] == [True, True, False, False]
    assert [f"{q.value:.4f}" in repr(answer) for answer in shown] == [True, True, False, False]
    explained = q.reveal().explanations[0]
    assert explained.value == q.value
    assert explained.numbers in repr(q.reveal())


# The largest term


@pytest.mark.parametrize("metric", METRICS)
def test_the_largest_term_is_asked_for_where_terms_differ(metric: str) -> None:
    q = recnb.quiz(metric, 9)
    assert bool(q.items) is (metric in TERMS_DIFFER) is bool(q.largest) is ("largest" in str(q))
    if q.items:
        assert set(q.largest) < set(q.items)
        assert q.reveal().explanations[0].rows.set_index("item")["credit"].idxmax() in q.largest
    else:
        with pytest.raises(OptionError, match="no term is the largest"):
            q.check_largest("A")


@pytest.mark.parametrize(
    ("metric", "truth", "options", "largest"),
    [
        ("cg", {"A": 1, "B": 3, "C": 3, "D": 3}, {}, "BC"),  # D stands below the cut
        ("average_precision", {"A": 1, "B": 2}, {}, "AB"),  # 1/1 and 2/2
        ("idcg", {"A": 1, "D": 3, "F": 3}, {}, "DF"),  # either may come first
        ("idcg", {"A": 1, "D": 3, "F": 3}, {"ideal": "list"}, "D"),
        ("idcg", {"A": 1, "D": 3, "F": 3}, {"gain": "binary"}, "ADF"),
        ("ndcg", {"A": 1, "C": 2, "F": 3}, {}, "AC"),  # 1/log2(2) and 2/log2(4)
    ],
)  # fmt: skip
def test_terms_that_tie_are_all_right(
    metric: str, truth: dict[str, int], options: dict[str, Any], largest: str
) -> None:
    q = Quiz(metric, options, 3, (tuple("ABCD"),), (truth,), (), 0, 4, "en")
    assert "".join(q.largest) == largest
    assert all(q.check(q.value, item) for item in largest)


# How it shows


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("metric", METRICS)
def test_all_forms_in_both_languages(metric: str, lang: str) -> None:
    q = recnb.quiz(metric, 1, lang=lang)
    solution = q.reveal()
    texts = [
        str(q),
        q._repr_html_(),
        repr(solution),
        solution._repr_html_(),
        repr(q.check(q.value)),
        q.check(0.1)._repr_html_(),
    ]
    for one in texts:
        plain = re.sub(r"\$[^$]+\$", "", one)  # formulas are full of braces
        assert not re.search(r"\{\w+\}|\(으\)|None\b|quiz\.|<(script|svg|link|img|iframe)|https?://|on\w+=\"", plain), (
            plain
        )
        assert bool(re.search("[가-힣]", one)) is (lang == "ko")
    assert f"{q.value:.4f}" not in texts[0] + texts[1]
    cells = [cell for row, truth in zip(q.lists, q.truths, strict=True) for cell in (*row, *truth)]
    for shown in texts[:2]:
        assert ("시오." if lang == "ko" else "?") in shown
        assert all(cell in shown for cell in cells)
    assert texts[3].count("<tr") > len(q.slips)
    assert texts == [*map(str, texts)]
    assert texts[:2] == [repr(pickle.loads(pickle.dumps(q))), pickle.loads(pickle.dumps(q))._repr_html_()]


@pytest.mark.parametrize(
    ("metric", "options", "said"),
    [
        ("ndcg", {"k": 4, "gain": "exponential", "discount": "rank"}, ["k = 4", "Gain: 2^relevance − 1.", "Discount: the rank itself.", "all relevant items"]),
        ("ndcg", {"ideal": "list"}, ["Conventions: ideal: the list's own items, best first."]),
        ("rbp", {"p": 0.5}, ["p = 0.5"]),
        ("fbeta", {}, ["beta = 2"]),
        ("dcg", {"log_base": e}, ["ln(rank + 1)"]),
        ("average_precision", {}, ["divided by the number of relevant items", "or with a fraction, such as 2/3.", "Of equal terms, any is right."]),
        ("average_precision", {"out_of": "hits"}, ["Conventions: out of the hits."]),
        ("reciprocal_rank", {"target": "preferred"}, ["The item that counts is the most relevant one."]),
    ],
)  # fmt: skip
def test_an_exercise_says_its_conventions(metric: str, options: dict[str, Any], said: list[str]) -> None:
    shown = str(recnb.quiz(metric, 1, lang="en", **options))
    assert all(one in shown for one in said), shown
    assert ("Conventions" in shown) is ("Conventions" in said[0])


def test_the_setting_of_the_language_counts_when_it_is_made() -> None:
    before = recnb.language()
    try:
        recnb.language("ko")
        q = recnb.quiz("ndcg", 3)
    finally:
        recnb.language(before)
    assert q.lang == "ko"
    assert "구하시오" in str(q)
    assert "정답이 아니다" in repr(q.check(0.1))
    assert "풀이" in repr(q.reveal())


def test_what_was_typed_is_shown_as_text() -> None:
    wrong = recnb.quiz("ndcg", 3, lang="en").check("  0,1234  ")
    assert "0,1234 is not right" in repr(wrong)
    forged = replace(wrong, number=wrong.number._replace(shown="<img src=x>"))._repr_html_()
    assert "&lt;img" in forged
    assert "<img" not in forged


# The view


def test_the_view_checks_and_reveals_without_a_browser() -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
    view = QuizView(q)
    assert "q.check" not in view.question.value
    view.button.click()
    assert "Type a value, or choose the largest term." in view.feedback.value
    view.value.value = "<b>x"
    view.button.click()
    assert "&lt;b&gt;x cannot be read as a number" in view.feedback.value
    view.value.value = f"{q.slips[0].value:.4f}"
    view.button.click()
    assert "A common mistake gives exactly this number" in view.feedback.value
    view.value.value, view.largest.value = f"{q.value:.4f}", q.largest[0]
    assert not view.solution.value, "what is typed is checked when it is entered"
    view.value._handle_custom_msg({"event": "submit"}, [])  # the Enter key
    assert "✓" in view.feedback.value
    assert 'role="alert"' in view.feedback.value
    assert view.solution.value == q.reveal()._repr_html_()


def test_the_enter_key_is_told_of_before_what_was_typed() -> None:
    q = recnb.quiz("precision", 3, lang="en")
    view = QuizView(q)
    view.value._handle_custom_msg({"event": "submit"}, [])
    assert not view.feedback.value
    view.value.value = f"{q.slips[0].value:.4f}"
    assert "A common mistake" in view.feedback.value
    view.value.value = f"{q.value:.4f}"
    assert "A common mistake" in view.feedback.value, "not entered yet"
    view.value._handle_custom_msg({"event": "submit"}, [])
    assert "Right" in view.feedback.value


def test_the_solution_can_be_shown_without_an_answer() -> None:
    view = QuizView(recnb.quiz("hit_rate", 3, lang="ko"))
    view.button.click()
    assert "값을 쓰시오" in view.feedback.value
    view.show.click()
    assert "풀이" in view.solution.value
    assert view.largest not in view.children[1].children


def test_an_exercise_shows_itself_with_a_box_and_in_html_without_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    q = recnb.quiz("ndcg", 3)
    shown = q._repr_mimebundle_()
    assert (shown["text/plain"], shown["text/html"]) == (repr(q), q._repr_html_())
    assert "application/vnd.jupyter.widget-view+json" in shown
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.delitem(sys.modules, "recnb.widgets.quiz.view")
    assert set(q._repr_mimebundle_()) == {"text/plain", "text/html"}


# What is refused


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: recnb.quiz("ndgc"), OptionError, "Did you mean 'ndcg'"),
        (lambda: recnb.quiz(seed=-1), OptionError, "is not a seed"),
        (lambda: recnb.quiz(seed=1.5), OptionError, "is not a seed"),
        (lambda: recnb.quiz(seed=True), OptionError, "is not a seed"),
        (lambda: recnb.quiz(k=2), CutoffError, "cut at 3 to 10"),
        (lambda: recnb.quiz(k=11), CutoffError, "cut at 3 to 10"),
        (lambda: recnb.quiz(k=2.5), CutoffError, "is not a cut-off"),
        (lambda: recnb.quiz("r_precision", k=3), CutoffError, "leave k out"),
        (lambda: recnb.quiz(digits=1), OptionError, "2 to 8 decimals"),
        (lambda: recnb.quiz(digits="4"), OptionError, "2 to 8 decimals"),
        (lambda: recnb.quiz(lang="kr"), OptionError, "no language"),
        (lambda: recnb.quiz(gain="exp"), OptionError, "no option of ndcg"),
        (lambda: recnb.quiz("recall", gain="linear"), OptionError, "has no option 'gain'"),
        (lambda: recnb.quiz("rbp", p=2), OptionError, "between 0 and 1"),
        (lambda: recnb.quiz("err", max_relevance=2), OptionError, "not the top of the scale"),
        (lambda: recnb.quiz().check(), RecnbError, "no answer to check"),
        (lambda: recnb.quiz("ndcg", 3).check_largest("Z"), OptionError, "no item of this exercise. Known: 'A'"),
        (lambda: recnb.quiz().chek, AttributeError, "Quiz has no 'chek'. Did you mean 'check'?"),
        (lambda: recnb.quiz().check(0.5).slp, AttributeError, "Answer has no 'slp'. Did you mean 'slip'"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_aliases_and_numpy_numbers_are_taken() -> None:
    assert recnb.quiz("mrr", np.int64(2)).lists == recnb.quiz("reciprocal_rank", 2).lists
    assert recnb.quiz("map", 2, k=np.int64(4), digits=np.int64(3)).digits == 3
