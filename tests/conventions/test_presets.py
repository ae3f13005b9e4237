"""`as_in` returns what 28 libraries really returned; and
presets are not fitted to these cases.

On random data as on the recorded cases each preset gives what the plain reference makes
of its options.
"""

from __future__ import annotations

import csv
import json
import math
import pickle
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest

import recnb
from recnb.conventions.convention import PHRASES
from recnb.conventions.presets import Preset, presets
from recnb.data import Source
from recnb.display.language import _
from recnb.errors import FrameError
from recnb.libraries import as_in
from recnb.metrics.metric import LIST_METRICS, RETRIEVAL_METRICS
from tests.examples import examples
from tests.presets import WHOLE, as_in_of, cut_at, of_lists, source_of, value_under
from tests.reference import Case, evaluate
from tests.rows import read_rows
from tests.tools.parity.data import DataSet, data_sets

RECORDED = Path(__file__).parents[1] / "recorded"


def table(name: str) -> list[dict[str, str]]:
    with (RECORDED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CASES: dict[str, Case] = {
    case["id"]: case
    for case in json.loads((RECORDED / "cases.json").read_text("utf-8"))
}
ROWS = {
    key: [*rows]
    for key, rows in groupby(
        table("values.csv"), key=lambda row: (row["library"], row["variant"])
    )
}
OF_HITS = {
    key: one
    for key, one in presets().items()
    if one.metric not in {*LIST_METRICS, *RETRIEVAL_METRICS}
}
#: Evidently's AP reads relevance off the last input row, a defect that no convention
#: expresses (see the preset's note).
EXPRESSED = {
    key: one
    for key, one in OF_HITS.items()
    if key[0] != "evidently" or not key[1].startswith("ap[")
}


#: Cases where a library crashes and `as_in` has a number, since a crash is no
#: convention: numpy makes no array of lists of unequal length.
CRASHES = {
    ("recmetrics", "personalization"): ["b04_short_list"],
    ("recmetrics", "novelty"): ["b02_cold_item"],
    ("recmetrics", "novelty[cut]"): ["b02_cold_item"],
}

Frame = pd.DataFrame
RECS = Frame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
TRUTH = Frame({"user": [1], "item": ["b"], "relevance": [1]})


def frames(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.DataFrame(case["recs"]), pd.DataFrame(case["truth"])


@cache
def source(case: str) -> Source:
    """A case as as_in reads it, kept so that presets of one convention share their
    join.
    """
    return source_of(*frames(CASES[case]))


def outcome(call: Callable[[], float]) -> float | str:
    """The number, or the error."""
    try:
        return float(call())
    except (ValueError, FrameError) as error:
        return f"error: {error}"


def same(got: float | str, wanted: float | str, tolerance: float = 1e-9) -> bool:
    if isinstance(got, str) or isinstance(wanted, str):
        return isinstance(got, str) and isinstance(wanted, str)
    return (
        math.isnan(got)
        if math.isnan(wanted)
        else abs(got - wanted) <= tolerance * max(1.0, abs(wanted))
    )


@cache
def answer(library: str, variant: str, case: str) -> float | str:
    """What `as_in` gives for a recorded case, of frames that are read once."""
    held, preset = CASES[case], presets()[library, variant]
    if preset.metric not in LIST_METRICS:
        return outcome(lambda: as_in_of(source(case), library, variant, held["k"]))
    read = {name: Frame(held[name]) for name in ("recs", "truth", "train")}
    held = {**held, "catalogue": held["catalog"]}
    return outcome(lambda: of_lists(preset, read, held))


# What libraries returned
# ------------------------------------------------------------------------------------------------


@pytest.mark.thin
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("key", ROWS, ids=" ".join)
def test_the_recorded_values(key: tuple[str, str], part: int) -> None:
    """Where the library has a number, as_in has the same, unless it has a caveat.

    A preset says that its library raises errors if it raised one.
    """
    rows, preset, wrong = ROWS[key][part::3], presets()[key], {}
    assert {row["version"] for row in rows} == {preset.version}
    for row in rows:
        if row["error"] or is_without_rule(key, row):
            continue
        given = answer(*key, row["case"])
        if not same(given, float(row["value"]), preset.tolerance):
            wrong[row["case"]] = f"{row['value']} there, as_in {given!r}"
    assert not wrong
    raised = [row["case"] for row in rows if row["error"]]
    if raised != CRASHES.get(key, []):
        assert not raised or "raises an error" in preset.caveat_in_words, key


def is_without_rule(key: tuple[str, str], row: dict[str, str]) -> bool:
    """Whether a value differs where the preset says that it follows no rule."""
    preset = presets()[key]
    if row["error"] or "follows no recorded rule" not in preset.caveat_in_words:
        return False
    wanted = float(row["value"])
    return not same(answer(*key, row["case"]), wanted, preset.tolerance)


def test_few_values_follow_no_rule() -> None:
    unruled = [
        key[0] for key in OF_HITS for row in ROWS[key] if is_without_rule(key, row)
    ]
    assert Counter(unruled) == {
        "evidently": 9,
        "recommenders": 4,
        "recpack": 25,
        "sentence-transformers": 10,
        "torcheval": 2,
        "torchmetrics": 16,
    }


def test_as_in_reads_the_frames_and_looks_up_the_preset() -> None:
    """The other tests read each case once: frames that are read anew give the same
    number or error, whatever the case.
    """
    read_anew = set()
    for at, (library, variant) in enumerate(OF_HITS):
        case = ROWS[library, variant][at % len(ROWS[library, variant])]["case"]
        read_anew.add(case)
        k = cut_at(library, variant, CASES[case]["k"])
        anew = outcome(partial(as_in, library, variant, *frames(CASES[case]), k))
        assert str(anew) == str(answer(library, variant, case))
    assert read_anew == {row["case"] for key in OF_HITS for row in ROWS[key]}


def test_every_preset_is_recorded() -> None:
    elsewhere = {
        key for key, one in presets().items() if one.metric in RETRIEVAL_METRICS
    }  # in results/test_values.py
    assert presets().keys() - elsewhere == ROWS.keys()
    of_hits = [case for case in CASES if case.startswith("c")]
    assert all([row["case"] for row in ROWS[key]] == of_hits for key in OF_HITS)


# What presets and conventions say
# ---------------------------------------------------------------------------------------


def by_reference(preset: Preset, case: Case) -> float | str:
    whole = {"cutoff": "none"} if (preset.library, preset.variant) == WHOLE else {}
    return outcome(
        lambda: evaluate(
            preset.metric, vars(preset.convention) | dict(preset.options) | whole, case
        )
    )


def case_of(data: DataSet) -> Case:
    """The same with a name at each cell."""
    columns = {
        "recs": ("user", "item", "score", "rank"),
        "truth": ("user", "item", "relevance"),
    }
    rows = {
        side: [dict(zip(names, row, strict=True)) for row in data[side]]
        for side, names in columns.items()
    }
    return {**rows, "k": data["k"]}


MADE = {
    name: case_of(data) for name, data in read_rows("conventions/cases.toml").items()
}
#: Random data, those apart whose orders of equal scores are too many for the reference.
DRAWN = [
    case_of(data)
    for data in data_sets(seed=3, number=examples(50))
    if not data["kind"].startswith("long")
]


@pytest.mark.parametrize("cut", [True, False])
def test_every_preset_does_what_its_options_say(*, cut: bool) -> None:
    """Without a cut-off nothing is cut, not the ideal either; k of a divisor is the list's
    length.
    """
    for case in [*MADE.values(), *DRAWN]:
        frames_read = source_of(*frames(case))
        k = case["k"] if cut else None
        for key, preset in EXPRESSED.items():
            if preset.without_k and not cut:  # it has no such number
                continue
            chosen = preset.at(k)
            wanted = by_reference(chosen, {**case, "k": k})
            got = outcome(partial(value_under, frames_read, chosen, k))
            assert same(got, wanted), (key, case, got, wanted)


# Where a library has no number, as_in says so ----------------


@pytest.mark.parametrize(
    "key", {OF_HITS[key].caveat: key for key in OF_HITS}.values(), ids=" ".join
)
def test_a_number_is_shown_with_the_caveat_of_its_preset(
    key: tuple[str, str],
) -> None:
    """And an evaluation under the library shows those of the preset that it follows."""
    preset = presets()[key]
    value = as_in(*key, RECS, TRUTH, cut_at(*key, 2))
    assert isinstance(value, float)
    caveat = _(PHRASES["caveat", preset.caveat]) if preset.caveat else ""
    shown = f" ({key[0]} {caveat})" if caveat else ""
    assert repr(value) == f"{float(value)}{shown}"
    assert repr(pickle.loads(pickle.dumps(value))) == repr(value)
    assert str(value) == repr(float(value))


def test_a_number_under_a_library_says_where_the_library_has_none() -> None:
    ev = recnb.evaluate(RECS, TRUTH)
    caveat = "xgboost raises an error where relevance is not 0 or 1"
    number = ev.under("xgboost").average_precision(k=2)
    assert caveat in number.basis.split("; ")
    assert caveat in ev.why("average_precision", k=2, other="xgboost").attrs["basis"]
    assert caveat in ev.identify("average_precision", 0.5, 2).attrs["basis"]
    assert caveat not in ev.under("xgboost").recall(k=2).basis


def test_every_caveat_is_of_a_preset() -> None:
    known = {word for axis, word in PHRASES if axis == "caveat"}
    assert {preset.caveat for preset in presets().values()} == {*known, ""}
