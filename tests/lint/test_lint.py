"""The lint: each finding planted, its number held against an evaluation of frames put
right by hand, silence on clean data, and how it shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import recnb
from recnb.display.language import _, use_language
from recnb.evaluation import Evaluation
from recnb.lint import CHECKS, Lint
from recnb.lint.data import LintData, quoted_id
from recnb.lint.repair import Repair
from recnb.metrics.measure import Measure
from recnb.metrics.metric import METRICS
from recnb.model_predictions import model_lists
from tests.lint_planted import (
    ALONE,
    CLEAN,
    METRIC,
    PLANTED,
    Data,
    Frame,
    ranked,
    rated,
    repeat,
    sampled,
)
from tests.random_frames import sized
from tests.rows import hold_refused, read_rows

PAIR = ["user", "item"]


def planted(name: str) -> Data:
    return PLANTED[name][0]


# Silence

POLARS = CLEAN.with_(
    recs=pl.from_pandas(CLEAN.recs),
    truth=pl.from_pandas(CLEAN.truth).lazy(),
    train=None,
    items=None,
    users=None,
)
LISTS = Frame(
    {
        "user": [1, 2],
        "recommended": [["a", "b"], ["b", "c"]],
        "relevant": [["b", "x"], ["c", "y"]],
    }
)
#: Data in which nothing is odd, in many forms.
NOTHING: dict[str, Callable[[], Any]] = {
    "clean": CLEAN.lint,
    "whole lists": lambda: CLEAN.lint(None, "recall"),
    "lists in cells": lambda: LISTS.rec.lint(k=2),
    "Polars": POLARS.lint,
    "ranks": CLEAN.with_(recs=ranked(CLEAN.recs)).lint,
    "ranks and scores": CLEAN.with_(
        recs=CLEAN.recs.assign(rank=ranked(CLEAN.recs)["rank"])
    ).lint,
    "rows": CLEAN.with_(recs=CLEAN.recs[PAIR]).saying(order="row").lint,
    "both sides": lambda: CLEAN.recs.merge(
        CLEAN.truth.assign(relevance=1), how="outer", on=PAIR
    ).rec.lint(),
    "grades": rated(CLEAN, [1, 2, 3]).lint,
    "a scale with 0, all judged": lambda: CLEAN.with_(
        truth=pd.concat(
            [CLEAN.truth.assign(relevance=1), CLEAN.recs[PAIR].assign(relevance=0)]
        ).drop_duplicates(PAIR)
    ).lint(),
}

#: Those that are made without propensities; tests/laws/test_weights.py has the others.
USUAL = [check for check in CHECKS if not check.weighted]


def n_unchecked(lint: Lint) -> int:
    """Count the checks that were not made, each of which is named with the reason."""
    lines = " ".join(lint.not_checked_lines)
    for check in CHECKS:
        reason = lint.not_checked.get(check.name)
        assert reason is None or (_(check.title) in lines and reason in lines)
    return len(lint.not_checked)


@pytest.mark.parametrize("data", NOTHING)
def test_nothing_is_found_in_clean_data(data: str) -> None:
    lint = NOTHING[data]()
    assert (lint.names, bool(lint)) == ([], False)
    assert (lint.lower, lint.upper) == (lint.value, lint.value)
    assert n_unchecked(lint) + lint.n_checks == len(USUAL)
    assert repr(lint).startswith(f"Lint: no findings in {lint.n_checks} checks")
    assert lint.to_frame().shape == (0, 9)


@pytest.mark.parametrize("model", ["item-knn", "popular"])
def test_the_sample_shows_one_warning_and_two_notes_at_most(model: str) -> None:
    data = recnb.datasets.load_sample()
    lint = recnb.evaluate(
        data.models[model],
        data.test,
        train=data.train,
        items=data.items,
        users=data.users,
    ).lint()
    assert (len(lint.warnings), len(lint.notes)) == (1, 2)


# Each finding, planted


def test_every_check_has_data_that_it_finds_something_in() -> None:
    assert {check.name for check in USUAL} == {name.split(":")[0] for name in PLANTED}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_once_and_told(name: str) -> None:
    data, beside = PLANTED[name]
    lint, check = data.lint(*METRIC.get(name, (10, "ndcg"))), name.split(":")[0]
    assert {*lint.names} == {check, *beside}
    assert [one.severity for one in lint] == ["warning"] * len(lint.warnings) + [
        "note"
    ] * len(lint.notes)
    assert lint.names.count(check) == 1 or name == "outside_items"
    finding = lint[check]
    assert 0 < finding.n <= finding.of
    for sentence in (finding.short, finding.effect, finding.advice):
        assert sentence
        assert "{" not in sentence
    assert finding.example or check in ("perfect", "nothing_missed")


# Its number, which is also that of the advice (test_advice.py)


def test_users_who_leave_are_told_and_what_cannot_be_evaluated_has_no_number_and_no_code() -> (
    None
):
    effect = planted("users_without_list").lint()["users_without_list"].effect
    assert "; with averaged_users='both', nDCG@10 is" in effect
    assert effect.endswith(", users: 39 instead of 40.")
    everything = CLEAN.with_(train=CLEAN.truth).lint()["train_in_truth"]
    assert "memory, not prediction" in everything.effect
    assert "other" not in everything.facts
    assert (everything.code, everything.advice) == (
        "",
        "Split again, so that no pair is on both sides.",
    )
    err = planted("ties").lint(10, "err")["ties"]  # which has no mean over orders
    assert ("other" in err.facts, err.code) == (False, "")


PERFECT = CLEAN.with_(
    recs=CLEAN.truth.assign(score=np.resize(np.arange(99, 0, -1), len(CLEAN.truth)))
)


@pytest.mark.parametrize(
    "options, k, metric, own, there",
    [
        ({}, 5, "recall", {}, True),
        ({}, 2, "recall", {}, True),
        ({}, 10, "precision", {}, True),
        ({}, 10, "precision", {"out_of": "list"}, False),
        ({"no_relevant": "one", "averaged_users": "union"}, 3, "recall", {}, True),
        ({}, 10, "reciprocal_rank", {}, False),
        ({}, 7, "precision", {}, False),
        ({}, 10, "cg", {}, False),
        ({}, None, "recall", {}, False),
    ],
)
def test_ceilings_are_what_perfect_lists_reach_under_the_convention_in_force(
    options: dict[str, Any],
    k: int | None,
    metric: str,
    own: dict[str, Any],
    there: bool,
) -> None:
    nobody = pd.concat(
        [
            CLEAN.truth.assign(relevance=1),
            Frame({"user": ["z"], "item": ["i001"], "relevance": [0]}),
        ]
    )
    data, best = (
        one.with_(truth=nobody, users=None).saying(**options)
        for one in (CLEAN, PERFECT)
    )
    lint, most = (
        data.lint(k, metric, **own),
        float(getattr(best.evaluate(), metric)(k=k, **own)),
    )
    assert ("ceiling" in lint.names) == there
    if there:
        assert lint["ceiling"].facts["most"] == pytest.approx(most, abs=1e-12)
        assert f"cannot pass {most:.4f}" in lint["ceiling"].short


# Where a finding begins


def scored(values: Any) -> Data:
    return CLEAN.with_(recs=CLEAN.recs.assign(score=np.asarray(values, dtype=float)))


def one_user(rows: int) -> Data:
    return CLEAN.with_(
        recs=scored(RISING).recs.head(rows), truth=CLEAN.truth.query("user == 'u00'")
    )


def tied(row: int) -> Data:
    return scored(
        CLEAN.recs["score"].where(CLEAN.recs.index != row + 1, CLEAN.recs["score"][row])
    )


AT = np.arange(480)
FALLING, SEVENTH = np.resize(np.linspace(5, -5, 12), 480) + AT * 1e-6, AT % 12 == 7
RISING = AT % 12
RANKS = ranked(CLEAN.recs)
TIMES = pd.to_datetime(["2023-11-14 22:13:20", "2023-11-14 22:13:21"])
OF_TIMES = Data(
    Frame({"user": [6, 6], "item": [0, 5], "rank": [1, 2], "score": TIMES}),
    Frame({"user": [6], "item": [5]}),
)
JUDGED = ["user", "item", "relevance"]
UNUSED = planted("unused_relevance").truth
#: Data just within and just beyond what a check is about, the finding, and its
#: severity; None: it is not there.
#: Findings, data just within and just beyond what they are about, and their severity.
BOUNDS = [
    (data, name, severity)
    for name, found in read_rows("lint/bounds.toml").items()
    for data, severity in found.items()
]


@pytest.mark.parametrize("data, name, severity", BOUNDS)
def test_where_a_finding_begins(data: str, name: str, severity: str) -> None:
    lint = eval(data).lint(12 if name == "ties" else 10)
    found = {one.severity for one in lint if one.name == name}
    assert found == {severity} - {"not found"}


SECOND = pd.to_datetime(["2024-05-01 10:00", "2024-05-02 09:00"])
#: Columns of train and of the truth, each value in turn, and how many of three rows in
#: four of train are later.
TIMED: dict[str, tuple[dict[str, Any], dict[str, Any], float]] = {
    "seconds": ({"timestamp": [5, 6, 7, 8]}, {"timestamp": [6, 9]}, 2),
    "other names": ({"Timestamp": [5.0, 6.5, 7, 8]}, {"eventTime": [6]}, 3),
    "times": ({"created_at": SECOND}, {"created_at": SECOND[:1]}, 2),
    "a date beside times": ({"date": SECOND[:1].date}, {"date": SECOND[:1]}, 0),
    "text": ({"date": ["2024-05-01T10", "2024-04-30T09"]}, {"date": ["2024-04-30"]}, 2),
    "text of a day": ({"date": ["2024-05-01 10:00"]}, {"date": ["2024-05-01"]}, 0),
    "no time": ({"date": ["b", "c"]}, {"date": ["a"]}, 0),
    "of one frame": ({"timestamp": [9]}, {"weight": [1]}, 0),
    "dashes": ({"rated-at": [5, 6, 7, 8]}, {"order-date": [6]}, 2),
    "two columns": (
        {"timestamp": [1], "order_date": ["2024-05-02"]},
        {"order_date": ["2024-05-01"]},
        4,
    ),
    "which of two": ({"clicked_at": [9], "bought_at": [9]}, {"time": [1]}, 0),
    "missing": ({"time": [1, None, 9, None]}, {"time": [5, None]}, 1),
    "of two kinds": ({"time": [1, "b"]}, {"time": [5]}, 0),
}


@pytest.mark.thin
@pytest.mark.parametrize("library", ["pandas", "polars", "csv"])
@pytest.mark.parametrize("name", TIMED)
def test_rows_of_train_that_are_later_than_the_truth(
    name: str, library: str, tmp_path: Path
) -> None:
    sides, n = list(TIMED[name][:2]), TIMED[name][2]
    train, truth = (
        frame.assign(
            **{
                column: np.resize(np.array(values, dtype=object), len(frame))
                for column, values in side.items()
            }
        )
        for frame, side in zip((CLEAN.train, CLEAN.truth), sides, strict=True)
    )
    train, truth = (
        frame if name == "of two kinds" else frame.infer_objects()
        for frame in (train, truth)
    )
    frames: list[Any] = [CLEAN.recs, truth, train]
    if library == "csv":
        files = [tmp_path / f"{at}.csv" for at in range(3)]
        frames = [
            frame.to_csv(file, index=False) or file
            for frame, file in zip(frames, files, strict=True)
        ]
    elif library == "polars" and name != "of two kinds":
        frames = [pl.from_pandas(frame) for frame in frames]
    lint = recnb.evaluate(*frames[:2], train=frames[2]).lint()
    found = [(one.n, one.of) for one in lint if one.name == "train_after_truth"]
    assert found == ([(n * 300, 1200)] if n else [])


def test_ids_that_would_become_empty_are_left() -> None:
    recs = CLEAN.recs.assign(
        item=CLEAN.recs["item"].replace(CLEAN.recs["item"][0], "0")
    )
    truth = CLEAN.truth.assign(
        item=CLEAN.truth["item"].replace(CLEAN.recs["item"][0], "000")
    )
    points = planted("ids_written_otherwise: point")
    more = pd.concat(
        [points.truth, Frame({"user": ["u00", "u01"], "item": ["v1.0", ".0"]})]
    )
    for data, left in [
        (ALONE.with_(recs=recs, truth=truth), {"0"}),
        (points.with_(truth=more), {"v1.0", ".0"}),
    ]:
        names = {**data.frames, "recnb": recnb}
        exec(data.lint()["ids_written_otherwise"].code, names)
        assert left <= {*names["truth"]["item"]}


def test_hits_joined_to_the_lists_are_no_sampled_candidates() -> None:
    frame = CLEAN.recs.merge(CLEAN.truth.assign(hit=1), how="left").fillna({"hit": 0})
    none = frame["user"].isin(sorted(frame["user"].unique())[::3])
    for hit, severity in (
        (frame["hit"], "note"),
        (frame["hit"].where(~none, 0), "warning"),
    ):
        lint = recnb.evaluate(frame.assign(hit=hit), relevance="hit").lint(10)
        assert "sampled_candidates" not in lint.names
        assert lint["nothing_missed"].severity == severity


@pytest.mark.parametrize("extra", [False, True])
def test_in_one_frame_as_many_irrelevant_items_in_each_list_look_sampled(
    extra: bool,
) -> None:
    recs, truth = of_candidates(extra=extra)
    lint = recnb.evaluate(recs.merge(truth)).lint(10)
    words = "has 99 irrelevant items beside all the relevant ones"
    assert words in lint["sampled_candidates"].short


def of_candidates(*, extra: bool = False) -> tuple[Frame, Frame]:
    """Lists of 100 candidates each out of 1,500 items, or of 99 and one to three
    relevant ones; and all of them as a truth, where those not relevant are 0.
    """
    rng, recs, truth = np.random.default_rng(7), [], []
    for user in range(60):
        n_relevant = user % 3 + 1 if extra else 1
        items = rng.permutation(1500)[: 99 + n_relevant]
        scores = rng.random(len(items))
        recs += zip([user] * len(items), items, scores, strict=True)
        truth += [(user, item, int(n < n_relevant)) for n, item in enumerate(items)]
    return (
        Frame(recs, columns=[*PAIR, "score"]),
        Frame(truth, columns=[*PAIR, "relevance"]),
    )


def without(frame: Frame, rows: Frame) -> Frame:
    """Leave out the pairs of some rows."""
    merged = frame.merge(rows[PAIR], how="left", on=PAIR, indicator="which")
    return merged.query("which == 'left_only'").drop(columns="which")


@pytest.mark.parametrize("extra", [False, True])
def test_sampled_candidates_are_found_with_rows_missing_and_in_the_truth(
    extra: bool,
) -> None:
    recs, truth = of_candidates(extra=extra)
    relevant = truth[truth["relevance"] > 0]
    top = recs.sort_values("score", ascending=False).groupby("user").head(10)
    all_of = "has 99 irrelevant items beside all the" if extra else "has 100 items, all"
    in_lists = "items, nearly all the relevant ones among them"
    in_truth = "`truth` has up to "
    for lists, judged, words in (
        (recs, relevant, all_of),
        (recs, truth, all_of),
        (recs.sample(frac=0.98, random_state=1), relevant, in_lists),
        (without(recs, relevant.sample(3, random_state=1)), relevant, in_lists),
        (recs.sample(frac=0.9, random_state=1), relevant, None),
        (top, truth, in_truth),
        (top, truth.sample(frac=0.98, random_state=1), in_truth),
        (top.sample(frac=0.9, random_state=1), truth, in_truth),
        (top, truth.sample(frac=0.9, random_state=1), None),
        (top, relevant, None),
        (top.assign(item=top["item"] + 1500), truth, None),
    ):
        lint = recnb.evaluate(lists, judged).lint(10)
        found = [line.short for line in lint if line.name == "sampled_candidates"]
        if words is None:
            assert found == []
        else:
            assert words in found[0]


def test_a_truth_that_judges_every_item_holds_no_sampled_candidates() -> None:
    users, items = range(20), range(30)
    recs = [(user, item, -item) for user in users for item in items[:5]]
    truth = [(user, item, int(item in (1, 7))) for user in users for item in items]
    lint = recnb.evaluate(
        pd.DataFrame(recs, columns=["user", "item", "score"]),
        pd.DataFrame(truth, columns=["user", "item", "relevance"]),
    ).lint(5)
    assert "sampled_candidates" not in lint.names


def test_a_run_of_retrieval_that_finds_nearly_all_is_no_sample() -> None:
    recs, truth = of_candidates()
    relevant = truth[truth["relevance"] > 0].reset_index()
    missed = relevant["item"].where(relevant.index % 25 > 0, relevant["item"] + 1500)
    lint = recnb.evaluate(recs, relevant.assign(item=missed)).lint(10)
    assert "sampled_candidates" not in lint.names


TIMES = {
    "numbers": np.arange(280.0),
    "dates": pd.date_range("2024-01-01", periods=280),
    "days as text": pd.date_range("2024-01-01", periods=280).strftime("%Y-%m-%d"),
    "text": ["today"] * 280,
    "truth values": [True] * 280,
}


@pytest.mark.parametrize(
    ("train", "truth", "reason"), read_rows("lint/times.toml")["rows"]
)
def test_times_that_cannot_be_compared_are_not_checked_and_the_reason_is_told(
    train: dict[str, str], truth: dict[str, str], reason: str
) -> None:
    dated = CLEAN.with_(
        train=CLEAN.train.head(280).assign(**{k: TIMES[v] for k, v in train.items()}),
        truth=CLEAN.truth.assign(**{k: TIMES[v] for k, v in truth.items()}),
    )
    lint = dated.lint()
    if not reason:
        assert lint.not_checked == {}
        assert "train_after_truth" in lint.names
    else:
        assert reason in lint.not_checked["train_after_truth"]
        assert "train_after_truth" not in lint.names
    assert n_unchecked(lint) + lint.n_checks == len(USUAL)


def test_a_split_by_user_that_leaks_across_users_is_a_note() -> None:
    """The last day of each user is in the truth; some users were there for longer."""
    last = CLEAN.truth["user"].str[1:].astype(int) + 10
    before = CLEAN.train["user"].str[1:].astype(int) + 9
    lint = CLEAN.with_(
        truth=CLEAN.truth.assign(time=last), train=CLEAN.train.assign(time=before)
    ).lint()
    assert [finding.severity for finding in lint] == ["note"]
    finding = lint["train_after_truth"]
    assert finding.n == (before > 10).sum()
    assert "first row of the truth, which is of another user" in finding.short
    at_once = CLEAN.with_(
        truth=CLEAN.truth.assign(time=5), train=CLEAN.train.assign(time=5)
    )
    assert at_once.lint().names == []


@pytest.mark.parametrize(
    ("lint", "reasons"),
    [
        (
            lambda: CLEAN.lint(None),
            {
                "short_lists": "Give `k=` to check.",
                "ceiling": "Give `k=` to check.",
            },
        ),
        (
            lambda: CLEAN.lint(10, "dcg"),
            {
                "perfect": "DCG@10 has no highest value.",
                "ceiling": "DCG@10 has no highest value.",
            },
        ),
        (
            lambda: CLEAN.with_(recs=ranked(CLEAN.recs)).lint(),
            dict.fromkeys(
                ("ties", "rank_against_score", "upside_down", "filler_score"),
                "The lists have no scores.",
            ),
        ),
        (
            lambda: CLEAN.with_(
                recs=CLEAN.recs.head(12), truth=CLEAN.truth.head(7)
            ).lint(),
            dict.fromkeys(
                ("perfect", "sampled_candidates"), "It takes 10 users with a list."
            ),
        ),
        (
            lambda: CLEAN.with_(recs=CLEAN.recs.groupby("user").head(1)).lint(),
            {"upside_down": "It takes 10 rows below another one."},
        ),
    ],
)
def test_a_check_that_could_not_be_made_is_named_with_the_reason(
    lint: Callable[[], Lint], reasons: dict[str, str]
) -> None:
    made = lint()
    assert reasons.items() <= made.not_checked.items()
    assert {*made.not_checked} - {*reasons} == {"train_after_truth"}
    for name, reason in reasons.items():
        title = next(_(check.title) for check in CHECKS if check.name == name)
        assert any(
            title in line and line.endswith(reason) for line in made.not_checked_lines
        )
    assert n_unchecked(made) + made.n_checks == len(USUAL)
    for line in made.not_checked_lines:
        assert line[:60] in repr(made)


def test_reasons_of_frames_that_were_not_given_come_first() -> None:
    without_scores = CLEAN.with_(recs=RANKS, train=None).lint()
    of_frame, of_scores = without_scores.not_checked_lines
    assert of_frame.endswith("Give `train=` to check.")
    assert of_scores.endswith("The lists have no scores.")


def test_a_split_that_is_advised_holds_the_split_that_there_is() -> None:
    def with_slots(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(day=0, slot=np.arange(len(rows)) // 5 % 2)

    recs, truth = with_slots(CLEAN.recs), with_slots(CLEAN.truth)
    lint = CLEAN.with_(recs=recs, truth=truth).saying(split="day").lint()
    assert "split=['day', 'slot']" in lint["lists_taken_as_one"].code


def test_facts_of_single_checks() -> None:
    assert rated(CLEAN, [2, 7, 10]).lint()["ratings"].facts["liked"] == 8
    assert sampled(extra=True).lint()["sampled_candidates"].facts["size"] == 20
    assert (
        CLEAN.with_(truth=CLEAN.truth.assign(purchases=np.arange(280) % 3))
        .lint()["unused_relevance"]
        .n
        == 94
    )
    blanks = {
        "truth": CLEAN.truth.replace({"user": {"u00": "u00 "}}),
        "train": CLEAN.train.assign(user=CLEAN.train["user"] + " "),
    }
    users = pd.concat([*blanks.values()])["user"]
    assert CLEAN.with_(**blanks).lint()["ids_written_otherwise"].of == users.nunique()
    dated = {
        name: getattr(CLEAN, name).assign(date=pd.Timestamp(f"2024-01-0{day}"))
        for name, day in (("truth", 2), ("train", 3))
    }
    assert (
        CLEAN.with_(**dated)
        .lint()["train_after_truth"]
        .example.endswith("date 2024-01-03 00:00:00.")
    )
    repeated = CLEAN.with_(
        recs=repeat(CLEAN.recs, 5), truth=repeat(CLEAN.truth, 3)
    ).saying(duplicates="dedupe")
    assert [
        (one.severity, one.n) for one in repeated.lint() if one.name == "duplicates"
    ] == [("note", 5), ("note", 3)]
    assert planted("rank_gaps").lint()["rank_gaps"].n == 2
    repeated = planted("duplicates: ranks").lint()["duplicates"]
    assert repeated.example.endswith(", in 2 rows.")
    assert [quoted_id(value) for value in (1, "1", 0.5, "a`b")] == [
        "1",
        "'1'",
        "0.5",
        "'a'b'",
    ]


# All ways in


def test_of_a_model_of_other_metrics_and_of_nothing_relevant() -> None:
    test = sp.csr_matrix(np.eye(12)[:, ::-1])
    lint = Evaluation(
        model_lists(lambda user: np.random.default_rng(0).random(12), test, k=5)
    ).lint(5)
    assert lint.n_checks == len(USUAL) - n_unchecked(lint)
    assert CLEAN.lint(None, "average_precision", out_of="k").label == "AP"
    assert CLEAN.lint(None, "nDCG@10").label == "nDCG@10"
    recs = Frame({"user": [1, 2], "item": ["a", "b"], "rank": 1})
    for rule in ("zero", "one"):
        nothing = recnb.evaluate(recs, recs.assign(relevance=0), no_relevant=rule)
        assert "no_item_meets" not in nothing.lint(k=1).names


REFUSED = read_rows("lint/refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_asked_wrongly_is_refused(call: str) -> None:
    hold_refused(call, REFUSED[call], globals())


def test_lists_that_stay_where_they_are_are_checked_by_their_hits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train = pd.concat([CLEAN.train, CLEAN.truth.head(3)])
    sized(monkeypatch)
    recs = pl.from_pandas(CLEAN.recs.assign(score=CLEAN.recs["score"].round(1))).lazy()
    lint = CLEAN.with_(
        recs=recs, truth=pl.from_pandas(CLEAN.truth), train=pl.from_pandas(train)
    ).lint()
    assert lint.not_checked["ties"] == "The rows of the lists are not in memory."
    assert np.isnan([lint.lower, lint.upper]).all()
    finding = lint["train_in_truth"]
    assert (finding.n, "other" in finding.facts) == (
        3,
        False,
    )  # another join over files is left to the caller
    assert finding.code.startswith("truth = truth.join(train, ")


def test_html_frame_and_language() -> None:
    """Its text is written down in tests/widgets/shown; what is the user's is text in
    every form: tests/display/test_escaping.py.
    """
    data = recnb.datasets.load_sample()
    ev = recnb.evaluate(data.models["popular"], data.test)
    lint = ev.lint()
    page, frame = lint._repr_html_(), lint.to_frame()
    assert lint.not_checked["seen_in_train"] == "Give `train=` to check."
    assert lint.not_checked["outside_items"] == "Give `items=` to check."
    assert {*CLEAN.lint().not_checked} == {"train_after_truth"}
    assert re.search(
        r"<b><span[^>]*>warning</span>", page
    )  # severity is a word, not a colour
    assert not re.search(r"(?<!-)color: (?!inherit)|<script|://", page)
    assert [*frame] == [
        "finding",
        "severity",
        "n",
        "of",
        "short",
        "effect",
        "example",
        "advice",
        "code",
    ]
    assert (frame["finding"].tolist(), frame["n"].tolist()) == (lint.names, [462, 2])
    with use_language("ko"):
        korean = ev.lint()
    assert all(
        "경고" in shown
        for shown in (repr(korean), korean._repr_html_(), korean.warnings[0].word)
    )


def test_rows_are_matched_after_rows_were_left_out() -> None:
    recs = pd.DataFrame(
        {"user": ["a", "a", "a"], "item": ["x", "y", "z"], "score": [3, 2, 1]}
    )
    seen = pd.DataFrame({"user": ["a"], "item": ["y"]})
    truth = pd.DataFrame({"user": ["a"], "item": ["z"]})
    ev = recnb.evaluate(recs, truth, train=seen)
    repair = Repair(LintData(ev, Measure(METRICS["ndcg"], k=3)))
    repair.drop_rows("recs", "item", ["x"])
    repair.match_rows("recs", "train", ["user", "item"], "anti")
    assert repair.left_out["item"].to_list() == ["y"]
    assert repair.changed("recs")["item"].to_list() == ["z"]
    names: dict[str, Any] = {
        "recs": recs,
        "truth": truth,
        "train": seen,
        "recnb": recnb,
    }
    exec(repair.code, names)
    assert names["recs"]["item"].to_list() == ["z"]
    measured = repair.measured()
    assert measured is not None
    assert measured.value == names["ev"].ndcg(k=3) == 1.0


def test_a_filler_of_short_lists_is_a_missing_item() -> None:
    lists, truth = {1: [3, 5, -1], 2: [4, 7, -1], 3: [3, -1]}, {1: [3], 2: [7], 3: [9]}
    assert recnb.evaluate(lists, truth).lint(k=2)["missing_ids"].n == 3
    with_others_below_0 = recnb.evaluate({**lists, 3: [-2, -1]}, truth).lint(k=2)
    assert "missing_ids" not in {finding.name for finding in with_others_below_0}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_of_columns_are_printed_and_never_run(library: str) -> None:
    user, item = "{user}", "'] + 1 / 0 #"
    recs = pd.DataFrame({user: ["a"] * 3, item: ["x ", "y", "n/a"], "score": [3, 2, 1]})
    truth = pd.DataFrame({user: ["a"], item: ["x"]})
    frames: dict[str, Any] = {"recs": recs, "truth": truth}
    if library == "polars":
        frames = {name: pl.from_pandas(frame) for name, frame in frames.items()}
    ev = recnb.evaluate(frames["recs"], frames["truth"], user=user, item=item)
    for name in ("ids_written_otherwise", "missing_ids"):
        finding = ev.lint(k=2)[name]
        assert repr(item) in finding.code
        names = {**frames, "recnb": recnb, "pl": pl}
        exec(finding.code, names)
        assert names["ev"].ndcg(k=2) == finding.facts["other"]


@pytest.mark.parametrize("candidates", ["list", "padded", "catalogue"])
def test_users_without_a_list_are_named_where_they_count_0(candidates: str) -> None:
    """Below no list, `padded` and `catalogue` put what may be a hit."""
    recs = pd.DataFrame({"user": [1], "item": ["a"], "rank": [1]})
    truth = pd.DataFrame({"user": [1, 2], "item": ["a", "b"]})
    options = {"ties": "first", "candidates": candidates}
    words = str(recnb.evaluate(recs, truth, **options).lint())
    assert ("Users without a list: 1 of 2" in words) == (candidates == "list")
