"""Which conventions give a printed number: round trips over the presets, digits, and what is refused."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import of_metric
from recnb.errors import OptionError
from recnb.libraries.identify import Identified, Printed
from tests.libraries.test_why import number
from tests.results.test_html import EVIL, Page

SAMPLE = recnb.datasets.load_sample()
RECS, TRUTH = SAMPLE.models["popular"], SAMPLE.test
EV = RECS.rec.against(TRUTH)


@pytest.mark.parametrize("metric", [pytest.param("ndcg", marks=pytest.mark.slow), "average_precision"])
def test_a_number_that_a_library_returns_is_found_to_be_its_own(metric: str) -> None:
    said = {one.label: number(one.library, one.variant, RECS, TRUTH, 10) for one in of_metric(metric)}
    numbers = {name: value for name, value in said.items() if not isinstance(value, str)}
    for value in sorted({f"{exact:.4f}" for exact in numbers.values()})[::3]:
        made = {name for name, exact in numbers.items() if f"{exact:.4f}" == value}
        assert made <= {match.name for match in EV.identify(metric, value, 10).matches if match.fit == "rounded"}


def test_ours_is_named_before_libraries_and_numbers_are_told_apart() -> None:
    found = EV.identify("ndcg", f"{EV.ndcg(k=10):.4f}", 10)
    assert (found.matches[0].name, found.groups[0][0].name) == ("recnb", "recnb")
    several = EV.identify("ndcg", "0.2", 10)
    assert len(several.groups) > 1
    assert "different numbers print the same" in repr(several)
    for group in several.groups:
        assert all(abs(match.value - group[0].value) <= 1e-9 for match in group)
    values = [group[0].value for group in several.groups]
    assert all(abs(a - b) > 1e-9 for a, b in itertools.combinations(values, 2))


def test_options_are_those_of_our_number_alone() -> None:
    exact = float(EV.ndcg(k=10, gain="exponential"))
    assert EV.identify("ndcg", f"{exact:.6f}", 10, gain="exponential").matches[0].name == "recnb"
    assert "recnb" not in {match.name for match in EV.identify("ndcg", f"{exact:.6f}", 10).matches}
    under = EV.under("rectools")
    assert under.identify("ndcg", f"{under.ndcg(k=10):.6f}", 10).matches[0].name == "as rectools"


def test_none_gives_it_and_the_nearest_are_shown() -> None:
    found = EV.identify("ndcg", "0.9063", 10)
    assert found.matches == ()
    apart = [abs(match.value - 0.9063) for match in found.nearest]
    assert (len(apart), apart) == (5, sorted(apart))
    assert "none of" in repr(found)
    assert list(found.to_frame()["fit"]) == ["no"] * 5


def test_a_number_cut_off_is_a_weaker_match() -> None:
    value = float(EV.ndcg(k=10))
    digits = next(d for d in range(3, 9) if f"{value:.{d}f}" != f"{int(value * 10**d) / 10**d:.{d}f}")
    found = EV.identify("ndcg", f"{int(value * 10**digits) / 10**digits:.{digits}f}", 10)
    assert next(match.fit for match in found.matches if match.name == "recnb") == "cut off"
    assert "cut off" in repr(found)


def test_how_a_number_is_written_says_how_many_digits_it_has() -> None:
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


@pytest.mark.parametrize("values", [{"u001": 0.5}, pd.Series({"u001": 0.5})], ids=["mapping", "Series"])
def test_values_of_users_are_refused_with_what_to_type(values: object) -> None:
    with pytest.raises(OptionError, match=r"one printed number.*ev\.ndcg\(k=10\)\.per_user"):
        EV.identify("ndcg", values, 5)


def test_the_evaluation_keeps_nothing_of_what_was_tried() -> None:
    ev = RECS.rec.against(TRUTH)
    before = len(ev._data.prepared.source._known)
    assert isinstance(ev.identify("ndcg", 0.3, 10), Identified)
    assert len(ev._data.prepared.source._known) == before


@pytest.mark.parametrize("evil", EVIL)
def test_text_of_the_users_is_text(evil: str) -> None:
    frame = pd.DataFrame({"user": [evil, "b"], "item": [evil, "x"], "rank": [1, 1]})
    page = Page(recnb.evaluate(frame, frame[["user", "item"]]).identify("ndcg", 0.5, 2)._repr_html_())
    assert page.tags <= {"div", "b", "table", "caption", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert page.attributes <= {"class", "style", "role", "aria-label", "scope"}
    assert all(off for _, off in page.text)
