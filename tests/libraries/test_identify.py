"""Which convention made a printed number: round trips over the presets, the article's two ideals, and the misprint."""

from __future__ import annotations

import datetime
from functools import cache
from importlib import import_module
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import of_metric
from recnb.data import Source
from recnb.errors import OptionError, UnknownUserError
from recnb.libraries.data_properties import properties_of
from recnb.libraries.identify import Identified, IdentifiedUsers, Printed
from recnb.libraries.variant import MetricVariant, numbers_of
from tests.libraries.test_explain_difference import number
from tests.results.test_html import EVIL, Page

identify = import_module("recnb.libraries.identify")
SAMPLE = recnb.datasets.load_sample()
RECS, TRUTH = SAMPLE.models["popular"], SAMPLE.test
EV = RECS.rec.against(TRUTH)

JUDGED = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}
ARTICLE = recnb.evaluate(
    pd.DataFrame({"user": [1] * 3, "item": ["A", "B", "C"], "rank": [1, 2, 3]}),
    pd.DataFrame({"user": [1] * 5, "item": list(JUDGED), "relevance": list(JUDGED.values())}),
)
FOUR = pd.DataFrame(
    {
        "user": ["u1", "u2", "u3", "u4"],
        "relevant": [{"A": 5, "B": 3}, {"C": 5}, {"A": 2, "D": 1}, {"B": 5, "C": 4, "D": 3}],
        "recommended": [["D", "A", "B", "C"], ["C", "D", "A", "B"], ["D", "B", "C", "A"], ["A", "C", "B", "D"]],
    }
)
PRINTED = pd.Series([0.6953, 1.0, 0.7075, 0.6999], index=FOUR["user"])


def of_mean(evaluation: recnb.Evaluation, *args: Any, **options: Any) -> Identified:
    found = evaluation.identify(*args, **options)
    assert isinstance(found, Identified)
    return found


def of_users(evaluation: recnb.Evaluation, *args: Any, **options: Any) -> IdentifiedUsers:
    found = evaluation.identify(*args, **options)
    assert isinstance(found, IdentifiedUsers)
    return found


candidates_kept = cache(identify.candidates_of)
NUMBERS: dict[tuple[int, tuple[MetricVariant, ...], int | None], dict[MetricVariant, tuple[float, str]]] = {}


def numbers_kept(
    source: Source, variants: list[MetricVariant], k: int | None
) -> dict[MetricVariant, tuple[float, str]]:
    key = id(source), tuple(variants), k
    if key not in NUMBERS:
        NUMBERS[key] = numbers_of(source, variants, k)
    return NUMBERS[key]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several printed numbers on the same frames: what the conventions give there is worked out for the first."""
    monkeypatch.setattr(identify, "candidates_of", candidates_kept)
    monkeypatch.setattr(identify, "numbers_of", numbers_kept)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("metric", [pytest.param("ndcg", marks=pytest.mark.slow), "average_precision"])
def test_a_number_that_a_preset_printed_is_found_to_be_its_own(metric: str):
    said = {one.label: number(one.library, one.variant, RECS, TRUTH, 10) for one in of_metric(metric)}
    numbers = {name: value for name, value in said.items() if not isinstance(value, str)}
    for value in sorted({f"{exact:.4f}" for exact in numbers.values()})[::3]:
        made = {name for name, exact in numbers.items() if f"{exact:.4f}" == value}
        found = of_mean(EV, metric, value, 10)
        assert made <= {match.name for match in found.matches if match.kind == "preset" and match.how == "rounded"}
        assert found.groups[0][0].kind in ("ours", "preset"), "the simplest first"


def test_the_two_ideals_of_the_article():
    assert next((match.name, match.kind) for match in of_mean(ARTICLE, "idcg", 1.3472).matches) == (
        "recnb, but lists not cut",
        "neighbour",
    )
    short = of_mean(ARTICLE, "ndcg", 0.6049)
    assert short.groups[0][0].kind == "ours"
    whole = of_mean(ARTICLE, "ndcg", 0.5682)
    assert "recnb, but lists not cut" in {match.name for match in whole.matches}
    assert all(match.kind == "neighbour" for match in whole.matches)
    assert "No score in these frames" in repr(whole)


def test_the_function_of_the_article_at_a_cut_off_below_its_list():
    """It cuts the ideal at the list's length, at k = 5 as without k."""
    (found,) = of_mean(ARTICLE, "ndcg", "0.6049", 5).groups
    assert {match.variant.at("ideal") for match in found} == {"min(k, list)"}
    assert found[0].name == "recnb, but ideal: all relevant items, cut at k and at the list's length"


def test_the_misprint():
    found = of_users(FOUR.rec.evaluation(), "ndcg", PRINTED)
    assert found.misprints == ("u1",)
    assert found.best[0].name == "recnb"
    assert found.best[0].n_users[0] == 3
    frame = found.to_frame()
    assert frame.loc["u1", "fit"] == "does not fit"
    assert frame.loc["u1", "value"] == pytest.approx(0.6753, abs=5e-5)
    assert frame["fits_some_convention"].tolist() == [False, True, True, True]
    assert "'u1': printed 0.6953, computed 0.6753; fits no convention: a misprint?" in repr(found)


def test_users_values_that_all_fit():
    values = dict(EV.ndcg(k=5).per_user.round(4))
    found = of_users(EV, "ndcg", values, 5, digits=4)
    assert found.misprints == ()
    assert found.best[0].name == "recnb"
    assert "every printed value fits" in repr(found)
    binary = dict(EV.ndcg(k=5, gain="binary").per_user.round(4))
    assert of_users(EV, "ndcg", binary, 5, digits=4).best[0].name == "cornac ndcg[list]"


def test_users_who_are_not_there():
    with pytest.raises(UnknownUserError, match="none of the users"):
        EV.identify("ndcg", {"nobody": 0.5}, 5)
    with pytest.raises(OptionError, match="no printed values"):
        EV.identify("ndcg", {}, 5)
    some = of_users(FOUR.rec.evaluation(), "ndcg", {"u2": 1.0, "u9": 0.5}, digits=4)
    assert some.misprints == ("u9",)


@pytest.mark.usefixtures("kept")
def test_none_gives_it_and_the_nearest_are_shown():
    found = of_mean(EV, "ndcg", "0.9063", 10)
    assert found.matches == ()
    assert len(found.nearest) == 5
    apart = [abs(match.value - 0.9063) for match in found.nearest]
    assert apart == sorted(apart)
    assert "none of" in repr(found)
    assert list(found.to_frame()["how"]) == ["no"] * 5


@pytest.mark.usefixtures("kept")
def test_a_number_cut_off_is_a_weaker_match():
    value = float(EV.ndcg(k=10))
    digits = next(d for d in range(3, 9) if f"{value:.{d}f}" != f"{int(value * 10**d) / 10**d:.{d}f}")
    cut = f"{int(value * 10**digits) / 10**digits:.{digits}f}"
    found = of_mean(EV, "ndcg", cut, 10)
    ours = next(match for match in found.matches if match.kind == "ours")
    assert ours.how == "cut off"
    assert "cut off" in repr(found)


@pytest.mark.usefixtures("kept")
def test_several_may_and_it_says_so():
    found = of_mean(EV, "ndcg", "0.2", 10)
    assert len(found.groups) > 1
    assert "different numbers print the same" in repr(found)
    kinds = [group[0].kind for group in found.groups if group[0].how == "rounded"]
    assert kinds == sorted(kinds, key=["ours", "preset", "neighbour"].index)


def test_how_a_number_is_written_says_how_many_digits_it_has():
    assert Printed.of(0.368) == Printed(0.368, 3)
    assert Printed.of("0.3680") == Printed(0.368, 4)
    assert Printed.of("36.8%") == Printed(0.368, 3)
    assert Printed.of(0.368, 5) == Printed(0.368, 5)
    assert Printed.of(2) == Printed(2.0, 1)
    for wrong in ("a lot", None, float("nan"), "inf", [1]):
        with pytest.raises(OptionError, match="printed number"):
            Printed.of(wrong)
    with pytest.raises(OptionError, match="digits"):
        Printed.of(0.5, -1)


def test_large_frames_try_fewer_neighbours(monkeypatch: pytest.MonkeyPatch):
    everything = of_mean(EV, "recall", "0.9", 10)
    monkeypatch.setattr("recnb.libraries.identify.ROWS_TRIED", 2 * properties_of(EV._data.prepared.source).n_rows)
    fewer = of_mean(EV, "recall", "0.9", 10)
    assert fewer.n_tried < everything.n_tried
    assert "neighbours were not tried" in repr(fewer)
    assert not any("not tried" in note for note in everything.notes)


def test_the_evaluation_keeps_nothing_of_what_was_tried():
    ev = RECS.rec.against(TRUTH)
    before = len(ev._data.prepared.source._known)
    ev.identify("ndcg", 0.3, 10)
    assert len(ev._data.prepared.source._known) <= before + 1


@pytest.mark.parametrize("evil", EVIL)
def test_text_of_the_users_is_text(evil: str):
    recs = pd.DataFrame({"user": [evil, "b"], "item": [evil, "x"], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [evil, "b"], "item": [evil, "x"]})
    ev = recnb.evaluate(recs, truth)
    for found in (ev.identify("ndcg", {evil: 0.123, "b": 1.0}, 2), ev.identify("ndcg", 0.5, 2)):
        page = Page(found._repr_html_())
        assert page.tags <= {"div", "b", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi"}
        assert page.attributes <= {"class", "style", "role", "aria-label", "scope"}
        assert all(off for _, off in page.text)


def test_users_that_are_days_may_be_given_as_times() -> None:
    days = [datetime.date(2026, 1, day) for day in (1, 2)]
    recs = pd.DataFrame({"user": [days[0], days[0], days[1]], "item": [1, 2, 1], "rank": [1, 2, 1]})
    ev = recnb.evaluate(recs, pd.DataFrame({"user": days, "item": [2, 1]}))
    found = ev.identify("reciprocal_rank", ev.reciprocal_rank(k=2).per_user, k=2)
    assert found.misprints == ()
    assert found.headlines[0] == "RR@2 of 2 users: 2 printed values fit"
    assert ev.identify("reciprocal_rank", {days[0]: 0.5}, k=2).headlines[0] == "RR@2 of 1 user: 1 printed value fits"
