"""The way from one number to another ends at the other side, and its changes add up, on frames with every awkward case."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import WORDS
from recnb.conventions.presets import of_metric, presets
from recnb.data import Source, read
from recnb.display.language import use_language
from recnb.errors import OptionError, RecnbError
from recnb.libraries import as_in
from recnb.libraries.variant import Variant
from recnb.libraries.why import Why, preset_of, steps_between
from recnb.metrics.metric import metric_named
from recnb.results.evaluation_data import EvaluationData
from tests.presets import as_in_of, cut_at
from tests.results.test_html import EVIL, Page
from tests.trec import write_qrels, write_run

RANKING = (
    "ndcg",
    "dcg",
    "precision",
    "recall",
    "f1",
    "average_precision",
    "reciprocal_rank",
    "hit_rate",
    "r_precision",
    "rbp",
    "err",
)


def awkward(
    seed: int, grades: tuple[float, ...] = (1.0, 0.0, 2.0, 4.0, 0.5, -1.0)
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """String ids, ties, scores of 0 and below, repeated pairs, short lists, users in one frame only, grades of 0 and below."""
    rng = np.random.default_rng(seed)
    users, items = [f"u{n}" for n in (2, 10, 1, 3, 33, 4, 21)], [*"bacdäXz", "i9", "i10"]
    recs, truth = [], []
    for place, user in enumerate(users):
        n = 0 if place == 3 else int(rng.integers(1, 8))
        chosen = rng.choice(items, size=n)  # with repeats
        scores = rng.choice([2.0, 1.0, 1.0 + 1e-9, 0.5, 0.0, -1.0], size=n)
        recs += [
            {"user": user, "item": item, "score": score, "rank": rank}
            for item, score, rank in zip(chosen, scores, rng.permutation(n) + 1, strict=True)
        ]
        m = 0 if place == 4 else int(rng.integers(1, 6))
        found = rng.choice(items, size=m, replace=False)
        own = (0.0,) if place == 5 else grades
        truth += [{"user": user, "item": item, "relevance": rng.choice(own)} for item in found]
    return pd.DataFrame(recs), pd.DataFrame(truth)


def number(library: str, variant: str, recs: pd.DataFrame, truth: pd.DataFrame, k: int) -> float | str:
    try:
        return as_in(library, variant, recs, truth, cut_at(library, variant, k))
    except RecnbError:
        return "refused"


def numbers(known: list[tuple[str, str]], source: Source, k: int | None) -> dict[tuple[str, str], float | str]:
    """What `number` gives for each preset, of frames that were read once."""
    found: dict[tuple[str, str], float | str] = {}
    for one in known:
        try:
            found[one] = as_in_of(source, *one, k)
        except RecnbError:
            found[one] = "refused"
    return found


def why_between(
    source: Source, metric: str, k: int, one: str, other: str, variants: tuple[str | None, str | None] = (None, None)
) -> Why:
    """The steps between two libraries' numbers."""
    first, second = (
        (source, Variant.of_preset(preset_of(metric_named(metric), library, variant)))
        for library, variant in zip((one, other), variants, strict=True)
    )
    return steps_between(first, second, k)


def near(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-12 * max(1.0, abs(b))


def assert_way(made: Why, start: float, end: float) -> None:
    assert near(made.start, start)
    assert near(made.end, end)
    if math.isfinite(start) and math.isfinite(end):
        assert near(made.start + sum(step.change for step in made.steps), end)
        value = start
        for step in made.steps:
            assert near(value + step.change, step.value)
            value = step.value
            assert step.n_moved >= len(step.movers)
            assert step.was != step.now


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explain nobody on the many ways over the same frames."""
    monkeypatch.setattr(Variant, "explanation", lambda *_: None)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_every_pair_of_presets_of_ndcg(seed: int):
    recs, truth = awkward(seed)
    source = read(recs, truth, {})
    known = [(one.library, one.variant) for one in of_metric("ndcg")]
    assert len(known) == 46
    wanted = numbers(known, read(recs, truth, {}), 3)
    pairs = [pair for at, pair in enumerate(itertools.permutations(known, 2)) if seed == 0 or at % 7 == 0]
    for one, other in pairs:
        start, end = wanted[one], wanted[other]
        if isinstance(start, str) or isinstance(end, str):
            with pytest.raises(RecnbError):
                why_between(source, "ndcg", 3, one[0], other[0], (one[1], other[1]))
            continue
        assert_way(why_between(source, "ndcg", 3, one[0], other[0], (one[1], other[1])), start, end)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    "metric", [pytest.param(name, marks=() if name == "recall" else pytest.mark.slow) for name in RANKING]
)
def test_pairs_of_presets_of_every_metric(metric: str):
    for seed, grades in ((3, (1.0,)), (4, (1.0, 2.0, 0.0)), (5, (1.0, 0.0, 2.0, 0.5, -1.0))):
        recs, truth = awkward(seed, grades)
        source = read(recs, truth, {})
        known = [(one.library, one.variant) for one in of_metric(metric)]
        pairs = list(itertools.permutations(known, 2)) or [(known[0], known[0])]
        step = max(1, len(pairs) // 40)
        wanted = numbers(known, read(recs, truth, {}), 2)
        for one, other in pairs[seed % step :: step]:
            start, end = wanted[one], wanted[other]
            if isinstance(start, str) or isinstance(end, str):
                continue
            assert_way(why_between(source, metric, 2, one[0], other[0], (one[1], other[1])), start, end)


def test_variants_give_what_as_in_gives():
    compared = 0
    for seed, grades in ((6, (1.0, 3.0)), (8, (1.0, 0.0, 2.0, -1.0, 0.25))):
        recs, truth = awkward(seed, grades)
        tidy = recs.drop_duplicates(["user", "item"]).assign(score=lambda frame: 100.0 - np.arange(len(frame)))
        tidy["rank"] = tidy.groupby("user").cumcount() + 1
        both = tidy[tidy["user"].isin(truth["user"])]
        for frame in (recs, tidy, both):
            source, again = (read(frame, truth, {}) for _ in range(2))
            for one in presets().values():
                if one.metric not in RANKING:
                    continue
                for k in (2, None):
                    try:
                        wanted = as_in_of(again, one.library, one.variant, k)
                    except RecnbError:
                        with pytest.raises(RecnbError):
                            Variant.of_preset(one).measure(source, k)
                        continue
                    compared += 1
                    assert near(Variant.of_preset(one).measure(source, k).value, wanted), (one.label, k, seed)
    assert compared > 1500


SAMPLE = recnb.datasets.load_sample()


def test_from_an_evaluation_to_a_library():
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test)
    made = ev.why("ndcg", 10, other="rectools")
    assert_way(made, float(ev.ndcg(k=10)), as_in("rectools", "ndcg", SAMPLE.models["popular"], SAMPLE.test, k=10))
    assert [step.axes for step in made.steps] == [("gain",), ("ideal",)]
    assert made.unchanged
    other = ev.why("ndcg", 10, other="rectools", variant="ndcg_achievable", gain="exponential")
    assert_way(
        other, float(ev.ndcg(k=10, gain="exponential")), float(ev.under("rectools").ndcg(k=10, ideal="relevant"))
    )


def test_a_mover_is_explained_by_the_value_it_has_after_the_step():
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test)
    explained = 0
    for library in ("rectools", "lenskit", "catboost", "cornac"):
        for step in ev.why("ndcg", 10, other=library).steps:
            if step.explanation is not None:
                explained += 1
                mover = next(one for one in step.movers if one.user == step.explanation.user)
                assert near(step.explanation.value, mover.after)
    assert explained >= 4


def test_to_conventions_and_evaluations():
    recs, truth = SAMPLE.models["popular"], SAMPLE.test
    ev = recnb.evaluate(recs, truth)
    strict = recnb.evaluate(recs, truth, relevant_from=4, averaged_users="both")
    made = ev.why("recall", 10, other=strict)
    assert_way(made, float(ev.recall(k=10)), float(strict.recall(k=10)))
    assert {axis for step in made.steps for axis in step.axes} == {"relevant", "averaged_users"}
    assert [step.stage for step in made.steps] == ["relevance", "users"]
    same = ev.why("recall", 10, other=recnb.Convention(relevant_from=4, averaged_users="both"))
    assert near(same.end, made.end)
    under = ev.under("trec_eval").why("ndcg", 10, other=ev)
    assert_way(under, float(ev.under("trec_eval").ndcg(k=10)), float(ev.ndcg(k=10)))


def test_other_frames_are_the_first_step():
    names = list(SAMPLE.models)[:2]
    one, other = (SAMPLE.models[name].rec.against(SAMPLE.test) for name in names)
    made = one.why("ndcg", 10, other=other.under("lenskit"))
    assert_way(made, float(one.ndcg(k=10)), float(other.under("lenskit").ndcg(k=10)))
    assert made.steps[0].axes == ("frames",)
    assert near(made.steps[0].value, float(other.ndcg(k=10)))


def test_what_gives_no_number_alone_is_switched_with_the_next():
    """Ties averaged have no place below a list that holds the whole catalogue: from one to the other takes both at once."""
    recs, truth = awkward(0, (1.0, 2.0))
    made = why_between(read(recs, truth, {}), "ndcg", 3, "cornac", "torchmetrics", ("ndcg[full]", "ndcg[list]"))
    together = [step for step in made.steps if len(step.axes) > 1]
    assert together
    assert "ties" in together[0].axes
    assert "switched together" in together[0].note
    assert together[0].note in repr(made)


def test_no_change_at_all():
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test)
    made = ev.why("ndcg", 10, other=ev)
    assert made.steps == ()
    assert made.to_frame().empty
    assert list(made.to_frame().columns)[:2] == ["stage", "axis"]
    assert "+0.0000" in repr(made)


def test_what_is_asked_wrongly_is_refused():
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test)
    with pytest.raises(OptionError, match="name a library"):
        ev.why("ndcg", 10, other=3)
    with pytest.raises(OptionError, match="no library"):
        ev.why("ndcg", 10, other="rectool")
    with pytest.raises(OptionError, match="computes precision"):
        ev.why("ndcg", 10, other="rectools", variant="precision")
    with pytest.raises(OptionError, match="has no rbp"):
        ev.why("rbp", 10, other="rectools")
    with pytest.raises(OptionError, match="variant="):
        ev.why("ndcg", 10, other=ev, variant="ndcg")


def test_frames_without_scores_are_given_what_they_have():
    recs = pd.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": ["a", "b"], "item": ["y", "z"]})
    made = recnb.evaluate(recs, truth).why("ndcg", 2, other="lightgbm")
    assert any("scores, which these frames lack" in note for note in made.notes)


@pytest.mark.parametrize("evil", EVIL)
def test_text_of_the_users_is_text(evil: str):
    recs = pd.DataFrame({"user": [evil, evil, "b"], "item": [evil, "y", "x"], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [evil, evil, "b"], "item": ["y", evil, "x"], "relevance": [2, 1, 0]})
    page = Page(recnb.evaluate(recs, truth).why("ndcg", 2, other="rectools")._repr_html_())
    plain = {"div", "b", "code", "table", "caption", "thead", "tbody", "tr", "th", "td", "span"}
    assert page.tags <= plain | {"bdi", "details", "summary"}
    assert page.attributes <= {"class", "style", "role", "aria-label", "scope"}
    for piece, off in page.text:
        assert off or piece.startswith("$\\displaystyle") or not piece.strip()


def test_plot_draws_each_step():
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    made = SAMPLE.models["popular"].rec.against(SAMPLE.test).why("ndcg", 10, other="lenskit")
    ax = made.plot()
    assert len(ax.patches) == len(made.steps) + 2
    assert made.plot(ax) is ax
    plt.close("all")


def test_every_word_of_a_convention_is_said():
    ndcg = metric_named("ndcg")
    for axis, words in WORDS.items():
        said = [Variant.of("", recnb.Convention(**{axis: word}), ndcg, {}).words(axis) for word in words]
        assert len(set(said)) == len(words), axis


def test_the_way_is_walked_in_the_order_in_which_a_number_is_made():
    order = ["ranking", "relevance", "users", "metric", "average"]
    recs, truth = awkward(2, (1.0, 0.0, 2.0))
    for other in ("catboost", "lenskit", "torchmetrics", "cornac"):
        made = why_between(read(recs, truth, {}), "ndcg", 3, "pytrec_eval-terrier", other)
        stages = [order.index(step.stage) for step in made.steps]
        assert stages == sorted(stages)


def test_importing_recnb_loads_none_of_this():
    code = "import recnb, sys; assert not {'matplotlib', 'scipy.stats'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert callable(steps_between)


def test_measures_by_their_text_bring_their_cutoff(tmp_path: Path) -> None:
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["popular"], sample.test)
    assert repr(ev.why("nDCG@10", other="ranx")) == repr(ev.why("ndcg", k=10, other="ranx"))
    assert repr(ev.spread("nDCG@10")) == repr(ev.spread("ndcg", k=10))
    assert repr(ev.identify("nDCG@10", 0.1725)) == repr(ev.identify("ndcg", 0.1725, k=10))
    for call in (ev.spread, partial(ev.why, other="ranx"), partial(ev.identify, value=0.2)):
        with pytest.raises(OptionError, match="leave one of them out"):
            call("nDCG@10", k=5)
        with pytest.raises(OptionError, match=r"evaluate with relevant_from=2, and name 'average_precision'"):
            call("AP(rel=2)")
        with pytest.raises(OptionError, match="takes a metric of accuracy by its name"):
            call("Bpref")


def test_as_in_reads_mappings_and_files(tmp_path: Path) -> None:
    lists, truth = {"u": {"a": 3.0, "b": 2.0}, "v": {"b": 1.0}}, {"u": {"b": 2, "c": 1}, "v": {"b": 1}}
    rows = [
        pd.DataFrame(
            [(user, item, value) for user, items in held.items() for item, value in items.items()], columns=columns
        )
        for held, columns in ((lists, ["user", "item", "score"]), (truth, ["user", "item", "relevance"]))
    ]
    write_run(rows[0], tmp_path / "bm25.run")
    write_qrels(rows[1], tmp_path / "t.qrels")
    wanted = recnb.as_in("trec_eval", "ndcg", *rows, k=10)
    assert 0 < wanted < 1
    assert recnb.as_in("trec_eval", "ndcg", lists, truth, k=10) == wanted
    assert recnb.as_in("trec_eval", "ndcg", str(tmp_path / "bm25.run"), tmp_path / "t.qrels", k=10) == wanted


def test_the_other_number_is_named_in_any_way_that_recnb_prints_it() -> None:
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    assert ev.why("ndcg", k=10, other="xgboost ndcg_linear").end == pytest.approx(
        recnb.as_in("xgboost", "ndcg_linear", sample.models["item-knn"], sample.test, k=10), abs=1e-9
    )
    assert ev.under("lenskit").why("ndcg", k=10, other="recnb").end == pytest.approx(ev.ndcg(k=10), abs=1e-12)
    not_a_cut_off: Any = "lightgbm"
    for call in (partial(ev.why, "lightgbm"), partial(ev.why, "ndcg", not_a_cut_off)):
        with pytest.raises(OptionError, match=r"other='rectools'"):
            call()
    with pytest.raises(OptionError, match=r"\.identify\("):
        ev.why("ndcg", k=10, other=0.72335)
    with pytest.raises(RecnbError, match=r"^ranx ndcg follows no rule that recnb could record on equal"):
        recnb.evaluate({"u": dict.fromkeys("abcdefghijklmnopq", 1.0)}, {"u": {"a": 1, "b": 2}}).why(
            "nDCG@10", other="ranx"
        )


# Three users by hand: the first is given all that is relevant, the second the one item at the end, the third nothing.
LISTS = pd.DataFrame({"user": np.repeat([1, 2, 3], 3), "item": list("abcabdbce"), "score": [3.0, 2.0, 1.0] * 3})
JUDGED = pd.DataFrame({"user": [1, 1, 2, 3], "item": list("acdz"), "relevance": [1, 3, 2, 1]})
BY_HAND = recnb.evaluate(LISTS, JUDGED)


def test_another_discount_keeps_the_base_that_is_given() -> None:
    other = recnb.Convention().with_metric({"discount": "clipped_log"})
    why = BY_HAND.why("dcg", k=3, other=other, log_base=10)
    assert why.end == pytest.approx(float(BY_HAND.dcg(k=3, discount="clipped_log", log_base=10)))
    (step,) = why.steps
    assert step.was.endswith(", base 10")
    assert step.now.endswith(", base 10")


def test_axes_are_named_where_no_font_has_the_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    with use_language("ko"):
        why = BY_HAND.why("recall", k=3, other=recnb.Convention(relevant_from=2))
    monkeypatch.setattr("recnb.display.fonts.families", list)
    with pytest.warns(UserWarning, match="한글"):
        labels = why.plot().get_yticklabels()
    assert [label.get_text() for label in labels] == ["start", "relevant", "end"]


def test_rows_without_items_have_no_other_convention() -> None:
    parts = BY_HAND._data.prepared
    without_frames = EvaluationData(replace(parts, source=None))
    with pytest.raises(OptionError, match="was not made of frames"):
        recnb.Evaluation(without_frames).why("ndcg", k=2, other="recnb")
