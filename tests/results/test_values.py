"""The line below a number: it says what was computed, metric by metric, with every option and its users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb import METRICS
from recnb.conventions import options_in_words
from recnb.metrics.metric import LIST_METRICS
from tests.strategies import each_word, values_of

SAMPLE = recnb.datasets.load_sample()
RECS, TRUTH = SAMPLE.models["item-knn"], SAMPLE.test
EV = RECS.rec.against(TRUTH, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)
CHOICES = [(name, options) for name, metric in METRICS.items() for options in each_word(metric)]


def line_of(result: Any) -> str:
    """Return the line below a result of any kind."""
    if isinstance(result, str):
        return result
    return str(result.attrs["basis"] if isinstance(result, pd.DataFrame) else result.basis)


def said_of(name: str, line: str) -> list[str]:
    """The phrases of a line that hold for a metric: those without names, and those behind its own."""
    phrases = []
    for part in line.split("; "):
        names, _colon, own = part.partition(": ")
        if {each.partition("@")[0] for each in names.split(", ")} <= {*METRICS, *LIST_METRICS}:
            phrases += own.split(", ") if name in names.split(", ") else []
        else:
            phrases.append(part)
    return phrases


def options_said(name: str, line: str) -> dict[str, Any]:
    """The options of a metric as its line has them."""
    said, found = ", ".join(said_of(name, line)), {}
    for option, values in values_of(METRICS[name]).items():
        if option == "max_relevance" and "highest relevance 5, that of the truth" in said:
            found[option] = 5.0
        for value in values:
            if (option, value) == ("log_base", 2) or value is None:
                continue
            words = options_in_words({option: value} | ({"discount": "log"} if option == "log_base" else {}))[0]
            if (words if (option, value) != ("discount", "log") else "(1 + rank)") in said:
                found[option] = value
    return found


@pytest.mark.parametrize(("name", "options"), CHOICES, ids=str)
def test_a_number_follows_from_the_options_in_its_line(name: str, options: dict[str, Any]) -> None:
    """The line of a table with every other metric beside it is read back, and gives the number again."""
    table = EV.table({other: {} for other in METRICS} | {name: options}, k=7)
    said = options_said(name, table.attrs["basis"])
    assert {option for option in METRICS[name].defaults if option != "log_base"} <= said.keys()
    assert {**options, **said} == {**said, **options}
    assert getattr(EV, name)(7, **said) == pytest.approx(table.loc[name, 7], rel=1e-12)
    assert options_said(name, f"{name}: " + getattr(EV, name)(7, **options).basis.replace("; ", ", ")) == said


GAINS: dict[str, dict[str, Any]] = {"dcg": {"gain": "exponential"}, "ndcg": {"gain": "linear"}}


MADE: dict[str, Callable[[], Any]] = {
    "table": lambda: EV.table(GAINS, k=5), "segments": lambda: EV.table(GAINS, k=5, by="segment"), "report": lambda: EV.report(k=[5], metrics=GAINS),
    "comparison": lambda: recnb.compare(SAMPLE.models, TRUTH).table(GAINS, k=5),
}  # fmt: skip


@pytest.mark.parametrize("made", MADE)
def test_options_of_one_metric_are_not_said_of_another(made: str) -> None:
    line = line_of(MADE[made]()).replace("nDCG", "ndcg").replace("DCG", "dcg")
    said = {name: {"gain 2^relevance - 1", "linear gain"} & {*said_of(name, line)} for name in ("dcg", "ndcg")}
    assert said == {"dcg": {"gain 2^relevance - 1"}, "ndcg": {"linear gain"}}


@pytest.mark.parametrize("name", LIST_METRICS)
def test_metrics_beyond_accuracy_say_their_options(name: str) -> None:
    for result in (getattr(EV, name)(k=5), EV.table([name, "ndcg"], k=5)):
        for option, value in LIST_METRICS[name].defaults.items():
            told = bool(value) and (option, value) != ("cutoff", "k")
            assert (f"{option}={value}" in line_of(result)) == told, option


# What stands in the lines of other results

TIED = pd.DataFrame({"user": 1, "item": ["a", "b"], "score": 1.0})
GRADES: dict[str, Any] = {"u": {"a": 1, "b": 2}, "v": {"a": 2}}
RUN: dict[str, Any] = {"u": {"a": 2.0, "b": 1.0}, "v": {"a": 1.0}}
NO_LISTS: tuple[Any, Any] = ({"a": ["x", "y"], "b": ["z"]}, {"a": ["x"], "b": ["q"], "c": ["x"], "d": ["y"]})
MEASURES = EV.measures(["nDCG@5", "nDCG(dcg='exp-log2')@5", "RBP(p=0.5)@5", "RBP@5", "ERR@20"])
TIES = recnb.evaluate(TIED, {1: ["b"]})
RANX, EVIDENTLY = EV.under("ranx"), EV.under("evidently")
#: Words, and the results in whose lines they are.
LINES: dict[str, Any] = {
    **dict.fromkeys(("nDCG@5: linear gain", "nDCG(dcg='exp-log2')@5: gain 2^relevance - 1", "RBP(p=0.5)@5: p = 0.5", "RBP@5: p = 0.8"), (MEASURES,)),
    "highest relevance 5, that of the truth": [one for ev in (EV, RANX) for one in (MEASURES, ev.err(k=20), ev.table("err", k=20), ev.at_least("err", 0.1, k=20))],
    "max_relevance = 8": [EV.err(k=20, max_relevance=8)],
    "equal scores by item, descending": [recnb.evaluate(TIED, {1: ["b"]}, ties="item_desc").ndcg(k=3)],
    "equal scores in the order given": [TIES.ndcg(k=3), TIES.table(k=3), TIES.report(k=[3]), TIES.basis()],
    **dict.fromkeys(("ndcg: 261 users", "AP(rel=4): 235 users"), (EV.table(["ndcg", "AP(rel=4)"]),)),
    f"by the conventions of evidently; {EVIDENTLY.ndcg(k=10).n_users} users": [EVIDENTLY.table(["ndcg"], k=10)],
    "by the conventions of pytrec_eval-terrier; ": [recnb.evaluate(RUN, GRADES, relevant_from=2).under("trec").table("ndcg", k=10)],
}  # fmt: skip


@pytest.mark.parametrize("words", LINES)
def test_lines_say_what_their_numbers_rest_on(words: str) -> None:
    assert not [line_of(result) for result in LINES[words] if words not in line_of(result)]
    if words.startswith("equal scores"):
        assert "equal scores" not in EV.ndcg(k=3).basis  # ranks have no ties
        assert TIES.ndcg(k=3) == pytest.approx(0.6309, abs=1e-4)  # the order given decides


def test_users_are_those_of_the_metric() -> None:
    for name, k, n_users in (("AP(rel=4)", None, 235), ("novelty", 5, 298)):
        gate = EV.at_least(name, 0.1, k=k)
        assert gate.to_dict()["checks"][0]["n_users"] == EV.measure(name, k=k).n_users == n_users
        assert gate.basis == EV.measure(name, k=k).basis


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_lists_and_truth_whose_items_never_meet_are_told(frame: Any) -> None:
    recs = frame({"user": ["u", "v"], "item": ["ABC-1", "ABC-2"], "rank": [1, 1]})
    truth = frame({"user": ["u", "v"], "item": ["abc-1", "abc-2"]})
    ev, found = recnb.evaluate(recs, truth), recnb.compare({"a": recs, "b": recs}, truth)
    note = "no recommended item is in the truth: lists hold items such as 'ABC-1', the truth such as 'abc-1'"
    for result in (ev.ndcg(k=1), ev.table(k=1), ev.report(k=[1]), ev.basis(), found.basis()):
        assert note in line_of(result)
    missed = frame({"user": ["u", "v"], "item": ["abc-2", "abc-1"], "rank": [1, 1]})
    assert "no recommended item" not in recnb.evaluate(missed, truth).ndcg(k=1).basis


# Under the conventions of a library


@pytest.mark.parametrize("library", ["recommenders", "rectools", "replay"])
def test_users_without_a_list_are_users_of_a_librarys_ndcg(library: str) -> None:
    ev = recnb.evaluate(*NO_LISTS).under(library)
    assert (ev.ndcg(k=2).n_users, ev.ndcg(k=2).per_user["c"]) == (4, 0)
    for result in (ev.ndcg(k=2), ev.table("ndcg", k=[1, 2]), ev.at_least("ndcg", 0.1, k=2), ev.lint(k=2)):
        line = line_of(result).replace(", 2 of", "; 2 of")
        assert "4 users; 2 of them without a list" in line
        assert "with no relevant item" not in line


GIVEN: list[tuple[dict[str, Any], str]] = [
    ({"relevant_from": 2}, "relevance of 2 or more"),
    ({"no_relevant": "one"}, "users with no relevant item count 1"),
    ({"relevant_from": 2, "averaged_users": "union", "judged_only": True}, "relevance of 2 or more, users in either frame, items that are not judged left out of the lists"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "words"), GIVEN)
def test_what_is_given_on_top_of_a_library_is_said(given: dict[str, Any], words: str) -> None:
    ev = recnb.evaluate(RUN, GRADES, convention="trec", **given)
    found = recnb.compare({"one": RUN, "other": RUN}, GRADES, convention="trec", **given)
    reports = [one.report(k=[10]).to_markdown().replace("\\_", "_") for one in (ev, found)]
    scores = ev.ndcg(k=10), ev.at_least("ndcg", 0.1, k=10)
    for result in (ev.table(["ndcg", "map"], k=10), ev.measures(["nDCG@10", "AP"]), *scores, found.basis(), *reports):
        assert f"by the conventions of pytrec_eval-terrier, with {words}" in line_of(result)


#: Queries of labels; of the first no gain can be had, and some libraries count it all the same.
GROUPS: dict[str, Any] = {"y_true": [0, 0, 1, 0, 1, 0], "y_score": [0.4, 0.3, 0.2, 0.1, 0.3, 0.9], "group": [2, 2, 2]}


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_what_counts_for_a_query_of_zeros_is_said_and_explained(library: str) -> None:
    ev = recnb.evaluate_groups(**GROUPS, convention=library)
    value, explained = ev.ndcg(k=2).per_user[0], ev.explain("ndcg", 0, k=2)
    assert explained.value == value
    assert f"by convention {value:g}" in repr(explained) or value == 0
    texts = {}
    for rule in ("one", "zero", "skip"):
        under = recnb.evaluate_groups(**GROUPS, convention=library, no_relevant=rule)
        score = under.ndcg(k=2)
        texts[rule], shown = score.basis, under.table("ndcg", k=2, intervals=True).to_numpy()
        assert shown[0, 1:] == pytest.approx(tuple(score.interval()))
        assert score.n_users == (2 if rule == "skip" else 3)
    assert len(set(texts.values())) == 3
    assert f"by the conventions of {library}" in texts["skip"]
    assert "2 users, those in either frame; 1 with no relevant item left out" in texts["skip"]


@pytest.mark.parametrize("library", ["lightgbm", "sklearn"])
def test_a_query_of_zeros_that_is_left_out_is_not_explained(library: str) -> None:
    ev = recnb.evaluate_groups(**GROUPS, convention=library, no_relevant="skip")
    for metric in ("ndcg", "map"):
        with pytest.raises(recnb.errors.UnknownUserError, match="user 0 is not evaluated"):
            ev.explain(metric, 0, k=2)
    assert ev.explain("ndcg", 1, k=2).value == ev.ndcg(k=2).per_user[1]
