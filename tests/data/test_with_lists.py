"""Other lists beside a truth that is kept: the same as `evaluate` with these lists, in
every number, line and error.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.conventions import names
from recnb.data import truth as truth_module
from recnb.data.tables import InputTable
from recnb.errors import FrameError, OptionError, RecnbError
from recnb.evaluation import Evaluation
from tests.data.test_join import JOINS
from tests.examples import examples
from tests.rows import evaluated, read_rows
from tests.sample import SAMPLE


def said(ask: Callable[[], Any]) -> Any:
    """Return an answer, or the error."""
    try:
        return ask()
    except RecnbError as problem:
        return type(problem), str(problem)


def outcome(evaluate: Callable[[], Evaluation]) -> Any:
    """Return all that an evaluation says, or its error."""
    ev = said(evaluate)
    if isinstance(ev, tuple):
        return ev
    hits, sides = ev.hits(), ev.side_data
    return {
        "users": [*ev.users],
        "hits": [hits.user.tolist(), hits.rank.tolist(), hits.entry.tolist()],
        "numbers": [said(lambda k=k: repr(ev.ndcg(k=k))) for k in (1, 3, None)],
        "by user": said(lambda: ev.average_precision(k=3).per_user.to_dict()),
        "of all lists": said(lambda: repr(ev.personalization(k=2))),
        "novelty": said(lambda: repr(ev.novelty(k=2))),
        "by day": said(lambda: ev.table("recall", k=2, by="day").to_csv()),
        "line": ev.basis,
        "counts": ev.counts,
        "lint": said(lambda: str(ev.lint())),
        "call": (sides.call, sides.frames, sides.differing),
    }


def hold(first: Any, truth: Any, others: list[Any], **options: Any) -> list[Any]:
    """Hold other lists beside a kept truth against `evaluate`; return what is said."""
    ev = recnb.evaluate(first, truth, **options)
    outcomes = []
    for lists in [*others, first]:
        kept = outcome(lambda lists=lists: ev.with_lists(lists))
        assert kept == outcome(
            lambda lists=lists: recnb.evaluate(lists, truth, **options)
        )
        outcomes.append(kept)
    return outcomes


@pytest.mark.parametrize("seed", range(3))
def test_random_lists_give_what_evaluate_gives(seed):
    rng = np.random.default_rng(seed)
    n_held, n_refused = 0, 0
    for case in rng.choice(JOINS, examples(120)):
        recs, truth = pl.DataFrame(case["recs"]), pl.DataFrame(case["truth"])
        convention = recnb.Convention(**case["convention"])
        others = [pl.DataFrame(other["recs"]) for other in rng.choice(JOINS, 2)]
        others += [recs.drop(rng.choice(["rank", "score"])).to_pandas()]
        try:
            recnb.evaluate(recs, truth, convention=convention)
        except RecnbError:
            continue
        for said in hold(recs, truth, others, convention=convention):
            n_held += isinstance(said, dict)
            n_refused += isinstance(said, tuple)
    assert min(n_held, n_refused) > 0


@pytest.mark.parametrize("library", names())
def test_the_convention_of_a_library_is_kept(library):
    recs, truth = SAMPLE.models["popular"], SAMPLE.test
    other = SAMPLE.models["item-knn"]
    want = recnb.evaluate(other, truth, convention=library).basis
    assert (
        recnb.evaluate(recs, truth, convention=library).with_lists(other).basis == want
    )
    assert recnb.evaluate(recs, truth).under(library).with_lists(other).basis == want


LISTS, TRUTHS, OPTIONS = (
    evaluated(rows, {"pd": pd, "pl": pl})
    for rows in read_rows("data/with_lists.toml").values()
)


@pytest.mark.thin
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_each_form_is_read_as_evaluate_reads_it(truth, options):
    first = LISTS["another name"] if "user" in options else LISTS["a frame"]
    try:
        recnb.evaluate(first, truth, **options)
    except RecnbError:
        return  # an empty list of the truth that counts
    said = hold(first, truth, [*LISTS.values()], **options)
    assert any(isinstance(one, dict) for one in said)


def test_a_mapping_has_no_column_of_lists():
    cells, truth = LISTS["lists in cells"], TRUTHS["a frame"]
    ev = recnb.evaluate(
        cells.rename(columns={"recommended": "best"}), truth, recommended="best"
    )
    assert ev.with_lists({1: ["c", "a"], 2: ["c"]}).mrr() == 0.75


def test_lists_in_files_are_refused(tmp_path):
    ev = recnb.evaluate(LISTS["a frame"], TRUTHS["a frame"])
    path = tmp_path / "recs.csv"
    LISTS["a frame"].to_csv(path, index=False)
    lazy = pl.from_pandas(LISTS["a frame"]).lazy()
    for lists in (path, str(path), lazy, [["a"], ["b"]]):
        with pytest.raises(FrameError, match="with_lists takes a frame in memory"):
            ev.with_lists(lists)


def test_what_is_not_two_frames_in_memory_is_refused():
    recs, truth = LISTS["a day"], TRUTHS["days"]
    both = pd.DataFrame({"user": [1], "item": ["a"], "score": [1], "relevance": [1]})
    others = recnb.compare(
        {"a": LISTS["a frame"], "b": {1: ["a"]}}, truth, averaged_users="recs"
    )
    in_split = recnb.evaluate(recs.assign(item=list("abc")), truth, split="day")
    log = [{"question": "q", "retrieved": ["a"], "expected": ["a"]}]
    of_log, of_frame = recnb.evaluate(log), recnb.evaluate(both)
    for ev in (in_split, of_frame, of_log, others["a"]):
        with pytest.raises(OptionError, match="with_lists is for an evaluation of two"):
            ev.with_lists(recs)


def test_the_truth_is_numbered_once():
    ev = recnb.evaluate(LISTS["a frame"], TRUTHS["a frame"])
    hits = [ev.with_lists(LISTS[name]).joined for name in ("scores", "a mapping")]
    (truth,) = ev.source.truth.graded_truths.values()
    assert {"users", "by_user", "repeats_a_pair"} <= {*vars(truth)}
    assert "_by_hash" in vars(truth.pair_lookup)
    assert hits[0].rows.truth.equals(hits[1].rows.truth)


def as_mapping(frame: pd.DataFrame) -> dict[Any, list[Any]]:
    """Return the items of each user."""
    return frame.groupby("user")["item"].agg(list).to_dict()


@pytest.mark.parametrize("form", [pd.DataFrame, pl.LazyFrame, as_mapping])
def test_models_of_a_comparison_read_and_grade_a_truth_once(form, monkeypatch):
    lists, frame = LISTS["a frame"], TRUTHS["a frame"]
    sides = {"truth": form(frame), "train": frame[["user", "item"]]}
    calls = []

    def noted(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            calls.append((name, getattr(given[0], "name", "")))
            return function(*given)

        return call

    for holder, name in ((InputTable, "select"), (truth_module, "_checked_grades")):
        monkeypatch.setattr(holder, name, noted(getattr(holder, name), name))
    found = recnb.compare({"a": lists, "b": lists, "c": lists[::-1]}, **sides)
    for call in (("select", "truth"), ("select", "train")):
        assert calls.count(call) == 1
    assert calls.count(("_checked_grades", "truth")) == (form is not as_mapping)
    alone = recnb.evaluate(lists[::-1], **sides)
    assert repr(found["c"].ndcg(k=2)) == repr(alone.ndcg(k=2))
