"""Segments: who is in which, what each gives, and how far it stands from the rest."""

from __future__ import annotations

import datetime
import json
import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

import recnb
from recnb.errors import OptionError
from recnb.stats import holm
from tests.sample import SAMPLE

KNN = SAMPLE.models["item-knn"]
USERS = SAMPLE.users.assign(half=np.arange(len(SAMPLE.users)) % 2)
BY_USER = USERS.set_index("user")
TRUTH = SAMPLE.test.merge(SAMPLE.users[["user", "segment"]])
EV = KNN.rec.against(SAMPLE.test, users=USERS, train=SAMPLE.train)
WEEKS = SAMPLE.test.assign(week=np.arange(len(SAMPLE.test)) % 3)
LISTS = KNN.assign(
    arm=np.where(np.arange(len(KNN)) % 3, "b", "a"),
    country=np.where(KNN["user"] < "u150", "K", "J"),
)
COUNTRIES = LISTS[["user", "country"]].drop_duplicates()
COUNTRY = COUNTRIES.set_index("user")["country"]
COUNTS = SAMPLE.train.groupby("user").size().rename("n")
CUT = pd.cut(COUNTS, [0, 9, 20, 50])
NAMED = pd.cut(COUNTS, [0, 9, 20, 50], labels=["few", "some", "many"])
ODD = pd.Series(
    [("not known", None, "a")[at % 3] for at in range(EV.n_users)],
    EV.users,
    name="kind",
)
MIXED = pd.Series(
    [("x", 7, np.nan)[at % 3] for at in range(EV.n_users)], EV.users, name="kind"
)
HALF = pd.Series(np.arange(EV.n_users) % 2, EV.users, name="mean")
HALVES = pl.Series([1.0 if one else math.nan for one in USERS["half"]])
MONTHS = pd.PeriodIndex(np.where(USERS["half"], "2024-01", "2024-02"), freq="M")

#: An evaluation, what is given as by=, and the segment of each user, in the order in
#: which segments are shown.
WAYS: dict[str, tuple[recnb.Evaluation, Any, pd.Series[Any]]] = {
    "a column": (EV, "segment", BY_USER["segment"]),
    "a column whose name is a number": (
        KNN.rec.against(SAMPLE.test, users=USERS.rename(columns={"segment": 7})),
        7,
        BY_USER["segment"],
    ),
    "such a column of the truth": (
        KNN.rec.against(TRUTH.rename(columns={"segment": 7})),
        7,
        BY_USER["segment"],
    ),
    "a series": (EV, BY_USER["segment"], BY_USER["segment"]),
    "a mapping": (EV, BY_USER["segment"].to_dict(), BY_USER["segment"]),
    "of Polars": (
        pl.from_pandas(KNN).rec.against(pl.from_pandas(TRUTH)),
        "segment",
        BY_USER["segment"],
    ),
    "a library": (EV.under("rectools"), "segment", BY_USER["segment"]),
    "two columns": (
        EV,
        ["segment", "half"],
        BY_USER["segment"] + "|" + BY_USER["half"].astype(str),
    ),
    "of the recommendations": (
        LISTS.rec.against(SAMPLE.test, users=COUNTRIES),
        "country",
        COUNTRY,
    ),
    "a few numbers": (EV, BY_USER["joined"] % 3, BY_USER["joined"] % 3),
    "intervals": (EV, CUT, CUT),
    "ordered words": (EV, NAMED, NAMED),
    "some users alone": (
        EV,
        BY_USER["segment"].iloc[:100],
        BY_USER["segment"].iloc[:100],
    ),
    "a value called not known": (EV, ODD, ODD.fillna("(not known)")),
    "values of several kinds": (EV, MIXED, MIXED.map({"x": "x", 7: "7"})),
    "a column with a name of the table": (EV, HALF, HALF),
    "not a number": (
        KNN.rec.against(
            SAMPLE.test, users=pl.from_pandas(USERS[["user"]]).with_columns(half=HALVES)
        ),
        "half",
        BY_USER["half"].replace(0, "not known").replace(1, "1.0"),
    ),
    "periods": (
        KNN.rec.against(SAMPLE.test, users=USERS.assign(m=MONTHS)),
        "m",
        pd.Series(MONTHS.astype(str), USERS["user"]),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_segment_is_the_mean_of_its_users(way: str) -> None:
    ev, by, segment = WAYS[way]
    table = ev.table(["ndcg", "recall"], k=[5, 10], by=by)
    assert isinstance(table, recnb.Table)
    for metric, k in (("ndcg", 5), ("recall", 10)):
        rows = table.loc[(metric, k)]
        values = getattr(ev, metric)(k=k).per_user
        known = segment.astype(object).reindex(values.index)
        groups = values.groupby(known.where(known.notna(), "not known").astype(str))
        rows.index = [
            "|".join(map(str, key)) if isinstance(key, tuple) else str(key)
            for key in rows.index
        ]
        assert rows["n_users"].to_dict() == groups.size().to_dict()
        assert rows["mean"].to_dict() == pytest.approx(
            groups.mean().to_dict(), abs=1e-12
        )
        if isinstance(segment.dtype, pd.CategoricalDtype):
            assert rows.index.tolist() == [
                *map(str, segment.cat.categories),
                "not known",
            ]
        else:
            assert rows.index.tolist()[:-1] == sorted(
                rows.index[:-1]
            )  # the last may be those of whom nothing is known


def test_the_gap_is_to_all_other_users_by_the_more_careful_test() -> None:
    table = EV.table(["ndcg", "recall"], k=[5, 10], by="segment")
    values = EV.recall(k=10).per_user
    for name, mine in values.groupby(BY_USER["segment"].reindex(values.index)):
        row, rest = table.loc[("recall", 10, name)], values.drop(mine.index)
        theirs = max(
            (ttest_ind(mine, rest, equal_var=equal) for equal in (False, True)),
            key=lambda one: one.pvalue,
        )
        ends = theirs.confidence_interval(0.95)
        found = row[["gap", "gap_low", "gap_high", "p"]].tolist()
        assert found == pytest.approx(
            [mine.mean() - rest.mean(), ends.low, ends.high, theirs.pvalue], abs=1e-12
        )
        assert mine.min() <= row["low"] < row["mean"] < row["high"] <= mine.max()
    for _column, rows in table.groupby(["metric", "k"]):
        assert rows["p_holm"].to_numpy() == pytest.approx(holm(rows["p"].to_numpy()))
    two = EV.table(
        ["ndcg", "recall"], k=10, by="half"
    )  # of two segments each is the rest of the other: one test
    assert two["p_holm"].to_numpy() == pytest.approx(two["p"].to_numpy(), abs=1e-12)


def test_small_segments_are_marked_and_the_smallest_not_tested() -> None:
    by = pd.Series(
        ["few"] * 10 + ["two"] * 2 + ["rest"] * (EV.n_users - 12), index=EV.users
    )
    table = EV.table("ndcg", k=10, by=by)
    assert "small" in repr(table)
    rows = table.loc[("ndcg", 10)]
    assert rows["small"].to_dict() == {"few": True, "rest": False, "two": True}
    assert rows["p"].isna().to_dict() == {"few": False, "rest": False, "two": True}
    alone = EV.table("ndcg", k=10, by=pd.Series("all", index=EV.users))
    assert alone["gap"].isna().all()
    assert alone.loc[("ndcg", 10, "all"), "mean"] == pytest.approx(float(EV.ndcg(k=10)))


# What is worked out: history in train, and bins


def test_activity_is_the_number_of_rows_in_train_and_bins_are_quantiles() -> None:
    bins = EV.table("ndcg", k=10, by="activity").loc[("ndcg", 10)]["n_users"]
    ends = [tuple(map(int, name.split(" to "))) for name in bins.index]
    counts = COUNTS.reindex(EV.users, fill_value=0)
    assert [counts.between(*pair).sum() for pair in ends] == bins.tolist()


N = len(USERS)
BINNED = {
    "years": 2020 + np.linspace(0, 0.01, N),
    "seconds": 1_700_000_000 + np.arange(N),
    "eighths": 1e15 + np.arange(N) / 8,
    "near": np.resize(np.repeat([0.12345678 + 1e-7 * i for i in range(12)], 25), N),
    "counts": np.arange(N),
}


@pytest.mark.parametrize("kind", BINNED)
def test_bins_have_as_many_digits_as_tell_them_apart(kind: str) -> None:
    users = USERS.assign(by=BINNED[kind])
    found = recnb.compare(SAMPLE.models, SAMPLE.test, users=users)
    table = found.table("ndcg", k=10, by="by")
    bins = list(dict.fromkeys(table.index.get_level_values("by")))
    assert [len(set(name.split(" to "))) for name in bins] == [2] * 4
    assert (len(table), len(found.differences("ndcg", k=10, by="by"))) == (4 * 3, 4 * 2)
    report = found.report(k=5, metrics=["ndcg"], by="by")
    told = json.loads(report.to_json())["segments"]
    assert [
        told["names"][part] for part in dict.fromkeys(told["means"]["part"])
    ] == bins


@pytest.mark.parametrize(
    "value", [datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1), Decimal("0.15")]
)
def test_dates_and_decimals_are_text_in_json(value: object) -> None:
    report = EV.report(
        k=5, metrics=["ndcg"], by=pd.Series(value, EV.users, dtype=object)
    )
    names = json.loads(report.to_json())["segments"]["names"]
    assert str(value) in names
    assert {names[row.part] for row in report._data.segments.means} == {str(value)}


# Parts of the truth

PARTS: list[dict[str, Any]] = [
    {},
    {"judged_only": True},
    {"relevant_from": 4, "no_relevant": "zero"},
    {"duplicates": "keep"},
    {"duplicates": "dedupe"},
    {"convention": "ranx"},
    {"ties": "expected"},
]


@pytest.mark.parametrize("options", PARTS, ids=str)
def test_each_value_of_the_truth_is_a_truth_of_its_own(options: dict[str, Any]) -> None:
    frame = pl.DataFrame if "judged_only" in options else pd.DataFrame
    lists = (
        LISTS.assign(score=-LISTS["rank"] // 2).drop(columns="rank")
        if "ties" in options
        else LISTS
    )
    given = {"train": SAMPLE.train, **options}
    again = (
        WEEKS[::5].assign(week=1, rating=2) if "duplicates" in options else WEEKS[:0]
    )  # pairs of two weeks
    weeks = pd.concat([WEEKS, again], ignore_index=True)
    table = recnb.evaluate(frame(lists), frame(weeks), **given).table(
        ["ndcg", "novelty"], k=[5, 10], by=["week"]
    )
    assert list(table.columns) == ["n_users", "mean", "low", "high", "small"]
    assert len(table) == 2 * 2 * 3
    for metric, k, week in table.index:
        alone = getattr(
            lists.rec.against(weeks[weeks["week"] == week], **given), metric
        )(k=k)
        row = table.loc[(metric, k, week), ["n_users", "mean", "low", "high"]].tolist()
        assert row == pytest.approx(
            [alone.n_users, float(alone), *alone.interval()], abs=1e-12
        )
    assert "each week is a truth of its own" in table.attrs["basis"]
    assert not re.search(
        r"nDCG: [\d,]+ users", table.attrs["basis"]
    )  # each row has its own


def _shown_by(moments: list[str]) -> list[str]:
    """Return what tables by times show, of segments and of a split."""
    days = pd.DatetimeIndex([pd.Timestamp(moment) for moment in moments])
    truth = SAMPLE.test.assign(seen=days[SAMPLE.test["user"].factorize()[0] % 2])
    lists = pd.concat([KNN.assign(seen=day) for day in days])
    split = recnb.evaluate(lists, truth, split="seen")
    models = recnb.compare({"a": lists, "b": lists[::-1]}, truth, split="seen")
    of_users = recnb.evaluate(KNN, truth)
    return [
        repr(of_users.table("ndcg", k=3, by="seen")),
        repr(split.table("ndcg", k=3, by="seen")),
        repr(models.table("ndcg", k=3, by="seen")),
        repr(models.differences("ndcg", k=3, by="seen")),
    ]


def test_times_that_are_all_at_midnight_are_shown_as_dates() -> None:
    for text in _shown_by(["2024-05-01", "2024-05-02"]):
        assert "2024-05-02" in text
        assert "00:00:00" not in text
    for text in _shown_by(["2024-05-01", "2024-05-02 06:30"]):
        assert "2024-05-01 00:00:00" in text
        assert "2024-05-02 06:30:00" in text


@pytest.mark.parametrize("by", ["genres", "listed", "minutes", "band"])
def test_each_value_of_a_column_of_items_is_a_truth_of_its_own(by: str) -> None:
    """Text and lists may hold several, many numbers are binned, and categories keep
    their order.
    """
    items = SAMPLE.items.iloc[1:].assign(
        band=pd.cut(SAMPLE.items["minutes"], [0, 9, 60], labels=["short", "long"])
    )
    items["listed"] = items["genres"].str.split("|")
    ev = KNN.rec.against(SAMPLE.test, items=items)
    table = ev.table(["ndcg", "recall"], k=10, by=by)
    for metric, k, value in table.index:
        holds = (
            items["band"].eq(value)
            if by == "band"
            else items["genres"].str.contains(value)
        )
        if by == "minutes" and " to " in value:
            holds = items["minutes"].between(*map(int, value.split(" to ")))
        inside = (
            items.loc[holds, "item"]
            if value != "not known"
            else SAMPLE.items["item"].iloc[:1]
        )
        alone = getattr(
            KNN.rec.against(SAMPLE.test[SAMPLE.test["item"].isin(inside)]), metric
        )(k=k)
        found = table.loc[(metric, k, value), ["n_users", "mean"]].tolist()
        assert found == pytest.approx([alone.n_users, float(alone)])
    assert by != "band" or table.index.get_level_values(by)[:2].tolist() == [
        "short",
        "long",
    ]
    report = ev.report(k=10, metrics=["ndcg"], by=by)
    assert [row.mean for row in report._data.segments.means] == table.loc[
        "ndcg", "mean"
    ].tolist()
    found = recnb.compare(
        {"popular": SAMPLE.models["popular"], "knn": KNN}, SAMPLE.test, items=items
    )
    of_models, report = (
        found.table(["ndcg", "recall"], k=10, by=by),
        found.report(k=10, metrics=["ndcg"], by=[by]),
    )
    assert (
        of_models.xs("knn", level="model")["ndcg@10"].tolist()
        == table.loc["ndcg", "mean"].tolist()
    )
    of_knn = [row.mean for row in report._data.segments.means if row.model == "knn"]
    assert of_knn == table.loc["ndcg", "mean"].tolist()
    assert "°" not in repr(of_models)  # nothing is tested
    assert f"each {by} is a truth of its own" in of_models.attrs["basis"]
    with pytest.raises(
        recnb.errors.OptionError,
        match=f"by='{by}' is a column of items=.* without tests",
    ):
        found.differences(by=by)


def test_a_pair_of_two_parts_that_is_not_judged_is_refused() -> None:
    both = BOTH.assign(relevance=[1, 0, 1, np.nan, 1, 1])
    again = pd.concat([both, both[:1].assign(kind="y", rank=4, relevance=np.nan)])
    with pytest.warns(recnb.errors.LeftMergeWarning):
        twice = again.rec.evaluation(duplicates="dedupe")
    with pytest.raises(recnb.errors.OptionError, match="not judged as well"):
        twice.table("recall", k=2, by="kind")


BOTH = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2],
        "item": list("abcabc"),
        "rank": [1, 2, 3] * 2,
        "relevance": [1, 0, 1, 0, 1, 1],
        "kind": list("xxyxyy"),
    }
)
DAYS = st.lists(
    st.tuples(st.sampled_from("uv"), st.sampled_from("xyz"), st.permutations("abc")),
    min_size=3,
    max_size=6,
    unique_by=lambda row: row[:2],
)


@given(DAYS)
def test_a_column_of_both_frames_that_differs_within_users(days: list[Any]) -> None:
    """A user has a list of each day: these are not one list, and split= says so."""
    rows = [
        (user, day, day + item, 1 / place)
        for user, day, items in days
        for place, item in enumerate(items, 1)
    ]
    recs = pd.DataFrame(rows, columns=["member", "day", "item", "score"])
    truth = recs[recs["item"].str.endswith("a")].drop(columns="score")
    names: dict[str, Any] = {"user": "member"}
    ev = recnb.evaluate(recs, truth, **names)
    for call in (
        lambda: ev.table("reciprocal_rank", k=3, by="day"),
        lambda: ev.report(k=3, by="day"),
        lambda: recnb.compare({"a": ev, "b": ev}).table("ndcg", k=3, by="day"),
    ):
        with pytest.raises(
            OptionError, match="differs within users in both"
        ) as problem:
            call()
    assert "evaluate with split='day'. If it" in str(problem.value)
    apart = recnb.evaluate(recs, truth, split="day", **names)
    means = apart.table("reciprocal_rank", k=3, by="day")["mean"]
    for (_metric, _k, day), mean in means.items():
        of_day = [frame[frame["day"] == day] for frame in (recs, truth)]
        assert mean == pytest.approx(float(recnb.evaluate(*of_day, **names).mrr(k=3)))
    # Without the column a list is one, as the line says.
    joined = recnb.evaluate(recs.drop(columns="day"), truth, **names)
    table = joined.table("ndcg", k=3, by="day")
    assert "is a truth of its own" in table.attrs["basis"]


def test_columns_of_both_frames_that_group_users_or_lists_alone() -> None:
    """One that differs within users on one side alone has one meaning."""
    recs = pd.DataFrame({"user": [1, 1, 2], "item": list("aba"), "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": list("abb")})
    for in_recs, in_truth in (("xxy", "xxy"), ("xyy", "xxy"), ("xxy", "xyy")):
        ev = recnb.evaluate(
            recs.assign(c=list(in_recs)), truth.assign(c=list(in_truth))
        )
        wanted = recnb.evaluate(recs, truth.assign(c=list(in_truth)))
        pd.testing.assert_frame_equal(
            *(one.table("ndcg", k=2, by="c").to_frame() for one in (ev, wanted))
        )


def test_the_keys_of_a_mapping_are_users_whatever_they_are() -> None:
    """Keys from 0 up are not the numbers of rows, as those of a Series may be."""
    truth = pd.DataFrame({"user": [0, 1, 2], "item": list("aab")})
    recs = pd.DataFrame({"user": [0, 1, 2], "item": list("aaa"), "rank": 1})
    half = {user: ["even", "odd"][user % 2] for user in range(6)}
    means = recs.rec.against(truth).table("recall", k=1, by=half)["mean"]
    assert means.to_dict() == {("recall", 1, "even"): 0.5, ("recall", 1, "odd"): 1.0}
    with pytest.raises(recnb.errors.OptionError, match="no users on its index"):
        recs.rec.against(truth).table("recall", k=1, by=pd.Series(half.values()))


def test_of_segments_that_are_not_tested_no_line_speaks_of_tests() -> None:
    """A user's lists are on both sides of a day, so its gap has no test."""
    recs = pd.concat([KNN.assign(week=week) for week in range(3)])
    ev = recnb.evaluate(recs, WEEKS, split="week", users=USERS)
    for by, is_tested in ((["segment", "week"], False), ("half", True)):
        table = ev.table("ndcg", k=10, by=by)
        page = ev.report(k=10, metrics=["ndcg"], by=by).to_markdown()
        assert table["p"].notna().any() == is_tested
        for text in (" ".join(repr(table).split()), page):
            assert "95% intervals, not corrected for the number of comparisons" in text
            assert ("Welch" in text and "Holm" in text) == is_tested
