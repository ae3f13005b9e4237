"""The lint: each finding planted, its number held against an evaluation of frames put
right by hand, silence on clean data, and how it shows.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.display.language import _, use_language
from recnb.lint import CHECKS, Lint, repair
from tests import lint_planted
from tests.lint_planted import (
    CLEAN,
    METRIC,
    PAIR,
    PLANTED,
    Data,
    Frame,
    ranked,
    sampled,
)
from tests.random_frames import sized
from tests.rows import hold_refusals, read_rows
from tests.shown import Recorded


def planted(name: str) -> Data:
    return PLANTED[name][0]


RANKS = ranked(CLEAN.recs)
#: Lints in which nothing is found.
NOTHING = read_rows("lint/nothing.toml")
#: Those that are made without propensities; tests/laws/test_weights.py has the others.
USUAL = [check for check in CHECKS if not check.weighted]


def hold_every_check_is_made_or_named(lint: Lint) -> None:
    """Hold that each check is made, or named with the reason why it is not."""
    lines = " ".join(lint.not_checked_lines)
    for check in CHECKS:
        reason = lint.not_checked.get(check.name)
        assert reason is None or (_(check.title) in lines and reason in lines)
    assert len(lint.not_checked) + lint.n_checks == len(USUAL)
    for line in lint.not_checked_lines:
        assert line[:60] in repr(lint)


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_is_found_in_clean_data(name: str) -> None:
    lint = eval(NOTHING[name], vars(lint_planted) | globals())
    assert (lint.names, bool(lint)) == ([], False)
    hold_every_check_is_made_or_named(lint)
    assert repr(lint).startswith(f"Lint: no findings in {lint.n_checks} checks")
    assert lint.to_frame().shape == (0, 9)


# Each finding, planted


def test_every_check_has_data_that_it_finds_something_in() -> None:
    assert {check.name for check in USUAL} == {name.split(":")[0] for name in PLANTED}


@cache
def lint_of(name: str) -> Lint:
    return planted(name).lint(*METRIC.get(name, (10, "ndcg")))


RECORDED = Recorded(__file__, {"planted.txt": repr}, {"lint_of": lint_of})


def test_what_is_said_of_what_is_planted_is_what_is_written_down() -> None:
    RECORDED.hold("planted.txt")


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_once_and_told(name: str) -> None:
    _data, beside = PLANTED[name]
    lint, check = lint_of(name), name.split(":")[0]
    assert {*lint.names} == {check, *beside}
    assert list(lint)[: len(lint.warnings)] == [*lint.warnings]
    assert lint.names.count(check) == 1 or name == "outside_items"
    finding = lint[check]
    assert 0 < finding.n <= finding.of


# Its numbers; those of the advice are in test_advice.py


def with_slots(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(day=0, slot=np.arange(len(rows)) // 5 % 2)


BLANKS = CLEAN.with_(
    truth=CLEAN.truth.replace({"user": {"u00": "u00 "}}),
    train=CLEAN.train.assign(user=CLEAN.train["user"] + " "),
)
EVERYTHING = CLEAN.with_(train=CLEAN.truth)
FACTS = read_rows("lint/facts.toml")


@pytest.mark.parametrize("fact", FACTS)
def test_facts_of_single_findings(fact: str) -> None:
    assert eval(fact, vars(lint_planted) | globals()) == FACTS[fact]


PERFECT = CLEAN.with_(
    recs=CLEAN.truth.assign(score=np.resize(np.arange(99, 0, -1), len(CLEAN.truth)))
)


@pytest.mark.parametrize(
    ("options", "k", "metric", "own", "there"), read_rows("lint/ceilings.toml")["rows"]
)
def test_ceilings_are_what_perfect_lists_reach_under_the_convention_in_force(
    options: str, k: int, metric: str, own: str, there: bool
) -> None:
    nothing = Frame({"user": ["z"], "item": ["i001"], "relevance": [0]})
    truth = pd.concat([CLEAN.truth.assign(relevance=1), nothing])
    data, best = (
        one.with_(truth=truth, users=None).saying(**eval(options))
        for one in (CLEAN, PERFECT)
    )
    lint = data.lint(k, metric, **eval(own))
    assert ("ceiling" in lint.names) == there
    if there:
        most = float(getattr(best.evaluate(), metric)(k=k, **eval(own)))
        assert lint["ceiling"].facts["most"] == pytest.approx(most, abs=1e-12)
        assert f"cannot pass {most:.4f}" in lint["ceiling"].short


# Where a finding begins


def rising(rows: int) -> Data:
    """Some rows of one list, the lowest score first."""
    recs = CLEAN.recs.assign(score=AT % 12).head(rows)
    return CLEAN.with_(recs=recs, truth=CLEAN.truth.query("user == 'u00'"))


def tied(row: int) -> Data:
    score = CLEAN.recs["score"]
    below = score.where(CLEAN.recs.index != row + 1, score[row])
    return CLEAN.with_(recs=CLEAN.recs.assign(score=below))


AT = np.arange(480)
SECONDS = pd.to_datetime(["2023-11-14 22:13:20", "2023-11-14 22:13:21"])
OF_TIMES = Data(
    Frame({"user": [6, 6], "item": [0, 5], "rank": [1, 2], "score": SECONDS}),
    Frame({"user": [6], "item": [5]}),
)
JUDGED = ["user", "item", "relevance"]
UNUSED = planted("unused_relevance").truth
#: Lists with a column of hits; and the same where some users have none.
JOINED = CLEAN.recs.merge(CLEAN.truth.assign(hit=1), how="left").fillna({"hit": 0})
SOME_WITHOUT = JOINED.assign(hit=JOINED["hit"].where(JOINED["user"] > "u09", 0))
#: Users 0 to 19 with lists of five items, of thirty that are all judged.
FIVE = {user: [*range(5)] for user in range(20)}
ALL_JUDGED = {user: dict.fromkeys(range(30), 0) | {1: 1, 7: 1} for user in range(20)}
#: Times as whole seconds.
AT_TIME = Frame({"user": ["u"], "item": ["a"], "timestamp": [874965757]})
#: Data just within and just beyond what a finding is about, and its severity.
BOUNDS = [
    (data, name, severity)
    for name, found in read_rows("lint/bounds.toml").items()
    for data, severity in found.items()
]


@pytest.mark.parametrize("data, name, severity", BOUNDS)
def test_where_a_finding_begins(data: str, name: str, severity: str) -> None:
    names = vars(lint_planted) | globals()
    lint = eval(data, names).lint(12 if name == "ties" else 10)
    found = {one.severity for one in lint if one.name == name}
    assert found == {severity} - {"not found"}


def with_times(frame: Frame, columns: dict[str, list[Any]]) -> Frame:
    """Give each value of a column in turn, as its own type unless there are several."""
    for name, values in columns.items():
        frame = frame.assign(**{name: np.resize(np.array(values, object), len(frame))})
    is_mixed = any("b" in values for values in columns.values())
    return frame if is_mixed else frame.infer_objects()


@pytest.mark.parametrize(
    ("train", "truth", "n", "reason"), read_rows("lint/times.toml")["rows"]
)
def test_rows_of_train_that_are_later_than_the_truth(
    train: dict[str, Any], truth: dict[str, Any], n: int, reason: str
) -> None:
    lint = CLEAN.with_(
        train=with_times(CLEAN.train, train), truth=with_times(CLEAN.truth, truth)
    ).lint()
    found = [(one.n, one.of) for one in lint if one.name == "train_after_truth"]
    assert found == [(n * 300, 1200)] * (n > 0)
    assert reason in lint.not_checked.get("train_after_truth", "")
    assert bool(reason) == ("train_after_truth" in lint.not_checked)
    hold_every_check_is_made_or_named(lint)


def test_a_split_by_user_that_leaks_across_users_is_a_note() -> None:
    """The last day of each user is in the truth; some users were there for longer."""
    last = CLEAN.truth["user"].str[1:].astype(int) + 10
    before = CLEAN.train["user"].str[1:].astype(int) + 9
    (finding,) = CLEAN.with_(
        truth=CLEAN.truth.assign(time=last), train=CLEAN.train.assign(time=before)
    ).lint()
    assert (finding.severity, finding.n) == ("note", (before > 10).sum())
    assert "after another user's first row of the truth" in finding.short


@cache
def of_candidates(*, extra: bool) -> tuple[Frame, Frame]:
    """Lists of 100 candidates each out of 1,500 items, or of 99 and one to three
    relevant ones; and all of them as a truth, where those not relevant are 0.
    """
    data = sampled(99 if extra else 100, extra=extra, n_items=1500)
    relevant = data.truth.assign(relevance=1)
    truth = data.recs[PAIR].merge(relevant, how="left", on=PAIR)
    return data.recs, truth.fillna({"relevance": 0})


def without(frame: Frame, rows: Frame) -> Frame:
    """Leave out the pairs of some rows."""
    merged = frame.merge(rows[PAIR], how="left", on=PAIR, indicator="which")
    return merged.query("which == 'left_only'").drop(columns="which")


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize(
    ("lists", "judged", "words"), read_rows("lint/sampled.toml")["rows"]
)
def test_sampled_candidates_are_found_with_rows_missing_and_in_the_truth(
    lists: str, judged: str, words: str, extra: bool
) -> None:
    recs, truth = of_candidates(extra=extra)
    names = {
        "recs": recs,
        "truth": truth,
        "relevant": truth[truth["relevance"] > 0].reset_index(),
        "top": recs.sort_values("score", ascending=False).groupby("user").head(10),
        "without": without,
        "np": np,
    }
    lint = recnb.evaluate(eval(lists, names), eval(judged, names)).lint(10)
    found = [line.short for line in lint if line.name == "sampled_candidates"]
    assert len(found) == bool(words)
    assert all(words in short for short in found)


# What is not checked

NOT_CHECKED = read_rows("lint/not_checked.toml")


@pytest.mark.parametrize("call", NOT_CHECKED)
def test_a_check_that_could_not_be_made_is_named_with_the_reason(call: str) -> None:
    lint = eval(call)
    of_times = {
        "train_after_truth": "No column of `train` and of `truth` is known to say when: "
        "call it `timestamp` in both."
    }
    assert lint.not_checked == of_times | NOT_CHECKED[call]
    hold_every_check_is_made_or_named(lint)


# All ways in


test_what_is_asked_wrongly_is_refused = hold_refusals(
    read_rows("lint/refused.toml"), globals()
)


def test_lists_that_stay_where_they_are_are_checked_by_their_hits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train = pd.concat([CLEAN.train, CLEAN.truth.head(3)])
    sized(monkeypatch)
    lint = Data(
        pl.from_pandas(CLEAN.recs.assign(score=CLEAN.recs["score"].round(1))).lazy(),
        pl.from_pandas(CLEAN.truth),
        pl.from_pandas(train),
    ).lint()
    assert lint.not_checked["ties"] == "The rows of the lists are not in memory."
    finding = lint["train_in_truth"]
    assert finding.n == 3
    assert "other" not in finding.facts  # another join over files is the caller's
    assert finding.code.startswith("truth = truth.join(train, ")


def test_of_many_rows_an_effect_that_takes_long_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repair, "MOST_ROWS", 2)
    data = planted("train_in_truth")
    assert "other" in data.lint()["train_in_truth"].facts
    of_library = data.evaluate().under("ranx")
    for takes_long in (of_library, data.saying(ties="expected")):
        assert "other" not in takes_long.lint()["train_in_truth"].facts


def test_html_frame_and_language() -> None:
    """Its text is written down in tests/widgets/shown; what is the user's is text in
    every form: tests/display/test_escaping.py.
    """
    lint = planted("ties").lint()
    frame = lint.to_frame()
    # Severity is a word, not a colour.
    assert re.search(r"<b><span[^>]*>warning</span>", lint._repr_html_())
    words = "finding severity n of short effect example advice code"
    assert [*frame] == words.split()
    assert frame["finding"].tolist() == lint.names
    assert frame["code"].tolist() == [one.code for one in lint]
    with use_language("ko"):
        assert planted("ties").lint().warnings[0].word == "경고"


if __name__ == "__main__":
    RECORDED.write()
