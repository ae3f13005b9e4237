"""`as_in` returns what 22 libraries really returned, but for the values in KNOWN, each with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import pandas as pd
import pytest

from recnb.beyond import FORMULAS
from recnb.conventions.presets import preset, presets
from recnb.errors import OptionError, RecnbError
from recnb.frames import Source, read
from recnb.whose import as_in
from recnb.whose.as_in import value_under
from tests.test_conventions_reference import CASES, ROWS, VARIANTS, table
from tests.test_conventions_reference import KNOWN as UNEXPRESSED

#: Recorded variants of kinds that are out of scope.
WITHOUT_PRESET = {
    ("pytrec_eval-terrier", "set_map"): "precision times recall of the whole list, a metric that only trec_eval has",
    ("evidently", "mar[list]"): "mean average recall, a metric that only evidently has",
    ("evidently", "mar[full]"): "mean average recall, a metric that only evidently has",
}
LAST_ROW = (
    "evidently multiplies precision at each i by the relevance of the last INPUT row placed at i or above, and goes on to "
    "i = k below the end of a list; right only where lists are sorted, full and free of ties"
)
TIED = ("c18_ties", "c28_ties_relevant_early")
#: What no convention expresses: what the reference does not either, and one defect that it imitates.
KNOWN = UNEXPRESSED | {
    ("evidently", variant, case): LAST_ROW
    for variant, cases in {
        "ap[list]": (*TIED, "c21_row_score_rank_disagree", "c27_float32_scores"),
        "ap[full]": (*TIED, "c21_row_score_rank_disagree", "c27_float32_scores", "c14_user_without_recs"),
    }.items()
    for case in cases
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
def mismatches(library: str, metric: str) -> dict[str, str]:
    """The cases whose recorded value as_in does not return, and how both differ."""
    tolerance = float(VARIANTS[library, metric]["tolerance"])
    found = {}
    for row in ROWS[library, metric]:
        if row["error"]:
            continue
        recorded = float(row["value"])
        case = row["case"]
        value = returned(lambda case=case: value_under(source(case), preset(library, metric), CASES[case]["k"]))
        if isinstance(value, str) or not (
            math.isnan(value) if math.isnan(recorded) else abs(value - recorded) <= tolerance
        ):
            found[row["case"]] = f"{library} {row['version']} returned {recorded!r}, as_in {value!r}"
    return found


@pytest.mark.parametrize("variant", IN_SCOPE, ids=" ".join)
def test_the_recorded_values(variant: tuple[str, str]):
    known = {case for *other, case in KNOWN if tuple(other) == variant}
    assert mismatches(*variant).keys() == known, mismatches(*variant)


def test_at_least_99_percent():
    values = sum(not row["error"] for variant in IN_SCOPE for row in ROWS[variant])
    different = {(*variant, case): text for variant in IN_SCOPE for case, text in mismatches(*variant).items()}
    assert different.keys() == KNOWN.keys(), different
    assert values == 5734
    assert len(different) <= 0.01 * values


def test_as_in_reads_the_frames_and_looks_up_the_preset():
    """The tests above read each case once; what they leave out changes no number."""
    for number, variant in enumerate(IN_SCOPE):
        row = ROWS[variant][number % 7]
        if row["error"]:
            continue
        case = row["case"]
        got = returned(lambda variant=variant, case=case: as_in(*variant, *frames(case)))
        kept = returned(
            lambda variant=variant, case=case: value_under(source(case), preset(*variant), CASES[case]["k"])
        )
        assert got == kept or math.isnan(float(got)), variant


def test_errors_that_a_convention_names():
    """Where a library raised an error, as_in refuses the same frames, and no others."""
    for variant in IN_SCOPE:
        for row in ROWS[variant]:
            if row["error"]:
                with pytest.raises(RecnbError, match=r"refuses that|raises an error|not the top of the scale"):
                    as_in(*variant, *frames(row["case"]))
            else:
                as_in(*variant, *frames(row["case"]))


def test_every_variant_in_scope_has_a_preset_and_every_preset_is_recorded():
    of_hits = {variant for variant, one in presets().items() if one.metric not in FORMULAS}
    assert of_hits == set(IN_SCOPE)
    recorded = {
        (row["library"], row["metric"]) for name in ("options.csv", "beyond_options.csv") for row in table(name)
    }
    assert presets().keys() == recorded - WITHOUT_PRESET.keys()


def test_presets_name_the_version_and_tolerance_that_were_recorded():
    for variant in IN_SCOPE:
        one = preset(*variant)
        assert {row["version"] for row in ROWS[variant]} == {one.version}
        assert one.tolerance == float(VARIANTS[variant]["tolerance"])


def test_a_defect_is_named_in_the_preset():
    for library, variant, _ in KNOWN:
        assert preset(library, variant).note, (library, variant)


def test_what_is_no_option_of_as_in_is_refused() -> None:
    frame = pd.DataFrame({"user": [1], "item": ["a"], "rank": [1]})
    for metric in ("coverage", "ndcg"):
        with pytest.raises(
            OptionError, match=r"'items' is no option of as_in\. Give all items there are as catalogue="
        ):
            as_in("recbole", metric, frame, frame, k=1, items=frame)
