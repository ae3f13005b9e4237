"""Explanations: every printed line of numbers is true arithmetic, for every metric,
option and rule; what they hold and show.
"""

from __future__ import annotations

import decimal
import functools
import html
import itertools
import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.errors import OptionError, RecnbError
from recnb.metrics.metric import LIST_METRICS, RETRIEVAL_METRICS, Metric
from tests.examples import examples
from tests.laws.sentences import USERS, Frames, frames, metric_options
from tests.results import test_shown
from tests.results.test_shown import LISTED as EV
from tests.results.test_shown import LISTS, RELEVANT
from tests.rows import hold_calls, read_rows
from tests.strategies import each_word

# A calculator for printed lines

EXACT = decimal.Context(prec=40)
LITERAL = re.compile(r"(?<![\w.])\d[\d.]*([eE][+-]?\d+)?")


class Number(Decimal):
    """A printed number; 0^0 is 1."""

    def __pow__(self, exponent: Any, _modulus: Any = None) -> Decimal:
        return Decimal.__pow__(self, exponent) if exponent else Decimal(1)


def log(base: Decimal, number: Decimal) -> Decimal:
    return number.ln() / base.ln()


def value_of(code: str) -> Decimal:
    """The value of printed code, of which no digit is lost."""
    with decimal.localcontext(EXACT):
        return +Decimal(eval(LITERAL.sub(r"Number('\g<0>')", code)))


@functools.cache
def calculated(text: str) -> tuple[Decimal, Decimal] | None:
    """The value of an expression as it is printed, and how far its rounded numbers can
    move it; None for words.
    """
    if "…" in text:
        return None
    code = (
        re.sub(r"log_?([\d.]+)\(", r"log(\1, ", text)
        .replace("ln(", f"log({math.e!r}, ")
        .replace("^", "**")
    )
    code = re.sub(
        r"\[([^][]*?)(<=|==?)([^][]*)\]",
        lambda found: f"(({found[1]}) {found[2].rstrip('=')}= ({found[3]}))",
        code,
    )
    value, off = value_of(code), Decimal(0)
    for literal in LITERAL.finditer(code):
        if half := half_a_unit(literal[0]):
            moved = Decimal(literal[0]) + half
            other = f"{code[: literal.start()]}{moved}{code[literal.end() :]}"
            off += abs(value_of(other) - value)
    return value, off


def half_a_unit(literal: str) -> Decimal:
    """Half of the last digit that a printed number may have: four digits at least;
    whole numbers are exact.
    """
    number = Decimal(literal)
    if literal.isdigit() or not number:
        return Decimal(0)
    last = int(number.as_tuple().exponent)
    return Decimal(5).scaleb(
        min(last, number.adjusted() - 3) - 1 if last > -4 else last - 1
    )


def assert_true(line: str, ends: float) -> None:
    """Each "=" of a line is an equation at the printed digits, and the line ends with a
    number.
    """
    if re.match("no relevant item|nothing to divide by", line):
        assert line.endswith(f" {ends:g}"), line
        return
    parts = [calculated(part) for part in line.split(" = ")]
    assert len(parts) > 1, line
    known = [part for part in parts if part is not None]
    ends_at = (Decimal(ends), Decimal(0))
    for (left, left_off), (right, right_off) in itertools.pairwise([*known, ends_at]):
        off = left_off + right_off + Decimal("1e-12") * abs(right)
        assert abs(left - right) <= off, line


def assert_shown(explained: recnb.results.Explanation, value: float) -> None:
    """The line of numbers is true as text and as HTML show it."""
    if not math.isnan(value):
        assert_true(repr(explained).split("\n")[2].strip(), value)
        page = explained._repr_html_()
        code = re.findall(r"<code>(.*?)</code>", page, re.DOTALL)[0]
        assert_true(html.unescape(code), value)


def assert_explained(explained: recnb.results.Explanation, value: float) -> None:
    """The line of numbers, the term of each row and the sums are true, and end at the
    value of the metric.
    """
    assert explained.value == pytest.approx(value, rel=1e-12, abs=1e-15, nan_ok=True)
    if math.isnan(value):
        return
    assert_true(explained.numbers, value)
    rows, ideal = explained.rows, explained.ideal
    for frame in [rows] if ideal is None else [rows, ideal]:
        for term, credit in zip(frame.get("term", ()), frame["credit"], strict=False):
            if term:
                assert_true(f"{term} = {credit!r}", credit)
        if "running" in frame:
            assert frame["running"].tolist() == pytest.approx(
                frame["credit"].cumsum().tolist()
            )
    for term in (*explained.terms, *explained.out_of_terms):
        assert calculated(term) is not None, term
    if not explained.line and METRICS.get(explained.metric):
        under = explained.out_of
        assert rows["credit"].sum() == pytest.approx(value * under, rel=1e-9, abs=1e-12)
        if explained.out_of_terms and ideal is not rows:
            parts = map(calculated, explained.out_of_terms)
            over = sum(part[0] for part in parts if part)
            assert float(over) == pytest.approx(under, rel=1e-4, abs=1e-15)


# Lists with equal scores

ROWS = read_rows("results/explained.toml")
RECS = pd.DataFrame(ROWS["recs"], columns=["user", "item", "score"])
TRUTH = pd.DataFrame(ROWS["truth"], columns=["user", "item", "relevance"])
TRAIN = pd.DataFrame(ROWS["train"], columns=["user", "item"])
ITEMS = pd.DataFrame(
    {
        "item": list("abcqrsxyz"),
        "genre": ["p|q", "p", "q|r|s", "r", "p", "q", "p|r", "s", "p|q|r"],
    }
)

ACCURACY: dict[str, Metric[...]] = {
    **METRICS,
    **{
        name: metric
        for name, metric in RETRIEVAL_METRICS.items()
        if metric.per_row_texts
    },
}


def explained_of_all(
    ev: recnb.Evaluation, name: str, k: int | None, options: dict[str, Any]
) -> int:
    """Explain a metric for each user that has a value, or for all lists, and say how
    many were explained; the last is shown.
    """
    score = ev.measure(name, k=k, **options)
    if isinstance(score, recnb.results.CatalogueScore):
        values = {(): float(score)}
    else:
        values = {(user,): value for user, value in score.per_user.items()}
    for place, value in values.items():
        explained = ev.explain(name, *place, k=k, **options)
        assert_explained(explained, value)
    assert_shown(explained, value)
    return len(values)


#: A relevant item of user u stands a second time.
TWICE = pd.concat([RECS, pd.DataFrame({"user": ["u"], "item": "b", "score": 1.5})])
DECISIONS: list[dict[str, Any]] = [
    {"ties": "first"},
    {"ties": "expected"},
    {"ties": "max_rank", "no_relevant": "zero"},
    {"ties": "max_rank", "no_relevant": "one"},
    {"ties": "floor_mean_rank"},
    {"duplicates": "dedupe"},
    {"duplicates": "hit_once"},
    {"duplicates": "keep"},
    {"duplicates": "keep", "candidates": "padded"},
    {"duplicates": "keep", "judged": "list"},
]


@pytest.mark.thin
@pytest.mark.parametrize("decisions", DECISIONS, ids=str)
@pytest.mark.parametrize("name", ACCURACY)
def test_printed_arithmetic_is_true_where_scores_tie_or_pairs_repeat(
    name: str, decisions: dict[str, Any]
) -> None:
    """Equal scores may share a rank, on which several hits are each of them the first
    one or none is.
    """
    ev = recnb.evaluate(
        TWICE if "duplicates" in decisions else RECS, TRUTH, **decisions
    )
    at_3 = [(3, options) for options in each_word(ACCURACY[name])]
    for k, options in [(2, {}), (None, {}), *at_3]:
        try:
            explained_of_all(ev, name, k, options)
        except OptionError:
            assert decisions == {"ties": "expected"}


BEYOND = [
    (name, options)
    for name, metric in LIST_METRICS.items()
    for options in each_word(metric)
]


@pytest.mark.parametrize(("name", "options"), BEYOND, ids=str)
def test_printed_arithmetic_is_true_beyond_accuracy(
    name: str, options: dict[str, Any]
) -> None:
    """Also of lists with one item, one pair of items or no hit, and of users without a
    relevant item.
    """
    more = pd.DataFrame({"user": ["t"] * 3, "item": ["y", "b", "c"]})
    train = pd.concat([TRAIN, more]) if "population" in options else TRAIN
    for no_relevant, ties in (("zero", "first"), ("one", "max_rank"))[
        : 1 + (name == "serendipity")
    ]:
        ev = recnb.evaluate(
            RECS, TRUTH, train=train, items=ITEMS, ties=ties, no_relevant=no_relevant
        )
        n_explained = 0
        for k in (1, 2, None):
            try:
                n_explained += explained_of_all(ev, name, k, options)
            except recnb.errors.NoUsersError:
                assert k == 1
                assert "one item" in LIST_METRICS[name].no_value
        assert n_explained >= 2


NO_LIST = recnb.evaluate(
    {"u": ["a"]}, {"u": ["b"]}, items=ITEMS, train=TRAIN, judged_only=True
)
NOT_CUT = recnb.evaluate(
    {"u": ["a", "b"]}, {"u": ["b"]}, train={"v": ["a"]}, cutoff="none"
)
KNOWN = ROWS["known"]


test_what_explanations_show = hold_calls(KNOWN, vars(test_shown) | globals())


# Random data

NAMES = dict(zip("uvwt", USERS, strict=False))


@settings(max_examples=examples(100))
@given(frames(), st.booleans(), st.sampled_from([1, 2, 4, 10, None]), st.data())
def test_printed_arithmetic_is_true_of_random_data(
    drawn: Frames, is_whole: bool, k: int | None, data: st.DataObject
) -> None:
    metrics = {**ACCURACY, **LIST_METRICS}
    name = data.draw(st.sampled_from([*metrics]))
    options = data.draw(metric_options(metrics[name]))
    given_options = {**drawn.options, **({"cutoff": "none"} if is_whole else {})}
    sides = {"train": TRAIN.assign(user=TRAIN["user"].map(NAMES)), "items": ITEMS}
    try:
        ev = recnb.evaluate(drawn.recs, drawn.relevance, **sides, **given_options)
        explained_of_all(ev, name, k, options)
    except RecnbError:
        assume(False)


@pytest.mark.parametrize("name", METRICS)
def test_printed_arithmetic_is_true_of_one_list(name: str) -> None:
    truth = {"a": 2.0, "b": 3.0, "c": 0.5, "d": 1.0, "z": 4.0}
    for given_lists in ((["x", "a", "b", "y", "c"], truth), ([3, 0, 2, 0.5],)):
        for options, k in itertools.product(each_word(METRICS[name]), (3, None)):
            value = float(getattr(recnb, name)(*given_lists, k=k, **options))
            explained = recnb.explain(name, *given_lists, k=k, **options)
            assert_explained(explained, value)
            assert_shown(explained, value)


# What explanations hold


@pytest.mark.parametrize("name", METRICS)
def test_an_explanation_is_the_score_of_its_list(name: str) -> None:
    for k in (1, 3, 5, 200, None):
        for user, value in EV.measure(name, k=k).per_user.items():
            explanation = EV.explain(name, user, k=k)
            assert explanation.value == value, (k, user)
            rows = explanation.to_frame().to_dict("list")
            assert (np.diff(rows["rank"]) > 0).all()
            assert len(explanation.terms) == np.count_nonzero(rows["credit"])
            ranked, relevant = LISTS[user], RELEVANT[user]
            listed = {rank: ranked[rank] for rank in ranked if rank <= (k or 1000)}
            if METRICS[name].over == "hits":
                assert dict(zip(rows["rank"], rows["item"], strict=True)) == listed
                grades = [relevant.get(item, 0.0) for item in rows["item"]]
                assert rows["relevance"] == grades
            by_relevance = sorted(relevant, key=lambda item: -relevant[item])
            not_listed = [item for item in by_relevance if item not in listed.values()]
            missed = tuple(item for item in not_listed if relevant[item])
            # IDCG is of the ideal list, which may hold what the list missed.
            assert explanation.missed == (() if name == "idcg" else missed)


def test_the_frame_of_an_explanation_is_a_copy() -> None:
    """What it holds is in `shown/explanations.txt`."""
    explanation = EV.explain("ndcg", "a", k=4)
    rows = explanation.to_frame()
    rows["item"] = 0
    assert explanation.to_frame()["item"].tolist() == [10, 11, 12, 13]
