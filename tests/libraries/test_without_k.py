"""By a library's name it is that library's number, with a cut-off and without one,
however it is asked for: held against pytrec_eval, ir_measures and scikit-learn as they
are installed, and against what ranx and lenskit returned.
"""

from __future__ import annotations

import re
from random import Random

import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import Preset, presets
from recnb.errors import OptionError
from recnb.metrics.metric import LIST_METRICS
from tests.rows import read_rows
from tests.tools.parity.data import DataSet, data_set, mean, qrels, runs

KINDS = ("plain", "tied", "same users", "long", "no zeros")
ROWS = read_rows("libraries/without_k.toml")
#: Lists of two items against four relevant ones, and of three against one.
SHORT: DataSet = ROWS["short"]
DATA = [SHORT, *(data_set(Random(seed), kind) for seed, kind in enumerate(KINDS))]


def frames(data: DataSet) -> tuple[pd.DataFrame, pd.DataFrame]:
    return (
        pd.DataFrame(data["recs"], columns=["user", "item", "score", "rank"]),
        pd.DataFrame(data["truth"], columns=["user", "item", "relevance"]),
    )


def pytrec_eval(data: DataSet, name: str) -> float:
    import pytrec_eval as library

    found = library.RelevanceEvaluator(qrels(data), {name}).evaluate(runs(data))
    return mean(values[name.replace(".", "_")] for values in found.values())


def ir_measures(data: DataSet, name: str) -> float:
    import ir_measures as library

    measure = library.parse_measure(name)
    rows = [library.ScoredDoc(*row[:3]) for row in data["recs"]]
    return float(library.calc_aggregate([measure], qrels(data), rows)[measure])


@pytest.mark.thin
@pytest.mark.parametrize("data", DATA, ids=["short", *KINDS])
@pytest.mark.parametrize(("library", "metric", "k", "asked", "spelt"), ROWS["asked"])
def test_a_librarys_number_is_that_librarys_by_whatever_way_it_is_asked(
    library: str, metric: str, k: int, asked: str, spelt: list[str], data: DataSet
) -> None:
    """`k` of 0: without a cut-off."""
    k = k or None
    recs, truth = frames(data)
    number = {"pytrec_eval": pytrec_eval, "ir_measures": ir_measures}
    value = number[asked.split(" ")[0]](data, asked.split(" ")[1])
    want = pytest.approx(value, abs=1e-9)
    ev = recnb.evaluate(recs, truth)
    under = ev.under(library)
    convention = recnb.evaluate(recs, truth, convention=library)
    for name in [metric, *spelt]:
        assert recnb.as_in(library, name, recs, truth, k=k) == want, name
    printed = [name for name in [metric, *spelt] if "_no" not in name and name != "ap"]
    for name in printed:
        assert under.measure(name, k=k) == want
        assert convention.measure(name, k=k) == want
        assert under.table(name, k=k).to_numpy().item() == want
    if metric != "judged":
        assert ev.why(metric, k, other=library)["value"].iloc[-1] == want
        name = recnb.conventions.presets.library_named(library)
        fits = ev.identify(metric, f"{value:.12f}", k)
        assert any(label.startswith(f"{name} ") for label in fits.index)


@pytest.mark.parametrize(("library", "metric", "variant"), ROWS["meant"])
def test_without_a_cut_off_the_variant_that_a_library_never_cuts_is_meant(
    library: str, metric: str, variant: str
) -> None:
    """Whose values are recorded: tests/conventions/test_presets.py."""
    for data in DATA:
        recs, truth = frames(data)
        meant = recnb.as_in(library, variant, recs, truth)
        assert recnb.as_in(library, metric, recs, truth) == meant


CUTTING = [
    preset
    for preset in presets().values()
    if preset.without_k and preset.metric not in LIST_METRICS
]


@pytest.mark.parametrize("preset", CUTTING, ids=lambda preset: preset.label)
def test_a_library_that_always_cuts_has_no_number_without_a_cut_off(
    preset: Preset,
) -> None:
    """What the error advises gives a number; and so do its conventions."""
    recs, truth = frames(SHORT)
    with pytest.raises(OptionError, match=r"give k, such as k=10"):
        recnb.as_in(preset.library, preset.variant, recs, truth)
    label = f"{preset.library} {preset.variant}"
    with pytest.raises(OptionError, match=r"give k, such as k=10"):
        recnb.evaluate(recs, truth).why(preset.metric, other=label)


# The words


@pytest.mark.parametrize("asked", ROWS["ideal"])
def test_the_words_of_a_number_say_where_its_ideal_list_is_cut(asked: str) -> None:
    ev = recnb.evaluate(*frames(SHORT))
    shown = eval(asked, {"ev": ev, "recnb": recnb})
    basis = shown.attrs["basis"] if isinstance(shown, pd.DataFrame) else shown.basis
    said = [part for part in re.split("; |: (?=ideal)", basis) if "ideal" in part]
    assert said == [f"ideal: all relevant items, {ROWS['ideal'][asked]}"]
