"""Exercises: what is drawn, which mistake gives which number, how answers are read and judged, and how it all shows."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import e, inf, log, log2, log10, nan
from typing import Any

import numpy as np
import pytest

import recnb
from recnb.errors import CutoffError, OptionError, RecnbError
from recnb.metrics import accuracy
from recnb.metrics.hits import Cutoff, Hits
from recnb.metrics.metric import METRICS, Credit
from recnb.widgets.quiz import Quiz
from recnb.widgets.quiz.exercise import SLIPS, Mistake, common_mistakes
from recnb.widgets.quiz.question import read_answer

# Mistakes by hand: grades 2, 0, 3, 1, 0 at ranks 1 to 5, cut at 3; F of grade 1 is missed

ROW, TRUTH = list("ABCDE"), {"A": 2, "C": 3, "D": 1, "F": 1}
P, R, LOG3 = 2 / 3, 2 / 4, log2(3)
DCG, IDCG, FOURTH = 2 + 3 / 2, 3 + 2 / LOG3 + 1 / 2, 1 / log2(5)
STOP = [3 / 8, 7 / 8]  # of grades 2 and 3
OF_DCG = {  # list and ideal list under another gain, discount or base
    "gain 2^relevance - 1": (3 + 7 / 2, 7 + 3 / LOG3 + 1 / 2),
    "binary gain": (1 + 1 / 2, 1 + 1 / LOG3 + 1 / 2),
    "max(1, log2(rank))": (2 + 3 / LOG3, 3 + 2 + 1 / LOG3),
    "discount rank": (2 + 3 / 3, 3 + 2 / 2 + 1 / 3),
    "base 2.718": (2 / log(2) + 3 / log(4), 3 / log(2) + 2 / log(3) + 1 / log(4)),
    "base 10": (2 / log10(2) + 3 / log10(4), 3 / log10(2) + 2 / log10(3) + 1 / log10(4)),
}
BY_HAND: dict[str, tuple[float, dict[str, float]]] = {  # the value, and the mistakes by a part of what is said of each
    "precision": (P, {
        "not cut": 3 / 5, "the recall": R, "divided by 5": 2 / 5, "below rank 3": 3 / 3, "as if it were a gain": 5 / 3, "One rank too many": 3 / 4,
        "number of hits: divide it by k = 3.": 2, "Items that are not relevant": 1 / 3,
    }),
    "recall": (R, {
        "not cut": 3 / 4, "the precision": P, "divided by 5": 2 / 5, "it misses": 2 / 3, "as if it were a gain": 5 / 7,
        "number of hits: divide it by that of relevant items, 4.": 2, "Relevant items that are missed": 2 / 4,
    }),
    "f1": (4 / 7, {"not cut": 2 * 3 / 9, "the precision": P, "the recall": R}),
    "fbeta": (5 * P * R / (4 * P + R), {
        "not cut": 5 * 0.6 * 0.75 / (4 * 0.6 + 0.75), "the F1": 4 / 7, "the precision": P, "the recall": R,
    }),
    "average_precision": ((1 + 2 / 3) / 4, {
        "not cut": (1 + 2 / 3 + 3 / 4) / 4, "divided by 5": (1 + 2 / 3) / 5, "number of hits": (1 + 2 / 3) / 2, "divided by k = 3: it is out of all relevant items, 4.": (1 + 2 / 3) / 3,
        "not divided: their sum is out of all relevant items, 4.": 1 + 2 / 3, "This is the precision": P, "the reciprocal rank": 1, "all 3 ranks": (1 + 1 / 2 + 2 / 3) / 3,
        "1 over its rank": (1 + 1 / 3) / 4, "as if it were a gain": (2 + 5 / 3) / 4,
    }),
    "cg": (5, {"gain 2^": 10, "binary gain": 2, "One rank too many": 6, "discounted cumulative": DCG, "averaged": 5 / 3}),
    "dcg": (DCG, {name: of_list for name, (of_list, _ideal) in OF_DCG.items()} | {
        "not cut": DCG + FOURTH, "the cumulative gain": 5, "normalized": DCG / IDCG, "ideal discounted": IDCG,
    }),
    "idcg": (IDCG, {name: ideal for name, (_of_list, ideal) in OF_DCG.items()} | {
        "not cut: it holds 4": IDCG + FOURTH, "first 3 items of the list": 3 + 2 / LOG3, "the discounted": DCG, "Nothing was discounted": 6,
    }),
    "ndcg": (DCG / IDCG, {name: of_list / ideal for name, (of_list, ideal) in OF_DCG.items() if "base" not in name} | {
        "not cut: all 5": (DCG + FOURTH) / (IDCG + FOURTH), "not cut: it holds 4": DCG / (IDCG + FOURTH), "first 3 items of the list": DCG / (3 + 2 / LOG3),
        "the discounted": DCG, "Nothing was discounted": 5 / 6, "the ideal disc": IDCG, "upside down": IDCG / DCG, "the list was not": (DCG + FOURTH) / IDCG,
    }),
    "r_precision": (3 / 4, {"the precision": 3 / 5}),
    "rbp": (0.2 * (1 + 0.64), {"not cut": 0.2 * (1 + 0.64 + 0.512)}),
    "err": (STOP[0] + (1 - STOP[0]) * STOP[1] / 3, {
        "not cut": STOP[0] + (1 - STOP[0]) * STOP[1] / 3 + (1 - STOP[0]) * (1 - STOP[1]) * (1 / 8) / 4,
    }),
}  # fmt: skip


def exercise(metric: str, rows: list[list[str]], truths: list[dict[str, int]], k: int | None, **options: Any) -> Quiz:
    return Quiz(metric, {**METRICS[metric].defaults, **options}, k, rows, truths, "en")


def assert_told(q: Quiz, value: float, expected: dict[str, float]) -> None:
    """Assert the value, each of the mistakes, and no others but a per cent."""
    assert q.value == pytest.approx(value, abs=1e-12)
    found = {one.sentence: one.number for one in common_mistakes(q)}
    for words, number in expected.items():
        assert [n for s, n in found.items() if words in s] == [pytest.approx(number, abs=1e-12)], (words, found)
    numbers = {*np.round([*expected.values(), 100 * value, value], 9)}
    assert {round(n, 9) for n in found.values()} <= numbers, found
    assert any("per cent" in sentence for sentence in found) is (METRICS[q.metric].bounds[1] == 1)


@pytest.mark.parametrize("metric", BY_HAND)
def test_mistakes_by_hand(metric: str) -> None:
    options = {"fbeta": {"beta": 2}, "err": {"max_relevance": 3}}.get(metric, {})
    k = None if metric == "r_precision" else 3
    assert_told(exercise(metric, [ROW], [TRUTH], k, **options), *BY_HAND[metric])


def test_mistakes_with_reciprocal_and_hit_rate_by_hand() -> None:
    ranks = exercise("reciprocal_rank", [list("EACDB")], [{"A": 2, "C": 3, "D": 1, "F": 1}], 4)
    slips: dict[str, float] = {
        "the last hit": 1 / 4, "from 0": 1 / 1, "This is the rank itself": 2, "averaged": (1 / 2 + 1 / 3 + 1 / 4) / 3, "added up": 1 / 2 + 1 / 3 + 1 / 4,
        "discount of DCG": 1 / LOG3, "relevance was divided": 2 / 2, "preferred item": 1 / 3,
    }  # fmt: skip
    assert_told(ranks, 1 / 2, slips)
    users = (
        [list("ABC"), list("BDA"), list("CED"), list("EBA")],
        [{"A": 1, "B": 1}, {"D": 1, "F": 1}, {"D": 1}, {"C": 1, "F": 1}],
    )
    rates = {"not cut": 3 / 4, "number of users": 2, "the precision": 3 / 8, "all found": 1 / 4}
    assert_told(exercise("hit_rate", *users, 2), 2 / 4, rates | {"Hits were counted": 3 / 4})


@pytest.mark.parametrize("metric", METRICS)
def test_each_mistake_is_recognised_on_drawn_exercises(metric: str) -> None:
    seen: set[str] = set()
    for seed in range(4):
        q = recnb.quiz(metric, seed, lang="en")
        for number, sentence in q.mistakes:
            answer = q.check(f"{number:.4f}")
            assert (bool(answer), q.grade(number)) == (False, 0)
            assert answer.mistake == (number, sentence)
            assert sentence in repr(answer)
            assert not re.search(r"[{}|]|None|nan", sentence)
            seen.add(sentence[:25])
    slips = [slip for slip in SLIPS if metric in slip.metrics.split()]
    if metric != "r_precision":  # both of its confusions may give the same number
        assert all(any(slip.sentence[:12] in one for one in seen) for slip in slips)


OTHERS: list[tuple[str, dict[str, Any], Any, str]] = [  # the number of another option, cut-off or metric, and what is said of it
    ("ndcg", {}, lambda q: recnb.ndcg(q.row, q.truth, k=q.k, ideal="k"), "This is nDCG@3 under another convention: ideal: k items as good as the best."),
    ("err", {}, lambda q: recnb.err(q.row, q.truth, k=q.k + 1, max_relevance=3), "This is ERR@4: the exercise is cut at k = 3."),
    ("dcg", {}, lambda q: recnb.rbp(q.row, q.truth, k=q.k), "This is the rank-biased precision, RBP@3: add (1-p)*p^(rank-1) for each hit."),
    ("f1", {}, lambda q: 1, "No common mistake gives this number."),  # although the hit rate is 1, as it often is
    # Under another definition slips of the usual one are not told.
    ("average_precision", {"out_of": "hits"}, lambda q: recnb.average_precision(q.row, q.truth, k=q.k), "This is AP@3 under another convention: out of all relevant items."),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "options", "given", "said"), OTHERS)
def test_other_numbers_of_the_list_are_recognised(metric: str, options: dict[str, Any], given: Any, said: str) -> None:
    q = recnb.quiz(metric, 1, lang="en", **options)
    answer = q.check(f"{given(q):.4f}")
    assert not answer
    assert said in repr(answer)
    assert not options or not any("number of hits" in one.sentence for one in q.mistakes)


FORMULAS: list[tuple[str, dict[str, Any], Any, str]] = [  # what another metric adds under the options of the exercise
    ("ndcg", {"gain": "exponential"}, recnb.dcg, "DCG@3: add (2^relevance-1)/log2(1+rank) for each hit."),
    ("ndcg", {"gain": "binary", "discount": "rank"}, recnb.idcg, "IDCG@3: add 1/rank for each item of the ideal list."),
    ("dcg", {"gain": "exponential"}, recnb.cg, "CG@3: add 2^relevance-1 for each hit."),
    ("dcg", {"discount": "clipped_log", "log_base": 10}, recnb.ndcg, "nDCG@3: add relevance/max(1, log10(rank)) for each hit, divide"),
    ("cg", {"gain": "exponential"}, recnb.dcg, "DCG@3: add (2^relevance-1)/log2(1+rank) for each hit."),
    ("precision", {"out_of": "list"}, recnb.f1, "F1@3: add 2 for each hit, divide by (k+n_relevant)."),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "options", "other", "said"), FORMULAS)
def test_the_formula_of_another_metric_is_that_of_the_options_in_force(
    metric: str, options: dict[str, Any], other: Any, said: str
) -> None:
    q = exercise(metric, [ROW], [TRUTH], 3, **options)
    shared = {name: word for name, word in options.items() if name in METRICS[other.__name__].defaults}
    assert said in repr(q.check(float(other(ROW, TRUTH, k=3, **shared))))


def test_another_discount_is_told_with_the_base_of_the_exercise() -> None:
    q = exercise("dcg", [ROW], [TRUTH], 3, log_base=1.5)
    other = float(recnb.dcg(ROW, TRUTH, k=3, log_base=1.5, discount="clipped_log"))
    assert "another convention: discount max(1, log_1.5(rank))." in repr(q.check(other))


def test_a_list_of_one_rank_more_was_not_cut() -> None:
    for metric, number in (("precision", "3/4"), ("cg", "6")):
        assert "The list was not cut: all 4 ranks" in repr(exercise(metric, [ROW[:4]], [TRUTH], 3).check(number))


# What is drawn


@pytest.mark.parametrize("asked", [{}, {"k": 2}, {"k": 10}])
@pytest.mark.parametrize("metric", METRICS)
def test_an_exercise_is_small_and_tells_mistakes_apart(metric: str, asked: dict[str, int]) -> None:
    asked = {} if metric == "r_precision" else asked
    for seed in range(2):
        q = recnb.quiz(metric, seed, **asked)
        assert q.k == asked.get("k", q.k)
        assert min(q.value, abs(q.value - 1)) > 10.0**-4
        assert all(abs(one.number - q.value) > 10.0**-4 for one in q.mistakes)
        for row, truth in zip(q.lists, q.truths, strict=True):
            assert len({*row}) == len(row) > (q.k or 0)
            assert 3 <= len(row) <= max(6, asked.get("k", 0) + 2)
            assert list(truth) == sorted(truth)
            assert {*truth.values()} <= {1, 2, 3}
        assert metric == "hit_rate" or q.truth.keys() - {*q.row}
        assert len(recnb.quiz(metric, 99).mistakes) - len(q.mistakes) <= 3, "most mistakes have a number of their own"


PINNED: dict[tuple[str, int], Any] = {
    ("ndcg", 3): (3, ["EDAB"], ["A1 B1 C1 E2 F3"], 0.525005),
    ("average_precision", 7): (3, ["FBEA"], ["A2 C3 D2 E3 F1"], 0.333333),
    ("hit_rate", 2): (2, ["EGF", "FAB", "FEA", "BDF"], ["F1", "A1", "A1 B1 F1", "C1 D1"], 0.75),
    ("err", 11): (3, ["DECB"], ["A3 B1 D2 E1 F2"], 0.414062),
}


@pytest.mark.parametrize("metric, seed", PINNED)
def test_the_same_seed_gives_the_same_exercise_everywhere(metric: str, seed: int) -> None:
    k, lists, truths, value = PINNED[metric, seed]
    q = recnb.quiz(metric, np.int64(seed), lang="ko")
    assert (q.k, ["".join(row) for row in q.lists], round(q.value, 6)) == (k, lists, value)
    assert [" ".join(f"{item}{grade}" for item, grade in truth.items()) for truth in q.truths] == truths


@pytest.mark.parametrize("metric", METRICS)
def test_the_value_is_that_of_recnb_and_of_the_solution(metric: str) -> None:
    for options in [{}, *({name: words[-1]} for name, words in METRICS[metric].words.items())]:
        q = recnb.quiz(metric, 6, lang="en", **options)
        asked = (q.lists, q.truths) if len(q.lists) > 1 else (q.row, q.truth)
        assert q.value == float(getattr(recnb, metric)(*asked, k=q.k, **q.options))
        solution = repr(q.reveal())
        assert q.rounded(q.value) in solution
        if len(q.lists) == 1:  # each side of the line of numbers is an answer
            line = next(line for line in solution.splitlines() if line.startswith("  ") and " = " in line)
            sides = [side for side in line.split(" = ") if "log_" not in side]
            assert len(sides) > 1
            assert all(q.check(side) for side in sides), sides


def patience(hits: Hits, k: Cutoff = None, *, patience: float = 0.8) -> Credit:
    """Rank-biased precision under another name."""
    return accuracy.rbp(hits, k, p=patience)


def test_a_new_metric_has_exercises(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"called": "", "credit": "1", "out_of": "1", "meanings": {}, "aliases": ()}
    monkeypatch.setitem(METRICS, "patience", replace(METRICS["precision"], function=patience, **plain))
    q = recnb.quiz("patience", 1, lang="en")
    assert "\nConventions: patience = 0.8.\n" in str(q)
    known = ["The list was not cut:", "This is the value as "]
    assert [one.sentence[:21] for one in q.mistakes] == known
    assert q.check(q.value)


# Answers as people write them

TYPED: list[tuple[Any, float, int | None]] = [  # an answer, its number and its decimals; none of a fraction
    ("2/3", 2 / 3, None), (" 4 / 6", 2 / 3, None), ("1.0/1.5", 2 / 3, None), (Fraction(2, 3), 2 / 3, None), ("67 %", 0.67, 2), ("87.32%", 0.8732, 4),
    ("0,87", 0.87, 2), ("+,5", 0.5, 1), ("(1+2/3)/4", 5 / 12, None), ("3/log2(1+1) + 2/log2(1+2)", 3 + 2 / log2(3), None), ("(2^3-1)/log2(2)", 7, None),
    ("0,5*3", 1.5, None), ("-(1-3)", 2, None), ("1÷4×2", 0.5, None), ("0.2 * 0.8**2", 0.128, None), ("１/２", 0.5, None), ("½", 0.5, None), ("−1", -1, 0),
    ("8.732e-3", 0.008732, None), (np.float64(0.25), 0.25, 2), (np.int64(3), 3, 0), (0.8732, 0.8732, 4), (Decimal("0.50"), 0.5, 2), ("0．８７", 0.87, 2),
]  # fmt: skip
NO_NUMBERS = (
    "", "about 0.8", "0.8.7", "1,234.5", "0.8,7", "2/0", "1//2", "nan", "inf", "1e9999999999", "1e500", "9" * 500, "½ or so", "<b>1</b>", "%", "open(1)",
    "9**99**99", "(1", "1;2", "a+1", "log2(-1)", "log2()", "[1]", "1 if 1 else 2", "10**999", "True", "(" * 300, True, [0.8], {"value": 1}, nan, inf, object, None,
)  # fmt: skip


def test_answers_are_read_as_people_write_them() -> None:
    for typed, value, decimals in TYPED:
        assert read_answer(typed) == (pytest.approx(value, abs=1e-12), decimals), typed


@pytest.mark.parametrize("bad", NO_NUMBERS)
def test_what_is_no_number_is_refused(bad: Any) -> None:
    for lang, words in (("en", r"is not read as a number: type it as 0\.1234"), ("ko", r"숫자로 읽을 수 없다.*'2/3'")):
        q = recnb.quiz("precision", 3, lang=lang)
        with pytest.raises(RecnbError, match=words):
            q.check(bad)
        assert q.grade(bad) == 0.0


#: What is typed, the value, the numbers of mistakes, and what is said.
JUDGED: list[tuple[Any, float, list[float], str]] = [
    *((typed, 0.87324519, [], "right") for typed in (0.8732, "0,8732", 0.87324519, " .8732 ", "87.32%", "+0.8732", "０．８７３２", Decimal("0.8732"))),
    *((typed, 0.87324519, [], "No common") for typed in ("0.875", "-0.8732", "8.732e-3", 8732, "2/5", "0.8735")),
    (0.8731, 0.87324519, [], "Only the last digit"), (0.8733, 0.87324519, [], "Only the last digit"), ("0.8732", 0.87328, [], "Only the last digit"),
    ("0.8731", 0.87328, [], "No common"), ("0.873", 0.8732, [0.8691, 0.4], "right"),
    ("0.87", 0.8732, [0.8691, 0.4], "too few decimals"),  # as 0.8691 rounds to 0.87 as well
    ("0.9", 0.8732, [0.4], "too few decimals"),  # as one decimal never is enough
    ("0.5", 0.525, [0.5], "slip0"), ("0.869", 0.8732, [0.8691, 0.4], "slip0"), ("0.4", 0.8732, [0.8691, 0.4], "slip1"),
    ("0.4", 0.8732, [0.41], "No common"),  # nor is a mistake named by one decimal
    (0.87, 0.86998, [0.8751], "right"),  # 0.8700 typed as a number is 0.87
    (7, 7.0, [], "right"), ("0.25", 0.51, [0.25, 0.25], "slip0"), ("67 %", 2 / 3, [], "right"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "value", "mistakes", "expected"), JUDGED)
def test_right_is_the_value_rounded_and_fewer_digits_are_judged_at_those_given(
    typed: Any, value: float, mistakes: list[float], expected: str
) -> None:
    q = exercise("precision", [ROW], [TRUTH], 3)
    q.value, vars(q)["mistakes"] = value, tuple(Mistake(number, f"slip{at}") for at, number in enumerate(mistakes))
    answer = q.check(typed)
    assert bool(answer) == (expected == "right")
    assert answer or expected in repr(answer)


# How it shows; escaping and Korean: tests/display


@pytest.mark.parametrize(
    ("metric", "options", "said"),
    [
        ("ndcg", {"k": 4, "gain": "exponential", "discount": "rank"}, ["k = 4", "gain 2^relevance - 1; discount rank; ideal: all relevant"]),
        ("ndcg", {"ideal": "list"}, ["ideal: the list's own items, best first."]), ("rbp", {"p": 0.5}, ["Conventions: p = 0.5."]),
        ("fbeta", {}, ["Conventions: beta = 2."]), ("dcg", {"log_base": e}, ["log_2.718(1 + rank)"]),
        ("average_precision", {}, ["out of all relevant items", "or with a fraction, such as 2/3."]), ("average_precision", {"out_of": "hits"}, ["out of the hits."]),
        ("reciprocal_rank", {"target": "preferred"}, ["most preferred item"]), ("precision", {"out_of": "list"}, ["out of the list's length"]),
    ],
)  # fmt: skip
def test_an_exercise_says_its_conventions(metric: str, options: dict[str, Any], said: list[str]) -> None:
    shown = str(recnb.quiz(metric, 1, lang="en", **options))
    assert all(one in shown for one in said), shown
    assert "Conventions" not in str(recnb.quiz("precision", 1, lang="en")) + str(recnb.quiz("recall", 1, lang="en"))


def test_the_widget_checks_and_reveals_and_its_static_form_has_no_controls() -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
    still, (top, worked) = q._repr_html_(), q.widget().children
    assert "Check your answer with q.check(value)" in still
    assert "<input" not in still
    assert "q.check" not in top.html
    for typed, words in [
        ("<b>x", "&#39;&lt;b&gt;x&#39; is not read as a number"),
        (f"{q.mistakes[0].number:.4f}", "A common mistake gives exactly this number"),
        (f"{q.value:.4f}", "✓ Right: nDCG@3"),
    ]:
        q.use("value", typed)
        assert words not in top.html, "what is typed is checked when it is entered"
        assert not worked.value
        q.use("check")
        assert words in top.html.partition('role="alert"')[2]
    assert "What common mistakes give here" in worked.value
    assert worked.value in q._repr_html_()
    again = recnb.quiz("hit_rate", 3)
    again.use("show")
    assert again._worked() != [""]
    assert f"{q.value:.4f}" not in str(q) + still
    assert repr(pickle.loads(pickle.dumps(q))) == str(q)
    assert ["ideal list" in repr(one) for one in (q.check(q.value), q.check(0.1), q.reveal())] == [True, False, True]
    assert bool(q.reveal()) is False


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: recnb.quiz("ndgc"), OptionError, "Did you mean 'ndcg'"),
        *[(lambda seed=seed: recnb.quiz(seed=seed), OptionError, f"seed={seed!r}: a quiz draws its own list from a whole number") for seed in ("monday", 1.0, True, None)],
        *[(lambda k=k: recnb.quiz(k=k), CutoffError, "cut at 2 to 10") for k in (1, 11)],
        (lambda: recnb.quiz("ndcg", 7, 6), OptionError, "6 is one argument too many: after metric and seed, name each, such as k=5."),
        (lambda: recnb.quiz(k=2.5), CutoffError, "is not a cut-off"), (lambda: recnb.quiz("r_precision", k=3), CutoffError, "leave k out"),
        (lambda: recnb.quiz(digits=3), OptionError, "has no option 'digits'"), (lambda: recnb.quiz(lang="kr"), OptionError, "no language"),
        (lambda: recnb.quiz(gain="exp"), OptionError, "no option of ndcg"), (lambda: recnb.quiz("recall", gain="linear"), OptionError, "has no option 'gain'"),
        (lambda: recnb.quiz("rbp", p=2), OptionError, "between 0 and 1"), (lambda: recnb.quiz("err", max_relevance=2), OptionError, "not the top of the scale"),
        (lambda: recnb.quiz("err", max_relevance=50), RecnbError, "its value is always 0 or 1"),
        (lambda: recnb.quiz().chek, AttributeError, "Quiz has no 'chek'. Did you mean 'check'?"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()
    assert recnb.quiz("mrr", 2, k=np.int64(4)).metric == "reciprocal_rank"
