"""By a library's name it is that library's number, with a cut-off and without one,
however it is asked for: held against pytrec_eval, ir_measures and scikit-learn as they
are installed, and against what ranx and lenskit returned.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions.presets import Preset, of_metric, presets
from recnb.errors import OptionError, RecnbError
from recnb.metrics.metric import LIST_METRICS
from tests.tools.parity.data import DataSet, candidates, data_set, mean, qrels, runs

RECORDED = Path(__file__).parents[1] / "recorded"
KINDS = ("plain", "tied", "same users", "long", "no zeros")
#: Lists of two items against four relevant ones, and of three against one.
SHORT: DataSet = {
    "recs": [
        ["u", "a", 2.0, 1],
        ["u", "b", 1.0, 2],
        ["v", "x", 3.0, 1],
        ["v", "y", 2.0, 2],
        ["v", "z", 1.0, 3],
    ],
    "truth": [
        *(["u", item, grade] for item, grade in zip("acde", (1, 2, 1, 3), strict=True)),
        ["v", "y", 2],
    ],
}
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


def scikit_learn(data: DataSet, k: int | None) -> float:
    """Of what was recommended and, below it, what was missed."""
    from sklearn.metrics import ndcg_score

    lists = candidates(data, full=True)
    values = []
    for user in qrels(data):
        rows = lists.get(user, [])
        grades = [[row[2] for row in rows]]
        scores = [[float(row[1]) for row in rows]]
        values.append(float(ndcg_score(grades, scores, k=k)))
    return mean(values)


Ask = Callable[[DataSet], float]
#: Library, metric, cut-off, how the library is asked, and other spellings.
ASKED: list[tuple[str, str, int | None, Ask, list[str]]] = [
    (
        "pytrec_eval",
        "ndcg",
        None,
        lambda data: pytrec_eval(data, "ndcg"),
        ["nDCG", "NDCG", "ndcg_nocut"],
    ),
    ("pytrec_eval", "ndcg", 3, lambda data: pytrec_eval(data, "ndcg_cut.3"), ["nDCG"]),
    (
        "trec_eval",
        "average_precision",
        None,
        lambda data: pytrec_eval(data, "map"),
        ["map", "AP", "ap_nocut", "ap"],
    ),
    (
        "trec",
        "reciprocal_rank",
        None,
        lambda data: pytrec_eval(data, "recip_rank"),
        ["RR", "mrr", "rr"],
    ),
    (
        "ir_measures",
        "ndcg",
        None,
        lambda data: ir_measures(data, "nDCG"),
        ["nDCG", "NDCG", "ndcg_nojudgedcut"],
    ),
    ("ir_measures", "ndcg", 4, lambda data: ir_measures(data, "nDCG@4"), ["nDCG"]),
    ("ir_measures", "judged", None, lambda data: ir_measures(data, "Judged"), []),
    (
        "ir_measures",
        "average_precision",
        None,
        lambda data: ir_measures(data, "AP"),
        ["ap", "AP", "MAP"],
    ),
    (
        "ir_measures",
        "reciprocal_rank",
        None,
        lambda data: ir_measures(data, "RR"),
        ["rr", "RR", "rr_nocut"],
    ),
]


@pytest.mark.thin
@pytest.mark.parametrize("data", DATA, ids=["short", *KINDS])
@pytest.mark.parametrize(
    ("library", "metric", "k", "ask", "spelt"), ASKED, ids=lambda value: str(value)[:12]
)
def test_a_librarys_number_is_that_librarys_by_whatever_way_it_is_asked(
    library: str, metric: str, k: int | None, ask: Ask, spelt: list[str], data: DataSet
) -> None:
    recs, truth = frames(data)
    want = pytest.approx(ask(data), abs=1e-9)
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
        fits = ev.identify(metric, f"{ask(data):.12f}", k)
        assert any(label.startswith(f"{name} ") for label in fits.index)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [None, 3])
def test_scikit_learns_number_with_a_cut_off_and_without(
    seed: int, k: int | None
) -> None:
    data = data_set(Random(seed), "long, tied")  # it refuses lists of one item
    recs, truth = frames(data)
    assert recnb.as_in("sklearn", "ndcg[full]", recs, truth, k=k) == pytest.approx(
        scikit_learn(data, k), abs=1e-9
    )


@pytest.mark.parametrize("data", DATA, ids=["short", *KINDS])
def test_a_measure_means_what_ir_measures_means_whatever_its_case(
    data: DataSet,
) -> None:
    """Where no scores are equal, recnb's own conventions are those of ir_measures."""
    recs, truth = frames(data)
    recs = recs.sort_values(["score", "item"], ascending=False)
    recs["score"] = np.arange(len(recs), 0.0, -1.0)
    recs = recs.drop(columns="rank")
    strict = {**data, "recs": recs.to_numpy().tolist()}
    ev = recnb.evaluate(recs, truth, no_relevant="zero")
    want = pytest.approx(ir_measures(strict, "nDCG"), abs=1e-9)
    assert ev.measure("nDCG") == ev.measure("ndcg") == want
    assert ev.measures(["nDCG"])["mean"].item() == want
    assert ev.table("nDCG").to_numpy().item() == want
    assert ev.table("nDCG", k=[2, None])[None].item() == want
    assert ev.table("nDCG", k=[2, None])[2].item() == ev.ndcg(k=2)
    assert ev.ndcg() == ev.table("ndcg").to_numpy().item() == want
    at_3 = pytest.approx(ir_measures(strict, "nDCG@3"), abs=1e-9)
    assert ev.measure("nDCG@3") == ev.measure("nDCG", k=3) == ev.ndcg(k=3) == at_3


def recorded_values() -> list[tuple[str, str, str, str, float]]:
    """What ranx and lenskit returned of whole lists: library, variant that is asked for
    without a cut-off, case, value.
    """
    asked = {
        ("ranx", "ndcg_nocut"): "ndcg",
        ("ranx", "precision_nocut"): "precision",
        ("lenskit", "recall_nocut"): "recall",
        ("ir-measures", "ndcg_nojudgedcut"): "ndcg",
        ("pytrec_eval-terrier", "ap_nocut"): "ap",
    }
    with (RECORDED / "values.csv").open(encoding="utf-8", newline="") as file:
        return [
            (row["library"], row["variant"], name, row["case"], float(row["value"]))
            for row in csv.DictReader(file)
            if row["value"]
            for name in [asked.get((row["library"], row["variant"]))]
            if name is not None
        ]


def test_without_a_cut_off_the_variant_that_a_library_never_cuts_is_meant() -> None:
    cases = {
        case["id"]: case
        for case in json.loads((RECORDED / "cases.json").read_text("utf-8"))
    }
    values = recorded_values()
    assert len({value[:2] for value in values}) == 5
    for library, variant, name, case, value in values:
        data = cases[case]
        got = recnb.as_in(
            library, name, pd.DataFrame(data["recs"]), pd.DataFrame(data["truth"])
        )
        assert got == pytest.approx(value, abs=1e-9), (library, variant, case)


def test_whole_lists_of_a_library_are_a_table_of_their_own() -> None:
    under = recnb.evaluate(*frames(SHORT)).under("trec")
    with pytest.raises(OptionError, match="ask for k=None alone"):
        under.table(["ndcg", "reciprocal_rank"], k=[1, None, 2])
    assert under.table(["ndcg"], k=None).to_numpy().item() == under.ndcg()


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


def test_a_library_that_always_cuts_has_no_number_among_those_without_k() -> None:
    ev = recnb.evaluate(*frames(SHORT))
    nearest = ev.identify("ndcg", "0.1234")
    n = int(re.search(r"none of (\d+)", nearest.attrs["basis"])[1])  # type: ignore[index]
    cutting = [preset for preset in of_metric("ndcg") if preset.without_k]
    assert {preset.library for preset in cutting} >= {"rectools", "implicit"}
    with_number = {"recnb"}
    for preset in of_metric("ndcg"):
        with suppress(RecnbError):
            asked = preset.at(None)
            recnb.as_in(asked.library, asked.variant, *frames(SHORT))
            with_number.add(asked.label)
    assert with_number.isdisjoint(preset.label for preset in cutting)
    assert n == len(with_number)


# The words


def test_the_words_of_a_number_say_where_its_ideal_list_is_cut() -> None:
    ev = recnb.evaluate(*frames(SHORT))
    at_k, at_length, nowhere = (
        "ideal: all relevant items, cut at k",
        "ideal: all relevant items, cut at the list's length",
        "ideal: all relevant items, not cut",
    )
    numbers = {
        at_k: [ev.ndcg(k=2), ev.measure("nDCG@2"), ev.under("ranx").ndcg(k=2)],
        at_length: [ev.ndcg(ideal="min(k, list)")],
        nowhere: [ev.ndcg(), ev.idcg(), ev.measure("nDCG"), ev.under("trec").ndcg()],
    }
    for phrase, scores in numbers.items():
        for score in scores:
            said = [part for part in score.basis.split("; ") if "ideal" in part]
            assert said == [phrase], score
    assert nowhere in ev.table("ndcg").attrs["basis"]
    assert nowhere in ev.explain("ndcg", "u").basis
    assert nowhere in recnb.ndcg(["a"], ["a", "b"]).basis
    assert at_k in recnb.ndcg(["a"], ["a", "b"], k=1).basis


def test_a_table_of_cut_and_whole_lists_says_how_each_is_counted() -> None:
    ev = recnb.evaluate(*frames(SHORT))
    compared = recnb.compare({"a": ev, "b": ev})
    both = (
        "ideal: all relevant items, cut at k; for whole lists, ideal: all relevant items, "
        "not cut"
    )
    for shown in (ev, compared):
        assert both in shown.table("ndcg", k=[2, None]).attrs["basis"]
        assert "whole lists" not in shown.table("ndcg", k=[1, 2]).attrs["basis"]
        out_of = shown.table("precision", k=[2, None]).attrs["basis"]
        assert "out of k; for whole lists, out of the list's length" in out_of
        assert "whole lists" not in shown.table("recall", k=[2, None]).attrs["basis"]


def test_a_convention_of_whole_lists_gives_its_number_again() -> None:
    """`score.convention`, given to evaluate or to why, is what the number follows."""
    recs, truth = frames(SHORT)
    ev = recnb.evaluate(recs, truth)
    for score in (ev.ndcg(), ev.measure("nDCG"), ev.under("ranx").ndcg()):
        again = recnb.evaluate(recs, truth, convention=score.convention)
        assert again.ndcg() == pytest.approx(float(score), abs=1e-12)
        last = ev.why("ndcg", other=score.convention)["value"].iloc[-1]
        assert last == pytest.approx(float(score), abs=1e-12)
