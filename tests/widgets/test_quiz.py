"""Exercises: what is drawn, which mistake gives which number, and what is told of it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from math import e, inf, log, log2, log10, sqrt
from typing import Any

import pytest

import recnb
from recnb.display.language import with_particles
from recnb.errors import RecnbError
from recnb.metrics import accuracy
from recnb.metrics.hits import Cutoff, Hits
from recnb.metrics.metric import METRICS, Credit
from recnb.widgets import quiz as quizzes
from recnb.widgets.quiz import APART, LEAST_K, MOST_K, Quiz
from recnb.widgets.quiz.exercise import Exercise
from recnb.widgets.quiz.mistakes import SLIPS, Slip

#: Exercises in other conventions, in which the mistake is what is usual elsewhere.
OTHERWISE: dict[str, list[dict[str, Any]]] = {
    "precision": [{"out_of": "min(k, relevant)"}],
    "recall": [{"out_of": "min(k, relevant)"}],
    "reciprocal_rank": [{"target": "preferred"}],
    "average_precision": [{"out_of": "hits"}, {"out_of": "min(k, relevant)"}],
    "cg": [{"gain": "exponential"}],
    "dcg": [{"gain": "exponential"}, {"discount": "rank"}, {"log_base": e}],
    "idcg": [{"gain": "exponential"}, {"discount": "rank"}, {"log_base": 10}, {"ideal": "list"}],
    "ndcg": [{"gain": "exponential"}, {"discount": "rank"}, {"ideal": "list"}, {"ideal": "min(k, list)"}],
}


def slips_with(metric: str) -> dict[str, Slip]:
    """The mistakes with a metric, under any options."""
    defaults = METRICS[metric].defaults
    made = [slip for slip in reversed(SLIPS) if metric in (slip.metrics or metric).split()]
    return {
        slip.name: slip for slip in made if not isinstance(slip.number, dict) or slip.number.keys() <= defaults.keys()
    }


def assert_told_apart(q: Quiz) -> None:
    unit = 10.0 ** -(q.digits or 4)
    values = [q.value, *(slip.value for slip in q.slips)]
    assert not any(abs(one - other) < APART * unit for one, other in combinations(values, 2)), q
    assert min(abs(q.value), abs(q.value - 1)) > unit
    assert abs(q.value / unit % 1 - 0.5) > 0.01, "on the edge of rounding"
    assert all(slip.value > unit for slip in q.slips)


def assert_small(q: Quiz) -> None:
    for row, truth in zip(q.lists, q.truths, strict=True):
        assert len(set(row)) == len(row)
        assert q.k is None or len(row) > q.k
        assert list(truth) == sorted(truth)
        assert all(0 < grade <= 3 for grade in truth.values())
    assert 3 <= len(q.row) <= 6
    assert q.metric == "hit_rate" or (len(q.row) >= 4 and q.truth.keys() - {*q.row})


# One list worked out by hand: grades 2, 0, 3, 1, 0 at ranks 1 to 5, cut at 3; F of grade 1 is missed.

ROW, TRUTH = ("A", "B", "C", "D", "E"), {"A": 2, "C": 3, "D": 1, "F": 1}
P, R = 2 / 3, 2 / 4
LOG3 = log2(3)
DCG, IDCG = 2 + 3 / 2, 3 + 2 / LOG3 + 1 / 2
STOP = {1: 1 / 8, 2: 3 / 8, 3: 7 / 8}
BY_HAND: dict[str, tuple[float, dict[str, float]]] = {
    "precision": (P, {"no_cutoff": 3 / 5, "recall": R, "out_of_length": 2 / 5, "hits_below": 3 / 3, "graded": 5 / 3, "one_more": 3 / 4}),
    "recall": (R, {"no_cutoff": 3 / 4, "precision": P, "out_of_length": 2 / 5, "found_only": 2 / 3, "graded": 5 / 7}),
    "f1": (
        4 / 7,
        {"no_cutoff": 2 * 3 / (5 + 4), "arithmetic": (P + R) / 2, "geometric": sqrt(P * R), "no_factor": 2 / 7, "product": P * R},
    ),
    "fbeta": (
        5 * P * R / (4 * P + R),
        {
            "no_cutoff": 5 * (3 / 5) * (3 / 4) / (4 * 3 / 5 + 3 / 4), "arithmetic": (P + R) / 2, "no_factor": P * R / (4 * P + R),
            "beta_ignored": 4 / 7, "beta_swapped": 5 * P * R / (P + 4 * R), "beta_not_squared": 3 * P * R / (2 * P + R),
        },
    ),
    "reciprocal_rank": (
        1,
        {
            "preferred": 1 / 3, "last_hit": 1 / 3, "from_zero": inf, "not_inverted": 1, "mean_of_hits": (1 + 1 / 3) / 2,
            "sum_of_hits": 1 + 1 / 3, "discounted": 1, "graded": 2,
        },
    ),
    "average_precision": (
        (1 + 2 / 3) / 4,
        {
            "out_of_hits": (1 + 2 / 3) / 2, "out_of_k": (1 + 2 / 3) / 3, "no_cutoff": (1 + 2 / 3 + 3 / 4) / 4, "out_of_length": (1 + 2 / 3) / 5,
            "not_divided": 1 + 2 / 3, "precision": P, "reciprocal_rank": 1, "every_rank": (1 + 1 / 2 + 2 / 3) / 3, "not_counted_up": (1 + 1 / 3) / 4, "graded": (2 / 1 + 5 / 3) / 4,
        },
    ),
    "cg": (5, {"exponential_gain": 10, "binary_gain": 2, "no_cutoff": 6, "discounted": DCG, "mean": 5 / 3, "one_more": 6}),
    "dcg": (
        DCG,
        {
            "exponential_gain": 3 + 7 / 2, "binary_gain": 1 + 1 / 2, "log_of_rank": 2 + 3 / LOG3, "rank_discount": 2 + 3 / 3,
            "natural_log": 2 / log(2) + 3 / log(4), "log_10": 2 / log10(2) + 3 / log10(4), "no_cutoff": DCG + 1 / log2(5),
            "not_discounted": 5, "normalised": DCG / IDCG, "sorted": IDCG,
        },
    ),
    "idcg": (
        IDCG,
        {
            "exponential_gain": 7 + 3 / LOG3 + 1 / 2, "binary_gain": 1 + 1 / LOG3 + 1 / 2, "log_of_rank": 3 + 2 + 1 / LOG3,
            "rank_discount": 3 + 2 / 2 + 1 / 3, "natural_log": 3 / log(2) + 2 / log(3) + 1 / log(4),
            "log_10": 3 / log10(2) + 2 / log10(3) + 1 / log10(4), "ideal_of_list": IDCG, "ideal_uncut": IDCG + 1 / log2(5),
            "ideal_of_top": 3 + 2 / LOG3, "unsorted": DCG, "not_discounted": 6,
        },
    ),
    "ndcg": (
        DCG / IDCG,
        {
            "exponential_gain": (3 + 7 / 2) / (7 + 3 / LOG3 + 1 / 2), "binary_gain": 1.5 / (1 + 1 / LOG3 + 1 / 2),
            "log_of_rank": (2 + 3 / LOG3) / (5 + 1 / LOG3), "rank_discount": 3 / (4 + 1 / 3), "ideal_of_list": DCG / IDCG,
            "no_cutoff": (DCG + 1 / log2(5)) / (IDCG + 1 / log2(5)), "ideal_uncut": DCG / (IDCG + 1 / log2(5)),
            "ideal_of_top": DCG / (3 + 2 / LOG3), "not_divided": DCG, "not_discounted": 5 / 6,
            "ideal_alone": IDCG, "upside_down": IDCG / DCG, "list_uncut": (DCG + 1 / log2(5)) / IDCG,
        },
    ),
    "r_precision": (3 / 4, {"precision": 3 / 5, "whole_list": 3 / 4, "out_of_length": 3 / 5, "found_only": 2 / 3, "graded": 6 / 4}),
    "rbp": (
        0.2 * (1 + 0.64),
        {
            "no_cutoff": 0.2 * (1 + 0.64 + 0.512), "no_factor": 1 + 0.64, "one_power_more": 0.2 * (0.8 + 0.512), "p_swapped": 0.8 * (1 + 0.04),
            "by_hit": 0.2 * (1 + 0.8), "out_of_best": 0.2 * (1 + 0.64) / (1 - 0.512), "graded": 0.2 * (2 + 3 * 0.64),
        },
    ),
    "err": (
        STOP[2] + (1 - STOP[2]) * STOP[3] / 3,
        {
            "no_cutoff": STOP[2] + (1 - STOP[2]) * STOP[3] / 3 + (1 - STOP[2]) * (1 - STOP[3]) * STOP[1] / 4,
            "no_stopping": STOP[2] + STOP[3] / 3, "no_rank": STOP[2] + (1 - STOP[2]) * STOP[3],
            "log_discount": STOP[2] + (1 - STOP[2]) * STOP[3] / 2, "linear_stop": 2 / 3 + (1 / 3) * 1 / 3, "sure_stop": 3 / 7 + (4 / 7) * 1 / 3,
        },
    ),
}  # fmt: skip
OFFERED = {metric: {*slips, *(["per_cent"] if METRICS[metric].bounds[1] == 1 else [])} for metric, (_, slips) in BY_HAND.items()} | {
    "hit_rate": {"no_cutoff", "count_hits", "count_users", "precision", "recall", "all_found", "per_cent"}
}  # fmt: skip
ASKED = {"fbeta": {"beta": 2}, "err": {"max_relevance": 3}}


@pytest.mark.parametrize("metric", BY_HAND)
def test_mistakes_by_hand(metric: str) -> None:
    drawn = Exercise(metric, ASKED.get(metric, {}), None if metric == "r_precision" else 3, (ROW,), (TRUTH,))
    value, slips = BY_HAND[metric]
    assert drawn.value == pytest.approx(value, abs=1e-12)
    made = slips_with(metric)
    assert {name: made[name].number_in(drawn) for name in slips} == pytest.approx(slips, abs=1e-12)
    if "per_cent" in OFFERED[metric]:
        assert made["per_cent"].number_in(drawn) == pytest.approx(100 * value)


def test_mistakes_with_the_hit_rate_by_hand() -> None:
    lists = (("A", "B", "C"), ("B", "D", "A"), ("C", "E", "D"), ("E", "B", "A"))
    truths = ({"A": 1, "B": 1}, {"D": 1, "F": 1}, {"D": 1}, {"C": 1, "F": 1})
    drawn = Exercise("hit_rate", {}, 2, lists, truths)
    assert drawn.value == 2 / 4
    numbers = {
        name: slip.number_in(drawn) for name, slip in slips_with("hit_rate").items() if name in OFFERED["hit_rate"]
    }
    assert numbers == {
        "no_cutoff": 3 / 4, "count_hits": 3 / 4, "count_users": 2, "precision": 3 / 8, "recall": 1.5 / 4, "all_found": 1 / 4, "per_cent": 50,
    }  # fmt: skip


# What is drawn


@pytest.mark.parametrize("metric", METRICS)
def test_every_exercise_offers_all_mistakes_and_tells_them_apart(metric: str) -> None:
    for seed in range(12):
        q = recnb.quiz(metric, seed)
        assert {slip.name for slip in q.slips} == OFFERED[metric]
        assert_told_apart(q)
        assert_small(q)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_hundreds_of_exercises_tell_apart(metric: str) -> None:
    seen = set()
    for seed in range(300):
        q = recnb.quiz(metric, seed)
        assert_told_apart(q)
        seen.add((q.lists, str(q.truths)))
    assert len(seen) > 290


@pytest.mark.parametrize("asked", [{"k": LEAST_K}, {"k": 4}, {"k": 7}, {"k": MOST_K}, {"digits": 3}, {"digits": 8}])
@pytest.mark.parametrize("metric", METRICS)
def test_a_cutoff_and_digits_that_are_given_are_kept(metric: str, asked: dict[str, int]) -> None:
    if metric == "r_precision" and "k" in asked:
        return  # it has its own depth
    q = recnb.quiz(metric, 1, **asked)
    assert all(getattr(q, name) == value for name, value in asked.items())
    assert len(q.row) > (q.k or 0)
    if (metric, asked) != ("reciprocal_rank", {"k": 3}):  # three ranks cannot hold so many cases
        assert_told_apart(q)


PINNED: dict[tuple[str, int], Any] = {
    ("ndcg", 0): (4, ["AFDBGC"], ["A3 C3 D1 E2 F1 G2"], 0.611614, "A"),
    ("ndcg", 3): (3, ["EDAB"], ["A1 B1 C1 E2 F3"], 0.525005, "E"),
    ("average_precision", 7): (3, ["FBEA"], ["A2 C3 D2 E3 F1"], 0.333333, "F"),
    ("hit_rate", 2): (
        3,
        ["CDHB", "DHEB", "BDCA", "GHCD", "BFAC"],
        ["B1 D1 F1", "B1 G1", "B1", "D1", "A1 D1 F1"],
        0.6,
        "",
    ),
    ("err", 11): (3, ["DECB"], ["A3 B1 D2 E1 F2"], 0.414062, "D"),
}


@pytest.mark.parametrize("metric, seed", PINNED)
def test_the_same_seed_gives_the_same_exercise_everywhere(metric: str, seed: int) -> None:
    k, lists, truths, value, largest = PINNED[metric, seed]
    for lang in ("en", "ko"):
        q = recnb.quiz(metric, seed, lang=lang)
        assert (q.k, ["".join(row) for row in q.lists]) == (k, lists)
        assert [" ".join(f"{item}{grade}" for item, grade in truth.items()) for truth in q.truths] == truths
        assert (round(q.value, 6), "".join(q.largest)) == (value, largest)


@pytest.mark.parametrize("metric", METRICS)
def test_the_value_is_that_of_recnb(metric: str) -> None:
    q = recnb.quiz(metric, 6)
    lists, truths = [list(row) for row in q.lists], [dict(truth) for truth in q.truths]
    asked = (lists, truths) if len(lists) > 1 else (lists[0], truths[0])
    assert q.value == float(getattr(recnb, metric)(*asked, k=q.k, **q.options))
    explained = q.reveal().explanations
    assert sum(one.value for one in explained) / len(explained) == pytest.approx(q.value)


@pytest.mark.parametrize("options", [{"ideal": "min(k, list)"}, {"out_of": "min(k, relevant)"}, {"out_of": "list"}])
def test_an_exercise_under_other_conventions_takes_few_draws(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quizzes, "TRIES", 50)
    assert_told_apart(recnb.quiz("ndcg" if "ideal" in options else "precision", 1, **options))


def test_options_under_which_no_value_is_worth_asking_for_are_refused() -> None:
    with pytest.raises(RecnbError, match=r"ERR under \{'max_relevance': 50\}: its value is always 0 or 1"):
        recnb.quiz("err", max_relevance=50)


def success(hits: Hits, k: Cutoff = None) -> Credit:
    """1 for a list that has a hit."""
    return Credit(hits, k, hits.first)


def count_of_hits(hits: Hits, k: Cutoff = None) -> Credit:
    """Number of hits."""
    return Credit(hits, k, hits.weight)


def patience(hits: Hits, k: Cutoff = None, *, patience: float = 0.8) -> Credit:
    """Rank-biased precision under another name."""
    return accuracy.rbp(hits, k, p=patience)


@pytest.mark.parametrize(
    "function, top, shown",
    [
        (success, 1, ("over these", "Answer to 4 decimals")),
        (count_of_hits, inf, ("of this list", "a whole number")),
        (patience, 1, ("of this list", "\nConventions: patience = 0.8.\n")),
    ],
)
def test_a_new_metric_has_exercises(
    function: Any, top: float, shown: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A metric that is 0 or 1 for one list is asked for as a mean over users, a count as a whole number."""
    plain = {"called": "", "credit": "1", "out_of": "1", "meanings": {}, "aliases": ()}
    made = replace(METRICS["precision"], function=function, bounds=(0, top), **plain)
    monkeypatch.setitem(METRICS, function.__name__, made)
    monkeypatch.setattr(quizzes, "TRIES", 200)
    for seed in range(5):
        q = recnb.quiz(function.__name__, seed, lang="en")
        assert all(words in str(q) for words in shown)
        assert {slip.name for slip in q.slips} == {"no_cutoff", *(["per_cent"] if top == 1 else [])}
        assert all(abs(slip.value - q.value) > 1e-3 for slip in q.slips)
        assert q.check(q.value)
        assert "A common mistake gives exactly this number" in repr(q.check(q.slips[0].value))
        assert "<details" in q.reveal()._repr_html_()
        assert "<details" not in replace(q, slips=()).reveal()._repr_html_()


# What is told of a wrong number


@pytest.mark.parametrize("metric", METRICS)
def test_every_mistake_is_recognised_in_both_languages(metric: str) -> None:
    recognised = set()
    for options in [{}, *OTHERWISE.get(metric, [])]:
        for lang in ("en", "ko"):
            q = recnb.quiz(metric, 2, lang=lang, **options)
            for slip in q.slips:
                said = q.check(f"{slip.value:.4f}")
                assert not said
                assert q.grade(slip.value) == 0
                assert slip.name in {one.name for one in said.slips}
                sentence = said.sentences()[-1]
                assert not re.search(r"[{}|]|\(으\)|을\(를\)|None|nan", sentence), sentence
                assert (len(re.findall("[가-힣]", sentence)) > 10) is (lang == "ko"), sentence
                recognised.add(slip.name)
    never = {"no_cutoff"} if metric in ("idcg", "r_precision", "reciprocal_rank") else set()  # it changes nothing there
    assert recognised | never | {"per_cent"} == slips_with(metric).keys()


def test_every_line_is_a_mistake_of_its_own() -> None:
    for slip in SLIPS:
        metrics = slip.metrics.split() or METRICS
        assert any(slips_with(metric).get(slip.name) is slip for metric in metrics), slip
        assert {*metrics} <= {*METRICS}


@pytest.mark.parametrize(
    ("metric", "given", "told"),
    [
        ("ndcg", lambda q: recnb.ndcg(q.row, q.truth, k=q.k, ideal="k"), "This is nDCG@3 under another convention: ideal: k items as good as the best."),
        ("ndcg", lambda q: recnb.ndcg(q.row, q.truth, k=2), "This is nDCG@2: the exercise is cut at k = 3."),
        ("recall", lambda q: recnb.recall(q.row, q.truth, k=q.k + 1), "This is Recall@4: the exercise is cut at k = 3."),
        ("dcg", lambda q: recnb.rbp(q.row, q.truth, k=q.k), "This is the rank-biased precision, RBP@4: add (1-p)*p^(rank-1) for each hit."),
        ("f1", lambda q: recnb.recall(q.row, q.truth, k=q.k), "This is the recall, Recall@3: add 1 for each hit, divide by n_relevant."),
    ],
)  # fmt: skip
def test_other_numbers_of_the_list_are_recognised(metric: str, given: Any, told: str) -> None:
    q = recnb.quiz(metric, 1, lang="en")
    said = q.check(f"{given(q):.4f}")
    assert (bool(said), said.slips) == (False, ())
    assert said.sentences()[1:] == [told]


def test_0_and_1_are_not_taken_for_other_metrics_which_are_often_0_or_1() -> None:
    q = recnb.quiz("f1", 1, lang="en")
    assert recnb.hit_rate(q.row, q.truth, k=q.k) == 1
    assert q.check(1).sentences()[1].startswith("No common mistake gives this number.")


def test_natural_log_is_no_mistake_with_ndcg() -> None:
    q = recnb.quiz("ndcg")
    assert recnb.ndcg(q.row, q.truth, k=q.k, log_base=e) == pytest.approx(q.value)
    assert "natural_log" not in slips_with("ndcg")
    assert "natural_log" in slips_with("dcg")


def test_gains_of_whole_grades_are_asked_for_as_whole_numbers() -> None:
    q = recnb.quiz("cg", 2, lang="en")
    assert q.digits == 0
    assert "Answer with a whole number." in str(q)
    whole = f"{q.value:.0f}"
    assert f"Right: {q.label} = {whole}.\n" in repr(q.check(int(whole)))
    assert q.check(f"{whole}.0")
    assert not q.check(q.value + 0.3)
    mean = next(slip for slip in q.slips if slip.name == "mean")
    assert q.check(f"{mean.value:.4f}").slip == "mean"
    assert "Answer to 3 decimals" in str(recnb.quiz("cg", 2, digits=3, lang="en"))
    assert all(recnb.quiz(metric).digits == 4 for metric in METRICS if metric != "cg")


@pytest.mark.parametrize("metric", ["dcg", "idcg", "ndcg"])
def test_a_hint_at_a_rank_is_at_an_item_that_adds_to_the_sum(metric: str) -> None:
    hint = r"(?:[Ss]ee|at) rank (\d+)[,:]? .*?divided by ([\d.]*\d)(?: and should be divided by ([\d.]*\d))?"
    hints = 0
    for options in [{}, *OTHERWISE[metric]]:
        for seed in range(12):
            q = recnb.quiz(metric, seed, lang="en", **options)
            of_list = q.option("ideal") == "list"
            ideal = sorted((grade for item, grade in q.truth.items() if item in q.row or not of_list), reverse=True)
            grades = ideal[: q.k] if metric == "idcg" else q.grades
            for sentence in (str(slip.sentence) for slip in q.slips):
                if found := re.search(hint, sentence):
                    rank, divided, divides = found.groups()
                    assert grades[int(rank) - 1] > 0, (sentence, str(q))
                    assert divided != (divides or "1"), sentence
                    hints += 1
    assert hints > 50


def test_per_cent_is_told_apart_by_its_sign() -> None:
    q = recnb.quiz("ndcg", 3, lang="en")
    shown = f"{100 * q.value:.2f}"
    assert q.check(f"{shown}%")
    assert q.check(f"{shown} %")
    assert q.check(shown).slip == "per_cent"
    assert "per_cent" not in OFFERED["dcg"]


def test_korean_particles_fit_the_number_as_it_is_read() -> None:
    read = dict(
        zip(
            map(str, range(11)), ["으로", "로", "로", "으로", "로", "로", "으로", "로", "로", "로", "으로"], strict=True
        )
    )
    assert {number: with_particles(f"{number}(으)로").removeprefix(number) for number in read} == read
    assert with_particles("0.2을(를), 0.5을(를), 0.3을(를)") == "0.2를, 0.5를, 0.3을"
