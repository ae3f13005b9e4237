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

import recnb
from recnb.errors import OptionError
from tests.sample import SAMPLE

KNN = SAMPLE.models["item-knn"]
USERS = SAMPLE.users.assign(half=np.arange(len(SAMPLE.users)) % 2)
BY_USER = USERS.set_index("user")
SEGMENT = BY_USER["segment"]
TRUTH = SAMPLE.test.merge(SAMPLE.users[["user", "segment"]])
EV = KNN.rec.against(SAMPLE.test, users=USERS, train=SAMPLE.train)
WEEKS = SAMPLE.test.assign(week=np.arange(len(SAMPLE.test)) % 3)
COUNTS = SAMPLE.train.groupby("user").size().rename("n")
CUT = pd.cut(COUNTS, [0, 9, 20, 50])
ODD = pd.Series(
    [("not known", None, "a")[at % 3] for at in range(EV.n_users)],
    EV.users,
    name="kind",
)
HALF = pd.Series(np.arange(EV.n_users) % 2, EV.users, name="mean")
HALVES = pl.Series([1.0 if one else math.nan for one in USERS["half"]])
MONTHS = pd.PeriodIndex(np.where(USERS["half"], "2024-01", "2024-02"), freq="M")


def of_users(users: Any) -> recnb.Evaluation:
    return KNN.rec.against(SAMPLE.test, users=users)


#: Series that are given as by=.
SERIES: dict[str, pd.Series[Any]] = {
    "a few numbers": BY_USER["joined"] % 8,
    "intervals": CUT,
    "ordered words": CUT.cat.rename_categories(["few", "some", "many"]),
    "some users alone": SEGMENT.iloc[:100],
    "a column with a name of the table": HALF,
}
#: An evaluation, what is given as by=, and the segment of each user, in the order in
#: which segments are shown.
WAYS: dict[str, tuple[recnb.Evaluation, Any, pd.Series[Any]]] = {
    "a column": (EV, "segment", SEGMENT),
    "of Polars": (
        pl.from_pandas(KNN).rec.against(pl.from_pandas(TRUTH)),
        "segment",
        SEGMENT,
    ),
    "a library": (EV.under("rectools"), "segment", SEGMENT),
    "two columns": (
        EV,
        ["segment", "half"],
        SEGMENT + "|" + BY_USER["half"].astype(str),
    ),
    "not a number": (
        of_users(pl.from_pandas(USERS[["user"]]).with_columns(half=HALVES)),
        "half",
        BY_USER["half"].replace(0, "not known").replace(1, "1.0"),
    ),
    "periods": (
        of_users(USERS.assign(m=MONTHS)),
        "m",
        pd.Series(MONTHS.astype(str), USERS["user"]),
    ),
    "a value called not known": (EV, ODD, ODD.fillna("(not known)")),
    **{name: (EV, by, by) for name, by in SERIES.items()},
}


@pytest.mark.parametrize("way", WAYS)
def test_each_segment_is_the_mean_of_its_users(way: str) -> None:
    ev, by, segment = WAYS[way]
    table = ev.table(["ndcg", "recall"], k=[5, 10], by=by)
    for metric, k in (("ndcg", 5), ("recall", 10)):
        rows = table.loc[(metric, k)]
        values = getattr(ev, metric)(k=k).per_user
        known = segment.astype(object).reindex(values.index)
        groups = values.groupby(known.where(known.notna(), "not known").astype(str))
        keys = [key if isinstance(key, tuple) else (key,) for key in rows.index]
        names = ["|".join(map(str, key)) for key in keys]
        assert dict(zip(names, rows["n_users"], strict=True)) == dict(groups.size())
        means = dict(zip(names, rows["mean"], strict=True))
        assert means == pytest.approx(groups.mean().to_dict(), abs=1e-12)
        # The last may be those of whom nothing is known.
        if isinstance(segment.dtype, pd.CategoricalDtype):
            assert names == [*map(str, segment.cat.categories), "not known"]
        else:
            assert names[:-1] == sorted(names[:-1])


def test_of_two_segments_each_is_the_rest_of_the_other() -> None:
    """So there is one test, and it is not corrected; gaps are in `test_clustered.py`."""
    two = EV.table(["ndcg", "recall"], k=10, by="half")
    assert two["p_holm"].to_numpy() == pytest.approx(two["p"].to_numpy(), abs=1e-12)


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
    assert [len({*name.split(" to ")}) for name in bins] == [2] * 4
    assert (len(table), len(found.differences("ndcg", k=10, by="by"))) == (4 * 3, 4 * 2)
    told = found.report(k=5, metrics=["ndcg"], by="by").to_dict()["segments"]
    assert [told["names"][part] for part in told["means"]["part"][::3]] == bins


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
    lists, weeks = KNN, WEEKS
    if "ties" in options:
        lists = KNN.assign(score=-KNN["rank"] // 2).drop(columns="rank")
    if "duplicates" in options:  # pairs of two weeks
        again = WEEKS[::5].assign(week=1, rating=2)
        weeks = pd.concat([WEEKS, again], ignore_index=True)
    given = {"train": SAMPLE.train, **options}
    ev = recnb.evaluate(frame(lists), frame(weeks), **given)
    table = ev.table(["ndcg", "novelty"], k=[5, 10], by=["week"])
    assert list(table.columns) == ["n_users", "mean", "low", "high", "small"]
    assert len(table) == 2 * 2 * 3
    for metric, k, week in table.index:
        of_week = recnb.evaluate(lists, weeks[weeks["week"] == week], **given)
        alone = getattr(of_week, metric)(k=k)
        row = table.loc[(metric, k, week), ["n_users", "mean", "low", "high"]].tolist()
        expected = [alone.n_users, float(alone), *alone.interval()]
        assert row == pytest.approx(expected, abs=1e-12)
    basis = table.attrs["basis"]
    assert "each week is a truth of its own" in basis
    assert not re.search(r"nDCG: [\d,]+ users", basis)  # each row has its own


def test_a_pair_of_two_parts_that_is_not_judged_is_refused() -> None:
    both = BOTH.assign(relevance=[1, 0, 1, np.nan, 1, 1])
    again = pd.concat([both, both[:1].assign(kind="y", rank=4, relevance=np.nan)])
    with pytest.warns(recnb.errors.LeftMergeWarning):
        twice = again.rec.evaluation(duplicates="dedupe")
    with pytest.raises(OptionError, match="not judged as well"):
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
BY_WEEK = recnb.evaluate(KNN.assign(week=KNN["rank"] % 3), WEEKS)


@pytest.mark.parametrize("made", [BY_WEEK, recnb.compare({"a": BY_WEEK, "b": BY_WEEK})])
def test_a_column_of_both_frames_that_differs_within_users(made: Any) -> None:
    """A user has a list of each week: these are not one list, and split= says so."""
    problem = r"differs within users in both.* evaluate with split=\['week'\]\. If it"
    with pytest.raises(OptionError, match=problem):
        made.table("ndcg", k=3, by="week")
    with pytest.raises(OptionError, match=problem):
        made.report(k=3, by="week")


@pytest.mark.parametrize(
    ("in_recs", "in_truth"), [("xxy", "xxy"), ("xyy", "xxy"), ("xxy", "xyy")]
)
def test_a_column_that_differs_within_users_on_one_side_has_one_meaning(
    in_recs: str, in_truth: str
) -> None:
    recs = pd.DataFrame({"user": [1, 1, 2], "item": list("aba"), "rank": [1, 2, 1]})
    truth = {"user": [1, 1, 2], "item": list("abb"), "c": list(in_truth)}
    judged, both = pd.DataFrame(truth), recs.assign(c=list(in_recs))
    of_both, of_truth = (
        recnb.evaluate(lists, judged).table("ndcg", k=2, by="c").to_frame()
        for lists in (both, recs)
    )
    pd.testing.assert_frame_equal(of_both, of_truth)
