"""`as_in` returns what 22 libraries really returned, or refuses the frames by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import pandas as pd
import pytest

from recnb.conventions.presets import preset, presets
from recnb.data import Source, read
from recnb.errors import OptionError, RecnbError
from recnb.libraries import as_in
from recnb.metrics.metric import LIST_METRICS, RETRIEVAL_METRICS
from tests.conventions.test_reference import CASES, ROWS, VARIANTS, table
from tests.conventions.test_reference import KNOWN as UNEXPRESSED
from tests.presets import as_in_of, cut_at

#: Recorded variants of kinds that are out of scope.
WITHOUT_PRESET = {
    ("pytrec_eval-terrier", "set_map"): "precision times recall of the whole list, a metric that only trec_eval has",
    ("evidently", "mar[list]"): "mean average recall, a metric that only evidently has",
    ("evidently", "mar[full]"): "mean average recall, a metric that only evidently has",
    ("recmetrics", "coverage"): "of lists that it draws with replacement, so its number is random",
}
IN_SCOPE = [variant for variant in VARIANTS if variant not in WITHOUT_PRESET]


def frames(case: str) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    return pd.DataFrame(CASES[case]["recs"]), pd.DataFrame(CASES[case]["truth"]), CASES[case]["k"]


@cache
def source(case: str) -> Source:
    """A case as as_in reads it, kept so that presets of one convention share their join."""
    recs, truth, _ = frames(case)
    return read(recs, truth, {})


def returned(call: Callable[[], float]) -> float | str:
    try:
        return call()
    except RecnbError as refused:
        return f"{type(refused).__name__}: {refused}"


@cache
def answer(library: str, metric: str, case: str) -> float | str:
    """What `as_in` gives for a recorded case, of frames that are read once: the number, or its error."""
    return returned(lambda: as_in_of(source(case), library, metric, CASES[case]["k"]))


def fresh_answer(library: str, metric: str, case: str) -> float | str:
    """The same of frames that are read for this number alone."""
    return returned(lambda: as_in(library, metric, *asked(library, metric, case)))


def asked(library: str, metric: str, case: str) -> tuple[pd.DataFrame, pd.DataFrame, int | None]:
    """A case without its cut-off for a metric that the library does not cut."""
    recs, truth, k = frames(case)
    return recs, truth, cut_at(library, metric, k)


def is_unruled(given: float | str) -> bool:
    """Whether as_in refuses the case since the library's number follows no rule there."""
    return "follows no rule" in str(given)


@cache
def mismatches(library: str, metric: str) -> dict[str, str]:
    """The cases whose recorded value as_in neither returns nor refuses, and how both differ."""
    tolerance = float(VARIANTS[library, metric]["tolerance"])
    found = {}
    for row in ROWS[library, metric]:
        if row["error"]:
            continue
        recorded = float(row["value"])
        value = answer(library, metric, row["case"])
        if is_unruled(value):
            continue
        if isinstance(value, str) or not (
            math.isnan(value) if math.isnan(recorded) else abs(value - recorded) <= tolerance
        ):
            found[row["case"]] = f"{library} {row['version']} returned {recorded!r}, as_in {value!r}"
    return found


@pytest.mark.parametrize("variant", IN_SCOPE, ids=" ".join)
def test_the_recorded_values(variant: tuple[str, str]):
    assert not mismatches(*variant)


def test_what_no_convention_expresses_is_refused_by_name():
    assert [key for key in UNEXPRESSED if not is_unruled(fresh_answer(*key))] == []
    values = [(*variant, row["case"]) for variant in IN_SCOPE for row in ROWS[variant] if not row["error"]]
    assert len(values) == 5193
    assert sum(is_unruled(answer(*key)) for key in values) <= 0.05 * len(values)


def test_as_in_reads_the_frames_and_looks_up_the_preset():
    """The other tests read each case once: frames that are read anew give the same number or error, whatever the case."""
    read_anew = set()
    for number, variant in enumerate(IN_SCOPE):
        case = ROWS[variant][number % len(ROWS[variant])]["case"]
        read_anew.add(case)
        anew, kept = fresh_answer(*variant, case), answer(*variant, case)
        assert anew == kept or (math.isnan(float(anew)) and math.isnan(float(kept))), variant
    assert read_anew == {row["case"] for variant in IN_SCOPE for row in ROWS[variant]}


def test_errors_that_a_convention_names():
    """Where a library raised an error, as_in refuses the same frames, and no others."""
    for variant in IN_SCOPE:
        for row in ROWS[variant]:
            if row["error"]:
                with pytest.raises(RecnbError, match=r"refuses that|raises an error|not the top of the scale"):
                    as_in(*variant, *asked(*variant, row["case"]))
            else:
                given = answer(*variant, row["case"])
                assert is_unruled(given) or not isinstance(given, str), (variant, given)


def test_every_variant_in_scope_has_a_preset_and_every_preset_is_recorded():
    elsewhere = {variant for variant, one in presets().items() if one.metric in RETRIEVAL_METRICS}
    assert {library for library, _ in elsewhere} == {
        "ir-measures",
        "pytrec_eval-terrier",
    }  # tests/results/test_measures.py
    of_hits = {variant for variant, one in presets().items() if one.metric not in LIST_METRICS} - elsewhere
    assert of_hits == set(IN_SCOPE)
    recorded = {
        (row["library"], row["metric"]) for name in ("options.csv", "beyond_options.csv") for row in table(name)
    }
    assert presets().keys() - elsewhere == recorded - WITHOUT_PRESET.keys()


def test_presets_name_the_version_and_tolerance_that_were_recorded():
    for variant in IN_SCOPE:
        one = preset(*variant)
        assert {row["version"] for row in ROWS[variant]} == {one.version}
        assert one.tolerance == float(VARIANTS[variant]["tolerance"])


def test_a_defect_is_named_in_the_preset():
    for library, variant, _ in UNEXPRESSED:
        assert preset(library, variant).note, (library, variant)


def test_what_is_no_option_of_as_in_is_refused() -> None:
    frame = pd.DataFrame({"user": [1], "item": ["a"], "rank": [1]})
    for metric in ("coverage", "ndcg"):
        with pytest.raises(
            OptionError, match=r"'catalogue' is no option of as_in\. items= is a frame with a row for each item"
        ):
            as_in("recbole", metric, frame, frame, k=1, catalogue=frame)
