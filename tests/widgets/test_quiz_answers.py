"""Answers to exercises: how they are read, judged and graded, what is said to them, and how it all shows."""

from __future__ import annotations

import pickle
import re
import sys
from decimal import Decimal
from fractions import Fraction
from math import e, inf, log2, nan
from typing import Any

import numpy as np
import pytest

import recnb
from recnb.errors import CutoffError, OptionError, RecnbError
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz import Answer, Mistake, Quiz, answer, question
from recnb.widgets.quiz.list import TERMS_DIFFER, QuizList
from recnb.widgets.quiz.view import QuizView

ROW, TRUTH = ("A", "B", "C", "D", "E"), {"A": 2, "C": 3, "D": 1, "F": 1}


# Answers


def exercise(value: float, *slips: float, digits: int = 4) -> Any:
    """What is said of an answer where the value and the slips' numbers are these."""
    drawn = QuizList("ndcg", {}, 3, (ROW,), (TRUTH,))
    made = [Mistake(f"slip{at}", number, drawn) for at, number in enumerate(slips)]

    def judged(given: object) -> tuple[str, list[str], bool]:
        verdict, named, near = answer.judge(answer.read(given), value, made, digits)
        return verdict, [slip.name for slip in named], near

    return judged


def test_right_is_the_value_rounded_to_the_digits_asked_for() -> None:
    judged = exercise(0.87324519)
    for right in (
        0.8732,
        "0.8732",
        "0,8732",
        0.87324519,
        "0.873245",
        " .8732 ",
        "87.32%",
        "+0.8732",
        "０．８７３２",
        Decimal("0.8732"),
        np.float64(0.8732),
    ):
        assert judged(right)[0] == "right", right
    for wrong in (0.8731, 0.8733, "0.874", "-0.8732", "8.732e-3", 8732):
        assert judged(wrong)[0] == "wrong", wrong


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("(1+2/3)/4", 5 / 12), ("(1 + 2/3) / 4", 5 / 12), ("3/log2(1+1) + 2/log2(1+2)", 3 + 2 / log2(3)),
        ("(2^3-1)/log2(2)", 7), ("0,5*3", 1.5), ("-(1-3)", 2), ("1÷4×2", 0.5), ("0.2 * 0.8**2", 0.128),
    ],
)  # fmt: skip
def test_a_sum_as_solutions_print_it_is_worked_out(typed: str, value: float) -> None:
    assert recnb.quiz("ndcg", seed=1).check(typed).number.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "typed", ["1/0", "open(1)", "9**99**99", "(1", "1;2", "a+1", "log2(-1)", "[1]", "1 if 1 else 2", "10**999"]
)
def test_what_is_no_sum_of_numbers_is_refused(typed: str) -> None:
    with pytest.raises(RecnbError, match="is not read as a number"):
        recnb.quiz("ndcg", seed=1).check(typed)


def test_a_fraction_is_exact() -> None:
    judged = exercise(2 / 3)
    assert [judged(one)[0] for one in ("2/3", " 4 / 6", Fraction(2, 3), "0.6667", "1.0/1.5")] == ["right"] * 5
    assert judged("2/5")[0] == "wrong"


def test_fewer_digits_are_judged_at_those_given_if_they_tell_the_value_from_every_slip() -> None:
    judged = exercise(0.8732, 0.8691, 0.4)
    assert [judged("0.873")[0], judged("0.87")[0]] == ["short", "undecided"], "0.8691 rounds to 0.87 as well"
    assert judged("0.9")[0] == "undecided", "one decimal never is enough"
    assert judged("0.869") == ("wrong", ["slip0"], False)
    assert judged("0.4") == ("wrong", ["slip1"], False)
    assert judged(0.5) == ("wrong", [], False)


def test_zeros_at_the_end_are_not_missed_in_a_number() -> None:
    judged = exercise(0.86998, 0.8751)
    assert judged(0.87)[0] == "right", "0.8700 typed as a number is 0.87"
    assert exercise(7.0)(7) == ("right", [], False)


def test_a_last_digit_that_was_cut_is_told_and_is_wrong() -> None:
    assert exercise(0.87328)("0.8732") == ("wrong", [], True)
    assert exercise(0.87328)("0.8731") == ("wrong", [], False)


def test_slips_that_give_the_same_number_are_all_named() -> None:
    assert exercise(0.5, 0.25, 0.25)("0.25") == ("wrong", ["slip0", "slip1"], False)
    q = recnb.quiz("precision", 3)
    both = Answer(q, answer.read("0.5"), "wrong", q.slips[:2], False, None, False)
    assert len(both.sentences()) == 3
    assert both.slip == q.slips[0].name


@pytest.mark.parametrize(
    "bad", ["", "about 0.8", "0.8.7", "1,234.5", "0.8,7", "2/0", "1//2", "nan", "inf", "1e9999999999", "1e99999999999999999999", "1e500", "9" * 50, "½ or so", "<b>1</b>", "%", "1/2%"]
)  # fmt: skip
def test_text_that_is_no_number_is_refused(bad: str) -> None:
    q = recnb.quiz("ndcg", 3)
    with pytest.raises(RecnbError, match=r"is not read as a number: type it as 0\.1234"):
        q.check(bad)
    assert q.grade(bad) == 0.0


@pytest.mark.parametrize("bad", [True, [0.8], {"value": 1}, nan, inf, object])
def test_what_is_no_answer_at_all_is_refused(bad: Any) -> None:
    q = recnb.quiz("ndcg", 3)
    with pytest.raises(RecnbError, match="give a number"):
        q.check(bad)
    assert q.grade(bad) == 0.0


@pytest.mark.parametrize("typed, told", [("chek", "Did you mean 'check'?"), ("hint", "It has: check, check_largest,")])
def test_a_name_that_an_exercise_does_not_have_is_answered_with_those_it_has(typed: str, told: str) -> None:
    q = recnb.quiz("ndcg", 3)
    with pytest.raises(AttributeError, match=re.escape(f"Quiz has no {typed!r}. {told}")):
        getattr(q, typed)
    with pytest.raises(AttributeError, match=r"Answer has no 'slp'. Did you mean 'slip'"):
        _ignored = q.check(0.5).slp


@pytest.mark.parametrize("k", [3, None])
def test_what_is_worked_out_on_paper_with_five_decimals_is_right(k: int | None) -> None:
    """With every factor and term rounded as the table of the notebook is, typed as a decimal or as the division."""

    def on_paper(grades: list[int]) -> float:
        return sum(round(grade * round(1 / log2(rank + 1), 5), 5) for rank, grade in enumerate(grades, 1))

    for seed in range(1, 101):
        q = recnb.quiz("ndcg", seed, k=k)
        truth = dict(q.drawn.truth)
        over = on_paper([truth.get(item, 0) for item in q.drawn.row[: q.k]])
        under = on_paper(sorted(truth.values(), reverse=True)[: q.k])
        assert q.check(f"{over:.5f}/{under:.5f}"), seed
        assert q.check(f"{over / under:.4f}"), seed


def test_a_question_says_that_fractions_and_equal_terms_are_right() -> None:
    assert "or with a fraction, such as 2/3." in str(recnb.quiz("ndcg", 1))
    assert "fraction" not in str(recnb.quiz("cg", 1))
    tied = next(q for q in (recnb.quiz("average_precision", seed) for seed in range(200)) if len(q.largest) > 1)
    assert "Of equal terms, any is right." in str(tied)
    assert all(tied.check(tied.value, item) for item in tied.largest)


def test_no_answer() -> None:
    q = recnb.quiz("ndcg", 3)
    assert (q.grade(None), q.grade(None, "E")) == (0.0, 0.5)
    with pytest.raises(RecnbError, match="no answer to check"):
        q.check()


def test_grading() -> None:
    q = recnb.quiz("ndcg", 3)
    right, wrong = f"{q.value:.4f}", f"{q.slips[0].value:.4f}"
    largest = q.largest[0]
    other = next(item for item in q.items if item not in q.largest)
    assert [
        q.grade(right),
        q.grade(wrong),
        q.grade(q.value),
        q.grade(recnb.ndcg(q.drawn.row, dict(q.drawn.truth), k=q.k)),
    ] == [1, 0, 1, 1]
    assert [q.grade(right, largest), q.grade(right, other), q.grade(wrong, largest), q.grade("?", "?")] == [
        1,
        0.5,
        0.5,
        0,
    ]
    assert recnb.quiz("precision").grade(0.5, largest="A") <= 0.5, "not asked there"


def test_an_answer_is_true_if_all_of_it_is_right() -> None:
    q = recnb.quiz("ndcg", 3)
    largest = q.largest[0]
    other = next(item for item in q.items if item not in q.largest)
    assert q.check(q.value)
    assert q.check(q.value, largest=largest)
    assert q.check_largest(f" {largest.lower()} ")
    half = q.check(q.value, largest=other)
    assert not half
    assert half.value_correct
    assert half.largest_correct is False
    assert q.check(q.value).largest_correct is None
    assert q.check_largest(largest).value_correct is None


def test_a_right_value_with_a_wrong_largest_term_is_told_as_right() -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
    other = next(item for item in q.items if item not in q.largest)
    half = q.check(q.value, largest=other)
    value = f"nDCG@{q.k} = {q.value:.4f}."
    assert repr(half).startswith(f"✓ The value is right: {value} ✗ The largest term: not {other}.")
    assert re.search(r"<b>✓ The value is right.*</b>.*<b>✗ The largest term: not", half._repr_html_(), re.DOTALL)
    assert repr(q.check(0.1, largest=q.largest[0])).startswith("✗ 0.1 is not right. ")
    assert repr(q.check(0.1, largest=q.largest[0])).endswith(f"✓ The largest term: {q.largest[0]}, right.")
    both = repr(q.check(q.value, largest=q.largest[0]))
    assert both.startswith(f"✓ Right: {value} ✓ The largest term: {q.largest[0]}, right.")


def test_text_that_is_no_number_is_refused_in_the_language_of_the_exercise() -> None:
    with pytest.raises(RecnbError, match=r"'abc'.* 숫자로 읽을 수 없다.*'2/3'"):
        recnb.quiz("ndcg", 3, lang="ko").check("abc")


def test_the_solution_is_shown_after_a_right_value_or_when_asked_for() -> None:
    q = recnb.quiz("ndcg", 3)
    assert q.check(q.value).explanation is not None
    assert q.check(0.1).explanation is None
    assert q.check(0.1, reveal=True).explanation is not None
    assert q.check_largest(q.largest[0]).solution is None
    assert f"{q.value:.4f}" not in repr(q.check(0.1))
    assert f"{q.value:.4f}" in repr(q.check(0.1, reveal=True))
    explained = q.reveal().explanation
    assert explained.value == q.value
    assert explained.numbers in repr(q.reveal())


# The largest term


@pytest.mark.parametrize("metric", METRICS)
def test_the_largest_term_is_asked_for_where_terms_differ(metric: str) -> None:
    q = recnb.quiz(metric, 9)
    assert q.drawn.asks_largest is (metric in TERMS_DIFFER) is bool(q.largest)
    if q.drawn.asks_largest:
        assert set(q.largest) < set(q.items)
        assert "largest" in str(q)
        rows = q.reveal().explanation.rows.set_index("item")["credit"]
        assert rows.idxmax() in q.largest
    else:
        with pytest.raises(OptionError, match="no term is the largest"):
            q.check_largest("A")


def test_terms_that_tie_are_all_right() -> None:
    def of(metric: str, row: str, truth: dict[str, int], **options: Any) -> tuple[str, ...]:
        return Quiz(QuizList(metric, options, 3, (tuple(row),), (truth,)), (), 0, 4, "en").largest

    assert of("cg", "ABCD", {"A": 1, "B": 3, "C": 3, "D": 3}) == ("B", "C"), "D stands below the cut"
    assert of("average_precision", "ABCD", {"A": 1, "B": 2}) == ("A", "B"), "1/1 and 2/2"
    assert of("idcg", "ABCD", {"A": 1, "D": 3, "F": 3}) == ("D", "F"), "either may come first"
    assert of("idcg", "ABCD", {"A": 1, "D": 3, "F": 3}, ideal="list") == ("D",)
    assert of("idcg", "ABCD", {"A": 1, "D": 3, "F": 3}, gain="binary") == ("A", "D", "F")
    assert of("ndcg", "ABCD", {"A": 1, "C": 2, "F": 3}) == ("A", "C"), "1/log2(2) and 2/log2(4)"


def test_an_item_that_is_not_there_is_refused() -> None:
    with pytest.raises(OptionError, match=r"no item of this exercise.*Known: 'A'"):
        recnb.quiz("ndcg", 3).check_largest("Z")


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
        q.check(0.3333)._repr_html_(),
    ]
    for one in texts:
        plain = re.sub(r"\$[^$]+\$", "", one)  # formulas are full of braces
        assert not re.search(r"\{\w+\}|\(으\)|None\b|quiz\.", plain), plain
    assert texts[0] == repr(q)
    assert f"{q.value:.4f}" not in texts[0]
    asked = "시오." if lang == "ko" else "?"
    assert asked in texts[0]
    assert asked in texts[1]
    assert all(bool(re.search("[가-힣]", one)) is (lang == "ko") for one in texts)
    for row in question.table(q.drawn)[1]:
        assert all(cell in texts[0] and cell in texts[1] for cell in row)
    assert all(slip.sentence for slip in q.slips)
    assert texts[3].count("<tr") > len(q.slips)


def test_the_exercise_says_its_conventions() -> None:
    said = str(recnb.quiz("ndcg", 1, k=4, gain="exponential", discount="rank", ideal="list", lang="en"))
    assert all(
        one in said
        for one in (
            "k = 4",
            "Gain: 2^relevance − 1.",
            "Discount: the rank itself.",
            "recommended items in their best order",
        )
    )
    assert "p = 0.5" in str(recnb.quiz("rbp", p=0.5, lang="en"))
    assert "beta = 2" in str(recnb.quiz("fbeta", lang="en"))
    assert "ln(rank + 1)" in str(recnb.quiz("dcg", log_base=e, lang="en"))
    assert "the number of hits" in str(recnb.quiz("average_precision", out_of="hits", lang="en"))


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
    q = recnb.quiz("ndcg", 3, lang="en")
    shown = q.check("  0,1234  ")
    assert "0,1234 is not right" in repr(shown)
    forged = Answer(q, answer.Number("<img src=x>", 0.1, 1), "wrong", (), False, None, False)
    assert "<img" not in forged._repr_html_()
    assert "&lt;img" in forged._repr_html_()


def test_html_is_still_and_safe() -> None:
    q = recnb.quiz("ndcg", 3)
    shown = q._repr_html_() + q.check(q.value)._repr_html_()
    assert not re.search(r"<(script|style|svg|link|img|iframe)|https?://|on\w+=", shown)
    assert shown == recnb.quiz("ndcg", 3)._repr_html_() + recnb.quiz("ndcg", 3).check(q.value)._repr_html_()


def test_an_exercise_can_be_pickled() -> None:
    q = recnb.quiz("dcg", 3)
    again = pickle.loads(pickle.dumps(q))
    assert str(again) == str(q)
    assert again.check(q.value)


# The view


def test_the_view_checks_and_reveals_without_a_browser() -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
    view = QuizView(q)
    view.button.click()
    assert "Type a value, or choose the largest term." in view.feedback.value
    view.value.value = "<b>x"
    view.button.click()
    assert "&lt;b&gt;x cannot be read as a number" in view.feedback.value
    assert not view.solution.value
    view.value.value = f"{q.slips[0].value:.4f}"
    view.button.click()
    assert "A common mistake gives exactly this number" in view.feedback.value
    assert not view.solution.value
    view.value.value, view.largest.value = f"{q.value:.4f}", q.largest[0]
    assert not view.solution.value, "what is typed is checked when it is entered"
    view.value._handle_custom_msg({"event": "submit"}, [])  # the Enter key
    assert "✓" in view.feedback.value
    assert view.solution.value == q.reveal()._repr_html_()
    assert "q.check" not in view.question.value


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
    assert shown["text/plain"] == repr(q)
    assert shown["text/html"] == q._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in shown
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.delitem(sys.modules, "recnb.widgets.quiz.view")
    assert set(q._repr_mimebundle_()) == {"text/plain", "text/html"}


# What is refused


@pytest.mark.parametrize(
    "asked, error, message",
    [
        ({"metric": "ndgc"}, OptionError, "Did you mean 'ndcg'"),
        ({"seed": -1}, OptionError, "is not a seed"),
        ({"seed": 1.5}, OptionError, "is not a seed"),
        ({"seed": True}, OptionError, "is not a seed"),
        ({"k": 2}, CutoffError, "cut at 3 to 10"),
        ({"k": 11}, CutoffError, "cut at 3 to 10"),
        ({"k": 2.5}, CutoffError, "is not a cut-off"),
        ({"metric": "r_precision", "k": 3}, CutoffError, "leave k out"),
        ({"digits": 1}, OptionError, "2 to 8 decimals"),
        ({"digits": "4"}, OptionError, "2 to 8 decimals"),
        ({"lang": "kr"}, OptionError, "no language"),
        ({"gain": "exp"}, OptionError, "no option of ndcg"),
        ({"metric": "recall", "gain": "linear"}, OptionError, "has no option 'gain'"),
        ({"metric": "rbp", "p": 2}, OptionError, "between 0 and 1"),
        ({"metric": "err", "max_relevance": 2}, OptionError, "not the top of the scale"),
    ],
)  # fmt: skip
def test_bad_exercises_are_refused(asked: dict[str, Any], error: type[RecnbError], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        recnb.quiz(**asked)


def test_aliases_and_numpy_numbers_are_taken() -> None:
    assert recnb.quiz("mrr", np.int64(2)).drawn == recnb.quiz("reciprocal_rank", 2).drawn
    assert recnb.quiz("map", 2, k=np.int64(4), digits=np.int64(3)).digits == 3
