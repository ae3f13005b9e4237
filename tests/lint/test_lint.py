"""The lint: each finding planted, its numbers held against an evaluation of the frames put right, and silence on clean data."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.conventions import presets
from recnb.errors import FrameError, OptionError
from recnb.evaluate import model_evaluation
from recnb.lint import CHECKS, lint
from recnb.lint.data import LintData
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import METRICS
from tests.data.test_streaming import sized
from tests.lint_planted import CLEAN, CUT, N_ITEMS, N_USERS, PLANTED, Data, Frame, ranked, rated, sampled

# ---- silence ---------------------------------------------------------------------------------------------------


def test_nothing_is_found_in_clean_data() -> None:
    lint = CLEAN.lint()
    assert lint.names == []
    assert not lint
    assert len(lint) == 0
    assert lint.n_checks == len(CHECKS)
    assert (lint.lower, lint.upper) == (lint.value, lint.value)
    assert repr(lint).startswith("Lint: no findings in 41 checks")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("k", [5, 10, None])
def test_each_check_is_silent_on_clean_data(check: Any, k: int | None) -> None:
    ev = CLEAN.evaluate()
    data = LintData(ev._data.scoring(METRICS["recall"], {}), ev._data.side_data, k)
    # Five places are too few for seven relevant items, and that is what these two are there to say.
    expected = ["more_relevant_than_places"] if k == 5 and check.name == "more_relevant_than_places" else []
    assert [finding.name for finding in check.findings(data)] == expected


def test_clean_as_ranks_and_as_rows_and_in_polars() -> None:
    assert CLEAN.with_(recs=ranked(CLEAN.recs)).lint().names == []
    assert CLEAN.with_(recs=CLEAN.recs.assign(rank=ranked(CLEAN.recs)["rank"])).lint().names == []
    assert CLEAN.with_(recs=CLEAN.recs[["user", "item"]]).saying(order="row").lint().names == []
    polars = recnb.evaluate(pl.from_pandas(CLEAN.recs), pl.from_pandas(CLEAN.truth).lazy())
    assert polars.lint().names == []


# ---- each finding, planted -------------------------------------------------------------------------------------


def test_every_check_has_data_that_it_finds_something_in() -> None:
    assert {check.name for check in CHECKS} == set(PLANTED)


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_and_told(name: str) -> None:
    made, side_data = PLANTED[name]
    lint = made().lint(CUT.get(name, 10))
    assert name in lint.names
    assert set(lint.names) <= {name, *side_data}
    assert lint
    finding = lint[name]
    assert finding.n > 0
    for sentence in (finding.short, finding.effect, finding.advice):
        assert sentence
        assert "{" not in sentence
        assert "nan" not in sentence.replace("nan}", "")
    assert finding.example or name in ("perfect", "alike", "one_relevant_each", "nothing_missed", "float_ids")


# ---- and its numbers -------------------------------------------------------------------------------------------


def ndcg(data: Data, **options: Any) -> float:
    return float(data.evaluate(**options).ndcg(k=10))


def planted(name: str) -> Data:
    return PLANTED[name][0]()


def test_seen_items_are_taken_out_and_lists_closed_up() -> None:
    data = planted("seen_in_train")
    finding = data.lint()["seen_in_train"]
    gone = data.recs.drop(index=[0, 1, 30, 59])
    assert finding.n == 4
    assert finding.of == len(data.recs)
    assert finding.facts["reach"] == 3  # the row 59 stands at rank 12
    assert finding.facts["places"] == 10 * N_USERS
    assert finding.facts["without"] == pytest.approx(ndcg(data.with_(recs=gone)), abs=1e-12)
    assert finding.facts["value"] == ndcg(data)
    whole = data.lint(None, "precision")["seen_in_train"].facts["without"]
    assert whole == pytest.approx(float(data.with_(recs=gone).evaluate().precision()), abs=1e-12)
    assert finding.facts["rank"] == 1
    assert finding.example == f"User 'u00': {data.recs['item'][0]!r} at rank 1."


def test_leaked_pairs_are_taken_out_of_the_truth() -> None:
    data = planted("train_in_truth")
    finding = data.lint()["train_in_truth"]
    assert (finding.n, finding.of) == (N_USERS, 7 * N_USERS)
    rest = data.truth.drop(index=data.truth.groupby("user").tail(1).index)
    assert finding.facts["rest"] == pytest.approx(ndcg(data.with_(truth=rest)), abs=1e-12)
    everything = data.with_(train=data.truth).lint()["train_in_truth"]
    assert "All answers" in everything.effect


def test_repeats_are_valued_once() -> None:
    data = planted("duplicates")
    finding = data.lint()["duplicates"]
    assert (finding.n, finding.facts["extra"], finding.facts["exact"]) == (5, 5, 5)
    assert finding.facts["once"] == pytest.approx(ndcg(CLEAN), abs=1e-12)
    assert finding.severity == "warning"
    for how in ("dedupe", "hit_once", "rows"):
        again = data.with_(options=(("duplicates", how),)).lint()["duplicates"]
        assert again.facts["once"] == pytest.approx(ndcg(CLEAN), abs=1e-12)
    other_score = data.with_(recs=data.recs.assign(score=np.r_[CLEAN.recs["score"], np.full(5, -1.5)]))
    assert other_score.lint()["duplicates"].facts["exact"] == 0


def test_ratings_are_compared_with_their_threshold() -> None:
    data = planted("ratings")
    finding = data.lint()["ratings"]
    assert finding.n == int((data.truth["rating"] < 4).sum())
    assert finding.facts["other"] == pytest.approx(ndcg(data, relevant_from=4), abs=1e-12)
    assert finding.code == "recs.rec.against(truth, relevant_from=4)"
    assert "ratings" not in data.saying(relevant_from=4).lint().names
    assert rated(CLEAN, [1, 2, 3]).lint().names == []  # grades
    assert rated(CLEAN, [0, 1, 2, 3, 4, 5]).lint().names == []  # 0 is there for what is not relevant
    assert rated(CLEAN, [2, 7, 10]).lint()["ratings"].facts["liked"] == 8


def test_what_looks_like_relevance_is_tried_as_relevance() -> None:
    data = planted("unused_relevance")
    finding = data.lint()["unused_relevance"]
    assert finding.facts["value"] == pytest.approx(ndcg(data), abs=1e-12)
    assert finding.facts["other"] == pytest.approx(ndcg(data, relevance="purchases"), abs=1e-12)
    assert finding.facts["other"] != finding.facts["value"]
    assert finding.code == 'recs.rec.against(truth, relevance="purchases")'
    assert "unused_relevance" not in data.saying(relevance="purchases").lint().names
    for unused in (
        data.truth.assign(purchases=1),
        data.truth.assign(purchases="many"),
        data.truth.rename(columns={"purchases": "shelf"}),
        data.truth.assign(relevance=1),
    ):
        assert "unused_relevance" not in data.with_(truth=unused).lint().names
    for name in ("Play_Count", "quantity", "n clicks"):
        named = data.with_(truth=data.truth.rename(columns={"purchases": name})).lint().names
        assert ("unused_relevance" in named) == (name != "n clicks")


@pytest.mark.parametrize("values", [np.arange(len(CLEAN.truth)) % 3, np.arange(len(CLEAN.truth)) % 2 == 1])
def test_a_column_that_holds_0_is_a_warning_whatever_its_name(values: np.ndarray) -> None:
    data = CLEAN.with_(truth=CLEAN.truth.assign(shelf=values, week=0))
    finding = data.lint()["unused_relevance"]
    assert (finding.severity, finding.n, finding.of) == ("warning", int((values == 0).sum()), len(values))
    assert finding.facts["other"] == pytest.approx(ndcg(data, relevance="shelf"), abs=1e-12)
    assert finding.facts["other"] != pytest.approx(finding.facts["value"], abs=1e-3)
    for name in ("timestamp", "genre_id", "week"):
        named = data.with_(truth=CLEAN.truth.assign(**{name: values})).lint().names
        assert "unused_relevance" not in named
    rows = data.with_(truth=CLEAN.truth.assign(index=np.arange(len(CLEAN.truth)))).lint().names
    assert "unused_relevance" not in rows


@pytest.mark.parametrize("name", ["purchases", "bought", "is_purchased", "Units", "revenue", "n", "relevant"])
def test_amounts_that_hold_0_are_relevance_or_dropped(name: str) -> None:
    values = np.arange(len(CLEAN.truth)) % 3
    data = CLEAN.with_(truth=CLEAN.truth.assign(**{name: values}))
    with pytest.raises(
        FrameError, match=rf"truth: column '{name}' is 0 in {(values == 0).sum():,} rows.*relevance='{name}'"
    ):
        data.lint()
    assert "unused_relevance" not in data.saying(relevance=name).lint().names
    full = CLEAN.with_(truth=CLEAN.truth.assign(**{name: values + 1})).lint()["unused_relevance"]
    assert full.severity == "note"


def test_the_other_order_is_that_of_the_scores() -> None:
    data = planted("rank_against_score")
    finding = data.lint()["rank_against_score"]
    assert (finding.n, finding.facts["users"]) == (N_USERS, N_USERS)
    assert finding.facts["other"] == pytest.approx(ndcg(data, order="score"), abs=1e-12)
    rows = CLEAN.with_(recs=CLEAN.recs.iloc[::-1]).saying(order="row").lint()["rank_against_score"]
    assert rows.facts["other"] == pytest.approx(ndcg(CLEAN), abs=1e-12)


def test_the_other_way_up() -> None:
    finding = planted("upside_down").lint()["upside_down"]
    assert finding.facts["turned"] == pytest.approx(ndcg(CLEAN), abs=1e-12)


def test_means_over_some_users() -> None:
    data = planted("users_without_list")
    finding = data.lint()["users_without_list"]
    assert finding.n == 1
    assert finding.facts["others"] == pytest.approx(ndcg(data.with_(users=None), users="both"), abs=1e-12)
    cold = planted("cold_users")
    finding = cold.lint()["cold_users"]
    values = cold.evaluate().ndcg(k=10).per_user
    assert finding.n == 4
    assert finding.severity == "warning"
    assert finding.facts["theirs"] == pytest.approx(values.iloc[:4].mean())
    assert finding.facts["others"] == pytest.approx(values.iloc[4:].mean())
    nobody = CLEAN.with_(train=CLEAN.train.assign(user="x" + CLEAN.train["user"]))
    assert "No user of the truth is in train" in nobody.lint()["cold_users"].effect


def test_what_can_be_reached_is_what_a_perfect_list_reaches() -> None:
    perfect = CLEAN.truth.assign(score=np.resize(np.arange(99, 0, -1), len(CLEAN.truth)))
    for k in (2, 5):
        told = CLEAN.lint(k)["more_relevant_than_places"].facts["most"]
        assert told == pytest.approx(float(recnb.evaluate(perfect, CLEAN.truth).recall(k=k)))
    few = planted("few_relevant")
    best = few.truth.assign(score=1.0)
    assert few.lint()["few_relevant"].facts["most"] == pytest.approx(
        float(recnb.evaluate(best, few.truth).precision(k=10))
    )
    short = planted("short_lists")
    listed = short.recs[["user", "item"]]
    told = short.lint()["short_lists"].facts["most"]
    assert told == pytest.approx(float(recnb.evaluate(short.recs, listed).precision(k=10)))


def test_lists_that_all_end_early_are_a_warning() -> None:
    finding = CLEAN.lint(20)["short_lists"]
    assert finding.severity == "warning"
    assert finding.short == "No list reaches rank 20: the longest ends at 12"
    assert planted("short_lists").lint()["short_lists"].severity == "note"


def test_recall_under_new_items() -> None:
    finding = planted("cold_relevant").lint()["cold_relevant"]
    assert (finding.n, finding.facts["items"]) == (1, 1)
    assert finding.facts["most"] == pytest.approx((7 / 8 + N_USERS - 1) / N_USERS)


@pytest.mark.parametrize(("metric", "chance"), [("hit_rate", 10 / 20), ("recall", 10 / 20), ("precision", 1 / 20)])
def test_a_random_order_of_sampled_candidates(metric: str, chance: float) -> None:
    finding = sampled(CLEAN).lint(10, metric)["sampled_candidates"]
    assert finding.facts["size"] == 20
    assert finding.facts["chance"] == pytest.approx(chance)
    assert "exactly one" in finding.short


def test_candidates_added_to_the_relevant_ones() -> None:
    finding = sampled(CLEAN, extra=True).lint()["sampled_candidates"]
    assert finding.facts["size"] == 20
    assert finding.short.endswith("all the relevant items and 20 others")
    whole = Frame(
        [(user, item) for user in CLEAN.users["user"] for item in CLEAN.items["item"]], columns=["user", "item"]
    )
    full = CLEAN.with_(recs=whole.assign(score=np.random.default_rng(0).random(len(whole))), train=None)
    assert full.lint().names == []  # a ranking of everything holds everything


def test_rows_that_another_spelling_would_find() -> None:
    for name in ("ids_with_blanks", "ids_by_case"):
        finding = planted(name).lint()[name]
        assert finding.severity == "warning"
        assert finding.facts["lost"] == len(CLEAN.truth) // 2
    everything = planted("ids_with_zeros").lint()["ids_with_zeros"]
    assert everything.facts["lost"] == len(CLEAN.truth)
    kept = CLEAN.with_(**{name: getattr(CLEAN, name).assign(item=" " + getattr(CLEAN, name)["item"]) for name in ("recs", "truth", "train", "items")})  # fmt: skip
    alone = kept.lint()["ids_with_blanks"]
    assert (alone.severity, alone.n) == ("note", N_ITEMS)
    assert kept.lint().names == ["ids_with_blanks"]


def test_a_k_that_cuts_nothing() -> None:
    small = CLEAN.items.head(9)
    assert CLEAN.with_(items=small).lint(10)["k_above_catalogue"].short == "k = 10 is above the number of items, 9"
    assert CLEAN.with_(items=small).lint(9)["k_above_catalogue"].short == "k = 9 is the number of all items"
    nearly = CLEAN.with_(items=small).lint(6)["k_above_catalogue"]
    assert (nearly.severity, nearly.short) == ("note", "The first 6 places hold 67% of all 9 items")
    assert "all items of the frames" in CLEAN.with_(items=None, train=None).lint(200)["k_above_catalogue"].example


def test_values_that_were_computed_before_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = CLEAN.evaluate()._data
    values = data.values(METRICS["ndcg"], Cutoffs.one(10), {})[:, 0]
    computed = lint(data, 10, "ndcg", {})

    def refused(*_: Any) -> Any:
        raise AssertionError("the metric is computed again")

    monkeypatch.setattr(LintData, "measured", refused)
    given = lint(data, 10, "ndcg", {}, values)
    assert (given.value, given.lower, given.upper) == (computed.value, computed.lower, computed.upper)
    with pytest.raises(AssertionError):
        lint(data, 10, "ndcg", {}, np.where(values == values[0], np.nan, values))  # users who are left out


# ---- all ways in -----------------------------------------------------------------------------------------------


def test_without_frames_beside_it_says_what_was_not_checked() -> None:
    lint = CLEAN.with_(train=None, items=None, users=None).lint()
    assert set(lint.unchecked) == {"train", "items", "users"}
    assert sum(map(len, lint.unchecked.values())) + lint.n_checks == len(CHECKS)
    assert "items seen before" in lint.not_checked[0]
    assert "`train=`" in lint.not_checked[0]
    assert "Give `train=`" in repr(lint)
    assert CLEAN.lint().unchecked == {}


def test_complete_frames_and_frames_of_lists() -> None:
    complete = CLEAN.recs.merge(CLEAN.truth.assign(relevance=1), how="outer", on=["user", "item"])
    assert complete.rec.lint().names == []
    only = CLEAN.recs.merge(CLEAN.truth.assign(relevance=1), how="left", on=["user", "item"]).fillna({"relevance": 0})
    lint = only.rec.lint()
    assert "nothing_missed" in lint.names
    assert "missing rank" in lint["nothing_missed"].advice
    lists = Frame({"user": [1, 2], "recommended": [["a", "b"], ["b", "c"]], "relevant": [["b", "x"], ["c", "y"]]})
    assert lists.rec.lint(k=2).names == []
    repeated = lists.assign(recommended=[["a", "a"], ["b", "c"]]).rec.evaluation(duplicates="dedupe")
    assert "duplicates" in repeated.lint(k=1).names
    assert "df.rec.evaluation(" in only.assign(score=only["score"].round(1)).rec.lint()["ties"].code


@pytest.mark.parametrize("library", recnb.conventions.names())
def test_under_every_library(library: str) -> None:
    ev = CLEAN.evaluate().under(library)
    metric = next(
        (one for one in ("ndcg", "precision", "recall", "reciprocal_rank") if presets.of_metric(one, library)), "f1"
    )
    lint = ev.lint(10, metric)
    assert lint.value == pytest.approx(float(ev.table([metric], k=10).iloc[0, 0]), nan_ok=True)
    assert not lint.warnings
    tied = planted("ties").evaluate().under(library).lint(10, metric)
    assert np.isnan(tied.upper) or tied.lower - 1e-12 <= tied.upper


def test_of_a_model() -> None:
    import scipy.sparse as sp

    class Same:
        def predict(self, user: int) -> Any:
            return np.linspace(1, 0, 30)

    rng = np.random.default_rng(0)
    test = sp.csr_matrix((rng.random((20, 30)) < 0.4).astype(float))
    lint = model_evaluation(Same(), test, k=10).lint()
    assert lint.names[0] == "same_list"


def test_the_sample_is_explained() -> None:
    sample = recnb.datasets.load_sample()
    lint = recnb.evaluate(
        sample.models["popular"], sample.test, train=sample.train, items=sample.items, users=sample.users
    ).lint()
    assert lint.names == ["ratings", "few_relevant", "users_without_list", "users_without_truth", "cold_users", "cold_relevant"]  # fmt: skip
    assert [one.severity for one in lint] == ["warning", *["note"] * 5]


def test_what_it_is_asked_by() -> None:
    assert CLEAN.lint(None, "average_precision", out_of="k").label == "AP"
    assert CLEAN.lint(5, "recall").label == "Recall@5"
    with pytest.raises(OptionError, match="ndcg"):
        CLEAN.lint(10, "ndgc")
    with pytest.raises(OptionError, match="gain"):
        CLEAN.lint(10, "ndcg", gains="linear")
    with pytest.raises(OptionError, match="nothing was found under 'ties'"):
        CLEAN.lint()["ties"]


def test_frames_are_left_as_they_were() -> None:
    data = planted("seen_in_train")
    before = [one.copy(deep=True) for one in (data.recs, data.truth, data.train, data.items) if one is not None]
    data.lint()
    for one, was in zip((data.recs, data.truth, data.train, data.items), before, strict=True):
        pd.testing.assert_frame_equal(one, was)


def test_what_is_to_be_typed_keeps_the_options_and_columns_in_force() -> None:
    names = {"user": "who", "item": "what", "score": "how_much"}
    recs, truth = planted("ties").recs.rename(columns=names), CLEAN.truth.assign(how_good=3.0).rename(columns=names)
    options = {**names, "relevance": "how_good", "relevant_from": 2, "users": "both"}
    finding = recs.rec.against(truth, **options).lint(10)["ties"]
    assert finding.code == (
        "recs.rec.against(truth, user='who', item='what', score='how_much', relevance='how_good', relevant_from=2, "
        'users="both", ties="expected")'
    )
    again = eval(finding.code, {"recs": recs, "truth": truth})
    assert again.convention == recs.rec.against(truth, **options, ties="expected").convention


@pytest.mark.parametrize("no_relevant", ["zero", "one"])
def test_a_truth_without_relevant_items_can_be_looked_at(no_relevant: str) -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": ["a", "b"], "rank": 1})
    ev = recnb.evaluate(recs, recs.assign(relevance=0), no_relevant=no_relevant)
    assert "no_item_meets" not in ev.lint(k=1).names


@pytest.mark.parametrize("order", ["rank", "row"])
def test_times_in_a_score_column_that_is_not_read_are_no_scores(order: str) -> None:
    times = pd.to_datetime(["2023-11-14 22:13:20", "2023-11-14 22:13:21"])
    recs = pd.DataFrame({"user": [6, 6], "item": [0, 5], "rank": [1, 2], "score": times})
    lint = recnb.evaluate(recs, pd.DataFrame({"user": [6], "item": [5]}), order=order).lint()
    assert "rank_against_score" not in lint.names


@pytest.mark.parametrize("options", [{"duplicates": "hit_once"}, {"duplicates": "keep"}, {"judged": "list"}], ids=str)
@pytest.mark.parametrize("name", ["rank_against_score", "rank_gaps"])
def test_lists_are_checked_under_any_join(name: str, options: dict[str, Any]) -> None:
    assert name in PLANTED[name][0]().saying(**options).lint(5).names


@pytest.mark.parametrize("candidates", ["padded", "catalogue"])
def test_items_below_a_list_leave_no_place_empty(candidates: str) -> None:
    lint = planted("rank_gaps").saying(candidates=candidates).lint(5)
    assert "rank_gaps" not in lint.names


def test_hits_joined_to_the_lists_are_no_sampled_candidates() -> None:
    """The truth is what was found: a third of the users have no relevant item, and no relevant item is missing."""
    frame = CLEAN.recs.merge(CLEAN.truth.assign(hit=1), how="left").fillna({"hit": 0})
    none = frame["user"].isin(sorted(frame["user"].unique())[::3])
    found = recnb.evaluate(frame.assign(hit=frame["hit"].where(~none, 0)), relevance="hit").lint(10)
    assert "sampled_candidates" not in found.names
    assert found["nothing_missed"].severity == "warning"
    few = recnb.evaluate(frame, relevance="hit").lint(10)
    assert few["nothing_missed"].severity == "note"


def test_a_gap_in_the_list_of_a_user_who_is_not_evaluated_is_none() -> None:
    gap = Frame({"user": ["other", "other"], "item": ["i001", "i002"], "rank": [1, 3]})
    data = CLEAN.with_(recs=pd.concat([ranked(CLEAN.recs), gap]))
    assert data.lint().names == ["users_without_truth"]
    ranks = gap.assign(user="u00")
    assert "rank_gaps" in data.with_(recs=pd.concat([ranked(CLEAN.recs.query("user != 'u00'")), ranks])).lint().names


@pytest.mark.parametrize("candidates", ["list", "catalogue"])
def test_lists_of_users_who_are_not_evaluated_hold_no_place(candidates: str) -> None:
    nothing = Frame({"user": ["u00"], "item": ["i001"], "relevance": [0]})
    truth = pd.concat([CLEAN.truth.assign(user="x" + CLEAN.truth["user"], relevance=1), nothing])
    data = CLEAN.with_(truth=truth, items=CLEAN.items.head(3)).saying(candidates=candidates, ties="first")
    finding = data.lint()["recommended_outside_items"]
    assert (finding.facts["reach"], finding.facts["places"]) == (0, 0)
    assert finding.facts["without"] == finding.facts["value"]


def test_lists_that_stay_where_they_are_have_the_effects_that_need_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    train = pd.concat([CLEAN.train, CLEAN.truth.head(3)])
    data = CLEAN.with_(train=train, recs=CLEAN.recs.assign(score=CLEAN.recs["score"].round(1)))
    whole = data.lint()
    sized(monkeypatch, whole=30, rows=20, batch=7)
    away = data.with_(recs=pl.from_pandas(data.recs).lazy())
    lint = away.lint()
    assert "ties" in lint.elsewhere
    assert lint["train_in_truth"].facts["rest"] == pytest.approx(whole["train_in_truth"].facts["rest"])
    # Under conventions of other libraries it would need another join.
    assert np.isnan(away.saying(no_relevant="zero").lint()["train_in_truth"].facts["rest"])
    assert "Equal scores" in repr(
        recnb.compare({"one": data.evaluate(), "two": data.evaluate()}).conclusion("ndcg", k=10)
    )
    assert "Equal scores" not in repr(
        recnb.compare({"one": away.evaluate(), "two": away.evaluate()}).table("ndcg", k=10)
    )


#: Findings whose code changes the rows of a frame.
CHANGES_ROWS = (
    "duplicates", "filler_score", "float_ids", "ids_by_accent", "ids_by_case", "ids_of_nothing", "ids_with_blanks",
    "ids_with_point", "ids_with_zeros", "rank_gaps", "seen_in_train", "train_in_truth", "upside_down",
)  # fmt: skip


def typed(code: str, frames: dict[str, Any]) -> Any:
    """The frame that a line of code makes, whether it assigns it or not."""
    names = {"pd": pd, "pl": pl, **frames}
    frame = re.split(r"[ .[]", code)[0]
    if " = " in code:
        exec(code, names)
        return names[frame]
    return eval(code, names)


@pytest.mark.parametrize("name", CHANGES_ROWS)
@pytest.mark.parametrize("convert", [Frame.copy, pl.from_pandas], ids=["pandas", "polars"])
def test_the_code_of_a_finding_is_its_remedy(name: str, convert: Callable[[Frame], Any]) -> None:
    data, k = PLANTED[name][0](), CUT.get(name, 10)
    sides = ("recs", "truth", "train", "items", "users")
    frames = {side: convert(getattr(data, side)) for side in sides if getattr(data, side) is not None}
    assert name in data.with_(**frames).lint(k).names
    for _column in ("of users", "of items"):
        lint = data.with_(**frames).lint(k)
        code = lint[name].code if name in lint.names else ""
        if code.startswith("frame"):
            column = "user" if "'user'" in code else "item"
            frames |= {
                side: typed(code, {**frames, "frame": frame})
                for side, frame in frames.items()
                if column in frame.columns
            }
        elif code:
            side = re.split(r"[ .[]", code)[0]
            frames[side] = typed(code, frames)
    assert name not in data.with_(**frames).lint(k).names
