"""Exercises: what is drawn, which mistake gives which number, how answers are read and
judged, and how it all shows.
"""

from __future__ import annotations

import functools
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from math import inf, log2, log10, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recnb
from recnb.errors import CutoffError, RecnbError
from recnb.results.single_list import OF_ONE_LIST, score_lists
from recnb.widgets.quiz import Quiz
from recnb.widgets.quiz.draw import _says_something
from recnb.widgets.quiz.mistakes import Mistake
from recnb.widgets.quiz.slips import SLIPS
from recnb.widgets.quiz.typed import read_answer
from tests.korean import english_in, page
from tests.rows import hold_refused, read_rows

# Other numbers of a list: grades 2, 0, 3, 1, 0 at ranks 1 to 5, cut at 3; F of grade 1
# is missed

ROW, TRUTH = list("ABCDE"), {"A": 2, "C": 3, "D": 1, "F": 1}


def exercise(
    metric: str,
    rows: list[list[str]],
    truths: list[dict[str, int]],
    k: int | None,
    **options: Any,
) -> Quiz:
    return Quiz(
        metric, {**OF_ONE_LIST[metric].defaults, **options}, k, rows, truths, "en"
    )


# What is drawn


@pytest.mark.parametrize("metric", OF_ONE_LIST)
def test_an_exercise_is_small_and_each_mistake_is_recognised(metric: str) -> None:
    seen: set[str] = set()
    n_mistakes = len(recnb.quiz(metric, 99).mistakes)
    for seed, asked in enumerate([None, None, 2, 10]):
        k = None if metric == "r_precision" else asked
        q = recnb.quiz(metric, seed, k=k, lang="en")
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
        assert n_mistakes - len(q.mistakes) <= 4, (
            "most mistakes have a number of their own"
        )
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
        q = recnb.quiz(metric, 6, lang="en", **options)
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
        assert ("X (1)" in str(q)) is (len(given[0]) == 4)


def test_an_area_of_0_is_no_exercise() -> None:
    with pytest.raises(RecnbError, match="every relevant item of the list is below"):
        recnb.quiz("auc", [0, 3, 1], lang="en")
    with pytest.raises(RecnbError, match="by its name, and its options as keywords"):
        recnb.quiz("bpref", lang="en")


def test_a_sheet_has_the_questions_and_then_the_solutions(tmp_path: Path) -> None:
    drawn, own = (
        recnb.quiz("ndcg", 1, lang="en"),
        recnb.quiz("hit_rate", [["A", "B"], ["C"]], [{"B"}, {"A"}], lang="en"),
    )
    drawn.to_html(tmp_path / "sheet.html", own, title="<Homework>")
    asked, solved = (
        (tmp_path / "sheet.html").read_text("utf-8").split("break-before: page")
    )
    for one, value in ((drawn, f"= {drawn.value:.4f}"), (own, "= 0.5000")):
        assert (
            f"{one.label} = __" in asked,
            value in asked,
            f"{one.label} {value}" in solved,
        ) == (True, False, True)
        assert one.mistakes[0].sentence in solved
    assert "over these 2 users" in asked
    assert "<title>&lt;Homework&gt;</title>" in asked
    assert "displaystyle" not in solved
    assert "break-before" not in own.to_html(solutions=False)


def test_a_sheet_has_room_to_work_and_the_discounts_that_are_needed() -> None:
    drawn, precision = (recnb.quiz(name, 1, lang="en") for name in ("ndcg", "recall"))
    by_rank = recnb.quiz("dcg", 1, lang="en", discount="rank")
    sheet = page(drawn.to_html(None, drawn, by_rank, precision, solutions=False))
    assert sheet.count("Working") == 4
    assert sheet.count("2.32193") == 1
    lines = " ".join(sheet.split("\n"))
    assert (
        lines.count("discount log2(1 + rank) 1 1.58496 2 2.32193 2.58496 2.80735") == 1
    )
    assert lines.count("discount rank 1 2 3 4 5 6") == 1
    assert "discount" not in page(precision.to_html(solutions=False))


def test_the_room_to_work_is_beside_the_question() -> None:
    """So the five questions of a class are one sheet of paper, printed on both sides."""
    drawn = recnb.quiz("ndcg", seed=5, k=3, lang="en")
    own = ("Why?", "Because.")
    sections = drawn.to_html(None, own, solutions=False).split("<section")[1:]
    for section in sections:
        question, working = section.split("Working")
        assert "display: flex; flex-wrap: wrap" in question.partition(">")[0]
        assert question.count("flex: 1 1 22em") == 2
        assert "______" in working or "Why?" in question


def test_another_base_of_the_logarithm_is_a_mistake_of_dcg() -> None:
    dcg = recnb.quiz("dcg", ["A", "B"], {"A": 1, "B": 3}, k=2, lang="en")
    for base, log in (("10", log10), ("e", np.log)):
        answer = dcg.check(1 / log(2) + 3 / log(3))
        assert f"logarithm of base {base}" in repr(answer)


def test_solutions_alone_do_not_repeat_the_questions() -> None:
    first, second = (recnb.quiz(name, 1, lang="en") for name in ("ndcg", "recall"))
    solutions = page(first.to_html(None, second, questions=False))
    for one in (first, second):
        assert one.mistakes[0].sentence in solutions
        assert f"What is the {OF_ONE_LIST[one.metric].term}" not in solutions
    assert "Working" not in solutions
    assert "break-before" not in first.to_html(questions=False)


def test_a_question_of_ones_own_is_text_and_tables_with_a_solution() -> None:
    printed = [["user", "nDCG"], ["<b>", 0.6953]]
    long = "Which figure is wrong? " + 30 * "Say why. "
    own = ([long, printed], "The <first>.")
    first = recnb.quiz("recall", 1, lang="en")
    sheet = first.to_html(None, own, title="Sheet")
    asked, solved = sheet.split("break-before: page")
    assert long.strip() in asked
    assert "&lt;b&gt;" in asked
    assert "0.6953" in asked
    assert "The &lt;first&gt;." in solved
    assert "The &lt;first&gt;." not in asked
    assert "<b>2.</b>" in re.sub(' style="[^"]*"', "", asked)
    for no_pair in (("only", "two", "go"), ["a list", "is no pair"], "a question"):
        with pytest.raises(
            RecnbError, match="give a pair of the question and its solution"
        ):
            first.to_html(None, no_pair)


def test_a_korean_sheet_is_korean() -> None:
    assert english_in(page(recnb.quiz("ndcg", 1, lang="ko").to_html())) == set()


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


#: What is typed, and why it is not read.
UNREAD = [
    *(
        (
            bad,
            r"is not read as a number: .* '3/log2\(2\) \+ 2/log2\(3\)'",
            r"숫자로 읽을 수 없다.* '3/log2\(2\) \+ 2/log2\(3\)'",
        )
        for bad in NO_NUMBERS
    ),
    *(
        (bad, r"divides by 0.* log2\(i \+ 1\)", r"0으로 나눌 수 없다.*log2\(i \+ 1\)")
        for bad in ("2/0", "1/log2(1)", "(1/log2(1) + 2/log2(2))/3")
    ),
]


@functools.cache
def exercise_in(lang: str) -> Quiz:
    return recnb.quiz("precision", 3, lang=lang)


@pytest.mark.parametrize(("bad", "english", "korean"), UNREAD)
def test_what_is_no_number_is_told_and_is_not_right(
    bad: Any, english: str, korean: str
) -> None:
    for lang, words in (("en", english), ("ko", korean)):
        q = exercise_in(lang)
        answer = q.check(bad)
        assert re.search(words, repr(answer))
        assert (bool(answer), q.grade(bad)) == (False, 0.0)


def test_a_comma_without_quotes_is_that_of_decimals() -> None:
    q = recnb.quiz("ndcg", 1, k=3, lang="en")
    assert repr(q.check(0, 4525)) == repr(q.check("0,4525"))
    assert "not read as a number" in repr(q.check(0.5, "b"))


def test_no_value_of_an_exercise_is_on_an_edge_of_rounding() -> None:
    values = [0.12344, 0.12345, 0.12346]
    assert [*map(_says_something, values)] == [True, False, True]


def test_a_long_answer_is_repeated_in_40_letters() -> None:
    q = recnb.quiz("ndcg", 1, lang="en")
    fits, too_long = "1" + "+0" * 19 + " ", "1" + "+0" * 20
    assert f"✗ {fits.strip()} is not right" in repr(q.check(fits))
    assert f"✗ {too_long[:39]}… is not right" in repr(q.check(too_long))
    assert f"'{39 * 'x'}…' is not read" in repr(q.check(41 * "x"))


def test_mistakes_of_one_number_and_what_is_near_are_named() -> None:
    q = recnb.quiz(
        "recall",
        ["A", "B", "C", "D"],
        {"A": 2, "C": 3, "E": 3, "D": 1, "F": 1},
        k=3,
        lang="en",
    )
    for typed, words in (
        ("3/5", ["among the first 3", "The list was not cut"]),
        ("2/3", ["Only the relevant", "Precision@3"]),
    ):
        assert [word in repr(q.check(typed)) for word in words] == [True, True]
    beyond_the_list = recnb.quiz("precision", q.row, q.truth, k=3, lang="en")
    assert "No common mistake" in repr(beyond_the_list.check("3/5"))
    q = recnb.quiz("ndcg", seed=5, k=3, lang="en")
    assert "moved up" in repr(q.check("(3/1 + 1/1.58496) / 4.76186"))


#: What is typed, the value, the numbers of mistakes, and what is said.
#: What is typed, the value, the numbers of mistakes, and what is said.
JUDGED = [
    *ANSWERS["judged"],
    [Decimal("0.8732"), 0.87324519, [], "right"],
]


@pytest.mark.parametrize(("typed", "value", "mistakes", "expected"), JUDGED)
def test_right_is_the_value_rounded_and_fewer_digits_are_judged_at_those_given(
    typed: Any, value: float, mistakes: list[float], expected: str
) -> None:
    q = exercise("precision", [ROW], [TRUTH], 3)
    q.value, vars(q)["mistakes"] = (
        value,
        tuple(Mistake(number, f"slip{at}") for at, number in enumerate(mistakes)),
    )
    answer = q.check(typed)
    assert bool(answer) == (expected == "right")
    assert answer or expected in repr(answer)


def test_0_is_not_told_to_be_another_metric() -> None:
    q = recnb.quiz("recall", ["X", "A"], {"A": 1, "B": 1}, k=2, lang="en")
    assert "No common mistake" in repr(q.check("0.0000"))  # as Recall@1 is


def test_a_value_that_no_list_has_is_told_by_its_bounds() -> None:
    dcg = recnb.quiz("dcg", seed=2, k=3, lang="en")
    assert "never below 0." in repr(dcg.check("-4"))
    assert "No common mistake" in repr(dcg.check("40"))


# How it shows; its text: test_shown; escaping and Korean: tests/display


def test_the_widget_checks_and_reveals_and_its_static_form_has_no_controls() -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
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


REFUSED = read_rows("widgets/quiz_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused_is_told(call: str) -> None:
    hold_refused(call, REFUSED[call], globals())


def test_an_exercise_asked_for_in_other_words_is_the_same() -> None:
    with pytest.raises(CutoffError, match=r"k=4: .*1 to 2"):
        recnb.quiz("ndcg", [3, 1], k=4, lang="ko")
    assert repr(recnb.quiz("mrr", np.int64(2), k=np.int64(4))) == repr(
        recnb.quiz("reciprocal_rank", 2, k=4)
    )
    assert repr(recnb.quiz("nDCG@3", 1)) == repr(recnb.quiz("ndcg", seed=1, k=3))
    assert repr(recnb.quiz("ndcg", seed=None)) == repr(recnb.quiz("ndcg", seed=0))
    assert "is not read as a number" in repr(recnb.quiz(lang="en").check())
