"""The lint: each finding planted, its number held against an evaluation of frames put right by hand, and silence on clean data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import recnb
from recnb.conventions import presets
from recnb.errors import OptionError
from recnb.evaluate import model_evaluation
from recnb.lint import CHECKS
from tests.data.test_streaming import sized
from tests.lint_planted import ALONE, CLEAN, METRIC, PLANTED, Data, Frame, ranked, rated, repeat, sampled

PAIR = ["user", "item"]


def planted(name: str) -> Data:
    return PLANTED[name][0]


def ndcg(data: Data, **options: Any) -> float:
    return float(data.evaluate(**options).ndcg(k=10))


# Silence


@pytest.mark.parametrize("k", [10, None])
def test_nothing_is_found_in_clean_data(k: int | None) -> None:
    lint = CLEAN.lint(k, "recall")
    assert lint.names == []
    assert not lint
    assert lint.n_checks == len(CHECKS)
    assert (lint.lower, lint.upper) == (lint.value, lint.value)
    assert repr(lint).startswith(f"Lint: no findings in {len(CHECKS)} checks")
    complete = CLEAN.recs.merge(CLEAN.truth.assign(relevance=1), how="outer", on=PAIR)
    lists = Frame({"user": [1, 2], "recommended": [["a", "b"], ["b", "c"]], "relevant": [["b", "x"], ["c", "y"]]})
    polars = recnb.evaluate(pl.from_pandas(CLEAN.recs), pl.from_pandas(CLEAN.truth).lazy())
    for again in (
        CLEAN.with_(recs=ranked(CLEAN.recs)).lint(), CLEAN.with_(recs=CLEAN.recs.assign(rank=ranked(CLEAN.recs)["rank"])).lint(),
        CLEAN.with_(recs=CLEAN.recs[PAIR]).saying(order="row").lint(), polars.lint(), complete.rec.lint(), lists.rec.lint(k=2),
    ):  # fmt: skip
        assert again.names == []


@pytest.mark.parametrize("model", ["item-knn", "popular"])
def test_the_sample_shows_one_warning_and_two_notes_at_most(model: str) -> None:
    data = recnb.datasets.load_sample()
    lint = recnb.evaluate(data.models[model], data.test, train=data.train, items=data.items, users=data.users).lint()
    assert (len(lint.warnings), len(lint.notes)) == (1, 2)


# Each finding, planted


def test_every_check_has_data_that_it_finds_something_in() -> None:
    assert {check.name for check in CHECKS} == {name.split(":")[0] for name in PLANTED}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_once_and_told(name: str) -> None:
    data, beside = PLANTED[name]
    lint, check = data.lint(*METRIC.get(name, (10, "ndcg"))), name.split(":")[0]
    assert {*lint.names} == {check, *beside}
    assert [one.severity for one in lint] == ["warning"] * len(lint.warnings) + ["note"] * len(lint.notes)
    assert lint.names.count(check) == 1 or name == "outside_items"
    finding = lint[check]
    assert 0 < finding.n <= finding.of
    for sentence in (finding.short, finding.effect, finding.advice):
        assert sentence
        assert "{" not in sentence
    assert finding.example or check in ("perfect", "nothing_missed")


# Its number, by hand


def without(frame: Frame, other: Frame) -> Frame:
    marked = frame.merge(other[PAIR].drop_duplicates(), how="left", on=PAIR, indicator=True)
    return marked[marked["_merge"] == "left_only"].drop(columns="_merge")


LEAKED = planted("train_in_truth").saying(no_relevant="zero")
SEEN = [0, 1, 30, 59]
CASES: dict[str, tuple[Data, str, Callable[[Data], Data]]] = {
    "seen, evidently": (planted("seen_in_train").saying(convention="evidently"), "seen_in_train", lambda d: d.with_(recs=d.recs.drop(index=SEEN))),
    "seen, of all users": (
        planted("seen_in_train").with_(recs=planted("seen_in_train").recs.query("user != 'u03'")).saying(convention="trec_eval", averaged_users="truth"),
        "seen_in_train", lambda d: d.with_(recs=d.recs.drop(index=SEEN)),
    ),
    "seen, by rank": (planted("seen_in_train: ranks"), "seen_in_train", lambda d: d.with_(recs=ranked(d.recs.drop(index=SEEN).assign(score=0)))),
    "leaked, rectools": (LEAKED.saying(convention="rectools"), "train_in_truth", lambda d: d.with_(truth=without(d.truth, d.train))),
    "leaked": (LEAKED, "train_in_truth", lambda d: d.with_(truth=without(d.truth, d.train))),
    "repeated, a hit once": (planted("duplicates").saying(duplicates="hit_once"), "duplicates", lambda d: d.with_(recs=CLEAN.recs)),
    "amounts": (planted("unused_relevance"), "unused_relevance", lambda d: d.saying(relevance="purchases")),
    "rows": (CLEAN.with_(recs=CLEAN.recs.iloc[::-1]).saying(order="row"), "rank_against_score", lambda _: CLEAN),
    "upside down": (planted("upside_down"), "upside_down", lambda d: d.with_(recs=d.recs.assign(score=-d.recs["score"]))),
    "ids": (planted("ids_written_otherwise: case"), "ids_written_otherwise", lambda _: CLEAN),
    "new items": (planted("cold_relevant"), "cold_relevant", lambda _: CLEAN),
    "gaps": (planted("rank_gaps"), "rank_gaps", lambda d: d.with_(recs=ranked(d.recs.assign(score=0)))),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_effect_is_an_evaluation_of_the_frames_put_right(case: str) -> None:
    data, name, right = CASES[case]
    finding = data.lint()[name]
    assert finding.facts["value"] == pytest.approx(ndcg(data), abs=1e-12)
    assert finding.facts["other"] == pytest.approx(ndcg(right(data)), abs=1e-12)


def test_users_who_leave_are_told_and_what_cannot_be_evaluated_has_no_number_and_no_code() -> None:
    effect = planted("users_without_list").lint()["users_without_list"].effect
    assert effect.endswith(", users: 39 instead of 40.")
    everything = CLEAN.with_(train=CLEAN.truth).lint()["train_in_truth"]
    assert "memory, not prediction" in everything.effect
    assert "put right" not in everything.effect
    assert (everything.code, everything.advice) == ("", "Split again, so that no pair is on both sides.")
    err = planted("ties").lint(10, "err")["ties"]  # which has no mean over orders
    assert "put right" not in err.effect
    assert err.code == ""


def test_ceilings_are_what_perfect_lists_reach_under_the_convention_in_force() -> None:
    perfect = CLEAN.with_(recs=CLEAN.truth.assign(score=np.resize(np.arange(99, 0, -1), len(CLEAN.truth))))
    nobody = pd.concat([CLEAN.truth.assign(relevance=1), Frame({"user": ["z"], "item": ["i001"], "relevance": [0]})])
    for options, k, metric in [({}, 5, "recall"), ({}, 2, "recall"), ({}, 10, "precision"), ({"no_relevant": "one", "averaged_users": "union"}, 3, "recall")]:  # fmt: skip
        data, best = (one.with_(truth=nobody, users=None).saying(**options) for one in (CLEAN, perfect))
        most = getattr(best.evaluate(), metric)(k=k)
        told = data.lint(k, metric)["ceiling"]
        assert told.facts["most"] == pytest.approx(float(most), abs=1e-12)
        assert f"cannot pass {float(most):.4f}" in told.short
    for options, k, metric in [({}, 10, "reciprocal_rank"), ({}, 7, "precision"), ({}, 10, "cg"), ({}, None, "recall")]:
        assert "ceiling" not in CLEAN.saying(**options).lint(k, metric).names
    assert "ceiling" not in CLEAN.lint(10, "precision", out_of="list").names
    assert "ceiling" in CLEAN.lint(10, "precision").names
    assert float(perfect.evaluate().precision(k=10, out_of="list")) == 1


# Single checks


def test_ids_that_would_become_empty_are_left() -> None:
    recs = CLEAN.recs.assign(item=CLEAN.recs["item"].replace(CLEAN.recs["item"][0], "0"))
    truth = CLEAN.truth.assign(item=CLEAN.truth["item"].replace(CLEAN.recs["item"][0], "000"))
    finding = ALONE.with_(recs=recs, truth=truth).lint()["ids_written_otherwise"]
    names = {"recs": recs, "truth": truth, "users": CLEAN.users, "recnb": recnb}
    exec(finding.code, names)
    assert "0" in {*names["truth"]["item"]}
    ids = planted("ids_written_otherwise: point")
    truth = pd.concat([ids.truth, Frame({"user": ["u00", "u01"], "item": ["v1.0", ".0"]})])
    names = {**ids.frames, "truth": truth, "recnb": recnb}
    exec(ids.with_(truth=truth).lint()["ids_written_otherwise"].code, names)
    assert {"v1.0", ".0"} < {*names["truth"]["item"]}


def test_ratings_are_those_of_a_scale_without_0() -> None:
    assert "ratings" not in planted("ratings").saying(relevant_from=4).lint().names
    assert rated(CLEAN, [1, 2, 3]).lint().names == []  # grades
    assert rated(CLEAN, [0, 1, 2, 3, 4, 5]).lint().names == []  # 0 is there for what is not relevant
    assert rated(CLEAN, [2, 7, 10]).lint()["ratings"].facts["liked"] == 8


def test_what_looks_like_relevance_by_its_name() -> None:
    truth = planted("unused_relevance").truth
    for unused in (
        truth.assign(purchases=1), truth.assign(purchases="many"), truth.rename(columns={"purchases": "shelf"}),
        truth.assign(relevance=1), CLEAN.truth.assign(timestamp=np.arange(280) % 3), CLEAN.truth.assign(index=range(280)),
    ):  # fmt: skip
        assert "unused_relevance" not in CLEAN.with_(truth=unused).lint().names
    bought = CLEAN.with_(truth=CLEAN.truth.assign(purchases=np.arange(280) % 3)).lint()["unused_relevance"]
    assert (bought.severity, bought.n) == ("warning", 94)


@pytest.mark.parametrize("extra", [False, True])
def test_sampled_candidates_are_not_a_ranking_of_everything(extra: bool) -> None:
    finding = sampled(CLEAN, extra=extra).lint()["sampled_candidates"]
    assert finding.facts["size"] == 20
    whole = CLEAN.users[["user"]].merge(CLEAN.items[["item"]], how="cross")
    scores = np.random.default_rng(0).random(len(whole))
    assert CLEAN.with_(recs=whole.assign(score=scores), train=None).lint().names == []


def test_hits_joined_to_the_lists_are_no_sampled_candidates() -> None:
    frame = CLEAN.recs.merge(CLEAN.truth.assign(hit=1), how="left").fillna({"hit": 0})
    none = frame["user"].isin(sorted(frame["user"].unique())[::3])
    found = recnb.evaluate(frame.assign(hit=frame["hit"].where(~none, 0)), relevance="hit").lint(10)
    assert "sampled_candidates" not in found.names
    assert found["nothing_missed"].severity == "warning"
    few = recnb.evaluate(frame, relevance="hit").lint(10)["nothing_missed"]
    assert few.severity == "note"
    assert "missing rank" in few.advice


def test_severity_follows_the_share() -> None:
    few, many = (CLEAN.with_(recs=CLEAN.recs[~CLEAN.recs["user"].isin(gone)]) for gone in (["u00"], ["u00", "u01"]))
    assert few.lint()["users_without_list"].severity == "note"
    assert many.lint()["users_without_list"].severity == "warning"
    every = CLEAN.lint(20)["short_lists"]
    assert (every.severity, every.n) == ("warning", 40)
    part = CLEAN.with_(recs=CLEAN.recs.drop(index=range(1, 12))).lint()["short_lists"]
    assert (part.severity, part.n) == ("note", 1)


def scored(values: Any) -> Data:
    return CLEAN.with_(recs=CLEAN.recs.assign(score=np.asarray(values, dtype=float)))


FALLING = np.resize(np.linspace(5, -5, 12), 480) + np.arange(480) * 1e-6
RISING = CLEAN.recs.groupby("user").head(12).groupby("user").cumcount().to_numpy()
#: Data just within and just beyond what a check is about, the finding, and its severity; None: it is not there.
BOUNDS: list[tuple[Data, str, str | None]] = [
    (scored(np.where(np.arange(480) % 12 == 7, -1.0, FALLING)), "filler_score", None),  # a score among others
    (scored(np.where(np.arange(480) % 12 == 7, -999.0, FALLING)), "filler_score", "warning"),
    (scored(np.where(np.arange(480) % 12 == 7, -998.0, FALLING)), "filler_score", None),
    (scored(np.where(np.arange(480) % 12 == 7, -2e30, FALLING)), "filler_score", "warning"),
    (scored(np.where(np.arange(480) == 7, -999.0, FALLING)), "filler_score", None),  # once
    (scored(np.where(np.arange(480) % 12 == 7, -1.0, np.abs(FALLING))), "filler_score", "warning"),
    (CLEAN.with_(recs=scored(RISING).recs.query("user == 'u00'").head(11), truth=CLEAN.truth.query("user == 'u00'")), "upside_down", "warning"),
    (CLEAN.with_(recs=scored(RISING).recs.query("user == 'u00'").head(10), truth=CLEAN.truth.query("user == 'u00'")), "upside_down", None),
    (planted("perfect").with_(truth=planted("perfect").truth.query("user < 'u09'")), "perfect", None),
    (planted("perfect").with_(truth=planted("perfect").truth.query("user < 'u10'")), "perfect", "warning"),
    (planted("cold_relevant"), "cold_relevant", "note"),
    (planted("unused_relevance"), "unused_relevance", "note"),
    (CLEAN.with_(truth=CLEAN.truth.assign(item=CLEAN.truth["item"].where(CLEAN.truth.index % 10 > 0, "new"))), "cold_relevant", "warning"),
    (CLEAN.with_(truth=CLEAN.truth.replace({"item": {CLEAN.truth["item"][3]: "nan"}}), items=None), "missing_ids", "note"),
    (CLEAN.with_(recs=CLEAN.recs.replace({"item": {"i001": " NaN"}}), items=None), "missing_ids", "note"),
    (CLEAN.with_(recs=ranked(CLEAN.recs).assign(rank=ranked(CLEAN.recs)["rank"] + 1)), "rank_gaps", "warning"),
    (CLEAN.with_(recs=ranked(CLEAN.recs).assign(rank=ranked(CLEAN.recs)["rank"] + (CLEAN.recs["user"] > "u00"))), "rank_gaps", "note"),
]  # fmt: skip


@pytest.mark.parametrize("data, name, severity", BOUNDS)
def test_where_a_finding_begins(data: Data, name: str, severity: str | None) -> None:
    assert {one.severity for one in data.lint() if one.name == name} == ({severity} if severity else set())


@pytest.mark.parametrize("size, there", [(9, False), (10, True), (60, True), (61, False)])
def test_candidates_are_no_fewer_than_ten_and_at_most_half_of_the_items(size: int, there: bool) -> None:
    rng = np.random.default_rng(2)
    lists = [(user, item) for user in CLEAN.users["user"] for item in rng.permutation(CLEAN.items["item"])[:size]]
    recs = Frame(lists, columns=PAIR).assign(score=rng.random(len(lists)))
    lint = CLEAN.with_(recs=recs, truth=recs.groupby("user").head(1)[PAIR], train=None).lint()
    assert ("sampled_candidates" in lint.names) == there
    assert ("nothing_missed" in lint.names) != there


@pytest.mark.parametrize("row, moved, severity", [(2, 0.00048, "note"), (49, 0.0009, "warning")])
def test_equal_scores_that_move_the_fourth_digit_are_a_note(row: int, moved: float, severity: str) -> None:
    score = CLEAN.recs["score"]
    lint = CLEAN.with_(recs=CLEAN.recs.assign(score=score.where(score.index != row + 1, score[row]))).lint(12)
    assert lint.upper - lint.lower == pytest.approx(moved, abs=1e-5)
    assert lint["ties"].severity == severity


def test_a_gap_in_the_list_of_a_user_who_is_not_evaluated_is_none() -> None:
    gap = Frame({"user": ["other", "other"], "item": ["i001", "i002"], "rank": [1, 3]})
    data = CLEAN.with_(recs=pd.concat([ranked(CLEAN.recs), gap]))
    assert data.lint().names == []
    evaluated = pd.concat([ranked(CLEAN.recs.query("user != 'u00'")), gap.assign(user="u00")])
    assert "rank_gaps" in data.with_(recs=evaluated).lint().names
    for candidates in ("padded", "catalogue"):  # what is put below a list leaves no place empty
        assert "rank_gaps" not in planted("rank_gaps").saying(candidates=candidates).lint(5).names


def test_times_in_a_score_column_that_is_not_read_are_no_scores() -> None:
    times = pd.to_datetime(["2023-11-14 22:13:20", "2023-11-14 22:13:21"])
    recs = Frame({"user": [6, 6], "item": [0, 5], "rank": [1, 2], "score": times})
    for order in ("rank", "row"):
        assert "rank_against_score" not in recnb.evaluate(recs, recs[1:][PAIR], order=order).lint().names


# All ways in


def test_without_frames_beside_it_says_what_was_not_checked() -> None:
    lint = CLEAN.with_(train=None, items=None, users=None).lint()
    assert {*lint.unchecked} == {"train", "items"}
    assert sum(map(len, lint.unchecked.values())) + lint.n_checks == len(CHECKS)
    assert "items seen before" in lint.not_checked[0]
    assert "Give `train=`" in repr(lint)
    assert CLEAN.lint().unchecked == {}


@pytest.mark.parametrize("library", recnb.conventions.names())
def test_under_every_library(library: str) -> None:
    known = {one.metric for one in presets.of_library(library)}
    metric = next(one for one in ("ndcg", "precision", "recall", "average_precision", "f1") if one in known)
    ev = CLEAN.evaluate().under(library)
    lint = ev.lint(10, metric)
    assert lint.value == pytest.approx(float(ev.table([metric], k=10).iloc[0, 0]), nan_ok=True)
    assert not lint.warnings
    tied = planted("ties").evaluate().under(library).lint(10, metric)
    assert np.isnan(tied.upper) or tied.lower - 1e-12 <= tied.upper
    assert all(f"convention={library!r}" in one.code for one in tied if "evaluate(" in one.code)


def test_of_a_model() -> None:
    test = sp.csr_matrix(np.eye(12)[:, ::-1])
    lint = model_evaluation(lambda user: np.random.default_rng(0).random(12), test, k=5).lint(5)
    assert lint.n_checks == len(CHECKS) - sum(map(len, lint.unchecked.values()))


def test_other_metrics_and_mistakes() -> None:
    assert CLEAN.lint(None, "average_precision", out_of="k").label == "AP"
    assert CLEAN.lint(5, "recall").label == "Recall@5"
    for call, word in [(("ndgc", {}), "ndcg"), (("ndcg", {"gains": "linear"}), "gain")]:
        with pytest.raises(OptionError, match=word):
            CLEAN.lint(10, call[0], **call[1])
    with pytest.raises(OptionError, match="nothing was found under 'ties'"):
        CLEAN.lint()["ties"]


@pytest.mark.parametrize("name", ["seen_in_train", "ids_written_otherwise: blanks", "duplicates", "upside_down"])
def test_frames_are_left_as_they_were(name: str) -> None:
    data = planted(name)
    before = {side: frame.copy(deep=True) for side, frame in data.frames.items()}
    data.lint()
    for side, frame in data.frames.items():
        pd.testing.assert_frame_equal(frame, before[side])


@pytest.mark.parametrize("no_relevant", ["zero", "one"])
def test_a_truth_without_relevant_items_can_be_looked_at(no_relevant: str) -> None:
    recs = Frame({"user": [1, 2], "item": ["a", "b"], "rank": 1})
    ev = recnb.evaluate(recs, recs.assign(relevance=0), no_relevant=no_relevant)
    assert "no_item_meets" not in ev.lint(k=1).names


def test_what_was_judged_0_is_no_answer_that_was_in_train() -> None:
    judged = pd.concat([CLEAN.truth.assign(relevance=1), CLEAN.train.groupby("user").head(1).assign(relevance=0)])
    assert "train_in_truth" not in CLEAN.with_(truth=judged).saying(relevant="any").lint().names


def test_lists_that_stay_where_they_are_are_checked_by_their_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    train = pd.concat([CLEAN.train, CLEAN.truth.head(3)])
    data = CLEAN.with_(train=train, recs=CLEAN.recs.assign(score=CLEAN.recs["score"].round(1)))
    sized(monkeypatch, whole=30, rows=20, batch=7)
    away = data.with_(
        recs=pl.from_pandas(data.recs).lazy(), truth=pl.from_pandas(data.truth), train=pl.from_pandas(train)
    )
    lint = away.lint()
    assert "ties" in lint.elsewhere
    assert "not in memory" in lint.not_checked[-1]
    finding = lint["train_in_truth"]
    assert (finding.n, "put right" in finding.effect) == (3, False)  # another join over files is left to the caller
    assert finding.code.startswith("truth = truth.join(train, ")


def test_repeats_of_more_than_one_frame_are_told_each() -> None:
    data = CLEAN.with_(recs=repeat(CLEAN.recs, 5), truth=repeat(CLEAN.truth, 3)).saying(duplicates="dedupe")
    found = [one for one in data.lint() if one.name == "duplicates"]
    assert [(one.severity, one.n) for one in found] == [("note", 5), ("note", 3)]
